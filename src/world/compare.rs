//! Finds where two worlds differ: compares their last steps stage by stage, in the order of the step.

use super::World;
use crate::body::BodyHandle;
use crate::broadphase::sweep::Pair;
use crate::contacts::{SecondPoint, Tile};
use crate::joints::table::Joint;
use crate::solver::joints::ends_of;
use crate::timing::Stage;

/// The first difference between the last steps of two worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The stage whose result differs first.
    pub stage: Stage,
    /// A body whose value differs.
    pub body: BodyHandle,
    /// The other body, if the value belongs to a pair.
    pub partner: Option<BodyHandle>,
    /// The name of the value.
    pub field: &'static str,
    /// The value in the first world.
    pub a: f32,
    /// The value in the second world.
    pub b: f32,
    /// The distance between the two values, in floats: 1 for neighbours.
    pub ulps: u64,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { stage, body, partner, field, a, b, ulps } = self;
        write!(f, "stage {stage}, body {}", body.index())?;
        if let Some(partner) = partner {
            write!(f, " against body {}", partner.index())?;
        }
        let plural = if *ulps == 1 { "ULP" } else { "ULPs" };
        write!(f, ", {field}: {a:?} and {b:?}, {ulps} {plural} apart")
    }
}

/// Returns the distance in units in the last place: 0 for equal bits, 1 for neighbours. +0 and −0 are neighbours, too.
fn ulps(a: f32, b: f32) -> u64 {
    let ordered = |v: f32| {
        let bits = i64::from(v.to_bits() & 0x7FFF_FFFF);
        if v.is_sign_negative() { -1 - bits } else { bits }
    };
    ordered(a).abs_diff(ordered(b))
}

struct Comparison<'a> {
    one: &'a World,
    two: &'a World,
}

impl World {
    /// Compares the last steps of two worlds that should be equal. Returns the first stage in which they differ, with
    /// the first body in the order of storage whose value differs, or `None` if they are equal.
    pub fn first_difference(&self, other: &World) -> Option<Difference> {
        let comparison = Comparison { one: self, two: other };
        comparison
            .bounds()
            .or_else(|| comparison.broadphase())
            .or_else(|| comparison.narrowphase())
            .or_else(|| comparison.contacts())
            .or_else(|| comparison.solver())
            .or_else(|| comparison.islands())
    }
}

