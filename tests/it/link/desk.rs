//! What the desk and the metrics of a running hall say of lines and boards.

use arbiterd::{
    sim::{BoardConfig, DeviceSetup, HallOptions, HandOptions, Level, SimHall, SimPort, famous_games, hand},
    wire::dgt::Battery,
};
use serde_json::Value;

use crate::support::daemon::{Daemon, PATIENCE, http_get, write_config};

fn links(daemon: &Daemon) -> Vec<Value> {
    let body: Value = serde_json::from_str(&http_get(&daemon.desk, "/api/v1/links")).expect("JSON");
    body.as_array().expect("a list").clone()
}

fn until(daemon: &Daemon, what: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let give_up = arbiterd::wall::uptime() + PATIENCE;
    loop {
        let links = links(daemon);
        if wanted(&links) {
            return links;
        }
        assert!(arbiterd::wall::uptime() < give_up, "waited in vain for {what}: {links:#?}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn health_reaches_the_desk_and_the_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = |serial: u32, battery: Option<u8>| {
        let game = &famous_games()[0];
        let script =
            hand::script(std::slice::from_ref(game), &HandOptions::new(Level::Tidy, u64::from(serial)));
        let battery = battery.map(|percent| Battery {
            percent,
            left: Some((2, 30)),
            on: (0, 10),
            standby: (0, 0, 0),
            status: 2,
        });
        let config = BoardConfig {
            serial,
            version: if battery.is_some() { (3, 10) } else { (1, 8) },
            battery,
            setup: DeviceSetup { clock: Some(game.control.clone()), ..DeviceSetup::default() },
            ..BoardConfig::default()
        };
        SimPort::board(format!("board-{serial}"), config, script)
    };
    let options = HallOptions {
        speed: 2.0,
        damaged_ppm: 3000,
        seed: 4,
        ..HallOptions::new(folder.path().join("boards"))
    };
    let hall = SimHall::start(vec![port(1025, Some(64)), port(1026, None)], &options).expect("terminals");
    let boards: Vec<_> = [1025, 1026].into_iter().zip(hall.ports().iter().cloned()).collect();
    let daemon = Daemon::run(&write_config(folder.path(), &boards));

    // Both are up, have been heard, and squares have changed.
    let seen = until(&daemon, "both boards, a battery, moves and damage", |links| {
        links.len() == 2
            && links.iter().all(|link| link["state"] == "up" && link["boards"][0]["clock"] == true)
            && links[0]["boards"][0]["battery"]["percent"] == 64
            && links.iter().any(|link| link["bytes_dropped"].as_u64() > Some(0))
            && links.iter().all(|link| {
                let changes = link["boards"][0]["square_changes"].as_array().expect("64 numbers");
                changes.iter().any(|count| count.as_u64() > Some(0))
            })
    });
    for (link, (serial, path)) in seen.iter().zip(&boards) {
        assert_eq!(link["port"], path.to_str().expect("UTF-8"));
        assert_eq!(link["reason"], Value::Null);
        assert_eq!(link["kind"], "DGT, single board");
        assert!(link["last_byte"].as_i64().expect("heard") > 0);
        for count in ["bytes", "messages"] {
            assert!(link[count].as_u64() > Some(0), "{count}: {link}");
        }
        assert!(link["checksum_failures"].is_u64() && link["resyncs"].is_u64());
        let board = &link["boards"][0];
        assert_eq!(board["board"], format!("{serial:05}"));
        for squares in ["square_changes", "square_healed"] {
            assert_eq!(board[squares].as_array().expect("a list").len(), 64);
        }
    }
    let board = &seen[0]["boards"][0];
    assert_eq!(board["battery_minutes_left"], 150);
    assert_eq!((&board["model"], &board["firmware"]), (&"DGT Bluetooth".into(), &serde_json::json!([3, 10])));
    assert_eq!(seen[1]["boards"][0]["battery"], Value::Null);
    let metrics = http_get(&daemon.desk, "/metrics");
    let value = |name: &str, label: &str| -> f64 {
        let line = metrics
            .lines()
            .find(|line| line.starts_with(&format!("arbiterd_{name}{{")) && line.contains(label))
            .unwrap_or_else(|| panic!("{name} {label} in {metrics}"));
        line.rsplit(' ').next().expect("a value").parse().expect("a number")
    };
    assert!(value("link_up", "board-1025") > 0.5);
    assert!(value("link_last_byte_age_seconds", "board-1025") >= 0.0);
    assert!(
        value("link_bytes_total", "board-1026") > 0.0 && value("link_messages_total", "board-1026") > 0.0
    );
    assert!((value("board_battery_percent", "01025") - 64.0).abs() < 0.1);
    assert!((value("board_battery_minutes_left", "01025") - 150.0).abs() < 0.1);
    for name in ["bytes_dropped", "resyncs", "checksum_failures", "reopenings"] {
        assert!(value(&format!("link_{name}_total"), "board-1026") >= 0.0);
    }

    // A pulled cable has a reason, and a new opening is counted.
    hall.unplug(1, false);
    let gone = until(&daemon, "the reason", |links| links[1]["reason"].is_string());
    assert_ne!(gone[1]["state"], "up");
    assert_eq!(gone[1]["boards"][0]["up"], false);
    hall.plug(1);
    let back = until(&daemon, "the board to be back", |links| links[1]["state"] == "up");
    assert!(back[1]["reopenings"].as_u64() > Some(0));
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();
}
