//! When hands are faster than the scan: the whole line since the last sure ply is weighed anew, and
//! a ply stands only when no other story comes near.
//!
//! In a calm game the reading of one change after the other (`threads`) is enough. When a reply
//! stands before the press is heard, or presses pile up, no moment shows a whole position; then all
//! lines that the readings bear out are compared (`lattice`, `tally`), those plies included that
//! were confirmed a moment ago, since what is read now may still be theirs.

use std::collections::VecDeque;

use shakmaty::uci::UciMove;

use super::{
    Cause, Choice, ClockSense, Finding, Track,
    account::puts,
    lattice::{Question, Weighing},
    ledger::{LONGEST, Ledger, PLY, Pressed, STALE, Tried},
    line::Step,
    press::{BRISK, LATE, SCAN, SKEW},
    stories::{Stories, Story},
    threads::Open,
};
use crate::record::{PlySource, Position, Timestamp};

/// Plies confirmed so long ago have been read to the end, in ms.
const PAST: i64 = 3_000;
/// A story replaces the line if it is better by this.
const BETTER: u32 = 3;
/// A line that costs no more than this beside its plies is not weighed anew at each change.
const CLEAN: u32 = 20;
/// A line that costs no more than this beside its plies explains all that was read in the plainest way.
const PLAIN: u32 = 0;
/// A ply stands if every story without it is worse by this.
const SURE: u32 = 22;

/// A ply that cannot wait longer is told with its rivals if one comes so near. (In blitz by simulated hands a
/// ply that led by 14 to 21 then was wrong one time in 16, one that led by less one time in 3.)
const NEAR: u32 = 14;

/// A story that costs so much more than its plies explains the readings badly: it is told, but not for sure.
const STRAINED: u32 = 3 * SURE;

/// So many plies must follow one before it is told for sure in a scramble …
const FOLLOWED: usize = 3;
/// … and so long after it, in ms …
const AGED: i64 = 1_000;
/// … or nothing for so long, in ms.
pub(super) const RESTING: i64 = 900;

/// A look at all stories.
pub(super) struct Look {
    pub(super) stories: Stories,
    /// Plies of each that were confirmed before.
    pub(super) known: usize,
    /// What the present line costs.
    pub(super) present: u32,
}

impl Track {
    /// Hands are faster than the scan or the presses, or what is read does not add up.
    pub(super) fn hasty(&self, at: Timestamp) -> bool {
        if !self.weighable() {
            return false;
        }
        let open = self.threads[0].open.len();
        let waiting = self.presses.waiting();
        let mixed = open >= 2 || waiting >= 2;
        let unread = open + waiting > 0 && (self.diff() & !self.eyes.empty()).any();
        // A man that stands unexplained on a board at rest: an update was lost.
        mixed && self.brisk() || unread && at.since(self.last_change) >= SCAN
    }

    /// There is one line, of moves only, that the squares can be held against; and what they show was seen to
    /// come about.
    fn weighable(&self) -> bool {
        self.threads.len() == 1
            && self.held.is_empty()
            && self.threads[0].stale.is_empty()
            && !self.gap.open()
    }

    /// Most of the last plies followed one another faster than a board and a clock can tell.
    pub(super) fn brisk(&self) -> bool {
        let before = self.line.recent.iter().map(|(_, made)| made.made_at);
        let times: Vec<Timestamp> =
            before.chain(self.threads[0].open.iter().map(|open| open.made.made_at)).collect();
        let last = &times[times.len().saturating_sub(7)..];
        if self.presses.brisk() {
            return true;
        }
        let quick = last.windows(2).filter(|pair| pair[1].since(pair[0]) < BRISK).count();
        quick >= 3 || (quick > 0 && last.len() < 5)
    }

