//! Colours the pairs of one tile and lays out their blocks.
//!
//! ```text
//! bucket the pairs by class: by kind, within a kind the near ones first
//! for each class, for each pair: the lowest colour that neither body has yet in this class
//! for each class, for each colour: whole blocks; then one lane for each pair
//! ```
//!
//! Colours start anew with each class, since classes are solved one after the other. So a mixed pile needs fewer
//! colours a class, and has fewer blocks that are half empty. Pairs with the ground that were not near when the list
//! was made have blocks of their own, after those of the near pairs. These blocks are skipped while nothing in them is
//! near. Pairs of two moving bodies that were not near are candidates.
//!
//! Tried and dropped: colours of limited capacity (16 to 256 pairs), so that a pass goes through a tile in the order of
//! space. They were no faster, and the penetration of a pile of 158 rows was the same.
//!
//! Tried and dropped: full blocks, but solved in segments of 128 bodies, so that the rows stay in the first-level
//! cache. The time is that of `granule run packed --bodies 1000000 --threads 1 --warmup 60 --steps 12`. Kinetic energy
//! and largest overlap are those of `granule run packed --bodies 50000 --warmup 600 --steps 60`; without segments they
//! are 180 J and 0.04 m.
//!
//! ```text
//! from end to end                     −8 % of time    2,590 J, 0.09 m: always pushed the same way
//! forwards, relaxing backwards        −7 %              605 J, 0.04 m
//! the same, segments of 512           −9 %            1,950 J, 0.07 m
//! of 1,024, one segment at 50,000     −2 %              880 J, 0.08 m: so it is the way back that stirs
//! even segments, then odd ones        −1 to −3 %        127 J, 0.04 m
//! the same, segments of 256           −2 %            at 50,000 bodies −2 %, at 10,000 +1 %
//! with prefetch of the next blocks' rows               +2 to +7 %
//! ```

use super::candidates::CANDIDATE_KINDS;
use super::carry::{Carried, Carry, Kept, ManifoldCarried};
use super::colour::{COLOURS, Counts, Reach, SERIAL};
use super::{
    Arms, BLOCK, BlockInfo, BounceBlock, FrictionBlock, Limits, ManifoldBlock, NO_LANE, NO_MANIFOLD,
    NormalBlock, Places, RoughBlock, Run, STRUCK, SecondPoint, Tile,
};
use crate::base::room::at_least;
use crate::base::room::resize;
use crate::base::room::{make_room, refill};
use crate::body::Bodies;
use crate::broadphase::shapes::ShapeRef;
use crate::broadphase::sweep::Pair;
use crate::geometry::outline::Outlines;
use crate::geometry::shape::ShapeKind;
use crate::material::{Mix, Mixed, Mixing};
use crate::narrowphase::{KINDS, NO_CONTACT, PairKind};
use std::sync::Mutex;

/// One lane in reserve for so many near pairs of a kind, for candidates that come near. (With twice as many lanes, all
/// scenes took 2 to 5 % more time.) There are also sixteen serial lanes, for candidates that find one of their bodies
/// in every block in reserve, as three of sixty do. (Without these, most tiles were laid out anew in the step after a
/// new list: 4 ms with 8,000 bodies that tumble.)
const RESERVE: u32 = 4;

/// The number of classes: each kind has one for near pairs and one for the others.
pub(super) const CLASSES: usize = 2 * KINDS;

/// Vectors that keep their memory from one build to the next.
#[derive(Default)]
pub(super) struct Scratch {
    /// Colours that each body has, as bits: of the tile and the next one, or of all (then all are 0 between builds).
    pub(super) taken: Vec<u64>,
    /// The pairs with lanes, in order, from the front; the others from the back.
    split: Vec<u32>,
    /// Pairs with lanes by class; or where each pair went when some were dropped or added.
    pub(super) sorted: Vec<u32>,
    /// Colour of each pair in `sorted`.
    pub(super) colour: Vec<u8>,
    /// Candidates that have come near, or the places of pairs that were added to the list.
    pub(super) born: Vec<u32>,
    /// Pairs that are to be added to the list.
    pub(super) added: Vec<Pair>,
}

