//! Chains on one line: discovery with collisions, polling, damage, loss, recovery.

use super::*;

/// A scripted chain: what it answers follows the published protocol, in its own words.
#[derive(Default)]
struct Chain {
    boards: Vec<Chained>,
    /// The next reply with this code has a wrong checksum.
    damage: Vec<u8>,
    /// The next command with this code is not heard.
    deaf_to: Vec<u8>,
    /// So many pings to all end in a collision.
    collisions: u32,
    partial: Vec<u8>,
    heard: Vec<[u8; 4]>,
    single_bytes: usize,
}

struct Chained {
    address: u16,
    squares: [u8; 64],
    clock: [u8; 7],
    store: Vec<u8>,
    fetched: Vec<u8>,
    log: Vec<u8>,
    skip_ping: bool,
    mute: bool,
}

impl Chained {
    fn new(address: u16) -> Self {
        Self {
            address,
            squares: START,
            clock: [0x20, 3, 0, 0x20, 3, 0, 9],
            store: Vec::new(),
            fetched: Vec::new(),
            log: Vec::new(),
            skip_ping: false,
            mute: false,
        }
    }

    fn change(&mut self, square: u8, piece: u8) {
        self.squares[usize::from(square)] = piece;
        self.store.extend([0x40 | piece, square]);
    }

    fn press(&mut self, left: bool, minutes: u8, seconds: u8) {
        self.store.extend([if left { 0x70 } else { 0x60 }, minutes, seconds]);
        let at = if left { 3 } else { 0 };
        (self.clock[at + 1], self.clock[at + 2]) = (minutes, seconds);
        self.clock[6] = if left { 0x13 } else { 0x09 };
    }

    fn reply(&self, id: u8, data: &[u8]) -> Vec<u8> {
        let length = data.len() + 6;
        let head = [
            id,
            (length >> 7) as u8,
            length as u8 & 0x7f,
            (self.address >> 7) as u8,
            self.address as u8 & 0x7f,
        ];
        let mut frame = [&head, data].concat();
        frame.push(frame.iter().map(|&byte| u32::from(byte)).sum::<u32>() as u8 & 0x7f);
        frame
    }

    fn answer(&mut self, code: u8) -> Vec<u8> {
        match code {
            0x81 => self.reply(0x84, &self.clock),
            0x82 => self.reply(0x83, &self.squares),
            0x83 => {
                self.log.extend(&self.store);
                self.fetched = std::mem::take(&mut self.store);
                self.reply(0x85, &self.fetched)
            }
            0x84 => self.reply(0x85, &self.fetched),
            0x85 => {
                self.log.clear();
                self.store.push(0x7b);
                let pieces = self.squares.iter().enumerate().filter(|(_, piece)| **piece != 0);
                self.store.extend(pieces.flat_map(|(square, piece)| [0x40 | piece, square as u8]));
                self.reply(0x88, &[])
            }
            0x86 => self.reply(0x86, &self.log),
            0x87 => self.reply(0x87, &[]),
            0x8a => {
                self.skip_ping = true;
                self.reply(0x87, &[])
            }
            0x8b => self.reply(0x89, &[1, 8]),
            _ => Vec::new(),
        }
    }
}

impl Chain {
    fn hear(&mut self, byte: u8) -> Vec<u8> {
        if self.partial.is_empty() && byte < 0x80 {
            self.single_bytes += 1;
            return Vec::new();
        }
        self.partial.push(byte);
        let Ok(command) = <[u8; 4]>::try_from(self.partial.as_slice()) else { return Vec::new() };
        self.partial.clear();
        self.heard.push(command);
        let [code, high, low, _] = command;
        if let Some(at) = self.deaf_to.iter().position(|deaf| *deaf == code) {
            self.deaf_to.remove(at);
            return Vec::new();
        }
        let address = u16::from(high) << 7 | u16::from(low);
        let mut answer = Vec::new();
        let mut speakers = 0;
        for board in self.boards.iter_mut().filter(|board| !board.mute) {
            if address == 0 && std::mem::take(&mut board.skip_ping) {
                continue;
            }
            if address == 0 || address == board.address {
                answer.extend(board.answer(code));
                speakers += 1;
            }
        }
        let damaged = self.damage.iter().position(|id| answer.first() == Some(id));
        if address == 0 && speakers > 1 && self.collisions > 0 {
            self.collisions -= 1;
            // Two transmitters at once: the bits of both, in the length of one.
            let (one, other) = answer.split_at(6);
            return one.iter().zip(other).map(|(one, other)| one | other).collect();
        }
        if let Some(at) = damaged {
            self.damage.remove(at);
            let last = answer.len() - 1;
            answer[last] ^= 0x04;
        }
        answer
    }
}

struct ChainOnLine {
    chain: Arc<Mutex<Chain>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChainOnLine {
    fn plug(link: &Path, chain: Arc<Mutex<Chain>>) -> Self {
        let pty = Pty::new(link);
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (Arc::clone(&chain), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for byte in pty.receive() {
                    let answer = shared.lock().unwrap().hear(byte);
                    pty.send(&answer);
                }
            }
        });
        Self { chain, stop, thread: Some(thread) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Chain) -> T) -> T {
        act(&mut self.chain.lock().unwrap())
    }

    fn heard(&self, code: u8) -> usize {
        self.with(|chain| chain.heard.iter().filter(|command| command[0] == code).count())
    }
}

