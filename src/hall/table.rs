//! One table: a board, a clock, two players, a game. Folds observations into updates.
//!
//! The order inside is always the same: evidence goes to the tracker, its findings change the
//! record, then the referee is told, then updates leave.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};
use shakmaty::{ByColor, Color};

use super::{
    BoardKey, ClockView, LinkView, TableId, TableInfo, TableSetup, TableStatus, UpdateBody,
    adjourn::Adjournment,
    setup::{self, Context},
    sheet::Closing,
};
use crate::{
    laws::{AlertId, AlertState, ClockTimes, Code, Entry, Referee, Ruling, mate},
    record::{Game, GameResult, Ply, PlySource, PlyState, ResultReason, ResultState, Seconds, Timestamp},
    track::{AtPress, ClockSense, Correction, Evidence, Finding, Track},
    wire::{BoardSquare, ClockReading, ClockSide, ClockState, Content, LinkEvent, Observation, Squares},
};

/// Presses whose readings are kept until the tracker has settled what they belong to.
const PRESSES: usize = 16;

/// The tag of a game that was typed, in part or whole.
const TYPED: (&str, &str) = ("Source", "typed from the score sheet");

/// A question that takes too long to answer while a move waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MateQuestion {
    /// Which table asks.
    pub table: TableId,
    /// The position.
    pub fen: String,
    /// Chess960 castling.
    pub chess960: bool,
    /// Who would have to mate.
    pub side: Color,
}

impl MateQuestion {
    /// Answers it with the full budget, in the form the journal keeps:
    /// `{"can_mate":"yes"|"no"|"unknown","line":[UCI…],"reason":…,"nodes":…}`. May take seconds.
    #[must_use]
    pub fn answer(&self) -> Value {
        let mode = shakmaty::CastlingMode::from_chess960(self.chess960);
        match mate::report(&self.fen, mode, &mate::Budget::default()) {
            Ok(report) => json!(report)[self.side.fold_wb("white", "black")].clone(),
            Err(error) => {
                json!({"can_mate": "unknown", "line": [], "reason": error.to_string(), "nodes": 0})
            }
        }
    }
}

/// A reading at the moment a lever moved.
#[derive(Clone, Copy, Debug)]
struct PressReading {
    at: Timestamp,
    left: ByColor<Option<Seconds>>,
}

/// A reading whose parts may be unknown.
#[derive(Clone, Copy, Debug)]
struct Sides {
    left: Option<ClockSide>,
    right: Option<ClockSide>,
    running: bool,
    left_to_move: bool,
}

impl Sides {
    fn of(state: ClockState) -> Self {
        match state {
            ClockState::Reading(ClockReading { left, right, running, left_to_move, .. }) => {
                Self { left: Some(left), right: Some(right), running, left_to_move }
            }
            ClockState::Partial { left, right, running, left_to_move } => {
                Self { left, right, running, left_to_move }
            }
            ClockState::Absent | ClockState::Garbage => {
                Self { left: None, right: None, running: false, left_to_move: true }
            }
        }
    }
}

/// A ply as the tracker reads it, with the times known of the one that stood in its place.
fn recorded(tracked: &crate::track::TrackedPly, before: Option<&Ply>) -> Ply {
    Ply {
        uci: tracked.uci,
        san: tracked.san.clone(),
        after: tracked.after.clone(),
        irregular: tracked.irregular,
        state: tracked.state,
        source: tracked.source,
        made_at: tracked.made_at,
        pressed_at: before.and_then(|ply| ply.pressed_at),
        clock: before.map_or(ByColor::default(), |ply| ply.clock),
        elapsed: before.and_then(|ply| ply.elapsed),
    }
}

