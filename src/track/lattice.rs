//! The search for the lines of plies that the readings bear out, from a position whose plies are
//! known on.
//!
//! A ply's man was read off its square, and then: on the other; or the other was covered there before
//! the scan came round; or it went on, or was taken in passing, within one scan. A line is judged
//! whole (`tally`): all beginnings of one length are compared, and the cleanest of each kind go on; the
//! cheapest lines are kept, so that one can see how much worse the next best story is.

use shakmaty::{Bitboard, Move, Piece, Role, Square, attacks};

use super::{
    account::puts,
    align::{COVERED, PASSED},
    ledger::{Ledger, PLY, STALE, Tried},
    moves::origin,
    rivals::variations,
    tally::{Sheet, Tally},
};
use crate::record::{Position, Timestamp};

/// Plies in one line, the known ones included.
const DEPTH: usize = 26;
/// Beginnings of one length that go on …
const ABREAST: usize = 24;
/// … and of these with the same plies in question.
const OF_A_KIND: usize = 5;
/// Lines that are kept.
const KEPT: usize = 12;
/// What was read so much earlier than a ply can have been made may still follow it, in ms.
const SLACK: i64 = 80;
/// Two plies are not made closer together, in ms.
const SPACING: i64 = 80;
/// The next hand takes a man so long after he stood, in a hurry, in ms.
const TAKEN: i64 = 200;
/// Readings that cost no more than this beside their plies leave no room for another story.
const PLAINLY: u32 = 4;
/// A ply's man was read where it went if that was so near to the ply's time, in ms.
const READ_NEAR: i64 = 400;
/// Arrivals of one man on one square that are tried.
const ARRIVALS: usize = 3;

/// A line and what it costs.
#[derive(Clone, Debug)]
pub(super) struct Story {
    pub(super) line: Vec<Tried>,
    pub(super) cost: u32,
}

/// What a search found: stories that differ in the plies in question, the cheapest first.
#[derive(Debug, Default)]
pub(super) struct Stories {
    pub(super) all: Vec<Story>,
}

impl Stories {
    /// How much more the next best story costs that has something else for the plies in question;
    /// `None`: none was found within the margin.
    pub(super) fn lead(&self) -> Option<u32> {
        let [best, next, ..] = &self.all[..] else { return None };
        Some(next.cost - best.cost)
    }
}

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) root: &'a Position,
    /// Plies from the root that stand.
    pub(super) known: Vec<Tried>,
    /// When the last of them can have stood at the earliest.
    pub(super) cursor: Timestamp,
    /// The line as it is taken now, from the root.
    pub(super) present: Vec<Tried>,
    /// Stories are told apart by so many plies from the root.
    pub(super) decide: usize,
    /// Stories that cost so much more than the best are of no interest.
    pub(super) margin: u32,
}

/// What a line costs; `None` if its plies `from..to` are told by what was read up to `horizon` so plainly that
/// no other story comes near.
pub(super) fn cost(
    ledger: &Ledger<'_>,
    root: &Position,
    line: &[Tried],
    plain: Option<(Timestamp, (usize, usize))>,
) -> Option<u32> {
    let (mut tally, bare) = Tally::new(ledger, root);
    let line: Vec<&Tried> = line.iter().collect();
    let sheet = tally.sheet(&bare, &line);
    if plain.is_some_and(|(horizon, plies)| tally.plain(horizon, &sheet, &line, plies, PLAINLY)) {
        return None;
    }
    Some(tally.cost(&sheet, &line))
}

/// The search.
pub(super) fn search(ledger: &Ledger<'_>, question: Question<'_>) -> Stories {
    let Question { root, known, cursor, present, decide, margin } = question;
    let (mut tally, bare) = Tally::new(ledger, root);
    let mut search = Search { ledger, landed: ledger.landed(), stories: Stories::default(), decide, margin };
    let line: Vec<&Tried> = present.iter().collect();
    let sheet = tally.sheet(&bare, &line);
    search.keep(&line, tally.cost(&sheet, &line));
    let line: Vec<&Tried> = known.iter().collect();
    let sheet = tally.sheet(&bare, &line);
    search.run(&mut tally, &known, sheet, cursor);
    if decide > known.len() {
        search.vary(&mut tally, &bare, known.len());
    }
    search.stories
}

