//! Record and replay: all that a host does to a world, so that another process can do it again.
//!
//! A recording is the snapshot with which it begins, then the calls in their order, each with its arguments, and the hash of the state
//! after every so many steps. Each call that changes a world notes itself with one line, `self.record(|| Call::…)`, before it does anything.
//! Calls that do nothing but call others note nothing. A call that is refused is noted, too: it is refused again.
//!
//! To add a call: a line in `calls!` below, and the line in the call.

use super::World;
use super::bulk::Order;
use super::fields::{Explosion, Field};
use super::snapshot::{HEADER, checked, refuse, seal};
use crate::base::codec::{Reader, Stored, Writer};
use crate::body::compound::Part;
use crate::body::hooks::{Hooked, Hooks};
use crate::body::own::Locks;
use crate::body::{BodyDesc, BodyHandle, BodyType, Filter};
use crate::error::Error;
use crate::geometry::shape::Shape;
use crate::isa::Isa;
use crate::joints::desc::{JointDesc, JointHandle};
use crate::material::{Material, Mixed};
use crate::particles::hulls::HullHandle;
use crate::particles::links::{LinkDesc, LinkHandle};
use crate::settings::Settings;
use glam::Vec2;
use std::sync::Arc;

/// The first bytes of a recording.
const NAME: [u8; 8] = *b"granrec\x01";
const VERSION: u32 = 1;

/// Lists the calls that are recorded: number in the file, name and arguments, and how it is made again. Numbers are never used twice.
macro_rules! calls {
    ($world:ident; $($number:literal => $variant:ident($($name:ident: $type:ty),*) => $do:expr;)*) => {
        /// A call of a host that changes a world, with its arguments.
        #[derive(Clone)]
        pub(crate) enum Call {
            $($variant($($type),*),)*
        }

        crate::base::codec::stored_enum!(Call = Call::Stepped(None); {
            $($number => $variant($($name: $type),*)),*
        });

        impl Call {
            /// Makes the call again. What it returns was of interest to the host only.
            fn make(&self, $world: &mut World) {
                match self {
                    $(Call::$variant($($name),*) => drop($do),)*
                }
            }
        }
    };
}

