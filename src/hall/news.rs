//! What is news: the filter before the journal (design, decision 9).
//!
//! A clock that runs says every second what anyone could work out. Such a reading is dropped, but
//! for one every 30 s; so is a dump that shows what is known. What is dropped here never becomes
//! an input, so the fold does not depend on it.

use crate::{
    record::Timestamp,
    wire::{ClockReading, ClockState, LinkEvent, Observation, Squares},
};

/// One reading of a running clock is kept at least this often, in milliseconds.
const KEEP_EVERY: i64 = 30_000;

/// How far a predicted reading may be off, in seconds: clock data are up to 1 s late.
const TOLERANCE: i64 = 1;

/// What was last kept of one board.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    clock: Option<(Timestamp, ClockState)>,
    squares: Option<Squares>,
}

impl News {
    /// The last clock state that was kept.
    pub(super) fn clock(&self) -> Option<ClockState> {
        self.clock.map(|(_, state)| state)
    }

    /// Whether this observation tells anything new.
    pub(super) fn is_news(&self, at: Timestamp, observation: &Observation) -> bool {
        match (observation, self.clock) {
            (Observation::Clock(state), Some((kept, last))) => clock_is_news(at.since(kept), last, *state),
            (Observation::Dump(squares), _) => self.squares != Some(*squares),
            _ => true,
        }
    }

    /// Notes an observation that was kept.
    pub(super) fn note(&mut self, at: Timestamp, observation: &Observation) {
        match observation {
            Observation::Clock(ClockState::Garbage) => {}
            Observation::Clock(state) => self.clock = Some((at, *state)),
            Observation::Dump(squares) => self.squares = Some(*squares),
            Observation::Square(square, content) => {
                if let Some(squares) = &mut self.squares {
                    squares.set(*square, *content);
                }
            }
            // After a break everything is news again.
            Observation::Link(LinkEvent::Up(_) | LinkEvent::Down(_)) => *self = Self::default(),
            _ => {}
        }
    }
}

fn clock_is_news(elapsed: i64, last: ClockState, now: ClockState) -> bool {
    let (ClockState::Reading(last), ClockState::Reading(now)) = (last, now) else { return last != now };
    if elapsed >= KEEP_EVERY && last.running {
        return true;
    }
    let shape = |reading: &ClockReading| {
        (reading.running, reading.left_to_move, reading.battery_low, reading.left.flag, reading.right.flag)
    };
    if shape(&last) != shape(&now) {
        return true;
    }
    let (ran, stood) = if now.left_to_move {
        ((last.left.seconds, now.left.seconds), (last.right.seconds, now.right.seconds))
    } else {
        ((last.right.seconds, now.right.seconds), (last.left.seconds, now.left.seconds))
    };
    if stood.0 != stood.1 {
        return true;
    }
    if !now.running {
        return ran.0 != ran.1;
    }
    let predicted = i64::from(ran.0) - elapsed / 1000;
    // Zero is always news: it may be a fallen flag or the credit of the next period.
    ran.1 == 0 || (i64::from(ran.1) - predicted).abs() > TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ClockSide;

    fn reading(left: u32, right: u32, running: bool, left_to_move: bool) -> Observation {
        let side = |seconds| ClockSide { seconds, ..ClockSide::default() };
        Observation::Clock(ClockState::Reading(ClockReading {
            left: side(left),
            right: side(right),
            running,
            left_to_move,
            battery_low: false,
        }))
    }

    #[test]
    fn a_running_clock_is_kept_every_half_minute_and_at_every_surprise() {
        let mut news = News::default();
        let start = Timestamp::from_millis(0);
        assert!(news.is_news(start, &reading(300, 300, true, true)));
        news.note(start, &reading(300, 300, true, true));
        for second in 1..30_u32 {
            assert!(
                !news.is_news(start.plus(i64::from(second) * 1000), &reading(300 - second, 300, true, true))
            );
        }
        assert!(news.is_news(start.plus(30_000), &reading(270, 300, true, true)), "one every 30 s");
        assert!(news.is_news(start.plus(5000), &reading(295, 300, true, false)), "a press");
        assert!(news.is_news(start.plus(5000), &reading(295, 300, false, true)), "a pause");
        assert!(news.is_news(start.plus(5000), &reading(300, 300, true, true)), "it froze");
        assert!(news.is_news(start.plus(5000), &reading(295, 301, true, true)), "the other side changed");
        assert!(news.is_news(start.plus(1000), &reading(0, 300, true, true)), "zero");
    }

    #[test]
    fn a_dump_that_shows_what_is_known_is_no_news() {
        let mut news = News::default();
        let at = Timestamp::from_millis(0);
        let dump = Observation::Dump(Squares::from_board(&shakmaty::Board::new(), false));
        assert!(news.is_news(at, &dump));
        news.note(at, &dump);
        assert!(!news.is_news(at, &dump));
        news.note(at, &Observation::Link(LinkEvent::Down("pulled".to_owned())));
        assert!(news.is_news(at, &dump), "after a break the first dump counts");
    }
}
