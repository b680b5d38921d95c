//! Bodies: one column per scalar, and generational handles.
//!
//! A body has a *slot*, the same place in every column. Slots are in the order of space: the
//! broadphase re-orders them each time it rebuilds the pair list (see `broadphase.rs`), so that
//! neighbours in the world are neighbours in memory. A [`BodyHandle`] does not change: its index leads through a
//! table to the present slot.
//!
//! Columns are padded with zeros to the widest lane: a padding body has no inverse mass and no extent.
//! A removed body's slot stays, marked [`Motion::Dead`], until the next rebuild drops it or an added body
//! moves in (see `world/edits.rs`). An added body takes a slot at the end until then. So bodies in the pair list move to other
//! slots only when that list is made anew.

pub(crate) mod apart;
mod columns;
pub(crate) mod compound;
mod desc;
pub(crate) mod hooks;
pub(crate) mod mass;
mod order;
pub(crate) mod own;
mod recent;
pub(crate) mod sensors;
mod shapes;
pub(crate) mod sleep;
mod snapshot;
mod validate;

use columns::NOT_BEHIND;
pub(crate) use columns::{ColumnSet, Kind, Motion};
pub use desc::{BodyDesc, BodyHandle, BodyState, BodyType, Filter};
pub(crate) use desc::{
    MAX_BODIES, MAX_COORDINATE, MAX_DAMPING, MAX_SPEED, RUNAWAY_SPEED, check_inertia, check_mass,
};

use crate::error::Error;
use crate::geometry::outline::Outlines;
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::wrap;
use crate::lane::padded;
use crate::material::{Material, Materials, Mixed, Mixing, PairMaterials};
use apart::Apart;
use compound::Compound;
use glam::Vec2;
use hooks::Hooked;
use order::OtherOrder;
pub(crate) use order::Still;
use own::{ByHand, MotionLimits, Own};
use recent::{Facts, Recent};
use sensors::Sensors;
use sleep::SleepLimits;

/// All bodies of a world.
#[derive(Default)]
pub(crate) struct Bodies {
    pub(crate) columns: ColumnSet,
    /// The number of slots in use, dead ones included.
    pub(crate) len: usize,
    /// The slot of each handle index. `NO_SLOT` if the index is free or retired.
    slot: Vec<u32>,
    generation: Vec<u32>,
    /// Free handle indices. The last one is used next.
    free: Vec<u32>,
    materials: Materials,
    /// The bodies in the order of the last or the next pair list.
    other: OtherOrder,
    still: Still,
    pub(crate) outlines: Outlines,
    pub(crate) compounds: Vec<Compound>,
    /// Numbers of compounds whose bodies were removed.
    free_compounds: Vec<u32>,
    /// True if there ever was a body whose contacts need arms. Like the other `any_` flags except `any_force`, it is set by an edit
    /// and then stays set. A set flag costs time and changes no result.
    pub(crate) any_manifold: bool,
    /// True if a material that brakes rolling or conveys was ever in use.
    pub(crate) any_rough: bool,
    /// The number of live static bodies that are not particles.
    pub(crate) static_count: usize,
    /// The number of live bodies that are neither static nor particles.
    pub(crate) moving_count: usize,
    /// The number of live particles, pinned ones included.
    pub(crate) particle_count: usize,
    /// True if any body ever had damping.
    pub(crate) any_damping: bool,
    /// True if any body or part ever had a filter other than the default.
    pub(crate) any_filter: bool,
    /// True if a material with restitution was ever in use.
    pub(crate) any_restitution: bool,
    /// True if a force or torque waits for the next step.
    pub(crate) any_force: bool,
    /// The number of sleeping bodies.
    pub(crate) asleep_count: usize,
    /// True if there ever was a sleeping body.
    any_sleep: bool,
    /// True if times at rest were ever counted.
    pub(crate) any_rest: bool,
    /// True if any body ever had its own threshold or time to sleep.
    any_sleep_limit: bool,
    /// The dynamic bodies that were given no mass and whose shape has no area.
    massless: Vec<Massless>,
    /// True for a corner of a hull, by handle index: it touches only as part of that hull. Empty if there are
    /// no hulls.
    pub(crate) corners: Vec<bool>,
    /// The pairs that joints keep from touching.
    pub(crate) apart: Apart,
    /// The host's decisions.
    pub(crate) hooked: Hooked,
    /// What holds where two materials meet.
    pub(crate) pair_materials: PairMaterials,
    /// The bodies that have a shape that is a sensor.
    pub(crate) sensors: Sensors,
    /// True for a bullet, by handle index. Shorter than the handles if none of the last ones is a bullet.
    bullets: Vec<bool>,
    /// What few bodies have.
    pub(crate) own: Own,
    recent: Recent,
}

