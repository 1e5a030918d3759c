//! The fast path: games played by hands on a board, straight to observations, with no bytes and in
//! no time at all. For decoding benches and tests.
//!
//! What the driver of a single board does (`link::single`) is done here, too, with its own times: a
//! first dump and clock reading when the board comes up; a dump after each press it hears of, when
//! a change has been followed by none for a while, on a timer, and when the tracker asks
//! ([`VirtualBoard::ask_dump`]); a dump that contradicts what was told is asked once more before it
//! is believed, and one that says nothing new is not told. At the rough level one field update in a
//! hundred does not arrive; dumps do.

use std::collections::VecDeque;

use super::{Control, Device, DeviceSetup, HandOptions, Level, Noticed, Pace, Script, SimGame, hand};
use crate::wire::{BoardSquare, ClockReading, ClockState, Content, Observation, Squares};

/// A dump is asked so long after the last change of a square (`link::config`'s `settle`).
const SETTLE_MS: u64 = 600;
/// A command on its way, and the driver's own turn.
const COMMAND_MS: u64 = 15;
/// 67 bytes at 9600 baud, and a little.
const DUMP_MS: u64 = 72;
/// 5 bytes.
const FIELD_MS: u64 = 6;
/// 10 bytes.
const CLOCK_MS: u64 = 10;
/// Dumps that contradict each other are asked again so often.
const DOUBTS: u32 = 4;

/// What to play and how the board is read.
#[derive(Clone, Debug)]
pub struct VirtualOptions {
    /// Hands.
    pub hand: HandOptions,
    /// White sits at the connector's right hand.
    pub rotated: bool,
    /// A clock is connected.
    pub clock: bool,
    /// The clock faces the wrong way.
    pub clock_turned: bool,
    /// A dump at least this often, in milliseconds.
    pub dump_every_ms: u64,
    /// Clock readings that only say that a second passed are left out, but for one every 30 s.
    pub clock_news_only: bool,
}

impl VirtualOptions {
    /// This level on an ordinary board with a clock.
    #[must_use]
    pub fn new(level: Level, seed: u64) -> Self {
        Self {
            hand: HandOptions::new(level, seed),
            rotated: false,
            clock: true,
            clock_turned: false,
            dump_every_ms: 10_000,
            clock_news_only: true,
        }
    }
}

/// One game on an ordinary board: what a driver reports, with its milliseconds.
///
/// The game's own time control is used only by [`play_all`] with [`Pace::Clocks`]; here nobody
/// loses on time.
#[must_use]
pub fn play_virtual(game: &SimGame, level: Level, seed: u64) -> Vec<(i64, Observation)> {
    play_all(std::slice::from_ref(game), &VirtualOptions::new(level, seed)).0
}

/// Games one after the other on one board: what a driver reports, and the truth about it.
#[must_use]
pub fn play_all(games: &[SimGame], options: &VirtualOptions) -> (Vec<(i64, Observation)>, Script) {
    let script = script_of(games, options);
    let observations = observe(&script, options);
    (observations, script)
}

/// What the hands do, and the truth about it.
#[must_use]
pub fn script_of(games: &[SimGame], options: &VirtualOptions) -> Script {
    if matches!(options.hand.pace, Pace::Clocks(_)) {
        return hand::script(games, &options.hand);
    }
    let slow: Vec<SimGame> =
        games.iter().map(|game| SimGame { control: Control::default(), ..game.clone() }).collect();
    hand::script(&slow, &options.hand)
}

/// What a driver reports of a script played on a board, when nobody asks it for anything.
#[must_use]
pub fn observe(script: &Script, options: &VirtualOptions) -> Vec<(i64, Observation)> {
    let mut board = VirtualBoard::new(script, options);
    let mut out = Vec::new();
    while let Some(observation) = board.next(i64::MAX) {
        out.push(observation);
    }
    out
}

/// A message of the board.
#[derive(Clone, Copy, Debug)]
enum OnLine {
    Field(BoardSquare, Content),
    /// `true`: the lever moved.
    Clock(ClockReading, bool),
    Dump(Squares),
}

/// A board with its driver in virtual time.
#[derive(Clone, Debug)]
pub struct VirtualBoard {
    device: Device,
    rng: fastrand::Rng,
    lost_permille: u32,
    dump_every_ms: u64,
    clock_news_only: bool,
    /// The last moment that is played.
    until: u64,
    over: bool,
    /// What the driver tells next.
    ready: VecDeque<(i64, Observation)>,
    /// What is on the line, in order, with the moment it arrives.
    line: VecDeque<(u64, OnLine)>,
    /// The line is busy until then.
    line_free: u64,
    /// What the driver has told of the squares.
    told: Squares,
    doubted: Option<Squares>,
    doubts: u32,
    /// When it asks for a dump.
    dump_at: u64,
    /// A dump was asked for and has not come yet.
    asked: bool,
    /// The next dump is told even if it says nothing new.
    dump_wanted: bool,
    last_clock: Option<(u64, ClockReading)>,
}

