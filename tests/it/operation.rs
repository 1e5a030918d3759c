//! What an operator sees from outside: metrics by name, logs, `doctor`, tokens that come and go.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
    time::Duration,
};

use arbiterd::wall;
use serde_json::{Value, json};

use crate::{
    attack::{Fort, ask},
    support::{
        daemon::{Daemon, PATIENCE},
        net::{Socket, get, post},
    },
};

#[tokio::test]
async fn the_list_of_metrics_is_what_the_program_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("arbiterd.toml");
    let text = "[desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n[[port]]\npath = \"/dev/not-there\"\n";
    fs::write(&config, text).expect("a file");
    let daemon = Daemon::run(&config);
    let printed = get(daemon.desk.parse().expect("an address"), "/metrics").await.body;
    let printed: BTreeSet<String> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|rest| {
            let (name, kind) = rest.split_once(' ').expect("a name and a kind");
            if kind == "counter" { format!("{name}_total {kind}") } else { format!("{name} {kind}") }
        })
        .collect();
    let listed: BTreeSet<String> = include_str!("../../docs/metrics.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|row| {
            let mut cells = row.split('|');
            let name = cells.next().expect("a name").trim().trim_matches('`').to_owned();
            format!("{name} {}", cells.next().expect("a kind").trim())
        })
        .collect();
    assert_eq!(listed, printed);
}

#[tokio::test]
async fn a_token_made_by_a_command_lets_in_and_one_revoked_by_a_command_does_not() {
    let fort = Fort::build();
    let token = |arguments: &[&str]| {
        let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_arbiterd"))
            .arg("token")
            .args(arguments)
            .arg("--config")
            .arg(&fort.config)
            .output()
            .expect("it ends");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = token(&["nina", "--role", "operator"]);
    assert_eq!(code, Some(0), "{said}");
    let nina = said.split("#token=").nth(1).expect("a link").trim().to_owned();
    assert!(!fs::read_to_string(&fort.config).expect("the file").contains(&nina), "only its hash is kept");
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &nina, "").await.status, 401, "not known yet");
    fort.reload();
    until_status(&fort, &nina, 200).await;
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &fort.chief, "").await.status, 200, "the others stay");

    let (code, said) = token(&["nina", "--revoke"]);
    assert_eq!(code, Some(0), "{said}");
    fort.reload();
    until_status(&fort, &nina, 401).await;
    let cookie = format!("arbiterd_desk={nina}");
    assert_eq!(Socket::open_as(fort.desk, "/ws", &[("cookie", &cookie)]).await.err(), Some(401));
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &fort.chief, "").await.status, 200, "the others stay");
    assert_eq!(token(&["nina", "--revoke"]).0, Some(1), "there is none any more");

    // A configuration that is broken meanwhile locks nobody out and lets nobody in.
    fs::write(&fort.config, "[desk\n").expect("a file");
    fort.reload();
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &fort.chief, "").await.status, 200);
    assert_eq!(ask(fort.desk, "GET", "/api/v1/me", &nina, "").await.status, 401);
}

async fn until_status(fort: &Fort, token: &str, status: u16) {
    let give_up = wall::uptime() + PATIENCE;
    while ask(fort.desk, "GET", "/api/v1/me", token, "").await.status != status {
        assert!(wall::uptime() < give_up, "the tokens were not read again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn logs_are_json_in_words_and_tell_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("arbiterd.toml");
    let mut tokens = arbiterd::serve::access::Tokens::default();
    let chief =
        tokens.create("chief", arbiterd::serve::access::Role::ChiefArbiter, None).expect("random numbers");
    let text = format!(
        "[desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n[[port]]\npath = \"/dev/not-there\"\n{}",
        crate::attack::token_sections(&tokens)
    );
    fs::write(&config, text).expect("a file");
    let path = config.to_str().expect("UTF-8");
    let daemon = Daemon::start(&["-vv", "--log-format", "json", "run", "--config", path]);
    let desk = daemon.desk.parse().expect("an address");
    assert_eq!(post(desk, "/api/v1/session", &[], &json!({"token": chief})).await.status, 200);
    let wrong = format!("{}0", &chief[1..]);
    assert_eq!(post(desk, "/api/v1/session", &[], &json!({"token": wrong})).await.status, 401);
    assert_eq!(ask(desk, "GET", &format!("/api/v1/me?token={chief}"), &chief, "").await.status, 200);
    ask(desk, "POST", "/api/v1/delay", &chief, "{\"seconds\":60}").await;
    let bearer = format!("Bearer {chief}");
    drop(Socket::open_as(desk, "/ws", &[("authorization", &bearer)]).await);
    let said = daemon.terminate_and_tell();
    assert!(said.lines().count() > 2, "{said}");
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|fault| panic!("{fault}: {line}"));
        assert!(line["level"].is_string() && line["timestamp"].is_string(), "{line}");
        assert!(line["fields"]["message"].is_string(), "{line}");
    }
    for secret in [&chief, &wrong, &tokens.0[0].sha256] {
        assert!(!said.contains(secret.as_str()), "a secret is in the log");
    }
}

