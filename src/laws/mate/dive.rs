//! A short guided search for a help-mate: most live positions are answered here, within microseconds.
//!
//! Both sides play what looks most helpful ([`super::weights`]); every move passed over costs one, and the
//! total cost allowed on a line grows from round to round (limited discrepancy). It only ever finds mates;
//! it proves nothing else.

use super::{
    board::{
        BISHOP, BLACK, Board, KNIGHT, NO_SQUARE, PAWN, QUEEN, ROOK, Squares, Step, WHITE, bishop_attacks,
        bit, king_attacks, knight_attacks, line, pawn_attacks, piece_attacks, rook_attacks,
    },
    guide::{Guide, entry},
    pick::best_step,
    plan::plan,
    weights::{WEIGHTS, w},
};

pub(super) const NOT_FILE_A: u64 = !0x0101_0101_0101_0101;
pub(super) const NOT_FILE_H: u64 = !(0x0101_0101_0101_0101 << 7);

/// Longest line, in plies.
const LONGEST: usize = 64;

/// The search: buffers and counts.
pub(super) struct Dive {
    steps: Vec<Step>,
    /// Moves with their scores, as [`entry`] packs them.
    moves: Vec<u32>,
    pub(super) line: Vec<Step>,
    pub(super) nodes: u64,
    limit: u64,
}

impl Dive {
    pub(super) fn new() -> Dive {
        Dive { steps: Vec::new(), moves: Vec::new(), line: Vec::with_capacity(32), nodes: 0, limit: 0 }
    }

    /// A mating line within `nodes` positions, or `None`.
    pub(super) fn search(&mut self, root: &Board, nodes: u64) -> Option<Vec<Step>> {
        self.limit = nodes;
        let mut cost = 0;
        while self.nodes < self.limit && cost < 200 {
            if self.visit(root, WEIGHTS[w::DEPTH] as usize, cost) {
                self.line.reverse();
                return Some(std::mem::take(&mut self.line));
            }
            cost = cost * 2 + WEIGHTS[w::GROWTH] as i32;
        }
        None
    }

    /// The line that looks best move by move, up to `depth` plies; leaves it in `line`, last move first.
    fn greedy(&mut self, root: &Board, depth: usize) -> bool {
        let mut path = [Step::NULL; LONGEST];
        let mut board = *root;
        for ply in 0..=depth.min(LONGEST) {
            self.nodes += 1;
            if self.nodes > self.limit {
                return false;
            }
            let checkers = board.checkers();
            let mut pieces = Pieces::new();
            if checkers == 0 {
                pieces.fill(&board);
                if board.us() == WHITE && self.mate_in_one(&board, &mut pieces) {
                    self.line.extend(path[..ply].iter().rev());
                    return true;
                }
                if board.us() == WHITE
                    && pieces.flights.count_ones() <= 3
                    && plan(&board, &pieces, &mut self.line)
                {
                    self.line.extend(path[..ply].iter().rev());
                    return true;
                }
            }
            if ply == depth || ply == LONGEST {
                return false;
            }
            let guide = Guide::new(&board);
            let (step, next) = if checkers == 0 {
                let Some(found) = best_step(&board, &guide, &pieces) else { return false };
                found
            } else {
                self.steps.clear();
                board.legal(checkers, &mut self.steps);
                let Some(top) = self.steps.iter().map(|&step| guide.any(&board, step)).max() else {
                    if board.us() == WHITE {
                        return false;
                    }
                    self.line.extend(path[..ply].iter().rev());
                    return true;
                };
                let step = Step(top as u16);
                (step, board.after(step))
            };
            path[ply] = step;
            board = next;
        }
        false
    }

    /// Whether a line from here, with `cost` to spend, mates; leaves it in `line`, last move first.
    fn visit(&mut self, board: &Board, depth: usize, cost: i32) -> bool {
        if cost == 0 {
            return self.greedy(board, depth);
        }
        self.nodes += 1;
        if self.nodes > self.limit {
            return false;
        }
        let checkers = board.checkers();
        let mut pieces = Pieces::new();
        if checkers == 0 {
            pieces.fill(board);
            if board.us() == WHITE && self.mate_in_one(board, &mut pieces) {
                return true;
            }
        }
        if depth == 0 {
            return false;
        }
        let guide = Guide::new(board);
        let start = self.moves.len();
        if checkers == 0 {
            let moves = &mut self.moves;
            list(board, &guide, &pieces, &mut |entry| moves.push(entry));
        } else {
            self.steps.clear();
            board.legal(checkers, &mut self.steps);
            if self.steps.is_empty() {
                return board.us() == BLACK;
            }
            let moves = &mut self.moves;
            moves.extend(self.steps.iter().map(|&step| guide.any(board, step)));
        }
        let found = self.branch(board, start, depth, cost, checkers != 0);
        self.moves.truncate(start);
        found
    }

