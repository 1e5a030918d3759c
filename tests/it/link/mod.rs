//! The drivers on real pseudo-terminals, against scripted boards that share no code with them.

#![expect(clippy::unwrap_used, reason = "a test may fail by it")]

mod boards;
mod chain;
mod desk;
mod makes;

use std::{
    fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use arbiterd::{
    link::{LineState, Links, Mode, PortConfig, Sighting, Timing},
    wire::{ClockState, Content, LinkEvent, Observation, RecoveredEvent, dgt},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use tokio::sync::mpsc::{Receiver, channel, error::TryRecvError};

use crate::support::shared;

/// A pseudo-terminal behind a symbolic link, as a replugged device would be.
pub(crate) struct Pty {
    master: OwnedFd,
}

impl Pty {
    pub(crate) fn new(link: &Path) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let mut settings = tcgetattr(&master).unwrap();
        settings.make_raw();
        tcsetattr(&master, OptionalActions::Now, &settings).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let new = link.with_extension("new");
        std::os::unix::fs::symlink(name, &new).unwrap();
        fs::rename(new, link).unwrap();
        Self { master }
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = rustix::io::write(&self.master, rest).unwrap();
            rest = &rest[count..];
        }
    }

    /// Bytes that came within 20 ms; none while nobody has the other end open.
    pub(crate) fn receive(&self) -> Vec<u8> {
        let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        poll(&mut fds, Some(&wait)).unwrap();
        if !fds[0].revents().contains(PollFlags::IN) {
            thread::sleep(Duration::from_millis(5));
            return Vec::new();
        }
        let mut buffer = [0; 256];
        let count = rustix::io::read(&self.master, &mut buffer).unwrap_or(0);
        buffer[..count].to_vec()
    }
}

/// What a scripted board has and does.
struct Script {
    serial: [u8; 5],
    squares: [u8; 64],
    clock: [u8; 7],
    log: Vec<u8>,
    /// Sent instead of the next dump.
    false_dump: Option<[u8; 64]>,
    /// Sent at the first byte that comes: a program that is gone had asked for it.
    late: Vec<u8>,
    mute: bool,
    /// It is no board: answers as a modem would.
    modem: bool,
    /// To be sent, in pieces as given.
    queue: Vec<Vec<u8>>,
    heard: Vec<u8>,
}

impl Script {
    fn new(serial: &str) -> Self {
        Self {
            serial: serial.as_bytes().try_into().unwrap(),
            squares: START,
            clock: [0, 0, 0, 0, 0, 0, 0x20],
            log: Vec::new(),
            false_dump: None,
            late: Vec::new(),
            mute: false,
            modem: false,
            queue: Vec::new(),
            heard: Vec::new(),
        }
    }

    fn answer(&mut self, command: u8) -> Vec<u8> {
        let framed = |id: u8, data: &[u8]| {
            let length = data.len() + 3;
            [&[id, (length >> 7) as u8, length as u8 & 0x7f], data].concat()
        };
        match command {
            _ if self.modem => b"\r\nERROR\r\n".to_vec(),
            _ if self.mute => Vec::new(),
            0x41 => framed(0x8d, &self.clock),
            0x42 => framed(0x86, &self.false_dump.take().unwrap_or(self.squares)),
            0x45 => framed(0x91, &self.serial),
            0x49 => framed(0x8f, &self.log),
            0x4d => framed(0x93, &[1, 8]),
            _ => Vec::new(),
        }
    }
}

const START: [u8; 64] = [
    8, 9, 10, 12, 11, 10, 9, 8, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 6, 5, 4, 3, 2,
];

/// A scripted board of the single-board protocol on its pseudo-terminal.
struct Board {
    script: Arc<Mutex<Script>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    fn plug(link: &Path, script: Script) -> Self {
        Self::replug(link, Arc::new(Mutex::new(script)))
    }

