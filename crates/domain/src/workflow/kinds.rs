//! What a step can do: each kind with the fields that it takes and gives. The check, the
//! schema for editors and the rules of a run read the same table.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits;
use crate::whiteboard::answers::{POSTS, RESULTS, SEVERITIES, VOTES};

/// Something that is done outside of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Act {
    #[serde(rename = "ask")]
    Ask,
    #[serde(rename = "boardroom")]
    Boardroom,
    #[serde(rename = "discussion")]
    Discussion,
    #[serde(rename = "whiteboard.open")]
    WhiteboardOpen,
    #[serde(rename = "whiteboard.register")]
    WhiteboardRegister,
    #[serde(rename = "whiteboard.post")]
    WhiteboardPost,
    #[serde(rename = "whiteboard.annotate")]
    WhiteboardAnnotate,
    #[serde(rename = "whiteboard.vote")]
    WhiteboardVote,
    #[serde(rename = "whiteboard.transition")]
    WhiteboardTransition,
    #[serde(rename = "whiteboard.conflicts")]
    WhiteboardConflicts,
    #[serde(rename = "whiteboard.summarize")]
    WhiteboardSummarize,
    #[serde(rename = "whiteboard.archive")]
    WhiteboardArchive,
    #[serde(rename = "council.open")]
    CouncilOpen,
    #[serde(rename = "council.post")]
    CouncilPost,
    #[serde(rename = "council.read")]
    CouncilRead,
    #[serde(rename = "council.close")]
    CouncilClose,
    #[serde(rename = "workflow")]
    Workflow,
    #[serde(rename = "http")]
    Http,
    #[serde(rename = "write")]
    Write,
}

pub(crate) struct Spec {
    pub act: Act,
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [Field],
    /// Of each of these groups exactly one field is given.
    pub one_of: &'static [&'static [&'static str]],
    /// Of each of these at most one.
    pub at_most_one_of: &'static [&'static [&'static str]],
    /// Where the first is given, the second is too.
    pub with: &'static [(&'static str, &'static str)],
    pub gives: Gives,
    /// The field that names the room that it writes to.
    pub writes: Option<&'static str>,
    pub asks: Asks,
    pub does: Does,
    /// What nobody could guess of what it gives. Where there is nothing of that kind, the
    /// step does as it is told.
    pub open: &'static [&'static str],
}

/// Who is asked before anything is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    Nobody,
    /// A model; its answer is what the step gives.
    Model,
    /// A seat at a whiteboard, where the step says what it is asked.
    Seat(Answer),
}

/// What a seat writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Post,
    Annotations,
    Votes,
}

/// What is done outside, when everything is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    /// To ask is all.
    Nothing,
    /// A room is told something, or read.
    Tells,
    /// A room is opened, and stays open; the field has its name.
    Opens {
        named: &'static str,
    },
    /// A session is opened, and its end waited for.
    Awaits,
    Requests,
    Writes,
}

pub(crate) struct Field {
    pub name: &'static str,
    pub takes: Takes,
    pub required: bool,
    pub about: &'static str,
}

/// What a field takes. Any of them may be a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    Text,
    Number {
        least: u32,
        most: u32,
    },
    Flag,
    OneOf(&'static [&'static str]),
    List,
    Map,
    Anything,
    Time,
    /// The one field in which a secret may be named.
    Token,
    /// A map whose values may name a secret.
    Headers,
}

/// What `steps.x` is afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gives {
    Fields(&'static [&'static str]),
    /// Nobody can tell before.
    Anything,
}

const fn must(name: &'static str, takes: Takes, about: &'static str) -> Field {
    Field { name, takes, required: true, about }
}

const fn may(name: &'static str, takes: Takes, about: &'static str) -> Field {
    Field { name, takes, required: false, about }
}

const NOTHING_ELSE: Spec = Spec {
    act: Act::Ask,
    name: "",
    about: "",
    fields: &[],
    one_of: &[],
    at_most_one_of: &[],
    with: &[],
    gives: Gives::Anything,
    writes: None,
    asks: Asks::Nobody,
    does: Does::Tells,
    open: &[],
};

const TIERS: &[&str] = &["fast", "balanced", "strong"];
const FORMATS: &[&str] = &["brainstorm", "review", "deliberation"];
const ROLES: &[&str] = &["specialist", "facilitator", "operator"];
const ADMISSIONS: &[&str] = &["open", "invited"];
pub(crate) const PHASES: &[&str] = &["blind", "read", "validate", "debate", "resolve", "archived"];
const NEXT_PHASES: &[&str] = &["read", "validate", "debate", "resolve", "archived"];
const ANNOTATIONS: &[&str] =
    &["validation", "challenge", "corroboration", "rebuttal", "withdrawal", "resolution"];
