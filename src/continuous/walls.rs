//! Walls: the shapes of bodies that nothing pushes, ordered by place.
//!
//! The pair list can't answer what a fast body meets: a body that was struck within the step is where the list did not expect it.
//! And most lists hold a thousand bodies for each wall. So walls have an index of their own. That of static bodies is made anew
//! only after one of them was edited, that of the others in each step.

use super::fast::FAST;
use super::shape::{Frame, ShapeAt, Sweep};
use crate::base::room::make_room;
use crate::body::{Bodies, Motion};
use crate::broadphase::levels::Levels;
use crate::geometry::shape::ShapeKind;
use crate::lane::Row;
use glam::Vec2;

/// A shape of a body: the index of its handle, and the number of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wall {
    pub body: u32,
    pub part: u8,
}

/// So many boxes are looked at one by one.
const FEW: usize = 16;

/// Boxes, ordered by place if they are many.
#[derive(Default)]
pub(super) struct Boxes {
    levels: Levels,
    min_x: Vec<f32>,
    max_x: Vec<f32>,
    min_y: Vec<f32>,
    max_y: Vec<f32>,
}

impl Boxes {
    pub(super) fn clear(&mut self, room: usize) {
        for column in [&mut self.min_x, &mut self.max_x, &mut self.min_y, &mut self.max_y] {
            make_room(column, room);
        }
    }

    pub(super) fn push(&mut self, [lower, upper]: [Vec2; 2]) {
        self.min_x.push(lower.x);
        self.max_x.push(upper.x);
        self.min_y.push(lower.y);
        self.max_y.push(upper.y);
    }

    pub(super) fn order(&mut self) {
        if self.min_x.len() <= FEW {
            return;
        }
        self.levels.build_boxes([&self.min_x, &self.max_x, &self.min_y, &self.max_y], 0.0);
    }

    /// The box with this number.
    pub(super) fn get(&self, number: usize) -> [Vec2; 2] {
        [Vec2::new(self.min_x[number], self.min_y[number]), Vec2::new(self.max_x[number], self.max_y[number])]
    }

    /// Visits the numbers of all boxes that overlap this one, in an order that depends on the boxes alone.
    pub(super) fn visit(&self, [lower, upper]: [Vec2; 2], mut visit: impl FnMut(usize)) {
        if self.min_x.len() <= FEW {
            for number in 0..self.min_x.len() {
                let across = self.min_x[number] <= upper.x && self.max_x[number] >= lower.x;
                if across && self.min_y[number] <= upper.y && self.max_y[number] >= lower.y {
                    visit(number);
                }
            }
            return;
        }
        self.levels.visit([lower.x, upper.x], [lower.y, upper.y], |number| {
            visit(number);
            true
        });
    }
}

/// Shapes with the boxes in which they are at some time of the step. Half-spaces have no box.
#[derive(Default)]
pub(super) struct WallIndex {
    pub walls: Vec<Wall>,
    pub boxes: Boxes,
    /// How each wall moves, and the box about its shape, in the shape's axes, at the start of the step.
    sweeps: Vec<Sweep>,
    frames: Vec<Frame>,
    pub planes: Vec<Wall>,
}

impl WallIndex {
    fn clear(&mut self, room: usize) {
        make_room(&mut self.walls, room);
        make_room(&mut self.sweeps, room);
        make_room(&mut self.frames, room);
        self.boxes.clear(room);
        self.planes.clear();
    }

    /// Adds the shapes of a body.
    fn add(&mut self, bodies: &Bodies, slot: usize, sweep: &Sweep) {
        let body = bodies.handle(slot).index();
        if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
            self.planes.push(Wall { body, part: 0 });
            return;
        }
        for part in 0..bodies.shape_count(slot) {
            let shape = ShapeAt::new(bodies, slot, part);
            self.walls.push(Wall { body, part });
            self.sweeps.push(*sweep);
            self.frames.push(shape.frame(sweep));
            self.boxes.push(shape.swept_box(sweep));
        }
    }

    /// Whether a body of this reach and thickness may meet a wall on its way, which is in the box `of`. Half-spaces are left out.
    fn may_meet(&self, of: [Vec2; 2], sweep: &Sweep, reach: f32, thickness: f32) -> bool {
        let mut meets = false;
        self.boxes.visit(of, |number| {
            let way = sweep.way_against(&self.sweeps[number], reach);
            meets |= way > FAST * thickness && !self.frames[number].is_beyond(sweep.from, way + reach);
        });
        meets
    }

    fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(Wall)) {
        self.planes.iter().copied().for_each(&mut visit);
        self.boxes.visit(of, |number| visit(self.walls[number]));
    }
}

/// All walls of a world.
#[derive(Default)]
pub(crate) struct Walls {
    /// A static body was added, removed or changed since the index was made, or one that moves by its own velocity alone was added or
    /// removed.
    pub(crate) stale: bool,
    fixed: WallIndex,
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
        self.moving.clear(self.movers.len());
        for &index in &self.movers {
            if let Some(slot) = bodies.slot_at(index) {
                self.moving.add(bodies, slot, &Sweep::of(bodies, slot, &moved[slot]));
            }
        }
        self.moving.boxes.order();
    }

    /// Whether a body may meet a wall on its way. (Of a hundred fast bodies in a drum, few are near its walls, while the boxes around
    /// these walls hold all of them.)
    pub(super) fn may_meet(&self, bodies: &Bodies, slot: usize, sweep: &Sweep) -> bool {
        let c = &bodies.columns;
        let reach = c.furthest[slot].max(Vec2::new(c.ext_x[slot], c.ext_y[slot]).length());
        let thickness = bodies.thickness(slot);
        let (from, to) = (sweep.from, sweep.from + sweep.moved);
        let of = [from.min(to) - reach, from.max(to) + reach];
        !self.fixed.planes.is_empty()
            || !self.moving.planes.is_empty()
            || self.fixed.may_meet(of, sweep, reach, thickness)
            || self.moving.may_meet(of, sweep, reach, thickness)
    }

    /// Visits the walls whose boxes overlap this one, and all half-spaces.
    pub(super) fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(Wall)) {
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
        self.fixed.clear(bodies.static_count);
        for (body, slot) in walls {
            if is_static(slot) {
                self.fixed.add(bodies, slot, &Sweep::at_rest(bodies, slot));
            } else {
                self.movers.push(body.index());
            }
        }
        self.fixed.boxes.order();
    }
}
