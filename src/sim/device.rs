//! A board with its clock in virtual time: hands act on it, it notices, in its own time.
//!
//! What comes out is what the board's own processor knows: squares that changed and clock readings
//! that differ from the last. How that is put into bytes belongs to the makes (`sim::firmware`
//! and its like); a decoding bench takes it as it is (`sim::play_virtual`).

use std::collections::VecDeque;

use shakmaty::Color;

use super::{Action, ChessClock, Control, Sensor, TimedAction};
use crate::wire::{BoardSquare, ClockReading, Content, Squares};

/// How a board stands and what hangs on it.
#[derive(Clone, Debug)]
pub struct DeviceSetup {
    /// White sits at the connector's right hand: the board is turned by 180 degrees.
    pub rotated: bool,
    /// What the clock is set to; `None` = no clock.
    pub clock: Option<Control>,
    /// The clock's left side faces the other player than usual.
    pub clock_turned: bool,
    /// Scans at half the rate (Bluetooth boards).
    pub half_rate: bool,
    /// What stands on it at power-up.
    pub board: shakmaty::Board,
    /// Scan time, phases and clock lag come from it.
    pub seed: u64,
}

impl Default for DeviceSetup {
    fn default() -> Self {
        Self {
            rotated: false,
            clock: Some(Control::default()),
            clock_turned: false,
            half_rate: false,
            board: shakmaty::Board::default(),
            seed: 0,
        }
    }
}

/// Something the board noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// A square reads something else.
    Square(BoardSquare, Content),
    /// The clock shows something else. `lever` when the lever moved; then the time of the side
    /// just halted goes into the log.
    Clock(ClockReading, bool),
}

/// The board.
#[derive(Clone, Debug)]
pub struct Device {
    rotated: bool,
    clock_turned: bool,
    sensor: Sensor,
    clock: Option<ChessClock>,
    /// The last reading sent on by the clock, and the last the board has got.
    sent: Option<ClockReading>,
    known: Option<ClockReading>,
    on_the_way: VecDeque<(u64, ClockReading)>,
    /// The clock's usual delay, in milliseconds.
    lag_ms: u64,
    acts: VecDeque<TimedAction>,
    presses: Vec<(u64, Color)>,
    rng: fastrand::Rng,
}

impl Device {
    /// Powered up and waiting.
    #[must_use]
    pub fn new(setup: &DeviceSetup) -> Self {
        let mut rng = fastrand::Rng::with_seed(setup.seed);
        let squares = Squares::from_board(&setup.board, setup.rotated);
        let mut device = Self {
            rotated: setup.rotated,
            clock_turned: setup.clock_turned,
            sensor: Sensor::new(squares, &mut rng, setup.half_rate),
            clock: setup.clock.clone().map(ChessClock::new),
            sent: None,
            known: None,
            on_the_way: VecDeque::new(),
            lag_ms: rng.u64(40..=600),
            acts: VecDeque::new(),
            presses: Vec::new(),
            rng,
        };
        device.sent = device.read_clock(0);
        device.known = device.sent;
        device
    }

    /// Hands do something at this moment; moments must not fall.
    pub fn act(&mut self, at: u64, action: Action) {
        self.acts.push_back((at, action));
    }

    /// What the board has noticed of its squares.
    #[must_use]
    pub fn squares(&self) -> &Squares {
        self.sensor.noticed()
    }

    /// The clock reading the board has; `None` = no clock.
    #[must_use]
    pub fn clock(&self) -> Option<ClockReading> {
        self.known
    }

    /// A program sets the clock: seconds of its left and right side, and which of them runs
    /// (bit 0 left, bit 1 right, bit 2 pause).
    pub fn set_clock(&mut self, at: u64, left: u32, right: u32, flags: u8) {
        let left_color = if self.white_left() { Color::White } else { Color::Black };
        let (white, black) = if self.white_left() { (left, right) } else { (right, left) };
        let runs = match flags & 0b111 {
            0b001 => Some(left_color),
            0b010 => Some(!left_color),
            _ => None,
        };
        if let Some(clock) = &mut self.clock {
            clock.set_times(at, white, black, runs);
        }
        self.clock_changed(at);
    }

