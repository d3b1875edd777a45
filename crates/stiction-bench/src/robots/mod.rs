//! Robots, hands and throwers that fits are tried on, and the tasks made of them.

pub mod hands;
pub mod problem;
pub mod robot;
pub mod tasks;
pub mod thrower;
