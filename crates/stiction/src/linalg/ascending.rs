//! Where a number stands in an ascending list, without a table over all numbers that there are.

/// The place of `x` in an ascending list of different numbers: at once where the list has no gap before it, else by halving.
pub fn place(list: &[u32], x: u32) -> Option<usize> {
    let at = x.checked_sub(*list.first()?)? as usize;
    if list.get(at) == Some(&x) {
        return Some(at);
    }
    list.binary_search(&x).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_found_where_it_stands() {
        for list in [&[][..], &[7], &[0, 1, 2, 3], &[3, 4, 6, 7, 90]] {
            for x in 0..100 {
                assert_eq!(place(list, x), list.iter().position(|y| *y == x), "{x} in {list:?}");
            }
        }
    }
}
