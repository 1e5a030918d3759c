//! How near to a mate a position looks, by three measures. They order the search; they prove nothing.

use super::board::{
    BISHOP, BLACK, Board, KING, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, Squares, WHITE, bishop_attacks, bit,
    distance, king_attacks, knight_attacks, rook_attacks,
};

/// One rank a measure, smaller is nearer.
pub(super) type Ranks = [usize; 3];

/// Flight squares and the kings' distance; the corner cage; the way to promotion.
pub(super) fn ranks(board: &Board) -> Ranks {
    let hunt = hunt(board);
    [hunt, cage(board), breakthrough(board, hunt)]
}

fn white_attacks(board: &Board) -> u64 {
    let occupied = board.occupied() & !board.men(BLACK, KING);
    let white = board.color[WHITE];
    let pawns = white & board.role[PAWN];
    let mut all = (pawns << 7 & !(0x0101_0101_0101_0101 << 7)) | (pawns << 9 & !0x0101_0101_0101_0101);
    for from in Squares(white & board.role[KNIGHT]) {
        all |= knight_attacks(from);
    }
    for from in Squares(white & (board.role[BISHOP] | board.role[QUEEN])) {
        all |= bishop_attacks(from, occupied);
    }
    for from in Squares(white & (board.role[ROOK] | board.role[QUEEN])) {
        all |= rook_attacks(from, occupied);
    }
    all | king_attacks(board.king(WHITE))
}

/// Few flight squares, the black king at the edge, White's king near.
fn hunt(board: &Board) -> usize {
    let attacks = white_attacks(board);
    let black_king = board.king(BLACK);
    let escapes = (king_attacks(black_king) & !attacks & !board.color[BLACK]).count_ones();
    let file = (black_king & 7).min(7 - (black_king & 7)) as u32;
    let rank = (black_king >> 3).min(7 - (black_king >> 3)) as u32;
    let white = board.color[WHITE];
    let mut sum = 3 * escapes + 2 * file.min(rank) + file.max(rank);
    sum += distance(board.king(WHITE), black_king);
    if white & (board.role[QUEEN] | board.role[ROOK]) == 0 {
        let pawns = white & board.role[PAWN];
        if pawns != 0 {
            let top = pawns.ilog2();
            sum += 12 + 4 * (7 - (top >> 3));
        }
    }
    sum as usize
}

/// The black king in a corner, White's king a knight's move away, the third square beside it blocked by a
/// black man: how lone minor pieces mate. Or two black men beside it, and White's king anywhere.
///
/// What White still has to do and what Black has are counted apart: they move in turn, so the longer of the two
/// tells how long it takes, and a side that is ready may wait.
fn cage(board: &Board) -> usize {
    let white = board.color[WHITE];
    let black_king = board.king(BLACK);
    let white_king = board.king(WHITE);
    let bishops = white & board.role[BISHOP];
    let any = white & !(board.role[BISHOP] | board.role[KING]) != 0;
    let lone_knights =
        if white & !(board.role[KNIGHT] | board.role[KING]) == 0 { white } else { 0 } & board.role[KNIGHT];
    let black = board.color[BLACK];
    let rank = |ours: usize, theirs: usize| 3 * ours.max(theirs) + ours.min(theirs);
    let mut best = usize::MAX;
    for (corner, up, side) in [(0u8, 8i8, 1i8), (7, 8, -1), (56, -8, 1), (63, -8, -1)] {
        let colour = if LIGHT & bit(corner) != 0 { LIGHT } else { !LIGHT };
        if !any && bishops & colour == 0 {
            continue;
        }
        let along = (corner as i8 + side) as u8;
        let above = (corner as i8 + up) as u8;
        let theirs = distance(black_king, corner) as usize;
        let mut ours = 0;
        if lone_knights != 0 {
            // A square from which a knight checks is one jump short of the corner.
            let jumps = |from: u8| KNIGHT_JUMPS[from as usize & 63][corner as usize & 63].saturating_sub(1);
            ours += Squares(lone_knights).map(jumps).min().unwrap_or(0) as usize;
        }
        if rank(ours, theirs) >= best {
            continue;
        }
        let blocks = [block_cost(board, black, above), block_cost(board, black, along)];
        if bishops & colour != 0 {
            best = best.min(rank(ours, theirs + blocks[0] + blocks[1]));
        }
        // White's king two files away leaves the square above open, two ranks away the one along.
        for (block, near, far) in [
            (blocks[0], (corner as i8 + 2 * side) as u8, (corner as i8 + 2 * side + up) as u8),
            (blocks[1], (corner as i8 + 2 * up) as u8, (corner as i8 + 2 * up + side) as u8),
        ] {
            let walk = distance(white_king, near).min(distance(white_king, far)) as usize;
            best = best.min(rank(ours + walk, theirs + block));
        }
    }
    best
}

