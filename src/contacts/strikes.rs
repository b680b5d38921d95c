//! Strikes: contacts that are about to be struck, noted before a step is solved, and the impulses that they take in it.
//!
//! ```text
//! before the solver: for each contact that touches: the speed at which its points approach      (lanes)
//!                    faster than the least threshold: noted
//! each substep:      its impulse is added up, after the last pass                               (solver.rs)
//! after the solver:  what took an impulse is an event
//! ```
//!
//! The impulses of a contact at the end of a substep are all that it took in this substep, except for those of a blow, which the solver puts
//! aside: in the `BounceBlock`, and in a world where nothing bounces in `Tile::put_aside`.

use super::{BLOCK, BlockInfo, BounceBlock, NormalBlock, Tile};
use crate::base::room::room_for;
use crate::formula::{parting, parting_by_turns};
use crate::lane::{Lane, Mask, Row, lane_entry};
use crate::narrowphase::NO_CONTACT;

/// A contact whose shapes touch and approach each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strike {
    pub block: u32,
    pub lane: u8,
    /// The point that approaches fastest.
    pub point: u8,
    /// The speed at which it does, before the step is solved.
    pub speed: f32,
    /// The normal impulses of both points, summed up over the substeps.
    pub impulse: f32,
}

/// The speeds at which both points of sixteen contacts approach.
pub(crate) type Speeds = [[f32; BLOCK]; 2];

impl Tile {
    /// Returns the speeds at which the points of a block's contacts approach. Those of inactive lanes, and of points that are not near, mean
    /// nothing.
    ///
    /// # Panics
    ///
    /// Panics if there are fewer rows than the tile's blocks name.
    pub(crate) fn approach_speeds<L: Lane>(&self, vel: &[Row], block: usize) -> Speeds {
        assert!(self.limits.bodies.fits(vel));
        let mut speeds = [[0.0; BLOCK]; 2];
        #[allow(unsafe_code)]
        // SAFETY: the assertion above holds for every row that the tile's blocks name.
        unsafe {
            block_speeds::<L>(self, vel, block, f32::MAX, &mut speeds);
        }
        speeds
    }

    /// Returns which of two points of a contact approaches faster, of those that are near, and its speed.
    pub(crate) fn fastest(&self, block: usize, lane: usize, speeds: &Speeds) -> (u8, f32) {
        let separation = |point: usize| self.point_separation(block, lane, point);
        let speed =
            |point: usize| if separation(point) < NO_CONTACT { speeds[point][lane] } else { f32::MIN };
        if speed(1) > speed(0) { (1, speed(1)) } else { (0, speed(0)) }
    }

    /// The separation of a point of a contact; [`NO_CONTACT`] for one that is not near or does not exist.
    pub(crate) fn point_separation(&self, block: usize, lane: usize, point: usize) -> f32 {
        match point {
            0 => self.normal[block].separation[lane],
            _ => self.manifold_of(block).map_or(NO_CONTACT, |manifold| manifold.second.separation[lane]),
        }
    }

    /// The normal impulse of a point of a contact in the last substep, or of its bounce in the last step.
    pub(crate) fn point_impulse(&self, block: usize, lane: usize, point: usize) -> f32 {
        let bounced = self.bounce.get(block).map_or(0.0, |bounce| bounce.normal_impulse[point][lane]);
        let own = match point {
            0 => self.normal[block].normal_impulse[lane],
            _ => self.manifold_of(block).map_or(0.0, |manifold| manifold.second.normal_impulse[lane]),
        };
        own + bounced
    }

