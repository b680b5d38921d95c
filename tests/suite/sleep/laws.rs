//! When bodies fall asleep, and that sleep changes nothing else.

use super::*;
use crate::common::state;
use granule::{Assembly, JointDesc, JointHandle, LinkDesc, Locks, Mixed, Part, Spring};
use std::collections::BTreeSet;

/// Contract: an island sleeps after `time_to_sleep` at rest, all its bodies at once, each reported once; a step then changes nothing.
#[test]
fn a_stack_falls_asleep_at_once() {
    let (mut world, floor) = with_floor(Settings::default());
    let boxes = stack(&mut world, 0.0, 5);
    let lonely = add(&mut world, crate_at(10.0, 0.0));
    let taken = until_asleep(&mut world, 120);
    assert!((30..=60).contains(&taken), "asleep after {taken} steps");
    assert!(boxes.iter().all(|&body| !is_awake(&world, body)) && is_awake(&world, floor));
    let reported: BTreeSet<_> = world.sleep_events().iter().copied().collect();
    assert!(boxes.iter().all(|body| reported.contains(body)) && !reported.contains(&floor));
    assert_eq!((world.island_count(), world.asleep_count(), world.awake_count()), (2, 6, 0));
    assert_eq!(world.body(lonely).unwrap().velocity, Vec2::ZERO);
    let (before, contacts) = (world.state_hash(), world.contacts().count());
    steps(&mut world, 600);
    assert_eq!(world.state_hash(), before, "a sleeping world changes");
    assert_eq!(world.contacts().count(), contacts, "contacts of sleeping bodies are gone");
    assert!(world.sleep_events().is_empty() && world.wake_events().is_empty());
    assert!(world.begin_events().is_empty() && world.end_events().is_empty());
}

/// Contract: a world with sleep off, and a body that may not sleep, stay awake; its neighbours stay awake with it.
#[test]
fn who_may_not_sleep_stays_awake() {
    let (mut world, _) = with_floor(Settings { sleep: false, ..Settings::default() });
    stack(&mut world, 0.0, 3);
    steps(&mut world, 200);
    assert_eq!(world.asleep_count(), 0);
    world.set_settings(Settings::default()).unwrap();
    let sleepless = add(&mut world, BodyDesc { sleep: false, ..crate_at(4.0, 0.0) });
    let on_top = add(&mut world, crate_at(4.0, 0.5));
    steps(&mut world, 200);
    assert_eq!(world.asleep_count(), 3);
    assert!(is_awake(&world, sleepless) && is_awake(&world, on_top));
    world.set_sleep(sleepless, true).unwrap();
    until_asleep(&mut world, 120);
}

