//! The hall is a fold: the same inputs give the same updates, byte for byte, however often it is
//! asked in between, and whether the inputs come live or out of a journal.

use arbiterd::{
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        Update,
    },
    journal::{Journal, JournalError},
    record::{
        Position, Tags, Timestamp,
        pgn::{read_games, write_game},
    },
    sim::{Level, famous_games, play_virtual},
    track::Correction,
    wire::{BoardIdentity, LinkEvent, Observation},
};

/// A hall of three tables whose boards are played at by human hands, as inputs in order of time.
fn inputs() -> Vec<Input> {
    let begin = Timestamp::from_millis(0);
    let command = |command| Input { at: begin, body: InputBody::Command { by: "test".to_owned(), command } };
    let key = |index: usize| BoardKey(format!("{}", 40_001 + index));
    let tables = (0..3).map(|index| TableSetup {
        table: TableId(index as u32 + 1),
        board: Some(key(index)),
        white: arbiterd::event::Player::named(format!("White {index}")),
        black: arbiterd::event::Player::named(format!("Black {index}")),
        start: Position::default(),
        profile: None,
        time_control: Some("5400+30".to_owned()),
        tags: Tags::default(),
        options: OptionsSetup::default(),
    });
    let mut inputs = vec![
        command(Command::Event { event: EventSetup { id: "test".to_owned(), ..EventSetup::default() } }),
        command(Command::Round { round: RoundSetup { number: 1, date: None, tables: tables.collect() } }),
    ];
    for (index, game) in famous_games().iter().take(3).enumerate() {
        let identity = BoardIdentity { serial: key(index).0, ..BoardIdentity::default() };
        let up = InputBody::Board(key(index), Observation::Link(LinkEvent::Up(identity)));
        inputs.push(Input { at: begin, body: up });
        for (at, observation) in play_virtual(game, Level::Human, index as u64) {
            inputs.push(Input {
                at: Timestamp::from_millis(at),
                body: InputBody::Board(key(index), observation),
            });
        }
    }
    inputs.sort_by_key(|input| input.at);
    inputs
}

fn texts(updates: &[Update]) -> Vec<String> {
    updates.iter().map(|update| update.to_json(true).to_string()).collect()
}

#[test]
fn the_same_inputs_give_the_same_bytes_however_often_it_is_asked() {
    let inputs = inputs();
    let last = inputs.last().expect("inputs").at.plus(60_000);

    let mut seldom = Hall::new();
    let mut at_once: Vec<String> = inputs.iter().flat_map(|input| texts(&seldom.apply(input))).collect();
    at_once.extend(texts(&seldom.advance(last)));

    let mut often = Hall::new();
    let mut step_by_step = Vec::new();
    let mut now = Timestamp::from_millis(0);
    for input in &inputs {
        while now < input.at {
            now = now.plus(170).min(input.at);
            step_by_step.extend(texts(&often.advance(now)));
        }
        step_by_step.extend(texts(&often.apply(input)));
    }
    while now < last {
        now = now.plus(170);
        step_by_step.extend(texts(&often.advance(now.min(last))));
    }
    for (index, (a, b)) in at_once.iter().zip(&step_by_step).enumerate() {
        assert_eq!(a, b, "update {index}");
    }
    assert_eq!(at_once.len(), step_by_step.len());
    for (index, game) in famous_games().iter().take(3).enumerate() {
        let record = seldom.game(TableId(index as u32 + 1)).expect("a game");
        let moves: Vec<String> = record.plies.iter().map(|ply| ply.uci.to_string()).collect();
        assert_eq!(moves, game.uci(), "table {}", index + 1);
    }
}

#[test]
fn a_journal_gives_the_hall_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hall.sqlite");
    let inputs = inputs();
    let mut live = Hall::new();
    let told: Vec<String> = inputs.iter().flat_map(|input| texts(&live.apply(input))).collect();

    let mut journal = Journal::open(&path).expect("a new journal");
    let lines: Vec<String> = inputs.iter().map(|input| serde_json::to_string(input).expect("JSON")).collect();
    for group in lines.chunks(97) {
        journal.append(group.iter().map(String::as_str)).expect("room");
    }
    drop(journal);

    let mut again = Vec::new();
    let journal = Journal::open(&path).expect("the same journal");
    let hall = arbiterd::daemon::recover(&journal, |updates| again.extend(texts(updates))).expect("readable");
    assert_eq!(hall.seq(), live.seq());
    assert!(told == again, "the updates out of the journal are those that were told");
}

#[test]
fn numbers_have_no_gaps_and_an_input_that_cannot_be_read_is_named() {
    let mut hall = Hall::new();
    let mut next = 1;
    for input in inputs() {
        for update in hall.apply(&input) {
            assert_eq!(update.seq.0, next);
            next += 1;
        }
    }

    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(&folder.path().join("hall.sqlite")).expect("a new journal");
    journal.append(["{\"at\":0,\"board\":[\"1\",{\"square\":[99,\".\"]}]}"]).expect("room");
    let error = arbiterd::daemon::recover(&journal, |_| ()).expect_err("square 99");
    assert!(matches!(error, JournalError::Damaged { .. }));
    assert!(error.to_string().contains("input 1"), "{error}");
}

