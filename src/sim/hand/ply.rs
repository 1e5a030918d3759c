//! One half-move: quiet, capture, castling, promotion; and its press.

use shakmaty::{Color, Move, Piece, Role, Square};

use super::{Hands, IncidentKind, Level, Pace, carry::Way};
use crate::{record::Position, sim::Action};

impl Hands {
    pub(super) fn play_ply(
        &mut self,
        position: &Position,
        m: Move,
        ply: usize,
        pace: Pace,
        spent: Option<u64>,
    ) {
        let mover = position.turn();
        let began = self.now;
        if !self.knocked.is_empty() {
            self.wait(300, 1_500);
            self.restore_knocked();
        }
        self.think(pace, spent, mover);
        self.flush_due_press();
        self.fidget(position);
        if self.asked_for(ply, IncidentKind::IllegalMove) {
            self.illegal_move(position, m);
        }
        self.maybe_knock(ply, m);
        let way = Way { ply, no_slide: m.role() == Role::Knight };
        match m {
            Move::Castle { king, rook } => self.castle(position, king, rook, way),
            Move::EnPassant { from, to } => self.en_passant(from, to, way),
            Move::Normal { from, to, promotion: Some(role), capture, .. } => {
                self.promote(from, to, Piece { color: mover, role }, capture.is_some());
            }
            Move::Normal { from, to, capture: Some(_), .. } => self.capture(from, to, way),
            Move::Normal { from, to, .. } => self.carry(from, to, way),
            Move::Put { .. } => {}
        }
        self.budget_ms[mover] -= (self.now - began) as i64;
    }

    /// Adjusting, and pieces taken up and put back, before the move.
    fn fidget(&mut self, position: &Position) {
        let mover = position.turn();
        if self.sometimes(4, 40) {
            for _ in 0..self.rng.usize(1..=3) {
                self.adjust(mover);
            }
        }
        if self.sometimes(0, 8) {
            self.adjust(!mover);
        }
        if self.sometimes(0, 4) {
            // A piece is taken up, held, and put back: another one moves.
            let own = position.board().by_color(mover);
            if let Some(square) = self.any_of(own)
                && let Some(piece) = self.lift(square)
            {
                self.wait(800, 6_000);
                self.put(square, piece);
                self.wait(500, 4_000);
            }
        }
    }

    /// One piece of this colour is lifted and put back in the middle of its square.
    fn adjust(&mut self, side: Color) {
        if let Some(square) = self.any_of(self.board.by_color(side))
            && let Some(piece) = self.lift(square)
        {
            match self.level {
                Level::Blitz => self.wait(60, 150),
                _ => self.wait(120, 1_000),
            }
            self.put(square, piece);
            self.wait(150, 900);
        }
    }

    pub(super) fn any_of(&mut self, squares: shakmaty::Bitboard) -> Option<Square> {
        let squares: Vec<Square> = squares.into_iter().collect();
        if squares.is_empty() { None } else { Some(squares[self.rng.usize(0..squares.len())]) }
    }

    fn capture(&mut self, from: Square, to: Square, way: Way) {
        let order = match self.level {
            Level::Tidy => 0,
            Level::Blitz => [1, 2, 2, 2, 2, 2, 2, 2, 0, 3][self.rng.usize(0..10)],
            Level::Human | Level::Rough => [0, 0, 0, 1, 1, 2, 2, 2, 2, 3][self.rng.usize(0..10)],
        };
        match order {
            0 => {
                // The victim first.
                self.lift(to);
                self.reach();
                self.carry(from, to, way);
            }
            1 => {
                // The mover first, the victim with the other hand or out of its way.
                let Some(piece) = self.lift(from) else { return };
                self.travel(from, to, piece, way);
                self.lift(to);
                self.reach();
                self.set_down(to, piece, way);
            }
            2 => {
                // One sweep: the square is empty for a moment, or not at all.
                let Some(piece) = self.lift(from) else { return };
                self.travel(from, to, piece, way);
                self.lift(to);
                self.wait(0, 150);
                self.set_down(to, piece, way);
            }
            _ => {
                // The mover pushes the victim aside, which leaves the board late.
                let Some(piece) = self.lift(from) else { return };
                self.travel(from, to, piece, way);
                let victim = self.lift(to);
                let aside = self.free_neighbour(to).filter(|square| *square != from);
                if let (Some(victim), Some(aside)) = (victim, aside) {
                    self.put(aside, victim);
                    self.wait(10, 60);
                    self.put(to, piece);
                    self.reach();
                    self.lift(aside);
                    self.last_put = self.now;
                } else {
                    self.set_down(to, piece, way);
                }
            }
        }
    }

    fn en_passant(&mut self, from: Square, to: Square, way: Way) {
        let victim = Square::from_coords(to.file(), from.rank());
        let first = self.level != Level::Tidy && self.chance(350);
        if first {
            self.lift(victim);
            self.reach();
        }
        self.carry(from, to, Way { no_slide: true, ..way });
        if !first {
            if self.sometimes(0, 150) {
                self.wait(800, 4_000);
            } else {
                self.reach();
            }
            self.lift(victim);
            self.last_put = self.now;
        }
    }

