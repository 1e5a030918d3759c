//! The search for the lines of plies that the readings bear out, from a position whose plies are
//! known on.
//!
//! What a beginning may go on with is found in `candidates`. A line is judged whole (`tally`): all beginnings
//! of one length are compared, and the cleanest of each kind go on; the cheapest lines are kept, so that one
//! can see how much worse the next best story is.

use std::{cell::Cell, collections::VecDeque};

use shakmaty::Move;

use super::{
    account::puts,
    candidates::{Candidate, Candidates},
    doubt::Doubt,
    ledger::{Ledger, PLY, Tried},
    rivals::variations,
    sheet::{Longer, Ply, Sheet, Sheets},
    spare,
    standing::Standing,
    stories::{Kind, Stories, add, kind},
    strays::Hopeless,
    tally::{Judged, Tally, Tip},
};
use crate::record::{Position, Timestamp};

/// Plies in one line, the known ones included.
const DEPTH: usize = 26;
/// Beginnings of one length that go on …
const ABREAST: usize = 24;
/// … and of these with the same plies in question …
const OF_A_KIND: usize = 5;
/// … or of all, where none is in question and only the best story is looked for.
const OF_ANY_KIND: usize = 6;
/// Beginnings of one length that go on from a story found before.
const OF_ONE_FOUND: usize = 3;
/// What was read so much earlier than a ply can have been made may still follow it, in ms.
const SLACK: i64 = 80;
/// Readings that cost no more than this beside their plies leave no room for another story.
const PLAINLY: u32 = 4;
/// A ply's man was read where it went if that was so near to the ply's time, in ms.
const READ_NEAR: i64 = 400;

/// What is asked.
pub(super) struct Question<'a> {
    /// When the last of the plies that stand can have stood at the earliest.
    pub(super) cursor: Timestamp,
    /// Stories are told apart by so many plies from the root.
    pub(super) decide: usize,
    /// Stories that cost so much more than the best are of no interest.
    pub(super) margin: u32,
    /// Stories found before, by their plies after those that stand.
    pub(super) found: &'a Doubt,
}

/// A line from a position, held against the evidence.
pub(super) struct Weighing<'a, 'b> {
    tally: Tally<'a, 'b>,
    root: &'a Position,
    bare: Sheet,
    line: &'a [Tried],
    sheet: Sheet,
    plies: Vec<Ply>,
}

impl<'a, 'b> Weighing<'a, 'b> {
    /// Of the line as it is taken now.
    pub(super) fn new(ledger: &'a Ledger<'b>, root: &'a Position, line: &'a [Tried]) -> Self {
        let (mut tally, bare) = Tally::new(ledger, root);
        let sheet = tally.sheets.whole(&bare, line);
        Self { tally, root, bare, line, sheet, plies: line.iter().map(Ply::from).collect() }
    }

    fn judged(&self) -> Judged<'_> {
        let tip = Tip::of(self.line.last().map_or(self.root, |last| &last.after));
        Judged { sheet: &self.sheet, plies: &self.plies, tip }
    }

    /// Its plies `from..to` are told by what was read up to `horizon` so plainly that no other story comes
    /// near.
    pub(super) fn plain(&self, horizon: Timestamp, plies: (usize, usize)) -> bool {
        self.tally.plain(horizon, self.judged(), plies, PLAINLY)
    }

    /// What it costs.
    pub(super) fn cost(&self) -> u32 {
        self.tally.cost(self.judged())
    }

    /// The search for other stories, which have the first `known` plies in common with it.
    pub(super) fn search(mut self, cost: u32, known: usize, question: &Question<'_>) -> Stories {
        let Question { cursor, decide, margin, found } = *question;
        let sums = |line: &VecDeque<Move>| {
            let sums = line.iter().scan(0, |sum, m| {
                *sum = add(*sum, *m);
                Some(*sum)
            });
            sums.collect()
        };
        let ledger = self.tally.ledger;
        let mut search = Search {
            ledger,
            root: self.root,
            known: &self.line[..known],
            nodes: NODES.with(spare::take),
            grown: GROWN.with(spare::take),
            standings: STANDINGS.with(spare::take),
            stories: Stories::new(decide, margin),
            decide,
            found: found.lines().map(sums).collect(),
        };
        search.stories.keep(kind(known, decide, self.line), cost, || self.line.to_vec());
        let sheet = self.tally.sheets.whole(&self.bare, search.known);
        search.run(&mut self.tally, sheet, cursor);
        if decide > known {
            search.vary(&mut self.tally, &self.bare);
        }
        std::mem::take(&mut search.stories)
    }
}

