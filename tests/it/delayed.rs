//! The public listener itself behind the delay: whatever can be read there (pages' data, PGN, cloud JSON,
//! the stream) tells nothing younger than the delay, and times of day as if all happened later.

use std::sync::Arc;

use arbiterd::{
    hall::{Update, UpdateBody},
    publish::delay::Delay,
    record::Timestamp,
    serve::{Feed, feed::Audience},
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::{
    publish::{Step, steps, updates},
    support::{
        house::House,
        net::{Socket, get},
        script::BEGIN,
    },
};

/// All that can be asked for.
const PATHS: [&str; 7] = [
    "/api/v1/tables",
    "/round/1/games.pgn",
    "/round/current/games.pgn",
    "/round/1/game-1.pgn",
    "/get/open/tournament.json",
    "/get/open/round-1/index.json",
    "/get/open/round-1/game-1.json",
];

/// Every byte the public can get of these updates: all paths, the stream from its beginning, and a
/// snapshot.
async fn everything(updates: &[Update]) -> String {
    let house = House::open(|config| config.desk = None);
    let mut early = Socket::open(house.public(), "/ws").await;
    early.next_of("snapshot").await;
    house.public.push(updates);
    let mut out = String::new();
    for path in PATHS {
        let answer = get(house.public(), path).await;
        let head = format!("{path} {} {:?}\n", answer.status, answer.header("etag"));
        out += &[head.as_str(), &answer.body, "\n"].concat();
    }
    // A snapshot of some tables is made anew; that of all may be a tenth of a second old.
    let mut late = Socket::open(house.public(), "/ws?tables=1").await;
    for _ in 0..2 {
        out.push_str(&late.next().await.to_string());
    }
    let last = house.public.seq().0;
    let mut seq = 0;
    while seq < last {
        let message = early.next().await;
        seq = message["seq"].as_u64().expect("a number");
        out.push_str(&message.to_string());
    }
    house.serving.stop().await;
    out
}

/// What has left the delay by now.
fn released(updates: &[Update], now: i64) -> Vec<Update> {
    let known = updates.iter().take_while(|update| update.at.millis() <= now);
    let mut delay = Delay::new(0);
    for update in known {
        delay.push(std::slice::from_ref(update));
    }
    delay.pop(Timestamp::from_millis(now))
}

/// The same, moved in time.
fn moved(updates: &[Update], by: i64) -> Vec<Update> {
    let mut updates = updates.to_vec();
    for update in &mut updates {
        update.at = update.at.plus(by);
        match &mut update.body {
            UpdateBody::Clock(clock) => clock.at = clock.at.plus(by),
            UpdateBody::Ply { ply, .. } => {
                let ply = Arc::make_mut(ply);
                ply.made_at = ply.made_at.plus(by);
                ply.pressed_at = ply.pressed_at.map(|at| at.plus(by));
            }
            _ => {}
        }
    }
    updates
}

fn run<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) });
    if let Err(fault) = runner.run(strategy, test) {
        panic!("{fault}");
    }
}

/// When something that happened at `moment` may be seen at the earliest, by the orders given.
fn earliest(all: &[Update], moment: i64) -> i64 {
    let mut orders: Vec<(i64, i64)> = all
        .iter()
        .filter_map(|update| match &update.body {
            UpdateBody::Round(round) => Some((update.at.millis(), round["delay_seconds"].as_i64()? * 1000)),
            _ => None,
        })
        .collect();
    orders.push((i64::MAX, 0));
    orders
        .windows(2)
        .map(|pair| (pair[0].0.max(moment + pair[0].1), pair[1].0))
        // What is due in the millisecond of an order is due under the delay before it.
        .filter(|(from, until)| from <= until)
        .map(|(from, _)| from)
        .min()
        .unwrap_or(i64::MAX)
}

#[test]
fn no_byte_of_any_public_output_is_younger_than_the_delay() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    run(24, &(steps(), 0usize..40, 0.0f64..1.0), |(steps, twist, share)| {
        let (one, other) = (updates(&steps, usize::MAX), updates(&steps, twist));
        let Some((first, _)) = one.iter().zip(&other).find(|(a, b)| a.body != b.body) else { return Ok(()) };
        let limit = earliest(&one, first.at.millis());
        // Anywhere before the limit, and at its very edge.
        let before = BEGIN + ((limit - 1 - BEGIN) as f64 * share) as i64;
        for now in [before, limit - 1] {
            let (a, b) = (released(&one, now), released(&other, now));
            let (a, b) = runtime.block_on(async { (everything(&a).await, everything(&b).await) });
            prop_assert_eq!(a, b);
        }
        let end = BEGIN + 100_000_000;
        let (a, b) = (released(&one, end), released(&other, end));
        let (a, b) = runtime.block_on(async { (everything(&a).await, everything(&b).await) });
        prop_assert_ne!(a, b);
        Ok(())
    });
}

/// Under a delay that does not change, the public sees what it would see of a hall that began as much
/// later: every time of day, in the stream, the PGN and the cloud's files, moves along.
#[test]
fn a_delayed_hall_looks_like_one_that_began_later() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let steady = steps().prop_map(|steps| {
        let steps: Vec<_> = steps.into_iter().filter(|(_, step)| !matches!(step, Step::Delay(_))).collect();
        steps
    });
    run(16, &(steady, 0.0f64..1.2), |(steps, share)| {
        // Five seconds, by the script's first word.
        let all = updates(&steps, usize::MAX);
        let length = all.last().map_or(0, |update| update.at.millis()) - BEGIN;
        let now = BEGIN + 5000 + (length as f64 * share) as i64;
        let later: Vec<Update> = moved(&all, 5000)
            .into_iter()
            .filter(|update| update.at.millis() <= now && !update.desk_only())
            .collect();
        let shown = released(&all, now);
        prop_assert_eq!(&shown, &later);
        let (a, b) = runtime.block_on(async { (everything(&shown).await, everything(&later).await) });
        prop_assert_eq!(a, b);
        Ok(())
    });
}

/// The feed knows no other time than that of the updates it is given.
#[test]
fn nothing_that_waits_is_in_the_public_feed() {
    let mut script = crate::support::script::Script::new();
    let mut delay = Delay::new(0);
    let feed = Feed::new(Audience::Public);
    delay.push(&[script.round(1, 900), script.game(1, 1)]);
    script.pass(900_000);
    delay.push(&[script.moved(1, "e2e4")]);
    feed.push(&delay.pop(Timestamp::from_millis(script.now)));
    assert_eq!(feed.look(|view| view.tables.values().map(|table| table.game.plies.len()).sum::<usize>()), 0);
    script.pass(900_000);
    feed.push(&delay.pop(Timestamp::from_millis(script.now)));
    assert_eq!(feed.look(|view| view.tables.values().map(|table| table.game.plies.len()).sum::<usize>()), 1);
}
