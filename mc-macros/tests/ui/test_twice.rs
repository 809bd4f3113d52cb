#[mc::test(seed = 1, max_events = 5, seed = 2)]
fn two_seeds() {}

#[mc::test]
#[test]
fn two_tests() {}

#[mc::test(expect = "panic")]
#[should_panic]
fn two_expectations() {}

fn main() {}