    /// Compares all stories that differ in the first `plies` open plies and cost at most `margin`
    /// more than the best.
    fn stories(&self, now: Timestamp, plies: usize, margin: u32, clean: u32) -> Option<Look> {
        let recent = &self.line.recent;
        // One ply more is kept than is gone back, for the time at which the first began.
        let mut first = recent.iter().position(|(_, made)| now.since(made.made_at) < PAST);
        if let Some(index) = first.as_mut()
            && *index == 0
            && self.line.count > recent.len()
        {
            *index = 1;
        }
        // What was not seen cannot be weighed against what was.
        let unseen = recent.iter().rposition(|(_, made)| made.source != PlySource::Board);
        let first = first.unwrap_or(recent.len()).max(unseen.map_or(0, |last| last + 1));
        let root = recent.get(first).map_or(&self.line.base, |(before, _)| before);
        let since = match first.checked_sub(1).and_then(|before| recent.get(before)) {
            Some((_, made)) => made.made_at.plus(-SCAN),
            None => Timestamp::from_millis(i64::MIN / 2),
        };
        let mut known = Vec::new();
        for index in first..recent.len() {
            let Step::Move(m) = recent[index].1.step else { return None };
            let after = recent.get(index + 1).map_or(&self.line.base, |(before, _)| before).clone();
            known.push(Tried { m, after, at: recent[index].1.made_at });
        }
        let presses: Vec<Pressed> = self.presses.pending().collect();
        let pressed = (self.presses.upto() + known.len()).saturating_sub(self.line.count);
        let clock = matches!(self.clock, ClockSense::Running(_));
        let ledger = Ledger::new(&self.eyes, since, now, presses, pressed, clock, self.brisk());
        date(&ledger, since, root, &mut known);
        let mut present = known.clone();
        for open in &self.threads[0].open {
            present.push(Tried { m: open.step()?, after: open.after.clone(), at: open.made.made_at });
        }
        if present.len() > LONGEST {
            return None;
        }
        let count = known.len();
        // The plies in question, and two that follow, as far as the scan has read them by now.
        let decide = count + plies;
        let settled =
            present.get(decide + 1).or(present.last().filter(|_| now.since(self.last_change) >= RESTING));
        // Where a slide is taken for plies there are more of them than presses.
        let heard = pressed + ledger.presses.len() >= decide + 2;
        // Nothing is off but what the next hand may hold.
        let next = self.tip().board().by_color(self.tip().turn()) & self.eyes.empty();
        let whole = (self.diff() & !next).is_empty();
        let plain = settled
            .filter(|_| margin > 0 && heard && whole)
            .map(|last| (last.at.plus(-STALE), (count, decide + 2)));
        let weighing = Weighing::new(&ledger, root, &present);
        let doubted = self.doubt.of(plies, present[count..].iter().map(|tried| tried.m));
        if !doubted && plain.is_some_and(|(horizon, plies)| weighing.plain(horizon, plies)) {
            return None;
        }
        let cost = weighing.cost();
        if !doubted && cost <= clean + PLY * present.len() as u32 {
            return None;
        }
        let cursor = known.last().map_or(since, |last| last.at.plus(-SCAN));
        let stories = weighing.search(cost, count, &Question { cursor, decide, margin, found: &self.doubt });
        Some(Look { stories, known: count, present: cost })
    }

    /// In a scramble a ply is told for sure only when more has followed, or nothing for a while: what
    /// comes next often tells which of two stories was wrong.
    pub(super) fn too_soon(&self, plies: usize, now: Timestamp) -> bool {
        self.hasty(now)
            && (self.threads[0].open.len() < plies + FOLLOWED || self.fresh(plies, now))
            && now.since(self.last_change) < RESTING
            && self.brisk()
    }

    /// The last of the first `plies` open plies was made a moment ago.
    fn fresh(&self, plies: usize, now: Timestamp) -> bool {
        let last = plies.checked_sub(1).and_then(|last| self.threads[0].open.get(last));
        last.is_some_and(|last| now.since(last.made.made_at) < AGED)
    }

