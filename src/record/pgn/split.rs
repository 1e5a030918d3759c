//! Cuts a stream of PGN into games, whatever its size, without reading what they hold.
//!
//! A game begins at a tag block or, after a closing result, at the next move text. Real files leave
//! out results, blank lines and even line breaks between games, put blank lines into tag blocks and
//! leave comments open; where one game ends is decided here and nowhere else.

use std::{
    io::{self, Read},
    ops::ControlFlow,
};

use memchr::{memchr, memchr_iter, memchr3, memmem};

use super::lex::{Lexer, Token, is_result};

/// No game of chess needs more; what goes beyond is cut.
const GAME_MAX: usize = 4 << 20;
/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// One game as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub struct RawGame<'a> {
    /// Which game of the stream, from 0.
    pub index: u64,
    /// Where it begins, in bytes from the start of the stream.
    pub offset: u64,
    /// The line it begins on, from 1.
    pub line: u64,
    /// Its bytes: tags, moves, result. Lone carriage returns have become line feeds.
    pub bytes: &'a [u8],
    /// It was longer than 4 MiB; only its beginning is here.
    pub cut: bool,
}

/// What was read in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Visited {
    /// Games.
    pub games: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Streams the games of a file of any size, in order, until the visitor breaks.
///
/// # Errors
/// Those of the reader.
pub fn visit(
    reader: impl Read,
    mut visitor: impl FnMut(RawGame<'_>) -> ControlFlow<()>,
) -> io::Result<Visited> {
    let mut splitter = Splitter::new(reader);
    while let Some(game) = splitter.next_game()? {
        if visitor(game).is_break() {
            break;
        }
    }
    Ok(Visited { games: splitter.index, bytes: splitter.offset })
}

/// Cuts a stream into games.
pub(super) struct Splitter<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Start of what is not yet given out.
    at: usize,
    eof: bool,
    index: u64,
    /// Of `at` in the stream.
    offset: u64,
    line: u64,
    /// Line ends are lone carriage returns.
    mac: Option<bool>,
}

impl<R: Read> Splitter<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), at: 0, eof: false, index: 0, offset: 0, line: 1, mac: None }
    }

    pub(super) fn next_game(&mut self) -> io::Result<Option<RawGame<'_>>> {
        // What stands between games.
        loop {
            let blank = blank_prefix(&self.buffer[self.at..], self.offset == 0);
            self.pass(blank);
            let left = self.buffer.len() - self.at;
            if left >= 4 || (left > 0 && self.eof) {
                break;
            }
            if !self.fill()? {
                if self.at >= self.buffer.len() {
                    return Ok(None);
                }
                break;
            }
        }
        let (length, cut) = loop {
            let here = &self.buffer[self.at..];
            if let Some(end) = game_end(here, self.eof) {
                break (end, false);
            }
            if here.len() >= GAME_MAX {
                break (GAME_MAX, true);
            }
            self.fill()?;
        };
        let (offset, line, index, start) = (self.offset, self.line, self.index, self.at);
        self.index += 1;
        self.pass(length);
        if cut {
            // The bytes given out move with the buffer, so the rest is skipped on the next call:
            // it reads as a game of its own, which is what it may as well be.
            return Ok(Some(RawGame {
                index,
                offset,
                line,
                bytes: &self.buffer[start..start + length],
                cut,
            }));
        }
        Ok(Some(RawGame { index, offset, line, bytes: &self.buffer[start..start + length], cut }))
    }

    fn pass(&mut self, length: usize) {
        let passed = &self.buffer[self.at..self.at + length];
        self.line += memchr_iter(b'\n', passed).count() as u64;
        self.offset += length as u64;
        self.at += length;
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.eof {
            return Ok(false);
        }
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        let old = self.buffer.len();
        // A long game is scanned anew each time, so each time there is twice as much to scan.
        let want = CHUNK.max(old);
        self.buffer.resize(old + want, 0);
        let mut filled = old;
        while filled < self.buffer.len() {
            match self.reader.read(&mut self.buffer[filled..]) {
                Ok(0) => {
                    self.eof = true;
                    break;
                }
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.buffer.truncate(old);
                    return Err(error);
                }
            }
        }
        self.buffer.truncate(filled);
        let new = &mut self.buffer[old..];
        let mac =
            *self.mac.get_or_insert_with(|| memchr(b'\r', new).is_some() && memchr(b'\n', new).is_none());
        if mac {
            for byte in new.iter_mut().filter(|byte| **byte == b'\r') {
                *byte = b'\n';
            }
        }
        Ok(filled > old)
    }
}