#[test]
fn two_boards_that_stood_at_each_others_tables_are_put_right_with_their_moves() {
    let mut hall = Hall::new();
    let mut view = arbiterd::hall::View::new(true);
    let inputs = inputs();
    let half = inputs.len() / 2;
    let command = |at, command| Input { at, body: InputBody::Command { by: "test".to_owned(), command } };
    for input in &inputs[..half] {
        hall.apply(input).iter().for_each(|update| view.apply(update));
    }
    let (a, b) = (TableId(1), TableId(2));
    let moves = |hall: &Hall, id| -> Vec<String> {
        hall.game(id).expect("a game").plies.iter().map(|ply| ply.uci.to_string()).collect()
    };
    let before = [moves(&hall, a), moves(&hall, b)];
    assert!(before[0] != before[1] && !before[0].is_empty());
    let at = inputs[half - 1].at;
    hall.apply(&command(at, Command::SwapBoards { a, b })).iter().for_each(|update| view.apply(update));
    assert_eq!([moves(&hall, b), moves(&hall, a)], before);
    assert_eq!(hall.game(a).expect("a game").tags.get("White"), Some("White 0"), "the players stay");
    assert_eq!(hall.game(a).expect("a game").tags.get("GameId"), Some("test-1-1"), "the feed's id stays");
    for input in &inputs[half..] {
        hall.apply(input).iter().for_each(|update| view.apply(update));
    }
    let games = famous_games();
    assert_eq!(moves(&hall, a), games[1].uci(), "the board goes on at its right table");
    assert_eq!(moves(&hall, b), games[0].uci());
    for id in [a, b] {
        let shown: Vec<String> = view.tables[&id].game.plies.iter().map(|ply| ply.uci.to_string()).collect();
        assert_eq!(shown, moves(&hall, id), "what is shown is what the hall has");
    }
}

#[test]
fn a_game_that_goes_on_from_a_position_that_was_set_is_whole_in_the_record() {
    let mut hall = Hall::new();
    let inputs = inputs();
    let mut view = arbiterd::hall::View::new(false);
    for input in inputs.iter().take_while(|input| !matches!(input.body, InputBody::Board(..))) {
        hall.apply(input).iter().for_each(|update| view.apply(update));
    }
    let table = TableId(1);
    let mut correct = |hall: &mut Hall, seconds: i64, correction| {
        let at = Timestamp::from_millis(seconds * 1000);
        let command = Command::Correct { table, correction };
        let updates = hall.apply(&Input { at, body: InputBody::Command { by: "test".to_owned(), command } });
        for update in &updates {
            view.apply(update);
        }
        texts(&updates)
    };
    let plies = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    correct(&mut hall, 1, Correction::Append { plies: plies(&["e2e4", "e7e5"]) });
    let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 31";
    let position = Position::from_fen(fen, shakmaty::CastlingMode::Standard).expect("a position");
    correct(&mut hall, 2, Correction::SetPosition { position: position.clone() });
    assert_eq!(hall.game(table).expect("a game").position(), &position, "the game stands there at once");
    let told = correct(&mut hall, 3, Correction::Append { plies: plies(&["e8d7", "e2e4"]) });
    let first = told.iter().find(|text| text.contains("\"e8d7\"")).expect("the ply is told");
    assert!(first.contains(&format!("\"origin\":\"{fen}\"")), "{first}");
    let game = hall.game(table).expect("a game");
    assert_eq!(game.position_before(2), Some(&position));
    assert_eq!(game.position_before(3), Some(&game.plies[2].after));
    // PGN has a segment for each part, and both are read as the one game they are.
    let mut text = String::new();
    write_game(game, &mut text);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("1. e4 e5 {another position was set here; the game goes on in the next segment} *")
    );
    assert!(text.contains(&format!("[FEN \"{fen}\"]")), "{text}");
    assert!(flat.contains("31... Kd7 {(continued from a position that was set)} 32. e4 *"), "{text}");
    let read: Vec<_> = read_games(text.as_bytes()).map(|read| read.expect("PGN").0).collect();
    assert_eq!(read.len(), 1);
    let moves: Vec<_> = read[0].plies.iter().map(|ply| (ply.uci, ply.origin.clone())).collect();
    let have: Vec<_> = game.plies.iter().map(|ply| (ply.uci, ply.origin.clone())).collect();
    assert_eq!(moves, have);
    // An earlier ply corrected leaves it where it is; taken back, the game is as it was.
    correct(&mut hall, 4, Correction::ReplacePly { index: 1, uci: "d7d5".parse().expect("a move") });
    let game = hall.game(table).expect("a game");
    assert_eq!(game.plies.len(), 4);
    assert_eq!(game.position_before(2), Some(&position));
    // Two plies more before it move it on.
    let longer = plies(&["e2e4", "e7e5", "g1f3", "b8c6"]);
    correct(&mut hall, 5, Correction::Choose { index: 0, replaces: 2, plies: longer });
    let game = hall.game(table).expect("a game");
    assert_eq!(game.plies.len(), 6);
    assert_eq!(game.position_before(2), Some(&game.plies[1].after));
    assert_eq!(game.position_before(4), Some(&position));
    correct(&mut hall, 5, Correction::Undo);
    correct(&mut hall, 5, Correction::DeletePly { index: 2 });
    for seconds in 6..9 {
        correct(&mut hall, seconds, Correction::Undo);
    }
    let game = hall.game(table).expect("a game");
    assert_eq!(game.plies.iter().map(|ply| ply.uci.to_string()).collect::<Vec<_>>(), ["e2e4", "e7e5"]);
    assert_eq!(game.position(), &position, "it stands there again");
    correct(&mut hall, 9, Correction::Undo);
    let game = hall.game(table).expect("a game");
    assert_eq!(game.position(), &game.plies[1].after, "and nothing is set any more");
    assert_eq!(view.tables[&table].game, *game, "the public knows the same");
}
