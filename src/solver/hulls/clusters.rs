//! Clusters: a hull's particles and the particles linked with them. A blow on the hull is passed on to its cluster.

use crate::base::codec::{Read, require};
use crate::body::Bodies;
use crate::particles::hulls::Hulls;
use crate::particles::links::{LinkDesc, LinkKind, Links};
use std::collections::VecDeque;
use std::ops::Range;

/// The largest numbers of particles and of links of a cluster.
pub(super) const POINTS: usize = 16;
const LINKS: usize = 48;

/// The particles to which a hull's blows are passed on.
#[derive(Clone, Default)]
pub(super) struct Cluster {
    /// The hull's own particles come first.
    pub(super) points: Range<usize>,
    pub(super) links: Range<usize>,
    /// Whether every particle is linked to every other.
    pub(super) rigid: bool,
}

crate::base::codec::stored!(Cluster { points, links, rigid });

/// The cluster of each hull.
#[derive(Default)]
pub(super) struct Clusters {
    /// The clusters, by the hull's index.
    pub(super) list: Vec<Cluster>,
    /// The handle indices of bodies.
    pub(super) points: Vec<u32>,
    /// The two ends of each link: numbers of points within the cluster.
    pub(super) links: Vec<[u8; 2]>,
    /// Pairs of a hull's index and the handle index of a particle that is linked to a corner of the hull, sorted.
    attached: Vec<[u32; 2]>,
}

crate::base::codec::stored!(Clusters { list, points, links, attached });

/// Tells whether a link passes a blow on at once.
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
    /// The handle indices of the particles in the cluster of a hull that are not its own `corners`.
    pub(super) fn around(&self, hull: u32, corners: usize) -> &[u32] {
        let cluster = self.list.get(hull as usize).map_or(0..0, |cluster| cluster.points.clone());
        self.points.get(cluster).and_then(|points| points.get(corners..)).unwrap_or(&[])
    }

    /// Checks what a snapshot said: there are so many handle indices of bodies.
    pub(super) fn check(&self, bodies: usize) -> Read {
        let within = |range: &Range<usize>, len: usize| range.start <= range.end && range.end <= len;
        for Cluster { points, links, .. } in &self.list {
            let fits = within(points, self.points.len())
                && within(links, self.links.len())
                && points.len() <= POINTS;
            require!(fits, "a cluster of the points {points:?}");
            let of = &self.points[points.clone()];
            let is_twice = (1..of.len()).any(|at| of[..at].contains(&of[at]));
            require!(!is_twice, "a cluster has a particle twice");
            let ends = self.links[links.clone()].iter().flatten();
            require!(ends.clone().all(|&end| usize::from(end) < points.len()), "a cluster's link has no end");
        }
        require!(
            self.points.iter().all(|&body| (body as usize) < bodies),
            "a cluster has a body that is none"
        );
        Ok(())
    }

    /// Builds the clusters anew if hulls or links were added or removed.
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
        for (_, link) in links.solved(bodies).filter(|(_, link)| is_stiff(link, bodies)) {
            ends.extend([[link.a.index, link.b.index], [link.b.index, link.a.index]]);
        }
        ends.sort_unstable();
        let linked = |body: u32| {
            let first = ends.partition_point(|end| end[0] < body);
            ends[first..].iter().take_while(move |end| end[0] == body).map(|end| end[1])
        };
        self.attach(hulls, links, bodies);
        self.list.clear();
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
                    let known = self.links[first_link..].contains(&[a, b]);
                    if b > a && !known && self.links.len() - first_link < LINKS {
                        self.links.push([a, b]);
                    }
                }
            }
            let (points, links) = (first..self.points.len(), first_link..self.links.len());
            let rigid = 2 * links.len() == points.len() * (points.len() - 1);
            self.list.resize(handle.index() as usize, Cluster::default());
            self.list.push(Cluster { points, links, rigid });
        }
    }

    /// Finds the particles that are linked to the hulls' corners.
    fn attach(&mut self, hulls: &Hulls, links: &Links, bodies: &Bodies) {
        let particle = |body| bodies.slot_of(body).is_ok_and(|slot| bodies.columns.kind[slot].is_particle());
        let mut ends: Vec<[u32; 2]> = Vec::new();
        for (_, link) in links.solved(bodies).filter(|(_, link)| particle(link.a) && particle(link.b)) {
            ends.extend([[link.a.index, link.b.index], [link.b.index, link.a.index]]);
        }
        ends.sort_unstable();
        self.attached.clear();
        for (handle, hull) in hulls.iter() {
            for corner in hull.points() {
                let first = ends.partition_point(|end| end[0] < corner.index);
                let others = ends[first..].iter().take_while(|end| end[0] == corner.index);
                self.attached.extend(others.map(|end| [handle.index(), end[1]]));
            }
        }
        self.attached.sort_unstable();
    }

    pub(super) fn any_attached(&self) -> bool {
        !self.attached.is_empty()
    }

    /// Tells whether a particle, given by its handle's index, is linked to a corner of a hull. Such a hull and particle
    /// do not touch: the link alone decides their distance. (When they touched, the hub of a polygon, inside its rim,
    /// drove the polygon to 70 kJ.)
    pub(super) fn is_attached(&self, hull: u32, body: u32) -> bool {
        self.attached.binary_search(&[hull, body]).is_ok()
    }

    /// Tells whether two clusters have no particle in common.
    pub(super) fn apart(&self, one: &Cluster, other: &Cluster) -> bool {
        let points = &self.points[other.points.clone()];
        !self.points[one.points.clone()].iter().any(|point| points.contains(point))
    }
}
