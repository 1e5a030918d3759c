//! Errors of the HTTP interfaces as problem details (RFC 9457): what went wrong, and what to do.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use hyper::{StatusCode, header};
use serde_json::json;

/// An error for a program and for the person behind it.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    title: &'static str,
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, title: &'static str) -> Self {
        Self { status, title, detail: String::new() }
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not here").detail(what)
    }

    pub(crate) fn bad(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "not understood").detail(what)
    }

    pub(crate) fn forbidden(what: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "not allowed").detail(what)
    }

    /// Says what exactly is wrong and what can be done about it.
    #[must_use]
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({"title": self.title, "status": self.status.as_u16(), "detail": self.detail});
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        }
        response
    }
}
