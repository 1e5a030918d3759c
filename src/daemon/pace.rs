//! The journal's time: never backwards, and never standing still because the machine's clock was set
//! back.
//!
//! A clock that is set back would either make inputs older than those before them, or hold every
//! deadline until it has caught up. So from then on the time that passes counts, from where it was,
//! until the machine's clock is right again.

use crate::record::Timestamp;

/// Moments may come out of order by so many milliseconds without the clock having been set back: threads ask for
/// the time and are served later, the more so where time runs faster than the clock, as in the demo.
const ORDINARY: i64 = 30_000;

/// Keeps the time of the journal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    last: Timestamp,
    /// How far the journal's time is ahead of the machine's clock, in milliseconds.
    ahead: i64,
}

impl Pace {
    /// Time goes on from here.
    pub(super) fn new(last: Timestamp) -> Self {
        Self { last, ahead: 0 }
    }

    /// The journal's moment for one of the machine's clock.
    pub(super) fn moment(&mut self, clock: Timestamp) -> Timestamp {
        if clock >= self.last {
            self.ahead = 0;
        } else if self.last.since(clock.plus(self.ahead)) > ORDINARY {
            self.ahead = self.last.since(clock);
        }
        self.last = self.last.max(clock.plus(self.ahead));
        self.last
    }

    /// What is wrong with the machine's clock, in words for the operator.
    pub(super) fn fault(&self) -> Option<String> {
        (self.ahead > ORDINARY).then(|| {
            format!(
                "the clock of this machine is {} s behind the journal: it was set back, or was ahead before; times \
                 go on from where they were. Set it right (timedatectl)",
                self.ahead / 1000
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_back_neither_turns_nor_stops_the_time() {
        let at = Timestamp::from_millis;
        let hour = 3_600_000;
        let mut pace = Pace::new(at(10 * hour));
        assert_eq!(pace.moment(at(10 * hour + 500)), at(10 * hour + 500));
        // A sighting noted a moment earlier by another thread.
        assert_eq!(pace.moment(at(10 * hour + 200)), at(10 * hour + 500));
        assert_eq!(pace.fault(), None);
        // Set back by an hour: time goes on all the same.
        assert_eq!(pace.moment(at(9 * hour + 600)), at(10 * hour + 500));
        assert!(pace.fault().is_some_and(|fault| fault.contains("timedatectl")));
        assert_eq!(pace.moment(at(9 * hour + 5600)), at(10 * hour + 5500));
        // Once more, and then right again.
        assert_eq!(pace.moment(at(8 * hour)), at(10 * hour + 5500));
        assert_eq!(pace.moment(at(8 * hour + 1000)), at(10 * hour + 6500));
        assert_eq!(pace.moment(at(10 * hour + 8000)), at(10 * hour + 8000));
        assert_eq!(pace.fault(), None);
    }
}
