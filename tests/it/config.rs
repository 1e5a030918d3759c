//! The configuration: the example is right, and every fault of a bad one is told at once.

use std::{fs, path::Path, process::Command};

/// Runs `arbiterd run --config` on this text; exit code and what it said.
fn run(text: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("arbiterd.toml");
    fs::write(&path, text).expect("a writable folder");
    for secret in ["lichess.token", "hook.secret"] {
        fs::write(folder.path().join(secret), "not a secret\n").expect("a writable folder");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .args(["run", "--config"])
        .arg(&path)
        .args(arguments)
        .output()
        .expect("the program runs");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!folder.path().join("arbiterd.sqlite").exists(), "nothing is begun");
    (output.status.code(), said)
}

#[test]
fn the_example_can_be_used_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/arbiterd.toml");
    let text = fs::read_to_string(path).expect("config/arbiterd.toml");
    let (code, said) = run(&text, &["--check"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn every_key_of_the_example_is_known() {
    // The keys that stand there as remarks, switched on; those that exclude each other stay off.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/arbiterd.toml");
    let text = fs::read_to_string(path).expect("config/arbiterd.toml");
    let mut switched = String::new();
    let mut section = "";
    for line in text.lines() {
        let key = line.strip_prefix("# ").filter(|rest| {
            rest.starts_with('[') || rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
        });
        let line = key.unwrap_or(line);
        if line.starts_with('[') {
            section = line;
        }
        if section == "[nats]" && cfg!(not(feature = "nats")) {
            switched.push('\n');
            continue;
        }
        // TLS is a matter of the build, and the files of pairings are not there.
        let left_out = [
            "start =",
            "chess960 =",
            "certificates =",
            "key =",
            "draw_agreement =",
            "editions =",
            "file = \"round",
            "list =",
        ];
        if !left_out.iter().any(|key| line.starts_with(key)) {
            switched += &line.replace("64 hexadecimal digits", &"ab".repeat(32));
        }
        switched.push('\n');
    }
    let (code, said) = run(&switched, &["--check"]);
    assert_eq!((code, said.as_str()), (Some(0), ""), "{switched}");
}

#[test]
fn every_fault_is_told_at_once_with_its_line_and_a_remedy() {
    let (code, said) = run(
        r#"[event]
name = "Open"
delay_secnds = 900
profile = "fide-2031/classical"

[[table]]
number = 1
board = "01025"

[[table]]
number = 1
board = 1026

[[table]]
board = "01025"
white = { name = "A", rating = "high" }

[[port]]
mode = "bus"

[[port]]
path = "/dev/ttyUSB0"
make = "abacus"

[desk]
listen = "everywhere"

[colour]
scheme = "dark"
"#,
        &[],
    );
    assert_eq!(code, Some(78));
    for (line, words) in [
        (3, "`delay_secnds` is not known in [event]; expected one of: id, name"),
        (4, "fide-2031"),
        (10, "table 1 is there twice"),
        (12, "`table.board`: expected a text in quotes, found a integer"),
        (14, "a [[table]] needs `number`"),
        (16, "`table.white.rating`: expected a whole number from 0 to 4000"),
        (18, "a [[port]] needs `path`"),
        (23, "`port.make`: \"abacus\" is not one of: dgt, certabo, millennium"),
        (26, "`desk.listen`: \"everywhere\" is not an address such as"),
        (28, "`colour` is not known here"),
    ] {
        let found = said.lines().any(|told| told.contains(&format!("line {line}: ")) && told.contains(words));
        assert!(found, "line {line}: {words}\n--- was not told in:\n{said}");
    }
}

#[test]
fn a_board_at_two_tables_and_tables_without_a_port_are_refused() {
    let (code, said) =
        run("[[table]]\nnumber = 1\nboard = \"1\"\n[[table]]\nnumber = 2\nboard = \"1\"\n", &[]);
    assert_eq!(code, Some(78));
    assert!(said.contains("board 00001 is bound to table 1 and to table 2"), "{said}");
    assert!(said.contains("there is no [[port]] to find them on"), "{said}");
}

#[test]
fn a_desk_beyond_this_machine_needs_tokens() {
    let (code, said) = run("[desk]\nlisten = \"0.0.0.0:8080\"\n", &[]);
    assert_eq!(code, Some(78));
    assert!(said.contains("there is no [[token]]"), "{said}");
}

#[test]
fn broken_toml_is_told_with_its_line() {
    let (code, said) = run("[event]\nname = \"Open\nsite = \"here\"\n", &[]);
    assert_eq!(code, Some(78));
    assert!(said.contains("line 2: "), "{said}");
}
