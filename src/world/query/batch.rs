//! Many queries in one call, on all threads of the caller's pool.
//!
//! ```text
//! check all queries
//! if many bodies are not in the order of space: put these in an order of their own     (near.rs)
//! make a tree of the bodies, and order the queries by place, each if that pays         (near.rs, broadphase/discs.rs)
//! in parallel, for runs of queries: as the single query, hits into the run's own memory
//! one after the other: the runs' hits together, with offsets
//! ```
//!
//! Runs are of a fixed length. So neither the answers nor their order depend on the threads.

use super::answers::{AnswerRun, BatchFirst, BatchHits};
use super::cast::{Castable, Hit, Ray, ShapeCast};
use super::filter::{QueryFilter, Sieve};
use super::near::{Looks, Near};
use super::order::Order;
use super::overlap::{BodyPart, BoxRegion, Distance, Nearest, Region, check_nearest, nearest};
use super::solid::Probe;
use crate::base::room::make_room;
use crate::body::{BodyHandle, MAX_COORDINATE};
use crate::broadphase::discs::DiscTree;
use crate::broadphase::discs::{Place, Sought};
use crate::crew::{SharedSlice, with_crew};
use crate::error::{Error, check_vec};
use crate::world::World;
use glam::Vec2;

/// The queries of a run.
const RUN: usize = 32;
/// A batch has at most so many runs, however long they are.
const MOST_RUNS: usize = 1 << 20;

fn run_length(queries: usize) -> usize {
    RUN.max(queries.div_ceil(MOST_RUNS))
}

/// Casts, of which the nearest hit is sought, or all hits.
struct Along<'a, C> {
    casts: &'a [C],
    nearest: bool,
}

impl<C: Castable + Sync> Looks for Along<'_, C> {
    const BY_TREE: bool = true;

    fn begin(&self, query: usize) -> Vec2 {
        self.casts[query].begin()
    }

    fn first(&self, near: &Near<'_>, query: usize) -> Option<[Vec2; 2]> {
        near.bounds_along(&self.casts[query].track(), self.nearest)
    }

    fn saved(&self, near: &Near<'_>, queries: &mut dyn Iterator<Item = usize>) -> usize {
        let sought = Sought { outer: 0.0, nearest: self.nearest };
        queries.map(|query| near.saved_along((&self.casts[query].track(), sought))).sum()
    }
}

/// Boxes that hold where a query looks, and a point there, by its number.
struct InBoxes<B, P>(B, P);

impl<B: Fn(usize) -> [Vec2; 2] + Sync, P: Fn(usize) -> Vec2 + Sync> Looks for InBoxes<B, P> {
    const BY_TREE: bool = true;

    fn begin(&self, query: usize) -> Vec2 {
        self.1(query)
    }

    fn first(&self, _: &Near<'_>, query: usize) -> Option<[Vec2; 2]> {
        Some(self.0(query))
    }

    fn saved(&self, near: &Near<'_>, queries: &mut dyn Iterator<Item = usize>) -> usize {
        queries.map(|query| near.saved_in_box(self.0(query))).sum()
    }
}

/// Points where queries begin that find their way through the bands: those that look around a point, further and further away, which a tree
/// finds no sooner; those for bounds, which reach beyond the tree's discs; and those that look at two bodies, and at no place.
struct ByBands<P>(P);

impl<P: Fn(usize) -> Vec2 + Sync> Looks for ByBands<P> {
    const BY_TREE: bool = false;

    fn begin(&self, query: usize) -> Vec2 {
        self.0(query)
    }

    fn first(&self, _: &Near<'_>, _: usize) -> Option<[Vec2; 2]> {
        None
    }

    fn saved(&self, _: &Near<'_>, _: &mut dyn Iterator<Item = usize>) -> usize {
        0
    }
}

/// Prepares a world and the order of `count` queries.
fn prepare<'a>(
    world: &'a World,
    (discs, order): (&'a mut DiscTree, &mut Order),
    count: usize,
    looks: &impl Looks,
) -> Near<'a> {
    let (near, by_place) = world.near_for_batch(discs, count, looks);
    order.sort(&near, if by_place { count } else { 0 }, |query| looks.begin(query));
    near
}

