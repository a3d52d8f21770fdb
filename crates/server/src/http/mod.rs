//! What `interlock serve` puts on a socket: MCP, and a sign of life. One file a concern; `router` is the place for more.
//!
//! Every request passes the same door (`door`): it must be meant for this server, and come from no page of another. What
//! can do anything takes the token (`token`) as well.

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

/// How long an order that is under way may take to be stored after the server was told to stop.
const LAST_ORDERS: Duration = Duration::from_secs(10);
/// Orders that are carried out at once; the store takes one at a time in any case.
const ORDERS_AT_ONCE: usize = 16;

/// Who may reach the server, and by what.
#[derive(Clone)]
pub struct ServerAccess {
    /// Where it listens. Port 0: any that is free.
    pub listen: SocketAddr,
    /// Names by which clients may call it, beside those of this machine.
    pub hosts: Vec<String>,
    /// What a client has to bring.
    pub token: SecretKey,
}

/// A server that listens, and answers nobody yet.
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

    /// Serves whoever comes, until the process is told to stop. Each MCP session, and each request of the versions that
    /// have none, gets a handler of its own.
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

/// For programs that put a handler of their own behind the same door: the tests of conformance do.
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
