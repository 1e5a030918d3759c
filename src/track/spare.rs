//! Buffers that one look leaves to the next one on the same thread: looks are frequent, and each would grow its
//! own anew.
//!
//! They hold nothing between two looks, and belong to no table.

use std::{cell::Cell, thread::LocalKey};

/// A buffer that grew larger is given back, in bytes.
const MOST: usize = 1 << 20;

/// The place of a buffer.
pub(super) type Place<T> = LocalKey<Cell<Vec<T>>>;

/// Takes the buffer.
pub(super) fn take<T>(place: &'static Place<T>) -> Vec<T> {
    place.take()
}

/// Leaves it.
pub(super) fn leave<T>(place: &'static Place<T>, buffer: &mut Vec<T>) {
    buffer.clear();
    if buffer.capacity() * size_of::<T>() <= MOST {
        place.set(std::mem::take(buffer));
    }
}
