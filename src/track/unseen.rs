//! Men that are taken to have stood on a square where they were never read: whether the scan leaves them
//! the time.
//!
//! Where a man went on within a scan, several squares between often explain the same readings. But each
//! square was looked at on its own moments (`scan`): the man must have come after one look and gone before the
//! next. What the other readings leave of the moments at which he can have come and gone is held against
//! the looks at the square; the smaller the part of it that fits, the less likely the square.

use shakmaty::{Move, Square};

use super::{
    ledger::{LONG_AGO, LONGEST, OFF},
    moves::origin,
    scan::Comb,
    sheet::Ply,
    standing::{Fate, NEVER, NEXT_HAND, QUICKEST, Standing},
    tally::Tally,
};

/// Looks, and what was read, are known to about so much, in ms.
const BLUR: f64 = 5.0;
/// What a natural logarithm of odds weighs, in the costs' unit: a little more than its four, since the windows
/// are wider than the hands use.
const WEIGHT: f64 = 5.0;
/// What it costs that the less usual of two ways of taking is needed.
const EITHER: u32 = 4;
/// The most that it costs.
const MOST: f64 = 40.0;

/// A man that is taken may leave his square so long before the other is taken up, in ms, …
const FIRST: i32 = 200;
/// … or so long before that one is set down …
const SWEEP: i32 = 150;
/// … and one that is taken in passing so long after it.
const BEHIND: i32 = 200;

/// The square on which this move takes a man.
fn taken_on(m: Move) -> Option<Square> {
    match m {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        Move::Normal { capture: Some(_), to, .. } => Some(to),
        _ => None,
    }
}

/// From when to when something can have been, in ms after the look.
#[derive(Clone, Copy)]
struct Window {
    from: i32,
    to: i32,
}

impl Window {
    fn length(self) -> f64 {
        f64::from((self.to - self.from).max(0))
    }

    /// What comes so much before something in this window, at the least and at the most.
    fn earlier(self, least: i32, most: i32) -> Self {
        Self { from: self.from - most, to: self.to - least }
    }

    fn within(self, other: Self) -> f64 {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }.length()
    }
}

/// When each ply's man can have been lifted, and set down.
struct Windows {
    lifted: [Window; LONGEST],
    stood: [Window; LONGEST],
}

impl Windows {
    /// By what was read of all of these plies.
    fn new(comb: Comb, fates: &[Fate]) -> Self {
        let any = Window { from: LONG_AGO, to: 0 };
        let (mut lifted, mut stood) = ([any; LONGEST], [any; LONGEST]);
        let mut from = LONG_AGO;
        for (index, fate) in fates.iter().enumerate() {
            from = (from + NEXT_HAND).max(fate.left_since);
            lifted[index].from = from;
            from = (from + QUICKEST).max(fate.arrived_since);
            stood[index].from = from;
        }
        // What came over the line late was looked at in time.
        let looked = |at: i32, since: i32| {
            if since == LONG_AGO { at } else { at.min(since + comb.period() + OFF) }
        };
        let mut to = 0;
        for (index, fate) in fates.iter().enumerate().rev() {
            to = looked(fate.arrived, fate.arrived_since).min(to);
            stood[index].to = to.max(stood[index].from);
            to = looked(fate.left, fate.left_since).min(to - QUICKEST);
            lifted[index].to = to.max(lifted[index].from);
            to -= NEXT_HAND;
        }
        Self { lifted, stood }
    }
}

impl Tally<'_, '_> {
    /// What it costs that men stood where they were never read.
    pub(super) fn unseen(&self, standing: &Standing, line: &[Ply]) -> u32 {
        let Some(comb) = self.ledger.comb else { return 0 };
        let count = line.len().min(LONGEST);
        let mut windows = None;
        let mut cost = 0;
        for (index, ply) in line[..count].iter().enumerate() {
            let to = ply.m.to();
            let unread = standing.fate(index).arrived == NEVER && !ply.m.is_castle();
            if !unread || self.ledger.eyes.blind().contains(to) {
                continue;
            }
            let ends = |m: Move| origin(m) == to || taken_on(m) == Some(to);
            let Some(next) = (index + 1..count).find(|next| ends(line[*next].m)) else { continue };
            let Windows { lifted, stood } =
                windows.get_or_insert_with(|| Windows::new(comb, &standing.fates()[..count]));
            let fits = |went| self.fits(comb, to, stood[index], went);
            let ends = line[next].m;
            cost += if origin(ends) == to {
                fits(lifted[next])
            } else {
                // The taken man leaves first; or as the other comes down, or is taken off behind it.
                let first = lifted[next].earlier(0, FIRST);
                let last = if ends.is_en_passant() { (-BEHIND, 0) } else { (0, SWEEP) };
                fits(stood[next].earlier(last.0, last.1)).min(fits(first) + EITHER)
            };
        }
        cost
    }

    /// What it costs that a man came to a square in the one window and left it in the other, between two looks.
    fn fits(&self, comb: Comb, square: Square, came: Window, went: Window) -> u32 {
        let period = comb.period();
        let came = Window { from: came.from.max(came.to - 2 * period), ..came };
        let went = Window { to: went.to.min(went.from + 2 * period), ..went };
        let place = self.ledger.eyes.place(square);
        let first = comb.upto(place, self.ledger.now.plus(i64::from(came.from)));
        let Some(first) = first else { return 0 };
        let mut look = self.ledger.ms(first);
        let mut fitting = BLUR * BLUR;
        while look < came.to {
            let between = Window { from: look, to: look + period };
            fitting += came.within(between) * went.within(between);
            look += period;
        }
        let all = came.length().max(BLUR) * went.length().max(BLUR);
        (WEIGHT * (all / fitting).ln()).clamp(0.0, MOST) as u32
    }
}
