//! Kinematic bodies, filters, events, the accumulator.

use super::*;

/// A kinematic body moves at its own velocity, whatever acts on it: gravity, impulses, collisions.
#[test]
fn kinematic_bodies_keep_their_velocity() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        let pusher = BodyDesc {
            velocity: Vec2::new(2.0, 0.5),
            angular_velocity: 1.0,
            ..BodyDesc::kinematic(Shape::circle(0.5), Vec2::ZERO)
        };
        let pusher = world.add_body(&pusher).unwrap();
        world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(1.5, 0.2))).unwrap();
        steps(&mut world, 60);
        let end = state(&world, pusher);
        assert_eq!(end.velocity, Vec2::new(2.0, 0.5));
        assert_eq!(end.angular_velocity, 1.0);
        assert_close("x", end.position.x, 2.0, 1e-4, &settings);
        assert_close("y", end.position.y, 0.5, 1e-4, &settings);
        assert_close("angle", end.angle, 1.0, 1e-4, &settings);
    });
}

/// A kinematic box pushes a body that it meets up to its own speed.
#[test]
fn kinematic_bodies_push() {
    on_both_sets_and_solvers(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let pusher = BodyDesc {
            velocity: Vec2::new(2.0, 0.0),
            ..BodyDesc::kinematic(Shape::aabb(0.5, 0.5), Vec2::ZERO)
        };
        world.add_body(&pusher).unwrap();
        let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(1.5, 0.0))).unwrap();
        steps(&mut world, 60);
        assert_close("vx", state(&world, ball).velocity.x, 2.0, 0.02, &settings);
        // The ball is pushed from x = 1.0 on: the faces stay together within the slop.
        let front = 2.0 + 0.5;
        assert!(state(&world, ball).position.x - 0.5 > front - 0.03, "{:?}", state(&world, ball));
    });
}

/// A kinematic conveyor carries a box by friction until both have the same speed.
#[test]
fn kinematic_bodies_carry() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        let belt = BodyDesc {
            velocity: Vec2::new(1.0, 0.0),
            ..BodyDesc::kinematic(Shape::aabb(20.0, 0.5), Vec2::ZERO)
        };
        world.add_body(&belt).unwrap();
        let cargo = world.add_body(&BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(0.0, 1.0))).unwrap();
        steps(&mut world, 120);
        assert_close("vx", state(&world, cargo).velocity.x, 1.0, 0.01, &settings);
        assert_close("y", state(&world, cargo).position.y, 1.0, 0.02, &settings);
    });
}

fn filter(category: u32, mask: u32) -> Filter {
    Filter { category, mask, group: 0 }
}

/// A pair collides exactly when each body's category is in the other's mask, and the two are in no common group.
#[test]
fn filters_decide_who_collides() {
    on_both_sets(|settings| {
        let pairs = [
            (Filter::default(), Filter::default(), true),
            (filter(2, u32::MAX), filter(1, 1), false),
            (filter(1, 1), filter(2, u32::MAX), false),
            (filter(2, 4), filter(4, 2), true),
            (filter(2, 2), filter(4, 4), false),
            (filter(1 << 31, 1 << 31), filter(1 << 31, 1 << 31), true),
            (filter(0, u32::MAX), Filter::default(), false),
            (Filter { group: 3, ..Filter::default() }, Filter { group: 3, ..Filter::default() }, false),
            (Filter { group: 3, ..Filter::default() }, Filter { group: 4, ..Filter::default() }, true),
        ];
        for (ground, ball, collide) in pairs {
            let apart = ground.group != 0 && ground.group == ball.group;
            let layers = (ground.category & ball.mask) != 0 && (ball.category & ground.mask) != 0;
            assert_eq!(layers && !apart, collide);
            for shape in [Shape::half_space(Vec2::Y, 0.0), Shape::aabb(5.0, 2.0)] {
                let mut world = world(settings);
                let at = if matches!(shape, Shape::Aabb { .. }) { Vec2::new(0.0, -2.0) } else { Vec2::ZERO };
                world.add_body(&BodyDesc { filter: ground, ..BodyDesc::fixed(shape, at) }).unwrap();
                let desc =
                    BodyDesc { filter: ball, ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 1.0)) };
                let body = world.add_body(&desc).unwrap();
                steps(&mut world, 120);
                let y = state(&world, body).position.y;
                if collide {
                    assert_close("rests", y, 0.5, 0.02, &settings);
                } else {
                    assert!(y < -15.0, "{ground:?} {ball:?} {shape:?}: held at {y}");
                    assert_eq!(world.pair_count(), 0, "filtered before the narrowphase");
                }
            }
        }
    });
}

