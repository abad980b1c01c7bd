//! Which run is meant.

use clap::Args;
use serde::Deserialize;

use crate::api::{Api, ApiError, encode};
use crate::cli::usage;

/// Characters of an id that say which one it is, taken from its end: it begins with a time.
const SHORT: usize = 8;

/// A run that has to be named.
#[derive(Args)]
pub struct Which {
    /// The run's id, its last eight characters, or `last`
    #[arg(value_name = "RUN")]
    id: String,
}

/// A run that may be named.
#[derive(Args)]
pub struct Any {
    /// The run's id or its last eight characters; the last run by default
    #[arg(value_name = "RUN")]
    id: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
}

impl Which {
    /// The address of the run.
    pub async fn path(&self, api: &Api) -> Result<String, ApiError> {
        Ok(address(&find(api, &self.id).await?))
    }
}

impl Any {
    pub async fn find(&self, api: &Api) -> Result<String, ApiError> {
        find(api, self.id.as_deref().unwrap_or("last")).await
    }
}

pub fn address(id: &str) -> String {
    format!("/api/runs/{}", encode(id))
}

/// What is typed for a run.
pub fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(SHORT)..).unwrap_or(id)
}

async fn find(api: &Api, written: &str) -> Result<String, ApiError> {
    let wanted = written.trim().to_lowercase();
    if wanted.parse::<uuid::Uuid>().is_ok() {
        return Ok(wanted);
    }
    let rows: Vec<Row> = api.get("/api/runs?limit=200").await?;
    if rows.is_empty() {
        return Err(usage("there are no runs yet; start one: plenary workflow run FILE"));
    }
    let is_meant = |row: &&Row| {
        !wanted.is_empty() && (row.id.ends_with(&wanted) || row.id.starts_with(&wanted))
    };
    let found: Vec<&Row> = match wanted.as_str() {
        "last" => rows.iter().take(1).collect(),
        _ => rows.iter().filter(is_meant).collect(),
    };
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => Err(usage(format!(
            "there is no run {written:?}; list them with `plenary workflow runs`"
        ))),
        _ => Err(usage(format!("{written:?} matches several runs; type more of the id"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_known_by_the_end_of_its_id() {
        assert_eq!(short("01900000-0000-7000-8000-00000abcdef0"), "0abcdef0");
        assert_eq!(short("short"), "short");
    }
}
