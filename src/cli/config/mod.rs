//! The configuration file: TOML in, [`Settings`] out, or every fault at once.
//!
//! `config/arbiterd.toml` explains every key; a test reads it through here.

mod imports;
mod publish;
mod reader;
mod rules;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use shakmaty::CastlingMode;
use toml::de::DeTable;

pub use reader::Fault;
use reader::{Faults, Section};

use crate::{
    daemon::Settings,
    event::{Player, is_word},
    hall::{BoardKey, EventSetup, MAX_TABLES, RoundSetup, SectionSetup, TableId, TableSetup},
    laws::{Editions, TimeControl},
    link::{Make, Mode, PortConfig},
    record::{Position, Tags},
    serve::{
        ServeConfig,
        access::{Grant, Role, Tokens},
        config::{ListenConfig, TlsFiles},
    },
};

/// The largest configuration file, in bytes.
const MAX_SIZE: u64 = 4 << 20;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// It cannot be read at all.
    #[error("cannot read {path}: {source}; name a file that exists, or leave --config away")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It has faults.
    #[error("{}", list(path, faults))]
    Faults {
        /// The file.
        path: PathBuf,
        /// All of them, by line.
        faults: Vec<Fault>,
    },
}

fn list(path: &Path, faults: &[Fault]) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| format!("{}: {fault}", path.display())).collect();
    lines.join("\n")
}

/// Reads a configuration file.
pub(crate) fn load(path: &Path) -> Result<Settings, ConfigError> {
    let read = |source| ConfigError::Read { path: path.to_owned(), source };
    let length = fs::metadata(path).map_err(read)?.len();
    if length > MAX_SIZE {
        return Err(read(std::io::Error::other("it is larger than 4 MiB")));
    }
    let text = fs::read_to_string(path).map_err(read)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, folder).map_err(|faults| ConfigError::Faults { path: path.to_owned(), faults })
}

/// Reads the text of a configuration. File names in it are relative to `folder`.
///
/// # Errors
/// All its faults at once, each with its line and what is expected.
pub fn parse(text: &str, folder: &Path) -> Result<Settings, Vec<Fault>> {
    let mut faults = Faults::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let offset = error.span().map_or(0, |span| span.start);
        faults.at(offset, error.message().to_owned());
    }
    let mut root = Section::root(&table);
    let (options, texts, editions) = rules::rules(&mut root, folder, &mut faults);
    let mut event = event(&mut root, &editions, &mut faults);
    (event.options, event.editions) = (options, texts);
    let round = round(&mut root, &event, &editions, &mut faults);
    let (round, watch) = imports::imports(&mut root, folder, &event, round, &mut faults);
    let publish = publish::publish(&mut root, &event.id, folder, &mut faults);
    let settings = Settings {
        journal: folder.join("arbiterd.sqlite"),
        archive: None,
        event,
        round,
        watch,
        ports: ports(&mut root, folder, &mut faults),
        serve: serve(&mut root, folder, &mut faults),
        publish,
    };
    let settings = files(settings, &mut root, folder, &mut faults);
    root.finish(&mut faults);
    check_boards(&settings, &mut faults);
    match faults.finish() {
        faults if faults.is_empty() => Ok(settings),
        faults => Err(faults),
    }
}

fn files(mut settings: Settings, root: &mut Section<'_>, folder: &Path, faults: &mut Faults) -> Settings {
    if let Some(mut section) = root.section("journal", faults) {
        if let Some(file) = section.text("file", faults) {
            settings.journal = folder.join(file);
        }
        section.finish(faults);
    }
    if let Some(mut section) = root.section("archive", faults) {
        settings.archive = section.text("folder", faults).map(|name| folder.join(name));
        section.finish(faults);
    }
    settings
}

