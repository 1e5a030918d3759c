//! Presses: which ply each belongs to, when it is settled, and what stood there if none does.
//!
//! The lever and the squares come by different ways: the board's scan is up to 0.25 s behind, the
//! clock's data up to 1 s. So a press waits until the hand can no longer go on, or until the
//! other side has replied; a board that nothing explains gets 1.5 s (`T_SETTLE`).

use std::collections::VecDeque;

use shakmaty::{Bitboard, Board, Color, Move, uci::UciMove};

use super::{
    AtPress, Cause, Finding, Irregular, Track,
    irregular::classify,
    ledger::Pressed,
    line::{Made, Step},
    moves::{Stale, complete},
    threads::{Open, Thread},
};
use crate::record::{PlySource, Position, Timestamp};

/// One scan of the squares, and a little.
pub(super) const SCAN: i64 = 300;
/// How far the clock's data may be behind or ahead of the squares.
pub(super) const SKEW: i64 = 1_000;
/// The clock's data and a late press after a reply, together.
const LATE: i64 = 1_800;
/// A hand that let go so long ago does not go on.
const LET_GO: i64 = 1_500;
/// The grace for a man put down after the press.
const LANDED: i64 = 600;
/// The grace for a board that nothing explains (`T_SETTLE`).
const SETTLE: i64 = 1_500;
/// The same when the board stood still before and after the press.
const STOOD: i64 = 800;
/// The grace while both sides' men are on the move, in a scramble.
const SCRAMBLE: i64 = 6_000;
/// Two scans, in which whatever a hand did has been seen.
const TWO_SCANS: i64 = 600;
/// What may be left unexplained (see `threads`) where the line is taken to be sound: a man or two in
/// hands.
const CALM: u32 = 10;
/// So long a press waits at the most for one story to win, in ms.
const PATIENCE: i64 = 4_000;
/// … and is looked at again after so long, in ms.
const AGAIN: i64 = 300;
/// Presses that follow one another faster than this are a scramble's, in ms.
const BRISK: i64 = 650;
/// Presses that wait at the most.
const WAITING: usize = 32;

/// A press that is not settled yet.
#[derive(Clone, Copy, Debug)]
struct Press {
    at: Timestamp,
    by: Color,
    /// A lever that moved, to be told; not only a clock that was set going.
    lever: bool,
}

/// A board that was pressed though no legal move explains it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The ply it would be if it stood.
    pub(super) made: Made,
    /// The position it would lead to.
    pub(super) after: Position,
}

/// The presses of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Presses {
    waiting: VecDeque<Press>,
    last: Option<Timestamp>,
    /// Plies before this one are pressed.
    upto: usize,
    /// How often in a row a press named the wrong side.
    wrong: u8,
    /// Nothing is settled before: two stories are too near to each other.
    patience: Option<Timestamp>,
}

/// What a press belongs to.
enum Target {
    /// A ply, by its number.
    Ply(usize),
    /// No ply, and the board shows the position.
    Unchanged,
    /// No ply yet.
    Unexplained,
}

impl Presses {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Presses that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Presses that wait follow one another faster than a calm hand plays.
    pub(super) fn brisk(&self) -> bool {
        let times = || self.waiting.iter().map(|press| press.at);
        let quick = times().zip(times().skip(1)).filter(|(a, b)| b.since(*a) < BRISK).count();
        quick >= 2
    }

    /// The presses that wait, by the sides that they belong to.
    pub(super) fn pending(&self) -> impl Iterator<Item = Pressed> {
        let other = self.wrong >= 2;
        self.waiting
            .iter()
            .map(move |press| Pressed { at: press.at, by: if other { !press.by } else { press.by } })
    }

    /// Plies before this one are pressed.
    pub(super) fn upto(&self) -> usize {
        self.upto
    }

    /// Nothing is settled before this moment.
    pub(super) fn patience(&self) -> Option<Timestamp> {
        self.patience
    }

    /// Two stories are too near to each other: looks again later.
    pub(super) fn wait(&mut self, at: Timestamp) {
        self.patience = Some(at.plus(AGAIN));
    }

