//! Lanes: one trait over `f32`, `f32x4`, `f32x8` and `f32x16`, so that each kernel is written once.
//!
//! This is the only file that names `wide`. Every operation gives, lane by lane, the bits that the
//! scalar operation gives (tested below at every width, with ±0, NaN, infinities and subnormals), which
//! is what lets one state hash hold at every width. So there is no fused multiply-add here, no
//! approximate reciprocal, no horizontal sum, and `max` and `min` are the two-way comparisons
//! `if a > b { a } else { b }` and `if a < b { a } else { b }`, NaN and ±0 included.
//!
//! Bodies are read by [`Lane::gather`]: whole 16-byte [`Row`]s are loaded and transposed in registers,
//! and [`Lane::scatter`] is the way back. Hardware gathers fetch one scalar at a time and lose to this.
#![allow(unsafe_code)] // the x86 shuffles, and the row pointers that several threads share

use bytemuck::{Pod, Zeroable};
use std::ops::{Add, Div, Mul, Neg, Sub};
use wide::{f32x4, f32x8, f32x16};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// Both of what kernels have two of: points, bodies, axes.
///
/// `[0, 1].map(…)` says the same, but the compiler leaves it out of line where a kernel has many: its values go
/// through memory, and the kernel with them, of which it then no longer knows that no load reaches beyond a block.
/// (With 423 such calls in the sweeps over contacts with a manifold a pyramid took 12 % more instructions than with the few there
/// were before a change elsewhere.)
#[inline(always)]
pub(crate) fn pair<T>(mut of: impl FnMut(usize) -> T) -> [T; 2] {
    [of(0), of(1)]
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
    type Mask: Mask;

    fn splat(value: f32) -> Self;
    /// The first `WIDTH` values of `from`.
    fn load(from: &[f32]) -> Self;
    /// To the first `WIDTH` places of `to`.
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

impl Mask for bool {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self as u32
    }
}

impl Lane for f32 {
    const WIDTH: usize = 1;
    type Mask = bool;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        from[0]
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        to[0] = self;
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn gt(self, other: Self) -> bool {
        self > other
    }
    #[inline(always)]
    fn ge(self, other: Self) -> bool {
        self >= other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4] {
        // SAFETY: the caller vouches for the row.
        unsafe { (*rows.byte_add(at[0].bytes())).0 }
    }
    #[inline(always)]
    unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [Self; 4]) {
        // SAFETY: the caller vouches for the row.
        unsafe { (*rows.byte_add(at[0].bytes())).0 = columns }
    }
    #[inline(always)]
    unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [Self; 2] {
        // SAFETY: the caller vouches for the pair.
        unsafe { (*pairs.add(at[0] as usize)).0 }
    }
    #[inline(always)]
    unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [Self; 2]) {
        // SAFETY: the caller vouches for the pair.
        unsafe { pairs1::store(pairs.add(at[0] as usize), columns) }
    }
}

