//! One WebSocket of the `LiveChess` API: calls are answered, subscribed boards are told of. Calls that
//! cannot be answered get an error, and the socket stays open.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::Instant,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};
use tokio_util::sync::CancellationToken;

use super::{data, error, follow::Follow};
use crate::{
    serve::{feed::Feed, ws::upgrade::Socket},
    wall,
};

/// A client that takes nothing for so long is cut off.
const STUCK: Duration = Duration::from_secs(20);
/// The largest message a client may send.
const MESSAGE: usize = 16 << 10;
/// The most boards one client may follow.
const FOLLOWED: usize = 64;
/// A client may call so often in a second.
const CALLS: u32 = 100;

/// Serves one client until it leaves or the daemon stops.
pub(super) async fn run(socket: Socket, feed: Arc<Feed>, stop: CancellationToken) {
    let mut config = WebSocketConfig::default();
    config.read_buffer_size = 4096;
    config.write_buffer_size = 0;
    config.max_write_buffer_size = 1 << 20;
    config.max_message_size = Some(MESSAGE);
    config.max_frame_size = Some(MESSAGE);
    let ended = match socket {
        Socket::Tcp(stream, early) => {
            let stream =
                WebSocketStream::from_partially_read(stream, early.to_vec(), Role::Server, Some(config));
            Session::new(stream.await, feed).serve(stop).await
        }
        Socket::Other(stream) => {
            let stream = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config));
            Session::new(stream.await, feed).serve(stop).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a LiveChess client's connection ended");
    }
}

struct Session<S> {
    stream: WebSocketStream<S>,
    feed: Arc<Feed>,
    followed: BTreeMap<i64, Follow>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    fn new(stream: WebSocketStream<S>, feed: Arc<Feed>) -> Self {
        Self { stream, feed, followed: BTreeMap::new() }
    }

