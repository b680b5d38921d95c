//! Blows: hulls that meet fast, with what is linked to them, in one go.
//!
//! A blow on a corner of a box of particles is one on the box: its links pass it on at once. Left to the substeps, the corner
//! stops, the links then pull at it and lose what they even out, and a third of the energy is gone before anything bounces.
//! So a pair that meets, faster than by its weight, is solved as an impact of two *clusters*, the hull's particles and
//! those linked with them, on velocities alone:
//!
//! ```text
//! velocities v ← B·M·v                  what the links allow;  B = W − W·Gᵀ·(G·W·Gᵀ)⁻¹·G·W
//! compression:  normal impulses P ≥ 0 so that no point approaches           projected Gauss–Seidel
//! restitution:  s·P more, so that it returns e² of the energy that P took
//! friction:     within μ·(1 + s)·P at each point, statically if that is enough; else dynamically;
//!               and normal impulses again where friction has turned the bodies towards each other
//! ```
//!
//! W are the inverse masses, G the directions of the links, so that B is how the clusters give way to an impulse. That
//! restitution is in proportion to the impulses of compression is Poisson's hypothesis; that it returns e² of the energy is
//! W. J. Stronge's ("Impact Mechanics", 2000), who measures it at each point. Over all points, s is the positive root of
//! ½·PᵀAP·s² + uᵀP·s = e²·(energy taken), with A and u the inverse masses and velocities of the points: whatever the order in which
//! the points were solved, no energy is made. Friction minimises the energy within its limits, and makes none.
//!
//! All in double precision, for a handful of points; links that say the same twice (the sixth of a box) are told apart by a
//! small compliance.

use super::{Contact, State};
use crate::body::Bodies;
use crate::hulls::Hulls;
use crate::links::{LinkDesc, LinkKind, Links};
use std::collections::VecDeque;
use std::ops::Range;

/// Particles and links of a cluster, at most.
const POINTS: usize = 16;
const LINKS: usize = 48;
/// Sweeps over the points of a pair, at most.
const SWEEPS: usize = 200;
/// Turns of friction and normal impulses. (What comes to lie on a slope is borne by its lower corner; with 4 turns a box was not yet
/// at rest at 0.97 of the static angle.)
const ROUNDS: usize = 40;
/// Part of a link's inverse mass that is added as compliance.
const SPARE: f64 = 1.0e-9;

/// What each hull's blows are passed on to.
#[derive(Default)]
pub(super) struct Clusters {
    /// By the hull's index: its points, the hull's own first, and its links.
    ranges: Vec<(Range<usize>, Range<usize>)>,
    /// Handle indices of bodies.
    points: Vec<u32>,
    /// Numbers of points in their cluster.
    links: Vec<[u8; 2]>,
}

/// Passes a blow on at once.
fn is_stiff(link: &LinkDesc, bodies: &Bodies) -> bool {
    let particle = |body| bodies.slot_of(body).is_ok_and(|slot| bodies.columns.kind[slot].is_particle());
    link.kind == LinkKind::Distance
        && link.compliance == 0.0
        && link.stiffness == 1.0
        && link.break_force.is_infinite()
        && particle(link.a)
        && particle(link.b)
}

