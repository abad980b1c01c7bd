//! What a run can wait for, and when something is it.

use serde_json::{Map, Value};

use super::kinds::PHASES;

/// What rooms tell by themselves, with what each has; the first key says which room.
pub(crate) const ROOMS: [(&str, &[&str]); 5] = [
    ("board-transitioned", &["board", "phase"]),
    ("discussion-concluded", &["discussion"]),
    ("boardroom-closed", &["boardroom"]),
    ("workflow-ended", &["run", "status"]),
    ("council-posted", &["council", "sender"]),
];

/// What tells one signal that was sent from another, beside its fields: which it was under
/// its name, when it was sent, and by whom. Signals of rooms that say `AT` count each time;
/// one without it tells what is so from then on.
pub const NUMBER: &str = "_number";
pub const AT: &str = "_at";
pub const BY: &str = "_by";

/// Whether rooms tell this by themselves.
pub fn is_of_rooms(name: &str) -> bool {
    ROOMS.iter().any(|(own, _)| *own == name)
}

/// Something that has happened, for whoever waits for it.
pub type Signal = Map<String, Value>;

/// The room that tells of this by itself: its kind, and what the wait calls it.
pub fn room_of(wanted: &Signal) -> Option<(&'static str, &str)> {
    let text = |key: &str| wanted.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, kind) = [
        ("board-transitioned", "whiteboard"),
        ("discussion-concluded", "discussion"),
        ("boardroom-closed", "boardroom"),
        ("workflow-ended", "workflow"),
        ("council-posted", "council"),
    ]
    .into_iter()
    .find(|(name, _)| *name == text("signal"))?;
    let (_, keys) = ROOMS.iter().find(|(known, _)| *known == name)?;
    Some((kind, keys.first().map(|key| text(key)).unwrap_or_default()))
}

/// Whether this is what was waited for: every key that the wait gives is equal, by what is
/// written. A board that has passed a phase has reached it.
pub fn matches(wanted: &Signal, signal: &Signal) -> bool {
    let is_phase = written(wanted.get("signal")) == Some("board-transitioned".into());
    wanted.iter().all(|(key, value)| {
        let (wanted, found) = (written(Some(value)), written(signal.get(key)));
        match (wanted, found) {
            (Some(wanted), Some(found)) if is_phase && key == "phase" => {
                let place = |phase: &str| PHASES.iter().position(|known| *known == phase);
                place(&wanted).zip(place(&found)).is_some_and(|(wanted, found)| found >= wanted)
            }
            (wanted, found) => wanted.is_some() && wanted == found,
        }
    })
}

/// The signals that a wait resumes on, one for each that it gives; `None` as long as it
/// goes on waiting. What came first counts.
pub fn resumes(all: bool, wanted: &[Signal], came: &[Signal]) -> Option<Vec<Signal>> {
    let found = wanted.iter().map(|wanted| came.iter().find(|signal| matches(wanted, signal)));
    let found: Vec<Option<&Signal>> = found.collect();
    let enough =
        if all { found.iter().all(Option::is_some) } else { found.iter().any(Option::is_some) };
    enough.then(|| found.into_iter().flatten().cloned().collect())
}

/// Whether this signal, which was sent, is one of these. What a room tells that is so from
/// then on has no number, and is none.
pub fn is_among(signals: &[Signal], signal: &Signal) -> bool {
    let is_one = |other: &Signal| {
        ["signal", NUMBER, AT].iter().all(|key| signal.contains_key(*key))
            && ["signal", NUMBER, AT].iter().all(|key| signal.get(*key) == other.get(*key))
    };
    signals.iter().any(is_one)
}

/// How a value is written: `24` is `"24"`.
pub(crate) fn written(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn signal(value: Value) -> Signal {
        value.as_object().cloned().unwrap_or_default()
    }

    #[track_caller]
    fn check(wanted: Value, found: Value, expected: bool) {
        assert_eq!(matches(&signal(wanted), &signal(found)), expected);
    }

    #[test]
    fn a_signal_matches_when_all_that_is_asked_for_is_equal_as_written() {
        check(
            json!({"signal": "built", "id": 24}),
            json!({"signal": "built", "id": "24", "by": "ci"}),
            true,
        );
        check(json!({"signal": "built", "id": 24}), json!({"signal": "built"}), false);
        check(json!({"signal": "built"}), json!({"signal": "broken"}), false);
        check(
            json!({"signal": "built", "ok": true}),
            json!({"signal": "built", "ok": "true"}),
            true,
        );
    }

    #[test]
    fn a_board_that_has_passed_a_phase_has_reached_it() {
        let wanted = json!({"signal": "board-transitioned", "board": "b", "phase": "validate"});
        for (phase, expected) in
            [("blind", false), ("read", false), ("validate", true), ("archived", true)]
        {
            check(
                wanted.clone(),
                json!({"signal": "board-transitioned", "board": "b", "phase": phase}),
                expected,
            );
        }
        check(
            wanted,
            json!({"signal": "board-transitioned", "board": "c", "phase": "debate"}),
            false,
        );
    }

    #[test]
    fn all_have_to_come_or_one_is_enough() {
        let (a, b) = (signal(json!({"signal": "a"})), signal(json!({"signal": "b"})));
        let wanted = [a.clone(), b.clone()];
        assert_eq!(resumes(true, &wanted, std::slice::from_ref(&a)), None);
        assert_eq!(resumes(false, &wanted, std::slice::from_ref(&b)), Some(vec![b.clone()]));
        assert_eq!(resumes(true, &wanted, &[b.clone(), a.clone()]), Some(vec![a, b]));
        assert_eq!(resumes(false, &wanted, &[]), None);
    }
}
