//! Snapshots: the state of a world as bytes, and back.
//!
//! ```text
//! granule snapshot    8 bytes: what this is
//! version             4 bytes, and 4 of 0
//! checksum            8 bytes: of all that follows
//! length              8 bytes: of all that follows
//! the state           parts between marks, see `base/codec.rs`
//! ```
//!
//! A snapshot holds what outlives a step and decides the next ones, bit for bit: see `World`. What a step makes from this is not in it:
//! rows of the solver, masses and coefficients of contacts, the order of lookups. What a lane of a contact knows is written in short
//! columns.
//!
//! A snapshot is read into a world aside, whose memory is kept. Only if all of it is sound do the two change places. So a snapshot that is
//! refused leaves the world as it was, and a world that is restored often allocates nothing for it.

use super::pairs::ListState;
use super::record::Call;
use super::{Quarantine, World, list};
use crate::base::codec::{Flaw, Read, Reader, Stored, Writer, checksum, require};
use crate::body::BodyHandle;
use crate::error::Error;
use crate::joints::desc::JointEnds;
use crate::settings::Settings;
use glam::Vec2;
use std::collections::HashMap;

/// The first bytes of a snapshot.
const NAME: [u8; 8] = *b"granule\x01";
/// The version of the format: a new number for each change of what is written.
const VERSION: u32 = 9;
/// Bytes before the state.
pub(super) const HEADER: usize = 32;

crate::base::codec::stored!(Quarantine = Quarantine { body: BodyHandle::default(), step: 0 }; { body, step });
crate::base::codec::stored_enum!(ListState = ListState::Void; {
    0 => Void, 1 => Found, 2 => New, 3 => Holds, 4 => Left, 5 => Expired
});
crate::base::codec::stored!(super::Contact = super::Contact {
    a: BodyHandle::default(),
    b: BodyHandle::default(),
    part_a: 0,
    part_b: 0,
    normal: Vec2::X,
    separation: 0.0,
    point: Vec2::ZERO,
    normal_impulse: 0.0,
    tangent_impulse: 0.0,
}; { a, b, part_a, part_b, normal, separation, point, normal_impulse, tangent_impulse } columns(contact) {
    contact.a.index,
    contact.a.generation,
    contact.b.index,
    contact.b.generation,
    contact.part_a,
    contact.part_b,
    contact.normal.x,
    contact.normal.y,
    contact.separation,
    contact.point.x,
    contact.point.y,
    contact.normal_impulse,
    contact.tangent_impulse,
});

impl World {
    /// Writes a snapshot of the world into a buffer, in place of what is there. A world that is restored from it takes the same steps
    /// from there on, bit for bit, in any process, with any instruction set and number of threads.
    ///
    /// It holds all state: bodies with their names, tags and limits, joints, links, hulls, contacts with their impulses, what sleeps, what is
    /// in the sensors, what you edited since the last step, the begin and end events of the last step, and the time that [`World::advance`]
    /// has left. It does not hold the instruction set, timings, and what [`World::set_tracing`] records; nor what belongs to the host:
    /// [hooks](World::set_hooks), and the events that it asked for.
    ///
    /// Packed circles at rest, with three contacts each, take some 150 bytes a body. Nothing is allocated once the buffer is large
    /// enough.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 4.0)))?;
    /// (0..50).for_each(|_| world.step());
    /// let mut snapshot = Vec::new();
    /// world.save(&mut snapshot);
    /// (0..50).for_each(|_| world.step());
    /// let later = world.state_hash();
    /// world.restore(&snapshot)?;
    /// (0..50).for_each(|_| world.step());
    /// assert_eq!(world.state_hash(), later);
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn save(&self, out: &mut Vec<u8>) {
        out.clear();
        out.resize(HEADER, 0);
        let mut to = Writer::new(out);
        self.write_state(&mut to);
        seal(out, NAME, VERSION);
    }

