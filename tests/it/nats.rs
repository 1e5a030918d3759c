//! Several halls, one broadcast, through Debian's `nats-server`: the server goes away and comes back, a
//! hall starts again, the relay starts again; no viewer misses anything or is told anything twice.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use arbiterd::{
    daemon::{Relay, RelaySettings},
    hall::Update,
    publish::nats::{Nats, NatsConfig},
    serve::{Feed, config::ListenConfig, feed::Audience},
    wall,
};
use serde_json::{Value, json};

use crate::{
    crowd::happens,
    support::{
        daemon::PATIENCE,
        follower::Follower,
        net::{Socket, get},
        script::Script,
    },
};

const TABLES: u32 = 4;
/// What the second hall adds to its tables' numbers.
const OFFSET: u32 = 100;

struct Server {
    program: &'static str,
    port: u16,
    folder: tempfile::TempDir,
    child: Option<Child>,
}

impl Server {
    /// `None`, saying so, where it is not installed.
    fn start() -> Option<Self> {
        let places = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
        let Some(program) = places.into_iter().find(|path| Path::new(path).exists()) else {
            eprintln!("skipped: nats-server is not installed");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = Self { program, port, folder, child: None };
        drop(free);
        server.run();
        Some(server)
    }

    fn run(&mut self) {
        let child = Command::new(self.program)
            .args(["-js", "-a", "127.0.0.1", "-p", &self.port.to_string(), "-sd"])
            .arg(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.child = Some(child.expect("it starts"));
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it was running");
            child.wait().expect("it has ended");
        }
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A hall without boards: what it publishes, and what its own public would be shown.
struct Hall {
    config: NatsConfig,
    nats: Nats,
    script: Script,
    random: fastrand::Rng,
    /// Everything from its journal's first input on.
    all: Vec<Update>,
    feed: Arc<Feed>,
}

impl Hall {
    fn open(server: &Server, name: &str, offset: u32) -> Self {
        let config =
            NatsConfig { url: server.url(), event: "open".to_owned(), hall: name.to_owned(), offset };
        let mut hall = Self {
            nats: Nats::start(config.clone()).expect("a thread"),
            config,
            script: Script::new(),
            random: fastrand::Rng::with_seed(u64::from(offset)),
            all: Vec::new(),
            feed: Feed::new(Audience::Public),
        };
        let mut first = vec![hall.script.round(1, 0)];
        first.extend((1..=TABLES).map(|table| hall.script.game(1, table)));
        // What only the desk may see is neither published nor counted.
        first.push(hall.script.sensed(1));
        hall.publish(first);
        hall
    }

    fn publish(&mut self, updates: Vec<Update>) {
        self.nats.push(&updates);
        self.feed.push(&updates);
        self.all.extend(updates);
    }

    fn play(&mut self, times: usize) {
        for _ in 0..times {
            let mut updates = Vec::new();
            let table = self.random.u32(1..=TABLES);
            happens(&mut self.script, &mut self.random, table, &mut updates);
            self.publish(updates);
        }
    }

    /// Ends, and starts again from its journal.
    fn restart(&mut self) {
        self.nats.finish();
        self.nats = Nats::start(self.config.clone()).expect("a thread");
        for some in self.all.chunks(50) {
            self.nats.push(some);
        }
    }

    fn tables(&self) -> Vec<Value> {
        let view = self.feed.look(|view| view.tables_json(None));
        let tables = view.as_array().expect("tables").iter();
        tables
            .map(|table| {
                let mut table = table.clone();
                let number = table["table"].as_u64().expect("a number") + u64::from(self.config.offset);
                table["table"] = json!(number);
                table
            })
            .collect()
    }
}

fn relay(server: &Server) -> Relay {
    let public = ListenConfig { any_origin: true, ..ListenConfig::loopback(0) };
    Relay::start(RelaySettings { url: server.url(), event: "open".to_owned(), public }).expect("a free port")
}

/// Waits until the relay shows what the halls have; answers the stream's number.
async fn until_same(relay: &Relay, halls: &[Hall]) -> u64 {
    let address = relay.public().expect("a public listener");
    let give_up = wall::uptime() + PATIENCE;
    let expected: Vec<Value> = halls.iter().flat_map(Hall::tables).collect();
    loop {
        let shown = get(address, "/api/v1/tables").await.json();
        if shown == json!(expected) {
            return Socket::open(address, "/ws").await.next().await["seq"].as_u64().expect("a number");
        }
        if wall::uptime() > give_up {
            let waits: Vec<Value> = halls.iter().map(|hall| hall.nats.status()).collect();
            panic!("the relay never had what the halls have; {waits:?}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server; .ci/run installs it"]
async fn a_server_that_was_away_and_halls_that_start_again_lose_and_repeat_nothing() {
    let Some(mut server) = Server::start() else { return };
    let mut halls = [Hall::open(&server, "north", 0), Hall::open(&server, "south", OFFSET)];
    let first = relay(&server);
    let address = first.public().expect("a public listener");
    until_same(&first, &halls).await;
    // A viewer that stays to the end; it fails on any gap and anything told twice.
    let (over, mut last) = tokio::sync::watch::channel(0);
    let viewer = tokio::spawn(async move {
        let mut follower = Follower::default();
        let mut socket = follower.open(address).await;
        loop {
            tokio::select! {
                message = socket.next() => follower.take(&message),
                _ = last.changed() => {}
            }
            if *last.borrow() > 0 && follower.seq >= *last.borrow() {
                return follower;
            }
        }
    });
    halls.iter_mut().for_each(|hall| hall.play(100));
    until_same(&first, &halls).await;
    server.kill();
    for _ in 0..20 {
        halls.iter_mut().for_each(|hall| hall.play(15));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // Away while the server is away, and back before it: from its journal.
    halls[0].restart();
    server.run();
    halls.iter_mut().for_each(|hall| hall.play(30));
    until_same(&first, &halls).await;
    halls[1].restart();
    halls.iter_mut().for_each(|hall| hall.play(30));
    let seq = until_same(&first, &halls).await;
    let counted: u64 = halls.iter().map(|hall| hall.feed.seq().0).sum();
    assert_eq!(seq, counted, "each update once");
    over.send(seq).expect("the viewer is there");
    let follower = viewer.await.expect("no gap, nothing twice");
    assert_eq!(follower.snapshots, 1);
    let expected: Vec<Value> = halls.iter().flat_map(Hall::tables).collect();
    assert_eq!(follower.tables.into_values().collect::<Vec<_>>(), expected);
    assert!(get(address, "/round/1/game-101.pgn").await.body.contains("[GameId \"open-r1-b1\"]"));
    // Another relay, or the same one started again, counts alike: viewers resume there.
    let second = relay(&server);
    assert_eq!(until_same(&second, &halls).await, seq);
    let published: usize = halls.iter().map(|hall| hall.all.len()).sum();
    eprintln!("{published} updates of 2 halls, {seq} public, one outage, two restarts");
    first.stop().await;
    second.stop().await;
}
