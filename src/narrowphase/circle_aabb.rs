//! Circle (A) against axis-aligned box (B): the normal runs from the circle's centre to the box's nearest point. A
//! centre inside the box leaves by the nearest face, by the x face if two are equally near.

use super::Touch;
use crate::lane::{Lane, Mask};

#[inline(always)]
pub(super) fn touch<L: Lane>(circle: [L; 4], aabb: [L; 4]) -> Touch<L> {
    let zero = L::splat(0.0);
    let [x, y] = [circle[0] - aabb[0], circle[1] - aabb[1]];
    let [half_x, half_y] = [aabb[2], aabb[3]];
    // From the nearest point of the box to the centre; zero if the centre is inside.
    let out_x = x - x.max(-half_x).min(half_x);
    let out_y = y - y.max(-half_y).min(half_y);
    let distance = (out_x * out_x + out_y * out_y).sqrt();
    let outside = distance.gt(zero);

    let [depth_x, depth_y] = [half_x - x.abs(), half_y - y.abs()];
    let by_x = depth_x.le(depth_y);
    let sign = |v: L| L::select(v.lt(zero), L::splat(-1.0), L::splat(1.0));
    let inside_x = L::select(by_x, sign(x), zero);
    let inside_y = L::select(by_x, zero, sign(y));
    let depth = L::select(by_x, depth_x, depth_y);

    Touch {
        normal_x: -L::select(outside, out_x / distance, inside_x),
        normal_y: -L::select(outside, out_y / distance, inside_y),
        separation: L::select(outside, distance, -depth) - circle[2],
        // True if the centre is beside a face, false near a corner.
        flat: x.abs().lt(half_x).or(y.abs().lt(half_y)),
    }
}

/// Axis-aligned box (A) against circle (B).
#[inline(always)]
pub(super) fn touch_swapped<L: Lane>(aabb: [L; 4], circle: [L; 4]) -> Touch<L> {
    let touch = touch(circle, aabb);
    Touch { normal_x: -touch.normal_x, normal_y: -touch.normal_y, ..touch }
}
