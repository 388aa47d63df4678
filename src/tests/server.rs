//! A real HTTP server on loopback that says what a test wants it to say.

use crate::model::consent::{Consent, Endpoint, endpoint_text};
use crate::model::time::Time;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Somebody's consent to an endpoint.
pub fn agreed(endpoint: &Endpoint) -> Consent {
    Consent {
        scope: endpoint.to_string(),
        given: true,
        text: endpoint_text(endpoint),
        version: "1".into(),
        at: Time(0),
    }
}

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// This status, these further headers, this body.
    Says(u16, &'static str, String),
    /// An answer whose body is shorter than announced.
    Cut(String),
    /// Nothing, until the client goes away.
    Hangs,
    /// An empty list, after so many spaces, each after 20 ms.
    Dribbles(u32),
}

/// A request, as it came.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// `POST /path`.
    pub line: String,
    /// Lower-case.
    pub headers: Vec<String>,
    /// Parsed.
    pub body: Value,
    /// As it came.
    pub text: String,
}

/// A server; every connection is counted.
pub struct Server {
    /// `http://127.0.0.1:port`.
    pub endpoint: String,
    asked: Receiver<Asked>,
}

impl Server {
    /// Gives the replies one after the other, the last one for ever.
    pub fn new(replies: Vec<Reply>) -> Server {
        let mut nth = 0;
        Server::answering(move |_| {
            nth += 1;
            let reply = replies.get(nth - 1).or(replies.last());
            reply.expect("a reply").clone()
        })
    }

    /// Asks for each reply.
    pub fn answering(reply: impl FnMut(&Asked) -> Reply + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, asked) = channel();
        thread::spawn(move || serve(&listener, reply, &sender));
        Server {
            endpoint: format!("http://{address}"),
            asked,
        }
    }

    /// The requests since the last look.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }
}

fn serve(listener: &TcpListener, mut reply: impl FnMut(&Asked) -> Reply, asked: &Sender<Asked>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        // counted before anything is answered, so that whoever has an answer sees it counted
        let request = read(&stream).unwrap_or_default();
        let reply = reply(&request);
        if asked.send(request).is_err() {
            return;
        }
        answer(stream, reply);
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut asked = Asked {
        line: line.trim_end_matches(" HTTP/1.1\r\n").to_owned(),
        ..Asked::default()
    };
    let mut bytes = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(length) = header.strip_prefix("content-length:") {
            bytes = length.trim().parse().ok()?;
        }
        asked.headers.push(header);
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    asked.text = String::from_utf8(body).ok()?;
    asked.body = serde_json::from_str(&asked.text).unwrap_or_default();
    Some(asked)
}

fn answer(mut stream: TcpStream, reply: Reply) {
    // a client that went away is no fault of the test
    let _ = match reply {
        Reply::Says(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n");
            write!(stream, "{head}connection: close\r\n\r\n{body}")
        }
        Reply::Cut(body) => {
            let length = body.len() + 100;
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}"
            )
        }
        Reply::Hangs => stream.read(&mut [0; 1]).map(|_| ()),
        Reply::Dribbles(spaces) => dribble(&mut stream, spaces),
    };
}

fn dribble(stream: &mut TcpStream, spaces: u32) -> std::io::Result<()> {
    let length = spaces + 2;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n"
    )?;
    for _ in 0..spaces {
        thread::sleep(std::time::Duration::from_millis(20));
        write!(stream, " ")?;
    }
    write!(stream, "[]")
}
