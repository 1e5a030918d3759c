//! The stream in the board's own memory: every change of a square, the time at every press, and
//! tags for power-up and start positions. The same stream travels inside the bus replies to
//! "changes" and "from start". It holds no time of day.

use crate::wire::{BoardSquare, Content, RecoveredEvent, Squares};

use super::{
    clock::{bcd, to_bcd},
    piece::{content_from_code, piece_code},
};

/// One tag of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// 40 to 5f: a square changed.
    Field {
        /// Which one.
        square: BoardSquare,
        /// What it reads from now on.
        content: Content,
        /// Within 250 ms of the change before.
        quick: bool,
    },
    /// 60 to 69 (right) and 70 to 79 (left): the lever moved; the side just halted shows this.
    Time {
        /// The left side of the clock as seen from its front.
        left: bool,
        /// Time left, 0 to 9:59:59, in seconds.
        seconds: u32,
    },
    /// 6a: the board was switched on; a tag for every piece follows, in any order.
    PowerUp,
    /// 6b: end of the download.
    End,
    /// 6c: all men on the outer two rows of each side, but not the initial position (Chess960).
    FourRows,
    /// 6d: the board is empty.
    EmptyBoard,
    /// 6e: the log was downloaded.
    Downloaded,
    /// 6f (connector at White's left) and 7a (right): the initial position stands.
    Begin {
        /// The board is turned by 180 degrees.
        rotated: bool,
    },
    /// 7b: a game was started on the bus; a tag for every piece follows.
    Start,
    /// 7c: the board's processor was restarted by its watchdog; like a power-up.
    Watchdog,
    /// 7d, 7e and whatever newer firmware writes (10 to 3f, delays of unknown coding), or what is
    /// left of a damaged tag. No meaning is drawn from it.
    Unknown(u8),
    /// 7f, 00 or (an erased cell) ff: nothing.
    Nop(u8),
}

impl Tag {
    /// Appends the tag's bytes.
    pub fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::Field { square, content, quick } => {
                let first = if quick { 0x50 } else { 0x40 };
                out.extend([first | piece_code(content), square.into()]);
            }
            Self::Time { left, seconds } => {
                let first = if left { 0x70 } else { 0x60 };
                let [hours, minutes, seconds] = to_bcd(seconds);
                out.extend([first | hours, minutes, seconds]);
            }
            Self::PowerUp => out.push(0x6a),
            Self::End => out.push(0x6b),
            Self::FourRows => out.push(0x6c),
            Self::EmptyBoard => out.push(0x6d),
            Self::Downloaded => out.push(0x6e),
            Self::Begin { rotated: false } => out.push(0x6f),
            Self::Begin { rotated: true } => out.push(0x7a),
            Self::Start => out.push(0x7b),
            Self::Watchdog => out.push(0x7c),
            Self::Unknown(byte) | Self::Nop(byte) => out.push(byte),
        }
    }

    /// The same for whoever reconstructs what happened; `None` for tags that tell nothing of it.
    #[must_use]
    pub fn to_recovered(self) -> Option<RecoveredEvent> {
        Some(match self {
            Self::Field { square, content, quick } => RecoveredEvent::Square { square, content, quick },
            Self::Time { left, seconds } => RecoveredEvent::Halted { left, seconds },
            Self::PowerUp | Self::Watchdog => RecoveredEvent::PowerUp,
            Self::Begin { rotated } => RecoveredEvent::StartPosition { rotated },
            Self::EmptyBoard => RecoveredEvent::EmptyBoard,
            Self::Start => RecoveredEvent::StartTag,
            Self::End | Self::FourRows | Self::Downloaded | Self::Unknown(_) | Self::Nop(_) => return None,
        })
    }
}

/// Reads the tags of a stream, in order. Never fails: a byte that starts no whole tag comes out as
/// [`Tag::Unknown`], and reading goes on with the next byte.
#[derive(Clone, Debug)]
pub struct Tags<'a> {
    rest: &'a [u8],
}

impl<'a> Tags<'a> {
    /// Reads these bytes: the data of a log message or of a bus reply, without header, address and
    /// checksum.
    #[must_use]
    pub fn new(stream: &'a [u8]) -> Self {
        Self { rest: stream }
    }

    /// How many bytes are not read yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.rest.len()
    }
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        let &first = self.rest.first()?;
        let (tag, length) = match (first, &self.rest[1..]) {
            (0x40..=0x5f, [square, ..]) => match BoardSquare::new(*square) {
                Some(square) => {
                    let content = content_from_code(first);
                    (Tag::Field { square, content, quick: first & 0x10 != 0 }, 2)
                }
                None => (Tag::Unknown(first), 1),
            },
            (0x60..=0x69 | 0x70..=0x79, [minutes, seconds, ..]) => match (bcd(*minutes), bcd(*seconds)) {
                (Some(minutes), Some(seconds)) => {
                    let seconds = u32::from(first & 0x0f) * 3600 + minutes * 60 + seconds;
                    (Tag::Time { left: first & 0x10 != 0, seconds }, 3)
                }
                _ => (Tag::Unknown(first), 1),
            },
            (0x6a, _) => (Tag::PowerUp, 1),
            (0x6b, _) => (Tag::End, 1),
            (0x6c, _) => (Tag::FourRows, 1),
            (0x6d, _) => (Tag::EmptyBoard, 1),
            (0x6e, _) => (Tag::Downloaded, 1),
            (0x6f, _) => (Tag::Begin { rotated: false }, 1),
            (0x7a, _) => (Tag::Begin { rotated: true }, 1),
            (0x7b, _) => (Tag::Start, 1),
            (0x7c, _) => (Tag::Watchdog, 1),
            (0x00 | 0x7f | 0xff, _) => (Tag::Nop(first), 1),
            _ => (Tag::Unknown(first), 1),
        };
        self.rest = &self.rest[length..];
        Some(tag)
    }
}

/// The events of a log that came after the board last showed `before`, when it shows `now`.
///
/// Goes back from the end: what a square read before an event is what the event before it on the
/// same square said, or unknown when the log does not reach so far back. The latest moment that
/// agrees with `before` on every square counts. `None` when there is none.
#[must_use]
pub fn events_since<'a>(
    events: &'a [RecoveredEvent],
    before: &Squares,
    now: &Squares,
) -> Option<&'a [RecoveredEvent]> {
    let mut earlier: [Option<Content>; 64] = [None; 64];
    let mut replaced = Vec::with_capacity(events.len());
    for event in events {
        replaced.push(match event {
            RecoveredEvent::Square { square, content, .. } => earlier[square.index()].replace(*content),
            _ => None,
        });
    }
    let mut state = now.0.map(Some);
    let agrees = |state: &[Option<Content>; 64]| {
        state.iter().zip(&before.0).all(|(then, before)| then.is_none_or(|then| then == *before))
    };
    for (index, event) in events.iter().enumerate().rev() {
        if agrees(&state) {
            return Some(&events[index + 1..]);
        }
        if let RecoveredEvent::Square { square, .. } = event {
            state[square.index()] = replaced[index];
        }
    }
    agrees(&state).then_some(events)
}

/// The events of the latest game in a log: from its last start position, start tag or empty board.
/// All of them when there is none.
#[must_use]
pub fn events_of_last_game(events: &[RecoveredEvent]) -> &[RecoveredEvent] {
    let start = events.iter().rposition(|event| {
        matches!(
            event,
            RecoveredEvent::StartPosition { .. } | RecoveredEvent::StartTag | RecoveredEvent::EmptyBoard
        )
    });
    &events[start.unwrap_or(0)..]
}