/// Contract: a body that sleeps a little behind another one, which is struck, is no wall: momentum and energy are kept, and it moves on.
#[test]
fn a_sleeper_behind_a_struck_body_is_no_wall() {
    let shapes = [Shape::circle(0.5), Shape::aabb(0.5, 0.5), Shape::oriented_box(0.5, 0.5)];
    let solvers = [Settings::default(), Settings::projection()];
    for (shape, base) in shapes.iter().flat_map(|shape| solvers.map(|base| (shape, base))) {
        let cases = (1..=39).flat_map(|gap| [2.0, 7.0, 12.0, 19.0].map(|speed| (gap, speed)));
        for (gap, speed, restitution) in cases.flat_map(|(gap, speed)| [0.0, 1.0].map(|e| (gap, speed, e))) {
            let case = format!("{shape:?}, {:?}, {gap} mm, {speed} m/s, {restitution}", base.solver);
            let material =
                Material { restitution, static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
            let mut world = world(Settings { gravity: Vec2::ZERO, ..base });
            let at = |x: f32| BodyDesc { material, ..BodyDesc::dynamic(*shape, Vec2::new(x, 0.0)) };
            let sleepers = [0.0, 1.0 + 1.0e-3 * gap as f32].map(|x| add(&mut world, at(x)));
            until_asleep(&mut world, 120);
            let ball = add(&mut world, BodyDesc { velocity: Vec2::new(speed, 0.0), ..at(-2.0) });
            let mut speeds = [0.0; 3];
            for _ in 0..90 {
                world.step();
                speeds = [ball, sleepers[0], sleepers[1]].map(|body| world.body(body).unwrap().velocity.x);
                let (sum, square): (f32, f32) = (speeds.iter().sum(), speeds.iter().map(|v| v * v).sum());
                assert!((sum / speed - 1.0).abs() < 1.0e-3, "{case}: {speeds:?}");
                assert!(square < 1.001 * speed * speed, "{case}: {speeds:?}");
            }
            assert!(speeds[2] > 0.25 * speed, "{case}: {speeds:?}");
        }
    }
}

/// Contract: a row of bodies that sleep a little behind each other, some of them joined, keeps the momentum that the first one gets.
#[test]
fn a_row_of_sleepers_is_no_wall() {
    let shapes = [Shape::circle(0.5), Shape::aabb(0.5, 0.5), Shape::oriented_box(0.5, 0.5)];
    let solvers = [Settings::default(), Settings::projection()];
    // The bodies that are joined to the next one.
    let joints = [&[0][..], &[2, 3], &[1, 2, 3, 4]];
    let worlds = shapes.iter().flat_map(|shape| solvers.map(|base| (shape, base)));
    for (shape, base, joined) in worlds.flat_map(|(shape, base)| joints.map(|joined| (shape, base, joined))) {
        let cases = [3u8, 9, 15, 19].into_iter().flat_map(|gap| [2.0, 8.0].map(|speed| (gap, speed)));
        for (gap, speed, restitution) in cases.flat_map(|(gap, speed)| [0.0, 0.5].map(|e| (gap, speed, e))) {
            let case =
                format!("{shape:?}, {:?}, {gap} mm, {speed} m/s, {restitution}, {joined:?}", base.solver);
            let material =
                Material { restitution, static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
            // What is left behind and slow is not to sleep again.
            let mut world = world(Settings { gravity: Vec2::ZERO, time_to_sleep: 10.0, ..base });
            let pitch = 1.0 + 1.0e-3 * f32::from(gap);
            let row: Vec<_> = (0..8)
                .map(|i| {
                    let at = Vec2::new(pitch * i as f32, 0.0);
                    add(
                        &mut world,
                        BodyDesc { material, fixed_rotation: true, ..BodyDesc::dynamic(*shape, at) },
                    )
                })
                .collect();
            let [first, second] = [0.5 * pitch, -0.5 * pitch].map(|x| Vec2::new(x, 0.0));
            for &i in joined {
                world.add_joint(&JointDesc::revolute(row[i], row[i + 1], first, second)).unwrap();
            }
            row.iter().for_each(|&body| world.sleep_body(body).unwrap());
            world.step();
            assert_eq!(world.awake_count(), 0, "{case}");
            world.set_velocity(row[0], Vec2::new(speed, 0.0)).unwrap();
            for _ in 0..60 {
                world.step();
                let sum: f32 = row.iter().map(|&body| state(&world, body).velocity.x).sum();
                assert!((sum / speed - 1.0).abs() < 2.0e-3, "{case}: {sum} m/s in all");
            }
            let last = state(&world, row[7]).velocity.x;
            assert!(last > 0.01 * speed, "{case}: {last} m/s");
        }
    }
}

/// Contract: what is pushed against a sleeping body passes through it no sooner than through one that is awake.
#[test]
fn a_sleeper_is_passed_no_sooner() {
    let shapes = [Shape::circle(0.2), Shape::aabb(0.2, 0.2), Shape::oriented_box(0.2, 0.2)];
    for (shape, base) in
        shapes.iter().flat_map(|s| [Settings::default(), Settings::projection()].map(|b| (s, b)))
    {
        let cases =
            [1u8, 6, 15, 19, 30].into_iter().flat_map(|gap| [3.0, 20.0, 60.0].map(|speed| (gap, speed)));
        for (gap, speed, thickness) in cases.flat_map(|(gap, v)| [0.04, 0.2].map(|thick| (gap, v, thick))) {
            for (substeps, how) in
                [1, base.substeps].into_iter().flat_map(|n| (0..3u8).map(move |how| (n, how)))
            {
                let passes = |sleep: bool| {
                    let mut world = world(Settings { gravity: Vec2::ZERO, sleep, substeps, ..base });
                    let body = add(&mut world, BodyDesc::dynamic(*shape, Vec2::ZERO));
                    let slab = Shape::oriented_box(0.5 * thickness, 2.0);
                    let place = Vec2::new(0.2 + 1.0e-3 * f32::from(gap) + 0.5 * thickness, 0.0);
                    let slab =
                        add(&mut world, BodyDesc { mass: Some(1.0), ..BodyDesc::dynamic(slab, place) });
                    steps(&mut world, 80);
                    let push = Vec2::new(speed, 0.0) * world.mass(body).unwrap();
                    match how {
                        0 => world.apply_impulse(body, push).unwrap(),
                        1 => world.apply_force(body, push * 60.0).unwrap(),
                        _ => {
                            let place = Vec2::new(-0.45 - speed / 60.0, 0.0);
                            let velocity = Vec2::new(speed, 0.0);
                            add(&mut world, BodyDesc { velocity, ..BodyDesc::dynamic(*shape, place) });
                        }
                    }
                    steps(&mut world, 20);
                    state(&world, body).position.x > state(&world, slab).position.x
                };
                let [asleep, awake] = [true, false].map(passes);
                assert!(
                    !asleep || awake,
                    "{shape:?}, {:?}, {gap} mm, {speed} m/s, {thickness} m, {substeps}, {how}",
                    base.solver
                );
            }
        }
    }
}

/// Contract: what gravity moves and nothing holds does not fall asleep, however slowly it falls: not a body that is let go, nor one that was at
/// rest and whose floor goes, or that is put into the air, whichever step that is.
#[test]
fn nothing_sleeps_in_the_air() {
    for gravity in [0.02f32, 0.1, 1.62, 9.81] {
        let mut world = world(Settings { gravity: Vec2::new(0.0, -gravity), ..Settings::default() });
        let ball = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO));
        steps(&mut world, 180);
        let fallen = -state(&world, ball).position.y;
        assert!((fallen / (4.5 * gravity) - 1.0).abs() < 0.02, "{gravity} m/s²: fell {fallen} m in 3 s");
    }
    let cases = [1.0 / 60.0, 1.0 / 240.0].into_iter().flat_map(|dt| [1.62f32, 9.81].map(|g| (dt, g)));
    for (time_step, gravity, how) in cases.flat_map(|(dt, g)| (0..4u8).map(move |how| (dt, g, how))) {
        for phase in 0..16 {
            let case = format!("{time_step} s, {gravity} m/s², {how}, phase {phase}");
            let gravity = Vec2::new(0.0, -gravity);
            let mut world = world(Settings { time_step, gravity, ..Settings::default() });
            let floor = Shape::oriented_box(5.0, 0.5);
            let floor = add(&mut world, BodyDesc::fixed(floor, Vec2::new(0.0, -0.5)));
            let crate_at = |x: f32| BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(x, 0.5));
            let body = add(&mut world, crate_at(0.0));
            let neighbour = add(&mut world, BodyDesc { sleep: false, ..crate_at(1.0) });
            steps(&mut world, (1.5 / time_step) as u32 + phase);
            assert!(is_awake(&world, body), "{case}");
            match how {
                0 => world.set_position(body, Vec2::new(0.0, 20.0)).unwrap(),
                1 => world.remove_body(floor).unwrap(),
                2 => world.set_enabled(floor, false).unwrap(),
                _ => world.set_position(floor, Vec2::new(50.0, -9.0)).unwrap(),
            }
            world.remove_body(neighbour).unwrap();
            let before = state(&world, body).position.y;
            steps(&mut world, (0.5 / time_step) as u32);
            let fallen = before - state(&world, body).position.y;
            assert!(fallen > 0.1 * gravity.length(), "{case}: fell {fallen} m in 0.5 s");
        }
    }
}

