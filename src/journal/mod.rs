//! Inputs on disk (SQLite), read back in order; knows nothing of what they mean.
