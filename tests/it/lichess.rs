//! The push to Lichess against a stand-in that answers as Lichess is documented to, faults included;
//! and the hook.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{Arc, mpsc},
    time::Duration,
};

use arbiterd::{
    hall::{Update, UpdateBody},
    publish::{
        hold::HoldPolicy,
        hook::{Hook, HookConfig, HookEvent, HookTarget, sign},
        lichess::{Answer, LichessConfig, Next, Push, Pusher},
        lichess_thread::Lichess,
    },
    record::{GameResult, PlyState, Position, Timestamp},
};
use serde_json::{Value, json};

use crate::support::script::Script;

fn config(url: &str) -> LichessConfig {
    LichessConfig {
        url: url.to_owned(),
        rounds: BTreeMap::from([(1, "abcdefgh".to_owned()), (2, "ijklmnop".to_owned())]),
        token: "lip_secret".to_owned(),
        hold: HoldPolicy::Confirmed,
    }
}

/// Answers as Lichess does: an entry a game, in order; a game of this White is refused.
fn reply(body: &str, refused: Option<&str>) -> String {
    let games: Vec<Value> = games(body)
        .iter()
        .map(|game| match refused {
            Some(name) if game.contains(&format!("[White \"{name}")) => {
                json!({"tags": {"White": name}, "error": "Illegal move"})
            }
            _ => json!({"tags": {"White": "x"}, "moves": 2}),
        })
        .collect();
    json!({"games": games}).to_string()
}

/// The games of a body, split where Lichess splits them.
fn games(body: &str) -> Vec<&str> {
    body.split("\n\n[").collect()
}

fn ok(push: &Push) -> Answer {
    http(200, &reply(&push.body, None))
}

fn http(status: u16, body: &str) -> Answer {
    Answer::Http { status, retry_after: None, body: body.to_owned() }
}

/// Lichess and the push in virtual time.
struct Bench {
    pusher: Pusher,
    script: Script,
    now: i64,
}

impl Bench {
    fn new() -> Self {
        Self { pusher: Pusher::new(&config("")), script: Script::new(), now: 0 }
    }

    fn take(&mut self, updates: &[Update]) {
        self.pusher.take(updates);
    }

    /// Waits until the next request, which must come within a minute and a bit.
    fn next(&mut self) -> Option<Push> {
        loop {
            match self.pusher.next(Timestamp::from_millis(self.now)) {
                Next::Send(push) => return Some(push),
                Next::Idle => return None,
                Next::WaitUntil(at) => {
                    assert!(at.millis() > self.now && at.millis() <= self.now + 121_000);
                    self.now = at.millis();
                }
            }
        }
    }

    fn answer(&mut self, push: &Push, answer: &Answer) {
        self.pusher.answered(push, answer, Timestamp::from_millis(self.now));
    }

    fn status(&self) -> Value {
        self.pusher.status(Timestamp::from_millis(self.now))
    }
}

#[test]
fn only_changed_games_are_pushed_and_moves_only_when_they_stay() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1), bench.script.game(1, 2)];
    bench.take(&updates);
    let push = bench.next().unwrap();
    assert_eq!((push.round.as_str(), games(&push.body).len()), ("abcdefgh", 2), "both, with no moves yet");
    assert!(push.body.contains("[GameId \"open-r1-b1\"]"));
    let answer = ok(&push);
    bench.answer(&push, &answer);
    assert!(bench.next().is_none());
    let slide = bench.script.ply(2, "e2e3", PlyState::Provisional);
    bench.take(&[slide]);
    assert!(bench.next().is_none(), "it may still become e4");
    let (_, e4) = bench.script.make(&Position::default(), "e2e4", PlyState::Confirmed, 0);
    let body = UpdateBody::Ply { index: 0, ply: Arc::new(e4), replaces: true };
    let update = bench.script.update(Some(2), body);
    bench.take(&[update]);
    let push = bench.next().unwrap();
    assert_eq!(games(&push.body).len(), 1);
    assert!(push.body.contains("1. e4 {[%clk 1:30:00]}") && !push.body.contains("%emt"), "{}", push.body);
}

