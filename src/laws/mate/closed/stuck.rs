//! Moves after which nothing matters any more, seen from the sets alone: a king that has no step left makes most moves
//! near it the last ones. The sets themselves are the parent's.

use super::{
    super::board::{
        BISHOP, BLACK, KING, PAWN, QUEEN, ROOK, Squares, WHITE, between, bit, distance, king_attacks, line,
        pawn_attacks, piece_attacks,
    },
    Man, Structure,
};

impl Structure {
    /// Whether, as far as found yet, no man of this side but the king ever moves, not even onto or over the square of the
    /// other king when that one steps away.
    ///
    /// While the other king stands at home its square is closed to all; a step of that very king opens it.
    pub(super) fn only_king_moves(&self, color: usize) -> bool {
        let other = self.king(color ^ 1);
        let left = if other.fixed { bit(other.home) } else { 0 };
        self.men[..self.count].iter().all(|man| {
            let role = man.role as usize;
            if man.color as usize != color || role == KING {
                return true;
            }
            let opened = match role {
                PAWN if color == WHITE => bit(man.home) << 8,
                PAWN => bit(man.home) >> 8,
                kind => piece_attacks(kind, man.home, self.fixed),
            };
            man.reach == bit(man.home) && !man.pruned && opened & left == 0
        })
    }

    /// The king of a side; kings are listed last.
    pub(super) fn king(&self, color: usize) -> &Man {
        let last = self.count.wrapping_sub(1) & 31;
        let other = self.count.wrapping_sub(2) & 31;
        if self.men[last].color as usize == color { &self.men[last] } else { &self.men[other] }
    }

    /// Whether, as far as found yet, this side's king never moves.
    pub(super) fn is_stuck(&self, color: usize) -> bool {
        let king = self.king(color);
        king.reach == bit(king.home)
    }

    /// Squares that fixed men of `color` other than `but` attack in every position that matters; somebody may stand on
    /// the squares of `closed`, nobody on others.
    pub(super) fn guarded(&self, color: usize, but: usize, closed: u64) -> u64 {
        let mut all = 0;
        for (index, man) in self.men[..self.count].iter().enumerate() {
            if index == but || !man.fixed || man.color as usize != color {
                continue;
            }
            all |= match man.role as usize {
                PAWN => pawn_attacks(color, man.home),
                kind => piece_attacks(kind, man.home, closed),
            };
        }
        all
    }

    /// Whether some White man other than the king may move to one of `squares` at once, the fixed men being
    /// `fixed`; a pawn's capture counts whether or not somebody stands there.
    fn white_may_reach(&self, squares: u64, fixed: u64) -> bool {
        self.men[..self.count].iter().any(|man| {
            let role = man.role as usize;
            if man.color as usize != WHITE || role == KING {
                return false;
            }
            Squares(man.reach).any(|from| {
                let hits = match role {
                    PAWN => pawn_attacks(WHITE, from) | bit(from) << 8 | bit(from) << 16,
                    kind => piece_attacks(kind, from, fixed),
                };
                hits & squares != 0
            })
        })
    }

    /// What White's men other than the king are known to attack; perhaps not yet all of it, never too much.
    fn white_hits(&self) -> u64 {
        let men = self.men[..self.count].iter();
        men.filter(|man| man.color as usize == WHITE && man.role as usize != KING && !man.rooted)
            .fold(0, |all, man| all | man.attacks)
    }

    /// Whether Black man `index`, no king, mates whenever it moves from `from` to `to`; not for a pawn's double step,
    /// a promotion, or a capture in passing.
    ///
    /// **Soundness.** Called only while White's king, on *w*, never moves. Take a position that matters, in which the move
    /// is made. Then:
    /// * White's king is in check: by the man itself, as a pawn or knight, or along squares on which nobody ever stands; or by a fixed
    ///   Black line piece to whose line the man's square belonged, all other squares of it being such.
    /// * It has no step: each neighbour of *w* holds a fixed White man (not the one just taken on `to`), or is attacked by
    ///   the man itself or by a fixed Black man, along squares on which nobody ever stands but *w*, just left. Black men on these squares are
    ///   thereby protected. A pinned man attacks nevertheless.
    /// * No White man takes the checker, or one of two, or steps between, from wherever it may stand, the mover's home
    ///   being open if it was held.
    ///
    /// So it is mate, and not by White.
    pub(super) fn mates(&self, index: usize, from: u8, to: u8) -> bool {
        let man = &self.men[index & 31];
        let role = man.role as usize;
        let king = self.king(WHITE).home;
        let closed = self.anywhere & !bit(king) | bit(to);
        let own = |at: u8| match role {
            PAWN => pawn_attacks(BLACK, at),
            kind => piece_attacks(kind, at, closed),
        };
        let hits = own(to);
        let known = self.white_hits();
        let slides = |kind: usize| matches!(kind, BISHOP | ROOK | QUEEN);
        // Where a White man would have to go against the check by this man; nowhere if it gives none.
        let mut answers = 0;
        if hits & bit(king) != 0 {
            answers = bit(to) | if slides(role) { between(to, king) } else { 0 };
        }
        let direct = answers != 0 && answers & known == 0;
        if !direct && line(king, from) == 0 {
            return false;
        }
        let mut held = 0;
        for other in &self.men[..self.count] {
            if other.fixed && other.color as usize == WHITE && other.home != to {
                held |= bit(other.home);
            }
        }
        let open = king_attacks(king) & !held;
        if open & !(hits | self.guarded(BLACK, index, closed)) != 0 {
            return false;
        }
        let fixed = self.fixed & !bit(man.home);
        if direct && !self.white_may_reach(answers, fixed) {
            return true;
        }
        self.men[..self.count].iter().any(|other| {
            let kind = other.role as usize;
            if !slides(kind) || other.color as usize != BLACK || !other.fixed || other.home == from {
                return false;
            }
            let path = between(king, other.home);
            path & bit(from) != 0
                && path & bit(to) == 0
                && path & self.anywhere & !bit(from) == 0
                && piece_attacks(kind, other.home, 0) & bit(king) != 0
                && (path | bit(other.home)) & known == 0
                && !self.white_may_reach(path | bit(other.home), fixed)
        })
    }

