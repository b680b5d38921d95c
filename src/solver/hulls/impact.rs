//! Blows: fast impacts of hulls, solved at once together with the particles that are linked to them.
//!
//! A blow on a corner of a box of particles is a blow on the whole box: its links pass the blow on at once. If it were
//! solved in the substeps alone, the corner would stop first. Then the links would pull at the corner and lose energy:
//! a third of it was gone before anything bounced. So a pair that meets faster than its weight explains is solved as an
//! impact of two *clusters* (a hull's particles and the particles linked with them), on velocities alone:
//!
//! ```text
//! velocities v ← B·M·v                  what the links allow;  B = W − W·Gᵀ·(G·W·Gᵀ)⁻¹·G·W
//! compression:  normal impulses P ≥ 0 so that no point approaches           projected Gauss–Seidel
//! restitution:  s·P more, so that it returns e² of the energy that P took
//! friction:     within μ·(1 + s)·P at each point, statically if that is enough; else dynamically;
//!               and normal impulses again where friction has turned the bodies towards each other
//! ```
//!
//! W are the inverse masses and G the directions of the links, so B is the response of the clusters to an impulse.
//! Restitution in proportion to the impulses of compression is Poisson's hypothesis. The return of e² of the energy is
//! the hypothesis of W. J. Stronge ("Impact Mechanics", 2000), who applies it at each point. Here it is applied to all
//! points together: s is the positive root of ½·PᵀAP·s² + uᵀP·s = e²·(energy taken), with A and u the inverse masses
//! and velocities of the points. So no energy is made, whatever the order in which the points were solved. Friction
//! minimises the energy within its limits, and makes none either.
//!
//! All values are in double precision, because there is only a handful of points. A small compliance keeps redundant
//! links (the sixth of a box) solvable.

use super::clusters::Clusters;
use super::{Contact, HUNG, State};
use crate::body::Bodies;
use glam::DVec2;
use std::ops::Range;
/// The largest number of sweeps over the points of a pair.
const SWEEPS: usize = 200;
/// The largest number of rounds of friction and normal impulses. (A box that lands on a slope is borne by its lower
/// corner. With 4 rounds the box was not yet at rest at 0.97 of the static angle.)
const ROUNDS: usize = 40;
/// The share of a link's inverse mass that is added as compliance.
const SPARE: f64 = 1.0e-9;

/// A body, a particle of the clusters, or a whole rigid cluster.
struct Node {
    /// The inverse masses along x and y and for the spin. The spin is in the solver's units for a body, and in rad/s
    /// for a cluster.
    inv_masses: [f64; 3],
    velocity: [f64; 3],
    members: Range<usize>,
    /// Whether the node is a body, which has a spin of its own.
    turns: bool,
}

/// A body or a particle of a node.
struct Member {
    slot: usize,
    /// The vector from the node's centre.
    lever: DVec2,
    /// The gain in velocity, in the units of the solver's rows.
    gained: [f32; 3],
}

/// A link between two nodes, and its direction from the first to the second.
struct Bar {
    nodes: [usize; 2],
    direction: [f64; 2],
    /// The first bar for which this bar's row of the factor has an entry, and the index in the factor that an entry for
    /// bar 0 would have.
    first: usize,
    row: usize,
}

/// The speed of a point along a direction, in terms of the nodes' velocities.
type Row = [(usize, [f64; 3]); 4];

/// Memory for one impact.
#[derive(Default)]
pub(super) struct Impact {
    nodes: Vec<Node>,
    members: Vec<Member>,
    bars: Vec<Bar>,
    /// The lower triangle of the Cholesky factor of G·W·Gᵀ, row by row. Each row begins with its first entry that may
    /// differ from 0: bars that share no particle, neither directly nor over bars before them, have no effect on each
    /// other.
    factor: Vec<f64>,
    /// The forces of the links.
    forces: Vec<f64>,
    /// The normal and the tangent of each point.
    rows: Vec<Row>,
    /// B·Jᵀ: the effect of a unit impulse of each row on the nodes.
    responses: Vec<[f64; 3]>,
    /// J·B·Jᵀ.
    inv_masses: Vec<f64>,
    speeds: Vec<f64>,
    impulses: Vec<f64>,
    limits: Vec<f64>,
    /// Whether a hull has a corner that can't move.
    hung: bool,
    /// The energy that compression has taken.
    taken: f64,
}

