//! Checks of the bodies' columns and handles. They hold after any call.

use super::{Bodies, BodyType, Filter, MAX_COORDINATE, MAX_DAMPING, Motion, NO_OUTLINE, NO_SLOT, NOT_BEHIND};
use super::{RUNAWAY_SPEED, padded};
use crate::base::ensure;
use crate::geometry::shape::ShapeKind;
use crate::material::Material;

impl Bodies {
    /// Checks all bodies. The error describes the first fault. `checked` says that no velocity was set by hand since the last step.
    pub(crate) fn validate(&self, checked: bool) -> Result<(), String> {
        self.columns.validate(self.len)?;
        self.validate_handles()?;
        self.validate_compounds()?;
        self.validate_sensors()?;
        let are_sound = self.numbers_are_sound(checked);
        (0..self.len).try_for_each(|slot| {
            if !are_sound {
                self.validate_numbers(slot, checked)?;
            }
            self.validate_motion(slot)?;
            self.validate_shape(slot)?;
            self.validate_flags(slot)
        })?;
        self.validate_counts()?;
        self.validate_own()
    }

    /// Checks that slots lead to handles and back, and that each index is in use, free, or retired.
    fn validate_handles(&self) -> Result<(), String> {
        ensure!(self.slot.len() == self.generation.len(), "handle tables of two lengths");
        let mut living = 0;
        for slot in 0..self.len {
            let (handle, dead) = (self.handle(slot), self.columns.kind[slot].motion() == Motion::Dead);
            let known = self.slot_of(handle).ok();
            let right = if dead { known != Some(slot) } else { known == Some(slot) };
            ensure!(right, "slot {slot}, dead {dead}: its handle {handle:?} leads to {known:?}");
            living += usize::from(!dead);
        }
        // Living slots have indices of their own by now: no other index may lead to one.
        let in_use = self.slot.iter().filter(|&&slot| slot != NO_SLOT).count();
        ensure!(in_use == living, "{in_use} handle indices lead to slots, of which {living} live");
        let mut free = self.free.clone();
        free.sort_unstable();
        ensure!(free.windows(2).all(|two| two[0] < two[1]), "a handle index is free twice");
        for &index in &free {
            let slot = self.slot.get(index as usize);
            ensure!(slot == Some(&NO_SLOT), "free handle index {index} leads to {slot:?}");
        }
        let retired = |index: usize| self.slot[index] == NO_SLOT && self.generation[index] == u32::MAX;
        for index in 0..self.slot.len() {
            let accounted =
                self.slot[index] != NO_SLOT || retired(index) || free.binary_search(&(index as u32)).is_ok();
            ensure!(accounted, "handle index {index} is neither in use nor free");
        }
        Ok(())
    }

    /// Tells whether the numbers of all bodies pass [`Bodies::validate_numbers`], column by column, so that the compiler makes vectors of it. False
    /// says nothing: some of a half-space's may be below 0. (With this, and each
    /// handle looked at once, a restore takes 11 % fewer instructions: `restore` of `benches/instructions`.)
    fn numbers_are_sound(&self, checked: bool) -> bool {
        let c = &self.columns;
        let within = |column: &[f32], least: f32, most: f32| {
            column[..self.len].iter().fold(true, |sound, &value| sound & (value >= least) & (value <= most))
        };
        let speed = if checked { RUNAWAY_SPEED } else { f32::MAX };
        let positions = [&c.pos_x, &c.pos_y];
        let speeds = [&c.vel_x, &c.vel_y, &c.omega];
        let finite = [&c.angle, &c.force_x, &c.force_y, &c.torque, &c.ext_z, &c.gravity_scale];
        let positive = [&c.ext_x, &c.ext_y, &c.radius, &c.furthest, &c.inv_mass, &c.inv_inertia];
        let rates = [&c.linear_damping, &c.angular_damping];
        positions.iter().all(|column| within(column, -MAX_COORDINATE, MAX_COORDINATE))
            && speeds.iter().all(|column| within(column, -speed, speed))
            && finite.iter().all(|column| within(column, f32::MIN, f32::MAX))
            && positive.iter().all(|column| within(column, 0.0, f32::MAX))
            && rates.iter().all(|column| within(column, 0.0, MAX_DAMPING))
    }

