//! The referee of one game.

use std::sync::Arc;

use serde_json::Value;
use shakmaty::{ByColor, Color};

use super::{Alert, AlertId, Entry, GameOptions, Profile};
use crate::{
    record::{Game, GameResult, ResultReason, ResultState, Seconds, Timestamp},
    track::Finding,
    wire::{BatteryReading, LinkEvent},
};

/// A clock reading with its sides given to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ClockTimes {
    /// Time left, where known.
    pub left: ByColor<Option<Seconds>>,
    /// Whose flag shows.
    pub flag: ByColor<bool>,
    /// Whose clock runs; `None` while it is stopped.
    pub running: Option<Color>,
}

/// What the referee says.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// A new alert, or an earlier one (same id) that changed.
    Alert(Box<Alert>),
    /// The result the arbiter may want to confirm, or that the Laws themselves fixed.
    Result {
        /// Which.
        result: GameResult,
        /// Why.
        reason: ResultReason,
        /// Proposed or final.
        state: ResultState,
    },
    /// There is no result any more (a proposal fell, the game was reopened).
    NoResult,
    /// The clock stands the wrong way round: its sides are to be exchanged from now on, and in
    /// what was already recorded.
    ExchangeClockSides,
    /// The answer to a claim or another entry, for the desk: `{"valid":…,"occurrences":[…],…}`.
    Answer(Value),
    /// This question needs a long search; the answer comes back as an input.
    AskMate {
        /// The position.
        fen: String,
        /// Who would have to mate.
        side: Color,
    },
}

/// Watches one game under one profile.
#[derive(Clone, Debug)]
pub struct Referee {
    profile: Arc<Profile>,
    options: GameOptions,
    last_alert: u32,
}

impl Referee {
    /// A referee for one game.
    #[must_use]
    pub fn new(profile: Arc<Profile>, options: GameOptions) -> Self {
        Self { profile, options, last_alert: 0 }
    }

    /// The profile it holds the game to.
    #[must_use]
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// The game's options.
    #[must_use]
    pub fn options(&self) -> &GameOptions {
        &self.options
    }

    /// Something the tracker found; `game` is the record after it was applied.
    pub fn found(&mut self, at: Timestamp, finding: &Finding, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, finding, game, out);
    }

    /// A clock reading, or `None` when there is no clock or it was lost. A change of the running
    /// side from one colour to the other is a press.
    pub fn clock(&mut self, at: Timestamp, times: Option<ClockTimes>, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, times, game, out);
    }

    /// The clock sent times that cannot be true.
    pub fn clock_garbage(&mut self, at: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, game, out);
    }

    /// Something happened to the board's line.
    pub fn link(&mut self, at: Timestamp, event: &LinkEvent, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, event, game, out);
    }

    /// An arbiter's entry.
    pub fn entered(&mut self, at: Timestamp, by: &str, entry: &Entry, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, by, entry, game, out);
    }

    /// The board's battery.
    pub fn battery(&mut self, at: Timestamp, reading: BatteryReading, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, reading, game, out);
    }

    /// The daemon was started again on its journal: raises `restarted`.
    pub fn restarted(&mut self, at: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (at, game, out);
    }

    /// The answer to [`Ruling::AskMate`]: `verdict` is `{"can_mate":"yes"|"no"|"unknown","line":[…],"reason":…}`.
    pub fn mate_answer(
        &mut self,
        at: Timestamp,
        fen: &str,
        side: Color,
        verdict: &Value,
        game: &Game,
        out: &mut Vec<Ruling>,
    ) {
        let _ = (at, fen, side, verdict, game, out);
    }

    /// What is kept per player for the desk: moves made, completed and due, illegal moves,
    /// touch obligations, claim rights, draw offers, duty to record.
    #[must_use]
    pub fn counts(&self) -> Value {
        Value::Null
    }

    /// Serves every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let _ = (now, game, out);
    }

    /// The next moment at which something will be said without new evidence.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        None
    }

    /// The number of the alert raised last.
    #[must_use]
    pub fn last_alert(&self) -> AlertId {
        AlertId(self.last_alert)
    }
}
