//! The world: settings and the step. `world/bodies.rs` adds, removes and changes single bodies, `world/view.rs` has
//! what a host reads, and `world/fault.rs` plants a difference for tests.

mod bodies;
mod bulk;
mod change;
mod compare;
mod contacts;
mod continuous;
mod diff;
mod draw;
mod drawing;
mod edits;
mod events;
mod fault;
mod fields;
mod hooks;
mod joints;
mod links;
pub(crate) mod many;
mod mover;
mod origin;
mod pairs;
mod parts;
mod poses;
mod quality;
mod query;
mod record;
mod sensors;
mod sleep;
mod snapshot;
mod targets;
mod telemetry;
mod validate;
mod view;

pub use bulk::Order;
pub use compare::Difference;
pub use draw::{DebugDraw, DrawShape, DrawWhat};
pub use drawing::{PlacedJoint, PlacedShape, Role, StoredBody};
pub use events::{HitEvent, JointForceEvent, MoveEvent};
pub use fields::{Explosion, Field, FieldKind, Region};
pub use joints::JointColumns;
pub use mover::{MoveReport, Mover};
pub use poses::PoseField;
pub use quality::Quality;
pub use query::{
    Accept, BatchFirst, BatchHits, BodyPart, Distance, Hit, Nearest, Probe, QueryFilter, Ray, ShapeCast,
    Visit,
};
pub use record::{Mismatch, Recording, Replay};
pub use sensors::SensorEvent;
#[doc(hidden)]
pub use snapshot::reseal_snapshot;
pub use telemetry::{Residual, Telemetry};
pub use view::{Columns, Contact};

use crate::base::clock::Instant;
use crate::body::{Bodies, BodyHandle, BodyState, Motion};
use crate::body::{MAX_COORDINATE, MAX_SPEED, RUNAWAY_SPEED};
use crate::broadphase::crowd::MOST_PARTNERS;
use crate::broadphase::sweep::Pair;
use crate::broadphase::{Broadphase, Margins};
use crate::contacts::{Contacts, Tile, update};
use crate::continuous::Continuous;
use crate::crew::{Crew, with_crew};
use crate::error::{Error, check_range};
use crate::geometry::trig::wrap;
use crate::isa::{Isa, Level};
use crate::joints::table::Joints;
use crate::lane::{Row, with_lanes};
use crate::particles::hulls::Hulls;
use crate::particles::links::Links;
use crate::settings::Settings;
use crate::sleep::Sleep;
use crate::solver::hulls::HullSolver;
use crate::solver::joints::JointSolver;
use crate::solver::verlet::Verlet;
use crate::solver::{ImpulseSolver, Parts, StepLoad};
use crate::timing::{Clock, Stage, Timings, Trace};
use edits::Edits;
use events::Watch;
use fault::Fault;
use glam::Vec2;
use pairs::{ListState, list};
use record::{Call, Recorder};
use sensors::Sensing;
use std::collections::HashMap;
use std::sync::Mutex;

/// The result of [`World::advance`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// The number of steps taken.
    pub steps: u32,
    /// The time left over, as a fraction of a step in 0..=1. Pass it to [`World::interpolated`].
    pub alpha: f32,
}

/// A body that went bad (its state is not a number, or beyond all bounds) and was taken out of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// The body, which is never static. It stays where it was last good. It does not move, touches nothing, and no
    /// query finds it. Calls that would move it return an error; you can remove it. (The step in which it goes bad may
    /// still report that it touched something.)
    pub body: BodyHandle,
    /// The step in which it went bad, counted from 0.
    pub step: u64,
}

/// A set of rigid bodies, and the step that moves them.
///
/// ```
/// use granule::{BodyDesc, Settings, Shape, Vec2, World};
///
/// let mut world = World::new(Settings::default())?;
/// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
/// let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 4.0)))?;
/// for _ in 0..120 {
///     world.step();
/// }
/// assert!((world.body(ball)?.position.y - 0.5).abs() < 0.01);
/// # Ok::<(), granule::Error>(())
/// ```
pub struct World {
    settings: Settings,
    /// What `settings.isa` stands for.
    level: Level,

