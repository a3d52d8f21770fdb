//! The HTTP server of `interlock serve`: MCP and a health check. One file for each concern; new paths go into `router`.
//!
//! Every request passes `request_guard`: it must be meant for this server, and must not come from a page of another
//! server. Every path that can act also needs the token (`token`).

mod connections;
mod health;
mod listen;
mod mcp;
mod refusal;
mod request_guard;
mod router;
mod token;

use std::net::SocketAddr;
use std::time::Duration;

use interlock_core::code::Code;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use interlock_app::error::{CommandError, CommandExit};
use interlock_store::keys::SecretKey;
pub use token::BearerToken;

/// How long a request under way may take to be stored after the stop signal.
const LAST_ORDERS: Duration = Duration::from_secs(10);
/// Requests that run at once. The store processes one at a time in any case.
const ORDERS_AT_ONCE: usize = 16;

/// The addresses and the token with which clients may reach the server.
#[derive(Clone)]
pub struct ServerAccess {
    /// Where it listens. Port 0: any that is free.
    pub listen: SocketAddr,
    /// Names by which clients may call it, beside those of this machine.
    pub hosts: Vec<String>,
    /// The token that a client must send.
    pub token: SecretKey,
}

/// A server that is bound to its address, and does not answer yet.
pub struct BoundServer {
    runtime: Runtime,
    listener: TcpListener,
    door: ServerAccess,
    /// Where it really listens.
    pub address: SocketAddr,
}

impl BoundServer {
    pub fn new(door: ServerAccess) -> Result<Self, CommandError> {
        listen::reachable_on_purpose(&door)?;
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(ORDERS_AT_ONCE).build();
        let runtime = runtime.map_err(|error| broken(&error))?;
        let (listener, address) = runtime.block_on(listen::bind(door.listen))?;
        Ok(Self { runtime, listener, door, address })
    }

    /// Serves clients until a stop signal. Each MCP session gets a handler of its own. In versions without sessions,
    /// each request gets one.
    pub fn serve<H: ServerHandler>(self, handler: impl Fn() -> H + Send + Sync + 'static) -> Result<(), CommandError> {
        let BoundServer { runtime, listener, door, address } = self;
        let ended = runtime.block_on(async {
            let signals = StopSignals::new().map_err(|error| broken(&error))?;
            let (stop, stopping) = connections::stop();
            let router = router::router(&door, address, handler, stopping);
            connections::serve(listener, router, signals, stop).await;
            Ok(())
        });
        runtime.shutdown_timeout(LAST_ORDERS);
        ended
    }
}

/// For programs that put a handler of their own behind the same checks, as the conformance tests do.
pub fn bind(door: ServerAccess) -> Result<BoundServer, String> {
    BoundServer::new(door).map_err(|failure| failure.json().to_string())
}

/// The same, for what [`bind`] gave.
pub fn serve<H: ServerHandler>(
    bound: BoundServer,
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Result<(), String> {
    bound.serve(handler).map_err(|failure| failure.json().to_string())
}

/// Ctrl-C, or what a supervisor sends.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The next of them.
    async fn told_to_stop(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn broken(error: &dyn std::fmt::Display) -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::AddressUnusable, error.to_string())
}
