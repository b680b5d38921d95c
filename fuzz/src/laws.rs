//! What mechanics says of a step, whatever the host did before it.
//!
//! Each law holds for the worlds that it names, with a slack that follows from the settings; the others it lets pass. What
//! it needs is read before the step, so that the host may add or take what it will between two steps.

use super::known;
use super::machine::Body;
use super::read::is_measurable;
use granule::{BodyHandle, BodyType, Settings, ShapeKind, Solver, Vec2, World};

/// A world before a step, as the laws see it.
pub struct Before {
    bodies: Vec<Moving>,
    /// No force, torque, moving kinematic body or belt does work, no link or hull pulls.
    is_left_alone: bool,
    has_restitution: bool,
    has_particles: bool,
    has_damping: bool,
    /// Nothing is there whose mass is infinite.
    is_closed: bool,
    motion: Motion,
    /// The depth of all pairs, m; `None` where bodies came or moved by hand, and the pair list is not yet theirs.
    depth: Option<f64>,
    /// What is left of the warm start, as a speed times the root of a mass: see `warm_start_left`.
    warm_start: f64,
    /// With continuous collision, the same world after the same step without it: no body is stopped there.
    unstopped: Option<World>,
}

/// A body that was pressed with many times its weight, and let go, keeps a part of the warm start: each pass takes back four fifths or more of
/// what it finds, normal impulses and friction in turn. (A box pressed with 4,000 times its weight left at 0.5 % of what that impulse gives, with
/// the projection solver and three iterations.)
fn warm_start_left(world: &World) -> f64 {
    let settings = world.settings();
    let left = 0.2f64.powi(settings.iterations.max(settings.substeps).min(4) as i32);
    let roots = |contact: &granule::Contact| {
        let root = |body| world.mass(body).map_or(0.0, |mass| 1.0 / f64::from(mass).sqrt());
        root(contact.a) + root(contact.b)
    };
    // At the corner of a box, an impulse works on a fourth of its mass.
    let impulse = |contact: &granule::Contact| {
        2.0 * f64::from(contact.normal_impulse).hypot(f64::from(contact.tangent_impulse))
    };
    left * world.contacts().map(|contact| impulse(&contact) * roots(&contact)).sum::<f64>()
}

/// A body with a mass.
struct Moving {
    body: BodyHandle,
    mass: f64,
    gravity: [f64; 2],
    at: Vec2,
    angle: f32,
    asleep: bool,
    /// The speed below which it falls asleep, m/s.
    rest_speed: f64,
}

/// Sums over all bodies.
#[derive(Clone, Copy, Default)]
struct Motion {
    kinetic: f64,
    potential: f64,
    /// What the potential energies are made of, without signs: how far rounding goes.
    potential_scale: f64,
    momentum: [f64; 2],
    momentum_scale: f64,
    fastest: f64,
}