macro_rules! impl_lane {
    ($lane:ty, $width:literal, $rows:ident) => {
        impl Mask for $lane {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bitmask() as u32
            }
        }

        impl Lane for $lane {
            const WIDTH: usize = $width;
            type Mask = Self;

            #[inline(always)]
            fn splat(value: f32) -> Self {
                <$lane>::splat(value)
            }
            #[inline(always)]
            fn load(from: &[f32]) -> Self {
                let array: &[f32; $width] = from[..$width].try_into().expect("length checked");
                bytemuck::pod_read_unaligned(bytemuck::bytes_of(array))
            }
            #[inline(always)]
            fn store(self, to: &mut [f32]) {
                to[..$width].copy_from_slice(&self.to_array());
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$lane>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$lane>::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // One instruction on x86, where it has just these semantics; elsewhere `fast_max` is
                // free to order NaN and ±0 as the hardware likes.
                if cfg!(target_arch = "x86_64") {
                    self.fast_max(other)
                } else {
                    Lane::select(Lane::gt(self, other), self, other)
                }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if cfg!(target_arch = "x86_64") {
                    self.fast_min(other)
                } else {
                    Lane::select(Lane::lt(self, other), self, other)
                }
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Self {
                self.simd_lt(other)
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self {
                self.simd_le(other)
            }
            #[inline(always)]
            fn gt(self, other: Self) -> Self {
                self.simd_gt(other)
            }
            #[inline(always)]
            fn ge(self, other: Self) -> Self {
                self.simd_ge(other)
            }
            #[inline(always)]
            fn select(mask: Self, yes: Self, no: Self) -> Self {
                wide::Select::select(mask, yes, no)
            }
            #[inline(always)]
            unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4] {
                // SAFETY: the caller vouches for the rows at these offsets.
                unsafe { $rows::gather(rows, at) }
            }
            #[inline(always)]
            unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [Self; 4]) {
                // SAFETY: the caller vouches for the rows at these offsets.
                unsafe { $rows::scatter(rows, at, columns) }
            }
            #[inline(always)]
            unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [Self; 2] {
                // SAFETY: the caller vouches for the rows at these offsets.
                unsafe { $rows::gather_half_rows(pairs, at) }
            }
            #[inline(always)]
            unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [Self; 2]) {
                // SAFETY: the caller vouches for the rows at these offsets.
                unsafe { $rows::scatter_half_rows(pairs, at, columns) }
            }
        }
    };
}

impl_lane!(f32x4, 4, rows4);
impl_lane!(f32x8, 8, rows8);
impl_lane!(f32x16, 16, rows16);

// Arrays of four registers are taken apart by hand in what follows. With `map`, which the compiler did not take apart there, they
// went through memory in pieces, and width 4 was 20 times slower than width 8 in `granule run pyramid --bodies 10000`. (For width 8 `map` is as good, and by 1 to 4 % of
// a step's instructions better.)

/// One pair. Two plain stores were compiled to one that puts the pair together in an integer register: the scalar path's
/// links took a third longer
/// in `granule run cloth --bodies 16384 --lanes 1`.
mod pairs1 {
    use super::HalfRow;

    #[inline(always)]
    pub(super) unsafe fn store(to: *mut HalfRow, [x, y]: [f32; 2]) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_mm_castps_pd, _mm_set_ss, _mm_storel_pd, _mm_unpacklo_ps};
            // SAFETY: SSE2 is part of x86-64; the caller vouches for the pair.
            unsafe { _mm_storel_pd(to.cast(), _mm_castps_pd(_mm_unpacklo_ps(_mm_set_ss(x), _mm_set_ss(y)))) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: the caller vouches for the pair.
        unsafe {
            (*to).0 = [x, y];
        }
    }
}

/// Four rows and their 4×4 transpose.
mod rows4 {
    use super::{HalfRow, Row, RowOffset, f32x4};

    #[inline(always)]
    pub(super) unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [f32x4; 4] {
        let at: &[RowOffset; 4] = at[..4].try_into().expect("length checked");
        // SAFETY: the caller vouches for the rows.
        let row = |i: usize| f32x4::new(unsafe { (*rows.byte_add(at[i].bytes())).0 });
        f32x4::transpose([row(0), row(1), row(2), row(3)])
    }

    #[inline(always)]
    pub(super) unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [f32x4; 4]) {
        let at: &[RowOffset; 4] = at[..4].try_into().expect("length checked");
        // SAFETY: the caller vouches for the rows.
        let store = |i: usize, row: f32x4| unsafe { (*rows.byte_add(at[i].bytes())).0 = row.to_array() };
        let [a, b, c, d] = f32x4::transpose(columns);
        store(0, a);
        store(1, b);
        store(2, c);
        store(3, d);
    }

    #[inline(always)]
    pub(super) unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [f32x4; 2] {
        let at: &[u32; 4] = at[..4].try_into().expect("length checked");
        // SAFETY: the caller vouches for the pairs.
        let pair = |i: usize| unsafe { (*pairs.add(at[i] as usize)).0 };
        let [[a, e], [b, f], [c, g], [d, h]] = [pair(0), pair(1), pair(2), pair(3)];
        [f32x4::new([a, b, c, d]), f32x4::new([e, f, g, h])]
    }

    #[inline(always)]
    pub(super) unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], [x, y]: [f32x4; 2]) {
        let at: &[u32; 4] = at[..4].try_into().expect("length checked");
        for (i, (x, y)) in x.to_array().into_iter().zip(y.to_array()).enumerate() {
            // SAFETY: the caller vouches for the pairs.
            unsafe { (*pairs.add(at[i] as usize)).0 = [x, y] };
        }
    }
}

