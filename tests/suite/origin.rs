//! Contract: a world whose origin is shifted goes on as it was, elsewhere.

use crate::common::{state, steps, weightless, world};
use granule::{
    BodyDesc, BodyHandle, Error, Explosion, Isa, JointDesc, Mover, Part, Polygon, Probe, QueryFilter, Ray,
    Settings, Shape, Spring, Vec2, World, scene,
};
use proptest::prelude::*;

/// So far that a coordinate has steps of 2⁻¹⁰ m.
const FAR: Vec2 = Vec2::new(8_192.0, -4_096.0);

/// A shape of each kind, with sizes that are sums of few powers of two.
fn shape(number: usize) -> Shape {
    match number % 7 {
        0 => Shape::circle(0.5),
        1 => Shape::aabb(0.5, 0.375),
        2 => Shape::oriented_box(0.5, 0.25),
        3 => Shape::capsule(0.25, 0.25),
        4 => Shape::Polygon(Polygon::regular(5, 0.5).unwrap()),
        5 => Shape::particle(0.25),
        _ => Shape::segment(0.5),
    }
}

/// A heap of all shapes, on a half-space and between walls, with joints of which one pulls to a place in the world, about `origin`.
/// Coordinates are whole quarters of a metre from there.
fn heap(origin: Vec2, settings: Settings) -> (World, Vec<BodyHandle>) {
    let mut world = world(settings);
    let mut bodies = Vec::new();
    let mut add = |desc: BodyDesc| {
        let handle = world.add_body(&desc).unwrap();
        bodies.push(handle);
        handle
    };
    add(BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), origin));
    for side in [-1.0, 1.0] {
        add(BodyDesc::fixed(Shape::oriented_box(0.5, 8.0), origin + Vec2::new(8.0 * side, 8.0)));
    }
    let lift = BodyDesc::kinematic(Shape::oriented_box(2.0, 0.25), origin + Vec2::new(0.0, 6.0));
    let lift = add(BodyDesc { angular_velocity: 1.0, ..lift });
    let mut dynamic = Vec::new();
    for i in 0..70 {
        let place = Vec2::new((i % 10) as f32 * 1.25 - 5.5, 1.0 + (i / 10) as f32 * 1.5);
        dynamic.push(add(BodyDesc::dynamic(shape(i), origin + place)));
    }
    let mass = add(BodyDesc::dynamic(Shape::circle(0.5), origin + Vec2::new(0.0, 20.0)));
    let knobs = [1.0, -1.0].map(|side| Part::new(Shape::circle(0.25), side * Vec2::new(0.5, 0.25)));
    world.add_parts(dynamic[2], &knobs).unwrap();
    let hook =
        JointDesc::target(mass, Vec2::ZERO, origin + Vec2::new(0.0, 21.0), Spring::new(4.0, 1.0), 1.0e4);
    world.add_joint(&hook).unwrap();
    world.add_joint(&JointDesc::revolute(dynamic[60], dynamic[61], Vec2::X, -0.25 * Vec2::X)).unwrap();
    world.set_kinematic_target(lift, origin + Vec2::new(0.25, 6.0), 0.25).unwrap();
    (world, bodies)
}

/// Contract: a world that was built far out and then shifted is the world that was built here, bit for bit.
#[test]
fn built_elsewhere() {
    for settings in [Settings::default(), Settings { sleep: false, continuous: false, ..Settings::default() }]
    {
        let (mut here, _) = heap(Vec2::ZERO, settings);
        let (mut there, _) = heap(FAR, settings);
        there.shift_origin(FAR).unwrap();
        there.validate().unwrap();
        for step in 0..300 {
            assert_eq!(
                here.state_hash(),
                there.state_hash(),
                "before step {step}: {:?}",
                here.first_difference(&there)
            );
            here.step();
            there.step();
        }
    }
}

