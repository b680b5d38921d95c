//! Fast bodies against static and kinematic shapes.

use super::*;
use granule::{Assembly, JointDesc};
use std::f32::consts::FRAC_PI_2;

/// Half the side of the room.
const HALF: f32 = 20.0;

/// How the walls of the room move.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Walls {
    Fixed,
    Moving,
    Turning,
}

/// A square room with walls 0.1 m thick. Returns a body that moves with it, in its middle but for `Moving`.
fn room(world: &mut World, walls: Walls, material: Material) -> BodyHandle {
    let sides = [
        (Vec2::new(0.0, HALF), 0.0),
        (Vec2::new(0.0, -HALF), 0.0),
        (Vec2::new(HALF, 0.0), FRAC_PI_2),
        (Vec2::new(-HALF, 0.0), FRAC_PI_2),
    ];
    let side = Shape::oriented_box(HALF + 0.1, 0.05);
    if walls == Walls::Turning {
        let hub = BodyDesc::kinematic(Shape::oriented_box(0.2, 0.2), Vec2::ZERO);
        let hub = world.add_body(&BodyDesc { angular_velocity: 2.0, material, ..hub }).unwrap();
        let part = |(position, angle)| Part { angle, material, ..Part::new(side, position) };
        world.add_parts(hub, &sides.map(part)).unwrap();
        return hub;
    }
    let velocity = if walls == Walls::Moving { Vec2::new(3.0, 2.0) } else { Vec2::ZERO };
    let mut last = None;
    for (position, angle) in sides {
        let desc = match walls {
            Walls::Fixed => BodyDesc::fixed(side, position),
            _ => BodyDesc::kinematic(side, position),
        };
        last = Some(world.add_body(&BodyDesc { velocity, angle, material, ..desc }).unwrap());
    }
    last.unwrap()
}

/// How many of `count` bodies of all shapes get out of the room within `steps`, and by what factor the energy of one rose at most.
fn escaped(walls: Walls, speed: f32, restitution: f32, settings: Settings, count: usize) -> (usize, f32) {
    let mut world = world(weightless(settings));
    let material =
        Material { restitution, static_friction: 0.3, dynamic_friction: 0.3, ..Material::default() };
    let frame = room(&mut world, walls, material);
    let start = state(&world, frame);
    let mut numbers = Numbers(7);
    let bodies: Vec<_> = (0..count)
        .map(|number| {
            let position = 18.0 * Vec2::new(2.0 * numbers.next() - 1.0, 2.0 * numbers.next() - 1.0);
            let desc = BodyDesc {
                velocity: speed * numbers.direction(),
                angle: 6.0 * numbers.next(),
                angular_velocity: 100.0 * (numbers.next() - 0.5),
                material,
                filter: Filter { category: 2, mask: 1, group: 0 },
                ..small(number, position)
            };
            world.add_body(&desc).unwrap()
        })
        .collect();
    let before = 0.5 * 0.1 * speed * speed;
    let (mut gone, mut most) = (vec![false; count], 0.0f32);
    for _ in 0..300 {
        world.step();
        let now = state(&world, frame);
        let (centre, angle) = if walls == Walls::Turning {
            (Vec2::ZERO, now.angle)
        } else {
            (now.position - start.position, 0.0)
        };
        for (gone, &body) in gone.iter_mut().zip(&bodies) {
            let at = Vec2::from_angle(-angle).rotate(state(&world, body).position - centre);
            *gone |= at.abs().max_element() > HALF;
            most = most.max(energy(&world, body) / before);
        }
    }
    (gone.iter().filter(|gone| **gone).count(), most)
}

