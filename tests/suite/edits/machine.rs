//! Contract: a world is what a simple model says after any stream of edits: each body has what was given to it last, stale handles are refused, and every
//! invariant holds.

mod more;

use crate::common::cases;
use granule::{
    BodyDesc, BodyHandle, BodyState, BodyType, Explosion, Field, FieldKind, Filter, Isa, JointDesc,
    JointEnds, JointHandle, LinkDesc, LinkHandle, Locks, Material, Order, Part, Polygon, QueryFilter, Ray,
    Region, Settings, Shape, Vec2, World,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::HashMap;

/// The handle of no body.
const NONE: BodyHandle = BodyHandle::from_parts(9_999, 9);

/// What the host knows of a body.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    body_type: BodyType,
    enabled: bool,
    locks: Locks,
    speeds: (Option<f32>, Option<f32>),
    mass: Option<f32>,
    tag: u64,
    name: Option<String>,
    filter: Filter,
    parts: Vec<Shown>,
    damping: (f32, f32),
    gravity_scale: f32,
}

/// What the host knows of a part.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    shape: Shape,
    material: Material,
    sensor: bool,
}

impl Shown {
    fn of(part: &Part) -> Shown {
        Shown { shape: part.shape, material: part.material, sensor: part.sensor }
    }
}

#[derive(Default)]
struct Model {
    bodies: HashMap<BodyHandle, Known>,
    order: Vec<BodyHandle>,
    /// Particles and segments of chains.
    others: Vec<BodyHandle>,
    gone: Vec<BodyHandle>,
    joints: Vec<(JointHandle, JointDesc)>,
    links: Vec<(LinkHandle, LinkDesc)>,
    /// Where the bodies were after the last operation, and how fast.
    states: HashMap<BodyHandle, BodyState>,
    /// The bodies that the present operation may move or push; `None` for all.
    touched: Option<Vec<BodyHandle>>,
    /// The snapshot of the last difference.
    base: Vec<u8>,
    gone_joints: Vec<JointHandle>,
    gone_links: Vec<LinkHandle>,
}

/// An operation: its number, the place of its body, and numbers.
type Operation = (u8, u8, [f32; 3], u8);

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation =
        (0u8..34 + more::OPERATIONS, any::<u8>(), [-3.0f32..3.0, -3.0f32..3.0, -3.0f32..3.0], any::<u8>());
    proptest::collection::vec(operation, 1..60)
}

fn describe([x, y, z]: [f32; 3], flags: u8) -> BodyDesc {
    let shape = match flags % 4 {
        0 => Shape::circle(0.4),
        1 => Shape::oriented_box(0.5, 0.3),
        2 => Shape::aabb(0.4, 0.4),
        _ => Shape::capsule(0.4, 0.2),
    };
    BodyDesc {
        velocity: Vec2::new(z, 0.0),
        tag: u64::from(flags),
        lock_x: flags & 16 != 0,
        max_speed: (flags & 32 != 0).then_some(5.0),
        enabled: flags & 192 != 192,
        ..BodyDesc::dynamic(shape, Vec2::new(3.0 * x, 4.0 + 3.0 * y))
    }
}

/// Does the same to both worlds, which answer the same, and change nothing if they refuse. Returns whether they do it.
fn apply_both(worlds: &mut [World; 2], operation: &dyn Fn(&mut World) -> Result<(), granule::Error>) -> bool {
    let [one, two] = worlds;
    let before = one.state_hash();
    let (a, b) = (operation(one), operation(two));
    assert_eq!(a, b);
    assert!(a.is_ok() || one.state_hash() == before, "refused, and yet changed");
    a.is_ok()
}

impl Model {
    fn add(&mut self, body: BodyHandle, desc: &BodyDesc) {
        let known = Known {
            body_type: desc.body_type,
            enabled: desc.enabled,
            locks: Locks { x: desc.lock_x, y: desc.lock_y, rotation: desc.fixed_rotation },
            speeds: (desc.max_speed, desc.max_angular_speed),
            mass: desc.mass,
            tag: desc.tag,
            name: None,
            filter: desc.filter,
            parts: vec![more::shown(desc)],
            damping: (0.0, 0.0),
            gravity_scale: 1.0,
        };
        assert!(self.bodies.insert(body, known).is_none(), "a handle is given twice");
        self.order.push(body);
    }