/// What `arbiterd doctor` finds: exit code, and findings by check and state.
fn doctor(config: &std::path::Path) -> (Option<i32>, Vec<Value>) {
    let output = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .args(["doctor", "--json", "--config"])
        .arg(config)
        .stdin(Stdio::null())
        .output()
        .expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let findings = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (output.status.code(), findings)
}

fn found<'a>(findings: &'a [Value], check: &str, state: &str) -> Option<&'a str> {
    findings
        .iter()
        .find(|finding| finding["check"] == check && finding["state"] == state)
        .and_then(|finding| finding["says"].as_str())
}

#[test]
fn doctor_names_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("arbiterd.toml");
    let listen = "[desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n[archive]\nfolder = \"archive\"\n";
    fs::write(&config, listen).expect("a file");
    let (code, findings) = doctor(&config);
    assert_eq!(code, Some(0), "{findings:#?}");
    assert!(found(&findings, "disk", "ok").is_some() && found(&findings, "network", "ok").is_some());
    assert!(found(&findings, "ports", "warn").is_some_and(|says| says.contains("no [[port]]")));
    assert!(findings.iter().all(|finding| finding["state"] == "ok" || finding["remedy"].is_string()));
    assert!(!folder.path().join("arbiterd.sqlite").exists(), "it changes nothing");

    // A damaged journal, a port that is taken, a folder that is a file, an address of others.
    fs::write(folder.path().join("arbiterd.sqlite"), "this is a letter, not a journal, and long enough")
        .expect("a file");
    fs::write(folder.path().join("archive"), "a file in the way").expect("a file");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken_at = taken.local_addr().expect("an address");
    fs::write(
        &config,
        format!(
            "[desk]\nlisten = \"{taken_at}\"\n[public]\nlisten = \"192.0.2.77:8081\"\n[archive]\nfolder = \"archive\"\n\
             [[port]]\npath = \"/dev/not-there*\"\n"
        ),
    )
    .expect("a file");
    let (code, findings) = doctor(&config);
    assert_eq!(code, Some(1));
    assert!(
        found(&findings, "journal", "fail").is_some_and(|says| says.contains("is no journal")),
        "{findings:#?}"
    );
    assert!(found(&findings, "disk", "fail").is_some_and(|says| says.contains("archive")), "{findings:#?}");
    assert!(found(&findings, "network", "warn").is_some_and(|says| says.contains("in use")));
    assert!(found(&findings, "network", "fail").is_some_and(|says| says.contains("192.0.2.77")));
    assert!(found(&findings, "ports", "warn").is_some_and(|says| says.contains("not-there")));

    fs::write(&config, "[desk]\nlisten = \"nowhere\"\n").expect("a file");
    assert_eq!(doctor(&config).0, Some(78));
}

#[test]
fn doctor_reads_a_journal_that_is_in_use() {
    let fort = Fort::build();
    let (_, findings) = doctor(&fort.config);
    assert!(found(&findings, "journal", "ok").is_some_and(|says| says.contains("inputs")), "{findings:#?}");
    assert!(found(&findings, "access", "ok").is_some_and(|says| says.starts_with('4')), "{findings:#?}");
}
