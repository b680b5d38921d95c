//! Operations that change what bodies are, that change many at once, and fields of force.

use super::bytes::Bytes;
use super::describe;
use super::machine::Machine;
use granule::{
    BodyHandle, BodyType, Explosion, Field, FieldKind, JointHandle, Locks, Order, PoseField, Region, Vec2,
    World,
};

/// A number that is mostly there, and mostly positive.
fn maybe(bytes: &mut Bytes) -> Option<f32> {
    match bytes.byte() {
        0..=63 => None,
        64..=240 => Some(0.1 + bytes.number().abs()),
        _ => Some(bytes.number()),
    }
}

fn order(bytes: &mut Bytes) -> Order {
    if bytes.byte() & 1 == 0 { Order::Added } else { Order::Stored }
}

impl Machine {
    /// Changes what a body is.
    pub(super) fn edit_body(&mut self, bytes: &mut Bytes) {
        self.lawless = true;
        let (body, how) = (self.body(bytes), bytes.byte() % 16);
        match how {
            0 | 1 => {
                let body_type = [BodyType::Static, BodyType::Kinematic, BodyType::Dynamic, BodyType::Dynamic]
                    [bytes.below(4)];
                if self.both(|world| world.set_body_type(body, body_type)).is_some() {
                    assert_eq!(self.worlds[0].body_type(body), Ok(body_type));
                }
            }
            2 | 3 => {
                let enabled = bytes.byte() & 1 == 0;
                if self.both(|world| world.set_enabled(body, enabled)).is_some() {
                    assert_eq!(self.worlds[0].is_enabled(body), Ok(enabled));
                }
            }
            4 => {
                let mass = maybe(bytes);
                if self.both(|world| world.set_mass(body, mass)).is_some() {
                    assert_eq!(self.worlds[0].mass_by_hand(body), Ok(mass));
                }
            }
            5 => {
                let inertia = maybe(bytes);
                if self.both(|world| world.set_inertia(body, inertia)).is_some() {
                    assert_eq!(self.worlds[0].inertia_by_hand(body), Ok(inertia));
                }
            }
            6 => {
                let centre = (bytes.byte() > 80).then(|| bytes.vector());
                self.both(|world| {
                    world.set_centre(body, centre)?;
                    assert_eq!(world.has_set_centre(body), Ok(centre.is_some()));
                    Ok(())
                });
            }
            7 => {
                let flags = bytes.byte();
                let locks = Locks { x: flags & 1 != 0, y: flags & 2 != 0, rotation: flags & 4 != 0 };
                if self.both(|world| world.set_locks(body, locks)).is_some() {
                    assert_eq!(self.worlds[0].locks(body), Ok(locks));
                }
            }
            8 => {
                let (linear, angular) = (maybe(bytes), maybe(bytes));
                if self.both(|world| world.set_max_speeds(body, linear, angular)).is_some() {
                    assert_eq!(self.worlds[0].max_speeds(body), Ok((linear, angular)));
                }
            }
            9 => {
                let (to, angle) = (bytes.vector(), bytes.number());
                let by = bytes.byte() & 7 != 0;
                let there = self.worlds[0].body(body).map_or(Vec2::ZERO, |state| state.position);
                let to = if by { there + 0.05 * to } else { to };
                if self.both(|world| world.set_kinematic_target(body, to, angle)).is_some() {
                    assert_eq!(self.worlds[0].kinematic_target(body), Ok(Some((to, angle))));
                }
            }
            10 => {
                let (part, index) = (describe::part(bytes), bytes.below(3));
                self.both(|world| world.set_part(body, index, &part));
            }
            11 => {
                let index = bytes.below(3);
                self.both(|world| world.remove_part(body, index));
            }
            12 => {
                let shape = describe::body(bytes).shape;
                if self.both(|world| world.set_shape(body, &shape)).is_some() {
                    assert_eq!(self.worlds[0].shape(body).map(|shape| shape.kind()), Ok(shape.kind()));
                }
            }
            13 => {
                let material = describe::material(bytes);
                if self.both(|world| world.set_material(body, &material)).is_some() {
                    assert_eq!(self.worlds[0].material(body), Ok(material));
                }
            }
            14 => {
                let tag = u64::from(bytes.byte());
                if self.both(|world| world.set_tag(body, tag)).is_some() {
                    assert_eq!(self.worlds[0].tag(body), Ok(tag));
                    let name = format!("body {tag}");
                    self.both(|world| world.set_name(body, (tag > 9).then_some(&name)));
                    assert_eq!(self.worlds[0].name(body), Ok((tag > 9).then_some(&*name)));
                }
            }
            _ => {
                let count = bytes.below(40);
                self.both(|world| world.reserve(count, count, count));
                if count > 30 {
                    let (by, before) = (bytes.vector(), self.worlds[0].state_hash());
                    if self.both(|world| world.shift_origin(by)).is_none() {
                        assert_eq!(self.worlds[0].state_hash(), before);
                    }
                }
            }
        }
    }