/// Contract: no shape leaves a room with walls a quarter of its own size thick, at 50 and 400 m/s, spinning, straight or at a grazing
/// angle, whether the walls stand, move or turn (but for one segment without thickness); where they stand, none gains energy. Without continuous collision some do leave.
#[test]
fn no_shape_passes_a_thin_wall() {
    for walls in [Walls::Fixed, Walls::Moving, Walls::Turning] {
        for (speed, restitution) in [(50.0, 0.0), (400.0, 0.0), (50.0, 0.5), (50.0, 1.0), (400.0, 1.0)] {
            let (gone, most) = escaped(walls, speed, restitution, Settings::default(), 800);
            // A segment without thickness that lies on the inside of a turning wall, pressed on by that wall's turn alone, sinks in a
            // little each step, and one of a hundred comes out at the other side: a known gap.
            let may_go = usize::from(walls == Walls::Turning && speed > 100.0 && restitution == 0.0);
            assert!(gone <= may_go, "{walls:?} at {speed} m/s, restitution {restitution}: {gone} left");
            // A wall that comes at 3.6 m/s adds twice that speed.
            let limit = match walls {
                Walls::Fixed => 1.01,
                Walls::Moving => (1.0 + 2.1 * 3.6 / speed).powi(2),
                Walls::Turning => f32::MAX,
            };
            assert!(most <= limit, "{walls:?} at {speed} m/s: energy times {most}");
        }
    }
    let (gone, _) =
        escaped(Walls::Fixed, 400.0, 1.0, Settings { continuous: false, ..Settings::default() }, 800);
    assert!(gone > 5, "{gone} left");
    let (gone, _) = escaped(Walls::Fixed, 400.0, 0.5, Settings::projection(), 800);
    assert_eq!(gone, 0, "with the projection solver");
}

/// Contract: a thin plank that spins at 100 rad/s between two posts stays between them, and does not spin faster.
#[test]
fn a_spinning_plank_stays_between_posts() {
    for (half, friction) in [(2.0, 0.0), (0.9, 0.5)] {
        let mut world = world(weightless(Settings::default()));
        let material =
            Material { static_friction: friction, dynamic_friction: friction, ..Material::default() };
        for x in [-1.0, 1.0] {
            let post = BodyDesc::fixed(Shape::circle(0.05), Vec2::new(x, 0.0));
            world.add_body(&BodyDesc { material, ..post }).unwrap();
        }
        let plank = BodyDesc::dynamic(Shape::oriented_box(half, 0.02), Vec2::new(0.0, 0.0));
        let plank = world
            .add_body(&BodyDesc { angle: FRAC_PI_2, angular_velocity: 100.0, material, ..plank })
            .unwrap();
        let mut turned = 0.0;
        for step in 0..600 {
            world.step();
            let now = state(&world, plank);
            turned = now.angle + std::f32::consts::TAU * now.turns as f32;
            assert!(now.angular_velocity.abs() <= 101.0, "step {step}: {} rad/s", now.angular_velocity);
        }
        if half > 1.05 {
            // It can't get past the posts: it lies on them, or bounces back.
            assert!((0.0..std::f32::consts::PI).contains(&turned), "turned to {turned}");
        } else {
            assert!(turned > 100.0, "nothing is in its way, and it turned to {turned}");
        }
    }
}

/// Contract: a ball that rolls over a thousand joints of a chain at 50 m/s leaves the ground nowhere, and keeps its speed.
#[test]
fn a_ball_rolls_over_a_chain() {
    let valley = |x: f32| x * x / 20_000.0;
    for height in [(|_| 0.0) as fn(f32) -> f32, valley] {
        let mut world = world(Settings::default());
        let points: Vec<Vec2> =
            (0..=1000).map(|i| i as f32 - 500.0).map(|x| Vec2::new(x, height(x))).collect();
        world.add_assembly(&Assembly::chain(&points, false, Material::default()).unwrap()).unwrap();
        let radius = 0.5;
        let start = Vec2::new(-490.0, height(-490.0) + radius);
        let ball = BodyDesc {
            velocity: 50.0 * (Vec2::new(1.0, height(-489.5) - height(-490.5))).normalize(),
            angular_velocity: -50.0 / radius,
            sleep: false,
            ..BodyDesc::dynamic(Shape::circle(radius), start)
        };
        let ball = world.add_body(&ball).unwrap();
        let total = |world: &World| {
            let now = state(world, ball);
            0.5 * now.velocity.length_squared() + 10.0 * now.position.y
        };
        let before = total(&world);
        let mut step = 0;
        while state(&world, ball).position.x < 490.0 {
            world.step();
            step += 1;
            assert!(step < 1400, "it is at {} after {step} steps", state(&world, ball).position);
            let at = state(&world, ball).position;
            let gap = at.y - radius - height(at.x);
            assert!((-0.012..0.006).contains(&gap), "at {}: {gap} m above the ground", at.x);
        }
        let ratio = total(&world) / before;
        assert!((0.97..1.001).contains(&ratio), "energy times {ratio}");
    }
}

