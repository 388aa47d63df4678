//! Bytes to and from a server: TCP, or TLS over it, and Bolt's messages in chunks.

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_platform_verifier::ConfigVerifierExt;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Until the server accepts a connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Until it says something more.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// A message that is longer is none that we asked for.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Both ways.
trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// An open connection.
pub struct Wire {
    stream: BufReader<Box<dyn Stream>>,
}

impl Wire {
    /// Connects; with TLS the server has to prove that it is `host`, to the system's certificates.
    ///
    /// # Errors
    /// Nobody there, or nobody who can prove it.
    pub fn open(host: &str, port: u16, is_safe: bool) -> io::Result<Wire> {
        let tcp = connect(host, port)?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(ANSWER_MAX))?;
        tcp.set_write_timeout(Some(ANSWER_MAX))?;
        let stream: Box<dyn Stream> = match is_safe {
            true => Box::new(safe(tcp, host)?),
            false => Box::new(tcp),
        };
        Ok(Wire {
            stream: BufReader::new(stream),
        })
    }

    /// Sends bytes as they are, and reads as many as `answer` holds.
    ///
    /// # Errors
    /// When the connection breaks, or nothing comes in time.
    pub fn exchange(&mut self, bytes: &[u8], answer: &mut [u8]) -> io::Result<()> {
        self.flush(bytes)?;
        self.stream.read_exact(answer)
    }

    /// Sends messages.
    ///
    /// # Errors
    /// As [`Wire::exchange`].
    pub fn send(&mut self, messages: &[Vec<u8>]) -> io::Result<()> {
        const CHUNK_BYTES_MAX: usize = u16::MAX as usize;
        let mut out = Vec::with_capacity(messages.iter().map(|m| m.len() + 16).sum());
        for message in messages {
            for chunk in message.chunks(CHUNK_BYTES_MAX) {
                out.extend((chunk.len() as u16).to_be_bytes());
                out.extend(chunk);
            }
            out.extend([0, 0]);
        }
        self.flush(&out)
    }

    /// The next message.
    ///
    /// # Errors
    /// As [`Wire::exchange`]; one that doesn't end is `InvalidData`.
    pub fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            let mut length = [0; 2];
            self.stream.read_exact(&mut length)?;
            match usize::from(u16::from_be_bytes(length)) {
                // between messages it says that somebody is there
                0 if message.is_empty() => {}
                0 => return Ok(message),
                length if message.len() + length > MESSAGE_BYTES_MAX => {
                    return Err(ErrorKind::InvalidData.into());
                }
                length => {
                    let start = message.len();
                    message.resize(start + length, 0);
                    self.stream.read_exact(&mut message[start..])?;
                }
            }
        }
    }

    fn flush(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.get_mut();
        stream.write_all(bytes)?;
        stream.flush()
    }
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn safe(tcp: TcpStream, host: &str) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    // an error means that one is installed already
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = ClientConfig::with_platform_verifier().map_err(io::Error::other)?;
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(session, tcp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// What it says is given, what it hears is kept.
    struct Script {
        says: Cursor<Vec<u8>>,
        heard: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // in little pieces, as a network does
            let few = buffer.len().min(3);
            self.says.read(&mut buffer[..few])
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.heard.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            // an echo: what it heard it says
            let heard = std::mem::take(&mut self.heard);
            self.says.get_mut().extend(heard);
            Ok(())
        }
    }

    fn wire(says: &[u8]) -> Wire {
        let script = Script {
            says: Cursor::new(says.to_vec()),
            heard: Vec::new(),
        };
        Wire {
            stream: BufReader::new(Box::new(script)),
        }
    }

    #[test]
    fn messages_come_out_of_chunks_as_they_went_in() {
        let messages: Vec<Vec<u8>> = [1, 65_534, 65_535, 65_536, 200_000]
            .map(|n| (0..n).map(|byte| byte as u8).collect())
            .to_vec();
        let mut wire = wire(&[]);
        wire.send(&messages).unwrap();
        for message in &messages {
            assert!(wire.receive().unwrap() == *message);
        }
    }

    #[test]
    fn signs_of_life_are_read_over_and_a_break_is_an_error() {
        let mut wire = wire(&[0, 0, 0, 0, 0, 1, 7, 0, 1, 8, 0, 0, 0, 9, 1]);
        assert_eq!(wire.receive().unwrap(), [7, 8]);
        let broken = wire.receive().unwrap_err();
        assert_eq!(broken.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_message_without_an_end_is_none() {
        let chunk = [&[0xff, 0xff][..], &[1; 65_535]].concat();
        let mut wire = wire(&chunk.repeat(1_025));
        let endless = wire.receive().unwrap_err();
        assert_eq!(endless.kind(), ErrorKind::InvalidData);
    }
}