    /// Takes the mating moves of a Black pawn on `from` out of `to`; whether there are any.
    pub(super) fn prune_pawn(&self, index: usize, from: u8, to: &mut u64) -> bool {
        let ahead = bit(from) >> 8;
        let mut any = false;
        // Not promotions, not captures on the rank where they may be in passing, nor pushes to where a double step leads.
        let mut spared = 0xff | 0x00ff_0000 & !ahead;
        if self.men[index & 31].home >> 3 == 6 {
            spared |= 0x00ff_0000_0000 & ahead;
        }
        for square in Squares(*to & !spared) {
            if self.mates(index, from, square) {
                *to &= !bit(square);
                any = true;
                // It may go on at once: that move is not a mate by this argument.
                if from >> 3 == 6 && bit(square) == ahead {
                    *to |= ahead >> 8 & !self.fixed;
                }
            }
        }
        any
    }

    /// Whether White's last man beside the king, by moving to `square`, is always taken at once.
    ///
    /// **Soundness.** Called only while Black's king, on *b*, never moves, and White has one other man, no pawn. Take a position
    /// that matters, in which the move is made. `square` is next to *b*, and the man attacks *b* from there, so Black is in check and
    /// nobody can step between. All other neighbours of *b* hold fixed Black men, so every legal move takes the man. There is one:
    /// * by the king, if White's king, wherever it stands in its reach, is not next to `square`; or
    /// * by a fixed Black man, along squares on which nobody ever stands. It is not pinned: White's only other man
    ///   is the one taken.
    ///
    /// After it White has a bare king.
    pub(super) fn throws_away(&self, index: usize, square: u8) -> bool {
        let man = &self.men[index & 31];
        let king = self.king(BLACK).home;
        let around = king_attacks(king);
        if around & bit(square) == 0 || piece_attacks(man.role as usize, square, 0) & bit(king) == 0 {
            return false;
        }
        let (mut held, mut taking) = (0, 0);
        for other in &self.men[..self.count] {
            if !other.fixed || other.color as usize != BLACK || other.home == square {
                continue;
            }
            held |= bit(other.home);
            if other.role as usize != KING {
                taking |= match other.role as usize {
                    PAWN => pawn_attacks(BLACK, other.home),
                    kind => piece_attacks(kind, other.home, self.anywhere),
                };
            }
        }
        if around & !held & !bit(square) != 0 {
            return false;
        }
        let mut white_king = Squares(self.king(WHITE).reach);
        taking & bit(square) != 0 || white_king.all(|at| distance(at, square) > 1)
    }

    /// Whether the king of `color` stepping to `square` always ends the game without a mate by White.
    ///
    /// **Soundness.** Called only while nothing of the other side but its king, on *y*, can ever move, this step made. Then the other side has a
    /// legal move only if the king has one: to a square not next to `square`, not held by an own fixed man, not attacked by a
    /// fixed enemy man. If from no *y* of its reach, `square` not being next to it, such a move exists, the game is over
    /// when the king arrives. It is no mate by White if the arriving king is Black's; nor if no check
    /// can arise: a king's step checks only by uncovering a line, so a White line piece beyond the square left, on the
    /// line from *y* through it, is looked for. Nothing that happens after the end needs to be in the sets.
    pub(super) fn ends_the_game(&self, color: usize, square: u8) -> bool {
        let mut other_king = 0;
        let mut barred = king_attacks(square);
        for man in &self.men[..self.count] {
            let role = man.role as usize;
            if man.color as usize == color {
                if man.fixed && role != KING {
                    barred |= match role {
                        PAWN => pawn_attacks(color, man.home),
                        kind => piece_attacks(kind, man.home, self.anywhere | bit(square)),
                    };
                }
            } else if role == KING {
                other_king = man.reach;
            } else if man.fixed {
                barred |= bit(man.home);
            }
        }
        for king in Squares(other_king & !king_attacks(square) & !bit(square)) {
            if king_attacks(king) & !barred != 0 {
                return false;
            }
            if color == WHITE && self.may_uncover(king, square) {
                return false;
            }
        }
        true
    }

    /// Whether White's king could uncover a check to `king` by stepping to `square`.
    fn may_uncover(&self, king: u8, square: u8) -> bool {
        let sliders = self.men[..self.count]
            .iter()
            .filter(|man| man.color as usize == WHITE && matches!(man.role as usize, BISHOP | ROOK | QUEEN));
        for man in sliders {
            for left in Squares(king_attacks(square)) {
                for from in Squares(man.reach & line(king, left)) {
                    let path = between(king, from);
                    let seen = piece_attacks(man.role as usize, from, 0) & bit(king) != 0;
                    if seen && path & bit(left) != 0 && path & self.fixed == 0 {
                        return true;
                    }
                }
            }
        }
        false
    }
}
