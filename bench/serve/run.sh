#!/bin/bash
# Measures `satchel serve` beside a minimal server on the official TypeScript
# SDK that keeps the same states in SQLite, as durable: calls a second and
# latencies over stdio and HTTP. Writes the table into bench/README.md.
# Arguments: rounds and seconds, by default 3 and 3.
. "$(dirname "$0")/../../.ci/setup.sh"

command -v npm >/dev/null || packages+=(nodejs npm)
install_packages
build release satchel_program
peer=build/release/bench-serve
mkdir -p "$peer"
cp bench/serve/*.mjs bench/serve/package.json "$peer"
step "installing the peer's packages" npm --prefix "$peer" install
step "building the peer's SQLite" npm --prefix "$peer" rebuild better-sqlite3
export SATCHEL_BENCH_DIR=${SATCHEL_BENCH_DIR:-$PWD/build/release}
show "measuring" node "$peer/run.mjs" build/release/bin/satchel bench/README.md "$@"
