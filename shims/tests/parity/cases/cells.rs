use std::panic::AssertUnwindSafe;

use subject::cell::{Cell, LazyCell, OnceCell, RefCell, UnsafeCell};

#[test]
fn a_cell_is_read_and_written_without_a_borrow() {
    let cell = Cell::new(1);
    cell.set(2);
    cell.update(|value| value + 1);
    assert_eq!((cell.get(), cell.replace(5), cell.take(), cell.get()), (3, 3, 5, 0));
    let (one, two) = (Cell::new(1), Cell::new(2));
    one.swap(&two);
    one.swap(&one);
    assert_eq!((one.into_inner(), two.into_inner()), (2, 1));
}

#[test]
fn a_cell_over_a_slice_is_a_slice_of_cells() {
    let mut values = [1, 2, 3];
    let cells = Cell::from_mut(&mut values[..]).as_slice_of_cells();
    cells[0].set(cells[2].get());
    let array = Cell::new([1, 2]);
    array.as_array_of_cells()[1].set(9);
    assert_eq!((values, array.get()), ([3, 2, 3], [1, 9]));
}

#[test]
fn a_cell_passes_the_traits_of_its_value_on() {
    let mut cell = Cell::from(1);
    *cell.get_mut() = 2;
    assert!(cell == cell.clone() && cell < Cell::new(3) && Cell::<u8>::default().get() == 0);
    assert_eq!((format!("{cell:?}"), cell.cmp(&Cell::new(2))), ("Cell { value: 2 }".to_owned(), std::cmp::Ordering::Equal));
    // SAFETY: nobody else uses the cell.
    unsafe { *cell.as_ptr() = 4 };
    assert_eq!(cell.get(), 4);
}

#[test]
fn an_unsafe_cell_gives_pointers() {
    static_assertions();
    let mut cell = UnsafeCell::new(1);
    *cell.get_mut() += 1;
    // SAFETY: nobody else uses the cell.
    unsafe { *cell.get() += 1 };
    // SAFETY: as above; `raw_get` and `get` give one pointer.
    assert_eq!(unsafe { *UnsafeCell::raw_get(&raw const cell) }, 3);
    assert_eq!((format!("{cell:?}"), cell.into_inner()), ("UnsafeCell { .. }".to_owned(), 3));
    let mut value = 5;
    *UnsafeCell::from_mut(&mut value).get_mut() = 6;
    assert_eq!((value, UnsafeCell::from(7).into_inner(), UnsafeCell::<u8>::default().into_inner()), (6, 7, 0));
}

fn static_assertions() {
    const INNER: u8 = UnsafeCell::new(3).into_inner();
    const {
        assert!(INNER == 3 && Cell::new(1_u8).into_inner() == 1);
        assert!(size_of::<UnsafeCell<u16>>() == 2 && size_of::<Cell<u64>>() == 8);
    }
}

#[test]
fn the_other_cells_are_there() {
    let (once, lazy, shared) = (OnceCell::new(), LazyCell::new(|| 2), RefCell::new(3));
    assert_eq!(*once.get_or_init(|| 1) + *lazy + *shared.borrow(), 6);
    let borrowed = shared.borrow_mut();
    assert!(std::panic::catch_unwind(AssertUnwindSafe(|| shared.borrow().to_string())).is_err());
    drop(borrowed);
}
