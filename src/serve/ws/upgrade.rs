//! The WebSocket handshake on an HTTP request, and what is under it afterwards. Whether the client
//! may have a socket at all is decided before.

use std::pin::Pin;

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use hyper::StatusCode;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_util::task::TaskTracker;

use crate::serve::problem::Problem;

/// A connection after the handshake.
pub(crate) enum Socket {
    /// Plain TCP, with what was already read from it.
    Tcp(TcpStream, Bytes),
    /// Anything else, such as TLS.
    Other(Pin<Box<dyn Duplex>>),
}

/// A byte stream both ways.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Duplex for S {}

/// Answers the handshake and hands the socket to `serve` in a tracked task.
pub(crate) fn upgrade<F, Served>(mut request: Request, tasks: &TaskTracker, serve: F) -> Response
where
    F: FnOnce(Socket) -> Served + Send + 'static,
    Served: Future<Output = ()> + Send + 'static,
{
    let answer = match create_response_with_body(&request, Body::empty) {
        Ok(answer) => answer,
        Err(fault) => {
            return Problem::new(StatusCode::BAD_REQUEST, "not a WebSocket handshake")
                .detail(format!("{fault}; connect with a WebSocket client (ws://…)"))
                .into_response();
        }
    };
    let upgrade = hyper::upgrade::on(&mut request);
    let permit = request.extensions_mut().remove::<crate::serve::listen::Permit>();
    tasks.spawn(async move {
        match upgrade.await {
            Ok(upgraded) => {
                let socket = match upgraded.downcast::<TokioIo<TcpStream>>() {
                    // A copy: the buffer it may be the end of is large.
                    Ok(parts) => Socket::Tcp(parts.io.into_inner(), Bytes::copy_from_slice(&parts.read_buf)),
                    Err(upgraded) => Socket::Other(Box::pin(TokioIo::new(upgraded))),
                };
                serve(socket).await;
            }
            Err(error) => tracing::debug!(%error, "a client left during the handshake"),
        }
        drop(permit);
    });
    answer
}
