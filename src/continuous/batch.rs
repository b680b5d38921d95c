//! Casts of the bodies of a task, sixteen at a time, and the first hit of each body.

use super::cast::{self, CASTS, CastBlock, INSIDE, MISS};
use super::shape::{ShapeAt, Sweep};
use super::walls::Wall;
use super::{GROUP, Movements};
use crate::body::{Bodies, FAST};
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::with_lanes;
use crate::solver::hulls::HullEdge;
use glam::Vec2;

/// A body is deep in a wall if it overlaps the wall by more than it may, plus this many times the depth of the step's casts.
const DEEP: f32 = 4.0;

/// What a body first hits.
#[derive(Clone, Copy)]
pub(super) struct FirstHit {
    pub time: f32,
    /// The shape of the group's body that hits.
    pub part: u8,
    pub obstacle: Obstacle,
    /// From the obstacle to the body, in the obstacle's axes.
    pub axis: Vec2,
    /// The overlap beyond what is allowed, m.
    pub excess: f32,
    /// The cast was that of the part's centre alone.
    pub is_core: bool,
}

/// A shape that is in the way, and how it moves.
#[derive(Clone, Copy)]
pub(super) struct Obstacle {
    pub slot: usize,
    pub part: u8,
    pub sweep: Sweep,
    /// It is the edge of a hull that begins at the particle in `slot`.
    pub edge: Option<Edge>,
}

/// The edge of a hull as an obstacle.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    hull: HullEdge,
    /// From the middle to the second particle, at the start of the step.
    arm: Vec2,
}

impl Obstacle {
    pub const NONE: Obstacle = Obstacle { slot: usize::MAX, part: 0, sweep: Sweep::NONE, edge: None };

    /// What tells it from all other obstacles: of an edge the second particle as well.
    fn name(&self) -> (usize, u8, Option<usize>) {
        (self.slot, self.part, self.edge.map(|edge| edge.hull.slots[1]))
    }

    pub fn shape(&self, bodies: &Bodies) -> ShapeAt {
        match &self.edge {
            Some(Edge { hull, arm }) => ShapeAt::edge(*arm, hull.radius, hull.is_limb),
            None => ShapeAt::new(bodies, self.slot, self.part),
        }
    }
}

impl FirstHit {
    pub const NONE: FirstHit = FirstHit {
        time: MISS,
        part: 0,
        obstacle: Obstacle::NONE,
        axis: Vec2::X,
        excess: 0.0,
        is_core: false,
    };
}

/// Casts of up to [`GROUP`] bodies, sixteen at a time.
pub(super) struct Casts<'a> {
    pub bodies: &'a Bodies,
    level: Level,
    /// The overlap that is allowed, m.
    pub depth: f32,
    block: CastBlock,
    /// The body of the group that a lane belongs to, its part, and the obstacle.
    lanes: [(usize, u8, Obstacle); CASTS],
    /// The slot of that body.
    slots: [usize; CASTS],
    /// For a lane that casts a centre alone: the centre's movement as seen from the obstacle, at the start.
    approach: [Option<Vec2>; CASTS],
    count: usize,
    /// The first hit of each body of the group. With `gaps_wanted`, `time` is the gap, m.
    pub hits: [FirstHit; GROUP],
    pub gaps_wanted: bool,
    /// The casts are of centres alone, against walls without thickness.
    pub cores: bool,
    /// The bodies of the group that are deep inside an obstacle already, as bits. Only their centres are stopped. The contact drives
    /// such a body out, and a cast that stopped it on its way would keep it inside. (With casts, bodies between such obstacles were
    /// jammed for good and struck in every step, each time up to four times as fast.)
    pub inside: u32,
    /// The bodies of `inside`, and those that are so far in a wall without thickness that the cast may miss it. Their centres are cast
    /// as well.
    pub sunk: u32,
}

/// A body's shape on its way.
pub(super) struct Moving<'a> {
    pub slot: usize,
    pub part: u8,
    pub shape: &'a ShapeAt,
    pub sweep: &'a Sweep,
    /// The obstacle that the body has hit before, and slides along.
    pub along: &'a Obstacle,
    /// The part of the step that is over, in 0..=1.
    pub time: f32,
}

