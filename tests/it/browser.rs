//! The pages in a real Chromium, driven by the scripts in `tests/browser/`: by themselves against a
//! stand-in, against the daemon with people who sign in, and beside a demo. Needs `node`, `npm` and
//! Chromium, so it is run by `.ci/run` and not by a plain `cargo test`.

use std::{path::Path, process::Command};

#[test]
#[ignore = "needs node and Chromium: cargo test --test it browser -- --ignored"]
fn the_pages_hold_in_a_real_browser() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    if !scripts.join("node_modules").exists() {
        let installed = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund"])
            .current_dir(&scripts)
            .status()
            .expect("npm can be started");
        assert!(installed.success(), "npm ci: {installed}");
    }
    let tests = ["viewer", "desk", "weight", "signed", "real"].map(|name| format!("{name}.test.mjs"));
    let run = Command::new("node")
        .args(["--test", "--test-concurrency=1"])
        .args(&tests)
        .current_dir(&scripts)
        .env("ARBITERD", env!("CARGO_BIN_EXE_arbiterd"))
        .status()
        .expect("node can be started");
    assert!(run.success(), "the browser's tests: {run}");
}
