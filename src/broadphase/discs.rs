//! A tree of discs over the order of space: for batches of queries.
//!
//! A batch has time to look at all bodies once. So it makes of each body in the bands two discs about its centre: the *outer* one holds
//! its shapes, the *inner* one is held by them. Sixteen bodies that follow each other in the order of space are a leaf, sixteen leaves are
//! a node, and so on. Such bodies are near each other already, so nothing is sorted, and the tree is made at 2 ns a body.
//!
//! ```text
//! in a box:       the nodes that overlap the box; of their leaves, in lanes:
//!                     the body is outside if its outer disc is, and inside if its inner disc reaches the box
//! along a track:  piece by piece, each four times as long as the one before:
//!                     the nodes that the piece meets; of their leaves, in lanes:
//!                         when the track meets the outer disc, at the earliest, and the inner disc, at the latest
//!                     the bodies, the earliest first, up to where one is met for certain
//! ```
//!
//! What a search finds goes to the exact test of the query. It is only the order, and what is left out, that the discs decide; both have
//! slack for rounding. So the answers are those of single queries, which walk through the bands (`walk.rs`).

use super::Broadphase;
use super::walk::{LineVisitor, Track, TrackPart, meets};
use crate::base::room::resize;
use crate::body::Bodies;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, lane_entry, values, with_lanes};
use glam::Vec2;

const CHILDREN: usize = MAX_WIDTH;
/// The most levels above the leaves: they hold 2^28 bodies, as many as there are rows.
const MAX_HEIGHT: usize = 6;
/// The leaves that a task makes.
const LEAVES_PER_TASK: usize = 64;

/// Of a leaf's bodies: the centre's x and y, the radius of the outer and of the inner disc. Of a node's children: least and largest x, then
/// y. What is missing is not a number, and so overlaps nothing.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Node([[f32; CHILDREN]; 4]);

impl Default for Node {
    fn default() -> Self {
        Node([[f32::NAN; CHILDREN]; 4])
    }
}

impl Node {
    /// The box around all children of a node: `[min_x, max_x, min_y, max_y]`.
    fn bounds(&self) -> [f32; 4] {
        let mut bounds = NOWHERE;
        for child in 0..CHILDREN {
            grow(&mut bounds, self.0.map(|column| column[child]));
        }
        bounds
    }

    /// The box around all outer discs of a leaf.
    fn bounds_of_discs(&self) -> [f32; 4] {
        let [x, y, outer, _] = &self.0;
        let mut bounds = NOWHERE;
        for i in 0..CHILDREN {
            grow(&mut bounds, [x[i] - outer[i], x[i] + outer[i], y[i] - outer[i], y[i] + outer[i]]);
        }
        bounds
    }

    fn set(&mut self, child: usize, bounds: [f32; 4]) {
        for (column, value) in self.0.iter_mut().zip(bounds) {
            column[child] = value;
        }
    }

    /// Makes the disc of a body one that nothing meets.
    fn remove(&mut self, child: usize) {
        self.set(child, [f32::NAN; 4]);
    }
}

const NOWHERE: [f32; 4] = [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY];

/// Grows a box so that it holds another one. Nothing happens if that is not a number.
#[inline(always)]
fn grow(bounds: &mut [f32; 4], [min_x, max_x, min_y, max_y]: [f32; 4]) {
    let least = |a: f32, b: f32| if a < b { a } else { b };
    let most = |a: f32, b: f32| if a > b { a } else { b };
    bounds[0] = least(min_x, bounds[0]);
    bounds[1] = most(max_x, bounds[1]);
    bounds[2] = least(min_y, bounds[2]);
    bounds[3] = most(max_y, bounds[3]);
}

/// The bodies in the bands that are where the list has them, as discs.
#[derive(Default)]
pub(crate) struct DiscTree {
    leaves: Vec<Node>,
    /// The nodes above the leaves, level by level, and where each level begins.
    nodes: Vec<Node>,
    starts: [usize; MAX_HEIGHT + 1],
    height: usize,
    /// The length of the first piece of a track, m.
    piece: f32,
}

/// By how much a radius of a disc may be wrong, as a part of it.
const PART: f32 = 1.0e-5;
/// By how much a distance may be wrong, as a part of it.
const LOSS: f32 = 4.0 * f32::EPSILON;

/// How much the rounding of coordinates may add to a reach, at a place.
fn slack(x: f32, y: f32) -> f32 {
    8.0 * f32::EPSILON * (if x.abs() > y.abs() { x.abs() } else { y.abs() } + 1.0)
}

