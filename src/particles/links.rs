//! Links hold two bodies at a fixed, minimum or maximum distance. Ropes, cloth and ragdolls are made of them.
//!
//! A link joins two points, each fixed to a body: the centre of a particle, or an anchor on a body that may turn. It is
//! solved as a constraint on positions (`solver/verlet.rs`) and acts on both of its bodies, according to their masses.
//! This module keeps links in the form that hosts gave. The solver makes its own blocks from them when links or bodies
//! are added or removed.

use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::ensure;
use crate::base::lists::Lists;
use crate::base::table::{Name, Table};
use crate::body::{Bodies, BodyHandle};
use crate::error::{Error, check_range, check_vec};
use glam::Vec2;

/// How a link constrains the distance between its two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The distance equals the length.
    Distance,
    /// The distance is at least the length. Between the far ends of two limbs, this limits their angle.
    Min,
    /// The distance is at most the length: a rope that may hang slack.
    Max,
}

crate::base::codec::stored_enum!(LinkKind = LinkKind::Distance; { 0 => Distance, 1 => Min, 2 => Max });

/// A link between two bodies. Bodies are named by handles, or by places in a list if there is no world yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkDesc<B = BodyHandle> {
    /// The first body, A.
    pub a: B,
    /// The second body, B.
    pub b: B,
    /// The point of A that the link holds: from A's centre, in A's own axes, m. Default: the centre.
    pub anchor_a: Vec2,
    /// The point of B that the link holds: from B's centre, in B's own axes, m. Default: the centre.
    pub anchor_b: Vec2,
    /// Whether `length` is the exact, smallest or largest distance.
    pub kind: LinkKind,
    /// The length of the link, m, in 0..=[`LinkDesc::MAX_LENGTH`].
    pub length: f32,
    /// How much the link yields to a force, m/N, in 0..=1e12. With 0, the default, it is as stiff as the iterations can
    /// make it.
    pub compliance: f32,
    /// The part of the error that an iteration removes, in 0..=1. Default 1.
    pub stiffness: f32,
    /// The force that breaks the link, N. Default: infinite.
    pub break_force: f32,
    /// A number for the host, which the engine does not read. Default 0.
    pub tag: u64,
}

crate::base::codec::stored!(LinkDesc = LinkDesc::distance(BodyHandle::default(), BodyHandle::default(), 0.0); { a, b, anchor_a, anchor_b, kind, length, compliance, stiffness, break_force, tag });

impl<B> LinkDesc<B> {
    /// A link of this kind and length (m) between two centres.
    pub const fn new(kind: LinkKind, a: B, b: B, length: f32) -> Self {
        LinkDesc {
            a,
            b,
            anchor_a: Vec2::ZERO,
            anchor_b: Vec2::ZERO,
            kind,
            length,
            compliance: 0.0,
            stiffness: 1.0,
            break_force: f32::INFINITY,
            tag: 0,
        }
    }

    /// A link that holds two centres at this distance, m.
    pub const fn distance(a: B, b: B, length: f32) -> Self {
        Self::new(LinkKind::Distance, a, b, length)
    }

    /// A link that fixes the centre of `a` to the point `anchor` of `b`: from b's centre, in b's own axes, m.
    pub const fn attach(a: B, b: B, anchor: Vec2) -> Self {
        let mut link = Self::new(LinkKind::Distance, a, b, 0.0);
        link.anchor_b = anchor;
        link
    }

    /// Largest accepted length, m.
    pub const MAX_LENGTH: f32 = 1.0e6;

    /// Returns this link with its two bodies renamed by `name`.
    pub fn map<C>(self, mut name: impl FnMut(B) -> C) -> LinkDesc<C> {
        let LinkDesc { a, b, anchor_a, anchor_b, kind, length, compliance, stiffness, break_force, tag } =
            self;
        LinkDesc {
            a: name(a),
            b: name(b),
            anchor_a,
            anchor_b,
            kind,
            length,
            compliance,
            stiffness,
            break_force,
            tag,
        }
    }
}

