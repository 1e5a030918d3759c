//! What makes a move look helpful, for [`super::dive`]. Orders moves; proves nothing.
//!
//! The numbers were found by hill climbing on the logarithm of the positions visited until a mate was
//! found, over positions of real games and of blocked set-ups.

use shakmaty::{Bitboard, Color, Square, attacks};

use super::board::{BISHOP, KNIGHT, PAWN, QUEEN, ROOK};

/// What makes a move look helpful. Indices into [`Weights`]; a stretch of five runs over the roles from pawn to queen.
pub(super) mod w {
    pub(in super::super) const W_ZONE: usize = 0; // White man: squares gained around the black king
    pub(in super::super) const W_NEAR: usize = 5; // White man: steps nearer to the black king
    pub(in super::super) const W_TAKE: usize = 10; // White takes this role
    pub(in super::super) const W_UNSAFE: usize = 15; // White man moves to where a black pawn takes it
    pub(in super::super) const W_CHECK: usize = 16; // White gives check
    pub(in super::super) const W_TOUCH: usize = 17; // White man moves next to the black king
    pub(in super::super) const W_KING: usize = 18; // White king nearer: with few men, with many
    pub(in super::super) const W_PUSH: usize = 20; // White pawn move: base, and a rank; without heavy pieces
    pub(in super::super) const W_PUSH_HEAVY: usize = 22; // the same with heavy pieces
    pub(in super::super) const W_PROMOTE: usize = 24;
    pub(in super::super) const B_ZONE: usize = 25; // Black man: squares lost around its king
    pub(in super::super) const B_NEAR: usize = 30; // Black man: steps nearer to its king
    pub(in super::super) const B_TAKE: usize = 35; // Black takes this role
    pub(in super::super) const B_ENTER: usize = 40; // Black man moves next to its king
    pub(in super::super) const B_LEAVE: usize = 45; // Black man leaves the side of its king
    pub(in super::super) const B_EDGE: usize = 50; // Black king nearer to the edge, to the corner: few, many
    pub(in super::super) const B_MEET: usize = 54; // Black king nearer to White's: few, many
    pub(in super::super) const B_DOWN: usize = 56; // Black king down the board: few, many
    pub(in super::super) const B_BOX: usize = 58; // Black king: own men around it gained: few, many
    pub(in super::super) const B_PROMOTE: usize = 60;
    pub(in super::super) const B_MOVE: usize = 61; // Black man of this role moves at all
    pub(in super::super) const W_MOVE: usize = 66; // White man of this role moves at all
    pub(in super::super) const B_KING: usize = 71; // Black king moves at all: few, many
    pub(in super::super) const W_KING_MOVE: usize = 73; // White king moves at all: few, many
    pub(in super::super) const DEPTH: usize = 75;
    pub(in super::super) const GROWTH: usize = 76;
    pub(in super::super) const FEW: usize = 77;
    pub(in super::super) const COUNT: usize = 78;
}

/// The weights, by the indices in [`w`].
pub(super) const WEIGHTS: [i16; w::COUNT] = [
    7, 10, 6, 4, 2, 0, 2, 0, 1, 5, 6, 6, 7, 10, 8, 2, -11, -8, 41, 15, 73, 32, 2, 0, 398, 2, 29, 13, 3, 6, 0,
    3, 1, 1, -3, -17, -77, -31, -22, -137, 14, -11, 5, 2, 0, 1, -21, -1, 3, -24, 12, -9, 5, 20, 0, -35, 8,
    -10, 3, -6, -95, -5, -7, -3, -2, -6, 0, 0, -4, -2, 1, 1, -2, 0, -14, 44, 1, 3,
];

/// What a man of this role is worth on a square, given the square of the black king, and what stepping next to that king adds.
pub(super) static WHITE_TO: [[[i16; 64]; 64]; 5] = white_table();
/// The same for Black's men.
pub(super) static BLACK_TO: [[[i16; 64]; 64]; 5] = black_table();

/// The best of each row of [`WHITE_TO`], and the most that a capture or a check can add to it.
pub(super) static WHITE_BEST: [[i16; 64]; 5] = best(&white_table(), w::W_TAKE, w::W_UNSAFE, w::W_CHECK);
/// The same of [`BLACK_TO`].
pub(super) static BLACK_BEST: [[i16; 64]; 5] = best(&black_table(), w::B_TAKE, w::B_TAKE, w::B_TAKE);

