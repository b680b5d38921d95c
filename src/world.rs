//! The world: settings and the step. What is done to single bodies is in `world/bodies.rs`, what a host
//! reads in `world/view.rs`, and how a difference is planted in `world/fault.rs`.

mod bodies;
mod compare;
mod drawing;
mod edits;
mod exact;
mod fault;
mod links;
mod pairs;
mod quality;
mod query;
mod validate;
mod view;

pub use compare::Difference;
pub use drawing::{PlacedShape, Role, StoredBody};
pub use quality::Quality;
pub use view::{Columns, Contact};

use crate::body::{Bodies, BodyHandle, BodyState, Motion};
use crate::body::{MAX_COORDINATE, MAX_SPEED, RUNAWAY_SPEED};
use crate::broadphase::crowd::MOST_PARTNERS;
use crate::broadphase::sweep::Pair;
use crate::broadphase::{Broadphase, Margins};
use crate::contacts::{Contacts, Tile, update};
use crate::crew::{Crew, with_crew};
use crate::error::{Error, check_range};
use crate::geometry::trig::wrap;
use crate::lane::with_lanes;
use crate::particles::hulls::Hulls;
use crate::particles::links::Links;
use crate::settings::{Lanes, Settings};
use crate::solver::hulls::HullSolver;
use crate::solver::verlet::Verlet;
use crate::solver::{ImpulseSolver, StepLoad};
use crate::timing::{Clock, Stage, Timings, Trace};
use edits::Edits;
use fault::Fault;
use glam::Vec2;
use pairs::{ListState, list};
use std::sync::Mutex;

/// What [`World::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// Steps taken.
    pub steps: u32,
    /// Time left over, as a fraction of a step in 0..1: for [`World::interpolated`].
    pub alpha: f32,
}

/// A body that went bad (not a number, or beyond all bounds) and was taken out of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// Which body. It stays where it was last good, does not move, touches nothing, and is found by no query. Calls that would
    /// move it are refused; it can be removed. (The step in which it goes bad may yet report that it touched something.) Never a static one.
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

    // State: what outlives a step and decides the next ones. A snapshot has to hold all of it.
    pub(crate) bodies: Bodies,
    pub(crate) links: Links,
    pub(crate) hulls: Hulls,
    /// The order of space, margins, and how long lists live.
    pub(crate) broadphase: Broadphase,
    /// Pairs, contacts and their impulses.
    pub(crate) contacts: Contacts,
    /// Contacts of hulls and their impulses; its other members are memory for a step.
    pub(crate) hull_solver: HullSolver,
    /// How far the pair list can be relied on.
    list: ListState,
    /// What was done to bodies since the last step, which the list may take in.
    edits: Edits,
    /// Slots that have left their margin in the last step.
    left: Mutex<Vec<u32>>,
    /// A large body moves, or one that came to a slot to spare: see `contacts.rs`.
    large_moves: bool,
    /// Forces, impulses or velocities were set by hand since the last step.
    unchecked: bool,
    /// Length of the last step's substeps.
    last_substep: f32,
    time_left: f32,
    step_count: u64,
    quarantined: Vec<Quarantine>,

    // Memory for a step: made from the state, and of no use after the step. (`solver.mirror.pose` is also read to interpolate.)
    pub(crate) solver: ImpulseSolver,
    /// The layout of the links, made from these when they change.
    verlet: Verlet,
    /// Pairs of the bodies that have left their margin.
    loose_pairs: Vec<Pair>,

    // Observers: no effect on results, but for a fault, which is planted for tests.
    timings: Timings,
    pub(crate) trace: Option<Box<Trace>>,
    fault: Option<Fault>,
}

