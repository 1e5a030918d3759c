//! The whole state for a client that joins or fell behind.
//!
//! A table's part is encoded when it changed and somebody asks, outside the hall's lock, and kept;
//! so a thousand viewers who join at once cost one encoding, and the hall never waits for one.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;

use super::{Feed, Wanted};
use crate::{
    hall::{TableId, TableView},
    laws::Audience as AlertAudience,
    serve::ws::frame::text_frame,
};

/// A snapshot made so lately is given to further clients, which then get what came after it.
const FRESH: Duration = Duration::from_millis(100);

/// A snapshot as a frame.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The number of the last update in it.
    pub(crate) seq: u64,
    /// The ring's place after it.
    pub(crate) next: u64,
    /// The encoded message.
    pub(crate) frame: Bytes,
}

/// What was encoded lately.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    tables: BTreeMap<TableId, (u64, Arc<str>)>,
    last: Option<(Instant, Snapshot)>,
}

/// A table's part: kept from before, or still to be encoded.
enum Part {
    Kept(Arc<str>),
    New(TableId, u64, Box<TableView>),
}

impl Feed {
    /// The snapshot for what this client wants.
    pub(crate) fn snapshot(&self, wanted: &Wanted) -> Snapshot {
        let everything = wanted.is_everything();
        if everything
            && let Some((made, snapshot)) = &self.fragments().last
            && made.elapsed() < FRESH
            && self.read().ring.since(snapshot.next).is_some()
        {
            return snapshot.clone();
        }
        let (seq, next, round, parts) = {
            let fragments = self.fragments();
            let shared = self.read();
            let parts = self.parts(&shared, &fragments, wanted);
            (shared.view.seq.0, shared.ring.end(), shared.view.round.clone(), parts)
        };
        let tables = self.encode(parts, wanted);
        let head = json!({"type": "snapshot", "seq": seq, "round": round}).to_string();
        let mut message = head;
        message.pop();
        message.push_str(",\"tables\":");
        message.push_str(&tables);
        message.push('}');
        let snapshot = Snapshot { seq, next, frame: text_frame(&message) };
        if everything {
            self.fragments().last = Some((Instant::now(), snapshot.clone()));
        }
        snapshot
    }

    /// The `tables` of a snapshot alone, as JSON text.
    #[must_use]
    pub fn tables_json(&self, wanted: &Wanted) -> String {
        let parts = {
            let fragments = self.fragments();
            let shared = self.read();
            self.parts(&shared, &fragments, wanted)
        };
        self.encode(parts, wanted)
    }

    #[expect(clippy::unused_self, reason = "the lock order, fragments before shared, is this type's own")]
    fn parts(&self, shared: &super::Shared, fragments: &Fragments, wanted: &Wanted) -> Vec<Part> {
        let tables = shared.view.tables.iter();
        tables
            .filter(|(id, _)| wanted.tables.as_ref().is_none_or(|tables| tables.binary_search(id).is_ok()))
            .map(|(id, table)| {
                let version = shared.versions.get(id).copied().unwrap_or(0);
                match fragments.tables.get(id) {
                    Some((of, text)) if *of == version && !wanted.without_silent => Part::Kept(text.clone()),
                    _ => {
                        // The trace is not part of a snapshot, and long.
                        let table = TableView {
                            info: table.info.clone(),
                            game: table.game.clone(),
                            clock: table.clock,
                            sensed: table.sensed.clone(),
                            alerts: table.alerts.clone(),
                            ..TableView::default()
                        };
                        Part::New(*id, version, Box::new(table))
                    }
                }
            })
            .collect()
    }

    fn encode(&self, parts: Vec<Part>, wanted: &Wanted) -> String {
        let desk = self.audience == super::Audience::Desk;
        let mut out = String::from("[");
        for part in parts {
            if out.len() > 1 {
                out.push(',');
            }
            match part {
                Part::Kept(text) => out.push_str(&text),
                Part::New(id, version, mut table) => {
                    if wanted.without_silent {
                        table.alerts.retain(|_, alert| alert.audience != AlertAudience::ArbiterSilent);
                        out.push_str(&table.to_json(id, desk).to_string());
                        continue;
                    }
                    let text: Arc<str> = table.to_json(id, desk).to_string().into();
                    out.push_str(&text);
                    self.fragments().tables.insert(id, (version, text));
                }
            }
        }
        out.push(']');
        out
    }
}