impl Scratch {
    pub(super) fn holds(&self, bodies: usize, lanes: usize, pairs: usize) -> bool {
        self.taken.capacity() >= bodies
            && self.split.capacity() >= pairs
            && self.sorted.capacity() >= pairs
            && self.colour.capacity() >= lanes
            && self.born.capacity() >= lanes / 4
            && self.added.capacity() >= lanes / 4
    }

    /// Makes room for the colours of so many bodies, of any tile.
    pub(super) fn reserve_for_any(&mut self, bodies: usize) {
        at_least(&mut self.taken, bodies);
    }

    pub(super) fn reserve(&mut self, bodies: usize, lanes: usize, pairs: usize) {
        at_least(&mut self.taken, bodies);
        at_least(&mut self.split, pairs);
        at_least(&mut self.sorted, pairs);
        at_least(&mut self.colour, lanes);
        at_least(&mut self.born, lanes / 4);
        at_least(&mut self.added, lanes / 4);
    }
}

/// The data that building reads, the same for all tiles.
pub(super) struct Build<'a> {
    pub bodies: &'a Bodies,
    /// The roundings of outlines by slot; empty where no pair needs a manifold.
    pub rounding: &'a [f32],
    pub mixing: Mixing,
    pub carry: &'a Carry,
    /// Old slot of each new slot.
    pub old_slot: &'a [u32],
    /// Separation below which a pair counts as near.
    pub speculative: f32,
    /// Memory for tiles whose blocks are laid out anew and keep their values; as many as were ever in use at the same
    /// time.
    pub spare: &'a Mutex<Vec<Kept>>,
}