impl<T: Copy + Send> BatchFirst<T> {
    /// Asks `count` queries.
    fn ask(
        &mut self,
        world: &World,
        count: usize,
        looks: &impl Looks,
        ask: impl Fn(&Near<'_>, usize) -> Option<T> + Sync,
    ) {
        make_room(&mut self.found, count);
        self.found.resize(count, None);
        let near = prepare(world, (&mut self.discs, &mut self.order), count, looks);
        let (order, found) = (&self.order, SharedSlice::new(&mut self.found));
        with_crew(None, |crew| {
            crew.chunks(count, run_length(count), |range| {
                let mut place = Place::default();
                let first = |place: usize| looks.first(&near, order.query(place));
                let near = near.in_place(&mut place, range.clone().map(first));
                for query in range.map(|place| order.query(place)) {
                    let answer = ask(&near, query);
                    #[allow(unsafe_code)]
                    // SAFETY: each place has a query of its own, and each place is in one chunk.
                    let found = unsafe { found.range(query..query + 1) };
                    found[0] = answer;
                }
            });
        });
    }
}

impl<T: Copy + Send> BatchHits<T> {
    /// Asks `count` queries. `ask` appends the answers of one of them.
    fn ask(
        &mut self,
        world: &World,
        count: usize,
        looks: &impl Looks,
        ask: impl Fn(&Near<'_>, usize, &mut Vec<T>) + Sync,
    ) {
        let length = run_length(count);
        let runs = count.div_ceil(length);
        if self.runs.len() < runs {
            self.runs.resize_with(runs, AnswerRun::default);
        }
        let near = prepare(world, (&mut self.discs, &mut self.order), count, looks);
        let order = &self.order;
        with_crew(None, |crew| {
            crew.for_each(&mut self.runs[..runs], |number, run| {
                let range = number * length..count.min((number + 1) * length);
                let mut place = Place::default();
                let first = |place: usize| looks.first(&near, order.query(place));
                let near = near.in_place(&mut place, range.clone().map(first));
                run.ends.clear();
                run.hits.clear();
                for query in range.map(|place| order.query(place)) {
                    ask(&near, query, &mut run.hits);
                    run.ends.push(run.hits.len());
                }
            });
        });
        self.join(count, length);
    }

    /// Puts the hits of all runs together, in the order of the queries.
    fn join(&mut self, count: usize, length: usize) {
        self.order.invert();
        let runs = &self.runs[..count.div_ceil(length)];
        make_room(&mut self.hits, runs.iter().map(|run| run.hits.len()).sum());
        make_room(&mut self.offsets, count + 1);
        self.offsets.push(0);
        if self.order.is_given() {
            for run in runs {
                let before = self.hits.len();
                self.hits.extend_from_slice(&run.hits);
                self.offsets.extend(run.ends.iter().map(|end| before + end));
            }
            return;
        }
        for query in 0..count {
            let place = self.order.place(query);
            let (run, at) = (&runs[place / length], place % length);
            let start = if at == 0 { 0 } else { run.ends[at - 1] };
            self.hits.extend_from_slice(&run.hits[start..run.ends[at]]);
            self.offsets.push(self.hits.len());
        }
    }
}

/// Sorts parts by body and number. (By one number, without a branch: a third of the time of the comparison by members.)
fn sort(found: &mut [BodyPart]) {
    if found.len() > 1 {
        found.sort_unstable_by_key(|at| u64::from(at.body.index()) << 8 | u64::from(at.part));
    }
}

/// Checks each query of a batch.
fn check_each<Q>(queries: &[Q], check: impl Fn(&Q) -> Result<(), Error>) -> Result<(), Error> {
    queries.iter().enumerate().try_for_each(|(index, query)| {
        check(query).map_err(|error| Error::Element { index, error: Box::new(error) })
    })
}

impl World {
    fn cast_firsts<C: Castable + Sync>(
        &self,
        casts: &[C],
        filter: &QueryFilter<'_>,
        answers: &mut BatchFirst<Hit>,
    ) -> Result<(), Error> {
        check_each(casts, C::check)?;
        let sieve = &Sieve::new(&self.bodies, filter);
        let ask = |near: &Near<'_>, query: usize| {
            let shape = casts[query].shape();
            casts[query].prepare(&shape).first(near, sieve)
        };
        answers.ask(self, casts.len(), &Along { casts, nearest: true }, ask);
        Ok(())
    }

