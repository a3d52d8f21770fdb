//! Where the server listens.

use std::io;
use std::net::SocketAddr;

use interlock_core::code::Code;
use tokio::net::TcpListener;

use super::ServerAccess;
use interlock_app::error::{CommandError, CommandExit};

/// Listening beyond this machine requires a host name, because the `Host` of every request is checked against it.
pub(super) fn reachable_on_purpose(door: &ServerAccess) -> Result<(), CommandError> {
    if door.listen.ip().is_loopback() || !door.hosts.is_empty() {
        return Ok(());
    }
    let message = format!("{} can be reached from other machines, and no name is given for it", door.listen);
    let help = "listen on 127.0.0.1, with a proxy that has TLS in front of it; or, in a network that you trust, say with \
                --host by which name or address clients call this machine";
    Err(CommandError::new(CommandExit::Usage, Code::AddressOpen, message).help(help))
}

/// Takes the address, and says which port it is.
pub(super) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), CommandError> {
    let listener = TcpListener::bind(address).await.map_err(|error| unusable(address, &error))?;
    let real = listener.local_addr().map_err(|error| unusable(address, &error))?;
    Ok((listener, real))
}

fn unusable(address: SocketAddr, error: &io::Error) -> CommandError {
    let failure = |code, message: String| CommandError::new(CommandExit::Unavailable, code, message);
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            failure(Code::AddressTaken, format!("another program listens on {address} already"))
                .help("name another port with --listen; port 0 takes one that is free")
        }
        io::ErrorKind::PermissionDenied => {
            failure(Code::AddressUnusable, format!("this user may not listen on {address}"))
                .help("take a port above 1023")
        }
        _ => failure(Code::AddressUnusable, format!("nothing can listen on {address}: {error}"))
            .help("name an address of this machine with --listen"),
    }
}
