//! What a snapshot holds of the order of space.
//!
//! Most of the bounds follow from where the bodies were when the list was made, their extents and their margins. So they are written
//! as what differs from that: loose bodies, removed ones. What follows from bounds (fronts, large bodies by place) is found again.

use super::bands::Band;
use super::shapes::{Boxes, box_of};
use super::{Bounds, Broadphase, Margins, TileBands, interval, shape_row};
use crate::base::codec::{Flaw, Read, Reader, Stored, Writer, require};
use crate::body::{Bodies, Kind, Motion};
use crate::crew::Crew;
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::lane::{MAX_WIDTH, Row, padded};
use crate::narrowphase::Role;

/// The bounds of a slot as they most likely are, from what is written before them. The columns are cut to the slots of the list, so
/// that loops over these need no check of each.
struct Likely<'a> {
    bodies: &'a Bodies,
    margins: &'a Margins,
    kind: &'a [Kind],
    inv_mass: &'a [f32],
    ext: [&'a [f32]; 2],
    ext_z: &'a [f32],
    along_x: bool,
    fleeting: bool,
    /// The first large body.
    banded: usize,
    large_growth: f32,
}

/// One of the four sides of the bounds, by number: `[min_s, max_s, min_b, max_b]`.
struct Side<'a> {
    upper: bool,
    centre: &'a [f32],
    half: &'a [f32],
    growth: &'a [f32],
    inv_mass: &'a [f32],
    /// What bodies that move have in place of their growth, and what is added to that of all others: in a list of one step.
    moving: Option<f32>,
    more: f32,
}

impl Side<'_> {
    #[inline]
    fn at(&self, slot: usize) -> u32 {
        let grown = match self.moving {
            Some(speculative) if self.inv_mass[slot] > 0.0 => speculative,
            Some(_) => self.growth[slot] + self.more,
            None => self.growth[slot],
        };
        let [lower, upper] = interval(self.centre[slot], self.half[slot], grown);
        if self.upper { upper.to_bits() } else { lower.to_bits() }
    }
}

impl<'a> Likely<'a> {
    #[inline]
    fn is_fixed(&self, slot: usize) -> bool {
        matches!(self.kind[slot].motion(), Motion::Static | Motion::Asleep)
    }

    /// How far around the slot's shape others count as partners: see `Growth::of`. Frames are taken to be off.
    #[inline]
    fn growth(&self, slot: usize, leeway: f32) -> f32 {
        let kind = self.kind[slot];
        if !kind.is_collidable() || kind.shape() == ShapeKind::HalfSpace {
            return if slot < self.banded { 0.0 } else { self.large_growth };
        }
        let speculative = if self.is_fixed(slot) { 0.0 } else { self.margins.speculative };
        let own = (leeway + speculative) + 0.0;
        if slot < self.banded { own } else { own + self.large_growth }
    }

    fn side(&self, number: usize, built: [&'a [f32]; 2], growth: &'a [f32]) -> Side<'a> {
        let axis = usize::from((number < 2) == self.along_x);
        let fastest = if self.fleeting { self.margins.fastest } else { None };
        Side {
            upper: number % 2 == 1,
            centre: built[axis],
            half: self.ext[axis],
            growth,
            inv_mass: self.inv_mass,
            moving: fastest.map(|_| self.margins.speculative),
            more: fastest.unwrap_or(0.0),
        }
    }

    #[inline]
    fn shape(&self, slot: usize, built: [f32; 2]) -> [u32; 4] {
        let ext = [self.ext[0][slot], self.ext[1][slot]];
        shape_row(self.kind[slot], built, ext, self.ext_z[slot]).0.map(f32::to_bits)
    }

    /// How a slot was turned, where there are bodies that turn: see `axis_lanes`.
    fn axis(&self, slot: usize, built_angle: f32) -> [f32; 2] {
        let turns = self.bodies.columns.furthest[slot] > 0.0;
        let (sin, cos) = sin_cos(if turns { built_angle } else { 0.0 });
        [cos, sin]
    }

