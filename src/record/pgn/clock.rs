//! Clock times in comments: `[%clk 1:29:58]` and the forms that stand in real files.

use std::time::Duration;

use memchr::{memchr, memchr_iter};

/// The times of one comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ClockTimes {
    /// Left after the move: `%clk`.
    pub clk: Option<Duration>,
    /// Used for the move: `%emt`.
    pub emt: Option<Duration>,
    /// A command was there, but its time makes no sense.
    pub unreadable: bool,
}

/// Finds the clock commands of a comment. Between command and time may stand any white space, even
/// a line end: LiveChess breaks its lines there.
#[must_use]
pub fn clock_times(comment: &[u8]) -> ClockTimes {
    let mut times = ClockTimes::default();
    if memchr(b'%', comment).is_none() {
        return times;
    }
    for at in memchr_iter(b'%', comment) {
        let command = &comment[at + 1..];
        let Some((name, rest)) = command.split_at_checked(3) else { continue };
        let slot = match name {
            b"clk" => &mut times.clk,
            b"emt" => &mut times.emt,
            _ => continue,
        };
        let value = &rest[..memchr(b']', rest).unwrap_or(rest.len())];
        match clock_time(value.trim_ascii()) {
            Some(time) => *slot = slot.or(Some(time)),
            None => times.unreadable = true,
        }
    }
    times
}

/// `1:29:58`, `01:29:58`, `0:02:58.9`, `0:15.16` (15 min 16 s), `1.55:05`, `1:30` (hours and minutes).
#[must_use]
pub fn clock_time(text: &[u8]) -> Option<Duration> {
    let mut parts = [0u64; 4];
    let mut marks = [0u8; 3];
    let mut count = 0;
    let mut digits = 0;
    for &byte in text {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                if digits > 6 {
                    return None;
                }
                parts[count] = parts[count] * 10 + u64::from(byte - b'0');
            }
            b':' | b'.' | b',' if digits > 0 && count < 3 => {
                marks[count] = byte;
                count += 1;
                digits = 0;
            }
            _ => return None,
        }
    }
    if digits == 0 {
        return None;
    }
    let [a, b, c, d] = parts;
    let (h, m, s, fraction) = match (count, marks[2]) {
        (3, b'.' | b',') => (a, b, c, Some(d)),
        (2, _) => (a, b, c, None),
        (1, _) => (a, b, 0, None),
        // Seconds alone, as some programs write %emt.
        (0, _) => (0, 0, a, None),
        _ => return None,
    };
    if (count > 0 && m > 59) || (count > 1 && s > 59) || h > 99 {
        return None;
    }
    let millis = match fraction {
        Some(fraction) => fraction * 10u64.pow(3u32.checked_sub(digits)?),
        None => 0,
    };
    Some(Duration::from_millis(((h * 60 + m) * 60 + s) * 1000 + millis))
}

/// A comment without its commands: what is left for people.
#[must_use]
pub fn comment_words(comment: &str) -> String {
    let mut words = String::new();
    let mut rest = comment;
    while let Some(start) = rest.find("[%") {
        words.push_str(&rest[..start]);
        rest = rest[start..].find(']').map_or("", |end| &rest[start + end + 1..]);
    }
    words.push_str(rest);
    let words: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_seen_in_real_files() {
        let s = |text: &str| clock_time(text.as_bytes()).map(|time| time.as_millis());
        assert_eq!(s("1:30:56"), Some(5_456_000));
        assert_eq!(s("01:30:56"), Some(5_456_000));
        assert_eq!(s("0:15.16"), Some(916_000));
        assert_eq!(s("1.55:05"), Some(6_905_000));
        assert_eq!(s("0:02:58.9"), Some(178_900));
        assert_eq!(s("1:30"), Some(5_400_000));
        for wrong in ["", ":", "1:", "1:60:00", "1:00:61", "-1:00:00", "1:2:3:4", "9999999:00:00"] {
            assert_eq!(s(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn one_comment_or_broken_lines_hold_both_times() {
        let times = clock_times(b"[%clk\r\n01:57:19] [%emt 0:00:02]");
        assert_eq!(times.clk, Some(Duration::from_secs(7039)));
        assert_eq!(times.emt, Some(Duration::from_secs(2)));
        assert_eq!(comment_words("good [%clk 1:00:00] move [%eval 0.1]"), "good move");
        assert!(clock_times(b"[%clk x]").unreadable);
    }
}