/// One table of the hall.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) id: TableId,
    pub(super) setup: TableSetup,
    /// Where the game was adjourned, until it goes on.
    pub(super) adjourned: Option<Adjournment>,
    /// An adjourned game is being set up again.
    pub(super) resuming: bool,
    /// The game was begun at another table, in a round that may be over.
    pub(super) moved: bool,
    pub(super) info: TableInfo,
    pub(super) game: Game,
    pub(super) track: Track,
    referee: Referee,
    /// The board as it numbers itself.
    pub(super) squares: Squares,
    /// The last clock state, sides as the clock has them.
    pub(super) clock: Option<ClockState>,
    /// The clock stands the wrong way round.
    exchanged: bool,
    pub(super) shown: ClockView,
    presses: VecDeque<PressReading>,
    muted: BTreeSet<Code>,
    /// Conflicts of results that nobody has settled.
    conflicts: BTreeSet<AlertId>,
    /// Fischer increment in seconds, for the time a move took; `None` when unknown.
    increment: Option<u32>,
    questions: Vec<MateQuestion>,
    pub(super) wants_dump: bool,
    out: Vec<UpdateBody>,
}

impl Table {
    /// A table with a new game, the `number`th of the journal.
    pub(super) fn new(setup: TableSetup, context: &Context<'_>, number: u64, at: Timestamp) -> Self {
        let info = setup::table_info(&setup, context, number);
        let game = Game { tags: info.tags.clone(), ..Game::new(setup.start.clone()) };
        let track = Track::new(&setup.start);
        let (profile, options, increment) = setup::rules(&setup, context);
        let referee = Referee::new(profile, options);
        let mut table = Self {
            adjourned: None,
            resuming: false,
            moved: false,
            id: setup.table,
            squares: Squares::from_board(setup.start.board(), false),
            setup,
            info,
            game,
            track,
            referee,
            clock: None,
            exchanged: false,
            shown: ClockView::default(),
            presses: VecDeque::new(),
            muted: BTreeSet::new(),
            conflicts: BTreeSet::new(),
            increment,
            questions: Vec::new(),
            wants_dump: true,
            out: Vec::new(),
        };
        table.announce();
        // What there is to say before anything happens: a time control of another class, say.
        table.rule(at, |referee, game, out| referee.advance(at, game, out));
        table.advance(at);
        table
    }

    /// Changes players, profile or board while the game goes on. A new start position before the
    /// first ply starts the game anew.
    pub(super) fn change(&mut self, setup: TableSetup, context: &Context<'_>, at: Timestamp) {
        let mut fresh = setup::table_info(&setup, context, self.info.game);
        if self.moved {
            // It belongs to another round than the one that is being played.
            for name in ["Date", "Round", "Board", "GameId"] {
                fresh.tags.set(name, self.info.tags.get(name).unwrap_or_default().to_owned());
            }
        }
        self.info.white = fresh.white;
        self.info.black = fresh.black;
        self.info.tags = fresh.tags;
        if self.game.plies.iter().any(|ply| ply.source == PlySource::Typed) {
            self.info.tags.set(TYPED.0, TYPED.1);
        }
        self.info.profile = fresh.profile;
        self.info.time_control = fresh.time_control;
        if setup.start != self.setup.start && self.game.plies.is_empty() {
            self.info.start = fresh.start;
            self.game = Game::new(setup.start.clone());
            self.track = Track::new(&setup.start);
            let dump = Evidence::Dump(self.squares);
            self.track_evidence(at, &dump);
        }
        self.game.tags = self.info.tags.clone();
        let (profile, options, increment) = setup::rules(&setup, context);
        self.increment = increment;
        self.rule(at, |referee, game, out| referee.reconfigure(at, profile, options, game, out));
        self.setup = setup;
        self.announce();
    }

    /// A move was made, or there is a result.
    pub(super) fn begun(&self) -> bool {
        !self.game.plies.is_empty() || self.game.result.is_some()
    }

    /// The section it belongs to.
    pub(super) fn section(&self) -> &str {
        &self.info.section
    }

    /// The round was started then; default time counts from there.
    pub(super) fn round_started(&mut self, started: Timestamp) {
        self.rule(started, |referee, game, out| referee.round_started(started, game, out));
    }

    /// How its result stands.
    pub(super) fn closing(&self) -> Closing {
        Closing::of(&self.info, &self.game, !self.conflicts.is_empty())
    }

    /// What left since the last call.
    pub(super) fn take_updates(&mut self) -> Vec<UpdateBody> {
        std::mem::take(&mut self.out)
    }

    /// Long questions since the last call.
    pub(super) fn take_questions(&mut self) -> Vec<MateQuestion> {
        std::mem::take(&mut self.questions)
    }

