//! The other makes on their pseudo-terminals: streams without a serial number.

use std::fmt::Write as _;

use arbiterd::link::Make;

use super::*;

/// Sends what it is told, again and again; nobody asks it.
struct Streamer {
    text: Arc<Mutex<Vec<u8>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Streamer {
    fn plug(link: &Path, text: Vec<u8>) -> Self {
        let pty = Pty::new(link);
        let text = Arc::new(Mutex::new(text));
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (Arc::clone(&text), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // Until somebody reads, the pseudo-terminal would fill.
                if !opened(&pty) {
                    thread::sleep(Duration::from_millis(10));
                    continue;
                }
                let bytes = shared.lock().unwrap().clone();
                pty.send(&bytes);
                pty.receive();
            }
        });
        Self { text, stop, thread: Some(thread) }
    }

    fn say(&self, text: Vec<u8>) {
        *self.text.lock().unwrap() = text;
    }
}

impl Drop for Streamer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Somebody has the other end open.
fn opened(pty: &Pty) -> bool {
    let mut fds = [PollFd::new(&pty.master, PollFlags::OUT)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
    !fds[0].revents().contains(PollFlags::HUP)
}

/// A Certabo line: the set's tag is the square a piece began on.
fn certabo_line(from: &[(u8, u8)]) -> Vec<u8> {
    let mut origin: Vec<u8> =
        (0..64).map(|square| if (16..48).contains(&square) { 255 } else { square }).collect();
    for (from, to) in from {
        origin[usize::from(*to)] = std::mem::replace(&mut origin[usize::from(*from)], 255);
    }
    let mut text = String::from(":");
    for square in origin {
        if square == 255 {
            text.push_str("0 0 0 0 0 ");
        } else {
            write!(text, "110 {square} 3 4 5 ").unwrap();
        }
    }
    text.push_str("\r\n");
    text.into_bytes()
}

#[test]
fn a_certabo_set_is_learnt_kept_and_followed() {
    let (folder, path) = place();
    let file = folder.path().join("set.txt");
    let config = PortConfig { calibration: Some(file.clone()), ..port(&path).make(Make::Certabo) };
    let board = Streamer::plug(&path, certabo_line(&[(52, 36)]));
    let mut run = Run::start(vec![config.clone()]);
    let reason = run.until_down();
    assert!(reason.contains("initial position"), "{reason}");
    board.say(certabo_line(&[]));
    let seen = run.until_up();
    assert_eq!(seen.last().unwrap().serial.as_deref(), path.to_str(), "known by its port");
    assert_eq!(dump_bytes(&run.until_dump()), START);
    board.say(certabo_line(&[(52, 36)]));
    let seen = run.until("put", |seen| matches!(seen.observation, Observation::Square(_, Content::Piece(_))));
    assert!(
        matches!(seen[0].observation, Observation::Square(square, Content::Empty) if square.index() == 52)
    );
    drop(run);
    // Started anew in the middle of the game, it knows the set.
    assert!(file.exists());
    let mut run = Run::start(vec![config]);
    let dump = dump_bytes(&run.until_dump());
    assert_eq!((dump[52], dump[36]), (0, 1));
}

/// A message of a `ChessLink`: its check, and the parity of its seven bits in the eighth.
fn chesslink(text: &str) -> Vec<u8> {
    let check = text.bytes().fold(0, |sum, byte| sum ^ byte);
    format!("{text}{check:02X}")
        .into_bytes()
        .into_iter()
        .map(|byte: u8| if byte.count_ones().is_multiple_of(2) { byte | 0x80 } else { byte })
        .collect()
}

#[test]
fn the_version_of_a_chesslink_that_comes_behind_its_squares_is_told() {
    let (_folder, path) = place();
    let start = format!("srnbqkbnrpppppppp{}PPPPPPPPRNBQKBNR", ".".repeat(32));
    let board = Streamer::plug(&path, chesslink(&start));
    let mut run = Run::start(vec![port(&path).make(Make::Millennium)]);
    run.until_up();
    board.say([chesslink("v0106"), chesslink(&start)].concat());
    run.until("its firmware", |seen| {
        matches!(&seen.observation, Observation::Link(LinkEvent::Up(identity)) if identity.firmware == Some((1, 6)))
    });
}

#[test]
fn a_chesslink_is_followed() {
    let (_folder, path) = place();
    let start = format!("srnbqkbnrpppppppp{}PPPPPPPPRNBQKBNR", ".".repeat(32));
    let board = Streamer::plug(&path, chesslink(&start));
    let mut run = Run::start(vec![port(&path).make(Make::Millennium)]);
    run.until_up();
    assert_eq!(dump_bytes(&run.until_dump()), START);
    let moved = format!("srnbqkbnrpppppppp{}P{}PPPP.PPPRNBQKBNR", ".".repeat(20), ".".repeat(11));
    board.say(chesslink(&moved));
    let seen = run.until("put", |seen| {
        matches!(seen.observation, Observation::Square(square, Content::Piece(_)) if square.index() == 36)
    });
    assert_eq!(seen.len(), 2, "{seen:?}");
    run.links().request_dump(path.to_str().unwrap());
    run.until_dump();
}
