//! Times as people write them.

use crate::limits;

/// `90s`, `10m`, `2h`, `3d`, `1h30m`, in milliseconds.
pub(crate) fn duration(written: &str) -> Result<u64, String> {
    let wrong = || format!("{written:?} is not a time; write `90s`, `10m`, `2h` or `3d`");
    let mut rest = written.trim();
    let mut sum: u64 = 0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, unit) = rest.split_at(digits);
        let letters = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let (unit, after) = unit.split_at(letters);
        let ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 24 * 3_600_000,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        sum = sum.saturating_add(number.saturating_mul(ms));
        rest = after.trim_start();
    }
    match sum {
        0 => Err(format!("{written:?} must be longer than zero")),
        long if long > limits::WAIT_MOST_MS => Err(format!("{written:?} is longer than 90 days")),
        sum => Ok(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_or_explained() {
        let check = |written: &str, expected: Option<u64>| {
            assert_eq!(duration(written).ok(), expected, "{written:?}");
        };
        check("90s", Some(90_000));
        check("1h30m", Some(5_400_000));
        check(" 2h 15m ", Some(8_100_000));
        check("90d", Some(90 * 24 * 3_600_000));
        for wrong in ["", "90", "s", "0s", "1w", "-3s", "1.5h", "91d", "99999999999999999999s"] {
            check(wrong, None);
        }
    }
}
