//! Continuous collision: fast bodies are stopped where they would pass through a wall within a step.
//!
//! ```text
//! after the solver, before the bodies take their new places:
//!     find the bodies of which a point moves further than half their thickness              (fast.rs)
//!     for each: the walls whose boxes overlap the box of its movement              (walls.rs, tree.rs)
//!               when it first overlaps one of them by more than contacts let it             (cast.rs)
//!               its movement ends there; with a wall that moves, it goes along from there
//!     for each that is a bullet: the same against all other bodies
//! ```
//!
//! The velocity stays. So the next step finds the body at the wall, with the speed of the blow, and its contact does the rest:
//! bounce, friction, and what it does to others. The body loses the rest of the step's movement, and nothing else.
//!
//! A body that is deep in a wall is not stopped: it has to get out. But its centre passes through no wall without thickness, chains
//! above all: the contact would let it go on to the other side. (A triangle that spins in the corner of a chain sinks in a
//! little in each step: its contacts stop it as if it moved evenly, and the slack of the cast lets it on. With centres stopped at
//! thick walls as well, a world of the oracle's tests went bad.)
//!
//! (Held between walls and heavy bodies that all overlap,
//! bodies with restitution were struck in every step, and became up to four times as fast in each: one world of 200 in the oracle's
//! tests went bad, now one of 8,000. Tried and dropped: to take the velocity into a wall that the body touched from the
//! start of the step, or to let such a body go on along the wall; either let bodies out of a turning room; so did a
//! DEEP of 2, at which none of 8,000 went bad.)
//!
//! Most fast bodies never get here with a wall before them: contacts against flat faces of fixed bodies are made ahead of time
//! (`contacts/update.rs`), so that the solver stops the body within the step. What is left are corners, ends of thin walls, spinning
//! bodies, walls that move, and bodies that were struck within the step.
//!
//! A body may overlap a wall by twice the slop before the cast counts it as a hit: what rests or slides on the ground overlaps it
//! a little, and the next piece of ground as well, from its side.

mod cast;
mod fast;
mod shape;
mod tree;
mod walls;

use crate::body::Bodies;
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::{MAX_WIDTH, Row, with_lanes};
use cast::{CASTS, CastBlock, INSIDE, MISS};
use fast::{FAST, Found, Search};
use glam::Vec2;
use shape::{ShapeAt, Sweep};
use std::sync::Mutex;
use tree::BoxTree;
use walls::{Wall, Walls};

/// A body that overlaps a wall by so many times what it may, and as much again, is deep in it.
const DEEP: f32 = 4.0;
/// In place of the number of hits: only the centres of the body's shapes are cast.
const CORE: u8 = 8;
/// The bodies of a task.
const GROUP: usize = 32;

/// The state and memory of continuous collision. Only the walls outlive a step.
#[derive(Default)]
pub(crate) struct Continuous {
    pub(crate) walls: Walls,
    /// The bodies whose movements are cast.
    found: Mutex<Found>,
    bullets: Vec<u32>,
    bullet_boxes: BoxTree,
}

/// What a body first hits.
#[derive(Clone, Copy)]
struct Hit {
    time: f32,
    /// The shape of the group's body that hits.
    part: u8,
    obstacle: Obstacle,
    /// From the obstacle to the body, in the obstacle's axes.
    axis: Vec2,
    /// By how much the two overlap more than they may.
    excess: f32,
    /// The centre of the part hits.
    is_core: bool,
}

/// A shape that is in the way, and how it moves.
#[derive(Clone, Copy)]
struct Obstacle {
    slot: usize,
    part: u8,
    sweep: Sweep,
}

impl Hit {
    const NONE: Hit = Hit {
        time: MISS,
        part: 0,
        obstacle: Obstacle { slot: usize::MAX, part: 0, sweep: Sweep::NONE },
        axis: Vec2::X,
        excess: 0.0,
        is_core: false,
    };
}

