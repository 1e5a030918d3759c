//! How helpful a move looks, from [`super::weights`]. Orders moves; proves nothing. Which moves there are,
//! and what is done with the order, is left to [`super::dive`].

use super::{
    board::{BLACK, Board, KING, PAWN, QUEEN, ROOK, Step, WHITE, bit, distance, king_attacks, pawn_attacks},
    dive::{NOT_FILE_A, NOT_FILE_H},
    weights::{BLACK_BEST, BLACK_TO, KING_ON, WEIGHTS, WHITE_BEST, WHITE_TO, w},
};

/// Score in the upper half, step in the lower, so that entries compare by score.
#[inline]
pub(super) fn entry(score: i32, step: Step) -> u32 {
    ((score + 0x8000) as u32) << 16 | step.0 as u32
}

/// How helpful moves look in one position.
pub(super) struct Guide {
    white: bool,
    black_king: u8,
    white_king: u8,
    /// White has a rook or a queen.
    heavy: bool,
    /// 1 if White has many men besides pawns, else 0.
    many: usize,
    /// Where a black pawn takes.
    unsafe_squares: u64,
    /// Squares to which a push may be worth more or less than another push to the same rank.
    pub(super) near_pushes: u64,
}

impl Guide {
    pub(super) fn new(board: &Board) -> Guide {
        let white = board.color[WHITE];
        let pawns = board.men(BLACK, PAWN);
        let black_king = board.king(BLACK);
        let unsafe_squares = pawns >> 9 & NOT_FILE_H | pawns >> 7 & NOT_FILE_A;
        // A pawn attacks something around the king only from within two ranks and files of it.
        let ring = king_attacks(black_king) | bit(black_king);
        let wide = ring | ring << 1 & NOT_FILE_A | ring >> 1 & NOT_FILE_H;
        let (up, down) = (wide | wide << 8, wide | wide >> 8);
        let near_pushes = if board.us() == WHITE {
            down | up << 8 | up << 16 | unsafe_squares
        } else {
            up | down >> 8 | down >> 16
        };
        Guide {
            white: board.us() == WHITE,
            black_king,
            white_king: board.king(WHITE),
            heavy: white & (board.role[QUEEN] | board.role[ROOK]) != 0,
            many: usize::from((white & !board.role[PAWN]).count_ones() > WEIGHTS[w::FEW] as u32),
            unsafe_squares,
            near_pushes,
        }
    }

    /// The most that [`Guide::arriving`] and a capture can come to.
    #[inline]
    pub(super) fn best(&self, role: usize) -> i32 {
        let table = if self.white { &WHITE_BEST } else { &BLACK_BEST };
        table[role % 5][self.black_king as usize & 63] as i32
    }

    /// What each square is worth to a man of this role.
    #[inline]
    pub(super) fn row(&self, role: usize) -> &'static [i16; 64] {
        let table = if self.white { &WHITE_TO } else { &BLACK_TO };
        &table[role % 5][self.black_king as usize & 63]
    }

    /// Squares on which more counts than [`Guide::row`] tells, captures aside.
    #[inline]
    pub(super) fn marked(&self, checks: u64) -> u64 {
        if self.white { self.unsafe_squares | checks } else { 0 }
    }

    /// What leaving a square is worth to a man other than the king.
    #[inline]
    pub(super) fn leaving(&self, role: usize, from: u8) -> i32 {
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
    pub(super) fn taking(&self, board: &Board, to: u8) -> i32 {
        if board.occupied() & bit(to) == 0 {
            return 0;
        }
        let table = if self.white { w::W_TAKE } else { w::B_TAKE };
        WEIGHTS[table + board.role_at(to).min(QUEEN)] as i32
    }

    /// A capture by the king counts for Black only.
    #[inline]
    pub(super) fn king_taking(&self, board: &Board, to: u8) -> i32 {
        if self.white { 0 } else { self.taking(board, to) }
    }

    /// The score, captures aside, of a knight's or line piece's move; `base` is for leaving.
    #[inline]
    pub(super) fn arriving(&self, role: usize, to: u8, base: i32, checks: u64) -> i32 {
        let (role, king) = (role % 5, self.black_king as usize & 63);
        let mut score = base;
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
    pub(super) fn pawn(&self, board: &Board, to: u8, base: i32) -> i32 {
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

    pub(super) fn promotion(&self, board: &Board, to: u8, role: usize) -> i32 {
        let queen = if role == QUEEN { WEIGHTS[w::W_PROMOTE] } else { 0 };
        let white = (WEIGHTS[w::W_MOVE] + queen) as i32;
        self.taking(board, to) + if self.white { white } else { WEIGHTS[w::B_PROMOTE] as i32 }
    }

    /// What leaving its square is worth to the king of the side to move.
    #[inline]
    pub(super) fn king_leaving(&self, board: &Board, from: u8) -> i32 {
        let moves = if self.white { w::W_KING_MOVE } else { w::B_KING };
        WEIGHTS[moves + self.many] as i32 - self.king_on(board, from)
    }

    /// What standing on a square is worth to the king of the side to move.
    #[inline]
    pub(super) fn king_on(&self, board: &Board, square: u8) -> i32 {
        let many = self.many & 1;
        if self.white {
            return -WEIGHTS[w::W_KING + many] as i32 * distance(square, self.black_king) as i32;
        }
        let boxed = (king_attacks(square) & board.color[BLACK]).count_ones() as i32;
        KING_ON[many][square as usize & 63] as i32
            - WEIGHTS[w::B_MEET + many] as i32 * distance(square, self.white_king) as i32
            + WEIGHTS[w::B_BOX + many] as i32 * boxed
    }

    /// The score of any move, for the few where the own king is in check.
    pub(super) fn any(&self, board: &Board, step: Step) -> u32 {
        let (from, to) = (step.from(), step.to());
        let score = match board.role_at(from) {
            KING => self.king_leaving(board, from) + self.king_on(board, to) + self.king_taking(board, to),
            PAWN if step.promoted() != 0 => self.promotion(board, to, step.promoted()),
            PAWN => self.pawn(board, to, self.leaving(PAWN, from)),
            role => self.arriving(role, to, self.leaving(role, from), 0) + self.taking(board, to),
        };
        entry(score, step)
    }
}
