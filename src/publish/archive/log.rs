//! The incident log by rounds: which rounds are played, and what belongs into the report of each.

use std::collections::BTreeMap;

use serde_json::Value;

use super::evidence::RoundKey;
use crate::hall::{IncidentLog, Update, UpdateBody};

/// Folds updates into the logs of the rounds.
#[derive(Default)]
pub(super) struct Log {
    /// The rounds that are played, and whether they are open.
    pub(super) running: BTreeMap<String, (u32, bool)>,
    /// What happened, by round.
    pub(super) incidents: BTreeMap<RoundKey, IncidentLog>,
}

impl Log {
    /// Takes an update; answers the rounds that are over with it, or were corrected afterwards.
    pub(super) fn take(&mut self, update: &Update) -> Vec<RoundKey> {
        match &update.body {
            UpdateBody::Round(round) => self.round_changed(round),
            UpdateBody::Incident(incident) => self.incident(incident),
            _ => Vec::new(),
        }
    }

    fn round_changed(&mut self, round: &Value) -> Vec<RoundKey> {
        let number = |of: &Value| of["number"].as_u64().and_then(|number| u32::try_from(number).ok());
        let live = |of: &Value| of["live"].as_bool().unwrap_or(false);
        let mut running = BTreeMap::new();
        for section in round["sections"].as_array().into_iter().flatten() {
            if let (Some(id), Some(number @ 1..)) = (section["id"].as_str(), number(section)) {
                running.insert(id.to_owned(), (number, live(section)));
            }
        }
        if let (true, Some(number @ 1..)) = (running.is_empty(), number(round)) {
            running.insert(String::new(), (number, live(round)));
        }
        let mut over = Vec::new();
        for (section, (number, live)) in &self.running {
            let goes_on = running.get(section).is_some_and(|now| now.0 == *number && (now.1 || !live));
            if !goes_on {
                over.push((section.clone(), *number));
            }
        }
        self.running = running;
        over
    }

    /// The round is being played.
    pub(super) fn is_open(&self, (section, round): &RoundKey) -> bool {
        self.running.get(section).is_some_and(|(number, live)| number == round && *live)
    }

    fn incident(&mut self, incident: &Value) -> Vec<RoundKey> {
        let round = incident["round"].as_u64().and_then(|round| u32::try_from(round).ok()).unwrap_or(0);
        let keys: Vec<RoundKey> = match incident["section"].as_str() {
            Some(section) => vec![(section.to_owned(), round)],
            // What concerns the whole event stands in every report.
            None if incident["table"].is_null() => {
                self.running.iter().map(|(section, (number, _))| (section.clone(), *number)).collect()
            }
            None => vec![(String::new(), round)],
        };
        let mut late = Vec::new();
        for key in keys.into_iter().filter(|key| key.1 > 0) {
            if !self.is_open(&key) {
                late.push(key.clone());
            }
            self.incidents.entry(key).or_default().push(incident);
        }
        late
    }
}
