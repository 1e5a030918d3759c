//! What comes out of the tracker of one table.

use shakmaty::{Board, Color, Move, Piece, Square, uci::UciMove};

use crate::record::{GameResult, PlySource, PlyState, Position, Timestamp};

/// A ply as the tracker reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedPly {
    /// The move in the form of [`Position::uci`].
    pub uci: UciMove,
    /// SAN, or squares for an irregular ply.
    pub san: String,
    /// The position it led to.
    pub after: Position,
    /// Not legal, but it stood.
    pub irregular: bool,
    /// The position a person set before it, if one was.
    pub origin: Option<Box<Position>>,
    /// Provisional or confirmed.
    pub state: PlyState,
    /// How it was found.
    pub source: PlySource,
    /// When the piece stood on its square.
    pub made_at: Timestamp,
}

/// Why the line changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A ply (or several) was played on.
    Played,
    /// The same hand went on: an earlier reading was replaced.
    Revised,
    /// A provisional ply was taken back before the press.
    TakenBack,
    /// A gap was bridged: one legal sequence alone explains the position.
    Bridged,
    /// Read from the board's own memory.
    Recovered,
    /// An irregular ply stood: play went on from it.
    IrregularStands,
    /// Kings carried to the centre as a result signal were stripped.
    KingsStripped,
    /// A person corrected it.
    Corrected,
}

/// A square on which sensed and expected differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SquareDiff {
    /// Which square of the game.
    pub square: Square,
    /// What the position has there.
    pub expected: Option<Piece>,
    /// What is sensed there.
    pub sensed: Option<Piece>,
}

/// What a square does that a healthy one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SquareFault {
    /// It changes to and fro.
    Flicker,
    /// A piece is not read while the game goes on elsewhere.
    Missing,
    /// It reads a piece that is not there.
    Ghost,
}

/// What the board showed against the position when the clock was pressed and no legal move
/// explained it, in neutral words. The mover is the side that had the move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// One man of the mover went from one square to another, not by a legal move. Covers wrong
    /// geometry, moves into or out of check, own or royal captures, late en passant.
    PieceMoved {
        /// From.
        from: Square,
        /// To.
        to: Square,
        /// What left `from`.
        piece: Piece,
        /// What stood on `to` before.
        captured: Option<Piece>,
        /// What stands on `to` now, if that is another man than left (a promotion).
        became: Option<Piece>,
    },
    /// King and rook went to castled squares, but castling is not legal here.
    Castled {
        /// The king's square before.
        king: Square,
        /// The rook's square before.
        rook: Square,
    },
    /// King went two squares (or to its castled square), the rook is still at home.
    RookHome {
        /// The castling move.
        castling: Move,
        /// Castling would have been legal.
        legal: bool,
    },
    /// A legal capture was made but the taken man still stands (en passant).
    VictimLeft {
        /// The capture.
        capture: Move,
        /// Where the victim stands.
        victim: Square,
    },
    /// A man was taken off and the capturing man is not (yet) down, or has not come.
    CaptureHalf {
        /// Where the taken man stood.
        victim: Square,
    },
    /// A pawn stands on the last rank.
    PawnOnLastRank {
        /// Where it came from.
        from: Square,
        /// Where it stands.
        to: Square,
    },
    /// The promoting pawn is gone and the promotion square reads empty.
    PromotionSquareEmpty {
        /// The moves it could be.
        candidates: Vec<Move>,
    },
    /// A man of the mover is off the board (in a hand) and nothing else explains it.
    InAir {
        /// Where it stood.
        square: Square,
        /// Which man.
        piece: Piece,
    },
    /// A man of the side *not* on move was moved, and none of the mover's.
    OutOfTurn {
        /// From.
        from: Square,
        /// To.
        to: Square,
        /// Which man.
        piece: Piece,
    },
    /// A legal move was made, but other squares differ too.
    MovePlus {
        /// The legal move.
        played: Move,
    },
    /// Nothing simple.
    Other,
}

/// What a press found on the board (after the settling time of scan and clock).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPress {
    /// Ply `index` of the line, complete.
    Move {
        /// Which ply.
        index: usize,
        /// The press came while the piece was still in the air (settled legally right after).
        before_release: bool,
    },
    /// The position as it was at the start of the turn.
    Unchanged,
    /// Something no legal move explains.
    Irregular {
        /// What it looks like.
        what: Irregular,
        /// The board as it stood, in game squares.
        sensed: Board,
        /// The squares that differ from the position.
        squares: Vec<SquareDiff>,
    },
}

