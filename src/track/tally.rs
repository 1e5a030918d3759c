//! What a line of plies has to answer for, all squares and presses together.
//!
//! Each square is aligned by itself (`align`), and only the squares that a ply touches are aligned
//! anew when it is added, so that many lines can be compared. Here the rest is added: men that were
//! read where the line never puts them (a slide, a man set down beside its square, a stray), what
//! the squares read in the end, whether the plies can follow one another in the times that the scan
//! leaves possible, and presses: one a ply, by the side that made it, not long before its man can
//! have stood.

use shakmaty::{Bitboard, Move, Piece, Role, Square, attacks};

use super::{
    align::{Aligned, Brought, Contents, What, align},
    ledger::{LONGEST, Lane, Ledger, PLY, STALE, Tried, over},
    moves::{origin, squares},
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

/// Alignments that are made in one search at the most.
const MOST: usize = 65_527;

const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN / 2);

/// What became of a ply in a line.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    arrived: Option<(Timestamp, bool)>,
    left: Option<(Timestamp, bool)>,
    /// Covered at that time before it was read.
    covered: Option<Timestamp>,
}

/// The alignments of a line's squares, by their numbers in [`Tally`].
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    aligned: [u32; 64],
    /// Squares that count.
    active: Bitboard,
}

/// Counts what lines cost.
pub(super) struct Tally<'a, 'b> {
    pub(super) ledger: &'a Ledger<'b>,
    pub(super) root: &'a Position,
    aligned: Vec<Aligned>,
}

impl<'a, 'b> Tally<'a, 'b> {
    /// For lines from this position; with the sheet of the line that has no plies.
    pub(super) fn new(ledger: &'a Ledger<'b>, root: &'a Position) -> (Self, Sheet) {
        let mut tally = Self { ledger, root, aligned: Vec::with_capacity(128) };
        let mut sheet = Sheet { aligned: [0; 64], active: ledger.active(root) };
        for square in sheet.active {
            sheet.aligned[usize::from(square)] = tally.align(square, &[]);
        }
        (tally, sheet)
    }

    /// The sheet of a line whose last ply is new.
    pub(super) fn extend(&mut self, sheet: &Sheet, line: &[&Tried]) -> Sheet {
        let mut sheet = sheet.clone();
        let Some(last) = line.last() else { return sheet };
        for square in squares(last.m, !last.after.turn()) & !self.ledger.eyes.blind() {
            sheet.active.add(square);
            sheet.aligned[usize::from(square)] = self.align(square, line);
        }
        sheet
    }

    /// The sheet of a whole line.
    pub(super) fn sheet(&mut self, bare: &Sheet, line: &[&Tried]) -> Sheet {
        (1..=line.len()).fold(bare.clone(), |sheet, plies| self.extend(&sheet, &line[..plies]))
    }

    fn align(&mut self, square: Square, line: &[&Tried]) -> u32 {
        let mut contents = Contents::new(self.root.board().piece_at(square));
        for (ply, tried) in line.iter().enumerate() {
            let content = tried.after.board().piece_at(square);
            contents.add(Brought { content, ply, m: Some(tried.m), at: tried.at });
        }
        let index = self.aligned.len() as u32;
        self.aligned.push(align(self.ledger, square, &contents));
        index
    }

    fn of(&self, sheet: &Sheet, square: Square) -> &Aligned {
        &self.aligned[sheet.aligned[usize::from(square)] as usize]
    }

    /// So much was looked at that the search ends.
    pub(super) fn full(&self) -> bool {
        self.aligned.len() >= MOST
    }

    /// What this line costs.
    pub(super) fn cost(&self, sheet: &Sheet, line: &[&Tried]) -> u32 {
        self.whole(sheet, line, &self.fates(sheet, line.len()))
    }

    fn whole(&self, sheet: &Sheet, line: &[&Tried], fates: &[Fate]) -> u32 {
        let mut cost = PLY * line.len() as u32;
        for square in sheet.active {
            let aligned = self.of(sheet, square);
            let stood = aligned.stood + if aligned.agrees { 0 } else { self.remains(square, aligned, line) };
            cost += stood.min(aligned.unread);
        }
        cost + self.strays(None, sheet, line, fates) + self.times(fates, line, false)
    }

