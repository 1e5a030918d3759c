//! TLS from certificate files (feature `tls`): a page and a stream read by a client that checks the
//! certificate.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use arbiterd::serve::config::TlsFiles;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore, crypto,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{house::House, net::raw, script::Script};

fn files() -> TlsFiles {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    TlsFiles { certificates: folder.join("cert.pem"), key: folder.join("key.pem") }
}

async fn connect(address: SocketAddr) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(files().certificates).expect("a certificate")).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.expect("a listener");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("the certificate is good")
}

async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = connect(address).await;
    let ask = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).await.expect("it reads");
    let mut answer = Vec::new();
    // A close without goodbye is the peer's affair; what came is looked at.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).expect("UTF-8")
}

#[tokio::test]
async fn pages_and_streams_are_read_over_tls() {
    let house = House::open(|config| config.public.as_mut().expect("public").tls = Some(files()));
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4")]);
    let address = house.public();
    assert!(get(address, "/").await.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/round/1/games.pgn").await.contains("1. e4"));
    let plain = raw(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_ne!(plain.status, 200, "nothing is told without TLS");
    let url = format!("wss://localhost:{}/ws", address.port());
    let (mut socket, _) =
        tokio_tungstenite::client_async(url, connect(address).await).await.expect("a WebSocket");
    let mut next = async || -> Value {
        loop {
            let message = tokio::time::timeout(std::time::Duration::from_secs(20), socket.next()).await;
            match message.expect("in time").expect("a message").expect("no fault") {
                Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
                _ => socket.send(Message::Ping("here".into())).await.expect("an open socket"),
            }
        }
    };
    assert_eq!(next().await["type"], "hello");
    assert_eq!(next().await["tables"][0]["plies"][0]["san"], "e4");
    for (uci, seq) in [("e7e5", 4), ("g1f3", 5), ("b8c6", 6)] {
        house.push(&[script.moved(1, uci)]);
        assert_eq!(next().await["seq"], seq);
    }
}

#[tokio::test]
async fn files_that_do_not_serve_are_named() {
    use arbiterd::serve::{Deps, Feed, ServeConfig, Serving, config::ListenConfig, feed::Audience};
    let mut listen = ListenConfig::loopback(0);
    let wrong = TlsFiles { certificates: files().certificates, key: files().certificates };
    for (tls, name) in [
        (TlsFiles { certificates: "/nowhere/cert.pem".into(), ..files() }, "/nowhere/cert.pem"),
        (wrong, "cert.pem"),
    ] {
        listen.tls = Some(tls);
        let config = ServeConfig { desk: None, public: Some(listen.clone()), ..ServeConfig::default() };
        let (commands, _) = tokio::sync::mpsc::channel(1);
        let deps = Deps {
            desk: Feed::new(Audience::Desk),
            public: Feed::new(Audience::Public),
            commands,
            registry: prometheus_client::registry::Registry::with_prefix("arbiterd"),
            ready: Arc::new(|| Ok(())),
            outputs: Arc::new(|| serde_json::json!([])),
            lines: Arc::new(|| serde_json::json!([])),
        };
        let fault = Serving::start(config, deps).expect_err("no key is there").to_string();
        assert!(fault.contains(name), "{fault}");
    }
}
