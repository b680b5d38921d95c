//! Contract: batches at many bodies, for which they make trees of their own, give what their single queries give: among bodies large and
//! small, moved, removed and added by hand; on every instruction set and at every number of threads.

use granule::{
    BatchFirst, BatchHits, BodyDesc, BodyHandle, Isa, Probe, QueryFilter, Ray, Shape, ShapeCast, Vec2, World,
    set_oversubscribe,
};

/// Numbers in 0..1 (a linear congruence modulo 2⁶⁴, by D. E. Knuth).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn point(&mut self, [lower, upper]: [Vec2; 2]) -> Vec2 {
        lower + (upper - lower) * Vec2::new(self.next(), self.next())
    }

    /// A length that is mostly short.
    fn length(&mut self, most: f32) -> f32 {
        most * self.next().powi(4)
    }

    fn way(&mut self, most: f32) -> Vec2 {
        self.length(most) * Vec2::from_angle(std::f32::consts::TAU * self.next())
    }
}

struct Questions {
    rays: Vec<Ray>,
    casts: Vec<ShapeCast>,
    points: Vec<Vec2>,
    probes: Vec<Probe>,
    boxes: Vec<[Vec2; 2]>,
}

impl Questions {
    fn new(random: &mut Random, count: usize, around: [Vec2; 2]) -> Questions {
        let size = (around[1] - around[0]).max_element();
        let shape = |i: usize, random: &mut Random| {
            let size = 0.05 + random.length(3.0);
            match i % 3 {
                0 => Shape::circle(size),
                1 => Shape::oriented_box(size, 0.5 * size),
                _ => Shape::capsule(size, 0.2),
            }
        };
        let points: Vec<Vec2> = (0..count).map(|_| random.point(around)).collect();
        let rays = points.iter().map(|&from| Ray::new(from, random.way(2.0 * size))).collect();
        let casts =
            (0..count).map(|i| ShapeCast::new(shape(i, random), points[i], random.way(size))).collect();
        let probes =
            (0..count).map(|i| Probe { angle: 0.1 * i as f32, ..Probe::new(shape(i, random), points[i]) });
        let probes = probes.collect();
        let mut boxes: Vec<_> = points
            .iter()
            .map(|&at| {
                let half = Vec2::new(random.length(size), random.length(size));
                [at - half, at + half]
            })
            .collect();
        boxes[0] = [Vec2::NEG_INFINITY, Vec2::INFINITY];
        boxes[1] = [Vec2::new(f32::NEG_INFINITY, 3.0), Vec2::new(0.0, 3.0)];
        boxes[2] = [Vec2::splat(1.0), Vec2::splat(-1.0)];
        boxes[3] = [Vec2::NAN, Vec2::splat(1.0)];
        Questions { rays, casts, points, probes, boxes }
    }

    /// All answers, as text.
    fn single(&self, world: &World, filter: &QueryFilter<'_>) -> Vec<String> {
        let mut said = Vec::new();
        let (mut hits, mut parts) = (Vec::new(), Vec::new());
        for ray in &self.rays {
            said.push(format!("{:?}", world.cast_ray(ray, filter).unwrap()));
            world.cast_ray_all(ray, filter, &mut hits).unwrap();
            said.push(format!("{hits:?}"));
        }
        for cast in &self.casts {
            said.push(format!("{:?}", world.cast_shape(cast, filter).unwrap()));
            world.cast_shape_all(cast, filter, &mut hits).unwrap();
            said.push(format!("{hits:?}"));
        }
        for &point in &self.points {
            said.push(format!("{:?}", world.nearest(point, 20.0, filter).unwrap()));
        }
        let mut sorted = |visit: &mut dyn FnMut(&mut Vec<granule::BodyPart>)| {
            parts.clear();
            visit(&mut parts);
            parts.sort_unstable();
            said.push(format!("{parts:?}"));
        };
        for &point in &self.points {
            sorted(&mut |parts| {
                world
                    .overlap_point(point, filter, |at| {
                        parts.push(at);
                        true
                    })
                    .unwrap();
            });
        }
        for probe in &self.probes {
            sorted(&mut |parts| {
                world
                    .overlap_shape(probe, filter, |at| {
                        parts.push(at);
                        true
                    })
                    .unwrap();
            });
        }
        for &[lower, upper] in &self.boxes {
            sorted(&mut |parts| {
                world.overlap_aabb(lower, upper, filter, |at| {
                    parts.push(at);
                    true
                })
            });
        }
        for &[lower, upper] in &self.boxes {
            let mut bodies = Vec::new();
            world.overlap_bounds(lower, upper, filter, |body| {
                bodies.push(body);
                true
            });
            bodies.sort_unstable_by_key(|body| body.index());
            said.push(format!("{bodies:?}"));
        }
        said.extend(self.rays.iter().map(|ray| format!("{:?}", world.cast_ray_any(ray, filter).unwrap())));
        said.extend(pairs(world).map(|[a, b]| format!("{:?}", world.distance(a, b).ok())));
        said
    }

