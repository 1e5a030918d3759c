//! Attacks of many men of a kind at once, by shifting sets of squares. What is made of them is left to the neighbours.

use super::super::board::{BISHOP, KNIGHT, QUEEN, ROOK, WHITE};

const NOT_A: u64 = !0x0101_0101_0101_0101;
const NOT_H: u64 = !(0x0101_0101_0101_0101 << 7);

/// Everything that men of this role, no pawns, attack from these squares; line pieces pass only `through`.
pub(super) fn attacks(role: usize, from: u64, through: u64) -> u64 {
    match role {
        KNIGHT => jumps(from),
        BISHOP => slides(from, through, [7, 9]),
        ROOK => slides(from, through, [1, 8]),
        QUEEN => slides(from, through, [1, 8]) | slides(from, through, [7, 9]),
        _ => around(from),
    }
}

pub(super) fn around(from: u64) -> u64 {
    straight(from) | slanting(from)
}

pub(super) fn ahead(color: usize, from: u64) -> u64 {
    if color == WHITE { from << 8 } else { from >> 8 }
}

/// What pawns attack.
pub(super) fn hits(color: usize, from: u64) -> u64 {
    let next = ahead(color, from);
    next << 1 & NOT_A | next >> 1 & NOT_H
}

pub(super) fn straight(from: u64) -> u64 {
    from << 8 | from >> 8 | from << 1 & NOT_A | from >> 1 & NOT_H
}

pub(super) fn slanting(from: u64) -> u64 {
    from << 9 & NOT_A | from >> 9 & NOT_H | from << 7 & NOT_H | from >> 7 & NOT_A
}

pub(super) fn jumps(from: u64) -> u64 {
    let (one, two) = (
        from << 1 & NOT_A | from >> 1 & NOT_H,
        from << 2 & NOT_A & NOT_A << 1 | from >> 2 & NOT_H & NOT_H >> 1,
    );
    one << 16 | one >> 16 | two << 8 | two >> 8
}

/// What line pieces on `from` attack along two pairs of directions, passing only squares of `through`.
fn slides(from: u64, through: u64, steps: [u32; 2]) -> u64 {
    let mut all = 0;
    for step in steps {
        // A step to a higher square that wraps lands on the first file or the last.
        let (up, down) = match step {
            8 => (u64::MAX, u64::MAX),
            7 => (NOT_H, NOT_A),
            _ => (NOT_A, NOT_H),
        };
        let (mut high, mut low) = (from, from);
        let (mut above, mut below) = (through & up, through & down);
        for doubled in [step, 2 * step] {
            high |= above & high << doubled;
            low |= below & low >> doubled;
            above &= above << doubled;
            below &= below >> doubled;
        }
        high |= above & high << (4 * step);
        low |= below & low >> (4 * step);
        all |= high << step & up | low >> step & down;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::super::board::{BLACK, KING, Squares, pawn_attacks, piece_attacks};
    use super::*;

    #[test]
    fn many_at_once_attack_what_each_does() {
        let mut dice = 0x9e37_79b9_7f4a_7c15u64;
        let mut roll = || {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            dice
        };
        for _ in 0..2_000 {
            let (from, occupied) = (roll() & roll() & roll(), roll() & roll());
            for role in KNIGHT..=KING {
                let each = Squares(from).fold(0, |all, at| all | piece_attacks(role, at, occupied));
                assert_eq!(attacks(role, from, !occupied), each, "{role} {from:x} {occupied:x}");
            }
            for color in [WHITE, BLACK] {
                let each = Squares(from).fold(0, |all, at| all | pawn_attacks(color, at));
                assert_eq!(hits(color, from), each, "{color} {from:x}");
            }
        }
    }
}
