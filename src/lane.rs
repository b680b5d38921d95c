//! Lanes: one trait over the vectors of all levels, so that each kernel is written once.
//!
//! | level | lanes | file | vectors |
//! |---|---|---|---|
//! | scalar | 1 | `lane/scalar.rs` | `f32` |
//! | portable | 4 | `lane/portable.rs` | those that every processor of the architecture has, by `wide` |
//! | AVX2 | 8 | `lane/avx2.rs` | `core::arch` |
//! | AVX-512 | 16, or 8 where these pay more | `lane/avx512.rs` | `core::arch` |
//!
//! A level is chosen at run time (`isa.rs`). The compiler may use its instructions in a function that is marked with
//! `#[target_feature]`, and only there. So [`with_lanes!`] binds the lane type of a level, and each kernel has an entry, made by
//! [`lane_entry!`], that is compiled once a level with its features. Every function between an entry and the lanes must be
//! `#[inline(always)]`: what is left out of line passes vectors through memory, and its operations become calls.
//! Closures can't be marked so. A closure over lanes that is called more than once, or in a large kernel, is a function or a
//! macro instead. `.ci/levels` looks for what fell out.
//!
//! Every operation gives, lane by lane, the bits that the
//! scalar operation gives (tested below at every level, with ±0, NaN, infinities and subnormals), which
//! is what lets one state hash hold at every level. So there is no fused multiply-add here, no
//! approximate reciprocal, no horizontal sum, and `max` and `min` are the two-way comparisons
//! `if a > b { a } else { b }` and `if a < b { a } else { b }`, NaN and ±0 included.
//!
//! Bodies are read by [`Lane::gather`]: whole 16-byte [`Row`]s are loaded and transposed in registers,
//! and [`Lane::scatter`] is the way back. Hardware gathers fetch one scalar at a time and lose to this.
#![allow(unsafe_code)] // the vectors of a level, and the row pointers that several threads share

/// The operators of a vector of x86-64, by these intrinsics.
#[cfg(target_arch = "x86_64")]
macro_rules! operators {
    ($vector:ident: $add:ident, $sub:ident, $mul:ident, $div:ident, $xor:ident, $splat:ident) => {
        $crate::lane::operators!(@ $vector Add add $add, Sub sub $sub, Mul mul $mul, Div div $div);

        impl std::ops::Neg for $vector {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // SAFETY: a value of this vector type exists only where the processor has its instructions: see the type.
                $vector(unsafe { $xor(self.0, $splat(-0.0)) })
            }
        }
    };
    (@ $vector:ident $($operator:ident $function:ident $intrinsic:ident),*) => {
        $(impl std::ops::$operator for $vector {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                // SAFETY: a value of this vector type exists only where the processor has its instructions: see the type.
                $vector(unsafe { $intrinsic(self.0, other.0) })
            }
        })*
    };
}
#[cfg(target_arch = "x86_64")]
use operators;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod portable;
mod scalar;

use crate::isa::Isa;
use bytemuck::{Pod, Zeroable};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The widest lane: every column and block is padded to a multiple of it.
pub(crate) const MAX_WIDTH: usize = 16;

/// `n` rounded up to whole widest lanes.
pub(crate) const fn padded(n: usize) -> usize {
    n.div_ceil(MAX_WIDTH) * MAX_WIDTH
}

/// Four scalars of one body, loaded and stored as a whole.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct Row(pub [f32; 4]);

/// Where a row is: its distance in bytes from the first. As an index it would have to be shifted before each
/// load and store of a row, in a kernel that has hardly less of these than of anything else.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct RowOffset(u32);

impl RowOffset {
    /// Most rows that have an offset.
    pub(crate) const MAX_ROWS: usize = 1 << 28;

