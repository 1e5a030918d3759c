//! Random games as random streams: any interleaving in which each square's own updates are in
//! order. Knows nothing of the simulated hands; a second opinion on the decoder.
//!
//! `ARBITERD_PLIES=100000` plays that many plies instead of a few thousand.

use arbiterd::{
    record::Position,
    track::Evidence,
    wire::{BoardSquare, Content},
};
use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square, attacks};

use super::Table;

/// One square's update, as one of a list that must keep its order.
type Lane = Vec<(Square, Option<Piece>)>;

struct Stream {
    rng: fastrand::Rng,
    at: i64,
    sensed: Board,
}

impl Stream {
    fn send(&mut self, table: &mut Table, square: Square, content: Option<Piece>) {
        if self.sensed.piece_at(square) == content {
            return;
        }
        match content {
            Some(piece) => self.sensed.set_piece_at(square, piece),
            None => self.sensed.discard_piece_at(square),
        }
        let square = BoardSquare::from_chess(square, false);
        table.observe(self.at, &Evidence::Square(square, Content::from(content)));
    }

    /// The squares' lanes of a move, before they are mixed.
    fn lanes(&mut self, before: &Position, m: Move) -> Vec<Lane> {
        let after = before.play(m);
        let mut lanes: Vec<Lane> = Vec::new();
        for square in Square::ALL {
            let (was, now) = (before.board().piece_at(square), after.board().piece_at(square));
            if was == now {
                continue;
            }
            let mut lane: Lane = Vec::new();
            // A man taken may be lifted first, or never leave its square.
            if was.is_some() && now.is_some() && self.rng.bool() {
                lane.push((square, None));
            }
            lane.push((square, now));
            lanes.push(lane);
        }
        if let Move::Normal { from, to, role, promotion: None, .. } = m
            && self.rng.u8(0..6) == 0
        {
            // A slide: squares between show the man for a moment.
            let piece = Piece { color: before.turn(), role };
            let between: Bitboard = attacks::between(from, to);
            for square in between & !before.board().occupied() {
                lanes.push(vec![(square, Some(piece)), (square, None)]);
            }
        }
        if m.is_promotion() && self.rng.bool() {
            // The pawn itself touches the last rank first.
            let pawn = Piece { color: before.turn(), role: Role::Pawn };
            let lane = lanes.iter_mut().find(|lane| lane[0].0 == m.to()).expect("it changes");
            lane.insert(lane.len() - 1, (m.to(), Some(pawn)));
        }
        if self.rng.u8(0..12) == 0 {
            // Somebody adjusts a man that has nothing to do with it.
            let still: Vec<(Square, Piece)> = after
                .board()
                .iter()
                .filter(|(square, piece)| before.board().piece_at(*square) == Some(*piece))
                .collect();
            let (square, piece) = still[self.rng.usize(0..still.len())];
            lanes.push(vec![(square, None), (square, Some(piece))]);
        }
        lanes
    }

    fn play(&mut self, table: &mut Table, before: &Position, m: Move) {
        let mut lanes = self.lanes(before, m);
        let total: usize = lanes.iter().map(Vec::len).sum();
        // The press: mostly after, sometimes a little before the last update.
        let early = self.rng.u8(0..8) == 0;
        let side = if before.turn() == Color::White { "b" } else { "w" };
        for sent in 0..total {
            self.at += self.rng.i64(5..220);
            if early && sent + 1 == total {
                table.run(self.at, side);
                self.at += self.rng.i64(5..200);
            }
            let index = self.rng.usize(0..lanes.len());
            let (square, content) = lanes[index].remove(0);
            if lanes[index].is_empty() {
                lanes.swap_remove(index);
            }
            self.send(table, square, content);
        }
        if !early {
            self.at += self.rng.i64(20..900);
            table.run(self.at, side);
        }
    }
}

fn play_game(seed: u64, plies: usize) -> Result<usize, String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut position = Position::default();
    let mut table = Table::new(&position);
    let mut stream = Stream { rng: rng.fork(), at: 0, sensed: position.board().clone() };
    table.run(0, "w");
    let mut truth = Vec::new();
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = moves[rng.usize(0..moves.len())];
        truth.push(position.uci(m).to_string());
        stream.at += rng.i64(300..4_000);
        stream.play(&mut table, &position, m);
        position = position.play(m);
    }
    let read = table.end();
    if read == truth {
        return Ok(truth.len());
    }
    let at = read.iter().zip(&truth).take_while(|(a, b)| a == b).count();
    Err(format!("seed {seed}, ply {at}: {:?} read for {:?}", read.get(at), truth.get(at)))
}

#[test]
fn any_interleaving_of_the_squares_is_read() {
    let wanted = std::env::var("ARBITERD_PLIES").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000);
    let (mut plies, mut seed, mut wrong) = (0, 0, Vec::new());
    while plies < wanted {
        seed += 1;
        match play_game(seed, 80) {
            Ok(played) => plies += played,
            Err(why) => {
                plies += 80;
                wrong.push(why);
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seed} games: {wrong:#?}", wrong.len());
}