/// Contract: what touches something and is not borne by it falls: under a ceiling, beside a wall, and up from a floor when gravity turns, in
/// whichever step that is. What is held without contacts sleeps: by locks or a limit of its speed, also what rests on it, and weights that carry each
/// other.
#[test]
fn what_is_not_borne_does_not_sleep() {
    for (shape, place) in
        [(Vec2::new(5.0, 0.5), Vec2::new(0.0, 1.0)), (Vec2::new(0.5, 5.0), Vec2::new(1.0, 0.0))]
    {
        let mut world = world(Settings { gravity: Vec2::new(0.0, -0.01), ..Settings::default() });
        let smooth = Material { static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
        let wall = Shape::oriented_box(shape.x, shape.y);
        add(&mut world, BodyDesc { material: smooth, ..BodyDesc::fixed(wall, place) });
        let crate_ = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::ZERO);
        let crate_ = add(&mut world, BodyDesc { material: smooth, ..crate_ });
        steps(&mut world, 600);
        let fallen = -state(&world, crate_).position.y;
        assert!((fallen - 0.5).abs() < 0.02, "beside {place}: fell {fallen} m in 10 s");
    }
    for phase in 0..40 {
        let mut world = world(Settings { gravity: Vec2::new(0.0, -0.5), ..Settings::default() });
        add(&mut world, BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO));
        let crate_ = add(&mut world, crate_at(0.0, 0.0));
        steps(&mut world, phase);
        world.set_gravity(Vec2::new(0.0, 0.5)).unwrap();
        steps(&mut world, 120);
        let risen = state(&world, crate_).position.y - 0.25;
        assert!(risen > 0.9, "turned in step {phase}: rose {risen} m in 2 s");
    }
    let holds: [fn(&mut World, BodyHandle); 2] = [
        |world, body| world.set_locks(body, Locks { y: true, rotation: true, ..Locks::default() }).unwrap(),
        |world, body| world.set_max_speeds(body, Some(0.0), Some(0.0)).unwrap(),
    ];
    for hold in holds {
        let mut world = world(Settings::default());
        let shelf = add(&mut world, BodyDesc::dynamic(Shape::oriented_box(1.0, 0.25), Vec2::new(0.0, -0.25)));
        hold(&mut world, shelf);
        add(&mut world, crate_at(0.0, 0.0));
        until_asleep(&mut world, 120);
    }
    let mut world = world(Settings::default());
    let ends = [-1.0f32, 1.0].map(|scale| {
        let place = Vec2::new(0.0, -scale);
        add(&mut world, BodyDesc { gravity_scale: scale, ..BodyDesc::dynamic(Shape::circle(0.5), place) })
    });
    world.add_joint(&JointDesc::distance(ends[0], ends[1], Vec2::ZERO, Vec2::ZERO, 2.0)).unwrap();
    until_asleep(&mut world, 120);
}

