//! What a line of plies has to answer for, all squares and presses together.
//!
//! Each square is aligned by itself (`align`), once for all the lines that do the same to it (`sheet`), so that
//! many lines can be compared. Here the rest is added: men that were
//! read where the line never puts them (a slide, a man set down beside its square, a stray), what
//! the squares read in the end, whether the plies can follow one another in the times that the scan
//! leaves possible, and presses: one a ply, by the side that made it, not long before its man can
//! have stood.

use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square, attacks};

use super::{
    align::{Aligned, What},
    ledger::{LONGEST, Lane, Ledger, PLY, STALE, kind, over},
    moves::origin,
    sheet::{Ply, Sheet, Sheets},
    threads::{TOO_QUICK, TWICE},
};
use crate::record::{Position, Timestamp};

/// A man read on the way of a ply of its own.
const SLIDE: u32 = 6;
/// A man set down beside where its ply takes it, or a captured man pushed aside.
const BESIDE: u32 = 12;
/// A man that nothing put there.
const STRAY: u32 = 30;
/// The same, and it stands there still.
const STANDS: u32 = 24;
/// A man of the side on move on a square where its ply does not end, just now.
const UNDER_WAY: u32 = 8;
/// So long it may stand there, in ms.
const UNDER_WAY_MS: i64 = 700;
/// A man of the side on move that is off its square.
const LIFTED: u32 = 2;
/// Another man that is off its square.
const HOLE: u32 = 12;
/// A man that is off its square though its owner has moved another one since.
const GONE: u32 = 34;
/// A square that was wrong before, and still is.
const OLD: u32 = 3;
/// A ply that was not pressed though a later one was.
const FORGOTTEN: u32 = 24;
/// A ply not pressed for long.
const UNPRESSED: u32 = 8;
/// A press for which there is no ply.
const SPARE_PRESS: u32 = 26;
/// The same, shortly after it came: its ply may still be read.
const EARLY_PRESS: u32 = 4;
/// No hand takes a man up, carries it and lets it go in less, in ms.
const QUICKEST: i64 = 100;
/// The next hand may take its man up so long before the last one is set down, in ms.
const NEXT_HAND: i64 = -30;
/// A captured man may be lifted so long before the capturing one is set down, in a hurry, in ms.
const VICTIM_FIRST: i64 = 120;
/// The clock may be told of a press so long before the man is seen to stand, in ms.
const PRESS_AHEAD: i64 = 160;
/// So long after a press its ply must have been read, in ms.
const PRESS_LATE: i64 = 500;
/// So long after a ply its press should have come, in ms.
const PRESS_DUE: i64 = 1_600;

/// What was read was so old at the most, unless the line was busy, in ms.
const SCANNED: i64 = 258;

const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN / 2);
/// Later than anything that is read.
const NEVER: Timestamp = Timestamp::from_millis(i64::MAX / 2);

/// What became of a ply in a line.
#[derive(Clone, Copy)]
struct Fate {
    /// When all its men were read to have arrived; [`NEVER`] if they were not.
    arrived: Timestamp,
    /// When the first of its men was read to have left; [`NEVER`] if none was.
    left: Timestamp,
    /// Covered at that time before it was read; [`NEVER`] if it was not.
    covered: Timestamp,
    /// A dump told that they arrived, that one left.
    dumped: (bool, bool),
}

const UNREAD: Fate = Fate { arrived: NEVER, left: NEVER, covered: NEVER, dumped: (false, false) };

/// What became of a line's plies.
struct Fates {
    all: [Fate; LONGEST],
    /// The plies, one bit each, in which a man of this kind moves or is taken.
    of: [u32; 16],
}

/// A line to be judged.
#[derive(Clone, Copy)]
pub(super) struct Judged<'c> {
    pub(super) sheet: &'c Sheet,
    pub(super) plies: &'c [Ply],
    /// What stands after them.
    pub(super) tip: Tip<'c>,
}

/// What stands after a line of plies, as far as it matters here.
#[derive(Clone, Copy)]
pub(super) struct Tip<'c> {
    /// The side on move.
    turn: Color,
    board: &'c Board,
    /// A man of that side that is not there any more.
    without: Bitboard,
}

impl<'c> Tip<'c> {
    pub(super) fn of(position: &'c Position) -> Self {
        Self { turn: position.turn(), board: position.board(), without: Bitboard::EMPTY }
    }

