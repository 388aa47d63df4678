//! Nothing leaves the machine without consent to that very endpoint, tried with a sink on loopback
//! that counts who comes.

use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::{Endpoint, Permit};
use crate::store::{Access, Result, Store};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Takes what is sent to it.
struct TestSink {
    listener: TcpListener,
}

impl TestSink {
    fn new() -> TestSink {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        TestSink { listener }
    }

    fn endpoint(&self) -> Endpoint {
        let address = self.listener.local_addr().unwrap();
        format!("http://{address}").parse().unwrap()
    }

    /// The bytes of everybody who connected so far.
    fn received(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.listener.accept().ok())
            .map(|(mut stream, _)| {
                stream.set_nonblocking(false).unwrap();
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).unwrap();
                bytes
            })
            .collect()
    }
}

/// What a sink will be: it can't connect without a permit, and only to where that says.
fn deliver(permit: &Permit, text: &str) {
    let mut stream = TcpStream::connect(permit.endpoint().authority()).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
}

/// What a run will do for each batch.
fn send(desk: &Desk, endpoint: &Endpoint) -> Result<()> {
    let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly)?;
    deliver(&store.permit(endpoint)?, "an episode");
    Ok(())
}

#[test]
fn nothing_is_sent_before_consent_and_nothing_after_it_is_taken_back() {
    let (desk, sink, other) = (Desk::enabled(), TestSink::new(), TestSink::new());
    let (here, there) = (sink.endpoint(), other.endpoint());
    let refused = send(&desk, &here).unwrap_err();
    let hint = format!("sessionmill consent give {here}");
    assert_eq!(refused.hint, Some(hint.clone()));
    assert!(sink.received().is_empty());

    let confirm = format!("I understand this sends what my session logs say to {here}");
    let ran = desk.run(&format!("{hint} --confirm '{confirm}'"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    send(&desk, &here).unwrap();
    assert_eq!(sink.received(), [b"an episode"]);
    // Another endpoint asks again.
    assert!(send(&desk, &there).is_err());
    let path: Endpoint = format!("{here}/v2").parse().unwrap();
    assert!(send(&desk, &path).is_err());

    let ran = desk.run(&format!("sessionmill consent revoke {here}"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(send(&desk, &here).is_err());
    assert!(sink.received().is_empty() && other.received().is_empty());
    let dump = desk.run("sessionmill store dump").stdout;
    let said = dump.lines().filter(|line| line.contains(here.as_str()));
    assert_eq!(said.count(), 2, "both are on record: {dump}");
}

#[test]
fn consent_is_taken_back_while_a_run_is_going() {
    let (desk, sink) = (Desk::enabled(), TestSink::new());
    let here = sink.endpoint();
    let confirm = format!("I understand this sends what my session logs say to {here}");
    desk.run(&format!(
        "sessionmill consent give {here} --confirm '{confirm}'"
    ));
    let _run = crate::pipeline::lock::Lock::take(&desk.path(".graphiti/sessionmill.lock")).unwrap();
    let _store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadWrite).unwrap();
    send(&desk, &here).unwrap();
    let ran = desk.run(&format!("sessionmill consent revoke {here}"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(send(&desk, &here).is_err());
    assert_eq!(sink.received().len(), 1);
}

#[test]
fn nobody_is_asked_who_is_not_there() {
    let mut desk = Desk::enabled();
    let give = "sessionmill consent give HTTPS://Memory.Example:443/";
    let ran = desk.run(give);
    insta::assert_snapshot!("consent-not-asked", ran.shown());
    assert_eq!(desk.run(&format!("{give} --confirm yes")).exit, Exit::Usage);
    desk.answers = Some("no\n".into());
    assert_eq!(desk.run(give).exit, Exit::Usage);
    desk.answers = Some("yes\n".into());
    assert_eq!(desk.run(give).exit, Exit::Done);
    desk.answers = None;
    desk.run("sessionmill consent give redis://db.example --confirm 'I understand this sends what my session logs say to redis://db.example'");
    desk.run("sessionmill consent revoke redis://db.example");
    insta::assert_snapshot!("consent-list", desk.run("sessionmill consent list").shown());
}

#[test]
fn a_consent_that_was_never_given_can_not_be_taken_back() {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill consent revoke https://memory.example");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    let ran = desk.run("sessionmill consent give https://me:hunter2@memory.example");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(!ran.shown().contains("hunter2"), "{}", ran.shown());
}
