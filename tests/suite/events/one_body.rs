//! Contract: the contacts of one body are those of all contacts that name it, in the same order.

use granule::{BodyDesc, BodyHandle, Contact, Settings, Shape, Vec2, World, scene};

/// Compares the contacts of each body with those of a search through all.
fn check(world: &World, what: &str) -> usize {
    let all: Vec<Contact> = world.contacts().collect();
    let mut found = 0;
    for body in world.handles() {
        let expected: Vec<_> =
            all.iter().filter(|contact| contact.a == body || contact.b == body).copied().collect();
        let of_body: Vec<_> = world.contacts_of(body).unwrap().collect();
        assert_eq!(of_body, expected, "{what}, {body:?}");
        found += of_body.len();
        for contact in of_body {
            for (body, part) in [(contact.a, contact.part_a), (contact.b, contact.part_b)] {
                assert!(usize::from(part) < world.parts(body).unwrap().len(), "{contact:?}");
            }
        }
    }
    assert_eq!(found, 2 * all.len(), "{what}");
    all.len()
}

/// In scenes of all kinds of bodies, with several tiles, with hulls, asleep and awake, after edits.
#[test]
fn contacts_of_a_body_are_those_that_name_it() {
    for name in ["pile", "junkyard", "ragdolls", "soft_boxes", "cars", "smash"] {
        let scene = scene::builtin(name, 900, 1).unwrap();
        let mut world = scene.build().unwrap();
        let mut found = 0;
        for step in 0..240 {
            if step % 24 == 23 {
                let bodies: Vec<_> = world.handles().collect();
                let body = bodies[step * 7 % bodies.len()];
                let _ = world.set_position(body, Vec2::new(0.0, 3.0));
                let _ = world.remove_body(bodies[step * 11 % bodies.len()]);
                world.add_body(&BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(1.0, 2.0))).unwrap();
                found += check(&world, name);
            }
            world.step();
            if step % 8 == 0 {
                found += check(&world, name);
            }
        }
        assert!(found > 1_000, "{name}: {found}");
    }
}

/// Bodies that sleep keep their contacts; those of the floor are those of all that lie on it.
#[test]
fn sleeping_bodies_keep_their_contacts() {
    let mut world = World::new(Settings::default()).unwrap();
    let floor = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let boxes: Vec<BodyHandle> = (0..5)
        .map(|i| {
            let place = Vec2::new(3.0 * i as f32, 0.5);
            world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), place)).unwrap()
        })
        .collect();
    while world.awake_count() > 0 {
        world.step();
    }
    world.step();
    check(&world, "asleep");
    assert_eq!(world.contacts_of(boxes[2]).unwrap().count(), 2);
    assert_eq!(world.contacts_of(floor).unwrap().count(), 10);
    world.remove_body(boxes[2]).unwrap();
    assert!(world.contacts_of(boxes[2]).is_err());
    world.step();
    check(&world, "one less");
    assert_eq!(world.contacts_of(floor).unwrap().count(), 8);
}
