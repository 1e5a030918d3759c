//! Squares that misbehave: which, how, and when they are well again.
//!
//! A faulty square is named to the operator and then *blinded* for the readings that tell
//! nothing: any reading of a flickering square, the empty reading of a dead one, the false piece
//! of a ghost. It decides nothing about moves.

use shakmaty::{Piece, Square};

use super::SquareFault;
use crate::record::Timestamp;

/// A flicker is so many changes to and fro …
const FLICKER_CHANGES: u8 = 6;
/// … each within this time of the one before, in ms.
const FLICKER_GAP: i64 = 1_000;
/// A flickering square is well after so long without a change, in ms.
const FLICKER_WELL: i64 = 5_000;

/// What is known of one faulty square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing it reads can be believed until then.
    Flicker { until: Timestamp },
    /// It reads empty and is not.
    Missing,
    /// It reads this and is not.
    Ghost(Option<Piece>),
}

/// To and fro between empty and one piece.
#[derive(Clone, Copy, Debug, Default)]
struct Swing {
    piece: Option<Piece>,
    changes: u8,
    last: Timestamp,
}

/// The faulty squares of a board, in game squares.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    known: Vec<(Square, Fault)>,
    swings: Vec<(Square, Swing)>,
}

impl Faults {
    /// Whether this square's reading tells nothing.
    pub(super) fn blinds(&self, square: Square, reading: Option<Piece>) -> bool {
        self.known.iter().any(|(at, fault)| {
            *at == square
                && match fault {
                    Fault::Flicker { .. } => true,
                    Fault::Missing => reading.is_none(),
                    Fault::Ghost(piece) => reading == *piece,
                }
        })
    }

    /// The square is known to be faulty.
    pub(super) fn knows(&self, square: Square) -> bool {
        self.known.iter().any(|(at, _)| *at == square)
    }

    /// The square is known to flicker.
    pub(super) fn flickers(&self, square: Square) -> bool {
        self.known.iter().any(|(at, fault)| *at == square && matches!(fault, Fault::Flicker { .. }))
    }

    /// A square changed. Tells of a fault that this shows (`Some(true)`: it flickers) or ends
    /// (`Some(false)`: it reads something else than the fault would).
    pub(super) fn changed(
        &mut self,
        at: Timestamp,
        square: Square,
        was: Option<Piece>,
        now: Option<Piece>,
    ) -> Option<bool> {
        if let Some(index) = self.known.iter().position(|(known, _)| *known == square) {
            match &mut self.known[index].1 {
                Fault::Flicker { until } => {
                    *until = at.plus(FLICKER_WELL);
                    return None;
                }
                Fault::Missing if now.is_some() => {}
                Fault::Ghost(piece) if now != *piece => {}
                _ => return None,
            }
            self.known.swap_remove(index);
            return Some(false);
        }
        self.swing(at, square, was, now).then_some(true)
    }

    fn swing(&mut self, at: Timestamp, square: Square, was: Option<Piece>, now: Option<Piece>) -> bool {
        let ((None, Some(piece)) | (Some(piece), None)) = (was, now) else {
            self.calm(square);
            return false;
        };
        self.swings.retain(|(_, swing)| at.since(swing.last) <= FLICKER_GAP);
        let Some((_, swing)) = self.swings.iter_mut().find(|(known, _)| *known == square) else {
            self.swings.push((square, Swing { piece: Some(piece), changes: 1, last: at }));
            return false;
        };
        if swing.piece == Some(piece) {
            *swing = Swing { changes: swing.changes + 1, last: at, ..*swing };
        } else {
            *swing = Swing { piece: Some(piece), changes: 1, last: at };
        }
        if swing.changes < FLICKER_CHANGES {
            return false;
        }
        self.calm(square);
        self.known.push((square, Fault::Flicker { until: at.plus(FLICKER_WELL) }));
        true
    }

    /// A ply explains what this square did: it does not flicker.
    pub(super) fn calm(&mut self, square: Square) {
        self.swings.retain(|(known, _)| *known != square);
    }

    /// Notes a square that reads empty and is not, or reads a piece that is not there.
    pub(super) fn add(&mut self, square: Square, fault: SquareFault, reading: Option<Piece>) {
        let fault = match fault {
            SquareFault::Missing => Fault::Missing,
            SquareFault::Ghost => Fault::Ghost(reading),
            SquareFault::Flicker => return, // only found by its changes
        };
        self.known.push((square, fault));
    }

    /// Forgets a fault: the position itself now holds what the square reads.
    pub(super) fn forget(&mut self, square: Square) {
        self.known.retain(|(known, _)| *known != square);
    }

    /// Squares noted as missing or ghost, with what they are blind for.
    pub(super) fn steady(&self) -> impl Iterator<Item = Square> {
        self.known.iter().filter(|(_, fault)| !matches!(fault, Fault::Flicker { .. })).map(|(at, _)| *at)
    }

    /// When the next flickering square may be called well.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.known
            .iter()
            .filter_map(|(_, fault)| match fault {
                Fault::Flicker { until } => Some(*until),
                _ => None,
            })
            .min()
    }

    /// The squares that have stopped to flicker.
    pub(super) fn wells(&mut self, now: Timestamp) -> Vec<Square> {
        let mut wells = Vec::new();
        self.known.retain(|(square, fault)| {
            let well = matches!(fault, Fault::Flicker { until } if *until <= now);
            if well {
                wells.push(*square);
            }
            !well
        });
        wells
    }

    /// The board's numbering was turned round.
    pub(super) fn turn(&mut self) {
        for (square, _) in &mut self.known {
            *square = turned(*square);
        }
        self.swings.clear();
    }
}

fn turned(square: Square) -> Square {
    Square::new(63 - u32::from(square))
}
