//! Contradictions with chasolver, on positions of real games and on closed positions made at random.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, Piece, Role, Setup, Square, fen::Fen,
};

use crate::{
    games,
    mate::{Budget, Verdict, can_mate},
    reference,
};

const BUDGET: Budget = Budget { nodes: 30_000, states: 100_000 };

/// Counts of a run. A line that replays to a mate on an independent board is a proof by itself: where `proofs`
/// is set, the reference is asked only where we say no.
struct Tally {
    proofs: bool,
    budget: Budget,
    positions: usize,
    questions: usize,
    yes: usize,
    no: usize,
    ours_unknown: usize,
    asked: usize,
    theirs_unknown: usize,
    contradictions: usize,
}

impl Tally {
    fn new(proofs: bool, budget: Budget) -> Tally {
        Tally {
            proofs,
            budget,
            positions: 0,
            questions: 0,
            yes: 0,
            no: 0,
            ours_unknown: 0,
            asked: 0,
            theirs_unknown: 0,
            contradictions: 0,
        }
    }

    fn ask(&mut self, position: &Chess) {
        let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
        let Some(board) = reference::board(&fen) else { return };
        self.positions += 1;
        for side in Color::ALL {
            self.questions += 1;
            let mut shown = String::new();
            let ours = match can_mate(position, side, &self.budget) {
                Verdict::Yes(line) => {
                    shown = line.iter().map(|step| format!(" {step}")).collect();
                    if !crate::dev::replays(position, side, &line) {
                        self.contradictions += 1;
                        println!("BAD LINE {fen} {side:?}");
                    }
                    Some(true)
                }
                Verdict::No(_) => Some(false),
                Verdict::Unknown(_) => None,
            };
            let ask = !self.proofs || ours == Some(false);
            self.asked += usize::from(ask);
            let theirs = if ask { reference::full(&board, side) } else { None };
            match (ours, theirs) {
                (Some(a), Some(b)) if a != b => {
                    self.contradictions += 1;
                    println!("CONTRADICTION {fen} {side:?} ours {a} theirs {b}{shown}");
                }
                (Some(true), _) => self.yes += 1,
                (Some(false), _) => self.no += 1,
                (None, _) => self.ours_unknown += 1,
            }
            self.theirs_unknown += usize::from(ask && theirs.is_none());
        }
        if self.positions % 1_000 == 0 {
            self.print();
        }
    }

    fn print(&self) {
        println!(
            "positions {} questions {} yes {} no {} unknown {}; reference asked {} unknown {}; contradictions {}",
            self.positions,
            self.questions,
            self.yes,
            self.no,
            self.ours_unknown,
            self.asked,
            self.theirs_unknown,
            self.contradictions
        );
    }
}

/// `differ COUNT FILE.pgn…`
pub fn games(args: &[String]) {
    let count: usize = args[0].parse().expect("a count");
    let all = games::positions(&args[1..], 1);
    let mut tally = Tally::new(false, BUDGET);
    let step = (all.len() / count).max(1);
    for position in all.iter().step_by(step).take(count) {
        tally.ask(position);
    }
    tally.print();
}

/// Positions made from one seed.
const LOT: usize = 1_000;

/// `differ-closed COUNT FILE.tsv SEED [--seconds S]`: half mutated rows of the table, half random walls; with `--caged`
/// kings walled in instead, and only the proofs that take no search.
pub fn closed(args: &[String]) {
    let caged = args.iter().any(|arg| arg == "--caged");
    let count: usize = args[0].parse().expect("a count");
    let text = std::fs::read_to_string(&args[1]).expect("a readable table");
    let seeds: Vec<Setup> = text
        .lines()
        .skip(1)
        .filter(|row| row.split('\t').next().is_some_and(|fen| fen.matches(['p', 'P']).count() >= 4))
        .filter_map(|row| row.split('\t').next()?.parse::<Fen>().ok().map(Fen::into_setup))
        .collect();
    let first: u64 = args.get(2).and_then(|seed| seed.parse().ok()).unwrap_or(1).max(1);
    let seconds: f64 =
        args.iter().position(|arg| arg == "--seconds").and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(f64::MAX);
    let start = std::time::Instant::now();
    let mut tally = Tally::new(true, if caged { Budget { nodes: 200, states: 0 } } else { BUDGET });
    for seed in first.. {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let end = tally.positions + LOT;
        while tally.positions < end {
            let setup = if caged {
                cage(&mut dice)
            } else if dice.roll(2) == 0 {
                let mut setup = seeds[dice.roll(seeds.len())].clone();
                for _ in 0..=dice.roll(2) {
                    mutate(&mut setup, &mut dice);
                }
                setup
            } else {
                wall(&mut dice)
            };
            if let Ok(position) = setup.position::<Chess>(CastlingMode::Standard) {
                tally.ask(&position);
            }
        }
        if tally.positions >= count || start.elapsed().as_secs_f64() > seconds {
            println!("next seed {}", seed + 1);
            break;
        }
    }
    tally.print();
}

