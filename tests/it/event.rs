//! Imports of rounds: the shared files, and small ones with the faults people meet.

use std::fs;

use arbiterd::{
    event::{
        ByeKind,
        import::{ImportIssue, ImportOptions, Imported, Refused, import_round, read_pair_list, read_trf},
    },
    record::GameResult,
};

use crate::support::{
    house::House,
    net::{get, raw},
    script::Script,
    shared,
};

fn import(bytes: &[u8]) -> Result<Imported, Refused> {
    import_round(bytes, &ImportOptions::default())
}

#[test]
fn every_shared_file_imports_or_is_refused_with_line_and_reason() {
    for folder in ["pairings", "games/broken"] {
        let Some(folder) = shared(folder) else { return };
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension == "jsonl") {
                continue;
            }
            let bytes = fs::read(&path).expect("a readable file");
            let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
            let notes = match import(&bytes) {
                Ok(imported) => {
                    assert!(!imported.draft.pairings.is_empty(), "{}", path.display());
                    let boards: Vec<u32> =
                        imported.draft.pairings.iter().map(|pairing| pairing.board).collect();
                    assert!(boards.is_sorted(), "{}: {boards:?}", path.display());
                    imported.notes
                }
                Err(refused) => {
                    assert!(!refused.reasons.is_empty(), "{}", path.display());
                    refused.reasons
                }
            };
            for note in &notes {
                assert!((1..=lines.max(1)).contains(&note.line), "{}: {note}", path.display());
            }
        }
    }
}

#[test]
fn the_livechess_round_is_taken_as_it_is() {
    let Some(path) = shared("pairings/livechess-2.2.6-empty-games.pgn") else { return };
    let imported = import(&fs::read(path).expect("a readable file")).expect("a round");
    assert_eq!(imported.notes, []);
    let draft = imported.draft;
    assert_eq!((draft.event.as_deref(), draft.round), (Some("name"), Some(1)));
    assert_eq!(draft.pairings.len(), 2);
    assert_eq!(draft.pairings[0].white.name, "Player 1, Player A");
    assert_eq!(draft.time_control.map(|tc| tc.to_pgn()).as_deref(), Some("600"));
}

#[test]
fn trf_rounds_come_with_results_and_byes() {
    let Some(path) = shared("pairings/bbp-dutch_2025_C5.trf") else { return };
    let bytes = fs::read(path).expect("a readable file");
    let imported = import_round(&bytes, &ImportOptions { round: Some(2), pair_list: None }).expect("a round");
    let boards: Vec<_> = imported
        .draft
        .pairings
        .iter()
        .map(|p| (p.white.rank.unwrap_or(0), p.black.rank.unwrap_or(0), p.result))
        .collect();
    let lost = Some(GameResult::BlackWins);
    assert_eq!(boards, [(2, 1, lost), (4, 3, lost), (6, 5, lost)]);
    assert!(imported.notes.iter().any(|note| note.issue == ImportIssue::BoardOrderGuessed));
    let third = import_round(&bytes, &ImportOptions { round: Some(3), pair_list: None });
    assert!(third.is_err(), "nothing is paired in round 3");
}

#[test]
fn lone_carriage_returns_end_lines() {
    for (file, players) in
        [("bbp-issue_15.trf", 180), ("bbp-issue_7.trf", 60), ("bbp-generated-seed7.trf", 80)]
    {
        let Some(path) = shared(&format!("pairings/{file}")) else { return };
        let (tournament, _) = read_trf(&fs::read(path).expect("a readable file")).expect("a tournament");
        assert_eq!(tournament.players.len(), players, "{file}");
    }
}

const TRF: &str = "012 Test\n\
122 90'/40+30'+30\"\n\
001    1 m GM Alpha,Anna                        2700 NOR     1503014 1990.11.30  1.0    1     2 w 1     3 b  \n\
001    2 wWG  Beta,Bea                          2500 GER    12345678             0.0    3     1 b 0  0000 - Z\n\
001    3      Ünal,Çem                          2400 TUR                         1.0    2  0000 - U     1 w  \n";

