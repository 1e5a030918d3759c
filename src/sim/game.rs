//! The games simulated hands are given: moves, clocks, result, time control.
//!
//! Read straight from PGN with what is needed to play them over; the full reader of the record is
//! not this.

use std::{ops::ControlFlow, str::FromStr};

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{CastlingMode, Move};

use crate::record::{GameResult, Position, Seconds, Tags};

/// One period of a time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// For so many moves; `None` = all the rest.
    pub moves: Option<u32>,
    /// Time for it, in seconds.
    pub seconds: u32,
    /// Added with every move, in seconds (Fischer).
    pub increment: u32,
}

/// What a clock is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// At least one.
    pub periods: Vec<Period>,
    /// The clock counts moves and adds the next period after the last move of one. If not, it adds
    /// it to both sides when one reaches zero, and shows a flag.
    pub counts_moves: bool,
}

impl Control {
    /// One period for all moves.
    #[must_use]
    pub fn sudden(seconds: u32, increment: u32) -> Self {
        Self { periods: vec![Period { moves: None, seconds, increment }], counts_moves: true }
    }

    /// Reads PGN's `TimeControl` (`40/7200:3600+30`, `5400+30`, `300`); `None` when it is none.
    #[must_use]
    pub fn from_pgn(text: &str) -> Option<Self> {
        let period = |field: &str| -> Option<Period> {
            let (moves, rest) = match field.split_once('/') {
                Some((moves, rest)) => (Some(moves.trim().parse().ok()?), rest),
                None => (None, field),
            };
            let (seconds, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            let (seconds, increment) = (seconds.trim().parse().ok()?, increment.trim().parse().ok()?);
            (seconds > 0 || increment > 0).then_some(Period { moves, seconds, increment })
        };
        let mut periods: Vec<Period> = text.split(':').map(period).collect::<Option<_>>()?;
        if let Some(last) = periods.last_mut() {
            last.moves = None;
        }
        (!periods.is_empty()).then_some(Self { periods, counts_moves: true })
    }
}

impl Default for Control {
    /// 90 minutes and 30 seconds a move.
    fn default() -> Self {
        Self::sudden(5400, 30)
    }
}

/// A game to be played on a simulated board.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SimGame {
    /// Who plays, where; as found in the PGN.
    pub tags: Tags,
    /// The position it starts from.
    pub start: Position,
    /// Its moves, each legal where it is made.
    pub moves: Vec<Move>,
    /// What the mover's clock showed after each move; as long as `moves`.
    pub clocks: Vec<Option<Seconds>>,
    /// Its result; `None` = it just stops.
    pub result: Option<GameResult>,
    /// What the clock is set to.
    pub control: Control,
}

/// A game that cannot be played over.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// The file could not be read as PGN.
    #[error("cannot read the games: {0}")]
    Read(#[from] std::io::Error),
    /// The `FEN` tag is none.
    #[error("game {game}: {why}")]
    Start {
        /// Which game of the file, from 1.
        game: usize,
        /// What is wrong with its start position.
        why: String,
    },
    /// A move is not legal.
    #[error("game {game}: {san} is not a legal move at ply {ply}")]
    Move {
        /// Which game of the file, from 1.
        game: usize,
        /// Which half-move, from 1.
        ply: usize,
        /// The move as written.
        san: String,
    },
}

impl SimGame {
    /// All games of a PGN text; side lines are skipped.
    ///
    /// # Errors
    /// On a start position that is none and on the first illegal move.
    pub fn from_pgn(text: &str) -> Result<Vec<Self>, GameError> {
        let mut reader = Reader::new(text.as_bytes());
        let mut games = Vec::new();
        while let Some(game) = reader.read_game(&mut Builder { game: games.len() + 1 })? {
            games.push(game?);
        }
        Ok(games)
    }

    /// A game from the standard start position by its moves in UCI notation; anything after the
    /// first illegal move is left out.
    #[must_use]
    pub fn from_uci(moves: &[&str], result: Option<GameResult>) -> Self {
        let mut position = Position::default();
        let mut game = Self { result, ..Self::default() };
        for text in moves {
            let Some(m) = text.parse().ok().and_then(|uci| position.find_uci(uci)) else { break };
            position = position.play(m);
            game.moves.push(m);
            game.clocks.push(None);
        }
        game
    }

