//! How the pages' files are sent: with their type, a strong `ETag`, and headers that let a page load
//! nothing from elsewhere. Which files there are is left to [`web`](super::web).
//!
//! A page names its files below `/web/VERSION/`, so a browser that has them asks for none of them again;
//! another version of the program has other addresses.

use std::sync::OnceLock;

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
    let (path, current) = unversioned(uri.path());
    let Some(asset) = web::find(site, &path) else {
        return Err(Problem::not_found(format!("there is nothing at {}", uri.path())));
    };
    let content = match asset.path {
        "/" => html(site, asset),
        "/web/shared/base.css" => style(asset),
        _ => Bytes::from_static(asset.bytes),
    };
    let mut response = tagged(headers, asset.media, content);
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
    let keep = if current { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    Ok(response)
}

/// The path without a version, and whether that was this program's. A page of an earlier run may
/// still ask for its own version's files: it gets what there is now, and keeps none of it.
fn unversioned(path: &str) -> (String, bool) {
    let found = path.strip_prefix("/web/").and_then(|rest| rest.split_once('/'));
    match found {
        Some((version, file))
            if version.len() == VERSION_DIGITS && version.bytes().all(|digit| digit.is_ascii_hexdigit()) =>
        {
            (format!("/web/{file}"), version == self::version())
        }
        _ => (path.to_owned(), false),
    }
}

/// Length of a version in the address.
const VERSION_DIGITS: usize = 12;

/// What tells the files of this program from those of another.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Sha256::new();
        for asset in web::all(Site::Desk).chain(web::all(Site::Public)) {
            hash.update(asset.path);
            hash.update(asset.bytes);
        }
        hex(&hash.finalize())[..VERSION_DIGITS].to_owned()
    })
}

/// A listener's page, with the version in the addresses of its files.
fn html(site: Site, page: &web::Asset) -> Bytes {
    static PAGES: [OnceLock<Bytes>; 2] = [const { OnceLock::new() }; 2];
    let slot = &PAGES[usize::from(site == Site::Desk)];
    let written = || {
        let text = String::from_utf8_lossy(page.bytes).replace("\"/web/", &format!("\"/web/{}/", version()));
        Bytes::from(text)
    };
    slot.get_or_init(written).clone()
}

/// The style of both pages with the men in it: a dozen requests fewer for the first view.
fn style(style: &web::Asset) -> Bytes {
    static STYLE: OnceLock<Bytes> = OnceLock::new();
    let written = || {
        let mut text = String::from_utf8_lossy(style.bytes).into_owned();
        for piece in web::all(Site::Public).filter(|asset| asset.media == "image/svg+xml") {
            let Some(name) = piece.path.strip_prefix("/web/") else { continue };
            let picture = String::from_utf8_lossy(piece.bytes).replace('"', "'").replace('\n', "");
            let picture = picture.replace('%', "%25").replace('#', "%23");
            let picture = picture.replace('<', "%3C").replace('>', "%3E");
            text =
                text.replace(&format!("url(../{name})"), &format!("url(\"data:image/svg+xml,{picture}\")"));
        }
        Bytes::from(text)
    };
    STYLE.get_or_init(written).clone()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> Response {
        page(Site::Public, &Method::GET, &path.parse().unwrap(), &HeaderMap::new()).unwrap()
    }

    fn cached(response: &Response) -> &str {
        response.headers()[header::CACHE_CONTROL].to_str().unwrap()
    }

    #[test]
    fn files_under_this_version_are_kept_and_others_are_asked_for_again() {
        let file = format!("/web/{}/shared/board.js", version());
        assert!(cached(&get(&file)).contains("immutable"));
        assert_eq!(cached(&get("/web/0123456789ab/shared/board.js")), "no-cache");
        assert_eq!(cached(&get("/web/shared/board.js")), "no-cache");
        assert_eq!(cached(&get("/")), "no-cache");
        assert!(
            page(
                Site::Public,
                &Method::GET,
                &"/web/0123456789ab/desk/main.js".parse().unwrap(),
                &HeaderMap::new()
            )
            .is_err()
        );
    }

    #[test]
    fn the_men_stand_in_the_style() {
        let style = style(web::find(Site::Public, "/web/shared/base.css").unwrap());
        let text = std::str::from_utf8(&style).unwrap();
        assert_eq!(text.matches("url(\"data:image/svg+xml,%3Csvg").count(), 12);
        assert!(!text.contains("url(../"));
    }

    #[test]
    fn a_page_names_only_files_of_this_version() {
        for site in [Site::Desk, Site::Public] {
            let page = html(site, web::find(site, "/").unwrap());
            let text = std::str::from_utf8(&page).unwrap();
            let named = text.split('"').filter(|part| part.starts_with("/web/"));
            let mut count = 0;
            for path in named {
                let (file, current) = unversioned(path);
                assert!(current && web::find(site, &file).is_some(), "{path}");
                count += 1;
            }
            assert!(count > 10);
        }
    }
}