/// A body that can touch no existing body touches a body that is added later, or touches after a filter is set later.
#[test]
fn what_touches_none_may_touch_later() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(weightless(settings));
        let [a, b] = [0.0, 0.9].map(|x| {
            let desc = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, 0.0));
            world.add_body(&BodyDesc { filter: filter(1, 2), ..desc }).unwrap()
        });
        world.step();
        assert_eq!((world.pair_count(), world.contact_count()), (0, 0));
        let late = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(-0.9, 0.0));
        let late = world.add_body(&BodyDesc { filter: filter(2, 1), ..late }).unwrap();
        world.step();
        let touching: Vec<_> = world.contacts().map(|contact| contact.a.max(contact.b)).collect();
        assert_eq!(touching, [late]);
        world.set_filter(a, filter(2, 1)).unwrap();
        world.step();
        assert!(world.contacts().any(|contact| [contact.a, contact.b] == [a, b]), "{b:?} has not noticed");
    });
}

/// A filter that is set for a body of several parts applies to all parts.
#[test]
fn filters_of_compounds_can_change() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let desc = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5));
        let body = world.add_body(&desc).unwrap();
        world.add_part(body, &Part::new(Shape::circle(0.5), Vec2::new(1.0, 0.0))).unwrap();
        steps(&mut world, 10);
        assert!(world.contact_count() > 0);
        world.set_filter(body, filter(2, 0)).unwrap();
        steps(&mut world, 60);
        assert_eq!(world.contact_count(), 0);
        assert!(state(&world, body).position.y < -1.0, "it still stands on the floor");
        assert_eq!(world.parts(body).unwrap()[1].filter, filter(2, 0));
    });
}

/// A filter that is set later takes effect: the floor opens under the body, and the contact ends.
#[test]
fn filters_can_change() {
    on_both_sets(|settings| {
        let mut world = world(settings);
        world.add_body(&floor(Material::default())).unwrap();
        let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5))).unwrap();
        steps(&mut world, 60);
        assert_close("rests", state(&world, body).position.y, 0.5, 0.02, &settings);
        world.set_filter(body, filter(2, 0)).unwrap();
        let mut ends = 0;
        for _ in 0..60 {
            world.step();
            ends += world.end_events().len();
        }
        assert_eq!(ends, 1);
        assert!(state(&world, body).position.y < -4.0);
    });
}

/// A ball that lands and stays begins one contact and ends none. When the ball is removed, that contact ends.
#[test]
fn contacts_begin_and_end_once() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        let ground = world.add_body(&floor(Material::default())).unwrap();
        let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 2.0))).unwrap();
        let pair = |a, b| [a, b] == [ground, ball] || [a, b] == [ball, ground];
        let mut begun = Vec::new();
        for step in 0..120 {
            world.step();
            assert!(world.end_events().is_empty());
            for event in world.begin_events() {
                assert!(pair(event.a, event.b), "{event:?}");
                begun.push(step);
            }
        }
        // The ball falls 1.5 m in √(2·1.5/10) = 0.55 s.
        assert_eq!(begun.len(), 1, "{begun:?}");
        assert!((31..=35).contains(&begun[0]), "{begun:?}");
        assert_eq!(world.contacts().count(), 1);
        let contact = world.contacts().next().unwrap();
        let weight = world.mass(ball).unwrap() * G;
        // The contact reports the impulse of one substep.
        let h = settings.time_step / settings.substeps as f32;
        assert_close("impulse", contact.normal_impulse, weight * h, 0.02 * weight * h, &settings);
        assert_close("friction at rest", contact.tangent_impulse, 0.0, 0.01 * weight * h, &settings);

        world.set_position(ball, Vec2::new(0.0, 50.0)).unwrap();
        world.step();
        assert!(world.begin_events().is_empty());
        assert_eq!(world.end_events().len(), 1);
        assert!(pair(world.end_events()[0].a, world.end_events()[0].b));
        world.step();
        assert!(world.end_events().is_empty());
        assert_eq!(world.contacts().count(), 0);
    });
}

