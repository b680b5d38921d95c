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
//!                         when the track meets the outer disc
//!                     the bodies, the earliest first, until the visitor has what it wants
//! ```
//!
//! What a search finds goes to the exact test of the query. It is only the order, and what is left out, that the discs decide; both have
//! slack for rounding. So the answers are those of single queries, which walk through the bands (`walk.rs`).

use super::Broadphase;
use super::levels::Levels;
pub(crate) use super::tree::Group;
use super::tree::{CHILDREN, NOWHERE, Node, Search, Seek, Tree, grow};
use super::walk::{LineVisitor, Track, TrackPart, meets};
use crate::body::Bodies;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::lane::{Lane, Mask};
use glam::Vec2;

/// The leaves that a task makes.
const LEAVES_PER_TASK: usize = 64;

/// The listed bodies of a world, but half-spaces. Those in bands are discs, without strays and loose bodies. The large ones are the boxes
/// of the list, whatever the bodies do meanwhile.
#[derive(Default)]
pub(crate) struct DiscTree {
    /// The leaves hold the centre's x and y, the radius of the outer disc and that of the inner one.
    discs: Tree,
    boxes: Tree,
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
        return Node::MISSING;
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

/// The box around all outer discs of a leaf.
fn around_discs(leaf: &Node) -> [f32; 4] {
    let [x, y, outer, _] = &leaf.0;
    let mut bounds = NOWHERE;
    for i in 0..CHILDREN {
        grow(&mut bounds, [x[i] - outer[i], x[i] + outer[i], y[i] - outer[i], y[i] + outer[i]]);
    }
    bounds
}

impl DiscTree {
    /// Makes the trees.
    pub(crate) fn build(&mut self, bodies: &Bodies, broadphase: &Broadphase, crew: &Crew<'_>) {
        let banded = broadphase.bands.banded;
        self.piece = FIRST_PIECE * broadphase.bands.height as f32;
        self.discs.make_leaves(banded);
        let leaves = SharedSlice::new(&mut self.discs.leaves);
        crew.chunks(leaves.len(), LEAVES_PER_TASK, |range| {
            #[allow(unsafe_code)]
            // SAFETY: each task takes the leaves of its own chunk, and each leaf is in one chunk.
            let leaves = unsafe { leaves.range(range.clone()) };
            for (leaf, number) in leaves.iter_mut().zip(range) {
                for child in 0..CHILDREN {
                    let slot = number * CHILDREN + child;
                    leaf.set(child, if slot < banded { discs(bodies, slot) } else { Node::MISSING });
                }
            }
        });
        let elsewhere = broadphase.loose.iter().chain(broadphase.strays.slots());
        for slot in elsewhere.map(|&slot| slot as usize).filter(|&slot| slot < banded) {
            self.discs.leaves[slot / CHILDREN].set(slot % CHILDREN, Node::MISSING);
        }
        self.discs.build(around_discs);
        self.build_boxes(&broadphase.levels, broadphase.bands.along_x);
    }

    /// Takes the leaves of discs that overlap a box. Returns false if they are too many.
    pub(crate) fn gather(&self, level: Level, [lower, upper]: [Vec2; 2], group: &mut Group) -> bool {
        group.gather(level, &self.discs, &[lower.x, upper.x, lower.y, upper.y])
    }

    /// The fraction of a track that is looked at first.
    fn first_piece(&self, track: &Track, sought: Sought) -> f32 {
        let length = track.way.length();
        if sought.nearest && length > self.piece { self.piece / length } else { 1.0 }
    }

    /// The box around what is looked at first of a track.
    pub(crate) fn bounds_of_first_piece(&self, track: &Track, sought: Sought) -> [Vec2; 2] {
        let Track { from, way, half } = track.grown(0.0);
        let to = from + self.first_piece(track, sought) * way;
        [from.min(to) - half, from.max(to) + half]
    }

