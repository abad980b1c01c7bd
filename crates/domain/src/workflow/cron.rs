//! The five fields of cron, and when they come next in a time zone.
//!
//! Zones come from the database that is built into the program, so that nothing is read
//! from a disk and two machines come to the same.

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// Years in which a time has to come: the 29th of February can be eight years away.
const YEARS: i16 = 10;

/// When something is to happen, again and again. Each set has a bit for each of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Both kinds of days were given, and then one of them is enough.
    either_day: bool,
    /// Such a time belongs to no hour: it comes at every hour that passes, and at none
    /// that the clock leaves out.
    every_hour: bool,
}

/// One of the fields.
struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const MINUTE: Field = Field { name: "minute", least: 0, most: 59, names: &[] };
const HOUR: Field = Field { name: "hour", least: 0, most: 23, names: &[] };
const DAY: Field = Field { name: "day of the month", least: 1, most: 31, names: &[] };
const MONTH: Field = Field { name: "month", least: 1, most: 12, names: &MONTHS };
/// Sunday is 0, and 7 as well.
const WEEKDAY: Field = Field { name: "day of the week", least: 0, most: 7, names: &DAYS };
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Cron {
    pub fn read(written: &str) -> Result<Cron, String> {
        let parts: Vec<&str> = written.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts[..] else {
            let count = parts.len();
            return Err(format!("a cron time needs five fields (`0 9 * * 1`); this has {count}"));
        };
        let weekdays = WEEKDAY.read(weekday)?;
        let cron = Cron {
            minutes: MINUTE.read(minute)?,
            hours: HOUR.read(hour)?,
            days: DAY.read(day)?,
            months: MONTH.read(month)?,
            weekdays: weekdays | (weekdays >> 7 & 1),
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
            every_hour: hour == "*",
        };
        match cron.at_or_after(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)) {
            Some(_) => Ok(cron),
            None => Err(format!("{written:?} never happens: none of these months has such a day")),
        }
    }

    /// The first time after this moment.
    ///
    /// A time that the clock leaves out comes when it goes on, and one that it repeats comes
    /// once. What comes every hour follows the hours that really pass.
    pub fn next(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        let mut civil = minutes_later(this_minute(zone.to_datetime(after)), 1)?;
        let found = loop {
            civil = self.at_or_after(civil)?;
            let moments = self.moments(zone, civil);
            match moments.into_iter().flatten().find(|moment| *moment > after) {
                Some(found) => break found,
                None => civil = minutes_later(civil, 1)?,
            }
        };
        Some(self.repeated(zone, after, found).unwrap_or(found))
    }

    /// The last time from this one on until then.
    pub fn latest(&self, zone: &TimeZone, from: Timestamp, until: Timestamp) -> Timestamp {
        // What comes often came lately: few steps are gone, however long it was.
        for hours in [1, 24, 24 * 32, 24 * 366] {
            let lately = until.checked_sub(SignedDuration::from_hours(hours));
            let Some(start) = lately.ok().filter(|start| *start > from) else { break };
            if let Some(first) = self.next(zone, start).filter(|first| *first <= until) {
                return self.last_from(zone, first, until);
            }
        }
        self.last_from(zone, from, until)
    }

    fn last_from(&self, zone: &TimeZone, first: Timestamp, until: Timestamp) -> Timestamp {
        let following = |last: &Timestamp| self.next(zone, *last).filter(|next| *next <= until);
        std::iter::successors(Some(first), following).last().unwrap_or(first)
    }

    /// When the clock of the zone shows this, as far as that counts.
    fn moments(&self, zone: &TimeZone, civil: DateTime) -> [Option<Timestamp>; 2] {
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        let earlier = ambiguous.earlier().ok();
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => [earlier, None],
            AmbiguousOffset::Gap { .. } if self.every_hour => [None, None],
            AmbiguousOffset::Gap { .. } => {
                let goes_on = earlier.and_then(|before| zone.following(before).next());
                [goes_on.map(|transition| transition.timestamp()), None]
            }
            AmbiguousOffset::Fold { .. } if self.every_hour => [earlier, ambiguous.later().ok()],
            AmbiguousOffset::Fold { .. } => [earlier, None],
        }
    }

    /// A time in an hour that the clock repeats before it shows what was found.
    fn repeated(&self, zone: &TimeZone, after: Timestamp, found: Timestamp) -> Option<Timestamp> {
        if !self.every_hour {
            return None;
        }
        let back = zone.following(after).next().map(|transition| transition.timestamp())?;
        if back >= found {
            return None;
        }
        let civil = self.at_or_after(this_minute(zone.to_datetime(back)))?;
        let again = zone.to_ambiguous_timestamp(civil).later().ok()?;
        (again >= back && again < found).then_some(again)
    }

    fn at_or_after(&self, from: DateTime) -> Option<DateTime> {
        let last_year = from.year().saturating_add(YEARS);
        let (mut date, mut start) = (from.date(), minute_of_day(from));
        while date.year() <= last_year {
            if !has(self.months, date.month()) {
                (date, start) = (date.last_of_month().tomorrow().ok()?, 0);
                continue;
            }
            if let Some(minute) = self.is_day(date).then(|| self.minute_from(start)).flatten() {
                return Some(date.at((minute / 60) as i8, (minute % 60) as i8, 0, 0));
            }
            (date, start) = (date.tomorrow().ok()?, 0);
        }
        None
    }

    fn is_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        if self.either_day { day || weekday } else { day && weekday }
    }

    fn minute_from(&self, start: u32) -> Option<u32> {
        (start..24 * 60).find(|minute| {
            has(self.hours, (minute / 60) as i8) && has(self.minutes, (minute % 60) as i8)
        })
    }
}

