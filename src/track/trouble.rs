//! When nothing simple explains the board: the deeper search, and what is said of it.

use shakmaty::{Bitboard, Color, Move, Piece, Square};

use super::{
    Cause, Finding, Irregular, SquareDiff, SquareFault, Track,
    bridge::bridges,
    ending::CENTRE,
    irregular::{classify, out_of_turn},
    moves::origin,
    press::SCAN,
    threads::{LET_GO, Open, Thread},
};
use crate::record::{Position, Timestamp};

/// A square must have been wrong for so long to be called faulty, in ms.
const FAULTY: i64 = 1_500;
/// And since so long before the press, in ms.
const FAULTY_BEFORE: i64 = 500;
/// Plies that the deeper search looks ahead from the last confirmed one.
const AHEAD: usize = 4;

impl Track {
    /// Looks for the one short line from the last confirmed ply that explains the whole board.
    pub(super) fn search_deeply(&mut self, _at: Timestamp, out: &mut Vec<Finding>) -> bool {
        if self.threads.len() > 1 || !self.held.is_empty() {
            return false;
        }
        let diff = self.diff();
        if diff.is_empty() {
            return false;
        }
        if self.last_change != self.gap.asked {
            self.gap.asked = self.last_change;
            out.push(Finding::WantsDump);
        }
        if (diff & !self.eyes.empty()).is_empty() {
            return false; // only men in hands
        }
        let began = self.line.base_at;
        let seen: Bitboard =
            Square::ALL.into_iter().filter(|square| self.eyes.since[usize::from(*square)] > began).collect();
        // From the position shown first, then from the last confirmed one.
        let open = self.threads[0].open.len();
        for drop in 0..=open.min(2) {
            let keep = open - drop;
            let position = if keep == 0 { &self.line.base } else { &self.threads[0].open[keep - 1].after };
            let found = bridges(position, self.threads[0].view(&self.eyes), AHEAD.min(2 + drop), seen);
            let Some(line) = found.only() else { continue };
            if line.len() < drop || !self.witnessed(position, line) {
                continue; // plies do not vanish because another board looks alike
            }
            let mut position = position.clone();
            let mut add = Vec::new();
            for m in line {
                let touched = super::moves::squares(*m, position.turn());
                position = position.play(*m);
                add.push(Open::of(*m, self.eyes.latest(touched), position.clone()));
            }
            let mut thread = self.threads[0].clone();
            thread.open.truncate(keep);
            thread.open.extend(add);
            if thread.cost(&self.line.base, began, &self.eyes) + self.unlikely(keep, &thread)
                >= self.threads[0].cost(&self.line.base, began, &self.eyes)
            {
                continue;
            }
            self.threads[0] = thread;
            self.publish(if drop == 0 { Cause::Played } else { Cause::Revised }, out);
            self.differs_since = None;
            return true;
        }
        false
    }

    /// What speaks against this thread that keeps so many open plies: a man that was pressed for is not the
    /// hand's any more, and at a calm pace no man moves twice in no time.
    fn unlikely(&self, keep: usize, thread: &Thread) -> u32 {
        let hurry = self.hurry();
        let changed = thread.open[keep].made.made_at;
        let let_go = self.threads[0].let_go(keep, &self.eyes, hurry, changed);
        let let_go = if let_go > LET_GO { let_go } else { 0 };
        let quick = (keep..thread.open.len()).map(|index| {
            let made_at = thread.open[index].made.made_at;
            thread.open[index].step().map_or(0, |m| thread.too_quick(index, origin(m), made_at, hurry))
        });
        let_go + quick.sum::<u32>()
    }

    /// Each ply of the line was seen to arrive, in its order (within a scan).
    fn witnessed(&self, position: &Position, line: &[Move]) -> bool {
        let mut position = position.clone();
        let mut since = self.line.base_at;
        line.iter().all(|m| {
            let Some(role) = super::moves::arriving(*m) else {
                position = position.play(*m);
                return true;
            };
            let piece = Piece { color: position.turn(), role };
            position = position.play(*m);
            let seen = self.eyes.arrival(m.to(), piece, since);
            since = seen.map_or(since, |at| at.plus(-SCAN).max(since));
            seen.is_some()
        })
    }

    /// The men have stood long enough to be released: says what was done that is no move.
    pub(super) fn name_released(&mut self, out: &mut Vec<Finding>) {
        if self.threads.len() > 1 || !self.held.is_empty() || self.kings_on_the_way() {
            return;
        }
        let old = self.old_differences();
        let tip = self.tip().clone();
        let view = self.threads[0].view(&self.eyes);
        let diff = view.diff(tip.board()) & !old;
        if let Some((from, to, piece)) = out_of_turn(&tip, view)
            && self.threads[0].open.is_empty()
            && !self.said.undone
        {
            out.push(Finding::OutOfTurn { from, to, piece });
            return;
        }
        let wrong = diff & !self.eyes.empty();
        let what = classify(&tip, view, old);
        match what {
            Some(
                what @ (Irregular::PieceMoved { .. }
                | Irregular::Castled { .. }
                | Irregular::RookHome { legal: false, .. }),
            ) if !self.said.pending => {
                self.said.pending = true;
                out.push(Finding::Pending { what, squares: self.eyes.name(diff, tip.board()) });
            }
            // What changed while nobody looked was not knocked over: the gap tells of it.
            _ if wrong.count() >= 2 && diff.count() >= 3 && !self.said.undone && !self.gap.open() => {
                out.push(Finding::Displaced(self.eyes.name(diff, tip.board())));
            }
            _ => {}
        }
    }

