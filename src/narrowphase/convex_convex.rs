//! Convex outline against convex outline: separating axes, then clipping.
//!
//! ```text
//! for each face of A, of B:     how far the other's nearest vertex is from it    → the furthest: reference
//! incident edge:                the other's, most opposite to the reference face
//! two points:                   the ends of what of the incident edge lies above the reference edge
//! corner next to corner:        the way from the one to the other
//! ```
//!
//! The methods are those of D. Gregorius, "The Separating Axis Test between Convex Polyhedra" (2013), and of
//! E. Catto's Box2D: the faces' normals are tested only, since in the plane two outlines that overlap are
//! overlapping least along one of them, and two that are apart without a face between them are nearest at two
//! vertices. Nothing here branches: a lane does all of it whatever its neighbours do.

use super::NO_CONTACT;
use super::chain::{Chain, FRONT};
use super::manifold::{LaneOutline, Manifold, Point, V};
use crate::lane::{Lane, Mask};

/// The face of one outline from which the other is furthest.
#[derive(Clone, Copy)]
struct Face<L: Lane> {
    separation: L,
    normal: V<L>,
    /// Its ends, and the number of the first.
    from: V<L>,
    to: V<L>,
    index: L,
}

impl<L: Lane> Face<L> {
    #[inline(always)]
    fn of<const N: usize>(outline: &LaneOutline<L, N>, i: usize, separation: L) -> Self {
        let next = (i + 1) % N;
        Face {
            separation,
            normal: outline.normal[i],
            from: outline.vertex[i],
            to: outline.vertex[next],
            index: L::splat(i as f32),
        }
    }

    #[inline(always)]
    fn select(mask: L::Mask, yes: Self, no: Self) -> Self {
        Face {
            separation: L::select(mask, yes.separation, no.separation),
            normal: V::select(mask, yes.normal, no.normal),
            from: V::select(mask, yes.from, no.from),
            to: V::select(mask, yes.to, no.to),
            index: L::select(mask, yes.index, no.index),
        }
    }

    /// The number of its second end.
    #[inline(always)]
    fn next_index(&self, count: L) -> L {
        let next = self.index + L::splat(1.0);
        L::select(next.ge(count), L::splat(0.0), next)
    }

    /// Among the faces that `allows` lets.
    #[inline(always)]
    fn furthest<const N: usize>(
        outline: &LaneOutline<L, N>,
        other: &LaneOutline<L, N>,
        allows: impl Fn(V<L>) -> Option<L::Mask>,
    ) -> Self {
        let mut best = Face::of(outline, 0, L::splat(-NO_CONTACT));
        for i in 0..N {
            let normal = outline.normal[i];
            let separation = other.least_along(normal) - normal.dot(outline.vertex[i]);
            let mut better = separation.gt(best.separation);
            if let Some(allowed) = allows(normal) {
                better = better.and(allowed);
            }
            best = Face::select(better, Face::of(outline, i, separation), best);
        }
        best
    }

    /// The edge most opposite to a normal.
    #[inline(always)]
    fn opposite<const N: usize>(outline: &LaneOutline<L, N>, normal: V<L>) -> Self {
        let mut best = Face::of(outline, 0, normal.dot(outline.normal[0]));
        for i in 1..N {
            let along = normal.dot(outline.normal[i]);
            best = Face::select(along.lt(best.separation), Face::of(outline, i, along), best);
        }
        best
    }
}

/// `b` as seen from A's frame.
#[inline(always)]
pub(super) fn touch<L: Lane, const N: usize>(a: &LaneOutline<L, N>, b: &LaneOutline<L, N>) -> Manifold<L> {
    let of_a = Face::furthest(a, b, |_| None);
    let of_b = Face::furthest(b, a, |_| None);
    clip(a, b, of_a, of_b, true)
}

/// Against a chain's segment B, of which only the front counts, and of A's faces those whose normals the segment
/// has to answer for. What is beside the segment is its neighbour's.
#[inline(always)]
pub(super) fn touch_chain<L: Lane, const N: usize>(
    a: &LaneOutline<L, N>,
    b: &LaneOutline<L, N>,
    chain: &Chain<L>,
) -> Manifold<L> {
    let of_a = Face::furthest(a, b, |normal| Some(chain.answers_for(normal.neg())));
    let front = Face::of(b, FRONT, L::splat(0.0));
    let separation = a.least_along(front.normal) - front.normal.dot(front.from);
    let mut manifold = clip(a, b, of_a, Face { separation, ..front }, false);
    // A's centre is the origin.
    let behind = front.normal.dot(front.from).gt(L::splat(0.0));
    for point in &mut manifold.points {
        point.separation = L::select(behind, L::splat(NO_CONTACT), point.separation);
    }
    manifold
}