    /// The tracker asked for a full dump since the last call.
    pub(super) fn take_wants_dump(&mut self) -> bool {
        std::mem::take(&mut self.wants_dump)
    }

    /// The board bound to this table.
    pub(super) fn board(&self) -> Option<&BoardKey> {
        self.info.link.board.as_ref()
    }

    /// The record of this table.
    pub(super) fn game(&self) -> &Game {
        &self.game
    }

    /// The board in game squares.
    pub(super) fn sensed(&self) -> &shakmaty::Board {
        self.track.sensed()
    }

    /// What the last ply could be while the squares cannot tell, and what has followed it.
    pub(super) fn open_plies(&self) -> (Vec<String>, Vec<String>) {
        let (first, then) = self.track.candidates();
        let written = |plies: Vec<shakmaty::uci::UciMove>| plies.iter().map(ToString::to_string).collect();
        (written(first), written(then))
    }

    /// The game has ended and its result is fixed.
    pub(super) fn ended(&self) -> bool {
        matches!(self.game.result, Some((_, _, ResultState::Final)))
    }

    /// The tallies of the referee.
    pub(super) fn counts(&self) -> Value {
        self.info.counts.clone()
    }

    pub(super) fn bind(&mut self, board: Option<BoardKey>) {
        self.setup.board.clone_from(&board);
        self.info.link = LinkView { board, rotated: self.track.rotated(), ..LinkView::default() };
        self.announce();
    }

    /// Takes what the other table's board and hands did as its own: for boards that stood at each
    /// other's tables. Players, tags and game numbers stay.
    /// Viewers take the tables as new games (`numbers`), whose plies they are told at once.
    pub(super) fn exchange_evidence(&mut self, other: &mut Self, numbers: [u64; 2], at: Timestamp) {
        let same_start = self.setup.start == other.setup.start;
        std::mem::swap(&mut self.game.plies, &mut other.game.plies);
        std::mem::swap(&mut self.game.result, &mut other.game.result);
        std::mem::swap(&mut self.track, &mut other.track);
        std::mem::swap(&mut self.referee, &mut other.referee);
        std::mem::swap(&mut self.squares, &mut other.squares);
        std::mem::swap(&mut self.clock, &mut other.clock);
        std::mem::swap(&mut self.exchanged, &mut other.exchanged);
        std::mem::swap(&mut self.shown, &mut other.shown);
        std::mem::swap(&mut self.presses, &mut other.presses);
        std::mem::swap(&mut self.info.link, &mut other.info.link);
        std::mem::swap(&mut self.adjourned, &mut other.adjourned);
        std::mem::swap(&mut self.info.adjourned, &mut other.info.adjourned);
        std::mem::swap(&mut self.resuming, &mut other.resuming);
        std::mem::swap(&mut self.conflicts, &mut other.conflicts);
        std::mem::swap(&mut self.info.signed, &mut other.info.signed);
        std::mem::swap(&mut self.info.status, &mut other.info.status);
        std::mem::swap(&mut self.setup.board, &mut other.setup.board);
        if !same_start {
            // Each board was read from the other game's start: what it read are no moves of this one.
            std::mem::swap(&mut self.referee, &mut other.referee);
            std::mem::swap(&mut self.game.result, &mut other.game.result);
        }
        for (table, number) in [self, other].into_iter().zip(numbers) {
            table.info.game = number;
            table.announce();
            if !same_start {
                table.begin_anew(at);
            }
            table.retell();
        }
    }

    /// Reads the board from the start position on, as if it had been set up now.
    fn begin_anew(&mut self, at: Timestamp) {
        self.game.plies.clear();
        self.presses.clear();
        self.info.status = TableStatus::Waiting;
        self.announce();
        self.track = Track::new(&self.setup.start);
        self.wants_dump = true;
        self.track_evidence(at, &Evidence::Dump(self.squares));
        if let Some(times) = self.last_times() {
            let sense = times.running.map_or(ClockSense::Stopped, ClockSense::Running);
            self.track_evidence(at, &Evidence::Clock(sense));
        }
    }

