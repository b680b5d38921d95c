//! Memory of vectors whose length changes from step to step. It grows rarely, and by more than is asked for.

/// Gives a vector room for at least `capacity` values. The values are moved to new memory. To enlarge the old memory would be
/// slower: the allocator copies all of it, and so touches spare memory for the first time. (4,000 boxes in a tumbler: 30 ms, once.)
pub(crate) fn at_least<T>(vec: &mut Vec<T>, capacity: usize) {
    if vec.capacity() < capacity {
        let mut roomy = Vec::with_capacity(capacity);
        roomy.append(vec);
        *vec = roomy;
    }
}

/// Resizes a vector. If it has to grow, it gets room for a quarter more and 16, so that a fluctuating length does not allocate
/// again and again.
pub(crate) fn resize<T: Clone + Default>(vec: &mut Vec<T>, len: usize) {
    if len > vec.capacity() {
        vec.reserve_exact(len + len / 4 + 16 - vec.len());
    }
    vec.resize(len, T::default());
}

/// Sets a vector to `len` copies of `value`.
pub(crate) fn refill<T: Copy>(vec: &mut Vec<T>, len: usize, value: T) {
    make_room(vec, len);
    vec.resize(len, value);
}

/// Empties a vector and gives it room for `len` values. If it has to grow, it gets room for twice as many and 16, so that
/// growth is rare.
pub(crate) fn make_room<T>(vec: &mut Vec<T>, len: usize) {
    vec.clear();
    if len > vec.capacity() {
        at_least(vec, 2 * len + 16);
    }
}
