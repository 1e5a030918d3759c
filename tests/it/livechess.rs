//! The `LiveChess` API as its clients meet it: shapes, order, and what lila's page relies on.

use std::sync::Arc;

use arbiterd::{
    hall::{Update, UpdateBody},
    record::{GameResult, PlyState, Position},
    serve::config::ListenConfig,
};
use serde_json::{Value, json};

use crate::support::{
    house::House,
    net::{Socket, get, http},
    script::Script,
};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const START_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn open() -> House {
    House::open(|config| config.livechess = Some(ListenConfig::loopback(0)))
}

fn address(house: &House) -> std::net::SocketAddr {
    house.serving.livechess.expect("the LiveChess listener")
}

fn sensed(script: &mut Script, table: u32, placement: &str) -> Update {
    script.update(Some(table), UpdateBody::Sensed { placement: placement.to_owned(), change: None })
}

/// A board that is, or is not, there.
fn link(script: &mut Script, table: u32, online: bool, clock: bool) -> Update {
    let mut info = script.info(1, table);
    info.link.online = online;
    info.link.reason = (!online).then(|| "unplugged".to_owned());
    info.link.clock = clock;
    script.update(Some(table), UpdateBody::Table(Arc::new(info)))
}

async fn call(socket: &mut Socket, id: u32, call: &str, param: Value) -> Value {
    socket.send(&json!({"id": id, "call": call, "param": param})).await;
    let answer = socket.next().await;
    assert_eq!(answer["id"], id);
    assert!(answer["time"].is_i64());
    answer
}

/// The conversation of a page that connects, as it was once recorded between a browser and a board.
#[tokio::test]
async fn a_page_finds_the_board_subscribes_sets_up_and_hears_the_moves() {
    let house = open();
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), sensed(&mut script, 1, START)]);
    let mut socket =
        Socket::open_as(address(&house), "/api/v1.0", &[("origin", "https://lichess.org")]).await.unwrap();
    // lila leaves `param` out.
    socket.send(&json!({"id": 1, "call": "eboards"})).await;
    let answer = socket.next().await;
    assert_eq!((&answer["response"], &answer["id"]), (&json!("call"), &json!(1)));
    assert_eq!(
        answer["param"],
        json!([{"serialnr": "20001", "source": "table-1", "state": "ACTIVE", "battery": null,
                "comment": null, "board": START, "flipped": false, "clock": null}])
    );
    let subscribe = json!({"feed": "eboardevent", "id": 1, "param": {"serialnr": "20001"}});
    assert_eq!(call(&mut socket, 2, "subscribe", subscribe).await["param"], Value::Null);
    let event = socket.next().await;
    assert_eq!((&event["response"], &event["id"]), (&json!("feed"), &json!(1)));
    assert_eq!(event["param"], json!({"serialnr": "20001", "flipped": false, "board": START, "clock": null}));
    // A piece in the air is told, as the squares are; no clock, no moves.
    let lifted = START.replacen("PPPPPPPP", "PPPP1PPP", 1);
    house.push(&[sensed(&mut script, 1, &lifted)]);
    assert_eq!(socket.next().await["param"], json!({"serialnr": "20001", "flipped": false, "board": lifted}));
    house.push(&[sensed(&mut script, 1, START)]);
    socket.next().await;
    let setup = json!({"id": 1, "method": "setup", "param": {"fen": START_FEN}});
    assert_eq!(call(&mut socket, 3, "call", setup).await["param"], Value::Null);
    let event = socket.next().await;
    assert_eq!(
        event["param"],
        json!({"serialnr": "20001", "flipped": false, "board": START, "start": START_FEN, "san": [],
               "match": true})
    );
    house.push(&[script.moved(1, "e2e4")]);
    let event = socket.next().await;
    assert_eq!((&event["param"]["san"], &event["param"]["match"]), (&json!(["e4"]), &json!(false)));
    house.push(&[script.clock(1, 180, 179, Some(shakmaty::Color::Black))]);
    let event = socket.next().await["param"].clone();
    assert!(event.get("board").is_none() && event.get("san").is_none());
    assert_eq!(
        (&event["clock"]["white"], &event["clock"]["black"], &event["clock"]["run"]),
        (&json!(180), &json!(179), &json!(false))
    );
    assert!(event["clock"]["time"].is_i64());
}

