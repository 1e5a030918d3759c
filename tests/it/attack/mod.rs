//! Attacks on a running daemon: somebody on the network, or a page in an arbiter's own browser, who
//! wants in, wants to change something, or wants it to stop.
//!
//! | file | who |
//! | --- | --- |
//! | `access` | strangers, and those who may less than they try |
//! | `bounds` | floods, giants, and clients that never finish |
//! | `names` | players with names made to break what shows them |
//! | `paths` | addresses that lead elsewhere, and methods that change things |

mod access;
mod bounds;
mod names;
mod paths;

use std::{fmt::Write as _, net::SocketAddr, path::PathBuf};

use arbiterd::serve::access::{Role, Tokens};

use crate::support::{
    daemon::Daemon,
    net::{Answer, http},
};

/// Names that try to become markup, another tag, another line, another cell, another file.
pub(crate) const NASTY: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"] [Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n[Event \"x",
    "</td><img src=x onerror=alert(2)>&amp;",
    "=HYPERLINK(\"http://evil.example\")",
    "../../etc/passwd\u{202e}",
    "O'Neil \\ {[%clk 0:00:01]} ; $1",
];

/// A daemon with a token for every role, two tables of players with nasty names, and all listeners.
pub(crate) struct Fort {
    daemon: Daemon,
    pub(crate) desk: SocketAddr,
    pub(crate) public: SocketAddr,
    pub(crate) livechess: SocketAddr,
    pub(crate) chief: String,
    /// May act at table 1 only.
    pub(crate) arbiter: String,
    pub(crate) operator: String,
    pub(crate) guest: String,
    pub(crate) config: PathBuf,
    /// Kept until the end.
    pub(crate) folder: tempfile::TempDir,
}

/// A port nobody uses at this moment.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

pub(crate) fn token_sections(tokens: &Tokens) -> String {
    let mut text = String::new();
    for grant in &tokens.0 {
        let role = serde_json::to_value(grant.role).expect("a word");
        writeln!(text, "[[token]]\nname = {:?}\nrole = {role}\nsha256 = {:?}", grant.name, grant.sha256)
            .expect("a string takes all");
        if let Some(tables) = &grant.tables {
            let tables: Vec<u32> = tables.iter().map(|table| table.0).collect();
            writeln!(text, "tables = {tables:?}").expect("a string takes all");
        }
    }
    text
}

impl Fort {
    pub(crate) fn build() -> Self {
        let mut tokens = Tokens::default();
        let mut make = |name: &str, role, tables: Option<Vec<u32>>| {
            let tables = tables.map(|tables| tables.into_iter().map(arbiterd::hall::TableId).collect());
            tokens.create(name, role, tables).expect("random numbers")
        };
        let chief = make("chief", Role::ChiefArbiter, None);
        let arbiter = make("anna", Role::Arbiter, Some(vec![1]));
        let operator = make("otto", Role::Operator, None);
        let guest = make("guest", Role::ReadOnly, None);
        let livechess: SocketAddr = ([127, 0, 0, 1], free_port()).into();
        let mut text = format!(
            "[event]\nid = \"fort\"\nname = {:?}\nsite = {:?}\n[round]\nnumber = 1\n[archive]\nfolder = \"archive\"\n\
             [desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"{livechess}\"\n",
            NASTY[0], NASTY[2]
        );
        for number in 0..2 {
            writeln!(
                text,
                "[[table]]\nnumber = {}\nwhite = {}\nblack = {{ name = {}, team = {} }}",
                number + 1,
                toml_text(NASTY[number * 2 + 1]),
                toml_text(NASTY[number * 2 + 2]),
                toml_text(NASTY[(number + 5) % 6]),
            )
            .expect("a string takes all");
        }
        text.push_str(&token_sections(&tokens));
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("arbiterd.toml");
        std::fs::write(&config, text).expect("a writable folder");
        let daemon = Daemon::run(&config);
        let desk = daemon.desk.parse().expect("an address");
        let public = daemon.public.parse().expect("an address");
        Self { daemon, desk, public, livechess, chief, arbiter, operator, guest, config, folder }
    }

    /// The configuration has changed: SIGHUP.
    pub(crate) fn reload(&self) {
        self.daemon.signal(rustix::process::Signal::HUP);
    }

    pub(crate) fn listeners(&self) -> [SocketAddr; 3] {
        [self.desk, self.public, self.livechess]
    }
}

/// A string as TOML writes it: JSON's escapes are TOML's, too.
fn toml_text(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// A request with a bearer token and, if there is a body, as JSON.
pub(crate) async fn ask(address: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![("authorization", bearer.as_str())];
    if !body.is_empty() {
        headers.push(("content-type", "application/json"));
    }
    http(address, method, path, &headers, body).await
}
