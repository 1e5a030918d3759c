//! From a byte on the line to a WebSocket client: `cargo bench --bench latency`.
//!
//! Scripted boards on real pseudo-terminals send single field updates; a client of the desk's
//! stream waits for the `sensed` message. Three things are measured in one run, since only ratios
//! mean anything on a shared machine: a bare bridge (pseudo-terminal to TCP socket, one thread, no
//! protocol) as the floor; the daemon with its journal on a RAM disk, which leaves out the commit's
//! cost; and the daemon with its journal on the disk under `target/`, beside what one durable append
//! costs there.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use arbiterd::{
    daemon::{Daemon, Settings},
    hall::{BoardKey, RoundSetup, TableId, TableSetup},
    journal::Journal,
    link::PortConfig,
    serve::{ServeConfig, config::ListenConfig},
    sim::Pty,
    wall,
    wire::{Squares, dgt::message::Message},
};
use tokio_tungstenite::tungstenite::{self, Message as Frame, protocol::WebSocket};

/// Samples of each measurement.
const SAMPLES: usize = 1000;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let samples = if std::env::args().any(|argument| argument == "--bench") { SAMPLES } else { 5 };
    let disk = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let ram = PathBuf::from("/dev/shm");
    show("bare bridge, PTY to TCP", bridge(samples));
    for boards in [1, 64] {
        if ram.is_dir() {
            show(&format!("{boards} boards, journal on a RAM disk"), daemon(boards, &ram, samples));
        }
        show(&format!("{boards} boards, journal on the disk"), daemon(boards, &disk, samples));
    }
    show("one durable append to the journal", append(&disk, samples));
}

#[expect(clippy::print_stdout, reason = "the figures are this bench's output")]
fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!("{what:<40} median {:>9.1} µs   99th {:>9.1} µs   n = {}", at(0.5), at(0.99), times.len());
}

fn append(folder: &Path, samples: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let mut journal = Journal::open(&folder.path().join("hall.sqlite")).expect("a new journal");
    let input = r#"{"at":1777640467512,"board":["20001",{"square":[52,"P"]}]}"#;
    (0..samples)
        .map(|_| {
            let begin = wall::uptime();
            journal.append([input]).expect("room");
            wall::uptime().saturating_sub(begin)
        })
        .collect()
}

/// The least that can be done: read the line, write the socket.
fn bridge(samples: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("board");
    let pty = Pty::new(&path).expect("a pseudo-terminal");
    let mut line = std::fs::OpenOptions::new().read(true).write(true).open(&path).expect("the other end");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    let (mut socket, _) = listener.accept().expect("a client");
    socket.set_nodelay(true).expect("a socket");
    thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok(n) = line.read(&mut buffer) {
            if n == 0 || socket.write_all(&buffer[..n]).is_err() {
                return;
            }
        }
    });
    let mut buffer = [0; 5];
    (0..samples)
        .map(|_| {
            thread::sleep(Duration::from_millis(2));
            let begin = wall::uptime();
            pty.write(&[0x8e, 0, 5, 52, 0]);
            client.read_exact(&mut buffer).expect("five bytes");
            wall::uptime().saturating_sub(begin)
        })
        .collect()
}

fn daemon(boards: usize, disk: &Path, samples: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir_in(disk).expect("a folder");
    let paths: Vec<PathBuf> = (0..boards).map(|index| folder.path().join(format!("board-{index}"))).collect();
    let terminals: Arc<Vec<Pty>> =
        Arc::new(paths.iter().map(|path| Pty::new(path).expect("a pseudo-terminal")).collect());
    let stop = Arc::new(AtomicBool::new(false));
    let answers = {
        let (terminals, stop) = (Arc::clone(&terminals), Arc::clone(&stop));
        thread::spawn(move || answer(&terminals, &stop))
    };
    let tables = (0..boards).map(|index| TableSetup {
        table: TableId(index as u32 + 1),
        board: Some(BoardKey((10_000 + index).to_string())),
        white: arbiterd::event::Player::default(),
        black: arbiterd::event::Player::default(),
        start: arbiterd::record::Position::default(),
        profile: None,
        time_control: None,
        tags: arbiterd::record::Tags::default(),
        options: arbiterd::hall::OptionsSetup::default(),
    });
    let listen = || Some(ListenConfig::loopback(0));
    let settings = Settings {
        journal: folder.path().join("hall.sqlite"),
        round: Some(RoundSetup { number: 1, date: None, tables: tables.collect() }),
        ports: paths.iter().map(|path| PortConfig::new(path.to_string_lossy())).collect(),
        serve: ServeConfig { desk: listen(), public: listen(), ..ServeConfig::default() },
        ..Settings::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("threads");
    let daemon = runtime.block_on(async { Daemon::start(&settings, || ()) }).expect("it starts");
    let address = daemon.desk().expect("a desk");
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let (mut client, _) = tungstenite::client(format!("ws://{address}/ws"), stream).expect("a stream");
    wait_until_online(&mut client, boards);

    let mut times = Vec::with_capacity(samples);
    for sample in 0..samples {
        thread::sleep(Duration::from_millis(4));
        let board = sample % boards;
        let piece = u8::from((sample / boards) % 2 == 1);
        let wanted = format!("\"table\":{}", board + 1);
        let begin = wall::uptime();
        terminals[board].write(&[0x8e, 0, 5, 52, piece]);
        loop {
            let text = next(&mut client);
            if text.contains("\"sensed\"") && text.contains(&wanted) {
                break;
            }
        }
        times.push(wall::uptime().saturating_sub(begin));
    }
    drop(client);
    runtime.block_on(daemon.stop());
    stop.store(true, Ordering::Relaxed);
    answers.join().expect("the boards end");
    times
}

/// Answers as boards do: dumps, serial numbers, versions; no clock.
fn answer(terminals: &[Pty], stop: &AtomicBool) {
    let start = Squares::from_board(&shakmaty::Board::new(), false);
    let mut bytes = Vec::new();
    let mut reply = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        for (index, pty) in terminals.iter().enumerate() {
            bytes.clear();
            reply.clear();
            pty.read(&mut bytes);
            for byte in &bytes {
                match byte {
                    0x42 => Message::Board(start).encode(&mut reply),
                    0x45 => {
                        reply.extend([0x91, 0, 8]);
                        reply.extend(format!("{:05}", 10_000 + index).bytes());
                    }
                    0x4d => reply.extend([0x93, 0, 5, 1, 8]),
                    0x41 | 0x4b => reply.extend([0x8d, 0, 10, 0, 0, 0, 0, 0, 0, 0x20]),
                    _ => {}
                }
            }
            pty.write(&reply);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn wait_until_online(client: &mut WebSocket<TcpStream>, boards: usize) {
    let mut online = std::collections::BTreeSet::new();
    while online.len() < boards {
        let text = next(client);
        if let Ok(message) = serde_json::from_str::<serde_json::Value>(&text) {
            let tables = match message["type"].as_str() {
                Some("snapshot") => message["tables"].as_array().cloned().unwrap_or_default(),
                Some("table") => vec![message],
                _ => Vec::new(),
            };
            for table in tables {
                if table["link"]["online"] == true {
                    online.insert(table["table"].as_u64());
                }
            }
        }
    }
    thread::sleep(Duration::from_secs(1));
}

fn next(client: &mut WebSocket<TcpStream>) -> String {
    loop {
        if let Frame::Text(text) = client.read().expect("the stream goes on") {
            return text.to_string();
        }
    }
}
