//! Two worlds, one of them on the scalar path, and everything that a host can do to them.

use super::bytes::Bytes;
use super::laws::{Before, Rest};
use super::read::{compare, read, validate};
use super::{describe, known};
use granule::{
    BodyDesc, BodyHandle, ContactEvent, Error, HullHandle, Isa, JointHandle, LinkDesc, LinkHandle, Settings,
    Vec2, World, step_many,
};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Most bodies that are ever in a world, and links; most steps and operations of an execution.
const MOST_BODIES: usize = 18;
const MOST_LINKS: usize = 40;
const MOST_STEPS: usize = 10;
const MOST_OPERATIONS: usize = 48;

/// Bytes → a world and what a host does to it, on the scalar path and with another instruction set: the same bits after every step. After
/// every call the world is valid (`World::validate`), and what was refused has changed nothing; every step
/// keeps the laws of mechanics (`laws.rs`); and every public function of a world is called.
pub fn worlds(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut machine = Machine::new(&mut bytes);
    machine.run(&mut bytes);
}

/// A body, as the host knows it.
pub struct Body {
    pub handle: BodyHandle,
    pub gravity_scale: f32,
    pub is_damped: bool,
    is_there: bool,
}

pub(super) struct Machine {
    /// The scalar path, and a wider set.
    pub(super) worlds: [World; 2],
    /// All that were ever added: stale handles must be refused.
    bodies: Vec<Body>,
    links: Vec<LinkHandle>,
    hulls: Vec<HullHandle>,
    pub(super) joints: Vec<JointHandle>,
    steps: usize,
    /// A force or torque waits for the next step.
    forced: bool,
    /// Something was done between the last step and the one before.
    was_disturbed: bool,
    /// Nothing was done since the last step but reading, so that its pair list is that of the present.
    undisturbed: bool,
    /// What was done is more than the laws know.
    pub(super) lawless: bool,
    rest: Rest,
    /// The second world is restored from its own snapshot after each operation.
    pub(super) restores: bool,
    /// The pairs of bodies that touch, by the events; `None` once events were missed.
    touching: Option<BTreeSet<(BodyHandle, BodyHandle)>>,
    /// The host changes contacts, so that no law holds.
    pub(super) is_hooked: bool,
    pub(super) had_hooks: bool,
}

impl Machine {
    pub(super) fn new(bytes: &mut Bytes) -> Machine {
        let (start, isa) = (bytes.byte(), bytes.byte());
        let usual = Settings { substeps: 2, link_iterations: 4, ..Settings::default() };
        let settings = if start & 1 == 0 { usual } else { describe::settings(bytes) };
        let settings = settings.validate().map_or(Settings::default(), |()| settings);
        let world = |isa| World::new(Settings { isa, ..settings }).expect("settings in range");
        let mut machine = Machine {
            worlds: [world(Isa::Scalar), world(describe::wide(isa))],
            bodies: Vec::new(),
            links: Vec::new(),
            hulls: Vec::new(),
            joints: Vec::new(),
            steps: 0,
            forced: false,
            was_disturbed: true,
            undisturbed: false,
            lawless: false,
            rest: Rest::default(),
            restores: false,
            touching: Some(BTreeSet::new()),
            is_hooked: false,
            had_hooks: false,
        };
        let floor = describe::floor(start / 2);
        let added = machine.both(|world| world.add_assembly(&floor)).expect("a floor");
        machine.know(&floor.bodies, added);
        machine
    }

    pub(super) fn run(&mut self, bytes: &mut Bytes) {
        let mut operations = 0;
        while !bytes.is_empty() && self.steps < MOST_STEPS && operations < MOST_OPERATIONS {
            self.operation(bytes);
            operations += 1;
            if self.restores {
                super::snapshots::restore_itself(&mut self.worlds[1], operations);
            }
        }
        self.step();
        self.read();
    }

    /// Does the same to both worlds, and holds that they answer the same, and that a refusal changes nothing.
    pub(super) fn both<T: Debug>(
        &mut self,
        mut operation: impl FnMut(&mut World) -> Result<T, Error>,
    ) -> Option<T> {
        self.rest.disturb();
        self.undisturbed = false;
        let [scalar, wide] = &mut self.worlds;
        let before = scalar.state_hash();
        let (a, b) = (operation(scalar), operation(wide));
        // By their texts: a refused NaN is not equal to itself.
        let same = match (&a, &b) {
            (Ok(_), Ok(_)) => true,
            _ => format!("{a:?}") == format!("{b:?}"),
        };
        assert!(same, "{a:?} and {b:?}");
        validate(scalar);
        let after = scalar.state_hash();
        assert_eq!(after, wide.state_hash());
        if let Err(error) = &a {
            assert!(before == after, "refused ({error}), and yet changed");
        }
        a.ok()
    }

