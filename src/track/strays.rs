//! Men that were read where a line never puts them: a slide, a man set down beside its square, or a stray.
//!
//! What one costs depends on what became of the plies that may account for him (`standing`). It is counted once for
//! a line, and then only for the new ply of each line that goes on from it.

use shakmaty::{Color, Move, Piece, Role, Square, attacks};

use super::{
    align::{ANOTHER_TIME, Aligned, UNTIMELY},
    ledger::{LONG_AGO, Lane, kind},
    moves::{origin, squares},
    sheet::{Ply, Sheet},
    standing::{NEVER, STALE, Standing},
    tally::{Judged, Tally, UNDER_WAY},
};
use crate::record::Timestamp;

/// A man read on the way of a ply of its own.
const SLIDE: u32 = 6;
/// A man set down beside where its ply takes it, or a captured man pushed aside.
const BESIDE: u32 = 12;
/// A man that nothing put there.
const STRAY: u32 = 30;
/// Strays whose costs a [`Standing`] keeps.
const STRAYS: usize = 24;

/// What a stray costs.
#[derive(Clone, Copy)]
struct Costed {
    lane: u8,
    reading: u8,
    cost: u8,
}

const FREE: Costed = Costed { lane: 0, reading: 0, cost: 0 };

/// What the strays of a line cost.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    all: [Costed; STRAYS],
    known: u8,
    /// Of so many plies account is taken.
    plies: u8,
}

impl Counted {
    /// None was counted.
    pub(super) const NONE: Self = Self { all: [FREE; STRAYS], known: 0, plies: 0 };
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
    /// The line puts him there, but at another time.
    untimely: bool,
}

/// A man that was read where the line never puts it, and none of whose plies accounts for him.
pub(super) struct Hopeless {
    square: Square,
    /// His kind, one bit.
    kind: u16,
    from: i32,
}

impl Standing {
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
        let mut known = self.strays.all[..usize::from(self.strays.known)].iter();
        let known = known.find(|known| {
            usize::from(known.lane) == stray.lane && usize::from(known.reading) == stray.reading
        });
        let Some(known) = known else { return self.stray(stray, line) };
        let plies = self.of[kind(stray.piece.color, stray.piece.role)];
        let new = usize::from(self.strays.plies)..line.len();
        new.filter(|index| plies & (1 << index) != 0)
            .fold(u32::from(known.cost), |least, index| least.min(self.excuse(index, line[index], stray)))
    }
}

impl Tally<'_, '_> {
    /// The strays for which no ply of the line can account.
    pub(super) fn hopeless(&self, standing: &Standing, sheet: &Sheet, found: &mut Vec<Hopeless>) {
        found.clear();
        for square in sheet.strays {
            self.strays_on(square, sheet, |stray| {
                let kind = kind(stray.piece.color, stray.piece.role);
                if standing.of[kind] == 0 && !stray.untimely {
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
        standing.strays = Counted { all: strays, known: known as u8, plies: line.len() as u8 };
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
                if stray.untimely {
                    let cost = standing.recount(&stray, line.plies);
                    all += cost.clamp(ANOTHER_TIME, UNTIMELY) - ANOTHER_TIME;
                    return;
                }
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
        let Aligned { strays, untimely, .. } = *self.sheets.of(sheet, square);
        let mut strays = strays | untimely;
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
                untimely: untimely & (1 << index) != 0,
            });
        }
    }
}
