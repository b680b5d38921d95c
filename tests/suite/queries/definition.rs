//! What rays and moved shapes meet, by the definition: naive, in f64, and by marching instead of closed forms.

use super::BAND;
use crate::reference::hull::{Form, Hull, dvec};
use glam::DVec2;
use granule::{BodyPart, Probe, Ray, Shape, ShapeCast, World};

/// How far single precision may move a segment aside, m.
const ACROSS: f64 = 1e-5;

/// The distance of two shapes; if they overlap, minus the shortest way that parts them.
pub fn signed(form: &Form, other: &Hull) -> f64 {
    let hull = match form {
        Form::Plane { normal, offset } => {
            let least = other.corners.iter().map(|corner| normal.dot(*corner)).fold(f64::MAX, f64::min);
            return least - other.radius - offset;
        }
        Form::Hull(hull) => hull,
    };
    let least = |corners: &[DVec2], n: DVec2| corners.iter().map(|c| n.dot(*c)).fold(f64::MAX, f64::min);
    let gaps = |one: &Hull, two: &Hull| {
        let of =
            |edge: crate::reference::hull::Edge| least(&two.corners, edge.normal) - edge.normal.dot(edge.a);
        one.edges().into_iter().map(of).fold(f64::MIN, f64::max)
    };
    let widest = gaps(hull, other).max(gaps(other, hull));
    if widest > f64::MIN && widest <= 0.0 {
        return widest - hull.radius - other.radius;
    }
    let from = |one: &Hull, two: &Hull| {
        two.corners.iter().map(|&corner| one.nearest(corner).distance(corner)).fold(f64::MAX, f64::min)
    };
    from(hull, other).min(from(other, hull)) - hull.radius - other.radius
}

/// A hull, or a point, that is moved.
#[derive(Clone, Debug)]
pub struct Moved {
    pub hull: Hull,
    pub centre: DVec2,
    pub way: DVec2,
    pub is_ray: bool,
}

impl Moved {
    pub fn ray(ray: &Ray) -> Moved {
        let hull = Hull { corners: vec![dvec(ray.from)], radius: 0.0, upright: false };
        Moved { hull, centre: dvec(ray.from), way: dvec(ray.way), is_ray: true }
    }

    pub fn cast(cast: &ShapeCast) -> Moved {
        let centre = dvec(cast.probe.position);
        Moved { hull: hull_of(&cast.probe), centre, way: dvec(cast.way), is_ray: false }
    }

    pub fn at(&self, time: f64) -> Hull {
        let corners = self.hull.corners.iter().map(|corner| *corner + time * self.way).collect();
        Hull { corners, ..self.hull }
    }

    /// When the distance from a shape first is as small as `target`: no step goes further than the distance. If it takes too long, the
    /// time up to which it is not.
    fn time(&self, form: &Form, target: f64) -> Result<Option<f64>, f64> {
        let (mut time, length) = (0.0, self.way.length());
        for _ in 0..400 {
            let room = signed(form, &self.at(time)) - target;
            if room <= 1e-10 {
                return Ok(Some(time));
            }
            time += room / length;
            if time.is_nan() || time > 1.0 {
                return Ok(None);
            }
        }
        Err(time)
    }

    /// The first time at which the shape may be met, and the last one at which it must have been.
    pub fn times(&self, there: &There) -> (Option<f64>, Option<f64>) {
        // A shape that is one-sided: by how much the start is in front of it.
        let front = there.front(self.centre);
        if front < -BAND {
            return (None, None);
        }
        let earliest = self.time(&there.form, BAND).unwrap_or_else(Some);
        let mut latest = self.time(&there.form, -BAND).unwrap_or(None);
        if let (Form::Hull(hull), None) = (&there.form, latest) {
            latest = self.crossing(hull);
        }
        // A ray along a one-sided shape's front, or away from it, does not meet it.
        let along = there.front(self.centre + self.way) - front;
        let away = self.is_ray && front < f64::MAX && along > -BAND;
        (earliest, latest.filter(|_| front > BAND && !away))
    }

    /// When a point has crossed a segment, well inside of it.
    fn crossing(&self, hull: &Hull) -> Option<f64> {
        let ([a, b], true) = (&hull.corners[..], hull.radius == 0.0 && self.is_ray) else { return None };
        let along = (*b - *a).normalize();
        let height = |point: DVec2| along.perp_dot(point - *a);
        let (start, end) = (height(self.centre), height(self.centre + self.way));
        let time = start / (start - end);
        let place = along.dot(self.centre + time * self.way - *a);
        let crosses = start * end < 0.0 && start.abs() > BAND && end.abs() > BAND;
        // A ray that is almost parallel to the segment meets it much later if the segment is a little further away.
        let latest = (start + ACROSS.copysign(start)) / (start - end);
        (crosses && place > BAND && place < a.distance(*b) - BAND).then_some(latest)
    }
}

pub fn hull_of(probe: &Probe) -> Hull {
    match Form::new(&probe.shape, dvec(probe.position), f64::from(probe.angle)) {
        Form::Hull(hull) => hull,
        Form::Plane { .. } => unreachable!("a probe is no half-space"),
    }
}

/// A shape of a world.
pub struct There {
    pub at: BodyPart,
    pub form: Form,
    /// The start and direction of a chain's segment.
    chain: Option<[DVec2; 2]>,
}

impl There {
    /// By how much a point is on the side on which the shape can be met.
    fn front(&self, point: DVec2) -> f64 {
        self.chain.map_or(f64::MAX, |[start, along]| along.perp_dot(point - start))
    }
}

/// All shapes of all bodies that are enabled.
pub fn shapes(world: &World) -> Vec<There> {
    let mut all = Vec::new();
    for body in world.handles().filter(|&body| world.is_enabled(body) == Ok(true)) {
        let now = world.body(body).unwrap();
        let turn = DVec2::from_angle(f64::from(now.angle));
        for (part, placed) in world.parts(body).unwrap().iter().enumerate() {
            let position = dvec(now.position) + turn.rotate(dvec(placed.position));
            let form = Form::new(&placed.shape, position, f64::from(now.angle) + f64::from(placed.angle));
            let chain = matches!(placed.shape, Shape::ChainSegment { .. }).then_some([position, turn]);
            all.push(There { at: BodyPart { body, part: part as u8 }, form, chain });
        }
    }
    all
}
