//! The world: bodies, settings, and the step.

use crate::body::{Bodies, BodyDesc, BodyHandle, BodyState, BodyType, Filter};
use crate::body::{MAX_BODIES, MAX_COORDINATE, MAX_SPEED, RUNAWAY_SPEED};
use crate::broadphase::loose::per_step;
use crate::broadphase::sweep::Pair;
use crate::broadphase::{Broadphase, Margins};
use crate::contacts::{ContactEvent, Contacts, Tile};
use crate::crew::{Crew, with_crew};
use crate::error::{Error, check_range, check_vec};
use crate::lane::with_lanes;
use crate::material::Material;
use crate::narrowphase;
use crate::settings::{Lanes, Settings};
use crate::shape::Shape;
use crate::solver::{ImpulseSolver, Load};
use glam::Vec2;
use std::sync::Mutex;
use std::time::Instant;

/// The stages of a step, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Margins, and the solver's copy of the bodies.
    Bounds,
    /// The pair list.
    Broadphase,
    /// Normals and separations.
    Narrowphase,
    /// Carried impulses, colours, begin and end.
    Contacts,
    /// Impulses, velocities, positions.
    Solver,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Stage; 5] =
        [Stage::Bounds, Stage::Broadphase, Stage::Narrowphase, Stage::Contacts, Stage::Solver];
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stage::Bounds => "bounds",
            Stage::Broadphase => "broadphase",
            Stage::Narrowphase => "narrowphase",
            Stage::Contacts => "contacts",
            Stage::Solver => "solver",
        })
    }
}

/// How long each stage of the last step took, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// [`Stage::Bounds`]
    pub bounds: f64,
    /// [`Stage::Broadphase`]
    pub broadphase: f64,
    /// [`Stage::Narrowphase`]
    pub narrowphase: f64,
    /// [`Stage::Contacts`]
    pub contacts: f64,
    /// [`Stage::Solver`]
    pub solver: f64,
    /// The whole step.
    pub total: f64,
}

/// What [`World::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// Steps taken.
    pub steps: u32,
    /// Time left over, as a fraction of a step in 0..1: for [`World::interpolated`].
    pub alpha: f32,
}

/// A body that went bad (not a number, or beyond all bounds) and was taken out of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// Which body. It stays where it was last good, does not move, and touches nothing.
    pub body: BodyHandle,
    /// The step in which it went bad, counted from 0.
    pub step: u64,
}

/// The bodies' state as columns, without a copy: element i of each belongs to `handle[i]`.
///
/// The order is that of storage, which changes as bodies move.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Whose element this is. A body that was removed since the last step is still here; see
    /// [`World::contains`].
    pub handle: &'a [BodyHandle],
    /// Position, m.
    pub pos_x: &'a [f32],
    /// Position, m.
    pub pos_y: &'a [f32],
    /// Counter-clockwise, rad.
    pub angle: &'a [f32],
    /// Velocity, m/s.
    pub vel_x: &'a [f32],
    /// Velocity, m/s.
    pub vel_y: &'a [f32],
    /// Counter-clockwise, rad/s.
    pub omega: &'a [f32],
}

/// A contact as of the last narrowphase, with the impulses that the solver then found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// One body.
    pub a: BodyHandle,
    /// The other.
    pub b: BodyHandle,
    /// From a to b, of unit length.
    pub normal: Vec2,
    /// Between the surfaces, m; negative when they overlap.
    pub separation: f32,
    /// Of the last substep, along the normal, N·s; never negative.
    pub normal_impulse: f32,
    /// Of the last substep, along (−normal.y, normal.x), N·s.
    pub tangent_impulse: f32,
}

