//! Telemetry: what the last step did, in figures that are cheap enough to be read after each step; and how well it solved the contacts.

use super::World;
use crate::contacts::{BLOCK, SERIAL};
use crate::lane::with_lanes;
use crate::narrowphase::NO_CONTACT;
use crate::timing::Timings;

/// What the last step did. All counts are of its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// The number of steps taken since the start.
    pub steps: u64,
    /// How long each stage took.
    pub timings: Timings,
    /// Steps taken with the present pair list: 1 after the step that made it, which costs several ordinary steps. Steps in which all
    /// sleeps do not count.
    pub list_age: u32,
    /// The number of bodies that forces move and that are awake, particles included.
    pub awake: usize,
    /// The number of bodies that sleep.
    pub asleep: usize,
    /// The number of islands that sleep. ([`World::island_count`] counts those that are awake as well, and takes longer.)
    pub sleeping_islands: usize,
    /// The number of pairs in the list.
    pub pairs: usize,
    /// The number of pairs of shapes that were near enough to be solved, without those of hulls.
    pub contacts: usize,
    /// The number of these that touched.
    pub touching: usize,
    /// The number of contacts of hulls.
    pub hull_contacts: usize,
    /// The number of blocks of sixteen contacts in which at least one was solved.
    pub blocks: usize,
    /// The part of the lanes of these blocks that were solved, in 0..=1; 0 without blocks.
    pub lane_fill: f32,
    /// The number of contacts that were solved one after the other, because their bodies have too many neighbours, or because they fit in
    /// no tile and are few.
    pub serial_contacts: usize,
    /// The largest number of colours of contacts of one kind in a tile.
    pub colours: usize,
    /// The number of tiles of space.
    pub tiles: usize,
    /// The number of joints that were solved.
    pub joints: usize,
    /// The number of links.
    pub links: usize,
}

/// How well the last step solved the contacts, and the energy of the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// The number of contact points that bore an impulse in the last substep.
    pub points: usize,
    /// Mean speed at which these points still approach each other at the end of the step, m/s; those that part count as 0.
    pub mean_approach: f64,
    /// The largest such speed, m/s.
    pub max_approach: f64,
    /// Mean depth of the contact points that overlapped at the start of the step, m.
    pub mean_penetration: f64,
    /// The largest such depth, m.
    pub max_penetration: f64,
    /// The kinetic energy of all bodies with a mass, linear and angular, J.
    pub kinetic_energy: f64,
    /// The potential energy of all bodies with a mass in the world's gravity, J: 0 where the position times gravity is 0.
    pub potential_energy: f64,
}

impl World {
    /// What the last step did. Looks at one number for each block of contacts and at one for each body: cheap enough to stay on.
    ///
    /// ```
    /// use granule::{Settings, World, scene};
    ///
    /// let mut world = scene::builtin("pile", 500, 1).unwrap().build()?;
    /// for _ in 0..60 {
    ///     world.step();
    ///     let figures = world.telemetry();
    ///     println!("{} contacts in {:.2} ms", figures.contacts, 1e3 * figures.timings.total);
    /// }
    /// assert!(world.telemetry().lane_fill > 0.3);
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn telemetry(&self) -> Telemetry {
        let mut figures = Telemetry {
            steps: self.step_count,
            timings: self.timings,
            list_age: self.broadphase.bounds.steps,
            awake: self.awake_count(),
            asleep: self.bodies.asleep_count,
            sleeping_islands: self.sleep.len(),
            hull_contacts: self.hull_solver.contacts().len(),
            tiles: self.contacts.tiles().len(),
            joints: self.joint_solver.len(),
            links: self.links.len(),
            ..Telemetry::default()
        };
        for tile in self.contacts.all() {
            figures.pairs += tile.found.pairs.len();
            for info in tile.info.iter().filter(|info| info.active != 0) {
                let lanes = info.active.count_ones() as usize;
                figures.blocks += 1;
                figures.contacts += lanes;
                figures.touching += info.touching.count_ones() as usize;
                if usize::from(info.colour) == SERIAL {
                    figures.serial_contacts += lanes;
                } else {
                    figures.colours = figures.colours.max(usize::from(info.colour) + 1);
                }
            }
        }
        if figures.blocks > 0 {
            figures.lane_fill = figures.contacts as f32 / (figures.blocks * BLOCK) as f32;
        }
        figures
    }

    /// Measures how well the last step solved the contacts of the bodies that are awake, without those of hulls, and the energy of all
    /// bodies. Looks at all contacts and bodies: for now and then. [`World::quality`] measures the present depths, also after edits.
    pub fn residual(&self) -> Residual {
        let mut residual = Residual::default();
        let (mut deep, mut depths, mut approaches) = (0usize, 0.0, 0.0);
        let vel = &self.solver.mirror.vel;
        for tile in self.contacts.all() {
            for block in (0..tile.info.len()).filter(|&block| tile.info[block].active != 0) {
                let speeds = with_lanes!(self.level, L => tile.approach_speeds::<L>(vel, block));
                for lane in (0..BLOCK).filter(|lane| tile.info[block].active >> lane & 1 == 1) {
                    for (point, speeds) in speeds.iter().enumerate() {
                        let separation = tile.point_separation(block, lane, point);
                        if separation >= NO_CONTACT {
                            continue;
                        }
                        if separation < 0.0 {
                            deep += 1;
                            depths -= f64::from(separation);
                            residual.max_penetration = residual.max_penetration.max(-f64::from(separation));
                        }
                        if tile.point_impulse(block, lane, point) > 0.0 {
                            let approach = f64::from(speeds[lane].max(0.0));
                            residual.points += 1;
                            approaches += approach;
                            residual.max_approach = residual.max_approach.max(approach);
                        }
                    }
                }
            }
        }
        residual.mean_approach = approaches / residual.points.max(1) as f64;
        residual.mean_penetration = depths / deep.max(1) as f64;
        self.measure_energy(&mut residual);
        residual
    }

    fn measure_energy(&self, residual: &mut Residual) {
        let mut quality = super::Quality::default();
        self.measure_motion(&mut quality);
        residual.kinetic_energy = quality.kinetic_energy;
        let c = &self.bodies.columns;
        let gravity = self.settings.gravity.as_dvec2();
        for (_, slot) in self.bodies.by_index() {
            let inv_mass = self.bodies.own_inv_mass(slot);
            if inv_mass > 0.0 {
                let pull = f64::from(c.gravity_scale[slot]) / f64::from(inv_mass);
                residual.potential_energy -= pull * gravity.dot(self.bodies.position(slot).as_dvec2());
            }
        }
    }
}
