//! Contract: begin and end events are of pairs of bodies. A pair begins when the first two of its shapes touch. It ends
//! when the last two shapes no longer touch, whatever happens meanwhile to the pair list, the parts, the filters and
//! the bodies. The events and their order are the same on every instruction set.

mod goes_on;
mod hits;
mod moves;
mod naive;
mod one_body;

use granule::{
    BodyDesc, BodyHandle, BodyState, ContactEvent, Filter, Isa, JointDesc, JointKind, Part, Settings, Shape,
    Vec2, World,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::{HashMap, HashSet};

fn config(cases: u32) -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("tests/regressions/events.txt");
    ProptestConfig { cases, failure_persistence: Some(Box::new(failures)), ..ProptestConfig::default() }
}

type Couple = [BodyHandle; 2];

fn couple(a: BodyHandle, b: BodyHandle) -> Couple {
    if a < b { [a, b] } else { [b, a] }
}

/// Brings the pairs that touch up to date with a step's events, each of which must change them.
fn follow(world: &World, touching: &mut HashSet<Couple>) -> Result<(), String> {
    for event in world.end_events() {
        if !touching.remove(&couple(event.a, event.b)) {
            return Err(format!("{event:?} ends without having begun"));
        }
    }
    for event in world.begin_events() {
        if !touching.insert(couple(event.a, event.b)) {
            return Err(format!("{event:?} begins twice"));
        }
    }
    Ok(())
}

/// Adds a body of one to four shapes.
fn add(world: &mut World, recipe: usize, desc: &BodyDesc) -> BodyHandle {
    let at = |x: f32, y: f32, shape: Shape| Part::new(shape, Vec2::new(x, y));
    let (first, parts) = match recipe {
        0 => (Shape::circle(0.3), vec![]),
        1 => (Shape::oriented_box(0.4, 0.2), vec![]),
        2 => (Shape::aabb(0.3, 0.3), vec![]),
        3 => (Shape::circle(0.25), vec![at(1.2, 0.0, Shape::circle(0.25))]),
        4 => (
            Shape::oriented_box(0.6, 0.1),
            vec![at(-0.5, 0.4, Shape::oriented_box(0.1, 0.4)), at(0.5, 0.4, Shape::oriented_box(0.1, 0.4))],
        ),
        5 => (
            Shape::capsule(0.4, 0.1),
            vec![at(0.0, 0.5, Shape::circle(0.2)), at(0.0, -0.5, Shape::circle(0.2))],
        ),
        // This shape is so large that it is in no band.
        _ => (
            Shape::oriented_box(4.0, 0.2),
            vec![
                at(-3.8, 0.6, Shape::oriented_box(0.2, 0.6)),
                at(3.8, 0.6, Shape::oriented_box(0.2, 0.6)),
                at(0.0, -0.5, Shape::capsule(1.0, 0.2)),
            ],
        ),
    };
    let body = world.add_body(&BodyDesc { shape: first, ..*desc }).unwrap();
    world.add_parts(body, &parts).unwrap();
    body
}

