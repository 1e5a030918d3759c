//! The one loop: inputs in, journal, apply, updates out; start-up, recovery, shutdown in order.
//!
//! Shutdown goes from the outside in: ports close, the loop serves what is queued and closes the
//! journal, the outputs write what they still hold, the listeners say goodbye.

mod archive;
mod lines;
mod metrics;
mod outlets;
mod pace;
mod publisher;
mod recovery;
#[cfg(feature = "nats")]
mod relay;
mod settings;
mod spine;
mod store;
mod watch;

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use prometheus_client::registry::Registry;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use archive::{ExportError, export};
pub use recovery::recover;
#[cfg(feature = "nats")]
pub use relay::{Relay, RelaySettings};
pub use settings::Settings;
pub use watch::WatchConfig;

use crate::{
    hall::{CONFIGURATION, Command, Hall, Input, InputBody, MateQuestion, RoundSetup, Update},
    journal::{Journal, JournalError},
    link::{Links, LinksHandle},
    serve::{Deps, Feed, ServeError, Serving, feed::Audience},
    wall,
};
use archive::ArchiveOutput;
use metrics::HallMetrics;
use outlets::Outlets;
use pace::Pace;
use publisher::Publisher;
use spine::{Beat, MateAnswer, Spine};
use store::Store;

/// Sightings of boards that may wait for the hall.
const SIGHTINGS: usize = 8192;
/// Orders that may wait for the hall.
const ORDERS: usize = 256;
/// Long questions that may wait.
const QUESTIONS: usize = 256;
/// How long sockets may take to close.
const GOODBYE: Duration = Duration::from_secs(5);

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A listener cannot be had.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The system refuses threads.
    #[error("cannot start a thread: {0}; the system is out of threads or memory")]
    Thread(#[from] std::io::Error),
}

/// A daemon that runs.
pub struct Daemon {
    serving: Serving,
    links: Option<Links>,
    spine: Option<thread::JoinHandle<Vec<Publisher>>>,
    stop: CancellationToken,
    /// Why the journal cannot be written, if it cannot.
    trouble: Arc<Mutex<Option<String>>>,
}

impl std::fmt::Debug for Daemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon").field("serving", &self.serving).finish_non_exhaustive()
    }
}

/// Ready as long as there is no trouble, which is told as it is.
fn ready(trouble: Arc<Mutex<Option<String>>>) -> Arc<dyn Fn() -> Result<(), String> + Send + Sync> {
    Arc::new(move || match trouble.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        Some(why) => Err(why),
        None => Ok(()),
    })
}

impl Daemon {
    /// Reads the journal, opens listeners and ports, and runs. Must be called inside a tokio
    /// runtime, which serves the listeners; the hall has a thread of its own.
    ///
    /// # Errors
    /// The journal or an address cannot be had. Nothing has been changed then.
    pub fn start(settings: &Settings, beat: impl FnMut() + Send + 'static) -> Result<Self, StartError> {
        let journal = Journal::open(&settings.journal)?;
        let desk = Feed::new(Audience::Desk);
        let public = Feed::new(Audience::Public);
        let mut publishers = Vec::new();
        if let Some(folder) = &settings.archive {
            publishers.push(Publisher::start(
                "archive",
                ArchiveOutput::new(folder.clone(), settings.journal.clone()),
            )?);
        }
        let mut outlets =
            Outlets::new(Arc::clone(&desk), Arc::clone(&public), publishers, &settings.publish)?;
        let now = wall::now();
        let hall = recover(&journal, |updates| {
            // What the journal tells of is past, also where the machine's clock has been set back.
            let now = updates.last().map_or(now, |last| now.max(last.at));
            outlets.restore(updates, now);
        })?;
        outlets.restored();
        let inputs = journal.len()?;
        tracing::info!(inputs, tables = hall.table_ids().len(), seq = hall.seq().0, "the journal is read");

        let (sight, sightings) = mpsc::channel(SIGHTINGS);
        let (order, orders) = mpsc::channel(ORDERS);
        let (answer, answers) = mpsc::channel(QUESTIONS);
        let (question, questions) = std::sync::mpsc::sync_channel(QUESTIONS);
        let trouble: Arc<Mutex<Option<String>>> = Arc::default();
        let ports = LinksHandle::default();
        let mut registry = Registry::with_prefix("arbiterd");
        registry.register_collector(ports.metrics());
        // The ports are opened after the listeners: until then there is nothing to tell of them.
        let opened: Arc<OnceLock<LinksHandle>> = Arc::default();
        let told = Arc::clone(&opened);
        let metrics = HallMetrics::register(&mut registry);
        let serving = Serving::start(
            settings.serve.clone(),
            Deps {
                desk: Arc::clone(&desk),
                public: Arc::clone(&public),
                commands: order.clone(),
                registry,
                ready: ready(Arc::clone(&trouble)),
                outputs: outlets.status(),
                lines: Arc::new(move || {
                    lines::lines_json(&told.get().map(LinksHandle::health).unwrap_or_default())
                }),
            },
        )?;
        let links = if settings.ports.is_empty() {
            None
        } else {
            Some(Links::start_with(ports, settings.ports.clone(), sight)?)
        };
        if let Some(links) = &links {
            opened.get_or_init(|| links.handle());
        }
        answer_questions(questions, answer)?;
        let stop = CancellationToken::new();
        let mut spine = Spine {
            pace: Pace::new(hall.now()),
            hall,
            store: Store::new(journal),
            outlets,
            links: links.as_ref().map(Links::handle),
            bound_by_path: bound_by_path(settings),
            sightings,
            orders,
            questions: question,
            answers,
            stop: stop.clone(),
            beat: health(beat, Arc::clone(&trouble)),
            metrics,
        };
        spine.begin(opening(&spine.hall, settings));
        if let Some(config) = settings.watch.clone() {
            let (feed, imports) = (Arc::clone(&desk), serving.imports());
            watch::Watcher { config, feed, imports, orders: order.clone(), stop: stop.clone() }.start()?;
        }
        drop(order);
        let spine = thread::Builder::new().name("hall".to_owned()).spawn(move || spine.run_to_end())?;
        Ok(Self { serving, links, spine: Some(spine), stop, trouble })
    }

