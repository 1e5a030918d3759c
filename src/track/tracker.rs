//! The tracker of one table: its state, the order in which evidence is taken, and its deadlines.
//!
//! What the model is, `mod.rs` explains. Presses are in `press`, the time before the first move in
//! `setup`, the end in `ending`, what was not seen in `gap`, a person's word in `correct`.

use std::collections::VecDeque;

use shakmaty::{Bitboard, Board, Color, uci::UciMove};

use super::{
    Cause, ClockSense, Evidence, Finding, SquareFault,
    doubt::Doubt,
    ending::Ending,
    eyes::{Change, Eyes},
    gap::Gap,
    line::{Line, Made, Step},
    movable::moves_of,
    press::{Held, Presses},
    setup::Setup,
    threads::{Hurry, Outcome, Thread},
};
use crate::{
    record::{PlyState, Position, Timestamp},
    wire::BoardSquare,
};

/// A man that stood so long is released (Laws 4.7; `T_REL`), in ms.
pub(super) const RELEASED: i64 = 700;
/// Plies that began so long ago should have been pressed by now, in ms.
const UNPRESSED: i64 = 2_000;
/// After so long without a change an unexplained board is searched more deeply, in ms.
pub(super) const QUIET: i64 = 400;

/// What has been said of the present difference, so that it is said once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// Searched deeply since the last change.
    pub(super) searched: bool,
    /// [`Finding::Pending`], [`Finding::OutOfTurn`] or [`Finding::Displaced`] was weighed.
    pub(super) released: bool,
    /// [`Finding::Pending`] stands.
    pub(super) pending: bool,
    /// [`Finding::Differ`] stands.
    pub(super) differ: bool,
    /// [`Finding::TakenBackAfterPress`] was given for the last confirmed ply.
    pub(super) undone: bool,
    /// [`Finding::ActivityWhileStopped`] was given for this stop.
    pub(super) stopped: bool,
}

/// Follows one game on one board.
#[derive(Clone, Debug)]
pub struct Track {
    pub(super) eyes: Eyes,
    pub(super) line: Line,
    /// The readings; never empty.
    pub(super) threads: Vec<Thread>,
    /// The open plies as last told.
    pub(super) shown: Vec<Step>,
    pub(super) clock: ClockSense,
    /// The clock has run, or a ply was made.
    pub(super) started: bool,
    pub(super) stopped: bool,
    /// The clock was reported to stop; it counts from then.
    pub(super) stop_at: Option<Timestamp>,
    pub(super) presses: Presses,
    pub(super) doubt: Doubt,
    pub(super) held: Vec<Held>,
    pub(super) setup: Setup,
    pub(super) ending: Ending,
    pub(super) gap: Gap,
    pub(super) said: Said,
    /// The last change of any square that can be believed.
    pub(super) last_change: Timestamp,
    /// Since when the board is unexplained.
    pub(super) differs_since: Option<Timestamp>,
    /// The last corrections, to be taken back.
    pub(super) undo: VecDeque<Line>,
}

impl Track {
    /// A tracker for a game that starts from `start`. Until anything is heard the board is taken
    /// to show it.
    #[must_use]
    pub fn new(start: &Position) -> Self {
        Self {
            eyes: Eyes::new(start.board()),
            line: Line::new(start),
            threads: vec![Thread::default()],
            shown: Vec::new(),
            clock: ClockSense::Absent,
            started: false,
            stopped: false,
            stop_at: None,
            presses: Presses::default(),
            doubt: Doubt::default(),
            held: Vec::new(),
            setup: Setup::default(),
            ending: Ending::default(),
            gap: Gap::default(),
            said: Said::default(),
            last_change: Timestamp::from_millis(i64::MIN / 2),
            differs_since: None,
            undo: VecDeque::new(),
        }
    }

