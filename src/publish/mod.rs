//! Outputs that go out by themselves: archive tree, Lichess push, webhooks; the delay queue.
//!
//! | file | what it does |
//! | --- | --- |
//! | `archive` | the tree of `tournament.json`, `index.json` and PGN files |
//! | `delay` | the one queue all public output passes |
//! | `hold` | which plies a channel shows already |
//! | `lichess`, `lichess_thread` | pushes games to a Lichess broadcast |
//! | `hook` | tells a command or an address of alerts, results and games |
//! | `relayed`, `nats` | hands updates to a relay that serves several halls (feature `nats`) |

pub mod archive;
pub mod delay;
pub mod hold;
pub mod hook;
pub mod lichess;
#[cfg(feature = "upload")]
pub mod lichess_thread;
#[cfg(feature = "nats")]
pub mod nats;
pub mod relayed;

/// What goes out by itself, beside the archive.
#[derive(Clone, Debug, Default)]
pub struct PublishConfig {
    /// Which plies the public stream and its files show already.
    pub hold: hold::HoldPolicy,
    /// The push to Lichess.
    pub lichess: Option<lichess::LichessConfig>,
    /// Whom to tell of alerts, results and games.
    pub hooks: Vec<hook::HookConfig>,
    /// The server a relay serves this hall's games from.
    #[cfg(feature = "nats")]
    pub nats: Option<nats::NatsConfig>,
}
