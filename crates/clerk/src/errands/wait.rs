//! Waits: what has happened in the rooms that a run waits for, and what was signalled.

use std::collections::BTreeMap;

use futures::future::{FutureExt, select_all};
use plenary_domain::workflow::{self, Signal, gives};
use plenary_domain::{SessionId, Timestamp};
use plenary_engine::EngineError;
use plenary_engine::ports::ErrandError;
use serde_json::Value;

use super::{Run, why};
use crate::{ClerkError, Result, signals};

impl Run<'_> {
    /// Looks at every room that is waited for, and again whenever one of them changes, or
    /// one comes to be that was not there.
    pub(super) async fn wait(
        &self,
        all: bool,
        wanted: &[Signal],
        since: Timestamp,
        taken: &[Signal],
    ) -> Result<Value, ErrandError> {
        let engine = &self.clerk.engine;
        let (mut changes, mut openings) = (BTreeMap::new(), engine.openings());
        loop {
            let mut rooms: Vec<(SessionId, Option<String>)> = vec![];
            let mut is_missing = false;
            for signal in wanted {
                match self.told_by(signal).await.map_err(why)? {
                    Some((id, called)) => {
                        changes.entry(id).or_insert_with(|| engine.changes(id));
                        // Several waits of one room are told of together.
                        if !rooms.contains(&(id, called.clone())) {
                            rooms.push((id, called));
                        }
                    }
                    None => is_missing = true,
                }
            }
            let mut came = vec![];
            for (id, called) in rooms {
                came.extend(self.said(id, called, since).await.map_err(why)?);
            }
            came.retain(|signal| !workflow::is_among(taken, signal));
            if workflow::resumes(all, wanted, &came).is_some() {
                let is_wanted =
                    |came: &Signal| wanted.iter().any(|wanted| workflow::matches(wanted, came));
                let found = came.into_iter().filter(is_wanted).map(Value::Object);
                return Ok(found.collect());
            }
            let changed = changes.values_mut().map(|changes| changes.next().boxed());
            let changed: Vec<_> = changed.collect();
            let changed = async {
                match changed.is_empty() {
                    true => std::future::pending().await,
                    false => drop(select_all(changed).await),
                }
            };
            tokio::select! {
                () = changed => {}
                () = openings.next(), if is_missing => {}
            }
        }
    }

    /// The room that can tell of this, and how the wait calls it; `None` while it is not
    /// there.
    async fn told_by(&self, signal: &Signal) -> Result<Option<(SessionId, Option<String>)>> {
        let found = match workflow::room_of(signal) {
            Some((kind, called)) => {
                let room = self.room(kind, called).await.map(|room| room.id);
                room.map(|id| (id, Some(called.to_owned())))
            }
            None => signals::room(self.clerk, signal).await.map(|id| (id, None)),
        };
        match found {
            Ok(found) => Ok(Some(found)),
            Err(ClerkError::Engine(EngineError::NotFound(_) | EngineError::Unnamed { .. })) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn said(
        &self,
        id: SessionId,
        called: Option<String>,
        since: Timestamp,
    ) -> Result<Vec<Signal>> {
        let room = match self.clerk.engine.get(id).await {
            // It was removed, and tells nothing any more.
            Err(EngineError::NotFound(_)) => return Ok(vec![]),
            room => room?.room,
        };
        Ok(match called {
            Some(called) => gives::told(&room, &called, since),
            None => signals::came(&room, since),
        })
    }
}
