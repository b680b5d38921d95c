//! The progress bar, on standard error, if that is a terminal.

use super::style::Style;
use granule::World;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// The time from one update of the live figures to the next.
const FIGURES_EVERY: Duration = Duration::from_millis(150);
/// The time from one measurement of the penetration to the next. It is also at least `DEPTH_COST` times as long as one
/// measurement takes.
const DEPTH_EVERY: Duration = Duration::from_millis(1000);
const DEPTH_COST: u32 = 50;
/// The weight of the last step in the live step time.
const NEWEST: f64 = 0.05;

pub struct Progress {
    bar: ProgressBar,
    live: RefCell<Live>,
}

/// The figures in the line under the bar.
struct Live {
    step_ms: Option<f64>,
    max_depth: f64,
    shown: Instant,
    measured: Instant,
    /// The time that the last measurement of the penetration took.
    cost: Duration,
}

impl Progress {
    pub fn new(steps: u64) -> Progress {
        let stderr = io::stderr();
        let target =
            if stderr.is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let colours = if Style::of(&stderr).is_on() { ".cyan/dim" } else { "" };
        let template = format!(
            "{{msg:9}} {{bar:40{colours}}} {{pos}}/{{len}} steps, {{per_sec}}, {{eta}} left{{prefix}}"
        );
        // Only the colours vary in the template. If it were refused, the bar would look plain.
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        let now = Instant::now();
        let live = Live { step_ms: None, max_depth: 0.0, shown: now, measured: now, cost: Duration::ZERO };
        Progress { bar, live: RefCell::new(live) }
    }

    /// Names what the next steps are for.
    pub fn phase(&self, name: &'static str) {
        self.bar.set_message(name);
    }

    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Shows live figures from time to time. Call it after a step that took `step`, outside of what is measured.
    ///
    /// The penetration is not a by-product of the step. Measuring it is a pass over all pairs, takes some tenths of a
    /// step, and leaves the caches cold for the next step. So it is measured about once a second, that is, in one of
    /// some hundred steps, which no percentile of the step times up to the 99th can show. Without a terminal, as in all
    /// runs that scripts file, it is not measured at all.
    pub fn figures(&self, world: &World, step: Duration) {
        if self.bar.is_hidden() {
            return;
        }
        let mut live = self.live.borrow_mut();
        let newest = 1e3 * step.as_secs_f64();
        let step_ms = live.step_ms.map_or(newest, |old| old + NEWEST * (newest - old));
        let first = live.step_ms.replace(step_ms).is_none();
        let now = Instant::now();
        if !first && now - live.shown < FIGURES_EVERY {
            return;
        }
        live.shown = now;
        if first || now - live.measured >= DEPTH_EVERY.max(DEPTH_COST * live.cost) {
            live.max_depth = world.quality().max_penetration;
            live.measured = Instant::now();
            live.cost = live.measured - now;
        }
        let bodies = world.body_count() + world.particle_count();
        let ns = 1e6 * step_ms / bodies.max(1) as f64;
        let (contacts, depth) = (world.contact_count(), 1e3 * live.max_depth);
        self.bar.set_prefix(format!(
            "\n          {step_ms:.2} ms/step, {ns:.0} ns/body, {contacts} contacts, {depth:.1} mm deepest"
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
