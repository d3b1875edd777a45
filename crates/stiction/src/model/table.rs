//! A list that copies share until one of them is written.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A list that costs a counter to copy. Writing to it copies the list first where it is shared, so that no other model sees
/// the change.
///
/// ```
/// use stiction::model::Table;
///
/// let one = Table::from(vec![1.0, 2.0]);
/// let mut other = one.clone();
/// assert!(other.is(&one));
/// other[0] = 3.0;
/// assert_eq!(*one, [1.0, 2.0]);
/// assert!(!other.is(&one));
/// ```
#[derive(Debug)]
pub struct Table<T>(Arc<Vec<T>>);

impl<T> Table<T> {
    /// The same list in memory, not only an equal one.
    pub fn is(&self, other: &Table<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Clone> Table<T> {
    /// Adds an entry at the end.
    pub fn push(&mut self, entry: T) {
        Arc::make_mut(&mut self.0).push(entry);
    }
}

impl<T: Clone> Extend<T> for Table<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        Arc::make_mut(&mut self.0).extend(entries);
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table(Arc::default())
    }
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Table<T> {
        Table(Arc::clone(&self.0))
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(list: Vec<T>) -> Table<T> {
        Table(Arc::new(list))
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Table<T> {
        Table(Arc::new(entries.into_iter().collect()))
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> DerefMut for Table<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        Arc::make_mut(&mut self.0).as_mut_slice()
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.0.iter()
    }
}
