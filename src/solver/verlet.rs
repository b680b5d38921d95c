//! The Verlet solver: links, as constraints on positions.
//!
//! ```text
//! when links or bodies came or went:
//!     order the linked bodies by breadth-first search, level after level      (Cuthill and McKee, 1969)
//!     cut the order into tiles of whole levels
//!     colour each tile's links, and lay them out in blocks of lanes
//! each substep, when positions have been integrated:
//!     read displacements since the step's start from the solver's mirror
//!     iterations × each tile: the blocks, colour by colour
//!     add each body's movement to its position and, divided by the substep's length, to its velocity
//! ```
//!
//! Position Verlet (T. Jakobsen, "Advanced Character Physics", 2001) keeps the last position in place of a
//! velocity: x' = x + (x − x_last)·(h/h_last)·damping + h²·a, then moves points until their links hold. Here
//! (x − x_last)/h_last is kept instead: it is the same number for every step length, and contacts need it. The velocity
//! changes by the distance that the links moved a point, as in M. Müller et al., "Position Based
//! Dynamics" (2007). Links with a compliance, and those that only push or pull, sum up their impulse λ over the
//! iterations of a substep (M. Macklin et al., "XPBD", 2016): λ' = clamp(λ − (C + α̃·λ)/(w + α̃)), α̃ = α/h².
//!
//! Iterations go forth and back in turn (even tiles, odd tiles; odd tiles, even tiles: two sweeps over a tile at
//! a time). With forward sweeps alone, the rest of an error can run around a hub like a wave, and each substep's
//! velocity feeds the next: a free wheel of 28 spokes blew up at 4 iterations. Forth and back, the iteration is symmetric, and
//! its errors only decay. A single iteration is one sweep forth: use at least two.
//!
//! Every link joins bodies of the same or of neighbouring levels, as a breadth-first search has it. So the
//! links of a tile touch its own bodies and those of the next tile, whatever the topology, and the tiles go
//! through the iterations by the same schedule as those of the contacts: in parallel, askew, a window of tiles
//! in the cache, without a barrier.
//!
//! A tile of which no link has an end that may move is not looked at: all of its bodies sleep, or nothing moves them.
//!
//! Tried and dropped: blocks prefetched four ahead, −10 % at 1,048,576 particles and +3 to +8 % at 4,096
//! (`granule run cloth --threads 1`, medians of interleaved runs, spread 10 to 40 %).

mod graph;
mod kernels;
mod layout;
mod snapshot;

use super::rows::Rows;
use super::schedule::Schedule;
use crate::body::Bodies;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::{HalfRow, Lane, MAX_WIDTH, pair, with_lanes};
use crate::particles::links::Links;
use bytemuck::{Pod, Zeroable};
use glam::Vec2;
use kernels::{Nodes, note_ways, sweep_rigid, sweep_soft};
use std::ops::Range;

const BLOCK: usize = MAX_WIDTH;
/// Bodies per tile, at least.
const TILE_BODIES: usize = 512;
const NO_LINK: u32 = u32::MAX;

/// A block of rigid distance links.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RigidBlock {
    /// The nodes of both ends. An unused lane has the tile's padding node.
    a: [u32; BLOCK],
    b: [u32; BLOCK],
    /// The way from A to B at the start of the step. Displacements count from there too, so the movement by a link is not
    /// rounded to the digits of the positions (`momentum_is_kept` in tests/suite/verlet.rs failed otherwise).
    way_x: [f32; BLOCK],
    way_y: [f32; BLOCK],
    length: [f32; BLOCK],
    /// The part of an error that each end corrects: stiffness·w_A/(w_A + w_B) for A. With these parts here, instead of inverse
    /// masses beside the displacements, two columns are gathered and scattered instead of four: 13 to 19 % of
    /// `granule run cloth --bodies 16384`.
    by_a: [f32; BLOCK],
    by_b: [f32; BLOCK],
}

