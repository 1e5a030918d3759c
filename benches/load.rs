//! A large hall for a while: `cargo bench --bench load -- tables=1000 viewers=2000 minutes=10 pace=15`.
//!
//! The boards (in this process) are simulated on real pseudo-terminals and played at by human hands
//! at `pace` seconds a move; the daemon is the real program in a process of its own, with journal,
//! archive and both listeners; the viewers (in this process, too) follow `each` tables apiece over
//! `/ws`, but for twenty who follow all. Printed every 10 s and at the end: the daemon's resident
//! memory and processor time, messages to viewers, and the time from the moment a board's bytes were
//! read to the moment a viewer has the message, by its `at`.

#![expect(clippy::print_stdout, reason = "the figures are this bench's output")]

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use arbiterd::{
    sim::{
        BoardConfig, DeviceSetup, HallOptions, HandOptions, Level, Pace, SimHall, SimPort, famous_games, hand,
    },
    wall,
};
use futures_util::StreamExt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

/// Viewers who follow every table.
const FOLLOW_ALL: usize = 20;

struct Plan {
    tables: usize,
    viewers: usize,
    minutes: f64,
    pace: u64,
    each: usize,
}

impl Plan {
    fn read() -> Self {
        let full = std::env::args().any(|argument| argument == "--bench");
        // `cargo test --benches` only wants to know that it runs.
        let mut plan = if full {
            Self { tables: 1000, viewers: 2000, minutes: 10.0, pace: 15, each: 4 }
        } else {
            Self { tables: 2, viewers: 3, minutes: 0.05, pace: 2, each: 1 }
        };
        for word in std::env::args() {
            let Some((name, value)) = word.split_once('=') else { continue };
            match name {
                "tables" => plan.tables = value.parse().unwrap_or(plan.tables),
                "viewers" => plan.viewers = value.parse().unwrap_or(plan.viewers),
                "minutes" => plan.minutes = value.parse().unwrap_or(plan.minutes),
                "pace" => plan.pace = value.parse().unwrap_or(plan.pace),
                "each" => plan.each = value.parse().unwrap_or(plan.each),
                _ => {}
            }
        }
        plan
    }
}

/// What the viewers saw.
#[derive(Default)]
struct Seen {
    joined: AtomicUsize,
    messages: AtomicU64,
    snapshots: AtomicU64,
    lost: AtomicU64,
    /// Milliseconds from the board's line to the viewer.
    lags: Mutex<Vec<u32>>,
}

fn main() {
    let plan = Plan::read();
    let wanted = (plan.tables * 4 + plan.viewers * 2 + 500) as u64;
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(wanted, |most| most.min(wanted).max(limit.current.unwrap_or(0)));
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum }).expect("a limit");

    let folder = tempfile::tempdir().expect("a folder");
    let boards = boards(&plan, folder.path());
    let config = configure(&plan, folder.path(), &boards);
    let (mut daemon, desk, public) = start(&config);
    println!(
        "{} tables at {} s a move, {} viewers of {} tables each ({FOLLOW_ALL} of all), {} min",
        plan.tables, plan.pace, plan.viewers, plan.each, plan.minutes
    );
    let seen = Arc::new(Seen::default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    for number in 0..plan.viewers {
        let tables: String = if number < FOLLOW_ALL || plan.each == 0 {
            String::new()
        } else {
            let pick = |n: usize| ((number * 7 + n * 13) % plan.tables + 1).to_string();
            format!("?tables={}", (0..plan.each).map(pick).collect::<Vec<_>>().join(","))
        };
        runtime.spawn(view(public.clone(), tables, number, Arc::clone(&seen)));
    }
    println!(
        "{:>7} {:>9} {:>8} {:>12} {:>9} {:>8} {:>8} {:>8}",
        "s", "RSS MB", "CPU %", "messages/s", "plies", "p50 ms", "p99 ms", "max ms"
    );
    let began = wall::uptime();
    let (mut cpu, mut sent, mut at) = (cpu_seconds(daemon.id()), 0, began);
    let mut memory = Vec::new();
    let mut all: Vec<u32> = Vec::new();
    let step = Duration::from_secs_f64((plan.minutes * 6.0).clamp(1.0, 10.0));
    while wall::uptime().saturating_sub(began).as_secs_f64() < plan.minutes * 60.0 {
        std::thread::sleep(step);
        let (now, spent) = (wall::uptime(), cpu_seconds(daemon.id()));
        let messages = seen.messages.load(Ordering::Relaxed);
        let mut lags = std::mem::take(&mut *seen.lags.lock().expect("no panic"));
        let rss = resident_mb(daemon.id());
        memory.push(rss);
        let passed = now.saturating_sub(at).as_secs_f64();
        let plies: usize = (0..plan.tables).map(|port| boards.progress(port, 0).plies).sum();
        println!(
            "{:>7.0} {rss:>9.1} {:>8.1} {:>12.0} {plies:>9} {}",
            now.saturating_sub(began).as_secs_f64(),
            100.0 * (spent - cpu) / passed,
            (messages - sent) as f64 / passed,
            quantiles(&mut lags),
        );
        all.append(&mut lags);
        (cpu, sent, at) = (spent, messages, now);
    }
    // The first fifth is for everybody to join and the rings to fill.
    let settled = &memory[memory.len() / 5..];
    let least = settled.iter().copied().fold(f64::MAX, f64::min);
    let most = settled.iter().copied().fold(0.0, f64::max);
    println!(
        "{} viewers joined, {} messages, {} snapshots after the first, {} viewers lost; memory {least:.1} to {most:.1} MB, at the \
         end {:.1}; read to viewer: {} ({} samples)",
        seen.joined.load(Ordering::Relaxed),
        seen.messages.load(Ordering::Relaxed),
        seen.snapshots.load(Ordering::Relaxed),
        seen.lost.load(Ordering::Relaxed),
        memory.last().copied().unwrap_or_default(),
        quantiles(&mut all),
        all.len(),
    );
    for line in metrics(&desk).lines().filter(|line| {
        line.starts_with("arbiterd_journal_commit_seconds")
            || line.starts_with("arbiterd_hall")
            || line.starts_with("arbiterd_refused")
    }) {
        println!("  {line}");
    }
    let size = fs::metadata(folder.path().join("arbiterd.sqlite")).map_or(0, |file| file.len());
    println!("  journal {:.1} MB", size as f64 / 1e6);
    boards.stop();
    daemon.kill().expect("it was running");
    daemon.wait().expect("it has ended");
}