impl Clusters {
    /// Looks for the clusters when hulls or links came or went.
    pub(super) fn update(
        &mut self,
        hulls: &Hulls,
        renumbered: bool,
        links: &Links,
        relinked: bool,
        bodies: &Bodies,
    ) {
        if !renumbered && !relinked {
            return;
        }
        let mut ends: Vec<[u32; 2]> = Vec::new();
        for (_, link) in links.iter().filter(|(_, link)| is_stiff(link, bodies)) {
            ends.extend([[link.a.index, link.b.index], [link.b.index, link.a.index]]);
        }
        ends.sort_unstable();
        let linked = |body: u32| {
            let first = ends.partition_point(|end| end[0] < body);
            ends[first..].iter().take_while(move |end| end[0] == body).map(|end| end[1])
        };
        self.ranges.clear();
        self.points.clear();
        self.links.clear();
        let mut queue = VecDeque::new();
        for (handle, hull) in hulls.iter() {
            let (first, first_link) = (self.points.len(), self.links.len());
            self.points.extend(hull.points().iter().map(|point| point.index()));
            queue.clear();
            queue.extend(self.points[first..].iter().copied());
            while let Some(body) = queue.pop_front() {
                for other in linked(body) {
                    if self.points.len() - first < POINTS && !self.points[first..].contains(&other) {
                        self.points.push(other);
                        queue.push_back(other);
                    }
                }
            }
            let points = &self.points[first..];
            for (a, &body) in (0u8..).zip(points) {
                for other in linked(body) {
                    let b = points.iter().position(|&point| point == other).map_or(0, |b| b as u8);
                    if b > a && self.links.len() - first_link < LINKS {
                        self.links.push([a, b]);
                    }
                }
            }
            self.ranges.resize(handle.index() as usize, Default::default());
            self.ranges.push((first..self.points.len(), first_link..self.links.len()));
        }
    }
}

/// A body or a particle of the clusters.
struct Node {
    slot: usize,
    /// Along x and y, and of its spin in the solver's measure.
    inv_masses: [f64; 3],
    velocity: [f64; 3],
    /// In the mirror.
    gained: [f32; 3],
}

/// Two nodes, and the direction from the first to the second.
struct Bar {
    nodes: [usize; 2],
    direction: [f64; 2],
}

/// How fast a point moves along a direction, in terms of its nodes.
type Row = [(usize, [f64; 3]); 4];

/// Memory for one impact.
#[derive(Default)]
pub(super) struct Impact {
    nodes: Vec<Node>,
    bars: Vec<Bar>,
    /// The lower triangle of the Cholesky factor of G·W·Gᵀ, row by row.
    factor: Vec<f64>,
    /// Of the links.
    forces: Vec<f64>,
    /// Normal and tangent of each point.
    rows: Vec<Row>,
    /// B·Jᵀ: what a unit impulse of each row does to the nodes.
    responses: Vec<[f64; 3]>,
    /// J·B·Jᵀ.
    inv_masses: Vec<f64>,
    speeds: Vec<f64>,
    impulses: Vec<f64>,
    limits: Vec<f64>,
    /// Energy.
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
        let mut velocities = std::mem::take(&mut self.responses);
        velocities.clear();
        velocities.extend(self.nodes.iter().map(|node| node.velocity));
        self.project(&mut velocities);
        self.nodes.iter_mut().zip(&velocities).for_each(|(node, velocity)| node.velocity = *velocity);
        self.responses = velocities;
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

    fn node(&self, slot: usize) -> Option<usize> {
        self.nodes.iter().position(|node| node.slot == slot)
    }

    fn add_node(&mut self, slot: usize, turns: bool, state: &State<'_>) -> usize {
        self.node(slot).unwrap_or_else(|| {
            let [x, y, spin, inv_mass] = state.vel[slot].0.map(f64::from);
            let inv_masses = [inv_mass, inv_mass, if turns { 2.0 * inv_mass } else { 0.0 }];
            self.nodes.push(Node { slot, inv_masses, velocity: [x, y, spin], gained: [0.0; 3] });
            self.nodes.len() - 1
        })
    }

