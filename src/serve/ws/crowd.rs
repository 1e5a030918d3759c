//! All clients of one feed's stream, and the one task that sends each new message to all of them.
//!
//! Nearly every client is waiting for the next message when it comes. Waking a thousand tasks, each
//! to make one small write, costs more than the writes; so one task writes to all sockets in turn,
//! and what came meanwhile leaves joined with the next turn. A client that cannot take all at once is
//! handed to its own task (`viewer`), which brings it back to the present and hands it back; so nobody
//! waits for anybody.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    task::Waker,
};

use bytes::Bytes;
use tokio::net::tcp::OwnedWriteHalf;

use crate::serve::{
    access::{Tokens, Who},
    feed::{Entry, Feed, Wanted, Window},
};

/// About the most bytes sent to each client in one turn.
const TURN: usize = 32 << 10;
/// So many clients are served before other tasks get the thread.
const STRIDE: usize = 128;

/// The clients of one feed.
#[derive(Debug)]
pub(crate) struct Crowd {
    pub(crate) feed: Arc<Feed>,
    /// Who may be here, if not anybody.
    tokens: Option<Arc<RwLock<Tokens>>>,
    /// Copied only when somebody comes or goes during a turn.
    seats: Mutex<Arc<Vec<Arc<Seat>>>>,
}

/// One client.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) wanted: Wanted,
    /// Who signed in, at the desk.
    who: Option<Box<Who>>,
    /// The socket, if the crowd may write to it; none behind TLS.
    line: Option<OwnedWriteHalf>,
    place: Mutex<Place>,
}

/// Where a client is.
#[derive(Debug)]
struct Place {
    /// Its place in the stream.
    next: u64,
    /// What is left of a frame that was cut in two.
    rest: Bytes,
    /// Its own task writes; the crowd must not.
    own: bool,
    /// It may not stay.
    expelled: bool,
    /// Its own task, when that sleeps.
    task: Option<Waker>,
}

/// What a client's own task is to do.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Sleep.
    Wait,
    /// Write: go on from this place, after this rest of a frame.
    Write(u64, Bytes),
    /// Say goodbye, after this rest of a frame.
    Leave(Bytes),
}

impl Crowd {
    pub(crate) fn new(feed: Arc<Feed>, tokens: Option<Arc<RwLock<Tokens>>>) -> Arc<Self> {
        Arc::new(Self { feed, tokens, seats: Mutex::default() })
    }

    /// A client comes in. Its own task writes first.
    pub(crate) fn enter(
        &self,
        wanted: Wanted,
        who: Option<Box<Who>>,
        line: Option<OwnedWriteHalf>,
    ) -> Arc<Seat> {
        let place = Place { next: 0, rest: Bytes::new(), own: true, expelled: false, task: None };
        let seat = Arc::new(Seat { wanted, who, line, place: Mutex::new(place) });
        Arc::make_mut(&mut self.seats()).push(seat.clone());
        // The token may have been revoked during the handshake.
        self.check(&seat);
        seat
    }

    pub(crate) fn leave(&self, seat: &Arc<Seat>) {
        Arc::make_mut(&mut self.seats()).retain(|other| !Arc::ptr_eq(other, seat));
    }

    /// Those whose token is gone, or says something else by now, have to leave.
    pub(crate) fn check_tokens(&self) {
        let seats = Arc::clone(&self.seats());
        seats.iter().for_each(|seat| self.check(seat));
    }

    fn check(&self, seat: &Seat) {
        let (Some(tokens), Some(who)) = (&self.tokens, &seat.who) else { return };
        if !who.holds(&tokens.read().unwrap_or_else(PoisonError::into_inner)) {
            let mut place = seat.lock();
            place.expelled = true;
            place.wake();
        }
    }

    fn seats(&self) -> MutexGuard<'_, Arc<Vec<Arc<Seat>>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends all clients what the feed has, until it closes.
    pub(crate) async fn serve(self: Arc<Self>) {
        let mut wake = self.feed.subscribe();
        let mut done = 0;
        loop {
            wake.mark_unchanged();
            let window = self.feed.window(done, TURN);
            let seats = Arc::clone(&self.seats());
            if window.closed {
                seats.iter().for_each(|seat| seat.lock().hand_over());
                return;
            }
            if window.entries.is_empty() {
                drop(seats);
                // The feed outlives its crowd; it cannot have gone.
                if wake.changed().await.is_err() {
                    return;
                }
                continue;
            }
            done = window.first + window.entries.len() as u64;
            let turn = Joined::new(window);
            for some in seats.chunks(STRIDE) {
                for seat in some {
                    seat.give(&turn);
                }
                tokio::task::yield_now().await;
            }
        }
    }
}