fn quantiles(lags: &mut [u32]) -> String {
    lags.sort_unstable();
    let at = |share: f64| lags.get(((lags.len() as f64 - 1.0) * share) as usize).copied().unwrap_or(0);
    format!("{:>8} {:>8} {:>8}", at(0.5), at(0.99), at(1.0))
}

fn boards(plan: &Plan, folder: &Path) -> SimHall {
    let games = famous_games();
    let ports = (0..plan.tables).map(|index| {
        // Enough games to play for as long as it takes.
        let played: Vec<_> = (0..4).map(|n| games[(index + n) % games.len()].clone()).collect();
        let options = HandOptions {
            pace: Pace::Mean(plan.pace * 1000),
            wait_ms: 3_000 + (index as u64 * 37) % (plan.pace * 1000),
            ..HandOptions::new(Level::Human, index as u64)
        };
        let script = hand::script(&played, &options);
        let setup = DeviceSetup {
            seed: index as u64,
            clock: Some(games[0].control.clone()),
            ..DeviceSetup::default()
        };
        let config = BoardConfig { serial: 10_001 + index as u32, setup, ..BoardConfig::default() };
        SimPort::board(format!("board-{index:04}"), config, script)
    });
    SimHall::start(ports.collect(), &HallOptions::new(folder.join("boards"))).expect("pseudo-terminals")
}

fn configure(plan: &Plan, folder: &Path, boards: &SimHall) -> std::path::PathBuf {
    let mut text = String::from(
        "[event]\nid = \"load\"\nname = \"Load\"\n[round]\nnumber = 1\n[archive]\nfolder = \"archive\"\n\
         [desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n",
    );
    for (index, port) in boards.ports().iter().enumerate().take(plan.tables) {
        writeln!(
            text,
            "[[table]]\nnumber = {}\nboard = \"{}\"\nwhite = \"White {index}\"\nblack = \"Black {index}\"\n[[port]]\npath = {:?}",
            index + 1,
            10_001 + index,
            port.to_str().expect("UTF-8"),
        )
        .expect("a string takes all");
    }
    let path = folder.join("arbiterd.toml");
    fs::write(&path, text).expect("a writable folder");
    path
}

fn start(config: &Path) -> (Child, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .args(["run", "--config"])
        .arg(config)
        .env("ARBITERD_LOG", "arbiterd=warn")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let (mut desk, mut public) = (None, None);
    for line in lines.map_while(Result::ok) {
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
        if line.starts_with("desk") {
            desk = address;
        } else if line.starts_with("public") {
            public = address;
            break;
        }
    }
    (child, desk.expect("a desk"), public.expect("a public listener"))
}

async fn view(address: String, tables: String, number: usize, seen: Arc<Seen>) {
    // Two thousand do not come in the same millisecond.
    tokio::time::sleep(Duration::from_millis(number as u64 * 2)).await;
    let joined = async {
        let stream = TcpStream::connect(&address).await.ok()?;
        let (socket, _) =
            tokio_tungstenite::client_async(format!("ws://{address}/ws{tables}"), stream).await.ok()?;
        Some(socket)
    };
    let Some(mut socket) = joined.await else {
        seen.lost.fetch_add(1, Ordering::Relaxed);
        return;
    };
    seen.joined.fetch_add(1, Ordering::Relaxed);
    let mut first = true;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        seen.messages.fetch_add(1, Ordering::Relaxed);
        if text.contains("\"type\":\"snapshot\"") && !std::mem::take(&mut first) {
            seen.snapshots.fetch_add(1, Ordering::Relaxed);
        }
        // A ply's own moment: when the bytes that made it were read.
        if text.contains("\"type\":\"ply\"")
            && let Some(at) = text.split("\"at\":").nth(1).and_then(|rest| rest.split([',', '}']).next())
            && let Ok(at) = at.parse::<i64>()
        {
            let lag = (wall::now().millis() - at).clamp(0, i64::from(u32::MAX)) as u32;
            seen.lags.lock().expect("no panic").push(lag);
        }
    }
    seen.lost.fetch_add(1, Ordering::Relaxed);
}

fn resident_mb(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn cpu_seconds(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // Linux counts in hundredths on every machine that runs this.
    (ticks(11) + ticks(12)) / 100.0
}

fn metrics(desk: &str) -> String {
    use std::io::{Read, Write};
    let ask = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(desk)?;
        write!(stream, "GET /metrics HTTP/1.0\r\nHost: {desk}\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().unwrap_or_default()
}
