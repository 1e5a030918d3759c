//! A small board for searching: bitboards, copy-make, exact legal moves and an exact 32-byte key.
//!
//! Clocks and repetition are left out on purpose: the question "can this side still mate by any series
//! of legal moves" does not depend on them. Castling is king-takes-rook inside, so Chess960 needs no
//! special case. What a position *means* (material, proofs, searches) is left to the neighbours.

use shakmaty::{Bitboard, Chess, Color, Position, Role, Square, attacks};

pub(super) const WHITE: usize = 0;
pub(super) const BLACK: usize = 1;

pub(super) const PAWN: usize = 0;
pub(super) const KNIGHT: usize = 1;
pub(super) const BISHOP: usize = 2;
pub(super) const ROOK: usize = 3;
pub(super) const QUEEN: usize = 4;
pub(super) const KING: usize = 5;
/// No man: what [`Board::role_at`] answers for an empty square.
pub(super) const NONE: usize = 6;

pub(super) const NO_SQUARE: u8 = 64;
/// Flips a square's rank; also the mask of its rank bits.
pub(super) const OTHER_SIDE: u8 = 0o70;
pub(super) const RANK_1: u64 = 0xff;
pub(super) const RANK_8: u64 = 0xff << 56;
pub(super) const LIGHT: u64 = 0x55aa_55aa_55aa_55aa;

/// A move: from (6 bits), to (6), promotion role (3, 0 for none), castling (1; `to` is the rook's square).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step(pub(super) u16);

impl Step {
    pub(super) const NULL: Step = Step(0);

    pub(super) fn new(from: u8, to: u8) -> Step {
        Step(from as u16 | (to as u16) << 6)
    }

    pub(super) fn promotion(from: u8, to: u8, role: usize) -> Step {
        Step(from as u16 | (to as u16) << 6 | (role as u16) << 12)
    }

    pub(super) fn castling(king: u8, rook: u8) -> Step {
        Step(king as u16 | (rook as u16) << 6 | 1 << 15)
    }

    pub(super) fn from(self) -> u8 {
        (self.0 & 63) as u8
    }

    pub(super) fn to(self) -> u8 {
        (self.0 >> 6 & 63) as u8
    }

    /// The role promoted to; 0 for none, since nobody promotes to a pawn.
    pub(super) fn promoted(self) -> usize {
        (self.0 >> 12 & 7) as usize
    }

    pub(super) fn is_castling(self) -> bool {
        self.0 >> 15 == 1
    }

    /// The same move seen with the ranks turned over.
    pub(super) fn mirrored(self) -> Step {
        Step(self.0 ^ (OTHER_SIDE as u16 | (OTHER_SIDE as u16) << 6))
    }
}

/// A position without clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Board {
    pub(super) color: [u64; 2],
    pub(super) role: [u64; 6],
    /// Rooks that may still castle.
    pub(super) castling: u64,
    /// The square behind a pawn that has just advanced two squares, if an enemy pawn stands beside it.
    pub(super) ep: u8,
    /// [`WHITE`] or [`BLACK`].
    pub(super) turn: u8,
}

/// All squares in a set, lowest first.
pub(super) struct Squares(pub(super) u64);

impl Iterator for Squares {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        let square = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(square)
    }
}

#[inline]
pub(super) fn bit(square: u8) -> u64 {
    1 << (square & 63)
}

#[inline]
fn sq(square: u8) -> Square {
    Square::ALL[(square & 63) as usize]
}

#[inline]
pub(super) fn rook_attacks(square: u8, occupied: u64) -> u64 {
    attacks::rook_attacks(sq(square), Bitboard(occupied)).0
}

#[inline]
pub(super) fn bishop_attacks(square: u8, occupied: u64) -> u64 {
    attacks::bishop_attacks(sq(square), Bitboard(occupied)).0
}

#[inline]
pub(super) fn knight_attacks(square: u8) -> u64 {
    attacks::knight_attacks(sq(square)).0
}

