//! The protocol over HTTP, on this machine alone. Who doesn't show the token is refused before a byte of
//! the request is read; so is a browser's page, whatever name it found for us.

use super::server::Server;
use super::server_context::ServerContext;
use super::token::is_shown;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, ORIGIN, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::time::Sleep;

/// Where clients find it.
const PATH: &str = "/mcp";
/// Connections that showed no token yet, at once. Fewer: clients that come at the same moment are in each
/// other's way.
const STRANGERS_MAX: usize = 256;
/// For showing it, from the connection's first moment. Longer: whoever says nothing holds a connection.
const HEAD_WAIT: Duration = Duration::from_secs(2);
/// What a stranger has in any case before somebody newer takes its place.
const STRANGER_WAIT: Duration = Duration::from_millis(100);
/// Connections that showed it, at once. More: memory and descriptors for each; fewer: agents wait.
const CLIENTS_MAX: usize = 512;
/// Between two requests of a client.
const IDLE_WAIT: Duration = Duration::from_secs(60);
/// Sessions of the protocol at once; the one that was used longest ago ends, and its client begins another.
/// More: memory for each `initialize` of a client that never ends one; fewer: agents begin anew.
const SESSIONS_MAX: usize = 640;
/// The header that names one.
const SESSION: &str = "mcp-session-id";
/// After a failure to accept (no descriptors left). Longer: clients wait; shorter: a busy loop.
const ACCEPT_WAIT: Duration = Duration::from_millis(100);

type Service = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What all connections share.
struct Door {
    service: Service,
    manager: Arc<LocalSessionManager>,
    token: String,
    clients: Semaphore,
    /// In the order in which they were used.
    sessions: Mutex<VecDeque<Arc<str>>>,
}

/// Serves whoever shows the token, for ever.
pub async fn serve(
    context: Arc<ServerContext>,
    address: SocketAddr,
    token: &str,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let manager = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(Server::new(context.clone())),
        manager.clone(),
        // Hosts are loopback's own by default: a page that found another name for us is refused.
        StreamableHttpServerConfig::default().enforce_origin_validation(),
    );
    let door = Arc::new(Door {
        service,
        manager,
        token: token.to_owned(),
        clients: Semaphore::new(CLIENTS_MAX),
        sessions: Mutex::default(),
    });
    ready(listener.local_addr()?);
    let mut strangers = Strangers::default();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                tokio::time::sleep(ACCEPT_WAIT).await;
                continue;
            }
        };
        let left = strangers.enter().await;
        tokio::spawn(talk(door.clone(), stream, left));
        // what it has said already is read before the next one comes
        tokio::task::yield_now().await;
    }
}

/// Connections that showed no token yet, the oldest first.
#[derive(Default)]
struct Strangers(VecDeque<(Pin<Box<Sleep>>, oneshot::Sender<()>)>);

impl Strangers {
    /// One more; it has to leave when the other end says so or is gone. Where there is no room, the oldest
    /// leaves: so nobody is locked out by those who say nothing.
    async fn enter(&mut self) -> oneshot::Receiver<()> {
        self.0.retain(|(_, stranger)| !stranger.is_closed());
        while self.0.len() >= STRANGERS_MAX {
            if let Some((wait, oldest)) = self.0.pop_front() {
                wait.await;
                // whoever showed the token meanwhile doesn't listen
                let _ = oldest.send(());
            }
        }
        let (stay, left) = oneshot::channel();
        let wait = Box::pin(tokio::time::sleep(STRANGER_WAIT));
        self.0.push_back((wait, stay));
        left
    }
}

/// One connection: a stranger's until it shows the token, which it has to do in time.
async fn talk(door: Arc<Door>, stream: TcpStream, mut left: oneshot::Receiver<()>) {
    let is_known = Arc::new(Notify::new());
    let answer = |request| answer(door.clone(), is_known.clone(), request);
    let talk = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_WAIT)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    tokio::pin!(talk);
    // what ends a connection is the client's affair
    tokio::select! {
        biased;
        _ = talk.as_mut() => return,
        () = is_known.notified() => {}
        _ = &mut left => return,
        () = tokio::time::sleep(HEAD_WAIT) => return,
    }
    drop(left);
    if let Ok(_place) = door.clients.acquire().await {
        let _ = talk.await;
    }
}

impl Door {
    /// A session is used; beyond the limit the one that was used longest ago ends.
    fn use_session(&self, id: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sessions.iter().position(|known| **known == *id);
        let id = known
            .and_then(|at| sessions.remove(at))
            .unwrap_or_else(|| id.into());
        sessions.push_back(id);
        if sessions.len() > SESSIONS_MAX
            && let Some(oldest) = sessions.pop_front()
        {
            let manager = self.manager.clone();
            // one that ended by itself is gone already
            tokio::spawn(async move { manager.close_session(&oldest).await.ok() });
        }
    }
}

async fn answer(
    door: Arc<Door>,
    is_known: Arc<Notify>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let headers = request.headers();
    let shown = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
    if headers.contains_key(ORIGIN) {
        return Ok(refused(StatusCode::FORBIDDEN, "no pages"));
    }
    if !is_shown(shown, &door.token) {
        return Ok(refused(StatusCode::UNAUTHORIZED, "show the token"));
    }
    is_known.notify_one();
    if request.uri().path() != PATH {
        return Ok(refused(StatusCode::NOT_FOUND, "it is at /mcp"));
    }
    let named = headers.get(SESSION).cloned();
    let answer = door.service.handle(request).await;
    // of an unknown one only its client has heard
    let session = match answer.status().is_success() {
        true => answer.headers().get(SESSION).cloned().or(named),
        false => None,
    };
    if let Some(Ok(id)) = session.as_ref().map(|id| id.to_str()) {
        door.use_session(id);
    }
    Ok(answer)
}

fn refused(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        let scheme = hyper::header::HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    }
    answer
}
