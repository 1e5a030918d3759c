//! Listeners: desk, public, `LiveChess` API; the web pages under `serve/web/`.
//!
//! Nothing here decides anything about chess or changes a game: what is shown comes from two
//! [`Feed`]s, and what is ordered goes to the daemon as a [`CommandRequest`].
//!
//! | file | what it does |
//! | --- | --- |
//! | `feed` | what one audience is shown: read model, stream, past games |
//! | `ws` | the stream's WebSocket |
//! | `listen` | sockets, connections and their limits |
//! | `access` | who may do what; `Host` and `Origin` |
//! | `desk`, `desk_event`, `desk_adjourn`, `report` | the arbiters' and operators' HTTP interface |
//! | `imports` | rounds read from files, until a person takes them |
//! | `public`, `pgn`, `cloud` | what anyone may read |
//! | `livechess` | the `LiveChess` API for programs on this machine |
//! | `pages`, `web` | the pages' files |
//! | `problem`, `metrics`, `config` | errors, counters, settings |

pub mod access;
mod cloud;
pub mod config;
mod desk;
mod desk_adjourn;
mod desk_event;
pub mod feed;
pub mod imports;
mod listen;
mod livechess;
mod metrics;
mod pages;
mod pgn;
mod problem;
mod public;
mod report;
mod tools;
pub mod web;
pub mod ws;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use axum::Router;
use prometheus_client::registry::Registry;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    access::{Grant, Role, Tokens},
    config::ListenConfig,
    listen::{Gate, Listening},
    metrics::ServeMetrics,
    ws::crowd::Crowd,
};
use crate::hall::{Command, Update};

pub use self::{config::ServeConfig, feed::Feed};

/// How often a stream that has nothing to say shows that it lives.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// An order from the desk, for the daemon to journal and apply.
#[derive(Debug)]
pub struct CommandRequest {
    /// Who gave it: the name of the token.
    pub by: String,
    /// What.
    pub command: Command,
    /// Takes the updates it caused, or why it was refused (in words for the person).
    pub reply: oneshot::Sender<Result<Vec<Update>, String>>,
}

/// What the listeners need from the daemon.
pub struct Deps {
    /// The desk's feed.
    pub desk: Arc<Feed>,
    /// The public's feed, behind the delay.
    pub public: Arc<Feed>,
    /// Takes orders.
    pub commands: mpsc::Sender<CommandRequest>,
    /// The daemon's own metrics, with the prefix `arbiterd`; the listeners add theirs.
    pub registry: Registry,
    /// Whether all is well, or what is not: the answer of `/readyz`.
    pub ready: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
    /// How the outputs stand (Lichess, hooks): an array for the desk.
    pub outputs: Arc<dyn Fn() -> serde_json::Value + Send + Sync>,
    /// How the lines to the boards stand: an array for the desk.
    pub lines: Arc<dyn Fn() -> serde_json::Value + Send + Sync>,
}

/// Why the listeners did not start.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be had.
    #[error(
        "the {listener} listener cannot listen on {address}: {source}; choose another port, or stop the program that uses it"
    )]
    Bind {
        /// Which listener.
        listener: &'static str,
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The desk would be open to the network.
    #[error(
        "the desk would listen on {0}, which other machines can reach, but there are no tokens; \
         make one with `arbiterd token add`, or listen on 127.0.0.1"
    )]
    OpenDesk(SocketAddr),
    /// No random numbers.
    #[error("the system gave no random numbers for a token: {0}")]
    Random(#[from] getrandom::Error),
    /// TLS files do not serve.
    #[error("{path}: {fault}")]
    Tls {
        /// Which file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        fault: String,
    },
}

/// Whether a certificate chain and its key can be used.
///
/// # Errors
/// What is wrong with which file.
#[cfg(feature = "tls")]
pub fn check_tls(files: &config::TlsFiles) -> Result<(), ServeError> {
    listen::tls(files).map(drop)
}

/// The name that stands in the log for who came by an invitation.
const INVITED: &str = "invited";

