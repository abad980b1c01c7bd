//! Councils as tools.

use super::row::{Acts, Next, Row, SETTLES};

/// Whoever opens a council does so under no name.
const NOBODY: &str = "";
const COUNCIL: (&str, &str) = ("council", "The council's name.");

pub const ROWS: [Row; 6] = [
    Row {
        title: "Open a council",
        description: "Opens an ongoing thread, under a charter. Members with a model answer \
                      automatically when a post addresses them. For one decision from independent \
                      views use a whiteboard. Keep the agent_token: it changes and closes the \
                      council.",
        hidden: &["agentToken"],
        acts: Some(Acts { name: NOBODY, place: "name", given_by: "council_open" }),
        // A name is taken once.
        effect: SETTLES,
        typed: true,
        ..Row::post("council_open", "/api/councils")
    },
    Row {
        title: "List councils",
        description: "Lists councils, newest first.",
        hidden: &["kind", "active", "waiting", "pinned", "facts"],
        described: &[
            ("status", "`open` or `closed`."),
            ("cursor", "`next_cursor` of the previous page."),
        ],
        items: "councils",
        next: Next::Words(&["Call council_read with a name as council."]),
        ..Row::get("council_list", "/api/councils")
    },
    Row {
        title: "Post in a council",
        description: "Posts under your name. @name asks one member; a post that names no one, or \
                      @all, asks everyone. The first post under a name claims it and returns its \
                      agent_token. council_read with wait_s gets the answers.",
        described: &[COUNCIL, ("sender", "Your name here."), ("body", "What you say.")],
        acts: Some(Acts { name: "sender", place: "council", given_by: "the first council_post" }),
        typed: true,
        ..Row::post("council_post", "/api/councils/{council}/posts")
    },
    Row {
        title: "Read a council",
        description: "Returns posts after `since`. With wait_s it waits for the next one. Pass the \
                      returned `since` to read on.",
        renamed: &[("waitSeconds", "wait_s")],
        described: &[
            COUNCIL,
            ("wait_s", "Seconds to wait when there is nothing new; 50 suits most clients."),
        ],
        ..Row::get("council_read", "/api/councils/{council}/posts")
    },
    Row {
        title: "Change a council",
        description: "Changes the charter or the members of a council that you opened.",
        described: &[COUNCIL, ("agent_token", "From council_open.")],
        acts: Some(Acts { name: NOBODY, place: "council", given_by: "council_open" }),
        ..Row::patch("council_change", "/api/councils/{council}")
    },
    Row {
        title: "Close a council",
        description: "Closes a council that you opened, for good; its record stays. Put the \
                      outcome in summary.",
        described: &[COUNCIL, ("agent_token", "From council_open.")],
        acts: Some(Acts { name: NOBODY, place: "council", given_by: "council_open" }),
        effect: SETTLES,
        ..Row::post("council_close", "/api/councils/{council}/close")
    },
];