/// A body whose mass is that of the parts that it gets. Until then its mass is infinite.
struct Massless {
    body: BodyHandle,
    fixed_rotation: bool,
}

crate::base::codec::stored!(Massless = Massless { body: BodyHandle::NONE, fixed_rotation: false }; { body, fixed_rotation });

/// A mass below this counts as none, kg.
const LEAST_MASS: f32 = 1.0e-18;

const NO_SLOT: u32 = u32::MAX;
/// The outline number of a shape that has no outline in the world's table, or has none yet.
pub(crate) const NO_OUTLINE: u32 = u32::MAX;
/// A body is fast if a point of it moves further in a step than this part of its thickness. The centre of a slower body stays on its
/// side of a wall, where the next step's contact pushes the body back.
pub(crate) const FAST: f32 = 0.5;

impl Bodies {
    /// Makes room for `more` bodies, so that adding them does not grow the columns one by one.
    pub(crate) fn reserve(&mut self, more: usize) {
        let wanted = padded(self.len + more);
        self.columns.reserve(wanted.saturating_sub(self.columns.pos_x.len()));
        self.slot.reserve(more);
        self.generation.reserve(more);
    }

    /// Makes the columns long enough for `more` bodies, in one go.
    pub(crate) fn extend(&mut self, more: usize) {
        self.reserve(more);
        self.columns.resize(padded(self.len + more).max(self.columns.pos_x.len()));
    }

    /// Adds a body. The caller has validated it.
    pub(crate) fn insert(&mut self, desc: &BodyDesc) -> BodyHandle {
        let (slot, body) = self.new_slot();
        let material = self.materials.acquire(&desc.material);
        let (facts, outline) = self.recent.facts(&desc.shape, &mut self.outlines);
        let (inv_mass, inv_inertia) = inverse_mass(desc, facts);
        let odd_inertia = desc.inertia.is_some() && inv_inertia > 0.0;
        let ext = facts.ext;
        // What lies behind the last body is zero in most columns. What stays so is not written, which spares the memory of columns that few bodies need.
        let c = &mut self.columns;
        c.pos_x[slot] = desc.position.x;
        c.pos_y[slot] = desc.position.y;
        if desc.angle.to_bits() != 0 {
            (c.angle[slot], c.turns[slot]) = wrap(f64::from(desc.angle));
        }
        put_unless_zero(&mut c.vel_x, slot, desc.velocity.x);
        put_unless_zero(&mut c.vel_y, slot, desc.velocity.y);
        put_unless_zero(&mut c.omega, slot, desc.angular_velocity);
        c.inv_mass[slot] = inv_mass;
        c.inv_inertia[slot] = inv_inertia;
        c.ext_x[slot] = ext.x;
        c.ext_y[slot] = ext.y;
        if let Shape::HalfSpace { offset, .. } = desc.shape {
            c.ext_z[slot] = offset + ext.dot(desc.position);
        }
        c.radius[slot] = if odd_inertia {
            (2.0 * inv_mass / inv_inertia).sqrt()
        } else {
            spin_length(&desc.shape, inv_mass, inv_inertia, desc.fixed_rotation)
        };
        (c.furthest[slot], c.thickness[slot], c.outline[slot]) = (facts.furthest, facts.thickness, outline);
        let has_area = facts.area != 0.0;
        c.gravity_scale[slot] = desc.gravity_scale;
        c.follows[slot] = if desc.is_particle() && inv_mass > 0.0 { 1.0 } else { NOT_BEHIND };
        // No −0: a column that is not in use has nothing but 0, bit for bit.
        put_unless_zero(&mut c.linear_damping, slot, desc.linear_damping + 0.0);
        put_unless_zero(&mut c.angular_damping, slot, desc.angular_damping + 0.0);
        c.material[slot] = material;
        c.category[slot] = desc.filter.category;
        c.mask[slot] = desc.filter.mask;
        c.group[slot] = desc.filter.group;
        c.handle[slot] = body;
        let round = desc.shape.kind() == ShapeKind::Circle;
        let kind = Kind::new(desc.body_type.into(), desc.shape.kind());
        let odd = desc.fixed_rotation || odd_inertia;
        let manifold = desc.material.is_rough() || (round && odd && inv_mass > 0.0);
        c.kind[slot] = if manifold { kind.manifold() } else { kind };
        self.note_features(slot, desc);
        *self.count_of(slot) += 1;
        self.insert_own(body.index, desc);
        if desc.body_type == BodyType::Dynamic && desc.mass.is_none() && !has_area {
            self.massless.push(Massless { body, fixed_rotation: desc.fixed_rotation });
        }
        body
    }