    async fn serve(&mut self, stop: CancellationToken) -> Result<(), Error> {
        let mut wake = self.feed.subscribe();
        let (mut second, mut calls) = (Instant::now(), 0);
        loop {
            wake.mark_unchanged();
            let again = self.tell().await?;
            let later = async {
                match again {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => return self.part(CloseCode::Away).await,
                changed = wake.changed() => if changed.is_err() {
                    return self.part(CloseCode::Away).await;
                },
                () = later => {}
                message = self.stream.next() => match message {
                    Some(Ok(Message::Text(text))) => {
                        if second.elapsed() >= Duration::from_secs(1) {
                            (second, calls) = (Instant::now(), 0);
                        }
                        calls += 1;
                        if calls > CALLS {
                            return self.part(CloseCode::Policy).await;
                        }
                        let answer = self.call(&text);
                        self.send(answer).await?;
                    }
                    Some(Ok(Message::Close(_))) | None => return Ok(()),
                    // Pings are answered by the library with the next write.
                    Some(Ok(_)) => self.flush().await?,
                    Some(Err(error)) => return Err(error),
                },
            }
        }
    }

    /// Tells what is new at the followed boards; answers when to look again.
    async fn tell(&mut self) -> Result<Option<Instant>, Error> {
        let mut again: Option<Instant> = None;
        let mut events = Vec::new();
        self.feed.look(|view| {
            for (id, follow) in &mut self.followed {
                let (news, later) = follow.news(view);
                if let Some(param) = news {
                    events.push(json!({"response": "feed", "id": id, "param": param}));
                }
                again = again.into_iter().chain(later).min();
            }
        });
        for mut event in events {
            event["time"] = json!(wall::now().millis());
            self.send(event).await?;
        }
        Ok(again)
    }

    fn call(&mut self, text: &str) -> Value {
        let Ok(request) = serde_json::from_str::<Value>(text) else {
            return error(&Value::Null, "this is not JSON");
        };
        // Some send the number as text; a number is what they all read.
        let id = match &request["id"] {
            Value::String(text) => text.parse::<i64>().map_or_else(|_| json!(text), |id| json!(id)),
            other => other.clone(),
        };
        let Some(call) = request["call"].as_str() else { return error(&id, "no `call` is named") };
        match self.answer(call, &request["param"]) {
            Ok(result) => {
                json!({"response": "call", "id": id, "param": result, "time": wall::now().millis()})
            }
            Err(message) => error(&id, &message),
        }
    }

    fn answer(&mut self, call: &str, param: &Value) -> Result<Value, String> {
        let text = |field: &str| {
            param[field]
                .as_str()
                .or_else(|| param["uuid"].as_str())
                .or_else(|| param.as_str())
                .ok_or_else(|| format!("{call} needs `{field}`"))
        };
        match call {
            "eboards" => Ok(data::eboards(&self.feed)),
            "tournaments" => Ok(data::tournaments(&self.feed)),
            "tournament" => {
                data::tournament(&self.feed, text("id")?).ok_or_else(|| "no such tournament".to_owned())
            }
            "round" => {
                let index = param["index"].as_u64().or_else(|| param["round"].as_u64());
                let index = index.and_then(|index| u32::try_from(index).ok()).ok_or("round needs `index`")?;
                data::round(&self.feed, text("id")?, index).ok_or_else(|| "no such round".to_owned())
            }
            "game" => data::game(&self.feed, text("id")?).ok_or_else(|| "no such game".to_owned()),
            "subscribe" => self.subscribe(param),
            "unsubscribe" => {
                let id = number(&param["id"]).or_else(|| number(param)).ok_or("which feed? give its `id`")?;
                self.followed.remove(&id);
                Ok(Value::Null)
            }
            "call" => self.method(param),
            other => Err(format!("there is no call {other:?}")),
        }
    }

    fn subscribe(&mut self, param: &Value) -> Result<Value, String> {
        match param["feed"].as_str() {
            Some("eboardevent") => {}
            Some(other) => return Err(format!("there is no feed {other:?}; there is `eboardevent`")),
            None => return Err("which `feed`? there is `eboardevent`".to_owned()),
        }
        let id = number(&param["id"]).ok_or("give the feed an `id`, a number")?;
        let serial = param["param"]["serialnr"].as_str().map(str::to_owned);
        if !self.feed.look(|view| data::find(view, serial.as_deref()).is_some()) {
            return Err(match serial {
                Some(serial) => format!("there is no board {serial:?}"),
                None => "there is no board".to_owned(),
            });
        }
        if self.followed.len() >= FOLLOWED && !self.followed.contains_key(&id) {
            return Err(format!("one client may follow {FOLLOWED} boards"));
        }
        self.followed.insert(id, Follow::new(serial));
        Ok(Value::Null)
    }

    fn method(&mut self, param: &Value) -> Result<Value, String> {
        let id = number(&param["id"]).ok_or("which feed? give its `id`")?;
        let follow = self.followed.get_mut(&id).ok_or("no such feed: subscribe first")?;
        match param["method"].as_str() {
            Some("setup") => {
                let fen = param["param"]["fen"].as_str().ok_or("setup needs `fen`")?;
                self.feed.look(|view| follow.set_up(fen, view)).map_err(|fault| fault.to_string())?;
            }
            Some("flip") => {
                follow.flip(param["param"]["flip"].as_bool().ok_or("flip needs `flip`, true or false")?);
            }
            _ => return Err("there are the methods `setup` and `flip`".to_owned()),
        }
        Ok(Value::Null)
    }

    async fn send(&mut self, message: Value) -> Result<(), Error> {
        let sent = self.stream.send(Message::text(message.to_string()));
        tokio::time::timeout(STUCK, sent).await.unwrap_or(Err(Error::ConnectionClosed))
    }

    async fn flush(&mut self) -> Result<(), Error> {
        tokio::time::timeout(STUCK, self.stream.flush()).await.unwrap_or(Err(Error::ConnectionClosed))
    }

    async fn part(&mut self, code: CloseCode) -> Result<(), Error> {
        let frame = CloseFrame { code, reason: "".into() };
        let closed = self.stream.close(Some(frame));
        tokio::time::timeout(Duration::from_secs(2), closed).await.unwrap_or(Ok(()))
    }
}

/// A number, also where it was sent as text.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