/// A set of rigid bodies, and the step that moves them.
///
/// ```
/// use granule::{BodyDesc, Settings, Shape, Vec2, World};
///
/// let mut world = World::new(Settings::default())?;
/// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
/// let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 4.0)))?;
/// for _ in 0..120 {
///     world.step();
/// }
/// assert!((world.body(ball)?.position.y - 0.5).abs() < 0.01);
/// # Ok::<(), granule::Error>(())
/// ```
pub struct World {
    settings: Settings,
    pub(crate) bodies: Bodies,
    pub(crate) broadphase: Broadphase,
    pub(crate) contacts: Contacts,
    pub(crate) solver: ImpulseSolver,
    /// The pair list must be rebuilt before it is used.
    dirty: bool,
    /// Bounds of the last rebuild hold every body that was there then.
    pub(crate) bounds_hold: bool,
    /// They have not outlived their time.
    bounds_last: bool,
    /// Slots that have left their margin in the last step.
    left: Mutex<Vec<u32>>,
    /// Pairs of those.
    loose_pairs: Vec<Pair>,
    /// A large body moves: see `contacts.rs`.
    large_moves: bool,
    /// Forces, impulses or velocities were set by hand since the last step.
    unchecked: bool,
    /// Length of the last step's substeps.
    last_substep: f32,
    time_left: f32,
    step_count: u64,
    quarantined: Vec<Quarantine>,
    timings: Timings,
    fault: Option<Fault>,
}

/// A difference to be planted in the next step.
#[derive(Clone, Copy)]
struct Fault {
    stage: Stage,
    body: BodyHandle,
    ulps: i32,
}

impl World {
    /// Largest accepted coordinate, in metres. A body that gets beyond it is quarantined.
    pub const MAX_COORDINATE: f32 = MAX_COORDINATE;
    /// Largest accepted speed, in m/s and rad/s.
    pub const MAX_SPEED: f32 = MAX_SPEED;
    /// Largest accepted force, torque or impulse.
    pub const MAX_FORCE: f32 = 1.0e30;
    /// [`World::advance`] takes at most this many steps a call, and forgets the rest of the time.
    pub const MAX_STEPS_PER_ADVANCE: u32 = 8;

    /// An empty world.
    ///
    /// # Errors
    ///
    /// The first setting that is out of range.
    pub fn new(settings: Settings) -> Result<World, Error> {
        settings.validate()?;
        Ok(World {
            settings,
            bodies: Bodies::default(),
            broadphase: Broadphase::default(),
            contacts: Contacts::default(),
            solver: ImpulseSolver::default(),
            dirty: true,
            bounds_hold: false,
            bounds_last: false,
            left: Mutex::default(),
            loose_pairs: Vec::new(),
            large_moves: false,
            unchecked: false,
            last_substep: settings.time_step / settings.substeps as f32,
            time_left: 0.0,
            step_count: 0,
            quarantined: Vec::new(),
            timings: Timings::default(),
            fault: None,
        })
    }

    /// Steps the world by `settings().time_step`.
    ///
    /// Work is shared among the threads of the rayon pool that the caller runs in, if any
    /// (`pool.install(|| world.step())`), at most one per core. The result does not depend on them.
    pub fn step(&mut self) {
        with_crew(|crew| {
            let start = Instant::now();
            let mut clock = Clock { last: start };
            let mut timings = Timings::default();
            self.check_velocities();
            let rebuild = self.dirty || !(self.bounds_hold || self.loosen());
            timings.broadphase += clock.lap();
            if rebuild {
                self.carry_out(crew);
                timings.contacts += clock.lap();
                self.find_pairs(crew);
                timings.broadphase += clock.lap();
                self.build_contacts(crew);
                timings.contacts += clock.lap();
            }
            self.plant(Stage::Broadphase);
            self.fill_mirror(crew);
            self.plant(Stage::Bounds);
            timings.bounds += clock.lap();
            self.update_contacts(crew);
            timings.narrowphase += clock.lap();
            self.find_events();
            timings.contacts += clock.lap();
            self.solve(crew);
            self.finish(crew);
            timings.solver += clock.lap();
            timings.total = start.elapsed().as_secs_f64();
            self.timings = timings;
            self.step_count += 1;
            self.fault = None;
        });
    }

