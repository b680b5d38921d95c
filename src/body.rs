//! Bodies: one column per scalar, and generational handles.
//!
//! A body sits in a *slot*, the same place in every column. Slots are in the order of space: the
//! broadphase re-orders them each time it rebuilds the pair list (see `broadphase.rs`), so that
//! neighbours in the world are neighbours in memory. A [`BodyHandle`] stays: its index leads through a
//! table to the present slot.
//!
//! Columns are padded to the widest lane with zeros: a padding body has no inverse mass and no extent.
//! A removed body's slot stays, marked [`Motion::Dead`], until the next rebuild drops it; an added body
//! takes a slot at the end. So slots move only when the pair list, too, is made anew.

mod validate;

use crate::compound::{Compound, Mass, Part, Placed, turn_of};
use crate::crew::{Crew, SharedSlice};
use crate::error::{Error, check_range, check_vec};
use crate::interner::{Interner, put};
use crate::lane::padded;
use crate::material::Material;
use crate::outline::{Outline, Outlines};
use crate::shape::{Shape, ShapeKind};
use crate::solver::midpoint::NOT_BEHIND;
use crate::trig::{sin_cos, wrap};
use bytemuck::{Pod, Zeroable};
use glam::Vec2;

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    /// By forces and contacts.
    Dynamic,
    /// Not at all.
    Static,
    /// By its velocity alone: contacts do not change it.
    Kinematic,
}

/// Which pairs may touch: `a` and `b` do if each one's category is in the other's mask, and they are not of one
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The layers that the body is in. Default 1.
    pub category: u32,
    /// The layers that it touches. Default all.
    pub mask: u32,
    /// Bodies of one group do not touch each other: the points of one cloth, the limbs of one ragdoll. 0, the
    /// default, is no group.
    pub group: u32,
}

impl Filter {
    /// Whether what has this filter may touch what has the other.
    pub(crate) fn touches(&self, other: &Filter) -> bool {
        (self.category & other.mask) != 0
            && (other.category & self.mask) != 0
            && (self.group == 0 || self.group != other.group)
    }
}

impl Default for Filter {
    fn default() -> Self {
        Filter { category: 1, mask: u32::MAX, group: 0 }
    }
}

/// Names a body for as long as it lives. A removed body's handle is an error, never another body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct BodyHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl BodyHandle {
    /// Of no body.
    const NONE: BodyHandle = BodyHandle { index: u32::MAX, generation: u32::MAX };

    /// The place in the handle table: in a world from which nothing was removed, the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many bodies had this index before.
    pub fn generation(self) -> u32 {
        self.generation
    }

    /// The handle with these parts. A wrong one is refused wherever it is used.
    pub fn from_parts(index: u32, generation: u32) -> Self {
        BodyHandle { index, generation }
    }
}

/// What a body is at the start. Metres, radians, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyDesc {
    /// How it moves.
    pub body_type: BodyType,
    /// Its shape, centred on `position`.
    pub shape: Shape,
    /// Of the centre.
    pub position: Vec2,
    /// Counter-clockwise. An `Aabb` keeps it but does not turn. More than half a turn counts as whole turns and the rest: see
    /// [`BodyState`].
    pub angle: f32,
    /// Of the centre, m/s.
    pub velocity: Vec2,
    /// Counter-clockwise, rad/s.
    pub angular_velocity: f32,
    /// Surface and density.
    pub material: Material,
    /// Which others it touches.
    pub filter: Filter,
    /// Multiplies gravity. Default 1.
    pub gravity_scale: f32,
    /// Rate at which velocity decays, 1/s. Default 0.
    pub linear_damping: f32,
    /// Rate at which angular velocity decays, 1/s. Default 0.
    pub angular_damping: f32,
    /// Instead of density × area. 0 is infinite.
    pub mass: Option<f32>,
    /// Contacts and torques do not turn it.
    pub fixed_rotation: bool,
}

impl BodyDesc {
    fn new(body_type: BodyType, shape: Shape, position: Vec2) -> Self {
        BodyDesc {
            body_type,
            shape,
            position,
            angle: 0.0,
            velocity: Vec2::ZERO,
            angular_velocity: 0.0,
            material: Material::default(),
            filter: Filter::default(),
            gravity_scale: 1.0,
            linear_damping: 0.0,
            angular_damping: 0.0,
            mass: None,
            fixed_rotation: false,
        }
    }

    /// A dynamic body at rest.
    pub fn dynamic(shape: Shape, position: Vec2) -> Self {
        Self::new(BodyType::Dynamic, shape, position)
    }

    /// A static body.
    pub fn fixed(shape: Shape, position: Vec2) -> Self {
        Self::new(BodyType::Static, shape, position)
    }

    /// A kinematic body.
    pub fn kinematic(shape: Shape, position: Vec2) -> Self {
        Self::new(BodyType::Kinematic, shape, position)
    }

    /// A particle of this mass, kg: dynamic, of the default radius 0.05 m.
    pub fn particle(position: Vec2, mass: f32) -> Self {
        let shape = Shape::particle(Self::PARTICLE_RADIUS);
        BodyDesc { mass: Some(mass), ..Self::new(BodyType::Dynamic, shape, position) }
    }

