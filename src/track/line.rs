//! The line of plies as the tracker keeps it: compact, since a hall holds hundreds of tables.
//!
//! Confirmed plies are kept as moves only; positions are played out again when a person corrects
//! something. The open plies, which may still change, carry their positions (see `threads`).

use std::collections::VecDeque;

use shakmaty::{Board, Move, uci::UciMove};

use super::TrackedPly;
use crate::record::{PlySource, PlyState, Position, Timestamp};

/// One ply: a legal move, or a board that was left behind and stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A move of the position before it.
    Move(Move),
    /// Not legal, but it stood.
    Irregular {
        /// How it is written.
        uci: UciMove,
        /// What it left on the board.
        board: Box<Board>,
    },
    /// A person put this position here; the ply before it is the last of the old line.
    Base(Box<Position>),
}

/// A ply with how and when it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "`made_at` is what a ply calls it")]
pub(super) struct Made {
    pub(super) step: Step,
    pub(super) made_at: Timestamp,
    pub(super) source: PlySource,
}

impl Made {
    /// The position after this ply.
    pub(super) fn play(&self, before: &Position) -> Position {
        match &self.step {
            Step::Move(m) => before.play(*m),
            Step::Irregular { board, .. } => before.after_irregular((**board).clone()),
            Step::Base(position) => (**position).clone(),
        }
    }

    /// The ply as it is told to others.
    pub(super) fn tell(&self, before: &Position, after: &Position, state: PlyState) -> TrackedPly {
        let (uci, san, irregular) = match &self.step {
            Step::Move(m) => (before.uci(*m), before.san(*m), false),
            Step::Irregular { uci, .. } => (*uci, format!("{uci}?"), true),
            Step::Base(_) => (UciMove::Null, String::new(), true), // never told: see `Line::plies`
        };
        TrackedPly {
            uci,
            san,
            after: after.clone(),
            irregular,
            origin: None,
            state,
            source: self.source,
            made_at: self.made_at,
        }
    }
}

/// The confirmed plies.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Where the game began.
    pub(super) start: Position,
    /// The confirmed plies in order, with `Step::Base` where a person set a position.
    pub(super) made: Vec<Made>,
    /// The position after them.
    pub(super) base: Position,
    /// The position before the last of them.
    pub(super) before: Option<Position>,
    /// How many of them are plies.
    pub(super) count: usize,
    /// When the last ply was made.
    pub(super) base_at: Timestamp,
    /// The last confirmed plies with the positions before them, oldest first: what is read now may
    /// still belong to them.
    pub(super) recent: VecDeque<(Position, Made)>,
}

/// Confirmed plies whose traces may mix with what is read now.
const RECENT: usize = 6;

impl Line {
    pub(super) fn new(start: &Position) -> Self {
        Self {
            start: start.clone(),
            made: Vec::new(),
            base: start.clone(),
            before: None,
            count: 0,
            base_at: Timestamp::from_millis(i64::MIN / 2),
            recent: VecDeque::new(),
        }
    }

    /// Bytes held by the lists.
    pub(super) fn bytes(&self) -> usize {
        let boxed = self.made.iter().map(|made| match &made.step {
            Step::Move(_) => 0,
            Step::Irregular { .. } => size_of::<Board>(),
            Step::Base(_) => size_of::<Position>(),
        });
        self.made.capacity() * size_of::<Made>()
            + self.recent.capacity() * size_of::<(Position, Made)>()
            + boxed.sum::<usize>()
    }

    /// A ply is confirmed.
    pub(super) fn push(&mut self, made: Made, after: Position) {
        self.base_at = made.made_at;
        let before = std::mem::replace(&mut self.base, after);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((before.clone(), made.clone()));
        self.before = Some(before);
        self.made.push(made);
        self.count += 1;
    }

    /// A person set the position.
    pub(super) fn set_base(&mut self, position: Position, at: Timestamp) {
        let step = Step::Base(Box::new(position.clone()));
        if self.made.is_empty() {
            self.start = position.clone();
        } else {
            self.made.push(Made { step, made_at: at, source: PlySource::Entered });
        }
        self.base = position;
        self.before = None;
        self.recent.clear();
        self.base_at = at;
    }

    /// Builds the line anew from these entries.
    pub(super) fn rebuild(start: &Position, made: Vec<Made>) -> Self {
        let mut line = Self::new(start);
        for one in made {
            let after = one.play(&line.base);
            if matches!(one.step, Step::Base(_)) {
                line.before = None;
                line.base = after;
            } else {
                line.before = Some(std::mem::replace(&mut line.base, after));
                line.count += 1;
            }
            line.base_at = one.made_at;
            line.made.push(one);
        }
        line
    }
}