/// White space, a byte-order mark at the start of the file, and lines hidden by `%`.
fn blank_prefix(bytes: &[u8], start_of_file: bool) -> usize {
    let mut at = if start_of_file && bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut line_start = start_of_file;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => line_start = true,
            byte if byte.is_ascii_whitespace() || byte == 0 => {}
            b'%' if line_start => match memchr(b'\n', &bytes[at..]) {
                Some(end) => at += end,
                None => return at,
            },
            _ => return at,
        }
        at += 1;
    }
    at
}

/// Where the game that begins at 0 ends; `None` if that takes more bytes to know.
fn game_end(bytes: &[u8], eof: bool) -> Option<usize> {
    let at_end = eof.then_some(bytes.len());
    let mut at = 0;
    // The tag block.
    let mut after_blank = false;
    let mut first = true;
    loop {
        let line = &bytes[at..];
        let start = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
        match line.get(start) {
            None if eof => return Some(bytes.len()),
            None => return None,
            Some(b'[') if first || starts_tag(&line[start..]) => {
                if !first && begins_anew(&bytes[..at], &line[start..], after_blank) {
                    return Some(at);
                }
                first = false;
                after_blank = false;
                let line_end = memchr(b'\n', line).unwrap_or(line.len());
                if let Some(moves) = moves_behind_tags(&line[start..line_end]) {
                    at += start + moves;
                    break;
                }
            }
            Some(b'\r' | b'\n') => after_blank = true,
            Some(b'%') if start == 0 => {}
            Some(_) => break,
        }
        let Some(end) = memchr(b'\n', line) else { return at_end };
        at += end + 1;
    }
    // The moves.
    let mut ended = tail_is_result(last_line(&bytes[..at]));
    let mut line_start = at;
    loop {
        // Here `at` is outside of comments.
        let rest = &bytes[at..];
        let Some(next) = memchr3(b'{', b';', b'\n', rest) else {
            return match glued(rest) {
                Some(glued) => Some(at + glued),
                None => at_end,
            };
        };
        if let Some(glued) = glued(&rest[..next]) {
            return Some(at + glued);
        }
        let found = at + next;
        match bytes[found] {
            b'{' => {
                let close = memchr(b'}', &bytes[found..]);
                let comment = &bytes[found..close.map_or(bytes.len(), |close| found + close)];
                if let Some(lost) = memmem::find(comment, b"\n[Event \"") {
                    // Never closed: it does not swallow the next game.
                    return Some(found + lost + 1);
                }
                match close {
                    Some(close) => at = found + close + 1,
                    None => return at_end,
                }
                continue;
            }
            b';' => {
                let Some(end) = memchr(b'\n', &bytes[found..]) else { return at_end };
                at = found + end;
                continue;
            }
            _ => {}
        }
        // A line end: what begins on the next line?
        ended |= tail_is_result(&bytes[line_start..found]);
        at = found + 1;
        line_start = at;
        let next = &bytes[at..];
        let start = next.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).unwrap_or(next.len());
        match next.get(start) {
            None if eof => return Some(bytes.len()),
            None => return None,
            Some(b'[') => {
                if next.len() < start + 16 && !eof {
                    return None;
                }
                if starts_tag(&next[start..]) {
                    return Some(at);
                }
            }
            Some(b'%') => match memchr(b'\n', next) {
                Some(end) => at += end,
                None => return at_end,
            },
            Some(b'\n' | b'{' | b';') => {}
            Some(_) if ended && closed(&bytes[..at]) => return Some(at),
            Some(_) => ended = false,
        }
    }
}

fn starts_tag(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let name = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
    rest.get(name).is_some_and(u8::is_ascii_alphabetic)
}

/// Where the moves begin on a line that begins with tags.
fn moves_behind_tags(line: &[u8]) -> Option<usize> {
    if line.trim_ascii_end().last() == Some(&b']') && memchr_iter(b']', line).count() == 1 {
        return None;
    }
    Lexer::new(line).find(|(_, token)| !matches!(token, Token::Tag(..))).map(|(at, _)| at)
}

/// A tag line that cannot belong to the block before it: the block has a tag of this name, and a
/// blank line or a complete pairing says that it is over.
fn begins_anew(block: &[u8], line: &[u8], after_blank: bool) -> bool {
    let name = tag_name(line);
    if !after_blank && name != b"Event" {
        return false;
    }
    let mut seen = Lexer::new(block).filter_map(|(_, token)| match token {
        Token::Tag(name, _) => Some(name),
        _ => None,
    });
    if after_blank {
        return seen.any(|other| other == name);
    }
    let names: Vec<&[u8]> = seen.collect();
    [&b"Event"[..], b"White", b"Black"].iter().all(|wanted| names.contains(wanted))
}

