//! Convex outline against convex outline: separating axes, then clipping.
//!
//! ```text
//! for each face of A and B:     distance of the other outline's nearest vertex   → largest: the reference face
//! incident edge:                the other outline's edge most opposite to the reference face
//! two points:                   the ends of the part of the incident edge that lies above the reference edge
//! corner next to corner:        one point, with the normal from one corner to the other
//! ```
//!
//! The methods are those of D. Gregorius, "The Separating Axis Test between Convex Polyhedra" (2013), and of
//! E. Catto's Box2D. Only the faces' normals are tested. In the plane this is enough: two outlines that overlap do so least
//! along one of these normals, and two outlines that are apart without a face between them are nearest at two
//! vertices. This code does not branch: every lane does all of it, whatever its neighbours do.

use super::NO_CONTACT;
use super::chain::{Chain, FRONT};
use super::manifold::{LaneOutline, Manifold, Point, V};
use crate::lane::{Lane, Mask};

/// Two edges face each other if at least this part of the shorter one is above, or below, the other.
const FACING: f32 = 0.1;

/// A face of one outline, and how far the other outline is from it.
#[derive(Clone, Copy)]
struct Face<L: Lane> {
    separation: L,
    normal: V<L>,
    /// The ends of the face, and the number of the first end.
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

    /// The number of the face's second end.
    #[inline(always)]
    fn next_index(&self, count: L) -> L {
        let next = self.index + L::splat(1.0);
        L::select(next.ge(count), L::splat(0.0), next)
    }

    /// The face from which the other outline is furthest, among those for whose normals the segment of `chain` answers.
    #[inline(always)]
    fn furthest<const N: usize>(
        outline: &LaneOutline<L, N>,
        other: &LaneOutline<L, N>,
        chain: Option<&Chain<L>>,
    ) -> Self {
        let mut best = Face::of(outline, 0, L::splat(-NO_CONTACT));
        for i in 0..N {
            let normal = outline.normal[i];
            let separation = other.least_along(normal) - normal.dot(outline.vertex[i]);
            let mut better = separation.gt(best.separation);
            if let Some(chain) = chain {
                better = better.and(chain.answers_for(normal.neg()));
            }
            best = Face::select(better, Face::of(outline, i, separation), best);
        }
        best
    }