    /// Tells the whole game anew.
    pub(super) fn retell(&mut self) {
        for (index, ply) in self.game.plies.iter().enumerate() {
            self.out.push(UpdateBody::Ply { index, ply: Box::new(ply.clone()), replaces: false });
        }
        self.out.push(UpdateBody::Result(self.game.result));
        self.out.push(UpdateBody::Clock(self.shown));
        self.out.push(UpdateBody::Sensed { placement: self.placement(), change: None });
        for alert in self.referee.live_alerts() {
            self.out.push(UpdateBody::Alert(Box::new(alert.clone())));
        }
    }

    /// Folds one observation of the table's board.
    pub(super) fn observe(&mut self, at: Timestamp, observation: &Observation) {
        match observation {
            Observation::Square(square, content) => self.square(at, *square, *content),
            Observation::Dump(squares) => self.dump(at, squares),
            Observation::Clock(state) => self.clock_state(at, *state),
            Observation::Link(event) => self.link(at, event),
            Observation::Battery(reading) => {
                self.info.link.battery = Some(*reading);
                self.rule(at, |referee, game, out| referee.battery(at, *reading, game, out));
                self.announce();
            }
            Observation::Recovered(events) => {
                self.track_evidence(at, &Evidence::Recovered(events.clone()));
            }
        }
    }

    fn square(&mut self, at: Timestamp, square: BoardSquare, content: Content) {
        let was = self.squares.get(square);
        self.squares.set(square, content);
        self.track_evidence(at, &Evidence::Square(square, content));
        if was != content {
            let change = (square.to_chess(self.track.rotated()), was.piece(), content.piece());
            self.out.push(UpdateBody::Sensed { placement: self.placement(), change: Some(change) });
        }
        self.look_at_resumption(at);
    }

    fn dump(&mut self, at: Timestamp, squares: &Squares) {
        let changed = self.squares != *squares;
        self.squares = *squares;
        self.track_evidence(at, &Evidence::Dump(*squares));
        if changed {
            self.out.push(UpdateBody::Sensed { placement: self.placement(), change: None });
        }
        self.look_at_resumption(at);
    }

    fn placement(&self) -> String {
        self.squares.to_board(self.track.rotated()).board_fen().to_string()
    }

    fn link(&mut self, at: Timestamp, event: &LinkEvent) {
        let link = &mut self.info.link;
        let evidence = match event {
            LinkEvent::Up(identity) => {
                let news = !link.online;
                link.online = true;
                link.reason = None;
                link.model = Some(setup::model(identity));
                news.then_some(Evidence::LinkUp)
            }
            LinkEvent::Down(reason) => {
                let news = link.online;
                link.online = false;
                link.reason = Some(reason.clone());
                news.then_some(Evidence::LinkDown)
            }
            LinkEvent::Garbage(_) | LinkEvent::Resync(_) | LinkEvent::Checksum => {
                self.wants_dump = true;
                None
            }
        };
        self.rule(at, |referee, game, out| referee.link(at, event, game, out));
        if let Some(evidence) = evidence {
            self.track_evidence(at, &evidence);
            self.announce();
        }
    }

    /// The daemon was started again: the line has to be found anew, evidence may be missing.
    pub(super) fn restarted(&mut self, at: Timestamp) {
        self.info.link.online = false;
        self.info.link.reason = Some("restarted".to_owned());
        self.wants_dump = true;
        self.track_evidence(at, &Evidence::LinkDown);
        self.rule(at, |referee, game, out| referee.restarted(at, game, out));
        self.announce();
    }

