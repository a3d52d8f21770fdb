#!/bin/sh
# A whole session with real processes, real files and real merges, and no model: some ten seconds.
# It happens in a new folder; nothing else is touched.
set -eu

interlock=${INTERLOCK:-interlock}
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d "${TMPDIR:-/tmp}/interlock-quickstart.XXXXXX")
cp -R "$here/project" "$place/shop"
cd "$place/shop"
XDG_CONFIG_HOME=$place/config XDG_STATE_HOME=$place/state
export XDG_CONFIG_HOME XDG_STATE_HOME

# Whatever the user's own git is set to: nothing is signed, and no hook is run.
git init -q -b main
git add -A
git -c user.name=You -c user.email=you@example.invalid -c commit.gpgsign=false -c core.hooksPath=/dev/null \
  commit -q -m "A shop without discounts, receipts or currencies"

"$interlock" run mission.md

cat <<END

The project is in a folder of its own, and its keys beside it. To look around:

  cd "$place/shop"
  export XDG_CONFIG_HOME="$place/config" XDG_STATE_HOME="$place/state"
  "$interlock" session list
  "$interlock" audit verify
END
