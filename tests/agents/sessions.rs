//! One session for each client, from the mission to the merged result.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::client::{self, Client};
use crate::models::{Step, Turn};
use crate::scene::{Run, Scene};
use crate::script::{self, Refusal, SENT_BACK};

/// How a reviewer's changes come to nothing.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    /// The client refuses them all.
    ByClient,
    /// Some pass the client, and Interlock undoes them and sends the handoff back.
    ByInterlock,
}

const RUN: [&str; 8] = ["--json", "run", "mission.md", "--investigation", "--parallel", "2", "--no-wait", "--agents"];

/// Everything that has to be so when a session has ended well.
struct Ended<'a> {
    scene: &'a Scene,
    result: Json,
}

fn run(scene: &Scene, team: &str) -> Run {
    scene.interlock(&[&RUN[..], &[team]].concat())
}

/// Starts it, and kills it while two agents are at work. How often the model was asked by then.
#[track_caller]
fn kill_once(scene: &Scene, team: &str) -> usize {
    let mut child = scene.start(&[&RUN[..], &[team]].concat());
    scene.until_asked(|turn| turn.role() == Some("developer") && turn.group() == Some("login"));
    child.kill().expect("a run can be killed");
    assert_eq!(scene.end(child).signal, Some(9));
    // Its agents end with it, though not at once, and one of them may just be asking.
    let until = Instant::now() + Duration::from_secs(30);
    while !scene.left_behind().is_empty() {
        assert!(Instant::now() < until, "agents live on: {:?}", scene.left_behind());
        std::thread::sleep(Duration::from_millis(20));
    }
    scene.models.turns().len()
}

/// Without testers: for clients that take seconds to start.
fn run_without_qa(scene: &Scene, team: &str) -> Run {
    scene.interlock(&[&RUN[..], &[team, "--set", "testing=disabled"]].concat())
}

impl<'a> Ended<'a> {
    #[track_caller]
    fn well(scene: &'a Scene, run: &Run) -> Self {
        assert_eq!(run.exit, Some(0), "{}\n{}", run.stdout, run.stderr);
        let ended = Self { scene, result: run.json() };
        assert_eq!(ended.result["status"], "completed", "{run:#?}");
        ended.result_is_merged();
        ended.checkout_is_untouched();
        ended.log_is_whole();
        ended.nothing_else_loops();
        assert_eq!(scene.left_behind(), Vec::<String>::new());
        scene.nobody_else_was_asked();
        ended
    }

    fn session(&self) -> &str {
        self.result["session"].as_str().expect("the session has a name")
    }

    fn result_is_merged(&self) {
        let branch = format!("interlock/{}", self.session());
        assert_eq!(self.result["branch"], json!(branch));
        let file = |name: &str| self.scene.git(&["show", &format!("{branch}:{name}")]);
        assert_eq!((file("docs.txt"), file("login.txt")), ("written by hand".into(), "opened with the key".into()));
        let files = self.scene.git(&["ls-tree", "-r", "--name-only", &branch]);
        assert_eq!(files, "README.md\ndocs.txt\nlogin.txt\nmission.md");
        let authors = self.scene.git(&["log", "--format=%an", "--no-merges", &format!("main..{branch}")]);
        assert_eq!(authors.lines().count(), 2, "{authors}");
    }

    fn checkout_is_untouched(&self) {
        assert_eq!(self.scene.git(&["status", "--porcelain", "--branch"]), "## main");
        assert_eq!(self.scene.git(&["log", "--format=%s", "main"]), "A project");
        assert_eq!(self.scene.git(&["worktree", "list"]).lines().count(), 1);
    }

    /// No attempt was lost: waits, corrections and undone changes are not counted as failures of the agent.
    fn log_is_whole(&self) {
        let verified = self.scene.interlock(&["--json", "audit", "verify"]);
        assert_eq!(verified.exit, Some(0), "{verified:#?}");
        let events = self.events();
        let kinds: Vec<&str> = events.iter().filter_map(|event| event["kind"].as_str()).collect();
        assert!(kinds.contains(&"reported") && !kinds.contains(&"lost"), "{kinds:?}");
    }