    /// Takes the best story for the line, if it is better than the present one.
    pub(super) fn take_best(&mut self, look: &Look, now: Timestamp, out: &mut Vec<Finding>) -> bool {
        let Some(best) = look.stories.all.first() else { return false };
        if best.cost + BETTER > look.present {
            return false;
        }
        let new = &best.line[look.known.min(best.line.len())..];
        let same = self.threads[0].open.iter().zip(new).take_while(|(a, b)| a.step() == Some(b.m)).count();
        // The same plies, read at other times: what is read later belongs to the plies that follow.
        for (open, tried) in self.threads[0].open.iter_mut().zip(new).take(same) {
            open.made.made_at = tried.at;
        }
        if same == self.threads[0].open.len() && same == new.len() || self.let_go(same) {
            return false;
        }
        // Plies that lead back to the same position are not dropped before their presses must have been
        // heard.
        if same == new.len()
            && self.after(self.line.count + same).board() == self.tip().board()
            && now.since(self.last_change) < LATE
        {
            return false;
        }
        // In a calm game a man that stands where the story has none is the arbiter's, not a story's.
        let tip = new.last().map_or(&self.line.base, |last| &last.after);
        let left = self.threads[0].view(&self.eyes).diff(tip.board()) & !self.eyes.empty();
        if left.any() && !self.brisk() {
            return false;
        }
        let open = &mut self.threads[0].open;
        let cause = if same == open.len() { Cause::Played } else { Cause::Revised };
        open.truncate(same);
        open.extend(new[same..].iter().map(|tried| Open::of(tried.m, tried.at, tried.after.clone())));
        self.publish(cause, out);
        true
    }

    /// In a calm game open ply `index` stood well before it was pressed: it is not told otherwise.
    fn let_go(&self, index: usize) -> bool {
        let made = self.threads[0].open.get(index).map(|open| open.made.made_at);
        let pressed = self.presses.first();
        made.zip(pressed).is_some_and(|(made, pressed)| made.plus(SKEW) <= pressed) && !self.brisk()
    }

    /// Weighs the line anew after a change.
    pub(super) fn weigh_anew(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        // Where the line explains all that stands, there is time until it is confirmed.
        if self.eyes.landed_last()
            && (self.diff() & !self.eyes.empty()).any()
            && self.hasty(at)
            && let Some(look) = self.stories(at, 0, 0, CLEAN)
        {
            self.take_best(&look, at, out);
        }
    }

    /// The clock stops: what was read until then is made of it what can be.
    pub(super) fn weigh_at_last(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.hasty(at)
            && let Some(look) = self.stories(at, 0, 0, PLAIN)
        {
            self.take_best(&look, at, out);
        }
    }

    /// A ply is going to stand though another story comes near: names the stories. Where all of them
    /// lead to the board that the line leads to, no later reading decides between them.
    pub(super) fn name_stories(&mut self, at: Timestamp, plies: usize, out: &mut Vec<Finding>) {
        let Some(Look { stories, known, .. }) = self.stories(at, plies, SURE, 0) else { return };
        let recent = self.line.recent.iter().skip(self.line.recent.len() - known).map(|(_, made)| &made.step);
        let told: Vec<&Step> = recent.chain(&self.shown).collect();
        let is = |(step, tried): &(&&Step, &Tried)| matches!(step, Step::Move(m) if *m == tried.m);
        let begins = |story: &Story| told.iter().zip(&story.line).take_while(is).count();
        let ends = |story: &Story| told.iter().rev().zip(story.line.iter().rev()).take_while(is).count();
        let Some(shared) = stories.all.iter().map(begins).min() else { return };
        let shortest =
            stories.all.iter().map(|story| story.line.len()).chain([told.len()]).min().unwrap_or(0);
        // Nor are the last plies in question that all have in common.
        let tail = stories.all.iter().map(ends).min().unwrap_or(0).min(shortest - shared);
        if told.len() == shared + tail && stories.all.iter().all(|story| story.line.len() == told.len()) {
            // Nothing but the line itself, which explains the readings badly.
            let diff = self.diff();
            if (diff & !self.eyes.empty()).any() {
                let squares = self.eyes.name(diff, self.tip().board());
                self.tell_differ(squares, out);
            }
            return;
        }
        let index = self.line.count - known + shared;
        let last = self.after(index).clone();
        let written = |story: &Story| -> Vec<UciMove> {
            let mut position = &last;
            let rest = story.line.get(shared..story.line.len() - tail).unwrap_or_default();
            rest.iter()
                .map(|tried| {
                    let uci = position.uci(tried.m);
                    position = &tried.after;
                    uci
                })
                .collect()
        };
        let candidates = stories.all.iter().map(written).collect();
        let root = self.after(self.line.count - known);
        let ends = stories.all.iter().map(|story| story.line.last().map_or(root, |last| &last.after));
        let alike = ends.into_iter().all(|end| end.board() == self.tip().board());
        let choice = Choice { index, last: last.clone(), replaces: told.len() - shared - tail, candidates };
        if alike {
            out.push(Finding::Rivals(choice));
        } else {
            self.gap.tell(true);
            out.push(Finding::Gap(choice));
        }
    }

