//! `[import]`: a round from a pairing program's file, and the folder that is watched for such files.

use std::{fs, path::Path};

use super::reader::{Faults, Section};
use crate::{
    daemon::WatchConfig,
    event::import::{ImportOptions, import_round, read_pair_list},
    hall::{EventSetup, RoundSetup, round_of_draft},
};

/// Reads `[import]`. Boards that `[[table]]`s name stay at the tables of an imported round.
pub(super) fn imports(
    root: &mut Section<'_>,
    folder: &Path,
    event: &EventSetup,
    round: Option<RoundSetup>,
    faults: &mut Faults,
) -> (Option<RoundSetup>, Option<WatchConfig>) {
    let Some(mut section) = root.section("import", faults) else { return (round, None) };
    let offset = section.offset();
    let watch = section.text("watch", faults).map(|name| folder.join(name));
    let confirm = section.flag("confirm", faults).unwrap_or(true);
    let of = section.text("section", faults).unwrap_or_default();
    if !of.is_empty() && !event.sections.iter().any(|known| known.id == of) {
        faults.at(offset, format!("`import.section`: there is no [[section]] with the id {of:?}"));
    }
    let number = section.number("round", 1..=99, faults);
    let list = section.text_at("list", faults);
    let file = section.text_at("file", faults);
    section.finish(faults);
    let watch = watch.map(|folder| WatchConfig { folder, confirm, section: of });
    let Some((at, name)) = file else {
        if let Some((at, _)) = list {
            faults.at(at, "`import.list` gives the order of a tournament file; name that with `file`");
        }
        return (round, watch);
    };
    let pair_list = list.and_then(|(at, name)| {
        let bytes = read(&folder.join(&name), at, faults)?;
        read_pair_list(&bytes).map_err(|why| faults.at(at, format!("{name}: {why}"))).ok()
    });
    let imported = read(&folder.join(&name), at, faults).and_then(|bytes| {
        let options = ImportOptions { round: number, pair_list };
        import_round(&bytes, &options).map_err(|why| faults.at(at, format!("{name}: {why}"))).ok()
    });
    let Some(imported) = imported else { return (round, watch) };
    let told = round.unwrap_or_default();
    let mut setup = round_of_draft(&imported.draft, event, "", told.number.max(1));
    setup.date = told.date.or(setup.date);
    for table in &mut setup.tables {
        let named = told.tables.iter().find(|named| named.table == table.table);
        table.board = named.and_then(|named| named.board.clone());
    }
    (Some(setup), watch)
}

fn read(path: &Path, at: usize, faults: &mut Faults) -> Option<Vec<u8>> {
    fs::read(path).map_err(|error| faults.at(at, format!("{}: {error}", path.display()))).ok()
}
