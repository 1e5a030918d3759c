//! What became of a line's plies: when each one's men were read to leave and to arrive, whether the plies can
//! have followed one another in these times, and which men were read where the line never puts them.
//!
//! A line one ply longer mostly leaves this as it is for the plies before; then only the new ply is added
//! ([`Tally::lengthen`]). What a whole line costs is for `tally`.

use shakmaty::{Color, Move, Piece, Role, Square, attacks};

use super::{
    align::What,
    ledger::{LONGEST, Lane, kind, over_ms},
    moves::{origin, squares},
    sheet::{Longer, Ply, Sheet},
    tally::{Judged, Tally, UNDER_WAY},
    threads::{TOO_QUICK, TWICE},
};
use crate::record::Timestamp;

/// A man read on the way of a ply of its own.
const SLIDE: u32 = 6;
/// A man set down beside where its ply takes it, or a captured man pushed aside.
const BESIDE: u32 = 12;
/// A man that nothing put there.
const STRAY: u32 = 30;
/// No hand takes a man up, carries it and lets it go in less, in ms.
const QUICKEST: i32 = 100;
/// The next hand may take its man up so long before the last one is set down, in ms.
const NEXT_HAND: i32 = -30;
/// A captured man may be lifted so long before the capturing one is set down, in a hurry, in ms.
const VICTIM_FIRST: i32 = 120;
/// What was read was so old at the most, unless the line was busy, in ms.
const SCANNED: i32 = 258;

/// A reading is at most so old, in ms.
const STALE: i32 = super::ledger::STALE as i32;
/// Strays whose costs a [`Standing`] keeps.
const STRAYS: usize = 24;

/// Earlier than anything that is read, in ms after the look …
const LONG_AGO: i32 = i32::MIN / 2;
/// … and later.
pub(super) const NEVER: i32 = i32::MAX / 2;

/// What became of a ply in a line. Moments are in ms after the look.
#[derive(Clone, Copy)]
pub(super) struct Fate {
    /// When all its men were read to have arrived; [`NEVER`] if they were not.
    pub(super) arrived: i32,
    /// When the first of its men was read to have left; [`NEVER`] if none was.
    left: i32,
    /// Covered at that time before it was read; [`NEVER`] if it was not.
    pub(super) covered: i32,
    /// A dump told that they arrived, that one left.
    dumped: (bool, bool),
}

const UNREAD: Fate = Fate { arrived: NEVER, left: NEVER, covered: NEVER, dumped: (false, false) };

impl Fate {
    /// A square's reading tells of the ply.
    fn mark(&mut self, what: What, at: i32, dumped: bool) {
        match what {
            What::Left if at < self.left => {
                self.left = at;
                self.dumped.1 = dumped;
            }
            What::Arrived if self.arrived == NEVER || at > self.arrived => {
                self.arrived = at;
                self.dumped.0 = dumped;
            }
            What::Covered => self.covered = at,
            What::Left | What::Arrived => {}
        }
    }
}

/// How far the plies of a line have got.
#[derive(Clone, Copy)]
struct Pace {
    /// When the last of them can have stood at the earliest.
    cursor: i32,
    /// What it costs that they followed one another so.
    cost: u32,
}

/// What became of a line's plies.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    fates: [Fate; LONGEST],
    /// When each can have stood at the earliest.
    stood: [i32; LONGEST],
    /// The plies, one bit each, in which a man of this kind moves or is taken.
    of: [u32; 16],
    pace: Pace,
    /// What strays cost by the plies of which account is taken.
    strays: [Costed; STRAYS],
    known: u8,
    /// How many these plies are.
    counted: u8,
}

/// What was known of a line before a ply was added.
pub(super) struct Shorter {
    plies: usize,
    of: [u32; 16],
    pace: Pace,
}

/// What a stray costs.
#[derive(Clone, Copy)]
struct Costed {
    lane: u8,
    reading: u8,
    cost: u8,
}

const FREE: Costed = Costed { lane: 0, reading: 0, cost: 0 };

