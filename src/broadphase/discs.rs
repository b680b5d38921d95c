//! A tree of discs over the order of space: for batches of queries.
//!
//! A batch has time to look at all bodies once. So it makes of each body in the bands two discs about its centre: the *outer* one holds
//! its shapes, the *inner* one is held by them. Sixteen bodies that follow each other in the order of space are a leaf, sixteen leaves are
//! a node, and so on. Such bodies are near each other already, so nothing is sorted, and the tree is made at some 5 ns a body.
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
//! Tried and dropped, as none showed in the time of a batch: to search for 32 queries first and fetch the bodies that they find before
//! the exact tests; to sort what a box finds by rank, in lanes; first pieces of 1.5 and 3 heights of a band. A track has no use for inner discs: with them, it made 1.2 exact tests a ray.
//!
//! What a search finds goes to the exact test of the query. It is only the order, and what is left out, that the discs decide; both have
//! slack for rounding. So the answers are those of single queries, which walk through the bands (`walk.rs`).

mod seek;

use super::Broadphase;
use super::levels::Levels;
use super::tree::{CHILDREN, Group, NOWHERE, Node, Search, Tree, grow};
use super::unlisted::Unlisted;
use super::walk::{LineVisitor, ROUNDING, Track};
use crate::body::Bodies;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use glam::Vec2;
use seek::{Boxes, DiscsAlong, DiscsInBox, PART, slack};

/// The leaves that a task makes.
const LEAVES_PER_TASK: usize = 64;

/// The listed bodies of a world, but half-spaces. Those in bands are discs, without strays and loose bodies. The large ones are the boxes
/// of the list, whatever the bodies do meanwhile.
#[derive(Default)]
pub(crate) struct DiscTree {
    /// The leaves hold the centre's x and y, the radius of the outer disc and that of the inner one.
    discs: Tree,
    boxes: Tree,
    /// The slots of the large bodies in the order of their boxes.
    large: Vec<u32>,
    /// The length of the first piece of a track, m.
    piece: f32,
}

/// What of the trees is in a place, for several searches there.
#[derive(Default)]
pub(crate) struct Place {
    discs: Group,
    boxes: Group,
    /// The boxes there were too many for their group.
    too_many: bool,
}

impl Place {
    /// The group that has all boxes that overlap another one.
    fn boxes_in(&self, bounds: &[f32; 4]) -> Option<&Group> {
        Some(&self.boxes).filter(|boxes| !self.too_many && boxes.holds(bounds))
    }
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
    pub(crate) fn build(
        &mut self,
        bodies: &Bodies,
        broadphase: &Broadphase,
        unlisted: &Unlisted,
        crew: &Crew<'_>,
    ) {
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
        for slot in unlisted.slots().filter(|&slot| slot < banded) {
            self.discs.leaves[slot / CHILDREN].set(slot % CHILDREN, Node::MISSING);
        }
        self.discs.build(around_discs);
        self.build_boxes(broadphase);
    }

    /// Looks what is in a box; for large bodies it is grown by `excess`. Returns false if it is too much.
    pub(crate) fn gather(
        &self,
        level: Level,
        ([lower, upper], excess): ([Vec2; 2], f32),
        place: &mut Place,
    ) -> bool {
        let grown = [lower.x - excess, upper.x + excess, lower.y - excess, upper.y + excess];
        place.too_many = !place.boxes.gather(level, &self.boxes, &grown);
        place.discs.gather(level, &self.discs, &[lower.x, upper.x, lower.y, upper.y])
    }

    /// The fraction of a track that is looked at first.
    fn first_piece(&self, track: &Track, nearest: bool) -> f32 {
        let length = track.way.length();
        if nearest && length > self.piece { self.piece / length } else { 1.0 }
    }

    /// The box around what is looked at first of a track.
    pub(crate) fn bounds_of_first_piece(&self, track: &Track, nearest: bool) -> [Vec2; 2] {
        let [min_x, max_x, min_y, max_y] = track.grown(0.0).bounds(self.first_piece(track, nearest));
        [Vec2::new(min_x, min_y), Vec2::new(max_x, max_y)]
    }