/// Contract: what a body touches that is held does not hold it, nor does a joint to a body that is not enabled.
#[test]
fn what_is_only_touched_does_not_hold() {
    let slow = |settings: Settings| world(Settings { gravity: Vec2::new(0.0, -0.05), ..settings });
    let shelf = || BodyDesc::fixed(Shape::oriented_box(0.25, 0.25), Vec2::new(-0.5, -0.25));
    let cases: [fn(&mut World, BodyHandle); 3] = [
        // On the shelf.
        |world, _| {
            add(world, crate_at(-0.5, 0.0));
        },
        // In the air.
        |world, _| {
            let locked = add(world, crate_at(-0.5, 0.0));
            world.set_locks(locked, Locks { y: true, ..Locks::default() }).unwrap();
        },
        |world, falling| {
            let frame = add(world, BodyDesc::fixed(Shape::circle(0.1), Vec2::new(0.0, 2.0)));
            world.add_joint(&JointDesc::weld(frame, falling, Vec2::new(0.0, -1.75), Vec2::ZERO)).unwrap();
            world.set_enabled(frame, false).unwrap();
        },
    ];
    for (number, beside) in cases.into_iter().enumerate() {
        for settings in [Settings::default(), Settings::projection()] {
            let mut world = slow(settings);
            add(&mut world, shelf());
            let falling = add(&mut world, crate_at(0.0, 0.0));
            beside(&mut world, falling);
            steps(&mut world, 600);
            let fallen = 0.25 - state(&world, falling).position.y;
            assert!(fallen > 1.0, "case {number}: fell {fallen} m in 10 s");
        }
    }
}

/// Contract: a body that a soft joint pulls to its place, without a speed of its own, does not fall asleep far from there.
#[test]
fn what_a_joint_pulls_stays_awake() {
    let kinds: [fn(BodyHandle, BodyHandle, Vec2) -> JointDesc; 2] = [
        |frame, body, at| JointDesc::weld(frame, body, at, Vec2::ZERO),
        |frame, body, at| JointDesc::revolute(frame, body, at, Vec2::ZERO),
    ];
    let solvers = [Settings::default(), Settings::projection()];
    for (kind, base) in kinds.into_iter().flat_map(|kind| solvers.map(|base| (kind, base))) {
        let springs = [(1.0f32, 0.5f32), (5.0, 0.1), (30.0, 0.1)];
        for (frequency, most, way) in
            springs.into_iter().flat_map(|(f, most)| [1.0f32, 8.0].map(|way| (f, most, way)))
        {
            let mut world = world(Settings { gravity: Vec2::ZERO, ..base });
            let frame = add(&mut world, BodyDesc::fixed(Shape::circle(0.1), Vec2::ZERO));
            let place = Vec2::new(0.0, -1.0);
            let body = add(&mut world, BodyDesc::dynamic(Shape::oriented_box(0.25, 0.25), place));
            let joint = kind(frame, body, place);
            world.add_joint(&JointDesc { stiffness: Spring::new(frequency, 2.0), ..joint }).unwrap();
            world.set_position(frame, Vec2::new(way, 0.0)).unwrap();
            until_asleep(&mut world, 6_000);
            let off = state(&world, body).position.distance(Vec2::new(way, -1.0));
            println!("{frequency} Hz, {:?}: sleeps {off} m from its place", base.solver);
            assert!(off < most, "{frequency} Hz, {:?}: sleeps {off} m from its place", base.solver);
        }
    }
}