    fn clock_state(&mut self, at: Timestamp, state: ClockState) {
        let sides = match state {
            ClockState::Reading(_) | ClockState::Partial { .. } => Sides::of(state),
            ClockState::Absent => {
                self.clock = Some(state);
                self.info.link.clock = false;
                self.rule(at, |referee, game, out| referee.clock(at, None, game, out));
                self.track_evidence(at, &Evidence::Clock(ClockSense::Absent));
                self.shown.running = None;
                self.out.push(UpdateBody::Clock(self.shown));
                self.announce();
                return;
            }
            ClockState::Garbage => {
                self.rule(at, |referee, game, out| referee.clock_garbage(at, game, out));
                return;
            }
        };
        if let ClockState::Reading(reading) = &state
            && self.implausible(reading)
        {
            return;
        }
        let was = self.running();
        let first = !self.info.link.clock;
        self.clock = Some(state);
        self.info.link.clock = true;
        if first {
            self.announce();
        }
        let times = self.times(&sides);
        self.shown =
            ClockView { white: times.left.white, black: times.left.black, running: times.running, at };
        self.out.push(UpdateBody::Clock(self.shown));
        let press = match (was, times.running) {
            (Some(before), Some(after)) if before != after => Some(before),
            _ => None,
        };
        if press.is_some() {
            self.presses.push_back(PressReading { at, left: times.left });
            if self.presses.len() > PRESSES {
                self.presses.pop_front();
            }
        }
        self.rule(at, |referee, game, out| referee.clock(at, Some(times), game, out));
        if let Some(by) = press {
            self.wants_dump = true;
            self.track_evidence(at, &Evidence::Press { by });
        }
        if was != times.running || first {
            let sense = times.running.map_or(ClockSense::Stopped, ClockSense::Running);
            self.track_evidence(at, &Evidence::Clock(sense));
        }
    }

    /// A reading of all zeros after a command (Bluetooth boards, DGT protocol, "quirks"): both
    /// sides jumped to 0:00 at once without a flag and without running.
    fn implausible(&self, reading: &ClockReading) -> bool {
        let zero = |r: &ClockReading| r.left.seconds == 0 && r.right.seconds == 0;
        let flags = reading.left.flag || reading.right.flag;
        let before = match self.clock {
            Some(ClockState::Reading(before)) => before.left.seconds > 2 || before.right.seconds > 2,
            _ => false,
        };
        zero(reading) && !flags && !reading.running && before
    }

    fn left_is_white(&self) -> bool {
        self.track.rotated() == self.exchanged
    }

    fn times(&self, sides: &Sides) -> ClockTimes {
        let (white, black) =
            if self.left_is_white() { (sides.left, sides.right) } else { (sides.right, sides.left) };
        let to_move = if sides.left_to_move == self.left_is_white() { Color::White } else { Color::Black };
        ClockTimes {
            left: ByColor {
                white: white.map(|side| Seconds(side.seconds)),
                black: black.map(|side| Seconds(side.seconds)),
            },
            flag: ByColor {
                white: white.is_some_and(|side| side.flag),
                black: black.is_some_and(|side| side.flag),
            },
            running: sides.running.then_some(to_move),
        }
    }

    /// What the clock read last, with its sides given to colours.
    fn last_times(&self) -> Option<ClockTimes> {
        match self.clock {
            Some(state @ (ClockState::Reading(_) | ClockState::Partial { .. })) => {
                Some(self.times(&Sides::of(state)))
            }
            _ => None,
        }
    }

    fn running(&self) -> Option<Color> {
        self.last_times().and_then(|times| times.running)
    }

    /// What the clock says now, if there is one.
    pub(super) fn clock_sense(&self) -> Option<ClockSense> {
        let times = self.last_times()?;
        Some(times.running.map_or(ClockSense::Stopped, ClockSense::Running))
    }

    /// Shows the last reading anew, after its sides were given to other colours.
    fn show_clock(&mut self, at: Timestamp) -> Option<ClockTimes> {
        let times = self.last_times()?;
        self.shown =
            ClockView { white: times.left.white, black: times.left.black, running: times.running, at };
        self.out.push(UpdateBody::Clock(self.shown));
        Some(times)
    }

    /// An arbiter's entry.
    pub(super) fn enter(&mut self, at: Timestamp, by: &str, entry: &Entry) {
        self.rule(at, |referee, game, out| referee.entered(at, by, entry, game, out));
        let incident = json!({"kind": "entry", "by": by, "entry": entry});
        self.incident(at, incident);
        match entry {
            Entry::ScoresheetsSigned { .. } => self.info.signed = true,
            Entry::Reopen => self.info.signed = false,
            _ => {}
        }
        self.note_adjournment(at, entry);
        self.announce();
    }

