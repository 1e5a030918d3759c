//! The one loop: inputs in, journal, apply, updates out; start-up, recovery, shutdown in order.
