//! What a renderer reads: the bodies in the order of storage, for each its shapes and their places; the places of joints.

use super::World;
use crate::body::compound::Compound;
use crate::body::{BodyHandle, Motion};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::geometry::trig::sin_cos;
use crate::joints::desc::{JointEnds, JointFrame, JointHandle, JointKind};
use crate::joints::table::Joint;
use crate::solver::joints::SERIAL;
use glam::Vec2;

/// How a body takes part in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The body stands still.
    Static,
    /// The body moves as the host tells it.
    Kinematic,
    /// The body moves by forces and contacts.
    Dynamic,
    /// The body went bad, see [`Quarantine`](crate::Quarantine).
    Quarantined,
    /// The body takes part in nothing, see [`World::set_enabled`].
    Disabled,
}

/// A body as it lies in storage, see [`World::stored_body`].
#[derive(Clone, Copy)]
pub struct StoredBody<'a> {
    world: &'a World,
    slot: usize,
}

/// A shape and its place in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedShape {
    /// The shape.
    pub shape: Shape,
    /// The shape's centre, m.
    pub position: Vec2,
    /// Sine and cosine of the shape's angle.
    pub turn: (f32, f32),
}

/// A joint and where it is, see [`World::coloured_joints`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedJoint {
    /// The joint.
    pub joint: JointHandle,
    /// What it does.
    pub kind: JointKind,
    /// The bodies at its ends, A and B. `None` for B of a target joint, and for both ends of a gear.
    pub bodies: [Option<BodyHandle>; 2],
    /// The held points of A and B, m. Of a target joint: the held point, and the place to which it is pulled. Of a gear: where each of
    /// its two joints holds its own A.
    pub points: [Vec2; 2],
    /// The direction of the x axis of A's frame: along it a prismatic joint or a wheel slides. (1, 0) for a gear.
    pub axis: Vec2,
}

impl World {
    /// The joints that are solved, each with the colour in which it is solved, by handle index. Joints of one colour move no body in
    /// common, and are solved at the same time. Joints with the colour `None` are solved one after the other, or sleep. Joints that are not
    /// enabled and filters are not among them.
    pub fn coloured_joints(&self) -> impl Iterator<Item = (Option<u8>, PlacedJoint)> + '_ {
        self.joints.iter().filter_map(|(handle, joint)| {
            let colour = joint.place.map(|place| place.colour).filter(|&colour| colour != SERIAL);
            let drawn = joint.place.is_some() || joint.asleep.is_some();
            drawn.then(|| (colour, self.placed_joint(handle, joint)))
        })
    }

    fn placed_joint(&self, handle: JointHandle, joint: &Joint) -> PlacedJoint {
        let desc = &joint.desc;
        let [(point_a, axis), (point_b, _)] = [(desc.frame_a, 0), (desc.frame_b, 1)]
            .map(|(frame, side)| self.placed_frame(joint.bodies()[side], &frame));
        let (points, axis) = match (desc.ends, desc.kind) {
            (JointEnds::Joints(first, second), _) => {
                let point = |member| {
                    let Ok(member) = self.joints.get(member) else { return Vec2::ZERO };
                    self.placed_frame(member.bodies()[0], &member.desc.frame_a).0
                };
                ([point(first), point(second)], Vec2::X)
            }
            (_, JointKind::Target { target, .. }) => ([point_a, target], axis),
            _ => ([point_a, point_b], axis),
        };
        PlacedJoint { joint: handle, kind: desc.kind, bodies: joint.bodies(), points, axis }
    }

    /// Returns the point and the direction of a frame in the world.
    fn placed_frame(&self, body: Option<BodyHandle>, frame: &JointFrame) -> (Vec2, Vec2) {
        let slot = body.and_then(|body| self.bodies.slot_at(body.index));
        let Some(slot) = slot else { return (frame.position, frame.axis()) };
        let (sin, cos) = sin_cos(self.bodies.columns.angle[slot]);
        let axes = Vec2::new(cos, sin);
        (self.bodies.position(slot) + axes.rotate(frame.position), axes.rotate(frame.axis()))
    }

    /// The number of places for [`World::stored_body`]: at least [`World::body_count`].
    pub fn storage_len(&self) -> usize {
        self.bodies.len
    }

    /// Returns the body in place `index` of storage, or `None` if the place holds no body. Neighbours in space are
    /// mostly neighbours in storage. The order changes as bodies move, but not within a step.
    pub fn stored_body(&self, index: usize) -> Option<StoredBody<'_>> {
        let held = index < self.bodies.len && self.bodies.columns.kind[index].motion() != Motion::Dead;
        held.then_some(StoredBody { world: self, slot: index })
    }

    /// The places of storage at which the tiles of the solver begin. A tile is what one thread solves at a time.
    pub fn tile_starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.contacts.tiles().iter().map(|tile| tile.slots.start)
    }
}

impl<'a> StoredBody<'a> {
    /// The body's handle.
    pub fn handle(&self) -> BodyHandle {
        self.world.bodies.handle(self.slot)
    }

    /// How the body takes part in the simulation.
    pub fn role(&self) -> Role {
        match self.world.bodies.columns.kind[self.slot].motion() {
            Motion::Static => Role::Static,
            Motion::Kinematic => Role::Kinematic,
            Motion::Dynamic | Motion::Asleep => Role::Dynamic,
            Motion::Quarantined | Motion::Dead => Role::Quarantined,
            Motion::Disabled => Role::Disabled,
        }
    }

    /// The kind of the body's shape.
    pub fn kind(&self) -> ShapeKind {
        self.world.bodies.columns.kind[self.slot].shape()
    }

    /// The body's position, m.
    pub fn position(&self) -> Vec2 {
        self.world.bodies.position(self.slot)
    }

    /// The body's velocity, m/s.
    pub fn velocity(&self) -> Vec2 {
        self.world.bodies.velocity(self.slot)
    }

    /// Half the size of the box around the body, m, about its position. For a body that turns this is the box of the
    /// last pair list: accurate enough for a camera. Infinite for a half-space.
    pub fn half_extents(&self) -> Vec2 {
        if self.kind() == ShapeKind::HalfSpace {
            return Vec2::INFINITY;
        }
        let c = &self.world.bodies.columns;
        Vec2::new(c.ext_x[self.slot], c.ext_y[self.slot])
    }

    /// The body's shapes: one, or one for each part of a compound.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = PlacedShape> + use<'a> {
        let bodies = &self.world.bodies;
        let kind = self.kind();
        // The angle of any other shape does not matter.
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