    /// # Panics
    ///
    /// From [`RowOffset::MAX_ROWS`] on: its offset would be that of another row.
    #[inline(always)]
    pub(crate) const fn of(row: u32) -> Self {
        assert!((row as usize) < Self::MAX_ROWS, "more than 2^28 rows");
        RowOffset(row << 4)
    }

    /// As [`RowOffset::of`], without the check.
    #[inline(always)]
    pub(crate) const fn of_small(row: u32) -> Self {
        debug_assert!((row as usize) < Self::MAX_ROWS);
        RowOffset(row << 4)
    }

    /// The row's index.
    #[inline(always)]
    pub(crate) const fn row(self) -> usize {
        (self.0 >> 4) as usize
    }

    #[inline(always)]
    const fn bytes(self) -> usize {
        self.0 as usize
    }
}

/// Two scalars of one body. An index of theirs needs no shift: processors address by eight bytes.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct HalfRow(pub [f32; 2]);

/// Both of what kernels have two of: points, bodies, axes. `pair!(p => …)` is the array of the expression for p = 0 and p = 1.
///
/// `[0, 1].map(|p| …)` says the same, but the compiler leaves a closure out of line where a kernel has many: its values go
/// through memory, and the kernel with them. (With 423 such calls in the sweeps over contacts with a manifold a pyramid took
/// 12 % more instructions.)
macro_rules! pair {
    ($index:ident => $value:expr) => {
        [
            {
                let $index: usize = 0;
                $value
            },
            {
                let $index: usize = 1;
                $value
            },
        ]
    };
}
pub(crate) use pair;

/// Loads a vector of each column, from its lane `i` on.
#[inline(always)]
pub(crate) fn load_each<L: Lane, const N: usize, const LEN: usize>(
    columns: &[[f32; LEN]; N],
    i: usize,
) -> [L; N] {
    let mut loaded = [L::splat(0.0); N];
    for (loaded, column) in loaded.iter_mut().zip(columns) {
        *loaded = L::load(&column[i..]);
    }
    loaded
}

/// The values of all lanes. Those beyond the width are 0.
pub(crate) type Values = [f32; MAX_WIDTH];

/// Stores a vector, for functions that have no lanes: those that few bodies need, and that stay out of line.
#[inline(always)]
pub(crate) fn values<L: Lane>(vector: L) -> Values {
    let mut values = [0.0; MAX_WIDTH];
    vector.store(&mut values);
    values
}

/// The answer of a comparison, one truth value a lane.
pub(crate) trait Mask: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Bit `i` is lane `i`.
    fn bits(self) -> u32;
}

/// A vector of `WIDTH` f32, or one f32.
pub(crate) trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    const WIDTH: usize;
    /// The level whose instructions the operations use.
    const ISA: Isa;
    type Mask: Mask;
    /// The lanes of kernels that wait for the memory of bodies more than for arithmetic: at most 256 bits.
    type Narrow: Lane;

    fn splat(value: f32) -> Self;
    /// The first `WIDTH` values of `from`.
    fn load(from: &[f32]) -> Self;
    /// Writes to the first `WIDTH` places of `to`.
    fn store(self, to: &mut [f32]);

    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    /// `if self > other { self } else { other }`
    fn max(self, other: Self) -> Self;
    /// `if self < other { self } else { other }`
    fn min(self, other: Self) -> Self;

    fn lt(self, other: Self) -> Self::Mask;
    fn le(self, other: Self) -> Self::Mask;
    fn gt(self, other: Self) -> Self::Mask;
    fn ge(self, other: Self) -> Self::Mask;
    /// `if mask { yes } else { no }`, lane by lane.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Stores the lanes whose bits are set to the first places of `to`, in order. The other places up to `WIDTH` get any values.
    #[inline(always)]
    fn pack(self, bits: u32, to: &mut [f32]) {
        let mut packed = 0;
        for (lane, &value) in values(self)[..Self::WIDTH].iter().enumerate() {
            to[packed] = value;
            packed += (bits >> lane & 1) as usize;
        }
    }

    /// Loads the row at `at[i]` for each lane i and returns the four columns.
    ///
    /// # Safety
    ///
    /// `at` holds at least `WIDTH` offsets, each of a valid row behind `rows`, none of them being
    /// written by another thread.
    unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4];

    /// Stores the columns back as rows. Where an offset occurs twice, the last lane's row stays.
    ///
    /// # Safety
    ///
    /// As for [`Lane::gather`]; and no other thread reads these rows.
    unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [Self; 4]);

    /// Loads the pair at index `at[i]` for each lane i and returns the two columns.
    ///
    /// # Safety
    ///
    /// As for [`Lane::gather`].
    unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [Self; 2];

    /// Stores the columns back as pairs. Where an index occurs twice, the last lane's pair stays.
    ///
    /// # Safety
    ///
    /// As for [`Lane::scatter`].
    unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [Self; 2]);
}

