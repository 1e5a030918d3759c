//! A table on the test bench: evidence as short text, the line as it stands.

use arbiterd::{
    record::{Position, Timestamp},
    track::{AtPress, Cause, ClockSense, Evidence, Finding, Irregular, Track, TrackedPly},
    wire::{BoardSquare, Content, Squares},
};
use shakmaty::{Board, CastlingMode, Color, Square};

/// One board under test.
pub(crate) struct Table {
    pub(crate) track: Track,
    pub(crate) line: Vec<TrackedPly>,
    pub(crate) confirmed: usize,
    pub(crate) found: Vec<(i64, Finding)>,
    running: Option<Color>,
    now: i64,
}

impl Table {
    pub(crate) fn new(start: &Position) -> Self {
        Self {
            track: Track::new(start),
            line: Vec::new(),
            confirmed: 0,
            found: Vec::new(),
            running: None,
            now: 0,
        }
    }

    /// From a FEN; empty for the usual start.
    pub(crate) fn fen(fen: &str) -> Self {
        let fen =
            if fen.is_empty() { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" } else { fen };
        Self::new(&Position::from_fen(fen, CastlingMode::Standard).unwrap())
    }

    pub(crate) fn observe(&mut self, at: i64, evidence: &Evidence) {
        self.now = at;
        let mut out = Vec::new();
        self.track.advance(Timestamp::from_millis(at), &mut out);
        self.track.observe(Timestamp::from_millis(at), evidence, &mut out);
        self.take(at, out);
    }

    pub(crate) fn advance(&mut self, at: i64) {
        self.now = at;
        let mut out = Vec::new();
        self.track.advance(Timestamp::from_millis(at), &mut out);
        self.take(at, out);
    }

    fn take(&mut self, at: i64, out: Vec<Finding>) {
        for finding in out {
            match &finding {
                Finding::Line { from, plies, .. } => {
                    assert!(*from <= self.line.len(), "the line has no ply {from} to go on from");
                    assert!(
                        *from >= self.confirmed
                            || matches!(finding, Finding::Line { cause: Cause::Corrected, .. })
                    );
                    self.line.truncate(*from);
                    self.line.extend(plies.iter().cloned());
                }
                Finding::Confirmed { count } => {
                    assert!(*count <= self.line.len());
                    self.confirmed = *count;
                }
                _ => {}
            }
            self.found.push((at, finding));
        }
    }

    /// Plays a script: events parted by `;`, each `time what`. `e2 -` and `e4 P` are squares,
    /// `run w`, `run -`, `run none` the clock (a change of side is a press), `dump FEN` a board,
    /// `down`, `up` the link.
    pub(crate) fn play(&mut self, script: &str) -> &mut Self {
        for event in script.split(';').map(str::trim).filter(|event| !event.is_empty()) {
            let mut words = event.split_whitespace();
            let at: i64 = words.next().unwrap().parse().unwrap();
            let what = words.next().unwrap();
            match what {
                "run" => self.run(at, words.next().unwrap()),
                "dump" => {
                    let board: Board = words.next().unwrap().parse().unwrap();
                    self.observe(at, &Evidence::Dump(Squares::from_board(&board, false)));
                }
                "down" => self.observe(at, &Evidence::LinkDown),
                "up" => self.observe(at, &Evidence::LinkUp),
                square => {
                    let square: Square = square.parse().unwrap();
                    let letter = words.next().unwrap();
                    let content = match letter {
                        "-" => Content::Empty,
                        letter => Content::from_letter(letter.chars().next().unwrap()).unwrap(),
                    };
                    let square = BoardSquare::from_chess(square, false);
                    self.observe(at, &Evidence::Square(square, content));
                }
            }
        }
        self
    }

    pub(crate) fn run(&mut self, at: i64, side: &str) {
        let now = match side {
            "w" => Some(Color::White),
            "b" => Some(Color::Black),
            _ => None,
        };
        if let (Some(before), Some(after)) = (self.running, now)
            && before != after
        {
            self.observe(at, &Evidence::Press { by: before });
        }
        let sense = match (side, now) {
            ("none", _) => ClockSense::Absent,
            (_, Some(side)) => ClockSense::Running(side),
            _ => ClockSense::Stopped,
        };
        if now != self.running || now.is_none() {
            self.observe(at, &Evidence::Clock(sense));
        }
        self.running = now;
    }

    /// Lets so much time pass that nothing is due any more, and gives the moves.
    pub(crate) fn end(&mut self) -> Vec<String> {
        self.advance(self.now + 60_000);
        self.moves()
    }

    pub(crate) fn moves(&self) -> Vec<String> {
        self.line.iter().map(|ply| ply.uci.to_string()).collect()
    }

    /// What presses found, as words.
    pub(crate) fn presses(&self) -> Vec<&'static str> {
        self.found
            .iter()
            .filter_map(|(_, finding)| match finding {
                Finding::Press { board, .. } => Some(match board {
                    AtPress::Move { .. } => "move",
                    AtPress::Unchanged => "unchanged",
                    AtPress::Irregular { what, .. } => match what {
                        Irregular::PieceMoved { .. } => "piece-moved",
                        Irregular::Castled { .. } => "castled",
                        Irregular::RookHome { .. } => "rook-home",
                        Irregular::VictimLeft { .. } => "victim-left",
                        Irregular::CaptureHalf { .. } => "capture-half",
                        Irregular::PawnOnLastRank { .. } => "pawn-on-last-rank",
                        Irregular::PromotionSquareEmpty { .. } => "promotion-square-empty",
                        Irregular::InAir { .. } => "in-air",
                        Irregular::OutOfTurn { .. } => "out-of-turn",
                        Irregular::MovePlus { .. } => "move-plus",
                        Irregular::Other => "other",
                    },
                }),
                _ => None,
            })
            .collect()
    }

    /// How often something like this was found.
    pub(crate) fn count(&self, like: impl Fn(&Finding) -> bool) -> usize {
        self.found.iter().filter(|(_, finding)| like(finding)).count()
    }

    /// Nothing that a person would have to look at.
    pub(crate) fn quiet(&self) -> bool {
        self.count(|finding| {
            matches!(
                finding,
                Finding::Differ(_)
                    | Finding::Gap(_)
                    | Finding::Rivals(_)
                    | Finding::OutOfTurn { .. }
                    | Finding::Displaced(_)
                    | Finding::SquareFault { .. }
                    | Finding::TakenBackAfterPress { .. }
                    | Finding::Pending { .. }
                    | Finding::WrongStart(_)
                    | Finding::Sideways
                    | Finding::ActivityWhileStopped
                    | Finding::ActivityAfterEnd
                    | Finding::Press { board: AtPress::Irregular { .. } | AtPress::Unchanged, .. }
            )
        }) == 0
    }
}
