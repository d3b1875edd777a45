#!/usr/bin/env python3
"""Runs stiction and MuJoCo on identical bodies, in one run on one machine, and prints ratios.

    python3 scripts/compare_peers.py PEERS [S1 S3 S4 S5:n500 S7 ...]

PEERS is a folder with `scenes.py` (bodies as plain dictionaries), `common.py` (metrics from poses, the same for every
engine) and `run_mujoco.py`; needs numpy, scipy and mujoco. The release binary must be built. CPU time is that of all
threads of the process; penetration is the separating-axis depth of the poses at the end of the run.
"""
import json, os, subprocess, sys, tempfile
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.path.join(ROOT, "target", "release", "stiction")


def toml(scene, solver):
    """The scene as a stiction file: same masses, inertias, shapes, friction, gravity, time step."""
    num = lambda x: "[" + ", ".join(repr(float(v)) for v in x) + "]"
    out = [f'gravity = {num(scene["gravity"])}', "[time]", f'dt = {scene["dt"]!r}', f'duration = {scene["T"]!r}',
           "[solver]", f'name = "{solver}"', "[defaults]", f'friction = {scene["mu"]!r}']
    if scene.get("ground"):
        out += ["[[body]]", 'name = "ground"', 'motion = "fixed"', "shape = { plane = {} }"]
    for b in scene["bodies"]:
        out += ["[[body]]", f'name = "{b["name"]}"', f'position = {num(b["pos"])}', f'rotation = {{ quaternion = {num(b["quat"])} }}']
        if b["shape"] == "box":
            out.append(f'shape = {{ box = {{ size = {num(2 * np.array(b["half"]))} }} }}')
        else:
            out.append("shape = { hull = { points = [" + ", ".join(num(p) for p in b["verts"]) + "] } }")
        out += ['motion = "fixed"'] if b["fixed"] else [f'mass = {b["mass"]!r}', f'inertia = {num(b["inertia"])}']
    if "push" in scene:
        p = scene["push"]
        out += ["[[force]]", f'target = "{scene["bodies"][p["body"]]["name"]}"', f'force = {num(p["force"])}', f'until = {p["until"]!r}']
    for b in scene["bodies"]:
        if not b["fixed"]:
            out += ["[[sensor]]", f'name = "pose of {b["name"]}"', f'pose = "{b["name"]}"']
    return "\n".join(out) + "\n"


def read_sensors(folder, width):
    """Times and the readings of all sensors, `width` numbers each."""
    rows = np.genfromtxt(os.path.join(folder, "sensors.csv"), delimiter=",", skip_header=1)
    return rows[:, 1], rows[:, 2:].reshape(len(rows), -1, width)


def velocities(t, q):
    """Differences of poses: for implicit Euler the velocities themselves (ω to first order)."""
    v = np.zeros((len(t), q.shape[1], 6))
    dt = np.diff(t)[:, None, None]
    v[1:, :, :3] = np.diff(q[:, :, :3], axis=0) / dt
    a, b = q[:-1, :, 3:], q[1:, :, 3:]
    conj = a * np.array([1, -1, -1, -1])
    w = b[..., :1] * conj[..., 1:] + conj[..., :1] * b[..., 1:] + np.cross(b[..., 1:], conj[..., 1:])
    sign = np.where((b * a).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    v[1:, :, 3:] = 2 * sign * w / dt
    return v


def run_stiction(scene, solver):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "scene.toml")
        open(path, "w").write(toml(scene, solver))
        # Once without output for the time, once with it for the poses.
        timed = json.loads(subprocess.run([BINARY, "run", path, "--json", "--threads", "1"], capture_output=True, text=True).stdout)
        subprocess.run([BINARY, "run", path, "--json", "--threads", "1", "--out", os.path.join(d, "out")], capture_output=True)
        t, q = read_sensors(os.path.join(d, "out"), 7)
        free = [b for b in scene["bodies"] if not b["fixed"]]
        t = np.concatenate([[0.0], t])
        q = np.concatenate([[[list(b["pos"]) + list(b["quat"]) for b in free]], q])
        rows = np.genfromtxt(os.path.join(d, "out", "report.csv"), delimiter=",", names=True, dtype=None, encoding=None)
    tail = rows[rows["t"] > scene["T"] - scene.get("tail", 1.0)]
    stages = ["collide", "assemble", "solve", "measure", "advance"]
    tail_time = sum(float(np.sum(tail[s])) for s in stages)
    v = velocities(t, q)
    keep = slice(0, None, scene["sample_every"])
    return dict(t=t[keep].tolist(), q=q[keep].tolist(), v=v[keep].tolist(), steps=timed["steps"], wall=timed["wall_seconds"],
                cpu=timed.get("cpu_seconds", timed["wall_seconds"]), tail_steps=len(tail), tail_wall=tail_time, tail_cpu=tail_time,
                residuals=timed["residuals"], failed=timed["failed_steps"])