    /// An operator's correction.
    pub(super) fn correct(&mut self, at: Timestamp, by: &str, correction: &Correction) {
        self.end_resumption();
        self.track_evidence(at, &Evidence::Correction(correction.clone()));
        let incident = json!({"kind": "correction", "by": by, "correction": correction});
        self.incident(at, incident);
    }

    pub(super) fn mute(&mut self, code: Code, muted: bool) {
        if muted {
            self.muted.insert(code);
        } else {
            self.muted.remove(&code);
        }
        self.info.muted = self.muted.iter().copied().collect();
        self.announce();
    }

    /// The answer to a long question.
    pub(super) fn mate_answer(&mut self, at: Timestamp, fen: &str, side: Color, verdict: &Value) {
        self.rule(at, |referee, game, out| referee.mate_answer(at, fen, side, verdict, game, out));
    }

    /// Serves every deadline up to and including `now`, each at its own time.
    pub(super) fn advance(&mut self, now: Timestamp) {
        while let Some(due) = self.next_deadline().filter(|due| *due <= now) {
            let mut findings = Vec::new();
            self.track.advance(due, &mut findings);
            self.apply_findings(due, findings);
            self.rule(due, |referee, game, out| referee.advance(due, game, out));
            debug_assert!(self.next_deadline().is_none_or(|next| next > due), "a deadline that stays");
            if self.next_deadline().is_some_and(|next| next <= due) {
                break; // never spin on a deadline that does not go away
            }
        }
    }

