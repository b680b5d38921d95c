//! Contract: a character stops at walls, slides along slopes, climbs steps, stays on the ground and is stopped in corners, where geometry
//! says so: the distances are closed forms.

use granule::{
    Assembly, BodyDesc, Isa, Material, MoveReport, Mover, Probe, QueryFilter, Settings, Shape, Vec2, World,
};

const SKIN: f32 = 0.01;

/// A world of static bodies on a floor at height 0.
fn world(bodies: &[(Shape, Vec2, f32)]) -> World {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    for &(shape, at, angle) in bodies {
        world.add_body(&BodyDesc { angle, ..BodyDesc::fixed(shape, at) }).unwrap();
    }
    world
}

/// A disc of half a metre that stands on the floor.
fn disc(x: f32) -> Mover {
    Mover { on_ground: true, ..Mover::new(Probe::new(Shape::circle(0.5), Vec2::new(x, 0.5 + SKIN))) }
}

/// A box of 0.6 m × 1.8 m that stands on the floor.
fn upright(x: f32) -> Mover {
    let probe = Probe::new(Shape::oriented_box(0.3, 0.9), Vec2::new(x, 0.9 + SKIN));
    Mover { on_ground: true, ..Mover::new(probe) }
}

fn go(world: &World, mover: &mut Mover, x: f32, y: f32) -> MoveReport {
    world.move_character(mover, Vec2::new(x, y), &QueryFilter::default()).unwrap()
}

fn near(a: f32, b: f32) -> bool {
    (a - b).abs() < 2e-3
}

/// On flat ground a mover goes as far as it is told, and stays on the ground.
#[test]
fn flat_ground() {
    let world = world(&[]);
    let mut hero = disc(0.0);
    let report = go(&world, &mut hero, 3.0, 0.0);
    assert!(near(hero.probe.position.x, 3.0) && near(hero.probe.position.y, 0.5 + SKIN), "{hero:?}");
    assert!(hero.on_ground && report.ground.is_some() && report.wall.is_none() && near(report.moved.x, 3.0));
    // Pressed down, it goes on as before.
    let report = go(&world, &mut hero, 2.0, -1.0);
    assert!(
        near(hero.probe.position.x, 5.0) && near(hero.probe.position.y, 0.5 + SKIN),
        "{hero:?} {report:?}"
    );
}

/// A wall stops a mover the skin before it; in the air a mover slides down along a wall.
#[test]
fn walls() {
    let world = world(&[(Shape::aabb(1.0, 5.0), Vec2::new(4.0, 5.0), 0.0)]);
    for mut hero in [disc(0.0), upright(0.0)] {
        let radius = if hero.probe.shape == Shape::circle(0.5) { 0.5 } else { 0.3 };
        let report = go(&world, &mut hero, 9.0, 0.0);
        assert!(near(hero.probe.position.x, 3.0 - radius - SKIN), "{hero:?}");
        assert!(report.wall.is_some() && hero.on_ground && !report.stepped);
    }
    let mut hero = Mover { on_ground: false, ..disc(0.0) };
    hero.probe.position.y = 6.0;
    go(&world, &mut hero, 4.0, -2.0);
    assert!(near(hero.probe.position.x, 2.5 - SKIN) && near(hero.probe.position.y, 4.0), "{hero:?}");
}

