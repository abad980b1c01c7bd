//! Commands that a step gives to a room, and what it reads there.

use plenary_domain::whiteboard::Shown;
use plenary_domain::workflow::gives;
use plenary_domain::{AgentName, FailureKind, limits, view};
use plenary_engine::Snapshot;
use plenary_engine::ports::ErrandError;
use serde_json::{Map, Value, json};

use super::open::{listed, taken};
use super::seat::speaks_by;
use super::{Run, agent_of, failed, is_name_lost, leader, own, request, text, why};
use crate::identity::Proven;
use crate::models::Names;
use crate::whiteboards::{self, NewAgent, NewAnnotation, NewPost, NewVote};
use crate::{ClerkError, Result, agents, councils};

/// The fields of posts and annotations, and how requests call them.
const POST: [(&str, &str); 6] = [
    ("type", "type"),
    ("title", "title"),
    ("body", "body"),
    ("target_file", "targetFile"),
    ("target_location", "targetLocation"),
    ("severity", "severity"),
];
const NOTE: [(&str, &str); 5] = [
    ("post", "postId"),
    ("type", "type"),
    ("body", "body"),
    ("result", "result"),
    ("challenge", "challengeId"),
];
const VOTE: [(&str, &str); 3] = [("post", "postId"), ("vote", "vote"), ("reason", "reason")];

type With = Map<String, Value>;
type Told = Result<Value, ErrandError>;