    // State: it outlives a step and decides the next ones. A snapshot has to hold all of it.
    pub(crate) bodies: Bodies,
    pub(crate) links: Links,
    pub(crate) hulls: Hulls,
    pub(crate) joints: Joints,
    /// The blocks of the joints, and their impulses.
    pub(crate) joint_solver: JointSolver,
    /// The order of space, margins, and how long lists live.
    pub(crate) broadphase: Broadphase,
    /// Pairs, contacts and their impulses.
    pub(crate) contacts: Contacts,
    /// Contacts of hulls and their impulses; its other members are memory for one step.
    pub(crate) hull_solver: HullSolver,
    /// How far the world can rely on the pair list.
    list: ListState,
    /// What was done to bodies since the last step. The list may take it in.
    edits: Edits,
    /// The slots of the bodies that left their margin in the last step.
    left: Mutex<Vec<u32>>,
    /// True if a large body moves, or a body that moves got a spare slot, which is in no tile: see `contacts.rs`.
    large_moves: bool,
    /// True if forces, impulses or velocities were set by hand since the last step.
    unchecked: bool,
    /// Length of the last step's substeps, s.
    last_substep: f32,
    time_left: f32,
    step_count: u64,
    quarantined: Vec<Quarantine>,
    /// The islands that sleep, and who is at rest.
    sleep: Sleep,
    /// The walls at which fast bodies are stopped.
    continuous: Continuous,
    /// The contact points of sleeping bodies, by island, and those of bodies that have woken since the last step.
    sleeping_contacts: Vec<Vec<Contact>>,
    woken_contacts: Vec<Contact>,
    /// The names that the host gave. No step reads them.
    names: HashMap<BodyHandle, String>,
    /// What is in the sensors.
    sensing: Sensing,

    // Memory for one step: made from the state, and useless after the step. (Only `solver.mirror.pose` is read later,
    // to interpolate.)
    pub(crate) solver: ImpulseSolver,
    /// The layout of the links. It is made anew when links change.
    verlet: Verlet,
    /// The pairs of the bodies that left their margin.
    loose_pairs: Vec<Pair>,
    /// Memory for calls with many bodies.
    bulk: Vec<(u32, u32)>,
    field_memory: fields::FieldMemory,
    /// The columns of joints that the host has asked for.
    joint_columns: joints::ColumnMemory,

    // Observers: they have no effect on results, except a fault, which tests plant.
    /// The events that the host has asked for.
    watch: Watch,
    timings: Timings,
    pub(crate) trace: Option<Box<Trace>>,
    fault: Option<Fault>,
    /// What the host does, if it is recorded.
    recorder: Option<Box<Recorder>>,
    /// A world to read snapshots into, see `world/snapshot.rs`.
    spare: Option<Box<World>>,
}

