//! Samples, and how they are told.

use std::fmt;
use std::time::Duration;

/// Samples in order.
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn new(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Samples(samples)
    }

    pub fn of_millis(times: &[Duration]) -> Self {
        Samples::new(times.iter().copied().map(millis).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The sample below which this part of them lies; 0 when there is none.
    pub fn at(&self, part: f64) -> f64 {
        let place = (part * self.0.len() as f64) as usize;
        self.0.get(place.min(self.0.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }
}

/// The median, and between which values four of five samples lie.
impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8.1} ({:.1} to {:.1})", self.median(), self.at(0.1), self.at(0.9))
    }
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

pub fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

/// Random numbers that come again with the same seed (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        least + (mixed ^ (mixed >> 31)) % (most - least + 1)
    }
}
