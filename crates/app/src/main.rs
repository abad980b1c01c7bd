//! See `lib.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    plenary::run()
}
