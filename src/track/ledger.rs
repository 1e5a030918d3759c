//! What a line of plies has to answer for: each square's readings against what the line puts there,
//! the times that the scan leaves possible, and the presses.
//!
//! For every square the line says what stands there, one content after the other; the board says
//! what was read, one reading after the other. The two are aligned at the least cost: an empty
//! reading between is a hand at work, a man put back is an adjustment, a man that the line does not
//! know is a slide if its own ply explains it and a stray otherwise, a content that was never read
//! is possible if it was covered within one scan. Each change that is read at `t` was made within
//! the scan before `t`; plies follow one another, so a line whose plies cannot be put in time pays
//! for it. Presses come one a ply, by the side that made it, not long before its man can have stood.
//! Costs are in quarters of a natural logarithm of odds, roughly.

use shakmaty::{Bitboard, Color, Move, Piece, Square, attacks};

use super::{
    eyes::Eyes,
    moves::{origin, squares},
};
use crate::record::{Position, Timestamp};

/// A reading is at most so old: a scan, and what waits before it on the line, in ms.
pub(super) const STALE: i64 = 275;
/// Readings of one square that are looked at.
const READINGS: usize = 14;
/// Contents that a line gives one square.
const CONTENTS: usize = 10;
/// Milliseconds of impossible order that cost one.
const ORDER: i64 = 10;
/// The most that one impossible order costs.
const IMPOSSIBLE: u32 = 60;
/// Plies in a line.
pub(super) const LONGEST: usize = 32;
/// A ply.
pub(super) const PLY: u32 = 8;
/// A man put back.
const PUT_BACK: u32 = 4;
/// A man read on the way of a ply of its own.
const SLIDE: u32 = 6;
/// A man set down beside where its ply takes it, or a captured man pushed aside.
const BESIDE: u32 = 12;
/// A man that nothing put there.
const STRAY: u32 = 30;
/// The same, and it stands there still.
const STANDS: u32 = 24;
/// A man that stands there in the line, but at another time.
const UNTIMELY: u32 = 12;
/// A content that was never read, covered within a scan.
const COVERED: u32 = 3;
/// A content that was never read.
const UNREAD: u32 = 36;
/// A man of the side on move on a square where its ply does not end, just now.
const UNDER_WAY: u32 = 8;
/// So long it may stand there, in ms.
const UNDER_WAY_MS: i64 = 700;
/// A man that came and went within a scan.
const PASSED: u32 = 26;
/// The last content of a square, not read yet though the ply is fresh.
const FRESH: u32 = 8;
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
const QUICKEST: i64 = 80;
/// The next hand may take its man up so long before the last one is set down, in ms.
const NEXT_HAND: i64 = -60;
/// The clock may be told of a press so long before the man is seen to stand, in ms.
const PRESS_AHEAD: i64 = 160;
/// So long after a press its ply must have been read, in ms.
const PRESS_LATE: i64 = 500;
/// So long after a ply its press should have come, in ms.
const PRESS_DUE: i64 = 1_600;

/// No way leads there.
const FAR: u32 = u32::MAX / 2;

/// One reading of a square.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Timestamp,
    content: Option<Piece>,
    /// It came with a dump: the change may be older than a scan.
    dumped: bool,
}

/// A square's readings.
#[derive(Clone, Debug)]
struct Lane {
    square: Square,
    first: Option<Piece>,
    readings: Vec<Reading>,
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
    eyes: &'a Eyes,
    now: Timestamp,
    lanes: Vec<Lane>,
    /// The lane of each square, if it has one.
    lane_of: [u8; 64],
    presses: Vec<Pressed>,
    /// Plies from the root that are pressed already.
    pressed: usize,
    clock: bool,
}

