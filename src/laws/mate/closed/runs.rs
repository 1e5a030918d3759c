//! A quick look whether a pawn is sure to promote in the sets, where this kind of argument is given up: most positions that are
//! asked about have such a pawn. It works on all men of a kind at once. Saying so for nothing would lose a proof, never soundness.

use super::{
    super::board::{BISHOP, BLACK, Board, KING, KNIGHT, LIGHT, PAWN, QUEEN, RANK_1, RANK_8, ROOK, WHITE},
    fill::{ahead, around, attacks, hits, jumps, slanting, straight},
};

/// Rounds of the saturation; those who have to wait longer for a way are left to the slower one.
const ROUNDS: usize = 6;

/// The sets, for all men of a kind at once.
struct Runs<'a> {
    board: &'a Board,
    /// Squares of men that never move and are never taken, as far as found yet.
    fixed: u64,
    /// Whether each king moves.
    roams: [bool; 2],
    /// Men that may be taken.
    taken: u64,
    /// Where pawns of each colour may stand; where other men of it but the king may.
    pawns: [u64; 2],
    stand: [u64; 2],
}

/// Whether a pawn, White's or (unless White has one man) Black's, promotes with what the other men reach for sure.
///
/// The man on `kept` is never taken.
pub(super) fn promotes(board: &Board, kept: u64) -> bool {
    let lone = (board.color[WHITE] & !board.role[KING]).is_power_of_two();
    let mut all = Runs {
        board,
        fixed: board.occupied(),
        roams: [false; 2],
        taken: 0,
        pawns: [board.men(WHITE, PAWN), board.men(BLACK, PAWN)],
        stand: board.color.map(|men| men & !board.role[KING]),
    };
    for _ in 0..ROUNDS {
        let before = (all.fixed, all.roams);
        let able = all.able(lone, &Spared::default());
        let mut takes = [0; 2];
        for color in [WHITE, BLACK] {
            takes[color] = all.king(color, able);
        }
        let spared = Spared::new(board, lone, all.roams);
        all.fixed &= !all.able(lone, &spared);
        for color in [WHITE, BLACK] {
            takes[color] |= all.officers(color, &spared);
        }
        for color in [WHITE, BLACK] {
            let prey = if lone && color == BLACK { 0 } else { all.stand[color ^ 1] };
            all.pawns[color] = all.run(color, prey, &spared);
            let last = if color == WHITE { RANK_8 } else { RANK_1 };
            if all.pawns[color] & last != 0 && (color == WHITE || !lone) {
                return true;
            }
            all.stand[color] |= all.pawns[color];
            takes[color] |= hits(color, all.pawns[color]);
        }
        let safe = board.role[KING] | kept | if lone { board.color[WHITE] } else { 0 };
        all.taken |= (board.color[WHITE] & takes[BLACK] | board.color[BLACK] & takes[WHITE]) & !safe;
        all.fixed &= !all.taken;
        if (all.fixed, all.roams) == before {
            return false;
        }
    }
    false
}

impl Runs<'_> {
    /// The men, but kings, that have a move.
    fn able(&self, lone: bool, spared: &Spared) -> u64 {
        let board = self.board;
        let mut able = 0;
        for color in [WHITE, BLACK] {
            let men = |role: usize| board.men(color, role) & !spared.from[color];
            let open = |role: usize| {
                !(self.fixed & (board.color[color] | board.role[KING]) | spared.to[color][role])
            };
            able |= men(KNIGHT) & jumps(open(KNIGHT))
                | men(BISHOP) & slanting(open(BISHOP))
                | men(ROOK) & straight(open(ROOK))
                | men(QUEEN) & around(open(QUEEN));
        }
        let empty = !self.fixed & !(board.role[PAWN] & !self.taken);
        able |= board.men(WHITE, PAWN) & (empty >> 8 | hits(BLACK, self.stand[BLACK]));
        let to = !spared.to[BLACK][PAWN];
        let prey = if lone { 0 } else { self.stand[WHITE] };
        able | board.men(BLACK, PAWN) & !spared.from[BLACK] & ((empty & to) << 8 | hits(WHITE, prey & to))
    }

    /// Where knights and line pieces of this colour may stand.
    fn officers(&mut self, color: usize, spared: &Spared) -> u64 {
        let board = self.board;
        let through = !self.fixed;
        let own = self.fixed & (board.color[color & 1] | board.role[KING]);
        let flood = |role: usize| {
            let barred = own | spared.to[color & 1][role];
            let mut reach = board.men(color, role) & !self.fixed;
            while reach != 0 {
                let more = reach | attacks(role, reach & !spared.from[color & 1], through) & !barred;
                if more == reach {
                    break;
                }
                reach = more;
            }
            reach
        };
        let all = [KNIGHT, BISHOP, ROOK, QUEEN].into_iter().fold(0, |all, role| all | flood(role));
        self.stand[color & 1] |= all;
        all
    }

    /// Where the king may stand; takes it off the fixed men if it moves.
    fn king(&mut self, color: usize, able: u64) -> u64 {
        let board = self.board;
        let foes = self.fixed & board.color[color & 1 ^ 1];
        let through = !self.fixed;
        let men = |role: usize| foes & board.role[role];
        let guarded = hits(color ^ 1, men(PAWN))
            | jumps(men(KNIGHT))
            | around(men(KING))
            | attacks(BISHOP, men(BISHOP) | men(QUEEN), through)
            | attacks(ROOK, men(ROOK) | men(QUEEN), through);
        let home = board.men(color, KING);
        // A step that leaves the other side without a move may be none of the sets.
        if able & board.color[color & 1 ^ 1] == 0 {
            return home;
        }
        let barred = guarded | self.fixed & board.color[color & 1] | board.role[KING] & self.fixed;
        let mut reach = home;
        loop {
            let more = reach | around(reach) & !barred;
            if more == reach {
                break;
            }
            reach = more;
        }
        if reach != home {
            self.fixed &= !home;
            self.roams[color & 1] = true;
        }
        reach
    }

    /// Where pawns may get to. On its own file none passes the home of another that is never taken.
    fn run(&self, color: usize, prey: u64, spared: &Spared) -> u64 {
        let homes = self.board.role[PAWN] & !self.taken;
        let (mut on_file, mut off_file) = (self.board.men(color, PAWN), 0u64);
        loop {
            let (from, to) = (!spared.from[color & 1], !spared.to[color & 1][PAWN]);
            let file = on_file | ahead(color, on_file & from) & to & !self.fixed & !homes;
            let off = off_file
                | ahead(color, off_file & from) & to & !self.fixed
                | hits(color, (file | off_file) & from) & to & prey;
            if file == on_file && off == off_file {
                return file | off;
            }
            (on_file, off_file) = (file, off);
        }
    }
}