/// Casts of up to [`GROUP`] bodies, sixteen at a time.
struct Batch<'a> {
    bodies: &'a Bodies,
    level: Level,
    /// By how much shapes may overlap.
    depth: f32,
    block: CastBlock,
    /// The body of the group that a lane belongs to, its part, and the obstacle.
    lanes: [(usize, u8, Obstacle); CASTS],
    /// The slot of that body.
    slots: [usize; CASTS],
    /// Of a lane whose body is a centre alone, its movement as seen from the obstacle, at the start.
    approach: [Option<Vec2>; CASTS],
    count: usize,
    /// By body of the group. With `gaps_wanted`, `time` is the gap.
    hits: [Hit; GROUP],
    gaps_wanted: bool,
    /// The casts are of centres alone, against walls without thickness.
    cores: bool,
    /// The bodies of the group that are inside an obstacle already, as bits. Only their centres are stopped: the contact drives them
    /// out, and what stops them on their way keeps them inside. (Bodies between such obstacles were jammed for good, and struck in
    /// every step, up to four times as fast in each.)
    inside: u32,
    /// These, and those that are so far in a wall without thickness that the cast may miss it. Their centres are cast as well.
    sunk: u32,
}

/// A body's shape on its way.
struct Moving<'a> {
    slot: usize,
    part: u8,
    shape: &'a ShapeAt,
    sweep: &'a Sweep,
    /// The body has hit this before, and slides along it.
    along: &'a Obstacle,
    /// The part of the step that is over.
    time: f32,
}

impl<'a> Batch<'a> {
    fn new(bodies: &'a Bodies, level: Level, depth: f32) -> Batch<'a> {
        Batch {
            bodies,
            level,
            depth,
            block: CastBlock::default(),
            lanes: [(0, 0, Hit::NONE.obstacle); CASTS],
            slots: [0; CASTS],
            approach: [None; CASTS],
            count: 0,
            hits: [Hit::NONE; GROUP],
            gaps_wanted: false,
            cores: false,
            inside: 0,
            sunk: 0,
        }
    }

    /// Adds the cast of the group's body `number` against a shape of another one, if they may touch and it may matter.
    fn add(&mut self, number: usize, of: &Moving<'_>, slot: usize, part: u8, other: &Sweep) {
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
        let way = of.sweep.way_against(other, of.shape.reach);
        let is_along = (slot, part) == (of.along.slot, of.along.part);
        // A centre is stopped however slowly it comes.
        let least = if self.cores || is_along { 0.0 } else { FAST * of.shape.thickness };
        if way <= least {
            return;
        }
        let shape = ShapeAt::new(bodies, slot, part);
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
        let obstacle = Obstacle { slot, part, sweep: *other };
        if is_along {
            self.put(number, &Moving { shape: &of.shape.core(), ..*of }, &shape, obstacle);
        } else {
            self.put(number, of, &shape, obstacle);
        }
    }

    fn put(&mut self, number: usize, of: &Moving<'_>, shape: &ShapeAt, obstacle: Obstacle) {
        // What a bullet strikes may have been pressed into it from behind.
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

    fn add_wall(&mut self, number: usize, of: &Moving<'_>, wall: Wall, moved: &Movements<'_>) {
        if let Some(slot) = self.bodies.slot_at(wall.body) {
            self.add(number, of, slot, wall.part, &moved.of(self.bodies, slot).after(of.time));
        }
    }

    /// Adds casts against all shapes of a body that come into the box `swept`.
    fn add_body(
        &mut self,
        number: usize,
        of: &Moving<'_>,
        slot: usize,
        moved: &Movements<'_>,
        swept: [Vec2; 2],
    ) {
        let other = &moved.of(self.bodies, slot).after(of.time);
        for part in 0..self.bodies.shape_count(slot) {
            let [lower, upper] = ShapeAt::new(self.bodies, slot, part).swept_box(other);
            if lower.cmple(swept[1]).all() && upper.cmpge(swept[0]).all() {
                self.add(number, of, slot, part, other);
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
    fn cast(&mut self) {
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
                // A centre next to a wall that comes no nearer.
                continue;
            }
            let passes = || !self.gaps_wanted && self.passes(self.slots[lane], &obstacle, time, axis);
            let first = &self.hits[number];
            // Of what is hit at once, the order does not depend on how walls were listed.
            let rank = |obstacle: &Obstacle, part: u8| {
                (self.bodies.handle(obstacle.slot).index(), obstacle.part, part)
            };
            let comes_first = time < first.time
                || time == first.time
                    && time < MISS
                    && rank(&obstacle, part) < rank(&first.obstacle, first.part);
            if comes_first && !passes() {
                let is_core = self.approach[lane].is_some();
                let excess = (-block.allowed[lane] - block.gap[lane]).clamp(0.0, self.depth);
                self.hits[number] = Hit { time, part, obstacle, axis, excess, is_core };
            }
        }
    }
}

/// Calls a visitor with slots near a box.
type Near<'a> = dyn Fn([Vec2; 2], &mut dyn FnMut(usize)) + Sync + 'a;

/// What the casts of a step need besides the movements.
pub(crate) struct Surroundings<'a> {
    pub bodies: &'a Bodies,
    /// Visits the slots of all bodies that may overlap a box at the start of the step.
    pub near: &'a Near<'a>,
    pub level: Level,
    /// By how much shapes may overlap, m.
    pub depth: f32,
}

/// A body's movement, up to the first hit or on from there.
#[derive(Clone, Copy)]
struct Course {
    /// The movement that is cast.
    sweep: Sweep,
    /// What came before it: how far the body had moved and turned, when, and what it hit then.
    moved: Vec2,
    turned: f32,
    time: f32,
    along: Obstacle,
    /// The number of its hits.
    hits: u8,
}

/// The movements of up to [`GROUP`] bodies.
struct Group<'a> {
    slots: &'a [u32],
    courses: [Course; GROUP],
    batch: Batch<'a>,
    walls: &'a Walls,
    /// The movements, as they are, pass through no wall.
    clear: bool,
}

impl<'a> Group<'a> {
    fn new(
        around: &Surroundings<'a>,
        walls: &'a Walls,
        slots: &'a [u32],
        moved: &Movements<'_>,
    ) -> Group<'a> {
        let along = Hit::NONE.obstacle;
        let start = Course { sweep: Sweep::NONE, moved: Vec2::ZERO, turned: 0.0, time: 0.0, along, hits: 0 };
        let mut courses = [start; GROUP];
        for (course, &slot) in courses.iter_mut().zip(slots) {
            course.sweep = moved.of(around.bodies, slot as usize);
        }
        let batch = Batch::new(around.bodies, around.level, around.depth);
        Group { slots, courses, batch, walls, clear: false }
    }