    /// Where the desk listens.
    #[must_use]
    pub fn desk(&self) -> Option<SocketAddr> {
        self.serving.desk
    }

    /// Where the public listens.
    #[must_use]
    pub fn public(&self) -> Option<SocketAddr> {
        self.serving.public
    }

    /// Where the `LiveChess` API listens.
    #[must_use]
    pub fn livechess(&self) -> Option<SocketAddr> {
        self.serving.livechess
    }

    /// The token made at start, if one was asked for.
    #[must_use]
    pub fn invitation(&self) -> Option<&str> {
        self.serving.invitation.as_ref().map(|(token, _)| token.as_str())
    }

    /// Why the journal cannot be written, if it cannot.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces who may sign in at the desk. Tokens that are gone are refused from now on.
    pub fn set_tokens(&self, tokens: crate::serve::access::Tokens) {
        self.serving.set_tokens(tokens);
    }

    /// For asking the boards.
    #[must_use]
    pub fn links(&self) -> Option<LinksHandle> {
        self.links.as_ref().map(Links::handle)
    }

    /// Stops in order. What was received is journaled, applied and written out.
    pub async fn stop(mut self) {
        if let Some(links) = self.links.take() {
            let closed = tokio::task::spawn_blocking(move || links.stop()).await;
            if closed.is_err() {
                tracing::error!("closing the ports failed");
            }
        }
        self.stop.cancel();
        if let Some(spine) = self.spine.take() {
            let ended = tokio::task::spawn_blocking(move || {
                let publishers = spine.join();
                for publisher in publishers.into_iter().flatten() {
                    publisher.finish();
                }
            });
            if ended.await.is_err() {
                tracing::error!("the hall ended badly; its journal has all that was acknowledged");
            }
        }
        if tokio::time::timeout(GOODBYE, self.serving.stop()).await.is_err() {
            tracing::warn!("some clients did not close in time");
        }
    }
}

fn health(mut beat: impl FnMut() + Send + 'static, trouble: Arc<Mutex<Option<String>>>) -> Beat {
    Box::new(move |_, failure| {
        let mut trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.as_deref() != failure {
            *trouble = failure.map(str::to_owned);
        }
        drop(trouble);
        beat();
    })
}

/// Boards that tables name by their port's path and not by a serial number.
fn bound_by_path(settings: &Settings) -> BTreeSet<String> {
    let tables = settings.round.iter().flat_map(|round| &round.tables);
    tables
        .filter_map(|table| table.board.as_ref())
        .map(|board| board.0.clone())
        .filter(|key| key.contains('/'))
        .collect()
}

/// What has to be said to a hall, new or recovered, so that it is as the settings want it.
fn opening(hall: &Hall, settings: &Settings) -> Vec<Command> {
    let mut commands = Vec::new();
    if hall.configured_event().cloned().unwrap_or_default() != settings.event {
        commands.push(Command::Event { event: settings.event.clone() });
    }
    match &settings.round {
        Some(round) if hall.round() < round.number => commands.push(Command::Round { round: round.clone() }),
        // The round is under way: what a person changed in the file is changed, the games go on, and so
        // does what was changed at the desk.
        Some(RoundSetup { number, tables, .. }) if *number == hall.round() => {
            let changed = tables.iter().filter(|table| hall.configured_table(table.table) != Some(table));
            commands.extend(changed.map(|table| Command::Table { table: table.clone() }));
        }
        // A round that is over is not opened again.
        _ => {}
    }
    commands
}

/// Answers long mate questions one after the other, in a thread of its own.
fn answer_questions(
    questions: std::sync::mpsc::Receiver<MateQuestion>,
    answers: mpsc::Sender<MateAnswer>,
) -> std::io::Result<()> {
    thread::Builder::new().name("mate".to_owned()).spawn(move || {
        for question in questions {
            let verdict = question.answer();
            if answers.blocking_send(MateAnswer { question, verdict }).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

impl Spine {
    /// Journals and applies what start-up has to say.
    fn begin(&mut self, commands: Vec<Command>) {
        let by = || CONFIGURATION.to_owned();
        let at = self.moment(wall::now());
        let started = InputBody::Started { version: env!("CARGO_PKG_VERSION").to_owned() };
        let bodies = std::iter::once(started)
            .chain(commands.into_iter().map(|command| InputBody::Command { by: by(), command }));
        let inputs: Vec<Input> = bodies.map(|body| Input { at, body }).collect();
        let kept = self.store.keep(at, &inputs);
        let updates: Vec<Update> = inputs.iter().flat_map(|input| self.hall.apply(input)).collect();
        self.show(&updates, kept, at);
        self.ask();
        self.tell_health();
    }

    /// Runs the loop on this thread and gives back the outputs, to be finished.
    fn run_to_end(self) -> Vec<Publisher> {
        match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime.block_on(self.run()),
            Err(error) => {
                tracing::error!(%error, "the hall's loop could not start");
                Vec::new()
            }
        }
    }
}
