//! How one piece gets from a square to another: lifted, held, dragged, misplaced, touched down.

use shakmaty::{Bitboard, Piece, Square, attacks};

use super::{Hands, IncidentKind, Level};

/// What is special about this way.
#[derive(Clone, Copy, Default)]
pub(super) struct Way {
    /// The half-move, to know what is asked for.
    pub(super) ply: usize,
    /// No dragging: the squares between are not free, or the piece jumps.
    pub(super) no_slide: bool,
}

impl Hands {
    /// Carries the piece on `from` to the free square `to` and sets it down for good.
    pub(super) fn carry(&mut self, from: Square, to: Square, way: Way) {
        let Some(piece) = self.lift(from) else { return };
        self.travel(from, to, piece, way);
        self.set_down(to, piece, way);
    }

    /// The way between: in the air, or dragged over squares that notice it. The piece ends in the
    /// hand, over `to`.
    pub(super) fn travel(&mut self, from: Square, to: Square, piece: Piece, way: Way) {
        if self.sometimes(0, 30) {
            // Lifted, and only now thinking about it.
            self.wait(1_000, 9_000);
        }
        let asked = self.asked_for(way.ply, IncidentKind::Slide);
        let between: Vec<Square> = path(from, to);
        let free = between.iter().all(|square| self.board.piece_at(*square).is_none());
        let slides = asked || self.sometimes(140, 125);
        if way.no_slide || !slides || between.is_empty() || !free {
            self.reach();
            return;
        }
        let rest =
            if asked || self.sometimes(0, 150) { Some(self.rng.usize(0..between.len())) } else { None };
        for (index, square) in between.iter().enumerate() {
            self.gap();
            self.put(*square, piece);
            if rest == Some(index) {
                self.wait(500, 5_000);
            } else {
                match self.level {
                    Level::Blitz => self.wait(15, 60),
                    _ => self.wait(50, 260),
                }
            }
            self.lift(*square);
        }
        self.gap();
    }

    /// Sets the piece down: at once, after a wrong square, with second thoughts.
    pub(super) fn set_down(&mut self, to: Square, piece: Piece, way: Way) {
        let wrong = self.asked_for(way.ply, IncidentKind::WrongSquare) || self.sometimes(8, 10);
        if wrong && let Some(near) = self.free_neighbour(to) {
            // Badly aimed: it stands next door before anyone looks.
            self.put(near, piece);
            match self.level {
                Level::Blitz => self.wait(90, 350),
                _ => self.wait(400, 2_500),
            }
            self.lift(near);
            self.reach();
        }
        self.put(to, piece);
        if self.sometimes(0, 50) {
            // Touched down, lifted again while the fingers are still on it, set down after all.
            self.wait(150, 1_500);
            self.lift(to);
            self.wait(200, 2_500);
            self.put(to, piece);
        }
        if self.sometimes(0, 25) {
            // Twisted into the middle of the square.
            self.wait(200, 900);
            self.lift(to);
            self.wait(80, 400);
            self.put(to, piece);
        }
    }

    /// A free square next to this one.
    pub(super) fn free_neighbour(&mut self, square: Square) -> Option<Square> {
        let free: Vec<Square> =
            (attacks::king_attacks(square) & !self.board.occupied()).into_iter().collect();
        if free.is_empty() { None } else { Some(free[self.rng.usize(0..free.len())]) }
    }

    /// The piece is over an edge between two squares for a moment.
    fn gap(&mut self) {
        match self.level {
            Level::Blitz => self.wait(5, 25),
            _ => self.wait(10, 90),
        }
    }
}

/// The squares a dragged piece passes, in its order; none for a jump or a single step.
fn path(from: Square, to: Square) -> Vec<Square> {
    let between: Bitboard = attacks::between(from, to);
    let mut squares: Vec<Square> = between.into_iter().collect();
    squares.sort_by_key(|square| square.distance(from));
    squares
}
