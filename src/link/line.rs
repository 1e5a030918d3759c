//! A DGT line: finds out whether one board or a chain is on it, and speaks to it accordingly.
//!
//! A single-board command makes every board of a chain leave bus mode, so the question "who is
//! there" is asked on the bus first, where a lone board answers too: boards are in bus mode after
//! power-up. Two answers, or a collision of answers, are a chain.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::wire::dgt::{
    Dropped, Event,
    bus::{self, Address, Body, Request},
};

use super::{
    chain::Chain,
    config::{Mode, PortConfig},
    driver::{Ask, Driver, Io},
    single::Single,
};

/// What is on the line, as far as is known.
pub(super) struct Line {
    config: PortConfig,
    stage: Stage,
    /// A single board was here, and since then so many openings brought nobody.
    single_missed: Option<u32>,
}

/// A line that held a single board is asked anew what is on it after so many openings in vain.
const MISSED: u32 = 3;

enum Stage {
    /// Nobody knows yet.
    Asking(Asking),
    Single(Box<Single>),
    Chain(Box<Chain>),
}

/// Who answered a ping to all so far.
struct Asking {
    decoder: bus::Decoder,
    until: Duration,
    /// A board that had been in single mode swallowed the first ping.
    again_at: Option<Duration>,
    found: BTreeSet<Address>,
    /// Frames destroyed by others.
    collisions: bool,
    /// Anything that is no frame.
    noise: bool,
    rounds: u32,
}

impl Line {
    pub(super) fn new(config: &PortConfig) -> Self {
        let stage = match config.mode {
            Mode::Auto => Stage::Asking(Asking::new()),
            Mode::Single => Stage::Single(Box::new(Single::new(config))),
            Mode::Bus => Stage::Chain(Box::new(Chain::new(config))),
        };
        Self { config: config.clone(), stage, single_missed: None }
    }

    fn driver(&mut self) -> Option<&mut dyn Driver> {
        match &mut self.stage {
            Stage::Asking(_) => None,
            Stage::Single(single) => Some(single.as_mut()),
            Stage::Chain(chain) => Some(chain.as_mut()),
        }
    }

    /// A fault of the line may mean that it was taken for the wrong thing.
    fn doubt<T>(&mut self, result: Result<T, String>) -> Result<T, String> {
        if let (Err(_), Mode::Auto) = (&result, self.config.mode) {
            match &self.stage {
                Stage::Single(single) if single.chain_suspected() => {
                    self.stage = Stage::Chain(Box::new(Chain::new(&self.config)));
                }
                Stage::Single(single) if single.boards().is_empty() => match &mut self.single_missed {
                    Some(missed) if *missed < MISSED => *missed += 1,
                    _ => {
                        self.single_missed = None;
                        self.stage = Stage::Asking(Asking::new());
                    }
                },
                Stage::Single(_) => self.single_missed = Some(0),
                // What a board alone was still sending, asked for by a program that is gone, can look like answers
                // that collide.
                Stage::Chain(chain) if !chain.has_met_anybody() => self.stage = Stage::Asking(Asking::new()),
                _ => {}
            }
        }
        result
    }
}

impl Asking {
    fn new() -> Self {
        Self {
            decoder: bus::Decoder::new(),
            until: Duration::ZERO,
            again_at: None,
            found: BTreeSet::new(),
            collisions: false,
            noise: false,
            rounds: 0,
        }
    }
}

fn ping(io: &mut Io<'_>) {
    io.send.extend(bus::Command { request: Request::Ping, address: Address::ALL }.encode());
}

impl Driver for Line {
    fn opened(&mut self, io: &mut Io<'_>) {
        match &mut self.stage {
            Stage::Asking(asking) => {
                *asking = Asking::new();
                asking.until = io.now + self.config.timing.ping + Duration::from_millis(100);
                asking.again_at = Some(io.now + Duration::from_millis(100));
                ping(io);
            }
            Stage::Single(single) => {
                **single = Single::new(&self.config);
                single.opened(io);
            }
            Stage::Chain(chain) => chain.opened(io),
        }
    }

    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String> {
        let Stage::Asking(asking) = &mut self.stage else {
            let result = self.driver().map_or(Ok(()), |driver| driver.received(bytes, io));
            return self.doubt(result);
        };
        for &byte in bytes {
            match asking.decoder.push(byte) {
                Some(Event::Message(bus::Reply { address, body: Body::Ping })) => {
                    asking.found.insert(address);
                }
                Some(Event::Dropped(Dropped::Checksum(_))) => asking.collisions = true,
                Some(Event::Dropped(_)) => asking.noise = true,
                _ => {}
            }
        }
        Ok(())
    }

    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String> {
        let Stage::Asking(asking) = &mut self.stage else {
            let result = self.driver().map_or(Ok(()), |driver| driver.tick(io));
            return self.doubt(result);
        };
        if asking.again_at.is_some_and(|at| io.now >= at) {
            asking.again_at = None;
            ping(io);
        }
        let over = io.now >= asking.until;
        if over && asking.decoder.give_up().is_some() {
            asking.noise = true;
        }
        let chain =
            asking.found.len() > 1 || asking.collisions || (over && asking.noise && !asking.found.is_empty());
        if chain {
            let mut chain = Chain::new(&self.config);
            chain.expect(&asking.found);
            self.stage = Stage::Chain(Box::new(chain));
            self.opened(io);
        } else if over && asking.noise && asking.rounds < 3 {
            // Answers may have destroyed each other beyond recognition.
            asking.noise = false;
            asking.rounds += 1;
            asking.until = io.now + self.config.timing.ping;
            ping(io);
        } else if over {
            self.stage = Stage::Single(Box::new(Single::new(&self.config)));
            self.opened(io);
        }
        Ok(())
    }

    fn ask(&mut self, serial: Option<&str>, ask: Ask, io: &mut Io<'_>) {
        if let Some(driver) = self.driver() {
            driver.ask(serial, ask, io);
        }
    }

    fn boards(&self) -> Vec<Arc<str>> {
        match &self.stage {
            Stage::Asking(_) => Vec::new(),
            Stage::Single(single) => single.boards(),
            Stage::Chain(chain) => chain.boards(),
        }
    }

    fn patience(&self) -> Duration {
        match &self.stage {
            Stage::Asking(_) => Duration::from_millis(50),
            Stage::Single(single) => single.patience(),
            Stage::Chain(chain) => chain.patience(),
        }
    }
}
