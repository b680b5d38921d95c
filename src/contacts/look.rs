//! What a contact is to the host: its bodies, parts and points; and the hooks' look at the contacts of a step.

use super::build::Coefficients;
use super::{BLOCK, BounceBlock, Contacts, Places, Tile, set_bits};
use crate::body::Bodies;
use crate::body::hooks::{HookContact, HookPoint, Hooks};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::{Row, RowOffset, with_lanes};
use crate::material::{Material, Mixing};
use crate::narrowphase::NO_CONTACT;
use glam::Vec2;

/// The data by which contacts are looked at.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub bodies: &'a Bodies,
    /// The rows of shapes and velocities at the start of the step.
    pub shape: &'a [Row],
    pub vel: &'a [Row],
    pub mixing: Mixing,
    pub level: Level,
}

impl Contacts {
    /// The tiles in which a slot's body may have contacts: its own and the one before it, or all of them if it is in none; and the overflow
    /// tile.
    pub(crate) fn tiles_near(&self, slot: usize) -> impl Iterator<Item = &Tile> {
        let own = self.tiles().partition_point(|tile| tile.slots.end <= slot);
        let near =
            if own < self.active_tiles { own.saturating_sub(1)..own + 1 } else { 0..self.active_tiles };
        self.tiles[near].iter().chain([&self.overflow])
    }
}

impl Tile {
    /// Returns the active lanes of a block that name a row.
    pub(crate) fn lanes_of(&self, block: usize, row: RowOffset) -> u16 {
        let normal = &self.normal[block];
        // Compared without a branch, by vectors. Few blocks name the row.
        let names = |places: &Places| places.iter().fold(false, |named, &at| named | (at == row));
        if self.info[block].active == 0 || !names(&normal.a) && !names(&normal.b) {
            return 0;
        }
        let named = normal.a.iter().zip(normal.b.iter()).enumerate();
        let named = named.fold(0, |bits, (lane, (&a, &b))| bits | u16::from((a == row) | (b == row)) << lane);
        named & self.info[block].active
    }

    /// The numbers of the parts of A and B in a lane; 0 for a body of one shape.
    pub(crate) fn parts_of(&self, bodies: &Bodies, block: usize, lane: usize) -> [u8; 2] {
        let Some(manifold) = self.manifold_of(block) else { return [0; 2] };
        let normal = &self.normal[block];
        let of = |slot: usize, shape: usize| {
            if slot == shape || bodies.columns.kind[slot].shape() != ShapeKind::Compound {
                return 0;
            }
            shape.checked_sub(bodies.part_row(slot) as usize).map_or(0, |part| part as u8)
        };
        [
            of(normal.a[lane].row(), manifold.shape_a[lane].row()),
            of(normal.b[lane].row(), manifold.shape_b[lane].row()),
        ]
    }

    /// The place of a point of a contact, m: midway between the surfaces, at the start of the step. `shape` are the rows of the shapes.
    pub(crate) fn place_of(
        &self,
        bodies: &Bodies,
        shape: &[Row],
        (block, lane): (usize, usize),
        point: usize,
    ) -> Vec2 {
        let normal = &self.normal[block];
        let start = |slot: usize| Vec2::from_slice(&shape[slot].0[..2]);
        if let Some(manifold) = self.manifold_of(block) {
            let [x, y] = manifold.place[point].map(|place| place[lane]);
            return start(manifold.shape_a[lane].row()) + Vec2::new(x, y);
        }
        // In these pairs A is never a half-space. B is the only round shape only if B is fixed.
        let (a, b) = (normal.a[lane].row(), normal.b[lane].row());
        let n = Vec2::new(normal.normal_x[lane], normal.normal_y[lane]);
        let half_gap = 0.5 * normal.separation[lane];
        let extents = |slot: usize| Vec2::from_slice(&shape[slot].0[2..]);
        let kind = |slot: usize| bodies.columns.kind[slot].shape();
        let boxes = |slot: usize| kind(slot) == ShapeKind::Aabb;
        if !boxes(a) {
            return start(a) + (extents(a).x + half_gap) * n;
        }
        match kind(b) {
            ShapeKind::Circle | ShapeKind::Particle => start(b) - (extents(b).x + half_gap) * n,
            ShapeKind::HalfSpace => start(a) + (extents(a).dot(n.abs()) + half_gap) * n,
            _ => {
                // The middle of the part that the two faces share.
                let lower = (start(a) - extents(a)).max(start(b) - extents(b));
                let upper = (start(a) + extents(a)).min(start(b) + extents(b));
                0.5 * (lower + upper)
            }
        }
    }

