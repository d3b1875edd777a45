//! Who may talk to a server on this computer: only its own page.

use axum::http::{HeaderMap, header};

/// Asked for by this computer's own names (another name that leads here is somebody else's page) and, where the request
/// changes something, sent by our own page.
pub fn is_own(headers: &HeaderMap, port: u16, changes_something: bool) -> bool {
    let own = |name: &str| ["127.0.0.1", "localhost"].iter().any(|own| name == format!("{own}:{port}"));
    let text = |name| headers.get(name).and_then(|h| h.to_str().ok());
    let origin = || text(header::ORIGIN).and_then(|o| o.strip_prefix("http://"));
    text(header::HOST).is_some_and(own) && (!changes_something || origin().is_some_and(own))
}
