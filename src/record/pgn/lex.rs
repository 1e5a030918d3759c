//! The words of one PGN game. Nothing is judged here, nothing is dropped in silence.

use memchr::{memchr, memchr2};

/// A word of PGN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// `[Name "value"]`: the name, and all that stands between name and closing bracket.
    Tag(&'a [u8], &'a [u8]),
    /// A move, as written, without move number, `!`, `?`. May be nonsense.
    Move(&'a [u8]),
    /// A comment without its braces.
    Comment(&'a [u8]),
    /// A comment that is never closed.
    OpenComment(&'a [u8]),
    /// `$1`, or one of `!`, `?`, `!!`, `??`, `!?`, `?!` as its number.
    Nag(u16),
    /// `(`
    Open,
    /// `)`
    Close,
    /// A closing result, in any spelling people use.
    Result(&'a [u8]),
    /// A sign that has no meaning where it stands.
    Stray(u8),
}

/// Reads words; gives each with its place in the bytes.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Over the bytes of one game.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn tag(&mut self) -> Option<Token<'a>> {
        let rest = &self.bytes[self.at..];
        let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        let spaces = line[1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let name_length = line[1 + spaces..]
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b']'))?;
        let name = &line[1 + spaces..=spaces + name_length];
        if !name.first()?.is_ascii_alphabetic() {
            return None;
        }
        let value_start = 1 + spaces + name_length;
        // The bracket that closes it: behind the closing quote, for values hold brackets too.
        let mut end = value_start;
        let mut quoted = false;
        let close = loop {
            match line.get(end) {
                None => break None,
                Some(b'\\') if quoted => end += 2,
                Some(b'"') if quoted => {
                    let after = line[end + 1..].iter().position(|byte| !byte.is_ascii_whitespace());
                    match after.map(|skip| end + 1 + skip) {
                        Some(close) if line[close] == b']' => break Some(close),
                        _ => end += 1, // a quote within the value
                    }
                }
                Some(b'"') => {
                    quoted = true;
                    end += 1;
                }
                Some(b']') if !quoted => break Some(end),
                Some(_) => end += 1,
            }
        };
        let (value_end, next) = match close {
            Some(close) => (close, close + 1),
            // Not closed: at the last bracket of the line, or at its end.
            None => match memchr::memrchr(b']', line) {
                Some(close) if close >= value_start => (close, close + 1),
                _ => (line.len(), line.len()),
            },
        };
        self.at += next;
        Some(Token::Tag(name, line[value_start..value_end].trim_ascii()))
    }

    fn word(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let length = self.bytes[start..].iter().position(|byte| DELIMITER[usize::from(*byte)]);
        let mut word = &self.bytes[start..length.map_or(self.bytes.len(), |length| start + length)];
        self.at = start + word.len();
        // "1.e4", "12...Nf6", "1-0".
        if word[0].is_ascii_digit() {
            let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match word.get(digits) {
                None => return None,
                Some(b'.') => {
                    let dots = word[digits..].iter().take_while(|byte| **byte == b'.').count();
                    word = &word[digits + dots..];
                    if word.is_empty() {
                        return None;
                    }
                }
                Some(_) => {
                    if let Some(rest) = word[digits..].strip_prefix("…".as_bytes()) {
                        word = rest;
                        if word.is_empty() {
                            return None;
                        }
                    }
                }
            }
        }
        if is_result(word) {
            return Some(Token::Result(word));
        }
        let dots = word.iter().take_while(|byte| **byte == b'.').count();
        let mut word = word[dots..].strip_prefix("…".as_bytes()).unwrap_or(&word[dots..]);
        // What follows a sign of judgement is a new word.
        if let Some(mark) = memchr2(b'!', b'?', word) {
            self.at -= word.len() - mark;
            word = &word[..mark];
        }
        (!word.is_empty()).then_some(Token::Move(word))
    }

    fn glyph(&mut self) -> Token<'a> {
        let rest = &self.bytes[self.at..];
        let (nag, length) = match rest {
            [b'!', b'!', ..] => (3, 2),
            [b'?', b'?', ..] => (4, 2),
            [b'!', b'?', ..] => (5, 2),
            [b'?', b'!', ..] => (6, 2),
            [b'!', ..] => (1, 1),
            _ => (2, 1),
        };
        self.at += length;
        Token::Nag(nag)
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.at;
            let token = match *self.bytes.get(start)? {
                b'%' if start == 0 || self.bytes[start - 1] == b'\n' => {
                    self.at = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |end| start + end);
                    None
                }
                b'{' => {
                    let rest = &self.bytes[start + 1..];
                    if let Some(end) = memchr(b'}', rest) {
                        self.at += end + 2;
                        Some(Token::Comment(&rest[..end]))
                    } else {
                        self.at = self.bytes.len();
                        Some(Token::OpenComment(rest))
                    }
                }
                b';' => {
                    let rest = &self.bytes[start + 1..];
                    let end = memchr(b'\n', rest).unwrap_or(rest.len());
                    self.at += end + 1;
                    Some(Token::Comment(&rest[..end]))
                }
                b'[' => self.tag().or_else(|| {
                    self.at += 1;
                    Some(Token::Stray(b'['))
                }),
                b'(' => {
                    self.at += 1;
                    Some(Token::Open)
                }
                b')' => {
                    self.at += 1;
                    Some(Token::Close)
                }
                b'*' => {
                    self.at += 1;
                    Some(Token::Result(b"*"))
                }
                b'$' => {
                    let digits = &self.bytes[start + 1..];
                    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).take(5).count();
                    self.at += 1 + length;
                    let number =
                        digits[..length].iter().fold(0u32, |n, digit| n * 10 + u32::from(digit - b'0'));
                    match (length, u16::try_from(number)) {
                        (1.., Ok(number)) => Some(Token::Nag(number)),
                        _ => Some(Token::Stray(b'$')),
                    }
                }
                b'!' | b'?' => Some(self.glyph()),
                byte @ (b'}' | b']' | b'<' | b'>' | b'"') => {
                    self.at += 1;
                    Some(Token::Stray(byte))
                }
                byte if DELIMITER[usize::from(byte)] => {
                    self.at += 1;
                    None
                }
                _ => self.word(),
            };
            if let Some(token) = token {
                return Some((start, token));
            }
        }
    }
}