    fn events(&self) -> Vec<Json> {
        let log = self.scene.interlock(&["--json", "log", self.session()]).json();
        log["events"].as_array().expect("events").clone()
    }

    /// What was waited out, sent back or undone counts in no loop: only the advice for the one that was blocked does.
    fn nothing_else_loops(&self) {
        let shown = self.scene.interlock(&["--json", "session", "show", self.session()]).json();
        for (group, expected) in [("docs", json!({})), ("login", json!({ "guidance": 1, "unblocking": 1 }))] {
            let groups = shown["groups"].as_array().expect("groups");
            let found =
                groups.iter().find(|found| found["id"] == group).unwrap_or_else(|| panic!("no {group}: {shown:#}"));
            let loops = found["loops"].as_object().expect("loops").iter();
            let counted =
                loops.filter(|(_, at)| at["iteration"] != 0).map(|(name, at)| (name.clone(), at["iteration"].clone()));
            assert_eq!(Json::Object(counted.collect()), expected, "{group}");
        }
    }

    /// Every answer of the model was counted once: each has 100 tokens in and 20 out.
    fn is_counted(&self, refused: usize) {
        let spent = &self.result["spent"];
        let answers = self.scene.models.turns().len() - refused;
        let tokens = (spent["input_tokens"].clone(), spent["output_tokens"].clone());
        assert_eq!(tokens, (json!(100 * answers), json!(20 * answers)), "{spent}");
    }

    /// The same for a run that was killed after so many answers: the usage of the agents that were at work may
    /// be unknown.
    fn is_counted_but_for_the_killed(&self, before: usize, refused: usize) {
        let (spent, turns) = (&self.result["spent"], self.scene.models.turns());
        // One that was killed while it asked has not said who it is.
        let was_at_work = |turn: &&Turn| turn.role().is_none_or(|role| role == "developer");
        let lost = turns.iter().take(before).filter(was_at_work).count();
        assert!((1..before).contains(&lost), "{lost} of {before}");
        let answers = turns.len() - refused;
        let counted = |field: &str| spent[field].as_u64().expect("a count");
        let (input, output) = (counted("input_tokens"), counted("output_tokens"));
        assert_eq!((input % 100, input / 100 * 20), (0, output), "{spent}");
        assert!((answers - lost..=answers).contains(&usize::try_from(input / 100).expect("few")), "{spent}, {answers}");
    }

    /// It went on with the session that was killed, and everybody who died with it was another attempt.
    fn went_on(&self) {
        let sessions = self.scene.interlock(&["--json", "session", "list"]).json();
        assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1), "{sessions:#}");
        let gone = self.events().into_iter().filter(|event| event["kind"] == "lease_expired").count();
        assert!((1..=2).contains(&gone), "{gone} were at work when it was killed");
    }

    /// Every error of the first handoff is told, and nothing else is told twice. How much the conversation knew then.
    fn was_corrected(&self) -> usize {
        let turns = self.scene.models.turns();
        let told = |turn: &&Turn| turn.role() == Some("developer") && turn.prompt.contains(SENT_BACK);
        let turn = turns.iter().find(told).expect("the handoff was sent back");
        let (_, problems) = turn.prompt.rsplit_once(SENT_BACK).expect("it was");
        for field in ["`handoff`", "timestamp", "attempted"] {
            assert!(problems.contains(field), "{field} is not in {problems}");
        }
        assert_eq!(turn.group(), Some("docs"));
        assert_eq!(turn.prompt.matches("# Assignment ").count(), 1, "everything was told twice");
        turn.tool_results.len()
    }

    /// The developer of `login` was started once more for the assignment in which the provider refused.
    fn was_waited_out(&self) {
        let turns = self.scene.models.turns();
        let mut of_login =
            turns.iter().filter(|turn| turn.role() == Some("developer") && turn.group() == Some("login"));
        let id = id_of(of_login.next_back().expect("login has a developer"));
        for turn in [0, 1] {
            self.scene.transcript(&self.result, id, turn);
        }
    }

    fn reviewer_was_held(&self, held: Held) {
        let told = "may change no file, and you changed `docs.txt`, `more.txt`";
        let turns = self.scene.models.turns();
        let undone = turns.iter().any(|turn| turn.role() == Some("tech_lead") && turn.prompt.contains(told));
        assert_eq!(undone, held == Held::ByInterlock);
    }
}