#[inline]
pub(super) fn king_attacks(square: u8) -> u64 {
    attacks::king_attacks(sq(square)).0
}

/// Squares a pawn of this colour attacks from here.
#[inline]
pub(super) fn pawn_attacks(color: usize, square: u8) -> u64 {
    attacks::pawn_attacks(if color == WHITE { Color::White } else { Color::Black }, sq(square)).0
}

#[inline]
pub(super) fn between(a: u8, b: u8) -> u64 {
    attacks::between(sq(a), sq(b)).0
}

/// The whole line through both squares, empty if they are on none.
#[inline]
pub(super) fn line(a: u8, b: u8) -> u64 {
    attacks::ray(sq(a), sq(b)).0
}

/// Attacks of a man that is no pawn.
#[inline]
pub(super) fn piece_attacks(role: usize, square: u8, occupied: u64) -> u64 {
    match role {
        KNIGHT => knight_attacks(square),
        BISHOP => bishop_attacks(square, occupied),
        ROOK => rook_attacks(square, occupied),
        QUEEN => bishop_attacks(square, occupied) | rook_attacks(square, occupied),
        _ => king_attacks(square),
    }
}

/// King moves from one square to the other.
#[inline]
pub(super) fn distance(a: u8, b: u8) -> u32 {
    let files = (a & 7).abs_diff(b & 7);
    let ranks = (a >> 3).abs_diff(b >> 3);
    files.max(ranks) as u32
}

fn role_index(role: Role) -> usize {
    match role {
        Role::Pawn => PAWN,
        Role::Knight => KNIGHT,
        Role::Bishop => BISHOP,
        Role::Rook => ROOK,
        Role::Queen => QUEEN,
        Role::King => KING,
    }
}

impl Board {
    pub(super) fn new(position: &Chess) -> Board {
        let men = position.board();
        let mut role = [0; 6];
        for each in Role::ALL {
            role[role_index(each)] = men.by_role(each).0;
        }
        let mut board = Board {
            color: [men.by_color(Color::White).0, men.by_color(Color::Black).0],
            role,
            castling: position.castles().castling_rights().0,
            ep: NO_SQUARE,
            turn: if position.turn() == Color::White { WHITE as u8 } else { BLACK as u8 },
        };
        if let Some(square) = position.maybe_ep_square() {
            board.ep = u32::from(square) as u8;
            board.drop_idle_ep();
        }
        board
    }

    /// The same position with the colours exchanged and the ranks turned over.
    pub(super) fn mirrored(&self) -> Board {
        Board {
            color: [self.color[BLACK].swap_bytes(), self.color[WHITE].swap_bytes()],
            role: self.role.map(u64::swap_bytes),
            castling: self.castling.swap_bytes(),
            ep: if self.ep == NO_SQUARE { NO_SQUARE } else { self.ep ^ OTHER_SIDE },
            turn: self.turn ^ 1,
        }
    }

    /// The side that is likelier to find a mate soon: by its men; among equals the one to move.
    pub(super) fn stronger(&self) -> Color {
        let worth = |color: usize| {
            let count = |role: usize| self.men(color, role).count_ones();
            9 * count(QUEEN) + 5 * count(ROOK) + 2 * (count(BISHOP) + count(KNIGHT)) + count(PAWN)
        };
        let (white, black) = (worth(WHITE), worth(BLACK));
        if white > black || white == black && self.us() == WHITE { Color::White } else { Color::Black }
    }

    #[inline]
    pub(super) fn us(&self) -> usize {
        (self.turn & 1) as usize
    }

    #[inline]
    pub(super) fn occupied(&self) -> u64 {
        self.color[WHITE] | self.color[BLACK]
    }

    #[inline]
    pub(super) fn men(&self, color: usize, role: usize) -> u64 {
        self.color[color & 1] & self.role[role]
    }

    #[inline]
    pub(super) fn king(&self, color: usize) -> u8 {
        (self.men(color, KING).trailing_zeros() & 63) as u8
    }