    fn build_boxes(&mut self, levels: &Levels, along_x: bool) {
        let ([min_s, max_s, min_b, max_b], _) = levels.columns();
        let columns = if along_x { [min_b, max_b, min_s, max_s] } else { [min_s, max_s, min_b, max_b] };
        self.boxes.make_leaves(levels.len());
        for (number, leaf) in self.boxes.leaves.iter_mut().enumerate() {
            *leaf = Node::default();
            for place in number * CHILDREN..levels.len().min((number + 1) * CHILDREN) {
                leaf.set(place % CHILDREN, columns.map(|column| column[place]));
            }
        }
        self.boxes.build(Node::bounds);
    }
}

impl Broadphase {
    /// As [`Broadphase::visit_box`], but without bodies that surely don't overlap the box, and without strays and loose bodies in bands.
    /// `visit` is told, too, whether a body's one shape surely overlaps the box.
    pub(crate) fn visit_box_by_discs(
        &self,
        level: Level,
        (tree, group): (&DiscTree, Option<&Group>),
        [lower, upper]: [Vec2; 2],
        visit: &mut impl FnMut(usize, bool) -> bool,
    ) -> bool {
        let mut search = Search::new(&tree.discs, group, DiscsInBox::new([lower.x, upper.x, lower.y, upper.y]));
        while search.advance(level) {
            let DiscsInBox { sure, perhaps, .. } = &mut search.sought;
            let goes_on = sure.take().iter().all(|&slot| visit(slot as usize, true))
                && perhaps.take().iter().all(|&slot| visit(slot as usize, false));
            if !goes_on {
                return false;
            }
        }
        let grown = Vec2::splat(self.excess());
        let (lower, upper) = (lower - grown, upper + grown);
        let bounds = [lower.x, upper.x, lower.y, upper.y];
        let mut search = Search::new(&tree.boxes, None, BoxesInBox { bounds, found: Found::default() });
        while search.advance(level) {
            for &place in search.sought.found.take() {
                if !visit(self.levels.slot[place as usize] as usize, false) {
                    return false;
                }
            }
        }
        true
    }

    /// As [`Broadphase::visit_along`], but without strays and loose bodies in bands. Bodies may be visited several times if only the
    /// nearest is sought.
    pub(crate) fn visit_along_by_discs(
        &self,
        level: Level,
        (tree, mut group): (&DiscTree, Option<&Group>),
        (track, sought): (&Track, Sought),
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) -> bool {
        let exact = track.grown(0.0);
        let (mut start, mut piece) = (0.0f32, tree.first_piece(track, sought));
        while start < 1.0 && f64::from(start) <= *limit {
            let end = if start + piece < 1.0 { start + piece } else { 1.0 };
            let most = round_up(*limit).min(end);
            let along = DiscsAlong::new(&exact, sought, [start, most]);
            let mut search = Search::new(&tree.discs, group.take(), along);
            while search.advance(level) {
                if !search.sought.visit_found(limit, visit) {
                    return false;
                }
                search.sought.most = search.sought.most.min(round_up(*limit));
            }
            (start, piece) = (end, 4.0 * piece);
        }
        let piece = track.grown(self.excess()).piece(0.0, round_up(*limit));
        let mut search = Search::new(&tree.boxes, None, BoxesAlong { piece, found: Found::default() });
        while search.advance(level) {
            for &place in search.sought.found.take() {
                *limit = limit.min(visit(self.levels.slot[place as usize] as usize));
                if *limit < 0.0 {
                    return false;
                }
            }
        }
        true
    }
}

/// The length of the first piece of a track, in heights of a band.
const FIRST_PIECE: f32 = 2.0;

/// A number in single precision that is not smaller.
fn round_up(limit: f64) -> f32 {
    (limit * (1.0 + f64::from(f32::EPSILON))) as f32
}

/// What is sought along a track.
#[derive(Clone, Copy)]
pub(crate) struct Sought {
    /// The radius of a disc about the centre of the shape that is moved, which holds it. 0 of a ray.
    pub outer: f32,
    /// Only the nearest body is wanted, whichever it is.
    pub nearest: bool,
}

/// How much a search finds before it is visited. A leaf finds place behind it.
const ROOM: usize = 32;

/// The numbers of things that are found.
struct Found {
    numbers: [u32; ROOM + CHILDREN],
    count: usize,
}

impl Default for Found {
    #[inline(always)]
    fn default() -> Self {
        Found { numbers: [0; ROOM + CHILDREN], count: 0 }
    }
}

/// The numbers of the lanes, as bits.
const LANES: [f32; CHILDREN] = {
    let mut lanes = [0.0; CHILDREN];
    let mut lane = 0;
    while lane < CHILDREN {
        lanes[lane] = f32::from_bits(lane as u32);
        lane += 1;
    }
    lanes
};

impl Found {
    fn is_full(&self) -> bool {
        self.count >= ROOM
    }

