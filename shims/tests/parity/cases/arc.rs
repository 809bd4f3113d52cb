use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use subject::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use subject::sync::{Arc, Mutex, Weak};
use subject::thread;

#[test]
fn counts_follow_owners_and_weak_pointers() {
    let first = Arc::new(1);
    let second = first.clone();
    let weak = Arc::downgrade(&first);
    assert_eq!((Arc::strong_count(&first), Arc::weak_count(&first)), (2, 1));
    assert_eq!((weak.strong_count(), weak.weak_count()), (2, 1));
    drop((first, second));
    assert_eq!((weak.strong_count(), weak.weak_count(), weak.upgrade()), (0, 0, None));
}

#[test]
fn the_value_is_dropped_by_the_last_owner() {
    struct Drops<'a>(&'a AtomicUsize);
    impl Drop for Drops<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let drops = AtomicUsize::new(0);
    let arc = Arc::new(Drops(&drops));
    thread::scope(|scope| {
        for _ in 0..4 {
            let arc = arc.clone();
            scope.spawn(move || drop(arc));
        }
        drop(arc);
    });
    assert_eq!(drops.load(SeqCst), 1);
}

#[test]
fn only_the_sole_owner_gets_the_value_back() {
    let first = Arc::new(String::from("value"));
    let second = first.clone();
    let first = Arc::try_unwrap(first).unwrap_err();
    assert_eq!(Arc::into_inner(first), None);
    assert_eq!(Arc::into_inner(second).as_deref(), Some("value"));
    assert_eq!(Arc::try_unwrap(Arc::new(5)), Ok(5));
    let shared = Arc::new(vec![1]);
    assert_eq!((Arc::unwrap_or_clone(shared.clone()), Arc::unwrap_or_clone(shared)), (vec![1], vec![1]));
}

#[test]
fn one_of_all_owners_gets_the_value_by_into_inner() {
    for _ in 0..50 {
        let arc = Arc::new(());
        let got = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                let (arc, got) = (arc.clone(), &got);
                scope.spawn(move || got.fetch_add(usize::from(Arc::into_inner(arc).is_some()), SeqCst));
            }
            got.fetch_add(usize::from(Arc::into_inner(arc).is_some()), SeqCst);
        });
        assert_eq!(got.load(SeqCst), 1);
    }
}

#[test]
fn exclusive_access_needs_a_sole_owner_without_weak_pointers() {
    let mut arc = Arc::new(1);
    *Arc::get_mut(&mut arc).unwrap() = 2;
    let weak = Arc::downgrade(&arc);
    assert!(Arc::get_mut(&mut arc).is_none());
    drop(weak);
    let other = arc.clone();
    assert!(Arc::get_mut(&mut arc).is_none());
    assert_eq!((*arc, *other), (2, 2));
}

#[test]
fn make_mut_clones_for_others_and_moves_from_weak_pointers() {
    let mut arc = Arc::new(vec![1]);
    let other = arc.clone();
    Arc::make_mut(&mut arc).push(2);
    assert_eq!((arc.len(), other.len()), (2, 1));
    let weak = Arc::downgrade(&arc);
    Arc::make_mut(&mut arc).push(3);
    assert!(weak.upgrade().is_none());
    assert_eq!(*arc, [1, 2, 3]);
    let before = Arc::as_ptr(&arc);
    Arc::make_mut(&mut arc).push(4);
    assert_eq!(Arc::as_ptr(&arc), before);
}

#[test]
fn a_value_can_point_to_itself() {
    struct Node {
        this: Weak<Node>,
        value: u8,
    }
    let node = Arc::new_cyclic(|this| {
        assert!(this.upgrade().is_none());
        Node { this: this.clone(), value: 7 }
    });
    assert_eq!(node.this.upgrade().unwrap().value, 7);
    assert!(Arc::ptr_eq(&node, &node.this.upgrade().unwrap()));
    assert_eq!((Arc::strong_count(&node), Arc::weak_count(&node)), (1, 1));
}

#[test]
fn raw_pointers_carry_a_count() {
    let arc = Arc::new(5);
    let raw = Arc::into_raw(arc);
    // SAFETY: `raw` is from `into_raw`, and has one owner here.
    unsafe { Arc::increment_strong_count(raw) };
    // SAFETY: as above, with two owners.
    unsafe { Arc::decrement_strong_count(raw) };
    // SAFETY: the count of `into_raw` passes on.
    let arc = unsafe { Arc::from_raw(raw) };
    assert_eq!((*arc, Arc::strong_count(&arc)), (5, 1));
    let raw = Arc::downgrade(&arc).into_raw();
    assert_eq!(raw, Arc::as_ptr(&arc));
    // SAFETY: the count of `into_raw` passes on.
    let weak = unsafe { Weak::from_raw(raw) };
    assert_eq!(weak.upgrade().as_deref(), Some(&5));
}

