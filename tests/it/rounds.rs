//! The life of a round: boards that stay at their tables, sheets before and after, sections, games that are
//! adjourned or typed, and a log that tells who did what.

use std::sync::Arc;

use arbiterd::{
    event::Player,
    hall::{
        BoardKey, CheckState, Command, EventSetup, GameRef, Hall, Input, InputBody, OptionsSetup, RoundSetup,
        SectionSetup, TableId, TableSetup, TableStatus, Update, View, check_sheet, close_sheet,
    },
    laws::Entry,
    record::{GameResult, PlySource, Position, ResultState, Tags, Timestamp},
    serve::{Feed, feed::Audience},
    sim::{Level, SimGame, famous_games, play_virtual},
    track::Correction,
    wire::{BoardIdentity, ClockReading, ClockSide, ClockState, LinkEvent, Observation, Squares},
};

/// A hall with the desk's view of it.
struct Stage {
    hall: Hall,
    view: View,
    /// What anyone may see.
    public: Arc<Feed>,
    now: Timestamp,
}

impl Stage {
    fn new(event: EventSetup) -> Self {
        let mut stage = Self {
            hall: Hall::new(),
            view: View::new(true),
            public: Feed::new(Audience::Public),
            now: Timestamp::from_millis(0),
        };
        stage.order(Command::Event { event });
        stage
    }

    fn apply(&mut self, body: InputBody) {
        let updates = self.hall.apply(&Input { at: self.now, body });
        self.tell(&updates);
    }

    fn tell(&mut self, updates: &[Update]) {
        for update in updates {
            self.view.apply(update);
        }
        self.public.push(updates);
    }

    fn order(&mut self, command: Command) {
        self.order_by("chief", command);
    }

    fn order_by(&mut self, by: &str, command: Command) {
        self.now = self.now.plus(1000);
        self.hall.check(&command).expect("it can be done");
        self.apply(InputBody::Command { by: by.to_owned(), command });
    }

    fn board(&mut self, key: &str, observation: Observation) {
        self.apply(InputBody::Board(BoardKey(key.to_owned()), observation));
    }

    fn up(&mut self, key: &str) {
        let identity = BoardIdentity { serial: key.to_owned(), ..BoardIdentity::default() };
        self.board(key, Observation::Link(LinkEvent::Up(identity)));
    }

    fn shows(&mut self, key: &str, board: &shakmaty::Board) {
        self.now = self.now.plus(5000);
        self.board(key, Observation::Dump(Squares::from_board(board, false)));
        self.now = self.now.plus(5000);
        let updates = self.hall.advance(self.now);
        self.tell(&updates);
    }

    fn clock(&mut self, key: &str, white: u32, black: u32) {
        self.clock_reads(key, white, black, false);
    }

    fn running_clock(&mut self, key: &str, white: u32, black: u32) {
        self.clock_reads(key, white, black, true);
    }

    fn clock_reads(&mut self, key: &str, white: u32, black: u32, running: bool) {
        let side = |seconds| ClockSide { seconds, ..ClockSide::default() };
        let reading = ClockReading {
            left: side(white),
            right: side(black),
            running,
            left_to_move: true,
            battery_low: false,
        };
        self.board(key, Observation::Clock(ClockState::Reading(reading)));
    }

    /// Hands play a game on a board until it has so many plies.
    fn play(&mut self, key: &str, game: &SimGame, plies: usize) {
        let table = self.hall.table_of(&BoardKey(key.to_owned())).expect("it stands at a table");
        let begin = self.now;
        for (at, observation) in play_virtual(game, Level::Tidy, 5) {
            if self.hall.game(table).expect("a game").plies.len() >= plies {
                return;
            }
            self.now = begin.plus(at);
            self.board(key, observation);
        }
    }

    fn moves(&self, table: u32) -> Vec<String> {
        let game = self.hall.game(TableId(table)).expect("a game");
        let told = &self.view.tables[&TableId(table)].game;
        assert_eq!(told.plies, game.plies, "what is told is what the hall has");
        game.plies.iter().map(|ply| ply.uci.to_string()).collect()
    }