struct Search<'a, 'b> {
    ledger: &'a Ledger<'b>,
    landed: Bitboard,
    stories: Stories,
    decide: usize,
    margin: u32,
}

/// A move that was read to be made.
struct Candidate {
    m: Move,
    /// When it was read by.
    read: Timestamp,
    /// When it can have stood at the earliest.
    cursor: Timestamp,
    /// What it costs that its man was not read where it stood.
    unread: u32,
}

/// The beginning of a line.
struct Node {
    /// The node before, and its ply; `None` for the known plies.
    last: Option<(usize, Tried)>,
    sheet: Sheet,
    cursor: Timestamp,
    /// What its plies cost whose men were not read, and of which no square tells.
    unread: u32,
}

impl Search<'_, '_> {
    /// All beginnings of one length, then those one ply longer: the cleanest of each kind go on.
    fn run(&mut self, tally: &mut Tally<'_, '_>, known: &[Tried], sheet: Sheet, cursor: Timestamp) {
        let mut nodes = vec![Node { last: None, sheet, cursor, unread: 0 }];
        let mut layer: Vec<usize> = vec![0];
        let of_a_kind = if self.decide > known.len() { OF_A_KIND } else { ABREAST / 2 };
        for _ in known.len()..=DEPTH {
            // What each beginning costs beside its plies.
            let mut ranked: Vec<(u32, u32, usize)> = Vec::with_capacity(layer.len());
            for index in layer.drain(..) {
                let node = &nodes[index];
                let line = line(known, &nodes, index);
                let plies = PLY * line.len() as u32;
                let most = (self.limit(&line).saturating_add(plies)).saturating_sub(node.unread);
                let (least, cost) = tally.both(node.cursor.plus(-SLACK), &node.sheet, &line, most);
                let key = node.unread + least - plies.min(least);
                if let Some(cost) = cost {
                    self.keep(&line, cost);
                    // What is cleaner so far, and leaves less unexplained, is more likely.
                    ranked.push((key + cost / 4, key, index));
                }
            }
            ranked.sort_unstable();
            let mut kinds: Vec<(u64, usize)> = Vec::new();
            let mut going = 0;
            let mut gone: Vec<u64> = Vec::with_capacity(ABREAST);
            for (_, key, index) in ranked {
                let path = line(known, &nodes, index);
                let limit = self.limit(&path);
                if key > limit || (key == limit && limit == 0) || tally.full() {
                    continue;
                }
                // The same moves, read at other times, are not looked at twice.
                let moves = kind(known.len(), usize::MAX, &path);
                if gone.contains(&moves) {
                    continue;
                }
                let kind = kind(known.len(), self.decide, &path);
                let place = kinds.iter().position(|(other, _)| *other == kind);
                let place = place.unwrap_or_else(|| {
                    kinds.push((kind, 0));
                    kinds.len() - 1
                });
                if kinds[place].1 >= of_a_kind || going >= ABREAST {
                    continue;
                }
                kinds[place].1 += 1;
                going += 1;
                gone.push(moves);
                let node = &nodes[index];
                let position = path.last().map_or(tally.root, |last| &last.after);
                let mut add = Vec::new();
                for Candidate { m, read, cursor, unread } in self.candidates(position, node.cursor) {
                    if key + unread > limit {
                        continue;
                    }
                    let tried = Tried { m, after: position.play(m), at: read };
                    let mut longer = path.clone();
                    longer.push(&tried);
                    let sheet = tally.extend(&node.sheet, &longer);
                    drop(longer);
                    let unread = node.unread + unread;
                    add.push(Node { last: Some((index, tried)), sheet, cursor, unread });
                }
                drop(path);
                layer.extend(nodes.len()..nodes.len() + add.len());
                nodes.extend(add);
            }
            if layer.is_empty() {
                return;
            }
        }
    }

    /// What the best story, and the line as it is, could be otherwise.
    fn vary(&mut self, tally: &mut Tally<'_, '_>, bare: &Sheet, known: usize) {
        let Some(best) = self.stories.all.first().cloned() else { return };
        let unread = |ply: usize| {
            let tried = &best.line[ply];
            let near = |at: Timestamp| at.since(tried.at).abs() <= READ_NEAR;
            !puts(tried.m, !tried.after.turn()).all(|(square, piece)| {
                self.ledger.arrivals(square).any(|seen| seen.piece == piece && near(seen.at))
            })
        };
        let others = variations(tally.root, &best.line, known, self.decide, unread);
        for other in others {
            let line: Vec<&Tried> = other.iter().collect();
            let sheet = tally.sheet(bare, &line);
            self.keep(&line, tally.cost(&sheet, &line));
        }
    }