    fn replug(link: &Path, script: Arc<Mutex<Script>>) -> Self {
        let pty = Pty::new(link);
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (Arc::clone(&script), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let bytes = pty.receive();
                let mut script = shared.lock().unwrap();
                for byte in bytes {
                    script.heard.push(byte);
                    pty.send(&std::mem::take(&mut script.late));
                    let answer = script.answer(byte);
                    pty.send(&answer);
                }
                for piece in std::mem::take(&mut script.queue) {
                    pty.send(&piece);
                }
            }
        });
        Self { script, stop, thread: Some(thread) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Script) -> T) -> T {
        act(&mut self.script.lock().unwrap())
    }

    fn say(&self, hex: &str) {
        self.with(|script| script.queue.push(bytes(hex)));
    }

    /// Pulls the cable.
    fn unplug(mut self) -> Arc<Mutex<Script>> {
        self.end();
        Arc::clone(&self.script)
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.end();
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Quick enough for tests, with all the driver's stations.
fn timing() -> Timing {
    let ms = Duration::from_millis;
    Timing {
        identify: ms(800),
        poll: ms(150),
        dead: ms(600),
        settle: ms(100),
        dump: ms(400),
        reopen: (ms(50), ms(150)),
        ping: ms(300),
        reply: ms(150),
        cycle: ms(30),
    }
}

fn port(path: &Path) -> PortConfig {
    PortConfig { timing: timing(), ..PortConfig::new(path.to_str().unwrap()).mode(Mode::Single) }
}

/// Running drivers and what they said.
struct Run {
    links: Option<Links>,
    sightings: Receiver<Sighting>,
}

impl Run {
    fn start(ports: Vec<PortConfig>) -> Self {
        let (out, sightings) = channel(1024);
        Self { links: Some(Links::start(ports, out).unwrap()), sightings }
    }

    fn links(&self) -> &Links {
        self.links.as_ref().unwrap()
    }

    /// Takes sightings until one is what is looked for; all of them.
    fn until(&mut self, what: &str, found: impl Fn(&Sighting) -> bool) -> Vec<Sighting> {
        let mut all = Vec::new();
        for _ in 0..800 {
            match self.sightings.try_recv() {
                Ok(sighting) => {
                    all.push(sighting);
                    if found(&all[all.len() - 1]) {
                        return all;
                    }
                }
                Err(TryRecvError::Empty) => thread::sleep(Duration::from_millis(10)),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        panic!("no {what} came; instead: {all:#?}");
    }

    fn until_up(&mut self) -> Vec<Sighting> {
        self.until("board", |seen| matches!(seen.observation, Observation::Link(LinkEvent::Up(_))))
    }

    fn until_dump(&mut self) -> dgt::Message {
        let seen = self.until("dump", |seen| matches!(seen.observation, Observation::Dump(_)));
        match &seen.last().unwrap().observation {
            Observation::Dump(squares) => dgt::Message::Board(*squares),
            other => panic!("{other:?}"),
        }
    }

    fn until_down(&mut self) -> String {
        let seen =
            self.until("loss", |seen| matches!(seen.observation, Observation::Link(LinkEvent::Down(_))));
        match &seen.last().unwrap().observation {
            Observation::Link(LinkEvent::Down(reason)) => reason.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn rest(&mut self) -> Vec<Observation> {
        let mut all = Vec::new();
        while let Ok(sighting) = self.sightings.try_recv() {
            all.push(sighting.observation);
        }
        all
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.sightings.close();
        if let Some(links) = self.links.take() {
            links.stop();
        }
    }
}

/// A place for one device.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board");
    (folder, path)
}

fn dump_bytes(message: &dgt::Message) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut out);
    out.split_off(3)
}

#[test]
fn a_board_is_identified_and_its_squares_are_told() {
    let (_folder, path) = place();
    let _board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    let seen = run.until_up();
    let up = seen.last().unwrap();
    assert_eq!(up.serial.as_deref(), Some("01025"));
    let Observation::Link(LinkEvent::Up(identity)) = &up.observation else { panic!("{up:?}") };
    assert_eq!((identity.serial.as_str(), identity.firmware), ("01025", Some((1, 8))));
    assert_eq!(identity.port, path.to_str().unwrap());
    let seen = run.until("dump", |seen| matches!(seen.observation, Observation::Dump(_)));
    let Observation::Dump(squares) = seen.last().unwrap().observation else { panic!("a dump") };
    run.until("clock", |seen| seen.observation == Observation::Clock(ClockState::Absent));
    assert_eq!(dump_bytes(&dgt::Message::Board(squares)), START);
    let health = &run.links().health()[0];
    assert_eq!(health.state, LineState::Up);
    assert!(health.messages >= 5 && health.bytes_dropped == 0);
    assert!(health.settings.is_empty(), "{}", health.settings);
    assert_eq!(health.boards["01025"].clock, Some(false));
}

#[test]
fn captures_in_small_pieces_come_out_whole() {
    for (name, piece) in [("game-1", 1), ("game-2", 2), ("game-1", 7)] {
        let Some(file) = shared(&format!("captures/{name}.bin")) else { return };
        let raw = fs::read(file).unwrap();
        // What the capture says, repeated clock readings left out.
        let (mut decoder, mut expected) = (dgt::any::Decoder::new(), Vec::new());
        decoder.feed(&raw[67..], &mut expected);
        let mut clock = None;
        expected.retain(|seen| match seen {
            Observation::Clock(state) => clock.replace(*state) != Some(*state),
            _ => true,
        });
        let (_folder, path) = place();
        let mut script = Script::new("01025");
        script.squares.copy_from_slice(&raw[3..67]);
        let board = Board::plug(&path, script);
        let mut timing = timing();
        // No answer may fall between the pieces of a message.
        (timing.settle, timing.dump, timing.poll) =
            (Duration::from_mins(1), Duration::from_mins(1), Duration::from_secs(50));
        timing.dead = Duration::from_mins(1);
        let mut run = Run::start(vec![PortConfig { timing, ..port(&path) }]);
        run.until_dump();
        run.rest();
        board.with(|script| {
            script.mute = true;
            script.queue = raw[67..].chunks(piece).map(<[u8]>::to_vec).collect();
        });
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            seen.extend(run.until("capture", |_| true).into_iter().map(|sighting| sighting.observation));
        }
        assert_eq!(seen, expected, "{name} in pieces of {piece}");
    }
}

#[test]
fn a_lost_update_is_healed_after_the_press() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut timing = timing();
    timing.dump = Duration::from_mins(10);
    let mut run = Run::start(vec![PortConfig { timing, ..port(&path) }]);
    run.until_dump();
    // e2-e4, of which the board's first half gets lost; then White presses.
    board.with(|script| {
        script.squares[52] = 0;
        script.squares[36] = 1;
    });
    board.say("8d 00 0a 20 03 02 20 03 02 09");
    board.say("8e 00 05 24 01");
    board.say("8d 00 0a 20 03 02 20 03 01 13");
    let healed = dump_bytes(&run.until_dump());
    assert_eq!((healed[52], healed[36]), (0, 1));
    assert_eq!(run.links().health()[0].boards["01025"].square_healed[52], 1);
}

