//! The lines' counters as Prometheus metrics, read at each scrape.
//!
//! | name | what |
//! | --- | --- |
//! | `link_up{port}` | 1 while a board answers on the port |
//! | `link_last_byte_age_seconds{port}` | since the last byte; missing when none came |
//! | `link_bytes`, `link_messages`, `link_bytes_dropped`, `link_resyncs`, `link_checksum_failures`, `link_reopenings` `{port}` | counts |
//! | `board_up{board}` | 1 while the board answers |
//! | `board_battery_percent`, `board_battery_minutes_left` `{board}` | where a battery is known |
//! | `board_squares_healed{board,square}` | changes of a square that only a dump told, if any |

use std::fmt;

use prometheus_client::{collector::Collector, encoding::DescriptorEncoder, metrics::MetricType};

use crate::wall;

use super::{BoardHealth, LineHealth, LineState, LinksHandle};

/// Reads the counters when asked.
#[derive(Debug)]
pub(super) struct LinkMetrics(pub(super) LinksHandle);

type LineCount = (&'static str, &'static str, fn(&LineHealth) -> u64);

const COUNTS: [LineCount; 6] = [
    ("link_bytes", "Bytes read", |line| line.bytes),
    ("link_messages", "Whole messages read", |line| line.messages),
    ("link_bytes_dropped", "Bytes that belonged to no message", |line| line.bytes_dropped),
    ("link_resyncs", "Messages cut short", |line| line.resyncs),
    ("link_checksum_failures", "Frames with a wrong checksum", |line| line.checksum_failures),
    ("link_reopenings", "How often the port was opened again", |line| line.reopenings),
];

impl Collector for LinkMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let lines = self.0.health();
        for (name, help, count) in COUNTS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for line in &lines {
                metric
                    .encode_family(&[("port", line.port.as_str())])?
                    .encode_counter::<[(&str, &str); 0], _, u64>(&count(line), None)?;
            }
        }
        let now = wall::now();
        let ages = lines.iter().filter_map(|line| {
            let age = now.since(line.last_byte?).max(0) as f64 / 1000.0;
            Some((line.port.as_str(), age))
        });
        gauge(&mut encoder, "link_last_byte_age_seconds", "Time since the last byte", "port", ages)?;
        let up = lines.iter().map(|line| (line.port.as_str(), f64::from(line.state == LineState::Up)));
        gauge(&mut encoder, "link_up", "A board answers on the port", "port", up)?;
        let boards = || lines.iter().flat_map(|line| line.boards.values());
        let name = |board: &BoardHealth| board.identity.serial.clone();
        let up = boards().map(|board| (name(board), f64::from(board.up)));
        gauge(&mut encoder, "board_up", "The board answers", "board", up)?;
        let percent = boards().filter_map(|board| Some((name(board), f64::from(board.battery?.percent))));
        gauge(&mut encoder, "board_battery_percent", "Charge left", "board", percent)?;
        let left = boards().filter_map(|board| Some((name(board), f64::from(board.battery_minutes_left()?))));
        gauge(&mut encoder, "board_battery_minutes_left", "Until the battery is empty", "board", left)?;
        let help = "Changes of a square that only a dump told";
        let mut metric =
            encoder.encode_descriptor("board_squares_healed", help, None, MetricType::Counter)?;
        for board in boards() {
            for (square, &count) in board.square_healed.iter().enumerate().filter(|(_, count)| **count > 0) {
                let square = square.to_string();
                metric
                    .encode_family(&[("board", board.identity.serial.as_str()), ("square", square.as_str())])?
                    .encode_counter::<[(&str, &str); 0], _, u64>(&u64::from(count), None)?;
            }
        }
        Ok(())
    }
}

fn gauge<L: AsRef<str>>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    values: impl Iterator<Item = (L, f64)>,
) -> Result<(), fmt::Error> {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (owner, value) in values {
        metric.encode_family(&[(label, owner.as_ref())])?.encode_gauge(&value)?;
    }
    Ok(())
}
