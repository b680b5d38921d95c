//! The layout of links: order, tiles, colours, blocks. It is built anew when links or bodies were added or removed.

use super::graph::Graph;
use super::{Anchored, BLOCK, LinkTile, NO_LINK, Node, RigidBlock, SoftBlock, TILE_BODIES, Verlet};
use crate::base::colours::pick;
use crate::base::room::resize;
use crate::body::Bodies;
use crate::crew::CHUNK;
use crate::particles::links::{LinkDesc, LinkHandle, LinkKind, Links};
use glam::Vec2;
use std::ops::Range;

/// The number of colours of a tile. Links for which no colour is free are solved one by one.
const COLOURS: usize = 31;
const SERIAL: usize = COLOURS;

impl Verlet {
    /// Orders the linked bodies and makes tiles and blocks.
    pub(super) fn build(&mut self, links: &mut Links, bodies: &Bodies) {
        links.forget_removed(bodies);
        links.changed = false;
        let graph = Graph::new(links, bodies);
        let order = graph.order();
        self.nodes.clear();
        self.tiles.clear();
        let mut place = vec![0u32; graph.bodies.len()];
        for (index, &vertex) in order.vertices.iter().enumerate() {
            place[vertex as usize] = index as u32;
            self.nodes.push(Node { body: graph.bodies[vertex as usize], slot: 0 });
        }
        let mut start = 0;
        for &end in &order.level_ends {
            if end - start >= TILE_BODIES || end == self.nodes.len() {
                self.tiles.push(LinkTile { nodes: start..end, ..LinkTile::default() });
                start = end;
            }
        }
        let padded = self.nodes.len() + self.tiles.len();
        for column in [&mut self.moved, &mut self.base] {
            column.clear();
            resize(column, padded);
        }
        self.fill_tiles(links, &graph, &place, bodies);
        let any_anchored = self.tiles.iter().any(|tile| !tile.anchored.is_empty());
        for column in [&mut self.turned, &mut self.radius] {
            column.clear();
            resize(column, if any_anchored { self.nodes.len() } else { 0 });
        }
        self.list_live();
    }

    /// Lists the nodes that live tiles name: those of each such tile, and of the next one.
    pub(super) fn list_live(&mut self) {
        self.live.clear();
        for (index, tile) in self.tiles.iter().enumerate() {
            if tile.live || index > 0 && self.tiles[index - 1].live {
                let Range { start, end } = tile.nodes;
                self.live.extend((start..end).step_by(CHUNK).map(|from| from..end.min(from + CHUNK)));
            }
        }
    }

    /// Distributes the links to their tiles and lays the tiles out.
    fn fill_tiles(&mut self, links: &Links, graph: &Graph, place: &[u32], bodies: &Bodies) {
        let mut of_tile: Vec<Vec<OrderedLink>> = Vec::new();
        of_tile.resize_with(self.tiles.len(), Vec::new);
        for (&[a, b], (handle, link)) in graph.edges.iter().zip(links.solved(bodies)) {
            let (a, b) = (place[a as usize], place[b as usize]);
            let tile = self.tiles.partition_point(|tile| tile.nodes.end <= a.min(b) as usize);
            of_tile[tile].push(OrderedLink { a, b, handle, link: *link });
        }
        let inv_mass =
            |body: &Node| bodies.slot_at(body.body).map_or(0.0, |slot| bodies.columns.inv_mass[slot]);
        let inv_masses: Vec<f32> = self.nodes.iter().map(inv_mass).collect();
        let padding = self.nodes.len() as u32;
        let tiles = self.tiles.len();
        for (index, mut placed) in of_tile.into_iter().enumerate() {
            placed.sort_by_key(|link| (link.a.min(link.b), link.a.max(link.b), link.handle.index));
            let next_end = self.tiles[(index + 1).min(tiles - 1)].nodes.end;
            self.tiles[index].lay_out(&placed, next_end, padding + index as u32, &inv_masses);
        }
    }
}

