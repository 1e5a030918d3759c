//! The listeners as their users meet them: the stream, the desk's orders, PGN and JSON by HTTP, and
//! what is refused.

use std::sync::Arc;

use arbiterd::{
    hall::{Command, TableId, Update},
    laws::Entry,
    record::{GameResult, PlyState},
    serve::{
        Deps, Feed, ServeConfig, Serving,
        access::{Role, Tokens},
        config::ListenConfig,
        feed::Audience,
    },
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{
    house::House,
    net::{Socket, get, http, post, raw},
    script::Script,
};

#[tokio::test]
async fn the_stream_says_hello_then_all_there_is_then_every_change() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.game(1, 2), script.moved(1, "e2e4")]);
    let mut socket = Socket::open(house.public(), "/ws").await;
    let hello = socket.next().await;
    assert_eq!((&hello["type"], &hello["version"], &hello["seq"]), (&json!("hello"), &json!(1), &json!(4)));
    assert_eq!(hello["event"]["name"], "Open");
    let snapshot = socket.next().await;
    assert_eq!(snapshot["type"], "snapshot");
    assert_eq!(snapshot["seq"], 4);
    assert_eq!(snapshot["tables"][0]["plies"][0]["uci"], "e2e4");
    house.push(&[script.moved(1, "e7e5"), script.clock(1, 5399, 5400, None)]);
    let ply = socket.next().await;
    assert_eq!((&ply["seq"], &ply["ply"]["san"], &ply["table"]), (&json!(5), &json!("e5"), &json!(1)));
    assert_eq!(socket.next().await["seq"], 6);
    house.public.heartbeat();
    assert_eq!(socket.next().await, json!({"type": "heartbeat", "seq": 6}));
    house.serving.stop().await;
    assert!(
        matches!(socket.next_message().await, Some(Message::Close(Some(frame))) if frame.code == 1001.into())
    );
}

#[tokio::test]
async fn the_public_counts_only_what_it_may_see_and_sees_only_that() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1)]);
    let mut desk = Socket::open(house.desk(), "/ws").await;
    let mut public = Socket::open(house.public(), "/ws").await;
    for socket in [&mut desk, &mut public] {
        socket.next_of("snapshot").await;
    }
    house.push(&[script.sensed(1), script.moved(1, "d2d4"), script.sensed(1), script.moved(1, "d7d5")]);
    for (kind, seq) in [("sensed", 3), ("ply", 4), ("sensed", 5), ("ply", 6)] {
        let message = desk.next().await;
        assert_eq!((&message["type"], &message["seq"]), (&json!(kind), &json!(seq)));
    }
    for seq in [3, 4] {
        let message = public.next().await;
        assert_eq!((&message["type"], &message["seq"]), (&json!("ply"), &json!(seq)), "no gap");
    }
    let tables = get(house.public(), "/api/v1/tables").await.json();
    assert!(tables[0].get("sensed").is_none() && tables[0].get("alerts").is_none());
    assert_eq!(get(house.desk(), "/api/v1/tables").await.json()[0]["sensed"], "8/8/8/8/8/8/8/8");
}

#[tokio::test]
async fn a_client_resumes_where_it_was_and_one_of_another_stream_gets_everything() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4"), script.moved(1, "e7e5")]);
    let mut socket = Socket::open(house.public(), "/ws?from=2").await;
    assert_eq!(socket.next().await["type"], "hello");
    assert_eq!(socket.next().await["seq"], 3);
    assert_eq!(socket.next().await["seq"], 4);
    for from in ["99", "0"] {
        let mut socket = Socket::open(house.public(), &format!("/ws?from={from}")).await;
        assert_eq!(socket.next().await["type"], "hello");
        let kind = if from == "0" { "round" } else { "snapshot" };
        assert_eq!(socket.next().await["type"], kind);
    }
}

