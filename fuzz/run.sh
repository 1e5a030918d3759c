#!/bin/sh
# Runs every fuzz target for so many seconds (60 if not said), starting from its seeds.
set -eu
cd "$(dirname "$0")/.."
for target in single bus log command any certabo millennium; do
    mkdir -p "fuzz/corpus/$target"
    RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="${1:-60}" -max_len=9000 -timeout=10
done
