//! dashmap 5.2.0: a map of shards, each under a reader-writer lock of parking_lot.
//!
//! The hasher is one without a random seed, for keys decide which lock is taken.

use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

use dashmap::DashMap;
use mc::thread;

type Map = DashMap<u32, u32, BuildHasherDefault<DefaultHasher>>;

fn map() -> Map {
    Map::with_capacity_and_hasher_and_shard_amount(0, BuildHasherDefault::default(), 2)
}

#[mc::test]
fn two_threads_add_to_one_entry() {
    let map = map();
    thread::scope(|scope| {
        scope.spawn(|| *map.entry(1).or_insert(0) += 1);
        *map.entry(1).or_insert(0) += 1;
    });
    assert_eq!(map.get(&1).as_deref(), Some(&2));
}

#[mc::test(expect = "panic")]
fn a_value_that_is_read_and_then_inserted_loses_an_update() {
    let map = map();
    let add = || {
        let old = map.get(&1).map_or(0, |value| *value);
        map.insert(1, old + 1);
    };
    thread::scope(|scope| {
        scope.spawn(add);
        add();
    });
    assert_eq!(map.get(&1).as_deref(), Some(&2));
}

#[mc::test]
fn an_entry_is_removed_once() {
    let map = map();
    map.insert(1, 7);
    let removed = thread::scope(|scope| {
        let other = scope.spawn(|| map.remove(&1).is_some());
        u32::from(map.remove(&1).is_some()) + u32::from(other.join().unwrap())
    });
    assert!(removed == 1 && map.is_empty());
}

#[mc::test]
fn readers_of_one_entry_do_not_exclude_each_other() {
    let map = map();
    map.insert(1, 7);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(map.get(&1).as_deref(), Some(&7)));
        let first = map.get(&1);
        assert_eq!(first.as_deref(), map.get(&1).as_deref());
    });
}

/// parking_lot's writer keeps new readers away while it waits for the first one.
#[mc::test(expect = "deadlock")]
fn a_thread_that_reads_twice_waits_for_a_writer_in_between() {
    let map = map();
    map.insert(1, 7);
    thread::scope(|scope| {
        scope.spawn(|| map.insert(1, 8));
        let first = map.get(&1);
        assert_eq!(first.as_deref(), map.get(&1).as_deref());
    });
}

#[mc::test(expect = "deadlock")]
fn a_thread_that_inserts_while_it_reads_waits_for_itself() {
    let map = map();
    map.insert(1, 7);
    if let Some(value) = map.get(&1) {
        map.insert(1, *value + 1);
    }
}

#[mc::test(expect = "deadlock")]
fn entries_held_in_opposite_orders_are_a_deadlock() {
    let map = map();
    // Two keys of two shards.
    let first = 0;
    let second = (1..).find(|key| map.determine_map(key) != map.determine_map(&first)).unwrap();
    let hold = |one, other| {
        let _one = map.entry(one).or_insert(0);
        let _other = map.entry(other).or_insert(0);
    };
    thread::scope(|scope| {
        scope.spawn(|| hold(first, second));
        hold(second, first);
    });
}
