//! What is played in a simulated round: games of random legal moves, from ordinary, shuffled and
//! odd starts, over time controls that some of them outlast.

use arbiterd::{
    record::{GameResult, Position},
    sim::{Control, Incident, IncidentKind, Level, Pace, SimGame},
};
use fastrand::Rng;
use shakmaty::{CastlingMode, Color};

/// One game and how it is played.
pub(super) struct Plan {
    pub(super) game: SimGame,
    pub(super) level: Level,
    pub(super) pace: Pace,
    pub(super) incidents: Vec<Incident>,
}

impl Plan {
    /// The time control as an event writes it.
    pub(super) fn time_control(&self) -> String {
        let period = self.game.control.periods[0];
        format!("{}+{}", period.seconds, period.increment)
    }

    pub(super) fn random(rng: &mut Rng) -> Self {
        let start = start(rng);
        let (mut game, end) = playout(start, *pick(rng, &[8, 20, 40, 70, 110, 160]), rng);
        game.result = if end.is_checkmate() {
            Some(GameResult::win(!end.turn()))
        } else if end.is_stalemate() {
            Some(GameResult::Draw)
        } else {
            *pick(
                rng,
                &[None, Some(GameResult::WhiteWins), Some(GameResult::BlackWins), Some(GameResult::Draw)],
            )
        };
        let level = *pick(rng, &Level::ALL);
        let mut pace = Pace::Level;
        if rng.u32(0..5) == 0 {
            // Some of these overstep the time.
            game.control = Control::sudden(rng.u32(40..400), rng.u32(0..4));
            pace = Pace::Clocks(rng.u64(1_500..6_000));
        }
        let mut incidents = Vec::new();
        for _ in 0..rng.usize(0..4) {
            let kind = *pick(
                rng,
                &[
                    IncidentKind::IllegalMove,
                    IncidentKind::IllegalMove,
                    IncidentKind::Slide,
                    IncidentKind::Knock,
                    IncidentKind::ForgottenPress,
                    IncidentKind::RookFirst,
                    IncidentKind::WrongSquare,
                ],
            );
            incidents.push(Incident { ply: rng.usize(0..game.moves.len().max(1)), kind });
        }
        if rng.u32(0..8) == 0 {
            incidents.push(Incident { ply: 0, kind: IncidentKind::CeremonialMove });
        }
        Self { game, level, pace, incidents }
    }
}

pub(super) fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.usize(0..from.len())]
}

fn start(rng: &mut Rng) -> Position {
    match rng.u32(0..10) {
        0 => Position::chess960(rng.u32(0..960)),
        1 => {
            // In the middle of a game, as after an adjournment.
            let (_, end) = playout(Position::default(), 30, rng);
            let middle = Position::from_fen(&end.fen(), CastlingMode::Standard).expect("its own FEN");
            if middle.legal_moves().is_empty() { Position::default() } else { middle }
        }
        _ => Position::default(),
    }
}

/// Random legal moves, captures and pawn moves a little more often, for at most so many plies.
fn playout(start: Position, plies: usize, rng: &mut Rng) -> (SimGame, Position) {
    let mut game = SimGame { start: start.clone(), ..SimGame::default() };
    let mut position = start;
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() || bare(&position) {
            break;
        }
        let forward: Vec<_> = moves
            .iter()
            .filter(|m| {
                m.is_capture() || m.is_promotion() || m.is_castle() || m.role() == shakmaty::Role::Pawn
            })
            .copied()
            .collect();
        let m = if rng.bool() && !forward.is_empty() { *pick(rng, &forward) } else { *pick(rng, &moves) };
        position = position.play(m);
        game.moves.push(m);
        game.clocks.push(None);
    }
    (game, position)
}

fn bare(position: &Position) -> bool {
    let board = position.board();
    (board.by_color(Color::White) | board.by_color(Color::Black)).count() <= 2
}
