//! What rustc says of the host, and what the user's flags add to it.

use std::collections::BTreeSet;
use std::process::Command;

use cargo_platform::Cfg;

use super::DoctorError;

/// The machine that tests run on.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) triple: String,
    pub(super) cfgs: BTreeSet<Cfg>,
}

impl Host {
    /// Asks rustc. `flags` are the user's.
    pub(super) fn ask(flags: &[String]) -> Result<Self, DoctorError> {
        let program = crate::build::rustc();
        let output = Command::new(&program).args(["--print", "host-tuple", "--print", "cfg"]).output();
        let output = output.map_err(|source| DoctorError::Run { program: program.clone(), source })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines();
        let Some(triple) = lines.next().filter(|_| output.status.success()) else {
            return Err(DoctorError::Rustc { program });
        };
        let cfgs = lines.map(str::to_owned).chain(added(flags));
        Ok(Self { triple: triple.to_owned(), cfgs: cfgs.filter_map(|cfg| cfg.parse().ok()).collect() })
    }
}

/// What `--cfg` sets.
fn added(flags: &[String]) -> Vec<String> {
    let after = flags.windows(2).filter(|pair| pair[0] == "--cfg").map(|pair| pair[1].clone());
    let joined = flags.iter().filter_map(|flag| flag.strip_prefix("--cfg=")).map(str::to_owned);
    after.chain(joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfgs_of_the_users_flags_count() {
        let flags = ["-Copt-level=1", "--cfg", "loom", "--cfg=tokio_unstable"].map(str::to_owned);
        assert_eq!(added(&flags), ["loom", "tokio_unstable"]);
        let host = Host::ask(&flags).unwrap();
        assert!(host.cfgs.contains(&"loom".parse().unwrap()) && !host.triple.contains(' '));
        assert!(host.cfgs.contains(&"unix".parse().unwrap()) == cfg!(unix));
    }
}
