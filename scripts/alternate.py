#!/usr/bin/env python3
"""Compares the speed of two builds of `stiction`, run in turns: what slows the machine down slows both.

    scripts/alternate.py [--pairs N] BEFORE AFTER [SCENE[:STEPS] ...]

Prints for every scene the ratio after / before of the CPU time of `testspeed`: median and quartiles of all pairs.
"""

import argparse
import json
import statistics
import subprocess

SCENES = ["box-on-plane:4000", "sliding-box:4000", "heavy-stack:3000", "arch:600", "wall:300", "pile:60", "soft-block-grip:60"]


def seconds(binary, scene, steps):
    command = [binary, "testspeed", scene, "--steps", steps, "--threads", "1", "--json"]
    out = subprocess.run(command, capture_output=True, text=True)
    if not out.stdout:
        raise SystemExit(f"{' '.join(command)}: {out.stderr.strip()}")
    report = json.loads(out.stdout)
    return report["cpu_seconds"] or report["wall_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("scenes", nargs="*", default=SCENES)
    args = parser.parse_args()
    print(f"{'scene':24} {'median':>7} {'quartiles':>15}   of {args.pairs} pairs, after / before")
    for entry in args.scenes:
        scene, _, steps = entry.partition(":")
        steps = steps or "500"
        ratios = []
        for pair in range(args.pairs):
            order = [args.before, args.after] if pair % 2 == 0 else [args.after, args.before]
            took = {binary: seconds(binary, scene, steps) for binary in order}
            ratios.append(took[args.after] / took[args.before])
        low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
        print(f"{scene:24} {median:7.3f} {low:7.3f}–{high:.3f}", flush=True)


if __name__ == "__main__":
    main()
