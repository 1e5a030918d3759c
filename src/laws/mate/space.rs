//! The space of positions that legal moves lead to, with an exact visited set.
//!
//! One table serves both answers: the first mate found ends the search with its line, and a space that is
//! used up without a mate is a proof that there is none. Positions are taken best first, by a rank that only
//! orders the work; the proof does not depend on it.

use std::collections::HashMap;

use super::{
    board::{BISHOP, BLACK, Board, KING, KNIGHT, LIGHT, PAWN, Step, WHITE},
    material,
    rank::Ranks,
};

const NIL: u32 = u32::MAX;
const EMPTY: u64 = u64::MAX;
const RANKS: usize = 128;
/// Queues by rank; one more takes positions in the order in which they were found.
const QUEUES: usize = 3;

/// What a search of the space came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// White mates: the moves from the root.
    Mate(Vec<Step>),
    /// Everything reachable was seen, or proved hopeless, and no mate is in it.
    Exhausted,
    /// The limit of nodes or states came first.
    Stopped,
}

/// Positions seen, with the way back to the root.
pub(super) struct Space {
    keys: Vec<[u64; 4]>,
    parent: Vec<(u32, Step)>,
    next: Vec<[u32; QUEUES]>,
    heads: [[u32; RANKS]; QUEUES],
    lowest: [usize; QUEUES],
    done: Vec<bool>,
    oldest: usize,
    turn: usize,
    order: &'static [usize],
    /// The structure (pawns, number of men) of each position, and where men were seen in each.
    structure: Vec<u32>,
    structures: HashMap<[u64; 3], u32>,
    seen: Vec<[u64; 12]>,
    /// Index of a key in the lower half, the upper half of its hash in the upper: most probes need no key.
    table: Vec<u64>,
    steps: Vec<Step>,
    pub(super) nodes: u64,
}

pub(super) fn hash(key: &[u64; 4]) -> u64 {
    let fold = |a: u64, b: u64| {
        let wide = (a as u128).wrapping_mul(b as u128);
        wide as u64 ^ (wide >> 64) as u64
    };
    fold(
        fold(key[0] ^ 0x9e37_79b9_7f4a_7c15, key[1] ^ 0xd1b5_4a32_d192_ed03)
            ^ fold(key[2] ^ 0x8cb9_2ba7_2f3d_8dd7, key[3] ^ 0xa24b_aed4_963e_e407),
        0x9fb2_1c65_1e98_df25,
    )
}

impl Space {
    pub(super) fn new() -> Space {
        Space {
            keys: Vec::new(),
            parent: Vec::new(),
            next: Vec::new(),
            heads: [[NIL; RANKS]; QUEUES],
            lowest: [RANKS; QUEUES],
            done: Vec::new(),
            oldest: 0,
            turn: 0,
            order: &[0, 1, 2, QUEUES],
            structure: Vec::new(),
            structures: HashMap::new(),
            seen: Vec::new(),
            table: vec![EMPTY; 1 << 10],
            steps: Vec::with_capacity(64),
            nodes: 0,
        }
    }

    pub(super) fn states(&self) -> usize {
        self.keys.len()
    }

    /// Searches on from `root` until a mate by White, the end of the space, or a limit.
    ///
    /// Sound: a position is left out only if it was seen before (the keys are exact, not hashes), or if
    /// `hopeless` or the material proves that no continuation mates; every legal move of every other
    /// position is followed. A mate is noticed when its position is expanded: in check, no legal move.
    pub(super) fn search(
        &mut self,
        root: &Board,
        nodes: u64,
        states: usize,
        rank: &mut dyn FnMut(&Board) -> Ranks,
        hopeless: &mut dyn FnMut(&Board, &Board) -> bool,
    ) -> Outcome {
        let men = root.color[WHITE] & !root.role[KING];
        let one_colour = men & !root.role[BISHOP] == 0 && (men & LIGHT == 0 || men & !LIGHT == 0);
        if one_colour || men & root.role[KNIGHT] == men && men.is_power_of_two() {
            self.order = &[1, 1, 1, 0, 1, 1, 1, 2, 1, 1, 1, QUEUES];
        }
        let key = root.key();
        let (mut keys, mut sums) = (Vec::with_capacity(64), Vec::with_capacity(64));
        let (mut first, mut known) = (Vec::with_capacity(64), Vec::with_capacity(64));
        let mut boards: Vec<Board> = Vec::with_capacity(64);
        let sum = hash(&key);
        if let Some(slot) = self.vacancy(&key, sum) {
            self.insert(root, key, (sum, slot), (NIL, Step::NULL), false, rank);
        }
        while let Some(index) = self.take() {
            let board = Board::from_key(&self.keys[index as usize]);
            self.nodes += 1;
            let checkers = board.checkers();
            let start = self.steps.len();
            let mut steps = std::mem::take(&mut self.steps);
            board.legal(checkers, &mut steps);
            if steps.len() == start && checkers != 0 && board.us() != WHITE {
                self.steps = steps;
                return Outcome::Mate(self.way(index));
            }
            // All keys first, then all first probes, then the keys they lead to, without a branch between:
            // so the loads, nearly all of them from far memory, do not wait for one another.
            self.reserve(steps.len() - start);
            keys.clear();
            boards.clear();
            boards.extend(steps[start..].iter().map(|&step| board.after(step)));
            keys.extend(boards.iter().map(Board::key));
            sums.clear();
            sums.extend(keys.iter().map(hash));
            let (table, mask) = (&self.table[..], self.table.len() - 1);
            first.clear();
            first.extend(sums.iter().map(|&sum| table[sum as usize & mask]));
            let seen = &self.keys[..];
            known.clear();
            known.extend(keys.iter().zip(&sums).zip(&first).map(|((key, sum), entry)| {
                let near = entry >> 32 == sum >> 32;
                let at = if near { *entry as u32 as usize } else { 0 };
                seen[at.min(seen.len() - 1)] == *key
            }));
            for at in 0..keys.len() {
                if known[at] {
                    continue;
                }
                let step = steps[start + at];
                let Some(slot) = self.vacancy(&keys[at], sums[at]) else { continue };
                let next = &boards[at];
                let fewer =
                    step.promoted() != 0 || next.occupied().count_ones() != board.occupied().count_ones();
                let dead = (fewer && material::cannot_mate(next)) || hopeless(&board, next);
                self.insert(next, keys[at], (sums[at], slot), (index, step), dead, rank);
            }
            steps.truncate(start);
            self.steps = steps;
            if self.nodes >= nodes || self.keys.len() >= states {
                return Outcome::Stopped;
            }
        }
        Outcome::Exhausted
    }

