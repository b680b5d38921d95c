//! Joints at rest under a load: bending, reactions, what breaks.

use super::*;

/// Adds a row of planks of length 1 to the right of a post, each joined to the one before by `joint`.
fn cantilever(
    world: &mut World,
    count: usize,
    joint: impl Fn(BodyHandle, BodyHandle, Vec2) -> JointDesc,
) -> (Vec<BodyHandle>, Vec<JointHandle>) {
    let mut last = post(world, Vec2::ZERO);
    let (mut bodies, mut joints) = (Vec::new(), Vec::new());
    for i in 0..count {
        let place = Vec2::new(0.5 + i as f32, 0.0);
        let body = add(world, plank(Vec2::new(0.5, 0.05), place, 2.0));
        let point = if i == 0 { Vec2::ZERO } else { Vec2::new(0.5, 0.0) };
        joints.push(join(world, &joint(last, body, point)));
        bodies.push(body);
        last = body;
    }
    (bodies, joints)
}

/// Contract: a cantilever of planks, welded with angular springs, bends at each weld by moment/stiffness. The moment is that of the weight
/// beyond the weld, the stiffness (2π·f)² on the effective inertia. So the tip hangs as deep as the sum of these angles says: within 1 %.
#[test]
fn a_cantilever_bends_by_its_stiffness() {
    on_both_sets(|settings| {
        let (count, hertz) = (5, 60.0f32);
        // Sixteen substeps let the points be held at 240 Hz: then their own sag does not count.
        let mut world = world(Settings { substeps: 16, ..settings });
        let kind = JointKind::Weld { linear: None, angular: Some(Spring::new(hertz, 1.0)) };
        let left = Vec2::new(-0.5, 0.0);
        let (bodies, joints) = cantilever(&mut world, count, |a, b, point| JointDesc {
            kind,
            stiffness: Spring::new(240.0, 2.0),
            ..JointDesc::weld(a, b, point, left)
        });
        steps(&mut world, seconds(&settings, 30.0));
        let inertia = plank_inertia(Vec2::new(0.5, 0.05), 2.0);
        let omega = TAU * f64::from(hertz);
        let (mut slope, mut tip) = (0.0, 0.0);
        for (i, &joint) in joints.iter().enumerate() {
            let effective = if i == 0 { inertia } else { 0.5 * inertia };
            let stiffness = omega * omega * effective;
            // Planks as good as level: their centres are at i + ½.
            let beyond = (count - i) as f64;
            let moment = 2.0 * G * 0.5 * beyond * beyond;
            let bend = -moment / stiffness;
            let found = world.joint_state(joint).unwrap();
            measured(&format!("bend at weld {i}, rad"), f64::from(found.angle), bend);
            assert_close("bend", f64::from(found.angle), bend, 0.01 * bend.abs());
            assert_close("torque", f64::from(found.torque), moment, 0.01 * moment);
            slope += bend;
            tip += slope;
        }
        let end = state(&world, bodies[count - 1]);
        let found = end.position + 0.5 * Vec2::from_angle(end.angle);
        measured("tip of a cantilever, m", f64::from(found.y), tip);
        assert_close("tip", f64::from(found.y), tip, 0.01 * tip.abs());
    });
}

/// Contract: rigid welds of a row of planks bear its weight at rest: the torque at the wall is that of the weight. Each weld gives way as
/// a spring of its stiffness does, 60 Hz: by moment/(I·ω²), within 2 %.
#[test]
fn rigid_welds_bear_a_cantilever() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        let left = Vec2::new(-0.5, 0.0);
        let (_, joints) = cantilever(&mut world, 3, |a, b, point| JointDesc::weld(a, b, point, left));
        steps(&mut world, seconds(&settings, 10.0));
        let wall = world.joint_state(joints[0]).unwrap();
        measured("torque at the wall", f64::from(wall.torque), 2.0 * G * 4.5);
        assert_close("torque", f64::from(wall.torque), 2.0 * G * 4.5, 0.9);
        assert_close("force", f64::from(wall.force.y), 6.0 * G, 0.6);
        let inertia = plank_inertia(Vec2::new(0.5, 0.05), 2.0);
        let law = -2.0 * G * 4.5 / (inertia * (TAU * 60.0).powi(2));
        measured("angle at the wall, rad", f64::from(wall.angle), law);
        assert_close("angle", f64::from(wall.angle), law, 0.02 * law.abs());
        println!("rigid cantilever: off by {:.2e} m", world.joint_quality().max_error);
    });
}

