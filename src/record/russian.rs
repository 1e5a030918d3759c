//! Russian notation of Laws 15 and 16 (Appendix C), out and in, for score sheets and pages. PGN stays English.
//!
//! Out: short form, `x` for captures, no `=` before a promotion, castling with zeros, `+`, `#`, `e.p.`.
//! In: also the older code's `:` and its letters for castling, figurines, and, where asked, Latin
//! look-alikes. The old `х` for mate is not written: it would be read as a capture.

use shakmaty::{Color, Move, Role};

use super::{Game, Position};

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

/// The whole game as a score sheet has it, in one line: numbers, moves, and the notes that are marks,
/// such as `(=)`.
#[must_use]
pub fn russian_score(game: &Game) -> String {
    let mut out = String::new();
    for (index, ply) in game.plies.iter().enumerate() {
        let Some(before) = game.position_before(index) else { break };
        let word = match before.find_uci(ply.uci).filter(|_| !ply.irregular) {
            Some(m) => russian_san(before, m),
            None => from_english(&ply.san),
        };
        if !out.is_empty() {
            out.push(' ');
        }
        match before.turn() {
            Color::White => out.extend([before.move_number().to_string().as_str(), ". "]),
            Color::Black if index == 0 => out.extend([before.move_number().to_string().as_str(), "... "]),
            Color::Black => {}
        }
        out.push_str(&word);
        if game.notes.get(&(index + 1)).is_some_and(|note| note.contains("(=)")) {
            out.push_str(" (=)");
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
    use crate::record::{
        PlySource, PlyState, Timestamp,
        moves::{MoveFault, read_russian_move},
    };

    /// The line printed in art. 16.
    const GOLDEN: &str = "1. e4 e5 2. Кf3 Кf6 3. d4 exd4 4. e5 Кe4 5. Фxd4 d5 6. exd6 e.p. Кxd6 7. Сg5 Кc6 \
                          8. Фe3+ Сe7 9. Кbd2 0-0 10. 0-0-0 Лe8 11. Крb1 (=)";

    fn play(score: &str) -> Game {
        let mut game = Game::default();
        for word in score.split_whitespace() {
            if word.ends_with('.') && word.as_bytes()[0].is_ascii_digit() {
                continue;
            }
            let before = game.position().clone();
            let m = match read_russian_move(&before, word) {
                Ok(m) => m,
                Err(MoveFault::EnPassantMark) => {
                    if word == "(=)" {
                        game.notes.insert(game.plies.len(), "(=)".to_owned());
                    }
                    continue;
                }
                Err(fault) => panic!("{word}: {fault}"),
            };
            game.plies.push(crate::record::Ply {
                uci: before.uci(m),
                san: before.san(m),
                after: before.play(m),
                irregular: false,
                state: PlyState::Confirmed,
                source: PlySource::Typed,
                made_at: Timestamp::default(),
                pressed_at: None,
                clock: shakmaty::ByColor::default(),
                elapsed: None,
            });
        }
        game
    }

    #[test]
    fn the_golden_line_of_article_16_goes_in_and_comes_out() {
        let game = play(GOLDEN);
        assert_eq!(game.plies.len(), 21);
        assert_eq!(game.plies[10].uci.to_string(), "e5d6");
        assert_eq!(russian_score(&game), GOLDEN);
    }

    #[test]
    fn short_captures_colons_and_look_alikes_are_read() {
        let game = play(
            "1. e2-e4 e7-e5 2. Kf3 Kf6 3. d4 ed 4. e5 Кe4 5. Ф:d4 d7d5 6. e5:d6 К:d6 7. Cg5 Кb8c6 \
             8. Фd4e3+ Сf8e7 9. Кbd2 О-О 10. О-О-О Лe8 11. Kpb1",
        );
        assert_eq!(russian_score(&game), GOLDEN.trim_end_matches(" (=)"));
    }

    #[test]
    fn promotions_have_no_sign_of_equality_and_mate_has_a_hash() {
        assert_eq!(from_english("exf8=N+"), "exf8К+");
        assert_eq!(from_english("d8=Q#"), "d8Ф#");
        assert_eq!(from_english("Ke2"), "Крe2");
        assert_eq!(from_english("O-O-O+"), "0-0-0+");
    }
}
