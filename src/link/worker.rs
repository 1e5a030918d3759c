//! The thread of one port: opens it, runs its driver, and when the line is lost says so, waits and
//! opens it again, for ever.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::mpsc::Sender;

use crate::{
    wall,
    wire::{LinkEvent, Observation},
};

use super::{
    Sighting,
    config::{Make, PortConfig},
    driver::{Ask, Driver, Io},
    health::{LineHealth, LineState, parking::Shared},
    line::Line,
    other::{Certabo, Millennium},
    port::Port,
    registry::Registry,
};

/// Asked of a board of this line (`None`: of all of them), to be done by its thread.
pub(super) type Asks = Shared<VecDeque<(Option<String>, Ask)>>;

/// Everything a worker needs.
pub(super) struct Worker {
    pub(super) config: PortConfig,
    /// The device path (of a pattern: the one that was found).
    pub(super) path: String,
    /// The path came from a pattern: end when it vanishes.
    pub(super) found: bool,
    pub(super) out: Sender<Sighting>,
    pub(super) asks: Asks,
    pub(super) health: Shared<LineHealth>,
    pub(super) registry: Registry,
    pub(super) stop: Arc<AtomicBool>,
}

/// Why a worker's line ended.
enum End {
    /// The programme stops, or nobody listens any more.
    Stop,
    /// The line is lost; why.
    Lost(String),
}

impl Worker {
    pub(super) fn run(self) {
        let port: Arc<str> = self.path.as_str().into();
        self.with_health(|health| {
            health.port.clone_from(&self.path);
            health.since = wall::now();
        });
        let mut driver: Option<Box<dyn Driver>> = None;
        let mut failures = 0_u32;
        let mut told = None;
        let mut first = true;
        while !self.stopped() {
            if !first {
                self.with_health(|health| health.reopenings += 1);
            }
            first = false;
            let (mut was_up, reason) = match self.attempt(&port, &mut driver) {
                (_, End::Stop) => break,
                (was_up, End::Lost(reason)) => (was_up, reason),
            };
            was_up |= self.down(&reason);
            // A reason is told once, not at every attempt.
            if (was_up || told.as_ref() != Some(&reason)) && !self.tell_down(&port, &reason) {
                break;
            }
            told = Some(reason);
            failures = if was_up { 0 } else { failures.saturating_add(1) };
            if self.found && !std::path::Path::new(&self.path).exists() {
                break;
            }
            self.pause(failures);
        }
        self.down("stopped");
    }

    fn attempt(&self, port: &Arc<str>, driver: &mut Option<Box<dyn Driver>>) -> (bool, End) {
        let Some(_hold) = self.registry.hold_device(&self.path) else {
            let reason = format!("{port} is another name of a port that is already open: list it once");
            return (false, End::Lost(reason));
        };
        let mut line = match Port::open(&self.path, &self.config) {
            Ok(line) => line,
            Err(reason) => return (false, End::Lost(reason)),
        };
        self.with_health(|health| {
            health.state = LineState::Probing;
            health.since = wall::now();
            health.settings.clone_from(&line.differs);
        });
        // A make's driver remembers from one opening to the next what the line turned out to be.
        let driver = driver.get_or_insert_with(|| new_driver(&self.config));
        let end = self.talk(port, &mut line, driver.as_mut());
        let boards = driver.boards();
        for serial in &boards {
            self.registry.release(serial, &self.path);
        }
        if let End::Lost(reason) = &end {
            for serial in &boards {
                let down = Observation::Link(LinkEvent::Down(reason.clone()));
                if !self.send(port, Some(Arc::clone(serial)), down) {
                    return (true, End::Stop);
                }
            }
        }
        (!boards.is_empty(), end)
    }