impl<B: PartialEq> LinkDesc<B> {
    /// Checks the fields of the link.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range; a link of a body with itself.
    pub fn validate(&self) -> Result<(), Error> {
        check_range("length", self.length, 0.0, Self::MAX_LENGTH)?;
        check_vec("anchor_a", self.anchor_a, Self::MAX_LENGTH)?;
        check_vec("anchor_b", self.anchor_b, Self::MAX_LENGTH)?;
        check_range("compliance", self.compliance, 0.0, 1.0e12)?;
        check_range("stiffness", self.stiffness, 0.0, 1.0)?;
        if self.break_force.is_nan() || self.break_force < 0.0 {
            return Err(Error::OutOfRange {
                field: "break_force",
                value: self.break_force,
                min: 0.0,
                max: f32::INFINITY,
            });
        }
        if self.a == self.b {
            return Err(Error::Invalid { field: "b", reason: "a link needs two different bodies" });
        }
        Ok(())
    }
}

/// The name of a link, valid for as long as the link lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

crate::base::codec::stored!(LinkHandle = LinkHandle { index: 0, generation: 0 }; { index, generation });

/// A link that is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEvent {
    /// The link. Its handle is stale.
    pub link: LinkHandle,
    /// The link's tag.
    pub tag: u64,
    /// Why it is gone.
    pub reason: LinkEnd,
}

/// Why a link is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEnd {
    /// It bore more than its `break_force`.
    Broken {
        /// The amount of the force, N.
        force: f32,
    },
    /// A body that it linked was removed.
    Lost,
}

crate::base::codec::stored_enum!(LinkEnd = LinkEnd::Lost; { 0 => Broken { force: f32 }, 1 => Lost });
crate::base::codec::stored!(LinkEvent = LinkEvent { link: LinkHandle { index: 0, generation: 0 }, tag: 0, reason: LinkEnd::Lost }; { link, tag, reason });

impl LinkHandle {
    /// The index in the handle table. While no link was removed from the world, it counts links in the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// How well the links of a world hold their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkQuality {
    /// The number of links.
    pub links: usize,
    /// The mean, over all links, of violation divided by length. (For a link of length zero: the violation in
    /// metres.)
    pub mean_stretch: f64,
    /// The largest violation divided by length, of any link.
    pub max_stretch: f64,
}

impl LinkHandle {
    fn of(Name { index, generation }: Name) -> LinkHandle {
        LinkHandle { index, generation }
    }

    fn name(self) -> Name {
        Name { index: self.index, generation: self.generation }
    }
}

/// All links of a world.
#[derive(Default)]
pub(crate) struct Links {
    table: Table<LinkDesc>,
    /// True if the body ever had a link, by its handle index.
    linked: Vec<bool>,
    /// The ends of links, by the index of the body's handle: end A of link `i` is `2 i`, end B is `2 i + 1`. It follows from the table.
    of_bodies: Lists,
    /// True if links were added or removed, or linked bodies changed, since the solver's blocks were made.
    pub(crate) changed: bool,
    /// The links that broke in the last step, or that it found without one of their bodies.
    pub(crate) events: Vec<LinkEvent>,
}

impl Stored for Links {
    fn write(&self, to: &mut Writer<'_>) {
        let Links { table, linked, of_bodies: _, changed, events } = self;
        table.write(to);
        linked.write(to);
        changed.write(to);
        events.write(to);
    }

    /// The lists of the bodies' links are made once the bodies are known: see [`Links::list_ends`].
    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        let Links { table, linked, of_bodies: _, changed, events } = self;
        table.read(from)?;
        linked.read(from)?;
        changed.read(from)?;
        events.read(from)
    }

    fn blank() -> Links {
        Links::default()
    }
}

/// The largest number of links. Links are counted in 32 bits.
pub(crate) const MAX_LINKS: usize = 1 << 28;

impl Links {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// The number of handle indices, free ones included.
    pub(crate) fn capacity(&self) -> usize {
        self.table.capacity()
    }

