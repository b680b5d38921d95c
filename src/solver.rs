//! The impulse solver: both modes as a list of passes over the tiles.
//!
//! ```text
//! soft:        warm start
//!              each substep:  [integrate velocities] solve with soft bias   × iterations
//!                             [integrate positions]  relax without bias     × iterations
//!                             (the last relaxing pass lets contacts bounce that closed fast enough)
//!                             (links and hulls, if there are any, are solved in between: see `verlet.rs`, `hulls.rs`)
//! projection:  warm start
//!              each substep:  [integrate velocities] velocity iteration     × iterations
//!                             [integrate positions]  project positions
//!                             one more velocity iteration, for bodies that have landed; contacts that closed fast enough bounce
//! ```
//!
//! The soft mode is the "soft step" of E. Catto, "Solver2D" (2024), with changes for speed. None of these
//! changes alters the result, except by rounding:
//!
//! 1. *Warm starting costs one pass per step instead of one per substep.* Warm starting adds Σ J·λ over a body's
//!    contacts to its velocity. A pass changes v by exactly the change of that sum. So from the second substep on, that
//!    sum plus gravity is exactly what the velocity gained in the substep before: one subtraction per body replaces a
//!    pass over all contacts (12 passes a step become 9).
//! 2. *Only the relaxing pass solves friction*, because its velocities are the ones that are kept.
//! 3. Integration is done tile by tile. The first task that needs the tile does it, since the rows are on their way
//!    into the cache anyway.
//! 4. Passes are not barriers: see `schedule.rs`.

pub(crate) mod hulls;
pub(crate) mod impulse;
pub(crate) mod joints;
mod manifold;
pub(crate) mod midpoint;
pub(crate) mod mirror;
mod pass;
pub(crate) mod rows;
pub(crate) mod schedule;
pub(crate) mod verlet;

use crate::base::ranges::without;
use crate::body::Bodies;
use crate::contacts::{Contacts, Tile};
use crate::crew::CHUNK;
use crate::crew::{Crew, SharedSlice};
use crate::isa::Level;
use crate::lane::with_lanes;
use crate::settings::{Settings, Solver};
use hulls::HullSolver;
use joints::{JointPass, JointSolver};
use mirror::Mirror;
use pass::Pass;
use rows::Rows;
use schedule::Schedule;
use std::ops::Range;
use verlet::Verlet;

/// How many times joints pass blows on, and contacts bounce again, in a substep. A row of ten bodies of equal mass takes ten.
const BLOWS: usize = 16;

/// What a task does to its two tiles' bodies before its contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integrate {
    Nothing,
    /// v += h·a + warm start. For the first substep.
    FirstVelocities,
    /// v += h·a + warm start, with the warm start brought up to date. For all later substeps.
    Velocities,
    /// x = h·v, from the step's start. For the first substep.
    FirstPositions,
    /// x += h·v. For all later substeps.
    Positions,
}

impl Integrate {
    /// Returns true if bodies move.
    fn moves(self) -> bool {
        matches!(self, Integrate::FirstPositions | Integrate::Positions)
    }
}

/// One pass over all contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedPass {
    pub integrate: Integrate,
    pub pass: Pass,
    /// The number of substeps whose movement the positions contain.
    pub moved: u32,
    /// What is done to the joints, before the contacts. Then the pass is a segment of its own.
    pub joints: JointPass,
    /// The last pass of a substep: the impulses of contacts that are struck are added up after it.
    pub ends_substep: bool,
}

/// What a step has besides contacts.
#[derive(Clone, Copy)]
struct Extras {
    /// Links or hulls.
    links: bool,
    joints: bool,
}

/// A run of passes, and what comes before it.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The first pass, and one more than the last.
    first: usize,
    end: usize,
    /// All bodies are integrated before the segment.
    integrate: Integrate,
    /// Links and hulls are solved then.
    links: bool,
}

