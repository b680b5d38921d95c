//! Continuous collision: fast bodies are stopped where they would pass through a wall within a step.
//!
//! ```text
//! after the solver, before the bodies take their new places:
//!     find the bodies of which a point moves further than half their thickness              (fast.rs)
//!     for each: the walls whose boxes overlap the box of its movement              (walls.rs, tree.rs)
//!               when it first overlaps one of them by more than contacts let it             (cast.rs)
//!               its movement ends there, and goes on along the wall, or with it if it moves
//!     for each that is a bullet: the same against all other bodies
//! ```
//!
//! The velocity stays. So the next step finds the body at the wall, with the speed of the blow, and its contact does the rest:
//! bounce, friction, and what it does to others. The body loses the rest of the step's movement, and nothing else.
//!
//! A body that is deep in a wall is not stopped, because it has to get out. But its centre passes through no wall without thickness, chains
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

mod batch;
mod cast;
mod fast;
mod group;
mod shape;
mod tree;
mod walls;

use crate::body::{Bodies, FAST};
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::isa::Level;
use crate::lane::{MAX_WIDTH, Row, with_lanes};
use crate::solver::hulls::{HullEdge, HullSolver};
use batch::Moving;
use fast::{FastBodies, FastSearch};
use glam::Vec2;
use group::Group;
pub(crate) use shape::ShapeAt;
use shape::{Sweep, turn_between};
use std::sync::Mutex;
use tree::BoxTree;
pub(crate) use walls::Walls;

/// The bodies of a task.
const GROUP: usize = 32;

/// The state and memory of continuous collision. Only the walls outlive a step.
#[derive(Default)]
pub(crate) struct Continuous {
    pub(crate) walls: Walls,
    /// The bodies whose movements are cast.
    found: Mutex<FastBodies>,
    bullets: Vec<u32>,
    bullet_boxes: BoxTree,
    /// The movements of what bullets may hit, where bullets are [`MANY`].
    targets: Targets,
}

/// The movements of all bodies that move and are no bullets.
#[derive(Default)]
struct Targets {
    slots: Vec<u32>,
    boxes: BoxTree,
}

/// Bullets are many if their square is more than so many times the bodies. Without a tree each may look at all others, which takes some 20 ns for each two; a
/// tree of all bodies takes some 400 ns for each body (as the test `a_swarm_of_bullets_costs_what_its_bullets_cost` prints it).
const MANY: usize = 20;

/// Calls a visitor with slots near a box.
type Near<'a> = dyn Fn([Vec2; 2], &mut dyn FnMut(usize)) + Sync + 'a;

/// What the casts of a step need besides the movements.
pub(crate) struct Surroundings<'a> {
    pub bodies: &'a Bodies,
    /// Visits the slots of all bodies that may overlap a box at the start of the step.
    pub near: &'a Near<'a>,
    /// The hulls of the step.
    pub hulls: &'a HullSolver,
    pub level: Level,
    /// The overlap that is allowed, m.
    pub depth: f32,
}

/// The rows of all movements, of which each task changes those of its own bodies.
struct Movements<'a>(SharedSlice<'a, Row>);

#[allow(unsafe_code)]
impl Movements<'_> {
    fn of(&self, bodies: &Bodies, slot: usize) -> Sweep {
        // SAFETY: no task reads a row that another one changes: each reads those of its own bodies, and of bodies that no task of this
        // pass has.
        let row = unsafe { self.0.read(slot) };
        Sweep::of(bodies, slot, &row)
    }

    /// The movement of an edge's middle, and the way from there to its second particle at the start. The edge is taken to be as long throughout as it
    /// is at the start or at the end.
    fn of_edge(&self, bodies: &Bodies, edge: &HullEdge) -> (Sweep, Vec2) {
        let [a, b] = edge.slots.map(|slot| self.of(bodies, slot));
        let (before, after) = (b.from - a.from, b.from + b.moved - (a.from + a.moved));
        let (from, moved) = (0.5 * (a.from + b.from), 0.5 * (a.moved + b.moved));
        let (length, end) = (before.length(), after.length());
        let along = if length > 0.0 { before / length } else { Vec2::X };
        let turned = if length > 0.0 && end > 0.0 { turn_between(along, after / end) } else { 0.0 };
        (Sweep { from, moved, angle: 0.0, turned }, 0.5 * length.max(end) * along)
    }

    fn set(&self, bodies: &Bodies, slot: usize, moved: Vec2, turned: f32) {
        // SAFETY: a task changes the rows of its own bodies only. No other task reads or changes these.
        let row = unsafe { &mut self.0.range(slot..slot + 1)[0] };
        *row = Row([moved.x, moved.y, turned * bodies.columns.radius[slot], row.0[3]]);
    }
}

/// Makes a tree of the boxes of these movements, as seen from what moves by `common` in the step.
fn fill(tree: &mut BoxTree, slots: &[u32], bodies: &Bodies, movements: &Movements<'_>, common: Vec2) {
    tree.clear();
    for slot in slots.iter().map(|&slot| slot as usize) {
        let sweep = movements.of(bodies, slot);
        let around = Vec2::splat(bodies.bounds(slot).max_element().max(bodies.columns.furthest[slot]));
        let (from, to) = (sweep.from, sweep.from + (sweep.moved - common));
        tree.push([from.min(to) - around, from.max(to) + around]);
    }
    tree.build();
}