impl Drop for ChainOnLine {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn chain_of(addresses: &[u16]) -> Arc<Mutex<Chain>> {
    let boards = addresses.iter().map(|&address| Chained::new(address)).collect();
    Arc::new(Mutex::new(Chain { boards, ..Chain::default() }))
}

fn bus(path: &Path) -> PortConfig {
    PortConfig { mode: Mode::Bus, ..port(path) }
}

fn told(run: &mut Run, serial: &str, observation: &Observation) -> Vec<Sighting> {
    run.until("observation", |seen| {
        seen.serial.as_deref() == Some(serial) && seen.observation == *observation
    })
}

fn square(square: u8, piece: u8) -> Observation {
    let square = arbiterd::wire::BoardSquare::new(square).unwrap();
    Observation::Square(square, dgt::content_from_code(piece))
}

fn until_all_up(run: &mut Run, count: usize) -> Vec<String> {
    let mut serials = Vec::new();
    while serials.len() < count {
        let seen = run.until_up();
        serials.push(seen.last().unwrap().serial.as_deref().unwrap().to_owned());
    }
    serials.sort();
    serials
}

/// Every board has shown its squares.
fn until_all_shown(run: &mut Run, count: usize) {
    let mut serials = std::collections::BTreeSet::new();
    while serials.len() < count {
        let seen = run.until("dump", |seen| matches!(seen.observation, Observation::Dump(_)));
        serials.extend(seen.last().unwrap().serial.clone());
    }
}

#[test]
fn all_boards_of_a_chain_are_found_through_collisions() {
    let (_folder, path) = place();
    let chain = chain_of(&[300, 1025, 6685]);
    chain.lock().unwrap().collisions = 2;
    let line = ChainOnLine::plug(&path, chain);
    let mut run = Run::start(vec![bus(&path)]);
    assert_eq!(until_all_up(&mut run, 3), ["00300", "01025", "06685"]);
    line.with(|chain| {
        assert_eq!(chain.single_bytes, 0, "no single-board byte on a chain");
        chain.boards[1].change(52, 0);
        chain.boards[1].change(36, 1);
        chain.boards[1].press(true, 2, 0x59);
    });
    told(&mut run, "01025", &square(52, 0));
    told(&mut run, "01025", &square(36, 1));
    let seen = run.until("press", |seen| {
        matches!(&seen.observation, Observation::Clock(ClockState::Reading(reading)) if !reading.left_to_move)
    });
    assert_eq!(seen.last().unwrap().serial.as_deref(), Some("01025"));
    assert!(line.heard(0x85) >= 1, "a start tag is written for the new game");
}

#[test]
fn the_mode_of_a_line_is_found_out() {
    let (_folder, path) = place();
    let line = ChainOnLine::plug(&path, chain_of(&[300, 1025]));
    let mut run = Run::start(vec![PortConfig { mode: Mode::Auto, ..port(&path) }]);
    assert_eq!(until_all_up(&mut run, 2), ["00300", "01025"]);
    assert_eq!(line.with(|chain| chain.single_bytes), 0);
    drop(run);
    let (_folder, path) = place();
    let _board = Board::plug(&path, Script::new("01025"));
    let mut run = Run::start(vec![PortConfig { mode: Mode::Auto, ..port(&path) }]);
    assert_eq!(run.until_up().last().unwrap().serial.as_deref(), Some("01025"));
}

#[test]
fn what_a_program_that_is_gone_had_asked_for_makes_no_chain_of_a_board() {
    let (_folder, path) = place();
    let late = [&[0x86, 0, 67][..], &START].concat();
    let _board = Board::plug(&path, Script { late, ..Script::new("01025") });
    let mut run = Run::start(vec![PortConfig { mode: Mode::Auto, ..port(&path) }]);
    assert_eq!(run.until_up().last().unwrap().serial.as_deref(), Some("01025"));
}

#[test]
fn a_damaged_reply_is_repeated_and_loses_nothing() {
    let (_folder, path) = place();
    let line = ChainOnLine::plug(&path, chain_of(&[300, 1025]));
    let mut run = Run::start(vec![bus(&path)]);
    until_all_shown(&mut run, 2);
    line.with(|chain| {
        chain.damage = vec![0x85, 0x85];
        chain.boards[0].change(52, 0);
        chain.boards[0].change(36, 1);
    });
    told(&mut run, "00300", &square(52, 0));
    told(&mut run, "00300", &square(36, 1));
    assert!(line.heard(0x84) >= 1, "repeat was asked");
    let health = &run.links().health()[0];
    assert_eq!(health.checksum_failures, 2);
}

#[test]
fn a_lost_command_brings_nothing_twice() {
    let (_folder, path) = place();
    let line = ChainOnLine::plug(&path, chain_of(&[300, 1025]));
    let mut run = Run::start(vec![bus(&path)]);
    until_all_up(&mut run, 2);
    line.with(|chain| {
        chain.boards[0].change(52, 0);
        chain.boards[0].change(36, 1);
    });
    told(&mut run, "00300", &square(36, 1));
    // The next question is not heard, so "repeat" brings the old answer.
    line.with(|chain| {
        chain.deaf_to = vec![0x83, 0x83];
        chain.boards[0].change(12, 0);
    });
    let seen = told(&mut run, "00300", &square(12, 0));
    let again = seen.iter().filter(|seen| seen.observation == square(36, 1)).count();
    assert_eq!(again, 0, "{seen:#?}");
}

#[test]
fn a_board_that_falls_silent_comes_back_with_what_it_kept() {
    let (_folder, path) = place();
    let line = ChainOnLine::plug(&path, chain_of(&[300, 1025]));
    let mut run = Run::start(vec![bus(&path)]);
    until_all_shown(&mut run, 2);
    line.with(|chain| chain.boards[0].mute = true);
    let seen = run.until("loss", |seen| matches!(seen.observation, Observation::Link(LinkEvent::Down(_))));
    assert_eq!(seen.last().unwrap().serial.as_deref(), Some("00300"));
    line.with(|chain| {
        let board = &mut chain.boards[0];
        board.change(52, 0);
        board.change(36, 1);
        board.press(true, 2, 0x59);
        board.change(12, 0);
        board.change(28, 7);
        board.mute = false;
    });
    run.until_up();
    let seen = run.until("recovered moves", |seen| {
        seen.serial.as_deref() == Some("00300") && matches!(seen.observation, Observation::Recovered(_))
    });
    let Observation::Recovered(events) = &seen.last().unwrap().observation else { panic!() };
    assert_eq!(events.len(), 5, "{events:?}");
    assert_eq!(events[2], RecoveredEvent::Halted { left: true, seconds: 179 });
    let dump = dump_bytes(&run.until_dump());
    assert_eq!((dump[36], dump[28]), (1, 7));
}

#[test]
fn the_whole_line_comes_back_with_what_its_boards_kept() {
    let (_folder, path) = place();
    let chain = chain_of(&[300, 1025]);
    let line = ChainOnLine::plug(&path, Arc::clone(&chain));
    let mut run = Run::start(vec![bus(&path)]);
    until_all_shown(&mut run, 2);
    drop(line);
    assert!(run.until_down().contains("unplugged"));
    chain.lock().unwrap().boards[1].change(52, 0);
    chain.lock().unwrap().boards[1].change(36, 1);
    let line = ChainOnLine::plug(&path, chain);
    let seen = run.until("recovered moves", |seen| matches!(seen.observation, Observation::Recovered(_)));
    assert_eq!(seen.last().unwrap().serial.as_deref(), Some("01025"));
    drop(run);
    drop(line);
}

#[test]
fn a_game_under_way_is_read_from_its_start_when_the_daemon_starts() {
    let (_folder, path) = place();
    let chain = chain_of(&[300, 1025]);
    {
        let mut chain = chain.lock().unwrap();
        let board = &mut chain.boards[0];
        board.answer(0x85);
        board.change(52, 0);
        board.change(36, 1);
        board.press(true, 2, 0x59);
        // Another program had fetched it already.
        board.answer(0x83);
    }
    let _line = ChainOnLine::plug(&path, chain);
    let mut run = Run::start(vec![bus(&path)]);
    let seen = run.until("recovered moves", |seen| matches!(seen.observation, Observation::Recovered(_)));
    let Observation::Recovered(events) = &seen.last().unwrap().observation else { panic!() };
    assert_eq!(events[0], RecoveredEvent::StartTag);
    assert_eq!(events.len(), 1 + 32 + 3);
}

#[test]
fn a_power_cut_makes_a_dump_and_no_moves() {
    let (_folder, path) = place();
    let line = ChainOnLine::plug(&path, chain_of(&[300, 1025]));
    let mut run = Run::start(vec![bus(&path)]);
    until_all_shown(&mut run, 2);
    run.rest();
    line.with(|chain| {
        let board = &mut chain.boards[0];
        board.squares = [0; 64];
        (board.squares[4], board.squares[60]) = (11, 5);
        board.store.extend(bytes("7f 7f 7f 6a 4b 04 45 3c"));
    });
    let seen = run.until("dump", |seen| matches!(seen.observation, Observation::Dump(_)));
    assert!(!seen.iter().any(|seen| matches!(seen.observation, Observation::Square(..))), "{seen:?}");
}

#[test]
fn a_newcomer_is_found_while_the_others_play() {
    let (_folder, path) = place();
    let chain = chain_of(&[300, 1025, 6685]);
    chain.lock().unwrap().boards[2].mute = true;
    let line = ChainOnLine::plug(&path, chain);
    let mut run = Run::start(vec![PortConfig { expected: vec![6685], ..bus(&path) }]);
    until_all_up(&mut run, 2);
    line.with(|chain| chain.boards[2].mute = false);
    assert_eq!(until_all_up(&mut run, 1), ["06685"]);
}
