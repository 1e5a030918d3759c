//! Tells a command or a web address of each new alert, result or changed game, signed, with retries,
//! and never in the hall's way: what does not fit the queue is dropped and counted.
//!
//! A command gets the event as JSON on its standard input, its kind in `ARBITERD_EVENT`, and in
//! `ARBITERD_DELIVERY` what is the same for every retry. A web address gets the same JSON by POST, with
//!
//! | header | what |
//! | --- | --- |
//! | `X-Arbiterd-Event` | `alert`, `result` or `pgn` |
//! | `X-Arbiterd-Delivery` | the same for every retry of one event |
//! | `X-Arbiterd-Signature` | `sha256=` and the HMAC-SHA-256 of the body under the secret, in hexadecimal |

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io::{self, Write},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    hall::{TableId, Update, UpdateBody, View},
    laws::{AlertId, AlertState, Audience},
    record::{ResultState, pgn},
    wall,
};

/// Events that may wait.
const WAITING: usize = 1000;
/// A changed game is told this much later, with what changed meanwhile, in milliseconds.
const GATHER: i64 = 1000;
/// One attempt may take so long.
const ATTEMPT: Duration = Duration::from_secs(30);
/// So often an event is tried; with the waits between, about ten minutes.
const ATTEMPTS: u32 = 15;
/// The longest wait between two attempts, in milliseconds.
const LONGEST_WAIT: i64 = 60_000;

/// What a hook wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// A new alert that is not for the arbiter's silence.
    Alert,
    /// A final result, or one taken back.
    Result,
    /// A game's PGN changed.
    Pgn,
}

impl HookEvent {
    fn word(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Result => "result",
            Self::Pgn => "pgn",
        }
    }
}

/// Whom to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookTarget {
    /// A program with its arguments; no shell stands between.
    Command(PathBuf, Vec<String>),
    /// An address for POST (needs the feature `upload`).
    Url(String),
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookConfig {
    /// Whom.
    pub target: HookTarget,
    /// Of what.
    pub events: BTreeSet<HookEvent>,
    /// Signs what goes to an address.
    pub secret: Option<String>,
}

/// A running hook.
#[derive(Debug)]
pub struct Hook {
    shared: Arc<Shared>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    events: BTreeSet<HookEvent>,
    view: View,
    queue: VecDeque<Job>,
    /// Changed games, with the moment at which they are told.
    games: BTreeMap<TableId, i64>,
    /// The newest alert of each table's present game, which the desk knows before the public does.
    alerts: BTreeMap<TableId, (u64, AlertId)>,
    count: u64,
    dropped: u64,
    failed: u64,
    trouble: Option<String>,
    stop: bool,
}

#[derive(Clone, Debug)]
struct Job {
    id: u64,
    event: HookEvent,
    body: String,
}

