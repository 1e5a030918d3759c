//! The referee of one game: what it is told, and what it keeps.
//!
//! The rules themselves stand beside: endings by moves in `ends`, by words in `result`, claims in `claim`, presses in
//! `press`, hands in `hands`, flags in `flag`, the tally in `offence`, the mate question in `gate`, the clock in `clock`,
//! `setting` and `watch`, entries in `enter`, the board and its line in `board`; the turn being played in `turn`, what is due
//! later in `timers`, what the desk is told of the game in `counts`.

use std::sync::Arc;

use serde_json::Value;
use shakmaty::{ByColor, Color, Piece, Square};

use super::{
    Alert, AlertId, AlertState, Certainty, Code, Entry, GameOptions, Profile,
    desk::{Desk, Notice, Scene},
    flag::Flag,
    gate::Ask,
    offence::Offence,
    result::Over,
    timers::Timer,
    touch::Touch,
    turn::Turn,
    watch::Watch,
};
use crate::{
    record::{Game, GameResult, Position, PositionKey, ResultReason, ResultState, Seconds, Timestamp},
    track::{Finding, SquareDiff},
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
    Alert(Box<super::Alert>),
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
    pub(super) profile: Arc<Profile>,
    pub(super) options: GameOptions,
    pub(super) desk: Desk,
    pub(super) timers: Vec<(Timestamp, Timer)>,
    started: bool,
    /// What makes each position of the game the same as another: `keys[n]` after n plies.
    pub(super) keys: Vec<PositionKey>,
    /// When each ply was made, beside `keys[1..]`.
    pub(super) made: Vec<Timestamp>,
    /// Consequences of so many plies have been drawn.
    pub(super) settled: usize,
    /// So many plies are confirmed.
    pub(super) confirmed: usize,
    pub(super) over: Option<Over>,
    pub(super) proposal: Option<(GameResult, ResultReason)>,
    pub(super) illegal: ByColor<u32>,
    pub(super) offences: Vec<Offence>,
    pub(super) turn: Option<Turn>,
    pub(super) watch: Watch,
    pub(super) flags: ByColor<Option<Flag>>,
    pub(super) offer: Option<(Color, Timestamp)>,
    /// The arbiter said why the clock stands.
    pub(super) pause_explained: bool,
    pub(super) signal: Option<GameResult>,
    pub(super) gap: Option<Position>,
    /// Plies that could have been others, as told: the first, and the first after them.
    pub(super) rivals: Vec<(usize, usize)>,
    /// The ply at which both kings were found in check.
    pub(super) both_in_check: Option<usize>,
    /// Squares that nothing explains yet, and whether a press found them so.
    pub(super) unexplained: Vec<SquareDiff>,
    pub(super) unexplained_press: bool,
    /// A man of the side not on move left a centre square: perhaps only to make room for the kings.
    pub(super) cleared: Option<(Square, Square, Piece)>,
    /// Touches of this turn (by ply) were ruled not to count.
    pub(super) touches_excused: Option<usize>,
    pub(super) asked: Vec<(String, Color, Ask)>,
    pub(super) link_down: bool,
    /// Two hands were seen in this side's move (by ply); it counts with the press.
    pub(super) two_hands_waiting: Option<(Color, usize)>,
}

impl Referee {
    /// A referee for one game.
    #[must_use]
    pub fn new(profile: Arc<Profile>, options: GameOptions) -> Self {
        let illegal = options.illegal;
        Self {
            profile,
            options,
            desk: Desk::default(),
            timers: Vec::new(),
            started: false,
            keys: Vec::new(),
            made: Vec::new(),
            settled: 0,
            confirmed: 0,
            over: None,
            proposal: None,
            illegal,
            offences: Vec::new(),
            turn: None,
            watch: Watch::default(),
            flags: ByColor::default(),
            offer: None,
            pause_explained: false,
            signal: None,
            gap: None,
            rivals: Vec::new(),
            both_in_check: None,
            unexplained: Vec::new(),
            unexplained_press: false,
            cleared: None,
            touches_excused: None,
            asked: Vec::new(),
            link_down: false,
            two_hands_waiting: None,
        }
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

    /// The rules or the event's options are others from now on. What was counted stays; offences counted
    /// elsewhere before are corrected by the difference.
    pub fn reconfigure(
        &mut self,
        at: Timestamp,
        profile: Arc<Profile>,
        options: GameOptions,
        game: &Game,
        out: &mut Vec<Ruling>,
    ) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        let options = GameOptions { started_at: self.options.started_at, ..options };
        if profile == self.profile && options == self.options {
            return;
        }
        for side in Color::ALL {
            let (old, new) = (self.options.illegal[side], options.illegal[side]);
            self.illegal[side] = (self.illegal[side] + new).saturating_sub(old);
        }
        self.profile = profile;
        self.options = options;
        self.recount(game);
        self.desk.clear(&mut scene, &[Code::TimeControlClassMismatch, Code::SupervisionNotMet]);
        self.check_event(&mut scene);
    }

    /// The round began: the clock should run soon (6.6), and default time counts from here (6.7).
    pub fn round_started(&mut self, at: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        if self.options.started_at.is_some() || self.over.is_some() || !game.plies.is_empty() {
            return;
        }
        self.options.started_at = Some(at);
        self.watch_start(&scene);
    }