/// The numbers of the set bits of each byte, in order; then zeros. What [`Lane::pack`] keeps of at most eight lanes is in these
/// lanes.
pub(crate) const SET_BITS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut lane, mut packed) = (0, 0);
        while lane < 8 {
            if bits >> lane & 1 == 1 {
                table[bits][packed] = lane as u8;
                packed += 1;
            }
            lane += 1;
        }
        bits += 1;
    }
    table
};

/// The offsets of neighbouring rows, for gather and scatter.
const NEXT: [RowOffset; MAX_WIDTH] = {
    let mut next = [RowOffset::of(0); MAX_WIDTH];
    let mut i = 0;
    while i < MAX_WIDTH {
        next[i] = RowOffset::of(i as u32);
        i += 1;
    }
    next
};

/// Stores the columns as neighbouring rows.
#[inline(always)]
pub(crate) fn store_rows<L: Lane>(rows: &mut [Row], columns: [L; 4]) {
    assert!(rows.len() >= L::WIDTH);
    // SAFETY: there are enough rows, and they are borrowed for writing.
    unsafe { L::scatter(rows.as_mut_ptr(), &NEXT, columns) }
}

/// Loads the columns of neighbouring rows.
#[inline(always)]
pub(crate) fn load_rows<L: Lane>(rows: &[Row]) -> [L; 4] {
    assert!(rows.len() >= L::WIDTH);
    // SAFETY: there are enough rows, and they are borrowed.
    unsafe { L::gather(rows.as_ptr(), &NEXT) }
}