/// A part of the step.
struct StepPart {
    /// The stage that the time of this part counts for.
    stage: Stage,
    run: fn(&mut World, &Crew<'_>),
    /// The part runs only if the pair list is in this state.
    when: Option<ListState>,
    /// The stages whose results are complete after this part.
    completes: &'static [Stage],
}

impl StepPart {
    const fn of(stage: Stage, run: fn(&mut World, &Crew<'_>)) -> StepPart {
        StepPart { stage, run, when: None, completes: &[] }
    }

    const fn when(self, state: ListState) -> StepPart {
        StepPart { when: Some(state), ..self }
    }

    const fn completes(self, stages: &'static [Stage]) -> StepPart {
        StepPart { completes: stages, ..self }
    }
}

/// The parts of the step, in order. The comment of each function says what it reads and what it writes.
const STEP: [StepPart; 13] = [
    StepPart::of(Stage::Islands, World::wake_in_time),
    StepPart::of(Stage::Broadphase, World::take_in_edits),
    StepPart::of(Stage::Contacts, World::carry_out).when(ListState::Void),
    StepPart::of(Stage::Broadphase, World::find_pairs).when(ListState::Void),
    StepPart::of(Stage::Contacts, World::build_contacts).when(ListState::Found),
    StepPart::of(Stage::Bounds, World::fill_mirror).completes(&[Stage::Broadphase, Stage::Bounds]),
    StepPart::of(Stage::Narrowphase, World::update_contacts).completes(&[Stage::Narrowphase]),
    StepPart::of(Stage::Islands, World::wake_touched),
    StepPart::of(Stage::Contacts, World::find_events).completes(&[Stage::Contacts]),
    StepPart::of(Stage::Solver, World::solve),
    StepPart::of(Stage::Solver, World::stop_at_walls),
    StepPart::of(Stage::Solver, World::finish).completes(&[Stage::Solver]),
    StepPart::of(Stage::Islands, World::fall_asleep_at_rest).completes(&[Stage::Islands]),
];

impl World {
    /// Largest accepted coordinate, in metres. A body that gets beyond it is quarantined.
    pub const MAX_COORDINATE: f32 = MAX_COORDINATE;
    /// Largest accepted speed, in m/s and rad/s.
    pub const MAX_SPEED: f32 = MAX_SPEED;
    /// Largest accepted force, torque or impulse.
    pub const MAX_FORCE: f32 = 1.0e30;
    /// The most steps that one call of [`World::advance`] takes. It drops the whole steps beyond that.
    pub const MAX_STEPS_PER_ADVANCE: u32 = 8;

    /// The most partners of a body in the pair list, among those that count against it; see [`World::crowded_count`].
    pub const MAX_PARTNERS: usize = MOST_PARTNERS;

    /// Creates an empty world.
    ///
    /// # Errors
    ///
    /// Returns the error of the first setting that is out of range, or [`Error::Isa`] for an instruction set that the processor
    /// lacks.
    pub fn new(settings: Settings) -> Result<World, Error> {
        settings.validate()?;
        Ok(World {
            settings,
            level: Level::of(settings.isa)?,
            bodies: Bodies::default(),
            broadphase: Broadphase::default(),
            contacts: Contacts::default(),
            solver: ImpulseSolver::default(),
            links: Links::default(),
            verlet: Verlet::default(),
            hulls: Hulls::default(),
            joints: Joints::default(),
            joint_solver: JointSolver::default(),
            joint_columns: joints::ColumnMemory::default(),
            hull_solver: HullSolver::default(),
            list: ListState::Void,
            edits: Edits::default(),
            left: Mutex::default(),
            loose_pairs: Vec::new(),
            large_moves: false,
            unchecked: false,
            last_substep: settings.substep(),
            time_left: 0.0,
            step_count: 0,
            quarantined: Vec::new(),
            sleep: Sleep::default(),
            continuous: Continuous::default(),
            sleeping_contacts: Vec::new(),
            woken_contacts: Vec::new(),
            bulk: Vec::new(),
            field_memory: fields::FieldMemory::default(),
            names: HashMap::new(),
            sensing: Sensing::default(),
            watch: Watch::default(),
            timings: Timings::default(),
            trace: None,
            fault: None,
            recorder: None,
            spare: None,
        })
    }

    /// Advances the world by `settings().time_step`.
    ///
    /// The threads of the rayon pool in which you call it share the work (`pool.install(|| world.step())`), at most one
    /// per core. The result does not depend on the number of threads.
    ///
    /// Once warm, a step allocates nothing, at rest and in motion, at any time step, number of threads and instruction set.
    /// It may allocate:
    ///
    /// - when the whole world has more than ever before: more bodies, or more pairs of neighbours, whose number grows
    ///   with the density and the speed of the bodies;
    /// - in the first step after links or hulls were added or removed;
    /// - in a step in which bodies fall asleep or wake;
    /// - when a body goes bad;
    /// - in a world with several tiles of space (256 bodies and more each), when one tile needs twice as much as any
    ///   tile ever did.
    ///
    /// The world keeps what it allocated, with a reserve, until you drop it.
    pub fn step(&mut self) {
        let mut trace = self.trace.take();
        let start = with_crew(trace.as_deref(), |crew| self.step_with(crew, trace.as_deref()));
        if let Some(trace) = &mut trace {
            trace.finish(start);
        }
        self.trace = trace;
    }

