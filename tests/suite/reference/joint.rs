//! One substep of a joint, from the law of the soft constraint (E. Catto, "Soft Constraints", 2011; "Solver2D", 2024).
//!
//! A joint is a list of blocks. A block is one coordinate of the bodies, or up to three that are solved at once. Its Jacobian is the derivative of
//! the coordinates, taken numerically: so no formula of an effective mass or of an arm is written down twice.

/// A body: place (x, y, angle), velocity, and inverse mass and inertia.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub place: [f64; 3],
    pub velocity: [f64; 3],
    pub inv_mass: [f64; 3],
}

impl Body {
    /// The speed of the centre, or that of the rim of a disc round it, if that is larger.
    fn speed(&self, [x, y, spin]: [f64; 3]) -> f64 {
        let [inv_mass, _, inv_inertia] = self.inv_mass;
        let rim = if inv_inertia > 0.0 { (2.0 * inv_mass / inv_inertia).sqrt() } else { 0.0 };
        x.hypot(y).max(rim * spin.abs())
    }
}

/// The coordinates of a block, for bodies at some places. The first places are those at which the axes of A stand still.
pub type Coordinates = Box<dyn Fn(&[[f64; 3]], &[[f64; 3]]) -> Vec<f64>>;

/// How a block answers to its error, with hertz and damping ratio.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Held at 0: softly before the bodies move, and without a bias afterwards.
    Rigid(f64, f64),
    /// A spring.
    Spring(f64, f64),
    /// A speed is wanted, whatever the coordinate is.
    Speed,
    /// Held at 0 or above, as stiffly as `Rigid`.
    Limit(f64, f64),
}

/// The bounds of a block's impulse in a substep.
#[derive(Clone, Copy, Debug)]
pub enum Bounds {
    Range(f64, f64),
    Length(f64),
}

pub struct Block {
    pub coordinates: Coordinates,
    /// The wanted speeds, for bodies at these places.
    pub speeds: Coordinates,
    pub answer: Answer,
    /// How the coordinates from the second on answer, if otherwise than the first.
    pub others: Option<Answer>,
    pub bounds: Bounds,
    pub impulse: Vec<f64>,
    /// The limits of a coordinate whose speed is wanted, and how they answer. The wanted speed is no more than what leads up to them; from beyond
    /// it is no less than that at which they are corrected.
    pub between: Option<([f64; 2], Answer)>,
    /// The largest error of the last coordinate that is corrected at once.
    pub largest: f64,
}

/// The constants of an implicit spring, for a unit mass: an impulse of −mass·(v + rate·C) − give·λ.
#[derive(Clone, Copy)]
struct Soft {
    rate: f64,
    mass: f64,
    give: f64,
}

const STOP: Soft = Soft { rate: 0.0, mass: 1.0, give: 0.0 };

impl Soft {
    /// The implicit Euler step of x″ = −c·x′ − k·x has the impulse λ = −h·c·v − h·k·(x + h·v), for the new speed v.
    fn spring(hertz: f64, ratio: f64, h: f64) -> Soft {
        let omega = std::f64::consts::TAU * hertz;
        let (stiffness, damping) = (omega * omega, 2.0 * ratio * omega);
        let give = 1.0 / (h * (damping + h * stiffness));
        Soft {
            rate: stiffness / (damping + h * stiffness),
            mass: 1.0 / (1.0 + give),
            give: give / (1.0 + give),
        }
    }

    /// A stiffness of more than a quarter of the substeps' rate is reduced to that.
    fn rigid(hertz: f64, ratio: f64, h: f64) -> Soft {
        if hertz == 0.0 { STOP } else { Soft::spring(hertz.min(0.25 / h), ratio, h) }
    }
}

impl Block {
    /// A block without bounds and wanted speeds.
    pub fn new(answer: Answer, coordinates: Coordinates) -> Block {
        let bounds = match answer {
            Answer::Limit(..) => Bounds::Range(0.0, f64::INFINITY),
            _ => Bounds::Range(f64::NEG_INFINITY, f64::INFINITY),
        };
        Block {
            coordinates,
            speeds: Box::new(|_, _| vec![0.0; 3]),
            answer,
            others: None,
            bounds,
            impulse: vec![0.0; 3],
            between: None,
            largest: f64::INFINITY,
        }
    }

    /// The derivatives of the coordinates: for each the derivatives by x, y and angle of each body.
    fn jacobian(&self, bodies: &[Body]) -> Vec<Vec<[f64; 3]>> {
        let places: Vec<[f64; 3]> = bodies.iter().map(|body| body.place).collect();
        let step = 1e-5;
        let mut rows = vec![vec![[0.0; 3]; bodies.len()]; (self.coordinates)(&places, &places).len()];
        for body in 0..bodies.len() {
            for axis in 0..3 {
                let at = |by: f64| {
                    let mut moved = places.clone();
                    moved[body][axis] += by;
                    (self.coordinates)(&places, &moved)
                };
                for (row, (high, low)) in rows.iter_mut().zip(at(step).iter().zip(at(-step))) {
                    row[body][axis] = (high - low) / (2.0 * step);
                }
            }
        }
        rows
    }

