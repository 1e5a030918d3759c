//! Readings of what is going on: each thread is one line of open plies that could be what is being
//! played, and the rules by which it follows the squares.
//!
//! Nearly always there is one thread. There are several while the squares cannot tell (the piece
//! a pawn became was not read, a man was put down unseen); each goes on by itself, and those that
//! the board contradicts are dropped. Only what all threads share is told as the line.

use shakmaty::{Bitboard, Move, Role, Square};

use super::{
    Cause,
    account::Account,
    eyes::{Eyes, differing},
    line::{Made, Step},
    moves::{Complete, Stale, View, complete, origin, overlaid, set_aside, tolerable, tolerable_since},
    press::SCAN,
};
use crate::record::{PlySource, Position, Timestamp};

/// A ply that may still change.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) made: Made,
    pub(super) after: Position,
}

impl Open {
    /// A move that the squares showed.
    pub(super) fn of(m: Move, made_at: Timestamp, after: Position) -> Self {
        Self { made: Made { step: Step::Move(m), made_at, source: PlySource::Board }, after }
    }

    /// The move, unless the ply was irregular.
    pub(super) fn step(&self) -> Option<Move> {
        match self.made.step {
            Step::Move(m) => Some(m),
            _ => None,
        }
    }
}

impl From<Complete> for Open {
    fn from(found: Complete) -> Self {
        Self::of(found.m, found.made_at, found.after)
    }
}

/// One reading since the last confirmed ply.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) open: Vec<Open>,
    pub(super) stale: Vec<Stale>,
}

/// What is known of the pace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hurry {
    /// When the first press that waits was heard.
    pub(super) pressed: Option<Timestamp>,
    /// So long after a man was read to stand a press was heard at the soonest, in ms, as far as is known.
    pub(super) soonest: Option<i64>,
    /// Plies follow one another faster than a scan and a press can tell.
    pub(super) brisk: bool,
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
    cost: u32,
    cause: Cause,
}

impl Thread {
    /// The position after the open plies.
    pub(super) fn tip<'a>(&'a self, base: &'a Position) -> &'a Position {
        self.open.last().map_or(base, |open| &open.after)
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
        hurry: Hurry,
        held: Option<(&Position, &[Made])>,
    ) -> Outcome {
        if self.diff(base, eyes).is_empty() {
            return Outcome::Agrees;
        }
        let Some(reading) = self.read(base, since, eyes, hurry, held) else { return Outcome::Differs };
        self.open.truncate(self.open.len() - reading.drop);
        self.open.extend(reading.add);
        Outcome::Changed(reading.cause)
    }

    /// What this thread's line costs: its plies, and what it leaves unexplained.
    pub(super) fn cost(&self, base: &Position, since: Timestamp, eyes: &Eyes) -> u32 {
        Weigh { eyes }.plies(self.open.len()) + self.unexplained(base, since, eyes)
    }

    /// What this thread's line leaves unexplained.
    pub(super) fn unexplained(&self, base: &Position, since: Timestamp, eyes: &Eyes) -> u32 {
        let weigh = Weigh { eyes };
        let began = self.open.last().map_or(since, |last| last.made.made_at);
        let tip = self.tip(base);
        let last = match self.open.last().map(|open| &open.made.step) {
            Some(Step::Move(m)) => Some((self.after(self.open.len() - 1, base), *m)),
            _ => None,
        };
        weigh.rest(tip, self.diff(base, eyes), began, last)
    }

    /// The position after the first `plies` open plies.
    fn after<'a>(&'a self, plies: usize, base: &'a Position) -> &'a Position {
        plies.checked_sub(1).and_then(|last| self.open.get(last)).map_or(base, |open| &open.after)
    }

