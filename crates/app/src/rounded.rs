//! Times, counts and money as a person would say them. What records say too is rounded
//! where they are written, in the domain's ledger.

use plenary_domain::ledger::{self, LEAST_MONEY, decimals};

pub use plenary_domain::ledger::count;

/// A time that was measured: `3.2 s`, `32 s`, `2 min 5 s`, `12 min`, `1 h 5 min`, `3 days`.
pub fn duration(ms: u64) -> String {
    if ms < 9_950 {
        let tenths = nearest(ms, 100);
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = nearest(ms, 1_000);
    let minutes = nearest(seconds, 60);
    let hours = nearest(minutes, 60);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..600 => both((seconds / 60, "min"), (seconds % 60, "s")),
        600..3_570 => format!("{minutes} min"),
        3_570..86_400 => both((minutes / 60, "h"), (minutes % 60, "min")),
        86_400..172_800 => both((hours / 24, "day"), (hours % 24, "h")),
        _ => format!("{} days", nearest(hours, 24)),
    }
}

/// Counts that are foreseen: `850 to 1,200`.
pub fn counts(low: f64, high: f64) -> String {
    let rounded = |number: f64, to: fn(f64) -> f64| {
        let step = if number < 100.0 { 1.0 } else { 10_f64.powf(number.log10().floor() - 1.0) };
        count((to(number / step) * step).round() as u64)
    };
    from_to(rounded(low, down), rounded(high, up))
}

/// A count that is foreseen: `12`, `1,200`.
pub fn about(number: f64) -> String {
    let step = if number < 100.0 { 1.0 } else { 10_f64.powf(number.log10().floor() - 1.0) };
    count(((number / step).round() * step).round() as u64)
}

/// Seconds that are foreseen: `30 to 40 s`, `40 s to 2 min`, `up to 5 s`.
pub fn times(low: f64, high: f64) -> String {
    let rounded = |seconds: f64, to: fn(f64) -> f64| {
        let step = match seconds {
            few if few < 10.0 => 1.0,
            few if few < 60.0 => 5.0,
            some if some < 600.0 => 60.0,
            many if many < 3_600.0 => 300.0,
            _ => 1_800.0,
        };
        to(seconds / step) * step
    };
    let unit = |seconds: f64| match seconds {
        few if few < 60.0 => (few, "s"),
        some if some < 3_600.0 => (some / 60.0, "min"),
        many => (many / 3_600.0, "h"),
    };
    let (low, high) = (rounded(low, down), unit(rounded(high, up)));
    match (low, unit(low), high) {
        (0.0, _, (most, named)) => format!("up to {most} {named}"),
        (_, (least, same), (most, named)) if same == named => {
            format!("{} {named}", from_to(least.to_string(), most.to_string()))
        }
        (_, (least, unit), (most, named)) => format!("{least} {unit} to {most} {named}"),
    }
}

/// Money that was spent: `0.0012 USD`, `0.35 USD`, `12.40 USD`.
pub fn money(amount: f64, currency: Option<&str>) -> String {
    if amount <= 0.0 {
        return "no cost".to_owned();
    }
    let said = ledger::money(amount).unwrap_or_else(|| format!("less than {LEAST_MONEY}"));
    in_currency(&said, currency)
}

/// Money that is foreseen: `0.001 to 0.035 USD`, `12 to 35 USD`.
pub fn moneys(low: f64, high: f64, currency: Option<&str>) -> String {
    if high < LEAST_MONEY {
        return money(high, currency);
    }
    let decimals = if high < 10.0 { decimals(high) } else { 0 };
    let step = 0.1_f64.powi(decimals as i32);
    let rounded = |amount: f64, to: fn(f64) -> f64| to(amount / step) * step;
    let most = format!("{:.decimals$}", rounded(high, up));
    let said = match rounded(low, down) {
        nothing if nothing <= 0.0 => format!("up to {most}"),
        least => from_to(format!("{least:.decimals$}"), most),
    };
    in_currency(&said, currency)
}

