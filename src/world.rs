//! The world and its step. `world/bodies.rs` adds, removes and changes single bodies, `world/settings.rs` changes the settings, and
//! `world/view.rs` has what a host reads.

mod ahead;
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
mod quarantine;
mod query;
mod record;
mod seams;
mod sensors;
mod settings;
mod sleep;
mod snapshot;
mod targets;
mod telemetry;
mod time;
mod validate;
mod view;

pub use bulk::Order;
pub use compare::Difference;
pub use draw::{DebugDraw, DrawShape, DrawWhat, PlacedLink};
pub use drawing::{PlacedJoint, PlacedShape, Role, StoredBody};
pub use events::{HitEvent, JointForceEvent, MoveEvent};
pub use fields::{Explosion, Field, FieldKind, Region};
pub use joints::JointColumns;
pub use mover::{MoveReport, Mover};
pub use poses::PoseField;
pub use quality::Quality;
pub use quarantine::Quarantine;
pub use query::{
    Accept, BatchFirst, BatchHits, BodyPart, Distance, Hit, Nearest, Probe, QueryFilter, Ray, ShapeCast,
    Visit,
};
pub use record::{Mismatch, Recording, Replay};
pub use sensors::SensorEvent;
#[doc(hidden)]
pub use snapshot::reseal_snapshot;
pub use telemetry::{Residual, Telemetry};
pub use time::Advance;
pub use view::{Columns, Contact};

use crate::base::clock::Instant;
use crate::body::{Bodies, BodyHandle, MAX_COORDINATE, MAX_SPEED};
use crate::broadphase::Broadphase;
use crate::broadphase::crowd::MOST_PARTNERS;
use crate::broadphase::sweep::Pair;
use crate::broadphase::unlisted::Unlisted;
use crate::contacts::{Contacts, Tile, update};
use crate::continuous::Continuous;
use crate::crew::{Crew, with_crew};
use crate::error::Error;
use crate::isa::Level;
use crate::joints::table::Joints;
use crate::lane::with_lanes;
use crate::particles::hulls::Hulls;
use crate::particles::links::Links;
use crate::settings::Settings;
use crate::sleep::Sleep;
use crate::solver::hulls::HullSolver;
use crate::solver::joints::JointSolver;
use crate::solver::verlet::Verlet;
use crate::solver::{ImpulseSolver, Parts, StepLoad};
use crate::timing::{Clock, Stage, Timings, Trace};
use ahead::Ahead;
use edits::Edits;
use events::Watch;
use fault::Fault;
use pairs::{ListState, list};
use record::Recorder;
use sensors::Sensing;
use std::collections::HashMap;
use std::sync::Mutex;

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

    // State: it outlives a step and decides the next ones. A snapshot holds all of it but the walls, which are found again from the
    // bodies. `save` and `restore` name each member of a world, so that a new one does not compile until it is assigned.
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
    /// The layout of the links, which is made anew when links change.
    verlet: Verlet,
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
    /// The bodies that queries do not find in the order of space. A snapshot holds their slots.
    unlisted: Unlisted,

    // Memory for one step: made from the state, and useless after the step. (Only `solver.mirror.pose` is read later,
    // to interpolate.)
    pub(crate) solver: ImpulseSolver,
    memory: Memory,
    /// What the last step found for the next list.
    ahead: Ahead,

    // Observers: they have no effect on results, except a fault, which tests plant.
    /// The events that the host has asked for.
    watch: Watch,
    timings: Timings,
    pub(crate) trace: Option<Box<Trace>>,
    fault: Option<Fault>,
    /// What the host does, if it is recorded.
    recorder: Option<Box<Recorder>>,
}

/// Memory that calls use again and again. No call reads what another one left in it.
#[derive(Default)]
struct Memory {
    /// The pairs of the bodies that left their margin.
    loose_pairs: Vec<Pair>,
    /// The bodies of a call with many of them.
    bulk: Vec<(u32, u32)>,
    fields: fields::FieldMemory,
    /// The columns of joints that the host has asked for.
    joint_columns: joints::ColumnMemory,
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
    /// Tells that the part has next to nothing to do in this step. Its time then counts for the stage before: to read the clock twice takes
    /// longer. (Nine readings were 7 % of a step of ten boxes.)
    brief: fn(&World) -> bool,
    /// The stages whose results are complete after this part.
    completes: &'static [Stage],
}