    /// Half extents and rounding of a slot, where there are bodies that turn.
    fn boxed(&self, slot: usize) -> [f32; 3] {
        let c = &self.bodies.columns;
        if c.kind[slot].motion() == Motion::Dead {
            return [c.ext_x[slot], c.ext_y[slot], 0.0];
        }
        let ([x, y], rounding) = box_of(self.bodies, slot);
        [x, y, rounding]
    }

    /// The half extent of a slot, where nothing turns.
    #[inline]
    fn round(&self, slot: usize) -> f32 {
        let round = self.kind[slot].is_round() && self.inv_mass[slot] > 0.0;
        if round { self.ext[0][slot] } else { f32::INFINITY }
    }

    fn role(&self, slot: usize) -> u32 {
        Role::of(self.kind[slot], self.inv_mass[slot] == 0.0) as u32
    }

    /// The limit of a slot in a list of one step.
    fn limit(&self, slot: usize) -> f32 {
        if self.inv_mass[slot] > 0.0 { self.margins.speculative } else { f32::INFINITY }
    }
}

impl Boxes {
    fn write(&self, likely: &Likely<'_>, built: usize, built_angle: &[f32], to: &mut Writer<'_>) {
        let Boxes { turned, axis_x, axis_y, half_x, half_y, rounding, role, known: _ } = self;
        turned.write(to);
        to.mark();
        if !turned {
            return to.column_like(words(half_x, built), |slot| likely.round(slot).to_bits());
        }
        to.column(words(built_angle, built));
        for (number, column) in [axis_x, axis_y].into_iter().enumerate() {
            to.mark();
            to.column_like(words(column, built), |slot| {
                likely.axis(slot, built_angle[slot])[number].to_bits()
            });
        }
        for (number, column) in [half_x, half_y, rounding].into_iter().enumerate() {
            to.mark();
            to.column_like(words(column, built), |slot| likely.boxed(slot)[number].to_bits());
        }
        to.mark();
        to.words_like(built, |slot| role[slot] as u32, |slot| likely.role(slot));
    }

    fn read(
        &mut self,
        likely: &Likely<'_>,
        built: usize,
        built_angle: &mut Vec<f32>,
        from: &mut Reader<'_>,
    ) -> Read {
        self.turned.read(from)?;
        from.mark()?;
        let Boxes { turned, axis_x, axis_y, half_x, half_y, rounding, role, known } = self;
        *known = None;
        if !*turned {
            return from.column_like(half_x, built, |slot| likely.round(slot).to_bits());
        }
        from.column(built_angle, built)?;
        for (number, column) in [axis_x, axis_y].into_iter().enumerate() {
            from.mark()?;
            from.column_like(column, built, |slot| likely.axis(slot, built_angle[slot])[number].to_bits())?;
        }
        for (number, column) in [half_x, half_y, rounding].into_iter().enumerate() {
            from.mark()?;
            from.column_like(column, built, |slot| likely.boxed(slot)[number].to_bits())?;
        }
        from.mark()?;
        let mut numbers: Vec<u32> = Vec::new();
        from.column_like(&mut numbers, built, |slot| likely.role(slot))?;
        for (slot, number) in numbers.into_iter().enumerate() {
            let known = Role::ALL.into_iter().find(|role| *role as u32 == number);
            let known = known.ok_or_else(|| Flaw(format!("{number} is no role of a body")))?;
            let compound = likely.role(slot) == Role::Compound as u32;
            require!((known == Role::Compound) == compound, "slot {slot} is a compound: {compound}");
            role.push(known);
        }
        Ok(())
    }

    fn clear(&mut self) {
        let Boxes { turned, axis_x, axis_y, half_x, half_y, rounding, role, known: _ } = self;
        *turned = false;
        [axis_x, axis_y, half_x, half_y, rounding].into_iter().for_each(Vec::clear);
        role.clear();
    }

