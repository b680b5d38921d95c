//! What a snapshot holds of the bodies: the columns, and what does not follow from them.
//!
//! Slots by handle, counts, and the users of materials and outlines follow from the columns, and are found again.

use super::apart::Apart;
use super::compound::{Compound, Placed, turn_of};
use super::recent::Recent;
use super::{Bodies, Motion, NO_OUTLINE, NO_SLOT};
use crate::base::codec::{Flaw, Read, Reader, Stored, Writer, require};
use crate::geometry::shape::ShapeKind;
use crate::lane::padded;

impl Stored for Placed {
    fn write(&self, to: &mut Writer<'_>) {
        let Placed { part, sensor_filter, outline, material, turn: _, reach: _, thickness: _ } = self;
        part.write(to);
        sensor_filter.write(to);
        (*outline, *material).write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.part.read(from)?;
        self.sensor_filter.read(from)?;
        // Written back after the outlines are there: see `Bodies::read_compounds`.
        self.turn = turn_of(&self.part);
        (self.outline, self.material) = from.value()?;
        Ok(())
    }

    fn blank() -> Placed {
        Placed {
            part: Stored::blank(),
            sensor_filter: None,
            outline: 0,
            material: 0,
            turn: (0.0, 1.0),
            reach: 0.0,
            thickness: 0.0,
        }
    }
}

crate::base::codec::stored!(Compound { parts, first_row });