/// The discs of a body: x, y, the outer radius and the inner one.
#[inline]
fn discs(bodies: &Bodies, slot: usize) -> [f32; 4] {
    let c = &bodies.columns;
    let kind = c.kind[slot];
    if !kind.is_collidable() {
        return [f32::NAN; 4];
    }
    let (x, y) = (c.pos_x[slot], c.pos_y[slot]);
    let (outer, inner) = match kind.shape() {
        ShapeKind::Circle | ShapeKind::Particle => (c.ext_x[slot], c.ext_x[slot]),
        ShapeKind::Aabb | ShapeKind::HalfSpace => {
            let half = Vec2::new(c.ext_x[slot], c.ext_y[slot]);
            (half.length(), half.min_element())
        }
        // Its centre is in none of its parts, perhaps.
        ShapeKind::Compound => (c.furthest[slot], f32::NAN),
        _ => (c.furthest[slot], c.thickness[slot]),
    };
    let slack = slack(x, y) + PART * outer;
    let inner = inner - slack;
    [x, y, outer + slack, if inner < 0.0 { 0.0 } else { inner }]
}

impl DiscTree {
    /// Makes the tree of the bodies in the bands. Those that are not where the list has them, strays and loose ones, are left out.
    pub(crate) fn build(&mut self, bodies: &Bodies, broadphase: &Broadphase, crew: &Crew<'_>) {
        let banded = broadphase.bands.banded;
        self.piece = 3.0 * broadphase.bands.height as f32;
        let leaves = banded.div_ceil(CHILDREN);
        resize(&mut self.leaves, leaves);
        let parents = leaves.div_ceil(CHILDREN);
        // A fifteenth of them, and one a level, are above the lowest level.
        resize(&mut self.nodes, parents + parents / (CHILDREN - 1) + MAX_HEIGHT);
        let shared = SharedSlice::new(&mut self.leaves);
        crew.chunks(leaves, LEAVES_PER_TASK, |range| {
            #[allow(unsafe_code)]
            // SAFETY: each task takes the leaves of its own chunk, and each leaf is in one chunk.
            let leaves = unsafe { shared.range(range.clone()) };
            for (leaf, number) in leaves.iter_mut().zip(range) {
                let first = number * CHILDREN;
                for child in 0..CHILDREN {
                    let slot = first + child;
                    leaf.set(child, if slot < banded { discs(bodies, slot) } else { [f32::NAN; 4] });
                }
            }
        });
        let elsewhere = broadphase.loose.iter().chain(broadphase.strays.slots());
        for slot in elsewhere.map(|&slot| slot as usize).filter(|&slot| slot < banded) {
            self.leaves[slot / CHILDREN].remove(slot % CHILDREN);
        }
        let DiscTree { leaves, nodes, starts, height, .. } = self;
        let mut end = 0;
        *height = 0;
        let mut below = 0..leaves.len();
        let mut of_leaves = true;
        while of_leaves && !below.is_empty() || below.len() > 1 {
            let start = end;
            for first in below.clone().step_by(CHILDREN) {
                let mut node = Node::default();
                for number in first..below.end.min(first + CHILDREN) {
                    let bounds =
                        if of_leaves { leaves[number].bounds_of_discs() } else { nodes[number].bounds() };
                    node.set(number - first, bounds);
                }
                nodes[end] = node;
                end += 1;
            }
            starts[*height] = start;
            *height += 1;
            (below, of_leaves) = (start..end, false);
        }
    }