    /// Changes impulse and velocities. Returns the largest speed that the impulse of a coordinate gave to a body.
    fn solve(&mut self, bodies: &mut [Body], h: f64, relax: bool) -> f64 {
        let places: Vec<[f64; 3]> = bodies.iter().map(|body| body.place).collect();
        let mut errors = (self.coordinates)(&places, &places);
        if let Some(last) = errors.last_mut() {
            *last = last.clamp(-self.largest, self.largest);
        }
        let mut speeds = (self.speeds)(&places, &places);
        if let Some(([low, high], answer)) = self.between {
            let corrected = self::soft(answer, h, relax).rate;
            let most = |way: f64, inside: bool| if inside { way / h } else { way * corrected };
            let (down, up) = (low - errors[0], high - errors[0]);
            speeds[0] = speeds[0].max(most(down, down < 0.0)).min(most(up, up > 0.0));
        }
        let rows = self.jacobian(bodies);
        let mut soft = vec![soft(self.answer, h, relax)];
        if matches!(self.answer, Answer::Limit(..)) && errors[0] > 0.0 {
            // The room may be used up, and no more.
            soft = vec![Soft { rate: 1.0 / h, ..STOP }];
        }
        // The coordinates of a group give way together, as if there were no others.
        soft.resize(rows.len(), self.others.map_or(soft[0], |others| self::soft(others, h, relax)));
        let group = |i: usize| self.others.is_some() && i > 0;
        let wanted: Vec<f64> = (0..rows.len())
            .map(|i| product(&rows[i], bodies, |body| body.velocity) - speeds[i] + soft[i].rate * errors[i])
            .collect();
        let mass = |i: usize, j: usize| {
            let by_mass: Vec<[f64; 3]> = rows[j]
                .iter()
                .zip(bodies.iter())
                .map(|(row, body)| [0, 1, 2].map(|axis| row[axis] * body.inv_mass[axis]))
                .collect();
            rows[i].iter().flatten().zip(by_mass.iter().flatten()).map(|(a, b)| a * b).sum::<f64>()
        };
        // (K + Γ)·Δλ = −(wanted + Γ·λ)
        let old = self.impulse.clone();
        let count = rows.len();
        let mut matrix = vec![vec![0.0; count]; count];
        let mut right: Vec<f64> = wanted.iter().map(|wanted| -wanted).collect();
        for i in 0..count {
            for j in 0..count {
                let give = if group(i) == group(j) { soft[i].give / soft[i].mass * mass(i, j) } else { 0.0 };
                matrix[i][j] = mass(i, j) + give;
                right[i] -= give * old[j];
            }
        }
        for (impulse, change) in self.impulse.iter_mut().zip(solved(matrix, right)) {
            *impulse += change;
        }
        self.bound(rows.len());
        let mut fastest = 0.0f64;
        for (i, row) in rows.iter().enumerate() {
            let change = self.impulse[i] - old[i];
            for (body, row) in bodies.iter_mut().zip(row) {
                let gained = [0, 1, 2].map(|axis| row[axis] * body.inv_mass[axis] * change);
                (0..3).for_each(|axis| body.velocity[axis] += gained[axis]);
                fastest = fastest.max(body.speed(gained)).max(body.speed(body.velocity));
            }
        }
        fastest
    }

    fn bound(&mut self, count: usize) {
        match self.bounds {
            Bounds::Range(low, high) => {
                self.impulse[..count].iter_mut().for_each(|part| *part = part.clamp(low, high));
            }
            Bounds::Length(most) => {
                let length = self.impulse[0].hypot(self.impulse[1]);
                if length > most {
                    self.impulse.iter_mut().for_each(|part| *part *= most / length);
                }
            }
        }
    }
}

fn soft(answer: Answer, h: f64, relax: bool) -> Soft {
    match answer {
        Answer::Rigid(..) | Answer::Limit(..) if relax => STOP,
        Answer::Rigid(hertz, ratio) | Answer::Limit(hertz, ratio) => Soft::rigid(hertz, ratio, h),
        Answer::Spring(hertz, ratio) => Soft::spring(hertz, ratio, h),
        Answer::Speed => STOP,
    }
}

/// Solves linear equations with a symmetric matrix that is not negative. A coordinate that nothing moves, such as the angle of bodies that
/// do not turn, gets 0.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    let whole: Vec<f64> = (0..count).map(|i| matrix[i][i]).collect();
    let free = |i: usize, pivot: f64| pivot <= 1e-12 * whole[i];
    for i in 0..count {
        if free(i, matrix[i][i]) {
            continue;
        }
        for j in i + 1..count {
            let factor = matrix[j][i] / matrix[i][i];
            let pivot = matrix[i].clone();
            for (element, of_pivot) in matrix[j].iter_mut().zip(&pivot).skip(i) {
                *element -= factor * of_pivot;
            }
            right[j] -= factor * right[i];
        }
    }
    let mut solution = vec![0.0; count];
    for i in (0..count).rev() {
        if !free(i, matrix[i][i]) {
            let rest: f64 = (i + 1..count).map(|j| matrix[i][j] * solution[j]).sum();
            solution[i] = (right[i] - rest) / matrix[i][i];
        }
    }
    solution
}

fn product(row: &[[f64; 3]], bodies: &[Body], of: impl Fn(&Body) -> [f64; 3]) -> f64 {
    row.iter().zip(bodies).map(|(row, body)| (0..3).map(|axis| row[axis] * of(body)[axis]).sum::<f64>()).sum()
}

/// A step of one substep and one iteration, without gravity and without earlier impulses. Returns the largest speed that a body had in it, or that
/// the impulse of one coordinate gave.
pub fn step(bodies: &mut [Body], blocks: &mut [Block], h: f64) -> f64 {
    let mut fastest = bodies.iter().map(|body| body.speed(body.velocity)).fold(0.0, f64::max);
    for relax in [false, true] {
        for block in blocks.iter_mut() {
            fastest = fastest.max(block.solve(bodies, h, relax));
        }
        if !relax {
            for body in bodies.iter_mut() {
                (0..3).for_each(|axis| body.place[axis] += h * body.velocity[axis]);
            }
        }
    }
    fastest
}