/// Plans the passes of one step, and cuts them into segments: with links where positions are integrated, with joints at each pass.
/// Without both there is one segment.
fn plan(settings: &Settings, any_restitution: bool, extras: Extras, plan: &mut Plan) {
    plan_passes(settings, any_restitution, &mut plan.passes);
    let Plan { passes, segments } = plan;
    segments.clear();
    if !extras.links && !extras.joints {
        segments.push(Segment { first: 0, end: passes.len(), integrate: Integrate::Nothing, links: false });
        return;
    }
    let mut first = 0;
    for number in 0..passes.len() {
        let next = passes.get(number + 1).map_or(Integrate::Nothing, |pass| pass.integrate);
        let links = extras.links && next.moves();
        if number + 1 == passes.len() || links || extras.joints {
            segments.push(Segment { first, end: number + 1, integrate: Integrate::Nothing, links: false });
            first = number + 1;
        }
    }
    for segment in segments.iter_mut() {
        let integrate = &mut passes[segment.first].integrate;
        segment.links = extras.links && integrate.moves();
        if segment.links || extras.joints {
            segment.integrate = std::mem::replace(integrate, Integrate::Nothing);
        }
    }
}

fn plan_passes(settings: &Settings, any_restitution: bool, passes: &mut Vec<PlannedPass>) {
    use Integrate::{FirstPositions, FirstVelocities, Nothing, Positions, Velocities};
    let of =
        |integrate, pass, moved, joints| PlannedPass { integrate, pass, moved, joints, ends_substep: false };
    passes.clear();
    passes.push(of(Nothing, Pass::WarmStart, 0, JointPass::Begin));
    for substep in 0..settings.substeps {
        let moved = substep + 1;
        let first = substep == 0;
        let velocity_pass = match settings.solver {
            Solver::Soft => Pass::Solve,
            Solver::Projection => Pass::Meet,
        };
        let mut integrate = if first { FirstVelocities } else { Velocities };
        let mut joints = JointPass::Solve;
        for _ in 0..settings.iterations {
            passes.push(of(integrate, velocity_pass, substep, joints));
            (integrate, joints) = (Nothing, JointPass::SolveAgain);
        }
        let mut integrate = if first { FirstPositions } else { Positions };
        match settings.solver {
            Solver::Soft => {
                let mut joints = JointPass::Turn;
                for iteration in 1..=settings.iterations {
                    let last = any_restitution && iteration == settings.iterations;
                    let pass = if last { Pass::Bounce } else { Pass::Relax };
                    passes.push(of(integrate, pass, moved, joints));
                    (integrate, joints) = (Nothing, JointPass::Relax);
                }
            }
            Solver::Projection => {
                passes.push(of(integrate, Pass::Project, moved, JointPass::Nothing));
                let pass = if any_restitution { Pass::Bounce } else { Pass::Relax };
                passes.push(of(Nothing, pass, moved, JointPass::Turn));
            }
        }
        if let Some(last) = passes.last_mut() {
            last.ends_substep = true;
        }
    }
}

/// The passes of a step, in segments.
#[derive(Default)]
struct Plan {
    passes: Vec<PlannedPass>,
    segments: Vec<Segment>,
}

/// The properties of a step that decide how it is solved.
pub(crate) struct StepLoad {
    /// This step's substep length divided by the last step's: scales carried impulses.
    pub impulse_ratio: f32,
    /// At least one contact may bounce.
    pub any_restitution: bool,
    /// At least one body is damped.
    pub any_damping: bool,
    /// The overflow tile has active contacts, or a large body moves. Then the passes over all tiles have to wait for
    /// each other: 50,000 bodies of a falling pile take 18 ms instead of 10.
    pub has_overflow: bool,
    /// The impulses of contacts that are struck are added up.
    pub tally: bool,
    /// At least one body has several parts.
    pub any_parts: bool,
}

/// The solver's own state. Only allocated memory outlives a step.
#[derive(Default)]
pub(crate) struct ImpulseSolver {
    pub(crate) mirror: Mirror,
    plan: Plan,
    schedule: Schedule,
}

