//! The event at the desk: imports that wait, the sheets before and after a round, sections, boards without a
//! table, typed games, names in Latin letters, rounds from Berger tables.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Extension, Path, Query, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hyper::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    access::Who,
    desk::{DeskState, Nothing, order, orders, parse},
    imports::{ImportState, current_round, read_round},
    problem::Problem,
};
use crate::{
    event::{
        Player, berger, double_berger,
        import::{ImportOptions, Refused, read_pair_list},
        is_latin, latin_name,
    },
    hall::{Command, EventSetup, OptionsSetup, RoundSetup, TableId, TableSetup, check_sheet, close_sheet},
    record::{GameResult, Position, Tags, read_score},
    track::Correction,
    wall,
};

type Shared = State<Arc<DeskState>>;

/// The routes.
pub(crate) fn routes() -> Router<Arc<DeskState>> {
    Router::new()
        .route("/api/v1/round/check", get(check))
        .route("/api/v1/round/missing", get(missing))
        .route("/api/v1/boards", get(boards))
        .route("/api/v1/latin", get(latin))
        .route("/api/v1/import", post(read_import))
        .route("/api/v1/imports", get(imports).post(add_import))
        .route("/api/v1/imports/{id}/confirm", post(confirm_import))
        .route("/api/v1/imports/{id}/dismiss", post(dismiss_import))
        .route("/api/v1/berger/round", post(berger_round))
        .route("/api/v1/sections/{section}/round", post(section_round))
        .route("/api/v1/sections/{section}/start", post(start_section))
        .route("/api/v1/sections/{section}/close", post(close_section))
        .route("/api/v1/tables/{table}/players", post(players))
        .route("/api/v1/tables/{table}/unbind", post(unbind))
        .route("/api/v1/tables/{table}/new-game", post(new_game))
        .route("/api/v1/tables/{table}/typed", post(typed))
}

// The sheets.

#[derive(Deserialize)]
struct SectionQuery {
    section: Option<String>,
}

/// By table, what is ready for the round and what is missing.
async fn check(State(state): Shared, Query(query): Query<SectionQuery>) -> Json<Value> {
    Json(state.feed.look(|view| {
        let tables = check_sheet(view, query.section.as_deref());
        let ready = tables.iter().filter(|table| table.ready).count();
        json!({
            "round": current_round(&view.round, query.section.as_deref().unwrap_or_default()),
            "ready": ready, "total": tables.len(), "tables": tables,
        })
    }))
}

/// The tables whose result is missing, proposed, conflicting or unsigned.
async fn missing(State(state): Shared, Query(query): Query<SectionQuery>) -> Json<Value> {
    Json(state.feed.look(|view| {
        let tables = close_sheet(view, query.section.as_deref());
        json!({
            "round": current_round(&view.round, query.section.as_deref().unwrap_or_default()),
            "complete": tables.is_empty(), "tables": tables,
        })
    }))
}

/// All boards of the hall, those without a table first.
async fn boards(State(state): Shared) -> Json<Value> {
    let mut boards = state.feed.look(|view| view.boards.values().cloned().collect::<Vec<_>>());
    boards.sort_by_key(|board| board.table);
    Json(json!(boards))
}

// Imports.

#[derive(Deserialize)]
struct ImportQuery {
    /// Which round, where a file holds several.
    round: Option<u32>,
    /// The section it is for.
    section: Option<String>,
    /// Name of the file.
    file: Option<String>,
    /// The pairing program's list of pairs, which gives a TRF its board order.
    list: Option<String>,
}

fn refused(refused: &Refused) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no round in it").detail(refused.to_string())
}

fn options(query: &ImportQuery) -> Result<ImportOptions, Problem> {
    let list = query.list.as_deref().filter(|list| !list.trim().is_empty());
    let pair_list = list.map(|list| read_pair_list(list.as_bytes())).transpose();
    let pair_list = pair_list.map_err(|fault| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the list of pairs cannot be read")
            .detail(fault.to_string())
    })?;
    Ok(ImportOptions { round: query.round, pair_list })
}

/// Reads a file of pairings and says what it mended, and the round it gives. Nothing is set up before
/// somebody has seen that and orders the round.
async fn read_import(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Query(query): Query<ImportQuery>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    who.may(&Command::Round { round: RoundSetup::default() }).map_err(Problem::forbidden)?;
    let options = options(&query)?;
    let section = query.section.unwrap_or_default();
    let read = tokio::task::spawn_blocking(move || read_round(&state.feed, &body, &options, &section)).await;
    match read {
        Ok(Ok((imported, round))) => {
            Ok(Json(json!({"draft": imported.draft, "notes": imported.notes, "round": round})))
        }
        Ok(Err(why)) => Err(refused(&why)),
        Err(_) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the file could not be read")),
    }
}

/// Imports that wait or waited, the latest first.
async fn imports(State(state): Shared) -> Json<Value> {
    Json(json!(state.imports.all()))
}

