//! A hall's public updates, published to NATS JetStream for a relay to serve (feature `nats`).
//!
//! They leave behind the delay and the hold policy: what is on the server may be shown. Each has a number
//! that follows from the journal alone, so a hall that starts again publishes what is not there yet and
//! nothing twice. The server takes a message only behind the one this hall knows as its last, so two that
//! publish under one name are found out, and nothing goes in twice; the relay drops what it has anyway.
//! While the server cannot be reached, updates wait here.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use async_nats::{
    HeaderMap, header,
    jetstream::{
        self,
        stream::{Config as StreamConfig, LastRawMessageErrorKind, Stream},
    },
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::relayed::Batch;
use crate::{hall::Update, record::Timestamp};

/// The most updates in one message.
const BATCH: usize = 64;
/// The most bytes of one message; servers take 1 MiB as they come.
const BYTES: usize = 500_000;
/// Updates that may wait for a server that is away: hours of a large hall.
const WAITING: usize = 500_000;
/// Before the next attempt.
const PAUSE: Duration = Duration::from_secs(1);
/// At the end, what still waits may take so long.
const FAREWELL: Duration = Duration::from_secs(5);
/// So long the server remembers identities. A lasting repetition is the relay's to drop.
const REMEMBERS: Duration = Duration::from_mins(10);

/// Where a hall publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsConfig {
    /// `nats://HOST:4222`, or `tls://…`; a user and a password may stand in it.
    pub url: String,
    /// The event's identity: letters, digits, dashes.
    pub event: String,
    /// This hall's word, another for each hall of the event.
    pub hall: String,
    /// Added to this hall's table numbers, so that those of two halls differ.
    pub offset: u32,
}

impl NatsConfig {
    /// Where this hall's updates go.
    fn subject(&self) -> String {
        format!("arbiterd.{}.{}", self.event, self.hall)
    }
}

/// The stream of an event.
#[must_use]
pub fn stream_name(event: &str) -> String {
    format!("ARBITERD_{event}")
}

/// Makes the event's stream if it is not there.
pub(crate) async fn stream(
    context: &jetstream::Context,
    event: &str,
) -> Result<Stream, jetstream::context::CreateStreamError> {
    let config = StreamConfig {
        name: stream_name(event),
        subjects: vec![format!("arbiterd.{event}.*")],
        duplicate_window: REMEMBERS,
        ..StreamConfig::default()
    };
    context.get_or_create_stream(config).await
}

/// A client that comes again by itself for as long as it takes.
pub(crate) async fn connect(url: &str) -> Result<jetstream::Context, async_nats::ConnectError> {
    let client = async_nats::ConnectOptions::new()
        .name("arbiterd")
        .retry_on_initial_connect()
        .connection_timeout(Duration::from_secs(5))
        // A link may die without a word.
        .ping_interval(Duration::from_secs(10))
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 << attempts.min(5)))
        .connect(url)
        .await?;
    Ok(jetstream::new(client))
}

/// The running output.
#[derive(Debug)]
pub struct Nats {
    shared: Arc<Shared>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the last update taken.
    taken: u64,
    /// Updates that the server has not confirmed, the last of which has the number `taken`.
    waiting: VecDeque<Update>,
    /// When the first of all went out.
    since: Timestamp,
    /// The journal has been read: what comes now is new.
    restored: bool,
    /// Updates that were let go since more than [`WAITING`] waited.
    dropped: u64,
    /// The number of the last that was ever sent from here.
    sent: u64,
    trouble: Option<String>,
    stop: bool,
}

impl Nats {
    /// Starts the thread that talks to the server.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(config: NatsConfig) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Notify::new() });
        let thread = {
            let shared = shared.clone();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            thread::Builder::new()
                .name("nats".to_owned())
                .spawn(move || runtime.block_on(run(&config, &shared)))?
        };
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Takes updates that may be public, from the journal's first on; `new` ones are not from before the
    /// start. Never waits.
    pub fn push(&self, updates: &[Update], new: bool) {
        let mut state = self.shared.lock();
        state.restored |= new;
        for update in updates.iter().filter(|update| !update.desk_only()) {
            if state.taken == 0 {
                state.since = update.at;
            }
            state.taken += 1;
            state.waiting.push_back(update.clone());
            // What the journal tells of at the start the server may have: it is let go when that is known.
            if state.restored && state.waiting.len() > WAITING {
                state.waiting.pop_front();
                state.dropped += 1;
            }
        }
        drop(state);
        self.shared.changed.notify_one();
    }

    /// How it stands, for the desk.
    #[must_use]
    pub fn status(&self) -> Value {
        let state = self.shared.lock();
        json!({
            "output": "nats",
            "ok": state.trouble.is_none(),
            "trouble": state.trouble,
            "waiting": state.waiting.len(),
            "dropped": state.dropped,
        })
    }