    /// The last entry of this kind in the log.
    fn logged(&self, kind: &str) -> serde_json::Value {
        self.view
            .incidents
            .values()
            .into_iter()
            .rev()
            .find(|entry| entry["kind"] == kind)
            .expect("it is in the log")
    }
}

fn table(number: u32, board: Option<&str>) -> TableSetup {
    TableSetup {
        table: TableId(number),
        board: board.map(|key| BoardKey(key.to_owned())),
        white: Player::named(format!("White {number}")),
        black: Player::named(format!("Black {number}")),
        start: Position::default(),
        profile: None,
        time_control: None,
        tags: Tags::default(),
        options: OptionsSetup::default(),
    }
}

fn round(number: u32, tables: Vec<TableSetup>) -> Command {
    Command::Round { round: RoundSetup { number, date: Some("2026-05-01".to_owned()), tables } }
}

fn event() -> EventSetup {
    EventSetup { id: "open".to_owned(), time_control: "5400+30".to_owned(), ..EventSetup::default() }
}

fn start() -> shakmaty::Board {
    Position::default().board().clone()
}

#[test]
fn boards_stay_at_their_tables_and_old_positions_never_get_new_names() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001")), table(2, Some("41002"))]));
    stage.up("41001");
    let game = &famous_games()[0];
    stage.play("41001", game, game.moves.len());
    let end = game.end().board().clone();
    // The next round names no board: each stays where it stands, with its old position on it.
    stage.order(round(2, vec![table(1, None), table(2, None)]));
    assert_eq!(stage.hall.table_of(&BoardKey("41001".to_owned())), Some(TableId(1)));
    stage.shows("41001", &end);
    assert!(stage.moves(1).is_empty());
    let line = &check_sheet(&stage.view, None)[0];
    assert_eq!((line.position, line.ready, line.squares.is_empty()), (CheckState::Bad, false, false));
    assert_eq!(stage.view.tables[&TableId(1)].info.status, TableStatus::Waiting);
    stage.shows("41001", &start());
    assert_eq!(stage.view.tables[&TableId(1)].info.status, TableStatus::Armed);
    let line = &check_sheet(&stage.view, None)[0];
    assert_eq!(
        (line.position, line.online, line.assigned),
        (CheckState::Good, CheckState::Good, CheckState::Good)
    );
}

#[test]
fn the_sheet_before_the_round_tells_what_is_missing_by_table() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001")), table(2, None), table(3, Some("41003"))]));
    stage.up("41001");
    stage.shows("41001", &start());
    stage.clock("41001", 5430, 5430);
    stage.up("41003");
    stage.shows("41003", &start());
    stage.clock("41003", 3600, 3600);
    let sheet = check_sheet(&stage.view, None);
    assert_eq!(sheet.iter().map(|line| line.ready).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!((sheet[0].time, sheet[0].expected_seconds), (CheckState::Good, Some(5430)));
    assert_eq!((sheet[1].assigned, sheet[1].position), (CheckState::Bad, CheckState::Unknown));
    assert_eq!((sheet[2].time, sheet[2].shown_seconds), (CheckState::Bad, [Some(3600), Some(3600)]));
}

#[test]
fn a_round_given_again_changes_names_and_no_game() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001")), table(2, Some("41002"))]));
    stage.up("41001");
    let game = &famous_games()[1];
    stage.play("41001", game, 15);
    let number = stage.view.tables[&TableId(1)].info.game;
    let renamed = TableSetup { white: Player::named("Anna"), ..table(1, None) };
    stage.order_by("op", round(1, vec![renamed, table(2, None), table(3, None)]));
    assert_eq!(stage.moves(1), game.uci()[..15]);
    let info = &stage.view.tables[&TableId(1)].info;
    assert_eq!((info.game, info.white.name.as_str()), (number, "Anna"));
    assert_eq!(info.tags.get("GameId"), Some("open-1-1"));
    assert_eq!(stage.logged("round-opened")["by"], "op");
    assert_eq!(stage.hall.table_ids().len(), 3);
    stage.order_by(
        "op",
        Command::Players { table: TableId(1), white: None, black: Some(Player::named("Bela")) },
    );
    let logged = stage.logged("table-changed");
    assert_eq!((&logged["by"], &logged["table"]), (&"op".into(), &1.into()));
    assert_eq!(logged["changes"]["black"][1]["name"], "Bela");
    assert_eq!(stage.moves(1).len(), 15);
    stage.order(Command::NewGame { table: TableId(1) });
    assert!(stage.moves(1).is_empty());
    assert_eq!(stage.hall.table_of(&BoardKey("41001".to_owned())), Some(TableId(1)));
}

