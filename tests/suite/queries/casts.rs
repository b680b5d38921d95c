//! Contract: rays, casts, overlaps, nearest surfaces and distances are those of a naive test of every shape in f64, for all shapes, in
//! worlds that are new, stepped, edited and asleep; a batch gives what its single queries give, on every instruction set and at every
//! number of threads.

use super::definition::{Moved, There, hull_of, shapes, signed};
use super::{BAND, Recipe, add, between, config, overlaps, recipe};
use crate::reference::hull::{Form, Hull, dvec};
use glam::DVec2;
use granule::{
    Assembly, BatchFirst, BatchHits, BodyDesc, BodyHandle, BodyPart, Filter, Hit, Isa, Material, Probe,
    QueryFilter, Ray, Settings, Shape, ShapeCast, Vec2, Visit, World, set_oversubscribe,
};
use proptest::prelude::*;
use std::f32::consts::PI;

/// Holds that hits are those of all shapes. `first` is the one that the query for the first hit gives.
fn check_hits(all: &[There], moved: &Moved, hits: &[Hit], first: Option<Hit>) -> Result<(), String> {
    let slack = 1e-5 + 2e-7 * moved.way.length();
    let within = |there: &There, fraction: f64| {
        let (earliest, latest) = moved.times(there);
        let length = moved.way.length().max(1e-9);
        earliest.is_some_and(|time| fraction >= time - slack / length)
            && latest.is_none_or(|time| fraction <= time + slack / length)
    };
    for there in all {
        let hit = hits.iter().find(|hit| (hit.body, hit.part) == (there.at.body, there.at.part));
        let Some(hit) = hit else {
            if moved.times(there).1.is_some() {
                return Err(format!("misses {:?}: {:?}, {:?}", there.at, there.form, moved.times(there)));
            }
            continue;
        };
        let fraction = f64::from(hit.fraction);
        if !within(there, fraction) {
            return Err(format!("{hit:?} is not at {:?}: {:?}", moved.times(there), there.form));
        }
        check_surface(there, moved, hit).map_err(|error| format!("{hit:?} of {:?}: {error}", there.form))?;
    }
    if !hits.is_sorted_by(|a, b| (a.fraction, a.body, a.part) < (b.fraction, b.body, b.part)) {
        return Err("the hits are out of order".to_owned());
    }
    if hits.first().copied() != first {
        return Err(format!("the first hit is {first:?}, of {:?}", hits.first()));
    }
    Ok(())
}

/// Holds that point and normal are those of the surface.
fn check_surface(there: &There, moved: &Moved, hit: &Hit) -> Result<(), String> {
    let (point, normal) = (dvec(hit.point), dvec(hit.normal));
    let touching = moved.at(f64::from(hit.fraction));
    let depth = signed(&there.form, &touching);
    if (normal.length() - 1.0).abs() > 1e-5 {
        return Err("the normal is no unit vector".to_owned());
    }
    let starts_inside = hit.fraction == 0.0 && depth < -BAND;
    let tolerance = 2e-4;
    if !(moved.is_ray && starts_inside) && there.form.distance(point).abs() > tolerance && depth.abs() < BAND
    {
        return Err(format!("the point is {} away from the surface", there.form.distance(point)));
    }
    // Moved along the normal, the two part by as much: that is so of the shortest way only.
    let by = if depth < 0.0 { -depth + 0.1 } else { 0.1 };
    let apart = Moved { way: by * normal, hull: touching, ..moved.clone() }.at(1.0);
    let parted = signed(&there.form, &apart);
    if (parted - depth - by).abs() > 1e-3 {
        return Err(format!("the normal parts {depth} to {parted}, by {by}"));
    }
    Ok(())
}

fn rays() -> impl Strategy<Value = Vec<Ray>> {
    let place = || (between(-12.0, 12.0), between(-12.0, 12.0)).prop_map(Vec2::from);
    let way = prop_oneof![
        4 => place(),
        1 => between(-30.0, 30.0).prop_map(|x| Vec2::new(x, 0.0)),
        1 => between(-30.0, 30.0).prop_map(|y| Vec2::new(0.0, y)),
        1 => place().prop_map(|way| 100.0 * way),
        1 => Just(Vec2::ZERO),
    ];
    prop::collection::vec((place(), way).prop_map(|(from, way)| Ray { from, way }), 1..24)
}