    /// Radius of [`BodyDesc::particle`], m.
    pub const PARTICLE_RADIUS: f32 = 0.05;

    /// The same body, but nothing moves it: kinematic, at rest. What is linked to it hangs from it.
    pub fn pinned(self) -> Self {
        BodyDesc { body_type: BodyType::Kinematic, velocity: Vec2::ZERO, angular_velocity: 0.0, ..self }
    }

    /// Whether it is a particle.
    pub fn is_particle(&self) -> bool {
        self.shape.kind() == ShapeKind::Particle
    }

    /// # Errors
    ///
    /// The first field that is not finite or out of range; a half-space that is not static; a static
    /// body that has a velocity.
    pub fn validate(&self) -> Result<(), Error> {
        self.shape.validate()?;
        self.material.validate()?;
        check_vec("position", self.position, MAX_COORDINATE)?;
        check_range("angle", self.angle, -MAX_COORDINATE, MAX_COORDINATE)?;
        check_vec("velocity", self.velocity, MAX_SPEED)?;
        check_range("angular_velocity", self.angular_velocity, -MAX_SPEED, MAX_SPEED)?;
        check_range("gravity_scale", self.gravity_scale, -1.0e3, 1.0e3)?;
        check_range("linear_damping", self.linear_damping, 0.0, 1.0e6)?;
        check_range("angular_damping", self.angular_damping, 0.0, 1.0e6)?;
        if let Some(mass) = self.mass {
            check_range("mass", mass, 0.0, 1.0e18)?;
            if mass != 0.0 && mass < 1.0e-18 {
                return Err(Error::OutOfRange { field: "mass", value: mass, min: 1.0e-18, max: 1.0e18 });
            }
        }
        let fixed = self.body_type == BodyType::Static;
        if self.shape.kind() == ShapeKind::HalfSpace && !fixed {
            return Err(Error::Invalid {
                field: "shape.half_space",
                reason: "only a static body can be one",
            });
        }
        if self.shape.kind() == ShapeKind::ChainSegment && self.body_type == BodyType::Dynamic {
            return Err(Error::Invalid {
                field: "shape.chain_segment",
                reason: "only a static or kinematic body can be one",
            });
        }
        if fixed && (self.velocity != Vec2::ZERO || self.angular_velocity != 0.0) {
            return Err(Error::Invalid { field: "velocity", reason: "a static body has none" });
        }
        Ok(())
    }
}

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Of the centre, m.
    pub position: Vec2,
    /// Counter-clockwise, rad, in [−π, π]: how the body is turned now. It is as exact after a million turns as before the
    /// first.
    pub angle: f32,
    /// Whole turns besides, counter-clockwise. After 2³¹ of them the count goes on at −2³¹.
    pub turns: i32,
    /// Of the centre at the end of the last step, m/s: what `World::set_velocity` sets.
    pub velocity: Vec2,
    /// Counter-clockwise, rad/s.
    pub angular_velocity: f32,
}

impl BodyState {
    /// How far the body has turned in all, whole turns included, rad: counted from the angle that it was given.
    pub fn total_angle(&self) -> f64 {
        f64::from(self.turns) * std::f64::consts::TAU + f64::from(self.angle)
    }
}

/// Largest accepted coordinate, m. A body that gets beyond it is quarantined.
pub(crate) const MAX_COORDINATE: f32 = 1.0e7;
/// Largest accepted speed, m/s and rad/s.
pub(crate) const MAX_SPEED: f32 = 1.0e6;
/// Speed beyond which a body has gone bad, m/s.
pub(crate) const RUNAWAY_SPEED: f32 = 1.0e8;
/// Slots are counted in 32 bits, with room for the padding rows of the solver's mirror.
pub(crate) const MAX_BODIES: usize = 1 << 27;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Motion {
    Static = 0,
    Kinematic = 1,
    Dynamic = 2,
    /// Went bad: frozen where it was last seen, out of all contacts.
    Quarantined = 3,
    /// Removed: nobody's slot until the next rebuild.
    Dead = 4,
}

/// [`Motion`], [`ShapeKind`] and a flag in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(u8);

const MOTION_SHIFT: u8 = 4;
const SHAPE_MASK: u8 = 15;
const GENERAL: u8 = 1 << 7;

impl Kind {
    pub(crate) fn new(motion: Motion, shape: ShapeKind) -> Self {
        Kind((motion as u8) << MOTION_SHIFT | shape as u8)
    }

    /// The same, but of contacts that no special kernel has: see [`Kind::is_general`].
    pub(crate) fn general(self) -> Self {
        Kind(self.0 | GENERAL)
    }

    pub(crate) fn motion(self) -> Motion {
        match self.0 >> MOTION_SHIFT & 7 {
            0 => Motion::Static,
            1 => Motion::Kinematic,
            2 => Motion::Dynamic,
            3 => Motion::Quarantined,
            _ => Motion::Dead,
        }
    }

    pub(crate) fn shape(self) -> ShapeKind {
        ShapeKind::from_number(self.0 & SHAPE_MASK)
    }

    /// Whether contacts of this body need the kernels with arms: it turns about a centre that the contact's normal
    /// may miss, brakes rolling, conveys, or is round and must not turn.
    pub(crate) fn is_general(self) -> bool {
        self.shape().turns() || self.0 & GENERAL != 0
    }

