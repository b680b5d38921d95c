//! Contract: a visitor of what a ray or a moved shape meets sees each hit once; what it clips hides all that is further, and nothing that is
//! as near or nearer.

use super::casts::{Questions, isas, mixed, questions};
use super::{between, config, recipe};
use granule::{Hit, QueryFilter, Ray, ShapeCast, Visit, World};
use proptest::prelude::*;

const OPEN: QueryFilter<'static> =
    QueryFilter { category: u32::MAX, mask: u32::MAX, excluded: &[], accept: None };

#[derive(Clone, Copy, Debug)]
enum Moved<'a> {
    Ray(&'a Ray),
    Shape(&'a ShapeCast),
}

impl Questions {
    fn moved(&self) -> impl Iterator<Item = Moved<'_>> {
        self.rays.iter().map(Moved::Ray).chain(self.casts.iter().map(Moved::Shape))
    }
}

impl Moved<'_> {
    fn all(&self, world: &World) -> Vec<Hit> {
        let mut hits = Vec::new();
        match self {
            Moved::Ray(ray) => world.cast_ray_all(ray, &OPEN, &mut hits).unwrap(),
            Moved::Shape(cast) => world.cast_shape_all(cast, &OPEN, &mut hits).unwrap(),
        }
        hits
    }

    /// Visits the hits. Returns them in the order in which they come, each with the fraction to which the way was clipped before, and the fraction
    /// to which it is clipped at last.
    fn visit(&self, world: &World, mut answer: impl FnMut(&Hit) -> Visit) -> (Vec<(Hit, f32)>, f32) {
        let (mut seen, mut limit) = (Vec::new(), f32::INFINITY);
        let visit = |hit: Hit| {
            seen.push((hit, limit));
            let answer = answer(&hit);
            if let Visit::Clip(fraction) = answer {
                limit = limit.min(fraction);
            }
            answer
        };
        match self {
            Moved::Ray(ray) => world.cast_ray_visit(ray, &OPEN, visit).unwrap(),
            Moved::Shape(cast) => world.cast_shape_visit(cast, &OPEN, visit).unwrap(),
        }
        (seen, limit)
    }
}

/// Holds that what was seen is part of all hits, none of them twice and none beyond the limit of its time, and has all of them that are within
/// the last limit.
fn check(all: &[Hit], seen: &[(Hit, f32)], limit: f32) -> Result<(), String> {
    for (i, (hit, limit)) in seen.iter().enumerate() {
        if !all.contains(hit) {
            return Err(format!("{hit:?} is no hit"));
        }
        if seen[..i].iter().any(|(other, _)| (other.body, other.part) == (hit.body, hit.part)) {
            return Err(format!("{hit:?} is visited twice"));
        }
        if hit.fraction > *limit {
            return Err(format!("{hit:?} is beyond {limit}"));
        }
    }
    match all.iter().find(|hit| hit.fraction <= limit && !seen.iter().any(|(other, _)| other == *hit)) {
        Some(hidden) => Err(format!("{hidden:?} is hidden, though the way is clipped to {limit} only")),
        None => Ok(()),
    }
}

proptest! {
    #![proptest_config(config(128))]

    /// Clipped to each hit, the last hit is the first one on the way. Clipped to anything, ignored and not: nothing nearer is hidden.
    #[test]
    fn what_is_clipped_hides_nothing_nearer(
        recipes in prop::collection::vec(recipe(), 1..60),
        questions in questions(),
        answers in prop::collection::vec((0u8..5, between(-0.05, 1.2), any::<prop::sample::Index>()), 1..12),
        isa in isas(),
    ) {
        let mut world = mixed(&recipes, isa);
        for step in 0..3 {
            for moved in questions.moved() {
                let all = moved.all(&world);
                let (seen, limit) = moved.visit(&world, |hit| Visit::Clip(hit.fraction));
                let outcome = check(&all, &seen, limit);
                prop_assert!(outcome.is_ok(), "step {}, {:?}: {}", step, moved, outcome.unwrap_err());
                let nearest = [all.first(), seen.last().map(|(hit, _)| hit)];
                prop_assert_eq!(nearest[0].map(|hit| hit.fraction), nearest[1].map(|hit| hit.fraction));
                if all.get(1).is_none_or(|second| second.fraction > all[0].fraction) {
                    prop_assert_eq!(nearest[0], nearest[1]);
                }
                let mut number = 0;
                let (seen, limit) = moved.visit(&world, |hit| {
                    let (what, fraction, which) = answers[number % answers.len()];
                    number += 1;
                    match what {
                        0 | 1 => Visit::Continue,
                        2 => Visit::Clip(fraction),
                        3 => Visit::Clip(hit.fraction),
                        _ => Visit::Clip(all[which.index(all.len())].fraction),
                    }
                });
                let outcome = check(&all, &seen, limit);
                prop_assert!(outcome.is_ok(), "step {}, {:?}: {}", step, moved, outcome.unwrap_err());
            }
            world.step();
        }
    }
}