    /// Appends the boxes of no slots.
    fn pad(&mut self, wanted: usize) {
        if !self.half_x.is_empty() {
            self.half_x.resize(wanted, 0.0);
        }
        if self.turned {
            for column in [&mut self.axis_x, &mut self.axis_y, &mut self.half_y, &mut self.rounding] {
                column.resize(wanted, 0.0);
            }
            self.role.resize(wanted, Role::default());
        }
    }
}

impl Broadphase {
    fn likely<'a>(&'a self, bodies: &'a Bodies, built: usize) -> Likely<'a> {
        let c = &bodies.columns;
        Likely {
            bodies,
            margins: &self.margins,
            kind: &c.kind[..built],
            inv_mass: &c.inv_mass[..built],
            ext: [&c.ext_x[..built], &c.ext_y[..built]],
            ext_z: &c.ext_z[..built],
            along_x: self.bands.along_x,
            fleeting: self.fleeting,
            banded: self.bands.banded,
            large_growth: self.bounds.large_growth,
        }
    }

    /// `lives` tells that the list is not void: then boxes are in use.
    pub(crate) fn write(&self, bodies: &Bodies, lives: bool, to: &mut Writer<'_>) {
        let Broadphase {
            bands,
            levels: _,
            frames,
            bounds,
            strays,
            loose,
            loose_boxes: _,
            margins,
            horizon,
            fleeting,
            shape: _,
            boxes: _,
            parts,
            tiles,
            tiles_ahead: _,
            built,
            listed,
            loners,
            edited_statics,
            still_height,
            near_loose: _,
            tests,
            present,
        } = self;
        to.mark();
        (*built, *listed, *tests).write(to);
        (bands.along_x, bands.height.to_bits()).write(to);
        (bands.banded, bands.still, bands.large_end).write(to);
        bands.longest.write(to);
        to.length(bands.list.len());
        to.small_column(bands.list.iter().map(|band| band.slots.len() as u32));
        to.mark();
        bands.list.iter().for_each(|band| band.id.write(to));
        to.length(tiles.len());
        to.small_column(tiles.iter().map(|tile| tile.bands.len() as u32));
        to.mark();
        frames.write(to);
        to.mark();
        (*margins).write(to);
        horizon.write(to);
        fleeting.write(to);
        edited_statics.write(to);
        still_height.write(to);
        present.write(to);
        strays.write(to);
        loose.write(to);
        to.mark();
        loners.write(to);
        to.mark();
        parts.write(to);
        self.write_bounds(bounds, bodies, lives, to);
    }

    fn write_bounds(&self, bounds: &Bounds, bodies: &Bodies, lives: bool, to: &mut Writer<'_>) {
        let Bounds {
            min_s,
            max_s,
            min_b,
            max_b,
            front: _,
            growth,
            limit,
            built_x,
            built_y,
            frame_x,
            frame_y,
            built_angle,
            leeway,
            age,
            steps,
            lifetime,
            large_growth,
            allowance,
        } = bounds;
        to.mark();
        (*age, *steps, *lifetime, *large_growth).write(to);
        allowance.write(to);
        let built = self.built;
        let likely = self.likely(bodies, built);
        for column in [leeway, frame_x, frame_y] {
            to.mark();
            to.column(words(column, built));
        }
        // What sleeps is where it was.
        let c = &bodies.columns;
        for (column, place) in [(built_x, &c.pos_x), (built_y, &c.pos_y)] {
            to.mark();
            to.column_like(words(column, built), |slot| place[slot].to_bits());
        }
        let [leeway, growth, built_x, built_y] =
            [leeway, growth, built_x, built_y].map(|column| &column[..built]);
        to.mark();
        to.column_like(words(growth, built), |slot| likely.growth(slot, leeway[slot]).to_bits());
        for (number, column) in [min_s, max_s, min_b, max_b].into_iter().enumerate() {
            to.mark();
            let side = likely.side(number, [built_x, built_y], growth);
            to.column_like(words(column, built), |slot| side.at(slot));
        }
        to.mark();
        to.groups_like(bytemuck::cast_slice(&self.shape[..built]), |slot| {
            likely.shape(slot, [built_x[slot], built_y[slot]])
        });
        if lives {
            to.mark();
            if self.fleeting {
                to.column_like(words(limit, built), |slot| likely.limit(slot).to_bits());
            }
            self.boxes.write(&likely, built, built_angle, to);
        }
    }