    fn way(&self, index: u32) -> Vec<Step> {
        let mut line = Vec::new();
        let mut at = index;
        loop {
            let (parent, step) = self.parent[at as usize];
            if parent == NIL {
                break;
            }
            line.push(step);
            at = parent;
        }
        line.reverse();
        line
    }

    fn take(&mut self) -> Option<u32> {
        for _ in 0..self.order.len() {
            self.turn = (self.turn + 1) % self.order.len();
            let queue = self.order[self.turn];
            if queue == QUEUES {
                while self.oldest < self.done.len() {
                    let index = self.oldest;
                    self.oldest += 1;
                    if !std::mem::replace(&mut self.done[index], true) {
                        return Some(index as u32);
                    }
                }
                continue;
            }
            while self.lowest[queue] < RANKS {
                let head = self.heads[queue][self.lowest[queue]];
                if head == NIL {
                    self.lowest[queue] += 1;
                    continue;
                }
                self.heads[queue][self.lowest[queue]] = self.next[head as usize][queue];
                if !std::mem::replace(&mut self.done[head as usize], true) {
                    return Some(head);
                }
            }
        }
        None
    }

    /// The number of the position's structure; the parent's, unless a pawn moved or a man was taken.
    fn structure_of(&mut self, board: &Board, parent: u32) -> u32 {
        let pawns = board.role[PAWN];
        let shape = |board: &Board| {
            let men = board.color.map(|men| men.count_ones() as u64);
            [
                board.role[PAWN] & board.color[WHITE],
                board.role[PAWN] & board.color[BLACK],
                men[0] << 8 | men[1],
            ]
        };
        if parent != NIL {
            let key = &self.keys[parent as usize];
            let before = key[0] | key[1] | key[2];
            let same = Board::from_key(key).role[PAWN] == pawns
                && before.count_ones() == board.occupied().count_ones();
            if same {
                return self.structure[parent as usize];
            }
        }
        let next = self.seen.len() as u32;
        let number = *self.structures.entry(shape(board)).or_insert(next);
        if number == next {
            self.seen.push([0; 12]);
        }
        number
    }

    /// Whether some man stands where none of its kind stood yet in this structure.
    fn is_new(&mut self, board: &Board, structure: u32) -> bool {
        let seen = &mut self.seen[structure as usize];
        let mut new = 0;
        for role in KNIGHT..=KING {
            for color in [WHITE, BLACK] {
                let men = board.men(color, role);
                let slot = &mut seen[2 * role + color];
                new |= men & !*slot;
                *slot |= men;
            }
        }
        new != 0
    }

    /// The free slot for a key whose hash is `sum`; `None` if the key is known already.
    fn vacancy(&self, key: &[u64; 4], sum: u64) -> Option<usize> {
        let mask = self.table.len() - 1;
        let mut slot = sum as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == EMPTY {
                return Some(slot);
            }
            if entry >> 32 == sum >> 32 && self.keys[entry as u32 as usize] == *key {
                return None;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Room in the table for so many more.
    fn reserve(&mut self, more: usize) {
        while (self.keys.len() + more) * 2 >= self.table.len() {
            self.grow();
        }
    }

    /// Enters a new position; a dead one is only remembered, not queued.
    fn insert(
        &mut self,
        board: &Board,
        key: [u64; 4],
        (sum, slot): (u64, usize),
        from: (u32, Step),
        dead: bool,
        rank: &mut dyn FnMut(&Board) -> Ranks,
    ) {
        let structure = self.structure_of(board, from.0);
        self.structure.push(structure);
        let index = self.keys.len() as u32;
        self.table[slot] = sum >> 32 << 32 | index as u64;
        self.keys.push(key);
        self.parent.push(from);
        self.done.push(dead);
        let mut next = [NIL; QUEUES];
        if !dead {
            let mut ranks = rank(board);
            if !self.is_new(board, structure) {
                ranks[2] += 30;
            }
            for queue in 0..QUEUES {
                let rank = ranks[queue].min(RANKS - 1);
                next[queue] = self.heads[queue][rank];
                self.heads[queue][rank] = index;
                self.lowest[queue] = self.lowest[queue].min(rank);
            }
        }
        self.next.push(next);
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mask = size - 1;
        let mut table = vec![EMPTY; size];
        for (index, key) in self.keys.iter().enumerate() {
            let sum = hash(key);
            let mut slot = sum as usize & mask;
            while table[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            table[slot] = sum >> 32 << 32 | index as u64;
        }
        self.table = table;
    }
}
