//! What was not seen: the board was gone, or so many updates were lost that no hand explains the
//! board. Bridged if one legal sequence alone explains it; otherwise told, with the candidates.

use shakmaty::{Bitboard, Board};

use super::{
    Cause, Choice, ClockSense, Finding, SquareDiff, Track,
    bridge::{CANDIDATES, bridges},
    line::{Made, Step},
    memory,
    scramble::RESTING,
    threads::{Open, Thread},
};
use crate::{
    record::{PlySource, Timestamp},
    wire::{BoardSquare, RecoveredEvent, Squares},
};

/// A board that comes back gets so long until it shows a whole position, in ms.
const PATIENCE: i64 = 3_000;
/// Plies that are bridged at most.
const DEPTH: usize = 6;

/// What is known of a gap.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    /// The board is gone, or has not yet shown what stands on it.
    pub(super) dark: bool,
    /// It is back, since then, and not yet explained.
    open_since: Option<Timestamp>,
    /// The change after which a dump was last asked for.
    pub(super) asked: Timestamp,
    /// [`Finding::Gap`] was given.
    said: bool,
    /// The board's memory told what was played; what it shows now was not seen to come about.
    recovered: bool,
    /// [`Finding::Gap`] stands: [`Finding::Agree`] has to take it back.
    told: bool,
    /// It was given for the stories of a scramble, which only a board at rest decides.
    doubt: bool,
    /// The last change after which a board at rest was looked at to take it back.
    rested: Timestamp,
    /// What the squares showed when the board went.
    seen_before: Option<Box<Board>>,
}

impl Default for Gap {
    fn default() -> Self {
        Self {
            dark: false,
            open_since: None,
            asked: Timestamp::from_millis(i64::MIN),
            said: false,
            recovered: false,
            told: false,
            doubt: false,
            rested: Timestamp::from_millis(i64::MIN),
            seen_before: None,
        }
    }
}

impl Gap {
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.open_since.filter(|_| !self.said && !self.dark).map(|since| since.plus(PATIENCE))
    }

    /// [`Finding::Gap`] is given.
    pub(super) fn tell(&mut self, doubt: bool) {
        self.told = true;
        self.doubt = doubt;
        self.look_again();
    }

    /// Board and position may agree though no square has changed.
    pub(super) fn look_again(&mut self) {
        self.rested = Timestamp::from_millis(i64::MIN);
    }

    /// When a board that a gap was told of lies at rest.
    pub(super) fn rest_due(&self, last_change: Timestamp) -> Option<Timestamp> {
        (self.told && !self.dark && self.rested != last_change).then(|| last_change.plus(RESTING))
    }

    /// Board and position agree. True if that takes back what was told.
    pub(super) fn settled(&mut self) -> bool {
        if self.open_since.is_some() && !self.dark {
            self.forget();
        }
        !self.doubt && std::mem::take(&mut self.told)
    }

    /// What the board shows since it came back is not yet explained.
    pub(super) fn open(&self) -> bool {
        self.open_since.is_some()
    }

    /// A person said what was played.
    pub(super) fn forget(&mut self) {
        self.open_since = None;
        self.said = false;
    }
}

impl Track {
    /// The whole board.
    pub(super) fn dump(&mut self, at: Timestamp, squares: &Squares, out: &mut Vec<Finding>) {
        let first = !std::mem::replace(&mut self.setup.heard, true);
        let recovered = std::mem::take(&mut self.gap.recovered);
        let back = std::mem::take(&mut self.gap.dark) || recovered;
        if first && !self.started && self.line.count == 0 {
            // The whole board was heard: whether the start position stands is now seen, not taken.
            self.setup.armed = false;
        }
        let mut any = false;
        self.eyes.dumping = true;
        for square in BoardSquare::all() {
            let content = squares.get(square);
            if self.eyes.raw().get(square) == content {
                continue;
            }
            any = true;
            if let Some(change) = self.eyes.set(at, square, content)
                && !first
                && !back
            {
                self.changed(at, change, out);
            }
        }
        self.eyes.dumping = false;
        if first && !self.started && self.line.count == 0 {
            self.left_over(at, out);
        }
        if back {
            self.last_change = at;
            self.eyes.forget();
            let mut before = &self.line.base;
            for open in &self.threads[0].open {
                self.eyes.believe(open.made.made_at, before.board(), open.after.board());
                before = &open.after;
            }
            // Where they differ a hand is at work: a man it holds has left his square by now.
            let sensed = self.eyes.board.clone();
            self.eyes.believe(at, before.board(), &sensed);
            self.after_gap(at, recovered, out);
        } else if any || first {
            self.look(at, out);
        }
    }

    pub(super) fn link_down(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.playing() {
            self.settle_presses(at, out);
        }
        if !self.gap.dark && self.gap.open_since.is_none() {
            self.gap.seen_before = Some(Box::new(self.eyes.board.clone()));
        }
        self.gap.dark = true;
        self.gap.said = false;
    }

