//! The one owner of all state: tables by number, `apply(Input)` to updates.
