//! One driver a port: open, identify, poll, notice silence, reopen; turns messages into
//! [`Observation`]s.
//!
//! [`Links::start`] gives every configured port its own small thread, and every port a pattern
//! finds, as it comes and goes. What they see goes into one bounded channel as [`Sighting`]s. A
//! board's identity is its serial number; a port that fails is a reason in words, never an error
//! that ends anything. What a board means to a game, nobody knows here.
//!
//! | file | holds |
//! | --- | --- |
//! | `config` | what can be said of a port; times |
//! | `worker` | the thread: open, run the driver, say what was lost, back off, again |
//! | `port` | the serial port and its errors in words |
//! | `driver` | what every driver is: a state machine without ports or clocks |
//! | `line`, `single`, `chain` | the DGT drivers: which of the two, one board, many on a line |
//! | `readings` | damaged readings of a board's log, checked and put together |
//! | `other` | the other makes |
//! | `registry`, `health`, `scan` | who holds which board; counters; patterns of paths |
//! | `metrics` | the counters for Prometheus |

mod chain;
mod config;
mod driver;
mod health;
mod line;
mod metrics;
mod other;
mod port;
mod readings;
mod registry;
mod scan;
mod single;
mod worker;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::mpsc::Sender;

pub use config::{Make, Mode, PortConfig, Timing};
pub use health::{BoardHealth, LineHealth, LineState};

use crate::{record::Timestamp, wire::Observation};

use driver::Ask;
use health::{HealthTable, parking::Shared};
use registry::Registry;
use worker::{Asks, Worker};

/// The ports a configuration entry means at this moment: those that are there.
#[must_use]
pub fn ports_of(port: &PortConfig) -> Vec<String> {
    if scan::is_pattern(&port.path) {
        return scan::find(&port.path);
    }
    std::iter::once(port.path.clone()).filter(|path| std::path::Path::new(path).exists()).collect()
}

/// A driver's thread needs little: the stack is this many bytes.
const STACK: usize = 128 * 1024;

/// What a driver saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The port's path.
    pub port: Arc<str>,
    /// The board's serial number; `None` for what concerns the port and no board, such as "in use
    /// by another program".
    pub serial: Option<Arc<str>>,
    /// When the bytes were read.
    pub at: Timestamp,
    /// What it was.
    pub observation: Observation,
}

/// All drivers. Dropping it stops them without waiting; [`Links::stop`] waits.
#[derive(Debug)]
pub struct Links {
    shared: Arc<Running>,
    supervisor: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Running {
    stop: Arc<AtomicBool>,
    health: HealthTable,
    registry: Registry,
    /// Asks by port path.
    asks: Shared<BTreeMap<String, Asks>>,
}

impl Links {
    /// Starts the drivers. They send into `out` and wait while it is full; they end when its
    /// receiver is dropped.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(config: Vec<PortConfig>, out: Sender<Sighting>) -> std::io::Result<Self> {
        Self::start_with(LinksHandle::default(), config, out)
    }