    /// Pairs the bodies that have left their margin anew, if they are few and nothing else speaks for a new
    /// list. False if there must be one.
    fn loosen(&mut self) -> bool {
        let left = self.left.get_mut().expect("no worker panicked");
        if !self.bounds_last || !self.broadphase.can_loosen(left) {
            return false;
        }
        let margins = Margins::new(&self.settings);
        self.loose_pairs.clear();
        self.broadphase.loosen(&self.bodies, left, &margins, &mut self.loose_pairs);
        let Settings { mixing, slop, .. } = self.settings;
        let pairs = &self.loose_pairs;
        self.contacts.add_far(&self.broadphase, &self.bodies, mixing, 4.0 * slop, pairs);
        self.bounds_hold = true;
        true
    }

    /// What the old contacts know, before slots change.
    fn carry_out(&mut self, crew: &Crew<'_>) {
        self.contacts.carry_out(&self.bodies, self.broadphase.built, crew);
    }

    /// Re-orders the bodies and makes a new pair list.
    fn find_pairs(&mut self, crew: &Crew<'_>) {
        let margins = Margins::new(&self.settings);
        self.broadphase.order(&mut self.bodies, &margins, crew);
        self.contacts.find(&self.broadphase, &self.bodies, self.settings.lanes, crew);
        self.large_moves = self.broadphase.large_moves(&self.bodies);
        self.loose_pairs.clear();
        self.loose_pairs.reserve(16 * per_step(self.bodies.len));
        self.dirty = false;
    }

    /// Makes the blocks for a new pair list.
    fn build_contacts(&mut self, crew: &Crew<'_>) {
        let Settings { mixing, slop, .. } = self.settings;
        self.contacts.build(&self.broadphase, &self.bodies, mixing, 4.0 * slop, crew);
    }

    fn fill_mirror(&mut self, crew: &Crew<'_>) {
        let tiles = self.contacts.tiles().len();
        let bands = &self.broadphase.bands;
        let planes = bands.banded..bands.solid;
        self.solver.mirror.fill(&self.bodies, &self.settings, tiles, planes, crew);
    }

    /// Normals and separations of all pairs.
    fn update_contacts(&mut self, crew: &Crew<'_>) {
        let step = narrowphase::Step {
            shape: &self.solver.mirror.shape,
            vel: &self.solver.mirror.vel,
            time_step: self.settings.time_step,
            slop: self.settings.slop,
            speculative: 4.0 * self.settings.slop,
        };
        let update = |tile: &mut Tile| {
            with_lanes!(self.settings.lanes, L => narrowphase::update::<L>(tile, &step));
        };
        crew.for_each(self.contacts.tiles_mut(), |_, tile| update(tile));
        update(&mut self.contacts.far);
        self.plant(Stage::Narrowphase);
    }

    fn find_events(&mut self) {
        self.contacts.find_events(&self.bodies);
        self.plant(Stage::Contacts);
    }

    fn solve(&mut self, crew: &Crew<'_>) {
        let substep = self.settings.time_step / self.settings.substeps as f32;
        let impulse_ratio = substep / self.last_substep;
        self.last_substep = substep;
        let load = Load {
            impulse_ratio,
            any_restitution: self.bodies.any_restitution,
            any_damping: self.bodies.any_damping,
            has_far: self.large_moves || self.contacts.far.is_active(),
        };
        self.solver.solve(&mut self.contacts, &self.settings, &load, crew);
    }

    /// Takes the solver's result over, and looks for what went bad.
    fn finish(&mut self, crew: &Crew<'_>) {
        let in_time = self.broadphase.bounds.age_by(self.settings.time_step);
        let (bounds, margins) = (&self.broadphase.bounds, Margins::new(&self.settings));
        let lanes = self.settings.lanes;
        let bad = self.solver.mirror.finish(&mut self.bodies, bounds, &margins, lanes, &mut self.left, crew);
        self.bounds_last = in_time;
        self.bounds_hold = in_time && self.left.get_mut().expect("no worker panicked").is_empty();
        for slot in bad {
            self.quarantine(slot);
        }
        self.plant(Stage::Solver);
    }

