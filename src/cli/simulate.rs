//! `arbiterd simulate`: simulated boards only, for any program that reads them.

use std::{io::Write, path::PathBuf};

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};

use crate::sim::{
    BoardConfig, Certabo, Chain, Firmware, HallOptions, HandOptions, Level, Line, Millennium, Pace, Script,
    SimGame, SimHall, SimPort, default_dir, hand, port_name,
};

/// The first board's serial number; small enough for a bus address.
const FIRST_SERIAL: u32 = 1025;
/// The largest file of games read.
const MAX_FILE: u64 = 256 << 20;

/// Arguments of `arbiterd simulate`.
#[derive(Debug, Parser)]
#[command(
    after_help = "The games are played one after the other on so many boards; the hands at a board begin when \
                  a program reads it.\n\nExamples:\n  arbiterd simulate games.pgn\n  arbiterd simulate \
                  games.pgn --link /tmp/boards --noise rough --seed 7\n  arbiterd simulate games.pgn --boards 10 \
                  --bus"
)]
pub(super) struct Args {
    /// Games to be played.
    file: PathBuf,
    /// Where the links to the simulated ports appear [default: arbiterd-boards in the system's
    /// folder for temporary files].
    #[arg(long, value_name = "DIR")]
    link: Option<PathBuf>,
    /// How the hands and boards behave: tidy, human, blitz or rough.
    #[arg(long, value_name = "PROFILE", default_value = "human")]
    noise: Level,
    /// Every choice comes from it: the same seed plays the same.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// All boards hang on one line, as on a tournament chain.
    #[arg(long)]
    bus: bool,
    /// What make the boards are.
    #[arg(long, value_enum, default_value_t = Make::Dgt)]
    make: Make,
    /// How many boards.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    boards: u16,
    /// So many times as fast as life.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    speed: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Make {
    /// DGT, on a serial or USB cable.
    Dgt,
    /// Certabo; before the first move spare queens stand on d6 and d3, for learning the set.
    Certabo,
    /// Millennium ChessLink.
    Millennium,
}

/// Runs it until everything is played, or until Ctrl-C or SIGTERM. Exit code 0.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if !(0.1..=100.0).contains(&args.speed) {
        bail!("--speed {}: a number from 0.1 to 100 is expected", args.speed);
    }
    if args.bus && args.make != Make::Dgt {
        bail!("--bus: only DGT boards hang on a chain");
    }
    let games = read_games(args)?;
    let boards = usize::from(args.boards).min(games.len());
    let mut singles = Vec::new();
    let mut on_bus = (Vec::new(), Vec::new());
    for board in 0..boards {
        let own: Vec<SimGame> = games.iter().skip(board).step_by(boards).cloned().collect();
        let (config, script) = one_board(args, board, &own);
        if args.bus {
            let mut config = config;
            config.setup.board = script.board.clone();
            on_bus.0.push(Firmware::new(config));
            on_bus.1.push(script);
        } else {
            singles.push(single(args.make, port_name(board + 1), config, script));
        }
    }
    if args.bus {
        let (boards, scripts) = on_bus;
        singles.push(SimPort { name: "bus-01".to_owned(), line: Box::new(Chain::new(boards)), scripts });
    }
    let options = HallOptions {
        speed: args.speed,
        seed: args.seed,
        ..HallOptions::new(args.link.clone().unwrap_or_else(default_dir))
    };
    let dir = options.dir.clone();
    let hall = SimHall::start(singles, &options)
        .with_context(|| format!("cannot set up simulated boards in {}", dir.display()))?;
    let mut out = std::io::stdout().lock();
    for port in hall.ports() {
        writeln!(out, "{}", port.display())?;
    }
    out.flush()?;
    wait_until_played(&hall)?;
    hall.stop();
    Ok(0)
}

fn single(make: Make, name: String, mut config: BoardConfig, script: Script) -> SimPort {
    config.setup.board = script.board.clone();
    let line: Box<dyn Line> = match make {
        Make::Dgt => return SimPort::board(name, config, script),
        Make::Certabo => Box::new(Certabo::new(&config.setup, true)),
        Make::Millennium => Box::new(Millennium::new(&config.setup)),
    };
    SimPort { name, line, scripts: vec![script] }
}

fn read_games(args: &Args) -> anyhow::Result<Vec<SimGame>> {
    let path = args.file.display();
    let size = std::fs::metadata(&args.file)
        .with_context(|| format!("cannot open {path}; name a file of games that exists"))?
        .len();
    if size > MAX_FILE {
        bail!("{path} has {size} bytes; at most {MAX_FILE} are read");
    }
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {path}"))?;
    let games = SimGame::from_pgn(&String::from_utf8_lossy(&bytes)).with_context(|| path.to_string())?;
    let games: Vec<SimGame> = games.into_iter().filter(|game| !game.moves.is_empty()).collect();
    if games.is_empty() {
        bail!("{path} holds no game with moves");
    }
    Ok(games)
}

fn one_board(args: &Args, board: usize, games: &[SimGame]) -> (BoardConfig, Script) {
    let pace = if args.noise == Level::Blitz { Pace::Level } else { Pace::Clocks(8_000) };
    let seed = args.seed.wrapping_mul(1000).wrapping_add(board as u64);
    let script = hand::script(games, &HandOptions { pace, ..HandOptions::new(args.noise, seed) });
    let mut config = BoardConfig {
        serial: FIRST_SERIAL + board as u32,
        lost_permille: args.noise.lost_permille(),
        ..BoardConfig::default()
    };
    config.setup.seed = seed;
    config.setup.clock = games.first().map(|game| game.control.clone());
    (config, script)
}

fn wait_until_played(hall: &SimHall) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        let mut interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        let mut look = tokio::time::interval(std::time::Duration::from_millis(200));
        loop {
            tokio::select! {
                _ = terminate.recv() => return Ok(()),
                _ = interrupt.recv() => return Ok(()),
                _ = look.tick() => if hall.finished() { return Ok(()) },
            }
        }
    })
}
