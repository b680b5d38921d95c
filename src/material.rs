//! Surface and bulk properties of bodies, and how those of two bodies are mixed at a contact.

use crate::base::codec::{Flaw, Read, Reader, Stored, Writer, require};
use crate::base::interner::{Interner, put};
use crate::error::{Error, check_range};

/// The material of a body or part: its density and its surface.
///
/// All values are dimensionless except `density` and `tangent_speed`, and `id` is a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Mass per area, kg/m², in 0..=1e6. 0 makes the mass infinite. Default 1.
    pub density: f32,
    /// Friction coefficient up to which a resting contact holds (μs), in 0..=1e6. Default 0.6.
    pub static_friction: f32,
    /// Friction coefficient of a sliding contact (μd, usually ≤ μs), in 0..=1e6. Default 0.4. A contact of a shape that turns which slides more slowly
    /// than half a slop a second, and with [`Solver::Soft`](crate::Solver::Soft) a third of μs·g times the substep more (11 mm/s for the
    /// defaults), counts as resting: its contacts may not have shared out their load yet. What a load presses and μs·g can stop within one
    /// substep stops: below 25 mm/s for the defaults, below 0.1 m/s with [`Solver::Projection`](crate::Solver::Projection).
    pub dynamic_friction: f32,
    /// Ratio of the separation speed to the approach speed, in 0..=1. Default 0.
    pub restitution: f32,
    /// The torque that brakes rolling, divided by the normal force and by the radius of the round shape (of the smaller one,
    /// if both are round), in 0..=1e6. A contact uses the larger value of its two materials. Default 0.
    pub rolling_resistance: f32,
    /// Speed of the surface relative to the body, m/s, in −1e6..=1e6: a conveyor belt. With a positive speed it runs clockwise
    /// round the shape, so to the right on top. Default 0.
    pub tangent_speed: f32,
    /// The host's own number of the material, any. [`World::set_pair_material`](crate::World::set_pair_material) sets what holds where two
    /// numbers meet, and hooks can read it. Default 0.
    pub id: u32,
}

crate::base::codec::stored!(Material {
    density,
    static_friction,
    dynamic_friction,
    restitution,
    rolling_resistance,
    tangent_speed,
    id
});

impl Default for Material {
    /// Density 1, static friction 0.6, dynamic friction 0.4, all other values 0.
    fn default() -> Self {
        Material {
            density: 1.0,
            static_friction: 0.6,
            dynamic_friction: 0.4,
            restitution: 0.0,
            rolling_resistance: 0.0,
            tangent_speed: 0.0,
            id: 0,
        }
    }
}

impl Material {
    /// Largest accepted value of every field except `restitution`.
    pub const MAX: f32 = 1.0e6;

    /// A material with the same static and dynamic friction coefficient.
    pub fn new(density: f32, friction: f32, restitution: f32) -> Self {
        Material {
            density,
            static_friction: friction,
            dynamic_friction: friction,
            restitution,
            ..Material::default()
        }
    }

    /// Checks the values of the material.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] with the first field that is not finite or out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        check_range("material.density", self.density, 0.0, Self::MAX)?;
        check_range("material.static_friction", self.static_friction, 0.0, Self::MAX)?;
        check_range("material.dynamic_friction", self.dynamic_friction, 0.0, Self::MAX)?;
        check_range("material.restitution", self.restitution, 0.0, 1.0)?;
        check_range("material.rolling_resistance", self.rolling_resistance, 0.0, Self::MAX)?;
        check_range("material.tangent_speed", self.tangent_speed, -Self::MAX, Self::MAX)
    }

    /// The bits of all values: materials are equal if these are.
    pub(crate) fn bits(&self) -> [u32; 7] {
        let Material {
            density,
            static_friction,
            dynamic_friction,
            restitution,
            rolling_resistance,
            tangent_speed,
            id,
        } = *self;
        let [a, b, c, d, e, f] =
            [density, static_friction, dynamic_friction, restitution, rolling_resistance, tangent_speed]
                .map(f32::to_bits);
        [a, b, c, d, e, f, id]
    }

    /// Returns true if all bits are the same. (Two arrays of [`Material::bits`] are compared more slowly: they are read back from the stack in wider
    /// pieces than they were written in, which stalls.)
    fn is_same(&self, other: &Material) -> bool {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits();
        same(self.density, other.density)
            && same(self.static_friction, other.static_friction)
            && same(self.dynamic_friction, other.dynamic_friction)
            && same(self.restitution, other.restitution)
            && same(self.rolling_resistance, other.rolling_resistance)
            && same(self.tangent_speed, other.tangent_speed)
            && self.id == other.id
    }

    /// Returns true if contacts with this material need more than normal impulse and friction.
    pub(crate) fn is_rough(&self) -> bool {
        self.rolling_resistance != 0.0 || self.tangent_speed != 0.0
    }
}

