//! A tree of boxes with sixteen children a node, of which a vector tests several at once.
//!
//! The boxes are packed into leaves by place: cut into slabs by x, and each slab into leaves by y (sort-tile-recursive packing, after
//! Leutenegger, Lopez and Edgington, "STR: a simple and efficient algorithm for R-tree packing", 1997). The order depends on the boxes
//! alone, not on how many lanes there are.

use crate::base::room::make_room;
use crate::lane::{Lane, MAX_WIDTH, Mask};
use glam::Vec2;
use std::ops::Range;

const CHILDREN: usize = MAX_WIDTH;
/// The most levels: they hold 2^28 boxes, more than there are rows.
const MAX_HEIGHT: usize = 7;

/// The boxes of a node's children: least and largest x, then y. The box of a missing child overlaps nothing.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct TreeNode([[f32; CHILDREN]; 4]);

impl TreeNode {
    const EMPTY: TreeNode =
        TreeNode([[f32::MAX; CHILDREN], [f32::MIN; CHILDREN], [f32::MAX; CHILDREN], [f32::MIN; CHILDREN]]);

    fn set(&mut self, child: usize, [lower, upper]: [Vec2; 2]) {
        for (column, value) in self.0.iter_mut().zip([lower.x, upper.x, lower.y, upper.y]) {
            column[child] = value;
        }
    }

    /// The box around all children.
    fn bounds(&self) -> [Vec2; 2] {
        let [min_x, max_x, min_y, max_y] = &self.0;
        let least = |column: &[f32]| column.iter().copied().fold(f32::MAX, f32::min);
        let largest = |column: &[f32]| column.iter().copied().fold(f32::MIN, f32::max);
        [Vec2::new(least(min_x), least(min_y)), Vec2::new(largest(max_x), largest(max_y))]
    }

    /// The children that overlap a box, as bits.
    #[inline(always)]
    fn overlapping<L: Lane>(&self, [lower, upper]: [Vec2; 2]) -> u32 {
        let [min_x, max_x, min_y, max_y] = &self.0;
        let mut found = 0;
        for first in (0..CHILDREN).step_by(L::WIDTH) {
            let at = |column: &[f32; CHILDREN]| L::load(&column[first..]);
            let across = at(min_x).le(L::splat(upper.x)).and(at(max_x).ge(L::splat(lower.x)));
            let along = at(min_y).le(L::splat(upper.y)).and(at(max_y).ge(L::splat(lower.y)));
            found |= across.and(along).bits() << first;
        }
        found
    }
}

/// Boxes, numbered as they are added.
#[derive(Default)]
pub(super) struct BoxTree {
    boxes: Vec<[Vec2; 2]>,
    /// The numbers of the boxes, in the order of the leaves.
    order: Vec<u32>,
    /// The leaves, then the nodes above them, and so on up to the root.
    nodes: Vec<TreeNode>,
    /// The number of levels, and where each of them begins in `nodes`.
    height: u8,
    starts: [u32; MAX_HEIGHT],
}

impl BoxTree {
    pub(super) fn clear(&mut self) {
        self.boxes.clear();
        self.nodes.clear();
        self.height = 0;
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
        let BoxTree { boxes, order, nodes, height, starts } = self;
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
        nodes.clear();
        if leaves > 1 {
            // A fifteenth of the leaves and one a level, at most, are above them.
            make_room(nodes, leaves + leaves / (CHILDREN - 1) + MAX_HEIGHT);
        } else {
            // A small world has few walls.
            nodes.reserve_exact(leaves);
        }
        for numbers in order.chunks(CHILDREN) {
            let mut leaf = TreeNode::EMPTY;
            numbers.iter().enumerate().for_each(|(child, &number)| leaf.set(child, boxes[number as usize]));
            nodes.push(leaf);
        }
        (*height, starts[0]) = (u8::from(leaves > 0), 0);
        let mut below: Range<usize> = 0..leaves;
        while below.len() > 1 {
            starts[usize::from(*height)] = below.end as u32;
            *height += 1;
            for first in below.clone().step_by(CHILDREN) {
                let mut node = TreeNode::EMPTY;
                let children = first..below.end.min(first + CHILDREN);
                children.enumerate().for_each(|(child, number)| node.set(child, nodes[number].bounds()));
                nodes.push(node);
            }
            below = below.end..nodes.len();
        }
    }

    /// Finds the boxes that overlap this one.
    #[inline(always)]
    pub(super) fn search<L: Lane>(&self, of: [Vec2; 2]) -> BoxSearch<'_> {
        let mut search = BoxSearch { tree: self, of, open: [(0, 0); MAX_HEIGHT], depth: 0 };
        if self.height > 0 {
            search.enter::<L>(0);
        }
        search
    }

    /// Visits the numbers of all boxes that overlap this one, in an order that depends on the boxes alone.
    pub(super) fn visit(&self, of: [Vec2; 2], mut visit: impl FnMut(usize)) {
        let mut search = self.search::<f32>(of);
        while let Some(number) = search.next::<f32>() {
            visit(number);
        }
    }
}

/// A walk through a tree.
pub(super) struct BoxSearch<'a> {
    tree: &'a BoxTree,
    of: [Vec2; 2],
    /// From the root down: a node's number in its level, and its children that are still to be visited, as bits.
    open: [(u32, u32); MAX_HEIGHT],
    depth: usize,
}

impl BoxSearch<'_> {
    #[inline(always)]
    fn enter<L: Lane>(&mut self, number: usize) {
        let start = self.tree.starts[usize::from(self.tree.height) - 1 - self.depth] as usize;
        let found = self.tree.nodes[start + number].overlapping::<L>(self.of);
        self.open[self.depth] = (number as u32, found);
        self.depth += usize::from(found != 0);
    }

    /// The number of the next box that overlaps the wanted one.
    #[inline(always)]
    pub(super) fn next<L: Lane>(&mut self) -> Option<usize> {
        while self.depth > 0 {
            let (number, children) = &mut self.open[self.depth - 1];
            if *children == 0 {
                self.depth -= 1;
                continue;
            }
            let child = CHILDREN * *number as usize + children.trailing_zeros() as usize;
            *children &= *children - 1;
            if self.depth == usize::from(self.tree.height) {
                return Some(self.tree.order[child] as usize);
            }
            self.enter::<L>(child);
        }
        None
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
