//! Circle or axis-aligned box (A) against a half-space (B): the normal is the plane's, reversed.

use super::Touch;
use crate::lane::Lane;

/// `support` is how far the shape reaches from its centre towards the plane, m.
#[inline(always)]
fn touch<L: Lane>(a: [L; 4], plane: [L; 4], support: L) -> Touch<L> {
    let separation = a[0] * plane[0] + a[1] * plane[1] - plane[2] - support;
    let everywhere = separation.le(separation);
    Touch { normal_x: -plane[0], normal_y: -plane[1], separation, flat: everywhere }
}

#[inline(always)]
pub(super) fn touch_circle<L: Lane>(circle: [L; 4], plane: [L; 4]) -> Touch<L> {
    touch(circle, plane, circle[2])
}

#[inline(always)]
pub(super) fn touch_aabb<L: Lane>(aabb: [L; 4], plane: [L; 4]) -> Touch<L> {
    touch(aabb, plane, aabb[2] * plane[0].abs() + aabb[3] * plane[1].abs())
}
