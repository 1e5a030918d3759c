//! An operator's day through the real program's desk: two boards at each other's tables, a name with a slip
//! of the pen, a result taken back, pairings dropped into a folder. The feed keeps its games' ids, the archive
//! is right, and the log tells who did it.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    time::Duration,
};

use arbiterd::{
    record::{GameResult, pgn},
    serve::access::{Role, Tokens},
};
use serde_json::{Value, json};

use crate::{
    end_to_end::{boards, config},
    support::daemon::{Daemon, http_get, moves},
};

/// Longer than any of this takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);

/// Somebody at the desk.
struct Person<'a> {
    desk: &'a str,
    token: &'a str,
}

impl Person<'_> {
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.desk).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let (desk, token, length) = (self.desk, self.token, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: {desk}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn order(&self, path: &str, body: &Value) {
        let (status, answer) = self.ask("POST", path, &body.to_string());
        assert_eq!(status, 200, "{path}: {answer}");
    }

    fn until(&self, what: &str, path: &str, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let give_up = arbiterd::wall::uptime() + PATIENCE;
        loop {
            let found = self.get(path);
            if wanted(&found) {
                return found;
            }
            assert!(arbiterd::wall::uptime() < give_up, "waited in vain for {what}: {found:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A token of this role, and the section of the configuration that lets it in.
fn token(name: &str, role: Role, word: &str) -> (String, String) {
    let mut tokens = Tokens::default();
    let token = tokens.create(name, role, None).expect("random numbers");
    let hash = &tokens.0[0].sha256;
    (token, format!("[[token]]\nname = {name:?}\nrole = {word:?}\nsha256 = {hash:?}\n"))
}

fn game_ids(public: &str) -> Vec<String> {
    let text = http_get(public, "/round/1/games.pgn");
    text.lines().filter(|line| line.starts_with("[GameId ")).map(str::to_owned).collect()
}

fn archived(folder: &Path, table: u32) -> Option<(Vec<String>, String, Option<GameResult>)> {
    let bytes = fs::read(folder.join(format!("archive/round-1/game-{table}.pgn"))).ok()?;
    let (game, _) = pgn::read_games(&bytes).next()?.ok()?;
    let white = game.tags.get("White").unwrap_or_default().to_owned();
    let plies = game.plies.iter().map(|ply| ply.uci.to_string()).collect();
    Some((plies, white, game.result.map(|(result, ..)| result)))
}

fn until_archived(
    folder: &Path,
    table: u32,
    wanted: impl Fn(&(Vec<String>, String, Option<GameResult>)) -> bool,
) {
    let give_up = arbiterd::wall::uptime() + PATIENCE;
    while !archived(folder, table).as_ref().is_some_and(&wanted) {
        let found = archived(folder, table);
        assert!(arbiterd::wall::uptime() < give_up, "the archive does not follow: {found:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn swapped_tables_a_corrected_name_and_a_reopened_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, games, serials) = boards(folder.path(), 2, 8.0);
    let path = config(folder.path(), &hall, &serials);
    let (operator_token, first) = token("operator-1", Role::Operator, "operator");
    let (arbiter, second) = token("arbiter-1", Role::Arbiter, "arbiter");
    let text = fs::read_to_string(&path).expect("a configuration") + &first + &second;
    fs::write(&path, text).expect("a writable folder");
    let daemon = Daemon::run(&path);
    let operator = Person { desk: &daemon.desk, token: &operator_token };
    let arbiter = Person { desk: &daemon.desk, token: &arbiter };
    let ids = ["[GameId \"test-1-1\"]", "[GameId \"test-1-2\"]"];

    // Move 15: the boards stand at each other's tables.
    operator.until("move 15", "/api/v1/tables", |tables| (0..2).all(|at| moves(&tables[at]).len() >= 30));
    assert_eq!(game_ids(&daemon.public), ids);
    operator.order("/api/v1/swap", &json!({"a": 1, "b": 2}));
    // Move 20: a name was wrong.
    let tables =
        operator.until("move 20", "/api/v1/tables", |tables| (0..2).all(|at| moves(&tables[at]).len() >= 40));
    assert_eq!(game_ids(&daemon.public), ids);
    assert_eq!(moves(&tables[0])[..40], games[1].uci()[..40]);
    operator.order("/api/v1/tables/1/players", &json!({"white": {"name": "Right, Anna"}}));
    let tables = operator.until("the games to end", "/api/v1/tables", |tables| {
        (0..2).all(|at| moves(&tables[at]).len() == games[1 - at].moves.len())
    });
    assert_eq!([moves(&tables[0]), moves(&tables[1])], [games[1].uci(), games[0].uci()]);

    // The result: entered, taken back, entered again.
    let entry = "/api/v1/tables/1/entry";
    let (status, _) = operator.ask("POST", entry, &json!({"act": "result", "result": "1/2-1/2"}).to_string());
    assert_eq!(status, 403, "results are the arbiter's");
    let whole = games[1].uci();
    arbiter.order(entry, &json!({"act": "result", "result": "1/2-1/2"}));
    until_archived(folder.path(), 1, |(.., result)| *result == Some(GameResult::Draw));
    arbiter.order(entry, &json!({"act": "reopen"}));
    until_archived(folder.path(), 1, |(.., result)| result.is_none());
    arbiter.order(entry, &json!({"act": "result", "result": "1-0"}));
    until_archived(folder.path(), 1, |(plies, white, result)| {
        *plies == whole && white == "Right, Anna" && *result == Some(GameResult::WhiteWins)
    });
    until_archived(folder.path(), 2, |(plies, white, _)| *plies == games[0].uci() && white == "White 2");
    assert_eq!(game_ids(&daemon.public), ids);

    let log = operator.get("/api/v1/incidents");
    let by = |kind: &str, what: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let log = log.as_array().expect("a log").iter();
        log.filter(|entry| entry["kind"] == kind && what(entry))
            .map(|entry| entry["by"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(by("boards-swapped", &|_| true), ["operator-1"; 2]);
    let renamed = |entry: &Value| entry["changes"]["white"][1]["name"] == "Right, Anna";
    assert_eq!(by("table-changed", &renamed), ["operator-1"]);
    assert_eq!(by("entry", &|entry| entry["entry"]["act"] == "reopen"), ["arbiter-1"]);

    // What the desk corrected outlives the configuration's own words.
    assert_eq!(daemon.terminate(), Some(0));
    let daemon = Daemon::run(&path);
    let again = Person { desk: &daemon.desk, token: &operator_token }.get("/api/v1/tables/1");
    assert_eq!(again["players"]["white"]["name"], "Right, Anna");
    assert_eq!(again["result"]["value"], "1-0");
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();

    // Everything again from the journal alone, byte for byte.
    let exported = folder.path().join("exported");
    assert_cmd::Command::cargo_bin("arbiterd")
        .expect("built")
        .args(["export", "--journal"])
        .arg(folder.path().join("arbiterd.sqlite"))
        .arg(&exported)
        .assert()
        .success();
    let live = crate::tournament::tree(&folder.path().join("archive"));
    assert!(live.contains_key("round-1.evidence.sqlite") && live.contains_key("round-1.incidents.html"));
    crate::tournament::assert_same(&live, &crate::tournament::tree(&exported));
}

#[test]
fn pairings_dropped_into_the_watched_folder_wait_for_a_person() {
    let folder = tempfile::tempdir().expect("a folder");
    let pairings = folder.path().join("pairings");
    fs::create_dir(&pairings).expect("a folder");
    let path = folder.path().join("arbiterd.toml");
    let (token, allowed) = token("operator-1", Role::Operator, "operator");
    let text = format!(
        "[event]\nid = \"test\"\n[import]\nwatch = \"pairings\"\n[desk]\nlisten = \"127.0.0.1:0\"\n\
         [public]\nlisten = \"127.0.0.1:0\"\n{allowed}"
    );
    fs::write(&path, &text).expect("a writable folder");
    let daemon = Daemon::run(&path);
    let operator = Person { desk: &daemon.desk, token: &token };
    let game = |white: &str, black: &str| {
        format!("[Round \"1\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\n*\n\n")
    };
    let file = pairings.join("round1.pgn");
    fs::write(&file, game("Alpha, A", "Beta, B") + &game("Gamma, C", "bye")).expect("written");
    let imports = operator.until("the import", "/api/v1/imports", |imports| imports[0]["state"] == "pending");
    assert_eq!(
        (&imports[0]["file"], &imports[0]["notes"][0]["issue"]),
        (&"round1.pgn".into(), &"bye".into())
    );
    assert_eq!(operator.get("/api/v1/tables"), json!([]), "nothing starts before somebody has seen it");
    // The pairing officer writes it again: the first one does not wait any more.
    fs::write(&file, game("Alpha, A", "Beta, B") + &game("Gamma, C", "Delta, D")).expect("written");
    let imports =
        operator.until("the change", "/api/v1/imports", |imports| imports[1]["state"] == "superseded");
    let id = imports[0]["id"].as_u64().expect("a number");
    let (status, _) = operator.ask("POST", &format!("/api/v1/imports/{}/confirm", id - 1), "{}");
    assert_eq!(status, 409);
    operator.order(&format!("/api/v1/imports/{id}/confirm"), &json!({}));
    operator
        .until("the tables", "/api/v1/tables", |tables| tables[1]["players"]["black"]["name"] == "Delta, D");
    let imports = operator.get("/api/v1/imports");
    assert_eq!((&imports[0]["state"], &imports[0]["by"]), (&"taken".into(), &"operator-1".into()));
    // What is no round says so, with the line.
    fs::write(pairings.join("broken.trf"), "001 nobody\n").expect("written");
    let imports =
        operator.until("the refusal", "/api/v1/imports", |imports| imports[0]["state"] == "refused");
    assert!(imports[0]["notes"][0]["line"].is_number(), "{}", imports[0]);
    assert_eq!(daemon.terminate(), Some(0));

    // Where nobody has to confirm, the next round opens by itself; one that is being played is left alone.
    fs::write(&path, text.replace("[import]\n", "[import]\nconfirm = false\n")).expect("written");
    let daemon = Daemon::run(&path);
    let operator = Person { desk: &daemon.desk, token: &token };
    let second = game("Beta, B", "Gamma, C").replace("\"1\"", "\"2\"");
    fs::write(pairings.join("round2.pgn"), &second).expect("written");
    operator.until("round 2", "/api/v1/round", |round| round["number"] == 2);
    let plies = json!({"what": "append", "plies": ["e2e4"]});
    operator.order("/api/v1/tables/1/correct", &plies);
    fs::write(pairings.join("round3.pgn"), second.replace("\"2\"", "\"3\"")).expect("written");
    operator.until("the import of round 3", "/api/v1/imports", |imports| {
        imports[0]["file"] == "round3.pgn" && imports[0]["state"] == "pending"
    });
    assert_eq!(operator.get("/api/v1/round")["number"], 2);
    assert_eq!(daemon.terminate(), Some(0));
}
