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

use super::Margins;
use super::growth::{BASE_FRACTION, mobilities};
use super::horizon::FIRST_HORIZON;
use crate::body::Bodies;
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, lane_entry, with_lanes};

/// So many fixed bodies may always have large bounds, and one more for each `SHARE` bodies that move.
const FEW_FIXED: usize = 64;
const SHARE: usize = 64;
/// A body that is so many times faster than the root mean square speed is rare.
const COMMON: f32 = 4.0;
/// How far the fastest body may get if there are more fixed bodies, in mean half extents of the moving bodies.
const NO_CONTACT: f32 = 4.0;

/// How the bodies of a world move.
#[derive(Default)]
pub(super) struct Motions {
    pub moving: usize,
    /// The moving bodies that would leave the margin of a body at rest within `FIRST_HORIZON` steps.
    pub lively: usize,
    fixed: usize,
    /// The bodies whose contacts need manifolds.
    pub turning: usize,
    /// The speed of the fastest body.
    speed: f32,
    /// Sums over the moving bodies: of their half extents, of their speeds, and of the squares of these.
    sizes: f32,
    speeds: f32,
    squares: f32,
}

impl Motions {
    pub(super) fn of(bodies: &Bodies, margins: &Margins, level: Level) -> Motions {
        let mut motions = Motions::default();
        let mut lanes = PerLane::default();
        with_lanes!(level, L => measure::<L>(bodies, margins, &mut motions, &mut lanes));
        let PerLane { most, sizes, speeds, squares } = lanes;
        motions.speed = most.iter().fold(0.0, |most, &speed| if speed > most { speed } else { most });
        motions.sizes = sizes.iter().sum();
        motions.speeds = speeds.iter().sum();
        motions.squares = squares.iter().sum();
        motions
    }

    /// The mean speed of the moving bodies.
    pub(super) fn mean_speed(&self) -> f32 {
        self.speeds / self.moving.max(1) as f32
    }

    /// Returns how far out of its bounds a body may be before it is far out: see `strays.rs`.
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

/// What is added up, or compared, in as many lanes as the widest level has, so that it is the same at all levels.
#[derive(Default)]
struct PerLane {
    most: [f32; MAX_WIDTH],
    sizes: [f32; MAX_WIDTH],
    speeds: [f32; MAX_WIDTH],
    squares: [f32; MAX_WIDTH],
}

lane_entry! {
    fn measure[][](
        bodies: &Bodies,
        margins: &Margins,
        motions: &mut Motions,
        lanes: &mut PerLane,
    ) = measure_lanes;
}

#[inline(always)]
fn measure_lanes<L: Lane>(bodies: &Bodies, margins: &Margins, motions: &mut Motions, lanes: &mut PerLane) {
    let c = &bodies.columns;
    let zero = L::splat(0.0);
    let (base, horizon) = (L::splat(margins.base), L::splat(FIRST_HORIZON * margins.time_step));
    let PerLane { most, sizes, speeds, squares } = lanes;
    // What is behind the last body has no mobility.
    for first in (0..bodies.len).step_by(MAX_WIDTH) {
        for lane in (0..MAX_WIDTH).step_by(L::WIDTH) {
            macro_rules! load {
                ($column:ident) => {
                    L::load(&c.$column[first + lane..])
                };
            }
            let mobility = mobilities::<L>(&c.kind[first + lane..]);
            let counts = mobility.abs().gt(zero);
            let moves = counts.and(load!(inv_mass).gt(zero));
            let (x, y) = (load!(vel_x), load!(vel_y));
            let speed = (x * x + y * y).sqrt() + load!(omega).abs() * load!(furthest);
            let speed = L::select(moves, speed, zero);
            let (ext_x, ext_y) = (load!(ext_x), load!(ext_y));
            let leeway = (L::splat(BASE_FRACTION) * ext_x.min(ext_y)).min(base);
            let size = L::select(moves, ext_x.max(ext_y), zero);
            let add = |sums: &mut [f32; MAX_WIDTH], value: L| {
                (L::load(&sums[lane..]) + value).store(&mut sums[lane..]);
            };
            add(speeds, speed);
            add(squares, speed * speed);
            add(sizes, size);
            L::load(&most[lane..]).max(speed).store(&mut most[lane..]);
            motions.moving += moves.bits().count_ones() as usize;
            motions.lively += moves.and((speed * horizon).gt(leeway)).bits().count_ones() as usize;
            motions.fixed += (counts.bits() & !moves.bits()).count_ones() as usize;
            motions.turning += mobility.abs().gt(L::splat(1.5)).bits().count_ones() as usize;
        }
    }
}
