//! The public listener's PGN taken by HTTP at random moments of a demo, read by programs that others
//! wrote: python-chess, chess.js, chessops, kokopu, @mliebelt/pgn-parser, pgn-extract, pgn-reader. All must
//! see the moves, clocks, names and positions that the hall has at that moment.

use std::{fs, ops::ControlFlow, path::Path, process::Command, time::Duration};

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, fen::Fen};

use crate::{
    readers::{clients, lines, pgn_extract},
    support::daemon::{Daemon, http_get},
};

/// What a reader saw of one game; `None` for what it does not tell.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    white: Option<String>,
    moves: Option<Vec<String>>,
    sans: Option<Vec<String>>,
    clocks: Option<Vec<Option<u64>>>,
    board: Option<String>,
}

#[test]
#[ignore = "installs the readers; plays a demo"]
fn at_any_moment_of_a_demo_all_readers_see_what_the_hall_has() {
    let clients = clients();
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("demo");
    let hall = Daemon::start(&[
        "demo",
        "--boards",
        "8",
        "--speed",
        "10",
        "--seed",
        "4",
        "--dir",
        dir.to_str().expect("UTF-8"),
    ]);
    let mut random = fastrand::Rng::with_seed(8);
    let (mut plies, mut moments) = (0, 0);
    while moments < 8 {
        std::thread::sleep(Duration::from_millis(random.u64(500..6000)));
        let (tables, text) = moment(&hall.public);
        let expected = expected(&tables);
        let file = folder.path().join(format!("moment-{moments}.pgn"));
        fs::write(&file, &text).expect("written");
        for (reader, seen) in readers(&clients, &file) {
            assert_eq!(seen.len(), expected.len(), "{reader} at moment {moments}: games in\n{text}");
            for (index, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
                agree(&format!("{reader}, moment {moments}, game {index}"), seen, expected);
            }
        }
        let now: usize = expected.iter().filter_map(|game| game.moves.as_ref()).map(Vec::len).sum();
        assert!(now >= plies, "the games go on");
        (plies, moments) = (now, moments + 1);
    }
    assert!(plies > 60, "only {plies} plies were played: nothing is shown by this");
    eprintln!("{moments} moments, {plies} plies at the last one, 7 readers");
}

fn agree(what: &str, seen: &Seen, expected: &Seen) {
    fn same<T: PartialEq + std::fmt::Debug>(what: &str, field: &str, seen: Option<&T>, expected: Option<&T>) {
        if seen.is_some() {
            assert_eq!(seen, expected, "{what}: {field}");
        }
    }
    same(what, "White", seen.white.as_ref(), expected.white.as_ref());
    same(what, "moves", seen.moves.as_ref(), expected.moves.as_ref());
    same(what, "SAN", seen.sans.as_ref(), expected.sans.as_ref());
    same(what, "clocks", seen.clocks.as_ref(), expected.clocks.as_ref());
    same(what, "board", seen.board.as_ref(), expected.board.as_ref());
}

/// The tables and the PGN of one moment: taken again until no move falls between.
fn moment(public: &str) -> (Value, String) {
    let plies = |tables: &Value| -> Vec<Value> {
        let tables = tables.as_array().expect("tables");
        tables.iter().map(|table| table["plies"].clone()).collect()
    };
    let tables = || -> Value { serde_json::from_str(&http_get(public, "/api/v1/tables")).expect("JSON") };
    for _ in 0..1000 {
        let before = tables();
        let text = http_get(public, "/round/current/games.pgn");
        let after = tables();
        if plies(&before) == plies(&after) {
            return (after, text);
        }
    }
    panic!("the hall never stood still for three requests");
}

/// What the hall has, a game in one or more segments between illegal moves that stood.
fn expected(tables: &Value) -> Vec<Seen> {
    let mut out = Vec::new();
    for table in tables.as_array().expect("tables") {
        let plies = table["plies"].as_array().expect("plies");
        let mut board = placement(&table["start"]);
        let mut begin = 0;
        loop {
            let cut = plies[begin..].iter().position(|ply| ply["illegal"] == true).map(|at| begin + at);
            let segment = &plies[begin..cut.unwrap_or(plies.len())];
            if let Some(last) = segment.last() {
                board = placement(&last["fen"]);
            }
            let text = |field: &str| -> Vec<String> {
                segment.iter().map(|ply| ply[field].as_str().expect("text").to_owned()).collect()
            };
            out.push(Seen {
                white: table["players"]["white"]["name"].as_str().map(|name| name.replace('"', "'")),
                moves: Some(text("uci")),
                sans: Some(text("san").iter().map(|san| bare(san)).collect()),
                clocks: Some(segment.iter().map(movers_clock).collect()),
                board: Some(board),
            });
            let Some(cut) = cut else { break };
            board = placement(&plies[cut]["fen"]);
            begin = cut + 1;
        }
    }
    out
}