calls! { world;
    0 => Stepped(_hash: Option<u64>) => world.step();
    1 => AddBody(desc: BodyDesc) => world.add_body(desc);
    2 => AddBodies(descs: Vec<BodyDesc>) => world.add_bodies(descs);
    3 => AddPart(body: BodyHandle, part: Part) => world.add_part(*body, part);
    4 => AddParts(body: BodyHandle, parts: Vec<Part>) => world.add_parts(*body, parts);
    5 => RemoveBody(body: BodyHandle) => world.remove_body(*body);
    6 => SetPosition(body: BodyHandle, position: Vec2) => world.set_position(*body, *position);
    7 => SetAngle(body: BodyHandle, angle: f32) => world.set_angle(*body, *angle);
    8 => SetVelocity(body: BodyHandle, velocity: Vec2) => world.set_velocity(*body, *velocity);
    9 => SetAngularVelocity(body: BodyHandle, omega: f32) => world.set_angular_velocity(*body, *omega);
    10 => SetFilter(body: BodyHandle, filter: Filter) => world.set_filter(*body, *filter);
    11 => SetGravityScale(body: BodyHandle, scale: f32) => world.set_gravity_scale(*body, *scale);
    12 => SetDamping(body: BodyHandle, linear: f32, angular: f32) => world.set_damping(*body, *linear, *angular);
    13 => ApplyForce(body: BodyHandle, force: Vec2) => world.apply_force(*body, *force);
    14 => ApplyTorque(body: BodyHandle, torque: f32) => world.apply_torque(*body, *torque);
    15 => ApplyImpulse(body: BodyHandle, impulse: Vec2) => world.apply_impulse(*body, *impulse);
    16 => ApplyImpulseAt(body: BodyHandle, impulse: Vec2, point: Vec2) => world.apply_impulse_at(*body, *impulse, *point);
    17 => ApplyAngularImpulse(body: BodyHandle, impulse: f32) => world.apply_angular_impulse(*body, *impulse);
    18 => SetBullet(body: BodyHandle, bullet: bool) => world.set_bullet(*body, *bullet);
    19 => WakeBody(body: BodyHandle) => world.wake_body(*body);
    20 => SleepBody(body: BodyHandle) => world.sleep_body(*body);
    21 => SetSleep(body: BodyHandle, sleep: bool) => world.set_sleep(*body, *sleep);
    22 => SetSleepThreshold(body: BodyHandle, threshold: Option<f32>) => world.set_sleep_threshold(*body, *threshold);
    23 => SetTimeToSleep(body: BodyHandle, time: Option<f32>) => world.set_time_to_sleep(*body, *time);
    24 => AddJoint(joint: JointDesc) => world.add_joint(joint);
    25 => AddJoints(joints: Vec<JointDesc>) => world.add_joints(joints);
    26 => RemoveJoint(joint: JointHandle) => world.remove_joint(*joint);
    27 => SetJoint(joint: JointHandle, desc: JointDesc) => world.set_joint(*joint, desc);
    28 => SetMotorSpeed(joint: JointHandle, speed: f32) => world.set_motor_speed(*joint, *speed);
    29 => SetMotorSpeeds(speeds: Vec<f32>) => world.set_motor_speeds(speeds);
    30 => SetTarget(joint: JointHandle, to: Vec2) => world.set_target(*joint, *to);
    31 => AddLink(link: LinkDesc) => world.add_link(link);
    32 => AddLinks(links: Vec<LinkDesc>) => world.add_links(links);
    33 => RemoveLink(link: LinkHandle) => world.remove_link(*link);
    34 => AddHull(points: Vec<BodyHandle>) => world.add_hull(points);
    35 => RemoveHull(hull: HullHandle) => world.remove_hull(*hull);
    // The instruction set has no effect, and is that of whoever replays.
    36 => SetSettings(settings: Settings) => world.set_settings(Settings { isa: world.settings.isa, ..*settings });
    37 => Restore(snapshot: Vec<u8>) => world.restore(snapshot);
    38 => SetVelocities(bodies: Vec<BodyHandle>, velocities: Vec<Vec2>, angular: Option<Vec<f32>>) => world.set_velocities(bodies, velocities, angular.as_deref());
    39 => ApplyImpulses(bodies: Vec<BodyHandle>, impulses: Vec<Vec2>, angular: Option<Vec<f32>>) => world.apply_impulses(bodies, impulses, angular.as_deref());
    40 => SetVelocityColumns(order: Order, columns: [Vec<f32>; 3]) => world.set_velocity_columns(*order, columns.each_ref().map(Vec::as_slice));
    41 => SetBodyType(body: BodyHandle, body_type: BodyType) => world.set_body_type(*body, *body_type);
    42 => SetEnabled(body: BodyHandle, enabled: bool) => world.set_enabled(*body, *enabled);
    43 => SetMass(body: BodyHandle, mass: Option<f32>) => world.set_mass(*body, *mass);
    44 => SetInertia(body: BodyHandle, inertia: Option<f32>) => world.set_inertia(*body, *inertia);
    45 => SetCentre(body: BodyHandle, centre: Option<Vec2>) => world.set_centre(*body, *centre);
    46 => SetLocks(body: BodyHandle, locks: Locks) => world.set_locks(*body, *locks);
    47 => SetMaxSpeeds(body: BodyHandle, linear: Option<f32>, angular: Option<f32>) => world.set_max_speeds(*body, *linear, *angular);
    48 => SetTag(body: BodyHandle, tag: u64) => world.set_tag(*body, *tag);
    49 => SetName(body: BodyHandle, name: Option<String>) => world.set_name(*body, name.as_deref());
    50 => SetKinematicTarget(body: BodyHandle, position: Vec2, angle: f32) => world.set_kinematic_target(*body, *position, *angle);
    51 => SetPart(body: BodyHandle, index: usize, part: Part) => world.set_part(*body, *index, part);
    52 => RemovePart(body: BodyHandle, index: usize) => world.remove_part(*body, *index);
    53 => SetShape(body: BodyHandle, shape: Shape) => world.set_shape(*body, shape);
    54 => SetMaterial(body: BodyHandle, material: Material) => world.set_material(*body, material);
    55 => ApplyField(field: Field) => world.apply_field(field);
    56 => Explode(explosion: Explosion) => world.explode(explosion);
    57 => SetPairMaterial(a: u32, b: u32, mixed: Option<Mixed>) => world.set_pair_material(*a, *b, *mixed);
    58 => SetSensor(body: BodyHandle, sensor: bool) => world.set_sensor(*body, *sensor);
    // The hooks are those that whoever replays has given.
    59 => SetHooks(_there: bool) => world.hooks_changed();
    60 => ShiftOrigin(by: Vec2) => world.shift_origin(*by);
    61 => SetLink(link: LinkHandle, desc: LinkDesc) => world.set_link(*link, desc);
    62 => ApplyImpulseColumns(order: Order, columns: [Vec<f32>; 3]) => world.apply_impulse_columns(*order, columns.each_ref().map(Vec::as_slice));
}

