//! The limits that whoever fills in a form should know before it is sent, in plain words.
//! The numbers are those of `limits.rs`, by which the rules go.

use super::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The noun that it is about.
    pub of: Of,
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    pub unit: Unit,
    pub least: u64,
    pub most: Option<u64>,
    /// What counts when nothing is given.
    pub usual: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Of {
    Agent,
    Boardroom,
    Council,
    Discussion,
    /// Files that belong to a prompt or a topic.
    Context,
    /// Any request.
    Request,
    Whiteboard,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Bytes,
    Characters,
    Count,
    Seconds,
    Tokens,
}

use Of::{Agent, Boardroom, Context, Council, Discussion, Request, Whiteboard};
use Unit::{Bytes, Characters, Count, Seconds, Tokens};

pub const TOLD: &[Limit] = &[
    up_to(Boardroom, "prompt", "Question", Bytes, PROMPT_BYTES).required(),
    up_to(Boardroom, "advisors", "Advisors", Count, ADVISORS).required(),
    up_to(Boardroom, "systemPrompt", "System prompt", Bytes, INSTRUCTION_BYTES),
    up_to(Boardroom, "instruction", "Instruction for the verdict", Bytes, INSTRUCTION_BYTES),
    up_to(Boardroom, "person", "Person’s name", Bytes, MODEL_NAME_BYTES).required(),
    up_to(Boardroom, "reply", "Person’s reply", Bytes, REPLY_BYTES).required(),
    lasting(Boardroom, "replyWithin", "Time for a person’s reply", REPLY_LEAST_MS, REPLY_MOST_MS),
    lasting(Boardroom, "grace", "Wait for the rest", 0, GRACE_MOST_MS).usually(GRACE_MS / 1_000),
    up_to(Boardroom, "syntheses", "Verdicts", Count, SYNTHESES),
    up_to(Boardroom, "retries", "Times an advisor can be asked again", Count, {
        RETRIES_BY_HAND as usize
    }),
    up_to(Context, "files", "Files", Count, CONTEXT_FILES),
    up_to(Context, "fileName", "File name", Bytes, MODEL_NAME_BYTES).required(),
    up_to(Context, "file", "One file", Bytes, CONTEXT_FILE_BYTES).required(),
    up_to(Context, "together", "All files together", Bytes, CONTEXT_BYTES),
    up_to(Discussion, "topic", "Topic", Bytes, PROMPT_BYTES).required(),
    up_to(Discussion, "name", "Name", Bytes, DISCUSSION_NAME_BYTES),
    up_to(Discussion, "project", "Project", Bytes, PROJECT_BYTES),
    up_to(Discussion, "participants", "Participants", Count, PARTICIPANTS).required(),
    up_to(Discussion, "seatName", "Participant’s name", Bytes, SEAT_NAME_BYTES).required(),
    up_to(Discussion, "persona", "Persona", Bytes, STORED_PERSONA_BYTES),
    up_to(Discussion, "rounds", "Rounds", Count, ROUNDS_MOST as usize)
        .required()
        .usually(ROUNDS as u64),
    at_least(Discussion, "budget", "Budget", Tokens, BUDGET_TOKENS_LEAST),
    lasting(Discussion, "replyWithin", "Time for a person’s turn", REPLY_LEAST_MS, REPLY_MOST_MS),
    up_to(Discussion, "interjection", "Interjection", Bytes, INTERJECTION_BYTES).required(),
    up_to(Discussion, "interjections", "Interjections", Count, INTERJECTIONS),
    up_to(Discussion, "turn", "Person’s turn", Bytes, TURN_BYTES).required(),
    up_to(Discussion, "question", "Question to a participant", Bytes, QUESTION_BYTES).required(),
    up_to(Discussion, "reasoning", "Reason for a decision", Bytes, REASONING_BYTES),
    up_to(Whiteboard, "name", "Name", Bytes, ROOM_NAME_BYTES).required(),
    up_to(Whiteboard, "topic", "Topic", Bytes, TOPIC_BYTES).required(),
    up_to(Whiteboard, "project", "Project", Bytes, PROJECT_BYTES),
    up_to(Whiteboard, "agents", "Agents", Count, BOARD_AGENTS),
    up_to(Whiteboard, "agentName", "Agent’s name", Bytes, AGENT_NAME_BYTES).required(),
    up_to(Whiteboard, "domain", "Agent’s expertise", Bytes, DOMAIN_BYTES),
    up_to(Whiteboard, "title", "Post title", Bytes, POST_TITLE_BYTES).required(),
    up_to(Whiteboard, "body", "Text of a post or annotation", Bytes, BOARD_BODY_BYTES).required(),
    up_to(Whiteboard, "references", "Files or findings per post", Count, POST_REFS),
    up_to(Whiteboard, "reference", "File, place or finding", Bytes, POST_REF_BYTES),
    lasting(Whiteboard, "deadline", "Time per phase", PHASE_LEAST_MS, PHASE_MOST_MS),
    up_to(Council, "name", "Name", Bytes, ROOM_NAME_BYTES).required(),
    up_to(Council, "charter", "Charter", Bytes, CHARTER_BYTES).required(),
    up_to(Council, "project", "Project", Bytes, COUNCIL_LABEL_BYTES),
    up_to(Council, "members", "Members", Count, COUNCIL_MEMBERS),
    up_to(Council, "memberName", "Member’s name", Bytes, AGENT_NAME_BYTES).required(),
    up_to(Council, "persona", "Member’s persona", Bytes, PERSONA_BYTES),
    up_to(Council, "post", "Post", Bytes, POST_BYTES).required(),
    up_to(Council, "summary", "Closing summary", Bytes, COUNCIL_SUMMARY_BYTES),
    up_to(Agent, "name", "Name", Characters, STORED_NAME_CHARS).required(),
    up_to(Agent, "description", "Description", Bytes, DESCRIPTION_BYTES),
    up_to(Agent, "persona", "Persona", Bytes, STORED_PERSONA_BYTES).required(),
    lasting(Agent, "turn", "Time per turn", TURN_LEAST_MS, TURN_MOST_MS),
    up_to(Agent, "outputTokens", "Tokens per answer", Tokens, OUTPUT_TOKENS_MOST as usize)
        .from(OUTPUT_TOKENS_LEAST as u64),
    up_to(Agent, "budgetTokens", "Tokens per session", Tokens, BUDGET_TOKENS_MOST as usize)
        .from(BUDGET_TOKENS_LEAST),
    up_to(Agent, "folder", "Folder", Bytes, FOLDER_BYTES),
    up_to(Agent, "tools", "Tools", Count, TOOLS),
    up_to(Agent, "tool", "Tool name", Bytes, TOOL_BYTES).required(),
    up_to(Request, "body", "One request", Bytes, BODY_BYTES),
    up_to(Request, "page", "Rows per page", Count, PAGE_MOST as usize)
        .required()
        .usually(PAGE as u64),
];

