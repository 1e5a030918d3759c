//! The desk's HTTP interface: what arbiters and operators see, and what they order.
//!
//! Reading takes any role; each order is held against the role of its token. Orders go to the daemon,
//! which journals and applies them; the answer holds the updates they caused.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Extension, Path, Query, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hyper::{HeaderMap, StatusCode, header, header::HeaderValue};
use prometheus_client::registry::Registry;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::{
    CommandRequest,
    access::{
        Tokens, Who,
        guard::{self, COOKIE, Guard},
    },
    feed::{Feed, Wanted},
    metrics::ListenerMetrics,
    pages,
    pgn::PgnCache,
    problem::Problem,
    public::{StreamQuery, open_stream, round_pgn},
    report,
    web::Site,
    ws::crowd::Crowd,
};
use crate::{
    hall::{BoardKey, Command, EventSetup, RoundSetup, TableId, TableSetup},
    laws::{AlertState, Audience, Code, Entry},
    record::Timestamp,
    track::Correction,
};

pub(crate) struct DeskState {
    pub(crate) feed: Arc<Feed>,
    pub(crate) crowd: Arc<Crowd>,
    pub(crate) commands: mpsc::Sender<CommandRequest>,
    pub(crate) tokens: Arc<RwLock<Tokens>>,
    /// Nobody has to sign in: loopback, and no tokens.
    pub(crate) open: bool,
    pub(crate) guard: Guard,
    pub(crate) tasks: TaskTracker,
    pub(crate) registry: Arc<Mutex<Registry>>,
    pub(crate) ready: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
    pub(crate) outputs: Arc<dyn Fn() -> Value + Send + Sync>,
    pub(crate) lines: Arc<dyn Fn() -> Value + Send + Sync>,
    pub(crate) metrics: ListenerMetrics,
    /// Served over TLS, so that the cookie can be kept to it.
    pub(crate) secure: bool,
    pub(crate) pgn: PgnCache,
    /// Rounds that wait for a person.
    pub(crate) imports: Arc<super::imports::Imports>,
}

type Shared = State<Arc<DeskState>>;

pub(crate) fn router(state: DeskState, body: usize) -> Router {
    let state = Arc::new(state);
    let inside = Router::new()
        .route("/ws", get(stream))
        .route("/metrics", get(metrics))
        .route("/api/v1/me", get(me))
        .route("/api/v1/tables", get(tables))
        .route("/api/v1/tables/{table}", get(table).post(set_table))
        .route("/api/v1/tables/{table}/trace", get(trace))
        .route("/api/v1/tables/{table}/entry", post(entry))
        .route("/api/v1/tables/{table}/correct", post(correct))
        .route("/api/v1/tables/{table}/bind", post(bind))
        .route("/api/v1/tables/{table}/mute", post(mute))
        .route("/api/v1/alerts", get(alerts))
        .route("/api/v1/outputs", get(outputs))
        .route("/api/v1/links", get(links))
        .route("/api/v1/incidents", get(incidents))
        .route("/api/v1/event", get(event).post(set_event))
        .route("/api/v1/round", get(event).post(set_round))
        .route("/api/v1/round/start", post(start_round))
        .route("/api/v1/round/close", post(close_round))
        .route("/api/v1/swap", post(swap))
        .route("/api/v1/delay", post(delay))
        .route("/api/v1/command", post(command))
        .route("/round/{round}/{file}", get(round_file))
        .merge(super::tools::routes())
        .merge(super::desk_event::routes())
        .merge(super::desk_adjourn::routes())
        .layer(middleware::from_fn_with_state(state.clone(), signed_in));
    Router::new()
        .merge(inside)
        .route("/api/v1/session", post(sign_in).delete(sign_out))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .fallback(page)
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(state.clone(), guarded))
        .with_state(state)
}

