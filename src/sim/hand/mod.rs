//! Hands that play given games on a board, as people do; every choice from one seed.
//!
//! [`script`] turns games into a list of physical acts with their times ([`Script`]), and keeps the
//! truth of what was played beside it. It knows no sensor: what a board makes of the acts is decided
//! by `sim::device`. The habits below are meant to be as nasty as life at a tournament; they follow
//! published reports of what went wrong on live boards and the phenomena counted in captures of
//! real boards, and are not tuned to what some decoder can read.
//!
//! | level | what the hands do |
//! | --- | --- |
//! | [`Level::Tidy`] | One piece at a time: the captured piece leaves first, then the mover is lifted, set down on its square and released; then the press. Castling is king, then rook. A promoted pawn is taken off before the new piece is set. Results by the kings, or mate left standing. |
//! | [`Level::Human`] | What a hall full of players does in classical and rapid play: every eighth move is dragged over the squares between, some with a rest on the way; pieces are held, touched down and lifted again, set on a wrong square and corrected before the press; one's own and sometimes the opponent's pieces are adjusted; captures come in either order, mostly as one sweep that leaves the square empty for a tenth of a second, sometimes with the victim pushed aside first; castling in either order, with both hands, or with the second half seconds late; promotions in every order; now and then the opponent replies before the press, or a press is forgotten. Kings signal the result in either order, from wherever they stand, other pieces swept aside, and one time in a hundred on the wrong squares first. Some stay to analyse with the clock stopped. |
//! | [`Level::Blitz`] | 0.3 s from press to press on average, half of the plies in less than 0.26 s, with short thoughts between (a carried man takes 0.09 s or more: no hand is quicker): presses a little before the piece stands or well after it, replies before the press, captures as one overlapping sweep, hasty slides, castling with both hands, pieces set down badly and corrected at once. |
//! | [`Level::Rough`] | Human, and a bad board: one field update in a hundred is lost on the way; squares show pieces that are not there; one square loses its piece for a moment again and again; pieces are knocked over, roll to a neighbouring square and are put right before or after the press. |
//!
//! What no level does: press with the board different from the game's position (an illegal move is
//! an [`Incident`], asked for; a piece knocked over at the rough level may lie until after the
//! press), or lose a piece for good.

mod carry;
mod ending;
mod ply;
mod trouble;

use shakmaty::{Board, Color, Piece, Square};

use crate::{
    record::Position,
    sim::{Action, PlayedGame, PlayedPly, Script, SimGame},
};

/// How people behave. See the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// As in a textbook.
    Tidy,
    /// As at a classical tournament.
    Human,
    /// As in the last seconds of a blitz game, all game long.
    Blitz,
    /// Human hands on a bad board.
    Rough,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::Tidy, Self::Human, Self::Blitz, Self::Rough];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tidy => "tidy",
            Self::Human => "human",
            Self::Blitz => "blitz",
            Self::Rough => "rough",
        }
    }

    /// Field updates lost between board and reader, per thousand.
    #[must_use]
    pub fn lost_permille(self) -> u32 {
        if self == Self::Rough { 10 } else { 0 }
    }

    fn human(self) -> bool {
        matches!(self, Self::Human | Self::Rough)
    }
}

impl std::str::FromStr for Level {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| format!("{name:?} is no level of play: tidy, human, blitz or rough"))
    }
}

/// How long they think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As the level goes by itself: seconds at a board, a fraction of one in blitz.
    Level,
    /// On average so many milliseconds a move, most moves faster, some much slower.
    Mean(u64),
    /// By the clocks in the PGN where it has them, else so many milliseconds on average.
    Clocks(u64),
}

/// Something asked for at a certain ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incident {
    /// At this half-move, from 0. One that does not fit there (castling where no one castles) is
    /// left out.
    pub ply: usize,
    /// What happens.
    pub kind: IncidentKind,
}

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncidentKind {
    /// The player makes an illegal move and presses; the clock is stopped, the opponent gets two
    /// minutes, the move is taken back and the right one played with the same piece.
    IllegalMove,
    /// The piece is dragged over the squares between and rests on one of them.
    Slide,
    /// A neighbouring piece is knocked over and put right.
    Knock,
    /// The press is forgotten until the opponent points it out.
    ForgottenPress,
    /// The player castles rook first.
    RookFirst,
    /// The player sets the piece on a wrong square and corrects it before the press.
    WrongSquare,
    /// Before the clock is started a guest makes a first move, which is taken back.
    CeremonialMove,
}

/// How games are to be played.
#[derive(Clone, Debug)]
pub struct HandOptions {
    /// How people behave.
    pub level: Level,
    /// How long they think.
    pub pace: Pace,
    /// Every choice comes from it.
    pub seed: u64,
    /// Asked-for events, by game.
    pub incidents: Vec<Vec<Incident>>,
    /// After the last game the pieces are set up for another one.
    pub reset_after_last: bool,
    /// Before the first game's clock starts, the board rests so long, in milliseconds.
    pub wait_ms: u64,
}

