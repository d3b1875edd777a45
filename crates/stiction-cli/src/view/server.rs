//! The page and its socket on loopback: nothing else is served, and nobody else is answered.

use super::stage::{Stage, Wish};
use crate::failure::{Outcome, Result, error};
use crate::loopback::is_own;
use crate::output::print;
use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Bytes of a wish at most.
const LONGEST: usize = 4096;

/// What a page says when it has drawn what it got.
const NEXT: &str = "\"next\"";

struct Site {
    port: u16,
    page: String,
    stage: Option<Stage>,
}

/// Serves until the program is stopped.
pub fn serve(port: u16, page: String, stage: Option<Stage>) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| error(format!("the server cannot start: {e}"), "check the limits of the system"))?;
    runtime.block_on(async {
        let taken = |e: std::io::Error| {
            error(
                format!("port {port} cannot be opened: {e}"),
                "choose another with --port, or --port 0 for a free one",
            )
        };
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(taken)?;
        let port = listener.local_addr().map_err(taken)?.port();
        print(&format!("open http://127.0.0.1:{port}/ in a browser; Ctrl+C ends\n"))?;
        let site = Arc::new(Site { port, page, stage });
        let app = Router::new().route("/", get(index)).route("/socket", get(socket)).with_state(site);
        axum::serve(listener, app).await.map_err(taken)?;
        Ok(Outcome::Good)
    })
}

async fn index(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    if !is_own(&headers, site.port, false) {
        return StatusCode::FORBIDDEN.into_response();
    }
    ([(header::CACHE_CONTROL, "no-store")], Html(site.page.clone())).into_response()
}

async fn socket(State(site): State<Arc<Site>>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    match &site.stage {
        Some(stage) if is_own(&headers, site.port, true) => {
            let stage = stage.clone();
            upgrade.max_message_size(LONGEST).on_upgrade(|s| watch(s, stage))
        }
        Some(_) => StatusCode::FORBIDDEN.into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Sends the newest view whenever the page asks for the next, and passes wishes on.
async fn watch(mut socket: WebSocket, mut stage: Stage) {
    let (mut run, mut settings) = (0, Arc::default());
    let mut ready = true;
    stage.view.mark_changed();
    loop {
        tokio::select! {
            changed = stage.view.changed(), if ready => {
                if changed.is_err() {
                    return;
                }
                ready = false;
                let view = stage.view.borrow_and_update().clone();
                let mut messages = Vec::new();
                if view.settings != settings {
                    settings = view.settings.clone();
                    messages.push(Message::Text(settings.to_string().into()));
                }
                if view.run != run {
                    run = view.run;
                    messages.push(Message::Binary(view.header.to_vec().into()));
                }
                messages.push(Message::Binary(view.frame.to_vec().into()));
                for m in messages {
                    if socket.send(m).await.is_err() {
                        return;
                    }
                }
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) if text.as_str() == NEXT => ready = true,
                Some(Ok(Message::Text(text))) => {
                    // What is no wish, or comes too fast, is dropped.
                    if let Ok(wish) = serde_json::from_str::<Wish>(&text) {
                        let _ = stage.wishes.try_send(wish);
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            }
        }
    }
}
