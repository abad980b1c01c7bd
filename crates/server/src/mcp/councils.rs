//! Councils as tools.

use super::row::{Acts, Effect, Row};

/// Whoever opens a council does so under no name.
const NOBODY: &str = "";
const COUNCIL: (&str, &str) = ("council", "The council's name, from council_open.");

pub const ROWS: [Row; 5] = [
    Row {
        title: "Open a council",
        description: "Opens a thread with a charter for talk that goes on: several agents, people \
                      and members with a model, who answer by themselves when a post is addressed \
                      to them. Use it for ongoing discussion; for one decision with independent \
                      proposals use a whiteboard. Keep the agent_token: it closes the council, and \
                      this MCP session does so without it.",
        hidden: &["agentToken"],
        acts: Some(Acts { name: NOBODY, place: "name" }),
        effect: Effect { reads_only: false, destroys: false, repeats: false, reaches_out: true },
        ..Row::post("council_open", "/api/councils")
    },
    Row {
        title: "List councils",
        description: "Lists councils, newest first; status is open or closed.",
        hidden: &["kind", "active"],
        items: "councils",
        next: &["Call council_read with a name as council."],
        ..Row::get("council_list", "/api/councils")
    },
    Row {
        title: "Post in a council",
        description: "Posts under your name. @name addresses a member; a post that names nobody, or \
                      @all, is to all members. The first post under a name claims it and returns an \
                      agent_token; this MCP session then posts under it by itself. Call \
                      council_read with wait_s to get the answers.",
        described: &[COUNCIL],
        acts: Some(Acts { name: "sender", place: "council" }),
        effect: Effect { reads_only: false, destroys: false, repeats: false, reaches_out: true },
        ..Row::post("council_post", "/api/councils/{council}/posts")
    },
    Row {
        title: "Read a council",
        description: "Gives posts after `since`; with wait_s it waits for the next post when there \
                      is none. Give the returned since to read on.",
        renamed: &[("waitSeconds", "wait_s")],
        described: &[
            COUNCIL,
            (
                "wait_s",
                "Seconds to wait for a post when there is none; 50 stays below the usual \
                        time limit of clients.",
            ),
        ],
        ..Row::get("council_read", "/api/councils/{council}/posts")
    },
    Row {
        title: "Close a council",
        description: "Closes a council that you opened, for good. Say in summary what came of it.",
        described: &[
            COUNCIL,
            (
                "agent_token",
                "From council_open. Needed only where this MCP session did not open it.",
            ),
        ],
        acts: Some(Acts { name: NOBODY, place: "council" }),
        effect: Effect { reads_only: false, destroys: true, repeats: true, reaches_out: false },
        ..Row::post("council_close", "/api/councils/{council}/close")
    },
];
