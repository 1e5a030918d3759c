//! One message to many viewers: `cargo bench --bench fanout`.
//!
//! Side by side in one run, since only ratios mean anything on a shared machine: a bare loop that
//! writes one pre-encoded frame to each socket (the floor: nearly all of it is the kernel's), this
//! program's public listener, a minimal tokio-tungstenite server with a task a client, and
//! mosquitto where it is installed. Each server is a process of its own; its CPU time is read from
//! `/proc`. Viewers are counted, not trusted: the run ends only when each has every message.

#![expect(clippy::disallowed_methods, reason = "a bench measures time")]
#![expect(clippy::print_stdout, reason = "the figures are this bench's output")]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use arbiterd::{
    hall::{Seq, Update, UpdateBody},
    record::Timestamp,
    serve::{Deps, Feed, ServeConfig, Serving, config::ListenConfig, feed::Audience},
};
use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncReadExt;
use tokio_tungstenite::tungstenite::{Message, protocol::WebSocketConfig};

/// About the size of a ply's message.
const PAYLOAD: usize = 300;
/// Messages in flight in the second measurement.
const BURST: usize = 32;

fn main() {
    let mut arguments = std::env::args().skip(1);
    if let Some("--serve") = arguments.next().as_deref() {
        return serve(&arguments.next().unwrap_or_default());
    }
    let full = std::env::args().any(|argument| argument == "--bench");
    // `cargo test --benches` only wants to know that it runs.
    let (sizes, messages): (&[usize], usize) = if full { (&[1000, 5000], 200) } else { (&[10], 5) };
    println!(
        "{:<22} {:>7} {:>16} {:>16} {:>11} {:>11} {:>11}",
        "server", "viewers", "one/core-s", "burst/core-s", "median ms", "99th ms", "kB/viewer"
    );
    for &viewers in sizes {
        for name in ["floor", "arbiterd", "tungstenite", "mosquitto"] {
            match measure(name, viewers, messages) {
                Some(line) => println!("{line}"),
                None => println!("{name:<22} is not installed"),
            }
        }
    }
}

/// Runs one server against its viewers.
fn measure(name: &str, viewers: usize, messages: usize) -> Option<String> {
    let mut server = Server::start(name)?;
    let before = server.memory();
    let hall = Viewers::join(&server, viewers);
    let idle = server.memory();
    // Warm.
    for _ in 0..5 {
        server.publish();
        hall.wait(1);
    }
    let cpu = server.cpu();
    for _ in 0..messages {
        hall.mark();
        server.publish();
        hall.wait(1);
    }
    let one = (messages * viewers) as f64 / server.cpu().saturating_sub(cpu).as_secs_f64();
    let mut times = std::mem::take(&mut *hall.times.lock().expect("no panic"));
    times.sort_unstable();
    let at = |share: f64| {
        times.get(((times.len() as f64 - 1.0) * share) as usize).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let cpu = server.cpu();
    let bursts = messages / 3 + 1;
    for _ in 0..bursts {
        for _ in 0..BURST {
            server.publish();
        }
        hall.wait(BURST as u64);
    }
    let burst = (bursts * BURST * viewers) as f64 / server.cpu().saturating_sub(cpu).as_secs_f64();
    Some(format!(
        "{name:<22} {viewers:>7} {one:>16.0} {burst:>16.0} {:>11.2} {:>11.2} {:>11.2}",
        at(0.5),
        at(0.99),
        idle.saturating_sub(before) as f64 / viewers as f64
    ))
}

/// A server in a process of its own.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    address: SocketAddr,
    /// For mosquitto, a publisher's connection.
    publisher: Option<TcpStream>,
    mqtt: bool,
}

impl Server {
    fn start(name: &str) -> Option<Self> {
        if name == "mosquitto" {
            return Self::mosquitto();
        }
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["--serve", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        let input = child.stdin.take();
        let address = line.trim().parse().expect("an address");
        Some(Self { child, input, address, publisher: None, mqtt: false })
    }

    fn mosquitto() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let folder = std::env::temp_dir().join(format!("fanout-{port}.conf"));
        let config = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 0\n"
        );
        fs::write(&folder, config).ok()?;
        let program = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"]
            .into_iter()
            .find(|path| fs::exists(path).unwrap_or(false))?;
        let child = Command::new(program)
            .arg("-c")
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut publisher = loop {
            match TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        publisher.set_nodelay(true).expect("TCP");
        mqtt_connect(&mut publisher, "publisher");
        Some(Self { child, input: None, address, publisher: Some(publisher), mqtt: true })
    }

