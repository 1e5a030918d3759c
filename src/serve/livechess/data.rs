//! Boards, tournament, rounds and games in the words of the `LiveChess` API. No key is ever left out and
//! none is added: there are clients that break on either.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    hall::{ClockView, TableId, TableView, View},
    serve::{access::hex, cloud, feed::Feed},
};

/// All boards, those in use first.
pub(super) fn eboards(feed: &Feed) -> Value {
    feed.look(|view| {
        let mut boards: Vec<(bool, Value)> = view
            .tables
            .iter()
            .filter(|(_, table)| table.info.link.board.is_some())
            .map(|(id, table)| (!table.info.link.online, eboard(*id, table)))
            .collect();
        // Clients take the first one.
        boards.sort_by_key(|(idle, _)| *idle);
        boards.into_iter().map(|(_, board)| board).collect()
    })
}

fn eboard(id: TableId, table: &TableView) -> Value {
    let link = &table.info.link;
    let serial = link.board.as_ref().map_or("", |board| board.0.as_str());
    let source = if serial.starts_with('/') { serial.to_owned() } else { format!("table-{id}") };
    let state = match (link.online, &link.reason) {
        (true, _) => Some("ACTIVE"),
        (false, Some(_)) => Some("NOTRESPONDING"),
        (false, None) => None,
    };
    json!({
        "serialnr": serial,
        "source": link.online.then_some(source),
        "state": state,
        "battery": link.battery.map(|battery| format!("{}%", battery.percent)),
        "comment": null,
        "board": (!table.sensed.is_empty()).then_some(&table.sensed),
        "flipped": link.rotated,
        "clock": clock(table.clock),
    })
}

/// A clock with both times, or null: there are clients that reckon with both.
pub(super) fn clock(clock: ClockView) -> Value {
    if clock.white.is_none() || clock.black.is_none() { Value::Null } else { cloud::clock(clock) }
}

/// The board of this serial number, or the first in use, with its table.
pub(super) fn find<'a>(view: &'a View, serial: Option<&str>) -> Option<(&'a str, &'a TableView)> {
    let mut boards = view.tables.values().filter_map(|table| {
        let board = table.info.link.board.as_ref()?;
        Some((board.0.as_str(), table))
    });
    if let Some(serial) = serial {
        return boards.find(|(board, _)| *board == serial);
    }
    let boards: Vec<_> = boards.collect();
    boards.iter().find(|(_, table)| table.info.link.online).or(boards.first()).copied()
}

fn event(feed: &Feed, field: &str) -> String {
    feed.look(|view| {
        let value = view.round.get("event").and_then(|event| event.get(field));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    })
}

/// The same words always give the same UUID.
fn uuid(words: &str) -> String {
    let mut bytes = Sha256::digest(words.as_bytes());
    // Version 8: made as its maker likes (RFC 9562).
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes[..16]);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn event_uuid(feed: &Feed) -> String {
    uuid(&format!("arbiterd event {}", event(feed, "id")))
}

fn game_uuid(event: &str, round: u32, table: TableId) -> String {
    uuid(&format!("arbiterd game {event} {round} {table}"))
}

fn rounds(feed: &Feed) -> u32 {
    let planned = feed.look(|view| view.round["event"]["rounds"].as_u64()).unwrap_or(0);
    feed.rounds().last().copied().unwrap_or(0).max(u32::try_from(planned).unwrap_or(0))
}

/// The one tournament there is, once it has a name.
pub(super) fn tournaments(feed: &Feed) -> Value {
    let name = event(feed, "name");
    if name.is_empty() && event(feed, "id").is_empty() {
        return json!([]);
    }
    json!([{"uuid": event_uuid(feed), "description": name, "rounds": rounds(feed)}])
}

/// The tournament, with the boards of its present round by position.
pub(super) fn tournament(feed: &Feed, id: &str) -> Option<Value> {
    let uuid = event_uuid(feed);
    if id != uuid {
        return None;
    }
    let boards: Vec<String> = feed
        .round_games(feed.current_round())
        .values()
        .map(|game| game.info.link.board.as_ref().map_or_else(String::new, |board| board.0.clone()))
        .collect();
    let name = event(feed, "name");
    Some(json!({
        "uuid": uuid,
        "name": name,
        "description": name,
        "location": event(feed, "site"),
        "country": "",
        "rounds": rounds(feed),
        "eboards": boards,
    }))
}

/// A round by its index from 0; one that is only planned has no pairings.
pub(super) fn round(feed: &Feed, id: &str, index: u32) -> Option<Value> {
    let event = event_uuid(feed);
    let number = index.checked_add(1)?;
    if id != event || number > rounds(feed) {
        return None;
    }
    let games = feed.round_games(number);
    let date = games.values().next().and_then(|game| cloud::date(&game.game));
    let pairings: Vec<Value> = games
        .iter()
        .enumerate()
        .map(|(position, (table, game))| {
            json!({
                "nr": position + 1,
                "uuid": game_uuid(&event, number, *table),
                "white": player(&game.info.white),
                "black": player(&game.info.black),
                "live": cloud::is_live(game),
                "result": cloud::result_word(&game.game),
            })
        })
        .collect();
    Some(json!({"nr": number, "date": date, "pairings": pairings}))
}

/// As in the cloud, but with the identity number as text.
fn player(player: &crate::event::Player) -> Value {
    let mut fields = cloud::player(player);
    fields["fideid"] = json!(player.fide_id.map(|id| id.to_string()));
    fields
}

/// A game by its pairing's UUID.
pub(super) fn game(feed: &Feed, id: &str) -> Option<Value> {
    let event = event_uuid(feed);
    for round in feed.rounds().into_iter().rev() {
        for (table, game) in feed.round_games(round) {
            if game_uuid(&event, round, table) == id {
                return Some(json!({
                    "chess960": cloud::chess960_number(&game.game.start),
                    "result": cloud::result_word(&game.game),
                    "comment": null,
                    "clock": if game.current { clock(game.clock) } else { Value::Null },
                    "moves": cloud::moves(&game.game, false),
                }));
            }
        }
    }
    None
}
