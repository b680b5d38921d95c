//! How well joints hold.

use crate::engine::State;
use ::granule::{JointDesc, JointDrive, JointEnds, JointKind, Vec2};
use std::f64::consts::{PI, TAU};

/// The mean and the largest of what was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    count: usize,
    sum: f64,
    /// The largest; NaN if a value was none.
    pub largest: f64,
}

impl Spread {
    fn note(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        // `max` passes a NaN over: a world that is lost must not look whole.
        if value.is_nan() || value > self.largest {
            self.largest = value;
        }
    }

    /// The mean, unless there was nothing to look at.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Of all revolute joints, at the times that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The distance of the two points that a joint holds together, m.
    pub gap: Spread,
    /// How far a joint with limits is beyond them, rad.
    pub beyond: Spread,
}

impl Errors {
    /// Looks at all joints of a state.
    pub fn look(&mut self, joints: &[JointDesc<usize, usize>], states: &[State]) {
        for joint in joints {
            let (JointEnds::Bodies(a, b), JointKind::Revolute(drive)) = (joint.ends, joint.kind) else {
                continue;
            };
            let [a, b] = [(a, joint.frame_a), (b, joint.frame_b)].map(|(place, frame)| {
                let State { position, angle, .. } = states[place];
                let point = Vec2::from_array(position) + Vec2::from_angle(angle).rotate(frame.position);
                (point.as_dvec2(), f64::from(angle) + f64::from(frame.angle))
            });
            self.gap.note(a.0.distance(b.0));
            if let JointDrive { limit: Some(limit), .. } = drive {
                let [lower, upper] = limit.map(f64::from);
                let angle = (b.1 - a.1 + PI).rem_euclid(TAU) - PI;
                // The way back to the limits, on the shorter side.
                let beyond = |limit: f64| (angle - limit + PI).rem_euclid(TAU) - PI;
                let within = angle >= lower && angle <= upper;
                self.beyond.note(if within { 0.0 } else { beyond(lower).abs().min(beyond(upper).abs()) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(position: [f32; 2], angle: f32) -> State {
        State { position, angle, velocity: [0.0; 2], angular_velocity: 0.0 }
    }

    /// A gap is the distance of the two points; what is beyond a limit is counted the short way, and what lies within counts as 0.
    #[test]
    fn gaps_and_limits() {
        let (centre, right) = (Vec2::ZERO, Vec2::X);
        let joints = [JointDesc::revolute(0, 1, right, centre).with_limit(-1.0, 0.5)];
        for (angle, beyond) in
            [(0.2, 0.0), (0.75, 0.25), (-1.5, 0.5), (3.0 + std::f32::consts::TAU, TAU - 4.0)]
        {
            let mut errors = Errors::default();
            errors.look(&joints, &[state([0.0; 2], 0.0), state([1.0, 0.25], angle)]);
            assert!((errors.gap.largest - 0.25).abs() < 1e-6, "{errors:?}");
            assert!((errors.beyond.largest - beyond).abs() < 1e-6, "{angle}: {errors:?}");
            assert_eq!(errors.beyond.mean(), Some(errors.beyond.largest));
        }
        let mut errors = Errors::default();
        errors.look(&joints, &[state([f32::NAN; 2], 0.0), state([0.0; 2], 0.0)]);
        assert!(errors.gap.largest.is_nan());
    }
}