    fn castle(&mut self, position: &Position, king: Square, rook: Square, way: Way) {
        let kingside = rook.file() > king.file();
        let rank = king.rank();
        let at = |file| Square::from_coords(file, rank);
        let (king_to, rook_to) = if kingside {
            (at(shakmaty::File::G), at(shakmaty::File::F))
        } else {
            (at(shakmaty::File::C), at(shakmaty::File::D))
        };
        let crossed = position.mode().is_chess960() || king_to == rook || rook_to == king;
        let rook_first = self.asked_for(way.ply, IncidentKind::RookFirst) || self.sometimes(120, 100);
        let both_hands = crossed || self.sometimes(500, 150);
        if both_hands {
            let king_piece = self.lift(king);
            self.wait(20, 250);
            let rook_piece = self.lift(rook);
            self.reach();
            let mut halves = [(king_piece, king_to), (rook_piece, rook_to)];
            if rook_first {
                halves.reverse();
            }
            for (index, (piece, to)) in halves.into_iter().enumerate() {
                if let Some(piece) = piece {
                    if index == 1 {
                        self.wait(0, 400);
                    }
                    self.put(to, piece);
                }
            }
            return;
        }
        let no_slide = Way { no_slide: true, ..way };
        if rook_first {
            // The rook beside the king first; then the king jumps over it.
            self.carry(rook, rook_to, way);
            self.second_half();
            self.carry(king, king_to, no_slide);
        } else {
            self.carry(king, king_to, way);
            self.second_half();
            self.carry(rook, rook_to, no_slide);
        }
    }

    fn second_half(&mut self) {
        if self.sometimes(0, 150) {
            self.wait(1_000, 7_000);
        } else {
            self.reach();
        }
    }

    fn promote(&mut self, from: Square, to: Square, piece: Piece, captures: bool) {
        let order = if self.level == Level::Tidy { 0 } else { self.rng.u32(0..4) };
        if captures && order != 2 {
            self.lift(to);
            self.reach();
        }
        match order {
            // The pawn off, the new piece on.
            0 => {
                self.lift(from);
                self.reach();
                self.put(to, piece);
            }
            // The new piece on while the pawn still stands behind it.
            1 => {
                self.put(to, piece);
                self.reach();
                self.lift(from);
                self.last_put = self.now;
            }
            // The pawn goes to the last rank, then is exchanged; a capture in one sweep.
            2 => {
                let pawn = self.lift(from);
                self.reach();
                self.lift(to);
                if let Some(pawn) = pawn {
                    self.wait(0, 120);
                    self.put(to, pawn);
                }
                if self.sometimes(0, 250) {
                    self.wait(1_500, 8_000); // the queen is fetched from another table
                } else {
                    self.reach();
                }
                self.lift(to);
                self.wait(80, 600);
                self.put(to, piece);
            }
            // The pawn is pushed on and taken off at once; the new piece follows.
            _ => {
                if let Some(pawn) = self.lift(from) {
                    self.reach();
                    self.put(to, pawn);
                    self.wait(100, 700);
                    self.lift(to);
                }
                self.reach();
                self.put(to, piece);
            }
        }
    }

    /// The press after a ply: in time, early, late, or forgotten.
    pub(super) fn press(&mut self, before: &Position, after: &Position, ply: usize, last: bool) {
        let mover = before.turn();
        let over = after.chess().is_some_and(shakmaty::Position::is_game_over);
        if last && over && self.chance(600) {
            // Mate: nobody presses any more, most of the time.
            self.flush_late_press();
            return;
        }
        if self.asked_for(ply, IncidentKind::ForgottenPress) {
            self.wait(6_000, 15_000);
            self.press_now(mover);
            return;
        }
        match self.level {
            Level::Tidy => {
                self.wait(200, 700);
                self.press_now(mover);
            }
            Level::Human | Level::Rough => {
                if !last && self.chance(5) {
                    // Forgotten; the opponent waits a while, or plays on without a word.
                    if self.chance(500) {
                        self.wait(3_000, 15_000);
                        self.press_now(mover);
                    }
                    return;
                }
                if !last && self.chance(20) {
                    // The opponent answers before the press.
                    let at = self.now + self.rng.u64(300..=1_800);
                    self.late(at, mover);
                    return;
                }
                self.wait(120, 2_000);
                self.press_now(mover);
            }
            Level::Blitz => {
                let kind = self.rng.u32(0..100);
                if kind < 10 {
                    // Pressed as the piece comes down, or a moment before.
                    let early = self.rng.u64(0..=120);
                    let at = self.now.saturating_sub(early).max(self.last_press + 30);
                    self.press_at(at, mover);
                } else if kind < 30 && !last {
                    // The answer comes before the press.
                    let at = self.now + self.rng.u64(100..=500);
                    self.late(at, mover);
                } else {
                    self.wait(20, 90);
                    self.press_now(mover);
                }
            }
        }
    }

    fn press_now(&mut self, side: Color) {
        self.flush_late_press();
        self.now = self.now.max(self.last_press + 30);
        self.press_at(self.now, side);
    }

    fn press_at(&mut self, at: u64, side: Color) {
        self.flush_late_press();
        let at = at.max(self.last_press + 20);
        self.last_press = at;
        self.acts.push((at, Action::Press(side)));
    }

    fn late(&mut self, at: u64, side: Color) {
        self.flush_late_press();
        self.pressed_late = Some((at, side));
    }

    /// The late press comes before anything else is pressed.
    pub(super) fn flush_late_press(&mut self) {
        if let Some((at, side)) = self.pressed_late.take() {
            self.press_at(at, side);
            self.now = self.now.max(self.last_press);
        }
    }

    /// The late press has come meanwhile.
    fn flush_due_press(&mut self) {
        if self.pressed_late.is_some_and(|(at, _)| at <= self.now) {
            self.flush_late_press();
        }
    }
}
