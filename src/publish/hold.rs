//! Which plies a channel shows already: each at once, only confirmed ones, or all but the last few.
//!
//! It stands between the delay and a channel and turns the hall's updates into those of a hall that
//! found its moves later. What was shown is only taken back when the record itself changed.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    hall::{TableId, Update, UpdateBody},
    record::{Ply, PlyState},
};

/// A channel's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldPolicy {
    /// Every ply at once; a provisional one may still be revised.
    #[default]
    Provisional,
    /// Confirmed plies only.
    Confirmed,
    /// Confirmed plies without the last so many, until the game has a result.
    Plies(u16),
}

/// Holds plies back by a policy.
#[derive(Clone, Debug, Default)]
pub struct Hold {
    policy: HoldPolicy,
    tables: BTreeMap<TableId, Held>,
}

#[derive(Clone, Debug, Default)]
struct Held {
    game: u64,
    /// The record as it is.
    full: Vec<Arc<Ply>>,
    /// What the channel was shown.
    shown: Vec<Arc<Ply>>,
    ended: bool,
}

impl Hold {
    /// With this policy.
    #[must_use]
    pub fn new(policy: HoldPolicy) -> Self {
        Self { policy, tables: BTreeMap::new() }
    }

    /// The updates as the channel may have them.
    pub fn pass(&mut self, updates: Vec<Update>) -> Vec<Update> {
        if self.policy == HoldPolicy::Provisional {
            return updates;
        }
        let mut out = Vec::with_capacity(updates.len());
        for update in updates {
            self.pass_one(update, &mut out);
        }
        out
    }

    fn pass_one(&mut self, update: Update, out: &mut Vec<Update>) {
        let Some(table) = update.table else {
            out.push(update);
            return;
        };
        let held = self.tables.entry(table).or_default();
        match &update.body {
            UpdateBody::Ply { index, ply, replaces } => {
                if *replaces {
                    held.full.truncate(*index);
                }
                match held.full.get_mut(*index) {
                    Some(old) => old.clone_from(ply),
                    None => held.full.push(Arc::clone(ply)),
                }
                held.show(self.policy, &update, *index, out);
            }
            UpdateBody::Undo { from } => {
                held.full.truncate(*from);
                held.show(self.policy, &update, *from, out);
            }
            UpdateBody::Result(result) => {
                held.ended = result.is_some();
                let from = held.shown.len();
                // The last moves first, then how it ended.
                held.show(self.policy, &update, from, out);
                out.push(update);
            }
            UpdateBody::Table(info) => {
                if info.game != held.game {
                    *held = Held { game: info.game, ..Held::default() };
                }
                out.push(update);
            }
            _ => out.push(update),
        }
    }
}

impl Held {
    /// Brings what is shown up to what may be shown. Nothing changed before `changed`.
    fn show(&mut self, policy: HoldPolicy, cause: &Update, changed: usize, out: &mut Vec<Update>) {
        let same = (changed.min(self.shown.len())..self.shown.len())
            .find(|&index| self.full.get(index) != Some(&self.shown[index]))
            .unwrap_or(self.shown.len());
        let confirmed =
            self.full.iter().skip(same).take_while(|ply| ply.state == PlyState::Confirmed).count();
        let may = match policy {
            HoldPolicy::Plies(lag) if !self.ended => (same + confirmed).saturating_sub(usize::from(lag)),
            _ => same + confirmed,
        };
        // What is shown and still stands stays shown.
        let may = may.max(same);
        let mut push = |body| out.push(Update { seq: cause.seq, at: cause.at, table: cause.table, body });
        let retracts = same < self.shown.len();
        if retracts && may == same {
            push(UpdateBody::Undo { from: same });
        }
        self.shown.truncate(same);
        for index in same..may {
            let ply = Arc::clone(&self.full[index]);
            let replaces = retracts && index == same;
            push(UpdateBody::Ply { index, ply: Arc::clone(&ply), replaces });
            self.shown.push(ply);
        }
    }
}
