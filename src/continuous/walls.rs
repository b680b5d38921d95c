//! Walls: the shapes of bodies that nothing pushes, ordered by place.
//!
//! The pair list can't answer what a fast body meets: a body that was struck within the step is where the list did not expect it.
//! And most lists hold a thousand bodies for each wall. So walls have an index of their own. The index of walls that may move is made
//! in each step. The index of static walls is kept: an edited body is struck out of it and gets a place in a small index beside it, until so
//! many were edited that one index of all is made anew. (With a new index after each edit, ten steps in each of which one of 1,500 pegs is
//! replaced took 114 million instructions instead of 94: case `pegs` of `cargo bench -p granule-instructions`.)

use super::shape::{ShapeAt, Sweep, TurnedBox};
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
    pub turned_box: TurnedBox,
    /// False if its body was edited since.
    pub holds: bool,
}

/// A half-space: all points p with `normal · p ≤ offset`.
#[derive(Clone, Copy)]
pub(super) struct PlaneAt {
    wall: Wall,
    pub normal: Vec2,
    pub offset: f32,
}

/// Walls, each with a box that holds it throughout the step.
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
        if self.walls.is_empty() {
            // A small world often has one wall.
            self.walls.reserve_exact(usize::from(bodies.shape_count(slot)));
        }
        for part in 0..bodies.shape_count(slot) {
            let shape = ShapeAt::new(bodies, slot, part);
            let wall = Wall { body, part };
            self.walls.push(WallAt { wall, sweep: *sweep, turned_box: shape.turned_box(sweep), holds: true });
            self.boxes.push(shape.swept_box(sweep));
        }
    }

    fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(Wall)) {
        self.any(of, |wall| {
            visit(wall);
            false
        });
    }

    fn any(&self, of: [Vec2; 2], mut test: impl FnMut(Wall) -> bool) -> bool {
        self.boxes.any(of, |number| self.walls[number].holds && test(self.walls[number].wall))
    }

    /// Strikes a body out. The walls are in the order of their bodies.
    fn strike_out(&mut self, body: u32) {
        let first = self.walls.partition_point(|at| at.wall.body < body);
        for at in self.walls[first..].iter_mut().take_while(|at| at.wall.body == body) {
            at.holds = false;
        }
    }
}

/// All walls of a world.
#[derive(Default)]
pub(crate) struct Walls {
    /// All walls have to be listed anew.
    pub(crate) stale: bool,
    pub(super) planes: Vec<PlaneAt>,
    /// Static bodies, as they were when all were listed, and those that were edited since.
    pub(super) fixed: WallIndex,
    pub(super) recent: WallIndex,
    pub(super) moving: WallIndex,
    /// The handle indices of the bodies that nothing pushes and that may move, in order.
    movers: Vec<u32>,
    /// The handle indices of the bodies that were edited since all were listed, in order.
    edited: Vec<u32>,
    /// True if some were edited since the last step.
    changed: bool,
}

impl Walls {
    /// Notes that a wall was added, removed or changed, or that a body was a wall before it changed.
    pub(crate) fn note(&mut self, body: u32) {
        if self.stale {
            return;
        }
        self.changed = true;
        if let Err(place) = self.edited.binary_search(&body) {
            // So many edits have taken as long, in all the steps in which their index grew, as a new index of all walls.
            self.stale = self.edited.len() >= 32 + 2 * self.fixed.walls.len().isqrt();
            self.edited.insert(place, body);
        }
    }

    /// Brings the static walls up to date.
    pub(crate) fn update_fixed(&mut self, bodies: &Bodies) {
        if self.stale {
            self.list(bodies);
        } else if self.changed {
            self.take_in_edits(bodies);
        }
        (self.stale, self.changed) = (false, false);
    }

    /// Whether there is more than one static wall, but for half-spaces.
    pub(crate) fn has_several_fixed(&self) -> bool {
        self.fixed.walls.len() + self.recent.walls.len() > 1
    }

    /// Whether the test holds of any static wall whose box overlaps this one, but for half-spaces. It ends at the first.
    pub(crate) fn any_fixed(&self, of: [Vec2; 2], mut test: impl FnMut(Wall) -> bool) -> bool {
        [&self.fixed, &self.recent].into_iter().any(|index| index.any(of, &mut test))
    }

    /// Brings the walls up to date. `moved` are the rows of all movements.
    pub(super) fn update(&mut self, bodies: &Bodies, moved: &[Row]) {
        self.update_fixed(bodies);
        self.moving.clear();
        if self.movers.is_empty() {
            return;
        }
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
        self.recent.visit(of, &mut visit);
        self.moving.visit(of, &mut visit);
    }

    fn list(&mut self, bodies: &Bodies) {
        for list in [&mut self.movers, &mut self.edited] {
            list.clear();
        }
        self.planes.clear();
        for index in [&mut self.fixed, &mut self.recent, &mut self.moving] {
            index.clear();
        }
        for (_, slot) in bodies.by_index() {
            match Among::of(bodies, slot) {
                Among::None => {}
                Among::Planes => self.planes.push(PlaneAt::of(bodies, slot)),
                Among::Fixed => self.fixed.add(bodies, slot, &Sweep::at_rest(bodies, slot)),
                Among::Movers => self.movers.push(bodies.handle(slot).index()),
            }
        }
        self.fixed.boxes.build();
    }

    fn take_in_edits(&mut self, bodies: &Bodies) {
        let Walls { planes, fixed, recent, movers, edited, .. } = self;
        recent.clear();
        planes.retain(|plane| edited.binary_search(&plane.wall.body).is_err());
        for &body in &*edited {
            fixed.strike_out(body);
            let slot = bodies.slot_at(body);
            let place = slot.map_or(Among::None, |slot| Among::of(bodies, slot));
            match (movers.binary_search(&body), place) {
                (Ok(at), Among::None | Among::Planes | Among::Fixed) => _ = movers.remove(at),
                (Err(at), Among::Movers) => movers.insert(at, body),
                _ => {}
            }
            match (slot, place) {
                (Some(slot), Among::Planes) => planes.push(PlaneAt::of(bodies, slot)),
                (Some(slot), Among::Fixed) => recent.add(bodies, slot, &Sweep::at_rest(bodies, slot)),
                _ => {}
            }
        }
        recent.boxes.build();
    }
}

/// Where among the walls a body is.
#[derive(Clone, Copy)]
enum Among {
    None,
    Planes,
    Fixed,
    Movers,
}

impl Among {
    fn of(bodies: &Bodies, slot: usize) -> Among {
        let (kind, pushed) = (bodies.columns.kind[slot], bodies.columns.inv_mass[slot] > 0.0);
        if pushed || !kind.is_collidable() || kind.motion() == Motion::Asleep || bodies.is_corner(slot) {
            Among::None
        } else if kind.shape() == ShapeKind::HalfSpace {
            Among::Planes
        } else if kind.motion() == Motion::Static {
            Among::Fixed
        } else {
            Among::Movers
        }
    }
}

impl PlaneAt {
    fn of(bodies: &Bodies, slot: usize) -> PlaneAt {
        let c = &bodies.columns;
        let wall = Wall { body: bodies.handle(slot).index(), part: 0 };
        PlaneAt { wall, normal: Vec2::new(c.ext_x[slot], c.ext_y[slot]), offset: c.ext_z[slot] }
    }
}