    /// Runs the parts of a step with this crew, and returns when it began.
    fn step_with(&mut self, crew: &Crew<'_>, trace: Option<&Trace>) -> Instant {
        let mut clock = Clock::start(STEP[0].stage, trace);
        let quiet = self.is_quiet();
        if quiet {
            self.rest_on();
        }
        for part in STEP.iter().filter(|_| !quiet) {
            if part.when.is_none_or(|state| state == self.list) {
                clock.enter(part.stage);
                (part.run)(self, crew);
                part.completes.iter().for_each(|&stage| self.plant(stage));
            }
        }
        let (start, timings) = clock.stop();
        self.timings = timings;
        self.step_count += 1;
        if self.recorder.is_some() {
            self.record_step();
        }
        start
    }

    /// Reads the bodies. Writes the solver's rows.
    fn fill_mirror(&mut self, crew: &Crew<'_>) {
        let tiles = self.contacts.tiles().len();
        let bands = &self.broadphase.bands;
        let planes = bands.banded..bands.large_end;
        self.solver.mirror.level = self.level;
        let joint_rows = self.joint_solver.extra_rows();
        self.solver.mirror.fill(&self.bodies, &self.settings, tiles, planes, joint_rows, crew);
    }

    /// Reads the solver's rows. Writes normals, separations and points of all contacts; candidates that come near
    /// become contacts. In a new list no candidate is near.
    fn update_contacts(&mut self, crew: &Crew<'_>) {
        let step = update::Step {
            shape: &self.solver.mirror.shape,
            vel: &self.solver.mirror.vel,
            placement: &self.solver.mirror.placement,
            outlines: &self.bodies.outlines.rows,
            time_step: self.settings.time_step,
            slop: self.settings.slop,
            speculative: self.settings.speculative_distance(),
            straight: if self.settings.continuous { update::STRAIGHT } else { f32::MAX },
        };
        if self.list != ListState::New {
            let list = list(&self.broadphase, &self.bodies, &self.settings);
            self.contacts.give_lanes(&list, crew, |tile, born| {
                with_lanes!(self.level, L => update::find_near::<L>(tile, &step, born));
            });
        }
        let renew = |tile: &mut Tile| {
            with_lanes!(self.level, L => update::update::<L>(tile, &step));
        };
        crew.for_each(self.contacts.tiles_mut(), |_, tile| renew(tile));
        renew(&mut self.contacts.overflow);
    }

    /// Reads the contacts. Asks the hooks about them. Writes the begin and end events, and notes what other events need to know of the
    /// start of the step.
    fn find_events(&mut self, crew: &Crew<'_>) {
        self.ask_hooks(crew);
        self.contacts.find_events(&self.bodies);
        self.watch_step(crew);
    }

    /// Reads contacts, links, hulls and joints. Writes their impulses, and the solver's rows.
    fn solve(&mut self, crew: &Crew<'_>) {
        let substep = self.settings.substep();
        let last_substep = std::mem::replace(&mut self.last_substep, substep);
        let impulse_ratio = substep / last_substep;
        let load = StepLoad {
            impulse_ratio,
            any_restitution: self.bodies.any_restitution,
            any_damping: self.bodies.any_damping,
            has_overflow: self.large_moves || self.contacts.overflow.is_active(),
            tally: self.watch.has_strikes(),
        };
        let relinked = self.links.changed;
        self.verlet.begin_step(&mut self.links, &self.bodies, self.level, crew);
        self.begin_hulls(relinked, impulse_ratio);
        let mirror = &mut self.solver.mirror;
        let rows = [&mut mirror.vel[..], &mut mirror.accum[..]];
        self.joint_solver.begin_step(&self.joints, &self.bodies, [last_substep, substep], rows);
        let parts = Parts {
            links: &mut self.verlet,
            hulls: &mut self.hull_solver,
            joints: &mut self.joint_solver,
            bodies: &self.bodies,
        };
        self.solver.solve(&mut self.contacts, &self.settings, &load, parts, crew);
        self.hull_solver.find_events(&self.bodies, &mut self.contacts.begin, &mut self.contacts.end);
        self.links.broken.clear();
        let links = &mut self.links;
        self.verlet.break_links(substep, |link| links.break_link(link));
    }

