//! When the board looks at each square: the rhythm of its scan, learnt from the readings themselves.
//!
//! A board samples its squares one after the other, over and over, in 200 to 250 ms (twice that over
//! Bluetooth). So all readings of a square lie on a comb of moments, and the combs of all squares are one,
//! shifted by the square's place in the round. Once enough readings came quickly one after the other to
//! tell it, it is known when a square was looked at and *nothing* new was found: a man that is taken to have
//! stood on a square unseen must have come and gone between two looks, and one that was read came after
//! the look before. Where readings keep to no such rhythm (another make, a host that stalls), there is no
//! comb, and nothing is made of it.

use super::eyes::Seen;
use crate::record::Timestamp;

/// Shortest and longest scan that is looked for, in us.
const PERIODS: std::ops::Range<i64> = 190_000..260_000;
/// Readings that a rhythm is learnt from, at least and at most.
const FEWEST: usize = 24;
const MOST: usize = 72;
/// They came within so long, in ms.
const SPAN: i64 = 25_000;
/// New readings after which the rhythm is looked at again.
const AGAIN: u8 = 8;
/// Readings are on the comb if they come within so much, in us.
const WINDOW: i64 = 12_000;
/// The same, when the rhythm is known and is drawn finer.
const FINE: i64 = 4_000;
/// A reading may be stamped so much before the comb says, in us.
const EARLY: i64 = 3_000;

/// The moments at which squares are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comb {
    /// One scan, in us.
    period: i64,
    /// The newest reading that it was learnt from.
    anchor: Timestamp,
    /// A look at the board's first square, in us after that.
    phase: i64,
}

impl Comb {
    /// One scan, in ms.
    pub(super) fn period(self) -> i32 {
        (self.period / 1_000) as i32
    }

    /// The last look at this square of the board (by its place in the scan) up to then; `None` if that is too far
    /// from the readings that tell the rhythm.
    pub(super) fn upto(self, place: u8, at: Timestamp) -> Option<Timestamp> {
        let after = at.since(self.anchor);
        if !(-SPAN..=SPAN).contains(&after) {
            return None;
        }
        let first = self.phase + self.period * i64::from(place) / 64;
        let passed = after * 1_000 + EARLY - first;
        let look = first + passed.div_euclid(self.period) * self.period;
        Some(self.anchor.plus(look.div_euclid(1_000)))
    }

    /// The same comb, with this reading for its newest.
    fn from(self, anchor: Timestamp) -> Self {
        Self { anchor, phase: self.phase - anchor.since(self.anchor).clamp(-SPAN, SPAN) * 1_000, ..self }
    }

    /// So much after a look at its square the reading came, in us.
    fn residue(self, (at, place): Reading) -> i64 {
        (at + EARLY - self.phase - self.period * i64::from(place) / 64).rem_euclid(self.period) - EARLY
    }
}

/// When a square was read, in us after the newest reading, and its place in the scan.
type Reading = (i64, u8);

/// What is known of a board's scan.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    comb: Option<Comb>,
    /// Readings since it was last looked at.
    new: u8,
}

impl Scan {
    /// The rhythm, as far as it can be relied on at this time.
    pub(super) fn comb(&self, now: Timestamp) -> Option<Comb> {
        self.comb.filter(|comb| now.since(comb.anchor) < SPAN)
    }

    /// A square was read. `trace`: the last readings, the newest last; `place`: of a square in the scan.
    pub(super) fn note<'a>(
        &mut self,
        trace: impl DoubleEndedIterator<Item = &'a Seen>,
        place: impl Fn(&Seen) -> u8,
    ) {
        self.new += 1;
        if self.new < AGAIN {
            return;
        }
        self.new = 0;
        let mut newest = None;
        let mut readings: Vec<Reading> = Vec::with_capacity(MOST);
        for seen in trace.rev().filter(|seen| !seen.dumped) {
            let before = seen.at.since(*newest.get_or_insert(seen.at));
            if !(-SPAN..=0).contains(&before) || readings.len() == MOST {
                break;
            }
            readings.push((before * 1_000, place(seen)));
        }
        let Some(newest) = newest.filter(|_| readings.len() >= FEWEST) else { return };
        let kept = self.comb(newest).map(|comb| comb.from(newest)).filter(|comb| {
            let last = readings.iter().take(FEWEST);
            last.filter(|reading| comb.residue(**reading) < WINDOW).count() * 2 >= FEWEST
        });
        self.comb = kept.or_else(|| search(newest, &readings)).map(|comb| finer(&readings, comb));
    }
}

/// The rhythm of these readings, the newest first, if half of them or more keep to one.
fn search(anchor: Timestamp, readings: &[Reading]) -> Option<Comb> {
    const BIN: i64 = WINDOW / 2;
    // So far the period may be off that the whole span is off by half a window.
    let rounds = (-readings.last()?.0 / PERIODS.start).max(1);
    let step = (BIN / rounds).max(20) as usize;
    let mut best = (0, Comb { period: 0, anchor, phase: 0 });
    let mut bins = [0_u8; (PERIODS.end / BIN) as usize + 1];
    for period in PERIODS.step_by(step) {
        bins.fill(0);
        for (at, place) in readings {
            let residue = (at - period * i64::from(*place) / 64).rem_euclid(period);
            bins[(residue / BIN) as usize] += 1;
        }
        let last = (period / BIN) as usize;
        for bin in 0..=last {
            let next = if bin == last { 0 } else { bin + 1 };
            let count = bins[bin] + bins[next];
            if count > best.0 {
                best = (count, Comb { period, anchor, phase: bin as i64 * BIN });
            }
        }
    }
    (usize::from(best.0) * 2 >= readings.len()).then_some(best.1)
}

