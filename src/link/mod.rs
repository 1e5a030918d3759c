//! One driver a port: open, identify, poll, notice silence, reopen; turns messages into `Observation`s.