/// The running listeners.
#[derive(Debug)]
pub struct Serving {
    /// Where the desk listens.
    pub desk: Option<SocketAddr>,
    /// Where the public listens.
    pub public: Option<SocketAddr>,
    /// Where the `LiveChess` API listens.
    pub livechess: Option<SocketAddr>,
    /// The token made at start, if one was asked for (the sign-in link is `http://ADDRESS/#token=TOKEN`), and
    /// what is kept of it.
    pub invitation: Option<(String, Grant)>,
    tokens: Arc<RwLock<Tokens>>,
    feeds: [Arc<Feed>; 2],
    desk_crowd: Arc<Crowd>,
    imports: Arc<imports::Imports>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// A listener's socket before anybody is served on it.
struct Bound {
    socket: tokio::net::TcpListener,
    address: SocketAddr,
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsAcceptor>,
}

impl Bound {
    fn new(listener: &'static str, config: &ListenConfig) -> Result<Self, ServeError> {
        #[cfg(not(feature = "tls"))]
        if let Some(files) = &config.tls {
            let fault = "this arbiterd was built without the feature `tls`".to_owned();
            return Err(ServeError::Tls { path: files.certificates.clone(), fault });
        }
        let socket = listen::bind(listener, config.address)?;
        let address = socket.local_addr().map_err(|source| ServeError::Bind {
            listener,
            address: config.address,
            source,
        })?;
        Ok(Self {
            socket,
            address,
            #[cfg(feature = "tls")]
            tls: config.tls.as_ref().map(listen::tls).transpose()?,
        })
    }

    /// The same port at `::1`: to some programs `localhost` is that. Where it cannot be had, clients get
    /// by with the one they have.
    fn on_the_other_loopback(&self) -> Option<Self> {
        let twin = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, self.address.port()));
        if self.address.ip() != std::net::Ipv4Addr::LOCALHOST {
            return None;
        }
        let socket = listen::bind("livechess", twin)
            .inspect_err(|error| tracing::debug!(%error, "LiveChess clients reach 127.0.0.1 only"))
            .ok()?;
        Some(Self {
            socket,
            address: twin,
            #[cfg(feature = "tls")]
            tls: self.tls.clone(),
        })
    }
}