/// Contract: what slides over a chain at speed goes on sliding: over its joints it loses neither speed nor way, on an edge or on a
/// round side; and so on a single long box.
#[test]
fn sliding_stays_sliding() {
    let smooth = Material { static_friction: 0.0, dynamic_friction: 0.0, ..Material::default() };
    let points: Vec<Vec2> = (0..400).map(|x| Vec2::new(x as f32, 0.0)).collect();
    for chain in [true, false] {
        for shape in [
            Shape::oriented_box(0.3, 0.2),
            Shape::circle(0.2),
            Shape::capsule(0.2, 0.1),
            Shape::aabb(0.3, 0.2),
        ] {
            let mut world = world(Settings::default());
            if chain {
                world.add_assembly(&Assembly::chain(&points, false, smooth).unwrap()).unwrap();
            } else {
                let desc = BodyDesc::fixed(Shape::oriented_box(400.0, 0.05), Vec2::new(0.0, -0.05));
                world.add_body(&BodyDesc { material: smooth, ..desc }).unwrap();
            }
            let low = shape.bottom();
            let body = BodyDesc {
                velocity: Vec2::new(100.0, 0.0),
                material: smooth,
                ..BodyDesc::dynamic(shape, Vec2::new(1.0, low))
            };
            let body = world.add_body(&body).unwrap();
            steps(&mut world, 120);
            let now = state(&world, body);
            assert!(now.velocity.x > 99.0, "{shape:?}: {} m/s", now.velocity.x);
            assert!(now.position.x > 199.0, "{shape:?}: at {}", now.position.x);
            assert!((now.position.y - low).abs() < 0.02, "{shape:?}: at {}", now.position.y);
        }
    }
}

trait Bottom {
    fn bottom(&self) -> f32;
}

impl Bottom for Shape {
    /// How far the shape reaches below its centre.
    fn bottom(&self) -> f32 {
        match *self {
            Shape::Circle { radius } | Shape::Capsule { radius, .. } => radius,
            Shape::Box { half_extents } | Shape::Aabb { half_extents } => half_extents.y,
            _ => unreachable!("not asked for"),
        }
    }
}

/// Contract: being stopped takes way and no velocity, whatever gravity did on that way. In a step in which a box that slides up a slope is held at its
/// end, its velocity is bit for bit that of a step without continuous collision, and with the box where that step leads it, no energy
/// is gained. The box leaves the slope within four steps.
#[test]
fn being_stopped_takes_way_alone() {
    let gravity = -304_000.0;
    let settings = Settings {
        gravity: Vec2::new(gravity, 0.0),
        time_step: 1.0 / 121.0,
        substeps: 2,
        ..Settings::default()
    };
    let mut world = world(settings);
    let slope = Shape::ChainSegment { half_length: 10.0, before: None, after: Some(Vec2::new(-7.5, -7.5)) };
    let slope = BodyDesc { angle: -0.34, ..BodyDesc::fixed(slope, Vec2::new(-7.5, 1.0)) };
    world.add_body(&slope).unwrap();
    let shape = Shape::oriented_box(0.0625, 0.0625);
    let body = world.add_body(&BodyDesc::dynamic(shape, Vec2::new(-7.5, 3.5625))).unwrap();
    let energy = |world: &World, at: Vec2| {
        let mass = f64::from(world.mass(body).unwrap());
        world.quality().kinetic_energy - mass * f64::from(gravity) * f64::from(at.x)
    };
    let mut stopped = 0;
    for step in 0..4 {
        let before = energy(&world, state(&world, body).position);
        let mut unstopped = world.clone();
        unstopped.set_settings(Settings { continuous: false, ..settings }).unwrap();
        unstopped.step();
        world.step();
        let (now, meant) = (state(&world, body), state(&unstopped, body));
        assert_eq!(
            (now.velocity, now.angular_velocity),
            (meant.velocity, meant.angular_velocity),
            "step {step}"
        );
        let after = energy(&world, meant.position);
        assert!(after <= before + 1e-3 * after.abs(), "step {step}: {after} J after {before}");
        stopped += u32::from(now.position != meant.position);
    }
    assert!((1..4).contains(&stopped), "stopped in {stopped} steps");
    assert!(state(&world, body).position.x < -17.0, "still on the slope");
}

