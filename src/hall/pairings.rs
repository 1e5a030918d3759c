//! From an imported draft to a round that can be ordered.

use super::{EventSetup, RoundSetup, TableId, TableSetup};
use crate::{event::import::RoundDraft, record::Tags};

/// The round a draft gives: its boards stand at the tables that their numbers name, or, in a section, at
/// those from its first on. `otherwise` is its number where the draft has none. The draft's time control
/// counts where neither the section nor the event has one.
#[must_use]
pub fn round_of_draft(draft: &RoundDraft, event: &EventSetup, section: &str, otherwise: u32) -> RoundSetup {
    let section = event.sections.iter().find(|known| known.id == section);
    let first = section.map_or(1, |section| section.first_table.max(1));
    let told = section.and_then(|section| section.time_control.as_deref()).unwrap_or(&event.time_control);
    let time_control =
        draft.time_control.as_ref().filter(|_| told.is_empty()).map(crate::event::TimeControl::to_pgn);
    let again = |id: &str| draft.pairings.iter().filter(|other| other.game_id == id).count() > 1;
    let tables = draft.pairings.iter().map(|pairing| {
        let mut tags = Tags::default();
        if !pairing.game_id.is_empty() && !again(&pairing.game_id) {
            tags.set("GameId", pairing.game_id.clone());
        }
        TableSetup {
            table: TableId(pairing.table.unwrap_or(first - 1 + pairing.board)),
            board: None,
            white: pairing.white.clone(),
            black: pairing.black.clone(),
            start: pairing.start.clone().unwrap_or_default(),
            profile: None,
            time_control: time_control.clone(),
            tags,
            options: super::OptionsSetup::default(),
        }
    });
    RoundSetup {
        number: draft.round.unwrap_or(otherwise).max(1),
        date: draft.date.clone(),
        tables: tables.collect(),
    }
}