    fn cast_alls<C: Castable + Sync>(
        &self,
        casts: &[C],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<Hit>,
    ) -> Result<(), Error> {
        check_each(casts, C::check)?;
        let sieve = &Sieve::new(&self.bodies, filter);
        answers.ask(self, casts.len(), &Along { casts, nearest: false }, |near, query, hits| {
            let shape = casts[query].shape();
            casts[query].prepare(&shape).all(near, sieve, hits);
        });
        Ok(())
    }

    fn overlap_regions<Q: Sync>(
        &self,
        queries: &[Q],
        (begin, around): (impl Fn(&Q) -> Vec2 + Sync, impl Fn(&Q) -> [Vec2; 2] + Sync),
        region: impl Fn(&Q) -> Region + Sync,
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<BodyPart>,
    ) {
        let sieve = &Sieve::new(&self.bodies, filter);
        let looks = InBoxes(|query: usize| around(&queries[query]), |query: usize| begin(&queries[query]));
        answers.ask(self, queries.len(), &looks, |near, query, found| {
            let start = found.len();
            region(&queries[query]).visit(near, sieve, |at| {
                found.push(at);
                true
            });
            sort(&mut found[start..]);
        });
    }

    /// The first shape that each ray meets: the answers are those of [`World::cast_ray`], in the order of the rays.
    ///
    /// The threads of the rayon pool in which you call it share the rays (`pool.install(|| world.cast_rays(…))`), as for
    /// [`World::step`]. The answers do not depend on the threads.
    ///
    /// Bodies that were added since the last step are in no order of space. If there are many, the batch orders them first, which costs
    /// some 100 ns for each; single queries look at each of them.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the first ray that [`Ray::validate`] refuses; `answers` are then unchanged.
    ///
    /// ```
    /// use granule::{BatchFirst, BodyDesc, QueryFilter, Ray, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// for x in 0..20 {
    ///     world.add_body(&BodyDesc::fixed(Shape::circle(0.5), Vec2::new(3.0 * x as f32, 0.0)))?;
    /// }
    /// let mut answers = BatchFirst::new(); // kept from batch to batch
    /// let rays: Vec<Ray> = (0..60).map(|x| Ray::new(Vec2::new(x as f32, 5.0), Vec2::new(0.0, -8.0))).collect();
    /// world.cast_rays(&rays, &QueryFilter::default(), &mut answers)?;
    /// assert_eq!(answers.answers().iter().flatten().count(), 20);
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn cast_rays(
        &self,
        rays: &[Ray],
        filter: &QueryFilter<'_>,
        answers: &mut BatchFirst<Hit>,
    ) -> Result<(), Error> {
        self.cast_firsts(rays, filter, answers)
    }

    /// All shapes that each ray meets: the answers are those of [`World::cast_ray_all`]. See [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// Those of [`World::cast_rays`].
    pub fn cast_rays_all(
        &self,
        rays: &[Ray],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<Hit>,
    ) -> Result<(), Error> {
        self.cast_alls(rays, filter, answers)
    }

    /// Whether each ray meets any shape: there is an answer for those rays for which [`World::cast_ray_any`] returns true. A ray
    /// that has met something looks no further. See [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// Those of [`World::cast_rays`].
    pub fn cast_rays_any(
        &self,
        rays: &[Ray],
        filter: &QueryFilter<'_>,
        answers: &mut BatchFirst<()>,
    ) -> Result<(), Error> {
        check_each(rays, Ray::check)?;
        let sieve = &Sieve::new(&self.bodies, filter);
        let ask = |near: &Near<'_>, query: usize| rays[query].prepare(&None).any(near, sieve).then_some(());
        answers.ask(self, rays.len(), &Along { casts: rays, nearest: false }, ask);
        Ok(())
    }

