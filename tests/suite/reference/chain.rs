//! Contact manifolds of a segment of a chain, in f64: what of the textbook's manifolds the segment answers for.
//!
//! 1. It is solid on its right only: a shape whose centre is on the right of its line passes.
//! 2. It answers for normals that lean over an end by a sine of no more than [`LEAN`]; over an open end, for all; over
//!    the joint to the next segment, where the chain turns right and a corner juts out, as far as that segment's own
//!    normal. (The corner before it is the segment before's.)
//! 3. A round shape whose normal leans by no more than [`LEAN`] is pushed straight out.
//! 4. What is beside it is its neighbours'.

use super::clip::{Manifold, Touch, beyond, clip, most_opposite};
use super::hull::{Edge, Hull, dvec};
use glam::DVec2;
use granule::Shape;

/// Sine of the angle by which a normal may lean over a joint.
const LEAN: f64 = 0.01;

/// A segment of a chain where it is in the world.
#[derive(Clone, Copy, Debug)]
pub struct ChainSegment {
    pub start: DVec2,
    pub end: DVec2,
    /// Directions of the segments before and after it.
    before: Option<DVec2>,
    after: Option<DVec2>,
}

impl ChainSegment {
    /// `shape` is a [`Shape::ChainSegment`].
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

    /// Whether a normal that points away from the chain is this segment's, if normals may lean by so much.
    fn answers_for(&self, normal: DVec2, lean: f64) -> bool {
        let forward = normal.dot(self.along());
        let past_end = match self.after {
            None => true,
            Some(after) if self.along().perp_dot(after) < 0.0 => forward <= lean || normal.dot(after) <= lean,
            Some(_) => forward <= lean,
        };
        past_end && (self.before.is_none() || forward >= -lean)
    }

    /// The answers that are right when the normal may be off by so much.
    fn answers(&self, normal: DVec2, off: f64) -> Vec<bool> {
        let (least, most) = (self.answers_for(normal, LEAN - off), self.answers_for(normal, LEAN + off));
        if least == most { vec![least] } else { vec![least, most] }
    }

    /// As a plain segment.
    pub fn core(&self) -> Hull {
        Hull { corners: vec![self.start, self.end], radius: 0.0, upright: false }
    }
}

/// What directions may be off by for their rounding alone.
const TURN: f64 = 1e-5;

/// All manifolds of a shape and a segment that are right to within `tie`, m; one without points where they may
/// not touch at all. Normals point from the shape, whose centre this is, to the segment.
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
        // Any direction is the nearest point's.
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
    // Its solid side is the right: seen from there the edge runs back.
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
    // One for which it may answer or not decides nothing: the others stay.
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

/// The incident edge clipped to the reference edge; nothing where the one is beside the other.
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