/// Contract: a shift in mid-course moves each body by just as much, changes no velocity, and carries contacts, their points and impulses, what
/// sleeps, and the last events along.
#[test]
fn in_mid_course() {
    let (mut world, bodies) = heap(FAR, Settings::default());
    world.set_hit_events(Some(0.0)).unwrap();
    world.set_move_events(true);
    for step in 0..600 {
        world.step();
        if step % 50 != 49 {
            continue;
        }
        let before = bodies.iter().map(|&body| state(&world, body)).collect::<Vec<_>>();
        let contacts: Vec<_> = world.contacts().collect();
        let (hits, moves) = (world.hit_events().to_vec(), world.move_events().to_vec());
        let counts = (world.asleep_count(), world.sleep_events().to_vec(), world.wake_events().to_vec());
        world.shift_origin(FAR).unwrap();
        world.validate().unwrap();
        for (&body, before) in bodies.iter().zip(&before) {
            let after = state(&world, body);
            assert_eq!(after.position, before.position - FAR, "exact, in steps of {}", f32::EPSILON * FAR.x);
            assert_eq!((after.velocity, after.angle), (before.velocity, before.angle));
        }
        assert!(world.contacts().count() == contacts.len() && contacts.len() > 50);
        for (after, before) in world.contacts().zip(&contacts) {
            assert_eq!((after.a, after.b, after.normal_impulse), (before.a, before.b, before.normal_impulse));
            assert!((after.point + FAR - before.point).length() < 4.0e-3, "{after:?}, {before:?}");
        }
        assert_eq!(
            (world.asleep_count(), world.sleep_events().to_vec(), world.wake_events().to_vec()),
            counts
        );
        assert!(world.hit_events().iter().map(|hit| hit.point + FAR).eq(hits.iter().map(|hit| hit.point)));
        assert!(
            world.move_events().iter().map(|to| to.position + FAR).eq(moves.iter().map(|to| to.position))
        );
        // And back, which is exact as well: these are the digits that there are.
        world.shift_origin(-FAR).unwrap();
        assert!(bodies.iter().zip(&before).all(|(&body, before)| state(&world, body) == *before));
    }
}

/// Contract: what rests goes on resting: a shift makes no contact begin or end, and leaves asleep what sleeps.
#[test]
fn rests_on() {
    let mut world = scene::builtin("packed", 500, 1).unwrap().build().unwrap();
    let mut with_sleep = *world.settings();
    with_sleep.sleep = true;
    world.set_settings(with_sleep).unwrap();
    steps(&mut world, 1_500);
    let asleep = world.asleep_count();
    assert!(asleep > 450, "{asleep} sleep");
    // Within the same digits.
    for by in [Vec2::new(1.0, 0.0), Vec2::new(-1.0, 0.0)] {
        let pressed: f32 = world.contacts().map(|contact| contact.normal_impulse).sum();
        world.shift_origin(by).unwrap();
        let (begin, end) = (world.begin_events().len(), world.end_events().len());
        assert_eq!((begin, end), (0, 0));
        steps(&mut world, 2);
        assert_eq!((world.begin_events().len(), world.end_events().len()), (0, 0));
        assert!(world.asleep_count() >= asleep);
        let still: f32 = world.contacts().map(|contact| contact.normal_impulse).sum();
        assert!((still - pressed).abs() < 0.02 * pressed, "{still}, {pressed} before");
    }
}

