//! Reading what a board wrote down while nobody listened.
//!
//! A board's own memory has no times, but it has everything else in order: each change of a square,
//! and each press as the time of the side it stopped. So the reading is simpler than a live one.
//! The changes are replayed on a shadow board. When the shadow is one legal move from the line, that
//! move is taken for the time being; a further hop of the same side replaces it; a reply, or the
//! mover's press, makes it stand. Where more happened at once than one move (a press was not
//! written, a scan saw two plies together), a longer sequence is taken at a press or at the end,
//! if it is the only one. What stays unexplained at the end is left out: the board as it then
//! stands is judged like any other (see `gap`).

use shakmaty::{Board, Color, Move};

use crate::{
    record::Position,
    wire::{Content, RecoveredEvent},
};

/// The most plies taken at once.
const DEPTH: usize = 3;
/// A move changes at most so many squares (castling).
const SQUARES_PER_PLY: usize = 4;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// The plies, from the position the reading began with.
    pub(super) line: Vec<Move>,
    /// So many of them stand: they were pressed, or answered.
    pub(super) stood: usize,
    /// The last position of the line is what the squares showed at the end.
    pub(super) whole: bool,
}

/// Reads events that follow a position. `shadow` is what the squares showed before the first of
/// them; it need not agree with the position, as when a piece was in the air.
pub(super) fn read(start: &Position, shadow: Board, events: &[RecoveredEvent], rotated: bool) -> Memory {
    read_on(start, &[], shadow, events, rotated)
}

/// The same, where these plies were already seen, the last of them perhaps with the hand still on it.
pub(super) fn read_on(
    start: &Position,
    open: &[Move],
    shadow: Board,
    events: &[RecoveredEvent],
    rotated: bool,
) -> Memory {
    let mut reader = Reader { base: start.clone(), taken: None, line: Vec::new(), shadow };
    for m in open {
        reader.stand();
        reader.taken = Some((*m, reader.base.play(*m)));
    }
    reader.look();
    for event in events {
        match *event {
            RecoveredEvent::Square { square, content, .. } => {
                let square = square.to_chess(rotated);
                match content {
                    Content::Piece(piece) => reader.shadow.set_piece_at(square, piece),
                    Content::Empty => reader.shadow.discard_piece_at(square),
                    Content::Occupied | Content::ResultPiece(_) => {}
                }
                reader.look();
            }
            RecoveredEvent::Halted { left, .. } => {
                reader.press(if left == rotated { Color::Black } else { Color::White });
            }
            // A dump follows, in pieces.
            RecoveredEvent::PowerUp | RecoveredEvent::StartTag => reader.shadow = Board::empty(),
            RecoveredEvent::EmptyBoard | RecoveredEvent::StartPosition { .. } => {}
        }
    }
    reader.search();
    let whole = reader.shadow == *reader.tip().board();
    let stood = reader.line.len();
    if let Some((m, _)) = reader.taken.take() {
        reader.line.push(m);
    }
    Memory { line: reader.line, stood, whole }
}

struct Reader {
    /// The position after the plies that stand.
    base: Position,
    /// The ply taken for the time being, and the position after it.
    taken: Option<(Move, Position)>,
    line: Vec<Move>,
    shadow: Board,
}

impl Reader {
    fn tip(&self) -> &Position {
        self.taken.as_ref().map_or(&self.base, |(_, after)| after)
    }

    /// The taken ply stands.
    fn stand(&mut self) {
        if let Some((m, after)) = self.taken.take() {
            self.line.push(m);
            self.base = after;
        }
    }

    /// The shadow changed: one move more, or another one?
    fn look(&mut self) {
        if self.shadow == *self.tip().board() {
            return;
        }
        if let Some((m, after)) = single(self.tip(), &self.shadow) {
            self.stand();
            self.taken = Some((m, after));
        } else if self.taken.is_some()
            && let Some(other) = single(&self.base, &self.shadow)
        {
            self.taken = Some(other);
        } else if self.shadow == *self.base.board() {
            // Taken back.
            self.taken = None;
        }
    }

    fn press(&mut self, by: Color) {
        self.search();
        if self.shadow == *self.tip().board() && self.base.turn() == by {
            self.stand();
        }
    }

