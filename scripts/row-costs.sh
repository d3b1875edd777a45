#!/usr/bin/env bash
# Processor time of one step of rows of the judge (crates/stiction-io/tests/it/judge/scenes.rs): of those that it leaves out as too slow,
# or of SCENE/SOLVER…. A step that takes longer than 25 s is broken off.
set -uo pipefail
cd "$(dirname "$0")/.."
it=$(cargo test --workspace --test it --no-run --message-format=json 2>/dev/null |
  python3 -c 'import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("executable") and "stiction-io" in m["manifest_path"]:
        print(m["executable"])')
[ -n "$it" ] || { echo "the tests of stiction-io do not build" >&2; exit 1; }
row() { STICTION_ROW=$1 timeout 25 "$it" --exact judge::scenes::rows_that_are_left_out_exist_and_are_slow --nocapture | sed -n 's/^row //p'; }
if [ $# -gt 0 ]; then rows=$*; else rows=$(row list | cut -d' ' -f1); fi
for row in $rows; do
  row "$row" | grep . || echo "$row more than 25 s"
done
