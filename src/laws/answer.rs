//! Answers to entries: what the desk shows, and what programs read.

use serde_json::{Map, Value, json};
use shakmaty::Color;

use super::{
    Text,
    desk::Scene,
    referee::{Referee, Ruling},
    texts,
};

/// An answer being put together.
pub(super) struct Answer(Map<String, Value>);

impl Answer {
    pub(super) fn new(act: &str) -> Self {
        let mut map = Map::new();
        map.insert("act".into(), json!(act));
        Self(map)
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    pub(super) fn text(self, text: &Text) -> Self {
        self.with("text", json!(text))
    }

    pub(super) fn send(self, scene: &mut Scene<'_>) {
        scene.out.push(Ruling::Answer(Value::Object(self.0)));
    }
}

impl Referee {
    /// Nothing follows from it but that it is in the log.
    pub(super) fn noted(scene: &mut Scene<'_>, act: &str) {
        Answer::new(act).text(&texts::answer("noted", &[])).send(scene);
    }
}

/// A side as programs read it.
pub(super) fn word(side: Color) -> &'static str {
    side.fold_wb("white", "black")
}

/// A side as scenario files and tallies write it.
pub(super) fn letter(side: Color) -> &'static str {
    side.fold_wb("w", "b")
}
