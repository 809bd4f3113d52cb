//! `shuttle::current`: who runs.

use std::fmt;

use mc_runtime::ops;

/// A thread of an execution, numbered in the order of their starts; 0 is the body of the test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(usize);

impl From<usize> for TaskId {
    fn from(number: usize) -> Self {
        Self(number)
    }
}

impl From<TaskId> for usize {
    fn from(task: TaskId) -> Self {
        task.0
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskId").field(&self.0).finish()
    }
}

/// The calling thread; `None` outside of a check.
pub fn get_current_task() -> Option<TaskId> {
    let key = ops::current()?;
    ops::tell_apart(key);
    Some(TaskId(key.0 as usize))
}

/// The calling thread.
///
/// # Panics
/// Outside of a check.
pub fn me() -> TaskId {
    get_current_task().expect("a thread of a check calls this")
}
