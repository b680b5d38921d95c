//! Verlet hulls: loops of particles that collide as convex polygons. The tests compare them with closed forms and an
//! f64 oracle.

mod friction;
mod held;
mod impacts;
mod reports;
mod rocking;
mod squeezed;

use granule::{Assembly, BodyDesc, BodyHandle, Error, Isa, Material, Settings, Shape, Vec2, World, scene};

const SETS: [Isa; 2] = [Isa::Scalar, Isa::Auto];
/// The radius of the corners of the boxes below.
const RADIUS: f32 = 0.05;

fn world(isa: Isa, gravity: Vec2) -> World {
    World::new(Settings { isa, gravity, ..Settings::default() }).unwrap()
}

fn down() -> Vec2 {
    Vec2::new(0.0, -10.0)
}

fn position(world: &World, body: BodyHandle) -> Vec2 {
    world.body(body).unwrap().position
}

fn floor(world: &mut World) {
    floor_of(world, Material::default());
}

fn floor_of(world: &mut World, material: Material) {
    let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    world.add_body(&BodyDesc { material, ..floor }).unwrap();
}

fn steps(world: &mut World, count: usize) {
    for _ in 0..count {
        world.step();
        assert_eq!(world.validate(), Ok(()));
    }
}

/// A soft box, its corners counter-clockwise from the bottom left.
fn soft_box(world: &mut World, centre: Vec2, size: Vec2, mass: f32, group: u32) -> Vec<BodyHandle> {
    let soft = Assembly::soft_box(centre, size, RADIUS, mass, 0.0).grouped(group);
    world.add_assembly(&soft).unwrap()
}

/// Contract: a body that lands on a wide soft box between its corners, far from any particle, comes to rest on the
/// box's side, and the corners bear its weight.
#[test]
fn sides_carry() {
    let hexagon = Shape::Polygon(granule::Polygon::regular(6, 0.3).unwrap());
    let shapes = [
        (Shape::circle(0.3), 0.3),
        (Shape::aabb(0.3, 0.2), 0.2),
        (Shape::oriented_box(0.3, 0.2), 0.2),
        (Shape::capsule(0.3, 0.15), 0.15),
        (hexagon, 0.3 * 0.75_f32.sqrt()),
        (Shape::particle(0.2), 0.2),
    ];
    for isa in SETS {
        for (shape, height) in shapes {
            let mut world = world(isa, down());
            floor(&mut world);
            soft_box(&mut world, Vec2::new(0.0, 0.5), Vec2::new(6.0, 1.0), 10.0, 1);
            let density = Material { density: 1.0, ..Material::default() };
            let start = Vec2::new(0.4, 1.3 + height);
            let body =
                world.add_body(&BodyDesc { material: density, ..BodyDesc::dynamic(shape, start) }).unwrap();
            steps(&mut world, 300);
            let state = world.body(body).unwrap();
            let above = state.position.y - height;
            assert!((above - 1.0).abs() < 0.03, "{isa:?} {shape:?} rests at {above}");
            assert!(state.velocity.length() < 0.05, "{isa:?} {shape:?} moves at {:?}", state.velocity);
        }
    }
}

/// Contract: two soft boxes that meet corner to side do not pass through each other.
#[test]
fn corner_lands_on_side() {
    for isa in SETS {
        // It stands on its corner for so long that it would fall asleep there.
        let mut world = world(isa, down());
        world.set_settings(Settings { sleep: false, ..*world.settings() }).unwrap();
        floor(&mut world);
        soft_box(&mut world, Vec2::new(0.0, 0.5), Vec2::new(6.0, 1.0), 10.0, 1);
        let turned = std::f32::consts::FRAC_PI_4;
        let dropped =
            Assembly::soft_box(Vec2::new(0.3, 2.5), Vec2::new(1.0, 1.0), RADIUS, 1.0, turned).grouped(2);
        let corners = world.add_assembly(&dropped).unwrap();
        for step in 0..400 {
            world.step();
            let lowest = corners.iter().map(|&c| position(&world, c).y).fold(f32::MAX, f32::min);
            assert!(lowest > 0.95 + RADIUS, "{isa:?}, step {step}: {lowest}");
        }
        let middle: Vec2 = corners.iter().map(|&corner| position(&world, corner)).sum::<Vec2>() / 4.0;
        assert!((middle.y - 1.5).abs() < 0.05, "{isa:?}: it lies at {middle}");
    }
}

