//! Piles that stand, at the default substeps.

use super::*;
use granule::{BodyType, scene};

/// Steps a world for `seconds`. Checks that none of the bodies moves sideways by more than 1 cm, turns, or sinks into
/// another by more than `depth`.
fn stands(world: &mut World, bodies: &[BodyHandle], seconds: u32, depth: f64) {
    let start: Vec<_> = bodies.iter().map(|&body| state(world, body)).collect();
    for second in 1..=seconds {
        steps(world, 60);
        for (&body, start) in bodies.iter().zip(&start) {
            let now = state(world, body);
            let drift = (now.position.x - start.position.x).abs();
            assert!(drift < 0.01, "drifted {drift} m after {second} s: {now:?}, was {start:?}");
            assert!(
                (now.angle - start.angle).abs() < 0.03,
                "turned after {second} s: {now:?}, was {start:?}"
            );
        }
        let quality = world.quality();
        assert!(quality.max_penetration < depth, "after {second} s: {quality:?}");
    }
    let quality = world.quality();
    assert!(quality.rms_speed < 0.01, "it moves still: {quality:?}");
}

/// A stack of 20 boxes stands for 20 s with less than 1 cm of sideways drift.
#[test]
fn stack_of_twenty_boxes_stands() {
    on_both_sets(|settings| {
        let polygon = rectangle(0.5, 0.5);
        for ground in floors(5.0, rough(0.6)) {
            for shape in [Shape::oriented_box(0.5, 0.5), polygon] {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let boxes: Vec<_> = (0..20)
                    .map(|i| BodyDesc {
                        material: rough(0.6),
                        ..BodyDesc::dynamic(shape, Vec2::new(0.0, 0.5 + i as f32))
                    })
                    .map(|desc| world.add_body(&desc).unwrap())
                    .collect();
                stands(&mut world, &boxes, 20, 0.05);
                let top = state(&world, boxes[19]).position.y;
                assert!(top > 19.0, "the stack has sunk: {top}");
            }
        }
    });
}

/// The pyramid of Box2D's benchmark: unit boxes side by side, `base` of them in the bottom row.
fn pyramid(world: &mut World, base: usize) -> Vec<BodyHandle> {
    let ground = BodyDesc::fixed(Shape::oriented_box(base as f32, 1.0), Vec2::new(0.0, -1.0));
    world.add_body(&BodyDesc { material: rough(0.6), ..ground }).unwrap();
    let mut bodies = Vec::new();
    for row in 0..base {
        for column in 0..base - row {
            let at = Vec2::new(column as f32 + 0.5 * (row as f32 - base as f32 + 1.0), row as f32 + 0.5);
            let desc =
                BodyDesc { material: rough(0.6), ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), at) };
            bodies.push(world.add_body(&desc).unwrap());
        }
    }
    bodies
}

/// Steps a world for ten seconds, in which a pile that was built without a load takes up its load. Checks that none of
/// the bodies moves sideways by more than `most` meanwhile.
fn settles(world: &mut World, bodies: &[BodyHandle], most: f32) {
    let start: Vec<_> = bodies.iter().map(|&body| state(world, body).position.x).collect();
    steps(world, 600);
    let moved = |(&body, x): (&BodyHandle, f32)| (state(world, body).position.x - x).abs();
    let drift = bodies.iter().zip(start).map(moved).fold(0.0, f32::max);
    assert!(drift < most, "drifted {drift} m while it settled");
}

/// A pyramid of base 20 stands for 20 s with less than 1 cm of sideways drift after it has taken up its load (and moved
/// 2 cm aside meanwhile).
#[test]
fn pyramid_of_base_20_stands() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        let bodies = pyramid(&mut world, 20);
        assert_eq!(bodies.len(), 210);
        settles(&mut world, &bodies, 0.03);
        stands(&mut world, &bodies, 20, 0.05);
    });
}

/// A pyramid of base 100 stands for 20 s with less than 1 cm of sideways drift after it has taken up its load (its rows
/// spread by less than 6 cm meanwhile).
#[test]
fn pyramid_of_base_100_stands() {
    let mut world = world(Settings::default());
    let bodies = pyramid(&mut world, 100);
    assert_eq!(bodies.len(), 5050);
    settles(&mut world, &bodies, 0.06);
    stands(&mut world, &bodies, 20, 0.2);
}