#[test]
fn a_hundred_games_a_request_and_never_more_than_lichess_reads() {
    let mut bench = Bench::new();
    let mut updates = vec![bench.script.round(1, 0)];
    updates.extend((1..=101).map(|table| bench.script.game(1, table)));
    bench.take(&updates);
    let first = bench.next().unwrap();
    assert_eq!(games(&first.body).len(), 100);
    let answer = ok(&first);
    bench.answer(&first, &answer);
    let second = bench.next().unwrap();
    assert_eq!(games(&second.body).len(), 1, "the 101st follows");
    let answer = ok(&second);
    bench.answer(&second, &answer);
    assert!(bench.next().is_none());
    // Long games: the bytes are the limit.
    for table in 1..=100 {
        let mut moves = Vec::new();
        for uci in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(300) {
            moves.push(bench.script.moved(table, uci));
        }
        bench.take(&moves);
    }
    let mut seen = 0;
    while let Some(push) = bench.next() {
        assert!(push.body.len() <= 512 * 1024, "{}", push.body.len());
        seen += games(&push.body).len();
        let answer = ok(&push);
        bench.answer(&push, &answer);
    }
    assert_eq!(seen, 100);
}

#[test]
fn a_refused_game_is_shown_at_the_desk_and_holds_no_other_up() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1), bench.script.game(1, 2)];
    bench.take(&updates);
    let push = bench.next().unwrap();
    let answer = http(200, &reply(&push.body, Some("White2")));
    bench.answer(&push, &answer);
    assert!(bench.next().is_none(), "not again until it changes");
    let status = bench.status();
    assert_eq!(status["games"][0]["table"], 2);
    assert!(status["games"][0]["notice"].as_str().unwrap().contains("Illegal move"));
    assert_eq!(status["ok"], true);
    let update = bench.script.moved(2, "e2e4");
    bench.take(&[update]);
    let push = bench.next().unwrap();
    let answer = ok(&push);
    bench.answer(&push, &answer);
    assert_eq!(bench.status()["games"], json!([]));
}

#[test]
fn an_error_inside_a_success_is_a_failure() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1), bench.script.game(1, 2)];
    bench.take(&updates);
    let push = bench.next().unwrap();
    let upstream =
        json!({"games": [{"tags": {}, "error": "The relay has an upstream URL, and cannot be pushed to."}]});
    bench.answer(&push, &http(200, &upstream.to_string()));
    let began = bench.now;
    assert!(bench.status()["trouble"].as_str().unwrap().contains("upstream URL"));
    let again = bench.next().unwrap();
    assert!(bench.now >= began + 60_000);
    assert_eq!(again.body, push.body);
    // One game alone is not to blame for it either.
    let mut alone = Bench::new();
    let updates = [alone.script.round(1, 0), alone.script.game(1, 1)];
    alone.take(&updates);
    let push = alone.next().unwrap();
    alone.answer(&push, &http(200, &upstream.to_string()));
    assert!(alone.status()["trouble"].as_str().unwrap().contains("upstream URL"));
    assert_eq!(alone.next().unwrap().body, push.body);
}

#[test]
fn a_game_that_brings_whole_requests_down_is_found_and_all_others_go_on() {
    let mut bench = Bench::new();
    let mut updates = vec![bench.script.round(1, 0)];
    updates.extend((1..=40).map(|table| bench.script.game(1, table)));
    bench.take(&updates);
    let mut taken = 0;
    let mut requests = 0;
    while let Some(push) = bench.next() {
        requests += 1;
        if push.body.contains("[White \"White17,") {
            bench.answer(&push, &http(400, "{\"error\":\"Invalid PGN\"}"));
        } else {
            taken += games(&push.body).len();
            let answer = ok(&push);
            bench.answer(&push, &answer);
        }
    }
    assert_eq!(taken, 39);
    assert!(requests < 25, "{requests} requests");
    let told = bench.status()["games"].clone();
    assert_eq!((told.as_array().unwrap().len(), &told[0]["table"]), (1, &json!(17)));
    assert!(told[0]["notice"].as_str().unwrap().contains("Invalid PGN"));
    let update = bench.script.moved(17, "e2e4");
    bench.take(&[update]);
    let push = bench.next().expect("it is tried again when it changes");
    let answer = ok(&push);
    bench.answer(&push, &answer);
    assert_eq!(bench.status()["games"], json!([]));
}