    fn know(&mut self, descs: &[BodyDesc], handles: Vec<BodyHandle>) {
        for (desc, handle) in descs.iter().zip(handles) {
            let is_damped = desc.linear_damping != 0.0 || desc.angular_damping != 0.0;
            self.bodies.push(Body { handle, gravity_scale: desc.gravity_scale, is_damped, is_there: true });
        }
    }

    fn add(&mut self, descs: &[BodyDesc]) {
        if self.room() < descs.len() {
            return;
        }
        let added = match descs {
            [desc] => self.both(|world| world.add_body(desc).map(|body| vec![body])),
            _ => self.both(|world| world.add_bodies(descs)),
        };
        self.know(descs, added.unwrap_or_default());
    }

    /// How many bodies more.
    fn room(&self) -> usize {
        MOST_BODIES.saturating_sub(self.bodies.len())
    }

    fn step(&mut self) {
        if self.is_hooked {
            self.rest.disturb();
        }
        let before =
            Before::of(&self.worlds[0], &self.bodies, self.forced, self.undisturbed, self.was_disturbed);
        let before = before.filter(|_| !self.is_hooked);
        // Every other time side by side, which must be the same.
        if self.steps.is_multiple_of(2) {
            step_many(&mut self.worlds);
        } else {
            self.worlds.iter_mut().for_each(World::step);
        }
        self.stepped(1);
        if let Some(before) = before.filter(|_| !self.lawless) {
            before.check(&self.worlds[0]);
        }
        if !self.lawless {
            self.rest.check(&self.worlds[0]);
        }
        // A joint or link that tore lets go of what it pressed, as a host does that removes it.
        let tore = !self.worlds[0].joint_events().is_empty() || !self.worlds[0].link_events().is_empty();
        self.was_disturbed = !self.undisturbed || tore;
        self.undisturbed = true;
    }

    /// What holds after so many steps at once.
    fn stepped(&mut self, steps: usize) {
        self.steps += steps;
        let [scalar, wide] = &self.worlds;
        validate(scalar);
        validate(wide);
        if steps > 0 {
            compare(scalar, wide);
        }
        for body in &self.bodies {
            assert_eq!(scalar.contains(body.handle), body.is_there, "{:?}", body.handle);
        }
        self.forced &= steps == 0;
        match steps {
            0 => {}
            1 => self.follow_events(),
            _ => self.touching = None,
        }
    }

    /// Pairs begin to touch that did not, and cease to that did.
    fn follow_events(&mut self) {
        let world = &self.worlds[0];
        let several = |body: BodyHandle| world.parts(body).is_ok_and(|parts| parts.len() > 1);
        if !known::EVENTS_ARE_OF_BODIES && self.bodies.iter().any(|body| several(body.handle)) {
            self.touching = None;
        }
        let Some(touching) = &mut self.touching else { return };
        let pair = |event: &ContactEvent| {
            assert!(event.a < event.b, "{event:?}");
            (event.a, event.b)
        };
        for event in world.end_events() {
            assert!(touching.remove(&pair(event)), "{event:?} ends, and never began");
        }
        for event in world.begin_events() {
            assert!(world.contains(event.a) && world.contains(event.b), "{event:?} begins with what is gone");
            assert!(touching.insert(pair(event)), "{event:?} begins twice");
        }
        let gone = touching.iter().find(|(a, b)| !world.contains(*a) || !world.contains(*b));
        assert!(gone.is_none(), "{gone:?} touch, though one is gone");
    }

    fn read(&mut self) {
        self.worlds.iter().for_each(read);
        self.worlds.iter_mut().for_each(super::joints::read_columns);
    }