/// Contract: a body that is struck within the step does not pass the wall behind it either.
#[test]
fn a_struck_body_does_not_pass() {
    for number in 0..8 {
        let mut world = world(weightless(Settings::default()));
        let wall = world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.02, 5.0), Vec2::ZERO)).unwrap();
        let body = world.add_body(&small(number, Vec2::new(-0.3, 0.0))).unwrap();
        let hammer = BodyDesc {
            velocity: Vec2::new(300.0, 0.0),
            mass: Some(10.0),
            ..BodyDesc::dynamic(Shape::oriented_box(0.2, 0.2), Vec2::new(-8.0, 0.0))
        };
        let hammer = world.add_body(&hammer).unwrap();
        for step in 0..60 {
            world.step();
            for body in [body, hammer] {
                let at = state(&world, body).position;
                assert!(at.x < 0.0, "shape {number}, step {step}: at {at}");
            }
        }
        assert_eq!(state(&world, wall).position, Vec2::ZERO);
    }
}

/// Contract: a thin kinematic plate that moves at 100 m/s, and one that turns at 20 rad/s, takes everything along that stands in its
/// way: bodies at rest do not pass through it.
#[test]
fn what_stands_in_the_way_of_a_fast_wall_is_taken_along() {
    let mut world = world(weightless(Settings::default()));
    let inelastic = Material { restitution: 0.0, ..Material::default() };
    let plate = BodyDesc {
        velocity: Vec2::new(100.0, 0.0),
        material: inelastic,
        ..BodyDesc::kinematic(Shape::oriented_box(0.02, 10.0), Vec2::new(-1.0, 0.0))
    };
    let plate = world.add_body(&plate).unwrap();
    let alone = Filter { category: 2, mask: 1, group: 0 };
    let bodies: Vec<_> = (0..64)
        .map(|number| {
            let at = Vec2::new(0.37 * number as f32, 0.25 * number as f32 - 8.0);
            world.add_body(&BodyDesc { filter: alone, ..small(number, at) }).unwrap()
        })
        .collect();
    for step in 0..60 {
        world.step();
        let front = state(&world, plate).position.x;
        for &body in &bodies {
            let at = state(&world, body).position;
            assert!(at.x > front || at.y.abs() > 10.0, "step {step}: {at} behind {front}");
        }
    }

    let mut world = self::world(weightless(Settings::default()));
    let paddle = BodyDesc {
        angular_velocity: 20.0,
        ..BodyDesc::kinematic(Shape::oriented_box(10.0, 0.02), Vec2::ZERO)
    };
    let paddle = world.add_body(&paddle).unwrap();
    let bodies: Vec<_> = (0..64)
        .map(|number| {
            let at = (2.0 + 0.1 * number as f32) * Vec2::from_angle(0.3 + 0.04 * number as f32);
            world.add_body(&BodyDesc { filter: alone, ..small(number, at) }).unwrap()
        })
        .collect();
    // Ahead of the paddle by less than half a turn, until they leave its reach.
    let mut free = [false; 64];
    for step in 0..30 {
        world.step();
        let angle = state(&world, paddle).angle;
        for (free, &body) in free.iter_mut().zip(&bodies) {
            let at = Vec2::from_angle(-angle).rotate(state(&world, body).position);
            *free |= at.length() > 9.8;
            assert!(*free || at.y > 0.0, "step {step}: {at} in the paddle's axes");
        }
    }
}

