//! A time control: periods, increments, and how people write them.
//!
//! What a clock should show under it is the clock watch's business.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// What an increment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IncrementMode {
    /// Added with each press (and, as a rule, before the first move).
    #[default]
    Fischer,
    /// Time used is given back after the press, at most the increment.
    Bronstein,
    /// The main time starts to run only after the delay.
    Delay,
}

/// One period of play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Period {
    /// Moves to be completed in this period; `None` in the last one (all the rest).
    pub moves: Option<u32>,
    /// Time added at its beginning, in seconds.
    pub seconds: u32,
    /// Increment for each move, in seconds.
    #[serde(default)]
    pub increment: u32,
}

/// A time control. At least one period; only the last one has no number of moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeControl {
    /// Its periods in order.
    pub periods: Vec<Period>,
    /// What the increment is.
    pub mode: IncrementMode,
    /// The first increment is on the clock before move 1 (as electronic clocks set it).
    pub first_increment: bool,
}

/// A time control that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the time control {0:?}; expected minutes and seconds such as \"90+30\" or \"90/40+30 inc 30\", \
     or the PGN form such as \"40/5400+30:1800+30\""
)]
pub struct TimeControlError(pub String);

impl TimeControl {
    /// A single period for the whole game.
    #[must_use]
    pub fn simple(seconds: u32, increment: u32) -> Self {
        Self::new(vec![Period { moves: None, seconds, increment }])
    }

    /// Fischer increments, the first of them before move 1.
    #[must_use]
    pub fn new(periods: Vec<Period>) -> Self {
        Self { periods, mode: IncrementMode::Fischer, first_increment: true }
    }

    /// What a clock shows before the first move, in seconds.
    #[must_use]
    pub fn start_seconds(&self) -> u32 {
        let first = self.period(0);
        let extra =
            if self.mode == IncrementMode::Fischer && self.first_increment { first.increment } else { 0 };
        first.seconds + extra
    }

    /// The period with this number from 0; the last one if there are fewer.
    #[must_use]
    pub fn period(&self, index: usize) -> Period {
        let last = Period { moves: None, seconds: 0, increment: 0 };
        self.periods.get(index).or(self.periods.last()).copied().unwrap_or(last)
    }

    /// The period in which this many moves have been completed.
    #[must_use]
    pub fn period_after(&self, completed: u32) -> usize {
        (0..self.periods.len())
            .find(|index| self.due_by_end(*index).is_none_or(|due| completed < due))
            .unwrap_or(0)
    }

    /// The number of moves that must be completed by the end of this period, counted from the
    /// beginning of the game; `None` for the last.
    #[must_use]
    pub fn due_by_end(&self, index: usize) -> Option<u32> {
        self.periods.get(..=index)?.iter().map(|period| period.moves).sum()
    }

    /// The increment that a player gets for completing his move with this number (from 1).
    #[must_use]
    pub fn increment_at(&self, number: u32) -> u32 {
        self.period(self.period_after(number.saturating_sub(1))).increment
    }

    /// Any increment at all.
    #[must_use]
    pub fn has_increment(&self) -> bool {
        self.periods.iter().any(|period| period.increment > 0)
    }

    /// All base time and 60 increments, in seconds: what decides the class (Laws 13.1, 14.1).
    #[must_use]
    pub fn class_seconds(&self) -> u32 {
        let base: u32 = self.periods.iter().map(|period| period.seconds).sum();
        let increments: u32 = (1..=60).map(|number| self.increment_at(number)).sum();
        base + increments
    }

    /// The form of PGN's `TimeControl` tag.
    #[must_use]
    pub fn to_pgn(&self) -> String {
        let mut text = String::new();
        for (index, period) in self.periods.iter().enumerate() {
            if index > 0 {
                text.push(':');
            }
            if let Some(moves) = period.moves {
                text.extend([&moves.to_string(), "/"]);
            }
            text.push_str(&period.seconds.to_string());
            if period.increment > 0 {
                text.extend(["+", &period.increment.to_string()]);
            }
        }
        text
    }