    /// One operation of a host.
    fn operation(&mut self, bytes: &mut Bytes) {
        let number = bytes.byte();
        if number >= 216 {
            return self.joint_operation(bytes, number);
        }
        match number {
            94 => return self.edit_body(bytes),
            142 => return self.edit_many(bytes),
            190 => return self.apply_field(bytes),
            _ => {}
        }
        match number % 48 {
            0..=7 => self.add(&[describe::body(bytes)]),
            8..=10 => self.add(&[describe::particle(bytes)]),
            11 => {
                let count = 1 + bytes.below(4);
                let descs: Vec<BodyDesc> = (0..count).map(|_| describe::body(bytes)).collect();
                self.add(&descs);
            }
            12 | 13 => self.add_assembly(bytes),
            14..=21 => self.step(),
            22 => self.advance(bytes),
            23 => self.remove_body(bytes),
            24 | 25 => self.add_links(bytes),
            26 => self.remove_link(bytes),
            27 => self.add_hull(bytes),
            28 => self.remove_hull(bytes),
            29 | 30 => self.add_parts(bytes),
            31..=35 => self.place(bytes, number),
            36..=38 => self.push(bytes, number),
            39 | 40 => self.change(bytes),
            41 => {
                let settings = describe::settings(bytes);
                // Each keeps its own instruction set.
                self.both(|world| world.set_settings(Settings { isa: world.settings().isa, ..settings }));
            }
            42 => {
                let gravity = bytes.vector();
                self.both(|world| world.set_gravity(gravity));
            }
            43 => {
                let step = bytes.number().abs() / 240.0;
                self.both(|world| world.set_time_step(step));
            }
            44 => self.worlds[1].set_isa(describe::wide(bytes.byte())).expect("an available set"),
            45 => self.query(bytes),
            46 => {
                let what = bytes.byte();
                if what >= 128 {
                    return self.event_operation(bytes, what);
                }
                if what & 6 == 6 {
                    return super::snapshots::restore_itself(&mut self.worlds[1], usize::from(what / 8));
                }
                self.worlds[0].set_tracing(what & 1 == 0);
                assert_eq!(self.worlds[0].is_tracing(), what & 1 == 0);
            }
            _ => self.read(),
        }
    }

    fn advance(&mut self, bytes: &mut Bytes) {
        let elapsed = if bytes.byte() < 240 { bytes.unit() / 12.0 } else { bytes.number() };
        let steps = self.worlds[0].step_count();
        let advanced = self.both(|world| world.advance(elapsed));
        let taken = self.worlds[0].step_count() - steps;
        if let Some(advanced) = advanced {
            assert_eq!(u64::from(advanced.steps), taken);
            assert!(advanced.steps <= World::MAX_STEPS_PER_ADVANCE, "{advanced:?}");
            assert!((0.0..=1.0).contains(&advanced.alpha), "{advanced:?}");
            for body in self.bodies.iter().filter(|body| body.is_there) {
                let state = self.worlds[0].interpolated(body.handle, advanced.alpha);
                assert!(state.is_ok_and(|state| state.position.is_finite()));
            }
        }
        self.stepped(taken as usize);
    }

    /// A body, mostly one that is there; at times a handle that was never given.
    pub(super) fn body(&self, bytes: &mut Bytes) -> BodyHandle {
        let number = bytes.byte();
        match self.bodies.get(usize::from(number) % self.bodies.len().max(1)) {
            Some(body) if number < 250 => body.handle,
            _ => BodyHandle::from_parts(u32::from(bytes.byte()), u32::from(bytes.byte() % 4)),
        }
    }

    /// Notes that bodies were removed.
    pub(super) fn forget(&mut self, gone: &[BodyHandle]) {
        for body in self.bodies.iter_mut().filter(|body| gone.contains(&body.handle)) {
            body.is_there = false;
        }
    }

    fn remove_body(&mut self, bytes: &mut Bytes) {
        let handle = self.body(bytes);
        let removed = self.both(|world| world.remove_body(handle)).is_some();
        let body = self.bodies.iter_mut().find(|body| body.handle == handle);
        let was_there = body.is_some_and(|body| std::mem::take(&mut body.is_there));
        assert_eq!(removed, was_there, "{handle:?}");
        for world in &self.worlds {
            assert!(
                world.body(handle).is_err() && world.parts(handle).is_err() && world.mass(handle).is_err()
            );
        }
    }

    fn add_assembly(&mut self, bytes: &mut Bytes) {
        let assembly = describe::assembly(bytes);
        if self.room() < assembly.bodies.len() || self.links.len() + assembly.links.len() > MOST_LINKS {
            return;
        }
        if let Some(added) = self.both(|world| world.add_assembly(&assembly)) {
            self.know(&assembly.bodies, added);
            let world = &self.worlds[0];
            let new_links = world.links().map(|(link, _)| link).filter(|link| !self.links.contains(link));
            let new_hulls = world.hulls().map(|(hull, _)| hull).filter(|hull| !self.hulls.contains(hull));
            let (new_links, new_hulls): (Vec<_>, Vec<_>) = (new_links.collect(), new_hulls.collect());
            self.links.extend(new_links);
            self.hulls.extend(new_hulls);
        }
    }

