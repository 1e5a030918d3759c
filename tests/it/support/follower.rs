//! A viewer that folds the stream as its documentation says, and notices every gap.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::{Value, json};

use super::net::Socket;

/// What a viewer knows.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    /// The tables it asked for; none for all.
    pub(crate) only: Option<Vec<u64>>,
    pub(crate) tables: BTreeMap<u64, Value>,
    /// The last number.
    pub(crate) seq: u64,
    /// Snapshots taken.
    pub(crate) snapshots: usize,
    /// Updates taken one by one.
    pub(crate) updates: usize,
}

impl Follower {
    pub(crate) fn of(only: Option<Vec<u64>>) -> Self {
        Self { only, ..Self::default() }
    }

    /// Opens the stream, going on from where it was if it was there before.
    pub(crate) async fn open(&self, address: SocketAddr) -> Socket {
        let tables =
            self.only.as_ref().map(|only| only.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
        let mut path = format!("/ws?tables={}", tables.unwrap_or_default());
        if self.seq > 0 {
            path += &["&from=", &self.seq.to_string()].concat();
        }
        Socket::open(address, &path).await
    }

    /// Takes one message in.
    pub(crate) fn take(&mut self, message: &Value) {
        let seq = message["seq"].as_u64().expect("every message has a number");
        match message["type"].as_str().expect("every message has a type") {
            "hello" => return,
            "snapshot" => {
                self.tables.clear();
                for table in message["tables"].as_array().expect("tables") {
                    self.tables.insert(table["table"].as_u64().expect("a number"), table.clone());
                }
                self.snapshots += 1;
            }
            // Who asked for some tables sees only some numbers, so only others can find a gap here.
            "heartbeat" => {
                assert!(self.only.is_some() || seq == self.seq, "a gap before {seq}, after {}", self.seq);
            }
            kind => {
                match (&self.only, message["table"].as_u64()) {
                    (None, _) => assert_eq!(seq, self.seq + 1, "a gap: {message}"),
                    (Some(only), Some(table)) => {
                        assert!(seq > self.seq && only.contains(&table), "not asked for: {message}");
                    }
                    (Some(_), None) => assert!(seq > self.seq),
                }
                if let Some(table) = message["table"].as_u64() {
                    self.fold(kind, table, message);
                }
                self.updates += 1;
            }
        }
        self.seq = seq;
    }

    fn fold(&mut self, kind: &str, number: u64, message: &Value) {
        if kind == "table" {
            let mut info = message.clone();
            for field in ["type", "seq", "at"] {
                info.as_object_mut().expect("an object").remove(field);
            }
            let old = self.tables.remove(&number).filter(|old| old["game"] == info["game"]);
            let old = old.unwrap_or_else(|| {
                json!({
                    "fen": info["start"], "plies": [], "result": null,
                    "clock": self.tables.get(&number).map_or(
                        json!({"white": null, "black": null, "running": null, "at": 0}),
                        |table| table["clock"].clone()),
                })
            });
            for field in ["fen", "plies", "result", "clock"] {
                info[field] = old[field].clone();
            }
            self.tables.insert(number, info);
            return;
        }
        let table = self.tables.get_mut(&number).expect("a table is told of before its moves");
        match kind {
            "ply" => {
                let mut ply = message["ply"].clone();
                let n = usize::try_from(ply["n"].as_u64().expect("a number")).expect("small");
                let plies = table["plies"].as_array_mut().expect("plies");
                assert!(n <= plies.len() + 1, "a ply too far: {message}");
                if !ply["replaces"].is_null() {
                    plies.truncate(n - 1);
                }
                ply["replaces"] = Value::Null;
                if n <= plies.len() {
                    plies[n - 1] = ply;
                } else {
                    plies.push(ply);
                }
            }
            "undo" => {
                let from = usize::try_from(message["from"].as_u64().expect("a number")).expect("small");
                table["plies"].as_array_mut().expect("plies").truncate(from - 1);
            }
            "clock" => table["clock"] = message["clock"].clone(),
            "result" => table["result"] = message["result"].clone(),
            other => panic!("an unknown message: {other}"),
        }
        let last = table["plies"].as_array().expect("plies").last();
        table["fen"] = last.map_or(table["start"].clone(), |ply| ply["fen"].clone());
    }
}