impl Serving {
    /// Binds all listeners and serves them until [`Serving::stop`].
    ///
    /// # Errors
    /// An address that cannot be had, a desk that would be open to the network, TLS files that do not
    /// serve.
    pub fn start(config: ServeConfig, deps: Deps) -> Result<Self, ServeError> {
        let Deps { desk: desk_feed, public: public_feed, commands, mut registry, ready, outputs, lines } =
            deps;
        let metrics = ServeMetrics::register(&mut registry);
        let registry = Arc::new(Mutex::new(registry));
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let mut tokens = config.tokens;
        let mut invitation = None;
        let mut open = false;
        if config.invite {
            let token = tokens.create(INVITED, Role::ChiefArbiter, None)?;
            invitation = tokens.find(&token).cloned().map(|grant| (token, grant));
        }
        if let Some(desk) = &config.desk
            && tokens.is_empty()
        {
            if desk.address.ip().is_loopback() {
                open = true;
            } else {
                return Err(ServeError::OpenDesk(desk.address));
            }
        }
        // All addresses first: where one cannot be had, none is kept.
        let bind = |name, listen: &Option<ListenConfig>| {
            listen.as_ref().map(|listen| Bound::new(name, listen)).transpose()
        };
        let desk_socket = bind("desk", &config.desk)?;
        let public_socket = bind("public", &config.public)?;
        let livechess_socket = bind("livechess", &config.livechess)?;
        let tokens = Arc::new(RwLock::new(tokens));
        let desk_crowd = Crowd::new(desk_feed.clone(), Some(tokens.clone()));
        let public_crowd = Crowd::new(public_feed.clone(), None);
        for crowd in [&desk_crowd, &public_crowd] {
            tasks.spawn(crowd.clone().serve());
        }
        let mut serving = Self {
            desk: None,
            public: None,
            livechess: None,
            invitation,
            tokens: tokens.clone(),
            feeds: [desk_feed.clone(), public_feed.clone()],
            desk_crowd: desk_crowd.clone(),
            imports: Arc::default(),
            stop,
            tasks,
        };
        if let (Some(listen), Some(bound)) = (&config.desk, desk_socket) {
            let metrics = metrics.listener("desk");
            let router = desk::router(
                desk::DeskState {
                    feed: desk_feed.clone(),
                    crowd: desk_crowd,
                    commands: commands.clone(),
                    tokens,
                    open,
                    guard: access::guard::Guard::new(listen),
                    tasks: serving.tasks.clone(),
                    registry,
                    ready,
                    outputs,
                    lines,
                    metrics: metrics.clone(),
                    secure: listen.tls.is_some(),
                    pgn: pgn::PgnCache::default(),
                    imports: serving.imports.clone(),
                },
                listen.limits.body,
            );
            serving.desk = Some(serving.listen(bound, listen, router, metrics));
        }
        if let (Some(listen), Some(bound)) = (&config.public, public_socket) {
            let metrics = metrics.listener("public");
            let router = public::router(public::PublicState {
                feed: public_feed,
                crowd: public_crowd,
                guard: access::guard::Guard::new(listen),
                tasks: serving.tasks.clone(),
                metrics: metrics.clone(),
                pgn: pgn::PgnCache::default(),
            });
            serving.public = Some(serving.listen(bound, listen, router, metrics));
        }
        if let (Some(listen), Some(bound)) = (&config.livechess, livechess_socket) {
            let mut listen = listen.clone();
            listen.origins.extend(livechess::ORIGINS.map(str::to_owned));
            let metrics = metrics.listener("livechess");
            let router = livechess::router(livechess::LiveChessState {
                feed: desk_feed,
                guard: access::guard::Guard::new(&listen),
                tasks: serving.tasks.clone(),
                stop: serving.stop.clone(),
                metrics: metrics.clone(),
            });
            if let Some(twin) = bound.on_the_other_loopback() {
                serving.listen(twin, &listen, router.clone(), metrics.clone());
            }
            serving.livechess = Some(serving.listen(bound, &listen, router, metrics));
        }
        serving.beat();
        Ok(serving)
    }

    fn listen(
        &self,
        bound: Bound,
        config: &ListenConfig,
        router: Router,
        metrics: metrics::ListenerMetrics,
    ) -> SocketAddr {
        let listening = Listening {
            router,
            gate: Gate::new(config.limits, metrics),
            stop: self.stop.clone(),
            tasks: self.tasks.clone(),
            #[cfg(feature = "tls")]
            tls: bound.tls,
        };
        self.tasks.spawn(listen::accept(bound.socket, listening));
        bound.address
    }

    /// Keeps the streams' heartbeats going.
    fn beat(&self) {
        let (feeds, stop) = (self.feeds.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            let mut ticks = tokio::time::interval(HEARTBEAT);
            ticks.tick().await;
            loop {
                tokio::select! {
                    () = stop.cancelled() => return,
                    _ = ticks.tick() => feeds.iter().for_each(|feed| feed.heartbeat()),
                }
            }
        });
    }

    /// Rounds that were read from files and wait for a person.
    #[must_use]
    pub fn imports(&self) -> Arc<imports::Imports> {
        self.imports.clone()
    }

    /// Replaces all tokens: those made or revoked meanwhile count from the next request on, and streams
    /// opened with one that no longer stands end.
    pub fn set_tokens(&self, mut tokens: Tokens) {
        tokens.0.extend(self.invitation.iter().map(|(_, grant)| grant.clone()));
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        self.desk_crowd.check_tokens();
    }

    /// Stops listening, lets running answers finish, tells all clients of the streams goodbye, and
    /// waits until they are gone (a few seconds at most).
    pub async fn stop(self) {
        self.stop.cancel();
        for feed in &self.feeds {
            feed.close();
        }
        self.tasks.close();
        if tokio::time::timeout(Duration::from_secs(5), self.tasks.wait()).await.is_err() {
            tracing::warn!("some clients did not leave in time");
        }
    }
}
