#!/usr/bin/env python3
"""Prints which module of the core uses which, with the number of files, and fails on an edge that is not allowed.

Comments, strings and test modules do not count. `STANDING` are edges that are to go: one that has gone must leave the list.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "crates/stiction/src"

LEAVES = ["clock", "error", "linalg", "mutant"]
MODEL = LEAVES + ["coords", "mesh", "elastic"]
CONTACT = LEAVES + ["coords", "contact"]
STEPS = MODEL + ["model", "kinematics", "integrate", "dynamics", "contact", "collide", "solvers", "steppers"]
ALLOWED = {
    "clock": [],
    "error": [],
    "linalg": LEAVES,
    "mutant": [],
    "coords": LEAVES,
    "mesh": LEAVES,
    "elastic": LEAVES,
    "model": MODEL,
    "scene": MODEL + ["model", "kinematics"],
    "kinematics": MODEL + ["model"],
    "integrate": MODEL + ["model", "kinematics"],
    "dynamics": MODEL + ["model", "kinematics", "integrate"],
    "contact": LEAVES + ["coords"],
    "collide": MODEL + ["model", "kinematics", "contact"],
    "solvers": CONTACT,
    "steppers": STEPS,
    "papers": STEPS,
    "methods": STEPS + ["papers"],
    "sim": STEPS + ["methods"],
    "diff": [m for m in STEPS if m != "solvers"] + ["methods", "sim"],
}
PAPERS = ["apgd", "cond", "cr", "nsn"]
STANDING = set()
# Modules of the core that files, commands and other crates on top of them leave alone.
OUTSIDE = {"stiction-io": ["solvers", "papers", "steppers", "collide", "dynamics", "kinematics"]}
OUTSIDE_STANDING = {("stiction-io", "steppers")}  # settings of steps


def code(path):
    """The text without comments, strings and test modules."""
    text = path.read_text()
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.split(r"^#\[cfg\(test\)\]\s*\n\s*mod \w+ \{", text, flags=re.M)[0]


def used(text, root):
    """First modules of the paths that begin with `root`, those in groups as well, with the second where it follows."""
    out = set(re.findall(root + r"::(\w+)(?:::(\w+))?", text))
    for group in re.findall(root + r"::\{([^;]*)\}", text):
        depth = 0
        for part in re.findall(r"[{}]|\w+(?:::\w+)?", group):
            depth += {"{": 1, "}": -1}.get(part, 0)
            if depth == 0 and part not in "{}":
                out.add(tuple((part.split("::") + [""])[:2]))
    return out


def main():
    files, problems = {}, []
    for path in sorted(CORE.rglob("*.rs")):
        parts = path.relative_to(CORE).with_suffix("").parts
        here = parts[0]
        if here == "lib" or "samples" in parts[-1] or parts[-1] == "tests":
            continue
        text = code(path)
        for there, inner in used(text, r"\bcrate"):
            if here == there == "papers":
                mine = parts[1]
                if inner in PAPERS and inner != mine and mine != "mod":
                    problems.append(f"{path.relative_to(ROOT)}: papers::{mine} uses papers::{inner}")
            elif there in ALLOWED and there != here:
                files.setdefault((here, there), []).append(path.relative_to(ROOT))
    names = [m for m in ALLOWED if (CORE / m).exists() or (CORE / f"{m}.rs").exists()]
    width = max(map(len, names))
    print(" " * width, *(n[:6].rjust(6) for n in names))
    for here in names:
        counts = [len(files.get((here, there), [])) for there in names]
        print(here.ljust(width), *(str(c or ".").rjust(6) for c in counts))
    for (here, there), where in files.items():
        if there not in ALLOWED[here] and (here, there) not in STANDING:
            problems += [f"{p}: {here} must not use {there}" for p in where]
    problems += [f"{a} -> {b} has gone: take it from STANDING" for a, b in sorted(STANDING - set(files))]
    gone = set(OUTSIDE_STANDING)
    for crate, forbidden in OUTSIDE.items():
        for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
            for there, _ in used(code(path), r"\bstiction"):
                if there in forbidden:
                    gone.discard((crate, there))
                    if (crate, there) not in OUTSIDE_STANDING:
                        problems.append(f"{path.relative_to(ROOT)}: {crate} must not use {there}")
    problems += [f"{a} -> {b} has gone: take it from OUTSIDE_STANDING" for a, b in sorted(gone)]
    for p in problems:
        print(p, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