impl Standing {
    pub(super) fn fate(&self, ply: usize) -> &Fate {
        &self.fates[ply]
    }

    /// When this ply can have stood at the earliest.
    pub(super) fn stood(&self, ply: usize) -> i32 {
        self.stood[ply]
    }

    /// What it costs that the plies followed one another so.
    pub(super) fn hurry(&self) -> u32 {
        self.pace.cost
    }

    /// Takes the last ply away again.
    pub(super) fn shorten(&mut self, shorter: &Shorter) {
        self.fates[shorter.plies] = UNREAD;
        self.of = shorter.of;
        self.pace = shorter.pace;
    }

    /// The men of this ply.
    fn name(&mut self, index: usize, ply: Ply) {
        let bit = 1 << index;
        self.of[kind(ply.by, ply.m.role())] |= bit;
        if let Some(role) = ply.m.promotion() {
            self.of[kind(ply.by, role)] |= bit;
        }
        if let Some(role) = ply.m.capture() {
            self.of[kind(!ply.by, role)] |= bit;
        }
    }

    /// The next ply, whose fate is known, follows in time.
    fn follow(&mut self, index: usize, line: &[Ply], brisk: bool) {
        let early = |at: i32, dumped: bool| if dumped { LONG_AGO } else { at - SCANNED };
        let fate = self.fates[index];
        let Pace { mut cursor, mut cost } = self.pace;
        if fate.left != NEVER {
            cost += over_ms(cursor + NEXT_HAND, fate.left);
            cursor = cursor.max(early(fate.left, fate.dumped.1) - NEXT_HAND);
        }
        let quickest = if index == 0 { cursor } else { cursor + QUICKEST };
        if fate.arrived != NEVER {
            cost += over_ms(quickest, fate.arrived);
            cursor = quickest.max(early(fate.arrived, fate.dumped.0));
        } else if fate.covered != NEVER {
            // The scan before saw nothing of it; but it may have been lifted by him who took it
            // before he set his own man down.
            cost += over_ms(quickest, fate.covered);
            cursor = quickest.max(fate.covered - STALE - VICTIM_FIRST);
        } else {
            cursor = quickest;
        }
        self.stood[index] = cursor;
        if let Some(before) = index.checked_sub(2).filter(|_| !brisk) {
            let again = line[before].m.to() == origin(line[index].m);
            let (first, second) = (self.fates[before].arrived, fate.arrived);
            let quick = first != NEVER && second != NEVER && i64::from(second - first) < TWICE;
            cost += if again && quick { TOO_QUICK } else { 0 };
        }
        self.pace = Pace { cursor, cost };
    }

    /// What a man costs that was read on `square` though nothing puts it there, if it is this ply's.
    fn excuse(&self, index: usize, ply: Ply, stray: &Stray) -> u32 {
        let Stray { square, from, until, .. } = *stray;
        let fate = &self.fates[index];
        if from - fate.arrived > 2 * STALE {
            return STRAY;
        }
        let piece = stray.piece;
        let to = ply.m.to();
        let mine =
            piece.color == ply.by && (piece.role == ply.m.role() || ply.m.promotion() == Some(piece.role));
        let within = from - fate.arrived <= STALE;
        if mine && !ply.m.is_castle() {
            // Seen after it was lifted, and gone when it stood.
            let after_lift = fate.left == NEVER || fate.left - until <= STALE;
            // … and after the ply before stood.
            let before = index.checked_sub(1).map_or(NEVER, |before| self.fates[before].arrived);
            let in_turn = before == NEVER || before - until <= STALE;
            if !within || !after_lift || !in_turn {
                return STRAY;
            }
            let rests = (until - from - 2 * STALE).clamp(0, 800) as u32 / 40;
            if ply.m.is_promotion() && square == to {
                return 0;
            } else if attacks::between(origin(ply.m), to).contains(square) {
                return STRAY.min(SLIDE + rests);
            } else if square.distance(to) == 1 {
                return STRAY.min(BESIDE + rests);
            }
        } else if mine
            && let Move::Castle { king, rook } = ply.m
            && within
            && attacks::between(king, rook).contains(square)
        {
            return SLIDE;
        } else if piece.color != ply.by
            && ply.m.capture() == Some(piece.role)
            && square.distance(to) == 1
            && (fate.arrived == NEVER || fate.arrived - from <= 2 * STALE)
        {
            return BESIDE;
        }
        STRAY
    }

