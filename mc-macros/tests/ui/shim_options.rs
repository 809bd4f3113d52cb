#[mc::shim(memory_model = "sc")]
fn f() {}

fn main() {
    f();
}