/// Contract: edits that may move a body slowly begin its rest anew, in whichever step they come before it would fall asleep: of motors, springs, limits
/// of a motor's force, the friction of two materials, and a belt.
#[test]
fn edits_begin_rest_anew() {
    let with = |world: &mut World, joint: Option<JointHandle>, change: fn(JointDesc) -> JointDesc| {
        let joint = joint.unwrap();
        let desc = world.joint(joint).unwrap();
        world.set_joint(joint, &change(desc)).unwrap();
    };
    let hung: [fn(JointDesc) -> JointDesc; 3] = [
        |slider| slider.with_motor(0.0, 0.05),
        |slider| slider.with_spring(0.0, 0.1, 1.0),
        |slider| slider.with_motor(0.0, 100.0),
    ];
    let smooth = Mixed { static_friction: 0.0, dynamic_friction: 0.0, ..Mixed::default() };
    assert_eq!(Mixed::default(), smooth);
    let belt = Material { tangent_speed: 1.0, id: 1, ..Material::default() };
    for number in 0..5usize {
        for phase in 0..30 {
            let gravity =
                [Vec2::ZERO, Vec2::ZERO, Vec2::new(0.0, -0.5), Vec2::new(0.2, -0.5), Vec2::new(0.0, -0.5)];
            let mut world = world(Settings { gravity: gravity[number], ..Settings::default() });
            let material = Material { id: 1, ..Material::default() };
            let floor = BodyDesc::fixed(Shape::oriented_box(50.0, 0.5), Vec2::new(0.0, -0.5));
            let floor = add(&mut world, BodyDesc { material, ..floor });
            let lifted = if number < 3 { 2.0 } else { 0.0 };
            let crate_ = add(&mut world, BodyDesc { material, ..crate_at(0.0, lifted) });
            let joint = hung.get(number).map(|kind| {
                let anchor = Vec2::new(0.0, 0.75 + lifted);
                let along = if number == 2 { std::f32::consts::FRAC_PI_2 } else { 0.0 };
                let slider = JointDesc::prismatic(floor, crate_, anchor, Vec2::ZERO, along);
                world.add_joint(&kind(slider)).unwrap()
            });
            steps(&mut world, phase);
            match number {
                0 => world.set_motor_speed(joint.unwrap(), 1.0).unwrap(),
                1 => with(&mut world, joint, |slider| slider.with_spring(1.0, 0.1, 1.0)),
                2 => with(&mut world, joint, |slider| slider.with_motor(0.0, 0.001)),
                3 => world.set_pair_material(1, 1, Some(smooth)).unwrap(),
                _ => world.set_material(floor, &belt).unwrap(),
            }
            let start = state(&world, crate_).position;
            steps(&mut world, 240);
            let moved = state(&world, crate_).position.distance(start);
            assert!(moved > 0.1, "edit {number} after {phase} steps: moved by {moved} m in 4 s");
        }
    }
}

/// Contract: with the projection solver, which gives what it pushes apart no speed, crowded circles do not fall asleep before their overlaps are
/// down to 4 cm; then they do.
#[test]
fn what_overlaps_does_not_sleep() {
    for seed in 0u8..3 {
        // Spread evenly, as multiples of an irrational number are.
        let spread = |i: u8, step: f32| (f32::from(i) * step + 0.37 * f32::from(seed)).fract();
        let mut world = world(Settings::projection());
        for (normal, offset) in [(Vec2::Y, 0.0), (Vec2::X, -3.0), (Vec2::NEG_X, -3.0)] {
            add(&mut world, BodyDesc::fixed(Shape::half_space(normal, offset), Vec2::ZERO));
        }
        for i in 0..60 {
            let place = Vec2::new(3.0 * spread(i, 0.618_034) - 1.5, 1.0 + 2.0 * spread(i, 0.754_878));
            add(&mut world, BodyDesc::dynamic(Shape::circle(0.25 + 0.25 * spread(i, 0.569_840)), place));
        }
        let overlap = |world: &World| world.contacts().map(|contact| -contact.separation).fold(0.0, f32::max);
        let mut deepest = 0.0f32;
        let asleep = (0..6_000).find(|_| {
            world.step();
            deepest = deepest.max(overlap(&world));
            world.awake_count() == 0
        });
        println!("{deepest} m deep, asleep after {asleep:?} steps");
        assert!(asleep.is_some() && deepest > 0.1, "{} awake, {deepest} m deep", world.awake_count());
        assert!(overlap(&world) < 0.041, "asleep, and {} m deep", overlap(&world));
    }
}