    /// What a man costs that was read where nothing puts it.
    fn stray(&self, stray: &Stray, line: &[Ply]) -> u32 {
        let mut least = STRAY;
        let mut plies = self.of[kind(stray.piece.color, stray.piece.role)];
        while plies != 0 {
            let index = plies.trailing_zeros() as usize;
            plies &= plies - 1;
            least = least.min(self.excuse(index, line[index], stray));
        }
        least
    }

    /// The same, where it is known already as far as some plies go.
    fn recount(&self, stray: &Stray, line: &[Ply]) -> u32 {
        let mut known = self.strays[..usize::from(self.known)].iter();
        let known = known.find(|known| {
            usize::from(known.lane) == stray.lane && usize::from(known.reading) == stray.reading
        });
        let Some(known) = known else { return self.stray(stray, line) };
        let plies = self.of[kind(stray.piece.color, stray.piece.role)];
        let new = usize::from(self.counted)..line.len();
        new.filter(|index| plies & (1 << index) != 0)
            .fold(u32::from(known.cost), |least, index| least.min(self.excuse(index, line[index], stray)))
    }
}

/// A man that was read where the line never puts it.
struct Stray {
    lane: usize,
    reading: usize,
    square: Square,
    piece: Piece,
    from: i32,
    until: i32,
    /// Nothing was read there later.
    last: bool,
}

/// A man that was read where the line never puts it, and none of whose plies accounts for him.
pub(super) struct Hopeless {
    square: Square,
    /// His kind, one bit.
    kind: u16,
    from: i32,
}

impl Tally<'_, '_> {
    /// The strays for which no ply of the line can account.
    pub(super) fn hopeless(&self, standing: &Standing, sheet: &Sheet, found: &mut Vec<Hopeless>) {
        found.clear();
        for square in sheet.strays {
            self.strays_on(square, sheet, |stray| {
                let kind = kind(stray.piece.color, stray.piece.role);
                if standing.of[kind] == 0 {
                    found.push(Hopeless { square, kind: 1 << kind, from: stray.from });
                }
            });
        }
    }

    /// What a line with this ply more costs at least beside its plies, for what is known before it is aligned;
    /// `hopeless` are the strays of the line without it.
    pub(super) fn floor(&self, horizon: Timestamp, sheet: &Sheet, hopeless: &[Hopeless], ply: Ply) -> u32 {
        let touched = squares(ply.m, ply.by);
        let bit = |color: Color, role: Option<Role>| role.map_or(0, |role| 1 << kind(color, role));
        let kinds: u16 =
            bit(ply.by, Some(ply.m.role())) | bit(ply.by, ply.m.promotion()) | bit(!ply.by, ply.m.capture());
        let until = self.ledger.ms(horizon);
        let strays = hopeless
            .iter()
            .filter(|man| man.from < until && man.kind & kinds == 0 && !touched.contains(man.square));
        let mut cost = STRAY * strays.count() as u32;
        for lane in self.ledger.lanes_of(sheet.early & !touched) {
            cost += self.sheets.of(sheet, lane.square).least(lane.before(horizon));
        }
        cost
    }

    /// What became of the plies of this line.
    pub(super) fn standing(&self, sheet: &Sheet, line: &[Ply]) -> Standing {
        let mut standing = Standing {
            fates: [UNREAD; LONGEST],
            stood: [LONG_AGO; LONGEST],
            of: [0; 16],
            pace: Pace { cursor: LONG_AGO, cost: 0 },
            strays: [FREE; STRAYS],
            known: 0,
            counted: 0,
        };
        for lane in self.ledger.lanes_of(sheet.telling) {
            for mark in self.sheets.marks(sheet, lane.square) {
                let Some(reading) = lane.readings.get(usize::from(mark.reading)) else { continue };
                if let Some(fate) = standing.fates.get_mut(usize::from(mark.ply)) {
                    fate.mark(mark.what, reading.ms, reading.dumped);
                }
            }
        }
        for (index, ply) in line.iter().enumerate().take(LONGEST) {
            standing.name(index, *ply);
            standing.follow(index, line, self.ledger.brisk);
        }
        standing
    }

