//! The camera: which part of the world a picture shows, and how a point of the world becomes a place in the picture.

use super::Look;
use granule::{Role, ShapeKind, StoredBody, Vec2, World};

/// The part of the picture's smaller side that is left free around the bodies.
const MARGIN: f32 = 0.03;
/// How far the bodies are moved down from the middle, as a part of the free height.
const LIFT: f32 = 0.3;
/// The part of the bodies that may be left out at each side, if they lie far out.
const OUTLIERS: f32 = 0.005;
/// A world with fewer bodies than this has no outliers.
const MIN_CROWD: usize = 50;
/// A body beyond the crowd by more than this part of the crowd's extent lies far out.
const FAR_OUT: f32 = 0.25;
/// The part of the bodies that may be faster than the end of the scale.
const FASTEST: f32 = 0.01;
/// The least speed at the end of the scale, m/s, so that bodies at rest look so.
const MIN_TOP_SPEED: f32 = 1.0;

/// The part of the world that a picture shows. y is up in the world, and down in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The point of the world in the middle of the picture, m.
    pub centre: Vec2,
    /// Pixels per metre.
    pub scale: f32,
    /// The place of `centre` in the picture, in pixels.
    pub(super) middle: Vec2,
}

impl Camera {
    /// Returns a camera that shows `width` metres of the world about `centre` in a picture of this many pixels.
    pub fn looking_at(centre: Vec2, width: f32, pixels_wide: usize, pixels_high: usize) -> Camera {
        let middle = 0.5 * Vec2::new(pixels_wide as f32, pixels_high as f32);
        Camera { centre, scale: pixels_wide as f32 / width, middle }
    }

    /// Returns the place of a point of the world in the picture, in pixels from the top left corner.
    pub fn place(&self, point: Vec2) -> Vec2 {
        let from_centre = self.scale * (point - self.centre);
        self.middle + Vec2::new(from_centre.x, -from_centre.y)
    }
}

/// A camera, and the scales for speeds and impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The camera.
    pub camera: Camera,
    /// The speed at the end of the colour scale, m/s.
    pub top_speed: f32,
    /// The normal impulse that is drawn with the longest line, N·s. Larger ones are drawn as long.
    pub top_impulse: f32,
}

/// The range that the frames of a clip span. Add all frames before you make a view of it: then the view does not move.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    bounds: Option<Bounds>,
    top_speed: f32,
    top_impulse: f32,
    with_contacts: bool,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    lower: Vec2,
    upper: Vec2,
}

impl Bounds {
    fn with(self, other: Bounds) -> Bounds {
        Bounds { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }

    fn holds(&self, other: Bounds) -> bool {
        self.lower.cmple(other.lower).all() && other.upper.cmple(self.upper).all()
    }
}

impl Survey {
    /// Returns an empty survey for pictures of this look. `Survey::default()` suffices for pictures without contacts.
    pub fn new(look: &Look) -> Survey {
        Survey { with_contacts: look.contacts, ..Survey::default() }
    }

    /// Adds the present state: all bodies that move, except a few that are far out, and the static bodies that stand
    /// among them.
    pub fn add(&mut self, world: &World) {
        if let Some(bounds) = bounds(world) {
            self.bounds = Some(self.bounds.map_or(bounds, |old| old.with(bounds)));
        }
        let dynamic = stored(world).filter(|body| body.role() == Role::Dynamic);
        let mut speeds: Vec<f32> = dynamic.map(|body| body.velocity().length()).collect();
        self.top_speed = self.top_speed.max(all_but(&mut speeds, FASTEST));
        if self.with_contacts {
            let mut impulses: Vec<f32> = world.contacts().map(|contact| contact.normal_impulse).collect();
            self.top_impulse = self.top_impulse.max(all_but(&mut impulses, FASTEST));
        }
    }

