//! Scenes: the built-in stress scenes and scene files, one description for the command, the tests,
//! the benches and the fuzz targets alike.
//!
//! A [`Scene`] is plain data: settings, a list of bodies, their further shapes, their links,
//! hulls and joints. [`builtin`] makes one from a name, a
//! number of bodies and a seed; with the feature `scene`, `Scene::from_json` reads one from a file.
//! [`Scene::build`] puts the bodies into a new world in the order of the list, so that the body at
//! place k of the scene has index k there.
//!
//! ```
//! use granule::scene;
//!
//! let scene = scene::builtin("packed", 200, 1).expect("packed is one of scene::BUILTIN");
//! let mut world = scene.build()?;
//! let mut player = scene::Player::new(&scene, &world);
//! player.step(&mut world); // the same as world.step() for a scene without a script
//! assert_eq!(world.body_count(), 200);
//! # Ok::<(), granule::Error>(())
//! ```

mod builtin;
#[cfg(feature = "scene")]
mod file;
mod joined;
mod linked;
mod pieces;
mod random;
mod script;
mod turning;
mod upright;

pub use builtin::{BUILTIN, Builtin, DEFAULT, MAX_BODIES, builtin};
#[cfg(feature = "scene")]
pub use file::SceneError;
pub use script::{Drop, Player, Rain, Script, Walker};

use crate::{
    BodyDesc, BodyHandle, BodyType, Error, JointDesc, JointEnds, JointHandle, LinkDesc, Mixed, Part,
    Settings, Vec2, World,
};
use std::collections::{BTreeMap, HashMap};

/// Settings and bodies: all that a run starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The name in records and reports.
    pub name: String,
    /// The world's settings. A caller may change them before [`Scene::build`].
    pub settings: Settings,
    /// What holds where two materials meet, by their [`Material::id`](crate::Material::id): see [`World::set_pair_material`].
    pub pair_materials: Vec<([u32; 2], Mixed)>,
    /// The bodies, particles among them, in the order in which they are added.
    pub bodies: Vec<BodyDesc>,
    /// Further shapes, by the place of their body in `bodies`, in the order of the bodies. A part's position is
    /// from the centre of the body's own shape, however many parts it has: [`Scene::build`] sees to the
    /// centre of mass.
    pub parts: Vec<(usize, Part)>,
    /// The links between them, by their places in `bodies`. An anchor, too, is from the centre of the body's own
    /// shape.
    pub links: Vec<LinkDesc<usize>>,
    /// Loops of particles that collide as one polygon, by their places in `bodies`.
    pub hulls: Vec<Vec<usize>>,
    /// The joints, which name bodies by their places in `bodies`. A gear names joints by their places in this list, which come before
    /// its own. A frame's position is from the centre of the body's own shape.
    pub joints: Vec<JointDesc<usize, usize>>,
    /// What a host does while the scene runs: a [`Player`] does it. `None` for scenes from files and for most built-in ones.
    pub script: Option<Script>,
}

const NO_BODY: Error = Error::Invalid { field: "parts", reason: "names a body that is not in the list" };

/// The centres of the own shapes of bodies that have parts, from their centres of mass; by the bodies' places in the scene.
#[derive(Default)]
struct OwnShapes(HashMap<usize, Vec2>);

impl OwnShapes {
    fn centre(&self, place: usize) -> Vec2 {
        self.0.get(&place).copied().unwrap_or_default()
    }

    /// Returns a link with its anchors from the centres of mass.
    fn link(&self, link: LinkDesc<usize>) -> LinkDesc<usize> {
        let (anchor_a, anchor_b) = (link.anchor_a + self.centre(link.a), link.anchor_b + self.centre(link.b));
        LinkDesc { anchor_a, anchor_b, ..link }
    }