const fn up_to(of: Of, id: &'static str, name: &'static str, unit: Unit, most: usize) -> Limit {
    Limit { of, id, name, unit, least: 0, most: Some(most as u64), usual: None }
}

const fn at_least(of: Of, id: &'static str, name: &'static str, unit: Unit, least: u64) -> Limit {
    Limit { of, id, name, unit, least, most: None, usual: None }
}

const fn lasting(
    of: Of,
    id: &'static str,
    name: &'static str,
    least_ms: u64,
    most_ms: u64,
) -> Limit {
    let (least, most) = (least_ms / 1_000, Some(most_ms / 1_000));
    Limit { of, id, name, unit: Seconds, least, most, usual: None }
}

impl Limit {
    /// Nothing is too little.
    const fn required(self) -> Limit {
        self.from(1)
    }

    const fn from(self, least: u64) -> Limit {
        Limit { least, ..self }
    }

    const fn usually(self, usual: u64) -> Limit {
        Limit { usual: Some(usual), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::TOLD;

    #[test]
    fn every_limit_has_a_name_of_its_own_and_room_in_it() {
        let mut names: Vec<_> = TOLD.iter().map(|limit| (limit.of, limit.id)).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        for limit in TOLD {
            let most = limit.most.unwrap_or(u64::MAX);
            let usual = limit.usual.unwrap_or(limit.least);
            assert!((limit.least..=most).contains(&usual), "{limit:?}");
            assert!(limit.name.starts_with(char::is_uppercase), "{limit:?}");
        }
    }
}
