//! Presses: those that wait, and what is done when one is settled. Which ply each belongs to and when it is
//! settled stands in `due`, what stood there if none does in `judge`.
//!
//! The lever and the squares come by different ways: the board's scan is up to 0.25 s behind, the
//! clock's data up to 1 s. So a press waits until the hand can no longer go on, or until the
//! other side has replied; a board that nothing explains gets 1.5 s (`T_SETTLE`).

mod due;
mod judge;

use std::collections::VecDeque;

use shakmaty::{Bitboard, Color};

use super::{
    AtPress, Finding, Irregular, Track,
    ledger::Pressed,
    line::{Made, Step},
};
use crate::record::{Position, Timestamp};

/// One scan of the squares, and a little.
pub(super) const SCAN: i64 = 300;
/// How far the clock's data may be behind or ahead of the squares.
pub(super) const SKEW: i64 = 1_000;
/// The clock's data and a late press after a reply, together.
pub(super) const LATE: i64 = 1_800;
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
pub(super) const BRISK: i64 = 650;
/// Presses whose delay is kept.
const DELAYS: usize = 12;
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
    /// How long after their men were read to stand the last presses were heard, in ms, the oldest first.
    delays: [i32; DELAYS],
    /// How many of these are known.
    known: usize,
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

    /// The shortest time from a man's reading to the press, of the last plies, in ms; but for one, since an
    /// update may be lost. It sums the habits of hands and the delays of scan and clock, none of which is
    /// known by itself.
    pub(super) fn soonest(&self) -> Option<i64> {
        if self.known < DELAYS {
            return None;
        }
        let mut delays = self.delays;
        delays.sort_unstable();
        Some(i64::from(delays[1]))
    }

    /// A press was heard so long after its man was read to stand.
    fn note_delay(&mut self, delay: i64) {
        self.delays.rotate_left(1);
        self.delays[DELAYS - 1] = delay.clamp(-SKEW, 10 * SKEW) as i32;
        self.known = DELAYS.min(self.known + 1);
    }

    /// When the first press that waits came.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.waiting.front().map(|press| press.at)
    }

    /// A clock reading at this moment is the other half of a press.
    pub(super) fn follows(&self, at: Timestamp) -> bool {
        self.last == Some(at)
    }

    /// The position before the illegal move stands again: presses that named the wrong side were its.
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
        self.ending.played_on(at);
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

    /// The plies before number `end` stand without waiting for a press: those that wait and are theirs are
    /// settled with them, and do not pass to later plies.
    pub(super) fn settle_with(&mut self, end: usize, out: &mut Vec<Finding>) {
        while let Some(press) = self.presses.waiting.front().copied()
            && let Target::Ply(index) = self.target(&press)
            && index < end
        {
            self.settle_ply(&press, index, out);
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
        // A scan after the last change whatever that hand did has been seen.
        if at.since(self.last_change) >= SCAN
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
        let mut target = self.target(&press);
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
                    let last = press.at.plus(PATIENCE).max(now.plus(1));
                    self.presses.patience = Some(now.plus(AGAIN).min(last));
                    return;
                }
                None => {
                    self.presses.patience = Some(now.plus(1));
                    return;
                }
            }
        } else if let Target::Ply(index) = target
            && index >= self.line.count
        {
            self.name_doubt(index + 1 - self.line.count, now, out);
            target = self.target(&press); // the line may have changed
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
        if let Some(made_at) = made_at.filter(|_| press.lever) {
            self.presses.note_delay(press.at.since(made_at));
        }
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
}