/// Runs `$body` with the type `$lane` bound to the lane type of a level.
macro_rules! with_lanes {
    ($level:expr, $lane:ident => $body:expr) => {
        match $level.isa() {
            $crate::isa::Isa::Scalar => {
                type $lane = f32;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Avx2 => {
                type $lane = $crate::lane::avx2::Avx2;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Avx512 => {
                type $lane = $crate::lane::avx512::Avx512;
                $body
            }
            _ => {
                type $lane = $crate::lane::portable::Portable;
                $body
            }
        }
    };
}
pub(crate) use with_lanes;

/// Makes the entry of a kernel: a function over `L: Lane` that runs `$body`, compiled once a level with the level's features.
///
/// ```text
/// lane_entry! {
///     /// Sums.
///     pub(super) fn sum[const N: usize][N](from: &[f32], to: &mut f32) = sum_lanes;
/// }
/// ```
///
/// makes `sum::<L, N>(from, to)` of `#[inline(always)] fn sum_lanes<L: Lane, const N: usize>(from: &[f32], to: &mut f32)`. The first
/// brackets hold the other generic parameters, the second their names. An `unsafe fn` has an unsafe body. The functions that
/// are compiled have the names of their levels.
macro_rules! lane_entry {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => {
        $crate::lane::lane_entry!(@ [$(#[$meta])* $vis] [] $($rest)*);
    };
    ($(#[$meta:meta])* $vis:vis unsafe fn $($rest:tt)*) => {
        $crate::lane::lane_entry!(@ [$(#[$meta])* $vis] [unsafe] $($rest)*);
    };
    (@ [$($head:tt)*] [$($unsafe:tt)?] $name:ident[$($generics:tt)*][$($names:tt)*]
        ($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)? = $body:ident;) => {
        #[allow(unsafe_code, clippy::too_many_arguments)]
        #[inline(always)]
        $($head)* $($unsafe)? fn $name<L: $crate::lane::Lane, $($generics)*>($($arg: $type),*) $(-> $out)? {
            #[inline(never)]
            #[allow(clippy::missing_safety_doc)]
            unsafe fn scalar<$($generics)*>($($arg: $type),*) $(-> $out)? {
                $crate::lane::call!([$($unsafe)?] $body::<f32, $($names)*>($($arg),*))
            }
            #[inline(never)]
            #[allow(clippy::missing_safety_doc)]
            unsafe fn portable<$($generics)*>($($arg: $type),*) $(-> $out)? {
                $crate::lane::call!([$($unsafe)?] $body::<$crate::lane::portable::Portable, $($names)*>($($arg),*))
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            #[allow(clippy::missing_safety_doc)]
            unsafe fn avx2<$($generics)*>($($arg: $type),*) $(-> $out)? {
                std::hint::black_box(&mut $crate::lane::Aligned32(0));
                $crate::lane::call!([$($unsafe)?] $body::<$crate::lane::avx2::Avx2, $($names)*>($($arg),*))
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
            #[allow(clippy::missing_safety_doc)]
            unsafe fn avx512<$($generics)*>($($arg: $type),*) $(-> $out)? {
                std::hint::black_box(&mut $crate::lane::Aligned64(0));
                $crate::lane::call!([$($unsafe)?] $body::<$crate::lane::avx512::Avx512, $($names)*>($($arg),*))
            }
            // SAFETY: who names a lane type has the level of these instructions: `with_lanes!` is the only place that
            // binds one. An unsafe kernel's own contract is kept by the caller.
            unsafe {
                match L::ISA {
                    $crate::isa::Isa::Scalar => scalar::<$($names)*>($($arg),*),
                    #[cfg(target_arch = "x86_64")]
                    $crate::isa::Isa::Avx2 => avx2::<$($names)*>($($arg),*),
                    #[cfg(target_arch = "x86_64")]
                    $crate::isa::Isa::Avx512 => avx512::<$($names)*>($($arg),*),
                    _ => portable::<$($names)*>($($arg),*),
                }
            }
        }
    };
}
pub(crate) use lane_entry;

/// Calls the body of a kernel, in an `unsafe` block if it is unsafe.
macro_rules! call {
    ([] $($call:tt)*) => {
        $($call)*
    };
    ([unsafe] $($call:tt)*) => {
        // SAFETY: the caller of the entry keeps the contract of the kernel, which is written at the entry.
        unsafe { $($call)* }
    };
}
pub(crate) use call;

/// Calls a function over lanes for each index below `$len`: of whole vectors of `$lane` first, then of narrow ones, then of
/// single numbers.
macro_rules! for_lanes {
    ($len:expr, $lane:ty, $function:ident($($before:expr),*; $index:ident $(, $after:expr)*)) => {
        let len: usize = $len;
        let whole = len - len % <$lane as $crate::lane::Lane>::WIDTH;
        for $index in (0..whole).step_by(<$lane as $crate::lane::Lane>::WIDTH) {
            $function::<$lane>($($before,)* $index $(, $after)*);
        }
        let narrow = len - (len - whole) % <$lane as $crate::lane::Lane>::Narrow::WIDTH;
        for $index in (whole..narrow).step_by(<$lane as $crate::lane::Lane>::Narrow::WIDTH) {
            $function::<<$lane as $crate::lane::Lane>::Narrow>($($before,)* $index $(, $after)*);
        }
        for $index in narrow..len {
            $function::<f32>($($before,)* $index $(, $after)*);
        }
    };
}
pub(crate) use for_lanes;

/// A local of this type aligns the stack of a kernel to its vectors. Else spilled vectors cross cache lines, since the
/// compiler aligns the stack for what the *callers* may use: the solver of `packed` at 10,000 bodies took 1.11 ms instead of
/// 0.77.
#[cfg(target_arch = "x86_64")]
#[repr(align(32))]
pub(crate) struct Aligned32(#[expect(dead_code, reason = "for its alignment")] pub u8);

/// As [`Aligned32`], for 512-bit vectors.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
pub(crate) struct Aligned64(#[expect(dead_code, reason = "for its alignment")] pub u8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Level;
    use proptest::prelude::*;

    /// The values at which float operations differ most between instruction sets.
    const EDGES: [f32; 16] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        -3.5e20,
        f32::MIN_POSITIVE,
        1.0e-42,
        -1.0e-42,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1.000_000_1,
        16_777_217.0,
    ];

    fn same(lane: f32, scalar: f32, what: &str, a: f32, b: f32) {
        // Which NaN comes out is not part of the contract: a state with a NaN is quarantined.
        let equal = lane.to_bits() == scalar.to_bits() || (lane.is_nan() && scalar.is_nan());
        assert!(equal, "{what}({a:?}, {b:?}): lane {lane:?}, scalar {scalar:?}");
    }

    fn check_pair<L: Lane>(a: &[f32; 16], b: &[f32; 16]) {
        for offset in (0..16).step_by(L::WIDTH) {
            let (x, y) = (L::load(&a[offset..]), L::load(&b[offset..]));
            let check = |what: &str, result: L, scalar: &dyn Fn(f32, f32) -> f32| {
                let mut out = [0.0; 16];
                result.store(&mut out);
                for i in 0..L::WIDTH {
                    let (a, b) = (a[offset + i], b[offset + i]);
                    same(out[i], scalar(a, b), what, a, b);
                }
            };
            check("add", x + y, &|a, b| a + b);
            check("sub", x - y, &|a, b| a - b);
            check("mul", x * y, &|a, b| a * b);
            check("div", x / y, &|a, b| a / b);
            check("neg", -x, &|a, _| -a);
            check("sqrt", x.sqrt(), &|a, _| a.sqrt());
            check("abs", x.abs(), &|a, _| a.abs());
            check("max", x.max(y), &|a, b| if a > b { a } else { b });
            check("min", x.min(y), &|a, b| if a < b { a } else { b });
            check("splat", L::splat(a[0]), &|_, _| a[0]);
            let bits = |mask: L::Mask, scalar: &dyn Fn(f32, f32) -> bool| {
                for i in 0..L::WIDTH {
                    let (a, b) = (a[offset + i], b[offset + i]);
                    assert_eq!(mask.bits() >> i & 1 == 1, scalar(a, b), "comparison of {a:?} and {b:?}");
                }
            };
            bits(x.lt(y), &|a, b| a < b);
            bits(x.le(y), &|a, b| a <= b);
            bits(x.gt(y), &|a, b| a > b);
            bits(x.ge(y), &|a, b| a >= b);
            bits(x.lt(y).or(x.gt(y)), &|a, b| !a.is_nan() && !b.is_nan() && a != b);
            bits(x.le(y).and(x.ge(y)), &|a, b| a == b);
            check("select", L::select(x.gt(y), x, y), &|a, b| if a > b { a } else { b });
        }
    }

    fn check_packing<L: Lane>(values: &[f32; 16], bits: u32) {
        let bits = bits & ((1u64 << L::WIDTH) - 1) as u32;
        let mut out = [0.0; 16];
        L::load(values).pack(bits, &mut out);
        let set = (0..L::WIDTH).filter(|lane| bits >> lane & 1 == 1);
        for (place, lane) in set.enumerate() {
            assert_eq!(out[place].to_bits(), values[lane].to_bits());
            assert!(L::WIDTH > 8 || usize::from(SET_BITS[bits as usize][place]) == lane);
        }
    }

    fn check_rows<L: Lane>(index: &[u32; 16]) {
        let rows: Vec<Row> = (0..64).map(|i| Row([0, 1, 2, 3].map(|j| (i * 4 + j) as f32))).collect();
        let at = index.map(RowOffset::of);
        for offset in (0..16).step_by(L::WIDTH) {
            // SAFETY: the indices are below 64, and there is one thread.
            let columns = unsafe { L::gather(rows.as_ptr(), &at[offset..]) };
            for (j, column) in columns.into_iter().enumerate() {
                let mut out = [0.0; 16];
                column.store(&mut out);
                for i in 0..L::WIDTH {
                    assert_eq!(out[i], rows[index[offset + i] as usize].0[j]);
                }
            }
            let mut copy = vec![Row::default(); 64];
            // SAFETY: the indices are below 64, and there is one thread.
            unsafe { L::scatter(copy.as_mut_ptr(), &at[offset..], columns) };
            for i in 0..L::WIDTH {
                let row = index[offset + i] as usize;
                assert_eq!(copy[row], rows[row]);
            }
        }
    }

    fn check_pairs<L: Lane>(index: &[u32; 16]) {
        let pairs: Vec<HalfRow> = (0..64).map(|i| HalfRow([0, 1].map(|j| (i * 2 + j) as f32))).collect();
        for at in index.chunks(L::WIDTH) {
            // SAFETY: the indices are below 64, and there is one thread.
            let columns = unsafe { L::gather_half_rows(pairs.as_ptr(), at) };
            for (j, column) in columns.into_iter().enumerate() {
                let mut out = [0.0; 16];
                column.store(&mut out);
                for (value, &at) in out.iter().zip(at) {
                    assert_eq!(*value, pairs[at as usize].0[j]);
                }
            }
            let mut copy = vec![HalfRow::default(); 64];
            // SAFETY: the indices are below 64, and there is one thread.
            unsafe { L::scatter_half_rows(copy.as_mut_ptr(), at, columns) };
            for &at in at {
                assert_eq!(copy[at as usize], pairs[at as usize]);
            }
        }
    }

    /// Contract: every operation at every level gives the scalar operation's bits, for all pairs of
    /// edge values.
    #[test]
    fn operations_equal_scalar_on_edge_values() {
        for shift in 0..16 {
            let mut b = EDGES;
            b.rotate_left(shift);
            for level in Level::available() {
                with_lanes!(level, L => check_pair::<L>(&EDGES, &b));
            }
        }
    }

    proptest! {
        /// Contract: the same for values of any bits.
        #[test]
        fn operations_equal_scalar(a: [u32; 16], b: [u32; 16]) {
            let (a, b) = (a.map(f32::from_bits), b.map(f32::from_bits));
            for level in Level::available() {
                with_lanes!(level, L => check_pair::<L>(&a, &b));
            }
        }

        /// Contract: packing keeps the bits of the lanes that are named, in order.
        #[test]
        fn packing_keeps_the_named_lanes(values: [u32; 16], bits: u32) {
            let values = values.map(f32::from_bits);
            for level in Level::available() {
                with_lanes!(level, L => {
                    check_packing::<L>(&values, bits);
                    check_packing::<<L as Lane>::Narrow>(&values, bits);
                });
            }
        }

        /// Contract: gather reads, and scatter writes, the rows or pairs that the indices name.
        #[test]
        fn rows_go_where_their_index_says(index in proptest::array::uniform16(0u32..64)) {
            for level in Level::available() {
                with_lanes!(level, L => {
                    check_rows::<L>(&index);
                    check_pairs::<L>(&index);
                });
            }
        }
    }
}
