// More of `cell`, `hint` and `time`.

use std::collections::HashMap;
use std::time::Duration;

use subject::cell::{Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell};
use subject::time::{Instant, SystemTime, UNIX_EPOCH};
use subject::{hint, thread};

#[test]
fn a_field_in_a_cell_changes_in_a_shared_struct() {
    struct Counter {
        name: &'static str,
        count: Cell<u8>,
    }
    let counter = Counter { name: "hits", count: Cell::new(100) };
    counter.count.set(counter.count.get() + 1);
    assert_eq!((counter.name, counter.count.into_inner()), ("hits", 101));
}

#[test]
fn cells_exchange_their_values() {
    let (one, other) = (Cell::new(1), Cell::new(2));
    one.swap(&other);
    assert_eq!((one.replace(5), other.take(), other.get()), (2, 1, 0));
    one.update(|n| n * 2);
    one.swap(&one);
    assert_eq!(one.get(), 10);
}

#[test]
fn a_cell_holds_what_cannot_be_copied() {
    let text = Cell::new(String::from("a"));
    assert_eq!(text.replace("b".to_owned()), "a");
    assert_eq!((text.take(), text.into_inner()), ("b".to_owned(), String::new()));
}

#[test]
fn a_cell_lies_over_a_variable() {
    let mut number = 5;
    let cell = Cell::from_mut(&mut number);
    cell.set(6);
    // SAFETY: nobody else reaches the number.
    unsafe { *cell.as_ptr() += 1 };
    assert_eq!(number, 7);
    let mut array = [1, 2, 3];
    let cells = Cell::from_mut(&mut array[..]).as_slice_of_cells();
    cells[0].swap(&cells[2]);
    assert_eq!(array, [3, 2, 1]);
}

#[test]
fn cells_are_compared_by_their_values() {
    assert!(Cell::new(1) < Cell::new(2) && Cell::new(3) == Cell::new(3).clone());
    assert_eq!(Cell::new(2).max(Cell::new(1)).get(), 2);
    assert_eq!(format!("{:?} {:?}", Cell::from(5), Cell::<u8>::default()), "Cell { value: 5 } Cell { value: 0 }");
}

#[test]
fn an_unsafe_cell_is_reached_in_every_way() {
    let mut cell = UnsafeCell::new(1);
    *cell.get_mut() += 1;
    // SAFETY: nobody else has the cell.
    unsafe { *cell.get() += 1 };
    // SAFETY: as above.
    unsafe { *UnsafeCell::raw_get(&raw const cell) += 1 };
    assert_eq!((format!("{cell:?}"), cell.into_inner()), ("UnsafeCell { .. }".to_owned(), 4));
    let mut plain = 1;
    *UnsafeCell::from_mut(&mut plain).get_mut() = 2;
    assert_eq!((plain, UnsafeCell::<u8>::default().into_inner(), UnsafeCell::from(3).into_inner()), (2, 0, 3));
}

#[test]
fn unsafe_cells_are_as_large_as_what_they_hold() {
    assert_eq!(size_of::<UnsafeCell<u32>>(), 4);
    assert_eq!((size_of::<Cell<[u8; 3]>>(), align_of::<Cell<u64>>()), (3, 8));
    let shared: &UnsafeCell<[u8]> = &UnsafeCell::new([1, 2]);
    assert_eq!(size_of_val(shared), 2);
}

#[test]
fn borrows_are_counted_as_the_program_runs() {
    let cell = RefCell::new(5);
    let (one, other) = (cell.borrow(), cell.borrow());
    assert!(cell.try_borrow_mut().is_err() && *one + *other == 10);
    drop((one, other));
    let mut changed = cell.borrow_mut();
    *changed = 6;
    assert!(cell.try_borrow().is_err());
    drop(changed);
    assert_eq!((cell.replace(7), cell.replace_with(|n| *n + 1), cell.take()), (6, 7, 8));
}

#[test]
fn a_borrow_is_narrowed_to_a_part() {
    let cell = RefCell::new((1, "text".to_owned()));
    let text = Ref::map(cell.borrow(), |pair| &pair.1);
    assert_eq!((text.len(), Ref::clone(&text).as_str()), (4, "text"));
    drop(text);
    *RefMut::map(cell.borrow_mut(), |pair| &mut pair.0) = 2;
    let (number, text) = Ref::map_split(cell.borrow(), |pair| (&pair.0, &pair.1));
    assert_eq!((*number, text.as_str()), (2, "text"));
}