/// Contract: a body has its own threshold and its own time, and the settings hold for all others.
#[test]
fn bodies_have_limits_of_their_own() {
    let mut world = world(Settings { gravity: Vec2::ZERO, time_to_sleep: 1.0, ..Settings::default() });
    let drifting = |x: f32, speed: f32| BodyDesc {
        velocity: Vec2::new(0.0, speed),
        ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, 0.0))
    };
    let plain = add(&mut world, drifting(0.0, 0.04));
    let fast = add(&mut world, drifting(3.0, 0.06));
    let tolerant = add(&mut world, BodyDesc { sleep_threshold: Some(0.1), ..drifting(6.0, 0.06) });
    let quick = add(&mut world, BodyDesc { time_to_sleep: Some(0.25), ..drifting(9.0, 0.04) });
    steps(&mut world, 40);
    assert_eq!([plain, fast, tolerant, quick].map(|body| is_awake(&world, body)), [true, true, true, false]);
    steps(&mut world, 80);
    assert_eq!([plain, fast, tolerant].map(|body| is_awake(&world, body)), [false, true, false]);
    assert_eq!(world.sleep_settings(tolerant).unwrap(), (true, Some(0.1), None));
}

/// Contract: what woke goes on as it fell asleep: no body of a tall stack moves by more than a tenth of a millimetre.
#[test]
fn a_stack_wakes_as_it_fell_asleep() {
    for hard in [0, 3] {
        // The stack has long settled when it falls asleep.
        let (mut world, _) = with_floor(Settings { time_to_sleep: 5.0, ..Settings::default() });
        let mut boxes = stack(&mut world, 0.0, 12);
        for level in 0..hard {
            boxes.push(add(&mut world, BodyDesc { mass: Some(50.0), ..crate_at(2.0, 0.5 * level as f32) }));
        }
        until_asleep(&mut world, 600);
        let places: Vec<_> = boxes.iter().map(|&body| world.body(body).unwrap()).collect();
        boxes.iter().for_each(|&body| world.wake_body(body).unwrap());
        assert_eq!(world.asleep_count(), 0);
        for _ in 0..20 {
            world.step();
            world.validate().unwrap();
            assert!(world.begin_events().is_empty() && world.end_events().is_empty());
            for (&body, before) in boxes.iter().zip(&places) {
                let now = world.body(body).unwrap();
                assert!(now.position.distance(before.position) < 1.0e-4, "{before:?} became {now:?}");
            }
        }
    }
}

/// Contract: joined and linked bodies sleep together, keep what their joints bear, and wake together.
#[test]
fn joined_bodies_sleep_together() {
    let mut world = world(Settings::default());
    let ceiling = add(&mut world, BodyDesc::fixed(Shape::oriented_box(1.0, 0.1), Vec2::ZERO));
    let mut last = (ceiling, Vec2::ZERO);
    let mut chain = Vec::new();
    let mut joints = Vec::new();
    for link in 0..6 {
        let body = add(
            &mut world,
            BodyDesc::dynamic(Shape::oriented_box(0.05, 0.2), Vec2::new(0.0, -0.2 - 0.4 * link as f32)),
        );
        let joint = JointDesc::revolute(last.0, body, last.1, Vec2::new(0.0, 0.2));
        joints.push(world.add_joint(&joint).unwrap());
        last = (body, Vec2::new(0.0, -0.2));
        chain.push(body);
    }
    let ball = add(&mut world, BodyDesc::particle(Vec2::new(0.0, -3.0), 0.5));
    world.add_link(&LinkDesc::distance(last.0, ball, 0.8)).unwrap();
    // Until nothing creeps.
    world.set_sleep(ball, false).unwrap();
    steps(&mut world, 300);
    world.set_sleep(ball, true).unwrap();
    until_asleep(&mut world, 2_000);
    assert_eq!(world.island_count(), 1);
    let force = world.joint_state(joints[0]).unwrap().force;
    let weight: f32 = chain.iter().chain([&ball]).map(|&body| 10.0 * world.mass(body).unwrap()).sum();
    assert!((force.length() - weight).abs() < 0.02 * weight, "{force} of {weight}");
    let before: Vec<_> = chain.iter().map(|&body| world.body(body).unwrap().position).collect();
    world.wake_body(ball).unwrap();
    assert!(chain.iter().all(|&body| is_awake(&world, body)));
    steps(&mut world, 10);
    world.validate().unwrap();
    for (&body, before) in chain.iter().zip(&before) {
        assert!(world.body(body).unwrap().position.distance(*before) < 1.0e-4);
    }
}

