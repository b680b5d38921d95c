//! Hooks, and what holds where two materials meet.

use super::World;
use super::pairs::ListState;
use super::record::Call;
use crate::body::hooks::{Hooked, Hooks};
use crate::contacts::Look;
use crate::crew::Crew;
use crate::error::Error;
use crate::material::Mixed;
use std::sync::Arc;

impl World {
    /// Sets what decides about pairs and contacts while a step runs: see [`Hooks`]. `None`, the default, removes it, and then costs
    /// nothing. Wakes all bodies, and the next step makes a new pair list, which asks all questions anew.
    ///
    /// Hooks do not belong to the state of the world: two worlds step alike only if the host gives both the same.
    pub fn set_hooks(&mut self, hooks: Option<Arc<dyn Hooks>>) {
        self.record_aside(|| Call::SetHooks(hooks.is_some()));
        self.bodies.hooked = Hooked::new(hooks);
        self.hooks_changed();
    }

    /// The hooks that [`World::set_hooks`] has set.
    pub fn hooks(&self) -> Option<&Arc<dyn Hooks>> {
        self.bodies.hooked.get()
    }

    /// Notes that hooks may decide otherwise from now on. (A replay has hooks of its own and calls no more than this.)
    pub(super) fn hooks_changed(&mut self) {
        self.bodies.change_still();
        self.touch();
        self.bodies.any_restitution |= self.bodies.hooked.uses().restitution;
        self.mixing_changed();
    }

    /// Sets friction and restitution of contacts of two materials, by their [`Material::id`](crate::Material::id), in any order. `None`, the default,
    /// leaves it to [`Settings::mixing`](crate::Settings::mixing). Wakes all bodies.
    ///
    /// ```
    /// use granule::{BodyDesc, Material, Mixed, Settings, Shape, Vec2, World};
    ///
    /// let (ice, rubber) = (Material { id: 1, ..Material::default() }, Material { id: 2, ..Material::default() });
    /// let mut world = World::new(Settings::default())?;
    /// let floor = BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO);
    /// world.add_body(&BodyDesc { material: ice, ..floor })?;
    /// let ball = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 2.0));
    /// let ball = world.add_body(&BodyDesc { material: rubber, ..ball })?;
    /// let bouncy = Mixed { static_friction: 0.1, dynamic_friction: 0.1, restitution: 1.0 };
    /// world.set_pair_material(ice.id, rubber.id, Some(bouncy))?;
    /// let highest = (0..80).fold(0.0, |highest: f32, step| {
    ///     world.step();
    ///     if step < 40 { 0.0 } else { highest.max(world.body(ball).unwrap().position.y) }
    /// });
    /// assert!(highest > 1.7);
    /// # Ok::<(), granule::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for a coefficient that is not finite or out of range.
    pub fn set_pair_material(&mut self, a: u32, b: u32, mixed: Option<Mixed>) -> Result<(), Error> {
        self.record(|| Call::SetPairMaterial(a, b, mixed));
        if let Some(mixed) = mixed {
            mixed.validate()?;
            self.bodies.any_restitution |= mixed.restitution > 0.0;
        }
        self.bodies.pair_materials.set(a, b, mixed);
        self.mixing_changed();
        Ok(())
    }

    /// What [`World::set_pair_material`] has set for two materials.
    pub fn pair_material(&self, a: u32, b: u32) -> Option<Mixed> {
        self.bodies.pair_materials.get(a, b)
    }

    /// Notes that pairs may touch that did not before, or the reverse, and that contacts have other coefficients.
    fn mixing_changed(&mut self) {
        self.wake_all();
        self.bodies.forget_rest();
        self.list = ListState::Void;
    }

    /// Notes what the hooks of a world may do, after its state was replaced.
    pub(super) fn apply_hooks(&mut self) {
        if self.bodies.hooked.uses().restitution && !self.bodies.any_restitution {
            self.bodies.any_restitution = true;
            self.list = ListState::Void;
        }
    }

    /// Reads the contacts. Shows them to the hooks, if there are any, and does what these say.
    pub(super) fn ask_hooks(&mut self, crew: &Crew<'_>) {
        let Some(hooks) = self.bodies.hooked.of_contacts() else { return };
        let mirror = &self.solver.mirror;
        let look = Look {
            bodies: &self.bodies,
            shape: &mirror.shape,
            vel: &mirror.vel,
            mixing: self.settings.mixing,
            level: self.level,
        };
        let (tiles, overflow) = self.contacts.split_tiles();
        crew.for_each(tiles, |_, tile| look.ask(hooks, tile));
        look.ask(hooks, overflow);
    }
}
