#!/bin/bash
# Fuzzes each target for some seconds (60), from its corpus; what breaks it is
# left in build/fuzz/TARGET. Inputs worth keeping go into the corpus by hand.
#   tests/fuzz/run.sh [SECONDS [TARGET...]]
. "$(dirname "$0")/../../.ci/setup.sh"

seconds=${1:-60}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(json message state_wire)
packages+=(clang)
install_packages
build fuzz "${targets[@]/%/_fuzz}"
for target in "${targets[@]}"; do
  found=build/fuzz/$target
  mkdir -p "$found"
  show "fuzzing $target for $seconds s" "build/fuzz/bin/${target}_fuzz" \
    -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="$found/" "$found" "tests/fuzz/corpus/$target"
done
