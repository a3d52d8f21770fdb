//! The stable codes of everything Interlock refuses or warns about.
//!
//! A code never changes its meaning and is never given again. Each has a page in
//! `docs/errors/`, which `interlock explain` prints.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[doc = $group:literal])? $number:ident $name:ident $title:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code { $($name,)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The number that people and scripts see.
            pub const fn number(self) -> &'static str {
                match self { $(Code::$name => stringify!($number),)* }
            }

            /// One line that says what the code means.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    E0101 YamlSyntax            "the workflow file is not well-formed YAML"
    E0102 YamlFeature           "tags, anchors, aliases and several documents are not part of the workflow language"
    E0103 DuplicateKey          "a key stands twice in one map"
    E0104 UnknownKey            "the workflow language has no such key here"
    E0105 WrongType             "a value has the wrong shape"
    E0106 MissingKey            "a required key is missing"
    E0107 TooLarge              "the file is larger or deeper than any workflow has to be"
    E0110 UnknownRole           "no role or class has this name"
    E0111 UnknownLoop           "no loop has this name"
    E0112 UnknownPhase          "no phase has this name"
    E0113 UnknownQuestion       "no question has this name"
    E0114 UnknownGate           "no gate has this name"
    E0115 UnknownGuard          "`when` tests a name that is not declared"
    E0116 UnknownValue          "a value that is not in the declared list"
    E0117 UnknownWorkflow       "no workflow has this name"
    E0118 BadName               "this cannot be a name"
    E0120 OneVerb               "an entry has exactly one verb"
    E0121 VerbNotHere           "this verb cannot stand here"
    E0122 BadTarget             "this verb does not take this target"
    E0123 LadderCircle          "following `escalates_to` must end at a person"
    E0124 TwoMeanings           "one name means two things"
    E0125 AliasToNothing        "an alias points to no status"
    E0126 NeedsNothingPasses    "completion needs something that nothing passes"
    E0127 DomainConflict        "a domain cannot be read from this name"
    E0128 StatusConflict        "two tables claim the same status"
    E0129 BadLoop               "a loop is not bounded as it must be"
    E0130 PhasesOrTables        "a workflow has phases, or `begin` and `groups`, not both"
    E0131 WrongExample          "an example does not come out as it says"
    E0132 BadExpression         "a CEL expression cannot be used"
    E0133 AbstractWorkflow      "an abstract workflow can be extended, not run"
    E0134 LanguageVersion       "this version of the workflow language is not known"
    E0135 BadPhase              "a phase or stage is not put together as it must be"
    E0136 GuardOutOfReach       "this guard has no handoff to read"
    E0137 NeverReached          "this alternative can never be taken"
    E0138 BadDuration           "a length of time cannot be read"
    E0139 Unused                "a name is declared and nothing uses it"
    E0141 UnknownPlaceholder    "nothing fills in this placeholder"
    E0142 UnboundedCycle        "a cycle of the workflow has no bound"
    E0143 NoAuthorRole          "work goes to the author, and no role is one"
    E0144 NothingNeeded         "nothing is needed to complete a group"
    E0145 DeadEnd               "a role gets work and has no status that leads on"
    E0150 ExcuseUnconfirmed     "an entry excuses evidence, and nothing accepts such a group"
    E0170 FallbackPasses        "the fallback for unknown statuses may not pass or complete anything"

    E0201 NoHandoff             "there is no metadata block in the output"
    E0202 HandoffSyntax         "the metadata block is not JSON"
    E0203 TwoHandoffs           "there are two metadata blocks and they differ"
    E0204 NotAnObject           "the metadata block is not a JSON object"
    E0205 NotText               "the output is not UTF-8 text"
    E0206 HandoffTooLarge       "the metadata block is larger or deeper than it may be"
    E0210 FieldMissing          "a required field is missing or empty"
    E0211 FieldType             "a field has the wrong type"
    E0212 FieldValue            "a value is not one of those allowed"
    E0213 WrongAgent            "`agent` is not the role of the assignment"
    E0214 NextAgent             "`handoff.next_agent` is not what this context asks for"
    E0215 BadTimestamp          "a timestamp is not RFC 3339"
    E0216 NothingAttempted      "a blocked handoff must say what was attempted"
    E0217 NoReason              "a blocked handoff must give its `blocked_reason`"
    E0218 NoBlockers            "a blocked handoff must list its blockers here"
    E0219 NoContext             "`handoff.context` must state what the next agent needs to know"
    E0220 SkillMissing          "a mandatory skill was not invoked"
    E0221 BadSourceReference    "a source reference is not `path`, `path:line` or `path:first-last`"
    E0222 PathNotRelative       "a path must be relative and stay inside the repository"
    E0223 BadQuestion           "a question is not one a person can answer"
    E0224 BadFinding            "a finding or an answer to one is incomplete"
    E0225 WrongPhase            "`phase` is not the phase of the assignment"
    E0226 ClaimNotMade          "a claim that this phase asks for is not made"
    E0227 UnknownStatus         "the role has no such status"
    E0228 VagueSummary          "the summary says too little"
    E0229 StatusSpelling        "the status was read without regard to case, spaces and hyphens"
    E0230 SuggestionDiffers     "the workflow decides otherwise than the agent suggested"
    E0231 RepeatedId            "one id is used twice"
    E0232 BadPlan               "the plan's groups cannot be accepted"
    E0233 FactFailed            "a derived fact could not be computed from the handoff"
    E0234 UnresolvedRejection   "a rejection or response names a finding that is not open"
    E0235 ClaimDiffers          "what the author claims differs from what the ledger shows"
    E0236 ReRaised              "a settled finding was raised again"
    E0237 LateNitpick           "a new minor finding cannot block after the first review"
    E0238 NotAReview            "findings in a report that is no review are kept, not counted"
    E0244 AnswerNotByAuthor     "answers to findings are the author's to give"
    E0245 ChecksMissing         "a group of the plan has no check that can fail"
    E0250 FilesNotChanged       "the handoff names files that were not changed"
    E0251 FilesNotClaimed       "changed files are not named in the handoff"
    E0255 UnstatedFact          "a field is set, but not the fact that decides what happens with it"
    E0260 ReservedId            "a group cannot have this id"
    E0261 TextTooLong           "a title, a name or a reason is empty or too long"
    E0262 PersonName            "a person cannot have this name"

    E0301 NoSession             "the session has not been started"
    E0302 SessionExists         "the session has been started already"
    E0303 SessionEnded          "the session has ended"
    E0304 NoAssignment          "there is no such assignment"
    E0305 AssignmentClosed      "the assignment is closed"
    E0306 WrongToken            "the token is not the one of this assignment"
    E0307 NotClaimed            "the assignment has not been claimed"
    E0308 ReportDiffers         "this assignment has reported something else already"
    E0309 NotNow                "the workflow does not accept this status now"
    E0310 NoSuchStatus          "the workflow has no such status for this role"
    E0311 StillOpen             "this cannot pass while something measured is open"
    E0312 NoRole                "the workflow has no such role"
    E0313 RoleBusy              "as many of this role are at work as may be"
    E0314 NoGroup               "there is no such group"
    E0315 GroupEnded            "the group has ended"
    E0316 NoQuestion            "there is no such question"
    E0317 QuestionClosed        "the question has been answered"
    E0318 NoOption              "this is not an answer to that question"
    E0319 NoGateRun             "no such gate is waiting for a result"
    E0320 NotDeferred           "the group is not deferred"
    E0321 AlreadyAcknowledged   "the deferral has been acknowledged already"
    E0322 LeaseHolds            "the lease has not run out"
    E0323 CompletionRejected    "the session cannot complete yet"
    E0324 OverrideImpossible    "work cannot be overridden to this role here"
    E0325 HandoffOfAnother      "the handoff was checked for another role or phase"
    E0327 BadSetting            "the workflow has no such setting or value"
    E0328 PlanRefused           "no plan can be accepted now"
    E0330 NotForPeople          "the workflow does not let a person do this"
    E0331 NotAMerge             "only a merge assignment takes a merge result"
    E0332 WorkflowMismatch      "the session runs another workflow"
    E0333 NoDecision            "there is no such decision or event"
    E0340 GroupUnfinished       "a group has not ended"
    E0341 NoValidPath           "a group was completed without the evidence it needs"
    E0342 BlockUnresolved       "a blocker has no recorded resolution"
    E0343 DeferralNotNamed      "a deferred group has not been acknowledged by name"
    E0344 NotConfirmed          "a group that was once blocked has not been accepted"
    E0345 FindingsOpen          "blocking findings are open"
    E0346 GateMissing           "a gate has not passed on the tree being completed"
    E0347 NothingPlanned        "no group was ever planned"
    E0348 NotSaid               "the role that may complete the session has not reported so"
    E0349 NotWatched            "the workflow takes only work that was watched"
    E0350 Late                  "a report came after its time"
    E0351 EvidenceFailed        "evidence that completion needs failed on this tree"
    E0352 WaiverImpossible      "this evidence cannot be waived now"
    E0353 NotAwaitingConfirmation "the group is not awaiting confirmation"
    E0354 NothingCompleted      "nothing was completed, and no person has acknowledged that"
    E0355 RequirementDropped    "only the project or a person may drop a requirement"
    E0360 WeakerWorkflow        "the new workflow demands less than the one the session runs"
    E0365 NothingChanged        "the diff is empty where changes are required"
    E0366 BadPathPattern        "this pattern of paths cannot be used"
    E0367 ChangesPresent        "the report says that nothing changes, and the diff is not empty"
    E0370 GateWithoutTree       "a gate result does not name the tree that its commands ran on"
    E0380 StatusReturned        "a status that the role does not have was sent back"

    E0401 FileUnreadable        "a file cannot be read"
    E0402 BadArgument           "an argument cannot be understood"
    E0403 UnknownCode           "there is no such code"
    E0404 ImportFailed          "the file cannot be imported"
    E0405 OutputFailed          "the result cannot be written"
    E0406 Bug                   "Interlock itself is at fault"

    E0501 NoStore               "there is no store here"
    E0502 StoreForeign          "the file is not an Interlock store"
    E0503 StoreCorrupt          "the store is damaged"
    E0504 StoreNewer            "the store was written by a newer Interlock"
    E0505 StoreReadOnly         "the store cannot be written"
    E0506 StoreIo               "the disk is full or fails"
    E0507 StoreNetwork          "a store cannot lie on a network file system"
    E0508 StoreBusy             "another program holds the store"
    E0509 StoreUnopened         "the store cannot be opened"
    E0510 StoreFailed           "the store could not do it"
    E0511 NoChainKey            "the key of the store's chain is not here"
    E0512 KeyMissing            "this takes a key that is not here"
    E0513 KeyWrong              "the key is not the one of this store"
    E0514 GuardFired            "the database refused a write"
    E0515 ChainBroken           "the history of the session has been altered"
    E0516 PinnedChanged         "the pinned workflow has been altered"
    E0517 TokenMissing          "a report takes the token of its assignment"
    E0518 UpgradeImpossible     "the new workflow cannot hold the state of the session"
    E0519 BackupExists          "a backup overwrites nothing"
    E0520 BadHead               "this is not the head of a chain"

    E0601 UnknownAgent          "there is no such agent"
    E0602 UnknownClient         "there is no such client"
    E0603 BadAgent              "an agent is not set up as it must be"
    E0604 ProgramMissing        "a program is not there"
    E0605 NotARepository        "agents need a git repository with a commit"
    E0606 AlreadyRunning        "the session is being run already"
    E0607 NoAgentFor            "no agent plays a role"
    E0608 GitFailed             "git could not do it"
    E0609 RunStopped            "the run stopped before the end"
    E0610 BadScript             "the script of an agent is not valid"
    E0611 Unrunnable            "a workflow cannot be run as it is"
    E0620 ProtectedPath         "a protected path was changed by a role that does not own it"

    E0701 SpawnNotOpen          "no assignment is open for this sub-agent"
    E0702 NotYoursToWrite       "this role may not write these files"
    E0703 NotToBeTouched        "only Interlock may change this"
    E0704 ForOthers             "this is for people, or for hooks, and not for a model"
    E0705 WorkLeftOpen          "there is open work, and it is too early to stop"
    E0706 HookUnreachable       "a hook cannot judge, and holds back"
    E0707 BadHook               "what the client sent cannot be read"
    E0708 SettingsUnreadable    "the settings of a client cannot be read, and are left alone"

    E0801 AddressTaken          "another program listens there already"
    E0802 AddressUnusable       "nothing can listen there"
    E0803 AddressOpen           "other machines could reach the server"
    E0804 ServerToken           "the token of the server cannot be used"
    E0805 Unauthenticated       "a request without the token of the server"
    E0806 ForeignHost           "a request that was meant for another host"
    E0807 ForeignOrigin         "a request of a page from elsewhere"
    E0808 RequestTooLarge       "a request is larger than any has to be"
    E0809 SessionsFull          "the server has as many MCP sessions as it keeps"
    E0810 NoSuchPath            "nothing is served under this path"
}

impl Code {
    /// Finds a code by its number, in any case, with or without the leading `E`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().trim_start_matches(['E', 'e']);
        Self::ALL.iter().copied().find(|code| code.number().trim_start_matches('E') == digits)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.number())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_are_unique_and_found_again() {
        let numbers: BTreeSet<_> = Code::ALL.iter().map(|code| code.number()).collect();
        assert_eq!(numbers.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(Code::parse(code.number()), Some(*code));
        }
        assert_eq!(Code::parse("e0104"), Some(Code::UnknownKey));
        assert_eq!(Code::parse("104"), None);
    }
}
