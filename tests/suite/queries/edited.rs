//! Contract: queries of all kinds are exact after any edit that changes where a body's shapes are, which there are, or whether there are any; before
//! the next step and after it; among bodies that move and among bodies that have fallen asleep.

use super::casts::{Questions, mixed_with, questions};
use super::{Recipe, add, between, check_all, config, part_shape, places, recipe};
use granule::{Assembly, BodyType, Part, QueryFilter, Settings, Vec2, World};
use proptest::prelude::*;

/// What is done, to which body, and with what.
#[derive(Clone, Debug)]
struct Edit {
    what: u8,
    which: prop::sample::Index,
    recipe: Recipe,
    part: Part,
    number: u8,
}

fn edit() -> impl Strategy<Value = Edit> {
    let part = (part_shape(), between(-3.0, 3.0), between(-3.0, 3.0), between(-3.0, 3.0))
        .prop_map(|(shape, x, y, angle)| Part { angle, ..Part::new(shape, Vec2::new(x, y)) });
    (0u8..18, any::<prop::sample::Index>(), recipe(), part, any::<u8>())
        .prop_map(|(what, which, recipe, part, number)| Edit { what, which, recipe, part, number })
}

/// Does the edit. Shapes and bodies that cannot be edited so refuse it; then nothing may change.
fn apply(world: &mut World, edit: &Edit) {
    let bodies: Vec<_> = world.handles().collect();
    let body = bodies[edit.which.index(bodies.len())];
    let Recipe { desc, parts } = &edit.recipe;
    let on = edit.number.is_multiple_of(2);
    let part = usize::from(edit.number) % world.parts(body).unwrap().len();
    let _ = match edit.what {
        0 => world.set_position(body, desc.position),
        1 => world.set_angle(body, desc.angle),
        2 => world.remove_body(body),
        3 => world.add_parts(body, parts),
        4 | 5 => world.set_shape(body, &edit.part.shape),
        6 => world.set_part(body, part, &edit.part),
        7 => world.remove_part(body, part),
        8 => {
            let types = [BodyType::Dynamic, BodyType::Kinematic, BodyType::Static];
            world.set_body_type(body, types[usize::from(edit.number) % 3])
        }
        9 => world.set_enabled(body, on),
        10 => world.set_centre(body, on.then_some(edit.part.position)),
        11 => world.shift_origin(desc.position),
        12 => world.set_sensor(body, on),
        13 => {
            let soft = Assembly::soft_box(desc.position, Vec2::new(1.0, 0.6), 0.1, 1.0, desc.angle);
            world.add_assembly(&soft).map(drop)
        }
        14 => {
            let hull = world.hulls().nth(usize::from(edit.number) % 4).map(|(hull, _)| hull);
            hull.map_or(Ok(()), |hull| world.remove_hull(hull))
        }
        15 => {
            if on {
                world.sleep_body(body)
            } else {
                world.wake_body(body)
            }
        }
        16 => world.place_bodies(&[body], &[desc.position], Some(&[desc.angle])),
        _ => {
            add(world, &edit.recipe);
            Ok(())
        }
    };
}

fn check(world: &World, questions: &Questions, places: &[(Vec2, Vec2)]) -> Result<(), String> {
    check_all(world, places)?;
    questions.check(world)?;
    let open = QueryFilter::default();
    if questions.batch(world, &open) == questions.single(world, &open) {
        Ok(())
    } else {
        Err("a batch gives something else than its single queries".to_owned())
    }
}

proptest! {
    #![proptest_config(config(128))]

    /// In a world in which bodies move, and in one in which they have come to rest where they are, so that they fall asleep by themselves.
    #[test]
    fn queries_are_exact_after_any_edit(
        recipes in prop::collection::vec(recipe(), 1..25),
        edits in prop::collection::vec(edit(), 1..16),
        restful in any::<bool>(),
        questions in questions(),
        places in places(),
    ) {
        let settings = if restful {
            // What flies is at rest, too.
            Settings { sleep_threshold: 1.0e5, time_to_sleep: 0.1, gravity: Vec2::ZERO, ..Settings::default() }
        } else {
            Settings::default()
        };
        let mut world = mixed_with(&recipes, settings);
        // Islands are looked for in every eighth step at most. What touches a body that moves on its own stays awake.
        let moving = recipes.iter().any(|recipe| recipe.desc.body_type == BodyType::Kinematic);
        let mut fell = 0;
        for _ in 0..if restful { 24 } else { 2 } {
            world.step();
            fell += world.sleep_events().len();
        }
        prop_assert!(fell > 0 || !restful || moving, "nothing has fallen asleep");
        for edit in edits {
            apply(&mut world, &edit);
            for moment in ["before", "after"] {
                let outcome = check(&world, &questions, &places);
                prop_assert!(outcome.is_ok(), "{} the step after {:?}: {}", moment, edit, outcome.unwrap_err());
                world.step();
            }
        }
    }
}
