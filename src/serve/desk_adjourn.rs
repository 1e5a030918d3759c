//! Adjourned games at the desk: the list, the sealed move, the check before a game goes on.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Extension, Path, Query, State},
    response::Response,
    routing::{get, post},
};
use hyper::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    access::Who,
    desk::{DeskState, Nothing, order, orders, parse},
    problem::Problem,
};
use crate::{
    hall::{Command, GameRef, TableId, TableView, differing_squares, sealed_move},
    laws::Entry,
};

type Shared = State<Arc<DeskState>>;

/// The routes.
pub(crate) fn routes() -> Router<Arc<DeskState>> {
    Router::new()
        .route("/api/v1/adjourned", get(adjourned))
        .route("/api/v1/tables/{table}/adjourn", post(adjourn))
        .route("/api/v1/tables/{table}/resume", post(resume))
        .route("/api/v1/tables/{table}/resumption", get(resumption))
        .route("/api/v1/tables/{table}/sealed", get(sealed))
}

/// Every adjourned game: those at their tables, and those whose tables a later round has taken.
async fn adjourned(State(state): Shared) -> Json<Value> {
    Json(state.feed.look(|view| {
        let at_tables = view.tables.iter().filter(|(_, table)| !table.info.adjourned.is_null());
        let at_tables: Vec<Value> = at_tables
            .map(|(id, table)| {
                json!({
                    "table": id, "section": table.info.section, "round": table.info.round, "board": table.info.board,
                    "white": table.info.white, "black": table.info.black, "adjourned": table.info.adjourned,
                })
            })
            .collect();
        json!({"at_tables": at_tables, "away": view.adjourned.as_array().cloned().unwrap_or_default()})
    }))
}

#[derive(Deserialize)]
struct ResumeBody {
    /// An adjourned game that is at no table; the table's own if left out.
    game: Option<GameRef>,
    /// The move in the envelope, in SAN (English or Russian) or UCI.
    sealed: Option<String>,
}

orders! {
    adjourn(_body: Nothing, table: TableId) => Command::Entry { table, entry: Entry::Adjourn };
    resume(body: ResumeBody, table: TableId) => {
        Command::Resume { table, game: body.game, sealed: body.sealed }
    };
}

fn with_table<T>(state: &DeskState, table: u32, look: impl FnOnce(&TableView) -> T) -> Result<T, Problem> {
    state
        .feed
        .look(|view| view.tables.get(&TableId(table)).map(look))
        .ok_or_else(|| Problem::not_found(format!("there is no table {table}")))
}

/// What has to agree before the clocks are started (17.5, 17.13): the position and both times.
async fn resumption(State(state): Shared, Path(table): Path<u32>) -> Result<Json<Value>, Problem> {
    with_table(&state, table, |table| {
        let squares = differing_squares(table, table.game.position().board());
        let expected = [&table.info.adjourned["white"], &table.info.adjourned["black"]].map(Value::as_u64);
        let shown =
            [table.clock.white, table.clock.black].map(|side| side.map(|seconds| u64::from(seconds.0)));
        let agrees = !expected.contains(&None) && expected == shown;
        Json(json!({
            "adjourned": table.info.adjourned,
            "fen": table.game.position().fen(),
            "position": squares.as_ref().map(Vec::is_empty),
            "squares": squares,
            "clock": table.info.link.clock.then_some(agrees),
            "expected_seconds": expected,
            "shown_seconds": shown,
        }))
    })
}

#[derive(Deserialize)]
struct SealedQuery {
    #[serde(rename = "move")]
    text: String,
}

/// Reads a sealed move without changing anything.
async fn sealed(
    State(state): Shared,
    Path(table): Path<u32>,
    Query(query): Query<SealedQuery>,
) -> Result<Json<Value>, Problem> {
    with_table(&state, table, |table| {
        let position = table.game.position();
        Json(match sealed_move(position, &query.text) {
            Ok(uci) => {
                let san = position.find_uci(uci).map(|m| position.san(m));
                let after = position.find_uci(uci).map(|m| position.play(m).fen());
                json!({"legal": true, "uci": uci.to_string(), "san": san, "fen": after})
            }
            Err(fault) => json!({"legal": false, "fault": fault, "article": "17.8"}),
        })
    })
}