impl ImpulseSolver {
    /// Solves all contacts, links, hulls and joints. Before the call, the mirror holds the velocities at the start of the step. After
    /// it, the mirror holds the velocities at the end, and how far each body has moved.
    pub(crate) fn solve(
        &mut self,
        contacts: &mut Contacts,
        settings: &Settings,
        load: &StepLoad,
        mut parts: Parts<'_>,
        crew: &Crew<'_>,
    ) {
        let extras = parts.extras();
        plan(settings, load.any_restitution, extras, &mut self.plan);
        let mirror = &mut self.mirror;
        let (body_rows, level) = (mirror.bodies, mirror.level);
        // The large bodies are in no tile. If one of them moves, they all move with the overflow tile.
        let banded = contacts.tiles().last().map_or(0, |tile| tile.slots.end);
        check_limits(contacts, mirror, load.any_damping);
        let rows = Rows::new(mirror, settings, load);
        let Plan { passes, segments } = &self.plan;
        let passes = Passes { passes, rows: &rows, large: banded..body_rows, level, tally: load.tally };
        parts.hulls.strike_by_bullets(&rows, parts.bodies, settings);
        parts.hulls.warm_start(&rows, parts.bodies);
        // With joints, all that a pass does besides contacts is done by itself.
        let skip_contacts = extras.joints && !contacts.all().any(Tile::is_active);
        if skip_contacts {
            // For its memory: the first contact must not make it allocate.
            self.schedule.plan(1, contacts.tiles().iter().map(Tile::work), false, crew.threads());
        }
        // A contact is in an impact, and joints may pass it on: see `joints/sweep.rs`.
        let may_strike = extras.joints && load.any_restitution && !skip_contacts;
        let mut struck = false;
        for &Segment { first, end, integrate, links } in segments {
            integrate_all(&rows, body_rows, integrate, level, crew);
            if links {
                parts.solve_links(&rows, settings, level, crew);
            }
            let mut join = |pass| parts.joints.pass(pass, &rows, level, crew);
            let planned = &passes.passes[first];
            if extras.joints {
                join(if struck { planned.joints.struck() } else { planned.joints });
            }
            let mut run = |contacts: &mut Contacts| {
                let work = contacts.tiles().iter().map(Tile::work);
                self.schedule.plan(end - first, work, load.has_overflow, crew.threads());
                passes.run(first, &self.schedule, contacts, crew);
            };
            if !skip_contacts {
                run(contacts);
            }
            if may_strike {
                struck = contacts.all().any(Tile::has_bounced);
                if struck && planned.pass == Pass::Bounce {
                    pass_blows_on(join, || run(contacts));
                }
            }
        }
        if !extras.links && !extras.joints && !load.has_overflow {
            // The large bodies have not moved yet, and only their own velocity moves them.
            mirror.move_freely(banded..body_rows, settings.time_step);
        }
    }
}

/// Checks the limits that the kernels' contract requires. The kernels do not check them.
fn check_limits(contacts: &Contacts, mirror: &Mirror, any_damping: bool) {
    for limit in contacts.all().map(|tile| tile.limits.bodies) {
        assert!([&mirror.vel, &mirror.pose, &mirror.accum].iter().all(|rows| limit.fits(rows)));
        assert!(!any_damping || limit.fits(&mirror.damp));
    }
}

/// Joints that are struck pass blows on, and contacts bounce again, in turns. Then the joints stop what is left. `join` does a pass over
/// the joints and tells whether one is struck; `bounce` does one over the contacts.
fn pass_blows_on(mut join: impl FnMut(JointPass) -> bool, mut bounce: impl FnMut()) {
    let mut blows = 0;
    while blows < BLOWS && join(JointPass::Strike) {
        bounce();
        blows += 1;
    }
    if blows > 0 {
        join(JointPass::Settle);
    }
}

/// What is solved besides the contacts, and the bodies.
pub(crate) struct Parts<'a> {
    pub links: &'a mut Verlet,
    pub hulls: &'a mut HullSolver,
    pub joints: &'a mut JointSolver,
    pub bodies: &'a Bodies,
}

impl Parts<'_> {
    fn extras(&self) -> Extras {
        Extras { links: !self.links.is_empty() || !self.hulls.is_empty(), joints: !self.joints.is_empty() }
    }

    /// Solves links and hulls.
    fn solve_links(&mut self, rows: &Rows<'_>, settings: &Settings, level: Level, crew: &Crew<'_>) {
        if !self.links.is_empty() {
            self.links.solve(rows, settings.link_iterations, level, crew);
        }
        if !self.hulls.is_empty() {
            self.hulls.solve(rows, self.bodies, settings, level, crew);
        }
    }
}

