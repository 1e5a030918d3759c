//! A listening socket and its connections: how many, how fast, for how long; the HTTP talk on each is
//! hyper's. What is answered is left to the routers.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{Router, body::Body, response::IntoResponse};
use hyper::{Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower_service::Service;

use super::{ServeError, config::Limits, metrics::ListenerMetrics, problem::Problem};

/// Room for a thousand viewers who come at once; less, and the system makes them wait a second.
const BACKLOG: u32 = 1024;
/// A client's request line and headers must be here by then; so long an idle connection is kept.
const HEADERS: Duration = Duration::from_secs(20);
/// A request must be answered by then, its body included.
const ANSWER: Duration = Duration::from_secs(20);
/// Open connections have so long to finish when the daemon stops.
const FAREWELL: Duration = Duration::from_secs(3);
/// The system's send buffer for one client: what a client that does not read may hold.
const SEND_BUFFER: u32 = 64 << 10;
/// Addresses whose pace is remembered.
const ADDRESSES: usize = 20_000;

/// Kept as long as a connection lives, a WebSocket's life included.
#[derive(Clone, Debug)]
pub(crate) struct Permit(#[expect(dead_code, reason = "held, not read")] Arc<Held>);

#[derive(Debug)]
struct Held {
    _connection: OwnedSemaphorePermit,
    address: Option<IpAddr>,
    gate: Arc<Gate>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(address) = self.address {
            self.gate.leave(address);
        }
        self.gate.metrics.connections.dec();
    }
}

/// Bounds of one listener.
#[derive(Debug)]
pub(crate) struct Gate {
    limits: Limits,
    connections: Arc<Semaphore>,
    addresses: Mutex<HashMap<IpAddr, Pace>>,
    metrics: ListenerMetrics,
}

/// What one address does.
#[derive(Debug)]
struct Pace {
    connections: usize,
    /// Requests it may still make at once.
    credit: f64,
    at: Instant,
}

impl Gate {
    pub(crate) fn new(limits: Limits, metrics: ListenerMetrics) -> Arc<Self> {
        Arc::new(Self {
            limits,
            connections: Arc::new(Semaphore::new(limits.connections)),
            addresses: Mutex::default(),
            metrics,
        })
    }

    fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Permit> {
        let Ok(connection) = self.connections.clone().try_acquire_owned() else {
            self.metrics.refused.inc();
            return None;
        };
        // A proxy on this machine speaks for all its clients.
        let address = (!address.to_canonical().is_loopback()).then_some(address.to_canonical());
        if let Some(address) = address
            && !self.with(address, |pace, limits| {
                let room = pace.connections < limits.per_address;
                pace.connections += usize::from(room);
                room
            })
        {
            self.metrics.refused.inc();
            return None;
        }
        self.metrics.connections.inc();
        Some(Permit(Arc::new(Held { _connection: connection, address, gate: self.clone() })))
    }

    fn leave(&self, address: IpAddr) {
        self.with(address, |pace, _| pace.connections = pace.connections.saturating_sub(1));
    }

    /// One more request of this address is within its pace.
    fn allows(&self, address: IpAddr) -> bool {
        self.metrics.requests.inc();
        let address = address.to_canonical();
        address.is_loopback()
            || self.with(address, |pace, limits| {
                let now = Instant::now();
                let rate = f64::from(limits.requests_per_second);
                pace.credit = (pace.credit + (now - pace.at).as_secs_f64() * rate).min(rate * 5.0);
                pace.at = now;
                let enough = pace.credit >= 1.0;
                if enough {
                    pace.credit -= 1.0;
                }
                enough
            })
    }

    fn with<R>(&self, address: IpAddr, act: impl FnOnce(&mut Pace, &Limits) -> R) -> R {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() >= ADDRESSES {
            let now = Instant::now();
            addresses.retain(|_, pace| pace.connections > 0 || now - pace.at < Duration::from_secs(10));
        }
        let credit = f64::from(self.limits.requests_per_second) * 5.0;
        let pace =
            addresses.entry(address).or_insert_with(|| Pace { connections: 0, credit, at: Instant::now() });
        act(pace, &self.limits)
    }
}

/// Binds, with a backlog for a crowd.
pub(crate) fn bind(listener: &'static str, address: SocketAddr) -> Result<TcpListener, ServeError> {
    let open = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(SEND_BUFFER)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    open().map_err(|source| ServeError::Bind { listener, address, source })
}

/// Reads the files for TLS.
#[cfg(feature = "tls")]
pub(crate) fn tls(files: &super::config::TlsFiles) -> Result<tokio_rustls::TlsAcceptor, ServeError> {
    use tokio_rustls::rustls::{
        ServerConfig, crypto,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    };
    let bad = |path: &std::path::Path, fault: String| ServeError::Tls { path: path.to_owned(), fault };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificates)
        .and_then(Iterator::collect)
        .map_err(|fault| bad(&files.certificates, fault.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|fault| bad(&files.key, fault.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|fault| bad(&files.certificates, fault.to_string()))?;
    Ok(tokio_rustls::TlsAcceptor::from(Arc::new(config)))
}

/// What every connection of a listener shares.
#[derive(Clone)]
pub(crate) struct Listening {
    pub(crate) router: Router,
    pub(crate) gate: Arc<Gate>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tokio_rustls::TlsAcceptor>,
}

/// Accepts until told to stop.
pub(crate) async fn accept(listener: TcpListener, listening: Listening) {
    loop {
        let accepted = tokio::select! {
            () = listening.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Some(permit) = listening.gate.enter(peer.ip()) else { continue };
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, %peer, "a client left at once");
                    continue;
                }
                let tasks = listening.tasks.clone();
                tasks.spawn(connection(stream, peer, permit, listening.clone()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: it passes when clients leave.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, permit: Permit, listening: Listening) {
    #[cfg(feature = "tls")]
    if let Some(tls) = &listening.tls {
        match tokio::time::timeout(HEADERS, tls.accept(stream)).await {
            Ok(Ok(stream)) => talk(stream, peer, permit, listening).await,
            Ok(Err(error)) => tracing::debug!(%error, %peer, "no TLS handshake"),
            Err(_) => tracing::debug!(%peer, "a TLS handshake that never came"),
        }
        return;
    }
    talk(stream, peer, permit, listening).await;
}

async fn talk<S>(stream: S, peer: SocketAddr, permit: Permit, listening: Listening)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let Listening { router, gate, stop, .. } = listening;
    let service = service_fn(move |request: Request<Incoming>| {
        let (mut router, gate, permit) = (router.clone(), gate.clone(), permit.clone());
        async move {
            if !gate.allows(peer.ip()) {
                return Ok::<Response<Body>, std::convert::Infallible>(
                    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many requests")
                        .detail("ask less often; updates come by themselves over /ws")
                        .into_response(),
                );
            }
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(permit);
            Ok(match tokio::time::timeout(ANSWER, router.call(request)).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(never)) => match never {},
                Err(_) => Problem::new(StatusCode::REQUEST_TIMEOUT, "too slow")
                    .detail("the request did not arrive, or could not be answered, in time")
                    .into_response(),
            })
        }
    });
    let talk = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(16 << 10)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut talk = std::pin::pin!(talk);
    let ended = tokio::select! {
        ended = talk.as_mut() => ended,
        () = stop.cancelled() => {
            talk.as_mut().graceful_shutdown();
            tokio::time::timeout(FAREWELL, talk.as_mut()).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection ended badly");
    }
}