impl Before {
    /// `None` where no law says anything. `forced`: a force or torque waits for the step; `undisturbed`: nothing was
    /// done since the last one; `was_disturbed`: something was before that.
    pub fn of(
        world: &World,
        known: &[Body],
        forced: bool,
        undisturbed: bool,
        was_disturbed: bool,
    ) -> Option<Before> {
        let settings = world.settings();
        let gravity = settings.gravity.as_dvec2();
        if !is_measurable(world) || !world.quarantined().is_empty() {
            return None;
        }
        let mut before = Before {
            bodies: Vec::new(),
            is_left_alone: !forced && world.link_count() + world.hull_count() + world.joint_count() == 0,
            has_restitution: false,
            has_particles: world.particle_count() > 0,
            has_damping: false,
            is_closed: true,
            motion: Motion::default(),
            depth: undisturbed.then(|| world.quality().max_penetration),
            // What was pressed by hand is let go in the next step.
            warm_start: if was_disturbed { warm_start_left(world) } else { 0.0 },
            unstopped: None,
        };
        for body in known.iter().filter(|body| world.contains(body.handle)) {
            let handle = body.handle;
            let state = world.body(handle).ok()?;
            for part in world.parts(handle).ok()? {
                before.has_restitution |= part.material.restitution > 0.0;
                before.is_left_alone &= part.material.tangent_speed == 0.0;
            }
            before.has_damping |= body.is_damped;
            let mass = f64::from(world.mass(handle).ok()?);
            let fixed_motion = state.velocity != Vec2::ZERO || state.angular_velocity != 0.0;
            if mass.is_infinite() {
                before.is_closed = false;
                before.is_left_alone &= !fixed_motion;
                continue;
            }
            let gravity = (gravity * f64::from(body.gravity_scale)).to_array();
            let (at, angle) = (state.position, state.angle);
            let asleep = !world.is_awake(handle).ok()?;
            let rest_speed = world.sleep_settings(handle).ok()?.1.unwrap_or(settings.sleep_threshold).into();
            before.bodies.push(Moving { body: handle, mass, gravity, at, angle, asleep, rest_speed });
        }
        before.motion = before.measure(world);
        if settings.continuous && before.keeps_energy(world) {
            let mut unstopped = world.clone();
            let set = unstopped.set_settings(Settings { continuous: false, ..*settings });
            set.expect("settings that a world has");
            unstopped.step();
            before.unstopped = Some(unstopped);
        }
        Some(before)
    }

    fn measure(&self, world: &World) -> Motion {
        let quality = world.quality();
        let mut motion =
            Motion { kinetic: quality.kinetic_energy, momentum: quality.momentum, ..Motion::default() };
        for moving in &self.bodies {
            let Ok(state) = world.body(moving.body) else { continue };
            let (at, velocity) = (state.position.as_dvec2(), state.velocity.as_dvec2());
            let terms = [moving.mass * moving.gravity[0] * at.x, moving.mass * moving.gravity[1] * at.y];
            motion.potential -= terms[0] + terms[1];
            motion.potential_scale += terms[0].abs() + terms[1].abs();
            motion.momentum_scale += moving.mass * velocity.length();
            motion.fastest = motion.fastest.max(velocity.length());
        }
        motion
    }

    /// Holds that the step kept the laws.
    pub fn check(&self, world: &World) {
        if !world.quarantined().is_empty() {
            return;
        }
        let after = self.measure(world);
        self.check_momentum(world, &after);
        self.check_energy(world, &after);
        self.check_depth(world);
    }

    /// In a world without walls the momentum grows by that of gravity alone.
    fn check_momentum(&self, world: &World, after: &Motion) {
        // Particles have half a substep's gravity more or less at their start, and links may tear off what they hold.
        let applies = self.is_closed && self.is_left_alone && !self.has_particles && !self.has_damping;
        if !applies {
            return;
        }
        let dt = f64::from(world.settings().time_step);
        let mut scale = self.motion.momentum_scale + after.momentum_scale;
        let mut expected = self.motion.momentum;
        // What pushes overlapping bodies apart is taken off their velocities again, each time rounded.
        let mut lost = 1e-30;
        for moving in &self.bodies {
            lost += moving.mass * f64::from(world.settings().push_out_speed * f32::EPSILON);
            if world.is_awake(moving.body) == Ok(false) {
                // What sleeps does not fall, and what falls asleep loses the little that it had.
                if moving.asleep {
                    continue;
                }
                lost += moving.mass * moving.rest_speed;
            }
            for (expected, gravity) in expected.iter_mut().zip(moving.gravity) {
                *expected += dt * moving.mass * gravity;
                scale += dt * moving.mass * gravity.abs();
            }
        }
        for axis in 0..2 {
            let error = (after.momentum[axis] - expected[axis]).abs();
            assert!(
                error <= 1e-4 * scale + lost,
                "step {}: momentum {:?} where {expected:?} is due, of {scale}",
                world.step_count(),
                after.momentum
            );
        }
    }

    /// Nothing works on the bodies but gravity and contacts, and these push apart by little.
    fn keeps_energy(&self, world: &World) -> bool {
        let settings = world.settings();
        self.is_left_alone
            && !self.has_particles
            && (known::BOUNCES_KEEP_ENERGY || !self.has_restitution)
            && settings.time_step < 0.04
            && self.depth.is_some_and(|depth| depth <= 4.0 * f64::from(settings.slop))
    }