    /// Reads the form of PGN's `TimeControl` tag: `5400+30`, `40/7200:1800+30`, `300`.
    ///
    /// # Errors
    /// When it is anything else, `?` and `-` included.
    pub fn from_pgn(text: &str) -> Result<Self, TimeControlError> {
        let error = || TimeControlError(text.to_owned());
        let mut periods = Vec::new();
        for part in text.trim().split(':') {
            let (moves, rest) = match part.split_once('/') {
                Some((moves, rest)) => (Some(number(moves).ok_or_else(error)?), rest),
                None => (None, part),
            };
            let (seconds, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            let seconds = number(seconds).ok_or_else(error)?;
            let increment = number(increment).ok_or_else(error)?;
            periods.push(Period { moves, seconds, increment });
        }
        Self::checked(periods).ok_or_else(error)
    }

    fn checked(periods: Vec<Period>) -> Option<Self> {
        let (last, before) = periods.split_last()?;
        let open_end = before.iter().all(|period| period.moves.is_some());
        let bounded = periods.len() <= 8
            && periods.iter().all(|p| p.seconds <= 86_400 && p.increment <= 3_600 && p.moves != Some(0));
        // A last period with a number of moves repeats in the PGN standard; a real event ends with an open one.
        (open_end && bounded && (last.seconds > 0 || last.increment > 0)).then(|| Self::new(periods))
    }

    /// Minutes as arbiters write them: `90+30`, `15+10`, `120`, `90/40+30 inc 30` (90 minutes for 40
    /// moves, then 30 minutes, 30 seconds a move).
    fn from_minutes(text: &str) -> Option<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let (lower, no_increment) = match lower.strip_suffix("no increment") {
            Some(rest) => (rest.trim().to_owned(), true),
            None => (lower, false),
        };
        let (main, increment) = match lower.split_once("inc") {
            Some((main, increment)) => (main.trim().to_owned(), Some(number(increment)?)),
            None => (lower, None),
        };
        let mut parts: Vec<&str> = main.split('+').map(str::trim).collect();
        let staged = parts.first().is_some_and(|first| first.contains('/'));
        // In a plain control the number after the plus is the increment; in a staged one it is minutes,
        // unless it says seconds.
        let mut each = increment.unwrap_or(0);
        if let Some(seconds) = parts.last().and_then(|last| seconds_word(last)) {
            each = seconds;
            parts.pop();
        } else if !staged && parts.len() == 2 && increment.is_none() {
            each = number(parts[1])?;
            parts.pop();
        }
        if no_increment && each > 0 {
            return None;
        }
        let mut periods = Vec::new();
        for part in parts {
            let (moves, minutes) = match part.split_once('/') {
                // 90/40 and 40/90 are both in use: there are more minutes than moves.
                Some((one, other)) => {
                    let (one, other) = (number(one)?, number(other)?);
                    (Some(one.min(other)), one.max(other))
                }
                None => (None, number(part)?),
            };
            periods.push(Period { moves, seconds: minutes.checked_mul(60)?, increment: each });
        }
        Self::checked(periods)
    }
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

fn seconds_word(text: &str) -> Option<u32> {
    number(text.strip_suffix("sec").or_else(|| text.strip_suffix('s'))?)
}

/// Reads either form. Minutes when the numbers can only be minutes (base up to 200), else PGN's
/// seconds.
impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Self, TimeControlError> {
        let minutes = || Self::from_minutes(text).ok_or_else(|| TimeControlError(text.to_owned()));
        match Self::from_pgn(text) {
            Ok(pgn) if pgn.periods.iter().any(|period| period.seconds > 200) => Ok(pgn),
            Ok(_) => minutes(),
            Err(error) => minutes().map_err(|_| error),
        }
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_pgn())
    }
}

/// A time control as text, or as a table with every detail.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    #[serde(rename_all = "kebab-case")]
    Table {
        periods: Vec<Period>,
        #[serde(default)]
        mode: IncrementMode,
        #[serde(default = "yes", alias = "first_increment")]
        first_increment: bool,
    },
}

fn yes() -> bool {
    true
}

impl Serialize for TimeControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plain = self.mode == IncrementMode::Fischer && self.first_increment;
        let unambiguous = self.periods.iter().any(|period| period.seconds > 200);
        if plain && unambiguous {
            return Form::Text(self.to_pgn()).serialize(serializer);
        }
        Form::Table { periods: self.periods.clone(), mode: self.mode, first_increment: self.first_increment }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimeControl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => text.parse().map_err(D::Error::custom),
            Form::Table { periods, mode, first_increment } => {
                let shown = format!("{periods:?}");
                let control =
                    Self::checked(periods).ok_or_else(|| D::Error::custom(TimeControlError(shown)))?;
                Ok(Self { mode, first_increment, ..control })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TimeControl {
        text.parse().unwrap()
    }

    #[test]
    fn minutes_and_the_pgn_form_are_told_apart() {
        assert_eq!(read("90+30"), TimeControl::simple(5400, 30));
        assert_eq!(read("5400+30"), TimeControl::simple(5400, 30));
        assert_eq!(read("3+2"), TimeControl::simple(180, 2));
        assert_eq!(read("120 no increment"), TimeControl::simple(7200, 0));
        assert_eq!(read("40/5400+30:1800+30").to_pgn(), "40/5400+30:1800+30");
        assert_eq!(read("90/40+30 inc30").to_pgn(), "40/5400+30:1800+30");
        assert_eq!(read("90/40+30+30s").to_pgn(), "40/5400+30:1800+30");
        assert_eq!(read("90/40+30").to_pgn(), "40/5400:1800");
        assert_eq!(read("40/90+20/30+15 inc 5").to_pgn(), "40/5400+5:20/1800+5:900+5");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "-", "?", "no increment", "0", "40/", "90+30+x", "15 min/game", "::", "99999999999"]
        {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn due_moves_and_increments_follow_the_periods() {
        let control = read("40/7200:20/3600:900+30");
        assert_eq!(control.due_by_end(0), Some(40));
        assert_eq!(control.due_by_end(1), Some(60));
        assert_eq!(control.due_by_end(2), None);
        assert_eq!(control.period_after(39), 0);
        assert_eq!(control.period_after(40), 1);
        assert_eq!(control.period_after(60), 2);
        assert_eq!(control.increment_at(60), 0);
        assert_eq!(control.increment_at(61), 30);
        assert_eq!(control.start_seconds(), 7200);
        assert_eq!(read("90+30").start_seconds(), 5430);
    }

    #[test]
    fn it_survives_being_written() {
        for text in ["90+30", "3+2", "40/5400+30:1800+30", "1+0"] {
            let control = TimeControl { first_increment: false, ..read(text) };
            let json = serde_json::to_string(&control).unwrap();
            assert_eq!(serde_json::from_str::<TimeControl>(&json).unwrap(), control);
        }
    }
}
