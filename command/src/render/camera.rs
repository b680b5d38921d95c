//! The camera: what is looked at, from where, and how a place in the world becomes one in the picture.

use super::Look;
use granule::{Role, ShapeKind, StoredBody, Vec2, World};

/// Of the picture's smaller side, left free around what is looked at.
const MARGIN: f32 = 0.03;
/// By how much of the height that is left over the bodies are moved down from the middle.
const LIFT: f32 = 0.3;
/// Part of the bodies that may be left out at each side, if they lie far out.
const OUTLIERS: f32 = 0.005;
/// Fewer bodies than this have no outliers.
const MIN_CROWD: usize = 50;
/// A body beyond the crowd by more than this part of the crowd's extent lies far out.
const FAR_OUT: f32 = 0.25;
/// Part of the bodies that may be faster than the scale's end.
const FASTEST: f32 = 0.01;
/// The scale of speeds reaches up to this at least, m/s: what is at rest looks so.
const MIN_TOP_SPEED: f32 = 1.0;

/// Which part of the world a picture shows: y is up in the world, and down in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The world's point in the middle of the picture, m.
    pub centre: Vec2,
    /// Pixels per metre.
    pub scale: f32,
    /// The picture's place of `centre`, in pixels.
    pub(super) middle: Vec2,
}

impl Camera {
    /// A camera that shows `width` metres of the world about `centre` in a picture of this many pixels.
    pub fn looking_at(centre: Vec2, width: f32, pixels_wide: usize, pixels_high: usize) -> Camera {
        let middle = 0.5 * Vec2::new(pixels_wide as f32, pixels_high as f32);
        Camera { centre, scale: pixels_wide as f32 / width, middle }
    }

    /// Where a point of the world is in the picture, in pixels from its top left corner.
    pub fn place(&self, point: Vec2) -> Vec2 {
        let from_centre = self.scale * (point - self.centre);
        self.middle + Vec2::new(from_centre.x, -from_centre.y)
    }
}

/// A camera, and the scales of what is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// From where.
    pub camera: Camera,
    /// The speed that the colour scale ends at, m/s.
    pub top_speed: f32,
    /// The normal impulse that is drawn as long as one can be, N·s.
    pub top_impulse: f32,
}

/// What the frames of a clip span. A view that is made after all of them were added does not move.
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
    /// For pictures of this look. `Survey::default()` does for those without contacts.
    pub fn new(look: &Look) -> Survey {
        Survey { with_contacts: look.contacts, ..Survey::default() }
    }

    /// Takes the present state in: all bodies that move, but for a few that are far out; and of the static ones
    /// those that stand among them.
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

    /// The view that has all of it in a picture of this many pixels.
    pub fn view(&self, pixels_wide: usize, pixels_high: usize) -> View {
        self.view_below(0, pixels_wide, pixels_high)
    }

    /// The same with some rows at the top left free, for a caption.
    pub fn view_below(&self, above: usize, pixels_wide: usize, pixels_high: usize) -> View {
        let pixels_high = pixels_high.saturating_sub(above).max(1);
        let unit = Bounds { lower: Vec2::splat(-1.0), upper: Vec2::splat(1.0) };
        let Bounds { lower, upper } = self.bounds.unwrap_or(unit);
        let size = (upper - lower).max(Vec2::splat(1.0e-3));
        let half_size = 0.5 * Vec2::new(pixels_wide as f32, pixels_high as f32);
        let free = 2.0 * (half_size - Vec2::splat(2.0 * MARGIN * half_size.min_element()));
        let scale = (free / size).min_element();
        let mut centre = 0.5 * (lower + upper);
        // What room is left is better above, where bodies come from, than below the floor.
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

/// Largest of the values but for this part of them.
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
            Role::Quarantined => {}
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
    // What is driven is few and meant to be seen: none of it counts as far out.
    let bodies = driven.into_iter().fold(bodies, Bounds::with);
    let beside = 0.5 * (bodies.upper - bodies.lower);
    let around = Bounds { lower: bodies.lower - beside, upper: bodies.upper + beside };
    Some(fixed.into_iter().filter(|one| around.holds(*one)).fold(bodies, Bounds::with))
}

/// Where the crowd ends on one side: at the last body, unless that lies far out. Both sides' ends are counted
/// outwards.
fn crowd(ends: &mut [f32], other: &[f32]) -> f32 {
    let last = all_but(ends, 0.0);
    if ends.len() < MIN_CROWD {
        return last;
    }
    let edge = all_but(ends, OUTLIERS);
    let extent = edge + all_but(&mut other.to_vec(), OUTLIERS);
    last.min(edge + FAR_OUT * extent)
}
