//! The list of pairs that `JaVaFo` and `bbpPairings` print: the number of pairs, then `white black` a
//! line, in board order; 0 stands for a bye.

use super::{ImportIssue, Refused};

/// Start ranks by boards.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PairList {
    /// White and Black of each board, in order; Black 0 is a bye.
    pub pairs: Vec<(u32, u32)>,
}

/// Reads a list of pairs.
///
/// # Errors
/// When a line is not two numbers, or the count at the top is wrong.
pub fn read_pair_list(bytes: &[u8]) -> Result<PairList, Refused> {
    let bad = |line, why: &str| Refused::one(line, ImportIssue::BadLine { why: why.to_owned() });
    let text = std::str::from_utf8(bytes).map_err(|_| bad(1, "a list of pairs holds numbers only"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1u64..).zip(text.split(['\n', '\r'])).filter(|(_, line)| !line.trim().is_empty());
    let (first, count) = lines.next().ok_or_else(|| Refused::one(1, ImportIssue::Empty))?;
    let count: usize = count.trim().parse().map_err(|_| bad(first, "expected the number of pairs"))?;
    let mut pairs = Vec::new();
    let mut last = first;
    for (line, text) in lines {
        last = line;
        let mut numbers = text.split_whitespace().map(str::parse::<u32>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(white)), Some(Ok(black)), None) if white > 0 || black > 0 => pairs.push((white, black)),
            _ => return Err(bad(line, "expected two start ranks, such as \"12 45\"")),
        }
        if pairs.len() > 10_000 {
            return Err(bad(line, "more than ten thousand pairs"));
        }
    }
    if pairs.len() != count {
        let why = format!("the list says {count} pairs and has {}", pairs.len());
        return Err(bad(last, &why));
    }
    Ok(PairList { pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pairs_and_byes_and_refuses_with_the_line() {
        assert_eq!(read_pair_list(b"2\r\n3 1\r\n2 0\r\n").unwrap().pairs, [(3, 1), (2, 0)]);
        assert_eq!(read_pair_list(b"1\n3\n").unwrap_err().reasons[0].line, 2);
        assert_eq!(read_pair_list(b"2\n3 1\n").unwrap_err().reasons[0].line, 2);
        assert!(read_pair_list(b"").is_err());
    }
}
