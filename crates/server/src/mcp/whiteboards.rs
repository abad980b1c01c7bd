//! Whiteboards as tools.

use super::row::{Acts, Next, Row, SETTLES};

const BOARD: &[(&str, &str)] = &[("board", "board_id")];
const TOKENS: &str = "whiteboard_open or whiteboard_register";
const AS_AGENT: Option<Acts> =
    Some(Acts { name: "agent_name", place: "board_id", given_by: TOKENS });
const BOARD_ID: (&str, &str) = ("board_id", "The board's name.");
const YOU: (&str, &str) = ("agent_name", "As whom you act, as registered.");
const LOOK: (&str, &str) =
    ("agent_name", "As whom you look; leave it out to see what everyone can.");
const POST_ID: (&str, &str) = ("post_id", "`author/number`, from whiteboard_state.");
const CURSOR: (&str, &str) = ("cursor", "`next_cursor` of the previous page.");

pub const ROWS: [Row; 12] = [
    Row {
        title: "Open a whiteboard",
        description: "Opens a board for one decision by several agents: all post blind, then read, \
                      validate, debate, vote and resolve. You become its facilitator and move it \
                      on. Tell the others the board_id; they call whiteboard_register.",
        described: &[("seats", "Models, or saved agents (`@name`), that take part automatically.")],
        hidden: &[
            "budget",
            "seats.agent",
            "seats.budget",
            "seats.outputTokens",
            "seats.temperature",
            "seats.tier",
        ],
        acts: Some(Acts { name: "opened_by", place: "board_id", given_by: TOKENS }),
        // A name is taken once.
        effect: SETTLES,
        typed: true,
        ..Row::post("whiteboard_open", "/api/whiteboards")
    },
    Row {
        title: "Join a whiteboard",
        description: "Joins a board as an agent, before you post, annotate or vote. Specialists do \
                      that; facilitators and operators also move the board on. Returns your \
                      agent_token.",
        renamed: BOARD,
        described: &[BOARD_ID, ("role", "`specialist` unless you lead the board.")],
        acts: AS_AGENT,
        effect: SETTLES,
        typed: true,
        ..Row::post("whiteboard_register", "/api/whiteboards/{board}/agents")
    },
    Row {
        title: "Invite to a whiteboard",
        description: "Invites someone to a board with admission: invited. With `invite` it creates \
                      an invitation for that name and role, needed to join after blind; without, \
                      the opener renews the board's own, in blind.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        next: Next::Words(&["Give them the invitation: they call whiteboard_register with it."]),
        ..Row::post("whiteboard_invite", "/api/whiteboards/{board}/invitations")
    },
    Row {
        title: "Post on a whiteboard",
        description: "Posts in blind, when no one else sees it: say what you think before you know \
                      what others think. Conflicts are found from target_file, target_location, \
                      severity, finding_refs and cascade_targets. In debate: informational only.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        typed: true,
        ..Row::post("whiteboard_post", "/api/whiteboards/{board}/posts")
    },
    Row {
        title: "Annotate a post",
        description: "Says something about a post. validate: a validation with its result. debate: \
                      challenge or corroborate posts of others, rebut challenges of yours, \
                      withdraw your post or challenge. debate, resolve: a resolution settles \
                      someone else's challenge.",
        renamed: BOARD,
        described: &[
            BOARD_ID,
            YOU,
            POST_ID,
            ("type", "Which of them the phase allows is said above."),
            ("challenge_id", "The challenge that is settled, rebutted or withdrawn."),
        ],
        acts: AS_AGENT,
        typed: true,
        ..Row::post("whiteboard_annotate", "/api/whiteboards/{board}/annotations")
    },
    Row {
        title: "Vote on a post",
        description: "Votes on a post of another agent, in debate. Voting again replaces your vote.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU, POST_ID],
        acts: AS_AGENT,
        effect: SETTLES,
        typed: true,
        ..Row::post("whiteboard_vote", "/api/whiteboards/{board}/votes")
    },
    Row {
        title: "Move a whiteboard on",
        description: "Moves a board to its next phase, for facilitators and operators; there is no \
                      way back. ready_to_advance and why_not of whiteboard_state are advice.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        effect: SETTLES,
        ..Row::post("whiteboard_transition", "/api/whiteboards/{board}/transition")
    },
    Row {
        title: "Find conflicts between posts",
        description: "Lists pairs of posts that conflict: direct_overlap, cascade_collision, \
                      severity_disagreement. Not in blind.",
        renamed: BOARD,
        described: &[BOARD_ID, LOOK, CURSOR],
        acts: AS_AGENT,
        items: "conflicts",
        next: Next::Words(&[
            "In debate, challenge the posts that conflict, or post how both can hold.",
        ]),
        ..Row::get("whiteboard_conflicts", "/api/whiteboards/{board}/conflicts")
    },
    Row {
        title: "Read a whiteboard",
        description: "Shows a board as you see it: phase, agents, posts, votes, and what you can \
                      do now. `detail: full` includes bodies.",
        renamed: BOARD,
        described: &[BOARD_ID, LOOK, CURSOR],
        acts: AS_AGENT,
        hidden: &["since"],
        ..Row::get("whiteboard_state", "/api/whiteboards/{board}")
    },
    Row {
        title: "Summarize a whiteboard",
        description: "Returns counts, the tally per post, what is not refuted, what is open and \
                      what the votes decide so far; no bodies.",
        renamed: BOARD,
        described: &[BOARD_ID, LOOK],
        acts: AS_AGENT,
        ..Row::get("whiteboard_summarize", "/api/whiteboards/{board}/summary")
    },
    Row {
        title: "Archive a whiteboard",
        description: "Ends a board that is in resolve, for facilitators and operators. Returns the \
                      final tally and the decision record (Markdown, MADR), or where to read it. \
                      Say in note what was decided and why.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        effect: SETTLES,
        kept: &["board_id", "session_id", "summary", "record", "next"],
        links: true,
        ..Row::post("whiteboard_archive", "/api/whiteboards/{board}/archive")
    },
    Row {
        title: "List whiteboards",
        description: "Lists boards, newest first: name (the board_id), topic, phase (status).",
        hidden: &["kind", "active", "waiting", "pinned", "facts"],
        described: &[("status", "A phase: `blind`, `read`, … `archived`."), CURSOR],
        items: "whiteboards",
        next: Next::Words(&["Call whiteboard_state with a name as board_id."]),
        ..Row::get("whiteboard_list", "/api/whiteboards")
    },
];
