//! A world with all of it on.

use super::{CALLS, Looking, any_joint, pool};
use granule::{
    Assembly, BodyDesc, BodyHandle, Cloth, JointDesc, Material, Part, Polygon, Settings, Shape, Spring, Vec2,
    World,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A yard with a mill in its middle that keeps bodies of all shapes in motion, bodies that lie on a shelf and sleep, joints of every kind that hold
/// loads, ropes, a cloth, hulls, and sensors, of which one is about the mill.
fn yard() -> World {
    let v = Vec2::new;
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    for x in [-12.5, 12.5] {
        world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.5, 30.0), v(x, 20.0))).unwrap();
    }
    let hills: Vec<Vec2> = (-12..=12).map(|x| v(x as f32, 0.4 + 0.3 * (x % 3) as f32)).collect();
    world.add_assembly(&Assembly::chain(&hills, false, Material::default()).unwrap()).unwrap();
    let mill = BodyDesc::kinematic(Shape::oriented_box(5.0, 0.2), v(0.0, 5.0));
    let mill = world.add_body(&BodyDesc { angular_velocity: 1.5, ..mill }).unwrap();
    let arm = Part { angle: 1.57, ..Part::new(Shape::oriented_box(5.0, 0.2), Vec2::ZERO) };
    world.add_part(mill, &arm).unwrap();
    let wedge = Shape::polygon(&[v(-0.4, -0.2), v(0.5, -0.2), v(0.0, 0.5)]).unwrap();
    let rounded =
        Shape::Polygon(Polygon::rounded(&[v(-0.2, -0.2), v(0.3, -0.1), v(0.0, 0.3)], 0.1).unwrap().0);
    let shapes = [
        Shape::circle(0.3),
        Shape::oriented_box(0.35, 0.25),
        Shape::capsule(0.3, 0.15),
        wedge,
        Shape::aabb(0.3, 0.3),
        rounded,
    ];
    for i in 0..150 {
        let at = v(-9.0 + 1.2 * (i % 15) as f32, 1.5 + 1.1 * (i / 15) as f32);
        let body =
            BodyDesc { angle: 0.3 * i as f32, bullet: i % 40 == 0, ..BodyDesc::dynamic(shapes[i % 6], at) };
        let body = world.add_body(&body).unwrap();
        if i % 12 == 1 {
            world.add_part(body, &Part::new(Shape::circle(0.2), v(0.3, 0.3))).unwrap();
        }
    }
    // What lies high up on a shelf sleeps.
    world.add_body(&BodyDesc::fixed(Shape::oriented_box(6.0, 0.2), v(30.0, 14.8))).unwrap();
    for i in 0..20 {
        let at = v(26.0 + i as f32 % 10.0, 15.5 + (i / 10) as f32);
        world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.4, 0.5), at)).unwrap();
    }
    // Loads that swing beside the yard, on joints of every kind; and what hangs on links.
    let mut joints = Vec::new();
    for i in 0..32 {
        let top = v(40.0 + 3.0 * i as f32, 20.0);
        let post = world.add_body(&BodyDesc::fixed(Shape::circle(0.1), top)).unwrap();
        let load =
            BodyDesc { mass: Some(1.0), ..BodyDesc::dynamic(Shape::oriented_box(0.2, 0.4), top - Vec2::Y) };
        let load = world.add_body(&BodyDesc { angular_velocity: 2.0, sleep: false, ..load }).unwrap();
        let joint = match i % 8 {
            6 => JointDesc::target(load, Vec2::ZERO, top - Vec2::Y, Spring::new(5.0, 1.0), 1.0e6),
            _ => JointDesc { break_force: f32::INFINITY, ..any_joint(i, post, load) },
        };
        joints.push(world.add_joint(&joint).unwrap());
    }
    for (i, &joint) in joints.iter().enumerate() {
        world.set_joint_force_threshold(joint, (i % 2 == 0).then_some(2.0)).unwrap();
    }
    let mut rope = Assembly::rope(v(-11.0, 20.0), v(-4.0, 20.0), 24, 0.1);
    rope.bodies[0] = rope.bodies[0].pinned();
    let cloth = Cloth { origin: v(3.0, 24.0), columns: 10, rows: 8, pin_every: 3, ..Cloth::default() };
    world.add_assembly(&rope).unwrap();
    world.add_assembly(&Assembly::cloth(&cloth)).unwrap();
    for i in 0..8 {
        let at = v(-8.0 + 2.2 * i as f32, 17.0);
        world.add_assembly(&Assembly::soft_box(at, v(0.8, 0.6), 0.1, 0.5, 0.1)).unwrap();
        world.add_assembly(&Assembly::polygon(at + v(0.0, 2.0), 0.5, 6, 0.5)).unwrap();
    }
    let zone = BodyDesc::fixed(Shape::circle(4.0), v(0.0, 5.0));
    world.add_body(&BodyDesc { sensor: true, ..zone }).unwrap();
    let foot = Part { sensor: true, ..Part::new(Shape::circle(1.0), v(4.0, 0.0)) };
    world.add_part(mill, &foot).unwrap();
    world
}