    /// Changes many bodies or joints at once. What is refused changes nothing.
    pub(super) fn edit_many(&mut self, bytes: &mut Bytes) {
        self.lawless = true;
        let count = bytes.below(5);
        let bodies: Vec<BodyHandle> = (0..count).map(|_| self.body(bytes)).collect();
        let vectors: Vec<Vec2> = (0..count).map(|_| bytes.vector()).collect();
        let numbers: Vec<f32> = (0..count).map(|_| bytes.number()).collect();
        let all = self.worlds[0].total_count();
        let order = order(bytes);
        let mut column = || -> Vec<f32> { (0..all).map(|_| bytes.number()).collect() };
        let how = count + 5 * numbers.first().map_or(0, |number| number.abs() as usize % 3);
        match how % 10 {
            0 | 5 => {
                let columns = [column(), column(), column()];
                self.both(|world| {
                    world.set_velocity_columns(order, columns.each_ref().map(|column| &column[..]))
                });
            }
            1 => {
                self.both(|world| world.place_bodies(&bodies, &vectors, Some(&numbers)));
            }
            2 => {
                self.both(|world| world.set_velocities(&bodies, &vectors, Some(&numbers)));
            }
            3 => {
                self.both(|world| world.apply_forces(&bodies, &vectors, Some(&numbers)));
            }
            4 => {
                self.both(|world| world.apply_impulses(&bodies, &vectors, Some(&numbers)));
            }
            6 => {
                let columns = [column(), column(), column()];
                self.both(|world| world.place_columns(order, columns.each_ref().map(|column| &column[..])));
            }
            7 => {
                let columns = [column(), column(), column()];
                self.both(|world| {
                    world.apply_force_columns(order, columns.each_ref().map(|column| &column[..]))
                });
            }
            8 => {
                let columns = [column(), column(), column()];
                self.both(|world| {
                    world.apply_impulse_columns(order, columns.each_ref().map(|column| &column[..]))
                });
            }
            _ => {
                let joints: Vec<JointHandle> = self.joints.iter().copied().take(count).collect();
                let speeds = &numbers[..joints.len()];
                self.both(|world| world.set_motors(&joints, speeds));
                if self.both(|world| world.remove_joints(&joints)).is_some() {
                    assert!(joints.iter().all(|&joint| self.worlds[0].joint(joint).is_err()));
                }
                if self.both(|world| world.remove_bodies(&bodies)).is_some() {
                    self.forget(&bodies);
                }
            }
        }
    }

    /// Forces over a region.
    pub(super) fn apply_field(&mut self, bytes: &mut Bytes) {
        self.lawless = true;
        let (at, size) = (bytes.vector(), bytes.number());
        let region = match bytes.byte() % 3 {
            0 => Region::Everywhere,
            1 => Region::Circle { centre: at, radius: 4.0 * size },
            _ => Region::Aabb { lower: at - size, upper: at + size },
        };
        let flags = bytes.byte();
        let kind = match flags % 5 {
            0 => {
                let explosion =
                    Explosion { mask: u32::MAX, ..Explosion::new(at, 4.0 * size, bytes.number()) };
                self.both(|world| world.explode(&explosion));
                return;
            }
            1 => FieldKind::Acceleration(bytes.vector()),
            2 => {
                FieldKind::Wind { velocity: bytes.vector(), linear: bytes.number(), quadratic: bytes.unit() }
            }
            3 => FieldKind::Attractor {
                centre: bytes.vector(),
                strength: bytes.number(),
                softening: bytes.size(),
            },
            _ => FieldKind::Buoyancy {
                normal: bytes.vector(),
                offset: bytes.number(),
                density: bytes.size(),
                drag: bytes.number(),
                angular_drag: bytes.unit(),
                flow: bytes.vector(),
            },
        };
        let field = Field { wake: flags & 64 == 0, ..Field::new(region, kind) };
        self.both(|world| world.apply_field(&field));
    }
}

/// Reads what can be read of these features.
pub fn read(world: &World) {
    let fields = [PoseField::X, PoseField::Spin, PoseField::Cos, PoseField::Sin, PoseField::Y];
    for order in [Order::Added, Order::Stored] {
        let handles: Vec<BodyHandle> = world.handles_in(order).collect();
        assert_eq!(handles.len(), world.total_count());
        let mut out = vec![f32::NAN; 6 * handles.len()];
        assert_eq!(world.write_poses(&mut out, 6, &fields, order), Ok(handles.len()));
        for (row, &body) in out.chunks(6).zip(&handles) {
            let state = world.body(body).expect("a body that is there");
            assert_eq!([row[0], row[4]], state.position.to_array());
            assert!((row[2] * row[2] + row[3] * row[3] - 1.0).abs() < 1e-3 && row[5].is_nan(), "{row:?}");
        }
    }
    for body in world.handles() {
        let inertia = world.inertia(body).expect("a body that is there");
        assert!(inertia > 0.0, "{inertia}");
        world.locks(body).expect("a body that is there");
        world.max_speeds(body).expect("a body that is there");
        let (force, torque) = world.force(body).expect("a body that is there");
        assert!(force.is_finite() && torque.is_finite());
        let (linear, angular) = world.damping(body).expect("a body that is there");
        assert!(linear >= 0.0 && angular >= 0.0);
        assert!(world.gravity_scale(body).expect("a body that is there").is_finite());
        world.is_enabled(body).expect("a body that is there");
        world.kinematic_target(body).expect("a body that is there");
        world.tag(body).expect("a body that is there");
        world.name(body).expect("a body that is there");
    }
}