#[test]
fn a_cell_remembers_what_was_computed() {
    let cache: RefCell<HashMap<u32, u32>> = RefCell::default();
    let square = |n| *cache.borrow_mut().entry(n).or_insert(n * n);
    assert_eq!((square(3), square(3), cache.borrow().len()), (9, 9, 1));
}

#[test]
fn a_once_cell_is_set_once() {
    let cell = OnceCell::new();
    assert_eq!((cell.get(), cell.get_or_init(|| 5), cell.set(6)), (None, &5, Err(6)));
    assert_eq!(format!("{cell:?} {:?}", OnceCell::<u8>::new()), "OnceCell(5) OnceCell(<uninit>)");
    assert_eq!((cell.clone() == cell, cell.into_inner()), (true, Some(5)));
}

#[test]
fn a_lazy_cell_is_made_when_it_is_used() {
    let calls = Cell::new(0);
    let lazy = LazyCell::new(|| {
        calls.set(calls.get() + 1);
        92
    });
    assert_eq!((calls.get(), *lazy, *lazy, calls.get()), (0, 92, 92, 1));
}

#[test]
fn hints_change_nothing() {
    hint::spin_loop();
    hint::cold_path();
    assert_eq!(hint::black_box(5), 5);
    assert_eq!((hint::select_unpredictable(true, 1, 2), hint::select_unpredictable(false, 1, 2)), (1, 2));
    let number = 5;
    // SAFETY: it is 5.
    unsafe { hint::assert_unchecked(number == 5) };
    let mut numbers = (0..number).rev();
    // SAFETY: there is a number below 5.
    assert_eq!(numbers.next().unwrap_or_else(|| unsafe { hint::unreachable_unchecked() }), 4);
}

#[test]
fn an_instant_never_goes_back() {
    let instants: Vec<_> = (0..50).map(|_| Instant::now()).collect();
    assert!(instants.is_sorted());
    assert!(instants[0].elapsed() >= instants[49] - instants[0]);
}

#[test]
fn time_passes_for_a_sleeper() {
    let (start, date) = (Instant::now(), SystemTime::now());
    thread::sleep(Duration::from_millis(4));
    assert!(start.elapsed() >= Duration::from_millis(4));
    assert!(date.elapsed().is_ok_and(|passed| passed >= Duration::from_millis(3)));
}

#[test]
fn instants_are_moved_by_durations() {
    let (start, second) = (Instant::now(), Duration::from_secs(1));
    let later = start.checked_add(second).unwrap();
    assert_eq!((later - second, later - start, start - later), (start, second, Duration::ZERO));
    assert_eq!((later.duration_since(start), start.saturating_duration_since(later)), (second, Duration::ZERO));
    assert_eq!(start.checked_duration_since(later), None);
    assert_eq!(start.checked_add(Duration::MAX), None);
    assert!(start.max(later) == later && format!("{start:?}").starts_with("Instant {"));
}

#[test]
fn dates_are_moved_by_durations() {
    let (day, mut date) = (Duration::from_secs(86_400), UNIX_EPOCH);
    date += day * 3;
    date -= day;
    assert_eq!((date.duration_since(UNIX_EPOCH).unwrap(), date - day * 2), (day * 2, SystemTime::UNIX_EPOCH));
    assert_eq!((date.checked_sub(day), date.checked_add(day)), (Some(date - day), Some(date + day)));
    assert_eq!(date.checked_add(Duration::MAX), None);
}

#[test]
fn how_far_a_date_lies_ahead_is_in_the_error() {
    let ahead = UNIX_EPOCH + Duration::from_secs(7);
    let error = UNIX_EPOCH.duration_since(ahead).unwrap_err();
    assert_eq!(error.duration(), Duration::from_secs(7));
    assert_eq!(error.to_string(), "second time provided was later than self");
    let future = SystemTime::now() + Duration::from_secs(1_000_000);
    assert!(future.elapsed().is_err());
}

#[test]
fn dates_are_compared_and_shown() {
    let later = UNIX_EPOCH + Duration::new(3, 4);
    assert!(later > UNIX_EPOCH && SystemTime::now() > later);
    assert_eq!(format!("{later:?}"), "SystemTime { tv_sec: 3, tv_nsec: 4 }");
}
