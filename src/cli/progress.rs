//! The progress bar: on standard error, and only when that is a terminal.

use super::style::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};

pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new(steps: u64) -> Progress {
        let stderr = io::stderr();
        let target =
            if stderr.is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let colours = if Style::of(&stderr).is_on() { ".cyan/dim" } else { "" };
        let template =
            format!("{{msg:9}} {{bar:40{colours}}} {{pos}}/{{len}} steps, {{per_sec}}, {{eta}} left");
        // The template is constant but for the colours; a bar without it is still a bar.
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Progress { bar }
    }

    /// What the steps from here on are for.
    pub fn phase(&self, name: &'static str) {
        self.bar.set_message(name);
    }

    pub fn step(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
