//! Buffers that one look leaves to the next one on the same thread: looks are frequent, and each would grow its
//! own anew.
//!
//! They hold nothing between two looks, and belong to no table.

use std::cell::Cell;

/// A buffer that grew larger is given back, in bytes.
const MOST: usize = 1 << 20;

/// Takes the buffer.
pub(super) fn take<T>(place: &Cell<Vec<T>>) -> Vec<T> {
    place.take()
}

/// Leaves it.
pub(super) fn leave<T>(place: &Cell<Vec<T>>, buffer: &mut Vec<T>) {
    buffer.clear();
    if buffer.capacity() * size_of::<T>() <= MOST {
        place.set(std::mem::take(buffer));
    }
}
