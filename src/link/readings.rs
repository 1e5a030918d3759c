//! Readings of a board's own log over a line that damages bytes.
//!
//! A log is eight seconds of bytes without a checksum, so on a bad line hardly one arrives whole.
//! But what is wanted of it is its end, and that can be tested: played over from what the board
//! showed before the gap, it must lead to what the board shows now, and on the way nothing may be
//! said that cannot be. On a line without a fault a reading that passes is believed. On a bad one two
//! are needed: what they say alike is believed, whatever it is (a board may note strange things, and
//! damage does not strike twice in one way); where they differ at least one is damaged, and usually
//! only one way of putting them together passes.
//!
//! What moves it means, nobody knows here.

use shakmaty::Board;

use crate::wire::{
    RecoveredEvent, Squares,
    dgt::{self, Tag},
};

/// Two readings that differ in more places than this are not put together.
const MOST_DIFFERENCES: usize = 10;
/// So many equal bytes end a difference.
const ANCHOR: usize = 6;
/// A difference is not longer than this.
const LONGEST: usize = 40;
/// Only so many bytes of a log's end are compared: several games.
const COMPARED: usize = 3000;

/// What was read so far of one board's log.
#[derive(Debug, Default)]
pub(super) struct Readings {
    earlier: Vec<Vec<u8>>,
}

impl Readings {
    /// Takes one more reading, whole or not; `clean`: nothing says that the line damages bytes. `before` is what the board showed when it was last
    /// heard, `now` what it shows at the end of this log. The events since then, if they are to be
    /// believed.
    pub(super) fn take(
        &mut self,
        stream: &[u8],
        clean: bool,
        before: Option<&Squares>,
        now: &Squares,
    ) -> Option<Vec<RecoveredEvent>> {
        let end = &stream[stream.len().saturating_sub(COMPARED)..];
        let alone = if clean { sound(end, before, now).or_else(|| plain(end, before, now)) } else { None };
        let found = alone.or_else(|| {
            self.earlier.iter().rev().find_map(|earlier| {
                let pieces = compare(earlier, end)?;
                together(&pieces, before, now)
            })
        });
        if found.is_none() && !end.is_empty() {
            self.earlier.push(end.to_vec());
        }
        found
    }
}

/// The events of this stream since the board showed `before` (or, when that is not known or too long
/// ago, of the last game in it), if they lead to `now` and are possible.
fn sound(stream: &[u8], before: Option<&Squares>, now: &Squares) -> Option<Vec<RecoveredEvent>> {
    let read = Read::new(stream);
    if let (Some(before), Some(news)) = (before, read.since(before, now))
        && read.clean(news)
        && leads(Some(*before), news, now)
    {
        return Some(news.to_vec());
    }
    let game = dgt::events_of_last_game(&read.events);
    let begins = match game.first()? {
        RecoveredEvent::StartPosition { rotated } => Some(Squares::from_board(&Board::default(), *rotated)),
        RecoveredEvent::StartTag | RecoveredEvent::EmptyBoard => Some(Squares::default()),
        // A log that begins anywhere proves little: only if nothing better is to be had.
        _ if before.is_some() => return None,
        _ => None,
    };
    (read.clean(game) && leads(begins, game, now)).then(|| game.to_vec())
}

/// What a log from a line without a fault says: a board may note things that are not to be expected.
fn plain(stream: &[u8], before: Option<&Squares>, now: &Squares) -> Option<Vec<RecoveredEvent>> {
    let read = Read::new(stream);
    let news = read.since(before, now).unwrap_or_else(|| dgt::events_of_last_game(&read.events));
    (!news.is_empty()).then(|| news.to_vec())
}

/// The events of a stream.
#[derive(Default)]
struct Read {
    events: Vec<RecoveredEvent>,
    /// Of each, whether all bytes up to the next one meant something.
    clean: Vec<bool>,
    /// Of each, where in the stream it stands.
    at: Vec<usize>,
}