/// Contract: nothing that lies on a body which moves by itself sleeps, even if it does not move.
#[test]
fn what_is_driven_stays_awake() {
    let (mut world, _) = with_floor(Settings::default());
    let wheel = |x: f32| BodyDesc {
        angular_velocity: 1.0,
        ..BodyDesc::kinematic(Shape::circle(0.5), Vec2::new(x, 5.0))
    };
    let turning = [-1.0, 1.0].map(|x| add(&mut world, wheel(x)));
    let flat = Material { static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
    let desc = BodyDesc::dynamic(Shape::oriented_box(2.0, 0.1), Vec2::new(0.0, 5.6));
    let plank = add(&mut world, BodyDesc { material: flat, ..desc });
    let aside = add(&mut world, crate_at(10.0, 0.0));
    steps(&mut world, 200);
    assert!(turning.iter().all(|&body| is_awake(&world, body)));
    assert!(is_awake(&world, plank) && !is_awake(&world, aside));
}

/// Contract: a belt moves what lies on it, soft bodies too, also one that is slower than what counts as rest. (Its riders fell asleep, and stayed where they
/// were.)
#[test]
fn slow_belts_move_what_lies_on_them() {
    let shapes = [
        Shape::oriented_box(0.25, 0.25),
        Shape::aabb(0.25, 0.25),
        Shape::capsule(0.25, 0.25),
        Shape::polygon(&[Vec2::new(-0.5, -0.25), Vec2::new(0.5, -0.25), Vec2::new(0.0, 0.5)]).unwrap(),
    ];
    for (speed, shape) in [0.01f32, 0.03, 0.049].into_iter().flat_map(|v| shapes.map(|shape| (v, shape))) {
        let mut world = World::new(Settings::default()).unwrap();
        let material = Material { tangent_speed: speed, ..Material::default() };
        let belt = BodyDesc::fixed(Shape::oriented_box(20.0, 0.5), Vec2::new(0.0, -0.5));
        world.add_body(&BodyDesc { material, ..belt }).unwrap();
        let rider = add(&mut world, BodyDesc::dynamic(shape, Vec2::new(0.0, 0.25)));
        let start = state(&world, rider).position.x;
        steps(&mut world, 600);
        let way = (state(&world, rider).position.x - start).abs();
        assert!((way / (10.0 * speed) - 1.0).abs() < 0.05, "{shape:?}: {way} m in 10 s at {speed} m/s");
        world.sleep_body(rider).unwrap();
        assert!(!is_awake(&world, rider), "a hand puts {shape:?} to sleep");
    }
    for speed in [0.03f32, 2.0] {
        let (mut world, floor) = with_floor(Settings::default());
        world.set_material(floor, &Material { tangent_speed: speed, ..rough() }).unwrap();
        let soft = Assembly::soft_box(Vec2::new(0.0, 0.5), Vec2::splat(0.8), 0.05, 1.0, 0.1);
        let rider = world.add_assembly(&soft.grouped(1)).unwrap();
        let middle = |world: &World| {
            rider.iter().map(|&body| state(world, body).position.x).sum::<f32>() / rider.len() as f32
        };
        steps(&mut world, 120);
        let start = middle(&world);
        steps(&mut world, 300);
        let way = (middle(&world) - start).abs();
        assert!((way / (5.0 * speed) - 1.0).abs() < 0.05, "a soft box: {way} m in 5 s at {speed} m/s");
    }
}

/// Contract: a motor moves what it drives, also more slowly than what counts as rest; what it cannot move sleeps.
#[test]
fn slow_motors_move_what_they_drive() {
    let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
    let hub = add(&mut world, BodyDesc::fixed(Shape::circle(0.2), Vec2::new(0.0, 9.0)));
    let sled = add(&mut world, crate_at(0.0, 0.0));
    let wheel = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 9.0)));
    let jammed = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(9.0, 9.0)));
    let rail = JointDesc::prismatic(hub, sled, Vec2::ZERO, Vec2::new(0.0, 8.75), 0.0);
    world.add_joint(&rail.with_motor(0.04, 1.0e5)).unwrap();
    world
        .add_joint(&JointDesc::revolute(hub, wheel, Vec2::ZERO, Vec2::ZERO).with_motor(0.09, 1.0e5))
        .unwrap();
    let weak = JointDesc::revolute(hub, jammed, Vec2::new(9.0, 0.0), Vec2::ZERO).with_motor(0.09, 1.0e5);
    world.add_joint(&weak).unwrap();
    world.add_joint(&JointDesc::weld(hub, jammed, Vec2::new(9.0, 0.0), Vec2::ZERO)).unwrap();
    steps(&mut world, 1_800);
    let state = |body| world.body(body).unwrap();
    assert!((state(sled).position.x - 1.2).abs() < 0.01, "{:?}", state(sled));
    assert!((state(wheel).angle - 2.7).abs() < 0.02, "{:?}", state(wheel));
    assert!(is_awake(&world, sled) && is_awake(&world, wheel));
}

