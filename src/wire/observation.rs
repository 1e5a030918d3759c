//! What any board can say: squares, clock, identity, the state of its link.

use std::fmt;

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Piece};

/// A square in the device's own numbering, 0 to 63: 0 is a8, 7 is h8, 63 is h1 when the connector
/// is at White's left hand (DGT protocol, "squares and orientation"). A board never renumbers when
/// it is turned round; which chess square this is, the game has to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct BoardSquare(u8);

impl BoardSquare {
    /// The square with this number, if there is one.
    #[must_use]
    pub fn new(index: u8) -> Option<Self> {
        (index < 64).then_some(Self(index))
    }

    /// 0 to 63.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The chess square this is: as numbered, or turned by 180 degrees.
    #[must_use]
    pub fn to_chess(self, rotated: bool) -> shakmaty::Square {
        let index = if rotated { 63 - self.0 } else { self.0 };
        // Device rows run from rank 8 down, shakmaty's from rank 1 up: flip the row.
        shakmaty::Square::new(u32::from(index) ^ 0o70)
    }

    /// The device's number of a chess square: the reverse of [`BoardSquare::to_chess`].
    #[must_use]
    pub fn from_chess(square: shakmaty::Square, rotated: bool) -> Self {
        let index = (u32::from(square) ^ 0o70) as u8;
        Self(if rotated { 63 - index } else { index })
    }

    /// All squares in the device's order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..64).map(Self)
    }
}

impl TryFrom<u8> for BoardSquare {
    type Error = String;
    fn try_from(index: u8) -> Result<Self, String> {
        Self::new(index).ok_or_else(|| format!("board square {index} is not 0 to 63"))
    }
}

impl From<BoardSquare> for u8 {
    fn from(square: BoardSquare) -> u8 {
        square.0
    }
}

/// What a square reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Content {
    /// Nothing.
    #[default]
    Empty,
    /// A piece the board knows.
    Piece(Piece),
    /// Something, but the board cannot tell what (boards that feel only occupancy).
    Occupied,
    /// The special piece that shows a result: White wins, Black wins, or (`None`) a draw
    /// (DGT piece codes 0d to 0f).
    ResultPiece(Option<Color>),
}

impl Content {
    /// The piece, if a known one stands here.
    #[must_use]
    pub fn piece(self) -> Option<Piece> {
        match self {
            Self::Piece(piece) => Some(piece),
            Self::Empty | Self::Occupied | Self::ResultPiece(_) => None,
        }
    }

    /// One letter: a FEN letter, `.` empty, `?` occupied, `+` White wins, `-` Black wins, `=` draw.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Empty => '.',
            Self::Piece(piece) => piece.char(),
            Self::Occupied => '?',
            Self::ResultPiece(Some(Color::White)) => '+',
            Self::ResultPiece(Some(Color::Black)) => '-',
            Self::ResultPiece(None) => '=',
        }
    }

    /// The reverse of [`Content::letter`].
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            '.' => Self::Empty,
            '?' => Self::Occupied,
            '+' => Self::ResultPiece(Some(Color::White)),
            '-' => Self::ResultPiece(Some(Color::Black)),
            '=' => Self::ResultPiece(None),
            other => Self::Piece(Piece::from_char(other)?),
        })
    }
}

impl From<Option<Piece>> for Content {
    fn from(piece: Option<Piece>) -> Self {
        piece.map_or(Self::Empty, Self::Piece)
    }
}

impl Serialize for Content {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(self.letter())
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let letter = char::deserialize(deserializer)?;
        Self::from_letter(letter)
            .ok_or_else(|| serde::de::Error::custom(format!("{letter:?} is no piece letter")))
    }
}

/// All 64 squares in the device's order. Written as one 64-letter string.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Squares(pub [Content; 64]);

impl Squares {
    /// What one square reads.
    #[must_use]
    pub fn get(&self, square: BoardSquare) -> Content {
        self.0[square.index()]
    }

    /// Changes one square.
    pub fn set(&mut self, square: BoardSquare, content: Content) {
        self.0[square.index()] = content;
    }

    /// The squares of a chess board, as a device turned this way would number them.
    #[must_use]
    pub fn from_board(board: &shakmaty::Board, rotated: bool) -> Self {
        let mut squares = Self::default();
        for square in BoardSquare::all() {
            squares.set(square, board.piece_at(square.to_chess(rotated)).into());
        }
        squares
    }

    /// The known pieces as a chess board; result pieces and unknown ones are left out.
    #[must_use]
    pub fn to_board(&self, rotated: bool) -> shakmaty::Board {
        let mut board = shakmaty::Board::empty();
        for square in BoardSquare::all() {
            if let Some(piece) = self.get(square).piece() {
                board.set_piece_at(square.to_chess(rotated), piece);
            }
        }
        board
    }
}

