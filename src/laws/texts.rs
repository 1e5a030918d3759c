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
    /// Headings of the incident report.
    report: BTreeMap<String, String>,
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

/// What is filled into an alert is cut to so many characters: squares, moves and words from outside.
const FILLED: usize = 26;

/// The text of an alert. `variant` may be empty.
pub(super) fn alert(code: Code, variant: &str, args: &[(&'static str, Arg)]) -> Text {
    let args: Vec<_> = args
        .iter()
        .map(|(name, arg)| match arg {
            Arg::Plain(text) => (*name, Arg::Plain(cut(text))),
            other => (*name, other.clone()),
        })
        .collect();
    let args = &args[..];
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

/// A heading of the incident report, in `ru` or else in English.
#[must_use]
pub fn report_word(language: &str, key: &str) -> &'static str {
    let [en, ru] = languages();
    let words = if language == "ru" { ru } else { en };
    words.report.get(key).map_or("", String::as_str)
}

/// At most [`FILLED`] characters; what is too long ends with a dot dot dot, after a whole word if there
/// is one.
fn cut(text: &str) -> String {
    if text.chars().count() <= FILLED {
        return text.to_owned();
    }
    let head: String = text.chars().take(FILLED - 1).collect();
    let whole = head.rfind(' ').filter(|at| *at > 0).map_or(head.as_str(), |at| &head[..=at]);
    format!("{whole}…")
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
        for (one, other) in [(&en.alerts, &ru.alerts), (&en.answers, &ru.answers), (&en.report, &ru.report)] {
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

    /// Two lines of a phone: 45 characters each at the desk's font on a screen 390 points wide.
    const TWO_LINES: usize = 90;

    /// The longest thing that is put into a placeholder.
    fn longest(name: &str, language: &Language) -> Vec<Arg> {
        let plain = |text: &str| vec![Arg::Plain(text.to_owned())];
        match name {
            "side" | "opponent" | "first" => vec![Color::White.into(), Color::Black.into()],
            "kind" => {
                let kinds = language.words.keys().filter(|word| word.starts_with("kind-"));
                kinds.map(|word| Arg::Plain(language.words[word].clone())).collect()
            }
            "class" | "declared" => ["classical", "rapid", "blitz"].map(Arg::Word).to_vec(),
            "piece" => ["queen", "rook", "bishop", "knight"].map(Arg::Word).to_vec(),
            // What was seen may be seconds of an increment; a time is the longer of the two.
            "white_clock" | "black_clock" | "seen" | "expected" => vec![Arg::Clock(Some(7_199))],
            // A time that was on a clock, or a result that was shown.
            "before" => vec![Arg::Clock(Some(7_199)), Arg::Plain("1/2-1/2".into())],
            "result" | "shown" | "tag" | "text" => plain("1/2-1/2"),
            "move" => plain("exd8=Q+"),
            "square" => plain("e8"),
            "squares" => plain("e4 d5 f6 g7 …"),
            "what" => plain("2 × K"),
            "encoding" => plain("windows-1251"),
            // Five moves of a fivefold repetition; whatever is longer is cut.
            "moves" | "reason" => plain(&"101… ".repeat(12)),
            "percent" | "increment" | "limit" | "due" | "minutes" => vec![Arg::Number(60)],
            "penalty" | "completed" | "made" | "number" | "ply" | "games" => vec![Arg::Number(120)],
            "seconds" => vec![Arg::Number(3_600)],
            "count" => vec![Arg::Number(40)],
            other => panic!("what is the longest {other}?"),
        }
    }

    #[test]
    fn a_text_fits_two_lines_of_a_phone_and_says_what_to_do() {
        for language in languages() {
            for (key, template) in &language.alerts {
                let mut texts = vec![template.clone()];
                for name in placeholders(template) {
                    let name: &'static str = name.to_owned().leak();
                    texts = longest(name, language)
                        .into_iter()
                        .flat_map(|arg| {
                            let arg = match arg {
                                Arg::Plain(text) => Arg::Plain(cut(&text)),
                                other => other,
                            };
                            texts.iter().map(move |text| fill(text, &[(name, arg.clone())], language))
                        })
                        .collect();
                }
                for text in texts {
                    let length = text.chars().count();
                    assert!(length <= TWO_LINES, "{key}: {length} characters: {text}");
                    // What happened ends with a point; what to do follows.
                    let todo = text.split_once(". ").or(text.split_once("? "));
                    assert!(todo.is_some_and(|(_, todo)| todo.len() > 5), "{key} asks for nothing: {text}");
                    assert!(!text.contains(['{', '}']), "{key}: {text}");
                }
            }
        }
    }

    #[test]
    fn what_comes_from_outside_is_cut_to_fit() {
        let reason = Arg::Plain("the device answered with something nobody could have foreseen".into());
        let text = alert(Code::BoardOffline, "", &[("reason", reason)]);
        assert_eq!(text.en, "The board does not answer (the device answered with …). Check cable and power.");
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