    /// Reads what [`Broadphase::write`] wrote. The bodies are those of the same snapshot. `lives` tells that the list is not void.
    pub(crate) fn read(&mut self, bodies: &Bodies, lives: bool, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        (self.built, self.listed, self.tests) = from.value()?;
        require!(self.built <= bodies.len && self.listed <= self.built, "{} slots listed", self.built);
        require!(self.tests <= u64::MAX / 2, "{} tests", self.tests);
        let bands = &mut self.bands;
        let height: u64;
        (bands.along_x, height) = from.value()?;
        (bands.banded, bands.still, bands.large_end) = from.value()?;
        bands.longest.read(from)?;
        bands.height = f64::from_bits(height);
        let ends = [bands.banded, bands.still, bands.large_end, self.listed];
        require!(
            ends.is_sorted(),
            "slots in bands, with large ones, with those that stand still, of all: {ends:?}"
        );
        let is_high = bands.height > 0.0 && bands.height.is_finite();
        require!(self.built == 0 || is_high, "bands of height {}", bands.height);
        bands.order.clear();
        bands.order.resize(self.built, u32::MAX);
        self.read_bands(from)?;
        from.mark()?;
        self.frames.read(from)?;
        from.mark()?;
        self.margins.read(from)?;
        self.horizon.read(from)?;
        require!(self.horizon.is_known(), "an unknown horizon of the pair list");
        self.fleeting.read(from)?;
        self.edited_statics.read(from)?;
        self.still_height.read(from)?;
        let heights = [self.bands.longest, self.still_height];
        require!(heights.iter().all(|height| *height >= 0.0), "heights of bands {heights:?}");
        self.present.read(from)?;
        self.strays.read(from)?;
        self.loose.read(from)?;
        from.mark()?;
        self.loners.read(from)?;
        from.mark()?;
        self.parts.read(from)?;
        let below = |slots: &[u32], len: usize| slots.iter().all(|&slot| (slot as usize) < len);
        let ordered = |slots: &[u32]| slots.windows(2).all(|two| two[0] < two[1]);
        require!(below(&self.loose, self.built) && ordered(&self.loose), "loose bodies are not in order");
        require!(below(&self.loners, self.bands.banded), "a loner is in no band");
        require!(self.strays.fits(bodies.len), "strays are not in order");
        require!(
            !lives || self.parts.fits(bodies, self.built),
            "the parts of compounds are not those of the bodies"
        );
        self.read_bounds(bodies, lives, from)?;
        self.make_what_follows(bodies);
        Ok(())
    }

    /// Fills what is not in a snapshot, because it follows from the rest.
    fn make_what_follows(&mut self, bodies: &Bodies) {
        self.loose_boxes.clear();
        self.near_loose.clear();
        self.bounds.front.clear();
        self.fill_fronts(&Crew::alone());
        let bounds = &self.bounds;
        let columns = [&bounds.min_s[..], &bounds.max_s, &bounds.min_b, &bounds.max_b];
        let size = |slot: usize| {
            let [width, height] = [0, 2].map(|side| columns[side + 1][slot] - columns[side][slot]);
            width.max(height)
        };
        self.bands.widest = (0..self.bands.banded).map(size).fold(0.0, f32::max);
        self.build_levels(bodies);
    }