    /// Takes one piece of evidence; findings are appended in order. Deadlines that fell due
    /// before `at` are served first.
    pub fn observe(&mut self, at: Timestamp, evidence: &Evidence, out: &mut Vec<Finding>) {
        self.advance(at, out);
        match evidence {
            Evidence::Square(square, content) => {
                self.setup.heard = true;
                self.before_change(at, *square, out);
                if let Some(change) = self.eyes.set(at, *square, *content) {
                    self.changed(at, change, out);
                    self.look(at, out);
                }
            }
            Evidence::Dump(squares) => self.dump(at, squares, out),
            Evidence::Press { by } => self.pressed(at, *by, out),
            Evidence::Clock(sense) => self.clock(at, *sense, out),
            Evidence::LinkDown => self.link_down(at, out),
            Evidence::LinkUp => {}
            Evidence::Recovered(events) => self.recovered(at, events, out),
            Evidence::Closed => self.close(at, out),
            Evidence::Reopened => self.reopen(at, out),
            Evidence::Correction(correction) => self.correct(at, correction, out),
        }
        // A line that changes on a board long at rest is late at once.
        self.advance(at, out);
    }

    /// Serves every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: Timestamp, out: &mut Vec<Finding>) {
        // Every service clears what was due or moves it on; the bound only guards against a fault.
        for _ in 0..1_000 {
            match self.next_deadline() {
                Some(due) if due <= now => self.serve(due, out),
                _ => return,
            }
        }
    }

    /// The next moment at which something will be found without new evidence.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let mut next: Option<Timestamp> = None;
        let mut offer = |at: Option<Timestamp>| {
            if let Some(at) = at {
                next = Some(next.map_or(at, |next: Timestamp| next.min(at)));
            }
        };
        offer(self.stop_at);
        offer(self.eyes.faults.next_deadline());
        offer(self.ending.next_deadline());
        offer(self.setup.next_deadline());
        offer(self.gap.next_deadline());
        offer(self.gap.rest_due(self.last_change));
        if self.playing() {
            offer(self.presses.due(self));
            offer(self.reply_due());
            if let Some(since) = self.differs_since {
                offer((!self.said.searched).then(|| self.last_change.plus(QUIET)));
                offer((!self.said.released).then(|| self.last_change.plus(RELEASED)));
                offer((!self.said.differ).then(|| self.long_at(since)));
            }
        }
        next
    }

    /// What the squares show, in game squares.
    #[must_use]
    pub fn sensed(&self) -> &Board {
        &self.eyes.board
    }

    /// The board lies turned by 180 degrees.
    #[must_use]
    pub fn rotated(&self) -> bool {
        self.eyes.rotated
    }

    /// The position after every ply that is told, provisional ones too.
    #[must_use]
    pub fn position(&self) -> &Position {
        let thread = &self.threads[0];
        match self.shown.len().checked_sub(1).and_then(|last| thread.open.get(last)) {
            Some(open) => &open.after,
            None => &self.line.base,
        }
    }

    /// What the last ply could be while the squares cannot tell, in UCI, and the plies that have
    /// followed it in every case. Empty when nothing is open.
    #[must_use]
    pub fn candidates(&self) -> (Vec<UciMove>, Vec<UciMove>) {
        if self.threads.len() < 2 {
            return (Vec::new(), Vec::new());
        }
        let written = |thread: &Thread| -> Vec<UciMove> {
            let mut before = &self.line.base;
            let mut all = Vec::new();
            for open in &thread.open {
                all.push(open.made.tell(before, &open.after, PlyState::Provisional).uci);
                before = &open.after;
            }
            all
        };
        let lines: Vec<Vec<UciMove>> = self.threads.iter().map(written).filter(|l| !l.is_empty()).collect();
        let mut first: Vec<UciMove> = lines.iter().map(|line| line[0]).collect();
        first.dedup();
        let then = lines.first().map(|line| line[1..].to_vec()).unwrap_or_default();
        let shared = lines.iter().all(|line| line[1..] == then[..]);
        (first, if shared { then } else { Vec::new() })
    }

    /// Moves are being followed: the board is armed, the record open, the clock not stopped.
    pub(super) fn playing(&self) -> bool {
        self.setup.armed && !self.ending.closed && !self.stopped && !self.gap.dark
    }

    /// The position after the first thread's plies.
    pub(super) fn tip(&self) -> &Position {
        self.threads[0].tip(&self.line.base)
    }

    /// Where the first thread and the board differ.
    pub(super) fn diff(&self) -> Bitboard {
        self.threads[0].diff(&self.line.base, &self.eyes)
    }

    /// Notes and tells a change of one square.
    pub(super) fn changed(&mut self, at: Timestamp, change: Change, out: &mut Vec<Finding>) {
        let Change { square, was, now } = change;
        let masked = self.eyes.faults.flickers(square);
        match self.eyes.faults.changed(at, square, was, now) {
            Some(true) => {
                out.push(Finding::SquareFault { square, fault: SquareFault::Flicker });
                self.eyes.refresh(square);
                return;
            }
            Some(false) => {
                self.eyes.refresh(square);
                out.push(Finding::SquareWell { square });
            }
            None if masked => return,
            None => {}
        }
        self.last_change = at;
        self.said.searched = false;
        self.said.released = false;
        out.push(Finding::Touch { at, square, was, now });
    }

    /// Makes of the board what can be made of it now.
    pub(super) fn look(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.gap.dark {
            return;
        }
        self.watch_kings(at, out);
        if self.ending.closed {
            self.look_after_end(at, out);
        } else if !self.setup.armed || (!self.started && self.line.count == 0) {
            self.look_at_setup(at, out);
            if self.setup.armed && !self.stopped {
                self.play(at, out);
            }
        } else if self.stopped {
            self.look_while_stopped(at, out);
        } else {
            self.play(at, out);
        }
    }

    /// Follows the hands.
    pub(super) fn play(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        let mut cause = None;
        let mut agrees = false;
        let many = self.threads.len() > 1;
        let stood = self.held.last().filter(|_| !many).map(|last| last.after.clone());
        let irregular: Vec<Made> =
            if stood.is_some() { self.held.iter().map(|one| one.made.clone()).collect() } else { Vec::new() };
        let mut outcomes = Vec::new();
        let hurry = self.hurry();
        let Self { line, threads, eyes, .. } = self;
        let (base, since) = (&line.base, line.base_at);
        let last = threads[0].open.last().map(|open| open.made.clone());
        for thread in threads.iter_mut() {
            let held = stood.as_ref().map(|stood| (stood, irregular.as_slice()));
            let outcome = thread.follow(base, since, eyes, hurry, held);
            match outcome {
                Outcome::Agrees => agrees = true,
                Outcome::Changed(why) => cause = cause.or(Some(why)),
                Outcome::Differs => {}
            }
            if many {
                outcomes.push(outcome);
            }
        }
        if many {
            self.sift(&outcomes);
        }
        if let (Some(Cause::Revised), Some(last)) = (cause, last) {
            self.ending.hop = Some((last.step, last.made_at));
        }
        if cause.is_some() {
            self.started = true;
            if !self.held.is_empty() {
                self.held.clear();
            }
            self.publish(cause.unwrap_or(Cause::Played), out);
        } else if agrees && !self.held.is_empty() && !many {
            self.held.clear();
            self.presses.restored();
            out.push(Finding::Restored);
        }
        if !many && self.threads[0].open.len() >= 4 && self.diff().is_empty() {
            self.undo_there_and_back(at, out);
        }
        self.weigh_anew(at, out);
        self.note_difference(at, out);
        self.serve_presses(at, out);
    }

    /// What is known of the pace.
    pub(super) fn hurry(&self) -> Hurry {
        Hurry { pressed: self.presses.first(), soonest: self.presses.soonest(), brisk: self.brisk() }
    }

    /// Two men of either side went and came back, and nobody pressed though the clock runs: they were knocked
    /// over and put right.
    fn undo_there_and_back(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if !matches!(self.clock, ClockSense::Running(_)) || !self.presses.is_empty() || self.brisk() {
            return;
        }
        let open = &self.threads[0].open;
        let Some(first) = open.len().checked_sub(4) else { return };
        let before = first.checked_sub(1).map_or(&self.line.base, |last| &open[last].after);
        let unpressed = self.presses.upto() <= self.line.count + first;
        let waited = at.since(open[first].made.made_at) >= UNPRESSED;
        if unpressed && waited && before.board() == self.tip().board() {
            self.threads[0].open.truncate(first);
            self.publish(Cause::TakenBack, out);
        }
    }

    /// Of several threads keeps those that the board does not contradict.
    fn sift(&mut self, outcomes: &[Outcome]) {
        let explained = |outcome: &Outcome| !matches!(outcome, Outcome::Differs);
        let agreeing = self.threads.iter().any(|thread| thread.diff(&self.line.base, &self.eyes).is_empty());
        if !agreeing || !outcomes.iter().any(explained) {
            return;
        }
        let (line, eyes) = (&self.line, &self.eyes);
        self.threads.retain(|thread| thread.diff(&line.base, eyes).is_empty());
    }

    /// Keeps account of whether sensed and position agree.
    pub(super) fn note_difference(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        let diff = self.diff();
        if diff.is_empty() {
            self.differs_since = None;
            self.said.undone = false;
            let told = self.gap.settled();
            if std::mem::take(&mut self.said.differ) | std::mem::take(&mut self.said.pending) | told {
                out.push(Finding::Agree);
            }
            return;
        }
        if self.differs_since.is_none() {
            self.differs_since = Some(at);
        }
        if self.threads[0].open.is_empty()
            && !self.said.undone
            && self.held.is_empty()
            && let Some(before) = &self.line.before
            && self.eyes.diff(before.board()).is_empty()
        {
            self.said.undone = true;
            out.push(Finding::TakenBackAfterPress { index: self.line.count - 1 });
        }
    }

    /// Tells what changed in the line that all threads share.
    pub(super) fn publish(&mut self, cause: Cause, out: &mut Vec<Finding>) {
        let first = &self.threads[0];
        let shared = self.threads[1..].iter().fold(first.open.len(), |shared, other| {
            let same = first.open.iter().zip(&other.open).take(shared);
            same.take_while(|(a, b)| a.made.step == b.made.step).count()
        });
        let open = &first.open[..shared];
        let kept = open.iter().zip(&self.shown).take_while(|(a, b)| a.made.step == **b).count();
        if kept == open.len() && kept == self.shown.len() {
            return;
        }
        let cause = match cause {
            Cause::Played if kept < self.shown.len() => Cause::Revised,
            Cause::Revised if kept == self.shown.len() => Cause::Played,
            other => other,
        };
        let mut plies = Vec::with_capacity(open.len() - kept);
        for (index, ply) in open.iter().enumerate().skip(kept) {
            let before = if index == 0 { &self.line.base } else { &open[index - 1].after };
            let mut told = ply.made.tell(before, &ply.after, PlyState::Provisional);
            if index == 0 && matches!(self.line.made.last(), Some(Made { step: Step::Base(_), .. })) {
                told.origin = Some(Box::new(before.clone()));
            }
            plies.push(told);
        }
        self.shown.truncate(kept);
        self.shown.extend(open[kept..].iter().map(|ply| ply.made.step.clone()));
        out.push(Finding::Line { from: self.line.count + kept, plies, cause });
    }

    /// The first `plies` open plies are confirmed.
    pub(super) fn confirm(&mut self, plies: usize, out: &mut Vec<Finding>) {
        let plies = plies.min(self.shown.len());
        if plies == 0 {
            return;
        }
        for thread in &mut self.threads[1..] {
            thread.open.drain(..plies);
        }
        for ply in self.threads[0].open.drain(..plies) {
            for square in super::eyes::differing(self.line.base.board(), ply.after.board()) {
                self.eyes.faults.calm(square);
            }
            self.doubt.confirmed(ply.step());
            self.line.push(ply.made, ply.after);
        }
        self.shown.drain(..plies);
        self.ending.hop = None;
        self.said.undone = false;
        out.push(Finding::Confirmed { count: self.line.count });
        self.mend_faults(out);
        self.end_if_over(out);
    }

    /// Before a square changes: a board that stood at a press is judged as it stood, not with the
    /// reply in it.
    fn before_change(&mut self, at: Timestamp, square: BoardSquare, out: &mut Vec<Finding>) {
        if self.presses.is_empty() || !self.playing() {
            return;
        }
        let game = self.eyes.square(square);
        let lifted = self.eyes.board.color_at(game);
        self.judge_before_reply(at, lifted, out);
    }

    /// The side that has the move on the board, illegal moves that were pressed included.
    pub(super) fn mover(&self) -> Color {
        self.held.last().map_or_else(|| self.tip().turn(), |held| held.after.turn())
    }
}

/// Mate or stalemate.
pub(super) fn over(position: &Position) -> bool {
    // Asked often, and nearly always some man can move.
    let men = position.board().by_color(position.turn());
    let quiet = !position.is_check() && position.chess().is_some();
    if quiet && men.into_iter().any(|man| !moves_of(position, man.into()).is_empty()) {
        return false;
    }
    position.is_checkmate() || position.is_stalemate()
}
