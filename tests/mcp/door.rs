//! Who is let in by `interlock serve`, and who is not.

use serde_json::json;

use crate::client::NEWEST;
use crate::http::{Answer, ask};
use crate::serve::Served;
use crate::team::{Team, run};
use crate::wire::initialize;

fn post(served: &Served, headers: &[(&str, &str)]) -> Answer {
    let mut all = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    all.extend(headers);
    ask(served.address, "POST", "/mcp", &all, initialize(json!({})).to_string().as_bytes())
}

#[test]
fn without_the_token_nothing_is_answered() {
    let team = Team::new("mcp_without_the_token");
    let served = Served::new(&team);
    let right = format!("Bearer {}", served.token);
    let wrong = format!("Bearer {}", "0".repeat(64));
    let (short, basic, late) =
        (format!("Bearer {}", &served.token[..63]), format!("Basic {}", served.token), format!("{right} x"));
    for given in ["", "Bearer", "Bearer ", &wrong, &short, &basic, &late, &served.token] {
        for method in ["POST", "GET", "DELETE", "PUT"] {
            let answer = ask(
                served.address,
                method,
                "/mcp",
                &[("Authorization", given)],
                initialize(json!({})).to_string().as_bytes(),
            );
            assert_eq!(answer.status, 401, "{method} {given}");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert_eq!(answer.code(), "E0805", "{method} {given}");
        }
    }
    assert_eq!(post(&served, &[("Authorization", &right)]).status, 200);
    let spelt = right.replace("Bearer", "bearer");
    assert_eq!(post(&served, &[("Authorization", &spelt)]).status, 200, "the scheme has no case");
    let in_query = ask(served.address, "POST", &format!("/mcp?token={}", served.token), &[], b"");
    assert_eq!(in_query.status, 401, "addresses end up in logs");
    assert_eq!(served.stop().1, "");
}

#[test]
fn what_is_meant_for_another_host_is_refused() {
    let team = Team::new("mcp_what_is_meant_for_another_host");
    let served = Served::new(&team);
    let port = served.address.port();
    let bearer = format!("Bearer {}", served.token);
    for ours in
        ["localhost".to_owned(), format!("localhost:{port}"), format!("127.0.0.1:{port}"), "[::1]:8080".to_owned()]
    {
        assert_eq!(post(&served, &[("Authorization", &bearer), ("Host", &ours)]).status, 200, "{ours}");
        assert_eq!(served.get("/health", &[("Host", &ours)]).status, 200, "{ours}");
    }
    for foreign in ["evil.example", "evil.example:7420", "localhost.evil.example", "192.168.0.1", "0.0.0.0", ""] {
        for path in ["/mcp", "/health", "/"] {
            let answer = served.get(path, &[("Authorization", &bearer), ("Host", foreign)]);
            assert_eq!((answer.status, answer.code().as_str()), (403, "E0806"), "{foreign}");
        }
    }
    assert!(served.get("/health", &[("Host", "a b")]).status >= 400, "no host at all");
    let twice = [("Host", "localhost"), ("Host", "evil.example")];
    assert_eq!(served.get("/health", &twice).status, 403, "one host");
}

#[test]
fn pages_from_elsewhere_are_refused() {
    let team = Team::new("mcp_pages_from_elsewhere");
    let served = Served::new(&team);
    let bearer = format!("Bearer {}", served.token);
    let own = format!("http://{}", served.address);
    assert_eq!(post(&served, &[("Authorization", &bearer), ("Origin", &own)]).status, 200);
    let neighbour = format!("http://127.0.0.1:{}", served.address.port() ^ 1);
    for foreign in ["https://evil.example", "null", "file://", "http://localhost", &neighbour] {
        let answer = post(&served, &[("Authorization", &bearer), ("Origin", foreign)]);
        assert_eq!(answer.status, 403, "{foreign}");
        assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")), "no page may read it");
        assert_eq!(answer.code(), "E0807", "{foreign}");
    }
}

#[test]
fn other_paths_are_refused_with_a_code() {
    let team = Team::new("mcp_other_paths");
    let served = Served::new(&team);
    for path in ["/", "/sse", "/mcp/", "/mcp/x", "/.well-known/oauth-protected-resource"] {
        let answer = served.get(path, &[]);
        assert_eq!((answer.status, answer.code().as_str()), (404, "E0810"), "{path}");
    }
    let answer = ask(served.address, "POST", "/health", &[], b"");
    assert_eq!((answer.status, answer.header("allow")), (405, "GET"));
    let bearer = format!("Bearer {}", served.token);
    let answer = ask(served.address, "PUT", "/mcp", &[("Authorization", &bearer)], b"");
    assert_eq!(answer.status, 405);
}

#[test]
fn only_this_machine_is_served_unless_told_otherwise() {
    let team = Team::new("mcp_only_this_machine");
    for open in ["0.0.0.0:0", "[::]:0"] {
        let refused = team.ask(&["serve", "--listen", open]);
        assert_eq!((refused.exit, refused.code().as_str()), (2, "E0803"), "{open}");
    }
    let served = Served::with(&team, &["--listen", "0.0.0.0:0", "--host", "Team.Example"]);
    let here = format!("127.0.0.1:{}", served.address.port()).parse().unwrap();
    let status = |host: &str| ask(here, "GET", "/health", &[("Host", host)], b"").status;
    assert_eq!(["team.example", "team.example:443", "TEAM.example", "127.0.0.1"].map(status), [200; 4]);
    assert_eq!(["example", "0.0.0.0", "other.example"].map(status), [403; 3]);
    for wrong in ["http://team.example", "team.example:80", "", "a/b"] {
        assert_eq!(team.ask(&["serve", "--host", wrong]).exit, 2, "{wrong}");
    }
    for wrong in ["7420", "localhost", "127.0.0.1", "127.0.0.1:x", "team.example:7420"] {
        assert_eq!(team.ask(&["serve", "--listen", wrong]).exit, 2, "{wrong}");
    }
}

#[test]
fn a_port_that_is_taken_is_said_to_be() {
    let team = Team::new("mcp_a_port_that_is_taken");
    let served = Served::new(&team);
    let taken = served.address.to_string();
    let refused = team.ask(&["serve", "--listen", &taken]);
    assert_eq!((refused.exit, refused.code().as_str()), (5, "E0801"));
    let told = run(&mut team.command(&["serve", "--listen", &taken]), "");
    assert_eq!((told.exit, told.stdout.as_str()), (5, ""));
    assert!(told.stderr.contains(&taken) && told.stderr.contains("--listen"), "{told}");
    let refused = team.ask(&["serve", "--listen", "203.0.113.7:0", "--host", "x"]);
    assert_eq!((refused.exit, refused.code().as_str()), (5, "E0802"), "an address of nobody here");
    assert_eq!(served.client(NEWEST).close().0, Some(0), "the first one goes on");
}