fn event(root: &mut Section<'_>, editions: &Editions, faults: &mut Faults) -> EventSetup {
    let mut event = EventSetup::default();
    let Some(mut section) = root.section("event", faults) else { return event };
    let word = |text: &str| is_word(text).then(|| text.to_owned());
    let id = section.parsed("id", "a short word of letters, digits, - and _", faults, word);
    event.id = id.unwrap_or_default();
    event.name = section.text("name", faults).unwrap_or_default();
    event.site = section.text("site", faults).unwrap_or_default();
    event.profile = profile(&mut section, editions, faults).unwrap_or_default();
    event.time_control = time_control(&mut section, faults).unwrap_or_default();
    event.rounds = section.number("rounds", 0..=99, faults).unwrap_or_default();
    event.delay_seconds = section.number("delay_seconds", 0..=3600, faults).unwrap_or_default();
    let known = |text: &str| ["en", "ru"].contains(&text).then(|| text.to_owned());
    event.language = section.parsed("language", "en or ru", faults, known).unwrap_or_default();
    event.latin_tags = section.flag("latin_tags", faults).unwrap_or_default();
    event.auto_bind = section.flag("auto_bind", faults).unwrap_or_default();
    section.finish(faults);
    for mut section in root.sections("section", faults) {
        let offset = section.offset();
        let id = section.parsed("id", "a short word of letters, digits and dashes", faults, word);
        let setup = SectionSetup {
            id: id.unwrap_or_default(),
            name: section.text("name", faults).unwrap_or_default(),
            profile: profile(&mut section, editions, faults),
            time_control: time_control(&mut section, faults),
            first_table: section.number("first_table", 0..=9999, faults).unwrap_or_default(),
        };
        section.finish(faults);
        if setup.id.is_empty() || event.sections.iter().any(|other| other.id == setup.id) {
            faults.at(offset, "a [[section]] needs an `id` of its own");
        } else {
            event.sections.push(setup);
        }
    }
    event
}

fn profile(section: &mut Section<'_>, editions: &Editions, faults: &mut Faults) -> Option<String> {
    let (offset, name) = section.text_at("profile", faults)?;
    if let Err(error) = editions.profile(&name) {
        faults.at(offset, format!("`profile`: {error}"));
    }
    Some(name)
}

fn time_control(section: &mut Section<'_>, faults: &mut Faults) -> Option<String> {
    let expected =
        "a time control such as \"40/5400+30:1800+30\" (PGN) or \"90+30\" (minutes and seconds a move)";
    section.parsed("time_control", expected, faults, |text| {
        text.parse::<TimeControl>().ok().map(|_| text.to_owned())
    })
}

fn round(
    root: &mut Section<'_>,
    event: &EventSetup,
    editions: &Editions,
    faults: &mut Faults,
) -> Option<RoundSetup> {
    let mut round = RoundSetup { number: 1, ..RoundSetup::default() };
    let mut given = false;
    if let Some(mut section) = root.section("round", faults) {
        given = true;
        let last = if event.rounds == 0 { 99 } else { event.rounds };
        round.number = section.number("number", 1..=last, faults).unwrap_or(1);
        let date = |text: &str| text.parse::<jiff::civil::Date>().ok().map(|_| text.to_owned());
        round.date = section.parsed("date", "a date such as 2026-05-01", faults, date);
        section.finish(faults);
    }
    let mut numbers = BTreeMap::new();
    for mut section in root.sections("table", faults) {
        let offset = section.offset();
        if let Some(table) = table(&mut section, editions, faults) {
            if let Some(first) = numbers.insert(table.table, offset) {
                let _ = first;
                faults.at(
                    offset,
                    format!("table {} is there twice; give each table its own number", table.table),
                );
            }
            round.tables.push(table);
        }
        section.finish(faults);
    }
    if round.tables.len() > MAX_TABLES {
        faults.missing(format!("more than {MAX_TABLES} tables"));
    }
    (given || !round.tables.is_empty()).then_some(round)
}

fn table(section: &mut Section<'_>, editions: &Editions, faults: &mut Faults) -> Option<TableSetup> {
    let number = section.number("number", 1..=9999, faults);
    if number.is_none() {
        faults.at(section.offset(), "a [[table]] needs `number`, from 1 to 9999");
    }
    let board = section.text("board", faults);
    let port = section.text("port", faults);
    if board.is_some() && port.is_some() {
        faults.at(section.offset(), "a table is bound by `board` (serial number) or by `port`, not by both");
    }
    let start = start(section, faults);
    let table = TableSetup {
        table: TableId(number.unwrap_or(0)),
        board: board.map(serial_number).or(port).map(BoardKey),
        white: player("white", section, faults),
        black: player("black", section, faults),
        start,
        profile: profile(section, editions, faults),
        time_control: time_control(section, faults),
        tags: Tags::default(),
        options: crate::hall::OptionsSetup::default(),
    };
    number.map(|_| table)
}