/// `advance` runs as many fixed steps as fit into the elapsed time, and reports the rest as `alpha`.
#[test]
fn advance_accumulates_fixed_steps() {
    on_both_sets(|settings| {
        // The time step is a power of two, so that the sums are exact.
        let settings = Settings { time_step: 1.0 / 64.0, ..settings };
        let mut world = world(settings);
        let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 10.0))).unwrap();
        let mut reference = World::new(settings).unwrap();
        let twin = reference.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 10.0))).unwrap();

        let frame = |world: &mut World, elapsed: f32, expected_steps: u32, expected_alpha: f32| {
            let advance = world.advance(elapsed).unwrap();
            assert_eq!(advance.steps, expected_steps);
            assert_close("alpha", advance.alpha, expected_alpha, 1e-4, &settings);
            advance
        };
        frame(&mut world, 0.5 / 64.0, 0, 0.5);
        assert_eq!(state(&world, body).position.y, 10.0);
        frame(&mut world, 0.25 / 64.0, 0, 0.75);
        frame(&mut world, 0.5 / 64.0, 1, 0.25);
        frame(&mut world, 2.0 / 64.0, 2, 0.25);
        frame(&mut world, 0.0, 0, 0.25);
        let last = frame(&mut world, 1.5 / 64.0, 1, 0.75);
        assert_eq!(world.step_count(), 4);

        // A host that calls `step` itself gets the same steps, bit for bit.
        steps(&mut reference, 3);
        let previous = state(&reference, twin);
        reference.step();
        assert_eq!(state(&world, body), state(&reference, twin));

        let present = state(&world, body);
        let drawn = world.interpolated(body, last.alpha).unwrap();
        let expected = previous.position + (present.position - previous.position) * last.alpha;
        assert_close("interpolated", drawn.position.y, expected.y, 1e-5, &settings);
        assert_eq!(world.interpolated(body, 0.0).unwrap().position, previous.position);
        assert_eq!(world.interpolated(body, 1.0).unwrap().position, present.position);
    });
}

/// If the time is more than the largest number of steps takes, `advance` takes that number of steps and drops the other
/// whole steps. It keeps the fraction of a step, and the next call has nothing to make up for.
#[test]
fn advance_forgets_what_it_cannot_make_up_for() {
    on_both_sets(|settings| {
        // The time step is a power of two, so that the sums are exact.
        let settings = Settings { time_step: 1.0 / 64.0, ..settings };
        let mut world = world(settings);
        let most = World::MAX_STEPS_PER_ADVANCE;
        let mut taken = 0;
        let mut advance = |world: &mut World, elapsed_steps: f32, steps: u32, alpha: f32| {
            let advance = world.advance(elapsed_steps / 64.0).unwrap();
            taken += u64::from(steps);
            assert_eq!((advance.steps, advance.alpha), (steps, alpha), "{elapsed_steps} steps");
            assert_eq!(world.step_count(), taken);
        };
        advance(&mut world, most as f32, most, 0.0);
        advance(&mut world, most as f32 + 0.75, most, 0.75);
        advance(&mut world, 0.0, 0, 0.75);
        // With the rest from before, this is exactly one step more than the limit.
        advance(&mut world, most as f32 + 0.25, most, 0.0);
        advance(&mut world, 0.0, 0, 0.0);
        advance(&mut world, 20.25, most, 0.25);
        advance(&mut world, 0.5, 0, 0.75);
        advance(&mut world, 0.25, 1, 0.0);
        for _ in 0..10 {
            advance(&mut world, 1000.125, most, 0.125);
            advance(&mut world, 0.875, 1, 0.0);
        }
        advance(&mut world, 64.0e6, most, 0.0);
        advance(&mut world, 1.5, 1, 0.5);
    });
}