/// What became of a ply in a line.
#[derive(Clone, Copy, Debug)]
struct Fate {
    arrived: Option<(Timestamp, bool)>,
    left: Option<(Timestamp, bool)>,
    /// Covered at that time before it was read.
    covered: Option<Timestamp>,
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
    ) -> Self {
        let mut lanes: Vec<Lane> = Vec::with_capacity(16);
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
            lane.readings.push(Reading { at: seen.at, content: seen.now, dumped: seen.dumped });
        }
        Self { eyes, now, lanes, lane_of, presses, pressed, clock }
    }

    fn lane(&self, square: Square) -> Option<&Lane> {
        self.lanes.get(usize::from(self.lane_of[usize::from(square)]))
    }

    /// When men were read to arrive on this square.
    pub(super) fn arrivals(&self, square: Square) -> impl Iterator<Item = Arrived> {
        self.lane(square).into_iter().flat_map(|lane| lane.readings.iter()).filter_map(|reading| {
            Some(Arrived { at: reading.at, piece: reading.content?, dumped: reading.dumped })
        })
    }

    /// Squares on which a man was read to arrive.
    pub(super) fn landed(&self) -> Bitboard {
        let landed = |lane: &&Lane| lane.readings.iter().any(|reading| reading.content.is_some());
        self.lanes.iter().filter(landed).map(|lane| lane.square).collect()
    }

    /// The man was read to be off this square, or what the square reads tells nothing.
    pub(super) fn left(&self, square: Square, man: Option<Piece>) -> bool {
        match self.lane(square) {
            Some(lane) => lane.first != man || lane.readings.iter().any(|reading| reading.content != man),
            None => self.eyes.board.piece_at(square) != man || self.eyes.blind().contains(square),
        }
    }

    /// What this line costs.
    pub(super) fn cost(&self, root: &Position, line: &[Tried]) -> u32 {
        self.until(None, root, line)
    }

    /// What this line and every line that goes on from it costs at least, where what follows was
    /// made after `horizon`.
    pub(super) fn least(&self, horizon: Timestamp, root: &Position, line: &[Tried]) -> u32 {
        self.until(Some(horizon), root, line)
    }

    fn until(&self, horizon: Option<Timestamp>, root: &Position, line: &[Tried]) -> u32 {
        let mut fates = [Fate { arrived: None, left: None, covered: None }; LONGEST];
        let fates = &mut fates[..line.len()];
        let mut cost = PLY * line.len() as u32;
        let mut squares_done = Bitboard::EMPTY;
        // The squares that the line touches, and then the others that were read.
        for (index, tried) in line.iter().enumerate() {
            let turn = if index.is_multiple_of(2) { root.turn() } else { !root.turn() };
            for square in squares(tried.m, turn) & !squares_done {
                squares_done.add(square);
                cost += self.square(square, root, line, horizon, fates);
            }
        }
        for lane in &self.lanes {
            if !squares_done.contains(lane.square) {
                cost += self.square(lane.square, root, line, horizon, fates);
            }
        }
        for lane in &self.lanes {
            cost += self.strays(lane, root, line, horizon, fates);
        }
        cost + self.times(fates, root, line, horizon)
    }

    /// Aligns one square's readings with the contents that the line gives it.
    fn square(
        &self,
        square: Square,
        root: &Position,
        line: &[Tried],
        horizon: Option<Timestamp>,
        fates: &mut [Fate],
    ) -> u32 {
        if self.eyes.blind().contains(square) {
            return 0;
        }
        // Contents, with the ply that brought each.
        let mut contents = [(root.board().piece_at(square), usize::MAX); CONTENTS];
        let mut count = 1;
        for (index, tried) in line.iter().enumerate() {
            let now = tried.after.board().piece_at(square);
            if now != contents[count - 1].0 && count < CONTENTS {
                contents[count] = (now, index);
                count += 1;
            }
        }
        let contents = &contents[..count];
        let Some(lane) = self.lane(square) else {
            // Nothing was read: all that the line does here was missed.
            let reads = self.eyes.board.piece_at(square);
            let missed: u32 = match horizon {
                None => self.never_read(&contents[1..]),
                Some(_) => 0,
            };
            let old = if count == 1 && reads != contents[0].0 { OLD } else { 0 };
            return missed + old;
        };
        // best[state]: the least cost of the readings so far with this content standing.
        let mut best = [FAR; CONTENTS];
        let mut came = [[(0_u8, false); CONTENTS]; READINGS];
        best[0] = 0;
        let mut was = lane.first;
        let readings = read_by(lane, horizon);
        for (step, reading) in readings.iter().enumerate() {
            let mut next = [FAR; CONTENTS];
            for state in 0..count {
                if best[state] >= FAR {
                    continue;
                }
                let stands = contents[state].0;
                // It goes on standing.
                let stay = if reading.content == stands {
                    if was.is_none() && stands.is_some() && (state > 0 || lane.first == stands) {
                        PUT_BACK
                    } else {
                        0
                    }
                } else if reading.content.is_some()
                    && contents.iter().any(|(content, _)| *content == reading.content)
                {
                    UNTIMELY
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
                    if contents[later].0 == reading.content {
                        // What a ply did was read a scan after its man stood, at the latest.
                        let tried = &line[contents[later].1];
                        let late = over(reading.at, tried.at.plus(STALE));
                        // A man on its way over the square is not its arrival there.
                        let soon = if reading.content.is_some() && !tried.m.is_castle() {
                            over(tried.at.plus(-STALE), reading.at)
                        } else {
                            0
                        };
                        let to = best[state] + skipped + late + soon;
                        if to <= next[later] {
                            next[later] = to;
                            came[step][later] = (state as u8, true);
                        }
                    }
                    skipped += skipping(contents, later);
                }
            }
            best = next;
            was = reading.content;
        }
        // What the square reads in the end.
        let mut end = (FAR, 0);
        for state in 0..count {
            if best[state] >= FAR {
                continue;
            }
            let mut total = best[state];
            if horizon.is_some() {
                if total < end.0 {
                    end = (total, state);
                }
                continue;
            }
            for content in &contents[state + 1..] {
                total += if content.0 == was { COVERED } else { Self::unread(content.1, line) };
            }
            let stands = contents[state].0;
            if state + 1 == count && was != stands {
                total += self.remains(stands, was, lane, line, root);
            }
            if total < end.0 {
                end = (total, state);
            }
        }
        Self::note(readings, contents, &came, end.1, fates);
        end.0
    }

    /// Contents of a square that read nothing new: a man may have come and gone within a scan.
    #[expect(clippy::unused_self, reason = "it belongs to the ledger")]
    fn never_read(&self, contents: &[(Option<Piece>, usize)]) -> u32 {
        let (pairs, rest) = (contents.len() / 2, contents.len() % 2);
        let passed = contents.first().is_some_and(|content| content.0.is_some());
        let pairs = pairs as u32 * if passed { PASSED } else { 2 * UNREAD };
        pairs + rest as u32 * UNREAD
    }

    /// A content that was not read (yet).
    fn unread(ply: usize, line: &[Tried]) -> u32 {
        if ply + 1 == line.len() { UNREAD.min(FRESH + UNREAD / 2) } else { UNREAD }
    }

    /// The square reads something else than the line leaves there.
    fn remains(
        &self,
        stands: Option<Piece>,
        reads: Option<Piece>,
        lane: &Lane,
        line: &[Tried],
        root: &Position,
    ) -> u32 {
        match (stands, reads) {
            (Some(piece), None) => {
                let turn = line.last().map_or(root.turn(), |last| last.after.turn());
                let since = lane.readings.last().map_or(self.now, |last| last.at);
                // Off its square while its owner made another move.
                let own = usize::from(piece.color != root.turn());
                let forgotten = line
                    .iter()
                    .skip(own)
                    .step_by(2)
                    .any(|tried| tried.at.since(since) > 100 && !tried.m.is_castle());
                if lane.first != stands && lane.readings.iter().all(|reading| reading.content != stands) {
                    OLD
                } else if forgotten {
                    GONE
                } else if piece.color == turn {
                    LIFTED
                } else {
                    HOLE + (self.now.since(since) - STALE).clamp(0, 1_000) as u32 / 50
                }
            }
            (_, Some(piece)) if self.on_its_way(piece, lane, line, root) => UNDER_WAY,
            (_, Some(_)) => STANDS,
            (None, None) => 0,
        }
    }

    /// A man of the side on move that is off its square was just set down here: its ply goes on.
    fn on_its_way(&self, piece: Piece, lane: &Lane, line: &[Tried], root: &Position) -> bool {
        let tip = line.last().map_or(root, |last| &last.after);
        let fresh = lane.readings.last().is_some_and(|reading| self.now.since(reading.at) < UNDER_WAY_MS);
        fresh && piece.color == tip.turn() && (tip.board().by_piece(piece) & self.eyes.empty()).any()
    }

    /// Writes down when each ply's men were read to arrive and leave.
    fn note(
        readings: &[Reading],
        contents: &[(Option<Piece>, usize)],
        came: &[[(u8, bool); CONTENTS]; READINGS],
        end: usize,
        fates: &mut [Fate],
    ) {
        let mut state = end;
        for step in (0..readings.len()).rev() {
            let (from, moved) = came[step][state];
            let reading = &readings[step];
            let from = usize::from(from);
            if moved {
                for (passed, (content, ply)) in
                    contents.iter().copied().enumerate().take(state + 1).skip(from + 1)
                {
                    let Some(fate) = fates.get_mut(ply) else { continue };
                    if content.is_none() {
                        if fate.left.is_none_or(|(at, _)| reading.at < at) {
                            fate.left = Some((reading.at, reading.dumped));
                        }
                    } else if passed == state {
                        if fate.arrived.is_none_or(|(at, _)| reading.at > at) {
                            fate.arrived = Some((reading.at, reading.dumped));
                        }
                    } else {
                        fate.covered = Some(reading.at);
                    }
                }
            }
            state = from;
        }
    }

    /// Men that were read where the line never puts them.
    fn strays(
        &self,
        lane: &Lane,
        root: &Position,
        line: &[Tried],
        horizon: Option<Timestamp>,
        fates: &[Fate],
    ) -> u32 {
        let stood = |piece: Option<Piece>| {
            root.board().piece_at(lane.square) == piece
                || line.iter().any(|tried| tried.after.board().piece_at(lane.square) == piece)
        };
        let mut cost = 0;
        for (index, reading) in read_by(lane, horizon).iter().enumerate() {
            let Some(piece) = reading.content else { continue };
            if stood(Some(piece)) || lane.first == Some(piece) {
                continue;
            }
            let until = lane.readings.get(index + 1).map_or(self.now, |next| next.at);
            if until == self.now && horizon.is_none() && self.on_its_way(piece, lane, line, root) {
                cost += UNDER_WAY;
                continue;
            }
            cost += Self::stray(lane.square, piece, reading.at, until, line, fates, root);
        }
        cost
    }

    fn stray(
        square: Square,
        piece: Piece,
        from: Timestamp,
        until: Timestamp,
        line: &[Tried],
        fates: &[Fate],
        root: &Position,
    ) -> u32 {
        let mut least = STRAY;
        for (index, (tried, fate)) in line.iter().zip(fates).enumerate() {
            let turn = if index.is_multiple_of(2) { root.turn() } else { !root.turn() };
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
    fn times(&self, fates: &[Fate], root: &Position, line: &[Tried], horizon: Option<Timestamp>) -> u32 {
        let mut cost = 0;
        let early = |(at, dumped): (Timestamp, bool)| {
            if dumped { Timestamp::from_millis(i64::MIN / 2) } else { at.plus(-STALE) }
        };
        let mut cursor = Timestamp::from_millis(i64::MIN / 2);
        let mut stood = [Timestamp::from_millis(i64::MIN / 2); LONGEST];
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
                // It may have been lifted by him who took it long before he set his own man down.
                cost += over(quickest, covered);
                cursor = quickest;
            }
            stood[index] = cursor;
        }
        // Presses, in their order, one a ply of that side.
        let mut next = self.pressed;
        for press in &self.presses {
            let mover = |index: usize| if index.is_multiple_of(2) { root.turn() } else { !root.turn() };
            let mut ply = next;
            let mut skipped = 0;
            while ply < line.len() && mover(ply) != press.by {
                ply += 1;
                skipped += FORGOTTEN;
            }
            if ply < line.len() {
                cost += skipped + over(stood[ply].plus(-PRESS_AHEAD), press.at);
                next = ply + 1;
            } else if horizon.is_none() {
                cost += if self.now.since(press.at) < PRESS_LATE { EARLY_PRESS } else { SPARE_PRESS };
            }
        }
        if self.clock && horizon.is_none() {
            for (index, stood) in stood.iter().enumerate().take(line.len()).skip(next) {
                if index > 0 && self.now.since(*stood) > PRESS_DUE {
                    cost += UNPRESSED;
                }
            }
        }
        cost
    }
}

/// What it costs that something is possible only from then on, and was so at `at`.
fn over(possible: Timestamp, at: Timestamp) -> u32 {
    ((possible.since(at).max(0) / ORDER) as u32).min(IMPOSSIBLE)
}

/// What it costs that this content was never read.
fn skipping(contents: &[(Option<Piece>, usize)], index: usize) -> u32 {
    let next = contents.get(index + 1).and_then(|next| next.0);
    match (contents[index].0, next) {
        (None, _) => 0,
        (Some(piece), Some(taker)) if taker.color != piece.color => COVERED,
        _ => PASSED,
    }
}

/// The readings up to a horizon.
fn read_by(lane: &Lane, horizon: Option<Timestamp>) -> &[Reading] {
    match horizon {
        Some(horizon) => &lane.readings[..lane.readings.partition_point(|reading| reading.at < horizon)],
        None => &lane.readings,
    }
}
