//! What of `--std` is on, with this toolchain and on this machine.

use std::path::PathBuf;

use super::probe::{Fault, Layer};

/// What is on. Facade and harness always are: there is nothing without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    pub(crate) on: Vec<Layer>,
    pub(crate) off: Vec<Off>,
}

/// A layer that was asked for, and cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Off {
    pub(crate) unseen: Unseen,
    pub(crate) because: String,
    /// Where that is kept.
    pub(crate) kept: PathBuf,
}

/// What is not seen without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// By the instrumentation.
    Memory,
    SystemCalls,
}

impl Layers {
    /// `fault`: why the instrumentation that was asked for is off.
    pub(super) fn new(instrumented: bool, system_calls: bool, fault: Option<(Fault, PathBuf)>, kept: PathBuf) -> Self {
        let mut layers = Self { on: vec![Layer::Facade, Layer::Harness], off: Vec::new() };
        if instrumented {
            layers.on.push(Layer::Instrumentation);
        }
        if let Some((fault, kept)) = fault {
            layers.off.push(Off { unseen: Unseen::Memory, because: fault.message, kept });
        }
        if system_calls {
            layers.on.push(Layer::SystemCalls);
        } else {
            let because =
                "the kernel has no Syscall User Dispatch (Linux 5.11), or this process may not use it".to_owned();
            layers.off.push(Off { unseen: Unseen::SystemCalls, because, kept });
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_is_not_off() {
        let all = Layers::new(true, true, None, PathBuf::new());
        assert_eq!(all.on, [Layer::Facade, Layer::Harness, Layer::Instrumentation, Layer::SystemCalls]);
        assert!(all.off.is_empty());
        let atomics = Layers::new(false, true, None, PathBuf::new());
        assert_eq!(atomics.on, [Layer::Facade, Layer::Harness, Layer::SystemCalls]);
        assert!(atomics.off.is_empty());
    }

    #[test]
    fn what_is_off_has_a_reason() {
        let fault = Fault { layer: Layer::Facade, message: "a race is not found".to_owned() };
        let layers = Layers::new(false, false, Some((fault, PathBuf::from("a"))), PathBuf::from("b"));
        let off: Vec<_> = layers.off.iter().map(|off| (off.unseen, off.because.as_str())).collect();
        assert_eq!(off[0], (Unseen::Memory, "a race is not found"));
        assert_eq!(off[1].0, Unseen::SystemCalls);
        assert!(off[1].1.contains("Linux 5.11"));
    }
}
