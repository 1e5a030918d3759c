//! A round of 64 boards at the speed of blitz, and many viewers: quick and slow ones, such as come
//! again, such as want some tables only. Nobody misses an update, and in the end all have what the
//! hall has. `ARBITERD_VIEWERS` says how many viewers there are.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use arbiterd::{
    hall::{Update, UpdateBody},
    record::{GameResult, PlyState},
};
use serde_json::Value;
use tokio::sync::{Notify, watch};

use crate::support::{
    follower::Follower,
    house::House,
    net::{Socket, get},
    script::Script,
};

const BOARDS: u32 = 64;

/// How a viewer behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// Reads whatever comes.
    Quick,
    /// Reads in fits.
    Slow,
    /// Reads nothing until the round is over.
    Asleep,
    /// Goes and comes again.
    Restless,
    /// Wants some tables only.
    Choosy,
    /// Comes late.
    Late,
}

const HABITS: [Habit; 8] = [
    Habit::Quick,
    Habit::Slow,
    Habit::Quick,
    Habit::Restless,
    Habit::Quick,
    Habit::Choosy,
    Habit::Asleep,
    Habit::Late,
];

/// Something happens at a board.
pub(crate) fn happens(script: &mut Script, random: &mut fastrand::Rng, table: u32, out: &mut Vec<Update>) {
    let position = script.position(table).clone();
    let moves = position.legal_moves();
    let Some(m) = random.choice(&moves).copied() else {
        let result = script.result(table, GameResult::Draw);
        out.push(result);
        out.push(script.game(1, table));
        return;
    };
    let uci = position.uci(m).to_string();
    match random.u8(0..20) {
        0 => {
            // Seen too early, and put right.
            let other = random.choice(&moves).copied().unwrap_or(m);
            let other = position.uci(other).to_string();
            let index = script.plies(table);
            let (_, wrong) = script.make(&position, &other, PlyState::Provisional, index);
            let (_, right) = script.make(&position, &uci, PlyState::Confirmed, index);
            let ply = |ply, replaces| UpdateBody::Ply { index, ply: Arc::new(ply), replaces };
            out.push(script.update(Some(table), ply(wrong, false)));
            out.push(script.update(Some(table), ply(right, true)));
            script.undone(table, index + 1, position.play(m));
        }
        1 => {
            let index = script.plies(table);
            let (_, slip) = script.make(&position, &uci, PlyState::Provisional, index);
            out.push(
                script.update(Some(table), UpdateBody::Ply { index, ply: Arc::new(slip), replaces: false }),
            );
            out.push(script.update(Some(table), UpdateBody::Undo { from: index }));
        }
        2 => {
            let result = script.result(table, GameResult::WhiteWins);
            out.push(result);
            out.push(script.update(Some(table), UpdateBody::Result(None)));
        }
        _ => {
            out.push(script.moved(table, &uci));
            let left = random.u32(1..180);
            out.push(script.clock(table, left, 180, Some(shakmaty::Color::White)));
        }
    }
}

struct Viewer {
    habit: Habit,
    address: SocketAddr,
    random: fastrand::Rng,
    /// The last number, once the round is over.
    over: watch::Receiver<u64>,
    here: Arc<Notify>,
}

impl Viewer {
    async fn follow(mut self) -> Follower {
        let only = (self.habit == Habit::Choosy).then(|| {
            let first = self.random.u64(1..60);
            vec![first, first + 2, first + 3]
        });
        let mut follower = Follower::of(only);
        if self.habit == Habit::Late {
            self.here.notify_one();
            tokio::time::sleep(Duration::from_millis(self.random.u64(20..300))).await;
        }
        let mut socket = follower.open(self.address).await;
        socket.first(&mut follower).await;
        if self.habit != Habit::Late {
            self.here.notify_one();
        }
        if self.habit == Habit::Asleep {
            self.over.wait_for(|last| *last > 0).await.expect("the round ends");
        }
        let mut until_leave = self.random.u32(1..300);
        loop {
            let last = *self.over.borrow();
            if last > 0 && follower.seq >= last {
                return follower;
            }
            let message = socket.next().await;
            follower.take(&message);
            match self.habit {
                Habit::Slow if self.random.u8(0..200) == 0 => {
                    tokio::time::sleep(Duration::from_millis(self.random.u64(1..60))).await;
                }
                Habit::Restless => {
                    until_leave -= 1;
                    if until_leave == 0 {
                        until_leave = self.random.u32(1..300);
                        drop(socket);
                        socket = follower.open(self.address).await;
                    }
                }
                _ => {}
            }
        }
    }
}

impl Socket {
    /// Reads until there is something to go on from.
    async fn first(&mut self, follower: &mut Follower) {
        while follower.snapshots == 0 {
            let message = self.next().await;
            follower.take(&message);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_misses_an_update_and_all_end_with_what_the_hall_has() {
    let viewers: usize =
        std::env::var("ARBITERD_VIEWERS").map_or(120, |count| count.parse().expect("a number"));
    let house = House::open(|_| {});
    let mut script = Script::new();
    let mut random = fastrand::Rng::with_seed(64);
    house.push(&[script.round(1, 0)]);
    for table in 1..=BOARDS {
        house.push(&[script.game(1, table)]);
    }
    let (over_sender, over) = watch::channel(0);
    let here = Arc::new(Notify::new());
    let mut tasks = Vec::new();
    for number in 0..viewers {
        let viewer = Viewer {
            habit: HABITS[number % HABITS.len()],
            address: house.public(),
            random: fastrand::Rng::with_seed(number as u64),
            over: over.clone(),
            here: here.clone(),
        };
        let habit = viewer.habit;
        tasks.push((habit, tokio::spawn(viewer.follow())));
        here.notified().await;
    }
    for _ in 0..400 {
        script.pass(15);
        let mut updates = Vec::new();
        for _ in 0..random.u32(1..4) {
            let table = random.u32(1..=BOARDS);
            happens(&mut script, &mut random, table, &mut updates);
        }
        house.push(&updates);
        if random.u8(0..40) == 0 {
            house.public.heartbeat();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let last = house.public.seq().0;
    over_sender.send(last).expect("viewers");
    // Tells those who want some tables only that the numbers went on.
    house.public.heartbeat();
    let hall = get(house.public(), "/api/v1/tables").await.json();
    let hall: Vec<&Value> = hall.as_array().expect("tables").iter().collect();
    assert_eq!(hall.len(), BOARDS as usize);
    let mut updates = 0;
    for (habit, task) in tasks {
        let follower = task.await.expect("no viewer finds a gap");
        let has: Vec<&Value> = follower.tables.values().collect();
        let wants = |table: &&&Value| {
            let number = table["table"].as_u64().expect("a number");
            follower.only.as_ref().is_none_or(|only| only.contains(&number))
        };
        let expected: Vec<&Value> = hall.iter().filter(wants).copied().collect();
        assert_eq!(has, expected, "{habit:?}");
        if habit == Habit::Quick {
            assert_eq!(follower.snapshots, 1, "one who reads gets every update, never a second snapshot");
            assert_eq!(follower.updates as u64, last - 1 - u64::from(BOARDS));
        }
        updates += follower.updates;
    }
    eprintln!("{viewers} viewers, {last} updates, {updates} delivered");
}