struct Search<'a, 'b> {
    ledger: &'a Ledger<'b>,
    root: &'a Position,
    /// The plies that stand.
    known: &'a [Tried],
    nodes: Vec<Node>,
    grown: Vec<Grown>,
    standings: Vec<Standing>,
    stories: Stories,
    decide: usize,
    /// Stories found before, by the sums of their beginnings.
    found: Vec<Vec<u64>>,
}

/// The beginning of a line.
struct Node {
    /// The beginning that it goes on from, by its place in [`Search::grown`], and the ply; `None` for the
    /// known plies.
    last: Option<(u32, Ply)>,
    longer: Longer,
    cursor: Timestamp,
    /// What its plies cost whose men were not read, and of which no square tells.
    unread: u32,
    kind: Kind,
    /// A sum of all its moves.
    moves: u64,
    /// The story found before that it is the beginning of, or goes on from.
    follows: Option<u8>,
}

/// A beginning that goes on.
struct Grown {
    /// Its place in [`Search::nodes`].
    node: u32,
    after: Position,
    sheet: Sheet,
    /// What became of its plies, by its place in [`Search::standings`], once that was asked.
    standing: Option<u32>,
}

thread_local! {
    static NODES: Cell<Vec<Node>> = const { Cell::new(Vec::new()) };
    static GROWN: Cell<Vec<Grown>> = const { Cell::new(Vec::new()) };
    static STANDINGS: Cell<Vec<Standing>> = const { Cell::new(Vec::new()) };
}

impl Drop for Search<'_, '_> {
    fn drop(&mut self) {
        NODES.with(|place| spare::leave(place, &mut self.nodes));
        GROWN.with(|place| spare::leave(place, &mut self.grown));
        STANDINGS.with(|place| spare::leave(place, &mut self.standings));
    }
}

