//! Three accounts of the same boards, and where they disagree.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{AttemptRow, AttemptState, ListQuery, SessionRow, Store, StoredEvent};
use plenary_scripted::Recorded;
use plenary_store::Holder;
use serde_json::Value;

use crate::Outcome;

const PAGE: u32 = 200;

/// What does not hold, in sentences.
pub async fn compare(home: &Path, told: &[String], asked: &[Recorded]) -> Outcome<Vec<String>> {
    let holder = Holder { command: "bench".into(), since: Timestamp::UNIX_EPOCH };
    let store = plenary_store::open(home, holder).await?;
    let mut books = Books::default();
    for row in all(&store).await? {
        let events = store.events(row.id, 0, PAGE).await?;
        let attempts = store.attempts(row.id).await?;
        books.board(&row, &events, &attempts)?;
    }
    store.close().await?;
    books.callers(told);
    books.models(asked);
    println!(
        "  {} boards in the log with {} answers and {} syntheses, claimed {} times after a kill",
        books.boards.len(),
        books.answers,
        books.syntheses,
        books.claims
    );
    let (begun, sent) = (books.in_state(AttemptState::Begun), asked.len());
    let cut = asked.iter().filter(|request| request.dropped).count();
    let unsent = books.attempts.len().saturating_sub(sent);
    println!(
        "  {} attempts in the log: {} done, {begun} begun and never ended; {sent} requests reached the models",
        books.attempts.len(),
        books.in_state(AttemptState::Done)
    );
    println!(
        "  of those never ended, kills came before the request of {unsent}, into the answer of {cut}, and before {} were kept",
        begun.saturating_sub(unsent + cut)
    );
    Ok(books.violations)
}

async fn all(store: &dyn Store) -> Outcome<Vec<SessionRow>> {
    let mut rows = vec![];
    let mut before = None;
    loop {
        let query = ListQuery { limit: PAGE, before, ..ListQuery::default() };
        let page = store.list(query).await?;
        rows.extend(page.rows);
        before = page.next;
        if before.is_none() {
            return Ok(rows);
        }
    }
}

#[derive(Default)]
struct Books {
    boards: HashSet<String>,
    /// By the id of the request.
    attempts: HashMap<String, AttemptState>,
    answers: usize,
    syntheses: usize,
    claims: u64,
    violations: Vec<String>,
}

impl Books {
    fn check(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(violation());
        }
    }

    fn in_state(&self, state: AttemptState) -> usize {
        self.attempts.values().filter(|other| **other == state).count()
    }

    fn board(
        &mut self,
        row: &SessionRow,
        events: &[StoredEvent],
        attempts: &[AttemptRow],
    ) -> Outcome<()> {
        let id = row.id;
        self.boards.insert(id.to_string());
        self.claims += row.epoch - 1;
        self.check(row.status == "closed", || format!("board {id} is {}", row.status));
        self.events(id, events)?;
        self.attempts_of(row, attempts);
        Ok(())
    }

    /// One answer of each of the three seats, one synthesis, nothing else. Nobody
    /// asks an advisor again here, so a second answer is one too many.
    fn events(&mut self, id: SessionId, events: &[StoredEvent]) -> Outcome<()> {
        let mut seats: BTreeMap<u64, usize> = BTreeMap::new();
        let mut syntheses = 0;
        for event in events {
            match event.name.as_str() {
                "advisorAnswered" => {
                    let payload: Value = serde_json::from_str(&event.payload)?;
                    *seats.entry(payload["seat"].as_u64().unwrap_or(0)).or_default() += 1;
                }
                "synthesized" => syntheses += 1,
                "convened" | "synthesisBegan" => {}
                other => self.violations.push(format!("board {id} has an event {other}")),
            }
        }
        self.answers += seats.values().sum::<usize>();
        self.syntheses += syntheses;
        let once = BTreeMap::from([(1, 1), (2, 1), (3, 1)]);
        self.check(seats == once, || format!("board {id} has answers by seat {seats:?}"));
        self.check(syntheses == 1, || format!("board {id} has {syntheses} syntheses"));
        Ok(())
    }

    /// A kill ends a driver's epoch. So of one call at most one attempt per epoch
    /// can have been cut, and a later epoch must have brought it to an end.
    fn attempts_of(&mut self, row: &SessionRow, attempts: &[AttemptRow]) {
        let id = row.id;
        let mut last = HashMap::new();
        let mut cut = BTreeSet::new();
        for attempt in attempts {
            let name = format!("{id}/{}/{}", attempt.call, attempt.number);
            last.insert(&attempt.call, attempt.state);
            match attempt.state {
                AttemptState::Done => {}
                AttemptState::Begun => {
                    let first = cut.insert((&attempt.call, attempt.epoch));
                    self.check(first, || format!("{name} was begun twice under one driver"));
                    self.check(attempt.epoch < row.epoch, || {
                        format!("{name} never ended, though no kill came after it")
                    });
                }
                AttemptState::Failed | AttemptState::Stopped => {
                    self.violations.push(format!("{name} is {:?}", attempt.state));
                }
            }
            self.attempts.insert(name, attempt.state);
        }
        for (call, state) in last {
            self.check(state == AttemptState::Done, || {
                format!("the last attempt at {id}/{call} is {state:?}")
            });
        }
    }

    fn callers(&mut self, told: &[String]) {
        let unique: HashSet<&String> = told.iter().collect();
        self.check(unique.len() == told.len(), || "two keys were given one board".into());
        for id in told {
            let kept = self.boards.contains(id);
            self.check(kept, || format!("board {id} was acknowledged and is lost"));
        }
        let boards = self.boards.len();
        self.check(boards == unique.len(), || {
            format!("{} boards were acknowledged and {boards} are in the log", unique.len())
        });
    }

    fn models(&mut self, asked: &[Recorded]) {
        let mut seen = HashSet::new();
        for request in asked {
            let Some(name) = &request.request_id else {
                self.violations.push("a request had no id".into());
                continue;
            };
            let recorded = self.attempts.contains_key(name);
            self.check(recorded, || format!("{name} was sent and is not in the log"));
            let done = self.attempts.get(name) == Some(&AttemptState::Done);
            self.check(!(done && request.dropped), || format!("{name} is done and was cut"));
            self.check(seen.insert(name.clone()), || format!("{name} was sent twice"));
        }
        let done = self.attempts.iter().filter(|(_, state)| **state == AttemptState::Done);
        let unseen: Vec<String> =
            done.map(|(name, _)| name).filter(|name| !seen.contains(*name)).cloned().collect();
        for name in unseen {
            self.violations.push(format!("{name} is done and was never sent"));
        }
    }
}