    /// Takes a contact out of the step: it is as one whose shapes are not near.
    pub(crate) fn switch_off(&mut self, block: usize, lane: usize) {
        let info = &mut self.info[block];
        info.active &= !(1 << lane);
        info.touching &= !(1 << lane);
        let (normal, friction) = (&mut self.normal[block], &mut self.friction[block]);
        (normal.separation[lane], normal.normal_impulse[lane]) = (NO_CONTACT, 0.0);
        friction.tangent_impulse[lane] = 0.0;
        if let Some(bounce) = self.bounce.get_mut(block) {
            let restitution = bounce.restitution[lane];
            bounce.copy_lane(&BounceBlock::NONE, lane);
            bounce.restitution[lane] = restitution;
        }
        let place = info.manifold as usize;
        if let Some(manifold) = self.manifold.get_mut(place) {
            (manifold.second.separation[lane], manifold.second.normal_impulse[lane]) = (NO_CONTACT, 0.0);
        }
        if let Some(rough) = self.rough.get_mut(place) {
            rough.rolling_impulse[lane] = 0.0;
        }
    }
}

impl Look<'_> {
    /// Shows the contacts of a tile to the hooks, and does what they say.
    pub(crate) fn ask(&self, hooks: &dyn Hooks, tile: &mut Tile) {
        let mut coefficients = Coefficients::new(self.bodies, self.mixing);
        for block in 0..tile.info.len() {
            let lanes = tile.info[block].active;
            if lanes == 0 {
                continue;
            }
            let speeds = with_lanes!(self.level, L => tile.approach_speeds::<L>(self.vel, block));
            for lane in set_bits(lanes.into()) {
                let materials = self.materials(tile, block, lane);
                let mut contact = self.contact(tile, (block, lane), &speeds);
                contact.coefficients = coefficients.of(materials[0], materials[1]);
                let [a, b] = materials.map(|material| self.bodies.materials()[material as usize]);
                contact.tangent_speed = a.tangent_speed + b.tangent_speed;
                self.ask_of(hooks, tile, (block, lane), contact);
            }
        }
    }

    fn ask_of(
        &self,
        hooks: &dyn Hooks,
        tile: &mut Tile,
        (block, lane): (usize, usize),
        contact: HookContact,
    ) {
        let mut changed = contact;
        hooks.before_solve(&mut changed);
        if !changed.solve {
            return tile.switch_off(block, lane);
        }
        // Also what the hooks did not change: the lane may hold what they wrote in the step before.
        let mixed = changed.coefficients.or(&contact.coefficients);
        let friction = &mut tile.friction[block];
        friction.static_friction[lane] = mixed.static_friction;
        friction.dynamic_friction[lane] = mixed.dynamic_friction;
        if let Some(bounce) = tile.bounce.get_mut(block) {
            bounce.restitution[lane] = mixed.restitution;
        }
        let place = tile.info[block].manifold as usize;
        if let Some(rough) = tile.rough.get_mut(place) {
            let within = changed.tangent_speed.abs() <= Material::MAX;
            rough.tangent_speed[lane] = if within { changed.tangent_speed } else { contact.tangent_speed };
        }
    }

    /// The numbers of the materials of the two shapes in a lane.
    fn materials(&self, tile: &Tile, block: usize, lane: usize) -> [u32; 2] {
        let normal = &tile.normal[block];
        let parts = tile.parts_of(self.bodies, block, lane);
        let slots = [normal.a[lane].row(), normal.b[lane].row()];
        std::array::from_fn(|side| {
            let placed = self.bodies.parts(slots[side]).get(usize::from(parts[side]));
            placed.map_or_else(|| self.bodies.columns.material[slots[side]], |placed| placed.material)
        })
    }

    fn contact(&self, tile: &Tile, (block, lane): (usize, usize), speeds: &[[f32; BLOCK]; 2]) -> HookContact {
        let normal = &tile.normal[block];
        let [part_a, part_b] = tile.parts_of(self.bodies, block, lane);
        let mut points = [HookPoint::default(); 2];
        let mut count = 0;
        for (point, speeds) in speeds.iter().enumerate() {
            let separation = tile.point_separation(block, lane, point);
            if separation < NO_CONTACT {
                let place = tile.place_of(self.bodies, self.shape, (block, lane), point);
                points[count] = HookPoint { point: place, separation, approach_speed: speeds[lane] };
                count += 1;
            }
        }
        HookContact {
            a: self.bodies.handle(normal.a[lane].row()),
            b: self.bodies.handle(normal.b[lane].row()),
            part_a,
            part_b,
            normal: Vec2::new(normal.normal_x[lane], normal.normal_y[lane]),
            points,
            count: count as u8,
            solve: true,
            coefficients: Default::default(),
            tangent_speed: 0.0,
        }
    }
}
