//! The question for White, cheapest arguments first. Each argument is in a file of its own.

use super::{
    Budget, Reason, Tried,
    board::{BLACK, Board, PAWN, QUEEN, ROOK, Step, WHITE},
    closed,
    dive::Dive,
    material, rank,
    space::{Outcome, Space},
};

/// Nodes of the short search before anything that costs memory.
const SHORT: u64 = 300;
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
        let mut dive = Dive::new();
        let line = dive.search(&board, budget.nodes.min(SHORT));
        *nodes += dive.nodes;
        if let Some(line) = line {
            forced.extend(line);
            return Found::Line(forced);
        }
        if !locked && closed::cannot_mate(&board) {
            return reason(Reason::ClosedStructure);
        }
        if budget.states != 0 && closed::cannot_mate_deep(&board) {
            return reason(Reason::ClosedStructure);
        }
        if budget.states == 0 {
            return Found::Nothing(Tried { nodes: *nodes, states: 0 });
        }
        let mut space = Space::new();
        let outcome =
            space.search(&board, budget.nodes, budget.states, &mut rank::ranks, &mut |before, after, _| {
                let taken = before.occupied().count_ones() != after.occupied().count_ones();
                (taken || before.role[PAWN] != after.role[PAWN]) && closed::cannot_mate(after)
                    || taken && closed::cannot_mate_deep(after)
            });
        *nodes += space.nodes;
        return match outcome {
            Outcome::Mate(line) => {
                forced.extend(line);
                Found::Line(forced)
            }
            Outcome::Exhausted => reason(Reason::SpaceExhausted { states: space.states() }),
            Outcome::Stopped => Found::Nothing(Tried { nodes: *nodes, states: space.states() }),
        };
    }
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
