//! The forms that the laws are tested with: every shape, and bodies of several parts. Their mass properties follow from
//! the formulas of mechanics.

use super::*;
use glam::DVec2;
use granule::{Part, Polygon};

/// The shapes of a body; at angle 0 its base is level.
#[derive(Clone)]
pub(super) struct Form {
    pub name: &'static str,
    /// Places relative to the common centre of mass, and angles; the first angle is 0.
    parts: Vec<(Shape, Vec2, f32)>,
    pub fixed_rotation: bool,
    /// The height of the centre of mass above the base, m.
    pub height: f32,
    /// The distance from the point of the base below the centre of mass to the nearer end of the base, m; infinite for
    /// a body that does not turn.
    pub base: f32,
}

impl Form {
    pub fn is_compound(&self) -> bool {
        self.parts.len() > 1
    }

    fn of(name: &'static str, shape: Shape, height: f32, base: f32) -> Form {
        Form { name, parts: vec![(shape, Vec2::ZERO, 0.0)], fixed_rotation: false, height, base }
    }

    fn polygon(name: &'static str, points: &[Vec2]) -> Form {
        let polygon = Polygon::new(points).unwrap().0;
        let lowest = polygon.vertices().iter().fold(0.0f32, |y, vertex| y.min(vertex.y));
        let base = polygon.vertices().iter().filter(|vertex| vertex.y < lowest + 1e-4);
        let base = base.fold(f32::INFINITY, |base, vertex| base.min(vertex.x.abs()));
        Form::of(name, Shape::Polygon(polygon), -lowest, base)
    }

    /// A form of several parts. The parts' places, `bottom` and `ends` (the base) have one origin, which can be any
    /// point.
    fn compound(name: &'static str, parts: &[(Shape, Vec2, f32)], bottom: f32, ends: [f32; 2]) -> Form {
        let (mut area, mut centre) = (0.0, DVec2::ZERO);
        for (shape, at, _) in parts {
            area += properties(shape).0;
            centre += properties(shape).0 * at.as_dvec2();
        }
        let centre = (centre / area).as_vec2();
        let parts = parts.iter().map(|&(shape, at, angle)| (shape, at - centre, angle)).collect();
        let base = (centre.x - ends[0]).min(ends[1] - centre.x);
        Form { name, parts, fixed_rotation: false, height: centre.y - bottom, base }
    }

    /// A dynamic body of this form, with its centre of mass at `position`.
    pub fn body(&self, position: Vec2) -> BodyDesc {
        BodyDesc::dynamic(self.parts[0].0, position)
    }

    /// Adds a body of this form; `desc` describes the whole body.
    pub fn add(&self, world: &mut World, desc: &BodyDesc) -> BodyHandle {
        let (shape, first, _) = self.parts[0];
        let position = desc.position + Vec2::from_angle(desc.angle).rotate(first);
        let fixed_rotation = self.fixed_rotation;
        let body = world.add_body(&BodyDesc { shape, position, fixed_rotation, ..*desc }).unwrap();
        if self.parts.len() > 1 {
            let part = |&(shape, at, angle): &(Shape, Vec2, f32)| Part {
                angle,
                material: desc.material,
                filter: desc.filter,
                ..Part::new(shape, at - first)
            };
            let parts: Vec<_> = self.parts[1..].iter().map(part).collect();
            world.add_parts(body, &parts).unwrap();
            world.set_velocity(body, desc.velocity).unwrap();
            world.set_angular_velocity(body, desc.angular_velocity).unwrap();
            let off = state(world, body).position.distance(desc.position);
            assert!(off < 1e-5 * (1.0 + desc.position.length()), "the centre of mass is off by {off} m");
        }
        body
    }

    /// The shape of the first part.
    pub fn shape(&self) -> Shape {
        self.parts[0].0
    }

    /// The mass at density 1.
    pub fn mass(&self) -> f64 {
        self.parts.iter().map(|(shape, ..)| properties(shape).0).sum()
    }

