//! An independent physics step to compare the engine with: f64, one struct per body, every pair tested, ordinary
//! branches. It is written from the formulas (E. Catto, "Solver2D", 2024, soft step; Coulomb friction with two
//! coefficients; Newton's restitution), not from the engine.
//!
//! It resolves contacts one after the other. So it agrees with the engine only where the order does not matter: where
//! no two contacts share a body that can move.

use glam::DVec2;
use granule::{BodyDesc, BodyType, Mixing, Settings, Shape, Solver, Vec2};

/// Differences of position below this are rounding, in metres, near the origin.
const MARGIN: f64 = 2e-5;

/// A shape in f64, half-space normals at unit length.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Circle(f64),
    Box(DVec2),
    HalfSpace { normal: DVec2, offset: f64 },
}

/// A body with all its values in one struct.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub form: Form,
    pub kind: BodyType,
    pub position: DVec2,
    pub velocity: DVec2,
    pub omega: f64,
    pub inv_mass: f64,
    pub inv_inertia: f64,
    pub gravity_scale: f64,
    /// The share of gravity that a particle followed in its last step: 1 at the start of its path. The solver's
    /// velocity lags behind the particle's velocity by half a substep of this share. 0 for other bodies.
    pub follows: f64,
    /// Whether forces move the body.
    pub is_particle: bool,
    pub static_friction: f64,
    pub dynamic_friction: f64,
    pub restitution: f64,
    pub category: u32,
    pub mask: u32,
}

/// Two shapes near each other. `normal` points from `a` to `b`; `separation` is negative when they overlap.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    pub a: usize,
    pub b: usize,
    pub normal: DVec2,
    pub separation: f64,
    /// How far `a` leads against `b`: see [`lead`].
    pub way: DVec2,
    /// Whether another normal is equally right within the rounding of an f32, as at equal centres.
    pub ambiguous: bool,
}

pub fn dvec(v: Vec2) -> DVec2 {
    DVec2::new(f64::from(v.x), f64::from(v.y))
}

impl Body {
    /// What gravity gives a body in a substep of this length, along x and y together.
    fn weight_speed(&self, settings: &Settings, h: f64) -> f64 {
        let gravity = dvec(settings.gravity) * self.gravity_scale * h;
        if self.inv_mass > 0.0 { gravity.x.abs() + gravity.y.abs() } else { 0.0 }
    }

    pub fn new(desc: &BodyDesc) -> Body {
        let form = match desc.shape {
            Shape::Circle { radius } | Shape::Particle { radius } => Form::Circle(f64::from(radius)),
            Shape::Aabb { half_extents } => Form::Box(dvec(half_extents)),
            Shape::HalfSpace { normal, offset } => {
                let normal = dvec(normal).normalize();
                Form::HalfSpace { normal, offset: f64::from(offset) }
            }
            _ => unreachable!("shapes that turn have an oracle of their own, in hull.rs"),
        };
        let density = f64::from(desc.material.density);
        let area = match form {
            Form::Circle(r) => std::f64::consts::PI * r * r,
            Form::Box(half) => 4.0 * half.x * half.y,
            Form::HalfSpace { .. } => f64::INFINITY,
        };
        let mass = desc.mass.map_or(density * area, f64::from);
        let inv_mass = if desc.body_type == BodyType::Dynamic && mass > 0.0 { 1.0 / mass } else { 0.0 };
        let inv_inertia = match form {
            Form::Circle(r) if !desc.is_particle() => inv_mass * 2.0 / (r * r),
            _ => 0.0,
        };
        let moves = desc.body_type != BodyType::Static;
        Body {
            form,
            kind: desc.body_type,
            position: dvec(desc.position),
            velocity: if moves { dvec(desc.velocity) } else { DVec2::ZERO },
            // Particles do not turn.
            omega: if moves && !desc.is_particle() { f64::from(desc.angular_velocity) } else { 0.0 },
            inv_mass,
            inv_inertia,
            gravity_scale: f64::from(desc.gravity_scale),
            follows: f64::from(u8::from(desc.is_particle() && inv_mass > 0.0)),
            is_particle: desc.is_particle() && inv_mass > 0.0,
            static_friction: f64::from(desc.material.static_friction),
            dynamic_friction: f64::from(desc.material.dynamic_friction),
            restitution: f64::from(desc.material.restitution),
            category: desc.filter.category,
            mask: desc.filter.mask,
        }
    }

