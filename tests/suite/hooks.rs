//! Contract: hooks decide about pairs, materials and contacts; each contact is shown once a step; and the result is the same on every instruction
//! set and number of threads.

use super::common::{state, steps, world};
use granule::{
    BodyDesc, BodyHandle, HookContact, HookUse, Hooks, Isa, Material, Mixed, Mixing, Part, Settings, Shape,
    Vec2, World, scene,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Two shapes that touch, by bodies and parts.
type Key = [(BodyHandle, u8); 2];

/// Notes every contact that it is shown.
#[derive(Default)]
struct Watcher(Mutex<Vec<HookContact>>);

impl Hooks for Watcher {
    fn uses(&self) -> HookUse {
        HookUse { before_solve: true, ..HookUse::NONE }
    }

    fn before_solve(&self, contact: &mut HookContact) {
        self.0.lock().unwrap().push(*contact);
    }
}

impl Watcher {
    /// The contacts of the last step, with how often each was shown.
    fn take(&self) -> BTreeMap<Key, Vec<HookContact>> {
        let mut shown: BTreeMap<Key, Vec<HookContact>> = BTreeMap::new();
        for contact in std::mem::take(&mut *self.0.lock().unwrap()) {
            let key = [(contact.a, contact.part_a), (contact.b, contact.part_b)];
            shown.entry(key).or_default().push(contact);
        }
        shown
    }
}

/// Every contact that a world has after a step was shown once in it, with the same normal and points, and no other was; a hook that changes nothing
/// changes not one bit.
#[test]
fn each_contact_is_shown_once() {
    granule::set_oversubscribe(true);
    for (name, threads) in [("pile", 1), ("junkyard", 3), ("smash", 2), ("cars", 2)] {
        let scene = scene::builtin(name, 700, 1).unwrap();
        let (mut plain, mut hooked) = (scene.build().unwrap(), scene.build().unwrap());
        let watcher = Arc::new(Watcher::default());
        hooked.set_hooks(Some(watcher.clone()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut found = 0;
        for step in 0..150 {
            plain.step();
            pool.install(|| hooked.step());
            assert_eq!(plain.state_hash(), hooked.state_hash(), "{name}, step {step}");
            let mut shown = watcher.take();
            let mut points: BTreeMap<Key, Vec<(Vec2, f32)>> = BTreeMap::new();
            let mut normals = BTreeMap::new();
            // Contacts that sleep are those of the step in which they fell asleep.
            for (_, contact) in hooked.coloured_contacts() {
                let key = [(contact.a, contact.part_a), (contact.b, contact.part_b)];
                points.entry(key).or_default().push((contact.point, contact.separation));
                normals.insert(key, contact.normal);
            }
            if hooked.sleep_events().is_empty() {
                assert_eq!(shown.len(), points.len(), "{name}, step {step}");
            }
            for (key, points) in points {
                let contact = shown.remove(&key).unwrap_or_else(|| panic!("{name}: {key:?} was not shown"));
                assert_eq!(contact.len(), 1, "{name}: {key:?} was shown more than once");
                let of_hook: Vec<_> =
                    contact[0].points().iter().map(|point| (point.point, point.separation)).collect();
                assert_eq!((of_hook, contact[0].normal), (points, normals[&key]), "{name}: {key:?}");
                found += 1;
            }
        }
        assert!(found > 3_000, "{name}: {found}");
    }
}

/// Decides by the numbers of bodies alone, and uses everything.
struct Arbitrary;

impl Hooks for Arbitrary {
    fn may_touch(&self, a: BodyHandle, b: BodyHandle) -> bool {
        assert!(a < b);
        !(a.index() + b.index()).is_multiple_of(7)
    }

    fn mix(&self, a: &Material, b: &Material, mixed: Mixed) -> Mixed {
        Mixed { static_friction: mixed.static_friction + a.density * b.density, ..mixed }
    }

    fn before_solve(&self, contact: &mut HookContact) {
        contact.solve =
            !(contact.a.index() + contact.b.index()).is_multiple_of(5) || contact.normal.y.abs() > 0.9;
        contact.coefficients.restitution = contact.points()[0].approach_speed * 0.05;
        contact.tangent_speed += 0.5;
    }

    fn stops(&self, fast: BodyHandle, _: BodyHandle, normal: Vec2) -> bool {
        !fast.index().is_multiple_of(3) || normal.y > 0.0
    }
}

/// Contract: hooks that use all that there is leave one result, on every instruction set and number of threads.
#[test]
fn hooks_leave_one_result() {
    granule::set_oversubscribe(true);
    for name in ["pile", "junkyard", "smash"] {
        let scene = scene::builtin(name, 900, 1).unwrap();
        let mut worlds: Vec<World> = Isa::available()
            .map(|isa| {
                let mut world = scene.build().unwrap();
                world.set_isa(isa).unwrap();
                world.set_hooks(Some(Arc::new(Arbitrary)));
                world
            })
            .collect();
        for step in 0..120 {
            for (number, world) in worlds.iter_mut().enumerate() {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + number % 3).build().unwrap();
                pool.install(|| world.step());
                world.begin_events().iter().chain(world.end_events()).for_each(|event| {
                    assert!(!(event.a.index() + event.b.index()).is_multiple_of(7), "{event:?}");
                });
            }
            for world in &worlds[1..] {
                assert_eq!(world.first_difference(&worlds[0]), None, "{name}, step {step}");
                assert_eq!(world.state_hash(), worlds[0].state_hash(), "{name}, step {step}");
                assert_eq!(world.begin_events(), worlds[0].begin_events(), "{name}, step {step}");
            }
        }
    }
}

/// A platform that bodies pass through from below, as in the documentation of `Hooks`.
struct OneWay(BodyHandle);

impl Hooks for OneWay {
    fn before_solve(&self, contact: &mut HookContact) {
        if contact.names(self.0) {
            let lands = contact.normal_from(self.0).y > 0.7;
            contact.solve = lands && contact.points().iter().all(|point| point.separation > -0.1);
        }
    }

    fn stops(&self, _: BodyHandle, obstacle: BodyHandle, normal: Vec2) -> bool {
        obstacle != self.0 || normal.y > 0.7
    }
}

/// What comes from below passes through a one-way platform as if it were not there, slow or fast, and lies on it afterwards; what comes from above
/// lands on it.
#[test]
fn a_platform_lets_pass_from_below() {
    for shape in
        [Shape::circle(0.3), Shape::oriented_box(0.3, 0.3), Shape::capsule(0.2, 0.2), Shape::aabb(0.3, 0.3)]
    {
        for speed in [8.0f32, 10.0, 14.0, 30.0, 60.0] {
            let make = |platform: bool| {
                let mut world = world(Settings::default());
                let fixed = BodyDesc::fixed(Shape::oriented_box(3.0, 0.1), Vec2::new(0.0, 2.0));
                let body = BodyDesc {
                    velocity: Vec2::new(0.0, speed),
                    fixed_rotation: true,
                    ..BodyDesc::dynamic(shape, Vec2::ZERO)
                };
                let body = world.add_body(&body).unwrap();
                if platform {
                    let platform = world.add_body(&fixed).unwrap();
                    world.set_hooks(Some(Arc::new(OneWay(platform))));
                }
                (world, body)
            };
            let ((mut world, body), (mut free, free_body)) = (make(true), make(false));
            let mut passed = false;
            for step in 0..(speed * 20.0) as u32 + 120 {
                world.step();
                free.step();
                let (now, free) = (state(&world, body), state(&free, free_body));
                if now.velocity.y > 0.5 && now.position.y < 2.1 || !passed {
                    assert!(
                        (now.position - free.position).length() < 1e-4,
                        "{shape:?} at {speed}, step {step}: {now:?}, {free:?}"
                    );
                }
                passed |= now.position.y > 2.6;
                assert!(
                    !passed || now.position.y > 2.25,
                    "{shape:?} at {speed} fell through, step {step}: {now:?}"
                );
            }
            assert!(passed, "{shape:?} at {speed}");
            assert!(world.contacts_of(body).unwrap().count() > 0, "{shape:?} at {speed} lies on it");
            // Without the hook it is a platform like any other; and a body inside is pushed out.
            world.set_hooks(None);
            steps(&mut world, 30);
            assert!(state(&world, body).position.y > 2.25);
        }
    }
}

/// What the hook writes holds for one step: friction of 0 lets a box slide as on ice, a belt drives it, and without the hook it stops.
#[test]
fn changed_friction_and_belts_hold_for_a_step() {
    struct Change(f32, f32);
    impl Hooks for Change {
        fn uses(&self) -> HookUse {
            HookUse { before_solve: true, ..HookUse::NONE }
        }
        fn before_solve(&self, contact: &mut HookContact) {
            assert!(
                (contact.coefficients.dynamic_friction - 0.3).abs() < 1e-6,
                "the mixed value, in each step"
            );
            assert_eq!(contact.tangent_speed, 0.0);
            (contact.coefficients.static_friction, contact.coefficients.dynamic_friction) = (self.0, self.0);
            contact.tangent_speed = self.1;
        }
    }
    let mut world = world(Settings {
        sleep: false,
        mixing: Mixing { friction: granule::Mix::Max, ..Mixing::default() },
        ..Settings::default()
    });
    let material = Material::new(1.0, 0.3, 0.0);
    let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    world.add_body(&BodyDesc { material, ..floor }).unwrap();
    let sled =
        BodyDesc { material, ..BodyDesc::dynamic(Shape::oriented_box(1.0, 0.25), Vec2::new(0.0, 0.25)) };
    let sled = world.add_body(&sled).unwrap();
    // The world has belts: somewhere else.
    let belt = Material { tangent_speed: 1.0, ..material };
    world
        .add_body(&BodyDesc {
            material: belt,
            ..BodyDesc::fixed(Shape::oriented_box(1.0, 1.0), Vec2::new(99.0, 0.0))
        })
        .unwrap();
    steps(&mut world, 30);
    world.set_velocity(sled, Vec2::new(3.0, 0.0)).unwrap();
    world.set_hooks(Some(Arc::new(Change(0.0, 0.0))));
    steps(&mut world, 60);
    assert!((state(&world, sled).velocity.x - 3.0).abs() < 1e-3, "{:?}", state(&world, sled));
    world.set_hooks(None);
    steps(&mut world, 30);
    assert!((state(&world, sled).velocity.x - 1.5).abs() < 0.02, "μ·g·t: {:?}", state(&world, sled));
    steps(&mut world, 60);
    assert!(state(&world, sled).velocity.x.abs() < 1e-3);
    world.set_hooks(Some(Arc::new(Change(0.3, 1.0))));
    steps(&mut world, 60);
    assert!((state(&world, sled).velocity.x.abs() - 1.0).abs() < 0.02, "{:?}", state(&world, sled));
}

/// Values out of range are those that were there before; a contact that is switched off ends, and begins again.
#[test]
fn nonsense_changes_nothing_and_switched_off_contacts_end() {
    struct Nonsense;
    impl Hooks for Nonsense {
        fn uses(&self) -> HookUse {
            HookUse { restitution: false, ..HookUse::ALL }
        }
        fn mix(&self, _: &Material, _: &Material, _: Mixed) -> Mixed {
            Mixed { static_friction: f32::NAN, dynamic_friction: -1.0, restitution: 2.0 }
        }
        fn before_solve(&self, contact: &mut HookContact) {
            contact.coefficients =
                Mixed { static_friction: f32::INFINITY, dynamic_friction: f32::NAN, restitution: -0.5 };
            contact.tangent_speed = f32::NAN;
        }
    }
    let scene = scene::builtin("junkyard", 200, 1).unwrap();
    let (mut plain, mut hooked) = (scene.build().unwrap(), scene.build().unwrap());
    hooked.set_hooks(Some(Arc::new(Nonsense)));
    for step in 0..120 {
        plain.step();
        hooked.step();
        assert_eq!(plain.state_hash(), hooked.state_hash(), "step {step}");
    }
    struct Off;
    impl Hooks for Off {
        fn before_solve(&self, contact: &mut HookContact) {
            contact.solve = false;
        }
    }
    let mut world = world(Settings::default());
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let body =
        world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5))).unwrap();
    let other = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(3.0, 0.5));
    world.add_body(&other).unwrap();
    steps(&mut world, 120);
    assert_eq!(world.is_awake(body), Ok(false));
    world.set_hooks(Some(Arc::new(Off)));
    world.step();
    assert_eq!((world.begin_events().len(), world.end_events().len()), (0, 2));
    assert_eq!(world.contacts().count(), 0);
    steps(&mut world, 5);
    assert!(state(&world, body).position.y < 0.49 && world.begin_events().is_empty());
    world.set_hooks(None);
    world.step();
    assert_eq!((world.begin_events().len(), world.end_events().len()), (2, 0));
}

