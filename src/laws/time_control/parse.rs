//! Reading the forms in which people and programs write a time control.

use super::{Extra, LONGEST, MINUTES_UP_TO, Period, TimeControl};

/// More seconds than this are no increment unless they are called one.
const LONGEST_BARE_EXTRA: u32 = 180;
/// The most that a clock adds for a move: an hour, in seconds.
const LONGEST_EXTRA: u32 = 3600;

/// PGN's form with the extensions of [`TimeControl`]'s display. In `mixed` reading small numbers
/// are minutes, and what people mean by a slash between small numbers is left to [`human_form`].
pub(super) fn pgn_form(text: &str, mixed: bool) -> Option<TimeControl> {
    let mut periods = Vec::new();
    for field in text.split(':') {
        let (glass, field) = match field.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, field),
        };
        let (moves, rest) = match field.split_once('/') {
            Some((moves, rest)) => (Some(number(moves)?), rest),
            None => (None, field),
        };
        let at = rest.find(['+', 'b', 'd']);
        let (base, mark, extra) = match at {
            Some(at) => (&rest[..at], rest.as_bytes()[at], whole_seconds(&rest[at + 1..])?),
            None => (rest, b' ', 0),
        };
        let (base, explicit) = match base.strip_suffix('s') {
            Some(base) => (number(base)?, true),
            None => (number(base)?, false),
        };
        if base > LONGEST || extra > LONGEST_EXTRA || moves == Some(0) {
            return None;
        }
        // A sand glass has neither moves to make nor anything added.
        if glass && (moves.is_some() || mark != b' ') {
            return None;
        }
        let small = mixed && !explicit && base <= MINUTES_UP_TO;
        if small && moves.is_some() {
            return None;
        }
        let seconds = if small { base * 60 } else { base };
        let extra = match (glass, mark, extra) {
            (true, ..) => Extra::Hourglass,
            (_, _, 0) => Extra::None,
            (_, b'+', s) => Extra::Increment(s),
            (_, b'b', s) => Extra::Bronstein(s),
            (_, _, s) => Extra::Delay(s),
        };
        periods.push(Period { moves, seconds, extra });
    }
    // Only one way of reading: fields after one for the rest of the game are nonsense.
    let (last, earlier) = periods.split_last()?;
    let sound =
        earlier.iter().all(|period| period.moves.is_some()) && (last.seconds > 0 || periods.len() == 1);
    (sound && periods.len() <= 8).then_some(TimeControl { periods, first_increment: true })
}

fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.len() <= 7 && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// `0.05` is nothing a chess clock can add.
fn whole_seconds(text: &str) -> Option<u32> {
    match text.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|b| b.is_ascii_digit()) => number(whole),
        Some(_) => None,
        None => number(text),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Hours,
    Minutes,
    Seconds,
    Moves,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Number(u32, Unit),
    Slash,
    /// `+`, `,`, `;`, `&`, "then", "and".
    Join,
    /// "move" without a number before it: a rate.
    PerMove,
    NoIncrement,
    Bronstein,
    Delay,
    /// "from move" / "from" before a number.
    From,
    /// A word like "game", "end", "rest".
    Rest,
}

fn tokens(text: &str) -> Result<Vec<Token>, &'static str> {
    let text = text
        .to_lowercase()
        .replace("''", "\"")
        .replace(['’', '′', '´', '‘'], "'")
        .replace(['”', '″', '“'], "\"");
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let begin = at;
        if c.is_ascii_digit() {
            while chars.get(at).is_some_and(char::is_ascii_digit) {
                at += 1;
            }
            let digits: String = chars[begin..at].iter().collect();
            let value = number(&digits).ok_or("a number is too large")?;
            tokens.push(Token::Number(value, Unit::None));
            continue;
        }
        at += 1;
        match c {
            '\'' => set_unit(&mut tokens, Unit::Minutes)?,
            '"' => set_unit(&mut tokens, Unit::Seconds)?,
            '/' => tokens.push(Token::Slash),
            '+' | ',' | ';' | '&' | ':' => tokens.push(Token::Join),
            c if c.is_alphabetic() => {
                while chars.get(at).is_some_and(|c| c.is_alphabetic()) {
                    at += 1;
                }
                word(&chars[begin..at].iter().collect::<String>(), &mut tokens)?;
            }
            c if c.is_whitespace() || matches!(c, '.' | '(' | ')' | '-' | '|' | '–') => {}
            _ => return Err("it holds a sign that has no meaning there"),
        }
    }
    Ok(tokens)
}

