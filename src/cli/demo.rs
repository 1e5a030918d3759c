//! `arbiterd demo`: a simulated hall through real pseudo-terminals and the real serial stack.
//!
//! Simulated boards play historical games; the daemon reads them as it reads real ones. With
//! `--speed` the whole hall lives faster, the daemon's time included, so that clocks and rests of
//! hands agree with each other.

use std::{io::IsTerminal, path::PathBuf, time::Duration};

use anyhow::{Context, bail};
use clap::Parser;

use super::run::{Stop, announce, runtime};
use crate::{
    daemon::{Daemon, Settings, StartError},
    event::Player,
    hall::{BoardKey, EventSetup, OptionsSetup, RoundSetup, TableId, TableSetup},
    link::PortConfig,
    record::Tags,
    serve::{ServeConfig, ServeError, config::ListenConfig},
    sim::{
        BoardConfig, DeviceSetup, HallOptions, HandOptions, Incident, IncidentKind, Level, Pace, SimGame,
        SimHall, SimPort, famous_games, hand, port_name,
    },
    wall,
};

/// The serial number of the first simulated board.
const FIRST_SERIAL: u32 = 20_001;
/// The mean time for a move, in milliseconds of the hall's own time.
const MEAN_MOVE: u64 = 9_000;

/// Arguments of `arbiterd demo`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd demo --boards 8 --speed 20\n\nThen open the desk and the public page in a browser. Ctrl-C stops it."
)]
pub(super) struct Args {
    /// How many boards are played at.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    boards: u32,
    /// How many times as fast as life.
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Where journal, archive and the boards' links go; a new folder. Default: one in the
    /// system's folder for temporary files.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Every choice of the hands comes from this number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop when all games are over. (Always so when standard output is not a terminal.)
    #[arg(long)]
    exit: bool,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (1.0..=100.0).contains(&speed) => Ok(speed),
        _ => Err("expected a number from 1 to 100".to_owned()),
    }
}

/// Runs it. Exit code 0.
#[expect(clippy::print_stdout, reason = "what a demo shows")]
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => std::env::temp_dir().join(format!("arbiterd-demo-{}", std::process::id())),
    };
    let journal = dir.join("hall.sqlite");
    if journal.exists() {
        bail!("{} holds an earlier demo; name another --dir", dir.display());
    }
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    if args.speed > 1.0 {
        wall::run_fast(args.speed);
    }
    let games = games(args.boards);
    let boards = dir.join("boards");
    let options = HallOptions { speed: args.speed, ..HallOptions::new(&boards) };
    let ports = games.iter().enumerate().map(|(index, game)| sim_port(index, game, args.seed)).collect();
    let hall = SimHall::start(ports, &options).context("cannot start the simulated boards")?;
    let mut settings = settings(&games, &hall, args.speed);
    settings.journal = journal;
    settings.archive = Some(dir.join("archive"));

    runtime()?.block_on(async {
        let mut stop = Stop::install()?;
        let daemon = start(&settings)?;
        announce(&daemon);
        println!("archive    {}", dir.join("archive").display());
        println!("{} boards play at {} times the speed of life; Ctrl-C stops", args.boards, args.speed);
        let stay = std::io::stdout().is_terminal() && !args.exit;
        let over = async {
            while !hall.finished() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            // The last words of boards and clocks.
            tokio::time::sleep(wall::real(6_000) + Duration::from_millis(500)).await;
        };
        tokio::select! {
            () = stop.wait() => {}
            () = over => {
                println!("all games are over");
                if stay {
                    println!("the pages stay up; Ctrl-C stops");
                    stop.wait().await;
                }
            }
        }
        daemon.stop().await;
        hall.stop();
        Ok(0)
    })
}