fn in_currency(said: &str, currency: Option<&str>) -> String {
    format!("{said} {}", currency.unwrap_or_default()).trim_end().to_owned()
}

/// What is foreseen is never made narrower. A number that is whole but for the arithmetic
/// stays.
fn down(number: f64) -> f64 {
    (number + 1e-9).floor()
}

fn up(number: f64) -> f64 {
    (number - 1e-9).ceil()
}

fn nearest(number: u64, unit: u64) -> u64 {
    number.saturating_add(unit / 2) / unit
}

fn both((large, name): (u64, &str), (small, of): (u64, &str)) -> String {
    match small {
        0 => format!("{large} {name}"),
        _ => format!("{large} {name} {small} {of}"),
    }
}

fn from_to(low: String, high: String) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}

pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_exactly_as_they_matter() {
        for (ms, expected) in [
            (0, "0.0 s"),
            (440, "0.4 s"),
            (3_249, "3.2 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (31_700, "32 s"),
            (59_600, "1 min"),
            (125_000, "2 min 5 s"),
            (754_000, "13 min"),
            (3_599_000, "1 h"),
            (3_900_000, "1 h 5 min"),
            (97_200_000, "1 day 3 h"),
            (260_000_000, "3 days"),
        ] {
            assert_eq!(duration(ms), expected, "{ms}");
        }
    }

    #[test]
    fn what_is_foreseen_is_rounded_outwards() {
        for (low, high, expected) in [
            (0.2, 0.7, "up to 1 s"),
            (2.0, 2.0, "2 s"),
            (3.4, 8.1, "3 to 9 s"),
            (31.7, 38.2, "30 to 40 s"),
            (43.0, 97.0, "40 s to 2 min"),
            (57.0, 59.0, "55 s to 1 min"),
            (75.0, 200.0, "1 to 4 min"),
            (700.0, 4_000.0, "10 min to 1.5 h"),
            (7_300.0, 7_400.0, "2 to 2.5 h"),
        ] {
            assert_eq!(times(low, high), expected, "{low} to {high}");
        }
        for (low, high, expected) in [
            (3.0, 3.0, "3"),
            (4.0, 11.0, "4 to 11"),
            (851.0, 1_171.0, "850 to 1,200"),
            (1_172.0, 12_783.0, "1,100 to 13,000"),
            (1_000_000.0, 1_000_001.0, "1,000,000 to 1,100,000"),
        ] {
            assert_eq!(counts(low, high), expected, "{low} to {high}");
        }
        for (number, expected) in
            [(0.0, "0"), (12.0, "12"), (1_172.0, "1,200"), (96_400.0, "96,000")]
        {
            assert_eq!(about(number), expected, "{number}");
        }
    }

    #[test]
    fn money_has_as_many_digits_as_it_is_worth() {
        for (amount, expected) in [
            (0.0, "no cost"),
            (0.000_04, "less than 0.0001 USD"),
            (0.001_234, "0.0012 USD"),
            (0.034_5, "0.035 USD"),
            (0.5, "0.50 USD"),
            (12.4, "12.40 USD"),
        ] {
            assert_eq!(money(amount, Some("USD")), expected, "{amount}");
        }
        for (low, high, expected) in [
            (0.0, 0.0, "no cost"),
            (0.000_01, 0.000_05, "less than 0.0001 EUR"),
            (0.000_3, 0.034_5, "up to 0.035 EUR"),
            (0.001_2, 0.034_5, "0.001 to 0.035 EUR"),
            (0.5, 0.5, "0.50 EUR"),
            (1.231, 3.471, "1.23 to 3.48 EUR"),
            (12.4, 34.5, "12 to 35 EUR"),
        ] {
            assert_eq!(moneys(low, high, Some("EUR")), expected, "{low} to {high}");
        }
        assert_eq!(money(1.0, None), "1.00");
    }
}