    /// Counts the strays of the line for all its plies.
    pub(super) fn count(&self, standing: &mut Standing, sheet: &Sheet, line: &[Ply]) {
        let (mut strays, mut known) = ([FREE; STRAYS], 0);
        for square in sheet.strays {
            self.strays_on(square, sheet, |stray| {
                if let Some(place) = strays.get_mut(known) {
                    let cost = standing.recount(&stray, line) as u8;
                    *place = Costed { lane: stray.lane as u8, reading: stray.reading as u8, cost };
                    known += 1;
                }
            });
        }
        (standing.strays, standing.known, standing.counted) = (strays, known as u8, line.len() as u8);
    }

    /// Adds the last ply of `line`, which makes the sheet `longer`, unless it changes what became of the plies
    /// before it.
    pub(super) fn lengthen(
        &self,
        standing: &mut Standing,
        sheet: &Sheet,
        longer: Longer,
        line: &[Ply],
    ) -> Option<Shorter> {
        let plies = line.len() - 1;
        let mut fate = UNREAD;
        for (square, history) in longer.changed() {
            let before = self.sheets.marks(sheet, square);
            let after = self.sheets.marks_at(history);
            let old = after.iter().filter(|mark| usize::from(mark.ply) != plies);
            if !old.eq(before) {
                return None;
            }
            let Some(lane) = self.ledger.lane(square) else { continue };
            for mark in after.iter().filter(|mark| usize::from(mark.ply) == plies) {
                if let Some(reading) = lane.readings.get(usize::from(mark.reading)) {
                    fate.mark(mark.what, reading.ms, reading.dumped);
                }
            }
        }
        let shorter = Shorter { plies, of: standing.of, pace: standing.pace };
        standing.fates[plies] = fate;
        standing.name(plies, line[plies]);
        standing.follow(plies, line, self.ledger.brisk);
        Some(shorter)
    }

    /// Men that were read where the line never puts them: up to the horizon whatever follows, and all.
    pub(super) fn strays(
        &self,
        horizon: Option<Timestamp>,
        line: Judged<'_>,
        standing: &Standing,
    ) -> (u32, u32) {
        let horizon = horizon.map_or(LONG_AGO, |horizon| self.ledger.ms(horizon));
        let (mut least, mut all) = (0, 0);
        for square in line.sheet.strays {
            self.strays_on(square, line.sheet, |stray| {
                let early = stray.from < horizon;
                let lane = &self.ledger.lanes[stray.lane];
                let on_its_way = stray.last && self.on_its_way(stray.piece, Some(lane), line);
                if on_its_way {
                    all += UNDER_WAY;
                }
                if early || !on_its_way {
                    let cost = standing.recount(&stray, line.plies);
                    least += if early { cost } else { 0 };
                    all += if on_its_way { 0 } else { cost };
                }
            });
        }
        (least, all)
    }

    fn strays_on(&self, square: Square, sheet: &Sheet, mut each: impl FnMut(Stray)) {
        let Some((lane, Lane { readings, .. })) = self.ledger.numbered(square) else { return };
        let strays = self.sheets.of(sheet, square).strays;
        let mut strays = strays;
        while strays != 0 {
            let index = strays.trailing_zeros() as usize;
            strays &= strays - 1;
            let reading = &readings[index];
            let Some(piece) = reading.content else { continue };
            let next = readings.get(index + 1);
            each(Stray {
                lane,
                reading: index,
                square,
                piece,
                from: reading.ms,
                until: next.map_or(0, |next| next.ms),
                last: next.is_none(),
            });
        }
    }
}