    fn add_links(&mut self, bytes: &mut Bytes) {
        let count = 1 + bytes.below(8) / 5;
        let links: Vec<LinkDesc> = (0..count).map(|_| self.link(bytes)).collect();
        if self.links.len() + count > MOST_LINKS {
            return;
        }
        let added = match &links[..] {
            [link] => self.both(|world| world.add_link(link).map(|link| vec![link])),
            _ => self.both(|world| world.add_links(&links)),
        };
        self.links.extend(added.unwrap_or_default());
    }

    /// A link, mostly of the length that its ends are apart.
    fn link(&self, bytes: &mut Bytes) -> LinkDesc {
        let kind = describe::link_kind(bytes.byte());
        let (a, b) = (self.body(bytes), self.body(bytes));
        let position = |body| self.worlds[0].body(body).map_or(Vec2::ZERO, |state| state.position);
        let mut link = LinkDesc::new(kind, a, b, position(a).distance(position(b)));
        let flags = bytes.byte();
        if flags & 3 == 3 {
            link.length = bytes.number();
        }
        if flags & 4 != 0 {
            link.compliance = bytes.unit() * bytes.unit();
        }
        if flags & 8 != 0 {
            link.stiffness = bytes.unit();
        }
        if flags & 16 != 0 {
            link.break_force = bytes.number();
        }
        if flags & 32 != 0 {
            link.anchor_a = bytes.vector();
        }
        if flags & 64 != 0 {
            link.anchor_b = bytes.vector();
        }
        link
    }

    fn remove_link(&mut self, bytes: &mut Bytes) {
        if let Some(&link) = self.links.get(bytes.below(self.links.len().max(1))) {
            let was = self.worlds[0].link(link);
            let to = self.link(bytes);
            let to = was.as_ref().map_or(to, |was| LinkDesc { a: was.a, b: was.b, ..to });
            if self.both(|world| world.set_link(link, &to)).is_some() {
                assert_eq!(self.worlds[0].link(link), Ok(to));
            } else {
                assert_eq!(format!("{:?}", self.worlds[0].link(link)), format!("{was:?}"));
            }
            let twice = [link; 2];
            assert!(self.both(|world| world.remove_links(&twice)).is_none());
            let was_there = self.worlds[0].link(link).is_ok();
            let removed = self.both(|world| world.remove_link(link)).is_some();
            assert_eq!(removed, was_there, "{link:?} of index {}", link.index());
            assert!(self.worlds[0].link(link).is_err());
        }
    }

    fn add_hull(&mut self, bytes: &mut Bytes) {
        let count = 1 + bytes.below(9);
        let points: Vec<BodyHandle> = (0..count).map(|_| self.body(bytes)).collect();
        let added = self.both(|world| world.add_hull(&points));
        self.hulls.extend(added);
    }

    fn remove_hull(&mut self, bytes: &mut Bytes) {
        if let Some(&hull) = self.hulls.get(bytes.below(self.hulls.len().max(1))) {
            let was_there = self.worlds[0].hull(hull).is_ok();
            let removed = self.both(|world| world.remove_hull(hull)).is_some();
            assert_eq!(removed, was_there, "{hull:?} of index {}", hull.index());
            assert!(self.worlds[0].hull(hull).is_err());
        }
    }

    fn add_parts(&mut self, bytes: &mut Bytes) {
        let body = self.body(bytes);
        let count = 1 + bytes.below(8) / 5;
        let parts: Vec<_> = (0..count).map(|_| describe::part(bytes)).collect();
        let state = self.worlds[0].body(body);
        let far = |at: Vec2| at.abs().max_element() > 0.5 * World::MAX_COORDINATE;
        if !known::CENTRES_ARE_CHECKED && state.is_ok_and(|state| far(state.position)) {
            return;
        }
        match &parts[..] {
            [part] => self.both(|world| world.add_part(body, part)),
            _ => self.both(|world| world.add_parts(body, &parts)),
        };
    }

    /// Whether the host may give this body a velocity.
    fn takes_velocity(&self, body: BodyHandle) -> bool {
        known::QUARANTINE_IS_KEPT || self.worlds[0].quarantined().iter().all(|entry| entry.body != body)
    }

    /// Place and motion.
    fn place(&mut self, bytes: &mut Bytes, number: u8) {
        let (body, vector) = (self.body(bytes), bytes.vector());
        match number % 48 {
            31 => self.both(|world| world.set_position(body, vector)),
            32 => self.both(|world| world.set_angle(body, vector.x)),
            _ if !self.takes_velocity(body) => None,
            33 | 34 => self.both(|world| world.set_velocity(body, vector)),
            _ => self.both(|world| world.set_angular_velocity(body, vector.x)),
        };
    }

