#[mc::test]
struct Test;

#[mc::test]
mod tests {}

fn main() {}