/// The table of pairs of materials replaces the rule of mixing where both numbers meet, on bodies and parts, and goes again.
#[test]
fn pairs_of_materials_have_their_own_coefficients() {
    let numbered = |id: u32| Material { id, ..Material::new(1.0, 0.5, 0.0) };
    let mut world = world(Settings { sleep: false, ..Settings::default() });
    let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    world.add_body(&BodyDesc { material: numbered(1), ..floor }).unwrap();
    let ice = Mixed { static_friction: 0.0, dynamic_friction: 0.0, restitution: 0.0 };
    world.set_pair_material(2, 1, Some(ice)).unwrap();
    assert_eq!([world.pair_material(1, 2), world.pair_material(2, 2)], [Some(ice), None]);
    let sled = |x: f32, id: u32| BodyDesc {
        material: numbered(id),
        velocity: Vec2::new(3.0, 0.0),
        fixed_rotation: true,
        ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.25), Vec2::new(x, 0.25))
    };
    let [skates, shoes] = [(0.0, 2), (50.0, 3)].map(|(x, id)| world.add_body(&sled(x, id)).unwrap());
    // Its second part has skates, and is lower.
    let both = world.add_body(&BodyDesc { position: Vec2::new(100.0, 1.0), ..sled(0.0, 3) }).unwrap();
    let blade =
        Part { material: numbered(2), ..Part::new(Shape::oriented_box(0.5, 0.25), Vec2::new(0.0, -0.75)) };
    world.add_part(both, &blade).unwrap();
    steps(&mut world, 90);
    let speed = |world: &World, body| state(world, body).velocity.x;
    assert!((speed(&world, skates) - 3.0).abs() < 1e-3 && speed(&world, shoes).abs() < 1e-3);
    assert!((speed(&world, both) - 3.0).abs() < 1e-3);
    world.set_pair_material(1, 2, None).unwrap();
    steps(&mut world, 90);
    assert!(speed(&world, skates).abs() < 1e-3 && speed(&world, both).abs() < 1e-3);
    let bad = Mixed { restitution: 1.5, ..ice };
    assert_eq!(
        world.set_pair_material(1, 2, Some(bad)).unwrap_err().to_string(),
        Material { restitution: 1.5, ..Material::default() }
            .validate()
            .unwrap_err()
            .to_string()
            .replace("material.", "pair.")
    );
    assert_eq!(world.pair_material(1, 2), None);
}