def soft_grip(common, run_mujoco, scenes):
    """S7: a soft block between two plates, the built-in scene `soft-block-grip` against MuJoCo's full flex.

    `slip_mm` and `max_pen_plate_mm` are the peers' measures over both faces, of which the plates leave the lowest
    2 cm free to bulge and sag; `held_*` are those of the nodes that the plates cover."""
    scene, rows = scenes.s7(), []
    peers_metrics = common.soft_metrics

    def soft_metrics(sc, t, x, plates, *rest):
        m = peers_metrics(sc, t, x, plates, *rest)
        rest_x, x, plates = np.array(sc["verts"]), np.array(x), np.array(plates)
        covered = (abs(abs(rest_x[:, 0]) - sc["size"][0] / 2) < 1e-9) & (rest_x[:, 2] > sc["plate_z"] - sc["plate_half"][2] + 1e-3)
        along = x[:, covered, 1:] - plates[:, None, 1:] * np.array([0, 1])
        closed = int(np.searchsorted(np.array(t), sc["t_close"] - 1e-9))
        slip = along[-1] - along[closed]
        m["held_slip_mm"] = 1e3 * float(np.linalg.norm(slip.mean(0)))
        m["held_slip_worst_node_mm"] = 1e3 * float(np.linalg.norm(slip, axis=1).max())
        m["held_pen_mm"] = 1e3 * float((abs(x[:, covered, 0]) - plates[:, None, 0]).max())
        return m

    common.soft_metrics = soft_metrics
    run_mujoco.save = lambda peer, version, config, sid, variant, m, note="": rows.append((f"mujoco {config}", m, ""))
    run_mujoco.s7("sq2.5mm_E1e+06", configs=(("discrete_CG", "full"),), dts=(0.01,))
    rest = np.array(scene["verts"])
    faces = np.where(abs(abs(rest[:, 0]) - scene["size"][0] / 2) < 1e-9)[0]
    text = open(os.path.join(ROOT, "crates", "stiction-io", "gallery", "soft-block-grip.toml")).read().split("[[sensor]]")[0]
    for i in faces:
        text += f'[[sensor]]\nname = "node {i}"\npoint = {{ soft = "block", at = {rest[i].tolist()} }}\n'
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "scene.toml")
        open(path, "w").write(text)
        timed = json.loads(subprocess.run([BINARY, "run", "soft-block-grip", "--json", "--threads", "1"], capture_output=True, text=True).stdout)
        subprocess.run([BINARY, "run", path, "--json", "--threads", "1", "--out", os.path.join(d, "out")], capture_output=True)
        t, seen = read_sensors(os.path.join(d, "out"), 3)
    t, x = np.concatenate([[0.0], t]), np.repeat(rest[None], len(t) + 1, axis=0)
    x[1:, faces] = seen
    plates = [scenes.plate_pose(scene, s) for s in t]
    m = soft_metrics(scene, t, x, plates, timed["wall_seconds"], timed["cpu_seconds"], timed["steps"])
    note = f'natural {timed["residuals"]["natural_max"]:.1e} m/s, {timed["failed_steps"]} steps not converged'
    rows.append(("stiction exact", m, note))
    return rows


def show(title, rows, shown):
    base = rows[0][1]["cpu_us_per_step"]
    print(title)
    for name, m, note in rows:
        figures = "  ".join(f"{k} {m[k]:.3g}" if isinstance(m[k], float) else f"{k} {m[k]}" for k in shown if k in m)
        print(f'  {name:18} {m["cpu_us_per_step"] / base:6.3f}x CPU  {figures}  {note}', flush=True)


def main(peers, which):
    sys.path.insert(0, peers)
    import common, run_mujoco, scenes
    if "S7" in which:
        shown = ["cpu_us_per_step", "held", "slip_mm", "creep_mm_per_s_last_s", "max_pen_plate_mm_end", "held_slip_mm", "held_slip_worst_node_mm", "held_pen_mm"]
        show("S7 soft block", soft_grip(common, run_mujoco, scenes), shown)
    shown = ["cpu_us_per_step", "tail_cpu_us_per_step", "creep_mps", "acc_rel_err", "slip_m", "err_stop_vs_symplectic", "max_pen_end",
             "max_pen_any", "drift_max_m", "max_pen_mm", "mean_pen_mm", "ke_end_J", "stands", "escaped"]
    wanted = {"S1": ["stiff"], "S2": ["stiff"], "S3": ["stiff"], "S4": ["stiff"], "S5": ["cg"]}
    for scene in scenes.all_rigid():
        if scene["id"] not in which and f'{scene["id"]}:{scene["variant"]}' not in which:
            continue
        rows = []
        for cfg in wanted[scene["id"]]:
            raw = run_mujoco.rigid(scene, cfg, cap=120)
            rows.append((f"mujoco {cfg}", common.metrics(scene, raw), ""))
        for solver in ("exact", "realtime") if scene["id"] != "S5" else ("realtime",):
            raw = run_stiction(scene, solver)
            note = f'natural {raw["residuals"]["natural_max"]:.1e} m/s, {raw["failed"]} steps not converged'
            rows.append((f"stiction {solver}", common.metrics(scene, raw), note))
        show(f'{scene["id"]} {scene["variant"]}', rows, shown)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or ["S1", "S2", "S3", "S4", "S5", "S7"])
