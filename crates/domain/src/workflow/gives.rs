//! What a run takes from the other forms: what came of them, what a seat sees, what they
//! tell by themselves. All of it is worked out from their states by code.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Stage as RunStage;
use super::event::{End, Took};
use super::signal::{AT, NUMBER, Signal};
use crate::boardroom::{self, ballot};
use crate::council;
use crate::discussion;
use crate::form::Report;
use crate::limits;
use crate::room::Room;
use crate::view::{self, Board, Seen, Viewer};

pub use crate::whiteboard::told::{annotatable, seen, standing_posts, votable};
use crate::whiteboard::told::{choice, clipped, kind, share};
use crate::whiteboard::{self, Action, Choice, Outcome, PostKind, Standing, Summary, summarize};

/// What is told of a session that a step has opened: what it took, and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// The word of its kind for it.
    #[serde(default)]
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Took>,
    pub given: Result<Value, String>,
}

impl Ended {
    /// `None` while it goes on.
    pub fn of(room: &Room) -> Option<Ended> {
        Some(Ended { status: room.status().into(), given: ended(room)?, took: took(room) })
    }

    /// One that was ended before it came to something.
    pub fn early(room: &Room) -> Ended {
        let given = Err("it was ended".into());
        Ended { status: room.status().into(), given, took: took(room) }
    }