/// Bodies that a hook keeps apart fall through each other, sleep or not, fast or not; and touch again without it.
#[test]
fn a_filter_keeps_bodies_apart() {
    struct Apart;
    impl Hooks for Apart {
        fn uses(&self) -> HookUse {
            HookUse { may_touch: true, ..HookUse::NONE }
        }
        fn may_touch(&self, a: BodyHandle, b: BodyHandle) -> bool {
            a.index() == 0 || b.index() % 2 == 1
        }
    }
    for speed in [-1.0, -100.0] {
        let mut world = world(Settings::default());
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let shelf =
            world.add_body(&BodyDesc::fixed(Shape::oriented_box(9.0, 0.1), Vec2::new(0.0, 2.0))).unwrap();
        world.set_hooks(Some(Arc::new(Apart)));
        let drop = |world: &mut World, x: f32| {
            let body = BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(x, 4.0));
            world.add_body(&BodyDesc { velocity: Vec2::new(0.0, speed), ..body }).unwrap()
        };
        let falls = drop(&mut world, -2.0);
        let stays = drop(&mut world, 2.0);
        assert_eq!([shelf.index(), falls.index(), stays.index()], [1, 2, 3]);
        steps(&mut world, 120);
        assert!(state(&world, falls).position.y < 0.5 && state(&world, stays).position.y > 2.0, "{speed}");
        world.validate().unwrap();
        world.set_hooks(None);
        world.set_position(falls, Vec2::new(-2.0, 3.0)).unwrap();
        steps(&mut world, 90);
        assert!(state(&world, falls).position.y > 2.0);
    }
}