#[test]
fn the_open_round_is_the_one_to_play() {
    for text in [TRF.to_owned(), TRF.replace('\n', "\r\n"), TRF.replace('\n', "\r")] {
        let imported = import(text.as_bytes()).expect("a round");
        let draft = imported.draft;
        assert_eq!(draft.round, Some(2));
        let [game] = draft.pairings.as_slice() else { panic!("{:?}", draft.pairings) };
        assert_eq!((game.white.name.as_str(), game.black.name.as_str()), ("Ünal, Çem", "Alpha, Anna"));
        assert_eq!(game.black.title.as_deref(), Some("GM"));
        assert_eq!((game.black.fide_id, game.black.rating), (Some(1503014), Some(2700)));
        assert_eq!(game.result, None);
        assert_eq!(draft.byes.iter().map(|bye| bye.kind).collect::<Vec<_>>(), [ByeKind::Zero]);
        assert_eq!(draft.time_control.map(|tc| tc.to_pgn()).as_deref(), Some("40/5400+30:1800+30"));
    }
    // Columns counted in bytes, as some programs do.
    let bytes = TRF.replace("Ünal,Çem  ", "Ünal,Çem");
    assert_eq!(import(bytes.as_bytes()).expect("a round").draft.pairings[0].white.rating, Some(2400));
}

