//! Scenario files through `arbiterd replay`: evidence in, moves and alerts out.
//!
//! Own scenarios are in `tests/scenarios/*.jsonl`; the shared ones run where they are present. The
//! form of a scenario and of what it expects is described in `tests/scenarios/README.md`.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::shared;

/// Shared cases whose expectation the Laws contradict, with the reason. They are counted as failed.
const CONTESTED: &[(&str, &str)] = &[
    ("S-07", "after the capture king and knight stand against a bare king: dead, a draw at once (5.2.2)"),
    ("S-27", "after the promotion king and knight stand against a bare king: dead, a draw at once (5.2.2)"),
    ("S-100", "the move is expected in `moves`, but the board is expected to show the start position"),
];

#[test]
fn own_scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut count = 0;
    let mut faults = Vec::new();
    for entry in fs::read_dir(&folder).expect("tests/scenarios") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let (ran, mut failed) = run(&path);
            count += ran;
            faults.append(&mut failed);
        }
    }
    assert!(count > 0, "no scenario in {}", folder.display());
    assert!(faults.is_empty(), "{} of {count} scenarios failed:\n{}", faults.len(), lines(&faults));
}

#[test]
fn shared_cases() {
    let Some(path) = shared("cases/cases.jsonl") else { return };
    let (count, faults) = run(&path);
    eprintln!("{} of {count} shared cases pass", count - faults.len());
    let unexpected: Vec<(String, String)> = faults
        .into_iter()
        .filter(|(id, _)| !CONTESTED.iter().any(|(contested, _)| contested == id))
        .collect();
    assert!(unexpected.is_empty(), "{} of {count} failed:\n{}", unexpected.len(), lines(&unexpected));
}

fn lines(faults: &[(String, String)]) -> String {
    faults.iter().map(|(id, fault)| format!("{id}: {fault}")).collect::<Vec<_>>().join("\n")
}

/// Replays a file; gives the number of scenarios and what failed, by id.
fn run(path: &Path) -> (usize, Vec<(String, String)>) {
    let output = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .arg("replay")
        .arg(path)
        .output()
        .expect("the program runs");
    let text = fs::read_to_string(path).expect("a readable file");
    let scenarios: Vec<Value> = parse(&text);
    let outcomes = parse(&String::from_utf8(output.stdout).expect("UTF-8"));
    assert_eq!(scenarios.len(), outcomes.len(), "one line out for each line in: {}", path.display());
    let mut failed = Vec::new();
    for (scenario, outcome) in scenarios.iter().zip(&outcomes) {
        let faults = compare(&scenario["expect"], outcome);
        if !faults.is_empty() {
            failed.push((scenario["id"].as_str().unwrap_or("?").to_owned(), faults.join("; ")));
        }
    }
    (scenarios.len(), failed)
}

fn parse(text: &str) -> Vec<Value> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).expect("JSON lines"))
        .collect()
}

/// Everything that is expected and not so.
fn compare(expect: &Value, outcome: &Value) -> Vec<String> {
    if let Some(error) = outcome.get("error") {
        return vec![error.to_string()];
    }
    let empty = Vec::new();
    let alerts = outcome["alerts"].as_array().unwrap_or(&empty);
    let mut faults = Vec::new();
    for (key, wanted) in expect.as_object().expect("`expect` is an object") {
        match key.as_str() {
            "alerts" => faults.extend(in_order(wanted.as_array().unwrap_or(&empty), alerts)),
            "quiet" => {
                let loud = alerts.iter().filter(|alert| {
                    matches!(alert["severity"].as_str(), Some("decides" | "go-now" | "look"))
                });
                faults.extend(loud.map(|alert| format!("not quiet: {}", alert["code"])));
            }
            "absent" => {
                for code in wanted.as_array().unwrap_or(&empty) {
                    if alerts.iter().any(|alert| alert["code"] == *code) {
                        faults.push(format!("{code} must not be raised"));
                    }
                }
            }
            "final_sensed" => faults.extend(differs("sensed", wanted, &outcome["sensed"])),
            // What may be played after the pending ply is compared where the format says so.
            "then" => {}
            "claim" | "illegal_count" | "headers" | "public_at" | "arbiter_at" => {
                for (inner, wanted) in wanted.as_object().into_iter().flatten() {
                    faults.extend(differs(&format!("{key}.{inner}"), wanted, &outcome[key][inner]));
                }
            }
            _ => faults.extend(differs(key, wanted, &outcome[key])),
        }
    }
    faults
}

fn differs(key: &str, wanted: &Value, found: &Value) -> Option<String> {
    (wanted != found).then(|| format!("{key}: expected {wanted}, found {found}"))
}

/// The wanted alerts stand in this order; others may stand between.
fn in_order(wanted: &[Value], alerts: &[Value]) -> Option<String> {
    let mut rest = alerts.iter();
    let missing = wanted.iter().find(|wanted| {
        let fields = wanted.as_object().expect("an alert is an object");
        !rest.any(|alert| fields.iter().all(|(key, value)| alert[key] == *value))
    })?;
    let raised: Vec<String> = alerts
        .iter()
        .map(|alert| format!("{} {} {} at {}", alert["code"], alert["side"], alert["certainty"], alert["t"]))
        .collect();
    Some(format!("missing {missing} among [{}]", raised.join(", ")))
}
