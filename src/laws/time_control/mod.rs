//! Time controls: their periods, where time is added, what each move adds, and the forms people write
//! them in. What a clock should show under one is the clock watch's business.
//!
//! People write minutes, PGN writes seconds, and both write `90+30`-like texts. A number up to 180
//! without a unit is minutes, as the broadcast sites read it; [`TimeControl::from_pgn`] reads seconds
//! always, for files of programs that are known to write the standard's form.

mod parse;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use parse::{human_form, pgn_form};

/// What a player gets for each move besides the time of the period, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Extra {
    /// Nothing.
    #[default]
    None,
    /// Fischer: added with each move.
    Increment(u32),
    /// Bronstein: what the move took is given back, at most this.
    Bronstein(u32),
    /// The clock waits so long before it runs.
    Delay(u32),
    /// Sand glass: the opponent gets what the player uses.
    Hourglass,
}

impl Extra {
    /// Seconds a move, whatever the kind.
    #[must_use]
    pub fn seconds(self) -> u32 {
        match self {
            Self::Increment(s) | Self::Bronstein(s) | Self::Delay(s) => s,
            Self::None | Self::Hourglass => 0,
        }
    }
}

/// One period of play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    /// Moves to be completed in it; `None` for the rest of the game.
    pub moves: Option<u32>,
    /// Its time in seconds; 0 when it is not known.
    pub seconds: u32,
    /// What each move adds.
    pub extra: Extra,
}

/// A time control: one period or more, the last usually for the rest of the game.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeControl {
    periods: Vec<Period>,
    /// The first increment is on the clock before move 1, as electronic clocks set it.
    first_increment: bool,
}

/// A text that is no time control.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the time control {text:?}: {why}; write it like 90'/40+30'+30\" (minutes, moves, minutes, \
     seconds a move), 90+30 or 40/5400+30:1800+30"
)]
pub struct TimeControlError {
    /// As it came.
    pub text: String,
    /// What is wrong.
    pub why: &'static str,
}

/// Numbers up to this without a unit are minutes.
const MINUTES_UP_TO: u32 = 180;
/// No period is longer than a week.
const LONGEST: u32 = 7 * 24 * 3600;
/// Written behind a time control whose first increment comes only with the first press.
const NO_FIRST: &str = "no first increment";

impl TimeControl {
    /// From its periods; at least one.
    #[must_use]
    pub fn new(periods: Vec<Period>) -> Option<Self> {
        (!periods.is_empty()).then_some(Self { periods, first_increment: true })
    }

    /// One period for the whole game with a Fischer increment, in seconds.
    #[must_use]
    pub fn fischer(seconds: u32, increment: u32) -> Self {
        let extra = if increment == 0 { Extra::None } else { Extra::Increment(increment) };
        Self { periods: vec![Period { moves: None, seconds, extra }], first_increment: true }
    }

    /// Reads the PGN form strictly: every number is seconds (`180+2` is three minutes).
    ///
    /// # Errors
    /// When the text is not of that form; `?` and `-` are not.
    pub fn from_pgn(text: &str) -> Result<Self, TimeControlError> {
        pgn_form(text.trim(), false).ok_or_else(|| fault(text, "not of PGN's form"))
    }

    /// The periods in order; never empty.
    #[must_use]
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// The same control, where the first increment comes only with the first press.
    #[must_use]
    pub fn without_first_increment(self) -> Self {
        Self { first_increment: false, ..self }
    }

    /// The time that a game begins with is known: "no increment" alone names none.
    #[must_use]
    pub fn has_base(&self) -> bool {
        self.period_at(0).seconds > 0
    }

    /// What the clock shows before the first move, in seconds. A clock set with an increment adds
    /// the first one before the game (FIDE's common settings do, some clocks do not).
    #[must_use]
    pub fn start_seconds(&self) -> u32 {
        let first = self.period_at(0);
        match first.extra {
            Extra::Increment(seconds) if self.first_increment => first.seconds + seconds,
            _ => first.seconds,
        }
    }

    /// The period with this number from 0; the last one if there are fewer.
    #[must_use]
    pub fn period_at(&self, index: usize) -> Period {
        let none = Period { moves: None, seconds: 0, extra: Extra::None };
        self.periods.get(index).or(self.periods.last()).copied().unwrap_or(none)
    }