impl Search<'_, '_> {
    /// All beginnings of one length, then those one ply longer: the cleanest of each kind go on.
    fn run(&mut self, tally: &mut Tally<'_, '_>, sheet: Sheet, cursor: Timestamp) {
        let known = self.known.len();
        let kind = Kind::known(known, self.decide);
        let after = self.known.last().map_or(self.root, |last| &last.after).clone();
        let longer = Longer::default();
        self.nodes.push(Node { last: None, longer, cursor, unread: 0, kind, moves: 0, follows: None });
        let mut scratch = sheet.clone();
        self.grown.push(Grown { node: 0, after, sheet, standing: None });
        let candidates = Candidates::new(self.ledger);
        let mut layer = 0..1;
        let of_a_kind = if self.decide > known { OF_A_KIND } else { OF_ANY_KIND };
        let mut plies: Vec<Ply> = Vec::with_capacity(DEPTH + 2);
        let mut ranked: Vec<(u32, u32, usize)> = Vec::new();
        let mut kinds: Vec<(Kind, usize)> = Vec::new();
        let mut gone: Vec<u64> = Vec::with_capacity(ABREAST);
        let mut found: Vec<Candidate> = Vec::new();
        let mut hopeless: Vec<Hopeless> = Vec::new();
        let mut following: Vec<usize> = vec![0; self.found.len()];
        for length in known..=DEPTH {
            // What each beginning costs beside its plies.
            ranked.clear();
            let cost_of_plies = PLY * length as u32;
            let (mut from, mut place) = (None, 0);
            for index in layer {
                let before = self.nodes[index].last.map_or(0, |(before, _)| before);
                if from != Some(before) {
                    from = Some(before);
                    self.plies(self.grown[before as usize].node as usize, &mut plies);
                    place = self.stand(before as usize, tally, &plies);
                }
                let node = &self.nodes[index];
                let grown = &self.grown[before as usize];
                let mut tip = Tip::of(&grown.after);
                if let Some((_, ply)) = node.last {
                    tip = tip.after(ply);
                    plies.push(ply);
                }
                scratch.clone_from(&grown.sheet);
                tally.sheets.grow(&mut scratch, node.longer);
                let limit = self.stories.limit(length, node.kind);
                let most = limit.saturating_add(cost_of_plies).saturating_sub(node.unread);
                let judged = Judged { sheet: &scratch, plies: &plies, tip };
                let horizon = node.cursor.plus(-SLACK);
                let before = node.last.map(|_| (&grown.sheet, node.longer));
                let standing = &mut self.standings[place];
                let (least, cost) = tally.both(horizon, judged, most, standing, before);
                if node.last.is_some() {
                    plies.pop();
                }
                let key = node.unread + least - cost_of_plies.min(least);
                if let Some(cost) = cost {
                    self.keep_node(index, cost);
                    // What is cleaner so far, and leaves less unexplained, is more likely.
                    ranked.push((key + cost / 4, key, index));
                }
            }
            ranked.sort_unstable();
            let first = self.nodes.len();
            kinds.clear();
            gone.clear();
            following.fill(0);
            let mut going = 0;
            for (_, key, index) in ranked.iter().copied() {
                let node = &self.nodes[index];
                let limit = self.stories.limit(length, node.kind);
                if key > limit || (key == limit && limit == 0) || tally.sheets.full() {
                    continue;
                }
                // The same moves, read at other times, are not looked at twice.
                if gone.contains(&node.moves) {
                    continue;
                }
                let place = kinds.iter().position(|(other, _)| *other == node.kind);
                let place = place.unwrap_or_else(|| {
                    kinds.push((node.kind, 0));
                    kinds.len() - 1
                });
                if kinds[place].1 >= of_a_kind || going >= ABREAST {
                    let Some(story) = node.follows.map(usize::from) else { continue };
                    if following[story] >= OF_ONE_FOUND {
                        continue;
                    }
                    following[story] += 1;
                } else {
                    kinds[place].1 += 1;
                    going += 1;
                }
                gone.push(node.moves);
                let before = self.grow(index, &tally.sheets);
                candidates.find(&self.grown[before].after, self.nodes[index].cursor, &mut found);
                found.retain(|candidate| key + candidate.unread <= limit);
                if found.is_empty() {
                    continue;
                }
                self.plies(index, &mut plies);
                let standing = self.stand(before, tally, &plies);
                let grown = &self.grown[before];
                tally.hopeless(&self.standings[standing], &grown.sheet, &mut hopeless);
                let by = grown.after.turn();
                for Candidate { m, read, cursor, unread } in found.drain(..) {
                    let node = &self.nodes[index];
                    let ply = Ply { m, at: read, by };
                    let unread = node.unread + unread;
                    let kind = node.kind.longer(length, self.decide, m);
                    // What is too dear already need not be aligned. (The best story may yet have a ply less.)
                    let floor = tally.floor(cursor.plus(-SLACK), &grown.sheet, &hopeless, ply);
                    if unread + floor > self.stories.limit(length + 1, kind).saturating_add(PLY) {
                        continue;
                    }
                    let longer = tally.sheets.extend(&grown.sheet, length, ply);
                    let moves = add(node.moves, m);
                    let follows = self.follows(length - known, node.follows, moves);
                    let last = Some((before as u32, ply));
                    self.nodes.push(Node { last, longer, cursor, unread, kind, moves, follows });
                }
            }
            if first == self.nodes.len() {
                return;
            }
            layer = first..self.nodes.len();
        }
    }

    /// The story found before that a line follows whose new ply is this one after those that stand, and
    /// which followed that one before.
    fn follows(&self, ply: usize, before: Option<u8>, moves: u64) -> Option<u8> {
        let begins = self.found.iter().position(|story| story.get(ply) == Some(&moves));
        let begins = begins.and_then(|story| u8::try_from(story).ok());
        begins.or(before.filter(|story| self.found[usize::from(*story)].len() <= ply))
    }

