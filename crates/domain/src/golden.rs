//! The JSON of every event, as logs in the field hold it, for the tests of all forms.
//! A line of a golden file is never edited: a new variant or an optional field gets a
//! new line at its place.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::budget::{Allowance, Budget, WhenSpent};
use crate::ids::ModelName;
use crate::prices::{Noted, Price, Quote, Source};

/// Writes `samples`, and a match without `_` arm over the variants they are
/// listed under: a variant without samples does not compile.
macro_rules! samples {
    ($($variant:ident => [$($event:expr),+ $(,)?]),+ $(,)?) => {
        fn samples() -> Vec<(&'static str, Event)> {
            vec![$($((stringify!($variant), $event)),+),+]
        }

        fn variant(event: &Event) -> &'static str {
            match event {
                $(Event::$variant { .. } => stringify!($variant)),+
            }
        }
    };
}
pub(crate) use samples;

/// A budget with all that it may have.
pub(crate) fn budget() -> Budget {
    let most = Allowance { tokens: Some(20_000), cost: Some(0.5), time_ms: Some(90_000) };
    Budget { most, when_spent: WhenSpent::Stop }
}

/// Prices from all sources.
pub(crate) fn noted() -> Noted {
    let said_at = Timestamp::from_second(1_800_000_000).ok();
    let quote = |source, cached, said_at| Quote {
        price: Price { input: 0.15, output: 0.6, cached },
        source,
        said_at,
    };
    let quotes = [
        quote(Source::Settings, None, None),
        quote(Source::Embedded, None, None),
        quote(Source::Provider, Some(0.075), said_at),
        quote(Source::Import, None, said_at),
    ];
    let named = ["m/1", "m/2", "m/3", "m/s"].map(|name| ModelName(name.into()));
    Noted { currency: "EUR".into(), models: named.into_iter().zip(quotes).collect() }
}

/// Every event is written and read as the golden file says.
pub(crate) fn check<E>(golden: &str, samples: &[(&'static str, E)])
where
    E: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let golden: Vec<Value> = serde_json::from_str(golden).expect("the golden file is JSON");
    let written: Vec<Value> =
        samples.iter().map(|(_, event)| serde_json::to_value(event).unwrap()).collect();
    for (written, golden) in written.iter().zip(&golden) {
        assert_eq!(written, golden);
    }
    let unlisted = written.iter().skip(golden.len()).map(Value::to_string).collect::<Vec<_>>();
    assert!(unlisted.is_empty(), "add to the golden file:\n{}", unlisted.join(",\n"));
    assert_eq!(golden.len(), samples.len(), "the golden file has lines without a sample");
    for (line, (_, event)) in golden.into_iter().zip(samples) {
        assert_eq!(serde_json::from_value::<E>(line).as_ref().ok(), Some(event));
    }
}

/// The name of an event is its tag, and each sample stands under its variant.
pub(crate) fn check_names<E: Serialize>(
    samples: &[(&'static str, E)],
    variant: fn(&E) -> &'static str,
    name: fn(&E) -> &'static str,
) {
    for (listed, event) in samples {
        assert_eq!(variant(event), *listed);
        assert_eq!(serde_json::to_value(event).unwrap()["type"], name(event));
    }
}
