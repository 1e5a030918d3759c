//! Russian notation of Laws 15 and 16 (Appendix C), out and in, for score sheets and pages. PGN stays English.
//!
//! Out: short form, `x` for captures, no `=` before a promotion, castling with zeros, `+`, `#`, `e.p.`.
//! In: also the older code's `:` and its letters for castling, figurines, and, where asked, Latin
//! look-alikes. The old `х` for mate is not written: it would be read as a capture.

use shakmaty::{Move, Role};

use super::Position;

/// The letter of a piece; a pawn has none.
fn letter(role: Role) -> &'static str {
    match role {
        Role::Pawn => "",
        Role::Knight => "К",
        Role::Bishop => "С",
        Role::Rook => "Л",
        Role::Queen => "Ф",
        Role::King => "Кр",
    }
}

/// A legal move in Russian notation.
#[must_use]
pub fn russian_san(position: &Position, m: Move) -> String {
    let english = position.san(m);
    let mut out = from_english(&english);
    if m.is_en_passant() {
        let sign = out.trim_end_matches(['+', '#']).len();
        let marks = out.split_off(sign);
        out.push_str(&marks);
        out.push_str(" e.p.");
    }
    out
}

/// English SAN in Russian letters.
#[must_use]
pub fn from_english(san: &str) -> String {
    if let Some(rest) = san.strip_prefix("O-O-O") {
        return format!("0-0-0{rest}");
    }
    if let Some(rest) = san.strip_prefix("O-O") {
        return format!("0-0{rest}");
    }
    let mut out = String::with_capacity(san.len() + 4);
    for c in san.chars() {
        match Role::from_char(c).filter(|_| c.is_ascii_uppercase()) {
            Some(role) => out.push_str(letter(role)),
            None if c == '=' => {}
            None => out.push(c),
        }
    }
    out
}

/// A move's text with its Russian letters and figurines put into English ones. With `look_alikes` the
/// whole text is Russian, and Latin letters of the same shape are meant as such.
#[must_use]
pub(super) fn to_english(text: &str, look_alikes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let king = matches!(c, 'К' | 'K') && matches!(chars.peek(), Some('р' | 'Р'))
            || look_alikes && matches!(c, 'К' | 'K') && matches!(chars.peek(), Some('p' | 'P'));
        if king {
            chars.next();
            out.push('K');
            continue;
        }
        match c {
            'K' if look_alikes => out.push('N'),
            'C' if look_alikes => out.push('B'),
            'к' if out.is_empty() => out.push('N'),
            'п' if out.is_empty() => {}
            '♔' | '♚' => out.push('K'),
            'Ф' | 'ф' | '♕' | '♛' => out.push('Q'),
            'Л' | 'л' | '♖' | '♜' => out.push('R'),
            'С' | '♗' | '♝' => out.push('B'),
            'К' | '♘' | '♞' => out.push('N'),
            // Letters of the files, in the other script.
            'а' => out.push('a'),
            'с' => out.push('c'),
            'е' => out.push('e'),
            // After the square it is the old mark for mate.
            'х' if chars.peek().is_some() => out.push('x'),
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' | 'х' => {}
            ':' | '×' => out.push('x'),
            c => out.push(c),
        }
    }
    // `ed:` and `Фd4:` put the mark behind.
    if let Some(rest) = out.strip_suffix('x') {
        let at = rest.trim_start_matches(['K', 'Q', 'R', 'B', 'N']).len();
        let at = rest.len() - at;
        return format!("{}x{}", &rest[..at], &rest[at..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotions_have_no_sign_of_equality_and_mate_has_a_hash() {
        assert_eq!(from_english("exf8=N+"), "exf8К+");
        assert_eq!(from_english("d8=Q#"), "d8Ф#");
        assert_eq!(from_english("Ke2"), "Крe2");
        assert_eq!(from_english("O-O-O+"), "0-0-0+");
    }
}
