//! Fields of force over a region, and explosions.
//!
//! ```text
//! find the bodies whose centres are in the region, in lanes over the columns           (kernels.rs)
//! wake those that sleep
//! sixteen at a time: gather what the field reads, compute the forces in lanes, add them to the bodies' forces
//! ```
//!
//! Buoyancy is computed for each shape (`buoyancy.rs`): the part of its outline that is below the surface.

mod buoyancy;
mod kernels;

use super::World;
use super::record::Call;
use crate::base::room::make_room;
use crate::body::{Filter, MAX_COORDINATE, MAX_SPEED};
use crate::error::{Error, check_range, check_vec};
use crate::lane::with_lanes;
use buoyancy::Sunk;
use glam::Vec2;
use kernels::{Batch, LANES, Push};

/// Where a field acts: on bodies whose centre is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// Everywhere.
    Everywhere,
    /// Within a circle, m.
    Circle {
        /// Its centre.
        centre: Vec2,
        /// Its radius.
        radius: f32,
    },
    /// Within an axis-aligned box, m. Its sides may be infinite.
    Aabb {
        /// The lower left corner.
        lower: Vec2,
        /// The upper right corner.
        upper: Vec2,
    },
}

/// What a field does to each body in its region. *b* is the body's breadth: the diameter of a circle of the same area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldKind {
    /// F = m·a.
    Acceleration(
        /// a, m/s².
        Vec2,
    ),
    /// The resistance of a medium that moves with velocity w: F = k·(w − v), with k = (`linear` + `quadratic`·|w − v|)·b, at most m/Δt, so that no
    /// body is turned round. A body that falls has the terminal speed m·g/(`linear`·b) or √(m·g/(`quadratic`·b)). Wind, or with w = 0 drag.
    Wind {
        /// w, m/s.
        velocity: Vec2,
        /// kg/(m·s), in 0..=1e6.
        linear: f32,
        /// kg/m², in 0..=1e6: half the density of the medium × the drag coefficient.
        quadratic: f32,
    },
    /// F = m·`strength`·r/(|r|² + `softening`²)^(3/2), with r from the body to the centre (H. C. Plummer's law, 1911): gravity of a mass that is spread over
    /// the softening length. A negative strength pushes away.
    Attractor {
        /// m.
        centre: Vec2,
        /// m³/s², within ±1e12.
        strength: f32,
        /// m, in 0.001..=1e6.
        softening: f32,
    },
    /// A liquid where `normal`·p ≤ `offset`. Each shape is pushed by −density·g·A at the centroid of its part below the surface, of area A (Archimedes), where g is
    /// the gravity of the settings. The liquid also brakes: F = −`drag`·density·A·(v − flow), with v at that centroid, at most m/Δt; and the
    /// torque −`angular_drag`·density·A²·ω.
    ///
    /// Round shapes and rounded corners count as polygons of the same area, which is within 1.5 % of a circle's area for any depth.
    Buoyancy {
        /// Out of the liquid; normalised.
        normal: Vec2,
        /// Distance of the surface from the origin along the normal, m.
        offset: f32,
        /// kg/m², in 0..=1e6.
        density: f32,
        /// 1/s, in 0..=1e6.
        drag: f32,
        /// 1/s, in 0..=1e6.
        angular_drag: f32,
        /// Velocity of the liquid, m/s.
        flow: Vec2,
    },
}

/// A field of force. [`World::apply_field`] applies it for one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Where it acts.
    pub region: Region,
    /// What it does.
    pub kind: FieldKind,
    /// The categories of bodies ([`Filter::category`]) on which it acts.
    pub mask: u32,
    /// Whether it wakes bodies that sleep. If not, it passes them by. Default true; a field that is always there keeps its bodies awake.
    pub wake: bool,
}

crate::base::codec::stored_enum!(Region = Region::Everywhere; {
    0 => Everywhere,
    1 => Circle { centre: Vec2, radius: f32 },
    2 => Aabb { lower: Vec2, upper: Vec2 },
});
crate::base::codec::stored_enum!(FieldKind = FieldKind::Acceleration(Vec2::ZERO); {
    0 => Acceleration(acceleration: Vec2),
    1 => Wind { velocity: Vec2, linear: f32, quadratic: f32 },
    2 => Attractor { centre: Vec2, strength: f32, softening: f32 },
    3 => Buoyancy { normal: Vec2, offset: f32, density: f32, drag: f32, angular_drag: f32, flow: Vec2 },
});
crate::base::codec::stored!(Field = Field::new(Region::Everywhere, FieldKind::Acceleration(Vec2::ZERO)); { region, kind, mask, wake });
crate::base::codec::stored!(Explosion = Explosion::new(Vec2::ZERO, 1.0, 0.0); { centre, radius, impulse, mask });

impl Field {
    /// A field over this region, for all categories, that wakes bodies.
    pub fn new(region: Region, kind: FieldKind) -> Field {
        Field { region, kind, mask: u32::MAX, wake: true }
    }

