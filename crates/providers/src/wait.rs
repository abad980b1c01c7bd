//! How long a provider wants to be left alone.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// The wait that a header asks for, in seconds or as a date.
pub(crate) fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(date(text)?);
            Some(at.duration_since(now).unwrap_or_default())
        }
    }
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next().filter(|name| name.len() == 3)?;
    let month = MONTHS.find(month)? as i64 / 3 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<i64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    // Days since 1970, with years that begin in March so that the leap day is last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    u64::try_from(((days * 24 + hour) * 60 + minute) * 60 + second).ok()
}

/// Gemini's `retryDelay`, such as `37s`, among the details of an error.
pub(crate) fn retry_delay(details: &Value) -> Option<Duration> {
    let details = details.as_array()?;
    let delay = details.iter().find_map(|one| one["retryDelay"].as_str())?;
    let seconds = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_seconds_or_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_700);
        for (text, expected) in [
            ("7", Some(7_000)),
            (" 1.5 ", Some(1_500)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(77_000)),
            ("Sun, 06 Nov 1984 08:49:37 GMT", Some(0)),
            ("Thu, 29 Feb 2024 00:00:00 GMT", Some((1_709_164_800 - 784_111_700) * 1000)),
            ("-3", None),
            ("soon", None),
            ("", None),
        ] {
            let found = retry_after(text, now).map(|wait| wait.as_millis() as u64);
            assert_eq!(found, expected, "{text}");
        }
    }
}
