//! What is sought in the trees: bodies in a box, and bodies along a piece of a track.

use super::Sought;
use crate::broadphase::tree::{CHILDREN, Node, Seek};
use crate::broadphase::walk::{LineVisitor, Track, TrackPart, meets};
use crate::lane::{Lane, Mask};

/// By how much a radius of a disc may be wrong, as a part of it.
pub(super) const PART: f32 = 1.0e-5;
/// By how much a distance may be wrong, as a part of it.
const LOSS: f32 = 4.0 * f32::EPSILON;

/// How much the rounding of coordinates may add to a reach, at a place.
pub(super) fn slack(x: f32, y: f32) -> f32 {
    8.0 * f32::EPSILON * (if x.abs() > y.abs() { x.abs() } else { y.abs() } + 1.0)
}

/// How much a search finds before it is visited. A leaf finds place behind it.
const ROOM: usize = 32;

/// The numbers of things that are found.
pub(super) struct Found {
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
    pub(super) fn take(&mut self) -> &[u32] {
        &self.numbers[..std::mem::take(&mut self.count)]
    }
}

/// Where boxes are sought.
pub(super) trait Region {
    /// The boxes that reach into it, as bits.
    fn meets<L: Lane>(&self, node: &Node) -> u32;
}

/// A box `[min_x, max_x, min_y, max_y]`.
impl Region for [f32; 4] {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        node.overlapping::<L>(self)
    }
}

impl Region for TrackPart {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        let mut bits = 0;
        for i in (0..CHILDREN).step_by(L::WIDTH) {
            bits |= meets(self, node.load::<L>(i)).bits() << i;
        }
        bits
    }
}

/// The boxes in a region.
pub(super) struct Boxes<R> {
    region: R,
    pub found: Found,
}

impl<R> Boxes<R> {
    pub(super) fn of(region: R) -> Self {
        Boxes { region, found: Found::default() }
    }
}

impl<R: Region> Seek for Boxes<R> {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        self.region.meets::<L>(node)
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
pub(super) struct DiscsInBox {
    pub bounds: [f32; 4],
    pub sure: Found,
    pub perhaps: Found,
}

impl DiscsInBox {
    #[inline(always)]
    pub(super) fn new(bounds: [f32; 4]) -> Self {
        DiscsInBox { bounds, sure: Found::default(), perhaps: Found::default() }
    }
}

impl Seek for DiscsInBox {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        self.bounds.meets::<L>(node)
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
pub(super) struct DiscsAlong {
    piece: TrackPart,
    from: [f32; 2],
    way: [f32; 2],
    /// The square of the way's length, and 1 by it.
    square: f32,
    per_square: f32,
    /// Up to which fraction of the way bodies are sought.
    pub most: f32,
    outer: f32,
    /// The fractions at which the outer discs are met at the earliest. Before [`Seek::finish`], the same without the square root of
    /// `rest`, and times `square`.
    earliest: [f32; ROOM + CHILDREN],
    rest: [f32; ROOM + CHILDREN],
    slots: Found,
}

impl DiscsAlong {
    /// Everything along a track.
    #[inline(always)]
    pub(super) fn new(track: &Track, sought: Sought) -> Self {
        let slack = slack(track.from.x, track.from.y) + PART * sought.outer;
        let square = track.way.length_squared();
        DiscsAlong {
            piece: track.piece(0.0, 1.0),
            from: track.from.into(),
            way: track.way.into(),
            square,
            // All are met at once on a way that is hardly any.
            per_square: if square > 1.0e-30 { 1.0 / square } else { 0.0 },
            most: 1.0,
            outer: sought.outer + slack,
            earliest: [0.0; ROOM + CHILDREN],
            rest: [0.0; ROOM + CHILDREN],
            slots: Found::default(),
        }
    }

    /// Goes on to a piece of the same track.
    #[inline(always)]
    pub(super) fn begin(&mut self, track: &Track, [start, most]: [f32; 2]) {
        (self.piece, self.most) = (track.piece(start, most), most);
        self.slots.take();
    }

    /// Visits what was found, the earliest first. Returns false if the visitor ended it.
    pub(super) fn visit_found(&mut self, limit: &mut f64, visit: &mut impl LineVisitor) -> bool {
        let slots = self.slots.take();
        let earliest = &mut self.earliest[..slots.len()];
        for _ in 0..slots.len() {
            let mut first = 0;
            for i in 1..earliest.len() {
                if earliest[i] < earliest[first] {
                    first = i;
                }
            }
            if f64::from(std::mem::replace(&mut earliest[first], f32::INFINITY)) > *limit {
                break;
            }
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
        self.piece.meets::<L>(node)
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
