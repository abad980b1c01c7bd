//! Errors in the words of the command line. The server speaks of routes, headers and
//! fields; who types commands knows commands and flags.

use super::Noun;
use super::board::status_word;
use crate::api::ApiError;
use crate::terminal::line;

/// What to do where there is no model at all.
pub const NO_MODEL: &str = "`plenary models pull` uses a model already on this machine, or \
                            downloads one. For better ones, start Ollama and pull a model, or set \
                            OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or \
                            OPENROUTER_API_KEY.";

/// Characters of an argument that is quoted.
const QUOTED: usize = 60;

/// What to do about it, by the error's code.
pub fn hint(error: &ApiError, noun: Noun) -> Option<String> {
    let told = error.hint.clone();
    let unknown_model = |(_, problem): &(String, String)| {
        ["there is no model", "has no model"].iter().any(|words| problem.contains(words))
    };
    match (error.code.as_str(), noun) {
        ("invalid-input", _) if told.is_none() && error.fields.iter().any(unknown_model) => {
            Some("`plenary models` lists the models available.".into())
        }
        // A tier that is set wrongly says itself what to do.
        ("no-model", _) if told.as_ref().is_some_and(|told| told.starts_with("Start Ollama")) => {
            Some(format!("{NO_MODEL} `plenary doctor` says what is missing."))
        }
        ("not-now", _) => told.map(|told| possible(&told)),
        ("not-found", Noun::Workflow) if error.message.contains("workflow called") => Some(
            "List saved workflows with `plenary workflow list`; to run a file, give its path."
                .into(),
        ),
        ("not-found", Noun::Workflow) => Some(unknown_in_runs(&error.message).into()),
        ("not-yours" | "not-your-agent", Noun::Workflow) if !error.message.contains("operator") => {
            Some(
                "Add --token with the token of the person who decides; the operator of the server \
                 gets it with `plenary workflow seats`."
                    .into(),
            )
        }
        ("not-found", Noun::Whiteboard) if told.is_none() => {
            Some("`plenary whiteboard state BOARD` lists its posts.".into())
        }
        ("not-found", _) if told.is_some() => {
            Some(format!("List them with `plenary {} list`.", noun.name()))
        }
        ("not-your-agent", _)
            if told.as_ref().is_none_or(|told| told.contains("`Agent-Token`")) =>
        {
            Some(
                "Choose another name with --as. If the name is yours, add --token, or run this \
                 where you first used it."
                    .into(),
            )
        }
        ("store-failed", _)
            if told.as_ref().is_some_and(|told| told.contains("Idempotency-Key")) =>
        {
            Some(
                "`plenary doctor` says what is wrong. A change may have been made anyway: check \
                 before you repeat it."
                    .into(),
            )
        }
        ("not-your-agent", Noun::Whiteboard | Noun::Council) => Some(format!(
            "The operator of the server can replace a lost token: plenary {} token",
            noun.name()
        )),
        ("not-yours", _) if told.as_ref().is_some_and(|told| told.contains("`Agent-Token`")) => {
            Some(
                "Add --token with the seat's token; the person who opened the session has it."
                    .into(),
            )
        }
        ("not-invited", _) => Some("Add --invitation with the code you were given.".into()),
        ("unauthorized", _) => Some("Set PLENARY_TOKEN to the server's access token.".into()),
        _ => told,
    }
}

