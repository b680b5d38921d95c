//! Boxes in a tree (`broadphase/tree.rs`).
//!
//! They are packed into leaves by place: cut into slabs by x, and each slab into leaves by y (sort-tile-recursive packing, after
//! Leutenegger, Lopez and Edgington, "STR: a simple and efficient algorithm for R-tree packing", 1997). The order depends on the boxes
//! alone, not on how many lanes there are.

use crate::broadphase::tree::{CHILDREN, Node, Tree, Walk};
use crate::lane::Lane;
use glam::Vec2;

/// Boxes, numbered as they are added.
#[derive(Default)]
pub(super) struct BoxTree {
    boxes: Vec<[Vec2; 2]>,
    /// The numbers of the boxes, in the order of the leaves.
    order: Vec<u32>,
    /// Over the boxes in that order.
    tree: Tree,
}

/// The box as the tree has it.
#[inline(always)]
fn columns([lower, upper]: [Vec2; 2]) -> [f32; 4] {
    [lower.x, upper.x, lower.y, upper.y]
}

impl BoxTree {
    pub(super) fn clear(&mut self) {
        self.boxes.clear();
        self.tree.make_leaves(0);
    }

    pub(super) fn push(&mut self, bounds: [Vec2; 2]) {
        self.boxes.push(bounds);
    }

    /// The box with this number.
    pub(super) fn at(&self, number: usize) -> [Vec2; 2] {
        self.boxes[number]
    }

    /// Makes the tree of the boxes that were added.
    pub(super) fn build(&mut self) {
        let BoxTree { boxes, order, tree } = self;
        let count = boxes.len();
        order.clear();
        order.extend(0..count as u32);
        let middle = |number: u32| boxes[number as usize][0] + boxes[number as usize][1];
        let leaves = count.div_ceil(CHILDREN);
        if leaves > 1 {
            let slab = CHILDREN * (leaves as f64).sqrt().ceil() as usize;
            order.sort_unstable_by(|&a, &b| middle(a).x.total_cmp(&middle(b).x).then(a.cmp(&b)));
            for slab in order.chunks_mut(slab) {
                slab.sort_unstable_by(|&a, &b| middle(a).y.total_cmp(&middle(b).y).then(a.cmp(&b)));
            }
        }
        tree.make_leaves(count);
        for (leaf, numbers) in tree.leaves.iter_mut().zip(order.chunks(CHILDREN)) {
            *leaf = Node::default();
            for (child, &number) in numbers.iter().enumerate() {
                leaf.set(child, columns(boxes[number as usize]));
            }
        }
        tree.build(Node::bounds);
    }

    /// Finds the boxes that overlap this one.
    #[inline(always)]
    pub(super) fn search<L: Lane>(&self, of: [Vec2; 2]) -> BoxSearch<'_> {
        BoxSearch { order: &self.order, walk: Walk::new::<L>(&self.tree, columns(of)) }
    }

    /// Whether the test holds of the number of any box that overlaps this one. It is asked until it does, in an order that depends on the
    /// boxes alone.
    pub(super) fn any(&self, of: [Vec2; 2], test: impl FnMut(usize) -> bool) -> bool {
        let mut search = self.search::<f32>(of);
        std::iter::from_fn(|| search.next::<f32>()).any(test)
    }

    /// Visits the numbers of all boxes that overlap this one.
    pub(super) fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(usize)) {
        self.any(of, |number| {
            visit(number);
            false
        });
    }
}

/// A search for the boxes that overlap another one.
pub(super) struct BoxSearch<'a> {
    order: &'a [u32],
    walk: Walk<'a>,
}

impl BoxSearch<'_> {
    /// The number of the next box that overlaps the wanted one.
    #[inline(always)]
    pub(super) fn next<L: Lane>(&mut self) -> Option<usize> {
        Some(self.order[self.walk.next::<L>()?] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: a search finds each box that overlaps another one, once, in the same order at every width, whatever the sizes and
    /// the number of boxes.
    #[test]
    fn finds_what_overlaps() {
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1 << 24) as f32
        };
        for count in [0, 1, 15, 16, 17, 256, 257, 300, 5_000] {
            let mut tree = BoxTree::default();
            let mut any = || {
                let at = 100.0 * Vec2::new(random(), random());
                let half = if random() < 0.05 { 30.0 } else { 1.0 } * Vec2::new(random(), random());
                [at - half, at + half]
            };
            tree.clear();
            (0..count).for_each(|_| tree.push(any()));
            tree.build();
            for _ in 0..50 {
                let of = any();
                let overlaps =
                    |of: [Vec2; 2], b: [Vec2; 2]| of[0].cmple(b[1]).all() && b[0].cmple(of[1]).all();
                let expected: Vec<usize> = (0..count).filter(|&i| overlaps(of, tree.boxes[i])).collect();
                let mut found = Vec::new();
                tree.visit(of, |number| found.push(number));
                let mut wide = tree.search::<crate::lane::portable::Portable>(of);
                let next = || wide.next::<crate::lane::portable::Portable>();
                assert_eq!(std::iter::from_fn(next).collect::<Vec<_>>(), found);
                found.sort_unstable();
                assert_eq!(found, expected, "of {count}");
            }
        }
    }
}