#[test]
fn a_damaged_dump_is_asked_again_before_it_is_believed() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    let mut false_dump = START;
    false_dump[3] = 0;
    board.with(|script| script.false_dump = Some(false_dump));
    run.links().request_dump("01025");
    assert_eq!(dump_bytes(&run.until_dump()), START);
    board.with(|script| assert!(script.false_dump.is_none(), "the damaged dump was sent"));
}

#[test]
fn a_cut_message_is_told_and_followed_by_a_dump() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    board.with(|script| {
        script.squares[52] = 0;
        script.squares[36] = 1;
    });
    board.say("8e 00 05 34 8e 00 05 24 01");
    let seen = run.until("dump", |seen| matches!(seen.observation, Observation::Dump(_)));
    assert!(seen.iter().any(|seen| seen.observation == Observation::Link(LinkEvent::Resync(4))));
    assert_eq!(run.links().health()[0].bytes_dropped, 4);
}

#[test]
fn a_dead_cable_is_noticed_and_the_board_comes_back() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    board.with(|script| script.mute = true);
    let reason = run.until_down();
    assert!(reason.contains("01025") && reason.contains("silent"), "{reason}");
    board.with(|script| script.mute = false);
    run.until_up();
    assert_eq!(dump_bytes(&run.until_dump()), START);
    assert!(run.links().health()[0].reopenings >= 1);
}

#[test]
fn a_replugged_board_is_known_by_its_number_and_its_memory_is_read() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    let script = board.unplug();
    let reason = run.until_down();
    assert!(reason.contains("unplugged"), "{reason}");
    // Two moves were played meanwhile, and the board remembers them.
    {
        let mut script = script.lock().unwrap();
        for (square, piece) in [(52, 0), (36, 1), (12, 0), (28, 7)] {
            script.squares[square] = piece;
        }
        script.log = bytes("7f 7f 7f 6a 6f 40 34 41 24 70 03 00 40 0c 57 1c 60 02 59 6b");
    }
    let _board = Board::replug(&path, script);
    let seen = run.until("dump", |seen| matches!(seen.observation, Observation::Dump(_)));
    let recovered = seen
        .iter()
        .find_map(|seen| match &seen.observation {
            Observation::Recovered(events) => Some(events.clone()),
            _ => None,
        })
        .expect("what the board remembers comes before the dump");
    assert_eq!(recovered.len(), 6);
    assert!(matches!(recovered[0], RecoveredEvent::Square { content: Content::Empty, .. }));
    assert_eq!(recovered[2], RecoveredEvent::Halted { left: true, seconds: 180 });
    assert_eq!(recovered[5], RecoveredEvent::Halted { left: false, seconds: 179 });
}