    /// When the first press that waits came.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.waiting.front().map(|press| press.at)
    }

    /// A clock reading at this moment is the other half of a press.
    pub(super) fn follows(&self, at: Timestamp) -> bool {
        self.last == Some(at)
    }

    /// The position before the illegal move stands again: nothing waits any more.
    pub(super) fn restored(&mut self) {
        self.wrong = 0;
    }

    /// Plies were corrected: those up to here count as pressed.
    pub(super) fn forget(&mut self, count: usize) {
        self.waiting.clear();
        self.upto = count;
    }

    /// When the first waiting press is settled.
    pub(super) fn due(&self, track: &Track) -> Option<Timestamp> {
        let press = self.waiting.front()?;
        let due = match track.target(press) {
            Target::Ply(index) => track.settled_at(press, index),
            Target::Unchanged => press.at.plus(SKEW),
            Target::Unexplained => track.judged_at(press),
        };
        Some(self.patience.map_or(due, |patience| due.max(patience)))
    }
}

impl Track {
    /// The lever moved.
    pub(super) fn pressed(&mut self, at: Timestamp, by: Color, out: &mut Vec<Finding>) {
        self.presses.last = Some(at);
        self.started = true;
        self.stop_at = None;
        if self.ending.closed || self.gap.dark {
            return;
        }
        if self.stopped {
            self.stopped = false;
            self.look(at, out);
        }
        if !self.setup.armed {
            self.look_at_setup(at, out);
            if !self.setup.armed {
                return;
            }
        }
        if self.presses.waiting.len() == WAITING {
            self.settle_first(at, true, out);
        }
        self.presses.waiting.push_back(Press { at, by, lever: true });
        if !self.diff().is_empty() {
            out.push(Finding::WantsDump);
        }
        self.serve_presses(at, out);
    }

    /// The clock was set going for `side`, not by a press: what the other side has played counts.
    pub(super) fn set_going(&mut self, at: Timestamp, side: Color, out: &mut Vec<Finding>) {
        // The clock's start may be told as late as its presses: plies made since are pressed later.
        let calm = self.threads[0].open.last().is_some_and(|last| at.since(last.made.made_at) >= LATE);
        if self.playing()
            && !self.shown.is_empty()
            && self.tip().turn() == side
            && (self.shown.len() == 1 || calm)
        {
            self.presses.waiting.push_back(Press { at, by: !side, lever: false });
            self.serve_presses(at, out);
        }
    }

    /// The side that played ply `index`, if it is an open or the last confirmed one.
    fn player(&self, index: usize) -> Option<Color> {
        if index + 1 == self.line.count {
            return self.line.before.as_ref().map(Position::turn);
        }
        let open = index.checked_sub(self.line.count)?;
        let before = if open == 0 { &self.line.base } else { &self.threads[0].open.get(open - 1)?.after };
        (open < self.threads[0].open.len()).then(|| before.turn())
    }

    fn target(&self, press: &Press) -> Target {
        let by = if self.presses.wrong >= 2 { !press.by } else { press.by };
        let end = self.line.count + self.threads[0].open.len();
        let first = self.presses.upto.max(self.line.count.saturating_sub(1));
        // The clock may be up to 1 s late, and a press in a hurry, too: of several plies made since
        // then it is the first one's.
        let recent = |index: &usize| {
            let open = index.checked_sub(self.line.count).and_then(|open| self.threads[0].open.get(open));
            open.is_some_and(|open| press.at.since(open.made.made_at) < LATE)
        };
        let his = || (first..end).filter(|index| self.player(*index) == Some(by));
        if let Some(index) = his().find(recent).or_else(|| his().next_back()) {
            return Target::Ply(index);
        }
        if self.held.is_empty() && first < end && end > self.line.count {
            return Target::Ply(end - 1);
        }
        let stood = match self.held.last() {
            Some(held) => self.eyes.diff(held.after.board()).is_empty(),
            None => self.diff().is_empty(),
        };
        if stood { Target::Unchanged } else { Target::Unexplained }
    }

