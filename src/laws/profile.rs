//! A rule profile: every parameter in which editions, disciplines and supervision differ.
//!
//! The values are data (`config/laws/*.toml`); the rest of the room asks the profile and never an
//! edition's name. What an event adds (time control, draw rule, default time) is in the options.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

/// Classical, rapid or blitz (Laws 13.1, 14.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the Laws' own words")]
pub enum Discipline {
    Classical,
    Rapid,
    Blitz,
}

/// How long an illegal move can be corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorrectionWindow {
    /// Whenever it is found during the game (7.5.1).
    WholeGame,
    /// Until the opponent has made his next move (13.4.2).
    UntilNextMove,
}

/// What counts for the ten moves of 7.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColoursCount {
    /// Moves made by both.
    Made,
    /// Moves completed by each.
    Completed,
    /// The game goes on unless the arbiter decides otherwise.
    Arbiter,
}

/// Both flags are down and nobody knows which fell first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BothFlags {
    /// Guidelines III.3, if they were announced.
    AnnouncedGuidelines,
    /// The clock's sign decides.
    ClockSign,
    /// The Laws' own article.
    Law,
}

/// Whether quickplay-finish rules may be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Quickplay {
    OptIn,
    Never,
}

/// The parameters; see `config/laws/fide-2023.toml` for what each means.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "explained, with articles, in the data file every edition starts from")]
pub struct Rules {
    pub blitz_up_to_minutes: u32,
    pub classical_from_minutes: u32,
    pub illegal_penalty_s: u32,
    pub illegal_moves_to_lose: u32,
    pub press_without_move_counts: bool,
    pub two_hands_count: bool,
    pub correction_window: CorrectionWindow,
    pub illegal_position_waits: bool,
    pub wrong_claim_penalty_s: u32,
    pub gate_resignation: bool,
    pub setup_closed_after: u32,
    pub clock_setting_frozen_after: u32,
    pub colours_count: ColoursCount,
    pub colours_limit: u32,
    pub fivefold_consecutive: bool,
    pub seventyfive_any_series: bool,
    pub draw_min_moves: u32,
    pub both_flags: BothFlags,
    pub flag_claim_must_stop: bool,
    pub recording: bool,
    pub recording_free_below_s: u32,
    pub recording_needs_increment_s: u32,
    pub quickplay: Quickplay,
    pub default_time_s: i64,
    pub released_ms: i64,
    pub touch_ms: i64,
    #[serde(default)]
    pub notice: String,
}

/// A profile: an edition's rules for a discipline, supervised or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: String,
    title: String,
    verified: bool,
    discipline: Discipline,
    supervised: bool,
    articles: BTreeMap<String, String>,
    /// The parameters.
    pub rules: Rules,
}

/// A profile that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Not of the form `edition/discipline`.
    #[error(
        "{0:?} is no profile; expected edition/discipline such as fide-2023/classical, fide-2023/rapid-unsup or fide-2018/blitz-sup"
    )]
    Name(String),
    /// No such edition.
    #[error("there is no edition {edition:?}; known are {known}")]
    Edition {
        /// What was asked for.
        edition: String,
        /// What there is.
        known: String,
    },
    /// The data of an edition is wrong.
    #[error("laws edition {edition:?}: {why}")]
    Data {
        /// Which.
        edition: String,
        /// What is wrong, with the line.
        why: String,
    },
}

/// One edition as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EditionFile {
    edition: String,
    title: String,
    verified: bool,
    #[serde(default)]
    inherits: Option<String>,
    #[serde(default)]
    articles: Option<BTreeMap<String, String>>,
    #[serde(default)]
    base: toml::Table,
    #[serde(default)]
    classical: toml::Table,
    #[serde(default)]
    rapid: toml::Table,
    #[serde(default)]
    blitz: toml::Table,
}

/// The editions that come with the program.
const BUILT_IN: [&str; 4] = [
    include_str!("../../config/laws/fide-2023.toml"),
    include_str!("../../config/laws/fide-2018.toml"),
    include_str!("../../config/laws/fide-2014.toml"),
    include_str!("../../config/laws/ru-988.toml"),
];

/// The profiles of every edition.
const FORMS: [&str; 5] = ["classical", "rapid-sup", "rapid-unsup", "blitz-sup", "blitz-unsup"];

/// A set of editions, from which profiles are made.
#[derive(Clone, Debug, Default)]
pub struct Editions(BTreeMap<String, EditionFile>);

