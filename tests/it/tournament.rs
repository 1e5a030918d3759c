//! A whole event in virtual time: every game played by hands on its board, through the hall, the journal and
//! the archive. What is archived is what the hands played; other programs read it; the journal alone gives the
//! same tree, byte for byte; a round's evidence gives its games again.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command as Process,
};

use arbiterd::{
    event::Player,
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        Update,
    },
    journal::Journal,
    laws::Entry,
    publish::archive::Archive,
    record::{Position, Tags, Timestamp, pgn},
    sim::{Level, SimGame, famous_games, play_virtual},
    wire::{BoardIdentity, LinkEvent, Observation},
};

use crate::{readers, support::shared};

/// Milliseconds from one round to the next.
const ROUND: i64 = 8 * 3600 * 1000;

/// All files of a folder by their paths.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("under it").to_string_lossy().into_owned();
                files.insert(name, fs::read(&path).expect("a readable file"));
            }
        }
    }
    files
}

pub(crate) fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in one {
        let lines = |bytes: &[u8]| -> Vec<String> {
            String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
        };
        let (here, there) = (lines(bytes), lines(&other[name]));
        let line = here.iter().zip(&there).position(|(a, b)| a != b).unwrap_or(here.len().min(there.len()));
        assert!(
            *bytes == other[name],
            "{name} is not the same in line {}: {:?} and {:?}",
            line + 1,
            here.get(line),
            there.get(line)
        );
    }
}

/// A hall with its journal and archive, in virtual time.
struct Event {
    hall: Hall,
    journal: Journal,
    archive: Archive,
    now: Timestamp,
    lines: Vec<String>,
    inputs: u64,
}

impl Event {
    fn apply(&mut self, body: InputBody) {
        let input = Input { at: self.now, body };
        self.lines.push(serde_json::to_string(&input).expect("plain data"));
        self.inputs += 1;
        let updates: Vec<Update> = self.hall.apply(&input);
        self.hall.take_wants_dump();
        self.hall.take_questions();
        self.archive.take(&updates);
        if self.lines.len() >= 4096 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.journal.append(self.lines.iter().map(String::as_str)).expect("room");
        self.lines.clear();
    }

    fn order(&mut self, command: Command) {
        self.hall.check(&command).expect("it can be done");
        self.apply(InputBody::Command { by: "arbiter".to_owned(), command });
    }
}

/// Games to be played: those everyone knows, those of the shared files where they are, and random ones.
fn pool(count: usize) -> Vec<SimGame> {
    let mut games = famous_games();
    for name in ["otb_wcc2023.pgn", "otb_iom2019.pgn", "otb_kdb1997.pgn", "otb_wjun2019.pgn"] {
        if games.len() >= count {
            break;
        }
        let Some(text) = shared(&format!("games/{name}")).and_then(|path| fs::read_to_string(path).ok())
        else {
            continue;
        };
        games.extend(
            SimGame::from_pgn(&text)
                .into_iter()
                .flatten()
                .filter(|game| game.start == Position::default() && (10..300).contains(&game.moves.len())),
        );
    }
    let mut random = fastrand::Rng::with_seed(900);
    while games.len() < count {
        let mut position = Position::default();
        let mut moves = Vec::new();
        for _ in 0..random.usize(20..120) {
            let legal = position.legal_moves();
            let Some(m) = random.choice(&legal).copied() else { break };
            moves.push(position.uci(m).to_string());
            position = position.play(m);
        }
        let moves: Vec<&str> = moves.iter().map(String::as_str).collect();
        games.push(SimGame::from_uci(&moves, Some(arbiterd::record::GameResult::Draw)));
    }
    games.truncate(count);
    games.into_iter().map(to_its_end).collect()
}

/// A score sheet may go on after the game was over (both players move their bare kings once more): that is no
/// part of the game (Laws 5.2.2).
fn to_its_end(mut game: SimGame) -> SimGame {
    let mut position = game.start.clone();
    for index in 0..game.moves.len() {
        if position.chess().is_some_and(shakmaty::Position::is_game_over) {
            game.moves.truncate(index);
            game.clocks.truncate(index);
            break;
        }
        position = position.play(game.moves[index]);
    }
    game
}

