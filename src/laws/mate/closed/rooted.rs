//! The same proof with more known: men that stay at home until they are taken are found first.

use super::{
    super::board::{BLACK, Board, KING, PAWN, Squares, WHITE, bit, pawn_attacks, piece_attacks},
    Given, Structure,
};

/// The same proof after finding the men that stay at home until they are taken; several times the work.
///
/// **Soundness.** Saturate under the assumption that man *m* is never taken. Until *m* is taken, the assumption is
/// true of play so far, so every position is within those sets. If *m* has no move in them, it is taken at home or
/// stays there for ever: it is *rooted*. What is known of rooted men may then be used, in the next such assumption and in the final sets:
/// a rooted man never moves, though it may be taken. While it lives the sets of its assumption hold, so it attacks no more than there.
pub(in super::super) fn cannot_mate_deep(board: &Board) -> bool {
    let mut given = Given::default();
    let Some(plain) = Structure::new(board, &given) else {
        return rooted_proof(board, &mut given, u32::MAX);
    };
    let mut loose = 0;
    for (index, man) in plain.men[..plain.count].iter().enumerate() {
        if man.reach != bit(man.home) {
            loose |= 1 << index;
        }
    }
    rooted_proof(board, &mut given, loose)
}

fn rooted_proof(board: &Board, given: &mut Given, candidates: u32) -> bool {
    if !worth_the_work(board, candidates) {
        return false;
    }
    for _ in 0..2 {
        let before = given.rooted;
        let mut index = 0;
        for (role, men) in board.role.iter().enumerate() {
            for home in Squares(*men) {
                let at = index;
                index += 1;
                let known = given.rooted >> at & 1 == 1 || candidates >> at & 1 == 0;
                if known || role == KING || moves_now(board, role, home) {
                    continue;
                }
                given.kept = Some(at);
                let man = Structure::new(board, given).map(|all| all.men[at & 31]);
                given.kept = None;
                if let Some(man) = man
                    && man.reach == bit(home)
                {
                    given.rooted |= 1 << at;
                    given.attacks[at & 31] = man.attacks;
                }
            }
        }
        if given.rooted == before {
            return false;
        }
        if Structure::new(board, given).is_some_and(|structure| !structure.mate_possible()) {
            return true;
        }
    }
    false
}

/// Whether there would be a proof were all candidates rooted that may be: if not, there is none with fewer.
fn worth_the_work(board: &Board, candidates: u32) -> bool {
    let mut given = Given::default();
    let mut index = 0;
    for (role, men) in board.role.iter().enumerate() {
        for home in Squares(*men) {
            if role != KING && candidates >> index & 1 == 1 && !moves_now(board, role, home) {
                given.rooted |= 1 << index;
                let color = usize::from(board.color[BLACK] & bit(home) != 0);
                given.attacks[index & 31] = if role == PAWN {
                    pawn_attacks(color, home)
                } else {
                    piece_attacks(role, home, board.occupied())
                };
            }
            index += 1;
        }
    }
    given.rooted != 0 && Structure::new(board, &given).is_some_and(|structure| !structure.mate_possible())
}

/// Whether a man has a move in the position as it stands, checks and turn aside.
fn moves_now(board: &Board, role: usize, home: u8) -> bool {
    let color = usize::from(board.color[BLACK] & bit(home) != 0);
    let occupied = board.occupied();
    if role == PAWN {
        let ahead = if color == WHITE { bit(home) << 8 } else { bit(home) >> 8 };
        return ahead & !occupied != 0 || pawn_attacks(color, home) & board.color[color ^ 1] != 0;
    }
    piece_attacks(role, home, occupied) & !board.color[color] != 0
}
