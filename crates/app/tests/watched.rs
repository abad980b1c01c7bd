//! What whoever watches over a server gets to see: its nodes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use plenary_scripted::{Reply, Script, Scripted};
use serde_json::Value;
use support::{Home, SAFETY, Serving, interrupt};

async fn ended(mut serving: Serving) {
    interrupt(&serving.child);
    let ended = tokio::time::timeout(SAFETY, serving.child.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_listed() {
    let scripted = Scripted::start(Script::new(Reply::canned())).await.unwrap();
    let home = Home::on_any_store(&scripted.url());
    let none = home.run(&["nodes"]).await;
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""), "{}", none.err);
    assert_eq!(none.err, "No node is running. Start one with `plenary serve`.\n");
    let serving = home.serve().await;
    let one = home.run(&["nodes"]).await;
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("[id]  live      0 sessions     {version:<8}  since [time]\n");
    assert_eq!(support::plain(&one.out, home.path().to_str().unwrap()), expected, "{}", one.err);
    let listed: Value = serde_json::from_str(&home.run(&["nodes", "--json"]).await.out).unwrap();
    let name = listed[0]["name"].as_str().unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &name[..8]), (1, &one.out[..8]), "{listed}");
    ended(serving).await;
    assert_eq!(home.run(&["nodes"]).await.out, "", "one that ends in order is not listed");
}