impl Impact {
    /// Resolves the blow between two hulls, or a hull and a body, at all of their points.
    pub(super) fn resolve(
        &mut self,
        pair: &[Contact],
        restitution: f32,
        clusters: &Clusters,
        state: &mut State<'_>,
        bodies: &Bodies,
    ) {
        self.gather(pair, clusters, state, bodies);
        self.factorize();
        if !self.bars.is_empty() {
            let mut velocities = std::mem::take(&mut self.responses);
            velocities.clear();
            velocities.extend(self.nodes.iter().map(|node| node.velocity));
            self.project(&mut velocities);
            self.nodes.iter_mut().zip(&velocities).for_each(|(node, velocity)| node.velocity = *velocity);
            self.responses = velocities;
        }
        self.respond(pair);
        self.compress();
        self.restore(restitution);
        for _ in 0..ROUNDS {
            self.rub(pair);
            if !self.press(restitution > 0.0) {
                break;
            }
        }
        self.scatter(state);
    }

    /// Returns the node of a body or particle, and the lever of that body or particle in the node.
    fn node(&self, slot: usize) -> Option<(usize, DVec2)> {
        let member = self.members.iter().position(|member| member.slot == slot)?;
        let node = self.nodes.partition_point(|node| node.members.end <= member);
        Some((node, self.members[member].lever))
    }

    fn add_node(&mut self, slot: usize, turns: bool, state: &State<'_>) -> (usize, DVec2) {
        self.node(slot).unwrap_or_else(|| {
            let [x, y, spin, inv_mass] = state.vel[slot].0.map(f64::from);
            let inv_masses = [inv_mass, inv_mass, if turns { 2.0 * inv_mass } else { 0.0 }];
            let first = self.members.len();
            self.members.push(Member { slot, lever: DVec2::ZERO, gained: [0.0; 3] });
            self.nodes.push(Node { inv_masses, velocity: [x, y, spin], members: first..first + 1, turns });
            (self.nodes.len() - 1, DVec2::ZERO)
        })
    }

    /// Adds a cluster whose particles are all linked to each other as one node. The links allow only the motions of a
    /// rigid body. The node gets the rigid motion with the particles' momentum and angular momentum. Returns false if
    /// one of the particles can't move.
    fn add_rigid(&mut self, slots: impl Iterator<Item = usize>, state: &State<'_>, bodies: &Bodies) -> bool {
        let first = self.members.len();
        let (mut mass, mut centre, mut momentum) = (0.0, DVec2::ZERO, DVec2::ZERO);
        for slot in slots {
            let [x, y, _, inv_mass] = state.vel[slot].0.map(f64::from);
            if inv_mass <= 0.0 {
                self.members.truncate(first);
                return false;
            }
            let place = place(slot, state, bodies);
            mass += 1.0 / inv_mass;
            centre += place / inv_mass;
            momentum += DVec2::new(x, y) / inv_mass;
            self.members.push(Member { slot, lever: place, gained: [0.0; 3] });
        }
        centre /= mass;
        let (mut inertia, mut spin) = (0.0, 0.0);
        for member in &mut self.members[first..] {
            member.lever -= centre;
            let [x, y, _, inv_mass] = state.vel[member.slot].0.map(f64::from);
            inertia += member.lever.length_squared() / inv_mass;
            spin += member.lever.perp_dot(DVec2::new(x, y)) / inv_mass;
        }
        let inv_inertia = if inertia > 0.0 { 1.0 / inertia } else { 0.0 };
        let velocity = [momentum.x / mass, momentum.y / mass, spin * inv_inertia];
        let inv_masses = [1.0 / mass, 1.0 / mass, inv_inertia];
        self.nodes.push(Node { inv_masses, velocity, members: first..self.members.len(), turns: false });
        true
    }

