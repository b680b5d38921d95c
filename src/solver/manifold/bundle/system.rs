//! The contacts of a bundle as one small system.
//!
//! All of them depend on the same four numbers, which are how the two bodies move against each other:
//!
//! ```text
//! motion = [v_x, v_y of B against A, spin of A, spin of B]       spins as speeds, as in the velocity rows
//! speed of a row = row · motion
//! an impulse λ of a row: motion += λ·(weight ∘ row)              weight = [1/m, 1/m, 2/m_A, 2/m_B], 1/m = 1/m_A + 1/m_B
//! ```
//!
//! So the contacts are read once, solved in turn as often as they need, and written back. (The kernels of the blocks read a contact
//! from some twenty cache lines in each sweep.)

use crate::formula::{Coupled, SOUND, limited, rebound};
use crate::lane::pair;

/// How many times at most the contacts of a bundle are pressed in turn. With 4, tables and carts slide on slopes that should hold them. With 20, no
/// law is held better, and a step of 3,000 falling compounds takes 9 % more time (`peers --scenes compounds`, in turns).
pub(super) const SWEEPS: usize = 8;
/// How many times at most they are rubbed. Friction moves the load of a body as tall as wide from one contact to another, and what has not
/// agreed yet counts as sliding: with 8, 730 of the 2,688 landings of the law `nearly_all_hold_wherever_they_land` slide, and with 60
/// 21. Contacts that push in different ways hardly ever agree: with 60 for these, too, a step of 3,000 falling compounds takes 7 % more time.
const RUBS: usize = 60;
/// The change of a speed, as a part of the fastest approach, below which they agree.
const AGREED: f32 = 1.0e-3;
/// How many times as large friction may make the normal impulses.
const WEDGED: f32 = 4.0;
/// The part of the points' own inverse masses that is left where normal impulses act against each other.
const OPPOSED: f32 = 1.0e-3;
/// The cosine of the angle between normals up to which contacts share one friction.
const PARALLEL: f32 = 0.999;

/// How the two bodies move against each other.
pub(super) type Motion = [f32; 4];

/// Whether a contact slides, and what friction it keeps if it does.
type Slides = Option<f32>;

/// A direction in which a contact acts.
#[derive(Clone, Copy, Default)]
struct Row {
    row: [f32; 4],
    /// The row with its weights.
    weighed: [f32; 4],
}

impl Row {
    fn new(row: [f32; 4], weight: [f32; 4]) -> Row {
        Row { row, weighed: std::array::from_fn(|axis| weight[axis] * row[axis]) }
    }

    fn speed(&self, motion: &Motion) -> f32 {
        dot(&self.row, motion)
    }

    fn push(&self, motion: &mut Motion, impulse: f32) {
        for (axis, weighed) in motion.iter_mut().zip(&self.weighed) {
            *axis += weighed * impulse;
        }
    }
}

fn dot(a: &[f32; 4], b: &[f32; 4]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

/// What a part is made of, from the blocks. `arms` are those of A and B.
pub(super) struct Contact {
    pub normal: [f32; 2],
    pub arms: [[f32; 2]; 2],
    pub tangent_arms: [f32; 2],
    /// 0 for a point that does not exist.
    pub normal_mass: [f32; 2],
    pub tangent_mass: f32,
    pub static_friction: f32,
    pub dynamic_friction: f32,
    pub restitution: f32,
    /// The speed of its belts.
    pub belt: f32,
}

/// One contact of the system.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    normal: [Row; 2],
    tangent: Row,
    normal_mass: [f32; 2],
    tangent_mass: f32,
    /// What an impulse at the other point takes off this one's, and one over the determinant of both; that is 0 for points that
    /// are solved one after the other.
    coupling: [f32; 2],
    per_determinant: f32,
    static_friction: f32,
    dynamic_friction: f32,
    restitution: f32,
    belt: f32,
}

