//! The program: hands the command line to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    arbiterd::cli::main()
}