#[derive(Clone, Debug)]
enum Edit {
    Nothing,
    Add(usize, Vec2, f32),
    Remove(prop::sample::Index),
    Move(prop::sample::Index, Vec2),
    Push(prop::sample::Index, Vec2),
    Part(prop::sample::Index, Vec2),
    Ignore(prop::sample::Index, bool),
    Ruin(prop::sample::Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<prop::sample::Index>;
    let place = || (-4.0f32..4.0, 0.3f32..4.0).prop_map(Vec2::from);
    prop_oneof![
        12 => Just(Edit::Nothing),
        2 => (0usize..7, place(), -3.0f32..3.0).prop_map(|(recipe, at, angle)| Edit::Add(recipe, at, angle)),
        2 => which().prop_map(Edit::Remove),
        1 => (which(), place()).prop_map(|(which, at)| Edit::Move(which, at)),
        4 => (which(), place()).prop_map(|(which, at)| Edit::Push(which, 4.0 * at)),
        2 => (which(), place()).prop_map(|(which, at)| Edit::Part(which, 0.2 * at)),
        2 => (which(), any::<bool>()).prop_map(|(which, ignore)| Edit::Ignore(which, ignore)),
        1 => which().prop_map(Edit::Ruin),
    ]
}

struct Scene {
    world: World,
    bodies: Vec<BodyHandle>,
    /// The pairs that touch according to the events.
    touching: HashSet<Couple>,
}

impl Scene {
    fn new(isa: Isa, starts: &[(usize, Vec2, f32)]) -> Scene {
        let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let fixed = BodyDesc::fixed(Shape::circle(1.0), Vec2::new(-5.0, 1.0));
        add(&mut world, 4, &fixed);
        let turning = BodyDesc::kinematic(Shape::circle(1.0), Vec2::new(5.0, 1.0));
        add(&mut world, 6, &BodyDesc { angular_velocity: 2.0, ..turning });
        let mut scene = Scene { world, bodies: Vec::new(), touching: HashSet::new() };
        for &(recipe, at, angle) in starts {
            scene.add(recipe, at, angle);
        }
        scene
    }

    fn add(&mut self, recipe: usize, position: Vec2, angle: f32) {
        let desc = BodyDesc { angle, ..BodyDesc::dynamic(Shape::circle(1.0), position) };
        self.bodies.push(add(&mut self.world, recipe, &desc));
    }

    fn edit(&mut self, edit: &Edit) {
        if let Edit::Add(recipe, at, angle) = *edit {
            self.add(recipe, at, angle);
        }
        if self.bodies.is_empty() {
            return;
        }
        let count = self.bodies.len();
        let body = |which: &prop::sample::Index| self.bodies[which.index(count)];
        // The calls are refused if the body has gone bad or its shape cannot have parts.
        match edit {
            Edit::Nothing | Edit::Add(..) => {}
            Edit::Remove(which) => {
                self.world.remove_body(body(which)).unwrap();
                self.bodies.swap_remove(which.index(count));
            }
            Edit::Move(which, at) => drop(self.world.set_position(body(which), *at)),
            Edit::Push(which, velocity) => {
                let _ = self.world.set_velocity(body(which), *velocity - Vec2::new(0.0, 8.0));
                let _ = self.world.set_angular_velocity(body(which), velocity.x);
            }
            Edit::Part(which, at) => {
                let _ = self.world.add_part(body(which), &Part::new(Shape::circle(0.2), *at));
            }
            Edit::Ignore(which, ignore) => {
                let mask = if *ignore { 0 } else { u32::MAX };
                self.world.set_filter(body(which), Filter { mask, ..Filter::default() }).unwrap();
            }
            Edit::Ruin(which) => {
                for _ in 0..30 {
                    let _ = self.world.apply_force(body(which), Vec2::splat(1.0e30));
                }
            }
        }
    }