fn probe() -> impl Strategy<Value = Probe> {
    let place = (between(-12.0, 12.0), between(-12.0, 12.0)).prop_map(Vec2::from);
    let shape = prop_oneof![
        5 => super::part_shape(),
        1 => (between(0.1, 1.5), between(0.1, 1.5)).prop_map(|(x, y)| Shape::aabb(x, y)),
    ];
    (shape, place, between(-PI, PI)).prop_map(|(shape, position, angle)| Probe { shape, position, angle })
}

fn casts() -> impl Strategy<Value = Vec<ShapeCast>> {
    let way = prop_oneof![
        5 => (between(-12.0, 12.0), between(-12.0, 12.0)).prop_map(Vec2::from),
        1 => Just(Vec2::ZERO),
        1 => between(-30.0, 30.0).prop_map(|x| Vec2::new(x, 0.0)),
    ];
    prop::collection::vec((probe(), way).prop_map(|(probe, way)| ShapeCast { probe, way }), 1..12)
}

/// All questions of a test.
#[derive(Clone, Debug)]
pub struct Questions {
    pub rays: Vec<Ray>,
    pub casts: Vec<ShapeCast>,
}

pub fn questions() -> impl Strategy<Value = Questions> {
    (rays(), casts()).prop_map(|(rays, casts)| Questions { rays, casts })
}

/// All answers of a world, each by a single query.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    rays: Vec<Vec<Hit>>,
    first_rays: Vec<Option<Hit>>,
    casts: Vec<Vec<Hit>>,
    first_casts: Vec<Option<Hit>>,
    points: Vec<Vec<BodyPart>>,
    boxes: Vec<Vec<BodyPart>>,
    shapes: Vec<Vec<BodyPart>>,
    nearest: Vec<Option<granule::Nearest>>,
}

fn sorted(visit: impl FnOnce(&mut dyn FnMut(BodyPart) -> bool)) -> Vec<BodyPart> {
    let mut found = Vec::new();
    visit(&mut |at| {
        found.push(at);
        true
    });
    found.sort_unstable();
    found
}

impl Questions {
    fn probes(&self) -> Vec<Probe> {
        self.casts.iter().map(|cast| cast.probe).collect()
    }

    fn points(&self) -> Vec<Vec2> {
        self.rays.iter().map(|ray| ray.from).collect()
    }

    fn boxes(&self) -> Vec<[Vec2; 2]> {
        self.rays.iter().map(|ray| [ray.from, ray.from + ray.way.abs()]).collect()
    }

    pub fn single(&self, world: &World, filter: &QueryFilter<'_>) -> Answers {
        let all = |ray: &Ray| {
            let mut hits = Vec::new();
            world.cast_ray_all(ray, filter, &mut hits).unwrap();
            assert_eq!(world.cast_ray_any(ray, filter), Ok(!hits.is_empty()));
            let mut visited = Vec::new();
            world
                .cast_ray_visit(ray, filter, |hit| {
                    visited.push(hit);
                    Visit::Continue
                })
                .unwrap();
            assert_eq!(visited.len(), hits.len(), "a visitor sees each hit once");
            assert!(visited.iter().all(|hit| hits.contains(hit)));
            hits
        };
        let all_touched = |cast: &ShapeCast| {
            let mut hits = Vec::new();
            world.cast_shape_all(cast, filter, &mut hits).unwrap();
            hits
        };
        let point = |&at: &Vec2| sorted(|visit| world.overlap_point(at, filter, visit).unwrap());
        let in_box =
            |&[lower, upper]: &[Vec2; 2]| sorted(|visit| world.overlap_aabb(lower, upper, filter, visit));
        let shape = |probe: &Probe| sorted(|visit| world.overlap_shape(probe, filter, visit).unwrap());
        Answers {
            rays: self.rays.iter().map(all).collect(),
            first_rays: self.rays.iter().map(|ray| world.cast_ray(ray, filter).unwrap()).collect(),
            casts: self.casts.iter().map(all_touched).collect(),
            first_casts: self.casts.iter().map(|cast| world.cast_shape(cast, filter).unwrap()).collect(),
            points: self.points().iter().map(point).collect(),
            boxes: self.boxes().iter().map(in_box).collect(),
            shapes: self.probes().iter().map(shape).collect(),
            nearest: self.points().iter().map(|&at| world.nearest(at, 5.0, filter).unwrap()).collect(),
        }
    }

