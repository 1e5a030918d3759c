//! The end of a game: mate and stalemate, kings or a result piece put up as a signal, entries; and
//! what may be seen on the board afterwards.
//!
//! With the end the record is closed. Kings go to the centre in any order and from any squares,
//! other men being pushed aside; the hops that led there are stripped from the line.

use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use super::{Cause, Finding, Track, line::Step, moves::origin, tracker::over};
use crate::{
    record::{GameResult, Timestamp},
    wire::Content,
};

/// d4, e4, d5, e5.
pub(super) const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);
/// Kings that stood so long in the centre are a signal, in ms.
const SIGNAL: i64 = 1_000;
/// The same when only one of them has moved and the clock is not stopped, in ms.
const ALONE: i64 = 2_900;
/// A king that rested so long before it went to the centre had made a move there, in ms.
const RESTED: i64 = 1_200;
/// A king's step so shortly before the other king was lifted made room for it, in ms.
const ROOM: i64 = 800;
/// A king that came to a centre square so long before the other was lifted, or before the clock
/// was stopped, had moved there, in ms.
const MOVED: i64 = 4_000;
/// A man that stands elsewhere for so long after the end is activity, in ms.
const ACTIVITY: i64 = 1_000;

/// What is known of the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    /// No moves are added any more.
    pub(super) closed: bool,
    /// The board at the end.
    board: Option<Box<Board>>,
    /// The result last signalled.
    signalled: Option<GameResult>,
    /// What the kings or a result piece say, and since when.
    seen: Option<(GameResult, Timestamp)>,
    /// One king alone came to stand beside the other, and the clock is not stopped: it may only be
    /// on its way.
    alone: bool,
    /// Something moved after the end, then.
    active_at: Option<Timestamp>,
    activity_said: bool,
    next_said: bool,
    /// When the clock was last stopped.
    pub(super) stopped_at: Option<Timestamp>,
    /// The king's move before its last hop: that, and when it was made.
    pub(super) hop: Option<(Step, Timestamp)>,
}

impl Ending {
    /// The lever moved: whoever presses plays on, so kings in the centre are no signal yet.
    pub(super) fn played_on(&mut self, at: Timestamp) {
        if let Some((_, since)) = &mut self.seen
            && self.alone
        {
            *since = at;
        }
    }

