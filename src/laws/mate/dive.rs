//! A short guided search for a help-mate: most live positions are answered here, within microseconds.
//!
//! Both sides play what looks most helpful ([`super::weights`]); every move passed over costs one, and the
//! total cost allowed on a line grows from round to round (limited discrepancy). It only ever finds mates;
//! it proves nothing else.

use super::{
    board::{
        BISHOP, BLACK, Board, KING, KNIGHT, PAWN, QUEEN, ROOK, Squares, Step, WHITE, bishop_attacks, bit,
        distance, king_attacks, knight_attacks, pawn_attacks, rook_attacks,
    },
    weights::{BLACK_TO, WEIGHTS, WHITE_TO, w},
};

const NOT_FILE_A: u64 = !0x0101_0101_0101_0101;
const NOT_FILE_H: u64 = !(0x0101_0101_0101_0101 << 7);

/// The search: buffers and counts.
pub(super) struct Dive {
    steps: Vec<Step>,
    /// Moves with their scores, as [`entry`] packs them.
    moves: Vec<u32>,
    line: Vec<Step>,
    pub(super) nodes: u64,
    limit: u64,
}

impl Dive {
    pub(super) fn new() -> Dive {
        Dive { steps: Vec::new(), moves: Vec::with_capacity(256), line: Vec::new(), nodes: 0, limit: 0 }
    }

    /// A mating line within `nodes` positions, or `None`.
    pub(super) fn search(&mut self, root: &Board, nodes: u64) -> Option<Vec<Step>> {
        self.limit = nodes;
        let mut cost = 0;
        while self.nodes < self.limit && cost < 200 {
            if self.visit(root, WEIGHTS[w::DEPTH] as u32, cost) {
                self.line.reverse();
                return Some(std::mem::take(&mut self.line));
            }
            cost = cost * 2 + WEIGHTS[w::GROWTH] as i32;
        }
        None
    }

    /// Whether a line from here, with `cost` to spend, mates; leaves it in `line`, last move first.
    fn visit(&mut self, board: &Board, depth: u32, cost: i32) -> bool {
        self.nodes += 1;
        if self.nodes > self.limit {
            return false;
        }
        let us = board.us();
        let checkers = board.checkers();
        let mut pieces = Pieces::new(board);
        if us == WHITE && checkers == 0 && self.mate_in_one(board, &mut pieces) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let guide = Guide::new(board);
        if cost == 0 && checkers == 0 {
            let mut top = 0;
            list(board, &guide, &pieces, &mut |entry| top = top.max(entry));
            if top == 0 {
                return false;
            }
            let step = Step(top as u16);
            let next = board.after(step);
            if next.attackers(us ^ 1, next.king(us), next.occupied()) == 0 {
                if self.visit(&next, depth - 1, 0) {
                    self.line.push(step);
                    return true;
                }
                return false;
            }
        }
        let start = self.moves.len();
        if checkers == 0 {
            let moves = &mut self.moves;
            list(board, &guide, &pieces, &mut |entry| moves.push(entry));
        } else {
            self.steps.clear();
            board.legal(checkers, &mut self.steps);
            let moves = &mut self.moves;
            moves.extend(self.steps.iter().map(|&step| guide.any(board, step)));
        }
        let found = self.branch(board, start, depth, cost);
        self.moves.truncate(start);
        found
    }

