//! What the desk is told of lines and boards (`GET /api/v1/links`): health in one JSON object.
//!
//! ```json
//! {"at": 1777646400000, "links": [{
//!   "port": "/dev/ttyUSB0", "state": "up", "reason": null, "since": 1777646000000,
//!   "kind": "DGT, single board", "settings": "", "last_byte": 1777646399950, "last_byte_age_ms": 50,
//!   "bytes": 81234, "messages": 8123, "bytes_dropped": 0, "resyncs": 0, "checksum_failures": 0,
//!   "reopenings": 1,
//!   "boards": [{
//!     "board": "01025", "model": "DGT", "firmware": [1, 8], "up": true, "last_heard": 1777646399950,
//!     "clock": true, "battery": {"percent": 80, "charging": false, "minutes_left": 400},
//!     "checksum_failures": 0, "square_changes": [0, 3], "square_healed": [0, 0],
//!     "suspect_squares": ["e4"]}]}]}
//! ```
//!
//! | key | what |
//! | --- | --- |
//! | `at`, `since`, `last_byte`, `last_heard` | milliseconds since 1970 UTC; null when nothing was heard |
//! | `state` | `probing` (opened, nobody has said who it is), `up`, `down`; `reason`: why it was down last, and what to do; null once a board answers |
//! | `kind` | what the line turned out to be |
//! | `settings` | settings the port did not take; empty when all is as asked |
//! | `bytes` … `reopenings` | counts since the start |
//! | `firmware` | main and minor, raw; null when not said |
//! | `clock` | one is connected; null while not known |
//! | `battery` | null where there is none; `minutes_left` as the board says or as it went down so far, null while charging or not known |
//! | `square_changes`, `square_healed` | 64 numbers each, board square 0 to 63 (0 = a8 when the connector is at White's left): changes told by the board, and changes that only a dump told |
//! | `suspect_squares` | squares that misbehave, named as if the connector were at White's left |

use serde_json::{Value, json};

use super::{BoardHealth, LineHealth, LineState};
use crate::record::Timestamp;

/// The whole report.
pub(super) fn report(lines: &[LineHealth], now: Timestamp) -> Value {
    let links: Vec<Value> = lines.iter().map(|line| one_line(line, now)).collect();
    json!({"at": now.millis(), "links": links})
}

fn one_line(line: &LineHealth, now: Timestamp) -> Value {
    let state = match &line.state {
        LineState::Probing => "probing",
        LineState::Up => "up",
        LineState::Down(_) => "down",
    };
    let boards: Vec<Value> = line.boards.values().map(one_board).collect();
    json!({
        "port": line.port,
        "state": state,
        "reason": line.trouble,
        "since": line.since.millis(),
        "kind": line.kind,
        "settings": line.settings,
        "last_byte": line.last_byte.map(Timestamp::millis),
        "last_byte_age_ms": line.last_byte.map(|last| now.since(last).max(0)),
        "bytes": line.bytes,
        "messages": line.messages,
        "bytes_dropped": line.bytes_dropped,
        "resyncs": line.resyncs,
        "checksum_failures": line.checksum_failures,
        "reopenings": line.reopenings,
        "boards": boards,
    })
}

fn one_board(board: &BoardHealth) -> Value {
    let suspects: Vec<String> =
        board.suspect_squares().map(|square| square.to_chess(false).to_string()).collect();
    json!({
        "board": board.identity.serial,
        "model": board.identity.model,
        "firmware": board.identity.firmware,
        "up": board.up,
        "last_heard": board.last_heard.millis(),
        "clock": board.clock,
        "battery": board.battery.map(|battery| json!({
            "percent": battery.percent,
            "charging": battery.charging,
            "minutes_left": board.battery_minutes_left(),
        })),
        "checksum_failures": board.checksum_failures,
        "square_changes": board.square_changes.to_vec(),
        "square_healed": board.square_healed.to_vec(),
        "suspect_squares": suspects,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{BatteryReading, BoardIdentity};

    #[test]
    fn a_bad_square_and_a_falling_battery_are_told() {
        let identity = BoardIdentity {
            serial: "01025".to_owned(),
            model: "DGT".to_owned(),
            firmware: Some((3, 10)),
            port: "/dev/rfcomm0".to_owned(),
        };
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let mut board = BoardHealth::new(identity, at(0));
        let reading = |percent| BatteryReading { percent, minutes_left: None, charging: false };
        board.set_battery(reading(90), at(0));
        board.set_battery(reading(60), at(100));
        board.square_changes = [2; 64];
        board.square_changes[36] = 90;
        board.square_healed[10] = 4;
        let mut line = LineHealth { port: "/dev/rfcomm0".to_owned(), ..LineHealth::default() };
        line.state = LineState::Down("unplugged".to_owned());
        line.trouble = Some("unplugged".to_owned());
        line.last_byte = Some(at(99));
        line.boards.insert("01025".into(), board);
        let told = report(&[line], at(100));
        let (line, board) = (&told["links"][0], &told["links"][0]["boards"][0]);
        assert_eq!((&line["state"], &line["reason"]), (&json!("down"), &json!("unplugged")));
        assert_eq!(line["last_byte_age_ms"], 60_000);
        // Thirty percent in a hundred minutes: sixty last two hundred.
        assert_eq!(board["battery"]["minutes_left"], 200);
        assert_eq!(board["suspect_squares"], json!(["c7", "e4"]));
        assert_eq!(board["firmware"], json!([3, 10]));
    }
}
