//! The passes of the solver over all joints: one colour after the other, its blocks shared out among the threads.

use super::JointSolver;
use super::gear::GearBlock;
use super::line::LineBlock;
use super::pivot::PivotBlock;
use super::slide::{SlideBlock, WheelBlock};
use super::store::{Colour, STORES, Store, each_store, with_store};
use super::sweep::{BEGIN, Block, Constants, JointPass, RELAX, SOLVE, STRIKE, TURN, TURN_STRUCK, sweep};
use super::weld::WeldBlock;
use crate::contacts::BLOCK;
use crate::crew::{Crew, SharedSlice};
use crate::isa::Level;
use crate::lane::with_lanes;
use crate::solver::rows::Rows;
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks of a colour that one thread takes at a time.
const CHUNK_BLOCKS: usize = 16;

impl JointSolver {
    /// Does a pass over all joints. Returns true if a joint is struck: see `sweep.rs`.
    pub(crate) fn pass(&mut self, pass: JointPass, rows: &Rows<'_>, level: Level, crew: &Crew<'_>) -> bool {
        // What the kernels ask for: see `Ends::look_up`.
        let [bodies, _, total] = self.rows;
        assert!(
            rows.vel.len() == total
                && rows.accum.len() == total
                && rows.pose.len() > bodies
                && rows.frame.len() > bodies
        );
        assert!(!rows.any_damping || rows.damp.len() == total);
        let mut constants = Constants {
            inv_step: rows.inv_step,
            ratio: rows.impulse_ratio,
            first: matches!(pass, JointPass::Begin | JointPass::Solve | JointPass::Turn),
            strike: 0.0,
            threshold: rows.restitution_threshold,
            struck: &AtomicBool::new(false),
        };
        match pass {
            JointPass::Begin => self.pass_of::<BEGIN>(rows, &constants, level, crew),
            JointPass::Solve | JointPass::SolveAgain => self.pass_of::<SOLVE>(rows, &constants, level, crew),
            JointPass::Turn => {
                self.move_stand_ins(rows);
                self.pass_of::<TURN>(rows, &constants, level, crew);
            }
            JointPass::Relax => self.pass_of::<RELAX>(rows, &constants, level, crew),
            JointPass::TurnStruck => {
                self.move_stand_ins(rows);
                self.pass_of::<TURN_STRUCK>(rows, &constants, level, crew);
            }
            JointPass::RelaxStruck => self.pass_of::<STRIKE>(rows, &constants, level, crew),
            JointPass::Strike | JointPass::Settle => {
                constants.strike = if pass == JointPass::Strike { 2.0 } else { 1.0 };
                self.pass_of::<STRIKE>(rows, &constants, level, crew);
            }
            JointPass::Nothing => {}
        }
        constants.struck.load(Ordering::Relaxed)
    }

    /// Moves the stand-ins as far as the bodies that they stand in for.
    #[allow(unsafe_code)]
    fn move_stand_ins(&self, rows: &Rows<'_>) {
        let first = self.rows[1] + STORES;
        // SAFETY: no other thread is at work.
        let (poses, stand_ins) =
            unsafe { (rows.pose.range(0..first), rows.pose.range(first..first + self.stand_ins.len())) };
        for (pose, &slot) in stand_ins.iter_mut().zip(&self.stand_in_slots) {
            *pose = poses.get(slot as usize).copied().unwrap_or_default();
        }
    }