/// A part of the step.
struct Part {
    /// Whose time it takes.
    stage: Stage,
    run: fn(&mut World, &Crew<'_>),
    /// It is done only when the pair list is in this state.
    when: Option<ListState>,
    /// The stages whose results stand after it.
    completes: &'static [Stage],
}

impl Part {
    const fn of(stage: Stage, run: fn(&mut World, &Crew<'_>)) -> Part {
        Part { stage, run, when: None, completes: &[] }
    }

    const fn when(self, state: ListState) -> Part {
        Part { when: Some(state), ..self }
    }

    const fn completes(self, stages: &'static [Stage]) -> Part {
        Part { completes: stages, ..self }
    }
}

/// The step: what is done, in order. Each says what it reads and what it writes.
const STEP: [Part; 9] = [
    Part::of(Stage::Broadphase, World::take_in_edits),
    Part::of(Stage::Contacts, World::carry_out).when(ListState::Void),
    Part::of(Stage::Broadphase, World::find_pairs).when(ListState::Void),
    Part::of(Stage::Contacts, World::build_contacts).when(ListState::Found),
    Part::of(Stage::Bounds, World::fill_mirror).completes(&[Stage::Broadphase, Stage::Bounds]),
    Part::of(Stage::Narrowphase, World::update_contacts).completes(&[Stage::Narrowphase]),
    Part::of(Stage::Contacts, World::find_events).completes(&[Stage::Contacts]),
    Part::of(Stage::Solver, World::solve),
    Part::of(Stage::Solver, World::finish).completes(&[Stage::Solver]),
];

impl World {
    /// Largest accepted coordinate, in metres. A body that gets beyond it is quarantined.
    pub const MAX_COORDINATE: f32 = MAX_COORDINATE;
    /// Largest accepted speed, in m/s and rad/s.
    pub const MAX_SPEED: f32 = MAX_SPEED;
    /// Largest accepted force, torque or impulse.
    pub const MAX_FORCE: f32 = 1.0e30;
    /// [`World::advance`] takes at most this many steps a call, and forgets the rest of the time.
    pub const MAX_STEPS_PER_ADVANCE: u32 = 8;

    /// Most partners of a body in the pair list, of those that count against it; see [`World::crowded_count`].
    pub const MAX_PARTNERS: usize = MOST_PARTNERS;

    /// An empty world.
    ///
    /// # Errors
    ///
    /// The first setting that is out of range.
    pub fn new(settings: Settings) -> Result<World, Error> {
        settings.validate()?;
        Ok(World {
            settings,
            bodies: Bodies::default(),
            broadphase: Broadphase::default(),
            contacts: Contacts::default(),
            solver: ImpulseSolver::default(),
            links: Links::default(),
            verlet: Verlet::default(),
            hulls: Hulls::default(),
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
            timings: Timings::default(),
            trace: None,
            fault: None,
        })
    }

    /// Steps the world by `settings().time_step`.
    ///
    /// Work is shared among the threads of the rayon pool that the caller runs in, if any
    /// (`pool.install(|| world.step())`), at most one per core. The result does not depend on them.
    ///
    /// Once warm, a step allocates nothing, at rest and in motion, at any time step, number of threads and lane width. It may
    /// allocate when there is more in the whole world than ever before: more bodies, or more pairs of neighbours, which are
    /// more the denser the bodies lie and the faster they are; in the first step after links or hulls came or went;
    /// and when a body goes bad. Where the world has tiles of space (256 bodies and more each) it may allocate, too, when one of
    /// them needs twice as much as any tile ever did. What is allocated is kept, with such a reserve, until the world is dropped.
    pub fn step(&mut self) {
        let mut trace = self.trace.take();
        let (start, timings) = with_crew(trace.as_deref(), |crew| {
            let mut clock = Clock::start(STEP[0].stage, trace.as_deref());
            for part in &STEP {
                if part.when.is_none_or(|state| state == self.list) {
                    clock.enter(part.stage);
                    (part.run)(self, crew);
                    part.completes.iter().for_each(|&stage| self.plant(stage));
                }
            }
            clock.stop()
        });
        if let Some(trace) = &mut trace {
            trace.finish(start);
        }
        (self.trace, self.timings) = (trace, timings);
        self.step_count += 1;
    }

    /// Reads the bodies. Writes the solver's rows.
    fn fill_mirror(&mut self, crew: &Crew<'_>) {
        let tiles = self.contacts.tiles().len();
        let bands = &self.broadphase.bands;
        let planes = bands.banded..bands.large_end;
        self.solver.mirror.fill(&self.bodies, &self.settings, tiles, planes, crew);
    }

    /// Reads the solver's rows. Writes normals, separations and points of all contacts; candidates that come near become
    /// contacts. Of a new list none is near.
    fn update_contacts(&mut self, crew: &Crew<'_>) {
        let step = update::Step {
            shape: &self.solver.mirror.shape,
            vel: &self.solver.mirror.vel,
            frame: &self.solver.mirror.frame,
            outlines: &self.bodies.outlines.rows,
            time_step: self.settings.time_step,
            slop: self.settings.slop,
            speculative: self.settings.speculative_distance(),
        };
        if self.list != ListState::New {
            let list = list(&self.broadphase, &self.bodies, &self.settings);
            self.contacts.give_lanes(&list, crew, |tile, born| {
                with_lanes!(self.settings.lanes, L => update::find_near::<L>(tile, &step, born));
            });
        }
        let renew = |tile: &mut Tile| {
            with_lanes!(self.settings.lanes, L => update::update::<L>(tile, &step));
        };
        crew.for_each(self.contacts.tiles_mut(), |_, tile| renew(tile));
        renew(&mut self.contacts.overflow);
    }

