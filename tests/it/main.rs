//! The integration tests: one binary, one module a feature.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test, and says where"
)]

#[allow(dead_code, reason = "a bench offers what tests may want, whether or not one does today")]
mod bench;
mod provider;
