//! The bodies that a query may find: along a track, or in a box. From the step's own order of space, and beside it.
//!
//! The order is that of the last pair list. Bodies that moved since within their margins are in their bounds there; how far others are
//! out is known (`broadphase/strays.rs`), and the track or box grows by that. What is further out, loose or added since is looked at one
//! by one. If a batch has many of these to look at, it puts them in an order of its own first: [`Others`].

use crate::base::room::make_room;
use crate::body::Bodies;
use crate::broadphase::Broadphase;
use crate::broadphase::discs::{DiscTree, Place, Sought};
use crate::broadphase::levels::Levels;
use crate::broadphase::walk::{LineVisitor, Track};
use crate::crew::with_crew;
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::world::World;
use glam::{DVec2, Vec2};

/// So many bodies that are not in the list are looked at one by one; if there are more, a batch orders them.
const FEW: usize = 32;

/// What the tree of discs costs a batch, ns for each body in a band. (All times here are those of a Xeon of 2023, and only their ratio
/// matters.)
const TREE: usize = 5;
/// In a smaller world the bands are as good as the tree.
const MANY: usize = 256;
/// What the tree saves a query, ns: in a box that has candidates something, along a track something for each band that it crosses; and more
/// for each candidate. At most so much.
const SAVED_IN_BOX: usize = 80;
const SAVED_PER_BAND: usize = 3;
const SAVED_PER_CANDIDATE: usize = 12;
const SAVED_AT_MOST: usize = 200;
/// The most queries that are tried before a batch, and the least number of queries for each of them.
const TRIED: usize = 16;
const QUERIES_PER_TRIED: usize = 64;
/// The bodies of a larger world do not stay in the nearest caches from query to query, unless these are ordered by place, and are so many:
/// one for each few bodies.
const FAR_APART: usize = 4096;
const BODIES_PER_QUERY: usize = 4;

/// What a batch of queries makes of the bodies before it asks. Kept from batch to batch for its memory.
#[derive(Default)]
pub(super) struct Prepared {
    discs: DiscTree,
    others: Others,
}

/// Bodies that the list does not have in their places, ordered by place for a batch of queries.
#[derive(Default)]
struct Others {
    slots: Vec<u32>,
    planes: Vec<u32>,
    columns: [Vec<f32>; 4],
    levels: Levels,
}

impl Others {
    /// Orders the bodies of a world that the list does not have in their places. Returns false if they are few.
    fn order(&mut self, world: &World) -> bool {
        if world.unlisted().nth(FEW).is_none() {
            return false;
        }
        let (bodies, most) = (&world.bodies, world.bodies.len);
        make_room(&mut self.slots, most);
        self.planes.clear();
        self.columns.iter_mut().for_each(|column| make_room(column, most));
        let mut sizes = 0.0;
        for slot in world.unlisted() {
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                self.planes.push(slot as u32);
                continue;
            }
            let (lower, upper) = bounds(bodies, slot);
            self.slots.push(slot as u32);
            for (column, value) in self.columns.iter_mut().zip([lower.x, upper.x, lower.y, upper.y]) {
                column.push(value);
            }
            sizes += f64::from((upper - lower).max_element());
        }
        // Most bodies are in one level.
        let least = 2.0 * sizes / self.slots.len().max(1) as f64;
        let [min_x, max_x, min_y, max_y] = &self.columns;
        self.levels.build_boxes([min_x, max_x, min_y, max_y], least as f32);
        true
    }
}

/// The present bounds of a body that is not a half-space, with what rounding may take away.
fn bounds(bodies: &Bodies, slot: usize) -> (Vec2, Vec2) {
    let (position, half) = (bodies.position(slot), bodies.bounds(slot));
    let half = half + 4.0 * f32::EPSILON * (position.abs() + half);
    (position - half, position + half)
}

/// Where a query looks.
pub(super) trait Looks: Sync {
    /// Whether a tree is of use.
    const BY_TREE: bool;
    /// A point there.
    fn begin(&self, query: usize) -> Vec2;
    /// The corners of a box in which it looks first, or of a larger one. `None` if that is unknown.
    fn first(&self, near: &Near<'_>, query: usize) -> Option<[Vec2; 2]>;
    /// What a tree saves these queries, ns.
    fn saved(&self, near: &Near<'_>, queries: &mut dyn Iterator<Item = usize>) -> usize;
}

/// A body that a track may meet.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub slot: usize,
    /// It is found in the list, where it may be out of place.
    listed: bool,
}

/// The bodies of a world by their place.
#[derive(Clone, Copy)]
pub(super) struct Near<'a> {
    pub bodies: &'a Bodies,
    broadphase: &'a Broadphase,
    world: &'a World,
    pub level: Level,
    /// A tree of the bodies in bands, for a batch.
    discs: Option<&'a DiscTree>,
    /// What of these is where the queries look first.
    place: Option<&'a Place>,
    others: Option<&'a Others>,
}