#[test]
fn a_new_weak_pointer_points_to_nothing() {
    static NOTHING: Weak<String> = Weak::new();
    assert!(NOTHING.upgrade().is_none() && NOTHING.clone().ptr_eq(&Weak::default()));
    assert_eq!((NOTHING.strong_count(), NOTHING.weak_count()), (0, 0));
    assert_eq!(format!("{NOTHING:?}"), "(Weak)");
    // SAFETY: the pointer is from `into_raw`.
    let back = unsafe { Weak::from_raw(Weak::<u8>::new().into_raw()) };
    assert!(back.upgrade().is_none());
}

#[test]
fn upgrades_race_with_the_last_drop() {
    for _ in 0..100 {
        let arc = Arc::new(Mutex::new(0));
        let weak = Arc::downgrade(&arc);
        thread::scope(|scope| {
            scope.spawn(move || drop(arc));
            scope.spawn(|| {
                if let Some(arc) = weak.upgrade() {
                    *arc.lock().unwrap() += 1;
                }
            });
        });
        assert!(weak.upgrade().is_none());
    }
}

#[test]
fn slices_strings_and_paths_become_shared() {
    assert_eq!(*Arc::<[u8]>::from(vec![1, 2]), [1, 2]);
    assert_eq!(*Arc::<[u8]>::from([1, 2]), [1, 2]);
    assert_eq!(*Arc::<[String]>::from(&["a".to_owned()][..]), ["a".to_owned()]);
    assert_eq!(*(0..3).collect::<Arc<[i32]>>(), [0, 1, 2]);
    assert_eq!((&*Arc::<str>::from("text"), &*Arc::<str>::from("text".to_owned())), ("text", "text"));
    assert_eq!(&*Arc::<str>::from(Cow::Borrowed("text")), "text");
    assert_eq!(&*Arc::<[u8]>::from(Arc::<str>::from("ab")), b"ab");
    assert_eq!(&*Arc::<Path>::from(Path::new("a/b")), Path::new("a/b"));
    assert_eq!((&*Arc::<str>::default(), Arc::<[u64]>::default().len()), ("", 0));
    assert_eq!(Arc::<[u8; 2]>::try_from(Arc::<[u8]>::from([1, 2])).map(|array| *array), Ok([1, 2]));
    assert!(Arc::<[u8; 3]>::try_from(Arc::<[u8]>::from([1, 2])).is_err());
}

#[test]
fn boxed_trait_objects_become_shared_and_can_be_cast_back() {
    let boxed: Box<dyn Any + Send + Sync> = Box::new(String::from("any"));
    let shared: Arc<dyn Any + Send + Sync> = Arc::from(boxed);
    let shared = shared.downcast::<u8>().unwrap_err();
    let weak = Arc::downgrade(&shared);
    assert_eq!(*shared.downcast::<String>().unwrap(), "any");
    assert!(weak.upgrade().is_none());
}

#[test]
fn memory_without_a_value_can_be_filled() {
    let mut arc = Arc::<u8>::new_uninit();
    Arc::get_mut(&mut arc).unwrap().write(9);
    // SAFETY: the value was written.
    assert_eq!(*unsafe { arc.assume_init() }, 9);
    let mut slice = Arc::<[u16]>::new_uninit_slice(2);
    Arc::get_mut(&mut slice).unwrap().iter_mut().for_each(|value| _ = value.write(3));
    // SAFETY: both values were written.
    assert_eq!(*unsafe { slice.assume_init() }, [3, 3]);
    // SAFETY: zeros are a `u64`.
    assert_eq!(*unsafe { Arc::<u64>::new_zeroed().assume_init() }, 0);
}

#[test]
fn an_arc_passes_the_traits_of_its_value_on() {
    let (one, two) = (Arc::new(1), Arc::new(2));
    assert!(one < two && one == Arc::new(1) && one.cmp(&two).is_lt() && !Arc::ptr_eq(&one, &two));
    assert_eq!(format!("{one:?} {one}"), "1 1");
    assert_eq!(format!("{one:p}"), format!("{:p}", &*one));
    let map = HashMap::from([(Arc::<str>::from("key"), 1)]);
    assert_eq!(map.get("key"), Some(&1));
    assert_eq!((*Arc::pin(3), *Arc::<u8>::default(), *one.as_ref()), (3, 0, 1));
    let error: Arc<std::fmt::Error> = Arc::from(std::fmt::Error);
    assert!(std::error::Error::source(&error).is_none());
}