    pub fn told(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(crate) fn read(value: Value) -> Result<Ended, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

fn took(room: &Room) -> Option<Took> {
    let ledger = room.ledger()?;
    let models = ledger.models().map(|(model, spent)| (model.clone(), spent.usage));
    let took = Took { models: models.collect(), prices: ledger.prices().clone() };
    (!took.models.is_empty()).then_some(took)
}

/// What came of a session that a step waits for; `None` while it goes on, and while it
/// only rests.
fn ended(room: &Room) -> Option<Result<Value, String>> {
    match room {
        Room::Boardroom(board) => match &board.stage {
            boardroom::Stage::Closed => Some(Ok(verdict(board))),
            boardroom::Stage::Stopped => Some(Err("the board was stopped".into())),
            boardroom::Stage::Failed(why) => Some(Err(why.clone())),
            boardroom::Stage::Answering(_)
            | boardroom::Stage::Synthesizing
            | boardroom::Stage::Balloting => None,
        },
        Room::Discussion(discussion) => match &discussion.stage {
            discussion::Stage::Concluded(conclusion) => Some(Ok(json!({
                "status": discussion.status(), "conclusion": conclusion.text(),
                "rounds": discussion.turns(),
            }))),
            discussion::Stage::Stopped(_) => Some(Err("the discussion was stopped".into())),
            discussion::Stage::Failed { why, .. } => Some(Err(why.clone())),
            discussion::Stage::Draft
            | discussion::Stage::Active(_)
            | discussion::Stage::Pausing(_)
            | discussion::Stage::Paused(_) => None,
        },
        Room::Workflow(run) => match &run.stage {
            RunStage::Ended { .. } if !run.is_over() => None,
            RunStage::Ended { ending, .. } => Some(match ending.status {
                End::Done => Ok(json!({ "status": "done", "outputs": ending.outputs })),
                End::Failed | End::Cancelled => {
                    let why = [ending.status.name(), &ending.reason];
                    let why: Vec<&str> = why.into_iter().filter(|word| !word.is_empty()).collect();
                    Err(format!("the run has {}", why.join(": ")))
                }
            }),
            RunStage::Running | RunStage::Finally { .. } => None,
        },
        Room::Whiteboard(_)
        | Room::Council(_)
        | Room::Library(_)
        | Room::Signals(_)
        | Room::Shelf(_)
        | Room::Boards(_) => None,
    }
}

/// The last synthesis of a board, with the votes on it.
fn verdict(board: &boardroom::State) -> Value {
    let done = |synthesis: &&boardroom::Synthesis| synthesis.standing.done().is_some();
    let Some(synthesis) = board.syntheses.iter().rfind(done) else { return Value::Null };
    let text = synthesis.standing.done().map(|written| written.verdict.text.as_str());
    let (points, _) = match synthesis.standing.done() {
        Some(written) => ballot::points::read(&written.verdict),
        None => Default::default(),
    };
    let point = |point: &ballot::Point| {
        let (number, section) = (point.number, point.section.heading());
        json!({ "number": number, "section": section, "text": point.text })
    };
    let papers = synthesis.held().into_iter();
    let votes = papers.flat_map(|held| &held.papers).flat_map(|paper| {
        let cast = paper.standing.done().map(|cast| cast.votes.as_slice()).unwrap_or_default();
        cast.iter().map(|vote| {
            let (advisor, word) = (board.label(paper.seat), vote.vote.word());
            json!({ "advisor": advisor, "point": vote.point, "vote": word, "reason": vote.reason })
        })
    });
    let absent = synthesis.absent.iter();
    let absent = absent.map(|one| json!({ "advisor": board.label(one.seat), "why": one.why }));
    json!({
        "verdict": text,
        "points": points.iter().map(point).collect::<Vec<_>>(),
        "votes": votes.collect::<Vec<_>>(),
        "absent": absent.collect::<Vec<_>>(),
        "degraded": board.degraded(synthesis).is_some(),
    })
}

/// What a whiteboard has come to, as far as everybody may see it.
pub fn decided(state: &whiteboard::State) -> Value {
    let board = view::board(state, &Viewer::Outsider);
    let summary = summarize(&board);
    let of = |id: &whiteboard::PostId| board.posts.iter().find(|seen| seen.post.id == *id);
    let (outcome, decision) = match &summary.outcome {
        Outcome::Accepted(id) => ("accepted", of(id).map(in_full)),
        Outcome::Tied(_) => ("tied", None),
        Outcome::Undecided if is_rejected(&summary) => ("rejected", None),
        Outcome::Undecided => ("undecided", None),
    };
    let tally = summary.lines.iter().map(|line| {
        json!({
            "post": line.id.0, "author": line.author.0, "title": line.title,
            "type": kind(line.kind), "standing": standing(line.standing),
            "accept": line.tally.accept, "reject": line.tally.reject, "defer": line.tally.defer,
        })
    });
    let open = summary.unresolved.iter().map(
        |(post, challenge, by)| json!({ "post": post.0, "challenge": challenge.0, "by": by.0 }),
    );
    let posts = board.posts.iter().map(|seen| {
        let (post, most) = (seen.post, share(&board));
        json!({
            "post": post.id.0, "author": post.author.0, "type": kind(post.content.kind),
            "title": post.content.title, "body": clipped(&post.content.body, most),
        })
    });
    json!({
        "board": board.name, "outcome": outcome, "decision": decision,
        "tally": tally.collect::<Vec<_>>(),
        "dissent": dissent(&board, &summary),
        "open": open.collect::<Vec<_>>(),
        "posts": posts.collect::<Vec<_>>(),
    })
}

/// Every proposal that survives was voted down.
fn is_rejected(summary: &Summary) -> bool {
    let mut proposals = summary
        .lines
        .iter()
        .filter(|line| line.kind == PostKind::Proposal && line.standing == Standing::Surviving)
        .peekable();
    proposals.peek().is_some() && proposals.all(|line| line.tally.reject > line.tally.accept)
}

/// Who holds otherwise than was decided: votes against it, positions of a minority,
/// challenges that stand, posts that were refuted.
fn dissent(board: &Board<'_>, summary: &Summary) -> Vec<Value> {
    let mut all = vec![];
    let most = share(board);
    for seen in &board.posts {
        let (post, id) = (seen.post, &seen.post.id);
        let is_chosen = matches!(&summary.outcome, Outcome::Accepted(chosen) if chosen == id);
        for vote in seen.votes.iter().filter(|vote| is_chosen && vote.choice != Choice::Accept) {
            let reason = clipped(vote.reason.as_deref().unwrap_or_default(), most);
            let word = choice(vote.choice);
            all.push(json!({ "kind": "vote", "by": vote.by.0, "post": id.0, "vote": word, "text": reason }));
        }
        let line = summary.lines.iter().find(|line| line.id == *id);
        let supported = line.is_some_and(|line| line.tally.accept > 0);
        let is_proposal = post.content.kind == PostKind::Proposal;
        match line.map(|line| line.standing) {
            Some(Standing::Surviving) if !is_chosen && is_proposal && supported => {
                all.push(json!({
                    "kind": "minority", "by": post.author.0, "post": id.0,
                    "text": clipped(&in_full(seen), most),
                }));
            }
            Some(Standing::Excluded) => {
                let title = &post.content.title;
                all.push(
                    json!({ "kind": "refuted", "by": post.author.0, "post": id.0, "text": title }),
                );
            }
            Some(Standing::Surviving | Standing::Withdrawn) | None => {}
        }
        for challenge in seen.annotations.iter().filter(|note| note.is_open_challenge()) {
            let text = clipped(&challenge.body, most);
            all.push(
                json!({ "kind": "challenge", "by": challenge.by.0, "post": id.0, "text": text }),
            );
        }
    }
    all
}

fn in_full(seen: &Seen<'_>) -> String {
    let content = &seen.post.content;
    format!("{}\n\n{}", content.title, content.body)
}

/// Why a room cannot take this from anybody any more, if it cannot.
pub fn refuses(room: &Room, act: &str, with: &Map<String, Value>) -> Option<String> {
    let to = with.get("to").and_then(Value::as_str);
    match room {
        Room::Whiteboard(board) => {
            let goes_to = |to: &str| board.phase().next().iter().any(|next| next.name() == to);
            let takes = |actions: &[Action]| actions.iter().any(|one| board.is_time_for(*one));
            let is_taken = match act {
                "whiteboard.register" => takes(&[Action::Register]),
                "whiteboard.post" => takes(&[Action::Propose, Action::Inform]),
                "whiteboard.annotate" => {
                    takes(&[Action::Validate, Action::Challenge, Action::Resolve])
                }
                "whiteboard.vote" => takes(&[Action::Vote]),
                "whiteboard.transition" => to.is_none_or(goes_to),
                "whiteboard.archive" => goes_to("archived"),
                _ => true,
            };
            let (name, phase) = (board.name(), board.phase().name());
            (!is_taken).then(|| format!("the whiteboard {name:?} is in its {phase} phase"))
        }
        Room::Council(council) => {
            let is_closed = matches!(council.stage, council::Stage::Closed { .. });
            let speaks = act == "council.post" && is_closed;
            speaks.then(|| format!("the council {:?} is closed", council.name))
        }
        Room::Boardroom(_)
        | Room::Discussion(_)
        | Room::Workflow(_)
        | Room::Library(_)
        | Room::Signals(_)
        | Room::Shelf(_)
        | Room::Boards(_) => None,
    }
}

/// What a room tells by itself, the oldest first. Phases, ends and conclusions stand as
/// long as they are reached; of posts those since then count. `called` is how whoever
/// waits names the room.
pub fn told(room: &Room, called: &str, since: Timestamp) -> Vec<Signal> {
    let signal = |value: Value| value.as_object().cloned().unwrap_or_default();
    match room {
        Room::Whiteboard(board) => {
            let phase = board.phase().name();
            vec![signal(json!({ "signal": "board-transitioned", "board": called, "phase": phase }))]
        }
        Room::Boardroom(board) => {
            let was_closed =
                board.stage == boardroom::Stage::Closed || !board.follow_ups.is_empty();
            let closed = json!({ "signal": "boardroom-closed", "boardroom": called });
            was_closed.then(|| signal(closed)).into_iter().collect()
        }
        Room::Discussion(discussion) => {
            let concluded = json!({ "signal": "discussion-concluded", "discussion": called });
            discussion.conclusion().map(|_| signal(concluded)).into_iter().collect()
        }
        Room::Workflow(run) => match &run.stage {
            RunStage::Ended { ending, .. } => {
                let status = ending.status.name();
                vec![signal(json!({ "signal": "workflow-ended", "run": called, "status": status }))]
            }
            RunStage::Running | RunStage::Finally { .. } => vec![],
        },
        Room::Council(council) => posted(council, called, since),
        Room::Library(_) | Room::Signals(_) | Room::Shelf(_) | Room::Boards(_) => vec![],
    }
}

fn posted(council: &council::State, called: &str, since: Timestamp) -> Vec<Signal> {
    let posts = council.posts.iter().filter(|post| post.at >= since);
    let posts = posts.map(|post| {
        json!({
            "signal": "council-posted", "council": called, "sender": post.sender,
            "sequence": post.sequence, "body": clipped(&post.body, limits::SIGNAL_TEXT_BYTES),
            NUMBER: post.sequence, AT: post.at.to_string(),
        })
    });
    posts.filter_map(|post| post.as_object().cloned()).collect()
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Surviving => "surviving",
        Standing::Excluded => "refuted",
        Standing::Withdrawn => "withdrawn",
    }
}