    /// Contacts take energy, and give none but what pushes apart what overlaps.
    fn check_energy(&self, world: &World, after: &Motion) {
        if !self.keeps_energy(world) {
            return;
        }
        let settings = world.settings();
        let (dt, slop) = (f64::from(settings.time_step), f64::from(settings.slop));
        // What overlaps by less than 4 slops is pushed apart at no more than this, neighbour after neighbour.
        let rate = f64::from(settings.substeps) / dt;
        // The projection solver moves them, at no speed.
        let fastest = match settings.solver {
            Solver::Soft => f64::from(settings.push_out_speed),
            Solver::Projection => f64::INFINITY,
        };
        let push = (4.0 * slop * rate).min(fastest) * self.bodies.len() as f64;
        self.check_speed(world, after, push);
        let Some(meant) = self.meant(world, after) else { return };
        let mass: f64 = self.bodies.iter().map(|moving| moving.mass).sum();
        let weight: f64 =
            self.bodies.iter().map(|m| m.mass * (m.gravity[0].abs() + m.gravity[1].abs())).sum();
        let before = self.motion;
        let slack = 1e-3 * (before.kinetic + meant.kinetic)
            + 1e-5 * (before.potential_scale + meant.potential_scale)
            + 0.5 * mass * push * push
            + weight * push * dt
            + self.warm_start * (self.warm_start + (2.0 * before.kinetic).sqrt() + push * mass.sqrt());
        let gained = meant.kinetic + meant.potential - before.kinetic - before.potential;
        assert!(
            gained <= slack + 1e-30,
            "step {}: {gained} J came from nowhere, and {slack} at most can: {} and {} before, {} and {} after",
            world.step_count(),
            before.kinetic,
            before.potential,
            meant.kinetic,
            meant.potential
        );
    }

    /// Gravity adds no more to the speeds than it does in free fall, whatever way the bodies have. Speeds of bodies of all masses add up as
    /// the components of one vector, each times the root of its mass, so that half the square of its length is the energy. A contact
    /// makes it no longer.
    fn check_speed(&self, world: &World, after: &Motion, push: f64) {
        let dt = f64::from(world.settings().time_step);
        let square = |m: &Moving| m.mass * (m.gravity[0].powi(2) + m.gravity[1].powi(2));
        let fall = dt * self.bodies.iter().map(square).sum::<f64>().sqrt();
        let pushed = push * self.bodies.iter().map(|m| m.mass).sum::<f64>().sqrt();
        let most = 0.5 * ((2.0 * self.motion.kinetic).sqrt() + fall + pushed + self.warm_start).powi(2);
        assert!(
            after.kinetic <= 1.001 * most + 1e-30,
            "step {}: {} J after {}, and gravity makes {most} of it at most",
            world.step_count(),
            after.kinetic,
            self.motion.kinetic
        );
    }

    /// The motion after the step, with the bodies where their velocities have led them. A fast body that is stopped at a wall
    /// is not there: it keeps its velocity, and with it the work of gravity on the whole way. `None` if the step without continuous
    /// collision, which shows the whole way, was another one. (Contacts that a shape turns away from are made ahead of time there.)
    fn meant(&self, world: &World, after: &Motion) -> Option<Motion> {
        let Some(unstopped) = &self.unstopped else { return Some(*after) };
        let velocity = |world: &World, moving: &Moving| {
            world.body(moving.body).map(|state| (state.velocity, state.angular_velocity))
        };
        let same = |m: &Moving| velocity(world, m) == velocity(unstopped, m);
        (unstopped.quarantined().is_empty() && self.bodies.iter().all(same)).then(|| self.measure(unstopped))
    }

