//! Axis-aligned box against axis-aligned box: the normal is the axis of larger separation, y if both are equal.

use super::Touch;
use crate::lane::Lane;

#[inline(always)]
pub(super) fn touch<L: Lane>(a: [L; 4], b: [L; 4]) -> Touch<L> {
    let zero = L::splat(0.0);
    let [delta_x, delta_y] = [b[0] - a[0], b[1] - a[1]];
    let gap_x = delta_x.abs() - (a[2] + b[2]);
    let gap_y = delta_y.abs() - (a[3] + b[3]);
    let by_x = gap_x.gt(gap_y);
    let sign = |v: L| L::select(v.lt(zero), L::splat(-1.0), L::splat(1.0));
    Touch {
        normal_x: L::select(by_x, sign(delta_x), zero),
        normal_y: L::select(by_x, zero, sign(delta_y)),
        separation: L::select(by_x, gap_x, gap_y),
        // True if face meets face, false near a corner.
        flat: L::select(by_x, gap_y, gap_x).lt(zero),
    }
}
