//! The referee driven by hand: what no board can show, and that time is served alike however often it
//! is asked. Whole games from the board on are in `tests/scenarios/laws.jsonl`.

use std::{collections::BTreeSet, fs, path::Path};

use arbiterd::{
    event::Player,
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        Update, UpdateBody, View, incident_rows,
    },
    laws::{
        Alert, AlertId, AlertState, ClockTimes, Code, Entry, GameOptions, Profile, Referee, Ruling, Severity,
    },
    record::{Game, Position, Seconds, Tags, Timestamp},
    track::{AtPress, Cause, Choice, Finding, Irregular},
    wire::{
        BatteryReading, BoardIdentity, BoardSquare, ClockSide, ClockState, Content, LinkEvent, Observation,
        Squares,
    },
};
use serde_json::{Value, json};
use shakmaty::{ByColor, CastlingMode, Color, Piece, Role, Square};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A referee and the game it watches.
struct Table {
    referee: Referee,
    game: Game,
    rulings: Vec<Ruling>,
}

impl Table {
    fn new(profile: &str, fen: Option<&str>, options: GameOptions) -> Self {
        let start = fen.map_or_else(Position::default, |fen| {
            Position::from_fen(fen, CastlingMode::Standard).expect("a FEN")
        });
        let referee = Referee::new(Profile::load(profile).expect("a profile"), options);
        Self { referee, game: Game::new(start), rulings: Vec::new() }
    }

    fn clock(&mut self, millis: i64, white: u32, black: u32, running: Option<Color>) {
        let times = ClockTimes {
            left: ByColor { white: Some(Seconds(white)), black: Some(Seconds(black)) },
            flag: ByColor::default(),
            running,
        };
        self.referee.advance(at(millis), &self.game, &mut self.rulings);
        self.referee.clock(at(millis), Some(times), &self.game, &mut self.rulings);
    }

    fn found(&mut self, millis: i64, finding: &Finding) {
        self.referee.advance(at(millis), &self.game, &mut self.rulings);
        self.referee.found(at(millis), finding, &self.game, &mut self.rulings);
    }

    fn advance(&mut self, millis: i64) {
        self.referee.advance(at(millis), &self.game, &mut self.rulings);
    }

    /// The alerts as they stand, in the order of raising.
    fn alerts(&self) -> Vec<Alert> {
        let mut alerts: Vec<Alert> = Vec::new();
        for ruling in &self.rulings {
            if let Ruling::Alert(alert) = ruling {
                match alerts.iter_mut().find(|earlier| earlier.id == alert.id) {
                    Some(earlier) => *earlier = (**alert).clone(),
                    None => alerts.push((**alert).clone()),
                }
            }
        }
        alerts
    }

    fn alert(&self, code: Code) -> Alert {
        let alerts = self.alerts();
        let found = alerts.iter().find(|alert| alert.code == code).cloned();
        found.unwrap_or_else(|| panic!("no {} among {:?}", code.word(), codes(&alerts)))
    }
}

fn codes(alerts: &[Alert]) -> Vec<&'static str> {
    alerts.iter().map(|alert| alert.code.word()).collect()
}

#[test]
fn a_battery_is_reported_once_and_clears() {
    let mut table = Table::new("fide-2023/classical", None, GameOptions::default());
    let mut reads = |percent, charging, rulings: &mut Vec<Ruling>| {
        let reading = BatteryReading { percent, minutes_left: None, charging };
        table.referee.battery(at(0), reading, &table.game, rulings);
    };
    let mut rulings = Vec::new();
    reads(12, false, &mut rulings);
    reads(11, false, &mut rulings);
    assert_eq!(rulings.len(), 1);
    reads(11, true, &mut rulings);
    let Some(Ruling::Alert(alert)) = rulings.last() else { panic!("no alert") };
    assert_eq!((alert.code, alert.state), (Code::BatteryLow, AlertState::Cleared));
}

