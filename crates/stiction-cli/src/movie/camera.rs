//! Serves the page to one Chromium on loopback and takes what it draws.

use super::sink::Sink;
use crate::browser::Browser;
use crate::failure::{Result, error};
use crate::loopback::is_own;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use std::net::Ipv4Addr;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Sender, channel};

/// So long nothing may come from the page: starting and the first picture take longest.
const PATIENCE: Duration = Duration::from_secs(180);

struct Site {
    port: u16,
    page: String,
    /// Empty once the film is taken out.
    sink: Mutex<Option<Sink>>,
    news: Sender<News>,
}

enum News {
    Something,
    Done,
    Failed(String),
}

/// Films the page at `hash` and returns the file.
pub fn film(browser: &Browser, page: String, hash: &str, sink: Sink) -> Result<Vec<u8>> {
    let cannot = |e: std::io::Error| {
        error(format!("the page cannot be served: {e}"), "check the limits of the system")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let (news, mut inbox) = channel(64);
        let longest = sink.longest();
        let site = Arc::new(Site { port, page, sink: Mutex::new(Some(sink)), news });
        let app = Router::new()
            .route("/", get(index))
            .route("/{what}", post(take))
            .layer(DefaultBodyLimit::max(longest))
            .with_state(site.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        let mut chromium = Process(
            browser
                .command((800, 600))
                .arg(format!("http://127.0.0.1:{port}/#{hash}"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|e| browser.broken(&e))?,
        );
        let mut heard = Instant::now();
        loop {
            match tokio::time::timeout(Duration::from_millis(500), inbox.recv()).await {
                Ok(Some(News::Something)) => heard = Instant::now(),
                Ok(Some(News::Done)) => break,
                Ok(Some(News::Failed(why))) => return Err(error(format!("the film failed: {why}"), REMEDY)),
                Ok(None) => return Err(error("the film failed: the page is gone", REMEDY)),
                Err(_) if chromium.ended() => {
                    return Err(error("the film failed: Chromium ended", REMEDY));
                }
                Err(_) if heard.elapsed() > PATIENCE => {
                    return Err(error("the film failed: Chromium draws nothing", REMEDY));
                }
                Err(_) => {}
            }
        }
        drop(chromium);
        server.abort();
        let sink = site.sink.lock().unwrap_or_else(PoisonError::into_inner).take();
        sink.and_then(Sink::finish).ok_or_else(|| error("the film failed: nothing was drawn", REMEDY))
    })
}

const REMEDY: &str = "try again, another Chromium with CHROMIUM=path, or a smaller --size";

/// Chromium, which ends when it is no longer needed.
struct Process(Child);

impl Process {
    fn ended(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(Some(_)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn index(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    if !is_own(&headers, site.port, false) {
        return StatusCode::FORBIDDEN.into_response();
    }
    Html(site.page.clone()).into_response()
}

/// Takes what the page drew.
async fn take(
    State(site): State<Arc<Site>>,
    Path(what): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !is_own(&headers, site.port, true) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let query = query.unwrap_or_default();
    let (news, answer) = {
        let mut sink = site.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sink) = sink.as_mut() else { return StatusCode::GONE.into_response() };
        match what.as_str() {
            "codec" => (News::Something, sink.codec(&query)),
            "chunk" => (News::Something, sink.chunk(&query, &body)),
            "sample" => (News::Something, sink.sample(&body)),
            "picture" => (News::Something, sink.picture(&body)),
            "done" => (News::Done, Ok(())),
            "failed" => (News::Failed(String::from_utf8_lossy(&body).into_owned()), Ok(())),
            _ => return StatusCode::NOT_FOUND.into_response(),
        }
    };
    // Nobody listens any more when the film has ended otherwise.
    let _ = site.news.send(news).await;
    match answer {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(why) => (StatusCode::BAD_REQUEST, why).into_response(),
    }
}