    fn read(
        &self,
        base: &Position,
        since: Timestamp,
        eyes: &Eyes,
        hurry: Hurry,
        held: Option<(&Position, &[Made])>,
    ) -> Option<Reading> {
        let view = self.view(eyes);
        let tip = self.tip(base);
        let open_plies = self.open.len();
        let weigh = Weigh { eyes };
        // What it would cost to leave the line as it is, with all that differs unexplained.
        let account = Account::new(base, since, eyes);
        let told = |keep: usize, add: &[Move], tip: &Position| {
            account.cost(self.open[..keep].iter().filter_map(Open::step).chain(add.iter().copied()), tip)
        };
        let stay = self.cost(base, since, eyes) + told(open_plies, &[], tip);
        let mut best: Option<Reading> = None;
        let mut offer = |reading: Reading| {
            if best.as_ref().is_none_or(|best| reading.cost < best.cost) {
                best = Some(reading);
            }
        };
        for keep in (0..=open_plies).rev() {
            let drop = open_plies - keep;
            let position = self.after(keep, base);
            let dropped = self.open.get(keep).map(|open| &open.made.step);
            for found in complete(position, view) {
                if dropped == Some(&Step::Move(found.m)) || !tolerable(position, &found, eyes) {
                    continue;
                }
                let turn_began = keep.checked_sub(1).map_or(since, |last| self.open[last].made.made_at);
                let cost = weigh.plies(keep + 1)
                    + weigh.rest(&found.after, found.residual, turn_began, Some((position, found.m)))
                    + weigh.backwards(found.m)
                    + self.forsaken(keep, &[found.m], &found.after, eyes)
                    + told(keep, &[found.m], &found.after)
                    + self.too_quick(keep, origin(found.m), found.made_at, hurry)
                    + self.let_go(keep, eyes, hurry, found.made_at);
                offer(played(found, drop, cost));
            }
            if drop == 0 {
                continue;
            }
            let rest = view.diff(position.board());
            let touched = differing(position.board(), tip.board());
            let made_at = self.open[keep].made.made_at;
            if (rest & touched).is_empty() && old_or_lifted(rest, eyes, made_at) {
                let cost = weigh.plies(keep) + weigh.rest(position, rest, made_at, None) + told(keep, &[], position)
                    + self.let_go(keep, eyes, hurry, eyes.now())
                    // A hand takes back its own ply; a position that comes again is played on.
                    + FORSAKEN * (drop as u32 - 1);
                offer(Reading { drop, add: Vec::new(), cost, cause: Cause::TakenBack });
            }
        }
        if let Some((stood, irregular)) = held {
            for found in complete(stood, view) {
                if tolerable(stood, &found, eyes) {
                    let lifted = eyes.since[usize::from(origin(found.m))];
                    let cost = weigh.plies(2) + weigh.rest(&found.after, found.residual, lifted, None);
                    offer(stands(tip, irregular, found, cost));
                }
            }
        }
        if best.as_ref().is_none_or(|best| best.cost >= stay) {
            best = self.read_two(base, since, eyes, hurry, &weigh, &account);
        }
        best.filter(|best| best.cost < stay)
    }

    /// A ply that was pressed, and stood so then, is not the hand's to change any more.
    pub(super) fn let_go(&self, keep: usize, eyes: &Eyes, hurry: Hurry, changed: Timestamp) -> u32 {
        let made = self.open.get(keep).map(|open| open.made.made_at);
        let Some((pressed, made)) = hurry.pressed.zip(made) else { return 0 };
        // The hand that presses has let go by then; and this clock was never heard so soon after.
        if let Some(soonest) = hurry.soonest
            && made <= pressed.plus(-soonest)
            && changed.since(pressed) > (UNHEARD_OF - soonest).max(0)
        {
            return FORSAKEN + LET_GO;
        }
        if made <= pressed && eyes.now().since(pressed) > SCAN { LET_GO } else { 0 }
    }

    /// At a calm pace one man does not move twice within two scans, with a reply between: it slides,
    /// and the other man was knocked.
    pub(super) fn too_quick(&self, keep: usize, from: Square, made_at: Timestamp, hurry: Hurry) -> u32 {
        let before = keep.checked_sub(2).and_then(|before| self.open.get(before));
        let again = before.is_some_and(|before| {
            before.step().is_some_and(|m| m.to() == from) && made_at.since(before.made.made_at) < TWICE
        });
        if again && !hurry.brisk { TOO_QUICK } else { 0 }
    }