impl Build<'_> {
    /// Builds a tile's blocks and candidates.
    pub(super) fn tile(&self, tile: &mut Tile, reach: Reach) {
        resize(&mut tile.lane_of, tile.found.pairs.len());
        self.lay_out_pairs(tile, reach, |pair, _| reach == Reach::Anywhere || !self.is_candidate(pair));
    }

    /// Lays a tile's blocks out anew. Pairs keep their values. Those in `born` get lanes: candidates that have come
    /// near, or pairs that were added to the list.
    pub(super) fn again(&self, tile: &mut Tile, born: &[u32], reach: Reach) {
        let mut kept = self.spare.lock().expect("no worker panicked").pop().unwrap_or_default();
        kept.take(tile);
        resize(&mut tile.lane_of, tile.found.pairs.len());
        for &pair in born {
            tile.lane_of[pair as usize] = 0;
        }
        self.lay_out_pairs(tile, reach, |_, lane| lane != NO_LANE);
        kept.give_back(tile);
        self.spare.lock().expect("no worker panicked").push(kept);
    }

    /// Gives a new lane to each pair that is to have one, by what it is and the lane that it had.
    fn lay_out_pairs(&self, tile: &mut Tile, reach: Reach, has_lane: impl Fn(&Pair, u32) -> bool) {
        let mut scratch = std::mem::take(&mut tile.scratch);
        let mut candidates = [0; CANDIDATE_KINDS];
        let near = split(tile, &mut scratch, &mut candidates, has_lane);
        let buckets = self.sort_by_class(tile, &mut scratch, near, reach);
        let mut counts = [Counts::NONE; CLASSES];
        self.colour(tile, &mut scratch, &buckets, &mut counts, reach);
        self.lay_out(tile, &buckets, &mut counts, &candidates, reach);
        self.fill(tile, &scratch, &buckets, &mut counts);
        let far = sort_by_kind(tile, &mut scratch, near, &candidates);
        self.lay_out_candidates(tile, &candidates, far);
        tile.scratch = scratch;
        debug_assert!(tile.has_sound_colours());
    }

    /// Fills `sorted` with the pairs that have lanes, the first `near` of `split`, and returns where each class starts in it.
    fn sort_by_class(
        &self,
        tile: &Tile,
        scratch: &mut Scratch,
        near: usize,
        reach: Reach,
    ) -> [u32; CLASSES + 1] {
        let pairs = &tile.found.pairs;
        let Scratch { split, sorted, .. } = scratch;
        let class = |index: u32| {
            let pair = &pairs[index as usize];
            // In other tiles, a pair of two moving bodies that has a lane is near.
            let may_be_far = reach == Reach::Anywhere || pair.kind.is_fixed();
            let far = may_be_far && pair.separation >= self.speculative;
            2 * pair.kind as usize + usize::from(far)
        };
        let mut start = [0u32; CLASSES + 1];
        for &index in &split[..near] {
            start[class(index) + 1] += 1;
        }
        for i in 0..CLASSES {
            start[i + 1] += start[i];
        }
        let classes = start;
        resize(sorted, near);
        for &index in &split[..near] {
            let place = &mut start[class(index)];
            sorted[*place as usize] = index;
            *place += 1;
        }
        classes
    }

    /// Makes the blocks, and replaces the counts of each class and colour by their first lanes.
    fn lay_out(
        &self,
        tile: &mut Tile,
        buckets: &[u32; CLASSES + 1],
        counts: &mut [Counts; CLASSES],
        candidates: &[u32; CANDIDATE_KINDS],
        reach: Reach,
    ) {
        let roomy = reach == Reach::Near && tile.is_roomy();
        let reserves = reserves(buckets, candidates, roomy);
        let used = counts.iter().zip(buckets.windows(2)).filter(|(_, range)| range[0] < range[1]);
        let blocks_of = |lanes: u32| lanes.div_ceil(BLOCK as u32) as usize;
        let lanes = |(counts, _): (&Counts, _)| {
            counts.in_use().map(|colour| blocks_of(counts.lanes[colour])).sum::<usize>()
        };
        let total: usize = used.map(lanes).sum();
        make_room(&mut tile.info, total + reserves.iter().sum::<u32>() as usize);
        let mut blocks = Blocks { info: &mut tile.info, manifolds: 0 };
        for (class, (run, counts)) in tile.runs.iter_mut().zip(counts).enumerate() {
            let start = blocks.len();
            *run = Run { start, serial: start, end: start };
            let reserve = if class % 2 == 1 { reserves[class / 2] } else { 0 };
            if buckets[class] == buckets[class + 1] && reserve == 0 {
                continue;
            }
            let needs_manifold = PairKind::ALL[class / 2].needs_manifold();
            for colour in counts.in_use() {
                let count = &mut counts.lanes[colour];
                if colour == SERIAL {
                    for i in 0..reserve {
                        blocks.push(0, 1, i.min(COLOURS as u32 - 1), needs_manifold);
                    }
                    run.serial = blocks.len();
                }
                let spare = reserve > 0 && roomy && colour == SERIAL && class / 2 < CANDIDATE_KINDS;
                let first = blocks.len();
                let wanted = count.div_ceil(BLOCK as u32) + u32::from(spare);
                blocks.push(*count, wanted, colour as u32, needs_manifold);
                *count = first * BLOCK as u32;
            }
            run.end = blocks.len();
        }
        let manifolds = blocks.manifolds as usize;
        let occupied = |bits, (index, run): (usize, &Run)| bits | u64::from(run.end > run.start) << index;
        tile.occupied = tile.runs.iter().enumerate().fold(0, occupied);
        self.clear_blocks(tile, manifolds);
    }

    /// Fills all columns of the blocks with empty lanes.
    pub(super) fn clear_blocks(&self, tile: &mut Tile, manifolds: usize) {
        let blocks = tile.info.len();
        let empty = [0.0; BLOCK];
        tile.limits = Limits::default();
        let Limits { bodies, shapes, outlines } = &mut tile.limits;
        let normal = NormalBlock {
            a: Places::all(tile.padding, bodies),
            b: Places::all(tile.padding, bodies),
            normal_x: empty,
            normal_y: empty,
            separation: [NO_CONTACT; BLOCK],
            normal_impulse: empty,
            normal_mass: empty,
            closing_speed: empty,
        };
        let friction = FrictionBlock {
            tangent_impulse: empty,
            tangent_mass: empty,
            static_friction: empty,
            dynamic_friction: empty,
        };
        refill(&mut tile.normal, blocks, normal);
        refill(&mut tile.friction, blocks, friction);
        let bounce = if self.bodies.any_restitution { blocks } else { 0 };
        refill(&mut tile.bounce, bounce, BounceBlock::NONE);
        let (padding, no_outline) = (Places::all(tile.padding, shapes), Places::all(0, outlines));
        let manifold = ManifoldBlock {
            arms: Arms::default(),
            second: SecondPoint {
                separation: [NO_CONTACT; BLOCK],
                normal_impulse: empty,
                normal_mass: empty,
                closing_speed: empty,
            },
            feature: [empty; 2],
            inv_spin_a: empty,
            inv_spin_b: empty,
            reach_sum: empty,
            thickness: empty,
            shape_a: padding,
            shape_b: padding,
            outline_a: no_outline,
            outline_b: no_outline,
            place: [[empty; 2]; 2],
        };
        refill(&mut tile.manifold, manifolds, manifold);
        let rough = if self.bodies.any_rough { manifolds } else { 0 };
        let smooth = RoughBlock { rolling: empty, rolling_impulse: empty, tangent_speed: empty };
        refill(&mut tile.rough, rough, smooth);
    }

    /// Writes each pair's lane.
    fn fill(
        &self,
        tile: &mut Tile,
        scratch: &Scratch,
        buckets: &[u32; CLASSES + 1],
        next_lane: &mut [Counts; CLASSES],
    ) {
        let mut coefficients = self.coefficients();
        for class in 0..CLASSES {
            let range = buckets[class] as usize..buckets[class + 1] as usize;
            let next_lane = &mut next_lane[class].lanes;
            for (&index, &colour) in scratch.sorted[range.clone()].iter().zip(&scratch.colour[range]) {
                let pair = &tile.found.pairs[index as usize];
                let place = &mut next_lane[colour as usize];
                let (block, lane) = (*place as usize / BLOCK, *place as usize % BLOCK);
                *place += 1;
                let old_slots = [pair.a, pair.b].map(|slot| self.old_slot[slot as usize]);
                let (old_slots, parts) = if pair.swap {
                    ([old_slots[1], old_slots[0]], [pair.parts[1], pair.parts[0]])
                } else {
                    (old_slots, pair.parts)
                };
                let carried = self.carry.claim(old_slots, parts);
                self.write_lane(tile, &mut coefficients, index as usize, (block, lane), carried);
            }
        }
    }

    pub(super) fn coefficients(&self) -> Coefficients<'_> {
        Coefficients::new(self.bodies, self.mixing)
    }

    /// Writes a pair to a free lane.
    #[inline(always)]
    pub(super) fn write_lane(
        &self,
        tile: &mut Tile,
        coefficients: &mut Coefficients<'_>,
        index: usize,
        (block, lane): (usize, usize),
        (carried, manifold_carried): (Carried, ManifoldCarried),
    ) {
        let c = &self.bodies.columns;
        let pair = &tile.found.pairs[index];
        let kind = pair.kind;
        let (spin_a, spin_b) = kind.spin_factors();
        let (a, b) = if pair.swap { (pair.b, pair.a) } else { (pair.a, pair.b) };
        let parts = if pair.swap { [pair.parts[1], pair.parts[0]] } else { pair.parts };
        tile.lane_of[index] = (block * BLOCK + lane) as u32;
        let (slot_a, slot_b) = (a as usize, b as usize);
        let (inv_mass_a, inv_mass_b) = (c.inv_mass[slot_a], c.inv_mass[slot_b]);
        let inv_mass = inv_mass_a + inv_mass_b;
        let mut materials = (c.material[slot_a], c.material[slot_b]);
        let shapes = kind.needs_manifold().then(|| {
            let shape_a = ShapeRef::new(self.bodies, slot_a, parts[0]);
            let shape_b = ShapeRef::new(self.bodies, slot_b, parts[1]);
            materials = (shape_a.material, shape_b.material);
            [shape_a, shape_b]
        });
        let mixed = coefficients.of(materials.0, materials.1);

        let normal = &mut tile.normal[block];
        normal.a.set(lane, a, &mut tile.limits.bodies);
        normal.b.set(lane, b, &mut tile.limits.bodies);
        normal.normal_impulse[lane] = carried.normal_impulse;
        normal.normal_mass[lane] = 1.0 / inv_mass;
        let friction = &mut tile.friction[block];
        friction.tangent_impulse[lane] = carried.tangent_impulse;
        friction.tangent_mass[lane] = 1.0 / (inv_mass + (spin_a * inv_mass_a + spin_b * inv_mass_b));
        friction.static_friction[lane] = mixed.static_friction;
        friction.dynamic_friction[lane] = mixed.dynamic_friction;
        if let Some(bounce) = tile.bounce.get_mut(block) {
            bounce.restitution[lane] = mixed.restitution;
        }
        let info = &mut tile.info[block];
        info.touched |= u16::from(carried.touching) << lane;
        if let Some(shapes) = shapes {
            let radii = [c.radius[slot_a], c.radius[slot_b]];
            self.write_manifold(tile, (block, lane), (&shapes, radii), manifold_carried);
        }
    }

    /// Writes the part of a lane that only contacts with a manifold have: of these shapes, of bodies with these radii.
    #[inline(always)]
    fn write_manifold(
        &self,
        tile: &mut Tile,
        (block, lane): (usize, usize),
        (shapes, radii): (&[ShapeRef; 2], [f32; 2]),
        carried: ManifoldCarried,
    ) {
        let (info, table) = (&mut tile.info[block], &self.bodies.outlines);
        info.capacity |= needs(&shapes[0], table) | needs(&shapes[1], table);
        let place = info.manifold as usize;
        let manifold = &mut tile.manifold[place];
        let inverse = |length: f32| if length > 0.0 { 1.0 / length } else { 0.0 };
        manifold.inv_spin_a[lane] = inverse(radii[0]);
        manifold.inv_spin_b[lane] = inverse(radii[1]);
        manifold.reach_sum[lane] = shapes[0].reach + shapes[1].reach;
        manifold.thickness[lane] = shapes[0].thickness.min(shapes[1].thickness);
        let Limits { shapes: rows, outlines, .. } = &mut tile.limits;
        manifold.shape_a.set(lane, shapes[0].row, rows);
        manifold.shape_b.set(lane, shapes[1].row, rows);
        manifold.outline_a.set(lane, shapes[0].outline_row(), outlines);
        manifold.outline_b.set(lane, shapes[1].outline_row(), outlines);
        manifold.feature[0][lane] = carried.feature[0];
        manifold.feature[1][lane] = carried.feature[1];
        manifold.second.normal_impulse[lane] = carried.normal_impulse;
        if carried.struck {
            tile.normal[block].closing_speed[lane] = STRUCK;
        }
        if let Some(rough) = tile.rough.get_mut(place) {
            let [a, b] = shapes.each_ref().map(|shape| self.bodies.materials()[shape.material as usize]);
            // Not −0: see `Mixed::unsigned`.
            let resistance = Mix::Max.mix(a.rolling_resistance, b.rolling_resistance) + 0.0;
            rough.rolling[lane] = resistance * rolling_radius(shapes);
            rough.tangent_speed[lane] = a.tangent_speed + b.tangent_speed;
            rough.rolling_impulse[lane] = carried.rolling_impulse;
        }
    }
}

