//! What sessions cost in memory that nothing happens in: idle ones, those that wait
//! for a time, and readers of one that is silent.

use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};

use crate::Outcome;
use crate::figures::megabytes;
use crate::idle::{begin, raise_files};
use crate::plenary::{Place, Plenary};

#[derive(Args)]
pub struct Memory {
    /// Sessions of each kind
    #[arg(long, default_value_t = 2_000)]
    sessions: usize,
    /// Live readers of one session
    #[arg(long, default_value_t = 2_000)]
    readers: usize,
}

/// Made first, so that what a server needs for any of them is not counted.
const WARM: usize = 200;
const AT_ONCE: usize = 32;

impl Memory {
    pub async fn run(self) -> Outcome<()> {
        raise_files()?;
        println!("{:49} KB each  MB before, after  sessions in use", "memory");
        self.sessions("whiteboard, idle", &Value::Null).await?;
        // 90 days, the longest there is.
        let far = json!({ "blindSeconds": 7_776_000 });
        let place = self.sessions("whiteboard, sleeping until a deadline", &far).await?;
        self.restarted(&place).await?;
        self.readers().await
    }

    async fn sessions(&self, name: &str, deadlines: &Value) -> Outcome<Place> {
        // No model is ever asked.
        let place = Place::new("http://127.0.0.1:1")?;
        let plenary = place.serve()?;
        open(&plenary, 0..WARM, deadlines).await?;
        let before = plenary.process.memory()?.now_kb;
        open(&plenary, WARM..WARM + self.sessions, deadlines).await?;
        row(&plenary, name, before, self.sessions).await?;
        plenary.process.stop()?;
        Ok(place)
    }

    /// A server that finds the sleeping sessions when it starts.
    async fn restarted(&self, place: &Place) -> Outcome<()> {
        let empty = Place::new("http://127.0.0.1:1")?.serve()?.process.memory()?.now_kb;
        let plenary = place.serve()?;
        row(&plenary, "the same, found by a new process", empty, self.sessions + WARM).await
    }

    async fn readers(&self) -> Outcome<()> {
        let place = Place::new("http://127.0.0.1:1")?;
        let plenary = place.serve()?;
        open(&plenary, 0..1, &Value::Null).await?;
        let address = plenary.api.url.trim_start_matches("http://").parse()?;
        let connect = |count: usize| {
            let readers = (0..count).map(|_| begin(address, "/api/whiteboards/b0/events"));
            stream::iter(readers).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>()
        };
        let warm = connect(WARM).await?;
        let before = plenary.process.memory()?.now_kb;
        let readers = connect(self.readers).await?;
        row(&plenary, "live reader of one whiteboard", before, readers.len()).await?;
        drop(warm);
        Ok(())
    }
}

async fn open(plenary: &Plenary, range: std::ops::Range<usize>, deadlines: &Value) -> Outcome<()> {
    let api = &plenary.api;
    let open = range.map(|nth| async move {
        let name = format!("b{nth}");
        let mut body = json!({ "boardId": name, "topic": "How large?", "openedBy": "chair" });
        if !deadlines.is_null() {
            body["deadlines"] = deadlines.clone();
        }
        let request = api.client.post(format!("{}/api/whiteboards", api.url)).json(&body);
        request.send().await?.error_for_status()?;
        Outcome::Ok(())
    });
    stream::iter(open).buffer_unordered(AT_ONCE).try_collect().await
}

async fn row(plenary: &Plenary, name: &str, before: u64, count: usize) -> Outcome<()> {
    let after = plenary.process.memory()?.now_kb;
    println!(
        "  {count:>5} × {name:<38} {:8.1}  {:9.0}, {:5.0}  {:15}",
        after.saturating_sub(before) as f64 / count as f64,
        megabytes(before),
        megabytes(after),
        plenary.api.metric("sessions_loaded").await?
    );
    Ok(())
}
