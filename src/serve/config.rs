//! What the listeners are told at start.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::access::Tokens;

/// Addresses and limits of all listeners.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// For arbiters and operators; `None` leaves it out.
    pub desk: Option<ListenConfig>,
    /// For anyone; `None` leaves it out.
    pub public: Option<ListenConfig>,
    /// For `LiveChess` clients on this machine; `None` leaves it out.
    pub livechess: Option<ListenConfig>,
    /// Who may sign in at the desk. With none, a desk on loopback is open to this machine's users.
    pub tokens: Tokens,
    /// Makes one more token at start, a chief arbiter's, for as long as this runs. With it even a desk on
    /// loopback asks who comes in.
    pub invite: bool,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            desk: Some(ListenConfig::loopback(8080)),
            public: Some(ListenConfig { any_origin: true, ..ListenConfig::loopback(8081) }),
            livechess: None,
            tokens: Tokens::default(),
            invite: false,
        }
    }
}

/// One listener.
#[derive(Clone, Debug)]
pub struct ListenConfig {
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
    /// Names by which it may be called beside `localhost` and plain IP addresses, such as
    /// `live.example.org`. Anything else is refused: a page elsewhere could point a name of its own
    /// at this machine.
    pub hosts: Vec<String>,
    /// Pages of other places that may use it, such as `https://lichess.org`.
    pub origins: Vec<String>,
    /// Pages of any place may read it (the public listener).
    pub any_origin: bool,
    /// What a client may use.
    pub limits: Limits,
    /// Certificate chain and key for TLS (needs the feature `tls`).
    pub tls: Option<TlsFiles>,
}

/// PEM files for TLS.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// Certificate chain.
    pub certificates: std::path::PathBuf,
    /// Private key.
    pub key: std::path::PathBuf,
}

impl ListenConfig {
    /// On this machine only.
    #[must_use]
    pub fn loopback(port: u16) -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
            hosts: Vec::new(),
            origins: Vec::new(),
            any_origin: false,
            limits: Limits::default(),
            tls: None,
        }
    }
}

/// Bounds of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address that is not this machine.
    pub per_address: usize,
    /// Requests a second from one address that is not this machine, with bursts of five seconds' worth.
    pub requests_per_second: u32,
    /// Bytes of a request's body.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 10_000, per_address: 256, requests_per_second: 100, body: 1 << 20 }
    }
}
