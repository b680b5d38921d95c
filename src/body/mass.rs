//! The mass of a body: what follows from its shapes and their densities, and what the host set by hand.

use super::compound::{Mass, Part, Placed};
use super::own::ByHand;
use super::{Bodies, BodyType, LEAST_MASS, Massless, Motion, NO_OUTLINE, NOT_BEHIND, spin_length};
use crate::geometry::shape::{Shape, ShapeKind};
use glam::{DVec2, Vec2};

const NO_MASS: Mass = Mass { mass: 0.0, centre: DVec2::ZERO, inertia: 0.0 };

/// The mass properties of all parts together.
pub(crate) fn mass_of_parts<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Mass {
    parts.into_iter().fold(NO_MASS, |mass, part| {
        let of = Mass::of(part);
        // The first part has its own centre, also if its mass is 0.
        if mass.mass == 0.0 { of } else { mass.with(of) }
    })
}

impl Bodies {
    /// The inverse mass and the inverse moment of inertia that a body has when it is awake and enabled.
    pub(crate) fn true_inverses(&self, slot: usize) -> (f32, f32) {
        match self.disabled(slot) {
            Some(kept) => (kept.inv_mass, kept.inv_inertia),
            None => (self.own_inv_mass(slot), self.own_inv_inertia(slot)),
        }
    }

    /// What the host set of a body's mass.
    pub(crate) fn by_hand(&self, slot: usize) -> ByHand {
        self.own.by_hand(self.columns.handle[slot].index)
    }

    /// Returns true if the host's number for the moment of inertia means something: the shape turns.
    pub(crate) fn has_inertia(&self, slot: usize) -> bool {
        let kind = self.columns.kind[slot].shape();
        kind == ShapeKind::Circle || (kind.turns() && kind != ShapeKind::ChainSegment)
    }

    /// Sets the mass, the moment of inertia and what follows from them, by the body's type, its shapes and what was set by hand. The
    /// body is awake and enabled; its centre stays where it is.
    pub(crate) fn renew_mass(&mut self, slot: usize) {
        if let Some(entry) = self.massless_of(slot) {
            self.massless.swap_remove(entry);
        }
        let by_hand = self.by_hand(slot);
        let dynamic = self.columns.kind[slot].motion() == Motion::Dynamic;
        let (inv_mass, inv_inertia) = if dynamic { self.inverses_by(slot, by_hand) } else { (0.0, 0.0) };
        if dynamic && by_hand.mass.is_none() && inv_mass == 0.0 && self.area(slot) == 0.0 {
            let body = self.columns.handle[slot];
            self.massless.push(Massless { body, fixed_rotation: by_hand.fixed_rotation });
        }
        let kind = self.columns.kind[slot];
        let radius = match kind.shape() {
            ShapeKind::Compound if inv_mass == 0.0 => 1.0,
            ShapeKind::Compound if inv_inertia == 0.0 => 0.0,
            ShapeKind::Compound => (2.0 * inv_mass / inv_inertia).sqrt(),
            ShapeKind::Circle if inv_inertia > 0.0 && by_hand.inertia.is_some() => {
                (2.0 * inv_mass / inv_inertia).sqrt()
            }
            _ => spin_length(&self.shape(slot), inv_mass, inv_inertia, by_hand.fixed_rotation),
        };
        let round = kind.shape() == ShapeKind::Circle && inv_mass > 0.0;
        let odd = round && (by_hand.fixed_rotation || by_hand.inertia.is_some());
        let rough = self.material(slot).is_rough();
        let c = &mut self.columns;
        (c.inv_mass[slot], c.inv_inertia[slot], c.radius[slot]) = (inv_mass, inv_inertia, radius);
        c.kind[slot] = kind.with_manifold(odd || rough);
        self.any_manifold |= c.kind[slot].needs_manifold();
    }

    fn inverses_by(&self, slot: usize, by_hand: ByHand) -> (f32, f32) {
        let (mass, inertia) = if self.columns.kind[slot].shape() == ShapeKind::Compound {
            let of = mass_of_parts(self.parts(slot).iter().map(|placed| &placed.part));
            let mass = by_hand.mass.map_or(of.mass, f64::from);
            let about_centre = of.inertia + of.mass * of.centre.length_squared();
            (mass as f32, if of.mass > 0.0 { (mass / of.mass * about_centre) as f32 } else { f32::INFINITY })
        } else {
            let shape = self.shape(slot);
            let mass = by_hand.mass.unwrap_or(self.material(slot).density * shape.area());
            (mass, shape.inertia(mass))
        };
        if mass < LEAST_MASS {
            return (0.0, 0.0);
        }
        let inertia = match by_hand.inertia {
            _ if by_hand.fixed_rotation => f32::INFINITY,
            Some(inertia) if self.has_inertia(slot) => inertia,
            _ => inertia,
        };
        (1.0 / mass, if inertia > 0.0 { 1.0 / inertia } else { 0.0 })
    }

    /// The area of all shapes of a body, m².
    pub(crate) fn area(&self, slot: usize) -> f32 {
        let parts = self.parts(slot);
        if parts.is_empty() {
            return self.shape(slot).area();
        }
        parts.iter().map(|placed| placed.part.shape.area()).sum()
    }

