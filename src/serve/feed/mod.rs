//! What one audience is shown: a read model, its stream, and what is rendered from it.
//!
//! The daemon pushes updates in; each is folded into the [`View`] and encoded once. Clients take
//! from the ring at their own pace. The desk's feed keeps the hall's numbers; the public feed counts
//! only what the public may see, from the journal's first input on. That count follows from the
//! journal alone (the delay keeps the order), so it goes on across restarts.
//!
//! | file | what it does |
//! | --- | --- |
//! | `ring` | the last messages, encoded once |
//! | `snapshot` | the whole state for a client that joins or fell behind |
//! | `past` | games that left their table, by round |

mod past;
mod ring;
mod snapshot;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use bytes::Bytes;
use serde_json::json;
use tokio::sync::watch;

use self::{past::Past, ring::Ring, snapshot::Fragments};
use super::ws::frame::text_frame;
use crate::{
    hall::{Seq, TableId, Update, UpdateBody, View},
    laws::Audience as AlertAudience,
};

pub use past::RoundGame;
pub(crate) use ring::Entry;

/// Version of the stream's schema.
pub const STREAM_VERSION: u32 = 1;
/// How many messages are kept for clients that resume.
const RING_ENTRIES: usize = 8192;
/// How many updates from before a start are kept for clients that resume.
const RESTORED: usize = 2048;
/// How many bytes of messages are kept.
const RING_BYTES: usize = 4 << 20;

/// Who is shown this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// Arbiters and operators: everything, at once.
    Desk,
    /// Anyone: after the delay.
    Public,
}

/// One audience's read model and stream.
#[derive(Debug)]
pub struct Feed {
    audience: Audience,
    shared: RwLock<Shared>,
    fragments: Mutex<Fragments>,
    /// Tells every client that there is more; the value means nothing.
    wake: watch::Sender<()>,
}

#[derive(Debug)]
struct Shared {
    view: View,
    ring: Ring,
    past: Past,
    /// Counts a table's changes, so that what was rendered from it can be kept.
    versions: BTreeMap<TableId, u64>,
    /// The last updates from before the start, not yet encoded: nobody may ever ask.
    restored: VecDeque<Update>,
    closed: bool,
}

/// What one client wants to see.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Only these tables, sorted; `None` for all.
    pub tables: Option<Box<[TableId]>>,
    /// Not what is for the arbiter alone.
    pub without_silent: bool,
}

impl Wanted {
    pub(crate) fn wants(&self, entry: &Entry) -> bool {
        if entry.silent && self.without_silent {
            return false;
        }
        match (&self.tables, entry.table) {
            (Some(tables), Some(table)) => tables.binary_search(&table).is_ok(),
            _ => true,
        }
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.tables.is_none() && !self.without_silent
    }
}

/// Where a client that joins begins.
#[derive(Debug)]
pub(crate) struct Start {
    /// Its place in the stream.
    pub(crate) next: u64,
    /// What it is sent first.
    pub(crate) hello: Bytes,
    /// What it is sent then, if it does not go on from where it was.
    pub(crate) snapshot: Bytes,
}

/// What came since a place, to be given to many clients at once.
#[derive(Debug)]
pub(crate) struct Window {
    /// The place of the first entry.
    pub(crate) first: u64,
    /// In order, without gaps.
    pub(crate) entries: Vec<Entry>,
    /// The feed has ended.
    pub(crate) closed: bool,
}

impl Feed {
    /// An empty feed.
    #[must_use]
    pub fn new(audience: Audience) -> Arc<Self> {
        Arc::new(Self {
            audience,
            shared: RwLock::new(Shared {
                view: View::new(audience == Audience::Desk),
                ring: Ring::new(RING_ENTRIES, RING_BYTES),
                past: Past::default(),
                versions: BTreeMap::new(),
                restored: VecDeque::new(),
                closed: false,
            }),
            fragments: Mutex::default(),
            wake: watch::Sender::new(()),
        })
    }

    /// Whose feed this is.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// Takes updates in, in order, and wakes whoever listens. Hand over all that one input caused in
    /// one call: its messages then leave in one write.
    pub fn push(&self, updates: &[Update]) {
        if updates.is_empty() {
            return;
        }
        {
            let mut shared = self.write();
            shared.settle();
            for update in updates {
                if let Some(update) = shared.take(update, self.audience) {
                    shared.encode(&update);
                }
            }
        }
        self.wake.send_replace(());
    }

