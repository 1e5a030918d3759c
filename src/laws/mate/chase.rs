//! A search for a help-mate with few men, where a mate looks the same in every game: the black king at the edge or in a corner,
//! White's king before it, and with a lone minor piece a black man in the way. The moves go towards a few such last
//! positions, chosen at the root, best first; every one is legal. It only ever finds mates; it proves nothing else.

use super::{
    board::{BISHOP, BLACK, Board, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, Squares, Step, WHITE, bit, distance},
    dive::{Dive, Pieces},
    plan::plan,
    rank::{KNIGHT_JUMPS, block_cost, blockers},
    space::hash,
};

/// No square has to be blocked.
const FREE: u8 = 64;
/// Last positions aimed at.
const GOALS: usize = 6;
const RANKS: usize = 256;
/// Rank from which a plan is looked for: farther away none fits.
const PLAN: usize = 12;
/// Most men on the board.
const MEN: u32 = 12;
const NIL: u16 = u16::MAX;
/// Moves to a promotion that cannot be.
const NEVER: usize = 100;
/// Slots of the table of positions seen: a position whose hash is there is left out, which may miss a mate and is no harm.
const SLOTS: usize = 1 << 12;

/// Where the kings stand in the end, and which square beside the black one holds a black man.
#[derive(Clone, Copy)]
struct Goal {
    black: u8,
    white: u8,
    block: u8,
    /// By a rook or a queen; else by minor pieces.
    heavy: bool,
}

const NOWHERE: Goal = Goal { black: 0, white: 0, block: FREE, heavy: true };

/// The kings face each other at the edge, or stand a knight's move apart in the corner.
static HEAVY: [Goal; 40] = heavy_goals();
/// In the corner: the third square beside the king is blocked, or covered by a second minor piece.
static MINOR: [Goal; 16] = minor_goals();

const fn heavy_goals() -> [Goal; 40] {
    let mut all = [NOWHERE; 40];
    let mut count = 0;
    let mut at = 0;
    while at < 10 {
        let (king, facing) = match at {
            8 => (0, 1),
            9 => (7, 6),
            file => (file, file),
        };
        let pairs = [
            (king, facing + 16),
            (king + 56, facing + 40),
            (8 * king, 8 * facing + 2),
            (8 * king + 7, 8 * facing + 5),
        ];
        let mut side = 0;
        while side < 4 {
            all[count] = Goal { black: pairs[side].0, white: pairs[side].1, block: FREE, heavy: true };
            count += 1;
            side += 1;
        }
        at += 1;
    }
    all
}

const fn minor_goals() -> [Goal; 16] {
    let mut all = [NOWHERE; 16];
    let corners = [(0i8, 8i8, 1i8), (7, 8, -1), (56, -8, 1), (63, -8, -1)];
    let mut at = 0;
    while at < 4 {
        let (corner, up, side) = corners[at];
        let whites = [
            (corner + 2 * side, corner + up),
            (corner + 2 * side + up, corner + up),
            (corner + 2 * up, corner + side),
            (corner + 2 * up + side, corner + side),
        ];
        let mut each = 0;
        while each < 4 {
            let (white, block) = whites[each];
            all[4 * at + each] =
                Goal { black: corner as u8, white: white as u8, block: block as u8, heavy: false };
            each += 1;
        }
        at += 1;
    }
    all
}

/// A position found but not yet looked at: the move that leads to it.
#[derive(Clone, Copy)]
struct Found {
    parent: u16,
    next: u16,
    step: Step,
}

/// A position looked at, and the way to it.
struct Seen {
    board: Board,
    parent: u16,
    step: Step,
}