    fn publish(&mut self) {
        if let Some(publisher) = &mut self.publisher {
            let mut packet = vec![0x30];
            let length = 2 + 1 + PAYLOAD;
            packet.extend([(length % 128) as u8 | 0x80, (length / 128) as u8, 0, 1, b't']);
            packet.resize(packet.len() + PAYLOAD, b'x');
            publisher.write_all(&packet).expect("mosquitto listens");
        } else if let Some(input) = &mut self.input {
            input.write_all(b"\n").expect("the server listens");
        }
    }

    /// User and system time used so far.
    fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it runs");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: u64 = [11, 12].iter().filter_map(|&index| fields[index].parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Resident memory in kB.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.kill().and_then(|()| self.child.wait()).is_err() {
            eprintln!("a server did not end");
        }
    }
}

fn mqtt_connect(stream: &mut TcpStream, name: &str) {
    let mut packet = vec![0x10, (12 + name.len()) as u8, 0, 4];
    packet.extend(b"MQTT\x04\x02\x00\x00\x00");
    packet.push(name.len() as u8);
    packet.extend(name.as_bytes());
    stream.write_all(&packet).expect("mosquitto listens");
    stream.read_exact(&mut [0; 4]).expect("CONNACK");
}

/// Viewers that count what they get, in one thread with a runtime of its own.
struct Viewers {
    count: usize,
    /// Messages received by all together.
    received: Arc<AtomicU64>,
    expected: AtomicU64,
    marked: Arc<Mutex<Option<Instant>>>,
    times: Arc<Mutex<Vec<Duration>>>,
}

impl Viewers {
    fn join(server: &Server, count: usize) -> Self {
        let received = Arc::new(AtomicU64::new(0));
        let marked: Arc<Mutex<Option<Instant>>> = Arc::default();
        let times: Arc<Mutex<Vec<Duration>>> = Arc::default();
        let ready = Arc::new(AtomicU64::new(0));
        let (address, mqtt) = (server.address, server.mqtt);
        {
            let (received, marked, times, ready) =
                (received.clone(), marked.clone(), times.clone(), ready.clone());
            thread::spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(async move {
                    for number in 0..count {
                        let stream = open(address, mqtt, number);
                        let (received, marked, times) = (received.clone(), marked.clone(), times.clone());
                        tokio::spawn(view(stream, mqtt, received, marked, times));
                        ready.fetch_add(1, Ordering::Relaxed);
                        tokio::task::yield_now().await;
                    }
                    std::future::pending::<()>().await;
                });
            });
        }
        while ready.load(Ordering::Relaxed) < count as u64 {
            thread::sleep(Duration::from_millis(10));
        }
        // Hello, snapshot and the like are not counted.
        thread::sleep(Duration::from_millis(500));
        let expected = AtomicU64::new(received.load(Ordering::Relaxed));
        Self { count, received, expected, marked, times }
    }

    fn mark(&self) {
        *self.marked.lock().expect("no panic") = Some(Instant::now());
    }

    /// Waits until every viewer has so many messages more.
    fn wait(&self, messages: u64) {
        let expected = self.expected.fetch_add(messages * self.count as u64, Ordering::Relaxed)
            + messages * self.count as u64;
        let began = Instant::now();
        while self.received.load(Ordering::Relaxed) < expected {
            thread::sleep(Duration::from_micros(100));
            assert!(began.elapsed() < Duration::from_mins(2), "a viewer misses a message");
        }
        *self.marked.lock().expect("no panic") = None;
    }
}

fn open(address: SocketAddr, mqtt: bool, number: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    if mqtt {
        mqtt_connect(&mut stream, &format!("v{number}"));
        stream.write_all(&[0x82, 6, 0, 1, 0, 1, b't', 0]).expect("mosquitto listens");
        stream.read_exact(&mut [0; 5]).expect("SUBACK");
    } else {
        let ask = format!(
            "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(ask.as_bytes()).expect("the server listens");
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("an answer");
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"));
    }
    stream
}

/// Reads and counts messages by their frames' headers.
async fn view(
    stream: TcpStream,
    mqtt: bool,
    received: Arc<AtomicU64>,
    marked: Arc<Mutex<Option<Instant>>>,
    times: Arc<Mutex<Vec<Duration>>>,
) {
    stream.set_nonblocking(true).expect("TCP");
    let mut stream = tokio::net::TcpStream::from_std(stream).expect("a runtime");
    let (mut buffer, mut held) = (vec![0; 16 << 10], Vec::new());
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        held.extend_from_slice(&buffer[..count]);
        let mut messages = 0;
        while let Some(length) = frame(&held, mqtt).filter(|length| *length <= held.len()) {
            held.drain(..length);
            messages += 1;
        }
        if messages > 0 {
            if let Some(marked) = *marked.lock().expect("no panic") {
                times.lock().expect("no panic").push(marked.elapsed());
            }
            received.fetch_add(messages, Ordering::Relaxed);
        }
    }
}