#[test]
fn a_list_of_pairs_gives_the_order() {
    let trf = "001    1      A                                 2000                             0.0    1     2 w  \n\
               001    2      B                                 1900                             0.0    2     1 b  \n\
               001    3      C                                 1800                             0.0    3     4 b  \n\
               001    4      D                                 1700                             0.0    4     3 w  \n";
    let order = |list: &[u8]| {
        let pair_list = Some(read_pair_list(list).expect("a list"));
        let imported =
            import_round(trf.as_bytes(), &ImportOptions { round: None, pair_list }).expect("a round");
        imported.draft.pairings.iter().map(|p| p.white.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(b"2\n4 3\n1 2\n"), ["D", "A"]);
    assert_eq!(order(b"2\n1 2\n4 3\n"), ["A", "D"]);
    let alone = import(b"2\n1 2\n4 3\n").expect_err("numbers only");
    assert_eq!(alone.reasons[0].issue, ImportIssue::PairListAlone);
}

#[test]
fn byes_dashes_duplicates_and_missing_results_are_mended_and_listed() {
    let text = "[Event \"Open\"]\n[Round \"3\"]\n[White \"Alpha, A\"]\n[Black \"Beta, B\"]\n[WhiteElo \"-\"]\n[WhiteTitle \"-\"]\n\n\
                [Event \"Open\"]\n[Round \"3\"]\n[White \"Gamma, C\"]\n[Black \"BYE\"]\n\n*\n\
                [Event \"Open\"]\n[Round \"3\"]\n[White \"Alpha, A\"]\n[Black \"Beta, B\"]\n*[Event \"Open\"]\n[Round \"3\"]\n\
                [White \"Delta, D\"]\n[Black \"Epsilon, E\"]\n[WhiteElo \"abc\"]\n\n*\n";
    let imported = import(text.as_bytes()).expect("a round");
    let draft = &imported.draft;
    assert_eq!(
        draft.pairings.iter().map(|p| p.white.name.as_str()).collect::<Vec<_>>(),
        ["Alpha, A", "Delta, D"]
    );
    assert_eq!(draft.pairings.iter().map(|p| p.board).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(draft.byes[0].player.name, "Gamma, C");
    let listed: Vec<String> = imported.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        listed,
        [
            "line 1: WhiteTitle \"-\" taken as not known",
            "line 1: WhiteElo \"-\" taken as not known",
            "line 6: no closing result",
            "line 8: Gamma, C has no opponent: no board",
            "line 14: Alpha, A - Beta, B stands twice: once left out",
            "line 18: WhiteElo \"abc\" makes no sense: left out",
        ]
    );
}

#[test]
fn several_rounds_need_a_choice_and_code_pages_are_said() {
    let text = b"[Round \"1\"]\n[White \"M\xfcller\"]\n[Black \"A\"]\n\n*\n\n[Round \"2\"]\n[White \"A\"]\n[Black \"M\xfcller\"]\n\n*\n";
    let refused = import(text).expect_err("two rounds");
    assert_eq!(refused.reasons[0].issue, ImportIssue::SeveralRounds { rounds: vec![1, 2] });
    assert_eq!(refused.reasons[0].line, 7);
    let second = import_round(text, &ImportOptions { round: Some(2), pair_list: None }).expect("round 2");
    assert_eq!(second.draft.pairings[0].black.name, "Müller");
    assert_eq!(second.notes[0].alert_code(), Some("encoding-repaired"));
    assert!(import_round(text, &ImportOptions { round: Some(3), pair_list: None }).is_err());
    assert!(import(b"").is_err());
    assert!(import(b"hello").is_err());
}

#[test]
fn board_numbers_order_the_boards() {
    let game =
        |board: u32| format!("[White \"W{board}\"]\n[Black \"B{board}\"]\n[Round \"1.{board}\"]\n\n*\n\n");
    let text: String = [1, 10, 11, 2].into_iter().map(game).collect();
    let imported = import(text.as_bytes()).expect("a round");
    let boards: Vec<_> = imported.draft.pairings.iter().map(|p| (p.board, p.white.name.as_str())).collect();
    assert_eq!(boards, [(1, "W1"), (2, "W2"), (10, "W10"), (11, "W11")]);
}

#[test]
fn teams_make_matches() {
    let game = |n: u32, a: &str, b: &str| {
        format!("[White \"W{n}\"]\n[Black \"B{n}\"]\n[WhiteTeam \"{a}\"]\n[BlackTeam \"{b}\"]\n\n*\n\n")
    };
    let text = [game(1, "Red", "Blue"), game(2, "Blue", "Red"), game(3, "Green", "Gold")].concat();
    let draft = import(text.as_bytes()).expect("a round").draft;
    assert_eq!(
        draft.pairings.iter().map(|p| p.match_number).collect::<Vec<_>>(),
        [Some(1), Some(1), Some(2)]
    );
    assert_eq!(draft.teams.len(), 4);
}

proptest::proptest! {
    /// Whatever the bytes, an import ends with a round or a reason.
    #[test]
    fn no_bytes_break_an_import(bytes in file_like(), round in proptest::option::of(0u32..5)) {
        match import_round(&bytes, &ImportOptions { round, pair_list: None }) {
            Ok(imported) => proptest::prop_assert!(!imported.draft.pairings.is_empty()),
            Err(refused) => proptest::prop_assert!(!refused.reasons.is_empty()),
        }
    }

    #[test]
    fn no_text_breaks_a_time_control(text in "[0-9'\"/+:a-zа-я .*]{0,20}") {
        if let Ok(tc) = text.parse::<arbiterd::event::TimeControl>() {
            let again = tc.to_string().parse::<arbiterd::event::TimeControl>();
            proptest::prop_assert_eq!(again.ok(), Some(tc));
        }
    }
}

fn file_like() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    let pieces: Vec<String> = [
        "001    1      A,B                               2000 NOR     1503014 1990.11.30  1.0    1     2 w 1     3 b  ",
        "001    2      C                                                                 0.0    2     1 b 0  0000 - Z",
        "001    2      D                                                                 0.0    2     9 b 0  0000 - H",
        "001    3      Ü                                                                 0.5    2  0000 - U     1 w  ",
        "001", "001 ", "013 Team                                1    2    3", "310   1 Team", "162 W 1.0  D 0.5", "240 H 002    1    2",
        "132", "142 9", "XXR x", "999 what", "\n", "\r", "\r\n", "[White \"A\"]\n", "[Black \"bye\"]\n", "[Round \"1.2\"]\n",
        "[Board \"0\"]\n", "[Date \"1.2.2026\"]\n", "*\n\n", "2\n", "1 2\n",
    ]
    .map(str::to_owned)
    .to_vec();
    let piece = prop_oneof![
        9 => proptest::sample::select(pieces).prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

#[tokio::test]
async fn the_desk_gives_scores_berger_tables_and_protocols() {
    let house = House::open(|_| {});
    let mut script = Script::new();
    house.push(&[script.round(1, 0), script.game(1, 1), script.moved(1, "g1f3"), script.moved(1, "d7d5")]);
    assert_eq!(get(house.desk(), "/api/v1/tables/1/score?notation=ru").await.body, "1. Кf3 d5");
    assert_eq!(get(house.desk(), "/api/v1/tables/1/score").await.body, "1. Nf3 d5");
    assert_eq!(get(house.desk(), "/api/v1/tables/9/score").await.status, 404);
    let text = "1. e4 e5 2. Крe2 Кf9";
    let request = format!(
        "POST /api/v1/tables/1/read-score HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        house.desk(),
        text.len()
    );
    let read = raw(house.desk(), request.as_bytes()).await.json();
    assert_eq!(read["plies"], serde_json::json!(["e2e4", "e7e5", "e1e2"]));
    assert_eq!((&read["fault"]["ply"], &read["fault"]["text"]), (&3.into(), &"Кf9".into()));
    let table = get(house.desk(), "/api/v1/berger?players=4").await.json();
    assert_eq!(table["rounds"][1]["games"], serde_json::json!([[4, 3], [1, 2]]));
    assert_eq!(get(house.desk(), "/api/v1/berger?players=99").await.status, 400);
    assert_eq!(get(house.desk(), "/api/v1/protocols").await.json(), serde_json::json!([]));
}