    /// When a press that belongs to ply `index` is settled.
    fn settled_at(&self, press: &Press, index: usize) -> Timestamp {
        let Some(ply) = index.checked_sub(self.line.count).and_then(|open| self.threads[0].open.get(open))
        else {
            return press.at;
        };
        if self.half_castled(index) {
            return press.at.plus(SETTLE);
        }
        let replied = index + 1 < self.line.count + self.threads[0].open.len();
        if super::tracker::over(&ply.after) {
            return press.at;
        }
        if replied || self.presses.waiting.len() > 1 {
            // In a scramble the squares may yet tell another story: two scans, and while what
            // they tell does not add up, longer.
            let due = press.at.max(ply.made.made_at.plus(TWO_SCANS));
            let calm = self.unexplained() <= CALM;
            let patient = due.max(self.last_change.plus(TWO_SCANS)).min(press.at.plus(SCRAMBLE));
            return if calm { due } else { patient.max(due) };
        }
        let made = ply.made.made_at;
        let due = if made <= press.at {
            press.at.plus(SCAN).max(press.at.plus(SKEW).min(made.plus(LET_GO)))
        } else {
            press.at.plus(SKEW).max(made.plus(LANDED))
        };
        // A man of the mover in the air: the hand may be going on.
        if (self.diff() & self.tip().board().by_color(!self.tip().turn()) & self.eyes.empty()).any() {
            return due.max(press.at.plus(SETTLE));
        }
        due
    }

    /// What the line leaves unexplained.
    fn unexplained(&self) -> u32 {
        self.threads[0].unexplained(&self.line.base, self.line.base_at, &self.eyes)
    }

    /// Ply `index` is a rook's or king's move that may be the first half of castling, and the other
    /// man is off its square.
    fn half_castled(&self, index: usize) -> bool {
        let Some(open) = index.checked_sub(self.line.count) else { return false };
        let before = if open == 0 { &self.line.base } else { &self.threads[0].open[open - 1].after };
        let Some(Step::Move(m)) = self.threads[0].open.get(open).map(|ply| &ply.made.step) else {
            return false;
        };
        super::moves::castling_partners(before, *m)
            .is_some_and(|partners| (self.diff() & partners & self.eyes.empty()).any())
    }

    /// When a press that nothing explains is judged.
    fn judged_at(&self, press: &Press) -> Timestamp {
        let arrived = self.diff() & !self.eyes.empty();
        if Color::ALL.iter().all(|side| (arrived & self.eyes.board.by_color(*side)).any()) {
            // Both hands are at work, faster than the scan.
            return press.at.plus(SETTLE).max(self.last_change.plus(SKEW).min(press.at.plus(SCRAMBLE)));
        }
        if self.steady() && self.last_change.plus(SCAN) <= press.at {
            return press.at.plus(STOOD);
        }
        press.at.plus(SETTLE)
    }

    /// Every man of the mover that left a square stands on another.
    fn steady(&self) -> bool {
        let position = self.held.last().map_or_else(|| self.tip(), |held| &held.after);
        let diff = self.threads[0].view(&self.eyes).diff(position.board());
        let mover = position.turn();
        let left = diff & position.board().by_color(mover);
        let arrived = diff & self.eyes.board.by_color(mover);
        left.any() && left.count() == arrived.count()
    }

    /// A pawn has gone to promote, and its square reads empty.
    fn promotion_unread(&self) -> bool {
        let view = self.threads[0].view(&self.eyes);
        let what = classify(self.tip(), view, self.old_differences());
        matches!(what, Some(Irregular::PromotionSquareEmpty { .. }))
    }

    /// Settles the presses whose time has come.
    pub(super) fn serve_presses(&mut self, now: Timestamp, out: &mut Vec<Finding>) {
        while self.playing() && self.presses.due(self).is_some_and(|due| due <= now) {
            self.settle_first(now, false, out);
        }
    }

    /// Settles all presses now.
    pub(super) fn settle_presses(&mut self, now: Timestamp, out: &mut Vec<Finding>) {
        while self.playing() && !self.presses.is_empty() {
            self.settle_first(now, true, out);
        }
    }

    /// The next side's man is lifted: an illegal board that stood at the press is judged now.
    pub(super) fn judge_before_reply(
        &mut self,
        at: Timestamp,
        lifted: Option<Color>,
        out: &mut Vec<Finding>,
    ) {
        let Some(press) = self.presses.waiting.front() else { return };
        if at.since(press.at) >= SCAN
            && lifted == Some(!self.mover())
            && matches!(self.target(press), Target::Unexplained)
            && self.last_change <= press.at
            && (self.steady() || at.since(press.at) >= SKEW || self.promotion_unread())
        {
            self.settle_first(at, true, out);
        }
    }

