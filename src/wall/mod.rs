//! The only place that reads a clock. Everything else is told the time.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use crate::record::Timestamp;

/// A simulated hall's time: it began then, at that steady moment, and runs so many times as fast.
static FAST: OnceLock<(i64, Duration, f64)> = OnceLock::new();

/// The present moment in UTC, to the millisecond.
#[must_use]
pub fn now() -> Timestamp {
    let millis = match FAST.get() {
        Some((began, steady, speed)) => {
            began + ((uptime().saturating_sub(*steady)).as_secs_f64() * speed * 1000.0) as i64
        }
        None => calendar(),
    };
    Timestamp::from_millis(millis)
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
fn calendar() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Time since this was first asked. It never jumps, whatever happens to the calendar clock, and
/// never runs fast: for time-outs of real lines and sockets.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub fn uptime() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Makes [`now`] run so many times as fast from this moment on, for a simulated hall whose boards
/// live faster, too: dwell times and clock seconds then agree. Only the first call counts.
pub fn run_fast(speed: f64) {
    FAST.get_or_init(|| (calendar(), uptime(), speed));
}

/// How long one must really wait for this many milliseconds of [`now`] to pass.
#[must_use]
pub fn real(millis: u64) -> Duration {
    let wait = Duration::from_millis(millis);
    match FAST.get() {
        Some((.., speed)) => wait.div_f64(*speed),
        None => wait,
    }
}