    /// Notes what a new body has that not every world has, so that steps look for it from now on.
    fn note_features(&mut self, slot: usize, desc: &BodyDesc) {
        self.any_manifold |= self.columns.kind[slot].needs_manifold();
        self.any_rough |= desc.material.is_rough();
        self.any_damping |= desc.linear_damping != 0.0 || desc.angular_damping != 0.0;
        self.any_filter |= desc.filter != Filter::default();
        self.any_restitution |= desc.material.restitution > 0.0;
        let limits =
            SleepLimits { may: desc.sleep, threshold: desc.sleep_threshold, time: desc.time_to_sleep };
        if limits != SleepLimits::OF_WORLD {
            self.set_sleep_limits(slot, limits);
        }
        self.set_bullet(slot, desc.bullet);
        if desc.sensor {
            self.set_sensor(slot, true);
        }
    }

    /// Makes a slot behind all others, and a handle of it.
    fn new_slot(&mut self) -> (usize, BodyHandle) {
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
        self.slot[index as usize] = slot as u32;
        (slot, BodyHandle { index, generation: self.generation[index as usize] })
    }

    /// Notes what few bodies have.
    fn insert_own(&mut self, index: u32, desc: &BodyDesc) {
        if desc.tag != 0 {
            self.own.set_tag(index, desc.tag);
        }
        if desc.mass.is_some() || desc.inertia.is_some() || desc.fixed_rotation {
            let BodyDesc { mass, inertia, fixed_rotation, .. } = *desc;
            self.own.set_by_hand(index, ByHand { mass, inertia, centre: false, fixed_rotation });
        }
        let limits = MotionLimits {
            lock_x: desc.lock_x,
            lock_y: desc.lock_y,
            max_speed: desc.max_speed.unwrap_or(f32::INFINITY) + 0.0,
            max_spin: desc.max_angular_speed.unwrap_or(f32::INFINITY) + 0.0,
        };
        if limits != MotionLimits::default() {
            self.own.set_limits(index, limits);
        }
    }

    /// Removes a body: frees its handle and leaves a dead slot.
    pub(crate) fn remove(&mut self, handle: BodyHandle) -> Result<(), Error> {
        let slot = self.slot_of(handle)?;
        *self.count_of(slot) -= 1;
        self.release_tables(slot);
        self.set_motion(slot, Motion::Dead);
        let c = &mut self.columns;
        c.inv_mass[slot] = 0.0;
        c.inv_inertia[slot] = 0.0;
        self.own.forget(handle.index);
        let index = handle.index as usize;
        self.slot[index] = NO_SLOT;
        // After 2³² generations the first handle would be valid again. So the index is retired instead.
        if let Some(next) = self.generation[index].checked_add(1) {
            self.generation[index] = next;
            self.free.push(handle.index);
        }
        Ok(())
    }