#[tokio::test]
async fn a_client_may_ask_for_some_tables_only() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.game(1, 2), script.game(1, 3)]);
    let mut socket = Socket::open(house.public(), "/ws?tables=3,1").await;
    let snapshot = socket.next_of("snapshot").await;
    let numbers: Vec<_> =
        snapshot["tables"].as_array().unwrap().iter().map(|table| &table["table"]).collect();
    assert_eq!(numbers, [1, 3]);
    house.push(&[script.moved(2, "e2e4"), script.moved(3, "d2d4")]);
    assert_eq!(socket.next().await["table"], 3);
    house.public.heartbeat();
    assert_eq!(socket.next().await["seq"], 6, "its number goes on all the same");
    assert_eq!(Socket::open_as(house.public(), "/ws?tables=x", &[]).await.err(), Some(400));
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_nobody_up_and_is_shown_the_present_when_it_does() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1)]);
    let mut slow = Socket::open(house.public(), "/ws").await;
    let mut quick = Socket::open(house.public(), "/ws").await;
    slow.next_of("snapshot").await;
    quick.next_of("snapshot").await;
    // Far more than the ring and the sockets' buffers hold together.
    let mut last = 0;
    for round in 0..200 {
        let updates: Vec<Update> = (0..400).map(|n| script.clock(1, round, n, None)).collect();
        last = updates.last().unwrap().seq.0;
        house.public.push(&updates);
        loop {
            if quick.next().await["seq"] == last {
                break;
            }
        }
    }
    let (mut seen, mut snapshots) = (2, 0);
    while seen < last {
        let message = slow.next().await;
        let seq = message["seq"].as_u64().unwrap();
        if message["type"] == "snapshot" {
            snapshots += 1;
        } else {
            assert_eq!(seq, seen + 1, "a gap only behind a snapshot");
        }
        seen = seq;
    }
    assert!(snapshots > 0);
}

#[tokio::test]
async fn pings_are_answered_and_chatter_is_bounded() {
    let house = House::open(|_| {});
    let mut socket = Socket::open(house.public(), "/ws").await;
    socket.next_of("snapshot").await;
    socket.send_message(Message::Ping("here".into())).await;
    assert_eq!(socket.next_message().await, Some(Message::Pong("here".into())));
    socket.send(&json!({"any": "thing"})).await;
    socket.send_message(Message::text("x".repeat(5000))).await;
    assert!(
        matches!(socket.next_message().await, Some(Message::Close(Some(frame))) if frame.code == 1009.into())
    );
    let mut socket = Socket::open(house.public(), "/ws").await;
    socket.next_of("snapshot").await;
    socket.send_message(Message::Close(None)).await;
    assert!(matches!(socket.next_message().await, Some(Message::Close(_))));
}