    /// What it costs to drop the plies from `keep` on for these moves: nothing for a man going on,
    /// the other half of castling, or a captured man that was pushed aside.
    ///
    /// A man does not go on after the reply to it stood, nor does one that still stands where it went.
    fn forsaken(&self, keep: usize, moves: &[Move], after: &Position, eyes: &Eyes) -> u32 {
        let stays = |index: usize, step: Move| {
            let to = step.to();
            let man = self.open[keep + index].after.board().piece_at(to);
            let reply = self.open.get(keep + index + 1);
            let changed = eyes.since[usize::from(to)];
            let aside = moves.iter().any(|m| {
                man.is_some_and(|man| m.capture() == Some(man.role))
                    && m.to().distance(to) == 1
                    && eyes.since[usize::from(m.to())].since(changed) <= 2 * SCAN
            });
            man.is_some() && eyes.board.piece_at(to) == man && after.board().piece_at(to) != man && !aside
                || !moves.contains(&step)
                    && reply.is_some_and(|reply| changed.since(reply.made.made_at) > RESTED)
        };
        let goes_on = |step: Move, first: bool| {
            moves.iter().any(|m| {
                let from = origin(step);
                *m == step
                    || step.to() == origin(*m)
                    || match m {
                        Move::Castle { king, rook } => from == *king || from == *rook,
                        _ => from == origin(*m) || (!first && from == m.to()),
                    }
            })
        };
        let dropped = self.open.get(keep..).unwrap_or_default().iter().enumerate();
        dropped
            .map(|(index, open)| match open.made.step {
                Step::Move(step) if goes_on(step, index == 0) && !stays(index, step) => 0,
                _ => FORSAKEN,
            })
            .sum()
    }

    /// Two plies at once: the reply was under way before the first was complete.
    fn read_two(
        &self,
        base: &Position,
        since: Timestamp,
        eyes: &Eyes,
        hurry: Hurry,
        weigh: &Weigh<'_>,
        account: &Account<'_>,
    ) -> Option<Reading> {
        let view = self.view(eyes);
        let open_plies = self.open.len();
        let mut best: Option<Reading> = None;
        for drop in 0..=open_plies.min(2) {
            let keep = open_plies - drop;
            let start = self.after(keep, base);
            let since = keep.checked_sub(1).map_or(since, |last| self.open[last].made.made_at);
            let diff = view.diff(start.board());
            let replied = start.board().by_color(!start.turn()) | eyes.board.by_color(!start.turn());
            if diff.count() < 2 || (diff & replied).is_empty() {
                continue;
            }
            for (m, after) in overlaid(start, view, since) {
                if self.open.get(keep).is_some_and(|last| last.made.step == Step::Move(m)) {
                    continue; // found as an extension already
                }
                for found in complete(&after, view) {
                    let began = eyes.since[usize::from(origin(m))];
                    let began = began.min(eyes.since[usize::from(origin(found.m))]);
                    if !tolerable_since(&after, &found, eyes, began) {
                        continue;
                    }
                    let cost = weigh.plies(keep + 2)
                        + account.cost(
                            self.open[..keep].iter().filter_map(Open::step).chain([m, found.m]),
                            &found.after,
                        )
                        + self.forsaken(keep, &[m, found.m], &found.after, eyes)
                        + self.let_go(keep, eyes, hurry, found.made_at)
                        + self.too_quick(keep + 1, origin(found.m), found.made_at, hurry)
                        + weigh.backwards(found.m)
                        + weigh.rest(&found.after, found.residual, since, Some((&after, found.m)));
                    if best.as_ref().is_some_and(|best| best.cost <= cost) {
                        continue;
                    }
                    let first_at = eyes.latest(differing(start.board(), after.board())).min(found.made_at);
                    let first = Open::of(m, first_at, after.clone());
                    let cause = if drop > 0 { Cause::Revised } else { Cause::Played };
                    best = Some(Reading { drop, add: vec![first, found.into()], cost, cause });
                }
            }
        }
        best
    }
}

