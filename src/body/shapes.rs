//! The shapes of bodies: outlines, parts, and the mass and extents that follow from them.

use super::compound::{Compound, Mass, Part, Placed, turn_of};
use super::own::ByHand;
use super::{Bodies, BodyState, BodyType, Filter, LEAST_MASS, Motion, NO_OUTLINE};
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::geometry::outline::Outline;
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::sin_cos;
use glam::Vec2;

impl Bodies {
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

    /// The parts of a body of several shapes. Empty for other bodies.
    pub(crate) fn parts(&self, slot: usize) -> &[Placed] {
        if self.columns.kind[slot].shape() != ShapeKind::Compound {
            return &[];
        }
        &self.compounds[self.columns.outline[slot] as usize].parts
    }

    /// Sets the tag of a part of a body of several shapes. Returns false for other bodies.
    pub(crate) fn set_part_tag(&mut self, slot: usize, part: usize, tag: u64) -> bool {
        if self.columns.kind[slot].shape() != ShapeKind::Compound {
            return false;
        }
        self.compounds[self.columns.outline[slot] as usize].parts[part].part.tag = tag;
        true
    }

    /// The number of a body's shapes.
    pub(crate) fn shape_count(&self, slot: usize) -> u8 {
        self.parts(slot).len().max(1) as u8
    }

    /// The filter of a body's shape: that of the part, if it has several.
    pub(crate) fn part_filter(&self, slot: usize, part: u8) -> Filter {
        self.parts(slot).get(usize::from(part)).map_or_else(|| self.filter(slot), |placed| placed.part.filter)
    }

    /// The mass properties that a dynamic body has once these parts are added, in its present axes. `None` if its mass stays
    /// infinite. A centre that was set by hand stays.
    pub(crate) fn mass_with(&self, slot: usize, parts: &[Part]) -> Option<Mass> {
        if self.body_type(slot) != BodyType::Dynamic {
            return None;
        }
        if self.true_inverses(slot).0 == 0.0 && self.massless_of(slot).is_none() {
            return None;
        }
        let mut mass = parts.iter().fold(self.mass(slot), |mass, part| mass.with(Mass::of(part)));
        if self.by_hand(slot).centre {
            mass.inertia += mass.mass * std::mem::take(&mut mass.centre).length_squared();
        }
        (mass.mass >= f64::from(LEAST_MASS)).then_some(mass)
    }

    /// The place of a body in `massless`.
    pub(super) fn massless_of(&self, slot: usize) -> Option<usize> {
        self.massless.iter().position(|massless| massless.body == self.columns.handle[slot])
    }

