// More of `Arc` and `Weak`.

use std::borrow::{Borrow, Cow};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, OsStr, OsString};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use subject::sync::atomic::{AtomicUsize, Ordering::*};
use subject::sync::{Arc, Mutex, Weak};
use subject::thread;

/// Counts its drops.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_value_is_shared_with_threads_and_comes_back() {
    let numbers = Arc::new(vec![1, 2, 3]);
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let numbers = Arc::clone(&numbers);
            thread::spawn(move || numbers[n])
        })
        .collect();
    let sum: i32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((sum, Arc::try_unwrap(numbers)), (6, Ok(vec![1, 2, 3])));
}

#[test]
fn a_mutex_behind_an_arc_is_changed_by_all() {
    let total = Arc::new(Mutex::new(0));
    let threads = [1, 2, 3].map(|n| {
        let total = total.clone();
        thread::spawn(move || *total.lock().unwrap() += n)
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(Arc::into_inner(total).unwrap().into_inner().unwrap(), 6);
}

#[test]
fn a_parent_is_reached_from_its_children_and_not_kept_by_them() {
    struct Parent {
        children: Mutex<Vec<Arc<Child>>>,
    }
    struct Child {
        parent: Weak<Parent>,
    }
    let parent = Arc::new(Parent { children: Mutex::new(Vec::new()) });
    let child = Arc::new(Child { parent: Arc::downgrade(&parent) });
    parent.children.lock().unwrap().push(child.clone());
    assert!(Arc::ptr_eq(&child.parent.upgrade().unwrap(), &parent));
    assert_eq!((Arc::strong_count(&parent), Arc::weak_count(&parent)), (1, 1));
    drop(parent);
    assert!(child.parent.upgrade().is_none());
    assert_eq!((child.parent.strong_count(), child.parent.weak_count()), (0, 0));
}

#[test]
fn a_value_that_is_made_with_a_pointer_to_itself_finds_nothing_while_it_is_made() {
    struct Node {
        own: Weak<Node>,
        early: bool,
    }
    let node = Arc::new_cyclic(|own: &Weak<Node>| Node { own: own.clone(), early: own.upgrade().is_some() });
    assert!(!node.early && Arc::ptr_eq(&node.own.upgrade().unwrap(), &node));
    assert_eq!((Arc::strong_count(&node), Arc::weak_count(&node)), (1, 1));
}

#[test]
fn whether_two_are_the_same_is_not_whether_they_are_equal() {
    let (one, other) = (Arc::new(5), Arc::new(5));
    assert!(one == other && !Arc::ptr_eq(&one, &other) && Arc::ptr_eq(&one, &one.clone()));
    let weak = Arc::downgrade(&one);
    assert!(weak.ptr_eq(&Arc::downgrade(&one)) && !weak.ptr_eq(&Arc::downgrade(&other)));
    assert!(Weak::<u8>::new().ptr_eq(&Weak::new()));
}

#[test]
fn the_last_of_many_threads_drops_the_value() {
    let drops = AtomicUsize::new(0);
    let value = Arc::new(Counted(&drops));
    thread::scope(|scope| {
        for _ in 0..8 {
            let value = value.clone();
            scope.spawn(move || drop(value));
        }
        drop(value);
    });
    assert_eq!(drops.into_inner(), 1);
}

#[test]
fn exactly_one_of_many_threads_gets_the_value() {
    for _ in 0..20 {
        let value = Arc::new(String::from("only one"));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let value = value.clone();
                thread::spawn(move || Arc::into_inner(value).is_some())
            })
            .collect();
        let mine = usize::from(Arc::into_inner(value).is_some());
        let got: usize = threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum();
        assert_eq!(got + mine, 1);
    }
}

#[test]
fn a_weak_pointer_keeps_the_place_and_not_the_value() {
    let drops = AtomicUsize::new(0);
    let value = Arc::new(Counted(&drops));
    let weak = Arc::downgrade(&value);
    let place = weak.as_ptr();
    assert!(std::ptr::eq(place, Arc::as_ptr(&value)));
    drop(value);
    assert_eq!((drops.load(SeqCst), weak.as_ptr() == place), (1, true));
}