    /// Gathers the nodes, links and points of the pair.
    fn gather(&mut self, pair: &[Contact], clusters: &Clusters, state: &State<'_>, bodies: &Bodies) {
        self.nodes.clear();
        self.members.clear();
        self.bars.clear();
        self.hung = false;
        let key = pair[0].key;
        let hulls = [Some(key.1), (key.0 == 0).then_some(key.2)];
        let of = |hull: u32| &clusters.list[hull as usize];
        let apart = match key.0 {
            0 => clusters.apart(of(key.1), of(key.2)),
            _ => !clusters.points[of(key.1).points.clone()].contains(&key.2),
        };
        for hull in hulls.into_iter().flatten() {
            let cluster = of(hull);
            let points = &clusters.points[cluster.points.clone()];
            let slot = |point: u8| {
                bodies.slot_at(points[usize::from(point)]).expect("a cluster's particles are there")
            };
            let all = 0..points.len() as u8;
            if apart && cluster.rigid && self.add_rigid(all.clone().map(slot), state, bodies) {
                continue;
            }
            let first = self.nodes.len();
            for point in all {
                let (node, _) = self.add_node(slot(point), false, state);
                self.hung |= self.nodes[node].inv_masses[0] <= 0.0;
            }
            for &ends in &clusters.links[cluster.links.clone()] {
                let slots = ends.map(slot);
                let node = |end: usize| self.node(slots[end]).expect("just added").0;
                let nodes = if apart { ends.map(|end| first + usize::from(end)) } else { [node(0), node(1)] };
                let way = place(slots[1], state, bodies) - place(slots[0], state, bodies);
                let known = |bar: &Bar| bar.nodes == nodes || bar.nodes == [nodes[1], nodes[0]];
                if way.length_squared() > 0.0 && (apart || !self.bars.iter().any(known)) {
                    self.bars.push(Bar { nodes, direction: way.normalize().to_array(), first: 0, row: 0 });
                }
            }
        }
        self.rows.clear();
        for contact in pair {
            for axis in 0..2 {
                let direction = contact.direction(axis).as_dvec2();
                let mut row: Row = [(0, [0.0; 3]); 4];
                for (i, (side, sign)) in contact.sides.iter().zip([-1.0, 1.0]).enumerate() {
                    let is_body = key.0 == 1 && i == 1;
                    for end in 0..2 {
                        let (node, lever) = self.add_node(side.slots[end] as usize, is_body, state);
                        let share = sign * f64::from(side.shares[end]);
                        let own = if is_body && end == 0 { sign * f64::from(side.arms[axis]) } else { 0.0 };
                        let arm = own + share * lever.perp_dot(direction);
                        row[2 * i + end] = (node, [share * direction.x, share * direction.y, arm]);
                    }
                }
                self.rows.push(row);
            }
        }
    }

    /// Computes G·W·Gᵀ and its factor.
    fn factorize(&mut self) {
        let Impact { nodes, bars, factor, .. } = self;
        factor.clear();
        for i in 0..bars.len() {
            let shares = |other: &Bar| bars[i].nodes.iter().any(|node| other.nodes.contains(node));
            let first = bars[..i].iter().position(shares).unwrap_or(i);
            let start = factor.len();
            for (j, other) in bars[..=i].iter().enumerate().skip(first) {
                let bar = &bars[i];
                let mut sum = 0.0;
                for (&node, sign) in bar.nodes.iter().zip([-1.0, 1.0]) {
                    for (&other_node, other_sign) in other.nodes.iter().zip([-1.0, 1.0]) {
                        if node == other_node {
                            let dot =
                                bar.direction[0] * other.direction[0] + bar.direction[1] * other.direction[1];
                            sum += sign * other_sign * dot * nodes[node].inv_masses[0];
                        }
                    }
                }
                if i == j {
                    // Between two particles that can't move there is nothing to solve.
                    sum = if sum > 0.0 { sum * (1.0 + SPARE) } else { 1.0 };
                    sum -= factor[start..].iter().map(|entry| entry * entry).sum::<f64>();
                    factor.push(sum.max(f64::MIN_POSITIVE).sqrt());
                } else {
                    let from = first.max(other.first);
                    let own = &factor[start + from.min(j) - first..];
                    let others = &factor[other.row + from.min(j) - other.first..];
                    let known = own.iter().zip(others).take(j.saturating_sub(from));
                    sum -= known.map(|(own, other)| own * other).sum::<f64>();
                    let entry = sum / factor[other.row + j - other.first];
                    factor.push(entry);
                }
            }
            (bars[i].first, bars[i].row) = (first, start);
        }
    }