impl Bodies {
    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        let Bodies {
            columns,
            len,
            slot: _,
            generation,
            free,
            materials,
            other: _,
            still: _,
            outlines,
            compounds,
            free_compounds,
            any_manifold,
            any_rough,
            static_count: _,
            moving_count: _,
            particle_count: _,
            any_damping,
            any_filter,
            any_restitution,
            any_force,
            asleep_count: _,
            any_sleep,
            any_rest,
            any_sleep_limit,
            massless,
            corners,
            apart: _,
            hooked: _,
            pair_materials,
            sensors,
            bullets,
            own,
            recent: _,
        } = self;
        to.length(*len);
        columns.write(*len, to);
        to.mark();
        generation.write(to);
        free.write(to);
        to.mark();
        materials.write(to);
        outlines.write(to);
        compounds.write(to);
        free_compounds.write(to);
        for flag in [any_manifold, any_rough, any_damping, any_filter, any_restitution] {
            flag.write(to);
        }
        for flag in [any_force, any_sleep, any_rest, any_sleep_limit] {
            flag.write(to);
        }
        massless.write(to);
        corners.write(to);
        bullets.write(to);
        pair_materials.write(to);
        sensors.write(to);
        own.write(to);
    }

    /// Reads all but the pairs that joints keep apart, which follow from the joints.
    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.len = from.length()?;
        self.columns.read(self.len, from)?;
        from.mark()?;
        self.generation.read(from)?;
        self.free.read(from)?;
        from.mark()?;
        self.find_slots()?;
        let free_materials = self.materials.read(from)?;
        let free_outlines = self.outlines.read(from)?;
        self.compounds.read(from)?;
        self.free_compounds.read(from)?;
        for flag in [
            &mut self.any_manifold,
            &mut self.any_rough,
            &mut self.any_damping,
            &mut self.any_filter,
            &mut self.any_restitution,
        ] {
            flag.read(from)?;
        }
        for flag in [&mut self.any_force, &mut self.any_sleep, &mut self.any_rest, &mut self.any_sleep_limit]
        {
            flag.read(from)?;
        }
        self.massless.read(from)?;
        self.corners.read(from)?;
        self.bullets.read(from)?;
        self.pair_materials.read(from)?;
        self.sensors.read(from)?;
        self.own.read(from)?;
        self.own.check()?;
        self.recent = Recent::default();
        self.other.stale = true;
        self.set_still(0..0);
        self.apart = Apart::default();
        self.count_users(free_materials, free_outlines)?;
        self.count_bodies();
        self.check_unused()
    }

    /// Finds the slot of each handle.
    fn find_slots(&mut self) -> Read {
        self.slot.clear();
        self.slot.resize(self.generation.len(), NO_SLOT);
        for slot in 0..self.len {
            if self.columns.kind[slot].motion() == Motion::Dead {
                continue;
            }
            let handle = self.columns.handle[slot];
            let index = handle.index as usize;
            let known = self.generation.get(index) == Some(&handle.generation);
            require!(
                known && self.slot[index] == NO_SLOT,
                "slot {slot} has {handle:?}, which is none of its own"
            );
            self.slot[index] = slot as u32;
        }
        let known = self.free.iter().all(|&index| (index as usize) < self.slot.len());
        require!(known && self.free.len() <= self.slot.len(), "a free handle index is none");
        Ok(())
    }

    /// Counts the users of each material and outline, and completes the parts of compounds.
    fn count_users(&mut self, free_materials: Vec<u32>, free_outlines: Vec<u32>) -> Read {
        let mut materials = vec![0usize; self.materials.list().len()];
        let mut outlines = vec![0usize; self.outlines.len()];
        // Number 0 always has a user.
        outlines[0] = 1;
        let user = |users: &mut [usize], number: u32, kind: &str| -> Read {
            let users =
                users.get_mut(number as usize).ok_or_else(|| Flaw(format!("{kind} {number} is none")))?;
            *users += 1;
            Ok(())
        };
        let c = &self.columns;
        for slot in 0..self.len {
            if c.kind[slot].motion() == Motion::Dead {
                // The contacts of a removed body may still name its slot.
                let (outline, compound) = (c.outline[slot], c.kind[slot].shape() == ShapeKind::Compound);
                let known = !compound && (outline as usize) < outlines.len();
                require!(known || outline == NO_OUTLINE, "a removed body has the outline {outline}");
                let material = c.material[slot];
                require!((material as usize) < materials.len(), "a removed body has the material {material}");
                continue;
            }
            user(&mut materials, c.material[slot], "material")?;
            if c.kind[slot].shape() != ShapeKind::Compound && c.outline[slot] != NO_OUTLINE {
                user(&mut outlines, c.outline[slot], "outline")?;
            }
        }
        for placed in self.compounds.iter_mut().flat_map(|compound| &mut compound.parts) {
            user(&mut materials, placed.material, "material")?;
            user(&mut outlines, placed.outline, "outline")?;
            placed.part.validate().map_err(|error| Flaw(error.to_string()))?;
            let outline = self.outlines.outline(placed.outline);
            (placed.reach, placed.thickness) = (outline.reach(), outline.thickness());
        }
        self.materials.count(materials, free_materials)?;
        self.outlines.count(outlines, free_outlines)
    }

    fn count_bodies(&mut self) {
        (self.static_count, self.moving_count, self.particle_count, self.asleep_count) = (0, 0, 0, 0);
        for slot in 0..self.len {
            let kind = self.columns.kind[slot];
            if kind.motion() != Motion::Dead {
                *self.count_of(slot) += 1;
                self.asleep_count += usize::from(kind.motion() == Motion::Asleep);
            }
        }
        debug_assert!(self.columns.pos_x.len() == padded(self.len));
    }

    /// Checks that columns which a flag calls unused hold defaults only: a new list skips them (see [`Bodies::permute`]).
    fn check_unused(&self) -> Read {
        let c = &self.columns;
        let zero = |column: &[f32]| column.iter().all(|value| value.to_bits() == 0);
        for (any, columns) in [
            (self.any_force, &[&c.force_x, &c.force_y, &c.torque][..]),
            (self.any_damping, &[&c.linear_damping, &c.angular_damping]),
            (self.any_manifold, &[&c.furthest, &c.thickness]),
            (self.any_sleep, &[&c.kept_inv_mass, &c.kept_inv_inertia]),
            (self.any_rest, &[&c.rest, &c.stay, &c.drift_x, &c.drift_y, &c.drift_turn]),
            (self.any_sleep_limit, &[&c.sleep_speed, &c.sleep_delay]),
        ] {
            require!(
                any || columns.iter().all(|column| zero(column)),
                "a column is called unused, and is in use"
            );
        }
        let flat = (self.any_filter || c.group.iter().all(|&group| group == 0))
            && (self.any_sleep || c.island.iter().all(|&island| island == 0));
        require!(flat, "a column is called unused, and is in use");
        Ok(())
    }
}
