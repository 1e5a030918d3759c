//! Bridging what was not seen: the shortest legal sequences between a position and a board.

use shakmaty::{Bitboard, Color, Move};

use super::moves::View;
use crate::record::Position;

/// The most plies that are bridged.
pub(super) const DEPTH: usize = 8;
/// The most candidates that are named.
pub(super) const CANDIDATES: usize = 10;
/// The most positions that are looked at.
const BUDGET: u32 = 30_000;

/// What a search over a gap found.
#[derive(Clone, Debug, Default)]
pub(super) struct Bridges {
    /// The shortest sequences that end in the sensed board, at most one more than can be named.
    pub(super) lines: Vec<Vec<Move>>,
    /// The search was cut short: there may be others.
    pub(super) cut: bool,
}

impl Bridges {
    /// The one sequence, if there is exactly one.
    pub(super) fn only(&self) -> Option<&[Move]> {
        match self.lines.as_slice() {
            [line] if !self.cut => Some(line),
            _ => None,
        }
    }
}

/// All shortest legal sequences of 1 to `depth` plies from `position` to the sensed board, by moves
/// that end on `seen` squares only (those that were seen to change, unless nothing was seen).
pub(super) fn bridges(position: &Position, view: View<'_>, depth: usize, seen: Bitboard) -> Bridges {
    let mut budget = BUDGET;
    for plies in 1..=depth.min(DEPTH) {
        let mut found = Bridges::default();
        let mut path = Vec::with_capacity(plies);
        search(position, view, plies, seen, &mut path, &mut found, &mut budget);
        found.cut = budget == 0;
        if !found.lines.is_empty() || found.cut {
            return found;
        }
    }
    Bridges::default()
}

fn search(
    position: &Position,
    view: View<'_>,
    plies: usize,
    seen: Bitboard,
    path: &mut Vec<Move>,
    found: &mut Bridges,
    budget: &mut u32,
) {
    if plies == 0 {
        if view.diff(position.board()).is_empty() {
            found.lines.push(path.clone());
        }
        return;
    }
    if !within_reach(position, view, plies) {
        return;
    }
    for m in position.legal_moves() {
        if found.lines.len() > CANDIDATES || *budget == 0 {
            return;
        }
        if !seen.contains(m.to()) {
            continue;
        }
        *budget -= 1;
        let next = position.play(m);
        if plies > 1 && next.chess().is_some_and(shakmaty::Position::is_game_over) {
            continue;
        }
        path.push(m);
        search(&next, view, plies - 1, seen, path, found, budget);
        path.pop();
    }
}

/// Whether so many plies could be enough: each brings one man to a new square (castling two) and
/// takes at most one.
fn within_reach(position: &Position, view: View<'_>, plies: usize) -> bool {
    let board = position.board();
    let diff = view.diff(board);
    let sensed = &view.eyes.board;
    Color::ALL.into_iter().all(|side| {
        let own = if side == position.turn() { plies.div_ceil(2) } else { plies / 2 };
        let others = plies - own;
        let castles = position.chess().is_some_and(|chess| {
            (shakmaty::Position::castles(chess).castling_rights() & board.by_color(side)).any()
        });
        let arrived = (diff & sensed.by_color(side)).count();
        let lost = (diff & board.by_color(side)).count().saturating_sub(arrived);
        arrived <= own + usize::from(castles) && lost <= others + view.blind().count()
    })
}