/// What a session lets one do now, as commands.
fn possible(told: &str) -> String {
    let Some((state, names)) = told.split_once("; possible now: ") else { return told.to_owned() };
    let names: Vec<&str> = names.trim_end_matches('.').split(", ").collect();
    let is_any = |some: &[&str]| names.iter().any(|name| some.contains(name));
    let is_council = is_any(&["change", "close"]);
    let mut lists: Vec<(&str, Vec<&str>)> = vec![];
    if names == ["export"] {
        lists.push(("sessions", vec!["show"]));
    }
    for (noun, command) in names.iter().filter_map(|name| command(name, is_council)) {
        match lists.iter_mut().find(|(known, _)| *known == noun) {
            Some((_, commands)) if commands.contains(&command) => {}
            Some((_, commands)) => commands.push(command),
            None => lists.push((noun, vec![command])),
        }
    }
    let state = match state.strip_prefix("It is ") {
        // Of the others none is called closed and means it is done.
        Some(status) if is_any(&["followUp", "resynthesize", "synthesize", "retry"]) => {
            format!("It is {}", status_word("boardroom", status))
        }
        Some("draft") => "It is a draft".to_owned(),
        _ => state.to_owned(),
    };
    if lists.is_empty() {
        return format!("{state}.");
    }
    let commands =
        |(noun, commands): (&str, Vec<&str>)| format!("plenary {noun} {}", commands.join(", "));
    let lists: Vec<String> = lists.into_iter().map(commands).collect();
    format!("{state}; possible now: {}", lists.join(", "))
}

/// The command for what the server calls by this name; some have none of their own.
fn command(name: &str, is_council: bool) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "resynthesize" | "synthesize" => ("sessions", "synthesize"),
        "ballot" => ("sessions", "vote"),
        "openBallot" => ("sessions", "ballot"),
        "start" => ("sessions", "start"),
        "pause" => ("sessions", "pause"),
        "resume" => ("sessions", "resume"),
        "stop" => ("sessions", "stop"),
        "conclude" => ("sessions", "conclude"),
        "interject" => ("sessions", "interject"),
        "decide" => ("sessions", "decide"),
        "retry" => ("sessions", "retry"),
        "pick" => ("sessions", "pick"),
        "reply" => ("sessions", "reply"),
        "export" => ("sessions", "export"),
        "approve" => ("workflow", "approve"),
        "cancel" => ("workflow", "cancel"),
        "fork" => ("workflow", "fork"),
        "store" => ("workflow", "store"),
        "remove" => ("workflow", "remove"),
        "change" => ("council", "edit"),
        "close" => ("council", "close"),
        "post" if is_council => ("council", "post"),
        "post" | "post informational" => ("whiteboard", "post"),
        "register" => ("whiteboard", "register"),
        "invite" => ("whiteboard", "invite"),
        "seat" => ("whiteboard", "seat"),
        "vote" => ("whiteboard", "vote"),
        "transition" => ("whiteboard", "transition"),
        "conflicts" => ("whiteboard", "conflicts"),
        name if name.starts_with("annotate ") => ("whiteboard", "annotate"),
        _ => return None,
    })
}

fn unknown_in_runs(message: &str) -> &'static str {
    if message.contains("no step") {
        "`plenary workflow status RUN` names its steps."
    } else if message.contains("no version") || message.contains("no such version") {
        "`plenary workflow show NAME` lists its versions."
    } else {
        "List runs with `plenary workflow runs`."
    }
}

/// A sentence about a field, with the flag or argument in its place.
pub fn message(error: &ApiError, noun: Noun) -> String {
    let is_inside = |(field, _): &(String, String)| inside(field).is_some();
    let mut message = match error.fields.len() > 1 && error.fields.iter().all(is_inside) {
        true => format!("The board file has {} problems.", error.fields.len()),
        false => error.message.replace("fields are wrong", "arguments are wrong"),
    };
    for (field, _) in &error.fields {
        if let Some(flag) = flag(field, noun) {
            message = message.replace(&format!("`{field}`"), &flag);
        }
    }
    message
}

/// The flag or argument that a field comes from; of several, as it was typed.
pub fn flag(field: &str, noun: Noun) -> Option<String> {
    if let Some((file, place)) = inside(field) {
        return Some(format!("{}: {place}", flag(file, noun)?));
    }
    let (flag, nth) = source(field, noun)?;
    let Some(nth) = nth else { return Some(flag) };
    let typed = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let shown = quoted(&flag, nth, typed).unwrap_or_else(|| format!("{flag} {}", nth + 1));
    Some(shown + setting(field))
}