/// The rule that makes one coefficient of a contact from those of its two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// √(a² + b²), the classical game-physics choice for friction.
    Pythagorean,
    /// √(a·b).
    GeometricMean,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// (a + b) / 2.
    Average,
    /// a·b.
    Multiply,
}

crate::base::codec::stored_enum!(Mix = Mix::Min; { 0 => Pythagorean, 1 => GeometricMean, 2 => Min, 3 => Max, 4 => Average, 5 => Multiply });

impl Mix {
    /// All rules with the names that scene files use.
    pub const NAMES: [(&'static str, Mix); 6] = [
        ("pythagorean", Mix::Pythagorean),
        ("geometric_mean", Mix::GeometricMean),
        ("min", Mix::Min),
        ("max", Mix::Max),
        ("average", Mix::Average),
        ("multiply", Mix::Multiply),
    ];

    /// The mixed coefficient. Symmetric in `a` and `b`.
    #[inline]
    pub fn mix(self, a: f32, b: f32) -> f32 {
        match self {
            Mix::Pythagorean => (a * a + b * b).sqrt(),
            Mix::GeometricMean => (a * b).sqrt(),
            Mix::Min => a.min(b),
            Mix::Max => a.max(b),
            Mix::Average => 0.5 * (a + b),
            Mix::Multiply => a * b,
        }
    }
}

/// The mixing rules of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixing {
    /// The rule for the static and the dynamic friction coefficient.
    pub friction: Mix,
    /// The rule for restitution. A result above 1 is clamped to 1.
    pub restitution: Mix,
}

crate::base::codec::stored!(Mixing { friction, restitution });

impl Default for Mixing {
    /// Friction by [`Mix::Pythagorean`], restitution by [`Mix::Min`].
    fn default() -> Self {
        Mixing { friction: Mix::Pythagorean, restitution: Mix::Min }
    }
}

/// The coefficients of a contact: those of its two materials, mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mixed {
    /// Friction coefficient up to which the contact holds, in 0..=1e6.
    pub static_friction: f32,
    /// Friction coefficient of the sliding contact, in 0..=1e6.
    pub dynamic_friction: f32,
    /// Ratio of the separation speed to the approach speed, in 0..=1.
    pub restitution: f32,
}

crate::base::codec::stored!(Mixed { static_friction, dynamic_friction, restitution });

impl Mixed {
    /// Checks the coefficients.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] with the first field that is not finite or out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        check_range("pair.static_friction", self.static_friction, 0.0, Material::MAX)?;
        check_range("pair.dynamic_friction", self.dynamic_friction, 0.0, Material::MAX)?;
        check_range("pair.restitution", self.restitution, 0.0, 1.0)
    }

    /// Returns these coefficients, 0 in place of −0. A limit of −0 would make an impulse −0 where a kernel visits a contact that is not near,
    /// and wide kernels visit more of them.
    pub(crate) fn unsigned(self) -> Mixed {
        Mixed {
            static_friction: self.static_friction + 0.0,
            dynamic_friction: self.dynamic_friction + 0.0,
            restitution: self.restitution + 0.0,
        }
    }

    /// Returns these coefficients, each one that is not in its range replaced by that of `other`.
    pub(crate) fn or(self, other: &Mixed) -> Mixed {
        let within =
            |value: f32, max: f32, other: f32| if (0.0..=max).contains(&value) { value } else { other };
        Mixed {
            static_friction: within(self.static_friction, Material::MAX, other.static_friction),
            dynamic_friction: within(self.dynamic_friction, Material::MAX, other.dynamic_friction),
            restitution: within(self.restitution, 1.0, other.restitution),
        }
        .unsigned()
    }
}