impl Continuous {
    /// Ends the movements of fast bodies where they hit something.
    pub(crate) fn stop(&mut self, around: &Surroundings<'_>, moved: &mut [Row], crew: &Crew<'_>) {
        self.walls.update(around.bodies, moved);
        self.find_fast(around, moved, crew);
        let FastBodies { near, fast } = self.found.get_mut().expect("no worker panicked");
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
        let search = FastSearch { bodies, walls: &self.walls, found: &self.found, last, all };
        crew.chunks_without(bodies.len, &bodies.still(), CHUNK, |_, range| {
            with_lanes!(around.level, L => fast::find_fast::<L>(&search, moved, range));
        });
        let found = self.found.get_mut().expect("no worker panicked");
        found.near.sort_unstable();
        found.fast.sort_unstable();
    }

    /// Ends the movements of bullets where they hit bodies that move, or edges of hulls. Those of all other bodies are final; bullets come one after the
    /// other.
    fn stop_bullets(&mut self, around: &Surroundings<'_>, moved: &mut [Row], crew: &Crew<'_>) {
        let bodies = around.bodies;
        let (mut bullets, walls) = (std::mem::take(&mut self.bullets), &self.walls);
        // A body may have come near in this step. A slow one has not come further than its margin.
        let fast = &self.found.get_mut().expect("no worker panicked").fast;
        let most = fast.iter().map(|&slot| {
            let [x, y, ..] = moved[slot as usize].0;
            if bullets.binary_search(&slot).is_ok() { 0.0 } else { Vec2::new(x, y).length() }
        });
        let most = Vec2::splat(most.fold(0.0, f32::max));
        let movements = Movements(SharedSlice::new(moved));
        let is_target = |slot: usize| {
            let is_wall = bodies.columns.inv_mass[slot] <= 0.0 && !bodies.is_asleep(slot);
            !is_wall && bullets.binary_search(&(slot as u32)).is_err()
        };
        let targets = &mut self.targets;
        // The bounds in the list are wide enough for the speed of each body, so that of bullets side by side each one looked at all others
        // (test `a_swarm_of_bullets_costs_what_its_bullets_cost`).
        let by_tree = bullets.len() * bullets.len() > MANY * bodies.len;
        if by_tree {
            let there = |slot: &usize| bodies.columns.kind[*slot].is_collidable() && is_target(*slot);
            targets.slots.clear();
            targets.slots.extend((0..bodies.len).filter(there).map(|slot| slot as u32));
            fill(&mut targets.boxes, &targets.slots, bodies, &movements, Vec2::ZERO);
        }
        let (targets, of) = (&self.targets, &bullets);
        let hulls = around.hulls;
        let most_of_hulls = most + FAST * hulls.thickest_corner();
        crew.run(of.len().div_ceil(GROUP), |number| {
            let slots = &of[number * GROUP..of.len().min((number + 1) * GROUP)];
            Group::new(around, walls, slots, &movements).stop(&movements, |batch, number, of, swept| {
                let mut add = |slot| batch.add_body(number, of, slot, &movements, swept);
                let filter = bodies.part_filter(of.slot, of.part);
                let near = [swept[0] - most_of_hulls, swept[1] + most_of_hulls];
                if by_tree {
                    targets.boxes.visit(swept, |target| add(targets.slots[target] as usize));
                } else {
                    (around.near)([swept[0] - most, swept[1] + most], &mut |slot| {
                        if is_target(slot) {
                            add(slot);
                        }
                    });
                }
                hulls.visit_edges(bodies, (of.slot, &filter), near, |edge| {
                    batch.add_edge(number, of, &edge, &movements, swept);
                });
            });
        });
        // A bullet that hits another one goes on with it, so that those that move least come first. (In the order of their slots, bullets at rest went along with those that hit
        // them, by up to metres, before the blow.)
        let way = |slot: u32| movements.of(bodies, slot as usize).moved.length_squared();
        bullets.sort_unstable_by(|&a, &b| way(a).total_cmp(&way(b)).then(a.cmp(&b)));
        // Seen from their mean movement, what flies side by side hardly moves. (6,400 bullets 15 cm apart that flew alike at 400 m/s took half a second a step.)
        // One that goes bad in this step has no part in it.
        let moved = bullets.iter().map(|&slot| movements.of(bodies, slot as usize).moved);
        let sum: Vec2 = moved.filter(|moved| moved.is_finite()).sum();
        let common = sum / bullets.len() as f32;
        fill(&mut self.bullet_boxes, &bullets, bodies, &movements, common);
        for number in 0..bullets.len() {
            let mut group = Group::new(around, walls, &bullets[number..=number], &movements);
            group.clear = true;
            group.stop(&movements, |batch, _, of, swept| {
                let Moving { shape, sweep, time, .. } = of;
                let (from, moved) = (sweep.from - *time * common, sweep.moved - (1.0 - time) * common);
                self.bullet_boxes.visit(shape.swept_box(&Sweep { from, moved, ..**sweep }), |other| {
                    if other < number {
                        batch.add_body(0, of, bullets[other] as usize, &movements, swept);
                    }
                });
            });
        }
        self.bullets = bullets;
    }
}
