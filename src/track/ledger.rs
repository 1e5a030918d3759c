//! The evidence since some position: each square's readings, and the presses that wait.
//!
//! It only keeps them at hand. How a square's readings fit what a line puts there is in `align`, what
//! a whole line costs in `tally`. Costs are in quarters of a natural logarithm of odds, roughly.

use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square};

use super::{
    align::READINGS,
    eyes::{Eyes, differing},
    scan::Comb,
};
use crate::record::{Position, Timestamp};

/// A reading is at most so old: a scan, and what waits before it on the line, in ms.
pub(super) const STALE: i64 = 275;
/// What was read was so old at the most, unless the line was busy, in ms.
const SCANNED: i32 = 258;
/// A look may be so much off what is known of the scan, in ms.
pub(super) const OFF: i32 = 4;
/// Earlier than anything that is read, in ms after the look.
pub(super) const LONG_AGO: i32 = i32::MIN / 2;
/// Milliseconds of impossible order that cost one.
const ORDER: i64 = 10;
/// The most that one impossible order costs.
const IMPOSSIBLE: u32 = 60;
/// Plies in a line.
pub(super) const LONGEST: usize = 32;
/// A ply.
pub(super) const PLY: u32 = 8;

/// One reading of a square.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) at: Timestamp,
    /// The same from the look, as [`Ledger::ms`] counts.
    pub(super) ms: i32,
    pub(super) content: Option<Piece>,
    /// It came with a dump: the change may be older than a scan.
    pub(super) dumped: bool,
    /// It was made then at the earliest: the look before had not seen it.
    pub(super) since: i32,
}

/// A square's readings.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) square: Square,
    /// What it read before the first of them.
    pub(super) first: Option<Piece>,
    pub(super) readings: Vec<Reading>,
}

impl Lane {
    /// How many readings came before this moment.
    pub(super) fn before(&self, horizon: Timestamp) -> usize {
        self.readings.partition_point(|reading| reading.at < horizon)
    }
}

/// When a man arrived on a square.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) at: Timestamp,
    pub(super) piece: Piece,
    pub(super) dumped: bool,
}

/// A press that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    pub(super) at: Timestamp,
    pub(super) by: Color,
}

/// A ply of a line under examination.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) m: Move,
    pub(super) after: Position,
    /// When it was read.
    pub(super) at: Timestamp,
}

/// The evidence since some position.
pub(super) struct Ledger<'a> {
    pub(super) eyes: &'a Eyes,
    pub(super) now: Timestamp,
    /// In the order of their squares.
    pub(super) lanes: Vec<Lane>,
    /// The lane of each square, if it has one.
    lane_of: [u8; 64],
    /// Squares that have a lane …
    read: Bitboard,
    /// … and that were read to hold more than one content.
    changed: Bitboard,
    /// The one content of each other square.
    held: Board,
    /// Squares on which a man was read to arrive …
    landed: Bitboard,
    /// … and by what kind of man, its place being [`kind`].
    landed_by: [Bitboard; 16],
    pub(super) presses: Vec<Pressed>,
    /// Plies from the root that are pressed already.
    pub(super) pressed: usize,
    pub(super) clock: bool,
    /// Plies follow one another faster than a scan and a press can tell.
    pub(super) brisk: bool,
    /// When the board looks at its squares, if that is known.
    pub(super) comb: Option<Comb>,
}

const NONE: u8 = u8::MAX;

