//! **Granule** is a data-oriented SIMD 2D physics engine for tens of thousands to a million circles, boxes, polygons
//! and linked particles. It stores bodies in one column per scalar and solves eight contacts at a time on every core. The
//! result is the same, bit for bit, with every instruction set and number of threads.
//!
//! ```
//! use granule::{BodyDesc, Settings, Shape, Vec2, World};
//!
//! let mut world = World::new(Settings::default())?;
//! world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
//! let crate_ = world.add_body(&BodyDesc::dynamic(Shape::aabb(0.5, 0.5), Vec2::new(0.0, 3.0)))?;
//! let ball = world.add_body(&BodyDesc {
//!     velocity: Vec2::new(1.0, 0.0),
//!     ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(-4.0, 0.5))
//! })?;
//! for _ in 0..60 {
//!     world.step();
//! }
//! assert!(world.body(ball)?.angular_velocity < 0.0); // it rolls to the right
//! assert!(world.contacts().any(|contact| contact.a == crate_ || contact.b == crate_));
//! # Ok::<(), granule::Error>(())
//! ```
//!
//! # The step
//!
//! ```text
//!  bodies (columns)
//!    │ broadphase     if a body has left its margin: order of space, pairs     broadphase.rs
//!    │ contacts       … colours, blocks, impulses carried over                 contacts.rs
//!    │ bounds         columns → the solver's rows                              solver/mirror.rs
//!    │ narrowphase    blocks updated in place: normals, separations            contacts/update.rs
//!    │ islands        sleeping bodies that are touched wake                    world/sleep.rs
//!    │ contacts       begin and end events                                     contacts.rs
//!    │ solver         substeps × passes over tiles of space                    solver.rs
//!    │ links          passes over links between these, if there are any        solver/verlet.rs
//!    │ solver         fast bodies end at walls; the columns are written         continuous.rs
//!    │ islands        what has come to rest falls asleep                      world/sleep.rs
//!    ▼
//!  bodies (columns)
//! ```
//!
//! # Conventions
//!
//! - Units are metres, kilograms, seconds, radians. y points up only because the default gravity points down.
//! - Angles, angular velocities and torques are counter-clockwise.
//! - A contact's normal points from A to B. *Separation* is negative when the shapes overlap;
//!   *penetration* or *depth* is its negative.
//! - The tangent of a contact is (−n.y, n.x).
//! - Impulses are those on B. A gets the opposite. A normal impulse is never negative.
//! - Mass 0 means infinite: the body moves by its velocity alone.
//! - A body's position is its centre of mass. Vertices of a shape run counter-clockwise.
//!
//! # Threads
//!
//! [`World::step`] uses the rayon pool in which you call it: `pool.install(|| world.step())`. Outside any pool it is
//! single-threaded; it never builds the global pool. [`step_many`] steps many worlds at once. Without the feature
//! `parallel` both are always single-threaded.
//!
//! # More
//!
//! The [`guide`] has a chapter with an example for each of what a host does: worlds and steps, joints, queries, events, sensors, hooks, edits singly and
//! in bulk, fields of force, sleep, continuous collision, snapshots, recordings, drawing, telemetry. `examples/` has whole programs.
//!
//! # Features
//!
//! `parallel` (default): threads, by rayon. `scene`: scene files, by serde. If you need neither, set `default-features = false`.

mod assembly;
mod base;
mod body;
mod broadphase;
mod contacts;
mod continuous;
mod crew;
mod error;
mod formula;
mod geometry;
mod isa;
mod joints;
mod lane;
mod material;
mod narrowphase;
mod particles;
pub mod scene;
mod settings;
mod sleep;
mod solver;
mod timing;
pub mod verify;
mod world;

pub use assembly::{Assembly, Cloth};
pub use body::compound::Part;
pub use body::hooks::{HookContact, HookPoint, HookUse, Hooks};
pub use body::own::Locks;
pub use body::{BodyDesc, BodyHandle, BodyState, BodyType, Filter};
pub use contacts::ContactEvent;
#[doc(hidden)]
pub use crew::set_oversubscribe;
pub use error::Error;
pub use geometry::polygon::Polygon;
pub use geometry::shape::{Shape, ShapeKind};
pub use glam::Vec2;
pub use isa::{Isa, UnknownIsa};
pub use joints::desc::{
    JointDesc, JointDrive, JointEnds, JointFrame, JointHandle, JointKind, JointMotor, Spring,
};
pub use joints::report::{JointEnd, JointEvent, JointQuality, JointState};
pub use material::{Material, Mix, Mixed, Mixing};
pub use particles::hulls::HullHandle;
pub use particles::links::{LinkDesc, LinkEnd, LinkEvent, LinkHandle, LinkKind, LinkQuality};
pub use settings::{Settings, Solver};
pub use timing::{Span, Stage, Timings};
pub use world::many::step_many;
#[doc(hidden)]
pub use world::reseal_snapshot;
pub use world::{
    Accept, BatchFirst, BatchHits, BodyPart, Distance, Hit, Nearest, Probe, QueryFilter, Ray, ShapeCast,
    Visit,
};
pub use world::{
    Advance, Columns, Contact, DebugDraw, Difference, DrawShape, DrawWhat, Explosion, Field, FieldKind,
    HitEvent, JointColumns, JointForceEvent, Mismatch, MoveEvent, MoveReport, Mover, Order, PlacedJoint,
    PlacedLink, PlacedShape, PoseField, Quality, Quarantine, Recording, Region, Replay, Residual, Role,
    SensorEvent, StoredBody, Telemetry, World,
};

#[doc = include_str!("../docs/embedding.md")]
#[cfg(any(doc, doctest))]
pub mod guide {}

/// The examples of the README, as tests.
#[cfg(doctest)]
mod examples {
    #[doc = include_str!("../README.md")]
    struct Readme;
}