/// What a world has recorded so far.
pub(super) struct Recorder {
    recording: Recording,
    /// The steps since the recording began.
    steps: u64,
}

/// All that was done to a world from some moment on: see [`World::start_recording`].
///
/// ```
/// use granule::{BodyDesc, Isa, Recording, Settings, Shape, Vec2, World};
///
/// let mut world = World::new(Settings::default())?;
/// world.start_recording(1);
/// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
/// let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 1.0)))?;
/// (0..30).for_each(|_| world.step());
/// world.apply_impulse(ball, Vec2::new(1.0, 2.0))?;
/// (0..30).for_each(|_| world.step());
/// let file: Vec<u8> = world.stop_recording().expect("it was recording").to_bytes();
///
/// // In another process, with another instruction set and any number of threads:
/// let replay = Recording::from_bytes(&file)?.replay(Isa::Scalar)?;
/// assert_eq!((replay.steps, replay.mismatch), (60, None));
/// assert_eq!(replay.world.state_hash(), world.state_hash());
/// # Ok::<(), granule::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Every how many steps there is a hash.
    every: u32,
    /// The world had hooks at the start.
    hooked: bool,
    start: Vec<u8>,
    calls: Vec<u8>,
}

/// A step after which the state was not the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The step, counted from 1 at the start of the recording.
    pub step: u64,
    /// The recorded [`World::state_hash`].
    pub expected: u64,
    /// That of the replay.
    pub got: u64,
}

/// The end of a replay: see [`Recording::replay`].
pub struct Replay {
    /// The number of steps that were taken.
    pub steps: u64,
    /// The number of hashes that were compared.
    pub checked: u64,
    /// The first step whose hash differs. The replay ends there.
    pub mismatch: Option<Mismatch>,
    /// The world at the end.
    pub world: World,
}

impl World {
    /// Begins to record all that is done to the world: the state as it is now, each call that changes it with its arguments, and the
    /// hash of the state after every `every` steps (0 means none). A recording that was begun before is dropped. To record costs a
    /// hash every so many steps, some bytes a call, and a snapshot for each [`World::restore`].
    ///
    /// A call of [`World::advance`] is recorded as the steps that it takes. [Hooks](World::set_hooks) are code of the host and are not
    /// recorded: see [`Recording::replay_hooked`]. What has no effect on results is not recorded:
    /// the instruction set, and [`World::set_tracing`].
    pub fn start_recording(&mut self, every: u32) {
        let mut start = Vec::new();
        self.save(&mut start);
        let hooked = self.bodies.hooked.are_set();
        let recording = Recording { every, hooked, start, calls: Vec::new() };
        self.recorder = Some(Box::new(Recorder { recording, steps: 0 }));
    }

    /// Ends the recording and returns it. `None` if the world was not recording.
    pub fn stop_recording(&mut self) -> Option<Recording> {
        self.recorder.take().map(|recorder| recorder.recording)
    }

    /// Notes a call that is about to change the world, and records it, if the world is recording.
    #[inline]
    pub(super) fn record(&mut self, call: impl FnOnce() -> Call) {
        self.bodies.change_still();
        self.record_beside(call);
    }

    /// As [`World::record`], for a call that changes one body at most.
    #[inline]
    pub(super) fn record_of(&mut self, body: BodyHandle, call: impl FnOnce() -> Call) {
        if self.bodies.slot_of(body).is_ok_and(|slot| self.bodies.still().contains(&slot)) {
            self.bodies.change_still();
        }
        self.record_beside(call);
    }

    /// As [`World::record`], for a call that changes no body that stands still, unless it wakes it.
    #[inline]
    pub(super) fn record_beside(&mut self, call: impl FnOnce() -> Call) {
        self.touch();
        self.record_aside(call);
    }

    /// As [`World::record`], for a call that changes nothing that a pair list depends on, unless it wakes a body.
    #[inline]
    pub(super) fn record_aside(&mut self, call: impl FnOnce() -> Call) {
        if let Some(recorder) = &mut self.recorder {
            recorder.add(&call());
        }
    }