#[test]
fn a_clock_nobody_started_is_told_a_minute_into_the_round() {
    let options = GameOptions { started_at: Some(at(0)), ..GameOptions::default() };
    let mut table = Table::new("fide-2023/classical", None, options);
    table.clock(1_000, 5400, 5400, None);
    table.advance(59_999);
    assert!(table.alerts().is_empty());
    table.advance(200_000);
    let alert = table.alert(Code::ClockNotStarted);
    assert_eq!((alert.at, alert.severity), (at(60_000), Severity::Look));
    table.clock(210_000, 5400, 5400, Some(Color::White));
    assert_eq!(table.alert(Code::ClockNotStarted).state, AlertState::Cleared);
}

#[test]
fn supervision_is_checked_at_the_set_up() {
    let options = |games| GameOptions { games_per_arbiter: Some(games), ..GameOptions::default() };
    let mut blitz = Table::new("fide-2023/blitz-sup", None, options(2));
    blitz.advance(0);
    assert_eq!(blitz.alert(Code::SupervisionNotMet).article, "A.4");
    for (profile, games) in
        [("fide-2023/blitz-sup", 1), ("fide-2023/rapid-sup", 3), ("fide-2023/blitz-unsup", 40)]
    {
        let mut fine = Table::new(profile, None, options(games));
        fine.advance(0);
        assert!(fine.alerts().is_empty(), "{profile} {games}");
    }
}

#[test]
fn an_impossible_position_names_what_is_wrong() {
    let fen = "4k3/8/8/8/8/8/4P3/4K2P w - - 0 1";
    let mut table = Table::new("fide-2023/classical", Some(fen), GameOptions::default());
    table.advance(0);
    assert!(table.alert(Code::IllegalPosition).text.en.contains("Ph1"));
}

#[test]
fn a_board_lying_sideways_and_rearranged_men_have_their_articles() {
    let mut table = Table::new("fide-2018/classical", None, GameOptions::default());
    table.found(0, &Finding::Sideways);
    assert_eq!(table.alert(Code::BoardSideways).article, "7.2.2");
    table.clock(1_000, 60, 60, Some(Color::White));
    let board = table.game.start.board().clone();
    let press = Finding::Press {
        at: at(2_000),
        by: Color::White,
        mover: Color::White,
        board: AtPress::Irregular { what: Irregular::Other, sensed: board, squares: Vec::new() },
    };
    table.found(3_000, &press);
    let alert = table.alert(Code::PiecesRearranged);
    assert_eq!(alert.advice.restore_fen.as_deref(), Some(table.game.start.fen().as_str()));
    table.found(9_000, &Finding::Agree);
    assert_eq!(table.alert(Code::PiecesRearranged).state, AlertState::Cleared);
}

#[test]
fn a_choice_between_lines_to_one_position_stays_until_somebody_chooses() {
    let mut table = Table::new("fide-2023/blitz", None, GameOptions::default());
    let line = |moves: &[&str]| moves.iter().map(|uci| uci.parse().unwrap()).collect::<Vec<_>>();
    let choice = |index, replaces| Choice {
        index,
        last: table_start(),
        replaces,
        candidates: vec![line(&["f1e2", "a8a6", "e2b5"]), line(&["f1b5", "a8a6", "a2a3"])],
    };
    table.found(1_000, &Finding::Rivals(choice(14, 3)));
    table.found(2_000, &Finding::Gap(choice(17, 0)));
    table.found(3_000, &Finding::Agree);
    let states = |table: &Table| table.alerts().iter().map(|alert| alert.state).collect::<Vec<_>>();
    assert_eq!(states(&table), [AlertState::Open, AlertState::Cleared]);
    let asked = table.alerts().remove(0);
    assert_eq!((asked.code, asked.severity), (Code::PositionGap, Severity::Look));
    assert_eq!(asked.detail["candidates"][1][0], "f1b5");
    assert_eq!((&asked.detail["index"], &asked.detail["replaces"]), (&json!(14), &json!(3)));
    // To choose the line that stands is an answer, too.
    table.found(3_500, &Finding::Rivals(choice(20, 2)));
    table.found(3_600, &Finding::Chosen { index: 20 });
    assert_eq!(states(&table), [AlertState::Open, AlertState::Cleared, AlertState::Cleared]);
    // A line that changes behind it leaves it; one that changes it answers it.
    let corrected = |from| Finding::Line { from, plies: Vec::new(), cause: Cause::Corrected };
    table.found(4_000, &corrected(17));
    assert_eq!(states(&table)[0], AlertState::Open);
    table.found(5_000, &corrected(14));
    assert_eq!(states(&table)[0], AlertState::Cleared);
}

