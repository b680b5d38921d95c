//! Contract: whatever a host does to joints and their bodies, in any order, the world stays valid, every end of a joint is reported once,
//! and every instruction set gives the same bits.

use super::law::{Dice, config, dice, joint};
use super::*;
use granule::{BodyType, Error, JointColumns, JointEnds, LinkDesc, LinkKind, Part};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A body of some kind: dynamic or not, of any shape.
fn any_body(world: &mut World, dice: &mut Dice<'_>) -> BodyHandle {
    let place = dice.vector(3.0);
    let (width, height) = (dice.within(0.1, 0.6), dice.within(0.1, 0.6));
    let shape = match dice.one_of(8) {
        0 => Shape::circle(width),
        1 => Shape::oriented_box(width, height),
        2 => Shape::aabb(width, height),
        3 => Shape::particle(width),
        4 => Shape::capsule(width, 0.2),
        5 => Shape::polygon(&[Vec2::ZERO, Vec2::new(width, 0.0), Vec2::new(0.0, height)]).unwrap(),
        6 => Shape::oriented_box(5.0, 0.1),
        _ => Shape::half_space(dice.vector(1.0) + 2.0 * Vec2::Y, -4.0),
    };
    if matches!(shape, Shape::HalfSpace { .. }) {
        return add(world, BodyDesc::fixed(shape, Vec2::ZERO));
    }
    let velocity = dice.vector(3.0);
    let angular_velocity = dice.within(-3.0, 3.0);
    let angle = dice.within(-3.0, 3.0);
    let desc = match dice.one_of(8) {
        0 => BodyDesc::fixed(shape, place),
        1 => BodyDesc { velocity, angular_velocity, ..BodyDesc::kinematic(shape, place) },
        2 => BodyDesc {
            mass: Some(dice.power(-3.0, 3.0)),
            linear_damping: 0.5,
            ..BodyDesc::dynamic(shape, place)
        },
        3 => BodyDesc { fixed_rotation: true, velocity, ..BodyDesc::dynamic(shape, place) },
        _ => BodyDesc { velocity, angular_velocity, ..BodyDesc::dynamic(shape, place) },
    };
    add(world, BodyDesc { angle, ..desc })
}

/// The world of an instruction set, and what should be in it.
struct Scene {
    world: World,
    bodies: Vec<BodyHandle>,
    /// The joints that are there.
    alive: BTreeSet<JointHandle>,
    /// The joints that are gone without the host having removed them, and that are not reported yet.
    lost: BTreeSet<JointHandle>,
    /// The world is copied before each step. A copy looks up all of its joints anew, where the original looks up those that came or went.
    copied: bool,
}

impl Scene {
    fn new(isa: Isa) -> Scene {
        let world = world(Settings { isa, ..Settings::default() });
        Scene { world, bodies: Vec::new(), alive: BTreeSet::new(), lost: BTreeSet::new(), copied: false }
    }

    /// A scene of each instruction set, and one whose world is copied before each step.
    fn all() -> Vec<Scene> {
        let copied = Scene { copied: true, ..Scene::new(Isa::Auto) };
        Isa::available().map(Scene::new).chain([copied]).collect()
    }

    fn any_joint(&self, dice: &mut Dice<'_>) -> Option<JointHandle> {
        let number = dice.one_of(self.alive.len().max(1));
        self.alive.iter().nth(number).copied()
    }

    /// The gears that couple one of these joints.
    fn gears_of(&self, members: &BTreeSet<JointHandle>) -> BTreeSet<JointHandle> {
        let couples = |desc: &JointDesc| match desc.ends {
            JointEnds::Joints(first, second) => members.contains(&first) || members.contains(&second),
            _ => false,
        };
        self.world.joints().filter(|(_, desc)| couples(desc)).map(|(handle, _)| handle).collect()
    }

    fn forget(&mut self, gone: &BTreeSet<JointHandle>) {
        for joint in gone {
            assert!(self.alive.remove(joint), "{joint:?} is gone twice");
            assert!(self.world.joint(*joint).is_err(), "{joint:?} is still there");
        }
    }

