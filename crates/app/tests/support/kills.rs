//! A server that dies at a moment which nobody chose, and what a client makes of it.

use plenary_scripted::Scripted;
use serde_json::Value;

use super::{SAFETY, Serving};

/// The data of an answer; `None` when the server died before, or the state forbids it.
pub async fn answer(request: reqwest::RequestBuilder) -> Option<Value> {
    // A server that lives and does not answer is a fault that should show.
    let response = request.timeout(SAFETY).send().await.ok()?;
    let status = response.status();
    let mut body: Value = response.json().await.ok()?;
    match status.as_u16() {
        200 | 201 => Some(body["data"].take()),
        // Not in this state.
        409 => None,
        other => panic!("{other}: {body}"),
    }
}

/// Waits for a moment that the dice choose: a request that the models see, or an
/// event that a reader sees, and a little more.
pub async fn die_some_day(
    serving: &Serving,
    http: &reqwest::Client,
    scripted: &Scripted,
    seen: usize,
    dice: &mut Dice,
) {
    if dice.roll(2) == 0 {
        scripted.wait_for_requests(seen + 1 + dice.roll(9)).await;
    } else {
        let path = format!("{}/api/events?after=0", serving.url);
        let mut response = http.get(path).send().await.unwrap();
        let mut wanted = dice.roll(12);
        let frames = async {
            while wanted > 0 {
                let chunk = response.chunk().await.unwrap().expect("the server lives");
                let count = chunk.windows(6).filter(|six| six == b"event:").count();
                wanted = wanted.saturating_sub(count);
            }
        };
        tokio::time::timeout(SAFETY, frames).await.unwrap();
    }
    kill(serving, dice).await;
}

/// After a little more, which the dice choose too.
pub async fn kill(serving: &Serving, dice: &mut Dice) {
    for _ in 0..dice.roll(3_000) {
        tokio::task::yield_now().await;
    }
    // Here, so that requests which are under way meet a server that dies.
    let pid = rustix::process::Pid::from_raw(i32::try_from(serving.pid()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Waits until nothing goes on by itself any more.
pub async fn until_all_rest(http: &reqwest::Client, url: &str) {
    let resting = async {
        let mut events = http.get(format!("{url}/api/events?after=0")).send().await.unwrap();
        loop {
            let page = http.get(format!("{url}/api/sessions?active=true&limit=1"));
            let page: Value = page.send().await.unwrap().json().await.unwrap();
            if page["meta"]["total"] == 0 {
                return;
            }
            events.chunk().await.unwrap().expect("the server lives");
        }
    };
    tokio::time::timeout(SAFETY, resting).await.expect("every session goes on by itself");
}

/// Other numbers in every run; a failure shows by what is in the store, not by
/// the moment in which it came about.
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Dice {
        Dice(uuid::Uuid::new_v4().as_u64_pair().0 | 1)
    }

    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}
