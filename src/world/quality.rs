//! Measures of the state: penetration, energy, momentum; and one hash of all of it.

use super::World;
use crate::body::compound::{Compound, Placed};
use crate::body::{Kind, Motion};
use crate::broadphase::shape_row;
use crate::broadphase::shapes::{NO_PART, ShapeRef};
use crate::broadphase::sweep::Pair;
use crate::geometry::outline::{OUTLINE_ROWS, Outline};
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::lane::Row;
use crate::narrowphase::{PairKind, ShapeRows, shapes_separation, touch_one};
use glam::Vec2;

/// Measures of the present state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// The number of pairs that overlap.
    pub contacts: usize,
    /// Mean depth of the pairs that overlap, m.
    pub mean_penetration: f64,
    /// Largest depth, m.
    pub max_penetration: f64,
    /// The kinetic energy of all bodies with a mass, linear and angular, J.
    pub kinetic_energy: f64,
    /// The sum of mass × velocity, N·s.
    pub momentum: [f64; 2],
    /// Root of the mean square speed of the dynamic bodies, m/s.
    pub rms_speed: f64,
}

impl World {
    /// Measures the present state, whatever was done to the world since the last step. (If that, or the step, made the
    /// pair list stale, this finds the pairs anew, which takes several times as long.)
    pub fn quality(&self) -> Quality {
        let mut quality = Quality::default();
        self.measure_penetration(&mut quality);
        self.measure_motion(&mut quality);
        quality
    }

    /// Measures the pair list if it has every pair that can overlap, otherwise the pairs that do overlap, found anew.
    fn measure_penetration(&self, quality: &mut Quality) {
        let mut total = 0.0;
        let mut add = |pair: &Pair| {
            let depth = -f64::from(self.separation(pair));
            if depth > 0.0 {
                quality.contacts += 1;
                total += depth;
                quality.max_penetration = quality.max_penetration.max(depth);
            }
        };
        if self.pairs_hold() && self.bodies.asleep_count == 0 {
            let solid = |slot: u32| self.bodies.columns.kind[slot as usize].is_collidable();
            let pairs = self.contacts.all().flat_map(|tile| tile.pairs());
            pairs.filter(|pair| solid(pair.a) && solid(pair.b)).for_each(&mut add);
        } else {
            self.overlapping_bodies(|a, b| self.visit_pairs(a, b, &mut add));
        }
        // Hulls are measured as of the last substep.
        let asleep = self.sleep.iter().flat_map(|(_, island)| &island.hulls.contacts);
        for contact in self.hull_solver.contacts().iter().chain(asleep) {
            let depth = -f64::from(contact.gap);
            if depth > 0.0 {
                quality.contacts += 1;
                total += depth;
                quality.max_penetration = quality.max_penetration.max(depth);
            }
        }
        quality.mean_penetration = total / quality.contacts.max(1) as f64;
    }

    /// Visits the pairs of shapes of two bodies whose filters, and joints, let them touch.
    pub(super) fn visit_pairs(&self, a: usize, b: usize, visit: &mut impl FnMut(&Pair)) {
        let c = &self.bodies.columns;
        let (a_fixed, b_fixed) = (!self.bodies.is_movable(a), !self.bodies.is_movable(b));
        if a_fixed && b_fixed || self.bodies.are_apart(a, b) {
            return;
        }
        let shapes = |slot: usize| {
            let parts = self.bodies.parts(slot);
            let filter = self.bodies.filter(slot);
            let whole = parts.is_empty().then_some((NO_PART, c.kind[slot], filter));
            let of_part = move |(placed, part): (&Placed, u8)| {
                let kind = Kind::new(c.kind[slot].motion(), placed.part.shape.kind()).manifold();
                (part, kind, placed.part.filter)
            };
            whole.into_iter().chain(parts.iter().zip(0u8..).map(of_part))
        };
        for (part_a, kind_a, filter_a) in shapes(a) {
            for (part_b, kind_b, filter_b) in shapes(b) {
                if filter_a.touches(&filter_b) {
                    let (kind, mut swap) = PairKind::of(kind_a, a_fixed, kind_b, b_fixed);
                    if kind.is_symmetric() {
                        // The same choice as in the pair list.
                        swap = c.handle[a].index > c.handle[b].index;
                    }
                    let parts = [part_a, part_b];
                    visit(&Pair { a: a as u32, b: b as u32, separation: 0.0, kind, swap, parts });
                }
            }
        }
    }

    /// Returns the present separation of the two shapes.
    pub(super) fn separation(&self, pair: &Pair) -> f32 {
        let c = &self.bodies.columns;
        let row = |slot: usize| {
            let (pos, ext) = ([c.pos_x[slot], c.pos_y[slot]], [c.ext_x[slot], c.ext_y[slot]]);
            shape_row(c.kind[slot], pos, ext, c.ext_z[slot]).0
        };
        let (a, b) = (pair.a as usize, pair.b as usize);
        let (first, second) = if pair.swap { (b, a) } else { (a, b) };
        if pair.kind.needs_manifold() {
            let [part_a, part_b] = if pair.swap { [1, 0] } else { [0, 1] }.map(|i: usize| pair.parts[i]);
            let (one, two) = (self.shape_rows(first, part_a), self.shape_rows(second, part_b));
            shapes_separation(pair.kind, &one, &two)
        } else {
            touch_one(pair.kind, row(first), row(second)).separation
        }
    }

