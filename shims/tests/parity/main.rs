//! The same source against std and against `mc`: outside of a check both behave, and are typed, alike.
//!
//! Without `--cfg mc` this compares std with itself; with it, std with the checked types.

/// All cases, against the crate that `subject` names in the enclosing module.
macro_rules! cases {
    ($($case:ident),* $(,)?) => {$(
        mod $case {
            use super::subject;
            include!(concat!("cases/", stringify!($case), ".rs"));
        }
    )*};
}

/// One after the other, so that a difference shows as one test that fails and one that passes.
macro_rules! against {
    ($module:ident, $subject:ident) => {
        mod $module {
            use ::$subject as subject;
            cases!(
                arc,
                atomics,
                atomics_shared,
                cells,
                channels,
                condvars,
                locals,
                locks,
                more_cells,
                more_locks,
                more_threads,
                must_use,
                once,
                pointers,
                scopes,
                stress,
                threads,
                traits,
                widths,
            );
        }
    };
}

against!(against_std, std);
against!(against_mc, mc);
