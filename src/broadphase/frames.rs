//! Frames: how fast the surroundings of a body move.
//!
//! A pair list lasts while no body has moved further than its margin. In a pile that falls or sinks as a whole, all
//! bodies move far, but neighbours move alike: only their motion against each other matters. So the world is laid out
//! in coarse cells. Each cell has a *frame*, the mean velocity of its bodies, and a body's motion counts against the
//! frame of its cell. Neighbouring cells differ a little, so half the largest difference times the horizon is added to
//! the bounds of bodies, and the list expires when the horizon has passed.
//!
//! Measured on 50,000 circles of a collapsing pile (12 m/s at the top): 152,000 pairs in the list instead of 434,000,
//! for 114,000 contacts. Where frames explain little of the motion (a gas, a pile at rest), they are off.

use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::ranges::without;
use crate::base::room::like;
use crate::body::{Bodies, Motion};
use crate::lane::{Lane, MAX_WIDTH};
use glam::Vec2;

/// One slot in so many is sampled.
const STRIDE: usize = 4;
/// The least number of sampled bodies per cell, on average.
const PER_CELL: usize = 8;
/// Frames are on if they explain this much of the mean speed.
const EXPLAINED: f32 = 0.5;
/// A body that is so many times as fast as the mean says nothing about its surroundings.
const RARE: f32 = 16.0;
/// Neighbouring frames that part by more than so many mean half extents in a step are of no use.
const MOST_SPREAD: f32 = 8.0;

#[derive(Clone, Copy, Default)]
struct Cell {
    velocity: Vec2,
    /// Half the largest difference to a neighbour.
    spread: f32,
    /// Sum of the squares of the speeds against the frame; later the largest root mean square of this cell and its
    /// neighbours.
    rms: f32,
    count: u32,
}

crate::base::codec::stored!(Cell { velocity, spread, rms, count });

#[derive(Default)]
pub(crate) struct Frames {
    /// Frames are on. If not, all frames are at rest.
    pub enabled: bool,
    /// The largest speed of a frame.
    pub fastest: f32,
    /// Root mean square of all bodies' speeds, for when frames are off.
    rms: f32,
    /// Mean of the bodies' smaller half extents, and `spread`: the root mean square of their cells' spreads.
    pub half: f32,
    spread: f32,
    origin: Vec2,
    per_size: f32,
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
    rms_of_cells: Vec<f32>,
}

impl Stored for Frames {
    fn write(&self, to: &mut Writer<'_>) {
        let Frames {
            enabled,
            fastest,
            rms,
            half,
            spread,
            origin,
            per_size,
            columns,
            rows,
            cells,
            rms_of_cells: _,
        } = self;
        (*enabled, *fastest, *rms).write(to);
        (*half, *spread, *origin, *per_size).write(to);
        (*columns, *rows).write(to);
        if *enabled {
            cells.write(to);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        (self.enabled, self.fastest, self.rms) = from.value()?;
        (self.half, self.spread, self.origin, self.per_size) = from.value()?;
        (self.columns, self.rows) = from.value()?;
        // Nobody looks at the cells of frames that are off.
        self.cells.clear();
        if self.enabled {
            self.cells.read(from)?;
            let wanted = self.columns.checked_mul(self.rows);
            require!(
                wanted == Some(self.cells.len()) && wanted != Some(0),
                "{} cells, not {wanted:?}",
                self.cells.len()
            );
        }
        Ok(())
    }

    fn blank() -> Frames {
        Frames::default()
    }
}

impl Frames {
    /// Makes room for as much as another one has room for.
    pub(super) fn make_room_like(&mut self, other: &Self) {
        like!(self, other; cells, rms_of_cells);
    }

    /// Chooses the frames of a new pair list. `extent` is where most bodies are, as (lower, upper); bodies outside
    /// count to the cells at the edge. Frames are off if the mean speed of the bodies that are not [`RARE`] is below `threshold`.
    pub(crate) fn choose(
        &mut self,
        bodies: &Bodies,
        extent: (Vec2, Vec2),
        threshold: f32,
        (mean_speed, time_step): (f32, f32),
    ) {
        self.enabled = false;
        (self.fastest, self.spread) = (0.0, 0.0);
        self.lay_out(bodies.len, extent);
        let c = &bodies.columns;
        let sampled = || {
            let [before, behind] = without(0..bodies.len, &bodies.still());
            let behind = behind.start.next_multiple_of(STRIDE)..behind.end;
            before.step_by(STRIDE).chain(behind.step_by(STRIDE))
        };
        let moves = |slot: usize| c.kind[slot].motion() == Motion::Dynamic;
        let most = RARE * mean_speed;
        let moving = || {
            sampled()
                .filter(|&slot| moves(slot))
                .map(|slot| (bodies.position(slot), bodies.velocity(slot)))
                .filter(|(_, velocity)| velocity.length_squared() <= most * most)
        };
        let (mut speed, mut squares, mut count) = (0.0, 0.0, 0u32);
        let (mut halves, mut sizes) = (0.0, 0u32);
        for slot in sampled().filter(|&slot| moves(slot)) {
            halves += c.ext_x[slot].min(c.ext_y[slot]);
            sizes += 1;
        }
        for (position, velocity) in moving() {
            let index = self.index(position);
            let cell = &mut self.cells[index];
            cell.velocity += velocity;
            cell.count += 1;
            speed += velocity.length();
            squares += velocity.length_squared();
            count += 1;
        }
        let per_count = 1.0 / count.max(1) as f32;
        self.rms = (squares * per_count).sqrt();
        self.half = halves / sizes.max(1) as f32;
        if speed * per_count < threshold {
            return;
        }
        for cell in &mut self.cells {
            cell.velocity /= cell.count.max(1) as f32;
        }
        let mut rest = 0.0;
        for (position, velocity) in moving() {
            let index = self.index(position);
            let cell = &mut self.cells[index];
            let relative = velocity - cell.velocity;
            rest += relative.length();
            cell.rms += relative.length_squared();
        }
        if rest > (1.0 - EXPLAINED) * speed {
            return;
        }
        self.fill_gaps();
        let largest = self.measure_spread();
        self.enabled = time_step * largest <= MOST_SPREAD * self.half;
    }

