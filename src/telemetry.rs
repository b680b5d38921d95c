//! How good the state is: penetration, energy, momentum; and one number for all of it.

use crate::body::Motion;
use crate::broadphase::general::ShapeRef;
use crate::broadphase::shape_row;
use crate::compound::Compound;
use crate::lane::{Row, RowOffset};
use crate::narrowphase::{ShapeRows, general_separation, touch_one};
use crate::shape::ShapeKind;
use crate::trig::sin_cos;
use crate::world::World;
use glam::Vec2;

/// Measures of the present state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Pairs that overlap.
    pub contacts: usize,
    /// Mean depth of the pairs that overlap, m.
    pub mean_penetration: f64,
    /// Largest depth, m.
    pub max_penetration: f64,
    /// Of all bodies with a mass, linear and angular, J.
    pub kinetic_energy: f64,
    /// Sum of mass × velocity, N·s.
    pub momentum: [f64; 2],
    /// Root of the mean square speed of the dynamic bodies, m/s.
    pub rms_speed: f64,
}

impl World {
    /// Measures the present state.
    pub fn quality(&self) -> Quality {
        let mut quality = Quality::default();
        self.measure_penetration(&mut quality);
        self.measure_motion(&mut quality);
        quality
    }

    /// Over the pair list, which has every pair that can overlap.
    fn measure_penetration(&self, quality: &mut Quality) {
        let c = &self.bodies.columns;
        let row = |slot: usize| {
            let (pos, ext) = ([c.pos_x[slot], c.pos_y[slot]], [c.ext_x[slot], c.ext_y[slot]]);
            shape_row(c.kind[slot], pos, ext, c.ext_z[slot]).0
        };
        let mut total = 0.0;
        for pair in self.contacts.all().flat_map(|tile| tile.pairs()) {
            let (a, b) = (pair.a as usize, pair.b as usize);
            if !c.kind[a].is_solid() || !c.kind[b].is_solid() {
                continue;
            }
            let (first, second) = if pair.swap { (b, a) } else { (a, b) };
            let separation = if pair.kind.is_general() {
                let [part_a, part_b] = if pair.swap { [1, 0] } else { [0, 1] }.map(|i: usize| pair.parts[i]);
                let (one, two) = (self.shape_rows(first, part_a), self.shape_rows(second, part_b));
                general_separation(pair.kind, &self.bodies.outlines.rows, &one, &two)
            } else {
                touch_one(pair.kind, row(first), row(second)).separation
            };
            let depth = -f64::from(separation);
            if depth > 0.0 {
                quality.contacts += 1;
                total += depth;
                quality.max_penetration = quality.max_penetration.max(depth);
            }
        }
        quality.mean_penetration = total / quality.contacts.max(1) as f64;
    }

    /// What the narrowphase would read of a body's shape, or of one of its parts, now.
    fn shape_rows(&self, slot: usize, part: u8) -> ShapeRows {
        let c = &self.bodies.columns;
        let shape = ShapeRef::new(&self.bodies, slot, part);
        let outline = RowOffset::of(shape.outline_row);
        let (position, angle) = (self.bodies.position(slot), c.angle[slot]);
        let turn = sin_cos(if c.arm[slot] > 0.0 { angle } else { 0.0 });
        let placed = self.bodies.parts(slot).get(usize::from(part));
        let (offset, (sin, cos)) = placed.map_or((Vec2::ZERO, turn), |placed| Compound::place(placed, turn));
        let Vec2 { x, y } = position + offset;
        let half = match shape.kind {
            ShapeKind::Circle | ShapeKind::Particle => [shape.radius; 2],
            ShapeKind::HalfSpace | ShapeKind::Aabb => [c.ext_x[slot], c.ext_y[slot]],
            _ => {
                let [half_x, half_y, ..] = self.bodies.outlines.rows[shape.outline_row as usize].0;
                [half_x, half_y]
            }
        };
        let size = match shape.kind {
            ShapeKind::HalfSpace => Row([half[0], half[1], c.ext_z[slot], 0.0]),
            _ => Row([x, y, half[0], half[1]]),
        };
        ShapeRows { size, frame: Row([x, y, cos, sin]), outline }
    }

    /// In handle order, so that the sums depend on no order of storage.
    fn measure_motion(&self, quality: &mut Quality) {
        let c = &self.bodies.columns;
        let (mut squares, mut count) = (0.0, 0usize);
        for (_, slot) in self.bodies.by_index() {
            let velocity = [f64::from(c.vel_x[slot]), f64::from(c.vel_y[slot])];
            let speed_squared = velocity[0] * velocity[0] + velocity[1] * velocity[1];
            if c.kind[slot].motion() == Motion::Dynamic {
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

    /// A hash of all bodies' states, in handle order: equal bits, equal hash, on every lane width,
    /// thread count and instruction set.
    pub fn state_hash(&self) -> u64 {
        let c = &self.bodies.columns;
        let mut hash = Hash::new();
        for (handle, slot) in self.bodies.by_index() {
            hash.add(handle.index);
            hash.add(handle.generation);
            for column in [&c.pos_x, &c.pos_y, &c.angle, &c.vel_x, &c.vel_y, &c.omega] {
                hash.add(column[slot].to_bits());
            }
        }
        hash.finish()
    }
}

/// A multiplicative hash of 32-bit words: an odd multiplier spreads each word, a rotation brings the high
/// bits down, and the finish is the 64-bit mixer of MurmurHash3.
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
