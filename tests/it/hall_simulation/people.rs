//! Arbiters and operators of a simulated hall: sensible entries and corrections, and foolish ones.

use arbiterd::{
    event::Player,
    hall::{Command, Hall, TableId, View},
    laws::{AlertId, AlertState, Code, Entry},
    record::{GameResult, Position},
    track::Correction,
};
use fastrand::Rng;
use serde_json::json;
use shakmaty::{Color, Role, uci::UciMove};

use super::games::pick;

/// How people at the desk behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Desk {
    /// They look, acknowledge and rename.
    Calm,
    /// They correct, enter and take back, right or wrong.
    Busy,
}

/// Something somebody orders. The hall may still refuse it.
pub(super) fn order(desk: Desk, hall: &Hall, view: &View, rng: &mut Rng) -> Option<Command> {
    let tables = hall.table_ids();
    let table = *tables.get(rng.usize(0..tables.len().max(1)))?;
    let calm = rng.u32(0..10) < 4;
    if desk == Desk::Calm || calm { look_after(table, hall, view, rng) } else { interfere(table, hall, rng) }
}

fn look_after(table: TableId, hall: &Hall, view: &View, rng: &mut Rng) -> Option<Command> {
    let open: Vec<AlertId> = view
        .tables
        .get(&table)?
        .alerts
        .values()
        .filter(|alert| matches!(alert.state, AlertState::Open | AlertState::Acknowledged))
        .map(|alert| alert.id)
        .collect();
    let entry = |entry| Some(Command::Entry { table, entry });
    match rng.u32(0..12) {
        0..3 if !open.is_empty() => entry(Entry::Acknowledge { alert: *pick(rng, &open) }),
        3 if !open.is_empty() => entry(Entry::Resolve { alert: *pick(rng, &open), note: "seen".to_owned() }),
        4 => entry(Entry::Acknowledge { alert: AlertId(rng.u32(0..40)) }),
        5 => entry(Entry::Incident { note: "a telephone rang".to_owned() }),
        6 | 7 => {
            let mut setup = hall.table_setup(table)?.clone();
            setup.white = Player::named(format!("Renamed {}", rng.u32(0..100)));
            if rng.bool() {
                setup.tags.set("Annotator", "nobody");
            }
            Some(Command::Table { table: setup })
        }
        8 => Some(Command::Delay { seconds: *pick(rng, &[0, 0, 30, 300, 900]) }),
        9 => Some(Command::Mute { table, code: *pick(rng, Code::ALL), muted: rng.bool() }),
        10 => {
            let mut event = hall.event().clone();
            event.name = format!("Open {}", rng.u32(0..100));
            event.delay_seconds = hall.delay_seconds();
            Some(Command::Event { event })
        }
        _ => Some(if rng.bool() { Command::StartRound } else { Command::CloseRound }),
    }
}

fn interfere(table: TableId, hall: &Hall, rng: &mut Rng) -> Option<Command> {
    if rng.u32(0..5) < 2 {
        return Some(Command::Entry { table, entry: entry(table, hall, rng)? });
    }
    let game = hall.game(table)?;
    let count = game.plies.len();
    let index = rng.usize(0..=count);
    let legal = |position: &Position, rng: &mut Rng| -> UciMove {
        let moves = position.legal_moves();
        if moves.is_empty() || rng.u32(0..6) == 0 {
            return "e2e4".parse().expect("UCI");
        }
        position.uci(*pick(rng, &moves))
    };
    let correction = match rng.u32(0..14) {
        0 | 1 => Correction::ReplacePly {
            index,
            uci: legal(game.position_before(index).unwrap_or(&game.start), rng),
        },
        2 => Correction::InsertPly {
            index,
            uci: legal(game.position_before(index).unwrap_or(&game.start), rng),
        },
        3 | 4 => Correction::DeletePly { index },
        5 => {
            let mut position = game.position().clone();
            let mut plies = Vec::new();
            for _ in 0..rng.usize(1..4) {
                let uci = legal(&position, rng);
                plies.push(uci.to_string());
                if let Some(m) = position.find_uci(uci) {
                    position = position.play(m);
                }
            }
            if rng.u32(0..5) == 0 {
                plies.push("nonsense".to_owned());
            }
            Correction::Append { plies }
        }
        6 | 7 => {
            // What stands on the board, with somebody to move.
            let turn = if rng.bool() { "w" } else { "b" };
            let fen = format!("{} {turn} - - 0 30", hall.sensed(table)?.board_fen());
            Correction::SetPosition { position: Position::from_fen(&fen, game.start.mode()).ok()? }
        }
        8 => Correction::SetPosition { position: game.position_before(index)?.clone() },
        9 => Correction::PromotionPiece {
            role: *pick(rng, &[Role::Queen, Role::Rook, Role::Bishop, Role::Knight]),
        },
        _ => Correction::Undo,
    };
    Some(Command::Correct { table, correction })
}

fn entry(table: TableId, hall: &Hall, rng: &mut Rng) -> Option<Entry> {
    let side = if rng.bool() { Color::White } else { Color::Black };
    let word = side.fold_wb("white", "black");
    let result =
        *pick(rng, &[GameResult::WhiteWins, GameResult::BlackWins, GameResult::Draw, GameResult::BothLose]);
    let ended = hall.game(table)?.result.is_some();
    let value = match rng.u32(0..18) {
        // What ends a game is rare, or nothing would be left to follow.
        0 => return Some(Entry::Result { result }),
        1 => return Some(Entry::Resign { side }),
        2 => return Some(Entry::DrawAgreed),
        3..6 if ended => return Some(Entry::Reopen),
        3 => json!({"act": "claim", "side": word, "kind": "threefold"}),
        4 => json!({"act": "claim", "side": word, "kind": "fifty"}),
        5 | 6 => return Some(Entry::DrawOffer { side }),
        7 => return Some(Entry::DrawReject { side }),
        8 => json!({"act": "two-hands", "side": word}),
        9 => json!({"act": "ack-flag", "side": word}),
        10 => json!({"act": "query-move-count", "side": word}),
        11 => json!({"act": "report-illegal-found", "side": word}),
        12 => json!({"act": "report-clock-setting", "side": word}),
        13 => json!({"act": "report-reversed-colours"}),
        14 => return Some(Entry::Pause { reason: "a fire drill".to_owned() }),
        15 => json!({"act": "absent", "side": word}),
        16 => json!({"act": "scoresheets-signed", "result": result.word()}),
        _ => return Some(Entry::Reopen),
    };
    // The desk's own words; what it would refuse is not ordered.
    serde_json::from_value(value).ok()
}
