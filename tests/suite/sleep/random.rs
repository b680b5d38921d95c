//! Random worlds that sleep and wake all the time: one result on every instruction set, and every invariant after every step.

use super::*;
use granule::{Assembly, Isa, JointDesc, LinkDesc};
use proptest::prelude::*;

/// What a host does before a step.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Nothing,
    Add { shape: u8, x: f32, y: f32, speed: f32 },
    Remove(usize),
    Push(usize, f32),
    Move(usize, f32, f32),
    Wake(usize),
    Sleep(usize),
    Join(usize, usize),
    Link(usize, usize),
    Turn(usize, f32),
    SoftBox { x: f32, y: f32 },
    RemoveHull(usize),
}

pub(super) fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        12 => Just(Edit::Nothing),
        3 => (0u8..8, -4.0f32..4.0, 0.5f32..6.0, -8.0f32..2.0)
            .prop_map(|(shape, x, y, speed)| Edit::Add { shape, x, y, speed }),
        1 => (0usize..64).prop_map(Edit::Remove),
        1 => (0usize..64, -3.0f32..3.0).prop_map(|(body, impulse)| Edit::Push(body, impulse)),
        1 => (0usize..64, -4.0f32..4.0, 0.0f32..4.0).prop_map(|(body, x, y)| Edit::Move(body, x, y)),
        1 => (0usize..64).prop_map(Edit::Wake),
        2 => (0usize..64).prop_map(Edit::Sleep),
        1 => (0usize..64, 0usize..64).prop_map(|(a, b)| Edit::Join(a, b)),
        1 => (0usize..64, 0usize..64).prop_map(|(a, b)| Edit::Link(a, b)),
        2 => (-4.0f32..4.0, 0.5f32..6.0).prop_map(|(x, y)| Edit::SoftBox { x, y }),
        1 => (0usize..64).prop_map(Edit::RemoveHull),
        1 => (0usize..64, -2.0f32..2.0).prop_map(|(body, speed)| Edit::Turn(body, speed)),
    ]
}

pub(super) struct Run {
    pub world: World,
    pub bodies: Vec<BodyHandle>,
}

impl Run {
    pub(super) fn new(isa: Isa) -> Run {
        let settings = Settings { isa, time_to_sleep: 0.1, sleep_threshold: 0.2, ..Settings::default() };
        let (mut world, floor) = with_floor(settings);
        let mut bodies = stack(&mut world, 0.0, 4);
        bodies.extend((0..4).map(|i| {
            add(&mut world, BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(1.5 + 0.7 * i as f32, 0.3)))
        }));
        bodies.push(floor);
        Run { world, bodies }
    }

    fn body(&self, index: usize) -> BodyHandle {
        self.bodies[index % self.bodies.len()]
    }

    pub(super) fn apply(&mut self, edit: &Edit) {
        let world = &mut self.world;
        match *edit {
            Edit::Nothing => {}
            Edit::Add { shape, x, y, speed } => {
                let form = match shape {
                    0 => Shape::circle(0.3),
                    1 => Shape::aabb(0.3, 0.2),
                    2 => Shape::particle(0.1),
                    3 => Shape::capsule(0.2, 0.15),
                    _ => Shape::oriented_box(0.3, 0.2),
                };
                let velocity = Vec2::new(0.0, speed);
                let desc = match shape {
                    6 => BodyDesc::fixed(form, Vec2::new(x, y)),
                    7 => BodyDesc { velocity, ..BodyDesc::kinematic(form, Vec2::new(x, y)) },
                    _ => BodyDesc { velocity, ..BodyDesc::dynamic(form, Vec2::new(x, y)) },
                };
                self.bodies.push(add(world, desc));
            }
            Edit::Remove(index) => {
                if self.bodies.len() > 2 {
                    let index = index % self.bodies.len();
                    world.remove_body(self.bodies.swap_remove(index)).unwrap();
                }
            }
            Edit::Push(index, impulse) => {
                let body = self.bodies[index % self.bodies.len()];
                let _ = world.apply_impulse(body, Vec2::new(impulse, 0.0));
            }
            Edit::Move(index, x, y) => {
                let body = self.bodies[index % self.bodies.len()];
                world.set_position(body, Vec2::new(x, y)).unwrap();
            }
            Edit::Wake(index) => world.wake_body(self.bodies[index % self.bodies.len()]).unwrap(),
            Edit::Sleep(index) => world.sleep_body(self.bodies[index % self.bodies.len()]).unwrap(),
            Edit::Join(a, b) => {
                let (a, b) = (self.body(a), self.body(b));
                let _ = self.world.add_joint(&JointDesc::revolute(a, b, Vec2::ZERO, Vec2::ZERO));
            }
            Edit::Link(a, b) => {
                let (a, b) = (self.body(a), self.body(b));
                let _ = self.world.add_link(&LinkDesc::distance(a, b, 0.7));
            }
            Edit::SoftBox { x, y } => {
                let group = world.step_count() as u32 + 1;
                let soft = Assembly::soft_box(Vec2::new(x, y), Vec2::splat(0.8), 0.05, 1.0, 0.1);
                self.bodies.extend(world.add_assembly(&soft.grouped(group)).unwrap());
            }
            Edit::RemoveHull(index) => {
                let hulls: Vec<_> = world.hulls().map(|(hull, _)| hull).collect();
                if !hulls.is_empty() {
                    let _ = world.remove_hull(hulls[index % hulls.len()]);
                }
            }
            Edit::Turn(index, speed) => {
                let body = self.body(index);
                let _ = self.world.set_angular_velocity(body, speed);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Contract: whatever a host does, every invariant of sleep holds after each call, no sleeping body moves, and every instruction
    /// set gives the same bits.
    #[test]
    fn random_edits_keep_sleep_sound(edits in proptest::collection::vec((edit(), 1u32..12), 5..40)) {
        let mut runs: Vec<Run> = Isa::available().map(Run::new).collect();
        for (edit, count) in &edits {
            for run in &mut runs {
                run.apply(edit);
                run.world.validate().map_err(TestCaseError::fail)?;
            }
            for _ in 0..*count {
                for run in &mut runs {
                    let resting: Vec<_> = run
                        .bodies
                        .iter()
                        .filter(|&&body| !is_awake(&run.world, body))
                        .map(|&body| (body, run.world.body(body).unwrap()))
                        .collect();
                    run.world.step();
                    run.world.validate().map_err(TestCaseError::fail)?;
                    for (body, before) in resting {
                        if !is_awake(&run.world, body) {
                            prop_assert_eq!(run.world.body(body).unwrap(), before);
                        }
                    }
                }
                let (first, others) = runs.split_first().unwrap();
                for other in others {
                    prop_assert_eq!(other.world.state_hash(), first.world.state_hash());
                    prop_assert_eq!(other.world.asleep_count(), first.world.asleep_count());
                    prop_assert_eq!(other.world.wake_events(), first.world.wake_events());
                    prop_assert_eq!(other.world.sleep_events(), first.world.sleep_events());
                }
            }
        }
    }
}