    /// The moment of inertia about the centre of mass at density 1; infinite for a body that does not turn.
    pub fn inertia(&self) -> f64 {
        if self.fixed_rotation || matches!(self.parts[0].0, Shape::Aabb { .. }) {
            return f64::INFINITY;
        }
        let about = |(shape, at, _): &(Shape, Vec2, f32)| {
            let (area, inertia) = properties(shape);
            inertia + area * at.as_dvec2().length_squared()
        };
        self.parts.iter().map(about).sum()
    }

    /// The kinetic energy at density 1.
    pub fn energy(&self, state: &BodyState) -> f64 {
        let omega = f64::from(state.angular_velocity);
        let spin = if omega == 0.0 { 0.0 } else { self.inertia() * omega * omega };
        0.5 * (self.mass() * state.velocity.as_dvec2().length_squared() + spin)
    }
}

/// The area, and the second moment of area about the centroid.
fn properties(shape: &Shape) -> (f64, f64) {
    let pi = std::f64::consts::PI;
    match *shape {
        Shape::Circle { radius } => {
            let r = f64::from(radius);
            (pi * r * r, 0.5 * pi * r.powi(4))
        }
        Shape::Aabb { half_extents } | Shape::Box { half_extents } => {
            let half = half_extents.as_dvec2();
            let area = 4.0 * half.x * half.y;
            (area, area * half.length_squared() / 3.0)
        }
        Shape::Capsule { half_length, radius } => {
            let (l, r) = (f64::from(half_length), f64::from(radius));
            let (strip, disc) = (4.0 * l * r, pi * r * r);
            // The centroid of half a disc is 4r/3π away from its diameter.
            let ends = 0.5 * r * r + l * l + 2.0 * l * 4.0 * r / (3.0 * pi);
            (strip + disc, strip * (l * l + r * r) / 3.0 + disc * ends)
        }
        Shape::Polygon(polygon) => {
            let vertices: Vec<_> = polygon.vertices().iter().map(|vertex| vertex.as_dvec2()).collect();
            let (mut area, mut second) = (0.0, 0.0);
            for (i, &p) in vertices.iter().enumerate() {
                let q = vertices[(i + 1) % vertices.len()];
                let cross = p.perp_dot(q);
                area += 0.5 * cross;
                second += cross * (p.dot(p) + p.dot(q) + q.dot(q)) / 12.0;
            }
            (area, second)
        }
        _ => unreachable!("no form has this shape"),
    }
}

pub(super) fn circle() -> Form {
    Form::of("circle", Shape::circle(0.5), 0.5, 0.0)
}

pub(super) fn fixed_circle() -> Form {
    Form {
        fixed_rotation: true,
        base: f32::INFINITY,
        ..Form::of("fixed circle", Shape::circle(0.5), 0.5, 0.0)
    }
}

pub(super) fn aabb() -> Form {
    Form::of("aabb", Shape::aabb(0.5, 0.3), 0.3, f32::INFINITY)
}

/// A box of 1 × 0.6 m.
pub(super) fn brick() -> Form {
    Form::of("brick", Shape::oriented_box(0.5, 0.3), 0.3, 0.5)
}

/// A box of 1 m.
pub(super) fn cube() -> Form {
    Form::of("cube", Shape::oriented_box(0.5, 0.5), 0.5, 0.5)
}

/// A box of 4 × 0.4 m.
pub(super) fn plank() -> Form {
    Form::of("plank", Shape::oriented_box(2.0, 0.2), 0.2, 2.0)
}

/// A capsule that lies on its side.
pub(super) fn capsule() -> Form {
    Form::of("capsule", Shape::capsule(0.4, 0.2), 0.2, 0.4)
}

/// A regular octagon of circumradius 0.35 m that stands on a side.
pub(super) fn octagon() -> Form {
    let corner = |k: usize| Vec2::from_angle((k as f32 + 0.5) * std::f32::consts::FRAC_PI_4) * 0.35;
    Form::polygon("octagon", &std::array::from_fn::<_, 8, _>(corner))
}

