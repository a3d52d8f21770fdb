#!/usr/bin/env bash
# Installs the agent clients that the end-to-end tests run, at the versions of npm/package-lock.json, into
# ${INTERLOCK_CLIENTS:-target/clients}. Does nothing if they are there. Exit 3: there is no npm to install them with.
set -euo pipefail
cd "$(dirname "$0")/../.."
from=tests/clients/npm
into=${INTERLOCK_CLIENTS:-target/clients}

there() { cmp -s "$from/package-lock.json" "$into/installed-lock.json"; }

there && exit 0
if ! command -v npm >/dev/null; then
  echo "npm is not installed, so the agent clients cannot be" >&2
  exit 3
fi
mkdir -p "$into"
# Several test programs may come here at the same time: one installs, the others wait for it.
if command -v flock >/dev/null; then
  exec 9>"$into/lock"
  flock 9
  there && exit 0
fi
rm -f "$into/installed-lock.json"
cp "$from/package.json" "$from/package-lock.json" "$into"
# No package's script is run: Codex and Gemini do without theirs. What Claude's would do comes after.
npm ci --prefix "$into" --ignore-scripts --no-audit --no-fund --loglevel=error
node "$into/node_modules/@anthropic-ai/claude-code/install.cjs"
# Gemini and the ACP agent need Node 20, and distributions may have an older one. It comes from npm then, as a client of
# its own: the tests look for it in node/.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  npm install --prefix "$into/node" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    "node-$(node -p '`${process.platform}-${process.arch}`')@22.23.3"
  mkdir -p "$into/node/bin"
  (cd "$into/node/bin" && ln -sf ../node_modules/node-*/bin/node node)
fi
cp "$from/package-lock.json" "$into/installed-lock.json"
