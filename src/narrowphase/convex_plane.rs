//! Convex outline (A) against a half-space (B): the points are both ends of the edge most opposite to the plane's normal.

use super::NO_CONTACT;
use super::manifold::{LaneOutline, Manifold, Point, V};
use crate::lane::{Lane, Mask};

/// The plane's normal and offset, and the manifold, are in A's axes, from A's centre.
#[inline(always)]
pub(super) fn touch<L: Lane, const N: usize>(a: &LaneOutline<L, N>, normal: V<L>, offset: L) -> Manifold<L> {
    let mut most = normal.dot(a.normal[0]);
    let (mut from, mut to, mut index) = (a.vertex[0], a.vertex[1 % N], L::splat(0.0));
    for i in 1..N {
        let along = normal.dot(a.normal[i]);
        let better = along.lt(most);
        most = L::select(better, along, most);
        from = V::select(better, a.vertex[i], from);
        to = V::select(better, a.vertex[(i + 1) % N], to);
        index = L::select(better, L::splat(i as f32), index);
    }
    let next = index + L::splat(1.0);
    let next = L::select(next.ge(a.count), L::splat(0.0), next);
    let first = point(from, index, normal, offset, a.radius);
    let mut second = point(to, next, normal, offset, a.radius);
    // An outline of one vertex gives one point.
    second.separation = L::select(a.count.lt(L::splat(1.5)), L::splat(NO_CONTACT), second.separation);
    let everywhere = first.separation.le(first.separation).or(first.separation.gt(first.separation));
    Manifold { normal: normal.neg(), points: [first, second], flat: everywhere }
}

/// The point midway between a rounded vertex and the plane.
#[inline(always)]
fn point<L: Lane>(vertex: V<L>, feature: L, normal: V<L>, offset: L, radius: L) -> Point<L> {
    let separation = normal.dot(vertex) - offset - radius;
    Point { place: vertex.sub(normal.scaled(radius + L::splat(0.5) * separation)), separation, feature }
}
