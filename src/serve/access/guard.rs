//! Stands before every handler: is this listener meant, may that page ask, and who is asking.
//!
//! * **`Host`** must be an IP address, `localhost`, or a configured name. A page that points a name of
//!   its own at this machine (DNS rebinding) is refused.
//! * **`Origin`**, where a browser sends one, must be this very listener or a configured page, for
//!   the stream and for everything that changes something.
//! * **Token**: `Authorization: Bearer …`, or the cookie that `POST /api/v1/session` sets.

use axum::extract::Request;
use hyper::{
    HeaderMap, Method, StatusCode, header,
    header::HeaderValue,
    http::{request::Parts, uri::Authority},
};

use super::{Tokens, Who};
use crate::serve::{config::ListenConfig, problem::Problem};

/// The cookie that holds a desk's token.
pub(crate) const COOKIE: &str = "arbiterd_desk";

/// What a listener lets in.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    any_origin: bool,
}

impl Guard {
    pub(crate) fn new(config: &ListenConfig) -> Self {
        Self {
            hosts: config.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: config
                .origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
                .collect(),
            any_origin: config.any_origin,
        }
    }

    /// Host and Origin of a request.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Problem> {
        let host = host(request.headers(), request.uri().authority().map(Authority::as_str))?;
        if !self.host_is_ours(&host) {
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "not a name of this server")
                .detail("use its IP address or localhost, or add the name to this listener's `hosts`"));
        }
        let harmless = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
            && !request.headers().contains_key(header::UPGRADE);
        if self.any_origin || harmless {
            return Ok(());
        }
        self.check_origin(request.headers(), &host)
    }

    /// An `Origin`, where there is one, is this listener or a configured page.
    pub(crate) fn check_origin(&self, headers: &HeaderMap, host: &str) -> Result<(), Problem> {
        let refused = || {
            Problem::forbidden(
                "pages of other places may not use this listener; add the page's origin to its `origins`",
            )
        };
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else {
            // No browser of today leaves it out of a request that could do harm; those that send
            // this header say it in another way.
            return match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
                None | Some(b"same-origin" | b"none") => Ok(()),
                Some(_) => Err(refused()),
            };
        };
        let origin = origin.to_str().map_err(|_| refused())?.to_ascii_lowercase();
        if origins.next().is_some() {
            return Err(refused());
        }
        let same = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"))
            .is_some_and(|authority| authority == host);
        if same || self.origins.contains(&origin) { Ok(()) } else { Err(refused()) }
    }

    fn host_is_ours(&self, host: &str) -> bool {
        let name = without_port(host);
        name == "localhost"
            || name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>().is_ok()
            || self.hosts.iter().any(|ours| ours == name || ours == "*")
    }
}

/// The one Host a request names, in lower case.
pub(crate) fn host(headers: &HeaderMap, authority: Option<&str>) -> Result<String, Problem> {
    let missing = || Problem::bad("the request names no one Host");
    let mut hosts = headers.get_all(header::HOST).iter();
    let first = hosts.next().map(|host| host.to_str()).transpose().map_err(|_| missing())?;
    if hosts.next().is_some() {
        return Err(missing());
    }
    let host = authority.or(first).ok_or_else(missing)?;
    Ok(host.to_ascii_lowercase())
}

fn without_port(host: &str) -> &str {
    if host.starts_with('[') {
        return host.find(']').map_or(host, |end| &host[..=end]);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// Who is asking, by bearer token or cookie.
pub(crate) fn who(parts: &Parts, tokens: &Tokens, open: bool) -> Result<Who, Problem> {
    let refused = |detail: &str| Problem::new(StatusCode::UNAUTHORIZED, "sign in").detail(detail.to_owned());
    let presented = bearer(&parts.headers).or_else(|| cookie(&parts.headers));
    match presented {
        Some(token) => match tokens.find(token) {
            Some(grant) => Ok(Who::from(grant)),
            None if open => Ok(Who::local()),
            None => Err(refused("this token is not known, or was revoked; ask for a new sign-in link")),
        },
        None if open => Ok(Who::local()),
        None => Err(refused("open the sign-in link, or send `Authorization: Bearer TOKEN`")),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn ask(guard: &Guard, method: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = hyper::Request::builder().method(method).uri("/ws");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        guard.check(&request.body(Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn names_of_others_are_refused() {
        let mut config = ListenConfig::loopback(0);
        config.hosts.push("Live.Example.org".to_owned());
        let guard = Guard::new(&config);
        for host in [
            "127.0.0.1:8080",
            "localhost:8080",
            "[::1]:8080",
            "192.0.2.7",
            "live.example.org:80",
            "LOCALHOST",
        ] {
            assert!(ask(&guard, "GET", &[("host", host)]), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", ""] {
            assert!(!ask(&guard, "GET", &[("host", host)]), "{host}");
        }
        assert!(!ask(&guard, "GET", &[]));
        assert!(!ask(&guard, "GET", &[("host", "localhost"), ("host", "evil.example")]));
    }

    #[test]
    fn other_pages_may_not_change_anything_nor_listen() {
        let mut config = ListenConfig::loopback(0);
        config.origins.push("https://lichess.org".to_owned());
        let guard = Guard::new(&config);
        let host = ("host", "localhost:8080");
        assert!(ask(&guard, "POST", &[host]));
        assert!(ask(&guard, "POST", &[host, ("origin", "http://localhost:8080")]));
        assert!(ask(&guard, "POST", &[host, ("origin", "https://lichess.org")]));
        for origin in
            ["http://localhost:8081", "http://evil.example", "null", "https://lichess.org.evil.example"]
        {
            assert!(!ask(&guard, "POST", &[host, ("origin", origin)]), "{origin}");
            assert!(!ask(&guard, "GET", &[host, ("origin", origin), ("upgrade", "websocket")]), "{origin}");
        }
        assert!(!ask(&guard, "POST", &[host, ("sec-fetch-site", "cross-site")]));
        let public = Guard::new(&ListenConfig { any_origin: true, ..ListenConfig::loopback(0) });
        assert!(ask(&public, "GET", &[host, ("origin", "http://evil.example"), ("upgrade", "websocket")]));
    }
}