    /// Returns a joint with its frames from the centres of mass.
    fn joint(&self, mut joint: JointDesc<usize, usize>) -> JointDesc<usize, usize> {
        let ends = match joint.ends {
            JointEnds::Bodies(a, b) => [Some(a), Some(b)],
            JointEnds::World(a) => [Some(a), None],
            JointEnds::Joints(..) => [None; 2],
        };
        let [a, b] = ends.map(|place| place.map_or(Vec2::ZERO, |place| self.centre(place)));
        joint.frame_a.position += a;
        joint.frame_b.position += b;
        joint
    }
}

impl Scene {
    /// Makes a new world that holds the scene's bodies, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for a setting, [`Error::Element`] for a pair of materials, a body, a part, a link, a hull or a joint that is refused.
    /// A built-in scene is never refused, nor is one from a file that was not changed since.
    pub fn build(&self) -> Result<World, Error> {
        let mut world = World::new(self.settings)?;
        for (index, &([a, b], mixed)) in self.pair_materials.iter().enumerate() {
            let set = world.set_pair_material(a, b, Some(mixed));
            set.map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        let handles = world.add_bodies(&self.bodies)?;
        let own_shapes = self.add_parts(|place, parts| {
            let body = *handles.get(place).ok_or(NO_BODY)?;
            world.add_parts(body, parts)?;
            Ok(world.parts(body)?[0].position)
        })?;
        let name = |place: usize| handles.get(place).copied().unwrap_or_default();
        let links: Vec<LinkDesc> = self.links.iter().map(|&link| own_shapes.link(link).map(name)).collect();
        world.add_links(&links)?;
        for (index, hull) in self.hulls.iter().enumerate() {
            let points = hull.iter().map(|&place| name(place));
            let added = world.add_hull(&points.collect::<Vec<_>>());
            added.map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        let joints: Vec<_> = self.joints.iter().map(|&joint| own_shapes.joint(joint)).collect();
        world.add_named_joints(&joints, &handles)?;
        Ok(world)
    }

    /// Calls `add` with the place of each body that has parts and with these. It returns where the centre of the body's own shape is
    /// then, from the centre of mass.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] for a part, or the first part of a body, that is refused.
    fn add_parts(
        &self,
        mut add: impl FnMut(usize, &[Part]) -> Result<Vec2, Error>,
    ) -> Result<OwnShapes, Error> {
        let mut parts: BTreeMap<usize, (usize, Vec<Part>)> = BTreeMap::new();
        for (index, &(place, part)) in self.parts.iter().enumerate() {
            let known = if place < self.bodies.len() { Ok(()) } else { Err(NO_BODY) };
            known.and(part.validate()).map_err(|error| Error::Element { index, error: Box::new(error) })?;
            parts.entry(place).or_insert((index, Vec::new())).1.push(part);
        }
        let mut own_shapes = OwnShapes::default();
        for (place, (index, parts)) in parts {
            let centre =
                add(place, &parts).map_err(|error| Error::Element { index, error: Box::new(error) })?;
            own_shapes.0.insert(place, centre);
        }
        Ok(own_shapes)
    }

    /// Returns the handle of the body at place `index` of [`Scene::bodies`] in a world made by
    /// [`Scene::build`]. There it is stale if the scene has no such body.
    pub fn handle(&self, index: usize) -> BodyHandle {
        BodyHandle::from_parts(u32::try_from(index).unwrap_or(u32::MAX), 0)
    }

    /// Returns the handle of the joint at place `index` of [`Scene::joints`] in a world made by [`Scene::build`]. There it is stale if the
    /// scene has no such joint.
    pub fn joint_handle(&self, index: usize) -> JointHandle {
        JointHandle { index: u32::try_from(index).unwrap_or(u32::MAX), generation: 0 }
    }

    /// Returns how many bodies move: the dynamic and kinematic ones that are not particles.
    pub fn moving(&self) -> usize {
        let moves = |body: &&BodyDesc| body.body_type != BodyType::Static && !body.is_particle();
        self.bodies.iter().filter(moves).count()
    }

    /// Returns how many bodies are particles.
    pub fn particles(&self) -> usize {
        self.bodies.iter().filter(|body| body.is_particle()).count()
    }
}