    /// Nodes, links and points of the pair.
    fn gather(&mut self, pair: &[Contact], clusters: &Clusters, state: &State<'_>, bodies: &Bodies) {
        self.nodes.clear();
        self.bars.clear();
        let key = pair[0].key;
        let hulls = [Some(key.1), (key.0 == 0).then_some(key.2)];
        for hull in hulls.into_iter().flatten() {
            let (points, links) = clusters.ranges[hull as usize].clone();
            let points = &clusters.points[points];
            let slot = |point: u8| {
                bodies.slot_at(points[usize::from(point)]).expect("a cluster's particles are there")
            };
            for point in 0..points.len() as u8 {
                self.add_node(slot(point), false, state);
            }
            for &ends in &clusters.links[links] {
                let slots = ends.map(slot);
                let nodes = slots.map(|slot| self.node(slot).expect("just added"));
                let at = |slot: usize| {
                    let [x, y, ..] = state.pose[slot].0;
                    bodies.position(slot).as_dvec2() + glam::DVec2::new(x.into(), y.into())
                };
                let way = at(slots[1]) - at(slots[0]);
                let known = |bar: &Bar| bar.nodes == nodes || bar.nodes == [nodes[1], nodes[0]];
                if way.length_squared() > 0.0 && !self.bars.iter().any(known) {
                    self.bars.push(Bar { nodes, direction: way.normalize().to_array() });
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
                        let node = self.add_node(side.slots[end] as usize, is_body, state);
                        let share = sign * f64::from(side.shares[end]);
                        let arm = if is_body && end == 0 { sign * f64::from(side.arms[axis]) } else { 0.0 };
                        row[2 * i + end] = (node, [share * direction.x, share * direction.y, arm]);
                    }
                }
                self.rows.push(row);
            }
        }
    }

    /// G·W·Gᵀ and its factor.
    fn factorize(&mut self) {
        let (nodes, bars) = (&self.nodes, &self.bars);
        self.factor.clear();
        for (i, bar) in bars.iter().enumerate() {
            for (j, other) in bars[..=i].iter().enumerate() {
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
                    // Between two that can't move there is nothing to solve.
                    sum = if sum > 0.0 { sum * (1.0 + SPARE) } else { 1.0 };
                }
                for k in 0..j {
                    sum -= self.factor[row(i) + k] * self.factor[row(j) + k];
                }
                let entry =
                    if i == j { sum.max(f64::MIN_POSITIVE).sqrt() } else { sum / self.factor[row(j) + j] };
                self.factor.push(entry);
            }
        }
    }

    /// Takes out of velocities what the links do not allow.
    fn project(&mut self, velocities: &mut [[f64; 3]]) {
        let (nodes, bars, factor, forces) = (&self.nodes, &self.bars, &self.factor, &mut self.forces);
        forces.clear();
        for (i, bar) in bars.iter().enumerate() {
            let [a, b] = bar.nodes.map(|node| velocities[node]);
            let mut sum = bar.direction[0] * (b[0] - a[0]) + bar.direction[1] * (b[1] - a[1]);
            for k in 0..i {
                sum -= factor[row(i) + k] * forces[k];
            }
            forces.push(sum / factor[row(i) + i]);
        }
        for i in (0..bars.len()).rev() {
            let mut sum = forces[i];
            for k in i + 1..bars.len() {
                sum -= factor[row(k) + i] * forces[k];
            }
            forces[i] = sum / factor[row(i) + i];
        }
        for (bar, &force) in bars.iter().zip(forces.iter()) {
            for (&node, sign) in bar.nodes.iter().zip([1.0, -1.0]) {
                for (speed, along) in velocities[node].iter_mut().zip(bar.direction) {
                    *speed += sign * force * along * nodes[node].inv_masses[0];
                }
            }
        }
    }

    /// What unit impulses at the points do.
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

    /// Normal impulses, rows 0, 2, 4 …, until no point approaches. `taken` is the energy that they take.
    fn compress(&mut self) {
        let rows = self.impulses.len();
        let fastest = (0..rows).step_by(2).map(|row| self.speeds[row].abs()).fold(0.0, f64::max);
        self.taken = 0.0;
        for _ in 0..SWEEPS {
            let mut change: f64 = 0.0;
            for row in (0..rows).step_by(2) {
                let (speed, inv_mass) = (self.speeds[row], self.inv_mass(row));
                if inv_mass > 0.0 {
                    let wanted = self.impulses[row] - speed / inv_mass;
                    let by = wanted.max(0.0) - self.impulses[row];
                    self.add_impulse(row, by);
                    self.taken -= 0.5 * by * (speed + self.speeds[row]);
                    change = change.max((by * inv_mass).abs());
                }
            }
            if change <= 1.0e-9 * fastest {
                break;
            }
        }
    }

    /// More of the same impulses, which return e² of the energy that they took.
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

    /// Normal impulses where points approach once more, after friction; and less of them where points part that do not bounce.
    /// False where there is nothing to do.
    fn press(&mut self, bounces: bool) -> bool {
        let mut pressed = false;
        for _ in 0..SWEEPS {
            let mut change: f64 = 0.0;
            for row in (0..self.impulses.len()).step_by(2) {
                let (lacking, inv_mass) = (-self.speeds[row], self.inv_mass(row));
                // What never took an impulse of a bounce is not there yet.
                if inv_mass > 0.0 && !(bounces && (lacking <= 0.0 || self.impulses[row] <= 0.0)) {
                    let by = (self.impulses[row] + lacking / inv_mass).max(0.0) - self.impulses[row];
                    self.add_impulse(row, by);
                    change = change.max((by * inv_mass).abs());
                }
            }
            if change <= 1.0e-7 {
                break;
            }
            pressed = true;
        }
        pressed
    }

    /// Tangent impulses: rows 1, 3, 5 …
    fn rub(&mut self, pair: &[Contact]) {
        let limit = |coefficient: f32, normal: f64| f64::from(coefficient) * normal;
        self.limits.clear();
        for (i, contact) in pair.iter().enumerate() {
            self.limits.push(limit(contact.surface.static_friction, self.impulses[2 * i]));
        }
        self.hold();
        let slides = |impact: &Impact, i: usize| impact.impulses[2 * i + 1].abs() >= impact.limits[i];
        // It is one state for the pair: it slides where no point holds.
        if (0..pair.len()).all(|i| slides(self, i)) {
            for (i, contact) in pair.iter().enumerate() {
                self.add_impulse(2 * i + 1, -self.impulses[2 * i + 1]);
                self.limits[i] = limit(contact.surface.dynamic_friction, self.impulses[2 * i]);
            }
            self.hold();
        }
    }

    /// Tangent impulses that stop the points, within their limits.
    fn hold(&mut self) {
        for _ in 0..SWEEPS {
            let mut change: f64 = 0.0;
            for i in 0..self.limits.len() {
                let row = 2 * i + 1;
                let (limit, inv_mass) = (self.limits[i], self.inv_mass(row));
                if inv_mass > 0.0 && limit > 0.0 {
                    let wanted = self.impulses[row] - self.speeds[row] / inv_mass;
                    let by = wanted.max(-limit).min(limit) - self.impulses[row];
                    self.add_impulse(row, by);
                    change = change.max((by * inv_mass).abs());
                }
            }
            if change <= 1.0e-9 {
                break;
            }
        }
    }

    /// Writes velocities.
    fn scatter(&mut self, state: &mut State<'_>) {
        let nodes = self.nodes.len();
        for (i, node) in self.nodes.iter_mut().enumerate().filter(|(_, node)| node.inv_masses[0] > 0.0) {
            for (response, &impulse) in self.responses.chunks(nodes).zip(&self.impulses) {
                for (velocity, per_impulse) in node.velocity.iter_mut().zip(response[i]) {
                    *velocity += per_impulse * impulse;
                }
            }
            for axis in 0..3 {
                let now = node.velocity[axis] as f32;
                let row = &mut state.vel[node.slot].0[axis];
                node.gained[axis] = now - *row;
                *row = now;
            }
        }
    }

    /// What was found is a blow, which no warm start may repeat: see `verlet.rs`.
    pub(super) fn note_blow(&self, pair: &mut [Contact], state: &mut State<'_>) {
        self.forget_gains(state);
        for (contact, found) in pair.iter_mut().zip(self.impulses.chunks(2)) {
            contact.blow = [found[0] as f32, found[1] as f32];
        }
    }

    /// What was found is a load. The warm start is to repeat what it does to the edges alone: the rest is up to the links.
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
            state.forget(node.slot, node.gained);
        }
    }
}

/// Where a row of a lower triangle begins.
fn row(i: usize) -> usize {
    i * (i + 1) / 2
}