/// A serial number as boards tell it: DGT's older ones have five digits with zeros in front.
fn serial_number(text: String) -> String {
    let short = !text.is_empty() && text.len() < 5 && text.chars().all(|c| c.is_ascii_digit());
    if short { format!("{text:0>5}") } else { text }
}

fn start(section: &mut Section<'_>, faults: &mut Faults) -> Position {
    let offset = section.offset();
    let fen = section.text_at("start", faults);
    let number = section.number("chess960", 0..=959, faults);
    match (fen, number) {
        (Some(_), Some(_)) => {
            faults.at(
                offset,
                "a game starts from `start` (a FEN) or from `chess960` (a number), not from both",
            );
            Position::default()
        }
        (Some((offset, fen)), None) => match Position::from_fen(&fen, CastlingMode::Standard) {
            Ok(position) if position.chess().is_some() => position,
            Ok(_) => {
                faults.at(offset, format!("`start`: {fen:?} is no legal position"));
                Position::default()
            }
            Err(error) => {
                faults.at(offset, format!("`start`: {error}"));
                Position::default()
            }
        },
        (None, Some(number)) => Position::chess960(number),
        (None, None) => Position::default(),
    }
}

fn player(side: &'static str, table: &mut Section<'_>, faults: &mut Faults) -> Player {
    if table.holds_text(side) {
        return Player::named(table.text(side, faults).unwrap_or_default());
    }
    let mut player = Player::default();
    let Some(mut section) = table.section(side, faults) else { return player };
    player.name = section.text("name", faults).unwrap_or_default();
    player.title = section.text("title", faults);
    player.rating = section.number("rating", 0..=4000, faults);
    player.federation = section.text("federation", faults);
    player.fide_id = section.number("fide_id", 0..=u32::MAX, faults);
    player.team = section.text("team", faults);
    section.finish(faults);
    player
}

fn ports(root: &mut Section<'_>, folder: &Path, faults: &mut Faults) -> Vec<PortConfig> {
    let mut ports = Vec::new();
    let mut seen = BTreeSet::new();
    for mut section in root.sections("port", faults) {
        let offset = section.offset();
        let Some((at, path)) = section.text_at("path", faults) else {
            faults.at(offset, "a [[port]] needs `path`, such as \"/dev/ttyUSB*\"");
            section.finish(faults);
            continue;
        };
        if path.is_empty() || path.len() > 4096 {
            faults.at(at, "`port.path`: expected a device such as \"/dev/ttyUSB0\" or a pattern such as \"/dev/ttyUSB*\"");
        }
        if !seen.insert(path.clone()) {
            faults.at(at, format!("port {path} is there twice; one [[port]] each"));
        }
        let mut port = PortConfig::new(path);
        let make = section.parsed("make", "one of: dgt, certabo, millennium", faults, |text| match text {
            "dgt" => Some(Make::Dgt),
            "certabo" => Some(Make::Certabo),
            "millennium" => Some(Make::Millennium),
            _ => None,
        });
        let mode = section.parsed("mode", "one of: auto, single, bus", faults, |text| match text {
            "auto" => Some(Mode::Auto),
            "single" => Some(Mode::Single),
            "bus" => Some(Mode::Bus),
            _ => None,
        });
        port.make = make.unwrap_or(port.make);
        port.mode = mode.unwrap_or(port.mode);
        port.exclusive = section.flag("exclusive", faults).unwrap_or(port.exclusive);
        port.recover = section.flag("recover", faults).unwrap_or(port.recover);
        port.modem_lines_high = section.flag("modem_lines_high", faults).or(port.modem_lines_high);
        let expected = section.numbers("boards", faults).unwrap_or_default();
        if expected.iter().any(|number| !(1..=16383).contains(number)) {
            faults.at(offset, "`port.boards`: bus addresses are serial numbers from 1 to 16383");
        }
        port.expected = expected.into_iter().filter_map(|number| u16::try_from(number).ok()).collect();
        port.calibration = section.text("calibration", faults).map(|file| folder.join(file));
        ports.push(port);
        section.finish(faults);
    }
    ports
}

