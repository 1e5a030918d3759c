//! The legal moves of some men only: where few men were read to leave their squares, the moves of all the
//! others need not be made up.
//!
//! Which men that are is for the searcher (`candidates`); what a whole position allows, for `record`.

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, File, Move, MoveList, Position as _, Rank, Role, Square, attacks,
};

use super::moves::origin;
use crate::record::Position;

/// The legal moves of the men on these squares, in the order of [`Position::legal_moves`].
pub(super) fn moves_of(position: &Position, men: Bitboard) -> MoveList {
    let mut moves = MoveList::new();
    let men = men & position.board().by_color(position.turn());
    if men.is_empty() {
        return moves;
    }
    match position.chess() {
        Some(chess) if chess.checkers().is_empty() => quiet(chess, men, &mut moves),
        Some(chess) => moves.extend(chess.legal_moves().iter().copied().filter(|m| men.contains(origin(*m)))),
        // More than a list of legal moves holds are none that hands play.
        None => {
            let all = position.legal_moves().into_iter().filter(|m| men.contains(origin(*m)));
            moves.extend(all.take(moves.capacity()));
        }
    }
    moves
}

/// Nobody gives check.
fn quiet(chess: &Chess, men: Bitboard, moves: &mut MoveList) {
    let (board, turn) = (chess.board(), chess.turn());
    let Some(king) = board.king_of(turn) else { return };
    if chess.maybe_ep_square().is_some() {
        moves.extend(chess.en_passant_moves().iter().copied().filter(|m| men.contains(origin(*m))));
    }
    let pinned = pinned(chess, king);
    let mut add = |m: Move| {
        let from = origin(m);
        if !pinned.contains(from) || attacks::aligned(from, m.to(), king) {
            moves.push(m);
        }
    };
    pawns(chess, board.pawns() & men, &mut add);
    let free = !board.by_color(turn);
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        for from in board.by_role(role) & men {
            let reach = attacks::attacks(from, role.of(turn), board.occupied());
            for to in reach & free {
                add(Move::Normal { role, from, capture: board.role_at(to), to, promotion: None });
            }
        }
    }
    if men.contains(king) {
        for to in attacks::king_attacks(king) & free {
            if board.attacks_to(to, !turn, board.occupied()).is_empty() {
                let capture = board.role_at(to);
                moves.push(Move::Normal { role: Role::King, from: king, capture, to, promotion: None });
            }
        }
        if !chess.castles().is_empty() {
            for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
                moves.extend(chess.castling_moves(side).iter().copied());
            }
        }
    }
}

fn pawns(chess: &Chess, pawns: Bitboard, add: &mut impl FnMut(Move)) {
    if pawns.is_empty() {
        return;
    }
    let (board, turn) = (chess.board(), chess.turn());
    let ahead = turn.fold_wb(8, -8);
    let last = Bitboard::from_rank(turn.fold_wb(Rank::Eighth, Rank::First));
    let mut push = |all: Bitboard, step: i32| {
        for to in all & !last {
            let Some(from) = to.offset(-step) else { continue };
            let capture = board.role_at(to);
            add(Move::Normal { role: Role::Pawn, from, capture, to, promotion: None });
        }
        for to in all & last {
            let Some(from) = to.offset(-step) else { continue };
            let capture = board.role_at(to);
            for promotion in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                let promotion = Some(promotion);
                add(Move::Normal { role: Role::Pawn, from, capture, to, promotion });
            }
        }
    };
    let theirs = board.by_color(!turn);
    let west = (pawns & !Bitboard::from_file(File::A)).shift(ahead - 1);
    push(west & theirs, ahead - 1);
    let east = (pawns & !Bitboard::from_file(File::H)).shift(ahead + 1);
    push(east & theirs, ahead + 1);
    let single = pawns.shift(ahead) & !board.occupied();
    push(single, ahead);
    let third = Bitboard::from_rank(turn.fold_wb(Rank::Third, Rank::Sixth));
    push((single & third).shift(ahead) & !board.occupied(), 2 * ahead);
}

/// Men that stand alone between the king and a man that would give check.
fn pinned(chess: &Chess, king: Square) -> Bitboard {
    let (board, them): (_, Color) = (chess.board(), !chess.turn());
    let none = Bitboard::EMPTY;
    let straight = attacks::rook_attacks(king, none) & (board.rooks() | board.queens());
    let slanting = attacks::bishop_attacks(king, none) & (board.bishops() | board.queens());
    let mut pinned = none;
    for sniper in (straight | slanting) & board.by_color(them) {
        let between = attacks::between(king, sniper) & board.occupied();
        if !between.more_than_one() {
            pinned |= between;
        }
    }
    pinned
}

#[cfg(test)]
mod tests {
    use shakmaty::{Bitboard, CastlingMode, Square};

    use super::{moves_of, origin};
    use crate::record::Position;

    /// What `moves_of` gives for some men is what the position allows them, in the same order.
    fn same(position: &Position, men: Bitboard) {
        let all = position.legal_moves().into_iter().filter(|m| men.contains(origin(*m)));
        assert_eq!(moves_of(position, men).to_vec(), all.collect::<Vec<_>>(), "{position}: {men:?}");
    }

    #[test]
    fn the_moves_of_some_men_are_those_that_the_position_allows_them() {
        let fens = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            // Castling, pins, promotions by either way.
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
            // Taking in passing bares the king along the rank.
            "8/2p5/3p4/KP5r/1R3pPk/8/4P3/8 b - g3 0 1",
            // A check.
            "rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3",
            // No king: not a legal position.
            "8/2p5/3p4/1P5r/1R3pPk/8/4P3/8 w - - 0 1",
        ];
        for fen in fens {
            let mut position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
            for step in 0..60_u64 {
                same(&position, Bitboard::FULL);
                same(&position, Bitboard(0x5a3c_96e1_0ff0_a55a_u64.rotate_left(step as u32)));
                for square in Square::ALL {
                    same(&position, square.into());
                }
                let moves = position.legal_moves();
                let Some(count) = (moves.len() as u64).checked_sub(1) else { break };
                position = position.play(moves[(step * 7_919 % (count + 1)) as usize]);
            }
        }
    }
}