    /// The largest number in this body's geometry: an f32 rounds relative to it.
    pub fn scale(&self) -> f64 {
        let extent = match self.form {
            Form::Circle(r) => r,
            Form::Box(half) => half.x.max(half.y),
            Form::HalfSpace { offset, .. } => offset.abs(),
        };
        self.position.x.abs().max(self.position.y.abs()) + extent + 1.0
    }

    /// The distance of the point from the shape; negative inside.
    pub fn distance(&self, point: DVec2) -> f64 {
        let to = point - self.position;
        match self.form {
            Form::Circle(r) => to.length() - r,
            // This is not Euclidean outside a corner, but its sign is right, and it is 0 on the surface.
            Form::Box(half) => (to.x.abs() - half.x).max(to.y.abs() - half.y),
            Form::HalfSpace { normal, offset } => to.dot(normal) - offset,
        }
    }

    /// The distance of the shape's bounds from the box; negative when they overlap.
    pub fn bounds_distance(&self, lower: DVec2, upper: DVec2) -> f64 {
        let centre = (lower + upper) / 2.0;
        let half = (upper - lower) / 2.0;
        let own = match self.form {
            Form::Circle(r) => DVec2::splat(r),
            Form::Box(own) => own,
            Form::HalfSpace { normal, .. } => {
                return self.distance(centre) - half.dot(normal.abs());
            }
        };
        let gap = (self.position - centre).abs() - own - half;
        gap.x.max(gap.y)
    }
}

/// The nearest distance from `a` to `b`, and its normal, where the two are now.
pub fn contact(bodies: &[Body], a: usize, b: usize) -> Contact {
    led_by(bodies, (a, b), DVec2::ZERO)
}

/// The contact that a step has: the normal is that of about half a step later, and the separation is reckoned back along it. `loaded` tells whether it bears a
/// load; `None` if only rounding does.
pub fn led_contact(
    bodies: &[Body],
    (a, b): (usize, usize),
    loaded: Option<bool>,
    settings: &Settings,
) -> Contact {
    let (way, edge) = lead(&bodies[a], &bodies[b], loaded, settings);
    let contact = led_by(bodies, (a, b), way);
    Contact { ambiguous: contact.ambiguous || edge, ..contact }
}

fn led_by(bodies: &[Body], (a, b): (usize, usize), way: DVec2) -> Contact {
    let tiny = 2e-6 * (bodies[a].scale() + bodies[b].scale());
    let moved = Body { position: bodies[a].position + way, ..bodies[a] };
    let (normal, separation, ambiguous) = manifold(&moved, &bodies[b], tiny);
    Contact { a, b, normal, separation: separation + way.dot(normal), way, ambiguous }
}

/// How far `a` leads against `b`, in about half a step: by at most a slop, and by half of the thinner body's radius or half extent. What bears no load
/// does not lead, nor do particles. The second value tells whether that decision is within rounding.
fn lead(a: &Body, b: &Body, loaded: Option<bool>, settings: &Settings) -> (DVec2, bool) {
    let thickness = |body: &Body| match body.form {
        Form::Circle(r) => r,
        Form::Box(half) => half.min_element(),
        Form::HalfSpace { .. } => f64::INFINITY,
    };
    let turns = matches!(
        (a.form, b.form),
        (Form::Circle(_), Form::Circle(_) | Form::Box(_)) | (Form::Box(_), Form::Circle(_))
    );
    let turns = turns && !a.is_particle && !b.is_particle;
    let most = f64::from(settings.slop).min(0.5 * thickness(a).min(thickness(b)));
    // The substeps' impulses act (n − 1)/2n of a step after its start, on average; and an eighth of a step for some damping.
    let n = f64::from(settings.substeps);
    let time = ((n - 1.0) / (2.0 * n) + 0.125) * f64::from(settings.time_step);
    // The damping takes nothing from what turns as one body, with the spin that both have in common.
    let spin = |body: &Body| if matches!(body.form, Form::Circle(_)) { body.omega } else { 0.0 };
    let (one, other) = (spin(a), spin(b));
    let common = if one * other > 0.0 { one.signum() * one.abs().min(other.abs()) } else { 0.0 };
    let shared = common * (a.position - b.position).perp();
    let velocity = a.velocity - b.velocity;
    let way = velocity * time;
    let damped = 0.125 / ((n - 1.0) / (2.0 * n) + 0.125);
    // What moves by less than ten micrometres does not lead.
    let length = way.length().max((velocity - shared).length() * time);
    let turns = turns && length > 1e-5;
    match loaded {
        Some(true) if turns => ((way - shared * (time * damped)) * (most / length).min(1.0), false),
        _ => (DVec2::ZERO, turns && loaded.is_none()),
    }
}

