//! What a line of plies has to answer for, all squares and presses together.
//!
//! Each square is aligned by itself (`align`), once for all the lines that do the same to it (`sheet`), so that
//! many lines can be compared. Here the rest is added: men that were
//! read where the line never puts them (a slide, a man set down beside its square, a stray), what
//! the squares read in the end, whether the plies can follow one another in the times that the scan
//! leaves possible, and presses: one a ply, by the side that made it, not long before its man can
//! have stood.

use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square};

use super::{
    align::Aligned,
    ledger::{Lane, Ledger, PLY, STALE, over_ms},
    moves::origin,
    sheet::{Longer, Ply, Sheet, Sheets},
    standing::{NEVER, Standing},
};
use crate::record::{Position, Timestamp};

/// The same, and it stands there still.
const STANDS: u32 = 24;
/// A man of the side on move on a square where its ply does not end, just now.
pub(super) const UNDER_WAY: u32 = 8;
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
/// The clock may be told of a press so long before the man is seen to stand, in ms.
const PRESS_AHEAD: i32 = 160;
/// So long after a press its ply must have been read, in ms.
const PRESS_LATE: i64 = 500;
/// Where a reply was read so long before the man that it answers went on, he did not slide, in ms.
const REPLIED: i32 = 500;
/// So long after a ply its press should have come, in ms.
const PRESS_DUE: i32 = 1_600;

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
        let standing = self.standing(line.sheet, line.plies);
        let strays = self.strays(None, line, &standing);
        self.whole(line) + strays.1 + self.times(&standing, line.plies).1 + self.unseen(&standing, line.plies)
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
    /// `horizon`; and what it costs itself, unless the least is more than `most`. `before` is the line without
    /// its last ply, if it has one of its own.
    pub(super) fn both(
        &self,
        horizon: Timestamp,
        line: Judged<'_>,
        most: u32,
        standing: &mut Standing,
        before: Option<(&Sheet, Longer)>,
    ) -> (u32, Option<u32>) {
        let least = self.beginning(horizon, line);
        if least > most {
            return (least, None);
        }
        let judge = |standing: &Standing| {
            let times = self.times(standing, line.plies);
            let least = least + times.0;
            if least > most {
                return (least, None);
            }
            let (so_far, strays) = self.strays(Some(horizon), line, standing);
            let least = least + so_far;
            let rest = || self.whole(line) + strays + times.1 + self.unseen(standing, line.plies);
            (least, (least <= most).then(rest))
        };
        let Some((sheet, longer)) = before else { return judge(standing) };
        match self.lengthen(standing, sheet, longer, line.plies) {
            Some(shorter) => {
                let judged = judge(standing);
                standing.shorten(&shorter);
                judged
            }
            None => judge(&self.standing(line.sheet, line.plies)),
        }
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
        let plies = line.plies;
        let standing = self.standing(line.sheet, plies);
        let read = (from..to.min(plies.len())).all(|ply| {
            let m = plies[ply].m;
            let doubtful = m.is_promotion() || m.role() == Role::Pawn && origin(m).file() == m.to().file();
            let fate = standing.fate(ply);
            fate.arrived != NEVER || m.is_castle() || fate.covered != NEVER && !doubtful
        });
        // A man that goes on at its next turn may have slid there, unless the reply stood well before he did; one
        // that goes back may have been put back.
        let arrived = |ply: usize| Some(standing.fate(ply).arrived).filter(|arrived| *arrived != NEVER);
        let replied = |ply: usize| {
            let (reply, stood) = (arrived(ply + 1), arrived(ply + 2));
            reply.zip(stood).is_some_and(|(reply, stood)| stood - reply >= REPLIED)
        };
        let doubtful = |ply: usize, later: &Ply| {
            let on = origin(later.m) == plies[ply].m.to();
            on && (later.m.to() == origin(plies[ply].m) || !replied(ply))
        };
        let again = (from.saturating_sub(2)..to.min(plies.len()))
            .any(|ply| plies.get(ply + 2).is_some_and(|later| doubtful(ply, later)));
        let least = || {
            self.beginning(horizon, line)
                + self.strays(Some(horizon), line, &standing).0
                + self.times(&standing, plies).0
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
    pub(super) fn on_its_way(&self, piece: Piece, lane: Option<&Lane>, line: Judged<'_>) -> bool {
        let tip = line.tip;
        let last = lane.and_then(|lane| lane.readings.last());
        let fresh = last.is_some_and(|reading| self.ledger.now.since(reading.at) < UNDER_WAY_MS);
        fresh && piece.color == tip.turn && (tip.men(piece) & self.ledger.eyes.empty()).any()
    }

    /// Whether the plies can follow one another in time, and the presses them: whatever follows, and as it is.
    fn times(&self, standing: &Standing, line: &[Ply]) -> (u32, u32) {
        let mut cost = standing.hurry();
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
                cost += skipped + over_ms(standing.stood(ply) - PRESS_AHEAD, self.ledger.ms(press.at));
                next = ply + 1;
            } else {
                let early = self.ledger.now.since(press.at) < PRESS_LATE;
                open += if early { EARLY_PRESS } else { SPARE_PRESS };
            }
        }
        if self.ledger.clock {
            for ply in next.max(1)..line.len() {
                if -standing.stood(ply) > PRESS_DUE {
                    open += UNPRESSED;
                }
            }
        }
        (cost, cost + open)
    }
}