    #[inline]
    pub(super) fn role_at(&self, square: u8) -> usize {
        let on = |role: usize| (self.role[role] >> (square & 63) & 1) as usize;
        // Without branches: in a search they would all be guessed wrong.
        let none = NONE * usize::from(self.occupied() & bit(square) == 0);
        none + KNIGHT * on(KNIGHT)
            + BISHOP * on(BISHOP)
            + ROOK * on(ROOK)
            + QUEEN * on(QUEEN)
            + KING * on(KING)
    }

    /// Men of `by` that attack `square`, were `occupied` the men on the board.
    #[inline]
    pub(super) fn attackers(&self, by: usize, square: u8, occupied: u64) -> u64 {
        let theirs = self.color[by & 1];
        let straight = self.role[ROOK] | self.role[QUEEN];
        let slanting = self.role[BISHOP] | self.role[QUEEN];
        let mut found = knight_attacks(square) & self.role[KNIGHT]
            | king_attacks(square) & self.role[KING]
            | pawn_attacks(by ^ 1, square) & self.role[PAWN];
        if straight & theirs != 0 {
            found |= rook_attacks(square, occupied) & straight;
        }
        if slanting & theirs != 0 {
            found |= bishop_attacks(square, occupied) & slanting;
        }
        found & theirs
    }

    /// Men that give check to the side to move.
    #[inline]
    pub(super) fn checkers(&self) -> u64 {
        self.attackers(self.us() ^ 1, self.king(self.us()), self.occupied())
    }

    /// Men of the side to move that may leave only along the line to their king.
    pub(super) fn pinned(&self, king: u8) -> u64 {
        let us = self.us();
        let theirs = self.color[us ^ 1];
        let straight = (self.role[ROOK] | self.role[QUEEN]) & theirs;
        let slanting = (self.role[BISHOP] | self.role[QUEEN]) & theirs;
        if straight | slanting == 0 {
            return 0;
        }
        let snipers = rook_attacks(king, theirs) & straight | bishop_attacks(king, theirs) & slanting;
        let mut pinned = 0;
        for sniper in Squares(snipers) {
            let blockers = between(king, sniper) & self.occupied();
            if blockers.is_power_of_two() {
                pinned |= blockers & self.color[us];
            }
        }
        pinned
    }

    /// Appends every legal move of the side to move.
    pub(super) fn legal(&self, checkers: u64, out: &mut Vec<Step>) {
        let us = self.us();
        let (ours, theirs) = (self.color[us], self.color[us ^ 1]);
        let occupied = ours | theirs;
        let king = self.king(us);
        for to in Squares(king_attacks(king) & !ours) {
            if self.attackers(us ^ 1, to, occupied ^ bit(king)) == 0 {
                out.push(Step::new(king, to));
            }
        }
        if checkers & checkers.wrapping_sub(1) != 0 {
            return;
        }
        let target =
            if checkers == 0 { !ours } else { checkers | between(king, checkers.trailing_zeros() as u8) };
        let pinned = self.pinned(king);
        for from in Squares(ours & !(self.role[PAWN] | self.role[KING])) {
            let mask = bit(from);
            let mut to = if self.role[KNIGHT] & mask != 0 {
                knight_attacks(from)
            } else {
                let mut reach = 0;
                if (self.role[BISHOP] | self.role[QUEEN]) & mask != 0 {
                    reach |= bishop_attacks(from, occupied);
                }
                if (self.role[ROOK] | self.role[QUEEN]) & mask != 0 {
                    reach |= rook_attacks(from, occupied);
                }
                reach
            } & target;
            if pinned & mask != 0 {
                to &= line(king, from);
            }
            for square in Squares(to) {
                out.push(Step::new(from, square));
            }
        }
        self.pawn_moves(king, target, pinned, out);
        if checkers == 0 && self.castling & ours != 0 {
            self.castling_moves(king, out);
        }
    }

