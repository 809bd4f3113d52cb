//! A check whose threads are run by what `MC_THREADS` says: it makes no difference to what is said of a test.

use mc_runtime::check;
use mc_runtime::options::Options;
use mc_runtime::outcome::Outcome;
use mc_runtime::settings::Layer;

/// Explores `body`.
#[track_caller]
pub(crate) fn explore(options: &Options, body: impl Fn() + Send + Sync + Copy + 'static) -> Outcome {
    let threads = std::env::var("MC_THREADS").ok().map(|threads| threads.parse().expect("`coroutines` or `os`"));
    let options = Layer { threads, ..Layer::default() }.over(options.clone());
    check::check(&options, move || mc::__private::run_body(body))
}
