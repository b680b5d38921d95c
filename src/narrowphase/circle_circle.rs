//! Circle against circle: the normal runs between the centres.

use super::Touch;
use crate::lane::{Lane, Mask};

/// Up to this distance, m, the centres coincide, and the normal is (1, 0).
const COINCIDENT: f32 = 1.0e-12;

#[inline(always)]
pub(super) fn touch<L: Lane>(a: [L; 4], b: [L; 4]) -> Touch<L> {
    let [delta_x, delta_y] = [b[0] - a[0], b[1] - a[1]];
    let distance = (delta_x * delta_x + delta_y * delta_y).sqrt();
    let apart = distance.gt(L::splat(COINCIDENT));
    let per_distance = L::splat(1.0) / distance;
    Touch {
        normal_x: L::select(apart, delta_x * per_distance, L::splat(1.0)),
        normal_y: L::select(apart, delta_y * per_distance, L::splat(0.0)),
        separation: distance - (a[2] + b[2]),
        flat: apart.and(distance.lt(L::splat(0.0))), // never
    }
}