    /// The same with a handle that was given away before, such as to metrics.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start_with(
        handle: LinksHandle,
        config: Vec<PortConfig>,
        out: Sender<Sighting>,
    ) -> std::io::Result<Self> {
        let shared = handle.0;
        let running = Arc::clone(&shared);
        let supervisor = spawn("links", move || running.supervise(&config, &out))?;
        Ok(Self { shared, supervisor: Some(supervisor) })
    }

    /// Asks the board with this serial number (or on this port) for a dump, which is told even if
    /// it says nothing new.
    pub fn request_dump(&self, board: &str) {
        self.shared.ask(board, Ask::Dump);
    }

    /// Asks the board with this serial number (or on this port) for what it remembers of the game.
    pub fn request_log(&self, board: &str) {
        self.shared.ask(board, Ask::Log);
    }

    /// Tells the board with this serial number (or on this port) that a new game is set up. Boards
    /// on a chain write a start tag into their log, from which a lost game can be read again.
    pub fn start_game(&self, board: &str) {
        self.shared.ask(board, Ask::StartGame);
    }

    /// The state and counters of every line.
    #[must_use]
    pub fn health(&self) -> Vec<LineHealth> {
        self.shared.health()
    }

    /// A handle for asking that can be given away.
    #[must_use]
    pub fn handle(&self) -> LinksHandle {
        LinksHandle(Arc::clone(&self.shared))
    }

    /// Closes all ports and waits until they are closed: at most about a second, but for a driver
    /// of the system that holds on to unsent bytes.
    pub fn stop(mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(supervisor) = self.supervisor.take()
            && supervisor.join().is_err()
        {
            tracing::error!("the supervisor of the ports had failed");
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

/// Asks boards and reads the counters; cheap to clone. Outlives [`Links`] without harm.
#[derive(Clone, Debug, Default)]
pub struct LinksHandle(Arc<Running>);

impl LinksHandle {
    /// See [`Links::request_dump`].
    pub fn request_dump(&self, board: &str) {
        self.0.ask(board, Ask::Dump);
    }

    /// See [`Links::request_log`].
    pub fn request_log(&self, board: &str) {
        self.0.ask(board, Ask::Log);
    }

    /// See [`Links::start_game`].
    pub fn start_game(&self, board: &str) {
        self.0.ask(board, Ask::StartGame);
    }

    /// The counters of all lines, for a registry of metrics.
    #[must_use]
    pub fn metrics(&self) -> Box<dyn prometheus_client::collector::Collector> {
        Box::new(metrics::LinkMetrics(self.clone()))
    }

    /// See [`Links::health`].
    #[must_use]
    pub fn health(&self) -> Vec<LineHealth> {
        self.0.health()
    }
}

impl Running {
    fn health(&self) -> Vec<LineHealth> {
        self.health.lock().values().map(|line| line.lock().clone()).collect()
    }

    /// Starts a worker for every port, looks for new ones that patterns find, and at the end waits
    /// for all of them.
    fn supervise(&self, config: &[PortConfig], out: &Sender<Sighting>) {
        let mut workers: BTreeMap<String, JoinHandle<()>> = BTreeMap::new();
        loop {
            // A pattern's port that vanished may come back as the same path.
            let ended: Vec<String> = workers
                .iter()
                .filter(|(_, worker)| worker.is_finished())
                .map(|(path, _)| path.clone())
                .collect();
            for path in ended {
                if let Some(worker) = workers.remove(&path)
                    && worker.join().is_err()
                {
                    tracing::error!(port = path, "the driver of this port failed; it is started again");
                }
                self.asks.lock().remove(&path);
                self.health.lock().remove(&path);
            }
            for port in config {
                let found = scan::is_pattern(&port.path);
                let paths = if found { scan::find(&port.path) } else { vec![port.path.clone()] };
                for path in paths {
                    if workers.len() >= scan::MOST_PORTS || workers.contains_key(&path) {
                        continue;
                    }
                    match self.spawn_worker(port, path.clone(), found, out) {
                        Ok(worker) => {
                            workers.insert(path, worker);
                        }
                        // The next round tries again.
                        Err(error) => tracing::error!(port = path, %error, "no thread for this port"),
                    }
                }
            }
            for _ in 0..10 {
                if self.stop.load(Ordering::Relaxed) || out.is_closed() {
                    self.stop.store(true, Ordering::Relaxed);
                    for (path, worker) in workers {
                        if worker.join().is_err() {
                            tracing::error!(port = path, "the driver of this port had failed");
                        }
                    }
                    return;
                }
                thread::sleep(Duration::from_millis(100));
            }
        }
    }

    fn spawn_worker(
        &self,
        config: &PortConfig,
        path: String,
        found: bool,
        out: &Sender<Sighting>,
    ) -> std::io::Result<JoinHandle<()>> {
        let asks = Asks::default();
        self.asks.lock().insert(path.clone(), asks.clone());
        let worker = Worker {
            config: config.clone(),
            found,
            out: out.clone(),
            asks,
            health: self.health.lock().entry(path.clone()).or_default().clone(),
            path,
            registry: self.registry.clone(),
            stop: Arc::clone(&self.stop),
        };
        spawn("port", move || worker.run())
    }

    fn ask(&self, board: &str, ask: Ask) {
        let by_serial = self.registry.port_of(board);
        let (path, serial) = match &by_serial {
            Some(port) => (port.as_str(), Some(board.to_owned())),
            None => (board, None),
        };
        if let Some(asks) = self.asks.lock().get(path) {
            let mut asks = asks.lock();
            // The same again before the first was done is the same.
            if !asks.contains(&(serial.clone(), ask)) && asks.len() < 64 {
                asks.push_back((serial, ask));
            }
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(run)
}

#[cfg(test)]
mod tests;