impl Run<'_> {
    pub(super) async fn tell(&self, act: &str, with: With, key: &str) -> Told {
        match act {
            "whiteboard.open" => self.open_board(&with, key).await,
            "whiteboard.register" => self.register(&with, key).await,
            "whiteboard.post" => self.post(&with, key).await,
            "whiteboard.annotate" => self.annotate(&with, key).await,
            "whiteboard.vote" => self.vote(&with, key).await,
            "whiteboard.transition" => self.transition(&with, key).await,
            "whiteboard.conflicts" => self.conflicts(&with).await,
            "whiteboard.summarize" => {
                let room = self.board(&with).await.map_err(why)?;
                Ok(gives::decided(whiteboards::board(&room).map_err(why)?))
            }
            "whiteboard.archive" => {
                let room = self.moved(&with, "archived", key).await?;
                Ok(gives::decided(whiteboards::board(&room).map_err(why)?))
            }
            "council.open" => self.open_council(with, key).await,
            "council.post" => self.post_to_council(&with, key).await,
            "council.read" => self.read(&with).await,
            "council.close" => self.close(&with, key).await,
            other => {
                let problem = format!("No room takes {other:?}.");
                Err(failed(FailureKind::Internal, problem))
            }
        }
    }

    // -----------------------------------------------------------------------
    // Whiteboards

    async fn open_board(&self, with: &With, key: &str) -> Told {
        let run = self.state()?;
        let mut new = taken(
            with,
            &[
                ("board_id", "boardId"),
                ("topic", "topic"),
                ("project", "project"),
                ("admission", "admission"),
            ],
        );
        new["openedBy"] = leader(run).0.into();
        let (by, standing) = (self.by(key), self.standing());
        let opened = whiteboards::open(self.clerk, None, (by, &standing), request(new)?).await;
        let opened = opened.map_err(why)?;
        let board = whiteboards::board(&opened).map_err(why)?;
        let (id, phase) = (opened.id.to_string(), board.phase().name());
        Ok(json!({ "id": id, "board": board.name(), "phase": phase }))
    }

    async fn register(&self, with: &With, key: &str) -> Told {
        let room = self.board(with).await.map_err(why)?;
        let fields = [("agent", "agentName"), ("role", "role"), ("domain", "domain")];
        let mut new = taken(with, &fields);
        if new.get("role").is_none() {
            new["role"] = "specialist".into();
        }
        let NewAgent { agent_name: agent, role, domain, .. } = request(new)?;
        let shown = self.lead(&room, &agent, role, key).await?;
        let register = async |run: &Run<'_>| {
            let proven = run.proven(&room, &AgentName(agent.clone()), with).await?;
            let caller = run.caller(room.id, key, proven);
            let (agent_name, domain) = (agent.clone(), domain.clone());
            let new = NewAgent { agent_name, role, domain, invitation: None };
            let registered = whiteboards::register(run.clerk, caller, shown, new).await;
            Ok::<_, ErrandError>(registered.map(|_| ()))
        };
        // Another step of the run may have registered it in this moment.
        match register(self).await? {
            Err(lost) if is_name_lost(&lost) => {
                register(&self.as_of_now().await.map_err(why)?).await?
            }
            registered => registered,
        }
        .map_err(why)?;
        Ok(json!({ "agent": agent, "role": role, "domain": domain }))
    }

    /// Where one has to be invited, the run invites whom it registers, if it leads.
    async fn lead(
        &self,
        room: &Snapshot,
        agent: &str,
        role: whiteboards::BoardRole,
        key: &str,
    ) -> Result<Shown, ErrandError> {
        let board = whiteboards::board(room).map_err(why)?;
        let leader = leader(self.state()?);
        if board.invitation().is_none() || !self.speaks_for(room, &leader).await.map_err(why)? {
            return Ok(Shown::Nothing);
        }
        let caller = self.caller(room.id, &format!("{key}/invite"), Proven::Agent(leader));
        let new = whiteboards::NewInvitation { invite: Some(agent.to_owned()), role: Some(role) };
        whiteboards::invite(self.clerk, caller, new).await.map_err(why)?;
        Ok(Shown::Personal)
    }

    async fn post(&self, with: &With, key: &str) -> Told {
        let room = self.board(with).await.map_err(why)?;
        // What the step says itself was not asked for.
        let mut given = with.clone();
        let answer = with.get("answer").and_then(Value::as_object).cloned().unwrap_or_default();
        for (field, value) in answer.into_iter().filter(|(_, value)| !value.is_null()) {
            given.entry(field).or_insert(value);
        }
        // A model that names a place in no file means none: that must not cost its post.
        if !given.contains_key("target_file") && !with.contains_key("target_location") {
            given.remove("target_location");
        }
        given.entry("type").or_insert_with(|| "proposal".into());
        let mut told = taken(&given, &POST.map(|(from, _)| (from, from)));
        let new: NewPost = request(taken(&given, &POST))?;
        let proven = self.proven(&room, &agent_of(with, "as"), with).await?;
        let caller = self.caller(room.id, key, proven);
        let written = whiteboards::post(self.clerk, caller, new).await.map_err(why)?;
        told["post"] = written.post.0.into();
        for (field, _) in POST {
            // A template may name what was not said.
            told[field] = told[field].take();
        }
        Ok(told)
    }

    /// What a seat has answered is written as far as the board takes it: one annotation
    /// that is out of place must not cost the others.
    async fn annotate(&self, with: &With, key: &str) -> Told {
        let room = self.board(with).await.map_err(why)?;
        let proven = self.proven(&room, &agent_of(with, "as"), with).await?;
        let (notes, is_answer) = answered(with, "annotations");
        let (mut written, mut left_out) = (vec![], vec![]);
        for (number, note) in notes.iter().enumerate() {
            let (post, kind) = (text(note, "post"), text(note, "type"));
            let caller = self.caller(room.id, &format!("{key}/{number}"), proven.clone());
            let done = match request::<NewAnnotation>(taken(note, &NOTE)) {
                Ok(new) => whiteboards::annotate(self.clerk, caller, new).await.map_err(why),
                Err(problem) => Err(problem),
            };
            match done {
                Ok(done) => {
                    let id = done.annotation.map(|id| id.0);
                    written.push(json!({ "id": id, "post": post, "type": kind }));
                }
                Err(ErrandError::Failed(failure)) if is_answer => {
                    let why = failure.message;
                    left_out.push(json!({ "post": post, "type": kind, "why": why }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(json!({ "annotations": written, "left_out": left_out }))
    }

    async fn vote(&self, with: &With, key: &str) -> Told {
        let room = self.board(with).await.map_err(why)?;
        let proven = self.proven(&room, &agent_of(with, "as"), with).await?;
        let (votes, is_answer) = answered(with, "votes");
        let abstained = with.get("answer").and_then(|answer| answer.get("abstained")).cloned();
        let (mut cast, mut left_out) = (vec![], vec![]);
        for (number, vote) in votes.iter().enumerate() {
            let caller = self.caller(room.id, &format!("{key}/{number}"), proven.clone());
            let done = match request::<NewVote>(taken(vote, &VOTE)) {
                Ok(new) => whiteboards::vote(self.clerk, caller, new).await.map_err(why),
                Err(problem) => Err(problem),
            };
            match done {
                Ok(_) => cast.push(taken(vote, &VOTE.map(|(from, _)| (from, from)))),
                Err(ErrandError::Failed(failure)) if is_answer => {
                    let (post, why) = (text(vote, "post"), failure.message);
                    left_out.push(json!({ "post": post, "why": why }));
                }
                Err(error) => return Err(error),
            }
        }
        let abstained = abstained.unwrap_or_else(|| json!([]));
        Ok(json!({ "votes": cast, "abstained": abstained, "left_out": left_out }))
    }

    async fn transition(&self, with: &With, key: &str) -> Told {
        let room = self.moved(with, text(with, "to"), key).await?;
        let board = whiteboards::board(&room).map_err(why)?;
        Ok(json!({ "board": board.name(), "phase": board.phase().name() }))
    }

    /// The run moves a board that it leads, or does so as an agent that may.
    async fn moved(&self, with: &With, to: &str, key: &str) -> Result<Snapshot, ErrandError> {
        let room = self.board(with).await.map_err(why)?;
        let agent = match own(with, "as") {
            Some(agent) => AgentName(agent),
            None => leader(self.state()?),
        };
        let proven = self.proven(&room, &agent, with).await?;
        let caller = self.caller(room.id, key, proven);
        let new = request(json!({ "targetPhase": to }))?;
        let moved = whiteboards::transition(self.clerk, caller, new).await;
        Ok(moved.map_err(why)?.0)
    }

    async fn conflicts(&self, with: &With) -> Told {
        let room = self.board(with).await.map_err(why)?;
        let board = whiteboards::board(&room).map_err(why)?;
        let found = view::board_conflicts(board).map_err(|reject| why(reject.into()))?;
        let shown = found.iter().take(limits::CONFLICTS_TOLD).map(|conflict| {
            let (kind, over) = (conflict.kind.name(), &conflict.over);
            let (first, second) = (&conflict.first.0, &conflict.second.0);
            json!({ "kind": kind, "first": first, "second": second, "over": over })
        });
        Ok(json!({ "conflicts": shown.collect::<Vec<_>>(), "count": found.len() }))
    }

    // -----------------------------------------------------------------------
    // Councils

    async fn open_council(&self, mut with: With, key: &str) -> Told {
        with.remove("keep");
        let mut new = Map::new();
        for (field, value) in with {
            let member = |written: &str| match written.split_once('=') {
                Some((name, model)) => json!({ "name": name.trim(), "model": model.trim() }),
                None => json!({ "name": written.trim() }),
            };
            let value = if field == "members" { listed(value, member) } else { value };
            new.insert(field, value);
        }
        for (place, member) in
            new.get_mut("members").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
        {
            self.speaking(member, place).await?;
        }
        let opened = councils::open(self.clerk, None, self.by(key), request(new.into())?).await;
        let opened = opened.map_err(why)?;
        let council = councils::council(&opened).map_err(why)?;
        Ok(json!({ "id": opened.id.to_string(), "council": council.name }))
    }

    /// A member that is called like a stored agent is that agent, unless a model is named.
    async fn speaking(&self, member: &mut Value, place: usize) -> Result<(), ErrandError> {
        let Some(member) = member.as_object_mut().filter(|one| !one.contains_key("model")) else {
            return Ok(());
        };
        let all = agents::all(self.clerk).await.map_err(why)?;
        let name = text(member, "name");
        let Some(agent) = all.iter().find(|one| one.id.0 == name || one.name == name) else {
            return Ok(());
        };
        let model = speaks_by(&mut Names::new(self.clerk), agent, place).await?;
        member.insert("model".into(), model.0.into());
        member.entry("persona").or_insert_with(|| agent.persona.to_string().into());
        Ok(())
    }

    async fn post_to_council(&self, with: &With, key: &str) -> Told {
        let room = self.council(with).await.map_err(why)?;
        let fields = [("as", "sender"), ("body", "body"), ("reply_to", "replyTo")];
        let sender = agent_of(with, "as");
        let post = async |run: &Run<'_>| {
            let proven = run.proven(&room, &sender, with).await?;
            let caller = run.caller(room.id, key, proven);
            let new = request(taken(with, &fields))?;
            Ok::<_, ErrandError>(councils::post(run.clerk, caller, new).await)
        };
        let posted = match post(self).await? {
            Err(lost) if is_name_lost(&lost) => post(&self.as_of_now().await.map_err(why)?).await?,
            posted => posted,
        };
        let posted = posted.map_err(why)?;
        let name = &councils::council(&posted.snapshot).map_err(why)?.name;
        Ok(json!({ "council": name, "sequence": posted.post.sequence }))
    }

    async fn read(&self, with: &With) -> Told {
        let room = self.council(with).await.map_err(why)?;
        let number = |field: &str| with.get(field).and_then(Value::as_u64);
        let council = councils::council(&room).map_err(why)?;
        let since = number("since").unwrap_or(0);
        let limit = number("limit").unwrap_or(limits::COUNCIL_PAGE.into());
        let posts = council.posts_after(since, limit as usize);
        let last = posts.last().map_or(since, |post| post.sequence);
        let posts = posts.iter().map(|post| {
            json!({
                "sequence": post.sequence, "sender": post.sender, "body": post.body,
                "reply_to": post.reply_to, "at": post.at.to_string(),
            })
        });
        Ok(json!({ "posts": posts.collect::<Vec<_>>(), "last": last }))
    }

    async fn close(&self, with: &With, key: &str) -> Told {
        let room = self.council(with).await.map_err(why)?;
        let name = councils::council(&room).map_err(why)?.name.clone();
        let mut opened =
            self.deeds().await.map_err(why)?.into_iter().filter(|deed| deed.venture.is_none());
        let opened =
            opened.any(|deed| deed.act == "council.open" && *text(&deed.with, "name") == *name);
        let proven = if opened { Proven::Opener } else { Proven::Nothing };
        let caller = self.caller(room.id, key, proven);
        let new = councils::CouncilClosing { summary: own(with, "summary") };
        match councils::close(self.clerk, caller, new).await {
            // What is closed is closed.
            Err(ClerkError::Refused(plenary_domain::Reject::NotNow { .. })) | Ok(_) => {
                Ok(json!({ "council": name }))
            }
            Err(error) => Err(why(error)),
        }
    }
}

/// What a seat has answered, as a list; else the one thing that the step itself says.
fn answered(with: &With, list: &str) -> (Vec<With>, bool) {
    let Some(answer) = with.get("answer") else { return (vec![with.clone()], false) };
    let items = answer.get(list).and_then(Value::as_array).into_iter().flatten();
    (items.filter_map(Value::as_object).cloned().collect(), true)
}
