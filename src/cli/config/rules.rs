//! The section `[rules]`: what the event adds to its profile, and editions of the Laws that do not come
//! with the program.

use std::{fs, path::Path};

use super::{Faults, Section};
use crate::{
    hall::OptionsSetup,
    laws::{DrawAgreement, Editions, ElectronicObservation},
};

/// The largest file of an edition, in bytes.
const MAX_SIZE: u64 = 256 << 10;

/// Options of all tables, the texts of the event's own editions, and all editions there are.
pub(super) fn rules(
    root: &mut Section<'_>,
    folder: &Path,
    faults: &mut Faults,
) -> (OptionsSetup, Vec<String>, Editions) {
    let mut options = OptionsSetup::default();
    let mut editions = Editions::built_in().unwrap_or_default();
    let mut texts = Vec::new();
    let Some(mut section) = root.section("rules", faults) else { return (options, texts, editions) };
    let offset = section.offset();
    for file in section.texts("editions", faults).unwrap_or_default() {
        match read(&folder.join(&file)) {
            Ok(text) => match editions.add(&text) {
                Ok(_) => texts.push(text),
                Err(error) => faults.at(offset, format!("`rules.editions`: {file}: {error}")),
            },
            Err(error) => faults.at(offset, format!("`rules.editions`: cannot read {file}: {error}")),
        }
    }
    let agreement =
        section.parsed("draw_agreement", "one of: free, consent, forbidden", faults, |text| match text {
            "free" => Some(DrawAgreement::Free),
            "consent" => Some(DrawAgreement::ArbiterConsent),
            "forbidden" => Some(DrawAgreement::Forbidden),
            _ => None,
        });
    let moves = section.number("draw_min_moves", 1..=500, faults).map(DrawAgreement::MinMoves);
    if agreement.is_some() && moves.is_some() {
        faults.at(offset, "[rules] takes `draw_agreement` or `draw_min_moves`, not both");
    }
    options.draw_agreement = moves.or(agreement).unwrap_or_default();
    options.electronic_observation = section
        .parsed("electronic_observation", "one of: arbiter-confirms, counts, ignore", faults, |text| {
            match text {
                "arbiter-confirms" => Some(ElectronicObservation::ArbiterConfirms),
                "counts" => Some(ElectronicObservation::Counts),
                "ignore" => Some(ElectronicObservation::Ignore),
                _ => None,
            }
        })
        .unwrap_or_default();
    options.default_time_seconds =
        section.number("default_time_minutes", 0..=600, faults).map(|minutes: u32| minutes * 60);
    options.penalty_seconds = section.number("penalty_seconds", 0..=3600, faults);
    options.quickplay = section.flag("quickplay", faults).unwrap_or_default();
    options.games_per_arbiter = section.number("games_per_arbiter", 1..=1000, faults);
    section.finish(faults);
    (options, texts, editions)
}

fn read(path: &Path) -> std::io::Result<String> {
    if fs::metadata(path)?.len() > MAX_SIZE {
        return Err(std::io::Error::other("it is larger than 256 KiB"));
    }
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::parse;
    use crate::laws::{DrawAgreement, ElectronicObservation};

    #[test]
    fn what_an_event_adds_is_read() {
        let text = "[rules]\ndraw_min_moves = 30\nelectronic_observation = \"counts\"\n\
                    default_time_minutes = 15\npenalty_seconds = 60\nquickplay = true\ngames_per_arbiter = 3\n";
        let options = parse(text, Path::new("")).unwrap().event.options;
        assert_eq!(options.draw_agreement, DrawAgreement::MinMoves(30));
        assert_eq!(options.electronic_observation, ElectronicObservation::Counts);
        assert_eq!((options.default_time_seconds, options.penalty_seconds), (Some(900), Some(60)));
        assert!(options.quickplay && options.games_per_arbiter == Some(3));
    }

    #[test]
    fn a_new_edition_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let edition = "edition = \"fide-2027\"\ntitle = \"t\"\nverified = false\ninherits = \"fide-2023\"\n\
                       [base]\nillegal_moves_to_lose = 3\n";
        std::fs::write(folder.path().join("fide-2027.toml"), edition).unwrap();
        let text = "[rules]\neditions = [\"fide-2027.toml\"]\n[event]\nprofile = \"fide-2027/classical\"\n";
        let settings = parse(text, folder.path()).unwrap();
        assert_eq!(settings.event.editions, [edition]);
        let faults = parse("[event]\nprofile = \"fide-2027/classical\"\n", folder.path()).unwrap_err();
        assert!(faults[0].text.contains("known are"), "{faults:?}");
        let broken = "[rules]\neditions = [\"gone.toml\"]\n";
        assert!(parse(broken, folder.path()).unwrap_err()[0].text.contains("gone.toml"));
    }
}