    /// The position after `plies` plies, of which all but the last few are confirmed.
    fn after(&self, plies: usize) -> &Position {
        let recent = &self.line.recent;
        match plies.checked_sub(self.line.count) {
            Some(0) => &self.line.base,
            Some(open) => self.threads[0].open.get(open - 1).map_or(&self.line.base, |open| &open.after),
            None => &recent[recent.len() - (self.line.count - plies)].0,
        }
    }

    /// Confirms the first `plies` open plies now; names the stories if another comes near.
    pub(super) fn confirm_now(&mut self, plies: usize, at: Timestamp, out: &mut Vec<Finding>) {
        self.name_doubt(plies, at, out);
        self.confirm(plies, out);
    }

    /// The first `plies` open plies are going to stand whatever comes: the best story is taken, and those that
    /// come near are named.
    pub(super) fn name_doubt(&mut self, plies: usize, at: Timestamp, out: &mut Vec<Finding>) {
        let lead = self.lead(plies, at, out).or_else(|| self.lead(plies, at, out));
        if lead.is_some_and(|lead| lead < NEAR) {
            self.name_stories(at, plies, out);
        }
    }

    /// Whether the first `plies` open plies are sure enough to stand. Takes the best story first;
    /// `None`: that changed the line.
    pub(super) fn sure(&mut self, plies: usize, at: Timestamp, out: &mut Vec<Finding>) -> Option<bool> {
        self.lead(plies, at, out).map(|lead| lead >= SURE)
    }

    /// By how much every story without the first `plies` open plies is worse; 0 if they are not the best
    /// one's, or that explains the readings badly. Takes the best story first; `None`: that changed the line.
    fn lead(&mut self, plies: usize, at: Timestamp, out: &mut Vec<Finding>) -> Option<u32> {
        let open = || self.threads[0].open.iter().filter_map(Open::step);
        let slow = || !self.brisk() && !self.doubt.of(plies, open());
        if !self.hasty(at) && (plies == 0 || !self.weighable() || slow()) {
            return Some(SURE);
        }
        let Some(look) = self.stories(at, plies, SURE + 1, PLAIN) else { return Some(SURE) };
        if plies > 0 {
            let line = |story: &Story| {
                let open = story.line.iter().skip(look.known).map(|tried| tried.m);
                open.collect::<VecDeque<_>>()
            };
            self.doubt.keep(look.stories.all.iter().map(line));
        }
        if self.take_best(&look, at, out) {
            return None;
        }
        let best = look.stories.all.first()?;
        let as_told = best.line.len() >= look.known + plies
            && best.line[look.known..]
                .iter()
                .zip(&self.threads[0].open)
                .take(plies)
                .all(|(a, b)| b.step() == Some(a.m));
        // What stands in a calm game though no move explains it is for the press to name.
        let badly = best.cost > STRAINED + PLY * best.line.len() as u32;
        let strained = badly && plies > 0 && self.brisk();
        Some(if as_told && !strained { look.stories.lead().unwrap_or(SURE) } else { 0 })
    }
}

/// Plies that stand were read to be made when their men first arrived.
fn date(ledger: &Ledger<'_>, since: Timestamp, root: &Position, known: &mut [Tried]) {
    let mut cursor = since;
    let mut turn = root.turn();
    // The last arrival on each square that is some ply's.
    let mut used = [since; 64];
    for tried in known {
        let mut at: Option<Timestamp> = None;
        for (square, piece) in puts(tried.m, turn) {
            let first = ledger.arrivals(square).find(|seen| {
                seen.piece == piece && seen.at.plus(60) >= cursor && seen.at > used[usize::from(square)]
            });
            at = at.max(first.map(|seen| seen.at));
        }
        if let Some(at) = at.filter(|at| *at < tried.at) {
            tried.at = at;
        }
        used[usize::from(tried.m.to())] = tried.at;
        cursor = cursor.max(tried.at.plus(-STALE));
        turn = !turn;
    }
}