#[test]
fn closing_lists_missing_proposed_conflicting_and_unsigned_results() {
    let mut stage = Stage::new(event());
    stage.order(round(1, (1..=6).map(|number| table(number, None)).collect()));
    let entry = |number, entry| Command::Entry { table: TableId(number), entry };
    let result = |result| Entry::Result { result };
    stage.order(entry(1, result(GameResult::WhiteWins)));
    stage.order(entry(1, Entry::ScoresheetsSigned { result: Some(GameResult::WhiteWins) }));
    stage.order(entry(2, result(GameResult::Draw)));
    stage.order(entry(3, result(GameResult::BothForfeit)));
    stage.order(entry(4, result(GameResult::BlackWins)));
    stage.order(entry(4, Entry::ScoresheetsSigned { result: Some(GameResult::WhiteWins) }));
    stage.order(entry(5, Entry::Adjourn));
    let sheet = close_sheet(&stage.view, None);
    let of = |number: u32| sheet.iter().find(|line| line.table == TableId(number));
    assert!(of(1).is_none() && of(3).is_none(), "{sheet:?}");
    assert!(of(2).is_some_and(|line| line.unsigned && !line.missing));
    assert!(of(4).is_some_and(|line| line.conflict && !line.unsigned));
    assert!(of(5).is_some_and(|line| line.adjourned && !line.unsigned));
    assert!(of(6).is_some_and(|line| line.missing));
    stage.order_by("chief", Command::CloseRound);
    let logged = stage.logged("round-closed");
    assert_eq!(logged["open"].as_array().map(Vec::len), Some(4));
    assert_eq!(stage.view.round["live"], false);
}

#[test]
fn every_kind_of_result_is_taken_and_shown() {
    use GameResult as R;
    let mut stage = Stage::new(event());
    let all = [
        R::WhiteWins,
        R::BlackWins,
        R::Draw,
        R::WhiteForfeit,
        R::BlackForfeit,
        R::BothForfeit,
        R::HalfZero,
        R::ZeroHalf,
        R::BothLose,
        R::Adjourned,
    ];
    stage.order(round(1, (1..=10).map(|number| table(number, None)).collect()));
    for (number, result) in (1..).zip(all) {
        stage.order(Command::Entry { table: TableId(number), entry: Entry::Result { result } });
        let shown = stage.view.tables[&TableId(number)].game.result.map(|(value, _, state)| (value, state));
        assert_eq!(shown, Some((result, ResultState::Final)));
        let mut pgn = String::new();
        arbiterd::record::pgn::write_game(&stage.view.tables[&TableId(number)].game, &mut pgn);
        let (read, _) =
            arbiterd::record::pgn::read_games(pgn.as_bytes()).next().expect("a game").expect("read");
        let again = read.result.map(|(value, ..)| value);
        // PGN has one word for both who lost and both who did not come, and tells them apart by Termination.
        if result == R::Adjourned {
            assert!(again.is_none() && pgn.contains("[Termination \"adjourned\"]"), "{pgn}");
        } else {
            assert_eq!(again, Some(result), "{pgn}");
        }
    }
}