/// With 16 substeps the pyramid of base 100 stands for 20 s with less than 1 cm of sideways drift from its first step
/// on, the take-up of its load included: a contact yields by its load over m·ω², and ω grows with the rate of the
/// substeps.
#[test]
fn pyramid_of_base_100_takes_its_load_in_place() {
    let mut world = world(Settings { substeps: 16, ..Settings::default() });
    let bodies = pyramid(&mut world, 100);
    stands(&mut world, &bodies, 20, 0.01);
}

/// A heavy box, 100:1, does not sink through a light one in 10 s, whether it has the same size or is larger.
#[test]
fn heavy_box_on_a_light_one_does_not_sink_through() {
    on_both_sets(|settings| {
        for ground in floors(5.0, rough(0.6)) {
            for (half, density) in [(0.5f32, 100.0f32), (1.0, 25.0)] {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let block = |half: f32, y: f32, density: f32| BodyDesc {
                    material: Material::new(density, 0.6, 0.0),
                    ..BodyDesc::dynamic(Shape::oriented_box(half, half), Vec2::new(0.0, y))
                };
                let light = world.add_body(&block(0.5, 0.5, 1.0)).unwrap();
                let heavy = world.add_body(&block(half, 1.0 + half, density)).unwrap();
                assert_close("mass", world.mass(heavy).unwrap(), 100.0, 1e-3, &settings);
                stands(&mut world, &[light, heavy], 10, 0.1);
                let (low, high) = (state(&world, light).position.y, state(&world, heavy).position.y);
                assert!(low > 0.4 && high - low > 0.4 + half, "{low} {high}");
            }
        }
    });
}

/// A brick wall of staggered capsules and boxes at rest loses its energy and does not regain it.
#[test]
fn mixed_pile_comes_to_rest() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        world.add_body(&floor(rough(0.6))).unwrap();
        for x in [-3.2f32, 3.2] {
            world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.2, 6.0), Vec2::new(x, 6.0))).unwrap();
        }
        let shapes = [
            Shape::oriented_box(0.4, 0.2),
            Shape::capsule(0.3, 0.2),
            Shape::circle(0.3),
            Shape::Polygon(Polygon::regular(5, 0.35).unwrap()),
            Shape::Polygon(Polygon::regular(3, 0.4).unwrap()),
        ];
        let bodies: Vec<_> = (0..60)
            .map(|i| BodyDesc {
                angle: i as f32,
                material: Material { rolling_resistance: 0.05, ..rough(0.6) },
                ..BodyDesc::dynamic(shapes[i % 5], Vec2::new((i % 6) as f32 - 2.5, 0.5 + (i / 6) as f32))
            })
            .map(|desc| world.add_body(&desc).unwrap())
            .collect();
        steps(&mut world, 900);
        let quality = world.quality();
        assert!(quality.rms_speed < 1.0e-3 && quality.mean_penetration < 0.003, "{quality:?}");
        assert!(quality.max_penetration < 0.02, "{quality:?}");
        for &body in &bodies {
            let at = state(&world, body).position;
            assert!(at.y > 0.1 && at.x.abs() < 3.0, "a body left the bin: {at}");
        }
        assert!(world.quarantined().is_empty());
    });
}

/// Builds one of the built-in scenes. Returns the world and the handles of its dynamic bodies.
fn built_in(name: &str, bodies: usize) -> (World, Vec<BodyHandle>) {
    let Some(scene) = scene::builtin(name, bodies, 1) else { panic!("no scene called {name}") };
    let world = scene.build().unwrap();
    let dynamic = (0..scene.bodies.len()).filter(|&i| scene.bodies[i].body_type == BodyType::Dynamic);
    let handles = dynamic.map(|i| scene.handle(i)).collect();
    (world, handles)
}

/// The card house stands for 20 s with less than 1 cm of sideways drift.
#[test]
fn card_house_stands() {
    let (mut world, cards) = built_in("card_house", 40);
    stands(&mut world, &cards, 20, 0.02);
}

