//! What became of a line's plies: when each one's men were read to leave and to arrive, and whether the plies
//! can have followed one another in these times.
//!
//! A line one ply longer mostly leaves this as it is for the plies before; then only the new ply is added
//! ([`Tally::lengthen`]). Men that were read elsewhere are in `strays`, what a whole line costs in `tally`.

use super::{
    align::What,
    ledger::{LONG_AGO, LONGEST, Reading, kind, over_ms},
    moves::origin,
    sheet::{Longer, Ply, Sheet},
    strays::Counted,
    tally::Tally,
    threads::{TOO_QUICK, TWICE},
};

/// No hand takes a man up, carries it and lets it go in less, in ms.
pub(super) const QUICKEST: i32 = 100;
/// In a scramble most plies follow one another in this time or more, in ms; what is quicker costs as what cannot be.
const USUAL: i32 = 210;
/// The next hand may take its man up so long before the last one is set down, in ms.
pub(super) const NEXT_HAND: i32 = -30;
/// A captured man may be lifted so long before the capturing one is set down, in a hurry, in ms.
const VICTIM_FIRST: i32 = 120;
/// A reading is at most so old, in ms.
pub(super) const STALE: i32 = super::ledger::STALE as i32;

/// Later than anything that is read, in ms after the look.
pub(super) const NEVER: i32 = i32::MAX / 2;

/// What became of a ply in a line. Moments are in ms after the look.
#[derive(Clone, Copy)]
pub(super) struct Fate {
    /// When all its men were read to have arrived; [`NEVER`] if they were not.
    pub(super) arrived: i32,
    /// When the first of its men was read to have left; [`NEVER`] if none was.
    pub(super) left: i32,
    /// Covered at that time before it was read; [`NEVER`] if it was not.
    pub(super) covered: i32,
    /// They arrived then at the earliest …
    pub(super) arrived_since: i32,
    /// … and that one left.
    pub(super) left_since: i32,
}

const UNREAD: Fate =
    Fate { arrived: NEVER, left: NEVER, covered: NEVER, arrived_since: LONG_AGO, left_since: LONG_AGO };

impl Fate {
    /// A square's reading tells of the ply.
    fn mark(&mut self, what: What, reading: &Reading) {
        let at = reading.ms;
        match what {
            What::Left if at < self.left => {
                self.left = at;
                self.left_since = reading.since;
            }
            What::Arrived if self.arrived == NEVER || at > self.arrived => {
                self.arrived = at;
                self.arrived_since = reading.since;
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
    /// The same for hands that take their time.
    easy: i32,
    /// What it costs that they followed one another so.
    cost: u32,
}

/// What became of a line's plies.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) fates: [Fate; LONGEST],
    /// When each can have stood at the earliest.
    stood: [i32; LONGEST],
    /// The plies, one bit each, in which a man of this kind moves or is taken.
    pub(super) of: [u32; 16],
    pace: Pace,
    /// What its strays cost.
    pub(super) strays: Counted,
}

/// What was known of a line before a ply was added.
pub(super) struct Shorter {
    plies: usize,
    of: [u32; 16],
    pace: Pace,
}

impl Standing {
    pub(super) fn fate(&self, ply: usize) -> &Fate {
        &self.fates[ply]
    }

    /// What became of each ply.
    pub(super) fn fates(&self) -> &[Fate] {
        &self.fates
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
        let fate = self.fates[index];
        let Pace { mut cursor, easy, mut cost } = self.pace;
        if fate.left != NEVER {
            cost += over_ms(cursor + NEXT_HAND, fate.left);
            cursor = cursor.max(fate.left_since - NEXT_HAND);
        }
        let quickest = if index == 0 { cursor } else { cursor + QUICKEST };
        if fate.arrived != NEVER {
            cost += over_ms(quickest, fate.arrived);
            cursor = quickest.max(fate.arrived_since);
        } else if fate.covered != NEVER {
            // The scan before saw nothing of it; but it may have been lifted by him who took it
            // before he set his own man down.
            cost += over_ms(quickest, fate.covered);
            cursor = quickest.max(fate.covered - STALE - VICTIM_FIRST);
        } else {
            cursor = quickest;
        }
        self.stood[index] = cursor;
        let usual = if index == 0 { easy } else { easy + USUAL };
        let mut easy = usual;
        if fate.arrived != NEVER {
            cost += if brisk { over_ms(usual, fate.arrived) } else { 0 };
            easy = usual.min(fate.arrived).max(fate.arrived_since);
        }
        if let Some(before) = index.checked_sub(2).filter(|_| !brisk) {
            let again = line[before].m.to() == origin(line[index].m);
            let (first, second) = (self.fates[before].arrived, fate.arrived);
            let quick = first != NEVER && second != NEVER && i64::from(second - first) < TWICE;
            cost += if again && quick { TOO_QUICK } else { 0 };
        }
        self.pace = Pace { cursor, easy, cost };
    }
}

impl Tally<'_, '_> {
    /// What became of the plies of this line.
    pub(super) fn standing(&self, sheet: &Sheet, line: &[Ply]) -> Standing {
        let mut standing = Standing {
            fates: [UNREAD; LONGEST],
            stood: [LONG_AGO; LONGEST],
            of: [0; 16],
            pace: Pace { cursor: LONG_AGO, easy: LONG_AGO, cost: 0 },
            strays: Counted::NONE,
        };
        for lane in self.ledger.lanes_of(sheet.telling) {
            for mark in self.sheets.marks(sheet, lane.square) {
                let Some(reading) = lane.readings.get(usize::from(mark.reading)) else { continue };
                if let Some(fate) = standing.fates.get_mut(usize::from(mark.ply)) {
                    fate.mark(mark.what, reading);
                }
            }
        }
        for (index, ply) in line.iter().enumerate().take(LONGEST) {
            standing.name(index, *ply);
            standing.follow(index, line, self.ledger.brisk);
        }
        standing
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
                    fate.mark(mark.what, reading);
                }
            }
        }
        let shorter = Shorter { plies, of: standing.of, pace: standing.pace };
        standing.fates[plies] = fate;
        standing.name(plies, line[plies]);
        standing.follow(plies, line, self.ledger.brisk);
        Some(shorter)
    }
}
