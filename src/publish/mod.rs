//! Outputs that go out by themselves: archive tree, Lichess push, webhooks; the delay queue.