fn manifold(a: &Body, b: &Body, tiny: f64) -> (DVec2, f64, bool) {
    let to = b.position - a.position;
    match (a.form, b.form) {
        (Form::Circle(ra), Form::Circle(rb)) => {
            let distance = to.length();
            let normal = if distance > 0.0 { to / distance } else { DVec2::X };
            // The direction of a short vector is inexact by its rounding.
            (normal, distance - ra - rb, distance < 1e3 * tiny)
        }
        (Form::Circle(r), Form::Box(half)) => {
            let centre = -to;
            let nearest = centre.clamp(-half, half);
            let outward = centre - nearest;
            let distance = outward.length();
            if distance > 0.0 {
                (-outward / distance, distance - r, distance < 1e3 * tiny)
            } else {
                // The centre is inside: it leaves by the nearest face.
                let depth = half - centre.abs();
                let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
                let (outward, depth_out) = if depth.x < depth.y {
                    (DVec2::new(sign(centre.x), 0.0), depth.x)
                } else {
                    (DVec2::new(0.0, sign(centre.y)), depth.y)
                };
                let tie = (depth.x - depth.y).abs() < tiny || centre.x.abs().min(centre.y.abs()) < tiny;
                (-outward, -depth_out - r, tie || depth_out < 1e3 * tiny)
            }
        }
        (Form::Box(ha), Form::Box(hb)) => {
            let gap = to.abs() - ha - hb;
            let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
            let tie = (gap.x - gap.y).abs() < tiny;
            if gap.x > gap.y {
                (DVec2::new(sign(to.x), 0.0), gap.x, tie || to.x.abs() < tiny)
            } else {
                (DVec2::new(0.0, sign(to.y)), gap.y, tie || to.y.abs() < tiny)
            }
        }
        (Form::Circle(r), Form::HalfSpace { normal, offset }) => {
            (-normal, -to.dot(normal) - offset - r, false)
        }
        (Form::Box(half), Form::HalfSpace { normal, offset }) => {
            (-normal, -to.dot(normal) - offset - half.dot(normal.abs()), false)
        }
        (Form::HalfSpace { .. }, Form::HalfSpace { .. }) => (DVec2::X, f64::INFINITY, false),
        (Form::Box(_), Form::Circle(_)) | (Form::HalfSpace { .. }, _) => {
            let (normal, separation, ambiguous) = manifold(b, a, tiny);
            (-normal, separation, ambiguous)
        }
    }
}

/// Whether two bodies can have a contact: at least one of them is dynamic, and their filters agree.
pub fn may_collide(a: &Body, b: &Body) -> bool {
    (a.kind == BodyType::Dynamic || b.kind == BodyType::Dynamic)
        && a.category & b.mask != 0
        && b.category & a.mask != 0
}

/// How much a particle's velocity in Verlet's scheme, which is of the middle of a substep, lags behind its velocity at
/// the end.
fn behind(body: &Body, settings: &Settings) -> DVec2 {
    let h = f64::from(settings.time_step) / f64::from(settings.substeps);
    dvec(settings.gravity) * body.gravity_scale * (0.5 * h * body.follows)
}

/// Replaces the velocities of the present by the velocities that the solver works with.
pub fn take_velocities(bodies: &mut [Body], settings: &Settings) {
    for body in bodies {
        body.velocity -= behind(body, settings);
    }
}

/// Replaces the solver's velocities by those of the present, after a step that began with the velocities `start`.
fn give_velocities(bodies: &mut [Body], start: &[DVec2], settings: &Settings) {
    for (body, &start) in bodies.iter_mut().zip(start) {
        let gravity = dvec(settings.gravity) * body.gravity_scale;
        if body.is_particle && gravity != DVec2::ZERO {
            let whole = f64::from(settings.time_step) * gravity.length_squared();
            body.follows = ((body.velocity - start).dot(gravity) / whole).clamp(0.0, 1.0);
        }
        body.velocity += behind(body, settings);
    }
}

