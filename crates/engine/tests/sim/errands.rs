//! Errands as whoever carries them out for real does it: by the same requests that people
//! make, under the key that the run derives. Before and after it an errand may be lost.

use std::sync::{Arc, Weak};

use futures::future::{BoxFuture, FutureExt, select_all};
use plenary_domain::room::Command;
use plenary_domain::whiteboard::{self, Admission, Content, Phase, PostKind, Shown, Visibility};
use plenary_domain::workflow::gives::{self, Ended};
use plenary_domain::workflow::{self, Begin, Signal};
use plenary_domain::{
    AgentName, Errand, Failure, FailureKind, Reject, Room, SessionId, Timestamp, Usage, council,
};
use plenary_engine::ports::{ErrandError, Errands, Idempotency, StoreError};
use plenary_engine::{By, Engine, EngineError, Snapshot};
use serde_json::{Map, Value, json};

use super::outside::short;
use super::world::{Fate, World};
use super::{rooms, workflows};

pub struct SimErrands {
    pub world: World,
    pub node: u64,
    pub engine: Weak<Engine>,
}

type With = Map<String, Value>;
type Told = Result<Value, ErrandError>;

impl Errands for SimErrands {
    fn run(&self, session: SessionId, errand: Errand) -> BoxFuture<'static, Told> {
        let (world, node, engine) = (self.world.clone(), self.node, self.engine.upgrade());
        Box::pin(async move {
            let engine = engine.ok_or_else(|| ErrandError::Later("it ends".into()))?;
            world.note(format!("n{node} {} sends for {}", short(session), named(&errand)));
            // Whoever waits for something or ends it only ever has to try again.
            let may_fail =
                matches!(errand, Errand::Tell { .. } | Errand::Look { .. } | Errand::Open { .. });
            if world.park(node).await == Fate::Fails {
                // Whoever opens something fails only where nothing was opened, by an earlier
                // try neither.
                let may_fail = may_fail && !is_open(&world, &errand);
                let how = if may_fail { world.lock().chance.below(4) } else { 3 };
                return Err(match how {
                    0 => failed(FailureKind::Unreachable),
                    1 => panic!("planned"),
                    2 => ErrandError::Passing(failure(FailureKind::Unreachable)),
                    _ => ErrandError::Later("on purpose".into()),
                });
            }
            let may_fail = may_fail && !matches!(errand, Errand::Open { .. });
            let run = engine.get(session).await.map_err(why)?;
            let brought = Messenger { engine, run }.carry_out(errand).await;
            match world.park(node).await {
                Fate::Goes => brought,
                Fate::Fails if may_fail && world.lock().chance.one_in(2) => {
                    Err(failed(FailureKind::Unreachable))
                }
                Fate::Fails => Err(ErrandError::Later("on purpose".into())),
            }
        })
    }
}

fn is_open(world: &World, errand: &Errand) -> bool {
    match errand {
        Errand::Open { key, at, .. } => {
            world.lock().memory.row(SessionId::derived(key, *at)).is_some()
        }
        _ => false,
    }
}

fn named(errand: &Errand) -> String {
    match errand {
        Errand::Open { act, key, .. } | Errand::Tell { act, key, .. } => {
            format!("{act} {}", key.split_once('/').map_or("", |(_, place)| place))
        }
        Errand::Look { act, .. } => format!("a look, {act}"),
        Errand::Watch { session, .. } => format!("the end of {}", short(session.parse().unwrap())),
        Errand::Stop { session } => format!("a stop of {}", short(session.parse().unwrap())),
        Errand::Await { .. } => "signals".into(),
        Errand::Request { .. } | Errand::Write { .. } => "something outside".into(),
    }
}

struct Messenger {
    engine: Arc<Engine>,
    run: Snapshot,
}

impl Messenger {
    async fn carry_out(&self, errand: Errand) -> Told {
        match errand {
            Errand::Look { .. } => Ok(json!({ "model": "sim/m", "posts": [] })),
            Errand::Open { act, with, key, at } => self.open(act, &with, &key, at).await,
            Errand::Tell { act, with, key } => self.tell(act, &with, &key).await,
            Errand::Watch { session, .. } => self.watch(&session).await,
            Errand::Await { all, signals, since, taken } => {
                self.wait(all, &signals, since, &taken).await
            }
            Errand::Stop { session } => self.end(&session).await,
            Errand::Request { .. } | Errand::Write { .. } => Ok(json!({ "status": 200 })),
        }
    }

