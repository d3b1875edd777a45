#!/usr/bin/env bash
# What takes too long for every change: tests marked as slow, all tests with other random cases, what the judge makes of small errors,
# every experiment with --quick, a minute of fuzzing per reader, WebAssembly. `PROPTEST_RNG_SEED=N scripts/nightly.sh` draws the cases of
# an earlier run.
# Writes the date and the results to docs/nightly.md, which is committed, and ends with 1 where something failed.
set -uo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
rows=""

# part NAME RESULT SECONDS
part() { rows+="| $1 | $2 | $(($3 / 60)) min $(($3 % 60)) s |"$'\n'; }

start=$SECONDS
if cargo test --workspace --quiet -- --ignored >"$out/slow" 2>&1; then
  result="$(grep -oE '[0-9]+ passed' "$out/slow" | awk '{ n += $1 } END { print n + 0 }') passed"
else
  result="FAILED: $(grep -oE '^---- [^ ]+' "$out/slow" | cut -d' ' -f2 | tr '\n' ' ')"
  failed=1
  cat "$out/slow" >&2
fi
part "slow tests: \`cargo test --workspace -- --ignored\`" "$result" $((SECONDS - start))

# What the environment says comes before .cargo/config.toml, which fixes the seed of every other run.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "random cases by PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"
start=$SECONDS
if cargo test --workspace --quiet >"$out/all" 2>&1; then
  result="$(grep -oE '[0-9]+ passed' "$out/all" | awk '{ n += $1 } END { print n + 0 }') passed"
else
  result="FAILED: $(grep -oE '^---- [^ ]+' "$out/all" | cut -d' ' -f2 | tr '\n' ' ')"
  failed=1
  cat "$out/all" >&2
fi
part "all tests with random cases of their own: \`PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED cargo test --workspace\`" "$result" $((SECONDS - start))
unset PROPTEST_RNG_SEED

start=$SECONDS
if scripts/mutants.sh --judge >"$out/mutants" 2>&1; then
  result=$(tail -1 "$out/mutants")
else
  result="FAILED: $(tail -1 "$out/mutants")"
  failed=1
  cat "$out/mutants" >&2
fi
part "small errors: \`scripts/mutants.sh --judge\`" "$result" $((SECONDS - start))

start=$SECONDS
cargo run --release --quiet -p stiction-bench -- --quick --json >"$out/run.json" 2>"$out/run.err"
result=$(python3 - "$out/run.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
rows = [(k, r) for e in run["experiments"] for k, r in e["rows"].items()]
missed = [k for k, r in rows if r["verdict"] == "fail"]
judged = sum(r["verdict"] != "shown" for _, r in rows)
print(f"{len(run['experiments'])} experiments, {len(rows)} rows, {judged - len(missed)} of {judged} marks met"
      + "".join(f"; `{k}` missed" for k in missed))
PY
) || { result="FAILED: no result"; failed=1; cat "$out/run.err" >&2; }
changed=$(grep -cE 'is not in the record|was not printed' "$out/run.err")
[ "$changed" -eq 0 ] || { result+="; FAILED: $changed rows differ from the record"; failed=1; }
part "experiments: \`stiction-bench --quick\`" "$result" $((SECONDS - start))

start=$SECONDS
if cargo fuzz --version >/dev/null 2>&1 && cargo +nightly --version >/dev/null 2>&1; then
  crashed=""
  for target in $(cd fuzz && cargo fuzz list); do
    (cd fuzz && cargo +nightly fuzz run "$target" -- -max_total_time=60 -rss_limit_mb=2048) >"$out/fuzz" 2>&1 \
      || { crashed+=" $target"; tail -20 "$out/fuzz" >&2; }
  done
  result=${crashed:+FAILED:$crashed}
  [ -z "$crashed" ] || failed=1
  part "fuzzing, a minute per reader" "${result:-no crash}" $((SECONDS - start))
else
  part "fuzzing, a minute per reader" "not run: needs cargo-fuzz and a nightly toolchain" 0
fi

start=$SECONDS
if result=$(scripts/wasm.sh 2>"$out/wasm"); then
  result=$(tail -1 <<<"$result")
else
  result="FAILED"
  failed=1
  cat "$out/wasm" >&2
fi
part "the core for WebAssembly: \`scripts/wasm.sh\`" "$result" $((SECONDS - start))

{
  echo "# The last long run"
  echo
  echo "For whoever wants to know when the tests that are too long for every change last ran, and how they ended. Written by"
  echo "\`make nightly\`."
  echo
  echo "$(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD), $(nproc) cores$(sed -n 's/^model name[^:]*: */, /p' /proc/cpuinfo 2>/dev/null | head -1)."
  echo
  echo "| part | result | time |"
  echo "|---|---|---|"
  printf '%s' "$rows"
} >docs/nightly.md
cat docs/nightly.md
exit $failed
