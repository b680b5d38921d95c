//! Spans: which worker was busy with which stage, and when. Recorded only while a host asks for them.

use crate::crew::MAX_SHARES;
use crate::world::{Stage, World};
use std::sync::Mutex;
use std::time::Instant;

/// A time in which a worker was busy with a stage of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The stage.
    pub stage: Stage,
    /// 0 is the thread that called [`World::step`]; its spans are the stages as they follow each other.
    pub worker: usize,
    /// Since the step's begin, s.
    pub start: f64,
    /// s
    pub duration: f64,
}

/// What the workers of a step write down.
pub(crate) struct Trace {
    /// The stages and when each ended.
    stages: Mutex<Vec<(Stage, Instant)>>,
    /// When each of the other workers was busy.
    workers: [Mutex<Vec<(Instant, Instant)>>; MAX_SHARES],
    /// Of the last step.
    spans: Vec<Span>,
}

impl Trace {
    fn new() -> Trace {
        Trace {
            stages: Mutex::new(Vec::new()),
            workers: [const { Mutex::new(Vec::new()) }; MAX_SHARES],
            spans: Vec::new(),
        }
    }

    /// The leading thread is done with a stage.
    pub(crate) fn stage_ends(&self, stage: Stage, now: Instant) {
        // A poisoned lock is a panic's, which ends the step anyway; here and below.
        if let Ok(mut stages) = self.stages.lock() {
            stages.push((stage, now));
        }
    }

    /// A worker was busy until now.
    #[cfg(feature = "parallel")]
    pub(crate) fn busy(&self, worker: usize, start: Instant) {
        if let Ok(mut busy) = self.workers[worker].lock() {
            busy.push((start, Instant::now()));
        }
    }

    /// Makes the spans of a step that began then.
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
                // No stage is begun before the one before it is done: what is longer than one is cut.
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

impl World {
    /// Whether steps record their [`spans`](World::spans): some microseconds a step, and memory that grows with them.
    /// Off at first. No effect on results.
    pub fn set_tracing(&mut self, on: bool) {
        if on != self.trace.is_some() {
            self.trace = on.then(|| Box::new(Trace::new()));
        }
    }

    /// Who was busy with what in the last step, worker by worker, in order of time; nothing unless
    /// [`World::set_tracing`] was called before it.
    pub fn spans(&self) -> &[Span] {
        self.trace.as_ref().map_or(&[], |trace| &trace.spans)
    }
}