/// A ply more.
const PLY: u32 = 6;
/// A ply that nobody has pressed for yet, beyond the first.
const HASTE: u32 = 3;
/// A man of the side on move that is not on its square: the reply is being lifted.
const LIFTED: u32 = 4;
/// The same, long before the other side had moved.
const EARLY: u32 = 10;
/// Another man that is not on its square.
const HOLE: u32 = 6;
/// Another man of the mover that was away when he moved.
const GONE: u32 = 20;
/// A captured man set down next to the square it was taken from.
const ASIDE: u32 = 7;
/// A pawn that takes another in passing, which still stands.
const HALF: u32 = 6;
/// What was so before the hand began.
const OLD: u32 = 3;
/// A man where none, or another, should be.
const WRONG: u32 = 24;
/// A ply that was seen, and is dropped for another man's.
const FORSAKEN: u32 = 25;
/// A ply that was pressed before, and is changed by the same man.
pub(super) const LET_GO: u32 = 12;
/// A man that moves twice in no time at a calm pace.
pub(super) const TOO_QUICK: u32 = 24;
/// … in less than this, in ms.
pub(super) const TWICE: i64 = 450;
/// A press heard so much sooner after its man than ever before is not this man's, in ms.
const UNHEARD_OF: i64 = 400;
/// A reply that stood so long before the man went on was the reply, in ms.
const RESTED: i64 = 1_000;
/// A man that was lifted after it had arrived.
const BACKWARDS: u32 = 12;

/// What readings cost: the fewer plies and the less that is left unexplained, the better.
pub(super) struct Weigh<'a> {
    eyes: &'a Eyes,
}

impl Weigh<'_> {
    #[expect(clippy::unused_self, reason = "it belongs to the weights")]
    pub(super) fn plies(&self, plies: usize) -> u32 {
        let plies = plies as u32;
        plies * PLY + plies.saturating_sub(1) * HASTE
    }

    /// A man is lifted before it is set down; the scan may tell it the other way round.
    fn backwards(&self, m: Move) -> u32 {
        let at = |square: Square| self.eyes.since[usize::from(square)];
        match m {
            Move::Normal { from, to, .. } | Move::EnPassant { from, to } if at(from).since(at(to)) > SCAN => {
                BACKWARDS
            }
            _ => 0,
        }
    }

    /// The cost of what still differs from `after`. `last` is the last move and the position
    /// before it.
    pub(super) fn rest(
        &self,
        after: &Position,
        rest: Bitboard,
        began: Timestamp,
        last: Option<(&Position, Move)>,
    ) -> u32 {
        let board = after.board();
        let empty = self.eyes.empty();
        let passed = after.chess().and_then(shakmaty::Position::maybe_ep_square);
        rest.into_iter()
            .map(|square| {
                let since = self.eyes.since[usize::from(square)];
                if since < began {
                    OLD
                } else if empty.contains(square) {
                    let early =
                        last.is_some_and(|(_, m)| self.eyes.since[usize::from(m.to())].since(since) > SCAN);
                    if board.color_at(square) == Some(after.turn()) {
                        if early { EARLY } else { LIFTED }
                    } else if last.is_some_and(|(_, m)| since < self.eyes.since[usize::from(m.to())]) {
                        GONE
                    } else {
                        HOLE
                    }
                } else if last.is_some_and(|(before, m)| set_aside(before, m, square, self.eyes)) {
                    ASIDE
                } else if Some(square) == passed && self.eyes.board.role_at(square) == Some(Role::Pawn) {
                    HALF
                } else {
                    WRONG
                }
            })
            .sum()
    }
}

fn played(found: Complete, drop: usize, cost: u32) -> Reading {
    let cause = if drop == 0 { Cause::Played } else { Cause::Revised };
    Reading { drop, add: vec![found.into()], cost, cause }
}

/// The irregular plies stood, and this was played on from them.
fn stands(tip: &Position, irregular: &[Made], found: Complete, cost: u32) -> Reading {
    let mut position = tip.clone();
    let mut add = Vec::new();
    for made in irregular {
        position = made.play(&position);
        add.push(Open { made: made.clone(), after: position.clone() });
    }
    add.push(found.into());
    Reading { drop: 0, add, cost, cause: Cause::IrregularStands }
}

/// Nothing but men in hands and what was so before.
fn old_or_lifted(rest: Bitboard, eyes: &Eyes, made_at: Timestamp) -> bool {
    let empty = eyes.empty();
    rest.count() <= 3
        && rest.into_iter().all(|square| empty.contains(square) || eyes.since[usize::from(square)] < made_at)
}