    /// A beginning goes on: its place among those that do.
    fn grow(&mut self, index: usize, sheets: &Sheets<'_, '_>) -> usize {
        let node = &self.nodes[index];
        let Some((before, ply)) = node.last else { return 0 };
        let before = &self.grown[before as usize];
        let mut sheet = before.sheet.clone();
        sheets.grow(&mut sheet, node.longer);
        let after = before.after.play(ply.m);
        self.grown.push(Grown { node: index as u32, after, sheet, standing: None });
        self.grown.len() - 1
    }

    /// What became of the plies of a beginning that goes on: its place in [`Search::standings`].
    fn stand(&mut self, place: usize, tally: &Tally<'_, '_>, plies: &[Ply]) -> usize {
        let grown = &self.grown[place];
        if let Some(standing) = grown.standing {
            return standing as usize;
        }
        let node = &self.nodes[grown.node as usize];
        let longer = node.last.and_then(|(before, _)| {
            let before = &self.grown[before as usize];
            let mut standing = self.standings[before.standing? as usize];
            tally.lengthen(&mut standing, &before.sheet, node.longer, plies)?;
            tally.count(&mut standing, &grown.sheet, plies);
            Some(standing)
        });
        let standing = longer.unwrap_or_else(|| {
            let mut standing = tally.standing(&grown.sheet, plies);
            tally.count(&mut standing, &grown.sheet, plies);
            standing
        });
        let standings = self.standings.len();
        self.standings.push(standing);
        self.grown[place].standing = Some(standings as u32);
        standings
    }

    /// The plies from the root to a node.
    fn plies(&self, index: usize, plies: &mut Vec<Ply>) {
        plies.clear();
        let mut at = index;
        while let Some((before, ply)) = self.nodes[at].last {
            plies.push(ply);
            at = self.grown[before as usize].node as usize;
        }
        plies.extend(self.known.iter().rev().map(Ply::from));
        plies.reverse();
    }

    /// Keeps the line of a node as a story, if it is one.
    fn keep_node(&mut self, index: usize, cost: u32) {
        let (nodes, grown) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.grown));
        let known = self.known;
        self.stories.keep(nodes[index].kind, cost, || {
            let mut line: Vec<Tried> = Vec::with_capacity(known.len() + 8);
            let mut at = &nodes[index];
            let mut after: Option<&Position> = None;
            while let Some((before, ply)) = at.last {
                let before = &grown[before as usize];
                let after = after.replace(&before.after).cloned();
                let after = after.unwrap_or_else(|| before.after.play(ply.m));
                line.push(Tried { m: ply.m, after, at: ply.at });
                at = &nodes[before.node as usize];
            }
            line.extend(known.iter().rev().cloned());
            line.reverse();
            line
        });
        (self.nodes, self.grown) = (nodes, grown);
    }

    /// What the best story, and the line as it is, could be otherwise.
    fn vary(&mut self, tally: &mut Tally<'_, '_>, bare: &Sheet) {
        let Some(best) = self.stories.all.first().cloned() else { return };
        let unread = |ply: usize| {
            let tried = &best.line[ply];
            let near = |at: Timestamp| at.since(tried.at).abs() <= READ_NEAR;
            !puts(tried.m, !tried.after.turn()).all(|(square, piece)| {
                self.ledger.arrivals(square).any(|seen| seen.piece == piece && near(seen.at))
            })
        };
        let known = self.known.len();
        for other in variations(self.root, &best.line, known, self.decide, unread) {
            let sheet = tally.sheets.whole(bare, &other);
            let plies: Vec<Ply> = other.iter().map(Ply::from).collect();
            let tip = Tip::of(other.last().map_or(self.root, |last| &last.after));
            let cost = tally.cost(Judged { sheet: &sheet, plies: &plies, tip });
            self.stories.keep(kind(known, self.decide, &other), cost, || other.clone());
        }
    }
}
