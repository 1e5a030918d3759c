//! A simulated hall: DGT firmware on a pseudo-terminal, moved by hands that behave as people's do.
