//! Hulls and links that sleep beside what is awake.

use super::*;
use crate::common::cases;
use granule::{Assembly, Isa};
use proptest::prelude::*;
use std::time::Instant;

/// Contract: soft boxes that sleep beside a ball cost a step about what sleeping rigid boxes do. (2,500 of them took 350 times as long. `cargo test --release -p granule --test suite
/// -- soft_boxes_that_sleep --nocapture` prints the times.)
#[test]
fn soft_boxes_that_sleep_cost_next_to_nothing() {
    let mut worlds = [false, true].map(|soft| {
        let mut world = world(Settings::default());
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        for i in 0..1_500 {
            let at = Vec2::new(1.5 * i as f32, 0.5);
            if soft {
                world.add_assembly(&Assembly::soft_box(at, Vec2::splat(0.9), 0.05, 1.0, 0.0)).unwrap();
            } else {
                add(&mut world, BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), at));
            }
        }
        until_asleep(&mut world, 300);
        let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(-50.0, 0.5));
        let ball = add(&mut world, BodyDesc { sleep: false, velocity: Vec2::new(0.1, 0.0), ..ball });
        steps(&mut world, 20);
        assert!(is_awake(&world, ball) && world.awake_count() == 1);
        world
    });
    // By turns, as other tests run beside this one.
    let mut least = [f64::INFINITY; 2];
    for _ in 0..100 {
        for (world, least) in worlds.iter_mut().zip(&mut least) {
            let start = Instant::now();
            world.step();
            *least = least.min(1.0e6 * start.elapsed().as_secs_f64());
        }
    }
    println!("beside a ball, 1,500 rigid boxes: {:.1} us a step, soft ones: {:.1}", least[0], least[1]);
    assert!(least[1] < 12.0 * least[0], "{least:?} us");
}

/// What a host does to a world of sleepers.
#[derive(Clone, Debug)]
enum Deed {
    Ball { x: f32, fast: f32 },
    Balls(usize),
    Soft { x: f32 },
    Post { x: f32 },
    Pusher { x: f32, speed: f32 },
    Wall { x: f32 },
    Wake(usize),
    Remove(usize),
    Pin(usize),
    Steps(usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    let x = || -1.0f32..30.0;
    prop_oneof![
        (x(), 0.0f32..60.0).prop_map(|(x, fast)| Deed::Ball { x, fast }),
        (5usize..60).prop_map(Deed::Balls),
        x().prop_map(|x| Deed::Soft { x }),
        x().prop_map(|x| Deed::Post { x }),
        (x(), -3.0f32..3.0).prop_map(|(x, speed)| Deed::Pusher { x, speed }),
        x().prop_map(|x| Deed::Wall { x }),
        any::<usize>().prop_map(Deed::Wake),
        any::<usize>().prop_map(Deed::Remove),
        any::<usize>().prop_map(Deed::Pin),
        (1usize..40).prop_map(Deed::Steps),
    ]
}

/// A row of soft bodies on a floor, asleep.
fn row(isa: Isa, soft: usize) -> (World, Vec<BodyHandle>) {
    let (mut world, _) = with_floor(Settings { isa, ..Settings::default() });
    let mut corners = Vec::new();
    for i in 0..soft {
        let at = Vec2::new(1.2 * i as f32, 0.5);
        let body = Assembly::soft_box(at, Vec2::splat(0.9), 0.05, 1.0, 0.0);
        corners.extend(world.add_assembly(&body).unwrap());
    }
    until_asleep(&mut world, 300);
    (world, corners)
}

fn act(world: &mut World, deed: &Deed, corners: &[BodyHandle]) {
    let corner = |number: usize| corners[number % corners.len()];
    match *deed {
        Deed::Ball { x, fast } => {
            let ball = BodyDesc::dynamic(Shape::circle(0.2), Vec2::new(x, 3.0));
            add(world, BodyDesc { velocity: Vec2::new(0.0, -fast), ..ball });
        }
        Deed::Balls(count) => (0..count).for_each(|i| {
            let at = Vec2::new(0.6 * i as f32, 1.6 + 0.3 * (i % 3) as f32);
            add(world, BodyDesc::dynamic(Shape::circle(0.25), at));
        }),
        Deed::Soft { x } => {
            let body = Assembly::polygon(Vec2::new(x, 2.5), 0.4, 6, 1.0);
            world.add_assembly(&body).unwrap();
        }
        Deed::Post { x } => {
            add(world, BodyDesc::fixed(Shape::oriented_box(0.05, 0.6), Vec2::new(x, 0.5)));
        }
        Deed::Pusher { x, speed } => {
            let pusher = BodyDesc::kinematic(Shape::oriented_box(0.1, 0.4), Vec2::new(x, 1.5));
            add(world, BodyDesc { velocity: Vec2::new(speed, -1.0), ..pusher });
        }
        Deed::Wall { x } => {
            add(world, BodyDesc::fixed(Shape::half_space(Vec2::X, 0.0), Vec2::new(x - 1.0, 0.0)));
        }
        Deed::Wake(number) => drop(world.wake_body(corner(number))),
        Deed::Remove(number) => drop(world.remove_body(corner(number))),
        Deed::Pin(number) => drop(world.set_body_type(corner(number), granule::BodyType::Static)),
        Deed::Steps(_) => {}
    }
}

/// The world that a snapshot of this one gives.
fn restored(world: &World) -> World {
    let mut bytes = Vec::new();
    world.save(&mut bytes);
    World::from_snapshot(&bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40)))]

    /// Contract: what is kept of sleeping hulls and links from step to step is what it would be if it were found anew: a world takes the same steps as one that is restored from a
    /// snapshot before each of them, and as one with other instructions, whatever comes near the sleepers and however much, whatever is done to them, and what moves does not lie
    /// in one that sleeps.
    #[test]
    fn what_is_kept_of_sleeping_hulls_is_right(soft in 3usize..24, deeds in prop::collection::vec(deed(), 1..12)) {
        let [mut world, mut other] = [Isa::Auto, Isa::Scalar].map(|isa| row(isa, soft));
        for deed in &deeds {
            act(&mut world.0, deed, &world.1);
            act(&mut other.0, deed, &other.1);
            let count = if let Deed::Steps(count) = deed { *count } else { 3 };
            for _ in 0..count {
                let mut fresh = restored(&world.0);
                fresh.step();
                world.0.step();
                other.0.step();
                prop_assert_eq!(world.0.validate(), Ok(()));
                prop_assert_eq!(fresh.state_hash(), world.0.state_hash());
                prop_assert_eq!(other.0.state_hash(), world.0.state_hash());
                prop_assert_eq!(fresh.contact_count(), world.0.contact_count());
                for contact in world.0.contacts().filter(|contact| contact.separation < -0.05) {
                    let fast = |body| world.0.body(body).unwrap().velocity.length() > 1.0;
                    let [a, b] = [contact.a, contact.b].map(|body| (fast(body), is_awake(&world.0, body)));
                    prop_assert!(a.1 && b.1 || !(a.0 || b.0), "{:?}", contact);
                }
            }
        }
    }
}
