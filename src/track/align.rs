//! One square's readings against the contents that a line gives it.
//!
//! The line says what stands on the square, one content after the other; the board says what was
//! read, one reading after the other. Both are aligned at the least cost: an empty reading between
//! is a hand at work, a man put back is an adjustment, a content that was never read is possible if
//! it was covered, or had gone on, within one scan. What strays cost, and whether the plies can
//! follow one another in time, is for `tally`.

use shakmaty::{Move, Piece, Square};

use super::ledger::{Lane, Ledger, STALE, over};
use crate::record::Timestamp;

/// Readings of one square that are looked at.
pub(super) const READINGS: usize = 14;
/// Contents that a line gives one square.
pub(super) const CONTENTS: usize = 10;
/// Traces that one square can tell of: one content each, and the man covered before it.
const MARKS: usize = 2 * CONTENTS;
/// A man put back.
const PUT_BACK: u32 = 4;
/// A man that stands there in the line was read at another time: as a slide at the least …
pub(super) const ANOTHER_TIME: u32 = 6;
/// … and so much at the most.
pub(super) const UNTIMELY: u32 = 20;
/// A man that was captured within a scan, and never read.
pub(super) const COVERED: u32 = 3;
/// A man that came and went on within a scan, in a scramble …
pub(super) const PASSED: u32 = 16;
/// … and at a calm pace, where an update was lost rather.
const PASSED_CALMLY: u32 = 26;
/// A content that was never read: an update was lost.
const UNREAD: u32 = 36;
/// The same, within a scan of the ply that brought it.
const FRESH: u32 = 10;
/// No way leads there.
const FAR: u32 = u32::MAX / 2;

/// The ply of what stood at the root.
const NO_PLY: u8 = u8::MAX;

/// What a line puts on a square, and the ply that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brought {
    pub(super) content: Option<Piece>,
    pub(super) ply: u8,
    pub(super) m: Option<Move>,
    /// When the ply was read.
    pub(super) at: Timestamp,
}

impl Brought {
    /// What stands there at the root.
    pub(super) fn root(content: Option<Piece>) -> Self {
        Self { content, ply: NO_PLY, m: None, at: Timestamp::from_millis(i64::MIN / 2) }
    }
}

/// What a reading tells of a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Arrived,
    Left,
    /// It was covered by then, and never read.
    Covered,
}

/// A ply's trace on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) ply: u8,
    pub(super) what: What,
    /// The reading of the square that tells of it.
    pub(super) reading: u8,
}

/// The best alignment of a square.
#[derive(Clone, Debug)]
pub(super) struct Aligned {
    /// With the line's last content standing in the end.
    pub(super) stood: u32,
    /// With the last contents not read (yet).
    pub(super) unread: u32,
    /// The square reads what the line leaves there.
    pub(super) agrees: bool,
    /// What the line leaves there.
    pub(super) stands: Option<Piece>,
    /// The least cost of the first readings, whatever follows.
    least: [u16; READINGS + 1],
    /// Where its marks are among all.
    marks: u32,
    marked: u8,
    /// Readings of men that the line never puts there.
    pub(super) strays: u16,
    /// Readings of men that the line puts there at another time; each is counted with [`ANOTHER_TIME`].
    pub(super) untimely: u16,
}

impl Aligned {
    /// The traces of plies among all, the latest first.
    pub(super) fn marks<'a>(&self, all: &'a [Mark]) -> &'a [Mark] {
        &all[self.marks as usize..][..usize::from(self.marked)]
    }

    /// There are such.
    pub(super) fn telling(&self) -> bool {
        self.marked > 0
    }

    /// Some of the readings cost something, whatever follows.
    pub(super) fn early(&self) -> bool {
        self.least.iter().any(|least| *least > 0)
    }

    /// What the first `readings` cost at least.
    pub(super) fn least(&self, readings: usize) -> u32 {
        u32::from(self.least[readings.min(READINGS)])
    }
}