impl VirtualBoard {
    /// A board that has just come up.
    #[must_use]
    pub fn new(script: &Script, options: &VirtualOptions) -> Self {
        let mut device = Device::new(&DeviceSetup {
            rotated: options.rotated,
            clock: options.clock.then(Control::default),
            clock_turned: options.clock_turned,
            half_rate: false,
            board: script.board.clone(),
            seed: options.hand.seed,
        });
        for (at, action) in &script.actions {
            device.act(*at, action.clone());
        }
        let clock = device.clock().map_or(ClockState::Absent, ClockState::Reading);
        let told = *device.squares();
        Self {
            device,
            rng: fastrand::Rng::with_seed(options.hand.seed ^ 0x5e45),
            lost_permille: options.hand.level.lost_permille(),
            dump_every_ms: options.dump_every_ms,
            clock_news_only: options.clock_news_only,
            until: script.end_ms + 5_000,
            over: false,
            ready: VecDeque::from([(0, Observation::Dump(told)), (1, Observation::Clock(clock))]),
            line: VecDeque::new(),
            line_free: 0,
            told,
            doubted: None,
            doubts: 0,
            dump_at: options.dump_every_ms,
            asked: false,
            dump_wanted: false,
            last_clock: None,
        }
    }

    /// The tracker wants to see the whole board.
    pub fn ask_dump(&mut self, at: i64) {
        self.dump_wanted = true;
        self.dump_at = self.dump_at.min(at.max(0) as u64 + COMMAND_MS);
    }

    /// The next thing the driver tells, up to and including this moment.
    pub fn next(&mut self, until: i64) -> Option<(i64, Observation)> {
        loop {
            if let Some((at, _)) = self.ready.front() {
                return if *at <= until { self.ready.pop_front() } else { None };
            }
            if self.over || !self.step(until.max(0) as u64) {
                return None;
            }
        }
    }

    /// Goes on by one thing noticed, arrived or asked. `false`: nothing more happens until then.
    fn step(&mut self, until: u64) -> bool {
        let arrives = self.line.front().map_or(u64::MAX, |(at, _)| *at);
        let asks = if self.asked { u64::MAX } else { self.dump_at };
        let limit = until.min(self.until);
        if let Some((at, noticed)) = self.device.step(limit.min(arrives).min(asks)) {
            self.noticed(at, noticed);
        } else if arrives <= limit.min(asks) {
            if let Some((at, message)) = self.line.pop_front() {
                self.arrived(at, message);
            }
        } else if asks <= limit {
            self.asked = true;
            // It tells the board as of its sending; what is noticed meanwhile comes behind.
            let squares = *self.device.squares();
            self.send(asks, DUMP_MS, OnLine::Dump(squares));
        } else if self.until <= until {
            self.over = true;
            self.ready.push_back((self.until as i64, Observation::Dump(*self.device.squares())));
        } else {
            return false;
        }
        true
    }

    /// The board sends a message, behind what is on the line already.
    fn send(&mut self, at: u64, takes: u64, message: OnLine) {
        self.line_free = self.line_free.max(at) + takes;
        self.line.push_back((self.line_free, message));
    }

    fn noticed(&mut self, at: u64, noticed: Noticed) {
        match noticed {
            Noticed::Square(square, content) => {
                if self.rng.u32(0..1000) >= self.lost_permille {
                    self.send(at, FIELD_MS, OnLine::Field(square, content));
                }
            }
            Noticed::Clock(reading, lever) => {
                let news = !self.clock_news_only
                    || self.last_clock.is_none_or(|(then, last)| {
                        lever
                            || at - then >= 30_000
                            || last.running != reading.running
                            || last.left.flag != reading.left.flag
                            || last.right.flag != reading.right.flag
                            || jumped(&last, &reading, at - then)
                    });
                if news {
                    self.last_clock = Some((at, reading));
                    self.send(at, CLOCK_MS, OnLine::Clock(reading, lever));
                }
            }
        }
    }

    fn arrived(&mut self, at: u64, message: OnLine) {
        match message {
            OnLine::Field(square, content) => {
                for squares in [Some(&mut self.told), self.doubted.as_mut()].into_iter().flatten() {
                    squares.set(square, content);
                }
                self.tell(at, Observation::Square(square, content));
                if !self.asked {
                    self.dump_at = at + SETTLE_MS;
                }
            }
            OnLine::Clock(reading, lever) => {
                self.tell(at, Observation::Clock(ClockState::Reading(reading)));
                if lever {
                    self.dump_at = self.dump_at.min(at + COMMAND_MS);
                }
            }
            OnLine::Dump(squares) => self.dumped(at, squares),
        }
    }

    /// A dump has come: `link::single` believes it when it is what it expects, or comes twice.
    fn dumped(&mut self, at: u64, squares: Squares) {
        self.asked = false;
        self.dump_at = at + self.dump_every_ms;
        let agreed = self.told == squares || self.doubted == Some(squares);
        if !agreed && self.doubts < DOUBTS {
            self.doubted = Some(squares);
            self.doubts += 1;
            self.dump_at = at + COMMAND_MS;
            return;
        }
        self.doubted = None;
        self.doubts = 0;
        if self.told != squares || self.dump_wanted {
            self.tell(at, Observation::Dump(squares));
        }
        self.told = squares;
        self.dump_wanted = false;
    }

    fn tell(&mut self, at: u64, observation: Observation) {
        self.ready.push_back((at as i64, observation));
    }
}

/// The times are not what a running clock makes of the last ones.
fn jumped(last: &ClockReading, now: &ClockReading, passed_ms: u64) -> bool {
    let passed = if last.running { passed_ms as f64 / 1000.0 } else { 0.0 };
    let expected = |side: u32, runs: bool| f64::from(side) - if runs { passed } else { 0.0 };
    (expected(last.left.seconds, last.left_to_move) - f64::from(now.left.seconds)).abs() > 2.5
        || (expected(last.right.seconds, !last.left_to_move) - f64::from(now.right.seconds)).abs() > 2.5
}
