//! The bodies that a query may find: along a track, or in a box. From the step's own order of space, and beside it.
//!
//! The order is that of the last pair list. Bodies that moved since within their margins are in their bounds there; how far others are
//! out is known (`broadphase/strays.rs`), and the track or box grows by that. What is further out, loose or added since has an order of
//! its own: `broadphase/unlisted.rs`.

use crate::body::Bodies;
use crate::broadphase::Broadphase;
use crate::broadphase::discs::{DiscTree, Place, Sought};
use crate::broadphase::walk::Track;
use crate::crew::with_crew;
use crate::isa::Level;
use crate::world::World;
use glam::Vec2;

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
}

impl World {
    pub(super) fn near(&self) -> Near<'_> {
        let World { bodies, broadphase, level, unlisted, .. } = self;
        let taken = |slot: usize| if bodies.is_taken(slot) { bodies.disc_bounds(slot) } else { None };
        unlisted.order_fresh(taken);
        Near { bodies, broadphase, world: self, level: *level, discs: None, place: None }
    }

    /// As [`World::near`], for so many queries. The answer is also whether the queries are to be asked in the order of place.
    ///
    /// Neither the tree nor the order pays for queries that look into empty space: these take less time than the order. So some queries
    /// of the batch are tried, to see how many candidates they have: at most one in 64.
    pub(super) fn near_for_batch<'a, L: Looks>(
        &'a self,
        discs: &'a mut DiscTree,
        queries: usize,
        looks: &L,
    ) -> (Near<'a>, bool) {
        let near = self.near();
        let (listed, tried) = (self.broadphase.bands.large_end, (queries / QUERIES_PER_TRIED).min(TRIED));
        let by_place = listed > FAR_APART && listed / BODIES_PER_QUERY < queries;
        if !L::BY_TREE {
            return (near, by_place);
        }
        if listed < MANY || tried == 0 || !near.has_listed() {
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
        with_crew(None, |crew| discs.build(&self.bodies, &self.broadphase, &self.unlisted, crew));
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
        let unlisted = &self.world.unlisted;
        let mut elsewhere = |slot: usize| {
            if near(slot) { visit(Candidate { slot, listed: false }) } else { f64::INFINITY }
        };
        for &slot in unlisted.planes() {
            limit = limit.min(elsewhere(slot as usize));
        }
        if limit >= 0.0 && !unlisted.is_empty() {
            unlisted.visit_along(level, &track.grown(0.0), &mut limit, &mut elsewhere);
        }
        if limit < 0.0 || !self.has_listed() {
            return;
        }
        let mut listed = |slot: usize| {
            if near(slot) { visit(Candidate { slot, listed: true }) } else { f64::INFINITY }
        };
        let goes_on = match self.discs {
            Some(discs) => {
                let of = (track, sought);
                broadphase.visit_along_by_discs(level, (discs, self.place), of, &mut limit, &mut listed)
            }
            None => {
                let grown = &track.grown(broadphase.excess());
                broadphase.visit_along(level, grown, &mut limit, &mut listed)
            }
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

    /// Visits the bodies that may be within a distance of a point, each once: at first those that are near, in an order that is always the
    /// same. The visitor returns within which distance others are still sought.
    pub(super) fn outward(&self, point: Vec2, mut limit: f64, mut visit: impl FnMut(usize) -> f64) {
        let (broadphase, level) = (self.broadphase, self.level);
        let (unlisted, kinds) = (&self.world.unlisted, &self.bodies.columns.kind);
        // First these: where they are many, most of what the list has near is not there.
        let mut elsewhere =
            |slot: usize| if kinds[slot].is_collidable() { visit(slot) } else { f64::INFINITY };
        for &slot in unlisted.planes() {
            limit = limit.min(elsewhere(slot as usize));
        }
        unlisted.visit_outward(level, point, &mut limit, &mut elsewhere);
        if !self.has_listed() {
            return;
        }
        let near = |slot: usize| self.world.is_listed_collidable(slot);
        let mut listed = |slot: usize| if near(slot) { visit(slot) } else { f64::INFINITY };
        broadphase.visit_outward(level, point, &mut limit, &mut listed);
        for &slot in broadphase.planes() {
            limit = limit.min(listed(slot as usize));
        }
    }

    /// Whether the list has bodies where they are.
    fn has_listed(&self) -> bool {
        self.broadphase.built > 0 && !self.world.unlisted.has_all()
    }

    /// Visits each body once whose bounds may overlap a box, in an order that is always the same, until `visit` returns false. Bounds
    /// of bodies are at most a little larger than they have to be, except in the list.
    ///
    /// The second argument of `visit` is true if it is known already that the body has one shape, and that this one overlaps the box.
    pub(super) fn in_box(&self, lower: Vec2, upper: Vec2, mut visit: impl FnMut(usize, bool) -> bool) {
        let (broadphase, level) = (self.broadphase, self.level);
        let near = |slot: usize| self.world.is_listed_collidable(slot);
        if self.has_listed() {
            let excess = broadphase.excess();
            let mut listed = |slot: usize| !near(slot) || visit(slot, false);
            let goes_on = match self.discs {
                Some(discs) => broadphase.visit_box_by_discs(
                    level,
                    (discs, self.place),
                    [lower, upper],
                    &mut |slot, sure| (!sure && !near(slot)) || visit(slot, sure),
                ),
                None => broadphase.visit_box(level, [lower - excess, upper + excess], &mut listed),
            };
            let mut planes = broadphase.planes().iter().map(|&slot| slot as usize);
            if !goes_on || !planes.all(|slot| !near(slot) || visit(slot, false)) {
                return;
            }
        }
        let (unlisted, kinds) = (&self.world.unlisted, &self.bodies.columns.kind);
        let mut visit = |slot: usize| !kinds[slot].is_collidable() || visit(slot, false);
        if unlisted.planes().iter().all(|&slot| visit(slot as usize)) {
            unlisted.visit_box(level, [lower, upper], visit);
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
    /// are 10 km apart; also of those added since the list was made.
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
            let near = world.near();
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

    /// Contract: a track looks at few bodies after a step that has thrown more bodies far out than it usually does, wherever it is.
    #[test]
    fn few_bodies_are_looked_at_after_a_throw() {
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
        let place = |i: usize| Vec2::new(3.0 * (i % 142) as f32, 3.0 * (i / 142) as f32);
        let descs: Vec<BodyDesc> =
            (0..20_000).map(|i| BodyDesc::dynamic(Shape::circle(0.25), place(i))).collect();
        let bodies = world.add_bodies(&descs).unwrap();
        (0..3).for_each(|_| world.step());
        for &body in bodies.iter().skip(17).step_by(100) {
            let mass = world.mass(body).unwrap();
            world.apply_force(body, Vec2::new(0.3, 1.0) * mass * 2_000.0 * 60.0).unwrap();
        }
        world.step();
        let near = world.near();
        for from in [Vec2::new(31.0, 61.0), Vec2::new(200.5, 333.0), Vec2::new(-50.0, 10.0)] {
            let mut visits = 0;
            let track = Track { from, way: Vec2::new(17.0, 9.0), half: Vec2::ZERO };
            near.along((&track, Sought { outer: 0.0, nearest: false }), 1.0, |_| {
                visits += 1;
                1.0
            });
            assert!(visits < 60, "{visits} from {from}");
        }
    }

    /// Contract: boxes, tracks and the nearest look at few bodies and find what is there, after many bodies were added, put elsewhere or
    /// removed by hand: before the next step, after it, and in a clone.
    #[test]
    fn few_bodies_are_looked_at_after_many_edits() {
        // Some are sought beside the list, more of them instead of it, and those that are added wait for a question.
        [(150, 40, 90), (1_500, 400, 900), (0, 0, 3_000)].into_iter().for_each(check_edits);
    }

    fn check_edits((moved, removed, added): (usize, usize, usize)) {
        let place = |i: usize| Vec2::new((i * 7_919 % 300) as f32, (i * 104_729 % 299) as f32);
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
        let desc = |i: usize| BodyDesc::dynamic(Shape::circle(0.2), place(i));
        let bodies = world.add_bodies(&(0..4_000).map(desc).collect::<Vec<_>>()).unwrap();
        world.step();
        (0..moved).for_each(|i| world.set_position(bodies[2 * i], place(5_000 + i)).unwrap());
        (0..removed).for_each(|i| world.remove_body(bodies[4 * i + 1]).unwrap());
        for i in 9_000..9_000 + added {
            world.add_body(&desc(i)).unwrap();
        }
        let mut copy = world.clone();
        let order = |world: &World| {
            let mut seen = Vec::new();
            world.query_aabb(Vec2::new(50.0, 20.0), Vec2::new(200.0, 150.0), |body| {
                seen.push(body);
                true
            });
            seen
        };
        assert!(world.unlisted().count() >= moved + added, "the edits are in a list");
        assert_eq!(world.unlisted.has_all(), moved > 1_000);
        assert!(order(&world).len() > 500 && order(&world) == order(&copy), "the order of a copy");
        copy.step();
        for world in [&world, &copy] {
            let near = world.near();
            for (x, y) in [(10.0, 20.0), (150.5, 150.5), (250.0, 40.0), (-3.0, 77.0)] {
                let (lower, upper) = (Vec2::new(x, y), Vec2::new(x + 12.0, y + 9.0));
                let solid = |&slot: &usize| world.bodies.columns.kind[slot].is_collidable();
                let within = |&slot: &usize| {
                    let at = world.bodies.position(slot);
                    (at + 0.2).cmpge(lower).all() && (at - 0.2).cmple(upper).all()
                };
                let mut there: Vec<_> = (0..world.bodies.len).filter(solid).filter(within).collect();
                there.sort_unstable();
                let mut seen = Vec::new();
                near.in_box(lower, upper, |slot, _| {
                    seen.push(slot);
                    true
                });
                let visits = seen.len();
                seen.sort_unstable();
                seen.retain(within);
                assert_eq!(seen, there, "in the box from {lower}");
                assert!(visits <= 2 * there.len() + 30, "{visits} in a box with {}", there.len());
                let track = Track { from: lower, way: upper - lower, half: Vec2::ZERO };
                let mut visits = 0;
                near.along((&track, Sought { outer: 0.0, nearest: false }), 1.0, |_| {
                    visits += 1;
                    1.0
                });
                assert!(visits <= there.len() + 30, "{visits} along a way through {}", there.len());
            }
        }
    }
}