    /// Settles the first press. Unless it must be now, it waits while another story comes near.
    fn settle_first(&mut self, now: Timestamp, must: bool, out: &mut Vec<Finding>) {
        let Some(press) = self.presses.waiting.front().copied() else { return };
        self.presses.patience = None;
        let target = self.target(&press);
        if !must && now < press.at.plus(PATIENCE) {
            let sure = match target {
                Target::Ply(index)
                    if index >= self.line.count && self.too_soon(index + 1 - self.line.count, now) =>
                {
                    Some(false)
                }
                Target::Ply(index) if index >= self.line.count => {
                    self.sure(index + 1 - self.line.count, now, out)
                }
                Target::Unexplained => self.sure(0, now, out),
                _ => Some(true),
            };
            match sure {
                Some(true) => {}
                Some(false) => {
                    self.presses.patience = Some(now.plus(AGAIN));
                    return;
                }
                None => {
                    self.presses.patience = Some(now.plus(1));
                    return;
                }
            }
        } else if let Target::Ply(index) = target
            && index >= self.line.count
            && self.sure(index + 1 - self.line.count, now, out) == Some(false)
        {
            self.name_stories(now, index + 1 - self.line.count, out);
        }
        match target {
            Target::Ply(index) => {
                // The board is quiet and tells another story than the line: somebody should look
                // before the ply stands.
                if self.threads.len() == 1
                    && self.unexplained() > 2 * CALM
                    && self.stood_wrong(press.at, index)
                    && now.since(self.last_change) >= TWO_SCANS
                {
                    let squares = self.eyes.name(self.diff(), self.tip().board());
                    self.tell_differ(squares, out);
                }
                self.settle_ply(&press, index, out);
            }
            Target::Unchanged => {
                self.presses.waiting.pop_front();
                if press.lever {
                    let mover = self.mover();
                    out.push(Finding::Press { at: press.at, by: press.by, mover, board: AtPress::Unchanged });
                }
            }
            Target::Unexplained => self.judge(&press, now, out),
        }
    }

    /// A man stood where the line has none, or another, when ply `index` was made or well before it
    /// was pressed: what came later may be the next hand's, since the clock's word may be late.
    fn stood_wrong(&self, pressed: Timestamp, index: usize) -> bool {
        let ply = index.checked_sub(self.line.count).and_then(|open| self.threads[0].open.get(open));
        let then = ply.map_or(pressed, |ply| ply.made.made_at.plus(SCAN).max(pressed.plus(-SKEW)));
        let wrong = self.diff() & !self.eyes.empty();
        wrong.into_iter().any(|square| self.eyes.since[usize::from(square)] <= then)
    }

    /// The press completes ply `index`.
    fn settle_ply(&mut self, press: &Press, index: usize, out: &mut Vec<Finding>) {
        let Some(mover) = self.player(index) else {
            self.presses.waiting.pop_front();
            return;
        };
        self.presses.waiting.pop_front();
        self.presses.upto = index + 1;
        if press.lever {
            self.presses.wrong = match (mover == press.by, self.presses.wrong) {
                (true, 2..) => 2.min(self.presses.wrong - 1),
                (true, _) => 0,
                (false, wrong) => (wrong + 1).min(4),
            };
        }
        let open = index.checked_sub(self.line.count);
        let made_at = open.and_then(|open| self.threads[0].open.get(open)).map(|ply| ply.made.made_at);
        let last = index + 1 == self.line.count + self.threads[0].open.len();
        let rest = if last { self.disturbed(press.at) } else { Bitboard::EMPTY };
        let played = match open.and_then(|open| self.threads[0].open.get(open)).map(|ply| &ply.made.step) {
            Some(Step::Move(m)) => Some(*m),
            _ => None,
        };
        if let Some(open) = open {
            self.confirm(open + 1, out);
        }
        // While what was played is open, the ply has no number yet.
        if !press.lever || index >= self.line.count {
            return;
        }
        let board = match played {
            Some(played) if rest.any() => AtPress::Irregular {
                what: Irregular::MovePlus { played },
                sensed: self.eyes.board.clone(),
                squares: self.eyes.name(rest, self.line.base.board()),
            },
            _ => AtPress::Move {
                index,
                before_release: made_at.is_some_and(|made| made.since(press.at) > SCAN),
            },
        };
        let squares = match &board {
            AtPress::Irregular { squares, .. } => Some(squares.clone()),
            _ => None,
        };
        out.push(Finding::Press { at: press.at, by: press.by, mover, board });
        if let Some(squares) = squares
            && !self.ending.closed
        {
            self.tell_differ(squares, out);
        }
        self.suspect(press.at, out);
    }