    /// Appends the numbers of the lanes that `bits` names, from `first` on.
    #[inline(always)]
    fn push<L: Lane>(&mut self, bits: u32, first: u32) {
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            self.push_lanes::<L>(bits >> i & (u32::MAX >> (32 - L::WIDTH)), first, i);
        }
    }

    /// The same of one vector, from lane `i` on.
    #[inline(always)]
    fn push_lanes<L: Lane>(&mut self, bits: u32, first: u32, i: usize) {
        let mut packed = [0.0; CHILDREN];
        L::load(&LANES[i..]).pack(bits, &mut packed);
        let count = self.count.min(ROOM + CHILDREN - L::WIDTH);
        for (number, lane) in self.numbers[count..count + L::WIDTH].iter_mut().zip(&packed[..L::WIDTH]) {
            *number = first + lane.to_bits();
        }
        self.count += bits.count_ones() as usize;
    }

    /// What was found, which is forgotten.
    fn take(&mut self) -> &[u32] {
        &self.numbers[..std::mem::take(&mut self.count)]
    }
}

/// The boxes that overlap a box `[min_x, max_x, min_y, max_y]`.
struct BoxesInBox {
    bounds: [f32; 4],
    found: Found,
}

impl Seek for BoxesInBox {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        node.overlapping::<L>(&self.bounds)
    }

    #[inline(always)]
    fn look<L: Lane>(&mut self, leaf: &Node, first: u32) {
        let bits = self.meets::<L>(leaf);
        self.found.push::<L>(bits, first);
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.found.is_full()
    }
}

/// The boxes that a track meets.
struct BoxesAlong {
    piece: TrackPart,
    found: Found,
}

#[inline(always)]
fn met<L: Lane>(piece: &TrackPart, node: &Node) -> u32 {
    let mut bits = 0;
    for i in (0..CHILDREN).step_by(L::WIDTH) {
        bits |= meets(piece, node.load::<L>(i)).bits() << i;
    }
    bits
}

impl Seek for BoxesAlong {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        met::<L>(&self.piece, node)
    }

    #[inline(always)]
    fn look<L: Lane>(&mut self, leaf: &Node, first: u32) {
        let bits = self.meets::<L>(leaf);
        self.found.push::<L>(bits, first);
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.found.is_full()
    }
}

/// The bodies in a box: those of which it is sure, and others.
struct DiscsInBox {
    bounds: [f32; 4],
    sure: Found,
    perhaps: Found,
}

impl DiscsInBox {
    #[inline(always)]
    fn new(bounds: [f32; 4]) -> Self {
        DiscsInBox { bounds, sure: Found::default(), perhaps: Found::default() }
    }
}

impl Seek for DiscsInBox {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        node.overlapping::<L>(&self.bounds)
    }

    #[inline(always)]
    fn look<L: Lane>(&mut self, leaf: &Node, first: u32) {
        let [least_x, most_x, least_y, most_y] = self.bounds.map(L::splat);
        let zero = L::splat(0.0);
        let (mut near, mut sure) = (0, 0);
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let [x, y, outer, inner] = leaf.load::<L>(i);
            let away_x = (least_x - x).max(x - most_x).max(zero);
            let away_y = (least_y - y).max(y - most_y).max(zero);
            let away = away_x * away_x + away_y * away_y;
            near |= away.le(outer * outer).bits() << i;
            // The square of a tiny distance may be 0. The second comparison is for centres in the box, and false of a compound.
            let within = away.lt(inner * inner).or((away_x + away_y).le(inner * zero));
            sure |= within.bits() << i;
        }
        sure &= near;
        self.sure.push::<L>(sure, first);
        if near != sure {
            self.perhaps.push::<L>(near & !sure, first);
        }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.sure.is_full() || self.perhaps.is_full()
    }
}

