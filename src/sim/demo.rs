//! The demo's hall: historical games, a hand at each board, and some incidents.

use super::{
    BoardConfig, Control, HandOptions, Incident, IncidentKind, Level, Pace, Script, SimGame, SimPort,
    famous_games, hand, port_name,
};

/// One table of the demo.
pub struct DemoTable {
    /// The board's serial number.
    pub serial: u32,
    /// The game played on it, with its players.
    pub game: SimGame,
    /// White sits at the connector's right hand.
    pub rotated: bool,
    /// There is a clock.
    pub clock: bool,
    /// What truly happens at it.
    pub script: Script,
    /// Its port.
    pub port: SimPort,
}

/// The first board's serial number.
const FIRST_SERIAL: u32 = 30_101;

/// So many boards, 1 to 64: the third is turned round, the fifth has no clock. On the first an
/// illegal move is played and corrected, on the second a piece is dragged and rests on its way, on
/// the fourth a player forgets to press. Results are shown by the kings where no mate stands.
#[must_use]
pub fn demo_tables(boards: usize, seed: u64) -> Vec<DemoTable> {
    let games = famous_games();
    (0..boards.clamp(1, 64))
        .map(|index| {
            let mut game = games[index % games.len()].clone();
            game.control = Control::sudden(900, 10);
            game.tags.set("TimeControl", "900+10");
            let (rotated, clock) = (index % 8 == 2, index % 8 != 4);
            let last = game.moves.len().saturating_sub(1);
            let incidents: &[(usize, IncidentKind)] = match index % 8 {
                0 => &[(0, IncidentKind::CeremonialMove), (9, IncidentKind::IllegalMove)],
                1 => &[(4, IncidentKind::Slide), (12, IncidentKind::RookFirst), (20, IncidentKind::Slide)],
                2 => &[(7, IncidentKind::WrongSquare)],
                3 => &[(11, IncidentKind::ForgottenPress)],
                5 => &[(15, IncidentKind::Knock)],
                _ => &[],
            };
            let incidents =
                incidents.iter().map(|(ply, kind)| Incident { ply: (*ply).min(last), kind: *kind }).collect();
            let options = HandOptions {
                pace: Pace::Mean(9_000),
                incidents: vec![incidents],
                reset_after_last: false,
                wait_ms: 6_000,
                ..HandOptions::new(Level::Human, seed.wrapping_mul(64).wrapping_add(index as u64))
            };
            let script = hand::script(std::slice::from_ref(&game), &options);
            let serial = FIRST_SERIAL + index as u32;
            let mut config = BoardConfig { serial, version: (4, 0), ..BoardConfig::default() };
            config.setup.rotated = rotated;
            config.setup.clock = clock.then(|| game.control.clone());
            config.setup.seed = options.seed;
            let port = SimPort::board(port_name(index + 1), config, script.clone());
            DemoTable { serial, game, rotated, clock, script, port }
        })
        .collect()
}
