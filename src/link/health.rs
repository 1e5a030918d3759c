//! What operators and metrics learn of each line and board: counters, ages, battery, squares.

use std::{collections::BTreeMap, sync::Arc};

use parking::Shared;

use crate::{
    record::Timestamp,
    wire::{BatteryReading, BoardIdentity, BoardSquare},
};

/// The state of a line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum LineState {
    /// Opened, nobody has said who he is.
    #[default]
    Probing,
    /// A board (on a chain: at least one) answers.
    Up,
    /// Nothing answers, or the port cannot be opened; why, and what to do.
    Down(String),
}

/// One line.
#[derive(Clone, Debug, Default)]
pub struct LineHealth {
    /// The port's path.
    pub port: String,
    /// Its state.
    pub state: LineState,
    /// Since when.
    pub since: Timestamp,
    /// Why it was down last, kept while it is tried again; `None` once a board answers.
    pub trouble: Option<String>,
    /// What the line turned out to be, such as `DGT, single board`.
    pub kind: String,
    /// Settings that the port did not take, in words; empty when all is as asked.
    pub settings: String,
    /// When the last byte came.
    pub last_byte: Option<Timestamp>,
    /// Bytes read since the start.
    pub bytes: u64,
    /// Whole messages read.
    pub messages: u64,
    /// Bytes that belonged to no message.
    pub bytes_dropped: u64,
    /// Messages cut short.
    pub resyncs: u64,
    /// Frames with a wrong checksum.
    pub checksum_failures: u64,
    /// How often the port was opened again.
    pub reopenings: u64,
    /// Boards heard on the line, by serial number.
    pub boards: BTreeMap<Arc<str>, BoardHealth>,
}

/// One board.
#[derive(Clone, Debug)]
pub struct BoardHealth {
    /// Who it is.
    pub identity: BoardIdentity,
    /// It answers.
    pub up: bool,
    /// When it was last heard.
    pub last_heard: Timestamp,
    /// The last battery reading.
    pub battery: Option<BatteryReading>,
    /// The first reading of this discharge, for the forecast.
    battery_from: Option<(Timestamp, u8)>,
    /// When the last reading was taken.
    battery_at: Timestamp,
    /// A clock is connected, as far as is known.
    pub clock: Option<bool>,
    /// Replies with wrong checksums (chains).
    pub checksum_failures: u64,
    /// How often each square changed, in the board's own numbering: a square that changes far more
    /// often than its neighbours has a broken track.
    pub square_changes: [u32; 64],
    /// Changes that a dump had to put right, by square: updates were lost there.
    pub square_healed: [u32; 64],
}

impl BoardHealth {
    pub(super) fn new(identity: BoardIdentity, at: Timestamp) -> Self {
        Self {
            identity,
            up: true,
            last_heard: at,
            battery: None,
            battery_from: None,
            battery_at: at,
            clock: None,
            checksum_failures: 0,
            square_changes: [0; 64],
            square_healed: [0; 64],
        }
    }

    pub(super) fn count_change(&mut self, square: BoardSquare) {
        let count = &mut self.square_changes[square.index()];
        *count = count.saturating_add(1);
    }

    pub(super) fn set_battery(&mut self, reading: BatteryReading, at: Timestamp) {
        let rising = self.battery.is_some_and(|before| reading.percent > before.percent);
        if reading.charging || rising || self.battery_from.is_none() {
            self.battery_from = Some((at, reading.percent));
        }
        self.battery = Some(reading);
        self.battery_at = at;
    }

    /// Squares whose sensors misbehave: updates were lost there again and again, or they change far
    /// more often than is played on any square.
    pub fn suspect_squares(&self) -> impl Iterator<Item = BoardSquare> {
        let mut sorted = self.square_changes;
        sorted.sort_unstable();
        // Eight times what the busiest quarter of the board sees.
        let many = sorted[48].saturating_mul(8).max(40);
        BoardSquare::all().filter(move |square| {
            self.square_healed[square.index()] >= 3 || self.square_changes[square.index()] >= many
        })
    }

    /// Minutes until the battery is empty: what the board says, or else as it went down so far
    /// (once it has lost three percent). `None` while charging or unknown.
    #[must_use]
    pub fn battery_minutes_left(&self) -> Option<u32> {
        let battery = self.battery?;
        if battery.charging {
            return None;
        }
        if let Some(minutes) = battery.minutes_left {
            return Some(u32::from(minutes));
        }
        let (since, percent) = self.battery_from?;
        let lost = u32::from(percent.checked_sub(battery.percent)?);
        let minutes = u32::try_from(self.battery_at.since(since) / 60_000).ok()?;
        (lost >= 3).then(|| u32::from(battery.percent) * minutes / lost)
    }
}

/// All lines, shared between the drivers and whoever reports on them.
pub(super) type HealthTable = Shared<BTreeMap<String, Shared<LineHealth>>>;

pub(super) mod parking {
    //! A mutex whose poison is not passed on: counters stay readable whatever happened.

    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    #[derive(Debug, Default)]
    pub(in crate::link) struct Shared<T>(Arc<Mutex<T>>);

    impl<T> Clone for Shared<T> {
        fn clone(&self) -> Self {
            Self(Arc::clone(&self.0))
        }
    }

    impl<T> Shared<T> {
        pub(in crate::link) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