fn movers_clock(ply: &Value) -> Option<u64> {
    // Whose turn it is after the move stands in the position.
    let mover = if ply["fen"].as_str()?.split(' ').nth(1)? == "b" { "white" } else { "black" };
    ply["clock"][mover].as_u64()
}

fn placement(fen: &Value) -> String {
    fen.as_str().expect("a FEN").split(' ').next().unwrap_or_default().to_owned()
}

/// SAN without the marks that not all readers make.
fn bare(san: &str) -> String {
    san.trim_end_matches(['+', '#']).to_owned()
}

fn readers(clients: &Path, file: &Path) -> Vec<(&'static str, Vec<Seen>)> {
    let script = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);
    let python = Command::new(clients.join("venv/bin/python")).arg(script("read_pgn.py")).arg(file).output();
    let mut out = vec![("python-chess", told(&python.expect("python runs")))];
    for reader in ["chess.js", "chessops", "kokopu", "pgn-parser"] {
        let mut node = Command::new("node");
        node.arg(script("read_pgn.mjs")).arg(file).arg(reader).current_dir(clients);
        out.push((reader, lines(&mut node).iter().map(seen).collect()));
    }
    let extract = pgn_extract(file).into_iter();
    out.push((
        "pgn-extract",
        extract
            .map(|moves| Seen { white: None, moves: Some(moves), sans: None, clocks: None, board: None })
            .collect(),
    ));
    let text = fs::read(file).expect("it was written");
    let mut reader = Reader::new(text.as_slice());
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Pgn::default()).expect("reading from memory") {
        games.push(game);
    }
    out.push(("pgn-reader", games));
    out
}

fn told(output: &std::process::Output) -> Vec<Seen> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| seen(&serde_json::from_str(line).expect("a JSON line"))).collect()
}

fn seen(game: &Value) -> Seen {
    assert_eq!(game["errors"], json!([]), "{game}");
    let texts = |field: &str| -> Option<Vec<String>> {
        Some(game[field].as_array()?.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect())
    };
    Seen {
        white: game["tags"]["White"].as_str().map(str::to_owned),
        moves: texts("moves"),
        sans: texts("sans").map(|sans| sans.iter().map(|san| bare(san)).collect()),
        clocks: game["clocks"].as_array().map(|clocks| clocks.iter().map(Value::as_u64).collect()),
        board: game["board"].as_str().map(str::to_owned),
    }
}

/// The least that plays a game with the crate pgn-reader, on shakmaty's own rules.
#[derive(Default)]
struct Pgn {
    start: Option<Chess>,
    white: Option<String>,
    position: Chess,
    moves: Vec<String>,
    sans: Vec<String>,
    clocks: Vec<Option<u64>>,
}

impl Visitor for Pgn {
    type Tags = ();
    type Movetext = ();
    type Output = Seen;

    fn begin_tags(&mut self) -> ControlFlow<Seen, ()> {
        *self = Self::default();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Seen> {
        match name {
            b"White" => self.white = Some(value.decode_utf8_lossy().into_owned()),
            b"FEN" => {
                let fen: Fen = value.decode_utf8_lossy().parse().expect("a FEN");
                self.start = fen.into_position(CastlingMode::Standard).ok();
                assert!(self.start.is_some(), "a position");
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Seen, ()> {
        self.position = self.start.take().unwrap_or_default();
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<Seen, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<Seen> {
        let m = san.san.to_move(&self.position).expect("a legal move");
        self.moves.push(m.to_uci(CastlingMode::Standard).to_string());
        self.sans.push(bare(&SanPlus::from_move(self.position.clone(), m).to_string()));
        self.clocks.push(None);
        self.position.play_unchecked(m);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<Seen> {
        let text = String::from_utf8_lossy(comment.as_bytes()).into_owned();
        if let (Some(clock), Some(last)) = (text.split("[%clk").nth(1), self.clocks.last_mut()) {
            let parts = clock.split(']').next().unwrap_or_default().trim().split(':');
            *last = parts
                .map(|part| part.parse().ok())
                .try_fold(0, |sum: u64, part: Option<u64>| Some(sum * 60 + part?));
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) -> Seen {
        let board = Fen::from_position(&self.position, EnPassantMode::Legal).to_string();
        Seen {
            white: self.white.take(),
            moves: Some(std::mem::take(&mut self.moves)),
            sans: Some(std::mem::take(&mut self.sans)),
            clocks: Some(std::mem::take(&mut self.clocks)),
            board: board.split(' ').next().map(str::to_owned),
        }
    }
}