    fn pawn_moves(&self, king: u8, target: u64, pinned: u64, out: &mut Vec<Step>) {
        let us = self.us();
        let occupied = self.occupied();
        let theirs = self.color[us ^ 1];
        let pawns = self.color[us] & self.role[PAWN];
        let last = if us == WHITE { RANK_8 } else { RANK_1 };
        let free = if pinned & pawns == 0 { pawns } else { pawns & !pinned };
        for from in Squares(pawns) {
            let (one, start) =
                if us == WHITE { (from.wrapping_add(8), 1) } else { (from.wrapping_sub(8), 6) };
            let mut to = pawn_attacks(us, from) & theirs;
            if one < 64 && occupied & bit(one) == 0 {
                to |= bit(one);
                if from >> 3 == start {
                    let two = if us == WHITE { one + 8 } else { one - 8 };
                    to |= bit(two) & !occupied;
                }
            }
            to &= target;
            if free & bit(from) == 0 {
                to &= line(king, from);
            }
            for square in Squares(to & !last) {
                out.push(Step::new(from, square));
            }
            for square in Squares(to & last) {
                for role in [QUEEN, KNIGHT, ROOK, BISHOP] {
                    out.push(Step::promotion(from, square, role));
                }
            }
        }
        if self.ep != NO_SQUARE {
            let victim = if us == WHITE { self.ep - 8 } else { self.ep + 8 };
            for from in Squares(pawn_attacks(us ^ 1, self.ep) & pawns) {
                let after = occupied ^ bit(from) ^ bit(victim) | bit(self.ep);
                if self.attackers(us ^ 1, king, after) & !bit(victim) == 0 {
                    out.push(Step::new(from, self.ep));
                }
            }
        }
    }

    fn castling_moves(&self, king: u8, out: &mut Vec<Step>) {
        let us = self.us();
        let occupied = self.occupied();
        for rook in Squares(self.castling & self.color[us]) {
            let (king_to, rook_to) = castled(king, rook);
            let free = occupied ^ bit(king) ^ bit(rook);
            let path = between(king, king_to) | bit(king_to) | between(rook, rook_to) | bit(rook_to);
            if path & free != 0 {
                continue;
            }
            let safe = Squares(between(king, king_to))
                .all(|square| self.attackers(us ^ 1, square, occupied ^ bit(king)) == 0)
                && self.attackers(us ^ 1, king_to, free | bit(rook_to)) == 0;
            if safe {
                out.push(Step::castling(king, rook));
            }
        }
    }

    /// Whether the side to move, in check by `checkers`, has a legal move; cheaper than listing them.
    pub(super) fn can_answer(&self, checkers: u64) -> bool {
        let us = self.us();
        let ours = self.color[us];
        let king = self.king(us);
        let occupied = self.occupied();
        for to in Squares(king_attacks(king) & !ours) {
            if self.attackers(us ^ 1, to, occupied ^ bit(king)) == 0 {
                return true;
            }
        }
        if checkers & checkers.wrapping_sub(1) != 0 {
            return false;
        }
        if self.ep != NO_SQUARE {
            let mut steps = Vec::new();
            self.legal(checkers, &mut steps);
            return !steps.is_empty();
        }
        // A pinned man's line meets the checking line in the king alone, so it answers no check.
        let free = ours & !self.role[KING] & !self.pinned(king);
        let checker = checkers.trailing_zeros() as u8;
        if self.attackers(us, checker, occupied) & free != 0 {
            return true;
        }
        let pawns = free & self.role[PAWN];
        let path = between(king, checker);
        let (one, two) = if us == WHITE {
            let one = pawns << 8 & !occupied;
            (one, one << 8 & !occupied & 0xff00_0000)
        } else {
            let one = pawns >> 8 & !occupied;
            (one, one >> 8 & !occupied & 0x00ff_0000_0000)
        };
        (one | two) & path != 0
            || Squares(path).any(|to| self.attackers(us, to, occupied) & free & !self.role[PAWN] != 0)
    }