/// The share of gravity that a particle follows, after a step that began with the solver's velocity u₀ (of `start`) and
/// ended with the velocity v (`end`): f = (v − ½·h·f·g − u₀)·g/(Δt·g²).
pub fn follows(start: &Body, end: DVec2, settings: &Settings) -> f64 {
    let gravity = dvec(settings.gravity) * start.gravity_scale;
    if !start.is_particle || gravity == DVec2::ZERO {
        return start.follows;
    }
    let whole = f64::from(settings.time_step) * gravity.length_squared();
    let half_substep = 0.5 / f64::from(settings.substeps);
    ((end - start.velocity).dot(gravity) / whole / (1.0 + half_substep)).clamp(0.0, 1.0)
}

/// The distance by which two bodies are too far apart for a contact; negative when they make one.
///
/// They make a contact when they are nearer than four slops. They also make one if one of the two is a body that no
/// impulse moves, its face is flat there, the gap at the end of the step, at their present speeds, is negative, and they are as near as that where they are when it closes.
///
/// Faces count as wider by `edge`, so that a body at the very end of a face can be judged both ways.
pub fn excess(bodies: &[Body], contact: &Contact, settings: &Settings, edge: f64) -> f64 {
    let (a, b) = (&bodies[contact.a], &bodies[contact.b]);
    let near = contact.separation - 4.0 * f64::from(settings.slop);
    let immovable = a.inv_mass == 0.0 || b.inv_mass == 0.0;
    if !(immovable && is_flat(a, b, contact.way, edge)) {
        return near;
    }
    let (relative, time_step) = (b.velocity - a.velocity, f64::from(settings.time_step));
    let speed = relative.dot(contact.normal);
    if near >= 0.0 && speed < 0.0 {
        let time = (contact.separation / -speed).clamp(0.0, time_step);
        let mover = if a.inv_mass == 0.0 { b } else { a };
        let thickness = match mover.form {
            Form::Circle(radius) => radius,
            Form::Box(half) => half.min_element(),
            Form::HalfSpace { .. } => f64::MAX,
        };
        let there = Body { position: b.position + relative * time - contact.way, ..*b };
        let gap = manifold(a, &there, edge).1 - 4.0 * f64::from(settings.slop) - edge;
        // A slower one is near enough to the face's end.
        if gap >= 0.0 && relative.length() * time > 0.5 * thickness + edge {
            return near.min(gap);
        }
    }
    near.min(contact.separation + speed * time_step)
}

/// Whether the nearest features are faces, and not a corner.
fn is_flat(a: &Body, b: &Body, way: DVec2, edge: f64) -> bool {
    let to = (b.position - a.position - way).abs() - edge;
    match (a.form, b.form) {
        (Form::HalfSpace { .. }, _) | (_, Form::HalfSpace { .. }) => true,
        (Form::Circle(_), Form::Circle(_)) => false,
        (Form::Circle(_), Form::Box(half)) | (Form::Box(half), Form::Circle(_)) => {
            to.x < half.x || to.y < half.y
        }
        (Form::Box(ha), Form::Box(hb)) => to.x < ha.x + hb.x || to.y < ha.y + hb.y,
    }
}

/// Every pair that makes a contact, by a test of every body against every other. With `slack` also the pairs that
/// almost make one. `loaded` tells which pairs bear a load, see [`led_contact`].
pub fn contacts(
    bodies: &[Body],
    loaded: impl Fn(usize, usize) -> Option<bool>,
    settings: &Settings,
    slack: f64,
) -> Vec<Contact> {
    let mut found = Vec::new();
    for a in 0..bodies.len() {
        for b in a + 1..bodies.len() {
            if may_collide(&bodies[a], &bodies[b]) {
                let contact = led_contact(bodies, (a, b), loaded(a, b), settings);
                if excess(bodies, &contact, settings, slack) < slack {
                    found.push(contact);
                }
            }
        }
    }
    found
}

/// The impulses that a contact carries through a step and to the next step.
#[derive(Clone, Copy, Debug, Default)]
struct Impulses {
    normal: f64,
    tangent: f64,
}

/// The mark of a contact that is struck and does not bounce.
const LOADED: f64 = 2.0;