/// A mover goes up a slope of 30 degrees, along it, and is stopped by one of 60 degrees without being lifted. In the air it slides down
/// the steep one.
#[test]
fn slopes() {
    for (degrees, climbs) in [(30.0f32, true), (60.0, false)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        // A half-space whose surface goes through the origin, and rises to the right.
        let mut world = world(&[]);
        let ramp = Shape::half_space(Vec2::new(-sin, cos), 0.0);
        world.add_body(&BodyDesc::fixed(ramp, Vec2::ZERO)).unwrap();
        let mut hero = disc(-3.0);
        go(&world, &mut hero, 6.0, 0.0);
        let height = hero.probe.position.dot(Vec2::new(-sin, cos)) - 0.5;
        assert!((height - SKIN).abs() < 0.01, "{degrees}: {height} from the ramp, {hero:?}");
        // Where the disc first touches the ramp: its centre is 0.51 above the floor, and 0.51 from the ramp.
        let touches = (0.5 + SKIN) * (cos - 1.0) / sin;
        if climbs {
            // The rest of the way goes along the slope: each metre forward is cos metres along it, and these are cos² forward.
            let expected = touches + (3.0 - touches) * cos * cos;
            assert!((hero.probe.position.x - expected).abs() < 0.05, "{hero:?}, not {expected}");
            assert!(hero.on_ground);
        } else {
            assert!((hero.probe.position.x - touches).abs() < 0.03, "{hero:?}, not {touches}");
            assert!(near(hero.probe.position.y, 0.5 + SKIN), "{hero:?}");
            let mut falls = Mover { on_ground: false, ..disc(3.0) };
            falls.probe.position.y = 8.0;
            (0..8).for_each(|_| {
                go(&world, &mut falls, 0.0, -1.0);
                assert!(!falls.on_ground || falls.probe.position.y < 0.6);
            });
            assert!(falls.probe.position.x < 2.5, "{falls:?}");
        }
    }
}

/// A mover climbs a step that is not higher than its step height, and stops at a higher one.
#[test]
fn steps() {
    for (height, climbs) in [(0.1f32, true), (0.28, true), (0.35, false), (1.0, false)] {
        let world = world(&[(Shape::aabb(5.0, 0.5 * height), Vec2::new(6.0, 0.5 * height), 0.0)]);
        let mut hero = upright(0.0);
        let mut stepped = false;
        (0..40).for_each(|_| stepped |= go(&world, &mut hero, 0.1, 0.0).stepped);
        assert_eq!(stepped, climbs, "a step of {height}");
        let at = hero.probe.position;
        if climbs {
            assert!(near(at.y, 0.9 + height + SKIN) && at.x > 3.5, "a step of {height}: {hero:?}");
        } else {
            assert!(near(at.y, 0.9 + SKIN) && near(at.x, 0.7 - SKIN), "a step of {height}: {hero:?}");
        }
        assert!(hero.on_ground);
    }
    // In the air there is no step.
    let world = world(&[(Shape::aabb(5.0, 0.1), Vec2::new(6.0, 0.1), 0.0)]);
    let mut hero = Mover { on_ground: false, ..upright(0.0) };
    hero.probe.position.y = 0.9 + 0.1;
    assert!(!go(&world, &mut hero, 2.0, 0.0).stepped);
    assert!(near(hero.probe.position.x, 0.7 - SKIN), "{hero:?}");
}

/// What is round climbs the same steps as a box, however short its moves are, and no higher ones from the edge of a step.
#[test]
fn round_movers_climb_steps() {
    let disc = disc(0.0);
    let pill = Mover {
        probe: Probe {
            angle: 0.5 * std::f32::consts::PI,
            ..Probe::new(Shape::capsule(0.5, 0.3), Vec2::new(0.0, 0.8 + SKIN))
        },
        ..disc
    };
    for (height, climbs) in
        [(0.05f32, true), (0.15, true), (0.25, true), (0.295, true), (0.35, false), (0.45, false)]
    {
        let world = world(&[(Shape::aabb(5.0, 0.5 * height), Vec2::new(6.0, 0.5 * height), 0.0)]);
        for way in [0.002f32, 0.02, 0.033, 0.1, 0.5, 2.0] {
            for start in [disc, pill] {
                let mut hero = start;
                let foot = hero.probe.position.y - SKIN;
                for _ in 0..(3.0 / way).ceil() as usize {
                    go(&world, &mut hero, way, 0.0);
                    assert!(hero.on_ground, "a step of {height} by {way}: {hero:?}");
                }
                let at = hero.probe.position;
                let over = near(at.y, foot + height + SKIN) && at.x > 2.0;
                let before = near(at.y, foot + SKIN) && at.x < 1.0;
                assert!(if climbs { over } else { before }, "a step of {height} by {way}: {hero:?}");
            }
        }
    }
}

