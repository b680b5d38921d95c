//! Contact manifolds of a segment of a chain, in f64: the part of the textbook's manifolds that the segment answers
//! for.
//!
//! 1. The segment is solid on its right only: a shape whose centre is on the right of its line passes.
//! 2. The segment answers for normals that lean over an end by a sine of at most [`LEAN`]. Over an open end it answers
//!    for all normals. Over the joint to the next segment, where the chain turns right and a corner juts out, it
//!    answers up to that segment's own normal. (The corner before the segment belongs to the segment before it.)
//! 3. A round shape whose normal leans by at most [`LEAN`] is pushed straight out.
//! 4. Shapes beside the segment belong to its neighbours.

use super::clip::{Manifold, Touch, beyond, clip, most_opposite};
use super::hull::{Edge, Hull, dvec};
use glam::DVec2;
use granule::Shape;

/// The sine of the angle by which a normal may lean over a joint.
const LEAN: f64 = 0.01;

/// A segment of a chain, in world coordinates.
#[derive(Clone, Copy, Debug)]
pub struct ChainSegment {
    pub start: DVec2,
    pub end: DVec2,
    /// The directions of the segments before and after this one.
    before: Option<DVec2>,
    after: Option<DVec2>,
}

impl ChainSegment {
    /// Makes the segment of `shape`, which is a [`Shape::ChainSegment`].
    pub fn new(shape: &Shape, position: DVec2, angle: f64) -> ChainSegment {
        let Shape::ChainSegment { half_length, before, after } = *shape else { panic!("{shape:?}") };
        let turn = DVec2::from_angle(angle);
        let half = DVec2::new(f64::from(half_length), 0.0);
        let direction = |from: DVec2, to: DVec2| turn.rotate((to - from).normalize());
        ChainSegment {
            start: position - turn.rotate(half),
            end: position + turn.rotate(half),
            before: before.map(|before| direction(dvec(before), -half)),
            after: after.map(|after| direction(half, dvec(after))),
        }
    }

    fn along(&self) -> DVec2 {
        (self.end - self.start).normalize()
    }

    fn outward(&self) -> DVec2 {
        self.along().perp()
    }

    /// Whether a normal that points away from the chain belongs to this segment, if normals may lean by `lean`.
    fn answers_for(&self, normal: DVec2, lean: f64) -> bool {
        let forward = normal.dot(self.along());
        let past_end = match self.after {
            None => true,
            Some(after) if self.along().perp_dot(after) < 0.0 => forward <= lean || normal.dot(after) <= lean,
            Some(_) => forward <= lean,
        };
        past_end && (self.before.is_none() || forward >= -lean)
    }

    /// The answers that are right when the normal may be off by `off`.
    fn answers(&self, normal: DVec2, off: f64) -> Vec<bool> {
        let (least, most) = (self.answers_for(normal, LEAN - off), self.answers_for(normal, LEAN + off));
        if least == most { vec![least] } else { vec![least, most] }
    }

    /// The segment as a plain segment.
    pub fn core(&self) -> Hull {
        Hull { corners: vec![self.start, self.end], radius: 0.0, upright: false }
    }
}

/// The rounding error of directions.
const TURN: f64 = 1e-5;

/// All manifolds of a shape and a segment that are right within `tie`, m. A manifold without points means that the two
/// do not have to touch. Normals point from the shape to the segment; `centre` is the shape's.
pub fn manifolds(shape: &Hull, centre: DVec2, segment: &ChainSegment, tie: f64) -> Vec<Manifold> {
    let above = segment.outward().dot(centre - segment.start);
    let mut found = Vec::new();
    if above < tie {
        found.push(Manifold::none());
    }
    if above > -tie {
        match &shape.corners[..] {
            [_] => round(shape.radius, centre, segment, tie, &mut found),
            _ => outline(shape, segment, tie, &mut found),
        }
    }
    found
}

fn round(radius: f64, centre: DVec2, segment: &ChainSegment, tie: f64, found: &mut Vec<Manifold>) {
    let (along, outward) = (segment.along(), segment.outward());
    let nearest = segment.core().nearest(centre);
    let (way, distance) = (centre - nearest, centre.distance(nearest));
    let height = outward.dot(centre - segment.start);
    let foot = centre - outward * 0.5 * (height + radius);
    let straight = Manifold::single(-outward, 0.0, Some(foot), height - radius);
    if distance < tie {
        // Any direction is one to the nearest point.
        let leaning = Manifold::single(DVec2::X, f64::INFINITY, None, distance - radius);
        found.extend([Manifold::none(), straight, leaning]);
        return;
    }
    let normal = way / distance;
    let off = TURN + tie / distance;
    for answer in segment.answers(normal, off) {
        if !answer {
            found.push(Manifold::none());
            continue;
        }
        let leans = normal.dot(along).abs();
        if leans < LEAN + off {
            found.push(straight.clone());
        }
        if leans > LEAN - off {
            let middle = 0.5 * (nearest + centre - normal * radius);
            found.push(Manifold::single(-normal, 1.0 / distance, Some(middle), distance - radius));
        }
    }
}

fn outline(hull: &Hull, segment: &ChainSegment, tie: f64, found: &mut Vec<Manifold>) {
    let core = segment.core();
    // The solid side is the right: seen from there the edge runs backwards.
    let front = Edge { a: segment.end, b: segment.start, normal: segment.outward() };
    let of_front = beyond(hull, &front);
    let mut faces: Vec<(f64, Edge)> = Vec::new();
    let mut most = of_front;
    for edge in hull.edges() {
        let answers = segment.answers(-edge.normal, TURN);
        if answers == [false] {
            continue;
        }
        let separation = beyond(&core, &edge);
        if answers == [true] {
            most = most.max(separation);
        }
        faces.push((separation, edge));
    }
    // An edge for which the segment may answer or not decides nothing: the other manifolds stay as well.
    let by_front = of_front > most - tie;
    if by_front {
        let mut touches = Vec::new();
        for incident in most_opposite(hull, front.normal) {
            beside_or(&core, &front, hull, &incident, tie, &mut touches);
        }
        found.extend(touches.into_iter().map(Manifold::reversed));
    }
    for (separation, edge) in faces {
        if separation > most - tie {
            for incident in most_opposite(&core, edge.normal) {
                beside_or(hull, &edge, &core, &incident, tie, found);
            }
        }
    }
}

/// The incident edge clipped to the reference edge, or no contact if the one edge is beside the other.
fn beside_or(
    reference: &Hull,
    edge: &Edge,
    other: &Hull,
    incident: &Edge,
    tie: f64,
    found: &mut Vec<Manifold>,
) {
    if clip(reference, edge, other, incident, tie, found) < tie {
        found.push(Manifold::none());
    }
}

impl Manifold {
    fn none() -> Manifold {
        let points: Vec<Touch> = Vec::new();
        Manifold { normal: DVec2::Y, normal_slope: 0.0, points }
    }
}
