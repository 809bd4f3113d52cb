//! Makes `docs/parity.md`, and the list of std's items that it compares with, where the toolchain has std's documentation.

use mc_tests::parity;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(theirs) = parity::sources::std_items()? else {
        return Err(format!(
            "the toolchain has no documentation of std {}; add it with `rustup component add rust-docs`",
            parity::VERSION
        )
        .into());
    };
    std::fs::write(parity::sources::list(), parity::to_text(&theirs))?;
    let own = std::env::current_exe()?;
    let directory = own.parent().ok_or("a binary is in a directory")?.to_string_lossy().into_owned();
    let ours = parity::sources::our_items(&directory, "mc")?;
    let reasons = parity::reasons(&std::fs::read_to_string(parity::sources::reasons())?);
    let (rows, _) = parity::compare(&theirs, &ours, &reasons);
    std::fs::write(parity::sources::table(), parity::markdown(&rows))?;
    Ok(())
}
