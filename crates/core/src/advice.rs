//! The help line of each code, for messages that have no more exact one.

use crate::code::Code;

impl Code {
    /// One line that says how to go on.
    #[allow(clippy::too_many_lines, reason = "one line for each code")]
    pub const fn help(self) -> &'static str {
        match self {
            Code::YamlSyntax => {
                "indent with spaces, close every bracket, and quote texts that have `: ` or ` #` in them"
            }
            Code::YamlFeature => "write the value out where it is needed, in one document",
            Code::DuplicateKey => "keep one of the two; nothing says which one would count",
            Code::UnknownKey => "look the key up in `interlock workflow schema`, or take it out",
            Code::WrongType => "write a value of the kind that is named there",
            Code::MissingKey => "add the key; `interlock workflow schema` says what it takes",
            Code::TooLarge => "split what is long into a workflow of its own and `extends` it",
            Code::UnknownRole => "declare it under `roles`, or use a name that `interlock workflow show` lists",
            Code::UnknownLoop => "declare it under `loops`, with `escalate_at: { iteration: N }`",
            Code::UnknownPhase => "use the name of a phase, or what it is called `as`",
            Code::UnknownQuestion => "declare it under `questions`, with its text and its options",
            Code::UnknownGate => "declare it under `gates`, with the command that it runs",
            Code::UnknownGuard => "declare it under `settings`, `facts` or `groups.flags`",
            Code::UnknownValue => "use one of the values that are declared, or declare this one too",
            Code::UnknownWorkflow => {
                "`interlock workflow list` names those that are built in; a file is named by its path"
            }
            Code::BadName => "give it another name; `user`, `author`, `self`, `any` and `blocked_agent` are taken",
            Code::OneVerb => "keep one verb; what comes next as an alternative is an entry of its own in a list",
            Code::VerbNotHere => {
                "use a verb that this table takes; `interlock workflow schema` says of each where it stands"
            }
            Code::BadTarget => "use a role, or the word that this verb takes, such as `author`, `self` or `group`",
            Code::LadderCircle => "leave `escalates_to` out of the last role: a person comes after it",
            Code::TwoMeanings => "rename one of the two",
            Code::AliasToNothing => "point it to a status that some role has",
            Code::NeedsNothingPasses => "add `passes: [NAME]` to the entry that shows it, or take the need out",
            Code::DomainConflict => "give the role its `domain`, or narrow the patterns under `domains`",
            Code::StatusConflict => "keep the status in one of the tables, or give the role a row of its own",
            Code::BadLoop => {
                "give it `escalate_at: { iteration: N }` with N at least 1, and a `measure` for `no_progress`"
            }
            Code::PhasesOrTables => "keep either `phases`, or `begin` with `groups.begin` and `groups.ended`",
            Code::WrongExample => "fix the rules or the example; `interlock route` shows each step",
            Code::BadExpression => "an expression sees `handoff` alone and gives one of the declared values",
            Code::AbstractWorkflow => "name a workflow that extends it; `interlock workflow list` shows them",
            Code::LanguageVersion => "write `language: 1`, or use the Interlock that the file was written for",
            Code::BadPhase => "a phase has a name and one of `role`, `gate` and `merge: author`",
            Code::GuardOutOfReach => "test a setting or a flag here; facts are known only when a handoff is decided",
            Code::NeverReached => "put it before the alternative that always holds, or take it out",
            Code::BadDuration => "write a number and its unit, such as `90s`, `10m` or `2h`",
            Code::NothingNeeded => {
                "name what must hold in `completion.group`: evidence that an entry `passes` in `needs`, a gate in `gates`"
            }
            Code::UnknownPlaceholder => "use a placeholder that is known there, or double the braces for plain text",
            Code::NoAuthorRole => "add `is: [author]` to the role that does the work",
            Code::UnboundedCycle => "add `loop: NAME` to one of the entries of the cycle, and declare the loop",
            Code::DeadEnd => "add a status of this role that holds there, or send the work to another role or phase",
            Code::Unused => "use it, or take it out",
            Code::ExcuseUnconfirmed => "add `once_blocked: [acceptance]` to `completion.group`, or remove `excuses`",

            Code::FallbackPasses => {
                "use `spawn`, `respawn`, `consult`, `escalate`, `goto` or `ask` there, and leave `passes` out"
            }
            Code::NoHandoff => "return one JSON object that has `status` and `handoff`, in the way that the task says",
            Code::HandoffSyntax => "write strict JSON: double quotes, no comments, no comma before a closing bracket",
            Code::TwoHandoffs => "keep one of them, at the end of the output",
            Code::NotAnObject => "write one object: { \"agent\": …, \"status\": …, \"handoff\": … }",
            Code::NotText => "write the output as UTF-8",
            Code::HandoffTooLarge => "put what is long into a file and name it in `artifacts`",
            Code::FieldMissing => "add it to the metadata block; `interlock handoff schema` says what it holds",
            Code::FieldType => "`interlock handoff schema` says what this field holds",
            Code::FieldValue => "use one of the values that the workflow declares",
            Code::WrongAgent => "write the role of the assignment into `agent`",
            Code::NextAgent => {
                "when Interlock routes, set it to null; otherwise use the role from the workflow's blocked table"
            }
            Code::BadTimestamp => "write the time with its offset, such as 2026-01-18T15:42:00Z",
            Code::NothingAttempted => "list in `attempted` at least one thing that was tried before giving up",
            Code::NoReason => "`blocked_reason` belongs to a blocked status, with a reason of the workflow",
            Code::NoBlockers => {
                "list `handoff.blockers`, each with `type`, `description` and `resolution`, if work is blocked"
            }
            Code::NoContext => "say in `handoff.context` what the next one has to know to go on",
            Code::SkillMissing => "invoke the skill, and name it in `skills_invoked`",
            Code::BadSourceReference => "write it like src/a.rs, src/a.rs:87 or src/a.rs:1-50",
            Code::PathNotRelative => "write it from the root of the repository, without `..`, `~` or a leading `/`",
            Code::BadQuestion => "ask one to ten questions, each a text with no options or two to ten different ones",
            Code::BadFinding => {
                "a finding has id, title, location, severity and blocking; an answer has id and response"
            }
            Code::WrongPhase => "write into `phase` what the workflow calls the phase of the assignment",
            Code::ClaimNotMade => "do what is claimed and set it to true, or report another status",
            Code::UnknownStatus => "report a status of the role; `interlock workflow show` lists them",
            Code::VagueSummary => "name what was made, how many and with what result, in one sentence",
            Code::StatusSpelling => "nothing has to be done; written as declared, the note goes away",
            Code::SuggestionDiffers => "nothing has to be done: the workflow decides, and suggestions are only noted",
            Code::RepeatedId => "give each its own id",
            Code::BadPlan => "fix the groups: ids, titles, flags of the workflow, and dependencies that end somewhere",
            Code::UnstatedFact => "add the fact with the value that applies; each value leads somewhere else",
            Code::FactFailed => "give the field that the expression reads, with a value that it can take",
            Code::UnresolvedRejection => "name findings by the ids of the last review of that role",
            Code::ClaimDiffers => "count again; what the review shows is what counts",
            Code::ReRaised => "leave it out: its rejection was accepted, and that settled it for good",
            Code::LateNitpick => "put it into `notes_for_future`, or raise its severity if it really blocks",
            Code::ChecksMissing => "give each group a command in `checks` that fails while the work is not done",
            Code::AnswerNotByAuthor => "leave `issue_responses` out; the author of the work answers findings",
            Code::NotAReview => "raise findings in a report whose status is a review's",
            Code::ReservedId => "choose another id, such as `LOGIN` or `api-2`",
            Code::TextTooLong => "write one short line; put details into the mission or `handoff.context`",
            Code::PersonName => "use another name: `--as NAME`",

            Code::FilesNotChanged => "name the files that the diff has, or make the changes that the handoff names",
            Code::FilesNotClaimed => "name every file that was changed, and undo what was not meant",

            Code::NoSession => "`interlock session list` names the sessions; `interlock session start` begins one",
            Code::SessionExists => "go on with the one there is, or start another with an id of its own",
            Code::SessionEnded => "start a new session; what has ended stays as it is",
            Code::NoAssignment => "`interlock session next` lists what is open",
            Code::AssignmentClosed => "`interlock session next` lists what is open instead",
            Code::WrongToken => "report with the token of the last claim of this assignment",
            Code::NotClaimed => "claim it first: `interlock claim ASSIGNMENT`",
            Code::ReportDiffers => "an assignment reports once; what comes next is a new assignment",
            Code::NotNow => "report one of the allowed statuses instead",
            Code::NoSuchStatus => "report a status of the role; `interlock workflow show` lists them",
            Code::StillOpen => "end what is open, or report a status that sends the work back",
            Code::NoRole => "use a role of the workflow; `interlock workflow show` lists them",
            Code::RoleBusy => "claim it when one of the others has reported",
            Code::NoGroup => "use the id of a group; `interlock session show` lists them",
            Code::GroupEnded => "plan a new group for what is still to be done",
            Code::NoQuestion => "`interlock question list` shows what is open",
            Code::QuestionClosed => "`interlock question list` shows what is still open",
            Code::NoOption => "choose one of the options as they are written",
            Code::NoGateRun => "`interlock session show` says which gates wait",
            Code::NotDeferred => {
                "only a deferred group can be acknowledged; `interlock session show` says how each stands"
            }
            Code::AlreadyAcknowledged => "nothing has to be done: it stands as acknowledged",
            Code::LeaseHolds => "wait until the lease runs out, or let its holder report",
            Code::CompletionRejected => "see to every reason that is listed, then ask again",
            Code::OverrideImpossible => "choose a role that can hold this work now, in a group that is at work",
            Code::HandoffOfAnother => "submit the handoff of this assignment, with its role and its phase",
            Code::BadSetting => "use a setting and a value of the workflow; `interlock workflow show` lists them",
            Code::PlanRefused => "report the plan where the workflow takes one, with what it asks of every group",
            Code::NotForPeople => "let the role report that may do this; the workflow names it",
            Code::NotAMerge => "report it like any other work",
            Code::WorkflowMismatch => "use the workflow of the session, or move it: `interlock session upgrade`",
            Code::NoDecision => "`interlock log SESSION` lists events and decisions; write SESSION.dN or SESSION.eN",
            Code::GroupUnfinished => "finish the group, defer it or have a person cancel it",
            Code::NoValidPath => "have the missing evidence reported by the roles that may give it",
            Code::BlockUnresolved => {
                "resolve the block: guidance back to who was blocked, an approval, or a person's answer"
            }
            Code::DeferralNotNamed => "acknowledge it by name: `interlock acknowledge SESSION GROUP`",
            Code::NotConfirmed => "have the manager accept it by name, in `accept`",
            Code::FindingsOpen => "have the findings fixed and reviewed, or their rejections accepted",
            Code::GateMissing => "let the gate run and pass on these very files",
            Code::GateWithoutTree => "run the gate with `interlock gate` or `interlock run`; both record the tree",
            Code::NothingPlanned => "plan at least one group, or say that there was only something to find out",
            Code::NotSaid => "the role that completes the session has to report so",
            Code::NotWatched => "submit it through a client with its hooks installed, or through `interlock run`",
            Code::WeakerWorkflow => "keep what the new workflow drops, or say that you mean it: `--weaker`",
            Code::Late => "claim the assignment again, and let the agent do the work again",
            Code::EvidenceFailed => "send the work back to its author; a new tree is tested again",
            Code::WaiverImpossible => "`interlock complete SESSION` lists what each group has not passed yet",
            Code::NotAwaitingConfirmation => "`interlock session show` lists the groups that await confirmation",
            Code::NothingCompleted => "complete a group, or let a person confirm the end with `interlock answer`",
            Code::RequirementDropped => "let a person start it with the operator key, or change the workflow file",
            Code::NothingChanged => "do the work, or report that there is nothing to do, with the reason",
            Code::ChangesPresent => "undo the changes, or report the work with the status that it has",
            Code::BadPathPattern => "write paths from the top of the project, such as `.github/workflows/**`",
            Code::StatusReturned => "report one of the statuses that are listed as allowed",

            Code::FileUnreadable => "look whether the path is right and may be read",
            Code::BadArgument => "`--help` after the command shows what it takes",
            Code::UnknownCode => "`interlock explain` without a code lists all of them",
            Code::ImportFailed => "fix the file where it is marked, and import it again",
            Code::OutputFailed => "look whether the disk has room and the file may be written",
            Code::Bug => "please report it, with what you did; nothing of yours was changed by it",

            Code::NoStore => "make one with `interlock init`, or name one with --store",
            Code::StoreForeign => "name another file with --store; this one is left alone",
            Code::StoreCorrupt => "put a backup in its place; `interlock audit verify` says what is wrong",
            Code::StoreNewer => "use the newer Interlock that wrote it",
            Code::StoreReadOnly => "make the file and its folder writable for you",
            Code::StoreIo => "make room on the disk, then try again: nothing was half stored",
            Code::StoreNetwork => "keep the store on a disk of this machine",
            Code::StoreBusy => "try again when the other program is done",
            Code::StoreUnopened => "look whether the path is right, and may be entered and read",
            Code::StoreFailed => "try again; if it stays, `interlock audit verify` says whether the store is sound",
            Code::NoChainKey => "put the key of this store where `interlock init` wrote it, or set INTERLOCK_KEY_FILE",
            Code::KeyMissing => "`interlock init` makes the keys; INTERLOCK_KEY_FILE says where else they are",
            Code::KeyWrong => "use the key that was made with this store",
            Code::GuardFired => "use Interlock's commands: the database enforces the rules for every program",
            Code::ChainBroken => "`interlock audit verify` names the first event that is not what it was",
            Code::PinnedChanged => "put the store back from a backup: the session is held to what it started with",
            Code::TokenMissing => "set INTERLOCK_TOKEN or INTERLOCK_TOKEN_FILE to what the claim gave",
            Code::UpgradeImpossible => {
                "keep in the new workflow what the session still uses, or finish the session first"
            }
            Code::BackupExists => "name a file that is not there yet",
            Code::BadHead => "use a file that `interlock audit export` wrote",

            Code::UnknownAgent => "declare it under `agents` in agents.yaml",
            Code::UnknownClient => "Interlock knows claude, codex and gemini, and in agents.yaml acp and command too",
            Code::BadAgent => "fix its entry in agents.yaml; `interlock doctor` checks it again",
            Code::ProgramMissing => "install it, or name its path; `interlock doctor` looks for all of them",
            Code::NotARepository => "run it in a git repository with at least one commit",
            Code::AlreadyRunning => "watch it with `interlock watch`, or stop the other run first",
            Code::NoAgentFor => "say in agents.yaml which agent plays the role",
            Code::GitFailed => "fix what git reports, and run it again",
            Code::RunStopped => "start it again: it goes on where it stopped",
            Code::BadScript => "fix the script where it is marked",
            Code::Unrunnable => "change what is named in the workflow, or drive the session by hand",

            Code::ProtectedPath => "leave the path as it is; a person allows it with `interlock run --allow GLOB`",

            Code::SpawnNotOpen => "start what is next; `interlock session next` lists it",
            Code::NotYoursToWrite => "leave these files to the role that may write them",
            Code::NotToBeTouched => "leave it alone; Interlock's own commands change it",
            Code::ForOthers => "let a person do it, in a terminal of their own",
            Code::WorkLeftOpen => "go on with what is open; `interlock session next` lists it",
            Code::HookUnreachable => "see to what is said, then try again; `interlock plugin doctor` checks the set-up",
            Code::BadHook => "install the hooks again with `interlock plugin install`; the client may be newer",
            Code::SettingsUnreadable => "fix the file by hand, then install again",

            Code::AddressTaken => "name another with --listen, or stop the other program",
            Code::AddressUnusable => "name an address of this machine with --listen, such as 127.0.0.1:7420",
            Code::AddressOpen => "listen on 127.0.0.1, or say that others may reach it",
            Code::ServerToken => "let `interlock serve` make a token, or give one that is long enough",
            Code::Unauthenticated => "send the token as `Authorization: Bearer …`",
            Code::ForeignHost => "call the server by the address that it listens on",
            Code::ForeignOrigin => "call it from a program, not from a page of another site",
            Code::RequestTooLarge => "send less at once; long texts belong into files",
            Code::SessionsFull => "end sessions that are no longer used, or try again later",
            Code::NoSuchPath => "MCP is served under /mcp",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_help_that_says_more_than_its_title() {
        for code in Code::ALL {
            let help = code.help();
            assert!(help.split_whitespace().count() >= 4, "{code}: {help}");
            assert!(help.chars().count() <= 110, "{code} is long: {help}");
            assert!(!help.ends_with('.') && !help.contains('\n'), "{code}: {help}");
            assert_ne!(help, code.title());
        }
    }
}