impl Part {
    /// `flipped` tells whether the contact's A is the system's B.
    pub(super) fn new(of: &Contact, weight: [f32; 4], flipped: bool) -> Part {
        let row = |[x, y]: [f32; 2], [a, b]: [f32; 2]| {
            Row::new(if flipped { [-x, -y, b, -a] } else { [x, y, -a, b] }, weight)
        };
        let [x, y] = of.normal;
        let normal = of.arms.map(|arms| row([x, y], arms));
        let shared = dot(&normal[0].row, &normal[1].weighed);
        let coupling = of.normal_mass.map(|mass| mass * shared);
        let determinant = 1.0 - coupling[0] * coupling[1];
        Part {
            normal,
            tangent: row([-y, x], of.tangent_arms),
            normal_mass: of.normal_mass,
            tangent_mass: of.tangent_mass,
            coupling,
            per_determinant: if determinant > SOUND { 1.0 / determinant } else { 0.0 },
            static_friction: of.static_friction,
            dynamic_friction: of.dynamic_friction,
            restitution: of.restitution,
            belt: of.belt,
        }
    }

    fn speeds(&self, motion: &Motion) -> [f32; 2] {
        pair!(p => self.normal[p].speed(motion))
    }

    fn sliding(&self, motion: &Motion) -> f32 {
        self.tangent.speed(motion) + self.belt
    }

    fn most_friction(&self, of: &Impulses, slides: Slides) -> f32 {
        let hold = self.static_friction * of.load();
        slides.map_or(hold, |kept| (self.dynamic_friction * of.load()).max(kept.min(hold)))
    }

    /// Presses the points until none separates at less than its `floor`, as [`ManifoldKernel::apply_normal`](super::ManifoldKernel) does.
    /// Returns the largest change of a speed, and the work.
    fn press(&self, motion: &mut Motion, of: &mut Impulses, floor: [f32; 2]) -> [f32; 2] {
        let (old, from) = (of.normal, self.speeds(motion));
        let wanted = pair!(p => -(self.normal_mass[p] * (from[p] - floor[p])));
        let (coupling, per_determinant) = (self.coupling, self.per_determinant);
        let points = Coupled { coupling, per_determinant, sound: per_determinant > 0.0 };
        of.normal = points.impulses(old, wanted);
        let more = pair!(p => of.normal[p] - old[p]);
        self.push(motion, more);
        let to = self.speeds(motion);
        let work = pair!(p => more[p] * (0.5 * (from[p] + to[p])));
        [(to[0] - from[0]).abs().max((to[1] - from[1]).abs()), work[0] + work[1]]
    }

    fn push(&self, motion: &mut Motion, more: [f32; 2]) {
        for (row, more) in self.normal.iter().zip(more) {
            row.push(motion, more);
        }
    }

    /// Solves friction, then the normal impulses that keep the points at their floors. Returns the same as `press`.
    fn rub(
        &self,
        motion: &mut Motion,
        of: &mut Impulses,
        floor: Option<[f32; 2]>,
        slides: Slides,
        shared: Option<f32>,
    ) -> [f32; 2] {
        let (old, most, from) = (of.tangent, self.most_friction(of, slides), self.sliding(motion));
        of.tangent = match shared {
            Some(part) => part * most,
            None => limited(old - self.tangent_mass * from, most),
        };
        self.tangent.push(motion, of.tangent - old);
        let to = self.sliding(motion);
        let (change, work) = ((to - from).abs(), (of.tangent - old) * (0.5 * (from + to)));
        let Some(floor) = floor else { return [change, work] };
        let pressed = self.press(motion, of, floor);
        [change.max(pressed[0]), work + pressed[1]]
    }
}

/// The impulses of a contact.
#[derive(Clone, Copy, Default)]
pub(super) struct Impulses {
    pub normal: [f32; 2],
    pub tangent: f32,
    /// Those of the points without what friction has shifted from one point to another.
    pub pressed: [f32; 2],
    /// The energy that the impact has taken.
    pub absorbed: f32,
}