/// A ceiling stops what jumps, and a mover under a low one does not climb a step into it.
#[test]
fn ceilings() {
    let world = world(&[
        (Shape::aabb(10.0, 0.5), Vec2::new(0.0, 3.0), 0.0),
        (Shape::aabb(1.0, 0.1), Vec2::new(3.0, 0.1), 0.0),
    ]);
    let mut hero = upright(0.0);
    let report = go(&world, &mut hero, 0.0, 4.0);
    assert!(report.ceiling.is_some() && near(hero.probe.position.y, 2.5 - 0.9 - SKIN), "{hero:?}");
    assert!(!hero.on_ground);
    let mut tall = Mover {
        on_ground: true,
        ..Mover::new(Probe::new(Shape::oriented_box(0.3, 1.2), Vec2::new(0.0, 1.2 + SKIN)))
    };
    let report = go(&world, &mut tall, 4.0, 0.0);
    assert!(!report.stepped && near(tall.probe.position.x, 1.7 - SKIN), "{tall:?}");
}

/// In a corner of two walls a mover stops, and does not shake.
#[test]
fn corners() {
    let world = world(&[
        (Shape::aabb(1.0, 9.0), Vec2::new(3.0, 9.0), 0.0),
        (Shape::aabb(9.0, 1.0), Vec2::new(-5.0, 6.0), 0.0),
    ]);
    let mut hero = Mover { on_ground: false, ..disc(0.0) };
    hero.probe.position.y = 3.0;
    go(&world, &mut hero, 5.0, 5.0);
    let corner = Vec2::new(2.0 - 0.5 - SKIN, 5.0 - 0.5 - SKIN);
    assert!(hero.probe.position.distance(corner) < 5e-3, "{hero:?}");
    for _ in 0..20 {
        go(&world, &mut hero, 0.3, 0.2);
        assert!(hero.probe.position.distance(corner) < 1e-2, "{hero:?}");
    }
}

/// A mover follows the ground down a slope and off a low ledge, and falls off a high one.
#[test]
fn stays_on_the_ground() {
    for (height, stays) in [(0.15f32, true), (0.6, false)] {
        let world = world(&[(Shape::aabb(2.0, 0.5 * height), Vec2::new(0.0, 0.5 * height), 0.0)]);
        let mut hero = upright(0.0);
        hero.probe.position.y += height;
        (0..30).for_each(|_| {
            if hero.on_ground {
                go(&world, &mut hero, 0.1, 0.0);
            }
        });
        assert_eq!(hero.on_ground, stays, "{hero:?}");
        let expected = if stays { 0.9 + SKIN } else { 0.9 + height + SKIN };
        assert!(near(hero.probe.position.y, expected), "a ledge of {height}: {hero:?}");
    }
    // Hills of a chain: the feet stay on them.
    let hills: Vec<Vec2> =
        (-20..=20).map(|i| Vec2::new(i as f32, 1.0 + 0.4 * ((i * i) % 3) as f32)).collect();
    let mut world = world(&[]);
    world.add_assembly(&Assembly::chain(&hills, false, Material::default()).unwrap()).unwrap();
    let mut hero = Mover { on_ground: true, ..disc(-15.0) };
    hero.probe.position.y = 2.2;
    go(&world, &mut hero, 0.0, -1.0);
    for _ in 0..250 {
        go(&world, &mut hero, 0.1, 0.0);
        assert!(hero.on_ground && hero.probe.position.y > 1.4, "{hero:?}");
    }
    assert!(hero.probe.position.x > 8.0, "{hero:?}");
}