/// A place in a board's file, and the field that brought the file.
fn inside(field: &str) -> Option<(&str, &str)> {
    field.split_once(": ")
}

/// How a seat is asked is said by flags of its own, which may name no seat.
fn setting(field: &str) -> &'static str {
    match field.rsplit_once("].") {
        Some((_, "temperature")) => ", --temperature",
        Some((_, "outputTokens")) => ", --output-tokens",
        Some((_, "tries")) => ", --tries",
        Some(_) | None => "",
    }
}

/// The nth time that a flag was typed, with its value.
fn quoted(flag: &str, nth: usize, typed: impl Iterator<Item = String>) -> Option<String> {
    if !flag.starts_with("--") {
        return None;
    }
    let mut typed = typed.take_while(|word| word != "--");
    let mut values = vec![];
    while let Some(word) = typed.next() {
        match word.strip_prefix(flag).map(|rest| rest.strip_prefix('=')) {
            Some(Some(value)) => values.push(value.to_owned()),
            Some(None) if word == flag => values.extend(typed.next()),
            Some(None) | None => {}
        }
    }
    let value = line(values.get(nth)?, QUOTED);
    Some(match value.is_empty() || value.contains(char::is_whitespace) {
        true => format!("{flag} {value:?}"),
        false => format!("{flag} {value}"),
    })
}