impl Hook {
    /// Starts the hook's thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(config: HookConfig) -> io::Result<Self> {
        let state = State {
            events: config.events.clone(),
            view: View::new(false),
            queue: VecDeque::new(),
            games: BTreeMap::new(),
            alerts: BTreeMap::new(),
            count: 0,
            dropped: 0,
            failed: 0,
            trouble: None,
            stop: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let thread = {
            let shared = shared.clone();
            thread::Builder::new().name("hook".to_owned()).spawn(move || run(&config, &shared))?
        };
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Takes the desk's updates, for alerts. Of those from before the daemon started (`new` is false)
    /// nobody is told.
    pub fn alerts(&self, updates: &[Update], new: bool) {
        self.shared.lock().take_alerts(updates, new);
        if new {
            self.shared.changed.notify_one();
        }
    }

    /// Takes updates that may be public, for results and games; never waits.
    pub fn push(&self, updates: &[Update], new: bool) {
        self.shared.lock().take(updates, new.then(steady));
        if new {
            self.shared.changed.notify_one();
        }
    }

    /// How it stands, for the desk.
    #[must_use]
    pub fn status(&self) -> Value {
        let state = self.shared.lock();
        json!({
            "output": "hook",
            "ok": state.trouble.is_none(),
            "trouble": state.trouble,
            "waiting": state.queue.len() + state.games.len(),
            "dropped": state.dropped,
            "failed": state.failed,
        })
    }

    /// Tells what still waits, once each, and ends.
    pub fn finish(&self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("a hook ended badly");
        }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_alerts(&mut self, updates: &[Update], new: bool) {
        for update in updates {
            match (update.table, &update.body) {
                (Some(table), UpdateBody::Table(info)) => {
                    let last = self.alerts.entry(table).or_insert((info.game, AlertId(0)));
                    // Alerts are counted from 1 in each game.
                    if last.0 != info.game {
                        *last = (info.game, AlertId(0));
                    }
                }
                (Some(table), UpdateBody::Alert(alert)) => {
                    let last = self.alerts.entry(table).or_insert((0, AlertId(0)));
                    let unknown = alert.id > last.1;
                    last.1 = last.1.max(alert.id);
                    // Laws 12.6: what is for the arbiter's silence is told to nobody.
                    let open = alert.state == AlertState::Open && alert.audience != Audience::ArbiterSilent;
                    if new && unknown && open && self.events.contains(&HookEvent::Alert) {
                        self.tell(HookEvent::Alert, table, json!({"alert": alert}));
                    }
                }
                _ => {}
            }
        }
    }

    /// `now` is none for what happened before the daemon started.
    fn take(&mut self, updates: &[Update], now: Option<i64>) {
        let wants_pgn = self.events.contains(&HookEvent::Pgn);
        for update in updates {
            // A game that leaves its table is told as it stands, before the next takes its place.
            if let (Some(table), UpdateBody::Table(info)) = (update.table, &update.body)
                && self.view.tables.get(&table).is_some_and(|view| view.info.game != info.game)
                && self.games.remove(&table).is_some()
            {
                self.tell_game(table);
            }
            self.view.apply(update);
            let (Some(table), Some(now)) = (update.table, now) else { continue };
            let changes_game = match &update.body {
                UpdateBody::Result(result) => {
                    let settled = result.is_none_or(|(.., state)| state == ResultState::Final);
                    if settled && self.events.contains(&HookEvent::Result) {
                        let value = update.to_json(false)["result"].clone();
                        self.tell(HookEvent::Result, table, json!({"result": value}));
                    }
                    true
                }
                UpdateBody::Ply { .. } | UpdateBody::Undo { .. } | UpdateBody::Table(_) => true,
                _ => false,
            };
            if changes_game && wants_pgn {
                self.games.entry(table).or_insert(now + GATHER);
            }
        }
    }

    fn tell_game(&mut self, table: TableId) {
        let Some(view) = self.view.tables.get(&table) else { return };
        let mut text = String::new();
        pgn::write_game(&view.game, &mut text);
        self.tell(HookEvent::Pgn, table, json!({"pgn": text}));
    }

    fn tell(&mut self, event: HookEvent, table: TableId, mut body: Value) {
        if self.queue.len() >= WAITING {
            self.queue.pop_front();
            self.dropped += 1;
        }
        self.count += 1;
        if let Some(view) = self.view.tables.get(&table) {
            body["round"] = json!(view.info.round);
            body["white"] = json!(view.info.white.name);
            body["black"] = json!(view.info.black.name);
        }
        body["event"] = json!(event.word());
        body["table"] = json!(table);
        self.queue.push_back(Job { id: self.count, event, body: body.to_string() });
    }

    /// The next event to be told, or how long there is none for, in milliseconds.
    fn next(&mut self, now: i64) -> Result<Job, Option<i64>> {
        let due: Vec<TableId> =
            self.games.iter().filter(|(_, at)| **at <= now || self.stop).map(|(table, _)| *table).collect();
        for table in due {
            self.games.remove(&table);
            self.tell_game(table);
        }
        self.queue.pop_front().ok_or_else(|| self.games.values().min().map(|at| at - now))
    }
}

/// Milliseconds that never jump and never run fast.
fn steady() -> i64 {
    i64::try_from(wall::uptime().as_millis()).unwrap_or(i64::MAX)
}

fn run(config: &HookConfig, shared: &Shared) {
    // Deliveries of this run of the daemon; another run has others.
    let run = wall::now().millis();
    let mut state = shared.lock();
    loop {
        match state.next(steady()) {
            Ok(job) => {
                drop(state);
                let told = persist(config, shared, &job, run);
                state = shared.lock();
                match told {
                    Ok(()) => state.trouble = None,
                    Err(why) => {
                        tracing::error!(event = job.event.word(), %why, "a hook's event is given up");
                        state.failed += 1;
                        state.trouble = Some(why);
                    }
                }
            }
            Err(_) if state.stop => return,
            Err(None) => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Err(Some(wait)) => {
                let wait = Duration::from_millis(wait.clamp(1, 60_000) as u64);
                let waited = shared.changed.wait_timeout(state, wait);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

/// Tries until it is told, too often, or the daemon stops.
fn persist(config: &HookConfig, shared: &Shared, job: &Job, run: i64) -> Result<(), String> {
    let mut attempt = 1;
    loop {
        let why = match tell(config, job, run) {
            Ok(()) => return Ok(()),
            Err(why) => why,
        };
        let mut state = shared.lock();
        state.trouble = Some(why.clone());
        if attempt >= ATTEMPTS || state.stop {
            return Err(why);
        }
        tracing::warn!(event = job.event.word(), attempt, %why, "a hook failed; it is tried again");
        let until = steady() + (1000 << attempt.min(10)).min(LONGEST_WAIT);
        while !state.stop && steady() < until {
            let wait = Duration::from_millis((until - steady()).clamp(1, LONGEST_WAIT) as u64);
            state = shared.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        attempt += 1;
    }
}

fn tell(config: &HookConfig, job: &Job, run: i64) -> Result<(), String> {
    let delivery = format!("{run}-{}", job.id);
    match &config.target {
        HookTarget::Command(program, arguments) => command(program, arguments, job, &delivery),
        HookTarget::Url(url) => post(url, config.secret.as_deref(), job, &delivery),
    }
}

fn command(program: &PathBuf, arguments: &[String], job: &Job, delivery: &str) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(arguments)
        .env("ARBITERD_EVENT", job.event.word())
        .env("ARBITERD_DELIVERY", delivery)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|fault| format!("{}: {fault}", program.display()))?;
    if let Some(mut input) = child.stdin.take() {
        let body = job.body.clone();
        // A program that does not read must not hold us; its pipe breaks when it is ended.
        let written = thread::Builder::new().name("hook-input".to_owned()).spawn(move || {
            if let Err(error) = input.write_all(body.as_bytes()) {
                tracing::debug!(%error, "a hook's program did not read its input");
            }
        });
        if let Err(fault) = written {
            tracing::warn!(%fault, "no thread for a hook's input");
        }
    }
    let until = steady() + ATTEMPT.as_millis() as i64;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{}: {status}", program.display())),
            Ok(None) if steady() < until => thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let ended = child.kill().and_then(|()| child.wait());
                tracing::debug!(?ended, "a hook's program is ended");
                return Err(format!("{}: took too long and was ended", program.display()));
            }
            Err(fault) => return Err(fault.to_string()),
        }
    }
}

#[cfg(feature = "upload")]
fn post(url: &str, secret: Option<&str>, job: &Job, delivery: &str) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ATTEMPT))
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("arbiterd/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut request = agent
        .post(url)
        .header("Content-Type", "application/json")
        .header("X-Arbiterd-Event", job.event.word())
        .header("X-Arbiterd-Delivery", delivery);
    if let Some(secret) = secret {
        request = request.header("X-Arbiterd-Signature", &format!("sha256={}", sign(secret, &job.body)));
    }
    let response = request.send(job.body.as_str()).map_err(|fault| fault.to_string())?;
    match response.status().as_u16() {
        200..=299 => Ok(()),
        status => Err(format!("it answered {status}")),
    }
}

#[cfg(not(feature = "upload"))]
fn post(_url: &str, _secret: Option<&str>, _job: &Job, _delivery: &str) -> Result<(), String> {
    Err("this arbiterd was built without the feature `upload`".to_owned())
}

/// HMAC-SHA-256 (RFC 2104) in hexadecimal.
#[must_use]
pub fn sign(secret: &str, body: &str) -> String {
    const BLOCK: usize = 64;
    let mut key = [0; BLOCK];
    if secret.len() > BLOCK {
        key[..32].copy_from_slice(&Sha256::digest(secret.as_bytes()));
    } else {
        key[..secret.len()].copy_from_slice(secret.as_bytes());
    }
    let inner =
        Sha256::new().chain_update(key.map(|byte| byte ^ 0x36)).chain_update(body.as_bytes()).finalize();
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize();
    outer.iter().fold(String::new(), |mut hex, byte| {
        hex.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::sign;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        assert_eq!(
            sign("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(sign(&"\u{7f}".repeat(65), "").len(), 64, "a long secret is hashed first");
    }
}
