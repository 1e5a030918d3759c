//! What a table is made of: from event, round and pairing to its data and PGN tags.

use std::sync::Arc;

use serde_json::{Value, json};
use shakmaty::ByColor;

use super::{
    ClockView, EventSetup, LinkView, SectionSetup, TableInfo, TableSetup, TableStatus, rounds::RoundHead,
};
use crate::{
    event::{Player, latin_name},
    laws::{Alert, Editions, Extra, GameOptions, Profile, TimeControl},
    record::{Game, Tags},
    wire::BoardIdentity,
};

/// The rules where nobody names any.
const DEFAULT_PROFILE: &str = "fide-2023/classical";

/// What a table takes from the event and the round it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    event: &'a EventSetup,
    /// Its name, empty in an event of one section; and what the event says of it.
    section: (&'a str, Option<&'a SectionSetup>),
    round: u32,
    date: Option<&'a str>,
}

impl<'a> Context<'a> {
    pub(super) fn new(event: &'a EventSetup, section: &'a str, round: &'a RoundHead) -> Self {
        let known = event.sections.iter().find(|known| known.id == section);
        Self { event, section: (section, known), round: round.number, date: round.date.as_deref() }
    }

    /// The number of a table's game in its round.
    fn board(&self, setup: &TableSetup) -> u32 {
        let first = self.section.1.map_or(1, |section| section.first_table.max(1));
        setup.table.0.checked_sub(first).map_or(setup.table.0, |board| board + 1)
    }
}

/// The data of a table with a new game.
pub(super) fn table_info(setup: &TableSetup, context: &Context<'_>, number: u64) -> TableInfo {
    TableInfo {
        round: context.round,
        section: context.section.0.to_owned(),
        board: context.board(setup),
        game: number,
        white: setup.white.clone(),
        black: setup.black.clone(),
        start: setup.start.clone(),
        set: None,
        tags: tags(setup, context),
        profile: profile(setup, context).to_owned(),
        time_control: time_control(setup, context).to_owned(),
        status: TableStatus::Waiting,
        link: LinkView { board: setup.board.clone(), ..LinkView::default() },
        counts: None,
        muted: Vec::new(),
        signed: false,
        adjourned: Value::Null,
    }
}

fn profile<'a>(setup: &'a TableSetup, context: &Context<'a>) -> &'a str {
    let section = context.section.1.and_then(|section| section.profile.as_deref());
    match setup.profile.as_deref().or(section) {
        Some(profile) => profile,
        None if context.event.profile.is_empty() => DEFAULT_PROFILE,
        None => &context.event.profile,
    }
}

fn time_control<'a>(setup: &'a TableSetup, context: &Context<'a>) -> &'a str {
    let section = context.section.1.and_then(|section| section.time_control.as_deref());
    setup.time_control.as_deref().or(section).unwrap_or(&context.event.time_control)
}

/// Profile and options of this game, and its Fischer increment if the time control has one throughout.
///
/// A profile or time control that cannot be read falls back to the edition in force and to none:
/// the configuration and the desk refuse such a name before it comes here.
pub(super) fn rules(setup: &TableSetup, context: &Context<'_>) -> (Arc<Profile>, GameOptions, Option<u32>) {
    let profile = Editions::with(&context.event.editions)
        .and_then(|editions| editions.profile(profile(setup, context)))
        .map_or_else(|_| Profile::default_profile(), Arc::new);
    let time_control: Option<TimeControl> = time_control(setup, context).parse().ok();
    let increment = time_control.as_ref().and_then(|control| {
        let extras: Vec<Extra> = control.periods().iter().map(|period| period.extra).collect();
        match extras.first().copied().filter(|first| extras.iter().all(|extra| extra == first))? {
            Extra::None => Some(0),
            Extra::Increment(seconds) => Some(seconds),
            Extra::Bronstein(_) | Extra::Delay(_) | Extra::Hourglass => None,
        }
    });
    let options = setup.options.or(&context.event.options);
    let pair = |[white, black]: [u32; 2]| ByColor { white, black };
    let options = GameOptions {
        time_control,
        last_period: options.last_period,
        completed: pair(options.completed),
        illegal: pair(options.illegal),
        draw_agreement: options.draw_agreement,
        electronic_observation: options.electronic_observation,
        penalty_s: options.penalty_seconds,
        default_time_s: options.default_time_seconds,
        quickplay: options.quickplay,
        started_at: None,
        games_per_arbiter: options.games_per_arbiter,
        assistant: options.assistant,
    };
    (profile, options, increment)
}

