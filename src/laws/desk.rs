//! The alerts of one table: raised once, updated in place, cleared when the board puts things right.
//!
//! What deserves an alert is decided elsewhere; here it gets its number, article and text.

use serde_json::{Map, Value};
use shakmaty::{Color, Square};

use super::{
    Advice, Alert, AlertId, AlertState, Audience, Certainty, Code, Profile, Ruling, Severity, TouchEvidence,
    catalogue, texts, texts::Arg,
};
use crate::record::{Game, Timestamp};

/// The moment something is said: when, about which record, and where the rulings go.
pub(super) struct Scene<'a> {
    pub(super) at: Timestamp,
    pub(super) game: &'a Game,
    pub(super) out: &'a mut Vec<Ruling>,
}

/// An alert about to be raised.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    code: Code,
    side: Option<Color>,
    severity: Severity,
    certainty: Certainty,
    audience: Audience,
    article: &'static str,
    variant: &'static str,
    key: String,
    args: Vec<(&'static str, Arg)>,
    detail: Map<String, Value>,
    advice: Advice,
    evidence: Vec<TouchEvidence>,
    deadline: Option<Timestamp>,
}

impl Notice {
    /// With everything the catalogue says of this code; certain until told otherwise.
    pub(super) fn new(code: Code) -> Self {
        let (severity, audience, article) = catalogue::defaults(code);
        Self {
            code,
            side: None,
            severity,
            certainty: Certainty::Certain,
            audience,
            article,
            variant: "",
            key: String::new(),
            args: Vec::new(),
            detail: Map::new(),
            advice: Advice::default(),
            evidence: Vec::new(),
            deadline: None,
        }
    }

    /// Whose it is; also fills `{side}` and `{opponent}`.
    pub(super) fn side(mut self, side: Color) -> Self {
        self.side = Some(side);
        self.arg("side", side).arg("opponent", !side)
    }

    pub(super) fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub(super) fn certainty(mut self, certainty: Certainty) -> Self {
        self.certainty = certainty;
        self
    }

    pub(super) fn probable(self) -> Self {
        self.certainty(Certainty::Probable)
    }

    pub(super) fn needs_arbiter(self) -> Self {
        self.certainty(Certainty::NeedsArbiter)
    }

    /// Another article than the catalogue's, in the numbering of 2018.
    pub(super) fn article(mut self, article: &'static str) -> Self {
        self.article = article;
        self
    }

    /// Another text of the same code.
    pub(super) fn variant(mut self, variant: &'static str) -> Self {
        self.variant = variant;
        self
    }

    /// What makes this fault another one than an earlier one of the same code and side.
    pub(super) fn key(mut self, key: impl std::fmt::Display) -> Self {
        self.key = key.to_string();
        self
    }

    /// Fills a placeholder.
    pub(super) fn arg(mut self, name: &'static str, value: impl Into<Arg>) -> Self {
        self.args.push((name, value.into()));
        self
    }

    /// Squares to look at; also fills `{squares}`.
    pub(super) fn squares(mut self, squares: impl IntoIterator<Item = Square>) -> Self {
        self.advice.squares = squares.into_iter().map(|square| square.to_string()).collect();
        let mut shown: Vec<_> = self.advice.squares.iter().take(4).cloned().collect();
        if self.advice.squares.len() > 4 {
            shown.push("…".to_owned());
        }
        self.arg("squares", shown.join(" "))
    }

    /// Something for programs.
    pub(super) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.detail.insert(name.to_owned(), value.into());
        self
    }

    /// Changes the advice.
    pub(super) fn advise(mut self, change: impl FnOnce(&mut Advice)) -> Self {
        change(&mut self.advice);
        self
    }

    /// Until when it can be acted on, at the latest.
    pub(super) fn deadline(mut self, deadline: Option<Timestamp>) -> Self {
        self.deadline = deadline;
        self
    }

    pub(super) fn evidence(mut self, evidence: Vec<TouchEvidence>) -> Self {
        self.evidence = evidence;
        self
    }
}

#[derive(Clone, Debug)]
struct Entry {
    alert: Alert,
    key: String,
}

/// All alerts of a table's game.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk {
    entries: Vec<Entry>,
}

fn is_live(alert: &Alert) -> bool {
    matches!(alert.state, AlertState::Open | AlertState::Acknowledged)
}

impl Desk {
    /// The number raised last; 0 before the first.
    pub(super) fn last(&self) -> AlertId {
        AlertId(self.entries.len() as u32)
    }