/// Contract: ropes, soft boxes and joined bodies thrown at a thin floor at 150 m/s stay above it.
#[test]
fn what_hangs_together_does_not_pass() {
    let mut world = world(Settings { link_iterations: 16, ..Settings::default() });
    world.add_body(&BodyDesc::fixed(Shape::oriented_box(40.0, 0.05), Vec2::ZERO)).unwrap();
    let down = Vec2::new(20.0, -150.0);
    let mut bodies = Vec::new();
    let rope = Assembly::rope(Vec2::new(-20.0, 4.0), Vec2::new(-16.0, 6.0), 16, 0.05);
    let soft = Assembly::soft_box(Vec2::new(-5.0, 5.0), Vec2::new(1.0, 1.0), 0.05, 1.0, 0.4);
    for mut assembly in [rope, soft] {
        assembly.bodies.iter_mut().for_each(|body| body.velocity = down);
        bodies.extend(world.add_assembly(&assembly).unwrap());
    }
    let chain: Vec<_> = (0..8)
        .map(|link| {
            let at = Vec2::new(5.0 + 0.5 * link as f32, 3.0 + 0.3 * link as f32);
            let desc = BodyDesc { velocity: down, ..BodyDesc::dynamic(Shape::capsule(0.2, 0.05), at) };
            world.add_body(&desc).unwrap()
        })
        .collect();
    for pair in chain.windows(2) {
        let middle = Vec2::new(0.25, 0.15);
        world.add_joint(&JointDesc::revolute(pair[0], pair[1], middle, -middle)).unwrap();
    }
    bodies.extend(chain);
    for step in 0..120 {
        world.step();
        world.validate().unwrap();
        for &body in &bodies {
            let at = state(&world, body).position;
            assert!(at.y > 0.0 || at.x.abs() > 40.0, "step {step}: {at}");
        }
    }
}

/// Contract: a body that is given the place of a removed wall is no wall: what is no bullet passes through it as if the wall had never
/// been.
#[test]
fn a_removed_wall_is_gone() {
    let run = |was_wall: bool| {
        let mut world = world(weightless(Settings::default()));
        let plank = |body: BodyDesc| BodyDesc { velocity: Vec2::new(0.0, 0.1), ..body };
        let plank = |body: fn(Shape, Vec2) -> BodyDesc| plank(body(Shape::aabb(0.05, 1.0), Vec2::ZERO));
        if was_wall {
            let wall = world.add_body(&plank(BodyDesc::kinematic)).unwrap();
            world.step();
            world.remove_body(wall).unwrap();
        }
        let body = world.add_body(&plank(BodyDesc::dynamic)).unwrap();
        let ball = BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(-2.0, 0.0));
        let ball = world.add_body(&BodyDesc { velocity: Vec2::new(240.0, 0.0), ..ball }).unwrap();
        world.step();
        [state(&world, ball), state(&world, body)]
    };
    let [ball, plank] = run(true);
    assert!(ball.position.x > 1.5, "the ball passes: {ball:?}");
    assert_eq!([ball, plank], run(false));
}