    pub(crate) fn is_round(self) -> bool {
        matches!(self.shape(), ShapeKind::Circle | ShapeKind::Particle)
    }

    pub(crate) fn is_particle(self) -> bool {
        self.shape() == ShapeKind::Particle
    }

    /// Takes part in contacts.
    pub(crate) fn is_solid(self) -> bool {
        self.0 >> MOTION_SHIFT & 7 < Motion::Quarantined as u8
    }

    fn with_motion(self, motion: Motion) -> Self {
        Kind(self.0 & (SHAPE_MASK | GENERAL) | (motion as u8) << MOTION_SHIFT)
    }

    fn with_shape(self, shape: ShapeKind) -> Self {
        Kind(self.0 & !SHAPE_MASK | shape as u8)
    }
}

impl Default for Kind {
    fn default() -> Self {
        Kind::new(Motion::Dead, ShapeKind::Circle)
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// The columns. All have the same padded length.
        #[derive(Default)]
        pub(crate) struct ColumnSet {
            $($(#[$doc])* pub(crate) $name: Vec<$type>,)*
        }

        impl ColumnSet {
            fn resize(&mut self, len: usize) {
                $(self.$name.resize(len, Default::default());)*
            }

            fn reserve(&mut self, more: usize) {
                $(self.$name.reserve(more);)*
            }

            /// Slot `i` of the result is slot `order[i]` of the present; then padding to `len`.
            fn permute(&mut self, order: &[u32], len: usize, spare: &mut Spare) {
                $(permute(&mut self.$name, order, len, spare);)*
            }

            /// Puts defaults into a slot.
            fn clear_slot(&mut self, slot: usize) {
                $(self.$name[slot] = Default::default();)*
            }

            /// Moves a slot's values to another, and leaves defaults.
            fn move_slot(&mut self, from: usize, to: usize) {
                $(self.$name[to] = std::mem::take(&mut self.$name[from]);)*
            }

            /// Visits each column: its name, its length, and whether all from `len` on are defaults.
            fn each_column(
                &self,
                len: usize,
                mut visit: impl FnMut(&str, usize, bool) -> Result<(), String>,
            ) -> Result<(), String> {
                $({
                    let default = <$type>::default();
                    let inert = self.$name.iter().skip(len).all(|value| *value == default);
                    visit(stringify!($name), self.$name.len(), inert)?;
                })*
                Ok(())
            }
        }
    };
}

columns! {
    pos_x: f32,
    pos_y: f32,
    /// Radians, counter-clockwise, in [−π, π]. In one number with the whole turns it would lose its digits: after 200 s at
    /// 1,000 rad/s, 0.4 rad/s turned nothing any more.
    angle: f32,
    /// Whole turns.
    turns: i32,
    vel_x: f32,
    vel_y: f32,
    omega: f32,
    /// Force and torque for the next step.
    force_x: f32,
    force_y: f32,
    torque: f32,
    /// 0 for static, kinematic, infinite and padding bodies.
    inv_mass: f32,
    inv_inertia: f32,
    /// Radius twice, half extents, or unit normal: see `shape.rs`.
    ext_x: f32,
    ext_y: f32,
    /// A half-space's offset along its normal, from the origin.
    ext_z: f32,
    /// The length by which the solver measures spin, ω·radius: √(2·I/m), which is a circle's radius. 0 for what
    /// does not turn; 1 for what nothing but its own velocity turns.
    radius: f32,
    /// Distance from the centre to the furthest point of a shape that turns; 0 for others.
    arm: f32,
    /// Number of the shape in the world's outlines, or of the compound. Only of shapes that turn.
    outline: u32,
    gravity_scale: f32,
    /// The part of gravity that a particle followed in the last step, see `solver/midpoint.rs`.
    follows: f32,
    linear_damping: f32,
    angular_damping: f32,
    /// Into the table of distinct materials.
    material: u32,
    category: u32,
    mask: u32,
    group: u32,
    /// As hosts read it.
    handle: BodyHandle,
    kind: Kind,
}

/// Room for one column while it is permuted. Columns and spares swap places, so nothing is copied twice.
#[derive(Default)]
struct Spare {
    f32s: Vec<f32>,
    u32s: Vec<u32>,
    i32s: Vec<i32>,
    handles: Vec<BodyHandle>,
    kinds: Vec<Kind>,
}

trait SpareFor: Copy + Default {
    fn of(spare: &mut Spare) -> &mut Vec<Self>;
}

impl SpareFor for f32 {
    fn of(spare: &mut Spare) -> &mut Vec<f32> {
        &mut spare.f32s
    }
}

impl SpareFor for u32 {
    fn of(spare: &mut Spare) -> &mut Vec<u32> {
        &mut spare.u32s
    }
}

impl SpareFor for i32 {
    fn of(spare: &mut Spare) -> &mut Vec<i32> {
        &mut spare.i32s
    }
}

impl SpareFor for BodyHandle {
    fn of(spare: &mut Spare) -> &mut Vec<BodyHandle> {
        &mut spare.handles
    }
}

impl SpareFor for Kind {
    fn of(spare: &mut Spare) -> &mut Vec<Kind> {
        &mut spare.kinds
    }
}

fn permute<T: SpareFor>(column: &mut Vec<T>, order: &[u32], len: usize, spare: &mut Spare) {
    let spare = T::of(spare);
    spare.clear();
    spare.reserve(column.capacity()); // all columns' capacities agree, so this settles
    spare.extend(order.iter().map(|&old| column[old as usize]));
    spare.resize(len, T::default());
    std::mem::swap(column, spare);
}

/// All bodies of a world.
#[derive(Default)]
pub(crate) struct Bodies {
    pub(crate) columns: ColumnSet,
    /// Slots in use, dead ones included.
    pub(crate) len: usize,
    /// Slot of each handle index; `NO_SLOT` if free.
    slot: Vec<u32>,
    generation: Vec<u32>,
    /// Free handle indices, last freed first.
    free: Vec<u32>,
    /// Distinct materials, by the numbers in the column; those of numbers that are free are out of use.
    materials: Vec<Material>,
    material_numbers: Interner<[u32; 6]>,
    spare: Spare,
    pub(crate) outlines: Outlines,
    pub(crate) compounds: Vec<Compound>,
    /// Compounds whose bodies were removed.
    free_compounds: Vec<u32>,
    /// Whether there ever was a body whose contacts need arms. This and the other `any_`s are set by what is added, and stay:
    /// they cost time, and change no result.
    pub(crate) any_general: bool,
    /// Whether a material that brakes rolling or conveys ever was in use.
    pub(crate) any_rough: bool,
    /// Live bodies that are static and no particles.
    pub(crate) static_count: usize,
    /// Live bodies that are neither.
    pub(crate) moving_count: usize,
    /// Live particles, the pinned ones too.
    pub(crate) particle_count: usize,
    /// Whether any body was ever added with damping.
    pub(crate) any_damping: bool,
    /// Whether any body ever had a filter that excludes something.
    pub(crate) any_filter: bool,
    /// Whether a material with restitution ever was in use.
    pub(crate) any_restitution: bool,
    /// Whether a force or torque waits for the next step.
    pub(crate) any_force: bool,
    /// The bodies that are dynamic, were given no mass, and have none of their shape.
    massless: Vec<Massless>,
    /// Whether the particle of this handle index is a corner of a hull, and touches as part of it only. Empty where there are
    /// no hulls.
    pub(crate) corners: Vec<bool>,
}

/// A body that has the mass of the parts that it gets: until then an infinite one.
struct Massless {
    body: BodyHandle,
    fixed_rotation: bool,
}

/// A mass below this is as good as none.
const LEAST_MASS: f32 = 1.0e-18;

const NO_SLOT: u32 = u32::MAX;
/// Of a shape that has no outline in the world's table, or not yet.
pub(crate) const NO_OUTLINE: u32 = u32::MAX;

impl Bodies {
    /// Room for `more` bodies, so that adding them does not grow the columns one by one.
    pub(crate) fn reserve(&mut self, more: usize) {
        let wanted = padded(self.len + more);
        self.columns.reserve(wanted.saturating_sub(self.columns.pos_x.len()));
        self.slot.reserve(more);
        self.generation.reserve(more);
    }

    /// Adds a body that was validated.
    pub(crate) fn insert(&mut self, desc: &BodyDesc) -> BodyHandle {
        let slot = self.len;
        self.len += 1;
        if self.len > self.columns.pos_x.len() {
            self.columns.resize(padded(self.len));
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.slot.push(NO_SLOT);
            self.generation.push(0);
            (self.slot.len() - 1) as u32
        });
        let generation = self.generation[index as usize];
        self.slot[index as usize] = slot as u32;
        let material = self.acquire_material(desc.material);
        let (inv_mass, inv_inertia) = inverse_mass(desc);
        let ext = desc.shape.extents();
        let motion = match desc.body_type {
            BodyType::Static => Motion::Static,
            BodyType::Kinematic => Motion::Kinematic,
            BodyType::Dynamic => Motion::Dynamic,
        };
        let c = &mut self.columns;
        c.pos_x[slot] = desc.position.x;
        c.pos_y[slot] = desc.position.y;
        (c.angle[slot], c.turns[slot]) = wrap(f64::from(desc.angle));
        c.vel_x[slot] = desc.velocity.x;
        c.vel_y[slot] = desc.velocity.y;
        c.omega[slot] = desc.angular_velocity;
        c.force_x[slot] = 0.0;
        c.force_y[slot] = 0.0;
        c.torque[slot] = 0.0;
        c.inv_mass[slot] = inv_mass;
        c.inv_inertia[slot] = inv_inertia;
        c.ext_x[slot] = ext.x;
        c.ext_y[slot] = ext.y;
        c.ext_z[slot] = match desc.shape {
            Shape::HalfSpace { offset, .. } => offset + ext.dot(desc.position),
            _ => 0.0,
        };
        c.radius[slot] = spin_length(&desc.shape, inv_mass, inv_inertia, desc.fixed_rotation);
        (c.arm[slot], c.outline[slot]) = (0.0, NO_OUTLINE);
        c.gravity_scale[slot] = desc.gravity_scale;
        c.follows[slot] = if desc.is_particle() && inv_mass > 0.0 { 1.0 } else { NOT_BEHIND };
        c.linear_damping[slot] = desc.linear_damping;
        c.angular_damping[slot] = desc.angular_damping;
        c.material[slot] = material;
        c.category[slot] = desc.filter.category;
        c.mask[slot] = desc.filter.mask;
        c.group[slot] = desc.filter.group;
        c.handle[slot] = BodyHandle { index, generation };
        let round = desc.shape.kind() == ShapeKind::Circle;
        let kind = Kind::new(motion, desc.shape.kind());
        let general = desc.material.is_rough() || (round && desc.fixed_rotation && inv_mass > 0.0);
        c.kind[slot] = if general { kind.general() } else { kind };
        if desc.shape.kind().turns() {
            let outline = self.outlines.acquire(&desc.shape);
            c.outline[slot] = outline;
            c.arm[slot] = self.outlines.outline(outline).reach();
        }
        self.any_general |= c.kind[slot].is_general();
        self.any_rough |= desc.material.is_rough();
        self.any_damping |= desc.linear_damping != 0.0 || desc.angular_damping != 0.0;
        self.any_filter |= desc.filter != Filter::default();
        self.any_restitution |= desc.material.restitution > 0.0;
        *self.count_of(slot) += 1;
        let body = BodyHandle { index, generation };
        if desc.body_type == BodyType::Dynamic && desc.mass.is_none() && desc.shape.area() == 0.0 {
            self.massless.push(Massless { body, fixed_rotation: desc.fixed_rotation });
        }
        body
    }

    /// Frees the handle and leaves a dead slot.
    pub(crate) fn remove(&mut self, handle: BodyHandle) -> Result<(), Error> {
        let slot = self.slot_of(handle)?;
        *self.count_of(slot) -= 1;
        self.release_tables(slot);
        let c = &mut self.columns;
        c.kind[slot] = c.kind[slot].with_motion(Motion::Dead);
        c.inv_mass[slot] = 0.0;
        c.inv_inertia[slot] = 0.0;
        let index = handle.index as usize;
        self.slot[index] = NO_SLOT;
        // After 2³² lives the first handle would be valid again: such an index is retired instead.
        if let Some(next) = self.generation[index].checked_add(1) {
            self.generation[index] = next;
            self.free.push(handle.index);
        }
        Ok(())
    }

    /// Makes a removed body's slot inert while the list that it is in lives.
    pub(crate) fn bury(&mut self, slot: usize) {
        let c = &mut self.columns;
        let (handle, x, y) = (c.handle[slot], c.pos_x[slot], c.pos_y[slot]);
        c.clear_slot(slot);
        (c.handle[slot], c.pos_x[slot], c.pos_y[slot]) = (handle, x, y);
        c.follows[slot] = NOT_BEHIND;
    }

    /// Adds slots without bodies.
    pub(crate) fn add_vacant(&mut self, count: usize) {
        let slots = self.len..self.len + count;
        self.len = slots.end;
        self.columns.resize(padded(self.len).max(self.columns.pos_x.len()));
        for slot in slots {
            self.columns.handle[slot] = BodyHandle::NONE;
            self.columns.follows[slot] = NOT_BEHIND;
        }
    }

    /// Moves a body to a slot without one.
    pub(crate) fn move_to(&mut self, from: usize, to: usize) {
        self.columns.move_slot(from, to);
        self.slot[self.columns.handle[to].index as usize] = to as u32;
    }

    /// Drops the slots from `len` on, whose bodies were moved or removed.
    pub(crate) fn truncate(&mut self, len: usize) {
        (len..self.len).for_each(|slot| self.columns.clear_slot(slot));
        self.len = len;
        self.columns.resize(padded(len));
    }

    /// Gives up a slot's outlines, materials, compound, and what else there is of it in tables.
    fn release_tables(&mut self, slot: usize) {
        if let Some(entry) = self.massless_of(slot) {
            self.massless.swap_remove(entry);
        }
        let c = &mut self.columns;
        self.material_numbers.release(c.material[slot]);
        let number = std::mem::replace(&mut c.outline[slot], NO_OUTLINE);
        if c.kind[slot].shape() == ShapeKind::Compound {
            for placed in std::mem::take(&mut self.compounds[number as usize].parts) {
                self.outlines.release(placed.outline);
                self.material_numbers.release(placed.material);
            }
            self.free_compounds.push(number);
        } else if number != NO_OUTLINE {
            self.outlines.release(number);
        }
    }

    /// The count that a slot's body belongs to.
    fn count_of(&mut self, slot: usize) -> &mut usize {
        if self.columns.kind[slot].is_particle() {
            &mut self.particle_count
        } else if self.body_type(slot) == BodyType::Static {
            &mut self.static_count
        } else {
            &mut self.moving_count
        }
    }

    /// Freezes a body that has gone bad at its last good position.
    pub(crate) fn quarantine(&mut self, slot: usize) {
        let c = &mut self.columns;
        c.kind[slot] = c.kind[slot].with_motion(Motion::Quarantined);
        for column in [&mut c.vel_x, &mut c.vel_y, &mut c.omega, &mut c.inv_mass, &mut c.inv_inertia] {
            column[slot] = 0.0;
        }
        c.follows[slot] = NOT_BEHIND;
        for column in [&mut c.force_x, &mut c.force_y, &mut c.torque] {
            column[slot] = 0.0;
        }
    }

    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub(crate) fn slot_of(&self, handle: BodyHandle) -> Result<usize, Error> {
        let stale = Error::StaleHandle { index: handle.index, generation: handle.generation };
        let index = handle.index as usize;
        match self.slot.get(index) {
            Some(&slot) if slot != NO_SLOT && self.generation[index] == handle.generation => {
                Ok(slot as usize)
            }
            _ => Err(stale),
        }
    }

    /// The slot of a handle's index.
    pub(crate) fn slot_at(&self, index: u32) -> Option<usize> {
        self.slot.get(index as usize).filter(|&&slot| slot != NO_SLOT).map(|&slot| slot as usize)
    }

    /// Whether this is a particle that touches as part of a hull only.
    #[inline]
    pub(crate) fn is_corner(&self, slot: usize) -> bool {
        !self.corners.is_empty()
            && self.corners.get(self.columns.handle[slot].index as usize).copied().unwrap_or(false)
    }

    /// Whether bodies need no look at filters, parts, arms or hulls: most worlds.
    pub(crate) fn is_plain(&self) -> bool {
        !self.any_general && !self.any_filter && self.corners.is_empty()
    }

    /// Whether the filters of two bodies, not of their parts, let them touch.
    #[inline(always)]
    pub(crate) fn filters_meet(&self, a: usize, b: usize) -> bool {
        let c = &self.columns;
        !self.any_filter
            || ((c.category[a] & c.mask[b]) != 0
                && (c.category[b] & c.mask[a]) != 0
                && (c.group[a] == 0 || c.group[a] != c.group[b]))
    }

    /// The handle of a slot's body.
    pub(crate) fn handle(&self, slot: usize) -> BodyHandle {
        self.columns.handle[slot]
    }

    /// Handles and slots in handle order.
    pub(crate) fn by_index(&self) -> impl Iterator<Item = (BodyHandle, usize)> + '_ {
        self.slot.iter().enumerate().filter(|&(_, &slot)| slot != NO_SLOT).map(|(index, &slot)| {
            (BodyHandle { index: index as u32, generation: self.generation[index] }, slot as usize)
        })
    }