/// `sample < FENS`: rows for a table of those standard positions on which both programs agree.
pub fn sample() {
    for line in std::io::stdin().lines() {
        let line = line.expect("readable text");
        let (fen, mode) = line.split_once('\t').unwrap_or((&line, "standard"));
        let (castling, compare) =
            if mode == "standard" { (CastlingMode::Standard, true) } else { (CastlingMode::Chess960, false) };
        let Some(position) = fen.parse::<Fen>().ok().and_then(|fen| fen.into_position::<Chess>(castling).ok()) else {
            continue;
        };
        let sides = Color::ALL.map(|side| match can_mate(&position, side, &BUDGET) {
            Verdict::Yes(line) => (Some(true), format!("line {}", line.len())),
            Verdict::No(reason) => (Some(false), reason.to_string().split(':').next().unwrap_or_default().to_owned()),
            Verdict::Unknown(_) => (None, String::new()),
        });
        if compare {
            let Some(board) = reference::board(fen) else { continue };
            if Color::ALL.iter().enumerate().any(|(at, &side)| reference::full(&board, side) != sides[at].0) {
                continue;
            }
        }
        if sides.iter().any(|side| side.0.is_none()) {
            continue;
        }
        let word = |side: &(Option<bool>, String)| if side.0 == Some(true) { "yes" } else { "no" };
        println!("{fen}\t{mode}\t{}\t{}\t{}\t{}", word(&sides[0]), word(&sides[1]), sides[0].1, sides[1].1);
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

fn mutate(setup: &mut Setup, dice: &mut Dice) {
    setup.ep_square = None;
    setup.castling_rights = Bitboard::EMPTY;
    let board = &mut setup.board;
    let men: Vec<Square> = (board.occupied() & !board.kings()).into_iter().collect();
    let free: Vec<Square> = (!board.occupied()).into_iter().collect();
    match dice.roll(6) {
        0 if !men.is_empty() => {
            board.discard_piece_at(men[dice.roll(men.len())]);
        }
        1 => setup.turn = !setup.turn,
        2 => {
            let role = [Role::Bishop, Role::Bishop, Role::Knight, Role::Rook][dice.roll(4)];
            let color = if dice.roll(2) == 0 { Color::White } else { Color::Black };
            board.set_piece_at(free[dice.roll(free.len())], Piece { color, role });
        }
        3 => {
            let color = if dice.roll(2) == 0 { Color::White } else { Color::Black };
            if let Some(king) = board.king_of(color) {
                board.discard_piece_at(king);
                board.set_piece_at(free[dice.roll(free.len())], Piece { color, role: Role::King });
            }
        }
        _ if !men.is_empty() => {
            let from = men[dice.roll(men.len())];
            if let Some(piece) = board.remove_piece_at(from) {
                let to = if piece.role == Role::Pawn {
                    let to = from as i32 + [8, -8, 1, -1][dice.roll(4)];
                    if (8..56).contains(&to) { Square::new(to as u32) } else { from }
                } else {
                    free[dice.roll(free.len())]
                };
                board.set_piece_at(to, piece);
            }
        }
        _ => {}
    }
}

/// A king or both with most squares around filled or guarded, and few men elsewhere.
fn cage(dice: &mut Dice) -> Setup {
    let mut board = Board::empty();
    let man = |color: Color, square: Square, dice: &mut Dice| {
        let ends = matches!(square.rank() as u32, 0 | 7);
        let role = [Role::Pawn, Role::Pawn, Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
        let role = if ends { role[3 + dice.roll(4)] } else { role[dice.roll(7)] };
        Piece { color, role }
    };
    let near = dice.roll(64) as u32;
    let king = Square::new(near);
    let color = if dice.roll(2) == 0 { Color::White } else { Color::Black };
    board.set_piece_at(king, Piece { color, role: Role::King });
    let around: Vec<Square> = shakmaty::attacks::king_attacks(king).into_iter().collect();
    let mostly = if dice.roll(3) == 0 { !color } else { color };
    for square in around {
        match dice.roll(10) {
            0 => {}
            1 => board.set_piece_at(square, man(!mostly, square, dice)),
            _ => board.set_piece_at(square, man(mostly, square, dice)),
        }
    }
    // The other king near, so that its steps are guarded too, or anywhere.
    let close: Vec<Square> = (!board.occupied())
        .into_iter()
        .filter(|square| square.distance(king) == 2 || dice.roll(6) == 0 && square.distance(king) > 1)
        .collect();
    if close.is_empty() {
        return Setup::empty();
    }
    board.set_piece_at(close[dice.roll(close.len())], Piece { color: !color, role: Role::King });
    for _ in 0..dice.roll(4) {
        let free: Vec<Square> = (!board.occupied()).into_iter().collect();
        let square = free[dice.roll(free.len())];
        let side = if dice.roll(2) == 0 { Color::White } else { Color::Black };
        board.set_piece_at(square, man(side, square, dice));
    }
    let mut setup = Setup::empty();
    setup.board = board;
    setup.turn = if dice.roll(2) == 0 { Color::White } else { Color::Black };
    setup
}

/// A random chain of rams across most files, kings and a few minor pieces.
fn wall(dice: &mut Dice) -> Setup {
    let mut board = Board::empty();
    let mut height = 2 + dice.roll(3);
    let gap = dice.roll(12);
    for file in 0..8 {
        if file == gap {
            continue;
        }
        let white = Square::new((height * 8 + file) as u32);
        let black = Square::new((height * 8 + 8 + file) as u32);
        board.set_piece_at(white, Piece { color: Color::White, role: Role::Pawn });
        board.set_piece_at(black, Piece { color: Color::Black, role: Role::Pawn });
        height = (height as i32 + [-1, 1, 1, -1, 0][dice.roll(5)]).clamp(1, 5) as usize;
    }
    let mut place = |piece: Piece, dice: &mut Dice| {
        let free: Vec<Square> = (!board.occupied()).into_iter().collect();
        board.set_piece_at(free[dice.roll(free.len())], piece);
    };
    for color in Color::ALL {
        place(Piece { color, role: Role::King }, dice);
        for _ in 0..dice.roll(3) {
            let role = [Role::Bishop, Role::Bishop, Role::Bishop, Role::Knight, Role::Rook][dice.roll(5)];
            place(Piece { color, role }, dice);
        }
    }
    let mut setup = Setup::empty();
    setup.board = board;
    setup.turn = if dice.roll(2) == 0 { Color::White } else { Color::Black };
    setup
}
