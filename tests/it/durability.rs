//! Disks that fill up, drives that vanish, clocks that are set back, machines that die: the daemon says
//! so at the desk, follows on in memory, loses nothing that was shown, and recovers by itself.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use arbiterd::{
    hall::{Input, InputBody},
    journal::Journal,
    wall,
};
use serde_json::Value;

use crate::{
    end_to_end::{boards, config},
    support::{
        daemon::{Daemon, PATIENCE, http_get, moves},
        net,
    },
};

/// Asks until the answer is as wanted.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let give_up = wall::uptime() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(wall::uptime() < give_up, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Status and body of the desk's `/readyz`.
fn ready(daemon: &Daemon) -> (u16, String) {
    let desk = daemon.desk.parse().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answer = runtime.block_on(net::get(desk, "/readyz"));
    (answer.status, answer.body)
}

fn public_tables(daemon: &Daemon) -> Vec<Value> {
    let body: Value = serde_json::from_str(&http_get(&daemon.public, "/api/v1/tables")).expect("JSON");
    body.as_array().expect("tables").clone()
}

/// The moves of a table that are confirmed.
fn confirmed(table: &Value) -> Vec<String> {
    let plies = table["plies"].as_array().expect("plies");
    let plies = plies.iter().take_while(|ply| ply["state"] == "confirmed");
    plies.map(|ply| ply["uci"].as_str().expect("UCI").to_owned()).collect()
}

/// What was confirmed before is there now.
fn nothing_is_lost(before: &[Value], after: &[Value]) {
    for (before, after) in before.iter().zip(after) {
        let (before, now) = (confirmed(before), confirmed(after));
        assert!(now.starts_with(&before), "table {}: {before:?} became {now:?}", after["table"]);
    }
}

/// The games go on: some moves more at each table.
fn they_go_on(daemon: &Daemon) {
    let before = daemon.tables();
    let after = daemon.until("the games to go on", |tables| {
        tables.iter().zip(&before).all(|(now, before)| {
            moves(now).len() >= moves(before).len() + 2 || now["status"] == "ended" && !moves(now).is_empty()
        })
    });
    nothing_is_lost(&before, &after);
}

fn with_journal(config: &Path, file: &Path) {
    let mut text = fs::read_to_string(config).expect("a configuration");
    let journal = format!("[journal]\nfile = {:?}\n", file.to_str().expect("UTF-8"));
    text += &journal;
    fs::write(config, text).expect("a writable folder");
}

fn plies(tables: &[Value]) -> usize {
    tables.iter().map(|table| moves(table).len()).sum()
}

/// A file system of its own, gone with the value.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir_all(&at).expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&at)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: this user may not mount a small disk");
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A test that has failed already says more than this could.
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn a_full_disk_is_said_at_the_desk_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(disk) = Disk::mount(folder.path().join("disk"), "size=6m") else { return };
    let (hall, _, serials) = boards(folder.path(), 2, 2.0);
    let config = config(folder.path(), &hall, &serials);
    with_journal(&config, &disk.0.join("hall.sqlite"));
    let daemon = Daemon::run(&config);
    daemon.until("some moves", |tables| tables.iter().all(|table| moves(table).len() >= 4));
    assert_eq!(ready(&daemon).0, 200);

    let filler = disk.0.join("filler");
    let fill = || {
        let mut size = 1 << 20;
        let mut written = fs::read(&filler).unwrap_or_default();
        while size > 0 {
            let more = vec![0; written.len() + size];
            if fs::write(&filler, &more).is_ok() {
                written = more;
            } else {
                size /= 2;
            }
        }
    };
    let why = until("the desk to say so", || {
        fill();
        let (status, body) = ready(&daemon);
        (status == 503).then_some(body)
    });
    assert!(why.contains("cannot write") && why.contains("in memory"), "{why}");
    let at_failure = plies(&public_tables(&daemon));
    let now = plies(&daemon.tables());
    let desk = daemon.until("the desk to follow on", |tables| plies(tables) >= now + 4);
    let public = plies(&public_tables(&daemon));
    assert!(public <= at_failure + 1 && public < plies(&desk), "viewers see only what is on the disk");

    fs::remove_file(&filler).expect("room again");
    until("the journal to be written again", || (ready(&daemon).0 == 200).then_some(()));
    let shown = daemon.tables();
    until("viewers to catch up", || (plies(&public_tables(&daemon)) >= plies(&shown)).then_some(()));
    let shown = daemon.tables();
    daemon.kill();
    let daemon = Daemon::run(&config);
    nothing_is_lost(&shown, &daemon.tables());
    they_go_on(&daemon);
    hall.stop();
}

#[test]
fn a_read_only_disk_is_refused_at_once_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(disk) = Disk::mount(folder.path().join("disk"), "size=1m,ro") else { return };
    let config = folder.path().join("arbiterd.toml");
    fs::write(&config, "[desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n")
        .expect("a file");
    with_journal(&config, &disk.0.join("hall.sqlite"));
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .args(["run", "--config"])
        .arg(&config)
        .timeout(PATIENCE)
        .output()
        .expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("hall.sqlite") && said.contains("permissions"), "{said}");
}

