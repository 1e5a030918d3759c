//! `tournament.json` and `index.json`, in the fields of LiveChess. All keys are always there.

use serde_json::{Value, json};

use crate::{
    event::Player,
    record::{Game, GameResult, ResultState},
};

/// `tournament.json`: the event as the hall names it, games and running games of each round, the boards'
/// serial numbers in order.
#[must_use]
pub fn tournament_document(event: &Value, rounds: &[(usize, usize)], boards: &[&str]) -> Value {
    let text = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
    let or_null = |field: &str| Some(text(field)).filter(|text| !text.is_empty());
    let rounds: Vec<Value> =
        rounds.iter().map(|(count, live)| json!({"count": count, "live": live})).collect();
    json!({
        "id": text("id"),
        "name": text("name"),
        "location": or_null("site"),
        "country": or_null("country"),
        "website": or_null("website"),
        "rules": "STANDARD",
        "chess960": "NONE",
        "timecontrol": text("time_control"),
        "rounds": rounds,
        "eboards": boards,
    })
}

/// `index.json` of a round.
#[must_use]
pub fn index_document(date: Option<&str>, pairings: impl IntoIterator<Item = Value>) -> Value {
    json!({"date": date, "pairings": pairings.into_iter().collect::<Vec<_>>()})
}

/// One entry of `index.json`.
pub(super) fn pairing(white: &Player, black: &Player, game: &Game, live: bool) -> Value {
    json!({"white": player(white), "black": player(black), "result": score(game), "live": live})
}

/// A player in LiveChess' seven fields; `fideid` is a number.
fn player(player: &Player) -> Value {
    let parts = player.parts();
    json!({
        "fname": parts.given,
        "mname": parts.middle,
        "lname": parts.family,
        "title": player.title,
        "federation": player.federation,
        "gender": player.gender.map(|gender| gender.to_ascii_uppercase().to_string()),
        "fideid": player.fide_id,
    })
}

/// As pairing lists write it; `*` while it is not known.
fn score(game: &Game) -> &'static str {
    let result = game.result.filter(|(.., state)| *state == ResultState::Final).map(|(result, ..)| result);
    match result {
        Some(GameResult::WhiteWins | GameResult::WhiteForfeit) => "1-0",
        Some(GameResult::BlackWins | GameResult::BlackForfeit) => "0-1",
        Some(GameResult::Draw) => "1/2-1/2",
        Some(GameResult::BothLose | GameResult::BothForfeit) => "0-0",
        Some(GameResult::HalfZero) => "1/2-0",
        Some(GameResult::ZeroHalf) => "0-1/2",
        Some(GameResult::Adjourned) | None => "*",
    }
}

/// The bytes of a document; the order of keys does not change.
pub(super) fn bytes(document: &Value) -> Vec<u8> {
    let mut bytes = document.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
