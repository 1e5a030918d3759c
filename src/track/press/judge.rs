//! What stood on the board when a press belongs to no ply: nothing, an irregular move, or a ply that the squares
//! told too late.

use shakmaty::{Board, Move, uci::UciMove};

use super::{Held, Press, Target};
use crate::{
    record::{PlySource, Position, Timestamp},
    track::{
        AtPress, Cause, Finding, Irregular, Track,
        irregular::classify,
        line::{Made, Step},
        moves::{Stale, complete},
        threads::{Open, Thread},
    },
};

impl Track {
    /// No ply explains the press: looks harder, then says what stands there.
    pub(super) fn judge(&mut self, press: &Press, now: Timestamp, out: &mut Vec<Finding>) {
        if self.held.is_empty() && self.threads.len() == 1 && self.look_harder(now, out) {
            // A ply was found; the press is settled with it.
            if let Target::Ply(index) = self.target(press) {
                self.settle_ply(press, index, out);
                return;
            }
        }
        self.presses.waiting.pop_front();
        if self.gap.open() {
            return; // nobody saw how this board came about: what was played is for the gap to tell
        }
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
                    .filter(|m| crate::track::moves::origin(*m) == from && !m.is_castle())
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
        let made_at = self.eyes.latest(crate::track::moves::squares(m, position.turn()));
        self.threads[0].open.push(Open::of(m, made_at, after));
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
        self.ending.pressed();
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
            let made_at = self.eyes.latest(crate::track::moves::squares(*m, position.turn()));
            thread.open.push(Open::of(*m, made_at, after));
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
            Some(m.to()) == to
                && !m.is_castle()
                && crate::track::moves::arriving(*m) == now.map(|piece| piece.role)
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
