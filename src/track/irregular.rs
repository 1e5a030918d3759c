//! What a board that no legal move explains looks like, in neutral words.

use shakmaty::{Bitboard, CastlingSide, Color, Move, Piece, Rank, Role, Square};

use super::{
    Irregular,
    moves::{View, complete, squares},
};
use crate::record::Position;

/// Names the difference between a position and the board. `old` are squares that differed before
/// this turn began. `None`: nothing of this turn differs.
pub(super) fn classify(position: &Position, view: View<'_>, old: Bitboard) -> Option<Irregular> {
    let board = position.board();
    let turn = position.turn();
    let diff = view.diff(board) & !old;
    if diff.is_empty() {
        return None;
    }
    let sensed = &view.eyes.board;
    let left = diff & board.by_color(turn);
    let arrived = diff & sensed.by_color(turn);
    let gone = diff & board.by_color(!turn) & view.eyes.empty();
    if let Some(half) = half_castled(position, diff, left, arrived, sensed) {
        return Some(half);
    }
    let mut whole = complete(position, view);
    whole.sort_by_key(|found| found.residual.count());
    if let Some(best) = whole.first() {
        return Some(Irregular::MovePlus { played: best.m });
    }
    if let (Some(from), Some(to)) = (single(left), single(arrived)) {
        if diff == Bitboard::from(from) | Bitboard::from(to) {
            return one_man(position, sensed, from, to);
        }
        // Captured by dragging: the victim's square reads the mover; what else differs is named.
        return Some(Irregular::Other);
    }
    if arrived.is_empty() {
        return Some(nothing_down(position, diff, left, gone));
    }
    Some(Irregular::Other)
}

fn single(squares: Bitboard) -> Option<Square> {
    (squares.count() == 1).then(|| squares.first()).flatten()
}

/// King on its castled square; rook still at home, or there too though castling is not legal.
fn half_castled(
    position: &Position,
    diff: Bitboard,
    left: Bitboard,
    arrived: Bitboard,
    sensed: &shakmaty::Board,
) -> Option<Irregular> {
    let board = position.board();
    let turn = position.turn();
    let king = board.king_of(turn)?;
    let home = turn.fold_wb(Rank::First, Rank::Eighth);
    if !left.contains(king) || king.rank() != home {
        return None;
    }
    for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
        let (king_to, rook_to) = (side.king_to(turn), side.rook_to(turn));
        if sensed.piece_at(king_to) != Some(Piece { color: turn, role: Role::King }) {
            continue;
        }
        let outward = |rook: &Square| (king < *rook) == (side == CastlingSide::KingSide);
        let rooks = board.by_piece(Piece { color: turn, role: Role::Rook }) & Bitboard::from(home);
        let Some(rook) = (match side {
            CastlingSide::KingSide => rooks.into_iter().rfind(outward),
            CastlingSide::QueenSide => rooks.into_iter().find(outward),
        }) else {
            continue;
        };
        let castling = Move::Castle { king, rook };
        let legal = position.legal_moves().contains(&castling);
        let pair = Bitboard::from(king) | Bitboard::from(king_to);
        if diff == pair && king.distance(king_to) == 2 || diff == pair && legal && king.distance(king_to) > 1
        {
            return Some(Irregular::RookHome { castling, legal });
        }
        let all = squares(castling, turn);
        let rook_there = sensed.piece_at(rook_to) == Some(Piece { color: turn, role: Role::Rook });
        if rook_there
            && !legal
            && (diff & !all).is_empty()
            && (arrived & all).count() >= 1
            && left.contains(rook)
        {
            return Some(Irregular::Castled { king, rook });
        }
    }
    None
}

/// One man of the mover went from one square to another.
fn one_man(position: &Position, sensed: &shakmaty::Board, from: Square, to: Square) -> Option<Irregular> {
    let board = position.board();
    let turn = position.turn();
    let piece = board.piece_at(from)?;
    let stands = sensed.piece_at(to)?;
    let last = turn.fold_wb(Rank::Eighth, Rank::First);
    if piece.role == Role::Pawn && stands.role == Role::Pawn {
        if to.rank() == last {
            return Some(Irregular::PawnOnLastRank { from, to });
        }
        let capture = Move::EnPassant { from, to };
        if position.legal_moves().contains(&capture) {
            let victim = Square::from_coords(to.file(), from.rank());
            return Some(Irregular::VictimLeft { capture, victim });
        }
    }
    Some(Irregular::PieceMoved {
        from,
        to,
        piece,
        captured: board.piece_at(to),
        became: (stands != piece).then_some(stands),
    })
}

/// No man of the mover stands on a new square.
fn nothing_down(position: &Position, diff: Bitboard, left: Bitboard, gone: Bitboard) -> Irregular {
    let board = position.board();
    if let Some(from) = single(left) {
        let Some(piece) = board.piece_at(from) else { return Irregular::Other };
        if diff & !gone == Bitboard::from(from) && gone.count() <= 1 {
            if piece.role == Role::Pawn {
                let candidates: Vec<Move> = position
                    .legal_moves()
                    .into_iter()
                    .filter(|m| {
                        m.is_promotion()
                            && m.from() == Some(from)
                            && match single(gone) {
                                Some(victim) => m.to() == victim,
                                None => !m.is_capture(),
                            }
                    })
                    .collect();
                if !candidates.is_empty() {
                    return Irregular::PromotionSquareEmpty { candidates };
                }
            }
            return match single(gone) {
                Some(victim) => Irregular::CaptureHalf { victim },
                None => Irregular::InAir { square: from, piece },
            };
        }
        return Irregular::Other;
    }
    if left.is_empty() {
        if let Some(victim) = single(gone)
            && diff == gone
        {
            return Irregular::CaptureHalf { victim };
        }
        return Irregular::Other;
    }
    Irregular::Other
}

/// One man of the side not on move went to another square, and nothing else differs.
pub(super) fn out_of_turn(position: &Position, view: View<'_>) -> Option<(Square, Square, Piece)> {
    let board = position.board();
    let other: Color = !position.turn();
    let diff = view.diff(board);
    if diff.count() != 2 {
        return None;
    }
    let from = single(diff & board.by_color(other) & view.eyes.empty())?;
    let to = single(diff & view.eyes.board.by_color(other))?;
    let piece = board.piece_at(from)?;
    (from != to && view.eyes.board.piece_at(to) == Some(piece)).then_some((from, to, piece))
}