    fn talk(&self, port: &Arc<str>, line: &mut Port, driver: &mut dyn Driver) -> End {
        let mut buffer = [0; 1024];
        if let Err(end) = self.step(port, line, |io| {
            driver.opened(io);
            Ok(())
        }) {
            return end;
        }
        loop {
            if self.stopped() {
                return End::Stop;
            }
            let count = match line.read(&mut buffer, driver.patience()) {
                Ok(count) => count,
                Err(error) => {
                    return End::Lost(format!("{} was unplugged or its adapter failed ({error})", self.path));
                }
            };
            let asks: Vec<_> = self.asks.lock().drain(..).collect();
            let step = self.step(port, line, |io| {
                if count > 0 {
                    io.health.last_byte = Some(io.at);
                    io.health.bytes += count as u64;
                    driver.received(&buffer[..count], io)?;
                }
                for (serial, ask) in asks {
                    driver.ask(serial.as_deref(), ask, io);
                }
                driver.tick(io)
            });
            if let Err(end) = step {
                return end;
            }
        }
    }

    /// One step of the driver: what it says goes out first, then what it asks goes to the line.
    fn step(
        &self,
        port: &Arc<str>,
        line: &mut Port,
        act: impl FnOnce(&mut Io<'_>) -> Result<(), String>,
    ) -> Result<(), End> {
        let at = wall::now();
        let (result, send, tell) = {
            let mut health = self.health.lock();
            let mut io = Io {
                now: wall::uptime(),
                at,
                send: Vec::new(),
                tell: Vec::new(),
                health: &mut health,
                registry: &self.registry,
            };
            let result = act(&mut io);
            (result, io.send, io.tell)
        };
        for (serial, observation) in tell {
            let sighting = Sighting { port: Arc::clone(port), serial, at, observation };
            if self.out.blocking_send(sighting).is_err() {
                return Err(End::Stop);
            }
        }
        result.map_err(End::Lost)?;
        line.write(&send).map_err(|error| {
            End::Lost(format!("{} takes no more bytes ({error}): is it unplugged?", self.path))
        })
    }

    /// Books the line as down; whether a board had been up on it.
    fn down(&self, reason: &str) -> bool {
        self.with_health(|health| {
            let was_up = health.state == LineState::Up;
            health.state = LineState::Down(reason.to_owned());
            health.trouble = Some(reason.to_owned());
            health.since = wall::now();
            for board in health.boards.values_mut() {
                board.up = false;
            }
            was_up
        })
    }

    fn tell_down(&self, port: &Arc<str>, reason: &str) -> bool {
        tracing::info!(port = &**port, "line down: {reason}");
        self.send(port, None, Observation::Link(LinkEvent::Down(reason.to_owned())))
    }

    fn send(&self, port: &Arc<str>, serial: Option<Arc<str>>, observation: Observation) -> bool {
        let sighting = Sighting { port: Arc::clone(port), serial, at: wall::now(), observation };
        self.out.blocking_send(sighting).is_ok()
    }

    fn with_health<T>(&self, act: impl FnOnce(&mut LineHealth) -> T) -> T {
        act(&mut self.health.lock())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.out.is_closed()
    }

    /// Waits before the next attempt: longer after each failure, and at random, so that many ports
    /// do not knock at once.
    fn pause(&self, failures: u32) {
        let (shortest, longest) = self.config.timing.reopen;
        let ceiling = longest.min(shortest.saturating_mul(1 << failures.min(16)));
        let until = wall::uptime() + shortest + ceiling.saturating_sub(shortest).mul_f32(fastrand::f32());
        while wall::uptime() < until && !self.stopped() {
            std::thread::sleep(Duration::from_millis(50).min(until.saturating_sub(wall::uptime())));
        }
    }
}

fn new_driver(config: &PortConfig) -> Box<dyn Driver> {
    match config.make {
        Make::Dgt => Box::new(Line::new(config)),
        Make::Certabo => Box::new(Certabo::new(config)),
        Make::Millennium => Box::new(Millennium::new(config)),
    }
}