    /// Checks that the numbers of a body are within their limits.
    fn validate_numbers(&self, slot: usize, checked: bool) -> Result<(), String> {
        let c = &self.columns;
        let name = |field: &str| format!("{field} of {:?} {:?}", c.kind[slot].motion(), self.handle(slot));
        for (field, value) in [("pos_x", c.pos_x[slot]), ("pos_y", c.pos_y[slot])] {
            ensure!(value.abs() <= MAX_COORDINATE, "{} is {value}", name(field));
        }
        let speed = if checked { RUNAWAY_SPEED } else { f32::MAX };
        for (field, value, limit) in [
            ("angle", c.angle[slot], f32::MAX),
            ("vel_x", c.vel_x[slot], speed),
            ("vel_y", c.vel_y[slot], speed),
            ("omega", c.omega[slot], speed),
            ("force_x", c.force_x[slot], f32::MAX),
            ("force_y", c.force_y[slot], f32::MAX),
            ("torque", c.torque[slot], f32::MAX),
        ] {
            ensure!(value.abs() <= limit, "{} is {value}", name(field));
        }
        let lengths = [c.ext_x[slot], c.ext_y[slot], c.radius[slot], c.furthest[slot]];
        let plane = c.kind[slot].shape() == ShapeKind::HalfSpace;
        let good = lengths.iter().all(|length| length.is_finite() && (plane || *length >= 0.0));
        ensure!(good && c.ext_z[slot].is_finite(), "{} are {lengths:?}", name("lengths"));
        let inverses = [c.inv_mass[slot], c.inv_inertia[slot]];
        let good = inverses.iter().all(|inverse| inverse.is_finite() && *inverse >= 0.0);
        ensure!(good, "{} are {inverses:?}", name("inverse mass and inertia"));
        let rates = [c.linear_damping[slot], c.angular_damping[slot]];
        let good =
            rates.iter().all(|rate| (0.0..=MAX_DAMPING).contains(rate)) && c.gravity_scale[slot].is_finite();
        ensure!(good, "{} are {rates:?}", name("damping rates"));
        Ok(())
    }

    /// Checks that bodies which do not move have no velocity and no inverse mass, and that only what is forced has a force.
    fn validate_motion(&self, slot: usize) -> Result<(), String> {
        let c = &self.columns;
        let motion = c.kind[slot].motion();
        let name = |field: &str| format!("{field} of {motion:?} {:?}", self.handle(slot));
        let inverses = [c.inv_mass[slot], c.inv_inertia[slot]];
        ensure!(motion == Motion::Dynamic || inverses == [0.0; 2], "{} are not 0", name("inverses"));
        let velocities = [c.vel_x[slot], c.vel_y[slot], c.omega[slot]];
        let still =
            matches!(motion, Motion::Static | Motion::Asleep | Motion::Quarantined | Motion::Disabled);
        ensure!(!still || velocities == [0.0; 3], "{} is {velocities:?}", name("velocity"));
        let (follows, kept) = (c.follows[slot], [c.kept_inv_mass[slot], c.kept_inv_inertia[slot]]);
        if follows != NOT_BEHIND || kept != [0.0; 2] {
            let falls = motion == Motion::Dynamic && c.kind[slot].is_particle() || motion == Motion::Dead;
            let lags = follows == NOT_BEHIND || falls && (0.0..=1.0).contains(&follows);
            ensure!(lags, "{} is {follows}", name("part of gravity"));
            let good = kept.iter().all(|inverse| inverse.is_finite() && *inverse >= 0.0);
            let sleeps = matches!(motion, Motion::Asleep | Motion::Dead) || kept == [0.0; 2];
            ensure!(good && sleeps, "{} are {kept:?}", name("kept inverses"));
        }
        let forced = [c.force_x[slot], c.force_y[slot], c.torque[slot]] != [0.0; 3];
        ensure!(!forced || self.any_force, "{} is none that waits", name("force"));
        Ok(())
    }