#[tokio::test]
async fn the_board_in_use_stands_first_and_one_that_is_unplugged_stays_listed() {
    let house = open();
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.game(1, 2)]);
    house.push(&[link(&mut script, 1, false, false)]);
    let states = |answer: &Value| -> Vec<(String, Value)> {
        let boards = answer.as_array().expect("boards");
        boards
            .iter()
            .map(|board| (board["serialnr"].as_str().unwrap_or_default().to_owned(), board["state"].clone()))
            .collect()
    };
    let mut socket = Socket::open(address(&house), "/api/v1.0").await;
    let answer = call(&mut socket, 1, "eboards", Value::Null).await;
    assert_eq!(
        states(&answer["param"]),
        [("20002".to_owned(), json!("ACTIVE")), ("20001".to_owned(), json!("NOTRESPONDING"))]
    );
    // Without a serial number: the first in use.
    let answer = call(&mut socket, 2, "subscribe", json!({"feed": "eboardevent", "id": 7})).await;
    assert_eq!(answer["response"], "call");
    assert_eq!(socket.next().await["param"]["serialnr"], "20002");
    house.push(&[link(&mut script, 2, false, false)]);
    let answer = call(&mut socket, 3, "eboards", Value::Null).await;
    assert_eq!(answer["param"].as_array().unwrap().len(), 2, "the socket stays, and the boards too");
}

#[tokio::test]
async fn a_slow_slide_is_one_move_and_a_confirmed_one_is_never_taken_back() {
    let house = open();
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), link(&mut script, 1, true, true)]);
    house.push(&[sensed(&mut script, 1, START)]);
    let mut socket = Socket::open(address(&house), "/api/v1.0").await;
    call(
        &mut socket,
        1,
        "subscribe",
        json!({"feed": "eboardevent", "id": 1, "param": {"serialnr": "20001"}}),
    )
    .await;
    socket.next().await;
    call(&mut socket, 2, "call", json!({"id": 1, "method": "setup", "param": {"fen": START_FEN}})).await;
    assert_eq!(socket.next().await["param"]["san"], json!([]));
    // e3 on the way, then e4; pressed only then.
    let start = Position::default();
    let body = |ply, replaces| UpdateBody::Ply { index: 0, ply: Arc::new(ply), replaces };
    let (on_e3, e3) = script.make(&start, "e2e3", PlyState::Provisional, 0);
    house.push(&[sensed(&mut script, 1, &on_e3.placement()), script.update(Some(1), body(e3, false))]);
    let event = socket.next().await["param"].clone();
    assert_eq!((&event["san"], &event["match"]), (&json!([]), &json!(false)), "the board only");
    let (on_e4, e4) = script.make(&start, "e2e4", PlyState::Provisional, 0);
    house.push(&[sensed(&mut script, 1, &on_e4.placement()), script.update(Some(1), body(e4.clone(), true))]);
    let event = socket.next().await["param"].clone();
    assert!(event.get("san").is_none() && event["board"] == on_e4.placement());
    let confirmed = arbiterd::record::Ply { state: PlyState::Confirmed, ..e4 };
    house.push(&[script.update(Some(1), body(confirmed, false))]);
    let event = socket.next().await["param"].clone();
    assert_eq!((&event["san"], &event["match"]), (&json!(["e4"]), &json!(true)));
}