    /// Takes the state of a snapshot, of this world or of another one, that [`World::save`] wrote. The world keeps its instruction set, its
    /// hooks (of which [`Hooks::mix`](crate::Hooks::mix) is asked for the contacts), and what it was asked to tell.
    ///
    /// Two things that hosts read are made anew by the next step only: [`World::interpolated`] gives the present state whatever
    /// `alpha`, and [`Contact::point`](crate::Contact::point) is measured from where the bodies are, not from where they were at the start of the last step.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] for bytes that are no snapshot, or one of another version, or not complete, or altered. The world then stays
    /// as it was. A snapshot that somebody made up, checksum and all, is refused if it is not sound: whatever it says, no call
    /// reads or writes memory that it should not.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), Error> {
        self.record(|| Call::Restore(snapshot.to_vec()));
        let state = state_of(snapshot)?;
        let mut spare = match self.memory.spare.take() {
            Some(spare) => spare,
            None => Box::new(World::new(Settings { isa: self.settings.isa, ..Settings::default() })?),
        };
        // The coefficients of contacts are made again, with the hooks of this world.
        spare.bodies.hooked = self.bodies.hooked.clone();
        let mut from = Reader::new(state).map_err(|flaw| refuse("snapshot", 0, flaw))?;
        let read = spare.read_state(&mut from);
        let at = HEADER + from.at();
        if read.is_ok() {
            self.exchange(&mut spare);
            self.show_restored();
            self.apply_hooks();
        }
        self.memory.spare = Some(spare);
        read.map_err(|flaw| refuse("snapshot", at, flaw))
    }

    /// The world of a snapshot that [`World::save`] wrote, with the best instruction set that the processor has.
    ///
    /// # Errors
    ///
    /// Those of [`World::restore`].
    pub fn from_snapshot(snapshot: &[u8]) -> Result<World, Error> {
        let mut world = World::new(Settings::default())?;
        world.restore(snapshot)?;
        world.memory.spare = None;
        Ok(world)
    }

    fn write_state(&self, to: &mut Writer<'_>) {
        let World {
            settings,
            level: _,
            bodies,
            links,
            hulls,
            joints,
            joint_solver,
            broadphase,
            contacts,
            hull_solver,
            verlet,
            list,
            edits,
            left,
            large_moves,
            unchecked,
            last_substep,
            time_left,
            step_count,
            quarantined,
            sleep,
            continuous: _,
            sleeping_contacts,
            woken_contacts,
            names,
            sensing,
            unlisted,
            solver: _,
            memory: _,
            ahead: _,
            watch: _,
            timings: _,
            trace: _,
            fault: _,
            recorder: _,
        } = self;
        settings.write(to);
        (*large_moves, *unchecked).write(to);
        (*last_substep, *time_left, *step_count).write(to);
        list.write(to);
        bodies.write(to);
        to.mark();
        links.write(to);
        hulls.write(to);
        joints.write(to);
        joint_solver.write_state(to);
        hull_solver.write(to);
        verlet.write(to);
        to.mark();
        // What grows moves nothing in the other parts of a difference.
        edits.write(to);
        to.mark();
        left.lock().expect("no worker panicked").write(to);
        quarantined.write(to);
        sleep.write(to);
        to.mark();
        sleeping_contacts.write(to);
        to.mark();
        woken_contacts.write(to);
        write_names(names, to);
        to.mark();
        sensing.write(to);
        to.mark();
        unlisted.write(to);
        to.mark();
        broadphase.write(bodies, *list != ListState::Void, to);
        contacts.write(bodies.len, to);
        to.mark();
    }

    /// Reads the state and checks all of it. After an error the world's state is unusable, and only its memory may be used again.
    fn read_state(&mut self, from: &mut Reader<'_>) -> Read {
        self.settings.read(from)?;
        self.settings.validate().map_err(|error| Flaw(error.to_string()))?;
        (self.large_moves, self.unchecked) = from.value()?;
        (self.last_substep, self.time_left, self.step_count) = from.value()?;
        require!(self.last_substep > 0.0 && self.last_substep <= 1.0, "a substep of {} s", self.last_substep);
        require!(self.step_count <= u64::MAX / 2, "{} steps", self.step_count);
        let most = self.settings.time_step.max(1.0);
        require!((0.0..=most).contains(&self.time_left), "{} s left", self.time_left);
        self.list.read(from)?;
        require!(!matches!(self.list, ListState::Found | ListState::New), "a list within a step");
        self.bodies.read(from)?;
        self.bodies.validate(!self.unchecked)?;
        from.mark()?;
        self.links.read(from)?;
        self.links.list_ends(self.bodies.name_count())?;
        self.hulls.read(from)?;
        self.joints.read(from)?;
        self.links.validate(&self.bodies)?;
        self.hulls.validate(&self.bodies)?;
        self.joints.validate(&self.bodies)?;
        self.validate_descs()?;
        self.keep_apart();
        self.joint_solver.read_state(&self.joints, &self.bodies, from)?;
        self.hull_solver.read(&self.bodies, &self.hulls, from)?;
        self.verlet.read(&self.bodies, &self.links, from)?;
        from.mark()?;
        self.edits.read(from)?;
        from.mark()?;
        self.left.get_mut().expect("no worker panicked").read(from)?;
        self.quarantined.read(from)?;
        self.sleep.read(from)?;
        from.mark()?;
        self.sleeping_contacts.read(from)?;
        from.mark()?;
        self.woken_contacts.read(from)?;
        self.names = from.value::<Vec<(BodyHandle, String)>>()?.into_iter().collect();
        from.mark()?;
        self.sensing.read(from)?;
        from.mark()?;
        self.validate_overlaps()?;
        self.unlisted.read(from, self.bodies.len, |slot| self.bodies.disc_bounds(slot))?;
        from.mark()?;
        let lives = self.list != ListState::Void;
        self.broadphase.read(&self.bodies, lives, from)?;
        self.contacts.read(&list(&self.broadphase, &self.bodies, &self.settings), lives, from)?;
        from.mark()?;
        require!(from.is_at_end(), "something follows the state");
        self.check_together()
    }

    /// Checks the descriptions of links and joints as if they were added now.
    fn validate_descs(&self) -> Read {
        let refuse = |error: Error| Flaw(error.to_string());
        self.links.iter().try_for_each(|(_, link)| link.validate()).map_err(refuse)?;
        self.joints.iter().try_for_each(|(_, joint)| joint.desc.validate()).map_err(refuse)
    }

    /// Notes the pairs that joints keep apart.
    fn keep_apart(&mut self) {
        for (_, joint) in self.joints.iter() {
            if let JointEnds::Bodies(a, b) = joint.desc.ends
                && !joint.desc.collide_connected
            {
                self.bodies.apart.add(a.index, b.index);
            }
        }
    }

    /// Checks what several parts of the state have to agree on.
    fn check_together(&self) -> Read {
        let built = self.broadphase.built;
        let left = self.left.lock().expect("no worker panicked");
        require!(
            left.iter().all(|&slot| (slot as usize) < built),
            "a body that left its margin is in no list"
        );
        require!(self.edits.fits(built), "an edit of a slot that is in no list");
        let sought =
            (built..self.bodies.len).all(|slot| !self.bodies.is_taken(slot) || self.unlisted.contains(slot));
        require!(sought, "a body that was added is in no order of space");
        let vacant = self.edits.vacant_are(|slot| !self.bodies.is_taken(slot));
        require!(vacant, "a vacant slot has a body");
        self.check_list()?;
        self.sleep.validate(&self.bodies, &self.joints, &self.hulls)?;
        for (_, island) in self.sleep.iter() {
            let known = island.joints.iter().all(|joint| self.joints.at(joint.index).is_some());
            require!(known, "a joint sleeps, and is none");
            self.hull_solver.check_parked(&island.hulls.contacts)?;
        }
        for index in 0..self.bodies.len {
            let island = self.bodies.island(index);
            require!(
                island.is_none_or(|island| (island as usize) < self.sleep.capacity()),
                "an island is none"
            );
        }
        self.validate_quarantine()?;
        let rows = built + self.contacts.tiles().len() + 1 + self.bodies.part_count();
        let compounds =
            (0..built).filter(|&slot| self.bodies.is_taken(slot) && !self.bodies.parts(slot).is_empty());
        for slot in compounds.filter(|_| self.list != ListState::Void) {
            let parts = self.bodies.part_row(slot) as usize + self.bodies.parts(slot).len();
            require!(parts <= rows, "the parts of slot {slot} are beyond the rows");
        }
        Ok(())
    }

    /// Checks what the bodies and a list that is not void have to agree on.
    fn check_list(&self) -> Read {
        if self.list == ListState::Void {
            return Ok(());
        }
        // With other edits, the next step makes a new list if the features are others.
        let turning = self.edits.made_for_turning();
        let alike = turning == self.broadphase.is_turning()
            && (turning == self.bodies.any_manifold || !self.is_listed());
        require!(alike, "the list is not made for bodies that turn: {turning}");
        let c = &self.bodies.columns;
        for slot in (0..self.broadphase.built).filter(|&slot| !self.bodies.is_taken(slot)) {
            let still = [c.vel_x[slot], c.vel_y[slot], c.omega[slot]] == [0.0; 3];
            let inert = still && !c.kind[slot].shape().turns();
            require!(inert || self.edits.is_removed(slot), "slot {slot} has no body, and moves or turns");
        }
        Ok(())
    }

    /// Changes places with a world whose state was read. Each keeps its memory for a step, its instruction set and its observers.
    fn exchange(&mut self, other: &mut World) {
        let isa = self.settings.isa;
        macro_rules! exchange {
            (swap: $($state:ident)*; keep: $($own:ident)*) => {
                let World { $($state,)* $($own: _,)* } = other;
                $(std::mem::swap(&mut self.$state, $state);)*
            };
        }
        exchange!(
            swap: settings bodies links hulls joints joint_solver broadphase contacts hull_solver verlet list
                edits left large_moves unchecked last_substep time_left step_count quarantined sleep
                sleeping_contacts woken_contacts names sensing unlisted;
            keep: level continuous solver memory ahead watch timings trace fault recorder
        );
        self.settings.isa = isa;
        self.continuous.walls.stale = true;
    }

    /// Makes what hosts read of the last step and a snapshot does not hold, from where the bodies are.
    fn show_restored(&mut self) {
        let tiles = self.contacts.tiles().len();
        let built = self.broadphase.built;
        self.bodies.set_still(self.broadphase.still_now(&self.bodies));
        self.solver.mirror.show(&self.bodies, &self.settings, built, built + tiles + 1);
    }
}

