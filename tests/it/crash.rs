//! SIGKILL at random moments of a round, with groups being written: nothing shown is lost, nothing
//! is invented, the numbers go on.
//!
//! `ARBITERD_KILLS=200 cargo test --test it -- --ignored crash` for the long run.

use std::{collections::BTreeMap, net::TcpStream, time::Duration};

use serde_json::Value;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::{
    end_to_end::{boards, config},
    support::daemon::{Daemon, moves},
};

/// What a client of the desk's stream was shown: the plies of each table as they stood, and the
/// last number.
#[derive(Default)]
struct Shown {
    seq: u64,
    plies: BTreeMap<u64, Vec<Value>>,
}

impl Shown {
    fn take(&mut self, message: &Value) {
        if let Some(seq) = message["seq"].as_u64() {
            assert!(seq >= self.seq, "numbers never go back: {message}");
            self.seq = seq;
        }
        let table = message["table"].as_u64().unwrap_or(0);
        match message["type"].as_str() {
            Some("snapshot") => {
                for table in message["tables"].as_array().into_iter().flatten() {
                    let plies = table["plies"].as_array().cloned().unwrap_or_default();
                    self.plies.insert(table["table"].as_u64().unwrap_or(0), plies);
                }
            }
            Some("ply") => {
                let plies = self.plies.entry(table).or_default();
                let n = message["ply"]["n"].as_u64().expect("a number") as usize;
                assert!(n <= plies.len() + 1, "a ply was left out before {message}");
                if !message["ply"]["replaces"].is_null() {
                    plies.truncate(n - 1);
                }
                match plies.get_mut(n - 1) {
                    Some(ply) => *ply = message["ply"].clone(),
                    None => plies.push(message["ply"].clone()),
                }
            }
            Some("undo") => {
                let from = message["from"].as_u64().expect("a number") as usize;
                self.plies.entry(table).or_default().truncate(from - 1);
            }
            _ => {}
        }
    }

    /// Reads a stream until it ends or so long has passed.
    fn read(&mut self, address: &str, how_long: Duration) {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a time-out");
        let (mut client, _) = tungstenite::client(format!("ws://{address}/ws"), stream).expect("a stream");
        let until = arbiterd::wall::uptime() + how_long;
        while arbiterd::wall::uptime() < until {
            match client.read() {
                Ok(Message::Text(text)) => self.take(&serde_json::from_str(&text).expect("JSON")),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error))
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                    ) => {}
                Err(error) => panic!("the stream ended: {error}"),
            }
        }
    }
}

#[test]
#[ignore = "long; .ci/run runs it with a few kills"]
fn killed_at_random_moments_nothing_shown_is_lost_and_the_numbers_go_on() {
    let kills = std::env::var("ARBITERD_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(15);
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, games, serials) = boards(folder.path(), 4, 3.0);
    let config = config(folder.path(), &hall, &serials);
    let mut random = fastrand::Rng::with_seed(20);
    let mut shown = Shown::default();
    for kill in 0..kills {
        let daemon = Daemon::run(&config);
        let tables = daemon.tables();
        for (table, plies) in &shown.plies {
            let now = tables.iter().find(|other| other["table"].as_u64() == Some(*table)).expect("the table");
            let now = now["plies"].as_array().expect("plies");
            for ply in plies.iter().filter(|ply| ply["state"] == "confirmed") {
                let n = ply["n"].as_u64().expect("a number") as usize;
                let again =
                    now.get(n - 1).unwrap_or_else(|| panic!("kill {kill}: ply {n} of table {table} is lost"));
                assert_eq!(
                    (&again["uci"], &again["state"]),
                    (&ply["uci"], &ply["state"]),
                    "kill {kill}, table {table}"
                );
            }
        }
        shown.read(&daemon.desk, Duration::from_millis(random.u64(20..1200)));
        daemon.kill();
    }
    let daemon = Daemon::run(&config);
    let tables = daemon.until("all games to end", |tables| {
        tables.iter().zip(&games).all(|(table, game)| moves(table).len() == game.moves.len())
    });
    for (table, game) in tables.iter().zip(&games) {
        assert_eq!(moves(table), game.uci(), "table {}", table["table"]);
    }
    hall.stop();
}
