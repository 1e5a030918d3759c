//! Verdicts from the men alone: endings in which one side cannot mate wherever they stand.
//!
//! The winner is White throughout `laws::mate`; the caller turns the board for Black.

use super::board::{BISHOP, BLACK, Board, KING, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, WHITE};

/// Whether White can never mate with these men, whatever is played from here.
///
/// Each case is closed under legal moves (captures only take men away, nobody can promote where it would
/// matter), so it is enough that no legal move can bring about a mate *with* these men. Write squares as
/// offsets from the mated king on *s*.
///
/// **Two squares.** White's king never stands next to *s*; so it cannot cover both (1,0) and (0,1): the
/// squares next to both are *s* itself and (1,1), which touches *s*. The same holds for any two orthogonal
/// neighbours of *s* that touch each other.
///
/// * **Bare king.** A king gives no check, and there is nobody to uncover.
/// * **A lone knight, against king and queens.** Let it check from (1,2); the other cases are turns and
///   reflections of this one. Then (0,1) and (1,0) are on the board, and have not the colour of *s*, which is
///   that of all squares the knight attacks. So each is covered by White's king or holds a queen; by *two squares* one
///   of them holds a queen. A queen on (0,1) takes the knight, one diagonal step away. A queen on (1,0)
///   takes it through (1,1), unless another queen stands there, and that one takes it. Nothing is
///   pinned, for White has no line piece. So it is no mate.
/// * **Bishops of one square colour, no pawn on the board, Black without knights and without bishops of
///   the other colour.** Let a bishop check along (1,1), (2,2), …: *s* has the bishops' colour, (1,0) and
///   (0,1) are on the board and have the other, so no bishop of either side attacks or occupies them. By *two squares* one of
///   them holds a rook or a queen. That man takes a checker on (1,1), or steps to the empty (1,1). It is
///   not pinned: it stands beside the king on a rank or file, where no bishop pins. Nor can the check be
///   double: of two bishops one must have moved off the other's diagonal through *s* to another diagonal through *s*, and
///   from (a,a) a bishop leads only to (a−k,a+k), which is on one for k = 0 alone. So it is no mate.
pub(super) fn cannot_mate(board: &Board) -> bool {
    let white = board.color[WHITE];
    let black = board.color[BLACK];
    if white & (board.role[PAWN] | board.role[ROOK] | board.role[QUEEN]) != 0 {
        return false;
    }
    let knights = white & board.role[KNIGHT];
    let bishops = white & board.role[BISHOP];
    if knights | bishops == 0 {
        return true;
    }
    if knights != 0 {
        return bishops == 0
            && knights.is_power_of_two()
            && black & !(board.role[KING] | board.role[QUEEN]) == 0;
    }
    let all = board.role[BISHOP];
    (all & LIGHT == 0 || all & !LIGHT == 0) && board.role[PAWN] | board.role[KNIGHT] == 0
}
