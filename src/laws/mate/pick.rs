//! The one legal move that looks best, found without listing the others: what [`super::dive`] does at nearly every
//! position. How good a move looks is [`super::guide`]'s; this only avoids asking for every square.

use super::{
    board::{
        BISHOP, BLACK, Board, KNIGHT, NO_SQUARE, PAWN, QUEEN, RANK_1, RANK_8, ROOK, Squares, Step, WHITE,
        bit, king_attacks, line, pawn_attacks, piece_attacks,
    },
    dive::{NOT_FILE_A, NOT_FILE_H, Pieces, exposes},
    guide::{Guide, entry},
};

/// The legal move that looks best, and what comes of it; the side to move is not in check. Castling is left out.
pub(super) fn best_step(board: &Board, guide: &Guide, pieces: &Pieces) -> Option<(Step, Board)> {
    let us = board.us();
    let king = board.king(us);
    let pinned = board.pinned(king);
    let mut top = best_pawn(board, guide, king, pinned);
    top = best_piece(board, guide, pieces, king, pinned, top);
    // The king's steps are tried on the board only while one of them is the best.
    let base = guide.king_leaving(board, king);
    let mut steps = [0; 8];
    let mut count = 0;
    for to in Squares(king_attacks(king) & !board.color[us] & !king_attacks(board.king(us ^ 1))) {
        let score = base + guide.king_on(board, to) + guide.king_taking(board, to);
        let found = entry(score, Step::new(king, to));
        if found > top {
            steps[count & 7] = found;
            count += 1;
        }
    }
    loop {
        let best = steps[..count.min(8)].iter().copied().max().unwrap_or(0);
        if best <= top {
            break;
        }
        let step = Step(best as u16);
        if board.attackers(us ^ 1, step.to(), board.occupied() ^ bit(king)) == 0 {
            top = best;
            break;
        }
        for each in &mut steps {
            if *each == best {
                *each = 0;
            }
        }
    }
    if top == 0 {
        return None;
    }
    let step = Step(top as u16);
    Some((step, board.after(step)))
}

/// The best legal move of a knight or line piece, if better than `top`.
fn best_piece(board: &Board, guide: &Guide, pieces: &Pieces, king: u8, pinned: u64, mut top: u32) -> u32 {
    let us = board.us();
    let occupied = board.occupied();
    for (role, from, hits) in pieces.iter() {
        let base = guide.leaving(role, from);
        if entry(base + guide.best(role), Step(u16::MAX)) < top {
            continue;
        }
        let mut hits =
            if us == BLACK { piece_attacks(role, from, occupied) } else { hits } & !board.color[us];
        if pinned & bit(from) != 0 {
            hits &= line(king, from);
        }
        let checks = pieces.checks[role];
        let marked = hits & (occupied | guide.marked(checks));
        let row = guide.row(role);
        let mut best = i32::MIN;
        for to in Squares(hits & !marked) {
            best = best.max((row[to as usize & 63] as i32) << 6 | to as i32);
        }
        if best != i32::MIN {
            top = top.max(entry(base + (best >> 6), Step::new(from, best as u8 & 63)));
        }
        for to in Squares(marked) {
            let score = guide.arriving(role, to, base, checks) + guide.taking(board, to);
            top = top.max(entry(score, Step::new(from, to)));
        }
    }
    top
}

/// The best legal move of a pawn; 0 if there is none.
///
/// Far from the black king all pushes of one rank are worth the same, and a higher rank is never worth less: of those only
/// the last is looked at.
fn best_pawn(board: &Board, guide: &Guide, king: u8, pinned: u64) -> u32 {
    let us = board.us();
    let occupied = board.occupied();
    let theirs = board.color[us ^ 1];
    let pawns = board.men(us, PAWN);
    let up = us == WHITE;
    let free = if pinned & pawns == 0 {
        pawns
    } else {
        // A pinned pawn may only push along its own file.
        let file = 0x0101_0101_0101_0101 << (king & 7);
        pawns & (!pinned | file)
    };
    let (one, two, left, right) = if up {
        let one = free << 8 & !occupied;
        (one, one << 8 & !occupied & 0xff00_0000, pawns << 7 & NOT_FILE_H, pawns << 9 & NOT_FILE_A)
    } else {
        let one = free >> 8 & !occupied;
        (one, one >> 8 & !occupied & 0x00ff_0000_0000, pawns >> 9 & NOT_FILE_H, pawns >> 7 & NOT_FILE_A)
    };
    let mut top = 0;
    let from = |to: u8, by: u8| if up { to.wrapping_sub(by) } else { to.wrapping_add(by) };
    let mut add = |from: u8, to: u8| {
        let score = guide.pawn(board, to, guide.leaving(PAWN, from));
        top = top.max(entry(score, Step::new(from, to)));
    };
    let near = guide.near_pushes & !(RANK_1 | RANK_8);
    for to in Squares(one & near) {
        add(from(to, 8), to);
    }
    for to in Squares(two & near) {
        add(from(to, 16), to);
    }
    for (pushes, by) in [(one & !near & !(RANK_1 | RANK_8), 8), (two & !near, 16)] {
        if pushes != 0 {
            let to = pushes.ilog2() as u8;
            add(from(to, by), to);
        }
    }
    let promoting = (one | (left | right) & theirs) & (RANK_1 | RANK_8) != 0;
    if !promoting && (left | right) & theirs == 0 && board.ep == NO_SQUARE {
        return top;
    }
    let allowed = |from: u8, to: u8| pinned & bit(from) == 0 || line(king, from) & bit(to) != 0;
    let (to_left, to_right) = if up { (7, 9) } else { (9, 7) };
    for (targets, by) in [(one & (RANK_1 | RANK_8), 8), (left & theirs, to_left), (right & theirs, to_right)]
    {
        for to in Squares(targets) {
            let from = from(to, by);
            if !allowed(from, to) {
                continue;
            }
            if (8..56).contains(&to) {
                let score = guide.pawn(board, to, guide.leaving(PAWN, from));
                top = top.max(entry(score, Step::new(from, to)));
                continue;
            }
            for role in [QUEEN, KNIGHT, ROOK, BISHOP] {
                top = top.max(entry(guide.promotion(board, to, role), Step::promotion(from, to, role)));
            }
        }
    }
    if board.ep != NO_SQUARE {
        for from in Squares(pawn_attacks(us ^ 1, board.ep) & pawns) {
            let step = Step::new(from, board.ep);
            if !exposes(board, step, &board.after(step)) {
                top = top.max(entry(guide.pawn(board, board.ep, guide.leaving(PAWN, from)), step));
            }
        }
    }
    top
}