    fn read_bands(&mut self, from: &mut Reader<'_>) -> Read {
        let count = from.length()?;
        let mut lengths: Vec<u32> = Vec::new();
        from.column(&mut lengths, count)?;
        from.mark()?;
        self.bands.list.clear();
        let (mut start, mut last) = (0usize, i64::MIN);
        for len in lengths {
            let id: i32 = from.value()?;
            require!(i64::from(id) > last && len > 0, "band {id} is not in order");
            last = i64::from(id);
            let end = start + len as usize;
            self.bands.list.push(Band { id, slots: start..end });
            start = end;
        }
        require!(start == self.bands.banded, "{start} slots in bands of {}", self.bands.banded);
        let tiles = from.length()?;
        let mut lengths: Vec<u32> = Vec::new();
        from.column(&mut lengths, tiles)?;
        self.tiles.clear();
        let mut first = 0usize;
        for len in lengths {
            let bands = first..first + len as usize;
            require!(len > 0 && bands.end <= count, "a tile of the bands {bands:?}");
            let slots = self.bands.list[first].slots.start..self.bands.list[bands.end - 1].slots.end;
            first = bands.end;
            self.tiles.push(TileBands { bands, slots });
        }
        require!(first == count, "{first} of {count} bands are in tiles");
        Ok(())
    }

    fn read_bounds(&mut self, bodies: &Bodies, lives: bool, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        let mut bounds = std::mem::take(&mut self.bounds);
        (bounds.age, bounds.steps, bounds.lifetime, bounds.large_growth) = from.value()?;
        bounds.allowance.read(from)?;
        self.bounds.large_growth = bounds.large_growth;
        let most = 4 * bodies.len + 64;
        let allowance = &bounds.allowance;
        require!(
            allowance.per_step <= most && allowance.per_list <= most,
            "{} loose bodies",
            allowance.per_list
        );
        let built = self.built;
        let mut shape = std::mem::take(&mut self.shape);
        let mut boxes = std::mem::take(&mut self.boxes);
        let likely = self.likely(bodies, built);
        for column in [&mut bounds.leeway, &mut bounds.frame_x, &mut bounds.frame_y] {
            from.mark()?;
            from.column(column, built)?;
        }
        let c = &bodies.columns;
        for (column, place) in [(&mut bounds.built_x, &c.pos_x), (&mut bounds.built_y, &c.pos_y)] {
            from.mark()?;
            from.column_like(column, built, |slot| place[slot].to_bits())?;
        }
        from.mark()?;
        let leeway = &bounds.leeway[..built];
        from.column_like(&mut bounds.growth, built, |slot| likely.growth(slot, leeway[slot]).to_bits())?;
        let [growth, built_x, built_y] =
            [&bounds.growth, &bounds.built_x, &bounds.built_y].map(|column| &column[..built]);
        let sides = [&mut bounds.min_s, &mut bounds.max_s, &mut bounds.min_b, &mut bounds.max_b];
        for (number, column) in sides.into_iter().enumerate() {
            from.mark()?;
            let side = likely.side(number, [built_x, built_y], growth);
            from.column_like(column, built, |slot| side.at(slot))?;
        }
        from.mark()?;
        from.groups_like(&mut shape, built, |slot| likely.shape(slot, [built_x[slot], built_y[slot]]))?;
        bounds.limit.clear();
        bounds.built_angle.clear();
        boxes.clear();
        if lives {
            from.mark()?;
            if self.fleeting {
                from.column_like(&mut bounds.limit, built, |slot| likely.limit(slot).to_bits())?;
            }
            boxes.read(&likely, built, &mut bounds.built_angle, from)?;
        }
        self.pad(&mut bounds, &mut shape, &mut boxes);
        (self.bounds, self.shape, self.boxes) = (bounds, shape, boxes);
        Ok(())
    }

    /// Appends the bounds that overlap nothing.
    fn pad(&self, bounds: &mut Bounds, shape: &mut Vec<Row>, boxes: &mut Boxes) {
        // In a world that has made no list there are none.
        let wanted = if self.built == 0 { 0 } else { padded(self.built) + MAX_WIDTH };
        for column in bounds.columns_mut() {
            column.resize(wanted, f32::INFINITY);
        }
        shape.resize(wanted, Row::default());
        if !bounds.built_angle.is_empty() {
            bounds.built_angle.resize(wanted, 0.0);
        }
        if !bounds.limit.is_empty() {
            bounds.limit.resize(wanted, f32::INFINITY);
        }
        boxes.pad(wanted);
    }
}

fn words(column: &[f32], len: usize) -> &[u32] {
    bytemuck::cast_slice(&column[..len])
}