/// A link with the places of its bodies in the order.
struct OrderedLink {
    a: u32,
    b: u32,
    handle: LinkHandle,
    link: LinkDesc,
}

impl OrderedLink {
    fn is_anchored(&self) -> bool {
        self.link.anchor_a != Vec2::ZERO || self.link.anchor_b != Vec2::ZERO
    }

    fn is_rigid(&self) -> bool {
        self.link.kind == LinkKind::Distance
            && self.link.compliance == 0.0
            && self.link.break_force.is_infinite()
    }

    /// The range of λ.
    fn range(&self) -> [f32; 2] {
        match self.link.kind {
            LinkKind::Distance => [f32::NEG_INFINITY, f32::INFINITY],
            LinkKind::Min => [0.0, f32::INFINITY],
            LinkKind::Max => [f32::NEG_INFINITY, 0.0],
        }
    }
}

/// The lanes of links in blocks, by colours: no two links of a block share a body.
struct LinkLanes {
    /// The lane of each link: block × 16 + lane.
    of: Vec<u32>,
    blocks: usize,
    /// The first block whose lanes may share a body.
    serial: usize,
}

impl LinkLanes {
    /// Colours links greedily. The nodes of the tile begin at `first`. `taken` has an entry for each node that the
    /// links may have.
    fn colour(links: &[&OrderedLink], first: usize, taken: &mut [u32]) -> LinkLanes {
        taken.fill(0);
        let mut counts = [0usize; COLOURS + 1];
        let colour = |link: &&OrderedLink| {
            let colour = pick(taken, [link.a, link.b].into_iter().map(|node| node as usize - first), COLOURS);
            counts[colour] += 1;
            colour
        };
        let colours: Vec<usize> = links.iter().map(colour).collect();
        let mut next = [0usize; COLOURS + 1];
        let (mut blocks, mut serial) = (0, 0);
        for (colour, next) in next.iter_mut().enumerate() {
            if colour == SERIAL {
                serial = blocks;
            }
            *next = blocks * BLOCK;
            blocks += counts[colour].div_ceil(BLOCK);
        }
        let of = colours.into_iter().map(|colour| {
            next[colour] += 1;
            (next[colour] - 1) as u32
        });
        LinkLanes { of: of.collect(), blocks, serial }
    }
}

impl LinkTile {
    /// Makes the blocks of these links.
    fn lay_out(&mut self, links: &[OrderedLink], next_end: usize, padding: u32, inv_masses: &[f32]) {
        let first = self.nodes.start;
        let mut taken = vec![0u32; next_end - first];
        let (anchored, centred): (Vec<&OrderedLink>, Vec<&OrderedLink>) =
            links.iter().partition(|link| link.is_anchored());
        let (rigid, soft): (Vec<&OrderedLink>, Vec<&OrderedLink>) =
            centred.into_iter().partition(|link| link.is_rigid());
        self.lay_out_rigid(&rigid, &LinkLanes::colour(&rigid, first, &mut taken), padding, inv_masses);
        self.lay_out_soft(&soft, &LinkLanes::colour(&soft, first, &mut taken), padding, inv_masses);
        self.lay_out_anchored(&anchored, inv_masses);
        self.note_places();
        self.breaks = links.iter().any(|link| link.link.break_force.is_finite());
    }

    /// Notes the highest places in the blocks and in the anchored links, and whether some of them may move.
    pub(super) fn note_places(&mut self) {
        let moves = |parts: &[f32; BLOCK]| parts.iter().any(|&part| part != 0.0);
        self.live = self.rigid.iter().any(|block| moves(&block.by_a) || moves(&block.by_b))
            || self.soft.iter().any(|block| moves(&block.inv_mass_a) || moves(&block.inv_mass_b))
            || self.anchored.iter().any(|link| link.inv_masses != [0.0; 2]);
        let blocks = self.rigid.iter().map(|block| [block.a, block.b]);
        let blocks = blocks.chain(self.soft.iter().map(|block| [block.a, block.b]));
        let after = |highest: usize, place: u32| highest.max(place as usize + 1);
        self.places = blocks.flatten().flatten().fold(0, after);
        self.anchored_places = self.anchored.iter().flat_map(|link| link.nodes).fold(0, after);
    }