    fn random_joint(&self, dice: &mut Dice<'_>) -> JointDesc {
        let count = self.bodies.len();
        let (a, b) = (self.bodies[dice.one_of(count)], self.bodies[dice.one_of(count)]);
        let mut desc = match dice.one_of(6) {
            0 => JointDesc::filter(a, b),
            1 | 2 => {
                let [first, second] =
                    [self.any_joint(dice), self.any_joint(dice)].map(Option::unwrap_or_default);
                JointDesc::gear(
                    first,
                    second,
                    dice.within(0.3, 3.0) * if dice.chance(0.5) { 1.0 } else { -1.0 },
                )
            }
            _ => joint(dice, a, b),
        };
        desc.stiffness = JointDesc::<BodyHandle>::STIFFNESS;
        desc.collide_connected = dice.chance(0.3);
        desc.enabled = dice.chance(0.9);
        if dice.chance(0.2) {
            desc.break_force = dice.power(0.0, 4.0);
        }
        if dice.chance(0.2) {
            desc.break_torque = dice.power(0.0, 4.0);
        }
        desc.tag = (1000.0 * dice.unit()) as u64;
        desc
    }

    /// Does something. Calls may be refused: a gear of a weld, a joint of two static bodies.
    fn edit(&mut self, dice: &mut Dice<'_>) {
        let choice = dice.one_of(16);
        if self.bodies.len() < 2 || choice == 0 {
            let body = any_body(&mut self.world, dice);
            self.bodies.push(body);
            return;
        }
        let body = self.bodies[dice.one_of(self.bodies.len())];
        match choice {
            1 => self.remove_body(body),
            2 => drop(self.world.set_position(body, dice.vector(3.0))),
            3 => drop(self.world.set_angle(body, dice.within(-9.0, 9.0))),
            4 => drop(self.world.add_part(body, &Part::new(Shape::circle(0.2), dice.vector(0.5)))),
            5 => drop(self.world.set_velocity(body, dice.vector(5.0))),
            6..=10 => {
                let desc = self.random_joint(dice);
                if let Ok(joint) = self.world.add_joint(&desc) {
                    assert!(self.alive.insert(joint), "{joint:?} is given twice");
                }
            }
            11 => self.settings(dice),
            _ => self.edit_joint(choice, dice),
        }
    }

    fn settings(&mut self, dice: &mut Dice<'_>) {
        let settings = *self.world.settings();
        let substeps = 1 + dice.one_of(4) as u32;
        let time_step = [1.0 / 60.0, 1.0 / 100.0][dice.one_of(2)];
        let solver = if dice.chance(0.2) { granule::Solver::Projection } else { granule::Solver::Soft };
        let iterations = 1 + dice.one_of(2) as u32;
        self.world.set_settings(Settings { substeps, time_step, solver, iterations, ..settings }).unwrap();
    }

    fn edit_joint(&mut self, choice: usize, dice: &mut Dice<'_>) {
        let Some(joint) = self.any_joint(dice) else { return };
        match choice {
            12 => {
                let gears = self.gears_of(&BTreeSet::from([joint]));
                self.world.remove_joint(joint).unwrap();
                self.forget(&BTreeSet::from([joint]));
                self.forget(&gears);
                self.lost.extend(gears);
            }
            13 => {
                let old = self.world.joint(joint).unwrap();
                let new = self.random_joint(dice);
                let _ = self.world.set_joint(joint, &JointDesc { ends: old.ends, ..new });
            }
            14 => {
                self.world.enable_joint(joint, dice.chance(0.6)).unwrap();
                let _ = self.world.set_target(joint, dice.vector(3.0));
            }
            _ => {
                let _ = self.world.set_motor_speed(joint, dice.within(-5.0, 5.0));
                let speeds: Vec<f32> =
                    (0..self.world.joint_count()).map(|_| dice.within(-5.0, 5.0)).collect();
                self.world.set_motor_speeds(&speeds).unwrap();
            }
        }
    }

    fn remove_body(&mut self, body: BodyHandle) {
        let mut gone: BTreeSet<JointHandle> = self.world.joints_of(body).unwrap().collect();
        gone.extend(self.gears_of(&gone));
        self.world.remove_body(body).unwrap();
        self.bodies.retain(|&other| other != body);
        self.forget(&gone);
        self.lost.extend(gone);
    }