    /// The moves as UCI, castling as `e1g1` in standard chess.
    #[must_use]
    pub fn uci(&self) -> Vec<String> {
        self.moves.iter().map(|m| self.start.uci(*m).to_string()).collect()
    }

    /// The position after the last move.
    #[must_use]
    pub fn end(&self) -> Position {
        self.moves.iter().fold(self.start.clone(), |position, m| position.play(*m))
    }
}

struct Builder {
    game: usize,
}

struct Building {
    game: SimGame,
    position: Position,
}

impl Visitor for Builder {
    type Tags = Tags;
    type Movetext = Building;
    type Output = Result<SimGame, GameError>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        tags.set(&String::from_utf8_lossy(name), value.decode_utf8_lossy());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Building> {
        let chess960 = tags
            .get("Variant")
            .map(|name| name.to_lowercase().replace([' ', '-', '_'], ""))
            .is_some_and(|name| name.contains("960") || name.contains("fischer"));
        let mode = if chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let start = match tags.get("FEN") {
            Some(fen) => match Position::from_fen(fen, mode) {
                Ok(start) => start,
                Err(error) => {
                    return ControlFlow::Break(Err(GameError::Start {
                        game: self.game,
                        why: error.to_string(),
                    }));
                }
            },
            None => Position::default(),
        };
        let result = match tags.get("Result") {
            Some("1-0") => Some(GameResult::WhiteWins),
            Some("0-1") => Some(GameResult::BlackWins),
            Some("1/2-1/2") => Some(GameResult::Draw),
            _ => None,
        };
        let control = tags.get("TimeControl").and_then(Control::from_pgn).unwrap_or_default();
        let game = SimGame { tags, start: start.clone(), result, control, ..SimGame::default() };
        ControlFlow::Continue(Building { game, position: start })
    }

    fn san(&mut self, building: &mut Building, san: SanPlus) -> ControlFlow<Self::Output> {
        let found = building.position.chess().and_then(|chess| san.san.to_move(chess).ok());
        let Some(m) = found else {
            return ControlFlow::Break(Err(GameError::Move {
                game: self.game,
                ply: building.game.moves.len() + 1,
                san: san.to_string(),
            }));
        };
        building.position = building.position.play(m);
        building.game.moves.push(m);
        building.game.clocks.push(None);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, building: &mut Building, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        let text = String::from_utf8_lossy(comment.as_bytes());
        if let (Some(seconds), Some(last)) = (clk(&text), building.game.clocks.last_mut()) {
            *last = Some(seconds);
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Building) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, building: Building) -> Self::Output {
        Ok(building.game)
    }
}

/// The time of a `[%clk H:MM:SS]`, even with a line break inside.
fn clk(comment: &str) -> Option<Seconds> {
    let (_, rest) = comment.split_once("%clk")?;
    let time = rest.split(']').next()?.trim();
    let mut seconds = 0u32;
    for part in time.split(':') {
        let whole = part.split('.').next()?;
        seconds = seconds.checked_mul(60)?.checked_add(u32::from_str(whole).ok()?)?;
    }
    Some(Seconds(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_moves_clocks_and_control() {
        let text = "[White \"A\"]\n[Result \"1-0\"]\n[TimeControl \"40/7200:3600+30\"]\n\n\
                    1. e4 {[%clk\n1:59:50]} e5 (1... c5 {[%clk 1:00:00]} 2. c3) 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n";
        let games = SimGame::from_pgn(text).expect("a game");
        assert_eq!(games[0].uci(), ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]);
        assert_eq!(games[0].clocks[0], Some(Seconds(7190)));
        assert_eq!(games[0].clocks[1], None);
        assert_eq!(games[0].control.periods[0], Period { moves: Some(40), seconds: 7200, increment: 0 });
        assert_eq!(games[0].control.periods[1], Period { moves: None, seconds: 3600, increment: 30 });
        assert_eq!(games[0].result, Some(GameResult::WhiteWins));
    }

    #[test]
    fn an_illegal_move_is_named() {
        let error = SimGame::from_pgn("1. e4 e5 2. Ke3 *").expect_err("illegal");
        assert_eq!(error.to_string(), "game 1: Ke3 is not a legal move at ply 3");
    }
}