    /// The period a player is in who has completed so many moves, from 0.
    #[must_use]
    pub fn period_index(&self, completed: u32) -> usize {
        let mut due = 0u32;
        for (index, period) in self.periods.iter().enumerate() {
            match period.moves {
                Some(moves) => due = due.saturating_add(moves),
                None => return index,
            }
            if completed < due {
                return index;
            }
        }
        // After the last period with a number of moves it repeats (PGN leaves this open).
        self.periods.len() - 1
    }

    /// The period a player is in who has completed so many moves.
    #[must_use]
    pub fn period(&self, completed: u32) -> Period {
        self.periods[self.period_index(completed)]
    }

    /// Moves that must be completed by the end of this period, counted from the start of the
    /// game; `None` when the period is for the rest of the game, or there are fewer.
    #[must_use]
    pub fn moves_due(&self, period: usize) -> Option<u32> {
        self.periods.get(..=period)?.iter().map(|period| period.moves).sum()
    }

    /// Seconds the next period brings when this many moves are completed; 0 elsewhere.
    #[must_use]
    pub fn period_bonus(&self, completed: u32) -> u32 {
        let here = self.period_index(completed);
        match completed.checked_sub(1).map(|before| self.period_index(before)) {
            Some(before) if before != here => self.periods[here].seconds,
            _ => 0,
        }
    }

    /// The increment (or delay) that applies to the move after so many completed ones.
    #[must_use]
    pub fn extra(&self, completed: u32) -> Extra {
        self.period(completed).extra
    }

    /// Seconds that completing the move with this number (from 1) adds, or saves.
    #[must_use]
    pub fn increment_at(&self, number: u32) -> u32 {
        self.extra(number.saturating_sub(1)).seconds()
    }

    /// Any increment or delay at all.
    #[must_use]
    pub fn has_increment(&self) -> bool {
        self.periods.iter().any(|period| period.extra.seconds() > 0)
    }

    /// Time for 60 moves in seconds, by which the Laws divide the classes.
    #[must_use]
    pub fn sixty_moves(&self) -> u64 {
        let base: u64 = self.periods.iter().map(|period| u64::from(period.seconds)).sum();
        base + (0..60).map(|completed| u64::from(self.extra(completed).seconds())).sum::<u64>()
    }

    /// The standard's form of the PGN tag, in seconds: `40/5400+30:1800+30`. It has no word for a
    /// delay, which is left out.
    #[must_use]
    pub fn to_pgn(&self) -> String {
        let field = |period: &Period| {
            let moves = period.moves.map(|moves| format!("{moves}/")).unwrap_or_default();
            match period.extra {
                Extra::Hourglass => format!("*{}", period.seconds),
                Extra::Increment(s) => format!("{moves}{}+{s}", period.seconds),
                _ => format!("{moves}{}", period.seconds),
            }
        };
        self.periods.iter().map(field).collect::<Vec<_>>().join(":")
    }

    /// The only form that Lichess and chess.com understand: `5400+30`, the first period and its
    /// increment.
    #[must_use]
    pub fn to_base_increment(&self) -> String {
        let first = self.periods[0];
        format!("{}+{}", first.seconds, first.extra.seconds())
    }
}

fn fault(text: &str, why: &'static str) -> TimeControlError {
    TimeControlError { text: text.chars().take(80).collect(), why }
}

/// As people write it and [`TimeControl::from_str`] reads it back: `90'/40+30'+30"`. Where that has
/// no words for it, fields with `s`: `40/7200s:20/3600s:900s+30`.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_periods(f)?;
        if self.first_increment { Ok(()) } else { write!(f, " {NO_FIRST}") }
    }
}

