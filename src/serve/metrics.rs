//! What the listeners count, as Prometheus metrics. The registry brings the prefix `arbiterd`.
//!
//! | name | what |
//! | --- | --- |
//! | `arbiterd_connections{listener}` | open connections |
//! | `arbiterd_requests_total{listener}` | HTTP requests |
//! | `arbiterd_refused_total{listener}` | connections refused by a limit |
//! | `arbiterd_viewers{listener}` | clients of `/ws` |

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// Which listener, as a label.
type Label = Vec<(String, String)>;

/// The listeners' metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServeMetrics {
    connections: Family<Label, Gauge>,
    requests: Family<Label, Counter>,
    refused: Family<Label, Counter>,
    viewers: Family<Label, Gauge>,
}

/// One listener's.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListenerMetrics {
    pub(crate) connections: Gauge,
    pub(crate) requests: Counter,
    pub(crate) refused: Counter,
    pub(crate) viewers: Gauge,
}

impl ServeMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("requests", "HTTP requests", metrics.requests.clone());
        registry.register("refused", "Connections refused by a limit", metrics.refused.clone());
        registry.register("viewers", "Clients of the stream", metrics.viewers.clone());
        metrics
    }

    pub(crate) fn listener(&self, name: &str) -> ListenerMetrics {
        let label = vec![("listener".to_owned(), name.to_owned())];
        ListenerMetrics {
            connections: self.connections.get_or_create(&label).clone(),
            requests: self.requests.get_or_create(&label).clone(),
            refused: self.refused.get_or_create(&label).clone(),
            viewers: self.viewers.get_or_create(&label).clone(),
        }
    }
}