    /// Tries the listed moves from `start` on, best first, while the cost lasts; `legal` if they all are.
    fn branch(&mut self, board: &Board, start: usize, depth: usize, cost: i32, legal: bool) -> bool {
        let mut left = cost;
        for at in start..self.moves.len() {
            let mut best = at;
            for other in at + 1..self.moves.len() {
                if self.moves[other] > self.moves[best] {
                    best = other;
                }
            }
            self.moves.swap(at, best);
            let step = Step(self.moves[at] as u16);
            let next = board.after(step);
            if !legal && exposes(board, step, &next) {
                continue;
            }
            if self.visit(&next, depth - 1, left) {
                self.line.push(step);
                return true;
            }
            left -= 1;
            if left < 0 || self.nodes > self.limit {
                return false;
            }
        }
        false
    }

    /// Looks for a mate by one man's check; White is to move and not in check.
    pub(super) fn mate_in_one(&mut self, board: &Board, pieces: &mut Pieces) -> bool {
        let king = board.king(BLACK);
        let white = board.color[WHITE];
        let occupied = board.occupied();
        let straight = rook_attacks(king, occupied) & !white;
        let slanting = bishop_attacks(king, occupied) & !white;
        let checks = [0, knight_attacks(king) & !white, slanting, straight, straight | slanting];
        pieces.checks = checks;
        let pawns = white & board.role[PAWN];
        let mut cover = king_attacks(board.king(WHITE)) | pawns << 7 & NOT_FILE_H | pawns << 9 & NOT_FILE_A;
        let mut any = 0;
        for (role, _, hits) in pieces.iter() {
            cover |= hits;
            any |= hits & checks[role];
        }
        let flights = king_attacks(king) & !board.color[BLACK] & !cover;
        pieces.flights = flights;
        // A checking man covers at most five of the squares beside a king.
        if any != 0 && flights.count_ones() <= 5 {
            let open = occupied & !bit(king);
            for (role, from, hits) in pieces.iter() {
                for to in Squares(hits & checks[role]) {
                    let covered = match role {
                        KNIGHT => knight_attacks(to),
                        BISHOP => bishop_attacks(to, open),
                        ROOK => rook_attacks(to, open),
                        _ => bishop_attacks(to, open) | rook_attacks(to, open),
                    };
                    if flights & !covered == 0 && self.is_mate(board, Step::new(from, to)) {
                        return true;
                    }
                }
            }
        }
        self.pawn_mates(board, pawns, flights, [straight | slanting, knight_attacks(king)])
    }

    fn pawn_mates(&mut self, board: &Board, pawns: u64, flights: u64, checks: [u64; 2]) -> bool {
        let king = board.king(BLACK);
        let occupied = board.occupied();
        for to in Squares(pawn_attacks(BLACK, king) & pawns << 8 & !occupied & !(0xff << 56)) {
            if flights & !pawn_attacks(WHITE, to) == 0 && self.is_mate(board, Step::new(to - 8, to)) {
                return true;
            }
        }
        for to in Squares(pawns << 8 & 0xff << 56 & !occupied & (checks[0] | checks[1])) {
            for (role, checks) in [(QUEEN, checks[0]), (KNIGHT, checks[1])] {
                if checks & bit(to) != 0 && self.is_mate(board, Step::promotion(to - 8, to, role)) {
                    return true;
                }
            }
        }
        false
    }

    fn is_mate(&mut self, board: &Board, step: Step) -> bool {
        let next = board.after(step);
        if next.attackers(BLACK, next.king(WHITE), next.occupied()) != 0 {
            return false;
        }
        let checkers = next.checkers();
        if checkers != 0 && !next.can_answer(checkers) {
            self.line.push(step);
            return true;
        }
        false
    }
}

