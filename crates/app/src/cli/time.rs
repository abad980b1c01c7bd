//! Times as people write them.

use jiff::Timestamp;
use plenary_engine::SystemClock;
use plenary_engine::ports::Clock;

use super::usage;
use crate::api::ApiError;

pub fn now() -> Timestamp {
    SystemClock::default().now()
}

/// `20s`, `1.5m`, `2h`, `3d`, `30`.
pub fn seconds(text: &str) -> Result<f64, ApiError> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let found = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = found.unwrap_or((text, 1.0));
    let wrong = || usage(format!("{text:?} is not a time; write 20s, 2m, 1h or 3d"));
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    if number.is_finite() && number >= 0.0 { Ok(number * factor) } else { Err(wrong()) }
}

/// Whole seconds, at least one.
pub fn whole_seconds(text: &str) -> Result<u64, ApiError> {
    match seconds(text)? {
        few if few < 1.0 => Err(usage(format!("{text:?} is too short; write 1s or more"))),
        many => Ok(many.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn units_are_understood() {
        let read = |text| seconds(text).ok();
        let written = ["30", "20s", "1.5m", "2h", "3d", "soon", "-1s", "s", "infm"];
        let expected = [
            Some(30.0),
            Some(20.0),
            Some(90.0),
            Some(7_200.0),
            Some(259_200.0),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(written.map(read), expected);
    }
}