impl TimeControl {
    fn write_periods(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extra = self.periods[0].extra;
        let plain = self.periods.iter().all(|period| {
            period.extra == extra && period.seconds >= 60 && period.seconds.is_multiple_of(60)
        }) && matches!(extra, Extra::None | Extra::Increment(_))
            // A number of moves in the last period reads as the one before it.
            && self.periods.iter().rev().skip(1).all(|period| period.moves.is_some())
            && self.periods.last().is_some_and(|period| period.moves.is_none());
        if plain {
            for (index, period) in self.periods.iter().enumerate() {
                let plus = if index == 0 { "" } else { "+" };
                write!(f, "{plus}{}'", period.seconds / 60)?;
                if let Some(moves) = period.moves {
                    write!(f, "/{moves}")?;
                }
            }
            return match extra {
                Extra::Increment(s) => write!(f, "+{s}\""),
                _ => Ok(()),
            };
        }
        for (index, period) in self.periods.iter().enumerate() {
            if index > 0 {
                f.write_str(":")?;
            }
            if let Some(moves) = period.moves {
                write!(f, "{moves}/")?;
            }
            let seconds = period.seconds;
            match period.extra {
                Extra::None => write!(f, "{seconds}s")?,
                Extra::Increment(s) => write!(f, "{seconds}s+{s}")?,
                Extra::Bronstein(s) => write!(f, "{seconds}sb{s}")?,
                Extra::Delay(s) => write!(f, "{seconds}sd{s}")?,
                Extra::Hourglass => write!(f, "*{seconds}s")?,
            }
        }
        Ok(())
    }
}

impl From<TimeControl> for String {
    fn from(tc: TimeControl) -> Self {
        tc.to_string()
    }
}

impl TryFrom<String> for TimeControl {
    type Error = TimeControlError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for TimeControl {
    type Err = TimeControlError;

    /// Reads what people and programs write: PGN's form, `90'/40+30'+30"`, `90/40+30+30`,
    /// `90 min + 30 sec/move`, `15 мин + 10 сек`, `no increment`, `G/90 d5`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > 200 {
            return Err(fault(text, "too long"));
        }
        let trimmed = text.trim();
        if matches!(trimmed, "" | "?" | "-") {
            return Err(fault(text, "it says that there is none or that it is unknown"));
        }
        let lower = trimmed.to_lowercase();
        if let Some(rest) = lower.strip_suffix(NO_FIRST) {
            return rest.parse::<Self>().map(Self::without_first_increment);
        }
        if let Some(tc) = pgn_form(trimmed, true) {
            return Ok(tc);
        }
        human_form(trimmed).map_err(|why| fault(text, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, pgn: &str) {
        let tc: TimeControl = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(tc.to_pgn(), pgn, "{text}");
        let again: TimeControl = tc.to_string().parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, tc, "{text} is shown as {tc}");
    }

    #[test]
    fn reads_what_people_and_programs_write() {
        reads("40/5400+30:1800+30", "40/5400+30:1800+30");
        reads("5400+30", "5400+30");
        reads("90+30", "5400+30");
        reads("3+2", "180+2");
        reads("10", "600");
        reads("300", "300");
        reads("*180", "*10800");
        reads("40/7200:20/3600:900+30", "40/7200:20/3600:900+30");
        reads("90'/40+30'+30\"", "40/5400+30:1800+30");
        reads("100'/40 + 50'/20 + 15' + 30\"", "40/6000+30:20/3000+30:900+30");
        reads("90/40+30", "40/5400:1800");
        reads("90/40+30+30", "40/5400+30:1800+30");
        reads("90/40+30 inc30", "40/5400+30:1800+30");
        reads("120 no increment", "7200");
        reads("15 min/game + 10 sec/move", "900+10");
        reads("15 min. + 10 s. per move", "900+10");
        reads("90 min + 30 sec / move", "5400+30");
        reads("90min + 30min/40 moves + 30s/move", "40/5400+30:1800+30");
        reads("120'/60 +, 60'/20m + 15'/end & 30\"/m from move 61", "60/7200:20/3600+30:900+30");
        reads("90 минут на 40 ходов + 30 минут + 30 секунд на ход", "40/5400+30:1800+30");
        reads("2 moves in 3 s, then +1800 s", "2/3:1800");
        reads("15 мин + 10 сек", "900+10");
        reads("1 hour + 30 sec", "3600+30");
        reads("G/90 d5", "5400");
        reads("900sb5", "900");
        reads("45s+2", "45+2");
        reads("5'", "300");
        reads("10+0.05", "600");
    }

