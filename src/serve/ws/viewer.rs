//! One client of the stream: what it sends is heard, and what the crowd could not give it is sent to
//! it from here, joined into as few writes as there can be. A client that does not read holds its
//! socket's buffer and nothing else.

use std::{
    future::poll_fn,
    io::{self, ErrorKind, IoSlice},
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWriteExt, ReadBuf},
    net::tcp::OwnedReadHalf,
};

use super::{
    crowd::{Crowd, Seat, Turn},
    frame::{FrameReader, Incoming, close_frame, pong_frame},
    upgrade::{Duplex, Socket},
};
use crate::serve::{
    access::Who,
    feed::{Batch, Pending, Wanted},
};

/// A client that takes nothing for so long is cut off.
const STUCK: Duration = Duration::from_mins(1);
/// A closing client has so long to take the goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// The most messages a client may send us in its life; the stream asks for none.
const CHATTER: u32 = 10_000;

/// Serves one client until it leaves, has to leave, or the feed closes.
pub(crate) async fn run(
    socket: Socket,
    crowd: Arc<Crowd>,
    from: Option<u64>,
    wanted: Wanted,
    who: Option<Box<Who>>,
) {
    let (line, write, early) = match socket {
        Socket::Tcp(stream, early) => {
            let (read, write) = stream.into_split();
            (Line::Tcp(read), Some(write), early)
        }
        Socket::Other(stream) => (Line::Other(stream), None, Bytes::new()),
    };
    // In the crowd before it joins the feed, so that nothing falls between.
    let seat = crowd.enter(wanted, who, write);
    let start = crowd.feed.join(from, &seat.wanted);
    let ended = Viewer {
        line,
        next: start.next,
        rest: start.hello,
        snapshot: start.snapshot,
        seat: &seat,
        crowd: &crowd,
        reader: FrameReader::default(),
        heard: 0,
    }
    .serve(early)
    .await;
    crowd.leave(&seat);
    if let Err(error) = ended {
        tracing::debug!(%error, "a client's connection ended");
    }
}

/// The client's side of the socket; over TCP the writing half belongs to its seat.
enum Line {
    Tcp(OwnedReadHalf),
    Other(Pin<Box<dyn Duplex>>),
}

struct Viewer<'a> {
    line: Line,
    /// Its place in the stream, while it is not in the crowd.
    next: u64,
    /// What is left of a frame begun.
    rest: Bytes,
    /// A snapshot to be sent after that.
    snapshot: Bytes,
    seat: &'a Arc<Seat>,
    crowd: &'a Crowd,
    reader: FrameReader,
    heard: u32,
}

/// What woke a client's task.
enum Woken {
    /// It is to write.
    Write,
    /// It may not stay.
    Leave,
    /// The client said this; nothing at its end.
    Heard(Vec<Incoming>),
    /// The client said what it may not.
    Fault(Bytes),
    /// The client is gone.
    Gone,
}

