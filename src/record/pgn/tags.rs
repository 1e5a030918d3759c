//! What may stand in a PGN tag, and how the wide results of the Laws are said in PGN's four words.

use crate::record::{GameResult, ResultReason};

/// Longest tag value written, in bytes: with its name it stays within PGN's 255 to a line.
const VALUE_MAX: usize = 220;

/// A tag name that every reader takes: ASCII letters only, others dropped; `None` if none is left.
#[must_use]
pub fn clean_tag_name(name: &str) -> Option<String> {
    let letters: String = name.chars().filter(char::is_ascii_alphabetic).take(30).collect();
    (!letters.is_empty()).then_some(letters)
}

/// A tag value that every reader takes: no control characters, no escapes (several readers do not
/// undo them, so `"` becomes `'` and `\` goes), single spaces, at most 220 bytes. Letters of every
/// script stay.
#[must_use]
pub fn clean_tag_value(value: &str) -> String {
    let mut clean = String::with_capacity(value.len());
    for c in value.chars() {
        let c = match c {
            '"' => '\'',
            '\\' | '\u{feff}' => continue,
            c if c.is_control() || c.is_whitespace() => ' ',
            c => c,
        };
        if c == ' ' && (clean.is_empty() || clean.ends_with(' ')) {
            continue;
        }
        if clean.len() + c.len_utf8() > VALUE_MAX {
            break;
        }
        clean.push(c);
    }
    clean.truncate(clean.trim_end().len());
    clean
}

/// The Result tag and the closing token of a result. They are equal wherever PGN has a word. It
/// has none for the rest, so there the tag says it and the token is `*`.
#[must_use]
pub fn result_words(result: Option<GameResult>) -> (&'static str, &'static str) {
    match result {
        None | Some(GameResult::Adjourned) => ("*", "*"),
        Some(GameResult::WhiteWins | GameResult::WhiteForfeit) => ("1-0", "1-0"),
        Some(GameResult::BlackWins | GameResult::BlackForfeit) => ("0-1", "0-1"),
        Some(GameResult::Draw) => ("1/2-1/2", "1/2-1/2"),
        Some(GameResult::BothForfeit | GameResult::BothLose) => ("0-0", "*"),
        Some(GameResult::HalfZero) => ("1/2-0", "*"),
        Some(GameResult::ZeroHalf) => ("0-1/2", "*"),
    }
}

/// A result that PGN has a word for, from its token.
#[must_use]
pub fn result_token(token: &[u8]) -> Option<Option<GameResult>> {
    match token {
        b"1-0" => Some(Some(GameResult::WhiteWins)),
        b"0-1" => Some(Some(GameResult::BlackWins)),
        b"1/2-1/2" => Some(Some(GameResult::Draw)),
        b"*" => Some(None),
        _ => None,
    }
}

/// A result in any of the spellings that tags and score sheets hold: `1-0`, `1:0`, `½-½`, `1/2`, `0.5-0.5`,
/// `+--`, `+:-`, `0-0`, `1/2-0`, with any dash. `Some(None)` is a game without a result: `*`. `None` is
/// no result at all. A lone `+-` or `-+` is an assessment, not a result.
#[must_use]
pub fn result_from_text(text: &[u8]) -> Option<Option<GameResult>> {
    use GameResult as R;
    if text.len() > 24 {
        return None;
    }
    if let Some(result) = result_token(text) {
        return Some(result);
    }
    let text = std::str::from_utf8(text).ok()?;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '–' | '—' | '−' | '‐' | '‑' => plain.push('-'),
            '½' => plain.push_str("1/2"),
            c if c.is_whitespace() => {}
            c => plain.push(c.to_ascii_lowercase()),
        }
    }
    let plain = plain.replace("0.5", "1/2").replace("0,5", "1/2");
    Some(Some(match plain.as_str() {
        "1-0" | "1:0" | "whitewin" | "white" => R::WhiteWins,
        "0-1" | "0:1" | "blackwin" | "black" => R::BlackWins,
        "1/2-1/2" | "1/2:1/2" | "1/2" | "draw" => R::Draw,
        "+--" | "+:-" | "+/-" | "1-0f" | "1f-0" | "whiteforfait" | "whiteforfeit" => R::WhiteForfeit,
        "--+" | "-:+" | "-/+" | "0-1f" | "0-1+" | "blackforfait" | "blackforfeit" => R::BlackForfeit,
        "---" | "-:-" | "-/-" | "notplayed" => R::BothForfeit,
        "1/2-0" | "1/2:0" => R::HalfZero,
        "0-1/2" | "0:1/2" => R::ZeroHalf,
        // `0-0` is castling in move text; in a tag [`result_from_tag`] knows better.
        "adj" | "adjourned" => R::Adjourned,
        _ => return None,
    }))
}

/// The same for a Result tag, where `0-0` is a double loss.
#[must_use]
pub fn result_from_tag(text: &str) -> Option<Option<GameResult>> {
    match text.trim() {
        "0-0" | "0:0" => Some(Some(GameResult::BothLose)),
        "" | "?" | "-" => Some(None),
        text => result_from_text(text.as_bytes()),
    }
}

/// The word for the Termination tag, where there is one. A game nobody played is `forfeit`.
pub(super) fn termination(result: GameResult, reason: ResultReason) -> Option<&'static str> {
    use GameResult as R;
    match (result, reason) {
        (R::WhiteForfeit | R::BlackForfeit | R::BothForfeit, _) | (_, ResultReason::Forfeit) => {
            Some("forfeit")
        }
        (R::Adjourned, _) | (_, ResultReason::Adjournment) => Some("adjourned"),
        (_, ResultReason::FlagFall) => Some("time forfeit"),
        (_, ResultReason::IllegalMoves) => Some("rules infraction"),
        (_, ResultReason::Entered) => None,
        _ => Some("normal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lose_what_readers_choke_on_and_keep_every_script() {
        assert_eq!(clean_tag_value("The \"A\" Open\\ \t\n2026"), "The 'A' Open 2026");
        assert_eq!(clean_tag_value("  Женя Ё. Łukasz 諸葛  "), "Женя Ё. Łukasz 諸葛");
        assert!(clean_tag_value(&"ж".repeat(400)).len() <= VALUE_MAX);
        assert_eq!(clean_tag_name("White_Elo2").as_deref(), Some("WhiteElo"));
        assert_eq!(clean_tag_name("42"), None);
    }
}
