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
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Where clients find it.
const PATH: &str = "/mcp";
/// Connections at once. More: memory for each; fewer: an agent with many windows waits.
const CONNECTIONS_MAX: usize = 64;
/// For a request's head. Longer: whoever says nothing holds a connection.
const HEAD_WAIT: Duration = Duration::from_secs(10);
/// After a failure to accept (no descriptors left). Longer: clients wait; shorter: a busy loop.
const ACCEPT_WAIT: Duration = Duration::from_millis(100);

type Service = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves whoever shows the token, for ever.
pub async fn serve(
    context: Arc<ServerContext>,
    address: SocketAddr,
    token: &str,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let service = StreamableHttpService::new(
        move || Ok(Server::new(context.clone())),
        Arc::new(LocalSessionManager::default()),
        // Hosts are loopback's own by default: a page that found another name for us is refused.
        StreamableHttpServerConfig::default().enforce_origin_validation(),
    );
    let token: Arc<str> = token.into();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    ready(listener.local_addr()?);
    loop {
        let place = places.clone().acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                tokio::time::sleep(ACCEPT_WAIT).await;
                continue;
            }
        };
        let (service, token) = (service.clone(), token.clone());
        tokio::spawn(async move {
            let answer = |request| answer(service.clone(), token.clone(), request);
            // what ends a connection is the client's affair
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_WAIT)
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
            drop(place);
        });
    }
}

async fn answer(
    service: Service,
    token: Arc<str>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let headers = request.headers();
    let shown = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
    if headers.contains_key(ORIGIN) {
        return Ok(refused(StatusCode::FORBIDDEN, "no pages"));
    }
    if !is_shown(shown, &token) {
        return Ok(refused(StatusCode::UNAUTHORIZED, "show the token"));
    }
    if request.uri().path() != PATH {
        return Ok(refused(StatusCode::NOT_FOUND, "it is at /mcp"));
    }
    Ok(service.handle(request).await)
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