/// PGN tags in export order, without the result.
fn tags(setup: &TableSetup, context: &Context<'_>) -> Tags {
    let event = context.event;
    let mut tags = Tags::default();
    let or =
        |value: &str, unknown: &str| if value.is_empty() { unknown.to_owned() } else { value.to_owned() };
    let of_section = context.section.1.map_or("", |section| section.name.as_str());
    let name = match (event.name.as_str(), of_section) {
        (name, "") | ("", name) => name.to_owned(),
        (name, section) => format!("{name} - {section}"),
    };
    let board = context.board(setup);
    tags.set("Event", or(&name, "?"));
    tags.set("Site", or(&event.site, "?"));
    tags.set("Date", context.date.map_or_else(|| "????.??.??".to_owned(), |date| date.replace('-', ".")));
    tags.set("Round", format!("{}.{board}", context.round));
    let latin = |name: &str| latin_name(name).filter(|_| event.latin_tags).unwrap_or_else(|| name.to_owned());
    tags.set("White", or(&latin(&setup.white.name), "?"));
    tags.set("Black", or(&latin(&setup.black.name), "?"));
    for (side, player) in [("White", &setup.white), ("Black", &setup.black)] {
        player_tags(&mut tags, side, player);
    }
    let time_control = time_control(setup, context);
    if !time_control.is_empty() {
        // People's minutes become the standard's seconds.
        let seconds = time_control.parse::<TimeControl>().map(|control| control.to_pgn());
        tags.set("TimeControl", seconds.unwrap_or_else(|_| time_control.to_owned()));
    }
    tags.set("Board", board.to_string());
    // Stable for the life of the game, whatever is corrected later: feeds match games by it.
    let id = or(&event.id, "event");
    let id = if context.section.0.is_empty() { id } else { format!("{id}-{}", context.section.0) };
    tags.set("GameId", format!("{id}-{}-{board}", context.round));
    for (name, value) in &setup.tags.0 {
        tags.set(name, value.clone());
    }
    tags
}

fn player_tags(tags: &mut Tags, side: &str, player: &Player) {
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            tags.set(&format!("{side}{name}"), value);
        }
    };
    set("Title", player.title.clone());
    set("Elo", player.rating.map(|rating| rating.to_string()));
    set("FideId", player.fide_id.map(|id| id.to_string()));
    set("Team", player.team.clone());
}

/// A board in words, such as `DGT USB 1.8`.
pub(super) fn model(identity: &BoardIdentity) -> String {
    match identity.firmware {
        Some((main, minor)) => format!("{} {main}.{minor}", identity.model).trim().to_owned(),
        None => identity.model.clone(),
    }
}

/// An alert as the incident log keeps it: with the position before it and what stood on the board then,
/// and the clocks at that moment.
pub(super) fn alert_incident(alert: &Alert, game: &Game, sensed: &str, clock: &ClockView) -> Value {
    let position = game.position();
    let differs = position.board().board_fen().to_string() != sensed;
    let last = game.plies.len().saturating_sub(1);
    let (before, after) = if differs {
        (position.fen(), sensed.to_owned())
    } else {
        (game.position_before(last).unwrap_or(&game.start).fen(), position.fen())
    };
    json!({
        "kind": "alert",
        "alert": alert,
        "fen": position.fen(),
        "before": before,
        "after": after,
        "clock": {"white": clock.white, "black": clock.black},
    })
}
