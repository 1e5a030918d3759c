//! The public listener: what anyone may read, after the delay. It can do nothing else.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::{HeaderMap, Method, StatusCode, header, header::HeaderValue};
use serde::Deserialize;
use tokio_util::task::TaskTracker;

use super::{
    access::{Who, guard::Guard},
    cloud,
    feed::{Feed, Wanted},
    metrics::ListenerMetrics,
    pages,
    pgn::{self, PgnCache},
    problem::Problem,
    web::Site,
    ws::{crowd::Crowd, upgrade::upgrade, viewer},
};
use crate::hall::TableId;

pub(crate) struct PublicState {
    pub(crate) feed: Arc<Feed>,
    pub(crate) crowd: Arc<Crowd>,
    pub(crate) guard: Guard,
    pub(crate) tasks: TaskTracker,
    pub(crate) metrics: ListenerMetrics,
    pub(crate) pgn: PgnCache,
}

type Shared = State<Arc<PublicState>>;

pub(crate) fn router(state: PublicState) -> Router {
    let state = Arc::new(state);
    Router::new()
        .route("/ws", get(stream))
        .route("/api/v1/tables", get(tables))
        .route("/round/{round}/{file}", get(round_file))
        .route("/get/{event}/{file}", get(event_file))
        .route("/get/{event}/{round}/{file}", get(event_round_file))
        .route("/meta/{event}", get(meta))
        .fallback(page)
        .layer(middleware::from_fn_with_state(state.clone(), guard))
        .with_state(state)
}

/// Host, methods and the headers that let other places' pages read.
async fn guard(State(state): Shared, request: Request, next: Next) -> Response {
    if let Err(problem) = state.guard.check(&request) {
        return problem.into_response();
    }
    let mut response = match *request.method() {
        Method::GET | Method::HEAD => next.run(request).await,
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => Problem::new(StatusCode::METHOD_NOT_ALLOWED, "only to be read")
            .detail("the public listener answers GET; orders go to the desk")
            .into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("etag"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("if-none-match"));
    response
}

/// What a client of the stream asks for in its address.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct StreamQuery {
    /// Numbers of tables, with commas.
    tables: Option<String>,
    /// The last number it has.
    from: Option<u64>,
}

impl StreamQuery {
    /// The tables named, or what is wrong.
    pub(crate) fn wanted(&self, without_silent: bool) -> Result<(Option<u64>, Wanted), Problem> {
        let tables = match self.tables.as_deref() {
            None | Some("") => None,
            Some(list) => {
                let numbers: Result<Vec<TableId>, _> =
                    list.split(',').map(|number| number.trim().parse().map(TableId)).collect();
                let mut numbers = numbers.map_err(|_| {
                    Problem::bad(format!("tables={list}: expected numbers with commas, such as tables=1,5"))
                })?;
                numbers.sort_unstable();
                numbers.dedup();
                Some(numbers.into_boxed_slice())
            }
        };
        Ok((self.from, Wanted { tables, without_silent }))
    }
}

async fn stream(State(state): Shared, Query(query): Query<StreamQuery>, request: Request) -> Response {
    // Nothing silent comes here; and what all want alike is made once for all.
    match query.wanted(false) {
        Ok((from, wanted)) => {
            open_stream(&state.crowd, from, wanted, None, request, &state.tasks, &state.metrics)
        }
        Err(problem) => problem.into_response(),
    }
}

/// Opens the stream for a client that may have it; `who` is one who signed in.
pub(crate) fn open_stream(
    crowd: &Arc<Crowd>,
    from: Option<u64>,
    wanted: Wanted,
    who: Option<Box<Who>>,
    request: Request,
    tasks: &TaskTracker,
    metrics: &ListenerMetrics,
) -> Response {
    let (viewers, crowd) = (metrics.viewers.clone(), crowd.clone());
    upgrade(request, tasks, move |socket| async move {
        viewers.inc();
        viewer::run(socket, crowd, from, wanted, who).await;
        viewers.dec();
    })
}

async fn tables(State(state): Shared, headers: HeaderMap) -> Response {
    let wanted = Wanted { tables: None, without_silent: false };
    pages::tagged(&headers, "application/json", state.feed.tables_json(&wanted).into())
}

async fn round_file(
    State(state): Shared,
    Path((round, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    round_pgn(&state.feed, &state.pgn, &round, &file, &headers)
}

/// `games.pgn` or `game-M.pgn` of round N or of the `current` one.
pub(crate) fn round_pgn(
    feed: &Feed,
    cache: &PgnCache,
    round: &str,
    file: &str,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let missing =
        || Problem::not_found("expected /round/N/games.pgn, /round/N/game-M.pgn or /round/current/games.pgn");
    let round = match round {
        "current" => feed.current_round(),
        number => number.parse().map_err(|_| missing())?,
    };
    if file == "games.pgn" {
        return cache.round(feed, round, headers);
    }
    let table = file.strip_prefix("game-").and_then(|rest| rest.strip_suffix(".pgn")).ok_or_else(missing)?;
    pgn::game(feed, round, TableId(table.parse().map_err(|_| missing())?), headers)
}

async fn event_file(
    State(state): Shared,
    Path((event, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    cloud::is_event(&state.feed, &event)?;
    match file.as_str() {
        "tournament.json" => Ok(json(&headers, &cloud::tournament(&state.feed))),
        _ => Err(Problem::not_found("expected /get/EVENT/tournament.json")),
    }
}

async fn event_round_file(
    State(state): Shared,
    Path((event, round, file)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let missing =
        || Problem::not_found("expected /get/EVENT/round-N/index.json or /get/EVENT/round-N/game-M.json");
    cloud::is_event(&state.feed, &event)?;
    let round: u32 = round.strip_prefix("round-").and_then(|n| n.parse().ok()).ok_or_else(missing)?;
    if file == "index.json" {
        let index = cloud::index(&state.feed, round).ok_or_else(missing)?;
        return Ok(json(&headers, &index));
    }
    let game: usize = file
        .strip_prefix("game-")
        .and_then(|rest| rest.strip_suffix(".json"))
        .and_then(|n| n.parse().ok())
        .ok_or_else(missing)?;
    Ok(json(&headers, &cloud::game(&state.feed, round, game).ok_or_else(missing)?))
}

/// Where an event's files are, as LiveChess Cloud's look-up answers it.
async fn meta(
    State(state): Shared,
    Path(event): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    cloud::is_event(&state.feed, &event)?;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    Ok(json(&headers, &serde_json::json!({"host": host, "format": "1"})))
}

fn json(headers: &HeaderMap, value: &serde_json::Value) -> Response {
    let mut response = pages::tagged(headers, "application/json; charset=utf-8", value.to_string().into());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

async fn page(request: Request) -> Result<Response, Problem> {
    pages::page(Site::Public, request.method(), request.uri(), request.headers())
}