    /// Removes the motions that the links do not allow from velocities.
    fn project(&mut self, velocities: &mut [[f64; 3]]) {
        let (nodes, bars, factor, forces) = (&self.nodes, &self.bars, &self.factor, &mut self.forces);
        forces.clear();
        let row = |bar: &Bar, i: usize| &factor[bar.row..=bar.row + i - bar.first];
        for (i, bar) in bars.iter().enumerate() {
            let [a, b] = bar.nodes.map(|node| velocities[node]);
            let sum = bar.direction[0] * (b[0] - a[0]) + bar.direction[1] * (b[1] - a[1]);
            let (last, known) = row(bar, i).split_last().expect("it has an entry for itself");
            let known = known.iter().zip(&forces[bar.first..]).map(|(entry, force)| entry * force);
            forces.push((sum - known.sum::<f64>()) / last);
        }
        for (i, bar) in bars.iter().enumerate().rev() {
            let (last, others) = row(bar, i).split_last().expect("it has an entry for itself");
            forces[i] /= last;
            let force = forces[i];
            for (entry, other) in others.iter().zip(&mut forces[bar.first..]) {
                *other -= entry * force;
            }
        }
        for (bar, &force) in bars.iter().zip(forces.iter()) {
            for (&node, sign) in bar.nodes.iter().zip([1.0, -1.0]) {
                for (speed, along) in velocities[node].iter_mut().zip(bar.direction) {
                    *speed += sign * force * along * nodes[node].inv_masses[0];
                }
            }
        }
    }

    /// Computes the response to unit impulses at the points.
    fn respond(&mut self, pair: &[Contact]) {
        let (nodes, rows) = (self.nodes.len(), 2 * pair.len());
        let mut responses = std::mem::take(&mut self.responses);
        responses.clear();
        responses.resize(nodes * rows, [0.0; 3]);
        for (i, response) in responses.chunks_mut(nodes).enumerate() {
            for (node, along) in self.rows[i] {
                for ((speed, along), inv_mass) in
                    response[node].iter_mut().zip(along).zip(self.nodes[node].inv_masses)
                {
                    *speed += along * inv_mass;
                }
            }
            self.project(response);
        }
        self.inv_masses.clear();
        self.speeds.clear();
        for i in 0..rows {
            let along = |velocity: &dyn Fn(usize) -> [f64; 3]| {
                let at = |&(node, along): &(usize, [f64; 3])| {
                    let v = velocity(node);
                    along[0] * v[0] + along[1] * v[1] + along[2] * v[2]
                };
                self.rows[i].iter().map(at).sum::<f64>()
            };
            self.speeds.push(along(&|node| self.nodes[node].velocity));
            self.inv_masses.extend(responses.chunks(nodes).map(|response| along(&|node| response[node])));
        }
        if self.hung {
            for (i, response) in responses.chunks(nodes).enumerate() {
                let speed = |velocity: &[f64; 3]| velocity[0].hypot(velocity[1]);
                let fastest = response.iter().map(speed).fold(0.0, f64::max);
                let own = &mut self.inv_masses[i * rows + i];
                *own = own.max(f64::from(HUNG) * fastest);
            }
        }
        self.responses = responses;
        self.impulses.clear();
        self.impulses.resize(rows, 0.0);
    }

    fn add_impulse(&mut self, row: usize, impulse: f64) {
        let rows = self.impulses.len();
        self.impulses[row] += impulse;
        for (speed, inv_masses) in self.speeds.iter_mut().zip(self.inv_masses.chunks(rows)) {
            *speed += inv_masses[row] * impulse;
        }
    }

    fn inv_mass(&self, row: usize) -> f64 {
        self.inv_masses[row * self.impulses.len() + row]
    }

    /// Finds the impulses that leave the least energy, for every second row from `first` on, within the bounds that
    /// `bounds` gives for each row. A row without bounds stays as it is. Returns the largest change of a row's own
    /// speed.
    ///
    /// Most pairs touch at one or two points. There the solution is the minimum of a parabola, or of a paraboloid over
    /// a rectangle. (The friction rows of a box's two points are nearly equal: relaxed one after the other, they took
    /// hundreds of sweeps.)
    fn settle(
        &mut self,
        first: usize,
        bounds: impl Fn(&Impact, usize) -> Option<[f64; 2]>,
        enough: f64,
    ) -> f64 {
        let rows = self.impulses.len();
        let movable = |impact: &Impact, row: usize| {
            bounds(impact, row).filter(|_| impact.inv_mass(row) > 0.0).map(|range| {
                let now = impact.impulses[row];
                range.map(|bound| bound - now)
            })
        };
        if rows == 4 {
            let (i, j) = (first, first + 2);
            if let (Some(of_i), Some(of_j)) = (movable(self, i), movable(self, j)) {
                let matrix = [self.inv_mass(i), self.inv_masses[i * rows + j], self.inv_mass(j)];
                let changes = lowest(matrix, [self.speeds[i], self.speeds[j]], [of_i, of_j]);
                self.add_impulse(i, changes[0]);
                self.add_impulse(j, changes[1]);
                return (changes[0] * matrix[0]).abs().max((changes[1] * matrix[2]).abs());
            }
        }
        let mut most: f64 = 0.0;
        for _ in 0..SWEEPS {
            let (mut change, mut moved): (f64, _) = (0.0, 0);
            for row in (first..rows).step_by(2) {
                let Some([least, largest]) = movable(self, row) else { continue };
                let inv_mass = self.inv_mass(row);
                let by = (-self.speeds[row] / inv_mass).max(least).min(largest);
                self.add_impulse(row, by);
                change = change.max((by * inv_mass).abs());
                moved += 1;
            }
            most = most.max(change);
            if change <= enough || moved <= 1 {
                break;
            }
        }
        most
    }