    /// What a beginning may cost beside its plies and still matter: it must be better than the story
    /// that begins like it, if there is one, or come near to the best. (Stories of the same readings
    /// have as many plies, or one more or less.)
    fn limit(&self, path: &[&Tried]) -> u32 {
        let beside = |story: &Story| story.cost - (PLY * story.line.len() as u32).min(story.cost);
        let known = if path.len() < self.decide { None } else { self.alike(path) };
        match (known, self.stories.all.first()) {
            (Some(index), _) => beside(&self.stories.all[index]),
            (None, Some(best)) => beside(best) + self.margin + PLY,
            (None, None) => u32::MAX,
        }
    }

    /// The story that has the same plies in question.
    fn alike(&self, path: &[&Tried]) -> Option<usize> {
        let decide = self.decide;
        self.stories.all.iter().position(|story| {
            story.line.len().min(decide) == path.len().min(decide)
                && story.line.iter().zip(path).take(decide).all(|(a, b)| a.m == b.m)
        })
    }

    fn keep(&mut self, path: &[&Tried], cost: u32) {
        let alike = self.alike(path);
        let all = &mut self.stories.all;
        if all.first().is_some_and(|best| cost > best.cost + self.margin) {
            return;
        }
        if let Some(index) = alike {
            if all[index].cost <= cost {
                return;
            }
            all.remove(index);
        }
        let place = all.partition_point(|story| story.cost <= cost);
        if place < KEPT {
            all.truncate(KEPT - 1);
            all.insert(place, Story { line: path.iter().map(|tried| (*tried).clone()).collect(), cost });
        }
    }

    /// Moves that were read to be made, not before `cursor`.
    fn candidates(&self, position: &Position, cursor: Timestamp) -> Vec<Candidate> {
        let turn = position.turn();
        let board = position.board();
        let next = cursor.plus(SPACING);
        let mut found = Vec::new();
        for m in position.legal_moves() {
            let from = origin(m);
            if !self.ledger.left(from, board.piece_at(from)) {
                continue;
            }
            if m.is_castle() {
                let mut at: Option<Timestamp> = None;
                let whole = puts(m, turn).all(|(square, piece)| {
                    let seen = self.arrivals(square, piece, cursor).next();
                    at = at.max(seen);
                    seen.is_some()
                });
                if let Some(at) = at.filter(|_| whole) {
                    found.push(Candidate { m, read: at, cursor: next.max(at.plus(-STALE)), unread: 0 });
                }
                continue;
            }
            let Some((to, piece)) = puts(m, turn).next() else { continue };
            let mut read = false;
            if self.landed.contains(to) {
                for at in self.arrivals(to, piece, cursor).take(ARRIVALS) {
                    found.push(Candidate { m, read: at, cursor: next.max(at.plus(-STALE)), unread: 0 });
                    read = true;
                }
            }
            let lifted = board.piece_at(from).and_then(|man| self.gone_at(from, man, cursor));
            let cursor_after = lifted.map_or(next, |lifted| next.max(lifted.plus(SPACING - STALE)));
            if self.landed.contains(to) {
                // Another man stands there already.
                let covered = self
                    .ledger
                    .arrivals(to)
                    .find(|seen| seen.piece != piece && possible(seen.at, seen.dumped, cursor_after));
                if let Some(covered) = covered {
                    let read = covered.at.min(cursor_after.plus(STALE + TAKEN));
                    found.push(Candidate { m, read, cursor: cursor_after, unread: 0 });
                    continue;
                }
            }
            if let Some(lifted) = lifted.filter(|_| !read && self.ledger.brisk)
                && let Some((read, unread)) = self.went_on(position, m, piece, lifted, cursor_after)
            {
                let read = read.min(cursor_after.plus(STALE));
                found.push(Candidate { m, read, cursor: cursor_after, unread });
            }
        }
        found
    }

