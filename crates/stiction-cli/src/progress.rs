//! A progress bar on standard error, only where that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A bar of `total` units, or nothing at all when standard error is not a terminal.
pub fn bar(total: u64, unit: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:30}} {{pos}}/{{len}} {unit}  {{elapsed}} < {{eta}}  {{msg}}");
    let style = ProgressStyle::with_template(&template).expect("the template is constant up to the unit");
    ProgressBar::new(total).with_style(style.progress_chars("━━─"))
}
