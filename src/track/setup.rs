//! Before the first move: which way round the board lies, whether the start position stands, and
//! what is wrong with it if not.
//!
//! A game is armed only from its start position. Before the clock has run, or a move was made
//! where there is none, what happens on the board (guests' moves, setting up) is not play.

use shakmaty::{Bitboard, Board, Color, Rank};

use super::{ClockSense, Finding, SquareFault, Track, eyes::differing};
use crate::{
    record::{Position, Timestamp},
    wire::Squares,
};

/// A set-up that stands so long is taken as meant, in ms.
const STANDS: i64 = 3_000;

/// What is known of the set-up.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// Something was heard from the board.
    pub(super) heard: bool,
    /// The start position was seen.
    pub(super) armed: bool,
    /// [`Finding::StartPosition`] was given.
    said_start: bool,
    said_waiting: bool,
    said_sideways: bool,
    said_wrong: bool,
    /// A full but wrong set-up stands since then.
    wrong_since: Option<Timestamp>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            heard: false,
            // Until something else is heard the board is taken to show the start position.
            armed: true,
            said_start: false,
            said_waiting: false,
            said_sideways: false,
            said_wrong: false,
            wrong_since: None,
        }
    }
}

impl Setup {
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.wrong_since.filter(|_| !self.said_wrong).map(|since| since.plus(STANDS))
    }
}

impl Track {
    /// Looks at the set-up as long as no ply was made.
    pub(super) fn look_at_setup(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        let start = self.line.start.board().clone();
        if self.find_start(&start, out) {
            return;
        }
        if self.setup.armed && self.setup.said_start {
            // A guest moves, or somebody adjusts: the game stays armed.
            return;
        }
        if self.setup.armed && !self.setup.heard {
            return;
        }
        if self.setup.armed && differing(&self.eyes.board, &start).count() <= 4 {
            // Taken to be armed before anything was heard: single updates do not unmake that.
            return;
        }
        self.setup.armed = false;
        if !self.setup.said_waiting {
            self.setup.said_waiting = true;
            out.push(Finding::WaitingForStart);
        }
        if !self.setup.said_sideways && sideways(self.eyes.raw()) {
            self.setup.said_sideways = true;
            out.push(Finding::Sideways);
        }
        if self.wrong_array(&start).is_some() {
            self.setup.wrong_since.get_or_insert(at);
        } else {
            self.setup.wrong_since = None;
        }
        if matches!(self.clock, ClockSense::Running(_)) {
            self.start_anyway(at, out);
        }
    }

    /// The start position stands, this way round or the other.
    fn find_start(&mut self, start: &Board, out: &mut Vec<Finding>) -> bool {
        let rotated = self.eyes.rotated;
        if !self.eyes.diff(start).is_empty() {
            if !self.setup.heard || self.eyes.raw().to_board(!rotated) != *start {
                return false;
            }
            self.eyes.turn(!rotated);
            out.push(Finding::Orientation { rotated: !rotated });
        }
        self.setup.armed = true;
        if self.line.base.board() != start {
            self.line = super::line::Line::new(&self.line.start);
            out.push(Finding::Base { index: 0, position: self.line.start.clone() });
        }
        self.setup.wrong_since = None;
        self.setup.said_wrong = false;
        self.setup.said_waiting = false;
        if self.setup.heard && !self.setup.said_start {
            self.setup.said_start = true;
            out.push(Finding::StartPosition);
        }
        true
    }

    /// All the men of the start stand on the right sides, but some on wrong squares. Turns the
    /// numbering so that White's are on the first ranks.
    fn wrong_array(&mut self, start: &Board) -> Option<Bitboard> {
        let rotated = self.eyes.rotated;
        let turned = self.eyes.raw().to_board(!rotated);
        let near = |board: &Board| {
            let same = Color::ALL.iter().all(|side| board.material_side(*side) == start.material_side(*side));
            let diff = differing(board, start);
            (same && diff.count() <= 12).then_some(diff)
        };
        if let Some(diff) = near(&self.eyes.board) {
            return Some(diff);
        }
        let diff = near(&turned)?;
        self.eyes.turn(!rotated);
        Some(diff)
    }

    /// The clock runs though the start position was never seen whole.
    pub(super) fn start_anyway(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        let start = self.line.start.board().clone();
        if self.setup.armed {
            return;
        }
        if let Some(wrong) = self.wrong_array(&start) {
            self.say_wrong(&start, wrong, out);
            let mut setup = self.line.start.to_setup();
            setup.board = self.eyes.board.clone();
            let position = Position::from_setup(setup, self.line.start.mode());
            self.line.base = position.clone();
            self.setup.armed = true;
            out.push(Finding::Base { index: 0, position });
            return;
        }
        // Men that are not read: the game is played all the same.
        let missing = differing(&self.eyes.board, &start);
        let only_holes = (missing & !self.eyes.empty()).is_empty();
        if only_holes && missing.count() <= 2 {
            for square in missing {
                self.eyes.faults.add(square, SquareFault::Missing, None);
                self.eyes.refresh(square);
                out.push(Finding::SquareFault { square, fault: SquareFault::Missing });
            }
            self.setup.armed = true;
            return;
        }
        self.join(at, out);
    }

    fn say_wrong(&mut self, start: &Board, wrong: Bitboard, out: &mut Vec<Finding>) {
        if !self.setup.said_wrong {
            self.setup.said_wrong = true;
            out.push(Finding::WrongStart(self.eyes.name(wrong, start)));
        }
    }

    /// Serves what is due about the set-up.
    pub(super) fn serve_setup(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.setup.next_deadline().is_some_and(|due| due <= at) {
            let start = self.line.start.board().clone();
            match self.wrong_array(&start) {
                Some(wrong) => self.say_wrong(&start, wrong, out),
                None => self.setup.wrong_since = None,
            }
        }
    }
}

/// White's men stand on the two outer files of one side and Black's on those of the other: the
/// board is turned by 90 degrees.
fn sideways(raw: &Squares) -> bool {
    let mut board = raw.to_board(false);
    board.rotate_90();
    let back = Bitboard::from(Rank::First) | Bitboard::from(Rank::Second);
    let front = Bitboard::from(Rank::Seventh) | Bitboard::from(Rank::Eighth);
    let (white, black) = (board.white(), board.black());
    white.count() >= 14
        && black.count() >= 14
        && ((white & !back).is_empty() && (black & !front).is_empty()
            || (white & !front).is_empty() && (black & !back).is_empty())
}