/// A contact while it is being solved.
struct Constraint {
    contact: Contact,
    arm_a: DVec2,
    arm_b: DVec2,
    start_a: DVec2,
    start_b: DVec2,
    normal_mass: f64,
    tangent_mass: f64,
    static_friction: f64,
    dynamic_friction: f64,
    restitution: f64,
    impulses: Impulses,
    /// How fast the gap may close: the gap at the last solve (at first, at the step's start) over the substep. Solver2D
    /// measures the gap again when relaxing; the engine does not, see its `solver/impulse.rs`.
    closing: f64,
    /// The load that the contact bore in the step before.
    resting: f64,
    /// The speeds that weight and carried loads give both bodies in a substep.
    load: f64,
    /// The velocity of `b` relative to `a` at the start of the substep.
    was: DVec2,
    /// The energy that the impulses of this substep have taken since the first that was fast.
    absorbed: f64,
    immovable: bool,
    /// The normal velocity before the first impulse of an impact in this substep; 0 without an impact, and [`LOADED`] for one of a contact that bears
    /// a load.
    approach: f64,
    /// Whether something in the world bounces. Then the impulse that stops an impact is not carried on as a load,
    /// whether this contact bounces or not.
    bouncy: bool,
    /// The separation as it was before circles met.
    first_separation: f64,
    /// Whether a branch depended on less than f32 can tell, so that the other branch is equally right.
    marginal: bool,
}

/// The oracle's world: the step of either solver, for scenes of independent pairs.
pub struct World {
    pub settings: Settings,
    pub bodies: Vec<Body>,
    /// Whether each body had a contact whose result depended on rounding in some step so far.
    pub marginal: Vec<bool>,
    carried: Vec<(usize, usize, Impulses)>,
}

impl World {
    pub fn new(settings: Settings, bodies: Vec<Body>) -> World {
        let marginal = vec![false; bodies.len()];
        World { settings, bodies, marginal, carried: Vec::new() }
    }

    pub fn step(&mut self) {
        let s = self.settings;
        let h = f64::from(s.time_step) / f64::from(s.substeps);
        take_velocities(&mut self.bodies, &s);
        let start: Vec<DVec2> = self.bodies.iter().map(|body| body.velocity).collect();
        let loaded = |a: usize, b: usize| {
            let carried = self.carried.iter().find(|carried| (carried.0, carried.1) == (a, b));
            let speed = carried.map_or(0.0, |carried| {
                carried.2.normal * (self.bodies[a].inv_mass + self.bodies[b].inv_mass)
            });
            // What is next to nothing here may be nothing in single precision, and the other way round.
            if carried.is_some() && speed < 1e-4 { None } else { Some(speed > 0.0) }
        };
        let (near, found) =
            (contacts(&self.bodies, loaded, &s, MARGIN), contacts(&self.bodies, loaded, &s, 0.0));
        for near in near {
            if near.ambiguous || excess(&self.bodies, &near, &s, -MARGIN) > -MARGIN {
                self.marginal[near.a] = true;
                self.marginal[near.b] = true;
            }
        }
        let mut constraints: Vec<Constraint> =
            found.into_iter().map(|contact| self.prepare(contact, s.mixing, h)).collect();

        // The soft coefficients are at a fixed fraction of the substep rate, twice as large (but no larger than a
        // quarter) where one body is immovable. No contact here turns a body by its normal impulse, and such a contact
        // is damped twice as much.
        let threshold = 6.0 * f64::from(s.time_step) * dvec(s.gravity).length();
        let threshold = threshold.min(f64::from(s.restitution_threshold));
        let soft = [1.0, 2.0].map(|stiffer| {
            let ratio = (stiffer * f64::from(s.contact_frequency_ratio)).min(0.25);
            let omega = std::f64::consts::TAU * ratio / h;
            let a1 = 4.0 * f64::from(s.damping_ratio) + h * omega;
            let a2 = h * omega * a1;
            let a3 = 1.0 / (1.0 + a2);
            Soft {
                rate: omega / a1,
                mass_scale: a2 * a3,
                impulse_scale: a3,
                push_out: f64::from(s.push_out_speed),
                inv_h: 1.0 / h,
                threshold,
            }
        });

        // What weight and carried loads give each body in a substep, in whichever directions.
        let mut loads: Vec<f64> = self.bodies.iter().map(|body| body.weight_speed(&s, h)).collect();
        for constraint in &constraints {
            for body in [constraint.contact.a, constraint.contact.b] {
                loads[body] += constraint.impulses.normal * self.bodies[body].inv_mass;
            }
        }
        for constraint in &mut constraints {
            constraint.load = loads[constraint.contact.a] + loads[constraint.contact.b];
        }

        for substep in 0..s.substeps {
            for constraint in &mut constraints {
                let velocity = |body: usize| self.bodies[body].velocity;
                constraint.was = velocity(constraint.contact.b) - velocity(constraint.contact.a);
                constraint.absorbed = 0.0;
            }
            for body in &mut self.bodies {
                if body.inv_mass > 0.0 {
                    body.velocity += dvec(s.gravity) * body.gravity_scale * h;
                }
            }
            for constraint in &constraints {
                constraint.apply(&mut self.bodies, constraint.impulses.normal, constraint.impulses.tangent);
            }
            for _ in 0..s.iterations {
                for constraint in &mut constraints {
                    constraint.meet(&self.bodies, &soft[0]);
                    match s.solver {
                        Solver::Soft => constraint.solve_normal(&mut self.bodies, &soft, true),
                        Solver::Projection => {
                            constraint.closing = constraint.separation(&self.bodies).max(0.0) / h;
                            constraint.solve_normal(&mut self.bodies, &soft, false);
                            constraint.solve_friction(&mut self.bodies);
                        }
                    }
                }
            }
            for body in &mut self.bodies {
                body.position += body.velocity * h;
            }
            match s.solver {
                Solver::Soft => {
                    for iteration in 1..=s.iterations {
                        for constraint in &mut constraints {
                            constraint.solve_normal(&mut self.bodies, &soft, false);
                            if iteration == s.iterations {
                                constraint.rebound(&mut self.bodies);
                            }
                            constraint.solve_friction(&mut self.bodies);
                        }
                    }
                }
                Solver::Projection => {
                    // An overlap is removed in equal parts, which are growing parts of the rest of it.
                    let part = f64::from(s.projection_percent) / f64::from(s.substeps);
                    let part = part / (1.0 - f64::from(substep) * part);
                    for constraint in &mut constraints {
                        constraint.project(&mut self.bodies, &s, part);
                    }
                    for constraint in &mut constraints {
                        constraint.solve_normal(&mut self.bodies, &soft, false);
                        constraint.rebound(&mut self.bodies);
                        constraint.solve_friction(&mut self.bodies);
                    }
                }
            }
            let is_last = substep + 1 == s.substeps;
            constraints.iter_mut().for_each(|constraint| constraint.retire(is_last));
        }
        for constraint in &mut constraints {
            self.marginal[constraint.contact.a] |= constraint.marginal;
            self.marginal[constraint.contact.b] |= constraint.marginal;
        }
        give_velocities(&mut self.bodies, &start, &s);
        self.carried = constraints.iter().map(|c| (c.contact.a, c.contact.b, c.impulses)).collect();
    }