impl StepPart {
    const fn of(stage: Stage, run: fn(&mut World, &Crew<'_>)) -> StepPart {
        StepPart { stage, run, when: None, brief: |_| false, completes: &[] }
    }

    const fn brief(self, brief: fn(&World) -> bool) -> StepPart {
        StepPart { brief, ..self }
    }

    const fn when(self, state: ListState) -> StepPart {
        StepPart { when: Some(state), ..self }
    }

    const fn completes(self, stages: &'static [Stage]) -> StepPart {
        StepPart { completes: stages, ..self }
    }
}

/// The parts of the step, in order. The comment of each function says what it reads and what it writes.
const STEP: [StepPart; 14] = [
    StepPart::of(Stage::Islands, World::wake_in_time).brief(World::is_wide_awake),
    StepPart::of(Stage::Broadphase, World::take_in_edits).brief(World::has_no_edits),
    StepPart::of(Stage::Contacts, World::carry_out).when(ListState::Void),
    StepPart::of(Stage::Broadphase, World::find_pairs).when(ListState::Void),
    StepPart::of(Stage::Contacts, World::build_contacts).when(ListState::Found),
    StepPart::of(Stage::Bounds, World::fill_mirror).completes(&[Stage::Broadphase, Stage::Bounds]),
    StepPart::of(Stage::Narrowphase, World::update_contacts).completes(&[Stage::Narrowphase]),
    StepPart::of(Stage::Islands, World::wake_touched).brief(World::is_wide_awake),
    StepPart::of(Stage::Contacts, World::find_events).completes(&[Stage::Contacts]),
    StepPart::of(Stage::Solver, World::solve),
    StepPart::of(Stage::Solver, World::stop_at_walls),
    StepPart::of(Stage::Solver, World::finish).completes(&[Stage::Solver]),
    StepPart::of(Stage::Islands, World::fall_asleep_at_rest)
        .brief(World::stays_awake)
        .completes(&[Stage::Islands]),
    StepPart::of(Stage::Broadphase, World::look_ahead).brief(World::needs_no_list),
];

impl World {
    /// Largest accepted coordinate, in metres. A body that gets beyond it is quarantined.
    pub const MAX_COORDINATE: f32 = MAX_COORDINATE;
    /// Largest accepted speed, in m/s and rad/s.
    pub const MAX_SPEED: f32 = MAX_SPEED;
    /// Largest accepted force, torque or impulse.
    pub const MAX_FORCE: f32 = 1.0e30;

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
            links: Links::default(),
            hulls: Hulls::default(),
            joints: Joints::default(),
            joint_solver: JointSolver::default(),
            hull_solver: HullSolver::default(),
            verlet: Verlet::default(),
            list: ListState::Void,
            edits: Edits::default(),
            left: Mutex::default(),
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
            names: HashMap::new(),
            sensing: Sensing::default(),
            unlisted: Unlisted::default(),
            solver: ImpulseSolver::default(),
            memory: Memory::default(),
            ahead: Ahead::default(),
            watch: Watch::default(),
            timings: Timings::default(),
            trace: None,
            fault: None,
            recorder: None,
        })
    }

    /// Advances the world by `settings().time_step`.
    ///
    /// The threads of the rayon pool in which you call it share the work (`pool.install(|| world.step())`), at most one
    /// per core. The result does not depend on the number of threads.
    ///
    /// Once warm, a step allocates nothing while the number of contacts stays near what it has been, at any time step, number of threads and
    /// instruction set. Memory grows by large steps: in scenes in motion 2 or 3 steps of 1,000 still allocate.
    /// It may allocate:
    ///
    /// - when the whole world has more than ever before: more bodies, or more pairs of neighbours, whose number grows
    ///   with the density and the speed of the bodies;
    /// - in the first step after links or hulls were added or removed;
    /// - in a world of fewer than 256 bodies, the first time that a body which was added or placed by hand comes near others;
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
        let mut clock = Clock::start(trace);
        let quiet = self.is_quiet();
        if quiet {
            self.rest_on();
        }
        for part in STEP.iter().filter(|_| !quiet) {
            if part.when.is_none_or(|state| state == self.list) {
                crew.run_errand();
                if !(part.brief)(self) {
                    clock.enter(part.stage);
                }
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
        self.bodies.renew_still();
        let planes = self.broadphase.planes();
        self.solver.mirror.level = self.level;
        let joint_rows = self.joint_solver.extra_rows();
        self.solver.mirror.fill(&self.bodies, &self.settings, tiles, planes, joint_rows, crew);
    }

    /// Reads the solver's rows. Writes normals, separations and points of all contacts; candidates that come near
    /// become contacts. In a new list no candidate is near.
    fn update_contacts(&mut self, crew: &Crew<'_>) {
        let [lead, damped] = update::lead_share(self.settings.substeps);
        let step = update::Step {
            shape: &self.solver.mirror.shape,
            vel: &self.solver.mirror.vel,
            placement: &self.solver.mirror.placement,
            outlines: &self.bodies.outlines.rows,
            time_step: self.settings.time_step,
            slop: self.settings.slop,
            speculative: self.settings.speculative_distance(),
            straight: if self.settings.continuous { update::STRAIGHT } else { f32::MAX },
            lead: lead * self.settings.time_step,
            damped,
            most_lead: self.settings.slop,
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
        self.pass_seams(crew);
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
            any_parts: !self.bodies.compounds.is_empty(),
        };
        let relinked = self.links.changed;
        self.links.events.clear();
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
        self.links.break_links(|broken| self.verlet.break_links(substep, broken));
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
        self.solver.mirror.end_step();
        self.broadphase.strays = strays.into_inner().expect("no worker panicked");
        self.broadphase.strays.end();
        self.find_unlisted();
        let left = !self.left.get_mut().expect("no worker panicked").is_empty();
        self.list = match (in_time, left) {
            (false, _) => ListState::Expired,
            (true, true) => ListState::Left,
            (true, false) => ListState::Holds,
        };
        if self.broadphase.end_step() {
            self.list = ListState::Void;
        }
        for slot in bad {
            self.quarantine(slot);
        }
        self.land();
        // Only now: bodies whose joint breaks may touch, which the state of the list has to say.
        self.break_joints();
        self.report(crew);
    }
}