    /// Reads the contacts. Writes the events of those that begin and end.
    fn find_events(&mut self, _: &Crew<'_>) {
        self.contacts.find_events(&self.bodies);
    }

    /// Reads contacts, links and hulls. Writes their impulses, and the solver's rows.
    fn solve(&mut self, crew: &Crew<'_>) {
        let substep = self.settings.substep();
        let impulse_ratio = substep / self.last_substep;
        self.last_substep = substep;
        let load = StepLoad {
            impulse_ratio,
            any_restitution: self.bodies.any_restitution,
            any_damping: self.bodies.any_damping,
            has_overflow: self.large_moves || self.contacts.overflow.is_active(),
        };
        let relinked = self.links.changed;
        self.verlet.begin_step(&mut self.links, &self.bodies, self.settings.lanes, crew);
        self.begin_hulls(relinked, impulse_ratio);
        let verlet = (&mut self.verlet, &mut self.hull_solver, &self.bodies);
        self.solver.solve(&mut self.contacts, &self.settings, &load, verlet, crew);
        self.hull_solver.find_events(&self.bodies, &mut self.contacts.begin, &mut self.contacts.end);
        self.links.broken.clear();
        let links = &mut self.links;
        self.verlet.break_links(substep, |link| links.break_link(link));
    }

    /// Reads the solver's rows. Writes the bodies, and whether the list still holds them; quarantines what went bad.
    fn finish(&mut self, crew: &Crew<'_>) {
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
    }

    /// After velocities were changed by hand: finds bodies that would go bad before their neighbours are
    /// infected (their velocity after the forces of this step is not a number, or beyond all bounds), and
    /// such as will leave their margin in this step.
    fn check_velocities(&mut self) {
        if !std::mem::take(&mut self.unchecked) {
            return;
        }
        let dt = self.settings.time_step;
        let margins = Margins::new(&self.settings);
        let suits = self.list_suits();
        for slot in 0..self.bodies.len {
            let c = &self.bodies.columns;
            if !c.kind[slot].is_solid() {
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
        // What nothing moves stays where it is; only what it is linked to or touches has gone bad.
        if matches!(self.bodies.columns.kind[slot].motion(), Motion::Static | Motion::Quarantined) {
            return;
        }
        self.bodies.quarantine(slot);
        let body = self.bodies.handle(slot);
        self.links.mass_changed(body);
        (self.hulls.changed, self.hulls.renumbered) = (true, true);
        self.quarantined.push(Quarantine { body, step: self.step_count });
        self.list = ListState::Void;
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Replaces the settings.
    ///
    /// # Errors
    ///
    /// The first setting that is out of range; the old ones stay.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), Error> {
        settings.validate()?;
        let list_settings = |s: &Settings| (s.mixing, s.slop.to_bits(), s.time_step.to_bits());
        if list_settings(&settings) != list_settings(&self.settings) {
            self.list = ListState::Void;
        }
        self.settings = settings;
        Ok(())
    }

    /// Sets gravity, m/s².
    ///
    /// # Errors
    ///
    /// A component that is not finite or out of range.
    pub fn set_gravity(&mut self, gravity: Vec2) -> Result<(), Error> {
        self.set_settings(Settings { gravity, ..self.settings })
    }

    /// Sets the length of a step, s. Carried impulses are scaled to it.
    ///
    /// # Errors
    ///
    /// A length that is not finite or out of range.
    pub fn set_time_step(&mut self, time_step: f32) -> Result<(), Error> {
        self.set_settings(Settings { time_step, ..self.settings })
    }

    /// Sets the lane width. No effect on results.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        self.settings.lanes = lanes;
    }

    /// Takes as many steps as fit the time that has passed, and keeps what is left for the next call. At
    /// most [`World::MAX_STEPS_PER_ADVANCE`]: if the host can't keep up, the world runs slower rather than
    /// the host slower and slower.
    ///
    /// # Errors
    ///
    /// A time that is not finite or negative.
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

    /// A body's state between the last two steps: that before the last step at `alpha` 0, the present one
    /// at 1. Velocities are the present ones.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or an alpha outside 0..=1.
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