#[test]
fn too_large_is_cut_in_two_and_too_many_waits_a_minute() {
    let mut bench = Bench::new();
    let mut updates = vec![bench.script.round(1, 0)];
    updates.extend((1..=8).map(|table| bench.script.game(1, table)));
    bench.take(&updates);
    let push = bench.next().unwrap();
    bench.answer(&push, &http(413, ""));
    let half = bench.next().unwrap();
    assert!(games(&half.body).len() <= 4 && !half.body.is_empty());
    bench.answer(&half, &http(429, ""));
    let asked = bench.now;
    let again = bench.next().unwrap();
    assert!(bench.now - asked >= 60_000);
    bench.answer(&again, &Answer::Http { status: 429, retry_after: Some(120), body: String::new() });
    let asked = bench.now;
    let again = bench.next().unwrap();
    assert!(bench.now - asked >= 120_000, "as long as Lichess asks");
    let answer = ok(&again);
    bench.answer(&again, &answer);
    assert_eq!(bench.status()["ok"], true);
    // A game that is too large alone is told of and left out.
    let mut alone = Bench::new();
    let updates = [alone.script.round(1, 0), alone.script.game(1, 1)];
    alone.take(&updates);
    let push = alone.next().unwrap();
    alone.answer(&push, &http(413, ""));
    assert!(alone.next().is_none());
    assert!(alone.status()["games"][0]["notice"].as_str().unwrap().contains("too large"));
}

#[test]
fn what_a_person_must_put_right_says_so_and_is_tried_for_ever() {
    for (status, word) in [(401, "token"), (403, "contribute"), (404, "no such round")] {
        let mut bench = Bench::new();
        let updates = [bench.script.round(1, 0), bench.script.game(1, 1)];
        bench.take(&updates);
        for _ in 0..50 {
            let push = bench.next().unwrap();
            bench.answer(&push, &http(status, "{\"error\":\"no\"}"));
        }
        let trouble = bench.status()["trouble"].as_str().unwrap().to_owned();
        assert!(trouble.contains(word) && !trouble.contains("lip_secret"), "{trouble}");
    }
}

#[test]
fn after_ten_minutes_of_silence_everything_is_sent_once_as_it_stands() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1), bench.script.game(1, 2)];
    bench.take(&updates);
    let push = bench.next().unwrap();
    let answer = ok(&push);
    bench.answer(&push, &answer);
    let began = bench.now;
    let mut moves = ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle();
    let mut tries = 0;
    while bench.now < began + 600_000 {
        let update = bench.script.moved(1, moves.next().unwrap());
        bench.take(&[update]);
        let push = bench.next().unwrap();
        bench.answer(&push, &Answer::Lost("connection refused".to_owned()));
        tries += 1;
    }
    assert!((10..30).contains(&tries), "{tries} attempts: neither a storm nor asleep");
    let push = bench.next().unwrap();
    assert!(push.body.contains(&format!("{}. ", tries / 2)), "all moves in one request");
    let answer = ok(&push);
    bench.answer(&push, &answer);
    // The whole round once more, then nothing.
    let push = bench.next().unwrap();
    assert_eq!(games(&push.body).len(), 2);
    let answer = ok(&push);
    bench.answer(&push, &answer);
    assert!(bench.next().is_none());
}

