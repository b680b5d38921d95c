//! Numbers for distinct values that many bodies share. Users are counted, and a value without users is forgotten.
//!
//! The owner of the table keeps the values themselves, by these numbers. A free number is given to the next new value, the last
//! freed one first. So a table is as long as the largest number of distinct values that were ever in use at the same time.

use super::codec::{Read, require};
use std::collections::HashMap;
use std::hash::Hash;

pub(crate) struct Interner<K> {
    known: HashMap<K, u32>,
    /// Nobody has asked for a value since the table was restored, and `known` is empty. (To fill it took a tenth of the
    /// instructions of `restore_mixed` in `cargo bench -p granule-instructions`, and a host that rolls back adds no shapes.)
    unread: bool,
    /// Values by number.
    keys: Vec<K>,
    users: Vec<usize>,
    /// Numbers without users.
    free: Vec<u32>,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Interner {
            known: HashMap::new(),
            unread: false,
            keys: Vec::new(),
            users: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Interner<K> {
    /// Adds a user to a value. Returns the number of the value, and true if the value is new under this number.
    pub(crate) fn acquire(&mut self, key: K) -> (u32, bool) {
        if std::mem::take(&mut self.unread) {
            let used = (0u32..).zip(&self.keys).zip(&self.users).filter(|(_, users)| **users > 0);
            self.known.extend(used.map(|((number, &key), _)| (key, number)));
        }
        if let Some(&number) = self.known.get(&key) {
            self.users[number as usize] += 1;
            return (number, false);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.keys.push(key);
            self.users.push(0);
            (self.keys.len() - 1) as u32
        });
        self.keys[number as usize] = key;
        self.users[number as usize] = 1;
        self.known.insert(key, number);
        (number, true)
    }

    /// Adds a user to a number that has users. Returns false if it has none.
    pub(crate) fn acquire_known(&mut self, number: u32) -> bool {
        match self.users.get_mut(number as usize) {
            Some(users) if *users > 0 => {
                *users += 1;
                true
            }
            _ => false,
        }
    }

    /// Takes a user off a number. If it was the last user, the value is forgotten.
    pub(crate) fn release(&mut self, number: u32) {
        let users = &mut self.users[number as usize];
        *users -= 1;
        if *users == 0 {
            self.known.remove(&self.keys[number as usize]);
            self.free.push(number);
        }
    }

    /// The numbers without users. The last one is given out next.
    pub(crate) fn free(&self) -> &Vec<u32> {
        &self.free
    }

    /// Takes the values of a snapshot: those with these keys, with so many users each. The numbers without users are `free`.
    pub(crate) fn restore(
        &mut self,
        keys: impl Iterator<Item = K>,
        users: Vec<usize>,
        free: Vec<u32>,
    ) -> Read {
        self.keys.clear();
        self.keys.extend(keys);
        (self.users, self.free) = (users, free);
        require!(
            self.users.len() == self.keys.len(),
            "{} values, {} numbers",
            self.keys.len(),
            self.users.len()
        );
        let mut unused = self.free.clone();
        unused.sort_unstable();
        let without = (0u32..).zip(&self.users).filter(|(_, users)| **users == 0).map(|(number, _)| number);
        require!(without.eq(unused), "a number is free and has users, or is neither");
        self.known.clear();
        self.unread = true;
        Ok(())
    }

    /// The number of numbers given out so far, freed ones included.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of values in use.
    pub(crate) fn used(&self) -> usize {
        self.keys.len() - self.free.len()
    }
}

/// Puts a value in its place. The place is at most one behind the last value.
pub(crate) fn put<T>(values: &mut Vec<T>, number: u32, value: T) {
    match values.get_mut(number as usize) {
        Some(place) => *place = value,
        None => values.push(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: equal values have one number. A number goes to another value only after its last user has gone. There are
    /// no more numbers than values that were in use at the same time.
    #[test]
    fn numbers_are_given_out_again() {
        let mut table = Interner::default();
        let (a, b) = (table.acquire('a'), table.acquire('b'));
        assert_eq!((a, b), ((0, true), (1, true)));
        assert_eq!(table.acquire('a'), (0, false));
        table.release(0);
        assert_eq!(table.acquire('c'), (2, true));
        table.release(0);
        assert_eq!(table.acquire('d'), (0, true));
        assert_eq!(table.acquire('a'), (3, true));
        assert_eq!((table.len(), table.used()), (4, 4));
        for round in 0..1000 {
            let (number, new) = table.acquire(char::from_u32(1000 + round).expect("a character"));
            assert_eq!((number, new), (4, true));
            table.release(number);
        }
        assert_eq!((table.len(), table.used()), (5, 4));
    }

    /// Contract: a restored table gives the values that it was given their numbers, and to others those that are free, also after a value
    /// has lost its last user before anybody asks.
    #[test]
    fn a_restored_table_knows_its_values() {
        let mut table = Interner::default();
        table.restore(['a', 'b', 'c'].into_iter(), vec![1, 0, 1], vec![1]).unwrap();
        table.release(0);
        assert_eq!(table.acquire('c'), (2, false));
        assert_eq!(
            (table.acquire('a'), table.acquire('b'), table.acquire('d')),
            ((0, true), (1, true), (3, true))
        );
        assert!(table.restore(['a'].into_iter(), vec![1], vec![0]).is_err());
    }
}