    fn remove(&mut self, body: BodyHandle) {
        self.bodies.remove(&body);
        self.order.retain(|&other| other != body);
        self.states.remove(&body);
        self.gone.push(body);
    }

    fn check(&self, world: &World) {
        assert_eq!(world.total_count(), self.bodies.len() + self.others.len() + 1);
        for (&body, known) in &self.bodies {
            let found = Known {
                body_type: world.body_type(body).unwrap(),
                enabled: world.is_enabled(body).unwrap(),
                locks: world.locks(body).unwrap(),
                speeds: world.max_speeds(body).unwrap(),
                mass: known.mass,
                tag: world.tag(body).unwrap(),
                name: world.name(body).unwrap().map(str::to_owned),
                filter: world.filter(body).unwrap(),
                parts: world.parts(body).unwrap().iter().map(Shown::of).collect(),
                damping: world.damping(body).unwrap(),
                gravity_scale: world.gravity_scale(body).unwrap(),
            };
            assert_eq!(&found, known, "{body:?}");
            let mass = world.mass(body).unwrap();
            match known.mass {
                Some(given) if known.body_type == BodyType::Dynamic => {
                    assert!((mass / given - 1.0).abs() < 1e-5, "{mass} of {given}");
                }
                None if known.body_type == BodyType::Dynamic => {
                    let parts = world.parts(body).unwrap();
                    let of: f32 = parts.iter().map(|part| part.material.density * part.shape.area()).sum();
                    assert!((mass / of - 1.0).abs() < 1e-4, "{mass} of {of}");
                }
                _ => assert!(mass.is_infinite()),
            }
        }
        for &body in &self.gone {
            assert!(world.body(body).is_err() && world.tag(body).is_err() && world.parts(body).is_err());
        }
        for (joint, desc) in &self.joints {
            let found = world.joint(*joint).unwrap();
            // The places at which it holds follow the bodies' centres.
            let (frame_a, frame_b) = (found.frame_a, found.frame_b);
            assert_eq!(found, JointDesc { frame_a, frame_b, ..*desc });
        }
        assert!(self.gone_joints.iter().all(|&joint| world.joint(joint).is_err()));
        assert!(self.gone_links.iter().all(|&link| world.link(link).is_err()));
    }

    /// Holds that nothing has moved or changed its speed but what the operation is about.
    fn check_states(&mut self, world: &World) {
        for body in self.order.iter().chain(&self.others) {
            let state = world.body(*body).unwrap();
            let may_move = self.touched.as_ref().is_none_or(|touched| touched.contains(body));
            if let Some(before) = self.states.insert(*body, state) {
                assert!(may_move || before == state, "{body:?} was {before:?} and is {state:?}");
            }
        }
    }

    /// Forgets the joints that have lost an end: their handles are stale at once.
    fn lose_joints(&mut self) {
        let there = |body: &BodyHandle| self.bodies.contains_key(body) || self.others.contains(body);
        let (kept, lost): (Vec<_>, _) = self.joints.drain(..).partition(|(_, desc)| match &desc.ends {
            JointEnds::Bodies(a, b) => there(a) && there(b),
            JointEnds::World(a) => there(a),
            JointEnds::Joints(..) => true,
        });
        self.joints = kept;
        self.gone_joints.extend(lost.into_iter().map(|(joint, _)| joint));
    }

    /// Holds that the links are those whose bodies are there, and forgets the others: a step has been taken.
    fn lose_links(&mut self, world: &World) {
        let there = |body: &BodyHandle| self.bodies.contains_key(body) || self.others.contains(body);
        let (kept, lost): (Vec<_>, _) =
            self.links.drain(..).partition(|(_, desc)| there(&desc.a) && there(&desc.b));
        for (link, desc) in &kept {
            let found = world.link(*link).unwrap();
            let (anchor_a, anchor_b) = (found.anchor_a, found.anchor_b);
            assert_eq!(found, LinkDesc { anchor_a, anchor_b, ..*desc });
        }
        assert_eq!(world.link_count(), kept.len());
        self.links = kept;
        self.gone_links.extend(lost.into_iter().map(|(link, _)| link));
        for (_, points) in world.hulls() {
            assert!(points.iter().all(|point| self.others.contains(point)), "a hull of what is gone");
        }
    }

