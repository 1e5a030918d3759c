//! Players with names made to break what shows them: pages, PGN, JSON, tables for a spreadsheet.

use arbiterd::record::pgn;
use serde_json::{Value, json};

use super::{Fort, NASTY, ask};
use crate::support::net::{Answer, get};

/// A browser that is sent this does not run a name as a script.
fn harmless(answer: &Answer, what: &str) {
    if answer.status == 400 && answer.body.is_empty() {
        return; // no address at all
    }
    let media = answer.header("content-type").unwrap_or_else(|| panic!("{what}: no media type")).to_owned();
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
    if media.starts_with("text/html") || media.contains("svg") || media.contains("xml") {
        for bad in ["<script>alert", "<img src=x", "onerror=alert(2)>"] {
            assert!(!answer.body.contains(bad), "{what}: {bad} in {}", answer.body);
        }
        assert!(answer.header("content-security-policy").is_some(), "{what}");
    }
}

#[tokio::test]
async fn a_name_stays_a_name_wherever_it_is_shown() {
    let fort = Fort::build();
    // An entry with a nasty note, so that the incident log has something to show.
    for note in NASTY {
        let body = json!({"act": "incident", "note": note}).to_string();
        assert_eq!(ask(fort.desk, "POST", "/api/v1/tables/1/entry", &fort.chief, &body).await.status, 200);
    }
    let body = json!({"act": "result", "result": "1-0"}).to_string();
    assert_eq!(ask(fort.desk, "POST", "/api/v1/tables/1/entry", &fort.chief, &body).await.status, 200);

    for path in [
        "/",
        "/api/v1/tables",
        "/api/v1/tables/1",
        "/api/v1/incidents",
        "/api/v1/incidents?format=html",
        "/api/v1/incidents?format=csv",
        "/api/v1/incidents?format=md",
        "/api/v1/event",
        "/api/v1/alerts",
        "/round/1/games.pgn",
        "/api/v1/tables/1/score",
        "/api/v1/protocols",
        "/metrics",
        "/api/v1/incidents?format=<script>alert(1)</script>",
        "/<script>alert(1)</script>",
        "/api/v1/tables/<script>alert(1)</script>",
    ] {
        let answer = ask(fort.desk, "GET", path, &fort.chief, "").await;
        harmless(&answer, path);
        if answer.header("content-type").is_some_and(|media| media.contains("json")) {
            serde_json::from_str::<Value>(&answer.body).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        }
    }
    for path in [
        "/",
        "/wall",
        "/embed?table=1",
        "/embed?table=<script>alert(1)</script>",
        "/api/v1/tables",
        "/round/1/games.pgn",
        "/round/1/game-1.pgn",
        "/get/fort/tournament.json",
        "/get/fort/round-1/index.json",
        "/get/fort/round-1/game-1.json",
        "/meta/fort",
        "/meta/<script>",
        "/?lang=<script>",
    ] {
        harmless(&get(fort.public, path).await, path);
    }

    // In PGN a name is one tag's value and nothing else.
    let text = get(fort.public, "/round/1/games.pgn").await.body;
    let games: Vec<_> =
        pgn::read_games(text.as_bytes()).map(|game| game.expect("a readable game").0).collect();
    assert_eq!(games.len(), 2, "{text}");
    for (index, game) in games.iter().enumerate() {
        assert!(game.plies.is_empty(), "no move came out of a name: {text}");
        // The writer may turn a quote into another; nothing else of the name is lost.
        let plain = |text: &str| text.replace('"', "'").split_whitespace().collect::<String>();
        assert_eq!(plain(game.tags.get("White").expect("a name")), plain(NASTY[index * 2 + 1]));
        assert_eq!(game.tags.get("Result"), Some(if index == 0 { "1-0" } else { "*" }));
    }

    // In a spreadsheet a note is no formula.
    let csv = ask(fort.desk, "GET", "/api/v1/incidents?format=csv", &fort.chief, "").await.body;
    for row in csv::Reader::from_reader(csv.as_bytes()).records() {
        for cell in &row.expect("a row") {
            assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
        }
    }

    // JSON says the very name.
    let tables = get(fort.public, "/api/v1/tables").await.json();
    assert_eq!(tables[0]["players"]["white"]["name"], NASTY[1]);
    assert_eq!(tables[1]["players"]["black"]["name"], NASTY[4]);

    // The archive's files keep to their folder, whatever the event is called.
    let archive = fort.folder.path().join("archive");
    let files: Vec<_> = walk(&archive);
    assert!(files.iter().all(|file| file.starts_with(&archive)));
    assert!(files.iter().all(|file| file.to_str().is_some_and(|name| !name.contains("script"))), "{files:?}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path().canonicalize().expect("a file"));
        }
    }
    files
}
