//! Games as LiveChess Cloud's JSON files, for viewers that read those: `tournament.json`, a round's
//! `index.json`, `game-M.json`. Field names and types are theirs: `fideid` is a number, a game's
//! result a word, a pairing's result a score.

use serde_json::{Value, json};
use shakmaty::{CastlingMode, Color};

use super::{
    feed::{Feed, RoundGame},
    problem::Problem,
};
use crate::{
    event::Player,
    hall::{ClockView, TableStatus},
    record::{Game, GameResult, PlyState, Position, ResultState},
};

/// The number of the standard arrangement among the 960.
const STANDARD: u32 = 518;

/// The address names this event.
pub(crate) fn is_event(feed: &Feed, event: &str) -> Result<(), Problem> {
    let ours = feed.look(|view| event_field(&view.round, "id"));
    if ours == event || (event == "current") {
        Ok(())
    } else {
        Err(Problem::not_found(format!(
            "there is no event {event:?} here; `current` always names the one there is"
        )))
    }
}

fn event_field(round: &Value, field: &str) -> String {
    round
        .get("event")
        .and_then(|event| event.get(field))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// `tournament.json`.
pub(crate) fn tournament(feed: &Feed) -> Value {
    let round = feed.look(|view| view.round.clone());
    let planned = round["event"]["rounds"].as_u64().unwrap_or(0) as u32;
    let last = feed.rounds().last().copied().unwrap_or(0).max(planned);
    let rounds: Vec<Value> = (1..=last)
        .map(|number| {
            let games = feed.round_games(number);
            let live = games.values().filter(|game| is_live(game)).count();
            json!({"count": games.len(), "live": live})
        })
        .collect();
    let boards: Vec<String> = feed
        .round_games(feed.current_round())
        .values()
        .map(|game| game.info.link.board.as_ref().map_or_else(String::new, |board| board.0.clone()))
        .collect();
    let or_null = |text: String| if text.is_empty() { Value::Null } else { json!(text) };
    json!({
        "id": event_field(&round, "id"),
        "name": event_field(&round, "name"),
        "location": or_null(event_field(&round, "site")),
        "country": null,
        "website": null,
        "rules": "STANDARD",
        "chess960": "NONE",
        "timecontrol": event_field(&round, "time_control"),
        "rounds": rounds,
        "eboards": boards,
    })
}

/// `round-N/index.json`, or nothing before its first game.
pub(crate) fn index(feed: &Feed, round: u32) -> Option<Value> {
    let games = feed.round_games(round);
    let first = games.values().next()?;
    let date = date(&first.game);
    let pairings: Vec<Value> = games
        .values()
        .map(|game| {
            json!({
                "white": player(&game.info.white),
                "black": player(&game.info.black),
                "result": score(&game.game),
                "live": is_live(game),
            })
        })
        .collect();
    Some(json!({"date": date, "pairings": pairings}))
}

/// `round-N/game-M.json`: the M-th pairing of the round, from 1.
pub(crate) fn game(feed: &Feed, round: u32, number: usize) -> Option<Value> {
    let games = feed.round_games(round);
    let game = games.values().nth(number.checked_sub(1)?)?;
    let first_move = game.game.plies.first().map_or(0, |ply| ply.made_at.millis());
    Some(json!({
        "live": is_live(game),
        "serialNr": game.info.link.board.as_ref().map_or("", |board| board.0.as_str()),
        "firstMove": first_move,
        "chess960": chess960_number(&game.game.start),
        "result": result_word(&game.game),
        "comment": null,
        "clock": if game.current { clock(game.clock) } else { Value::Null },
        "moves": moves(&game.game, true),
    }))
}

/// The day as `YYYY-MM-DD`, if it is known.
pub(crate) fn date(game: &Game) -> Option<String> {
    game.tags.get("Date").map(|date| date.replace('.', "-")).filter(|date| !date.contains('?'))
}

/// It is being played and its board speaks.
pub(crate) fn is_live(game: &RoundGame) -> bool {
    game.current && game.info.status == TableStatus::Playing && game.info.link.online
}

/// A player in the seven fields LiveChess knows.
pub(crate) fn player(player: &Player) -> Value {
    let (last, first) = match player.name.split_once(',') {
        Some((last, first)) => (last.trim(), first.trim()),
        None => (player.name.trim(), ""),
    };
    let or_null = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    json!({
        "fname": or_null(first),
        "mname": null,
        "lname": or_null(last),
        "title": player.title,
        "federation": player.federation,
        "gender": player.gender.map(|gender| gender.to_ascii_uppercase().to_string()),
        "fideid": player.fide_id,
    })
}

/// A score as a pairing list writes it; `*` while it is not known.
fn score(game: &Game) -> &'static str {
    match final_result(game) {
        Some(GameResult::WhiteWins | GameResult::WhiteForfeit) => "1-0",
        Some(GameResult::BlackWins | GameResult::BlackForfeit) => "0-1",
        Some(GameResult::Draw) => "1/2-1/2",
        Some(GameResult::BothLose | GameResult::BothForfeit) => "0-0",
        _ => "*",
    }
}

/// LiveChess' word for a result, or null.
pub(crate) fn result_word(game: &Game) -> Option<&'static str> {
    Some(match final_result(game)? {
        GameResult::WhiteWins => "WHITEWIN",
        GameResult::BlackWins => "BLACKWIN",
        GameResult::Draw => "DRAW",
        GameResult::WhiteForfeit => "WHITEFORFAIT",
        GameResult::BlackForfeit => "BLACKFORFAIT",
        GameResult::BothForfeit => "NOTPLAYED",
        GameResult::HalfZero | GameResult::ZeroHalf | GameResult::BothLose | GameResult::Adjourned => {
            return None;
        }
    })
}

fn final_result(game: &Game) -> Option<GameResult> {
    game.result.filter(|(.., state)| *state == ResultState::Final).map(|(result, ..)| result)
}

/// The clock as LiveChess writes it; `run` is true for White.
pub(crate) fn clock(clock: ClockView) -> Value {
    if clock.white.is_none() && clock.black.is_none() {
        return Value::Null;
    }
    json!({
        "white": clock.white,
        "black": clock.black,
        "run": clock.running.map(Color::is_white),
        "time": clock.at.millis(),
    })
}

/// Moves as `SAN`, `SAN 1818` or `SAN 1821+28`; up to the first that PGN cannot say.
pub(crate) fn moves(game: &Game, provisional: bool) -> Vec<String> {
    let mut moves = Vec::new();
    for (index, ply) in game.plies.iter().enumerate() {
        if ply.breaks() || (!provisional && ply.state == PlyState::Provisional) {
            break;
        }
        let mover = game.position_before(index).map_or(Color::White, Position::turn);
        let san = &ply.san;
        moves.push(match (ply.clock.get(mover), ply.elapsed) {
            (Some(left), Some(spent)) => format!("{san} {}+{}", left.0, spent.0),
            (Some(left), None) => format!("{san} {}", left.0),
            (None, Some(spent)) => format!("{san} +{}", spent.0),
            (None, None) => san.clone(),
        });
    }
    moves
}

/// Which of the 960 arrangements a game starts from; 518 is the standard one.
pub(crate) fn chess960_number(start: &Position) -> u32 {
    if start.mode() == CastlingMode::Standard {
        return STANDARD;
    }
    let placement = start.placement();
    (0..960).find(|number| Position::chess960(*number).placement() == placement).unwrap_or(STANDARD)
}