    /// The board is back and has shown what stands on it.
    fn after_gap(&mut self, at: Timestamp, recovered: bool, out: &mut Vec<Finding>) {
        // What differs after the board's memory has told the moves is what hands are doing now.
        if recovered || self.ending.closed || self.stopped || !self.setup.armed || !self.started {
            self.look(at, out);
            return;
        }
        self.watch_kings(at, out);
        if self.diff().is_empty() {
            self.note_difference(at, out);
            return;
        }
        if !self.bridge(at, PlySource::Bridged, out) {
            self.gap.open_since = Some(at);
            self.differs_since = Some(at);
            out.push(Finding::WantsDump);
        }
    }

    /// The clock runs on a board whose start was not seen: joins the game if one line leads there.
    pub(super) fn join(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.line.count > 0 || self.gap.said {
            return;
        }
        let found = bridges(&self.line.base, self.threads[0].view(&self.eyes), 4, Bitboard::FULL);
        if found.only().is_some() {
            self.setup.armed = true;
            self.bridge(at, PlySource::Bridged, out);
        }
    }

    /// Bridges from the last position if exactly one sequence explains the board.
    fn bridge(&mut self, at: Timestamp, source: PlySource, out: &mut Vec<Finding>) -> bool {
        if self.threads.len() > 1 || !self.held.is_empty() {
            return false;
        }
        let found = bridges(self.tip(), self.threads[0].view(&self.eyes), DEPTH, Bitboard::FULL);
        let Some(line) = found.only() else { return false };
        self.add_line(at, line.to_vec(), source, out);
        let played = self.shown.len();
        let waits = match self.clock {
            ClockSense::Running(side) => usize::from(side != self.tip().turn()),
            _ => 1,
        };
        self.confirm(played - waits.min(played), out);
        self.gap.forget();
        self.differs_since = None;
        true
    }

    fn add_line(
        &mut self,
        at: Timestamp,
        line: Vec<shakmaty::Move>,
        source: PlySource,
        out: &mut Vec<Finding>,
    ) {
        let mut position = self.tip().clone();
        for m in line {
            position = position.play(m);
            let made = Made { step: Step::Move(m), made_at: at, source };
            self.threads[0].open.push(Open { made, after: position.clone() });
        }
        let cause = if source == PlySource::Recovered { Cause::Recovered } else { Cause::Bridged };
        self.publish(cause, out);
    }

    /// The board is not explained for long: a gap if some legal sequence could be it, else a
    /// difference.
    pub(super) fn gap_or_differ(&mut self, squares: Vec<SquareDiff>, out: &mut Vec<Finding>) {
        if self.gap.open_since.is_some() {
            self.tell_gap(out);
        } else {
            self.tell_differ(squares, out);
        }
    }

    fn tell_gap(&mut self, out: &mut Vec<Finding>) {
        if std::mem::replace(&mut self.gap.said, true) {
            return;
        }
        let last = self.tip().clone();
        let found = bridges(&last, self.threads[0].view(&self.eyes), DEPTH, Bitboard::FULL);
        let candidates = found
            .lines
            .iter()
            .take(CANDIDATES)
            .map(|line| {
                let mut position = last.clone();
                let written = line.iter().map(|m| {
                    let uci = position.uci(*m);
                    position = position.play(*m);
                    uci
                });
                written.collect()
            })
            .collect();
        let index = self.line.count + self.threads[0].open.len();
        self.gap.tell(false);
        out.push(Finding::Gap(Choice { index, last, replaces: 0, candidates }));
    }

    pub(super) fn serve_gap(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.gap.rest_due(self.last_change).is_some_and(|due| due <= at) {
            self.gap.rested = self.last_change;
            if self.diff().is_empty() {
                self.gap.told = false;
                out.push(Finding::Agree);
            }
        }
        if self.gap.next_deadline().is_none_or(|due| due > at) {
            return;
        }
        if self.ending.closed || self.diff().is_empty() {
            self.gap.forget();
            return;
        }
        if !self.bridge(at, PlySource::Bridged, out) {
            self.tell_gap(out);
        }
    }

    /// The board's own memory of a gap: what it tells on from the confirmed plies, or, when it
    /// holds the whole game, from its first position.
    pub(super) fn recovered(&mut self, at: Timestamp, events: &[RecoveredEvent], out: &mut Vec<Finding>) {
        if self.ending.closed || !self.setup.armed || !self.held.is_empty() {
            return;
        }
        // The dump may have come before the memory did.
        let shadow = match (&self.gap.seen_before, self.gap.open_since) {
            (Some(board), Some(_)) => (**board).clone(),
            _ => self.eyes.board.clone(),
        };
        let begins = events
            .iter()
            .any(|event| matches!(event, RecoveredEvent::StartPosition { .. } | RecoveredEvent::StartTag));
        let mut memory = if begins && self.line.count > 0 {
            // It tells the plies that are known once more. Read as news, they could look like men
            // going back and forth.
            let Some(game) = self.whole_game(events) else { return };
            game
        } else {
            let on = self.read_on(&shadow, events);
            if on.whole { on } else { self.whole_game(events).unwrap_or(on) }
        };
        if memory.line.is_empty() {
            return;
        }
        let seen = std::mem::replace(&mut self.threads, vec![Thread::default()]).swap_remove(0).open;
        // Open plies that were seen before the gap, and stand, are not recovered.
        let same = |(open, m): &(Open, &shakmaty::Move)| open.made.step == Step::Move(**m);
        let kept: Vec<Open> =
            seen.into_iter().zip(&memory.line).take_while(same).map(|(open, _)| open).collect();
        let new = memory.line.split_off(kept.len());
        self.threads[0].open = kept;
        self.add_line(at, new, PlySource::Recovered, out);
        // The last ply is as provisional as any, if it was not pressed; those before it were answered.
        self.confirm(memory.stood.max(self.shown.len().saturating_sub(1)), out);
        self.started = true;
        self.gap.forget();
        self.gap.recovered = true;
    }

