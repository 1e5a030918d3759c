//! Whether sets leave room for a mate: the test that makes a proof of them. The sets themselves are the parent's.

use super::{
    super::board::{KING, PAWN, Squares, WHITE, bit, distance, king_attacks, pawn_attacks, piece_attacks},
    Man, Structure,
};

impl Structure {
    /// Whether the sets leave room for a mate by White anywhere.
    ///
    /// **Soundness.** In a position where Black is mated on *s*, some White man other than the king attacks *s*
    /// (a king gives no check), and each neighbour of *s* on the board is attacked by a White man, the black
    /// king taken off, or holds a Black man; different squares hold different men. White's king stands on
    /// one square of its reach, not next to *s*. A man's attacks, with the other men in the way, are within
    /// those from the same square with only the fixed men in the way. So if a mate exists, the tests here find
    /// room for it: first with all attack squares of every man together, then with one place for each White
    /// man at a time.
    pub(super) fn mate_possible(&self) -> bool {
        let mut covered = 0;
        let (mut white_king, mut black_king) = (0, 0);
        let mut blockers = [0u64; 16];
        let mut blocker_count = 0;
        for man in &self.men[..self.count] {
            match (man.color as usize, man.role as usize) {
                (WHITE, KING) => white_king = man.reach,
                (_, KING) => black_king = man.reach,
                (WHITE, _) => covered |= man.attacks,
                _ => {
                    blockers[blocker_count & 15] = man.reach;
                    blocker_count += 1;
                }
            }
        }
        // The mated king may itself have been counted as a fixed blocker.
        let lone = black_king.is_power_of_two();
        if lone {
            covered = 0;
            for man in &self.men[..self.count] {
                if man.color as usize == WHITE && man.role as usize != KING {
                    for from in Squares(man.reach) {
                        covered |= self.attacks_on(man, from, black_king);
                    }
                }
            }
        }
        let blockers = &blockers[..blocker_count.min(16)];
        for square in Squares(black_king & covered) {
            let around = king_attacks(square);
            let open = around & !covered;
            if can_block(open, blockers) && self.one_place_each(square, white_king, blockers) {
                return true;
            }
            if open == 0 {
                continue;
            }
            for king in Squares(white_king) {
                let helped = open & !king_attacks(king);
                if distance(king, square) > 1
                    && helped != open
                    && can_block(helped, blockers)
                    && self.one_place_each(square, white_king, blockers)
                {
                    return true;
                }
            }
        }
        false
    }

    /// What a man attacks from a square of its reach, the king on `king` taken off.
    ///
    /// For a rooted man: what it attacks while it lives; that is given, except that a line which hits the king
    /// goes on behind it.
    fn attacks_on(&self, man: &Man, from: u8, king: u64) -> u64 {
        if man.rooted && man.attacks & king == 0 {
            return man.attacks;
        }
        match man.role as usize {
            PAWN => pawn_attacks(man.color as usize, from),
            role => piece_attacks(role, from, self.fixed & !king),
        }
    }

    /// The mate test with one place for each White man: for every choice of White's king square and of what each man covers around
    /// `square` (only the largest sets count), the rest must be blocked.
    fn one_place_each(&self, square: u8, white_king: u64, blockers: &[u64]) -> bool {
        let around = king_attacks(square);
        let zone = around | bit(square);
        let mut choices: [[u64; 12]; 4] = [[0; 12]; 4];
        let mut counts = [0usize; 4];
        let mut men = 0;
        // What is covered in any case, or by men too many to try one by one.
        let mut base = 0;
        let king_fixed = self.fixed & bit(square) != 0;
        for man in &self.men[..self.count] {
            if man.color as usize != WHITE || man.role as usize == KING {
                continue;
            }
            if man.attacks & zone == 0 && !king_fixed {
                continue;
            }
            let mut list = [0u64; 12];
            let mut count = 0;
            let mut union = 0;
            let mut crowded = men == 4;
            'places: for from in Squares(man.reach & !bit(square)) {
                let mask = self.attacks_on(man, from, bit(square)) & zone;
                union |= mask;
                if mask == 0 || crowded {
                    continue;
                }
                let mut at = 0;
                while at < count {
                    if mask & !list[at] == 0 {
                        continue 'places;
                    }
                    if list[at] & !mask == 0 {
                        count -= 1;
                        list[at] = list[count];
                    } else {
                        at += 1;
                    }
                }
                if count == 12 {
                    crowded = true;
                    continue;
                }
                list[count] = mask;
                count += 1;
            }
            if crowded || count == 1 {
                base |= union;
            } else if count > 1 {
                choices[men] = list;
                counts[men] = count;
                men += 1;
            }
        }
        let mut kings = [0u64; 32];
        let mut king_count = 0;
        for king in Squares(white_king) {
            if distance(king, square) < 2 {
                continue;
            }
            let mask = king_attacks(king) & around;
            if !kings[..king_count].contains(&mask) && king_count < 32 {
                kings[king_count] = mask;
                king_count += 1;
            }
        }
        let mut pick = [0usize; 4];
        loop {
            let mut cover = base;
            for man in 0..men {
                cover |= choices[man][pick[man]];
            }
            if cover & bit(square) != 0
                && kings[..king_count].iter().any(|king| can_block(around & !cover & !king, blockers))
            {
                return true;
            }
            let mut man = 0;
            loop {
                if man == men {
                    return false;
                }
                pick[man] += 1;
                if pick[man] < counts[man] {
                    break;
                }
                pick[man] = 0;
                man += 1;
            }
        }
    }
}

/// Whether different men can stand on all of these squares (a matching).
fn can_block(squares: u64, blockers: &[u64]) -> bool {
    if squares == 0 {
        return true;
    }
    if squares.count_ones() as usize > blockers.len() {
        return false;
    }
    let mut list = [0u8; 8];
    let mut count = 0;
    for square in Squares(squares) {
        list[count & 7] = square;
        count += 1;
    }
    let mut holder = [usize::MAX; 16];
    (0..count).all(|at| {
        let mut tried = 0u32;
        augment(at, list, blockers, &mut holder, &mut tried)
    })
}

fn augment(at: usize, list: [u8; 8], blockers: &[u64], holder: &mut [usize; 16], tried: &mut u32) -> bool {
    for (index, reach) in blockers.iter().enumerate() {
        if reach & bit(list[at]) == 0 || *tried >> index & 1 == 1 {
            continue;
        }
        *tried |= 1 << index;
        if holder[index] == usize::MAX || augment(holder[index], list, blockers, holder, tried) {
            holder[index] = at;
            return true;
        }
    }
    false
}