/// Contract: queries, fields and the character mover see the bodies in their new places at once, before the next step.
#[test]
fn queries_see_it_at_once() {
    let (mut world, bodies) = heap(FAR, Settings::default());
    steps(&mut world, 100);
    let filter = QueryFilter::default();
    let rays = |by: Vec2| {
        (0..40).map(move |i| Ray::new(by + Vec2::new(i as f32 * 0.5 - 10.0, 30.0), Vec2::new(1.0, -40.0)))
    };
    let cast = |world: &World, by: Vec2| {
        rays(by)
            .map(|ray| world.cast_ray(&ray, &filter).unwrap().map(|hit| ((hit.body, hit.part), hit.fraction)))
            .collect::<Vec<_>>()
    };
    let around = |world: &World, by: Vec2| {
        let mut found = Vec::new();
        let probe = Probe::new(Shape::aabb(3.0, 2.0), by + Vec2::new(0.0, 2.0));
        world
            .overlap_shape(&probe, &filter, |what| {
                found.push(what);
                true
            })
            .unwrap();
        found.sort_unstable_by_key(|what| (what.body, what.part));
        found
    };
    let (hits, found) = (cast(&world, FAR), around(&world, FAR));
    assert!(hits.iter().flatten().count() > 10 && found.len() > 5);
    world.shift_origin(FAR).unwrap();
    for _ in 0..2 {
        let shifted = cast(&world, Vec2::ZERO);
        for (shifted, hit) in shifted.iter().zip(&hits) {
            assert_eq!(shifted.map(|(what, _)| what), hit.map(|(what, _)| what));
            let times = [shifted, hit].map(|hit| hit.map_or(0.0, |(_, fraction)| fraction));
            assert!((times[0] - times[1]).abs() < 1.0e-3, "{times:?}");
        }
        assert_eq!(around(&world, Vec2::ZERO), found);
        // A body that is put elsewhere beside it, and the same again.
        let ball = bodies[bodies.len() - 1];
        let place = state(&world, ball).position;
        world.set_position(ball, place).unwrap();
    }
    let mut mover = Mover::new(Probe::new(Shape::circle(0.5), Vec2::new(-10.0, 0.6)));
    let report = world.move_character(&mut mover, Vec2::new(2.0, 0.0), &filter).unwrap();
    assert!((-9.1..-9.0).contains(&mover.probe.position.x), "the wall stops it: {report:?}");
    let hit = world.explode(&Explosion::new(Vec2::new(0.0, 2.0), 4.0, 10.0)).unwrap();
    assert!(hit > 5, "{hit} bodies");
}

/// Contract: a pyramid stands at 4 km and at 16 km about as it does at the origin.
#[test]
fn accuracy() {
    // Places at one distance: how fast the boxes creep is chance, of roundings of places. (At 4,096 m the left half lies below a power of two, where
    // places are twice as fine.) So the bound of the speed is one of the mean.
    for (places, most, fastest) in
        [(&[0.0][..], 5.5e-3, 1.0e-4), (&[4_096.0, 4_109.0], 7.0e-3, 0.01), (&[16_000.0], 0.011, 0.1)]
    {
        let mut mean_speed = 0.0;
        for &far in places {
            let origin = Vec2::splat(far);
            let mut world = world(Settings { sleep: false, ..Settings::default() });
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), origin)).unwrap();
            let mut boxes = Vec::new();
            for row in 0..10 {
                for i in 0..10 - row {
                    let place = Vec2::new(i as f32 * 1.1 + row as f32 * 0.55, 0.5 + row as f32);
                    let desc = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), origin + place);
                    boxes.push((world.add_body(&desc).unwrap(), origin + place));
                }
            }
            steps(&mut world, 600);
            let states = || boxes.iter().map(|&(body, start)| (state(&world, body), start));
            let shifted = states().map(|(now, start)| now.position.distance(start)).fold(0.0, f32::max);
            let speed = states().map(|(now, _)| now.velocity.length()).fold(0.0, f32::max);
            println!("at {far} m: shifted by {shifted} m, at most {speed} m/s");
            assert!(shifted < most, "at {far} m: {shifted} m");
            mean_speed += speed / places.len() as f32;
        }
        assert!(mean_speed < fastest, "at {places:?} m: {mean_speed} m/s");
    }
}

