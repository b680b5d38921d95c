//! Round shape (A) against convex outline (B): finds the feature of the outline that is nearest to the centre.
//!
//! The kernel finds the face of largest separation. If the centre is beyond one end of this face, the vertex there is nearest,
//! else the face itself. A centre inside leaves by the nearest face. An outline of one vertex is a point.

use super::NO_CONTACT;
use super::manifold::{LaneOutline, Manifold, Point, V};
use crate::lane::{Lane, Mask};

/// Up to this distance, m, the centre is on the vertex.
const COINCIDENT: f32 = 1.0e-12;

/// `centre` and the manifold are in B's axes, from B's centre.
#[inline(always)]
pub(super) fn touch<L: Lane, const N: usize>(centre: V<L>, radius: L, b: &LaneOutline<L, N>) -> Manifold<L> {
    let zero = L::splat(0.0);
    let mut separation = L::splat(-NO_CONTACT);
    let (mut normal, mut from, mut to) = (b.normal[0], b.vertex[0], b.vertex[0]);
    for i in 0..N {
        let candidate = b.normal[i].dot(centre.sub(b.vertex[i]));
        let better = candidate.gt(separation);
        separation = L::select(better, candidate, separation);
        normal = V::select(better, b.normal[i], normal);
        from = V::select(better, b.vertex[i], from);
        to = V::select(better, b.vertex[(i + 1) % N], to);
    }
    let tangent = normal.left();
    let along = tangent.dot(centre);
    let before = along.lt(tangent.dot(from));
    let beyond = along.gt(tangent.dot(to));
    let is_point = normal.dot(normal).le(zero);
    // A segment has no inside: a centre in line with it is beyond an end.
    let outside = separation.gt(zero).or(b.count.lt(L::splat(2.5)));
    let by_vertex = before.or(beyond).and(outside).or(is_point);
    let way = centre.sub(V::select(beyond, to, from));
    let distance = way.dot(way).sqrt();
    let apart = distance.gt(L::splat(COINCIDENT));
    let per_distance = L::splat(1.0) / distance;
    let away = V::select(apart, way.scaled(per_distance), V::splat(-1.0, 0.0));
    let outward = V::select(by_vertex, away, normal);
    let separation = L::select(by_vertex, distance, separation) - (radius + b.radius);
    let reach = radius + separation * L::splat(0.5);
    let point = Point { place: centre.sub(outward.scaled(reach)), separation, feature: zero };
    let none = Point { separation: L::splat(NO_CONTACT), feature: L::splat(-1.0), ..point };
    // True if the centre is beside a face, false near a corner.
    let flat = along.ge(tangent.dot(from)).and(along.le(tangent.dot(to))).and(normal.dot(normal).gt(zero));
    Manifold { normal: outward.neg(), points: [point, none], flat }
}
