//! One client of the stream: sends it what the feed has for it, joined into as few writes as there
//! can be, and answers pings. A client that does not read holds its socket's buffer and nothing else.

use std::{
    future::poll_fn,
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::watch,
};

use super::{
    frame::{FrameReader, Incoming, close_frame, pong_frame},
    upgrade::Socket,
};
use crate::serve::feed::{Batch, Cursor, Feed, Pending, Wanted};

/// A client that takes nothing for so long is cut off.
const STUCK: Duration = Duration::from_mins(1);
/// A closing client has so long to take the goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// The most messages a client may send us in its life; the stream asks for none.
const CHATTER: u32 = 10_000;

/// Serves one client until it leaves or the feed closes.
pub(crate) async fn run(socket: Socket, feed: Arc<Feed>, from: Option<u64>, wanted: Wanted) {
    let ended = match socket {
        Socket::Tcp(stream, early) => Viewer::new(stream, feed, from, wanted).serve(&early).await,
        Socket::Other(stream) => Viewer::new(stream, feed, from, wanted).serve(&[]).await,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a client's connection ended");
    }
}

struct Viewer<S> {
    stream: S,
    feed: Arc<Feed>,
    cursor: Cursor,
    /// What is left of a frame that was cut in two, or of a snapshot.
    rest: Bytes,
    wake: watch::Receiver<()>,
    reader: FrameReader,
    heard: u32,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Viewer<S> {
    fn new(stream: S, feed: Arc<Feed>, from: Option<u64>, wanted: Wanted) -> Self {
        // Subscribed before it joins, so that nothing falls between.
        let wake = feed.subscribe();
        let (cursor, rest) = feed.join(from, wanted);
        Self { stream, feed, cursor, rest, wake, reader: FrameReader::default(), heard: 0 }
    }

    async fn serve(&mut self, early: &[u8]) -> io::Result<()> {
        if let Some(goodbye) = self.hear(early).await? {
            return self.part(goodbye).await;
        }
        let mut inbox = [0; 64];
        loop {
            self.wake.mark_unchanged();
            match self.send().await? {
                Pending::Closed => return self.part(close_frame(1001, "the server stops")).await,
                Pending::Behind => {
                    self.rest = self.feed.catch_up(&mut self.cursor);
                    continue;
                }
                Pending::Nothing | Pending::Some => {}
            }
            tokio::select! {
                biased;
                changed = self.wake.changed() => if changed.is_err() {
                    return self.part(close_frame(1001, "the server stops")).await;
                },
                read = self.stream.read(&mut inbox) => {
                    let count = read?;
                    if count == 0 {
                        return Ok(());
                    }
                    if let Some(goodbye) = self.hear(&inbox[..count]).await? {
                        return self.part(goodbye).await;
                    }
                }
            }
        }
    }

    /// Sends until there is nothing more, or the client is behind or the feed closed.
    async fn send(&mut self) -> io::Result<Pending> {
        // Nearly always there is room at once, and no timer is needed.
        if let Some(done) = poll_fn(|cx| match self.poll_send(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
        {
            return done;
        }
        match tokio::time::timeout(STUCK, poll_fn(|cx| self.poll_send(cx))).await {
            Ok(done) => done,
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the client took nothing for too long")),
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pending>> {
        if self.rest.is_empty()
            && let Some(frame) = self.feed.only_one(&self.cursor)
        {
            match Pin::new(&mut self.stream).poll_write(cx, &frame) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(sent)) => {
                    self.cursor.step();
                    if sent == frame.len() {
                        // More that came meanwhile has set the wake again.
                        return Poll::Ready(Ok(Pending::Nothing));
                    }
                    self.rest = frame.slice(sent..);
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        loop {
            let mut batch = Batch::new(&self.cursor, &self.rest);
            let pending = self.feed.pending(&mut self.cursor, &mut batch);
            // A frame begun is finished before anything else.
            if batch.is_empty() || (pending == Pending::Closed && self.rest.is_empty()) {
                return Poll::Ready(Ok(pending));
            }
            let mut slices = [IoSlice::new(&[]); Batch::FRAMES];
            for (slice, frame) in slices.iter_mut().zip(batch.frames()) {
                *slice = IoSlice::new(frame);
            }
            let slices = &slices[..batch.frames().len()];
            match Pin::new(&mut self.stream).poll_write_vectored(cx, slices) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(sent)) => self.rest = batch.sent(sent, &mut self.cursor),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Takes in what the client sent; answers the goodbye to send if this is its end.
    async fn hear(&mut self, bytes: &[u8]) -> io::Result<Option<Bytes>> {
        let mut heard = Vec::new();
        if let Err(fault) = self.reader.read(bytes, &mut heard) {
            return Ok(Some(close_frame(fault.code(), "")));
        }
        for incoming in heard {
            self.heard += 1;
            if self.heard > CHATTER {
                return Ok(Some(close_frame(1008, "this stream only sends")));
            }
            match incoming {
                Incoming::Ping(payload) => self.answer(&pong_frame(&payload)).await?,
                Incoming::Close(code) => return Ok(Some(close_frame(code.unwrap_or(1000), ""))),
                Incoming::Pong | Incoming::Data => {}
            }
        }
        Ok(None)
    }

    /// Sends a frame of our own, after what is left of the one before.
    async fn answer(&mut self, frame: &[u8]) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        let both = async {
            self.stream.write_all(&rest).await?;
            self.stream.write_all(frame).await
        };
        tokio::time::timeout(STUCK, both).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Says goodbye and closes.
    async fn part(&mut self, goodbye: Bytes) -> io::Result<()> {
        let leave = async {
            self.answer(&goodbye).await?;
            self.stream.shutdown().await
        };
        tokio::time::timeout(GOODBYE, leave).await.unwrap_or(Ok(()))
    }
}