/// Eight rows: row i in the low half of a register, row i + 4 in the high half, so that a 4×4
/// transpose in each half puts every lane in its place and no shuffle crosses the halves.
#[cfg(target_feature = "avx")]
mod rows8 {
    use super::{HalfRow, Row, RowOffset, f32x8};
    use core::arch::x86_64::{
        __m128, __m256, _mm_castpd_ps, _mm_castps_pd, _mm_load_ps, _mm_load_sd, _mm_loadh_pd, _mm_store_ps,
        _mm_storeh_pd, _mm_storel_pd, _mm256_castps128_ps256, _mm256_castps256_ps128, _mm256_extractf128_ps,
        _mm256_insertf128_ps, _mm256_shuffle_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    };

    #[inline(always)]
    fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
        // SAFETY: AVX is enabled for the whole build, see this module's cfg.
        unsafe {
            let ab_low = _mm256_unpacklo_ps(a, b);
            let ab_high = _mm256_unpackhi_ps(a, b);
            let cd_low = _mm256_unpacklo_ps(c, d);
            let cd_high = _mm256_unpackhi_ps(c, d);
            [
                _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
                _mm256_shuffle_ps::<0xEE>(ab_low, cd_low),
                _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm256_shuffle_ps::<0xEE>(ab_high, cd_high),
            ]
        }
    }

    #[inline(always)]
    pub(super) unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [f32x8; 4] {
        let at: &[RowOffset; 8] = at[..8].try_into().expect("length checked");
        // SAFETY: the caller vouches for the rows, and `Row` is aligned to 16 bytes.
        unsafe {
            let row = |i: usize| -> __m128 { _mm_load_ps(rows.byte_add(at[i].bytes()).cast()) };
            let pair = |i: usize| _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(row(i)), row(i + 4));
            transpose([pair(0), pair(1), pair(2), pair(3)]).map(bytemuck::cast)
        }
    }

    #[inline(always)]
    pub(super) unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [f32x8; 4]) {
        let at: &[RowOffset; 8] = at[..8].try_into().expect("length checked");
        let pairs = transpose(columns.map(bytemuck::cast));
        // SAFETY: the caller vouches for the rows, and `Row` is aligned to 16 bytes.
        unsafe {
            let row = |i: usize| -> *mut f32 { rows.byte_add(at[i].bytes()).cast() };
            for (i, pair) in pairs.into_iter().enumerate() {
                _mm_store_ps(row(i), _mm256_castps256_ps128(pair));
            }
            for (i, pair) in pairs.into_iter().enumerate() {
                _mm_store_ps(row(i + 4), _mm256_extractf128_ps::<1>(pair));
            }
        }
    }

    /// Half the shuffles of four columns: pairs i and i + 1 come in one quarter of two registers.
    #[inline(always)]
    pub(super) unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [f32x8; 2] {
        let at: &[u32; 8] = at[..8].try_into().expect("length checked");
        // SAFETY: the caller vouches for the pairs.
        unsafe {
            let pair = |i: usize| -> *const f64 { pairs.add(at[i] as usize).cast() };
            let two = |i: usize| _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd(pair(i)), pair(i + 1)));
            let four = |i: usize| _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(two(i)), two(i + 4));
            let (low, high) = (four(0), four(2));
            [_mm256_shuffle_ps::<0x88>(low, high), _mm256_shuffle_ps::<0xDD>(low, high)].map(bytemuck::cast)
        }
    }

    #[inline(always)]
    pub(super) unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [f32x8; 2]) {
        let at: &[u32; 8] = at[..8].try_into().expect("length checked");
        let [x, y]: [__m256; 2] = columns.map(bytemuck::cast);
        // SAFETY: the caller vouches for the pairs.
        unsafe {
            let pair = |i: usize| -> *mut f64 { pairs.add(at[i] as usize).cast() };
            let store = |i: usize, two: __m128| {
                _mm_storel_pd(pair(i), _mm_castps_pd(two));
                _mm_storeh_pd(pair(i + 1), _mm_castps_pd(two));
            };
            let (low, high) = (_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
            store(0, _mm256_castps256_ps128(low));
            store(2, _mm256_castps256_ps128(high));
            store(4, _mm256_extractf128_ps::<1>(low));
            store(6, _mm256_extractf128_ps::<1>(high));
        }
    }
}

