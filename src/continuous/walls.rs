//! Walls: the shapes of bodies that nothing pushes, ordered by place.
//!
//! The pair list can't answer what a fast body meets: a body that was struck within the step is where the list did not expect it.
//! And most lists hold a thousand bodies for each wall. So walls have an index of their own. That of static bodies is made anew
//! only after one of them was edited, that of the others in each step.

use super::shape::{Frame, ShapeAt, Sweep};
use super::tree::BoxTree;
use crate::body::{Bodies, Motion};
use crate::geometry::shape::ShapeKind;
use crate::lane::Row;
use glam::Vec2;

/// A shape of a body: the index of its handle, and the number of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wall {
    pub body: u32,
    pub part: u8,
}

/// A wall at the start of the step: how it moves, and the box about its shape, in the shape's axes.
#[derive(Clone, Copy)]
pub(super) struct WallAt {
    pub wall: Wall,
    pub sweep: Sweep,
    pub frame: Frame,
}

/// A half-space: all points p with `normal · p ≤ offset`.
#[derive(Clone, Copy)]
pub(super) struct PlaneAt {
    wall: Wall,
    pub normal: Vec2,
    pub offset: f32,
}

/// Shapes with the boxes in which they are at some time of the step.
#[derive(Default)]
pub(super) struct WallIndex {
    pub walls: Vec<WallAt>,
    pub boxes: BoxTree,
}

impl WallIndex {
    fn clear(&mut self) {
        self.walls.clear();
        self.boxes.clear();
    }

    /// Adds the shapes of a body.
    fn add(&mut self, bodies: &Bodies, slot: usize, sweep: &Sweep) {
        let body = bodies.handle(slot).index();
        for part in 0..bodies.shape_count(slot) {
            let shape = ShapeAt::new(bodies, slot, part);
            self.walls.push(WallAt { wall: Wall { body, part }, sweep: *sweep, frame: shape.frame(sweep) });
            self.boxes.push(shape.swept_box(sweep));
        }
    }

    fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(Wall)) {
        self.boxes.visit(of, |number| visit(self.walls[number].wall));
    }
}

/// All walls of a world.
#[derive(Default)]
pub(crate) struct Walls {
    /// A static body was added, removed or changed since the index was made, or one that moves by its own velocity alone was added or
    /// removed.
    pub(crate) stale: bool,
    pub(super) planes: Vec<PlaneAt>,
    pub(super) fixed: WallIndex,
    pub(super) moving: WallIndex,
    /// The handle indices of the bodies that nothing pushes and that may move.
    movers: Vec<u32>,
}

impl Walls {
    /// Brings the walls up to date. `moved` are the rows of all movements.
    pub(super) fn update(&mut self, bodies: &Bodies, moved: &[Row]) {
        if std::mem::take(&mut self.stale) {
            self.list(bodies);
        }
        if self.movers.is_empty() {
            return;
        }
        self.moving.clear();
        for &index in &self.movers {
            if let Some(slot) = bodies.slot_at(index) {
                self.moving.add(bodies, slot, &Sweep::of(bodies, slot, &moved[slot]));
            }
        }
        self.moving.boxes.build();
    }

    /// Visits the walls whose boxes overlap this one, and all half-spaces.
    pub(super) fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(Wall)) {
        self.planes.iter().for_each(|plane| visit(plane.wall));
        self.fixed.visit(of, &mut visit);
        self.moving.visit(of, &mut visit);
    }

    fn list(&mut self, bodies: &Bodies) {
        let walls = {
            bodies.by_index().filter(|&(_, slot)| {
                let (kind, still) = (bodies.columns.kind[slot], bodies.columns.inv_mass[slot] <= 0.0);
                still && kind.is_collidable() && kind.motion() != Motion::Asleep && !bodies.is_corner(slot)
            })
        };
        let is_static = |slot: usize| bodies.columns.kind[slot].motion() == Motion::Static;
        self.movers.clear();
        self.planes.clear();
        self.moving.clear();
        self.fixed.clear();
        for (body, slot) in walls {
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                let c = &bodies.columns;
                let normal = Vec2::new(c.ext_x[slot], c.ext_y[slot]);
                let wall = Wall { body: body.index(), part: 0 };
                self.planes.push(PlaneAt { wall, normal, offset: c.ext_z[slot] });
            } else if is_static(slot) {
                self.fixed.add(bodies, slot, &Sweep::at_rest(bodies, slot));
            } else {
                self.movers.push(body.index());
            }
        }
        self.fixed.boxes.build();
    }
}