/// Splits the pairs into those that are to have lanes, which `split` begins with, and the others, which it ends with, from back to
/// front. Marks both in `lane_of`, counts the others by kind, and returns the number of the first. (Most pairs are candidates, so each
/// further look at a pair would cost more than what is done for all lanes.)
fn split(
    tile: &mut Tile,
    scratch: &mut Scratch,
    candidates: &mut [u32; CANDIDATE_KINDS],
    has_lane: impl Fn(&Pair, u32) -> bool,
) -> usize {
    let Tile { lane_of, found, .. } = tile;
    let len = found.pairs.len();
    if scratch.split.len() < len {
        resize(&mut scratch.split, len);
    }
    let split = &mut scratch.split[..len];
    let mut counts = [0u32; 32];
    let mut near = 0;
    for ((index, pair), lane) in (0u32..).zip(&found.pairs).zip(lane_of) {
        let has = has_lane(pair, *lane);
        *lane = if has { 0 } else { NO_LANE };
        // Without a branch: what is written to the wrong end is written again.
        let far = index as usize - near;
        split[near] = index;
        split[len - 1 - far] = index;
        near += usize::from(has);
        counts[pair.kind as usize & 31] += u32::from(!has);
    }
    candidates.copy_from_slice(&counts[..CANDIDATE_KINDS]);
    near
}