    fn by(&self, key: &str) -> By {
        let (principal, key) = (format!("run {}", self.run.id), key.to_owned());
        let (request_hash, lasting) = (String::new(), true);
        By {
            actor: self.run.opened_by.to_string(),
            idempotency: Some(Idempotency { principal, key, request_hash, lasting }),
        }
    }

    async fn room(&self, kind: &str, called: &str) -> Result<Snapshot, EngineError> {
        let id = match called.parse() {
            Ok(id) => id,
            Err(_) => self.engine.named(kind, called).await?,
        };
        self.engine.get(id).await
    }

    async fn open(&self, act: &str, with: &With, key: &str, at: Timestamp) -> Told {
        let (id, by) = (SessionId::derived(key, at), self.by(key));
        let command = match act {
            "boardroom" => rooms::small_board(),
            "discussion" => rooms::discussion(None),
            _ => Command::Workflow(workflow::Command::Begin(Box::new(Begin {
                run: id,
                source: workflows::called(text(with, "name")).into(),
                inputs: Map::new(),
                starter: None,
                parent: Some(self.run.id),
                fork: None,
                most: Default::default(),
            }))),
        };
        let opened = self.engine.open_as(id, by, command).await.map_err(why)?;
        Ok(json!({ "id": opened.id.to_string() }))
    }

    async fn tell(&self, act: &str, with: &With, key: &str) -> Told {
        let done = match act {
            "council.open" => {
                let command = rooms::council(text(with, "name"), None);
                let opened = self.engine.open(self.by(key), command).await.map_err(why)?;
                return Ok(json!({ "id": opened.id.to_string(), "council": text(with, "name") }));
            }
            "whiteboard.open" => {
                let opened = self.engine.open(self.by(key), board(with)).await.map_err(why)?;
                let (id, name) = (opened.id.to_string(), text(with, "board_id"));
                return Ok(json!({ "id": id, "board": name, "phase": "blind" }));
            }
            "council.post" | "council.close" => {
                let command = match act {
                    "council.close" => council::Command::Close { summary: None, by: None },
                    _ => council::Command::Post {
                        sender: text(with, "as").into(),
                        proved: true,
                        body: text(with, "body").into(),
                        reply_to: None,
                    },
                };
                let room = self.room("council", text(with, "council")).await.map_err(why)?;
                self.engine.submit(room.id, self.by(key), Command::Council(command)).await
            }
            _ => {
                let room = self.room("whiteboard", text(with, "board")).await.map_err(why)?;
                let command = Command::Whiteboard(on_board(act, with));
                self.engine.submit(room.id, self.by(key), command).await
            }
        };
        match done {
            Err(EngineError::Rejected(Reject::NotNow { .. })) if act == "council.close" => {}
            done => drop(done.map_err(why)?),
        }
        Ok(json!({ "done": true }))
    }

    async fn watch(&self, session: &str) -> Told {
        let id: SessionId = session.parse().unwrap();
        let mut changes = self.engine.changes(id);
        loop {
            let room = match self.engine.get(id).await {
                Err(EngineError::NotFound(_)) => return Err(failed(FailureKind::Refused)),
                room => room.map_err(why)?,
            };
            match Ended::of(&room.room) {
                Some(ended) => return Ok(ended.told()),
                None => changes.next().await,
            }
        }
    }

    async fn wait(&self, all: bool, wanted: &[Signal], since: Timestamp, taken: &[Signal]) -> Told {
        let mut openings = self.engine.openings();
        let mut changes = std::collections::BTreeMap::new();
        loop {
            let (mut came, mut is_missing) = (vec![], false);
            for signal in wanted {
                let (kind, called) = told_by(signal);
                let room = match self.room(kind, called).await {
                    Err(EngineError::NotFound(_) | EngineError::Unnamed { .. }) => {
                        is_missing = true;
                        continue;
                    }
                    room => room.map_err(why)?,
                };
                changes.entry(room.id).or_insert_with(|| self.engine.changes(room.id));
                // It is looked at after one listens, or a change between the two is missed.
                let Ok(room) = self.engine.get(room.id).await else { continue };
                came.extend(said(&room.room, called, since));
            }
            came.retain(|signal| !workflow::is_among(taken, signal));
            if workflow::resumes(all, wanted, &came).is_some() {
                return Ok(came.into_iter().map(Value::Object).collect());
            }
            let changed = changes.values_mut().map(|changes| changes.next().boxed());
            let mut next: Vec<_> = changed.collect();
            if is_missing {
                next.push(openings.next().boxed());
            }
            select_all(next).await;
        }
    }

