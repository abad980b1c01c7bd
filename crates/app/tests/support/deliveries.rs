//! A server that keeps what is delivered to it, also when whoever delivers dies before
//! the answer.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

#[derive(Clone)]
pub struct Deliveries {
    pub address: String,
    came: Arc<Mutex<Vec<Delivery>>>,
    count: watch::Sender<usize>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Delivery {
    pub key: String,
    pub body: Value,
}

impl Deliveries {
    pub async fn start() -> Deliveries {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let deliveries = Deliveries { address, came: Arc::default(), count: watch::Sender::new(0) };
        let routes = axum::Router::new().route("/", post(take)).with_state(deliveries.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        deliveries
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn all(&self) -> Vec<Delivery> {
        self.came.lock().unwrap().clone()
    }

    /// Waits until so many have come.
    pub async fn wait_for(&self, count: usize) {
        let mut changes = self.count.subscribe();
        let _ = changes.wait_for(|came| *came >= count).await;
    }
}

async fn take(
    State(deliveries): State<Deliveries>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Json<Value> {
    let key = headers.get("idempotency-key").expect("every delivery has a key");
    let key = key.to_str().unwrap().to_owned();
    let mut came = deliveries.came.lock().unwrap();
    came.push(Delivery { key, body });
    let count = came.len();
    drop(came);
    deliveries.count.send_replace(count);
    Json(json!({ "taken": true }))
}
