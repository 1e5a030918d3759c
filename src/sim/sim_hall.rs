//! Simulated boards on real pseudo-terminals, in real time or faster: one thread for all.
//!
//! At speed X everything runs X times as fast: thoughts, hands, the scan of the squares, the
//! bytes' time on the line, the clocks. A reader sees a consistent board that lives X times faster:
//! a clock that shows game seconds passes X of them in one second of his, and reports each. What
//! compares clock seconds with its own time must know the speed; what only follows moves, presses
//! and readings need not. Beyond 20 or so, a reader's own reaction (a request answered, say)
//! spans whole moves of the game, as with a very slow reader at speed 1.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{BoardConfig, Firmware, Line, PlayedGame, Script, pty::Pty};
use crate::wall;

/// One port: its name, what hangs on it, and what hands do at each of its boards.
pub struct SimPort {
    /// The link's name in the hall's directory.
    pub name: String,
    /// The far end.
    pub line: Box<dyn Line>,
    /// One for each board of the line.
    pub scripts: Vec<Script>,
}

impl SimPort {
    /// A DGT board alone on its line; the script's pieces stand on it.
    #[must_use]
    pub fn board(name: impl Into<String>, mut config: BoardConfig, script: Script) -> Self {
        config.setup.board = script.board.clone();
        Self { name: name.into(), line: Box::new(Firmware::new(config)), scripts: vec![script] }
    }
}

/// How a hall runs.
#[derive(Clone, Debug)]
pub struct HallOptions {
    /// Where the links to the terminals appear; made if it is not there.
    pub dir: PathBuf,
    /// So many times as fast as life, 1 to 100.
    pub speed: f64,
    /// The hands wait until a program follows their board.
    pub wait_for_reader: bool,
    /// Bytes damaged or lost on the lines, per million, in both directions.
    pub damaged_ppm: u32,
    /// For the damage.
    pub seed: u64,
}

impl HallOptions {
    /// At the speed of life, hands waiting for a reader, clean lines.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), speed: 1.0, wait_for_reader: true, damaged_ppm: 0, seed: 0 }
    }
}

/// How far the hands at one board are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// They have begun.
    pub begun: bool,
    /// Plies made so far, of all games.
    pub plies: usize,
    /// Of how many.
    pub of_plies: usize,
    /// Games whose result stands on the board.
    pub games: usize,
    /// All is played and the board set up again.
    pub finished: bool,
}

#[derive(Clone, Copy)]
enum Order {
    Unplug { port: usize, power_off: bool },
    Plug { port: usize },
}

struct Shared {
    stop: AtomicBool,
    orders: Mutex<VecDeque<Order>>,
    /// When the hands began, in virtual milliseconds; `u64::MAX` = not yet. By port and board.
    begun: Vec<Vec<AtomicU64>>,
}

/// Running boards. Dropping it stops them and removes the links.
pub struct SimHall {
    ports: Vec<PathBuf>,
    truth: Vec<Vec<(Vec<PlayedGame>, u64)>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    time: VirtualTime,
}

#[derive(Clone, Copy)]
struct VirtualTime {
    start: Duration,
    speed: f64,
}

impl VirtualTime {
    fn now(self) -> u64 {
        ((wall::uptime().saturating_sub(self.start)).as_secs_f64() * 1000.0 * self.speed) as u64
    }
}

