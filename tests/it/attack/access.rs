//! Strangers, and those who may less than they try.

use serde_json::{Value, json};

use super::{Fort, ask};
use crate::support::net::{Socket, get, http, post};

/// Every address of the desk that is not for everybody.
const INSIDE: [(&str, &str); 27] = [
    ("GET", "/ws"),
    ("GET", "/metrics"),
    ("GET", "/api/v1/me"),
    ("GET", "/api/v1/tables"),
    ("GET", "/api/v1/tables/1"),
    ("POST", "/api/v1/tables/1"),
    ("GET", "/api/v1/tables/1/trace"),
    ("GET", "/api/v1/tables/1/score"),
    ("POST", "/api/v1/tables/1/read-score"),
    ("POST", "/api/v1/tables/1/entry"),
    ("POST", "/api/v1/tables/1/correct"),
    ("POST", "/api/v1/tables/1/bind"),
    ("POST", "/api/v1/tables/1/mute"),
    ("GET", "/api/v1/alerts"),
    ("GET", "/api/v1/outputs"),
    ("GET", "/api/v1/incidents"),
    ("GET", "/api/v1/event"),
    ("POST", "/api/v1/event"),
    ("POST", "/api/v1/round"),
    ("POST", "/api/v1/round/start"),
    ("POST", "/api/v1/round/close"),
    ("POST", "/api/v1/swap"),
    ("POST", "/api/v1/delay"),
    ("POST", "/api/v1/command"),
    ("POST", "/api/v1/import"),
    ("GET", "/round/1/games.pgn"),
    ("GET", "/api/v1/protocols"),
];

#[tokio::test]
async fn nobody_comes_in_with_a_wrong_token_anywhere() {
    let fort = Fort::build();
    let short = &fort.chief[..63];
    let longer = format!("{}0", fort.chief);
    let upper = fort.chief.to_uppercase();
    let mut turned = fort.chief.clone().into_bytes();
    turned[10] = if turned[10] == b'0' { b'1' } else { b'0' };
    let turned = String::from_utf8(turned).expect("digits");
    let giant = "a".repeat(8000);
    for (method, path) in INSIDE {
        let body = if method == "POST" { "{}" } else { "" };
        assert_eq!(http(fort.desk, method, path, &[], body).await.status, 401, "{method} {path}");
        for wrong in [short, &longer, &turned, "", "null", &giant] {
            assert_eq!(ask(fort.desk, method, path, wrong, body).await.status, 401, "{method} {path}");
        }
    }
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &upper, "").await.status, 401);
    for (name, value) in [
        ("authorization", format!("Basic {}", fort.chief)),
        ("authorization", fort.chief.clone()),
        ("cookie", format!("arbiterd_desk={turned}")),
        ("cookie", format!("other={}", fort.chief)),
        ("x-token", fort.chief.clone()),
    ] {
        let answer = http(fort.desk, "GET", "/api/v1/me", &[(name, &value)], "").await;
        assert_eq!(answer.status, 401, "{name}");
        assert!(!answer.body.contains(&fort.chief), "a refusal repeats no secret");
    }
    // A token in an address is no token: addresses end up in logs and histories.
    let address = format!("/api/v1/me?token={}", fort.chief);
    assert_eq!(get(fort.desk, &address).await.status, 401);
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &fort.chief, "").await.status, 200);
}

#[tokio::test]
async fn each_role_is_refused_what_is_not_its_own_at_every_address() {
    let fort = Fort::build();
    let setup = json!({"table": 1, "white": {"name": "Usurper"}});
    // (order, chief, arbiter of table 1, operator, guest): may they?
    let orders: Vec<(&str, Value, [bool; 4])> = vec![
        ("/api/v1/tables/1/entry", json!({"act": "result", "result": "1-0"}), [true, true, false, false]),
        ("/api/v1/tables/2/entry", json!({"act": "result", "result": "1-0"}), [true, false, false, false]),
        ("/api/v1/tables/1/entry", json!({"act": "reopen"}), [true, true, false, false]),
        ("/api/v1/tables/1/entry", json!({"act": "incident", "note": "x"}), [true, true, true, false]),
        ("/api/v1/tables/1/correct", json!({"what": "undo"}), [true, true, true, false]),
        ("/api/v1/tables/2/correct", json!({"what": "undo"}), [true, false, true, false]),
        ("/api/v1/tables/1/mute", json!({"code": "clock-lost", "muted": true}), [true, true, true, false]),
        ("/api/v1/tables/2/mute", json!({"code": "clock-lost", "muted": true}), [true, false, true, false]),
        ("/api/v1/tables/1/bind", json!({"board": "77777"}), [true, false, true, false]),
        ("/api/v1/tables/1", setup.clone(), [true, false, true, false]),
        ("/api/v1/swap", json!({"a": 1, "b": 2}), [true, false, true, false]),
        ("/api/v1/delay", json!({"seconds": 0}), [true, false, true, false]),
        ("/api/v1/round/start", json!({}), [true, false, true, false]),
        ("/api/v1/round/close", json!({}), [true, false, true, false]),
        ("/api/v1/event", json!({"id": "fort"}), [true, false, true, false]),
        ("/api/v1/command", json!({"do": "delay", "seconds": 0}), [true, false, true, false]),
        (
            "/api/v1/command",
            json!({"do": "entry", "table": 2, "entry": {"act": "result", "result": "0-1"}}),
            [true, false, false, false],
        ),
        ("/api/v1/command", json!({"do": "table", "table": setup}), [true, false, true, false]),
        ("/api/v1/import", json!({}), [true, false, true, false]),
    ];
    for (path, body, may) in &orders {
        let body = body.to_string();
        for (token, may) in [&fort.chief, &fort.arbiter, &fort.operator, &fort.guest].into_iter().zip(may) {
            let status = ask(fort.desk, "POST", path, token, &body).await.status;
            assert_eq!(status != 403, *may, "{path} {body} answered {status}");
        }
    }
    // A number in the body does not carry an order to another table than the address names.
    let moved = json!({"table": 2, "white": {"name": "Usurper"}}).to_string();
    assert_eq!(ask(fort.desk, "POST", "/api/v1/tables/1", &fort.operator, &moved).await.status, 200);
    let tables = ask(fort.desk, "GET", "/api/v1/tables", &fort.guest, "").await.json();
    assert_eq!(tables[0]["players"]["white"]["name"], "Usurper");
    assert_ne!(tables[1]["players"]["white"]["name"], "Usurper");
    // The name in the log is the token's, whatever a client says.
    let body = json!({"act": "incident", "note": "who was it", "by": "chief"}).to_string();
    ask(fort.desk, "POST", "/api/v1/tables/1/entry", &fort.operator, &body).await;
    let log = ask(fort.desk, "GET", "/api/v1/incidents", &fort.chief, "").await.json();
    let noted = log.as_array().expect("a list").iter().find(|entry| entry["entry"]["note"] == "who was it");
    assert!(noted.is_none_or(|entry| entry["by"] == "otto"), "{noted:?}");
}

