//! The space of positions that legal moves lead to, with an exact visited set.
//!
//! One table serves both answers: the first mate found ends the search with its line, and a space that is
//! used up without a mate is a proof that there is none. Positions are taken best first, by a rank that only
//! orders the work; the proof does not depend on it.

use super::{
    board::{Board, Step, WHITE},
    material,
};

const NIL: u32 = u32::MAX;
const RANKS: usize = 128;

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
    next: Vec<u32>,
    heads: [u32; RANKS],
    lowest: usize,
    table: Vec<u32>,
    steps: Vec<Step>,
    pub(super) nodes: u64,
}

fn hash(key: &[u64; 4]) -> u64 {
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
            heads: [NIL; RANKS],
            lowest: RANKS,
            table: vec![NIL; 1 << 10],
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
        rank: &mut dyn FnMut(&Board) -> usize,
        hopeless: &mut dyn FnMut(&Board, &Board, Step) -> bool,
    ) -> Outcome {
        self.insert(root, NIL, Step::NULL, rank(root));
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
            for &step in &steps[start..] {
                let next = board.after(step);
                if next.occupied().count_ones() != board.occupied().count_ones()
                    && material::cannot_mate(&next)
                {
                    continue;
                }
                if hopeless(&board, &next, step) {
                    continue;
                }
                let place = rank(&next);
                self.insert(&next, index, step, place);
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
        while self.lowest < RANKS {
            let head = self.heads[self.lowest];
            if head != NIL {
                self.heads[self.lowest] = self.next[head as usize];
                return Some(head);
            }
            self.lowest += 1;
        }
        None
    }

    fn insert(&mut self, board: &Board, parent: u32, step: Step, rank: usize) {
        if self.keys.len() * 2 >= self.table.len() {
            self.grow();
        }
        let key = board.key();
        let mask = self.table.len() - 1;
        let mut slot = hash(&key) as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == NIL {
                break;
            }
            if self.keys[entry as usize] == key {
                return;
            }
            slot = (slot + 1) & mask;
        }
        let index = self.keys.len() as u32;
        self.table[slot] = index;
        self.keys.push(key);
        self.parent.push((parent, step));
        let rank = rank.min(RANKS - 1);
        self.next.push(self.heads[rank]);
        self.heads[rank] = index;
        self.lowest = self.lowest.min(rank);
    }

    fn grow(&mut self) {
        let size = self.table.len() * 4;
        let mask = size - 1;
        let mut table = vec![NIL; size];
        for (index, key) in self.keys.iter().enumerate() {
            let mut slot = hash(key) as usize & mask;
            while table[slot] != NIL {
                slot = (slot + 1) & mask;
            }
            table[slot] = index as u32;
        }
        self.table = table;
    }
}