/// Without AVX an `f32x8` is two `f32x4`, and so are its rows.
#[cfg(not(target_feature = "avx"))]
mod rows8 {
    use super::{HalfRow, Row, RowOffset, f32x4, f32x8, rows4};

    #[inline(always)]
    pub(super) unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [f32x8; 4] {
        // SAFETY: the caller vouches for the rows at these offsets.
        let (low, high) = unsafe { (rows4::gather(rows, at), rows4::gather(rows, &at[4..])) };
        let join = |i: usize| -> f32x8 { bytemuck::cast([low[i], high[i]]) };
        [join(0), join(1), join(2), join(3)]
    }

    #[inline(always)]
    pub(super) unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [f32x8; 4]) {
        let half = |i: usize| -> [f32x4; 2] { bytemuck::cast(columns[i]) };
        let [[a, e], [b, f], [c, g], [d, h]] = [half(0), half(1), half(2), half(3)];
        // SAFETY: the caller vouches for the rows at these offsets.
        unsafe {
            rows4::scatter(rows, at, [a, b, c, d]);
            rows4::scatter(rows, &at[4..], [e, f, g, h]);
        }
    }

    #[inline(always)]
    pub(super) unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [f32x8; 2] {
        // SAFETY: the caller vouches for the rows at these offsets.
        let (low, high) =
            unsafe { (rows4::gather_half_rows(pairs, at), rows4::gather_half_rows(pairs, &at[4..])) };
        let join = |i: usize| -> f32x8 { bytemuck::cast([low[i], high[i]]) };
        [join(0), join(1)]
    }

    #[inline(always)]
    pub(super) unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [f32x8; 2]) {
        let half = |i: usize| -> [f32x4; 2] { bytemuck::cast(columns[i]) };
        let [[a, c], [b, d]] = [half(0), half(1)];
        // SAFETY: the caller vouches for the rows at these offsets.
        unsafe {
            rows4::scatter_half_rows(pairs, at, [a, b]);
            rows4::scatter_half_rows(pairs, &at[4..], [c, d]);
        }
    }
}

/// Sixteen rows are twice eight: `wide` has no faster transpose for them.
mod rows16 {
    use super::{HalfRow, Row, RowOffset, f32x8, f32x16, rows8};

    #[inline(always)]
    pub(super) unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [f32x16; 4] {
        // SAFETY: the caller vouches for the rows at these offsets.
        let (low, high) = unsafe { (rows8::gather(rows, at), rows8::gather(rows, &at[8..])) };
        let join = |i: usize| -> f32x16 { bytemuck::cast([low[i], high[i]]) };
        [join(0), join(1), join(2), join(3)]
    }