    /// After velocities were changed by hand: finds bodies that would go bad before their neighbours are
    /// infected (their velocity after the forces of this step is not a number, or beyond all bounds), and
    /// such as will leave their margin in this step.
    fn check_velocities(&mut self) {
        if !std::mem::take(&mut self.unchecked) {
            return;
        }
        let dt = self.settings.time_step;
        let margins = Margins::new(&self.settings);
        for slot in 0..self.bodies.len {
            let c = &self.bodies.columns;
            if !c.kind[slot].is_solid() {
                continue;
            }
            let (inv_mass, inv_inertia) = (c.inv_mass[slot], c.inv_inertia[slot]);
            let next = [
                c.vel_x[slot] + dt * (c.force_x[slot] * inv_mass),
                c.vel_y[slot] + dt * (c.force_y[slot] * inv_mass),
                c.omega[slot] + dt * (c.torque[slot] * inv_inertia),
            ];
            if next.iter().any(|v| v.is_nan() || v.abs() > RUNAWAY_SPEED) {
                self.quarantine(slot);
            } else if !self.dirty {
                let position = self.bodies.position(slot).into();
                let bounds = &self.broadphase.bounds;
                self.dirty = bounds.left::<f32>(slot, position, [next[0], next[1]], &margins);
            }
        }
    }

    fn quarantine(&mut self, slot: usize) {
        self.bodies.quarantine(slot);
        self.quarantined.push(Quarantine { body: self.bodies.handle(slot), step: self.step_count });
        self.dirty = true;
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Replaces the settings.
    ///
    /// # Errors
    ///
    /// The first setting that is out of range; the old ones stay.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), Error> {
        settings.validate()?;
        let list_settings = |s: &Settings| (s.mixing, s.slop.to_bits(), s.time_step.to_bits());
        self.dirty |= list_settings(&settings) != list_settings(&self.settings);
        self.settings = settings;
        Ok(())
    }

    /// Sets gravity, m/s².
    ///
    /// # Errors
    ///
    /// A component that is not finite or out of range.
    pub fn set_gravity(&mut self, gravity: Vec2) -> Result<(), Error> {
        self.set_settings(Settings { gravity, ..self.settings })
    }

    /// Sets the length of a step, s. Carried impulses are scaled to it.
    ///
    /// # Errors
    ///
    /// A length that is not finite or out of range.
    pub fn set_time_step(&mut self, time_step: f32) -> Result<(), Error> {
        self.set_settings(Settings { time_step, ..self.settings })
    }