    /// Makes a removed body's slot inert for as long as the pair list that names it lives.
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

    /// Moves a body to a slot without a body.
    pub(crate) fn move_to(&mut self, from: usize, to: usize) {
        self.columns.move_slot(from, to);
        self.slot[self.columns.handle[to].index as usize] = to as u32;
    }

    /// Drops the slots from `len` on. Their bodies were moved or removed.
    pub(crate) fn truncate(&mut self, len: usize) {
        (len..self.len).for_each(|slot| self.columns.clear_slot(slot));
        self.len = len;
        self.columns.resize(padded(len));
    }

    /// Releases a slot's outlines, materials, compound and entry in `massless`.
    fn release_tables(&mut self, slot: usize) {
        if let Some(entry) = self.massless_of(slot) {
            self.massless.swap_remove(entry);
        }
        self.sensors.remove(self.columns.handle[slot]);
        let c = &mut self.columns;
        self.materials.release(c.material[slot]);
        let number = std::mem::replace(&mut c.outline[slot], NO_OUTLINE);
        if c.kind[slot].shape() == ShapeKind::Compound {
            for placed in std::mem::take(&mut self.compounds[number as usize].parts) {
                self.outlines.release(placed.outline);
                self.materials.release(placed.material);
            }
            self.free_compounds.push(number);
        } else if number != NO_OUTLINE {
            self.outlines.release(number);
        }
    }

    /// The counter (static, moving or particles) to which a slot's body belongs.
    fn count_of(&mut self, slot: usize) -> &mut usize {
        if self.columns.kind[slot].is_particle() {
            &mut self.particle_count
        } else if self.body_type(slot) == BodyType::Static {
            &mut self.static_count
        } else {
            &mut self.moving_count
        }
    }

    /// Freezes a body that went bad, at its last good position.
    pub(crate) fn quarantine(&mut self, slot: usize) {
        self.own.set_target(self.columns.handle[slot].index, None);
        self.freeze(slot, Motion::Quarantined);
    }

    /// Says how a body moves from now on. It may have stood still behind those that move.
    fn set_motion(&mut self, slot: usize, motion: Motion) {
        if self.still().contains(&slot) {
            self.set_still(0..0);
        }
        let kind = &mut self.columns.kind[slot];
        *kind = kind.with_motion(motion);
    }

    /// Takes a body's velocity, mass and forces.
    fn freeze(&mut self, slot: usize, motion: Motion) {
        self.set_motion(slot, motion);
        let c = &mut self.columns;
        for column in [&mut c.vel_x, &mut c.vel_y, &mut c.omega, &mut c.inv_mass, &mut c.inv_inertia] {
            column[slot] = 0.0;
        }
        c.follows[slot] = NOT_BEHIND;
        for column in [&mut c.force_x, &mut c.force_y, &mut c.torque] {
            column[slot] = 0.0;
        }
    }

