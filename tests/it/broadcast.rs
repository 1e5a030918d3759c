//! The cases that every broadcast meets one day, and where each has its test.
//!
//! | case | where |
//! | --- | --- |
//! | push: a good and a bad game mixed | `lichess::a_refused_game_is_shown_at_the_desk_and_holds_no_other_up` |
//! | push: the 101st game; a body near 512 KiB | `lichess::a_hundred_games_a_request_and_never_more_than_lichess_reads` |
//! | push: 413; 429 with back-off | `lichess::too_large_is_cut_in_two_and_too_many_waits_a_minute` |
//! | push: 401, 403, 404 | `lichess::what_a_person_must_put_right_says_so_and_is_tried_for_ever` |
//! | push: upstream error inside a 200 | `lichess::an_error_inside_a_success_is_a_failure` |
//! | push: ten minutes away, then one full catch-up | `lichess::after_ten_minutes_of_silence_everything_is_sent_once_as_it_stands` |
//! | push: names changed, same `GameId`; UTF-8 names; result, then `*` | `lichess::changed_names_and_results_taken_back_are_pushed_under_the_same_game_id`; names after move 10: here |
//! | push: boards swapped | here |
//! | push: move corrected before publication | `lichess::only_changed_games_are_pushed_and_moves_only_when_they_stay` |
//! | push: move corrected after publication | here |
//! | push: kings in the centre | `track::play::kings_in_the_centre_are_a_result_and_no_moves`; their result on Lichess: here |
//! | push: illegal move | `lichess::an_illegal_move_that_stood_cuts_the_game_with_a_notice` |
//! | push: 960 start | `lichess::other_rounds_clocks_at_zero_and_chess960_are_written_as_lichess_reads_them` |
//! | no clock; clock 0:00 | here, on every output |
//! | tenths of seconds | none: no board's language here tells tenths, so none can go out; times are whole seconds |
//! | WS: inactive board first; unplugged during play | `livechess::the_board_in_use_stands_first_and_one_that_is_unplugged_stays_listed` |
//! | WS: two clients on one board | `livechess::two_clients_at_one_board_each_have_their_own_start` |
//! | WS: setup that does not match | `lila::a_position_that_does_not_stand_on_the_board_gets_no_moves` |
//! | WS: slow slide e2-e3-e4 | `livechess::a_slow_slide_is_one_move_and_a_confirmed_one_is_never_taken_back` |
//! | WS: piece adjusted, take-back | `lila::whatever_hands_do_before_the_press_the_page_plays_the_game_and_nothing_else` |
//! | WS: castling, promotion to each piece | `lila::promotions_and_castling_are_told_as_they_are`; which hand goes first is `track`'s |
//! | files: atomic rename seen by a watcher, no stray `.pgn` | here |
//! | files: 1 to 12 sort | `event::order` |

use std::{collections::BTreeMap, fs, sync::Arc};

use arbiterd::{
    hall::{BoardKey, Update, UpdateBody},
    publish::{
        hold::HoldPolicy,
        lichess::{Answer, LichessConfig, Next, Push, Pusher},
    },
    record::{GameResult, Ply, PlyState, Position, ResultReason, ResultState, Seconds, Timestamp},
    serve::config::ListenConfig,
};
use serde_json::{Value, json};
use shakmaty::ByColor;

use crate::support::{
    house::House,
    net::{Socket, get},
    script::Script,
};

/// Lichess, which takes everything.
struct Lichess {
    pusher: Pusher,
    now: i64,
}

impl Lichess {
    fn new() -> Self {
        let config = LichessConfig {
            url: String::new(),
            rounds: BTreeMap::from([(1, "abcdefgh".to_owned())]),
            token: "secret".to_owned(),
            hold: HoldPolicy::Confirmed,
        };
        Self { pusher: Pusher::new(&config), now: 0 }
    }

    /// What it gets after these updates, all of which it takes.
    fn gets(&mut self, updates: &[Update]) -> Option<String> {
        self.pusher.take(updates);
        let mut all: Option<String> = None;
        loop {
            match self.pusher.next(Timestamp::from_millis(self.now)) {
                Next::Send(push) => {
                    all.get_or_insert_default().push_str(&push.body);
                    let answer = Answer::Http { status: 200, retry_after: None, body: taken(&push) };
                    self.pusher.answered(&push, &answer, Timestamp::from_millis(self.now));
                }
                Next::WaitUntil(at) => self.now = at.millis(),
                Next::Idle => return all,
            }
        }
    }
}

