//! Lists of one step, for bodies that fall and tumble so fast that they leave any margin at once.
//!
//! Two moving bodies count in a step if they are nearer than the speculative distance at its start. Their approach
//! speed matters only if one of them is fixed (`contacts/update.rs`). So a list of one step has no candidates, and the
//! bounds of moving bodies are grown by that distance alone. Instead, the bounds of fixed bodies are grown by as far as
//! the fastest body gets in the step, unless that is far and there are many fixed bodies.
//!
//! Such a list costs a half to a third of a list that may live longer, and it costs that in each step. With 3,000
//! compounds that fall in a heap, the 99th percentile of a step went from 7.9 to 4.5 ms, and the mean from 2.9 to 3.1
//! ms.

use super::horizon::FIRST_HORIZON;
use super::{BASE_FRACTION, Growth, Margins};
use crate::body::Bodies;
use crate::geometry::shape::ShapeKind;
use glam::Vec2;

/// So many fixed bodies may always have large bounds, and one more for each `SHARE` bodies that move.
const FEW_FIXED: usize = 64;
const SHARE: usize = 64;
/// A body that is so many times faster than the root mean square speed is rare.
const COMMON: f32 = 4.0;
/// How far the fastest body may get if there are more fixed bodies, in mean half extents of the moving bodies.
const NO_CONTACT: f32 = 4.0;

/// How the bodies of a world move.
pub(super) struct Motions {
    pub moving: usize,
    /// The moving bodies that would leave the margin of a body at rest within `FIRST_HORIZON` steps.
    pub lively: usize,
    fixed: usize,
    /// The speed of the fastest body.
    speed: f32,
    /// Sums over the moving bodies: of their half extents, and of the squares of their speeds.
    sizes: f32,
    squares: f32,
}

impl Motions {
    pub(super) fn of(bodies: &Bodies, margins: &Margins) -> Motions {
        let c = &bodies.columns;
        let mut motions = Motions { moving: 0, lively: 0, fixed: 0, speed: 0.0, sizes: 0.0, squares: 0.0 };
        for slot in (0..bodies.len).filter(|&slot| c.kind[slot].is_collidable()) {
            if c.inv_mass[slot] > 0.0 {
                let turning = c.omega[slot].abs() * c.furthest[slot];
                let speed = Vec2::new(c.vel_x[slot], c.vel_y[slot]).length() + turning;
                let leeway = (BASE_FRACTION * c.ext_x[slot].min(c.ext_y[slot])).min(margins.base);
                motions.lively += usize::from(speed * (FIRST_HORIZON * margins.time_step) > leeway);
                motions.speed = motions.speed.max(speed);
                motions.squares += speed * speed;
                motions.sizes += c.ext_x[slot].max(c.ext_y[slot]);
                motions.moving += 1;
            } else if c.kind[slot].shape() != ShapeKind::HalfSpace {
                motions.fixed += 1;
            }
        }
        motions
    }

    /// Returns how far out of its bounds a body may be before queries test it on its own: see `strays.rs`.
    pub(super) fn near(&self, margins: &Margins) -> f32 {
        COMMON * margins.time_step * (self.squares / self.moving.max(1) as f32).sqrt()
    }

    /// Returns the largest growth of any moving body, or `None` if bounds grown by it would overlap too much.
    pub(super) fn fastest(&self, margins: &Margins) -> Option<f32> {
        let fastest = margins.base + margins.horizon * self.speed + margins.speculative;
        let few = self.fixed <= FEW_FIXED + self.moving / SHARE;
        (few || fastest * self.moving as f32 <= NO_CONTACT * self.sizes).then_some(fastest)
    }
}

impl Growth {
    /// Returns the growth of the same body for a list of one step.
    pub(super) fn fleeting(self, moves: bool, fastest: f32, margins: &Margins) -> Growth {
        // Both bodies of a pair are grown by this: twice what the pair needs, for rounding far from the origin.
        let least = margins.speculative;
        if moves {
            Growth { leeway: least, bounds: least, ..self }
        } else {
            Growth { bounds: self.growth + fastest, ..self }
        }
    }
}