    pub fn batch(&self, world: &World, filter: &QueryFilter<'_>) -> Answers {
        let lists = |hits: &BatchHits<Hit>| hits.iter().map(<[Hit]>::to_vec).collect::<Vec<_>>();
        let parts = |hits: &BatchHits<BodyPart>| hits.iter().map(<[BodyPart]>::to_vec).collect::<Vec<_>>();
        let (mut hits, mut first) = (BatchHits::new(), BatchFirst::new());
        let (mut found, mut near) = (BatchHits::new(), BatchFirst::new());
        world.cast_rays_all(&self.rays, filter, &mut hits).unwrap();
        let rays = lists(&hits);
        world.cast_rays(&self.rays, filter, &mut first).unwrap();
        let first_rays = first.answers().to_vec();
        world.cast_shapes_all(&self.casts, filter, &mut hits).unwrap();
        let casts = lists(&hits);
        assert_eq!((hits.len(), hits.hits().len()), (self.casts.len(), *hits.offsets().last().unwrap()));
        world.cast_shapes(&self.casts, filter, &mut first).unwrap();
        world.overlap_points(&self.points(), filter, &mut found).unwrap();
        let points = parts(&found);
        world.overlap_aabbs(&self.boxes(), filter, &mut found);
        let boxes = parts(&found);
        world.overlap_shapes(&self.probes(), filter, &mut found).unwrap();
        world.nearest_to_points(&self.points(), 5.0, filter, &mut near).unwrap();
        Answers {
            rays,
            first_rays,
            casts,
            first_casts: first.answers().to_vec(),
            points,
            boxes,
            shapes: parts(&found),
            nearest: near.answers().to_vec(),
        }
    }

    /// Compares all answers with those of a test of every shape.
    pub fn check(&self, world: &World) -> Result<(), String> {
        let (all, answers) = (shapes(world), self.single(world, &QueryFilter::default()));
        for (i, ray) in self.rays.iter().enumerate() {
            check_hits(&all, &Moved::ray(ray), &answers.rays[i], answers.first_rays[i])
                .map_err(|error| format!("{ray:?}: {error}"))?;
        }
        for (i, cast) in self.casts.iter().enumerate() {
            check_hits(&all, &Moved::cast(cast), &answers.casts[i], answers.first_casts[i])
                .map_err(|error| format!("{cast:?}: {error}"))?;
        }
        for (i, &point) in self.points().iter().enumerate() {
            let hull = Hull { corners: vec![dvec(point)], radius: 0.0, upright: false };
            check_overlaps(&all, &hull, &answers.points[i])
                .map_err(|error| format!("at {point}: {error}"))?;
            check_nearest(&all, &hull, answers.nearest[i]).map_err(|error| format!("at {point}: {error}"))?;
        }
        for (i, probe) in self.probes().iter().enumerate() {
            check_overlaps(&all, &hull_of(probe), &answers.shapes[i])
                .map_err(|error| format!("{probe:?}: {error}"))?;
        }
        for (i, &[lower, upper]) in self.boxes().iter().enumerate() {
            let mut bodies = Vec::new();
            world.query_aabb(lower, upper, |body| {
                bodies.push(body);
                true
            });
            bodies.sort_unstable();
            let mut found: Vec<BodyHandle> = answers.boxes[i].iter().map(|at| at.body).collect();
            found.dedup();
            if bodies != found {
                return Err(format!("{lower} to {upper}: {found:?}, {bodies:?}"));
            }
            check_box(&all, [lower, upper].map(dvec), &answers.boxes[i])
                .map_err(|error| format!("{lower} to {upper}: {error}"))?;
        }
        Ok(())
    }
}

fn check_overlaps(all: &[There], hull: &Hull, found: &[BodyPart]) -> Result<(), String> {
    if !found.is_sorted_by(|a, b| a < b) {
        return Err("a shape is visited twice".to_owned());
    }
    if let Some(other) = found.iter().find(|at| !all.iter().any(|there| there.at == **at)) {
        return Err(format!("{other:?} is visited, and is not there"));
    }
    for there in all {
        let (distance, visited) = (signed(&there.form, hull), found.contains(&there.at));
        if distance.abs() > BAND && visited != (distance < 0.0) {
            return Err(format!("{:?} at {distance} is visited: {visited}", there.at));
        }
    }
    Ok(())
}

/// Holds that the shapes that a box overlaps are those of a test of each shape of each body.
fn check_box(all: &[There], [lower, upper]: [DVec2; 2], found: &[BodyPart]) -> Result<(), String> {
    if let Some(other) = found.iter().find(|at| !all.iter().any(|there| there.at == **at)) {
        return Err(format!("{other:?} is visited, and is not there"));
    }
    for there in all {
        let (expected, visited) =
            (overlaps(std::slice::from_ref(&there.form), lower, upper), found.contains(&there.at));
        if expected.is_some_and(|expected| expected != visited) {
            return Err(format!("{:?} is visited: {visited}; {:?}", there.at, there.form));
        }
    }
    Ok(())
}