/// A block of all other links between centres.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SoftBlock {
    a: [u32; BLOCK],
    b: [u32; BLOCK],
    way_x: [f32; BLOCK],
    way_y: [f32; BLOCK],
    length: [f32; BLOCK],
    inv_mass_a: [f32; BLOCK],
    inv_mass_b: [f32; BLOCK],
    compliance: [f32; BLOCK],
    stiffness: [f32; BLOCK],
    /// λ in this substep, and its range: unlimited for a distance, λ ≥ 0 for `Min`, λ ≤ 0 for `Max`.
    lambda: [f32; BLOCK],
    lowest: [f32; BLOCK],
    highest: [f32; BLOCK],
    break_force: [f32; BLOCK],
    link: [u32; BLOCK],
}

/// A link with an anchor off a body's centre. It is solved at width 1.
#[derive(Clone, Copy)]
struct Anchored {
    nodes: [u32; 2],
    anchors: [Vec2; 2],
    /// The way between the centres at the start of the step.
    way: Vec2,
    /// The angles at the start of the step.
    angles: [f32; 2],
    inv_masses: [f32; 2],
    inv_inertias: [f32; 2],
    length: f32,
    compliance: f32,
    stiffness: f32,
    lambda: f32,
    lowest: f32,
    highest: f32,
    break_force: f32,
    link: u32,
}

crate::base::codec::stored!(Anchored = Anchored {
    nodes: [0; 2],
    anchors: [Vec2::ZERO; 2],
    way: Vec2::ZERO,
    angles: [0.0; 2],
    inv_masses: [0.0; 2],
    inv_inertias: [0.0; 2],
    length: 0.0,
    compliance: 0.0,
    stiffness: 0.0,
    lambda: 0.0,
    lowest: 0.0,
    highest: 0.0,
    break_force: 0.0,
    link: 0,
}; {
    nodes, anchors, way, angles, inv_masses, inv_inertias, length, compliance, stiffness, lambda, lowest, highest, break_force, link
});

#[derive(Default)]
struct LinkTile {
    nodes: Range<usize>,
    rigid: Vec<RigidBlock>,
    /// The first block whose lanes may share a body.
    rigid_serial: usize,
    /// The link of each lane.
    rigid_links: Vec<u32>,
    soft: Vec<SoftBlock>,
    soft_serial: usize,
    anchored: Vec<Anchored>,
    /// Some link of the tile may break.
    breaks: bool,
    /// Some link of the tile has an end that may move.
    live: bool,
    /// One more than the highest place in the blocks, and in the anchored links.
    places: usize,
    anchored_places: usize,
}

impl LinkTile {
    fn work(&self) -> usize {
        if !self.live {
            return 1;
        }
        16 * (self.rigid.len() + 2 * self.soft.len()) + 4 * self.anchored.len() + self.nodes.len() / 16
    }
}

/// A linked body.
#[derive(Clone, Copy)]
struct Node {
    /// The index of its handle.
    body: u32,
    slot: u32,
}

crate::base::codec::stored!(Node = Node { body: 0, slot: 0 }; { body, slot });

/// The linked bodies in their order, the blocks, and where the bodies are.
#[derive(Default)]
pub(crate) struct Verlet {
    nodes: Vec<Node>,
    tiles: Vec<LinkTile>,
    /// The nodes that links of live tiles name, in chunks.
    live: Vec<Range<usize>>,
    /// `[Δx, Δy]` of each node since the start of the step; then padding, a node for each tile.
    moved: Vec<HalfRow>,
    /// `[x, y]` at the start of the step; then padding too.
    base: Vec<HalfRow>,
    /// The angle by which each node has turned since the start of the step, rad, and its radius of gyration times √2, as in the
    /// bodies' columns. Empty without anchors.
    turned: Vec<f32>,
    radius: Vec<f32>,
    schedule: Schedule,
    /// The slots have changed since `Node::slot` was looked up.
    pub(crate) slots_moved: bool,
}

