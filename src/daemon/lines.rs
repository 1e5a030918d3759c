//! How the lines and boards stand, as the desk is told: counters of each port, and of each board heard
//! on it. What is counted, and when a board counts as lost, is [`link`](crate::link)'s business.

use serde_json::{Value, json};

use crate::{
    link::{BoardHealth, LineHealth, LineState},
    record::Timestamp,
};

/// All lines, in the order of their ports.
pub(super) fn lines_json(lines: &[LineHealth]) -> Value {
    lines.iter().map(line_json).collect()
}

fn line_json(line: &LineHealth) -> Value {
    let (state, reason) = match &line.state {
        LineState::Probing => ("probing", None),
        LineState::Up => ("up", None),
        LineState::Down(why) => ("down", Some(why)),
    };
    json!({
        "port": line.port,
        "kind": line.kind,
        "state": state,
        "reason": reason,
        "since": line.since.millis(),
        "settings": line.settings,
        "last_byte": line.last_byte.map(Timestamp::millis),
        "bytes": line.bytes,
        "messages": line.messages,
        "bytes_dropped": line.bytes_dropped,
        "resyncs": line.resyncs,
        "checksum_failures": line.checksum_failures,
        "reopenings": line.reopenings,
        "boards": line.boards.iter().map(|(serial, board)| board_json(serial, board)).collect::<Value>(),
    })
}

fn board_json(serial: &str, board: &BoardHealth) -> Value {
    json!({
        "board": serial,
        "model": board.identity.model,
        "firmware": board.identity.firmware,
        "up": board.up,
        "last_heard": board.last_heard.millis(),
        "battery": board.battery,
        "battery_minutes_left": board.battery_minutes_left(),
        "clock": board.clock,
        "checksum_failures": board.checksum_failures,
        // By square from a8 to h1 in the board's own numbering.
        "square_changes": board.square_changes.to_vec(),
        "square_healed": board.square_healed.to_vec(),
        // Those that misbehave, named as if the connector were at White's left.
        "suspect_squares": board
            .suspect_squares()
            .map(|square| square.to_chess(false).to_string())
            .collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_down_says_why() {
        let line = LineHealth {
            port: "/dev/ttyUSB0".to_owned(),
            state: LineState::Down("nothing answers; is the board on?".to_owned()),
            last_byte: Some(Timestamp::from_millis(1_000)),
            bytes_dropped: 7,
            ..LineHealth::default()
        };
        let told = &lines_json(&[line])[0];
        assert_eq!(told["state"], "down");
        assert_eq!(told["reason"], "nothing answers; is the board on?");
        assert_eq!((&told["last_byte"], &told["bytes_dropped"]), (&json!(1000), &json!(7)));
        assert_eq!(told["boards"], json!([]));
    }
}