    pub(crate) fn body_type(&self, slot: usize) -> BodyType {
        match self.columns.kind[slot].motion() {
            Motion::Static => BodyType::Static,
            Motion::Kinematic => BodyType::Kinematic,
            _ => BodyType::Dynamic,
        }
    }

    pub(crate) fn shape(&self, slot: usize) -> Shape {
        let ext = Vec2::new(self.columns.ext_x[slot], self.columns.ext_y[slot]);
        match self.columns.kind[slot].shape() {
            ShapeKind::Circle => Shape::Circle { radius: ext.x },
            ShapeKind::Particle => Shape::Particle { radius: ext.x },
            ShapeKind::Aabb => Shape::Aabb { half_extents: ext },
            ShapeKind::HalfSpace => {
                let offset = self.columns.ext_z[slot] - ext.dot(self.position(slot));
                Shape::HalfSpace { normal: ext, offset }
            }
            ShapeKind::Compound => self.compounds[self.columns.outline[slot] as usize].parts[0].part.shape,
            _ => self.outlines.shape(self.columns.outline[slot]),
        }
    }

    /// The parts of a body of several shapes; empty for the others.
    pub(crate) fn parts(&self, slot: usize) -> &[Placed] {
        if self.columns.kind[slot].shape() != ShapeKind::Compound {
            return &[];
        }
        &self.compounds[self.columns.outline[slot] as usize].parts
    }

