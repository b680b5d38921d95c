//! What a world can be told: gravity, time step, solver, lanes.

use crate::error::{Error, check_range, check_vec};
use crate::material::Mixing;
use glam::Vec2;

/// Which solver resolves contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Substeps with soft contacts (E. Catto, "Solver2D", 2024).
    Soft,
    /// Velocity iterations, then linear projection of positions: the classical impulse engine.
    Projection,
}

/// How many contacts one instruction works on. Every width gives the same result, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The scalar reference path.
    One,
    /// 128-bit vectors.
    Four,
    /// 256-bit vectors.
    Eight,
    /// 512-bit vectors, or two of 256 bits.
    Sixteen,
}

impl Lanes {
    /// Every width, narrowest first.
    pub const ALL: [Lanes; 4] = [Lanes::One, Lanes::Four, Lanes::Eight, Lanes::Sixteen];

    /// 1, 4, 8 or 16.
    pub const fn width(self) -> usize {
        match self {
            Lanes::One => 1,
            Lanes::Four => 4,
            Lanes::Eight => 8,
            Lanes::Sixteen => 16,
        }
    }

    /// The width for 1, 4, 8 or 16; `None` for any other number.
    pub fn from_width(width: usize) -> Option<Lanes> {
        Lanes::ALL.into_iter().find(|lanes| lanes.width() == width)
    }
}

/// Everything about a world that is not a body. Lengths are metres, times seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Acceleration of every dynamic body, times its gravity scale. Default (0, −10) m/s².
    pub gravity: Vec2,
    /// Length of one [`World::step`](crate::World::step). Default 1/60 s.
    pub time_step: f32,
    /// Substeps per step. Default 4 (soft), 1 (projection).
    pub substeps: u32,
    /// Solver iterations per substep. Default 1 (soft), 10 (projection).
    pub iterations: u32,
    /// Iterations over the links per substep, forth and back in turn. Default 8. A single one can blow up at a
    /// body of many links: take at least 2. `perf-reports/links.md` has stretch against time. Contacts of hulls take half
    /// as many sweeps, rounded up.
    pub link_iterations: u32,
    /// Which solver. Default [`Solver::Soft`].
    pub solver: Solver,
    /// Lane width. Default [`Lanes::Eight`]. No effect on results.
    pub lanes: Lanes,
    /// How the coefficients of two materials combine.
    pub mixing: Mixing,
    /// Frequency of the soft contact as a fraction of the substep rate. Default ⅙: 40 Hz at 4
    /// substeps of a 60 Hz step. A soft contact is a spring of stiffness m·ω², so this decides how
    /// deep a tall pile rests; near ¼, the most there may be, tall piles ring. Contacts with a static or kinematic body
    /// have twice the frequency, at most ¼. `perf-reports/peers-quality.md` has the figures.
    pub contact_frequency_ratio: f32,
    /// Damping ratio of the soft contact; contacts of circles and axis-aligned boxes among themselves, which turn
    /// nobody by pressing, take twice as much. Default 10. More calms tall piles sooner and
    /// moves apart more slowly what overlaps.
    pub damping_ratio: f32,
    /// Speed limit at which soft contacts push overlapping bodies apart, m/s. Default 3.
    pub push_out_speed: f32,
    /// Length below which shapes count as touching; contacts are solved from 4 times this
    /// distance on. Default 0.005 m.
    pub slop: f32,
    /// Approach speed below which restitution is not applied, m/s. Default 1. What rests must not bounce for ever under
    /// its own weight; so the speed that gravity gives in six steps counts in place of a larger threshold, and without gravity
    /// everything bounces.
    pub restitution_threshold: f32,
    /// Fraction of the penetration that the projection solver removes per step, in equal parts per substep. Default 0.2.
    pub projection_percent: f32,
    /// Penetration that the projection solver leaves alone. Default 0.01 m.
    pub projection_slop: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            gravity: Vec2::new(0.0, -10.0),
            time_step: 1.0 / 60.0,
            substeps: 4,
            iterations: 1,
            link_iterations: 8,
            solver: Solver::Soft,
            lanes: Lanes::Eight,
            mixing: Mixing::default(),
            contact_frequency_ratio: 1.0 / 6.0,
            damping_ratio: 10.0,
            push_out_speed: 3.0,
            slop: 0.005,
            restitution_threshold: 1.0,
            projection_percent: 0.2,
            projection_slop: 0.01,
        }
    }
}

impl Settings {
    /// Largest [`Settings::contact_frequency_ratio`].
    pub const MAX_FREQUENCY_RATIO: f32 = 0.25;

    /// The defaults of the classical solver: 1 substep of 10 velocity iterations.
    pub fn projection() -> Self {
        Settings { solver: Solver::Projection, substeps: 1, iterations: 10, ..Settings::default() }
    }

    /// Length of a substep, s.
    pub(crate) fn substep(&self) -> f32 {
        self.time_step / self.substeps as f32
    }

    /// Shapes that are closer than this have a contact, m: they may close their gap in this step, but no more.
    pub(crate) fn speculative_distance(&self) -> f32 {
        4.0 * self.slop
    }

    /// # Errors
    ///
    /// The first field that is not finite or out of range.
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
        check_range("projection_slop", self.projection_slop, 0.0, 1.0e3)
    }
}
