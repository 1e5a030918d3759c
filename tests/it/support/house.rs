//! Listeners on free ports with feeds that a test fills.

use std::sync::Arc;

use arbiterd::{
    hall::Update,
    serve::{CommandRequest, Deps, Feed, ServeConfig, Serving, config::ListenConfig, feed::Audience},
};
use tokio::sync::mpsc;

pub(crate) struct House {
    pub(crate) serving: Serving,
    pub(crate) desk: Arc<Feed>,
    pub(crate) public: Arc<Feed>,
    pub(crate) commands: mpsc::Receiver<CommandRequest>,
}

impl House {
    pub(crate) fn open(change: impl FnOnce(&mut ServeConfig)) -> Self {
        let mut config = ServeConfig {
            desk: Some(ListenConfig::loopback(0)),
            public: Some(ListenConfig { any_origin: true, ..ListenConfig::loopback(0) }),
            ..ServeConfig::default()
        };
        change(&mut config);
        let (desk, public) = (Feed::new(Audience::Desk), Feed::new(Audience::Public));
        let (sender, commands) = mpsc::channel(8);
        let deps = Deps {
            desk: desk.clone(),
            public: public.clone(),
            commands: sender,
            registry: prometheus_client::registry::Registry::with_prefix("arbiterd"),
            ready: Arc::new(|| Ok(())),
            outputs: Arc::new(|| serde_json::json!([])),
            lines: Arc::new(|| serde_json::json!([])),
        };
        Self { serving: Serving::start(config, deps).expect("free ports"), desk, public, commands }
    }

    pub(crate) fn desk(&self) -> std::net::SocketAddr {
        self.serving.desk.expect("a desk")
    }

    pub(crate) fn public(&self) -> std::net::SocketAddr {
        self.serving.public.expect("a public listener")
    }

    pub(crate) fn push(&self, updates: &[Update]) {
        self.desk.push(updates);
        self.public.push(updates);
    }
}