impl Field {
    /// Lists of values, ranges and steps.
    fn read(&self, written: &str) -> Result<u64, String> {
        written.split(',').try_fold(0, |set, piece| {
            let Field { name, least, most, .. } = self;
            let values = self.piece(piece);
            let values =
                values.ok_or(format!("{piece:?} is not a valid {name} ({least} to {most})"))?;
            Ok(set | values)
        })
    }

    fn piece(&self, piece: &str) -> Option<u64> {
        let (range, step) = piece.split_once('/').map_or((piece, None), |(r, s)| (r, Some(s)));
        let (first, last) = match (range, range.split_once('-')) {
            ("*", _) => (self.least, self.most),
            (_, Some((first, last))) => (self.value(first)?, self.end(last)?),
            // `5/15` goes on from 5.
            (first, None) => {
                let first = self.value(first)?;
                (first, if step.is_some() { self.most } else { first })
            }
        };
        let step = step.map_or(Some(1), |step| step.parse::<u32>().ok())?;
        if step == 0 || first > last {
            return None;
        }
        let values = (first..=last).step_by(step as usize);
        Some(values.fold(0, |set, value| set | 1 << value))
    }

    fn value(&self, word: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(word));
        let number = named.map(|place| place as u32 + self.least);
        let number = number.or_else(|| word.parse().ok())?;
        (self.least..=self.most).contains(&number).then_some(number)
    }

    /// A week ends on Sunday as well as it begins there: `fri-sun`.
    fn end(&self, word: &str) -> Option<u32> {
        let is_sunday = self.most == WEEKDAY.most && word.eq_ignore_ascii_case(DAYS[0]);
        if is_sunday { Some(self.most) } else { self.value(word) }
    }
}

fn has(set: u64, value: i8) -> bool {
    set >> value & 1 == 1
}

fn minute_of_day(civil: DateTime) -> u32 {
    civil.hour() as u32 * 60 + civil.minute() as u32
}

fn this_minute(civil: DateTime) -> DateTime {
    civil.date().at(civil.hour(), civil.minute(), 0, 0)
}

fn minutes_later(civil: DateTime, minutes: i64) -> Option<DateTime> {
    civil.checked_add(SignedDuration::from_mins(minutes)).ok()
}

