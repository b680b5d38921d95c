//! Events that a host asks for, sensors and hooks: what a host may do with them, and what holds of them.

use super::bytes::Bytes;
use super::machine::Machine;
use granule::{
    BodyHandle, Contact, DebugDraw, DrawShape, DrawWhat, HookContact, Hooks, Material, Mixed, SensorEvent,
    World,
};
use std::sync::Arc;

/// Hooks that decide by bits.
#[derive(Debug)]
struct Decisions(u8);

impl Decisions {
    fn bit(&self, number: u32) -> bool {
        self.0 >> (number % 8) & 1 == 1
    }
}

impl Hooks for Decisions {
    fn may_touch(&self, a: BodyHandle, b: BodyHandle) -> bool {
        assert!(a < b, "{a:?} and {b:?} are not in order");
        self.bit(a.index() ^ b.index())
    }

    fn mix(&self, a: &Material, b: &Material, mixed: Mixed) -> Mixed {
        Mixed { restitution: a.restitution + b.restitution, ..mixed }
    }

    fn before_solve(&self, contact: &mut HookContact) {
        assert!(matches!(contact.points().len(), 1 | 2) && contact.normal.is_finite(), "{contact:?}");
        let speed = contact.points()[0].approach_speed;
        contact.solve = self.bit(contact.a.index() + contact.b.index()) || speed > 1.0;
        contact.coefficients.dynamic_friction *= speed;
        contact.tangent_speed += speed;
    }

    fn stops(&self, fast: BodyHandle, obstacle: BodyHandle, normal: granule::Vec2) -> bool {
        normal.x > 0.0 || self.bit(fast.index() + obstacle.index())
    }
}

impl Machine {
    /// Asks for events, or for other decisions.
    pub(super) fn event_operation(&mut self, bytes: &mut Bytes, how: u8) {
        let body = self.body(bytes);
        let number = bytes.number();
        let asked = bytes.byte();
        let threshold = (asked & 1 == 0).then_some(number);
        let joint = self.joints.get(usize::from(asked) % self.joints.len().max(1)).copied();
        match how % 8 {
            0 => {
                self.both(|world| {
                    world.set_hit_events(threshold)?;
                    assert_eq!(world.hit_threshold(), threshold);
                    Ok(())
                });
            }
            1 => {
                self.both(|world| {
                    world.set_body_hit_events(body, threshold)?;
                    assert_eq!(world.body_hit_threshold(body), Ok(threshold));
                    Ok(())
                });
            }
            2 => {
                self.both(|world| {
                    world.set_move_events(asked & 2 == 0);
                    world.set_body_move_events(body, asked & 1 == 0)?;
                    assert_eq!(world.reports_moves(), asked & 2 == 0);
                    assert_eq!(world.reports_moves_of(body), Ok(asked & 1 == 0));
                    Ok(())
                });
            }
            3 => {
                self.both(|world| {
                    world.set_joint_force_events(threshold)?;
                    assert_eq!(world.common_joint_force_threshold(), threshold);
                    Ok(())
                });
            }
            4 => {
                if let Some(joint) = joint {
                    self.both(|world| {
                        world.set_joint_force_threshold(joint, threshold)?;
                        assert_eq!(world.joint_force_threshold(joint), Ok(threshold));
                        Ok(())
                    });
                }
            }
            5 => {
                let sensor = asked & 1 == 0;
                if self.both(|world| world.set_sensor(body, sensor)).is_some() {
                    assert_eq!(self.worlds[0].is_sensor(body), Ok(sensor));
                }
            }
            6 => {
                (self.is_hooked, self.had_hooks) = (true, true);
                self.both(|world| {
                    world.set_hooks((asked & 1 == 0).then(|| Arc::new(Decisions(asked)) as Arc<dyn Hooks>));
                    assert_eq!(world.hooks().is_some(), asked & 1 == 0);
                    Ok(())
                });
            }
            _ => {
                self.is_hooked = true;
                let (static_friction, dynamic_friction) = (bytes.unit(), bytes.number());
                let mixed = Mixed { static_friction, dynamic_friction, restitution: bytes.unit() };
                let mixed = (asked & 1 == 0).then_some(mixed);
                let (a, b) = (u32::from(asked >> 1 & 3), u32::from(asked >> 3 & 3));
                if self.both(|world| world.set_pair_material(a, b, mixed)).is_some() {
                    assert_eq!(self.worlds[0].pair_material(b, a), mixed);
                }
            }
        }
    }
}