    /// Mass and centre, in the axes that it has, of a body that forces move, with these parts. `None` if its mass is infinite.
    pub(crate) fn mass_with(&self, slot: usize, parts: &[Part]) -> Option<Mass> {
        let c = &self.columns;
        if c.kind[slot].motion() != Motion::Dynamic {
            return None;
        }
        if c.inv_mass[slot] == 0.0 && self.massless_of(slot).is_none() {
            return None;
        }
        let mass = parts.iter().fold(self.mass(slot), |mass, part| mass.with(Mass::of(part)));
        (mass.mass >= f64::from(LEAST_MASS)).then_some(mass)
    }

    /// The entry of a body whose shape has no mass.
    fn massless_of(&self, slot: usize) -> Option<usize> {
        self.massless.iter().position(|massless| massless.body == self.columns.handle[slot])
    }

    /// Adds parts, which were validated, to a body that is not a half-space, a particle, an axis-aligned box or a
    /// chain's segment; their places are from its centre as it is. With a `mass`, see [`Bodies::mass_with`], its centre
    /// becomes that of `moved`.
    pub(crate) fn add_parts(&mut self, slot: usize, parts: &[Part], mass: Option<Mass>, moved: &BodyState) {
        let c = &self.columns;
        let kind = c.kind[slot];
        if kind.shape() != ShapeKind::Compound {
            let filter = Filter { category: c.category[slot], mask: c.mask[slot], group: c.group[slot] };
            let material = self.material(slot);
            let first = Part { shape: self.shape(slot), position: Vec2::ZERO, angle: 0.0, material, filter };
            let first = self.placed(&first);
            let compound = Compound { parts: vec![first], ..Compound::default() };
            let number = self.free_compounds.pop().unwrap_or_else(|| {
                self.compounds.push(Compound::default());
                (self.compounds.len() - 1) as u32
            });
            self.compounds[number as usize] = compound;
            let alone = std::mem::replace(&mut self.columns.outline[slot], number);
            if alone != NO_OUTLINE {
                self.outlines.release(alone);
            }
            self.columns.kind[slot] = kind.with_shape(ShapeKind::Compound);
        }
        let placed: Vec<Placed> = parts.iter().map(|part| self.placed(part)).collect();
        let massless = self.massless_of(slot);
        let number = self.columns.outline[slot] as usize;
        let compound = &mut self.compounds[number];
        compound.parts.extend(placed);
        let c = &mut self.columns;
        if let Some(mass) = mass {
            compound.shift_centre(mass.centre.as_vec2());
            (c.pos_x[slot], c.pos_y[slot]) = moved.position.into();
            (c.vel_x[slot], c.vel_y[slot]) = moved.velocity.into();
            c.inv_mass[slot] = (1.0 / mass.mass) as f32;
            let turns = match massless {
                Some(entry) => !self.massless.swap_remove(entry).fixed_rotation,
                None => c.inv_inertia[slot] > 0.0,
            };
            if turns {
                c.inv_inertia[slot] = (1.0 / mass.inertia) as f32;
                c.radius[slot] = (2.0 * mass.inertia / mass.mass).sqrt() as f32;
            } else {
                c.radius[slot] = 0.0;
            }
        } else {
            c.radius[slot] = 1.0;
        }
        c.arm[slot] = compound.reach();
        self.any_general = true;
        for part in parts {
            self.any_rough |= part.material.is_rough();
            self.any_restitution |= part.material.restitution > 0.0;
            self.any_filter |= part.filter != Filter::default();
        }
    }

