//! Reads TOML so that every fault is found at once, each with its line and what is expected.
//!
//! `serde` stops at the first fault; an organizer with ten boards and five typing errors should not
//! have to start the program six times. A [`Section`] hands out its keys by name; what nobody asked
//! for is an unknown key.

use std::{collections::BTreeMap, fmt};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// One fault of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1; 0 when the fault has no place (something is missing as a whole).
    pub line: usize,
    /// What is wrong and what is expected.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}

/// All faults found so far, and where lines begin.
#[derive(Debug)]
pub(crate) struct Faults {
    line_starts: Vec<usize>,
    found: Vec<Fault>,
}

impl Faults {
    /// None yet.
    pub(crate) fn new(text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { line_starts: std::iter::once(0).chain(starts).collect(), found: Vec::new() }
    }

    /// The line of a byte offset.
    fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Notes a fault at a byte offset.
    pub(crate) fn at(&mut self, offset: usize, text: impl Into<String>) {
        let line = self.line(offset);
        self.found.push(Fault { line, text: text.into() });
    }

    /// Notes a fault without a place.
    pub(crate) fn missing(&mut self, text: impl Into<String>) {
        self.found.push(Fault { line: 0, text: text.into() });
    }

    /// All faults, by line.
    pub(crate) fn finish(mut self) -> Vec<Fault> {
        self.found.sort_by_key(|fault| fault.line);
        self.found
    }
}

/// One table of the file, with the keys not asked for yet.
pub(crate) struct Section<'t> {
    name: String,
    offset: usize,
    left: BTreeMap<String, (usize, &'t Spanned<DeValue<'t>>)>,
    known: Vec<&'static str>,
}

impl<'t> Section<'t> {
    /// The whole file.
    pub(crate) fn root(table: &'t Spanned<DeTable<'t>>) -> Self {
        Self::new(String::new(), table.span().start, table.get_ref())
    }

    fn new(name: String, offset: usize, table: &'t DeTable<'t>) -> Self {
        let left =
            table.iter().map(|(key, value)| (key.get_ref().to_string(), (key.span().start, value))).collect();
        Self { name, offset, left, known: Vec::new() }
    }

    /// Where it begins.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn take(&mut self, key: &'static str) -> Option<(usize, &'t Spanned<DeValue<'t>>)> {
        self.known.push(key);
        self.left.remove(key)
    }

    fn typed<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        faults: &mut Faults,
        read: impl FnOnce(&'t DeValue<'t>) -> Option<T>,
    ) -> Option<(usize, T)> {
        let (offset, value) = self.take(key)?;
        let read = read(value.get_ref());
        if read.is_none() {
            let found = value.get_ref().type_str();
            faults.at(offset, format!("`{}`: expected {expected}, found a {found}", self.path(key)));
        }
        read.map(|value| (offset, value))
    }

    /// A text, with the place where it stands.
    pub(crate) fn text_at(&mut self, key: &'static str, faults: &mut Faults) -> Option<(usize, String)> {
        self.typed(key, "a text in quotes", faults, |value| value.as_str().map(str::to_owned))
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &'static str, faults: &mut Faults) -> Option<String> {
        self.text_at(key, faults).map(|(_, text)| text)
    }

    /// A text that must mean something.
    pub(crate) fn parsed<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        faults: &mut Faults,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (offset, text) = self.text_at(key, faults)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            faults.at(offset, format!("`{}`: {text:?} is not {expected}", self.path(key)));
        }
        parsed
    }

    /// A whole number in a range, with its place.
    pub(crate) fn number_at(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u32>,
        faults: &mut Faults,
    ) -> Option<(usize, u32)> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let (offset, number) = self.typed(key, &expected, faults, |value| {
            value.as_integer().map(|number| i64::from_str_radix(number.as_str(), number.radix()).ok())
        })?;
        let number =
            number.and_then(|number| u32::try_from(number).ok()).filter(|number| range.contains(number));
        if number.is_none() {
            faults.at(offset, format!("`{}`: expected {expected}", self.path(key)));
        }
        number.map(|number| (offset, number))
    }

    /// A whole number in a range.
    pub(crate) fn number(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u32>,
        faults: &mut Faults,
    ) -> Option<u32> {
        self.number_at(key, range, faults).map(|(_, number)| number)
    }

    /// True or false.
    pub(crate) fn flag(&mut self, key: &'static str, faults: &mut Faults) -> Option<bool> {
        self.typed(key, "true or false", faults, DeValue::as_bool).map(|(_, flag)| flag)
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, key: &'static str, faults: &mut Faults) -> Option<Vec<String>> {
        let read = |value: &'t DeValue<'t>| {
            value.as_array()?.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        };
        self.typed(key, "a list of texts, such as [\"a\", \"b\"]", faults, read).map(|(_, list)| list)
    }

    /// A list of whole numbers.
    pub(crate) fn numbers(&mut self, key: &'static str, faults: &mut Faults) -> Option<Vec<u32>> {
        let read = |value: &'t DeValue<'t>| {
            value
                .as_array()?
                .iter()
                .map(|item| {
                    let number = item.get_ref().as_integer()?;
                    u32::from_str_radix(number.as_str(), number.radix()).ok()
                })
                .collect()
        };
        self.typed(key, "a list of whole numbers, such as [1, 2]", faults, read).map(|(_, list)| list)
    }

    /// Whether a key holds a text (and not, say, a table).
    pub(crate) fn holds_text(&self, key: &str) -> bool {
        self.left.get(key).is_some_and(|(_, value)| value.get_ref().is_str())
    }

    /// A table in the file, `[key]` or `key = { … }`.
    pub(crate) fn section(&mut self, key: &'static str, faults: &mut Faults) -> Option<Section<'t>> {
        let path = self.path(key);
        let (offset, table) = self.typed(key, &format!("a table [{path}]"), faults, DeValue::as_table)?;
        Some(Section::new(path, offset, table))
    }

    /// Repeated tables, `[[key]]`.
    pub(crate) fn sections(&mut self, key: &'static str, faults: &mut Faults) -> Vec<Section<'t>> {
        let path = self.path(key);
        let expected = format!("tables [[{path}]]");
        let Some((offset, list)) = self.typed(key, &expected, faults, DeValue::as_array) else {
            return Vec::new();
        };
        let mut sections = Vec::new();
        for item in list {
            match item.get_ref().as_table() {
                Some(table) => sections.push(Section::new(path.clone(), item.span().start, table)),
                None => faults.at(offset, format!("`{path}`: expected {expected}")),
            }
        }
        sections
    }

    /// Every key must have been asked for by now.
    pub(crate) fn finish(self, faults: &mut Faults) {
        for (key, (offset, _)) in &self.left {
            let place = if self.name.is_empty() { "here".to_owned() } else { format!("in [{}]", self.name) };
            faults.at(
                *offset,
                format!("`{key}` is not known {place}; expected one of: {}", self.known.join(", ")),
            );
        }
    }
}
