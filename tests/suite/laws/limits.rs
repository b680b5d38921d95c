//! Limits that README and `docs/embedding.md` give with figures. Each test prints them (`-- --nocapture`) and holds what does hold.

use granule::{
    Assembly, BodyDesc, BodyHandle, Filter, JointDesc, LinkDesc, Material, Settings, Shape, Vec2, World,
};

/// A body of restitution 1 and without friction.
fn springy(desc: BodyDesc) -> BodyDesc {
    let material =
        Material { restitution: 1.0, static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
    BodyDesc { material, ..desc }
}

fn weightless(settings: Settings) -> Settings {
    Settings { gravity: Vec2::ZERO, ..settings }
}

/// Contract: a gas whose bodies nearly touch gains no energy, and with the projection solver keeps all of it.
#[test]
fn dense_gases() {
    for (solver, settings) in [("soft", Settings::default()), ("projection", Settings::projection())] {
        for (name, shape) in [("boxes", Shape::oriented_box(0.5, 0.5)), ("circles", Shape::circle(0.5))] {
            for gap in [0.1f32, 0.05, 0.03] {
                let mut world = World::new(weightless(settings)).unwrap();
                let (cell, count) = (1.0 + gap, 10);
                let side = cell * count as f32;
                for (normal, at) in [
                    (Vec2::Y, Vec2::ZERO),
                    (-Vec2::Y, Vec2::new(0.0, side)),
                    (Vec2::X, Vec2::ZERO),
                    (-Vec2::X, Vec2::new(side, 0.0)),
                ] {
                    let wall = BodyDesc::fixed(Shape::half_space(normal, 0.0), at);
                    world.add_body(&springy(wall)).unwrap();
                }
                for i in 0..count * count {
                    let at = cell * Vec2::new((i % count) as f32 + 0.5, (i / count) as f32 + 0.5);
                    let velocity = 3.0 * Vec2::from_angle(2.4 * i as f32);
                    let body = BodyDesc { velocity, ..BodyDesc::dynamic(shape, at) };
                    world.add_body(&springy(body)).unwrap();
                }
                let first = world.quality().kinetic_energy;
                (0..5_000).for_each(|_| world.step());
                let kept = world.quality().kinetic_energy / first;
                println!("{solver}, {name} {gap} m apart: {kept:.3} of the energy after 5,000 steps");
                assert!(
                    kept < 1.005 && kept > if solver == "soft" { 0.5 } else { 0.99 },
                    "{solver}, {name} {gap}: {kept}"
                );
            }
        }
    }
}

/// Contract: a ball that rattles in a slot at 100 m/s and more passes no wall, unless it gives back all of a blow and the soft solver has several
/// substeps.
#[test]
fn a_ball_that_rattles_in_a_slot() {
    let one_substep = Settings { substeps: 1, ..Settings::default() };
    for (solver, settings, restitution, holds) in [
        ("soft", Settings::default(), 1.0f32, false),
        ("soft", Settings::default(), 0.8, true),
        ("soft, one substep", one_substep, 1.0, true),
        ("projection", Settings::projection(), 1.0, true),
    ] {
        let mut passed = 0;
        for (gap, speed, thickness) in [(0.02f32, 200.0f32, 0.5f32), (0.002, 100.0, 0.2)] {
            for start in 0..10 {
                let mut world = World::new(weightless(settings)).unwrap();
                let bouncy = |desc: BodyDesc| {
                    let desc = springy(desc);
                    BodyDesc { material: Material { restitution, ..desc.material }, ..desc }
                };
                for y in [-0.5 * thickness, 1.0 + gap + 0.5 * thickness] {
                    let wall =
                        BodyDesc::fixed(Shape::oriented_box(1_000.0, 0.5 * thickness), Vec2::new(0.0, y));
                    world.add_body(&bouncy(wall)).unwrap();
                }
                let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5 + 0.3 * gap));
                let velocity = Vec2::new(10.0, speed + start as f32);
                let ball = world.add_body(&bouncy(BodyDesc { velocity, ..ball })).unwrap();
                let beyond = (0..300).any(|_| {
                    world.step();
                    let y = world.body(ball).unwrap().position.y;
                    (0.5 - y).max(y - 0.5 - gap) > thickness + 1.0
                });
                passed += usize::from(beyond);
            }
        }
        println!("{solver}, restitution {restitution}: {passed} of 20 balls passed the slot's wall");
        assert!(!holds || passed == 0, "{solver}, restitution {restitution}: {passed}");
    }
}

