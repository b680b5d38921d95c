//! Hooks: what a host decides about pairs and contacts while a step runs.

use super::BodyHandle;
use crate::material::{Material, Mixed};
use glam::Vec2;
use std::sync::Arc;

/// Decisions of a host, which the step asks for: see [`World::set_hooks`](crate::World::set_hooks).
///
/// The threads of a step call the methods at the same time and in any order. So that the result does not depend on that, an answer
/// must depend on nothing but the arguments and on what stays as it is while the step runs. A method that panics makes
/// [`World::step`](crate::World::step) panic, and the world is then of no more use.
///
/// ```
/// use granule::{BodyDesc, BodyHandle, HookContact, Hooks, Settings, Shape, Vec2, World};
/// use std::sync::Arc;
///
/// /// A platform that bodies pass through from below.
/// struct OneWay(BodyHandle);
///
/// impl Hooks for OneWay {
///     fn before_solve(&self, contact: &mut HookContact) {
///         if contact.names(self.0) {
///             let lands = contact.normal_from(self.0).y > 0.7;
///             contact.solve = lands && contact.points().iter().all(|point| point.separation > -0.1);
///         }
///     }
///
///     fn stops(&self, _fast: BodyHandle, obstacle: BodyHandle, normal: Vec2) -> bool {
///         obstacle != self.0 || normal.y > 0.7
///     }
/// }
///
/// let mut world = World::new(Settings::default())?;
/// let platform = world.add_body(&BodyDesc::fixed(Shape::oriented_box(2.0, 0.1), Vec2::new(0.0, 2.0)))?;
/// let ball = world.add_body(&BodyDesc {
///     velocity: Vec2::new(0.0, 9.0),
///     ..BodyDesc::dynamic(Shape::circle(0.3), Vec2::ZERO)
/// })?;
/// world.set_hooks(Some(Arc::new(OneWay(platform))));
/// for _ in 0..180 {
///     world.step();
/// }
/// assert!((world.body(ball)?.position.y - 2.4).abs() < 0.02); // it lies on the platform
/// # Ok::<(), granule::Error>(())
/// ```
pub trait Hooks: Send + Sync {
    /// Which of the methods the step has to call. Default: all. The others cost nothing. Asked once, by
    /// [`World::set_hooks`](crate::World::set_hooks).
    fn uses(&self) -> HookUse {
        HookUse::ALL
    }

    /// Returns false if two bodies must not touch. Their filters and joints are asked as well. `a` has the lower handle. Default: true.
    ///
    /// The answer is kept for as long as the pair list lives. When it would be another one for the same two bodies, call
    /// [`World::set_hooks`](crate::World::set_hooks) again. Sensors and hulls do not ask.
    fn may_touch(&self, _a: BodyHandle, _b: BodyHandle) -> bool {
        true
    }

    /// Returns the coefficients of contacts of two materials. `mixed` is what [`World::set_pair_material`](crate::World::set_pair_material)
    /// says of them, or else what [`Settings::mixing`](crate::Settings::mixing) makes of them, which is the default. The answer must be the same
    /// with the materials swapped. A value that is out of range is replaced by that of `mixed`.
    ///
    /// The answer is kept for as long as the pair list lives.
    fn mix(&self, _a: &Material, _b: &Material, mixed: Mixed) -> Mixed {
        mixed
    }

    /// Looks at a contact before it is solved, and changes it for this step. Default: does nothing.
    ///
    /// Each two shapes that touch, or are so near that they may touch in this step, are shown once a step. Contacts of hulls are not shown,
    /// nor are those of two bodies that sleep.
    fn before_solve(&self, _contact: &mut HookContact) {}

    /// Returns false if continuous collision must let a fast body pass through another one, which it would hit within the step.
    /// `normal` points from the obstacle to the fast body. Default: true.
    fn stops(&self, _fast: BodyHandle, _obstacle: BodyHandle, _normal: Vec2) -> bool {
        true
    }
}

/// The methods of [`Hooks`] that a step calls, and what they may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookUse {
    /// [`Hooks::may_touch`]
    pub may_touch: bool,
    /// [`Hooks::mix`]
    pub mix: bool,
    /// [`Hooks::before_solve`]
    pub before_solve: bool,
    /// [`Hooks::stops`]
    pub stops: bool,
    /// Whether [`Hooks::mix`] or [`Hooks::before_solve`] may let something bounce. If not, and if no material and no pair of materials of the
    /// world ever had restitution, what they say of restitution is ignored: such a world is solved in less time.
    pub restitution: bool,
}

