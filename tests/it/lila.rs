//! What lila's page (the board page of lichess.org) does with the `LiveChess` API, by a client of our own
//! that does the same: it takes the first board, sets up its game, and plays whatever a `san` list has
//! more than the last. It can take nothing back, so it must never be told what does not stay.

use std::sync::Arc;

use arbiterd::{
    hall::{Update, UpdateBody},
    record::{Ply, PlyState, Position},
    serve::config::ListenConfig,
};
use serde_json::{Value, json};
use shakmaty::CastlingMode;

use crate::support::{house::House, net::Socket, script::Script};

/// The page.
struct Page {
    socket: Socket,
    /// The last list it took.
    last: Vec<String>,
    /// What it posted to its game.
    posted: Vec<String>,
    /// The placement it saw last.
    board: String,
    matches: Option<bool>,
}

impl Page {
    /// Opens, asks for the boards until there is one, and subscribes to the first.
    async fn open(house: &House, mut plug_in: impl FnMut()) -> Self {
        let address = house.serving.livechess.expect("the LiveChess listener");
        let origin = [("origin", "https://lichess.org")];
        let mut socket = Socket::open_as(address, "/api/v1.0", &origin).await.expect("lila may come in");
        let serial = loop {
            // No `param`.
            socket.send(&json!({"id": 1, "call": "eboards"})).await;
            let answer = socket.next().await;
            // Compared loosely there; a number is what all clients read.
            assert_eq!((&answer["response"], &answer["id"]), (&json!("call"), &json!(1)));
            // An empty list is an error to the page, and it asks again.
            match answer["param"].as_array().expect("a list").first() {
                Some(board) => break board["serialnr"].clone(),
                None => plug_in(),
            }
        };
        let param = json!({"feed": "eboardevent", "id": 1, "param": {"serialnr": serial}});
        socket.send(&json!({"id": 2, "call": "subscribe", "param": param})).await;
        let mut page =
            Self { socket, last: Vec::new(), posted: Vec::new(), board: String::new(), matches: None };
        page.hear().await;
        page
    }

    /// Attaches to a game: only if the board stands as the game does.
    async fn attach(&mut self, fen: &str) -> bool {
        if self.board != fen.split(' ').next().unwrap_or_default() {
            return false;
        }
        let param = json!({"id": 1, "method": "setup", "param": {"fen": fen}});
        self.socket.send(&json!({"id": 3, "call": "call", "param": param})).await;
        self.last.clear();
        while self.matches.is_none() {
            self.hear().await;
        }
        true
    }

    async fn hear(&mut self) {
        let message = self.socket.next().await;
        if message["response"] != "feed" {
            assert_eq!(message["response"], "call", "{message}");
            // The reply; the feed's message follows.
            let next = self.socket.next().await;
            return self.take(&next);
        }
        self.take(&message);
    }

    fn take(&mut self, message: &Value) {
        let param = &message["param"];
        if let Some(board) = param["board"].as_str() {
            board.clone_into(&mut self.board);
        }
        self.matches = param["match"].as_bool().or(self.matches);
        let Some(list) = param["san"].as_array() else { return };
        let list: Vec<String> = list.iter().map(|san| san.as_str().expect("text").to_owned()).collect();
        if list.is_empty() || list == self.last {
            return;
        }
        // Only the difference in length counts; a correction of what was played goes unseen.
        let new = list.len().saturating_sub(self.last.len());
        self.posted.extend_from_slice(&list[list.len() - new..]);
        if new > 0 {
            self.last = list;
        }
    }

    async fn until(&mut self, posted: usize) {
        while self.posted.len() < posted {
            self.hear().await;
        }
    }
}

fn open() -> House {
    House::open(|config| config.livechess = Some(ListenConfig::loopback(0)))
}

/// A table with a clock that is pressed, from this position.
fn table(script: &mut Script, start: &Position) -> Vec<Update> {
    let mut first = vec![script.round(1, 0), script.game(1, 1)];
    let mut info = script.info(1, 1);
    info.game += 100;
    info.start = start.clone();
    info.link.clock = true;
    first.push(script.update(Some(1), UpdateBody::Table(Arc::new(info))));
    script.undone(1, 0, start.clone());
    first.push(sensed(script, start));
    first
}

fn sensed(script: &mut Script, position: &Position) -> Update {
    script.update(Some(1), UpdateBody::Sensed { placement: position.placement(), change: None })
}