#[test]
fn a_weak_pointer_goes_through_a_raw_one() {
    let strong = Arc::new("text".to_owned());
    let raw = Arc::downgrade(&strong).into_raw();
    assert_eq!(Arc::weak_count(&strong), 1);
    // SAFETY: the value lives as long as `strong`.
    assert_eq!(unsafe { &*raw }, "text");
    // SAFETY: `raw` is from `into_raw`, and used once.
    let weak = unsafe { Weak::from_raw(raw) };
    assert_eq!(weak.upgrade().as_deref().map(String::as_str), Some("text"));
    drop(weak);
    assert_eq!(Arc::weak_count(&strong), 0);
}

#[test]
fn counts_are_changed_through_raw_pointers() {
    let five = Arc::new(5);
    let raw = Arc::into_raw(five.clone());
    // SAFETY: `raw` is from `into_raw`, and the value lives.
    unsafe { Arc::increment_strong_count(raw) };
    assert_eq!(Arc::strong_count(&five), 3);
    // SAFETY: the count that was added above.
    unsafe { Arc::decrement_strong_count(raw) };
    // SAFETY: the count of `into_raw`.
    let back = unsafe { Arc::from_raw(raw) };
    assert_eq!((*back, Arc::strong_count(&five)), (5, 2));
}

#[test]
fn a_slice_is_made_unique_by_a_clone_of_its_elements() {
    let mut mine: Arc<[i32]> = Arc::from([1, 2, 3]);
    let other = mine.clone();
    Arc::make_mut(&mut mine)[0] = 9;
    assert_eq!((&mine[..], &other[..]), (&[9, 2, 3][..], &[1, 2, 3][..]));
    let weak = Arc::downgrade(&mine);
    Arc::make_mut(&mut mine)[1] = 8;
    assert!(weak.upgrade().is_none() && mine[..] == [9, 8, 3]);
}

#[test]
fn a_text_is_made_unique() {
    let mut mine: Arc<str> = Arc::from("abc");
    let other = mine.clone();
    Arc::make_mut(&mut mine).make_ascii_uppercase();
    assert_eq!((&*mine, &*other), ("ABC", "abc"));
    let mut path: Arc<Path> = Arc::from(Path::new("a/b"));
    let kept = path.clone();
    let _: &mut Path = Arc::make_mut(&mut path);
    assert!(!Arc::ptr_eq(&path, &kept) && path == kept);
}

#[test]
fn a_value_is_taken_or_cloned() {
    let clones = AtomicUsize::new(0);
    struct Clones<'a>(&'a AtomicUsize);
    impl Clone for Clones<'_> {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, SeqCst);
            Clones(self.0)
        }
    }
    let value = Arc::new(Clones(&clones));
    let other = value.clone();
    Arc::unwrap_or_clone(value);
    assert_eq!(clones.load(SeqCst), 1);
    Arc::unwrap_or_clone(other);
    assert_eq!(clones.load(SeqCst), 1);
}

#[test]
fn a_failed_unwrap_gives_the_owner_back() {
    let one = Arc::new(3);
    let other = one.clone();
    let one = Arc::try_unwrap(one).unwrap_err();
    assert_eq!((*one, Arc::strong_count(&other)), (3, 2));
}

