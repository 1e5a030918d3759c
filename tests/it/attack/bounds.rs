//! Floods, giants, and clients that never finish.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use arbiterd::serve::config::ListenConfig;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::Message;

use super::{Fort, ask};
use crate::support::{
    daemon::PATIENCE,
    house::House,
    net::{Socket, get, http, raw},
};

#[tokio::test]
async fn giants_are_turned_away_and_the_daemon_goes_on() {
    let fort = Fort::build();
    let bearer = format!("authorization: Bearer {}", fort.chief);
    let large = format!("{{\"seconds\":1,\"more\":\"{}\"}}", "x".repeat(3 << 20));
    assert_eq!(ask(fort.desk, "POST", "/api/v1/delay", &fort.chief, &large).await.status, 413);
    // Without a length, in chunks.
    let mut chunks = format!(
        "POST /api/v1/delay HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{bearer}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    for _ in 0..40 {
        chunks += &["10000\r\n", &"y".repeat(0x10000), "\r\n"].concat();
    }
    chunks.push_str("0\r\n\r\n");
    assert_eq!(raw(fort.desk, chunks.as_bytes()).await.status, 413);
    // A length that is a lie, two lengths, length and chunks: nothing is smuggled.
    for head in [
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: -1\r\n",
    ] {
        let request =
            format!("POST /api/v1/delay HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n{head}\r\nhello!");
        let status = raw(fort.desk, request.as_bytes()).await.status;
        assert!((400..500).contains(&status), "{head}: {status}");
    }
    for address in fort.listeners() {
        let header = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "z".repeat(70_000));
        assert_eq!(raw(address, header.as_bytes()).await.status, 431);
        let mut many = "GET / HTTP/1.1\r\nHost: localhost\r\n".to_owned();
        for n in 0..2000 {
            many += &["X-", &n.to_string(), ": 1\r\n"].concat();
        }
        assert_eq!(raw(address, format!("{many}\r\n").as_bytes()).await.status, 431);
        let path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(70_000));
        let status = raw(address, path.as_bytes()).await.status;
        assert!(matches!(status, 414 | 431), "{status}");
        // Not HTTP at all.
        for bytes in
            [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"\0\0\0\0\r\n\r\n", b"SSH-2.0-x\r\n\r\n"]
        {
            assert!(matches!(raw_or_closed(address, bytes).await, 0 | 400..500));
        }
    }
    for (address, path) in [(fort.desk, "/ws"), (fort.public, "/ws")] {
        let bearer = format!("Bearer {}", fort.chief);
        let mut socket =
            Socket::open_as(address, path, &[("authorization", &bearer)]).await.expect("a stream");
        socket.next_of("snapshot").await;
        socket.send_giant(Message::text("x".repeat(1 << 20))).await;
        loop {
            match socket.next_message().await {
                Some(Message::Close(Some(frame))) => {
                    assert_eq!(u16::from(frame.code), 1009);
                    break;
                }
                Some(_) => {}
                None => break,
            }
        }
    }
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(ask(fort.desk, "POST", "/api/v1/delay", &fort.chief, &deep).await.status, 400);
    assert_eq!(get(fort.desk, "/healthz").await.status, 200);
    assert_eq!(ask(fort.desk, "GET", "/api/v1/event", &fort.chief, "").await.json()["delay_seconds"], 0);
}