/// What was asked for, and what is always told.
pub fn read(world: &World) {
    let all: Vec<Contact> = world.contacts().collect();
    let mut found = 0;
    for body in world.handles() {
        let of_body: Vec<Contact> = world.contacts_of(body).expect("a body that is there").collect();
        assert!(of_body.iter().all(|contact| contact.a == body || contact.b == body));
        assert!(of_body.iter().all(|contact| all.contains(contact)));
        found += of_body.len();
        let overlaps = world.overlaps_of(body).expect("a body that is there");
        assert!(overlaps.windows(2).all(|two| two[0] < two[1]), "{overlaps:?}");
        assert!(overlaps.iter().all(|overlap| overlap.sensor == body && overlap.visitor != body));
    }
    let figures = world.telemetry();
    assert!((0.0..=1.0).contains(&figures.lane_fill) && figures.touching <= figures.contacts, "{figures:?}");
    let residual = world.residual();
    let speeds = [residual.mean_approach, residual.max_approach, residual.max_penetration];
    assert!(speeds.iter().all(|speed| speed.is_finite() && *speed >= 0.0), "{residual:?}");
    assert!(residual.mean_approach <= 1.000_001 * residual.max_approach, "{residual:?}");
    draw(world);
    let there =
        |contact: &&Contact| [contact.a, contact.b].iter().filter(|&&body| world.contains(body)).count();
    assert_eq!(found, all.iter().map(|contact| there(&contact)).sum::<usize>());
    for hit in world.hit_events() {
        assert!(hit.impulse > 0.0 && hit.impulse.is_finite() && hit.approach_speed.is_finite(), "{hit:?}");
        assert!((hit.normal.length() - 1.0).abs() < 1e-3 && hit.point.is_finite(), "{hit:?}");
    }
    for event in world.move_events() {
        assert!(event.position.is_finite() && event.angle.is_finite(), "{event:?}");
    }
    for event in world.joint_force_events() {
        assert!(event.force >= 0.0 && event.torque >= 0.0, "{event:?}");
    }
    let ordered = |events: &[SensorEvent]| events.windows(2).all(|two| two[0] < two[1]);
    assert!(ordered(world.sensor_begin_events()) && ordered(world.sensor_end_events()));
}

/// All shapes and contacts are drawn.
fn draw(world: &World) {
    #[derive(Default)]
    struct Count([usize; 2]);
    impl DebugDraw for Count {
        fn shape(&mut self, shape: &DrawShape) {
            assert!(shape.placed.position.is_finite(), "{shape:?}");
            self.0[0] += 1;
        }
        fn contact(&mut self, _: &Contact, _: Option<u8>) {
            self.0[1] += 1;
        }
    }
    let mut count = Count::default();
    world.draw(&mut count, DrawWhat::ALL);
    let shapes = world.handles().map(|body| world.parts(body).expect("a body that is there").len());
    assert_eq!(count.0, [shapes.sum(), world.contacts().count()]);
}

/// Holds that both worlds tell the same.
pub fn compare(scalar: &World, wide: &World) {
    assert_eq!(scalar.hit_events(), wide.hit_events());
    assert_eq!(scalar.move_events(), wide.move_events());
    assert_eq!(scalar.joint_force_events(), wide.joint_force_events());
    assert_eq!(scalar.sensor_begin_events(), wide.sensor_begin_events());
    assert_eq!(scalar.sensor_end_events(), wide.sensor_end_events());
}
