//! Play as people play it, in short scenarios.

use arbiterd::track::{Cause, Finding};

use super::Table;

#[test]
fn a_move_is_provisional_until_the_press() {
    let mut table = Table::fen("");
    table.play("0 run w; 500 e2 -; 700 e4 P");
    assert_eq!(table.moves(), ["e2e4"]);
    assert_eq!(table.confirmed, 0);
    table.play("1000 run b");
    table.advance(2500);
    assert_eq!(table.confirmed, 1);
    assert_eq!(table.presses(), ["move"]);
    assert!(table.quiet());
}

#[test]
fn a_slide_is_one_ply() {
    let mut table = Table::fen("5rk1/5ppp/8/8/8/8/5PPP/R5K1 b - - 0 1");
    table.play("0 run b; 500 f8 -; 720 c8 r; 1400 c8 -; 1510 b8 r; 1900 run w");
    assert_eq!(table.end(), ["f8b8"]);
    assert!(table.quiet());
    assert_eq!(table.count(|f| matches!(f, Finding::Line { cause: Cause::Revised, .. })), 1);
}

#[test]
fn without_a_clock_the_reply_confirms() {
    let mut table = Table::fen("");
    table.play("0 run none; 500 e2 -; 700 e4 P; 5000 e7 -; 5200 e5 p");
    assert_eq!(table.moves(), ["e2e4", "e7e5"]);
    table.advance(7000);
    assert_eq!(table.confirmed, 1);
    assert!(table.quiet());
}
