#!/usr/bin/env bash
# Puts small errors into the core, one at a time (crates/stiction/src/mutant.rs), and asks for a test that fails.
# A survivor is a missing test. Prints a table, and ends with 1 where one survives.
set -uo pipefail
cd "$(dirname "$0")/.."

# error                  tests that are to notice it, by a part of their path
mutants='
friction-sign            sliding_box::
no-shift                 sliding_box::
other-mu                 small_errors::friction_is_that_of_both_sides
no-gyroscopic            free_top::
half-arm                 rolling::
stiffer                  damping::
yardstick-pull           yardstick::
yardstick-penetration    yardstick::
yardstick-along          yardstick::
yardstick-rotation       yardstick::
yardstick-index          yardstick::
half-joint-damping       small_errors::dampers
half-cloth-damping       damping::every_step_takes
half-rod-damping         damping::every_step_takes
half-mass-damping        small_errors::mass_damping
hinge-friction-lever     small_errors::dry_friction
slide-rate               small_errors::slides
cylinder-face            small_errors::balls_leave_a_cylinder
keyframe-rate            small_errors::smooth
mass-split               small_errors::consistent
no-wake                  small_errors::forces_wake
'

run() { timeout 300 cargo test --workspace --quiet --test it -- "$@" 2>&1; }

# Without an error the same tests pass, or their failures would say nothing.
# shellcheck disable=SC2046
if ! out=$(run $(awk 'NF { print $2 }' <<<"$mutants" | sort -u)); then
  echo "$out"
  echo "these tests fail without any error, too: the table would say nothing" >&2
  exit 1
fi
survivors=0
total=0
while read -r mutant tests; do
  [ -n "$mutant" ] || continue
  total=$((total + 1))
  if out=$(STICTION_MUTANT=$mutant run "$tests"); then
    survivors=$((survivors + 1))
    printf '%-24s SURVIVES %s\n' "$mutant" "$tests"
  elif noticed=$(grep -oE '^---- [^ ]+' <<<"$out" | head -1 | cut -d' ' -f2) && [ -n "$noticed" ]; then
    printf '%-24s noticed by %s\n' "$mutant" "$noticed"
  else
    # A build that breaks or a test that hangs has noticed nothing.
    survivors=$((survivors + 1))
    printf '%-24s BREAKS OFF without a failed test: %s\n%s\n' "$mutant" "$tests" "$out"
  fi
done <<<"$mutants"
echo "$((total - survivors)) of $total small errors are noticed"
[ "$survivors" -eq 0 ]