    /// Sets the lane width. No effect on results.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        self.settings.lanes = lanes;
    }

    /// Adds a body.
    ///
    /// # Errors
    ///
    /// The first field of `desc` that is refused.
    pub fn add_body(&mut self, desc: &BodyDesc) -> Result<BodyHandle, Error> {
        desc.validate()?;
        self.check_room(1)?;
        self.dirty = true;
        Ok(self.bodies.insert(desc))
    }

    /// Adds many bodies, or none.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first body that is refused.
    pub fn add_bodies(&mut self, descs: &[BodyDesc]) -> Result<Vec<BodyHandle>, Error> {
        for (index, desc) in descs.iter().enumerate() {
            desc.validate().map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        self.check_room(descs.len())?;
        self.dirty = true;
        self.bodies.reserve(descs.len());
        Ok(descs.iter().map(|desc| self.bodies.insert(desc)).collect())
    }

    fn check_room(&self, more: usize) -> Result<(), Error> {
        if self.bodies.len + more > MAX_BODIES { Err(Error::TooMany { max: MAX_BODIES }) } else { Ok(()) }
    }

    /// Removes a body. Contacts that it had end in the next step.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn remove_body(&mut self, body: BodyHandle) -> Result<(), Error> {
        self.bodies.remove(body)?;
        self.dirty = true;
        Ok(())
    }

    /// Whether the handle's body is in this world.
    pub fn contains(&self, body: BodyHandle) -> bool {
        self.bodies.slot_of(body).is_ok()
    }

    /// All bodies, by handle index: in a world from which nothing was removed, in the order of adding.
    pub fn handles(&self) -> impl Iterator<Item = BodyHandle> + '_ {
        self.bodies.by_index().map(|(handle, _)| handle)
    }

    /// Where a body is and how it moves.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn body(&self, body: BodyHandle) -> Result<BodyState, Error> {
        Ok(self.state(self.bodies.slot_of(body)?))
    }

    fn state(&self, slot: usize) -> BodyState {
        BodyState {
            position: self.bodies.position(slot),
            angle: self.bodies.columns.angle[slot],
            velocity: self.bodies.velocity(slot),
            angular_velocity: self.bodies.columns.omega[slot],
        }
    }

    /// How a body moves.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn body_type(&self, body: BodyHandle) -> Result<BodyType, Error> {
        Ok(self.bodies.body_type(self.bodies.slot_of(body)?))
    }

    /// A body's shape; a half-space's normal comes normalised.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn shape(&self, body: BodyHandle) -> Result<Shape, Error> {
        Ok(self.bodies.shape(self.bodies.slot_of(body)?))
    }

    /// A body's material.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn material(&self, body: BodyHandle) -> Result<Material, Error> {
        Ok(self.bodies.material(self.bodies.slot_of(body)?))
    }

    /// A body's mass, kg; infinite for static and kinematic ones.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn mass(&self, body: BodyHandle) -> Result<f32, Error> {
        Ok(1.0 / self.bodies.columns.inv_mass[self.bodies.slot_of(body)?])
    }

    /// Which others a body touches.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn filter(&self, body: BodyHandle) -> Result<Filter, Error> {
        let slot = self.bodies.slot_of(body)?;
        let c = &self.bodies.columns;
        Ok(Filter { category: c.category[slot], mask: c.mask[slot] })
    }

    /// Puts a body elsewhere, without a velocity from it. A half-space's surface moves along.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a component that is not finite or out of range.
    pub fn set_position(&mut self, body: BodyHandle, position: Vec2) -> Result<(), Error> {
        let slot = self.bodies.slot_of(body)?;
        check_vec("position", position, MAX_COORDINATE)?;
        if let Shape::HalfSpace { normal, offset } = self.bodies.shape(slot) {
            self.bodies.columns.ext_z[slot] = offset + normal.dot(position);
        }
        let c = &mut self.bodies.columns;
        (c.pos_x[slot], c.pos_y[slot]) = (position.x, position.y);
        if let Some(pose) = self.solver.mirror.pose.get_mut(slot) {
            (pose.0[0], pose.0[1]) = (0.0, 0.0);
        }
        self.dirty = true;
        self.bounds_hold = false;
        self.bounds_last = false;
        Ok(())
    }

    /// Turns a body, rad.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or an angle that is not finite or out of range.
    pub fn set_angle(&mut self, body: BodyHandle, angle: f32) -> Result<(), Error> {
        let slot = self.bodies.slot_of(body)?;
        check_range("angle", angle, -MAX_COORDINATE, MAX_COORDINATE)?;
        self.bodies.columns.angle[slot] = angle;
        if let Some(pose) = self.solver.mirror.pose.get_mut(slot) {
            pose.0[2] = 0.0;
        }
        Ok(())
    }

    /// Sets a velocity, m/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a body that is static.
    pub fn set_velocity(&mut self, body: BodyHandle, velocity: Vec2) -> Result<(), Error> {
        let slot = self.moving_slot(body, "velocity")?;
        check_vec("velocity", velocity, MAX_SPEED)?;
        let c = &mut self.bodies.columns;
        (c.vel_x[slot], c.vel_y[slot]) = (velocity.x, velocity.y);
        self.unchecked = true;
        Ok(())
    }

    /// Sets an angular velocity, rad/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a value that is not finite or out of range, or a body that is static.
    pub fn set_angular_velocity(&mut self, body: BodyHandle, omega: f32) -> Result<(), Error> {
        let slot = self.moving_slot(body, "angular_velocity")?;
        check_range("angular_velocity", omega, -MAX_SPEED, MAX_SPEED)?;
        self.bodies.columns.omega[slot] = omega;
        Ok(())
    }

    /// Sets which others a body touches.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_filter(&mut self, body: BodyHandle, filter: Filter) -> Result<(), Error> {
        let slot = self.bodies.slot_of(body)?;
        let c = &mut self.bodies.columns;
        (c.category[slot], c.mask[slot]) = (filter.category, filter.mask);
        self.bodies.any_filter |= filter != Filter::default();
        self.dirty = true;
        Ok(())
    }

    /// Sets what gravity is multiplied by.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a scale that is not finite or out of range.
    pub fn set_gravity_scale(&mut self, body: BodyHandle, scale: f32) -> Result<(), Error> {
        let slot = self.bodies.slot_of(body)?;
        check_range("gravity_scale", scale, -1.0e3, 1.0e3)?;
        self.bodies.columns.gravity_scale[slot] = scale;
        Ok(())
    }

    /// Sets the rates at which velocity and angular velocity decay, 1/s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a rate that is not finite, negative or out of range.
    pub fn set_damping(&mut self, body: BodyHandle, linear: f32, angular: f32) -> Result<(), Error> {
        let slot = self.bodies.slot_of(body)?;
        check_range("linear_damping", linear, 0.0, 1.0e6)?;
        check_range("angular_damping", angular, 0.0, 1.0e6)?;
        let c = &mut self.bodies.columns;
        (c.linear_damping[slot], c.angular_damping[slot]) = (linear, angular);
        self.bodies.any_damping |= linear != 0.0 || angular != 0.0;
        Ok(())
    }

    /// Adds a force at the centre for the next step, N.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a body that is static.
    pub fn apply_force(&mut self, body: BodyHandle, force: Vec2) -> Result<(), Error> {
        let slot = self.moving_slot(body, "force")?;
        check_vec("force", force, Self::MAX_FORCE)?;
        let c = &mut self.bodies.columns;
        c.force_x[slot] += force.x;
        c.force_y[slot] += force.y;
        self.bodies.any_force = true;
        self.unchecked = true;
        Ok(())
    }

    /// Adds a torque for the next step, N·m.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a value that is not finite or out of range, or a body that is static.
    pub fn apply_torque(&mut self, body: BodyHandle, torque: f32) -> Result<(), Error> {
        let slot = self.moving_slot(body, "torque")?;
        check_range("torque", torque, -Self::MAX_FORCE, Self::MAX_FORCE)?;
        self.bodies.columns.torque[slot] += torque;
        self.bodies.any_force = true;
        self.unchecked = true;
        Ok(())
    }

    /// Changes the velocity now, by an impulse at the centre, N·s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a component that is not finite or out of range, or a body that is static.
    pub fn apply_impulse(&mut self, body: BodyHandle, impulse: Vec2) -> Result<(), Error> {
        let slot = self.moving_slot(body, "impulse")?;
        check_vec("impulse", impulse, Self::MAX_FORCE)?;
        let c = &mut self.bodies.columns;
        c.vel_x[slot] += impulse.x * c.inv_mass[slot];
        c.vel_y[slot] += impulse.y * c.inv_mass[slot];
        self.unchecked = true;
        Ok(())
    }

    /// Changes the angular velocity now, N·m·s.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], a value that is not finite or out of range, or a body that is static.
    pub fn apply_angular_impulse(&mut self, body: BodyHandle, impulse: f32) -> Result<(), Error> {
        let slot = self.moving_slot(body, "impulse")?;
        check_range("impulse", impulse, -Self::MAX_FORCE, Self::MAX_FORCE)?;
        let c = &mut self.bodies.columns;
        c.omega[slot] += impulse * c.inv_inertia[slot];
        self.unchecked = true;
        Ok(())
    }

    fn moving_slot(&self, body: BodyHandle, field: &'static str) -> Result<usize, Error> {
        let slot = self.bodies.slot_of(body)?;
        match self.bodies.body_type(slot) {
            BodyType::Static => Err(Error::Invalid { field, reason: "a static body has none" }),
            _ => Ok(slot),
        }
    }

    /// Takes as many steps as fit the time that has passed, and keeps what is left for the next call. At
    /// most [`World::MAX_STEPS_PER_ADVANCE`]: if the host can't keep up, the world runs slower rather than
    /// the host slower and slower.
    ///
    /// # Errors
    ///
    /// A time that is not finite or negative.
    pub fn advance(&mut self, elapsed: f32) -> Result<Advance, Error> {
        check_range("elapsed", elapsed, 0.0, 1.0e6)?;
        let dt = self.settings.time_step;
        self.time_left += elapsed;
        let mut steps = 0;
        while self.time_left >= dt && steps < Self::MAX_STEPS_PER_ADVANCE {
            self.step();
            self.time_left -= dt;
            steps += 1;
        }
        if self.time_left >= dt {
            self.time_left %= dt;
        }
        Ok(Advance { steps, alpha: (self.time_left / dt).clamp(0.0, 1.0) })
    }

    /// A body's state between the last two steps: that before the last step at `alpha` 0, the present one
    /// at 1. Velocities are the present ones.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or an alpha outside 0..=1.
    pub fn interpolated(&self, body: BodyHandle, alpha: f32) -> Result<BodyState, Error> {
        let slot = self.bodies.slot_of(body)?;
        check_range("alpha", alpha, 0.0, 1.0)?;
        let mut state = self.state(slot);
        if slot < self.solver.mirror.bodies {
            let back = alpha - 1.0;
            let [moved_x, moved_y, turned, _] = self.solver.mirror.pose[slot].0;
            state.position += back * Vec2::new(moved_x, moved_y);
            if let Shape::Circle { radius } = self.bodies.shape(slot) {
                state.angle += back * turned / radius;
            }
        }
        Ok(state)
    }

    /// Steps taken since the start.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }

    /// The state of all bodies, without a copy.
    pub fn columns(&self) -> Columns<'_> {
        let c = &self.bodies.columns;
        let len = self.bodies.len;
        Columns {
            handle: &c.handle[..len],
            pos_x: &c.pos_x[..len],
            pos_y: &c.pos_y[..len],
            angle: &c.angle[..len],
            vel_x: &c.vel_x[..len],
            vel_y: &c.vel_y[..len],
            omega: &c.omega[..len],
        }
    }

    /// All contacts of the last step: pairs that overlap or are closer than the speculative distance.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.contacts.all().flat_map(|tile| {
            (0..tile.info.len() * crate::contacts::BLOCK).filter_map(|lane| self.contact(tile, lane))
        })
    }

    fn contact(&self, tile: &Tile, lane: usize) -> Option<Contact> {
        let (block, lane) = (lane / crate::contacts::BLOCK, lane % crate::contacts::BLOCK);
        let normal = &tile.normal[block];
        let (a, b) = (normal.a[lane] as usize, normal.b[lane] as usize);
        let solid = |slot: usize| self.bodies.columns.kind[slot].is_solid();
        if tile.info[block].active >> lane & 1 == 0 || !solid(a) || !solid(b) {
            return None;
        }
        let bounce_impulse = tile.bounce.get(block).map_or(0.0, |bounce| bounce.impulse[lane]);
        Some(Contact {
            a: self.bodies.handle(a),
            b: self.bodies.handle(b),
            normal: Vec2::new(normal.normal_x[lane], normal.normal_y[lane]),
            separation: normal.separation[lane],
            normal_impulse: normal.normal_impulse[lane] + bounce_impulse,
            tangent_impulse: tile.friction[block].tangent_impulse[lane],
        })
    }

    /// The pairs that began to touch in the last step.
    pub fn begin_events(&self) -> &[ContactEvent] {
        &self.contacts.begin
    }

    /// The pairs that ceased to touch in the last step, by moving apart or since one was removed.
    pub fn end_events(&self) -> &[ContactEvent] {
        &self.contacts.end
    }

    /// All bodies that went bad since the start.
    pub fn quarantined(&self) -> &[Quarantine] {
        &self.quarantined
    }

    /// Bodies that are not static.
    pub fn body_count(&self) -> usize {
        self.bodies.moving_count
    }

    /// Static bodies.
    pub fn static_count(&self) -> usize {
        self.bodies.static_count
    }

    /// Pairs in the list.
    pub fn pair_count(&self) -> usize {
        self.contacts.pair_count()
    }

    /// Contacts of the last step.
    pub fn contact_count(&self) -> usize {
        self.contacts.contact_count()
    }

    /// How long each stage of the last step took.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// In the next step, after `stage`, changes a number of this body by this many units in the last
    /// place. For testing that a difference between two worlds is found and named.
    #[doc(hidden)]
    pub fn plant_fault(&mut self, stage: Stage, body: BodyHandle, ulps: i32) {
        self.fault = Some(Fault { stage, body, ulps });
    }

    fn plant(&mut self, stage: Stage) {
        let Some(fault) = self.fault.filter(|fault| fault.stage == stage) else { return };
        let Ok(slot) = self.bodies.slot_of(fault.body) else { return };
        let nudge = |v: &mut f32| *v = add_ulps(*v, fault.ulps);
        let lane = self.lane_of_body(slot).map(|(tile, pair)| {
            let tile = self.contacts.all_mut().nth(tile).expect("just found");
            (tile, pair)
        });
        match (stage, lane) {
            (Stage::Bounds, _) => nudge(&mut self.broadphase.bounds.reach[slot]),
            (Stage::Broadphase, Some((tile, index))) => nudge(&mut tile.found.pairs[index].separation),
            (Stage::Narrowphase, Some((tile, index))) => {
                let (block, lane) = tile.place(index);
                nudge(&mut tile.normal[block].separation[lane]);
            }
            (Stage::Contacts, Some((tile, index))) => {
                let (block, lane) = tile.place(index);
                nudge(&mut tile.normal[block].normal_mass[lane]);
            }
            (Stage::Solver, _) => nudge(&mut self.bodies.columns.vel_x[slot]),
            (_, None) => {}
        }
    }

    /// Tile and place of a pair of this body: if possible of one that is near, and in which it comes first.
    fn lane_of_body(&self, slot: usize) -> Option<(usize, usize)> {
        let pairs = self.contacts.all().enumerate().flat_map(|(tile_index, tile)| {
            tile.pairs().iter().enumerate().map(move |(index, pair)| (tile_index, tile, index, pair))
        });
        pairs
            .filter(|(.., pair)| pair.a as usize == slot || pair.b as usize == slot)
            .max_by_key(|(_, tile, index, pair)| {
                let (block, lane) = tile.place(*index);
                (tile.info[block].active >> lane & 1, pair.a as usize == slot)
            })
            .map(|(tile, _, index, _)| (tile, index))
    }
}

/// The float that is this many away, counting -0 and 0 as two.
fn add_ulps(value: f32, ulps: i32) -> f32 {
    let bits = (value.to_bits() & 0x7FFF_FFFF).cast_signed();
    let ordered = if value.is_sign_negative() { -1 - bits } else { bits };
    let moved = ordered.saturating_add(ulps);
    f32::from_bits(if moved < 0 { (-1 - moved).cast_unsigned() | 1 << 31 } else { moved.cast_unsigned() })
}

/// Laps of a stopwatch.
struct Clock {
    last: Instant,
}

impl Clock {
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let lap = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        lap
    }
}