fn check_nearest(all: &[There], hull: &Hull, found: Option<granule::Nearest>) -> Result<(), String> {
    let least = all.iter().map(|there| signed(&there.form, hull)).fold(f64::MAX, f64::min);
    let Some(found) = found else {
        return if least > 5.0 - BAND { Ok(()) } else { Err(format!("nothing is near, but at {least}")) };
    };
    let there = all.iter().find(|there| there.at == BodyPart { body: found.body, part: found.part }).unwrap();
    let distance = f64::from(found.distance);
    let at = hull.corners[0] - distance * dvec(found.normal);
    if (distance - least).abs() > BAND || (signed(&there.form, hull) - least).abs() > BAND {
        return Err(format!("{found:?}, but {least} is near"));
    }
    let (off, of_surface) = (at.distance(dvec(found.point)), there.form.distance(dvec(found.point)));
    if off > BAND || of_surface.abs() > BAND {
        return Err(format!("{found:?} is {off} off its normal, {of_surface} off the surface"));
    }
    Ok(())
}

/// A world of all kinds of things.
pub fn mixed(recipes: &[Recipe], isa: Isa) -> World {
    mixed_with(recipes, Settings { isa, ..Settings::default() })
}

pub fn mixed_with(recipes: &[Recipe], settings: Settings) -> World {
    let mut world = World::new(settings).unwrap();
    recipes.iter().for_each(|recipe| {
        add(&mut world, recipe);
    });
    let hills: Vec<Vec2> =
        (-6..=6).map(|i| Vec2::new(1.5 * i as f32, -5.0 + 0.3 * (i * i % 5) as f32)).collect();
    world.add_assembly(&Assembly::chain(&hills, false, Material::default()).unwrap()).unwrap();
    world.add_assembly(&Assembly::rope(Vec2::new(-3.0, 5.0), Vec2::new(3.0, 4.0), 10, 0.1)).unwrap();
    world
}

