//! The squares as the board's scan sees them.
//!
//! One scan takes 200 to 250 ms and samples the 64 squares one after the other (DGT protocol
//! notes). So a piece that moves is noticed on its new square before or after the old one,
//! whichever is sampled first; for a moment it may be seen twice or not at all; a captured piece
//! replaced within one scan never reads empty; and what happens between two samples of a square
//! is never known. Nothing here is drawn at random but the board's scan time and phase.

use std::collections::BTreeSet;

use crate::wire::{BoardSquare, Content, Squares};

/// 64 sampled squares in virtual time.
#[derive(Clone, Debug)]
pub struct Sensor {
    /// Time of one scan in microseconds.
    scan_us: u64,
    phase_us: u64,
    physical: Squares,
    disturbed: [Option<Content>; 64],
    reported: Squares,
    /// Samples that may find something new: (moment in ms, square).
    due: BTreeSet<(u64, u8)>,
}

impl Sensor {
    /// A board that has already noticed what stands on it. Scan time and phase come from `rng`;
    /// `half_rate` boards (Bluetooth) take twice as long.
    #[must_use]
    pub fn new(squares: Squares, rng: &mut fastrand::Rng, half_rate: bool) -> Self {
        let scan_us = rng.u64(200_000..=250_000) * if half_rate { 2 } else { 1 };
        Self {
            scan_us,
            phase_us: rng.u64(0..scan_us),
            physical: squares,
            disturbed: [None; 64],
            reported: squares,
            due: BTreeSet::new(),
        }
    }

    /// What really stands on a square.
    #[must_use]
    pub fn physical(&self, square: BoardSquare) -> Content {
        self.physical.get(square)
    }

    /// What the board has noticed so far: the content of its dump.
    #[must_use]
    pub fn noticed(&self) -> &Squares {
        &self.reported
    }

    /// Something is put on a square or leaves it.
    pub fn change(&mut self, at: u64, square: BoardSquare, content: Content) {
        self.physical.set(square, content);
        self.sample_later(at, square);
    }

    /// The square reads this whatever stands there, until `None`.
    pub fn disturb(&mut self, at: u64, square: BoardSquare, content: Option<Content>) {
        self.disturbed[square.index()] = content;
        self.sample_later(at, square);
    }

    /// The next sample that may find a change.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Takes the earliest due sample; the change, if it finds one.
    pub fn sample(&mut self) -> Option<(u64, BoardSquare, Content)> {
        let (at, index) = self.due.pop_first()?;
        let square = BoardSquare::new(index)?;
        let content = self.disturbed[square.index()].unwrap_or(self.physical.get(square));
        if content == self.reported.get(square) {
            return None;
        }
        self.reported.set(square, content);
        Some((at, square, content))
    }

    fn sample_later(&mut self, at: u64, square: BoardSquare) {
        let offset = (self.phase_us + self.scan_us * square.index() as u64 / 64) % self.scan_us;
        let at_us = at * 1000;
        // The first sample after the change.
        let scans = if at_us < offset { 0 } else { (at_us - offset) / self.scan_us + 1 };
        let next = offset + scans * self.scan_us;
        self.due.insert((next.div_ceil(1000), square.index() as u8));
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Color, Piece, Role};

    use super::*;

    fn square(index: u8) -> BoardSquare {
        BoardSquare::new(index).expect("on the board")
    }

    #[test]
    fn what_lasts_less_than_a_scan_may_be_missed_and_what_stays_is_found_in_time() {
        let mut rng = fastrand::Rng::with_seed(1);
        let knight = Content::Piece(Piece { color: Color::White, role: Role::Knight });
        let (mut missed, mut late) = (0, 0);
        for _ in 0..200 {
            let mut sensor = Sensor::new(Squares::default(), &mut rng, false);
            sensor.change(1000, square(10), knight);
            sensor.change(1100, square(20), knight);
            let mut seen = Vec::new();
            while let Some(due) = sensor.next_due() {
                if due > 1150 && sensor.physical(square(10)) == knight {
                    sensor.change(1150, square(10), Content::Empty);
                    continue;
                }
                seen.extend(sensor.sample());
            }
            missed += usize::from(!seen.iter().any(|(_, at, _)| *at == square(10)));
            late += usize::from(seen.iter().any(|(at, to, _)| *to == square(20) && *at > 1351));
            assert!(seen.iter().any(|(_, to, content)| *to == square(20) && *content == knight));
        }
        assert!(missed > 20 && missed < 150, "{missed} of 200 short stays were missed");
        assert_eq!(late, 0, "a stay of a scan or more is found within 250 ms");
    }
}
