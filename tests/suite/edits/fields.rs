//! Contract: fields of force and explosions follow their formulas, act on what they say, and are the same on every instruction set.

use super::{ball, block, ground, on_every_set, space, steps};
use granule::{
    BodyDesc, Explosion, Field, FieldKind, Filter, Material, Part, Polygon, Region, Settings, Shape, Vec2,
    World,
};

fn water(drag: f32) -> FieldKind {
    FieldKind::Buoyancy {
        normal: Vec2::Y,
        offset: 0.0,
        density: 1.0,
        drag,
        angular_drag: drag,
        flow: Vec2::ZERO,
    }
}

/// An explosion in a ring of equal bodies drives all of them apart at the speed of its formula, and makes no momentum. A body outside, at the centre,
/// or of another category stays.
#[test]
fn explosions_are_radial() {
    let mut world = space();
    let ring: Vec<_> = (0..24)
        .map(|i| {
            let at = 4.0 * Vec2::from_angle(std::f32::consts::TAU * i as f32 / 24.0);
            world.add_body(&ball(at)).unwrap()
        })
        .collect();
    let middle = world.add_body(&ball(Vec2::ZERO)).unwrap();
    let far = world.add_body(&ball(Vec2::new(9.0, 0.0))).unwrap();
    let other = Filter { category: 2, ..Filter::default() };
    let ghost = world.add_body(&BodyDesc { filter: other, ..ball(Vec2::new(2.0, 0.0)) }).unwrap();
    steps(&mut world, 1);
    let explosion = Explosion { mask: 1, ..Explosion::new(Vec2::ZERO, 8.0, 3.0) };
    assert_eq!(world.explode(&explosion), Ok(25));
    // b · (1 − d/r) / m = 1 · 0.5 / (π/4)
    let speed = 3.0 * 0.5 / (0.25 * std::f32::consts::PI);
    for &body in &ring {
        let state = world.body(body).unwrap();
        let away = state.velocity.dot(state.position.normalize());
        assert!((away - speed).abs() < 1e-4 && (state.velocity.length() - away).abs() < 1e-4, "{state:?}");
    }
    assert!(world.quality().momentum.iter().all(|part| part.abs() < 1e-4), "{:?}", world.quality().momentum);
    for body in [middle, far, ghost] {
        assert_eq!(world.body(body).unwrap().velocity, Vec2::ZERO);
    }
    steps(&mut world, 30);
    assert!(world.explode(&Explosion::new(Vec2::ZERO, f32::NAN, 1.0)).is_err());
}

/// An explosion wakes what sleeps.
#[test]
fn explosions_wake() {
    let mut world = ground();
    let body = world.add_body(&block(Vec2::new(0.0, 0.5))).unwrap();
    while world.awake_count() > 0 {
        world.step();
        assert!(world.step_count() < 1_000);
    }
    let quiet = Field { wake: false, ..Field::new(Region::Everywhere, FieldKind::Acceleration(Vec2::X)) };
    assert_eq!(world.apply_field(&quiet), Ok(0));
    assert_eq!(world.asleep_count(), 1);
    assert_eq!(world.explode(&Explosion::new(Vec2::new(0.0, -1.0), 4.0, 20.0)), Ok(1));
    steps(&mut world, 10);
    assert!(world.body(body).unwrap().position.y > 1.0);
}

/// Bodies of half the density of the liquid float with half their area below the surface, whatever their shape; lighter ones higher.
#[test]
fn floating_bodies_sink_by_their_density() {
    let hexagon = Shape::Polygon(Polygon::regular(6, 0.6).unwrap());
    let rounded =
        Polygon::rounded(&[Vec2::ZERO, Vec2::new(1.0, 0.0), Vec2::new(1.0, 1.0), Vec2::Y], 0.2).unwrap().0;
    let shapes = [
        Shape::circle(0.5),
        Shape::oriented_box(0.8, 0.3),
        Shape::aabb(0.5, 0.4),
        Shape::capsule(0.7, 0.25),
        hexagon,
        Shape::Polygon(rounded),
    ];
    let mut world = World::new(Settings::default()).unwrap();
    let wood = Material { density: 0.5, ..Material::default() };
    let bodies: Vec<_> = shapes
        .iter()
        .enumerate()
        .map(|(i, &shape)| {
            let at = Vec2::new(4.0 * i as f32, 0.3);
            world.add_body(&BodyDesc { material: wood, ..BodyDesc::dynamic(shape, at) }).unwrap()
        })
        .collect();
    let cork = Material { density: 0.25, ..wood };
    let light = world
        .add_body(&BodyDesc {
            material: cork,
            ..BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(-4.0, 0.0))
        })
        .unwrap();
    let stone = world.add_body(&ball(Vec2::new(-8.0, 0.0))).unwrap();
    world.set_mass(stone, Some(2.0)).unwrap();
    for _ in 0..1_200 {
        world.apply_field(&Field::new(Region::Everywhere, water(3.0))).unwrap();
        world.step();
    }
    for (&body, shape) in bodies.iter().zip(&shapes) {
        let state = world.body(body).unwrap();
        // All of them are symmetric about their centre: half is below when the centre is at the surface.
        assert!(state.position.y.abs() < 0.01 && state.velocity.length() < 0.01, "{shape:?}: {state:?}");
    }
    let height = world.body(light).unwrap().position.y;
    assert!((height - 0.25).abs() < 0.01, "{height}");
    assert!(world.body(stone).unwrap().position.y < -5.0);
}