    /// Notes the contacts that touch and approach at `least` or faster.
    pub(crate) fn find_strikes<L: Lane>(&mut self, vel: &[Row], least: f32) {
        let mut strikes = std::mem::take(&mut self.strikes);
        strikes.clear();
        // A few at least, so that the first ones of a tile do not grow it one after the other.
        room_for(&mut strikes, BLOCK.max(self.slots.len() / 8));
        self.put_aside.clear();
        assert!(self.limits.bodies.fits(vel));
        let mut speeds = [[0.0; BLOCK]; 2];
        for block in 0..self.info.len() {
            let touching = self.info[block].touching & self.info[block].active;
            if touching == 0 {
                continue;
            }
            #[allow(unsafe_code)]
            // SAFETY: the assertion above holds for every row that the tile's blocks name.
            let fast = unsafe { block_speeds::<L>(self, vel, block, least, &mut speeds) };
            let mut lanes = touching & fast;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let (point, speed) = self.fastest(block, lane, &speeds);
                if speed >= least {
                    strikes.push(Strike {
                        block: block as u32,
                        lane: lane as u8,
                        point,
                        speed,
                        impulse: 0.0,
                    });
                }
            }
        }
        if !strikes.is_empty() && self.bounce.is_empty() {
            self.put_aside.resize(self.info.len(), [0.0; BLOCK]);
        }
        self.strikes = strikes;
    }

    /// Forgets the strikes of the last step.
    pub(crate) fn forget_strikes(&mut self) {
        self.strikes.clear();
        self.put_aside.clear();
    }

    /// Adds what the noted contacts have taken in a substep.
    pub(crate) fn tally_strikes(&mut self) {
        let mut strikes = std::mem::take(&mut self.strikes);
        for strike in &mut strikes {
            let (block, lane) = (strike.block as usize, usize::from(strike.lane));
            let second = self.manifold_of(block).map_or(0.0, |manifold| manifold.second.normal_impulse[lane]);
            strike.impulse += self.normal[block].normal_impulse[lane] + second;
        }
        self.strikes = strikes;
    }

    /// The whole impulse of a strike in the step that was solved.
    pub(crate) fn impulse_of(&self, strike: &Strike) -> f32 {
        let lane = usize::from(strike.lane);
        let bounced = self.bounce.get(strike.block as usize);
        let sum = |bounce: &BounceBlock| bounce.normal_impulse[0][lane] + bounce.normal_impulse[1][lane];
        let aside = self.put_aside.get(strike.block as usize).map_or(0.0, |aside| aside[lane]);
        strike.impulse + bounced.map_or(0.0, sum) + aside
    }
}

lane_entry! {
    /// Writes the speeds at which the points of a block's contacts approach. Returns the lanes, as bits, in which one of them is at least `least`.
    ///
    /// # Safety
    ///
    /// There must be every row that the tile's blocks name.
    unsafe fn block_speeds[][](tile: &Tile, vel: &[Row], block: usize, least: f32, speeds: &mut Speeds) -> u16 = block_speeds_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn block_speeds_lanes<L: Lane>(
    tile: &Tile,
    vel: &[Row],
    block: usize,
    least: f32,
    speeds: &mut Speeds,
) -> u16 {
    let (normal, info): (&NormalBlock, _) = (&tile.normal[block], &tile.info[block]);
    let manifold = tile.manifold_of(block);
    let least = L::splat(least);
    let mut fast = 0;
    for i in BlockInfo::vectors::<L>(info.active) {
        debug_assert!(normal.a[i..i + L::WIDTH].iter().all(|at| at.row() < vel.len()));
        // SAFETY: the caller guarantees that there is every row that the blocks name. The rows are borrowed, so nobody writes them meanwhile.
        let (a, b) = unsafe {
            let rows = vel.as_ptr();
            (L::gather(rows, &normal.a[i..i + L::WIDTH]), L::gather(rows, &normal.b[i..i + L::WIDTH]))
        };
        let (x, y) = (L::load(&normal.normal_x[i..]), L::load(&normal.normal_y[i..]));
        let straight = -parting(&a, &b, [x, y]);
        match manifold {
            None => {
                straight.store(&mut speeds[0][i..]);
                fast |= straight.ge(least).bits() << i;
            }
            Some(manifold) => {
                for (speeds, arms) in speeds.iter_mut().zip(&manifold.arms.normal) {
                    let (of_a, of_b) = (L::load(&arms[0][i..]), L::load(&arms[1][i..]));
                    let speed = straight - parting_by_turns(&a, &b, [of_a, of_b]);
                    speed.store(&mut speeds[i..]);
                    fast |= speed.ge(least).bits() << i;
                }
            }
        }
    }
    fast as u16
}
