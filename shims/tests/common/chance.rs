//! Small numbers that look random, the same for the same seed.

/// What comes next is in it.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// One below `n`.
    pub(crate) fn below(&mut self, n: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as usize
    }
}