/// Contract: what stands on a kinematic body, or hangs from it, does not fall asleep while the host moves or turns it by a target, or by hand, in each
/// step; it may be put to sleep, and does so by itself when the host no longer moves it. (At the end of such a step the body's own velocity is 0: its
/// riders slept, and were woken by the next call.)
#[test]
fn what_a_host_carries_stays_awake() {
    for (how, speed) in [(0, 0.005f32), (0, 0.04), (1, 0.04), (2, 0.01)] {
        let mut world = World::new(Settings::default()).unwrap();
        let lift = world.add_body(&BodyDesc::kinematic(Shape::oriented_box(2.0, 0.5), Vec2::ZERO)).unwrap();
        let square = |x: f32, y: f32| BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(x, y));
        let rider = add(&mut world, square(0.0, 1.0));
        let hung = add(&mut world, square(5.0, -2.0));
        let rod = JointDesc::distance(lift, hung, Vec2::new(5.0, 0.0), Vec2::ZERO, 2.0);
        world.add_joint(&rod).unwrap();
        for step in 1..=300 {
            let way = speed * step as f32 / 60.0;
            match how {
                0 => world.set_kinematic_target(lift, Vec2::new(0.0, way), 0.0).unwrap(),
                1 => world.set_position(lift, Vec2::new(0.0, way)).unwrap(),
                _ => world.set_angle(lift, way).unwrap(),
            }
            world.step();
            let awake = [rider, hung].map(|body| is_awake(&world, body));
            assert_eq!(awake, [true; 2], "way {how}, {speed} a second, step {step}");
        }
        let mut copy = world.clone();
        for world in [&mut world, &mut copy] {
            world.sleep_body(rider).unwrap();
            assert!(!is_awake(world, rider));
        }
        assert_eq!(world.state_hash(), copy.state_hash());
        world.wake_body(rider).unwrap();
        steps(&mut world, 300);
        assert!(!is_awake(&world, rider), "way {how}, {speed} a second");
    }
}

/// Contract: sums, counts and queries see sleeping bodies as they see others.
#[test]
fn sleeping_bodies_are_seen() {
    let (mut world, _) = with_floor(Settings::default());
    let boxes = stack(&mut world, 0.0, 4);
    let compound = add(&mut world, crate_at(3.0, 0.0));
    world.add_part(compound, &Part::new(Shape::circle(0.25), Vec2::new(0.5, 0.0))).unwrap();
    steps(&mut world, 25);
    let awake = world.quality();
    until_asleep(&mut world, 200);
    let asleep = world.quality();
    assert_eq!(awake.contacts, asleep.contacts);
    assert!((awake.max_penetration - asleep.max_penetration).abs() < 2.0e-3);
    for &body in boxes.iter().chain([&compound]) {
        let position = world.body(body).unwrap().position;
        let mut found = Vec::new();
        world.query_point(position, |body| {
            found.push(body);
            true
        });
        assert!(found.contains(&body));
        assert!(world.mass(body).unwrap().is_finite());
    }
}