/// `a3` of `SESSION.a3`.
fn id_of(turn: &Turn) -> &str {
    turn.assignment().and_then(|name| name.rsplit_once('.')).expect("SESSION.aN").1
}

/// The words with which a client names its conversation in what it prints.
#[track_caller]
fn conversation<'a>(transcript: &'a str, key: &str) -> &'a str {
    let mark = format!("\"{key}\":\"");
    let (_, after) = transcript.split_once(&mark).unwrap_or_else(|| panic!("no {key} in {transcript}"));
    after.split('"').next().unwrap_or_default()
}

#[track_caller]
fn is_one_conversation(ended: &Ended<'_>, key: &str) {
    let turns = ended.scene.models.turns();
    let first = turns.iter().find(|turn| turn.role() == Some("developer") && turn.group() == Some("docs"));
    let id = id_of(first.expect("docs has a developer"));
    let [one, two] = [0, 1].map(|turn| ended.scene.transcript(&ended.result, id, turn));
    assert_eq!(conversation(&one, key), conversation(&two, key));
}

fn program(client: Client) -> String {
    client::programs().join(client.name()).display().to_string()
}

// Each is killed while two agents are at work, and run again.

#[test]
fn claude_code() {
    // The client gives up at once if the provider asks for so long a wait, and does not report how long.
    let refusal = Refusal { times: 1, step: Step::rate_limited(3600) };
    let Some(scene) = Scene::with_clients(script::delivery(refusal)) else { return };
    let agent = format!("client: claude, program: {:?}, model: claude-sonnet-4-5", program(Client::Claude));
    let team = scene.team(&scene.agent(Client::Claude, &agent));

    kill_once(&scene, &team);
    let ended = Ended::well(&scene, &run(&scene, &team));
    ended.went_on();
    assert!(ended.was_corrected() >= 2, "it is another conversation");
    is_one_conversation(&ended, "session_id");
    ended.was_waited_out();
    ended.reviewer_was_held(Held::ByInterlock);
    // The usage of an agent that was killed is unknown.
    let spent = &ended.result["spent"];
    assert!(spent["input_tokens"].as_u64() > Some(1000) && spent["cost_usd"].as_f64() > Some(0.0), "{spent}");
}

#[test]
fn codex() {
    let refusal = Refusal { times: 2, step: Step::overloaded(503) };
    let Some(scene) = Scene::with_clients(script::delivery(refusal)) else { return };
    let agent = format!("client: codex, program: {:?}, model: scripted", program(Client::Codex));
    let team = scene.team(&scene.agent(Client::Codex, &agent));
    let before = kill_once(&scene, &team);
    let ended = Ended::well(&scene, &run(&scene, &team));
    ended.went_on();
    assert!(ended.was_corrected() >= 2, "it is another conversation");
    is_one_conversation(&ended, "thread_id");
    ended.was_waited_out();
    ended.reviewer_was_held(Held::ByClient);
    ended.is_counted_but_for_the_killed(before, 2);
}