impl Impulses {
    fn load(&self) -> f32 {
        self.normal[0] + self.normal[1]
    }
}

/// What changes while a system is solved.
#[derive(Clone, Copy)]
pub(super) struct State<const N: usize> {
    pub motion: Motion,
    pub of: [Impulses; N],
}

/// The contacts of two bodies, while they are solved; at most `N`.
pub(super) struct System<'a, const N: usize> {
    pub parts: &'a [Part],
    pub now: State<N>,
    /// The least speed at which each point of each contact is to separate.
    pub floor: [[f32; 2]; N],
    /// The fastest approach, m/s.
    pub struck: f32,
    pub impact: bool,
}

impl<const N: usize> System<'_, N> {
    /// Solves the normal impulses of all contacts in turn, until they agree or so many times.
    pub(super) fn press(&mut self, sweeps: usize) {
        let agreed = AGREED * self.struck.abs();
        let State { motion, of } = &mut self.now;
        for _ in 0..sweeps {
            let mut most = 0.0f32;
            for ((part, of), floor) in self.parts.iter().zip(&mut *of).zip(&self.floor) {
                let old = of.normal;
                let [change, work] = part.press(motion, of, *floor);
                of.pressed = pair!(p => (of.pressed[p] + (of.normal[p] - old[p])).max(0.0));
                if self.impact {
                    of.absorbed -= work;
                }
                most = most.max(change);
            }
            if most <= agreed {
                break;
            }
        }
    }

    /// The sum of all normal impulses.
    pub(super) fn load(&self) -> f32 {
        self.now.of[..self.parts.len()].iter().map(Impulses::load).sum()
    }

    /// Gives back e² of the energy that the normal impulses have taken: all of them grow by one factor, as in a contact with two points.
    pub(super) fn rebound(&mut self) {
        let of = &mut self.now.of[..self.parts.len()];
        let sum: f32 = of.iter().map(|of| of.pressed[0] + of.pressed[1]).sum();
        let absorbed = of.iter().map(|of| of.absorbed).sum();
        if sum <= 0.0 {
            return;
        }
        let (mut restitution, mut own_inv_mass) = (0.0, 0.0);
        for (part, of) in self.parts.iter().zip(of) {
            of.pressed = of.pressed.map(|pressed| pressed / sum);
            restitution += part.restitution * (of.pressed[0] + of.pressed[1]);
            for (mass, share) in part.normal_mass.iter().zip(of.pressed) {
                own_inv_mass += if *mass > 0.0 { share * share / mass } else { 0.0 };
            }
        }
        let before = self.speed();
        self.push(sum);
        let inv_mass = (self.speed() - before) / sum;
        // Impulses that act against each other move nothing: the bodies are jammed.
        let jammed = inv_mass <= OPPOSED * own_inv_mass;
        let impulse = if jammed { 0.0 } else { rebound(absorbed, restitution, before, inv_mass) };
        self.push(impulse.max(-sum) - sum);
    }

    /// The speed at which the points separate, by their parts in the impact.
    fn speed(&self) -> f32 {
        let of = self.parts.iter().zip(&self.now.of).map(|(part, of)| {
            let speeds = part.speeds(&self.now.motion);
            of.pressed[0] * speeds[0] + of.pressed[1] * speeds[1]
        });
        of.sum()
    }

    /// Adds an impulse, of which each point takes its part.
    fn push(&mut self, impulse: f32) {
        let State { motion, of } = &mut self.now;
        for (part, of) in self.parts.iter().zip(of) {
            let old = of.normal;
            of.normal = pair!(p => (old[p] + of.pressed[p] * impulse).max(0.0));
            part.push(motion, pair!(p => of.normal[p] - old[p]));
        }
    }

    /// Solves friction of all contacts, with the speeds held at which their points separate. `before` the positions move nothing slides
    /// yet. What slides at less than `creep` needs nothing.
    pub(super) fn rub(&mut self, before: bool, creep: f32) {
        let mut slip = 0.0f32;
        for ((part, of), floor) in self.parts.iter().zip(&self.now.of).zip(&mut self.floor) {
            let speeds = part.speeds(&self.now.motion);
            *floor = pair!(p => if of.normal[p] > 0.0 { speeds[p] } else { floor[p].min(speeds[p]) });
            if of.load() > 0.0 {
                slip = slip.max(part.sliding(&self.now.motion).abs());
            }
        }
        if slip <= creep && !before {
            return;
        }
        let (kept, load) = (self.now, self.load());
        let mut slides = [None; N];
        let mut work = self.rub_until_agreed(slip, &slides, true, true);
        if !before {
            for ((part, slides), kept) in self.parts.iter().zip(&mut slides).zip(&kept.of) {
                // What held in an impact does not slide before it is over.
                let kept = if self.impact { kept.tangent.abs() } else { 0.0 };
                *slides = (part.sliding(&self.now.motion).abs() > creep).then_some(kept);
            }
            if slides.iter().any(Option::is_some) {
                work += self.rub_until_agreed(slip, &slides, true, true);
            }
        }
        // Normal impulses on points that part, as after a bounce, may do work: never more than friction takes. Where friction and
        // normal impulses raise each other without end, the bodies are wedged.
        let grown = self.load() > WEDGED * load;
        if grown || work.is_nan() || work > 0.0 {
            self.now = kept;
            work = self.rub_until_agreed(slip, &slides, false, true);
            // Parts that share one friction at arms of very different lengths may turn the bodies ever faster (a polygon that was
            // 9 m deep in a capsule reached 10¹¹ rad/s). Each on its own they only ever take energy.
            if work.is_nan() || work > 0.0 {
                self.now = kept;
                self.rub_until_agreed(slip, &slides, false, false);
            }
        }
    }

    /// Solves friction in turn, and with `held` the normal impulses too. If it may be `shared`, contacts that slide along one line bear the
    /// same part of their limits. Returns the work that all this does.
    fn rub_until_agreed(&mut self, slip: f32, slides: &[Slides; N], held: bool, shared: bool) -> f32 {
        let (mut work, parallel) = (0.0, shared && self.is_parallel());
        for _ in 0..if parallel { RUBS } else { SWEEPS } {
            let mut most = 0.0f32;
            let shared = if parallel { self.shared_friction(slides) } else { None };
            let State { motion, of } = &mut self.now;
            for (index, (part, of)) in self.parts.iter().zip(of).enumerate() {
                let floor = held.then_some(self.floor[index]);
                let [change, done] = part.rub(motion, of, floor, slides[index], shared);
                most = most.max(change);
                work += done;
            }
            if most <= AGREED * slip {
                break;
            }
        }
        work
    }

    /// Whether all contacts push the same way, and so slide along one line.
    fn is_parallel(&self) -> bool {
        let normal = |part: &Part| [part.normal[0].row[0], part.normal[0].row[1]];
        let [x, y] = normal(&self.parts[0]);
        self.parts.iter().map(normal).all(|other| x * other[0] + y * other[1] > PARALLEL)
    }

    /// The part of its limit that each contact bears if all bear the same part: friction is one for the bundle.
    fn shared_friction(&self, slides: &[Slides; N]) -> Option<f32> {
        let (mut most, mut borne, mut speed, mut mass) = (0.0, 0.0, 0.0, 0.0f32);
        for ((part, of), slides) in self.parts.iter().zip(&self.now.of).zip(slides) {
            let limit = part.most_friction(of, *slides);
            most += limit;
            borne += of.tangent;
            mass = mass.max(part.tangent_mass);
            speed += limit * part.sliding(&self.now.motion);
        }
        (most > 0.0).then(|| limited(borne - mass * (speed / most), most) / most)
    }
}
