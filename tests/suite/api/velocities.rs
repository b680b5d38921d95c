//! The pair list takes in velocities that a host sets.

use super::{config, moving_shapes};
use granule::{BodyDesc, BodyHandle, BodyState, Filter, Isa, Part, Settings, Shape, Vec2, World};
use proptest::prelude::*;
use std::collections::HashMap;

/// The ways in which a host can change the motion of a body.
#[derive(Clone, Copy, Debug)]
enum Kick {
    Velocity,
    Spin,
    Impulse,
    ImpulseAt,
    AngularImpulse,
    Force,
    ForceAt,
    Torque,
}

impl Kick {
    const ALL: [Kick; 8] = [
        Kick::Velocity,
        Kick::Spin,
        Kick::Impulse,
        Kick::ImpulseAt,
        Kick::AngularImpulse,
        Kick::Force,
        Kick::ForceAt,
        Kick::Torque,
    ];

    /// Gives a body about this velocity, this angular velocity, or both.
    fn apply(self, world: &mut World, body: BodyHandle, velocity: Vec2, omega: f32) {
        let mass = world.mass(body).unwrap().min(100.0);
        let at = world.body(body).unwrap().position + Vec2::new(0.3, 0.1);
        let step = world.settings().time_step;
        match self {
            Kick::Velocity => world.set_velocity(body, velocity),
            Kick::Spin => world.set_angular_velocity(body, omega),
            Kick::Impulse => world.apply_impulse(body, mass * velocity),
            Kick::ImpulseAt => world.apply_impulse_at(body, mass * velocity, at),
            Kick::AngularImpulse => world.apply_angular_impulse(body, mass * omega),
            Kick::Force => world.apply_force(body, mass / step * velocity),
            Kick::ForceAt => world.apply_force_at(body, mass / step * velocity, at),
            Kick::Torque => world.apply_torque(body, mass / step * omega),
        }
        .unwrap();
    }
}

/// The least separation of each pair of bodies that touch or are about to touch.
fn least_separations(world: &World) -> HashMap<[BodyHandle; 2], f32> {
    let mut least = HashMap::new();
    for contact in world.contacts() {
        let pair = if contact.a < contact.b { [contact.a, contact.b] } else { [contact.b, contact.a] };
        let known: &mut f32 = least.entry(pair).or_insert(f32::INFINITY);
        *known = known.min(contact.separation);
    }
    least
}

proptest! {
    #![proptest_config(config(192))]

    /// After any change of a velocity by hand, the next step has the same contacts as with a new pair list: the pair
    /// list takes account of the change.
    #[test]
    fn the_pair_list_knows_of_changed_velocities(
        bodies in prop::collection::vec((0usize..8, -6.0f32..6.0, 0.5f32..6.0, -3.0f32..3.0, any::<bool>()), 1..24),
        kicks in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(Kick::ALL.to_vec()), -60.0f32..60.0, -60.0f32..60.0,
             -90.0f32..90.0),
            1..4,
        ),
        steps in 0usize..6,
    ) {
        let run = |fresh: bool| {
            let mut world = World::new(Settings::default()).unwrap();
            let ground = world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            world.add_body(&BodyDesc::fixed(Shape::aabb(0.2, 4.0), Vec2::new(7.0, 4.0))).unwrap();
            world.add_body(&BodyDesc { angle: 0.3, ..BodyDesc::fixed(Shape::capsule(3.0, 0.2), Vec2::new(-7.0, 2.0)) }).unwrap();
            let mut moving = Vec::new();
            for &(shape, x, y, angle, kinematic) in &bodies {
                let position = Vec2::new(x, y);
                let desc = BodyDesc { angle, mass: Some(1.0), ..BodyDesc::dynamic(moving_shapes()[shape], position) };
                let desc = if kinematic { desc.pinned() } else { desc };
                let body = world.add_body(&desc).unwrap();
                if shape == 7 {
                    world.add_part(body, &Part::new(Shape::circle(0.2), Vec2::new(0.9, 0.0))).unwrap();
                }
                moving.push(body);
            }
            (0..steps).for_each(|_| world.step());
            for &(which, kick, x, y, omega) in &kicks {
                kick.apply(&mut world, moving[which.index(moving.len())], Vec2::new(x, y), omega);
            }
            if fresh {
                world.set_filter(ground, Filter::default()).unwrap();
            }
            world.step();
            least_separations(&world)
        };
        let (kept, fresh) = (run(false), run(true));
        for (pair, separation) in &fresh {
            let known = kept.get(pair);
            prop_assert!(known.is_some(), "{:?}, {} m apart, is no contact but with a new list", pair, separation);
            prop_assert!((known.unwrap() - separation).abs() < 1e-4, "{:?}: {:?} for {}", pair, known, separation);
        }
        prop_assert_eq!(kept.len(), fresh.len());
    }
}

/// A plank that is set spinning a metre above the floor does not pass through the floor.
#[test]
fn a_spin_set_by_hand_is_stopped_by_the_floor() {
    for isa in [Isa::Scalar, Isa::Auto] {
        let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let plank =
            world.add_body(&BodyDesc::dynamic(Shape::oriented_box(5.0, 0.1), Vec2::new(0.0, 1.1))).unwrap();
        (0..3).for_each(|_| world.step());
        world.set_angular_velocity(plank, -30.0).unwrap();
        world.step();
        let BodyState { position, angle, .. } = world.body(plank).unwrap();
        let lowest = position.y - 5.0 * angle.sin().abs() - 0.1 * angle.cos();
        assert!(lowest > -0.1, "{lowest}");
    }
}