impl Mixing {
    /// The coefficients of a contact of two materials.
    pub(crate) fn mixed(&self, a: &Material, b: &Material) -> Mixed {
        // A product of large coefficients may overflow.
        let friction = |a, b| self.friction.mix(a, b).min(f32::MAX);
        Mixed {
            static_friction: friction(a.static_friction, b.static_friction),
            dynamic_friction: friction(a.dynamic_friction, b.dynamic_friction),
            restitution: Mix::Min.mix(1.0, self.restitution.mix(a.restitution, b.restitution)),
        }
    }
}

/// What holds where two materials meet, by the numbers that the host gave them.
#[derive(Clone, Default)]
pub(crate) struct PairMaterials {
    /// In the order of the keys: the lower number, then the higher.
    list: Vec<((u32, u32), Mixed)>,
}

impl Stored for PairMaterials {
    fn write(&self, to: &mut Writer<'_>) {
        self.list.write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.list.read(from)?;
        let ordered = self.list.windows(2).all(|two| two[0].0 < two[1].0);
        require!(
            ordered && self.list.iter().all(|((a, b), _)| a <= b),
            "pairs of materials are not in order"
        );
        self.list.iter().try_for_each(|(_, mixed)| mixed.validate()).map_err(|error| Flaw(error.to_string()))
    }

    fn blank() -> PairMaterials {
        PairMaterials::default()
    }
}

impl PairMaterials {
    fn place(&self, a: u32, b: u32) -> Result<usize, usize> {
        self.list.binary_search_by_key(&(a.min(b), a.max(b)), |(key, _)| *key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn get(&self, a: u32, b: u32) -> Option<Mixed> {
        self.place(a, b).ok().map(|place| self.list[place].1)
    }

    /// Sets or removes what holds for two numbers.
    pub(crate) fn set(&mut self, a: u32, b: u32, mixed: Option<Mixed>) {
        match (self.place(a, b), mixed) {
            (Ok(place), Some(mixed)) => self.list[place].1 = mixed,
            (Ok(place), None) => _ = self.list.remove(place),
            (Err(place), Some(mixed)) => self.list.insert(place, ((a.min(b), a.max(b)), mixed)),
            (Err(_), None) => {}
        }
    }
}

/// The distinct materials of a world, by number, with the count of bodies and parts that use each.
#[derive(Default)]
pub(crate) struct Materials {
    /// Materials by number. Those with a free number are not in use.
    list: Vec<Material>,
    numbers: Interner<[u32; 7]>,
    /// The number that was given out last: mostly it is asked for again.
    recent: u32,
}

impl Materials {
    /// The materials by number.
    pub(crate) fn list(&self) -> &[Material] {
        &self.list
    }

    /// Adds a user to a material and returns its number. Equal materials have one number.
    pub(crate) fn acquire(&mut self, material: &Material) -> u32 {
        let same = |other: &Material| other.is_same(material);
        if self.list.get(self.recent as usize).is_some_and(same) && self.numbers.acquire_known(self.recent) {
            return self.recent;
        }
        let (number, new) = self.numbers.acquire(material.bits());
        if new {
            put(&mut self.list, number, *material);
        }
        self.recent = number;
        number
    }

    /// Takes a user off a material.
    pub(crate) fn release(&mut self, number: u32) {
        self.numbers.release(number);
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) {
        self.list.write(to);
        self.numbers.free().write(to);
    }

    /// Reads the materials. The numbers without users are returned, and have to be given to [`Materials::count`].
    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Result<Vec<u32>, Flaw> {
        self.recent = 0;
        self.list.read(from)?;
        for material in &self.list {
            material.validate().map_err(|error| Flaw(error.to_string()))?;
        }
        from.value()
    }

    /// Ends reading. Each number has so many users.
    pub(crate) fn count(&mut self, users: Vec<usize>, free: Vec<u32>) -> Read {
        self.numbers.restore(self.list.iter().map(Material::bits), users, free)
    }

    /// The number of places in the table, and how many are in use.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.numbers.len(), self.numbers.used()]
    }
}
