//! The last messages of a stream, encoded once, for clients to send on at their own pace.
//!
//! A client keeps only its place here. One that is slower than the ring is long finds its place gone
//! and gets a snapshot; it never holds anybody else up, nor any memory of its own.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::hall::TableId;

/// One encoded message.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its number in the stream; a heartbeat carries that of the last update.
    pub(crate) seq: u64,
    /// Which table it is about; `None` goes to everybody.
    pub(crate) table: Option<TableId>,
    /// For arbiters alone (Laws 12.6 keep others from acting on it).
    pub(crate) silent: bool,
    /// The WebSocket frame.
    pub(crate) frame: Bytes,
}

/// The ring. Entries are counted from 0 for the life of the process.
#[derive(Debug)]
pub(crate) struct Ring {
    entries: VecDeque<Entry>,
    /// Count of the first entry still here.
    first: u64,
    bytes: usize,
    /// Bounds.
    most_entries: usize,
    most_bytes: usize,
}

impl Ring {
    pub(crate) fn new(most_entries: usize, most_bytes: usize) -> Self {
        Self { entries: VecDeque::new(), first: 0, bytes: 0, most_entries, most_bytes }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.bytes += entry.frame.len();
        self.entries.push_back(entry);
        // The newest always stays, however large.
        while self.entries.len() > 1
            && (self.entries.len() > self.most_entries || self.bytes > self.most_bytes)
            && let Some(gone) = self.entries.pop_front()
        {
            self.bytes -= gone.frame.len();
            self.first += 1;
        }
    }

    /// The place of the oldest entry still here.
    pub(crate) fn start(&self) -> u64 {
        self.first
    }

    /// The place after the newest entry.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// The entries from this place on, or `None` if some of them are gone.
    pub(crate) fn since(&self, place: u64) -> Option<impl Iterator<Item = &Entry>> {
        let skip = place.checked_sub(self.first)?;
        Some(self.entries.iter().skip(usize::try_from(skip).ok()?))
    }

    /// The place where a client goes on that has everything up to `seq`, if nothing is missing
    /// between. `now` is the stream's present number.
    pub(crate) fn after(&self, seq: u64, now: u64) -> Option<u64> {
        if seq == now {
            return Some(self.end());
        }
        // Numbers have no gaps, so the next one must be here.
        let at = self.entries.partition_point(|entry| entry.seq <= seq);
        let next = self.entries.get(at)?;
        (next.seq == seq + 1).then_some(self.first + at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(entries: usize, seqs: impl Iterator<Item = u64>) -> Ring {
        let mut ring = Ring::new(entries, 1 << 20);
        for seq in seqs {
            ring.push(Entry { seq, table: None, silent: false, frame: Bytes::from_static(b"x") });
        }
        ring
    }

    #[test]
    fn a_client_resumes_where_it_was_or_learns_that_it_cannot() {
        let ring = ring(4, 1..=10);
        assert_eq!(ring.end(), 10);
        assert_eq!(ring.after(10, 10), Some(10), "nothing missed");
        assert_eq!(ring.after(6, 10), Some(6), "7 is the oldest still here");
        assert_eq!(ring.after(5, 10), None, "6 is gone");
        assert_eq!(ring.after(11, 10), None, "from another stream");
        assert!(ring.since(5).is_none());
        assert_eq!(ring.since(8).unwrap().map(|entry| entry.seq).collect::<Vec<_>>(), [9, 10]);
    }

    #[test]
    fn a_heartbeat_does_not_break_a_resume() {
        let mut ring = ring(10, 1..=3);
        ring.push(Entry { seq: 3, table: None, silent: false, frame: Bytes::from_static(b"beat") });
        ring.push(Entry { seq: 4, table: None, silent: false, frame: Bytes::from_static(b"x") });
        assert_eq!(ring.after(3, 4), Some(4), "the heartbeat is behind it");
        assert_eq!(ring.after(2, 4), Some(2));
    }

    #[test]
    fn bytes_are_bounded_too() {
        let mut ring = Ring::new(1000, 100);
        for seq in 1..=50 {
            let frame = Bytes::from(vec![0; 30]);
            ring.push(Entry { seq, table: None, silent: false, frame });
        }
        assert_eq!(ring.since(47).unwrap().count(), 3);
        assert!(ring.since(46).is_none());
    }
}