#[test]
fn gemini_cli() {
    let refusal = Refusal { times: 1, step: Step::rate_limited(1) };
    let Some(scene) = Scene::with_clients(script::delivery(refusal)) else { return };
    let agent = format!("client: gemini, program: {:?}, model: gemini-2.5-flash", program(Client::Gemini));
    let team = scene.team(&scene.agent(Client::Gemini, &agent));
    let before = kill_once(&scene, &team);
    let ended = Ended::well(&scene, &run(&scene, &team));
    ended.went_on();
    assert!(ended.was_corrected() >= 2, "it is another conversation");
    is_one_conversation(&ended, "session_id");
    ended.was_waited_out();
    ended.reviewer_was_held(Held::ByInterlock);
    ended.is_counted_but_for_the_killed(before, 1);
}

#[test]
fn an_acp_agent() {
    let refusal = Refusal { times: 2, step: Step::overloaded(503) };
    let Some(scene) = Scene::with_clients(script::delivery(refusal)) else { return };
    let agent = format!("client: acp, command: [{:?}]", program(Client::CodexAcp));
    let team = scene.team(&scene.agent(Client::CodexAcp, &agent));
    let before = kill_once(&scene, &team);
    let ended = Ended::well(&scene, &run(&scene, &team));
    ended.went_on();
    assert!(ended.was_corrected() >= 2, "it is another conversation");
    ended.was_waited_out();
    ended.reviewer_was_held(Held::ByInterlock);
    ended.is_counted_but_for_the_killed(before, 2);
}

/// Two clients in one team. The ACP agent asks before each tool, and cannot always load a conversation although it says so:
/// everything is told again then.
#[test]
fn a_team_of_two_clients() {
    let refusal = Refusal { times: 1, step: Step::rate_limited(1) };
    let Some(scene) = Scene::with_clients(script::delivery(refusal)) else { return };
    let gemini = program(Client::Gemini);
    let also = "--include-directories, \"{output}\"";
    let gemini = format!("client: acp, command: [{gemini:?}, --acp, --skip-trust, -m, gemini-2.5-flash, {also}]");
    let codex = format!("client: codex, program: {:?}, model: scripted", program(Client::Codex));
    let (gemini, codex) = (scene.agent(Client::Gemini, &gemini), scene.agent(Client::Codex, &codex));
    let team = scene.mixed_team(&[("writer", &gemini), ("others", &codex)], "developer: writer, any: others");
    let ended = Ended::well(&scene, &run_without_qa(&scene, &team));
    ended.was_corrected();
    ended.was_waited_out();
    // What was answered before the refusal, this agent does not count.
    ended.is_counted(1 + 1);
}

/// With `structured`, the client holds its model to the schema of a handoff.
#[test]
fn claude_code_held_to_a_schema() {
    let Some(scene) = Scene::with_clients(script::structured()) else { return };
    let agent = format!("client: claude, program: {:?}, structured: true", program(Client::Claude));
    let team = scene.team(&scene.agent(Client::Claude, &agent));
    let run = run(&scene, &team);
    assert_eq!((run.exit, &run.json()["status"]), (Some(0), &json!("completed")), "{run:#?}");
    assert_eq!(run.json()["spent"]["turns"], 1, "{run:#?}");
}

/// Every client is given a tool that hands off. It refuses at once what is not valid, and nothing has to be sent back.
#[track_caller]
fn hands_off_with_its_tool(client: Client) {
    let Some(scene) = Scene::with_clients(script::with_tool()) else { return };
    let program = program(client);
    let agent = match client {
        Client::Claude => format!("client: claude, program: {program:?}"),
        Client::Codex => format!("client: codex, program: {program:?}, model: scripted"),
        Client::Gemini => format!("client: acp, command: [{program:?}, --acp, --skip-trust, -m, gemini-2.5-flash]"),
        Client::CodexAcp => format!("client: acp, command: [{program:?}]"),
    };
    let team = scene.team(&scene.agent(client, &agent));
    let run = run(&scene, &team);
    assert_eq!((run.exit, &run.json()["status"]), (Some(0), &json!("completed")), "{run:#?}");
    assert_eq!(run.json()["spent"]["turns"], 1, "{run:#?}");
    let turns = scene.models.turns();
    let results = &turns.last().expect("somebody asked").tool_results;
    let [refused, taken] = results.as_slice() else { panic!("{results:#?}") };
    for problem in ["`handoff`", "timestamp"] {
        assert!(refused.contains(problem), "{problem} is not in {refused}");
    }
    assert!(taken.contains("End your turn now"), "{taken}");
    assert_eq!(scene.left_behind(), Vec::<String>::new());
}

