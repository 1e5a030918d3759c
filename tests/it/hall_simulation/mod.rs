//! Whole halls in virtual time, from a seed: hands of every level, bad lines, boards exchanged,
//! restarts, people who correct and enter, right or wrong. After every input the things that must
//! always hold are looked at (`watch`).
//!
//! A seed that fails prints the line that plays it again. The short run is part of `cargo test`; a
//! long one: `ARBITERD_SEEDS=20000 cargo test --release --test it hall_simulation -- --nocapture`,
//! from `ARBITERD_SEED` on (one alone with `ARBITERD_SEEDS=1`).

mod board;
mod games;
mod people;
mod watch;
mod world;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use world::Tally;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn whole_halls_keep_their_promises_whatever_happens() {
    let first = number("ARBITERD_SEED").unwrap_or(1);
    let seeds = number("ARBITERD_SEEDS").unwrap_or(6);
    let next = AtomicU64::new(first);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(seeds as usize).max(1);
    let began = arbiterd::wall::uptime();
    let work = || {
        let (mut sum, mut failed) = (Tally::default(), Vec::new());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return (sum, failed);
            }
            if let Ok(tally) = catch_unwind(AssertUnwindSafe(|| world::run(seed))) {
                sum.add(tally);
            } else {
                eprintln!(
                    "again: ARBITERD_SEED={seed} ARBITERD_SEEDS=1 cargo test --test it hall_simulation"
                );
                failed.push(seed);
            }
        }
    };
    let (mut sum, mut failed) = (Tally::default(), Vec::new());
    thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in running {
            let (tally, seeds) = worker.join().expect("panics are caught inside");
            sum.add(tally);
            failed.extend(seeds);
        }
    });
    let minutes = arbiterd::wall::uptime().checked_sub(began).unwrap().as_secs_f64() / 60.0;
    eprintln!(
        "{seeds} halls: {} games ({:.0} a minute), {} plies, {} inputs, {} updates, {} restarts; \
         of {} games nobody interfered with {} were read exactly",
        sum.games,
        sum.games as f64 / minutes,
        sum.plies,
        sum.inputs,
        sum.updates,
        sum.restarts,
        sum.followed,
        sum.exact
    );
    failed.sort_unstable();
    assert!(failed.is_empty(), "{} of {seeds} seeds failed: {failed:?}", failed.len());
}