    fn batch(&self, world: &World, filter: &QueryFilter<'_>) -> Vec<String> {
        let mut said = Vec::new();
        let (mut first, mut all) = (BatchFirst::new(), BatchHits::new());
        let (mut near, mut parts) = (BatchFirst::new(), BatchHits::new());
        world.cast_rays(&self.rays, filter, &mut first).unwrap();
        world.cast_rays_all(&self.rays, filter, &mut all).unwrap();
        for (first, all) in first.answers().iter().zip(all.iter()) {
            said.extend([format!("{first:?}"), format!("{all:?}")]);
        }
        world.cast_shapes(&self.casts, filter, &mut first).unwrap();
        world.cast_shapes_all(&self.casts, filter, &mut all).unwrap();
        for (first, all) in first.answers().iter().zip(all.iter()) {
            said.extend([format!("{first:?}"), format!("{all:?}")]);
        }
        world.nearest_to_points(&self.points, 20.0, filter, &mut near).unwrap();
        said.extend(near.answers().iter().map(|near| format!("{near:?}")));
        world.overlap_points(&self.points, filter, &mut parts).unwrap();
        said.extend(parts.iter().map(|parts| format!("{parts:?}")));
        world.overlap_shapes(&self.probes, filter, &mut parts).unwrap();
        said.extend(parts.iter().map(|parts| format!("{parts:?}")));
        world.overlap_aabbs(&self.boxes, filter, &mut parts);
        said.extend(parts.iter().map(|parts| format!("{parts:?}")));
        let (mut bodies, mut any, mut distances) = (BatchHits::new(), BatchFirst::new(), BatchFirst::new());
        world.overlap_bounds_many(&self.boxes, filter, &mut bodies);
        said.extend(bodies.iter().map(|bodies| format!("{bodies:?}")));
        world.cast_rays_any(&self.rays, filter, &mut any).unwrap();
        said.extend(any.answers().iter().map(|any| format!("{:?}", any.is_some())));
        world.distances(&pairs(world).collect::<Vec<_>>(), &mut distances).unwrap();
        said.extend(distances.answers().iter().map(|distance| format!("{distance:?}")));
        said
    }
}

/// Pairs of bodies that have a distance.
fn pairs(world: &World) -> impl Iterator<Item = [BodyHandle; 2]> + '_ {
    let pairs = world.handles().zip(world.handles().skip(7)).map(|(a, b)| [a, b]);
    pairs.filter(|&[a, b]| world.distance(a, b).is_ok()).take(500)
}

fn check(world: &mut World, questions: &Questions, what: &str) {
    let odd = |body: BodyHandle, _part: u8| body.index() % 2 == 1;
    let filters = [QueryFilter::default(), QueryFilter { accept: Some(&odd), ..QueryFilter::default() }];
    for (i, filter) in filters.iter().enumerate() {
        let expected = questions.single(world, filter);
        for isa in Isa::available() {
            world.set_isa(isa).unwrap();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| questions.batch(world, filter));
                let differs = expected.iter().zip(&found).find(|(expected, found)| expected != found);
                assert!(differs.is_none(), "{what}, filter {i}, {isa:?}, {threads} threads: {differs:?}");
                assert_eq!(expected.len(), found.len());
            }
        }
    }
}

