//! The workflows that ship inside the program. The build script reads them too.

/// A workflow that ships inside the program.
pub struct Builtin {
    pub name: &'static str,
    pub file: &'static str,
    pub text: &'static str,
}

macro_rules! builtins {
    ($($name:literal)*) => {
        &[$(Builtin {
            name: $name,
            file: concat!("workflows/", $name, ".yaml"),
            text: include_str!(concat!("../../../../workflows/", $name, ".yaml")),
        },)*]
    };
}

/// The workflows that ship inside the program, by name.
pub const BUILTINS: &[Builtin] = builtins!["delivery-team" "feature" "integration" "mcp-wrapper" "phased"];

pub fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Everything that ships, in an order of its own.
pub(crate) fn shipped() -> impl Iterator<Item = &'static Builtin> {
    [&PRELUDE].into_iter().chain(BUILTINS)
}

/// The rows that every workflow has.
pub(crate) const PRELUDE: Builtin = Builtin { name: "prelude", file: "prelude", text: PRELUDE_TEXT };

/// The pattern of the prelude for scripts that run tests.
pub const TEST_RUNNERS: &str = "**/{test,tests,run_tests,run-tests,runtests}.{sh,bash,py,rb,js,mjs,ts,ps1,bat}";

const PRELUDE_TEXT: &str = r#"
workflow: prelude
language: 1
abstract: true
loops:
  retry: 3
  settled: 2
  missing_evidence: 4
  clarifying: 20
routes:
  any:
    no_handoff:  { respawn: self, loop: retry, because: the agent ended without a handoff }
    bad_handoff: { respawn: self, loop: retry, because: the handoff stayed invalid }
    false_claim: { respawn: self, loop: retry, because: the handoff claims what Interlock saw to be otherwise }
    halted:      { ask: stuck, because: this cannot go on without a person }
questions:
  clarify: { text: "{handoff.context}", answer: { redo: work, with: [answer] } }
  stuck:
    text: "{because}"
    options:
      retry: { redo: work }
      defer: { defer: group }
      drop:  { cancel: group }
      stop:  { cancel: session }
  unfinished:
    text: "{because}"
    options:
      acknowledge: { acknowledge: deferred }
      stop:        { cancel: session }
  nothing_completed:
    text: "{because}"
    options:
      confirm: { acknowledge: deferred }
      "go on": { redo: work }
      stop:    { cancel: session }
groups: { at_most: 4 }
protected:
  - "{interlock,agents}.{yml,yaml}"
  - ".interlock?*"
  - ".interlock*/**"
  - "**/.{claude,codex,gemini,cursor,opencode,qwen,amp,continue,devcontainer,goose}/**"
  - "**/.mcp.json"
  - "**/.vscode/{mcp,settings,tasks,launch}.json"
  - "**/opencode.{json,jsonc}"
  - "**/.aider.conf.{yml,yaml}"
  - "**/.goose*"
  - "**/.devcontainer.json"
  - "**/.{windsurf,roo,kilocode,kiro,augment,junie,trae}/**"
  - .github/workflows/**
  - .github/actions/**
  - "{.forgejo,.gitea}/{workflows,actions}/**"
  - .gitlab-ci.yml
  - .gitlab-ci.yaml
  - .gitlab/ci/**
  - .ci/**
  - .circleci/**
  - .buildkite/**
  - .woodpecker/**
  - "{.semaphore,.builds,.teamcity,.tekton,.azure-pipelines,.harness,.screwdriver,bamboo-specs}/**"
  - "{.travis,.drone,.woodpecker,.cirrus,appveyor,.appveyor,azure-pipelines,.azure-pipelines,bitbucket-pipelines,cloudbuild,buildspec,codemagic,screwdriver,.build}.{yml,yaml}"
  - ".drone.{star,jsonnet}"
  - .cirrus.star
  - "Jenkinsfile*"
  - "{.husky,.githooks}/**"
  - "{.pre-commit-config,lefthook,.lefthook}.{yml,yaml}"
test_files:
  - "**/{test,tests,__tests__,spec,specs,e2e}/**"
  - "**/*{_test,.test,.spec,_spec}.*"
  - "**/test_*.*"
  - "**/*{Test,Tests,Spec}.{java,kt,cs,scala,swift,php,groovy}"
  - "**/conftest.py"
  - "**/{test,tests,run_tests,run-tests,runtests}.{sh,bash,py,rb,js,mjs,ts,ps1,bat}"
  - "**/{pytest.ini,tox.ini,noxfile.py,.rspec,phpunit.xml,phpunit.xml.dist}"
  - "**/{jest,vitest,playwright,cypress,karma,wdio,ava,mocha}.config.*"
  - "**/.mocharc*"
  - "**/t/**/*.t"
  - "**/{__snapshots__,snapshots,testdata,fixtures,cypress}/**"
  - "**/*.{snap,snapshot}"
  - "**/features/**/*.feature"
"#;
