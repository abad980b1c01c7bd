//! What goes wrong, line by line to standard error: what goes to standard output is for
//! programs.

use std::fmt::Debug;
use std::io::Write;
use std::sync::OnceLock;

use plenary_engine::SystemClock;
use plenary_engine::ports::Clock;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::terminal;

const FORMAT: &str = "PLENARY_LOG_FORMAT";

/// The name of this process among those that work on the same store.
static NODE: OnceLock<String> = OnceLock::new();

/// From now on lines say which node wrote them, where programs read them.
pub fn of_node(name: &str) {
    let _ = NODE.set(name.to_owned());
}

pub fn start() -> Result<(), String> {
    // Targets and levels, such as `info` or `warn,plenary_engine=debug`: filters by spans and
    // their fields would bring a whole engine for regular expressions.
    let filter = match std::env::var("PLENARY_LOG") {
        Err(_) => Targets::new().with_default(LevelFilter::WARN),
        Ok(text) => text.parse().map_err(|_| {
            format!("PLENARY_LOG is {text:?}; write `info` or `warn,plenary_engine=debug`")
        })?,
    };
    let lines = tracing_subscriber::registry().with(filter);
    match std::env::var(FORMAT).as_deref() {
        Err(_) | Ok("" | "text") => {
            let text = tracing_subscriber::fmt::layer()
                .with_ansi(terminal::colours(&std::io::stderr()))
                .with_writer(std::io::stderr);
            lines.with(text).init();
            Ok(())
        }
        Ok("json") => {
            lines.with(Json).init();
            Ok(())
        }
        Ok(other) => Err(format!("{FORMAT} is {other:?}; write `text` or `json`")),
    }
}

/// One object per line: time, level, target, node, message, and the fields beside it.
struct Json;

impl<S: Subscriber> Layer<S> for Json {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Fields::default();
        event.record(&mut line);
        let meta = event.metadata();
        let own = [
            ("timestamp", SystemClock::default().now().to_string()),
            ("level", meta.level().to_string()),
            ("target", meta.target().to_owned()),
        ];
        // These names are ours, whatever a field is called.
        line.0.extend(own.map(|(name, value)| (name.to_owned(), value.into())));
        line.0.extend(NODE.get().map(|name| ("node".to_owned(), name.as_str().into())));
        let text = Value::Object(line.0).to_string() + "\n";
        // A log that cannot be written has nobody to be told.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }
}