/// The force on a body that is partly below the surface is that of the exact area: a circle's segment within 1.5 % of the circle, polygons exactly, and a
/// compound the sum of its parts; its torque is that of the centroid.
#[test]
fn buoyancy_is_that_of_the_area_below() {
    let mut world = World::new(Settings { gravity: Vec2::new(0.0, -10.0), ..Settings::default() }).unwrap();
    for i in 0..=20 {
        let depth = -0.5 + 0.05 * i as f32;
        let body = world.add_body(&ball(Vec2::new(0.0, -depth))).unwrap();
        world.apply_field(&Field::new(Region::Everywhere, water(0.0))).unwrap();
        let (force, torque) = world.force(body).unwrap();
        let t = (2.0 * f64::from(depth)).clamp(-1.0, 1.0);
        let exact = 0.25 * (std::f64::consts::FRAC_PI_2 + t.asin() + t * (1.0 - t * t).sqrt());
        let area = f64::from(force.y) / 10.0;
        assert!((area - exact).abs() < 0.015 * 0.25 * std::f64::consts::PI, "{depth}: {area}, {exact}");
        assert!(force.x == 0.0 && torque.abs() < 1e-5);
        world.remove_body(body).unwrap();
    }
    let body = world.add_body(&block(Vec2::new(0.0, 0.25))).unwrap();
    world.add_part(body, &Part::new(Shape::oriented_box(0.5, 0.5), Vec2::new(1.0, -0.25))).unwrap();
    world.apply_field(&Field::new(Region::Everywhere, water(0.0))).unwrap();
    let (force, torque) = world.force(body).unwrap();
    // A quarter of the left box and half of the right one are below.
    let at = world.body(body).unwrap().position;
    let wanted = 2.5 * (0.0 - at.x) + 5.0 * (1.0 - at.x);
    assert!((force.y - 7.5).abs() < 1e-4 && (torque - wanted).abs() < 1e-4, "{force} {torque}, {wanted}");
}

/// A body that falls through a medium has the terminal speed of its formula, for both kinds of drag, and wind takes a body along.
#[test]
fn drag_has_its_terminal_speed() {
    let mass = 0.25 * std::f32::consts::PI;
    for (linear, quadratic) in [(2.0, 0.0), (0.0, 0.3)] {
        let mut world =
            World::new(Settings { gravity: Vec2::new(0.0, -10.0), ..Settings::default() }).unwrap();
        let body = world.add_body(&ball(Vec2::ZERO)).unwrap();
        for _ in 0..600 {
            let drag = FieldKind::Wind { velocity: Vec2::ZERO, linear, quadratic };
            world.apply_field(&Field::new(Region::Everywhere, drag)).unwrap();
            world.step();
        }
        let terminal = if linear > 0.0 { mass * 10.0 / linear } else { (mass * 10.0 / quadratic).sqrt() };
        let speed = -world.body(body).unwrap().velocity.y;
        assert!((speed / terminal - 1.0).abs() < 1e-3, "{speed}, {terminal}");
    }
    let mut world = space();
    let body = world.add_body(&ball(Vec2::ZERO)).unwrap();
    for _ in 0..300 {
        let storm = FieldKind::Wind { velocity: Vec2::new(8.0, -1.0), linear: 1e6, quadratic: 0.0 };
        world.apply_field(&Field::new(Region::Everywhere, storm)).unwrap();
        world.step();
    }
    assert!((world.body(body).unwrap().velocity - Vec2::new(8.0, -1.0)).length() < 1e-3);
}

