//! Nothing is here: the tests in `tests/` are about the dependencies.