impl Read {
    fn new(stream: &[u8]) -> Self {
        let mut read = Self::default();
        let mut tags = dgt::Tags::new(stream);
        loop {
            let at = stream.len() - tags.left();
            let Some(tag) = tags.next() else { return read };
            match (tag.to_recovered(), tag, read.clean.last_mut()) {
                (Some(event), ..) => {
                    read.events.push(event);
                    read.clean.push(true);
                    read.at.push(at);
                }
                (None, Tag::Unknown(_), Some(last)) => *last = false,
                _ => {}
            }
        }
    }

    /// The events since the board showed `before`, if that is known and so far back.
    fn since(&self, before: Option<&Squares>, now: &Squares) -> Option<&[RecoveredEvent]> {
        dgt::events_since(&self.events, before?, now)
    }

    fn clean(&self, news: &[RecoveredEvent]) -> bool {
        self.clean[self.events.len() - news.len()..].iter().all(|clean| *clean)
    }
}

/// The events can have happened in this order, beginning with `squares`, and end with `now`.
fn leads(squares: Option<Squares>, events: &[RecoveredEvent], now: &Squares) -> bool {
    impossible(squares, events, now).is_none()
}

/// Why they cannot.
fn impossible(squares: Option<Squares>, events: &[RecoveredEvent], now: &Squares) -> Option<&'static str> {
    let known = squares.is_some();
    let mut squares = squares.unwrap_or_default();
    let mut men = known.then(|| count(&squares));
    let (mut halted, mut last) = (None, None);
    let mut told = [known; 64];
    for event in events {
        match *event {
            RecoveredEvent::Square { square, content, .. } => {
                // A board notes changes; but a man that flickers overwrites his own last tag.
                if known && squares.get(square) == content && last != Some(square) {
                    return Some("a change that changes nothing");
                }
                squares.set(square, content);
                last = Some(square);
                told[square.index()] = true;
            }
            RecoveredEvent::Halted { left, .. } => {
                // The lever lies on one side or the other.
                if halted.replace(left) == Some(left) {
                    return Some("the lever went the same way twice");
                }
                // Men do not multiply, but for pawns that became something else.
                if let Some(men) = &men
                    && !possible(men, &count(&squares))
                {
                    return Some("men from nowhere");
                }
            }
            // A burst follows, of every piece that stands on the board.
            RecoveredEvent::StartTag | RecoveredEvent::PowerUp => {
                (squares, men, halted) = (Squares::default(), None, None);
                told = [true; 64];
            }
            RecoveredEvent::StartPosition { .. } | RecoveredEvent::EmptyBoard => {}
        }
    }
    let leads = squares.0.iter().zip(&now.0).zip(told).all(|((then, now), told)| !told || then == now);
    (!leads).then_some("the board shows something else")
}

/// How many men of each kind there are, in the order of their letters.
fn count(squares: &Squares) -> [u8; 12] {
    let mut men = [0; 12];
    for piece in squares.0.iter().filter_map(|content| content.piece()) {
        men[piece.role as usize - 1 + piece.color.fold_wb(0, 6)] += 1;
    }
    men
}

/// The second board can have come from the first, so far as numbers go: pawns (first of each
/// colour's six) only get fewer, and others more only for pawns that are gone. One man may be seen
/// twice, where he was and where he is: the lever is noted at once, the squares within a scan.
fn possible(before: &[u8; 12], after: &[u8; 12]) -> bool {
    let mut twice = 0;
    for (before, after) in before.chunks(6).zip(after.chunks(6)) {
        let promoted = before[0].saturating_sub(after[0]);
        twice += after[0].saturating_sub(before[0]);
        let more: u8 = before[1..].iter().zip(&after[1..]).map(|(b, a)| a.saturating_sub(*b)).sum();
        twice += more.saturating_sub(promoted);
    }
    twice <= 1
}

