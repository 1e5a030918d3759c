//! The one queue that all public output passes: nothing leaves it younger than the delay.
//!
//! Time comes in with the updates and with [`Delay::pop`], so the same updates leave in the same order
//! with the same content however often it is asked. Desk-only updates never enter.
//!
//! * A **longer** delay holds what still waits until it is that old. What was shown is shown: viewers
//!   then see nothing new until the gap has opened.
//! * A **shorter** delay lets go at once what is old enough now.
//! * **Times of day move along**: the moment of an update, of a clock reading and of a move are shifted
//!   by as much as it waited, so that a viewer who lets a clock run on from it shows the right time.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;

use crate::{
    hall::{Update, UpdateBody},
    record::Timestamp,
};

/// The longest delay, in seconds.
pub const LONGEST: u32 = 3600;

/// The delay queue.
#[derive(Clone, Debug, Default)]
pub struct Delay {
    /// In milliseconds.
    length: i64,
    /// Updates that are too young, oldest first.
    waiting: VecDeque<Update>,
    /// Updates that may leave.
    released: Vec<Update>,
    /// When the last one was released: order is kept.
    last: Timestamp,
}

impl Delay {
    /// A queue with this delay in seconds, at most [`LONGEST`]. A `Round` update changes it.
    #[must_use]
    pub fn new(seconds: u32) -> Self {
        Self { length: millis(seconds), ..Self::default() }
    }

    /// The present delay in seconds.
    #[must_use]
    pub fn seconds(&self) -> u32 {
        u32::try_from(self.length / 1000).unwrap_or(0)
    }

    /// How many updates wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the hall's updates in, in order.
    pub fn push(&mut self, updates: &[Update]) {
        for update in updates {
            // Whatever was due before this moment was due under the delay of that time.
            self.release(update.at);
            if let UpdateBody::Round(round) = &update.body
                && let Some(seconds) = round.get("delay_seconds").and_then(Value::as_u64)
            {
                self.length = millis(u32::try_from(seconds).unwrap_or(LONGEST));
                self.last = self.last.max(update.at);
            }
            if !update.desk_only() {
                self.waiting.push_back(update.clone());
            }
        }
    }

    /// What may leave by now, in order.
    pub fn pop(&mut self, now: Timestamp) -> Vec<Update> {
        self.release(now);
        std::mem::take(&mut self.released)
    }

    /// When there is something to pop, if nothing more comes in.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        match (self.released.first(), self.waiting.front()) {
            (Some(released), _) => Some(released.at),
            (None, Some(first)) => Some(self.due(first)),
            (None, None) => None,
        }
    }

    fn due(&self, update: &Update) -> Timestamp {
        self.last.max(update.at.plus(self.length))
    }

    fn release(&mut self, now: Timestamp) {
        while let Some(first) = self.waiting.front() {
            let due = self.due(first);
            if due > now {
                break;
            }
            self.last = due;
            if let Some(update) = self.waiting.pop_front() {
                self.released.push(shifted(update, due));
            }
        }
    }
}

fn millis(seconds: u32) -> i64 {
    i64::from(seconds.min(LONGEST)) * 1000
}

/// The update as it would be if it happened only now.
fn shifted(mut update: Update, now: Timestamp) -> Update {
    let by = now.since(update.at);
    // What did not have to wait stays shared.
    if by == 0 {
        return update;
    }
    update.at = now;
    match &mut update.body {
        UpdateBody::Clock(clock) => clock.at = clock.at.plus(by),
        UpdateBody::Ply { ply, .. } => {
            let ply = Arc::make_mut(ply);
            ply.made_at = ply.made_at.plus(by);
            ply.pressed_at = ply.pressed_at.map(|at| at.plus(by));
        }
        _ => {}
    }
    update
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hall::{ClockView, Seq, TableId};
    use crate::record::Seconds;
    use serde_json::json;

    fn clock(at: i64, left: u32) -> Update {
        let at = Timestamp::from_millis(at);
        let body = UpdateBody::Clock(ClockView { white: Some(Seconds(left)), at, ..ClockView::default() });
        Update { seq: Seq(0), at, table: Some(TableId(1)), body }
    }

    fn order(at: i64, seconds: u32) -> Update {
        let body = UpdateBody::Round(json!({"delay_seconds": seconds}));
        Update { seq: Seq(0), at: Timestamp::from_millis(at), table: None, body }
    }

    fn popped(delay: &mut Delay, now: i64) -> Vec<(i64, Option<u32>)> {
        let updates = delay.pop(Timestamp::from_millis(now));
        updates
            .into_iter()
            .map(|update| match update.body {
                UpdateBody::Clock(clock) => {
                    assert_eq!(clock.at, update.at, "the reading's time moves along");
                    (update.at.millis(), clock.white.map(|left| left.0))
                }
                _ => (update.at.millis(), None),
            })
            .collect()
    }

    #[test]
    fn nothing_leaves_before_its_time_and_all_leaves_at_it() {
        let mut delay = Delay::new(10);
        delay.push(&[clock(0, 1), clock(500, 2)]);
        assert_eq!(popped(&mut delay, 9_999), []);
        assert_eq!(delay.next_due(), Some(Timestamp::from_millis(10_000)));
        assert_eq!(popped(&mut delay, 10_499), [(10_000, Some(1))]);
        assert_eq!(popped(&mut delay, 99_999), [(10_500, Some(2))]);
        assert_eq!(delay.next_due(), None);
    }

    #[test]
    fn a_longer_delay_holds_what_was_not_yet_shown() {
        let mut delay = Delay::new(10);
        delay.push(&[clock(0, 1), clock(5_000, 2), order(12_000, 60), clock(13_000, 3)]);
        assert_eq!(popped(&mut delay, 64_999), [(10_000, Some(1))]);
        assert_eq!(popped(&mut delay, 72_999), [(65_000, Some(2)), (72_000, None)]);
        assert_eq!(popped(&mut delay, 73_000), [(73_000, Some(3))]);
    }

    #[test]
    fn a_shorter_delay_lets_go_at_the_order_and_not_before() {
        let mut delay = Delay::new(60);
        delay.push(&[clock(0, 1), clock(50_000, 2), order(55_000, 10), clock(56_000, 3)]);
        let expected = [(55_000, Some(1)), (60_000, Some(2)), (65_000, None), (66_000, Some(3))];
        let mut seldom = delay.clone();
        assert_eq!(popped(&mut seldom, 100_000), expected);
        let often: Vec<_> = (0..100_000).step_by(500).flat_map(|now| popped(&mut delay, now)).collect();
        assert_eq!(often, expected);
    }

    #[test]
    fn what_is_due_in_the_moment_of_an_order_leaves_whether_or_not_it_was_asked_for_before() {
        let mut delay = Delay::new(5);
        delay.push(&[clock(0, 1)]);
        let mut asked = delay.clone();
        assert_eq!(popped(&mut asked, 5_000), [(5_000, Some(1))]);
        for delay in [&mut delay, &mut asked] {
            delay.push(&[order(5_000, 60), clock(5_001, 2)]);
        }
        assert_eq!(popped(&mut delay, 60_000), [(5_000, Some(1))]);
        assert_eq!(popped(&mut asked, 60_000), []);
    }

    #[test]
    fn an_hour_is_the_most() {
        assert_eq!(Delay::new(9999).seconds(), LONGEST);
        let mut delay = Delay::new(0);
        delay.push(&[order(0, 1_000_000)]);
        assert_eq!(delay.seconds(), LONGEST);
    }
}
