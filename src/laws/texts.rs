//! The sentences people read, filled from the templates in `config/lang/`.
//!
//! A template is found by the code's word, or by word and variant (`flag-fall.control`). Placeholders
//! stand in braces. What is filled in is given as [`Arg`], so that each language can say it its own way.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::Deserialize;
use shakmaty::Color;

use super::{Code, Text};

/// Something to be put into a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arg {
    /// A number.
    Number(i64),
    /// Squares, moves, results, names: the same in every language.
    Plain(String),
    /// A time on a clock in seconds, or a dash if unknown.
    Clock(Option<u32>),
    /// A side.
    Side(Color),
    /// A word of the language's own list.
    Word(&'static str),
}

impl From<u32> for Arg {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl From<Color> for Arg {
    fn from(side: Color) -> Self {
        Self::Side(side)
    }
}

/// One language's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    /// Words that are filled in.
    words: BTreeMap<String, String>,
    /// Templates of alerts.
    alerts: BTreeMap<String, String>,
    /// Templates of answers to entries.
    answers: BTreeMap<String, String>,
}

const ENGLISH: &str = include_str!("../../config/lang/en.toml");
const RUSSIAN: &str = include_str!("../../config/lang/ru.toml");

fn languages() -> &'static [Language; 2] {
    static LANGUAGES: OnceLock<[Language; 2]> = OnceLock::new();
    LANGUAGES.get_or_init(|| {
        [ENGLISH, RUSSIAN]
            .map(|text| toml::from_str(text).expect("it comes with the program; a test reads it"))
    })
}

/// The text of an alert. `variant` may be empty.
pub(super) fn alert(code: Code, variant: &str, args: &[(&'static str, Arg)]) -> Text {
    let both = languages().each_ref().map(|language| {
        let word = code.word();
        let template = language
            .alerts
            .get(&format!("{word}.{variant}"))
            .or_else(|| language.alerts.get(word))
            .map_or(word, String::as_str);
        fill(template, args, language)
    });
    let [en, ru] = both;
    Text { en, ru }
}

/// The text of an answer.
pub(super) fn answer(key: &str, args: &[(&'static str, Arg)]) -> Text {
    let [en, ru] = languages()
        .each_ref()
        .map(|language| fill(language.answers.get(key).map_or(key, String::as_str), args, language));
    Text { en, ru }
}

fn fill(template: &str, args: &[(&'static str, Arg)], language: &Language) -> String {
    let word = |key: &str| language.words.get(key).map_or_else(|| key.to_owned(), Clone::clone);
    let mut text = template.to_owned();
    for (name, arg) in args {
        let slot = format!("{{{name}}}");
        if !text.contains(&slot) {
            continue;
        }
        let value = match arg {
            Arg::Number(number) => number.to_string(),
            Arg::Plain(plain) => plain.clone(),
            Arg::Clock(Some(seconds)) => clock(*seconds),
            Arg::Clock(None) => "–".to_owned(),
            Arg::Side(side) => word(side.fold_wb("white", "black")),
            Arg::Word(key) => word(key),
        };
        text = text.replace(&slot, &value);
    }
    text
}

fn clock(seconds: u32) -> String {
    if seconds >= 3600 {
        format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    } else {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn placeholders(template: &str) -> BTreeSet<&str> {
        template.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
    }

    #[test]
    fn both_languages_say_every_code_with_the_same_placeholders() {
        let [en, ru] = languages();
        for code in Code::ALL {
            assert!(en.alerts.contains_key(code.word()), "no English text for {}", code.word());
        }
        for (one, other) in [(&en.alerts, &ru.alerts), (&en.answers, &ru.answers)] {
            assert!(
                one.keys().eq(other.keys()),
                "{:?}",
                one.keys().filter(|k| !other.contains_key(*k)).collect::<Vec<_>>()
            );
            for (key, template) in one {
                assert_eq!(placeholders(template), placeholders(&other[key]), "{key}");
            }
        }
        assert!(en.words.keys().eq(ru.words.keys()));
        for key in en.alerts.keys() {
            let word = key.split('.').next().unwrap();
            assert!(Code::ALL.iter().any(|code| code.word() == word), "{key} is no code");
        }
    }

    #[test]
    fn a_text_fits_two_lines_of_a_phone() {
        for language in languages() {
            for (key, template) in &language.alerts {
                // A filled placeholder is about as long as its name in braces, or shorter.
                let length = template.chars().count();
                assert!(length <= 108, "{key}: {length} characters: {template}");
            }
        }
    }

    #[test]
    fn placeholders_are_filled_in_each_language() {
        let text = answer(
            "query-move-count",
            &[("side", Color::Black.into()), ("completed", 12.into()), ("made", 13.into())],
        );
        assert!(text.en.starts_with("Black") && text.en.contains("12"), "{}", text.en);
        assert!(text.ru.starts_with("Чёрные") && text.ru.contains("13"), "{}", text.ru);
        assert!(!text.en.contains('{') && !text.ru.contains('{'));
    }
}