    /// What this line and every line that goes on from it costs at least, where what follows was made after
    /// `horizon`; and what it costs itself, unless the least is more than `most`.
    pub(super) fn both(
        &self,
        horizon: Timestamp,
        sheet: &Sheet,
        line: &[&Tried],
        most: u32,
    ) -> (u32, Option<u32>) {
        let fates = self.fates(sheet, line.len());
        let least = self.beginning(horizon, sheet, line, &fates);
        (least, (least <= most).then(|| self.whole(sheet, line, &fates)))
    }

    /// Each of the plies `from..to` was read where it went, or covered there; and up to `horizon` nothing
    /// costs more than `most`: no other story can come near.
    pub(super) fn plain(
        &self,
        horizon: Timestamp,
        sheet: &Sheet,
        line: &[&Tried],
        (from, to): (usize, usize),
        most: u32,
    ) -> bool {
        let fates = self.fates(sheet, line.len());
        let read = (from..to.min(line.len())).all(|ply| {
            let m = line[ply].m;
            let doubtful = m.is_promotion() || m.role() == Role::Pawn && origin(m).file() == m.to().file();
            fates[ply].arrived.is_some() || m.is_castle() || fates[ply].covered.is_some() && !doubtful
        });
        // A man that goes on at its next turn may have slid there.
        let again = (from.saturating_sub(2)..to.min(line.len()))
            .any(|ply| line.get(ply + 2).is_some_and(|later| origin(later.m) == line[ply].m.to()));
        read && !again && self.beginning(horizon, sheet, line, &fates) <= most + PLY * line.len() as u32
    }

    fn beginning(&self, horizon: Timestamp, sheet: &Sheet, line: &[&Tried], fates: &[Fate]) -> u32 {
        let mut cost = PLY * line.len() as u32;
        for lane in &self.ledger.lanes {
            cost += self.of(sheet, lane.square).least(lane.before(horizon));
        }
        cost + self.strays(Some(horizon), sheet, line, fates) + self.times(fates, line, true)
    }