/// The arch stands for 20 s with less than 1 cm of sideways drift.
#[test]
fn arch_stands() {
    let (mut world, stones) = built_in("arch", 40);
    stands(&mut world, &stones, 20, 0.05);
}

/// Dominoes fall one after the other, in the order of their row.
#[test]
fn dominoes_fall_in_order() {
    let (mut world, bodies) = built_in("dominoes", 40);
    let upright = |&body: &BodyHandle| match world.shape(body).unwrap() {
        Shape::Box { half_extents } => half_extents.y > 2.0 * half_extents.x,
        _ => false,
    };
    // The dominoes by row height, each row from left to right.
    let mut dominoes: Vec<_> =
        bodies.into_iter().filter(upright).map(|body| (state(&world, body), body)).collect();
    dominoes.sort_by(|(a, _), (b, _)| {
        let height = |state: &BodyState| (10.0 * state.position.y).round();
        height(a).total_cmp(&height(b)).then(a.position.x.total_cmp(&b.position.x))
    });
    assert!(dominoes.len() >= 30, "{} dominoes", dominoes.len());
    let mut fell = vec![None; dominoes.len()];
    for step in 0..3600 {
        world.step();
        for (fell, (start, body)) in fell.iter_mut().zip(&dominoes) {
            if fell.is_none() && (state(&world, *body).angle - start.angle).abs() > 0.3 {
                *fell = Some(step);
            }
        }
    }
    let rows = |i: usize, j: usize| (dominoes[i].0.position.y - dominoes[j].0.position.y).abs() < 0.1;
    let mut first = 0;
    for next in 1..=dominoes.len() {
        if next < dominoes.len() && rows(first, next) {
            continue;
        }
        let order: Vec<_> = fell[first..next].iter().map(|step| step.unwrap_or(u32::MAX)).collect();
        assert!(order.len() > 5 && !order.contains(&u32::MAX), "some stand still: {order:?}");
        assert!(order.is_sorted() || order.iter().rev().is_sorted(), "not in order: {order:?}");
        assert!(order[0].abs_diff(order[order.len() - 1]) > 30, "all at once: {order:?}");
        first = next;
    }
}

/// Ten planks, one on the other, come to rest: of one box each, or of eight with four iterations. With one iteration those of eight boxes sway.
/// (`docs/embedding.md` has the figures.)
#[test]
fn stacks_of_planks_stay_up() {
    for (boxes, iterations, [far, fast]) in [(1u8, 1, [0.05, 0.4]), (8, 4, [0.01, 0.1]), (8, 1, [0.5, 0.65])]
    {
        let mut world = world(Settings { iterations, ..Settings::default() });
        world.add_body(&floor(Material::default())).unwrap();
        let half = 2.0 / f32::from(boxes);
        let planks: Vec<_> = (0..10u8)
            .map(|level| {
                let place = Vec2::new(half - 2.0, 0.25 + 0.5 * f32::from(level));
                let plank = world.add_body(&BodyDesc::dynamic(rectangle(half, 0.25), place)).unwrap();
                let others = (1..boxes).map(|i| Vec2::new(2.0 * half * f32::from(i), 0.0));
                let parts: Vec<_> = others.map(|place| Part::new(rectangle(half, 0.25), place)).collect();
                world.add_parts(plank, &parts).unwrap();
                (plank, state(&world, plank).position)
            })
            .collect();
        let (mut moved, mut speed) = (0.0f32, 0.0f32);
        for _ in 0..1_200 {
            world.step();
            for &(plank, start) in &planks {
                let now = state(&world, plank);
                (moved, speed) = (moved.max(now.position.distance(start)), speed.max(now.velocity.length()));
            }
        }
        let awake = world.awake_count();
        println!(
            "{boxes} boxes, {iterations} iterations: moved by {moved} m, at {speed} m/s, {awake} awake after 20 s"
        );
        assert!(
            moved < far && speed < fast,
            "{boxes} boxes, {iterations} iterations: {moved} m, {speed} m/s"
        );
        assert!(
            boxes == 8 && iterations == 1 || awake == 0,
            "{boxes} boxes, {iterations} iterations: {awake} awake"
        );
    }
}
