//! A proof from the structure alone: what can each man ever reach, and can that ever be mate?
//!
//! The sets are too large on purpose (checks, pins, tempo and crowding are ignored), so *mate is possible*
//! means nothing here; *impossible* is a proof. The winner is White.
//!
//! `stuck`: moves after which nothing matters any more; `mated`: whether the sets leave room for a mate; `rooted`: the
//! same proof after finding the men that never leave home; `runs`: whether a promotion ends the argument before it has begun;
//! `fill`: attacks of many men at once.

mod fill;
mod mated;
mod rooted;
mod runs;
mod stuck;

pub(super) use rooted::cannot_mate_deep;

use super::board::{
    BLACK, Board, KING, KNIGHT, NO_SQUARE, PAWN, QUEEN, RANK_1, RANK_8, Squares, WHITE, bit, pawn_attacks,
    piece_attacks,
};

/// One man and the squares it may ever stand on.
#[derive(Clone, Copy)]
struct Man {
    role: u8,
    color: u8,
    home: u8,
    /// Never moves and is never taken, as far as found yet.
    fixed: bool,
    /// May be taken, as far as found yet.
    taken: bool,
    /// A pawn that may promote, as far as found yet.
    promoted: bool,
    /// Has moves that were left out because nothing matters after them.
    pruned: bool,
    /// Known never to move; its attacks are given.
    rooted: bool,
    reach: u64,
    /// Everything it may ever attack, its reach being what it is.
    attacks: u64,
}

const NOBODY: Man = Man {
    role: 0,
    color: 0,
    home: 0,
    fixed: false,
    taken: false,
    promoted: false,
    pruned: false,
    rooted: false,
    reach: 0,
    attacks: 0,
};

/// The fixpoint of a position.
pub(super) struct Structure {
    men: [Man; 32],
    count: usize,
    /// Squares of the fixed men.
    fixed: u64,
    /// Where each colour's men stand at first.
    homes: [u64; 2],
    /// Where any man but a king of this colour may stand.
    stand: [u64; 2],
    /// Where any man may stand.
    anywhere: u64,
    /// White has one man beside its king.
    lone: bool,
}

impl Structure {
    /// Saturates the reach of every man; `None` if a White pawn may promote or castling is possible, where this
    /// kind of argument is given up.
    ///
    /// **Soundness.** Claim: in every position that legal play can reach, every man stands in its `reach`
    /// or is off the board, every man that was ever taken is marked `taken`, and every `fixed` man stands at
    /// home. It holds at the start. Let it hold before a legal move of man *m* from *a* to *b*:
    /// * A line piece passes only empty squares, so no fixed man is on its way, and it does not land on one of its
    ///   own: *b* is in the attacks from *a* with the fixed men as blockers, which the closure adds.
    /// * A king does not step to where a fixed enemy man attacks. A fixed pawn, knight or king always attacks
    ///   its squares; a fixed line piece attacks those before and including the first square that any man can ever
    ///   occupy (`anywhere`), since nothing else can stand between.
    /// * A pawn advances to an empty square: not a fixed man's. It takes only where an enemy man other than the king stands, or
    ///   in passing where the taken pawn could have stood (it could have stopped there; at the root that
    ///   square is added to its reach).
    /// * **Order on a file.** If a pawn *p* and an enemy pawn *q* ahead of it both never leave the file
    ///   and *q* is never taken, *p* stays below *q*, which never is above its home: so *p* enters only squares
    ///   below that. If *q* is an own pawn, *p* stays below the highest square of *q*'s reach.
    ///   The rule is used only while the reach of both is within the file and *q* is not marked taken.
    /// * A taken man on *b* is marked, because its reach and the taker's capture squares meet in *b*.
    /// * A promoted Black pawn moves as a queen and as a knight, which covers whatever it became.
    /// * Positions from which White is proved unable to mate by another argument do not matter and need not be in the sets:
    ///   those after White's last man was taken; and those after a move that ends the game without a mate by White, or
    ///   gives White's last man away ([`Structure::ends_the_game`], [`Structure::mates`], [`Structure::throws_away`]).
    ///   The claim is for positions that matter.
    /// * A man that moves or is taken loses `fixed`.
    ///
    /// All conditions only weaken as the sets grow, so the loop ends in a state in which none of these additions is
    /// missing, and the claim holds after the move too.
    fn new(board: &Board, given: &Given) -> Option<Structure> {
        let hopeless = board.castling != 0
            || runs_through(board)
            || given.rooted == 0 && runs::promotes(board, given.kept.map_or(0, |at| home(board, at)));
        if hopeless { None } else { Structure::saturated(board, given) }
    }