    fn prepare(&self, contact: Contact, mixing: Mixing, h: f64) -> Constraint {
        let (a, b) = (&self.bodies[contact.a], &self.bodies[contact.b]);
        let n = contact.normal;
        // A circle is touched at its own surface. A box does not turn, so its arm does not matter.
        let arm_a = if let Form::Circle(r) = a.form { n * r } else { DVec2::ZERO };
        let arm_b = if let Form::Circle(r) = b.form { -n * r } else { DVec2::ZERO };
        let mass_along = |axis: DVec2| {
            let (ta, tb) = (arm_a.perp_dot(axis), arm_b.perp_dot(axis));
            let inverse = a.inv_mass + b.inv_mass + a.inv_inertia * ta * ta + b.inv_inertia * tb * tb;
            if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
        };
        let mix = |rule: granule::Mix, x: f64, y: f64| match rule {
            granule::Mix::Pythagorean => (x * x + y * y).sqrt(),
            granule::Mix::GeometricMean => (x * y).sqrt(),
            granule::Mix::Min => x.min(y),
            granule::Mix::Max => x.max(y),
            granule::Mix::Average => (x + y) / 2.0,
            granule::Mix::Multiply => x * y,
        };
        let key = (contact.a, contact.b);
        let impulses =
            self.carried.iter().find(|(a, b, _)| (*a, *b) == key).map_or_else(Default::default, |c| c.2);
        Constraint {
            contact,
            arm_a,
            arm_b,
            start_a: a.position,
            start_b: b.position,
            normal_mass: mass_along(n),
            tangent_mass: mass_along(n.perp()),
            static_friction: mix(mixing.friction, a.static_friction, b.static_friction),
            dynamic_friction: mix(mixing.friction, a.dynamic_friction, b.dynamic_friction),
            restitution: mix(mixing.restitution, a.restitution, b.restitution).min(1.0),
            impulses,
            resting: impulses.normal,
            load: 0.0,
            was: DVec2::ZERO,
            absorbed: 0.0,
            immovable: a.inv_mass == 0.0 || b.inv_mass == 0.0,
            closing: contact.separation.max(0.0) / h,
            approach: 0.0,
            bouncy: self.bodies.iter().any(|body| body.restitution > 0.0),
            first_separation: contact.separation,
            marginal: false,
        }
    }
}