    #[test]
    fn pgn_of_programs_is_in_seconds() {
        assert_eq!(TimeControl::from_pgn("180+2").unwrap(), TimeControl::fischer(180, 2));
        assert!(TimeControl::from_pgn("90'").is_err());
    }

    #[test]
    fn what_is_no_time_control_is_refused_with_a_reason() {
        for text in ["", "?", "-", "fast", "+", "'", "0+0+0+0", "1/2/3/4", "90'+x", "99999999999"] {
            let error = text.parse::<TimeControl>().unwrap_err();
            assert!(error.to_string().contains("90'/40+30'+30"), "{error}");
        }
    }

    #[test]
    fn the_class_is_decided_by_sixty_moves() {
        let sixty = |text: &str| text.parse::<TimeControl>().unwrap().sixty_moves();
        assert_eq!(sixty("30+30"), 3600);
        assert_eq!(sixty("15+10"), 1500);
        assert_eq!(sixty("10+0"), 600);
        assert_eq!(sixty("90'/40+30'"), 7200);
        assert!(!"no increment".parse::<TimeControl>().unwrap().has_base());
    }

    #[test]
    fn the_first_increment_is_there_before_move_one_unless_it_says_otherwise() {
        let tc: TimeControl = "90+30".parse().unwrap();
        assert_eq!(tc.start_seconds(), 5430);
        let late: TimeControl = "90+30 no first increment".parse().unwrap();
        assert_eq!((late.start_seconds(), late.to_string().as_str()), (5400, "90'+30\" no first increment"));
        assert_eq!(
            serde_json::from_str::<TimeControl>(&serde_json::to_string(&late).unwrap()).unwrap(),
            late
        );
        assert_eq!("G/90 d5".parse::<TimeControl>().unwrap().start_seconds(), 5400);
    }

    #[test]
    fn periods_follow_the_moves_completed() {
        let tc: TimeControl = "100'/40+50'/20+15'+30\"".parse().unwrap();
        assert_eq!([0, 39, 40, 59, 60, 200].map(|n| tc.period_index(n)), [0, 0, 1, 1, 2, 2]);
        assert_eq!([0, 1, 2].map(|n| tc.moves_due(n)), [Some(40), Some(60), None]);
        assert_eq!([1, 60, 61].map(|n| tc.increment_at(n)), [30; 3]);
        assert_eq!([39, 40, 41, 60].map(|n| tc.period_bonus(n)), [0, 3000, 0, 900]);
        assert_eq!(tc.extra(10), Extra::Increment(30));
        assert_eq!(tc.to_base_increment(), "6000+30");
    }

    #[test]
    fn what_no_clock_can_be_set_to_is_refused() {
        for text in
            ["m7060", "90' + 61' per move", "9999999h/40", "9999999'/40", "90+3601", "*1/5800+30", "*600+5"]
        {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
        assert_eq!("90' + 60' per move".parse::<TimeControl>().unwrap().extra(1), Extra::Increment(3600));
    }

    #[test]
    fn whatever_is_read_is_written_so_that_it_reads_the_same() {
        let pieces: Vec<&str> =
            "0 1 2 20 40 90 180 181 604800 604801 3600 5.0 ' \" / + : * s b d h m , . ( - 'inc' \
            min sec moves move per from no increment first then game end bronstein delay hour ход мин"
                .split(' ')
                .collect();
        let mut dice = fastrand::Rng::with_seed(1);
        let mut read = 0;
        for _ in 0..200_000 {
            let text: String = (0..dice.usize(1..9))
                .flat_map(|_| [pieces[dice.usize(..pieces.len())], ["", " "][dice.usize(..2)]])
                .collect();
            let Ok(control) = text.parse::<TimeControl>() else { continue };
            assert_eq!(control.to_string().parse(), Ok(control.clone()), "{text:?} is shown as {control}");
            read += 1;
        }
        assert!(read > 2_000, "only {read} of the texts were time controls");
    }

    #[test]
    fn kept_as_the_text_people_know() {
        let tc: TimeControl = "40/5400+30:1800+30".parse().unwrap();
        assert_eq!(serde_json::to_string(&tc).unwrap(), r#""90'/40+30'+30\"""#);
        assert_eq!(serde_json::from_str::<TimeControl>(r#""3+2""#).unwrap(), TimeControl::fischer(180, 2));
    }
}