    fn build_boxes(&mut self, broadphase: &Broadphase) {
        let levels = &broadphase.levels;
        self.large.clear();
        self.boxes.make_leaves(levels.iter().map(Levels::len).sum());
        self.boxes.leaves.fill(Node::default());
        for levels in levels {
            let [min_s, max_s, min_b, max_b] = levels.columns().0;
            let columns = if broadphase.bands.along_x {
                [min_b, max_b, min_s, max_s]
            } else {
                [min_s, max_s, min_b, max_b]
            };
            for (place, &slot) in levels.slot.iter().enumerate() {
                let [min_x, max_x, min_y, max_y] = columns.map(|column| column[place]);
                let size = min_x.abs().max(max_x.abs()).max(min_y.abs()).max(max_y.abs());
                let rounding = ROUNDING * size;
                let bounds = [min_x - rounding, max_x + rounding, min_y - rounding, max_y + rounding];
                let number = self.large.len();
                self.boxes.leaves[number / CHILDREN].set(number % CHILDREN, bounds);
                self.large.push(slot);
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
        (tree, place): (&DiscTree, Option<&Place>),
        [lower, upper]: [Vec2; 2],
        visit: &mut impl FnMut(usize, bool) -> bool,
    ) -> bool {
        let mut in_box = DiscsInBox::new([lower.x, upper.x, lower.y, upper.y]);
        let grown = Vec2::splat(self.excess());
        let bounds = self.bounds_in_order([lower - grown, upper + grown]);
        let mut search = Search::new(&tree.discs, place.map(|place| &place.discs), &mut in_box);
        while search.advance(level) {
            let DiscsInBox { sure, perhaps, .. } = &mut *search.sought;
            // The bounds of a turned box or a segment are smaller than its outer disc, and cheaper than the exact test.
            let goes_on = sure.take().iter().all(|&slot| visit(slot as usize, true))
                && perhaps
                    .take()
                    .iter()
                    .all(|&slot| !self.reaches(slot as usize, &bounds) || visit(slot as usize, false));
            if !goes_on {
                return false;
            }
        }
        let (lower, upper) = (lower - grown, upper + grown);
        let bounds = [lower.x, upper.x, lower.y, upper.y];
        let group = place.and_then(|place| place.boxes_in(&bounds));
        let mut boxes = Boxes::of(bounds);
        let mut search = Search::new(&tree.boxes, group, &mut boxes);
        while search.advance(level) {
            for &place in search.sought.found.take() {
                if !visit(tree.large[place as usize] as usize, false) {
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
        (tree, place): (&DiscTree, Option<&Place>),
        (track, sought): (&Track, Sought),
        limit: &mut f64,
        visit: &mut impl LineVisitor,
    ) -> bool {
        let (exact, grown) = (track.grown(0.0), track.grown(self.excess()));
        let mut group = place.map(|place| &place.discs);
        let (mut start, mut piece) = (0.0f32, tree.first_piece(track, sought.nearest));
        let mut along = DiscsAlong::new(&exact, sought);
        while start < 1.0 && f64::from(start) <= *limit {
            let end = if start + piece < 1.0 { start + piece } else { 1.0 };
            let most = round_up(*limit).min(end);
            along.begin(&exact, [start, most]);
            let mut search = Search::new(&tree.discs, group.take(), &mut along);
            while search.advance(level) {
                if !search.sought.visit_found(limit, visit) {
                    return false;
                }
                search.sought.most = search.sought.most.min(round_up(*limit));
            }
            let most = round_up(*limit).min(end);
            let mut boxes = Boxes::of(grown.piece(start, most));
            let group = place.and_then(|place| place.boxes_in(&grown.bounds(most)));
            let mut search = Search::new(&tree.boxes, group, &mut boxes);
            while search.advance(level) {
                for &place in search.sought.found.take() {
                    *limit = limit.min(visit(tree.large[place as usize] as usize));
                    if *limit < 0.0 {
                        return false;
                    }
                }
            }
            (start, piece) = (end, 4.0 * piece);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: a search finds each box that overlaps another one, once, at every level, whatever the number of boxes; in a group of leaves
    /// as in the whole tree.
    #[test]
    fn searches_find_what_overlaps() {
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1 << 24) as f32
        };
        for count in [0usize, 1, 15, 16, 17, 256, 257, 5_000] {
            let mut any = |most: f32| {
                let at = 100.0 * Vec2::new(random(), random());
                let half = most * Vec2::new(random(), random());
                [at.x - half.x, at.x + half.x, at.y - half.y, at.y + half.y]
            };
            let boxes: Vec<[f32; 4]> = (0..count).map(|_| any(1.0)).collect();
            let mut tree = Tree::default();
            tree.make_leaves(count);
            tree.leaves.fill(Node::default());
            for (i, &bounds) in boxes.iter().enumerate() {
                tree.leaves[i / CHILDREN].set(i % CHILDREN, bounds);
            }
            tree.build(Node::bounds);
            for round in 0..30 {
                let bounds = any([2.0, 20.0, 100.0][round % 3]);
                let [min_x, max_x, min_y, max_y] = bounds;
                let overlaps = |&i: &usize| {
                    let b = boxes[i];
                    b[0] <= max_x && b[1] >= min_x && b[2] <= max_y && b[3] >= min_y
                };
                let expected: Vec<usize> = (0..count).filter(overlaps).collect();
                for level in Level::available() {
                    let mut group = Group::default();
                    let gathered = group.gather(level, &tree, &bounds);
                    for group in [None, gathered.then_some(&group)] {
                        let mut boxes = Boxes::of(bounds);
                        let mut search = Search::new(&tree, group, &mut boxes);
                        let mut found = Vec::new();
                        while search.advance(level) {
                            found.extend(search.sought.found.take().iter().map(|&number| number as usize));
                        }
                        found.sort_unstable();
                        assert_eq!(found, expected, "of {count}");
                    }
                }
            }
        }
    }
}