struct Soft {
    rate: f64,
    mass_scale: f64,
    impulse_scale: f64,
    push_out: f64,
    inv_h: f64,
    threshold: f64,
}

impl Constraint {
    /// The velocity of `b` relative to `a` at the point of contact.
    fn relative_velocity(&self, bodies: &[Body]) -> DVec2 {
        let (a, b) = (&bodies[self.contact.a], &bodies[self.contact.b]);
        let at = |body: &Body, arm: DVec2| body.velocity + body.omega * arm.perp();
        at(b, self.arm_b) - at(a, self.arm_a)
    }

    /// The present gap, along the normal of the step's start.
    fn separation(&self, bodies: &[Body]) -> f64 {
        let moved = (bodies[self.contact.b].position - self.start_b)
            - (bodies[self.contact.a].position - self.start_a);
        self.contact.separation + moved.dot(self.contact.normal)
    }

    /// Circles that are about to bounce do so along the line of their centres, as it is at the mean time of the impulse: of what
    /// stops the approach, all that does not close the gap comes now, and the rest with the rebound at the substep's end. For the rest
    /// of the step it stays so.
    fn meet(&mut self, bodies: &[Body], soft: &Soft) {
        let (a, b) = (&bodies[self.contact.a], &bodies[self.contact.b]);
        let (Form::Circle(radius_a), Form::Circle(radius_b)) = (a.form, b.form) else { return };
        if self.immovable || self.resting > 0.0 || !self.bouncy || self.approach != 0.0 {
            return;
        }
        let speed = self.relative_velocity(bodies).dot(self.contact.normal);
        if speed >= -soft.threshold {
            return;
        }
        let now = 1.0 - self.separation(bodies).max(0.0) * soft.inv_h / -speed;
        self.marginal |= now.abs() < 1e-4;
        if now <= 0.0 {
            return;
        }
        let ahead = (1.0 - now / (1.0 + self.restitution)) / soft.inv_h;
        let start = self.start_b - self.start_a;
        let way = (b.position - a.position) - start + ahead * (b.velocity - a.velocity);
        let normal = (start + way).normalize();
        let turn = normal.dot(self.contact.normal);
        self.marginal |= (turn - 0.5).abs() < 1e-3 || start.length() < 1e-3 * (radius_a + radius_b);
        let along = (b.velocity - a.velocity).dot(normal);
        self.marginal |= (along + soft.threshold).abs() < 1e-3;
        if turn > 0.5 && along < -soft.threshold {
            let apart = (start + way).length() - start.length();
            self.contact.separation = self.first_separation + apart - normal.dot(way);
            self.contact.normal = normal;
            (self.arm_a, self.arm_b) = (normal * radius_a, -normal * radius_b);
        }
    }

    fn apply(&self, bodies: &mut [Body], normal: f64, tangent: f64) {
        let impulse = self.contact.normal * normal + self.contact.normal.perp() * tangent;
        let a = &mut bodies[self.contact.a];
        a.velocity -= impulse * a.inv_mass;
        a.omega -= self.arm_a.perp_dot(impulse) * a.inv_inertia;
        let b = &mut bodies[self.contact.b];
        b.velocity += impulse * b.inv_mass;
        b.omega += self.arm_b.perp_dot(impulse) * b.inv_inertia;
    }

