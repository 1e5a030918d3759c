//! What goes out by itself: the public's hold policy, the push to Lichess, hooks.

use std::{collections::BTreeSet, fs, path::Path};

use super::reader::{Faults, Section};
use crate::publish::{
    PublishConfig,
    hold::HoldPolicy,
    hook::{HookConfig, HookEvent, HookTarget},
    lichess::LichessConfig,
};

/// The most plies a channel may stay behind.
const LAG: std::ops::RangeInclusive<u16> = 1..=100;

/// Reads `[broadcast]`, `[lichess]`, `[[hook]]` and, for this event, `[nats]`.
pub(super) fn publish(
    root: &mut Section<'_>,
    event: &str,
    folder: &Path,
    faults: &mut Faults,
) -> PublishConfig {
    let mut publish = PublishConfig::default();
    if let Some(mut section) = root.section("broadcast", faults) {
        publish.hold = hold(&mut section, faults).unwrap_or_default();
        section.finish(faults);
    }
    if let Some(section) = root.section("lichess", faults) {
        publish.lichess = lichess(section, folder, faults);
    }
    for section in root.sections("hook", faults) {
        publish.hooks.extend(hook(section, folder, faults));
    }
    if let Some(section) = root.section("nats", faults) {
        nats(section, event, &mut publish, faults);
    }
    publish
}

#[cfg(not(feature = "nats"))]
#[expect(clippy::needless_pass_by_value, reason = "as with the feature")]
fn nats(section: Section<'_>, _event: &str, _publish: &mut PublishConfig, faults: &mut Faults) {
    faults.at(section.offset(), "[nats]: this arbiterd was built without the feature `nats`");
}

#[cfg(feature = "nats")]
fn nats(mut section: Section<'_>, event: &str, publish: &mut PublishConfig, faults: &mut Faults) {
    let offset = section.offset();
    let url = section.parsed("url", "an address such as \"nats://127.0.0.1:4222\"", faults, |text| {
        (text.starts_with("nats://") || text.starts_with("tls://")).then(|| text.to_owned())
    });
    let word = |text: &str| crate::event::is_word(text).then(|| text.to_owned());
    let hall = section.parsed("hall", "a short word of letters, digits, - and _", faults, word);
    let offset_tables = section.number("table_offset", 0..=100_000, faults).unwrap_or_default();
    section.finish(faults);
    if event.is_empty() {
        faults.at(offset, "[nats] needs an event's `id`, the same in each hall");
        return;
    }
    publish.nats = Some(crate::publish::nats::NatsConfig {
        url: url.unwrap_or_else(|| "nats://127.0.0.1:4222".to_owned()),
        event: event.to_owned(),
        hall: hall.unwrap_or_else(|| "main".to_owned()),
        offset: offset_tables,
    });
}

fn hold(section: &mut Section<'_>, faults: &mut Faults) -> Option<HoldPolicy> {
    let expected = "\"provisional\", \"confirmed\", or a number of plies in quotes, such as \"2\"";
    section.parsed("hold", expected, faults, |text| match text {
        "provisional" => Some(HoldPolicy::Provisional),
        "confirmed" => Some(HoldPolicy::Confirmed),
        number => number.parse().ok().filter(|number| LAG.contains(number)).map(HoldPolicy::Plies),
    })
}

fn lichess(mut section: Section<'_>, folder: &Path, faults: &mut Faults) -> Option<LichessConfig> {
    let offset = section.offset();
    let url = section.parsed("url", "an address such as \"https://lichess.org\"", faults, |text| {
        (text.starts_with("https://") || text.starts_with("http://")).then(|| text.to_owned())
    });
    let token = secret(&mut section, "token_file", folder, faults);
    let rounds = section.texts("rounds", faults);
    let policy = match hold(&mut section, faults) {
        // A broadcast cannot take a move back.
        None | Some(HoldPolicy::Provisional) => HoldPolicy::Confirmed,
        Some(policy) => policy,
    };
    section.finish(faults);
    if cfg!(not(feature = "upload")) {
        faults.at(offset, "[lichess]: this arbiterd was built without the feature `upload`");
    }
    let (Some(token), Some(rounds)) = (token, rounds) else {
        faults.at(offset, "[lichess] needs `token_file` and `rounds`, Lichess' eight letters for each round");
        return None;
    };
    for round in &rounds {
        let fits = round.is_empty() || (round.len() == 8 && round.chars().all(|c| c.is_ascii_alphanumeric()));
        if !fits {
            faults.at(
                offset,
                format!(
                    "`lichess.rounds`: {round:?} is not the eight letters at the end of a round's address"
                ),
            );
        }
    }
    let rounds = (1..).zip(rounds).filter(|(_, round)| !round.is_empty()).collect();
    let url = url.unwrap_or_else(|| "https://lichess.org".to_owned());
    Some(LichessConfig { url, rounds, token, hold: policy })
}

fn hook(mut section: Section<'_>, folder: &Path, faults: &mut Faults) -> Option<HookConfig> {
    let offset = section.offset();
    let command = section.texts("command", faults);
    let url =
        section.parsed("url", "an address for POST, such as \"https://example.org/hook\"", faults, |text| {
            (text.starts_with("https://") || text.starts_with("http://")).then(|| text.to_owned())
        });
    let names = section.texts("events", faults);
    let secret = section
        .holds_text("secret_file")
        .then(|| secret(&mut section, "secret_file", folder, faults))
        .flatten();
    section.finish(faults);
    let mut events = BTreeSet::new();
    for name in names.unwrap_or_default() {
        match name.as_str() {
            "alert" => events.insert(HookEvent::Alert),
            "result" => events.insert(HookEvent::Result),
            "pgn" => events.insert(HookEvent::Pgn),
            _ => {
                faults.at(offset, format!("`hook.events`: {name:?} is not one of: alert, result, pgn"));
                continue;
            }
        };
    }
    if events.is_empty() {
        faults.at(offset, "a [[hook]] needs `events`, such as [\"result\", \"pgn\"]");
    }
    if url.is_some() && cfg!(not(feature = "upload")) {
        faults.at(offset, "[[hook]] `url`: this arbiterd was built without the feature `upload`");
    }
    let target = match (command, url) {
        (Some(command), None) => {
            let Some((program, arguments)) = command.split_first() else {
                faults.at(offset, "`hook.command`: expected a program and its arguments, such as [\"/usr/bin/rsync\", \"-a\"]");
                return None;
            };
            HookTarget::Command(folder.join(program), arguments.to_vec())
        }
        (None, Some(url)) => HookTarget::Url(url),
        _ => {
            faults.at(offset, "a [[hook]] needs `command` or `url`, one of them");
            return None;
        }
    };
    Some(HookConfig { target, events, secret })
}

/// A secret from a file of its own, so that the configuration may be shown around.
fn secret(
    section: &mut Section<'_>,
    key: &'static str,
    folder: &Path,
    faults: &mut Faults,
) -> Option<String> {
    let (offset, file) = section.text_at(key, faults)?;
    match fs::read_to_string(folder.join(&file)) {
        Ok(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Ok(_) => {
            faults.at(offset, format!("{file} is empty; put the secret into it"));
            None
        }
        Err(error) => {
            faults.at(offset, format!("{file}: {error}; put the secret into a file that can be read"));
            None
        }
    }
}