/// Returns the pairs without lanes, sorted by kind, in order within a kind.
fn sort_by_kind<'a>(
    tile: &Tile,
    scratch: &'a mut Scratch,
    near: usize,
    counts: &[u32; CANDIDATE_KINDS],
) -> &'a [u32] {
    let pairs = &tile.found.pairs;
    let Scratch { split, sorted, .. } = scratch;
    let far = &mut split[near..pairs.len()];
    if counts.iter().filter(|&&count| count > 0).count() <= 1 {
        far.reverse();
        return far;
    }
    let mut next = [0u32; 32];
    for (kind, &count) in counts.iter().enumerate() {
        next[kind + 1] = next[kind] + count;
    }
    if sorted.len() < far.len() {
        resize(sorted, far.len());
    }
    for &index in far.iter().rev() {
        let place = &mut next[pairs[index as usize].kind as usize & 31];
        sorted[*place as usize] = index;
        *place += 1;
    }
    &sorted[..far.len()]
}

/// Returns the radius that rolls: the smaller one of two round shapes, else that of the round shape.
fn rolling_radius([a, b]: &[ShapeRef; 2]) -> f32 {
    if a.radius > 0.0 && b.radius > 0.0 { a.radius.min(b.radius) } else { a.radius.max(b.radius) }
}