/// A mating line within `limit` positions.
pub(super) fn chase(root: &Board, limit: usize, dive: &mut Dive) -> Option<Vec<Step>> {
    let aim = Aim::new(root)?;
    let mut seen: Vec<Seen> = Vec::with_capacity(64);
    let mut found: Vec<Found> = Vec::with_capacity(1024);
    let mut heads = [NIL; RANKS];
    let mut lowest = 0;
    let mut table = [0u32; SLOTS];
    let mut steps = Vec::with_capacity(64);
    let mut next = Seen { board: *root, parent: NIL, step: Step::NULL };
    loop {
        let board = next.board;
        let sum = hash(&board.key());
        let slot = &mut table[sum as usize & (SLOTS - 1)];
        let tag = (sum >> 32) as u32 | 1;
        if *slot != tag {
            *slot = tag;
            let index = seen.len() as u16;
            seen.push(next);
            dive.nodes += 1;
            let place = Place::new(&board, &aim);
            let checkers = board.checkers();
            if checkers == 0 && board.us() == WHITE {
                let mut pieces = Pieces::new();
                pieces.fill(&board);
                if dive.mate_in_one(&board, &mut pieces)
                    || pieces.flights.count_ones() <= 5
                        && place.idle <= PLAN
                        && plan(&board, &pieces, &mut dive.line)
                {
                    return Some(way(&seen, index, dive));
                }
            }
            steps.clear();
            board.legal(checkers, &mut steps);
            if steps.is_empty() && checkers != 0 && board.us() == BLACK {
                return Some(way(&seen, index, dive));
            }
            if seen.len() >= limit || found.len() + steps.len() >= NIL as usize {
                return None;
            }
            for &step in &steps {
                let rank = place.rank_after(&board, step).min(RANKS - 1);
                found.push(Found { parent: index, next: heads[rank], step });
                heads[rank] = found.len() as u16 - 1;
                lowest = lowest.min(rank);
            }
        }
        while heads[lowest] == NIL {
            lowest += 1;
            if lowest == RANKS {
                return None;
            }
        }
        let Found { parent, next: rest, step } = found[heads[lowest] as usize];
        heads[lowest] = rest;
        next = Seen { board: seen[parent as usize].board.after(step), parent, step };
    }
}

/// The line to a position seen, and on to the mate that the dive's line holds, last move first.
fn way(seen: &[Seen], index: u16, dive: &mut Dive) -> Vec<Step> {
    let mut line = std::mem::take(&mut dive.line);
    let mut at = index;
    while at != 0 {
        let Seen { parent, step, .. } = seen[at as usize];
        line.push(step);
        at = parent;
    }
    line.reverse();
    line
}

/// What is aimed at.
struct Aim {
    goals: [Goal; GOALS],
    count: usize,
    /// Some square is to be blocked.
    blocks: bool,
    /// A knight may have to go somewhere.
    jumps: bool,
}

impl Aim {
    /// The last positions nearest to the root; `None` if White has no man for any.
    fn new(root: &Board) -> Option<Aim> {
        let means = Means::new(root);
        let kings = [root.king(WHITE), root.king(BLACK)];
        let mut best = [(usize::MAX, NOWHERE); GOALS];
        let mut count = 0;
        for goal in HEAVY.iter().chain(&MINOR) {
            if goal.heavy && means.promotion == NEVER || !goal.heavy && !means.can_mate_on(goal.black) {
                continue;
            }
            let rank = rank(kings, root.us(), goal, means.ours(goal), means.theirs(root, goal));
            if rank >= best[GOALS - 1].0 {
                continue;
            }
            let mut at = GOALS - 1;
            while at > 0 && best[at - 1].0 > rank {
                best[at] = best[at - 1];
                at -= 1;
            }
            best[at] = (rank, *goal);
            count += 1;
        }
        let count = count.min(GOALS);
        let minor = best[..count].iter().any(|(_, goal)| !goal.heavy);
        (count != 0).then(|| Aim {
            goals: best.map(|(_, goal)| goal),
            count,
            blocks: minor && !means.pair,
            jumps: minor && means.knights != 0,
        })
    }
}

/// Moves that each goal takes besides the kings' own.
#[derive(Clone, Copy)]
struct Others {
    ours: [usize; GOALS],
    theirs: [usize; GOALS],
}

/// What the moves from one position are ranked by.
struct Place<'a> {
    aim: &'a Aim,
    us: usize,
    kings: [u8; 2],
    others: Others,
    /// The rank after a move that changes nothing.
    idle: usize,
}

