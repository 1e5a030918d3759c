//! Reads a move as people and programs write it: strict notation first, then the loose forms that
//! stand in real files and on score sheets. Loose, but never guessing: a text that fits no legal move
//! or more than one is refused.

use shakmaty::{File, Move, Rank, Role, Square, san::San, uci::UciMove};

use super::{Position, russian};

/// Why a text names no move here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveFault {
    /// It is a move, but not a legal one here.
    #[error("not legal here")]
    Illegal,
    /// More than one piece can do it.
    #[error("more than one piece can do it")]
    Ambiguous,
    /// A null move (`--`, `Z0`), which chess does not have.
    #[error("a null move")]
    Null,
    /// No move at all.
    #[error("no move at all")]
    Unreadable,
    /// `e.p.` by itself, which belongs to the move before it.
    #[error("the mark of the move before it")]
    EnPassantMark,
}

/// The legal move that a text names, and whether it was written in another way than PGN's.
///
/// Takes SAN, long notation (`e2-e4`, `Ng1xf3`), UCI, castling with zeros, captures without their mark,
/// figurines and Russian letters. `d4` never means a capture.
///
/// # Errors
/// When it names none, or more than one.
pub fn read_move(position: &Position, text: &str) -> Result<(Move, bool), MoveFault> {
    let core = text.trim_end_matches(['+', '#']);
    if let Ok(san) = San::from_ascii(core.as_bytes())
        && !matches!(san, San::Put { .. } | San::Null)
    {
        if let Some(m) = position.find_san(san) {
            // `0-0` is read, and `N1f3` where `Nf3` would do is as good.
            return Ok((m, core.starts_with(['0', 'o'])));
        }
        if let San::Castle(_) = san {
            return Err(MoveFault::Illegal);
        }
    }
    loose_move(position, text, false)
}

/// The legal move that a Russian score sheet names: `Кf3`, `Фd4:`, `ed`, `0-0`. Latin look-alikes are taken
/// for the Russian letters (`K` is the knight, `C` the bishop).
///
/// # Errors
/// When it names none, or more than one.
pub fn read_russian_move(position: &Position, text: &str) -> Result<Move, MoveFault> {
    loose_move(position, text, true).map(|(m, _)| m)
}

fn loose_move(position: &Position, text: &str, russian: bool) -> Result<(Move, bool), MoveFault> {
    let text = text.trim();
    if text.len() > 40 {
        return Err(MoveFault::Unreadable);
    }
    match text.to_ascii_lowercase().as_str() {
        "--" | "z0" | "@@@@" | "null" | "pass" | "0000" => return Err(MoveFault::Null),
        "e.p." | "ep" | "e.p" | "(=)" | "=" => return Err(MoveFault::EnPassantMark),
        _ => {}
    }
    let english = russian::to_english(text, russian);
    let mut core = english.trim_end_matches(['+', '#', '!', '?', '.', '=', ' ']);
    for mark in ["(=)", "e.p", "ep", "mate", "dbl", "ch", "х"] {
        core = core.strip_suffix(mark).unwrap_or(core).trim_end_matches(['+', '#', ' ', '.']);
    }
    // Castling in every spelling: zeros, letters of both scripts, any dash.
    let plain: String = core
        .chars()
        .filter_map(|c| match c {
            '0' | 'o' | 'O' | 'о' | 'О' => Some('O'),
            '-' | '–' | '—' | '−' => None,
            c => Some(c),
        })
        .collect();
    if matches!(plain.as_str(), "OO" | "OOO") {
        let san = San::Castle(shakmaty::CastlingSide::from_king_side(plain.len() == 2));
        return position.find_san(san).map(|m| (m, true)).ok_or(MoveFault::Illegal);
    }
    if let Ok(uci @ UciMove::Normal { .. }) = UciMove::from_ascii(core.as_bytes())
        && let Some(m) = position.find_uci(uci)
    {
        return Ok((m, true));
    }
    if let Some(shape) = Shape::read(core) {
        return shape.find(position).map(|m| (m, true));
    }
    // `nf3`, `rxd1`: a small letter for a piece, where no file can be meant.
    let mut chars = core.chars();
    match chars.next() {
        Some(first @ ('n' | 'r' | 'q' | 'k')) => {
            let upper = format!("{}{}", first.to_ascii_uppercase(), chars.as_str());
            let shape = Shape::read(&upper).ok_or(MoveFault::Unreadable)?;
            shape.find(position).map(|m| (m, true))
        }
        _ => Err(MoveFault::Unreadable),
    }
}

/// What a move's text says, letter by letter.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    role: Option<Role>,
    file: Option<File>,
    rank: Option<Rank>,
    capture: bool,
    to_file: Option<File>,
    /// Missing in the old pawn captures such as `de`.
    to_rank: Option<Rank>,
    promotion: Option<Role>,
}