    /// Forces and impulses.
    fn push(&mut self, bytes: &mut Bytes, number: u8) {
        let (body, vector) = (self.body(bytes), bytes.vector());
        let how = usize::from(number / 48) % 6;
        let point = if matches!(how, 1 | 4) { bytes.vector() } else { Vec2::ZERO };
        let reaches = vector.abs().max_element() < 1e6 && point.abs().max_element() < 1e3;
        let light = self.worlds[0].mass(body).is_ok_and(|mass| mass < 1e-3);
        let finite = known::IMPULSES_ARE_CHECKED || how < 3 || (reaches && !light);
        if !finite || !self.takes_velocity(body) {
            return;
        }
        self.forced |= how < 3;
        match how {
            0 => self.both(|world| world.apply_force(body, vector)),
            1 => self.both(|world| world.apply_force_at(body, vector, point)),
            2 => self.both(|world| world.apply_torque(body, vector.x)),
            3 => self.both(|world| world.apply_impulse(body, vector)),
            4 => self.both(|world| world.apply_impulse_at(body, vector, point)),
            _ => self.both(|world| world.apply_angular_impulse(body, vector.x)),
        };
    }

    /// What a body is.
    fn change(&mut self, bytes: &mut Bytes) {
        let (body, how) = (self.body(bytes), bytes.byte() % 6);
        let filter = describe::filter(bytes);
        let (x, y) = (bytes.number(), bytes.number());
        let done = match how {
            0 => self.both(|world| world.set_filter(body, filter)),
            1 => self.both(|world| world.set_gravity_scale(body, x)),
            2 => self.both(|world| world.set_damping(body, x, y)),
            // One call after the other: what the second refuses is compared with what the first has left.
            3 => self
                .both(|world| world.set_bullet(body, x > 0.0))
                .and_then(|()| self.both(|world| world.set_sleep(body, x < y))),
            4 => self
                .both(|world| world.set_sleep_threshold(body, (y > 0.0).then_some(x)))
                .and_then(|()| self.both(|world| world.set_time_to_sleep(body, (x > 0.0).then_some(y)))),
            _ if x < y => self.both(|world| world.wake_body(body)),
            _ => self.both(|world| world.sleep_body(body)),
        };
        let known = self.bodies.iter_mut().find(|known| known.handle == body);
        if let (Some(()), Some(known)) = (done, known) {
            match how {
                0 => assert_eq!(self.worlds[0].filter(body), Ok(filter)),
                1 => known.gravity_scale = x,
                2 => known.is_damped = x != 0.0 || y != 0.0,
                3 => assert_eq!(self.worlds[0].sleep_settings(body).map(|limits| limits.0), Ok(x < y)),
                _ => {}
            }
        }
    }

    /// Queries find the same with both sets; those that are told to stop do.
    fn query(&self, bytes: &mut Bytes) {
        let (at, size) = (bytes.vector(), bytes.number());
        let visited = |world: &World, most: usize| {
            let mut found = [Vec::new(), Vec::new(), Vec::new()];
            world.query_aabb_bounds(at - size, at + size, |body| {
                found[2].push(body);
                found[2].len() < most
            });
            world.query_point(at, |body| {
                found[0].push(body);
                found[0].len() < most
            });
            world.query_aabb(at - size, at + size, |body| {
                found[1].push(body);
                found[1].len() < most
            });
            found
        };
        let [scalar, wide] = &self.worlds;
        let found = visited(scalar, usize::MAX);
        assert_eq!(found, visited(wide, usize::MAX));
        assert!(visited(scalar, 1).iter().zip(&found).all(|(first, all)| first.len() == all.len().min(1)));
        for bodies in found {
            let mut once = bodies.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), bodies.len(), "a query visits a body twice");
            assert!(bodies.iter().all(|&body| scalar.contains(body)));
        }
        // What else is asked follows from the same bytes, so that inputs of the corpus go on as they did.
        let bits = [at.x.to_bits(), at.y.to_bits(), size.to_bits()];
        let bits = bits.map(|bits| bits.wrapping_mul(0x9E37_79B9) ^ bits);
        let more: Vec<u8> = (1..9).flat_map(|i| bits.map(|bits| bits.rotate_left(4 * i) as u8)).collect();
        let mut more = Bytes(&more);
        let body = self.body(&mut more);
        super::queries::compare(&mut more, &self.worlds, body);
    }
}
