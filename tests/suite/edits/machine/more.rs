//! Operations beyond those on one body: many bodies at once, assemblies with their particles, links and hulls, joints, settings, hooks, and all that
//! a host may read.

use super::{Model, NONE, Operation, Shown, apply_both, describe};
use granule::{
    Assembly, BatchFirst, BatchHits, BodyDesc, BodyHandle, HookContact, Hooks, JointDesc, JointKind,
    LinkDesc, Material, Mixed, Mover, Order, Part, Polygon, Probe, QueryFilter, Ray, Settings, Shape,
    ShapeCast, Spring, Vec2, World,
};
use std::sync::Arc;

/// Hooks that let some bodies pass each other, and make some contacts slippery.
struct Picky(u8);

impl Hooks for Picky {
    fn may_touch(&self, a: BodyHandle, b: BodyHandle) -> bool {
        (a.index() ^ b.index()) % 7 != u32::from(self.0) % 7
    }

    fn before_solve(&self, contact: &mut HookContact) {
        if contact.part_a == contact.part_b && self.0.is_multiple_of(2) {
            contact.coefficients.dynamic_friction *= 0.5;
        }
    }
}

/// The number of operations here.
pub const OPERATIONS: u8 = 27;

impl Model {
    /// Does an operation, of which the number counts from 0.
    pub fn apply_more(&mut self, worlds: &mut [World; 2], kind: u8, &(_, place, numbers, flags): &Operation) {
        let [x, y, z] = numbers;
        let (vector, on) = (Vec2::new(x, y), flags & 1 == 0);
        let all = [&self.order[..], &self.gone[..]].concat();
        let body = all.get(usize::from(place) % all.len().max(1)).copied().unwrap_or(NONE);
        let other = self.others.get(usize::from(flags) % self.others.len().max(1)).copied().unwrap_or(NONE);
        let joint = self.joints.get(usize::from(place) % self.joints.len().max(1)).copied();
        match kind {
            0 => {
                // The second one is bad at times: then none is added.
                let mut descs = [describe(numbers, flags), describe([y, z, x], flags / 2)];
                if flags & 8 != 0 {
                    descs[1].position.y = f32::INFINITY;
                }
                let added = worlds.each_mut().map(|world| world.add_bodies(&descs).ok());
                assert_eq!((&added[0], added[0].is_some()), (&added[1], flags & 8 == 0));
                for (body, desc) in added[0].iter().flatten().zip(&descs) {
                    self.add(*body, desc);
                }
            }
            1 if self.others.len() < 30 => {
                let at = vector + Vec2::new(0.0, 4.0);
                let assembly = match flags % 4 {
                    0 => Assembly::rope(at, at + Vec2::new(1.0, 0.2 * z), 4, 0.1),
                    1 => Assembly::soft_box(at, Vec2::new(0.8, 0.6), 0.1, 1.0, z),
                    2 => Assembly::polygon(at, 0.4, 5, 1.0),
                    _ => {
                        let points = [at, at + Vec2::new(1.0, 0.2 * z), at + Vec2::new(2.0, 0.0)];
                        Assembly::chain(&points, false, Material::default()).unwrap()
                    }
                };
                let before: Vec<_> = worlds[0].links().map(|(link, _)| link).collect();
                let added = worlds.each_mut().map(|world| world.add_assembly(&assembly).unwrap());
                assert_eq!(added[0], added[1]);
                assert!(added[0].iter().all(|body| !self.others.contains(body) && !self.gone.contains(body)));
                self.others.extend(&added[0]);
                self.links.extend(worlds[0].links().filter(|(link, _)| !before.contains(link)));
            }
            2 => {
                // What is no dynamic shape, and what has no parts, refuses both parts.
                let parts = [
                    Part::new(Shape::circle(0.2), 0.3 * vector),
                    Part {
                        sensor: on,
                        ..Part::new(Shape::Polygon(Polygon::regular(5, 0.3).unwrap()), 0.2 * vector)
                    },
                ];
                if apply_both(worlds, &|world| world.add_parts(body, &parts)) {
                    let area: f32 = parts.iter().map(|part| part.shape.area()).sum();
                    let known = self.bodies.get_mut(&body).expect("a body that is there");
                    known.parts.extend(parts.iter().map(Shown::of));
                    known.mass = known.mass.map(|mass| mass + area);
                }
            }
            3 | 4 => {
                let alive = self.bodies.contains_key(&body);
                let single = kind == 3;
                let done = apply_both(worlds, &|world| {
                    if single {
                        world.set_position(body, vector)?;
                        world.set_angle(body, z)
                    } else {
                        world.place_bodies(&[body], &[vector], Some(&[z]))
                    }
                });
                assert_eq!(done, alive);
                if done {
                    let state = worlds[0].body(body).unwrap();
                    assert_eq!((state.position, state.angle, state.turns), (vector, z, 0));
                }
            }
            5 => {
                let done = apply_both(worlds, &|world| {
                    world.set_velocity(body, vector)?;
                    world.set_angular_velocity(body, z)
                });
                if done {
                    let state = worlds[0].body(body).unwrap();
                    assert_eq!((state.velocity, state.angular_velocity), (vector, z));
                }
            }
            6 => {
                let forces = apply_both(worlds, &|world| world.apply_force(body, vector));
                let torques = apply_both(worlds, &|world| world.apply_torque(body, z));
                assert_eq!(forces, torques);
                apply_both(worlds, &|world| world.apply_force_at(body, vector, Vec2::new(z, x)));
                apply_both(worlds, &|world| {
                    world.apply_forces(&[body, body], &[vector, -vector], Some(&[z, -z]))
                });
                assert_eq!(apply_both(worlds, &|world| world.apply_forces(&[body], &[vector], None)), forces);
                // Velocities change with the step.
                self.touched = Some(Vec::new());
            }
            7 => {
                let before = worlds[0].body(body);
                let done = apply_both(worlds, &|world| world.apply_impulse(body, vector));
                if let (true, Ok(before)) = (done, before) {
                    let after = worlds[0].body(body).unwrap();
                    let (mass, locks) = (worlds[0].mass(body).unwrap(), worlds[0].locks(body).unwrap());
                    // Along a locked axis the next step takes the velocity away.
                    let free = Vec2::new(f32::from(u8::from(!locks.x)), f32::from(u8::from(!locks.y)));
                    let expected = before.velocity + vector / mass;
                    let off = (free * (after.velocity - expected)).length();
                    assert!(off < 1e-4 * (1.0 + expected.length()), "{after:?}, not {expected}");
                    assert_eq!(after.angular_velocity, before.angular_velocity);
                }
                apply_both(worlds, &|world| world.apply_impulse_at(body, vector, Vec2::new(z, x)));
                apply_both(worlds, &|world| world.apply_angular_impulse(body, 0.1 * z));
            }
            8 => {
                let count = worlds[0].total_count();
                let order = if on { Order::Added } else { Order::Stored };
                let columns =
                    [x, y, z].map(|from| (0..count).map(|i| from + 0.7 * i as f32).collect::<Vec<_>>());
                let done = apply_both(worlds, &|world| {
                    world.place_columns(order, columns.each_ref().map(|column| &column[..]))
                });
                assert!(done);
                for (i, body) in worlds[0].handles_in(order).enumerate() {
                    let expected = Vec2::new(columns[0][i], columns[1][i]);
                    assert_eq!(worlds[0].body(body).unwrap().position, expected, "{order:?}");
                }
                self.touched = None;
            }
            9 => {
                let column = vec![z; worlds[0].total_count() - usize::from(flags & 128 != 0)];
                let order = if on { Order::Added } else { Order::Stored };
                let done = apply_both(worlds, &|world| {
                    world.apply_force_columns(order, [&column, &column, &column])
                });
                assert_eq!(done, flags & 128 == 0, "a column that is too short is refused");
                self.touched = Some(Vec::new());
            }
            10 => {
                let end = self.order.last().copied().unwrap_or(NONE);
                let desc = match flags % 4 {
                    0 => JointDesc::revolute(body, end, Vec2::X, -Vec2::X).with_motor(z, 1.0),
                    1 => JointDesc::prismatic(body, end, Vec2::X, -Vec2::X, 0.0).with_motor(z, 1.0),
                    2 => JointDesc::target(body, Vec2::ZERO, vector, Spring::new(2.0, 1.0), 20.0),
                    _ => JointDesc::weld(body, other, Vec2::X, -Vec2::X),
                };
                let added = worlds.each_mut().map(|world| world.add_joint(&JointDesc { tag: 7, ..desc }));
                assert_eq!(added[0], added[1]);
                if let Ok(joint) = added[0] {
                    self.joints.push((joint, worlds[0].joint(joint).unwrap()));
                }
            }
            11 => {
                let Some((joint, old)) = joint else { return };
                let there = apply_both(worlds, &|world| world.enable_joint(joint, on));
                apply_both(worlds, &|world| world.set_joint_force_threshold(joint, on.then_some(x.abs())));
                let turned = apply_both(worlds, &|world| world.set_motor_speed(joint, z));
                assert_eq!(apply_both(worlds, &|world| world.set_motors(&[joint], &[z])), turned);
                let pulled = apply_both(worlds, &|world| world.set_target(joint, vector));
                assert_eq!(pulled, there && matches!(old.kind, JointKind::Target { .. }));
                let desc =
                    JointDesc { tag: flags.into(), enabled: !on, ..worlds[0].joint(joint).unwrap_or(old) };
                assert_eq!(apply_both(worlds, &|world| world.set_joint(joint, &desc)), there);
                if there {
                    let kept = self.joints.iter_mut().find(|(other, _)| *other == joint);
                    kept.expect("a known joint").1 = desc;
                }
            }
            12 => {
                let speeds = vec![z; worlds[0].joint_count()];
                assert!(apply_both(worlds, &|world| world.set_motor_speeds(&speeds)));
                for (joint, desc) in &mut self.joints {
                    *desc = worlds[0].joint(*joint).unwrap_or(*desc);
                }
            }
            13 => {
                let change = move |settings: Settings| Settings {
                    substeps: 1 + u32::from(flags % 5),
                    restitution_threshold: z.abs(),
                    continuous: flags & 16 == 0,
                    sleep_threshold: 0.05 + x.abs(),
                    time_to_sleep: 0.1,
                    gravity: Vec2::new(y, -10.0),
                    ..settings
                };
                assert!(apply_both(worlds, &|world| world.set_settings(change(*world.settings()))));
                assert!(apply_both(worlds, &|world| world.set_time_step(1.0 / 60.0 + 0.001 * z)));
                assert!(!apply_both(worlds, &|world| world.set_gravity(Vec2::new(f32::INFINITY, y))));
                assert!(apply_both(worlds, &|world| world.set_gravity(Vec2::new(x, -10.0))));
                assert_eq!(worlds[0].settings().gravity, Vec2::new(x, -10.0));
            }
            14 => {
                let hooks: Option<Arc<dyn Hooks>> = on.then(|| Arc::new(Picky(flags)) as Arc<dyn Hooks>);
                worlds.iter_mut().for_each(|world| world.set_hooks(hooks.clone()));
                assert_eq!(worlds[0].hooks().is_some(), on);
            }
            15 => {
                let mixed =
                    Mixed { static_friction: x.abs(), dynamic_friction: y.abs(), restitution: 0.3 * z };
                let (a, b) = (u32::from(flags % 3), u32::from(place % 3));
                let set = apply_both(worlds, &|world| world.set_pair_material(a, b, Some(mixed)));
                assert_eq!(set, z >= 0.0);
                if set {
                    assert_eq!(worlds[0].pair_material(b, a), Some(mixed));
                }
            }
            16 => {
                let before: Vec<_> = worlds[0].handles().map(|body| worlds[0].body(body).unwrap()).collect();
                assert!(apply_both(worlds, &|world| world.shift_origin(vector)));
                for (body, before) in worlds[0].handles().zip(before) {
                    let after = worlds[0].body(body).unwrap();
                    let off = (after.position - (before.position - vector)).length();
                    assert!(off < 1e-5 * (1.0 + before.position.length()), "{before:?} {after:?}");
                    assert_eq!((after.velocity, after.angle), (before.velocity, before.angle));
                }
                for (joint, desc) in &mut self.joints {
                    *desc = worlds[0].joint(*joint).unwrap_or(*desc);
                }
                self.touched = None;
            }
            17 => {
                let alive = self.bodies.contains_key(&body);
                let rest = (on.then_some(x.abs()), on.then_some(y.abs()));
                let done = apply_both(worlds, &|world| {
                    world.set_bullet(body, on)?;
                    world.set_sleep(body, flags & 2 == 0)?;
                    world.set_sleep_threshold(body, rest.0)?;
                    world.set_time_to_sleep(body, rest.1)
                });
                assert_eq!(done, alive);
                if done {
                    assert_eq!(worlds[0].is_bullet(body), Ok(on));
                    assert_eq!(worlds[0].sleep_settings(body), Ok((flags & 2 == 0, rest.0, rest.1)));
                }
            }
            18 => _ = apply_both(worlds, &|world| world.reserve(usize::from(flags), usize::from(place), 40)),
            19 => {
                // The second world takes what the first one has become since the last time.
                if self.base.is_empty() {
                    worlds[0].save(&mut self.base);
                }
                let mut difference = Vec::new();
                worlds[0].diff(&self.base, &mut difference).unwrap();
                worlds[1].apply_diff(&self.base, &difference).unwrap();
                worlds[0].save(&mut self.base);
            }
            20 => {
                let mut mover =
                    Mover::new(Probe::new(Shape::capsule(0.3, 0.2), vector + Vec2::new(0.0, 3.0)));
                let mut twin = mover;
                let open = QueryFilter::default();
                let way = Vec2::new(z, -x.abs());
                let moved = worlds[0].move_character(&mut mover, way, &open);
                assert_eq!(moved, worlds[1].move_character(&mut twin, way, &open));
                assert_eq!(mover, twin);
            }
            21 => self.query(worlds, numbers, body),
            22 => {
                let threshold = on.then_some(x.abs());
                apply_both(worlds, &|world| world.set_hit_events(threshold));
                apply_both(worlds, &|world| world.set_body_hit_events(body, threshold));
                worlds.iter_mut().for_each(|world| world.set_move_events(on));
                let asked = apply_both(worlds, &|world| world.set_body_move_events(body, on));
                assert_eq!(asked, self.bodies.contains_key(&body));
                assert_eq!(worlds[0].body_hit_threshold(body).ok(), asked.then_some(threshold));
            }
            23 => {
                // A particle or a segment of a chain, placed, pushed, or removed.
                let alive = worlds[0].contains(other);
                let done = match place % 4 {
                    0 => apply_both(worlds, &|world| world.remove_body(other)),
                    1 => apply_both(worlds, &|world| world.set_position(other, vector)),
                    2 => apply_both(worlds, &|world| world.set_tag(other, 5)),
                    _ => apply_both(worlds, &|world| world.set_enabled(other, on)),
                };
                assert_eq!(done, alive);
                match place % 4 {
                    0 if done => {
                        self.others.retain(|&kept| kept != other);
                        self.gone.push(other);
                    }
                    1 if done => assert_eq!(worlds[0].body(other).unwrap().position, vector),
                    _ => {}
                }
                self.touched = Some(vec![other]);
            }
            24 => {
                let points: Vec<BodyHandle> = self
                    .others
                    .iter()
                    .copied()
                    .skip(usize::from(place) % 5)
                    .take(2 + usize::from(flags % 3))
                    .collect();
                let added = worlds.each_mut().map(|world| world.add_hull(&points));
                assert_eq!(added[0], added[1]);
                if let Ok(hull) = added[0] {
                    assert_eq!(worlds[0].hull(hull).map(<[BodyHandle]>::len), Ok(points.len()));
                }
                let hull = worlds[0].hulls().map(|(hull, _)| hull).nth(usize::from(place) % 3);
                if let Some(hull) = hull.filter(|_| on) {
                    assert!(apply_both(worlds, &|world| world.remove_hull(hull)));
                    assert!(worlds[0].hull(hull).is_err());
                }
            }
            25 => {
                let end = self.others.last().copied().unwrap_or(NONE);
                let desc = LinkDesc { tag: 3, ..LinkDesc::distance(body, end, x.abs()) };
                let added = worlds.each_mut().map(|world| world.add_links(&[desc]));
                assert_eq!(added[0], added[1]);
                self.links.extend(added[0].iter().flatten().map(|&link| (link, desc)));
            }
            _ => {
                let column = vec![z; worlds[0].total_count()];
                apply_both(worlds, &|world| {
                    world.set_velocity_columns(Order::Added, [&column, &column, &column])
                });
                for &body in &self.order {
                    let state = worlds[0].body(body).unwrap();
                    let moves = worlds[0].body_type(body) != Ok(granule::BodyType::Static);
                    assert!(!moves || state.velocity == Vec2::splat(z), "{state:?}");
                }
                self.touched = None;
            }
        }
    }