    /// Gives a body that is awake and enabled another type.
    pub(crate) fn set_type(&mut self, slot: usize, body_type: BodyType) {
        *self.count_of(slot) -= 1;
        self.set_motion(slot, body_type.into());
        *self.count_of(slot) += 1;
        self.renew_mass(slot);
        let c = &mut self.columns;
        if body_type == BodyType::Static {
            (c.vel_x[slot], c.vel_y[slot], c.omega[slot]) = (0.0, 0.0, 0.0);
        }
        (c.force_x[slot], c.force_y[slot], c.torque[slot]) = (0.0, 0.0, 0.0);
        c.begin_rest(slot);
        let falls = c.kind[slot].is_particle() && c.inv_mass[slot] > 0.0;
        c.follows[slot] = if falls { 1.0 } else { NOT_BEHIND };
        let index = c.handle[slot].index;
        self.own.set_target(index, None);
    }

    /// Makes a body of one shape a compound of one part, for shapes that are not about the centre of mass.
    pub(super) fn make_compound(&mut self, slot: usize) {
        let kind = self.columns.kind[slot];
        if kind.shape() == ShapeKind::Compound {
            return;
        }
        let (filter, sensor) = (self.described_filter(slot), self.is_sensor(slot));
        let material = self.material(slot);
        let first = Part { material, filter, sensor, ..Part::new(self.shape(slot), Vec2::ZERO) };
        if sensor {
            // From now on its parts are sensors, or not.
            self.set_columns_filter(slot, filter);
        }
        let first = self.placed(&first);
        let compound = super::compound::Compound { parts: vec![first], ..Default::default() };
        let number = self.free_compounds.pop().unwrap_or_else(|| {
            self.compounds.push(Default::default());
            (self.compounds.len() - 1) as u32
        });
        self.compounds[number as usize] = compound;
        let alone = std::mem::replace(&mut self.columns.outline[slot], number);
        if alone != NO_OUTLINE {
            self.outlines.release(alone);
        }
        self.columns.kind[slot] = kind.with_shape(ShapeKind::Compound);
    }

    /// Replaces all shapes of a body that is awake and enabled. Its centre of mass comes to `centre`, a point in its present axes. The
    /// host has moved the body there. One shape about the centre, in a body that is no compound, stays one.
    pub(crate) fn set_parts(&mut self, slot: usize, parts: &[Part], centre: Vec2) {
        let alone = self.columns.kind[slot].shape() != ShapeKind::Compound;
        match parts {
            [part] if alone && part.position == Vec2::ZERO && part.angle == 0.0 && centre == Vec2::ZERO => {
                self.set_single(slot, part);
            }
            _ => {
                self.make_compound(slot);
                let placed: Vec<Placed> = parts.iter().map(|part| self.placed(part)).collect();
                let number = self.columns.outline[slot] as usize;
                for old in std::mem::replace(&mut self.compounds[number].parts, placed) {
                    self.outlines.release(old.outline);
                    self.materials.release(old.material);
                }
                self.compounds[number].shift_centre(centre);
                let (reach, thickness) = (self.compounds[number].reach(), self.compounds[number].thickness());
                (self.columns.furthest[slot], self.columns.thickness[slot]) = (reach, thickness);
                self.set_body_material(slot, parts[0].material);
                if let [part] = parts {
                    self.set_columns_filter(slot, part.filter);
                }
                self.note_sensor(slot);
            }
        }
        self.any_manifold |= self.columns.kind[slot].needs_manifold();
        for part in parts {
            self.any_rough |= part.material.is_rough();
            self.any_restitution |= part.material.restitution > 0.0;
            self.any_filter |= part.filter != super::Filter::default();
        }
        self.renew_mass(slot);
        self.update_extents(slot);
    }

    fn set_body_material(&mut self, slot: usize, material: crate::material::Material) {
        let number = self.materials.acquire(&material);
        let old = std::mem::replace(&mut self.columns.material[slot], number);
        self.materials.release(old);
    }

    /// Gives a body of one shape another one.
    fn set_single(&mut self, slot: usize, part: &Part) {
        self.set_body_material(slot, part.material);
        let old = std::mem::replace(&mut self.columns.outline[slot], NO_OUTLINE);
        if old != NO_OUTLINE {
            self.outlines.release(old);
        }
        let (shape, position) = (part.shape, self.position(slot));
        let ext = shape.extents();
        let c = &mut self.columns;
        c.kind[slot] = c.kind[slot].with_shape(shape.kind());
        (c.ext_x[slot], c.ext_y[slot]) = ext.into();
        c.ext_z[slot] = match shape {
            Shape::HalfSpace { offset, .. } => offset + ext.dot(position),
            _ => 0.0,
        };
        (c.furthest[slot], c.thickness[slot]) = (0.0, 0.0);
        if shape.kind().turns() {
            let outline = self.outlines.acquire(&shape);
            c.outline[slot] = outline;
            c.furthest[slot] = self.outlines.outline(outline).reach();
            c.thickness[slot] = self.outlines.outline(outline).thickness();
        }
        self.set_sensor(slot, false);
        self.set_columns_filter(slot, part.filter);
        if part.sensor {
            self.set_sensor(slot, true);
        }
    }
}
