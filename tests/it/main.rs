//! The one integration test binary.

mod architecture;
mod record;
mod sim;
mod support;
mod wire;