    /// Sets the filter of a body and of all its parts.
    pub(crate) fn set_filter(&mut self, slot: usize, filter: Filter) {
        let c = &mut self.columns;
        (c.category[slot], c.mask[slot], c.group[slot]) = (filter.category, filter.mask, filter.group);
        self.any_filter |= filter != Filter::default();
        if c.kind[slot].shape() == ShapeKind::Compound {
            for placed in &mut self.compounds[c.outline[slot] as usize].parts {
                placed.part.filter = filter;
            }
        }
    }

    fn placed(&mut self, part: &Part) -> Placed {
        let outline = self.outlines.acquire(&part.shape);
        let reach = self.outlines.outline(outline).reach();
        let material = self.acquire_material(part.material);
        Placed { part: *part, outline, material, turn: turn_of(part), reach }
    }

    /// The same for one body.
    pub(crate) fn update_extents(&mut self, slot: usize) {
        if self.columns.kind[slot].shape().turns() {
            (self.columns.ext_x[slot], self.columns.ext_y[slot]) = self.bounds(slot).into();
        }
    }

    /// Half extents of the smallest box about the centre, with the axes, that holds a body's shapes now. It is no
    /// half-space.
    pub(crate) fn bounds(&self, slot: usize) -> Vec2 {
        if !self.columns.kind[slot].shape().turns() {
            return Vec2::new(self.columns.ext_x[slot], self.columns.ext_y[slot]);
        }
        let mut half = Vec2::ZERO;
        self.visit_outlines(slot, |outline, centre, turn| {
            half = half.max(outline.bounds(turn, centre));
            true
        });
        half
    }

