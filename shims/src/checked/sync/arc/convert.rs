//! What becomes an `Arc`. What is not sized goes through a box.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::ptr::NonNull;

use super::Arc;
use super::block::Block;

impl<T> From<T> for Arc<T> {
    fn from(data: T) -> Self {
        Self::new(data)
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    fn from(data: Box<T>) -> Self {
        // SAFETY: the block is new, holds a value, and its one strong count becomes this owner.
        unsafe { Self::from_block(Block::of_boxed(data)) }
    }
}

impl<T: ?Sized> Arc<T> {
    /// The only owner of a value that std's `Arc` holds; `None` when there are others.
    pub(crate) fn of_std(data: std::sync::Arc<T>) -> Option<Self> {
        // SAFETY: the block is new, holds a value, and its one strong count becomes this owner.
        Block::of_std(data).map(|block| unsafe { Self::from_block(block) })
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    fn from(data: Vec<T>) -> Self {
        Self::from(data.into_boxed_slice())
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    fn from(data: [T; N]) -> Self {
        Self::from(Vec::from(data))
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(data: I) -> Self {
        Self::from(Vec::from_iter(data))
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    fn from(data: &[T]) -> Self {
        Self::from(Vec::from(data))
    }
}

impl<T: Clone> From<&mut [T]> for Arc<[T]> {
    fn from(data: &mut [T]) -> Self {
        Self::from(Vec::from(data))
    }
}

/// From references to something unsized, which are boxed on the way.
macro_rules! from_references {
    ($($unsized:ty),*) => {$(
        impl From<&$unsized> for Arc<$unsized> {
            fn from(data: &$unsized) -> Self {
                Self::from(Box::<$unsized>::from(data))
            }
        }

        impl From<&mut $unsized> for Arc<$unsized> {
            fn from(data: &mut $unsized) -> Self {
                Self::from(Box::<$unsized>::from(&*data))
            }
        }
    )*};
}
from_references!(str, CStr, OsStr, Path);

impl From<String> for Arc<str> {
    fn from(data: String) -> Self {
        Self::from(data.into_boxed_str())
    }
}

impl From<CString> for Arc<CStr> {
    fn from(data: CString) -> Self {
        Self::from(data.into_boxed_c_str())
    }
}

impl From<OsString> for Arc<OsStr> {
    fn from(data: OsString) -> Self {
        Self::from(data.into_boxed_os_str())
    }
}

impl From<PathBuf> for Arc<Path> {
    fn from(data: PathBuf) -> Self {
        Self::from(data.into_boxed_path())
    }
}

impl<'a, B> From<Cow<'a, B>> for Arc<B>
where
    B: ToOwned + ?Sized,
    Self: From<&'a B> + From<B::Owned>,
{
    fn from(data: Cow<'a, B>) -> Self {
        match data {
            Cow::Borrowed(data) => Self::from(data),
            Cow::Owned(data) => Self::from(data),
        }
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(text: Arc<str>) -> Self {
        let text = ManuallyDrop::new(text);
        let block = text.block.as_ptr() as *mut Block<[u8]>;
        // SAFETY: a `str` has the layout of its bytes, the pointer is not null, and the count passes on.
        unsafe { Self::from_block(NonNull::new_unchecked(block)) }
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    fn try_from(slice: Arc<[T]>) -> Result<Self, Self::Error> {
        if slice.len() != N {
            return Err(slice);
        }
        let slice = ManuallyDrop::new(slice);
        // SAFETY: a slice of `N` values has the layout of an array of them, and the count passes on.
        Ok(unsafe { Self::from_block(slice.block.cast()) })
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl Default for Arc<str> {
    fn default() -> Self {
        Self::from("")
    }
}

impl Default for Arc<CStr> {
    fn default() -> Self {
        Self::from(c"")
    }
}

impl<T> Default for Arc<[T]> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: ?Sized> Default for Pin<Arc<T>>
where
    Arc<T>: Default,
{
    fn default() -> Self {
        // SAFETY: the value stays in its block until it is dropped.
        unsafe { Self::new_unchecked(Arc::default()) }
    }
}