    /// A king was put on a centre square where it cannot have gone by a move: a result is coming.
    pub(super) fn kings_on_the_way(&self) -> bool {
        let board = self.tip().board();
        let diff = self.diff();
        Color::ALL.into_iter().any(|side| {
            let king = self.eyes.board.king_of(side);
            king.is_some_and(|king| CENTRE.contains(king) && diff.contains(king))
                && king != board.king_of(side)
        })
    }

    /// The board is unexplained for long.
    pub(super) fn differs_long(&mut self, out: &mut Vec<Finding>) {
        self.said.differ = true; // weighed; taken back below when there is nothing to say
        if self.threads.len() > 1 || !self.held.is_empty() {
            return;
        }
        let tip = self.tip().clone();
        let diff = self.diff();
        let holes = diff & self.eyes.empty();
        if holes == diff {
            // Men in hands: no trouble, unless a man of the side not on move is away for long.
            return;
        }
        let half = matches!(
            classify(&tip, self.threads[0].view(&self.eyes), Bitboard::EMPTY),
            Some(
                Irregular::RookHome { .. }
                    | Irregular::VictimLeft { .. }
                    | Irregular::PawnOnLastRank { .. }
                    | Irregular::PieceMoved { .. }
                    | Irregular::Castled { .. }
            )
        ) || matches!(
            classify(self.before_last(), self.threads[0].view(&self.eyes), Bitboard::EMPTY),
            Some(Irregular::RookHome { .. } | Irregular::VictimLeft { .. })
        );
        if half || self.kings_on_the_way() {
            return;
        }
        let squares = self.eyes.name(diff, tip.board());
        self.said.differ = false;
        self.gap_or_differ(squares, out);
        self.said.differ = true;
    }

    /// Squares that differ since before the last confirmed ply.
    pub(super) fn old_differences(&self) -> Bitboard {
        let began = self.line.base_at;
        self.diff().into_iter().filter(|square| self.eyes.since[usize::from(*square)] < began).collect()
    }

    /// The position before the last open ply, which the same hand may be changing yet.
    fn before_last(&self) -> &Position {
        let open = &self.threads[0].open;
        open.len().checked_sub(2).map_or(&self.line.base, |last| &open[last].after)
    }

    /// Sensed and position differ, and somebody should look.
    pub(super) fn tell_differ(&mut self, squares: Vec<SquareDiff>, out: &mut Vec<Finding>) {
        if !std::mem::replace(&mut self.said.differ, true) {
            out.push(Finding::Differ(squares));
        }
    }

    /// After a settled press: squares that were wrong long before it, and still are, are faulty.
    pub(super) fn suspect(&mut self, pressed: Timestamp, out: &mut Vec<Finding>) {
        let now = pressed;
        if self.hasty(now) {
            return; // what differs now may be the line's fault
        }
        let tip = self.tip().clone();
        for square in self.diff() {
            let since = self.eyes.since[usize::from(square)];
            if now.since(since) < FAULTY_BEFORE.max(FAULTY - super::press::SKEW)
                || self.eyes.faults.knows(square)
            {
                continue;
            }
            let expected = tip.board().piece_at(square);
            let sensed = self.eyes.board.piece_at(square);
            let surplus = sensed.is_some_and(|piece| {
                self.eyes.board.by_piece(piece).count() > tip.board().by_piece(piece).count()
            });
            let fault = match (expected, sensed) {
                (Some(_), None) => SquareFault::Missing,
                (_, Some(_)) if surplus => SquareFault::Ghost,
                _ => continue,
            };
            // The man of the side on move may be in its hand; then it was lifted after the press.
            self.eyes.faults.add(square, fault, sensed);
            self.eyes.refresh(square);
            out.push(Finding::SquareFault { square, fault });
        }
    }

    /// Faulty squares that read what the position now has there are well again.
    pub(super) fn mend_faults(&mut self, out: &mut Vec<Finding>) {
        let board = self.line.base.board();
        let well: Vec<Square> = self
            .eyes
            .faults
            .steady()
            .filter(|square| board.piece_at(*square) == self.eyes.board.piece_at(*square))
            .collect();
        for square in well {
            self.eyes.faults.forget(square);
            self.eyes.refresh(square);
            out.push(Finding::SquareWell { square });
        }
    }
}
