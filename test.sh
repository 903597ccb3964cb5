#!/bin/bash
# Sets up a fresh Debian 12 and runs the whole suite: everything with ASan and
# UBSan, what has threads with TSan, what users meet as it is released.
# shellcheck source=.ci/setup.sh
. "$(dirname "$0")/.ci/setup.sh"

install_packages
build debug
show "testing debug" ctest --preset debug
build tsan threads_tests
show "testing tsan" ctest --preset tsan
build release release_tests
show "testing release" ctest --preset release
show "testing with real MCP clients" \
  tests/serve/clients/run.sh build/release/bin/satchel
say "all tests passed"
