//! What a host does while a scene runs: edits before each step.
//!
//! A [`Script`] is plain data and belongs to a scene. A [`Player`] plays it in one world. All that a player does depends on the world's
//! state and on the number of steps, so a scene with a script has one result, too.

mod gait;

use super::Scene;
use crate::{Assembly, BodyHandle, Filter, JointHandle, Material, Vec2, World};
use gait::Gait;
pub(super) use gait::TORQUE;

/// What a host does while a scene runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Script {
    /// Figures come and go.
    Rain(Rain),
    /// Two-legged figures walk to the right.
    Walk(Vec<Walker>),
}

/// Figures that fall, and after a while are made anew at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Rain {
    /// The steps from one turn to the next. At least 1.
    pub every: u32,
    /// The figures that are removed and made anew in each turn. After the last turn comes the first again.
    pub turns: Vec<Vec<Drop>>,
}

/// Where a figure of [`Rain`] is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    /// The place in the scene's list of the first body of the figure's first life. The others follow it.
    pub first: usize,
    /// The centre of a new figure, m.
    pub centre: Vec2,
    /// The group of its limbs.
    pub group: u32,
}

impl Rain {
    /// The size and the mass (kg) of the figures: those of Box2D's benchmark.
    const SCALE: f32 = 0.73;
    const MASS: f32 = 0.363;

    /// A figure.
    pub fn figure(centre: Vec2, group: u32) -> Assembly {
        let mut figure = Assembly::figure(centre, Self::SCALE, Self::MASS);
        for limb in &mut figure.bodies {
            limb.material = Material::new(1.0, 0.2, 0.0);
            limb.filter = Filter { group, ..Filter::default() };
        }
        figure
    }
}

/// A figure of a torso and two legs, each of an upper and a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walker {
    /// The place of the torso in the scene's list of bodies. The upper and the lower leg of one side follow it, then those of the other.
    pub first_body: usize,
    /// The place of the first leg's hip in the list of joints. Its knee follows, then hip and knee of the other leg.
    pub first_joint: usize,
    /// The height of the floor, m.
    pub floor: f32,
}

/// Plays the script of a scene in a world.
///
/// ```
/// use granule::scene::{self, Player};
///
/// let scene = scene::builtin("rain", 550, 1).expect("a built-in scene");
/// let mut world = scene.build()?;
/// let mut player = Player::new(&scene, &world);
/// for _ in 0..60 {
///     player.step(&mut world);
/// }
/// # Ok::<(), granule::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Player {
    playing: Playing,
    steps: u64,
}

#[derive(Clone, Debug)]
enum Playing {
    Nothing,
    Rain(Rain, Vec<Vec<Vec<BodyHandle>>>),
    Walk(Vec<Gait>),
}

impl Player {
    /// A player for a world that [`Scene::build`] made of this scene and that was not changed since.
    pub fn new(scene: &Scene, world: &World) -> Player {
        let playing = match &scene.script {
            None => Playing::Nothing,
            Some(Script::Rain(rain)) => {
                let limbs = |drop: &Drop| {
                    let places = drop.first..drop.first + Assembly::FIGURE_BODIES;
                    places.map(|place| scene.handle(place)).collect()
                };
                let figures = rain.turns.iter().map(|turn| turn.iter().map(limbs).collect());
                Playing::Rain(rain.clone(), figures.collect())
            }
            Some(Script::Walk(walkers)) => {
                let joints: Vec<JointHandle> = world.joints().map(|(handle, _)| handle).collect();
                let gait = |walker| Gait::new(walker, scene, world, &joints);
                Playing::Walk(walkers.iter().filter_map(gait).collect())
            }
        };
        Player { playing, steps: 0 }
    }

    /// Does what the script says, then steps the world. Without a script, this is [`World::step`].
    ///
    /// A body that is not there any more is left out. A figure for which the world has no room is not made.
    pub fn step(&mut self, world: &mut World) {
        self.edit(world);
        world.step();
    }

    /// Does what the script says before the next step, which the caller takes.
    pub fn edit(&mut self, world: &mut World) {
        self.steps += 1;
        match &mut self.playing {
            Playing::Nothing => {}
            Playing::Rain(rain, figures) => make_anew(rain, figures, self.steps, world),
            Playing::Walk(gaits) => gaits.iter_mut().for_each(|gait| gait.drive(world)),
        }
    }
}

/// Makes the figures of a turn anew, if it is time for one.
fn make_anew(rain: &Rain, figures: &mut [Vec<Vec<BodyHandle>>], step: u64, world: &mut World) {
    let every = u64::from(rain.every.max(1));
    if !step.is_multiple_of(every) || rain.turns.is_empty() {
        return;
    }
    let turn = ((step / every - 1) % rain.turns.len() as u64) as usize;
    for limb in
        figures[turn].iter().flatten().filter(|&&limb| world.contains(limb)).copied().collect::<Vec<_>>()
    {
        let _gone = world.remove_body(limb);
    }
    for (drop, limbs) in rain.turns[turn].iter().zip(&mut figures[turn]) {
        *limbs = world.add_assembly(&Rain::figure(drop.centre, drop.group)).unwrap_or_default();
    }
}