impl HandOptions {
    /// This level at its own pace.
    #[must_use]
    pub fn new(level: Level, seed: u64) -> Self {
        Self { level, pace: Pace::Level, seed, incidents: Vec::new(), reset_after_last: true, wait_ms: 3_000 }
    }
}

/// Plays these games one after the other on one board.
#[must_use]
pub fn script(games: &[SimGame], options: &HandOptions) -> Script {
    let start = games.first().map_or_else(Board::default, |game| game.start.board().clone());
    let mut hands = Hands {
        rng: fastrand::Rng::with_seed(options.seed),
        level: options.level,
        now: options.wait_ms,
        board: start.clone(),
        acts: Vec::new(),
        last_press: 0,
        last_put: 0,
        incidents: Vec::new(),
        clock_ms: shakmaty::ByColor::default(),
        pressed_late: None,
        knocked: Vec::new(),
        budget_ms: shakmaty::ByColor::default(),
    };
    let mut played = Vec::new();
    for (index, game) in games.iter().enumerate() {
        hands.incidents = options.incidents.get(index).cloned().unwrap_or_default();
        if index > 0 || hands.board != *game.start.board() {
            hands.set_up(game.start.board());
            hands.wait(2_000, 20_000);
        }
        let truth = hands.play_game(game, options.pace);
        played.push(truth);
        if index + 1 < games.len() || options.reset_after_last {
            let next = games.get(index + 1).map_or_else(Board::default, |next| next.start.board().clone());
            hands.wait(1_500, 8_000);
            hands.set_up(&next);
        }
        if let Some(last) = played.last_mut() {
            last.over_ms = hands.now;
        }
    }
    hands.acts.sort_by_key(|(at, _)| *at);
    let end_ms = hands.acts.last().map_or(hands.now, |(at, _)| (*at).max(hands.now));
    Script { board: start, actions: hands.acts, games: played, end_ms }
}

/// The hands at one board.
struct Hands {
    rng: fastrand::Rng,
    level: Level,
    /// The moment the hands have got to, in milliseconds.
    now: u64,
    /// What really stands on the board.
    board: Board,
    acts: Vec<(u64, Action)>,
    last_press: u64,
    /// When a piece was last set down.
    last_put: u64,
    incidents: Vec<Incident>,
    /// What each clock shows by the PGN, in milliseconds, for the pace.
    clock_ms: shakmaty::ByColor<Option<i64>>,
    /// The last ply's press is still to come, at this moment, by this player.
    pressed_late: Option<(u64, Color)>,
    /// Pieces not yet put right.
    knocked: Vec<trouble::Knocked>,
    /// About what is left on each clock, in milliseconds: nobody thinks an hour with a minute left.
    budget_ms: shakmaty::ByColor<i64>,
}

impl Hands {
    fn chance(&mut self, of_thousand: u32) -> bool {
        self.rng.u32(0..1000) < of_thousand
    }

    /// The first number in blitz, the second at a human table, never at a tidy one.
    fn sometimes(&mut self, blitz: u32, human: u32) -> bool {
        let share = match self.level {
            Level::Tidy => 0,
            Level::Blitz => blitz,
            Level::Human | Level::Rough => human,
        };
        self.chance(share)
    }

    /// Lets time pass, from `least` to `most` milliseconds.
    fn wait(&mut self, least: u64, most: u64) {
        self.now += self.rng.u64(least..=most);
    }

    /// A movement of the hand: this long at a human table, quicker in blitz.
    fn reach(&mut self) {
        match self.level {
            // No hand takes a man up, carries it and lets it go in less than a tenth of a second.
            Level::Blitz => self.wait(90, 180),
            Level::Tidy => self.wait(350, 800),
            Level::Human | Level::Rough => {
                if self.chance(150) {
                    self.wait(60, 200);
                } else {
                    self.wait(180, 900);
                }
            }
        }
    }

    fn log(&mut self, action: Action) {
        self.acts.push((self.now, action));
    }

    fn lift(&mut self, square: Square) -> Option<Piece> {
        let piece = self.board.remove_piece_at(square)?;
        self.log(Action::Lift(square));
        Some(piece)
    }

    fn put(&mut self, square: Square, piece: Piece) {
        self.board.set_piece_at(square, piece);
        self.last_put = self.now;
        self.log(Action::Put(square, piece));
    }

    fn asked_for(&self, ply: usize, kind: IncidentKind) -> bool {
        self.incidents.contains(&Incident { ply, kind })
    }

    /// Thinks before a move. `spent` is what the PGN's clocks say of it, in milliseconds.
    fn think(&mut self, pace: Pace, spent: Option<u64>, mover: Color) {
        let mean = match (pace, spent) {
            (Pace::Clocks(_), Some(spent)) => {
                self.now += spent;
                return;
            }
            (Pace::Mean(mean) | Pace::Clocks(mean), _) => mean,
            (Pace::Level, _) => match self.level {
                Level::Blitz => {
                    if self.chance(20) {
                        self.wait(300, 2_000);
                    } else {
                        self.wait(10, 100);
                    }
                    return;
                }
                Level::Tidy => 3_000,
                Level::Human | Level::Rough => 4_000,
            },
        };
        // Mostly short, sometimes long: exponential with a floor.
        let share = -(1.0 - self.rng.f64()).max(1e-4).ln();
        let least = (mean / 6).min(800);
        let wish = least + ((mean - least) as f64 * share) as u64;
        self.now += wish.min(self.budget_ms[mover].max(0) as u64 / 10);
    }