    /// Reads the solver's rows. Writes the bodies, the state of the list, and the events that the host has asked for. Quarantines bodies that
    /// went bad.
    fn finish(&mut self, crew: &Crew<'_>) {
        self.correct_rows();
        let in_time = self.broadphase.bounds.age_by(self.settings.time_step);
        let mut strays = std::mem::take(&mut self.broadphase.strays);
        strays.begin();
        let strays = Mutex::new(strays);
        let (bounds, mirror) = (&self.broadphase.bounds, &self.solver.mirror);
        let bad = mirror.finish(&mut self.bodies, bounds, &strays, &self.settings, &mut self.left, crew);
        self.broadphase.strays = strays.into_inner().expect("no worker panicked");
        self.broadphase.strays.end();
        let left = !self.left.get_mut().expect("no worker panicked").is_empty();
        self.list = match (in_time, left) {
            (false, _) => ListState::Expired,
            (true, true) => ListState::Left,
            (true, false) => ListState::Holds,
        };
        for slot in bad {
            self.quarantine(slot);
        }
        self.land();
        // Only now: bodies whose joint breaks may touch, which the state of the list has to say.
        self.break_joints();
        self.report(crew);
    }

    /// Does nothing unless velocities, forces or impulses were set by hand. Quarantines bodies that would go bad (their
    /// velocity after the forces of this step is not a number, or beyond all bounds) before they infect their
    /// neighbours, and notes bodies that will leave their margin in this step.
    fn check_velocities(&mut self) {
        if !std::mem::take(&mut self.unchecked) {
            return;
        }
        let dt = self.settings.time_step;
        let margins = Margins::new(&self.settings);
        let suits = self.list_suits();
        for slot in 0..self.bodies.len {
            let c = &self.bodies.columns;
            if !c.kind[slot].is_collidable() {
                continue;
            }
            let (inv_mass, inv_inertia) = (c.inv_mass[slot], c.inv_inertia[slot]);
            let next = [
                c.vel_x[slot] + dt * (c.force_x[slot] * inv_mass),
                c.vel_y[slot] + dt * (c.force_y[slot] * inv_mass),
                c.omega[slot] + dt * (c.torque[slot] * inv_inertia),
            ];
            if next.iter().any(|v| v.is_nan() || v.abs() > RUNAWAY_SPEED) {
                self.quarantine(slot);
            } else if suits && slot < self.broadphase.built {
                let position = self.bodies.position(slot).into();
                let bounds = &self.broadphase.bounds;
                let turned = self.bodies.any_manifold.then(|| {
                    let c = &self.bodies.columns;
                    [c.angle[slot], next[2], c.furthest[slot]]
                });
                if bounds.left::<f32>(slot, position, [next[0], next[1]], turned, &margins) {
                    self.note_move(slot);
                }
            }
        }
    }

    fn quarantine(&mut self, slot: usize) {
        // A static body stays where it is: only a body that it is linked to, or touches, has gone bad. A slot without a body stays one.
        let motion = self.bodies.columns.kind[slot].motion();
        if matches!(motion, Motion::Static | Motion::Quarantined | Motion::Disabled | Motion::Dead) {
            return;
        }
        self.disturb(slot);
        self.bodies.quarantine(slot);
        // It has not moved in this step: what would have moved it is no number.
        if let Some(pose) = self.solver.mirror.pose.get_mut(slot) {
            *pose = Row::default();
        }
        let body = self.bodies.handle(slot);
        self.links.mass_changed(body);
        self.forget_impulses_of(body);
        (self.hulls.changed, self.hulls.renumbered) = (true, true);
        self.quarantined.push(Quarantine { body, step: self.step_count });
        self.list = ListState::Void;
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Replaces the settings.
    ///
    /// # Errors
    ///
    /// Returns the error of the first setting that is out of range; the world then keeps its old settings.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), Error> {
        self.record(|| Call::SetSettings(settings));
        settings.validate()?;
        let level = Level::of(settings.isa)?;
        let list_settings = |s: &Settings| (s.mixing, s.slop.to_bits(), s.time_step.to_bits());
        if list_settings(&settings) != list_settings(&self.settings) {
            self.list = ListState::Void;
        }
        let of_rest = |s: &Settings| (s.gravity, s.mixing, s.sleep, s.sleep_threshold, s.time_to_sleep);
        if of_rest(&settings) != of_rest(&self.settings) {
            self.wake_all();
        }
        if settings.sleep != self.settings.sleep {
            self.bodies.forget_rest();
        }
        self.settings = settings;
        self.level = level;
        Ok(())
    }

