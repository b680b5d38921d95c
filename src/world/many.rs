//! Steps many worlds at once.

use super::World;
use crate::base::prefetch::prefetch_all;
use crate::crew::{Crew, with_crew};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bodies from which a world is split among the threads even if there are worlds enough for all of them: it could be the last one
/// to be begun, and the others would wait for it.
const LARGE: usize = 16_384;
/// Bodies from which a world is split if there are fewer worlds than threads: it has more than one tile.
const SPLITS: usize = 512;
/// Bodies up to which a world is small enough to be prefetched as a whole.
const SMALL: usize = 128;
/// Large worlds that are kept until all small ones are done. Further ones are stepped whole.
const KEPT: usize = 64;

/// Steps every world once, each by its own [`Settings::time_step`](crate::Settings::time_step).
///
/// The threads of the rayon pool in which you call it share the worlds (`pool.install(|| step_many(&mut worlds))`): each small world is
/// stepped by one thread, large ones are split among all threads as [`World::step`] splits them. Each world ends as it would after
/// `world.step()`, bit for bit.
///
/// It takes a slice or a vector of worlds, or any iterator of `&mut World`. It allocates nothing besides what the steps do.
/// [`World::timings`] of a small world are those of its own thread.
///
/// # Panics
///
/// Panics if the iterator does. Each world is then either stepped or as it was.
///
/// ```
/// use granule::{BodyDesc, Settings, Shape, Vec2, World, step_many};
///
/// let mut worlds = Vec::new();
/// for _ in 0..100 {
///     let mut world = World::new(Settings::default())?;
///     world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO))?;
///     worlds.push(world);
/// }
/// step_many(&mut worlds);
/// step_many(worlds.iter_mut().filter(|world| world.body_count() > 0));
/// assert!(worlds.iter().all(|world| world.step_count() == 2));
/// # Ok::<(), granule::Error>(())
/// ```
pub fn step_many<'a, W>(worlds: W)
where
    W: IntoIterator<Item = &'a mut World>,
    W::IntoIter: Send,
{
    // Fused: each thread asks once more at the end.
    let worlds = worlds.into_iter().fuse();
    let (count, _) = worlds.size_hint();
    let worlds = Mutex::new(worlds);
    with_crew(None, |crew| {
        let threads = crew.threads();
        let least = match threads {
            1 => usize::MAX,
            _ if count < threads => SPLITS,
            _ => LARGE,
        };
        let kept = Mutex::new(Waiting { worlds: [const { None }; KEPT], count: 0 });
        crew.run(threads, |_| {
            // The lock is not held while the world is stepped. An iterator that panicked is not asked again.
            let next = || worlds.lock().ok()?.next();
            let mut ahead = next();
            while let Some(world) = ahead {
                ahead = next();
                if let Some(ahead) = &ahead {
                    ahead.prefetch();
                }
                let world = if world.bodies.len < least { Some(world) } else { lock(&kept).keep(world) };
                if let Some(world) = world {
                    world.step_among_many(&Crew::alone());
                }
            }
        });
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        for world in kept.worlds.into_iter().flatten() {
            world.step_among_many(crew);
        }
    });
}

impl World {
    /// Prefetches what a step of a small world reads and writes. A thousand worlds do not fit into a cache, and each has its data in
    /// a hundred places, which no hardware foresees. (`peers --many`: 1,000 worlds of ten boxes made 0.66 to 0.68 of the steps that
    /// Box2D makes with 100 worlds, and 0.55 to 0.57 without this.)
    fn prefetch(&self) {
        if self.bodies.len > SMALL {
            return;
        }
        self.solver.mirror.prefetch();
        for tile in self.contacts.tiles() {
            tile.prefetch();
        }
        self.bodies.columns.prefetch();
        let bounds = &self.broadphase.bounds;
        for column in [
            &bounds.built_x,
            &bounds.built_y,
            &bounds.built_angle,
            &bounds.frame_x,
            &bounds.frame_y,
            &bounds.leeway,
        ] {
            prefetch_all(column);
        }
    }

    fn step_among_many(&mut self, crew: &Crew<'_>) {
        let mut trace = self.trace.take();
        let start = self.step_with(crew, trace.as_deref());
        if let Some(trace) = &mut trace {
            trace.finish(start);
        }
        self.trace = trace;
    }
}

/// Large worlds that wait for all threads.
struct Waiting<'a> {
    worlds: [Option<&'a mut World>; KEPT],
    count: usize,
}

impl<'a> Waiting<'a> {
    /// Keeps a world, or gives it back if there is no place left.
    fn keep(&mut self, world: &'a mut World) -> Option<&'a mut World> {
        let Some(place) = self.worlds.get_mut(self.count) else { return Some(world) };
        *place = Some(world);
        self.count += 1;
        None
    }
}

/// What a thread that panicked has left is whole: nothing panics while it holds a lock, but the caller's iterator, whose panic is passed on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