fn tag_name(line: &[u8]) -> &[u8] {
    let name = line.get(1..).unwrap_or_default().trim_ascii_start();
    &name[..name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(name.len())]
}

fn last_line(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    &text[memchr::memrchr(b'\n', text).map_or(0, |at| at + 1)..]
}

/// The line ends with a closing result.
fn tail_is_result(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    if !matches!(line.last(), Some(b'0' | b'1' | b'2' | b'*')) {
        return false;
    }
    let start =
        line.iter().rposition(|byte| matches!(byte, b' ' | b'\t' | b'}' | b')')).map_or(0, |at| at + 1);
    is_result(&line[start..]) || line.ends_with(b"*")
}

/// A tag that follows a result without a line break.
fn glued(text: &[u8]) -> Option<usize> {
    let bracket = memchr(b'[', text)?;
    let before = &text[..bracket];
    (starts_tag(&text[bracket..]) && !before.trim_ascii().is_empty() && tail_is_result(before))
        .then_some(bracket)
}

/// No variation is open at the end of these bytes.
fn closed(bytes: &[u8]) -> bool {
    let depth = Lexer::new(bytes).fold(0i64, |depth, (_, token)| match token {
        Token::Open => depth + 1,
        Token::Close => (depth - 1).max(0),
        _ => depth,
    });
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let visited = visit(text.as_bytes(), |game| {
            assert!(text.as_bytes()[game.offset as usize..].starts_with(&game.bytes[..1]));
            let before = &text[..game.offset as usize];
            assert_eq!(game.line, before.matches('\n').count() as u64 + 1);
            found.push(String::from_utf8_lossy(game.bytes).trim().to_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(visited.games, found.len() as u64);
        found
    }

    #[test]
    fn games_without_results_and_with_holes_in_their_tags_come_apart() {
        assert_eq!(pieces("").len(), 0);
        assert_eq!(pieces("[White \"A\"]\n[Black \"B\"]\n\n[White \"C\"]\n[Black \"D\"]\n").len(), 2);
        assert_eq!(pieces("[Event \"A\"]\n\n[White \"B\"]\n\n1. e4 *\n").len(), 1);
        assert_eq!(pieces("1. e4 1-0\n\n1. d4 *\n1. c4 0-1").len(), 3);
        assert_eq!(pieces("[Event \"A\"]\n\n1. e4 *[Event \"B\"]\n\n1. d4 *").len(), 2);
        assert_eq!(pieces("[Event\"A\"]1. e4 *[Event \"B\"]\n[ Event \"C\"]\n").len(), 2);
        assert_eq!(
            pieces("[ Event \"A\"]\n\n[ Round\"1\"]\n\ne4 *\n[Event \"B\"]1. e4 *[Event \"C\"] *").len(),
            3
        );
        assert_eq!(pieces("[Event \"A\"]\n\n1. e4 {open\n\n[Event \"B\"]\n\n1. d4 {x} *").len(), 2);
        assert_eq!(pieces("[Event \"A\"]\n\n1. e4 {\n\n[%clk 1:00]\n} (1. d4 1-0\n) e5 *\n").len(), 1);
        assert_eq!(pieces("[Event \"A\"]\n\n*\n\n\n\n[Event \"B\"]\n*").len(), 2);
        // Names of tags tell capitals apart.
        assert_eq!(pieces("[Event \"A\"]\n[White \"\"]\n[Black \"\"]\n[EvenT \"B\"]\n\n*").len(), 1);
        assert_eq!(
            pieces("[Event \"A\"]\n1. e4 e5 ; a [Event\n2. Nf3 *\n{last}\n\n[Event \"B\"]\n\n*").len(),
            2
        );
    }

    #[test]
    fn a_long_stream_is_cut_the_same_in_any_pieces() {
        struct Drip<'a>(&'a [u8]);
        impl Read for Drip<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let n = self.0.len().min(buffer.len()).min(7);
                buffer[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        let game = "[Event \"x\"]\n[White \"y\"]\n\n1. e4 {[%clk 1:00:00]} e5 2. Nf3 1-0\n\n";
        let text = game.repeat(9000);
        let mut count = 0;
        visit(Drip(text.as_bytes()), |raw| {
            assert_eq!(raw.bytes.trim_ascii(), game.trim().as_bytes());
            count += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(count, 9000);
    }

    #[test]
    fn an_endless_game_is_cut() {
        let text = "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(GAME_MAX / 10);
        let mut cut = Vec::new();
        visit(text.as_bytes(), |raw| {
            cut.push(raw.cut);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(cut, [true, true, false]);
    }
}
