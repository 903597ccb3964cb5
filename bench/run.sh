#!/bin/bash
# Builds the benchmarks, runs them interleaved (medians of five rounds) and
# writes the table into bench/README.md. Arguments go to satchel_bench, for
# example --benchmark_filter=^save/.
. "$(dirname "$0")/../.ci/setup.sh"

packages+=(python3)
install_packages
step "configuring release" cmake --preset release -DSATCHEL_BENCH=ON
build release satchel_bench
export SATCHEL_BENCH_DIR=${SATCHEL_BENCH_DIR:-build/release}
results=build/release/bench.json
show "running satchel_bench" build/release/bin/satchel_bench \
  --benchmark_enable_random_interleaving=true --benchmark_repetitions=5 \
  --benchmark_min_time=0.15 --benchmark_report_aggregates_only=true \
  --benchmark_out="$results" --benchmark_out_format=json "$@"
show "writing the table" python3 bench/table.py "$results" bench/README.md