    fn solve_normal(&mut self, bodies: &mut [Body], soft: &[Soft; 2], biased: bool) {
        let n = self.contact.normal;
        let separation = self.separation(bodies);
        let soft = &soft[usize::from(self.immovable)];
        if biased {
            self.closing = separation.max(0.0) * soft.inv_h;
        }
        let (bias, mass_scale, impulse_scale) = if biased && separation <= 0.0 {
            ((soft.rate * separation).max(-soft.push_out), soft.mass_scale, soft.impulse_scale)
        } else {
            // The two are apart: they may close exactly this gap within the substep.
            (self.closing, 1.0, 0.0)
        };
        let speed = self.relative_velocity(bodies).dot(n);
        // The two just touch. As a gap the contact is rigid; as an overlap it is soft, and gives back a share of its
        // impulse.
        let held = self.impulses.normal / self.normal_mass;
        self.marginal |= biased && separation.abs() < MARGIN && (speed.abs() > 0.01 || held > 0.01);
        let impulse = -self.normal_mass * mass_scale * (speed + bias) - impulse_scale * self.impulses.normal;
        let new = (self.impulses.normal + impulse).max(0.0);
        let applied = new - self.impulses.normal;
        // A contact that bears a load does not bounce when other contacts press it together, nor does one whose bodies were slow and meet no faster
        // than loads and weight make them.
        if self.bouncy {
            let came = self.was.dot(n).min(speed + self.load);
            let closes = new > 0.0 && speed < -soft.threshold;
            let is_fast = closes && (came < -soft.threshold || self.approach != 0.0);
            if is_fast || self.approach != 0.0 {
                self.absorbed -= applied * (speed + 0.5 * applied / self.normal_mass);
            }
            if new > 0.0 {
                self.marginal |= (speed + soft.threshold).abs() < 1e-3;
                self.marginal |= closes && (came + soft.threshold).abs() < 1e-3;
            }
            if is_fast {
                self.approach = if self.resting <= 0.0 { self.approach.min(speed) } else { LOADED };
            }
        }
        // A contact that closes its gap now is stopped when the gap is closed.
        if biased && new > 0.0 {
            self.closing = 0.0;
        }
        self.impulses.normal = new;
        self.apply(bodies, applied, 0.0);
    }

    /// Moves the two apart by a share of the overlap beyond the slop.
    fn project(&mut self, bodies: &mut [Body], settings: &Settings, part: f64) {
        // What is pressed has closed its gap. What is not is stopped when it touches: friction and restitution are
        // those of the whole impact.
        let separation = self.separation(bodies);
        let touching = 1e-3 * f64::from(settings.slop);
        // What came to rest at the edge of touching, without being pressed, is stopped in this substep or in the next one.
        let at_edge = self.impulses.normal == 0.0 && (separation - touching).abs() < MARGIN;
        self.marginal |= at_edge && self.closing > 1e-3;
        if self.impulses.normal > 0.0 || separation <= touching {
            self.closing = 0.0;
        }
        let excess = -self.separation(bodies) - f64::from(settings.projection_slop);
        let push = self.normal_mass * part * excess.max(0.0);
        let n = self.contact.normal;
        let (a, b) = (self.contact.a, self.contact.b);
        bodies[a].position -= n * push * bodies[a].inv_mass;
        bodies[b].position += n * push * bodies[b].inv_mass;
    }

    /// Coulomb's law with two coefficients.
    fn solve_friction(&mut self, bodies: &mut [Body]) {
        let t = self.contact.normal.perp();
        let slip = self.relative_velocity(bodies).dot(t);
        let candidate = self.impulses.tangent - self.tangent_mass * slip;
        let (hold, slide) =
            (self.static_friction * self.impulses.normal, self.dynamic_friction * self.impulses.normal);
        self.marginal |= hold != slide && (candidate.abs() - hold).abs() < 1e-3 * hold;
        let new = if candidate.abs() <= hold { candidate } else { candidate.clamp(-slide, slide) };
        let applied = new - self.impulses.tangent;
        self.impulses.tangent = new;
        self.apply(bodies, 0.0, applied);
    }

    /// Newton's law of impact of two bodies: they leave at e times their speed of approach.
    fn rebound(&mut self, bodies: &mut [Body]) {
        if self.approach >= 0.0 || self.impulses.normal == 0.0 || self.restitution == 0.0 {
            return;
        }
        let speed = self.relative_velocity(bodies).dot(self.contact.normal);
        let impulse = -self.normal_mass * (speed + self.restitution * self.approach);
        self.impulses.normal += impulse;
        self.apply(bodies, impulse, 0.0);
    }

    /// Clears the impulses of a contact that has bounced: they are not carried on. What bears a load and was struck keeps the load, and what has the
    /// energy of the blow; in the `last` substep an eighth of that energy by (1 − e)².
    fn retire(&mut self, last: bool) {
        let approach = std::mem::take(&mut self.approach);
        if approach < 0.0 {
            self.impulses = Impulses::default();
        } else if approach > 0.0 {
            let given = if last { (1.0 - self.restitution).powi(2) / 8.0 } else { 1.0 };
            let most = self.resting + (2.0 * given * self.absorbed.max(0.0) * self.normal_mass).sqrt();
            let kept = (most / self.impulses.normal).min(1.0);
            self.impulses.normal *= kept;
            self.impulses.tangent *= kept;
        }
    }
}