/// A body on a circle round an attractor stays on it: v² = s·r²/(r² + e²)^(3/2).
#[test]
fn attractors_hold_an_orbit() {
    let mut world = space();
    // The force is that of the start of a step: with longer steps the body drifts outwards.
    world.set_time_step(1.0 / 960.0).unwrap();
    let (strength, softening, radius) = (100.0, 1.0, 5.0f32);
    let speed = (strength * radius * radius / (radius * radius + softening * softening).powf(1.5)).sqrt();
    let desc = BodyDesc { velocity: Vec2::new(0.0, speed), ..ball(Vec2::new(radius, 0.0)) };
    let body = world.add_body(&desc).unwrap();
    let sun = FieldKind::Attractor { centre: Vec2::ZERO, strength, softening };
    for _ in 0..4_800 {
        world.apply_field(&Field::new(Region::Circle { centre: Vec2::ZERO, radius: 9.0 }, sun)).unwrap();
        world.step();
        let distance = world.body(body).unwrap().position.length();
        assert!((distance - radius).abs() < 0.02 * radius, "{distance}");
    }
}

/// A field acts on the dynamic, enabled bodies in its region, of its categories, and on nothing else.
#[test]
fn regions_and_masks() {
    let mut world = space();
    let inside = world.add_body(&ball(Vec2::new(1.0, 1.0))).unwrap();
    let outside = world.add_body(&ball(Vec2::new(5.0, 1.0))).unwrap();
    let fixed = world.add_body(&BodyDesc::fixed(Shape::circle(0.5), Vec2::new(-1.0, 1.0))).unwrap();
    let off = world.add_body(&BodyDesc { enabled: false, ..ball(Vec2::new(1.0, -1.0)) }).unwrap();
    let region = Region::Aabb { lower: Vec2::splat(-2.0), upper: Vec2::new(2.0, f32::INFINITY) };
    let field = Field::new(region, FieldKind::Acceleration(Vec2::new(3.0, 0.0)));
    assert_eq!(world.apply_field(&field), Ok(1));
    assert_eq!(world.apply_field(&Field { mask: 2, ..field }), Ok(0));
    let mass = world.mass(inside).unwrap();
    assert_eq!(world.force(inside), Ok((Vec2::new(3.0 * mass, 0.0), 0.0)));
    for body in [outside, fixed, off] {
        assert_eq!(world.force(body), Ok((Vec2::ZERO, 0.0)));
    }
    steps(&mut world, 60);
    let wrong = Region::Aabb { lower: Vec2::ONE, upper: Vec2::ZERO };
    assert!(world.apply_field(&Field::new(wrong, field.kind)).is_err());
    let nan = FieldKind::Acceleration(Vec2::new(f32::NAN, 0.0));
    assert!(world.apply_field(&Field::new(region, nan)).is_err());
    world.validate().unwrap();
}

/// Fields give one result on every instruction set.
#[test]
fn fields_are_the_same_everywhere() {
    on_every_set(|world| {
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, -3.0), Vec2::ZERO)).unwrap();
        for i in 0..77 {
            let at = Vec2::new((i % 11) as f32 * 1.3, -2.0 + (i / 11) as f32 * 0.9);
            let shape = match i % 5 {
                0 => Shape::circle(0.4),
                1 => Shape::oriented_box(0.5, 0.2),
                2 => Shape::capsule(0.4, 0.2),
                3 => Shape::Polygon(Polygon::regular(5, 0.4).unwrap()),
                _ => Shape::aabb(0.3, 0.3),
            };
            let material = Material { density: 0.3 + 0.02 * i as f32, ..Material::default() };
            world.add_body(&BodyDesc { material, angle: i as f32, ..BodyDesc::dynamic(shape, at) }).unwrap();
        }
        let centre = Vec2::new(6.0, 0.0);
        (0..120)
            .map(|step| {
                world.apply_field(&Field::new(Region::Everywhere, water(2.0))).unwrap();
                let wind = FieldKind::Wind { velocity: Vec2::X, linear: 0.3, quadratic: 0.1 };
                world.apply_field(&Field::new(Region::Circle { centre, radius: 4.0 }, wind)).unwrap();
                let pull = FieldKind::Attractor { centre, strength: 5.0, softening: 0.5 };
                world.apply_field(&Field::new(Region::Everywhere, pull)).unwrap();
                if step % 40 == 20 {
                    world.explode(&Explosion::new(centre, 5.0, 2.0)).unwrap();
                }
                world.step();
                world.state_hash()
            })
            .collect()
    });
}