/// A zone by its name in the IANA database.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// The names of all zones.
pub(crate) fn zones() -> Vec<String> {
    TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn berlin() -> TimeZone {
        zone("Europe/Berlin").unwrap()
    }

    fn moment(written: &str) -> Timestamp {
        written.parse().unwrap()
    }

    /// The next times after a moment, as clocks in Berlin show them.
    #[track_caller]
    fn check(cron: &str, after: &str, expected: &[&str]) {
        let (cron, zone) = (Cron::read(cron).unwrap(), berlin());
        let times =
            std::iter::successors(cron.next(&zone, moment(after)), |last| cron.next(&zone, *last));
        let times: Vec<String> = times
            .take(expected.len())
            .map(|time| time.to_zoned(zone.clone()).strftime("%a %F %R %Z").to_string())
            .collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn cron_is_told_right_from_wrong() {
        let right = [
            "0 9 * * 1",
            "*/5 * * * *",
            "0 0 1,15 jan-mar mon-fri",
            "59 23 31 12 7",
            "0 0 29 feb *",
            "0 9 * * fri-sun",
            "5/15 0 * * *",
        ];
        for right in right {
            assert!(Cron::read(right).is_ok(), "{right}");
        }
        let wrong = [
            "",
            "0 9 * *",
            "60 * * * *",
            "* * 0 * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "a b c d e",
            "0 9 * * sun-mon-tue",
            "0,,1 * * * *",
            "0 0 * * 8",
            "@daily",
        ];
        for wrong in wrong {
            assert!(Cron::read(wrong).is_err(), "{wrong}");
        }
        let never = "\"0 0 30 feb *\" never happens: none of these months has such a day";
        assert_eq!(Cron::read("0 0 30 feb *"), Err(never.into()));
        assert!(Cron::read("0 0 31 4,6,9,11 *").is_err());
        // One of the two kinds of days is enough, so this one comes.
        assert!(Cron::read("0 0 30 feb mon").is_ok());
    }

    #[test]
    fn times_come_in_their_order() {
        let start = "2026-01-01T00:00:00Z";
        check("0 9 * * mon", start, &["Mon 2026-01-05 09:00 CET", "Mon 2026-01-12 09:00 CET"]);
        check(
            "30 8,17 * * 6-7",
            start,
            &["Sat 2026-01-03 08:30 CET", "Sat 2026-01-03 17:30 CET", "Sun 2026-01-04 08:30 CET"],
        );
        check("0 0 29 2 *", start, &["Tue 2028-02-29 00:00 CET", "Sun 2032-02-29 00:00 CET"]);
        check("5/20 * * * *", start, &["Thu 2026-01-01 01:05 CET", "Thu 2026-01-01 01:25 CET"]);
        check("0 12 * * */3", start, &["Sat 2026-01-03 12:00 CET", "Sun 2026-01-04 12:00 CET"]);
        check(
            "0 0 13 * fri",
            "2026-02-05T00:00:00Z",
            &["Fri 2026-02-06 00:00 CET", "Fri 2026-02-13 00:00 CET", "Fri 2026-02-20 00:00 CET"],
        );
        // A star with a step is no choice of days by itself.
        check("0 0 */10 * fri", start, &["Fri 2026-05-01 00:00 CEST"]);
    }

    #[test]
    fn a_time_that_the_clock_leaves_out_comes_when_it_goes_on() {
        let before = "2026-03-28T12:00:00Z";
        check("30 2 * * *", before, &["Sun 2026-03-29 03:00 CEST", "Mon 2026-03-30 02:30 CEST"]);
        check(
            "*/30 2-3 29 3 *",
            before,
            &["Sun 2026-03-29 03:00 CEST", "Sun 2026-03-29 03:30 CEST"],
        );
        check(
            "30 * * * *",
            "2026-03-29T00:00:00Z",
            &["Sun 2026-03-29 01:30 CET", "Sun 2026-03-29 03:30 CEST"],
        );
    }

    #[test]
    fn a_time_that_the_clock_repeats_comes_once() {
        let before = "2026-10-24T12:00:00Z";
        check("30 2 * * *", before, &["Sun 2026-10-25 02:30 CEST", "Mon 2026-10-26 02:30 CET"]);
        // Also for whoever looks while it is repeated.
        check("30 2 * * *", "2026-10-25T01:10:00Z", &["Mon 2026-10-26 02:30 CET"]);
    }

    #[test]
    fn what_comes_every_hour_follows_the_hours_that_pass() {
        check(
            "*/30 * * * *",
            "2026-10-24T23:59:00Z",
            &[
                "Sun 2026-10-25 02:00 CEST",
                "Sun 2026-10-25 02:30 CEST",
                "Sun 2026-10-25 02:00 CET",
                "Sun 2026-10-25 02:30 CET",
                "Sun 2026-10-25 03:00 CET",
            ],
        );
    }

    #[test]
    fn the_last_time_of_many_is_found_at_once() {
        let latest = |cron: &str, from: &str, until: &str| {
            let (cron, zone) = (Cron::read(cron).unwrap(), zone("UTC").unwrap());
            let first = cron.next(&zone, moment(from)).unwrap();
            cron.latest(&zone, first, moment(until)).to_string()
        };
        let from = "2016-01-01T00:00:00Z";
        assert_eq!(latest("* * * * *", from, "2026-01-01T00:00:30Z"), "2026-01-01T00:00:00Z");
        assert_eq!(latest("0 9 * * 1", from, "2026-01-01T00:00:00Z"), "2025-12-29T09:00:00Z");
        assert_eq!(latest("0 0 29 2 *", from, "2026-01-01T00:00:00Z"), "2024-02-29T00:00:00Z");
        assert_eq!(
            latest("0 0 1 1 *", "2025-06-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            "2026-01-01T00:00:00Z"
        );
    }

    #[test]
    fn zones_are_those_of_the_database() {
        assert!(zone("Europe/Berlin").is_some() && zone("UTC").is_some());
        assert!(zone("Europe/Berln").is_none() && zone("").is_none() && zone("../etc").is_none());
        assert!(zones().len() > 400);
    }

    /// A field in which something is given, from what it may hold.
    fn field(least: u32, most: u32) -> impl Strategy<Value = String> {
        prop_oneof![
            Just("*".to_owned()),
            (least..=most).prop_map(|value| value.to_string()),
            (least..=most, 1..20u32).prop_map(|(from, step)| format!("{from}/{step}")),
            (least..=most, least..=most).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
            (1..20u32).prop_map(|step| format!("*/{step}")),
        ]
    }

    proptest! {
        /// Compared with every minute that passes.
        #[test]
        fn no_time_is_left_out_and_none_is_made_up(
            minute in field(0, 59), hour in field(0, 23), weekday in field(0, 7),
            start in 1_700_000_000i64..1_900_000_000,
            name in prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"]),
        ) {
            let cron = Cron::read(&format!("{minute} {hour} * * {weekday}")).unwrap();
            let (zone, after) = (zone(name).unwrap(), Timestamp::from_second(start).unwrap());
            let next = cron.next(&zone, after).unwrap();
            prop_assert!(next > after);
            let shows = |moment: Timestamp| {
                let civil = zone.to_datetime(moment);
                cron.is_day(civil.date()) && cron.minute_from(minute_of_day(civil)) == Some(minute_of_day(civil))
            };
            let is_second = |moment: Timestamp| {
                let ambiguous = zone.to_ambiguous_timestamp(zone.to_datetime(moment));
                ambiguous.earlier().unwrap() != moment
            };
            let goes_on = |moment: Timestamp| {
                zone.preceding(moment + SignedDuration::from_secs(1)).next().is_some_and(|t| t.timestamp() == moment)
            };
            prop_assert!(shows(next) || goes_on(next), "{next}");
            prop_assert!(cron.every_hour || !is_second(next), "{next}");
            let first = start + 60 - start.rem_euclid(60);
            for second in (first..next.as_second()).step_by(60).take(20_000) {
                let between = Timestamp::from_second(second).unwrap();
                prop_assert!(!shows(between) || (!cron.every_hour && is_second(between)), "{between}");
            }
            prop_assert_eq!(cron.latest(&zone, next, next + SignedDuration::from_secs(59)), next);
        }
    }
}