const fn best(table: &[[[i16; 64]; 64]; 5], takes: usize, one: usize, other: usize) -> [[i16; 64]; 5] {
    let mut extra = 0;
    let mut at = takes;
    while at < takes + 5 {
        if WEIGHTS[at] > extra {
            extra = WEIGHTS[at];
        }
        at += 1;
    }
    if WEIGHTS[one] > 0 {
        extra += WEIGHTS[one];
    }
    if WEIGHTS[other] > 0 {
        extra += WEIGHTS[other];
    }
    let mut all = [[0; 64]; 5];
    let mut role = 0;
    while role < 5 {
        let mut king = 0;
        while king < 64 {
            let mut top = i16::MIN;
            let mut to = 0;
            while to < 64 {
                if table[role][king][to] > top {
                    top = table[role][king][to];
                }
                to += 1;
            }
            all[role][king] = top + extra;
            king += 1;
        }
        role += 1;
    }
    all
}

/// What a square is worth to Black's king: with few men, with many.
pub(super) static KING_ON: [[i16; 64]; 2] = king_table();

const fn king_table() -> [[i16; 64]; 2] {
    let v = &WEIGHTS;
    let mut table = [[0; 64]; 2];
    let mut square = 0;
    while square < 64 {
        let file = if square % 8 < 4 { square % 8 } else { 7 - square % 8 };
        let rank = if square / 8 < 4 { square / 8 } else { 7 - square / 8 };
        let (edge, corner) = if file < rank { (file, rank) } else { (rank, file) };
        let mut many = 0;
        while many < 2 {
            table[many][square] = -v[w::B_EDGE + many] * edge as i16
                - v[w::B_EDGE + 2 + many] * corner as i16
                - v[w::B_DOWN + many] * (square / 8) as i16;
            many += 1;
        }
        square += 1;
    }
    table
}

/// How many squares of the king's square and its neighbours a man attacks on an empty board.
const fn zone(role: usize, king: usize, from: usize) -> i16 {
    let area = attacks::king_attacks(Square::ALL[king]).0 | 1 << king;
    let square = Square::ALL[from];
    let hits = match role {
        PAWN => attacks::pawn_attacks(Color::White, square),
        KNIGHT => attacks::knight_attacks(square),
        BISHOP => attacks::bishop_attacks(square, Bitboard(0)),
        ROOK => attacks::rook_attacks(square, Bitboard(0)),
        _ => attacks::queen_attacks(square, Bitboard(0)),
    };
    (hits.0 & area).count_ones() as i16
}

const fn steps(a: usize, b: usize) -> i16 {
    let files = (a % 8).abs_diff(b % 8);
    let ranks = (a / 8).abs_diff(b / 8);
    (if files > ranks { files } else { ranks }) as i16
}

#[expect(clippy::large_stack_arrays, reason = "built by the compiler, never on a stack")]
const fn white_table() -> [[[i16; 64]; 64]; 5] {
    let v = &WEIGHTS;
    let mut table = [[[0; 64]; 64]; 5];
    let mut role = PAWN;
    while role <= QUEEN {
        let mut king = 0;
        while king < 64 {
            let mut to = 0;
            while to < 64 {
                let near = steps(king, to);
                let touch = if near == 1 { v[w::W_TOUCH] } else { 0 };
                table[role][king][to] =
                    v[w::W_ZONE + role] * zone(role, king, to) - v[w::W_NEAR + role] * near + touch;
                to += 1;
            }
            king += 1;
        }
        role += 1;
    }
    table
}

#[expect(clippy::large_stack_arrays, reason = "built by the compiler, never on a stack")]
const fn black_table() -> [[[i16; 64]; 64]; 5] {
    let v = &WEIGHTS;
    let mut table = [[[0; 64]; 64]; 5];
    let mut role = PAWN;
    while role <= QUEEN {
        let mut king = 0;
        while king < 64 {
            let mut to = 0;
            while to < 64 {
                let near = steps(king, to);
                let enter = if near == 1 { v[w::B_ENTER + role] } else { 0 };
                table[role][king][to] =
                    enter - v[w::B_ZONE + role] * zone(role, king, to) - v[w::B_NEAR + role] * near;
                to += 1;
            }
            king += 1;
        }
        role += 1;
    }
    table
}
