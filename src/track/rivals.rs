//! The rivals of a line that no search is needed for: plies whose man was never read where it went, with
//! another square, another way of taking or another promoted man in their place.
//!
//! A man that goes on within a scan leaves no trace of the square between. The search (`lattice`) keeps
//! only so many beginnings and may miss the other way; here each such ply is varied, the rest of the line
//! being kept, so that it cannot stand unnamed. What a variation costs is for `tally`.

use shakmaty::{Move, Role, Square};

use super::{ledger::Tried, moves::origin};
use crate::record::Position;

/// Variations of one line that are tried at the most.
const MOST: usize = 24;

/// The lines in which one of the plies `from..to` that were `unread` is another.
pub(super) fn variations(
    root: &Position,
    line: &[Tried],
    from: usize,
    to: usize,
    unread: impl Fn(usize) -> bool,
) -> Vec<Vec<Tried>> {
    let mut all = Vec::new();
    for index in (from..to.min(line.len())).filter(|index| unread(*index)) {
        let before = index.checked_sub(1).map_or(root, |last| &line[last].after);
        for (m, next, then) in others(before, line, index) {
            if all.len() == MOST {
                return all;
            }
            all.extend(replaced(before, line, index, m, next, then));
        }
    }
    all
}

/// Other moves that could stand for ply `index`, with the later ply that they change and what that becomes.
fn others(before: &Position, line: &[Tried], index: usize) -> Vec<(Move, usize, Move)> {
    let Move::Normal { role, from, to, capture, promotion } = line[index].m else { return Vec::new() };
    // The ply that empties or covers the square.
    let ends = |m: Move| {
        origin(m) == to
            || m.to() == to
            || matches!(m, Move::EnPassant { from, to: passed } if Square::from_coords(passed.file(), from.rank()) == to)
    };
    let Some(next) = (index + 1..line.len()).find(|later| ends(line[*later].m)) else { return Vec::new() };
    let then = line[next].m;
    let mine = (next - index).is_multiple_of(2);
    let mut found = Vec::new();
    for m in before.legal_moves() {
        let Move::Normal { from: start, to: other, capture: taken, promotion: became, .. } = m else {
            continue;
        };
        if start != from || m == line[index].m {
            continue;
        }
        let on = match then {
            // The man went on: it may have come by another square.
            Move::Normal { from: left, to: goes, capture: takes, promotion: becomes, .. }
                if mine
                    && left == to
                    && promotion.is_none()
                    && became.is_none()
                    && capture == taken
                    && (capture.is_none() || other == to) =>
            {
                Move::Normal { role, from: other, to: goes, capture: takes, promotion: becomes }
            }
            // It was taken there: as a man of another kind.
            Move::Normal { role: taker, from: left, to: goes, promotion: becomes, .. }
                if goes == to && other == to && promotion.is_some() && became.is_some() =>
            {
                Move::Normal { role: taker, from: left, to: goes, capture: became, promotion: becomes }
            }
            // A pawn: in passing, or on the square it did not pass.
            Move::EnPassant { from: left, to: passed }
                if next == index + 1 && role == Role::Pawn && other == passed =>
            {
                Move::Normal {
                    role: Role::Pawn,
                    from: left,
                    to: passed,
                    capture: Some(Role::Pawn),
                    promotion: None,
                }
            }
            Move::Normal {
                role: Role::Pawn,
                from: left,
                to: goes,
                capture: Some(Role::Pawn),
                promotion: None,
            } if next == index + 1
                && role == Role::Pawn
                && goes == to
                && other.file() == to.file()
                && other.distance(from) == 2 =>
            {
                Move::EnPassant { from: left, to: goes }
            }
            _ => continue,
        };
        found.push((m, next, on));
    }
    found
}

/// The line with these two plies in place of its own, if it is legal.
fn replaced(
    before: &Position,
    line: &[Tried],
    index: usize,
    m: Move,
    next: usize,
    then: Move,
) -> Option<Vec<Tried>> {
    let mut new = line[..index].to_vec();
    let mut position = before.clone();
    for (ply, tried) in line.iter().enumerate().skip(index) {
        let played = match ply {
            _ if ply == index => m,
            _ if ply == next => then,
            _ => tried.m,
        };
        if !position.legal_moves().contains(&played) {
            return None;
        }
        position = position.play(played);
        new.push(Tried { m: played, after: position.clone(), at: tried.at });
    }
    Some(new)
}
