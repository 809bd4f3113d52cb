//! What a run with `--std` sees, and what it does not: on standard error, before the tests.

use std::io::Write;

use crate::args::MessageFormat;
use crate::build::{Layers, Off, Unseen};
use crate::run::Plan;

/// The layers that are on for people (JSON has them in its first line); what is off for all.
pub(crate) fn coverage(plan: &Plan<'_>, format: MessageFormat) {
    let mut text = plan.layers.as_ref().map(|layers| of(layers, format)).unwrap_or_default();
    for left_out in &plan.left_out {
        text += &format!("\x1b[1;32mnote\x1b[0m: {}\n", left_out);
    }
    // Nobody is left to hear that standard error is closed.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn of(layers: &Layers, format: MessageFormat) -> String {
    let mut text = String::new();
    if format == MessageFormat::Human {
        let names: Vec<_> = layers.on.iter().map(|layer| layer.words()).collect();
        text += &format!("\x1b[1;32m{:>12}\x1b[0m {}\n", "Layers", names.join(", "));
    }
    for Off { unseen, because, kept } in &layers.off {
        let (layer, not_seen, bound) = match unseen {
            Unseen::Memory => ("the instrumentation is off", "plain memory is not looked at", "instrument"),
            Unseen::SystemCalls => {
                ("system calls are not seen", "what a test does outside of itself is not known", "system_calls")
            }
        };
        text += &format!(
            "\x1b[1;33mwarning\x1b[0m: {layer}: {because}\n  \
             = note: {not_seen}, so that a test with threads is BOUNDED ({bound}) at best\n  \
             = note: the self-test is not done again while `{}` is there\n",
            kept.display()
        );
    }
    text
}
