//! The removal of overlap, and heavy bodies on light ones.

use super::*;

each_form_projected! { projection_removes_its_percentage_per_step: circle, aabb, cube, capsule, octagon }
each_solver! { heavy_on_light_sinks_little, boulder_on_pebbles_sinks_little }

/// The tolerance of the removed overlap where the points of a contact are projected one after the other.
const POINT_AFTER_POINT: f32 = 0.2;

/// A step of the projection solver removes `projection_percent` of the overlap beyond the slop, for any number of
/// substeps and every kind of floor. The tolerance is 5 % where there is one point, or where nothing turns, and
/// [`POINT_AFTER_POINT`] where several points are solved one after the other. Velocities stay 0.
fn projection_removes_its_percentage_per_step(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    for substeps in [1, 2, 4, 8] {
        for projection_percent in [0.1f32, 0.2, 0.5] {
            let settings = Settings { substeps, projection_percent, ..weightless(settings) };
            let overlap = 0.1 + settings.projection_slop;
            for (ground_name, ground) in grounds(0.0, Material::default()) {
                let mut world = world(settings);
                world.add_body(&ground).unwrap();
                let desc = form.body(Vec2::new(0.0, form.height - overlap));
                let body = form.add(&mut world, &desc);
                world.step();
                let end = state(&world, body);
                let case = || format!("{projection_percent} in {substeps} substeps from a {ground_name}");
                let expected = projection_percent * 0.1;
                let points = matches!(form.shape(), Shape::Circle { .. } | Shape::Aabb { .. });
                let tolerance = expected * if points { 0.05 } else { POINT_AFTER_POINT };
                cases.close("moves by", end.position.y - desc.position.y, expected, tolerance, case);
                cases.close("goes at", end.velocity.length(), 0.0, 1e-4, case);
                cases.close("turns by", end.angle, 0.0, 0.01, case);
            }
        }
    }
    cases.finish();
}

/// How far the top body of a column may sink in 5 s below its place in a column of hard bodies, m, by mass ratio:
/// columns of boxes, of axis-aligned boxes, of circles between walls.
const SINKS: [(f32, [f32; 3]); 3] = [(10.0, [0.005; 3]), (100.0, [0.045; 3]), (1_000.0, [0.55; 3])];

/// A heavy body on a light one of the same size, 10:1 to 1,000:1, sinks by no more than [`SINKS`] in 5 s, and neither
/// body slides off.
fn heavy_on_light_sinks_little(settings: Settings) {
    let mut cases = Cases::new("heavy on light", &settings);
    for (ratio, limits) in SINKS {
        for (form, limit) in [forms::cube(), forms::aabb(), forms::circle()].into_iter().zip(limits) {
            let mut world = world(settings);
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            if form.name == "circle" {
                for side in [-1.0f32, 1.0] {
                    let wall = Shape::half_space(Vec2::new(-side, 0.0), 0.0);
                    world.add_body(&BodyDesc::fixed(wall, Vec2::new(0.5 * side, 0.0))).unwrap();
                }
            }
            let mut place = |level: f32, density: f32| {
                let material = Material { density, ..Material::default() };
                let at = Vec2::new(0.0, (2.0 * level + 1.0) * form.height);
                form.add(&mut world, &BodyDesc { material, ..form.body(at) })
            };
            let (light, heavy) = (place(0.0, 1.0), place(1.0, ratio));
            let mut most = 0.0f32;
            for _ in 0..300 {
                world.step();
                most = most.max(3.0 * form.height - state(&world, heavy).position.y);
            }
            let (low, high) = (state(&world, light).position, state(&world, heavy).position);
            let sunk = 3.0 * form.height - high.y;
            let under = form.height - low.y;
            println!("{} {ratio}:1: sinks {sunk} (most {most}), of that the light one {under}", form.name);
            let case = || format!("{} at {ratio}:1: {low}, {high}", form.name);
            cases.holds(sunk <= limit, || format!("sinks by {sunk} m, at most {limit}: {}", case()));
            cases.holds(high.x.abs() < 0.05 && low.x.abs() < 0.05, || format!("goes aside: {}", case()));
        }
    }
    cases.finish();
}