    /// Visits the outlines of a body that turns, each with its offset from the body's centre and its (sin, cos),
    /// until `visit` returns false; then returns false.
    pub(crate) fn visit_outlines(
        &self,
        slot: usize,
        mut visit: impl FnMut(&Outline, Vec2, (f32, f32)) -> bool,
    ) -> bool {
        let turn = sin_cos(self.columns.angle[slot]);
        if self.columns.kind[slot].shape() != ShapeKind::Compound {
            return visit(self.outlines.outline(self.columns.outline[slot]), Vec2::ZERO, turn);
        }
        self.parts(slot).iter().all(|placed| {
            let (offset, turn) = Compound::place(placed, turn);
            visit(self.outlines.outline(placed.outline), offset, turn)
        })
    }

    /// Of a dynamic body, in its own axes.
    fn mass(&self, slot: usize) -> Mass {
        let inverse = |value: f32| if value > 0.0 { 1.0 / f64::from(value) } else { 0.0 };
        let c = &self.columns;
        Mass {
            mass: inverse(c.inv_mass[slot]),
            centre: glam::DVec2::ZERO,
            inertia: inverse(c.inv_inertia[slot]),
        }
    }

    /// The row of a compound's first part among the rows by shape.
    pub(crate) fn part_row(&self, slot: usize) -> u32 {
        self.compounds[self.columns.outline[slot] as usize].first_row
    }

    /// Parts of all compounds.
    pub(crate) fn part_count(&self) -> usize {
        self.compounds.iter().map(|compound| compound.parts.len()).sum()
    }

    /// Gives the parts of all compounds their rows, from `first` on, and returns the end of these.
    pub(crate) fn place_parts(&mut self, first: usize) -> usize {
        let mut next = first as u32;
        for compound in &mut self.compounds {
            compound.first_row = next;
            next += compound.parts.len() as u32;
        }
        next as usize
    }