/// Contract: what is refused changes nothing, and says what and where.
#[test]
fn refused() {
    let (mut world, bodies) = heap(Vec2::ZERO, Settings::default());
    steps(&mut world, 20);
    let hash = world.state_hash();
    for bad in [f32::NAN, f32::INFINITY, -3.0 * World::MAX_COORDINATE] {
        assert!(matches!(
            world.shift_origin(Vec2::new(0.0, bad)),
            Err(Error::OutOfRange { field: "by", .. })
        ));
    }
    let error = world.shift_origin(Vec2::new(World::MAX_COORDINATE, 0.0)).unwrap_err();
    assert!(matches!(error, Error::Element { index: 1, .. }), "{error}: the left wall");
    assert!(error.to_string().contains("position"), "{error}");
    assert_eq!(world.state_hash(), hash);
    world.shift_origin(Vec2::ZERO).unwrap();
    assert_eq!(world.state_hash(), hash);
    assert_eq!(state(&world, bodies[0]).position, Vec2::ZERO);
}

/// Contract: soft hulls, ropes and bodies of several shapes come along: their shape and speed stay.
#[test]
fn scenes_come_along() {
    for name in ["ragdolls", "soft_boxes", "cloth", "tumbler", "junkyard", "gears", "cars"] {
        let scene = scene::builtin(name, 300, 1).unwrap();
        let mut world = scene.build().unwrap();
        let mut other = scene.build().unwrap();
        for round in 0..4 {
            for world in [&mut world, &mut other] {
                steps(world, 30);
            }
            // Small whole metres: no digits are lost beyond those of the place itself.
            let by = Vec2::new(4.0, -2.0) * if round % 2 == 0 { 1.0 } else { -1.0 };
            world.shift_origin(by).unwrap();
            world.validate().unwrap();
            if round == 0 {
                for (a, b) in world.handles().zip(other.handles()) {
                    let (a, b) = (state(&world, a), state(&other, b));
                    assert!((a.position + by - b.position).length() < 1.0e-4, "{name}");
                    assert_eq!(
                        (a.velocity, a.angle, a.angular_velocity),
                        (b.velocity, b.angle, b.angular_velocity),
                        "{name}"
                    );
                }
            }
        }
        steps(&mut world, 1);
        assert!(world.quarantined().is_empty(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Contract: bodies anywhere on a grid of 2⁻⁸ m, shifted by whole metres, are where they would be had they been put there; a snapshot and a
    /// recording of it go on alike.
    #[test]
    fn anywhere(
        places in prop::collection::vec((-2_000i32..2_000, 0i32..4_000, 0usize..7), 1..60),
        by in (-4_096i32..4_096, -4_096i32..4_096),
        when in 0u32..10,
    ) {
        let by = Vec2::new(by.0 as f32, by.1 as f32);
        let build = |origin: Vec2| {
            let mut world = world(weightless(Settings::default()));
            for &(x, y, kind) in &places {
                let place = Vec2::new(x as f32, y as f32) / 256.0;
                let desc = BodyDesc::dynamic(shape(kind), origin + place);
                world.add_body(&BodyDesc { velocity: -place, ..desc }).unwrap();
            }
            world
        };
        let (mut here, mut there) = (build(Vec2::ZERO), build(by));
        there.start_recording(1);
        there.shift_origin(by).unwrap();
        for _ in 0..when {
            here.step();
            there.step();
        }
        prop_assert_eq!(here.state_hash(), there.state_hash());
        for world in [&mut here, &mut there] {
            world.shift_origin(by).unwrap();
        }
        let mut snapshot = Vec::new();
        there.save(&mut snapshot);
        let mut restored = World::from_snapshot(&snapshot).unwrap();
        for _ in 0..5 {
            for world in [&mut here, &mut there, &mut restored] {
                world.step();
            }
            prop_assert_eq!(here.state_hash(), there.state_hash());
            prop_assert_eq!(restored.state_hash(), there.state_hash());
        }
        let recording = there.stop_recording().unwrap();
        let replay = recording.replay(Isa::Auto).unwrap();
        prop_assert!(replay.mismatch.is_none(), "{:?}", replay.mismatch);
    }
}