    /// Tries the listed moves from `start` on, best first, while the cost lasts.
    fn branch(&mut self, board: &Board, start: usize, depth: u32, cost: i32) -> bool {
        let us = board.us();
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
            if next.attackers(us ^ 1, next.king(us), next.occupied()) != 0 {
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
    fn mate_in_one(&mut self, board: &Board, pieces: &mut Pieces) -> bool {
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
        for &(role, _, hits) in &pieces.list[..pieces.count] {
            cover |= hits;
            any |= hits & checks[role as usize % 5];
        }
        let flights = king_attacks(king) & !board.color[BLACK] & !cover;
        // A checking man covers at most five of the squares beside a king.
        if any != 0 && flights.count_ones() <= 5 {
            let open = occupied & !bit(king);
            for at in 0..pieces.count {
                let (role, from, hits) = pieces.list[at];
                for to in Squares(hits & checks[role as usize % 5]) {
                    let covered = match role as usize {
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
        if checkers != 0 && !next.has_legal(checkers, &mut self.steps) {
            self.line.push(step);
            return true;
        }
        false
    }
}

/// The side to move's knights and line pieces with their attacks.
struct Pieces {
    list: [(u8, u8, u64); 16],
    count: usize,
    /// Squares from which a man of each role checks, filled in by [`Dive::mate_in_one`].
    checks: [u64; 5],
}

impl Pieces {
    fn new(board: &Board) -> Pieces {
        let ours = board.color[board.us()];
        let occupied = board.occupied();
        let mut pieces = Pieces { list: [(0, 0, 0); 16], count: 0, checks: [0; 5] };
        let mut add = |role: usize, from: u8, hits: u64| {
            pieces.list[pieces.count & 15] = (role as u8, from, hits);
            pieces.count += 1;
        };
        for from in Squares(ours & board.role[KNIGHT]) {
            add(KNIGHT, from, knight_attacks(from));
        }
        for from in Squares(ours & board.role[BISHOP]) {
            add(BISHOP, from, bishop_attacks(from, occupied));
        }
        for from in Squares(ours & board.role[ROOK]) {
            add(ROOK, from, rook_attacks(from, occupied));
        }
        for from in Squares(ours & board.role[QUEEN]) {
            add(QUEEN, from, rook_attacks(from, occupied) | bishop_attacks(from, occupied));
        }
        pieces.count = pieces.count.min(16);
        pieces
    }
}

/// Hands out every move that obeys its man's gait with its score; some may expose the own king. The side to
/// move is not in check; castling is left out.
#[inline]
fn list(board: &Board, guide: &Guide, pieces: &Pieces, emit: &mut impl FnMut(u32)) {
    let us = board.us();
    let ours = board.color[us];
    let theirs = board.color[us ^ 1];
    let occupied = ours | theirs;
    for &(role, from, hits) in &pieces.list[..pieces.count] {
        let role = role as usize;
        let base = guide.leaving(role, from);
        for to in Squares(hits & !ours) {
            emit(entry(guide.arriving(board, role, to, base, pieces.checks[role % 5]), Step::new(from, to)));
        }
    }
    let king = board.king(us);
    for to in Squares(king_attacks(king) & !ours & !king_attacks(board.king(us ^ 1))) {
        emit(entry(guide.king(board, king, to), Step::new(king, to)));
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
                    emit(entry(guide.promotion(board, square, role), Step::promotion(from, square, role)));
                }
            }
        }
    }
}

/// Score in the upper half, step in the lower, so that entries compare by score.
#[inline]
fn entry(score: i32, step: Step) -> u32 {
    ((score + 0x8000) as u32) << 16 | step.0 as u32
}

/// How helpful moves look in one position.
struct Guide {
    white: bool,
    black_king: u8,
    white_king: u8,
    /// White has a rook or a queen.
    heavy: bool,
    /// 1 if White has many men besides pawns, else 0.
    many: usize,
    /// Where a black pawn takes.
    unsafe_squares: u64,
}

impl Guide {
    fn new(board: &Board) -> Guide {
        let white = board.color[WHITE];
        let pawns = board.men(BLACK, PAWN);
        Guide {
            white: board.us() == WHITE,
            black_king: board.king(BLACK),
            white_king: board.king(WHITE),
            heavy: white & (board.role[QUEEN] | board.role[ROOK]) != 0,
            many: usize::from((white & !board.role[PAWN]).count_ones() > WEIGHTS[w::FEW] as u32),
            unsafe_squares: pawns >> 9 & NOT_FILE_H | pawns >> 7 & NOT_FILE_A,
        }
    }

    /// What leaving a square is worth to a man other than the king.
    #[inline]
    fn leaving(&self, role: usize, from: u8) -> i32 {
        let (role, king, from) = (role % 5, self.black_king as usize & 63, from as usize & 63);
        let beside = king_attacks(self.black_king) >> from & 1 == 1;
        let (value, step) = if self.white {
            (WEIGHTS[w::W_MOVE + role] - WHITE_TO[role][king][from], WEIGHTS[w::W_TOUCH])
        } else {
            let step = WEIGHTS[w::B_LEAVE + role] + WEIGHTS[w::B_ENTER + role];
            (WEIGHTS[w::B_MOVE + role] - BLACK_TO[role][king][from], step)
        };
        (value + if beside { step } else { 0 }) as i32
    }

    #[inline]
    fn taking(&self, board: &Board, to: u8) -> i32 {
        if board.occupied() & bit(to) == 0 {
            return 0;
        }
        let table = if self.white { w::W_TAKE } else { w::B_TAKE };
        WEIGHTS[table + board.role_at(to).min(QUEEN)] as i32
    }

    /// The whole score of a knight's or line piece's move; `base` is for leaving.
    #[inline]
    fn arriving(&self, board: &Board, role: usize, to: u8, base: i32, checks: u64) -> i32 {
        let (role, king) = (role % 5, self.black_king as usize & 63);
        let mut score = base + self.taking(board, to);
        if self.white {
            score += WHITE_TO[role][king][to as usize & 63] as i32;
            score += (self.unsafe_squares >> to & 1) as i32 * WEIGHTS[w::W_UNSAFE] as i32;
            score += (checks >> to & 1) as i32 * WEIGHTS[w::W_CHECK] as i32;
        } else {
            score += BLACK_TO[role][king][to as usize & 63] as i32;
        }
        score
    }

    #[inline]
    fn pawn(&self, board: &Board, to: u8, base: i32) -> i32 {
        let king = self.black_king as usize & 63;
        let mut score = base + self.taking(board, to);
        if self.white {
            let push = if self.heavy { w::W_PUSH_HEAVY } else { w::W_PUSH };
            score += WHITE_TO[PAWN][king][to as usize & 63] as i32;
            score += WEIGHTS[push] as i32 + WEIGHTS[push + 1] as i32 * (to >> 3) as i32;
            if self.unsafe_squares >> to & 1 == 1 {
                score += WEIGHTS[w::W_UNSAFE] as i32;
            }
            if pawn_attacks(WHITE, to) & bit(self.black_king) != 0 {
                score += WEIGHTS[w::W_CHECK] as i32;
            }
        } else {
            score += BLACK_TO[PAWN][king][to as usize & 63] as i32;
        }
        score
    }

    fn promotion(&self, board: &Board, to: u8, role: usize) -> i32 {
        let queen = if role == QUEEN { WEIGHTS[w::W_PROMOTE] } else { 0 };
        let white = (WEIGHTS[w::W_MOVE] + queen) as i32;
        self.taking(board, to) + if self.white { white } else { WEIGHTS[w::B_PROMOTE] as i32 }
    }

    #[inline]
    fn king(&self, board: &Board, from: u8, to: u8) -> i32 {
        let many = self.many;
        let weight = |index: usize| WEIGHTS[index + many] as i32;
        let nearer = |target: u8| distance(from, target) as i32 - distance(to, target) as i32;
        if self.white {
            return weight(w::W_KING_MOVE) + weight(w::W_KING) * nearer(self.black_king);
        }
        let file = |square: u8| (square & 7).min(7 - (square & 7)) as i32;
        let rank = |square: u8| (square >> 3).min(7 - (square >> 3)) as i32;
        let edge = |square: u8| file(square).min(rank(square));
        let corner = |square: u8| file(square).max(rank(square));
        let boxed = |square: u8| (king_attacks(square) & board.color[BLACK]).count_ones() as i32;
        self.taking(board, to)
            + weight(w::B_KING)
            + weight(w::B_EDGE) * (edge(from) - edge(to))
            + weight(w::B_EDGE + 2) * (corner(from) - corner(to))
            + weight(w::B_MEET) * nearer(self.white_king)
            + weight(w::B_DOWN) * ((from >> 3) as i32 - (to >> 3) as i32)
            + weight(w::B_BOX) * (boxed(to) - boxed(from))
    }

    /// The score of any move, for the few where the own king is in check.
    fn any(&self, board: &Board, step: Step) -> u32 {
        let (from, to) = (step.from(), step.to());
        let score = match board.role_at(from) {
            KING => self.king(board, from, to),
            PAWN if step.promoted() != 0 => self.promotion(board, to, step.promoted()),
            PAWN => self.pawn(board, to, self.leaving(PAWN, from)),
            role => self.arriving(board, role, to, self.leaving(role, from), 0),
        };
        entry(score, step)
    }
}