    /// The next moment at which something will be said without new input.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        match (self.track.next_deadline(), self.referee.next_deadline()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(super) fn track_evidence(&mut self, at: Timestamp, evidence: &Evidence) {
        if self.resuming
            && !matches!(evidence, Evidence::Correction(_) | Evidence::Closed | Evidence::Reopened)
        {
            return;
        }
        let mut findings = Vec::new();
        self.track.observe(at, evidence, &mut findings);
        self.apply_findings(at, findings);
    }

    fn apply_findings(&mut self, at: Timestamp, findings: Vec<Finding>) {
        for finding in findings {
            self.apply_finding(at, &finding);
            self.rule(at, |referee, game, out| referee.found(at, &finding, game, out));
        }
    }

    fn apply_finding(&mut self, at: Timestamp, finding: &Finding) {
        match finding {
            Finding::Line { from, plies, .. } => self.splice(*from, plies),
            Finding::Confirmed { count } => {
                for index in 0..(*count).min(self.game.plies.len()) {
                    if self.game.plies[index].state == PlyState::Provisional {
                        self.edit_ply(index, |ply| ply.state = PlyState::Confirmed);
                    }
                }
            }
            Finding::Press { at: pressed, board: AtPress::Move { index, .. }, .. } => {
                self.pressed(*pressed, *index);
            }
            Finding::Orientation { rotated } => {
                self.info.link.rotated = *rotated;
                self.announce();
                self.show_clock(at);
            }
            Finding::StartPosition => self.set_status(TableStatus::Armed),
            Finding::WantsDump => self.wants_dump = true,
            _ => {}
        }
    }

    fn set_status(&mut self, status: TableStatus) {
        let backwards = status == TableStatus::Armed && !self.game.plies.is_empty();
        if self.info.status != status && !backwards {
            self.info.status = status;
            self.announce();
        }
    }

    /// Puts the tracker's reading into the record, keeping what is known of plies that stay.
    fn splice(&mut self, from: usize, plies: &[crate::track::TrackedPly]) {
        let old = self.game.plies.split_off(from.min(self.game.plies.len()));
        let shrinks = plies.len() < old.len();
        for (offset, tracked) in plies.iter().enumerate() {
            let before = old.get(offset);
            let same = before.is_some_and(|ply| ply.uci == tracked.uci && ply.after == tracked.after);
            let kept = before.filter(|_| same);
            let ply = recorded(tracked, before);
            if kept != Some(&ply) {
                let index = from + offset;
                let replaces = before.is_some() && !same;
                self.out.push(UpdateBody::Ply { index, ply: Box::new(ply.clone()), replaces });
                if replaces {
                    // The stream drops what stood behind a replaced ply: tell it again.
                    self.game.plies.push(ply);
                    self.append_rest(from + offset + 1, &plies[offset + 1..], &old[offset + 1..]);
                    self.set_status(TableStatus::Playing);
                    self.mark_typed();
                    return;
                }
            }
            self.game.plies.push(ply);
        }
        if shrinks {
            self.out.push(UpdateBody::Undo { from: from + plies.len() });
        }
        if self.game.result.is_some_and(closes) {
            self.clock_of_last_ply();
        }
        if !self.game.plies.is_empty() && !self.ended() {
            self.set_status(TableStatus::Playing);
        }
        self.mark_typed();
    }

    /// A game with typed plies says so in its tags.
    fn mark_typed(&mut self) {
        let typed = self.game.plies.iter().any(|ply| ply.source == PlySource::Typed);
        if typed == (self.info.tags.get(TYPED.0) == Some(TYPED.1)) {
            return;
        }
        if typed {
            self.info.tags.set(TYPED.0, TYPED.1);
        } else {
            self.info.tags.0.retain(|(name, _)| name != TYPED.0);
        }
        self.game.tags = self.info.tags.clone();
        self.announce();
    }

    /// Plies behind a replaced one: new to the stream, though times known of them are kept.
    fn append_rest(&mut self, from: usize, plies: &[crate::track::TrackedPly], old: &[Ply]) {
        for (offset, tracked) in plies.iter().enumerate() {
            let before = old.get(offset).filter(|ply| ply.uci == tracked.uci);
            let ply = recorded(tracked, before);
            self.out.push(UpdateBody::Ply {
                index: from + offset,
                ply: Box::new(ply.clone()),
                replaces: false,
            });
            self.game.plies.push(ply);
        }
    }

    pub(super) fn edit_ply(&mut self, index: usize, edit: impl FnOnce(&mut Ply)) {
        let Some(ply) = self.game.plies.get_mut(index) else { return };
        let before = ply.clone();
        edit(ply);
        if *ply != before {
            self.out.push(UpdateBody::Ply { index, ply: Box::new(ply.clone()), replaces: false });
        }
    }

    /// Gives a ply the readings of the press that completed it.
    fn pressed(&mut self, at: Timestamp, index: usize) {
        let Some(press) = self.presses.iter().rev().find(|press| press.at == at).copied() else { return };
        let Some(mover) = self.game.position_before(index).map(crate::record::Position::turn) else { return };
        let before = index.checked_sub(2).and_then(|index| self.game.plies.get(index));
        let pressed_before =
            index.checked_sub(1).and_then(|index| self.game.plies.get(index)).and_then(|ply| ply.pressed_at);
        let used = match (before.and_then(|ply| ply.clock[mover]), press.left[mover], self.increment) {
            (Some(then), Some(now), Some(increment)) => (then.0 + increment).checked_sub(now.0).map(Seconds),
            _ => None,
        }
        .or_else(|| pressed_before.map(|before| Seconds((at.since(before).max(0) / 1000) as u32)));
        self.edit_ply(index, |ply| {
            ply.pressed_at = Some(at);
            ply.clock = press.left;
            ply.elapsed = used;
        });
    }

    /// Lets the referee speak, and does what it says.
    pub(super) fn rule(&mut self, at: Timestamp, ask: impl FnOnce(&mut Referee, &Game, &mut Vec<Ruling>)) {
        let mut rulings = Vec::new();
        ask(&mut self.referee, &self.game, &mut rulings);
        for ruling in rulings {
            self.apply_ruling(at, ruling);
        }
        let counts = self.referee.counts();
        if counts != self.info.counts {
            self.info.counts = counts;
            self.announce();
        }
    }

    fn apply_ruling(&mut self, at: Timestamp, ruling: Ruling) {
        match ruling {
            Ruling::Alert(mut alert) => {
                if self.muted.contains(&alert.code) && alert.state == AlertState::Open {
                    alert.state = AlertState::Acknowledged;
                }
                if alert.code == Code::ResultConflict {
                    if matches!(alert.state, AlertState::Open | AlertState::Acknowledged) {
                        self.conflicts.insert(alert.id);
                    } else {
                        self.conflicts.remove(&alert.id);
                    }
                }
                let incident = setup::alert_incident(&alert, &self.game, &self.placement(), &self.shown);
                self.out.push(UpdateBody::Alert(alert));
                self.incident(at, incident);
            }
            Ruling::Result { result, reason, state } => self.set_result(at, Some((result, reason, state))),
            Ruling::NoResult => self.set_result(at, None),
            Ruling::ExchangeClockSides => self.exchange_clock_sides(at),
            Ruling::Answer(answer) => {
                // The half-hourly sheet belongs into the log whether anybody looks or not.
                if answer["act"] == "time-control-sheet" {
                    self.incident(at, json!({"kind": "sheet", "sheet": answer["sheet"]}));
                }
                self.out.push(UpdateBody::Answer(answer));
            }
            Ruling::AskMate { fen, side } => self.questions.push(MateQuestion {
                table: self.id,
                fen,
                chess960: self.setup.start.mode().is_chess960(),
                side,
            }),
        }
    }

    fn set_result(&mut self, at: Timestamp, result: Option<(GameResult, ResultReason, ResultState)>) {
        if self.game.result == result {
            return;
        }
        let was_closed = self.game.result.is_some_and(closes);
        let is_closed = result.is_some_and(closes);
        self.game.result = result;
        self.out.push(UpdateBody::Result(result));
        if is_closed {
            self.clock_of_last_ply();
            if !was_closed {
                // The record is closed: what the board shows from now on is evidence, not moves.
                self.track_evidence(at, &Evidence::Closed);
                self.shown.running = None;
                self.out.push(UpdateBody::Clock(self.shown));
            }
            self.set_status(TableStatus::Ended);
        } else if was_closed {
            self.info.status = TableStatus::Playing;
            self.track_evidence(at, &Evidence::Reopened);
            self.announce();
        }
    }

    /// A move that ends the game needs no press: its times are what the clock showed.
    fn clock_of_last_ply(&mut self) {
        let Some(last) = self.game.plies.len().checked_sub(1) else { return };
        let left = ByColor { white: self.shown.white, black: self.shown.black };
        self.edit_ply(last, |ply| {
            if ply.pressed_at.is_none() && ply.clock == ByColor::default() {
                ply.clock = left;
            }
        });
    }

    /// From now on the clock's sides count the other way, and so they do in what was recorded.
    fn exchange_clock_sides(&mut self, at: Timestamp) {
        self.exchanged = !self.exchanged;
        for press in &mut self.presses {
            std::mem::swap(&mut press.left.white, &mut press.left.black);
        }
        for index in 0..self.game.plies.len() {
            self.edit_ply(index, |ply| {
                let ByColor { white, black } = &mut ply.clock;
                std::mem::swap(white, black);
            });
        }
        if let Some(times) = self.show_clock(at) {
            let sense = times.running.map_or(ClockSense::Stopped, ClockSense::Running);
            self.track_evidence(at, &Evidence::Clock(sense));
        }
    }

    pub(super) fn incident(&mut self, at: Timestamp, mut incident: Value) {
        incident["at"] = json!(at.to_rfc3339());
        incident["table"] = json!(self.id);
        incident["round"] = json!(self.info.round);
        if !self.info.section.is_empty() {
            incident["section"] = json!(self.info.section);
        }
        incident["white"] = json!(self.info.white.name);
        incident["black"] = json!(self.info.black.name);
        self.out.push(UpdateBody::Incident(incident));
    }

    pub(super) fn announce(&mut self) {
        // Only the last of several announcements in one step matters.
        if let Some(UpdateBody::Table(last)) = self.out.last_mut() {
            **last = self.info.clone();
        } else {
            self.out.push(UpdateBody::Table(Box::new(self.info.clone())));
        }
    }
}

/// Nothing played after this result belongs to the game. A flag or a second illegal move that only
/// the program has seen does not end it yet: both count once the arbiter has noticed (Laws 6.8, 7.5).
fn closes((_, reason, state): (GameResult, ResultReason, ResultState)) -> bool {
    state == ResultState::Final
        || matches!(
            reason,
            ResultReason::KingsSignal | ResultReason::ThreefoldClaim | ResultReason::FiftyMoveClaim
        )
}
