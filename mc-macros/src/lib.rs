//! The attributes of cargo-mc: [`macro@test`] and [`macro@shim`]. Use them through the package `mc-shims`, as `mc::test` and
//! `mc::shim`: what they expand to names its items.
//!
//! Not here: what a test becomes with and without `cfg(mc)` (`mc::__private_test!`, for only that package knows which of
//! the two is compiled), and what the options do.
#![forbid(unsafe_code)]

mod options;
mod rewrite;
mod shim;
mod test;
mod values;

/// Makes a function a test that `cargo mc test` checks under every schedule and every value that the memory model allows.
///
/// It expands to an ordinary `#[test]`, so `cargo test` and the editor run it too. Without `--cfg mc` the body runs once, with
/// std's types. In the body, paths and imports that start with `std::sync`, `std::thread`, `std::cell`, `std::hint`, `std::time`,
/// `core::sync`, `core::cell`, `core::hint` or `alloc::sync` mean `mc`'s; so does `thread_local!`. What the body calls is not
/// rewritten: import `mc::sync` there, or put [`macro@shim`] on it.
///
/// # Options
/// `#[mc::test(memory_model = "sc", max_executions = 10_000)]`, in any order, each at most once:
///
/// | option | value |
/// |---|---|
/// | `memory_model` | `"rc20"` (default), `"sc"` or `"tso"` |
/// | `strategy` | `"dfs"` (default), `"bfs"`, `"random"`, `"walk"`, `"pos"` or `"pct:N"` |
/// | `seed` | a whole number |
/// | `max_executions`, `max_events`, `max_failures` | a whole number above 0 |
/// | `queue_limit` | a whole number above 0, or `"N:newest"`, `"N:oldest"`, `"N:random"` |
/// | `time_limit`, `hang_limit` | a duration, `"90s"` |
/// | `max_memory` | a size, `"4G"` |
/// | `require` | the weakest verdict that passes: `"proved"`, `"bounded"` or `"sampled"` |
/// | `expect` | the kind of failure that must be found, `"data_race"`; the test passes only then |
/// | `spurious_failures` | how many weak compare-exchanges of each thread may fail for no reason in an execution (1) |
/// | `spurious_wakeups` | how often each thread may be woken from a `Condvar` or a `park` for no reason in an execution (1) |
/// | `threads` | what runs the threads of the test: `"coroutines"` (the default), or `"os"`, threads of the operating system, one at a time |
/// | `snapshots` | after how many events of an execution it is copied, for others to go on from there (0: each runs from its start) |
/// | `no_reduction` | explores what is otherwise left out: `"await"`, reads in loops that wait; `"barrier"`, who comes to a `Barrier` first; `"observer"`, what several threads that only read see together; `"poll"`, rounds of loops that undid what they did; `"readers"`, which reader of an `RwLock` comes first; `"retry"`, rounds of loops that left nothing behind; `"symmetry"`, which of several threads that are alike does what; `"unused"`, the order of updates, and what loads read, where nobody reads the result; `"value"`, which of several writes of one value a thread reads, where it then reads another of them; or `"all"`; several with commas between |
/// | `allow_panics` | alone: panics of spawned threads are part of the test |
/// | `allow_leaks` | alone: what is still allocated at the end is no failure |
///
/// A test with `expect` is wrong on purpose, so it is ignored where no checker runs.
#[proc_macro_attribute]
pub fn test(arguments: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    test::expand(arguments.into(), item.into()).into()
}

/// Makes an item use `mc`'s types where it says `std::sync`, `std::thread`, `std::cell` and so on.
///
/// It goes on a function, `impl`, struct, static, trait or an inline module, and rewrites the same paths as [`macro@test`] does.
#[proc_macro_attribute]
pub fn shim(arguments: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    shim::expand(arguments.into(), item.into()).into()
}
