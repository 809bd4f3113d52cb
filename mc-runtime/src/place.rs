//! Where an event was made: in the source, or, where the compiler tells of it, in the code.

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;

/// A place of the code under test, in one word: an event has one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(NonNull<()>);

// SAFETY: what it points to lives for ever, and is never changed but through what may be shared.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

enum View {
    Source(&'static Location<'static>),
    #[cfg(feature = "unmodified")]
    Code(&'static in_code::InCode),
}

/// Set where it is a place in the code. Both have an even address.
#[cfg(feature = "unmodified")]
const CODE: usize = 1;
const _: () = assert!(align_of::<Location<'static>>() > 1);

impl From<&'static Location<'static>> for Place {
    #[inline(always)]
    fn from(location: &'static Location<'static>) -> Self {
        Self(NonNull::from(location).cast())
    }
}

impl Place {
    fn view(self) -> View {
        #[cfg(feature = "unmodified")]
        if self.0.addr().get() & CODE != 0 {
            // SAFETY: made by `of_code` from such a reference.
            return View::Code(unsafe { &*self.0.as_ptr().map_addr(|at| at & !CODE).cast::<in_code::InCode>() });
        }
        // SAFETY: made by `from` from such a reference.
        View::Source(unsafe { self.0.cast::<Location<'static>>().as_ref() })
    }

    /// A number that no other place has.
    #[cfg(feature = "unmodified")]
    pub(crate) fn key(self) -> usize {
        self.0.addr().get()
    }

    /// Does it stand in the source as it is, and not in the code?
    #[cfg(feature = "unmodified")]
    pub(crate) fn is_in_source(self) -> bool {
        matches!(self.view(), View::Source(_))
    }

    /// The file, as messages name it.
    pub(crate) fn file(self) -> &'static str {
        match self.view() {
            View::Source(location) => location.file(),
            #[cfg(feature = "unmodified")]
            View::Code(code) => &code.source().0,
        }
    }

    /// The line in it, from 1; 0 if it is not known.
    pub(crate) fn line(self) -> u32 {
        match self.view() {
            View::Source(location) => location.line(),
            #[cfg(feature = "unmodified")]
            View::Code(code) => code.source().1,
        }
    }

    /// The column on it, in characters from 1; 0 if it is not known.
    pub(crate) fn column(self) -> u32 {
        match self.view() {
            View::Source(location) => location.column(),
            #[cfg(feature = "unmodified")]
            View::Code(_) => 0,
        }
    }
}

/// Is it a file of std? They are named by the commit, or, where the sources are installed, by their place.
pub(crate) fn is_of_toolchain(file: &str) -> bool {
    file.starts_with("/rustc/") || file.contains("/rustlib/src/rust/library/")
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file(), self.line())
    }
}

#[cfg(feature = "unmodified")]
mod in_code {
    use super::{CODE, Place};
    use crate::exec::{Trace, Where};
    use crate::symbols;
    use rustc_hash::FxHashMap;
    use std::ptr::NonNull;
    use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

    /// A place in the code, and the calls around it.
    #[derive(Debug)]
    pub(super) struct InCode {
        trace: Trace,
        /// Looked up when somebody asks.
        source: OnceLock<(String, u32)>,
    }
    const _: () = assert!(align_of::<InCode>() > 1);

    impl InCode {
        pub(super) fn source(&self) -> &(String, u32) {
            self.source.get_or_init(|| {
                symbols::source(Where::Code(self.trace))
                    .unwrap_or_else(|| ("code without a known source".to_owned(), 0))
            })
        }
    }

    impl Place {
        /// The place of an address in the code, in these calls. The same addresses are the same place.
        pub(crate) fn of_code(trace: Trace) -> Self {
            static KNOWN: LazyLock<Mutex<FxHashMap<Trace, &'static InCode>>> = LazyLock::new(Mutex::default);
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || &*Box::leak(Box::new(InCode { trace, source: OnceLock::new() }));
            let code = *known.entry(trace).or_insert_with(new);
            Self(NonNull::from(code).cast().map_addr(|at| at | CODE))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn code_has_the_place_of_its_innermost_frame_of_the_test() {
            let here = code_has_the_place_of_its_innermost_frame_of_the_test as *const () as usize + 16;
            let place = Place::of_code([here, 0, 0, 0, 0, 0]);
            assert!(place.file().ends_with("place.rs"), "{}", place.file());
            assert!(place.line() > 0);
            assert_eq!(place, Place::of_code([here, 0, 0, 0, 0, 0]));
            assert_ne!(place, Place::of_code([here, 1, 0, 0, 0, 0]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_source_is_what_it_was_made_from() {
        let location = Location::caller();
        let place = Place::from(location);
        assert_eq!((place.file(), place.line()), (location.file(), location.line()));
        assert_eq!(place, Place::from(location));
    }

    #[test]
    fn a_file_of_std_is_told_from_others() {
        assert!(is_of_toolchain("/rustc/0123/library/core/src/cell.rs"));
        assert!(!is_of_toolchain("src/lib.rs"));
    }
}