fn table_start() -> Position {
    Position::from_fen(
        "rnb2b1r/1pppk1pp/7n/P3ppq1/4PPP1/N1P5/P2P3P/R1BQKBNR w KQ - 1 8",
        CastlingMode::Standard,
    )
    .expect("a FEN")
}

fn illegal_press(table: &mut Table, millis: i64) {
    let knight = Piece { color: Color::White, role: Role::Knight };
    let mut sensed = table.game.start.board().clone();
    sensed.discard_piece_at(Square::G1);
    sensed.set_piece_at(Square::G3, knight);
    let what = Irregular::PieceMoved {
        from: Square::G1,
        to: Square::G3,
        piece: knight,
        captured: None,
        became: None,
    };
    let board = AtPress::Irregular { what, sensed, squares: Vec::new() };
    table.found(
        millis + 500,
        &Finding::Press { at: at(millis), by: Color::White, mover: Color::White, board },
    );
}

#[test]
fn an_illegal_move_says_everything_the_arbiter_needs() {
    let options = GameOptions { time_control: "90+30".parse().ok(), ..GameOptions::default() };
    let mut table = Table::new("fide-2023/classical", None, options);
    table.clock(0, 5430, 5430, Some(Color::White));
    // Thirty seconds thought, thirty gained by the press.
    table.clock(30_000, 5430, 5430, Some(Color::Black));
    illegal_press(&mut table, 30_000);
    let alert = table.alert(Code::IllegalMoveCompleted);
    assert_eq!((alert.article.as_str(), alert.side), ("7.5.1", Some(Color::White)));
    let add = alert.advice.add_seconds.unwrap();
    assert_eq!((add.to, add.seconds), (Color::Black, 120));
    let clock = alert.advice.resulting_clock.unwrap();
    assert_eq!(clock.black, Some(5550));
    assert!(clock.white.unwrap().abs_diff(5400) <= 1, "the increment of the illegal press is taken off");
    assert_eq!(alert.advice.must_move_from, ["g1"]);
    assert_eq!(alert.detail["count"], 1);
    // Put right: it clears by itself, the tally stays.
    table.found(60_000, &Finding::Restored);
    assert_eq!(table.alert(Code::IllegalMoveCompleted).state, AlertState::Cleared);
    assert_eq!(table.referee.counts().to_json()["illegal"]["w"], 1);
}

#[test]
fn observation_by_screen_can_be_ruled_out() {
    let options = GameOptions {
        electronic_observation: arbiterd::laws::ElectronicObservation::Ignore,
        ..GameOptions::default()
    };
    let mut table = Table::new("fide-2023/blitz-unsup", None, options);
    table.clock(0, 180, 180, Some(Color::White));
    illegal_press(&mut table, 2_000);
    assert_eq!(table.alert(Code::IllegalMoveCompleted).severity, Severity::Note);
}

#[test]
fn what_becomes_of_an_alert_is_kept_with_the_name() {
    let mut table = Table::new("fide-2023/classical", None, GameOptions::default());
    table.clock(0, 180, 180, Some(Color::White));
    illegal_press(&mut table, 2_000);
    let id = table.alert(Code::IllegalMoveCompleted).id;
    let entry = Entry::Resolve { alert: id, note: "two minutes added".into() };
    table.referee.entered(at(9_000), "arbiter", &entry, &table.game, &mut table.rulings);
    let alert = table.alert(Code::IllegalMoveCompleted);
    assert_eq!(alert.state, AlertState::Resolved);
    assert_eq!((alert.by.as_deref(), alert.note.as_deref()), (Some("arbiter"), Some("two minutes added")));
}

#[test]
fn the_same_fault_is_raised_once() {
    let mut table = Table::new("fide-2023/classical", None, GameOptions::default());
    for second in 0..20 {
        table.referee.link(
            at(second * 1000),
            &LinkEvent::Down("cut".into()),
            &table.game,
            &mut table.rulings,
        );
    }
    assert_eq!(codes(&table.alerts()), ["board-offline"]);
    assert_eq!(table.rulings.len(), 1);
}