    fn lay_out(&mut self, bodies: usize, (lower, upper): (Vec2, Vec2)) {
        let size = upper - lower;
        let wanted = (bodies / (STRIDE * PER_CELL)).clamp(1, 1 << 16) as f32;
        // Square cells; for a world that is a line, a line of cells.
        let edge = ((size.x * size.y / wanted).sqrt()).max(size.max_element() / wanted).max(1.0e-3);
        self.origin = lower;
        self.per_size = 1.0 / edge;
        self.columns = (size.x / edge) as usize + 1;
        self.rows = (size.y / edge) as usize + 1;
        // The choice of `edge` allows no more cells than this, whatever the shape of the world.
        let most = 3 * wanted as usize + 2;
        self.cells.clear();
        self.cells.reserve(most);
        self.rms_of_cells.reserve(most.saturating_sub(self.rms_of_cells.len()));
        self.cells.resize(self.columns * self.rows, Cell::default());
    }

    #[inline(always)]
    fn index(&self, position: Vec2) -> usize {
        let cell = (position - self.origin) * self.per_size;
        // `as` saturates, so a position outside counts to a cell at the edge. (The way over `i32` is half as long as that to `usize`.)
        let (x, y) = ((cell.x as i32).max(0) as usize, (cell.y as i32).max(0) as usize);
        y.min(self.rows - 1) * self.columns + x.min(self.columns - 1)
    }

    /// Returns the velocity of the frame at a position, half the largest difference to a neighbouring frame, and the
    /// root mean square of the speeds against the frame in this cell and around it.
    #[inline(always)]
    pub(crate) fn at(&self, position: Vec2) -> (Vec2, f32, f32) {
        if !self.enabled {
            return (Vec2::ZERO, 0.0, self.rms);
        }
        let cell = &self.cells[self.index(position)];
        (cell.velocity, cell.spread, cell.rms)
    }

    /// Returns the same for the bodies from `slot` on, by lanes.
    #[inline(always)]
    pub(super) fn lanes<L: Lane>(&self, bodies: &Bodies, slot: usize) -> ([L; 2], L, L) {
        let zero = L::splat(0.0);
        if !self.enabled {
            return ([zero, zero], zero, L::splat(self.rms));
        }
        let [mut x, mut y, mut spread, mut rms] = [[0.0; MAX_WIDTH]; 4];
        for lane in 0..L::WIDTH {
            let frame;
            (frame, spread[lane], rms[lane]) = self.at(bodies.position(slot + lane));
            [x[lane], y[lane]] = frame.into();
        }
        ([L::load(&x), L::load(&y)], L::load(&spread), L::load(&rms))
    }

    fn neighbours(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let (x, y, columns, rows) = (index % self.columns, index / self.columns, self.columns, self.rows);
        let span = |i: usize, n: usize| i.saturating_sub(1)..(i + 2).min(n);
        span(y, rows).flat_map(move |row| span(x, columns).map(move |column| row * columns + column))
    }

    /// Gives each cell without a sampled body the mean velocity of its neighbours.
    fn fill_gaps(&mut self) {
        for index in 0..self.cells.len() {
            if self.cells[index].count == 0 {
                let (mut sum, mut count) = (Vec2::ZERO, 0);
                for neighbour in self.neighbours(index) {
                    if self.cells[neighbour].count > 0 {
                        sum += self.cells[neighbour].velocity;
                        count += 1;
                    }
                }
                self.cells[index].velocity = sum / count.max(1) as f32;
            }
        }
    }

    /// Returns for how long a list should last, from `shortest` to `longest`, s: until the frames' spread has moved
    /// bodies by half their size. (Where a fast pile of small bodies comes down, a list of five steps would have 30
    /// pairs a body, and would still be made anew in every step.)
    pub(crate) fn horizon(&self, longest: f32, shortest: f32) -> f32 {
        if !self.enabled || self.spread * longest <= self.half {
            return longest;
        }
        (self.half / self.spread).max(shortest)
    }

    /// Finds the spread and the root mean square speed of each cell. Returns the largest spread.
    fn measure_spread(&mut self) -> f32 {
        let (mut squares, mut count, mut largest) = (0.0, 0, 0.0_f32);
        let mean_square = |cell: &Cell| cell.rms / cell.count.max(1) as f32;
        self.rms_of_cells.clear();
        self.rms_of_cells.extend(self.cells.iter().map(|cell| mean_square(cell).sqrt()));
        for index in 0..self.cells.len() {
            let velocity = self.cells[index].velocity;
            self.cells[index].rms =
                self.neighbours(index).map(|neighbour| self.rms_of_cells[neighbour]).fold(0.0, f32::max);
            self.fastest = self.fastest.max(velocity.length());
            let spread = self
                .neighbours(index)
                .map(|neighbour| 0.5 * (self.cells[neighbour].velocity - velocity).length())
                .fold(0.0, f32::max);
            self.cells[index].spread = spread;
            largest = largest.max(spread);
            squares += spread * spread * self.cells[index].count as f32;
            count += self.cells[index].count;
        }
        self.spread = (squares / count.max(1) as f32).sqrt();
        largest
    }
}
