//! The values of `thread_local!`s: a list per thread, kept by the engine, or beside std for threads that it does not run.
//!
//! Not here: what is stored (`local`), and the thread's own handle (`current`).

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use mc_runtime::ops::{self, Locals};
use mc_runtime::system;

/// Set in the key of a value whose end runs no code: such a value stays until all destructors have run.
const PLAIN: usize = 1;

/// The keys are addresses of words, so that [`PLAIN`] is free.
const _: () = assert!(align_of::<usize>() > PLAIN);

/// What the list of a thread has for a key.
pub(super) enum Found {
    /// The value is here.
    Value(*mut ()),
    /// There has been none yet.
    Missing,
    /// It has been destroyed, or is being.
    Destroyed,
    /// The execution is being torn down, and its lists with it.
    Inert,
}

thread_local! {
    /// The list of a thread that the engine does not run. It may be asked for while other thread-locals are destroyed, and is freed after that ([`free_list`]).
    static REAL: Cell<Option<&'static RefCell<Locals>>> = const { Cell::new(None) };
    /// Its end runs the destructors.
    static END: End = const { End };
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        run_destructors();
    }
}

/// Runs `f` on the list of the calling thread. `f` runs no code of the user.
fn with_list<R>(f: impl FnOnce(&mut Locals) -> R) -> Option<R> {
    let mut f = Some(f);
    let answer = ops::with_locals(|list| f.take().expect("called once")(list));
    if answer.is_some() || ops::inert() {
        return answer;
    }
    std::hint::cold_path();
    Some(f.take().expect("not called")(&mut real_list().borrow_mut()))
}

#[cold]
#[inline(never)]
fn real_list() -> &'static RefCell<Locals> {
    REAL.get().unwrap_or_else(|| {
        let list: &'static RefCell<Locals> = Box::leak(Box::new(RefCell::new(Vec::new())));
        REAL.set(Some(list));
        // Where there is no room for that it is leaked.
        // SAFETY: leaked above, and this thread's own.
        unsafe { system::at_end_of_thread(ptr::from_ref(list).cast_mut().cast(), free_list) };
        // Registers the destructor; none is needed when thread-locals are already being destroyed.
        let _ = END.try_with(|_| ());
        list
    })
}

/// Frees the list of a thread that ends. What asks for a thread-local even then gets another list.
///
/// # Safety
/// `list` is that of the calling thread, from `with_list`, which does not use it meanwhile.
unsafe extern "C" fn free_list(list: *mut c_void) {
    REAL.set(None);
    // SAFETY: leaked in `with_list`; nobody else has it, and the only reference that is kept is gone.
    drop(unsafe { Box::from_raw(list.cast::<RefCell<Locals>>()) });
}

/// The value for `id`.
pub(super) fn find(id: usize) -> Found {
    let entry = with_list(|list| list.iter().find(|entry| entry.0 & !PLAIN == id).map(|entry| entry.1));
    match entry {
        None => Found::Inert,
        Some(None) => Found::Missing,
        Some(Some(value)) if value.is_null() => Found::Destroyed,
        Some(Some(value)) => Found::Value(value),
    }
}

/// Puts `value` in the list under `id`, instead of one that is there already, which is dropped, and returns where it is. `runs`: does its end run code of the user?
pub(super) fn insert<T: 'static>(id: usize, value: T, runs: bool) -> *mut T {
    let place = Box::into_raw(Box::new(value));
    let entry = (if runs { id } else { id | PLAIN }, place.cast(), free::<T> as unsafe fn(*mut ()));
    let old = with_list(|list| match list.iter_mut().find(|entry| entry.0 & !PLAIN == id) {
        Some(there) => std::mem::replace(&mut there.1, place.cast()),
        None => {
            list.push(entry);
            ptr::null_mut()
        }
    });
    ops::made_local();
    // SAFETY: what was under this id before is null or a boxed `T`, too, and is not in the list any more.
    unsafe { free::<T>(old.unwrap_or(ptr::null_mut())) };
    place
}

/// Drops a boxed `T`; nothing for null.
///
/// # Safety
/// `value` is null, or from `Box::<T>::into_raw` and not used again.
unsafe fn free<T>(value: *mut ()) {
    if !value.is_null() {
        // SAFETY: promised by the caller.
        drop(unsafe { Box::from_raw(value.cast::<T>()) });
    }
}

/// Has the calling thread values whose end runs code?
pub(super) fn any_destructor() -> bool {
    with_list(|list| list.iter().any(|entry| entry.0 & PLAIN == 0 && !entry.1.is_null())).unwrap_or(false)
}

/// Drops the calling thread's values, the one that was made last first, also those that are made meanwhile.
pub(crate) fn run_destructors() {
    if !with_list(|list| list.is_empty()).unwrap_or(true) {
        run_all();
    }
}

#[inline(never)]
fn run_all() {
    for plain in [0, PLAIN] {
        while let Some((value, free)) = with_list(|list| take_last(list, plain)).flatten() {
            // SAFETY: the list holds boxed values with the function that frees them; this one was just marked as destroyed.
            let ended = catch_unwind(AssertUnwindSafe(|| unsafe { free(value) }));
            if let Err(payload) = ended {
                if !ops::controlled() && !ops::inert() {
                    // As std: a thread-local that panics while it is destroyed ends the process.
                    std::process::abort();
                }
                ops::caught_at_end(payload);
            }
        }
    }
}

/// A boxed value, and the function that frees it.
type Boxed = (*mut (), unsafe fn(*mut ()));

/// Marks the last value of this kind as destroyed.
fn take_last(list: &mut Locals, plain: usize) -> Option<Boxed> {
    let entry = list.iter_mut().rev().find(|entry| entry.0 & PLAIN == plain && !entry.1.is_null())?;
    Some((std::mem::replace(&mut entry.1, ptr::null_mut()), entry.2))
}