impl SimHall {
    /// Makes the terminals and sets the boards going.
    ///
    /// # Errors
    /// When the directory, a link, a terminal or the thread cannot be made.
    pub fn start(ports: Vec<SimPort>, options: &HallOptions) -> io::Result<Self> {
        std::fs::create_dir_all(&options.dir)?;
        let time = VirtualTime { start: wall::uptime(), speed: options.speed.clamp(0.01, 1000.0) };
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            orders: Mutex::new(VecDeque::new()),
            begun: ports
                .iter()
                .map(|port| port.scripts.iter().map(|_| AtomicU64::new(u64::MAX)).collect())
                .collect(),
        });
        let truth = ports
            .iter()
            .map(|port| port.scripts.iter().map(|script| (script.games.clone(), script.end_ms)).collect())
            .collect();
        let mut running = Vec::new();
        for (index, port) in ports.into_iter().enumerate() {
            let link = options.dir.join(&port.name);
            running.push(Running {
                pty: Some(Pty::new(&link)?),
                link,
                line: port.line,
                scripts: port.scripts.into_iter().map(Some).collect(),
                outbox: VecDeque::new(),
                rng: fastrand::Rng::with_seed(options.seed.wrapping_add(index as u64)),
                damaged_ppm: options.damaged_ppm,
                wait_for_reader: options.wait_for_reader,
                powered: true,
            });
        }
        let links = running.iter().map(|port| port.link.clone()).collect();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("simulated boards".to_owned())
            .spawn(move || run(running, &for_thread, time))?;
        Ok(Self { ports: links, truth, shared, thread: Some(thread), time })
    }

    /// The names to open, in the order of the ports.
    #[must_use]
    pub fn ports(&self) -> &[PathBuf] {
        &self.ports
    }

    /// What is truly played at this board of this port.
    #[must_use]
    pub fn games(&self, port: usize, board: usize) -> &[PlayedGame] {
        self.truth.get(port).and_then(|boards| boards.get(board)).map_or(&[], |(games, _)| games)
    }

    /// The cable is pulled: the name vanishes, a reader is hung up. With `power_off` the board
    /// loses its power, too, as one on USB does; hands go on all the same.
    pub fn unplug(&self, port: usize, power_off: bool) {
        self.orders().push_back(Order::Unplug { port, power_off });
    }

    /// The cable is back, on a new terminal under the old name.
    pub fn plug(&self, port: usize) {
        self.orders().push_back(Order::Plug { port });
    }

    /// How far the hands at this board are.
    #[must_use]
    pub fn progress(&self, port: usize, board: usize) -> Progress {
        let begun = self
            .shared
            .begun
            .get(port)
            .and_then(|boards| boards.get(board))
            .map_or(u64::MAX, |begun| begun.load(Ordering::Relaxed));
        let games = self.games(port, board);
        let end_ms = self.truth.get(port).and_then(|boards| boards.get(board)).map_or(0, |(_, end)| *end);
        let passed = (begun != u64::MAX).then(|| self.time.now().saturating_sub(begun));
        let plies =
            |until: u64| games.iter().flat_map(|game| &game.plies).filter(|ply| ply.made_ms <= until).count();
        Progress {
            begun: passed.is_some(),
            plies: passed.map_or(0, plies),
            of_plies: plies(u64::MAX),
            games: passed.map_or(0, |passed| games.iter().filter(|game| game.ended_ms <= passed).count()),
            finished: passed.is_some_and(|passed| passed > end_ms),
        }
    }

    /// All hands at all boards are done.
    #[must_use]
    pub fn finished(&self) -> bool {
        (0..self.truth.len())
            .all(|port| (0..self.truth[port].len()).all(|board| self.progress(port, board).finished))
    }

    /// Stops the boards and removes the links.
    pub fn stop(self) {
        drop(self);
    }

    fn orders(&self) -> MutexGuard<'_, VecDeque<Order>> {
        self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SimHall {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the simulated boards has panicked");
        }
    }
}

/// Bytes that are handed over together.
const PIECE: usize = 80;

/// One port while it runs.
struct Running {
    /// `None` while the cable is pulled.
    pty: Option<Pty>,
    link: PathBuf,
    line: Box<dyn Line>,
    /// Taken when the hands begin.
    scripts: Vec<Option<Script>>,
    /// On the line: when the last byte is through, and the bytes.
    outbox: VecDeque<(u64, Vec<u8>)>,
    rng: fastrand::Rng,
    damaged_ppm: u32,
    wait_for_reader: bool,
    powered: bool,
}

impl Running {
    /// Everything up to this moment.
    fn go_on(&mut self, now: u64, begun: &[AtomicU64]) {
        let mut out = Vec::new();
        self.line.advance(now, &mut out);
        if let Some(pty) = &self.pty {
            let mut bytes = Vec::new();
            let open = pty.read(&mut bytes);
            if !bytes.is_empty() {
                self.damage(&mut bytes);
                self.line.receive(now, &bytes);
                self.line.advance(now, &mut out);
            }
            if !open {
                self.renew();
            }
        }
        for (at, bytes) in out {
            // A long message arrives as it is sent, not all at its end: a log takes eight seconds.
            let whole = bytes.len() as u64;
            for (index, piece) in bytes.chunks(PIECE).enumerate() {
                let sent = (index * PIECE + piece.len()) as u64;
                let begins = at.saturating_sub((whole - sent) * 10_000 / 9_600);
                self.outbox.push_back((begins, piece.to_vec()));
            }
        }
        while let Some((_, mut bytes)) = self.outbox.pop_front_if(|(at, _)| *at <= now) {
            self.damage(&mut bytes);
            if let Some(pty) = &self.pty {
                pty.write(&bytes);
            }
        }
        for (board, script) in self.scripts.iter_mut().enumerate() {
            if script.is_some() && (!self.wait_for_reader || self.line.followed(board)) {
                let actions = script.take().map(|script| script.actions).unwrap_or_default();
                for (at, action) in actions {
                    self.line.act(board, now + at, action);
                }
                if let Some(begun) = begun.get(board) {
                    begun.store(now, Ordering::Relaxed);
                }
            }
        }
    }