    /// One ply later.
    pub(super) fn after(self, ply: Ply) -> Self {
        let taken = match ply.m {
            Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()),
            m => m.to(),
        };
        Self { turn: !ply.by, without: taken.into(), ..self }
    }

    /// Where men like this one of the side on move stand.
    fn men(self, man: Piece) -> Bitboard {
        self.board.by_piece(man) & !self.without
    }
}

/// Counts what lines cost.
pub(super) struct Tally<'a, 'b> {
    pub(super) ledger: &'a Ledger<'b>,
    /// The side on move at the root.
    turn: Color,
    pub(super) sheets: Sheets<'a, 'b>,
}

impl<'a, 'b> Tally<'a, 'b> {
    /// For lines from this position; with the sheet of the line that has no plies.
    pub(super) fn new(ledger: &'a Ledger<'b>, root: &'a Position) -> (Self, Sheet) {
        let (sheets, bare) = Sheets::new(ledger, root);
        (Self { ledger, turn: root.turn(), sheets }, bare)
    }

    /// What this line costs.
    pub(super) fn cost(&self, line: Judged<'_>) -> u32 {
        let fates = self.fates(line);
        let strays = self.strays(None, line, &fates);
        self.whole(line) + strays.1 + self.times(&fates, line.plies).1
    }

    /// What its plies cost, and what the squares read.
    fn whole(&self, line: Judged<'_>) -> u32 {
        let mut cost = PLY * line.plies.len() as u32;
        for square in line.sheet.costly {
            let aligned = self.sheets.of(line.sheet, square);
            let stood = aligned.stood + if aligned.agrees { 0 } else { self.remains(square, aligned, line) };
            cost += stood.min(aligned.unread);
        }
        cost
    }

    /// What this line and every line that goes on from it costs at least, where what follows was made after
    /// `horizon`; and what it costs itself, unless the least is more than `most`.
    pub(super) fn both(&self, horizon: Timestamp, line: Judged<'_>, most: u32) -> (u32, Option<u32>) {
        let mut least = self.beginning(horizon, line);
        if least > most {
            return (least, None);
        }
        let fates = self.fates(line);
        let times = self.times(&fates, line.plies);
        least += times.0;
        if least > most {
            return (least, None);
        }
        let (so_far, strays) = self.strays(Some(horizon), line, &fates);
        least += so_far;
        (least, (least <= most).then(|| self.whole(line) + strays + times.1))
    }

    /// Each of the plies `from..to` was read where it went, or covered there; and up to `horizon` nothing
    /// costs more than `most`: no other story can come near.
    pub(super) fn plain(
        &self,
        horizon: Timestamp,
        line: Judged<'_>,
        (from, to): (usize, usize),
        most: u32,
    ) -> bool {
        let fates = self.fates(line);
        let plies = line.plies;
        let read = (from..to.min(plies.len())).all(|ply| {
            let m = plies[ply].m;
            let doubtful = m.is_promotion() || m.role() == Role::Pawn && origin(m).file() == m.to().file();
            let fate = &fates.all[ply];
            fate.arrived != NEVER || m.is_castle() || fate.covered != NEVER && !doubtful
        });
        // A man that goes on at its next turn may have slid there.
        let again = (from.saturating_sub(2)..to.min(plies.len()))
            .any(|ply| plies.get(ply + 2).is_some_and(|later| origin(later.m) == plies[ply].m.to()));
        let least = || {
            self.beginning(horizon, line)
                + self.strays(Some(horizon), line, &fates).0
                + self.times(&fates, plies).0
        };
        read && !again && least() <= most + PLY * plies.len() as u32
    }

    /// What its plies cost, and what was read up to the horizon.
    fn beginning(&self, horizon: Timestamp, line: Judged<'_>) -> u32 {
        let mut cost = PLY * line.plies.len() as u32;
        for lane in self.ledger.lanes_of(line.sheet.early) {
            cost += self.sheets.of(line.sheet, lane.square).least(lane.before(horizon));
        }
        cost
    }