    #[allow(unsafe_code)]
    fn pass_of<const PASS: usize>(
        &mut self,
        rows: &Rows<'_>,
        constants: &Constants<'_>,
        level: Level,
        crew: &Crew<'_>,
    ) {
        let mut colours = 0;
        each_store!([&self], _, store => colours = colours.max(store.colours.len()));
        for colour in 0..colours {
            let shared = SharedColour::of(self, colour);
            let mut counts = [0; STORES];
            each_store!([&shared], number, blocks => counts[number] = blocks.chunks());
            crew.run(counts.iter().sum(), |mut item| {
                let mut store = 0;
                while item >= counts[store] {
                    item -= counts[store];
                    store += 1;
                }
                // SAFETY: each item is another chunk of blocks. No two joints of a colour move the same body, and an end that nothing
                // moves has a row of its own. The rows exist (asserted by `pass`, and by `Ends::look_up`). A store's padding row is in
                // one block of a colour only.
                unsafe {
                    with_store!([&shared], store, blocks => blocks.sweep::<PASS>(item, rows, constants, level));
                }
            });
        }
        // SAFETY: this thread alone is at work, one joint after the other. The rows exist (asserted by `pass`, and by `Ends::look_up`).
        unsafe {
            each_store!([&mut self], _, store => store.serial.one_by_one::<PASS>(rows, constants));
        }
    }
}

/// The joints of a colour, of which several threads take chunks.
struct SharedColour<'a> {
    pivots: SharedStore<'a, PivotBlock>,
    slides: SharedStore<'a, SlideBlock>,
    wheels: SharedStore<'a, WheelBlock>,
    lines: SharedStore<'a, LineBlock>,
    gears: SharedStore<'a, GearBlock>,
    welds: SharedStore<'a, WeldBlock>,
}

impl<'a> SharedColour<'a> {
    fn of(solver: &'a mut JointSolver, colour: usize) -> Self {
        let JointSolver { pivots, slides, wheels, lines, gears, welds, .. } = solver;
        SharedColour {
            pivots: SharedStore::of(pivots, colour),
            slides: SharedStore::of(slides, colour),
            wheels: SharedStore::of(wheels, colour),
            lines: SharedStore::of(lines, colour),
            gears: SharedStore::of(gears, colour),
            welds: SharedStore::of(welds, colour),
        }
    }
}

/// Those of one store.
struct SharedStore<'a, B> {
    blocks: SharedSlice<'a, B>,
    features: &'a [u32],
    used: usize,
}

impl<'a, B: Block> SharedStore<'a, B> {
    fn of(store: &'a mut Store<B>, colour: usize) -> Self {
        match store.colours.get_mut(colour) {
            Some(Colour { blocks, lanes, used }) => {
                SharedStore { blocks: SharedSlice::new(blocks), features: &lanes.features, used: *used }
            }
            None => SharedStore { blocks: SharedSlice::new(&mut []), features: &[], used: 0 },
        }
    }

    fn chunks(&self) -> usize {
        self.blocks.len().div_ceil(CHUNK_BLOCKS)
    }

    /// # Safety
    ///
    /// No other thread has this chunk. Beyond that as for [`sweep`].
    #[allow(unsafe_code)]
    unsafe fn sweep<const PASS: usize>(
        &self,
        chunk: usize,
        rows: &Rows<'_>,
        constants: &Constants<'_>,
        level: Level,
    ) {
        let first = chunk * CHUNK_BLOCKS;
        let range = first..(first + CHUNK_BLOCKS).min(self.blocks.len());
        let used = self.used - first * BLOCK;
        // SAFETY: the caller guarantees that no other thread has this chunk or the rows of its ends. Joints of a colour move no body
        // twice, so lanes share no row.
        unsafe {
            let blocks = self.blocks.range(range.clone());
            with_lanes!(level, L => sweep::<L, B, PASS>(blocks, &self.features[range], used, rows, constants));
        }
    }
}

impl<B: Block> Colour<B> {
    /// Solves the joints one after the other.
    ///
    /// # Safety
    ///
    /// As for [`sweep`].
    #[allow(unsafe_code)]
    unsafe fn one_by_one<const PASS: usize>(&mut self, rows: &Rows<'_>, constants: &Constants<'_>) {
        if self.used > 0 {
            // SAFETY: the caller guarantees that the rows exist and that no other thread has them. The joints are swept one by one, so lanes
            // share no row.
            unsafe {
                sweep::<f32, B, PASS>(&mut self.blocks, &self.lanes.features, self.used, rows, constants)
            };
        }
    }
}
