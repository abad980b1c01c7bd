//! What a dashboard may ask of a node.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{TestApp, canned};

/// The names of metrics in a query.
fn names(query: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    query.split(move |letter| !is_part(letter)).filter(|word| word.starts_with("plenary_"))
}

/// Every query of a dashboard, with the title of its panel.
fn queries(dashboard: &Value) -> Vec<(String, String)> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let of = |panel: &Value| {
        let title = panel["title"].as_str().unwrap().to_owned();
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        targets
            .into_iter()
            .map(move |target| (title.clone(), target["expr"].as_str().unwrap().to_owned()))
    };
    panels.flat_map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dashboard_asks_for_what_there_is() {
    let app = TestApp::start(canned()).await;
    let metrics = app.http.get(format!("{}/metrics", app.url)).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let lines = metrics.lines().filter(|line| !line.starts_with('#'));
    let there: BTreeSet<&str> = lines.filter_map(|line| line.split(['{', ' ']).next()).collect();
    let text = include_str!("../../../../docs/grafana.json");
    let dashboard: Value = serde_json::from_str(text).unwrap();
    let queries = queries(&dashboard);
    assert!(queries.len() > 10);
    let mut asked = BTreeSet::new();
    for (panel, query) in &queries {
        assert!(names(query).next().is_some(), "{panel} asks for nothing of ours: {query}");
        for name in names(query) {
            assert!(there.contains(name), "{panel} asks for {name}, which /metrics does not have");
            asked.insert(name);
        }
    }
    let unseen: Vec<&&str> = there.difference(&asked).collect();
    assert!(unseen.is_empty(), "no panel shows {unseen:?}");
}