    /// Returns the rows that the narrowphase would read now of a body's shape, or of one of its parts.
    fn shape_rows(&self, slot: usize, part: u8) -> ShapeRows {
        let c = &self.bodies.columns;
        let shape = ShapeRef::new(&self.bodies, slot, part);
        let (position, angle) = (self.bodies.position(slot), c.angle[slot]);
        let turn = sin_cos(if c.furthest[slot] > 0.0 { angle } else { 0.0 });
        let placed = self.bodies.parts(slot).get(usize::from(part));
        let (offset, (sin, cos)) = placed.map_or((Vec2::ZERO, turn), |placed| Compound::place(placed, turn));
        let Vec2 { x, y } = position + offset;
        // The shape's own outline: the world's table may lack an outline that the narrowphase has no use for.
        let own = placed.map_or_else(|| self.bodies.shape(slot), |placed| placed.part.shape);
        let outline = Outline::of(&own)
            .map_or([Row::default(); OUTLINE_ROWS], |outline| outline.rows(own.chain_directions()));
        let half = match shape.kind {
            ShapeKind::Circle | ShapeKind::Particle => [shape.radius; 2],
            ShapeKind::HalfSpace => [c.ext_x[slot], c.ext_y[slot]],
            _ => {
                let [half_x, half_y, ..] = outline[0].0;
                [half_x, half_y]
            }
        };
        let size = match shape.kind {
            ShapeKind::HalfSpace => Row([half[0], half[1], c.ext_z[slot], 0.0]),
            _ => Row([x, y, half[0], half[1]]),
        };
        ShapeRows { size, placement: Row([x, y, cos, sin]), outline }
    }

    /// Sums in handle order, so that the sums do not depend on the order of storage.
    pub(super) fn measure_motion(&self, quality: &mut Quality) {
        let c = &self.bodies.columns;
        let (mut squares, mut count) = (0.0, 0usize);
        for (_, slot) in self.bodies.by_index() {
            let velocity = [f64::from(c.vel_x[slot]), f64::from(c.vel_y[slot])];
            let speed_squared = velocity[0] * velocity[0] + velocity[1] * velocity[1];
            if matches!(c.kind[slot].motion(), Motion::Dynamic | Motion::Asleep) {
                squares += speed_squared;
                count += 1;
            }
            if c.inv_mass[slot] > 0.0 {
                let mass = 1.0 / f64::from(c.inv_mass[slot]);
                quality.momentum[0] += mass * velocity[0];
                quality.momentum[1] += mass * velocity[1];
                quality.kinetic_energy += 0.5 * mass * speed_squared;
            }
            if c.inv_inertia[slot] > 0.0 {
                let omega = f64::from(c.omega[slot]);
                quality.kinetic_energy += 0.5 * omega * omega / f64::from(c.inv_inertia[slot]);
            }
        }
        quality.rms_speed = (squares / count.max(1) as f64).sqrt();
    }

    /// Returns a hash of all bodies' states, in handle order. Equal bits give an equal hash, with every
    /// instruction set and number of threads.
    pub fn state_hash(&self) -> u64 {
        let c = &self.bodies.columns;
        let mut hash = Hash::new();
        for (handle, slot) in self.bodies.by_index() {
            hash.add(handle.index);
            hash.add(handle.generation);
            for column in [&c.pos_x, &c.pos_y, &c.angle, &c.vel_x, &c.vel_y, &c.omega] {
                hash.add(column[slot].to_bits());
            }
            hash.add(c.turns[slot].cast_unsigned());
            // Nothing is added for a body that is awake and moves, or in a world where nothing sleeps.
            for word in [c.rest[slot].to_bits(), c.island[slot]] {
                if word != 0 {
                    hash.add(word);
                }
            }
            if let Some(kept) = self.bodies.disabled(slot) {
                let motion = [kept.velocity.x, kept.velocity.y, kept.angular_velocity];
                motion.into_iter().for_each(|value| hash.add(value.to_bits()));
            }
        }
        for (index, target) in self.bodies.own.targets() {
            hash.add(index);
            let place = [target.position.x, target.position.y, target.angle];
            place.into_iter().for_each(|value| hash.add(value.to_bits()));
        }
        hash.finish()
    }
}

/// A multiplicative hash of 32-bit words. An odd multiplier spreads each word, a rotation brings the high bits down,
/// and the finish is the 64-bit mixer of MurmurHash3.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0x6772_616E_756C_6531)
    }

    fn add(&mut self, word: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(self) -> u64 {
        let mut h = self.0;
        h = (h ^ h >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        h = (h ^ h >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        h ^ h >> 33
    }
}
