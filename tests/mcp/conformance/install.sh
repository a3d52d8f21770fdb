#!/usr/bin/env bash
# Installs the conformance suite of MCP, at the versions of npm/package-lock.json, into
# ${INTERLOCK_MCP_CONFORMANCE:-target/mcp-conformance}, with a node that runs it as node/bin/node. Does nothing if it is
# there. Exit 3: there is no npm to install it with.
set -euo pipefail
cd "$(dirname "$0")/../../.."
from=tests/mcp/conformance/npm
into=${INTERLOCK_MCP_CONFORMANCE:-target/mcp-conformance}

there() { cmp -s "$from/package-lock.json" "$into/installed-lock.json"; }

there && exit 0
if ! command -v npm >/dev/null; then
  echo "npm is not installed, so the conformance suite of MCP cannot be" >&2
  exit 3
fi
mkdir -p "$into/node/bin"
# Several test programs may come here at the same time: one installs, the others wait for it.
if command -v flock >/dev/null; then
  exec 9>"$into/lock"
  flock 9
  there && exit 0
fi
rm -f "$into/installed-lock.json"
cp "$from/package.json" "$from/package-lock.json" "$into"
npm ci --prefix "$into" --ignore-scripts --no-audit --no-fund --loglevel=error
# It needs Node 22, and distributions may have an older one. That comes from npm then.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
  npm install --prefix "$into/node" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    "node-$(node -p '`${process.platform}-${process.arch}`')@22.23.3"
  (cd "$into/node/bin" && ln -sf ../node_modules/node-*/bin/node node)
else
  ln -sf "$(command -v node)" "$into/node/bin/node"
fi
cp "$from/package-lock.json" "$into/installed-lock.json"