    /// The position after a legal move.
    pub(super) fn after(&self, step: Step) -> Board {
        let mut next = *self;
        let us = self.us();
        let (from, to) = (bit(step.from()), bit(step.to()));
        next.turn ^= 1;
        next.ep = NO_SQUARE;
        if step.is_castling() {
            let (king_to, rook_to) = castled(step.from(), step.to());
            next.color[us] ^= from | to;
            next.color[us] |= bit(king_to) | bit(rook_to);
            next.role[KING] = next.role[KING] & !from | bit(king_to);
            next.role[ROOK] = next.role[ROOK] & !to | bit(rook_to);
            next.castling &= !home_rank(us);
            return next;
        }
        let role = self.role_at(step.from());
        if self.color[us ^ 1] & to != 0 {
            next.color[us ^ 1] &= !to;
            for men in &mut next.role {
                *men &= !to;
            }
        }
        next.color[us] ^= from | to;
        if role < NONE {
            next.role[role] ^= from | to;
        }
        if next.castling != 0 {
            next.castling &= !(from | to);
            if role == KING {
                next.castling &= !home_rank(us);
            }
        }
        if role == PAWN {
            if step.promoted() != 0 {
                next.role[PAWN] ^= to;
                next.role[step.promoted()] |= to;
            } else if step.to() == self.ep {
                let victim = if us == WHITE { to >> 8 } else { to << 8 };
                next.color[us ^ 1] &= !victim;
                next.role[PAWN] &= !victim;
            } else if step.from().abs_diff(step.to()) == 16 {
                next.ep = u8::midpoint(step.from(), step.to());
                next.drop_idle_ep();
            }
        }
        next
    }

    /// Forgets an en passant square that no pawn of the side to move attacks, so that equal positions
    /// have equal keys.
    fn drop_idle_ep(&mut self) {
        let us = self.us();
        if pawn_attacks(us ^ 1, self.ep) & self.color[us] & self.role[PAWN] == 0 {
            self.ep = NO_SQUARE;
        }
    }

    /// All of the position in 32 bytes, one to one.
    ///
    /// Three planes hold the role of each square (1 to 6), the fourth its colour. A rook that may castle
    /// and a pawn that may be taken in passing have code 7 (one is on a first rank, the other never). The
    /// colour plane is inverted when Black is to move; which way it is shows on any empty square.
    pub(super) fn key(&self) -> [u64; 4] {
        let special = self.castling
            | if self.ep == NO_SQUARE {
                0
            } else {
                bit(if self.ep < 32 { self.ep + 8 } else { self.ep - 8 })
            };
        [
            self.role[PAWN] | self.role[BISHOP] | self.role[QUEEN] | special,
            self.role[KNIGHT] | self.role[BISHOP] | self.role[KING] | special,
            self.role[ROOK] | self.role[QUEEN] | self.role[KING] | special,
            if self.turn == WHITE as u8 { self.color[WHITE] } else { !self.color[WHITE] },
        ]
    }

    /// The position of a [`Board::key`].
    pub(super) fn from_key(key: &[u64; 4]) -> Board {
        let [a, b, c, d] = *key;
        let occupied = a | b | c;
        let special = a & b & c;
        let (turn, white) = if d & !occupied == 0 { (WHITE, d) } else { (BLACK, !d) };
        let ends = RANK_1 | RANK_8;
        let castling = special & ends;
        let passing = special & !ends;
        let ep = if passing == 0 {
            NO_SQUARE
        } else {
            let square = passing.trailing_zeros() as u8;
            if square < 32 { square - 8 } else { square + 8 }
        };
        Board {
            color: [white, occupied & !white],
            role: [
                a & !b & !c | passing,
                b & !a & !c,
                a & b & !c,
                c & !a & !b | castling,
                a & c & !b,
                b & c & !a,
            ],
            castling,
            ep,
            turn: turn as u8,
        }
    }
}

fn home_rank(color: usize) -> u64 {
    if color == WHITE { RANK_1 } else { RANK_8 }
}

/// Where king and rook stand after castling.
pub(super) fn castled(king: u8, rook: u8) -> (u8, u8) {
    let rank = king & OTHER_SIDE;
    if rook > king { (rank | 6, rank | 5) } else { (rank | 2, rank | 3) }
}