    /// Takes a step, and compares events and joints with what should be.
    fn step(&mut self) -> Result<(), String> {
        if self.copied {
            self.world = self.world.clone();
        }
        self.world.step();
        let mut reported = BTreeSet::new();
        let mut broken = BTreeSet::new();
        for event in self.world.joint_events() {
            if !reported.insert(event.joint) {
                return Err(format!("{event:?} is reported twice"));
            }
            if !self.lost.remove(&event.joint) {
                broken.insert(event.joint);
            }
        }
        if !self.lost.is_empty() {
            return Err(format!("{:?} are not reported", self.lost));
        }
        for joint in &broken {
            if !self.alive.remove(joint) {
                return Err(format!("{joint:?} is reported, and was not there"));
            }
        }
        let there: BTreeSet<JointHandle> = self.world.joints().map(|(handle, _)| handle).collect();
        if there != self.alive {
            return Err(format!("{there:?} are there, not {:?}", self.alive));
        }
        self.world.validate()
    }
}

/// Compares the bits of all worlds with those of the first: bodies, and what is read from joints.
fn compare(scenes: &mut [Scene]) -> Result<(), String> {
    let bits = |scene: &mut Scene| {
        let hash = scene.world.state_hash();
        let columns = scene.world.joint_columns();
        let JointColumns { angle, translation, speed, force_x, force_y, torque, .. } = columns;
        let values = [angle, translation, speed, force_x, force_y, torque].concat();
        (hash, values, columns.handle.to_vec())
    };
    let (hash, values, handles) = bits(&mut scenes[0]);
    if let Some(i) = values.iter().position(|value| !value.is_finite()) {
        let desc = scenes[0].world.joint(handles[i % handles.len()]);
        return Err(format!("number {} of {desc:?} is {}", i / handles.len(), values[i]));
    }
    for scene in &mut scenes[1..] {
        let isa = scene.world.isa();
        let (other_hash, other_values, _) = bits(scene);
        for (i, (one, other)) in values.iter().zip(&other_values).enumerate() {
            if one.to_bits() != other.to_bits() {
                let joint = handles[i % handles.len()];
                let desc = scene.world.joint(joint);
                return Err(format!("{isa}: number {} of {desc:?} is {other}, not {one}", i / handles.len()));
            }
        }
        if hash != other_hash {
            return Err(format!("{isa}: the bodies differ"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn any_edits_leave_a_valid_world(
        start in prop::collection::vec(dice(), 4..12),
        edits in prop::collection::vec(prop::collection::vec(dice(), 0..4), 5..30),
    ) {
        let mut scenes = Scene::all();
        for scene in &mut scenes {
            for numbers in &start {
                let body = any_body(&mut scene.world, &mut Dice::new(numbers));
                scene.bodies.push(body);
            }
        }
        for (number, edits) in edits.iter().enumerate() {
            for (which, scene) in scenes.iter_mut().enumerate() {
                for numbers in edits {
                    scene.edit(&mut Dice::new(numbers));
                    if which == 0 {
                        prop_assert_eq!(scene.world.validate(), Ok(()), "step {}", number);
                    }
                }
                let outcome = scene.step();
                prop_assert!(outcome.is_ok(), "step {}: {}", number, outcome.unwrap_err());
            }
            let outcome = compare(&mut scenes);
            prop_assert!(outcome.is_ok(), "step {}: {}", number, outcome.unwrap_err());
        }
    }
}

/// Contract: a body with more joints than there are colours holds them all. Those beyond are solved one after the other, with the same
/// bits on every instruction set. It stays so when joints come and go, and gears share the body.
#[test]
fn a_body_can_have_very_many_joints() {
    let mut scenes = Scene::all();
    for scene in &mut scenes {
        let hub = add(&mut scene.world, disc(2.0, Vec2::ZERO, 2_000.0));
        let base = post(&mut scene.world, Vec2::ZERO);
        let mut joints = vec![join(
            &mut scene.world,
            &JointDesc::revolute(base, hub, Vec2::ZERO, Vec2::ZERO).with_motor(2.0, 1.0e4),
        )];
        for i in 0..90 {
            let arm = 2.0 * Vec2::from_angle(i as f32);
            let body = add(&mut scene.world, disc(0.2, arm, 1.0));
            let desc = match i % 5 {
                0 => JointDesc::revolute(hub, body, arm, Vec2::ZERO).with_spring(0.0, 2.0, 0.5),
                1 => JointDesc::weld(hub, body, arm, Vec2::ZERO),
                2 => JointDesc::distance(hub, body, 0.5 * arm, Vec2::ZERO, 1.0),
                3 => JointDesc::prismatic(hub, body, arm, Vec2::ZERO, i as f32).with_limit(-0.2, 0.2),
                _ => JointDesc::wheel(hub, body, arm, Vec2::ZERO, i as f32).with_spring(0.0, 5.0, 0.7),
            };
            // Gears can couple neither wheels nor distances.
            joints.push(join(
                &mut scene.world,
                &JointDesc {
                    frame_b: JointFrame { angle: if i % 5 > 2 { i as f32 } else { 0.0 }, ..desc.frame_b },
                    ..desc
                },
            ));
        }
        for two in [[0, 1], [1, 6], [6, 11], [4, 9]] {
            join(&mut scene.world, &JointDesc::gear(joints[two[0]], joints[two[1]], 1.5));
        }
        scene.alive = scene.world.joints().map(|(handle, _)| handle).collect();
    }
    for step in 0..120 {
        for scene in &mut scenes {
            if step % 10 == 5 {
                let joint = scene.alive.iter().nth(step * 7 % scene.alive.len()).copied().unwrap();
                let gears = scene.gears_of(&BTreeSet::from([joint]));
                scene.world.remove_joint(joint).unwrap();
                scene.forget(&BTreeSet::from([joint]));
                scene.forget(&gears);
                scene.lost.extend(gears);
            }
            scene.step().unwrap();
        }
        compare(&mut scenes).unwrap();
    }
    let quality = scenes[0].world.joint_quality();
    println!("a hub with 90 joints: {quality:?}");
    assert!(quality.max_error < 0.02 && quality.max_angle_error < 0.02, "{quality:?}");
}

/// Contract: a joint that breaks together with a gear that couples it ends once, and so does the gear.
#[test]
fn a_gear_that_breaks_with_its_joint_is_reported_once() {
    let mut world = world(weightless(Settings::default()));
    let base = post(&mut world, Vec2::ZERO);
    let discs = [0.0, 2.0].map(|x| add(&mut world, disc(0.5, Vec2::new(x, 0.0), 1.0)));
    let hinges = discs.map(|body| {
        let at = state(&world, body).position;
        let desc = JointDesc::revolute(base, body, at, Vec2::ZERO);
        join(&mut world, &JointDesc { break_force: 5.0, ..desc })
    });
    let gear =
        join(&mut world, &JointDesc { break_torque: 0.1, ..JointDesc::gear(hinges[0], hinges[1], 1.0) });
    world.step();
    assert!(world.joint_events().is_empty());
    // A pull and a turn at once.
    world.apply_force(discs[0], Vec2::new(100.0, 0.0)).unwrap();
    world.apply_torque(discs[0], 20.0).unwrap();
    world.step();
    let mut ended: Vec<JointHandle> = world.joint_events().iter().map(|event| event.joint).collect();
    ended.sort_unstable();
    assert_eq!(ended, [hinges[0], gear], "{:?}", world.joint_events());
    world.step();
    assert!(world.joint_events().is_empty());
    assert!(world.joint(hinges[0]).is_err() && world.joint(gear).is_err() && world.joint(hinges[1]).is_ok());
}

/// Contract: handles of joints that are gone are stale for every call, also when the index is used again.
#[test]
fn handles_of_removed_joints_are_stale() {
    let mut world = world(Settings::default());
    let base = post(&mut world, Vec2::ZERO);
    let bodies = [0, 1].map(|_| add(&mut world, disc(0.5, Vec2::X, 1.0)));
    let desc = JointDesc::revolute(base, bodies[0], Vec2::ZERO, Vec2::ZERO).with_motor(1.0, 1.0);
    let old = join(&mut world, &desc);
    world.remove_joint(old).unwrap();
    let new = join(&mut world, &desc);
    assert_eq!((old.index(), old == new), (new.index(), false));
    assert!(world.remove_joint(old).is_err());
    assert!(world.joint(old).is_err() && world.joint_state(old).is_err());
    assert!(world.set_joint(old, &desc).is_err() && world.enable_joint(old, true).is_err());
    assert!(world.set_motor_speed(old, 1.0).is_err() && world.set_target(old, Vec2::ZERO).is_err());
    assert!(world.add_joint(&JointDesc::gear(old, new, 1.0)).is_err());
    assert_eq!(world.joint_count(), 1);
    world.step();
    assert!(world.joint_events().is_empty(), "the host removed it itself");
    world.remove_body(bodies[0]).unwrap();
    assert!(world.joint(new).is_err());
    world.step();
    let events = world.joint_events();
    assert_eq!((events.len(), events[0].joint, events[0].reason), (1, new, JointEnd::Lost));
}

/// A body whose centre would move too far from a point of a joint or link is refused the edit, and nothing changes: all joints and links
/// stay ones that could be added again.
#[test]
fn centres_stay_near_joints() {
    let far = Vec2::new(1.0e6, 0.0);
    for linked in [false, true] {
        for enabled in [true, false] {
            let mut world = World::new(Settings::default()).unwrap();
            let post = add(&mut world, BodyDesc::fixed(Shape::circle(0.5), Vec2::ZERO));
            let body = add(&mut world, BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO));
            if linked {
                let link = LinkDesc::new(LinkKind::Distance, body, post, 1.0e6);
                world.add_link(&LinkDesc { anchor_a: far, ..link }).unwrap();
            } else {
                world.add_joint(&JointDesc::revolute(post, body, Vec2::ZERO, far)).unwrap();
            }
            world.set_enabled(body, enabled).unwrap();
            let before = world.state_hash();
            let part = |x: f32| Part::new(Shape::circle(0.5), Vec2::new(x, 0.0));
            assert!(matches!(world.add_part(body, &part(-4.0)), Err(Error::OutOfRange { .. })));
            assert!(matches!(
                world.add_parts(body, &[part(-4.0), part(-3.0)]),
                Err(Error::OutOfRange { .. })
            ));
            assert!(world.set_centre(body, Some(Vec2::new(-1.0, 0.0))).is_err());
            assert_eq!(world.state_hash(), before);
            world.add_part(body, &part(4.0)).unwrap();
            world.set_centre(body, Some(Vec2::new(1.0, 0.0))).unwrap();
            world.validate().unwrap();
            assert!(world.joints().all(|(_, joint)| joint.validate().is_ok()));
            assert!(world.links().all(|(_, link)| link.anchor_a.abs().max_element() <= 1.0e6));
        }
    }
}

/// Contract: an edit of a joint, or of its body, wakes what a gear couples with it elsewhere: the world stays valid, and its snapshots are whole.
#[test]
fn edits_wake_what_gears_couple() {
    let edits: [fn(&mut World, BodyHandle, JointHandle); 6] = [
        |world, _, joint| world.remove_joint(joint).unwrap(),
        |world, _, joint| world.enable_joint(joint, false).unwrap(),
        |world, _, joint| {
            let desc = world.joint(joint).unwrap();
            world.set_joint(joint, &JointDesc { tag: 7, ..desc }).unwrap();
        },
        |world, body, _| world.remove_body(body).unwrap(),
        |world, body, _| world.set_body_type(body, BodyType::Dynamic).unwrap(),
        |world, body, _| world.set_enabled(body, false).unwrap(),
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        for body_type in [BodyType::Static, BodyType::Kinematic] {
            let mut world = World::new(Settings::default()).unwrap();
            add(&mut world, BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO));
            let at = Vec2::new(4.0, 9.5);
            let post = add(&mut world, BodyDesc::fixed(Shape::oriented_box(0.5, 0.5), at));
            let still = add(&mut world, BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), at));
            let sleeper =
                add(&mut world, BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5)));
            let hinge = JointDesc::revolute(sleeper, post, Vec2::ZERO, Vec2::new(-4.0, -9.0));
            let hinge = world.add_joint(&hinge).unwrap();
            let other = world.add_joint(&JointDesc::revolute(still, post, Vec2::ZERO, Vec2::ZERO)).unwrap();
            world.add_joint(&JointDesc::gear(hinge, other, 1.0)).unwrap();
            world.set_body_type(still, body_type).unwrap();
            (0..300).for_each(|_| world.step());
            assert!(!world.is_awake(sleeper).unwrap());
            edit(&mut world, still, other);
            for _ in 0..3 {
                assert_eq!(world.validate(), Ok(()), "edit {number}, {body_type:?}");
                let mut snapshot = Vec::new();
                world.save(&mut snapshot);
                let copy = World::from_snapshot(&snapshot).map(|copy| copy.state_hash());
                assert_eq!(copy, Ok(world.state_hash()), "edit {number}, {body_type:?}");
                world.step();
            }
        }
    }
}
