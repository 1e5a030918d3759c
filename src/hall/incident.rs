//! The incident log: who ordered what, when, about which table. What alerts and entries say of themselves is
//! written where they are made.

use serde_json::{Map, Value, json};

use super::{Hall, TableId, Update, UpdateBody};
use crate::record::Timestamp;

/// The members of two objects that differ, each with its old and new value.
pub(super) fn changes(before: &Value, after: &Value) -> Value {
    let none = Map::new();
    let (before, after) = (before.as_object().unwrap_or(&none), after.as_object().unwrap_or(&none));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let of = |side: &Map<String, Value>, name: &String| side.get(name).cloned().unwrap_or(Value::Null);
    names
        .map(|name| (name, of(before, name), of(after, name)))
        .filter(|(_, was, is)| was != is)
        .map(|(name, was, is)| (name.clone(), json!([was, is])))
        .collect::<Map<String, Value>>()
        .into()
}

impl Hall {
    /// An entry about the event or a round.
    pub(super) fn log(&mut self, at: Timestamp, by: &str, mut incident: Value, updates: &mut Vec<Update>) {
        incident["at"] = json!(at.to_rfc3339());
        incident["by"] = json!(by);
        let round = match incident["section"].as_str() {
            Some(section) => self.round_of(section),
            None => self.round(),
        };
        incident["round"] = json!(round);
        self.number(at, None, UpdateBody::Incident(incident), updates);
    }

    /// An entry about a table.
    pub(super) fn log_table(
        &mut self,
        at: Timestamp,
        by: &str,
        table: TableId,
        mut incident: Value,
        updates: &mut Vec<Update>,
    ) {
        incident["by"] = json!(by);
        self.with_table(at, table, updates, |table| table.incident(at, incident));
    }
}