/// The comb drawn finer: the period near this one that most readings keep to, and the earliest phase.
fn finer(readings: &[Reading], comb: Comb) -> Comb {
    let span = readings.last().map_or(0, |oldest| -oldest.0);
    let reach = (WINDOW / (span / comb.period).max(1)).max(40);
    // It is turned about its last tooth.
    let tooth = comb.phase - comb.phase.div_euclid(comb.period) * comb.period - comb.period;
    let mut residues: Vec<i64> = Vec::with_capacity(readings.len());
    let mut fit = |period: i64| {
        // Counted from half a period before, so that what is a little early is not a period late.
        let half = Comb { period, phase: tooth - period / 2, ..comb };
        residues.clear();
        residues.extend(readings.iter().map(|reading| half.residue(*reading)));
        residues.sort_unstable();
        let (count, first) = densest(&residues);
        (count, Comb { phase: half.phase + first, ..half })
    };
    let step = (reach / 16).max(1) as usize;
    let (mut most, mut first, mut last) = (0, comb.period, comb.period);
    for period in (comb.period - reach..=comb.period + reach).step_by(step) {
        let (count, _) = fit(period);
        if count > most {
            (most, first) = (count, period);
        }
        if count == most {
            last = period;
        }
    }
    fit(first.midpoint(last)).1
}

/// How many of these, in their order, lie together at the most, and the first of them.
fn densest(residues: &[i64]) -> (usize, i64) {
    let (mut most, mut end) = ((0, 0), 0);
    for (start, first) in residues.iter().enumerate() {
        while residues.get(end).is_some_and(|residue| *residue <= first + FINE) {
            end += 1;
        }
        if end - start > most.0 {
            most = (end - start, *first);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    /// Squares read at these moments by a board that looks at them in `period` us, every third of them held up
    /// on the line.
    fn readings(rng: &mut fastrand::Rng, period: i64, phase: i64) -> Vec<(Seen, Timestamp)> {
        let mut now = 5_000_000;
        let mut all: Vec<(Seen, Timestamp)> = (0..80)
            .map(|index| {
                now += rng.i64(20_000..260_000);
                let square = Square::new(rng.u32(0..64));
                let first = phase + period * i64::from(u32::from(square)) / 64;
                let look = first + (now - first).div_euclid(period) * period + period;
                let late = if index % 3 == 0 { rng.i64(8..80) } else { 6 };
                let at = Timestamp::from_millis(look.div_euclid(1_000) + late);
                let seen = Seen { at, square, was: None, now: None, dumped: false };
                (seen, Timestamp::from_millis(look.div_euclid(1_000) + 6))
            })
            .collect();
        all.sort_by_key(|(seen, _)| seen.at);
        all
    }

    fn learnt(readings: &[(Seen, Timestamp)]) -> Scan {
        let mut scan = Scan::default();
        for count in 1..=readings.len() {
            scan.note(readings[..count].iter().map(|(seen, _)| seen), |seen| u32::from(seen.square) as u8);
        }
        scan
    }

    #[test]
    fn the_look_that_told_a_change_is_known_though_the_line_was_busy() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..50 {
            let period = rng.i64(200_000..250_000);
            let phase = rng.i64(0..period);
            let readings = readings(&mut rng, period, phase);
            let last = readings[readings.len() - 1].0.at;
            let comb = learnt(&readings).comb(last).expect("a rhythm");
            assert!((i64::from(comb.period()) - period / 1_000).abs() <= 1, "{period}: {comb:?}");
            for (seen, look) in readings.iter().rev().take(24) {
                let told = comb.upto(u32::from(seen.square) as u8, seen.at).expect("near");
                assert!(told.since(*look).abs() <= 4, "{} for {}", told.millis(), look.millis());
            }
        }
    }

    #[test]
    fn readings_at_any_time_have_no_rhythm_and_an_old_one_is_not_relied_on() {
        let mut rng = fastrand::Rng::with_seed(8);
        for _ in 0..50 {
            let mut readings = readings(&mut rng, 225_000, 0);
            let last = readings[readings.len() - 1].0.at;
            let scan = learnt(&readings);
            assert!(scan.comb(last).is_some());
            assert_eq!(scan.comb(last.plus(SPAN)), None);
            for (seen, _) in &mut readings {
                seen.at = seen.at.plus(rng.i64(0..225));
            }
            readings.sort_by_key(|(seen, _)| seen.at);
            assert_eq!(learnt(&readings).comb(last), None);
        }
    }

    #[test]
    fn times_that_no_clock_shows_do_no_harm() {
        let readings: Vec<(Seen, Timestamp)> = (0..200)
            .map(|index| {
                let at = Timestamp::from_millis(if index % 2 == 0 { i64::MAX } else { i64::MIN });
                (Seen { at, square: Square::A1, was: None, now: None, dumped: false }, at)
            })
            .collect();
        assert_eq!(learnt(&readings).comb(Timestamp::from_millis(0)), None);
    }
}
