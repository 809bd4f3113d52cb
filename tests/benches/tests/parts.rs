//! The parts that are timed come to what the timing takes for granted: as many executions as are chosen, and a proof.

#[path = "../benches/parts/mod.rs"]
#[expect(dead_code, reason = "the benchmarks use all of it")]
mod parts;

use parts::{Events, Operation};

/// As `mc-shims` has it by default.
#[global_allocator]
static ALLOCATOR: mc_runtime::Allocator = mc_runtime::Allocator;

#[test]
fn each_part_is_explored_as_often_as_it_is_timed() {
    assert!(!parts::threads(1).is_zero());
    assert!(!parts::round_trips(1).is_zero());
    for operation in [Operation::Store, Operation::FetchAdd, Operation::LoadStore] {
        let events = Events { operation, threads: 2, each: 4 };
        assert!(!events.new_ones(1).is_zero() && !events.replayed(1).is_zero());
    }
}