    /// The man is not read where this move takes it: it may have gone on from there, or been taken in
    /// passing, or by one like the man it took. When that was read, and what it costs.
    fn went_on(
        &self,
        position: &Position,
        m: Move,
        piece: Piece,
        left: Timestamp,
        cursor: Timestamp,
    ) -> Option<(Timestamp, u32)> {
        let (from, to) = (origin(m), m.to());
        if piece.role == Role::Pawn && from.distance(to) == 2 {
            // Taken in passing.
            let passed = Square::from_coords(to.file(), attacks::between(from, to).first()?.rank());
            let taker = Piece { color: !piece.color, role: Role::Pawn };
            if let Some(at) = self.arrivals(passed, taker, cursor).next() {
                return Some((at, COVERED + 2));
            }
        }
        if let Some(victim) = position.board().piece_at(to)
            && self.ledger.reads(to) == Some(victim)
            && !self.landed.contains(to)
        {
            // Taken by one like the man it took, within a scan.
            let occupied = position.board().occupied() | Bitboard::from(to);
            let takers = attackers(to, victim, occupied) & position.board().by_piece(victim);
            let taken = takers.into_iter().find_map(|square| self.gone_at(square, victim, cursor));
            return taken.map(|at| (at.max(left), 2 * COVERED));
        }
        // It went on: it is read elsewhere next.
        if m.is_promotion() {
            return None;
        }
        let on = attacks::attacks(to, piece, position.board().occupied() ^ Bitboard::from(from));
        let on = if piece.role == Role::Pawn { on | pawn_pushes(to, piece) } else { on };
        let next = (on & self.landed).into_iter().filter(|square| *square != to);
        let read =
            next.filter_map(|square| self.arrivals(square, piece, cursor.plus(SPACING)).next()).min()?;
        Some((read, PASSED))
    }

    /// When the man was read to be off its square, after `cursor`.
    fn gone_at(&self, square: Square, man: Piece, cursor: Timestamp) -> Option<Timestamp> {
        let lane = self.ledger.lane(square)?;
        let mut was = lane.first;
        let mut gone = None;
        for reading in &lane.readings {
            if was == Some(man) && reading.content != was && possible(reading.at, reading.dumped, cursor) {
                gone = gone.or(Some(reading.at));
            }
            was = reading.content;
        }
        gone
    }

    fn arrivals(&self, square: Square, piece: Piece, cursor: Timestamp) -> impl Iterator<Item = Timestamp> {
        self.ledger
            .arrivals(square)
            .filter(move |seen| seen.piece == piece && possible(seen.at, seen.dumped, cursor))
            .map(|seen| seen.at)
    }
}

/// What was read then can have been made after `cursor`, by and large.
fn possible(at: Timestamp, dumped: bool, cursor: Timestamp) -> bool {
    dumped || at.plus(60) >= cursor
}

/// Squares from which a man like this attacks the square.
fn attackers(square: Square, man: Piece, occupied: Bitboard) -> Bitboard {
    let back = if man.role == Role::Pawn { Piece { color: !man.color, ..man } } else { man };
    attacks::attacks(square, back, occupied)
}

/// Where a pawn may be pushed to.
fn pawn_pushes(square: Square, pawn: Piece) -> Bitboard {
    let step = pawn.color.fold_wb(8, -8);
    square.offset(step).into_iter().collect()
}

/// Beginnings are of one kind if their plies up to some number from the root are the same.
fn kind(known: usize, plies: usize, path: &[&Tried]) -> u64 {
    path.iter().take(plies).skip(known).fold(0, |kind: u64, tried| {
        let squares = u64::from(u8::from(origin(tried.m))) * 64 + u64::from(u8::from(tried.m.to()));
        let role = tried.m.promotion().map_or(0, |role| role as u64);
        kind.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(squares * 8 + role + 1)
    })
}

/// The plies from the root to a node.
fn line<'a>(known: &'a [Tried], nodes: &'a [Node], index: usize) -> Vec<&'a Tried> {
    let mut line: Vec<&Tried> = Vec::with_capacity(known.len() + 8);
    let mut at = index;
    while let Some((before, tried)) = &nodes[at].last {
        line.push(tried);
        at = *before;
    }
    line.extend(known.iter().rev());
    line.reverse();
    line
}
