//! How often an alert is raised in games that go well: hands as people have them, clocks set right.

use std::collections::BTreeMap;

use arbiterd::{
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        UpdateBody,
    },
    laws::{Code, Severity},
    record::{GameResult, Tags, Timestamp},
    sim::{Control, HandOptions, Level, Pace, SimGame, VirtualOptions, famous_games, play_all},
    wire::{BoardIdentity, LinkEvent, Observation},
};

use crate::support::shared;

/// What a game itself gives reason for: its end on the board, and what the hand really does against
/// article 4 or 6 (it touches one man and plays another, castles rook first, lets go and goes on).
const DESERVED: [Code; 12] = [
    Code::Checkmate,
    Code::Stalemate,
    Code::DeadPosition,
    Code::FivefoldRepetition,
    Code::SeventyfiveMove,
    Code::TouchMoveViolation,
    Code::TouchObligation,
    Code::CastlingRookFirst,
    Code::ReleasedPieceMoved,
    Code::PromotionPieceSwapped,
    // A king set on the wrong colour and moved again.
    Code::ResultChanged,
    Code::ResultConflict,
];

struct Count {
    games: usize,
    right: usize,
    loud: BTreeMap<(Severity, Code), usize>,
}

/// Plays the games by one level of hands and counts alerts of `look` and above.
fn play(games: &[SimGame], level: Level) -> Count {
    let mut count = Count { games: 0, right: 0, loud: BTreeMap::new() };
    // One game alone, with what its board showed around each false alarm.
    let only: Option<usize> = std::env::var("ARBITERD_GAME").ok().and_then(|n| n.parse().ok());
    for (index, game) in games.iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            continue;
        }
        let mut options = VirtualOptions::new(level, index as u64 + 1);
        options.hand = HandOptions { pace: Pace::Level, ..HandOptions::new(level, index as u64 + 1) };
        let game = SimGame { control: Control::default(), ..game.clone() };
        let (observations, _) = play_all(std::slice::from_ref(&game), &options);
        let mut hall = Hall::new();
        let board = BoardKey("sim".into());
        let setup = TableSetup {
            table: TableId(1),
            board: Some(board.clone()),
            white: arbiterd::event::Player::default(),
            black: arbiterd::event::Player::default(),
            start: game.start.clone(),
            profile: None,
            time_control: Some("90+30".into()),
            tags: Tags::default(),
            options: OptionsSetup::default(),
        };
        let command = |command| InputBody::Command { by: "test".into(), command };
        let round = RoundSetup { number: 1, date: None, tables: vec![setup] };
        let identity = BoardIdentity { serial: "sim".into(), ..BoardIdentity::default() };
        let mut inputs = vec![
            (0, command(Command::Event { event: EventSetup::default() })),
            (0, command(Command::Round { round })),
            (0, InputBody::Board(board.clone(), Observation::Link(LinkEvent::Up(identity)))),
        ];
        inputs.extend(observations.into_iter().map(|(at, seen)| (at, InputBody::Board(board.clone(), seen))));
        let mut raised: BTreeMap<u32, (Severity, Code, String)> = BTreeMap::new();
        let seen: Vec<(i64, String)> = match only {
            Some(_) => inputs.iter().map(|(at, body)| (*at, format!("{body:?}"))).collect(),
            None => Vec::new(),
        };
        for (at, body) in inputs {
            for update in hall.apply(&Input { at: Timestamp::from_millis(at), body }) {
                if let UpdateBody::Alert(alert) = &update.body
                    && alert.severity <= Severity::Look
                {
                    let text = format!("{} ({})", alert.text.en, alert.ply);
                    if !DESERVED.contains(&alert.code) {
                        let near = seen.iter().filter(|(then, _)| (at - 20_000..at + 10_000).contains(then));
                        near.for_each(|(then, what)| eprintln!("{then}: {}", &what[..what.len().min(150)]));
                        eprintln!("^ {at} {text}");
                    }
                    raised.insert(alert.id.0, (alert.severity, alert.code, text));
                }
            }
        }
        let played: Vec<String> = hall
            .game(TableId(1))
            .map(|game| game.plies.iter().map(|ply| ply.uci.to_string()).collect())
            .unwrap_or_default();
        count.games += 1;
        let wanted = game.uci();
        if played != wanted {
            let differs = played.iter().zip(&wanted).position(|(one, other)| one != other);
            eprintln!("game {index}: read otherwise from ply {:?} of {}", differs, wanted.len());
        }
        count.right += usize::from(played == wanted);
        for (severity, code, text) in raised.into_values() {
            *count.loud.entry((severity, code)).or_default() += 1;
            if !DESERVED.contains(&code) {
                eprintln!("game {index}: {} {text}", code.word());
            }
        }
    }
    count
}

fn undeserved(count: &Count) -> (usize, usize) {
    let sum = |look: bool| -> usize {
        count
            .loud
            .iter()
            .filter(|((severity, code), _)| (*severity == Severity::Look) == look && !DESERVED.contains(code))
            .map(|(_, n)| n)
            .sum()
    };
    (sum(false), sum(true))
}

#[test]
fn well_played_games_are_quiet() {
    let games = famous_games();
    let count = play(&games, Level::Tidy);
    let (go_now, look) = undeserved(&count);
    assert_eq!((count.right, go_now, look), (games.len(), 0, 0), "{:?}", count.loud);
}

/// The figures of a thousand games; takes minutes. `cargo test --release -- --ignored thousand`
#[test]
#[ignore = "takes minutes; prints the figures"]
fn thousand_games_by_human_hands() {
    let mut games = Vec::new();
    for name in ["otb_twic1599.pgn", "otb_iom2019.pgn", "otb_wjun2019.pgn"] {
        let Some(path) = shared(&format!("games/{name}")) else { return };
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        games.extend(SimGame::from_pgn(&text).unwrap_or_default());
    }
    let most = std::env::var("ARBITERD_GAMES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    games.retain(|game| game.result.is_some_and(|result| result != GameResult::Adjourned));
    games.truncate(most);
    // In parts, where one go would take too long.
    let skip = std::env::var("ARBITERD_SKIP").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let games = games.split_off(usize::min(skip, games.len()));
    let count = play(&games, Level::Human);
    let (go_now, look) = undeserved(&count);
    eprintln!(
        "{} games, {} decoded right; not deserved: {go_now} at go-now or higher, {look} at look; all: {:?}",
        count.games, count.right, count.loud
    );
    assert!(go_now * 100 <= count.games && look * 50 <= count.games, "too many false alarms");
}
