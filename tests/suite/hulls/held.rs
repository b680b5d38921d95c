//! Hulls with a corner that is held or that bears a hanging particle.

use super::{floor, position, world};
use granule::{Assembly, BodyDesc, Isa, LinkDesc, Settings, Solver, Vec2, World};

/// Contract: a polygon of particles that nothing touches keeps its shape, and falls onto a floor without a gain of
/// energy: its hub, which is linked to all corners, does not touch the hull around it.
#[test]
fn a_hub_does_not_touch_its_rim() {
    for corners in 3..=9 {
        let mut free = world(Isa::Auto, Vec2::ZERO);
        let polygon = Assembly::polygon(Vec2::ZERO, 0.6, corners, 1.0);
        let bodies = free.add_assembly(&polygon).unwrap();
        let mut falling = world(Isa::Auto, Vec2::new(0.0, -10.0));
        floor(&mut falling);
        falling.add_assembly(&Assembly::polygon(Vec2::new(0.0, 2.6), 0.6, corners, 1.0)).unwrap();
        let drop = 10.0 * 2.6;
        for _ in 0..300 {
            free.step();
            falling.step();
            assert_eq!(free.contacts().count(), 0, "{corners} corners");
            assert!(falling.quality().kinetic_energy < drop, "{corners} corners fell faster than they can");
        }
        assert!(free.quality().kinetic_energy < 1e-6, "{corners} corners moved by themselves");
        for (body, desc) in bodies.iter().zip(&polygon.bodies) {
            assert!(position(&free, *body).distance(desc.position) < 1e-3, "{corners} corners");
        }
    }
}

/// A limb or a soft box whose pinned corner is moved into a floor.
fn dragged(settings: Settings, velocity: Vec2, boxed: bool, linked: bool) -> World {
    let mut world = World::new(settings).unwrap();
    floor(&mut world);
    let pinned = if boxed {
        let mut soft = Assembly::soft_box(Vec2::new(0.0, 0.51), Vec2::ONE, 0.05, 1.0, 0.0);
        soft.bodies[0] = soft.bodies[0].pinned();
        world.add_assembly(&soft).unwrap()[0]
    } else {
        let ends = [(0.0, true), (1.0, false)].map(|(x, pinned)| {
            let end = BodyDesc::particle(Vec2::new(x, 0.05), 1.0);
            world.add_body(&if pinned { end.pinned() } else { end }).unwrap()
        });
        if linked {
            world.add_link(&LinkDesc::distance(ends[0], ends[1], 1.0)).unwrap();
        }
        world.add_hull(&ends).unwrap();
        ends[0]
    };
    let others = [Vec2::new(0.2, -0.25), Vec2::new(0.1, -0.38)]
        .map(|place| world.add_body(&BodyDesc::particle(place, 1.0)).unwrap());
    world.add_hull(&others).unwrap();
    world.set_velocity(pinned, velocity).unwrap();
    world
}

/// Contract: whatever a host does with a pinned corner, the free particles of its hull are not thrown out of the world,
/// and all instruction sets agree.
#[test]
fn a_held_corner_throws_nothing() {
    for solver in [Solver::Soft, Solver::Projection] {
        for (boxed, linked) in [(false, false), (false, true), (true, true)] {
            for velocity in
                [Vec2::new(0.5, -0.5), Vec2::new(0.0, -0.1), Vec2::new(0.0, -1.0), Vec2::new(1.0, -0.05)]
            {
                let case = format!("{solver:?}, boxed {boxed}, linked {linked}, {velocity}");
                let mut worlds: Vec<World> = Isa::available()
                    .map(|isa| {
                        dragged(Settings { isa, solver, ..Settings::default() }, velocity, boxed, linked)
                    })
                    .collect();
                for _ in 0..90 {
                    worlds.iter_mut().for_each(World::step);
                    let hash = worlds[0].state_hash();
                    assert!(worlds.iter().all(|world| world.state_hash() == hash), "{case}");
                }
                let one = &worlds[0];
                assert!(one.quarantined().is_empty(), "{case}: {:?}", one.quarantined());
                let quality = one.quality();
                assert!(quality.kinetic_energy < 1e3, "{case}: {} J", quality.kinetic_energy);
            }
        }
    }
}
