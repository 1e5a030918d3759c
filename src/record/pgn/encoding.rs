//! From bytes to text: UTF-8 where it is, else the code page of the program that wrote the file.
//!
//! Pairing programs write in the code page of their Windows, so a file that is not UTF-8 is Windows-1252
//! or, where its letters stand in rows as Russian words do, Windows-1251. Letters are never replaced by
//! a question mark: every byte means something in both.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252};

/// Text, and what had to be done to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without byte-order mark.
    pub text: Cow<'a, str>,
    /// The encoding it was in, unless it was UTF-8.
    pub from: Option<&'static str>,
    /// A byte-order mark was dropped.
    pub bom: bool,
}

/// Decodes a file. Lines that are UTF-8 stay so even when others are not: games are collected from
/// several sources.
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    for (mark, encoding) in [(&b"\xff\xfe"[..], UTF_16LE), (b"\xfe\xff", UTF_16BE)] {
        if let Some(rest) = bytes.strip_prefix(mark) {
            let (text, _) = encoding.decode_without_bom_handling(rest);
            return Decoded { text, from: Some(encoding.name()), bom: true };
        }
    }
    let (bytes, bom) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded { text: Cow::Borrowed(text), from: None, bom };
    }
    let encoding = code_page(bytes);
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match std::str::from_utf8(line) {
            Ok(line) => text.push_str(line),
            Err(_) => text.push_str(&encoding.decode_without_bom_handling(line).0),
        }
    }
    Decoded { text: Cow::Owned(text), from: Some(encoding.name()), bom }
}

/// Russian words are rows of letters above 0xC0; in western words such letters stand alone.
fn code_page(bytes: &[u8]) -> &'static Encoding {
    let letter = |byte: u8| byte >= 0xc0 || byte == 0xa8 || byte == 0xb8;
    let (mut alone, mut in_rows) = (0usize, 0usize);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| std::str::from_utf8(line).is_err()) {
        let mut row = 0;
        for byte in line.iter().copied().chain([0]) {
            if letter(byte) {
                row += 1;
                continue;
            }
            match row {
                0 => {}
                1 | 2 => alone += row,
                _ => in_rows += row,
            }
            row = 0;
        }
    }
    if in_rows > alone { WINDOWS_1251 } else { WINDOWS_1252 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_pages_are_told_apart_and_no_letter_is_lost() {
        let plain = decode("Зоя Ё.".as_bytes());
        assert_eq!((plain.text.as_ref(), plain.from), ("Зоя Ё.", None));
        let western = decode(b"[White \"M\xfcller, Zo\xeb\"]\n[Black \"\xd8stergaard\"]");
        assert_eq!(western.text, "[White \"Müller, Zoë\"]\n[Black \"Østergaard\"]");
        assert_eq!(western.from, Some("windows-1252"));
        let (russian, ..) = WINDOWS_1251.encode("[White \"Петров, Александр\"]\n[Black \"Ли, Ян\"]");
        let decoded = decode(&russian);
        assert_eq!(decoded.text, "[White \"Петров, Александр\"]\n[Black \"Ли, Ян\"]");
        assert_eq!(decoded.from, Some("windows-1251"));
    }

    #[test]
    fn lines_of_two_encodings_and_marks() {
        let mixed = decode(b"\xef\xbb\xbfZo\xc3\xab\nZo\xeb\n");
        assert_eq!((mixed.text.as_ref(), mixed.bom), ("Zoë\nZoë\n", true));
        let wide = decode(b"\xff\xfe1\x00.\x00");
        assert_eq!((wide.text.as_ref(), wide.from), ("1.", Some("UTF-16LE")));
    }
}