    /// Visits the bodies of the tree that may overlap a box `[min_x, max_x, min_y, max_y]`, without those that surely don't, until `visit`
    /// returns false. It is given the slot, and whether the body's one shape surely overlaps the box. Returns false if `visit` did.
    pub(crate) fn visit_box(
        &self,
        level: Level,
        bounds: [f32; 4],
        mut visit: impl FnMut(usize, bool) -> bool,
    ) -> bool {
        let mut search = Search::new(self, BoxSought { bounds });
        while search.advance(level) {
            let goes_on = search.found[..search.count]
                .iter()
                .all(|&found| visit((found & u64::from(u32::MAX)) as usize, found > u64::from(u32::MAX)));
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Visits the bodies of the tree that a track may meet. See [`Broadphase::visit_along`]; bodies may be visited several times if
    /// `nearest` is true.
    pub(crate) fn visit_along(
        &self,
        level: Level,
        (track, sought): (&Track, Sought),
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) -> bool {
        let length = track.way.length();
        let (mut start, mut piece) = (0.0f32, 2.0f32);
        if sought.nearest && length > self.piece {
            piece = self.piece / length;
        }
        loop {
            let end = if start + piece < 1.0 { start + piece } else { 1.0 };
            let most = round_up(*limit).min(end);
            let mut search = Search::new(self, TrackSought::new(track, sought, [start, most]));
            while search.advance(level) {
                if search.sought.most < most {
                    *limit = limit.min(f64::from(search.sought.most));
                }
                let mut count = search.count;
                while count > 0 {
                    let found = &mut search.found[..count];
                    let mut first = 0;
                    for i in 1..count {
                        if found[i] < found[first] {
                            first = i;
                        }
                    }
                    let next = found[first];
                    found[first] = found[count - 1];
                    count -= 1;
                    if f64::from(f32::from_bits((next >> 32) as u32)) > *limit {
                        break;
                    }
                    *limit = limit.min(visit((next & u64::from(u32::MAX)) as usize));
                    if *limit < 0.0 {
                        return false;
                    }
                }
                search.sought.most = search.sought.most.min(round_up(*limit));
            }
            (start, piece) = (end, 4.0 * piece);
            if start >= 1.0 || f64::from(start) > *limit {
                return true;
            }
        }
    }
}

/// A number in single precision that is not smaller.
fn round_up(limit: f64) -> f32 {
    (limit * (1.0 + f64::from(f32::EPSILON))) as f32
}

/// What is sought along a track.
#[derive(Clone, Copy)]
pub(crate) struct Sought {
    /// The radius of a disc that holds the shape that is moved, and of one that it holds; both are about its centre. 0 of a ray.
    pub outer: f32,
    pub inner: f32,
    /// Only the nearest body is wanted, whichever it is.
    pub nearest: bool,
}

/// How many bodies a search finds before they are visited.
const ROOM: usize = 64;

/// A walk through the tree.
struct Search<'a, S> {
    tree: &'a DiscTree,
    sought: S,
    /// From the root down: a node's number in its level, and its children that are still to be visited, as bits.
    open: [(u32, u32); MAX_HEIGHT + 1],
    depth: usize,
    begun: bool,
    found: [u64; ROOM],
    count: usize,
}

/// What a search asks of nodes and leaves.
trait Seek: Sized {
    /// Which children of a node may hold what is sought.
    fn meets<L: Lane>(&self, node: &Node) -> u32;
    /// Appends what is found among the bodies of a leaf, from slot `first` on.
    fn look<L: Lane>(&mut self, leaf: &Node, first: u64, found: &mut [u64; ROOM], count: &mut usize);
}

lane_entry! {
    /// Searches until the room is full or all is found.
    fn search[S: Seek][S](search: &mut Search<'_, S>) = search_lanes;
}

#[inline(always)]
fn search_lanes<L: Lane, S: Seek>(search: &mut Search<'_, S>) {
    let Search { tree, sought, open, depth, begun, found, count } = search;
    let height = tree.height;
    if !*begun && height > 0 {
        *begun = true;
        open[0] = (0, sought.meets::<L>(&tree.nodes[tree.starts[height - 1]]));
        *depth = 1;
    }
    while *depth > 0 {
        let (number, children) = open[*depth - 1];
        if children == 0 {
            *depth -= 1;
            continue;
        }
        let child = CHILDREN * number as usize + children.trailing_zeros() as usize;
        if *depth == height {
            if *count + CHILDREN > ROOM {
                return;
            }
            sought.look::<L>(&tree.leaves[child], (CHILDREN * child) as u64, found, count);
        } else {
            let node = &tree.nodes[tree.starts[height - 1 - *depth] + child];
            open[*depth] = (child as u32, sought.meets::<L>(node));
        }
        open[*depth - 1].1 &= children - 1;
        *depth += usize::from(*depth < height);
    }
}

impl<'a, S: Seek> Search<'a, S> {
    fn new(tree: &'a DiscTree, sought: S) -> Self {
        Search {
            tree,
            sought,
            open: [(0, 0); MAX_HEIGHT + 1],
            depth: 0,
            begun: false,
            found: [0; ROOM],
            count: 0,
        }
    }

    /// Finds some more. Returns false if there is nothing more.
    fn advance(&mut self, level: Level) -> bool {
        self.count = 0;
        if self.depth > 0 || !self.begun {
            with_lanes!(level, L => search::<L, S>(self));
        }
        self.count > 0
    }
}

/// The bodies in a box `[min_x, max_x, min_y, max_y]`.
struct BoxSought {
    bounds: [f32; 4],
}

impl Seek for BoxSought {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        let [least_x, most_x, least_y, most_y] = self.bounds.map(L::splat);
        let [min_x, max_x, min_y, max_y] = &node.0;
        let mut bits = 0;
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let across = L::load(&min_x[i..]).le(most_x).and(L::load(&max_x[i..]).ge(least_x));
            let along = L::load(&min_y[i..]).le(most_y).and(L::load(&max_y[i..]).ge(least_y));
            bits |= across.and(along).bits() << i;
        }
        bits
    }