    fn apply(&mut self, worlds: &mut [World; 2], operation: &Operation) {
        let &(kind, place, numbers, flags) = operation;
        let [x, y, z] = numbers;
        let vector = Vec2::new(x, y);
        let all = [&self.order[..], &self.gone[..]].concat();
        let body = all.get(usize::from(place) % all.len().max(1)).copied().unwrap_or(NONE);
        self.touched = match kind {
            24 | 25 | 29 | 31 => None,
            22 => Some(vec![body, self.order.first().copied().unwrap_or_default()]),
            _ => Some(vec![body]),
        };
        if let Some(more) = kind.checked_sub(34) {
            return self.apply_more(worlds, more, operation);
        }
        let count = worlds[0].total_count();
        let mut both =
            |operation: &dyn Fn(&mut World) -> Result<(), granule::Error>| apply_both(worlds, operation);
        let mut known = self.bodies.get(&body).cloned();
        let alive = known.is_some();
        let of = known.as_mut();
        let done = match kind {
            0..=4 => {
                let desc = describe(numbers, flags);
                let added: Vec<_> = worlds.iter_mut().map(|world| world.add_body(&desc).unwrap()).collect();
                assert_eq!(added[0], added[1]);
                return self.add(added[0], &desc);
            }
            5 => {
                let done = both(&|world| world.remove_bodies(&[body]));
                assert_eq!(done, alive);
                if done {
                    self.remove(body);
                }
                return;
            }
            6 => {
                let body_type =
                    [BodyType::Static, BodyType::Kinematic, BodyType::Dynamic][usize::from(flags) % 2];
                if let Some(known) = of {
                    known.body_type = body_type;
                }
                both(&|world| world.set_body_type(body, body_type))
            }
            7 => {
                if let Some(known) = of {
                    known.enabled = flags & 1 == 0;
                }
                both(&|world| world.set_enabled(body, flags & 1 == 0))
            }
            8 => {
                let mass = (flags & 1 == 0).then_some(x.abs() + 0.1);
                if let Some(known) = of {
                    known.mass = mass;
                }
                both(&|world| world.set_mass(body, mass))
            }
            9 => {
                both(&|world| world.set_inertia(body, Some(0.1 + x.abs())));
                return;
            }
            10 => {
                both(&|world| world.set_centre(body, (flags & 1 == 0).then_some(0.1 * vector)));
                return;
            }
            11 => {
                let locks = Locks { x: flags & 1 != 0, y: flags & 2 != 0, rotation: flags & 4 != 0 };
                if let Some(known) = of {
                    known.locks = locks;
                }
                both(&|world| world.set_locks(body, locks))
            }
            12 => {
                let speeds = ((flags & 1 == 0).then_some(x.abs()), (flags & 2 == 0).then_some(y.abs()));
                if let Some(known) = of {
                    known.speeds = speeds;
                }
                both(&|world| world.set_max_speeds(body, speeds.0, speeds.1))
            }
            13 => {
                both(&|world| world.set_kinematic_target(body, vector, z));
                return;
            }
            14 => {
                let part = Part::new(Shape::circle(0.3), 0.3 * vector);
                if both(&|world| world.add_part(body, &part)) {
                    if let Some(known) = of {
                        known.parts.push(Shown::of(&part));
                        let more = 0.09 * std::f32::consts::PI;
                        known.mass = known.mass.map(|mass| mass + more);
                    }
                    self.bodies.insert(body, known.expect("a body that is there"));
                }
                return;
            }
            15 => {
                if both(&|world| world.remove_part(body, usize::from(flags) % 3)) {
                    if let Some(known) = of {
                        known.parts.remove(usize::from(flags) % 3);
                        if known.parts.len() == 1 {
                            // The filter of the body is that of the part that is left.
                            known.filter = worlds[0].parts(body).unwrap()[0].filter;
                        }
                    }
                    self.bodies.insert(body, known.expect("a body that is there"));
                }
                return;
            }
            16 => {
                let part = Part::new(Shape::oriented_box(0.2, 0.3), 0.2 * vector);
                let done = both(&|world| world.set_part(body, usize::from(flags) % 2, &part));
                if done {
                    if let Some(known) = of {
                        known.parts[usize::from(flags) % 2] = Shown::of(&part);
                        if known.parts.len() == 1 {
                            known.filter = part.filter;
                        }
                    }
                    self.bodies.insert(body, known.expect("a body that is there"));
                }
                return;
            }
            17 => {
                let shape = [
                    Shape::oriented_box(0.3, 0.5),
                    Shape::Polygon(Polygon::regular(3 + usize::from(flags) % 6, 0.4).unwrap()),
                ][usize::from(flags) % 2];
                if both(&|world| world.set_shape(body, &shape)) {
                    if let Some(known) = of {
                        known.parts[0].shape = shape;
                    }
                    self.bodies.insert(body, known.expect("a body that is there"));
                }
                return;
            }
            18 => {
                let material =
                    Material { id: u32::from(flags % 3), ..Material::new(1.0 + x.abs(), y.abs(), 0.1) };
                if both(&|world| world.set_material(body, &material)) {
                    if let Some(known) = of {
                        known.parts.iter_mut().for_each(|part| part.material = material);
                    }
                    self.bodies.insert(body, known.expect("a body that is there"));
                }
                return;
            }
            19 => {
                let filter = Filter { category: 1 + u32::from(flags % 4), ..Filter::default() };
                if let Some(known) = of {
                    known.filter = filter;
                }
                both(&|world| world.set_filter(body, filter))
            }
            20 => {
                let name = (flags & 1 == 0).then(|| format!("n{flags}"));
                if let Some(known) = of {
                    (known.tag, known.name) = (u64::from(flags), name.clone());
                }
                both(&|world| {
                    world.set_tag(body, u64::from(flags))?;
                    world.set_name(body, name.as_deref())
                })
            }
            21 => {
                if let Some(known) = of {
                    (known.damping, known.gravity_scale) = ((x.abs(), y.abs()), z);
                }
                both(&|world| {
                    world.set_damping(body, x.abs(), y.abs())?;
                    world.set_gravity_scale(body, z)
                })
            }
            22 => {
                let two = [body, self.order.first().copied().unwrap_or_default()];
                both(&|world| world.set_velocities(&two, &[vector; 2], None));
                both(&|world| world.apply_impulses(&two, &[vector; 2], Some(&[z; 2])));
                both(&|world| world.place_bodies(&two[..1], &[vector], None));
                return;
            }
            23 => {
                let other = self.order.last().copied().unwrap_or(NONE);
                let joint = JointDesc::revolute(body, other, Vec2::X, -Vec2::X);
                let added = worlds.each_mut().map(|world| world.add_joint(&joint));
                assert_eq!(added[0], added[1]);
                self.joints.extend(added[0].iter().map(|&handle| (handle, joint)));
                return;
            }
            24 => {
                let kind = FieldKind::Wind { velocity: vector, linear: z.abs(), quadratic: 0.1 };
                both(&|world| world.apply_field(&Field::new(Region::Everywhere, kind)).map(|_| ()));
                both(&|world| world.explode(&Explosion::new(vector, 3.0, z)).map(|_| ()));
                return;
            }
            26 => {
                let other = self.order.last().copied().unwrap_or(NONE);
                let link = LinkDesc::distance(body, other, 1.0 + x.abs());
                let added = worlds.each_mut().map(|world| world.add_link(&link));
                assert_eq!(added[0], added[1]);
                self.links.extend(added[0].iter().map(|&handle| (handle, link)));
                return;
            }
            27 => {
                let link = worlds[0].links().nth(usize::from(place) % 4);
                if let Some((link, old)) = link {
                    let new = LinkDesc { length: x, compliance: 0.01 * y.abs(), tag: flags.into(), ..old };
                    let done = apply_both(worlds, &|world| world.set_link(link, &new));
                    // A link of a body that was removed since the last step is still there, but cannot be changed.
                    let whole = worlds[0].contains(old.a) && worlds[0].contains(old.b);
                    assert_eq!(done, x >= 0.0 && whole);
                    let now = if done { new } else { old };
                    assert_eq!(worlds[0].link(link), Ok(now));
                    self.links.iter_mut().filter(|(other, _)| *other == link).for_each(|known| known.1 = now);
                }
                return;
            }
            28 => {
                let links: Vec<_> =
                    worlds[0].links().map(|(link, _)| link).take(place as usize % 3).collect();
                let joints: Vec<_> =
                    worlds[0].joints().map(|(joint, _)| joint).take(flags as usize % 3).collect();
                assert!(apply_both(worlds, &|world| world.remove_links(&links)));
                assert!(apply_both(worlds, &|world| world.remove_joints(&joints)));
                for (&link, &joint) in links.iter().zip(&joints) {
                    assert!(!apply_both(worlds, &|world| world.remove_links(&[link])));
                    assert!(!apply_both(worlds, &|world| world.remove_joints(&[joint])));
                }
                self.links.retain(|(link, _)| !links.contains(link));
                self.joints.retain(|(joint, _)| !joints.contains(joint));
                self.gone_links.extend(links);
                self.gone_joints.extend(joints);
                return;
            }
            29 => {
                let columns = vec![z; count];
                both(&|world| world.apply_impulse_columns(Order::Added, [&columns, &columns, &columns]));
                return;
            }
            30 => {
                let ray = Ray::new(3.0 * vector, Vec2::new(z, -6.0));
                let hits = worlds.each_ref().map(|world| world.cast_ray(&ray, &QueryFilter::default()));
                assert_eq!(hits[0], hits[1]);
                if let Ok(Some(hit)) = &hits[0] {
                    let known = self.bodies.get(&hit.body);
                    assert!(known.is_none_or(|known| known.enabled), "{hit:?}");
                    assert!(known.is_some() || worlds[0].contains(hit.body), "{hit:?}");
                }
                return;
            }
            31 => {
                both(&|world| if flags & 1 == 0 { world.sleep_body(body) } else { world.wake_body(body) });
                return;
            }
            32 => {
                let mut snapshot = Vec::new();
                worlds[1].save(&mut snapshot);
                worlds[1].restore(&snapshot).unwrap();
                return;
            }
            33 => {
                if both(&|world| world.set_sensor(body, flags & 1 == 0)) {
                    if let Some(known) = of {
                        known.parts.iter_mut().for_each(|part| part.sensor = flags & 1 == 0);
                    }
                    self.bodies.insert(body, known.expect("a body that is there"));
                }
                return;
            }
            _ => {
                let columns = vec![z; count];
                both(&|world| world.set_velocity_columns(Order::Stored, [&columns, &columns, &columns]));
                return;
            }
        };
        assert_eq!(done, alive, "{kind}");
        if let Some(known) = known.filter(|_| done) {
            self.bodies.insert(body, known);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(2000),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/edits.txt"))),
        ..ProptestConfig::default()
    })]

    /// The world is the model after every operation, and the scalar set gives what the widest gives.
    #[test]
    fn a_world_is_its_model(operations in operations()) {
        let widest = Isa::available().last().unwrap();
        let mut worlds = [Isa::Scalar, widest].map(|isa| World::new(Settings { isa, ..Settings::default() }).unwrap());
        for world in &mut worlds {
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        }
        let mut model = Model::default();
        for (index, operation) in operations.iter().enumerate() {
            model.apply(&mut worlds, operation);
            worlds[0].validate().unwrap();
            model.lose_joints();
            model.check(&worlds[0]);
            model.check_states(&worlds[0]);
            if index % 2 == 0 {
                worlds.iter_mut().for_each(World::step);
                model.lose_links(&worlds[0]);
                model.touched = None;
                model.check_states(&worlds[0]);
                worlds[1].validate().unwrap();
                prop_assert_eq!(worlds[0].first_difference(&worlds[1]), None);
                prop_assert_eq!(worlds[0].state_hash(), worlds[1].state_hash());
            }
        }
    }
}
