//! HTTP as small as it can be: one request a connection, and what comes back, whole or event by event.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value as Json;

/// Longer than anything takes that these tests wait for.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By name, in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    body: Body,
}

/// `headers` has everything but the length of the body; `Host` as well, where it is another than the address.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    stream.write_all(format!("{head}\r\n").as_bytes()).expect("the head is taken");
    // A request that is refused by its head need not be read to its end.
    let _ = stream.write_all(body);
    Answer::read(stream)
}

impl Answer {
    fn read(stream: TcpStream) -> Self {
        let mut from = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            from.read_line(&mut line).expect("an answer");
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut headers = BTreeMap::new();
        while let Some((name, value)) = line().split_once(": ") {
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let chunked = headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked");
        let left = headers.get("content-length").and_then(|length| length.parse().ok());
        Self { status, headers, body: Body { from, chunked, left: if chunked { Some(0) } else { left } } }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn text(mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).expect("UTF-8");
        text
    }

    pub(crate) fn json(self) -> Json {
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The code of a refusal.
    pub(crate) fn code(self) -> String {
        self.json()["error"]["code"].as_str().expect("a code").to_owned()
    }

    /// The next event that has data, with its id. `None`: the stream has ended.
    pub(crate) fn event(&mut self) -> Option<(String, Json)> {
        let (mut id, mut data) = (String::new(), String::new());
        loop {
            let line = self.body.line()?;
            match line.split_once(':') {
                Some(("id", value)) => value.trim().clone_into(&mut id),
                Some(("data", value)) => data.push_str(value.trim()),
                _ if line.is_empty() && !data.is_empty() => {
                    return Some((id, serde_json::from_str(&data).expect("JSON in an event")));
                }
                _ => {}
            }
        }
    }

    /// The id of the event that comes before any data, so that a stream can be taken up again.
    pub(crate) fn primed(&mut self) -> String {
        loop {
            let line = self.body.line().expect("an event");
            if let Some(id) = line.strip_prefix("id:") {
                return id.trim().to_owned();
            }
        }
    }
}

struct Body {
    from: BufReader<TcpStream>,
    chunked: bool,
    /// Of this chunk, or of the whole. `None`: until the connection closes.
    left: Option<usize>,
}

impl Body {
    fn line(&mut self) -> Option<String> {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while self.read(&mut byte).ok()? == 1 {
            if byte == *b"\n" {
                return Some(String::from_utf8(line).expect("UTF-8").trim_end_matches('\r').to_owned());
            }
            line.push(byte[0]);
        }
        None
    }
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.chunked && self.left == Some(0) {
            let mut size = String::new();
            while size.trim().is_empty() {
                size.clear();
                if self.from.read_line(&mut size)? == 0 {
                    return Ok(0);
                }
            }
            let size = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
            if size == 0 {
                return Ok(0);
            }
            self.left = Some(size);
        }
        let room = self.left.map_or(into.len(), |left| left.min(into.len()));
        let count = if room == 0 { 0 } else { self.from.read(&mut into[..room])? };
        self.left = self.left.map(|left| left - count);
        Ok(count)
    }
}