impl Clone for World {
    /// A world that takes the same steps from here on, bit for bit. Neither has anything to do with the other.
    fn clone(&self) -> World {
        let mut snapshot = Vec::new();
        self.save(&mut snapshot);
        let settings = Settings { isa: self.settings.isa, ..Settings::default() };
        let mut world = World::new(settings).expect("an instruction set that a world has");
        world.level = self.level;
        world.bodies.hooked = self.bodies.hooked.clone();
        world.restore(&snapshot).expect("a world's own snapshot is sound");
        world.memory.spare = None;
        world.watch = self.watch.clone();
        world.fault = self.fault;
        world
    }
}

/// Writes names in the order of their bodies.
fn write_names(names: &HashMap<BodyHandle, String>, to: &mut Writer<'_>) {
    let mut bodies: Vec<_> = names.keys().copied().collect();
    bodies.sort_unstable();
    to.length(bodies.len());
    for body in bodies {
        body.write(to);
        names[&body].write(to);
    }
}

/// Writes the header of bytes that lack nothing else.
pub(super) fn seal(bytes: &mut [u8], name: [u8; 8], version: u32) {
    let (header, body) = bytes.split_at_mut(HEADER);
    header[..8].copy_from_slice(&name);
    header[8..16].copy_from_slice(&u64::from(version).to_le_bytes());
    header[16..24].copy_from_slice(&checksum(body).to_le_bytes());
    header[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
}

/// Gives altered bytes of a snapshot a checksum that fits. For tests of what happens then.
#[doc(hidden)]
pub fn reseal_snapshot(snapshot: &mut [u8]) {
    if snapshot.len() >= HEADER {
        seal(snapshot, NAME, VERSION);
    }
}

/// The state in a snapshot, if its header and its checksum are right.
pub(super) fn state_of(snapshot: &[u8]) -> Result<&[u8], Error> {
    checked(snapshot, NAME, VERSION, "snapshot")
}

/// What follows a header with this name and version, if its checksum is right.
pub(super) fn checked<'a>(
    snapshot: &'a [u8],
    name: [u8; 8],
    version: u32,
    kind: &'static str,
) -> Result<&'a [u8], Error> {
    let flaw = |at: usize, reason: String| Err(refuse(kind, at, Flaw(reason)));
    if snapshot.len() < HEADER {
        return flaw(snapshot.len(), format!("the first {HEADER} bytes are not all there"));
    }
    let (header, state) = snapshot.split_at(HEADER);
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    if header[..8] != name {
        return flaw(0, format!("these are no bytes of a {kind}"));
    }
    if word(8) != u64::from(version) {
        return flaw(8, format!("a {kind} of version {}, and this is version {version}", word(8)));
    }
    if word(24) != state.len() as u64 {
        return flaw(24, format!("{} bytes follow, there should be {}", state.len(), word(24)));
    }
    if word(16) != checksum(state) {
        return flaw(16, "the checksum does not fit: some of it was altered".into());
    }
    Ok(state)
}