#[tokio::test]
async fn a_name_that_points_here_from_elsewhere_is_no_way_in() {
    let fort = Fort::build();
    let bearer = format!("Bearer {}", fort.chief);
    let signed = ("authorization", bearer.as_str());
    for address in fort.listeners() {
        for host in
            ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "fort"]
        {
            for path in
                ["/", "/ws", "/api/v1/tables", "/api/v1.0", "/metrics", "/healthz", "/round/1/games.pgn"]
            {
                let answer = http(address, "GET", path, &[("host", host), signed], "").await;
                assert_eq!(answer.status, 421, "{host} {path}");
                assert!(!answer.body.contains("players"), "nothing is told");
            }
        }
        let twice = http(address, "GET", "/", &[("host", "localhost"), ("host", "evil.example")], "").await;
        assert!((400..500).contains(&twice.status), "two hosts: {}", twice.status);
    }
    let evil = ("origin", "http://evil.example");
    assert_eq!(Socket::open_as(fort.desk, "/ws", &[evil, signed]).await.err(), Some(403));
    assert_eq!(Socket::open_as(fort.livechess, "/api/v1.0", &[evil]).await.err(), Some(403));
    let near = format!("http://127.0.0.1:{}", fort.public.port());
    assert_eq!(
        Socket::open_as(fort.desk, "/ws", &[("origin", near.as_str()), signed]).await.err(),
        Some(403),
        "the public page is another origin"
    );
}

#[tokio::test]
async fn a_page_elsewhere_cannot_order_anything_through_an_arbiters_browser() {
    let fort = Fort::build();
    let answer = post(fort.desk, "/api/v1/session", &[], &json!({"token": fort.chief})).await;
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"));
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let signed = ("cookie", cookie.as_str());
    let order = "{\"seconds\":600}";
    // What a form can send.
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let answer =
            http(fort.desk, "POST", "/api/v1/delay", &[signed, ("content-type", media)], order).await;
        assert_eq!(answer.status, 415, "{media}");
    }
    let json_type = ("content-type", "application/json");
    for origin in ["http://evil.example", "null", "http://localhost", "https://127.0.0.1", "file://"] {
        let headers = [signed, json_type, ("origin", origin)];
        assert_eq!(http(fort.desk, "POST", "/api/v1/delay", &headers, order).await.status, 403, "{origin}");
        let headers = [signed, ("origin", origin)];
        let ending = http(fort.desk, "DELETE", "/api/v1/session", &headers, "").await;
        assert_eq!(ending.status, 403, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        let headers = [signed, json_type, ("sec-fetch-site", site)];
        assert_eq!(http(fort.desk, "POST", "/api/v1/delay", &headers, order).await.status, 403, "{site}");
    }
    // Nobody is told that another page may ask.
    let preflight = [("origin", "http://evil.example"), ("access-control-request-method", "POST")];
    let answer = http(fort.desk, "OPTIONS", "/api/v1/delay", &preflight, "").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    // An order is never a GET.
    for path in ["/api/v1/delay?seconds=600", "/api/v1/round/close", "/api/v1/swap?a=1&b=2"] {
        assert_eq!(http(fort.desk, "GET", path, &[signed], "").await.status, 405, "{path}");
    }
    let event = http(fort.desk, "GET", "/api/v1/event", &[signed], "").await.json();
    assert_eq!(event["delay_seconds"], 0, "nothing was changed");
    // The page itself may.
    let own = format!("http://{}", fort.desk);
    let headers = [signed, json_type, ("origin", own.as_str())];
    assert_eq!(http(fort.desk, "POST", "/api/v1/delay", &headers, order).await.status, 200);
}

#[test]
fn a_desk_open_to_the_network_without_a_token_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("arbiterd.toml");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080"] {
        let text = format!("[desk]\nlisten = \"{address}\"\n[public]\nlisten = \"127.0.0.1:0\"\n");
        std::fs::write(&config, text).expect("a writable folder");
        let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_arbiterd"))
            .args(["run", "--config"])
            .arg(&config)
            .timeout(crate::support::daemon::PATIENCE)
            .output()
            .expect("it ends");
        assert_eq!(output.status.code(), Some(78), "{address}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("token"), "{said}");
        assert!(!folder.path().join("arbiterd.sqlite").exists(), "nothing was begun");
    }
}