fn serve(root: &mut Section<'_>, folder: &Path, faults: &mut Faults) -> ServeConfig {
    let mut serve = ServeConfig::default();
    listener("desk", root, &mut serve.desk, folder, faults);
    listener("public", root, &mut serve.public, folder, faults);
    listener("livechess", root, &mut serve.livechess, folder, faults);
    let mut tokens = Vec::new();
    for mut section in root.sections("token", faults) {
        let offset = section.offset();
        let name = section.text("name", faults);
        let role =
            section.parsed("role", "one of: chief-arbiter, arbiter, operator, read-only", faults, |text| {
                match text {
                    "chief-arbiter" => Some(Role::ChiefArbiter),
                    "arbiter" => Some(Role::Arbiter),
                    "operator" => Some(Role::Operator),
                    "read-only" => Some(Role::ReadOnly),
                    _ => None,
                }
            });
        let tables = section.numbers("tables", faults);
        let sha256 = section.parsed(
            "sha256",
            "64 hexadecimal digits (`arbiterd token` prints them)",
            faults,
            |text| (text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit())).then(|| text.to_owned()),
        );
        section.finish(faults);
        match (name, role, sha256) {
            (Some(name), Some(role), Some(sha256)) => tokens.push(Grant {
                name,
                role,
                tables: tables.map(|tables| tables.into_iter().map(TableId).collect()),
                sha256,
            }),
            _ => faults.at(offset, "a [[token]] needs `name`, `role` and `sha256`"),
        }
    }
    serve.tokens = Tokens(tokens);
    if serve.tokens.is_empty() && serve.desk.as_ref().is_some_and(|desk| !desk.address.ip().is_loopback()) {
        faults.missing(
            "[desk] listens beyond this machine but there is no [[token]]; make one with `arbiterd token`, or \
             listen on 127.0.0.1",
        );
    }
    serve
}

fn listener(
    name: &'static str,
    root: &mut Section<'_>,
    config: &mut Option<ListenConfig>,
    folder: &Path,
    faults: &mut Faults,
) {
    let Some(mut section) = root.section(name, faults) else { return };
    let off = section.flag("off", faults).unwrap_or(false);
    let default = match name {
        "livechess" => ListenConfig::loopback(1982),
        _ => config.clone().unwrap_or_else(|| ListenConfig::loopback(8080)),
    };
    let mut listen = config.take().unwrap_or(default);
    let address = section.parsed("listen", "an address such as \"127.0.0.1:8080\"", faults, |text| {
        text.parse::<SocketAddr>().ok()
    });
    listen.address = address.unwrap_or(listen.address);
    listen.hosts = section.texts("hosts", faults).unwrap_or_default();
    listen.origins = section.texts("origins", faults).unwrap_or(listen.origins);
    let offset = section.offset();
    match (section.text("certificates", faults), section.text("key", faults)) {
        (None, None) => {}
        (Some(certificates), Some(key)) => {
            listen.tls = Some(TlsFiles { certificates: folder.join(certificates), key: folder.join(key) });
            if cfg!(not(feature = "tls")) {
                faults.at(offset, format!("[{name}]: this arbiterd was built without the feature `tls`"));
            }
        }
        _ => faults.at(offset, format!("[{name}]: TLS needs both `certificates` and `key`")),
    }
    section.finish(faults);
    *config = (!off).then_some(listen);
}

/// No board may stand at two tables, and a table's port must be one that is opened.
fn check_boards(settings: &Settings, faults: &mut Faults) {
    let mut seen = BTreeMap::new();
    for table in settings.round.iter().flat_map(|round| &round.tables) {
        let Some(board) = &table.board else { continue };
        if let Some(other) = seen.insert(board.clone(), table.table) {
            faults.missing(format!(
                "board {board} is bound to table {other} and to table {}; a board stands at one table",
                table.table
            ));
        }
    }
    if settings.ports.is_empty() && !seen.is_empty() {
        faults.missing("tables have boards, but there is no [[port]] to find them on; add one, such as path = \"/dev/ttyUSB*\"");
    }
}
