//! `World::quality` of a world that was edited, before its next step.

use super::{ball, config, moving_shapes};
use granule::{BodyDesc, Filter, Part, Quality, Settings, Shape, Vec2, World};
use proptest::prelude::*;

/// The depths of circles and axis-aligned boxes that were moved into each other by hand are known at once.
#[test]
fn quality_knows_of_what_was_moved_by_hand() {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let one = world.add_body(&ball(Vec2::new(0.0, 5.0))).unwrap();
    let other = world.add_body(&ball(Vec2::new(50.0, 5.0))).unwrap();
    let crate_ = world.add_body(&BodyDesc::dynamic(Shape::aabb(1.0, 0.5), Vec2::new(-50.0, 5.0))).unwrap();
    let expect = |world: &World, depths: &[f64]| {
        let Quality { contacts, mean_penetration, max_penetration, .. } = world.quality();
        let total: f64 = depths.iter().sum();
        assert_eq!(contacts, depths.len());
        assert!((mean_penetration * contacts as f64 - total).abs() < 1e-5, "{mean_penetration}");
        assert!(
            (max_penetration - depths.iter().copied().fold(0.0, f64::max)).abs() < 1e-5,
            "{max_penetration}"
        );
    };
    expect(&world, &[]);
    world.step();
    let at = world.body(one).unwrap().position;
    world.set_position(other, at + Vec2::new(0.75, 0.0)).unwrap();
    expect(&world, &[0.25]);
    world.set_position(crate_, Vec2::new(-50.0, 0.4)).unwrap();
    expect(&world, &[0.25, 0.1]);
    world.set_position(crate_, at + Vec2::new(-1.3, 0.0)).unwrap();
    expect(&world, &[0.25, 0.2]);
    world.set_filter(one, Filter { mask: 0, ..Filter::default() }).unwrap();
    expect(&world, &[]);
    world.set_filter(one, Filter::default()).unwrap();
    world.remove_body(crate_).unwrap();
    expect(&world, &[0.25]);
    // The part overlaps the floor by 0.5 − 0.1.
    world.set_position(other, Vec2::new(20.0, 1.0)).unwrap();
    world.add_part(other, &Part::new(Shape::circle(0.5), Vec2::new(0.0, -0.9))).unwrap();
    expect(&world, &[0.4]);
    let twin = world.add_body(&ball(at + Vec2::new(0.0, 0.6))).unwrap();
    expect(&world, &[0.4, 0.4]);
    world.set_position(twin, at + Vec2::new(0.0, 0.9)).unwrap();
    expect(&world, &[0.4, 0.1]);
}

/// Edits of a world that has been stepped.
#[derive(Clone, Debug)]
enum Edit {
    Move(prop::sample::Index, Vec2),
    Turn(prop::sample::Index, f32),
    Add(usize, Vec2, f32),
    Remove(prop::sample::Index),
    Part(prop::sample::Index, Vec2),
    Ignore(prop::sample::Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<prop::sample::Index>;
    let place = || (-3.0f32..3.0, 0.2f32..3.0).prop_map(Vec2::from);
    prop_oneof![
        3 => (which(), place()).prop_map(|(which, at)| Edit::Move(which, at)),
        2 => (which(), -3.0f32..3.0).prop_map(|(which, angle)| Edit::Turn(which, angle)),
        2 => (0usize..8, place(), -3.0f32..3.0).prop_map(|(shape, at, angle)| Edit::Add(shape, at, angle)),
        1 => which().prop_map(Edit::Remove),
        1 => (which(), place()).prop_map(|(which, at)| Edit::Part(which, at)),
        1 => which().prop_map(Edit::Ignore),
    ]
}

proptest! {
    #![proptest_config(config(128))]

    /// After any edit the quality is the same as with the next pair list. The step is so short that nothing moves.
    #[test]
    fn quality_is_exact_after_any_edit(
        bodies in prop::collection::vec((0usize..8, -3.0f32..3.0, 0.2f32..3.0, -3.0f32..3.0), 1..16),
        edits in prop::collection::vec(edit(), 1..12),
    ) {
        let still = Settings { gravity: Vec2::ZERO, time_step: 1.0e-6, ..Settings::default() };
        let mut world = World::new(still).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::aabb(0.5, 2.0), Vec2::new(3.0, 1.0))).unwrap();
        let add = |world: &mut World, shape: usize, position: Vec2, angle: f32| {
            let desc = BodyDesc { angle, mass: Some(1.0), ..BodyDesc::dynamic(moving_shapes()[shape], position) };
            world.add_body(&desc).unwrap()
        };
        let mut moving: Vec<_> =
            bodies.iter().map(|&(shape, x, y, angle)| add(&mut world, shape, Vec2::new(x, y), angle)).collect();
        for edit in &edits {
            let body = |which: &prop::sample::Index| moving[which.index(moving.len())];
            match edit {
                Edit::Move(which, at) => world.set_position(body(which), *at).unwrap(),
                Edit::Turn(which, angle) => world.set_angle(body(which), *angle).unwrap(),
                Edit::Add(shape, at, angle) => moving.push(add(&mut world, *shape, *at, *angle)),
                Edit::Remove(which) if moving.len() > 1 => {
                    let body = moving.swap_remove(which.index(moving.len()));
                    world.remove_body(body).unwrap();
                }
                Edit::Remove(_) => {}
                Edit::Part(which, at) => {
                    // Shapes that cannot have parts refuse them.
                    let _ = world.add_part(body(which), &Part::new(Shape::oriented_box(0.3, 0.2), 0.3 * *at));
                }
                Edit::Ignore(which) => {
                    let group = Filter { group: 1, ..Filter::default() };
                    world.set_filter(body(which), group).unwrap();
                }
            }
            let edited = world.quality();
            world.step();
            let listed = world.quality();
            let total = |quality: &Quality| quality.mean_penetration * quality.contacts as f64;
            let change = (total(&edited) - total(&listed)).abs();
            prop_assert!(change < 1e-3, "after {:?}: {:?} for {:?}", edit, edited, listed);
            let change = (edited.max_penetration - listed.max_penetration).abs();
            prop_assert!(change < 1e-4, "after {:?}: {:?} for {:?}", edit, edited, listed);
        }
    }
}