impl<'a> Casts<'a> {
    pub fn new(bodies: &'a Bodies, level: Level, depth: f32) -> Casts<'a> {
        Casts {
            bodies,
            level,
            depth,
            block: CastBlock::default(),
            lanes: [(0, 0, Obstacle::NONE); CASTS],
            slots: [0; CASTS],
            approach: [None; CASTS],
            count: 0,
            hits: [FirstHit::NONE; GROUP],
            gaps_wanted: false,
            cores: false,
            inside: 0,
            sunk: 0,
        }
    }

    /// Adds the cast of the group's body `number` against a shape of another one, if they may touch and it may matter.
    fn add(&mut self, number: usize, of: &Moving<'_>, obstacle: Obstacle) {
        let (bodies, other) = (self.bodies, &obstacle.sweep);
        let way = of.sweep.way_against(other, of.shape.reach);
        let is_along = obstacle.name() == of.along.name();
        // A centre is stopped however slowly it comes, and so is what goes on along a wall: nothing else has looked where that leads. (A triangle that
        // spun in a corner went along the one wall by a fifth of its size into the other, and then, deep in that, out of the room.)
        let goes_on = of.along.slot != Obstacle::NONE.slot;
        let least = if self.cores || goes_on { 0.0 } else { FAST * of.shape.thickness };
        if way <= least {
            return;
        }
        let shape = obstacle.shape(bodies);
        if (self.cores || is_along) && shape.thickness > 0.0 {
            return;
        }
        let reach = way + of.shape.reach + of.shape.radius;
        if shape.is_beyond(other, of.sweep.from, reach) {
            return;
        }
        if !shape.faces(other, of.shape.centre_at_start(of.sweep)) {
            return;
        }
        if is_along {
            self.put(number, &Moving { shape: &of.shape.core(), ..*of }, &shape, obstacle);
        } else {
            self.put(number, of, &shape, obstacle);
        }
    }

    pub fn put(&mut self, number: usize, of: &Moving<'_>, shape: &ShapeAt, obstacle: Obstacle) {
        // Another body may have pressed a bullet's obstacle into the bullet from behind.
        let moves = self.bodies.columns.inv_mass[obstacle.slot] > 0.0;
        let deepest = if of.shape.is_core {
            f32::MAX
        } else {
            DEEP * self.depth + if moves { of.shape.thickness } else { 0.0 }
        };
        self.block.set(self.count, (of.shape, of.sweep), (shape, &obstacle.sweep), [self.depth, deepest]);
        if !moves && shape.thickness == 0.0 && !of.shape.is_core {
            self.block.limit(self.count, of.shape.thickness);
        }
        self.lanes[self.count] = (number, of.part, obstacle);
        self.slots[self.count] = of.slot;
        self.approach[self.count] = of.shape.is_core.then(|| of.shape.approach(of.sweep, &obstacle.sweep));
        self.count += 1;
        if self.count == CASTS {
            self.cast();
        }
    }

    pub fn add_wall(&mut self, number: usize, of: &Moving<'_>, wall: Wall, moved: &Movements<'_>) {
        if let Some(slot) = self.bodies.slot_at(wall.body) {
            self.add_shape(number, of, slot, wall.part, &moved.of(self.bodies, slot).after(of.time));
        }
    }

    /// Adds the cast against a shape of another body, unless the two let each other pass.
    fn add_shape(&mut self, number: usize, of: &Moving<'_>, slot: usize, part: u8, other: &Sweep) {
        let bodies = self.bodies;
        if slot == of.slot || bodies.are_apart(of.slot, slot) {
            return;
        }
        if bodies.any_filter {
            let filter = bodies.part_filter(of.slot, of.part);
            if !filter.touches(&bodies.part_filter(slot, part)) {
                return;
            }
        }
        self.add(number, of, Obstacle { slot, part, sweep: *other, edge: None });
    }

    /// Adds the cast against an edge of a hull, if it comes into the box `swept`.
    pub fn add_edge(
        &mut self,
        number: usize,
        of: &Moving<'_>,
        hull: &HullEdge,
        moved: &Movements<'_>,
        swept: [Vec2; 2],
    ) {
        let (sweep, arm) = moved.of_edge(self.bodies, hull);
        let edge = Some(Edge { hull: *hull, arm });
        let obstacle = Obstacle { slot: hull.slots[0], part: 0, sweep: sweep.after(of.time), edge };
        if overlap(obstacle.shape(self.bodies).swept_box(&obstacle.sweep), swept) {
            self.add(number, of, obstacle);
        }
    }

    /// Adds casts against all shapes of a body that come into the box `swept`.
    pub fn add_body(
        &mut self,
        number: usize,
        of: &Moving<'_>,
        slot: usize,
        moved: &Movements<'_>,
        swept: [Vec2; 2],
    ) {
        let other = &moved.of(self.bodies, slot).after(of.time);
        // What flies side by side does not come nearer, however long its way is.
        let c = &self.bodies.columns;
        let reach = |slot: usize| c.furthest[slot].max(Vec2::new(c.ext_x[slot], c.ext_y[slot]).length());
        let own = reach(of.slot);
        if (other.from - of.sweep.from).length() - (own + reach(slot)) > of.sweep.way_against(other, own) {
            return;
        }
        for part in 0..self.bodies.shape_count(slot) {
            if overlap(ShapeAt::new(self.bodies, slot, part).swept_box(other), swept) {
                self.add_shape(number, of, slot, part, other);
            }
        }
    }

    /// Returns true if the hooks let the body in a slot pass through what it hits.
    fn passes(&self, slot: usize, obstacle: &Obstacle, time: f32, axis: Vec2) -> bool {
        let bodies = self.bodies;
        let Some(hooks) = bodies.hooked.of_walls() else { return false };
        let (sin, cos) = sin_cos(obstacle.sweep.after(time).angle);
        let normal = Vec2::new(cos, sin).rotate(axis);
        !hooks.stops(bodies.handle(slot), bodies.handle(obstacle.slot), normal)
    }

    /// Makes the casts that were added, and keeps the first hit of each body.
    pub fn cast(&mut self) {
        let (block, count) = (&mut self.block, std::mem::take(&mut self.count));
        with_lanes!(self.level, L => cast::cast::<L>(block, count));
        let block = &self.block;
        let answers = if self.gaps_wanted { &block.gap } else { &block.time };
        for (lane, &(number, part, obstacle)) in self.lanes[..count].iter().enumerate() {
            let (time, axis) = (answers[lane], Vec2::new(block.axis[0][lane], block.axis[1][lane]));
            if !self.gaps_wanted && time == INSIDE {
                self.sunk |= 1 << number;
                let is_deep = -block.gap[lane] > block.allowed[lane].max(0.0) + DEEP * self.depth;
                self.inside |= u32::from(is_deep) << number;
            }
            if let Some(approach) = self.approach[lane].filter(|_| time == 0.0)
                && Vec2::from_angle(obstacle.sweep.angle).rotate(axis).dot(approach) >= 0.0
            {
                // The centre is next to a wall and comes no nearer.
                continue;
            }
            let passes = || !self.gaps_wanted && self.passes(self.slots[lane], &obstacle, time, axis);
            let first = &self.hits[number];
            // Among obstacles that are hit at the same time, handles decide: the order in which walls are listed does not matter.
            let rank = |obstacle: &Obstacle, part: u8| {
                let (slot, of, second) = obstacle.name();
                let index = |slot: usize| self.bodies.handle(slot).index();
                (index(slot), of, second.map(index), part)
            };
            let comes_first = time < first.time
                || time == first.time
                    && time < MISS
                    && rank(&obstacle, part) < rank(&first.obstacle, first.part);
            if comes_first && !passes() {
                let is_core = self.approach[lane].is_some();
                let excess = (-block.allowed[lane] - block.gap[lane]).clamp(0.0, self.depth);
                self.hits[number] = FirstHit { time, part, obstacle, axis, excess, is_core };
            }
        }
    }
}

/// Whether two boxes overlap.
fn overlap([lower, upper]: [Vec2; 2], other: [Vec2; 2]) -> bool {
    lower.cmple(other[1]).all() && upper.cmpge(other[0]).all()
}
