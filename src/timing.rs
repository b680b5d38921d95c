//! The stages of a step, the time that each took, and the spans in which each worker was busy. Spans are recorded only while a
//! host asks for them.

use crate::base::clock::Instant;
use std::sync::Mutex;

/// The largest number of threads of a crew.
pub(crate) const MAX_SHARES: usize = 64;

/// The stages of a step. Their order here is that of records, not that of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// In timings: copies the bodies to the solver's rows, and places their shapes. In a [`Difference`](crate::Difference): the
    /// order of space and the bounds with their margins, which the broadphase made.
    Bounds,
    /// Takes in added and removed bodies. Pairs bodies that left their margins anew, or makes a new pair list: order of space,
    /// margins, pairs. At the end of a step, finds the pairs of the list that the next step needs.
    Broadphase,
    /// Tests which candidates come near, then computes normals, separations and points of the contacts.
    Narrowphase,
    /// Makes the blocks of a new pair list: impulses carried over, colours, layout. In each step, finds seams, asks the hooks, notes what
    /// is struck, and finds the begin and end events.
    Contacts,
    /// Makes the passes over contacts, joints, links and hulls, with the integration, and breaks what bore too much. Then writes velocities
    /// and positions back. Continuous collision counts here.
    Solver,
    /// Wakes what is touched, counts for how long bodies have been at rest, finds islands and puts them to sleep, and finds what is in
    /// sensors. (A list that is made
    /// again because something woke counts here, too.)
    Islands,
}

impl Stage {
    /// All stages, in the order of the enum.
    pub const ALL: [Stage; 6] = [
        Stage::Bounds,
        Stage::Broadphase,
        Stage::Narrowphase,
        Stage::Contacts,
        Stage::Solver,
        Stage::Islands,
    ];

    /// The name of the stage, as in run records.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Bounds => "bounds",
            Stage::Broadphase => "broadphase",
            Stage::Narrowphase => "narrowphase",
            Stage::Contacts => "contacts",
            Stage::Solver => "solver",
            Stage::Islands => "islands",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The time that each stage of the last step took, in seconds. A stage that has next to nothing to do counts for the stage before it: to read the
/// clock would take longer. On wasm32-unknown-unknown, which has no clock, all times are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// [`Stage::Bounds`]
    pub bounds: f64,
    /// [`Stage::Broadphase`]
    pub broadphase: f64,
    /// [`Stage::Narrowphase`]
    pub narrowphase: f64,
    /// [`Stage::Contacts`]
    pub contacts: f64,
    /// [`Stage::Solver`]
    pub solver: f64,
    /// [`Stage::Islands`]
    pub islands: f64,
    /// The whole step.
    pub total: f64,
}

impl Timings {
    fn of_mut(&mut self, stage: Stage) -> &mut f64 {
        match stage {
            Stage::Bounds => &mut self.bounds,
            Stage::Broadphase => &mut self.broadphase,
            Stage::Narrowphase => &mut self.narrowphase,
            Stage::Contacts => &mut self.contacts,
            Stage::Solver => &mut self.solver,
            Stage::Islands => &mut self.islands,
        }
    }
}

/// A span of time in which a worker was busy with a stage of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The stage.
    pub stage: Stage,
    /// The number of the worker. 0 is the thread that called [`World::step`](crate::World::step); its spans are the stages, one
    /// after the other.
    pub worker: usize,
    /// The start, s after the start of the step.
    pub start: f64,
    /// The length, s.
    pub duration: f64,
}

/// The records of the workers of a step.
pub(crate) struct Trace {
    /// The stages, and the time at which each ended.
    stages: Mutex<Vec<(Stage, Instant)>>,
    /// For each of the other workers, the times in which it was busy: start and end.
    workers: [Mutex<Vec<(Instant, Instant)>>; MAX_SHARES],
    /// The spans of the last step.
    pub spans: Vec<Span>,
}

impl Trace {
    pub(crate) fn new() -> Trace {
        Trace {
            stages: Mutex::new(Vec::new()),
            workers: [const { Mutex::new(Vec::new()) }; MAX_SHARES],
            spans: Vec::new(),
        }
    }

    /// Records that the leading thread is done with a stage.
    pub(crate) fn stage_ends(&self, stage: Stage, now: Instant) {
        // Here and below: a lock is poisoned only by a panic, which ends the step anyway.
        if let Ok(mut stages) = self.stages.lock() {
            stages.push((stage, now));
        }
    }

    /// Records that a worker was busy from `start` until now.
    #[cfg(feature = "parallel")]
    pub(crate) fn busy(&self, worker: usize, start: Instant) {
        if let Ok(mut busy) = self.workers[worker].lock() {
            busy.push((start, Instant::now()));
        }
    }

    /// Makes the spans of a step that began at `begin`.
    pub(crate) fn finish(&mut self, begin: Instant) {
        let seconds = |time: Instant| time.saturating_duration_since(begin).as_secs_f64();
        self.spans.clear();
        let Ok(stages) = self.stages.get_mut() else { return };
        let mut start = 0.0;
        for &(stage, end) in stages.iter() {
            let end = seconds(end);
            self.spans.push(Span { stage, worker: 0, start, duration: end - start });
            start = end;
        }
        stages.clear();
        let stages = self.spans.len();
        for (worker, busy) in self.workers.iter_mut().enumerate() {
            let Ok(busy) = busy.get_mut() else { continue };
            for (from, to) in busy.drain(..) {
                // A stage begins only when the one before it is done. So a busy time that is longer than a stage is cut.
                for index in 0..stages {
                    let Span { stage, start, duration, .. } = self.spans[index];
                    let (from, to) = (seconds(from).max(start), seconds(to).min(start + duration));
                    if from < to {
                        self.spans.push(Span { stage, worker, start: from, duration: to - from });
                    }
                }
            }
        }
    }
}

/// A stopwatch for the stages of a step.
pub(crate) struct Clock<'a> {
    start: Instant,
    /// The start of the present stage.
    since: Instant,
    /// The present stage; none until the first one begins.
    stage: Option<Stage>,
    timings: Timings,
    trace: Option<&'a Trace>,
}

impl<'a> Clock<'a> {
    /// Starts the clock of a step.
    pub(crate) fn start(trace: Option<&'a Trace>) -> Self {
        let now = Instant::now();
        Clock { start: now, since: now, stage: None, timings: Timings::default(), trace }
    }

    /// Ends the present stage and begins this one. The first stage begins with the step.
    pub(crate) fn enter(&mut self, stage: Stage) {
        match self.stage {
            Some(present) if present == stage => return,
            Some(present) => self.lap(present),
            None => {}
        }
        self.stage = Some(stage);
    }

    fn lap(&mut self, stage: Stage) {
        let now = Instant::now();
        if let Some(trace) = self.trace {
            trace.stage_ends(stage, now);
        }
        *self.timings.of_mut(stage) += now.duration_since(self.since).as_secs_f64();
        self.since = now;
    }

    /// Ends the step. Returns when it began, and the times that its stages took.
    pub(crate) fn stop(mut self) -> (Instant, Timings) {
        self.lap(self.stage.unwrap_or(Stage::Islands));
        self.timings.total = self.since.duration_since(self.start).as_secs_f64();
        (self.start, self.timings)
    }
}