#[test]
fn claude_code_hands_off_with_its_tool() {
    hands_off_with_its_tool(Client::Claude);
}

#[test]
fn codex_hands_off_with_its_tool() {
    hands_off_with_its_tool(Client::Codex);
}

/// It takes only schemas of one kind, and those of handoffs are of another: nothing is taken away for it.
#[test]
fn codex_keeps_its_tool_where_it_cannot_be_held_to_a_schema() {
    let Some(scene) = Scene::with_clients(script::with_tool()) else { return };
    let agent = format!("client: codex, program: {:?}, model: scripted, structured: true", program(Client::Codex));
    let team = scene.team(&scene.agent(Client::Codex, &agent));
    let run = scene.interlock(&["run", "mission.md", "--investigation", "--no-wait", "--agents", &team]);
    assert_eq!(run.exit, Some(0), "{run:#?}");
    assert!(run.stdout.contains("codex does not take the schema of these handoffs"), "{run:#?}");
    assert_eq!(scene.models.turns().last().expect("somebody asked").tool_results.len(), 2);
}

#[test]
fn gemini_cli_as_an_acp_agent_hands_off_with_its_tool() {
    hands_off_with_its_tool(Client::Gemini);
}

#[test]
fn an_acp_agent_hands_off_with_its_tool() {
    hands_off_with_its_tool(Client::CodexAcp);
}

/// Stopped as a person stops it, it leaves nothing running, and says so.
#[test]
fn a_run_that_is_asked_to_stop_ends_its_agents() {
    let slow = crate::models::Script::new(|_| Step::After(Duration::from_secs(30), Box::new(Step::say("Late."))));
    let Some(scene) = Scene::with_clients(slow) else { return };
    let agent = format!("client: claude, program: {:?}", program(Client::Claude));
    let team = scene.team(&scene.agent(Client::Claude, &agent));
    let child = scene.start(&["--json", "run", "mission.md", "--agents", &team]);
    scene.until_asked(|turn| turn.role() == Some("project_manager"));
    assert!(!scene.left_behind().is_empty());
    let id = child.id().to_string();
    let asked = std::process::Command::new("kill").args(["-TERM", &id]).status();
    assert!(asked.expect("kill runs").success());
    let stopped = scene.end(child);
    assert_eq!(stopped.json()["stopped"], "the run was stopped", "{stopped:#?}");
    assert_eq!(scene.left_behind(), Vec::<String>::new());
}

/// A client that has lost a conversation is told everything again, with what was wrong.
#[test]
fn a_conversation_that_is_gone_starts_again() {
    let scene = Scene::new(crate::models::Script::new(|_| Step::say("Nobody asked.")));
    let program = scene.program("codex", FORGETFUL);
    let team = scene.team(&format!("{{ client: codex, program: {program:?} }}"));
    let run = run(&scene, &team);
    assert_eq!((run.exit, &run.json()["status"]), (Some(0), &json!("completed")), "{run:#?}");
    // One that forgot the handoff, one that had nothing to go on with, and one that was told everything.
    let spent = &run.json()["spent"];
    assert_eq!((&spent["turns"], &spent["input_tokens"]), (&json!(3), &json!(200)), "{run:#?}");
}

/// Prints as Codex does.
const FORGETFUL: &str = include_str!("forgetful.sh");