    /// Ends the movements of these bodies where they hit a wall, or something that `visit` adds. It is given each of their shapes, with
    /// the box of its movement.
    fn stop(&mut self, moved: &Movements<'_>, visit: impl Fn(&mut Batch<'a>, usize, &Moving<'_>, [Vec2; 2])) {
        self.cast(0, moved, &visit);
        for (_, hit) in
            self.batch.hits.iter_mut().enumerate().filter(|(number, _)| self.batch.inside >> number & 1 == 1)
        {
            *hit = Hit::NONE;
        }
        self.cast_cores(moved);
        if self.batch.hits.iter().all(|hit| hit.time == MISS) {
            return;
        }
        self.slide();
        self.cast(1, moved, &visit);
        self.cast_cores(moved);
        if self.carry() {
            // Between what carries it and a wall, a body stays on its side of the wall.
            self.cast(2, moved, &|_, _, _, _| {});
            self.cast_cores(moved);
            self.carry();
        }
        for (number, &slot) in self.slots.iter().enumerate() {
            let course = &mut self.courses[number];
            if course.hits > 0 {
                course.advance(1.0);
                moved.set(self.batch.bodies, slot as usize, course.moved, course.turned);
            }
        }
    }

    /// Casts the centres of those bodies that the last cast found far in something against walls without thickness.
    fn cast_cores(&mut self, moved: &Movements<'_>) {
        let sunk = std::mem::take(&mut self.batch.sunk);
        if sunk == 0 {
            return;
        }
        let hits = self.courses.map(|course| course.hits);
        for number in (0..self.slots.len()).filter(|number| sunk >> number & 1 == 1) {
            self.courses[number].hits = CORE;
        }
        self.batch.cores = true;
        self.cast(CORE, moved, &|_, _, _, _| {});
        self.batch.cores = false;
        for (course, hits) in self.courses.iter_mut().zip(hits) {
            course.hits = hits;
        }
    }

    /// Lets bodies that have hit something once more go with it. Returns true if one of these things moves.
    fn carry(&mut self) -> bool {
        let mut moves = false;
        for (course, hit) in self.courses.iter_mut().zip(&mut self.batch.hits) {
            let hit = std::mem::replace(hit, Hit::NONE);
            if hit.time < MISS {
                let sweep = hit.obstacle.sweep.after(hit.time);
                course.advance(hit.time);
                course.sweep = course.sweep.carried(&sweep, Vec2::ZERO);
                course.hits += 1;
                course.time += (1.0 - course.time) * hit.time;
                course.along = Obstacle { sweep, ..hit.obstacle };
                moves |= sweep.moved != Vec2::ZERO || sweep.turned != 0.0;
            }
        }
        moves
    }