    /// Solves normal impulses (rows 0, 2, 4 …) until no point approaches, and stores the energy that they take in
    /// `taken`.
    fn compress(&mut self) {
        let rows = self.impulses.len();
        let fastest = (0..rows).step_by(2).map(|row| self.speeds[row].abs()).fold(0.0, f64::max);
        self.limits.clear();
        self.limits.extend_from_slice(&self.speeds);
        self.settle(0, |_, _| Some([0.0, f64::INFINITY]), 1.0e-9 * fastest);
        let before = &self.limits;
        let taken = (0..rows).step_by(2).map(|row| self.impulses[row] * (before[row] + self.speeds[row]));
        self.taken = -0.5 * taken.sum::<f64>();
    }

    /// Increases the impulses in proportion, so that they return e² of the energy that they took.
    fn restore(&mut self, restitution: f32) {
        let rows = self.impulses.len();
        let restitution = f64::from(restitution);
        let wanted = restitution * restitution * self.taken.max(0.0);
        let (mut linear, mut square) = (0.0, 0.0);
        for i in (0..rows).step_by(2) {
            linear += self.impulses[i] * self.speeds[i];
            let gained = |j: usize| self.inv_masses[i * rows + j] * self.impulses[j];
            square += 0.5 * self.impulses[i] * (0..rows).step_by(2).map(gained).sum::<f64>();
        }
        if square > 0.0 && wanted > 0.0 {
            let part = ((linear * linear + 4.0 * square * wanted).sqrt() - linear) / (2.0 * square);
            for row in (0..rows).step_by(2) {
                self.add_impulse(row, part.max(0.0) * self.impulses[row]);
            }
        }
    }

    /// Solves normal impulses again where points approach after friction, and lowers them where points separate without
    /// a bounce. Returns false if there is nothing to do.
    fn press(&mut self, bounces: bool) -> bool {
        self.limits.clear();
        self.limits.extend_from_slice(&self.impulses);
        let bounds = |impact: &Impact, row: usize| match impact.limits[row] {
            _ if !bounces => Some([0.0, f64::INFINITY]),
            // In a bounce, a point that took no impulse does not touch yet.
            least if least > 0.0 => Some([least, f64::INFINITY]),
            _ => None,
        };
        self.settle(0, bounds, 1.0e-7) > 1.0e-7
    }

    /// Solves tangent impulses (rows 1, 3, 5 …).
    fn rub(&mut self, pair: &[Contact]) {
        let limit = |coefficient: f32, normal: f64| f64::from(coefficient) * normal;
        self.limits.clear();
        for (i, contact) in pair.iter().enumerate() {
            self.limits.push(limit(contact.surface.static_friction, self.impulses[2 * i]));
        }
        self.hold();
        let slides = |impact: &Impact, i: usize| impact.impulses[2 * i + 1].abs() >= impact.limits[i];
        // The pair has one state for all points: it slides if no point holds.
        if (0..pair.len()).all(|i| slides(self, i)) {
            for (i, contact) in pair.iter().enumerate() {
                self.add_impulse(2 * i + 1, -self.impulses[2 * i + 1]);
                self.limits[i] = limit(contact.surface.dynamic_friction, self.impulses[2 * i]);
            }
            self.hold();
        }
    }

    /// Solves the tangent impulses that stop the points, within their limits.
    fn hold(&mut self) {
        let bounds = |impact: &Impact, row: usize| {
            let limit = impact.limits[row / 2];
            (limit > 0.0).then_some([-limit, limit])
        };
        self.settle(1, bounds, 1.0e-9);
    }