/// The side to move's knights and line pieces; White's with their attacks.
pub(super) struct Pieces {
    /// Role and square of each.
    men: [(u8, u8); 16],
    hits: [u64; 16],
    count: usize,
    /// Squares from which a man of each role checks, filled in by [`Dive::mate_in_one`].
    pub(super) checks: [u64; 5],
    /// Squares beside the black king that nothing of White's covers, filled in by the same.
    pub(super) flights: u64,
}

impl Pieces {
    pub(super) fn new() -> Pieces {
        Pieces { men: [(0, 0); 16], hits: [0; 16], count: 0, checks: [0; 5], flights: 0 }
    }

    pub(super) fn fill(&mut self, board: &Board) {
        let ours = board.color[board.us()];
        let occupied = board.occupied();
        let pieces = self;
        let mut add = |role: usize, from: u8, hits: u64| {
            pieces.men[pieces.count & 15] = (role as u8, from);
            pieces.hits[pieces.count & 15] = hits;
            pieces.count += 1;
        };
        // Black's attacks are looked up only for those men whose move may be the best.
        let white = board.us() == WHITE;
        for role in [KNIGHT, BISHOP, ROOK, QUEEN] {
            for from in Squares(ours & board.role[role]) {
                add(role, from, if white { piece_attacks(role, from, occupied) } else { 0 });
            }
        }
        pieces.count = pieces.count.min(16);
    }

    pub(super) fn count(&self) -> usize {
        self.count.min(16)
    }

    /// Role, square and attacks of one.
    #[inline]
    pub(super) fn get(&self, index: usize) -> (usize, u8, u64) {
        let (role, from) = self.men[index & 15];
        (role as usize % 5, from, self.hits[index & 15])
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u8, u64)> + '_ {
        let men = self.men[..self.count].iter().zip(&self.hits[..self.count]);
        men.map(|(&(role, from), &hits)| (role as usize % 5, from, hits))
    }
}

/// Whether a move by a side that is not in check leaves its king in check.
#[inline]
pub(super) fn exposes(board: &Board, step: Step, next: &Board) -> bool {
    let us = board.us();
    let king = next.king(us);
    // Only the king's own step, a man on a line with it, or a capture in passing can.
    if king != step.to() && line(king, step.from()) == 0 && board.ep == NO_SQUARE {
        return false;
    }
    next.attackers(us ^ 1, king, next.occupied()) != 0
}

/// Hands out every move that obeys its man's gait with its score; some may expose the own king. The side to
/// move is not in check; castling is left out.
fn list(board: &Board, guide: &Guide, pieces: &Pieces, emit: &mut impl FnMut(u32)) {
    let us = board.us();
    let ours = board.color[us];
    let theirs = board.color[us ^ 1];
    let occupied = ours | theirs;
    let king = board.king(us);
    let base = guide.king_leaving(board, king);
    for to in Squares(king_attacks(king) & !ours & !king_attacks(board.king(us ^ 1))) {
        let score = base + guide.king_on(board, to) + guide.king_taking(board, to);
        emit(entry(score, Step::new(king, to)));
    }
    for from in Squares(ours & board.role[PAWN]) {
        let mut to = pawn_attacks(us, from) & (theirs | if board.ep < 64 { bit(board.ep) } else { 0 });
        if us == WHITE {
            let one = bit(from) << 8 & !occupied;
            to |= one | one << 8 & !occupied & 0xff00_0000;
        } else {
            let one = bit(from) >> 8 & !occupied;
            to |= one | one >> 8 & !occupied & 0x00ff_0000_0000;
        }
        let base = guide.leaving(PAWN, from);
        for square in Squares(to) {
            if (8..56).contains(&square) {
                emit(entry(guide.pawn(board, square, base), Step::new(from, square)));
            } else {
                for role in [QUEEN, KNIGHT, ROOK, BISHOP] {
                    let score = guide.promotion(board, square, role);
                    emit(entry(score, Step::promotion(from, square, role)));
                }
            }
        }
    }
    for (role, from, hits) in pieces.iter() {
        let base = guide.leaving(role, from);
        let hits = if us == BLACK { piece_attacks(role, from, occupied) } else { hits };
        let checks = pieces.checks[role];
        for to in Squares(hits & !occupied) {
            emit(entry(guide.arriving(role, to, base, checks), Step::new(from, to)));
        }
        for to in Squares(hits & theirs) {
            let score = guide.arriving(role, to, base, checks) + guide.taking(board, to);
            emit(entry(score, Step::new(from, to)));
        }
    }
}
