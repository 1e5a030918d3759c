//! Readings of what is going on: each thread is one line of open plies that could be what is being
//! played, and the rules by which it follows the squares.
//!
//! Nearly always there is one thread. There are several while the squares cannot tell (the piece
//! a pawn became was not read, a man was put down unseen); each goes on by itself, and those that
//! the board contradicts are dropped. Only what all threads share is told as the line.

use shakmaty::Bitboard;

use super::{
    Cause,
    eyes::{Eyes, differing},
    line::{Made, Step},
    moves::{Complete, Stale, View, complete, origin, overlaid, tolerable, tolerable_since},
};
use crate::record::{PlySource, Position, Timestamp};

/// A ply that may still change.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) made: Made,
    pub(super) after: Position,
}

/// One reading since the last confirmed ply.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) open: Vec<Open>,
    pub(super) stale: Vec<Stale>,
}

/// What a thread makes of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Sensed and position agree.
    Agrees,
    /// A move explains the change.
    Changed(Cause),
    /// Nothing explains the difference (yet).
    Differs,
}

/// What to do to the open plies: drop so many, then add these.
struct Reading {
    drop: usize,
    add: Vec<Open>,
    residual: Bitboard,
    cause: Cause,
}

impl Thread {
    /// The position after the open plies.
    pub(super) fn tip<'a>(&'a self, base: &'a Position) -> &'a Position {
        self.open.last().map_or(base, |open| &open.after)
    }

    /// The position before the last open ply.
    fn previous<'a>(&'a self, base: &'a Position) -> Option<&'a Position> {
        match self.open.len() {
            0 => None,
            1 => Some(base),
            many => self.open.get(many - 2).map(|open| &open.after),
        }
    }

    /// The sensed board as this thread sees it.
    pub(super) fn view<'a>(&'a self, eyes: &'a Eyes) -> View<'a> {
        View { eyes, stale: &self.stale }
    }

    /// Where this thread's position and the sensed board differ.
    pub(super) fn diff(&self, base: &Position, eyes: &Eyes) -> Bitboard {
        self.view(eyes).diff(self.tip(base).board())
    }

    /// Follows a change. `held` are boards that an illegal move left behind at a press.
    pub(super) fn follow(
        &mut self,
        base: &Position,
        since: Timestamp,
        eyes: &Eyes,
        held: Option<(&Position, &[Made])>,
    ) -> Outcome {
        if self.diff(base, eyes).is_empty() {
            return Outcome::Agrees;
        }
        let Some(reading) = self.read(base, since, eyes, held) else { return Outcome::Differs };
        self.open.truncate(self.open.len() - reading.drop);
        self.open.extend(reading.add);
        Outcome::Changed(reading.cause)
    }

    fn read(
        &self,
        base: &Position,
        since: Timestamp,
        eyes: &Eyes,
        held: Option<(&Position, &[Made])>,
    ) -> Option<Reading> {
        let view = self.view(eyes);
        let tip = self.tip(base);
        let mut best: Option<Reading> = None;
        let mut offer = |reading: Reading| {
            if best.as_ref().is_none_or(|best| reading.residual.count() < best.residual.count()) {
                best = Some(reading);
            }
        };
        for found in complete(tip, view) {
            if tolerable(tip, &found, eyes) {
                offer(played(found, 0, Cause::Played));
            }
        }
        if let Some((stood, irregular)) = held {
            for found in complete(stood, view) {
                if tolerable(stood, &found, eyes) {
                    offer(stands(tip, irregular, found));
                }
            }
        }
        if let (Some(last), Some(previous)) = (self.open.last(), self.previous(base)) {
            let rest = view.diff(previous.board());
            let touched = differing(previous.board(), tip.board());
            if (rest & touched).is_empty() && old_or_lifted(rest, eyes, last.made.made_at) {
                offer(Reading { drop: 1, add: Vec::new(), residual: rest, cause: Cause::TakenBack });
            }
            for found in complete(previous, view) {
                if last.made.step != Step::Move(found.m) && tolerable(previous, &found, eyes) {
                    offer(played(found, 1, Cause::Revised));
                }
            }
        }
        if best.is_some() {
            return best;
        }
        self.read_two(base, since, eyes)
    }

    /// Two plies at once: the reply was under way before the first was complete.
    fn read_two(&self, base: &Position, since: Timestamp, eyes: &Eyes) -> Option<Reading> {
        let view = self.view(eyes);
        let tip = self.tip(base);
        let mut best: Option<Reading> = None;
        let mut starts = vec![(0, tip, self.open.last().map_or(since, |open| open.made.made_at))];
        if let Some(previous) = self.previous(base) {
            starts.push((1, previous, since));
        }
        for (drop, start, since) in starts {
            let diff = view.diff(start.board());
            let replied = start.board().by_color(!start.turn()) | eyes.board.by_color(!start.turn());
            if diff.count() < 2 || (diff & replied).is_empty() {
                continue;
            }
            for (m, after) in overlaid(start, view, since) {
                if drop == 1 && self.open.last().is_some_and(|last| last.made.step == Step::Move(m)) {
                    continue; // found as an extension already
                }
                for found in complete(&after, view) {
                    let began = eyes.since[usize::from(origin(m))];
                    let began = began.min(eyes.since[usize::from(origin(found.m))]);
                    if !tolerable_since(&after, &found, eyes, began) {
                        continue;
                    }
                    if best.as_ref().is_some_and(|best| best.residual.count() <= found.residual.count()) {
                        continue;
                    }
                    let first_at = eyes.latest(differing(start.board(), after.board())).min(found.made_at);
                    let first = Open {
                        made: Made { step: Step::Move(m), made_at: first_at, source: PlySource::Board },
                        after: after.clone(),
                    };
                    let cause = if drop == 1 { Cause::Revised } else { Cause::Played };
                    let residual = found.residual;
                    best = Some(Reading { drop, add: vec![first, open(found)], residual, cause });
                }
            }
        }
        best
    }
}

fn open(found: Complete) -> Open {
    Open {
        made: Made { step: Step::Move(found.m), made_at: found.made_at, source: PlySource::Board },
        after: found.after,
    }
}

fn played(found: Complete, drop: usize, cause: Cause) -> Reading {
    let residual = found.residual;
    Reading { drop, add: vec![open(found)], residual, cause }
}

/// The irregular plies stood, and this was played on from them.
fn stands(tip: &Position, irregular: &[Made], found: Complete) -> Reading {
    let residual = found.residual;
    let mut position = tip.clone();
    let mut add = Vec::new();
    for made in irregular {
        position = made.play(&position);
        add.push(Open { made: made.clone(), after: position.clone() });
    }
    add.push(open(found));
    Reading { drop: 0, add, residual, cause: Cause::IrregularStands }
}

/// Nothing but men in hands and what was so before.
fn old_or_lifted(rest: Bitboard, eyes: &Eyes, made_at: Timestamp) -> bool {
    let empty = eyes.empty();
    rest.count() <= 3
        && rest.into_iter().all(|square| empty.contains(square) || eyes.since[usize::from(square)] < made_at)
}
