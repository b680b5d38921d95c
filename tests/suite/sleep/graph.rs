//! Islands and the rules of waking against a model that knows only what a host sees: events, joints, links and distances.

use super::random::{Edit, Run, edit};
use super::*;
use crate::common::cases;
use granule::{Isa, JointEnds, JointKind};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// m by which a body that is awake may reach into one that sleeps: what the solver leaves between any two.
const SLOP: f32 = 0.02;

/// What the model keeps from step to step.
#[derive(Default)]
struct Model {
    /// The pairs that touch, by the events.
    touching: BTreeSet<(BodyHandle, BodyHandle)>,
    /// For how many steps a body has moved less than what counts as rest.
    slow: BTreeMap<BodyHandle, u32>,
    /// Sleepers, and what was awake and in them after the last step.
    inside: BTreeSet<(BodyHandle, BodyHandle)>,
    /// Where the bodies were.
    place: BTreeMap<BodyHandle, (Vec2, f32)>,
}

/// All bodies that forces move, each with the least body that a search of the graph reaches from it.
type Components = BTreeMap<BodyHandle, BodyHandle>;

/// The speed of the points of a body, about: no shape here is larger than a metre.
fn speed(world: &World, body: BodyHandle) -> f32 {
    let body = world.body(body).unwrap();
    body.velocity.length() + body.angular_velocity.abs()
}

fn movable(world: &World, body: BodyHandle) -> bool {
    world.mass(body).is_ok_and(f32::is_finite)
}

impl Model {
    fn after_step(&mut self, world: &World) {
        for event in world.end_events() {
            self.touching.remove(&(event.a, event.b));
        }
        self.touching.extend(world.begin_events().iter().map(|event| (event.a, event.b)));
    }

    /// The components of the graph, by a search from each body.
    fn components(&self, world: &World) -> Components {
        let mut near: BTreeMap<BodyHandle, Vec<BodyHandle>> = BTreeMap::new();
        let mut edge = |a: BodyHandle, b: BodyHandle| {
            if movable(world, a) && movable(world, b) {
                near.entry(a).or_default().push(b);
                near.entry(b).or_default().push(a);
            }
        };
        self.touching.iter().for_each(|&(a, b)| edge(a, b));
        for (_, joint) in world.joints() {
            if let (JointEnds::Bodies(a, b), true) =
                (joint.ends, joint.enabled && joint.kind != JointKind::Filter)
            {
                edge(a, b);
            }
        }
        world.links().for_each(|(_, link)| edge(link.a, link.b));
        let mut found = Components::new();
        for start in world.handles().filter(|&body| movable(world, body)).collect::<BTreeSet<_>>() {
            let mut open = vec![start];
            while let Some(body) = open.pop() {
                if found.contains_key(&body) {
                    continue;
                }
                found.insert(body, start);
                open.extend(near.get(&body).into_iter().flatten());
            }
        }
        found
    }
}

