//! Errors in the words of the command line. The server speaks of routes, headers and
//! fields; who types commands knows commands and flags.

use super::Noun;
use crate::api::ApiError;

/// What to do about it, by the error's code.
pub fn hint(error: &ApiError, noun: Noun) -> Option<String> {
    let told = error.hint.clone();
    match (error.code.as_str(), noun) {
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
                "Choose another name with --as, or show that it is yours: its token is kept where \
                 it was given, or comes with --token."
                    .into(),
            )
        }
        ("store-failed", _)
            if told.as_ref().is_some_and(|told| told.contains("Idempotency-Key")) =>
        {
            Some(
                "`plenary doctor` says what is wrong. A change may have been carried out all the \
                 same: look before you repeat it."
                    .into(),
            )
        }
        ("not-your-agent", Noun::Whiteboard | Noun::Council) => Some(format!(
            "The operator of the server renews a lost token: plenary {} token",
            noun.name()
        )),
        ("not-yours", _) if told.as_ref().is_some_and(|told| told.contains("`Agent-Token`")) => {
            Some(
                "Add --token with the token of the seat; whoever opened the session has it.".into(),
            )
        }
        ("not-invited", _) => Some("Add --invitation with the code that was made for you.".into()),
        ("unauthorized", _) => Some("Set PLENARY_TOKEN to a token of that server.".into()),
        _ => told,
    }
}

/// A sentence about a field, with the flag or argument in its place.
pub fn message(error: &ApiError, noun: Noun) -> String {
    let mut message = error.message.clone();
    for (field, _) in &error.fields {
        if let Some(flag) = flag(field, noun) {
            message = message.replace(&format!("`{field}`"), &flag);
        }
    }
    message
}

/// The flag or argument that a field comes from.
pub fn flag(field: &str, noun: Noun) -> Option<String> {
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
        ) => return Some(format!("--{name}")),
        (Noun::Council, "name") => "COUNCIL",
        (Noun::Council, "charter") => "CHARTER",
        (Noun::Council, "members" | "model") => "--member",
        (Noun::Council, "replyTo") => "--reply-to",
        (Noun::Council, "summary" | "project") => return Some(format!("--{name}")),
        (Noun::Discuss, "topic") => "TOPIC",
        (Noun::Discuss, "participants") => "--with",
        (Noun::Discuss, "moderatorId" | "facilitator") => "--facilitator",
        (Noun::Discuss, "maxRounds") => "--rounds",
        (Noun::Discuss, "budgetTokens") => "--budget-tokens",
        (Noun::Discuss, "context") => "--file",
        (Noun::Discuss, "model" | "name" | "project") => return Some(format!("--{name}")),
        (Noun::Sessions, "nextParticipantId") => "--next",
        (Noun::Sessions, "question") => "--question",
        (Noun::Sessions, "text") => "TEXT",
        (Noun::Sessions, "votes") => "vote",
        (Noun::Sessions, "advisor") => "--advisor",
        (Noun::Sessions, "by") => "--as",
        (Noun::Agents, "name") => "NAME",
        (Noun::Agents, "copyOf") => "AGENT",
        (Noun::Agents, "turnSeconds") => "--turn",
        (Noun::Agents, "outputTokens") => "--output-tokens",
        (Noun::Agents, "budgetTokens") => "--budget-tokens",
        (Noun::Agents, "tools") => "--tool",
        (Noun::Agents, "description" | "persona" | "model" | "tier" | "folder") => {
            return Some(format!("--{name}"));
        }
        (_, "status") => "--status",
        _ => return None,
    };
    Some(nth.map_or_else(|| flag.to_owned(), |nth| format!("{flag} {}", nth + 1)))
}
