//! A tree of boxes over things that are in an order of place already: sixteen neighbours are a leaf, sixteen leaves a node, and so on. A
//! vector tests several children at once.
//!
//! A [`Walk`] finds what overlaps a box, one by one. A [`Search`] asks whatever it is told to ask, and stops whenever it has found enough to
//! be visited. [`Tree::visit`] visits what is in a region, which may shrink meanwhile. None needs memory.

use crate::base::prefetch::prefetch;
use crate::base::room::{at_least, resize};
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, lane_entry, with_lanes};

pub(crate) const CHILDREN: usize = MAX_WIDTH;
/// The most levels above the leaves: they hold 2^28 things, as many as there are rows.
const MAX_HEIGHT: usize = 6;

/// Boxes, those of a node's children: least and largest x, then y. What is missing is not a number, and so overlaps nothing. A leaf may hold
/// other things in its columns.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Node(pub [[f32; CHILDREN]; 4]);

impl Default for Node {
    fn default() -> Self {
        Node([[f32::NAN; CHILDREN]; 4])
    }
}

impl Node {
    #[inline(always)]
    pub(crate) fn set(&mut self, child: usize, values: [f32; 4]) {
        for (column, value) in self.0.iter_mut().zip(values) {
            column[child] = value;
        }
    }

    /// What makes nothing overlap a child.
    pub(crate) const MISSING: [f32; 4] = [f32::NAN; 4];

    /// The vectors of the columns from child `i` on.
    #[inline(always)]
    pub(crate) fn load<L: Lane>(&self, i: usize) -> [L; 4] {
        let [a, b, c, d] = &self.0;
        [L::load(&a[i..]), L::load(&b[i..]), L::load(&c[i..]), L::load(&d[i..])]
    }

    /// The children that overlap a box `[min_x, max_x, min_y, max_y]`, as bits.
    #[inline(always)]
    pub(crate) fn overlapping<L: Lane>(&self, bounds: &[f32; 4]) -> u32 {
        let [least_x, most_x, least_y, most_y] = bounds.map(L::splat);
        let mut bits = 0;
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            let [min_x, max_x, min_y, max_y] = self.load::<L>(i);
            let across = min_x.le(most_x).and(max_x.ge(least_x));
            let along = min_y.le(most_y).and(max_y.ge(least_y));
            bits |= across.and(along).bits() << i;
        }
        bits
    }

    /// The box around all children.
    pub(crate) fn bounds(&self) -> [f32; 4] {
        let mut bounds = NOWHERE;
        (0..CHILDREN).for_each(|child| grow(&mut bounds, self.0.map(|column| column[child])));
        bounds
    }
}

/// The box around nothing.
pub(crate) const NOWHERE: [f32; 4] = [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY];

/// Grows a box so that it holds another one. Nothing happens if that is not a number.
#[inline(always)]
pub(crate) fn grow(bounds: &mut [f32; 4], [min_x, max_x, min_y, max_y]: [f32; 4]) {
    let least = |a: f32, b: f32| if a < b { a } else { b };
    let most = |a: f32, b: f32| if a > b { a } else { b };
    bounds[0] = least(min_x, bounds[0]);
    bounds[1] = most(max_x, bounds[1]);
    bounds[2] = least(min_y, bounds[2]);
    bounds[3] = most(max_y, bounds[3]);
}

/// A tree over the things in its leaves, sixteen each.
#[derive(Default)]
pub(crate) struct Tree {
    pub leaves: Vec<Node>,
    /// The nodes above the leaves, level by level, and where each level begins.
    nodes: Vec<Node>,
    starts: [usize; MAX_HEIGHT],
    height: usize,
}

/// Where things are sought.
pub(crate) trait Region {
    /// Which children of a node may be there, as bits.
    fn meets<L: Lane>(&self, node: &Node) -> u32;

    /// Which of these children, one or more, is visited next. `None` if none of them is there any more.
    #[inline(always)]
    fn next(&self, _node: &Node, found: u32) -> Option<u32> {
        Some(found.trailing_zeros())
    }
}

/// A box `[min_x, max_x, min_y, max_y]`.
impl Region for [f32; 4] {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        node.overlapping::<L>(self)
    }
}

lane_entry! {
    fn meeting[R: Region][R](region: &R, node: &Node) -> u32 = meeting_lanes;
}