impl Default for Squares {
    fn default() -> Self {
        Self([Content::Empty; 64])
    }
}

impl fmt::Display for Squares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|content| write!(f, "{}", content.letter()))
    }
}

impl fmt::Debug for Squares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Squares({self})")
    }
}

impl Serialize for Squares {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Squares {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut squares = Self::default();
        let mut letters = text.chars();
        for square in BoardSquare::all() {
            let content = letters.next().and_then(Content::from_letter);
            squares
                .set(square, content.ok_or_else(|| serde::de::Error::custom("a board is 64 piece letters"))?);
        }
        Ok(squares)
    }
}

/// One side of a chess clock. Left and right are as seen from the front of the clock and do not
/// turn with the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct ClockSide {
    /// Time left, in seconds.
    pub seconds: u32,
    /// The flag shows. (DGT: fallen and blocked at zero, or shown while the next period runs.)
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flag: bool,
    /// The flag is down and the clock stays blocked at zero (only together with `flag`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
}

/// One reading of a connected clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClockReading {
    /// The left player's side: White's when the connector is at White's left.
    pub left: ClockSide,
    /// The right player's side.
    pub right: ClockSide,
    /// False while the clock is stopped by its start/stop button.
    pub running: bool,
    /// Whose turn it is by the lever: the high side is to move. True = the left side.
    pub left_to_move: bool,
    /// The clock's own battery is low.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub battery_low: bool,
}

/// What the board says of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockState {
    /// A clock is connected and reads this.
    Reading(ClockReading),
    /// A clock is connected, but not all of it could be read (scenario files; makes whose clocks
    /// tell less).
    Partial {
        /// The left side, if known.
        left: Option<ClockSide>,
        /// The right side, if known.
        right: Option<ClockSide>,
        /// False while the clock is stopped by its button.
        running: bool,
        /// Whose turn it is by the lever.
        left_to_move: bool,
    },
    /// No clock is connected.
    Absent,
    /// A time message that cannot be true (hours above 9, minutes or seconds above 59, not BCD);
    /// its times are dropped.
    Garbage,
}

/// A battery's state as the board reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatteryReading {
    /// Charge left, percent 0 to 100.
    pub percent: u8,
    /// Minutes left at the present use, if the board knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes_left: Option<u16>,
    /// It is being charged.
    #[serde(default)]
    pub charging: bool,
}

/// Who answers on a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct BoardIdentity {
    /// The serial number as the board tells it; a board is bound to a table by it.
    pub serial: String,
    /// The make and model in words, such as `DGT USB`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Firmware: the two raw bytes (main, minor); sources differ on how the minor is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<(u8, u8)>,
    /// The port it was found on, such as `/dev/ttyUSB0`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub port: String,
}

/// What happened to the line itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkEvent {
    /// The board answers; who it is.
    Up(BoardIdentity),
    /// The board is gone, with the reason in words for the operator.
    Down(String),
    /// Bytes that belong to no message were dropped, so many.
    Garbage(u32),
    /// A message was cut and the decoder started anew at the next header; so many bytes dropped.
    Resync(u32),
    /// A frame with a wrong checksum was refused (bus mode).
    Checksum,
}

/// One event out of the board's own memory (DGT: the EE log, or from-start on the bus).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveredEvent {
    /// A square changed; `quick` when within 250 ms of the change before.
    Square {
        /// Which square, in the device's numbering.
        square: BoardSquare,
        /// What it read from then on.
        content: Content,
        /// Within 250 ms of the change before.
        quick: bool,
    },
    /// The lever moved and this side's clock stopped at this time.
    Halted {
        /// True for the left side of the clock.
        left: bool,
        /// Time left on it, in seconds.
        seconds: u32,
    },
    /// The board was powered up: the piece tags that follow are a dump, not moves.
    PowerUp,
    /// The start position stood, connector at White's left (`rotated` false) or right.
    StartPosition {
        /// The board was turned by 180 degrees.
        rotated: bool,
    },
    /// The board was empty.
    EmptyBoard,
    /// The start tag written when a game was started on the bus: piece tags follow.
    StartTag,
}

/// Whatever a board can say, in one type for all makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// One square changed and now reads this. A hint: updates can be lost.
    Square(BoardSquare, Content),
    /// The whole board as it stands. The truth.
    Dump(Squares),
    /// A clock reading.
    Clock(ClockState),
    /// The line came up, went down or misbehaved.
    Link(LinkEvent),
    /// The board's battery.
    Battery(BatteryReading),
    /// Events from the board's own memory, oldest first, asked for after a gap.
    Recovered(Vec<RecoveredEvent>),
}