    /// Takes a step, and compares its events with the pairs that touch.
    fn step(&mut self) -> Result<(), String> {
        let before: HashMap<BodyHandle, BodyState> =
            self.world.handles().map(|body| (body, self.world.body(body).unwrap())).collect();
        let bears = |contact: &granule::Contact| contact.normal_impulse > 0.0;
        let loaded: HashSet<Couple> =
            self.world.contacts().filter(bears).map(|contact| couple(contact.a, contact.b)).collect();
        self.world.step();
        let world = &self.world;
        follow(world, &mut self.touching)?;
        let (mut surely, mut perhaps) = (HashSet::new(), HashSet::new());
        let Settings { slop, time_step, .. } = *world.settings();
        for contact in world.contacts() {
            // The speed at the start of the step: an approach that would end inside the other body counts as touching.
            let speed_at = |body: BodyHandle| {
                let BodyState { position, velocity, angular_velocity, .. } = before[&body];
                // An axis-aligned box does not turn.
                let turns = !matches!(world.shape(body), Ok(Shape::Aabb { .. }));
                let angular_velocity = if turns { angular_velocity } else { 0.0 };
                (velocity + angular_velocity * (contact.point - position).perp()).dot(contact.normal)
            };
            let closing = speed_at(contact.b) - speed_at(contact.a);
            let predicted = contact.separation + time_step * closing;
            let pair = couple(contact.a, contact.b);
            // What bore a load has the arms of half a step later, up to a slop from those at the start.
            let spin = |body: BodyHandle| before[&body].angular_velocity.abs();
            let lead = if loaded.contains(&pair) { slop * (spin(contact.a) + spin(contact.b)) } else { 0.0 };
            let band = 1e-4 + time_step * lead;
            if contact.separation < slop - band || predicted < -band {
                surely.insert(pair);
            }
            if contact.separation < slop + band || predicted < band {
                perhaps.insert(pair);
            }
        }
        let bad: HashSet<BodyHandle> = world.quarantined().iter().map(|quarantine| quarantine.body).collect();
        for pair in &surely {
            if !self.touching.contains(pair) {
                return Err(format!("{pair:?} touch, and have not begun"));
            }
        }
        for pair in &self.touching {
            let gone_bad = pair.iter().any(|body| bad.contains(body));
            if !perhaps.contains(pair) && !gone_bad {
                return Err(format!("{pair:?} have begun, not ended, and do not touch"));
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(config(192))]

    #[test]
    fn events_are_of_pairs_of_bodies(
        starts in prop::collection::vec(
            (0usize..7, (-4.0f32..4.0, 0.3f32..6.0).prop_map(Vec2::from), -3.0f32..3.0), 1..20),
        edits in prop::collection::vec(edit(), 1..60),
    ) {
        let mut scenes = [Isa::Scalar, Isa::Auto].map(|isa| Scene::new(isa, &starts));
        for (number, edit) in edits.iter().enumerate() {
            for scene in &mut scenes {
                scene.edit(edit);
                let outcome = scene.step();
                prop_assert!(outcome.is_ok(), "step {}, after {:?}: {}", number, edit, outcome.unwrap_err());
            }
            let events = |scene: &Scene| -> [Vec<ContactEvent>; 2] {
                [scene.world.begin_events().to_vec(), scene.world.end_events().to_vec()]
            };
            prop_assert_eq!(events(&scenes[0]), events(&scenes[1]));
        }
        // A body that goes bad touches nothing from the next step on.
        for scene in &mut scenes {
            scene.step().map_err(TestCaseError::fail)?;
            for quarantine in scene.world.quarantined().to_vec() {
                let touches = scene.touching.iter().any(|pair| pair.contains(&quarantine.body));
                let fresh = quarantine.step + 1 == scene.world.step_count();
                prop_assert!(!touches || fresh, "{:?} still touches", quarantine);
            }
        }
    }
}

/// A dumbbell that lands flat begins once. It goes on touching when one end is lifted, and ends once, when the other
/// end is lifted. A dumbbell that is removed ends once.
#[test]
fn a_dumbbell_touches_once() {
    for isa in [Isa::Scalar, Isa::Auto] {
        let mut world = World::new(Settings { isa, ..Settings::default() }).unwrap();
        let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
        world.add_body(&floor).unwrap();
        let ball = Shape::circle(0.5);
        let dumbbell = world.add_body(&BodyDesc::dynamic(ball, Vec2::new(-1.0, 0.6))).unwrap();
        world.add_part(dumbbell, &Part::new(ball, Vec2::new(2.0, 0.0))).unwrap();
        let count = |world: &mut World, steps: usize| {
            let (mut begin, mut end) = (0, 0);
            for _ in 0..steps {
                world.step();
                begin += world.begin_events().len();
                end += world.end_events().len();
            }
            (begin, end)
        };
        assert_eq!(count(&mut world, 60), (1, 0));
        world.set_angular_velocity(dumbbell, 3.0).unwrap();
        world.set_velocity(dumbbell, Vec2::new(0.0, 3.0)).unwrap();
        assert_eq!(count(&mut world, 4), (0, 0), "one end is lifted, about the other");
        let ends: Vec<f32> = world.contacts().map(|contact| contact.point.x).collect();
        assert!(ends.iter().all(|&x| x < 0.0), "{ends:?}");
        world.set_position(dumbbell, Vec2::new(0.0, 5.0)).unwrap();
        assert_eq!(count(&mut world, 1), (0, 1));
        world.set_angle(dumbbell, 0.0).unwrap();
        world.set_angular_velocity(dumbbell, 0.0).unwrap();
        world.set_velocity(dumbbell, Vec2::ZERO).unwrap();
        world.set_position(dumbbell, Vec2::new(0.0, 0.5)).unwrap();
        assert_eq!(count(&mut world, 2), (1, 0));
        world.remove_body(dumbbell).unwrap();
        assert_eq!(count(&mut world, 2), (0, 1));
    }
}

/// A part that is given to a resting body does not end or begin a contact.
#[test]
fn a_part_is_no_new_contact() {
    for general in [false, true] {
        let mut world = World::new(Settings::default()).unwrap();
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        if general {
            world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(9.0, 0.5))).unwrap();
        }
        let body = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 0.5))).unwrap();
        (0..10).for_each(|_| world.step());
        world.add_part(body, &Part::new(Shape::circle(0.2), Vec2::new(0.0, 0.2))).unwrap();
        for _ in 0..5 {
            world.step();
            assert_eq!((world.begin_events().len(), world.end_events().len()), (0, 0));
        }
    }
}

