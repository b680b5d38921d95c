//! What a snapshot holds of the links' solver: the layout, which cannot be found again if links have broken since it was made.

use super::{BLOCK, LinkTile, Verlet};
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::room::resize;
use crate::body::Bodies;
use crate::particles::links::Links;
use std::ops::Range;

impl Verlet {
    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        let Verlet {
            nodes,
            tiles,
            live: _,
            moved: _,
            base: _,
            turned: _,
            radius: _,
            schedule: _,
            slots_moved: _,
        } = self;
        to.mark();
        nodes.write(to);
        to.length(tiles.len());
        for tile in tiles {
            let LinkTile {
                nodes,
                rigid,
                rigid_serial,
                rigid_links: _,
                soft,
                soft_serial,
                anchored,
                breaks,
                live: _,
                places: _,
                anchored_places: _,
            } = tile;
            to.mark();
            to.length(nodes.len());
            to.length(rigid.len());
            to.length(soft.len());
            (*rigid_serial, *soft_serial, *breaks).write(to);
            to.begin_raw();
            to.raw(rigid);
            to.begin_raw();
            to.raw(soft);
            anchored.write(to);
            tile.rigid_links.write(to);
        }
    }

    /// Reads the layout. If links are pending, it is made anew before it is used.
    pub(crate) fn read(&mut self, bodies: &Bodies, links: &Links, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        self.nodes.read(from)?;
        if !links.changed {
            for node in &self.nodes {
                require!(bodies.slot_at(node.body).is_some(), "body {} is linked, and is none", node.body);
                let linked = links.is_linked(node.body);
                require!(linked, "body {} is linked, and does not know it", node.body);
            }
            let mut linked: Vec<u32> = self.nodes.iter().map(|node| node.body).collect();
            linked.sort_unstable();
            require!(linked.windows(2).all(|two| two[0] < two[1]), "a linked body is listed twice");
        }
        let tiles = from.length()?;
        self.tiles.clear();
        let mut start = 0;
        for _ in 0..tiles {
            from.mark()?;
            let mut tile = LinkTile::default();
            let (nodes, rigid, soft) = (from.length()?, from.length()?, from.length()?);
            tile.nodes = start..start + nodes;
            start += nodes;
            (tile.rigid_serial, tile.soft_serial, tile.breaks) = from.value()?;
            let serial = tile.rigid_serial <= rigid && tile.soft_serial <= soft;
            require!(serial, "serial links begin after the last");
            from.begin_raw()?;
            from.raw(&mut tile.rigid, rigid)?;
            from.begin_raw()?;
            from.raw(&mut tile.soft, soft)?;
            tile.anchored.read(from)?;
            tile.rigid_links.read(from)?;
            require!(tile.rigid_links.len() == rigid * BLOCK, "not each rigid link has a name");
            tile.note_places();
            self.tiles.push(tile);
        }
        require!(start == self.nodes.len(), "{start} of {} linked bodies are in tiles", self.nodes.len());
        for index in 0..tiles {
            let next_end = self.tiles[(index + 1).min(tiles - 1)].nodes.end;
            self.tiles[index].check(next_end, self.nodes.len() + index)?;
        }
        let padded = self.nodes.len() + tiles;
        for column in [&mut self.moved, &mut self.base] {
            column.clear();
            resize(column, padded);
        }
        let any_anchored = self.tiles.iter().any(|tile| !tile.anchored.is_empty());
        for column in [&mut self.turned, &mut self.radius] {
            column.clear();
            resize(column, if any_anchored { self.nodes.len() } else { 0 });
        }
        self.list_live();
        self.slots_moved = true;
        Ok(())
    }
}

impl LinkTile {
    /// Checks that the links name bodies of this tile and of the next one, or the tile's padding.
    fn check(&self, next_end: usize, padding: usize) -> Read {
        let own: Range<usize> = self.nodes.start..next_end;
        let blocks = self.rigid.iter().map(|block| [block.a, block.b]);
        let blocks = blocks.chain(self.soft.iter().map(|block| [block.a, block.b]));
        for place in blocks.flatten().flatten() {
            let place = place as usize;
            require!(
                own.contains(&place) || place == padding,
                "a link of body {place}, which is in no tile near"
            );
        }
        for place in self.anchored.iter().flat_map(|link| link.nodes) {
            require!(own.contains(&(place as usize)), "a link of body {place}, which is in no tile near");
        }
        Ok(())
    }
}