/// Contract: a step of a warm world allocates nothing with all of it on, nor does what a host reads after it, or a snapshot into a buffer that it
/// keeps.
pub fn everything_allocates_nothing() {
    for threads in [1, 2] {
        let mut world = yard();
        world.set_hooks(Some(Arc::new(Looking)));
        world.set_hit_events(Some(0.5)).unwrap();
        world.set_move_events(true);
        world.set_joint_force_events(Some(5.0)).unwrap();
        world.set_tracing(true);
        let bodies: Vec<BodyHandle> = world.handles().collect();
        for &body in bodies.iter().step_by(9) {
            world.set_body_hit_events(body, Some(0.2)).unwrap();
            world.set_body_move_events(body, true).unwrap();
        }
        let mut snapshot = Vec::new();
        world.save(&mut snapshot);
        snapshot.reserve(4 * snapshot.len());
        let (mut base, mut difference) = (snapshot.clone(), Vec::with_capacity(4 * snapshot.len()));
        base.reserve(4 * snapshot.len());
        let (mut told, mut most, mut spoilt) = ([0usize; 6], [0; 3], Vec::new());
        pool(threads).install(|| {
            for step in 0..900 {
                let before = CALLS.load(Ordering::Relaxed);
                world.step();
                let stepped = CALLS.load(Ordering::Relaxed) - before;
                world.save(&mut snapshot);
                world.diff(&base, &mut difference).unwrap();
                std::mem::swap(&mut base, &mut snapshot);
                let figures = world.telemetry();
                assert!(
                    figures.pairs > 0 && world.residual().max_penetration < 1.0 && !world.spans().is_empty()
                );
                let joints = world.joint_columns().force_x.len();
                let calls = CALLS.load(Ordering::Relaxed) - before;
                let hulls =
                    world.table_sizes().iter().find(|(table, _)| *table == "pairs of hulls").unwrap().1;
                let now = [world.pair_count(), world.contact_count(), hulls];
                let more = now.iter().zip(&most).any(|(now, most)| now > most);
                (0..3).for_each(|i| most[i] = most[i].max(now[i]));
                if step >= 600 {
                    if calls > 0 && !more {
                        spoilt.push((step, stepped, calls));
                    }
                    let sensed = world.sensor_begin_events().len() + world.sensor_end_events().len();
                    let some = [
                        world.hit_events().len(),
                        world.move_events().len(),
                        sensed,
                        world.joint_force_events().len(),
                        world.asleep_count(),
                        joints,
                    ];
                    (0..6).for_each(|i| told[i] += some[i]);
                }
            }
        });
        assert!(told.iter().all(|&told| told > 30), "{told:?}");
        // As in motion (`SPOILT_PER_MILLE`): a list may need more room although there are no more pairs.
        assert!(spoilt.len() <= 1, "{threads} threads: (step, allocations in it, and after it) {spoilt:?}");
    }
}