#[test]
fn changed_names_and_results_taken_back_are_pushed_under_the_same_game_id() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1), bench.script.moved(1, "e2e4")];
    bench.take(&updates);
    let result = bench.script.result(1, GameResult::WhiteWins);
    bench.take(&[result]);
    let push = bench.next().unwrap();
    assert!(push.body.contains("[Result \"1-0\"]"));
    let answer = ok(&push);
    bench.answer(&push, &answer);
    let reopened = bench.script.update(Some(1), UpdateBody::Result(None));
    bench.take(&[reopened]);
    let push = bench.next().unwrap();
    assert!(push.body.contains("[Result \"*\"]") && push.body.contains("open-r1-b1"));
    let answer = ok(&push);
    bench.answer(&push, &answer);
    let mut info = bench.script.info(1, 1);
    info.tags.set("White", "Świątek, Żaneta");
    let update = bench.script.update(Some(1), UpdateBody::Table(Arc::new(info)));
    bench.take(&[update]);
    let push = bench.next().unwrap();
    assert!(push.body.contains("[White \"Świątek, Żaneta\"]") && push.body.contains("open-r1-b1"));
}

#[test]
fn an_illegal_move_that_stood_cuts_the_game_with_a_notice() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1), bench.script.moved(1, "e2e4")];
    bench.take(&updates);
    let (after, mut ply) = bench.script.make(
        &Position::from_fen(
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
            shakmaty::CastlingMode::Standard,
        )
        .unwrap(),
        "e7e5",
        PlyState::Confirmed,
        1,
    );
    ply.irregular = true;
    ply.after = after;
    let update =
        bench.script.update(Some(1), UpdateBody::Ply { index: 1, ply: Arc::new(ply), replaces: false });
    bench.take(&[update]);
    let push = bench.next().unwrap();
    assert!(push.body.contains("1. e4") && !push.body.contains("1... e5"), "{}", push.body);
    assert_eq!(games(&push.body).len(), 1, "no second segment");
    assert!(bench.status()["games"][0]["notice"].as_str().unwrap().contains("ply 2"));
}

#[test]
fn a_finished_round_is_still_sent_after_the_next_began() {
    let mut bench = Bench::new();
    let updates = [bench.script.round(1, 0), bench.script.game(1, 1)];
    bench.take(&updates);
    let push = bench.next().unwrap();
    let answer = ok(&push);
    bench.answer(&push, &answer);
    let last = bench.script.moved(1, "e2e4");
    let next = [last, bench.script.round(2, 0), bench.script.game(2, 1)];
    bench.take(&next);
    let old = bench.next().unwrap();
    assert_eq!(old.round, "abcdefgh");
    assert!(old.body.contains("1. e4"));
    let answer = ok(&old);
    bench.answer(&old, &answer);
    assert_eq!(bench.next().unwrap().round, "ijklmnop");
}

#[test]
fn other_rounds_clocks_at_zero_and_chess960_are_written_as_lichess_reads_them() {
    let mut bench = Bench::new();
    let mut info = bench.script.info(1, 1);
    info.tags.set("TimeControl", "40/5400+30:1800+30");
    info.start = Position::chess960(0);
    let updates = [bench.script.round(1, 0), bench.script.update(Some(1), UpdateBody::Table(Arc::new(info)))];
    bench.take(&updates);
    let push = bench.next().unwrap();
    assert!(push.body.contains("[TimeControl \"5400+30\"]"), "{}", push.body);
    assert!(push.body.contains("[Variant \"Fischerandom\"]") && push.body.contains("[FEN "));
    let answer = ok(&push);
    bench.answer(&push, &answer);
    let updates = [bench.script.round(3, 0), bench.script.game(3, 1), bench.script.moved(1, "e2e4")];
    bench.take(&updates);
    assert!(bench.next().is_none(), "round 3 is not on Lichess");
}