#[inline(always)]
fn clip<L: Lane, const N: usize>(
    a: &LaneOutline<L, N>,
    b: &LaneOutline<L, N>,
    of_a: Face<L>,
    of_b: Face<L>,
    corners: bool,
) -> Manifold<L> {
    let (zero, one, far) = (L::splat(0.0), L::splat(1.0), L::splat(NO_CONTACT));
    let by_b = of_b.separation.gt(of_a.separation);
    let reference = Face::select(by_b, of_b, of_a);
    let normal = reference.normal;
    let other = LaneOutline::select(by_b, a, b);
    let incident = Face::opposite(&other, normal);
    let radius = L::select(by_b, b.radius, a.radius);
    let radii = radius + other.radius;
    // Half of what the reference's surface stands out further than the other's.
    let middle = (radius - other.radius) * L::splat(0.5);
    let reference_count = L::select(by_b, b.count, a.count);
    let reference_ends = [reference.index, reference.next_index(reference_count)];
    let incident_ends = [incident.index, incident.next_index(other.count)];
    let number = |of_reference: L, of_incident: L| {
        let in_a = L::select(by_b, of_incident, of_reference);
        let in_b = L::select(by_b, of_reference, of_incident);
        in_a * L::splat(8.0) + in_b
    };

    // Along the reference edge, which runs to the left of its normal; the incident one runs the other way.
    let tangent = normal.left();
    let (low, high) = (tangent.dot(reference.from), tangent.dot(reference.to));
    let height = normal.dot(reference.from);
    let (inc_low, inc_high) = (tangent.dot(incident.to), tangent.dot(incident.from));
    let (low_height, high_height) = (normal.dot(incident.to) - height, normal.dot(incident.from) - height);
    let length = inc_high - inc_low;
    let upright = length.le(L::splat(TOGETHER));
    let slope = (high_height - low_height) / length.max(L::splat(TOGETHER));
    let slope = L::select(upright, zero, slope);
    let start_height = L::select(upright, low_height.min(high_height), low_height);
    let (clipped_low, clipped_high) = (low.max(inc_low), high.min(inc_high));
    let at = |along: L, above: L, feature: L| Point {
        place: tangent.scaled(along).add(normal.scaled(height + (above * L::splat(0.5) + middle))),
        separation: above - radii,
        feature,
    };
    let clipped = |along: L, feature: L| at(along, start_height + slope * (along - inc_low), feature);
    let mut low_point = clipped(clipped_low, number(reference_ends[0], incident_ends[1]));
    let mut high_point = clipped(clipped_high, number(reference_ends[1], incident_ends[0]));

    // Where the incident vertex next to the reference face (or, if all of the edge is beside the face, next to the
    // face's end) is beyond that end, and the end beyond that vertex, the two corners are nearest to each other.
    // Where both faces are as far away, as of two edges that lie flat above each other, neither is beyond the other.
    // The two ends of an upright edge may come in any order.
    let all_beyond_high = inc_low.min(inc_high).gt(high);
    let beside = all_beyond_high.or(inc_low.max(inc_high).lt(low));
    let end = V::select(all_beyond_high, reference.to, reference.from);
    let squared = |v: V<L>| v.dot(v);
    let low_is_nearer = squared(incident.to.sub(end)).le(squared(incident.from.sub(end)));
    let lower = L::select(beside, zero, high_height - low_height);
    let nearest_is_low = lower.gt(zero).or(lower.ge(zero).and(low_is_nearer));
    let nearest = V::select(nearest_is_low, incident.to, incident.from);
    let further = V::select(nearest_is_low, incident.from, incident.to);
    let nearest_along = L::select(nearest_is_low, inc_low, inc_high);
    let beyond_high = nearest_along.gt(high);
    let corner = V::select(beyond_high, reference.to, reference.from);
    let way = nearest.sub(corner);
    let distance = way.dot(way).sqrt();
    let beyond = if corners { beyond_high.or(nearest_along.lt(low)) } else { zero.gt(zero) };
    let by_corners = beyond
        .and(way.dot(further.sub(nearest)).ge(zero))
        .and(reference.separation.gt(zero).or(beside))
        .and(distance.gt(L::splat(TOGETHER)));
    let direction = way.scaled(L::splat(1.0) / distance.max(L::splat(TOGETHER)));
    let feature = number(
        L::select(beyond_high, reference_ends[1], reference_ends[0]),
        L::select(nearest_is_low, incident_ends[1], incident_ends[0]),
    );
    let corner_point = Point {
        place: corner.add(direction.scaled(distance * L::splat(0.5) + middle)),
        separation: distance - radii,
        feature,
    };
    // Beside each other and yet not apart, by rounding: the reference's normal will do.
    let nearest_above = L::select(nearest_is_low, low_height, high_height);
    let end_point = at(nearest_along, nearest_above, feature);
    low_point = select_point(beside, end_point, low_point);
    low_point = select_point(by_corners, corner_point, low_point);
    let second_missing = (clipped_high - clipped_low).lt(L::splat(TOGETHER)).or(by_corners);
    high_point.separation = L::select(second_missing, far, high_point.separation);
    if !corners {
        low_point.separation = L::select(beside, far, low_point.separation);
    }
    let normal = V::select(by_corners, direction, normal);

    // From A to B, the points in the order of that normal's tangent.
    let normal = V::select(by_b, normal.neg(), normal);
    let points = [select_point(by_b, high_point, low_point), select_point(by_b, low_point, high_point)];
    Manifold { normal, points, flat: L::select(beside, one, zero).le(zero) }
}

/// Lengths below this count as none, m.
const TOGETHER: f32 = 1.0e-6;

#[inline(always)]
fn select_point<L: Lane>(mask: L::Mask, yes: Point<L>, no: Point<L>) -> Point<L> {
    Point {
        place: V::select(mask, yes.place, no.place),
        separation: L::select(mask, yes.separation, no.separation),
        feature: L::select(mask, yes.feature, no.feature),
    }
}