fn set_unit(tokens: &mut [Token], unit: Unit) -> Result<(), &'static str> {
    match tokens.last_mut() {
        Some(Token::Number(_, old @ Unit::None)) => {
            *old = unit;
            Ok(())
        }
        _ => Err("a unit stands without its number"),
    }
}

fn word(word: &str, tokens: &mut Vec<Token>) -> Result<(), &'static str> {
    let after_number = matches!(tokens.last(), Some(Token::Number(_, Unit::None)));
    let begins = |stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    match word {
        "h" | "hr" | "hrs" | "ч" => return set_unit(tokens, Unit::Hours),
        "m" | "м" if after_number => {
            // "60'/20m": after a time and a slash it is moves.
            let of_time = matches!(
                tokens.as_slice(),
                [.., Token::Number(_, Unit::Hours | Unit::Minutes), Token::Slash, Token::Number(..)]
            );
            return set_unit(tokens, if of_time { Unit::Moves } else { Unit::Minutes });
        }
        "m" | "м" => tokens.push(Token::PerMove),
        "s" | "с" if after_number => return set_unit(tokens, Unit::Seconds),
        "with" | "a" | "an" | "per" | "each" | "for" | "the" | "of" | "all" | "na" | "на" | "за"
        | "каждый" | "each-move" | "in" | "to" | "added" | "g" | "sd" => {}
        "с" | "from" | "starting" | "ab" => tokens.push(Token::From),
        "no" | "without" | "без" => tokens.push(Token::NoIncrement),
        "d" => {
            tokens.push(Token::Join);
            tokens.push(Token::Delay);
        }
        "then" | "and" | "plus" | "и" | "затем" | "потом" => tokens.push(Token::Join),
        _ if begins(&["hour", "час"]) => return set_unit(tokens, Unit::Hours),
        _ if begins(&["min", "мин"]) => return set_unit(tokens, Unit::Minutes),
        _ if begins(&["sec", "сек"]) => return set_unit(tokens, Unit::Seconds),
        _ if begins(&["move", "ход"]) => {
            if after_number {
                return set_unit(tokens, Unit::Moves);
            }
            tokens.push(Token::PerMove);
        }
        _ if begins(&["bronstein", "бронштейн"]) => {
            tokens.push(Token::Join);
            tokens.push(Token::Bronstein);
        }
        _ if begins(&["delay", "задерж"]) => {
            tokens.push(Token::Join);
            tokens.push(Token::Delay);
        }
        _ if begins(&["inc", "доб", "fischer", "фишер"]) => {
            // "no increment" is one thing; "inc30" and "increment 30" begin a rate.
            if !matches!(tokens.last(), Some(Token::NoIncrement)) {
                tokens.push(Token::Join);
                tokens.push(Token::PerMove);
            }
        }
        _ if begins(&["game", "end", "rest", "finish", "parti", "парти", "конц", "до", "остал"]) =>
        {
            tokens.push(Token::Rest);
        }
        _ => return Err("it holds a word that has no meaning there"),
    }
    Ok(())
}

/// One term between joins.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    time: Option<(u32, Unit)>,
    moves: Option<u32>,
    per_move: bool,
    bronstein: bool,
    delay: bool,
    from: Option<u32>,
}