    /// Returns the view that shows everything added, in a picture of this many pixels.
    pub fn view(&self, pixels_wide: usize, pixels_high: usize) -> View {
        self.view_below(0, pixels_wide, pixels_high)
    }

    /// Returns the same view as [`Survey::view`], with `above` rows at the top of the picture left free for a caption.
    pub fn view_below(&self, above: usize, pixels_wide: usize, pixels_high: usize) -> View {
        let pixels_high = pixels_high.saturating_sub(above).max(1);
        let unit = Bounds { lower: Vec2::splat(-1.0), upper: Vec2::splat(1.0) };
        let Bounds { lower, upper } = self.bounds.unwrap_or(unit);
        let size = (upper - lower).max(Vec2::splat(1.0e-3));
        let half_size = 0.5 * Vec2::new(pixels_wide as f32, pixels_high as f32);
        let free = 2.0 * (half_size - Vec2::splat(2.0 * MARGIN * half_size.min_element()));
        let scale = (free / size).min_element();
        let mut centre = 0.5 * (lower + upper);
        // Free height is more useful above, where bodies come from, than below the floor.
        centre.y += LIFT * (free.y / scale - size.y);
        let camera = Camera { centre, scale, middle: half_size + Vec2::new(0.0, above as f32) };
        let top_impulse = if self.top_impulse > 0.0 { self.top_impulse } else { 1.0 };
        View { camera, top_speed: self.top_speed.max(MIN_TOP_SPEED), top_impulse }
    }
}

/// All bodies.
fn stored(world: &World) -> impl Iterator<Item = StoredBody<'_>> {
    (0..world.storage_len()).filter_map(|index| world.stored_body(index))
}

/// Returns the largest of the values, after the largest `part` of them is left out.
fn all_but(values: &mut [f32], part: f32) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let rank = values.len() - 1 - (part * values.len() as f32) as usize;
    *values.select_nth_unstable_by(rank, f32::total_cmp).1
}

fn bounds(world: &World) -> Option<Bounds> {
    let (mut moving, mut driven, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
    for body in stored(world).filter(|body| body.kind() != ShapeKind::HalfSpace) {
        let (at, half) = (body.position(), body.half_extents());
        let one = Bounds { lower: at - half, upper: at + half };
        match body.role() {
            Role::Dynamic => moving.push(one),
            Role::Kinematic => driven.push(one),
            Role::Static => fixed.push(one),
            Role::Quarantined | Role::Disabled => {}
        }
    }
    if moving.is_empty() {
        return driven.into_iter().chain(fixed).reduce(Bounds::with);
    }
    let axis = |axis: usize| {
        let ends = moving.iter().map(|one| (one.lower[axis], one.upper[axis]));
        let (mut lower, mut upper): (Vec<f32>, Vec<f32>) = ends.map(|(low, high)| (-low, high)).unzip();
        (-crowd(&mut lower, &upper), crowd(&mut upper, &lower))
    };
    let ((left, right), (bottom, top)) = (axis(0), axis(1));
    let bodies = Bounds { lower: Vec2::new(left, bottom), upper: Vec2::new(right, top) };
    // Driven bodies are few and meant to be seen: none of them counts as far out.
    let bodies = driven.into_iter().fold(bodies, Bounds::with);
    let beside = 0.5 * (bodies.upper - bodies.lower);
    let around = Bounds { lower: bodies.lower - beside, upper: bodies.upper + beside };
    Some(fixed.into_iter().filter(|one| around.holds(*one)).fold(bodies, Bounds::with))
}

/// Returns where the crowd ends on one side: at the last body, unless that lies far out. The ends on both sides are
/// counted outwards.
fn crowd(ends: &mut [f32], other: &[f32]) -> f32 {
    let last = all_but(ends, 0.0);
    if ends.len() < MIN_CROWD {
        return last;
    }
    let edge = all_but(ends, OUTLIERS);
    let extent = edge + all_but(&mut other.to_vec(), OUTLIERS);
    last.min(edge + FAR_OUT * extent)
}
