//! Memory of vectors whose length changes from step to step: it grows rarely, by more than is asked for.

/// Lets a vector hold so many values. What it holds is moved to new memory: the allocator, asked to enlarge the old, copies all of it, and so
/// touches for the first time what was only held ready. (4,000 boxes in a tumbler: 30 ms, once.)
pub(crate) fn at_least<T>(vec: &mut Vec<T>, capacity: usize) {
    if vec.capacity() < capacity {
        let mut roomy = Vec::with_capacity(capacity);
        roomy.append(vec);
        *vec = roomy;
    }
}

/// Resizes, with room for a quarter more and 16 when the vector has to grow, so that a fluctuating length does not
/// allocate again and again.
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

/// Empties a vector, and lets it hold `len` values: twice as many when it has to grow, so that this is rare.
pub(crate) fn make_room<T>(vec: &mut Vec<T>, len: usize) {
    vec.clear();
    if len > vec.capacity() {
        at_least(vec, 2 * len + 16);
    }
}
