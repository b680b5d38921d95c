//! What a renderer reads: bodies in the order of storage, each with its shapes where they are.

use super::World;
use crate::body::compound::Compound;
use crate::body::{BodyHandle, Motion};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::sin_cos;
use glam::Vec2;

/// How a body takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It stands still.
    Static,
    /// It moves as it is told.
    Kinematic,
    /// It moves as forces and contacts tell.
    Dynamic,
    /// It went bad, see [`Quarantine`](crate::Quarantine).
    Quarantined,
}

/// A body as it lies in storage, see [`World::stored_body`].
#[derive(Clone, Copy)]
pub struct StoredBody<'a> {
    world: &'a World,
    slot: usize,
}

/// A shape where it is in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedShape {
    /// The shape.
    pub shape: Shape,
    /// Its centre, m.
    pub position: Vec2,
    /// Sine and cosine of its angle.
    pub turn: (f32, f32),
}

impl World {
    /// How many places there are for [`World::stored_body`]: at least [`World::body_count`].
    pub fn storage_len(&self) -> usize {
        self.bodies.len
    }

    /// The body in a place of storage: neighbours in space are mostly neighbours there. `None` for a place that holds none. The
    /// order changes as bodies move, and not within a step.
    pub fn stored_body(&self, index: usize) -> Option<StoredBody<'_>> {
        let held = index < self.bodies.len && self.bodies.columns.kind[index].motion() != Motion::Dead;
        held.then_some(StoredBody { world: self, slot: index })
    }

    /// Where the tiles of the solver begin, as places of storage: a tile is what one thread solves at a time.
    pub fn tile_starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.contacts.tiles().iter().map(|tile| tile.slots.start)
    }
}

impl<'a> StoredBody<'a> {
    /// Whose place this is.
    pub fn handle(&self) -> BodyHandle {
        self.world.bodies.handle(self.slot)
    }

    /// How it takes part.
    pub fn role(&self) -> Role {
        match self.world.bodies.columns.kind[self.slot].motion() {
            Motion::Static => Role::Static,
            Motion::Kinematic => Role::Kinematic,
            Motion::Dynamic => Role::Dynamic,
            Motion::Quarantined | Motion::Dead => Role::Quarantined,
        }
    }

    /// The kind of its shape.
    pub fn kind(&self) -> ShapeKind {
        self.world.bodies.columns.kind[self.slot].shape()
    }

    /// m
    pub fn position(&self) -> Vec2 {
        self.world.bodies.position(self.slot)
    }

    /// m/s
    pub fn velocity(&self) -> Vec2 {
        self.world.bodies.velocity(self.slot)
    }

    /// Half the size of the box around it, m, about its position. Of a body that turns, as of the last pair list: near enough
    /// for a camera. Infinite for a half-space.
    pub fn half_extents(&self) -> Vec2 {
        if self.kind() == ShapeKind::HalfSpace {
            return Vec2::INFINITY;
        }
        let c = &self.world.bodies.columns;
        Vec2::new(c.ext_x[self.slot], c.ext_y[self.slot])
    }

    /// Its shapes: one, or as many as it has parts.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = PlacedShape> + use<'a> {
        let bodies = &self.world.bodies;
        let kind = self.kind();
        // Its angle is not read by a body that does not turn.
        let turns = kind.turns() || kind == ShapeKind::Circle;
        let turn = if turns { sin_cos(bodies.columns.angle[self.slot]) } else { (0.0, 1.0) };
        let (slot, position) = (self.slot, self.position());
        let parts = bodies.parts(slot);
        (0..parts.len().max(1)).map(move |index| match parts.get(index) {
            None => PlacedShape { shape: bodies.shape(slot), position, turn },
            Some(placed) => {
                let (offset, turn) = Compound::place(placed, turn);
                PlacedShape { shape: placed.part.shape, position: position + offset, turn }
            }
        })
    }
}