    /// Sets gravity, m/s².
    ///
    /// # Errors
    ///
    /// Returns an error for a component that is not finite or out of range.
    pub fn set_gravity(&mut self, gravity: Vec2) -> Result<(), Error> {
        self.set_settings(Settings { gravity, ..self.settings })
    }

    /// Sets the length of a step, s. The impulses carried from the last step are scaled to the new length.
    ///
    /// # Errors
    ///
    /// Returns an error for a length that is not finite or out of range.
    pub fn set_time_step(&mut self, time_step: f32) -> Result<(), Error> {
        self.set_settings(Settings { time_step, ..self.settings })
    }

    /// Sets the instruction set of the kernels. It has no effect on results.
    ///
    /// # Errors
    ///
    /// [`Error::Isa`] for a set that the processor lacks.
    pub fn set_isa(&mut self, isa: Isa) -> Result<(), Error> {
        self.set_settings(Settings { isa, ..self.settings })
    }

    /// The instruction set that the kernels of this world use: never [`Isa::Auto`].
    pub fn isa(&self) -> Isa {
        self.level.isa()
    }

    /// Takes as many steps as fit into the time that has passed, `elapsed` in s, and keeps the rest of the time for the
    /// next call. One call takes at most [`World::MAX_STEPS_PER_ADVANCE`] steps: if the host can't keep up, the world
    /// runs slower, instead of each frame taking longer than the last.
    ///
    /// # Errors
    ///
    /// Returns an error for a time that is not finite, negative, or more than 10⁶ s.
    pub fn advance(&mut self, elapsed: f32) -> Result<Advance, Error> {
        check_range("elapsed", elapsed, 0.0, 1.0e6)?;
        let dt = self.settings.time_step;
        self.time_left += elapsed;
        let mut steps = 0;
        while self.time_left >= dt && steps < Self::MAX_STEPS_PER_ADVANCE {
            self.step();
            self.time_left -= dt;
            steps += 1;
        }
        if self.time_left >= dt {
            self.time_left %= dt;
        }
        Ok(Advance { steps, alpha: (self.time_left / dt).clamp(0.0, 1.0) })
    }

    /// Returns a body's state between the last two steps: the state before the last step at `alpha` 0, the present
    /// state at 1. The velocities are always the present ones.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or an `alpha` outside 0..=1.
    pub fn interpolated(&self, body: BodyHandle, alpha: f32) -> Result<BodyState, Error> {
        let slot = self.bodies.slot_of(body)?;
        check_range("alpha", alpha, 0.0, 1.0)?;
        Ok(self.interpolated_at(slot, alpha))
    }

    fn interpolated_at(&self, slot: usize, alpha: f32) -> BodyState {
        let mut state = self.state(slot);
        if slot < self.solver.mirror.bodies {
            let back = alpha - 1.0;
            let [moved_x, moved_y, turned, _] = self.solver.mirror.pose[slot].0;
            state.position += back * Vec2::new(moved_x, moved_y);
            let radius = self.bodies.columns.radius[slot];
            if radius > 0.0 {
                let (angle, turns) = wrap(f64::from(state.angle) + f64::from(back * turned / radius));
                (state.angle, state.turns) = (angle, state.turns.wrapping_add(turns));
            }
        }
        state
    }
}