/// Lines of which one was played. A person chooses with
/// [`Correction::Choose`](super::Correction::Choose).
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The plies that are not in question.
    pub index: usize,
    /// The position after them.
    pub last: Position,
    /// How many plies of the line as told the candidates may take the place of.
    pub replaces: usize,
    /// Legal sequences that would explain the board, at most ten, the likeliest first.
    pub candidates: Vec<Vec<UciMove>>,
}

/// What the tracker found. Squares are the game's.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A square changed. Every sensed change that is not masked as a fault, as it happened.
    Touch {
        /// When it was reported.
        at: Timestamp,
        /// Which square.
        square: Square,
        /// What it read before.
        was: Option<Piece>,
        /// What it reads now.
        now: Option<Piece>,
    },
    /// From ply `from` on the line now reads so; later plies that stood before are gone.
    Line {
        /// The first ply that changes (0-based); equals the old length when plies are added.
        from: usize,
        /// The plies that stand from there on.
        plies: Vec<TrackedPly>,
        /// Why.
        cause: Cause,
    },
    /// All plies before `count` are confirmed.
    Confirmed {
        /// How many plies from the start are confirmed.
        count: usize,
    },
    /// The clock was pressed. Comes once the board has settled, with the time of the press.
    Press {
        /// When the lever was reported.
        at: Timestamp,
        /// Whose clock stopped.
        by: Color,
        /// Who had the move on the board.
        mover: Color,
        /// What stood there.
        board: AtPress,
    },
    /// No press yet, but the man has been released: what stands is no legal move. Cleared by
    /// [`Finding::Agree`], by the next [`Finding::Line`] or turned into a [`Finding::Press`].
    Pending {
        /// What it looks like.
        what: Irregular,
        /// The squares that differ from the position.
        squares: Vec<SquareDiff>,
    },
    /// After an irregular press the board shows the position before it again.
    Restored,
    /// The game stands here now and goes on from here, whatever the plies before `index` say: a
    /// wrong set-up that was played from, or a position a person set.
    Base {
        /// The number of plies that stand before this position.
        index: usize,
        /// The position.
        position: Position,
    },
    /// Sensed and position differ for long or at a press, and no reading explains it.
    Differ(Vec<SquareDiff>),
    /// Sensed and position agree again.
    Agree,
    /// More than one line, or none, explains the board: these could be it. Taken back by
    /// [`Finding::Agree`].
    Gap(Choice),
    /// A ply stands though another line that leads to the same board explains what was read as well:
    /// which was played no later reading tells. Stands until a person chooses.
    Rivals(Choice),
    /// A person chose the line that goes on after so many plies, be it another or the one that stood.
    Chosen {
        /// [`Choice::index`].
        index: usize,
    },
    /// A confirmed ply was undone on the board; the record stays.
    TakenBackAfterPress {
        /// Which ply.
        index: usize,
    },
    /// A man of the side not on move was moved.
    OutOfTurn {
        /// From.
        from: Square,
        /// To.
        to: Square,
        /// Which man.
        piece: Piece,
    },
    /// Several men were knocked about; names the squares.
    Displaced(Vec<SquareDiff>),
    /// A square misbehaves; the game goes on where the rest decides.
    SquareFault {
        /// Which square of the game.
        square: Square,
        /// How.
        fault: SquareFault,
    },
    /// It is well again.
    SquareWell {
        /// Which square of the game.
        square: Square,
    },
    /// Which way round the board lies, found from the start position.
    Orientation {
        /// Turned by 180 degrees: remapped, nothing to do.
        rotated: bool,
    },
    /// The men stand turned by 90 degrees (Laws 7.2.2).
    Sideways,
    /// The start position of the game stands on the board: it is armed.
    StartPosition,
    /// Before the first move the board does not show the start position.
    WaitingForStart,
    /// Play began, or begins, from a wrong set-up; names the squares.
    WrongStart(Vec<SquareDiff>),
    /// The start array stands on the board after the game: ready for the next one.
    NextGameReady,
    /// Both kings (or a result piece) signal a result; any placement replaces an earlier one.
    KingsSignal(GameResult),
    /// Something moved while the clock is stopped.
    ActivityWhileStopped,
    /// Something moved after the end of the game.
    ActivityAfterEnd,
    /// The decoder wants a full dump now.
    WantsDump,
}
