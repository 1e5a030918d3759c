//! The files of the pages, built into the program: which there are, at which path, for which
//! listener. How they are sent (caching, compression, headers) is left to the listeners; what they
//! do is left to the files themselves.
//!
//! No page carries a script or a style in its markup and none loads anything from elsewhere, so
//! both listeners can send `Content-Security-Policy: default-src 'self'`.

/// Which listener a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    /// The arbiters' and operators' pages.
    Desk,
    /// The spectators' pages.
    Public,
}

/// One file as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// The path it is served at, such as `/web/shared/board.js`.
    pub path: &'static str,
    /// Its media type, with the charset of text.
    pub media: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

macro_rules! assets {
    ($media:literal: $($file:literal)*) => {
        &[$(Asset { path: concat!("/web/", $file), media: $media, bytes: include_bytes!($file) },)*]
    };
}

/// The desk's page. All its views have the same address; which one is shown stands after the `#`.
const DESK_PAGE: Asset =
    Asset { path: "/", media: "text/html; charset=utf-8", bytes: include_bytes!("desk/index.html") };

/// The viewer's page: the grid, a single board, `/wall` for the hall, `/embed?table=5` for a frame.
const VIEWER_PAGE: Asset =
    Asset { path: "/", media: "text/html; charset=utf-8", bytes: include_bytes!("viewer/index.html") };

/// Files of both pages.
const SHARED: &[&[Asset]] = &[
    assets!("text/javascript; charset=utf-8":
        "shared/board.js" "shared/chess.js" "shared/clock.js" "shared/dom.js" "shared/find.js"
        "shared/i18n.js" "shared/keys.js"
        "shared/moves.js" "shared/people.js" "shared/prefs.js" "shared/settings.js" "shared/store.js"
        "shared/stream.js" "shared/tile.js"
    ),
    assets!("text/css; charset=utf-8":
        "shared/base.css"
    ),
    assets!("application/json": "lang/page.en.json" "lang/page.ru.json"),
    assets!("image/svg+xml":
        "pieces/wK.svg" "pieces/wQ.svg" "pieces/wR.svg" "pieces/wB.svg" "pieces/wN.svg" "pieces/wP.svg"
        "pieces/bK.svg" "pieces/bQ.svg" "pieces/bR.svg" "pieces/bB.svg" "pieces/bN.svg" "pieces/bP.svg"
        "pieces/icon.svg"
    ),
];

/// Files of the desk alone.
const DESK: &[&[Asset]] = &[
    assets!("text/javascript; charset=utf-8":
        "desk/adjourn.js" "desk/alert.js" "desk/api.js" "desk/attention.js" "desk/caller.js" "desk/checks.js" "desk/claim.js"
        "desk/corrections.js" "desk/dialogs.js" "desk/entries.js" "desk/event.js" "desk/hall.js" "desk/health.js"
        "desk/help.js" "desk/imports.js" "desk/line.js" "desk/log.js" "desk/main.js" "desk/names.js" "desk/picker.js"
        "desk/print.js" "desk/results.js" "desk/round.js" "desk/scene.js" "desk/sheet.js" "desk/table.js" "desk/timeline.js"
        "desk/trace.js" "desk/trouble.js"
    ),
    assets!("text/css; charset=utf-8": "desk/desk.css" "desk/tools.css"),
    assets!("application/json": "lang/desk.en.json" "lang/desk.ru.json" "lang/tools.en.json" "lang/tools.ru.json"),
    assets!("image/jpeg":
        "help/attention.en.jpg" "help/attention.ru.jpg" "help/claim.en.jpg" "help/claim.ru.jpg"
        "help/round.en.jpg" "help/round.ru.jpg" "help/table.en.jpg" "help/table.ru.jpg"
        "help/trace.en.jpg" "help/trace.ru.jpg"
    ),
];

/// Files of the viewer alone.
const PUBLIC: &[&[Asset]] = &[
    assets!("text/javascript; charset=utf-8":
        "viewer/game.js" "viewer/grid.js" "viewer/main.js" "viewer/wall.js"
    ),
    assets!("text/css; charset=utf-8": "viewer/viewer.css"),
];

/// The file at this path of a listener. Query and fragment must already be cut off.
#[must_use]
pub fn find(site: Site, path: &str) -> Option<&'static Asset> {
    match (site, path) {
        (Site::Desk, "/") => return Some(&DESK_PAGE),
        (Site::Public, "/" | "/wall" | "/embed") => return Some(&VIEWER_PAGE),
        _ => {}
    }
    let own = match site {
        Site::Desk => DESK,
        Site::Public => PUBLIC,
    };
    SHARED.iter().chain(own).copied().flatten().find(|asset| asset.path == path)
}

/// All files of a listener, without its page.
pub fn all(site: Site) -> impl Iterator<Item = &'static Asset> {
    let own = match site {
        Site::Desk => DESK,
        Site::Public => PUBLIC,
    };
    SHARED.iter().chain(own).copied().flatten()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    fn files_below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                files_below(&entry.path(), &format!("{name}/"), found);
            } else if name != "mod.rs" && entry.path().extension().is_none_or(|kind| kind != "html") {
                found.insert(format!("/web/{name}"));
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut files = BTreeSet::new();
        files_below(Path::new("src/serve/web"), "", &mut files);
        let served: BTreeSet<String> =
            all(Site::Desk).chain(all(Site::Public)).map(|asset| asset.path.to_owned()).collect();
        assert_eq!(served, files);
    }

    #[test]
    fn pages_carry_no_script_or_style_in_their_markup() {
        for page in [DESK_PAGE, VIEWER_PAGE] {
            let text = std::str::from_utf8(page.bytes).unwrap();
            assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" on"));
            assert!(text.matches("<script").count() == text.matches("<script type=\"module\" src=").count());
            assert!(!text.contains("http:") && !text.contains("https:"));
        }
    }

    #[test]
    fn the_desk_is_not_on_the_public_listener() {
        assert!(all(Site::Public).all(|asset| !asset.path.contains("desk")));
        assert!(find(Site::Public, "/web/desk/main.js").is_none());
    }
}