impl World {
    pub(super) fn near(&self) -> Near<'_> {
        let World { bodies, broadphase, level, .. } = self;
        Near { bodies, broadphase, world: self, level: *level, discs: None, place: None, others: None }
    }

    /// As [`World::near`], for so many queries. The answer is also whether the queries are to be asked in the order of place.
    ///
    /// Neither the tree nor the order pays for queries that look into empty space: these take less time than the order. So some queries
    /// of the batch are tried, to see how many candidates they have: at most one in 64.
    pub(super) fn near_for_batch<'a, L: Looks>(
        &'a self,
        prepared: &'a mut Prepared,
        queries: usize,
        looks: &L,
    ) -> (Near<'a>, bool) {
        let Prepared { discs, others } = prepared;
        // An order costs as much as some ten queries without it.
        let ordered = queries >= 8 && others.order(self);
        let near = Near { others: ordered.then_some(&*others), ..self.near() };
        let (listed, tried) = (self.broadphase.bands.large_end, (queries / QUERIES_PER_TRIED).min(TRIED));
        let by_place = listed > FAR_APART && listed / BODIES_PER_QUERY < queries;
        if !L::BY_TREE {
            return (near, by_place);
        }
        if listed < MANY || tried == 0 || !self.broadphase.excess().is_finite() {
            return (near, false);
        }
        let tried_queries = || (0..tried).map(|one| (2 * one + 1) * (queries / (2 * tried)));
        let region = |query: usize| near.region(looks.begin(query));
        // The bands around one place stay in the nearest caches, and are as good as a tree there.
        if tried_queries().all(|query| region(query) == region(0)) {
            return (near, false);
        }
        let saved = looks.saved(&near, &mut tried_queries());
        if TREE * listed * tried >= queries.saturating_mul(saved) {
            return (near, by_place && saved > 0);
        }
        with_crew(None, |crew| discs.build(&self.bodies, &self.broadphase, crew));
        (Near { discs: Some(&*discs), ..near }, true)
    }
}

impl<'a> Near<'a> {
    /// The box around what is looked at first of a track.
    pub(super) fn bounds_along(&self, track: &Track, nearest: bool) -> Option<[Vec2; 2]> {
        Some(self.discs?.bounds_of_first_piece(track, nearest))
    }

    /// As this one, for queries that first look into one of these boxes.
    pub(super) fn in_place<'b>(
        self,
        place: &'b mut Place,
        boxes: impl Iterator<Item = Option<[Vec2; 2]>>,
    ) -> Near<'b>
    where
        'a: 'b,
    {
        let Some(discs) = self.discs else { return self };
        let nowhere = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        // A box with a corner that is not a number holds nothing, and would hide those before it.
        let boxes = boxes.flatten().filter(|[lower, upper]| lower.cmple(*upper).all());
        let around = boxes.fold(nowhere, |around, of| [around[0].min(of[0]), around[1].max(of[1])]);
        let gathered =
            around != nowhere && discs.gather(self.level, (around, self.broadphase.excess()), place);
        Near { place: gathered.then_some(&*place), ..self }
    }
}