    /// The square reads something else than the line leaves there.
    fn remains(&self, square: Square, aligned: &Aligned, line: Judged<'_>) -> u32 {
        let (stands, reads) = (aligned.stands, self.ledger.reads(square));
        let lane = self.ledger.lane(square);
        match (stands, reads) {
            (Some(piece), None) => {
                let readings = lane.map_or(&[][..], |lane| &lane.readings);
                if lane.is_none_or(|lane| lane.first != stands)
                    && readings.iter().all(|reading| reading.content != stands)
                {
                    return OLD;
                }
                let since = readings.last().map_or(self.ledger.now, |last| last.at);
                // Off its square while its owner made another move.
                let own = usize::from(piece.color != self.turn);
                let mut later = line.plies.iter().skip(own).step_by(2);
                if later.any(|ply| ply.at.since(since) > 100 && !ply.m.is_castle()) {
                    GONE
                } else if piece.color == line.tip.turn {
                    LIFTED
                } else {
                    HOLE + (self.ledger.now.since(since) - STALE).clamp(0, 1_000) as u32 / 50
                }
            }
            (_, Some(piece)) if self.on_its_way(piece, lane, line) => UNDER_WAY,
            (_, Some(_)) => STANDS,
            (None, None) => 0,
        }
    }

    /// A man of the side on move that is off its square was just set down here: its ply goes on.
    fn on_its_way(&self, piece: Piece, lane: Option<&Lane>, line: Judged<'_>) -> bool {
        let tip = line.tip;
        let last = lane.and_then(|lane| lane.readings.last());
        let fresh = last.is_some_and(|reading| self.ledger.now.since(reading.at) < UNDER_WAY_MS);
        fresh && piece.color == tip.turn && (tip.men(piece) & self.ledger.eyes.empty()).any()
    }

    /// When each ply's men were read to arrive and leave.
    fn fates(&self, line: Judged<'_>) -> Fates {
        let mut fates = Fates { all: [UNREAD; LONGEST], of: [0; 16] };
        let count = line.plies.len().min(LONGEST);
        let plies = &mut fates.all[..count];
        for lane in self.ledger.lanes_of(line.sheet.telling) {
            for mark in self.sheets.of(line.sheet, lane.square).marks() {
                let Some(fate) = plies.get_mut(usize::from(mark.ply)) else { continue };
                let Some(reading) = lane.readings.get(usize::from(mark.reading)) else { continue };
                match mark.what {
                    What::Left if reading.at < fate.left => {
                        fate.left = reading.at;
                        fate.dumped.1 = reading.dumped;
                    }
                    What::Arrived if fate.arrived == NEVER || reading.at > fate.arrived => {
                        fate.arrived = reading.at;
                        fate.dumped.0 = reading.dumped;
                    }
                    What::Covered => fate.covered = reading.at,
                    What::Left | What::Arrived => {}
                }
            }
        }
        for (index, ply) in line.plies[..count].iter().enumerate() {
            fates.of[kind(ply.by, ply.m.role())] |= 1 << index;
            if let Some(role) = ply.m.promotion() {
                fates.of[kind(ply.by, role)] |= 1 << index;
            }
            if let Some(role) = ply.m.capture() {
                fates.of[kind(!ply.by, role)] |= 1 << index;
            }
        }
        fates
    }

    /// Men that were read where the line never puts them: up to the horizon whatever follows, and all.
    fn strays(&self, horizon: Option<Timestamp>, line: Judged<'_>, fates: &Fates) -> (u32, u32) {
        let (mut least, mut all) = (0, 0);
        for lane in self.ledger.lanes_of(line.sheet.strays) {
            let strays = self.sheets.of(line.sheet, lane.square).strays;
            let end = horizon.map_or(0, |horizon| lane.before(horizon));
            for (index, reading) in lane.readings.iter().enumerate() {
                let Some(piece) = reading.content.filter(|_| strays & (1 << index) != 0) else { continue };
                let until = lane.readings.get(index + 1).map_or(self.ledger.now, |next| next.at);
                let last = index + 1 == lane.readings.len();
                let on_its_way = last && self.on_its_way(piece, Some(lane), line);
                if on_its_way {
                    all += UNDER_WAY;
                }
                if index < end || !on_its_way {
                    let cost = Self::stray(lane.square, piece, reading.at, until, line.plies, fates);
                    least += if index < end { cost } else { 0 };
                    all += if on_its_way { 0 } else { cost };
                }
            }
        }
        (least, all)
    }