/// The length of the first frame with its header.
fn frame(held: &[u8], mqtt: bool) -> Option<usize> {
    let second = usize::from(*held.get(1)?);
    if mqtt {
        return match second {
            short @ ..=127 => Some(2 + short),
            low => Some(3 + (low & 0x7f) + usize::from(*held.get(2)?) * 128),
        };
    }
    match second {
        126 => Some(4 + usize::from(u16::from_be_bytes([*held.get(2)?, *held.get(3)?]))),
        127 => {
            let bytes: [u8; 8] = held.get(2..10)?.try_into().ok()?;
            Some(10 + u64::from_be_bytes(bytes) as usize)
        }
        short => Some(2 + short),
    }
}

/// The server's side: publishes one message for each line on its input.
fn serve(name: &str) {
    match name {
        "floor" => floor(),
        "arbiterd" => ours(),
        _ => tungstenite(),
    }
}

#[expect(clippy::print_stdout, reason = "the address is told to the parent")]
fn tell(address: SocketAddr) {
    println!("{address}");
}

/// One thread, one frame encoded once, one write a viewer; pending messages joined.
fn floor() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    tell(listener.local_addr().expect("an address"));
    let viewers: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    {
        let viewers = viewers.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a viewer");
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") {
                    stream.read_exact(&mut byte).expect("a request");
                    head.push(byte[0]);
                }
                stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").expect("a viewer");
                viewers.lock().expect("no panic").push(stream);
            }
        });
    }
    let mut frame = vec![0x81, 126, (PAYLOAD >> 8) as u8, PAYLOAD as u8];
    frame.resize(4 + PAYLOAD, b'x');
    let mut input = std::io::stdin();
    let mut lines = [0; BURST];
    while let Ok(count @ 1..) = input.read(&mut lines) {
        let joined = frame.repeat(count);
        for stream in viewers.lock().expect("no panic").iter_mut() {
            stream.write_all(&joined).expect("a viewer");
        }
    }
}

fn lines(mut act: impl FnMut()) {
    let mut byte = [0; 1];
    let mut input = std::io::stdin();
    while let Ok(1) = input.read(&mut byte) {
        act();
    }
}

/// This program's public listener.
fn ours() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let feed = Feed::new(Audience::Public);
    let (commands, _orders) = tokio::sync::mpsc::channel(1);
    let config = ServeConfig {
        desk: None,
        public: Some(ListenConfig { any_origin: true, ..ListenConfig::loopback(0) }),
        ..ServeConfig::default()
    };
    let deps = Deps {
        desk: Feed::new(Audience::Desk),
        public: feed.clone(),
        commands,
        registry: prometheus_client::registry::Registry::default(),
        ready: Arc::new(|| Ok(())),
        outputs: Arc::new(|| serde_json::Value::Null),
        lines: Arc::new(|| serde_json::Value::Null),
    };
    let guard = runtime.enter();
    let serving = Serving::start(config, deps).expect("a port");
    drop(guard);
    tell(serving.public.expect("a listener"));
    let mut seq = 0;
    lines(|| {
        seq += 1;
        let at = Timestamp::from_millis(1_777_645_800_000);
        // As long as a ply's message.
        let body = UpdateBody::Round(serde_json::json!({"event": {"name": "x".repeat(PAYLOAD - 80)}}));
        feed.push(&[Update { seq: Seq(seq), at, table: None, body }]);
    });
}

/// A task a client, a broadcast channel, tokio-tungstenite with small buffers.
fn tungstenite() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let (sender, _) = tokio::sync::broadcast::channel::<Message>(1024);
    let publisher = sender.clone();
    runtime.spawn(async move {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let listener = socket.listen(1024).expect("a port");
        tell(listener.local_addr().expect("an address"));
        while let Ok((stream, _)) = listener.accept().await {
            let mut receiver = sender.subscribe();
            stream.set_nodelay(true).expect("TCP");
            tokio::spawn(async move {
                let mut config = WebSocketConfig::default();
                config.read_buffer_size = 4096;
                config.write_buffer_size = 0;
                let Ok(socket) = tokio_tungstenite::accept_async_with_config(stream, Some(config)).await
                else {
                    return;
                };
                let (mut write, mut read) = socket.split();
                loop {
                    tokio::select! {
                        message = receiver.recv() => {
                            let Ok(message) = message else { return };
                            if write.send(message).await.is_err() {
                                return;
                            }
                        }
                        heard = read.next() => if heard.is_none_or(|heard| heard.is_err()) {
                            return;
                        },
                    }
                }
            });
        }
    });
    let text = Message::text("x".repeat(PAYLOAD));
    lines(|| {
        // Before the first viewer nobody listens.
        let _nobody = publisher.send(text.clone()).is_err();
    });
}