async fn guarded(State(state): Shared, request: Request, next: Next) -> Response {
    if let Err(problem) = state.guard.check(&request) {
        return problem.into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn signed_in(State(state): Shared, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let who = {
        let tokens = state.tokens.read().unwrap_or_else(PoisonError::into_inner);
        guard::who(&parts, &tokens, state.open)
    };
    match who {
        Ok(who) => {
            parts.extensions.insert(who);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(problem) => problem.into_response(),
    }
}

// Reading.

async fn stream(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Query(query): Query<StreamQuery>,
    request: Request,
) -> Response {
    match query.wanted(!who.sees_silent()) {
        Ok((from, wanted)) => {
            let who = Some(Box::new(who));
            open_stream(&state.crowd, from, wanted, who, request, &state.tasks, &state.metrics)
        }
        Err(problem) => problem.into_response(),
    }
}

async fn me(Extension(who): Extension<Who>) -> Json<Value> {
    Json(json!({"name": who.name, "role": who.role, "tables": who.tables}))
}

fn json_text(text: impl Into<Bytes>) -> Response {
    let mut response = Response::new(axum::body::Body::from(text.into()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

async fn tables(State(state): Shared, Extension(who): Extension<Who>) -> Response {
    json_text(state.feed.tables_json(&Wanted { tables: None, without_silent: !who.sees_silent() }))
}

async fn table(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Path(table): Path<u32>,
) -> Result<Response, Problem> {
    known(&state.feed, TableId(table))?;
    let wanted = Wanted { tables: Some(Box::new([TableId(table)])), without_silent: !who.sees_silent() };
    let text = state.feed.tables_json(&wanted);
    Ok(json_text(text[1..text.len() - 1].to_owned()))
}

fn known(feed: &Feed, table: TableId) -> Result<(), Problem> {
    if feed.look(|view| view.tables.contains_key(&table)) {
        Ok(())
    } else {
        Err(Problem::not_found(format!("there is no table {table}")))
    }
}

/// A stretch of time, in milliseconds since 1970 UTC or as RFC 3339.
#[derive(Debug, Deserialize)]
struct Stretch {
    from: Option<String>,
    to: Option<String>,
}

fn moment(text: Option<&str>, otherwise: i64) -> Result<i64, Problem> {
    let Some(text) = text else { return Ok(otherwise) };
    if let Ok(millis) = text.parse() {
        return Ok(millis);
    }
    text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond).map_err(|_| {
        Problem::bad(format!(
            "{text:?}: expected milliseconds since 1970 or a time such as 2026-05-01T14:31:07Z"
        ))
    })
}

async fn trace(
    State(state): Shared,
    Path(table): Path<u32>,
    Query(stretch): Query<Stretch>,
) -> Result<Json<Value>, Problem> {
    let from = moment(stretch.from.as_deref(), i64::MIN)?;
    let to = moment(stretch.to.as_deref(), i64::MAX)?;
    known(&state.feed, TableId(table))?;
    let touches = state.feed.look(|view| {
        view.tables.get(&TableId(table)).map_or_else(Vec::new, |table| {
            table
                .trace
                .iter()
                .filter(|(at, ..)| (from..=to).contains(&at.millis()))
                .map(|(at, square, was, now): &(Timestamp, _, _, _)| {
                    json!({
                        "at": at.millis(),
                        "square": square.to_string(),
                        "from": was.map(shakmaty::Piece::char),
                        "to": now.map(shakmaty::Piece::char),
                    })
                })
                .collect()
        })
    });
    let turns = state.feed.look(|view| {
        view.tables.get(&TableId(table)).map_or_else(Vec::new, |table| {
            let turn = |(at, running): &(Timestamp, Option<shakmaty::Color>)| {
                json!({
                    "at": at.millis(),
                    "running": running.map(|side| side.fold_wb("white", "black")),
                })
            };
            table.turns.iter().filter(|(at, _)| at.millis() <= to).map(turn).collect()
        })
    });
    Ok(Json(json!({"table": table, "touches": touches, "clocks": turns})))
}

#[derive(Debug, Deserialize)]
struct AlertQuery {
    state: Option<AlertState>,
    table: Option<u32>,
}

async fn alerts(
    State(state): Shared,
    Extension(who): Extension<Who>,
    Query(query): Query<AlertQuery>,
) -> Json<Value> {
    let silent = who.sees_silent();
    Json(state.feed.look(|view| {
        view.tables
            .iter()
            .filter(|(id, _)| query.table.is_none_or(|table| table == id.0))
            .flat_map(|(id, table)| table.alerts.values().map(move |alert| (*id, alert)))
            .filter(|(_, alert)| silent || alert.audience != Audience::ArbiterSilent)
            .filter(|(_, alert)| query.state.is_none_or(|state| alert.state == state))
            .map(|(id, alert)| {
                let mut alert = json!(alert);
                alert["table"] = json!(id);
                alert
            })
            .collect()
    }))
}

/// How what goes out by itself stands: Lichess, hooks.
async fn outputs(State(state): Shared) -> Json<Value> {
    Json((state.outputs)())
}

/// How the lines to the boards stand, with their counters.
async fn links(State(state): Shared) -> Json<Value> {
    Json((state.lines)())
}

#[derive(Debug, Deserialize)]
struct Format {
    format: Option<String>,
    /// `ru`, or English.
    lang: Option<String>,
}

async fn incidents(State(state): Shared, Query(wanted): Query<Format>) -> Result<Response, Problem> {
    let log = state.feed.look(|view| view.incidents.clone()).values();
    let format = wanted.format.as_deref().unwrap_or("json");
    let language = wanted.lang.as_deref().unwrap_or("en");
    let (media, text) = report::incidents(&log, format, language)?;
    let mut response = json_text(text);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    if let Ok(name) = HeaderValue::from_str(&format!("inline; filename=\"incidents.{format}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

async fn event(State(state): Shared) -> Json<Value> {
    Json(state.feed.look(|view| view.round.clone()))
}

async fn round_file(
    State(state): Shared,
    Path((round, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    round_pgn(&state.feed, &state.pgn, &round, &file, &headers)
}

async fn metrics(State(state): Shared) -> Result<Response, Problem> {
    let mut text = String::new();
    let registry = state.registry.lock().unwrap_or_else(PoisonError::into_inner);
    prometheus_client::encoding::text::encode(&mut text, &registry)
        .map_err(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the metrics could not be written"))?;
    let mut response = Response::new(axum::body::Body::from(text));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8"),
    );
    Ok(response)
}

async fn ready(State(state): Shared) -> Result<&'static str, Problem> {
    match (state.ready)() {
        Ok(()) => Ok("ready\n"),
        Err(fault) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not ready").detail(fault)),
    }
}

async fn page(request: Request) -> Result<Response, Problem> {
    pages::page(Site::Desk, request.method(), request.uri(), request.headers())
}

// Signing in.

#[derive(Deserialize)]
struct SignIn {
    token: String,
}

/// The token of a sign-in link becomes a cookie that no script can read and no other place can send.
async fn sign_in(State(state): Shared, headers: HeaderMap, body: Bytes) -> Result<Response, Problem> {
    let SignIn { token } = parse(&headers, &body)?;
    let name = {
        let tokens = state.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens
            .find(&token)
            .map(|grant| json!({"name": grant.name, "role": grant.role, "tables": grant.tables}))
    };
    let Some(who) = name else {
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "sign in")
            .detail("this token is not known, or was revoked; ask for a new sign-in link"));
    };
    let mut response = Json(who).into_response();
    set_cookie(&mut response, &token, 30 * 24 * 3600, state.secure)?;
    Ok(response)
}

async fn sign_out(State(state): Shared) -> Result<Response, Problem> {
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, "", 0, state.secure)?;
    Ok(response)
}

fn set_cookie(response: &mut Response, token: &str, seconds: u32, secure: bool) -> Result<(), Problem> {
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Problem::bad("this is no token"))?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(())
}

// Ordering.

/// A JSON body, and said to be one: a form of another place's page cannot say that.
pub(super) fn parse<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Problem> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    if !media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json")) {
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "JSON expected")
            .detail("send the header `Content-Type: application/json`"));
    }
    serde_json::from_slice(body).map_err(|fault| Problem::bad(fault.to_string()))
}

pub(super) async fn order(state: &DeskState, who: Who, command: Command) -> Result<Response, Problem> {
    who.may(&command).map_err(Problem::forbidden)?;
    let (reply, answer) = oneshot::channel();
    let busy = || {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the daemon is busy or stopping")
            .detail("nothing was changed; try again in a moment")
    };
    state.commands.send(CommandRequest { by: who.name, command, reply }).await.map_err(|_| busy())?;
    match answer.await {
        Ok(Ok(updates)) => {
            let updates: Vec<Value> = updates.iter().map(|update| update.to_json(true)).collect();
            Ok(Json(json!({"updates": updates})).into_response())
        }
        Ok(Err(refused)) => Err(Problem::new(StatusCode::CONFLICT, "refused").detail(refused)),
        Err(_) => Err(busy()),
    }
}

/// Handlers of orders that say nothing but which command the body makes, for what the path names.
macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident($body:ident: $type:ty $(, $key:ident: $kind:ty)?) => $command:expr;)*) => {$(
        $(#[$doc])*
        async fn $name(
            State(state): Shared,
            Extension(who): Extension<Who>,
            $(Path($key): Path<$kind>,)?
            headers: HeaderMap,
            body: Bytes,
        ) -> Result<Response, Problem> {
            let $body: $type = parse(&headers, &body)?;
            order(&state, who, $command).await
        }
    )*};
}
pub(super) use orders;