    /// The clock adds time with every move, and says so in each reading.
    #[must_use]
    pub fn counts_per_move(&self) -> bool {
        self.clock.as_ref().is_some_and(ChessClock::adds_per_move)
    }

    /// White sits at the left side of the clock.
    #[must_use]
    pub fn white_left(&self) -> bool {
        self.rotated == self.clock_turned
    }

    /// Presses that moved the lever, with their true moments; taken out.
    pub fn take_presses(&mut self) -> Vec<(u64, Color)> {
        std::mem::take(&mut self.presses)
    }

    /// Acts not done yet.
    #[must_use]
    pub fn acts_left(&self) -> usize {
        self.acts.len()
    }

    /// When something may next be noticed.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        let act = self.acts.front().map(|(at, _)| *at);
        let tick = self.clock.as_ref().and_then(ChessClock::next_tick);
        let clock = self.on_the_way.front().map(|(at, _)| *at);
        [act, self.sensor.next_due(), tick, clock].into_iter().flatten().min()
    }

    /// The next thing noticed up to and including this moment.
    pub fn step(&mut self, until: u64) -> Option<(u64, Noticed)> {
        loop {
            let due = self.next_due().filter(|due| *due <= until)?;
            if self.on_the_way.front().is_some_and(|(at, _)| *at == due) {
                if let Some((at, reading)) = self.on_the_way.pop_front() {
                    let lever = self.known.is_some_and(|known| known.left_to_move != reading.left_to_move);
                    self.known = Some(reading);
                    return Some((at, Noticed::Clock(reading, lever)));
                }
            } else if self.sensor.next_due() == Some(due) {
                if let Some((at, square, content)) = self.sensor.sample() {
                    return Some((at, Noticed::Square(square, content)));
                }
            } else if self.acts.front().is_some_and(|(at, _)| *at == due) {
                if let Some((at, action)) = self.acts.pop_front() {
                    self.perform(at, &action);
                }
            } else {
                self.clock_changed(due);
            }
        }
    }

    fn perform(&mut self, at: u64, action: &Action) {
        match action {
            Action::Lift(square) => {
                self.sensor.change(at, BoardSquare::from_chess(*square, self.rotated), Content::Empty);
            }
            Action::Put(square, piece) => {
                let square = BoardSquare::from_chess(*square, self.rotated);
                self.sensor.change(at, square, Content::Piece(*piece));
            }
            Action::Disturb(square, content) => {
                self.sensor.disturb(at, BoardSquare::from_chess(*square, self.rotated), *content);
            }
            Action::Press(_) | Action::Start | Action::Stop | Action::SetClock(_) | Action::AddTime(..) => {
                let Some(clock) = &mut self.clock else { return };
                match action {
                    Action::Press(side) => {
                        if clock.press(at, *side) {
                            self.presses.push((at, *side));
                        }
                    }
                    Action::Start => clock.run(at, true),
                    Action::Stop => clock.run(at, false),
                    Action::SetClock(control) => clock.set(at, control.clone()),
                    Action::AddTime(side, millis) => clock.add(at, *side, *millis),
                    Action::Lift(_) | Action::Put(..) | Action::Disturb(..) => {}
                }
                self.clock_changed(at);
            }
        }
    }

    /// The clock may show something new: it tells the board, up to a second late.
    fn clock_changed(&mut self, at: u64) {
        let reading = self.read_clock(at);
        if let Some(reading) = reading
            && self.sent != Some(reading)
        {
            self.sent = Some(reading);
            let lag = self.lag_ms + self.rng.u64(0..=350);
            // The clock's messages do not overtake each other.
            let arrives = self.on_the_way.back().map_or(0, |(at, _)| *at).max(at + lag);
            self.on_the_way.push_back((arrives, reading));
        }
    }

    fn read_clock(&mut self, at: u64) -> Option<ClockReading> {
        let white_left = self.white_left();
        self.clock.as_mut().map(|clock| clock.reading(at, white_left))
    }
}