#[test]
fn a_journal_on_a_drive_that_vanishes_goes_on_when_the_drive_is_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, _, serials) = boards(folder.path(), 2, 2.0);
    let config = config(folder.path(), &hall, &serials);
    let (drive, away) = (folder.path().join("drive"), folder.path().join("away"));
    with_journal(&config, &drive.join("hall.sqlite"));
    let daemon = Daemon::run(&config);
    daemon.until("some moves", |tables| tables.iter().all(|table| moves(table).len() >= 4));
    fs::rename(&drive, &away).expect("a folder");
    let why = until("the desk to say so", || Some(ready(&daemon)).filter(|(status, _)| *status == 503)).1;
    assert!(why.contains("is gone"), "{why}");
    let now = plies(&daemon.tables());
    daemon.until("the desk to follow on", |tables| plies(tables) >= now + 3);
    fs::rename(&away, &drive).expect("a folder");
    until("the journal to go on", || (ready(&daemon).0 == 200).then_some(()));
    let shown = daemon.tables();
    daemon.kill();
    let daemon = Daemon::run(&config);
    nothing_is_lost(&shown, &daemon.tables());
    they_go_on(&daemon);
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();
}

#[test]
fn a_clock_set_back_an_hour_stops_nothing_and_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, _, serials) = boards(folder.path(), 1, 2.0);
    let config = config(folder.path(), &hall, &serials);
    let daemon = Daemon::run(&config);
    daemon.until("some moves", |tables| moves(&tables[0]).len() >= 4);
    assert_eq!(daemon.terminate(), Some(0));
    // While the machine was off its clock lost an hour: what is in the journal lies ahead.
    let mut journal = Journal::open(&folder.path().join("arbiterd.sqlite")).expect("the journal");
    let body = InputBody::Started { version: "before".to_owned() };
    let input = Input { at: wall::now().plus(3_600_000), body };
    journal.append([serde_json::to_string(&input).expect("JSON").as_str()]).expect("room");
    drop(journal);
    let daemon = Daemon::run(&config);
    let why = until("the desk to say so", || Some(ready(&daemon)).filter(|(status, _)| *status == 503)).1;
    assert!(why.contains("clock of this machine"), "{why}");
    they_go_on(&daemon);
    // Deadlines are served and viewers are shown: nothing waits for the hour to pass.
    let shown = confirmed(&daemon.tables()[0]).len();
    until("viewers to see it", || (confirmed(&public_tables(&daemon)[0]).len() >= shown).then_some(()));
    assert_eq!(daemon.terminate(), Some(0));
    let daemon = Daemon::run(&config);
    they_go_on(&daemon);
    hall.stop();
}

#[test]
fn an_archive_that_could_not_be_written_is_written_by_itself_when_it_can() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("arbiterd.toml");
    fs::write(
        &config,
        "[event]\nid = \"test\"\n[round]\nnumber = 1\n[archive]\nfolder = \"archive\"\n[[table]]\nnumber = 1\n\
         white = \"A\"\nblack = \"B\"\n[desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n",
    )
    .expect("a file");
    let archive = folder.path().join("archive");
    fs::write(&archive, "something else").expect("a file in the way");
    let daemon = Daemon::run(&config);
    let wait = wall::uptime() + Duration::from_secs(1);
    until("the first attempts to fail", || (wall::uptime() > wait).then_some(()));
    assert!(archive.is_file());
    fs::remove_file(&archive).expect("out of the way");
    until("the archive", || archive.join("round-1/games.pgn").exists().then_some(()));
    assert_eq!(daemon.terminate(), Some(0));
}

/// `arbiterd backup --follow`.
struct Standby(Child);

impl Standby {
    fn follow(journal: &Path, copy: &Path) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
            .args(["backup", "--follow", "--journal"])
            .arg(journal)
            .arg(copy)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        Self(child)
    }

    fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is running");
        assert_eq!(self.0.wait().expect("it has ended").code(), Some(0));
    }
}

#[test]
fn a_warm_standby_takes_the_boards_over_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, _, serials) = boards(folder.path(), 2, 2.0);
    let config = config(folder.path(), &hall, &serials);
    let (journal, copy) =
        (folder.path().join("arbiterd.sqlite"), folder.path().join("second/arbiterd.sqlite"));
    fs::create_dir(copy.parent().expect("a folder")).expect("the second machine");
    let daemon = Daemon::run(&config);
    let standby = Standby::follow(&journal, &copy);
    daemon.until("some moves", |tables| tables.iter().all(|table| moves(table).len() >= 8));
    until("the copy to be there", || copy.exists().then_some(()));
    let shown = daemon.tables();
    // At most a second behind: what was shown is in the copy a moment later.
    let wanted = Journal::open_read_only(&journal).and_then(|journal| journal.len()).expect("the journal");
    until("the copy to follow", || {
        let there = Journal::open_read_only(&copy).and_then(|copy| copy.len());
        there.is_ok_and(|there| there >= wanted).then_some(())
    });
    // The first machine dies.
    daemon.kill();
    standby.end();
    fs::rename(&journal, folder.path().join("dead.sqlite")).expect("the dead machine's disk");
    with_journal(&config, &copy);
    let began = wall::uptime();
    let daemon = Daemon::run(&config);
    let online = daemon.until("the boards to be taken over", |tables| {
        tables.iter().all(|table| table["link"]["online"] == true)
    });
    eprintln!("taken over in {:.1} s", wall::uptime().checked_sub(began).unwrap().as_secs_f64());
    nothing_is_lost(&shown, &online);
    they_go_on(&daemon);
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();
}

#[test]
fn a_copy_that_follows_is_never_mixed_with_another_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = Vec::new();
    for name in ["one", "two"] {
        let path = folder.path().join(name);
        let mut journal = Journal::open(&path).expect("a new journal");
        journal.append([format!("{{\"of\":\"{name}\"}}").as_str()]).expect("room");
        paths.push(path);
    }
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .args(["backup", "--follow", "--journal"])
        .args(&paths)
        .timeout(PATIENCE)
        .output()
        .expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a copy"));
}
