//! The protocol over standard input and output: a message a line. Every line gets what JSON-RPC says: what
//! is no JSON an error -32700, what is no message an error -32600.

use super::server::Server;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage, serve_server};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::io::{Error, ErrorKind};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of a line. More: a client that sends no newline fills the memory; fewer: no memory that an
/// agent writes is so long.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// Messages that wait in either direction.
const MESSAGES_MAX: usize = 64;

/// Serves one client until it goes away.
pub async fn serve(server: Server) -> Result<(), Error> {
    talk(server, tokio::io::stdin(), tokio::io::stdout()).await
}

/// The same over any two streams.
async fn talk<R, W>(server: Server, from: R, to: W) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (ask, incoming) = channel(MESSAGES_MAX);
    let (outgoing, told) = channel(MESSAGES_MAX);
    let reading = tokio::spawn(read(from, ask, outgoing.clone()));
    let writing = tokio::spawn(write(told, to));
    let lines = Lines { incoming, outgoing };
    match serve_server(server, lines).await {
        Ok(running) => {
            // what ended it is the client's affair
            let _ = running.waiting().await;
        }
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(Error::other(error)),
    }
    reading.abort();
    let _ = reading.await;
    writing.await?
}

/// One client's messages, through two tasks, so that nothing is lost where a wait is given up.
struct Lines {
    incoming: Receiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Sender<String>,
}

impl Transport<RoleServer> for Lines {
    type Error = Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let line = serde_json::to_string(&item)?;
            let gone = |_| Error::from(ErrorKind::BrokenPipe);
            outgoing.send(line).await.map_err(gone)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.incoming.close();
        Ok(())
    }
}

/// Hands messages on and answers what is none. Ends with the stream.
async fn read(
    from: impl AsyncRead + Unpin,
    ask: Sender<RxJsonRpcMessage<RoleServer>>,
    outgoing: Sender<String>,
) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut rest = (&mut from).take(LINE_BYTES_MAX);
        match rest.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if !line.ends_with(b"\n") && line.len() as u64 == LINE_BYTES_MAX {
            skip_line(&mut from).await;
        }
        let taken = match parse(&line) {
            Parsed::Message(message) => ask.send(*message).await.is_ok(),
            Parsed::Nothing => true,
            Parsed::Refused(answer) => outgoing.send(answer).await.is_ok(),
        };
        if !taken {
            return;
        }
    }
}

/// Reads to the end of a line that is too long.
async fn skip_line(from: &mut (impl AsyncBufReadExt + Unpin)) {
    while let Ok(held) = from.fill_buf().await {
        let end = held.iter().position(|byte| *byte == b'\n');
        let (step, is_over) = match end {
            Some(at) => (at + 1, true),
            None => (held.len(), held.is_empty()),
        };
        from.consume(step);
        if is_over {
            return;
        }
    }
}

async fn write(mut told: Receiver<String>, mut to: impl AsyncWrite + Unpin) -> Result<(), Error> {
    while let Some(mut line) = told.recv().await {
        line.push('\n');
        to.write_all(line.as_bytes()).await?;
        to.flush().await?;
    }
    Ok(())
}

enum Parsed {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// An empty line, or a notification that nobody knows: neither is answered.
    Nothing,
    Refused(String),
}

fn parse(line: &[u8]) -> Parsed {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Parsed::Nothing;
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return refused(&Value::Null, ErrorCode::PARSE_ERROR, "this is not JSON");
    };
    let id = value.get("id").cloned();
    let is_told = id.is_none() && value.get("method").is_some_and(Value::is_string);
    match serde_json::from_value(value) {
        Ok(message) => Parsed::Message(Box::new(message)),
        Err(_) if is_told => Parsed::Nothing,
        Err(_) => refused(
            &id.filter(|id| id.is_u64() || id.is_i64() || id.is_string())
                .unwrap_or_default(),
            ErrorCode::INVALID_REQUEST,
            "this is not a message of the protocol",
        ),
    }
}

fn refused(id: &Value, code: ErrorCode, why: &'static str) -> Parsed {
    let error = ErrorData::new(code, why, None);
    Parsed::Refused(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_answered_and_never_handed_on() {
        let code = |line: &str| match parse(line.as_bytes()) {
            Parsed::Refused(answer) => {
                let answer: Value = serde_json::from_str(&answer).expect("JSON");
                answer["error"]["code"].as_i64().expect("a code")
            }
            Parsed::Nothing => 0,
            Parsed::Message(_) => 1,
        };
        for (line, wants) in [
            ("", 0),
            ("\r\n", 0),
            ("nonsense", -32_700),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32_700),
            ("\u{0}\u{1}", -32_700),
            ("[]", -32_600),
            ("17", -32_600),
            ("{\"id\":{},\"method\":5}", -32_600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 1),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                1,
            ),
        ] {
            assert_eq!(code(line), wants, "{line:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_request_where_it_has_a_number() {
        let Parsed::Refused(answer) = parse(br#"{"jsonrpc":"1.0","id":7,"params":[]}"#) else {
            panic!("no message");
        };
        assert!(answer.contains("\"id\":7"), "{answer}");
    }
}
