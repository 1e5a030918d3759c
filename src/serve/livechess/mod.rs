//! The `LiveChess` API on port 1982, for programs and pages on this machine that speak it: lichess.org
//! and chess.com with a board, `DgtAngel`, the `livechess` command. Fed by the desk, at once.
//!
//! All keys are always there, identities are numbers, the board in use stands first. A move is told
//! when it is confirmed, or has stood still for a while where there is no clock to press: these
//! clients can take nothing back. Nothing here changes a game: `setup` and `flip` are between this
//! listener and the client.
//!
//! | file | what it does |
//! | --- | --- |
//! | `data` | boards, tournament, rounds and games in their words |
//! | `follow` | one subscription: what is new at a board |
//! | `session` | one WebSocket: calls and events |

mod data;
mod follow;
mod session;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::{Method, StatusCode, header, header::HeaderValue};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    access::guard::Guard, feed::Feed, metrics::ListenerMetrics, problem::Problem, ws::upgrade::upgrade,
};

/// Pages that are known to speak this API. More can be configured.
pub(crate) const ORIGINS: [&str; 3] = ["https://lichess.org", "https://www.chess.com", "https://chess.com"];

pub(crate) struct LiveChessState {
    pub(crate) feed: Arc<Feed>,
    pub(crate) guard: Guard,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) metrics: ListenerMetrics,
}

type Shared = State<Arc<LiveChessState>>;

pub(crate) fn router(state: LiveChessState) -> Router {
    let state = Arc::new(state);
    Router::new()
        .route("/", get(about))
        .route("/api/v1.0", get(socket))
        .route("/api/v1.0/", get(socket))
        .route("/api/v1.0/eboards", get(eboards))
        .route("/api/v1.0/tournaments", get(tournaments))
        .route("/api/v1.0/tournament/{uuid}", get(tournament))
        .route("/api/v1.0/round/{uuid}/{index}", get(round))
        .route("/api/v1.0/game/{uuid}", get(game))
        .fallback(|| async { Problem::not_found("the LiveChess API is under /api/v1.0") })
        .layer(middleware::from_fn_with_state(state.clone(), guard))
        .with_state(state)
}

/// A page that may use this listener is told so; all others are refused, for reading too.
async fn guard(State(state): Shared, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let host = super::access::guard::host(request.headers(), None);
    let checked = state
        .guard
        .check(&request)
        .and(host)
        .and_then(|host| state.guard.check_origin(request.headers(), &host));
    if let Err(problem) = checked {
        return problem.into_response();
    }
    let mut response = if request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        // A browser asks before a page of the internet may reach this machine.
        headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
    }
    response
}

async fn about() -> &'static str {
    "arbiterd speaks the LiveChess API here: ws://localhost:1982/api/v1.0\n"
}

async fn socket(State(state): Shared, request: Request) -> Response {
    if !request.headers().contains_key(header::UPGRADE) {
        return about().await.into_response();
    }
    let (feed, stop, viewers) = (state.feed.clone(), state.stop.clone(), state.metrics.viewers.clone());
    upgrade(request, &state.tasks, move |socket| async move {
        viewers.inc();
        session::run(socket, feed, stop).await;
        viewers.dec();
    })
}

async fn eboards(State(state): Shared) -> Json<Value> {
    Json(data::eboards(&state.feed))
}

async fn tournaments(State(state): Shared) -> Json<Value> {
    Json(data::tournaments(&state.feed))
}

async fn tournament(State(state): Shared, Path(uuid): Path<String>) -> Result<Json<Value>, Problem> {
    data::tournament(&state.feed, &uuid).map(Json).ok_or_else(|| Problem::not_found("no such tournament"))
}

async fn round(
    State(state): Shared,
    Path((uuid, index)): Path<(String, u32)>,
) -> Result<Json<Value>, Problem> {
    data::round(&state.feed, &uuid, index).map(Json).ok_or_else(|| Problem::not_found("no such round"))
}

async fn game(State(state): Shared, Path(uuid): Path<String>) -> Result<Json<Value>, Problem> {
    data::game(&state.feed, &uuid).map(Json).ok_or_else(|| Problem::not_found("no such game"))
}

/// An error as this API words it.
fn error(id: &Value, message: &str) -> Value {
    json!({"response": "error", "id": id, "param": {"message": message}, "time": crate::wall::now().millis()})
}