    fn lay_out_rigid(&mut self, links: &[&OrderedLink], lanes: &LinkLanes, padding: u32, inv_masses: &[f32]) {
        let empty = [0.0; BLOCK];
        let none = RigidBlock {
            a: [padding; BLOCK],
            b: [padding; BLOCK],
            way_x: empty,
            way_y: empty,
            length: empty,
            by_a: empty,
            by_b: empty,
        };
        self.rigid = vec![none; lanes.blocks];
        self.rigid_serial = lanes.serial;
        self.rigid_links = vec![NO_LINK; self.rigid.len() * BLOCK];
        for (link, &lane) in links.iter().zip(&lanes.of) {
            self.rigid_links[lane as usize] = link.handle.index;
            let (block, lane) = (&mut self.rigid[lane as usize / BLOCK], lane as usize % BLOCK);
            (block.a[lane], block.b[lane]) = (link.a, link.b);
            block.length[lane] = link.link.length;
            let [of_a, of_b] = [link.a, link.b].map(|node| inv_masses[node as usize]);
            if of_a + of_b > 0.0 {
                let gain = link.link.stiffness / (of_a + of_b);
                (block.by_a[lane], block.by_b[lane]) = (gain * of_a, gain * of_b);
            }
        }
    }

    fn lay_out_soft(&mut self, links: &[&OrderedLink], lanes: &LinkLanes, padding: u32, inv_masses: &[f32]) {
        let empty = [0.0; BLOCK];
        let none = SoftBlock {
            a: [padding; BLOCK],
            b: [padding; BLOCK],
            way_x: empty,
            way_y: empty,
            length: empty,
            inv_mass_a: empty,
            inv_mass_b: empty,
            compliance: empty,
            stiffness: empty,
            lambda: empty,
            lowest: empty,
            highest: empty,
            break_force: [f32::INFINITY; BLOCK],
            link: [NO_LINK; BLOCK],
        };
        self.soft = vec![none; lanes.blocks];
        self.soft_serial = lanes.serial;
        for (link, &lane) in links.iter().zip(&lanes.of) {
            let (block, lane) = (&mut self.soft[lane as usize / BLOCK], lane as usize % BLOCK);
            (block.a[lane], block.b[lane]) = (link.a, link.b);
            block.length[lane] = link.link.length;
            block.inv_mass_a[lane] = inv_masses[link.a as usize];
            block.inv_mass_b[lane] = inv_masses[link.b as usize];
            block.compliance[lane] = link.link.compliance;
            block.stiffness[lane] = link.link.stiffness;
            [block.lowest[lane], block.highest[lane]] = link.range();
            block.break_force[lane] = link.link.break_force;
            block.link[lane] = link.handle.index;
        }
    }

    fn lay_out_anchored(&mut self, links: &[&OrderedLink], inv_masses: &[f32]) {
        let anchored = links.iter().map(|placed| {
            let link = &placed.link;
            let [lowest, highest] = placed.range();
            Anchored {
                nodes: [placed.a, placed.b],
                anchors: [link.anchor_a, link.anchor_b],
                way: Vec2::ZERO,
                angles: [0.0; 2],
                inv_masses: [placed.a, placed.b].map(|node| inv_masses[node as usize]),
                inv_inertias: [0.0; 2],
                length: link.length,
                compliance: link.compliance,
                stiffness: link.stiffness,
                lambda: 0.0,
                lowest,
                highest,
                break_force: link.break_force,
                link: placed.handle.index,
            }
        });
        self.anchored = anchored.collect();
    }
}