/// What a host has asked for can be read, for all and for one, and a stale handle is an error.
#[test]
fn what_was_asked_for_can_be_read() {
    let mut world = World::new(Settings::default()).unwrap();
    let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO);
    let [one, other] =
        [0.0, 2.0].map(|x| world.add_body(&BodyDesc { position: Vec2::new(x, 0.0), ..ball }).unwrap());
    let joint = world.add_joint(&JointDesc::new(one, other, JointKind::Filter)).unwrap();
    let unasked = (world.hit_threshold(), world.reports_moves(), world.common_joint_force_threshold());
    assert_eq!(unasked, (None, false, None));
    assert_eq!(world.body_hit_threshold(one), Ok(None));
    assert_eq!(world.reports_moves_of(one), Ok(false));
    assert_eq!(world.joint_force_threshold(joint), Ok(None));
    assert!(!world.is_tracing() && world.hooks().is_none());
    assert_eq!(world.has_set_centre(one), Ok(false));

    world.set_hit_events(Some(2.0)).unwrap();
    world.set_body_hit_events(one, Some(1.0)).unwrap();
    world.set_move_events(true);
    world.set_body_move_events(one, true).unwrap();
    world.set_joint_force_events(Some(5.0)).unwrap();
    world.set_joint_force_threshold(joint, Some(3.0)).unwrap();
    world.set_tracing(true);
    world.set_centre(one, Some(Vec2::new(0.1, 0.0))).unwrap();
    let asked = (world.hit_threshold(), world.reports_moves(), world.common_joint_force_threshold());
    assert_eq!(asked, (Some(2.0), true, Some(5.0)));
    assert_eq!([one, other].map(|body| world.body_hit_threshold(body)), [Ok(Some(1.0)), Ok(None)]);
    assert_eq!([one, other].map(|body| world.reports_moves_of(body)), [Ok(true), Ok(false)]);
    assert_eq!(world.joint_force_threshold(joint), Ok(Some(3.0)));
    assert!(world.is_tracing());
    assert_eq!([one, other].map(|body| world.has_set_centre(body)), [Ok(true), Ok(false)]);

    world.set_body_hit_events(one, None).unwrap();
    world.set_body_move_events(one, false).unwrap();
    world.set_centre(one, None).unwrap();
    assert_eq!(world.body_hit_threshold(one), Ok(None));
    assert_eq!(world.reports_moves_of(one), Ok(false));
    assert_eq!(world.has_set_centre(one), Ok(false));
    world.remove_body(one).unwrap();
    assert!(world.body_hit_threshold(one).is_err() && world.reports_moves_of(one).is_err());
    assert!(world.joint_force_threshold(joint).is_err() && world.has_set_centre(one).is_err());
}
