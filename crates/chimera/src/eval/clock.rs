//! What takes how long.

use std::time::{Duration, Instant};

use super::Seconds;

/// A clock that names what was done since it was last asked.
pub(super) struct Clock {
    since: Instant,
    pub(super) seconds: Vec<Seconds>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { since: Instant::now(), seconds: Vec::new() }
    }

    /// What was done since the last call has a name now.
    pub(super) fn stop(&mut self, what: &str) {
        self.seconds.push(Seconds { what: what.to_owned(), seconds: self.since.elapsed().as_secs_f64() });
        self.since = Instant::now();
    }

    /// What was done since the last call comes again and again, and so does a part of it that is counted apart: both add up.
    pub(super) fn stop_apart(&mut self, rest: &str, (part, took): (&str, Duration)) {
        self.add(part, took);
        self.add(rest, self.since.elapsed().saturating_sub(took));
        self.since = Instant::now();
    }

    fn add(&mut self, what: &str, took: Duration) {
        match self.seconds.iter_mut().find(|seconds| seconds.what == what) {
            Some(seconds) => seconds.seconds += took.as_secs_f64(),
            None => self.seconds.push(Seconds { what: what.to_owned(), seconds: took.as_secs_f64() }),
        }
    }
}
