//! How the pages' files are sent: with their type, a strong `ETag`, and headers that let a page load
//! nothing from elsewhere. Which files there are is left to [`web`](super::web).

use axum::{body::Body, http::Uri, response::Response};
use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, header, header::HeaderValue};
use sha2::{Digest, Sha256};

use super::{
    access::hex,
    problem::Problem,
    web::{self, Site},
};

/// A page may use this listener and nothing else.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
                      form-action 'none'";

/// The file at this address, or a problem.
pub(crate) fn page(site: Site, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Response, Problem> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Err(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this address only answers GET"));
    }
    let Some(asset) = web::find(site, uri.path()) else {
        return Err(Problem::not_found(format!("there is nothing at {}", uri.path())));
    };
    let mut response = tagged(headers, asset.media, Bytes::from_static(asset.bytes));
    let mut policy = POLICY.to_owned();
    // A viewer's page may be shown inside a club's page; the desk must not be framed at all.
    if site == Site::Desk {
        policy.push_str("; frame-ancestors 'none'");
    }
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// A strong `ETag` for this content.
pub(crate) fn etag(content: &[u8]) -> String {
    format!("\"{}\"", hex(&Sha256::digest(content)[..16]))
}

/// The content with its `ETag`, or 304 for a client that has it.
pub(crate) fn tagged(headers: &HeaderMap, media: &'static str, content: Bytes) -> Response {
    let tag = etag(&content);
    with_tag(headers, media, content, &tag)
}

/// As [`tagged`], where the tag is known.
pub(crate) fn with_tag(headers: &HeaderMap, media: &'static str, content: Bytes, tag: &str) -> Response {
    let known = is_known(headers, tag);
    let mut response = Response::new(if known { Body::empty() } else { Body::from(content) });
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The client has this content already. Some give the tag back without its quotes, or weak.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").trim_matches('"').to_owned();
    let ours = bare(tag);
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|theirs| theirs.trim() == "*" || bare(theirs) == ours)
}
