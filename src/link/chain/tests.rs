//! The chain's driver on a simulated, damaged line in virtual time.

use super::*;
use crate::{
    link::{health::LineHealth, registry::Registry},
    record::Timestamp,
    sim::{
        self, BoardConfig, DeviceSetup, Firmware, HandOptions, Level, Line as _, Pace, Script, famous_games,
        hand,
    },
    wire::{Observation, Squares},
};

/// The driver on a simulated chain in virtual time, a thousandth of all bytes damaged both ways.
struct Hall {
    driver: Chain,
    chain: sim::Chain,
    health: LineHealth,
    registry: Registry,
    rng: fastrand::Rng,
    now: u64,
    per_million: u32,
    told: Vec<(u64, Arc<str>, Observation)>,
}

impl Hall {
    fn new(seed: u64, boards: usize, per_million: u32) -> (Self, u64) {
        let games = famous_games();
        let mut firmware = Vec::new();
        let mut scripts: Vec<Script> = Vec::new();
        for index in 0..boards {
            let game = &games[index % games.len()];
            let options = HandOptions {
                pace: Pace::Mean(3_000),
                reset_after_last: false,
                wait_ms: 20_000,
                ..HandOptions::new(Level::Human, seed * 100 + index as u64)
            };
            let script = hand::script(std::slice::from_ref(game), &options);
            let setup = DeviceSetup {
                clock: Some(game.control.clone()),
                board: script.board.clone(),
                seed: seed * 100 + index as u64,
                ..DeviceSetup::default()
            };
            firmware.push(Firmware::new(BoardConfig {
                serial: 1025 + index as u32,
                setup,
                ..BoardConfig::default()
            }));
            scripts.push(script);
        }
        let end = scripts.iter().map(|script| script.end_ms).max().unwrap_or(0);
        let mut chain = sim::Chain::new(firmware);
        for (board, script) in scripts.into_iter().enumerate() {
            for (at, action) in script.actions {
                chain.act(board, at, action);
            }
        }
        let config = PortConfig::new("/dev/none").mode(crate::link::Mode::Bus);
        let mut hall = Self {
            driver: Chain::new(&config),
            chain,
            health: LineHealth::default(),
            registry: Registry::default(),
            rng: fastrand::Rng::with_seed(seed),
            now: 0,
            per_million,
            told: Vec::new(),
        };
        hall.step(|driver, io| {
            driver.opened(io);
            Ok(())
        });
        (hall, end)
    }

    fn step(&mut self, act: impl FnOnce(&mut Chain, &mut Io<'_>) -> Result<(), String>) {
        let mut io = Io {
            now: Duration::from_millis(self.now),
            at: Timestamp::from_millis(self.now as i64),
            send: Vec::new(),
            tell: Vec::new(),
            health: &mut self.health,
            registry: &self.registry,
        };
        act(&mut self.driver, &mut io).expect("the line goes on");
        let (mut send, tell) = (io.send, io.tell);
        self.damage(&mut send);
        self.chain.receive(self.now, &send);
        for (serial, observation) in tell {
            self.told.push((self.now, serial.expect("a board"), observation));
        }
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let (rng, per_million) = (&mut self.rng, self.per_million);
        bytes.retain_mut(|byte| {
            if rng.u32(0..1_000_000) >= per_million {
                return true;
            }
            let flip = rng.bool();
            if flip {
                *byte ^= 1 << rng.u32(0..8);
            }
            flip
        });
    }

    fn until(&mut self, end: u64) {
        while self.now < end {
            self.now += 5;
            let mut out = Vec::new();
            self.chain.advance(self.now, &mut out);
            let mut bytes: Vec<u8> = out.into_iter().flat_map(|(_, bytes)| bytes).collect();
            self.damage(&mut bytes);
            self.step(|driver, io| {
                if !bytes.is_empty() {
                    driver.received(&bytes, io)?;
                }
                driver.tick(io)
            });
        }
    }
}

/// Whatever is damaged, the changes arrive once each and in order: no dump ever has to tell more.
#[test]
fn ten_boards_lose_nothing_on_a_damaged_line() {
    let mut losses = Vec::new();
    for seed in 1..5 {
        let (mut hall, end) = Hall::new(seed, 10, 1000);
        hall.until(end.min(200_000));
        let mut shown: BTreeMap<Arc<str>, Squares> = BTreeMap::new();
        let mut recovered = BTreeSet::new();
        for (at, serial, observation) in &hall.told {
            match observation {
                Observation::Square(square, content) => {
                    shown.entry(Arc::clone(serial)).or_default().set(*square, *content);
                }
                // Three damaged answers in a row: the log tells what they said.
                Observation::Recovered(_) => drop(recovered.insert(Arc::clone(serial))),
                Observation::Dump(squares) => {
                    let before = shown.insert(Arc::clone(serial), *squares);
                    if !recovered.remove(serial) && before.is_some_and(|before| before != *squares) {
                        losses.push((seed, *at, serial.to_string()));
                    }
                }
                _ => {}
            }
        }
        assert!(hall.health.checksum_failures > 20, "{}", hall.health.checksum_failures);
    }
    assert!(losses.is_empty(), "{losses:?}");
}
