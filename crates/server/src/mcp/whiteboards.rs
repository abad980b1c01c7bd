//! Whiteboards as tools.

use super::row::{Acts, Effect, Row};

const BOARD: &[(&str, &str)] = &[("board", "board_id")];
const AS_AGENT: Option<Acts> = Some(Acts { name: "agent_name", place: "board_id" });
const BOARD_ID: (&str, &str) = ("board_id", "The board's name, from whiteboard_open.");
const YOU: (&str, &str) = ("agent_name", "The agent as which you act, as registered.");
const LOOK: (&str, &str) =
    ("agent_name", "As whom you look. Leave it out to see what everybody may see.");
/// The same again gives the same board.
const SETTLES: Effect =
    Effect { reads_only: false, destroys: false, repeats: true, reaches_out: false };

pub const ROWS: [Row; 12] = [
    Row {
        title: "Open a whiteboard",
        description: "Opens a board for a decision that several agents should make together: each \
                      first posts blind, then all read, validate, debate, vote and resolve. You \
                      become its facilitator and move it from phase to phase. Tell the other \
                      agents the board_id; they call whiteboard_register. Use it for design \
                      decisions, reviews with independent findings, and decision records.",
        acts: Some(Acts { name: "opened_by", place: "board_id" }),
        ..Row::post("whiteboard_open", "/api/whiteboards")
    },
    Row {
        title: "Register on a whiteboard",
        description: "Makes you an agent of a board. Call it before you post, annotate or vote. \
                      Roles: specialist (posts, annotates, votes), facilitator and operator (also \
                      move the board on; operator is for people and outsiders). Keep the \
                      agent_token: this MCP session acts as you by itself, any other needs it.",
        renamed: BOARD,
        described: &[BOARD_ID],
        acts: AS_AGENT,
        effect: SETTLES,
        ..Row::post("whiteboard_register", "/api/whiteboards/{board}/agents")
    },
    Row {
        title: "Invite to a whiteboard",
        description: "Lets somebody in on a board that was opened with admission: invited. With \
                      `invite` it makes a personal invitation for that name and role, which \
                      everybody needs who comes after the blind phase; without, it renews the \
                      board's invitation, for its opener in blind. Hand the code over; it \
                      goes into whiteboard_register as invitation.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        next: &["Hand the invitation to whom it is for: they call whiteboard_register with it."],
        ..Row::post("whiteboard_invite", "/api/whiteboards/{board}/invitations")
    },
    Row {
        title: "Post on a whiteboard",
        description: "Posts a proposal, claim, concern or informational note. In the blind phase \
                      nobody else sees it, so say what you really think before you know what \
                      others think. Give target_file, target_location, severity, finding_refs and \
                      cascade_targets where they apply: conflicts are found from them. In debate \
                      only informational posts are taken.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        ..Row::post("whiteboard_post", "/api/whiteboards/{board}/posts")
    },
    Row {
        title: "Annotate a post",
        description: "Says something about a post. In validate: a validation with its result \
                      (check the claim first, do not guess). In debate: challenge or corroborate \
                      posts of others, rebut challenges of your own post, withdraw your post or \
                      your challenge. In debate and resolve: a resolution settles a challenge of \
                      somebody else and names it in challenge_id.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU, ("post_id", "The post, as `author/number`.")],
        acts: AS_AGENT,
        ..Row::post("whiteboard_annotate", "/api/whiteboards/{board}/annotations")
    },
    Row {
        title: "Vote on a post",
        description: "Votes accept, reject or defer on a post of another agent, in debate. Give \
                      the reason: it goes into the record. Voting again replaces your vote.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU, ("post_id", "The post, as `author/number`.")],
        acts: AS_AGENT,
        effect: SETTLES,
        ..Row::post("whiteboard_vote", "/api/whiteboards/{board}/votes")
    },
    Row {
        title: "Move a whiteboard on",
        description: "Moves a board to its next phase, for facilitators and operators. There is \
                      no way back. Look at ready_to_advance and why_not in whiteboard_state first; \
                      they are advice. Moving to archived is archiving.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        effect: Effect { reads_only: false, destroys: true, repeats: false, reaches_out: false },
        ..Row::post("whiteboard_transition", "/api/whiteboards/{board}/transition")
    },
    Row {
        title: "Find conflicts between posts",
        description: "Lists pairs of posts that get in each other's way: direct_overlap (same file \
                      and intersecting lines or same symbol), cascade_collision (one reaches the \
                      other's file), severity_disagreement (same finding, different severities). \
                      Use it from the read phase on, before debating; it is refused in blind.",
        renamed: BOARD,
        described: &[BOARD_ID, LOOK],
        acts: AS_AGENT,
        items: "conflicts",
        next: &["In debate, challenge the posts that conflict, or post how both can stand."],
        ..Row::get("whiteboard_conflicts", "/api/whiteboards/{board}/conflicts")
    },
    Row {
        title: "Read a whiteboard",
        description: "Shows a board as you may see it: phase, agents, posts with annotations and \
                      votes, what you can do now. In the blind phase you see your own posts only. \
                      detail: full gives bodies; page through with cursor. Call it whenever you \
                      come back to a board, or are told that it moved on.",
        renamed: BOARD,
        described: &[BOARD_ID, LOOK],
        acts: AS_AGENT,
        ..Row::get("whiteboard_state", "/api/whiteboards/{board}")
    },
    Row {
        title: "Summarize a whiteboard",
        description: "Gives counts, the tally per post, which posts survive, which were refuted, \
                      which challenges are open, and what the votes decide so far; no bodies. Use \
                      it to see whether a phase has done its work.",
        renamed: BOARD,
        described: &[BOARD_ID, LOOK],
        acts: AS_AGENT,
        ..Row::get("whiteboard_summarize", "/api/whiteboards/{board}/summary")
    },
    Row {
        title: "Archive a whiteboard",
        description: "Ends a board that is in resolve, for facilitators and operators, and returns \
                      the final tally, the decision record in Markdown (MADR) and the whole record \
                      as JSON. Say in note what was decided and why. Save the record to the \
                      repository if you keep decision records there.",
        renamed: BOARD,
        described: &[BOARD_ID, YOU],
        acts: AS_AGENT,
        effect: Effect { reads_only: false, destroys: true, repeats: false, reaches_out: false },
        ..Row::post("whiteboard_archive", "/api/whiteboards/{board}/archive")
    },
    Row {
        title: "List whiteboards",
        description: "Lists boards, newest first: name (the board_id), topic, phase (status). Use \
                      it to find a board that you were told of.",
        hidden: &["kind", "active"],
        items: "whiteboards",
        next: &["Call whiteboard_state with a name as board_id."],
        ..Row::get("whiteboard_list", "/api/whiteboards")
    },
];
