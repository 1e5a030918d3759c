//! The one integration test binary.

mod architecture;
mod sim;
mod support;
mod wire;
