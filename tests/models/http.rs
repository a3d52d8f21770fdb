//! As much HTTP/1.1 as the clients speak: one request on each connection, bodies with a length or in chunks.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;

use serde_json::Value as Json;

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// With what comes after the question mark.
    pub(super) path: String,
    /// Names in small letters.
    pub(super) headers: Vec<(String, String)>,
    /// `Null` if there is none.
    pub(super) body: Json,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// `None`: the client closed the connection without asking anything.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), headers: headers(&mut reader)?, body: Json::Null };
    if request.header("expect").is_some() {
        (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let bytes = body(&mut reader, &request)?;
    if !bytes.is_empty() {
        request.body = serde_json::from_slice(&bytes).map_err(io::Error::from)?;
    }
    Ok(Some(request))
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn headers(reader: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else { return Ok(headers) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn body(reader: &mut impl BufRead, request: &Request) -> io::Result<Vec<u8>> {
    if request.header("transfer-encoding").is_some() {
        return chunks(reader);
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(body)
}

fn chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = u64::from_str_radix(&line(reader)?, 16).map_err(io::Error::other)?;
        reader.by_ref().take(length).read_to_end(&mut body)?;
        line(reader)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Reply {
    /// `Null` is an empty body.
    pub(super) fn json(status: u16, body: &Json) -> Self {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Self { status, headers: Vec::new(), body }.with("content-type", "application/json")
    }

    /// A stream of events, each with its `type` as the event's name where it has one.
    pub(super) fn events(events: &[Json]) -> Self {
        let text = |event: &Json| match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        };
        let body = events.iter().map(text).collect();
        Self { status: 200, headers: Vec::new(), body }.with("content-type", "text/event-stream")
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Closes the connection after it: clients then never reuse one that a test has ended.
    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Self { status, headers, body } = self;
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status} Scripted\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )?;
        stream.flush()
    }
}