    async fn end(&self, session: &str) -> Told {
        let id: SessionId = session.parse().unwrap();
        let room = match self.engine.get(id).await {
            Err(EngineError::NotFound(_)) => return Ok(Value::Null),
            room => room.map_err(why)?,
        };
        let key = format!("{}/end/{session}", self.run.id);
        let ended = match &*room.room {
            Room::Whiteboard(_) => self.close_board(room, &key).await,
            Room::Council(_) => {
                let close = council::Command::Close { summary: None, by: None };
                self.engine.submit(id, self.by(&key), Command::Council(close)).await.map(drop)
            }
            _ => self.engine.submit(id, self.by(&key), Command::Stop).await.map(drop),
        };
        match ended.map_err(why) {
            Ok(()) | Err(ErrandError::Failed(_)) => {
                let room = self.engine.get(id).await;
                Ok(room.map_or(Value::Null, |room| Ended::early(&room.room).told()))
            }
            Err(later) => Err(later),
        }
    }

    async fn close_board(&self, mut room: Snapshot, key: &str) -> Result<(), EngineError> {
        loop {
            let Room::Whiteboard(board) = &*room.room else { return Ok(()) };
            let Some(to) = board.phase().next().last().copied() else { return Ok(()) };
            let by = self.by(&format!("{key}/{}", to.name()));
            let agent = board.opened_by().clone();
            let command = whiteboard::Command::Transition { agent, to, note: None };
            room = self.engine.submit(room.id, by, Command::Whiteboard(command)).await?;
        }
    }
}

/// The room that can tell of a signal: its kind, and its name.
pub fn told_by(signal: &Signal) -> (&str, &str) {
    workflow::room_of(signal).unwrap_or(("signals", text(signal, "signal")))
}

pub fn said(room: &Room, called: &str, since: Timestamp) -> Vec<Signal> {
    match room.signals() {
        Some(signals) => signals.came(since),
        None => gives::told(room, called, since),
    }
}

fn board(with: &With) -> Command {
    Command::Whiteboard(whiteboard::Command::Open(whiteboard::Open {
        name: text(with, "board_id").into(),
        topic: "Tea?".into(),
        project: None,
        by: AgentName("lead".into()),
        principal: None,
        admission: Admission::default(),
        debate: Visibility::default(),
        deadlines: vec![],
        seats: vec![],
        prices: Default::default(),
        budget: None,
    }))
}

fn on_board(act: &str, with: &With) -> whiteboard::Command {
    let agent = |field: &str| AgentName(text(with, field).into());
    match act {
        "whiteboard.register" => whiteboard::Command::Register {
            agent: agent("agent"),
            role: whiteboard::Role::Specialist,
            domain: None,
            shown: Shown::Nothing,
        },
        "whiteboard.post" => whiteboard::Command::Post {
            agent: agent("as"),
            content: Content {
                kind: PostKind::Proposal,
                title: text(with, "title").into(),
                body: text(with, "body").into(),
                target_file: None,
                target_location: None,
                severity: None,
                finding_refs: vec![],
                cascade_targets: vec![],
            },
        },
        _ => whiteboard::Command::Transition {
            agent: AgentName("lead".into()),
            to: Phase::Read,
            note: None,
        },
    }
}

fn text<'a>(with: &'a With, field: &str) -> &'a str {
    with.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn failed(kind: FailureKind) -> ErrandError {
    ErrandError::Failed(failure(kind))
}

fn failure(kind: FailureKind) -> Failure {
    let (message, usage) = ("on purpose".to_owned(), Usage::default());
    Failure { kind, message, attempts: 1, usage }
}

fn why(error: EngineError) -> ErrandError {
    match error {
        EngineError::Busy | EngineError::Contended => ErrandError::Later(error.to_string()),
        EngineError::Store(
            StoreError::InUse(_)
            | StoreError::Failed(_)
            | StoreError::NotWritten(_)
            | StoreError::Fenced,
        ) => ErrandError::Later(error.to_string()),
        EngineError::Rejected(Reject::NotNow { .. } | Reject::Stale) => {
            failed(FailureKind::Refused)
        }
        EngineError::Rejected(_)
        | EngineError::NotFound(_)
        | EngineError::Unnamed { .. }
        | EngineError::Taken(_)
        | EngineError::KeyReused
        | EngineError::Broken(_)
        | EngineError::Store(_) => failed(FailureKind::Misconfigured),
    }
}