    /// The same without a quick look first.
    fn saturated(board: &Board, given: &Given) -> Option<Structure> {
        let mut all = Structure {
            men: [NOBODY; 32],
            count: 0,
            fixed: board.occupied(),
            homes: board.color,
            stand: [0; 2],
            anywhere: board.occupied(),
            lone: (board.color[WHITE] & !board.role[KING]).is_power_of_two(),
        };
        for (role, men) in board.role.iter().enumerate() {
            for home in Squares(*men) {
                let color = u8::from(board.color[BLACK] & bit(home) != 0);
                let rooted = given.rooted >> all.count & 1 == 1;
                all.men[all.count & 31] = Man {
                    role: role as u8,
                    color,
                    home,
                    fixed: true,
                    taken: false,
                    promoted: false,
                    pruned: false,
                    rooted,
                    reach: bit(home),
                    attacks: if rooted { given.attacks[all.count & 31] } else { 0 },
                };
                all.count += 1;
                if role != KING {
                    all.stand[color as usize & 1] |= bit(home);
                }
            }
        }
        if board.ep != NO_SQUARE {
            let victim = if board.ep < 32 { board.ep + 8 } else { board.ep - 8 };
            for man in &mut all.men[..all.count] {
                if man.home == victim {
                    man.reach |= bit(board.ep);
                    all.stand[man.color as usize & 1] |= bit(board.ep);
                    all.anywhere |= bit(board.ep);
                }
            }
        }
        loop {
            let mut changed = false;
            // Kings first: most of what follows is not asked once White's has been seen to move.
            for index in (0..all.count).rev() {
                if !all.men[index & 31].rooted {
                    changed |= all.extend(index)?;
                }
            }
            changed |= all.mark_taken(given.kept);
            if !changed {
                return Some(all);
            }
        }
    }

    /// Adds what man `index` can reach now; `None` on a promotion by White.
    fn extend(&mut self, index: usize) -> Option<bool> {
        let man = self.men[index & 31];
        let color = man.color as usize & 1;
        let role = man.role as usize;
        let own_fixed = self.fixed & self.homes[color];
        let mut reach = man.reach;
        let mut attacks = 0;
        let (mut promoted, mut pruned) = (man.promoted, false);
        // Whether the rules for a king without a step apply to this man.
        let stuck = match color {
            WHITE => self.lone && !matches!(role, PAWN | KING) && self.is_stuck(BLACK),
            _ => role != KING && self.is_stuck(WHITE),
        };
        if role == PAWN {
            let bound = self.bound(index);
            let mut todo = reach;
            while todo != 0 {
                let from = todo.trailing_zeros() as u8;
                todo &= todo - 1;
                let hits = pawn_attacks(color, from);
                attacks |= hits;
                let ahead = if color == WHITE { bit(from) << 8 } else { bit(from) >> 8 };
                let prey = if color == BLACK && self.lone { 0 } else { self.stand[color ^ 1] };
                let mut to = (ahead & !self.fixed & bound | hits & prey) & !reach;
                if to & (RANK_1 | RANK_8) != 0 {
                    if color == WHITE || !self.lone {
                        return None;
                    }
                    promoted = true;
                }
                if stuck && to != 0 {
                    pruned |= self.prune_pawn(index, from, &mut to);
                }
                reach |= to;
                todo |= to;
            }
            if promoted {
                loop {
                    let through = !self.fixed;
                    let hits = fill::attacks(QUEEN, reach, through) | fill::attacks(KNIGHT, reach, through);
                    attacks |= hits;
                    let to = hits & !own_fixed & !reach;
                    if to == 0 {
                        break;
                    }
                    reach |= to;
                }
            }
        } else {
            let mut barred = own_fixed | self.fixed & bit(self.king(color ^ 1).home);
            if role == KING {
                barred |= self.guarded(color ^ 1, usize::MAX, self.anywhere);
            }
            let alone = role == KING && self.only_king_moves(color ^ 1);
            // Most men need no look at each single move.
            let plain = !alone && !stuck;
            let mut more = plain;
            while more {
                attacks = fill::attacks(role, reach, !self.fixed);
                let to = attacks & !barred & !reach;
                reach |= to;
                more = to != 0;
            }
            let mut todo = if plain { 0 } else { reach };
            while todo != 0 {
                let from = todo.trailing_zeros() as u8;
                todo &= todo - 1;
                let hits = piece_attacks(role, from, self.fixed);
                attacks |= hits;
                let mut to = hits & !barred & !reach;
                if alone {
                    for square in Squares(to) {
                        if self.ends_the_game(color, square) {
                            to &= !bit(square);
                        }
                    }
                }
                if stuck {
                    for square in Squares(to) {
                        let over = match color {
                            WHITE => self.throws_away(index, square),
                            _ => self.mates(index, from, square),
                        };
                        if over {
                            to &= !bit(square);
                            pruned = true;
                        }
                    }
                }
                reach |= to;
                todo |= to;
            }
        }
        let changed = reach != man.reach || pruned != man.pruned || promoted != man.promoted;
        let slot = &mut self.men[index & 31];
        slot.reach = reach;
        slot.attacks = attacks;
        slot.pruned = pruned;
        slot.promoted = promoted;
        if reach != man.reach {
            if slot.fixed {
                slot.fixed = false;
                self.fixed &= !bit(man.home);
            }
            self.anywhere |= reach;
            if role != KING {
                self.stand[color] |= reach;
            }
        }
        Some(changed)
    }