    /// The first shape that each moved shape touches: the answers are those of [`World::cast_shape`]. See [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the first cast that [`ShapeCast::validate`] refuses; `answers` are then unchanged.
    pub fn cast_shapes(
        &self,
        casts: &[ShapeCast],
        filter: &QueryFilter<'_>,
        answers: &mut BatchFirst<Hit>,
    ) -> Result<(), Error> {
        self.cast_firsts(casts, filter, answers)
    }

    /// All shapes that each moved shape touches: the answers are those of [`World::cast_shape_all`]. See [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// Those of [`World::cast_shapes`].
    pub fn cast_shapes_all(
        &self,
        casts: &[ShapeCast],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<Hit>,
    ) -> Result<(), Error> {
        self.cast_alls(casts, filter, answers)
    }

    /// The shapes that hold each point: the answers are those of [`World::overlap_point`], in the order of handles and parts. See
    /// [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the first point that is not finite or out of range; `answers` are then unchanged.
    pub fn overlap_points(
        &self,
        points: &[Vec2],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<BodyPart>,
    ) -> Result<(), Error> {
        check_each(points, |&point| check_vec("point", point, MAX_COORDINATE))?;
        let region = |&point: &Vec2| Region::point(point);
        let around = |point: &Vec2| region(point).bounds();
        self.overlap_regions(points, (|&point: &Vec2| point, around), region, filter, answers);
        Ok(())
    }

    /// The shapes that overlap each shape: the answers are those of [`World::overlap_shape`], in the order of handles and parts. See
    /// [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the first shape that [`Probe::validate`] refuses; `answers` are then unchanged.
    pub fn overlap_shapes(
        &self,
        probes: &[Probe],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<BodyPart>,
    ) -> Result<(), Error> {
        check_each(probes, Probe::validate)?;
        let begin = |probe: &Probe| probe.position;
        self.overlap_regions(probes, (begin, Probe::around), Region::shape, filter, answers);
        Ok(())
    }

    /// The shapes that overlap each box, given its lower and upper corner: the answers are those of [`World::overlap_aabb`], in the order of
    /// handles and parts. See [`World::cast_rays`].
    ///
    /// ```
    /// use granule::{BatchHits, BodyDesc, QueryFilter, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// for x in 0..20 {
    ///     world.add_body(&BodyDesc::fixed(Shape::circle(0.5), Vec2::new(3.0 * x as f32, 0.0)))?;
    /// }
    /// let mut answers = BatchHits::new(); // kept from batch to batch
    /// let boxes = [[Vec2::splat(-1.0), Vec2::splat(1.0)], [Vec2::new(5.0, -1.0), Vec2::new(10.0, 1.0)]];
    /// world.overlap_aabbs(&boxes, &QueryFilter::default(), &mut answers);
    /// assert_eq!(answers.offsets(), [0, 1, 3]);
    /// assert_eq!(answers.of(1).iter().map(|at| at.body.index()).collect::<Vec<_>>(), [2, 3]);
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn overlap_aabbs(
        &self,
        boxes: &[[Vec2; 2]],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<BodyPart>,
    ) {
        let sieve = &Sieve::new(&self.bodies, filter);
        answers.ask(
            self,
            boxes.len(),
            &InBoxes(|query: usize| boxes[query], |query: usize| boxes[query][0]),
            |near, query, found| {
                let (start, [lower, upper]) = (found.len(), boxes[query]);
                BoxRegion { lower, upper }.visit(self, near, sieve, |at| {
                    found.push(at);
                    true
                });
                sort(&mut found[start..]);
            },
        );
    }

    /// The bodies whose bounds overlap each box, given its lower and upper corner: the answers are those of [`World::overlap_bounds`], in the order of
    /// handles. See [`World::cast_rays`].
    pub fn overlap_bounds_many(
        &self,
        boxes: &[[Vec2; 2]],
        filter: &QueryFilter<'_>,
        answers: &mut BatchHits<BodyHandle>,
    ) {
        let sieve = &Sieve::new(&self.bodies, filter);
        let looks = ByBands(|query: usize| boxes[query][0]);
        answers.ask(self, boxes.len(), &looks, |near, query, found| {
            let start = found.len();
            self.visit_bounds(near, sieve, boxes[query], |body| {
                found.push(body);
                true
            });
            found[start..].sort_unstable_by_key(|body| body.index());
        });
    }