impl Place<'_> {
    fn new<'a>(board: &Board, aim: &'a Aim) -> Place<'a> {
        let kings = [board.king(WHITE), board.king(BLACK)];
        let none = Others { ours: [0; GOALS], theirs: [0; GOALS] };
        let mut place = Place { aim, us: board.us(), kings, others: none, idle: 0 };
        place.others = place.counted(board, [true; 2]);
        place.idle = place.rank(kings, &place.others);
        place
    }

    /// The rank of what comes of a move. A king's quiet step changes nothing but its own way, another man's nothing for the
    /// other side.
    fn rank_after(&self, board: &Board, step: Step) -> usize {
        let (from, to) = (bit(step.from()), bit(step.to()));
        let us = self.us;
        if board.occupied() & to != 0 || step.promoted() != 0 {
            let after = board.after(step);
            let kings = [after.king(WHITE), after.king(BLACK)];
            return self.rank(kings, &self.counted(&after, [true; 2]));
        }
        if step.from() == self.kings[us & 1] {
            let mut kings = self.kings;
            kings[us & 1] = step.to();
            return self.rank(kings, &self.others);
        }
        let matters = if us == WHITE {
            board.role[PAWN] & from != 0 || self.aim.jumps && board.role[KNIGHT] & from != 0
        } else {
            self.aim.blocks
        };
        if !matters {
            return self.idle;
        }
        self.rank(self.kings, &self.counted(&board.after(step), [us == WHITE, us == BLACK]))
    }

    /// What each goal takes besides the kings' moves, counted anew for these sides.
    fn counted(&self, board: &Board, sides: [bool; 2]) -> Others {
        let mut all = self.others;
        let means = Means::new(board);
        let goals = &self.aim.goals[..self.aim.count];
        for (at, goal) in goals.iter().enumerate() {
            if sides[WHITE] {
                all.ours[at] = means.ours(goal);
            }
            if sides[BLACK] {
                let before = goals[..at].iter().position(|other| other.block == goal.block);
                all.theirs[at] = before.map_or_else(|| means.theirs(board, goal), |same| all.theirs[same]);
            }
        }
        all
    }

    fn rank(&self, kings: [u8; 2], others: &Others) -> usize {
        let each = self.aim.goals[..self.aim.count].iter().zip(&others.ours).zip(&others.theirs);
        each.map(|((goal, ours), theirs)| rank(kings, self.us ^ 1, goal, *ours, *theirs))
            .min()
            .unwrap_or(RANKS)
    }
}

/// How far from the goal, in quarters of a ply, and a little more for the side that is nearer.
fn rank(kings: [u8; 2], us: usize, goal: &Goal, ours: usize, theirs: usize) -> usize {
    let ours = ours + distance(kings[WHITE], goal.white) as usize;
    let theirs = theirs + distance(kings[BLACK], goal.black) as usize;
    // In plies, by whose turn it is; what blocks has to be there a move sooner.
    let sooner = if goal.block == FREE { 0 } else { 2 };
    let plies = (2 * ours + us).saturating_sub(1).max((2 * theirs + sooner).saturating_sub(us));
    4 * plies + 3 * ours.min(theirs)
}

/// What White has to mate with.
struct Means {
    /// Moves until it has a rook or a queen.
    promotion: usize,
    knights: u64,
    bishops: u64,
    /// Two minor pieces need no block.
    pair: bool,
}

impl Means {
    fn new(board: &Board) -> Means {
        let white = board.color[WHITE];
        let mut promotion = 0;
        if white & (board.role[QUEEN] | board.role[ROOK]) == 0 {
            promotion = NEVER;
            for from in Squares(white & board.role[PAWN]) {
                let ahead = (0x0101_0101_0101_0100u64).checked_shl(from as u32).unwrap_or(0);
                let foes = (ahead & board.men(BLACK, PAWN)).count_ones() as usize;
                let others = (ahead & board.occupied()).count_ones() as usize - foes;
                promotion = promotion.min(8 - (from >> 3) as usize + 5 * foes + others);
            }
        }
        let knights = white & board.role[KNIGHT];
        let bishops = white & board.role[BISHOP];
        let one_colour = knights == 0 && (bishops & LIGHT == 0 || bishops & !LIGHT == 0);
        let minors = knights | bishops;
        Means { promotion, knights, bishops, pair: minors & minors.wrapping_sub(1) != 0 && !one_colour }
    }

    /// Whether a minor piece may give the check on this square.
    fn can_mate_on(&self, square: u8) -> bool {
        let colour = if LIGHT & bit(square) != 0 { LIGHT } else { !LIGHT };
        self.knights != 0 || self.bishops & colour != 0
    }

    fn ours(&self, goal: &Goal) -> usize {
        if goal.heavy {
            return self.promotion;
        }
        let second = if self.pair { 2 } else { 0 };
        let colour = if LIGHT & bit(goal.black) != 0 { LIGHT } else { !LIGHT };
        if self.bishops & colour != 0 {
            return second;
        }
        // A square from which it checks is one jump short of the king's.
        let jumps = |from: u8| KNIGHT_JUMPS[goal.black as usize & 63][from as usize & 63].saturating_sub(1);
        second + Squares(self.knights).map(jumps).min().unwrap_or(9) as usize
    }

    fn theirs(&self, board: &Board, goal: &Goal) -> usize {
        if goal.block == FREE || self.pair {
            return 0;
        }
        block_cost(board, blockers(board, self.knights != 0), goal.block)
    }
}

/// Whether few enough men are left.
pub(super) fn is_small(board: &Board) -> bool {
    board.occupied().count_ones() <= MEN
}
