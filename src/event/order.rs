//! The order of boards and games that are known by a name with a number in it.

/// A key under which `game-2` comes before `game-10`: digits count as numbers, the rest as text.
/// Numbers longer than 18 digits count as text.
#[must_use]
pub fn natural_order(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text_end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, digits) = rest.split_at(text_end);
        let digits_end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (number, after) = digits.split_at(digits_end);
        match number.parse() {
            Ok(value) if number.len() <= 18 => key.push((text.to_owned(), value)),
            _ => key.push((format!("{text}{number}"), 0)),
        }
        rest = after;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["round-10/game-2", "round-2/game-10", "round-2/game-1", "round-2/game-2"];
        names.sort_by_key(|name| natural_order(name));
        assert_eq!(names, ["round-2/game-1", "round-2/game-2", "round-2/game-10", "round-10/game-2"]);
    }
}