/// Interpolation treats the angle like the position.
#[test]
fn interpolation_covers_the_angle() {
    on_both_sets(|settings| {
        let settings = weightless(Settings { time_step: 1.0 / 64.0, ..settings });
        let mut world = world(settings);
        let desc = BodyDesc {
            angle: 1.0,
            angular_velocity: 16.0,
            velocity: Vec2::new(64.0, 0.0),
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)
        };
        let body = world.add_body(&desc).unwrap();
        let advance = world.advance(1.5 / 64.0).unwrap();
        assert_eq!(advance.steps, 1);
        let drawn = world.interpolated(body, advance.alpha).unwrap();
        assert_close("angle", drawn.angle, 1.125, 1e-5, &settings);
        assert_close("x", drawn.position.x, 0.5, 1e-5, &settings);
    });
}

/// A teleported body is drawn at its new place: interpolation does not move it across the world.
#[test]
fn teleports_are_not_interpolated() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)).unwrap();
        world.step();
        world.set_position(body, Vec2::new(100.0, 0.0)).unwrap();
        assert_eq!(world.interpolated(body, 0.5).unwrap().position, Vec2::new(100.0, 0.0));
        world.step();
        assert_eq!(world.interpolated(body, 0.5).unwrap().position, Vec2::new(100.0, 0.0));
    });
}

/// Quality reports kinetic energy and momentum by their definitions, and penetration by depth.
#[test]
fn quality_follows_its_definitions() {
    on_both_sets(|settings| {
        let settings = weightless(settings);
        let mut world = world(settings);
        let fast = BodyDesc {
            mass: Some(2.0),
            velocity: Vec2::new(3.0, 4.0),
            angular_velocity: 2.0,
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(50.0, 0.0))
        };
        world.add_body(&fast).unwrap();
        world
            .add_body(&BodyDesc { mass: Some(1.0), ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO) })
            .unwrap();
        let other = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.9, 0.0));
        world.add_body(&BodyDesc { mass: Some(1.0), ..other }).unwrap();
        let quality = world.quality();
        let spin = 0.5 * (0.5 * 2.0 * 0.25) * 4.0;
        assert!((quality.kinetic_energy - (25.0 + spin)).abs() < 1e-4, "{quality:?}");
        assert!(
            (quality.momentum[0] - 6.0).abs() < 1e-5 && (quality.momentum[1] - 8.0).abs() < 1e-5,
            "{quality:?}"
        );
        world.step();
        let apart = {
            let columns = world.columns();
            f64::from(columns.pos_x.iter().copied().filter(|x| *x < 10.0).fold(f32::MIN, f32::max))
                - f64::from(columns.pos_x.iter().copied().fold(f32::MAX, f32::min))
        };
        let quality = world.quality();
        assert_eq!(quality.contacts, 1, "{quality:?}");
        assert!(quality.max_penetration > 0.0 && quality.max_penetration < 0.1, "{quality:?}");
        assert!((quality.max_penetration - (1.0 - apart)).abs() < 1e-5, "{quality:?}, centres {apart} apart");
        assert!((quality.mean_penetration - quality.max_penetration).abs() < 1e-9, "{quality:?}");
    });
}

/// The projection solver leaves an overlap up to the slop, and removes `percent` of the rest per step.
#[test]
fn projection_takes_a_share_of_the_overlap() {
    for isa in SETS {
        let settings = weightless(Settings { isa, ..Settings::projection() });
        assert_eq!(settings.solver, Solver::Projection);
        let mut world = world(settings);
        world.add_body(&floor(Material::default())).unwrap();
        let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.4))).unwrap();
        let mut depth = 0.1f32;
        for _ in 0..20 {
            world.step();
            let expected = depth - settings.projection_percent * (depth - settings.projection_slop).max(0.0);
            let now = 0.5 - state(&world, ball).position.y;
            assert_close("depth", now, expected, 2e-3 * depth + 1e-5, &settings);
            assert_close("no speed is added", state(&world, ball).velocity.y, 0.0, 1e-5, &settings);
            depth = now;
        }
        assert!(depth < 0.012, "{depth}");
    }
}