#[tokio::test]
async fn without_a_clock_a_move_is_told_when_the_board_stands_still() {
    let house = open();
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), sensed(&mut script, 1, START)]);
    let mut socket = Socket::open(address(&house), "/api/v1.0").await;
    call(&mut socket, 1, "subscribe", json!({"feed": "eboardevent", "id": 1})).await;
    socket.next().await;
    call(&mut socket, 2, "call", json!({"id": 1, "method": "setup", "param": {"fen": START_FEN}})).await;
    socket.next().await;
    let (after, ply) = script.make(&Position::default(), "g1f3", PlyState::Provisional, 0);
    let body = UpdateBody::Ply { index: 0, ply: Arc::new(ply), replaces: false };
    house.push(&[sensed(&mut script, 1, &after.placement()), script.update(Some(1), body)]);
    assert_eq!(socket.next().await["param"]["san"], json!([]));
    let event = socket.next().await["param"].clone();
    assert_eq!((&event["san"], &event["match"]), (&json!(["Nf3"]), &json!(true)));
    // The hand that goes for the answer takes nothing back.
    let lifted = after.placement().replacen("pppppppp", "pppp1ppp", 1);
    house.push(&[sensed(&mut script, 1, &lifted)]);
    let event = socket.next().await["param"].clone();
    assert_eq!((&event["board"], &event["match"]), (&json!(lifted), &json!(false)));
    assert!(event.get("san").is_none_or(|moves| *moves == json!(["Nf3"])), "{event}");
}

#[tokio::test]
async fn two_clients_at_one_board_each_have_their_own_start() {
    let house = open();
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4"), script.moved(1, "e7e5")]);
    let here = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
    house.push(&[sensed(&mut script, 1, here)]);
    let mut sockets = Vec::new();
    for fen in [format!("{here} w KQkq - 0 2"), START_FEN.to_owned()] {
        let mut socket = Socket::open(address(&house), "/api/v1.0").await;
        call(&mut socket, 1, "subscribe", json!({"feed": "eboardevent", "id": 1})).await;
        socket.next().await;
        call(&mut socket, 2, "call", json!({"id": 1, "method": "setup", "param": {"fen": fen}})).await;
        assert_eq!(socket.next().await["param"]["san"], json!([]));
        sockets.push(socket);
    }
    house.push(&[script.moved(1, "g1f3")]);
    assert_eq!(sockets[0].next().await["param"]["san"], json!(["Nf3"]));
    // The other waits for a game from its position; the next one is.
    house.push(&[script.game(1, 1), sensed(&mut script, 1, START), script.moved(1, "d2d4")]);
    assert_eq!(sockets[1].next().await["param"]["san"], json!(["d4"]));
}

#[tokio::test]
async fn a_client_may_hold_the_board_the_other_way_round() {
    let house = open();
    let mut script = Script::new();
    let placement = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";
    house.push(&[script.round(1, 0), script.game(1, 1), sensed(&mut script, 1, placement)]);
    let mut socket = Socket::open(address(&house), "/api/v1.0").await;
    call(&mut socket, 1, "subscribe", json!({"feed": "eboardevent", "id": 1})).await;
    socket.next().await;
    call(&mut socket, 2, "call", json!({"id": 1, "method": "flip", "param": {"flip": true}})).await;
    let event = socket.next().await["param"].clone();
    assert_eq!(
        (&event["flipped"], &event["board"]),
        (&json!(true), &json!("RNBKQBNR/PPP1PPPP/8/3P4/8/8/pppppppp/rnbkqbnr"))
    );
}

#[tokio::test]
async fn what_cannot_be_answered_gets_an_error_and_the_socket_stays_open() {
    let house = open();
    let mut socket = Socket::open(address(&house), "/api/v1.0").await;
    for (call_name, param) in [
        ("nonsense", Value::Null),
        ("subscribe", json!({"feed": "eboardevent", "id": 1, "param": {"serialnr": "99"}})),
        ("subscribe", json!({"feed": "weather", "id": 1})),
        ("call", json!({"id": 5, "method": "setup", "param": {"fen": START_FEN}})),
        ("tournament", json!({"id": "no-such"})),
    ] {
        let answer = call(&mut socket, 9, call_name, param).await;
        assert_eq!(answer["response"], "error", "{call_name}");
        assert!(answer["param"]["message"].is_string());
    }
    socket.send_message(tokio_tungstenite::tungstenite::Message::text("{not json")).await;
    assert_eq!(socket.next().await["response"], "error");
    // An identity sent as text comes back as the number that strict clients read.
    socket.send(&json!({"id": "4", "call": "eboards", "param": null})).await;
    let answer = socket.next().await;
    assert_eq!((&answer["id"], &answer["param"]), (&json!(4), &json!([])));
}