impl Verlet {
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Brings everything up to date at the start of a step.
    pub(crate) fn begin_step(&mut self, links: &mut Links, bodies: &Bodies, level: Level, crew: &Crew<'_>) {
        if std::mem::take(&mut links.changed) {
            self.build(links, bodies);
            self.slots_moved = true;
        }
        if self.nodes.is_empty() {
            return;
        }
        if std::mem::take(&mut self.slots_moved) {
            for node in &mut self.nodes {
                node.slot = bodies.slot_at(node.body).expect("links of removed bodies are dropped") as u32;
            }
        }
        let has_anchors = !self.radius.is_empty();
        for index in self.live.iter().cloned().flatten() {
            let slot = self.nodes[index].slot as usize;
            self.base[index] = HalfRow(bodies.position(slot).to_array());
            if has_anchors {
                self.radius[index] = bodies.columns.radius[slot];
            }
        }
        let base = &self.base;
        crew.for_each(&mut self.tiles, |_, tile| {
            if tile.live {
                with_lanes!(level, L => tile.begin_step::<L>(base));
            }
        });
        for tile in self.tiles.iter_mut().filter(|tile| tile.live) {
            for anchored in &mut tile.anchored {
                let [a, b] = anchored.nodes.map(|node| base[node as usize].0);
                anchored.way = Vec2::new(b[0] - a[0], b[1] - a[1]);
                for end in 0..2 {
                    let slot = self.nodes[anchored.nodes[end] as usize].slot as usize;
                    anchored.angles[end] = bodies.columns.angle[slot];
                    anchored.inv_inertias[end] = bodies.columns.inv_inertia[slot];
                }
            }
        }
    }

    /// Solves all links once for a substep of length h, in `iterations`, and moves the bodies in the mirror.
    #[allow(unsafe_code)]
    pub(crate) fn solve(&mut self, mirror: &Rows<'_>, iterations: u32, level: Level, crew: &Crew<'_>) {
        let h = mirror.step;
        let (nodes, radius, live) = (&self.nodes, &self.radius, &self.live);
        {
            let (moved, turned) = (SharedSlice::new(&mut self.moved), SharedSlice::new(&mut self.turned));
            crew.run(live.len(), |chunk| {
                let range = live[chunk].clone();
                // SAFETY: chunks are disjoint; a body is one node, and a node in one chunk.
                unsafe {
                    let pose = |index: usize| mirror.pose.range(slot_range(nodes, index))[0].0;
                    for (moved, index) in moved.range(range.clone()).iter_mut().zip(range.clone()) {
                        let pose = pose(index);
                        *moved = HalfRow([pose[0], pose[1]]);
                    }
                    if !radius.is_empty() {
                        for (turned, index) in turned.range(range.clone()).iter_mut().zip(range) {
                            *turned = if radius[index] > 0.0 { pose(index)[2] / radius[index] } else { 0.0 };
                        }
                    }
                }
            });
        }
        self.iterate(h, iterations, level, crew);
        let (nodes, radius, moved, turned) = (&self.nodes, &self.radius, &self.moved, &self.turned);
        let (live, per_step) = (&self.live, 1.0 / h);
        crew.run(live.len(), |chunk| {
            for index in live[chunk].clone() {
                let one = slot_range(nodes, index);
                let slot = one.start;
                // SAFETY: a body is one node, and a node in one chunk.
                let (pose, vel, last) = unsafe {
                    (
                        &mut mirror.pose.range(one.clone())[0].0,
                        &mut mirror.vel.range(one.clone())[0].0,
                        &mut mirror.accum.range(one)[0].0,
                    )
                };
                if vel[3] == 0.0 {
                    // No link moves it, not even one whose other end is beyond all bounds: that one alone is quarantined.
                    continue;
                }
                let [x, y] = moved[index].0;
                let turns = !radius.is_empty() && radius[index] > 0.0;
                let now = [x, y, if turns { turned[index] * radius[index] } else { pose[2] }];
                for axis in 0..3 {
                    let gained = (now[axis] - pose[axis]) * per_step;
                    vel[axis] += gained;
                    // The velocity from links is no impulse of a contact: the next warm start must not repeat it.
                    last[axis] +=
                        if mirror.any_damping { gained / mirror.damp[slot].0[axis] } else { gained };
                }
                pose[..3].copy_from_slice(&now);
            }
        });
    }

