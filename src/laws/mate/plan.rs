//! A mate two to four White moves ahead, found from its last position: where a man would mate the king as it
//! stands, how the man gets there, who protects it, while Black makes moves that change nothing. Every move is then
//! made on the board, so a plan that does not work is only time lost. It proves nothing else.

use super::{
    board::{
        BISHOP, BLACK, Board, KING, KNIGHT, PAWN, QUEEN, RANK_8, ROOK, Squares, Step, WHITE, between, bit,
        king_attacks, pawn_attacks, piece_attacks,
    },
    dive::{NOT_FILE_A, NOT_FILE_H, Pieces, exposes},
};

/// Goals tried on the board in one position.
const TRIES: usize = 3;
/// White moves of a plan.
const MOST: usize = 4;

/// Moves of White that may mate, in order.
struct Plan {
    steps: [Step; MOST],
    count: usize,
    /// Squares that have to stay as they are meanwhile.
    needed: u64,
}

/// A line from here to a mate by a plan, last move first, appended to `line`; White is to move and not in check, and
/// cannot mate at once.
pub(super) fn plan(board: &Board, pieces: &Pieces, line: &mut Vec<Step>) -> bool {
    let king = board.king(BLACK);
    let occupied = board.occupied();
    let (white, black) = (board.color[WHITE], board.color[BLACK]);
    let open = occupied & !bit(king);
    let around = king_attacks(king);
    let pawns = white & board.role[PAWN];
    let steady = king_attacks(board.king(WHITE)) | pawns << 7 & NOT_FILE_H | pawns << 9 & NOT_FILE_A;
    let mut tries = 0;
    // What is covered without each man: by those before it and those after it.
    let mut without = [steady; 16];
    let mut so_far = steady;
    for (index, (_, _, hits)) in pieces.iter().enumerate() {
        without[index & 15] = so_far;
        so_far |= hits;
    }
    let mut after = 0;
    // The heaviest first.
    for index in (0..pieces.count()).rev() {
        let (role, from, hits) = pieces.get(index);
        let cover = without[index & 15] | after;
        after |= hits;
        let free = around & !black & !cover;
        // Not through a check, nor past the black king.
        let quiet = hits & !white & !pieces.checks[role] & !around;
        let mut far = None;
        for goal in Squares(pieces.checks[role] & !white) {
            // What is behind the king is taken for a way as well: such a plan fails on the board.
            let from_goal = piece_attacks(role, goal, open);
            let mut missing = free & !bit(goal) & !from_goal;
            if missing.count_ones() > 2 {
                continue;
            }
            let guards = board.attackers(BLACK, goal, occupied) & !board.role[KING];
            if guards & board.role[PAWN] != 0 {
                continue;
            }
            missing |= guards & around & !from_goal;
            let direct = hits & bit(goal) != 0 && (guards == 0 || missing != 0);
            let mut ways = if direct { 0 } else { quiet & from_goal };
            let mut first = 0;
            if !direct && ways == 0 {
                let reach = *far.get_or_insert_with(|| {
                    Squares(quiet).fold(0, |all, by| all | piece_attacks(role, by, occupied))
                });
                let second = reach & from_goal & !white & !pieces.checks[role] & !around;
                if second == 0 {
                    continue;
                }
                let via = second.trailing_zeros() as u8;
                ways = second & second.wrapping_neg();
                first = quiet & piece_attacks(role, via, occupied);
            }
            if around & bit(goal) & !cover != 0 {
                missing |= bit(goal);
            }
            let mut plan = Plan { steps: [Step::NULL; MOST], count: 0, needed: around | bit(goal) };
            if missing != 0 && !plan.help(board, pieces, from, missing, goal) {
                continue;
            }
            if direct {
                plan.needed |= between(from, goal);
                plan.add(Step::new(from, goal));
            } else {
                let by = ways.trailing_zeros() as u8;
                let mut start = from;
                if first != 0 {
                    start = first.trailing_zeros() as u8;
                    plan.needed |= between(from, start) | bit(start);
                    plan.add(Step::new(from, start));
                }
                plan.needed |= between(start, by) | bit(by) | between(by, goal);
                plan.add(Step::new(start, by));
                plan.add(Step::new(by, goal));
            }
            if guards.count_ones() as usize >= plan.count {
                continue;
            }
            if plan.play(board, line) {
                return true;
            }
            tries += 1;
            if tries == TRIES {
                return false;
            }
        }
    }
    false
}

