//! The settings of a world, and what a change of them makes stale.

use super::World;
use super::pairs::ListState;
use super::record::Call;
use crate::error::Error;
use crate::isa::{Isa, Level};
use crate::settings::Settings;
use glam::Vec2;

impl World {
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
}