    /// Publishes what still waits, for a few seconds at most, and ends.
    pub fn finish(&self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("publishing to NATS ended badly");
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server has everything up to this number.
    fn confirmed(&self, number: u64) {
        let mut state = self.lock();
        let first = state.first();
        let gone = number.saturating_add(1).saturating_sub(first).min(state.waiting.len() as u64);
        state.waiting.drain(..gone as usize);
    }

    /// Ready when the daemon stops, and its patience too.
    async fn stopped(&self) {
        while !self.lock().stop {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(FAREWELL).await;
    }
}

impl State {
    /// The number of the first that waits.
    fn first(&self) -> u64 {
        self.taken + 1 - self.waiting.len() as u64
    }
}

async fn run(config: &NatsConfig, shared: &Shared) {
    tokio::select! {
        () = publish(config, shared) => {}
        () = shared.stopped() => tracing::warn!("some updates were not published; the next start does it"),
    }
}

/// Publishes until there is nothing left after the stop.
async fn publish(config: &NatsConfig, shared: &Shared) {
    loop {
        let why = match connect(&config.url).await {
            Ok(context) => loop {
                match session(config, shared, &context).await {
                    Ok(()) => return,
                    Err(why) => note(shared, why),
                }
                tokio::time::sleep(PAUSE).await;
            },
            Err(error) => format!("{}: {error}", config.url),
        };
        note(shared, why);
        tokio::time::sleep(PAUSE).await;
    }
}

fn note(shared: &Shared, why: String) {
    let mut state = shared.lock();
    if state.trouble.as_ref() != Some(&why) {
        tracing::warn!(%why, "publishing to NATS waits");
        state.trouble = Some(why);
    }
}

/// What the server has of this hall.
struct There {
    /// The place of the last message in the event's stream; 0 if there is none.
    place: u64,
    /// The last message.
    last: Option<Batch>,
}

impl There {
    async fn ask(config: &NatsConfig, context: &jetstream::Context) -> Result<Self, String> {
        let stream = stream(context, &config.event).await.map_err(|fault| say(&fault))?;
        match stream.get_last_raw_message_by_subject(&config.subject()).await {
            Ok(message) => {
                let last = Batch::from_json(&message.payload).map_err(|fault| say(&fault))?;
                Ok(Self { place: message.sequence, last: Some(last) })
            }
            Err(fault) if fault.kind() == LastRawMessageErrorKind::NoMessageFound => {
                Ok(Self { place: 0, last: None })
            }
            Err(fault) => Err(say(&fault)),
        }
    }

    /// The number of the last update; 0 if there is none.
    fn number(&self) -> u64 {
        self.last.as_ref().map_or(0, Batch::last)
    }

    /// Whether it is known to be ours: not while the journal has not been read so far. An error if it is not.
    fn is_ours(&self, state: &State, offset: u32) -> Result<bool, String> {
        let Some(last) = &self.last else { return Ok(true) };
        if state.taken == 0 {
            return Ok(false);
        }
        let number = self.number();
        let other = || {
            "the NATS server has games of another hall, or of another journal, under this event and hall; \
             give `hall` or the event's `id` another word"
                .to_owned()
        };
        if last.since != state.since {
            return Err(other());
        }
        if state.taken < number {
            // What is new here cannot be there already.
            let behind = state.restored && number > state.sent;
            return if behind { Err(other()) } else { Ok(false) };
        }
        if state.first() > number {
            return Ok(true);
        }
        let here = &state.waiting[(number - state.first()) as usize];
        let here = Batch::new(number, state.since, offset, [here]);
        if here.last_about() == last.last_about() { Ok(true) } else { Err(other()) }
    }
}

fn say(fault: &dyn std::fmt::Display) -> String {
    format!("the NATS server cannot take the games: {fault}")
}

/// Finds out what the server has, and publishes from there on, one message after the other.
async fn session(config: &NatsConfig, shared: &Shared, context: &jetstream::Context) -> Result<(), String> {
    let mut there = There::ask(config, context).await?;
    while !there.is_ours(&shared.lock(), config.offset)? {
        if shared.lock().stop {
            return Ok(());
        }
        shared.changed.notified().await;
    }
    shared.confirmed(there.number());
    let (first, dropped) = {
        let state = shared.lock();
        (state.first(), state.dropped)
    };
    if first > there.number() + 1 {
        let why = if dropped > 0 { "was away too long for what waited" } else { "has lost what it had" };
        return Err(format!("the NATS server {why}; restart to publish it again"));
    }
    loop {
        let batch = {
            let mut state = shared.lock();
            if state.waiting.is_empty() && state.stop {
                return Ok(());
            }
            state.trouble = None;
            let waiting = state.waiting.iter().take(BATCH);
            let batch = Batch::new(state.first(), state.since, config.offset, waiting);
            (!state.waiting.is_empty()).then_some(batch)
        };
        let Some(mut batch) = batch else {
            shared.changed.notified().await;
            continue;
        };
        let text = loop {
            let text = batch.to_json().map_err(|fault| say(&fault))?;
            match batch.half() {
                Some(half) if text.len() > BYTES => batch = half,
                _ => break text,
            }
        };
        {
            let mut state = shared.lock();
            state.sent = state.sent.max(batch.last());
        }
        let mut headers = HeaderMap::new();
        let identity = format!("{}.{}.{}-{}", config.event, config.hall, batch.first, batch.last());
        headers.insert(header::NATS_MESSAGE_ID, identity.as_str());
        headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, there.place.to_string().as_str());
        let sent = context.publish_with_headers(config.subject(), headers, text.into());
        let confirmed = sent.await.map_err(|fault| say(&fault))?.await.map_err(|fault| say(&fault))?;
        there.place = confirmed.sequence;
        shared.confirmed(batch.last());
    }
}