#[test]
fn sections_have_their_own_rounds_tables_and_rules() {
    let section = |id: &str, first_table, control: &str| SectionSetup {
        id: id.to_owned(),
        name: format!("Group {id}"),
        first_table,
        time_control: Some(control.to_owned()),
        ..SectionSetup::default()
    };
    let event = EventSetup {
        name: "Open".to_owned(),
        sections: vec![section("a", 1, "5400+30"), section("b", 51, "900+10")],
        ..event()
    };
    let mut stage = Stage::new(event);
    let open = |section: &str, number, tables| Command::SectionRound {
        section: section.to_owned(),
        round: RoundSetup { number, date: None, tables },
    };
    stage.order(open("a", 3, vec![table(1, Some("41001")), table(2, None)]));
    stage.order(open("b", 5, vec![table(51, None), table(52, None)]));
    stage.up("41001");
    let game = &famous_games()[2];
    stage.play("41001", game, 10);
    let info = &stage.view.tables[&TableId(52)].info;
    assert_eq!((info.round, info.section.as_str(), info.board), (5, "b", 2));
    assert_eq!(info.time_control, "900+10");
    assert_eq!(info.tags.get("Event"), Some("Open - Group b"));
    assert_eq!((info.tags.get("Round"), info.tags.get("GameId")), (Some("5.2"), Some("open-b-5-2")));
    // The other section goes on when this one begins its next round.
    stage.order(open("b", 6, vec![table(51, None)]));
    assert_eq!(stage.moves(1), game.uci()[..10]);
    assert_eq!(stage.hall.table_ids(), [TableId(1), TableId(2), TableId(51)]);
    assert_eq!(check_sheet(&stage.view, Some("b")).len(), 1);
    let taken = open("b", 7, vec![table(2, None)]);
    assert!(stage.hall.check(&taken).is_err(), "table 2 is the other section's");
    stage.order(Command::StartSection { section: "b".to_owned() });
    assert!(stage.view.round["sections"][1]["started_at"].is_number());
    assert!(stage.view.round["sections"][0]["started_at"].is_null());
}

#[test]
fn a_round_that_was_started_tells_when_a_clock_was_not() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001"))]));
    stage.up("41001");
    stage.shows("41001", &start());
    stage.clock("41001", 5430, 5430);
    stage.order(Command::StartRound);
    stage.now = stage.now.plus(120_000);
    let updates = stage.hall.advance(stage.now);
    for update in &updates {
        stage.view.apply(update);
    }
    let codes: Vec<_> = stage.view.tables[&TableId(1)].alerts.values().map(|alert| alert.code).collect();
    assert!(codes.contains(&arbiterd::laws::Code::ClockNotStarted), "{codes:?}");
}

#[test]
fn free_boards_go_to_free_tables_where_the_event_says_so() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001")), table(2, None), table(3, None)]));
    stage.up("41009");
    assert_eq!(stage.hall.table_of(&BoardKey("41009".to_owned())), None);
    assert_eq!(stage.view.boards[&BoardKey("41009".to_owned())].table, None);
    stage.order(Command::Event { event: EventSetup { auto_bind: true, ..event() } });
    assert_eq!(stage.hall.table_of(&BoardKey("41009".to_owned())), Some(TableId(2)));
    stage.up("41005");
    assert_eq!(stage.view.boards[&BoardKey("41005".to_owned())].table, Some(TableId(3)));
    stage.order_by("op", Command::Unbind { table: TableId(3) });
    assert_eq!(stage.view.boards[&BoardKey("41005".to_owned())].table, None);
    assert_eq!(stage.logged("board-unbound")["by"], "op");
}

#[test]
fn a_game_played_from_a_wrong_set_up_is_recorded_from_there() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001"))]));
    stage.up("41001");
    // Black's king and queen stand on each other's squares, and nobody sees it.
    let mut wrong = start();
    let (queen, king) = (shakmaty::Square::D8, shakmaty::Square::E8);
    let (q, k) = (wrong.piece_at(queen).expect("queen"), wrong.piece_at(king).expect("king"));
    wrong.set_piece_at(queen, k);
    wrong.set_piece_at(king, q);
    stage.shows("41001", &wrong);
    stage.running_clock("41001", 5400, 5400);
    let mut after = wrong.clone();
    let pawn = after.remove_piece_at(shakmaty::Square::E2).expect("pawn");
    after.set_piece_at(shakmaty::Square::E4, pawn);
    stage.shows("41001", &after);
    assert_eq!(stage.moves(1), ["e2e4"]);
    let mut pgn = String::new();
    arbiterd::record::pgn::write_game(&stage.view.tables[&TableId(1)].game, &mut pgn);
    assert!(pgn.contains("[FEN \"rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"), "{pgn}");
    assert!(pgn.contains("1. e4"), "{pgn}");
    // A new game begins as it should, once the men stand right.
    stage.clock("41001", 5400, 5400);
    stage.order(Command::NewGame { table: TableId(1) });
    stage.shows("41001", &start());
    assert_eq!(stage.view.tables[&TableId(1)].game.start, Position::default());
}

