//! A small HTTP client and a WebSocket client, for tests that talk to a listener.

use std::{net::SocketAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

/// Nothing in a test may take longer.
const DEADLINE: Duration = Duration::from_secs(20);

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|fault| panic!("{fault}: {}", self.body))
    }
}

/// Sends one request with these headers and reads the answer to its end.
pub(crate) async fn http(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.extend(["Host: ", &address.to_string(), "\r\n"]);
    }
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    if !body.is_empty() {
        head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    raw(address, format!("{head}\r\n{body}").as_bytes()).await
}

/// Sends these bytes and reads an answer to its end.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let talk = async {
        let (mut from, mut to) = TcpStream::connect(address).await.expect("a listener").into_split();
        // A server that refuses early answers, and may close, before all is written: read meanwhile.
        let mut answer = Vec::new();
        let (_closed_early, _reset) = tokio::join!(to.write_all(bytes), from.read_to_end(&mut answer));
        answer
    };
    let answer = tokio::time::timeout(DEADLINE, talk).await.expect("an answer in time");
    let text = String::from_utf8(answer).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { unchunk(body) } else { body.to_owned() };
    Answer { status: status.unwrap_or(0), headers, body }
}

fn unchunk(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a chunk's size");
        out.push_str(&rest[..size]);
        body = rest.get(size + 2..).unwrap_or("");
    }
    out
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    http(address, "GET", path, &[], "").await
}

pub(crate) async fn post(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut all = vec![("content-type", "application/json")];
    all.extend_from_slice(headers);
    http(address, "POST", path, &all, &body.to_string()).await
}

/// A WebSocket client.
pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    pub(crate) async fn open(address: SocketAddr, path: &str) -> Self {
        Self::open_as(address, path, &[]).await.expect("a WebSocket")
    }

    /// Opens with more headers; the error is the status of a refusal.
    pub(crate) async fn open_as(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).await.expect("a listener");
        let mut request = tokio_tungstenite::tungstenite::client::IntoClientRequest::into_client_request(
            format!("ws://{address}{path}"),
        )
        .expect("an address");
        for (name, value) in headers {
            let name = tokio_tungstenite::tungstenite::http::HeaderName::from_bytes(name.as_bytes())
                .expect("a name");
            request.headers_mut().insert(name, value.parse().expect("a value"));
        }
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    /// The next message as JSON.
    pub(crate) async fn next(&mut self) -> Value {
        match self.next_message().await {
            Some(Message::Text(text)) => serde_json::from_str(&text).expect("JSON"),
            other => panic!("a text message expected, not {other:?}"),
        }
    }

    /// The next message of any kind; `None` at the end.
    pub(crate) async fn next_message(&mut self) -> Option<Message> {
        let next = tokio::time::timeout(DEADLINE, self.0.next()).await.expect("a message in time");
        next.and_then(Result::ok)
    }

    /// The next message of this type.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["type"] == kind {
                return message;
            }
        }
    }

    pub(crate) async fn send(&mut self, value: &Value) {
        self.send_message(Message::text(value.to_string())).await;
    }

    pub(crate) async fn send_message(&mut self, message: Message) {
        self.0.send(message).await.expect("an open socket");
    }

    /// Sends a message so large that the other side may close before all of it is written.
    pub(crate) async fn send_giant(&mut self, message: Message) {
        let _closed_early = self.0.send(message).await;
    }
}