    /// Raises an alert, or brings the open one of the same fault up to date. The same thing is said
    /// once.
    pub(super) fn raise(&mut self, scene: &mut Scene<'_>, profile: &Profile, notice: Notice) -> AlertId {
        let text = texts::alert(notice.code, notice.variant, &notice.args);
        let same = self.entries.iter_mut().rev().find(|entry| {
            entry.alert.code == notice.code
                && entry.alert.side == notice.side
                && entry.key == notice.key
                && is_live(&entry.alert)
        });
        if let Some(entry) = same {
            let alert = &mut entry.alert;
            let before = alert.clone();
            alert.severity = alert.severity.min(notice.severity);
            alert.certainty = notice.certainty;
            alert.text = text;
            alert.advice = notice.advice;
            alert.detail = notice.detail;
            alert.deadline = notice.deadline;
            if alert.evidence.is_empty() {
                alert.evidence = notice.evidence;
            }
            if *alert != before {
                scene.out.push(Ruling::Alert(Box::new(alert.clone())));
            }
            return alert.id;
        }
        let id = AlertId(self.last().0 + 1);
        let alert = Alert {
            id,
            code: notice.code,
            side: notice.side,
            severity: notice.severity,
            certainty: notice.certainty,
            audience: notice.audience,
            article: if notice.article.is_empty() { String::new() } else { profile.article(notice.article) },
            profile: profile.name().to_owned(),
            at: scene.at,
            ply: scene.game.plies.len(),
            text,
            detail: notice.detail,
            advice: notice.advice,
            deadline: notice.deadline,
            evidence: notice.evidence,
            // What is only logged asks nothing of anyone.
            state: if notice.severity == Severity::Log { AlertState::Cleared } else { AlertState::Open },
            note: None,
            by: None,
        };
        scene.out.push(Ruling::Alert(Box::new(alert.clone())));
        self.entries.push(Entry { alert, key: notice.key });
        id
    }

    /// Changes live alerts that fit and tells about those that really changed.
    pub(super) fn update(
        &mut self,
        scene: &mut Scene<'_>,
        fits: impl Fn(&Alert, &str) -> bool,
        change: impl Fn(&mut Alert),
    ) {
        for entry in &mut self.entries {
            if is_live(&entry.alert) && fits(&entry.alert, &entry.key) {
                let before = entry.alert.clone();
                change(&mut entry.alert);
                if entry.alert != before {
                    scene.out.push(Ruling::Alert(Box::new(entry.alert.clone())));
                }
            }
        }
    }

    /// Clears the live alerts of these codes.
    pub(super) fn clear(&mut self, scene: &mut Scene<'_>, codes: &[Code]) {
        self.update(scene, |alert, _| codes.contains(&alert.code), |alert| alert.state = AlertState::Cleared);
    }

    /// Clears the live alerts of this code and key.
    pub(super) fn clear_key(&mut self, scene: &mut Scene<'_>, code: Code, key: impl std::fmt::Display) {
        let key = key.to_string();
        self.update(
            scene,
            |alert, own| alert.code == code && own == key,
            |alert| alert.state = AlertState::Cleared,
        );
    }

    /// A live alert of this code.
    pub(super) fn live(&self, code: Code) -> Option<&Alert> {
        self.entries.iter().rev().map(|entry| &entry.alert).find(|alert| alert.code == code && is_live(alert))
    }

    /// Whether an alert of this code and key is live.
    pub(super) fn live_key(&self, code: Code, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.alert.code == code && entry.key == key && is_live(&entry.alert))
    }

    /// All live alerts, oldest first.
    pub(super) fn all_live(&self) -> impl Iterator<Item = &Alert> {
        self.entries.iter().map(|entry| &entry.alert).filter(|alert| is_live(alert))
    }

    /// Any live alert of these codes.
    pub(super) fn any_live(&self, codes: &[Code]) -> bool {
        codes.iter().any(|code| self.live(*code).is_some())
    }

    /// Was this code ever raised in this game?
    pub(super) fn ever(&self, code: Code) -> bool {
        self.entries.iter().any(|entry| entry.alert.code == code)
    }

    /// The alert with this number, live or not.
    pub(super) fn get_mut(&mut self, id: AlertId) -> Option<&mut Alert> {
        let index = (id.0 as usize).checked_sub(1)?;
        self.entries.get_mut(index).map(|entry| &mut entry.alert)
    }
}