    fn play_game(&mut self, game: &SimGame, pace: Pace) -> PlayedGame {
        self.log(Action::SetClock(game.control.clone()));
        self.wait(1_000, 4_000);
        self.ceremony(&game.start);
        let started_ms = self.now;
        self.clock_ms = shakmaty::ByColor::new_with(|_| None);
        let whole = game.control.periods.iter().map(|period| i64::from(period.seconds) * 1000).sum();
        self.budget_ms = shakmaty::ByColor::new_with(|_| whole);
        self.last_press = self.now;
        if game.start.turn() == Color::Black {
            // The lever is laid so that Black is to move before the start button.
            self.log(Action::Press(Color::White));
        }
        self.log(Action::Start);
        let mut position = game.start.clone();
        let mut plies = Vec::new();
        for (index, m) in game.moves.iter().enumerate() {
            let spent = self.spent(game, index, position.turn());
            let before = self.now;
            self.play_ply(&position, *m, index, pace, spent);
            debug_assert!(self.now >= before, "time goes on");
            let next = position.play(*m);
            debug_assert!(
                !self.knocked.is_empty() || self.board == *next.board(),
                "ply {index} of {:?}",
                game.uci()
            );
            let increment = game.control.periods.first().map_or(0, |period| period.increment);
            self.budget_ms[position.turn()] += i64::from(increment) * 1000;
            plies.push(PlayedPly { uci: position.uci(*m), made_ms: self.last_put, pressed_ms: None });
            let last = index + 1 == game.moves.len();
            self.press(&position, &next, index, last);
            position = next;
        }
        self.flush_late_press();
        self.restore_knocked();
        let ended_ms = self.finish(&position, game.result);
        self.weak_square(started_ms, ended_ms);
        let mut played = PlayedGame {
            start: game.start.clone(),
            started_ms,
            plies,
            result: game.result,
            ended_ms,
            over_ms: 0,
        };
        self.note_presses(&mut played);
        played
    }

    /// What the PGN's clocks say was spent on this ply up to the press, less what hands take anyway.
    fn spent(&mut self, game: &SimGame, index: usize, mover: Color) -> Option<u64> {
        let control = game.control.periods.first().copied()?;
        let shown = i64::from(game.clocks.get(index).copied().flatten()?.0) * 1000;
        let before = self.clock_ms[mover].unwrap_or(i64::from(control.seconds + control.increment) * 1000);
        self.clock_ms[mover] = Some(shown);
        // In later periods time is added in between; then the clocks tell nothing.
        let spent = before + i64::from(control.increment) * 1000 - shown;
        (0..3_600_000).contains(&spent).then_some((spent as u64).saturating_sub(1_200))
    }

    /// Finds which presses moved the lever, and writes them into the truth.
    fn note_presses(&self, played: &mut PlayedGame) {
        let mut turn = Color::White;
        let mut presses: Vec<(u64, Color)> = Vec::new();
        let mut acts: Vec<_> = self.acts.iter().filter(|(at, _)| *at >= played.started_ms).collect();
        acts.sort_by_key(|(at, _)| *at);
        for (at, action) in acts {
            if let Action::Press(side) = action
                && *side == turn
            {
                turn = !turn;
                presses.push((*at, *side));
            }
        }
        let mut side = played.start.turn();
        let count = played.plies.len();
        for index in 0..count {
            // A ply's press lies after the ply before and before the same player's next one.
            let from = index.checked_sub(1).map_or(played.started_ms, |before| played.plies[before].made_ms);
            let to = played
                .plies
                .get(index + 1)
                .map_or(u64::MAX, |_| played.plies.get(index + 2).map_or(u64::MAX, |later| later.made_ms));
            // The last such press: an illegal move was pressed, too.
            let own: Vec<u64> = presses
                .iter()
                .filter(|(at, who)| *who == side && *at > from && *at < to)
                .map(|(at, _)| *at)
                .collect();
            played.plies[index].pressed_ms = own.last().copied();
            side = !side;
        }
    }

    /// A guest's first move, taken back before the clock runs.
    fn ceremony(&mut self, start: &Position) {
        if !self.asked_for(0, IncidentKind::CeremonialMove) {
            return;
        }
        let from = start.turn().fold_wb(Square::D2, Square::D7);
        let to = start.turn().fold_wb(Square::D4, Square::D5);
        if self.board.piece_at(to).is_some() {
            return;
        }
        if let Some(pawn) = self.lift(from) {
            self.wait(600, 1_500);
            self.put(to, pawn);
            self.wait(6_000, 12_000);
            self.lift(to);
            self.wait(500, 1_200);
            self.put(from, pawn);
            self.wait(4_000, 8_000);
        }
    }
}