#[test]
fn time_is_served_alike_however_often_it_is_asked() {
    let story = |steps: &[i64]| {
        let options = GameOptions { started_at: Some(at(0)), ..GameOptions::default() };
        let mut table = Table::new("fide-2023/classical", None, options);
        for now in steps {
            table.advance(*now);
            if *now == 100_000 {
                table.clock(100_000, 300, 300, Some(Color::White));
            }
            if *now == 200_000 {
                table.clock(200_000, 200, 300, None);
            }
        }
        table.rulings
    };
    let often: Vec<i64> = (0..=900).map(|second| second * 1000).collect();
    let seldom = [0, 100_000, 200_000, 900_000];
    assert_eq!(story(&often), story(&seldom));
}

#[test]
fn the_arbiter_may_not_act_on_what_is_silent() {
    for name in ["fide-2023/classical", "fide-2018/rapid-unsup", "fide-2014/blitz-sup"] {
        let fen = "8/8/8/8/8/4k3/8/4K2R w - - 100 120";
        let mut table = Table::new(name, Some(fen), GameOptions::default());
        table.advance(0);
        let alert = table.alert(Code::FiftyClaimable);
        assert_eq!(serde_json::to_value(alert.audience).unwrap(), "arbiter-silent");
        assert!(alert.severity >= Severity::Note);
    }
}

/// Codes that no board and no entry brings about in a scenario: tested here, or where PGN is read.
const ELSEWHERE: [Code; 9] = [
    Code::BatteryLow,
    Code::ClockNotStarted,
    Code::SupervisionNotMet,
    Code::IllegalPosition,
    Code::BoardSideways,
    Code::PiecesRearranged,
    Code::LinkChecksum,
    Code::PgnIllegalMove,
    Code::PgnResultConflict,
];

#[test]
fn every_alert_of_the_catalogue_is_shown_by_a_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let text = fs::read_to_string(folder.join("laws.jsonl")).unwrap();
    let mut shown = BTreeSet::new();
    let mut count = 0;
    for line in text.lines() {
        count += 1;
        let scenario: Value = serde_json::from_str(line).unwrap();
        for alert in scenario["expect"]["alerts"].as_array().into_iter().flatten() {
            shown.insert(alert["code"].as_str().unwrap().to_owned());
        }
    }
    assert!(count >= 60, "{count}");
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| {
            !shown.contains(code.word()) && !ELSEWHERE.contains(code) && **code != Code::EncodingRepaired
        })
        .map(|code| code.word())
        .collect();
    assert!(missing.is_empty(), "no scenario for {missing:?}");
}

/// A hall with one table that stands in this position, as its two audiences see it.
fn hall_at(fen: &str, options: OptionsSetup, inputs: Vec<(i64, InputBody)>) -> (View, View, Vec<Update>) {
    let table = TableSetup {
        table: TableId(1),
        board: Some(BoardKey("b".into())),
        white: Player::named("White, A"),
        black: Player::named("Black, B"),
        start: Position::from_fen(fen, CastlingMode::Standard).expect("a FEN"),
        profile: None,
        time_control: None,
        tags: Tags::default(),
        options,
    };
    let command = |command| InputBody::Command { by: "arbiter".into(), command };
    let round = RoundSetup { number: 1, date: None, tables: vec![table] };
    let begin = [
        (0, command(Command::Event { event: EventSetup::default() })),
        (0, command(Command::Round { round })),
    ];
    let (mut hall, mut desk, mut public) = (Hall::new(), View::new(true), View::new(false));
    let mut all = Vec::new();
    for (millis, body) in begin.into_iter().chain(inputs) {
        for update in hall.apply(&Input { at: at(millis), body }) {
            desk.apply(&update);
            public.apply(&update);
            all.push(update);
        }
    }
    (desk, public, all)
}

