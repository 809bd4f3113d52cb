#[mc::test(max_execution = 10)]
fn misspelt() {}

#[mc::test(colour = "red", seed = 1)]
fn made_up() {}

fn main() {}