/// What two readings have in common, and where they differ.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// What stands before the first bytes that both have.
    Unchecked(&'a [u8]),
    Same(&'a [u8]),
    Either(&'a [u8], &'a [u8]),
}

/// Lays a later reading beside an earlier one. The later one goes further: that the log was read is
/// itself noted, and play goes on. `None` when they cannot be laid side by side.
fn compare<'a>(earlier: &'a [u8], later: &'a [u8]) -> Option<Vec<Piece<'a>>> {
    let (mut a, mut b) = alignment(earlier, later)?;
    let mut pieces = vec![Piece::Unchecked(&later[..b])];
    let mut differences = 0;
    while a < earlier.len() && b < later.len() {
        let same = earlier[a..].iter().zip(&later[b..]).take_while(|(a, b)| a == b).count();
        if same > 0 {
            pieces.push(Piece::Same(&later[b..b + same]));
            (a, b) = (a + same, b + same);
            continue;
        }
        let Some((skip_a, skip_b)) = next_anchor(&earlier[a..], &later[b..]) else {
            // The earlier one's end mark, or they have nothing more in common.
            if earlier.len() - a > 1 {
                return None;
            }
            break;
        };
        pieces.push(Piece::Either(&earlier[a..a + skip_a], &later[b..b + skip_b]));
        (a, b) = (a + skip_a, b + skip_b);
        differences += 1;
        if differences > MOST_DIFFERENCES {
            return None;
        }
    }
    // The end mark, the note that it was read, and what was played since.
    pieces.push(Piece::Same(&later[b..]));
    Some(pieces)
}

/// Where the first bytes that both have stand in each.
fn alignment(earlier: &[u8], later: &[u8]) -> Option<(usize, usize)> {
    // Erased cells in front look all alike, also where one of them was damaged.
    let written = |byte: &&u8| !matches!(**byte, 0x7f | 0xff | 0);
    let first = earlier.windows(16).position(|window| window.iter().filter(written).count() >= 12)?;
    (first..earlier.len().saturating_sub(16)).step_by(8).take(64).find_map(|a| {
        let window = &earlier[a..a + 16];
        later.windows(16).position(|other| other == window).map(|b| (a, b))
    })
}

/// The least number of bytes to be left out in each until both go on alike.
fn next_anchor(a: &[u8], b: &[u8]) -> Option<(usize, usize)> {
    (1..LONGEST).find_map(|skipped| {
        (0..=skipped).map(|skip_a| (skip_a, skipped - skip_a)).find(|(skip_a, skip_b)| {
            let (a, b) = (a.get(*skip_a..skip_a + ANCHOR), b.get(*skip_b..skip_b + ANCHOR));
            a.is_some() && a == b
        })
    })
}

/// What does not differ at all; or else the one way of putting the pieces together that is sound.
fn together(pieces: &[Piece<'_>], before: Option<&Squares>, now: &Squares) -> Option<Vec<RecoveredEvent>> {
    if let Some(events) = alike(pieces, before, now) {
        return Some(events);
    }
    let differences = pieces.iter().filter(|piece| matches!(piece, Piece::Either(..))).count();
    let mut found: Option<Vec<RecoveredEvent>> = None;
    for choice in 0..1_u32 << differences {
        let mut stream = Vec::new();
        let mut bit = 0;
        for piece in pieces {
            match piece {
                Piece::Unchecked(bytes) | Piece::Same(bytes) => stream.extend_from_slice(bytes),
                Piece::Either(one, other) => {
                    stream.extend_from_slice(if choice >> bit & 1 == 0 { one } else { other });
                    bit += 1;
                }
            }
        }
        let events = sound(&stream, before, now);
        match (&found, events) {
            (_, None) => {}
            (None, events) => found = events,
            (Some(found), Some(events)) if same_squares(found, &events) => {}
            // Two ways: none of them.
            _ => return None,
        }
    }
    found
}

/// The events since the board showed `before`, if both readings tell them alike.
fn alike(pieces: &[Piece<'_>], before: Option<&Squares>, now: &Squares) -> Option<Vec<RecoveredEvent>> {
    let (mut stream, mut from) = (Vec::new(), 0);
    for piece in pieces {
        match piece {
            Piece::Same(bytes) => stream.extend_from_slice(bytes),
            Piece::Unchecked(one) | Piece::Either(one, _) => {
                stream.extend_from_slice(one);
                from = stream.len();
            }
        }
    }
    let read = Read::new(&stream);
    let Some(before) = before else {
        let game = dgt::events_of_last_game(&read.events);
        let first = read.at.get(read.events.len() - game.len()).copied().unwrap_or(stream.len());
        return (first >= from && !game.is_empty()).then(|| game.to_vec());
    };
    let news = read.since(Some(before), now)?;
    let first = read.at.get(read.events.len() - news.len()).copied().unwrap_or(stream.len());
    // Where the log does not reach far back, more than one moment may seem to be the right one.
    let mut squares = *before;
    for event in news {
        if let RecoveredEvent::Square { square, content, .. } = event {
            squares.set(*square, *content);
        }
    }
    (first >= from && squares == *now).then(|| news.to_vec())
}

/// They differ in times at most.
fn same_squares(one: &[RecoveredEvent], other: &[RecoveredEvent]) -> bool {
    let same = |one: &RecoveredEvent, other: &RecoveredEvent| match (one, other) {
        (
            RecoveredEvent::Square { square, content, .. },
            RecoveredEvent::Square { square: also, content: and, .. },
        ) => (square, content) == (also, and),
        (RecoveredEvent::Halted { left, .. }, RecoveredEvent::Halted { left: also, .. }) => left == also,
        _ => one == other,
    };
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use crate::{
        sim::{self, BoardConfig, DeviceSetup, Firmware, HandOptions, Level, famous_games},
        wire::{BoardSquare, Content},
    };

    /// A game played on a simulated board up to a moment: the log, and what it showed then.
    struct Played {
        board: Firmware,
        end: u64,
    }

    impl Played {
        fn new(seed: u64, game: usize) -> Self {
            let games = famous_games();
            let game = &games[game % games.len()];
            let options = HandOptions { reset_after_last: false, ..HandOptions::new(Level::Human, seed) };
            let script = sim::hand::script(std::slice::from_ref(game), &options);
            let setup = DeviceSetup {
                clock: Some(game.control.clone()),
                board: script.board.clone(),
                seed,
                ..DeviceSetup::default()
            };
            let mut board = Firmware::new(BoardConfig { paced: false, setup, ..BoardConfig::default() });
            for (at, action) in script.actions {
                board.act(at, action);
            }
            let end = script.games[0].plies.last().expect("plies").made_ms;
            Self { board, end }
        }

        fn until(&mut self, at: u64) -> Squares {
            self.board.advance(at, &mut Vec::new());
            *self.board.squares()
        }

        fn log(&mut self, at: u64) -> Vec<u8> {
            let mut out = Vec::new();
            self.board.receive(at, &[0x49]);
            self.board.advance(at + 5, &mut out);
            out.pop().expect("the log").1.split_off(3)
        }
    }

    /// A thousandth of the bytes is damaged or lost, as `SimHall` does it.
    fn damage(stream: &[u8], rng: &mut fastrand::Rng, per_mille: u32) -> Vec<u8> {
        let mut bytes = stream.to_vec();
        bytes.retain_mut(|byte| {
            if rng.u32(0..1000) >= per_mille {
                return true;
            }
            if rng.bool() {
                *byte ^= 1 << rng.u32(0..8);
                return true;
            }
            false
        });
        bytes
    }

    /// What happened apart from flickering: a change that the next one on the same square takes back
    /// at once, or that changes nothing, tells nothing.
    fn settled(events: &[RecoveredEvent]) -> Vec<RecoveredEvent> {
        let on = |event: Option<&RecoveredEvent>| match event {
            Some(RecoveredEvent::Square { square, .. }) => Some(*square),
            _ => None,
        };
        let pairs = events.iter().enumerate();
        let last = pairs
            .filter(|(at, event)| on(Some(*event)).is_none() || on(Some(*event)) != on(events.get(at + 1)));
        last.map(|(_, event)| *event).collect()
    }

    /// What was found is the end of what really happened, back to where the board showed `before` or to
    /// its last start position.
    fn is_right(found: &[RecoveredEvent], truth: &[RecoveredEvent]) -> bool {
        let (found, truth) = (settled(found), settled(truth));
        truth.len().checked_sub(found.len()).is_some_and(|from| same_squares(&found, &truth[from..]))
    }

    /// What the board noticed between two moments is found again, exactly, in two to six readings; never
    /// anything else.
    #[test]
    fn a_minute_is_read_from_damaged_logs() {
        let (mut right, mut wrong, mut none, mut readings) = (0, 0, 0, 0);
        for seed in 0..60_u64 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut played = Played::new(seed, seed as usize);
            let from = rng.u64(5_000..played.end - 60_000);
            let before = played.until(from);
            let now = played.until(from + 60_000);
            let truth = Read::new(&played.log(from + 60_000)).events;
            let mut taken = Readings::default();
            let mut found = None;
            for _ in 0..6 {
                let reading = damage(&played.log(from + 60_000), &mut rng, 1);
                readings += 1;
                found = taken.take(&reading, false, Some(&before), &now);
                if found.is_some() {
                    break;
                }
            }
            match found {
                Some(found) if is_right(&found, &truth) => right += 1,
                Some(_) => wrong += 1,
                None => none += 1,
            }
        }
        assert_eq!((right, wrong, none), (60, 0, 0), "{readings} readings");
        assert!(readings < 150, "{readings} readings for 60 gaps");
    }

    /// A damaged cell in the erased part, and a byte lost in what matters: the first reading is not laid
    /// beside the second at the wrong place, so that the loss is seen.
    #[test]
    fn readings_are_laid_side_by_side_where_something_is_written() {
        let (mut played, from) = (Played::new(3, 3), 20_000);
        let before = played.until(from);
        let now = played.until(from + 40_000);
        let log = played.log(from + 40_000);
        let truth = Read::new(&log).events;
        let mut first = log.clone();
        first[log.len() - 2500] = 0x7d;
        let mut readings = Readings::default();
        assert_eq!(readings.take(&first, false, Some(&before), &now), None);
        // The tag of a square in the middle of what was played is lost.
        let tag = (log.len() - 60..log.len()).find(|at| matches!(log[*at], 0x41..=0x4c)).expect("a change");
        let mut second = log.clone();
        second.remove(tag);
        let found = readings.take(&second, false, Some(&before), &now).expect("one way fits");
        assert!(is_right(&found, &truth));
    }

    /// What real hands do passes the tests, mostly: what does not costs a second reading.
    #[test]
    fn whole_logs_are_sound() {
        let mut faults = Vec::new();
        for seed in 0..40_u64 {
            let mut played = Played::new(seed, seed as usize);
            let before = played.until(100);
            let at = played.end + 900;
            let now = played.until(at);
            let log = played.log(at);
            if sound(&log, Some(&before), &now).is_none() {
                let read = Read::new(&log);
                let why = match read.since(Some(&before), &now) {
                    Some(news) => impossible(Some(before), news, &now).unwrap_or("not clean"),
                    None => "does not reach back",
                };
                faults.push((seed, why));
            }
        }
        assert!(faults.len() < 10, "{faults:?}");
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        let start = Squares::from_board(&Board::default(), false);
        let square = |name: Square| BoardSquare::from_chess(name, false);
        let mut now = start;
        let pawn = start.get(square(Square::E2));
        now.set(square(Square::E2), Content::Empty);
        now.set(square(Square::E4), pawn);
        let tag = |square: BoardSquare, content| Tag::Field { square, content, quick: false };
        let written = |tags: &[Tag]| {
            let mut bytes = Vec::new();
            for tag in tags {
                tag.encode(&mut bytes);
            }
            bytes
        };
        let lift = tag(square(Square::E2), Content::Empty);
        let put = tag(square(Square::E4), pawn);
        let believed = |tags: &[Tag]| sound(&written(tags), Some(&start), &now).map(|events| events.len());
        assert_eq!(believed(&[lift, put, Tag::End]), Some(2));
        assert_eq!(believed(&[lift, Tag::End]), None, "the pawn came from nowhere");
        let elsewhere = tag(square(Square::D4), pawn);
        assert_eq!(believed(&[lift, put, elsewhere, Tag::End]), None, "the board does not show it");
        let halted = |left| Tag::Time { left, seconds: 100 };
        assert_eq!(believed(&[lift, put, halted(true), halted(true), Tag::End]), None, "pressed twice");
    }
}
