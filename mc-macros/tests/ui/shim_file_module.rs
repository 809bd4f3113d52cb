#[mc::shim]
#[path = "here/elsewhere.rs"]
mod elsewhere;

#[mc::shim]
mod here {
    mod elsewhere;
}

fn main() {}