pub fn isas() -> impl Strategy<Value = Isa> {
    prop::sample::select(Isa::available().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(config(128))]

    /// In worlds that are new, that are stepped, and of which a part sleeps.
    #[test]
    fn answers_are_those_of_all_shapes(
        recipes in prop::collection::vec(recipe(), 1..60),
        questions in questions(),
        isa in isas(),
        asleep in 0usize..4,
    ) {
        let mut world = mixed(&recipes, isa);
        for step in 0..6 {
            let outcome = questions.check(&world);
            prop_assert!(outcome.is_ok(), "after {} steps: {}", step, outcome.unwrap_err());
            let single = questions.single(&world, &QueryFilter::default());
            prop_assert_eq!(questions.batch(&world, &QueryFilter::default()), single);
            world.step();
            if step == 2 {
                let bodies: Vec<_> = world.handles().collect();
                for body in bodies.into_iter().step_by(asleep + 1) {
                    let _ = world.sleep_body(body);
                }
            }
        }
    }

    /// After bodies are moved, turned, added and removed by hand.
    #[test]
    fn answers_follow_edits(
        recipes in prop::collection::vec(recipe(), 1..40),
        edits in prop::collection::vec((0u8..5, any::<prop::sample::Index>(), recipe()), 1..12),
        questions in questions(),
    ) {
        let mut world = mixed(&recipes, Isa::Auto);
        world.step();
        for (what, which, recipe) in edits {
            let bodies: Vec<_> = world.handles().collect();
            let body = bodies[which.index(bodies.len())];
            match what {
                0 => world.set_position(body, recipe.desc.position).unwrap(),
                1 => world.set_angle(body, recipe.desc.angle).unwrap(),
                2 => world.remove_body(body).unwrap(),
                _ => { add(&mut world, &recipe); }
            }
            for moment in ["before", "after"] {
                let outcome = questions.check(&world);
                prop_assert!(outcome.is_ok(), "{} the step: {}", moment, outcome.unwrap_err());
                let single = questions.single(&world, &QueryFilter::default());
                prop_assert_eq!(questions.batch(&world, &QueryFilter::default()), single);
                world.step();
            }
        }
    }

    /// A filter leaves out what it says, and nothing else: the answers are those among all answers that pass.
    #[test]
    fn filters_leave_out_what_they_say(
        recipes in prop::collection::vec(recipe(), 1..40),
        layers in prop::collection::vec((0u32..8, 0u32..8), 40),
        (category, mask) in (prop::sample::select(vec![1, 2, 3, u32::MAX]), prop::sample::select(vec![0, 1, 6, u32::MAX])),
        odd in any::<bool>(),
        questions in questions(),
    ) {
        let mut world = mixed(&recipes, Isa::Auto);
        let bodies: Vec<_> = world.handles().collect();
        for (&body, &(category, mask)) in bodies.iter().zip(&layers) {
            world.set_filter(body, Filter { category, mask, group: 0 }).unwrap();
        }
        let excluded = [bodies[0], bodies[bodies.len() / 2]];
        let accept = |body: BodyHandle, part: u8| !odd || (body.index() + u32::from(part)) % 2 == 1;
        let filter = QueryFilter { category, mask, excluded: &excluded, accept: Some(&accept) };
        let passes = |body: BodyHandle, part: u8| {
            let of = world.parts(body).unwrap()[usize::from(part)].filter;
            (mask == u32::MAX || mask & of.category != 0)
                && (category == u32::MAX || category & of.mask != 0)
                && !excluded.contains(&body)
                && accept(body, part)
        };
        for _ in 0..2 {
            let all = questions.single(&world, &QueryFilter::default());
            let some = questions.single(&world, &filter);
            prop_assert_eq!(&questions.batch(&world, &filter), &some);
            for (all, some) in all.rays.iter().chain(&all.casts).zip(some.rays.iter().chain(&some.casts)) {
                let left: Vec<_> = all.iter().filter(|hit| passes(hit.body, hit.part)).copied().collect();
                prop_assert_eq!(&left, some);
            }
            let lists = |answers: &Answers| [answers.points.clone(), answers.boxes.clone(), answers.shapes.clone()].concat();
            for (all, some) in lists(&all).iter().zip(&lists(&some)) {
                let left: Vec<_> = all.iter().filter(|at| passes(at.body, at.part)).copied().collect();
                prop_assert_eq!(&left, some);
            }
            for (first, hits) in some.first_rays.iter().zip(&some.rays) {
                prop_assert_eq!(*first, hits.first().copied());
            }
        }
    }

    /// The answers are the same on every instruction set and at every number of threads, single and in batches.
    #[test]
    fn one_answer_everywhere(
        recipes in prop::collection::vec(recipe(), 1..60),
        questions in questions(),
        steps in 0usize..4,
    ) {
        set_oversubscribe(true);
        let mut world = mixed(&recipes, Isa::Scalar);
        (0..steps).for_each(|_| world.step());
        let open = QueryFilter::default();
        let expected = questions.single(&world, &open);
        for isa in Isa::available() {
            world.set_isa(isa).unwrap();
            prop_assert_eq!(&questions.single(&world, &open), &expected);
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| questions.batch(&world, &open));
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    /// The distance of two shapes is that of the definition: the nearest points are on the surfaces and so far apart, and moving one shape
    /// by the distance along the normal makes them touch.
    #[test]
    fn distances_are_those_of_the_definition(a in probe(), b in probe()) {
        let found = a.distance(&b).unwrap();
        let [hull_a, hull_b] = [&a, &b].map(hull_of);
        let [form_a, form_b] = [&hull_a, &hull_b].map(|hull| Form::Hull(hull.clone()));
        let distance = f64::from(found.distance);
        prop_assert!((distance - signed(&form_a, &hull_b)).abs() < BAND, "{}", signed(&form_a, &hull_b));
        let [on_a, on_b, normal] = [found.point_a, found.point_b, found.normal].map(dvec);
        prop_assert!((on_a + distance * normal - on_b).length() < BAND);
        prop_assert!(distance < 0.0 || (form_a.distance(on_a).abs() < BAND && form_b.distance(on_b).abs() < BAND));
        let shifted = Moved { hull: hull_b, centre: DVec2::ZERO, way: -distance * normal, is_ray: false };
        prop_assert!(signed(&form_a, &shifted.at(1.0)).abs() < 2.0 * BAND);
        let back = b.distance(&a).unwrap();
        prop_assert!((back.distance - found.distance).abs() < 1e-4);
    }
}

/// A ray straight down onto the joint of two segments of a chain meets one of them: none slips through.
#[test]
fn no_ray_slips_through_a_chain() {
    for far in [0.0f32, 1.0e3, 1.0e5] {
        let point = |i: i32| Vec2::new(far + i as f32, far + 0.37 * ((i * i) % 7) as f32);
        let points: Vec<Vec2> = (-50..=50).map(point).collect();
        let mut world = World::new(Settings::default()).unwrap();
        world.add_assembly(&Assembly::chain(&points, false, Material::default()).unwrap()).unwrap();
        for _ in 0..2 {
            for point in &points[1..100] {
                let ray = Ray::new(*point + Vec2::new(0.0, 3.0), Vec2::new(0.0, -6.0));
                let hit = world.cast_ray(&ray, &QueryFilter::default()).unwrap();
                assert!(hit.is_some_and(|hit| (hit.fraction - 0.5).abs() < 0.02), "{ray:?}: {hit:?}");
                // From below it passes.
                let up = Ray::new(*point - Vec2::new(0.0, 2.0), Vec2::new(0.0, 5.0));
                assert_eq!(world.cast_ray(&up, &QueryFilter::default()).unwrap(), None);
            }
            world.step();
        }
    }
}

/// What clips, ignores and stops does so, and bad input is refused with an error that names it.
#[test]
fn visitors_clip_and_bad_input_is_refused() {
    let mut world = World::new(Settings::default()).unwrap();
    for i in 0..200 {
        let at = Vec2::new((i % 20) as f32 * 2.0, (i / 20) as f32 * 2.0);
        world.add_body(&BodyDesc::fixed(Shape::circle(0.5), at)).unwrap();
    }
    let open = QueryFilter::default();
    let ray = Ray::new(Vec2::new(-5.0, 4.0), Vec2::new(60.0, 0.0));
    for _ in 0..2 {
        let (mut last, mut visits) = (None, 0);
        let clip = |hit: Hit| {
            (last, visits) = (Some(hit), visits + 1);
            Visit::Clip(hit.fraction)
        };
        world.cast_ray_visit(&ray, &open, clip).unwrap();
        assert_eq!(last, world.cast_ray(&ray, &open).unwrap());
        let mut count = 0;
        let stop = |_| {
            count += 1;
            if count == 3 { Visit::Stop } else { Visit::Continue }
        };
        world.cast_ray_visit(&ray, &open, stop).unwrap();
        assert_eq!(count, 3);
        world.step();
    }
    let mut answers = BatchFirst::new();
    world.cast_rays(&[ray], &open, &mut answers).unwrap();
    let bad = Ray::new(Vec2::new(0.0, f32::NAN), Vec2::X);
    let error = world.cast_rays(&[ray, bad], &open, &mut answers).unwrap_err();
    assert!(error.to_string().starts_with("element 1: ray.from: NaN"), "{error}");
    assert_eq!(answers.answers().len(), 1, "the answers are those of before");
    let plane = Probe::new(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    assert!(world.overlap_shape(&plane, &open, |_| true).is_err());
    assert!(world.cast_shape(&ShapeCast { probe: plane, way: Vec2::X }, &open).is_err());
    assert!(world.nearest(Vec2::ZERO, -1.0, &open).is_err());
    assert!(world.overlap_point(Vec2::INFINITY, &open, |_| true).is_err());
}

/// A long ray through many bodies looks at few of them: the filter is asked for less than a hundredth of the bodies.
#[test]
fn a_long_ray_looks_at_few_bodies() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
    let descs: Vec<BodyDesc> = (0..20_000)
        .map(|i| Vec2::new((i % 142) as f32 * 3.0, (i / 142) as f32 * 3.0))
        .map(|at| BodyDesc::dynamic(Shape::circle(0.5), at))
        .collect();
    world.add_bodies(&descs).unwrap();
    world.step();
    let asked = AtomicUsize::new(0);
    let accept = |_, _| {
        asked.fetch_add(1, Ordering::Relaxed);
        true
    };
    let filter = QueryFilter { accept: Some(&accept), ..QueryFilter::default() };
    let (mut hits, mut single) = (Vec::new(), 0);
    let ray = Ray::new(Vec2::new(-10.0, -10.0), Vec2::new(430.0, 445.0));
    world.cast_ray_all(&ray, &filter, &mut hits).unwrap();
    assert!(
        hits.len() > 20 && asked.load(Ordering::Relaxed) < 200,
        "{} of {}",
        hits.len(),
        asked.load(Ordering::Relaxed)
    );
    for descs in descs.chunks(997) {
        let to = Ray::between(ray.from, descs[0].position);
        single += usize::from(world.cast_ray_any(&to, &filter).unwrap());
    }
    assert_eq!(single, 21);
}