    /// A fresh terminal under the old name, for the next reader.
    fn renew(&mut self) {
        self.pty = match Pty::new(&self.link) {
            Ok(pty) => Some(pty),
            Err(error) => {
                tracing::error!(%error, link = %self.link.display(), "no new terminal for a simulated board");
                None
            }
        };
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        if self.damaged_ppm == 0 {
            return;
        }
        let (rng, ppm) = (&mut self.rng, self.damaged_ppm);
        bytes.retain_mut(|byte| {
            if rng.u32(0..1_000_000) >= ppm {
                return true;
            }
            if rng.bool() {
                *byte ^= 1 << rng.u32(0..8);
                return true;
            }
            false
        });
    }

    fn next_due(&self) -> Option<u64> {
        let written = self.outbox.front().map(|(at, _)| *at);
        [self.line.next_due(), written].into_iter().flatten().min()
    }
}

fn run(mut ports: Vec<Running>, shared: &Shared, time: VirtualTime) {
    // Which ports have something to do, so that a hall of hundreds costs little.
    let mut due: Vec<u64> = vec![0; ports.len()];
    while !shared.stop.load(Ordering::Relaxed) {
        let now = time.now();
        let orders: Vec<Order> =
            shared.orders.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        for order in orders {
            obey(&mut ports, order, now);
            due.fill(0);
        }
        for ((port, begun), due) in ports.iter_mut().zip(&shared.begun).zip(&mut due) {
            if *due <= now {
                port.go_on(now, begun);
                *due = port.next_due().unwrap_or(u64::MAX);
            }
        }
        let first = due.iter().min().copied().unwrap_or(u64::MAX);
        // At least every 20 ms, for orders.
        let wait_ms = (first.saturating_sub(now) as f64 / time.speed).min(20.0);
        wait(&ports, Duration::from_secs_f64((wait_ms / 1000.0).max(0.000_2)), &mut due);
    }
    for port in ports {
        if let Some(pty) = port.pty {
            pty.unlink();
        }
    }
}

/// Until a byte comes in or the time is over; a port with bytes, or whose reader has closed, is due.
fn wait(ports: &[Running], time: Duration, due: &mut [u64]) {
    let (mut indices, mut watched) = (Vec::with_capacity(ports.len()), Vec::with_capacity(ports.len()));
    for (index, port) in ports.iter().enumerate() {
        if let Some(pty) = &port.pty {
            indices.push(index);
            watched.push(PollFd::new(pty, PollFlags::IN));
        }
    }
    let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    match poll(&mut watched, Some(&timeout)) {
        Ok(_) => {
            for (index, poll) in indices.into_iter().zip(&watched) {
                if !poll.revents().is_empty() {
                    due[index] = 0;
                }
            }
        }
        Err(error) => {
            tracing::debug!(%error, "poll");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn obey(ports: &mut [Running], order: Order, now: u64) {
    match order {
        Order::Unplug { port, power_off } => {
            let Some(port) = ports.get_mut(port) else { return };
            if let Some(pty) = port.pty.take() {
                pty.unlink();
            }
            port.outbox.clear();
            if power_off && std::mem::take(&mut port.powered) {
                port.line.power(now, false);
            }
        }
        Order::Plug { port } => {
            let Some(port) = ports.get_mut(port) else { return };
            if port.pty.is_none() {
                if !std::mem::replace(&mut port.powered, true) {
                    port.line.power(now, true);
                }
                port.renew();
            }
        }
    }
}

/// A port name of a hall: `board-07`.
#[must_use]
pub fn port_name(number: usize) -> String {
    format!("board-{number:02}")
}

/// Where simulated ports are put when nothing else is said.
#[must_use]
pub fn default_dir() -> PathBuf {
    Path::new(&std::env::temp_dir()).join("arbiterd-boards")
}
