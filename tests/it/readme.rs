//! The README's commands, as written.

use std::{fs, path::Path, process::Command};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The two commands of the first shell block.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let block =
        readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a shell block");
    block.lines().map(str::to_owned).collect()
}

#[test]
fn two_commands_do_it_all_and_ci_runs_the_same_test_command() {
    let commands = commands();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let ci = fs::read_to_string(root().join(".ci/run")).expect(".ci/run");
    let first = ci.lines().map(str::trim).find(|line| line.starts_with("cargo "));
    assert_eq!(first, Some(commands[1].as_str()), "the first cargo command of .ci/run");
}

#[test]
#[ignore = "builds in release mode; .ci/run runs it"]
fn the_first_command_plays_the_demo_to_its_end() {
    let command = commands().swap_remove(0);
    let mut words = command.split_whitespace();
    let output = Command::new(words.next().expect("a program"))
        .args(words)
        .current_dir(root())
        .output()
        .expect("it starts");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let archive = said.lines().find_map(|line| line.strip_prefix("archive")).expect("it says where").trim();
    for game in 1..=8 {
        let path = Path::new(archive).join(format!("round-1/game-{game}.pgn"));
        let text = fs::read_to_string(&path).expect("archived");
        assert!(text.contains("\n1. "), "{}: {text}", path.display());
        assert!(!text.contains("[Result \"*\"]"), "{}: {text}", path.display());
    }
}

#[test]
fn every_subcommand_of_the_readme_has_help_with_an_example() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let names: std::collections::BTreeSet<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `arbiterd "))
        .filter_map(|rest| rest.split([' ', '`']).next())
        .collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        let output =
            Command::new(env!("CARGO_BIN_EXE_arbiterd")).args([name, "--help"]).output().expect("it runs");
        let help = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(0), "{name}: {help}");
        assert!(help.contains("Example"), "{name} --help shows an example: {help}");
        assert!(help.contains(&format!("arbiterd {name}")), "{name} --help: {help}");
    }
}