    #[allow(unsafe_code)]
    fn iterate(&mut self, h: f32, iterations: u32, level: Level, crew: &Crew<'_>) {
        let per_h2 = 1.0 / (h * h);
        let (pairs, odd) = (iterations as usize / 2, iterations % 2 == 1);
        let work = self.tiles.iter().map(LinkTile::work);
        self.schedule.plan(pairs + 1, work, false, crew.threads());
        for tile in &self.tiles {
            assert!(tile.places <= self.moved.len() && tile.anchored_places <= self.moved.len());
            assert!(tile.anchored_places <= self.turned.len());
        }
        let tiles = SharedSlice::new(&mut self.tiles);
        let (moved, turned) = (SharedSlice::new(&mut self.moved), SharedSlice::new(&mut self.turned));
        self.schedule.run(crew, |pass, index| {
            let index = index.expect("no overflow tile was asked for");
            let forward = pass < pairs || odd;
            // Even tiles: forth; back and forth …; back. Odd tiles: forth and back …
            let (back_first, back_last) =
                if index.is_multiple_of(2) { (pass > 0, false) } else { (false, pass < pairs) };
            // SAFETY: the schedule lets one task at a time have a tile's links, and the bodies of this tile
            // and the next; its links name no others, and places that there are (asserted above).
            unsafe {
                let tile = &mut tiles.range(index..index + 1)[0];
                if !tile.live {
                    return;
                }
                let nodes = Nodes { moved: moved.as_ptr(), turned: turned.as_ptr() };
                if pass == 0 {
                    tile.reset();
                }
                with_lanes!(level, L => {
                    if back_first {
                        tile.solve_backward::<L>(nodes, per_h2);
                    }
                    if forward {
                        tile.solve::<L>(nodes, per_h2);
                    }
                    if back_last {
                        tile.solve_backward::<L>(nodes, per_h2);
                    }
                });
            }
        });
    }

    /// Calls `broken` with each link whose force was above its limit and with this force, N, and removes it from the blocks.
    pub(crate) fn break_links(&mut self, h: f32, broken: &mut dyn FnMut(u32, f32)) {
        let per_h2 = 1.0 / (h * h);
        for tile in self.tiles.iter_mut().filter(|tile| tile.breaks) {
            for block in &mut tile.soft {
                for lane in 0..BLOCK {
                    let force = block.lambda[lane].abs() * per_h2;
                    if force > block.break_force[lane] {
                        broken(block.link[lane], force);
                        (block.lowest[lane], block.highest[lane]) = (0.0, 0.0);
                        (block.lambda[lane], block.break_force[lane]) = (0.0, f32::INFINITY);
                        block.link[lane] = NO_LINK;
                    }
                }
            }
            for link in &mut tile.anchored {
                let force = link.lambda.abs() * per_h2;
                if force > link.break_force {
                    broken(link.link, force);
                    (link.lowest, link.highest, link.lambda) = (0.0, 0.0, 0.0);
                    (link.break_force, link.link) = (f32::INFINITY, NO_LINK);
                }
            }
        }
    }

    /// Returns the links' handle indices in the order in which one thread solves them: even tiles, then odd ones.
    pub(crate) fn order(&self) -> impl Iterator<Item = u32> + '_ {
        let tiles = self.tiles.iter().step_by(2).chain(self.tiles.iter().skip(1).step_by(2));
        tiles.flat_map(LinkTile::order).filter(|&link| link != NO_LINK)
    }
}

impl LinkTile {
    /// Notes the ways between the bodies at the start of a step.
    fn begin_step<L: Lane>(&mut self, base: &[HalfRow]) {
        assert!(self.places <= base.len());
        #[allow(unsafe_code)]
        // SAFETY: asserted above; nothing but `lay_out` writes places.
        unsafe {
            note_ways::<L::Narrow>(&mut self.rigid, &mut self.soft, base);
        }
    }

    fn reset(&mut self) {
        for block in &mut self.soft {
            block.lambda = [0.0; BLOCK];
        }
        for link in &mut self.anchored {
            link.lambda = 0.0;
        }
    }

    /// Sweeps over the tile's links in the opposite order.
    ///
    /// # Safety
    ///
    /// As for [`LinkTile::solve`].
    #[allow(unsafe_code)]
    unsafe fn solve_backward<L: Lane>(&mut self, nodes: Nodes, per_h2: f32) {
        let (rigid, rigid_serial) = self.rigid.split_at(self.rigid_serial);
        let (soft, soft_serial) = self.soft.split_at_mut(self.soft_serial);
        // SAFETY: the caller has these nodes to itself. Lanes of a coloured block share no body; the rest is done at width 1.
        unsafe {
            for link in self.anchored.iter_mut().rev() {
                link.solve(nodes, per_h2);
            }
            sweep_soft::<f32, true>(soft_serial, nodes, per_h2);
            sweep_soft::<L::Narrow, true>(soft, nodes, per_h2);
            sweep_rigid::<f32, true>(rigid_serial, nodes);
            sweep_rigid::<L::Narrow, true>(rigid, nodes);
        }
    }

