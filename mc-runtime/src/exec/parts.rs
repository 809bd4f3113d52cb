//! Atomics by the words that they are in: which of them have bytes in common without being the same.

use rustc_hash::FxHashMap;

/// Of each word of eight bytes, the atomics in it, each a bit: that of the whole is the second, and those of the halves of what has the bit `n` are `2 * n` and `2 * n + 1`.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(FxHashMap<usize, u16>);

const WORD: usize = size_of::<u64>();

/// Of each bit, those of what it is a part of, and of its parts.
const OVERLAPS: [u16; 2 * WORD] = {
    let mut overlaps = [0; 2 * WORD];
    let mut part = 2 * WORD - 1;
    while part > 1 {
        let mut whole = part / 2;
        while whole > 0 {
            overlaps[part] |= 1 << whole;
            overlaps[whole] |= 1 << part;
            whole /= 2;
        }
        part -= 1;
    }
    overlaps
};

fn bit(at: usize, size: usize) -> usize {
    (WORD + at % WORD) / size
}

impl Parts {
    /// There is this one, of so many bytes.
    pub(super) fn add(&mut self, at: usize, size: usize) {
        *self.0.entry(at / WORD).or_default() |= 1 << bit(at, size);
    }

    /// Likewise. Is there another one that has some of its bytes?
    pub(super) fn meet(&mut self, at: usize, size: usize) -> bool {
        let (parts, bit) = (self.0.entry(at / WORD).or_default(), bit(at, size));
        *parts |= 1 << bit;
        *parts & OVERLAPS[bit] != 0
    }

    /// Is there another one that has some of its bytes?
    pub(super) fn mix(&self, at: usize, size: usize) -> bool {
        self.0.get(&(at / WORD)).is_some_and(|parts| parts & OVERLAPS[bit(at, size)] != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_mix_that_have_bytes_in_common_and_are_not_the_same() {
        let all = [1, 2, 4, 8].into_iter().flat_map(|size| (64..80).step_by(size).map(move |at| (at, size)));
        for one in all.clone() {
            let mut parts = Parts::default();
            parts.add(one.0, one.1);
            for other in all.clone() {
                let range = |(at, size): (usize, usize)| at..at + size;
                let common = range(one).any(|byte| range(other).contains(&byte));
                assert_eq!(parts.mix(other.0, other.1), common && one != other, "{one:?} {other:?}");
            }
        }
    }
}