    /// Squares beside the last ply on which a wrong man stands since it was made, and stood at the
    /// press, by the scan: what comes later is another hand's (the reply, kings on their way to the
    /// centre).
    fn disturbed(&self, pressed: Timestamp) -> Bitboard {
        let diff = self.diff();
        let wrong = diff & !self.eyes.empty();
        if wrong.is_empty() {
            return wrong;
        }
        // The reply may be on its way: a man of the next side was put down.
        let next = self.tip().turn();
        let theirs = wrong & self.eyes.board.by_color(next);
        if theirs == wrong && theirs.count() <= 2 {
            return Bitboard::EMPTY;
        }
        let began = self.line.base_at;
        let since = |square| self.eyes.since[usize::from(square)];
        if wrong.into_iter().all(|square| since(square) <= began || since(square) > pressed.plus(SCAN)) {
            return Bitboard::EMPTY;
        }
        diff
    }

    /// No ply explains the press: looks harder, then says what stands there.
    fn judge(&mut self, press: &Press, now: Timestamp, out: &mut Vec<Finding>) {
        if self.held.is_empty() && self.threads.len() == 1 && self.look_harder(now, out) {
            // A ply was found; the press is settled with it.
            if let Target::Ply(index) = self.target(press) {
                self.settle_ply(press, index, out);
                return;
            }
        }
        self.presses.waiting.pop_front();
        let many = self.threads.len() > 1;
        if !many {
            let open = self.shown.len();
            self.confirm_now(open, now, out);
            if self.ending.closed {
                return;
            }
        }
        let position = self.held.last().map_or_else(|| self.tip().clone(), |held| held.after.clone());
        let mover = position.turn();
        self.presses.upto = self.line.count;
        let old = self.old_differences();
        let view = self.threads[0].view(&self.eyes);
        let diff = view.diff(position.board());
        let Some(what) = classify(&position, view, old) else {
            if press.lever {
                out.push(Finding::Press { at: press.at, by: press.by, mover, board: AtPress::Unchanged });
            }
            self.suspect(press.at, out);
            return;
        };
        let squares = self.eyes.name(diff, position.board());
        let sensed = self.eyes.board.clone();
        let told =
            AtPress::Irregular { what: what.clone(), sensed: sensed.clone(), squares: squares.clone() };
        match &what {
            Irregular::MovePlus { played } if self.held.is_empty() && !many => {
                self.add_ply(*played, &position, out);
                self.confirm(1, out);
                out.push(Finding::Press { at: press.at, by: press.by, mover, board: told });
                if !self.ending.closed {
                    self.tell_differ(squares, out);
                }
                return;
            }
            Irregular::PromotionSquareEmpty { candidates } if self.held.is_empty() && !many => {
                self.fork(&position, candidates, out);
            }
            Irregular::InAir { square, .. } if self.held.is_empty() && !many => {
                let from = *square;
                let moves: Vec<Move> = position
                    .legal_moves()
                    .into_iter()
                    .filter(|m| super::moves::origin(*m) == from && !m.is_castle())
                    .collect();
                self.hold(&position, &what, &sensed, now);
                self.fork(&position, &moves, out);
            }
            _ if !many => self.hold(&position, &what, &sensed, now),
            _ => {}
        }
        out.push(Finding::Press { at: press.at, by: press.by, mover, board: told });
        out.push(Finding::WantsDump);
        if matches!(what, Irregular::Other) {
            self.tell_differ(squares, out);
        }
    }

