//! Rest.

use super::*;

/// A stack of 10 boxes stands for 10 s and moves less than 1 mm after the first second.
#[test]
fn stack_of_ten_boxes_stands() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        world.add_body(&floor(Material::default())).unwrap();
        let boxes: Vec<_> = (0..10)
            .map(|i| BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(0.0, 0.5 + i as f32)))
            .map(|desc| world.add_body(&desc).unwrap())
            .collect();
        steps(&mut world, 60);
        let settled: Vec<_> = boxes.iter().map(|&body| state(&world, body).position).collect();
        for (i, at) in settled.iter().enumerate() {
            let from_ideal = (*at - Vec2::new(0.0, 0.5 + i as f32)).length();
            assert!(
                from_ideal < 0.2,
                "box {i} settled {from_ideal} m from where it was put ({:?})",
                settings.solver
            );
        }
        for step in 60..600 {
            world.step();
            for (i, (&body, at)) in boxes.iter().zip(&settled).enumerate() {
                let moved = (state(&world, body).position - *at).length();
                assert!(moved < 1e-3, "box {i} moved {moved} m by step {step} ({:?})", settings.solver);
            }
        }
    });
}

/// A mass ratio of 1,000:1 at rest on a floor does not explode: no body jumps, sinks through or keeps moving.
#[test]
fn mass_ratio_of_a_thousand_rests() {
    on_both_sets_and_solvers(|settings| {
        for shape in [Shape::circle(0.5), Shape::aabb(0.5, 0.5)] {
            let mut world = world(settings);
            world.add_body(&floor(Material::default())).unwrap();
            let block = |y: f32, density: f32| BodyDesc {
                material: Material { density, ..Material::default() },
                ..BodyDesc::dynamic(shape, Vec2::new(0.0, y))
            };
            let light = world.add_body(&block(0.5, 1.0)).unwrap();
            let heavy = world.add_body(&block(1.5, 1_000.0)).unwrap();
            for step in 0..600 {
                world.step();
                for body in [light, heavy] {
                    let now = state(&world, body);
                    assert!(now.velocity.length() < 3.5, "step {step}: {now:?} ({settings:?})");
                    assert!(
                        now.position.y > -0.5 && now.position.y < 1.55,
                        "step {step}: {now:?} ({settings:?})"
                    );
                }
            }
            for body in [light, heavy] {
                let speed = state(&world, body).velocity.length();
                assert!(speed < 0.05, "still moves at {speed} m/s after 10 s ({settings:?})");
            }
            assert!(world.quarantined().is_empty());
        }
    });
}

/// A light body on a heavy one rests within a slop of its start.
#[test]
fn light_on_heavy_rests() {
    on_both_sets_and_solvers(|settings| {
        let mut world = world(settings);
        world.add_body(&floor(Material::default())).unwrap();
        let block = |y: f32, density: f32| BodyDesc {
            material: Material { density, ..Material::default() },
            ..BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(0.0, y))
        };
        let heavy = world.add_body(&block(0.5, 1_000.0)).unwrap();
        let light = world.add_body(&block(1.5, 1.0)).unwrap();
        steps(&mut world, 600);
        assert_close("heavy", state(&world, heavy).position.y, 0.5, 0.02, &settings);
        assert_close("light", state(&world, light).position.y, 1.5, 0.03, &settings);
        assert_close("speed", state(&world, light).velocity.length(), 0.0, 1e-3, &settings);
    });
}

/// Overlapping bodies are pushed apart no faster than the push-out speed, and end up apart.
#[test]
fn overlap_is_pushed_out_gently() {
    on_both_sets(|settings| {
        let settings = Settings { sleep: false, ..weightless(settings) };
        let mut world = world(settings);
        let a = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(-0.2, 0.0))).unwrap();
        let b = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.2, 0.0))).unwrap();
        let mut gap = 0.4;
        for _ in 0..240 {
            world.step();
            let now = state(&world, b).position.x - state(&world, a).position.x;
            assert!(
                now - gap <= settings.push_out_speed * settings.time_step * 1.01,
                "{gap} to {now} in a step"
            );
            gap = now;
        }
        assert!(gap > 0.98 && gap < 1.1, "ended {gap} apart");
        let momentum = state(&world, a).velocity + state(&world, b).velocity;
        assert_close("momentum", momentum.length(), 0.0, 1e-5, &settings);
    });
}

/// A pile of 10,000 circles, packed without a load, bears its load after two seconds: the RMS speed is below 0.06 m/s,
/// and the overlap is 6 mm on average.
#[test]
fn packed_pile_comes_to_rest() {
    let mut world = scene::builtin("packed", 10_000, 1).unwrap().build().unwrap();
    steps(&mut world, 120);
    let quality = world.quality();
    assert!(quality.rms_speed < 0.06, "still at {} m/s", quality.rms_speed);
    assert!((0.003..0.007).contains(&quality.mean_penetration), "{} m deep", quality.mean_penetration);
}
