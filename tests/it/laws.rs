//! The referee driven by hand: what no board can show, and that time is served alike however often it
//! is asked. Whole games from the board on are in `tests/scenarios/laws.jsonl`.

use std::{collections::BTreeSet, fs, path::Path};

use arbiterd::{
    laws::{Alert, AlertState, ClockTimes, Code, Entry, GameOptions, Profile, Referee, Ruling, Severity},
    record::{Game, Position, Seconds, Timestamp},
    track::{AtPress, Finding, Irregular},
    wire::{BatteryReading, LinkEvent},
};
use serde_json::Value;
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
    assert_eq!(table.referee.counts()["illegal"]["w"], 1);
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