/// Contract: walls that are added, removed, moved, reshaped, made dynamic or kinematic stop what is fast from the next step on, as if all had
/// been there from the start: a world goes on as one that is restored, and finds its walls anew, before each step.
#[test]
fn edited_walls() {
    for count in [20, 400] {
        let mut numbers = Numbers(count as u64);
        let mut world = world(Settings { sleep: false, ..weightless(Settings::default()) });
        let place = |numbers: &mut Numbers| 40.0 * (Vec2::new(numbers.next(), numbers.next()) - 0.5);
        let any_wall = |numbers: &mut Numbers| {
            let shape = match numbers.next() {
                x if x < 0.4 => Shape::oriented_box(3.0, 0.05),
                x if x < 0.7 => Shape::aabb(0.05, 2.0),
                x if x < 0.9 => Shape::capsule(1.5, 0.05),
                _ => Shape::circle(0.3),
            };
            let angle = if matches!(shape, Shape::Aabb { .. }) { 0.0 } else { 3.0 * numbers.next() };
            BodyDesc { angle, ..BodyDesc::fixed(shape, place(numbers)) }
        };
        let mut walls: Vec<_> =
            (0..count).map(|_| world.add_body(&any_wall(&mut numbers)).unwrap()).collect();
        for i in 0..200 {
            let body = small(i, place(&mut numbers));
            let velocity = 150.0 * numbers.direction();
            let material = Material { restitution: 1.0, ..Material::default() };
            world.add_body(&BodyDesc { velocity, material, bullet: i % 5 == 0, ..body }).unwrap();
        }
        let (mut anew, mut snapshot) = (World::new(Settings::default()).unwrap(), Vec::new());
        let mut struck = 0;
        for step in 0..150 {
            for _ in 0..1 + step % 3 {
                let at = (numbers.next() * walls.len() as f32) as usize;
                let (wall, to) = (walls[at], place(&mut numbers));
                match (numbers.next() * 7.0) as u32 {
                    0 => {
                        world.remove_body(wall).unwrap();
                        walls.swap_remove(at);
                    }
                    1 | 2 => walls.push(world.add_body(&any_wall(&mut numbers)).unwrap()),
                    3 => world.set_position(wall, to).unwrap(),
                    4 => world.set_body_type(wall, BodyType::Kinematic).unwrap(),
                    5 => world.set_body_type(wall, BodyType::Static).unwrap(),
                    _ => world.set_enabled(wall, !world.is_enabled(wall).unwrap()).unwrap(),
                }
            }
            world.save(&mut snapshot);
            anew.restore(&snapshot).unwrap();
            world.step();
            anew.step();
            struck += world.begin_events().len();
            let differs = world.first_difference(&anew);
            assert_eq!(world.state_hash(), anew.state_hash(), "{count} walls, step {step}: {differs:?}");
        }
        assert!(struck > 100, "{struck} touches");
    }
}

/// Contract: a thin or pointed body that comes into the corners of a closed chain at up to 1,500 m/s, with or without spin, stays inside
/// of it, however long it stays there.
#[test]
fn pointed_bodies_stay_in_a_chain() {
    let mut numbers = Numbers(19);
    let material = Material::new(1.0, 0.0, 0.0);
    for number in 0..160 {
        let corners = 12 + (20.0 * numbers.next()) as usize;
        let size = 0.1 + 0.7 * numbers.next();
        let shape = match number % 4 {
            0 => Shape::polygon(&[
                Vec2::new(-size, 0.0),
                Vec2::new(size, -0.08 * size),
                Vec2::new(size, 0.08 * size),
            ])
            .unwrap(),
            1 => Shape::oriented_box(size, 0.05 * size),
            2 => Shape::capsule(size, 0.1 * size),
            _ => Shape::Polygon(Polygon::regular(3, size).unwrap()),
        };
        let position = 3.0 * numbers.next() * numbers.direction();
        let velocity = (100.0 + 1_400.0 * numbers.next()) * numbers.direction();
        let spin = if number % 8 < 4 { 0.0 } else { 40.0 * numbers.next() - 20.0 };
        let mut world = world(weightless(Settings::default()));
        let corner = |i| 6.5 * Vec2::from_angle(i as f32 / corners as f32 * std::f32::consts::TAU);
        let chain: Vec<Vec2> = (0..corners).map(corner).collect();
        world.add_assembly(&Assembly::chain(&chain, true, material).unwrap()).unwrap();
        let desc = BodyDesc { velocity, angular_velocity: spin, ..BodyDesc::dynamic(shape, position) };
        let desc = BodyDesc { mass: Some(1.0), material, angle: 6.0 * numbers.next(), ..desc };
        let body = world.add_body(&desc).unwrap();
        for step in 0..100 {
            world.step();
            let position = state(&world, body).position;
            assert!(position.length() < 6.51, "body {number}, step {step}: {position}");
        }
    }
}