impl Near<'_> {
    /// Whether a batch has made a tree.
    #[cfg(test)]
    pub(super) fn is_by_tree(&self) -> bool {
        self.discs.is_some()
    }

    /// What a tree saves a query in a box, ns.
    pub(super) fn saved_in_box(&self, [lower, upper]: [Vec2; 2]) -> usize {
        let mut saved = 0;
        self.in_box(lower, upper, |_, _| {
            saved = SAVED_PER_CANDIDATE + if saved == 0 { SAVED_IN_BOX } else { saved };
            saved < SAVED_AT_MOST
        });
        saved
    }

    /// What a tree saves a query along a track, ns.
    pub(super) fn saved_along(&self, (track, sought): (&Track, Sought)) -> usize {
        let mut saved = SAVED_PER_BAND * self.broadphase.bands_across(track);
        if saved < SAVED_AT_MOST {
            self.along((track, sought), 1.0, |_| {
                saved += SAVED_PER_CANDIDATE;
                if saved < SAVED_AT_MOST { 1.0 } else { -1.0 }
            });
        }
        saved.min(SAVED_AT_MOST)
    }

    /// A number of 32 bits: points that are near each other in the order of space mostly have near numbers.
    pub(super) fn region(&self, point: Vec2) -> u64 {
        let order = if self.broadphase.bands.along_x { [point.x, point.y] } else { [point.y, point.x] };
        let height = self.broadphase.bands.height as f32;
        let per_region = [0.25, 0.125].map(|share| share / if height > 0.0 { height } else { 1.0 });
        let [band, along] = [order[0] * per_region[0], order[1] * per_region[1]].map(|at| {
            // The conversion saturates.
            u64::from((at as i16).cast_unsigned() ^ 1 << 15)
        });
        band << 16 | along
    }

    /// Whether a candidate of [`Near::along`] counts: a body that is not where the list has it comes twice.
    pub(super) fn counts(&self, Candidate { slot, listed }: Candidate) -> bool {
        !listed || self.world.is_listed_collidable(slot)
    }

    /// Visits the bodies whose bounds a track may meet, in an order that is always the same. The visitor returns up to which fraction of
    /// the way the search goes on; a negative one ends it. (Whether a candidate counts is asked only when it is hit. That takes two
    /// searches, and of six candidates of a ray in a pile five are not hit.)
    pub(super) fn along(
        &self,
        (track, sought): (&Track, Sought),
        mut limit: f64,
        mut visit: impl FnMut(Candidate) -> f64,
    ) {
        let (broadphase, level) = (self.broadphase, self.level);
        let kinds = &self.bodies.columns.kind;
        let near = |slot: usize| kinds[slot].is_collidable();
        let mut listed = |slot: usize| {
            if near(slot) { visit(Candidate { slot, listed: true }) } else { f64::INFINITY }
        };
        let excess = broadphase.excess();
        if broadphase.built > 0 && excess.is_finite() {
            let goes_on = match self.discs {
                Some(discs) => {
                    let of = (track, sought);
                    broadphase.visit_along_by_discs(level, (discs, self.place), of, &mut limit, &mut listed)
                }
                None => broadphase.visit_along(level, &track.grown(excess), &mut limit, &mut listed),
            };
            if !goes_on {
                return;
            }
            for &slot in self.broadphase.planes() {
                limit = limit.min(listed(slot as usize));
                if limit < 0.0 {
                    return;
                }
            }
        }
        let track = &track.grown(0.0);
        let counts = |&slot: &usize| self.world.is_listed_collidable(slot);
        let mut visit = |slot: usize| visit(Candidate { slot, listed: false });
        if !excess.is_finite() {
            for slot in (0..self.broadphase.built).filter(counts) {
                self.meet(slot, track, &mut limit, &mut visit);
            }
        }
        match self.others {
            None => {
                for slot in self.world.unlisted() {
                    self.meet(slot, track, &mut limit, &mut visit);
                }
            }
            Some(others) => {
                for &slot in &others.planes {
                    self.meet(slot as usize, track, &mut limit, &mut visit);
                }
                let mut visit = |number: usize| visit(others.slots[number] as usize);
                if limit >= 0.0 {
                    others.levels.visit_along(self.level, (track, false), &mut limit, &mut visit);
                }
            }
        }
    }

    /// Visits a body whose bounds the rest of a track meets.
    fn meet(&self, slot: usize, track: &Track, limit: &mut f64, visit: &mut impl LineVisitor) {
        if *limit < 0.0 {
            return;
        }
        let plane = self.bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace;
        let meets = plane || {
            let (lower, upper) = self.loose_bounds(slot);
            track.meets(lower, upper, *limit)
        };
        if meets {
            *limit = limit.min(visit(slot));
        }
    }

    /// Visits the bodies that may be within a distance of a point, each once: at first those that are near, in an order that is always the
    /// same. The visitor returns within which distance others are still sought.
    pub(super) fn outward(&self, point: Vec2, mut limit: f64, mut visit: impl FnMut(usize) -> f64) {
        let (broadphase, level) = (self.broadphase, self.level);
        let near = |slot: usize| self.world.is_listed_collidable(slot);
        if broadphase.built > 0 {
            let mut listed = |slot: usize| if near(slot) { visit(slot) } else { f64::INFINITY };
            if broadphase.excess().is_finite() {
                broadphase.visit_outward(level, point, &mut limit, &mut listed);
                for &slot in broadphase.planes() {
                    limit = limit.min(listed(slot as usize));
                }
            } else {
                for slot in 0..broadphase.built {
                    if self.is_within(slot, point, limit) {
                        limit = limit.min(listed(slot));
                    }
                }
            }
        }
        match self.others {
            None => {
                for slot in self.world.unlisted() {
                    if self.is_within(slot, point, limit) {
                        limit = limit.min(visit(slot));
                    }
                }
            }
            Some(others) => {
                for &slot in &others.planes {
                    limit = limit.min(visit(slot as usize));
                }
                let mut visit = |number: usize| visit(others.slots[number] as usize);
                others.levels.visit_outward(level, (point, false), (0.0, &mut limit), &mut visit);
            }
        }
    }

    /// Whether the bounds of a body may be within a distance of a point.
    fn is_within(&self, slot: usize, point: Vec2, limit: f64) -> bool {
        if self.bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
            return true;
        }
        let (lower, upper) = self.loose_bounds(slot);
        let [lower, upper, point] = [lower, upper, point].map(|at| at.as_dvec2());
        (lower - point).max(point - upper).max(DVec2::ZERO).length() <= limit.max(0.0)
    }

    /// Bounds of a body, without a sine: those of the disc around a shape that turns. With what rounding may take away.
    fn loose_bounds(&self, slot: usize) -> (Vec2, Vec2) {
        let (c, position) = (&self.bodies.columns, self.bodies.position(slot));
        let turns = c.kind[slot].shape().turns();
        let half =
            if turns { Vec2::splat(c.furthest[slot]) } else { Vec2::new(c.ext_x[slot], c.ext_y[slot]) };
        let half = half + 4.0 * f32::EPSILON * (position.abs() + half);
        (position - half, position + half)
    }

    /// Visits each body once whose bounds may overlap a box, in an order that is always the same, until `visit` returns false. Bounds
    /// of bodies are at most a little larger than they have to be, except in the list.
    ///
    /// The second argument of `visit` is true if it is known already that the body has one shape, and that this one overlaps the box.
    pub(super) fn in_box(&self, lower: Vec2, upper: Vec2, mut visit: impl FnMut(usize, bool) -> bool) {
        let (broadphase, level) = (self.broadphase, self.level);
        let near = |slot: usize| self.world.is_listed_collidable(slot);
        let excess = broadphase.excess();
        if broadphase.built > 0 {
            let mut listed = |slot: usize| !near(slot) || visit(slot, false);
            let goes_on = if !excess.is_finite() {
                (0..broadphase.built).all(&mut listed)
            } else {
                let by_place = match self.discs {
                    Some(discs) => broadphase.visit_box_by_discs(
                        level,
                        (discs, self.place),
                        [lower, upper],
                        &mut |slot, sure| (!sure && !near(slot)) || visit(slot, sure),
                    ),
                    None => broadphase.visit_box(level, [lower - excess, upper + excess], &mut listed),
                };
                by_place
                    && broadphase
                        .planes()
                        .iter()
                        .all(|&slot| !near(slot as usize) || visit(slot as usize, false))
            };
            if !goes_on {
                return;
            }
        }
        match self.others {
            None => {
                self.world.unlisted().all(|slot| visit(slot, false));
            }
            Some(others) => {
                if others.planes.iter().all(|&slot| visit(slot as usize, false)) {
                    let mut visit = |number: usize| visit(others.slots[number] as usize, false);
                    others.levels.visit_box(level, (lower, upper, false), &mut visit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::BodyDesc;
    use crate::geometry::shape::Shape;
    use crate::settings::Settings;

    /// Contract: the search for the nearest looks at few bodies, wherever the point is: among 20,000 on a grid, and among 20 clusters that
    /// are 10 km apart; also of those added since the list was made, if a batch has ordered them.
    #[test]
    fn the_nearest_looks_at_few_bodies() {
        let grid = |i: usize| Vec2::new(3.0 * (i % 142) as f32, 3.0 * (i / 142) as f32);
        let clusters = |i: usize| Vec2::new(1.0e4 * (i % 20) as f32, 0.0) + 0.2 * grid(i / 20);
        let places: [&dyn Fn(usize) -> Vec2; 2] = [&grid, &clusters];
        for (place, stepped) in places.into_iter().flat_map(|place| [(place, true), (place, false)]) {
            let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
            let descs: Vec<BodyDesc> =
                (0..20_000).map(|i| BodyDesc::fixed(Shape::circle(0.25), place(i))).collect();
            world.add_bodies(&descs).unwrap();
            if stepped {
                world.step();
            }
            let mut others = Others::default();
            let ordered = others.order(&world);
            let near = Near { others: ordered.then_some(&others), ..world.near() };
            let points = [grid(10_071), Vec2::splat(-40.0), Vec2::new(500.0, -200.0), Vec2::splat(1.0e6)];
            for point in points.into_iter().chain([Vec2::new(5.5e4, 3.0), Vec2::new(-1.0e6, 200.0)]) {
                let (mut visits, mut least) = (0, 4.0e7);
                near.outward(point, least, |slot| {
                    visits += 1;
                    let distance = f64::from(world.bodies.position(slot).distance(point)) - 0.25;
                    least = distance.min(least);
                    least
                });
                let distances = descs.iter().map(|desc| f64::from(desc.position.distance(point)) - 0.25);
                assert_eq!(least, distances.fold(f64::MAX, f64::min), "from {point}");
                assert!((1..200).contains(&visits), "{visits} from {point}");
            }
        }
    }
}
