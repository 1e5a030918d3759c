//! What the desk can ask without changing anything: a game as a score sheet in English or Russian notation,
//! a typed score sheet read against the rules, Berger tables, match protocols.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hyper::header;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{desk::DeskState, problem::Problem};
use crate::{
    event::{Event, Pairing, Round, Section, berger, double_berger, match_protocols},
    hall::{TableId, View},
    record::{Game, Notation, read_score, score_text},
};

type Shared = State<Arc<DeskState>>;

/// The routes; all only read.
pub(crate) fn routes() -> Router<Arc<DeskState>> {
    Router::new()
        .route("/api/v1/tables/{table}/score", get(score))
        .route("/api/v1/tables/{table}/read-score", post(read_typed))
        .route("/api/v1/berger", get(berger_table))
        .route("/api/v1/protocols", get(protocols))
}

#[derive(Deserialize)]
struct ScoreQuery {
    /// `ru`, or English.
    notation: Option<String>,
}

fn game_of(state: &DeskState, table: u32) -> Result<Game, Problem> {
    state
        .feed
        .look(|view| view.tables.get(&TableId(table)).map(|table| table.game.clone()))
        .ok_or_else(|| Problem::not_found(format!("there is no table {table}")))
}

/// The game in one line, as text.
async fn score(
    State(state): Shared,
    Path(table): Path<u32>,
    Query(query): Query<ScoreQuery>,
) -> Result<Response, Problem> {
    let notation = match query.notation.as_deref() {
        Some("ru") => Notation::Russian,
        None | Some("en") => Notation::English,
        Some(_) => return Err(Problem::bad("notation is `en` or `ru`")),
    };
    let text = score_text(&game_of(&state, table)?, notation);
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// Reads a typed score sheet from the table's start position: the moves as the order `correct` takes
/// them, and the first word that is no legal move.
async fn read_typed(
    State(state): Shared,
    Path(table): Path<u32>,
    text: String,
) -> Result<Json<Value>, Problem> {
    let read = read_score(&game_of(&state, table)?.start, &text);
    let plies: Vec<String> = read.game.plies.iter().map(|ply| ply.uci.to_string()).collect();
    let san: Vec<&str> = read.game.plies.iter().map(|ply| ply.san.as_str()).collect();
    Ok(Json(json!({
        "plies": plies,
        "san": san,
        "russian": score_text(&read.game, Notation::Russian),
        "fen": read.game.position().fen(),
        "fault": read.fault,
    })))
}

#[derive(Deserialize)]
struct BergerQuery {
    players: u32,
    #[serde(default)]
    double: bool,
}

/// A round robin: by rounds, the numbers of White and Black, and who is free.
async fn berger_table(Query(query): Query<BergerQuery>) -> Result<Json<Value>, Problem> {
    let rounds = if query.double { double_berger(query.players) } else { berger(query.players) };
    let rounds = rounds.ok_or_else(|| Problem::bad("Berger tables are for 3 to 24 players"))?;
    let rounds: Vec<Value> = rounds
        .iter()
        .map(|round| {
            let games: Vec<[u32; 2]> = round.games.iter().map(|game| [game.white, game.black]).collect();
            json!({"games": games, "free": round.free})
        })
        .collect();
    Ok(Json(json!({"players": query.players, "rounds": rounds})))
}

/// The protocols of the running round's team matches.
async fn protocols(State(state): Shared) -> Json<Value> {
    Json(state.feed.look(|view| json!(round_protocols(view))))
}

fn round_protocols(view: &View) -> Vec<crate::event::MatchProtocol> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = view.round["number"].as_u64().unwrap_or(0) as u32;
    let event = Event {
        id: text(&view.round["event"]["id"]),
        name: text(&view.round["event"]["name"]),
        site: text(&view.round["event"]["site"]),
        ..Event::default()
    };
    let mut round = Round {
        number,
        date: view.round["date"].as_str().map(str::to_owned),
        pairings: view
            .tables
            .iter()
            .filter(|(_, table)| table.info.round == number)
            .map(|(id, table)| Pairing {
                board: id.0,
                white: table.info.white.clone(),
                black: table.info.black.clone(),
                result: table.game.result.map(|(result, ..)| result),
                ..Pairing::default()
            })
            .collect(),
        ..Round::default()
    };
    crate::event::import::number_matches(&mut round.pairings);
    match_protocols(&event, &Section::default(), &round, |_| None)
}
