//! The pages of `docs/errors/`, inside the program.

use interlock_core::code::Code;

macro_rules! pages {
    ($($number:ident $code:ident)*) => {
        /// The page of a code, in Markdown. A code without a page does not compile.
        pub fn of(code: Code) -> &'static str {
            match code {
                $(Code::$code => include_str!(concat!("../../../docs/errors/", stringify!($number), ".md")),)*
            }
        }
    };
}

pages! {
    E0101 YamlSyntax
    E0102 YamlFeature
    E0103 DuplicateKey
    E0104 UnknownKey
    E0105 WrongType
    E0106 MissingKey
    E0107 TooLarge
    E0110 UnknownRole
    E0111 UnknownLoop
    E0112 UnknownPhase
    E0113 UnknownQuestion
    E0114 UnknownGate
    E0115 UnknownGuard
    E0116 UnknownValue
    E0117 UnknownWorkflow
    E0118 BadName
    E0120 OneVerb
    E0121 VerbNotHere
    E0122 BadTarget
    E0123 LadderCircle
    E0124 TwoMeanings
    E0125 AliasToNothing
    E0126 NeedsNothingPasses
    E0127 DomainConflict
    E0128 StatusConflict
    E0129 BadLoop
    E0130 PhasesOrTables
    E0131 WrongExample
    E0132 BadExpression
    E0133 AbstractWorkflow
    E0134 LanguageVersion
    E0135 BadPhase
    E0136 GuardOutOfReach
    E0137 NeverReached
    E0138 BadDuration
    E0139 Unused
    E0141 UnknownPlaceholder
    E0142 UnboundedCycle
    E0143 NoAuthorRole
    E0144 NothingNeeded
    E0145 DeadEnd
    E0150 ExcuseUnconfirmed
    E0170 FallbackPasses
    E0201 NoHandoff
    E0202 HandoffSyntax
    E0203 TwoHandoffs
    E0204 NotAnObject
    E0205 NotText
    E0206 HandoffTooLarge
    E0210 FieldMissing
    E0211 FieldType
    E0212 FieldValue
    E0213 WrongAgent
    E0214 NextAgent
    E0215 BadTimestamp
    E0216 NothingAttempted
    E0217 NoReason
    E0218 NoBlockers
    E0219 NoContext
    E0220 SkillMissing
    E0221 BadSourceReference
    E0222 PathNotRelative
    E0223 BadQuestion
    E0224 BadFinding
    E0225 WrongPhase
    E0226 ClaimNotMade
    E0227 UnknownStatus
    E0228 VagueSummary
    E0229 StatusSpelling
    E0230 SuggestionDiffers
    E0231 RepeatedId
    E0232 BadPlan
    E0233 FactFailed
    E0234 UnresolvedRejection
    E0235 ClaimDiffers
    E0236 ReRaised
    E0237 LateNitpick
    E0238 NotAReview
    E0244 AnswerNotByAuthor
    E0245 ChecksMissing
    E0250 FilesNotChanged
    E0251 FilesNotClaimed
    E0255 UnstatedFact
    E0260 ReservedId
    E0261 TextTooLong
    E0262 PersonName
    E0301 NoSession
    E0302 SessionExists
    E0303 SessionEnded
    E0304 NoAssignment
    E0305 AssignmentClosed
    E0306 WrongToken
    E0307 NotClaimed
    E0308 ReportDiffers
    E0309 NotNow
    E0310 NoSuchStatus
    E0311 StillOpen
    E0312 NoRole
    E0313 RoleBusy
    E0314 NoGroup
    E0315 GroupEnded
    E0316 NoQuestion
    E0317 QuestionClosed
    E0318 NoOption
    E0319 NoGateRun
    E0320 NotDeferred
    E0321 AlreadyAcknowledged
    E0322 LeaseHolds
    E0323 CompletionRejected
    E0324 OverrideImpossible
    E0325 HandoffOfAnother
    E0327 BadSetting
    E0328 PlanRefused
    E0330 NotForPeople
    E0331 NotAMerge
    E0332 WorkflowMismatch
    E0333 NoDecision
    E0340 GroupUnfinished
    E0341 NoValidPath
    E0342 BlockUnresolved
    E0343 DeferralNotNamed
    E0344 NotConfirmed
    E0345 FindingsOpen
    E0346 GateMissing
    E0347 NothingPlanned
    E0348 NotSaid
    E0349 NotWatched
    E0350 Late
    E0351 EvidenceFailed
    E0352 WaiverImpossible
    E0353 NotAwaitingConfirmation
    E0354 NothingCompleted
    E0355 RequirementDropped
    E0360 WeakerWorkflow
    E0365 NothingChanged
    E0366 BadPathPattern
    E0367 ChangesPresent
    E0370 GateWithoutTree
    E0380 StatusReturned
    E0401 FileUnreadable
    E0402 BadArgument
    E0403 UnknownCode
    E0404 ImportFailed
    E0405 OutputFailed
    E0406 Bug
    E0501 NoStore
    E0502 StoreForeign
    E0503 StoreCorrupt
    E0504 StoreNewer
    E0505 StoreReadOnly
    E0506 StoreIo
    E0507 StoreNetwork
    E0508 StoreBusy
    E0509 StoreUnopened
    E0510 StoreFailed
    E0511 NoChainKey
    E0512 KeyMissing
    E0513 KeyWrong
    E0514 GuardFired
    E0515 ChainBroken
    E0516 PinnedChanged
    E0517 TokenMissing
    E0518 UpgradeImpossible
    E0519 BackupExists
    E0520 BadHead
    E0601 UnknownAgent
    E0602 UnknownClient
    E0603 BadAgent
    E0604 ProgramMissing
    E0605 NotARepository
    E0606 AlreadyRunning
    E0607 NoAgentFor
    E0608 GitFailed
    E0609 RunStopped
    E0610 BadScript
    E0611 Unrunnable
    E0620 ProtectedPath
    E0701 SpawnNotOpen
    E0702 NotYoursToWrite
    E0703 NotToBeTouched
    E0704 ForOthers
    E0705 WorkLeftOpen
    E0706 HookUnreachable
    E0707 BadHook
    E0708 SettingsUnreadable
    E0801 AddressTaken
    E0802 AddressUnusable
    E0803 AddressOpen
    E0804 ServerToken
    E0805 Unauthenticated
    E0806 ForeignHost
    E0807 ForeignOrigin
    E0808 RequestTooLarge
    E0809 SessionsFull
    E0810 NoSuchPath
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn every_page_has_the_title_of_its_code() {
        for code in Code::ALL {
            let title = format!("# {code}: {}", code.title());
            assert_eq!(of(*code).lines().next(), Some(title.as_str()));
        }
    }

    #[test]
    fn there_is_one_page_for_each_code_and_no_other() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
        let pages: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "README.md")
            .collect();
        let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
        assert_eq!(pages, codes);
    }

    #[test]
    fn every_page_says_how_to_fix_it() {
        for code in Code::ALL {
            let page = of(*code);
            assert!(page.contains("\n## How to fix it\n"), "{code}");
            assert!(page.contains("\n```"), "{code} has no example");
            assert!(page.lines().all(|line| line.chars().count() <= 120), "{code} has a long line");
            assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{code} does not end with one line break");
        }
    }
}