impl Editions {
    /// The editions that come with the program.
    ///
    /// # Errors
    /// When their data is wrong (the tests hold that it is not).
    pub fn built_in() -> Result<Self, ProfileError> {
        static EDITIONS: OnceLock<Result<Editions, ProfileError>> = OnceLock::new();
        let read = || {
            let mut editions = Self::default();
            for text in BUILT_IN {
                editions.add(text)?;
            }
            Ok(editions)
        };
        EDITIONS.get_or_init(read).clone()
    }

    /// The editions that come with the program, and these besides.
    ///
    /// # Errors
    /// When a text is no edition.
    pub fn with(texts: &[String]) -> Result<Self, ProfileError> {
        let mut editions = Self::built_in()?;
        for text in texts {
            editions.add(text)?;
        }
        Ok(editions)
    }

    /// Adds an edition from the text of its file, or replaces one of the same name. Gives its name.
    ///
    /// # Errors
    /// When the text is no edition, or a discipline lacks a parameter.
    pub fn add(&mut self, text: &str) -> Result<String, ProfileError> {
        let file: EditionFile = toml::from_str(text)
            .map_err(|error| ProfileError::Data { edition: "(file)".into(), why: error.to_string() })?;
        let name = file.edition.clone();
        let old = self.0.insert(name.clone(), file);
        let whole = FORMS.iter().try_for_each(|form| self.profile(&format!("{name}/{form}")).map(drop));
        if let Err(error) = whole {
            match old {
                Some(old) => self.0.insert(name, old),
                None => self.0.remove(&name),
            };
            return Err(error);
        }
        Ok(name)
    }

    /// The names of the editions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Every profile name of these editions.
    #[must_use]
    pub fn profiles(&self) -> Vec<String> {
        self.names().flat_map(|edition| FORMS.map(|form| format!("{edition}/{form}"))).collect()
    }

    /// The profile with this name. Rapid and blitz without a suffix are supervised.
    ///
    /// # Errors
    /// When there is none, or the edition's data is wrong.
    pub fn profile(&self, name: &str) -> Result<Profile, ProfileError> {
        let wrong = || ProfileError::Name(name.to_owned());
        let (edition, form) = name.split_once('/').ok_or_else(wrong)?;
        let (discipline, supervised) = match form {
            "classical" => (Discipline::Classical, true),
            "rapid" | "rapid-sup" => (Discipline::Rapid, true),
            "rapid-unsup" => (Discipline::Rapid, false),
            "blitz" | "blitz-sup" => (Discipline::Blitz, true),
            "blitz-unsup" => (Discipline::Blitz, false),
            _ => return Err(wrong()),
        };
        let file = self.0.get(edition).ok_or_else(|| ProfileError::Edition {
            edition: edition.to_owned(),
            known: self.names().collect::<Vec<_>>().join(", "),
        })?;
        let data = |why: String| ProfileError::Data { edition: edition.to_owned(), why };
        let mut line = vec![file];
        while let Some(parent) = line.last().and_then(|file| file.inherits.as_ref()) {
            if line.len() > 8 {
                return Err(data("the editions inherit from each other in a circle".into()));
            }
            line.push(
                self.0
                    .get(parent)
                    .ok_or_else(|| data(format!("inherits from {parent:?}, which is not there")))?,
            );
        }
        let mut table = toml::Table::new();
        let mut articles = BTreeMap::new();
        // Oldest ancestor first; within a file from the general to the particular.
        for file in line.iter().rev() {
            merge(&mut table, &file.base);
        }
        let key = if supervised { "sup" } else { "unsup" };
        for file in line.iter().rev() {
            let special = match discipline {
                Discipline::Classical => &file.classical,
                Discipline::Rapid => &file.rapid,
                Discipline::Blitz => &file.blitz,
            };
            merge(&mut table, special);
            if let Some(more) = special.get(key).and_then(toml::Value::as_table) {
                merge(&mut table, more);
            }
            if let Some(own) = &file.articles {
                articles.clone_from(own);
            }
        }
        let rules = table.try_into().map_err(|error: toml::de::Error| data(error.to_string()))?;
        Ok(Profile {
            name: name.to_owned(),
            title: file.title.clone(),
            verified: file.verified,
            discipline,
            supervised,
            articles,
            rules,
        })
    }
}

fn merge(into: &mut toml::Table, from: &toml::Table) {
    for (key, value) in from {
        if !value.is_table() {
            into.insert(key.clone(), value.clone());
        }
    }
}

