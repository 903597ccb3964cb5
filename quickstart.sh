#!/bin/bash
# Sets up a fresh Debian 12, builds the program and shows what it does.
# shellcheck source=.ci/setup.sh
. "$(dirname "$0")/.ci/setup.sh"

install_packages
build release satchel_program
show "running build/release/bin/satchel demo" build/release/bin/satchel demo
say "ready: build/release/bin/satchel --help"