#[derive(Deserialize)]
struct BindBody {
    board: BoardKey,
}

#[derive(Deserialize)]
struct MuteBody {
    code: Code,
    muted: bool,
}

#[derive(Deserialize)]
struct SwapBody {
    a: TableId,
    b: TableId,
}

#[derive(Deserialize)]
struct DelayBody {
    seconds: u32,
}

#[derive(Deserialize)]
pub(super) struct Nothing {}

orders! {
    entry(entry: Entry, table: TableId) => Command::Entry { table, entry };
    correct(correction: Correction, table: TableId) => Command::Correct { table, correction };
    bind(body: BindBody, table: TableId) => Command::Bind { table, board: body.board };
    mute(body: MuteBody, table: TableId) => Command::Mute { table, code: body.code, muted: body.muted };
    set_table(setup: TableSetup, table: TableId) => Command::Table { table: TableSetup { table, ..setup } };
    set_event(event: EventSetup) => Command::Event { event };
    set_round(round: RoundSetup) => Command::Round { round };
    swap(body: SwapBody) => Command::SwapBoards { a: body.a, b: body.b };
    delay(body: DelayBody) => Command::Delay { seconds: body.seconds };
    command(command: Command) => command;
    start_round(_body: Nothing) => Command::StartRound;
    close_round(_body: Nothing) => Command::CloseRound;
}