#[test]
fn shared_keys_are_found_by_their_values() {
    let mut names: HashMap<Arc<str>, u8> = HashMap::new();
    names.insert(Arc::from("one"), 1);
    assert_eq!(names.get("one"), Some(&1));
    let set: HashSet<Arc<u8>> = [Arc::new(1), Arc::new(1), Arc::new(2)].into();
    assert!(set.len() == 2 && set.contains(&2));
    let ordered: BTreeSet<Arc<u8>> = [3, 1, 2].map(Arc::new).into();
    assert_eq!(ordered.iter().map(|n| **n).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn an_arc_is_borrowed_as_its_value() {
    fn borrowed(value: &impl Borrow<str>) -> usize {
        value.borrow().len()
    }
    let text: Arc<str> = "four".into();
    let as_ref: &str = text.as_ref();
    assert_eq!((borrowed(&text), as_ref), (4, "four"));
}

#[test]
fn owned_things_become_shared() {
    assert_eq!(&*Arc::<str>::from(String::from("a")), "a");
    assert_eq!(&*Arc::<[u8]>::from(vec![1, 2]), [1, 2]);
    assert_eq!(&*Arc::<[u8]>::from(Box::from([3])), [3]);
    assert_eq!(&*Arc::<CStr>::from(c"c"), c"c");
    assert_eq!(&*Arc::<OsStr>::from(OsString::from("o")), "o");
    assert_eq!(&*Arc::<Path>::from(PathBuf::from("p")), Path::new("p"));
    assert_eq!(&*Arc::<str>::from(Cow::Borrowed("b")), "b");
    assert_eq!(&*Arc::<[u8]>::from(Cow::<[u8]>::Owned(vec![4])), [4]);
    assert_eq!(&*Arc::<[u8]>::from(Arc::<str>::from("ab")), b"ab");
    assert_eq!(*Arc::from(5_u8), 5);
}

#[test]
fn slices_are_collected_and_become_arrays() {
    let squares: Arc<[u32]> = (1..4).map(|n| n * n).collect();
    assert_eq!(*squares, [1, 4, 9]);
    let array: Arc<[u32; 3]> = squares.clone().try_into().unwrap();
    assert_eq!(*array, [1, 4, 9]);
    let refused: Result<Arc<[u32; 2]>, _> = squares.try_into();
    assert_eq!(refused.unwrap_err().len(), 3);
}

#[test]
fn a_pinned_value_stays_where_it_is() {
    let pinned: Pin<Arc<Cell<u8>>> = Arc::pin(Cell::new(1));
    let copy = pinned.clone();
    copy.set(2);
    assert_eq!((pinned.get(), std::ptr::eq(&*pinned, &*copy)), (2, true));
}

#[test]
fn memory_is_zeroed_or_filled_before_it_is_shared() {
    // SAFETY: all bytes 0 are a value.
    assert_eq!(*unsafe { Arc::<u64>::new_zeroed().assume_init() }, 0);
    let mut slice = Arc::<[u8]>::new_uninit_slice(3);
    Arc::get_mut(&mut slice).unwrap().iter_mut().for_each(|byte| _ = byte.write(7));
    // SAFETY: every element was written.
    assert_eq!(*unsafe { slice.assume_init() }, [7; 3]);
    // SAFETY: all bytes 0 are values.
    assert_eq!(*unsafe { Arc::<[u16]>::new_zeroed_slice(2).assume_init() }, [0; 2]);
}

#[test]
fn a_shared_file_is_read_and_written() {
    let path =
        std::env::temp_dir().join(format!("mc-parity-{}-{}", std::process::id(), module_path!().replace(':', "-")));
    let mut options = std::fs::OpenOptions::new();
    let mut file = Arc::new(options.read(true).write(true).create(true).truncate(true).open(&path).unwrap());
    file.write_all(b"shared").unwrap();
    file.clone().seek(SeekFrom::Start(2)).unwrap();
    let mut rest = String::new();
    file.read_to_string(&mut rest).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(rest, "ared");
}

#[test]
fn pointers_are_shown() {
    let arc = Arc::new(5);
    assert_eq!(format!("{arc} {arc:?} {:?}", Arc::downgrade(&arc)), "5 5 (Weak)");
    assert_eq!(format!("{arc:p}"), format!("{:p}", Arc::as_ptr(&arc)));
}

#[test]
fn an_arc_of_an_error_is_an_error() {
    let error = Arc::new("x".parse::<u8>().unwrap_err());
    let shown: &dyn std::error::Error = &error;
    assert_eq!(shown.to_string(), "invalid digit found in string");
}