/// Aligns a square that can be believed; its marks are added to all of them.
pub(super) fn align(
    ledger: &Ledger<'_>,
    square: Square,
    contents: &[Brought],
    marks: &mut Vec<Mark>,
) -> Aligned {
    let none = Lane { square, first: ledger.reads(square), readings: Vec::new() };
    let lane = ledger.lane(square).unwrap_or(&none);
    let count = contents.len();
    // best[state]: the least cost of the readings so far with this content standing.
    let mut best = [FAR; CONTENTS];
    let mut came = [[(0_u8, false); CONTENTS]; READINGS];
    let mut least = [0_u16; READINGS + 1];
    best[0] = 0;
    if contents[0].content != lane.first
        && let Some(read) = contents.iter().position(|brought| brought.content == lane.first)
    {
        best[read] = 0; // it was read before the evidence begins
    }
    let mut was = lane.first;
    let mut strays = 0_u16;
    for (step, reading) in lane.readings.iter().enumerate() {
        let mut next = [FAR; CONTENTS];
        let known = contents.iter().any(|brought| brought.content == reading.content);
        if reading.content.is_some() && !known && reading.content != lane.first {
            strays |= 1 << step;
        }
        for state in 0..count {
            if best[state] >= FAR {
                continue;
            }
            let stands = contents[state].content;
            // It goes on standing.
            let stay = if reading.content == stands {
                let back = was.is_none() && stands.is_some() && (state > 0 || lane.first == stands);
                if back { PUT_BACK } else { 0 }
            } else if reading.content.is_some() && known {
                ANOTHER_TIME
            } else {
                0 // a hand, or a stray, which is judged later
            };
            let stay = best[state] + stay;
            if stay < next[state] {
                next[state] = stay;
                came[step][state] = (state as u8, false);
            }
            // A later content is read.
            let mut skipped = 0;
            for later in state + 1..count {
                if contents[later].content == reading.content {
                    // What a ply did was read a scan after its man stood, at the latest.
                    let made = contents[later].at;
                    let late = if reading.dumped { 0 } else { over(reading.at, made.plus(STALE)) };
                    // A man on its way over the square is not its arrival there.
                    let castles = contents[later].m.is_some_and(Move::is_castle);
                    let soon = match reading.content {
                        Some(_) if !castles => over(made.plus(-STALE), reading.at),
                        Some(_) => 0,
                        // No man leaves a square before he came there.
                        None => over(contents[later - 1].at.plus(-STALE), reading.at),
                    };
                    let to = best[state] + skipped + late + soon;
                    if to <= next[later] {
                        next[later] = to;
                        came[step][later] = (state as u8, true);
                    }
                }
                skipped += skipping(ledger, contents, later);
            }
        }
        best = next;
        was = reading.content;
        least[step + 1] = best.iter().copied().min().unwrap_or(0).min(u32::from(u16::MAX)) as u16;
    }
    // What the square reads in the end.
    let stood = best[count - 1];
    let mut other = (FAR, 0);
    for (state, so_far) in best.iter().copied().enumerate().take(count - 1) {
        if so_far >= FAR {
            continue;
        }
        let mut total = so_far;
        for later in state + 1..count - 1 {
            total += skipping(ledger, contents, later);
        }
        let last = &contents[count - 1];
        total += if last.content == was && contents[state].content == was {
            // All that came between has gone again.
            if was.is_none() { 0 } else { COVERED }
        } else if ledger.now.since(last.at) < STALE {
            FRESH
        } else {
            UNREAD
        };
        if total < other.0 {
            other = (total, state);
        }
    }
    let stands = contents[count - 1].content;
    let agrees = was == stands;
    let end = if stood <= other.0 { count - 1 } else { other.1 };
    let first = marks.len();
    let untimely = note(lane, contents, &came, end, marks) & !strays;
    let marked = (marks.len() - first) as u8;
    Aligned { stood, unread: other.0, agrees, stands, least, marks: first as u32, marked, strays, untimely }
}

/// What it costs that this content was never read.
fn skipping(ledger: &Ledger<'_>, contents: &[Brought], index: usize) -> u32 {
    let next = contents.get(index + 1);
    match (contents[index].content, next) {
        (None, _) => 0,
        (Some(piece), Some(Brought { content: Some(taker), .. })) if taker.color != piece.color => COVERED,
        // Taken in passing.
        (_, Some(Brought { content: None, m: Some(Move::EnPassant { to, .. }), .. }))
            if contents[index].m.is_some_and(|m| m.to() != *to) =>
        {
            COVERED + 2
        }
        _ if ledger.brisk => PASSED,
        _ => PASSED_CALMLY,
    }
}

/// Writes down when each ply's men were read to arrive and leave.
fn note(
    lane: &Lane,
    contents: &[Brought],
    came: &[[(u8, bool); CONTENTS]; READINGS],
    end: usize,
    marks: &mut Vec<Mark>,
) -> u16 {
    let most = marks.len() + MARKS;
    let mut untimely = 0;
    let mut state = end;
    for step in (0..lane.readings.len()).rev() {
        let (from, moved) = came[step][state];
        let from = usize::from(from);
        let reading = lane.readings[step].content;
        if !moved
            && reading.is_some()
            && reading != contents[state].content
            && contents.iter().any(|brought| brought.content == reading)
        {
            untimely |= 1 << step;
        }
        if moved {
            for (passed, brought) in contents.iter().enumerate().take(state + 1).skip(from + 1) {
                // Of what was not read only a man that was taken right there is known to have come
                // within the last scan.
                let what = match brought.content {
                    None if passed == state => What::Left,
                    Some(_) if passed == state => What::Arrived,
                    Some(_) if passed + 1 == state => What::Covered,
                    _ => continue,
                };
                if brought.ply != NO_PLY && marks.len() < most {
                    marks.push(Mark { ply: brought.ply, what, reading: step as u8 });
                }
            }
        }
        state = from;
    }
    untimely
}
