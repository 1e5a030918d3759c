//! Can this side still mate by any series of legal moves, with the opponent's help?
//!
//! Articles 5.2.2 (dead position), 6.9 (flag fall), 7.5.5 (second illegal move) and, since 2023, 5.1.2
//! (resignation) all turn on that question. The answer is exact: *yes* comes with a legal line that ends
//! in mate, *no* with the argument that proves it, and *unknown* only when the budget is used up. What to
//! do with an answer is left to the rules above; when to ask, to the callers.
//!
//! For one side the arguments are tried in the order of their cost; the board is turned so that the side
//! asked about is White everywhere below:
//!
//! | file | argument | proves |
//! | --- | --- | --- |
//! | `solve` | the game is over; one legal move only, again and again | no |
//! | `material` | no mate exists with these men | no |
//! | `closed` | what each man can ever reach, but by moves that end the play, leaves no room for a mate | no |
//! | `dive`, `pick`, `guide`, `weights`, `plan` | short guided search, no memory: a few dozen positions for most games | yes |
//! | `chase` | the same towards a few last positions, while few men are left | yes |
//! | `space`, `rank` | the reachable positions, best first, exactly remembered, `closed` cutting inside | both |
//!
//! Tried and left out: the closed-structure proof before the short search in open positions (five
//! microseconds for nothing); iterative deepening with a depth table (needs the remaining depth in the table to be
//! sound, and revisits what the visited set remembers); one queue ordered by flight squares alone (seven
//! hundred more positions undecided than with the corner cage, the way to promotion and first-come beside it); one space for
//! both sides (the structural cut differs by side, so the shared space is larger than both separate ones); a
//! sketch of 1,500 positions before the draft, with fewer cuts (the draft is as fast alone), or one
//! search taken further instead of a fresh thorough one (what it had let in uncut stays: seven more undecided); the moves to the cage added up instead of the
//! longer side's (a side that is ready and has to move then looks as if it lost ground: half as fast on
//! slow help-mates); Black's promotions in the structural proof where White has more than one man (they reach everything, so it
//! costs ten times as much and proves nothing); four times the nodes and a third more states (two more of the known positions decided, the hard ones
//! twice as slow); a small space before the whole short search (a position of the space costs ten of the
//! dive's: the slowest hundredth of real games took half as long again); proofs seldom found asked for seldom in the
//! thorough search too, not in the draft alone (three more questions in five thousand undecided); remembering from what each man's
//! reach was computed in the structural proof (the fixed men change in nearly every round); blocking men told apart by kind in the
//! cage of the space as in the chase (one known position takes three times as long); the chase before the first dive
//! where White has a lone minor piece (most are over within its few positions).

mod board;
mod chase;
mod closed;
mod dive;
mod guide;
mod material;
mod pick;
mod plan;
mod rank;
mod report;
mod solve;
mod space;
mod weights;

use std::fmt;

use shakmaty::{CastlingMode, Chess, Color, Position, Square, uci::UciMove};

use board::{Board, Step};
use solve::{Found, solve};

pub use report::{Report, ReportError, SideReport, report};

/// How much work an answer may take; counted, not timed, so that it is the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Positions expanded, for each side asked.
    pub nodes: u64,
    /// Different positions kept in memory at once, about 100 bytes each.
    pub states: usize,
}

impl Default for Budget {
    /// Decides all but a handful of known positions; the worst take about a second and 120 MB.
    fn default() -> Budget {
        Budget { nodes: 300_000, states: 900_000 }
    }
}

impl Budget {
    /// A bounded first question, in microseconds: proofs that cost little, and a short search.
    #[must_use]
    pub const fn quick() -> Budget {
        Budget { nodes: 32, states: 0 }
    }
}

/// The answer for one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It can mate: legal moves from the position, both sides', the last of which mates. Empty if the
    /// position is that mate.
    Yes(Vec<UciMove>),
    /// It cannot, and why.
    No(Reason),
    /// Not decided within the budget: the arbiter decides, never a draw.
    Unknown(Tried),
}

impl Verdict {
    /// Whether no series of legal moves mates; `false` also when undecided.
    #[must_use]
    pub const fn is_no(&self) -> bool {
        matches!(self, Verdict::No(_))
    }

    /// Whether a mating line is known.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Verdict::Yes(_))
    }
}

/// Why a side cannot mate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The men alone exclude it.
    Material,
    /// The game is over on the board: stalemate, or mate by the other side.
    Terminal,
    /// What each man can ever reach does not suffice for a mate anywhere.
    ClosedStructure,
    /// All play is forced for this many plies, and then one of the other arguments holds.
    ForcedLine {
        /// Length of the forced line in plies.
        plies: u32,
    },
    /// Every position that can still arise was examined.
    SpaceExhausted {
        /// How many positions that were.
        states: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Material => f.write_str("material: no mate exists with these men"),
            Reason::Terminal => f.write_str("terminal: the game is over on the board"),
            Reason::ClosedStructure => f.write_str(
                "closed structure: no square where the king could be mated with what can reach it",
            ),
            Reason::ForcedLine { plies } => write!(f, "forced line: {plies} forced plies, then no mate"),
            Reason::SpaceExhausted { states } => {
                write!(f, "space exhausted: no mate in any of the {states} positions that can arise")
            }
        }
    }
}

