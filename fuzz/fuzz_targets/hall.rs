//! Whatever boards say, in whatever order, to a whole hall: nothing panics, updates are numbered
//! without gaps, and serving the deadlines in between changes nothing.
#![no_main]

use arbiterd::{
    hall::{BoardKey, Command, Hall, Input, InputBody, RoundSetup, TableId, Update},
    record::Timestamp,
    wire::{BoardSquare, ClockSide, ClockState, Content, LinkEvent, Observation, Squares},
};
use libfuzzer_sys::fuzz_target;

const PIECES: &[char] = &['.', 'P', 'N', 'B', 'R', 'Q', 'K', 'p', 'n', 'b', 'r', 'q', 'k', '?', '+', '='];

/// One observation out of two bytes, on a board whose squares are kept so that dumps are possible.
fn observation([what, which]: [u8; 2], squares: &mut Squares) -> Option<Observation> {
    let side = |seconds: u8, flag: bool| ClockSide { seconds: u32::from(seconds) * 40, flag, blocked: flag };
    Some(match what >> 5 {
        0..=3 => {
            let square = BoardSquare::new(which & 63)?;
            let content = Content::from_letter(PIECES[usize::from(what & 15)])?;
            squares.set(square, content);
            Observation::Square(square, content)
        }
        // Lost updates: only the next dump tells.
        4 => {
            squares.set(BoardSquare::new(which & 63)?, Content::from_letter(PIECES[usize::from(what & 15)])?);
            return None;
        }
        5 => Observation::Dump(squares.clone()),
        6 => Observation::Clock(ClockState::Partial {
            left: (what & 1 == 0).then(|| side(which, which == 0)),
            right: (what & 2 == 0).then(|| side(which.wrapping_mul(7), false)),
            running: what & 4 == 0,
            left_to_move: what & 8 == 0,
        }),
        _ if what & 1 == 0 => Observation::Link(LinkEvent::Garbage(u32::from(which))),
        _ => Observation::Clock(ClockState::Absent),
    })
}

fuzz_target!(|bytes: &[u8]| {
    let round: RoundSetup =
        serde_json::from_str(r#"{"number":1,"tables":[{"table":1,"board":"1","time_control":"300+3"}]}"#)
            .expect("our own words");
    let at = |millis: i64| Timestamp::from_millis(1_750_000_000_000 + millis);
    let (mut hall, mut eager) = (Hall::new(), Hall::new());
    let (mut updates, mut updates_eager): (Vec<Update>, Vec<Update>) = (Vec::new(), Vec::new());
    let mut squares = Squares::from_board(&shakmaty::Board::new(), false);
    let mut now = 0;
    let mut give = |input: &Input| {
        updates.extend(hall.apply(input));
        updates_eager.extend(eager.advance(Timestamp::from_millis(input.at.millis() - 1)));
        updates_eager.extend(eager.apply(input));
    };
    let command = Command::Round { round };
    give(&Input { at: at(0), body: InputBody::Command { by: "desk".to_owned(), command } });
    give(&Input {
        at: at(1),
        body: InputBody::Board(BoardKey("1".to_owned()), Observation::Dump(squares.clone())),
    });
    for three in bytes.chunks_exact(3).take(400) {
        now += i64::from(three[0]) * 9 + 1;
        if let Some(observation) = observation([three[1], three[2]], &mut squares) {
            let body = InputBody::Board(BoardKey("1".to_owned()), observation);
            give(&Input { at: at(now), body });
        }
    }
    assert_eq!(updates, updates_eager);
    for (seq, update) in (1..).zip(&updates) {
        assert_eq!(update.seq.0, seq, "numbers without gaps");
    }
    let game = hall.game(TableId(1)).expect("table 1 is there");
    for pair in game.plies.windows(2) {
        assert_ne!(pair[0].after.turn(), pair[1].after.turn(), "sides alternate");
    }
});
