//! The list of prices and windows that was imported: where it is kept, and how it gets
//! there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use plenary_domain::limits;
use plenary_engine::SystemClock;
use plenary_engine::ports::Clock as _;
use plenary_providers::{LeftOut, Sheet};

use crate::private::{Private, Trouble};

const FILE: &str = "prices.json";

pub fn place(home: &Path) -> PathBuf {
    kept(home).path().to_owned()
}

/// What was imported; nothing where nothing was, or where it cannot be read.
pub fn imported(home: &Path) -> Sheet {
    kept(home).read().unwrap_or_default()
}

/// Takes the place of what was imported before.
pub fn import(home: &Path, file: &Path) -> Result<(Sheet, LeftOut), String> {
    let named = |problem: &dyn std::fmt::Display| format!("{}: {problem}", file.display());
    let (text, said_at) = read(file).map_err(|error| named(&error))?;
    let (sheet, left_out) = Sheet::read(&text, said_at).map_err(|problem| named(&problem))?;
    let keep = || kept(home).change(|kept: &mut Sheet| *kept = sheet.clone());
    let kept_now = match keep() {
        // What cannot be read is not worth keeping.
        Err(Trouble::Broken(_)) => clear(home).map(|_| keep())?,
        other => other,
    };
    kept_now.map_err(|trouble| format!("{} {trouble}", place(home).display()))?;
    Ok((sheet, left_out))
}

/// Whether there was anything to take away.
pub fn clear(home: &Path) -> Result<bool, String> {
    match fs::remove_file(place(home)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("{}: {error}", place(home).display())),
    }
}

fn kept(home: &Path) -> Private {
    Private::new(home, FILE)
}

/// The list, and when its file was last written, which is the best that is known of its
/// age.
fn read(file: &Path) -> io::Result<(Vec<u8>, Timestamp)> {
    let file = File::open(file)?;
    let written = file.metadata()?.modified()?.duration_since(std::time::UNIX_EPOCH);
    let millis = written.ok().and_then(|since| i64::try_from(since.as_millis()).ok());
    let written = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let mut text = vec![];
    // One byte more than it may have is enough to see that it has too many.
    file.take(limits::PRICE_LIST_BYTES as u64 + 1).read_to_end(&mut text)?;
    let now = SystemClock::default().now();
    Ok((text, written.unwrap_or(now).min(now)))
}