/// Contract: a small body that slides outward along a thin kinematic wall stays on its side if the wall turns slowly, and also where it turns so
/// fast that the cast holds the body in each step. Prints how many of forty pass in between: a known limit, `docs/embedding.md`.
#[test]
fn small_bodies_stay_on_walls_that_turn() {
    for (spin, start, half) in [
        (1.0, 5.0, 0.01),
        (2.0, 14.0, 0.01),
        (3.0, 5.0, 0.01),
        (3.0, 5.0, 0.05),
        (5.0, 5.0, 0.01),
        (10.0, 2.0, 0.01),
    ] {
        let passes = |place: usize| {
            let mut world = world(weightless(Settings::default()));
            let wall = BodyDesc::kinematic(Shape::oriented_box(half, 40.0), Vec2::ZERO);
            let wall = world.add_body(&BodyDesc { angular_velocity: spin, ..wall }).unwrap();
            let at = Vec2::new(-1.0, start + 0.05 * place as f32);
            let body = BodyDesc { bullet: true, ..BodyDesc::dynamic(Shape::circle(0.05), at) };
            let body = world.add_body(&body).unwrap();
            for _ in 0..60 {
                world.step();
                let at = Vec2::from_angle(-state(&world, wall).angle).rotate(state(&world, body).position);
                // Beyond its end the wall holds nothing.
                if at.x > half || at.y > 39.0 {
                    return at.y <= 39.0;
                }
            }
            false
        };
        let passed = (0..40).filter(|&place| passes(place)).count();
        println!("{spin} rad/s, {} cm thick, from {start} m: {passed} of 40 pass", 200.0 * half);
        assert!(
            passed == 0 || (2.0..=3.0).contains(&spin),
            "{spin} rad/s, from {start} m: {passed} of 40 pass"
        );
    }
}

/// Contract: what flies past a static or kinematic body keeps its course, however near it passes a corner and wherever it is when a step begins. (A contact made ahead with a face, past
/// whose end it was when it got there, deflected a third of what passed a box by 6 to 50 cm at 120 m/s.)
#[test]
fn what_flies_past_keeps_its_course() {
    let mut numbers = Numbers(5);
    let obstacles = [
        Shape::oriented_box(0.5, 0.5),
        Shape::capsule(0.5, 0.1),
        Shape::Polygon(Polygon::regular(5, 0.5).unwrap()),
        Shape::aabb(0.5, 0.3),
        Shape::circle(0.5),
    ];
    let movers = [Shape::circle(0.1), Shape::oriented_box(0.1, 0.1), Shape::aabb(0.1, 0.1)];
    for (case, speed) in (0..3_000).zip([15.0f32, 60.0, 120.0, 300.0].into_iter().cycle()) {
        let (obstacle_shape, mover) = (obstacles[case % 5], movers[case % 3]);
        let mut world = world(weightless(Settings::default()));
        let way = numbers.direction();
        let turned = if case % 5 == 3 { 0.0 } else { std::f32::consts::TAU * numbers.next() };
        let body_type = [BodyType::Static, BodyType::Kinematic][case % 2];
        let desc = BodyDesc { body_type, angle: turned, ..BodyDesc::dynamic(obstacle_shape, Vec2::ZERO) };
        world.add_body(&desc).unwrap();
        // How far the obstacle reaches to the side on which the mover passes, and the mover to the other.
        let aside = Vec2::from_angle(-turned).rotate(way.perp());
        let reach = match obstacle_shape {
            Shape::Capsule { half_length, radius } => half_length * aside.x.abs() + radius,
            Shape::Box { half_extents } | Shape::Aabb { half_extents } => aside.abs().dot(half_extents),
            _ => 0.5,
        };
        let clear = reach + 0.142 + 0.02 + 0.4 * numbers.next();
        let start = clear * way.perp() - (3.0 + speed / 60.0 * numbers.next()) * way;
        let angle = if case % 3 == 2 { 0.0 } else { numbers.next() };
        let desc = BodyDesc { velocity: speed * way, angle, ..BodyDesc::dynamic(mover, start) };
        let mover = world.add_body(&desc).unwrap();
        steps(&mut world, (6.0 / speed * 60.0) as u32 + 3);
        let now = state(&world, mover);
        assert!((now.velocity - speed * way).length() < 1.0e-3 * speed, "case {case}: {now:?}");
    }
}