/// A hexagon that stands on a side, half as wide again as a regular one: a regular hexagon tips from tan θ = 0.577 on.
pub(super) fn hexagon() -> Form {
    let corner = |k: usize| Vec2::from_angle(k as f32 * std::f32::consts::FRAC_PI_3) * Vec2::new(0.6, 0.4);
    Form::polygon("hexagon", &std::array::from_fn::<_, 6, _>(corner))
}

/// A right triangle that stands on its longer leg, with its right angle uphill.
pub(super) fn wedge() -> Form {
    Form::polygon("wedge", &[Vec2::ZERO, Vec2::new(1.0, 0.0), Vec2::new(0.0, 0.5)])
}

/// Two boxes side by side with a gap.
pub(super) fn dumbbell() -> Form {
    let half = Shape::oriented_box(0.2, 0.3);
    let parts = [(half, Vec2::new(-0.5, 0.0), 0.0), (half, Vec2::new(0.5, 0.0), 0.0)];
    Form::compound("dumbbell", &parts, -0.3, [-0.7, 0.7])
}

/// A table: a top and two legs.
pub(super) fn table() -> Form {
    let (top, leg) = (Shape::oriented_box(0.7, 0.1), Shape::oriented_box(0.1, 0.15));
    let parts = [
        (top, Vec2::new(0.0, 0.4), 0.0),
        (leg, Vec2::new(-0.6, 0.15), 0.0),
        (leg, Vec2::new(0.6, 0.15), 0.0),
    ];
    Form::compound("table", &parts, 0.0, [-0.7, 0.7])
}

/// A bar that lies on two discs.
pub(super) fn cart() -> Form {
    let (bar, disc) = (Shape::oriented_box(0.6, 0.1), Shape::circle(0.15));
    let parts = [
        (bar, Vec2::new(0.0, 0.2), 0.0),
        (disc, Vec2::new(-0.5, 0.15), 0.0),
        (disc, Vec2::new(0.5, 0.15), 0.0),
    ];
    Form::compound("cart", &parts, 0.0, [-0.5, 0.5])
}

/// A disc with a heavier hub: two discs about one centre.
pub(super) fn wheel() -> Form {
    let parts = [(Shape::circle(0.5), Vec2::ZERO, 0.0), (Shape::circle(0.3), Vec2::ZERO, 0.0)];
    Form::compound("wheel", &parts, -0.5, [0.0, 0.0])
}

/// A bar with a disc at each end, of different sizes. It fits into a circle of 0.55 m.
pub(super) fn club() -> Form {
    let parts = [
        (Shape::oriented_box(0.25, 0.08), Vec2::ZERO, 0.0),
        (Shape::circle(0.2), Vec2::new(-0.25, 0.0), 0.0),
        (Shape::circle(0.15), Vec2::new(0.25, 0.0), 0.0),
    ];
    Form::compound("club", &parts, -0.2, [0.0, 0.0])
}

/// Two boxes at a right angle. They fit into a circle of 0.5 m.
pub(super) fn angle() -> Form {
    let parts = [
        (Shape::oriented_box(0.3, 0.1), Vec2::new(0.0, -0.2), 0.0),
        (Shape::oriented_box(0.1, 0.2), Vec2::new(-0.2, 0.1), 0.0),
    ];
    Form::compound("angle", &parts, -0.3, [-0.3, 0.3])
}

/// A shape for a gas. It has no base.
pub(super) fn small(shape: Shape) -> Form {
    Form::of("", shape, 0.0, 0.0)
}

/// The ring in which a gas circles.
pub(super) fn arena() -> Form {
    ring(8.0)
}

/// A ring of this inner radius, made of 16 boxes 1 m thick.
fn ring(inner: f32) -> Form {
    let step = std::f32::consts::TAU / 16.0;
    let half = Shape::oriented_box(0.5, (inner + 1.0) * (0.5 * step).tan());
    let part = |k: usize| {
        let angle = k as f32 * step;
        (half, Vec2::from_angle(angle) * (inner + 0.5), angle)
    };
    Form::compound("ring", &std::array::from_fn::<_, 16, _>(part), 0.0, [0.0, 0.0])
}