    /// Writes the velocities to the rows.
    fn scatter(&mut self, state: &mut State<'_>) {
        let nodes = self.nodes.len();
        for (i, node) in self.nodes.iter_mut().enumerate().filter(|(_, node)| node.inv_masses[0] > 0.0) {
            for (response, &impulse) in self.responses.chunks(nodes).zip(&self.impulses) {
                for (velocity, per_impulse) in node.velocity.iter_mut().zip(response[i]) {
                    *velocity += per_impulse * impulse;
                }
            }
            let [x, y, spin] = node.velocity;
            for member in &mut self.members[node.members.clone()] {
                let Member { slot, lever, gained } = member;
                let row = &mut state.vel[*slot].0;
                let own = if node.turns { spin as f32 } else { row[2] };
                let now = [(x - spin * lever.y) as f32, (y + spin * lever.x) as f32, own];
                for axis in 0..3 {
                    gained[axis] = now[axis] - row[axis];
                    row[axis] = now[axis];
                }
            }
        }
    }

    /// Stores the impulses as a blow, which no warm start may repeat: see `verlet.rs`.
    pub(super) fn note_blow(&self, pair: &mut [Contact], state: &mut State<'_>) {
        self.forget_gains(state);
        for (contact, found) in pair.iter_mut().zip(self.impulses.chunks(2)) {
            contact.blow = [found[0] as f32, found[1] as f32];
        }
    }

    /// Stores the impulses as a load. The warm start repeats only their effect on the edges; the links do the rest.
    pub(super) fn note_load(&self, pair: &mut [Contact], state: &mut State<'_>) {
        self.forget_gains(state);
        for (contact, found) in pair.iter_mut().zip(self.impulses.chunks(2)) {
            contact.impulses = [found[0] as f32, found[1] as f32];
            for axis in 0..2 {
                let (direction, impulse) = (contact.direction(axis), contact.impulses[axis]);
                for (side, sign) in contact.sides.iter().zip([-1.0, 1.0]) {
                    for (slot, gains) in side.gains(state.vel, direction, side.arms[axis], sign * impulse) {
                        state.forget(slot, gains.map(|gain| -gain));
                    }
                }
            }
        }
    }

    fn forget_gains(&self, state: &mut State<'_>) {
        for node in self.nodes.iter().filter(|node| node.inv_masses[0] > 0.0) {
            for member in &self.members[node.members.clone()] {
                state.forget(member.slot, member.gained);
            }
        }
    }
}

/// Returns the present position of a body.
fn place(slot: usize, state: &State<'_>, bodies: &Bodies) -> DVec2 {
    let [x, y, ..] = state.pose[slot].0;
    bodies.position(slot).as_dvec2() + DVec2::new(x.into(), y.into())
}

/// Returns the point with the least ½·(a·x² + 2·b·x·y + c·y²) + u·x + v·y in a rectangle; a and c are more than 0.
fn lowest([a, b, c]: [f64; 3], [u, v]: [f64; 2], [of_x, of_y]: [[f64; 2]; 2]) -> [f64; 2] {
    let within = |value: f64, [least, most]: [f64; 2]| least <= value && value <= most;
    // Two redundant points share their load.
    let (a_more, c_more) = (a * (1.0 + SPARE), c * (1.0 + SPARE));
    let determinant = a_more * c_more - b * b;
    let (x, y) = ((b * v - c_more * u) / determinant, (b * u - a_more * v) / determinant);
    if determinant > 0.0 && within(x, of_x) && within(y, of_y) {
        return [x, y];
    }
    // The minimum is on an edge.
    let along = |slope: f64, curve: f64, [least, most]: [f64; 2]| (-slope / curve).max(least).min(most);
    let on_x = of_x.map(|x| [x, along(v + b * x, c, of_y)]);
    let on_y = of_y.map(|y| [along(u + b * y, a, of_x), y]);
    let value = |[x, y]: [f64; 2]| 0.5 * (a * x * x + c * y * y) + b * x * y + u * x + v * y;
    let mut best = ([0.0; 2], f64::INFINITY);
    for place in on_x.into_iter().chain(on_y).filter(|place| place.iter().all(|at| at.is_finite())) {
        if value(place) < best.1 {
            best = (place, value(place));
        }
    }
    best.0
}