/// Contract: limbs of two points do not cross: a falling bar comes to rest across a fixed one.
#[test]
fn limbs_do_not_cross() {
    for isa in SETS {
        let mut world = world(isa, down());
        let mut limb = |from: Vec2, to: Vec2, pinned: bool, group: u32| {
            let mut bar = Assembly::rope(from, to, 1, 0.5).grouped(group);
            for body in &mut bar.bodies {
                body.shape = Shape::particle(RADIUS);
                *body = if pinned { body.pinned() } else { *body };
            }
            bar.hulls.push(vec![0, 1]);
            world.add_assembly(&bar).unwrap()
        };
        limb(Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), true, 1);
        let falling = limb(Vec2::new(-0.5, 2.0), Vec2::new(0.5, 2.0), false, 2);
        steps(&mut world, 300);
        for &end in &falling {
            let height = position(&world, end).y + 1.0;
            assert!((height - 2.0 * RADIUS).abs() < 0.02, "{isa:?}: {height}");
        }
    }
}

/// Contract: without gravity, two soft boxes that collide keep their common momentum to 1e-5, and with restitution 0
/// their centres part no faster than they met.
#[test]
fn momentum_is_kept() {
    for isa in SETS {
        let mut world = world(isa, Vec2::ZERO);
        let a = soft_box(&mut world, Vec2::new(-1.2, 0.0), Vec2::new(1.0, 2.0), 3.0, 1);
        let b = soft_box(&mut world, Vec2::new(0.4, 0.9), Vec2::new(1.0, 1.0), 1.0, 2);
        for &corner in &a {
            world.set_velocity(corner, Vec2::new(2.0, 0.0)).unwrap();
        }
        for _ in 0..120 {
            world.step();
            let [x, y] = world.quality().momentum;
            assert!((x - 6.0).abs() < 6.0e-5 && y.abs() < 6.0e-5, "{isa:?}: {x} {y}");
        }
        let speed = |points: &[BodyHandle]| {
            points.iter().map(|&p| world.body(p).unwrap().velocity.x).sum::<f32>() / 4.0
        };
        assert!(speed(&b) > 0.5 && speed(&b) < 4.0, "{isa:?}: b was hit: {}", speed(&b));
        assert!(speed(&b) - speed(&a) < 2.0, "{isa:?}: {} {}", speed(&a), speed(&b));
    }
}

/// Contract: hulls of one group, and hulls that share a particle, do not touch each other.
#[test]
fn filters_hold() {
    let mut world = world(Isa::Auto, Vec2::ZERO);
    let a = soft_box(&mut world, Vec2::ZERO, Vec2::ONE, 1.0, 7);
    let b = soft_box(&mut world, Vec2::new(0.3, 0.2), Vec2::ONE, 1.0, 7);
    let before: Vec<Vec2> = a.iter().chain(&b).map(|&point| position(&world, point)).collect();
    steps(&mut world, 60);
    for (&point, before) in a.iter().chain(&b).zip(before) {
        assert!(position(&world, point).distance(before) < 1.0e-5);
    }
}

/// Contract: in the built-in piles of soft boxes and ragdolls the hulls of different objects hardly overlap. By an f64
/// oracle that knows only the corners, no pair overlaps by more than 5 cm once the pile has fallen.
#[test]
fn piles_hardly_overlap() {
    for (name, count) in [("soft_boxes", 400), ("ragdolls", 520)] {
        let mut world = scene::builtin(name, count, 1).unwrap().build().unwrap();
        steps(&mut world, 900);
        let hulls: Vec<(u32, f64, Vec<[f64; 2]>)> = world
            .hulls()
            .map(|(_, points)| {
                let at = |&point: &BodyHandle| position(&world, point).as_dvec2().to_array();
                let radius = |&point: &BodyHandle| match world.shape(point).unwrap() {
                    Shape::Particle { radius } => f64::from(radius),
                    other => panic!("{other:?} is no particle"),
                };
                let thinnest = points.iter().map(radius).fold(f64::MAX, f64::min);
                (world.filter(points[0]).unwrap().group, thinnest, points.iter().map(at).collect())
            })
            .collect();
        let mut deepest: f64 = 0.0;
        for (index, (group, radius, corners)) in hulls.iter().enumerate() {
            for (other_group, other_radius, others) in &hulls[index + 1..] {
                if group != other_group {
                    let apart = separation(corners, others);
                    deepest = deepest.max(radius + other_radius - apart);
                }
            }
        }
        eprintln!("{name}: deepest {deepest}");
        assert!(deepest < 0.05, "{name}: hulls overlap by {deepest}");
    }
}