pub(super) fn human_form(text: &str) -> Result<TimeControl, &'static str> {
    let tokens = tokens(text)?;
    let no_increment = tokens.contains(&Token::NoIncrement);
    let mut terms = Vec::new();
    for group in tokens.split(|token| *token == Token::Join) {
        if let Some(term) = term(group)? {
            terms.push(term);
        }
    }
    if terms.len() > 8 {
        return Err("it has too many periods");
    }
    let mut periods: Vec<Period> = Vec::new();
    let mut rate: Option<(Extra, Option<u32>)> = None;
    for (index, term) in terms.iter().enumerate() {
        let Some((value, unit)) = term.time else { continue };
        let in_seconds = |unit| match unit {
            Unit::Hours => value.saturating_mul(3600),
            Unit::Seconds => value,
            Unit::None if value > MINUTES_UP_TO => value,
            _ => value.saturating_mul(60),
        };
        let last = index + 1 == terms.len();
        let explicit_rate = term.per_move || term.bronstein || term.delay;
        // Without units: the second of two is a rate, and so is the last after the rest of the game.
        let bare_rate = unit == Unit::None
            && term.moves.is_none()
            && last
            && periods.last().is_some_and(|period| period.moves.is_none());
        // After a period with its moves so many seconds are the next period.
        let period =
            value > LONGEST_BARE_EXTRA && periods.last().is_some_and(|period| period.moves.is_some());
        let bare_seconds = unit == Unit::Seconds && term.moves.is_none() && !periods.is_empty() && !period;
        if explicit_rate || bare_rate || bare_seconds {
            let s = if unit == Unit::Minutes { value.saturating_mul(60) } else { value };
            let extra = match s {
                _ if rate.is_some() => return Err("it names two increments"),
                s if s > LONGEST_EXTRA => return Err("an increment is longer than an hour"),
                0 => Extra::None,
                s if term.bronstein => Extra::Bronstein(s),
                s if term.delay => Extra::Delay(s),
                s => Extra::Increment(s),
            };
            rate = Some((extra, term.from));
            continue;
        }
        let seconds = in_seconds(unit);
        if seconds == 0 || seconds > LONGEST {
            return Err("a period has no time or too much");
        }
        periods.push(Period { moves: term.moves, seconds, extra: Extra::None });
    }
    if periods.is_empty() {
        if no_increment || rate.is_some() {
            periods.push(Period { moves: None, seconds: 0, extra: Extra::None });
        } else {
            return Err("it holds no time");
        }
    }
    // "90 min + 30 min/40 moves": the moves belong to the first, the minutes come after them.
    if let [first, second] = periods.as_mut_slice()
        && first.moves.is_none()
        && second.moves.is_some()
    {
        std::mem::swap(&mut first.moves, &mut second.moves);
    }
    if periods.iter().rev().skip(1).any(|period| period.moves.is_none()) {
        return Err("a period that is not the last names no moves");
    }
    if let Some((extra, from)) = rate {
        let mut due = 0;
        for period in &mut periods {
            if from.is_none_or(|from| due + 1 >= from) {
                period.extra = extra;
            }
            due += period.moves.unwrap_or(0);
        }
    }
    Ok(TimeControl { periods, first_increment: true })
}

fn term(tokens: &[Token]) -> Result<Option<Term>, &'static str> {
    let mut term = Term::default();
    let mut numbers: Vec<(u32, Unit)> = Vec::new();
    let mut tokens = tokens.iter().copied().peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Number(value, Unit::Moves) => {
                if value == 0 || value > 500 {
                    return Err("a number of moves is impossible");
                }
                term.moves = Some(value);
            }
            Token::Number(value, unit) => numbers.push((value, unit)),
            Token::PerMove => term.per_move = true,
            Token::Bronstein => term.bronstein = true,
            Token::Delay => term.delay = true,
            Token::From => {
                // "from move 61", "с 61-го хода".
                while tokens.next_if(|token| *token == Token::PerMove).is_some() {}
                match tokens.next() {
                    Some(Token::Number(value, _)) => {
                        term.from = Some(value);
                        term.per_move = true;
                    }
                    _ => return Err("\"from\" without a move number"),
                }
            }
            Token::Slash | Token::Join | Token::NoIncrement | Token::Rest => {}
        }
    }
    match numbers.as_slice() {
        [] => return Ok(None),
        [one] => term.time = Some(*one),
        // "90'/40" or "40/90'": the one with a unit is the time.
        [time, (moves, Unit::None)] if time.1 != Unit::None => {
            (term.time, term.moves) = (Some(*time), Some(*moves));
        }
        [(moves, Unit::None), time] if time.1 != Unit::None => {
            (term.time, term.moves) = (Some(*time), Some(*moves));
        }
        // "90/40", "40/90", "40/5400": the larger is the time.
        [(a, Unit::None), (b, Unit::None)] => {
            term.time = Some((*a.max(b), Unit::None));
            term.moves = Some(*a.min(b));
        }
        // "1 hour 30 min".
        [(hours, Unit::Hours), (minutes, Unit::Minutes)] => {
            term.time = Some((hours.saturating_mul(60).saturating_add(*minutes), Unit::Minutes));
        }
        // "1 min 30 sec".
        [(minutes, Unit::Minutes), (seconds, Unit::Seconds)] => {
            term.time = Some((minutes.saturating_mul(60).saturating_add(*seconds), Unit::Seconds));
        }
        _ => return Err("a period holds more numbers than a time and its moves"),
    }
    if term.moves == Some(0)
        || term.time.is_some_and(|(value, _)| value > LONGEST / 60) && term.moves.is_none()
    {
        return Err("a number is impossible");
    }
    Ok(Some(term))
}