/// How far a boulder on a bed of pebbles may press a pebble into the floor, m.
const PRESSED: f32 = 0.03;

/// A boulder of radius 2.5 m lies on a row of pebbles of 0.1 m between walls; each pebble is 625 times lighter. After
/// 5 s no pebble's centre is below its radius by more than [`PRESSED`].
fn boulder_on_pebbles_sinks_little(settings: Settings) {
    let mut cases = Cases::new("boulder", &settings);
    let mut world = world(settings);
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    for side in [-1.0f32, 1.0] {
        let wall = Shape::half_space(Vec2::new(-side, 0.0), 0.0);
        world.add_body(&BodyDesc::fixed(wall, Vec2::new(2.5 * side, 0.0))).unwrap();
    }
    let pebbles: Vec<_> = (-12..=12)
        .map(|i| BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(0.2 * i as f32, 0.1)))
        .map(|desc| world.add_body(&desc).unwrap())
        .collect();
    let boulder = BodyDesc::dynamic(Shape::circle(2.5), Vec2::new(0.0, 2.7));
    let boulder = world.add_body(&boulder).unwrap();
    steps(&mut world, 300);
    let deepest = pebbles.iter().map(|&pebble| 0.1 - state(&world, pebble).position.y).fold(0.0, f32::max);
    let sunk = 2.7 - state(&world, boulder).position.y;
    println!("boulder sinks {sunk}, deepest pebble {deepest}");
    cases.holds(deepest <= PRESSED, || {
        format!("a pebble is {deepest} m in the floor, the boulder sank {sunk}")
    });
    cases.finish();
}

/// A box that falls on a far lighter one, which lies on the floor, does not rise above its height: up to 30 times the mass, and with four iterations up to
/// 100 times. (`docs/embedding.md` says what happens beyond.)
#[test]
fn heavy_bodies_on_light_ones() {
    let four = Settings { iterations: 4, ..soft() };
    let cases = [("soft", soft(), 30.0), ("soft, 4", four, 100.0), ("projection", projection(), 100.0)];
    for (name, settings, most) in cases {
        for ratio in [3.0f32, 10.0, 30.0, 100.0] {
            for restitution in [0.0f32, 0.5] {
                let (mut rise, mut deepest) = (0.0f32, 0.0f32);
                for (fall, phase) in
                    [0.05f32, 0.1, 0.2, 0.5, 1.0].into_iter().flat_map(|h| (0u8..6).map(move |n| (h, n)))
                {
                    let mut world = world(settings);
                    let material = Material { restitution, ..Material::default() };
                    let floor = Shape::half_space(Vec2::Y, 0.0);
                    world.add_body(&BodyDesc { material, ..BodyDesc::fixed(floor, Vec2::ZERO) }).unwrap();
                    let of = |mass: f32, y: f32| BodyDesc {
                        material,
                        mass: Some(mass),
                        ..BodyDesc::dynamic(Shape::oriented_box(0.25, 0.25), Vec2::new(0.0, y))
                    };
                    let light = world.add_body(&of(1.0, 0.25)).unwrap();
                    steps(&mut world, 60);
                    let height = fall + 0.002 * f32::from(phase);
                    let heavy = world.add_body(&of(ratio, 0.75 + height)).unwrap();
                    let mut has_landed = false;
                    for _ in 0..240 {
                        world.step();
                        let [below, above] = [light, heavy].map(|body| state(&world, body));
                        has_landed |= above.velocity.y > 0.0;
                        deepest = deepest.max(0.5 - (above.position.y - below.position.y));
                        if has_landed {
                            rise = rise.max((above.position.y - 0.75) / height);
                        }
                    }
                }
                println!(
                    "{name}, {ratio} times the mass, e {restitution}: rises to {rise} of its height, {deepest} m deep"
                );
                assert!(
                    ratio > most || rise < 1.0,
                    "{name}, {ratio}, {restitution}: {rise}, {deepest} m deep"
                );
            }
        }
    }
}
