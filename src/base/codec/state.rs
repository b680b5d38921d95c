//! What snapshots hold: the trait, and the macros that implement it.

use super::{Flaw, Read, Reader, Writer, require};

/// A value that snapshots hold.
pub(crate) trait Stored: Sized {
    fn write(&self, to: &mut Writer<'_>);

    /// Reads a value in place of this one, whose memory it takes over.
    fn read(&mut self, from: &mut Reader<'_>) -> Read;

    /// A value to be read into.
    fn blank() -> Self;

    fn write_list(list: &[Self], to: &mut Writer<'_>) {
        to.length(list.len());
        list.iter().for_each(|value| value.write(to));
    }

    fn read_list(list: &mut Vec<Self>, from: &mut Reader<'_>) -> Read {
        let len = from.length()?;
        list.truncate(len);
        for index in 0..len {
            if index == list.len() {
                list.push(Self::blank());
            }
            list[index].read(from)?;
        }
        Ok(())
    }
}

/// Implements [`Stored`]: `stored!(Type { state, … } scratch { memory, … })`. What is in `scratch` is left as it is. With `= value` the
/// type needs no default. With `columns(value) { value.field, … }` at the end, lists are written
/// as columns of these, all of them [`Word`]s: all that is state has to be among them, and `columns_hold_all_that_rows_hold` (`world/snapshot.rs`) checks the type.
macro_rules! stored {
    ($type:ty { $($field:tt),* $(,)? } $(scratch { $($scratch:tt),* $(,)? })?) => {
        $crate::base::codec::stored!($type = <$type as Default>::default(); { $($field),* } $(scratch { $($scratch),* })?);
    };
    ($type:ty = $blank:expr; { $($field:tt),* $(,)? } $(scratch { $($scratch:tt),* $(,)? })? $(columns($value:ident) { $($column:expr),* $(,)? })?) => {
        impl $crate::base::codec::Stored for $type {
            fn write(&self, to: &mut $crate::base::codec::Writer<'_>) {
                // No field may be forgotten.
                let Self { $($field: _,)* $($($scratch: _,)*)? } = self;
                $($crate::base::codec::Stored::write(&self.$field, to);)*
            }

            fn read(&mut self, from: &mut $crate::base::codec::Reader<'_>) -> $crate::base::codec::Read {
                $($crate::base::codec::Stored::read(&mut self.$field, from)?;)*
                let _ = from;
                Ok(())
            }

            fn blank() -> Self {
                $blank
            }

            $(
                fn write_list(list: &[Self], to: &mut $crate::base::codec::Writer<'_>) {
                    to.length(list.len());
                    if list.len() < $crate::base::codec::COLUMNS_FROM {
                        return list.iter().for_each(|value| $crate::base::codec::Stored::write(value, to));
                    }
                    $(to.small_column(list.iter().map(|$value| $crate::base::codec::Word::word($column)));)*
                }

                fn read_list(list: &mut Vec<Self>, from: &mut $crate::base::codec::Reader<'_>) -> $crate::base::codec::Read {
                    let len = from.length()?;
                    list.clear();
                    if len < $crate::base::codec::COLUMNS_FROM {
                        for _ in 0..len {
                            list.push(from.value()?);
                        }
                        return Ok(());
                    }
                    let mut words: Vec<u32> = Vec::new();
                    $(
                        from.column(&mut words, len)?;
                        if list.is_empty() {
                            list.resize_with(len, <Self as $crate::base::codec::Stored>::blank);
                        }
                        for ($value, &word) in list.iter_mut().zip(&words) {
                            $column = $crate::base::codec::Word::of_word(word)?;
                        }
                    )*
                    Ok(())
                }
            )?
        }
    };
}
pub(crate) use stored;

/// From so many values on, a list is written as columns where its type says so. A column takes some bytes, however short it is.
pub(crate) const COLUMNS_FROM: usize = 6;

/// A value that fits into a word of a column.
pub(crate) trait Word: Copy {
    fn word(self) -> u32;
    fn of_word(word: u32) -> Result<Self, Flaw>;
}

impl Word for u32 {
    fn word(self) -> u32 {
        self
    }

    fn of_word(word: u32) -> Result<u32, Flaw> {
        Ok(word)
    }
}

impl Word for f32 {
    fn word(self) -> u32 {
        self.to_bits()
    }

    fn of_word(word: u32) -> Result<f32, Flaw> {
        Ok(f32::from_bits(word))
    }
}

impl Word for u8 {
    fn word(self) -> u32 {
        self.into()
    }

    fn of_word(word: u32) -> Result<u8, Flaw> {
        u8::try_from(word).map_err(|_| Flaw(format!("{word} is no byte")))
    }
}

impl Word for bool {
    fn word(self) -> u32 {
        self.into()
    }

    fn of_word(word: u32) -> Result<bool, Flaw> {
        require!(word < 2, "{word} is no truth value");
        Ok(word == 1)
    }
}

/// Implements [`Stored`] for an enumeration: `stored_enum!(Type { 0 => Type::Plain, 1 => Type::With(value: f32), 2 => Type::Of { a: f32, b: u32 } })`.
/// The first variant is the blank one, and has no fields; or the blank one is given by `= value;`.
macro_rules! stored_enum {
    ($type:ty = $blank:expr; { $($number:literal => $variant:ident $(($($tuple:ident: $tuple_type:ty),*))? $({ $($name:ident: $name_type:ty),* $(,)? })?),* $(,)? }) => {
        impl $crate::base::codec::Stored for $type {
            fn write(&self, to: &mut $crate::base::codec::Writer<'_>) {
                #[allow(unused_imports)]
                use $crate::base::codec::Stored as _;
                match self {
                    $(Self::$variant $(($($tuple),*))? $({ $($name),* })? => {
                        ($number as u8).write(to);
                        $($($tuple.write(to);)*)?
                        $($($name.write(to);)*)?
                    })*
                }
            }

            fn read(&mut self, from: &mut $crate::base::codec::Reader<'_>) -> $crate::base::codec::Read {
                *self = match from.byte()? {
                    $($number => {
                        $($(let $tuple: $tuple_type = from.value()?;)*)?
                        $($(let $name: $name_type = from.value()?;)*)?
                        Self::$variant $(($($tuple),*))? $({ $($name),* })?
                    })*
                    other => return Err(from.unknown(stringify!($type), other)),
                };
                Ok(())
            }

            fn blank() -> Self {
                $blank
            }
        }
    };
}
pub(crate) use stored_enum;
