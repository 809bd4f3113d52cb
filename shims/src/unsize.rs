//! `unsize!`: what std's `Arc` does by itself, for both.

/// Turns an `Arc<T>` into an `Arc` of something unsized that `T` is or implements.
///
/// std's `Arc` does so without being told; the checked one cannot on stable Rust.
///
/// ```
/// use mc::sync::Arc;
/// let shown: Arc<dyn std::fmt::Debug> = mc::unsize!(Arc::new(7), dyn std::fmt::Debug);
/// let slice: Arc<[u8]> = mc::unsize!(Arc::new([1, 2, 3]), [u8]);
/// assert_eq!((format!("{shown:?}"), slice.len()), ("7".to_owned(), 3));
/// ```
#[cfg(not(any(mc, feature = "checked")))]
#[macro_export]
macro_rules! unsize {
    ($arc:expr, $type:ty) => {{
        let arc: $crate::sync::Arc<$type> = $arc;
        arc
    }};
}

/// Turns an `Arc<T>` into an `Arc` of something unsized that `T` is or implements.
///
/// std's `Arc` does so without being told; the checked one cannot on stable Rust.
///
/// ```
/// use mc::sync::Arc;
/// let shown: Arc<dyn std::fmt::Debug> = mc::unsize!(Arc::new(7), dyn std::fmt::Debug);
/// let slice: Arc<[u8]> = mc::unsize!(Arc::new([1, 2, 3]), [u8]);
/// assert_eq!((format!("{shown:?}"), slice.len()), ("7".to_owned(), 3));
/// ```
#[cfg(any(mc, feature = "checked"))]
#[macro_export]
macro_rules! unsize {
    ($arc:expr, $type:ty) => {{
        let arc = $arc;
        // SAFETY: the closure returns its argument; the compiler adds what an unsized pointer has beside the address.
        unsafe { $crate::sync::Arc::__unsize(arc, |value| -> *const $type { value }) }
    }};
}
