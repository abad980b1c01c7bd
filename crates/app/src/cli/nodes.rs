//! `plenary nodes`

use clap::Args;
use serde_json::Value;

use super::{exit, print_json};
use crate::api::ApiError;
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal::{self, clean};

#[derive(Args)]
pub struct Nodes {
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

impl Nodes {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        let reach = Reach::open(&config, "plenary nodes").await?;
        let nodes = reach.api.get::<Vec<Value>>("/api/nodes").await;
        reach.close().await;
        let nodes = nodes?;
        if self.json {
            print_json(&nodes.into());
            return Ok(exit::DONE);
        }
        nodes.iter().for_each(|node| terminal::say(&line(node)));
        if nodes.is_empty() {
            terminal::note("No nodes are running. Start one with `plenary serve`.");
        }
        Ok(exit::DONE)
    }
}

fn line(node: &Value) -> String {
    let text = |key: &str| clean(node[key].as_str().unwrap_or_default());
    let name = text("name");
    let name = name.get(..8).unwrap_or(&name);
    let since = text("since").get(..16).unwrap_or_default().replace('T', " ");
    let sessions = match node["sessions"].as_u64().unwrap_or(0) {
        1 => "1 session".to_owned(),
        many => format!("{many} sessions"),
    };
    let (state, version, address) = (text("state"), text("version"), text("address"));
    let line =
        format!("{name}  {state:<8}  {sessions:<13}  {version:<8}  since {since}  {address}");
    line.trim_end().to_owned()
}