#[test]
fn an_adjourned_game_goes_on_in_a_later_round_after_its_sealed_move() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001"))]));
    stage.up("41001");
    let game = &famous_games()[3];
    stage.play("41001", game, 20);
    let uci = game.uci();
    let played = stage.moves(1);
    assert_eq!(played, uci[..20]);
    let before = stage.view.tables[&TableId(1)].clock;
    stage.order(Command::Entry { table: TableId(1), entry: Entry::Adjourn });
    let position = stage.hall.game(TableId(1)).expect("a game").position().clone();
    let kept = stage.view.tables[&TableId(1)].info.adjourned.clone();
    assert_eq!(kept["fen"], position.fen());
    assert_eq!(
        (kept["white"].as_u64(), kept["move_number"].as_u64()),
        (before.white.map(|s| s.0.into()), Some(11))
    );
    let mut pgn = String::new();
    arbiterd::record::pgn::write_game(&stage.view.tables[&TableId(1)].game, &mut pgn);
    assert!(pgn.contains("[Termination \"adjourned\"]") && pgn.contains("[Result \"*\"]"), "{pgn}");

    // The next round takes the table and the board.
    stage.order(round(2, vec![table(1, None)]));
    stage.shows("41001", &start());
    assert_eq!(stage.view.adjourned[0]["round"], 1);
    let game_ref = Some(GameRef { section: String::new(), round: 1, board: 1 });
    let resume = |sealed: &str| Command::Resume {
        table: TableId(9),
        game: game_ref.clone(),
        sealed: Some(sealed.to_owned()),
    };
    let refused = stage.hall.check(&resume("Kxa8")).expect_err("no such move");
    assert!(refused.contains("17.8"), "{refused}");
    let next = position.find_uci(uci[20].parse().expect("UCI")).expect("legal");
    stage.order_by("deputy", resume(&position.san(next)));
    assert_eq!(stage.view.adjourned, serde_json::json!([]));
    stage.order(Command::Bind { table: TableId(9), board: BoardKey("41001".to_owned()) });
    assert_eq!(stage.moves(9), uci[..21], "the sealed move is on record");
    // The board still shows something else: nothing of that is play.
    stage.shows("41001", &start());
    stage.shows("41001", position.board());
    assert_eq!(stage.moves(9), uci[..21]);
    assert_eq!(stage.view.tables[&TableId(9)].info.status, TableStatus::Waiting);
    let after = position.play(next);
    stage.shows("41001", after.board());
    assert_eq!(stage.view.tables[&TableId(9)].info.status, TableStatus::Armed);
    assert!(stage.view.tables[&TableId(9)].info.adjourned.is_null());
    // Play goes on.
    let reply = after.find_uci(uci[21].parse().expect("UCI")).expect("legal");
    stage.shows("41001", after.play(reply).board());
    let third = after.play(reply).find_uci(uci[22].parse().expect("UCI")).expect("legal");
    stage.shows("41001", after.play(reply).play(third).board());
    assert_eq!(stage.moves(9), uci[..23]);
    let info = &stage.view.tables[&TableId(9)].info;
    assert_eq!(
        (info.round, info.board, info.tags.get("Round"), info.tags.get("GameId")),
        (1, 1, Some("1.1"), Some("open-1-1"))
    );
    assert_eq!(stage.logged("resumed")["by"], "deputy");
    let expected = &stage.logged("resumption-ready")["expected_clock"]["white"];
    assert_eq!(expected.as_u64(), before.white.map(|seconds| seconds.0.into()));
    // It is one game of the first round, under the address it always had.
    let of_first = stage.public.round_games(1);
    assert_eq!(of_first.keys().collect::<Vec<_>>(), [&TableId(1)]);
    assert_eq!(of_first[&TableId(1)].game.plies.len(), 23);
    let one = stage.public.round_game(1, TableId(1)).expect("it is there");
    assert!(one.current && one.game.plies.len() == 23);
    assert!(stage.public.round_game(1, TableId(9)).is_none());
    assert_eq!(stage.public.round_games(2).len(), 1);
    // The next round takes its table once more.
    stage.order(round(3, vec![table(9, None)]));
    let of_first = stage.public.round_games(1);
    assert_eq!(of_first.keys().collect::<Vec<_>>(), [&TableId(1)]);
    assert_eq!(of_first[&TableId(1)].game.plies.len(), 23);
}

