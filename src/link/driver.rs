//! What every driver is: a state machine that is told bytes and the time, and answers with bytes
//! to send and observations. It opens nothing and waits for nothing, so it can be tested without
//! either.

use std::{sync::Arc, time::Duration};

use crate::{
    record::Timestamp,
    wire::{BatteryReading, BoardIdentity, ClockState, LinkEvent, Observation, dgt::Dropped},
};

use super::{
    health::{BoardHealth, LineHealth, LineState},
    registry::Registry,
};

/// The driver's way out, for one step.
pub(super) struct Io<'a> {
    /// Time that only grows, for deadlines.
    pub(super) now: Duration,
    /// The time of day, for stamps.
    pub(super) at: Timestamp,
    /// Bytes to send.
    pub(super) send: Vec<u8>,
    /// What was learnt, with the board's serial number where it is known.
    pub(super) tell: Vec<(Option<Arc<str>>, Observation)>,
    /// The line's counters.
    pub(super) health: &'a mut LineHealth,
    /// Who holds which serial number.
    pub(super) registry: &'a Registry,
}

impl Io<'_> {
    pub(super) fn tell(&mut self, serial: Option<&Arc<str>>, observation: Observation) {
        if let Some(board) = serial.and_then(|serial| self.health.boards.get_mut(serial)) {
            match &observation {
                Observation::Square(square, _) => board.count_change(*square),
                Observation::Battery(reading) => board.set_battery(*reading, self.at),
                Observation::Clock(ClockState::Absent) => board.clock = Some(false),
                Observation::Clock(ClockState::Reading(_)) => board.clock = Some(true),
                _ => {}
            }
        }
        self.tell.push((serial.cloned(), observation));
    }

    /// Counts dropped bytes, and tells of them if a board is there to be blamed.
    pub(super) fn dropped(&mut self, serial: Option<&Arc<str>>, dropped: Dropped) {
        self.health.bytes_dropped += u64::from(dropped.bytes());
        match dropped {
            Dropped::Garbage(_) => {}
            Dropped::Cut(_) => self.health.resyncs += 1,
            Dropped::Checksum(_) => {
                self.health.checksum_failures += 1;
                if let Some(board) = serial.and_then(|serial| self.health.boards.get_mut(serial)) {
                    board.checksum_failures += 1;
                }
            }
        }
        if serial.is_some() {
            self.tell.push((serial.cloned(), Observation::Link(dropped.to_link_event())));
        }
    }

    pub(super) fn heard(&mut self, serial: &Arc<str>) {
        if let Some(board) = self.health.boards.get_mut(serial) {
            board.last_heard = self.at;
        }
    }

    /// The board is there: books it and tells.
    pub(super) fn up(&mut self, serial: &Arc<str>, identity: BoardIdentity) {
        match self.health.boards.get_mut(serial) {
            Some(board) => {
                board.identity = identity.clone();
                board.up = true;
                board.last_heard = self.at;
            }
            None => {
                self.health.boards.insert(Arc::clone(serial), BoardHealth::new(identity.clone(), self.at));
            }
        }
        self.health.trouble = None;
        if self.health.state != LineState::Up {
            self.health.state = LineState::Up;
            self.health.since = self.at;
        }
        self.tell.push((Some(Arc::clone(serial)), Observation::Link(LinkEvent::Up(identity))));
    }

    /// A battery reading, if it says something new.
    pub(super) fn battery(&mut self, serial: &Arc<str>, reading: BatteryReading) {
        let known = self.health.boards.get(serial).and_then(|board| board.battery);
        if known != Some(reading) {
            self.tell(Some(serial), Observation::Battery(reading));
        }
    }

    pub(super) fn identity(&self, serial: &str, model: &str, firmware: Option<(u8, u8)>) -> BoardIdentity {
        BoardIdentity {
            serial: serial.to_owned(),
            model: model.to_owned(),
            firmware,
            port: self.health.port.clone(),
        }
    }
}

/// Something asked of a board from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// The whole board, told even if it brings nothing new.
    Dump,
    /// What the board remembers.
    Log,
    /// A new game was set up (chains: write the start tag).
    StartGame,
}

/// One make's way of speaking to what is on a line.
pub(super) trait Driver {
    /// The port was just opened.
    fn opened(&mut self, io: &mut Io<'_>);

    /// Bytes came.
    ///
    /// # Errors
    /// The line has to be closed; why, for the operator.
    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String>;

    /// Time went by; called often.
    ///
    /// # Errors
    /// The line has to be closed; why, for the operator.
    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String>;

    /// Something is asked of a board of this line (`None`: of all).
    fn ask(&mut self, serial: Option<&str>, ask: Ask, io: &mut Io<'_>);

    /// The serial numbers of the boards that are up.
    fn boards(&self) -> Vec<Arc<str>>;

    /// How soon `tick` should be called again when nothing comes.
    fn patience(&self) -> Duration {
        Duration::from_millis(100)
    }
}