impl<'a> Ledger<'a> {
    /// Of all that was read since `since`. `presses` wait; the first `pressed` plies of a line from
    /// the root are pressed already.
    pub(super) fn new(
        eyes: &'a Eyes,
        since: Timestamp,
        now: Timestamp,
        presses: Vec<Pressed>,
        pressed: usize,
        clock: bool,
        brisk: bool,
    ) -> Self {
        let comb = eyes.comb(now);
        let mut lanes: Vec<Lane> = Vec::with_capacity(24);
        let mut lane_of = [NONE; 64];
        for seen in eyes.changes(since) {
            if eyes.blind().contains(seen.square) {
                continue;
            }
            let index = usize::from(seen.square);
            if lane_of[index] == NONE {
                lane_of[index] = lanes.len() as u8;
                lanes.push(Lane { square: seen.square, first: seen.was, readings: Vec::with_capacity(4) });
            }
            let lane = &mut lanes[usize::from(lane_of[index])];
            if lane.readings.len() == READINGS {
                lane.first = lane.readings.remove(0).content;
            }
            let look = comb.and_then(|comb| Some((comb, comb.upto(eyes.place(seen.square), seen.at)?)));
            let since = match look {
                _ if seen.dumped => LONG_AGO,
                Some((comb, look)) => ms(now, look) - comb.period() - OFF,
                None => ms(now, seen.at) - SCANNED,
            };
            lane.readings.push(Reading {
                at: seen.at,
                ms: ms(now, seen.at),
                content: seen.now,
                dumped: seen.dumped,
                since,
            });
        }
        let mut held = eyes.board.clone();
        let (mut read, mut changed) = (Bitboard::EMPTY, Bitboard::EMPTY);
        for lane in &lanes {
            read.add(lane.square);
            match lane.first {
                first if lane.readings.iter().any(|reading| reading.content != first) => {
                    changed.add(lane.square);
                }
                Some(piece) => held.set_piece_at(lane.square, piece),
                None => held.discard_piece_at(lane.square),
            }
        }
        lanes.sort_unstable_by_key(|lane| lane.square);
        let (mut landed, mut landed_by) = (Bitboard::EMPTY, [Bitboard::EMPTY; 16]);
        for (index, lane) in lanes.iter().enumerate() {
            lane_of[usize::from(lane.square)] = index as u8;
            for piece in lane.readings.iter().filter_map(|reading| reading.content) {
                landed.add(lane.square);
                landed_by[kind(piece.color, piece.role)].add(lane.square);
            }
        }
        Self {
            eyes,
            now,
            lanes,
            lane_of,
            read,
            changed,
            held,
            landed,
            landed_by,
            presses,
            pressed,
            clock,
            brisk,
            comb,
        }
    }

    /// The lanes of these squares, in their order.
    pub(super) fn lanes_of(&self, squares: Bitboard) -> impl Iterator<Item = &Lane> {
        squares.into_iter().filter_map(|square| self.lane(square))
    }

    pub(super) fn lane(&self, square: Square) -> Option<&Lane> {
        self.lanes.get(usize::from(self.lane_of[usize::from(square)]))
    }

    /// The lane of a square, and its place.
    pub(super) fn numbered(&self, square: Square) -> Option<(usize, &Lane)> {
        let place = usize::from(self.lane_of[usize::from(square)]);
        Some((place, self.lanes.get(place)?))
    }

    /// A moment in ms after the look; what is further off than some days is taken to be nearer.
    pub(super) fn ms(&self, at: Timestamp) -> i32 {
        ms(self.now, at)
    }

    /// What the square reads now.
    pub(super) fn reads(&self, square: Square) -> Option<Piece> {
        self.eyes.board.piece_at(square)
    }

    /// Squares that were read to change, or differ from the root.
    pub(super) fn active(&self, root: &Position) -> Bitboard {
        let read: Bitboard = self.lanes.iter().map(|lane| lane.square).collect();
        (read | differing(&self.eyes.board, root.board())) & !self.eyes.blind()
    }

    /// When men were read to arrive on this square.
    pub(super) fn arrivals(&self, square: Square) -> impl Iterator<Item = Arrived> {
        self.lane(square).into_iter().flat_map(|lane| lane.readings.iter()).filter_map(|reading| {
            Some(Arrived { at: reading.at, piece: reading.content?, dumped: reading.dumped })
        })
    }

    /// Squares on which a man was read to arrive.
    pub(super) fn landed(&self) -> Bitboard {
        self.landed
    }

    /// Squares on which this man, or one like it, was read to arrive.
    pub(super) fn landed_by(&self, man: Piece) -> Bitboard {
        self.landed_by[kind(man.color, man.role)]
    }

    /// Squares off which their men were read, or whose reading tells nothing.
    pub(super) fn left(&self, board: &Board) -> Bitboard {
        self.changed | differing(&self.held, board) | self.eyes.blind() & !self.read
    }
}

/// So many ms are enough for any game.
const DAYS: i64 = 400_000_000;

fn ms(now: Timestamp, at: Timestamp) -> i32 {
    at.since(now).clamp(-DAYS, DAYS) as i32
}

/// The place of a kind of men, below 16.
pub(super) fn kind(color: Color, role: Role) -> usize {
    usize::from(color.is_white()) * 8 + role as usize
}

/// What it costs that something is possible only from then on, and was so at `at`.
pub(super) fn over(possible: Timestamp, at: Timestamp) -> u32 {
    ((possible.since(at).max(0) / ORDER) as u32).min(IMPOSSIBLE)
}

/// The same, the moments being given in ms after the look.
pub(super) fn over_ms(possible: i32, at: i32) -> u32 {
    ((possible - at).max(0) as u32 / ORDER as u32).min(IMPOSSIBLE)
}