/// The bodies along a piece of a track.
struct DiscsAlong {
    piece: TrackPart,
    from: [f32; 2],
    way: [f32; 2],
    /// The square of the way's length, and 1 by it.
    square: f32,
    per_square: f32,
    /// Up to which fraction of the way bodies are sought.
    most: f32,
    outer: f32,
    /// The fractions at which the outer discs are met at the earliest. Before [`Seek::finish`], the same without the square root of
    /// `rest`, and times `square`.
    earliest: [f32; ROOM + CHILDREN],
    rest: [f32; ROOM + CHILDREN],
    slots: Found,
}

impl DiscsAlong {
    fn new(track: &Track, sought: Sought, [start, most]: [f32; 2]) -> Self {
        let slack = slack(track.from.x, track.from.y) + PART * sought.outer;
        let square = track.way.length_squared();
        DiscsAlong {
            piece: track.piece(start, most),
            from: track.from.into(),
            way: track.way.into(),
            square,
            // All are met at once on a way that is hardly any.
            per_square: if square > 1.0e-30 { 1.0 / square } else { 0.0 },
            most,
            outer: sought.outer + slack,
            earliest: [0.0; ROOM + CHILDREN],
            rest: [0.0; ROOM + CHILDREN],
            slots: Found::default(),
        }
    }

    /// Visits what was found, the earliest first. Returns false if the visitor ended it.
    fn visit_found(&mut self, limit: &mut f64, visit: &mut impl LineVisitor) -> bool {
        let slots = self.slots.take();
        let earliest = &mut self.earliest[..slots.len()];
        for _ in 0..slots.len() {
            let mut first = 0;
            for i in 1..earliest.len() {
                if earliest[i] < earliest[first] {
                    first = i;
                }
            }
            if f64::from(earliest[first]) > *limit {
                break;
            }
            earliest[first] = f32::INFINITY;
            *limit = limit.min(visit(slots[first] as usize));
            if *limit < 0.0 {
                return false;
            }
        }
        true
    }
}

impl Seek for DiscsAlong {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        met::<L>(&self.piece, node)
    }

    #[inline(always)]
    fn look<L: Lane>(&mut self, leaf: &Node, first: u32) {
        let constant = L::splat;
        let [from_x, from_y] = self.from.map(constant);
        let [way_x, way_y] = self.way.map(constant);
        let square = constant(self.square);
        let (way_size, zero) = (way_x.abs() + way_y.abs(), constant(0.0));
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let [x, y, outer, _] = leaf.load::<L>(i);
            let (away_x, away_y) = (from_x - x, from_y - y);
            let nearing = -(away_x * way_x + away_y * way_y);
            let aside = away_x * way_y - away_y * way_x;
            let loss = (away_x.abs() + away_y.abs()) * constant(LOSS);
            let reach = outer + constant(self.outer) + loss;
            let rest = reach * reach * square - aside * aside;
            let earliest = nearing - loss * way_size;
            let inside = (away_x * away_x + away_y * away_y).le(reach * reach);
            // At the earliest head-on: the root can wait.
            let soon = earliest.le(constant(self.most) * square + reach * way_size);
            let ahead = nearing.gt(zero).and(rest.ge(zero)).and(soon);
            let bits = inside.or(ahead).bits();
            let count = self.slots.count.min(ROOM + CHILDREN - L::WIDTH);
            L::select(inside, zero, earliest).pack(bits, &mut self.earliest[count..]);
            L::select(inside, zero, rest).pack(bits, &mut self.rest[count..]);
            self.slots.push_lanes::<L>(bits, first, i);
        }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.slots.is_full()
    }

    #[inline(always)]
    fn finish<L: Lane>(&mut self) {
        let (per_square, zero) = (L::splat(self.per_square), L::splat(0.0));
        for i in (0..self.slots.count).step_by(L::WIDTH) {
            let root = L::load(&self.rest[i..]).max(zero).sqrt();
            let earliest = (L::load(&self.earliest[i..]) - root) * per_square;
            earliest.max(zero).store(&mut self.earliest[i..]);
        }
    }
}
