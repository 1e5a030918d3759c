//! The one integration test binary.

mod architecture;
mod support;
mod wire;
