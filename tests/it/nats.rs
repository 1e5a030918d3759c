//! Several halls, one broadcast, through Debian's `nats-server`: the server goes away and comes back, a
//! hall starts again, the relay starts again; no viewer misses anything or is told anything twice.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
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

/// The line between a hall and the server.
struct Line {
    port: u16,
    up: Arc<AtomicBool>,
    /// Bytes wait while it is down, instead of being refused.
    silent: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let line =
            Self { port, up: Arc::new(AtomicBool::new(true)), silent: Arc::default(), open: Arc::default() };
        let (up, silent, open, target) =
            (line.up.clone(), line.silent.clone(), line.open.clone(), server.port);
        thread::spawn(move || {
            for near in listener.incoming() {
                let Ok(near) = near else { return };
                if !up.load(Ordering::Relaxed) && !silent.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
                    let up = up.clone();
                    thread::spawn(move || carry(from, to, &up));
                }
                open.lock().expect("no panic").extend([near, far]);
            }
        });
        line
    }

    /// It breaks: nothing gets through, nobody is let in.
    fn cut(&self) {
        self.up.store(false, Ordering::Relaxed);
        for socket in self.open.lock().expect("no panic").drain(..) {
            let _gone_already = socket.shutdown(Shutdown::Both);
        }
    }

    /// Nothing gets through, and nobody is told.
    fn hush(&self) {
        self.silent.store(true, Ordering::Relaxed);
        self.up.store(false, Ordering::Relaxed);
    }

    fn mend(&self) {
        self.up.store(true, Ordering::Relaxed);
        self.silent.store(false, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, up: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while !up.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _gone_already = to.shutdown(Shutdown::Both);
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
    fn open(url: String, name: &str, offset: u32) -> Self {
        let config = NatsConfig { url, event: "open".to_owned(), hall: name.to_owned(), offset };
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
        self.nats.push(&updates, true);
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
            self.nats.push(some, false);
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
    until_shown(relay, halls, |_| true).await
}

/// The same for one of the halls.
async fn until_same_of(relay: &Relay, halls: &[Hall], index: usize) -> u64 {
    let of_it = |table: &Value| (table["table"].as_u64() > Some(u64::from(OFFSET))) == (index == 1);
    until_shown(relay, halls, of_it).await
}

async fn until_shown(relay: &Relay, halls: &[Hall], of_interest: impl Fn(&Value) -> bool) -> u64 {
    let address = relay.public().expect("a public listener");
    let give_up = wall::uptime() + PATIENCE;
    let expected: Vec<Value> = halls.iter().flat_map(Hall::tables).filter(&of_interest).collect();
    loop {
        let shown = get(address, "/api/v1/tables").await.json();
        let shown: Vec<Value> =
            shown.as_array().into_iter().flatten().filter(|table| of_interest(table)).cloned().collect();
        if shown == expected {
            return Socket::open(address, "/ws").await.next().await["seq"].as_u64().expect("a number");
        }
        if wall::uptime() > give_up {
            let waits: Vec<Value> = halls.iter().map(|hall| hall.nats.status()).collect();
            let differs = shown.iter().zip(&expected).find_map(|(shown, expected)| {
                let plies = |table: &Value| table["plies"].as_array().cloned().unwrap_or_default();
                let (theirs, ours) = (plies(shown), plies(expected));
                if let Some((shown, expected)) = theirs.iter().zip(&ours).find(|(a, b)| a != b) {
                    return Some(format!("{shown}, not {expected}"));
                }
                let fields = expected.as_object()?.iter();
                let (name, value) =
                    fields.filter(|(name, _)| *name != "plies").find(|(n, v)| shown[*n] != **v)?;
                Some(format!("table {}: {name} is {}, not {value}", expected["table"], shown[name]))
            });
            panic!("the relay never had what the halls have: {} tables, {differs:?}; {waits:?}", shown.len());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A viewer that stays to the end; it fails on any gap and anything told twice.
struct Viewer {
    over: tokio::sync::watch::Sender<u64>,
    task: tokio::task::JoinHandle<Follower>,
}

impl Viewer {
    fn of(relay: &Relay) -> Self {
        let address = relay.public().expect("a public listener");
        let (over, mut last) = tokio::sync::watch::channel(0);
        let task = tokio::spawn(async move {
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
        Self { over, task }
    }

    /// The last number is this one: the viewer has seen one snapshot, and ends with what the halls have.
    async fn ends(self, seq: u64, halls: &[Hall]) {
        self.over.send(seq).expect("the viewer is there");
        let follower = self.task.await.expect("no gap, nothing twice");
        assert_eq!(follower.snapshots, 1);
        let expected: Vec<Value> = halls.iter().flat_map(Hall::tables).collect();
        assert!(follower.tables.into_values().eq(expected), "the viewer has what the halls have");
    }
}

fn counted(halls: &[Hall]) -> u64 {
    halls.iter().map(|hall| hall.feed.seq().0).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server; .ci/run installs it"]
async fn a_server_that_was_away_and_halls_that_start_again_lose_and_repeat_nothing() {
    let Some(mut server) = Server::start() else { return };
    let mut halls = [Hall::open(server.url(), "north", 0), Hall::open(server.url(), "south", OFFSET)];
    let first = relay(&server);
    let address = first.public().expect("a public listener");
    until_same(&first, &halls).await;
    let viewer = Viewer::of(&first);
    for hall in &mut halls {
        hall.play(100);
    }
    until_same(&first, &halls).await;
    server.kill();
    for _ in 0..20 {
        for hall in &mut halls {
            hall.play(15);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Away while the server is away, and back before it: from its journal.
    halls[0].restart();
    server.run();
    for hall in &mut halls {
        hall.play(30);
    }
    until_same(&first, &halls).await;
    halls[1].restart();
    for hall in &mut halls {
        hall.play(30);
    }
    let seq = until_same(&first, &halls).await;
    assert_eq!(seq, counted(&halls), "each update once");
    viewer.ends(seq, &halls).await;
    assert!(get(address, "/round/1/game-101.pgn").await.body.contains("[GameId \"open-r1-b1\"]"));
    // Another relay, or the same one started again, counts alike: viewers resume there.
    let second = relay(&server);
    assert_eq!(until_same(&second, &halls).await, seq);
    let published: usize = halls.iter().map(|hall| hall.all.len()).sum();
    eprintln!("{published} updates of 2 halls, {seq} public, one outage, two restarts");
    first.stop().await;
    second.stop().await;
}

/// `ARBITERD_OUTAGE` says for how many seconds each time, `ARBITERD_PLAYS` how much happens 20 times a second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server; .ci/run installs it"]
async fn a_hall_whose_line_breaks_or_falls_silent_loses_and_repeats_nothing() {
    let seconds: u64 = std::env::var("ARBITERD_OUTAGE").map_or(2, |text| text.parse().expect("a number"));
    let plays: usize = std::env::var("ARBITERD_PLAYS").map_or(1, |text| text.parse().expect("a number"));
    let Some(server) = Server::start() else { return };
    let line = Line::to(&server);
    let url = format!("nats://127.0.0.1:{}", line.port);
    let mut halls = [Hall::open(url, "north", 0), Hall::open(server.url(), "south", OFFSET)];
    let relay = relay(&server);
    until_same(&relay, &halls).await;
    let viewer = Viewer::of(&relay);
    for silent in [false, true] {
        // It goes down while there is much on it.
        for hall in &mut halls {
            hall.play(200);
        }
        if silent {
            line.hush();
        } else {
            line.cut();
        }
        for _ in 0..seconds * 20 {
            for hall in &mut halls {
                hall.play(plays);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // The other hall's games are seen meanwhile, and what is missing waits.
        until_same_of(&relay, &halls, 1).await;
        assert!(halls[0].nats.status()["waiting"].as_u64() > Some(0));
        line.mend();
        for hall in &mut halls {
            hall.play(20);
        }
        until_same(&relay, &halls).await;
    }
    let seq = until_same(&relay, &halls).await;
    assert_eq!(seq, counted(&halls), "each update once");
    viewer.ends(seq, &halls).await;
    relay.stop().await;
}

/// Two halls under one name, or a hall with another journal: nothing of theirs is taken for the other's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server; .ci/run installs it"]
async fn a_hall_with_anothers_name_is_told_so_and_publishes_nothing() {
    let Some(server) = Server::start() else { return };
    let mut halls = [Hall::open(server.url(), "north", 0)];
    halls[0].play(50);
    let relay = relay(&server);
    let seq = until_same(&relay, &halls).await;
    let config = halls[0].config.clone();
    // A journal that began at another time; one that is an older copy of this one, and goes on otherwise.
    let mut script = Script::new();
    script.pass(5000);
    let other = Nats::start(config.clone()).expect("a thread");
    other.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4")], true);
    let older = Nats::start(config).expect("a thread");
    older.push(&halls[0].all[..20], false);
    older.push(&[halls[0].script.round(1, 60)], true);
    for hall in [&other, &older] {
        let give_up = wall::uptime() + PATIENCE;
        while hall.status()["trouble"].is_null() && wall::uptime() < give_up {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let trouble = hall.status()["trouble"].to_string();
        assert!(trouble.contains("another hall"), "{trouble}");
    }
    drop((other, older));
    halls[0].play(50);
    assert_eq!(until_same(&relay, &halls).await, counted(&halls));
    assert!(counted(&halls) > seq);
    relay.stop().await;
}