fn ply(script: &mut Script, index: usize, ply: &Ply, replaces: bool) -> Update {
    script.update(Some(1), UpdateBody::Ply { index, ply: Arc::new(ply.clone()), replaces })
}

#[tokio::test]
async fn whatever_hands_do_before_the_press_the_page_plays_the_game_and_nothing_else() {
    let house = open();
    let mut script = Script::new();
    let mut random = fastrand::Rng::with_seed(6);
    let start = Position::default();
    let first = table(&mut script, &start);
    // No board at first: the page asks again.
    let mut page = Page::open(&house, || house.push(&first)).await;
    assert!(page.attach(&start.fen()).await);
    let mut game = Vec::new();
    for index in 0..120 {
        let before = script.position(1).clone();
        let moves = before.legal_moves();
        let (Some(m), Some(slip)) = (random.choice(&moves).copied(), random.choice(&moves).copied()) else {
            break;
        };
        let make = |script: &Script, m, state| script.make(&before, &before.uci(m).to_string(), state, index);
        let (after, right) = make(&script, m, PlyState::Confirmed);
        let (slipped, wrong) = make(&script, slip, PlyState::Provisional);
        let mut out = Vec::new();
        match random.u8(0..4) {
            // A piece rests on its way, or is put back: seen, and put right before the press.
            0 => {
                out.push(sensed(&mut script, &slipped));
                out.push(ply(&mut script, index, &wrong, false));
                let seen = Ply { state: PlyState::Provisional, ..right.clone() };
                out.push(sensed(&mut script, &after));
                out.push(ply(&mut script, index, &seen, true));
            }
            1 => {
                out.push(sensed(&mut script, &slipped));
                out.push(ply(&mut script, index, &wrong, false));
                out.push(script.update(Some(1), UpdateBody::Undo { from: index }));
                out.push(sensed(&mut script, &before));
            }
            2 => {
                let seen = Ply { state: PlyState::Provisional, ..right.clone() };
                out.push(ply(&mut script, index, &seen, false));
            }
            _ => {}
        }
        out.push(sensed(&mut script, &after));
        out.push(ply(&mut script, index, &right, false));
        script.undone(1, index + 1, after);
        game.push(right.san);
        // One by one, so that the page may see everything between.
        for update in out {
            house.push(&[update]);
            tokio::task::yield_now().await;
        }
        if random.bool() {
            page.until(game.len()).await;
        }
    }
    page.until(game.len()).await;
    assert_eq!(page.posted, game);
}

#[tokio::test]
async fn promotions_and_castling_are_told_as_they_are() {
    for (fen, line) in [
        (
            "8/PPPP2k1/8/8/8/8/6K1/8 w - - 0 1",
            vec!["a7a8q", "g7h7", "b7b8n", "h7g7", "c7c8r", "g7h7", "d7d8b"],
        ),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", vec!["e1g1", "e8c8"]),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", vec!["e5d6"]),
    ] {
        let house = open();
        let mut script = Script::new();
        let start = Position::from_fen(fen, CastlingMode::Standard).expect("a FEN");
        house.push(&table(&mut script, &start));
        let mut page = Page::open(&house, || panic!("the board is there")).await;
        assert!(page.attach(fen).await);
        let mut game = Vec::new();
        for uci in line {
            let before = script.position(1).clone();
            let m = before.find_uci(uci.parse().expect("a move")).expect("a legal move");
            game.push(before.san(m));
            let moved = script.moved(1, uci);
            house.push(&[moved]);
            page.until(game.len()).await;
        }
        assert_eq!(page.posted, game);
    }
}

#[tokio::test]
async fn a_position_that_does_not_stand_on_the_board_gets_no_moves() {
    let house = open();
    let mut script = Script::new();
    let start = Position::default();
    house.push(&table(&mut script, &start));
    let mut page = Page::open(&house, || panic!("the board is there")).await;
    let other = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert!(!page.attach(other).await, "the page looks itself");
    // A client that does not look is told that they differ.
    let param = json!({"id": 1, "method": "setup", "param": {"fen": other}});
    page.socket.send(&json!({"id": 3, "call": "call", "param": param})).await;
    page.hear().await;
    assert_eq!(page.matches, Some(false));
    house.push(&[script.moved(1, "d2d4")]);
    house.push(&[sensed(&mut script, &Position::default().play(start.legal_moves()[0]))]);
    page.hear().await;
    assert!(page.posted.is_empty(), "no move from a position that never stood there");
}
