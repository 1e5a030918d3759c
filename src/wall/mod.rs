//! The only place that reads a clock. Everything else is told the time.

use crate::record::Timestamp;

/// The present moment in UTC, to the millisecond.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// Time since this was first asked. It never jumps, whatever happens to the calendar clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub fn uptime() -> std::time::Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
