#[mc::test]
async fn future() {}

#[mc::test]
fn argument(_n: u32) {}

#[mc::test]
fn generic<T: Default>() -> () {
    T::default();
}

#[mc::test]
unsafe extern "C" fn foreign() {}

#[mc::test]
const fn constant() {}

#[mc::test]
fn reference() -> &'static str {
    ""
}

#[mc::test]
fn no_body();

fn main() {}