    /// Records a step that was just taken.
    pub(super) fn record_step(&mut self) {
        let Some(mut recorder) = self.recorder.take() else { return };
        recorder.steps += 1;
        let every = u64::from(recorder.recording.every);
        let hash = (every > 0 && recorder.steps.is_multiple_of(every)).then(|| self.state_hash());
        recorder.add(&Call::Stepped(hash));
        self.recorder = Some(recorder);
    }
}

impl Recorder {
    fn add(&mut self, call: &Call) {
        call.write(&mut Writer::plain(&mut self.recording.calls));
    }
}

impl Recording {
    /// The recording as the bytes of a file. They can be read on every platform by the same version of the engine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        let mut to = Writer::plain(&mut bytes);
        self.every.write(&mut to);
        self.hooked.write(&mut to);
        self.start.write(&mut to);
        self.calls.write(&mut to);
        seal(&mut bytes, NAME, VERSION);
        bytes
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] for bytes that are no recording, or one of another version, or not complete, or altered.
    pub fn from_bytes(bytes: &[u8]) -> Result<Recording, Error> {
        let body = checked(bytes, NAME, VERSION, "recording")?;
        let mut recording = Recording { every: 0, hooked: false, start: Vec::new(), calls: Vec::new() };
        let mut from = Reader::plain(body);
        let mut read = || {
            recording.every.read(&mut from)?;
            recording.hooked.read(&mut from)?;
            recording.start.read(&mut from)?;
            recording.calls.read(&mut from)
        };
        let read = read();
        read.map_err(|flaw| refuse("recording", HEADER + from.at(), flaw))?;
        Ok(recording)
    }

    /// Whether the world had [hooks](World::set_hooks) at the start, or got some. They are code of the host, and not in the recording: only
    /// [`Recording::replay_hooked`], given the same ones, does the same again.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] if a call can't be read.
    pub fn has_hooks(&self) -> Result<bool, Error> {
        let (mut had, mut from) = (self.hooked, Reader::plain(&self.calls));
        while !had && !from.is_at_end() {
            let at = from.at();
            let call: Call = from.value().map_err(|flaw| refuse("recording", at, flaw))?;
            had = matches!(call, Call::SetHooks(true));
        }
        Ok(had)
    }

    /// Does all that was recorded again, in a new world with this instruction set and on the threads of the pool in which you call it,
    /// and compares the hashes. It ends at the first that differs.
    ///
    /// # Errors
    ///
    /// [`Error::Isa`]; [`Error::Snapshot`] if the start or a call can't be read.
    pub fn replay(&self, isa: Isa) -> Result<Replay, Error> {
        self.replay_with(isa, |_, _| {})
    }

    /// The same for a world with [hooks](World::set_hooks): give those that it had. They decide whenever the recorded world had some.
    ///
    /// # Errors
    ///
    /// Those of [`Recording::replay`].
    pub fn replay_hooked(&self, isa: Isa, hooks: Arc<dyn Hooks>) -> Result<Replay, Error> {
        self.replay_in(isa, Hooked::new(Some(hooks)), |_, _| {})
    }

    /// The same as [`Recording::replay`], and calls `watch` with the world and the number of its step after each step.
    ///
    /// # Errors
    ///
    /// Those of [`Recording::replay`].
    pub fn replay_with(&self, isa: Isa, watch: impl FnMut(u64, &World)) -> Result<Replay, Error> {
        self.replay_in(isa, Hooked::default(), watch)
    }

    fn replay_in(
        &self,
        isa: Isa,
        hooked: Hooked,
        mut watch: impl FnMut(u64, &World),
    ) -> Result<Replay, Error> {
        let mut world = World::new(Settings { isa, ..Settings::default() })?;
        let hooked = |there: bool| if there { hooked.clone() } else { Hooked::default() };
        world.bodies.hooked = hooked(self.hooked);
        world.restore(&self.start)?;
        let mut replay = Replay { steps: 0, checked: 0, mismatch: None, world };
        let mut from = Reader::plain(&self.calls);
        while !from.is_at_end() {
            let at = from.at();
            let call: Call = from.value().map_err(|flaw| refuse("recording", at, flaw))?;
            if let Call::SetHooks(there) = call {
                replay.world.bodies.hooked = hooked(there);
            }
            call.make(&mut replay.world);
            let Call::Stepped(hash) = call else { continue };
            replay.steps += 1;
            watch(replay.steps, &replay.world);
            if let Some(expected) = hash {
                replay.checked += 1;
                let got = replay.world.state_hash();
                if got != expected {
                    replay.mismatch = Some(Mismatch { step: replay.steps, expected, got });
                    break;
                }
            }
        }
        Ok(replay)
    }
}
