//! The fast path: games played by hands on a board, straight to observations, with no bytes and in
//! no time at all. For decoding benches and tests.
//!
//! What a driver would do is done here, too: a first dump and clock reading when the board comes
//! up, a dump after each press it hears of, and one on a timer. At the rough level one field update
//! in a hundred does not arrive; dumps do.

use super::{Control, Device, DeviceSetup, HandOptions, Level, Noticed, Pace, Script, SimGame, hand};
use crate::wire::{ClockState, Observation};

/// What to play and how the board is read.
#[derive(Clone, Debug)]
pub struct VirtualOptions {
    /// Hands.
    pub hand: HandOptions,
    /// White sits at the connector's right hand.
    pub rotated: bool,
    /// A clock is connected.
    pub clock: bool,
    /// The clock faces the wrong way.
    pub clock_turned: bool,
    /// A dump at least this often, in milliseconds.
    pub dump_every_ms: u64,
    /// Clock readings that only say that a second passed are left out, but for one every 30 s.
    pub clock_news_only: bool,
}

impl VirtualOptions {
    /// This level on an ordinary board with a clock.
    #[must_use]
    pub fn new(level: Level, seed: u64) -> Self {
        Self {
            hand: HandOptions::new(level, seed),
            rotated: false,
            clock: true,
            clock_turned: false,
            dump_every_ms: 30_000,
            clock_news_only: true,
        }
    }
}

/// One game on an ordinary board: what a driver reports, with its milliseconds.
///
/// The game's own time control is used only by [`play_all`] with [`Pace::Clocks`]; here nobody
/// loses on time.
#[must_use]
pub fn play_virtual(game: &SimGame, level: Level, seed: u64) -> Vec<(i64, Observation)> {
    play_all(std::slice::from_ref(game), &VirtualOptions::new(level, seed)).0
}

/// Games one after the other on one board: what a driver reports, and the truth about it.
#[must_use]
pub fn play_all(games: &[SimGame], options: &VirtualOptions) -> (Vec<(i64, Observation)>, Script) {
    let script = if matches!(options.hand.pace, Pace::Clocks(_)) {
        hand::script(games, &options.hand)
    } else {
        let slow: Vec<SimGame> =
            games.iter().map(|game| SimGame { control: Control::default(), ..game.clone() }).collect();
        hand::script(&slow, &options.hand)
    };
    let observations = observe(&script, options);
    (observations, script)
}

/// What a driver reports of a script played on a board.
#[must_use]
pub fn observe(script: &Script, options: &VirtualOptions) -> Vec<(i64, Observation)> {
    let mut rng = fastrand::Rng::with_seed(options.hand.seed ^ 0x5e45);
    let lost = options.hand.level.lost_permille();
    let mut device = Device::new(&DeviceSetup {
        rotated: options.rotated,
        clock: options.clock.then(Control::default),
        clock_turned: options.clock_turned,
        half_rate: false,
        board: script.board.clone(),
        seed: options.hand.seed,
    });
    for (at, action) in &script.actions {
        device.act(*at, action.clone());
    }
    let clock = device.clock().map_or(ClockState::Absent, ClockState::Reading);
    let mut out = vec![(0, Observation::Dump(*device.squares())), (1, Observation::Clock(clock))];
    let until = script.end_ms + 5_000;
    let mut next_dump = options.dump_every_ms;
    let mut asked: Option<u64> = None;
    let mut last_clock: Option<(u64, crate::wire::ClockReading)> = None;
    loop {
        // A dump takes a command, and 70 ms on the line; it tells the board as of its sending.
        let dump_at = asked.unwrap_or(u64::MAX).min(next_dump);
        let next = device.step(until.min(dump_at));
        let Some((at, noticed)) = next else {
            if dump_at > until {
                out.push((until as i64, Observation::Dump(*device.squares())));
                break;
            }
            out.push((dump_at as i64 + 72, Observation::Dump(*device.squares())));
            asked = None;
            next_dump = dump_at + options.dump_every_ms;
            continue;
        };
        match noticed {
            Noticed::Square(square, content) => {
                if rng.u32(0..1000) >= lost {
                    out.push((at as i64 + 6, Observation::Square(square, content)));
                }
            }
            Noticed::Clock(reading, lever) => {
                if lever {
                    asked = Some(at + 15);
                }
                let news = !options.clock_news_only
                    || last_clock.is_none_or(|(then, last)| {
                        lever
                            || at - then >= 30_000
                            || last.running != reading.running
                            || last.left.flag != reading.left.flag
                            || last.right.flag != reading.right.flag
                            || jumped(&last, &reading, at - then)
                    });
                if news {
                    last_clock = Some((at, reading));
                    out.push((at as i64 + 10, Observation::Clock(ClockState::Reading(reading))));
                }
            }
        }
    }
    // Updates noticed while a dump was on the line come behind it, as on the line.
    let mut latest = 0;
    for (at, _) in &mut out {
        latest = latest.max(*at);
        *at = latest;
    }
    out
}

/// The times are not what a running clock makes of the last ones.
fn jumped(last: &crate::wire::ClockReading, now: &crate::wire::ClockReading, passed_ms: u64) -> bool {
    let passed = if last.running { passed_ms as f64 / 1000.0 } else { 0.0 };
    let expected = |side: u32, runs: bool| f64::from(side) - if runs { passed } else { 0.0 };
    (expected(last.left.seconds, last.left_to_move) - f64::from(now.left.seconds)).abs() > 2.5
        || (expected(last.right.seconds, !last.left_to_move) - f64::from(now.right.seconds)).abs() > 2.5
}
