//! Start-up: the journal is read again, and every game goes on.

use crate::{
    hall::{Hall, Input, Update},
    journal::{Journal, JournalError},
};

/// Updates folded at once while recovering.
const GROUP: usize = 4096;

/// Folds a journal into a hall. `show` is given the updates in order, in groups.
///
/// # Errors
/// The journal is damaged, or holds an input this program cannot read.
pub fn recover(journal: &Journal, mut show: impl FnMut(&[Update])) -> Result<Hall, JournalError> {
    let mut hall = Hall::new();
    let mut group = Vec::with_capacity(GROUP);
    journal.read(|entry| {
        let input: Input = serde_json::from_str(&entry.text).map_err(|error| JournalError::Damaged {
            path: journal.path().to_owned(),
            why: format!("input {} cannot be read: {error}", entry.number),
        })?;
        group.append(&mut hall.apply(&input));
        if group.len() >= GROUP {
            show(&group);
            group.clear();
        }
        Ok::<_, JournalError>(())
    })?;
    show(&group);
    // Nobody is waiting for what was asked before the stop.
    hall.take_questions();
    Ok(hall)
}