    /// Checks that a body's entries in the tables of outlines, compounds and materials exist and fit its kind.
    fn validate_shape(&self, slot: usize) -> Result<(), String> {
        let c = &self.columns;
        let (kind, outline) = (c.kind[slot].shape(), c.outline[slot] as usize);
        let handle = self.handle(slot);
        if c.kind[slot].motion() == Motion::Dead {
            return Ok(());
        }
        ensure!((c.material[slot] as usize) < self.materials().len(), "{handle:?} has no material");
        if kind == ShapeKind::Compound {
            let count = self.compounds.get(outline).map_or(0, |compound| compound.parts.len());
            ensure!(count > 0, "{handle:?} is a compound without parts");
            for placed in self.parts(slot) {
                let shape = self.outlines.shape_of(placed.outline);
                ensure!(
                    shape == Some(placed.part.shape),
                    "a part of {handle:?} has the outline of {shape:?}"
                );
                ensure!(
                    (placed.material as usize) < self.materials().len(),
                    "a part of {handle:?} has no material"
                );
            }
        } else if kind.turns() || (kind == ShapeKind::Aabb && c.outline[slot] != NO_OUTLINE) {
            let of = self.outlines.shape_of(c.outline[slot]).map(|shape| shape.kind());
            ensure!(of == Some(kind), "{handle:?}, a {kind:?}, has the outline of {of:?}");
        } else {
            ensure!(c.outline[slot] == NO_OUTLINE, "{handle:?}, a {kind:?}, has outline {outline}");
        }
        ensure!(
            (c.furthest[slot] > 0.0) == kind.turns(),
            "{handle:?}, a {kind:?}, has its furthest point at {}",
            c.furthest[slot]
        );
        Ok(())
    }

    /// Checks that every compound belongs to one body, or is free.
    fn validate_compounds(&self) -> Result<(), String> {
        let mut users = vec![0u32; self.compounds.len()];
        for slot in 0..self.len {
            let kind = self.columns.kind[slot];
            if kind.shape() == ShapeKind::Compound && kind.motion() != Motion::Dead {
                let number = self.columns.outline[slot] as usize;
                ensure!(number < users.len(), "{:?} has compound {number}", self.handle(slot));
                users[number] += 1;
            }
        }
        for &free in &self.free_compounds {
            ensure!((free as usize) < users.len(), "compound {free} is free, and is none");
            users[free as usize] += 1;
            ensure!(self.compounds[free as usize].parts.is_empty(), "free compound {free} has parts");
        }
        let odd = users.iter().position(|&count| count != 1);
        ensure!(odd.is_none(), "compound {odd:?} of {users:?} has not one user");
        Ok(())
    }

    /// Checks the flags that let a stage skip work that no body needs.
    fn validate_flags(&self, slot: usize) -> Result<(), String> {
        let c = &self.columns;
        if c.kind[slot].motion() == Motion::Dead {
            return Ok(());
        }
        let parts = || self.parts(slot).iter().map(|placed| placed.part.material);
        let any = |needs: fn(Material) -> bool| needs(self.material(slot)) || parts().any(needs);
        let filtered = self.filter(slot) != Filter::default();
        let damped = c.linear_damping[slot] != 0.0 || c.angular_damping[slot] != 0.0;
        for (flag, has, needs) in [
            ("any_manifold", self.any_manifold, c.kind[slot].needs_manifold()),
            ("any_rough", self.any_rough, any(|material| material.is_rough())),
            ("any_restitution", self.any_restitution, any(|material| material.restitution > 0.0)),
            ("any_filter", self.any_filter, filtered),
            ("any_damping", self.any_damping, damped),
        ] {
            ensure!(has || !needs, "{flag} is not set, and {:?} needs it", self.handle(slot));
        }
        Ok(())
    }

    fn validate_counts(&self) -> Result<(), String> {
        let (mut fixed, mut moving, mut particles) = (0, 0, 0);
        for (_, slot) in self.by_index() {
            let kind = self.columns.kind[slot];
            if kind.is_particle() {
                particles += 1;
            } else if self.body_type(slot) == BodyType::Static {
                fixed += 1;
            } else {
                moving += 1;
            }
        }
        let counts = [self.static_count, self.moving_count, self.particle_count];
        let found = [fixed, moving, particles];
        ensure!(counts == found, "static, moving, particles: counted {counts:?}, there are {found:?}");
        Ok(())
    }
}

impl super::ColumnSet {
    /// Checks that all columns have the same padded length and that the padding is inert.
    fn validate(&self, len: usize) -> Result<(), String> {
        let length = self.pos_x.len();
        ensure!(length >= len && length == padded(length), "{len} bodies in columns of {length}");
        self.each_column(len, |name, column, inert| {
            ensure!(column == length, "column {name} is of {column} and pos_x of {length}");
            ensure!(inert, "the padding of column {name} is not inert");
            Ok(())
        })
    }
}