/// Bytes that end a word.
const DELIMITER: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b" \t\n\r\x0b\x0c\0{}();[]$*<>\",";
    let mut at = 0;
    while at < ends.len() {
        table[ends[at] as usize] = true;
        at += 1;
    }
    table
};

/// A closing result in any spelling people use: `1-0`, `1/2-1/2`, `½-½`, `1–0`, `1:0`, `+:-`, `+--`.
pub(super) fn is_result(word: &[u8]) -> bool {
    match word.first() {
        Some(b'0' | b'1') => {}
        Some(b'*') => return word.len() == 1,
        Some(b'+' | b'-' | 0xc2) => return super::tags::result_from_text(word).is_some(),
        _ => return false,
    }
    // Quick for the many: castling with zeros is the only move that begins like this.
    match word {
        b"1-0" | b"0-1" | b"1/2-1/2" => true,
        _ => super::tags::result_from_text(word).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token<'_>> {
        Lexer::new(text.as_bytes()).map(|(_, token)| token).collect()
    }

    #[test]
    fn moves_come_without_numbers_and_marks() {
        use Token::{Move, Nag, Result};
        assert_eq!(
            words("1.e4! e5 2. Nf3?! 2...Nc6 $14 3.O-O 0-0 1/2-1/2"),
            [
                Move(b"e4"),
                Nag(1),
                Move(b"e5"),
                Move(b"Nf3"),
                Nag(6),
                Move(b"Nc6"),
                Nag(14),
                Move(b"O-O"),
                Move(b"0-0"),
                Result(b"1/2-1/2")
            ]
        );
        assert_eq!(words("1-0"), [Result(b"1-0")]);
        assert_eq!(words("½-½ *"), [Result("½-½".as_bytes()), Result(b"*")]);
        assert_eq!(words("1. e4 +-"), [Move(b"e4"), Move(b"+-")]);
    }

    #[test]
    fn values_may_hold_quotes_and_brackets() {
        assert_eq!(words(r#"[Event "The "A" [2026]"]"#), [Token::Tag(b"Event", br#""The "A" [2026]""#)]);
        assert_eq!(words(r#"[A "x] [B "y"]"#).len(), 1);
        assert_eq!(words("[Site open]"), [Token::Tag(b"Site", b"open")]);
        assert_eq!(words(r#"[A "1"] [B "2"]"#), [Token::Tag(b"A", b"\"1\""), Token::Tag(b"B", b"\"2\"")]);
    }

    #[test]
    fn comments_and_lines_that_hide() {
        assert_eq!(
            words("%hidden\ne4 {a {b} ; rest\n} {open"),
            [
                Token::Move(b"e4"),
                Token::Comment(b"a {b"),
                Token::Comment(b" rest"),
                Token::Stray(b'}'),
                Token::OpenComment(b"open")
            ]
        );
    }
}
