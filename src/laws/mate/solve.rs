//! The question for White, cheapest arguments first. Each argument is in a file of its own.

use super::{
    Budget, Reason, Tried,
    board::{BLACK, Board, KING, PAWN, QUEEN, ROOK, Step, WHITE},
    chase, closed,
    dive::Dive,
    material, rank,
    space::{Outcome, Space},
};

/// Nodes of the search before anything else.
const FIRST: u64 = 48;
/// Nodes of the short search before anything that costs memory.
const SHORT: u64 = 2_000;
/// Nodes of the search towards a few last positions.
const CHASE: u64 = 200;
/// One proof of this many has to be found to be asked for at every capture and pawn move.
const PLAIN: u32 = 4;
/// The same for the proof that costs several times as much.
const DEEP: u32 = 2;
/// Nodes of the first search of the space.
const DRAFT: u64 = 20_000;
/// Longest forced line followed, in plies; a forced line that repeats ends here too.
const FORCED: u32 = 32;

/// What came out.
pub(super) enum Found {
    /// A line to a mate by White.
    Line(Vec<Step>),
    /// There is none.
    Proof(Reason),
    /// Not decided.
    Nothing(Tried),
}

/// Can White mate from `root`? `nodes` counts the positions expanded.
pub(super) fn solve(root: &Board, budget: &Budget, nodes: &mut u64) -> Found {
    let mut dive = Dive::new();
    // Most positions of real games end here.
    if !material::cannot_mate(root) && !looks_locked(root) {
        let line = dive.search(root, budget.nodes.min(FIRST));
        *nodes += dive.nodes;
        if let Some(line) = line {
            return Found::Line(line);
        }
    }
    let mut board = *root;
    let mut forced = Vec::new();
    let mut steps = Vec::with_capacity(64);
    loop {
        steps.clear();
        let checkers = board.checkers();
        board.legal(checkers, &mut steps);
        let plies = forced.len() as u32;
        let reason = |reason| Found::Proof(if plies == 0 { reason } else { Reason::ForcedLine { plies } });
        if steps.is_empty() {
            return if checkers != 0 && board.us() == BLACK {
                Found::Line(forced)
            } else {
                reason(Reason::Terminal)
            };
        }
        if material::cannot_mate(&board) {
            return reason(Reason::Material);
        }
        if let [only] = steps[..]
            && plies < FORCED
        {
            forced.push(only);
            board = board.after(only);
            continue;
        }
        let locked = looks_locked(&board);
        if locked && closed::cannot_mate(&board) {
            return reason(Reason::ClosedStructure);
        }
        let before = dive.nodes;
        if budget.nodes > FIRST && chase::is_small(&board) {
            let line = chase::chase(&board, budget.nodes.min(CHASE) as usize, &mut dive);
            if let Some(line) = line {
                *nodes += dive.nodes - before;
                forced.extend(line);
                return Found::Line(forced);
            }
        }
        let short = if lone_minor(&board) { FIRST } else { SHORT };
        let line = dive.search(&board, budget.nodes.min(short));
        *nodes += dive.nodes - before;
        if let Some(line) = line {
            forced.extend(line);
            return Found::Line(forced);
        }
        if !locked && closed::cannot_mate(&board) {
            return reason(Reason::ClosedStructure);
        }
        if budget.states == 0 {
            return Found::Nothing(Tried { nodes: *nodes, states: 0 });
        }
        if closed::cannot_mate_deep(&board) {
            return reason(Reason::ClosedStructure);
        }
        for stage in [Stage::Draft, Stage::Thorough] {
            // A budget as small as the draft goes to the thorough search alone.
            if stage == Stage::Draft && (budget.nodes <= DRAFT || budget.states <= DRAFT as usize * 4) {
                continue;
            }
            let mut space = Space::new();
            let outcome = explore(&mut space, &board, budget, stage);
            *nodes += space.nodes;
            match outcome {
                Outcome::Mate(line) => {
                    forced.extend(line);
                    return Found::Line(forced);
                }
                Outcome::Exhausted => return reason(Reason::SpaceExhausted { states: space.states() }),
                Outcome::Stopped if stage == Stage::Thorough => {
                    return Found::Nothing(Tried { nodes: *nodes, states: space.states() });
                }
                Outcome::Stopped => {}
            }
        }
    }
}

/// How a space is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A small space, with every cut while it is found often enough.
    Draft,
    /// Anew, with all of the budget and every cut.
    Thorough,
}

fn explore(space: &mut Space, board: &Board, budget: &Budget, stage: Stage) -> Outcome {
    let (nodes, states) = match stage {
        Stage::Draft => (budget.nodes.min(DRAFT), budget.states.min(DRAFT as usize * 4)),
        Stage::Thorough => (budget.nodes, budget.states),
    };
    let (mut plain, mut deep) = (Yield::default(), Yield::default());
    space.search(board, nodes, states, &mut rank::ranks, &mut |before, after| {
        let taken = before.occupied().count_ones() != after.occupied().count_ones();
        if !taken && before.role[PAWN] == after.role[PAWN] {
            return false;
        }
        match stage {
            Stage::Thorough => closed::cannot_mate(after) || taken && closed::cannot_mate_deep(after),
            Stage::Draft => {
                plain.ask(PLAIN, || closed::cannot_mate(after))
                    || taken && deep.ask(DEEP, || closed::cannot_mate_deep(after))
            }
        }
    })
}

/// How often a proof has been asked for, and found: one that is seldom found is asked for less often. A cut left out
/// costs work, never soundness; and by counting, not by time, the answer is the same on every machine.
#[derive(Default)]
struct Yield {
    chances: u32,
    asked: u32,
    found: u32,
}

impl Yield {
    fn ask(&mut self, worth: u32, proof: impl FnOnce() -> bool) -> bool {
        self.chances += 1;
        let poor = self.asked >= 64 && self.found * worth < self.asked;
        if poor && !self.chances.is_multiple_of(8) {
            return false;
        }
        self.asked += 1;
        let found = proof();
        self.found += u32::from(found);
        found
    }
}

/// Whether White has one minor piece beside its king: a mate needs the whole board's help, which a rank sees and a
/// dive does not.
fn lone_minor(board: &Board) -> bool {
    let men = board.color[WHITE] & !board.role[KING];
    men & (board.role[PAWN] | board.role[ROOK] | board.role[QUEEN]) == 0 && men.is_power_of_two()
}

/// Whether the structure is worth a proof before any search: every pawn has a pawn somewhere ahead of it,
/// White has no heavy piece, and nobody may castle.
fn looks_locked(board: &Board) -> bool {
    let pawns = board.role[PAWN];
    if pawns == 0 || board.castling != 0 || board.color[WHITE] & (board.role[ROOK] | board.role[QUEEN]) != 0 {
        return false;
    }
    let (mut up, mut down) = (pawns << 8, pawns >> 8);
    up |= up << 8;
    up |= up << 16;
    up |= up << 32;
    down |= down >> 8;
    down |= down >> 16;
    down |= down >> 32;
    let white = pawns & board.color[WHITE];
    let black = pawns & board.color[BLACK];
    white & !down == 0 && black & !up == 0
}
