//! Which bytes belong together. Only a header byte has its top bit set, so a decoder that lost its
//! place finds it again at the next header; a length is believed only within the bounds its
//! message can have.
//!
//! Every byte is accounted for: it is part of a delivered message, or counted in a [`Dropped`], or
//! still pending.

use std::ops::RangeInclusive;

/// The log is the longest message there is: 0x1f00 bytes and the header.
pub const LOG_LENGTH: usize = 0x1f03;

/// How bytes came to be dropped, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dropped {
    /// They belong to no message: noise, an impossible length, contents that cannot be.
    Garbage(u32),
    /// A message was cut short by the header of the next one.
    Cut(u32),
    /// A bus frame whose checksum is wrong.
    Checksum(u32),
}

impl Dropped {
    /// How many bytes were dropped.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Self::Garbage(count) | Self::Cut(count) | Self::Checksum(count) => count,
        }
    }

    /// The same as an event of the line.
    #[must_use]
    pub fn to_link_event(self) -> crate::wire::LinkEvent {
        match self {
            Self::Garbage(count) => crate::wire::LinkEvent::Garbage(count),
            Self::Cut(count) => crate::wire::LinkEvent::Resync(count),
            Self::Checksum(_) => crate::wire::LinkEvent::Checksum,
        }
    }
}

/// What a decoder hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<M> {
    /// A whole message.
    Message(M),
    /// Bytes that will never be one.
    Dropped(Dropped),
}

/// Which lengths the messages of one language can have, header included.
pub(super) type Lengths = fn(u8) -> Option<RangeInclusive<u16>>;

/// What one more byte brought.
pub(super) enum Step<'a> {
    Nothing,
    Frame(&'a [u8]),
    Dropped(Dropped),
}

/// Collects `id, length (two times 7 bits), data` frames.
#[derive(Clone, Debug)]
pub(super) struct Framer {
    lengths: Lengths,
    frame: Vec<u8>,
    /// Whole length of the frame being collected; 0 until its length bytes are in.
    expected: usize,
    /// Bytes outside any frame, not yet reported.
    garbage: u32,
    /// The frame in the buffer was handed out; the next byte starts afresh.
    done: bool,
    /// Where in a log a byte with its top bit stands that may be a header.
    suspect: Option<usize>,
    /// What came of the last log that was cut short, without its header.
    remains: Vec<u8>,
}

impl Framer {
    pub(super) fn new(lengths: Lengths) -> Self {
        Self {
            lengths,
            frame: Vec::with_capacity(72),
            expected: 0,
            garbage: 0,
            done: false,
            suspect: None,
            remains: Vec::new(),
        }
    }

    /// Takes what came of the last log that was cut short: its bytes are dropped as a message, and
    /// still tell what they tell. Empty when there is none.
    pub(super) fn take_remains(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.remains)
    }

    fn keep_remains(&mut self, end: usize) {
        if self.in_log() && self.frame[0] == 0x8f {
            self.remains = self.frame[3..end.max(3)].to_vec();
        }
    }

    pub(super) fn push(&mut self, byte: u8) -> Step<'_> {
        if self.done {
            self.clear_frame();
        }
        if byte >= 0x80 {
            if !self.in_log() {
                return self.header(byte);
            }
            self.suspect = Some(self.frame.len());
        }
        if self.frame.is_empty() {
            self.garbage += 1;
            return Step::Nothing;
        }
        self.frame.push(byte);
        if let Some(cut) = self.cut_by_suspect() {
            return Step::Dropped(Dropped::Cut(cut));
        }
        if self.frame.len() == 3 && !self.length_is_possible() {
            // The header was noise: what follows is hunted through for the next one.
            self.garbage += 3;
            self.clear_frame();
            return Step::Nothing;
        }
        if self.frame.len() == self.expected {
            self.done = true;
            return Step::Frame(&self.frame);
        }
        Step::Nothing
    }

    /// Gives up on whatever is half received, for when the line has been quiet too long or ended.
    pub(super) fn give_up(&mut self) -> Option<Dropped> {
        if self.done {
            self.clear_frame();
        }
        self.keep_remains(self.frame.len());
        let (cut, garbage) = (self.frame.len() as u32, self.garbage);
        self.clear_frame();
        self.garbage = 0;
        match (cut, garbage) {
            (0, 0) => None,
            (0, garbage) => Some(Dropped::Garbage(garbage)),
            (cut, garbage) => Some(Dropped::Cut(cut + garbage)),
        }
    }

    /// Bytes taken in and neither handed out nor reported as dropped.
    pub(super) fn pending(&self) -> usize {
        self.garbage as usize + if self.done { 0 } else { self.frame.len() }
    }

    fn header(&mut self, byte: u8) -> Step<'_> {
        let cut = self.frame.len() as u32;
        self.clear_frame();
        let known = (self.lengths)(byte).is_some();
        if known {
            self.frame.push(byte);
        }
        // At most one of the two is non-zero: garbage is counted only while no frame is open.
        let event = match (cut, self.garbage) {
            (0, 0) => Step::Nothing,
            (0, garbage) if known => Step::Dropped(Dropped::Garbage(garbage)),
            (0, _) => Step::Nothing,
            (cut, garbage) => Step::Dropped(Dropped::Cut(cut + garbage)),
        };
        if matches!(event, Step::Dropped(_)) {
            self.garbage = 0;
        }
        if !known {
            self.garbage += 1;
        }
        event
    }

    fn length_is_possible(&mut self) -> bool {
        let length = u16::from(self.frame[1]) << 7 | u16::from(self.frame[2]);
        self.expected = usize::from(length);
        // Three bytes are in already, so a frame cannot be shorter than four.
        length > 3 && (self.lengths)(self.frame[0]).is_some_and(|bounds| bounds.contains(&length))
    }

    /// A log takes seconds, so one flipped bit must not cost all of it, and an erased cell of the
    /// board's memory reads ff. So in there a top bit alone makes no header: a possible length
    /// has to follow it.
    fn in_log(&self) -> bool {
        self.frame.len() >= 3 && self.expected > 0x100
    }

    /// Two bytes after a suspect: if it was a header, the log ends before it. How many bytes that
    /// drops.
    fn cut_by_suspect(&mut self) -> Option<u32> {
        let at = self.suspect.filter(|at| self.frame.len() == at + 3)?;
        self.suspect = None;
        let tail = [self.frame[at], self.frame[at + 1], self.frame[at + 2]];
        let length = u16::from(tail[1]) << 7 | u16::from(tail[2]);
        let is_header = tail[1] < 0x80
            && tail[2] < 0x80
            && length > 3
            && (self.lengths)(tail[0]).is_some_and(|bounds| bounds.contains(&length));
        if !is_header {
            return None;
        }
        self.keep_remains(at);
        self.clear_frame();
        self.frame.extend(tail);
        self.expected = usize::from(length);
        Some(at as u32)
    }

    fn clear_frame(&mut self) {
        self.frame.clear();
        // A log may have grown the buffer; give that back.
        self.frame.shrink_to(256);
        self.expected = 0;
        self.done = false;
        self.suspect = None;
    }
}

/// Appends `id, length` for a frame with so many bytes after its three header bytes.
pub(super) fn push_header(id: u8, data_bytes: usize, out: &mut Vec<u8>) {
    let length = data_bytes + 3;
    out.extend([id, (length >> 7) as u8 & 0x7f, length as u8 & 0x7f]);
}