    /// Squares a pawn may advance to by the order on its file.
    fn bound(&self, index: usize) -> u64 {
        let man = &self.men[index & 31];
        let file = file_of(man.home);
        let mut bound = u64::MAX;
        if man.reach & !file != 0 {
            return bound;
        }
        let up = man.color as usize == WHITE;
        for (other_index, other) in self.men[..self.count].iter().enumerate() {
            if other_index == index
                || other.role as usize != PAWN
                || other.taken
                || other.reach & !file != 0
                || (other.home > man.home) != up
            {
                continue;
            }
            let limit = if other.color != man.color {
                other.home
            } else if up {
                63 - other.reach.leading_zeros() as u8
            } else {
                other.reach.trailing_zeros() as u8
            };
            bound &= if up { bit(limit) - 1 } else { !(bit(limit) | (bit(limit) - 1)) };
        }
        bound
    }

    fn mark_taken(&mut self, kept: Option<usize>) -> bool {
        let mut takes = [0; 2];
        for man in &self.men[..self.count] {
            takes[man.color as usize & 1] |= match man.role as usize {
                PAWN if man.promoted => man.attacks | man.reach,
                PAWN => man.attacks,
                _ => man.reach,
            };
        }
        let mut changed = false;
        for (index, man) in self.men[..self.count].iter_mut().enumerate() {
            // Nothing matters once White's last man is taken.
            if Some(index) == kept || self.lone && man.color as usize == WHITE {
                continue;
            }
            if !man.taken && man.role as usize != KING && man.reach & takes[man.color as usize & 1 ^ 1] != 0 {
                man.taken = true;
                changed = true;
                if man.fixed {
                    man.fixed = false;
                    self.fixed &= !bit(man.home);
                }
            }
        }
        changed
    }
}

/// Whether a White pawn has nothing before it up to the last rank, so that its set is sure to hold a promotion.
fn runs_through(board: &Board) -> bool {
    let mut ahead = board.men(WHITE, PAWN) << 8;
    for _ in 0..5 {
        ahead = (ahead & !board.occupied()) << 8 | ahead & RANK_8;
    }
    ahead & RANK_8 & !board.occupied() != 0
}

fn file_of(square: u8) -> u64 {
    0x0101_0101_0101_0101 << (square & 7)
}

/// Whether White is proved unable to mate by the structure.
pub(super) fn cannot_mate(board: &Board) -> bool {
    Structure::new(board, &Given::default()).is_some_and(|structure| !structure.mate_possible())
}

/// What a saturation may take as given.
#[derive(Default)]
struct Given {
    /// Men, by index, that are known never to move.
    rooted: u32,
    /// What each rooted man attacks at most while it lives.
    attacks: [u64; 32],
    /// A man assumed never to be taken.
    kept: Option<usize>,
}

/// The square of man `index`, as the men are listed.
fn home(board: &Board, index: usize) -> u64 {
    let all = board.role.iter().flat_map(|men| Squares(*men));
    all.skip(index).map(bit).next().unwrap_or(0)
}
