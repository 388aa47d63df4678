//! Floor 5: the face for agents, a Model Context Protocol server on the official SDK. The only async.
//!
//! Reading order: [`tools`] (what is offered), [`server`] (the protocol), `here` (what one request may
//! see), `answer` (how much of it is told), then the tools' own files.

mod answer;
mod folding;
mod git_days;
mod here;
mod http;
mod memory;
mod search;
mod server;
mod server_context;
mod session;
mod stdio;
mod token;
mod tools;
mod tracking;
mod tracking_status;
mod why;

pub use server_context::ServerContext;
pub use token::token;

use crate::model::error::{Error, ErrorKind};
use server::Server;
use std::net::SocketAddr;
use std::sync::Arc;

/// Threads that read the store at once. More: memory for each; fewer: a slow question holds others
/// up.
const READERS_MAX: usize = 4;
/// Standard input and output have a thread each.
const STREAMS: usize = 2;

/// Serves the client at standard input and output until it goes away. Standard output carries the
/// protocol alone.
///
/// # Errors
/// When no runtime can be made, or standard output is gone.
pub fn serve_stdio(context: ServerContext) -> Result<(), Error> {
    let runtime = runtime()?;
    let served = runtime.block_on(stdio::serve(Server::new(Arc::new(context))));
    // a read of standard input can't be taken back
    runtime.shutdown_background();
    served.map_err(failed)
}

/// Serves clients that know `token` at `address`, which is this machine's own, until the process
/// ends. `ready` is told the address, with the port that was found where it was 0.
///
/// # Errors
/// When the address isn't loopback, or is taken.
pub fn serve_http(
    context: ServerContext,
    address: SocketAddr,
    token: &str,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), Error> {
    if !address.ip().is_loopback() {
        let error = Error::usage(format!("{address} is not this machine alone"));
        return Err(error.hinted("sessionmill mcp --http 127.0.0.1:8787"));
    }
    let served = http::serve(Arc::new(context), address, token, ready);
    runtime()?.block_on(served).map_err(|error| {
        Error::new(ErrorKind::Failed, format!("{address}: {error}"))
            .hinted("sessionmill mcp --http 127.0.0.1:0   (takes a free port)")
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(READERS_MAX + STREAMS)
        .build()
        .map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Failed, format!("mcp: {error}"))
}

/// Calls a tool as a client does that works in `dir`.
#[cfg(test)]
pub fn call(
    context: &ServerContext,
    dir: &std::path::Path,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<String, Error> {
    let tool = tools::named(tool).expect("a tool of this name");
    (tool.call)(&here::Here::new(context, Some(dir))?, arguments)
}
