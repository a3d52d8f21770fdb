//! The five documents that Interlock is built from: every table row, numbered rule
//! and example is a test here. `docs/conformance.md` lists them by section.

mod blocked_routing;
mod blocked_status;
mod integration_handoffs;
mod page;
mod program;
mod routing_reference;
mod session;
mod wrapper_handoffs;

#[path = "../cli/harness.rs"]
mod harness;

/// One test for each row: `each! { check: name(arguments); … }`.
macro_rules! each {
    ($check:ident: $($name:ident($($argument:expr),* $(,)?);)+) => {$(
        #[test]
        fn $name() {
            $check($($argument),*);
        }
    )+};
}
pub(crate) use each;