/// Groups what has the same number.
fn groups<K: Ord + Copy, N: Ord + Copy>(numbers: impl Iterator<Item = (K, N)>) -> BTreeSet<Vec<K>> {
    let mut groups: BTreeMap<N, Vec<K>> = BTreeMap::new();
    numbers.for_each(|(key, number)| groups.entry(number).or_default().push(key));
    groups
        .into_values()
        .map(|mut group| {
            group.sort_unstable();
            group
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    /// Contract: the islands are the components of the graph of touching, joined and linked bodies. A component sleeps or wakes as a whole; it
    /// sleeps by itself only if all its bodies have been slow, or have hardly moved, for `time_to_sleep`; it wakes only by an edit or by
    /// something awake nearby; and nothing awake stays in a body that sleeps.
    #[test]
    fn islands_are_what_a_search_finds(edits in proptest::collection::vec((edit(), 1u32..40), 5..30)) {
        let mut run = Run::new(Isa::Auto);
        let mut model = Model::default();
        for (edit, count) in &edits {
            if matches!(edit, Edit::SoftBox { .. }) {
                continue;
            }
            run.apply(edit);
            for step in 0..*count {
                check_step(&mut run, &mut model, step == 0 && !matches!(edit, Edit::Nothing))?;
            }
        }
    }
}

fn check_step(run: &mut Run, model: &mut Model, edited: bool) -> Result<(), TestCaseError> {
    let world = &mut run.world;
    let (dt, threshold, time) = {
        let settings = world.settings();
        (settings.time_step, settings.sleep_threshold, settings.time_to_sleep)
    };
    let slept: BTreeSet<BodyHandle> =
        world.handles().filter(|&body| !world.is_awake(body).unwrap()).collect();
    let before = model.components(world);
    let speeds: BTreeMap<BodyHandle, f32> = world.handles().map(|body| (body, speed(world, body))).collect();
    world.step();
    model.after_step(world);
    let after = model.components(world);

    // The partition.
    let numbers = world.islands();
    let stored = (0..world.storage_len())
        .filter_map(|index| Some((world.stored_body(index)?.handle(), numbers[index]?)));
    prop_assert_eq!(groups(stored), groups(after.iter().map(|(&a, &b)| (a, b))));

    // Who sleeps.
    let asleep: BTreeSet<BodyHandle> =
        after.keys().copied().filter(|&body| !world.is_awake(body).unwrap()).collect();
    for group in groups(after.iter().map(|(&a, &b)| (a, b))) {
        let sleeping = group.iter().filter(|body| asleep.contains(body)).count();
        prop_assert!(sleeping == 0 || sleeping == group.len(), "{} of {:?} sleep", sleeping, group);
    }

    // Clocks of their own: who is slow, or hardly moves. No shape is smaller than this.
    let least_radius = 0.1;
    let mut furthest = 0.0f32;
    for &body in after.keys() {
        let now = world.body(body).unwrap();
        let here = (now.position, now.angle);
        let (place, angle) = model.place.insert(body, here).unwrap_or(here);
        let turned = (now.angle - angle).abs();
        let (way, turned) = ((now.position - place).length(), turned.min(std::f32::consts::TAU - turned));
        furthest = furthest.max(way);
        let moves = |way: f32, turned: f32, most: f32| way.max(least_radius * turned) > 1.02 * most;
        let is_slow = !moves(now.velocity.length(), now.angular_velocity.abs(), threshold);
        let stays = !moves(way, turned, threshold * dt);
        let slow = model.slow.entry(body).or_default();
        *slow = if is_slow || stays { *slow + 1 } else { 0 };
    }
    if !edited {
        for body in world.sleep_events() {
            let least = (time / dt).floor() as u32;
            prop_assert!(
                model.slow[body] + 1 >= least,
                "{:?} slept after {} slow steps of {}",
                body,
                model.slow[body],
                least
            );
        }
    }

    // Who woke, and why.
    let woke: BTreeSet<BodyHandle> =
        slept.iter().copied().filter(|body| after.contains_key(body) && !asleep.contains(body)).collect();
    for &body in &woke {
        for (other, _) in before.iter().filter(|(_, least)| before.get(&body) == Some(least)) {
            prop_assert!(
                !slept.contains(other) || woke.contains(other),
                "{:?} woke without {:?}",
                body,
                other
            );
        }
    }
    let fastest = speeds.values().copied().fold(0.0, f32::max);
    if !edited {
        for group in groups(woke.iter().map(|&body| (body, before[&body]))) {
            // Something awake, to which a blow may be passed on, or something that moves by itself.
            let near = |&body: &BodyHandle| {
                world.handles().filter(|other| !group.contains(other)).any(|other| {
                    let is_awake = after.contains_key(&other) && !asleep.contains(&other);
                    let gap = world.distance(body, other).map_or(f32::INFINITY, |gap| gap.distance);
                    (is_awake || speeds[&other] > 0.0) && gap < 0.1 + 2.0 * (furthest + dt * (fastest + 1.0))
                })
            };
            prop_assert!(group.iter().any(near), "{:?} woke without a reason", group);
        }
    }

    // What is awake may be thrown into a sleeper, by a joint for instance, but has woken it after the next step.
    let mut inside = BTreeSet::new();
    for &sleeper in &asleep {
        for &other in after.keys().filter(|body| !asleep.contains(body)) {
            let depth = world.distance(sleeper, other).map_or(0.0, |gap| -gap.distance);
            if depth > SLOP {
                inside.insert((sleeper, other));
                let was_inside = model.inside.contains(&(sleeper, other));
                prop_assert!(!was_inside, "{:?} is {} m in {:?}, which sleeps on", other, depth, sleeper);
            }
        }
    }
    model.inside = inside;
    Ok(())
}