    /// The king that came alone beside the other was pressed there as a move, if no legal one: that is no signal
    /// until they move.
    pub(super) fn pressed(&mut self) {
        if let Some((result, _)) = self.seen.filter(|_| self.alone) {
            self.signalled = Some(result);
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        let signal = self
            .seen
            .filter(|(result, _)| self.signalled != Some(*result))
            .map(|(_, since)| since.plus(if self.alone { ALONE } else { SIGNAL }));
        let activity = self.active_at.filter(|_| !self.activity_said).map(|at| at.plus(ACTIVITY));
        match (signal, activity) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// What two kings on these squares say.
fn kings_say(white: Square, black: Square) -> Option<GameResult> {
    if !CENTRE.contains(white) || !CENTRE.contains(black) {
        return None;
    }
    Some(match (white.is_light(), black.is_light()) {
        (true, true) => GameResult::WhiteWins,
        (false, false) => GameResult::BlackWins,
        _ => GameResult::Draw,
    })
}

impl Track {
    /// Looks whether kings or a result piece stand as a signal.
    pub(super) fn watch_kings(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        let board = &self.eyes.board;
        let kings = match (king(board, Color::White), king(board, Color::Black)) {
            (Some(white), Some(black)) => kings_say(white, black),
            _ => None,
        };
        let piece = match self.eyes.result_piece {
            Some(Content::ResultPiece(Some(side))) => Some(GameResult::win(side)),
            Some(Content::ResultPiece(None)) => Some(GameResult::Draw),
            _ => None,
        };
        match (piece.or(kings), self.ending.seen) {
            (None, _) => {
                if self.ending.seen.take().is_some() && !self.ending.closed {
                    self.ending.hop = None;
                    self.ending.signalled = None;
                }
            }
            (Some(now), Some((before, _))) if now == before => {}
            (Some(now), _) => {
                self.ending.seen = Some((now, at));
                let board = self.line.base.board();
                let stood = |side| king(&self.eyes.board, side) == board.king_of(side);
                self.ending.alone = piece.is_none()
                    && !self.stopped
                    && !self.ending.closed
                    && Color::ALL.into_iter().any(stood);
            }
        }
        let _ = out;
    }

    /// Kings that stand in the centre when a board is looked at for the first time, before anything was
    /// played, are what the game before left there: no signal until they move.
    pub(super) fn left_over(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        self.watch_kings(at, out);
        self.ending.signalled = self.ending.seen.map(|(result, _)| result);
    }

    /// Serves what is due about the end.
    pub(super) fn serve_ending(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if let Some((result, since)) = self.ending.seen
            && self.ending.signalled != Some(result)
            && since.plus(if self.ending.alone { ALONE } else { SIGNAL }) <= at
        {
            self.ending.signalled = Some(result);
            if !self.ending.closed {
                self.strip_kings(out);
                self.finish(out);
            }
            out.push(Finding::KingsSignal(result));
        }
        if self.ending.active_at.is_some_and(|active| active.plus(ACTIVITY) <= at)
            && !self.ending.activity_said
        {
            self.ending.activity_said = true;
            out.push(Finding::ActivityAfterEnd);
        }
    }

    /// Takes the kings' hops to the centre out of the open plies.
    fn strip_kings(&mut self, out: &mut Vec<Finding>) {
        self.threads.truncate(1);
        let kings = self.eyes.board.kings();
        let rest = self.ending.hop.take();
        let thread = &mut self.threads[0];
        // The hands began with the first king that left its last resting place.
        let left: Vec<(Color, Timestamp)> = Color::ALL
            .into_iter()
            .filter_map(|color| {
                let king = Piece { color, role: Role::King };
                let now = self.eyes.board.king_of(color)?;
                if self.line.base.board().king_of(color) == Some(now) {
                    return None; // it stood there
                }
                Some((color, self.eyes.left_rest(king, now, RESTED)?))
            })
            .collect();
        let began = left.iter().map(|(_, at)| *at).min();
        let stopped = self.ending.stopped_at;
        while let Some(last) = thread.open.last() {
            let Step::Move(m) = last.made.step else { break };
            let to = m.to();
            let side = !last.after.turn();
            let was_king = last.after.board().role_at(to) == Some(Role::King);
            let made_at = last.made.made_at;
            let other = left.iter().find(|(color, _)| *color != side).map(|(_, at)| *at);
            let meant = stopped
                .is_some_and(|stopped| made_at < stopped && other.is_none_or(|other| stopped < other))
                || other.is_some_and(|other| other.since(made_at) >= MOVED);
            let hop = was_king && CENTRE.contains(to) && kings.contains(to);
            if hop && meant {
                break;
            }
            // On its way to the centre a king takes nobody.
            if was_king && m.is_capture() && !CENTRE.contains(to) {
                break;
            }
            // A step just before the kings went was to make room for them.
            let room = if was_king || CENTRE.contains(origin(m)) { ROOM } else { 0 };
            if !hop && began.is_none_or(|began| made_at.plus(room) <= began) {
                break;
            }
            let last = thread.open.pop();
            // The same king had rested elsewhere before: that was the move.
            if let (Some((Step::Move(before), at)), Some(last)) = (&rest, last)
                && origin(*before) == origin(m)
                && last.made.made_at.since(*at) >= RESTED
            {
                let base = thread.tip(&self.line.base).clone();
                let after = base.play(*before);
                let made = super::line::Made { step: Step::Move(*before), made_at: *at, ..last.made };
                thread.open.push(super::threads::Open { made, after });
                break;
            }
        }
        self.publish(Cause::KingsStripped, out);
    }

    /// Confirms what is open and closes the record.
    fn finish(&mut self, out: &mut Vec<Finding>) {
        self.threads.truncate(1);
        self.publish(Cause::Played, out);
        self.ending.closed = true;
        let open = self.shown.len();
        self.confirm(open, out);
        self.presses.forget(self.line.count);
        self.doubt.forget();
        self.held.clear();
        self.differs_since = None;
        self.ending.board = Some(Box::new(self.eyes.board.clone()));
        self.ending.active_at = None;
        self.ending.next_said = false;
    }

    /// Mate or stalemate closes the record.
    pub(super) fn end_if_over(&mut self, out: &mut Vec<Finding>) {
        if !self.ending.closed && over(&self.line.base) {
            self.finish(out);
        }
    }

    /// The game ended by an entry.
    pub(super) fn close(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.ending.closed {
            return;
        }
        if self.playing() {
            self.settle_presses(at, out);
        }
        if !self.ending.closed {
            self.finish(out);
        }
    }

    /// The game was reopened by an entry.
    pub(super) fn reopen(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.ending.closed {
            let seen = self.ending.seen;
            self.ending = Ending { seen, signalled: self.ending.signalled, ..Ending::default() };
            self.presses.forget(self.line.count);
            self.doubt.forget();
            self.look(at, out);
        }
    }

    /// After the end nothing is a move; it is noted that something moved, and the next set-up.
    pub(super) fn look_after_end(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        let start = self.line.start.board();
        if self.eyes.board == *start && self.line.count > 0 {
            if !self.ending.next_said {
                self.ending.next_said = true;
                out.push(Finding::NextGameReady);
            }
            return;
        }
        let Some(end) = &self.ending.board else { return };
        let elsewhere = super::eyes::differing(end, &self.eyes.board) & !self.eyes.blind();
        let put = elsewhere & !self.eyes.empty();
        // Kings may walk: to the centre, and back to where they stood.
        let kings = self.eyes.board.kings();
        let home = self.line.base.board().kings();
        let walked = put & kings & !(CENTRE | home);
        if (put & !kings).any() || walked.any() {
            self.ending.active_at.get_or_insert(at);
        } else {
            self.ending.active_at = None;
        }
    }

    /// With the clock stopped nothing is added and nothing taken back.
    pub(super) fn look_while_stopped(&mut self, _at: Timestamp, out: &mut Vec<Finding>) {
        let diff = self.diff();
        if diff.is_empty() {
            if !self.held.is_empty() {
                self.held.clear();
                out.push(Finding::Restored);
            }
            return;
        }
        if !self.held.is_empty() && self.mend_held(out) {
            return;
        }
        let kings = self.eyes.board.kings() | self.tip().board().kings();
        let others = diff & !kings & !self.eyes.empty();
        if others.any() && !self.said.stopped && self.held.is_empty() && !self.kings_on_the_way() {
            self.said.stopped = true;
            out.push(Finding::ActivityWhileStopped);
        }
    }

    /// What was left half done at the press is finished while the clock stands (a pawn replaced,
    /// a captured man taken off, a rook brought over).
    fn mend_held(&mut self, out: &mut Vec<Finding>) -> bool {
        let Some(held) = self.held.first() else { return false };
        let Step::Irregular { board, .. } = &held.made.step else { return false };
        let touched = super::eyes::differing(board, self.line.base.board());
        let tip = self.tip().clone();
        let found = super::moves::complete(&tip, self.threads[0].view(&self.eyes));
        let Some(found) = found.into_iter().find(|found| {
            found.residual.is_empty()
                && (super::moves::squares(found.m, tip.turn()) & touched).any()
                && finishes(board, &found.after, found.m, tip.turn())
        }) else {
            return false;
        };
        self.held.clear();
        self.threads[0].open.push(found.into());
        self.publish(Cause::Played, out);
        self.confirm(1, out);
        true
    }
}

/// The move only completes what stood on the board: the moved man stays on its square.
fn finishes(stood: &Board, after: &crate::record::Position, m: shakmaty::Move, turn: Color) -> bool {
    let squares = super::moves::squares(m, turn);
    let shown = squares & stood.by_color(turn) & after.board().by_color(turn);
    shown.any()
}

fn king(board: &Board, side: Color) -> Option<Square> {
    let mut kings = (board.kings() & board.by_color(side)).into_iter();
    match (kings.next(), kings.next()) {
        (Some(king), None) => Some(king),
        _ => None,
    }
}