/// The status of an answer to bytes that are no request; 0 when it just closes.
async fn raw_or_closed(address: SocketAddr, bytes: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(bytes).await.expect("it reads");
    stream.shutdown().await.ok();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _closed = tokio::time::timeout(PATIENCE, read).await.expect("it does not wait for ever");
    let text = String::from_utf8_lossy(&answer);
    text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// Sends the beginning of a request and then a byte now and then, until the other side has enough.
async fn drip(address: SocketAddr, beginning: &str, drop: &str) -> String {
    let stream = TcpStream::connect(address).await.expect("it listens");
    let (mut read, mut write) = stream.into_split();
    write.write_all(beginning.as_bytes()).await.expect("it reads");
    let dripping = async {
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            if write.write_all(drop.as_bytes()).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut answer = Vec::new();
    let reading = async {
        let _reset = read.read_to_end(&mut answer).await;
    };
    tokio::select! {
        () = dripping => {}
        () = reading => {}
        () = tokio::time::sleep(PATIENCE) => panic!("a client that never finishes is kept for ever"),
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn clients_that_never_finish_are_cut_off_while_others_are_served() {
    let fort = Fort::build();
    let mut slow = tokio::task::JoinSet::new();
    for address in fort.listeners() {
        slow.spawn(async move { drip(address, "GET / HTTP/1.1\r\nHost: localhost\r\nX-", "a").await });
        slow.spawn(async move { drip(address, "GET / HTTP/1.1\r\nHost: localhost\r\n", "X: 1\r\n").await });
        slow.spawn(async move { drip(address, "", "").await });
    }
    let head = format!(
        "POST /api/v1/delay HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
        fort.chief
    );
    let desk = fort.desk;
    slow.spawn(async move { drip(desk, &head, " ").await });
    let unsigned = "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n";
    slow.spawn(async move { drip(desk, unsigned, " ").await });
    // Meanwhile everybody else is answered.
    let mut served = 0;
    while !slow.is_empty() {
        assert_eq!(get(fort.desk, "/healthz").await.status, 200);
        assert_eq!(get(fort.public, "/api/v1/tables").await.status, 200);
        served += 1;
        if let Ok(Some(done)) =
            tokio::time::timeout(std::time::Duration::from_millis(300), slow.join_next()).await
        {
            let answer = done.expect("no panic");
            assert!(
                answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
                "cut off, or told that it is too slow: {answer}"
            );
        }
    }
    assert!(served > 0);
}

/// An address of this machine that is not loopback, if it has one.
fn own_address() -> Option<IpAddr> {
    // Nothing is sent: the system only says from where it would.
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[tokio::test]
async fn one_address_cannot_take_all_connections_or_ask_without_end() {
    let Some(own) = own_address() else {
        eprintln!("skipped: this machine has no address but loopback");
        return;
    };
    let house = House::open(|config| {
        let public = ListenConfig { any_origin: true, ..ListenConfig::loopback(0) };
        let mut public = ListenConfig { address: SocketAddr::new(own, 0), ..public };
        public.limits.per_address = 4;
        public.limits.requests_per_second = 2;
        config.public = Some(public);
    });
    let address = house.public();
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(Socket::open(address, "/ws").await);
    }
    assert_eq!(raw(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status, 0, "no fifth");
    // The others of the hall, here the loopback desk, do not notice.
    assert_eq!(get(house.desk(), "/healthz").await.status, 200);
    drop(held);
    let mut statuses = Vec::new();
    let give_up = arbiterd::wall::uptime() + PATIENCE;
    while !statuses.contains(&429) {
        assert!(arbiterd::wall::uptime() < give_up, "never too many: {statuses:?}");
        statuses.push(http(address, "GET", "/", &[], "").await.status);
    }
    let metrics = get(house.desk(), "/metrics").await.body;
    let refused =
        metrics.lines().find(|line| line.starts_with("arbiterd_refused_total{listener=\"public\"}"));
    assert!(refused.is_some_and(|line| !line.ends_with(" 0")), "{refused:?}");
}

#[tokio::test]
async fn a_stream_address_with_nonsense_is_refused_and_holds_nothing() {
    let fort = Fort::build();
    let many: String = (0..3000).flat_map(|n: u32| [n.to_string(), ",".to_owned()]).collect();
    for query in [
        "tables=x",
        "tables=-1",
        "tables=1,,2",
        "from=x",
        "from=-1",
        "from=99999999999999999999999",
        &format!("tables={many}"),
    ] {
        let status = Socket::open_as(fort.public, &format!("/ws?{query}"), &[]).await.err();
        assert!(status.is_some_and(|status| (400..500).contains(&status)), "{query:.40}: {status:?}");
    }
    let json = json!({"token": "x".repeat(100_000)}).to_string();
    let answer =
        http(fort.desk, "POST", "/api/v1/session", &[("content-type", "application/json")], &json).await;
    assert_eq!(answer.status, 401);
}