impl Profile {
    /// A profile of the editions that come with the program.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn load(name: &str) -> Result<Arc<Self>, ProfileError> {
        Editions::built_in()?.profile(name).map(Arc::new)
    }

    /// The profile of an event that names none: the Laws in force, classical.
    ///
    /// # Panics
    /// Never: the data comes with the program, and a test loads every profile of it.
    #[must_use]
    pub fn default_profile() -> Arc<Self> {
        Self::load("fide-2023/classical").expect("it comes with the program; a test loads every one")
    }

    /// Its name, such as `fide-2023/classical`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The edition's title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// False when nobody could check the data against the text: to be shown wherever it is used.
    #[must_use]
    pub fn verified(&self) -> bool {
        self.verified
    }

    /// Classical, rapid or blitz.
    #[must_use]
    pub fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// Adequate supervision (13.3, 14.3); classical always is.
    #[must_use]
    pub fn supervised(&self) -> bool {
        self.supervised
    }

    /// The class of a time control with this many minutes (base and 60 increments).
    #[must_use]
    pub fn class_of(&self, seconds: u64) -> Discipline {
        if seconds <= u64::from(self.rules.blitz_up_to_minutes) * 60 {
            Discipline::Blitz
        } else if seconds < u64::from(self.rules.classical_from_minutes) * 60 {
            Discipline::Rapid
        } else {
            Discipline::Classical
        }
    }

    /// An article, named by the numbering of 2018, in the numbering of this edition.
    #[must_use]
    pub fn article(&self, of_2018: &str) -> String {
        let mut head = of_2018;
        loop {
            if let Some(here) = self.articles.get(head) {
                return format!("{here}{}", &of_2018[head.len()..]);
            }
            match head.rsplit_once('.') {
                Some((shorter, _)) => head = shorter,
                None => return of_2018.to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(name: &str) -> Rules {
        Profile::load(name).unwrap().rules.clone()
    }

    #[test]
    fn every_profile_that_comes_with_the_program_loads() {
        let editions = Editions::built_in().unwrap();
        assert_eq!(editions.profiles().len(), 20);
        for name in editions.profiles() {
            editions.profile(&name).unwrap();
        }
    }

    #[test]
    fn penalties_are_those_of_the_editions() {
        let penalty = |name| (rules(name).illegal_penalty_s, rules(name).illegal_moves_to_lose);
        assert_eq!(penalty("fide-2023/classical"), (120, 2));
        assert_eq!(penalty("fide-2023/rapid-sup"), (60, 2));
        assert_eq!(penalty("fide-2023/blitz-unsup"), (60, 2));
        assert_eq!(penalty("fide-2018/rapid-unsup"), (120, 2));
        assert_eq!(penalty("fide-2018/blitz-sup"), (60, 2));
        assert_eq!(penalty("fide-2014/rapid-sup"), (120, 2));
        assert_eq!(penalty("fide-2014/rapid-unsup"), (0, 1));
        assert_eq!(penalty("fide-2014/blitz-unsup"), (0, 1));
        assert_eq!(penalty("ru-988/rapid-sup"), (60, 2));
        assert!(!Profile::load("ru-988/classical").unwrap().verified());
    }

    #[test]
    fn articles_follow_the_edition() {
        let article = |name, of_2018| Profile::load(name).unwrap().article(of_2018);
        assert_eq!(article("fide-2018/classical", "13.4.2"), "13.4.2");
        assert_eq!(article("fide-2023/blitz-unsup", "13.4.2"), "A.5.2");
        assert_eq!(article("fide-2014/rapid-unsup", "13.4.2"), "A.4b");
        assert_eq!(article("fide-2023/classical", "9.2.1.2"), "9.2.2");
        assert_eq!(article("fide-2023/classical", "7.5.5"), "7.5.5");
        assert_eq!(article("fide-2023/classical", "9.2"), "9.2");
    }

    #[test]
    fn a_new_edition_is_a_file() {
        let mut editions = Editions::built_in().unwrap();
        editions
            .add("edition = \"x-2027\"\ntitle = \"t\"\nverified = false\ninherits = \"fide-2023\"\n[base]\nillegal_moves_to_lose = 3\n")
            .unwrap();
        let profile = editions.profile("x-2027/classical").unwrap();
        assert_eq!(profile.rules.illegal_moves_to_lose, 3);
        assert_eq!(profile.article("9.2.2"), "9.2.3");
        assert!(editions.add("edition = \"y\"\ntitle = \"t\"\nverified = true\nsurprise = 1\n").is_err());
    }

    #[test]
    fn wrong_names_are_told_what_exists() {
        assert!(matches!(Profile::load("fide-2023"), Err(ProfileError::Name(_))));
        assert!(matches!(Profile::load("fide-2023/bullet"), Err(ProfileError::Name(_))));
        let error = Profile::load("fide-1984/classical").unwrap_err().to_string();
        assert!(error.contains("fide-2014, fide-2018, fide-2023, ru-988"), "{error}");
    }
}