pub(super) fn refuse(what: &'static str, at: usize, Flaw(reason): Flaw) -> Error {
    Error::Snapshot { what, at, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contacts::Parked;

    /// Contract: a list that is written as columns holds all that its values hold when they are written one by one.
    #[test]
    fn columns_hold_all_that_rows_hold() {
        check_columns::<BodyHandle>();
        check_columns::<super::super::Contact>();
        check_columns::<Parked>();
    }

    fn check_columns<T: Stored>() {
        let mut random = 1u32;
        // Each byte is 0 or 1, so that truth values are any, too.
        let bytes = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 31) as u8
        });
        let bytes: Vec<u8> = bytes.take(4_096).collect();
        let mut from = Reader::plain(&bytes);
        let list: Vec<T> = (0..20).map(|_| from.value().unwrap()).collect();
        let rows = |list: &[T]| {
            let mut rows = Vec::new();
            let mut to = Writer::plain(&mut rows);
            list.iter().for_each(|value| value.write(&mut to));
            rows
        };
        let (mut columns, mut again) = (Vec::new(), Vec::new());
        T::write_list(&list, &mut Writer::plain(&mut columns));
        T::read_list(&mut again, &mut Reader::plain(&columns)).unwrap();
        assert_eq!(rows(&again), rows(&list));
    }
}