    /// The square reads something else than the line leaves there.
    fn remains(&self, square: Square, aligned: &Aligned, line: &[&Tried]) -> u32 {
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
                let own = usize::from(piece.color != self.root.turn());
                let mut later = line.iter().skip(own).step_by(2);
                if later.any(|tried| tried.at.since(since) > 100 && !tried.m.is_castle()) {
                    GONE
                } else if piece.color == self.tip(line).turn() {
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

    fn tip<'c>(&'c self, line: &[&'c Tried]) -> &'c Position {
        line.last().map_or(self.root, |last| &last.after)
    }

    /// A man of the side on move that is off its square was just set down here: its ply goes on.
    fn on_its_way(&self, piece: Piece, lane: Option<&Lane>, line: &[&Tried]) -> bool {
        let tip = self.tip(line);
        let last = lane.and_then(|lane| lane.readings.last());
        let fresh = last.is_some_and(|reading| self.ledger.now.since(reading.at) < UNDER_WAY_MS);
        fresh && piece.color == tip.turn() && (tip.board().by_piece(piece) & self.ledger.eyes.empty()).any()
    }

    /// When each ply's men were read to arrive and leave.
    fn fates(&self, sheet: &Sheet, plies: usize) -> Vec<Fate> {
        let mut fates = vec![Fate::default(); plies];
        for square in sheet.active {
            for mark in self.of(sheet, square).marks() {
                let Some(fate) = fates.get_mut(usize::from(mark.ply)) else { continue };
                match mark.what {
                    What::Left if fate.left.is_none_or(|(at, _)| mark.at < at) => {
                        fate.left = Some((mark.at, mark.dumped));
                    }
                    What::Arrived if fate.arrived.is_none_or(|(at, _)| mark.at > at) => {
                        fate.arrived = Some((mark.at, mark.dumped));
                    }
                    What::Covered => fate.covered = Some(mark.at),
                    What::Left | What::Arrived => {}
                }
            }
        }
        fates
    }

    /// Men that were read where the line never puts them.
    fn strays(&self, horizon: Option<Timestamp>, sheet: &Sheet, line: &[&Tried], fates: &[Fate]) -> u32 {
        let mut cost = 0;
        for lane in &self.ledger.lanes {
            let strays = self.of(sheet, lane.square).strays;
            if strays == 0 {
                continue;
            }
            let end = horizon.map_or(lane.readings.len(), |horizon| lane.before(horizon));
            for (index, reading) in lane.readings[..end].iter().enumerate() {
                let Some(piece) = reading.content.filter(|_| strays & (1 << index) != 0) else { continue };
                let until = lane.readings.get(index + 1).map_or(self.ledger.now, |next| next.at);
                let last = index + 1 == lane.readings.len();
                if last && horizon.is_none() && self.on_its_way(piece, Some(lane), line) {
                    cost += UNDER_WAY;
                    continue;
                }
                cost += Self::stray(lane.square, piece, reading.at, until, line, fates);
            }
        }
        cost
    }

    fn stray(
        square: Square,
        piece: Piece,
        from: Timestamp,
        until: Timestamp,
        line: &[&Tried],
        fates: &[Fate],
    ) -> u32 {
        let mut least = STRAY;
        for (index, (tried, fate)) in line.iter().zip(fates).enumerate() {
            let turn = !tried.after.turn();
            let to = tried.m.to();
            let mine = piece.color == turn
                && (piece.role == tried.m.role() || tried.m.promotion() == Some(piece.role));
            let within =
                |at: Option<(Timestamp, bool)>, slack: i64| at.is_none_or(|(at, _)| from.since(at) <= slack);
            if mine && !tried.m.is_castle() {
                // Seen after it was lifted, and gone when it stood.
                let after_lift = fate.left.is_none_or(|(left, _)| left.since(until) <= STALE);
                // … and after the ply before stood.
                let before = index.checked_sub(1).and_then(|before| fates[before].arrived);
                let in_turn = before.is_none_or(|(at, _)| at.since(until) <= STALE);
                if !within(fate.arrived, STALE) || !after_lift || !in_turn {
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
                && within(fate.arrived, STALE)
                && attacks::between(king, rook).contains(square)
            {
                least = least.min(SLIDE);
            } else if piece.color != turn
                && tried.m.capture() == Some(piece.role)
                && square.distance(to) == 1
                && fate.arrived.is_none_or(|(at, _)| from.since(at).abs() <= 2 * STALE)
            {
                least = least.min(BESIDE);
            }
        }
        least
    }

    /// Whether the plies can follow one another in time, and the presses them.
    fn times(&self, fates: &[Fate], line: &[&Tried], partial: bool) -> u32 {
        let mut cost = 0;
        let early = |(at, dumped): (Timestamp, bool)| if dumped { LONG_AGO } else { at.plus(-SCANNED) };
        let mut cursor = LONG_AGO;
        let mut stood = [LONG_AGO; LONGEST];
        for (index, fate) in fates.iter().enumerate() {
            if let Some(left) = fate.left {
                cost += over(cursor.plus(NEXT_HAND), left.0);
                cursor = cursor.max(early(left).plus(-NEXT_HAND));
            }
            let quickest = if index == 0 { cursor } else { cursor.plus(QUICKEST) };
            if let Some(arrived) = fate.arrived {
                cost += over(quickest, arrived.0);
                cursor = quickest.max(early(arrived));
            } else if let Some(covered) = fate.covered {
                // The scan before saw nothing of it; but it may have been lifted by him who took it
                // before he set his own man down.
                cost += over(quickest, covered);
                cursor = quickest.max(covered.plus(-STALE - VICTIM_FIRST));
            } else {
                cursor = quickest;
            }
            stood[index] = cursor;
        }
        if !self.ledger.brisk {
            for index in 2..line.len() {
                let again = line[index - 2].m.to() == origin(line[index].m);
                let (first, second) = (fates[index - 2].arrived, fates[index].arrived);
                let quick = first.zip(second).is_some_and(|(first, second)| second.0.since(first.0) < TWICE);
                cost += if again && quick { TOO_QUICK } else { 0 };
            }
        }
        // Presses, in their order, one a ply of that side.
        let mut next = self.ledger.pressed;
        for press in &self.ledger.presses {
            let mut ply = next;
            let mut skipped = 0;
            while ply < line.len() && line[ply].after.turn() == press.by {
                ply += 1;
                skipped += FORGOTTEN;
            }
            if ply < line.len() {
                cost += skipped + over(stood[ply].plus(-PRESS_AHEAD), press.at);
                next = ply + 1;
            } else if !partial {
                let early = self.ledger.now.since(press.at) < PRESS_LATE;
                cost += if early { EARLY_PRESS } else { SPARE_PRESS };
            }
        }
        if self.ledger.clock && !partial {
            for (index, stood) in stood.iter().enumerate().take(line.len()).skip(next) {
                if index > 0 && self.ledger.now.since(*stood) > PRESS_DUE {
                    cost += UNPRESSED;
                }
            }
        }
        cost
    }
}