    /// Something the tracker found; `game` is the record after it was applied.
    pub fn found(&mut self, at: Timestamp, finding: &Finding, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        match finding {
            Finding::Touch { at, square, was, now } => {
                self.touched(&mut scene, Touch { at: *at, square: *square, was: *was, now: *now });
            }
            Finding::Line { from, plies, cause } => self.line(&mut scene, *from, plies, *cause),
            Finding::Confirmed { count } => self.confirmed_to(&mut scene, *count),
            Finding::Press { at, by, mover, board } => self.pressed(&mut scene, *at, *by, *mover, board),
            Finding::Base { index, position } => self.rebase(&mut scene, *index, position),
            other => self.board_says(&mut scene, other),
        }
    }

    /// A clock reading, or `None` when there is no clock or it was lost. A change of the running
    /// side from one colour to the other is a press.
    pub fn clock(&mut self, at: Timestamp, times: Option<ClockTimes>, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        self.clock_reads(&mut scene, times);
    }

    /// The clock sent times that cannot be true.
    pub fn clock_garbage(&mut self, at: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        let left = self.watch.left();
        let notice = Notice::new(Code::ClockGarbage)
            .arg("white_clock", super::texts::Arg::Clock(left.white))
            .arg("black_clock", super::texts::Arg::Clock(left.black));
        self.raise(&mut scene, notice);
    }

    /// Something happened to the board's line.
    pub fn link(&mut self, at: Timestamp, event: &LinkEvent, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        self.link_says(&mut scene, event);
    }

    /// An arbiter's entry.
    pub fn entered(&mut self, at: Timestamp, by: &str, entry: &Entry, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        self.enter(&mut scene, by, entry);
    }

    /// The game is read from another board, from its start on: what was said of the old board's men
    /// and squares is not so any more.
    pub fn read_anew(&mut self, at: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        self.forget_board(&mut scene);
    }

    /// The board's battery.
    pub fn battery(&mut self, at: Timestamp, reading: BatteryReading, game: &Game, out: &mut Vec<Ruling>) {
        const LOW: u8 = 15;
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        if reading.percent > LOW || reading.charging {
            self.desk.clear_key(&mut scene, Code::BatteryLow, "");
        } else if !self.desk.live_key(Code::BatteryLow, "") {
            let percent = u32::from(reading.percent);
            self.raise(&mut scene, Notice::new(Code::BatteryLow).arg("percent", percent));
        }
    }

    /// The clock shows the sign of a low battery, or no longer (6.10.1).
    pub fn clock_battery(&mut self, at: Timestamp, low: bool, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        if low {
            self.raise(&mut scene, Notice::new(Code::BatteryLow).variant("clock").key("clock"));
        } else {
            self.desk.clear_key(&mut scene, Code::BatteryLow, "clock");
        }
    }

    /// The daemon was started again on its journal: raises `restarted`.
    pub fn restarted(&mut self, at: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        self.watch.forget_turns();
        self.raise(&mut scene, Notice::new(Code::Restarted).key(at.millis()));
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
        let mut scene = Scene { at, game, out };
        self.begin(&mut scene);
        self.mate_answered(&mut scene, fen, side, verdict);
    }

    /// The alerts that are open or acknowledged.
    pub fn live_alerts(&self) -> impl Iterator<Item = &Alert> {
        self.desk.all_live()
    }

    /// The number of the alert raised last.
    #[must_use]
    pub fn last_alert(&self) -> AlertId {
        self.desk.last()
    }

    pub(super) fn raise(&mut self, scene: &mut Scene<'_>, notice: Notice) -> AlertId {
        self.desk.raise(scene, &self.profile, notice)
    }

    /// What there is to say before anything has happened.
    pub(super) fn begin(&mut self, scene: &mut Scene<'_>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.keys = vec![scene.game.start.key()];
        for ply in &scene.game.plies {
            self.keys.push(ply.after.key());
            self.made.push(ply.made_at);
        }
        self.recount(scene.game);
        self.check_event(scene);
        self.settled = scene.game.plies.len();
        self.consequences(scene, self.settled);
    }

    /// Marks an alert as dealt with by a person.
    pub(super) fn mark(
        &mut self,
        scene: &mut Scene<'_>,
        id: AlertId,
        state: AlertState,
        by: &str,
        note: Option<&str>,
    ) -> bool {
        let Some(alert) = self.desk.get_mut(id) else { return false };
        // What has been put right, or dealt with, meanwhile needs nobody any more.
        if state == AlertState::Acknowledged && alert.state != AlertState::Open {
            return false;
        }
        alert.state = state;
        alert.by = Some(by.to_owned());
        if let Some(note) = note.filter(|note| !note.is_empty()) {
            alert.note = Some(note.to_owned());
        }
        scene.out.push(Ruling::Alert(Box::new(alert.clone())));
        true
    }

    /// Certain while the board and its line are healthy, probable otherwise.
    pub(super) fn certain(&self) -> Certainty {
        if self.link_down || self.desk.live_key(Code::PositionGap, "") {
            Certainty::Probable
        } else {
            Certainty::Certain
        }
    }
}
