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

/// Makes room for so many values, and for half as many and up to 16 more where the vector has to grow.
pub(crate) fn room_for<T>(vec: &mut Vec<T>, len: usize) {
    if vec.capacity() < len {
        at_least(vec, len + len / 2 + (len / 4).min(16));
    }
}

/// Up to this length a vector is small: it gets little room to grow. (A thousand worlds of ten boxes do not fit into a cache. With 16
/// spare values in every vector, and twice as many values as are needed, such a world took 141 KB instead of 53.)
const SMALL: usize = 16;

/// The number of values with a quarter more: for how many there is room where memory counts.
pub(crate) fn quarter_more(len: usize) -> usize {
    len + len / 4 + 1
}

/// Resizes a vector. If it has to grow, it gets room for a quarter more and up to 16, so that a fluctuating length does not allocate
/// again and again.
pub(crate) fn resize<T: Clone + Default>(vec: &mut Vec<T>, len: usize) {
    if len > vec.capacity() {
        vec.reserve_exact(len + len / 4 + (len / 8).clamp(1, 16) - vec.len());
    }
    vec.resize(len, T::default());
}

/// Sets a vector to `len` copies of `value`.
pub(crate) fn refill<T: Copy>(vec: &mut Vec<T>, len: usize, value: T) {
    make_room(vec, len);
    vec.resize(len, value);
}

/// Empties a vector and gives it room for `len` values. If it has to grow, it gets room for twice as many and 16, so that
/// growth is rare; if it is small, for a quarter more.
pub(crate) fn make_room<T>(vec: &mut Vec<T>, len: usize) {
    vec.clear();
    if len > vec.capacity() {
        at_least(vec, if len <= SMALL { quarter_more(len) } else { 2 * len + 16 });
    }
}

/// Gives each vector as much room as its counterpart has: `like!(self, other; a, b)` for `self.a` and `self.b`.
macro_rules! like {
    ($one:expr, $other:expr; $($member:ident),* $(,)?) => {
        $($crate::base::room::at_least(&mut $one.$member, $other.$member.capacity());)*
    };
}
pub(crate) use like;