    /// Two shapes overlap by no more than before and what their bodies have moved.
    fn check_depth(&self, world: &World) {
        let Some(before) = self.depth.filter(|_| known::DEPTH_FOLLOWS_MOTION) else { return };
        let mut moved = [0.0f64; 2];
        let mut size = 0.0f64;
        for moving in &self.bodies {
            let Ok(state) = world.body(moving.body) else { return };
            let turned = f64::from((state.angle - moving.angle).abs());
            let way =
                state.position.as_dvec2().distance(moving.at.as_dvec2()) + turned * reach(world, moving.body);
            size = size.max(state.position.as_dvec2().abs().max_element()).max(reach(world, moving.body));
            moved = [moved[0].max(way), moved[0].min(way).max(moved[1])];
        }
        let kinematic = world.handles().any(|body| world.body_type(body) == Ok(BodyType::Kinematic));
        if kinematic {
            return;
        }
        let depth = world.quality().max_penetration;
        let most = before + moved[0] + moved[1] + 1e-3 + 1e-5 * size;
        assert!(
            depth <= most,
            "step {}: {depth} m deep, after {} and moves of {moved:?}",
            world.step_count(),
            before
        );
    }
}

/// Distance from a body's centre to its furthest point; 0 of what does not turn.
fn reach(world: &World, body: BodyHandle) -> f64 {
    let parts = world.parts(body).unwrap_or_default();
    let of = |part: &granule::Part| match part.shape {
        granule::Shape::Circle { radius } => radius,
        granule::Shape::Box { half_extents } => half_extents.length(),
        granule::Shape::Capsule { half_length, radius } => half_length + radius,
        granule::Shape::Segment { half_length } | granule::Shape::ChainSegment { half_length, .. } => {
            half_length
        }
        granule::Shape::Polygon(polygon) => polygon
            .vertices()
            .iter()
            .fold(polygon.radius(), |most, v| most.max(v.length() + polygon.radius())),
        _ => 0.0,
    };
    let furthest = parts.iter().map(|part| part.position.length() + of(part)).fold(0.0, f32::max);
    let turns = parts.len() > 1 || parts.iter().any(|part| part.shape.kind() >= ShapeKind::Box);
    if turns { furthest.into() } else { 0.0 }
}

/// Bodies that have been at rest, all of them, for some steps: what holds goes on holding.
#[derive(Default)]
pub struct Rest {
    steps: u32,
}

/// m/s, at every body's furthest point.
const STILL: f64 = 1e-3;
const STILL_STEPS: u32 = 3;
const STARTLED: f64 = 0.05;
/// Overlap of what rests at most, m. What is deeper is pushed out, and friction works on it while it is: a pentagon whose corners were 24 and
/// 38 mm deep, not the same, had 0.066 m/s after a step, and none before. (With 0.05 it was found after two million runs.)
const DEEP: f64 = 0.02;

impl Rest {
    /// The host did something.
    pub fn disturb(&mut self) {
        self.steps = 0;
    }

    /// After a step without any doing of the host.
    pub fn check(&mut self, world: &World) {
        let settings = world.settings();
        let fall = f64::from(settings.gravity.length() * settings.time_step);
        // What falls may be slow for a step at the top of its path, but not where gravity shows.
        let applies = world.link_count() + world.hull_count() + world.joint_count() == 0
            && fall > 100.0 * STILL
            && fall < 1.0;
        let mut fastest = 0.0f64;
        for body in world.handles() {
            if let Ok(state) = world.body(body) {
                let spin = f64::from(state.angular_velocity.abs()) * reach(world, body).max(0.1);
                fastest = fastest.max(f64::from(state.velocity.length()) + spin);
            }
        }
        if !applies {
            self.steps = 0;
            return;
        }
        let limit = if self.steps >= STILL_STEPS { STARTLED } else { f64::INFINITY };
        assert!(
            fastest <= limit,
            "step {}: at rest for {} steps, and now at {fastest} m/s",
            world.step_count(),
            self.steps
        );
        // What is deep in another is on its way out, though it has no speed by that.
        let rests = fastest <= STILL && world.quality().max_penetration <= DEEP;
        self.steps = if rests { self.steps + 1 } else { 0 };
    }
}