impl Shape {
    fn read(text: &str) -> Option<Self> {
        let mut shape = Self::default();
        let mut chars = text.chars().peekable();
        if let Some(role) = chars.peek().filter(|c| c.is_ascii_uppercase()).and_then(|c| Role::from_char(*c))
        {
            shape.role = Some(role);
            chars.next();
        }
        // Squares and half squares in order.
        let mut parts: Vec<(Option<File>, Option<Rank>)> = Vec::new();
        while let Some(c) = chars.next() {
            match c {
                'a'..='h' => parts.push((File::from_char(c), None)),
                '1'..='8' => match parts.last_mut() {
                    Some((Some(_), rank @ None)) => *rank = Rank::from_char(c),
                    _ => parts.push((None, Rank::from_char(c))),
                },
                'x' | ':' | '×' => shape.capture = true,
                '-' | '–' | '—' | '−' if !parts.is_empty() => {}
                '=' | '(' | '/' | 'Q' | 'R' | 'B' | 'N' | 'K' | 'q' | 'r' | 'n' if !parts.is_empty() => {
                    let letter = if c.is_ascii_alphabetic() { c } else { chars.next()? };
                    shape.promotion = Some(Role::from_char(letter)?);
                    chars.next_if_eq(&')');
                    if chars.next().is_some() {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let (to_file, to_rank) = parts.pop()?;
        (shape.to_file, shape.to_rank) = (to_file, to_rank);
        match parts.as_slice() {
            [] => {}
            [(file, rank)] => (shape.file, shape.rank) = (*file, *rank),
            [(Some(file), None), (None, Some(rank))] => (shape.file, shape.rank) = (Some(*file), Some(*rank)),
            _ => return None,
        }
        match (shape.to_file, shape.to_rank) {
            (Some(_), Some(_)) => Some(shape),
            // "de": a pawn's capture by files alone.
            (Some(to), None) if shape.role.is_none() && shape.rank.is_none() => {
                shape.file.filter(|from| from.distance(to) == 1)?;
                shape.capture = true;
                Some(shape)
            }
            _ => None,
        }
    }

    fn find(self, position: &Position) -> Result<Move, MoveFault> {
        // Without a letter it is a pawn, unless the whole square it comes from is named.
        let from_square = self.file.zip(self.rank).map(|(file, rank)| Square::from_coords(file, rank));
        let role = match (self.role, from_square) {
            (Some(role), _) => role,
            (None, Some(square)) => position.board().role_at(square).ok_or(MoveFault::Illegal)?,
            (None, None) => Role::Pawn,
        };
        let mut fitting = position.legal_moves().into_iter().filter(|m| {
            let Some(from) = m.from() else { return false };
            let to = m.to();
            m.role() == role
                && !m.is_castle()
                && self.to_file.is_none_or(|file| to.file() == file)
                && self.to_rank.is_none_or(|rank| to.rank() == rank)
                && self.file.is_none_or(|file| from.file() == file)
                && self.rank.is_none_or(|rank| from.rank() == rank)
                && m.promotion() == self.promotion
                // A mark says capture; a pawn's capture names its file; else the mark may be missing.
                && (m.is_capture() || !self.capture)
                && (!m.is_capture() || role != Role::Pawn || self.file.is_some())
        });
        let found = fitting.next().ok_or(MoveFault::Illegal)?;
        if fitting.next().is_some() {
            return Err(MoveFault::Ambiguous);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;

    fn in_position(fen: &str, text: &str) -> Result<String, MoveFault> {
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        read_move(&position, text).map(|(m, _)| position.san(m))
    }

    #[test]
    fn a_pawn_move_is_never_a_capture_in_disguise() {
        let fen = "rnbqkbnr/pp2pppp/8/2p5/3p4/2P5/PP3PPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(in_position(fen, "d4"), Err(MoveFault::Illegal));
        assert_eq!(in_position(fen, "cd4").as_deref(), Ok("cxd4"));
        assert_eq!(in_position(fen, "cd").as_deref(), Ok("cxd4"));
        assert_eq!(in_position(fen, "c3xd4").as_deref(), Ok("cxd4"));
        assert_eq!(in_position(fen, "cxd4").as_deref(), Ok("cxd4"));
    }

    #[test]
    fn loose_forms_are_read_and_nonsense_is_not() {
        let fen = "r3k2r/ppp2ppp/2n2n2/3q4/3P4/2N2N2/PPP2PPP/R2QK2R w KQkq - 0 1";
        for (text, san) in [
            ("0-0", "O-O"),
            ("o-o", "O-O"),
            ("O–O", "O-O"),
            ("Nc3xd5", "Nxd5"),
            ("c3d5", "Nxd5"),
            ("Nd5", "Nxd5"),
            ("nxd5", "Nxd5"),
            ("Кd5", "Nxd5"),
            ("♘xd5", "Nxd5"),
            ("e1-d2", "Kd2"),
            ("Крd2", "Kd2"),
            ("e1g1", "O-O"),
            ("a2-a4", "a4"),
        ] {
            assert_eq!(in_position(fen, text).as_deref(), Ok(san), "{text}");
        }
        assert_eq!(in_position(fen, "--"), Err(MoveFault::Null));
        assert_eq!(in_position(fen, "O-O-O"), Err(MoveFault::Illegal));
        for text in ["", "N", "x", "hello", "Nf9", "N3", "e2e4e5", "😀", "=Q", "1"] {
            assert!(in_position(fen, text).is_err(), "{text}");
        }
        let two = "4k3/8/8/8/8/8/8/R3K2R w - - 0 1";
        assert_eq!(in_position(two, "Rd1").as_deref(), Ok("Rd1"));
        assert_eq!(in_position("4k3/8/8/8/8/4K3/8/R6R w - - 0 1", "Rd1"), Err(MoveFault::Ambiguous));
    }

    #[test]
    fn promotions_in_every_spelling() {
        let fen = "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1";
        for text in ["a8=Q", "a8Q", "a8(Q)", "a8/Q", "a8Ф", "a7a8q", "a7-a8Q+"] {
            assert_eq!(in_position(fen, text).as_deref(), Ok("a8=Q"), "{text}");
        }
        assert_eq!(in_position(fen, "axb8=N").as_deref(), Ok("axb8=N"));
        assert_eq!(in_position(fen, "ab8К").as_deref(), Ok("axb8=N"));
        assert_eq!(in_position(fen, "a8"), Err(MoveFault::Illegal));
        assert_eq!(in_position(fen, "a8=K"), Err(MoveFault::Illegal));
    }
}
