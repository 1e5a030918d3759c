//! A board and its line: what the hands did comes through, or is lost, damaged, cut off.

use std::collections::{BTreeSet, VecDeque};

use arbiterd::{
    hall::BoardKey,
    sim::{HandOptions, Level, Script, VirtualOptions, hand, observe},
    wire::{BoardIdentity, ClockState, LinkEvent, Observation, Squares},
};
use fastrand::Rng;

use super::games::Plan;

/// How bad a line is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    /// Updates that do not arrive, per thousand.
    pub(super) lost: u32,
    /// Messages that arrive as rubbish, per thousand.
    pub(super) damaged: u32,
}

/// A physical board, the hands at it, its clock and its line.
pub(super) struct Board {
    pub(super) key: BoardKey,
    pub(super) script: Script,
    line: Line,
    /// What it notices, in order; lossless.
    events: VecDeque<(i64, Observation)>,
    /// What stands on it.
    pub(super) squares: Squares,
    pub(super) clock: ClockState,
    /// The line is up and the daemon knows.
    pub(super) online: bool,
    /// When the line changes: up or down.
    switches: BTreeSet<(i64, bool)>,
    /// When a dump that was asked for will be sent.
    asked: Option<i64>,
    /// When a square changed last.
    pub(super) touched: i64,
    /// Since when the daemon can have known all.
    pub(super) heard: i64,
}

impl Board {
    /// Hands play this at a board that is switched on at `begin`.
    pub(super) fn play(key: BoardKey, plan: &Plan, begin: i64, rng: &mut Rng) -> Self {
        let seed = rng.u64(..);
        let hands = HandOptions {
            pace: plan.pace,
            incidents: vec![plan.incidents.clone()],
            reset_after_last: rng.u32(0..4) == 0,
            ..HandOptions::new(plan.level, seed)
        };
        let script = hand::script(std::slice::from_ref(&plan.game), &hands);
        let options = VirtualOptions {
            // Losses are the line's own, below.
            hand: HandOptions { level: Level::Human, ..hands },
            rotated: rng.u32(0..4) == 0,
            clock: rng.u32(0..6) > 0,
            clock_turned: rng.u32(0..8) == 0,
            dump_every_ms: 30_000,
            clock_news_only: false,
        };
        let mut events: VecDeque<_> =
            observe(&script, &options).into_iter().map(|(at, seen)| (begin + at, seen)).collect();
        let Some((_, Observation::Dump(squares))) = events.front().cloned() else {
            panic!("a board begins with what stands on it");
        };
        let clock = match events.get(1) {
            Some((_, Observation::Clock(state))) => *state,
            _ => ClockState::Absent,
        };
        // A board keeps being asked after the hands have left it.
        let end = events.back().map_or(begin, |(at, _)| *at);
        let last = events.back().cloned();
        if let Some((_, dump @ Observation::Dump(_))) = last {
            events.extend((1..=8).map(|n| (end + n * 30_000, dump.clone())));
        }
        let mut switches = BTreeSet::from([(begin, true)]);
        let bad = rng.u32(0..3) == 0;
        if bad {
            for _ in 0..rng.u32(1..4) {
                let down = begin + rng.i64(0..(end - begin).max(1));
                let up = down + *super::games::pick(rng, &[300, 2_000, 10_000, 60_000, 200_000]);
                switches.insert((down, false));
                switches.insert((up, true));
            }
            // Whatever happened, the cable is in at the end.
            switches.insert((end + 20_000, true));
        }
        let line = Line {
            lost: if plan.level == Level::Rough { 10 } else { *super::games::pick(rng, &[0, 0, 0, 3]) },
            damaged: *super::games::pick(rng, &[0, 0, 2, 10]),
        };
        Self {
            key,
            script,
            line,
            events,
            squares,
            clock,
            online: false,
            switches,
            asked: None,
            touched: begin,
            heard: i64::MAX,
        }
    }

    /// When something happens next.
    pub(super) fn next(&self) -> Option<i64> {
        [self.events.front().map(|(at, _)| *at), self.switches.first().map(|(at, _)| *at), self.asked]
            .into_iter()
            .flatten()
            .min()
    }

    /// The hall asks for a dump.
    pub(super) fn ask(&mut self, now: i64) {
        if self.online {
            self.asked.get_or_insert(now + 75);
        }
    }

    /// The daemon has to find it again.
    pub(super) fn forget(&mut self, now: i64, rng: &mut Rng) {
        if std::mem::take(&mut self.online) {
            self.heard = i64::MAX;
            self.asked = None;
            self.switches.insert((now + rng.i64(200..3_000), true));
        }
    }

    /// What arrives of the next thing that happens.
    pub(super) fn step(&mut self, rng: &mut Rng) -> Vec<Observation> {
        let now = self.next().expect("asked only when something happens");
        if let Some(&(at, up)) = self.switches.first()
            && at == now
        {
            self.switches.pop_first();
            return self.switch(now, up);
        }
        if self.asked == Some(now) {
            self.asked = None;
            return vec![Observation::Dump(self.squares)];
        }
        let (_, seen) = self.events.pop_front().expect("the next thing");
        match &seen {
            Observation::Square(square, content) => {
                self.squares.set(*square, *content);
                self.touched = now;
            }
            Observation::Dump(squares) if self.squares != *squares => {
                self.squares = *squares;
                self.touched = now;
            }
            Observation::Clock(state) => self.clock = *state,
            _ => {}
        }
        if !self.online {
            return Vec::new();
        }
        let chance = rng.u32(0..1000);
        if chance < self.line.damaged {
            return vec![match (&seen, rng.u32(0..3)) {
                (Observation::Clock(_), _) => Observation::Clock(ClockState::Garbage),
                (_, 0) => Observation::Link(LinkEvent::Garbage(rng.u32(1..80))),
                (_, 1) => Observation::Link(LinkEvent::Resync(rng.u32(1..70))),
                _ => Observation::Link(LinkEvent::Checksum),
            }];
        }
        if matches!(seen, Observation::Square(..)) && chance < self.line.damaged + self.line.lost {
            return Vec::new();
        }
        vec![seen]
    }

    fn switch(&mut self, now: i64, up: bool) -> Vec<Observation> {
        if up == self.online {
            return Vec::new();
        }
        self.online = up;
        if !up {
            self.heard = i64::MAX;
            self.asked = None;
            return vec![Observation::Link(LinkEvent::Down("the cable was pulled".to_owned()))];
        }
        self.heard = now;
        let identity = BoardIdentity { serial: self.key.0.clone(), ..BoardIdentity::default() };
        vec![
            Observation::Link(LinkEvent::Up(identity)),
            Observation::Dump(self.squares),
            Observation::Clock(self.clock),
        ]
    }
}
