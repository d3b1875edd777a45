#!/usr/bin/env bash
# Puts small errors into the core, one at a time (crates/stiction/src/mutant.rs), and asks for a test that fails.
# A survivor is a missing test. Prints a table, and ends with 1 where one survives.
#
# mutants.sh           the test that is named below for each error: part of `make test`
# mutants.sh --judge   also what the independent judge makes of each (crates/stiction-io/tests/it/judge); takes half an hour
set -uo pipefail
cd "$(dirname "$0")/.."
judge=${1:-}

# error                  tests that are to notice it, by a part of their path
mutants='
glue                     frictionless::a_cube_that_is_pulled_leaves
friction-sign            sliding_box::
one-contact-sign         elliptic_cone::a_sliding_box
penalty-friction-sign    read_outs::a_pushed_cube
no-shift                 sliding_box::
other-mu                 small_errors::friction_is_that_of_both_sides
damping-lost             damping::every_step_takes
status-unchecked         verdict::
early-impact             impact_time::
no-flight                free_fall::
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

run() { timeout 600 cargo test --workspace --quiet --test it -- "$@" 2>&1; }

# look ERROR TESTS: the first test that fails with an error, `-` where all pass; ends with 1 where the run breaks off without a
# failed test, which has noticed nothing.
look() {
  local out noticed
  out=$(STICTION_MUTANT=$1 run "$2") && { echo -; return 0; }
  noticed=$(grep -oE '^---- [^ ]+' <<<"$out" | head -1 | cut -d' ' -f2)
  [ -n "$noticed" ] && { echo "$noticed"; return 0; }
  echo "$out" >&2
  return 1
}

# Without an error the same tests pass, or their failures would say nothing.
# shellcheck disable=SC2046
if ! out=$(run ${judge:+judge::} $(awk 'NF { print $2 }' <<<"$mutants" | sort -u)); then
  echo "$out"
  echo "these tests fail without any error, too: the table would say nothing" >&2
  exit 1
fi
survivors=0
total=0
judged=0
while read -r mutant tests; do
  [ -n "$mutant" ] || continue
  total=$((total + 1))
  if ! noticed=$(look "$mutant" "$tests"); then
    noticed="BREAKS OFF without a failed test: $tests"
    survivors=$((survivors + 1))
  elif [ "$noticed" = - ]; then
    noticed="SURVIVES $tests"
    survivors=$((survivors + 1))
  fi
  by_judge=""
  if [ -n "$judge" ]; then
    by_judge=$(look "$mutant" judge::) || by_judge="breaks off"
    [[ $by_judge == judge::* ]] && judged=$((judged + 1))
  fi
  printf '%-22s %-44s %s\n' "$mutant" "$noticed" "$by_judge"
done <<<"$mutants"
echo "$((total - survivors)) of $total small errors are noticed${judge:+, $judged of them by the judge}"
[ "$survivors" -eq 0 ]