impl HookUse {
    /// All methods.
    pub const ALL: HookUse =
        HookUse { may_touch: true, mix: true, before_solve: true, stops: true, restitution: true };
    /// No method.
    pub const NONE: HookUse =
        HookUse { may_touch: false, mix: false, before_solve: false, stops: false, restitution: false };
}

/// A point of a contact, as of the start of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HookPoint {
    /// The point midway between the surfaces, m.
    pub point: Vec2,
    /// The distance between the surfaces, m; negative when they overlap.
    pub separation: f32,
    /// The speed at which the surfaces approach each other there, along the normal, m/s; negative when they part.
    pub approach_speed: f32,
}

/// A contact of two shapes before it is solved, see [`Hooks::before_solve`]. What is written to `solve`, `coefficients` and `tangent_speed`
/// holds for this step; a value that is out of range changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HookContact {
    /// One body.
    pub a: BodyHandle,
    /// The other.
    pub b: BodyHandle,
    /// The number of `a`'s shape among its [`World::parts`](crate::World::parts); 0 for a body of one shape.
    pub part_a: u8,
    /// The number of `b`'s shape.
    pub part_b: u8,
    /// The unit vector from `a` to `b`, normal to the surfaces.
    pub normal: Vec2,
    pub(crate) points: [HookPoint; 2],
    pub(crate) count: u8,
    /// If false, the contact is not solved in this step, and its bodies do not touch in it.
    pub solve: bool,
    /// Friction and restitution. At first they are those of the two materials, mixed, in every step. (Restitution takes effect from
    /// [`Settings::restitution_threshold`](crate::Settings::restitution_threshold) on.)
    pub coefficients: Mixed,
    /// Speed of the surfaces relative to the bodies, m/s, in ±1e6: see [`Material::tangent_speed`]. At first the sum of those of both
    /// materials. Ignored between circles, axis-aligned boxes and half-spaces if neither of the two materials has rolling resistance or a
    /// tangent speed of its own, and in a world that never had such a material.
    pub tangent_speed: f32,
}

impl HookContact {
    /// The points at which the shapes touch or may touch: one or two.
    pub fn points(&self) -> &[HookPoint] {
        &self.points[..usize::from(self.count)]
    }

    /// Returns true if the contact is one of this body.
    pub fn names(&self, body: BodyHandle) -> bool {
        self.a == body || self.b == body
    }

    /// The normal that points away from a body of the contact.
    pub fn normal_from(&self, body: BodyHandle) -> Vec2 {
        if body == self.b { -self.normal } else { self.normal }
    }
}

/// The hooks of a world.
#[derive(Clone, Default)]
pub(crate) struct Hooked {
    hooks: Option<Arc<dyn Hooks>>,
    uses: HookUse,
}

impl Hooked {
    pub(crate) fn new(hooks: Option<Arc<dyn Hooks>>) -> Hooked {
        let uses = hooks.as_ref().map_or(HookUse::NONE, |hooks| hooks.uses());
        Hooked { hooks, uses }
    }

    pub(crate) fn are_set(&self) -> bool {
        self.hooks.is_some()
    }

    pub(crate) fn get(&self) -> Option<&Arc<dyn Hooks>> {
        self.hooks.as_ref()
    }

    pub(crate) fn uses(&self) -> HookUse {
        self.uses
    }

    fn if_used(&self, used: bool) -> Option<&dyn Hooks> {
        if used { self.hooks.as_deref() } else { None }
    }

    /// Returns true if the hooks keep two bodies from touching.
    pub(super) fn part(&self, a: BodyHandle, b: BodyHandle) -> bool {
        self.if_used(self.uses.may_touch).is_some_and(|hooks| !hooks.may_touch(a.min(b), a.max(b)))
    }

    pub(super) fn mix(&self, a: &Material, b: &Material, mixed: Mixed) -> Mixed {
        self.if_used(self.uses.mix).map_or(mixed, |hooks| hooks.mix(a, b, mixed).or(&mixed))
    }

    /// The hooks, if they look at contacts.
    pub(crate) fn of_contacts(&self) -> Option<&dyn Hooks> {
        self.if_used(self.uses.before_solve)
    }

    /// The hooks, if they let fast bodies pass.
    pub(crate) fn of_walls(&self) -> Option<&dyn Hooks> {
        self.if_used(self.uses.stops)
    }
}