/// Contract: a plate that falls on five soft bodies of 1 kg makes nothing bad of them; with the soft solver no particle gets below the floor, and no
/// energy is gained, up to 100 kg. (From 200 kg on a corner may be pressed through the floor's 0.1 m, as the plate's place decides: of 30 places below boxes in 9 at
/// 200 kg and in 30 at 300 kg, below hexagons of six particles in 13 at 300 kg.)
#[test]
fn loads_on_soft_bodies() {
    for (solver, settings) in [("soft", Settings::default()), ("projection", Settings::projection())] {
        for (name, is_soft) in [("soft boxes", true), ("hexagons", false)] {
            for load in [20.0f32, 100.0, 300.0] {
                let mut world = World::new(settings).unwrap();
                let floor = BodyDesc::fixed(Shape::oriented_box(20.0, 0.05), Vec2::new(0.0, -0.05));
                world.add_body(&floor).unwrap();
                for x in [-2.6f32, 2.6] {
                    let wall = BodyDesc::fixed(Shape::oriented_box(0.3, 5.0), Vec2::new(x, 5.0));
                    world.add_body(&wall).unwrap();
                }
                let mut points: Vec<BodyHandle> = Vec::new();
                for (x, y) in [(-1.5, 0.52), (0.0, 0.52), (1.5, 0.52), (-0.75, 1.6), (0.75, 1.6)] {
                    let at = Vec2::new(x, y);
                    let soft = if is_soft {
                        Assembly::soft_box(at, Vec2::ONE, 0.05, 1.0, 0.0)
                    } else {
                        Assembly::polygon(at, 0.5, 6, 1.0)
                    };
                    points.extend(world.add_assembly(&soft).unwrap());
                }
                let plate = BodyDesc::dynamic(Shape::oriented_box(2.2, 0.2), Vec2::new(0.0, 3.0));
                world.add_body(&BodyDesc { mass: Some(load), ..plate }).unwrap();
                let most = (0..1_800).map(|_| {
                    world.step();
                    world.quality().kinetic_energy
                });
                let (most, there) = (most.fold(0.0, f64::max), f64::from(28.0 * load + 50.0));
                let below =
                    points.iter().filter(|&&point| world.body(point).unwrap().position.y < -0.1).count();
                println!(
                    "{solver}, {load} kg on {name}: {:.2} of the energy there was, {below} particles below the floor",
                    most / there
                );
                assert!(world.quarantined().is_empty());
                let holds = below == 0 && most < there;
                let is_known = solver == "projection" || load > 100.0;
                assert!(holds || is_known, "{load} kg on {name}: {most} J, {below}");
            }
        }
    }
}

/// A number in 0..1 that differs from case to case.
fn part(case: u32, factor: u32) -> f32 {
    (factor * case % 151) as f32 / 151.0
}

/// Contract: a slider whose motor stands still holds what hangs from it by a joint. What pulls by links moves it.
#[test]
fn a_brake_against_links() {
    for mass in [0.08f32, 1.0, 10.0] {
        let sunk = [true, false].map(|rope| {
            let mut world = World::new(Settings { sleep: false, ..Settings::default() }).unwrap();
            let post = BodyDesc::fixed(Shape::circle(0.05), Vec2::new(0.0, 4.0));
            let filter = Filter { mask: 0, ..post.filter };
            let post = world.add_body(&BodyDesc { filter, ..post }).unwrap();
            let slider = BodyDesc::dynamic(Shape::oriented_box(0.2, 0.1), Vec2::new(0.0, 3.0));
            let slider = world.add_body(&BodyDesc { mass: Some(mass), ..slider }).unwrap();
            let up = std::f32::consts::FRAC_PI_2;
            let rail = JointDesc::prismatic(post, slider, Vec2::new(0.0, -1.0), Vec2::ZERO, up);
            world.add_joint(&rail.with_motor(0.0, 500.0)).unwrap();
            let load = BodyDesc::dynamic(Shape::oriented_box(0.3, 0.3), Vec2::new(0.0, 0.3));
            let load = world.add_body(&BodyDesc { mass: Some(0.36), ..load }).unwrap();
            if rope {
                let (from, to) = (Vec2::new(0.0, 2.9), Vec2::new(0.0, 0.6));
                let points = world.add_assembly(&Assembly::rope(from, to, 6, 0.1).grouped(1)).unwrap();
                for (point, body, place) in [(0, slider, -0.1), (6, load, 0.3)] {
                    world.add_link(&LinkDesc::attach(points[point], body, Vec2::new(0.0, place))).unwrap();
                }
            } else {
                world.add_joint(&JointDesc::distance(slider, load, Vec2::ZERO, Vec2::ZERO, 2.7)).unwrap();
            }
            (0..300).for_each(|_| world.step());
            3.0 - world.body(slider).unwrap().position.y
        });
        println!("a slider of {mass} kg sinks by {} m under a rope, {} under a joint", sunk[0], sunk[1]);
        assert!(sunk[1].abs() < 2e-3 && sunk[0] < 3.0, "{mass} kg: {sunk:?}");
    }
}

/// Contract: a soft heptagon of 1 kg that lands at 11.3 m/s under a soft box of 3 kg never has more energy than it came with, though it may be squashed and spring back
/// with a part of it.
#[test]
fn squashed_heptagons() {
    let (mut back, mut worst) = (0, 0.0f64);
    for case in 1..=150 {
        let mut world = World::new(Settings::default()).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::oriented_box(10.0, 0.5), Vec2::new(0.0, -0.5))).unwrap();
        let below = Vec2::new(part(case, 5) - 0.5, 1.5);
        let above = Vec2::new(part(case, 7) - 0.5, 3.1);
        let radius = 0.3 + 0.3 * part(case, 11);
        for mut assembly in [
            Assembly::polygon(below, radius, 7, 1.0),
            Assembly::soft_box(above, Vec2::splat(0.7), 0.05, 3.0, 6.0 * part(case, 13)),
        ] {
            assembly.bodies.iter_mut().for_each(|body| body.velocity = Vec2::new(0.0, -11.3));
            world.add_assembly(&assembly).unwrap();
        }
        let energy = |world: &World| {
            let residual = world.residual();
            residual.kinetic_energy + residual.potential_energy
        };
        let start = energy(&world);
        let (mut least, mut rise) = (start, 0.0f64);
        for _ in 0..300 {
            world.step();
            let now = energy(&world);
            assert!(now < 1.001 * start, "case {case}: {now} of {start} J");
            rise = rise.max(now - least);
            least = least.min(now);
        }
        back += usize::from(rise > 0.1 * start);
        worst = worst.max(rise / start);
    }
    println!("{back} of 150 heptagons spring back with a tenth of the energy and more, at most {worst}");
    assert!(worst < 0.7 && back <= 90, "{back} of 150, {worst}");
}
