//! `arbiterd run`: the daemon, until it is told to stop.

use std::{
    io::{IsTerminal, stdout},
    net::{SocketAddr, UdpSocket},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Parser;
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};

use super::config;
use crate::daemon::{Daemon, Settings};

/// Exit code for a bad configuration (`EX_CONFIG`).
const BAD_CONFIGURATION: u8 = 78;

/// Arguments of `arbiterd run`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd run --config arbiterd.toml\n\nThe configuration is explained key by key in config/arbiterd.toml."
)]
pub(super) struct Args {
    /// The configuration file. Without one: no ports, an empty hall, journal in this folder.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only check the configuration: exit 0 if it can be used, 78 if not.
    #[arg(long)]
    check: bool,
    /// Show a link, and on a terminal its QR code, that signs a chief arbiter in until this run ends.
    #[arg(long)]
    invite: bool,
}

/// Runs it. Exit code 0, or 78 for a bad configuration.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut settings = match &args.config {
        Some(path) => match config::load(path) {
            Ok(settings) => settings,
            Err(error) => {
                eprintln!("{error}");
                return Ok(BAD_CONFIGURATION);
            }
        },
        None => Settings { journal: Path::new("arbiterd.sqlite").to_owned(), ..Settings::default() },
    };
    if args.check {
        return Ok(0);
    }
    settings.serve.invite = args.invite;
    runtime()?.block_on(async {
        let mut stop = Stop::install()?;
        let daemon = Daemon::start(&settings, watchdog())?;
        announce(&daemon);
        notify(&[NotifyState::Ready]);
        let mut reload = signal(SignalKind::hangup())?;
        loop {
            tokio::select! {
                () = stop.wait() => break,
                _ = reload.recv() => reload_tokens(args.config.as_deref(), &daemon),
            }
        }
        notify(&[NotifyState::Stopping]);
        tracing::info!("stopping");
        daemon.stop().await;
        Ok(0)
    })
}

/// Who may sign in is read again; everything else of the configuration waits for the next start. A
/// configuration that cannot be used changes nothing.
fn reload_tokens(path: Option<&Path>, daemon: &Daemon) {
    let Some(path) = path else { return };
    match config::load(path) {
        Ok(settings) => {
            let count = settings.serve.tokens.0.len();
            daemon.set_tokens(settings.serve.tokens);
            tracing::info!(tokens = count, "the tokens were read again");
        }
        Err(error) => tracing::error!("the tokens stay as they were: {error}"),
    }
}

/// The runtime of the listeners.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime; the system is out of threads or memory")
}

/// Prints the addresses, one a line, for people and scripts.
#[expect(clippy::print_stdout, reason = "the addresses are this command's output")]
pub(super) fn announce(daemon: &Daemon) {
    let line = |name: &str, address: Option<SocketAddr>, tail: &str| {
        if let Some(address) = address.map(reachable) {
            println!("{name:<10} http://{address}/{tail}");
        }
    };
    let sign_in = daemon.invitation().map(|token| format!("#token={token}")).unwrap_or_default();
    line("desk", daemon.desk(), &sign_in);
    line("public", daemon.public(), "");
    line("livechess", daemon.livechess(), "api/v1.0");
    if let Some(desk) = daemon.desk()
        && !sign_in.is_empty()
        && stdout().is_terminal()
        && let Some(code) = super::qr::code(&format!("http://{}/{sign_in}", reachable(desk)))
    {
        println!("\n{code}\n");
    }
}

/// The address as another machine knows it: for one that stands for all, the one that the way out of this
/// machine begins with (no packet is sent to find it).
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let (any, far) = match address {
        SocketAddr::V4(_) => ("0.0.0.0:0", "192.0.2.1:9"),
        SocketAddr::V6(_) => ("[::]:0", "[2001:db8::1]:9"),
    };
    let local = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(far)?;
        socket.local_addr()
    });
    local.map_or(address, |local| SocketAddr::new(local.ip(), address.port()))
}

/// The signals that stop the program.
pub(super) struct Stop {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Stop {
    /// Listens from now on.
    pub(super) fn install() -> anyhow::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for Ctrl-C or SIGTERM.
    pub(super) async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Feeds the system's watchdog from the hall's loop, so that a hall that hangs is noticed.
fn watchdog() -> impl FnMut() + Send + 'static {
    let every = sd_notify::watchdog_enabled().map(|limit| limit / 3);
    let mut fed = None;
    move || {
        let Some(every) = every else { return };
        let now = crate::wall::uptime();
        if fed.is_none_or(|fed| now.saturating_sub(fed) >= every) {
            fed = Some(now);
            notify(&[NotifyState::Watchdog]);
        }
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager could not be told");
    }
}