    /// Takes updates in that a journal tells of, before anybody listens: they are numbered and folded,
    /// but only the last are encoded, and those only when somebody resumes.
    pub fn restore(&self, updates: &[Update]) {
        let mut shared = self.write();
        for update in updates {
            if let Some(update) = shared.take(update, self.audience) {
                shared.restored.push_back(update);
                if shared.restored.len() > RESTORED {
                    shared.restored.pop_front();
                }
            }
        }
    }

    /// Sends everybody a sign of life with the present number. To be called every
    /// [`HEARTBEAT`](super::HEARTBEAT).
    pub fn heartbeat(&self) {
        {
            let mut shared = self.write();
            shared.settle();
            let seq = shared.view.seq.0;
            let frame = text_frame(&json!({"type": "heartbeat", "seq": seq}).to_string());
            shared.ring.push(Entry { seq, table: None, silent: false, frame });
        }
        self.wake.send_replace(());
    }

    /// Ends all clients' streams; they are told that the server goes away.
    pub fn close(&self) {
        self.write().closed = true;
        self.wake.send_replace(());
    }

    /// The number of the last update.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.read().view.seq
    }

    /// Reads the model. Be short: the hall waits meanwhile.
    pub fn look<R>(&self, reader: impl FnOnce(&View) -> R) -> R {
        reader(&self.read().view)
    }

    /// The games of a round by table, finished or running, those of earlier rounds too.
    #[must_use]
    pub fn round_games(&self, round: u32) -> BTreeMap<TableId, RoundGame> {
        let shared = self.read();
        shared.past.round(round, &shared.view)
    }

    /// One game of a round.
    #[must_use]
    pub fn round_game(&self, round: u32, table: TableId) -> Option<RoundGame> {
        let shared = self.read();
        shared.past.game(round, table, &shared.view)
    }

    /// The numbers of all rounds that have games.
    #[must_use]
    pub fn rounds(&self) -> Vec<u32> {
        let shared = self.read();
        shared.past.rounds(&shared.view)
    }

    /// The present round, or 0 before the first.
    #[must_use]
    pub fn current_round(&self) -> u32 {
        current_round(&self.read().view)
    }

    /// Becomes ready when there may be more.
    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.wake.subscribe()
    }

    /// A client joins. With `from` it goes on after that number if everything since is still here;
    /// else it gets a snapshot.
    pub(crate) fn join(&self, from: Option<u64>, wanted: &Wanted) -> Start {
        if !self.read().restored.is_empty() {
            self.write().settle();
        }
        if let Some(from) = from {
            let shared = self.read();
            let now = shared.view.seq.0;
            if let Some(next) = shared.ring.after(from, now) {
                let hello = text_frame(&hello(&shared.view, now));
                return Start { next, hello, snapshot: Bytes::new() };
            }
        }
        let snapshot = self.snapshot(wanted);
        let hello = text_frame(&hello(&self.read().view, snapshot.seq));
        Start { next: snapshot.next, hello, snapshot: snapshot.frame }
    }

    /// For a client that fell behind: its place at present, and the snapshot to send it.
    pub(crate) fn catch_up(&self, wanted: &Wanted) -> (u64, Bytes) {
        let snapshot = self.snapshot(wanted);
        (snapshot.next, snapshot.frame)
    }

    /// There is nothing after this place, and more may come.
    pub(crate) fn is_at_end(&self, place: u64) -> bool {
        let shared = self.read();
        !shared.closed && shared.ring.end() == place
    }

    /// What came since `place`, or since the oldest message still here: about `bytes` of it at most.
    pub(crate) fn window(&self, place: u64, bytes: usize) -> Window {
        let shared = self.read();
        let first = place.max(shared.ring.start());
        let mut size = 0;
        let entries = shared.ring.since(first).into_iter().flatten().take_while(|entry| {
            let fits = size == 0 || size + entry.frame.len() <= bytes;
            size += entry.frame.len();
            fits
        });
        Window { first, entries: entries.cloned().collect(), closed: shared.closed }
    }

    /// Fills `batch` with what is next for a client at `place`, which moves on over what it does not
    /// want.
    pub(crate) fn pending(&self, place: &mut u64, wanted: &Wanted, batch: &mut Batch) -> Pending {
        let shared = self.read();
        if shared.closed {
            return Pending::Closed;
        }
        let Some(entries) = shared.ring.since(*place) else { return Pending::Behind };
        let mut next = *place;
        for entry in entries {
            if batch.is_full() {
                return Pending::Some;
            }
            next += 1;
            if wanted.wants(entry) {
                batch.push(entry.frame.clone(), next);
            } else if batch.is_empty() {
                // Nothing waits before it: step over at once.
                *place = next;
            }
        }
        if batch.is_empty() { Pending::Nothing } else { Pending::Some }
    }

    fn read(&self) -> RwLockReadGuard<'_, Shared> {
        self.shared.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shared> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn fragments(&self) -> MutexGuard<'_, Fragments> {
        self.fragments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is next for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// The batch holds it.
    Some,
    /// Nothing: wait to be woken.
    Nothing,
    /// What it had to get is gone: it needs a snapshot.
    Behind,
    /// The feed has ended.
    Closed,
}