fn taken(push: &Push) -> String {
    let games = push.body.matches("[Event ").count();
    json!({"games": vec![json!({"tags": {}, "moves": 1}); games]}).to_string()
}

fn ply(script: &mut Script, table: u32, index: usize, ply: &Ply, replaces: bool) -> Update {
    script.update(Some(table), UpdateBody::Ply { index, ply: Arc::new(ply.clone()), replaces })
}

#[test]
fn a_move_corrected_after_publication_goes_out_again_under_the_same_game_id() {
    let mut script = Script::new();
    let mut lichess = Lichess::new();
    let first = [script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4"), script.moved(1, "e7e5")];
    let body = lichess.gets(&first).expect("a push");
    assert!(body.contains("1. e4") && body.contains("e5"));
    // A person puts Black's move right; what followed is gone with it.
    let after_e4 = Position::default().play(Position::default().find_uci("e2e4".parse().unwrap()).unwrap());
    let (_, right) = script.make(&after_e4, "e7e6", PlyState::Confirmed, 1);
    let corrected = ply(&mut script, 1, 1, &right, true);
    let body = lichess.gets(&[corrected]).expect("a push");
    assert!(body.contains("e6") && !body.contains("e5"), "{body}");
    assert!(body.contains("[GameId \"open-r1-b1\"]"));
}

#[test]
fn names_that_change_in_the_middle_of_a_game_stay_one_game() {
    let mut script = Script::new();
    let mut lichess = Lichess::new();
    let mut updates = vec![script.round(1, 0), script.game(1, 1)];
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(20) {
        updates.push(script.moved(1, uci));
    }
    lichess.gets(&updates).expect("a push");
    let mut info = script.info(1, 1);
    info.tags.set("White", "Другая, Анна");
    info.tags.set("Board", "7");
    let renamed = script.update(Some(1), UpdateBody::Table(Arc::new(info)));
    let body = lichess.gets(&[renamed, script.moved(1, "b1c3")]).expect("a push");
    assert!(body.contains("[White \"Другая, Анна\"]") && body.contains("[GameId \"open-r1-b1\"]"), "{body}");
    assert!(body.contains("11. Nc3"), "the moves are all there: {body}");
}

#[test]
fn kings_in_the_centre_go_out_as_a_result() {
    let mut script = Script::new();
    let mut lichess = Lichess::new();
    lichess.gets(&[script.round(1, 0), script.game(1, 1), script.moved(1, "e2e4")]).expect("a push");
    let signal = (GameResult::Draw, ResultReason::KingsSignal, ResultState::Proposed);
    let body = lichess.gets(&[script.update(Some(1), UpdateBody::Result(Some(signal)))]).expect("a push");
    assert!(body.contains("[Result \"1/2-1/2\"]") && body.contains("1. e4") && !body.contains('K'), "{body}");
}

/// Two boards change places during the round: games, names and addresses stay; the boards move.
#[tokio::test]
async fn boards_that_are_swapped_take_no_game_with_them() {
    let house = House::open(|config| config.livechess = Some(ListenConfig::loopback(0)));
    let livechess = house.serving.livechess.expect("the LiveChess listener");
    let mut script = Script::new();
    let mut lichess = Lichess::new();
    let first = [
        script.round(1, 0),
        script.game(1, 1),
        script.game(1, 2),
        script.moved(1, "e2e4"),
        script.moved(2, "d2d4"),
    ];
    house.push(&first);
    lichess.gets(&first).expect("a push");
    let before = get(house.public(), "/round/1/games.pgn").await.body;
    let uuid = get(livechess, "/api/v1.0/tournaments").await.json()[0]["uuid"].as_str().unwrap().to_owned();
    let boards =
        async || get(livechess, &format!("/api/v1.0/tournament/{uuid}")).await.json()["eboards"].clone();
    assert_eq!(boards().await, json!(["20001", "20002"]));
    let mut viewer = Socket::open(house.public(), "/ws").await;
    viewer.next_of("snapshot").await;

    let infos: Vec<_> = [1, 2]
        .map(|table| {
            let mut info =
                house.public.look(|view| view.tables[&arbiterd::hall::TableId(table)].info.clone());
            Arc::make_mut(&mut info).link.board = Some(BoardKey(format!("{}", 20003 - table)));
            (table, info)
        })
        .into();
    let swap: Vec<Update> =
        infos.into_iter().map(|(table, info)| script.update(Some(table), UpdateBody::Table(info))).collect();
    house.push(&swap);
    assert_eq!(lichess.gets(&swap), None, "nothing changed for Lichess");
    assert_eq!(boards().await, json!(["20002", "20001"]));
    assert_eq!(get(house.public(), "/round/1/games.pgn").await.body, before);
    // The next thing a viewer hears of is the next move.
    house.push(&[script.moved(1, "e7e5")]);
    let next = viewer.next().await;
    assert_eq!((&next["type"], &next["table"]), (&json!("ply"), &json!(1)));
}

/// What is left on no clock, and on one that has fallen.
#[tokio::test]
async fn a_clock_at_zero_is_written_and_one_that_is_not_there_is_not() {
    let house = House::open(|config| config.livechess = Some(ListenConfig::loopback(0)));
    let livechess = house.serving.livechess.expect("the LiveChess listener");
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.game(1, 2)]);
    let (_, e4) = script.make(&Position::default(), "e2e4", PlyState::Confirmed, 0);
    let at_zero = ByColor { white: Some(Seconds(0)), black: None };
    let fallen = Ply { clock: at_zero, elapsed: Some(Seconds(7)), ..e4.clone() };
    let without = Ply { clock: ByColor::default(), elapsed: None, ..e4 };
    let updates = [ply(&mut script, 1, 0, &fallen, false), ply(&mut script, 2, 0, &without, false)];
    house.push(&updates);
    let games = [
        get(house.public(), "/round/1/game-1.pgn").await.body,
        get(house.public(), "/round/1/game-2.pgn").await.body,
    ];
    assert!(games[0].contains("1. e4 {[%clk 0:00:00]"), "{}", games[0]);
    assert!(games[1].contains("1. e4") && !games[1].contains('%'), "{}", games[1]);
    let cloud = async |game: u32| {
        get(house.public(), &format!("/get/open/round-1/game-{game}.json")).await.json()["moves"].clone()
    };
    assert_eq!((cloud(1).await, cloud(2).await), (json!(["e4 0+7"]), json!(["e4"])));
    let uuid = get(livechess, "/api/v1.0/tournaments").await.json()[0]["uuid"].as_str().unwrap().to_owned();
    let round = get(livechess, &format!("/api/v1.0/round/{uuid}/0")).await.json();
    for (index, moves) in [json!(["e4 0+7"]), json!(["e4"])].into_iter().enumerate() {
        let game = round["pairings"][index]["uuid"].as_str().unwrap();
        assert_eq!(get(livechess, &format!("/api/v1.0/game/{game}")).await.json()["moves"], moves);
    }
    let tables = get(house.public(), "/api/v1/tables").await.json();
    let clock = |index: usize| tables[index]["plies"][0]["clock"]["white"].clone();
    assert_eq!((clock(0), clock(1)), (json!(0), Value::Null));
    let mut lichess = Lichess::new();
    let all = [script.round(1, 0), script.game(1, 1), script.game(1, 2)];
    lichess.gets(&all);
    let body = lichess.gets(&updates).expect("a push");
    assert_eq!(body.matches("[%clk 0:00:00]").count(), 1, "{body}");
}

/// The folder as programs that watch it see it (the Lichess Broadcaster, an FTP upload).
#[test]
fn a_watcher_sees_whole_files_only_and_no_other_pgn() {
    use arbiterd::publish::archive::replace;
    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

    let folder = tempfile::tempdir().expect("a folder");
    let watch = init(CreateFlags::NONBLOCK).expect("inotify");
    add_watch(&watch, folder.path(), WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::MOVED_TO)
        .expect("a watch");
    let path = folder.path().join("game-12.pgn");
    for text in ["[Event \"One\"]\n\n*\n", "[Event \"One\"]\n\n1. e4 *\n"] {
        replace(&path, text.as_bytes()).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), text);
    }
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut events = Reader::new(watch, &mut buffer);
    let mut arrivals = 0;
    while let Ok(event) = events.next() {
        let name = event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if std::path::Path::new(&name).extension().is_some_and(|extension| extension == "pgn") {
            assert_eq!(event.events(), ReadFlags::MOVED_TO, "{name} comes whole, by its new name");
            arrivals += 1;
        }
    }
    assert_eq!(arrivals, 2);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else stays");
}