#[test]
fn the_boards_memory_is_left_alone_when_nothing_was_missed() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    let script = board.unplug();
    run.until_down();
    let board = Board::replug(&path, script);
    run.until_dump();
    board.with(|script| assert!(!script.heard.contains(&0x49)));
}

#[test]
fn a_port_held_by_another_program_is_named_so() {
    let (_folder, path) = place();
    let _board = Board::plug(&path, Script::new("01025"));
    let holder = serialport::new(path.to_str().unwrap(), 9600).open().unwrap();
    let mut run = Run::start(vec![port(&path)]);
    let reason = run.until_down();
    assert!(reason.contains("in use by another program"), "{reason}");
    drop(holder);
    run.until_up();
}

#[test]
fn what_is_no_board_is_named() {
    let (folder, path) = place();
    let mut run = Run::start(vec![port(&path)]);
    assert!(run.until_down().contains("is not there"));
    let silent = Board::plug(&path, Script { mute: true, ..Script::new("01025") });
    assert!(run.until_down().contains("no board answers"));
    silent.with(|script| script.modem = true);
    let reason = run.until_down();
    assert!(reason.contains("no DGT board sends"), "{reason}");
    drop(run);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let mut run = Run::start(vec![port(&file)]);
    assert!(run.until_down().contains("no serial port"));
}

#[test]
fn two_boards_with_one_number_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let _first = Board::plug(&a, Script::new("01025"));
    let mut run = Run::start(vec![port(&a), port(&b)]);
    run.until_up();
    let _second = Board::plug(&b, Script::new("01025"));
    let seen = run.until("clash", |seen| {
        matches!(&seen.observation, Observation::Link(LinkEvent::Down(reason)) if reason.contains("one number"))
    });
    let Observation::Link(LinkEvent::Down(reason)) = &seen.last().unwrap().observation else { panic!() };
    assert!(reason.contains(a.to_str().unwrap()) && reason.contains(b.to_str().unwrap()), "{reason}");
}

#[test]
fn a_pattern_finds_boards_as_they_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::start(vec![port(&folder.path().join("tty*"))]);
    let first = Board::plug(&folder.path().join("ttyA"), Script::new("00001"));
    run.until_up();
    let _second = Board::plug(&folder.path().join("ttyB"), Script::new("00002"));
    let seen = run.until_up();
    assert_eq!(seen.last().unwrap().serial.as_deref(), Some("00002"));
    // The first board comes back under another name.
    let script = first.unplug();
    fs::remove_file(folder.path().join("ttyA")).unwrap();
    run.until("loss", |seen| {
        seen.serial.as_deref() == Some("00001")
            && matches!(seen.observation, Observation::Link(LinkEvent::Down(_)))
    });
    let _again = Board::replug(&folder.path().join("ttyC"), script);
    let seen = run.until_up();
    assert_eq!(seen.last().unwrap().serial.as_deref(), Some("00001"));
    assert!(seen.last().unwrap().port.ends_with("ttyC"));
}

#[test]
fn nothing_is_told_twice_while_nothing_happens() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    run.links().request_dump("01025");
    run.until_dump();
    let asked = board.with(|script| script.heard.len());
    for _ in 0..1500 {
        // Several dumps on the timer went by.
        let dumps = |script: &mut Script| script.heard[asked..].split(|byte| *byte == 0x42).count() - 1;
        if board.with(dumps) > 3 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(run.rest(), []);
}

#[test]
fn dangerous_commands_are_never_sent() {
    let (_folder, path) = place();
    let board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![port(&path)]);
    run.until_dump();
    run.links().request_dump("01025");
    run.until_dump();
    board.with(|script| {
        let known = [0x41, 0x42, 0x45, 0x4b, 0x4d];
        assert!(script.heard.iter().all(|byte| known.contains(byte)), "{:02x?}", script.heard);
    });
}
