//! The settings of a world: gravity, time step, solver, instruction set.

use crate::error::{Error, check_range, check_vec};
use crate::isa::Isa;
use crate::material::Mixing;
use glam::Vec2;

/// The solver that resolves contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Substeps with soft contacts (E. Catto, "Solver2D", 2024).
    Soft,
    /// Velocity iterations, then linear projection of positions: the classical impulse engine.
    Projection,
}

crate::base::codec::stored_enum!(Solver = Solver::Soft; { 0 => Soft, 1 => Projection });

/// The settings of a world: everything that is not a body, link or hull. Lengths are in metres, times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Acceleration of every dynamic body, times the body's gravity scale. Default (0, −10) m/s².
    pub gravity: Vec2,
    /// Length of one [`World::step`](crate::World::step), s, in 1e-6..=1. Default 1/60.
    pub time_step: f32,
    /// Substeps per step, in 1..=1024. Default 4 (soft), 1 (projection).
    pub substeps: u32,
    /// Solver iterations per substep, in 1..=1024. Default 1 (soft), 10 (projection).
    pub iterations: u32,
    /// Iterations over the links per substep, forward and backward in turn, in 1..=1024. Default 8. Take at least 2: with a
    /// single one, a body with many links can blow up. `perf-reports/links.md` shows stretch against time. Contacts of hulls take
    /// half as many sweeps, rounded up.
    pub link_iterations: u32,
    /// The solver of contacts. Default [`Solver::Soft`].
    pub solver: Solver,
    /// The instruction set of the kernels. Default [`Isa::Auto`]: the best that the processor has. It has no effect on results.
    pub isa: Isa,
    /// The rules that combine the coefficients of two materials.
    pub mixing: Mixing,
    /// Frequency of the soft contact as a fraction of the substep rate, in 1e-4..=¼. Default ⅙: 40 Hz at 4
    /// substeps of a 60 Hz step. A soft contact is a spring of stiffness m·ω², so this decides how
    /// deep a tall pile sinks in. Near ¼ tall piles ring. Contacts with a static or kinematic body
    /// have twice the frequency, at most ¼. `perf-reports/peers-quality.md` has the figures.
    pub contact_frequency_ratio: f32,
    /// Damping ratio of the soft contact, in 0..=1000. Default 10. Contacts of circles, particles, axis-aligned boxes and half-spaces
    /// among themselves take twice as much, because their normal impulses turn no body. More damping calms tall piles sooner, but
    /// overlaps separate more slowly.
    pub damping_ratio: f32,
    /// The largest speed at which soft contacts push overlapping bodies apart, m/s. Default 3.
    pub push_out_speed: f32,
    /// Separation up to which shapes count as touching, m. Default 0.005. Contacts are solved from 4 times this
    /// separation on.
    pub slop: f32,
    /// Approach speed below which restitution is not applied, m/s. Default 1. Bodies at rest must not bounce for ever under
    /// their own weight. If the threshold is larger than the speed that gravity gives in six steps, that speed is used instead. So
    /// without gravity everything bounces.
    pub restitution_threshold: f32,
    /// Fraction of the penetration that the projection solver removes per step, in equal parts per substep, in 0..=1. Default 0.2.
    pub projection_percent: f32,
    /// Penetration that the projection solver leaves alone, m. Default 0.01.
    pub projection_slop: f32,
    /// Whether bodies that have come to rest fall asleep. Default true. A sleeping body costs next to nothing until it wakes: see
    /// [`World::is_awake`](crate::World::is_awake).
    pub sleep: bool,
    /// The speed below which a body is at rest, m/s: that of its centre, and that at which its furthest point turns about it.
    /// Default 0.05. A body that a step has moved by less than such a speed would is at rest up to eight times this speed: where joints and contacts
    /// are at odds, what stays where it is has a speed. What has not moved by a sixteenth of that is, up to 16 times this speed, and so is, up to eight times, what has not left a circle of half a second's way at this speed (2.5 cm) for four seconds and eight
    /// times [`time_to_sleep`](Settings::time_to_sleep). A body may have another threshold: [`BodyDesc::sleep_threshold`](crate::BodyDesc::sleep_threshold).
    pub sleep_threshold: f32,
    /// For how long all bodies of an island have to be at rest before it falls asleep, s. Default 0.5. A body may have another time:
    /// [`BodyDesc::time_to_sleep`](crate::BodyDesc::time_to_sleep).
    pub time_to_sleep: f32,
    /// Whether fast bodies are stopped at static and kinematic shapes that they would pass through within a step, and bullets
    /// ([`BodyDesc::bullet`](crate::BodyDesc::bullet)) at all shapes. Default true.
    pub continuous: bool,
}