/// `localhost` is `::1` to some programs and `127.0.0.1` to others.
#[tokio::test]
async fn it_answers_on_both_loopback_addresses() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    let house = open();
    let other = std::net::SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address(&house).port()));
    assert_eq!(get(other, "/api/v1.0/eboards").await.json(), json!([]));
    let mut socket = Socket::open(other, "/api/v1.0").await;
    assert_eq!(call(&mut socket, 1, "eboards", Value::Null).await["param"], json!([]));
}

#[tokio::test]
async fn only_known_pages_get_in() {
    let house = open();
    let address = address(&house);
    for origin in ["https://lichess.org", "https://www.chess.com"] {
        assert!(Socket::open_as(address, "/api/v1.0", &[("origin", origin)]).await.is_ok(), "{origin}");
        let answer = http(address, "GET", "/api/v1.0/eboards", &[("origin", origin)], "").await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
    }
    for origin in ["https://evil.example", "null", "http://lichess.org.evil.example"] {
        assert_eq!(Socket::open_as(address, "/api/v1.0", &[("origin", origin)]).await.err(), Some(403));
        assert_eq!(http(address, "GET", "/api/v1.0/eboards", &[("origin", origin)], "").await.status, 403);
    }
    assert_eq!(
        http(address, "GET", "/api/v1.0/eboards", &[("host", "evil.example:1982")], "").await.status,
        421
    );
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[tokio::test]
async fn the_tournament_has_exactly_the_fields_strict_clients_know() {
    let house = open();
    let mut script = Script::new();
    house.push(&[script.round(2, 0), script.game(2, 1), script.game(2, 2)]);
    house.push(&[script.moved(1, "e2e4"), script.moved(1, "e7e5"), script.result(1, GameResult::WhiteWins)]);
    house.push(&[script.clock(1, 5390, 5380, None)]);
    let provisional = script.ply(2, "d2d4", PlyState::Provisional);
    house.push(&[provisional]);
    let address = address(&house);
    let tournaments = get(address, "/api/v1.0/tournaments").await.json();
    assert_eq!(keys(&tournaments[0]), ["description", "rounds", "uuid"]);
    let uuid = tournaments[0]["uuid"].as_str().unwrap();
    let tournament = get(address, &format!("/api/v1.0/tournament/{uuid}")).await.json();
    assert_eq!(
        keys(&tournament),
        ["country", "description", "eboards", "location", "name", "rounds", "uuid"]
    );
    assert_eq!(tournament["eboards"], json!(["20001", "20002"]));
    assert_eq!(tournament["rounds"], 9);
    for index in 0..9 {
        let round = get(address, &format!("/api/v1.0/round/{uuid}/{index}")).await.json();
        assert_eq!(keys(&round), ["date", "nr", "pairings"]);
        assert_eq!(round["nr"], index + 1);
    }
    assert_eq!(get(address, &format!("/api/v1.0/round/{uuid}/9")).await.status, 404);
    let round = get(address, &format!("/api/v1.0/round/{uuid}/1")).await.json();
    let pairing = &round["pairings"][0];
    assert_eq!(keys(pairing), ["black", "live", "nr", "result", "uuid", "white"]);
    assert_eq!(
        keys(&pairing["white"]),
        ["federation", "fideid", "fname", "gender", "lname", "mname", "title"]
    );
    assert_eq!((&pairing["result"], &pairing["nr"]), (&json!("WHITEWIN"), &json!(1)));
    let game =
        |index: usize| format!("/api/v1.0/game/{}", round["pairings"][index]["uuid"].as_str().unwrap());
    let first = get(address, &game(0)).await.json();
    assert_eq!(keys(&first), ["chess960", "clock", "comment", "moves", "result"]);
    assert_eq!(first["moves"], json!(["e4 5400+3", "e5 5399+3"]));
    assert_eq!(keys(&first["clock"]), ["black", "run", "time", "white"]);
    assert_eq!(get(address, &game(1)).await.json()["moves"], json!([]), "not confirmed, not told");
    // The same over the socket.
    let mut socket = Socket::open(address, "/api/v1.0").await;
    let answer = call(&mut socket, 1, "tournament", json!({"id": uuid})).await;
    assert_eq!(answer["param"], tournament);
}

/// The strict `livechess` command from `PyPI`, which nobody here wrote. It knows no port but 1982.
#[tokio::test]
#[ignore = "installs a Python package; wants Python 3.12 and port 1982; .ci/run runs it"]
async fn the_livechess_command_reads_boards_tournament_and_events() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = livechess_command(folder.path()) else { return };
    let house = House::open(|config| config.livechess = Some(ListenConfig::loopback(1982)));
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.game(1, 2)]);
    house.push(&[link(&mut script, 1, true, true), link(&mut script, 2, true, true)]);
    house.push(&[script.moved(1, "e2e4"), script.moved(1, "e7e5"), script.moved(2, "d2d4")]);
    house.push(&[
        script.clock(1, 5390, 5380, Some(shakmaty::Color::White)),
        script.clock(2, 5390, 5380, None),
    ]);
    let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
    house.push(&[
        sensed(&mut script, 1, after),
        sensed(&mut script, 2, "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR"),
    ]);
    let tournaments = get(address(&house), "/api/v1.0/tournaments").await.json();
    let uuid = tournaments[0]["uuid"].as_str().unwrap().to_owned();
    for (arguments, expected) in [
        (vec!["tournaments"], "Open"),
        (vec!["eboards"], "20001"),
        (vec!["tournament", &uuid], "White1"),
        (vec!["events", &uuid], "Clock paused"),
    ] {
        let mut command = std::process::Command::new(&program);
        command.args(&arguments).env("LIVECHESS_HOST", "127.0.0.1").env("COLUMNS", "200");
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}{error}");
        assert!(said.contains(expected), "{arguments:?}: {said}{error}");
    }
}