impl Seat {
    fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a client its part of this turn, or hands it to its own task.
    fn give(&self, turn: &Joined) {
        let mut place = self.lock();
        if place.own || place.next >= turn.end() {
            return;
        }
        let Some(line) = self.line.as_ref().filter(|_| place.next >= turn.first) else {
            place.hand_over();
            return;
        };
        let filtered;
        let bytes = if self.wanted.is_everything() {
            turn.since(place.next)
        } else {
            filtered = turn.wanted_since(place.next, &self.wanted);
            &filtered
        };
        if bytes.is_empty() {
            place.next = turn.end();
            return;
        }
        match line.try_write(bytes) {
            Ok(sent) if sent == bytes.len() => place.next = turn.end(),
            Ok(sent) => {
                (place.next, place.rest) = turn.cut(place.next, &self.wanted, sent);
                place.hand_over();
            }
            // Its own task finds out what it is.
            Err(_) => place.hand_over(),
        }
    }

    /// What the client's own task is to do now; it is woken when that changes.
    pub(crate) fn turn(&self, task: &Waker) -> Turn {
        let mut place = self.lock();
        if place.expelled {
            place.own = true;
            return Turn::Leave(mem::take(&mut place.rest));
        }
        if place.own {
            return Turn::Write(place.next, mem::take(&mut place.rest));
        }
        if place.task.as_ref().is_none_or(|old| !old.will_wake(task)) {
            place.task = Some(task.clone());
        }
        Turn::Wait
    }

    /// The client's own task wants to write now; answers from where, after this rest of a frame.
    pub(crate) fn take(&self) -> (u64, Bytes) {
        let mut place = self.lock();
        place.own = true;
        (place.next, mem::take(&mut place.rest))
    }

    /// The client's own task has sent everything up to `next` and hands it to the crowd; false if more
    /// has come meanwhile.
    pub(crate) fn give_back(&self, feed: &Feed, next: u64) -> bool {
        let mut place = self.lock();
        place.next = next;
        // What comes after this look finds the client in the crowd, and is given to it there.
        place.own = !feed.is_at_end(next);
        !place.own
    }
}

impl Place {
    fn hand_over(&mut self) {
        self.own = true;
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }
}

/// One turn's messages, joined once for all.
#[derive(Debug)]
struct Joined {
    first: u64,
    entries: Vec<Entry>,
    bytes: Bytes,
}

impl Joined {
    fn new(window: Window) -> Self {
        let Window { first, entries, .. } = window;
        let bytes = match entries.as_slice() {
            [one] => one.frame.clone(),
            all => Bytes::from(join(all.iter())),
        };
        Self { first, entries, bytes }
    }

    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn skip(&self, place: u64) -> usize {
        usize::try_from(place.saturating_sub(self.first)).unwrap_or(usize::MAX)
    }

    /// Everything from this place on.
    fn since(&self, place: u64) -> &[u8] {
        let before: usize = self.entries.iter().take(self.skip(place)).map(|entry| entry.frame.len()).sum();
        &self.bytes[before..]
    }

    fn wanted_since(&self, place: u64, wanted: &Wanted) -> Vec<u8> {
        join(self.entries.iter().skip(self.skip(place)).filter(|entry| wanted.wants(entry)))
    }

    /// After so many bytes: the place, and the rest of the frame that was cut.
    fn cut(&self, place: u64, wanted: &Wanted, mut sent: usize) -> (u64, Bytes) {
        let mut next = place;
        for entry in self.entries.iter().skip(self.skip(place)) {
            if wanted.wants(entry) {
                if sent == 0 {
                    break;
                }
                if sent < entry.frame.len() {
                    return (next + 1, entry.frame.slice(sent..));
                }
                sent -= entry.frame.len();
            }
            next += 1;
        }
        (next, Bytes::new())
    }
}

fn join<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        bytes.extend_from_slice(&entry.frame);
    }
    bytes
}
