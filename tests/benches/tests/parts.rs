//! The parts that are timed come to what the timing takes for granted: as many executions as are chosen, and a proof.

#[path = "../benches/parts/mod.rs"]
mod parts;

use parts::{Events, Operation};

/// As `mc-shims` has it by default.
#[global_allocator]
static ALLOCATOR: mc_runtime::Allocator = mc_runtime::Allocator;

#[test]
fn each_part_is_explored_as_often_as_it_is_timed() {
    // Each compares its executions itself. How long they take is nothing that a test can know.
    parts::threads(1);
    parts::round_trips(1);
    for operation in [Operation::Store, Operation::FetchAdd, Operation::LoadStore] {
        let events = Events { operation, threads: 2, each: 4 };
        events.new_ones(1);
        events.replayed(1);
    }
}