/// Returns what a shape asks of the kernel of its block, see [`BlockInfo::capacity`].
fn needs(shape: &ShapeRef, outlines: &Outlines) -> u8 {
    match shape.kind {
        ShapeKind::Circle | ShapeKind::Particle | ShapeKind::HalfSpace => 0,
        ShapeKind::Aabb | ShapeKind::Box => 1,
        _ => match outlines.size(shape.outline)[3] as u8 {
            ..=2 => 2,
            3..=4 => 4,
            _ => 8,
        },
    }
}

/// The descriptions of a tile's blocks while they are laid out.
struct Blocks<'a> {
    info: &'a mut Vec<BlockInfo>,
    /// How many of the blocks have a [`ManifoldBlock`].
    manifolds: u32,
}

impl Blocks<'_> {
    fn len(&self) -> u32 {
        self.info.len() as u32
    }

    /// Appends `blocks` blocks of one colour, of which the first `lanes` lanes are in use.
    #[inline]
    fn push(&mut self, lanes: u32, blocks: u32, colour: u32, needs_manifold: bool) {
        for i in 0..blocks {
            let count = lanes.saturating_sub(i * BLOCK as u32).min(BLOCK as u32) as u8;
            let manifold = if needs_manifold { self.manifolds } else { NO_MANIFOLD };
            self.manifolds += u32::from(needs_manifold);
            self.info.push(BlockInfo { count, colour: colour as u8, manifold, ..BlockInfo::default() });
        }
    }
}

/// Returns how many empty blocks each kind has in reserve, for candidates that come near and for pairs that are added
/// to the list.
fn reserves(buckets: &[u32; CLASSES + 1], candidates: &[u32; CANDIDATE_KINDS], roomy: bool) -> [u32; KINDS] {
    std::array::from_fn(|kind| {
        let lanes = buckets[2 * kind + 2] - buckets[2 * kind];
        let candidates = candidates.get(kind).copied().unwrap_or(0);
        let least = u32::from(candidates > 0 || roomy && lanes > 0);
        least + lanes.min(candidates) / (RESERVE * BLOCK as u32)
    })
}

/// The mixed coefficients of a pair of materials, remembered for the next pair of the same materials.
pub(super) struct Coefficients<'a> {
    bodies: &'a Bodies,
    mixing: Mixing,
    last: (u32, u32),
    mixed: Mixed,
}

impl<'a> Coefficients<'a> {
    pub(super) fn new(bodies: &'a Bodies, mixing: Mixing) -> Self {
        Coefficients { bodies, mixing, last: (u32::MAX, u32::MAX), mixed: Mixed::default() }
    }

    pub(super) fn of(&mut self, a: u32, b: u32) -> Mixed {
        if self.last != (a, b) {
            self.last = (a, b);
            self.mixed = self.bodies.mixed(self.mixing, a, b);
        }
        self.mixed
    }
}