fn setup(round: u32, number: u32) -> TableSetup {
    TableSetup {
        table: TableId(number),
        board: (round == 1).then(|| BoardKey(format!("{}", 42_000 + number))),
        white: Player { rating: Some(2000 + number), ..Player::named(format!("White{number}, R{round}")) },
        black: Player::named(format!("Black{number}, Ян")),
        start: Position::default(),
        profile: None,
        time_control: None,
        tags: Tags::default(),
        options: OptionsSetup::default(),
    }
}

/// Plays the event into this folder; answers the games by round and table.
fn play(folder: &Path, rounds: u32, boards: u32) -> (Event, Vec<Vec<SimGame>>) {
    let path = folder.join("hall.sqlite");
    let mut event = Event {
        hall: Hall::new(),
        journal: Journal::open(&path).expect("a new journal"),
        archive: Archive::new(folder.join("live")).with_journal(path),
        now: Timestamp::from_millis(1_777_645_800_000),
        lines: Vec::new(),
        inputs: 0,
    };
    let data = EventSetup {
        id: "open".to_owned(),
        name: "Open".to_owned(),
        site: "Town".to_owned(),
        time_control: "5400+30".to_owned(),
        rounds,
        ..EventSetup::default()
    };
    event.order(Command::Event { event: data });
    let games = pool((rounds * boards) as usize);
    let rounds_of_games: Vec<Vec<SimGame>> = games.chunks(boards as usize).map(<[SimGame]>::to_vec).collect();
    let mut illegal = 0;
    for (round, games) in (1..).zip(&rounds_of_games) {
        let tables = (1..=boards).map(|number| setup(round, number)).collect();
        let date = Some(format!("2026-05-{round:02}"));
        event.order(Command::Round { round: RoundSetup { number: round, date, tables } });
        event.order(Command::StartRound);
        let begin = event.now;
        let mut told: Vec<(i64, u32, Observation)> = Vec::new();
        for (number, game) in (1..).zip(games) {
            let seed = u64::from(round) * 1000 + u64::from(number);
            if round == 1 {
                let identity =
                    BoardIdentity { serial: format!("{}", 42_000 + number), ..BoardIdentity::default() };
                told.push((0, number, Observation::Link(LinkEvent::Up(identity))));
            }
            let played = play_virtual(game, Level::Human, seed);
            let end = played.last().map_or(0, |(at, _)| *at);
            assert!(end < ROUND, "the round is long enough");
            told.extend(played.into_iter().map(|(at, seen)| (at + i64::from(number) * 37, number, seen)));
        }
        told.sort_by_key(|(at, number, _)| (*at, *number));
        for (at, number, seen) in told {
            event.now = begin.plus(at);
            let key = BoardKey(format!("{}", 42_000 + number));
            if event.hall.is_news(event.now, &key, &seen) {
                event.apply(InputBody::Board(key, seen));
            }
        }
        for (number, game) in (1..).zip(games) {
            let table = TableId(number);
            if let Some(result) = game.result {
                event.order(Command::Entry { table, entry: Entry::Result { result } });
                event.order(Command::Entry {
                    table,
                    entry: Entry::ScoresheetsSigned { result: Some(result) },
                });
            }
            illegal += event
                .hall
                .game(table)
                .map_or(0, |game| game.plies.iter().filter(|ply| ply.irregular).count());
        }
        event.order(Command::CloseRound);
        event.flush();
        event.archive.write().expect("room");
        event.now = begin.plus(ROUND);
    }
    assert_eq!(illegal, 0, "the hands played by the rules");
    event.archive.finish().expect("room");
    (event, rounds_of_games)
}