    /// Adds a ply to the only thread.
    fn add_ply(&mut self, m: Move, position: &Position, out: &mut Vec<Finding>) {
        let after = position.play(m);
        let made_at = self.eyes.latest(super::moves::squares(m, position.turn()));
        let made = Made { step: Step::Move(m), made_at, source: PlySource::Board };
        self.threads[0].open.push(Open { made, after });
        self.publish(Cause::Played, out);
    }

    /// Keeps the board of an irregular press as the ply it would be.
    fn hold(&mut self, position: &Position, what: &Irregular, sensed: &Board, at: Timestamp) {
        let uci = written(position, what);
        let made = Made {
            step: Step::Irregular { uci, board: Box::new(sensed.clone()) },
            made_at: at,
            source: PlySource::Board,
        };
        let after = position.after_irregular(sensed.clone());
        self.held.push(Held { made, after });
    }

    /// Keeps all these moves as what may have been played, the squares being taken as unread.
    fn fork(&mut self, position: &Position, moves: &[Move], out: &mut Vec<Finding>) {
        let before = self.threads[0].clone();
        let mut threads: Vec<Thread> = Vec::with_capacity(moves.len() + 1);
        for m in moves {
            let after = position.play(*m);
            let mut thread = before.clone();
            for square in self.threads[0].view(&self.eyes).diff(after.board()) {
                thread.stale.push(Stale { square, reading: self.eyes.board.piece_at(square) });
            }
            let made_at = self.eyes.latest(super::moves::squares(*m, position.turn()));
            let made = Made { step: Step::Move(*m), made_at, source: PlySource::Board };
            thread.open.push(Open { made, after });
            threads.push(thread);
        }
        threads.push(before);
        self.threads = threads;
        self.publish(Cause::Played, out);
    }

    /// A search that allows for lost updates: what has arrived without leaving, or the other way.
    fn look_harder(&mut self, at: Timestamp, out: &mut Vec<Finding>) -> bool {
        if self.search_deeply(at, out) {
            return true;
        }
        let tip = self.tip().clone();
        let view = self.threads[0].view(&self.eyes);
        let diff = view.diff(tip.board());
        let own = diff & tip.board().by_color(tip.turn());
        let arrived = diff & self.eyes.board.by_color(tip.turn());
        if !complete(&tip, view).is_empty() || own.any() || arrived.count() != 1 {
            return false;
        }
        // It stands on its new square, and still on the old one: the lift was lost.
        let to = arrived.first();
        let now = to.and_then(|to| self.eyes.board.piece_at(to));
        let mut fitting = tip.legal_moves().into_iter().filter(|m| {
            Some(m.to()) == to && !m.is_castle() && super::moves::arriving(*m) == now.map(|piece| piece.role)
        });
        let (Some(m), None) = (fitting.next(), fitting.next()) else { return false };
        let after = tip.play(m);
        for square in self.threads[0].view(&self.eyes).diff(after.board()) {
            let reading = self.eyes.board.piece_at(square);
            self.threads[0].stale.push(Stale { square, reading });
        }
        self.add_ply(m, &tip, out);
        true
    }

    /// Squares that differ since before the last confirmed ply.
    pub(super) fn old_differences(&self) -> Bitboard {
        let began = self.line.base_at;
        self.diff().into_iter().filter(|square| self.eyes.since[usize::from(*square)] < began).collect()
    }
}

/// How an irregular ply is written.
fn written(position: &Position, what: &Irregular) -> UciMove {
    match what {
        Irregular::PieceMoved { from, to, became, .. } => {
            UciMove::Normal { from: *from, to: *to, promotion: became.map(|piece| piece.role) }
        }
        Irregular::Castled { king, rook } => position.uci(Move::Castle { king: *king, rook: *rook }),
        Irregular::RookHome { castling, .. } => position.uci(*castling),
        Irregular::VictimLeft { capture, .. } => position.uci(*capture),
        Irregular::PawnOnLastRank { from, to } | Irregular::OutOfTurn { from, to, .. } => {
            UciMove::Normal { from: *from, to: *to, promotion: None }
        }
        Irregular::MovePlus { played } => position.uci(*played),
        Irregular::CaptureHalf { .. }
        | Irregular::PromotionSquareEmpty { .. }
        | Irregular::InAir { .. }
        | Irregular::Other => UciMove::Null,
    }
}
