//! The shared scenarios, as far as the decoder alone answers for them: the moves.

use std::collections::BTreeMap;

use arbiterd::record::Position;
use serde_json::Value;
use shakmaty::CastlingMode;

use super::Table;
use crate::support::shared;

/// Plays a shared scenario; `None` when it holds what is not a board's or clock's word.
fn play(case: &Value) -> Option<(Table, Vec<String>)> {
    let fen = case["setup"]["fen"].as_str()?;
    let mut table = Table::new(&Position::from_fen(fen, CastlingMode::Standard).ok()?);
    for event in case["events"].as_array()? {
        let at = event["t"].as_i64()?;
        if let Some(square) = event.get("sq") {
            let letter = event["pc"].as_str().unwrap_or("-");
            table.play(&format!("{at} {} {letter}", square.as_str()?));
        } else if let Some(clock) = event.get("clock") {
            match clock.get("run") {
                Some(Value::Null) => table.run(at, "-"),
                Some(run) => table.run(at, run.as_str()?),
                None => {}
            }
        } else if let Some(dump) = event.get("dump") {
            table.play(&format!("{at} dump {}", dump.as_str()?));
        } else if let Some(link) = event.get("link") {
            table.play(&format!("{at} {}", link.as_str()?));
        } else {
            return None;
        }
    }
    let moves = table.end();
    Some((table, moves))
}

#[test]
fn the_moves_of_every_shared_scenario() {
    let Some(path) = shared("cases/cases.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = BTreeMap::new();
    let mut played = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let Some(expected) = case["expect"].get("moves") else { continue };
        let Some((_, moves)) = play(&case) else { continue };
        played += 1;
        let expected: Vec<&str> = expected.as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
        if moves != expected {
            wrong.insert(case["id"].as_str().unwrap().to_owned(), (expected.join(" "), moves.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {played} scenarios are read wrongly: {wrong:#?}", wrong.len());
}