/// Contract: the answers of batches are those of single queries, bit by bit, at 5,000 bodies of all shapes: after a step, after edits by
/// hand, and far from the origin.
#[test]
fn batches_are_their_single_queries_at_many_bodies() {
    set_oversubscribe(true);
    for (scene, origin) in [("mixed_shapes", Vec2::ZERO), ("junkyard", Vec2::new(3.0e4, -2.0e4))] {
        let mut random = Random(7);
        let scene = granule::scene::builtin(scene, 5_000, 1).unwrap();
        let mut world = World::new(scene.settings).unwrap();
        let moved = |desc: &BodyDesc| BodyDesc { position: desc.position + origin, ..*desc };
        let handles: Vec<_> = scene.bodies.iter().map(|desc| world.add_body(&moved(desc)).unwrap()).collect();
        for parts in scene.parts.chunk_by(|a, b| a.0 == b.0) {
            let body = handles[parts[0].0];
            world.add_parts(body, &parts.iter().map(|&(_, part)| part).collect::<Vec<_>>()).unwrap();
        }
        (0..3).for_each(|_| world.step());
        let around = [origin + Vec2::new(-70.0, -5.0), origin + Vec2::new(70.0, 60.0)];
        // So many that a tree pays for each kind of query.
        let questions = Questions::new(&mut random, 1_000, around);
        check(&mut world, &questions, "stepped");
        for i in (0..handles.len()).step_by(97) {
            let to = random.point(around);
            match i % 3 {
                0 => world.remove_body(handles[i]).unwrap(),
                1 => world.set_position(handles[i], to).unwrap(),
                _ => {
                    world.add_body(&BodyDesc::dynamic(Shape::capsule(0.3, 0.2), to)).unwrap();
                }
            }
        }
        check(&mut world, &questions, "edited");
    }
}

/// Contract: the same in small worlds of all kinds of bodies, large and small, dense enough for a tree: new, stepped and edited, near the
/// origin and far away.
#[test]
fn batches_are_their_single_queries_in_dense_worlds() {
    set_oversubscribe(true);
    for seed in 0..9 {
        let mut random = Random(seed);
        let origin = [0.0, 1.0e4, -1.0e5][seed as usize % 3] * Vec2::new(1.0, -0.5);
        let around = [origin - 12.0, origin + 12.0];
        let mut world = World::new(granule::Settings::default()).unwrap();
        let any = |random: &mut Random, i: usize| {
            let (size, at) = (0.05 + random.length(6.0), random.point(around));
            let shape = match i % 7 {
                0 => Shape::circle(size),
                1 => Shape::oriented_box(size, 0.3),
                2 => Shape::capsule(size, 0.1),
                3 => Shape::segment(size),
                4 => Shape::particle(0.1),
                5 => Shape::aabb(size, 0.2),
                _ => Shape::Polygon(granule::Polygon::regular(5, size).unwrap()),
            };
            let angle = 6.0 * random.next() - 3.0;
            let desc = BodyDesc { angle, mass: Some(1.0), ..BodyDesc::dynamic(shape, at) };
            if i.is_multiple_of(3) {
                BodyDesc { mass: None, body_type: granule::BodyType::Static, ..desc }
            } else {
                desc
            }
        };
        for i in 0..400 {
            let desc = any(&mut random, i);
            let desc = if i % 7 == 4 { BodyDesc { angle: 0.0, ..desc } } else { desc };
            world.add_body(&desc).unwrap();
        }
        let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, -11.0), origin);
        world.add_body(&floor).unwrap();
        let points: Vec<Vec2> = (-8..=8).map(|x| origin + Vec2::new(x as f32, (x * x % 5) as f32)).collect();
        let hills = granule::Assembly::chain(&points, false, granule::Material::default()).unwrap();
        world.add_assembly(&hills).unwrap();
        (0..seed % 4).for_each(|_| world.step());
        let questions = Questions::new(&mut random, 400, around);
        check(&mut world, &questions, &format!("seed {seed}"));
        let bodies: Vec<_> = world.handles().collect();
        for &body in bodies.iter().step_by(23) {
            let _ = world.set_position(body, random.point(around));
        }
        for i in 0..40 {
            world.add_body(&any(&mut random, 7 * i)).unwrap();
        }
        check(&mut world, &questions, &format!("seed {seed}, edited"));
    }
}
