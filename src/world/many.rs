//! Steps many worlds at once.

use super::World;
use crate::base::prefetch::prefetch_all;
use crate::crew::{Crew, with_crew};
use std::cell::Cell;
use std::slice::from_ref;
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
                let world = if world.bodies.len < least { Some(world) } else { lock(&kept).keep(world) };
                let Some(world) = world else { continue };
                match ahead.as_deref().map(Ahead::new) {
                    Some(ahead) => {
                        world.step_among_many(&Crew::with_errand(&|| _ = ahead.go_on()));
                        ahead.finish();
                    }
                    None => world.step_among_many(&Crew::alone()),
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
    /// Prefetches a part of what a step of a small world reads and writes, at most some thirty lines of a cache. The parts are in the order in
    /// which they lead to each other: the world, the tile that it points to, the blocks that the tile points to. Returns false if there is no
    /// such part.
    fn prefetch(&self, part: usize) -> bool {
        if self.bodies.len > SMALL {
            return false;
        }
        let tile = self.contacts.tiles().first();
        match part {
            0 => prefetch_all(from_ref(&self.contacts)),
            1 => prefetch_all(from_ref(&self.bodies)),
            2 => {
                prefetch_all(from_ref(&self.broadphase));
                prefetch_all(from_ref(&self.solver));
            }
            3 => self.prefetch_small_members(),
            4 => prefetch_all(self.contacts.tiles()),
            5 => self.bodies.columns.prefetch_state(),
            6 => self.bodies.columns.prefetch_shape(),
            7 => self.broadphase.bounds.prefetch(),
            8 => self.solver.mirror.prefetch(),
            block => {
                let Some(tile) = tile else { return false };
                if block == 9 {
                    tile.prefetch_rest();
                    return true;
                }
                return tile.prefetch_block(block - 10);
            }
        }
        true
    }

    /// Prefetches the members that each step reads, whatever the world has. Not whole: joints, hulls and walls, which few worlds have.
    fn prefetch_small_members(&self) {
        prefetch_all(from_ref(&self.settings));
        prefetch_all(from_ref(&self.timings));
        prefetch_all(from_ref(&self.edits));
        prefetch_all(from_ref(&self.left));
        prefetch_all(from_ref(&self.links));
        prefetch_all(from_ref(&self.hulls));
        prefetch_all(from_ref(&self.joints));
        prefetch_all(from_ref(&self.sensing));
        prefetch_all(from_ref(&self.watch));
        prefetch_all(from_ref(&self.step_count));
        prefetch_all(from_ref(&self.woken_contacts));
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

/// The world that a thread steps next. It is prefetched while the thread steps the one before, a few lines at a time. A thousand worlds do not
/// fit into a cache, and each has its data in fifty places, which no hardware foresees; a processor has room for a dozen lines that are on
/// their way, and stands still if there are more. (1,000 worlds of ten boxes at one thread, a Xeon with AVX-512: 3.6 µs a step, and 3.9 with
/// all of it at the start of the step; 2.5 for one world alone.)
struct Ahead<'a> {
    world: &'a World,
    /// The next part.
    part: Cell<usize>,
}

impl<'a> Ahead<'a> {
    fn new(world: &'a World) -> Self {
        Ahead { world, part: Cell::new(0) }
    }

    /// Prefetches the next part. Returns false at the end.
    fn go_on(&self) -> bool {
        self.part.set(self.part.get() + 1);
        self.world.prefetch(self.part.get() - 1)
    }

    /// Prefetches all parts that are left.
    fn finish(&self) {
        while self.go_on() {}
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