    #[inline(always)]
    fn look<L: Lane>(&mut self, leaf: &Node, first: u64, found: &mut [u64; ROOM], count: &mut usize) {
        let [least_x, most_x, least_y, most_y] = self.bounds.map(L::splat);
        let [x, y, outer, inner] = &leaf.0;
        let zero = L::splat(0.0);
        let (mut near, mut sure) = (0, 0);
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let (x, y) = (L::load(&x[i..]), L::load(&y[i..]));
            let (outer, inner) = (L::load(&outer[i..]), L::load(&inner[i..]));
            let away_x = (least_x - x).max(x - most_x).max(zero);
            let away_y = (least_y - y).max(y - most_y).max(zero);
            let away = away_x * away_x + away_y * away_y;
            near |= away.le(outer * outer).bits() << i;
            // The square of a tiny distance may be 0. The second comparison is for centres in the box, and false of a compound.
            let within = away.lt(inner * inner).or((away_x + away_y).le(inner * zero));
            sure |= within.bits() << i;
        }
        while near != 0 {
            let lane = near.trailing_zeros();
            near &= near - 1;
            found[*count] = u64::from(sure >> lane & 1) << 32 | (first + u64::from(lane));
            *count += 1;
        }
    }
}

/// The bodies along a piece of a track.
struct TrackSought {
    piece: TrackPart,
    from: [f32; 2],
    way: [f32; 2],
    /// The square of the way's length.
    square: f32,
    /// Up to which fraction of the way bodies are sought.
    most: f32,
    outer: f32,
    /// Negative if bodies behind others are sought too.
    inner: f32,
}

impl TrackSought {
    fn new(track: &Track, sought: Sought, [start, most]: [f32; 2]) -> TrackSought {
        let slack = slack(track.from.x, track.from.y) + PART * sought.outer;
        TrackSought {
            piece: track.piece(start, most),
            from: track.from.into(),
            way: track.way.into(),
            square: track.way.length_squared(),
            most,
            outer: sought.outer + slack,
            inner: if sought.nearest { sought.inner - slack } else { f32::NEG_INFINITY },
        }
    }
}

impl Seek for TrackSought {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        let mut bits = 0;
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let [a, b, c, d] = &node.0;
            let bounds = [L::load(&a[i..]), L::load(&b[i..]), L::load(&c[i..]), L::load(&d[i..])];
            bits |= meets(&self.piece, bounds).bits() << i;
        }
        bits
    }

    #[inline(always)]
    fn look<L: Lane>(&mut self, leaf: &Node, first: u64, found: &mut [u64; ROOM], count: &mut usize) {
        let constant = L::splat;
        let [from_x, from_y] = self.from.map(constant);
        let [way_x, way_y] = self.way.map(constant);
        let (square, per_square) = (constant(self.square), constant(1.0 / self.square));
        let (way_size, zero) = (way_x.abs() + way_y.abs(), constant(0.0));
        let [x, y, outer, inner] = &leaf.0;
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let (away_x, away_y) = (from_x - L::load(&x[i..]), from_y - L::load(&y[i..]));
            let nearing = -(away_x * way_x + away_y * way_y);
            let aside = away_x * way_y - away_y * way_x;
            let away = away_x * away_x + away_y * away_y;
            let loss = (away_x.abs() + away_y.abs()) * constant(LOSS);
            // The earliest that the outer disc can be met.
            let reach = L::load(&outer[i..]) + constant(self.outer) + loss;
            let rest = reach * reach * square - aside * aside;
            let inside = away.le(reach * reach);
            let earliest = nearing - rest.max(zero).sqrt() - loss * way_size;
            let ahead = nearing.gt(zero);
            let outside = ahead.and(rest.ge(zero)).and(earliest.le(constant(self.most) * square));
            let mut bits = inside.or(outside).bits();
            if bits == 0 {
                continue;
            }
            let earliest = L::select(inside, zero, (earliest * per_square).max(zero));
            // The latest that the inner disc can be met.
            let reach = L::load(&inner[i..]) + constant(self.inner) - loss;
            let rest = reach * reach * square - aside * aside;
            let latest = nearing - rest.max(zero).sqrt() + loss * way_size;
            let positive = reach.gt(zero);
            let inside = positive.and(away.le(reach * reach));
            let latest = L::select(inside, zero, (latest * per_square).max(zero));
            let sure = inside.or(positive.and(ahead).and(rest.ge(zero))).bits();
            let (earliest, latest) = (values(earliest), values(latest));
            while bits != 0 {
                let lane = bits.trailing_zeros();
                bits &= bits - 1;
                let (earliest, latest) = (earliest[lane as usize & 15], latest[lane as usize & 15]);
                if sure >> lane & 1 == 1 && latest < self.most {
                    self.most = latest;
                }
                found[*count] = u64::from(earliest.to_bits()) << 32 | (first + (i as u64) + u64::from(lane));
                *count += 1;
            }
        }
    }
}