/// Starts the daemon; a port that is taken is exchanged for a free one, and said so.
fn start(settings: &Settings) -> anyhow::Result<Daemon> {
    let mut settings = settings.clone();
    for _ in 0..4 {
        match Daemon::start(&settings, || ()) {
            Err(StartError::Serve(ServeError::Bind { listener, address, .. })) if address.port() != 0 => {
                eprintln!("port {} for the {listener} listener is taken; using a free one", address.port());
                let serve = &mut settings.serve;
                for listen in [&mut serve.desk, &mut serve.public, &mut serve.livechess].into_iter().flatten()
                {
                    if listen.address == address {
                        listen.address.set_port(0);
                    }
                }
            }
            other => return Ok(other?),
        }
    }
    bail!("no free port for the listeners")
}

/// The famous games, over again when there are more boards than games.
fn games(boards: u32) -> Vec<SimGame> {
    famous_games().into_iter().cycle().take(boards as usize).collect()
}

fn sim_port(index: usize, game: &SimGame, seed: u64) -> SimPort {
    let incident = |ply, kind| Incident { ply, kind };
    let incidents = match index {
        0 => vec![incident(12, IncidentKind::Slide)],
        1 => vec![incident(15, IncidentKind::IllegalMove)],
        3 => vec![incident(9, IncidentKind::Knock), incident(20, IncidentKind::WrongSquare)],
        5 => vec![incident(18, IncidentKind::ForgottenPress)],
        6 => vec![incident(0, IncidentKind::CeremonialMove)],
        _ => Vec::new(),
    };
    let seed = seed.wrapping_mul(1_000_003).wrapping_add(index as u64);
    let options = HandOptions {
        pace: Pace::Mean(MEAN_MOVE),
        incidents: vec![incidents],
        reset_after_last: false,
        ..HandOptions::new(Level::Human, seed)
    };
    let script = hand::script(std::slice::from_ref(game), &options);
    let setup = DeviceSetup {
        rotated: index == 2,
        clock: (index != 4).then(|| game.control.clone()),
        seed,
        ..DeviceSetup::default()
    };
    let config = BoardConfig { serial: FIRST_SERIAL + index as u32, setup, ..BoardConfig::default() };
    SimPort::board(port_name(index), config, script)
}

fn settings(games: &[SimGame], hall: &SimHall, speed: f64) -> Settings {
    let tables = games.iter().enumerate().map(|(index, game)| {
        let player = |tag: &str| Player::named(game.tags.get(tag).unwrap_or_default());
        let mut tags = Tags::default();
        for name in ["Event", "Site", "Date"] {
            if let Some(value) = game.tags.get(name) {
                tags.set(name, value);
            }
        }
        TableSetup {
            table: TableId(index as u32 + 1),
            board: Some(BoardKey((FIRST_SERIAL + index as u32).to_string())),
            white: player("White"),
            black: player("Black"),
            start: game.start.clone(),
            profile: None,
            time_control: (index != 4).then(|| control(game)),
            tags,
            options: OptionsSetup::default(),
        }
    });
    let ports = hall.ports().iter().map(|path| {
        let mut port = PortConfig::new(path.to_string_lossy());
        // Dumps follow the hall's time; what guards the line itself does not.
        port.timing.settle = port.timing.settle.div_f64(speed);
        port.timing.dump = port.timing.dump.div_f64(speed);
        port
    });
    Settings {
        event: EventSetup {
            id: "demo".to_owned(),
            name: "Historical games, played by simulated hands".to_owned(),
            rounds: 1,
            ..EventSetup::default()
        },
        round: Some(RoundSetup { number: 1, date: None, tables: tables.collect() }),
        ports: ports.collect(),
        serve: ServeConfig { livechess: Some(ListenConfig::loopback(1982)), ..ServeConfig::default() },
        ..Settings::default()
    }
}

/// The time control in PGN's form.
fn control(game: &SimGame) -> String {
    let period = |period: &crate::sim::Period| {
        let moves = period.moves.map(|moves| format!("{moves}/")).unwrap_or_default();
        match period.increment {
            0 => format!("{moves}{}", period.seconds),
            increment => format!("{moves}{}+{increment}", period.seconds),
        }
    };
    game.control.periods.iter().map(period).collect::<Vec<_>>().join(":")
}
