//! What goes wrong: illegal moves on request, pieces knocked over, weak and ghostly sensors.

use shakmaty::{Bitboard, Color, Move, Piece, Role, Square, attacks};

use super::{Hands, IncidentKind, Level};
use crate::{record::Position, sim::Action, wire::Content};

/// A piece that does not stand where it should.
pub(super) struct Knocked {
    home: Square,
    /// It rolled on to this square; `None` = it lies where no sensor feels it.
    lies: Option<Square>,
    piece: Piece,
}

impl Hands {
    /// An illegal move with the piece that then moves, pressed, noticed, taken back. Afterwards the
    /// mover is on move again with the clock running.
    pub(super) fn illegal_move(&mut self, position: &Position, m: Move) {
        let Some(from) = m.from() else { return };
        let mover = position.turn();
        self.flush_late_press();
        let Some(to) = illegal_target(position, from) else { return };
        let Some(piece) = self.lift(from) else { return };
        self.reach();
        self.put(to, piece);
        self.wait(200, 800);
        self.acts.push((self.now, Action::Press(mover)));
        self.last_press = self.now;
        // The opponent stops the clock and calls the arbiter.
        self.wait(2_000, 5_000);
        self.log(Action::Stop);
        self.wait(8_000, 20_000);
        self.lift(to);
        self.wait(500, 1_500);
        self.put(from, piece);
        self.wait(2_000, 5_000);
        self.log(Action::AddTime(!mover, 120_000));
        self.wait(1_000, 3_000);
        self.log(Action::Press(!mover));
        self.wait(500, 1_500);
        self.log(Action::Start);
        self.last_press = self.now;
        self.wait(1_500, 6_000);
    }

    /// A piece near the move is knocked over: it lies off its square or rolls next door. It is put
    /// right before the move goes on or, in a hurry, only after the press.
    pub(super) fn maybe_knock(&mut self, ply: usize, m: Move) {
        let asked = self.asked_for(ply, IncidentKind::Knock);
        if self.level == Level::Rough {
            self.maybe_ghost();
        }
        if !asked && (self.level != Level::Rough || !self.chance(20)) {
            return;
        }
        let ends = Bitboard::from_iter([m.from().unwrap_or(m.to()), m.to()]);
        let near =
            ends.into_iter().fold(Bitboard::EMPTY, |near, square| near | attacks::king_attacks(square));
        let in_the_way = ends | attacks::between(m.from().unwrap_or(m.to()), m.to());
        // Castling's own squares and the pawn of an en passant are not knocked.
        let spared = match m {
            Move::Castle { king, .. } => Bitboard::from(king.rank()),
            Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()).into(),
            Move::Normal { .. } | Move::Put { .. } => Bitboard::EMPTY,
        };
        let after_press = !asked && self.chance(300);
        for _ in 0..self.rng.usize(1..=2) {
            let fallen: Bitboard = self.knocked.iter().filter_map(|knocked| knocked.lies).collect();
            let standing = self.board.occupied() & !fallen;
            let Some(home) = self.any_of(near & standing & !in_the_way & !spared) else { break };
            let Some(piece) = self.lift(home) else { return };
            let mut lies = None;
            if self.chance(500)
                && let Some(next) = self.free_neighbour(home).filter(|next| {
                    !(in_the_way | spared).contains(*next)
                        && self.knocked.iter().all(|knocked| knocked.home != *next)
                })
            {
                self.wait(60, 250);
                self.put(next, piece);
                lies = Some(next);
            }
            self.knocked.push(Knocked { home, lies, piece });
            if after_press {
                return;
            }
        }
        self.wait(500, 3_000);
        self.restore_knocked();
    }

    /// Pieces that were knocked over stand again where they stood.
    pub(super) fn restore_knocked(&mut self) {
        for knocked in std::mem::take(&mut self.knocked) {
            if let Some(lies) = knocked.lies {
                self.lift(lies);
                self.wait(150, 700);
            }
            self.put(knocked.home, knocked.piece);
            self.wait(200, 1_200);
        }
    }

    /// One square of a bad board loses its piece for a moment, again and again.
    pub(super) fn weak_square(&mut self, from_ms: u64, to_ms: u64) {
        if self.level != Level::Rough || !self.chance(600) {
            return;
        }
        let square = Square::new(self.rng.u32(0..64));
        let mut at = from_ms;
        loop {
            at += self.rng.u64(4_000..=40_000);
            let lasts = self.rng.u64(80..=600);
            if at + lasts >= to_ms {
                return;
            }
            self.acts.push((at, Action::Disturb(square, Some(Content::Empty))));
            self.acts.push((at + lasts, Action::Disturb(square, None)));
        }
    }

    /// A square reads something that is not there, for a scan or a few.
    fn maybe_ghost(&mut self) {
        if self.chance(25) {
            let square = Square::new(self.rng.u32(0..64));
            let content = if self.board.piece_at(square).is_some() && self.chance(500) {
                Content::Empty
            } else {
                let role = Role::ALL[self.rng.usize(0..6)];
                let color = if self.rng.bool() { Color::White } else { Color::Black };
                Content::Piece(Piece { color, role })
            };
            self.disturb(square, content, 100, 900);
        }
    }

    fn disturb(&mut self, square: Square, content: Content, least: u64, most: u64) {
        let until = self.now + self.rng.u64(least..=most);
        self.log(Action::Disturb(square, Some(content)));
        self.acts.push((until, Action::Disturb(square, None)));
    }
}

/// A square near the true target's that this piece cannot legally go to, and where nothing stands.
fn illegal_target(position: &Position, from: Square) -> Option<Square> {
    let legal: Bitboard =
        position.legal_moves().into_iter().filter(|m| m.from() == Some(from)).map(Move::to).collect();
    let mut free: Vec<Square> = (!position.board().occupied() & !legal).into_iter().collect();
    free.sort_by_key(|square| square.distance(from));
    free.into_iter().find(|square| {
        // A pawn on the last rank or a rook's trip that castles would be another story.
        square.distance(from) >= 1 && !matches!(square.rank(), shakmaty::Rank::First | shakmaty::Rank::Eighth)
    })
}