/// Moves that may be the last ones while a king has no step: they are none of the sets then.
#[derive(Default)]
struct Spared {
    /// Onto these squares, by role.
    to: [[u64; 5]; 2],
    /// From these squares.
    from: [u64; 2],
}

impl Spared {
    fn new(board: &Board, lone: bool, roams: [bool; 2]) -> Spared {
        let mut all = Spared::default();
        if lone && !roams[BLACK] {
            all.to[WHITE] = [around(board.men(BLACK, KING)); 5];
        }
        if !roams[WHITE] {
            let king = board.men(WHITE, KING);
            let (beside, aslant) = (attacks(ROOK, king, u64::MAX), attacks(BISHOP, king, u64::MAX));
            all.to[BLACK] = [hits(WHITE, king), jumps(king), aslant, beside, beside | aslant];
            // A man that goes off a line may uncover a check.
            let bishops = board.men(BLACK, BISHOP) & if king & LIGHT != 0 { LIGHT } else { !LIGHT };
            let queens = board.men(BLACK, QUEEN);
            if bishops | queens != 0 {
                all.from[BLACK] |= aslant;
            }
            if board.men(BLACK, ROOK) | queens != 0 {
                all.from[BLACK] |= beside;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, Chess, Position, fen::Fen};

    use super::{
        super::{Given, Structure},
        *,
    };

    const CLOSED: [&str; 8] = [
        "4k3/8/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/2B1K3 w - - 0 1",
        "8/8/5p2/2p1pPp1/2P1Pk1b/2pBp1pB/2P1P1P1/5BRK b - - 0 1",
        "8/7p/2kp3P/3P3P/1p3p2/bp3P2/1p6/1K6 b - - 0 1",
        "1k6/1P1p1p1p/BP5p/1P6/8/8/3P1PKP/8 w - - 0 1",
        "8/1p2k3/bPp5/BpP3K1/1P6/8/1P6/2B5 w - - 0 1",
        "kb6/b5p1/5pP1/4pP2/1p1pP3/bPpP3B/2P5/N2B1B1K w - - 0 1",
        "4k1n1/4p3/3pP3/1p1P4/pP6/P7/6N1/4K2R w - - 0 1",
        "8/8/1b2k3/p2p2p1/Pp1Pp1Pp/1P2P2P/2K5/8 w - - 0 1",
    ];

    #[test]
    fn a_promotion_seen_at_once_is_in_the_sets() {
        let (mut seen, mut open, mut dice) = (0, 0, 7u64);
        for fen in CLOSED {
            let start: Chess =
                fen.parse::<Fen>().expect("a FEN").into_position(CastlingMode::Standard).expect("a position");
            for _ in 0..40 {
                let mut position = start.clone();
                for _ in 0..30 {
                    let board = Board::new(&position);
                    for board in [board, board.mirrored()] {
                        seen += 1;
                        if promotes(&board, 0) {
                            open += 1;
                            assert!(Structure::saturated(&board, &Given::default()).is_none(), "{board:?}");
                        }
                    }
                    let moves = position.legal_moves();
                    if moves.is_empty() {
                        break;
                    }
                    dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    position.play_unchecked(moves[(dice >> 33) as usize % moves.len()]);
                }
            }
        }
        assert!(open > 100 && open < seen - 100, "{open} of {seen}");
    }
}
