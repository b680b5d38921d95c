//! How plain values are written: numbers, options, lists, arrays, tuples.

use super::{Flaw, Read, Reader, Stored, Writer, require};
use std::collections::BTreeMap;
use std::ops::Range;

macro_rules! numbers {
    (@ $type:ty, $write:expr, $read:expr) => {
        impl Stored for $type {
            fn write(&self, to: &mut Writer<'_>) {
                to.bytes(&self.to_le_bytes());
            }

            fn read(&mut self, from: &mut Reader<'_>) -> Read {
                let mut bytes = self.to_le_bytes();
                bytes.copy_from_slice(from.take(size_of::<$type>())?);
                *self = <$type>::from_le_bytes(bytes);
                Ok(())
            }

            fn blank() -> Self {
                Self::default()
            }

            fn write_list(list: &[Self], to: &mut Writer<'_>) {
                to.length(list.len());
                $write(to, list);
            }

            fn read_list(list: &mut Vec<Self>, from: &mut Reader<'_>) -> Read {
                let len = from.length()?;
                $read(from, list, len)
            }
        }
    };
    (words: $($word:ty)*; others: $($other:ty)*) => {
        $(numbers!(@ $word, |to: &mut Writer<'_>, list: &[$word]| to.column(bytemuck::cast_slice(list)), Reader::column::<$word>);)*
        $(numbers!(@ $other, Writer::raw::<$other>, Reader::raw::<$other>);)*
    };
}
numbers!(words: u32 i32 f32; others: u8 u16 u64 f64);

impl Stored for usize {
    fn write(&self, to: &mut Writer<'_>) {
        (*self as u64).write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        let value: u64 = from.value()?;
        *self = usize::try_from(value).map_err(|_| Flaw(format!("{value} is too large")))?;
        Ok(())
    }

    fn blank() -> usize {
        0
    }
}

impl Stored for bool {
    fn write(&self, to: &mut Writer<'_>) {
        u8::from(*self).write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        *self = match from.byte()? {
            0 => false,
            1 => true,
            other => return Err(from.unknown("truth value", other)),
        };
        Ok(())
    }

    fn blank() -> bool {
        false
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, to: &mut Writer<'_>) {
        T::write_list(self, to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        T::read_list(self, from)
    }

    fn blank() -> Vec<T> {
        Vec::new()
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, to: &mut Writer<'_>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        *self = if from.value()? { Some(from.value()?) } else { None };
        Ok(())
    }

    fn blank() -> Option<T> {
        None
    }
}

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn write(&self, to: &mut Writer<'_>) {
        self.iter().for_each(|value| value.write(to));
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.iter_mut().try_for_each(|value| value.read(from))
    }

    fn blank() -> [T; N] {
        std::array::from_fn(|_| T::blank())
    }
}

impl Stored for Range<usize> {
    fn write(&self, to: &mut Writer<'_>) {
        self.start.write(to);
        self.end.write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.start.read(from)?;
        self.end.read(from)?;
        require!(self.start <= self.end, "a range from {} to {}", self.start, self.end);
        Ok(())
    }

    fn blank() -> Range<usize> {
        0..0
    }
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn write(&self, to: &mut Writer<'_>) {
        to.length(self.len());
        for (key, value) in self {
            key.write(to);
            value.write(to);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.clear();
        for _ in 0..from.length()? {
            let (key, value) = (from.value()?, from.value()?);
            require!(self.last_key_value().is_none_or(|(last, _)| *last < key), "keys are not in order");
            self.insert(key, value);
        }
        Ok(())
    }

    fn blank() -> BTreeMap<K, V> {
        BTreeMap::new()
    }
}

impl Stored for String {
    fn write(&self, to: &mut Writer<'_>) {
        u8::write_list(self.as_bytes(), to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        let len = from.length()?;
        let text = std::str::from_utf8(from.take(len)?).map_err(|error| Flaw(error.to_string()))?;
        self.clear();
        self.push_str(text);
        Ok(())
    }

    fn blank() -> String {
        String::new()
    }
}

impl Stored for glam::Vec2 {
    fn write(&self, to: &mut Writer<'_>) {
        self.to_array().write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        *self = from.value::<[f32; 2]>()?.into();
        Ok(())
    }

    fn blank() -> glam::Vec2 {
        glam::Vec2::ZERO
    }
}

macro_rules! tuples {
    ($($($name:ident $index:tt)+;)*) => {
        $(impl<$($name: Stored),+> Stored for ($($name,)+) {
            fn write(&self, to: &mut Writer<'_>) {
                $(self.$index.write(to);)+
            }

            fn read(&mut self, from: &mut Reader<'_>) -> Read {
                $(self.$index.read(from)?;)+
                Ok(())
            }

            fn blank() -> Self {
                ($($name::blank(),)+)
            }
        })*
    };
}
tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
}