    /// Adds parts to a body that is awake and enabled. The caller has validated them, and the body is not a half-space, a particle, an axis-aligned box or
    /// a chain's segment. The places of the parts are from the present centre. With a `mass` (see [`Bodies::mass_with`]) the
    /// centre moves to that of `moved`.
    pub(crate) fn add_parts(&mut self, slot: usize, parts: &[Part], mass: Option<Mass>, moved: &BodyState) {
        self.make_compound(slot);
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
            let index = c.handle[slot].index;
            let by_hand = self.own.by_hand(index);
            if by_hand.mass.is_some() || by_hand.inertia.is_some() {
                let inertia = by_hand.inertia.map(|_| mass.inertia as f32);
                let of = by_hand.mass.map(|_| mass.mass as f32);
                self.own.set_by_hand(index, ByHand { mass: of, inertia, ..by_hand });
            }
            if turns {
                c.inv_inertia[slot] = (1.0 / mass.inertia) as f32;
                c.radius[slot] = (2.0 * mass.inertia / mass.mass).sqrt() as f32;
            } else {
                c.radius[slot] = 0.0;
            }
        } else {
            c.radius[slot] = 1.0;
            // What the body weighs once it is dynamic.
            let index = c.handle[slot].index;
            let by_hand = self.own.by_hand(index);
            if let Some(of) = by_hand.mass.filter(|&mass| mass > 0.0) {
                let of = of + super::mass::mass_of_parts(parts).mass as f32;
                self.own.set_by_hand(index, ByHand { mass: Some(of), ..by_hand });
            }
        }
        c.furthest[slot] = compound.reach();
        c.thickness[slot] = compound.thickness();
        self.any_manifold = true;
        for part in parts {
            self.any_rough |= part.material.is_rough();
            self.any_restitution |= part.material.restitution > 0.0;
            self.any_filter |= part.sensor || part.filter != Filter::default();
        }
        self.note_sensor(slot);
    }

    /// Sets the filter of a body and of all its parts.
    pub(crate) fn set_filter(&mut self, slot: usize, filter: Filter) {
        self.any_filter |= filter != Filter::default();
        if self.columns.kind[slot].shape() == ShapeKind::Compound {
            for placed in &mut self.compounds[self.columns.outline[slot] as usize].parts {
                match &mut placed.sensor_filter {
                    Some(of_sensor) => *of_sensor = filter,
                    None => placed.part.filter = filter,
                }
            }
        } else if let Some(of_sensor) = self.sensors.filter_mut(self.columns.handle[slot]) {
            *of_sensor = filter;
            return;
        }
        self.set_columns_filter(slot, filter);
    }

    pub(super) fn set_columns_filter(&mut self, slot: usize, filter: Filter) {
        let c = &mut self.columns;
        (c.category[slot], c.mask[slot], c.group[slot]) = (filter.category, filter.mask, filter.group);
    }

    pub(super) fn placed(&mut self, part: &Part) -> Placed {
        let outline = self.outlines.acquire(&part.shape);
        let (reach, thickness) = {
            let outline = self.outlines.outline(outline);
            (outline.reach(), outline.thickness())
        };
        let material = self.materials.acquire(&part.material);
        let sensor_filter = part.sensor.then_some(part.filter);
        let filter = if part.sensor { Filter::NOTHING } else { part.filter };
        let part = Part { filter, ..*part };
        Placed { part, sensor_filter, outline, material, turn: turn_of(&part), reach, thickness }
    }

    /// Updates the extents of a body that turns to its present angle.
    pub(crate) fn update_extents(&mut self, slot: usize) {
        if self.columns.kind[slot].shape().turns() {
            (self.columns.ext_x[slot], self.columns.ext_y[slot]) = self.bounds(slot).into();
        }
    }

    /// Half extents of the smallest axis-aligned box about the centre that holds a body's shapes now. The body is not a
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

    /// Bounds `[min_x, max_x, min_y, max_y]` of a body now, without a sine: those of the disc around a shape that turns. With what rounding
    /// may take away. `None` for a half-space.
    pub(crate) fn disc_bounds(&self, slot: usize) -> Option<[f32; 4]> {
        let (c, position) = (&self.columns, self.position(slot));
        let half = match c.kind[slot].shape() {
            ShapeKind::HalfSpace => return None,
            shape if shape.turns() => Vec2::splat(c.furthest[slot]),
            _ => Vec2::new(c.ext_x[slot], c.ext_y[slot]),
        };
        let half = half + 4.0 * f32::EPSILON * (position.abs() + half);
        let (lower, upper) = (position - half, position + half);
        Some([lower.x, upper.x, lower.y, upper.y])
    }

    /// Visits the outlines of a body that turns, each with its offset from the body's centre and its (sin, cos). Stops and
    /// returns false when `visit` returns false.
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

    /// The mass properties of a dynamic body, in its own axes.
    fn mass(&self, slot: usize) -> Mass {
        let inverse = |value: f32| if value > 0.0 { 1.0 / f64::from(value) } else { 0.0 };
        let (inv_mass, inv_inertia) = self.true_inverses(slot);
        Mass { mass: inverse(inv_mass), centre: glam::DVec2::ZERO, inertia: inverse(inv_inertia) }
    }

    /// The row of a compound's first part among the rows of shapes.
    pub(crate) fn part_row(&self, slot: usize) -> u32 {
        self.compounds[self.columns.outline[slot] as usize].first_row
    }

    /// The number of parts of all compounds.
    pub(crate) fn part_count(&self) -> usize {
        self.compounds.iter().map(|compound| compound.parts.len()).sum()
    }

    /// Gives the parts of all compounds their rows, from `first` on. Returns the row after the last one.
    pub(crate) fn place_parts(&mut self, first: usize) -> usize {
        let mut next = first as u32;
        for compound in &mut self.compounds {
            compound.first_row = next;
            next += compound.parts.len() as u32;
        }
        next as usize
    }

    /// Gives an axis-aligned box an outline if it has none.
    fn outline_box(&mut self, slot: usize) {
        let kind = self.columns.kind[slot];
        if kind.shape() == ShapeKind::Aabb
            && kind.motion() != Motion::Dead
            && self.columns.outline[slot] == NO_OUTLINE
        {
            self.columns.outline[slot] = self.outlines.acquire(&self.shape(slot));
            self.change_still();
        }
    }

    /// Prepares one body that is added to a pair list. See [`Bodies::prepare_outlines`].
    pub(crate) fn prepare_outline(&mut self, slot: usize) {
        if self.outlines.any_hull {
            self.outline_box(slot);
        }
        if self.any_manifold {
            self.update_extents(slot);
        }
    }

    /// Prepares shapes for a new pair list: extents of shapes that turn, at their present angle, and outlines of axis-aligned
    /// boxes if these may meet outlines that are not boxes. `known` are the angles, by slot, for which the first bodies have their
    /// extents: static ones that have not turned since need no new ones. (In worlds with much terrain these are most bodies.)
    pub(crate) fn prepare_outlines(&mut self, known: &[f32], crew: &Crew<'_>) {
        if !self.any_manifold {
            return;
        }
        if self.outlines.any_hull {
            (0..self.len).for_each(|slot| self.outline_box(slot));
        }
        let (outlines, compounds) = (&self.outlines, &self.compounds);
        let c = &mut self.columns;
        let (kind, angle, outline) = (&c.kind, &c.angle, &c.outline);
        let (ext_x, ext_y) = (SharedSlice::new(&mut c.ext_x), SharedSlice::new(&mut c.ext_y));
        crew.chunks(self.len, CHUNK, |range| {
            #[allow(unsafe_code)]
            // SAFETY: `Crew::chunks` gives out disjoint ranges, each once, so no other reference has these elements.
            let (ext_x, ext_y) = unsafe { (ext_x.range(range.clone()), ext_y.range(range.clone())) };
            for (i, slot) in range.enumerate() {
                let (shape, motion) = (kind[slot].shape(), kind[slot].motion());
                let is_known =
                    || known.get(slot).is_some_and(|known| known.to_bits() == angle[slot].to_bits());
                let stays = motion == Motion::Static && shape != ShapeKind::Compound && is_known();
                // A removed body has no outline any more.
                if shape.turns() && motion != Motion::Dead && !stays {
                    let turn = sin_cos(angle[slot]);
                    let half = if shape == ShapeKind::Compound {
                        compounds[outline[slot] as usize].bounds(turn)
                    } else {
                        outlines.bounds(outline[slot], shape, turn)
                    };
                    (ext_x[i], ext_y[i]) = half.into();
                }
            }
        });
    }
}
