//! Discussions as clients know them that were made for conversations and messages: rows of
//! a list, and what was said as messages with marks that such clients read.

use std::sync::Arc;

use plenary_clerk::discussions::{FormatName, RoleName};
use plenary_domain::discussion::{Decided, Entry, Said, Seat, Spoken, State};
use plenary_domain::{Answer, SessionId, Timestamp};
use plenary_engine::ports::SessionRow;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::SessionView;
use super::discussions::{DiscussionStatus, moderator_id};

/// A discussion in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscussionRow {
    #[serde(flatten)]
    session: SessionView,
    topic: String,
    format: FormatName,
    /// The round under way, from 1; 0 in a draft.
    round: u32,
    max_rounds: u32,
    /// The stored agent that leads, or the seat's own id.
    moderator_id: String,
    moderator: RowSeat,
    participants: Vec<RowSeat>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionRowSeat)]
pub struct RowSeat {
    id: String,
    /// The stored agent that this is a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent_id: Option<String>,
    name: String,
    /// Absent for the facilitator.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<RoleName>,
}

impl DiscussionRow {
    pub fn new(row: SessionRow, state: &State) -> Self {
        let session = SessionView { name: Some(state.name.clone()), ..SessionView::from(row) };
        let participants = state.participants.iter();
        DiscussionRow {
            session,
            topic: state.topic_told().to_owned(),
            format: state.format_told().into(),
            round: state.round(),
            max_rounds: state.max_rounds,
            moderator_id: moderator_id(state),
            moderator: RowSeat::new(&state.facilitator, None),
            participants: participants
                .map(|p| RowSeat::new(&p.seat, Some(p.role.into())))
                .collect(),
        }
    }
}

impl RowSeat {
    fn new(seat: &Seat, role: Option<RoleName>) -> Self {
        RowSeat {
            id: seat.id.0.clone(),
            agent_id: seat.agent.as_ref().map(|agent| agent.0.clone()),
            name: seat.name.clone(),
            role,
        }
    }
}

/// What was said since a discussion was started. There is one, or none in a draft.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionSession)]
pub struct ConversationView {
    id: Uuid,
    table_id: Uuid,
    started_at: Timestamp,
    /// `null` until it is concluded.
    ended_at: Option<Timestamp>,
    messages: Vec<MessageView>,
}

/// One piece of what was said. A turn is `[Name] Q: … A: …`, what the facilitator says
/// begins with `[MODERATOR]`, and the conclusion with `[MODERATOR] [SYNTHESIS]`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionMessage)]
pub struct MessageView {
    id: String,
    /// `user` for a person who interjects, else `assistant`.
    role: &'static str,
    content: String,
    timestamp: Timestamp,
    /// Tokens of the answer, where they are known.
    token_count: Option<u64>,
}

impl ConversationView {
    /// With these entries, and the conclusion if they are the last ones.
    pub fn new(id: SessionId, state: &State, entries: &[Arc<Entry>]) -> Option<Self> {
        let message = |number: u32, content: Content| MessageView {
            id: format!("{id}-{number}"),
            role: content.role,
            content: content.text,
            timestamp: content.at,
            token_count: content.tokens,
        };
        let said = entries.iter().filter_map(|entry| Some((entry.number, content(state, entry)?)));
        let last = entries.last().map_or(0, |entry| entry.number);
        let is_whole = last as usize == state.transcript.len();
        let end = state.conclusion().filter(|_| is_whole).map(|conclusion| {
            let text = format!("[MODERATOR] [SYNTHESIS]\n{}", conclusion.text());
            let tokens = conclusion.answer.usage.output_tokens;
            (last + 1, Content { role: "assistant", text, at: conclusion.at, tokens })
        });
        Some(ConversationView {
            id: id.0,
            table_id: id.0,
            started_at: state.started_at?,
            ended_at: state.conclusion().map(|conclusion| conclusion.at),
            messages: said.chain(end).map(|(number, said)| message(number, said)).collect(),
        })
    }
}

struct Content {
    role: &'static str,
    text: String,
    at: Timestamp,
    tokens: Option<u64>,
}

/// What was broken off, or could not be written, is no message.
fn content(state: &State, entry: &Entry) -> Option<Content> {
    let (role, text, tokens) = match &entry.said {
        Said::Decision(decided) => {
            ("assistant", decision(state, decided), decided.usage.output_tokens)
        }
        Said::Turn { speaker, question, spoken, .. } => {
            let name = state.seat(speaker).map_or(&speaker.0, |seat| &seat.name);
            let (answer, tokens) = match spoken {
                Spoken::Words(Answer { text, usage, .. }) => (text.clone(), usage.output_tokens),
                Spoken::Failed { failure, .. } => {
                    (format!("({}, no response)", failure.kind.words()), None)
                }
            };
            ("assistant", format!("{} Q: {question}\n\nA: {answer}", mark(name)), tokens)
        }
        Said::Interjection { by, text } => ("user", format!("{} {text}", mark(by)), None),
        Said::Cut { .. } | Said::SynthesisFailed { .. } => return None,
    };
    Some(Content { role, text, at: entry.at, tokens })
}

/// A name between brackets ends at the first that closes one.
fn mark(name: &str) -> String {
    format!("[{}]", name.replace('[', "(").replace(']', ")"))
}

fn decision(state: &State, decided: &Decided) -> String {
    let next = decided.next.as_ref().and_then(|next| state.seat(next));
    let next = next.map(|seat| format!(" {} is next.", seat.name)).unwrap_or_default();
    let step = match decided.turn {
        0 => "OPENING".to_owned(),
        turn => format!("EVALUATION - Round {turn}"),
    };
    let choice = decided.decision.name();
    let text = format!("[MODERATOR] [{step}] Decision: {choice}.{next}");
    match decided.reasoning.trim() {
        "" => text,
        reasoning => format!("{text} {reasoning}"),
    }
}

/// How a discussion stands, and what was said in it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionStand)]
pub struct Stand {
    table_id: Uuid,
    topic: String,
    status: DiscussionStatus,
    /// `null` until it is concluded.
    conclusion: Option<String>,
    /// `null` in a draft.
    session: Option<ConversationView>,
}

impl Stand {
    pub fn new(id: SessionId, state: &State, entries: &[Arc<Entry>]) -> Self {
        Stand {
            table_id: id.0,
            topic: state.topic_told().to_owned(),
            status: DiscussionStatus::of(state).0,
            conclusion: state.conclusion().map(|conclusion| conclusion.text().to_owned()),
            session: ConversationView::new(id, state, entries),
        }
    }
}