    /// A longer sequence, if nothing shorter explains the shadow and it is the only one.
    fn search(&mut self) {
        if self.shadow == *self.tip().board() {
            return;
        }
        for (from_tip, start) in [(true, self.tip().clone()), (false, self.base.clone())] {
            for depth in 2..=DEPTH {
                let mut found = Vec::new();
                sequences(&start, &self.shadow, depth, &mut Vec::new(), &mut found);
                if let [line] = &found[..] {
                    if from_tip {
                        self.stand();
                    } else {
                        self.taken = None;
                    }
                    for m in line {
                        self.stand();
                        let after = self.base.play(*m);
                        self.taken = Some((*m, after));
                    }
                    return;
                }
                if !found.is_empty() {
                    return;
                }
            }
            if self.taken.is_none() {
                return;
            }
        }
    }
}

/// The one legal move that leads from the position to the board. There is never more than one:
/// two moves that leave the same board are the same.
fn single(position: &Position, board: &Board) -> Option<(Move, Position)> {
    if super::eyes::differing(position.board(), board).count() > SQUARES_PER_PLY {
        return None;
    }
    position
        .legal_moves()
        .into_iter()
        .map(|m| (m, position.play(m)))
        .find(|(_, after)| after.board() == board)
}

/// All sequences of so many plies, at most two of them.
fn sequences(
    position: &Position,
    board: &Board,
    plies: usize,
    path: &mut Vec<Move>,
    found: &mut Vec<Vec<Move>>,
) {
    if super::eyes::differing(position.board(), board).count() > SQUARES_PER_PLY * plies || found.len() > 1 {
        return;
    }
    if plies == 0 {
        found.push(path.clone());
        return;
    }
    for m in position.legal_moves() {
        path.push(m);
        sequences(&position.play(m), board, plies - 1, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use crate::{
        sim::{self, Device, DeviceSetup, HandOptions, Level, Noticed, famous_games},
        wire::BoardSquare,
    };

    fn square(text: &str, piece: Option<char>) -> RecoveredEvent {
        let on: Square = text.parse().expect("a square");
        let content = piece.and_then(Content::from_letter).unwrap_or_default();
        RecoveredEvent::Square { square: BoardSquare::from_chess(on, false), content, quick: false }
    }

    fn uci(start: &Position, memory: &Memory) -> Vec<String> {
        let mut position = start.clone();
        memory
            .line
            .iter()
            .map(|m| {
                let uci = position.uci(*m).to_string();
                position = position.play(*m);
                uci
            })
            .collect()
    }

    #[test]
    fn a_hop_replaces_and_a_reply_stands() {
        let start = Position::default();
        let events = [
            square("e2", None),
            square("e3", Some('P')),
            square("e3", None),
            square("e4", Some('P')),
            square("e7", None),
            square("e5", Some('p')),
        ];
        let memory = read(&start, start.board().clone(), &events, false);
        assert_eq!(uci(&start, &memory), ["e2e4", "e7e5"]);
        assert!(memory.whole);
        let half = read(&start, start.board().clone(), &events[..5], false);
        assert_eq!(uci(&start, &half), ["e2e4"]);
        assert!(!half.whole, "a piece is in the air");
    }

    /// Whatever human hands did while nobody listened is read to the last ply, also turned round.
    #[test]
    fn whole_games_are_read_from_what_the_board_noticed() {
        let (mut exact, mut count) = (0, 0);
        for (index, game) in famous_games().into_iter().enumerate() {
            for seed in 0..4 {
                let options = HandOptions::new(Level::Human, seed * 100 + index as u64);
                let script = sim::hand::script(std::slice::from_ref(&game), &options);
                let rotated = seed % 2 == 1;
                let setup = DeviceSetup { rotated, seed, ..DeviceSetup::default() };
                let mut device = Device::new(&setup);
                // Up to the last press, before the kings.
                let end = script.games[0].plies.last().expect("plies").made_ms;
                for (at, action) in script.actions.iter().filter(|(at, _)| *at <= end) {
                    device.act(*at, action.clone());
                }
                let mut events = Vec::new();
                while let Some((_, noticed)) = device.step(end + 900) {
                    match noticed {
                        Noticed::Square(square, content) => {
                            events.push(RecoveredEvent::Square { square, content, quick: false });
                        }
                        Noticed::Clock(reading, true) => {
                            events.push(RecoveredEvent::Halted { left: !reading.left_to_move, seconds: 0 });
                        }
                        Noticed::Clock(..) => {}
                    }
                }
                let memory = read(&game.start, game.start.board().clone(), &events, rotated);
                count += 1;
                exact += usize::from(uci(&game.start, &memory) == game.uci());
            }
        }
        assert_eq!(exact, count, "{exact} of {count} games");
    }
}
