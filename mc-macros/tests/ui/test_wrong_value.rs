#[mc::test(max_executions = "10")]
fn a_string_for_a_number() {}

#[mc::test(max_executions = 0, max_events = -1)]
fn numbers_out_of_range() {}

#[mc::test(seed = 99999999999999999999)]
fn a_seed_of_more_than_64_bits() {}

#[mc::test(expect = "datarace", require = "probably", memory_model = sc)]
fn wrong_words() {}

#[mc::test(time_limit = 10, hang_limit = "5", max_memory = "1X")]
fn no_units() {}

#[mc::test(strategy = "pct", queue_limit = "100:first")]
fn half_a_strategy() {}

#[mc::test(allow_panics = 1, max_failures)]
fn flags_and_values() {}

fn main() {}
