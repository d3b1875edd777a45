//! Small errors that tests must notice, switched on one at a time.
//!
//! `STICTION_MUTANT=NAME` puts the error of that name into a build with debug assertions; other builds have none of this.
//! `scripts/mutants.sh` switches on each in turn and asks for a test that fails. A new law, element or residual adds the error that
//! is easiest to make in it, and the test that notices.

#[cfg(debug_assertions)]
mod switch {
    use std::sync::LazyLock;

    static NAME: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("STICTION_MUTANT").ok());

    /// True when the error `name` is switched on.
    pub(crate) fn on(name: &str) -> bool {
        NAME.as_deref() == Some(name)
    }
}

#[cfg(not(debug_assertions))]
mod switch {
    /// False: there are no errors to switch on.
    #[inline(always)]
    pub(crate) const fn on(_: &str) -> bool {
        false
    }
}

pub(crate) use switch::on;
