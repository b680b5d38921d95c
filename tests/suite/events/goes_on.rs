//! Contract: a pair of bodies that goes on to touch has neither a begin nor an end event: not when it falls asleep or wakes, whichever of its parts touch, and
//! not when a particle of it comes into a hull or out of one.

use super::super::common::world;
use granule::{Assembly, BodyDesc, BodyHandle, Filter, Part, Settings, Shape, Vec2, World};

/// What a step tells of two bodies: (begin, end).
fn told(world: &World, bodies: [BodyHandle; 2]) -> (usize, usize) {
    let of = |events: &[granule::ContactEvent]| {
        events.iter().filter(|event| bodies.contains(&event.a) && bodies.contains(&event.b)).count()
    };
    (of(world.begin_events()), of(world.end_events()))
}

/// A body rests on the second part of another one, whose first part may not touch it: by group, by category and mask, or not so.
#[test]
fn a_pair_of_parts_falls_asleep_without_an_end() {
    let closed = [
        Filter { group: 1, ..Filter::default() },
        Filter { category: 2, mask: !2, ..Filter::default() },
        Filter::default(),
    ];
    for (filter, by_hand) in closed.into_iter().flat_map(|filter| [(filter, true), (filter, false)]) {
        let mut world = world(Settings { sleep: true, ..Settings::default() });
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let square = |half: f32| Shape::oriented_box(half, half);
        let below = BodyDesc { filter, ..BodyDesc::dynamic(square(0.5), Vec2::new(0.0, 0.5)) };
        let below = world.add_body(&below).unwrap();
        world.add_part(below, &Part::new(square(0.5), Vec2::new(1.0, 0.0))).unwrap();
        let above = BodyDesc { filter, ..BodyDesc::dynamic(square(0.4), Vec2::new(1.0, 1.4)) };
        let above = world.add_body(&above).unwrap();
        let mut events = (0, 0);
        let mut step = |world: &mut World| {
            world.step();
            let (begin, end) = told(world, [below, above]);
            events = (events.0 + begin, events.1 + end);
            assert_eq!(events, (1, 0), "{filter:?}, by hand: {by_hand}, step {}", world.step_count());
        };
        (0..if by_hand { 5 } else { 120 }).for_each(|_| step(&mut world));
        if by_hand {
            world.sleep_body(above).unwrap();
        }
        assert_eq!(world.asleep_count(), 2);
        (0..3).for_each(|_| step(&mut world));
        // One that was woken by hand, and is put to sleep again before the next step.
        world.wake_body(above).unwrap();
        world.sleep_body(above).unwrap();
        (0..3).for_each(|_| step(&mut world));
        world.wake_body(above).unwrap();
        (0..3).for_each(|_| step(&mut world));
        // What may touch no more has an end, asleep or not.
        world.set_filter(below, Filter { mask: 0, ..Filter::default() }).unwrap();
        world.sleep_body(above).unwrap();
        world.step();
        world.wake_body(above).unwrap();
        world.step();
        assert!(!world.contacts_of(above).unwrap().any(|contact| [contact.a, contact.b].contains(&below)));
    }
}

/// A soft box rests on the floor with two corners, which go on to touch it when the hull goes, and when it comes back.
#[test]
fn corners_of_a_hull_that_goes_still_touch() {
    for way in 0..3 {
        let mut world = world(Settings { sleep: false, ..Settings::default() });
        let floor = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let corners =
            world.add_assembly(&Assembly::soft_box(Vec2::new(0.0, 0.6), Vec2::ONE, 0.1, 1.0, 0.0)).unwrap();
        (0..60).for_each(|_| world.step());
        let touching = |world: &World| -> Vec<BodyHandle> {
            let touches = |corner: &&BodyHandle| {
                world.contacts_of(**corner).unwrap().any(|contact| [contact.a, contact.b].contains(&floor))
            };
            corners.iter().filter(|corner| world.contains(**corner)).filter(touches).copied().collect()
        };
        let before = touching(&world);
        assert!(before.len() >= 2, "{before:?}");
        let other = *corners.iter().find(|corner| !before.contains(corner)).unwrap();
        let hull = world.hulls().next().unwrap().0;
        match way {
            0 => world.remove_hull(hull).unwrap(),
            1 => world.set_enabled(other, false).unwrap(),
            _ => world.remove_body(other).unwrap(),
        }
        world.step();
        let (after, quiet) =
            (touching(&world), |world: &World, corner| told(world, [floor, corner]) == (0, 0));
        assert!(before.iter().all(|corner| after.contains(corner)), "way {way}: {before:?}, then {after:?}");
        assert!(before.iter().all(|&corner| quiet(&world, corner)), "way {way}: {:?}", world.begin_events());
        if way == 0 {
            world.add_hull(&corners).unwrap();
            world.step();
            assert!(before.iter().all(|&corner| quiet(&world, corner)), "{:?}", world.end_events());
        }
        // When a corner goes, its contact has ended, once.
        world.remove_body(before[0]).unwrap();
        world.step();
        assert_eq!(told(&world, [floor, before[0]]), (0, 1), "way {way}");
    }
}