const ROUNDS: Takes = Takes::Number { least: 1, most: limits::ROUNDS_MOST };
const DECIDED: &[&str] = &["board", "outcome", "decision", "tally", "dissent", "open", "posts"];

pub(crate) const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

pub(crate) const SPECS: [Spec; 19] = [
    Spec {
        act: Act::Ask,
        name: "ask",
        about: "Ask one agent or model.",
        fields: &[
            must("prompt", Takes::Text, "The question."),
            may("agent", Takes::Text, "A saved agent."),
            may("model", Takes::Text, "A model."),
            may("tier", Takes::OneOf(TIERS), "A model of this tier."),
            may("system", Takes::Text, "Instructions before the question."),
            may("schema", Takes::Map, "A JSON schema that the answer follows."),
        ],
        at_most_one_of: &[&["agent", "model", "tier"]],
        gives: Gives::Fields(&["text", "json", "model", "cut"]),
        asks: Asks::Model,
        does: Does::Nothing,
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::Boardroom,
        name: "boardroom",
        about: "Convene a board, and wait for its verdict.",
        fields: &[
            must("prompt", Takes::Text, "The question."),
            may("board", Takes::Text, "A preset or saved board."),
            may("advisors", Takes::List, "Who sits on it, in place of a board."),
            may("model", Takes::Text, "The model of all advisors."),
            may("synthesizer", Takes::Text, "The model that writes the verdict."),
            may("quorum", Takes::Number { least: 1, most: 16 }, "Minimum answers."),
            may("grace", Takes::Time, "How long to wait for the rest then."),
            may("ballot", Takes::Flag, "Whether the advisors vote on the verdict."),
            may("keep", Takes::Flag, "It continues if the run is cancelled."),
        ],
        at_most_one_of: &[&["board", "advisors"]],
        gives: Gives::Fields(&["id", "verdict", "points", "votes", "absent", "degraded"]),
        does: Does::Awaits,
        open: &["verdict"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::Discussion,
        name: "discussion",
        about: "Hold a discussion, and wait for its conclusion.",
        fields: &[
            must("topic", Takes::Text, "What is discussed."),
            may("format", Takes::OneOf(FORMATS), "How."),
            may("facilitator", Takes::Text, "Who leads."),
            may("with", Takes::List, "Who takes part."),
            may("rounds", ROUNDS, "Maximum rounds."),
            may("keep", Takes::Flag, "It continues if the run is cancelled."),
        ],
        gives: Gives::Fields(&["id", "status", "conclusion", "rounds"]),
        does: Does::Awaits,
        open: &["conclusion"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardOpen,
        name: "whiteboard.open",
        about: "Open a whiteboard, led by the run.",
        fields: &[
            must("board_id", Takes::Text, "The board's name, for good."),
            must("topic", Takes::Text, "What it is about."),
            may("project", Takes::Text, "Its project."),
            may("admission", Takes::OneOf(ADMISSIONS), "Who can join."),
            may("keep", Takes::Flag, "It stays open if the run is cancelled."),
        ],
        gives: Gives::Fields(&["id", "board", "phase"]),
        does: Does::Opens { named: "board_id" },
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardRegister,
        name: "whiteboard.register",
        about: "Seat an agent at a whiteboard.",
        fields: &[
            must("board", Takes::Text, "The board."),
            must("agent", Takes::Text, "The agent's name."),
            may("role", Takes::OneOf(ROLES), "What it may do."),
            may("domain", Takes::Text, "Its expertise."),
            may("model", Takes::Text, "The model it uses."),
        ],
        gives: Gives::Fields(&["agent", "role", "domain"]),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardPost,
        name: "whiteboard.post",
        about: "Post to a whiteboard: this text, or what the seat answers.",
        fields: &[
            must("board", Takes::Text, "The board."),
            must("as", Takes::Text, "Who posts."),
            may("token", Takes::Token, "The agent's token, if the run did not register it."),
            may("ask", Takes::Text, "What the seat is asked."),
            may("title", Takes::Text, "The post's title."),
            may("body", Takes::Text, "The post's text."),
            may("type", Takes::OneOf(POSTS), "What kind of post it is."),
            may("target_file", Takes::Text, "The file it is about."),
            may("target_location", Takes::Text, "Lines or a symbol of that file."),
            may("severity", Takes::OneOf(SEVERITIES), "How severe it is."),
        ],
        one_of: &[&["ask", "body"]],
        with: &[("body", "title"), ("target_location", "target_file")],
        gives: Gives::Fields(&[
            "post",
            "title",
            "body",
            "type",
            "target_file",
            "target_location",
            "severity",
        ]),
        writes: Some("board"),
        asks: Asks::Seat(Answer::Post),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardAnnotate,
        name: "whiteboard.annotate",
        about: "Validate, challenge or answer a post.",
        fields: &[
            must("board", Takes::Text, "The board."),
            must("as", Takes::Text, "Who writes."),
            may("token", Takes::Token, "The agent's token, if the run did not register it."),
            may("ask", Takes::Text, "What the seat is asked."),
            may("type", Takes::OneOf(ANNOTATIONS), "What kind of annotation it is."),
            may("post", Takes::Text, "The post it is about."),
            may("body", Takes::Text, "Its words."),
            may("result", Takes::OneOf(RESULTS), "What a validation found."),
        ],
        one_of: &[&["ask", "post"]],
        with: &[("post", "type"), ("post", "body")],
        gives: Gives::Fields(&["annotations", "left_out"]),
        writes: Some("board"),
        asks: Asks::Seat(Answer::Annotations),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardVote,
        name: "whiteboard.vote",
        about: "Vote on a post, or have a seat vote on all of them.",
        fields: &[
            must("board", Takes::Text, "The board."),
            must("as", Takes::Text, "Who votes."),
            may("token", Takes::Token, "The agent's token, if the run did not register it."),
            may("ask", Takes::Text, "What the seat is asked."),
            may("post", Takes::Text, "The post."),
            may("vote", Takes::OneOf(VOTES), "The vote."),
            may("reason", Takes::Text, "Why."),
        ],
        one_of: &[&["ask", "post"]],
        with: &[("post", "vote")],
        gives: Gives::Fields(&["votes", "abstained", "left_out"]),
        writes: Some("board"),
        asks: Asks::Seat(Answer::Votes),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardTransition,
        name: "whiteboard.transition",
        about: "Move a whiteboard on.",
        fields: &[
            must("board", Takes::Text, "The board."),
            must("to", Takes::OneOf(NEXT_PHASES), "The phase."),
            may("as", Takes::Text, "Who does it, if the run does not lead the board."),
            may("token", Takes::Token, "That agent's token."),
        ],
        gives: Gives::Fields(&["board", "phase"]),
        writes: Some("board"),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardConflicts,
        name: "whiteboard.conflicts",
        about: "Find posts that conflict.",
        fields: &[must("board", Takes::Text, "The board.")],
        gives: Gives::Fields(&["conflicts", "count"]),
        open: &["conflicts"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardSummarize,
        name: "whiteboard.summarize",
        about: "Summarize a whiteboard.",
        fields: &[must("board", Takes::Text, "The board.")],
        gives: Gives::Fields(DECIDED),
        open: &["outcome"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::WhiteboardArchive,
        name: "whiteboard.archive",
        about: "Archive a whiteboard, and return what it decided.",
        fields: &[
            must("board", Takes::Text, "The board."),
            may("as", Takes::Text, "Who does it, if the run does not lead the board."),
            may("token", Takes::Token, "That agent's token."),
        ],
        gives: Gives::Fields(DECIDED),
        writes: Some("board"),
        open: &["outcome"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::CouncilOpen,
        name: "council.open",
        about: "Open a council.",
        fields: &[
            must("name", Takes::Text, "The council's name."),
            must("charter", Takes::Text, "What it is for."),
            may("members", Takes::List, "Its members."),
            may("project", Takes::Text, "Its project."),
            may("keep", Takes::Flag, "It stays open if the run is cancelled."),
        ],
        gives: Gives::Fields(&["id", "council"]),
        does: Does::Opens { named: "name" },
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::CouncilPost,
        name: "council.post",
        about: "Post to a council.",
        fields: &[
            must("council", Takes::Text, "The council."),
            must("as", Takes::Text, "Who posts."),
            must("body", Takes::Text, "The words."),
            may(
                "reply_to",
                Takes::Number { least: 1, most: limits::SEQUENCE_MOST },
                "The post it replies to.",
            ),
            may("token", Takes::Token, "The sender's token."),
        ],
        gives: Gives::Fields(&["council", "sequence"]),
        writes: Some("council"),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::CouncilRead,
        name: "council.read",
        about: "Read the posts of a council.",
        fields: &[
            must("council", Takes::Text, "The council."),
            may(
                "since",
                Takes::Number { least: 0, most: limits::SEQUENCE_MOST },
                "After this post.",
            ),
            may("limit", Takes::Number { least: 1, most: limits::PAGE_MOST }, "Maximum posts."),
        ],
        gives: Gives::Fields(&["posts", "last"]),
        open: &["posts"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::CouncilClose,
        name: "council.close",
        about: "Close a council.",
        fields: &[
            must("council", Takes::Text, "The council."),
            may("summary", Takes::Text, "The outcome."),
        ],
        gives: Gives::Fields(&["council"]),
        writes: Some("council"),
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::Workflow,
        name: "workflow",
        about: "Run another workflow, and wait until it ends.",
        fields: &[
            must("name", Takes::Text, "The workflow."),
            may("inputs", Takes::Map, "Its inputs."),
            may("keep", Takes::Flag, "It continues if this run is cancelled."),
        ],
        gives: Gives::Fields(&["id", "status", "outputs"]),
        does: Does::Awaits,
        open: &["outputs"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::Http,
        name: "http",
        about: "Send a request to a host that the configuration allows.",
        fields: &[
            may("get", Takes::Text, "The address."),
            may("post", Takes::Text, "The address."),
            may("put", Takes::Text, "The address."),
            may("patch", Takes::Text, "The address."),
            may("delete", Takes::Text, "The address."),
            may("headers", Takes::Headers, "Headers; they can use secrets."),
            may("json", Takes::Anything, "The body, as JSON."),
            may("body", Takes::Text, "The body, as text."),
        ],
        one_of: &[&METHODS],
        at_most_one_of: &[&["json", "body"]],
        gives: Gives::Fields(&["status", "body", "json"]),
        does: Does::Requests,
        open: &["status"],
        ..NOTHING_ELSE
    },
    Spec {
        act: Act::Write,
        name: "write",
        about: "Write a file in a folder that the configuration allows.",
        fields: &[
            must("path", Takes::Text, "Where."),
            may("text", Takes::Text, "The content, as text."),
            may("json", Takes::Anything, "The content, as JSON."),
        ],
        one_of: &[&["text", "json"]],
        gives: Gives::Fields(&["path", "bytes", "sha256"]),
        writes: Some("path"),
        does: Does::Writes,
        ..NOTHING_ELSE
    },
];

/// Kinds that the run itself carries out.
pub(crate) const OWN: [&str; 6] = ["set", "sleep", "wait", "approve", "foreach", "repeat"];

pub(crate) const WAITED: &[&str] = &["outcome", "signals"];
pub(crate) const APPROVED: &[&str] = &["decision", "by", "reason", "fields", "at"];
pub(crate) const SLEPT: &[&str] = &["until"];

impl Act {
    pub(crate) fn spec(self) -> &'static Spec {
        SPECS.iter().find(|spec| spec.act == self).unwrap_or(&NOTHING_ELSE)
    }

    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Whether it opens a session of its own and waits for its end.
    pub(crate) fn is_awaited(self) -> bool {
        self.spec().does == Does::Awaits
    }

    /// Whether it opens a room or a session.
    pub(crate) fn opens(self) -> bool {
        matches!(self.spec().does, Does::Awaits | Does::Opens { .. })
    }

    /// Whether somebody is asked before it is done.
    pub(crate) fn is_asked(self, with: &Map<String, Value>) -> bool {
        match self.spec().asks {
            Asks::Nobody => false,
            Asks::Model => true,
            Asks::Seat(_) => with.contains_key("ask"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_act_once_and_names_only_its_own_fields() {
        for (place, spec) in SPECS.iter().enumerate() {
            assert_eq!(serde_json::to_value(spec.act).unwrap(), spec.name);
            assert!(SPECS[..place].iter().all(|other| other.act != spec.act), "{}", spec.name);
            let has = |name: &str| spec.fields.iter().any(|field| field.name == name);
            let groups = spec.one_of.iter().chain(spec.at_most_one_of).flat_map(|group| *group);
            assert!(groups.copied().all(has), "{}", spec.name);
            assert!(spec.with.iter().all(|(a, b)| has(a) && has(b)), "{}", spec.name);
            assert!(spec.writes.is_none_or(has), "{}", spec.name);
            let given = |name: &&str| match spec.gives {
                Gives::Fields(fields) => fields.contains(name),
                Gives::Anything => true,
            };
            assert!(spec.open.iter().all(given), "{}", spec.name);
            match (spec.does, spec.asks) {
                (Does::Opens { named }, _) => assert!(has(named), "{}", spec.name),
                (_, Asks::Seat(_)) => assert!(has("ask") && has("as"), "{}", spec.name),
                (_, Asks::Nobody | Asks::Model) => {}
            }
        }
    }
}