    #[inline(always)]
    pub(super) unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [f32x16; 4]) {
        let half = |i: usize| -> [f32x8; 2] { bytemuck::cast(columns[i]) };
        let [[a, e], [b, f], [c, g], [d, h]] = [half(0), half(1), half(2), half(3)];
        // SAFETY: the caller vouches for the rows at these offsets.
        unsafe {
            rows8::scatter(rows, at, [a, b, c, d]);
            rows8::scatter(rows, &at[8..], [e, f, g, h]);
        }
    }

    #[inline(always)]
    pub(super) unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [f32x16; 2] {
        // SAFETY: the caller vouches for the rows at these offsets.
        let (low, high) =
            unsafe { (rows8::gather_half_rows(pairs, at), rows8::gather_half_rows(pairs, &at[8..])) };
        let join = |i: usize| -> f32x16 { bytemuck::cast([low[i], high[i]]) };
        [join(0), join(1)]
    }

    #[inline(always)]
    pub(super) unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [f32x16; 2]) {
        let half = |i: usize| -> [f32x8; 2] { bytemuck::cast(columns[i]) };
        let [[a, c], [b, d]] = [half(0), half(1)];
        // SAFETY: the caller vouches for the rows at these offsets.
        unsafe {
            rows8::scatter_half_rows(pairs, at, [a, b]);
            rows8::scatter_half_rows(pairs, &at[8..], [c, d]);
        }
    }
}

/// Runs `$body` with the type `$lane` bound to the lane type of a width chosen at run time.
macro_rules! with_lanes {
    ($lanes:expr, $lane:ident => $body:expr) => {
        match $lanes.isa() {
            $crate::isa::Isa::Scalar => {
                type $lane = f32;
                $body
            }
            $crate::isa::Isa::Avx2 => {
                type $lane = $crate::lane::Eight;
                $body
            }
            $crate::isa::Isa::Avx512 => {
                type $lane = $crate::lane::Sixteen;
                $body
            }
            _ => {
                type $lane = $crate::lane::Four;
                $body
            }
        }
    };
}
pub(crate) use with_lanes;

/// The vector of four lanes.
pub(crate) type Four = f32x4;
/// The vector of eight lanes.
pub(crate) type Eight = f32x8;
/// The vector of sixteen lanes.
pub(crate) type Sixteen = f32x16;

#[cfg(test)]
mod tests {
    use super::*;
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
            // SAFETY: the caller vouches for the rows at these offsets.
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
            // SAFETY: the caller vouches for the rows at these offsets.
            unsafe { L::scatter_half_rows(copy.as_mut_ptr(), at, columns) };
            for &at in at {
                assert_eq!(copy[at as usize], pairs[at as usize]);
            }
        }
    }

    /// Contract: every operation at every width gives the scalar operation's bits, for all pairs of
    /// edge values.
    #[test]
    fn operations_equal_scalar_on_edge_values() {
        for shift in 0..16 {
            let mut b = EDGES;
            b.rotate_left(shift);
            check_pair::<f32>(&EDGES, &b);
            check_pair::<Four>(&EDGES, &b);
            check_pair::<Eight>(&EDGES, &b);
            check_pair::<Sixteen>(&EDGES, &b);
        }
    }

    proptest! {
        /// Contract: the same for values of any bits.
        #[test]
        fn operations_equal_scalar(a: [u32; 16], b: [u32; 16]) {
            let (a, b) = (a.map(f32::from_bits), b.map(f32::from_bits));
            check_pair::<f32>(&a, &b);
            check_pair::<Four>(&a, &b);
            check_pair::<Eight>(&a, &b);
            check_pair::<Sixteen>(&a, &b);
        }

        /// Contract: gather reads, and scatter writes, the rows or pairs that the indices name.
        #[test]
        fn rows_go_where_their_index_says(index in proptest::array::uniform16(0u32..64)) {
            check_rows::<f32>(&index);
            check_rows::<Four>(&index);
            check_rows::<Eight>(&index);
            check_rows::<Sixteen>(&index);
            check_pairs::<f32>(&index);
            check_pairs::<Four>(&index);
            check_pairs::<Eight>(&index);
            check_pairs::<Sixteen>(&index);
        }
    }
}