    /// Gives an axis-aligned box its outline.
    fn outline_box(&mut self, slot: usize) {
        let kind = self.columns.kind[slot];
        if kind.shape() == ShapeKind::Aabb
            && kind.motion() != Motion::Dead
            && self.columns.outline[slot] == NO_OUTLINE
        {
            self.columns.outline[slot] = self.outlines.acquire(&self.shape(slot));
        }
    }

    /// What a pair list needs of one body that comes to it: see [`Bodies::prepare_outlines`].
    pub(crate) fn prepare_outline(&mut self, slot: usize) {
        if self.outlines.any_hull {
            self.outline_box(slot);
        }
        if self.any_general {
            self.update_extents(slot);
        }
    }

    /// What a new pair list needs of shapes that turn: their extents at their present angle, and outlines of
    /// axis-aligned boxes where these may meet outlines that are no boxes.
    pub(crate) fn prepare_outlines(&mut self, crew: &Crew<'_>) {
        if !self.any_general {
            return;
        }
        if self.outlines.any_hull {
            (0..self.len).for_each(|slot| self.outline_box(slot));
        }
        let (outlines, compounds) = (&self.outlines, &self.compounds);
        let c = &mut self.columns;
        let (kind, angle, outline) = (&c.kind, &c.angle, &c.outline);
        let (ext_x, ext_y) = (SharedSlice::new(&mut c.ext_x), SharedSlice::new(&mut c.ext_y));
        crew.chunks(self.len, crate::broadphase::CHUNK, |range| {
            #[allow(unsafe_code)]
            // SAFETY: chunks are disjoint.
            let (ext_x, ext_y) = unsafe { (ext_x.range(range.clone()), ext_y.range(range.clone())) };
            for (i, slot) in range.enumerate() {
                // What was removed has no outline any more.
                if kind[slot].shape().turns() && kind[slot].motion() != Motion::Dead {
                    let turn = sin_cos(angle[slot]);
                    let half = if kind[slot].shape() == ShapeKind::Compound {
                        compounds[outline[slot] as usize].bounds(turn)
                    } else {
                        outlines.outline(outline[slot]).bounds(turn, Vec2::ZERO)
                    };
                    (ext_x[i], ext_y[i]) = half.into();
                }
            }
        });
    }

    pub(crate) fn position(&self, slot: usize) -> Vec2 {
        Vec2::new(self.columns.pos_x[slot], self.columns.pos_y[slot])
    }

    pub(crate) fn velocity(&self, slot: usize) -> Vec2 {
        Vec2::new(self.columns.vel_x[slot], self.columns.vel_y[slot])
    }

    pub(crate) fn material(&self, slot: usize) -> Material {
        self.materials[self.columns.material[slot] as usize]
    }

    /// The distinct materials, by the numbers in the column.
    pub(crate) fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// Puts the slots into this order, dropping those not named, and updates the handle table.
    pub(crate) fn permute(&mut self, order: &[u32]) {
        self.columns.permute(order, padded(order.len()), &mut self.spare);
        self.len = order.len();
        for (slot, handle) in self.columns.handle[..self.len].iter().enumerate() {
            self.slot[handle.index as usize] = slot as u32;
        }
    }

    /// How many numbers of materials there are, and how many are in use.
    pub(crate) fn material_counts(&self) -> [usize; 2] {
        [self.material_numbers.len(), self.material_numbers.used()]
    }

    /// Handles that there is room for, and slots, dead ones included.
    pub(crate) fn table_lengths(&self) -> [usize; 2] {
        [self.slot.len(), self.len]
    }

    /// The number of a material, one for all bodies that have the same, for a user more.
    fn acquire_material(&mut self, material: Material) -> u32 {
        let Material {
            density,
            static_friction,
            dynamic_friction,
            restitution,
            rolling_resistance,
            tangent_speed,
        } = material;
        let bits =
            [density, static_friction, dynamic_friction, restitution, rolling_resistance, tangent_speed]
                .map(f32::to_bits);
        let (number, new) = self.material_numbers.acquire(bits);
        if new {
            put(&mut self.materials, number, material);
        }
        number
    }
}

/// Inverse mass and inertia of a new body.
fn inverse_mass(desc: &BodyDesc) -> (f32, f32) {
    if desc.body_type != BodyType::Dynamic {
        return (0.0, 0.0);
    }
    let mass = desc.mass.unwrap_or(desc.material.density * desc.shape.area());
    // A density so small that the mass underflows is as good as none.
    if mass < LEAST_MASS {
        return (0.0, 0.0);
    }
    let inertia = if desc.fixed_rotation { f32::INFINITY } else { desc.shape.inertia(mass) };
    (1.0 / mass, 1.0 / inertia)
}

/// See the column `radius`.
fn spin_length(shape: &Shape, inv_mass: f32, inv_inertia: f32, fixed_rotation: bool) -> f32 {
    match *shape {
        Shape::Circle { .. } if fixed_rotation && inv_mass > 0.0 => 0.0,
        Shape::Circle { radius } => radius,
        _ if !shape.kind().turns() => 0.0,
        _ if inv_mass == 0.0 => 1.0,
        _ if inv_inertia == 0.0 => 0.0,
        _ => (2.0 * inv_mass / inv_inertia).sqrt(),
    }
}
