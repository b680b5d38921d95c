//! The graph of the linked bodies, and the order in which it is cut into tiles: breadth first, level after level (E.
//! Cuthill and J. McKee, 1969).

use crate::body::Bodies;
use crate::particles::links::Links;

/// The linked bodies and their links.
pub(super) struct Graph {
    /// The handle index of each vertex, ascending.
    pub bodies: Vec<u32>,
    /// The two vertices of each link, in the links' order.
    pub edges: Vec<[u32; 2]>,
    /// The neighbours of vertex v are `neighbours[start[v]..start[v + 1]]`.
    pub start: Vec<u32>,
    pub neighbours: Vec<u32>,
}

/// The vertices in breadth-first order.
pub(super) struct BreadthFirst {
    pub vertices: Vec<u32>,
    /// The ends of the levels in `vertices`.
    pub level_ends: Vec<usize>,
}

impl Graph {
    pub(super) fn new(links: &Links, of: &Bodies) -> Graph {
        let mut bodies: Vec<u32> =
            links.solved(of).flat_map(|(_, link)| [link.a.index, link.b.index]).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let mut vertex = vec![0u32; bodies.last().map_or(0, |&last| last as usize + 1)];
        for (index, &body) in bodies.iter().enumerate() {
            vertex[body as usize] = index as u32;
        }
        let edges: Vec<[u32; 2]> = links
            .solved(of)
            .map(|(_, link)| [link.a, link.b].map(|body| vertex[body.index as usize]))
            .collect();
        let mut start = vec![0u32; bodies.len() + 1];
        for &end in edges.iter().flatten() {
            start[end as usize + 1] += 1;
        }
        for index in 0..bodies.len() {
            start[index + 1] += start[index];
        }
        let mut next = start.clone();
        let mut neighbours = vec![0u32; 2 * edges.len()];
        for &[a, b] in &edges {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        Graph { bodies, edges, start, neighbours }
    }

    fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.start[vertex as usize] as usize..self.start[vertex as usize + 1] as usize]
    }

    /// Orders each component from one of its ends. The end is the last vertex that a search from the component's first
    /// vertex finds.
    pub(super) fn order(&self) -> BreadthFirst {
        let mut order =
            BreadthFirst { vertices: Vec::with_capacity(self.bodies.len()), level_ends: Vec::new() };
        let mut seen = vec![0u8; self.bodies.len()];
        for first in 0..self.bodies.len() as u32 {
            if seen[first as usize] == 2 {
                continue;
            }
            let start = order.vertices.len();
            self.search(first, 1, &mut seen, &mut order);
            let last = order.vertices.last().copied().unwrap_or(first);
            order.vertices.truncate(start);
            while order.level_ends.last().is_some_and(|&end| end > start) {
                order.level_ends.pop();
            }
            self.search(last, 2, &mut seen, &mut order);
        }
        order
    }

    /// Appends all vertices that can be reached from a vertex, level by level.
    fn search(&self, from: u32, mark: u8, seen: &mut [u8], order: &mut BreadthFirst) {
        seen[from as usize] = mark;
        let mut level = order.vertices.len();
        order.vertices.push(from);
        while level < order.vertices.len() {
            let end = order.vertices.len();
            order.level_ends.push(end);
            for index in level..end {
                for &neighbour in self.neighbours(order.vertices[index]) {
                    if seen[neighbour as usize] != mark {
                        seen[neighbour as usize] = mark;
                        order.vertices.push(neighbour);
                    }
                }
            }
            level = end;
        }
    }
}
