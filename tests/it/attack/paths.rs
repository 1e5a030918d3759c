//! Addresses that lead elsewhere, and methods that would change something.

use super::{Fort, ask};
use crate::support::net::{http, raw};

/// Ways to climb out of a folder, plain and in every disguise.
const CLIMBS: [&str; 16] = [
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%5c",
    "..\\",
    "....//",
    "..;/",
    "%252e%252e%252f",
    "..%c0%af",
    "%c0%ae%c0%ae/",
    "..%00/",
    "/..//",
    "./.././",
    "..%ef%bc%8f",
    "%u002e%u002e/",
];

#[tokio::test]
async fn no_address_leads_to_a_file_of_the_machine() {
    let fort = Fort::build();
    let secret = std::fs::read_to_string(&fort.config).expect("the configuration");
    let hash = secret.lines().find(|line| line.starts_with("sha256")).expect("a hash").to_owned();
    let roots = [
        "/",
        "/web/",
        "/web/shared/",
        "/web/lang/",
        "/web/pieces/",
        "/round/",
        "/round/1/",
        "/get/",
        "/get/fort/",
        "/get/fort/round-1/",
        "/meta/",
        "/api/v1/",
        "/api/v1/tables/",
        "/static/",
        "//",
    ];
    let inside = fort.folder.path().to_str().expect("UTF-8").trim_start_matches('/').to_owned();
    let targets =
        ["etc/passwd".to_owned(), format!("{inside}/arbiterd.toml"), format!("{inside}/arbiterd.sqlite")];
    for root in roots {
        for climb in CLIMBS {
            for target in &targets {
                let path = format!("{root}{}{target}", climb.repeat(8));
                for address in fort.listeners() {
                    let request = format!(
                        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nauthorization: Bearer {}\r\n\r\n",
                        fort.chief
                    );
                    let answer = raw(address, request.as_bytes()).await;
                    assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
                    assert!(
                        !answer.body.contains("root:")
                            && !answer.body.contains(&hash)
                            && !answer.body.contains("SQLite format"),
                        "{path}"
                    );
                }
            }
        }
    }
    for name in [
        "game-1.pgn%00.txt",
        "game-1.pgn/",
        "game--1.pgn",
        "game-1e3.pgn",
        "game-99999999999.pgn",
        "GAMES.PGN",
        "games.pgn%0d%0aX-Evil:%201",
    ] {
        let answer = ask(fort.public, "GET", &format!("/round/1/{name}"), "", "").await;
        assert_eq!(answer.status, 404, "{name}");
        assert_eq!(answer.header("x-evil"), None);
    }
}

#[tokio::test]
async fn the_public_can_do_nothing_but_read() {
    let fort = Fort::build();
    let paths = [
        "/",
        "/ws",
        "/wall",
        "/embed",
        "/api/v1/tables",
        "/api/v1/tables/1",
        "/api/v1/tables/1/entry",
        "/api/v1/delay",
        "/api/v1/command",
        "/api/v1/session",
        "/api/v1/round/close",
        "/round/1/games.pgn",
        "/round/1/game-1.pgn",
        "/round/current/games.pgn",
        "/get/fort/tournament.json",
        "/get/fort/round-1/index.json",
        "/meta/fort",
        "/web/shared/board.js",
        "/metrics",
        "/readyz",
        "/nothing",
    ];
    let bearer = format!("Bearer {}", fort.chief);
    for path in paths {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "BREW"] {
            let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
            let status = http(fort.public, method, path, &headers, "{\"seconds\":5}").await.status;
            assert!((400..500).contains(&status), "{method} {path}: {status}");
        }
        for header in ["x-http-method-override", "x-method-override", "x-http-method"] {
            let before = http(fort.public, "GET", path, &[], "").await.status;
            assert_eq!(
                http(fort.public, "GET", path, &[(header, "POST")], "").await.status,
                before,
                "{path}"
            );
        }
    }
    // What is the desk's is not there at all, whatever token is shown.
    for path in [
        "/metrics",
        "/healthz",
        "/readyz",
        "/api/v1/alerts",
        "/api/v1/incidents",
        "/api/v1/tables/1/trace",
        "/api/v1/me",
        "/api/v1/outputs",
        "/api/v1/event",
        "/web/desk/main.js",
        "/web/lang/desk.en.json",
    ] {
        assert_eq!(ask(fort.public, "GET", path, &fort.chief, "").await.status, 404, "{path}");
    }
    let tables = ask(fort.public, "GET", "/api/v1/tables", &fort.chief, "").await.json();
    for table in tables.as_array().expect("tables") {
        for word in ["sensed", "alerts", "counts", "profile"] {
            assert!(table.get(word).is_none(), "{word} is the desk's");
        }
        assert_eq!(table["link"].as_object().expect("a link").len(), 1, "only whether it is online");
    }
    let event = ask(fort.desk, "GET", "/api/v1/event", &fort.chief, "").await.json();
    assert_eq!(event["delay_seconds"], 0, "nothing was changed");
}