    /// The edge whose normal is most opposite to `normal`.
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

/// The manifold of two outlines. `b` is as seen from A's axes, and so is the manifold.
#[inline(always)]
pub(super) fn touch<L: Lane, const N: usize>(a: &LaneOutline<L, N>, b: &LaneOutline<L, N>) -> Manifold<L> {
    let of_a = Face::furthest(a, b, None);
    let of_b = Face::furthest(b, a, None);
    clip(a, b, of_a, of_b, true)
}

/// The manifold of an outline A and a chain's segment B. Only the front of the segment counts, and only those faces of A for
/// whose normals the segment answers. Its neighbours answer for bodies beside it.
#[inline(always)]
pub(super) fn touch_chain<L: Lane, const N: usize>(
    a: &LaneOutline<L, N>,
    b: &LaneOutline<L, N>,
    chain: &Chain<L>,
) -> Manifold<L> {
    let of_a = Face::furthest(a, b, Some(chain));
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

/// The reference face, and the edge of the other outline that is most opposite to it.
struct Clipping<L: Lane> {
    /// True in lanes in which the reference face is B's.
    by_b: L::Mask,
    reference: Face<L>,
    /// The numbers of the reference face's ends.
    reference_ends: [L; 2],
    incident: Face<L>,
    incident_ends: [L; 2],
    /// The sum of both rounding radii.
    radii: L,
    /// Half of the reference's rounding radius minus the other's. This is the way from the middle between the bare edges to the
    /// middle between the surfaces.
    middle: L,
}

/// Places of both edges along the reference edge. Heights are above the reference face.
struct EdgePlaces<L: Lane> {
    /// The ends of the reference edge. It runs to the left of its normal.
    low: L,
    high: L,
    /// The ends of the incident edge. It runs the other way.
    incident_low: L,
    incident_high: L,
    low_height: L,
    high_height: L,
    /// The ends of the part of the incident edge that lies above the reference edge.
    clipped_low: L,
    clipped_high: L,
}

impl<L: Lane> Clipping<L> {
    #[inline(always)]
    fn new<const N: usize>(
        a: &LaneOutline<L, N>,
        b: &LaneOutline<L, N>,
        of_a: Face<L>,
        of_b: Face<L>,
    ) -> Self {
        let by_b = of_b.separation.gt(of_a.separation);
        let reference = Face::select(by_b, of_b, of_a);
        let other = LaneOutline::select(by_b, a, b);
        let incident = Face::opposite(&other, reference.normal);
        let radius = L::select(by_b, b.radius, a.radius);
        let reference_count = L::select(by_b, b.count, a.count);
        Clipping {
            by_b,
            reference,
            reference_ends: [reference.index, reference.next_index(reference_count)],
            incident,
            incident_ends: [incident.index, incident.next_index(other.count)],
            radii: radius + other.radius,
            middle: (radius - other.radius) * L::splat(0.5),
        }
    }

    /// The feature number of two vertices. It does not depend on which outline is the reference.
    #[inline(always)]
    fn feature(&self, of_reference: L, of_incident: L) -> L {
        let in_a = L::select(self.by_b, of_incident, of_reference);
        let in_b = L::select(self.by_b, of_reference, of_incident);
        in_a * L::splat(8.0) + in_b
    }

    #[inline(always)]
    fn along(&self) -> EdgePlaces<L> {
        let Clipping { reference, incident, .. } = self;
        let (normal, tangent) = (reference.normal, reference.normal.left());
        let (low, high) = (tangent.dot(reference.from), tangent.dot(reference.to));
        let height = normal.dot(reference.from);
        let (incident_low, incident_high) = (tangent.dot(incident.to), tangent.dot(incident.from));
        EdgePlaces {
            low,
            high,
            incident_low,
            incident_high,
            low_height: normal.dot(incident.to) - height,
            high_height: normal.dot(incident.from) - height,
            clipped_low: low.max(incident_low),
            clipped_high: high.min(incident_high),
        }
    }

    /// The point midway between the reference face and a place at the height `above` it.
    #[inline(always)]
    fn point(&self, along: L, above: L, feature: L) -> Point<L> {
        let normal = self.reference.normal;
        let height = normal.dot(self.reference.from) + (above * L::splat(0.5) + self.middle);
        Point {
            place: normal.left().scaled(along).add(normal.scaled(height)),
            separation: above - self.radii,
            feature,
        }
    }

    /// The ends of the part of the incident edge that lies above the reference edge.
    #[inline(always)]
    fn ends(&self, along: &EdgePlaces<L>) -> [Point<L>; 2] {
        let EdgePlaces {
            incident_low,
            incident_high,
            low_height,
            high_height,
            clipped_low,
            clipped_high,
            ..
        } = *along;
        let length = incident_high - incident_low;
        let upright = length.le(L::splat(TOGETHER));
        let slope = (high_height - low_height) / length.max(L::splat(TOGETHER));
        let slope = L::select(upright, L::splat(0.0), slope);
        let start_height = L::select(upright, low_height.min(high_height), low_height);
        let low = self.feature(self.reference_ends[0], self.incident_ends[1]);
        let high = self.feature(self.reference_ends[1], self.incident_ends[0]);
        [
            self.point(clipped_low, start_height + slope * (clipped_low - incident_low), low),
            self.point(clipped_high, start_height + slope * (clipped_high - incident_low), high),
        ]
    }

    /// The nearest points if they are two corners, or if the incident edge is not above the reference edge.
    ///
    /// Take the incident vertex that is nearest to the reference face. (If the whole edge is beside the face: the one nearest to
    /// the face's end.) If this vertex is beyond an end of the face, and that end is beyond this vertex along the incident edge,
    /// the two corners are nearest to each other. Two edges that lie flat above each other, so that both faces are equally far
    /// away, do not meet this condition. The two ends of an upright edge may come in any order.
    #[inline(always)]
    fn corner(&self, along: &EdgePlaces<L>, corners: bool) -> Corner<L> {
        let Clipping { reference, incident, .. } = self;
        let EdgePlaces { low, high, incident_low, incident_high, low_height, high_height, .. } = *along;
        let zero = L::splat(0.0);
        let all_beyond_high = incident_low.min(incident_high).gt(high);
        let beside = all_beyond_high.or(incident_low.max(incident_high).lt(low));
        let end = V::select(all_beyond_high, reference.to, reference.from);
        let (to_low, to_high) = (incident.to.sub(end), incident.from.sub(end));
        let low_is_nearer = to_low.dot(to_low).le(to_high.dot(to_high));
        let lower = L::select(beside, zero, high_height - low_height);
        let nearest_is_low = lower.gt(zero).or(lower.ge(zero).and(low_is_nearer));
        let nearest = V::select(nearest_is_low, incident.to, incident.from);
        let further = V::select(nearest_is_low, incident.from, incident.to);
        let nearest_along = L::select(nearest_is_low, incident_low, incident_high);
        let beyond_high = nearest_along.gt(high);
        let corner = V::select(beyond_high, reference.to, reference.from);
        let way = nearest.sub(corner);
        let distance = way.dot(way).sqrt();
        let beyond = if corners { beyond_high.or(nearest_along.lt(low)) } else { zero.gt(zero) };
        let is_nearest = beyond
            .and(way.dot(further.sub(nearest)).ge(zero))
            .and(reference.separation.gt(zero).or(beside))
            .and(distance.gt(L::splat(TOGETHER)));
        let direction = way.scaled(L::splat(1.0) / distance.max(L::splat(TOGETHER)));
        let feature = self.feature(
            L::select(beyond_high, self.reference_ends[1], self.reference_ends[0]),
            L::select(nearest_is_low, self.incident_ends[1], self.incident_ends[0]),
        );
        let point = Point {
            place: corner.add(direction.scaled(distance * L::splat(0.5) + self.middle)),
            separation: distance - self.radii,
            feature,
        };
        // `end_point` is for edges that are beside each other but, by rounding, not apart. It uses the reference's normal.
        let nearest_above = L::select(nearest_is_low, low_height, high_height);
        Corner {
            beside,
            is_nearest,
            direction,
            point,
            end_point: self.point(nearest_along, nearest_above, feature),
        }
    }
}

/// The point of two edges that are beside each other, or nearest at two corners.
struct Corner<L: Lane> {
    /// True in lanes in which no part of the incident edge is above the reference edge.
    beside: L::Mask,
    /// True in lanes in which the two corners are nearest to each other.
    is_nearest: L::Mask,
    /// The direction from the reference's corner to the other.
    direction: V<L>,
    /// The point between the corners.
    point: Point<L>,
    /// The point between the nearest incident vertex and the line of the reference face.
    end_point: Point<L>,
}

/// The manifold of two outlines, of up to two points, from the faces of largest separation. Without `corners`, two corners are
/// never taken as the nearest features.
#[inline(always)]
fn clip<L: Lane, const N: usize>(
    a: &LaneOutline<L, N>,
    b: &LaneOutline<L, N>,
    of_a: Face<L>,
    of_b: Face<L>,
    corners: bool,
) -> Manifold<L> {
    let (zero, one, none) = (L::splat(0.0), L::splat(1.0), L::splat(NO_CONTACT));
    let clipping = Clipping::new(a, b, of_a, of_b);
    let along = clipping.along();
    let [mut low_point, mut high_point] = clipping.ends(&along);
    // The ends of a part without length are one point, the deeper one: on an almost upright edge their heights may differ.
    let short = (along.clipped_high - along.clipped_low).lt(L::splat(TOGETHER));
    let deeper = short.and(high_point.separation.lt(low_point.separation));
    low_point = select_point(deeper, high_point, low_point);
    let corner = clipping.corner(&along, corners);
    low_point = select_point(corner.beside, corner.end_point, low_point);
    low_point = select_point(corner.is_nearest, corner.point, low_point);
    let second_missing = short.or(corner.is_nearest);
    high_point.separation = L::select(second_missing, none, high_point.separation);
    if !corners {
        low_point.separation = L::select(corner.beside, none, low_point.separation);
    }
    let normal = V::select(corner.is_nearest, corner.direction, clipping.reference.normal);

    // The normal points from A to B. The points are in the order of that normal's tangent.
    let by_b = clipping.by_b;
    let normal = V::select(by_b, normal.neg(), normal);
    let points = [select_point(by_b, high_point, low_point), select_point(by_b, low_point, high_point)];
    // An edge that reaches over the face by a little of its length only, as that of a box that slides from tile to tile, need not hit
    // it: what happens there is left to the contact when it is near, and to the cast of continuous collision.
    let over = along.clipped_high - along.clipped_low;
    let shorter = (along.incident_high - along.incident_low).min(along.high - along.low);
    let faces = over.gt(L::splat(FACING) * shorter);
    Manifold { normal, points, flat: L::select(corner.beside, one, zero).le(zero).and(faces) }
}

/// Lengths below this count as zero, m.
const TOGETHER: f32 = 1.0e-6;

#[inline(always)]
fn select_point<L: Lane>(mask: L::Mask, yes: Point<L>, no: Point<L>) -> Point<L> {
    Point {
        place: V::select(mask, yes.place, no.place),
        separation: L::select(mask, yes.separation, no.separation),
        feature: L::select(mask, yes.feature, no.feature),
    }
}