#[test]
fn a_name_corrected_does_not_move_a_resumed_game_into_the_running_round() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001"))]));
    stage.up("41001");
    stage.play("41001", &famous_games()[3], 20);
    stage.order(Command::Entry { table: TableId(1), entry: Entry::Adjourn });
    stage.order(round(2, vec![table(1, None)]));
    let game = Some(GameRef { section: String::new(), round: 1, board: 1 });
    stage.order(Command::Resume { table: TableId(9), game, sealed: None });
    stage.order(Command::Players { table: TableId(9), white: Some(Player::named("Anna")), black: None });
    assert_eq!(stage.view.tables[&TableId(9)].info.tags.get("Round"), Some("1.1"));
}

#[test]
fn an_adjournment_can_be_taken_back_and_a_game_resumed_at_its_own_table() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001"))]));
    stage.up("41001");
    let game = &famous_games()[4];
    stage.play("41001", game, 12);
    let uci = game.uci();
    stage.order(Command::Entry { table: TableId(1), entry: Entry::Adjourn });
    stage.order(Command::Entry { table: TableId(1), entry: Entry::Reopen });
    assert!(stage.view.tables[&TableId(1)].info.adjourned.is_null());
    assert_eq!(stage.view.tables[&TableId(1)].game.result, None);
    stage.order(Command::Entry { table: TableId(1), entry: Entry::Adjourn });
    let position = stage.hall.game(TableId(1)).expect("a game").position().clone();
    stage.shows("41001", &start());
    stage.order(Command::Resume { table: TableId(1), game: None, sealed: None });
    // The board lies the other way round this time.
    stage.now = stage.now.plus(5000);
    stage.board("41001", Observation::Dump(Squares::from_board(position.board(), true)));
    assert_eq!(stage.view.tables[&TableId(1)].info.status, TableStatus::Armed);
    let next = position.find_uci(uci[12].parse().expect("UCI")).expect("legal");
    stage.now = stage.now.plus(5000);
    stage.board("41001", Observation::Dump(Squares::from_board(position.play(next).board(), true)));
    assert_eq!(stage.moves(1), uci[..13]);
}

#[test]
fn a_typed_game_is_marked_and_keeps_what_the_board_saw() {
    let mut stage = Stage::new(event());
    stage.order(round(1, vec![table(1, Some("41001")), table(2, None)]));
    stage.up("41001");
    let game = &famous_games()[0];
    stage.play("41001", game, 10);
    let plies = game.uci();
    stage.order(Command::Correct {
        table: TableId(1),
        correction: Correction::Typed { plies: plies.clone() },
    });
    assert_eq!(stage.moves(1), plies);
    let told = &stage.view.tables[&TableId(1)].game;
    assert!(told.plies[..10].iter().all(|ply| ply.source == PlySource::Board));
    assert!(told.plies[10..].iter().all(|ply| ply.source == PlySource::Typed));
    assert_eq!(told.tags.get("Source"), Some("typed from the score sheet"));
    assert_eq!(stage.logged("correction")["by"], "chief");
    // No board at all.
    stage.order(Command::Correct {
        table: TableId(2),
        correction: Correction::Typed { plies: plies.clone() },
    });
    assert_eq!(stage.moves(2), plies);
    stage.order(Command::Correct { table: TableId(2), correction: Correction::Undo });
    assert!(stage.moves(2).is_empty());
    assert_eq!(stage.view.tables[&TableId(2)].game.tags.get("Source"), None);
}
