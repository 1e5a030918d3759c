#!/bin/sh
# Runs every fuzz target for so many seconds (60 if not said), two at a time, starting from its seeds.
# The daemon has no unsafe code, so the address sanitizer would find nothing in it: left out, the build takes a
# fraction of the time and the stable compiler does. ARBITERD_FUZZ_SEED fixes the dice. Findings stay in fuzz/artifacts.
set -eu
cd "$(dirname "$0")/.."
export RUSTC_BOOTSTRAP=1
cargo fuzz build --sanitizer none
one() {
    mkdir -p "fuzz/corpus/$1" "fuzz/logs"
    cargo fuzz run --sanitizer none "$1" "fuzz/corpus/$1" "fuzz/seeds/$1" -- \
        -seed="${ARBITERD_FUZZ_SEED:-0}" -max_total_time="$2" -max_len=9000 -timeout=10 > "fuzz/logs/$1" 2>&1 ||
        { echo "fuzzing $1 found something:"; tail -40 "fuzz/logs/$1"; return 1; }
    printf '%-10s %s\n' "$1" "$(grep '^Done' "fuzz/logs/$1")"
}
set -- "${1:-60}" single bus log command any certabo millennium pgn pairing sheet frame order hall config
seconds=$1
shift
while [ $# -gt 0 ]; do
    one "$1" "$seconds" & first=$!
    shift
    if [ $# -gt 0 ]; then one "$1" "$seconds" || exit 1; shift; fi
    wait "$first" || exit 1
done