    /// Sweeps once over the tile's links.
    ///
    /// # Safety
    ///
    /// The caller guarantees that there is a node for every place in the blocks, and that no other thread uses these nodes.
    #[allow(unsafe_code)]
    unsafe fn solve<L: Lane>(&mut self, nodes: Nodes, per_h2: f32) {
        let (rigid, rigid_serial) = self.rigid.split_at(self.rigid_serial);
        let (soft, soft_serial) = self.soft.split_at_mut(self.soft_serial);
        // SAFETY: the caller has these nodes to itself. Lanes of a coloured block share no body; the rest is done at width 1.
        unsafe {
            sweep_rigid::<L::Narrow, false>(rigid, nodes);
            sweep_rigid::<f32, false>(rigid_serial, nodes);
            sweep_soft::<L::Narrow, false>(soft, nodes, per_h2);
            sweep_soft::<f32, false>(soft_serial, nodes, per_h2);
            for link in &mut self.anchored {
                link.solve(nodes, per_h2);
            }
        }
    }

    fn order(&self) -> impl Iterator<Item = u32> + '_ {
        let soft = self.soft.iter().flat_map(|block| block.link);
        self.rigid_links.iter().copied().chain(soft).chain(self.anchored.iter().map(|link| link.link))
    }
}

impl Anchored {
    /// Solves one link as [`soft`] does, with the lever of each anchor: w grows by (r × n)²/I.
    ///
    /// # Safety
    ///
    /// As for [`LinkTile::solve`].
    #[allow(unsafe_code)]
    unsafe fn solve(&mut self, nodes: Nodes, per_h2: f32) {
        // SAFETY: the caller has these nodes to itself; where there are anchors, each node's turn is there too.
        let (mut centres, mut turned) = unsafe {
            (
                pair!(end => Vec2::from_array((*nodes.moved.add(self.nodes[end] as usize)).0)),
                pair!(end => *nodes.turned.add(self.nodes[end] as usize)),
            )
        };
        let levers = pair!(end => {
            if self.anchors[end] == Vec2::ZERO {
                Vec2::ZERO
            } else {
                let (sin, cos) = sin_cos(self.angles[end] + turned[end]);
                Vec2::new(cos, sin).rotate(self.anchors[end])
            }
        });
        let way = self.way + (centres[1] - centres[0]) + (levers[1] - levers[0]);
        let distance = (way.x * way.x + way.y * way.y).sqrt();
        if !distance.gt(0.0) {
            return;
        }
        let normal = way / distance;
        let arms = pair!(end => levers[end].x * normal.y - levers[end].y * normal.x);
        let compliance = self.compliance * per_h2;
        let weight = |end: usize| self.inv_masses[end] + arms[end] * arms[end] * self.inv_inertias[end];
        let denominator = weight(0) + weight(1) + compliance;
        if !denominator.gt(0.0) {
            return;
        }
        let wanted = self.stiffness * ((distance - self.length + compliance * self.lambda) / denominator);
        let new = Lane::min(Lane::max(self.lambda - wanted, self.lowest), self.highest);
        let change = new - self.lambda;
        self.lambda = new;
        for (end, sign) in [(0, -change), (1, change)] {
            if self.inv_masses[end] == 0.0 {
                continue;
            }
            let by = sign * self.inv_masses[end];
            centres[end].x += normal.x * by;
            centres[end].y += normal.y * by;
            turned[end] += sign * arms[end] * self.inv_inertias[end];
        }
        for ((node, centre), turned) in self.nodes.into_iter().zip(centres).zip(turned) {
            // SAFETY: the caller has these nodes to itself, and each named node exists.
            unsafe {
                *nodes.moved.add(node as usize) = HalfRow(centre.to_array());
                *nodes.turned.add(node as usize) = turned;
            }
        }
    }
}

/// Returns the slot of a node, as a range.
fn slot_range(nodes: &[Node], index: usize) -> Range<usize> {
    let slot = nodes[index].slot as usize;
    slot..slot + 1
}