/// Installs the command, with `PYTHON` or the first Python that is new enough.
fn livechess_command(folder: &std::path::Path) -> Option<std::path::PathBuf> {
    let run = |program: &std::path::Path, arguments: &[&str]| {
        let status =
            std::process::Command::new(program).args(arguments).stderr(std::process::Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    // A shim of pyenv is there for every version and runs for few: each is tried, with what it needs.
    let enough = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))";
    let Some(python) = pythons().into_iter().find(|python| run(python, &["-c", enough])) else {
        eprintln!("skipped: no Python 3.12 or newer here (the package `livechess` needs one; set PYTHON)");
        return None;
    };
    let venv = folder.join("venv");
    assert!(run(&python, &["-m", "venv", venv.to_str().expect("a UTF-8 path")]), "a virtual environment");
    let pip = venv.join("bin/pip");
    assert!(run(&pip, &["install", "--quiet", "livechess==0.1.0", "click<8.2"]), "the package installs");
    eprintln!("livechess 0.1.0 runs on {}", python.display());
    Some(venv.join("bin/livechess"))
}

/// Wherever a Python may be: `PYTHON`, the path, pyenv's versions, the newest first.
fn pythons() -> Vec<std::path::PathBuf> {
    let mut all: Vec<std::path::PathBuf> = std::env::var_os("PYTHON").map(Into::into).into_iter().collect();
    all.extend(["python3.14", "python3.13", "python3.12", "python3"].map(Into::into));
    let roots = [
        std::env::var_os("PYENV_ROOT").map(std::path::PathBuf::from),
        std::env::var_os("HOME").map(|home| std::path::Path::new(&home).join(".pyenv")),
    ];
    for root in roots.into_iter().flatten() {
        let mut versions: Vec<_> = std::fs::read_dir(root.join("versions"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|version| version.path())
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("3.1")))
            .collect();
        versions.sort();
        all.extend(versions.into_iter().rev().map(|version| version.join("bin/python")));
    }
    all
}
