//! A keeper by itself, for the tests of this crate. The program `plenary` is its
//! own keeper.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(plenary_providers::keep(std::env::args_os().skip(2)))
}
