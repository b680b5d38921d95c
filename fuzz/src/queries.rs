//! Rays, casts, overlaps and distances: both worlds answer alike, a batch as its single queries, and bad input is refused.

use super::bytes::Bytes;
use super::describe;
use granule::{
    BatchFirst, BatchHits, BodyHandle, BodyPart, Hit, Mover, Nearest, Probe, QueryFilter, Ray, ShapeCast,
    Vec2, Visit, World,
};

/// What is asked. Any of it may be out of range.
struct Asked {
    rays: [Ray; 2],
    casts: [ShapeCast; 2],
    most: f32,
}

/// The first hit of each cast, and all of them.
type Hits = (Vec<Option<Hit>>, Vec<Vec<Hit>>);

/// All answers, in the form in which they are compared. `None` is a refusal.
#[derive(Debug, PartialEq)]
struct Answers {
    rays: Option<Hits>,
    casts: Option<Hits>,
    points: Option<Vec<Vec<BodyPart>>>,
    shapes: Option<Vec<Vec<BodyPart>>>,
    boxes: Vec<Vec<BodyPart>>,
    nearest: Option<Vec<Option<Nearest>>>,
}

fn lists<T: Clone>(answers: &BatchHits<T>) -> Vec<Vec<T>> {
    assert_eq!(answers.is_empty(), answers.iter().next().is_none());
    assert_eq!(answers.offsets().last().copied().unwrap_or(0), answers.hits().len());
    (0..answers.len()).map(|query| answers.of(query).to_vec()).collect()
}

impl Asked {
    fn points(&self) -> [Vec2; 2] {
        self.rays.map(|ray| ray.from)
    }

    fn boxes(&self) -> [[Vec2; 2]; 2] {
        self.rays.map(|ray| [ray.from, ray.from + ray.way])
    }

    fn probes(&self) -> [Probe; 2] {
        self.casts.map(|cast| cast.probe)
    }

    fn batch(&self, world: &World, filter: &QueryFilter<'_>) -> Answers {
        let (mut first, mut all) = (BatchFirst::new(), BatchHits::new());
        let (mut parts, mut near) = (BatchHits::new(), BatchFirst::new());
        let rays = world.cast_rays(&self.rays, filter, &mut first).ok().map(|()| {
            world.cast_rays_all(&self.rays, filter, &mut all).expect("the same rays");
            (first.answers().to_vec(), lists(&all))
        });
        let casts = world.cast_shapes(&self.casts, filter, &mut first).ok().map(|()| {
            world.cast_shapes_all(&self.casts, filter, &mut all).expect("the same casts");
            (first.answers().to_vec(), lists(&all))
        });
        let points = world.overlap_points(&self.points(), filter, &mut parts).ok().map(|()| lists(&parts));
        let shapes = world.overlap_shapes(&self.probes(), filter, &mut parts).ok().map(|()| lists(&parts));
        world.overlap_aabbs(&self.boxes(), filter, &mut parts);
        self.look_at_more(world, filter);
        let nearest = world.nearest_to_points(&self.points(), self.most, filter, &mut near);
        let nearest = nearest.ok().map(|()| near.answers().to_vec());
        Answers { rays, casts, points, shapes, boxes: lists(&parts), nearest }
    }

    /// Batches whose answers are no list of hits, against their single queries.
    fn look_at_more(&self, world: &World, filter: &QueryFilter<'_>) {
        let mut any = BatchFirst::new();
        if world.cast_rays_any(&self.rays, filter, &mut any).is_ok() {
            for (ray, answer) in self.rays.iter().zip(any.answers()) {
                assert_eq!(world.cast_ray_any(ray, filter), Ok(answer.is_some()));
            }
        }
        let mut bodies = BatchHits::new();
        world.overlap_bounds_many(&self.boxes(), filter, &mut bodies);
        for (&[lower, upper], found) in self.boxes().iter().zip(bodies.iter()) {
            let mut single = Vec::new();
            world.overlap_bounds(lower, upper, filter, |body| {
                single.push(body);
                true
            });
            single.sort_unstable_by_key(|body| body.index());
            assert_eq!(found, single);
        }
        let pairs: Vec<_> = world.handles().zip(world.handles().skip(1)).map(|(a, b)| [a, b]).collect();
        let mut distances = BatchFirst::new();
        if world.distances(&pairs, &mut distances).is_ok() {
            for (&[a, b], answer) in pairs.iter().zip(distances.answers()) {
                assert_eq!(world.distance(a, b).ok(), *answer);
            }
        }
    }

