//! Finds the candidates that have come near.
//!
//! For shapes that do not turn, the separation from their kernel decides. For shapes that turn, the largest gap along
//! an axis of the two boxes around them decides, less the roundings. This gap is at most their distance, so a pair that
//! passes may still be some way apart. Its lane is then not active.

use super::{Step, gather};
use crate::contacts::{BLOCK, Tile};
use crate::lane::{Lane, Mask, RowOffset, lane_entry};
use crate::narrowphase::{Kernel, PairKind};

/// Appends the candidates of this kind that are near to `born`, in order, and removes them from the candidates.
///
/// # Safety
///
/// The step must have every row that the candidates name: `find_near` in `contacts/update.rs` asserts it.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn near<L: Lane>(
    tile: &mut Tile,
    step: &Step<'_>,
    kind: PairKind,
    born: &mut Vec<u32>,
    gap: impl Fn(&[RowOffset], &[RowOffset]) -> L,
) {
    let speculative = L::splat(step.speculative);
    let run = tile.candidate_runs.of(kind);
    for block in tile.candidates[run].iter_mut().filter(|block| block.alive != 0) {
        let mut bits = 0;
        for i in (0..BLOCK).step_by(L::WIDTH) {
            let gap = gap(&block.a[i..i + L::WIDTH], &block.b[i..i + L::WIDTH]);
            bits |= (gap - L::load(&block.rounding[i..])).lt(speculative).bits() << i;
        }
        let mut bits = bits as u16 & block.alive;
        block.alive &= !bits;
        while bits != 0 {
            born.push(block.pair[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
    }
}

lane_entry! {
    /// Finds the near candidates of a kind whose shapes do not turn.
    ///
    /// # Safety
    ///
    /// The conditions of [`near`] must hold.
    pub(super) unsafe fn near_kind[K: Kernel][K](tile: &mut Tile, step: &Step<'_>, born: &mut Vec<u32>) = near_kind_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn near_kind_lanes<L: Lane, K: Kernel>(tile: &mut Tile, step: &Step<'_>, born: &mut Vec<u32>) {
    // SAFETY: the caller guarantees that the step has every row that the candidates name.
    unsafe {
        near::<L>(tile, step, K::KIND, born, |a, b| {
            K::touch(gather::<L>(step.shape, a), gather::<L>(step.shape, b)).separation
        });
    }
}

lane_entry! {
    /// Finds the near candidates of the kinds with manifolds.
    ///
    /// # Safety
    ///
    /// The conditions of [`near`] must hold.
    pub(super) unsafe fn near_shapes[][](tile: &mut Tile, step: &Step<'_>, born: &mut Vec<u32>) = near_shapes_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn near_shapes_lanes<L: Lane>(tile: &mut Tile, step: &Step<'_>, born: &mut Vec<u32>) {
    for kind in [PairKind::RoundRound, PairKind::RoundConvex, PairKind::ConvexConvex] {
        // SAFETY: the caller guarantees that the step has every row that the candidates name.
        unsafe { near::<L>(tile, step, kind, born, |a, b| gap::<L>(step, a, b)) };
    }
}

/// Returns the largest gap between two turned boxes along one of their axes.
///
/// # Safety
///
/// The step must have these rows.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn gap<L: Lane>(step: &Step<'_>, a: &[RowOffset], b: &[RowOffset]) -> L {
    // SAFETY: the caller guarantees that the step has these rows.
    let [[.., half_ax, half_ay], [.., half_bx, half_by], [x_a, y_a, cos_a, sin_a], [x_b, y_b, cos_b, sin_b]] = unsafe {
        [
            gather::<L>(step.shape, a),
            gather::<L>(step.shape, b),
            gather::<L>(step.placement, a),
            gather::<L>(step.placement, b),
        ]
    };
    let (x, y) = (x_b - x_a, y_b - y_a);
    // The angle of B against A.
    let cos = (cos_a * cos_b + sin_a * sin_b).abs();
    let sin = (cos_a * sin_b - sin_a * cos_b).abs();
    let along_a = [
        (x * cos_a + y * sin_a).abs() - (half_ax + (half_bx * cos + half_by * sin)),
        (y * cos_a - x * sin_a).abs() - (half_ay + (half_bx * sin + half_by * cos)),
    ];
    let along_b = [
        (x * cos_b + y * sin_b).abs() - (half_bx + (half_ax * cos + half_ay * sin)),
        (y * cos_b - x * sin_b).abs() - (half_by + (half_ax * sin + half_ay * cos)),
    ];
    along_a[0].max(along_a[1]).max(along_b[0].max(along_b[1]))
}