    /// The distance of each pair of bodies: the answers are those of [`World::distance`], in the order of the pairs. See [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the first pair that [`World::distance`] refuses; `answers` are then unchanged.
    pub fn distances(
        &self,
        pairs: &[[BodyHandle; 2]],
        answers: &mut BatchFirst<Distance>,
    ) -> Result<(), Error> {
        check_each(pairs, |pair| self.check_distance(pair).map(drop))?;
        answers.ask(self, pairs.len(), &ByBands(|_| Vec2::ZERO), |_, query| {
            let [a, b] = pairs[query];
            self.distance(a, b).ok()
        });
        Ok(())
    }

    /// The surface that is nearest to each point, at most at `max_distance`: the answers are those of [`World::nearest`]. See
    /// [`World::cast_rays`].
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the first point that is not finite or out of range; a distance outside 0..=4e7. `answers` are then
    /// unchanged.
    pub fn nearest_to_points(
        &self,
        points: &[Vec2],
        max_distance: f32,
        filter: &QueryFilter<'_>,
        answers: &mut BatchFirst<Nearest>,
    ) -> Result<(), Error> {
        check_nearest(Vec2::ZERO, max_distance)?;
        check_each(points, |&point| check_nearest(point, max_distance))?;
        let sieve = &Sieve::new(&self.bodies, filter);
        let ask = |near: &Near<'_>, query: usize| nearest(near, sieve, points[query], max_distance);
        answers.ask(self, points.len(), &ByBands(|query: usize| points[query]), ask);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::BodyDesc;
    use crate::geometry::shape::Shape;
    use crate::settings::Settings;

    /// Contract: a batch makes a tree, and puts its queries in order, only where that pays: not in a small world, not for few queries, nor
    /// for those that look into empty space, nor for boxes that are all in one place.
    #[test]
    fn a_tree_is_made_where_it_pays() {
        let made = |bodies: usize, queries: usize, at: &dyn Fn(usize) -> Vec2| {
            let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
            let place = |i: usize| Vec2::new(1.5 * (i % 100) as f32, 1.5 * (i / 100) as f32);
            let descs: Vec<BodyDesc> =
                (0..bodies).map(|i| BodyDesc::fixed(Shape::circle(0.5), place(i))).collect();
            world.add_bodies(&descs).unwrap();
            world.step();
            let rays: Vec<Ray> = (0..queries).map(|i| Ray::new(at(i), Vec2::new(9.0, 2.0))).collect();
            let boxes: Vec<[Vec2; 2]> = (0..queries).map(|i| [at(i), at(i) + 2.0]).collect();
            let (mut discs, mut order) = (DiscTree::default(), Order::default());
            let mut ask = |looks: &dyn Fn(&mut DiscTree, &mut Order) -> bool| {
                let by_tree = looks(&mut discs, &mut order);
                // What is in the tree is asked in order.
                assert!(!by_tree || !order.is_given());
                by_tree
            };
            let along = Along { casts: &rays, nearest: true };
            let in_boxes = InBoxes(|query: usize| boxes[query], |query: usize| boxes[query][0]);
            [
                ask(&|discs, order| prepare(&world, (discs, order), queries, &along).is_by_tree()),
                ask(&|discs, order| prepare(&world, (discs, order), queries, &in_boxes).is_by_tree()),
            ]
        };
        let among = |i: usize| Vec2::new((7 * i % 150) as f32, (11 * i % 150) as f32);
        let far = |i: usize| among(i) + 1.0e5;
        assert_eq!(made(10_000, 10_000, &among), [true; 2]);
        assert_eq!(made(1, 20_000, &among), [false; 2]);
        assert_eq!(made(200, 20_000, &among), [false; 2]);
        assert_eq!(made(10_000, 60, &among), [false; 2]);
        assert_eq!(made(10_000, 20_000, &far), [false; 2]);
        assert!(!made(10_000, 2_000, &|_| Vec2::splat(20.0))[1]);
    }
}