#[test]
fn what_is_silent_never_leaves_the_desk() {
    let fen = "8/8/8/8/8/4k3/8/4K2R w - - 100 120";
    let (desk, public, updates) = hall_at(fen, OptionsSetup::default(), Vec::new());
    let shown = desk.snapshot(None).to_string();
    assert!(shown.contains("fifty-claimable") && shown.contains("arbiter-silent"), "{shown}");
    let counts = desk.tables[&TableId(1)].info.counts.as_ref().expect("counted").to_json();
    for tally in ["made", "completed", "illegal", "record_obligatory"] {
        assert!(counts[tally]["w"] != Value::Null && shown.contains(tally), "{tally} in {counts}");
    }
    assert_eq!(counts["claims"], serde_json::json!(["fifty-claimable"]));
    let mut told: Vec<String> =
        updates.iter().filter(|u| !u.desk_only()).map(|u| u.to_json(false).to_string()).collect();
    told.push(public.snapshot(None).to_string());
    for text in told {
        for word in ["alert", "claim", "counts", "silent"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

#[test]
fn the_log_keeps_who_decided_what_and_the_sheet_every_half_hour() {
    let command = |command| InputBody::Command { by: "Arbiter".into(), command };
    let entry = |entry| command(Command::Entry { table: TableId(1), entry });
    let reading = |left, right, left_to_move| {
        let side = |seconds| ClockSide { seconds, flag: false, blocked: false };
        let state = ClockState::Partial {
            left: Some(side(left)),
            right: Some(side(right)),
            running: true,
            left_to_move,
        };
        InputBody::Board(BoardKey("b".into()), Observation::Clock(state))
    };
    let fen = "4k2r/4p3/8/8/8/8/4P3/4K2R w - - 0 50";
    let flag = ClockState::Partial {
        left: Some(ClockSide { seconds: 0, flag: true, blocked: false }),
        right: Some(ClockSide { seconds: 3000, flag: false, blocked: false }),
        running: true,
        left_to_move: true,
    };
    let inputs = vec![
        (
            0,
            InputBody::Board(
                BoardKey("b".into()),
                Observation::Link(LinkEvent::Up(BoardIdentity::default())),
            ),
        ),
        (1_000, reading(3600, 3000, true)),
        (1_900_000, reading(1701, 3000, true)),
        (3_601_000, InputBody::Board(BoardKey("b".into()), Observation::Clock(flag))),
        (3_605_000, entry(Entry::Acknowledge { alert: AlertId(1) })),
        (3_700_000, entry(Entry::Resolve { alert: AlertId(1), note: "both agreed".into() })),
    ];
    let (desk, _, _) = hall_at(fen, OptionsSetup { last_period: true, ..OptionsSetup::default() }, inputs);
    let rows = incident_rows(&desk.incidents.values());
    let sheets: Vec<_> = rows.iter().filter(|row| row.kind == "sheet").collect();
    assert_eq!(sheets.len(), 2, "{rows:#?}");
    assert_eq!((sheets[0].white_clock.as_str(), sheets[0].black_clock.as_str()), ("1:00:00", "0:50:00"));
    let flag = rows.iter().find(|row| row.code == "flag-fall").expect("the flag is in the log");
    assert_eq!(flag.who, "White, A");
    assert_eq!(
        (flag.decision.as_str(), flag.by.as_str(), flag.note.as_str()),
        ("resolved", "Arbiter", "both agreed")
    );
    assert_eq!(flag.decided_at, "1970-01-01T01:01:40.000Z");
    assert_eq!((flag.article.as_str(), flag.after.as_str()), ("6.8", fen));
    assert_eq!((flag.white_clock.as_str(), flag.black_clock.as_str()), ("0:00:00", "0:50:00"));
    assert!(rows.iter().any(|row| row.kind == "entry" && row.code == "resolve"));
}

#[test]
fn rules_that_change_during_the_event_hold_from_then_on() {
    let mut table = Table::new("fide-2023/classical", None, GameOptions::default());
    table.clock(0, 5400, 5400, Some(Color::White));
    let rapid = Profile::load("fide-2023/rapid-sup").unwrap();
    let options = GameOptions { illegal: ByColor { white: 1, black: 0 }, ..GameOptions::default() };
    table.referee.reconfigure(at(1_000), rapid, options, &table.game, &mut table.rulings);
    assert_eq!(table.referee.counts().to_json()["illegal"]["w"], 1);
    illegal_press(&mut table, 2_000);
    let alert = table.alert(Code::IllegalMoveCompleted);
    assert_eq!((alert.profile.as_str(), alert.severity), ("fide-2023/rapid-sup", Severity::Decides));
}

#[test]
fn an_events_own_edition_is_used_by_name() {
    let edition = "edition = \"club\"\ntitle = \"t\"\nverified = false\ninherits = \"fide-2023\"\n\
                   [base]\nillegal_penalty_s = 45\n[articles]\n\"7.5.1\" = \"C.7\"\n";
    let mut hall = Hall::new();
    let command = |command| InputBody::Command { by: "arbiter".into(), command };
    let event = EventSetup {
        profile: "club/classical".into(),
        editions: vec![edition.into()],
        ..EventSetup::default()
    };
    hall.check(&Command::Event { event: event.clone() }).expect("it is an edition");
    let without = EventSetup { editions: Vec::new(), ..event.clone() };
    assert!(hall.check(&Command::Event { event: without }).is_err());
    let broken = EventSetup { editions: vec!["edition = 3".into()], ..event.clone() };
    assert!(hall.check(&Command::Event { event: broken }).is_err());
    let table: TableSetup = serde_json::from_str(r#"{"table":1,"board":"b"}"#).expect("a table");
    let round = RoundSetup { number: 1, date: None, tables: vec![table] };
    let board = |observation| InputBody::Board(BoardKey("b".into()), observation);
    let square = |name: &str, content| {
        let square = BoardSquare::from_chess(name.parse().expect("a square"), false);
        board(Observation::Square(square, content))
    };
    let clock = |left_to_move| {
        board(Observation::Clock(ClockState::Partial {
            left: None,
            right: None,
            running: true,
            left_to_move,
        }))
    };
    let dump = Squares::from_board(Position::default().board(), false);
    let mut raised = Vec::new();
    for (millis, body) in [
        (0, command(Command::Event { event })),
        (0, command(Command::Round { round })),
        (0, board(Observation::Link(LinkEvent::Up(BoardIdentity::default())))),
        (0, board(Observation::Dump(dump))),
        (100, clock(true)),
        (1_500, square("g1", Content::Empty)),
        (1_900, square("g3", Content::from_letter('N').expect("a piece"))),
        (2_500, clock(false)),
        (9_000, clock(false)),
    ] {
        for update in hall.apply(&Input { at: at(millis), body }) {
            // Nobody else needs to know the rules.
            assert!(update.desk_only() || !update.to_json(false).to_string().contains("illegal_penalty_s"));
            if let UpdateBody::Alert(alert) = update.body {
                raised.push(Alert::clone(&alert));
            }
        }
    }
    let alert =
        raised.iter().find(|alert| alert.code == Code::IllegalMoveCompleted).expect("an illegal move");
    assert_eq!((alert.profile.as_str(), alert.article.as_str()), ("club/classical", "C.7"));
    assert_eq!(alert.advice.add_seconds.map(|add| add.seconds), Some(45));
}

#[test]
fn a_game_left_without_a_result_fills_no_log_and_sheets_come_again_when_it_is_played() {
    const HOUR: i64 = 3_600_000;
    let mut table = Table::new("fide-2023/classical", None, GameOptions::default());
    let sheets = |table: &Table| {
        let answers = table.rulings.iter().filter_map(|ruling| match ruling {
            Ruling::Answer(answer) => Some(answer),
            _ => None,
        });
        answers.filter(|answer| answer["act"] == "time-control-sheet").count()
    };
    table.clock(0, 5400, 5400, Some(Color::White));
    table.advance(2 * HOUR);
    assert_eq!(sheets(&table), 4, "one every half hour of play");
    table.advance(24 * 200 * HOUR);
    let left = sheets(&table);
    assert!(left < 12, "{left} sheets of a game that nobody plays");
    table.clock(24 * 200 * HOUR, 5000, 5400, Some(Color::Black));
    table.advance(24 * 200 * HOUR + HOUR);
    assert_eq!(sheets(&table), left + 2, "it goes on");
}