/// Frames to be sent in one write, on the stack.
#[derive(Debug)]
pub(crate) struct Batch {
    frames: [Bytes; Batch::FRAMES],
    places: [u64; Batch::FRAMES],
    count: usize,
    bytes: usize,
}

impl Batch {
    /// The most frames joined in one write.
    pub(crate) const FRAMES: usize = 48;
    /// About the most bytes joined in one write.
    const BYTES: usize = 32 << 10;

    /// An empty batch.
    pub(crate) fn new() -> Self {
        Self { frames: [const { Bytes::new() }; Self::FRAMES], places: [0; Self::FRAMES], count: 0, bytes: 0 }
    }

    fn is_full(&self) -> bool {
        self.count == Self::FRAMES || self.bytes >= Self::BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn push(&mut self, frame: Bytes, place: u64) {
        self.bytes += frame.len();
        self.frames[self.count] = frame;
        self.places[self.count] = place;
        self.count += 1;
    }

    /// The frames in order.
    pub(crate) fn frames(&self) -> &[Bytes] {
        &self.frames[..self.count]
    }

    /// `sent` bytes of it left: moves the client on and answers the rest of a frame cut in two.
    pub(crate) fn sent(&self, mut sent: usize, next: &mut u64) -> Bytes {
        for (frame, place) in self.frames().iter().zip(self.places) {
            if sent == 0 {
                break;
            }
            *next = place;
            if sent < frame.len() {
                return frame.slice(sent..);
            }
            sent -= frame.len();
        }
        Bytes::new()
    }
}

impl Shared {
    /// Encodes what was only folded so far.
    fn settle(&mut self) {
        for update in std::mem::take(&mut self.restored) {
            self.encode(&update);
        }
    }

    /// Folds an update in; answers it with its number in this stream, unless it is no news here.
    fn take(&mut self, update: &Update, audience: Audience) -> Option<Update> {
        let desk = audience == Audience::Desk;
        if !desk && update.desk_only() {
            return None;
        }
        if let (Some(table), UpdateBody::Table(info)) = (update.table, &update.body)
            && let Some(view) = self.view.tables.get_mut(&table)
        {
            if view.info.game != info.game {
                let game = std::mem::take(&mut view.game);
                self.past.keep(table, &view.info, game, view.clock);
            } else if !desk && info.is_same_to_the_public(&view.info) {
                // Only the desk's side of it changed: nothing the public has to be told.
                view.info = Arc::clone(info);
                if view.game.tags != info.tags {
                    view.game.tags.clone_from(&info.tags);
                }
                *self.versions.entry(table).or_default() += 1;
                return None;
            }
        }
        if let Some(table) = update.table {
            *self.versions.entry(table).or_default() += 1;
        }
        let mut numbered = update.clone();
        if !desk {
            numbered.seq = Seq(self.view.seq.0 + 1);
        }
        self.view.apply(&numbered);
        Some(numbered)
    }

    fn encode(&mut self, numbered: &Update) {
        let silent = matches!(&numbered.body,
            UpdateBody::Alert(alert) if alert.audience == AlertAudience::ArbiterSilent);
        let frame = text_frame(&numbered.to_json(self.view.desk).to_string());
        self.ring.push(Entry { seq: numbered.seq.0, table: numbered.table, silent, frame });
    }
}

/// The round the hall is in, or 0 before the first.
fn current_round(view: &View) -> u32 {
    let number = view.round.get("number").and_then(serde_json::Value::as_u64);
    match number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0) {
        Some(number) => number,
        None => view.tables.values().map(|table| table.info.round).max().unwrap_or(0),
    }
}

fn hello(view: &View, seq: u64) -> String {
    json!({
        "type": "hello",
        "version": STREAM_VERSION,
        "event": view.round.get("event"),
        "seq": seq,
    })
    .to_string()
}