/// The flag or argument, and which of several it is.
fn source(field: &str, noun: Noun) -> Option<(String, Option<usize>)> {
    let own = |name: &str| Some((format!("--{name}"), None));
    // `workspace.tools[0]`
    let field = field.strip_prefix("workspace.").unwrap_or(field);
    // `members[0].model`, `deadlines.blindSeconds`.
    let (name, rest) = field.split_at(field.find(['[', '.']).unwrap_or(field.len()));
    let nth = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')?.0.parse::<usize>().ok());
    let flag = match (noun, name) {
        (Noun::Whiteboard, "boardId") => "BOARD",
        (Noun::Whiteboard, "topic") => "TOPIC",
        (Noun::Whiteboard | Noun::Council, "body") => "TEXT",
        (Noun::Whiteboard, "openedBy" | "agentName" | "agent") | (Noun::Council, "sender") => {
            "--as"
        }
        (Noun::Whiteboard, "invite") => "--for",
        (Noun::Whiteboard, "deadlines") => "--deadline",
        (Noun::Whiteboard, "targetFile") => "--file",
        (Noun::Whiteboard, "targetLocation") => "--at",
        (Noun::Whiteboard, "findingRefs") => "--finding",
        (Noun::Whiteboard, "cascadeTargets") => "--cascade",
        (Noun::Whiteboard, "challengeId") => "--challenge",
        (
            Noun::Whiteboard,
            "admission" | "domain" | "invitation" | "note" | "project" | "reason" | "result"
            | "role" | "title",
        ) => return own(name),
        (Noun::Council, "name") => "COUNCIL",
        (Noun::Council, "charter") => "CHARTER",
        (Noun::Council, "members") if rest.contains("].budget") => return own("budget"),
        (Noun::Council, "members" | "model") => "--member",
        (Noun::Council, "addMembers") => "--add",
        (Noun::Council, "removeMembers") => "--remove",
        (Noun::Council, "replyTo") => "--reply-to",
        (Noun::Council, "summary" | "project") => return own(name),
        (Noun::Discuss, "topic") => "TOPIC",
        (Noun::Discuss, "participants" | "facilitator") if rest.contains(".budget") => {
            return own("budget");
        }
        (Noun::Discuss, "participants") => "--with",
        (Noun::Discuss, "moderatorId" | "facilitator") => "--facilitator",
        (Noun::Discuss, "maxRounds") => "--rounds",
        (Noun::Discuss, "context") => "--file",
        (Noun::Discuss, "model" | "name" | "project") => return own(name),
        (Noun::Ask, "prompt") => "PROMPT",
        // A seat's prompt comes from a flag of its own, which names the role.
        (Noun::Ask, "advisors") if rest.ends_with(".systemPrompt") => return own("system"),
        (Noun::Ask, "advisors") if rest.contains("].budget") => return own("budget"),
        (Noun::Ask, "advisors") => "--advisor",
        (Noun::Ask, "models") => "--model",
        (Noun::Ask, "quorum") if rest == ".graceSeconds" => "--grace",
        (Noun::Ask, "context") => "--file",
        (Noun::Ask, "boardFile") => "--board",
        (Noun::Ask, "outputTokens") => "--output-tokens",
        (Noun::Ask, "temperature" | "tries" | "language") => return own(name),
        (Noun::Ask, "board" | "synthesizer" | "quorum" | "ballot") => return own(name),
        (Noun::Sessions, "nextParticipantId") => "--next",
        (Noun::Sessions, "try") => "TRY",
        (Noun::Sessions, "text") => "TEXT",
        (Noun::Sessions, "votes") => "vote",
        (Noun::Sessions, "by") => "--as",
        (Noun::Sessions, "title") => "TITLE",
        (Noun::Sessions, "advisor" | "question" | "reasoning" | "model" | "instruction") => {
            return own(name);
        }
        (Noun::Agents, "name") => "NAME",
        (Noun::Agents, "copyOf") => "AGENT",
        (Noun::Agents, "turnSeconds") => "--turn",
        (Noun::Agents, "outputTokens") => "--output-tokens",
        (Noun::Agents, "budgetTokens") => "--budget-tokens",
        (Noun::Agents, "budgetCost") => "--budget-cost",
        (Noun::Agents, "budgetSeconds") => "--budget-time",
        (Noun::Agents, "tools") => "--tool",
        (Noun::Agents, "description" | "persona" | "model" | "tier" | "folder") => {
            return own(name);
        }
        (Noun::Boards, "name") => "NAME",
        (Noun::Boards, "copyOf") => "BOARD",
        (Noun::Boards, "file") => "FILE",
        (Noun::Boards, "seats") if rest.ends_with(".systemPrompt") => return own("system"),
        (Noun::Boards, "seats") => "--advisor",
        (Noun::Boards, "synthesis") if rest == ".prompt" => "--synthesis-prompt",
        (Noun::Boards, "synthesis") => "--synthesizer",
        (Noun::Boards, "quorum") if rest == ".graceSeconds" => "--grace",
        (Noun::Boards, "title" | "description" | "quorum" | "language") => return own(name),
        // `inputs.topic`, `fields.comment`.
        (Noun::Workflow, "inputs" | "fields") => {
            let flag = if name == "inputs" { "--input" } else { "--field" };
            let flag = format!("{flag} {}", rest.trim_start_matches('.'));
            return Some((flag.trim_end().to_owned(), None));
        }
        (Noun::Workflow, "starter" | "by") => "--as",
        (Noun::Workflow, "workflow" | "name") => "NAME",
        (Noun::Workflow, "source") => "FILE",
        (Noun::Workflow, "from" | "reason" | "decision" | "version") => return own(name),
        (_, "status" | "project" | "budget") => return own(name),
        (_, "q") => "WORDS",
        _ => return None,
    };
    Some((flag.to_owned(), nth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_by_its_flag() {
        for (noun, field, expected) in [
            (Noun::Ask, "prompt", Some(("PROMPT", None))),
            (Noun::Ask, "advisors", Some(("--advisor", None))),
            (Noun::Ask, "advisors[0].model", Some(("--advisor", Some(0)))),
            (Noun::Ask, "advisors[2].systemPrompt", Some(("--system", None))),
            (Noun::Ask, "models[1]", Some(("--model", Some(1)))),
            (Noun::Ask, "synthesizer", Some(("--synthesizer", None))),
            (Noun::Ask, "quorum.need", Some(("--quorum", None))),
            (Noun::Ask, "quorum.graceSeconds", Some(("--grace", None))),
            (Noun::Ask, "context[3].name", Some(("--file", Some(3)))),
            (Noun::Sessions, "instruction", Some(("--instruction", None))),
            (Noun::Council, "members[1].model", Some(("--member", Some(1)))),
            (Noun::Council, "addMembers[1].model", Some(("--add", Some(1)))),
            (Noun::Council, "removeMembers[0]", Some(("--remove", Some(0)))),
            (Noun::Agents, "workspace.tools[0]", Some(("--tool", Some(0)))),
            (Noun::Whiteboard, "deadlines.blindSeconds", Some(("--deadline", None))),
            (Noun::Workflow, "inputs.topic", Some(("--input topic", None))),
            (Noun::Workflow, "inputs", Some(("--input", None))),
            (Noun::Workflow, "fields.comment", Some(("--field comment", None))),
            (Noun::Workflow, "starter", Some(("--as", None))),
            (Noun::Workflow, "steps.one.ask", None),
            (Noun::Ask, "other", None),
        ] {
            let expected = expected.map(|(flag, nth)| (flag.to_owned(), nth));
            assert_eq!(source(field, noun), expected, "{field}");
        }
    }

    #[test]
    fn a_place_in_a_file_and_a_setting_of_a_seat_are_named_whole() {
        for (noun, field, expected) in [
            (Noun::Boards, "file: seats[0].role", Some("FILE: seats[0].role")),
            (Noun::Ask, "boardFile: name", Some("--board: name")),
            (Noun::Ask, "advisors[1].outputTokens", Some("--advisor 2, --output-tokens")),
            (Noun::Boards, "seats[0].tries", Some("--advisor 1, --tries")),
            (Noun::Sessions, "try", Some("TRY")),
        ] {
            assert_eq!(flag(field, noun).as_deref(), expected, "{field}");
        }
    }

    #[test]
    fn of_several_the_one_that_was_typed_is_quoted() {
        let typed =
            ["vote", "--model", "a", "--model=b", "--models", "--model", "c d", "--", "--model"];
        let quote = |flag, nth| quoted(flag, nth, typed.map(str::to_owned).into_iter());
        assert_eq!(quote("--model", 0).as_deref(), Some("--model a"));
        assert_eq!(quote("--model", 1).as_deref(), Some("--model b"));
        assert_eq!(quote("--model", 2).as_deref(), Some("--model \"c d\""));
        assert_eq!(quote("--model", 3), None);
        assert_eq!(quote("vote", 0), None);
    }

    #[test]
    fn what_is_possible_is_told_as_commands() {
        for (told, expected) in [
            (
                "It is closed; possible now: resynthesize, retry, export.",
                "It is done; possible now: plenary sessions synthesize, retry, export",
            ),
            (
                "It is active; possible now: pause, stop.",
                "It is active; possible now: plenary sessions pause, stop",
            ),
            (
                "It is draft; possible now: start, edit.",
                "It is a draft; possible now: plenary sessions start",
            ),
            (
                "It is blind; possible now: post, post informational.",
                "It is blind; possible now: plenary whiteboard post",
            ),
            (
                "It is open; possible now: post, change, export.",
                "It is open; possible now: plenary council post, edit, plenary sessions export",
            ),
            (
                "It is closed; possible now: export.",
                "It is closed; possible now: plenary sessions show, export",
            ),
            (
                "It is running; possible now: approve, cancel.",
                "It is running; possible now: plenary workflow approve, cancel",
            ),
            ("It is done; possible now: something.", "It is done."),
            ("It is concluded.", "It is concluded."),
        ] {
            assert_eq!(possible(told), expected);
        }
    }
}
