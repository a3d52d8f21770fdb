#!/bin/sh
# Prints as Codex does, and has no conversation to go on with. It hands in only if it is told everything once more, with
# what was wrong; and it does not end by itself.
case " $* " in
  *" --version "* | *" --help "*)
    echo "codex 0.0.0"
    exit
    ;;
  *" resume "*)
    echo "Error: thread/resume: thread/resume failed: no rollout found for thread id 1" >&2
    exit 1
    ;;
esac
case $(cat) in
  "# Assignment "*"was not accepted"*) words='{\"agent\":\"project_manager\",\"output_type\":\"report\",\"timestamp\":\"2026-01-18T15:42:00Z\",\"feature_directory\":\".\",\"skills_invoked\":[],\"status\":\"INVESTIGATION_ONLY\",\"handoff\":{\"next_agent\":null,\"context\":\"There is nothing to do.\"}}' ;;
  *) words='All is done.' ;;
esac
printf '%s\n' '{"type":"thread.started","thread_id":"1"}'
printf '%s\n' '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"'"$words"'"}}'
printf '%s\n' '{"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":20}}'
sleep 60