    /// Casts the bodies that have hit so many things.
    fn cast(
        &mut self,
        hits: u8,
        moved: &Movements<'_>,
        visit: &impl Fn(&mut Batch<'a>, usize, &Moving<'_>, [Vec2; 2]),
    ) {
        let bodies = self.batch.bodies;
        for (number, (&slot, course)) in self.slots.iter().zip(&self.courses).enumerate() {
            if course.hits != hits {
                continue;
            }
            let (slot, sweep) = (slot as usize, &course.sweep);
            for part in 0..bodies.shape_count(slot) {
                let shape = ShapeAt::new(bodies, slot, part);
                let shape = &if hits == CORE { shape.core() } else { shape };
                let of = Moving { slot, part, shape, sweep, along: &course.along, time: course.time };
                let swept = shape.swept_box(sweep);
                if hits > 0 || !self.clear {
                    self.walls.visit(swept, |wall| self.batch.add_wall(number, &of, wall, moved));
                }
                visit(&mut self.batch, number, &of, swept);
            }
        }
        self.batch.cast();
    }

    /// Lets bodies that have hit something go on along it: as far as they would have gone along its surface, and with it if it moves.
    /// But whoever would come off it by that stays where it hit: the blow is still to come.
    fn slide(&mut self) {
        let bodies = self.batch.bodies;
        let hits = std::mem::replace(&mut self.batch.hits, [Hit::NONE; GROUP]);
        self.batch.gaps_wanted = true;
        for (number, (course, hit)) in self.courses.iter_mut().zip(&hits).enumerate() {
            if hit.time == MISS {
                continue;
            }
            course.advance(hit.time);
            (course.hits, course.time, course.along) = (1, hit.time, hit.obstacle);
            let other = hit.obstacle.sweep.after(hit.time);
            course.along.sweep = other;
            if hit.is_core {
                course.sweep = course.sweep.carried(&other, Vec2::ZERO);
                continue;
            }
            let shape = ShapeAt::new(bodies, self.slots[number] as usize, hit.part);
            let normal = Vec2::from_angle(other.angle).rotate(hit.axis);
            course.sweep = course.sweep.along(&other, normal, shape.reach == 0.0);
            // Where a wall turns away from under a body that slides far in a step, each step would press it in a little deeper.
            course.sweep.moved += hit.excess * normal;
            let (sweep, obstacle) = (course.sweep.end(), Obstacle { sweep: other.end(), ..hit.obstacle });
            let of = Moving {
                slot: self.slots[number] as usize,
                part: hit.part,
                shape: &shape,
                sweep: &sweep,
                along: &Hit::NONE.obstacle,
                time: 1.0,
            };
            self.batch.put(number, &of, &ShapeAt::new(bodies, obstacle.slot, obstacle.part), obstacle);
        }
        self.batch.cast();
        self.batch.gaps_wanted = false;
        let gaps = std::mem::replace(&mut self.batch.hits, [Hit::NONE; GROUP]);
        for (course, gap) in self.courses.iter_mut().zip(&gaps).filter(|(course, _)| course.hits > 0) {
            if gap.time > self.batch.depth {
                course.sweep = course.sweep.carried(&course.along.sweep, Vec2::ZERO);
            }
        }
    }
}

impl Course {
    /// Takes a part of the movement as done.
    fn advance(&mut self, time: f32) {
        self.moved += time * self.sweep.moved;
        self.turned += time * self.sweep.turned;
        self.sweep = self.sweep.after(time);
    }
}

/// The rows of all movements, of which each task changes those of its own bodies.
struct Movements<'a>(SharedSlice<'a, Row>);

#[allow(unsafe_code)]
impl Movements<'_> {
    fn of(&self, bodies: &Bodies, slot: usize) -> Sweep {
        // SAFETY: no task reads a row that another one changes: each reads those of its own bodies, and of bodies that no task of this
        // pass has.
        Sweep::of(bodies, slot, unsafe { &self.0.range(slot..slot + 1)[0] })
    }

    fn set(&self, bodies: &Bodies, slot: usize, moved: Vec2, turned: f32) {
        // SAFETY: as above.
        let row = unsafe { &mut self.0.range(slot..slot + 1)[0] };
        *row = Row([moved.x, moved.y, turned * bodies.columns.radius[slot], row.0[3]]);
    }
}

