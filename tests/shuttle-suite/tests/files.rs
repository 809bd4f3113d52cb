//! Schedules in files. A process of its own: shuttle 0.9 writes where the first check of a process says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mc_shuttle_suite::Lossy;
use shuttle::scheduler::RandomScheduler;
use shuttle::sync::Arc;
use shuttle::{Config, FailurePersistence, Runner, replay_from_file, thread};

fn lost() {
    let counter = Arc::new(Lossy::default());
    let other = thread::spawn({
        let counter = counter.clone();
        move || counter.add()
    });
    counter.add();
    other.join().unwrap();
    assert_eq!(counter.get(), 2, "an update is lost");
}

#[test]
fn a_failing_execution_is_replayed_from_a_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("schedules-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(folder.clone()));
    let found = catch_unwind(|| Runner::new(RandomScheduler::new(500), config).run(lost));
    assert!(found.is_err());
    let files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let again = catch_unwind(AssertUnwindSafe(|| replay_from_file(lost, &files[0]))).unwrap_err();
    let literal = || again.downcast_ref::<&str>().copied();
    let text = again.downcast_ref::<String>().map(String::as_str).or_else(literal).unwrap_or_default();
    assert!(text.contains("an update is lost"), "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
}