    /// What a memory tells that follows what was seen: after the plies that are still open, or without them
    /// (the hand that made the last went on, in a way that no open ply foretold).
    fn read_on(&self, shadow: &Board, events: &[RecoveredEvent]) -> memory::Memory {
        let rotated = self.eyes.rotated;
        let open: Vec<shakmaty::Move> =
            self.threads[0].open.iter().map_while(super::threads::Open::step).collect();
        let base = &self.line.base;
        let after = memory::read_on(base, &open, shadow.clone(), events, rotated);
        if after.whole || open.is_empty() {
            return after;
        }
        let anew = memory::read(base, shadow.clone(), events, rotated);
        if anew.whole || anew.line.len() > after.line.len() { anew } else { after }
    }

    /// A memory that begins with the start position holds the game from its first ply: what lies
    /// behind the confirmed plies, if it agrees with them.
    fn whole_game(&self, events: &[RecoveredEvent]) -> Option<memory::Memory> {
        let begin = events.iter().rposition(|event| {
            matches!(event, RecoveredEvent::StartPosition { .. } | RecoveredEvent::StartTag)
        })?;
        let start = self.line.start.clone();
        let mut game = memory::read(&start, start.board().clone(), &events[begin..], self.eyes.rotated);
        let known = &self.line.made;
        let agrees = known.len() <= game.line.len()
            && known.iter().zip(&game.line).all(|(made, m)| made.step == Step::Move(*m));
        if !agrees {
            return None;
        }
        game.line.drain(..known.len());
        game.stood = game.stood.saturating_sub(known.len());
        Some(game)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use crate::{
        record::Position,
        track::{Evidence, TrackedPly},
        wire::Content,
    };

    #[test]
    fn a_memory_of_the_whole_game_is_not_read_as_men_going_back_and_forth() {
        let start = Position::default();
        let at = |n: usize| Timestamp::from_millis(n as i64 * 1000);
        let mut track = Track::new(&start);
        let mut line: Vec<TrackedPly> = Vec::new();
        let mut tell = |track: &mut Track, at: Timestamp, evidence: &Evidence| {
            let mut out = Vec::new();
            track.observe(at, evidence, &mut out);
            for finding in out {
                if let Finding::Line { from, plies, .. } = finding {
                    line.truncate(from);
                    line.extend(plies);
                }
            }
        };
        // A board writes down what stood on it at the start, then every change, then every press.
        let mut memory = vec![RecoveredEvent::StartTag];
        for square in BoardSquare::all() {
            let content = Squares::from_board(start.board(), false).get(square);
            if content != Content::Empty {
                memory.push(RecoveredEvent::Square { square, content, quick: true });
            }
        }
        tell(&mut track, at(0), &Evidence::Dump(Squares::from_board(start.board(), false)));
        tell(&mut track, at(1), &Evidence::Clock(ClockSense::Running(shakmaty::Color::White)));
        let moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "b2b4", "c5b4"];
        let mut position = start;
        for (index, uci) in moves.iter().enumerate() {
            let (from, to): (Square, Square) = (uci[..2].parse().unwrap(), uci[2..].parse().unwrap());
            let content = Content::from(position.board().piece_at(from));
            let side = position.turn();
            position = position.play(position.find_uci(uci.parse().unwrap()).unwrap());
            for (square, content) in [(from, Content::Empty), (to, content)] {
                let square = BoardSquare::from_chess(square, false);
                memory.push(RecoveredEvent::Square { square, content, quick: false });
                // The last three plies are made while nobody listens.
                if index < 5 {
                    tell(&mut track, at(10 + index * 10), &Evidence::Square(square, content));
                }
            }
            memory.push(RecoveredEvent::Halted { left: side.is_white(), seconds: 5000 });
            if index < 5 {
                tell(&mut track, at(12 + index * 10), &Evidence::Press { by: side });
                tell(&mut track, at(12 + index * 10), &Evidence::Clock(ClockSense::Running(!side)));
            }
        }
        tell(&mut track, at(70), &Evidence::LinkDown);
        tell(&mut track, at(100), &Evidence::LinkUp);
        tell(&mut track, at(101), &Evidence::Recovered(memory));
        tell(&mut track, at(101), &Evidence::Dump(Squares::from_board(position.board(), false)));
        let read: Vec<String> = line.iter().map(|ply| ply.uci.to_string()).collect();
        assert_eq!(read, moves);
    }
}