impl Comparison<'_> {
    fn difference(&self, stage: Stage, slot: usize, field: &'static str, a: f32, b: f32) -> Difference {
        let world = if slot < self.one.bodies.len { self.one } else { self.two };
        let body = if slot < world.bodies.len { world.bodies.handle(slot) } else { BodyHandle::default() };
        Difference { stage, body, partner: None, field, a, b, ulps: ulps(a, b) }
    }

    fn pair_difference(&self, stage: Stage, pair: &Pair, field: &'static str, a: f32, b: f32) -> Difference {
        let partner = Some(self.one.bodies.handle(pair.b as usize));
        Difference { partner, ..self.difference(stage, pair.a as usize, field, a, b) }
    }

    fn columns(&self, stage: Stage, field: &'static str, one: &[f32], two: &[f32]) -> Option<Difference> {
        let slot = one.iter().zip(two).position(|(a, b)| a.to_bits() != b.to_bits());
        match slot {
            Some(slot) => Some(self.difference(stage, slot, field, one[slot], two[slot])),
            None if one.len() != two.len() => {
                let slot = one.len().min(two.len());
                Some(self.difference(stage, slot, "count", one.len() as f32, two.len() as f32))
            }
            None => None,
        }
    }

    fn bounds(&self) -> Option<Difference> {
        let (one, two) = (&self.one.bodies, &self.two.bodies);
        let (c, d) = (&one.columns, &two.columns);
        if let Some(slot) = (0..one.len.min(two.len)).find(|&slot| c.handle[slot] != d.handle[slot]) {
            let [a, b] = [c, d].map(|columns| columns.handle[slot].index as f32);
            return Some(self.difference(Stage::Bounds, slot, "order", a, b));
        }
        let (e, f) = (&self.one.broadphase.bounds, &self.two.broadphase.bounds);
        [
            ("leeway", &e.leeway, &f.leeway),
            ("built_x", &e.built_x, &f.built_x),
            ("built_y", &e.built_y, &f.built_y),
        ]
        .into_iter()
        // Bodies that were added since the last step have no bounds yet.
        .find_map(|(field, a, b)| {
            let [a, b] = [(a, one), (b, two)].map(|(column, bodies)| &column[..bodies.len.min(column.len())]);
            self.columns(Stage::Bounds, field, a, b)
        })
    }

    fn tiles(&self) -> impl Iterator<Item = (&Tile, &Tile)> {
        self.one.contacts.all().zip(self.two.contacts.all())
    }

    fn broadphase(&self) -> Option<Difference> {
        let stage = Stage::Broadphase;
        for (one, two) in self.tiles() {
            let (p, q) = (one.pairs(), two.pairs());
            for (p, q) in p.iter().zip(q) {
                let slot = p.a.min(q.a) as usize;
                if p.a != q.a || p.b != q.b {
                    return Some(self.difference(stage, slot, "partner", p.b as f32, q.b as f32));
                }
                if p.separation.to_bits() != q.separation.to_bits() {
                    return Some(self.pair_difference(stage, p, "separation", p.separation, q.separation));
                }
            }
            if p.len() != q.len() {
                let slot = p.get(q.len()).or(q.get(p.len())).map_or(0, |pair| pair.a as usize);
                return Some(self.difference(stage, slot, "pairs", p.len() as f32, q.len() as f32));
            }
        }
        let [one, two] = [self.one, self.two].map(|world| world.contacts.tiles().len());
        (one != two).then(|| self.difference(stage, 0, "tiles", one as f32, two as f32))
    }

    /// Returns the first pair for which one of the values differs.
    fn lanes<const N: usize>(
        &self,
        stage: Stage,
        values: impl Fn(&Tile, usize, usize) -> [(&'static str, f32); N],
    ) -> Option<Difference> {
        self.tiles().find_map(|(one, two)| {
            (0..one.pairs().len().min(two.pairs().len())).find_map(|i| {
                // Two worlds can differ in which pairs have lanes only if their separations differed a step before.
                let ((block, lane), (other_block, other_lane)) = one.place(i).zip(two.place(i))?;
                let mut pairs =
                    values(one, block, lane).into_iter().zip(values(two, other_block, other_lane));
                pairs
                    .find(|((_, a), (_, b))| a.to_bits() != b.to_bits())
                    .map(|((field, a), (_, b))| self.pair_difference(stage, &one.pairs()[i], field, a, b))
            })
        })
    }

    fn narrowphase(&self) -> Option<Difference> {
        self.lanes(Stage::Narrowphase, |tile, block, lane| {
            let normal = &tile.normal[block];
            [
                ("normal_x", normal.normal_x[lane]),
                ("normal_y", normal.normal_y[lane]),
                ("separation", normal.separation[lane]),
                ("second_separation", second(tile, block).map_or(0.0, |point| point.separation[lane])),
            ]
        })
    }

    fn contacts(&self) -> Option<Difference> {
        self.lanes(Stage::Contacts, |tile, block, lane| {
            let place = (block * crate::contacts::BLOCK + lane) as f32;
            [
                ("lane", place),
                ("normal_mass", tile.normal[block].normal_mass[lane]),
                ("second_normal_mass", second(tile, block).map_or(0.0, |point| point.normal_mass[lane])),
                ("touching", f32::from(tile.info[block].touching >> lane & 1)),
            ]
        })
    }

    fn solver(&self) -> Option<Difference> {
        let impulses = self.lanes(Stage::Solver, |tile, block, lane| {
            let impulse = tile.normal[block].normal_impulse[lane];
            let tangent = tile.friction[block].tangent_impulse[lane];
            let point = second(tile, block);
            [
                ("normal_impulse", impulse),
                ("tangent_impulse", tangent),
                ("second_normal_impulse", point.map_or(0.0, |point| point.normal_impulse[lane])),
            ]
        });
        let (c, d) = (&self.one.bodies.columns, &self.two.bodies.columns);
        let (one, two) = (self.one.bodies.len, self.two.bodies.len);
        impulses.or_else(|| self.joints()).or_else(|| {
            [
                ("vel_x", &c.vel_x, &d.vel_x),
                ("vel_y", &c.vel_y, &d.vel_y),
                ("omega", &c.omega, &d.omega),
                ("pos_x", &c.pos_x, &d.pos_x),
                ("pos_y", &c.pos_y, &d.pos_y),
                ("angle", &c.angle, &d.angle),
            ]
            .into_iter()
            .find_map(|(field, a, b)| self.columns(Stage::Solver, field, &a[..one], &b[..two]))
            .or_else(|| {
                let slot = (0..one.min(two)).find(|&slot| c.turns[slot] != d.turns[slot])?;
                let [a, b] = [c, d].map(|columns| columns.turns[slot] as f32);
                Some(self.difference(Stage::Solver, slot, "turns", a, b))
            })
        })
    }
}

impl Comparison<'_> {
    fn islands(&self) -> Option<Difference> {
        let (one, two) = (&self.one.bodies, &self.two.bodies);
        let (c, d) = (&one.columns, &two.columns);
        let slots = 0..one.len.min(two.len);
        let rest = self.columns(Stage::Islands, "rest", &c.rest[slots.clone()], &d.rest[slots.clone()]);
        rest.or_else(|| {
            let slot = slots.into_iter().find(|&slot| c.island[slot] != d.island[slot])?;
            let [a, b] = [c, d].map(|columns| columns.island[slot] as f32);
            Some(self.difference(Stage::Islands, slot, "island", a, b))
        })
    }
}

impl Comparison<'_> {
    /// Returns the first joint whose force or torque differs, with its body B.
    fn joints(&self) -> Option<Difference> {
        let force = |world: &World, joint: &Joint| {
            let (force, torque) = world.joint_solver.reaction(joint);
            [("joint_force_x", force.x), ("joint_force_y", force.y), ("joint_torque", torque)]
        };
        self.one.joints.iter().zip(self.two.joints.iter()).find_map(|((_, one), (_, two))| {
            let mut values = force(self.one, one).into_iter().zip(force(self.two, two));
            let ((field, a), (_, b)) = values.find(|((_, a), (_, b))| a.to_bits() != b.to_bits())?;
            let slot = ends_of(&one.desc)[1].and_then(|body| self.one.bodies.slot_of(body).ok());
            Some(self.difference(Stage::Solver, slot.unwrap_or(0), field, a, b))
        })
    }
}

/// The second points of a block, where its contacts have two.
fn second(tile: &Tile, block: usize) -> Option<&SecondPoint> {
    tile.manifold_of(block).map(|manifold| &manifold.second)
}