/// Everything that must hold of an event that was played. Answers what there is to report.
fn hold(folder: &Path, rounds: u32, boards: u32, foreign: bool) {
    let started = arbiterd::wall::uptime();
    let (event, games) = play(folder, rounds, boards);
    let played = arbiterd::wall::uptime();
    let inputs = event.inputs;
    let Event { hall, journal, .. } = event;
    drop(journal);
    let mut wrong = Vec::new();
    let clients = foreign.then(readers::clients);
    for (round, games) in (1..).zip(&games) {
        let file = folder.join(format!("live/round-{round}/games.pgn"));
        let bytes = fs::read(&file).expect("archived");
        let read: Vec<_> = pgn::read_games(&bytes).map(|read| read.expect("readable")).collect();
        assert_eq!(read.len(), games.len(), "round {round}");
        for (number, (game, (archived, repairs))) in (1..).zip(games.iter().zip(&read)) {
            assert_eq!(*repairs, [], "round {round}, game {number}");
            let plies: Vec<String> = archived.plies.iter().map(|ply| ply.uci.to_string()).collect();
            let result = archived.result.map(|(result, ..)| result);
            if plies != game.uci() || result != game.result {
                wrong.push(format!("round {round}, game {number}: {result:?} for {:?}", game.result));
            }
            let tag = format!("{round}.{number}");
            assert_eq!(archived.tags.get("Round"), Some(tag.as_str()));
        }
        if let Some(clients) = &clients {
            let script = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);
            let python = readers::lines(
                Process::new(clients.join("venv/bin/python")).arg(script("read_pgn.py")).arg(&file),
            );
            let js = readers::lines(
                Process::new("node").arg(script("read_pgn.mjs")).arg(&file).current_dir(clients),
            );
            let extract = readers::pgn_extract(&file);
            assert_eq!([python.len(), js.len(), extract.len()], [games.len(); 3], "round {round}");
            for (index, (archived, _)) in read.iter().enumerate() {
                let plies: Vec<String> = archived.plies.iter().map(|ply| ply.uci.to_string()).collect();
                assert_eq!(
                    readers::moves(&python[index]),
                    plies,
                    "python-chess, round {round}, game {index}"
                );
                assert_eq!(readers::moves(&js[index]), plies, "chess.js, round {round}, game {index}");
                assert_eq!(extract[index], plies, "pgn-extract, round {round}, game {index}");
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} are not what was played:\n{}",
        wrong.len(),
        rounds * boards,
        wrong.join("\n")
    );

    let path = folder.join("hall.sqlite");
    let opening = arbiterd::wall::uptime();
    let journal = Journal::open(&path).expect("the journal");
    let again = arbiterd::daemon::recover(&journal, |_| ()).expect("readable");
    let opened = arbiterd::wall::uptime();
    assert_eq!(again.seq(), hall.seq());
    eprintln!(
        "{rounds} rounds x {boards} boards: {inputs} inputs played in {:?}, journal of {} KiB opened in {:?}",
        played.saturating_sub(started),
        fs::metadata(&path).expect("the journal").len() / 1024,
        opened.saturating_sub(opening),
    );

    let exported = folder.join("exported");
    arbiterd::daemon::export(&journal, None, &exported).expect("room");
    let live = tree(&folder.join("live"));
    assert_eq!(live.len(), 1 + (rounds * (boards + 6)) as usize, "{:?}", live.keys());
    assert_same(&live, &tree(&exported));

    // The evidence of the last round but one, alone, gives that round's games.
    let round = (rounds - 1).max(1);
    let evidence = folder.join(format!("live/round-{round}.evidence.sqlite"));
    let part = Journal::open_read_only(&evidence).expect("the evidence is a journal");
    let alone = arbiterd::daemon::recover(&part, |_| ()).expect("readable");
    assert_eq!(alone.round(), round);
    for (number, game) in (1..).zip(&games[round as usize - 1]) {
        let plies: Vec<String> = alone
            .game(TableId(number))
            .expect("a game")
            .plies
            .iter()
            .map(|ply| ply.uci.to_string())
            .collect();
        assert_eq!(plies, game.uci(), "round {round}, table {number} from its evidence");
    }
}

#[test]
fn three_rounds_at_twelve_boards() {
    let folder = tempfile::tempdir().expect("a folder");
    hold(folder.path(), 3, 12, false);
}

#[test]
#[ignore = "minutes even when optimised; installs python-chess and chess.js, and needs pgn-extract"]
fn nine_rounds_at_a_hundred_boards() {
    let size = |name: &str, otherwise: u32| {
        std::env::var(name).ok().and_then(|size| size.parse().ok()).unwrap_or(otherwise)
    };
    let folder = tempfile::tempdir().expect("a folder");
    hold(folder.path(), size("ARBITERD_ROUNDS", 9), size("ARBITERD_BOARDS", 100), true);
}
