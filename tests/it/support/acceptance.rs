//! When games on damaged lines are right: what has to be the same, and which alerts such a hall deserves.
//! The driver's own tests (`src/link/tests.rs`) take this file in as well, so it knows nothing of the crate.

/// Where and how the plies found differ from those that were played; `None` where they do not.
pub(crate) fn difference(found: &[String], wanted: &[String]) -> Option<String> {
    if found == wanted {
        return None;
    }
    let at = found.iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
    Some(format!(
        "wrong from ply {at} of {}: {:?} instead of {:?}",
        wanted.len(),
        &found[at..found.len().min(at + 4)],
        &wanted[at..wanted.len().min(at + 4)],
    ))
}

/// Whether an arbiter or operator has to know of this alert, or it was true for the moment; `cleared`: it has gone by
/// itself, `pulled`: this board's cable was.
pub(crate) fn needed(code: &str, cleared: bool, pulled: bool) -> bool {
    // How games end, and that the clocks are stopped then.
    let ends = ["checkmate", "stalemate", "result-signal", "result-missing", "clock-paused"];
    // What these hands really do: forgotten presses, pieces set on a wrong square first, the rook first,
    // pieces put right, analysis after the end.
    let hands = [
        "clock-not-pressed",
        "claim-right-lost",
        "two-hands-suspected",
        "released-piece-moved",
        "castling-rook-first",
        "promotion-piece-swapped",
        "touch-obligation",
        "touch-move-violation",
        "press-before-release",
        "illegal-move-pending",
        "activity-while-paused",
        "activity-after-end",
    ];
    // What a pulled cable did.
    let cable = ["board-offline", "gap-recovered"];
    // True for the moment, and gone by itself: kings on the wrong squares first (one time in a hundred), a
    // piece that the slow scan sees a moment after the press, a man that stood on a wrong square for seconds.
    let passing = ["result-conflict", "piece-missing", "position-mismatch"];
    ends.contains(&code)
        || hands.contains(&code)
        || (pulled && cable.contains(&code))
        || (passing.contains(&code) && cleared)
}