impl Plan {
    /// Adds a move by another man after which everything `missing` is covered.
    fn help(&mut self, board: &Board, pieces: &Pieces, but: u8, missing: u64, goal: u8) -> bool {
        let occupied = board.occupied();
        let free = !board.color[WHITE] & !bit(goal) & !king_attacks(board.king(BLACK));
        let from_all = |role: usize| {
            Squares(missing).fold(u64::MAX, |all, square| {
                let from = if role == PAWN {
                    pawn_attacks(BLACK, square)
                } else {
                    piece_attacks(role, square, occupied)
                };
                all & from
            })
        };
        for (role, from, hits) in pieces.iter() {
            let near = hits & free & !pieces.checks[role];
            if from == but || near == 0 {
                continue;
            }
            let posts = near & from_all(role);
            if posts != 0 {
                let post = posts.trailing_zeros() as u8;
                self.needed |= between(from, post) | bit(post);
                for square in Squares(missing) {
                    self.needed |= between(post, square);
                }
                self.add(Step::new(from, post));
                return true;
            }
        }
        let posts = from_all(PAWN) & board.men(WHITE, PAWN) << 8 & !occupied & !RANK_8;
        if posts != 0 {
            let post = posts.trailing_zeros() as u8;
            self.needed |= bit(post);
            self.add(Step::new(post - 8, post));
            return true;
        }
        let king = board.king(WHITE);
        for post in Squares(king_attacks(king) & from_all(KING) & free) {
            if board.attackers(BLACK, post, occupied) == 0 {
                self.needed |= bit(post);
                self.add(Step::new(king, post));
                return true;
            }
        }
        false
    }

    fn add(&mut self, step: Step) {
        if self.count < MOST {
            self.steps[self.count] = step;
            self.count += 1;
        }
    }

    /// Makes the moves on the board, Black's between them; whether it is mate.
    fn play(&self, board: &Board, line: &mut Vec<Step>) -> bool {
        let mut board = *board;
        let mut path = [Step::NULL; 2 * MOST];
        let mut length = 0;
        for at in 0..self.count {
            let step = self.steps[at];
            let role = board.role_at(step.from());
            let to = bit(step.to());
            let legal = match role {
                PAWN => board.occupied() & to == 0,
                role => piece_attacks(role, step.from(), board.occupied()) & !board.color[WHITE] & to != 0,
            };
            let next = board.after(step);
            if !legal || exposes(&board, step, &next) {
                return false;
            }
            path[length] = step;
            length += 1;
            let checkers = next.checkers();
            if at + 1 == self.count {
                if checkers == 0 || next.can_answer(checkers) {
                    return false;
                }
                line.extend(path[..length].iter().rev());
                return true;
            }
            if checkers != 0 {
                return false;
            }
            let Some((wait, after)) = self.wait(&next) else { return false };
            path[length] = wait;
            length += 1;
            board = after;
        }
        false
    }

    /// A legal move of Black that changes nothing the plan needs.
    fn wait(&self, board: &Board) -> Option<(Step, Board)> {
        let occupied = board.occupied();
        let king = board.king(BLACK);
        let goal = self.steps[self.count.saturating_sub(1)].to();
        let near = king_attacks(king);
        let black = board.color[BLACK];
        let mut tries = 0;
        // What guards the goal goes first.
        let guards = board.attackers(BLACK, goal, occupied) & !board.role[KING];
        let movers = if guards == 0 { black & !near } else { guards };
        for role in [KNIGHT, BISHOP, ROOK, QUEEN] {
            for from in Squares(movers & board.role[role]) {
                let mut to = piece_attacks(role, from, occupied) & !occupied & !self.needed;
                // Nor to where it would take the mating man.
                to &= !piece_attacks(role, goal, occupied);
                for to in Squares(to) {
                    let step = Step::new(from, to);
                    let next = board.after(step);
                    if !exposes(board, step, &next) && next.checkers() == 0 {
                        return Some((step, next));
                    }
                    tries += 1;
                    if tries == 4 {
                        return None;
                    }
                }
            }
        }
        if guards != 0 {
            return None;
        }
        let pawns = black & board.role[PAWN] & !near;
        for to in Squares(pawns >> 8 & !occupied & !self.needed & !0xff) {
            if pawn_attacks(BLACK, to) & bit(goal) != 0 {
                continue;
            }
            let step = Step::new(to + 8, to);
            let next = board.after(step);
            if !exposes(board, step, &next) && next.checkers() == 0 {
                return Some((step, next));
            }
        }
        None
    }
}