    pub(crate) fn insert(&mut self, link: LinkDesc) -> LinkHandle {
        for body in [link.a, link.b] {
            let index = body.index as usize;
            if self.linked.len() <= index {
                self.linked.resize(index + 1, false);
            }
            self.linked[index] = true;
        }
        self.changed = true;
        let name = self.table.insert(link);
        self.list(name.index, &link);
        LinkHandle::of(name)
    }

    fn list(&mut self, index: u32, link: &LinkDesc) {
        for (end, body) in (2 * index..).zip([link.a, link.b]) {
            self.of_bodies.push_last(body.index, end);
        }
    }

    /// Lists the ends of all links that were read by body. `names` is the number of the bodies' handle indices.
    pub(crate) fn list_ends(&mut self, names: usize) -> Read {
        self.of_bodies.clear();
        for index in 0..self.table.capacity() as u32 {
            let Some(link) = self.table.at(index).map(|(_, link)| *link) else { continue };
            let known = [link.a, link.b].iter().all(|body| (body.index as usize) < names);
            require!(known, "link {index} names {:?} and {:?}", link.a, link.b);
            self.list(index, &link);
        }
        Ok(())
    }

    /// Takes a link out of the table and out of the lists of its bodies.
    fn take(&mut self, index: u32) -> Option<(LinkHandle, LinkDesc)> {
        let link = self.table.at(index).map(|(_, link)| *link)?;
        for (end, body) in (2 * index..).zip([link.a, link.b]) {
            self.of_bodies.remove(body.index, end);
        }
        self.table.remove_at(index).map(|name| (LinkHandle::of(name), link))
    }

    /// Takes out a link that the host did not remove, and reports it.
    fn lose(&mut self, index: u32, reason: LinkEnd) {
        if let Some((link, LinkDesc { tag, .. })) = self.take(index) {
            self.events.push(LinkEvent { link, tag, reason });
        }
    }

    /// Changes a link, which keeps its bodies.
    pub(crate) fn set(&mut self, handle: LinkHandle, link: &LinkDesc) {
        if let Some(old) = self.table.value_mut(handle.index) {
            self.changed = true;
            *old = *link;
        }
    }