    /// Checks the numbers of the field.
    ///
    /// # Errors
    ///
    /// The first one that is not finite or out of range; [`Error::ZeroNormal`].
    pub fn validate(&self) -> Result<(), Error> {
        self.region.validate()?;
        match self.kind {
            FieldKind::Acceleration(acceleration) => check_vec("acceleration", acceleration, MAX_SPEED),
            FieldKind::Wind { velocity, linear, quadratic } => {
                check_vec("velocity", velocity, MAX_SPEED)?;
                check_range("linear", linear, 0.0, 1.0e6)?;
                check_range("quadratic", quadratic, 0.0, 1.0e6)
            }
            FieldKind::Attractor { centre, strength, softening } => {
                check_vec("centre", centre, MAX_COORDINATE)?;
                check_range("strength", strength, -1.0e12, 1.0e12)?;
                check_range("softening", softening, 1.0e-3, 1.0e6)
            }
            FieldKind::Buoyancy { normal, offset, density, drag, angular_drag, flow } => {
                check_vec("normal", normal, 1.0e6)?;
                if normal.length_squared() <= 1.0e-20 {
                    return Err(Error::ZeroNormal { field: "normal" });
                }
                check_range("offset", offset, -MAX_COORDINATE, MAX_COORDINATE)?;
                check_range("density", density, 0.0, 1.0e6)?;
                check_range("drag", drag, 0.0, 1.0e6)?;
                check_range("angular_drag", angular_drag, 0.0, 1.0e6)?;
                check_vec("flow", flow, MAX_SPEED)
            }
        }
    }
}

impl Region {
    fn validate(&self) -> Result<(), Error> {
        match *self {
            Region::Everywhere => Ok(()),
            Region::Circle { centre, radius } => {
                check_vec("region.centre", centre, MAX_COORDINATE)?;
                check_range("region.radius", radius, 0.0, 2.0 * MAX_COORDINATE)
            }
            // False if a corner is not a number.
            Region::Aabb { lower, upper } if lower.cmple(upper).all() => Ok(()),
            Region::Aabb { .. } => Err(Error::Invalid {
                field: "region.lower",
                reason: "beyond the upper corner, or not a number",
            }),
        }
    }
}

/// An explosion. A body at the distance d from the centre gets the impulse `impulse`·b·(1 − d/`radius`) away from it, at its own centre, where b is
/// its breadth: the diameter of a circle of the same area. A body at the centre itself gets none. Nothing shields what is behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explosion {
    /// m.
    pub centre: Vec2,
    /// Beyond it nothing is pushed, m.
    pub radius: f32,
    /// N·s per metre of breadth, within ±1e12. A negative one pulls.
    pub impulse: f32,
    /// The categories of bodies ([`Filter::category`]) on which it acts.
    pub mask: u32,
}

impl Explosion {
    /// An explosion that acts on all categories.
    pub fn new(centre: Vec2, radius: f32, impulse: f32) -> Explosion {
        Explosion { centre, radius, impulse, mask: u32::MAX }
    }
}

/// Memory for fields.
#[derive(Default)]
pub(super) struct FieldMemory {
    slots: Vec<u32>,
    forces: Vec<[f32; 3]>,
}

impl World {
    /// Applies a field for the next step: adds to the forces of each dynamic body whose centre is in the region. Call it before each step in which the field
    /// acts. Returns the number of bodies on which it acted.
    ///
    /// ```
    /// use granule::{BodyDesc, Field, FieldKind, Material, Region, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let wood = Material { density: 0.5, ..Material::default() };
    /// let log = world.add_body(&BodyDesc { material: wood, ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.5), Vec2::ZERO) })?;
    /// let water = FieldKind::Buoyancy {
    ///     normal: Vec2::Y,
    ///     offset: 0.0,
    ///     density: 1.0,
    ///     drag: 2.0,
    ///     angular_drag: 2.0,
    ///     flow: Vec2::new(0.5, 0.0),
    /// };
    /// for _ in 0..600 {
    ///     world.apply_field(&Field::new(Region::Everywhere, water))?;
    ///     world.step();
    /// }
    /// let state = world.body(log)?;
    /// assert!(state.position.y.abs() < 0.02 && (state.velocity.x - 0.5).abs() < 0.01);
    /// # Ok::<(), granule::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Field::validate`].
    pub fn apply_field(&mut self, field: &Field) -> Result<usize, Error> {
        self.record_beside(|| Call::ApplyField(*field));
        field.validate()?;
        let mut memory = std::mem::take(&mut self.memory.fields);
        self.find_in(&field.region, field.mask, field.wake, &mut memory.slots);
        match field.kind {
            FieldKind::Buoyancy { normal, offset, density, drag, angular_drag, flow } => {
                let medium = Sunk { normal: normal.normalize(), offset, density, drag, angular_drag, flow };
                self.float(&medium, &mut memory);
            }
            _ => self.push_all(&self.push_of(&field.kind), &mut memory),
        }
        for (&slot, force) in memory.slots.iter().zip(&memory.forces) {
            self.add_force(slot as usize, *force);
        }
        let count = memory.slots.len();
        self.memory.fields = memory;
        Ok(count)
    }

