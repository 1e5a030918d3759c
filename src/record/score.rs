//! A game typed in from a score sheet, in English or Russian notation, and a game written out as one.

use serde::Serialize;
use shakmaty::Color;

use super::{
    Game, MoveFault, Ply, PlySource, Position,
    moves::{read_move, read_russian_move},
    pgn::{Lexer, Token},
    russian::{from_english, russian_san},
};

/// The longest text that is read, in bytes.
const TEXT_MAX: usize = 64 * 1024;

/// The letters of a score sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Notation {
    /// K Q R B N, as in PGN.
    #[default]
    English,
    /// Кр Ф Л С К.
    Russian,
}

/// What could be read of a score sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreRead {
    /// The game as far as it could be read; its plies are marked as typed.
    pub game: Game,
    /// Where reading stopped, if it did.
    pub fault: Option<ScoreFault>,
}

/// The first text that names no legal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScoreFault {
    /// How many plies were read before it.
    pub ply: usize,
    /// As it was typed.
    pub text: String,
    /// Why not, in words.
    pub why: String,
    /// Legal moves that look like it: the same target square.
    pub candidates: Vec<String>,
}

/// Reads a score sheet from a position. Move numbers, results, comments and draw offers `(=)` may
/// stand in it. Where one letter is Russian, all are.
#[must_use]
pub fn read_score(start: &Position, text: &str) -> ScoreRead {
    let cut = text.char_indices().map(|(at, _)| at).find(|at| *at > TEXT_MAX).unwrap_or(text.len());
    // A draw offer is no variation.
    let text = text[..cut].replace("(=)", " {(=)} ");
    let russian = text.chars().any(|c| matches!(c, 'К' | 'Ф' | 'Л' | 'С' | 'р'));
    let mut game = Game::new(start.clone());
    let mut depth = 0usize;
    for (_, token) in Lexer::new(text.as_bytes()) {
        let word = match token {
            Token::Open => {
                depth += 1;
                continue;
            }
            Token::Close => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Token::Comment(b"(=)") if !game.plies.is_empty() => {
                game.notes.insert(game.plies.len(), "(=)".to_owned());
                continue;
            }
            Token::Move(word) if depth == 0 => String::from_utf8_lossy(word).into_owned(),
            _ => continue,
        };
        let before = game.position();
        let read =
            if russian { read_russian_move(before, &word) } else { read_move(before, &word).map(|(m, _)| m) };
        let m = match read {
            Ok(m) => m,
            Err(MoveFault::EnPassantMark) => continue,
            Err(fault) => {
                let fault = ScoreFault {
                    ply: game.plies.len(),
                    candidates: candidates(before, &word),
                    text: word,
                    why: fault.to_string(),
                };
                return ScoreRead { game, fault: Some(fault) };
            }
        };
        let ply = Ply::written(before.uci(m), before.san(m), before.play(m), PlySource::Typed);
        game.plies.push(ply.into());
    }
    ScoreRead { game, fault: None }
}

/// What may have been meant: legal moves to the square that is named.
fn candidates(position: &Position, word: &str) -> Vec<String> {
    let ascii: String = word.chars().filter(char::is_ascii).collect();
    let squares: Vec<shakmaty::Square> =
        (0..ascii.len().saturating_sub(1)).filter_map(|at| ascii.get(at..at + 2)?.parse().ok()).collect();
    let Some(target) = squares.last() else { return Vec::new() };
    position
        .legal_moves()
        .into_iter()
        .filter(|m| m.to() == *target)
        .map(|m| position.san(m))
        .take(10)
        .collect()
}

/// The game as a score sheet has it, in one line: numbers, moves, draw offers.
#[must_use]
pub fn score_text(game: &Game, notation: Notation) -> String {
    let mut out = String::new();
    for (index, ply) in game.plies.iter().enumerate() {
        let Some(before) = game.position_before(index) else { break };
        let word = match (notation, before.find_uci(ply.uci).filter(|_| !ply.irregular)) {
            (Notation::English, _) => ply.san.clone(),
            (Notation::Russian, Some(m)) => russian_san(before, m),
            (Notation::Russian, None) => from_english(&ply.san),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The line printed in art. 16.
    const GOLDEN: &str = "1. e4 e5 2. Кf3 Кf6 3. d4 exd4 4. e5 Кe4 5. Фxd4 d5 6. exd6 e.p. Кxd6 7. Сg5 Кc6 \
                          8. Фe3+ Сe7 9. Кbd2 0-0 10. 0-0-0 Лe8 11. Крb1 (=)";

    #[test]
    fn the_golden_line_of_article_16_goes_in_and_comes_out() {
        let read = read_score(&Position::default(), GOLDEN);
        assert_eq!(read.fault, None);
        assert_eq!(read.game.plies[10].uci.to_string(), "e5d6");
        assert!(read.game.plies.iter().all(|ply| ply.source == PlySource::Typed));
        assert_eq!(score_text(&read.game, Notation::Russian), GOLDEN);
        let english = score_text(&read.game, Notation::English);
        assert!(
            english.starts_with("1. e4 e5 2. Nf3 Nf6") && english.ends_with("O-O-O Re8 11. Kb1 (=)"),
            "{english}"
        );
        assert_eq!(read_score(&Position::default(), &english).game.plies, read.game.plies);
    }

    #[test]
    fn short_captures_colons_and_look_alikes_are_read() {
        let read = read_score(
            &Position::default(),
            "1. e2-e4 e7-e5 2. Kf3 Kf6 3. d4 ed 4. e5 Кe4 5. Ф:d4 d7d5 6. e5:d6 К:d6 7. Cg5 Кb8c6 \
             8. Фd4e3+ Сf8e7 9. Кbd2 О-О 10. О-О-О Лe8 11. Kpb1 ничья",
        );
        assert_eq!(score_text(&read.game, Notation::Russian), GOLDEN.trim_end_matches(" (=)"));
    }

    #[test]
    fn reading_stops_at_the_first_word_that_is_no_move_and_offers_what_is() {
        let read = read_score(&Position::default(), "1. e4 e5 2. Bf3 Nc6");
        assert_eq!(read.game.plies.len(), 2);
        let fault = read.fault.unwrap();
        assert_eq!((fault.ply, fault.text.as_str(), fault.why.as_str()), (2, "Bf3", "not legal here"));
        assert_eq!(fault.candidates, ["f3", "Nf3", "Qf3"]);
    }
}