    /// The slot of a body.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub(crate) fn slot_of(&self, handle: BodyHandle) -> Result<usize, Error> {
        let stale = Error::StaleHandle { kind: "body", index: handle.index, generation: handle.generation };
        let index = handle.index as usize;
        match self.slot.get(index) {
            Some(&slot) if slot != NO_SLOT && self.generation[index] == handle.generation => {
                Ok(slot as usize)
            }
            _ => Err(stale),
        }
    }

    /// Returns true if a slot has a body.
    pub(crate) fn is_taken(&self, slot: usize) -> bool {
        self.columns.kind[slot].motion() != Motion::Dead
    }

    /// The slot of a handle index. `None` if no body has this index now.
    pub(crate) fn slot_at(&self, index: u32) -> Option<usize> {
        self.slot.get(index as usize).filter(|&&slot| slot != NO_SLOT).map(|&slot| slot as usize)
    }

    /// Returns true if this is a particle that touches only as part of a hull.
    #[inline]
    pub(crate) fn is_corner(&self, slot: usize) -> bool {
        !self.corners.is_empty()
            && self.corners.get(self.columns.handle[slot].index as usize).copied().unwrap_or(false)
    }

    /// Returns true if the body is kept from passing through bodies that move.
    pub(crate) fn is_bullet(&self, slot: usize) -> bool {
        self.bullets.get(self.columns.handle[slot].index as usize).is_some_and(|&bullet| bullet)
    }

    /// Distance from the centre of a body's thinnest shape to its edge, m.
    pub(crate) fn thickness(&self, slot: usize) -> f32 {
        let c = &self.columns;
        if c.furthest[slot] > 0.0 { c.thickness[slot] } else { c.ext_x[slot].min(c.ext_y[slot]) }
    }

    /// Returns true if there ever was a bullet.
    pub(crate) fn has_bullets(&self) -> bool {
        !self.bullets.is_empty()
    }

    /// Makes a body a bullet, or no longer.
    pub(crate) fn set_bullet(&mut self, slot: usize, bullet: bool) {
        let index = self.columns.handle[slot].index as usize;
        if bullet && self.bullets.len() <= index {
            self.bullets.resize(index + 1, false);
        }
        if let Some(of_body) = self.bullets.get_mut(index) {
            *of_body = bullet;
        }
    }

    /// Returns true if nothing keeps two bodies from touching: no filter, no joint, no hook, no hull that has one of them as a corner. This
    /// is so in most worlds.
    pub(crate) fn may_all_touch(&self) -> bool {
        !self.any_filter && self.only_filtered()
    }

    /// Returns true if nothing but filters keeps two bodies from touching.
    pub(crate) fn only_filtered(&self) -> bool {
        self.corners.is_empty() && self.apart.is_empty() && !self.hooked.uses().may_touch
    }

    /// Returns true if something keeps two bodies from touching. Filters of their parts are not asked.
    #[inline(always)]
    pub(crate) fn never_touch(&self, a: usize, b: usize) -> bool {
        // Corners of a hull touch as part of the hull only: see `solver/hulls.rs`. Filters come first: the bones of a ragdoll are in one
        // group, and near each other in each list.
        !self.filters_meet(a, b) || self.is_corner(a) || self.is_corner(b) || self.are_apart(a, b)
    }

    /// Returns true if the filters of two shapes let them touch, and nothing keeps their bodies apart. The number of a part is any of a body of one shape.
    pub(crate) fn may_touch(&self, a: usize, part_a: u8, b: usize, part_b: u8) -> bool {
        self.part_filter(a, part_a).touches(&self.part_filter(b, part_b)) && !self.are_apart(a, b)
    }

    /// Returns true if a joint, or a hook, keeps two bodies from touching.
    #[inline]
    pub(crate) fn are_apart(&self, a: usize, b: usize) -> bool {
        let handle = &self.columns.handle;
        !self.apart.is_empty() && self.apart.has(handle[a].index, handle[b].index)
            || self.hooked.uses().may_touch && self.hooked.part(handle[a], handle[b])
    }

    /// The coefficients of a contact of two materials, given by their numbers.
    pub(crate) fn mixed(&self, mixing: Mixing, a: u32, b: u32) -> Mixed {
        let [a, b] = [a, b].map(|material| &self.materials()[material as usize]);
        let known = if self.pair_materials.is_empty() { None } else { self.pair_materials.get(a.id, b.id) };
        self.hooked.mix(a, b, known.unwrap_or_else(|| mixing.mixed(a, b))).unsigned()
    }

    /// Returns true if the filters of two bodies let them touch. Filters of their parts are not asked.
    #[inline(always)]
    pub(crate) fn filters_meet(&self, a: usize, b: usize) -> bool {
        !self.any_filter || self.filter(a).touches(&self.filter(b))
    }

    /// The filter of a slot's body.
    #[inline(always)]
    pub(crate) fn filter(&self, slot: usize) -> Filter {
        let c = &self.columns;
        Filter { category: c.category[slot], mask: c.mask[slot], group: c.group[slot] }
    }

    /// The handle of a slot's body.
    pub(crate) fn handle(&self, slot: usize) -> BodyHandle {
        self.columns.handle[slot]
    }

    /// Handles and slots of all bodies, in the order of handle indices.
    pub(crate) fn by_index(&self) -> impl Iterator<Item = (BodyHandle, usize)> + '_ {
        self.slot.iter().enumerate().filter(|&(_, &slot)| slot != NO_SLOT).map(|(index, &slot)| {
            (BodyHandle { index: index as u32, generation: self.generation[index] }, slot as usize)
        })
    }

    /// Moves the origin by a vector.
    pub(crate) fn shift(&mut self, by: Vec2) {
        let slots = || self.slot.iter().filter(|&&slot| slot != NO_SLOT).map(|&slot| slot as usize);
        let c = &mut self.columns;
        for slot in slots() {
            c.pos_x[slot] -= by.x;
            c.pos_y[slot] -= by.y;
            if c.kind[slot].shape() == ShapeKind::HalfSpace {
                c.ext_z[slot] -= c.ext_x[slot] * by.x + c.ext_y[slot] * by.y;
            }
        }
        self.own.shift_targets(by);
    }

    pub(crate) fn body_type(&self, slot: usize) -> BodyType {
        match self.columns.kind[slot].motion() {
            Motion::Static => BodyType::Static,
            Motion::Kinematic => BodyType::Kinematic,
            Motion::Disabled => {
                let kept = self.own.disabled(self.columns.handle[slot].index);
                kept.map_or(BodyType::Dynamic, |kept| kept.body_type)
            }
            _ => BodyType::Dynamic,
        }
    }

    pub(crate) fn position(&self, slot: usize) -> Vec2 {
        Vec2::new(self.columns.pos_x[slot], self.columns.pos_y[slot])
    }

    pub(crate) fn velocity(&self, slot: usize) -> Vec2 {
        Vec2::new(self.columns.vel_x[slot], self.columns.vel_y[slot])
    }

    pub(crate) fn material(&self, slot: usize) -> Material {
        self.materials()[self.columns.material[slot] as usize]
    }

    /// The distinct materials, by the numbers in the column `material`.
    pub(crate) fn materials(&self) -> &[Material] {
        self.materials.list()
    }

    /// The number of handle indices that were ever used.
    pub(crate) fn name_count(&self) -> usize {
        self.slot.len()
    }

    /// The number of places in the table of materials, and how many are in use.
    pub(crate) fn material_counts(&self) -> [usize; 2] {
        self.materials.counts()
    }

    /// The number of handle indices, and of slots, dead ones included.
    pub(crate) fn table_lengths(&self) -> [usize; 2] {
        [self.slot.len(), self.len]
    }
}

/// Inverse mass and inertia of a new body.
fn inverse_mass(desc: &BodyDesc, facts: &Facts) -> (f32, f32) {
    if desc.body_type != BodyType::Dynamic {
        return (0.0, 0.0);
    }
    let mass = desc.mass.unwrap_or(desc.material.density * facts.area);
    // A density so small that the mass underflows counts as none.
    if mass < LEAST_MASS {
        return (0.0, 0.0);
    }
    let inertia = match desc.inertia {
        _ if desc.fixed_rotation => f32::INFINITY,
        Some(inertia) => inertia,
        None => desc.shape.inertia_by(mass, || facts.properties),
    };
    (1.0 / mass, 1.0 / inertia)
}

/// The value of the column `radius` for a new body.
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

/// Writes into a column whose rows behind the last body are zero.
fn put_unless_zero(column: &mut [f32], slot: usize, value: f32) {
    if value.to_bits() != 0 {
        column[slot] = value;
    }
}