/// Black men that may stand beside their king when a minor piece mates: a queen takes the knight or steps before the bishop, a
/// rook does the latter.
pub(super) fn blockers(board: &Board, knight: bool) -> u64 {
    board.color[BLACK] & !board.role[QUEEN] & if knight { u64::MAX } else { !board.role[ROOK] }
}

/// Roughly how many moves bring a black man other than the king to `square`.
pub(super) fn block_cost(board: &Board, black: u64, square: u8) -> usize {
    let mask = bit(square);
    let men = black & !board.role[KING];
    if men & mask != 0 {
        return 0;
    }
    let (pawns, knights) = (men & board.role[PAWN], men & board.role[KNIGHT]);
    let heavy = men & (board.role[ROOK] | board.role[QUEEN]);
    let colour = if LIGHT & mask != 0 { LIGHT } else { !LIGHT };
    let bishops = men & board.role[BISHOP] & colour;
    let above = if square < 8 { 0 } else { (0x0101_0101_0101_0100 << square) & pawns };
    let occupied = board.occupied();
    let slanting = bishops | heavy & board.role[QUEEN];
    if knights & knight_attacks(square) != 0
        || above & mask << 8 != 0
        || slanting != 0 && bishop_attacks(square, occupied) & slanting != 0
        || heavy != 0 && rook_attacks(square, occupied) & heavy != 0
    {
        return 1;
    }
    if heavy | bishops != 0 {
        return 2;
    }
    let mut best = 12;
    if above != 0 {
        best = best.min((above.trailing_zeros() as u8 - square) as usize / 8);
    }
    if pawns != 0 {
        best = best.min(pawns.trailing_zeros() as usize / 8 + 3);
    }
    let jumps = |from: u8| KNIGHT_JUMPS[from as usize & 63][square as usize & 63] as usize;
    Squares(knights).map(jumps).fold(best, usize::min)
}

/// How far the best pawn is from promotion, what stands before it counted; then the hunt.
fn breakthrough(board: &Board, hunt: usize) -> usize {
    let white = board.color[WHITE];
    if white & (board.role[QUEEN] | board.role[ROOK]) != 0 {
        return hunt / 2;
    }
    let mut best = 60;
    for from in Squares(white & board.role[PAWN]) {
        let ahead = (0x0101_0101_0101_0100u64).checked_shl(from as u32).unwrap_or(0);
        let foes = (ahead & board.men(BLACK, PAWN)).count_ones() as usize;
        let own = (ahead & board.men(WHITE, PAWN)).count_ones() as usize;
        let others = (ahead & board.occupied()).count_ones() as usize - foes - own;
        best = best.min(7 - (from >> 3) as usize + 5 * foes + 4 * own + others);
    }
    let black = board.color[BLACK] & !board.role[KING];
    20 + best + black.count_ones() as usize / 2
}

/// Knight's moves from one square to another on an empty board.
pub(super) static KNIGHT_JUMPS: [[u8; 64]; 64] = knight_jumps();

const fn knight_jumps() -> [[u8; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut from = 0;
    while from < 64 {
        let mut seen = 1u64 << from;
        let mut edge = seen;
        let mut jumps = 0;
        while edge != 0 {
            let mut next = 0;
            let mut to = 0;
            while to < 64 {
                if edge >> to & 1 == 1 {
                    table[from][to] = jumps;
                    next |= shakmaty::attacks::knight_attacks(shakmaty::Square::ALL[to]).0;
                }
                to += 1;
            }
            edge = next & !seen;
            seen |= next;
            jumps += 1;
        }
        from += 1;
    }
    table
}