/// Contract: the reaction at the top of a hanging chain is its weight within 1 %, whatever the joints are.
#[test]
fn a_chain_hangs_by_its_weight() {
    on_both_sets(|settings| {
        for kind in 0..3 {
            let mut world = world(settings);
            let mut last = post(&mut world, Vec2::ZERO);
            let mut top = None;
            for i in 0..20 {
                let link = add(
                    &mut world,
                    plank(Vec2::new(0.05, 0.25), Vec2::new(0.0, -0.25 - 0.5 * i as f32), 1.5),
                );
                let point = if i == 0 { Vec2::ZERO } else { Vec2::new(0.0, -0.25) };
                let up = Vec2::new(0.0, 0.25);
                let joint = join(
                    &mut world,
                    &match kind {
                        0 => JointDesc::revolute(last, link, point, up),
                        1 => JointDesc::weld(last, link, point, up),
                        _ => JointDesc::distance(last, link, point, Vec2::new(0.0, 0.2), 0.05),
                    },
                );
                top.get_or_insert(joint);
                last = link;
            }
            steps(&mut world, seconds(&settings, 10.0));
            let force = world.joint_state(top.unwrap()).unwrap().force;
            let weight = 20.0 * 1.5 * G;
            measured(&format!("reaction at the top of chain {kind}"), f64::from(force.y), weight);
            assert_close("reaction", f64::from(force.y), weight, 0.01 * weight);
            assert!(f64::from(force.x.abs()) < 0.01 * weight, "{force}");
        }
    });
}

/// The events of `count` steps.
fn events(world: &mut World, count: u32) -> Vec<granule::JointEvent> {
    let mut all = Vec::new();
    for _ in 0..count {
        world.step();
        all.extend_from_slice(world.joint_events());
    }
    all
}

/// Contract: a joint breaks when it bears more than its break force, and not below, and reports it once with the force. What hung on it
/// then falls.
#[test]
fn joints_break_at_their_force() {
    on_both_sets(|settings| {
        for (part, breaks) in [(1.02f32, false), (0.98, true)] {
            for kind in 0..4 {
                let mut world = world(settings);
                let hook = post(&mut world, Vec2::ZERO);
                let body = add(&mut world, plank(Vec2::new(0.2, 0.5), Vec2::new(0.0, -0.5), 4.0));
                let top = Vec2::new(0.0, 0.5);
                let desc = match kind {
                    0 => JointDesc::revolute(hook, body, Vec2::ZERO, top),
                    1 => JointDesc::weld(hook, body, Vec2::ZERO, top),
                    2 => JointDesc::prismatic(hook, body, Vec2::ZERO, top, 0.0),
                    _ => JointDesc::distance(hook, body, Vec2::Y, top, 1.0),
                };
                let desc = JointDesc { break_force: part * 40.0, tag: 77, ..desc };
                let joint = join(&mut world, &desc);
                let found = events(&mut world, 120);
                assert_eq!(found.len(), usize::from(breaks), "kind {kind} at {part}: {found:?}");
                assert_eq!(world.joint(joint).is_err(), breaks, "kind {kind}");
                if let Some(event) = found.first() {
                    assert_eq!((event.joint, event.tag), (joint, 77));
                    let JointEnd::Broken { force, torque } = event.reason else { panic!("{event:?}") };
                    assert!((force - 40.0).abs() < 1.0 && torque.abs() < 0.1, "{event:?}");
                    assert!(velocity(&world, body).y < -10.0, "it does not fall");
                }
            }
        }
    });
}

/// Contract: a weld and a slider that bear a load at rest break at their break torque, and not below.
#[test]
fn joints_break_at_their_torque() {
    on_both_sets(|settings| {
        for (part, breaks) in [(1.02f32, false), (0.98, true)] {
            for kind in 0..2 {
                let mut world = world(settings);
                let wall = post(&mut world, Vec2::ZERO);
                let body = add(&mut world, plank(Vec2::new(0.5, 0.1), Vec2::new(0.5, 0.0), 4.0));
                let left = Vec2::new(-0.5, 0.0);
                let desc = match kind {
                    0 => JointDesc::weld(wall, body, Vec2::ZERO, left),
                    _ => JointDesc::prismatic(wall, body, Vec2::ZERO, left, 0.0),
                };
                let joint = join(&mut world, &desc);
                let mut most = 0.0f32;
                for _ in 0..60 {
                    world.step();
                    most = most.max(world.joint_state(joint).unwrap().torque);
                }
                println!("torque of kind {kind} while a load of 20 N·m comes on: {most}");
                world.set_joint(joint, &JointDesc { break_torque: part * 20.0, ..desc }).unwrap();
                let found = events(&mut world, 120);
                assert_eq!(found.len(), usize::from(breaks), "kind {kind} at {part}: {found:?}");
                if let Some(event) = found.first() {
                    let JointEnd::Broken { torque, .. } = event.reason else { panic!("{event:?}") };
                    assert!((torque - 20.0).abs() < 0.5, "{event:?}");
                }
            }
        }
    });
}