// The instruction set has no effect on results, and belongs to the machine.
crate::base::codec::stored!(Settings { gravity, time_step, substeps, iterations, link_iterations, solver, mixing, contact_frequency_ratio, damping_ratio, push_out_speed, slop, restitution_threshold, projection_percent, projection_slop, sleep, sleep_threshold, time_to_sleep, continuous } scratch { isa });

impl Default for Settings {
    fn default() -> Self {
        Settings {
            gravity: Vec2::new(0.0, -10.0),
            time_step: 1.0 / 60.0,
            substeps: 4,
            iterations: 1,
            link_iterations: 8,
            solver: Solver::Soft,
            isa: Isa::Auto,
            mixing: Mixing::default(),
            contact_frequency_ratio: 1.0 / 6.0,
            damping_ratio: 10.0,
            push_out_speed: 3.0,
            slop: 0.005,
            restitution_threshold: 1.0,
            projection_percent: 0.2,
            projection_slop: 0.01,
            sleep: true,
            sleep_threshold: 0.05,
            time_to_sleep: 0.5,
            continuous: true,
        }
    }
}

impl Settings {
    /// Largest [`Settings::contact_frequency_ratio`].
    pub const MAX_FREQUENCY_RATIO: f32 = 0.25;

    /// The default settings of the classical solver: 1 substep of 10 velocity iterations.
    pub fn projection() -> Self {
        Settings { solver: Solver::Projection, substeps: 1, iterations: 10, ..Settings::default() }
    }

    /// Length of a substep, s.
    pub(crate) fn substep(&self) -> f32 {
        self.time_step / self.substeps as f32
    }

    /// The distance below which shapes have a contact, m. They may close their gap in this step but not overlap.
    pub(crate) fn speculative_distance(&self) -> f32 {
        4.0 * self.slop
    }

    /// Checks the values of the settings.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range. Whether the processor has the instruction set is not asked here, but when
    /// a world takes the settings.
    pub fn validate(&self) -> Result<(), Error> {
        check_vec("gravity", self.gravity, 1.0e6)?;
        check_range("time_step", self.time_step, 1.0e-6, 1.0)?;
        check_range("substeps", self.substeps as f32, 1.0, 1024.0)?;
        check_range("iterations", self.iterations as f32, 1.0, 1024.0)?;
        check_range("link_iterations", self.link_iterations as f32, 1.0, 1024.0)?;
        check_range(
            "contact_frequency_ratio",
            self.contact_frequency_ratio,
            1.0e-4,
            Self::MAX_FREQUENCY_RATIO,
        )?;
        check_range("damping_ratio", self.damping_ratio, 0.0, 1.0e3)?;
        check_range("push_out_speed", self.push_out_speed, 0.0, 1.0e6)?;
        check_range("slop", self.slop, 0.0, 1.0e3)?;
        check_range("restitution_threshold", self.restitution_threshold, 0.0, 1.0e6)?;
        check_range("projection_percent", self.projection_percent, 0.0, 1.0)?;
        check_range("projection_slop", self.projection_slop, 0.0, 1.0e3)?;
        check_range("sleep_threshold", self.sleep_threshold, 0.0, 1.0e6)?;
        check_range("time_to_sleep", self.time_to_sleep, 0.0, 1.0e6)
    }
}