#[inline(always)]
fn meeting_lanes<L: Lane, R: Region>(region: &R, node: &Node) -> u32 {
    region.meets::<L>(node)
}

impl Tree {
    /// Empties the tree.
    pub(crate) fn clear(&mut self) {
        self.leaves.clear();
        self.nodes.clear();
        self.height = 0;
    }

    /// Makes room for so many things.
    pub(crate) fn make_room(&mut self, things: usize) {
        let leaves = things.div_ceil(CHILDREN);
        at_least(&mut self.leaves, leaves);
        // No more than for as many leaves with one node above each sixteen of them, and so on.
        at_least(&mut self.nodes, leaves.div_ceil(CHILDREN - 1) + MAX_HEIGHT);
    }

    /// Puts a thing's box into its leaf, one of the first sixteen, and grows the root so that it holds it.
    pub(crate) fn put_below_root(&mut self, thing: usize, bounds: [f32; 4]) {
        let (leaf, child) = (thing / CHILDREN, thing % CHILDREN);
        if leaf == self.leaves.len() {
            self.leaves.push(Node::default());
        }
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
            (self.starts[0], self.height) = (0, 1);
        }
        self.leaves[leaf].set(child, bounds);
        let mut around = self.nodes[0].0.map(|column| column[leaf]);
        if around[0].is_nan() {
            around = NOWHERE;
        }
        grow(&mut around, bounds);
        self.nodes[0].set(leaf, around);
    }

    /// Visits the things in a region, in the order of the tree or of the region, until `visit` returns false. Then it returns false. The leaves hold boxes.
    #[inline]
    pub(crate) fn visit<R: Region>(
        &self,
        level: Level,
        region: &mut R,
        visit: &mut impl FnMut(&mut R, usize) -> bool,
    ) -> bool {
        self.height == 0 || self.visit_below(level, region, (self.height, 0), visit)
    }

    /// Visits the things below a node, which has its number and so many levels below it.
    fn visit_below<R: Region>(
        &self,
        level: Level,
        region: &mut R,
        (below, number): (usize, usize),
        visit: &mut impl FnMut(&mut R, usize) -> bool,
    ) -> bool {
        let node = match below {
            0 => &self.leaves[number],
            _ => &self.nodes[self.starts[below - 1] + number],
        };
        let mut found = with_lanes!(level, L => meeting::<L, R>(region, node));
        while found != 0 {
            let Some(next) = region.next(node, found) else { break };
            found ^= 1 << next;
            let child = CHILDREN * number + next as usize;
            let goes_on = match below {
                0 => visit(region, child),
                _ => self.visit_below(level, region, (below - 1, child), visit),
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Makes leaves for so many things.
    pub(crate) fn make_leaves(&mut self, things: usize) {
        resize(&mut self.leaves, things.div_ceil(CHILDREN));
        self.height = 0;
    }

    /// Makes the nodes above the leaves. `bounds` is the box around a leaf.
    pub(crate) fn build(&mut self, bounds: impl Fn(&Node) -> [f32; 4]) {
        let mut level = self.leaves.len().div_ceil(CHILDREN);
        let mut nodes = level;
        while level > 1 {
            level = level.div_ceil(CHILDREN);
            nodes += level;
        }
        resize(&mut self.nodes, nodes);
        let Tree { leaves, nodes, starts, height } = self;
        for (node, leaves) in nodes.iter_mut().zip(leaves.chunks(CHILDREN)) {
            *node = Node::default();
            leaves.iter().enumerate().for_each(|(child, leaf)| node.set(child, bounds(leaf)));
        }
        let (mut start, mut end) = (0, leaves.len().div_ceil(CHILDREN));
        (*starts, *height) = ([0; MAX_HEIGHT], usize::from(end > 0));
        while end - start > 1 {
            let (below, above) = nodes.split_at_mut(end);
            let below = &below[start..];
            for (node, below) in above.iter_mut().zip(below.chunks(CHILDREN)) {
                *node = Node::default();
                below.iter().enumerate().for_each(|(child, below)| node.set(child, below.bounds()));
            }
            starts[*height] = end;
            *height += 1;
            (start, end) = (end, end + below.len().div_ceil(CHILDREN));
        }
    }
}

/// A walk through a tree, from one thing that overlaps a box to the next, in the order of the tree.
pub(crate) struct Walk<'a> {
    tree: &'a Tree,
    bounds: [f32; 4],
    /// From the root down: a node's number in its level, and its children that are still to be visited, as bits.
    open: [(u32, u32); MAX_HEIGHT],
    depth: usize,
    /// The same of the present leaf.
    leaf: (u32, u32),
}

impl<'a> Walk<'a> {
    /// Begins a walk for a box `[min_x, max_x, min_y, max_y]`.
    #[inline(always)]
    pub(crate) fn new<L: Lane>(tree: &'a Tree, bounds: [f32; 4]) -> Self {
        let mut walk = Walk { tree, bounds, open: [(0, 0); MAX_HEIGHT], depth: 0, leaf: (0, 0) };
        if tree.height > 0 {
            walk.enter::<L>(0);
        }
        walk
    }

    #[inline(always)]
    fn enter<L: Lane>(&mut self, number: usize) {
        let start = self.tree.starts[self.tree.height - 1 - self.depth];
        let found = self.tree.nodes[start + number].overlapping::<L>(&self.bounds);
        self.open[self.depth] = (number as u32, found);
        self.depth += usize::from(found != 0);
    }

    /// The number of the next leaf whose box overlaps.
    #[inline(always)]
    fn next_leaf<L: Lane>(&mut self) -> Option<usize> {
        while self.depth > 0 {
            let (number, children) = &mut self.open[self.depth - 1];
            if *children == 0 {
                self.depth -= 1;
                continue;
            }
            let child = CHILDREN * *number as usize + children.trailing_zeros() as usize;
            *children &= *children - 1;
            if self.depth == self.tree.height {
                return Some(child);
            }
            self.enter::<L>(child);
        }
        None
    }

    /// The number of the next thing whose box overlaps, in a tree whose leaves hold boxes.
    #[inline(always)]
    pub(crate) fn next<L: Lane>(&mut self) -> Option<usize> {
        while self.leaf.1 == 0 {
            let leaf = self.next_leaf::<L>()?;
            self.leaf = (leaf as u32, self.tree.leaves[leaf].overlapping::<L>(&self.bounds));
        }
        let (leaf, children) = &mut self.leaf;
        let thing = CHILDREN * *leaf as usize + children.trailing_zeros() as usize;
        *children &= *children - 1;
        Some(thing)
    }
}

/// What a search asks of nodes and leaves.
pub(crate) trait Seek: Sized {
    /// Which children of a node may hold what is sought, as bits.
    fn meets<L: Lane>(&self, node: &Node) -> u32;
    /// Keeps what is found among the things of a leaf; the number of the first of them is `first`.
    fn look<L: Lane>(&mut self, leaf: &Node, first: u32);
    /// Whether there may be no room for what another leaf holds.
    fn is_full(&self) -> bool;
    /// Ends a walk, before what was found is visited.
    #[inline(always)]
    fn finish<L: Lane>(&mut self) {}
}

/// The most leaves of a group.
const GROUP: usize = 16 * CHILDREN;

/// The leaves near each other, for several searches there: these need not go down the tree one after the other.
pub(crate) struct Group {
    /// The boxes around the leaves, and their numbers.
    boxes: [Node; GROUP / CHILDREN],
    leaves: [u32; GROUP],
    count: usize,
    bounds: [f32; 4],
}

impl Default for Group {
    fn default() -> Self {
        Group { boxes: [Node::default(); GROUP / CHILDREN], leaves: [0; GROUP], count: 0, bounds: NOWHERE }
    }
}

impl Group {
    /// Whether it is the group of a place that holds a box.
    pub(crate) fn holds(&self, bounds: &[f32; 4]) -> bool {
        let [min_x, max_x, min_y, max_y] = self.bounds;
        min_x <= bounds[0] && bounds[1] <= max_x && min_y <= bounds[2] && bounds[3] <= max_y
    }

    /// Takes the leaves of a tree that overlap a box `[min_x, max_x, min_y, max_y]`. Returns false if they are too many.
    pub(crate) fn gather(&mut self, level: Level, tree: &Tree, bounds: &[f32; 4]) -> bool {
        (self.count, self.bounds) = (0, *bounds);
        with_lanes!(level, L => gather::<L>(self, tree, bounds))
    }
}

lane_entry! {
    fn gather[][](group: &mut Group, tree: &Tree, bounds: &[f32; 4]) -> bool = gather_lanes;
}

#[inline(always)]
fn gather_lanes<L: Lane>(group: &mut Group, tree: &Tree, bounds: &[f32; 4]) -> bool {
    let mut walk = Walk::new::<L>(tree, *bounds);
    while let Some(leaf) = walk.next_leaf::<L>() {
        if group.count == GROUP {
            return false;
        }
        let around = tree.nodes[leaf / CHILDREN].0.map(|column| column[leaf % CHILDREN]);
        group.boxes[group.count / CHILDREN].set(group.count % CHILDREN, around);
        prefetch(&tree.leaves, leaf);
        group.leaves[group.count] = leaf as u32;
        group.count += 1;
    }
    for place in group.count..group.count.next_multiple_of(CHILDREN) {
        group.boxes[place / CHILDREN].set(place % CHILDREN, Node::MISSING);
    }
    true
}

/// A walk through a tree, or through a group of its leaves.
pub(crate) struct Search<'a, 'b, S> {
    tree: &'a Tree,
    group: Option<&'a Group>,
    /// Apart: it has room for what it finds, which is not moved with the search.
    pub sought: &'b mut S,
    /// From the root down: a node's number in its level, and its children that are still to be visited, as bits.
    open: [(u32, u32); MAX_HEIGHT],
    depth: usize,
    begun: bool,
}

lane_entry! {
    /// Searches until the room is full or all is found.
    fn search[S: Seek][S](search: &mut Search<'_, '_, S>) = search_lanes;
}

#[inline(always)]
fn search_lanes<L: Lane, S: Seek>(search: &mut Search<'_, '_, S>) {
    match search.group {
        Some(group) => search_group::<L, S>(search, group),
        None => search_tree::<L, S>(search),
    }
    search.sought.finish::<L>();
}

#[inline(always)]
fn search_group<L: Lane, S: Seek>(search: &mut Search<'_, '_, S>, group: &Group) {
    let Search { tree, sought, open, depth, begun, .. } = search;
    let (mut next, mut children) = (open[0].0 as usize, open[0].1);
    *begun = true;
    loop {
        while children != 0 {
            if sought.is_full() {
                (open[0], *depth) = ((next as u32, children), 1);
                return;
            }
            let place = CHILDREN * (next - 1) + children.trailing_zeros() as usize;
            children &= children - 1;
            let leaf = group.leaves[place] as usize;
            sought.look::<L>(&tree.leaves[leaf], (CHILDREN * leaf) as u32);
        }
        if CHILDREN * next >= group.count {
            break;
        }
        children = sought.meets::<L>(&group.boxes[next]);
        next += 1;
    }
    *depth = 0;
}

#[inline(always)]
fn search_tree<L: Lane, S: Seek>(search: &mut Search<'_, '_, S>) {
    let Search { tree, sought, open, depth, begun, .. } = search;
    let height = tree.height;
    if !*begun {
        *begun = true;
        if height == 0 {
            return;
        }
        open[0] = (0, sought.meets::<L>(&tree.nodes[tree.starts[height - 1]]));
        *depth = 1;
    }
    while *depth > 0 {
        let (number, children) = &mut open[*depth - 1];
        let first = CHILDREN * *number as usize;
        if *depth == height {
            while *children != 0 {
                if sought.is_full() {
                    return;
                }
                let leaf = first + children.trailing_zeros() as usize;
                *children &= *children - 1;
                sought.look::<L>(&tree.leaves[leaf], (CHILDREN * leaf) as u32);
            }
        }
        if *children == 0 {
            *depth -= 1;
            continue;
        }
        let child = first + children.trailing_zeros() as usize;
        *children &= *children - 1;
        let node = &tree.nodes[tree.starts[height - 1 - *depth] + child];
        open[*depth] = (child as u32, sought.meets::<L>(node));
        *depth += 1;
    }
}

impl<'a, 'b, S: Seek> Search<'a, 'b, S> {
    /// A search through a tree; `group` holds the leaves that matter, if these are known.
    #[inline]
    pub(crate) fn new(tree: &'a Tree, group: Option<&'a Group>, sought: &'b mut S) -> Self {
        Search { tree, group, sought, open: [(0, 0); MAX_HEIGHT], depth: 0, begun: false }
    }

    /// Searches on until there is no room for more. Returns false if there is nothing more.
    #[inline]
    pub(crate) fn advance(&mut self, level: Level) -> bool {
        let goes_on = self.depth > 0 || !self.begun;
        if goes_on {
            with_lanes!(level, L => search::<L, S>(self));
        }
        goes_on
    }
}