    /// The links of a body, and at which end of each it is: 0 is A.
    fn of_body(&self, body: BodyHandle) -> impl Iterator<Item = (u32, usize)> + '_ {
        let ends = self.of_bodies.of(body.index).map(|end| (end / 2, end as usize % 2));
        // Those of a body that had the index before are dropped before the next step.
        ends.filter(move |&(index, end)| {
            self.table.at(index).is_some_and(|(_, link)| [link.a, link.b][end] == body)
        })
    }

    /// The bodies to which a body is linked.
    pub(crate) fn partners(&self, body: BodyHandle) -> impl Iterator<Item = BodyHandle> + '_ {
        self.of_body(body)
            .filter_map(|(index, end)| self.table.at(index).map(|(_, link)| [link.b, link.a][end]))
    }

    pub(crate) fn get(&self, handle: LinkHandle) -> Result<&LinkDesc, Error> {
        let LinkHandle { index, generation } = handle;
        self.table.get(handle.name()).ok_or(Error::StaleHandle { kind: "link", index, generation })
    }

    pub(crate) fn remove(&mut self, handle: LinkHandle) -> Result<(), Error> {
        self.get(handle)?;
        self.take(handle.index);
        self.changed = true;
        Ok(())
    }

    /// Removes the links that the solver has found broken, each with its force, N. Their lanes in the solver are dead already.
    pub(crate) fn break_links(&mut self, find: impl FnOnce(&mut dyn FnMut(u32, f32))) {
        let lost = self.events.len();
        find(&mut |index, force| self.lose(index, LinkEnd::Broken { force }));
        // Links are found in the order of their lanes, which means nothing to the host.
        self.events[lost..].sort_unstable_by_key(|event| event.link.index);
    }

    /// Returns true if the body at an index of a handle ever had a link. Only of such a body do links hear that it is removed or changed.
    pub(crate) fn is_linked(&self, body: u32) -> bool {
        self.linked.get(body as usize).is_some_and(|&linked| linked)
    }

    /// Notes that a body is gone. Its links are dropped before the next step.
    pub(crate) fn body_removed(&mut self, body: BodyHandle) {
        if let Some(linked) = self.linked.get_mut(body.index as usize) {
            self.changed |= std::mem::take(linked);
        }
    }

    /// Notes that a body's mass has changed.
    pub(crate) fn mass_changed(&mut self, body: BodyHandle) {
        self.changed |= self.is_linked(body.index);
    }

    /// Checks that the anchors of a body's links stay in range if its centre moves by `by` in its own axes.
    pub(crate) fn check_centre(&self, body: BodyHandle, by: Vec2) -> Result<(), Error> {
        if !self.is_linked(body.index) {
            return Ok(());
        }
        self.of_body(body).filter_map(|(index, end)| Some((self.table.at(index)?.1, end))).try_for_each(
            |(link, end)| {
                check_vec(
                    "anchor",
                    [link.anchor_a, link.anchor_b][end] - by,
                    LinkDesc::<BodyHandle>::MAX_LENGTH,
                )
            },
        )
    }

    /// Notes that a body's centre has moved by `by` in its own axes and that its mass has changed. Its links still hold
    /// it at the same points of its shapes.
    pub(crate) fn centre_moved(&mut self, body: BodyHandle, by: Vec2) {
        if !self.is_linked(body.index) {
            return;
        }
        self.changed = true;
        for end in self.of_bodies.of(body.index) {
            let Some(link) = self.table.value_mut(end / 2) else { continue };
            let (own, anchor) =
                if end % 2 == 0 { (link.a, &mut link.anchor_a) } else { (link.b, &mut link.anchor_b) };
            *anchor -= if own == body { by } else { Vec2::ZERO };
        }
    }

    /// All links with their handles, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LinkHandle, &LinkDesc)> {
        self.table.iter().map(|(name, link)| (LinkHandle::of(name), link))
    }

    /// The links that are solved: those of enabled bodies. In the order of their indices.
    pub(crate) fn solved<'a>(
        &'a self,
        bodies: &'a Bodies,
    ) -> impl Iterator<Item = (LinkHandle, &'a LinkDesc)> + 'a {
        let enabled =
            |link: &LinkDesc| ![link.a, link.b].iter().any(|body| bodies.is_index_disabled(body.index));
        self.iter().filter(move |(_, link)| enabled(link))
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.table.reserve(more);
    }

    /// Drops the links of bodies that are gone.
    pub(crate) fn forget_removed(&mut self, bodies: &Bodies) {
        for index in 0..self.table.capacity() as u32 {
            let lives = |handle| bodies.slot_of(handle).is_ok();
            if self.table.at(index).is_some_and(|(_, link)| !lives(link.a) || !lives(link.b)) {
                self.lose(index, LinkEnd::Lost);
                self.changed = true;
            }
        }
    }

    /// Checks all links. The error describes the first fault.
    pub(crate) fn validate(&self, bodies: &Bodies) -> Result<(), String> {
        self.table.validate()?;
        for (handle, link) in self.iter() {
            for body in [link.a, link.b] {
                let lives = bodies.slot_of(body).is_ok();
                ensure!(lives || self.changed, "{handle:?} names {body:?}, which is gone");
                ensure!(
                    self.is_linked(body.index) || !lives,
                    "{handle:?}: {body:?} does not know that it is linked"
                );
            }
            ensure!(link.a != link.b, "{handle:?} links a body with itself");
        }
        let body_of =
            |end: u32| self.table.at(end / 2).map(|(_, link)| [link.a, link.b][end as usize % 2].index);
        let listed = self.of_bodies.validate(body_of)?;
        ensure!(listed == 2 * self.len(), "{listed} ends of {} links are listed", self.len());
        let there = self.events.iter().find(|event| self.get(event.link).is_ok());
        ensure!(there.is_none(), "{there:?} is gone and there");
        Ok(())
    }
}