    fn stray(
        square: Square,
        piece: Piece,
        from: Timestamp,
        until: Timestamp,
        line: &[Ply],
        fates: &Fates,
    ) -> u32 {
        let mut least = STRAY;
        let mut plies = fates.of[kind(piece.color, piece.role)];
        while plies != 0 {
            let index = plies.trailing_zeros() as usize;
            plies &= plies - 1;
            let (tried, fate) = (line[index], &fates.all[index]);
            if from.since(fate.arrived) > 2 * STALE {
                continue;
            }
            let turn = tried.by;
            let to = tried.m.to();
            let mine = piece.color == turn
                && (piece.role == tried.m.role() || tried.m.promotion() == Some(piece.role));
            let within = from.since(fate.arrived) <= STALE;
            if mine && !tried.m.is_castle() {
                // Seen after it was lifted, and gone when it stood.
                let after_lift = fate.left == NEVER || fate.left.since(until) <= STALE;
                // … and after the ply before stood.
                let before = index.checked_sub(1).map_or(NEVER, |before| fates.all[before].arrived);
                let in_turn = before == NEVER || before.since(until) <= STALE;
                if !within || !after_lift || !in_turn {
                    continue;
                }
                let rests = (until.since(from) - 2 * STALE).clamp(0, 800) as u32 / 40;
                let way = attacks::between(origin(tried.m), to);
                if tried.m.is_promotion() && square == to {
                    least = 0;
                } else if way.contains(square) {
                    least = least.min(SLIDE + rests);
                } else if square.distance(to) == 1 {
                    least = least.min(BESIDE + rests);
                }
            } else if mine
                && let Move::Castle { king, rook } = tried.m
                && within
                && attacks::between(king, rook).contains(square)
            {
                least = least.min(SLIDE);
            } else if piece.color != turn
                && tried.m.capture() == Some(piece.role)
                && square.distance(to) == 1
                && (fate.arrived == NEVER || fate.arrived.since(from) <= 2 * STALE)
            {
                least = least.min(BESIDE);
            }
        }
        least
    }

    /// Whether the plies can follow one another in time, and the presses them: whatever follows, and as it is.
    fn times(&self, fates: &Fates, line: &[Ply]) -> (u32, u32) {
        let mut cost = 0;
        let early = |at: Timestamp, dumped: bool| if dumped { LONG_AGO } else { at.plus(-SCANNED) };
        let mut cursor = LONG_AGO;
        let mut stood = [LONG_AGO; LONGEST];
        for (index, fate) in fates.all.iter().enumerate().take(line.len()) {
            if fate.left != NEVER {
                cost += over(cursor.plus(NEXT_HAND), fate.left);
                cursor = cursor.max(early(fate.left, fate.dumped.1).plus(-NEXT_HAND));
            }
            let quickest = if index == 0 { cursor } else { cursor.plus(QUICKEST) };
            if fate.arrived != NEVER {
                cost += over(quickest, fate.arrived);
                cursor = quickest.max(early(fate.arrived, fate.dumped.0));
            } else if fate.covered != NEVER {
                // The scan before saw nothing of it; but it may have been lifted by him who took it
                // before he set his own man down.
                cost += over(quickest, fate.covered);
                cursor = quickest.max(fate.covered.plus(-STALE - VICTIM_FIRST));
            } else {
                cursor = quickest;
            }
            stood[index] = cursor;
        }
        if !self.ledger.brisk {
            for index in 2..line.len() {
                let again = line[index - 2].m.to() == origin(line[index].m);
                let (first, second) = (fates.all[index - 2].arrived, fates.all[index].arrived);
                let quick = first != NEVER && second != NEVER && second.since(first) < TWICE;
                cost += if again && quick { TOO_QUICK } else { 0 };
            }
        }
        // Presses, in their order, one a ply of that side.
        let mut next = self.ledger.pressed;
        let mut open = 0;
        for press in &self.ledger.presses {
            let mut ply = next;
            let mut skipped = 0;
            while ply < line.len() && line[ply].by != press.by {
                ply += 1;
                skipped += FORGOTTEN;
            }
            if ply < line.len() {
                cost += skipped + over(stood[ply].plus(-PRESS_AHEAD), press.at);
                next = ply + 1;
            } else {
                let early = self.ledger.now.since(press.at) < PRESS_LATE;
                open += if early { EARLY_PRESS } else { SPARE_PRESS };
            }
        }
        if self.ledger.clock {
            for (index, stood) in stood.iter().enumerate().take(line.len()).skip(next) {
                if index > 0 && self.ledger.now.since(*stood) > PRESS_DUE {
                    open += UNPRESSED;
                }
            }
        }
        (cost, cost + open)
    }
}