/// Contract: a blow breaks a joint in whichever substep it comes, and is reported with its force. A ball at 10 m/s strikes one of two
/// welded discs; the time until it touches is a part of the step. The weld bears a third of the ball's momentum in one substep of 1/240 s: some
/// 800 N. It breaks at 500 N, and not at 2,000 N.
#[test]
fn a_blow_breaks_in_any_substep() {
    on_both_sets(|settings| {
        for (strength, breaks) in [(500.0f32, true), (2_000.0, false)] {
            for substep in 0..4 {
                let mut world = world(weightless(settings));
                let speed = 10.0f32;
                let solid = |desc: BodyDesc| BodyDesc { filter: Filter::default(), ..desc };
                let [near, far] =
                    [0.0, 1.0].map(|x| add(&mut world, solid(disc(0.5, Vec2::new(x, 0.0), 1.0))));
                let weld = JointDesc::weld(near, far, Vec2::new(0.5, 0.0), Vec2::new(-0.5, 0.0));
                let weld = join(&mut world, &JointDesc { break_force: strength, ..weld });
                let gap = speed / 240.0 * (substep as f32 + 0.5);
                let ball = disc(0.5, Vec2::new(-1.0 - gap, 0.0), 1.0);
                add(&mut world, solid(BodyDesc { velocity: Vec2::new(speed, 0.0), ..ball }));
                let mut broken = Vec::new();
                for _ in 0..10 {
                    world.step();
                    broken.extend(world.joint_events().iter().map(|event| (event.joint, event.reason)));
                }
                assert!(velocity(&world, far).x > 1.0, "no blow");
                assert_eq!(broken.len(), usize::from(breaks), "substep {substep}: {broken:?}");
                for (joint, reason) in broken {
                    let JointEnd::Broken { force, .. } = reason else { panic!("{reason:?}") };
                    assert!(joint == weld && force > strength, "{force} N");
                }
            }
        }
    });
}

/// Contract: one step of three times the length among others shakes a chain of 20 links by less than 0.02 m/s, and it is at rest again
/// after a second.
#[test]
fn a_long_step_does_not_shake_a_chain() {
    on_both_sets(|settings| {
        for factor in [2.0f32, 3.0] {
            let mut world = world(settings);
            let mut last = post(&mut world, Vec2::ZERO);
            let mut links = Vec::new();
            for i in 0..20 {
                let link = add(
                    &mut world,
                    plank(Vec2::new(0.05, 0.25), Vec2::new(0.0, -0.25 - 0.5 * i as f32), 1.0),
                );
                let top = if i == 0 { Vec2::ZERO } else { Vec2::new(0.0, -0.25) };
                join(&mut world, &JointDesc::revolute(last, link, top, Vec2::new(0.0, 0.25)));
                links.push(link);
                last = link;
            }
            steps(&mut world, 1_200);
            let fastest =
                |world: &World| links.iter().map(|&link| velocity(world, link).length()).fold(0.0, f32::max);
            let rest = fastest(&world);
            world.set_time_step(factor * settings.time_step).unwrap();
            world.step();
            world.set_time_step(settings.time_step).unwrap();
            let mut most = fastest(&world);
            for _ in 0..60 {
                world.step();
                most = most.max(fastest(&world));
            }
            println!("a step of {factor} times the length: {rest:.5}, {most:.5}, {:.5} m/s", fastest(&world));
            assert!(most < 0.02, "{most} m/s");
        }
    });
}

/// Contract: a slider with limits that is put together off its place brings a box there, and does not throw it: with arms up to 3 m, angles up to half
/// a turn, and points up to 2 m off the axis.
#[test]
fn a_slider_off_its_place_comes_there() {
    for arm in [0.0f32, 1.0, 2.0, 3.0] {
        for direction in [0.0f32, 1.0, 1.9, 3.5] {
            for angle in [-3.0f32, -1.28, -0.3, 0.8, 2.5] {
                for off in [0.0f32, 0.5, 2.0] {
                    let mut world = world(weightless(Settings::default()));
                    let base = post(&mut world, Vec2::ZERO);
                    let point = arm * Vec2::from_angle(direction);
                    let body = add(&mut world, plank(Vec2::splat(0.3), Vec2::new(0.0, off) - point, 1.0));
                    let desc = JointDesc {
                        frame_b: JointFrame { position: point, angle },
                        ..JointDesc::prismatic(base, body, Vec2::ZERO, Vec2::ZERO, 0.0).with_limit(-0.5, 0.0)
                    };
                    let joint = join(&mut world, &desc);
                    (0..300).for_each(|_| world.step());
                    let (found, now) = (world.joint_state(joint).unwrap(), state(&world, body));
                    let case = format!("arm {arm} at {direction}, {angle} rad, {off} m off: {found:?}");
                    assert!(world.quarantined().is_empty(), "{case}");
                    assert!(world.joint_quality().max_error < 0.01, "{case}");
                    assert!(world.joint_quality().max_angle_error < 0.01, "{case}");
                    assert!((-0.51..0.01).contains(&found.translation), "{case}");
                    assert!(now.velocity.length() < 1.0, "{case}: {:?}", now.velocity);
                }
            }
        }
    }
}