impl Viewer<'_> {
    async fn serve(&mut self, early: Bytes) -> io::Result<()> {
        let said = self.read(&early);
        // It may be the end of a large buffer.
        drop(early);
        if let Some(goodbye) = self.hear(said).await? {
            return self.part(goodbye).await;
        }
        loop {
            match self.send().await? {
                Pending::Closed => return self.part(close_frame(1001, "the server stops")).await,
                Pending::Behind => {
                    (self.next, self.snapshot) = self.crowd.feed.catch_up(&self.seat.wanted);
                    continue;
                }
                Pending::Some => continue,
                Pending::Nothing => {}
            }
            if !self.seat.give_back(&self.crowd.feed, self.next) {
                continue;
            }
            match poll_fn(|cx| self.poll_woken(cx)).await? {
                Woken::Write => {}
                Woken::Leave => return self.part(close_frame(1008, "the token was revoked")).await,
                Woken::Gone => return Ok(()),
                said => {
                    (self.next, self.rest) = self.seat.take();
                    if let Some(goodbye) = self.hear(said).await? {
                        return self.part(goodbye).await;
                    }
                }
            }
        }
    }

    fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Woken>> {
        match self.seat.turn(cx.waker()) {
            Turn::Write(next, rest) => {
                (self.next, self.rest) = (next, rest);
                return Poll::Ready(Ok(Woken::Write));
            }
            Turn::Leave(rest) => {
                self.rest = rest;
                return Poll::Ready(Ok(Woken::Leave));
            }
            Turn::Wait => {}
        }
        let mut inbox = [0; 256];
        let mut inbox = ReadBuf::new(&mut inbox);
        ready!(self.line.poll_read(cx, &mut inbox))?;
        Poll::Ready(Ok(match inbox.filled() {
            [] => Woken::Gone,
            bytes => self.read(bytes),
        }))
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
        in_time(STUCK, poll_fn(|cx| self.poll_send(cx))).await
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pending>> {
        loop {
            let mut batch = Batch::new();
            for begun in [&self.rest, &self.snapshot] {
                if !begun.is_empty() {
                    batch.push(begun.clone(), self.next);
                }
            }
            let waits = !batch.is_empty();
            let pending = self.crowd.feed.pending(&mut self.next, &self.seat.wanted, &mut batch);
            // What was begun is finished before anything else.
            if batch.is_empty() || (pending != Pending::Some && !waits) {
                return Poll::Ready(Ok(pending));
            }
            let mut slices = [IoSlice::new(&[]); Batch::FRAMES];
            for (slice, frame) in slices.iter_mut().zip(batch.frames()) {
                *slice = IoSlice::new(frame);
            }
            let begun = self.rest.len();
            let sent = ready!(self.line.poll_write(cx, &slices[..batch.frames().len()]))?;
            self.rest = batch.sent(sent, &mut self.next);
            if sent > begun {
                // The snapshot is begun, or sent.
                self.snapshot = Bytes::new();
            }
        }
    }

    /// Takes apart what the client sent.
    fn read(&mut self, bytes: &[u8]) -> Woken {
        let mut said = Vec::new();
        match self.reader.read(bytes, &mut said) {
            Ok(()) => Woken::Heard(said),
            Err(fault) => Woken::Fault(close_frame(fault.code(), "")),
        }
    }

    /// Answers what the client said; gives the goodbye to send if this is its end.
    async fn hear(&mut self, said: Woken) -> io::Result<Option<Bytes>> {
        let said = match said {
            Woken::Heard(said) => said,
            Woken::Fault(goodbye) => return Ok(Some(goodbye)),
            Woken::Write | Woken::Leave | Woken::Gone => return Ok(None),
        };
        for incoming in said {
            self.heard += 1;
            if self.heard > CHATTER {
                return Ok(Some(close_frame(1008, "this stream only sends")));
            }
            match incoming {
                Incoming::Ping(payload) => in_time(STUCK, self.answer(pong_frame(&payload))).await?,
                Incoming::Close(code) => return Ok(Some(close_frame(code.unwrap_or(1000), ""))),
                Incoming::Pong | Incoming::Data => {}
            }
        }
        Ok(None)
    }

    /// Sends a frame of our own, after what is left of the one before.
    async fn answer(&mut self, frame: Bytes) -> io::Result<()> {
        for mut bytes in [mem::take(&mut self.rest), frame] {
            while !bytes.is_empty() {
                let sent = poll_fn(|cx| self.line.poll_write(cx, &[IoSlice::new(&bytes)])).await?;
                bytes = bytes.slice(sent..);
            }
        }
        Ok(())
    }

    /// Says goodbye and closes.
    async fn part(&mut self, goodbye: Bytes) -> io::Result<()> {
        let leave = async {
            self.answer(goodbye).await?;
            match &mut self.line {
                // The socket is shut down with its seat.
                Line::Tcp(_) => Ok(()),
                Line::Other(stream) => stream.shutdown().await,
            }
        };
        tokio::time::timeout(GOODBYE, leave).await.unwrap_or(Ok(()))
    }
}

impl Line {
    fn poll_read(&mut self, cx: &mut Context<'_>, inbox: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, inbox),
            Self::Other(stream) => stream.as_mut().poll_read(cx, inbox),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let sent = match self {
            Self::Tcp(stream) => {
                let stream: &tokio::net::TcpStream = (*stream).as_ref();
                loop {
                    ready!(stream.poll_write_ready(cx))?;
                    match stream.try_write_vectored(slices) {
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                        sent => break sent,
                    }
                }
            }
            Self::Other(stream) => ready!(stream.as_mut().poll_write_vectored(cx, slices)),
        };
        Poll::Ready(match sent {
            Ok(0) => Err(ErrorKind::WriteZero.into()),
            sent => sent,
        })
    }
}

async fn in_time<T>(limit: Duration, act: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, act)
        .await
        .unwrap_or_else(|_| Err(io::Error::new(ErrorKind::TimedOut, "the client took nothing for too long")))
}