    /// Asks everything of both worlds, one by one and in batches.
    fn query(&self, worlds: &[World; 2], [x, y, z]: [f32; 3], body: BodyHandle) {
        let open = QueryFilter::default();
        let (at, way) = (Vec2::new(2.0 * x, 3.0 + y), Vec2::new(3.0 * z, -4.0));
        let ray = Ray::new(at, way);
        let cast = ShapeCast::new(Shape::oriented_box(0.4, 0.2), at, way);
        let boxes = [[at - 0.7, at + 0.7]];
        let said = worlds.each_ref().map(|world| {
            let (mut hits, mut batch, mut parts) = (Vec::new(), BatchHits::new(), BatchHits::new());
            let (mut near, mut apart) = (BatchFirst::new(), BatchFirst::new());
            let mut found: Vec<BodyHandle> = Vec::new();
            world.cast_ray_all(&ray, &open, &mut hits).unwrap();
            world.cast_rays_all(&[ray], &open, &mut batch).unwrap();
            assert_eq!(batch.of(0), hits);
            found.extend(hits.iter().map(|hit| hit.body));
            world.cast_shape_all(&cast, &open, &mut hits).unwrap();
            world.cast_shapes_all(&[cast], &open, &mut batch).unwrap();
            assert_eq!(batch.of(0), hits);
            assert_eq!(world.cast_shape(&cast, &open).unwrap(), hits.first().copied());
            found.extend(hits.iter().map(|hit| hit.body));
            world.overlap_shapes(&[cast.probe], &open, &mut parts).unwrap();
            found.extend(parts.hits().iter().map(|at| at.body));
            world.overlap_points(&[at], &open, &mut parts).unwrap();
            found.extend(parts.hits().iter().map(|at| at.body));
            world.overlap_aabbs(&boxes, &open, &mut parts);
            found.extend(parts.hits().iter().map(|at| at.body));
            world.nearest_to_points(&[at], 9.0, &open, &mut near).unwrap();
            found.extend(near.answers().iter().flatten().map(|near| near.body));
            let last = self.order.last().copied().unwrap_or(NONE);
            let measured = world.distances(&[[body, last]], &mut apart);
            assert_eq!(world.distance(body, last).ok(), measured.ok().and_then(|()| apart.answers()[0]));
            for &body in &found {
                assert_eq!(world.is_enabled(body), Ok(true), "{body:?} is found");
            }
            (found, hits, near.answers().to_vec(), apart.answers().to_vec())
        });
        assert_eq!(said[0], said[1]);
    }
}

/// The description of a body that nothing but its shape says, for the parts of a model.
pub fn shown(desc: &BodyDesc) -> Shown {
    Shown { shape: desc.shape, material: desc.material, sensor: desc.sensor }
}
