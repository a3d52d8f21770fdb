//! `interlock serve`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::{AppContext, keyring};
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_server::http::{BearerToken, BoundServer, ServerAccess};
use interlock_server::mcp;
use interlock_store::Store as _;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Serve this project over HTTP: MCP for models that orchestrate (takes the spawner key)
///
/// The same tools, resources and prompts as `interlock mcp`, for several clients at once, under /mcp. A request takes
/// the token of the server, as `Authorization: Bearer TOKEN`; the first start makes it, in a file that only you can
/// read, and says where. Only this machine is served, unless --listen and --host say otherwise. Ctrl-C or SIGTERM ends
/// it, once what is under way is answered. docs/mcp.md says how clients are told of it.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock serve                                 # http://127.0.0.1:7420/mcp"
    "interlock serve --listen 127.0.0.1:0 --json     # a free port: which, and the file of the token"
    "curl http://127.0.0.1:7420/health               # whether it is up; takes no token"
    "export INTERLOCK_SERVE_TOKEN=$(cat TOKEN_FILE)  # for clients, from the file that serve names"
    "claude mcp add --transport http interlock http://127.0.0.1:7420/mcp \\"
    "    --header 'Authorization: Bearer ${INTERLOCK_SERVE_TOKEN}'"
    "interlock serve --host team.example.com         # behind a proxy that has TLS and this name"
))]
pub(crate) struct ServeCommand {
    /// Where to listen; port 0 takes one that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7420", value_parser = address)]
    listen: SocketAddr,

    /// A name or address, without port, that clients may call this server by, beside localhost; can be given several times
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    hosts: Vec<String>,
}

impl ServeCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let identity = place.store()?.view()?.identity()?;
        let token = BearerToken::in_folder(&keyring()?.folder(&identity.id))?;
        let door = ServerAccess { listen: self.listen, hosts: self.hosts.clone(), token: token.secret.clone() };
        let bound = BoundServer::new(door)?;
        let served =
            ServerAnnouncement { project: place.project()?.display().to_string(), address: bound.address, token };
        served.tell(output)?;
        let server = mcp::OrchestratorServer::new(place);
        bound.serve(move || server.clone())?;
        Ok(CommandExit::Done)
    }
}

/// The address and the token file, for people and scripts.
struct ServerAnnouncement {
    project: String,
    address: SocketAddr,
    token: BearerToken,
}

impl ServerAnnouncement {
    fn tell(&self, output: CommandOutput) -> Result<(), CommandError> {
        let url = format!("http://{}", self.address);
        let (mcp, health) = (format!("{url}/mcp"), format!("{url}/health"));
        let token = self.token.file.display().to_string();
        if output.json {
            return output.document(&json!({
                "project": self.project, "address": self.address.to_string(), "url": url, "mcp": mcp, "health": health,
                "token_file": token,
            }));
        }
        if !self.address.ip().is_loopback() {
            let mut text = TerminalText::default();
            text.paint(HEADING, "warning");
            text.push(": without TLS, whoever sees the network sees the token and every handoff\n");
            print_diagnostics(&text);
        }
        let mut text = TerminalText::default();
        text.push("Serving ");
        text.paint(NAME, &self.project);
        for (what, value) in [("MCP", &mcp), ("health", &health), ("token", &token)] {
            text.push("\n  ");
            text.paint(HEADING, format!("{what:<8}"));
            text.put(value);
        }
        text.push("\nCtrl-C ends it.\n");
        output.text(&text)
    }
}

/// An address of this machine, with a port.
fn address(given: &str) -> Result<SocketAddr, String> {
    let local = given.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    local.or_else(|| given.parse().ok()).ok_or_else(|| {
        "an address and a port are wanted, such as 127.0.0.1:7420, [::1]:7420 or localhost:7420".to_owned()
    })
}

/// As it stands in a URL, without the port.
fn host(given: &str) -> Result<String, String> {
    let bare = given.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(given);
    let name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
    match bare.parse::<IpAddr>().is_ok() || (!bare.is_empty() && bare.chars().all(name)) {
        true => Ok(bare.to_ascii_lowercase()),
        false => Err("a name or an address is wanted, without scheme and port, such as team.example.com".to_owned()),
    }
}