/// A request as a stand-in got it.
#[derive(Debug)]
struct Got {
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// A server in a thread: tells what it got, and answers what `answer` says for the n-th request.
fn stand_in(answer: impl Fn(usize, &Got) -> (u16, String) + Send + 'static) -> (String, mpsc::Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (send, receive) = mpsc::sync_channel(100);
    std::thread::spawn(move || {
        let mut count = 0;
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let Ok(copy) = stream.try_clone() else { return };
            let mut reader = BufReader::new(copy);
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                    break;
                }
                lines.push(line.trim().to_owned());
            }
            if lines.is_empty() {
                continue;
            }
            let headers: BTreeMap<String, String> = lines[1..]
                .iter()
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_err() {
                continue;
            }
            let got = Got { line: lines[0].clone(), headers, body: String::from_utf8(body).expect("UTF-8") };
            let (status, text) = answer(count, &got);
            count += 1;
            let head =
                format!("HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", text.len());
            if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).is_err()
                || send.send(got).is_err()
            {
                return;
            }
        }
    });
    (url, receive)
}

const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_request_is_the_one_lichess_documents() {
    let (url, got) = stand_in(|_, got| (200, reply(&got.body, None)));
    let lichess = Lichess::start(config(&url)).unwrap();
    let mut script = Script::new();
    lichess.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4")]);
    let request = got.recv_timeout(SOON).unwrap();
    assert_eq!(request.line, "POST /api/broadcast/round/abcdefgh/push HTTP/1.1");
    assert_eq!(request.headers["authorization"], "Bearer lip_secret");
    assert_eq!(request.headers["content-type"], "text/plain; charset=utf-8");
    assert!(request.headers["user-agent"].starts_with("arbiterd/"));
    assert!(request.body.contains("1. e4"));
    // The last move before the end is not lost.
    lichess.push(&[script.moved(1, "e7e5")]);
    lichess.finish();
    assert!(got.recv_timeout(SOON).unwrap().body.contains("e5"));
}

#[test]
fn a_hook_is_told_once_signed_and_again_until_it_takes_it() {
    let (url, got) = stand_in(|count, _| (if count == 0 { 503 } else { 204 }, String::new()));
    let events = [HookEvent::Result, HookEvent::Alert].into();
    let hook =
        Hook::start(HookConfig { target: HookTarget::Url(url), events, secret: Some("s3".to_owned()) })
            .unwrap();
    let mut script = Script::new();
    hook.push(&[script.round(1, 0), script.game(1, 1), script.result(1, GameResult::Draw)], false);
    hook.push(&[script.moved(1, "e2e4"), script.result(1, GameResult::WhiteWins)], true);
    let first = got.recv_timeout(SOON).unwrap();
    let second = got.recv_timeout(SOON).unwrap();
    assert_eq!(first.body, second.body);
    assert_eq!(first.headers["x-arbiterd-delivery"], second.headers["x-arbiterd-delivery"]);
    assert_eq!(first.headers["x-arbiterd-event"], "result");
    assert_eq!(first.headers["x-arbiterd-signature"], format!("sha256={}", sign("s3", &first.body)));
    let body: Value = serde_json::from_str(&first.body).unwrap();
    assert_eq!((&body["table"], &body["result"]["value"]), (&json!(1), &json!("1-0")), "not the old draw");
    drop(hook);
    assert!(got.try_recv().is_err());
}

#[test]
fn a_command_gets_the_changed_game_on_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let target = HookTarget::Command(
        "/bin/sh".into(),
        vec![
            "-c".to_owned(),
            "cat > \"$0.part\"; printf ' %s %s' $ARBITERD_EVENT ${ARBITERD_DELIVERY##*-} >> \"$0.part\"; \
             mv \"$0.part\" \"$0\""
                .to_owned(),
            file.to_str().unwrap().to_owned(),
        ],
    );
    let hook = Hook::start(HookConfig { target, events: [HookEvent::Pgn].into(), secret: None }).unwrap();
    let mut script = Script::new();
    hook.push(
        &[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4"), script.moved(1, "e7e5")],
        true,
    );
    // Ends when all is told.
    drop(hook);
    let text = std::fs::read_to_string(file).unwrap();
    let body: Value = serde_json::from_str(text.strip_suffix(" pgn 1").unwrap()).unwrap();
    assert!(body["pgn"].as_str().unwrap().contains("1. e4"));
}
