# shellcheck shell=bash
# For quickstart.sh and test.sh, which source it: Debian packages, and steps
# that say what they do and stop with a clear line.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CLICOLOR_FORCE=0 CMAKE_COLOR_DIAGNOSTICS=OFF
program=$(basename "$0")
logs=build/logs

packages=(
  g++ cmake ninja-build ccache pkg-config clang-format git ca-certificates
  librocksdb-dev nlohmann-json3-dev libsimdjson-dev libxxhash-dev libb2-dev libcli11-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  libboost1.81-dev libssl-dev libcjose-dev libcurl4-openssl-dev
)

say() {
  printf '[%2d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

fail() {
  printf '[%2d:%02d] %s failed: %s\n' $((SECONDS / 60)) $((SECONDS % 60)) \
    "$program" "$*" >&2
  exit 1
}

# step WHAT COMMAND...: runs the command, its output in a log that is shown
# when it fails.
step() {
  local what=$1 log=$logs/${1//[^A-Za-z0-9]/-}.log
  shift
  say "$what"
  mkdir -p "$logs"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log" >&2
    fail "$what (all output: $log)"
  fi
}

# show WHAT COMMAND...: the same, with the command's output in view.
show() {
  local what=$1
  shift
  say "$what"
  "$@" </dev/null || fail "$what"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

install_packages() {
  local have package missing=()
  have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' \
    "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -qx "$package installed" <<<"$have" || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    return
  fi
  command -v apt-get >/dev/null || fail "needs Debian packages: ${missing[*]}"
  [ "$(id -u)" = 0 ] || sudo -v || fail "run as root, or install sudo, to get: ${missing[*]}"
  step "reading the list of Debian packages" as_root apt-get \
    -o DPkg::Lock::Timeout=120 update
  step "installing ${missing[*]}" as_root apt-get \
    -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "${missing[@]}"
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  step "configuring $preset" cmake --preset "$preset"
  step "building $preset" nice cmake --build --preset "$preset" ${1:+--target "$@"}
}