/// What was tried before the budget ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    /// Positions expanded.
    pub nodes: u64,
    /// Different positions kept.
    pub states: usize,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "undecided after {} nodes and {} states", self.nodes, self.states)
    }
}

/// A verdict and what it cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Can this side mate?
    pub verdict: Verdict,
    /// Positions expanded to find out.
    pub nodes: u64,
}

/// The answers for both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Both {
    /// Can White mate?
    pub white: Answer,
    /// Can Black mate?
    pub black: Answer,
}

impl Both {
    /// Dead if neither side can mate; `None` if that is not decided.
    #[must_use]
    pub const fn dead(&self) -> Option<bool> {
        match (&self.white.verdict, &self.black.verdict) {
            (Verdict::No(_), Verdict::No(_)) => Some(true),
            (Verdict::Yes(_), _) | (_, Verdict::Yes(_)) => Some(false),
            _ => None,
        }
    }

    /// The answer for one side.
    #[must_use]
    pub const fn side(&self, side: Color) -> &Answer {
        match side {
            Color::White => &self.white,
            Color::Black => &self.black,
        }
    }
}

/// Whether a position is dead (5.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// Neither side can mate, and why.
    Dead {
        /// Why White cannot.
        white: Reason,
        /// Why Black cannot.
        black: Reason,
    },
    /// This side can mate.
    Alive(Color),
    /// Not decided within the budget.
    Unknown,
}

impl Death {
    /// Whether the position is proved dead.
    #[must_use]
    pub const fn is_dead(self) -> bool {
        matches!(self, Death::Dead { .. })
    }
}

/// Can `side` still mate by some series of legal moves from here?
///
/// Move counters and repetition are left out: neither the 75-move rule nor fivefold repetition makes a
/// move illegal.
#[must_use]
pub fn can_mate(position: &Chess, side: Color, budget: &Budget) -> Verdict {
    ask(position, &Board::new(position), side, budget).verdict
}

/// Both sides in one pass, with what it cost.
#[must_use]
pub fn both(position: &Chess, budget: &Budget) -> Both {
    let board = Board::new(position);
    Both {
        white: ask(position, &board, Color::White, budget),
        black: ask(position, &board, Color::Black, budget),
    }
}

/// Is the position dead: can neither side mate?
#[must_use]
pub fn is_dead(position: &Chess, budget: &Budget) -> Death {
    let board = Board::new(position);
    let likely = board.stronger();
    let first = ask(position, &board, likely, budget).verdict;
    if first.is_yes() {
        return Death::Alive(likely);
    }
    // Without the other answers, a quick question that has found no proof for this side is over.
    if budget.states == 0 && !first.is_no() {
        return Death::Unknown;
    }
    match (first, ask(position, &board, !likely, budget).verdict) {
        (_, Verdict::Yes(_)) => Death::Alive(!likely),
        (Verdict::No(one), Verdict::No(other)) if likely == Color::White => {
            Death::Dead { white: one, black: other }
        }
        (Verdict::No(one), Verdict::No(other)) => Death::Dead { white: other, black: one },
        _ => Death::Unknown,
    }
}

fn ask(position: &Chess, board: &Board, side: Color, budget: &Budget) -> Answer {
    let standard = position.castles().mode() == CastlingMode::Standard;
    let mirrored = side == Color::Black;
    let root = if mirrored { board.mirrored() } else { *board };
    let mut nodes = 0;
    let verdict = match solve(&root, budget, &mut nodes) {
        Found::Line(line) => Verdict::Yes(to_uci(&line, mirrored, standard)),
        Found::Proof(reason) => Verdict::No(reason),
        Found::Nothing(tried) => Verdict::Unknown(tried),
    };
    Answer { verdict, nodes }
}

/// The line in UCI, castling in the position's own manner.
fn to_uci(line: &[Step], mirrored: bool, standard: bool) -> Vec<UciMove> {
    let square = |index: u8| Square::ALL[(index & 63) as usize];
    line.iter()
        .map(|&step| {
            let shown = if mirrored { step.mirrored() } else { step };
            let mut to = shown.to();
            if step.is_castling() && standard {
                to = board::castled(shown.from(), shown.to()).0;
            }
            UciMove::Normal { from: square(shown.from()), to: square(to), promotion: promoted(step) }
        })
        .collect()
}

fn promoted(step: Step) -> Option<shakmaty::Role> {
    match step.promoted() {
        board::KNIGHT => Some(shakmaty::Role::Knight),
        board::BISHOP => Some(shakmaty::Role::Bishop),
        board::ROOK => Some(shakmaty::Role::Rook),
        board::QUEEN => Some(shakmaty::Role::Queen),
        _ => None,
    }
}