/// A mover that overlaps something leaves it by the shortest way, bad input is refused, and the result is the same on every set.
#[test]
fn leaves_what_it_overlaps() {
    let mut world = world(&[(Shape::aabb(1.0, 5.0), Vec2::new(4.0, 5.0), 0.0)]);
    let mut states = Vec::new();
    for isa in Isa::available() {
        world.set_isa(isa).unwrap();
        let mut hero = disc(2.8);
        hero.probe.position.y = 0.4;
        go(&world, &mut hero, 0.0, 0.0);
        let at = hero.probe.position;
        assert!(near(at.x, 2.5 - SKIN) && near(at.y, 0.5 + SKIN), "{hero:?}");
        states.push(hero);
    }
    assert!(states.iter().all(|state| *state == states[0]));
    let mut hero = disc(0.0);
    let before = hero;
    assert!(world.move_character(&mut hero, Vec2::new(f32::NAN, 0.0), &QueryFilter::default()).is_err());
    assert_eq!(hero, before);
    for wrong in [
        Mover { up: Vec2::ZERO, ..before },
        Mover { skin: 0.0, ..before },
        Mover { max_slope: 2.0, ..before },
        Mover { step_height: -1.0, ..before },
        Mover { snap_distance: f32::INFINITY, ..before },
    ] {
        assert!(world.move_character(&mut { wrong }, Vec2::X, &QueryFilter::default()).is_err());
    }
}

/// A mover keeps the skin's distance, wherever its way ends: before a wall, on a slanted way, beside an edge and when it does not move; and it stays in the
/// middle of a gap that is too narrow for that.
#[test]
fn the_skin_is_kept() {
    let wall = |x: f32| (Shape::aabb(0.5, 5.0), Vec2::new(x, 6.0), 0.0);
    let flat = world(&[wall(2.0)]);
    let free = |x: f32, y: f32| Mover::new(Probe::new(Shape::circle(0.3), Vec2::new(x, y)));
    for way in [Vec2::new(1.199, 0.0), Vec2::new(1.1999, 0.4), Vec2::new(1.195, -0.9), Vec2::new(1.0, 3.0)] {
        let mut hero = free(0.0, 5.0);
        let report = go(&flat, &mut hero, way.x, way.y);
        let gap = 1.5 - 0.3 - hero.probe.position.x;
        assert!(gap > 0.99 * SKIN && (gap < 1.02 * SKIN || way.x == 1.0), "{gap} after {way}");
        assert_eq!(report.wall.is_some(), way.x > 1.0, "{way}");
        assert!((hero.probe.position.y - 5.0 - way.y).abs() < 1e-4, "slides along the wall: {hero:?}");
    }
    let mut hero = free(1.199, 5.0);
    go(&flat, &mut hero, 0.0, 0.0);
    assert!((1.2 - hero.probe.position.x - SKIN).abs() < 1e-4, "{hero:?}");
    // Over the corner of a box: at the skin from the corner, in whatever direction that is.
    let ledge = world(&[(Shape::aabb(1.0, 1.0), Vec2::new(0.0, 1.0), 0.0)]);
    let mut hero = free(-3.0, 2.301);
    hero.on_ground = false;
    for _ in 0..60 {
        go(&ledge, &mut hero, 0.1, 0.0);
        let at = hero.probe.position;
        let nearest = at.clamp(Vec2::new(-1.0, 0.0), Vec2::new(1.0, 2.0));
        assert!(at.distance(nearest) - 0.3 > 0.98 * SKIN, "{at}");
    }
    assert!(hero.probe.position.x > 2.9);
    // A gap of half a skin on each side.
    let tight = world(&[wall(2.0), wall(0.39)]);
    for x in [1.191, 1.195, 1.199] {
        let mut hero = free(x, 5.0);
        go(&tight, &mut hero, 0.0, 0.1);
        assert!((hero.probe.position.x - 1.195).abs() < 2e-4, "{hero:?}");
    }
}
