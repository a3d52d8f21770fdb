//! Access check: a request must be meant for this server, come from no page of another server, and bring the token.
//!
//! A page that a person opens can make the browser call this machine, even under a name of the page's own that resolves
//! to this machine (DNS rebinding). Such a call has that name in `Host`, or another server in `Origin`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::Response;
use interlock_core::id::Digest;

use super::{ServerAccess, refusal};
use interlock_store::keys::SecretKey;

/// The addresses, hosts and token that requests are checked against.
#[derive(Clone)]
pub(super) struct RequestGuard(Arc<RequestGuardSettings>);

struct RequestGuardSettings {
    address: IpAddr,
    /// In lower case.
    hosts: Vec<String>,
    token: Digest,
}

impl RequestGuard {
    pub(super) fn new(door: &ServerAccess, address: SocketAddr) -> Self {
        let hosts = door.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self(Arc::new(RequestGuardSettings { address: address.ip(), hosts, token: door.token.digest() }))
    }

    /// The port does not matter: it may be forwarded, and no page can choose a name of this machine as its own.
    fn is_ours(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let ours = |address: IpAddr| address.is_loopback() || (address == self.0.address && !address.is_unspecified());
        bare == "localhost" || bare.parse().is_ok_and(ours) || self.0.hosts.contains(&bare)
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let (scheme, token) = given.and_then(|value| value.split_once(' ')).unwrap_or_default();
        // Hashes are compared in constant time.
        scheme.eq_ignore_ascii_case("bearer")
            && SecretKey::parse(token).is_some_and(|secret| secret.digest() == self.0.token)
    }
}

/// For every request.
pub(super) async fn meant_for_us(State(keeper): State<RequestGuard>, request: Request, next: Next) -> Response {
    let Some(host) = called(request.uri(), request.headers()) else {
        return refusal::foreign_host(None);
    };
    if !keeper.is_ours(host.host()) {
        return refusal::foreign_host(Some(host.as_str()));
    }
    let mut origins = request.headers().get_all(ORIGIN).iter();
    if let Some(origin) = origins.find(|origin| !same(origin.to_str().ok(), &host)) {
        return refusal::foreign_origin(&String::from_utf8_lossy(origin.as_bytes()));
    }
    next.run(request).await
}

/// For what can do anything.
pub(super) async fn with_token(State(keeper): State<RequestGuard>, request: Request, next: Next) -> Response {
    match keeper.has_token(request.headers()) {
        true => next.run(request).await,
        false => refusal::no_token(request.headers()),
    }
}

/// The host that the request names, once.
fn called(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut named = headers.get_all(HOST).iter();
    match (named.next(), named.next(), uri.authority()) {
        (Some(host), None, absolute) => {
            let host = Authority::try_from(host.as_bytes()).ok()?;
            absolute.is_none_or(|absolute| *absolute == host).then_some(host)
        }
        _ => None,
    }
}

/// Whether a page is one of this server: it came from where the request goes to.
fn same(origin: Option<&str>, host: &Authority) -> bool {
    let Some((scheme, from)) = origin.and_then(|origin| origin.split_once("://")) else { return false };
    let port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let Ok(from) = Authority::try_from(from) else { return false };
    from.host().eq_ignore_ascii_case(host.host()) && from.port_u16().unwrap_or(port) == host.port_u16().unwrap_or(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper(hosts: &[&str]) -> RequestGuard {
        let listen = "192.168.1.9:7420".parse().unwrap();
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        RequestGuard::new(&ServerAccess { listen, hosts, token: SecretKey::new() }, listen)
    }

    #[test]
    fn names_of_this_machine_are_ours_and_no_others() {
        let keeper = keeper(&["Build.example.com"]);
        for ours in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]", "192.168.1.9", "build.example.com"] {
            assert!(keeper.is_ours(ours), "{ours}");
        }
        for foreign in
            ["", "evil.com", "localhost.evil.com", "127.0.0.1.evil.com", "0.0.0.0", "192.168.1.10", "example.com"]
        {
            assert!(!keeper.is_ours(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_page_is_ours_if_it_came_from_where_it_goes_to() {
        let host = Authority::from_static("localhost:7420");
        assert!(same(Some("http://localhost:7420"), &host));
        assert!(same(Some("https://LOCALHOST:7420"), &host));
        assert!(same(Some("https://team.example"), &Authority::from_static("team.example")));
        for foreign in
            ["null", "", "http://localhost", "http://localhost:7421", "http://evil.com:7420", "file://localhost:7420"]
        {
            assert!(!same(Some(foreign), &host), "{foreign}");
        }
        assert!(!same(None, &host));
    }
}