    fn single(&self, world: &World, filter: &QueryFilter<'_>) -> Answers {
        let ray = |ray: &Ray| {
            let mut hits = Vec::new();
            world.cast_ray_all(ray, filter, &mut hits).ok()?;
            let mut visits = 0;
            let visit = |_| {
                visits += 1;
                if visits > 2 { Visit::Stop } else { Visit::Continue }
            };
            world.cast_ray_visit(ray, filter, visit).ok()?;
            assert_eq!(visits, hits.len().min(3));
            assert_eq!(world.cast_ray_any(ray, filter), Ok(!hits.is_empty()));
            Some((world.cast_ray(ray, filter).ok()?, hits))
        };
        let cast = |cast: &ShapeCast| {
            let mut hits = Vec::new();
            world.cast_shape_all(cast, filter, &mut hits).ok()?;
            let mut visits = 0;
            let visit = |_| {
                visits += 1;
                Visit::Clip(1.0)
            };
            world.cast_shape_visit(cast, filter, visit).ok()?;
            assert_eq!(visits, hits.len());
            Some((world.cast_shape(cast, filter).ok()?, hits))
        };
        let sorted = |mut found: Vec<BodyPart>| {
            found.sort_unstable();
            found
        };
        let point = |&at: &Vec2| {
            let mut found = Vec::new();
            world
                .overlap_point(at, filter, |at| {
                    found.push(at);
                    true
                })
                .ok()?;
            Some(sorted(found))
        };
        let shape = |probe: &Probe| {
            let mut found = Vec::new();
            world
                .overlap_shape(probe, filter, |at| {
                    found.push(at);
                    true
                })
                .ok()?;
            Some(sorted(found))
        };
        let in_box = |&[lower, upper]: &[Vec2; 2]| {
            let (mut found, mut bodies) = (Vec::new(), Vec::new());
            world.overlap_aabb(lower, upper, filter, |at| {
                found.push(at);
                true
            });
            world.overlap_bounds(lower, upper, filter, |body| {
                bodies.push(body);
                true
            });
            assert!(found.iter().all(|at| bodies.contains(&at.body)), "shapes are in their bounds");
            sorted(found)
        };
        let nearest = self.points().map(|at| world.nearest(at, self.most, filter).ok());
        Answers {
            rays: self.rays.iter().map(ray).collect::<Option<Vec<_>>>().map(|all| all.into_iter().unzip()),
            casts: self.casts.iter().map(cast).collect::<Option<Vec<_>>>().map(|all| all.into_iter().unzip()),
            points: self.points().iter().map(point).collect(),
            shapes: self.probes().iter().map(shape).collect(),
            boxes: self.boxes().iter().map(in_box).collect(),
            nearest: nearest.into_iter().collect(),
        }
    }
}

/// Asks both worlds, by single queries and by batches.
pub fn compare(bytes: &mut Bytes, worlds: &[World; 2], body: BodyHandle) {
    let flags = bytes.byte();
    let (from, way, most) = (bytes.vector(), bytes.vector(), bytes.number());
    let shape = describe::part(bytes).shape;
    let probe = Probe { shape, position: from, angle: most };
    let asked = Asked {
        rays: [Ray { from, way }, Ray::between(way, from)],
        casts: [ShapeCast { probe, way }, ShapeCast { probe: Probe::new(shape, way), way: from }],
        most,
    };
    let filter = describe::filter(bytes);
    let excluded = [body];
    let accept = |body: BodyHandle, part: u8| !(body.index() + u32::from(part)).is_multiple_of(3);
    let filter = QueryFilter {
        category: if flags & 1 == 0 { u32::MAX } else { filter.category },
        mask: if flags & 2 == 0 { u32::MAX } else { filter.mask },
        excluded: if flags & 4 == 0 { &[] } else { &excluded },
        accept: if flags & 8 == 0 { None } else { Some(&accept) },
    };
    let [scalar, wide] = worlds;
    let single = asked.single(scalar, &filter);
    assert_eq!(asked.single(wide, &filter), single);
    assert_eq!(asked.batch(scalar, &filter), single);
    assert_eq!(asked.batch(wide, &filter), single);
    for hits in [&single.rays, &single.casts].into_iter().flatten().flat_map(|(_, all)| all) {
        for hit in hits {
            assert!((0.0..=1.0).contains(&hit.fraction), "{hit:?}");
            assert!((hit.normal.length() - 1.0).abs() < 1e-3 && hit.point.is_finite(), "{hit:?}");
            assert!(scalar.contains(hit.body), "{hit:?}");
        }
    }
    let other = scalar.handles().next().unwrap_or(body);
    let distance = scalar.distance(body, other);
    assert!(
        distance.is_err() || distance.as_ref().is_ok_and(|distance| distance.distance.is_finite()),
        "{distance:?}"
    );
    assert_eq!(wide.distance(body, other), distance);
    if let (Ok(a), Ok(b)) =
        (asked.casts[0].probe.distance(&asked.casts[1].probe), asked.casts[1].probe.distance(&probe))
    {
        assert!(a.distance.is_finite() && b.distance.is_finite(), "{a:?}, {b:?}");
    }
    let mut movers = [Mover { on_ground: flags & 16 != 0, ..Mover::new(probe) }; 2];
    let reports = [0, 1].map(|i| worlds[i].move_character(&mut movers[i], way, &filter));
    // By their texts: a refused NaN is not equal to itself.
    assert_eq!(format!("{:?}", reports[0]), format!("{:?}", reports[1]));
    assert_eq!(format!("{:?}", movers[0]), format!("{:?}", movers[1]));
    assert!(reports[0].is_err() || movers[0].probe.position.is_finite(), "{movers:?}");
}