    /// Makes an explosion: changes the velocities of the dynamic bodies within its radius at once, and wakes them. No velocity gets beyond
    /// [`World::MAX_SPEED`]. Returns the number of bodies on which it acted.
    ///
    /// # Errors
    ///
    /// The first number that is not finite or out of range.
    pub fn explode(&mut self, explosion: &Explosion) -> Result<usize, Error> {
        self.record_beside(|| Call::Explode(*explosion));
        let Explosion { centre, radius, impulse, mask } = *explosion;
        check_vec("centre", centre, MAX_COORDINATE)?;
        check_range("radius", radius, 1.0e-3, 2.0 * MAX_COORDINATE)?;
        check_range("impulse", impulse, -1.0e12, 1.0e12)?;
        let mut memory = std::mem::take(&mut self.memory.fields);
        self.find_in(&Region::Circle { centre, radius }, mask, true, &mut memory.slots);
        self.push_all(&Push::Explosion { centre, inv_radius: 1.0 / radius, impulse }, &mut memory);
        for (&slot, force) in memory.slots.iter().zip(&memory.forces) {
            let c = &mut self.bodies.columns;
            let slot = slot as usize;
            let inv_mass = c.inv_mass[slot];
            for (speed, impulse) in [(&mut c.vel_x[slot], force[0]), (&mut c.vel_y[slot], force[1])] {
                *speed = (*speed + inv_mass * impulse).clamp(-MAX_SPEED, MAX_SPEED);
            }
        }
        let count = memory.slots.len();
        self.unchecked |= count > 0;
        self.memory.fields = memory;
        Ok(count)
    }

    /// Lists the slots of the bodies in a region that forces move, in order, and wakes them or leaves out those that sleep.
    fn find_in(&mut self, region: &Region, mask: u32, wake: bool, slots: &mut Vec<u32>) {
        let bodies = &self.bodies;
        let (region, len) = (kernels::RegionTests::of(region), bodies.len);
        // How many are in the region differs from call to call.
        make_room(slots, len);
        with_lanes!(self.level, L => kernels::find::<L>(&bodies.columns, len, &region, slots));
        slots.retain(|&slot| {
            let slot = slot as usize;
            let Filter { category, .. } = bodies.filter(slot);
            let awake = bodies.columns.inv_mass[slot] > 0.0;
            (awake || wake && bodies.is_asleep(slot))
                && category & mask != 0
                && bodies.columns.kind[slot].is_collidable()
        });
        if wake {
            slots.iter().for_each(|&slot| self.wake(slot as usize));
        }
    }

    fn push_of(&self, kind: &FieldKind) -> Push {
        let inv_step = 1.0 / self.settings.time_step;
        match *kind {
            FieldKind::Wind { velocity, linear, quadratic } => {
                Push::Wind { velocity, linear, quadratic, inv_step }
            }
            FieldKind::Attractor { centre, strength, softening } => {
                Push::Attractor { centre, strength, softening: softening * softening }
            }
            FieldKind::Acceleration(acceleration) => Push::Acceleration(acceleration),
            FieldKind::Buoyancy { .. } => Push::Acceleration(Vec2::ZERO),
        }
    }

    /// Computes the force or impulse on each listed body.
    fn push_all(&self, push: &Push, memory: &mut FieldMemory) {
        let FieldMemory { slots, forces } = memory;
        make_room(forces, self.bodies.len);
        let c = &self.bodies.columns;
        let mut batch = Batch::default();
        for slots in slots.chunks(LANES) {
            for (lane, &slot) in slots.iter().enumerate() {
                let slot = slot as usize;
                batch.set(
                    lane,
                    [
                        c.pos_x[slot],
                        c.pos_y[slot],
                        c.vel_x[slot],
                        c.vel_y[slot],
                        1.0 / c.inv_mass[slot],
                        if push.reads_breadth() { self.breadth(slot) } else { 0.0 },
                    ],
                );
            }
            with_lanes!(self.level, L => kernels::push::<L>(&mut batch, push));
            forces.extend((0..slots.len()).map(|lane| batch.force(lane)));
        }
    }

    /// The diameter of a circle of a body's area, m.
    fn breadth(&self, slot: usize) -> f32 {
        2.0 * (self.bodies.area(slot) * std::f32::consts::FRAC_1_PI).sqrt()
    }

    fn add_force(&mut self, slot: usize, [x, y, torque]: [f32; 3]) {
        let most =
            |force: f32| if force.is_nan() { 0.0 } else { force.clamp(-Self::MAX_FORCE, Self::MAX_FORCE) };
        let c = &mut self.bodies.columns;
        c.force_x[slot] += most(x);
        c.force_y[slot] += most(y);
        c.torque[slot] += most(torque);
        self.bodies.any_force = true;
        self.unchecked = true;
    }
}