/// Reads a file and keeps it waiting, so that somebody else can confirm it.
async fn add_import(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Query(query): Query<ImportQuery>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    who.may(&Command::Round { round: RoundSetup::default() }).map_err(Problem::forbidden)?;
    let options = options(&query)?;
    let added = tokio::task::spawn_blocking(move || {
        let section = query.section.unwrap_or_default();
        let read = read_round(&state.feed, &body, &options, &section);
        state.imports.add(query.file.as_deref().unwrap_or("desk"), &section, wall::now(), read)
    });
    let added = added
        .await
        .map_err(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the file could not be read"))?;
    Ok(Json(json!(added)))
}

/// A person has seen the repairs and takes the round.
async fn confirm_import(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let Nothing {} = parse(&headers, &body)?;
    let import =
        state.imports.find(id).ok_or_else(|| Problem::not_found(format!("there is no import {id}")))?;
    let gone = || Problem::new(StatusCode::CONFLICT, "refused").detail("this import does not wait any more");
    if import.state != ImportState::Pending {
        return Err(gone());
    }
    let command = import.command().ok_or_else(gone)?;
    let by = who.name.clone();
    let answer = order(&state, who, command).await?;
    state.imports.settle(id, ImportState::Taken, &by);
    Ok(answer)
}

async fn dismiss_import(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let Nothing {} = parse(&headers, &body)?;
    who.may(&Command::Round { round: RoundSetup::default() }).map_err(Problem::forbidden)?;
    if !state.imports.settle(id, ImportState::Dismissed, &who.name) {
        return Err(Problem::not_found(format!("no import {id} waits")));
    }
    Ok(Json(json!(state.imports.find(id))))
}

// Rounds without another program.

#[derive(Deserialize)]
struct BergerBody {
    /// In the order of the lots drawn.
    players: Vec<Player>,
    /// Which round of the table, from 1.
    round: u32,
    #[serde(default)]
    double: bool,
    #[serde(default)]
    section: String,
    #[serde(default)]
    date: Option<String>,
}

/// A round of a round robin: the round that can be ordered, and who is free.
async fn berger_round(State(state): Shared, headers: HeaderMap, body: Bytes) -> Result<Json<Value>, Problem> {
    let body: BergerBody = parse(&headers, &body)?;
    let count = u32::try_from(body.players.len()).unwrap_or(u32::MAX);
    let table = if body.double { double_berger(count) } else { berger(count) };
    let table = table.ok_or_else(|| Problem::bad("Berger tables are for 3 to 24 players"))?;
    let round = (body.round as usize).checked_sub(1).and_then(|index| table.get(index));
    let round = round.ok_or_else(|| Problem::bad(format!("the table has rounds 1 to {}", table.len())))?;
    let event: EventSetup =
        state.feed.look(|view| serde_json::from_value(view.round["event"].clone()).unwrap_or_default());
    let section = event.sections.iter().find(|section| section.id == body.section);
    let first = section.map_or(1, |section| section.first_table.max(1));
    let player = |number: u32| body.players.get(number as usize - 1).cloned().unwrap_or_default();
    let tables = (first..).zip(&round.games).map(|(table, game)| TableSetup {
        table: TableId(table),
        board: None,
        white: player(game.white),
        black: player(game.black),
        start: Position::default(),
        profile: None,
        time_control: None,
        tags: Tags::default(),
        options: OptionsSetup::default(),
    });
    let setup = RoundSetup { number: body.round, date: body.date, tables: tables.collect() };
    Ok(Json(json!({"round": setup, "free": round.free.map(player), "rounds": table.len()})))
}

// Sections.

orders! {
    section_round(round: RoundSetup, section: String) => Command::SectionRound { section, round };
    start_section(_body: Nothing, section: String) => Command::StartSection { section };
    close_section(_body: Nothing, section: String) => Command::CloseSection { section };
}

// Tables.

#[derive(Deserialize)]
struct PlayersBody {
    white: Option<Player>,
    black: Option<Player>,
}

orders! {
    /// Corrects names and what stands with them; the game is not touched.
    players(body: PlayersBody, table: TableId) => {
        Command::Players { table, white: body.white, black: body.black }
    };
    unbind(_body: Nothing, table: TableId) => Command::Unbind { table };
    new_game(_body: Nothing, table: TableId) => Command::NewGame { table };
}

#[derive(Deserialize)]
struct TypedBody {
    /// The score sheet, in English or Russian notation.
    text: String,
    /// The result it ends with, to be entered as final.
    result: Option<GameResult>,
}

/// A game typed from its score sheet takes the place of what the record has; every ply it adds is marked
/// as typed. One word that is no legal move, and nothing is changed.
async fn typed(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Path(table): Path<TableId>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let TypedBody { text, result } = parse(&headers, &body)?;
    let start = state
        .feed
        .look(|view| view.tables.get(&table).map(|table| table.info.start.clone()))
        .ok_or_else(|| Problem::not_found(format!("there is no table {table}")))?;
    let read = read_score(&start, &text);
    if let Some(fault) = &read.fault {
        let detail = format!("half-move {}: {:?}: {}", fault.ply + 1, fault.text, fault.why);
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no legal move").detail(detail));
    }
    let plies = read.game.plies.iter().map(|ply| ply.uci.to_string()).collect();
    let correction = Correction::Typed { plies };
    let answer = order(&state, who.clone(), Command::Correct { table, correction }).await?;
    match result {
        None => Ok(answer),
        Some(result) => {
            let entry = crate::laws::Entry::Result { result };
            order(&state, who, Command::Entry { table, entry }).await
        }
    }
}

// Names.

#[derive(Deserialize)]
struct LatinQuery {
    name: String,
}

/// A name in Latin letters; `latin` is null where a letter has no transcription.
async fn latin(Query(query): Query<LatinQuery>) -> Response {
    let latin = latin_name(&query.name);
    Json(json!({"name": query.name, "is_latin": is_latin(&query.name), "latin": latin})).into_response()
}