impl Continuous {
    /// Ends the movements of fast bodies where they hit something.
    pub(crate) fn stop(&mut self, around: &Surroundings<'_>, moved: &mut [Row], crew: &Crew<'_>) {
        self.walls.update(around.bodies, moved);
        self.find_fast(around, moved, crew);
        let Found { near, fast } = self.found.get_mut().expect("no worker panicked");
        let walls = &self.walls;
        let movements = Movements(SharedSlice::new(moved));
        crew.run(near.len().div_ceil(GROUP), |number| {
            let slots = &near[number * GROUP..near.len().min((number + 1) * GROUP)];
            Group::new(around, walls, slots, &movements).stop(&movements, |_, _, _, _| {});
        });
        self.bullets.clear();
        self.bullets.extend(fast.iter().copied().filter(|&slot| around.bodies.is_bullet(slot as usize)));
        if !self.bullets.is_empty() {
            self.stop_bullets(around, moved, crew);
        }
    }

    /// Finds the bodies that move so fast, by themselves or against a wall that moves, that they may pass through a wall.
    fn find_fast(&mut self, around: &Surroundings<'_>, moved: &[Row], crew: &Crew<'_>) {
        let (bodies, all) = (around.bodies, around.bodies.has_bullets());
        let found = self.found.get_mut().expect("no worker panicked");
        found.near.clear();
        found.near.reserve(bodies.len);
        found.fast.clear();
        found.fast.reserve(if all { bodies.len } else { 0 });
        let mut last = [Row::default(); MAX_WIDTH];
        let rest = &moved[bodies.len - bodies.len % MAX_WIDTH..bodies.len];
        last[..rest.len()].copy_from_slice(rest);
        let search = Search { bodies, walls: &self.walls, found: &self.found, last, all };
        crew.chunks(bodies.len, CHUNK, |range| {
            with_lanes!(around.level, L => fast::find_fast::<L>(&search, moved, range));
        });
        let found = self.found.get_mut().expect("no worker panicked");
        found.near.sort_unstable();
        found.fast.sort_unstable();
    }

    /// Ends the movements of bullets where they hit bodies that move. Those of all other bodies are final; bullets come one after the
    /// other.
    fn stop_bullets(&mut self, around: &Surroundings<'_>, moved: &mut [Row], crew: &Crew<'_>) {
        let bodies = around.bodies;
        let (bullets, walls) = (&self.bullets, &self.walls);
        // A body may have come near in this step. A slow one has not come further than its margin.
        let fast = &self.found.get_mut().expect("no worker panicked").fast;
        let most = fast.iter().map(|&slot| {
            let [x, y, ..] = moved[slot as usize].0;
            if bullets.binary_search(&slot).is_ok() { 0.0 } else { Vec2::new(x, y).length() }
        });
        let most = Vec2::splat(most.fold(0.0, f32::max));
        let movements = Movements(SharedSlice::new(moved));
        crew.run(bullets.len().div_ceil(GROUP), |number| {
            let slots = &bullets[number * GROUP..bullets.len().min((number + 1) * GROUP)];
            Group::new(around, walls, slots, &movements).stop(&movements, |batch, number, of, swept| {
                (around.near)([swept[0] - most, swept[1] + most], &mut |slot| {
                    let is_wall = bodies.columns.inv_mass[slot] <= 0.0 && !bodies.is_asleep(slot);
                    if !is_wall && bullets.binary_search(&(slot as u32)).is_err() {
                        batch.add_body(number, of, slot, &movements, swept);
                    }
                });
            });
        });
        self.bullet_boxes.clear();
        for &slot in bullets {
            let sweep = movements.of(bodies, slot as usize);
            let around = Vec2::splat(
                bodies.bounds(slot as usize).max_element().max(bodies.columns.furthest[slot as usize]),
            );
            let (from, to) = (sweep.from, sweep.from + sweep.moved);
            self.bullet_boxes.push([from.min(to) - around, from.max(to) + around]);
        }
        self.bullet_boxes.build();
        for number in 0..bullets.len() {
            let mut group = Group::new(around, walls, &bullets[number..=number], &movements);
            group.clear = true;
            group.stop(&movements, |batch, _, of, swept| {
                self.bullet_boxes.visit(swept, |other| {
                    if other < number {
                        batch.add_body(0, of, bullets[other] as usize, &movements, swept);
                    }
                });
            });
        }
    }
}
