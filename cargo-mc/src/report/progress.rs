//! What is seen while tests run: a line for each of them on a terminal, now and then a plain line elsewhere.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::words::so_far;
use crate::discover::Case;

/// Without a terminal a test is mentioned when it has run this long, then each time that this has doubled.
const SLOW: Duration = Duration::from_secs(60);

pub(super) struct Progress {
    /// `None` where there is no terminal.
    bars: Option<Bars>,
    running: BTreeMap<String, Running>,
}

struct Bars {
    all: MultiProgress,
    total: ProgressBar,
}

struct Running {
    since: Instant,
    mention: Duration,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Bars on standard error, if that is a terminal.
    pub(super) fn on_terminal() -> Self {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let bars = || Bars { all: MultiProgress::new(), total: ProgressBar::no_length() };
        Self { bars: terminal.then(bars), running: BTreeMap::new() }
    }

    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { bars: None, running: BTreeMap::new() }
    }

    pub(super) fn begin(&mut self, tests: usize) {
        if let Some(Bars { all, total }) = &mut self.bars {
            *total = all.add(ProgressBar::new(tests as u64));
            total.set_style(style("   Checking  [{bar:28}] {pos}/{len} tests, {elapsed}").progress_chars("=> "));
            total.tick();
        }
    }

    pub(super) fn started(&mut self, case: &Case) {
        let bar = self.bars.as_ref().map(|Bars { all, .. }| {
            let bar = all.add(ProgressBar::new_spinner());
            bar.set_style(style("           {spinner} {prefix}  {msg}"));
            bar.set_prefix(case.label.clone());
            bar
        });
        self.running.insert(case.label.clone(), Running { since: Instant::now(), mention: SLOW, bar });
    }

    /// A text that is to be printed as a line, where there is no terminal.
    pub(super) fn said(&mut self, case: &Case, executions: u64, blocked: u64, estimate: Option<f64>) -> Option<String> {
        let running = self.running.get_mut(&case.label)?;
        let text = so_far(executions, blocked, estimate, running.since.elapsed());
        match &running.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.tick();
            }
            None if running.since.elapsed() >= running.mention => {
                running.mention *= 2;
                return Some(text);
            }
            None => {}
        }
        None
    }

    pub(super) fn finished(&mut self, case: &Case) {
        if let Some(bar) = self.running.remove(&case.label).and_then(|running| running.bar) {
            bar.finish_and_clear();
        }
        if let Some(Bars { total, .. }) = &self.bars {
            total.inc(1);
        }
    }

    /// Prints while the bars are out of the way.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        match &self.bars {
            Some(Bars { all, .. }) => all.suspend(print),
            None => print(),
        }
    }

    pub(super) fn end(&mut self) {
        if let Some(Bars { total, .. }) = &self.bars {
            total.finish_and_clear();
        }
    }
}

/// The templates above are constants; a mistake in one would show indicatif's own style.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