#[tokio::test]
async fn pgn_stands_at_permanent_addresses_and_is_sent_only_when_it_changed() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.game(1, 2)]);
    house.push(&[script.moved(1, "e2e4"), script.moved(1, "e7e5"), script.moved(2, "d2d4")]);
    house.push(&[script.result(1, GameResult::Draw)]);
    let games = get(house.public(), "/round/1/games.pgn").await;
    assert_eq!(games.status, 200);
    assert_eq!(games.header("content-type"), Some("application/x-chess-pgn; charset=utf-8"));
    assert_eq!(games.header("access-control-allow-origin"), Some("*"));
    assert_eq!(games.body.matches("[White ").count(), 2);
    let tag = games.header("etag").unwrap().to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'));
    for form in [tag.clone(), tag.trim_matches('"').to_owned(), format!("W/{tag}"), format!("\"x\", {tag}")] {
        let again =
            http(house.public(), "GET", "/round/current/games.pgn", &[("if-none-match", &form)], "").await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{form}");
    }
    let one = get(house.public(), "/round/1/game-1.pgn").await.body;
    assert!(one.contains("[Result \"1/2-1/2\"]") && one.contains("1. e4"), "{one}");
    // The next round takes the tables; the last one stays where it was.
    house.push(&[script.round(2, 0), script.game(2, 1), script.game(2, 2), script.moved(1, "c2c4")]);
    let current = get(house.public(), "/round/current/games.pgn").await.body;
    assert!(current.contains("[Round \"2.1\"]") && !current.contains("[Round \"1.1\"]"));
    assert_eq!(get(house.public(), "/round/1/game-1.pgn").await.body, one);
    let finished = get(house.public(), "/round/1/games.pgn").await.body;
    assert!(finished.contains("1. e4") && finished.contains("1. d4"));
    for missing in ["/round/3/games.pgn", "/round/1/game-9.pgn", "/round/x/games.pgn", "/round/1/notes.txt"] {
        let answer = get(house.public(), missing).await;
        assert_eq!(answer.status, 404, "{missing}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
}

#[tokio::test]
async fn cloud_viewers_find_the_files_they_know() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4"), script.moved(1, "e7e5")]);
    house.push(&[script.clock(1, 5398, 5390, Some(shakmaty::Color::White))]);
    let tournament = get(house.public(), "/get/open/tournament.json").await.json();
    assert_eq!(tournament["name"], "Open");
    assert_eq!(tournament["rounds"][0], json!({"count": 1, "live": 1}));
    assert_eq!(tournament["rounds"].as_array().unwrap().len(), 9);
    let index = get(house.public(), "/get/open/round-1/index.json").await.json();
    let white = &index["pairings"][0]["white"];
    assert_eq!(index["date"], "2026-05-01");
    assert_eq!(
        (&white["fname"], &white["lname"], &white["fideid"]),
        (&json!("Anna"), &json!("White1"), &json!(1001))
    );
    assert_eq!(index["pairings"][0]["result"], "*");
    let game = get(house.public(), "/get/open/round-1/game-1.json?poll").await.json();
    assert_eq!(game["moves"], json!(["e4 5400+3", "e5 5399+3"]));
    assert_eq!(game["clock"]["run"], true);
    assert_eq!(
        (&game["live"], &game["chess960"], &game["result"]),
        (&json!(true), &json!(518), &json!(null))
    );
    for missing in
        ["/get/other/tournament.json", "/get/open/round-1/game-2.json", "/get/open/round-1/game-0.json"]
    {
        assert_eq!(get(house.public(), missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn orders_reach_the_daemon_in_the_name_of_the_token_and_its_role() {
    let mut tokens = Tokens::default();
    let chief = tokens.create("chief", Role::ChiefArbiter, None).unwrap();
    let arbiter = tokens.create("arbiter", Role::Arbiter, Some(vec![TableId(1)])).unwrap();
    let guest = tokens.create("guest", Role::ReadOnly, None).unwrap();
    let mut house = House::open(|config| config.tokens = tokens);
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1)]);
    let address = house.desk();
    let bearer = |token: &str| format!("Bearer {token}");
    let entry = json!({"act": "result", "result": "1/2-1/2"});

    assert_eq!(post(address, "/api/v1/tables/1/entry", &[], &entry).await.status, 401);
    assert_eq!(get(address, "/api/v1/tables").await.status, 401);
    assert_eq!(Socket::open_as(address, "/ws", &[]).await.err(), Some(401));
    let wrong = bearer(&format!("{}0", &chief[1..]));
    assert_eq!(http(address, "GET", "/api/v1/tables", &[("authorization", &wrong)], "").await.status, 401);
    let guest = bearer(&guest);
    assert_eq!(http(address, "GET", "/api/v1/tables", &[("authorization", &guest)], "").await.status, 200);
    assert_eq!(
        post(address, "/api/v1/tables/1/entry", &[("authorization", &guest)], &entry).await.status,
        403
    );
    let other = bearer(&arbiter);
    assert_eq!(
        post(address, "/api/v1/tables/2/entry", &[("authorization", &other)], &entry).await.status,
        403
    );
    assert_eq!(
        post(address, "/api/v1/delay", &[("authorization", &other)], &json!({"seconds": 0})).await.status,
        403
    );

    let daemon = tokio::spawn(async move {
        let request = house.commands.recv().await.unwrap();
        assert_eq!(request.by, "arbiter");
        let expected = Entry::Result { result: GameResult::Draw };
        assert_eq!(request.command, Command::Entry { table: TableId(1), entry: expected });
        request.reply.send(Ok(vec![script.result(1, GameResult::Draw)])).unwrap();
        let request = house.commands.recv().await.unwrap();
        assert_eq!(request.command, Command::Delay { seconds: 900 });
        request.reply.send(Err("not now".to_owned())).unwrap();
        house
    });
    let done = post(address, "/api/v1/tables/1/entry", &[("authorization", &other)], &entry).await;
    assert_eq!(done.status, 200);
    assert_eq!(done.json()["updates"][0]["result"]["value"], "1/2-1/2");
    let chief = bearer(&chief);
    let refused =
        post(address, "/api/v1/delay", &[("authorization", &chief)], &json!({"seconds": 900})).await;
    assert_eq!((refused.status, refused.json()["detail"].clone()), (409, json!("not now")));
    let house = daemon.await.unwrap();

    let text = [("authorization", chief.as_str()), ("content-type", "text/plain")];
    assert_eq!(http(address, "POST", "/api/v1/delay", &text, "{\"seconds\":0}").await.status, 415);
    let unknown = json!({"act": "explode"});
    let answer = post(address, "/api/v1/tables/1/entry", &[("authorization", &chief)], &unknown).await;
    assert_eq!(answer.status, 400);
    assert!(answer.json()["detail"].as_str().unwrap().contains("explode"));
    drop(house);
}

#[tokio::test]
async fn a_sign_in_link_becomes_a_cookie_no_script_can_read() {
    let mut tokens = Tokens::default();
    let token = tokens.create("chief", Role::ChiefArbiter, None).unwrap();
    let house = House::open(|config| config.tokens = tokens.clone());
    let address = house.desk();
    assert_eq!(get(address, "/").await.status, 200, "the page itself is for all; it holds nothing");
    let wrong = json!({"token": "guess"});
    assert_eq!(post(address, "/api/v1/session", &[], &wrong).await.status, 401);
    let answer = post(address, "/api/v1/session", &[], &json!({"token": token})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["role"], "chief-arbiter");
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(http(address, "GET", "/api/v1/me", &[("cookie", pair)], "").await.json()["name"], "chief");
    assert!(Socket::open_as(address, "/ws", &[("cookie", pair)]).await.is_ok());
    // Revoked: the next request is refused, and open streams end.
    let mut stream = Socket::open_as(address, "/ws", &[("cookie", pair)]).await.unwrap();
    stream.next_of("snapshot").await;
    let other = tokens.create("other", Role::ReadOnly, None).unwrap();
    house.serving.set_tokens(tokens.clone());
    let other = format!("Bearer {other}");
    let mut stays = Socket::open_as(address, "/ws", &[("authorization", &other)]).await.unwrap();
    stays.next_of("snapshot").await;
    tokens.revoke("chief");
    house.serving.set_tokens(tokens);
    assert!(
        matches!(stream.next_message().await, Some(Message::Close(Some(frame))) if frame.code == 1008.into())
    );
    assert_eq!(stream.next_message().await, None);
    house.desk.heartbeat();
    assert_eq!(stays.next().await["type"], "heartbeat", "others go on");
    assert_eq!(http(address, "GET", "/api/v1/me", &[("cookie", pair)], "").await.status, 401);
}

#[tokio::test]
async fn pages_of_other_places_and_names_that_are_not_ours_are_refused() {
    let house = House::open(|_| {});
    let (desk, public) = (house.desk(), house.public());
    let evil = ("origin", "http://evil.example");
    assert_eq!(Socket::open_as(desk, "/ws", &[evil]).await.err(), Some(403));
    assert_eq!(post(desk, "/api/v1/delay", &[evil], &json!({"seconds": 0})).await.status, 403);
    assert!(Socket::open_as(public, "/ws", &[evil]).await.is_ok(), "the public stream is for any page");
    for address in [desk, public] {
        let answer = http(address, "GET", "/", &[("host", "evil.example")], "").await;
        assert_eq!(answer.status, 421);
        assert!(answer.json()["detail"].as_str().unwrap().contains("hosts"));
    }
    for order in ["POST", "PUT", "DELETE"] {
        for path in ["/", "/api/v1/tables", "/api/v1/delay", "/round/1/games.pgn"] {
            assert_eq!(http(public, order, path, &[], "").await.status, 405, "{order} {path}");
        }
    }
    for path in
        ["/api/v1/alerts", "/metrics", "/api/v1/tables/1/trace", "/..%2f..%2fetc/passwd", "/web/../desk"]
    {
        assert_eq!(get(public, path).await.status, 404, "{path}");
    }
    let page = get(desk, "/").await;
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'self'") && policy.contains("frame-ancestors 'none'"));
}

#[tokio::test]
async fn a_desk_without_tokens_never_opens_to_the_network() {
    let deps = || {
        let (commands, _) = mpsc::channel(1);
        Deps {
            desk: Feed::new(Audience::Desk),
            public: Feed::new(Audience::Public),
            commands,
            registry: prometheus_client::registry::Registry::with_prefix("arbiterd"),
            ready: Arc::new(|| Err("the journal is not there".to_owned())),
            outputs: Arc::new(|| serde_json::json!([])),
            lines: Arc::new(|| serde_json::json!([])),
        }
    };
    let mut config =
        ServeConfig { desk: Some(ListenConfig::loopback(0)), public: None, ..ServeConfig::default() };
    config.desk.as_mut().unwrap().address = "0.0.0.0:0".parse().unwrap();
    let refusal = Serving::start(config.clone(), deps()).unwrap_err().to_string();
    assert!(refusal.contains("token"), "{refusal}");
    config.invite = true;
    let serving = Serving::start(config.clone(), deps()).unwrap();
    let (invited, _) = serving.invitation.clone().unwrap();
    let me = |token: String| {
        let desk = std::net::SocketAddr::new([127, 0, 0, 1].into(), serving.desk.unwrap().port());
        async move { http(desk, "GET", "/api/v1/me", &[("authorization", &format!("Bearer {token}"))], "").await }
    };
    assert_eq!(me(invited.clone()).await.json()["role"], "chief-arbiter");
    assert_eq!(me("0".repeat(64)).await.status, 401);
    serving.set_tokens(arbiterd::serve::access::Tokens::default());
    assert_eq!(me(invited).await.status, 200, "reading the configuration again takes no invitation away");
    config.desk.as_mut().unwrap().address = serving.desk.unwrap();
    let taken = Serving::start(config, deps()).unwrap_err().to_string();
    assert!(taken.contains("choose another port"), "{taken}");
    let desk = std::net::SocketAddr::new([127, 0, 0, 1].into(), serving.desk.unwrap().port());
    assert_eq!(get(desk, "/healthz").await.status, 200);
    let ready = get(desk, "/readyz").await;
    assert_eq!((ready.status, ready.json()["detail"].clone()), (503, json!("the journal is not there")));
}

#[tokio::test]
async fn limits_hold() {
    let house = House::open(|config| {
        let desk = config.desk.as_mut().unwrap();
        desk.limits.body = 1000;
        desk.limits.connections = 3;
    });
    let address = house.desk();
    let large = json!({"seconds": 1, "more": "x".repeat(2000)});
    assert_eq!(post(address, "/api/v1/delay", &[], &large).await.status, 413);
    let huge = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "y".repeat(40_000));
    assert_eq!(raw(address, huge.as_bytes()).await.status, 431);
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(Socket::open(address, "/ws").await);
    }
    let refused = raw(address, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(refused.status, 0, "closed without a word");
    drop(held);
    let mut status = 0;
    while status != 200 {
        status = raw(address, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await
            .status;
    }
    let metrics = get(address, "/metrics").await.body;
    assert!(metrics.contains("arbiterd_refused_total{listener=\"desk\"} "), "{metrics}");
}

#[tokio::test]
async fn a_provisional_ply_says_so_and_a_revised_one_says_what_it_replaces() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1)]);
    let mut socket = Socket::open(house.desk(), "/ws").await;
    socket.next_of("snapshot").await;
    house.push(&[script.ply(1, "e2e3", PlyState::Provisional)]);
    let ply = socket.next().await;
    assert_eq!((&ply["ply"]["state"], &ply["ply"]["replaces"]), (&json!("provisional"), &json!(null)));
    let (_, revised) = script.make(&arbiterd::record::Position::default(), "e2e4", PlyState::Confirmed, 0);
    let body = arbiterd::hall::UpdateBody::Ply { index: 0, ply: Arc::new(revised), replaces: true };
    house.push(&[script.update(Some(1), body)]);
    let ply = socket.next().await;
    assert_eq!((&ply["ply"]["n"], &ply["ply"]["replaces"]), (&json!(1), &json!(1)));
    let table = get(house.desk(), "/api/v1/tables/1").await.json();
    assert_eq!(table["plies"].as_array().unwrap().len(), 1);
    assert_eq!(get(house.desk(), "/api/v1/tables/7").await.status, 404);
}

#[tokio::test]
async fn what_a_journal_tells_of_is_there_for_those_who_resume_and_numbers_go_on() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    let before = [script.round(1, 0), script.game(1, 1), script.sensed(1), script.moved(1, "e2e4")];
    house.desk.restore(&before);
    house.public.restore(&before);
    let mut resumed = Socket::open(house.public(), "/ws?from=2").await;
    assert_eq!(resumed.next().await["type"], "hello");
    assert_eq!(resumed.next().await["ply"]["san"], "e4");
    let mut fresh = Socket::open(house.desk(), "/ws").await;
    assert_eq!(fresh.next_of("snapshot").await["seq"], 4);
    house.push(&[script.moved(1, "e7e5")]);
    assert_eq!(fresh.next().await["seq"], 5);
    assert_eq!(resumed.next().await["seq"], 4);
}