/// The distance of two convex polygons or segments; negative if they overlap or cross.
fn separation(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let by_axes = furthest(a, b).max(furthest(b, a));
    if by_axes <= 0.0 { by_axes } else { nearest(a, b).min(nearest(b, a)) }
}

/// The largest gap to `b` along the normals of the sides of `a`, or along the ends of a segment.
fn furthest(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let mut most = f64::MIN;
    for (i, from) in a.iter().enumerate() {
        let to = a[(i + 1) % a.len()];
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        let length = x.hypot(y);
        let normals = [(y, -x), (-x, -y)];
        for (nx, ny) in &normals[..if a.len() == 2 { 2 } else { 1 }] {
            let height = |v: &[f64; 2]| ((v[0] - from[0]) * nx + (v[1] - from[1]) * ny) / length;
            most = most.max(b.iter().map(height).fold(f64::MAX, f64::min));
        }
    }
    most
}

/// The least distance of a corner of `b` from a side of `a`.
fn nearest(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let mut least = f64::MAX;
    for (i, from) in a.iter().enumerate() {
        let to = a[(i + 1) % a.len()];
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        for v in b {
            let (vx, vy) = (v[0] - from[0], v[1] - from[1]);
            let t = ((vx * x + vy * y) / (x * x + y * y)).clamp(0.0, 1.0);
            least = least.min((vx - t * x).hypot(vy - t * y));
        }
    }
    least
}

/// Contract: bad hulls are refused with the reason, and nothing is added. A hull that loses a particle is removed.
#[test]
fn bad_hulls_are_refused() {
    let mut world = world(Isa::Auto, Vec2::ZERO);
    let at = |x: f32, y: f32| BodyDesc::particle(Vec2::new(x, y), 1.0);
    let list = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0), at(0.6, 0.3)];
    let p = world.add_bodies(&list).unwrap();
    let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(5.0, 0.0))).unwrap();
    let refused = |world: &mut World, hull: &[BodyHandle]| world.add_hull(hull).unwrap_err().to_string();
    assert_eq!(refused(&mut world, &[p[0]]), "hull: a hull has 2 to 8 points");
    assert_eq!(refused(&mut world, &[p[0], ball]), "hull[1]: not a particle");
    assert!(refused(&mut world, &[p[0], p[0]]).contains("hull[1]: in the place"));
    assert!(refused(&mut world, &[p[0], p[2], p[1], p[3]]).contains("not a corner"));
    assert!(refused(&mut world, &[p[0], p[1], p[4], p[2]]).starts_with("hull[2]: not"));
    assert_eq!(world.hull_count(), 0);

    let hull = world.add_hull(&[p[3], p[2], p[1], p[0]]).unwrap();
    assert_eq!(world.hull(hull).unwrap(), [p[0], p[1], p[2], p[3]], "clockwise is turned round");
    world.step();
    world.remove_body(p[2]).unwrap();
    world.step();
    assert_eq!(world.hull_count(), 0);
    assert!(matches!(world.hull(hull), Err(Error::StaleHandle { .. })));
    assert!(matches!(world.remove_hull(hull), Err(Error::StaleHandle { .. })));

    let mut assembly = Assembly::from(list.to_vec());
    assembly.hulls.push(vec![0, 9, 2]);
    let error = world.add_assembly(&assembly).unwrap_err().to_string();
    assert_eq!(error, "element 0: hull[1]: names a body that is not in the list");
    assert_eq!(world.particle_count(), 4, "nothing was added");
}