/// Integrates the rows of these slots, with the kernels of this level, and holds bodies within the limits of their motion.
///
/// # Safety
///
/// No other task has any of these bodies.
#[allow(unsafe_code)]
#[inline]
unsafe fn integrate(level: Level, rows: &Rows<'_>, slots: Range<usize>, what: Integrate) {
    // SAFETY: the caller guarantees that no other task reads or writes the rows of these bodies meanwhile.
    unsafe {
        if what.moves() && !rows.limits.is_empty() {
            rows::limit(rows, slots.clone());
        }
        let level = level.for_few(slots.len());
        let run = |slots| with_lanes!(level, L => rows::integrate::<L>(rows, slots, what));
        let [before, behind] = without(slots.clone(), &rows.still);
        run(before);
        if !behind.is_empty() {
            run(behind);
        }
        if matches!(what, Integrate::FirstVelocities | Integrate::Velocities) && !rows.limits.is_empty() {
            rows::limit(rows, slots);
        }
    }
}

/// Integrates the rows of all bodies, if there is anything to integrate.
fn integrate_all(rows: &Rows<'_>, bodies: usize, what: Integrate, level: Level, crew: &Crew<'_>) {
    if what == Integrate::Nothing {
        return;
    }
    crew.chunks(bodies, CHUNK, |range| {
        #[allow(unsafe_code)]
        // SAFETY: `Crew::chunks` gives each body to one task.
        unsafe {
            integrate(level, rows, range, what);
        }
    });
}

/// The data that the passes of a step share.
struct Passes<'a> {
    passes: &'a [PlannedPass],
    rows: &'a Rows<'a>,
    /// The large bodies.
    large: Range<usize>,
    level: Level,
    tally: bool,
}

impl Passes<'_> {
    /// Runs the passes that the schedule was planned for, from pass `first` on.
    fn run(&self, first: usize, schedule: &Schedule, contacts: &mut Contacts, crew: &Crew<'_>) {
        let Passes { passes, rows, large, level, tally } = self;
        let level = *level;
        let (tiles, overflow) = contacts.split_tiles();
        let tiles = SharedSlice::new(tiles);
        let overflow = SharedSlice::new(std::slice::from_mut(overflow));
        #[allow(unsafe_code)]
        schedule.run(crew, |number, group| {
            let number = first + number;
            let PlannedPass { integrate, pass, moved, ends_substep, .. } = passes[number];
            let tally = *tally && ends_substep;
            let elapsed = moved as f32 * rows.step;
            match group {
                Some(group) => {
                    // SAFETY: the schedule lets only one task at a time have a tile's contacts and the bodies of this
                    // tile and the next.
                    let tile = unsafe { &mut tiles.range(group..group + 1)[0] };
                    if group.is_multiple_of(2) {
                        // SAFETY: the schedule gives this tile's bodies to this task alone.
                        unsafe {
                            let slots = tile.slots.start..tile.next_end;
                            self::integrate(level, rows, slots, integrate);
                        }
                    }
                    // SAFETY: the schedule gives this tile's bodies to this task alone. The tile's blocks name no other
                    // bodies that move, and only rows that exist (`ImpulseSolver::solve` asserts it).
                    unsafe { run_pass(level, tile, rows, pass, elapsed, ends_substep) };
                    if tally {
                        tile.tally_strikes();
                    }
                }
                None => {
                    // The large bodies are integrated ahead, because the tiles' next pass reads them.
                    let next = passes.get(number + 1).map_or(Integrate::Nothing, |next| next.integrate);
                    // SAFETY: the overflow task runs alone. Its blocks name only rows that exist
                    // (`ImpulseSolver::solve` asserts it).
                    unsafe {
                        let overflow = &mut overflow.range(0..1)[0];
                        run_pass(level, overflow, rows, pass, elapsed, ends_substep);
                        if tally {
                            overflow.tally_strikes();
                        }
                        self::integrate(level, rows, large.clone(), next);
                    }
                }
            }
        });
    }
}

/// Runs one pass over a tile's contacts, with the kernels of this level.
///
/// # Safety
///
/// The same as for [`impulse::run`].
#[allow(unsafe_code)]
unsafe fn run_pass(level: Level, tile: &mut Tile, rows: &Rows<'_>, pass: Pass, elapsed: f32, last: bool) {
    // SAFETY: the caller guarantees that it has this tile and its bodies to itself.
    unsafe {
        if tile.has_bundles() {
            manifold::bundle::before(tile, rows, pass, elapsed);
        }
        with_lanes!(level, L => impulse::run::<L>(tile, rows, pass, elapsed));
        if tile.has_bundles() {
            if pass == Pass::WarmStart {
                with_lanes!(level, L => manifold::bundle::find::<L>(tile, rows));
            }
            manifold::bundle::after(tile, rows, pass, elapsed, last);
        }
    }
}
