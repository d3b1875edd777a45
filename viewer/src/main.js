// The page: views, time, controls. Plays the recordings that stand in it, a file that is dropped on it, or a live run.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { FIELDS, gradient } from "./fields.js";
import { film } from "./film.js";
import { Live } from "./live.js";
import { Plot, groups } from "./plots.js";
import { BadRecording, Recording, fromBase64, seal } from "./recording.js";
import { World, number } from "./world.js";

const $ = (id) => document.getElementById(id);
const wish = new URLSearchParams(location.hash.slice(1));
const CAMERAS = [["corner", [0.75, -1.5, 0.62]], ["front", [0, -1, 0.06]], ["side", [1, 0, 0.06]], ["top", [0, -0.02, 1]], ["low", [-0.9, -1.3, 0.18]]];
/** Parts that the menu for selecting lists at most. */
const LISTED = 300;
const SWITCHES = {
  contacts: "Contact points (C)", forces: "Force arrows (F)", cones: "Friction cones", joints: "Joint frames (J)", trails: "Trails of sensors",
  wireframe: "Wireframe (W)", glass: "Transparent (T)", shadows: "Shadows (S)", grid: "Grid (G)",
};

const canvas = $("view");
const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = THREE.PCFShadowMap;
renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
const camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
camera.up.set(0, 0, 1);
const controls = new OrbitControls(camera, canvas);
controls.enableDamping = false;
controls.zoomToCursor = true;
controls.addEventListener("change", () => { dirty = true; });

let views = [], plots = [], dirty = true, live = null;
const clock = { t: 0, playing: false, speed: 1, last: 0 };
const costs = { frames: 0, milliseconds: 0 };
let theme = wish.get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
let cameraAt = 0;

const el = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

function say(text, soft = false) {
  $("message").hidden = !text;
  $("message").className = soft ? "soft" : "";
  $("message").textContent = text ?? "";
}

/** Words for those who listen. */
function tell(text) { $("told").textContent = text; }

/** Shows recordings, one beside the other. */
async function open(recordings) {
  views = recordings.map((r) => new World(r));
  for (const v of views) await v.prepare();
  for (const key of Object.keys(SWITCHES)) if (wish.has(key)) views.forEach((v) => { v.show[key] = wish.get(key) === "1"; });
  views.forEach((v) => { v.look(theme); v.apply(); });
  if (!open.framed) look(Number(wish.get("camera") ?? 0));
  open.framed = true;
  const h = views[0].recording.header, about = h.extra ?? {};
  document.title = `${about.title ?? h.name} – Stiction`;
  $("title").querySelector("h1").textContent = about.title ?? h.name;
  const solver = (r) => [r.header.extra?.solver, r.header.extra?.dt && `dt ${number(r.header.extra.dt)} s`].filter(Boolean).join(", ");
  $("title").querySelector("p").textContent = views.length > 1 ? views.map((v) => solver(v.recording)).join("  |  ") : solver(views[0].recording);
  $("tags").replaceChildren(...(views.length > 1 ? views.map((v, i) => {
    const tag = el("span", { textContent: `${v.recording.header.extra?.scene ?? v.recording.header.name}: ${v.recording.header.extra?.solver ?? ""}` });
    tag.style.left = `calc(${(100 * i) / views.length}% + 16px)`;
    return tag;
  }) : []));
  makePlots();
  makePanel();
  // It would hide half of the second view.
  if (views.length > 1) { $("panel").hidden = true; panelState(); }
  clock.t = Math.min(Number(wish.get("t") ?? 0), end());
  await colourBy(wish.get("by") ?? views[0].by);
  const bad = views.map((v) => v.recording.ending).find(Boolean);
  say(bad && !live ? `The recording is ${bad}; its ${views[0].recording.length} whole frames are shown.` : "", true);
  await show();
}

const end = () => Math.max(...views.map((v) => v.recording.end), 0);

function makePlots() {
  const choices = groups(views[0].recording.columns);
  // Energy, residuals, contact forces, and the first sensor or how many contacts there are.
  const sensor = choices.findIndex((g) => g.sensor), at = (name) => choices.findIndex((g) => g.name.startsWith(name));
  const wanted = [at("Energy"), at("Residuals"), sensor < 0 ? at("Contacts") : sensor, at("Contact forces")].filter((i) => i >= 0);
  plots = wanted.map((c) => new Plot(views, choices, c, (t) => { pause(); seek(t); }));
  $("plots").replaceChildren(...plots.map((p) => p.figure));
}

/** Turns the camera to one of its places, far enough to see everything. */
function look(i, w = canvas.clientWidth, h = canvas.clientHeight) {
  cameraAt = (i + CAMERAS.length) % CAMERAS.length;
  if ($("camera")) $("camera").selectedIndex = cameraAt;
  const radius = Math.max(...views.map((v) => v.radius)), v = views[0];
  const aspect = w / views.length / Math.max(h, 1);
  const half = (camera.fov * Math.PI) / 360, narrow = Math.atan(Math.tan(half) * Math.min(aspect, 1));
  const far = (radius / Math.sin(narrow)) * Number(wish.get("distance") ?? 0.86);
  controls.target.copy(v.centre);
  camera.position.copy(v.centre).add(new THREE.Vector3(...CAMERAS[cameraAt][1]).normalize().multiplyScalar(far));
  camera.near = far / 200;
  camera.far = far * 60;
  controls.update();
  dirty = true;
}

async function colourBy(by) {
  for (const v of views) v.by = by in FIELDS ? by : "body";
  if ($("by")) $("by").value = views[0].by;
  if (views[0].by !== "body") {
    // One scale for all views and all times.
    let scale = 0;
    for (const v of views) {
      const n = v.recording.length, kept = [v.frame, v.before];
      for (const i of new Set([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1].map((f) => Math.round(f * (n - 1))))) {
        [v.frame, v.before] = await framesAt(v.recording, i);
        // A few vertices beside an edge must not take the whole scale.
        const all = Float64Array.from(v.values()).sort();
        scale = Math.max(scale, all[Math.ceil(0.995 * (all.length - 1))] ?? 0);
      }
      [v.frame, v.before] = kept;
    }
    for (const v of views) v.scale = scale || 1;
    $("legend").replaceChildren(el("i"), el("div", {}, el("span", { textContent: "0" }), el("b", { textContent: FIELDS[views[0].by] }), el("span", { textContent: `≥ ${number(views[0].scale)}` })));
    $("legend").firstChild.style.background = gradient;
  }
  $("legend").hidden = views[0].by === "body";
  for (const v of views) if (v.frame) v.paint();
  dirty = true;
}

/** A frame and the one before it, which gives speeds; at the start the one after. */
async function framesAt(recording, i) {
  const other = i > 0 ? i - 1 : 1;
  return [await recording.load(i), other < recording.length ? await recording.load(other) : null];
}

/** Waits for the frames of the present time and shows them. */
async function show() {
  for (const v of views) v.pose(...(await framesAt(v.recording, v.recording.indexAt(clock.t))));
  dirty = true;
  refresh();
}

/** Moves the views to the present time, as far as frames are decoded. */
function update() {
  for (const v of views) {
    const i = v.recording.indexAt(clock.t);
    if (v.frame?.index === i && v.frame.t === v.recording.times[i]) continue;
    const frame = v.recording.get(i);
    if (frame) { v.pose(frame, v.recording.get(i > 0 ? i - 1 : 1)); dirty = true; }
  }
}

function refresh(fresh) {
  $("time").max = end();
  $("time").value = clock.t;
  $("time").setAttribute("aria-valuetext", `${clock.t.toFixed(2)} seconds`);
  $("now").textContent = `${clock.t.toFixed(2)} / ${end().toFixed(2)} s`;
  for (const p of plots) p.draw(clock.t, theme, fresh);
  const v = views.find((x) => x.chosen !== null && x.frame);
  $("chosen").hidden = !v;
  if ($("pick")) $("pick").value = v && v === views[0] && v.chosen < LISTED ? v.chosen : "";
  if (v) {
    const rows = v.describe(v.chosen).map(([a, b]) => el("tr", {}, el("td", { textContent: a }), el("td", { textContent: b })));
    $("chosen").replaceChildren(el("h2", { textContent: v.parts[v.chosen].name }), el("table", {}, ...rows));
  }
}

function render(w = canvas.clientWidth, h = canvas.clientHeight) {
  if (!w || !h) return;
  const size = renderer.getSize(new THREE.Vector2());
  if (size.x !== w || size.y !== h) renderer.setSize(w, h, false);
  renderer.setScissorTest(true);
  views.forEach((v, i) => {
    const x = Math.round((w * i) / views.length), wide = Math.round((w * (i + 1)) / views.length) - x - (i + 1 < views.length ? 2 : 0);
    camera.aspect = wide / h;
    camera.updateProjectionMatrix();
    renderer.setViewport(x, 0, wide, h);
    renderer.setScissor(x, 0, wide, h);
    renderer.render(v.scene, camera);
  });
}

function tick(now) {
  if (filming) return;
  requestAnimationFrame(tick);
  const started = performance.now();
  if (clock.playing && !live && views.length) {
    clock.t += Math.min((now - clock.last) / 1000, 0.25) * clock.speed;
    if (clock.t >= end()) clock.t = wish.has("once") ? end() : clock.t % Math.max(end(), 1e-9);
    update();
    refresh();
  }
  clock.last = now;
  if (dirty && views.length) {
    dirty = false;
    render();
    costs.frames++;
    costs.milliseconds += performance.now() - started;
  }
}

function play() { clock.playing = true; live?.send("play"); buttons(); }
function pause() { clock.playing = false; live?.send("pause"); buttons(); }
function toggle() {
  if (clock.playing) pause();
  else { if (clock.t >= end() && !live) clock.t = 0; play(); }
  tell(clock.playing ? "Playing" : `Paused at ${clock.t.toFixed(2)} seconds`);
}
function seek(t) {
  clock.t = Math.min(Math.max(t, 0), end());
  show();
}
function step(n) {
  pause();
  const r = views[0].recording, i = r.indexAt(clock.t) + n;
  if (live && i >= r.length) live.send("step");
  else seek(r.times[Math.min(Math.max(i, 0), r.length - 1)]);
}
function reset() {
  if (live) live.send("reset");
  pause();
  seek(0);
}

function buttons() {
  $("play").textContent = clock.playing ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", clock.playing ? "Pause" : "Play");
}

function setTheme(t) {
  theme = t;
  document.documentElement.classList.toggle("dark", t === "dark");
  views.forEach((v) => v.look(t));
  refresh.call(null);
  dirty = true;
}

function flip(key) {
  const on = !views[0].show[key];
  for (const v of views) { v.show[key] = on; v.apply(); if (v.frame) v.poseGlyphs(); }
  const box = document.querySelector(`#panel input[name="${key}"]`);
  if (box) box.checked = on;
  dirty = true;
}

function makePanel() {
  const by = el("select", { id: "by", onchange: () => colourBy(by.value) });
  for (const [key, name] of Object.entries(FIELDS)) by.add(new Option(name, key));
  const cam = el("select", { id: "camera", onchange: () => look(cam.selectedIndex) });
  CAMERAS.forEach(([name]) => cam.add(new Option(name)));
  cam.selectedIndex = cameraAt;
  const pick = el("select", { id: "pick", onchange: () => select(views[0], pick.value === "" ? null : Number(pick.value)) });
  pick.add(new Option("nothing", ""));
  views[0].parts.slice(0, LISTED).forEach((p, i) => pick.add(new Option(p.name, i)));
  const rows = [
    el("h2", { textContent: "View" }),
    el("label", { className: "wide" }, "Colour", by),
    el("label", { className: "wide" }, "Camera", cam),
    el("label", { className: "wide" }, "Selected", pick),
    ...Object.entries(SWITCHES).map(([key, text]) => el("label", {}, el("input", { type: "checkbox", name: key, checked: views[0].show[key], onchange: () => flip(key) }), text)),
  ];
  $("panel").replaceChildren(...rows);
  live?.panel($("panel"));
}

function makeBar() {
  const button = (id, text, label, onclick) => {
    const b = el("button", { id, textContent: text, onclick, title: label });
    b.setAttribute("aria-label", label);
    return b;
  };
  const slider = el("input", { id: "time", type: "range", min: 0, max: 1, step: "any", value: 0 });
  slider.setAttribute("aria-label", "Time");
  slider.oninput = () => { pause(); seek(Number(slider.value)); };
  const speed = el("select", { id: "speed", title: "Speed" });
  speed.setAttribute("aria-label", "Speed");
  for (const s of [0.1, 0.25, 0.5, 1, 2, 4]) speed.add(new Option(`${s}×`, s, s === 1, s === 1));
  speed.onchange = () => { clock.speed = Number(speed.value); live?.send({ speed: clock.speed }); };
  $("bar").append(
    button("play", "▶", "Play", toggle), button("back", "‹", "Step back", () => step(-1)), button("forth", "›", "Step forward", () => step(1)),
    slider, el("output", { id: "now", value: "0.00 s" }), speed,
    button("options", "☰", "What is shown", () => { $("panel").hidden = !$("panel").hidden; panelState(); }),
    button("theme", "◐", "Light or dark", () => setTheme(theme === "dark" ? "light" : "dark")),
    button("ask", "?", "Help (F1)", help),
  );
}

function panelState() { $("options").setAttribute("aria-expanded", String(!$("panel").hidden)); }

function help() {
  const keys = [["Space", "play or pause"], ["← →", "step back or forward; Shift: ten frames"], ["Backspace", "back to the start"], ["[ ]", "previous or next camera"],
    ["C F J", "contact points, force arrows, joint frames"], ["W T S G", "wireframe, transparent, shadows, grid"], ["Escape", "select nothing"], ["F1", "this help"]];
  const mouse = [["Drag", "turn (one finger)"], ["Right drag", "pan (two fingers)"], ["Wheel", "zoom (pinch)"], ["Double-click", "select a body and read its numbers"],
    ...(live ? [["Ctrl + drag", "pull a body with a spring"]] : [["Drop a file", "play another recording; two files: side by side"]])];
  const table = (rows) => el("table", {}, ...rows.map(([k, t]) => el("tr", {}, el("td", {}, el("kbd", { textContent: k })), el("td", { textContent: t }))));
  $("help").replaceChildren(el("h2", { textContent: "Keys" }), table(keys), el("h2", { textContent: "Mouse and fingers" }), table(mouse));
  $("help").hidden = !$("help").hidden;
  if (!$("help").hidden) $("help").focus();
}

addEventListener("keydown", (e) => {
  if (!views.length || e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = /^(select|input)$/i.test(e.target.tagName) && e.target.type !== "checkbox";
  if (typing && e.key !== "F1" && e.key !== "Escape") return;
  const keys = {
    " ": toggle, ArrowRight: () => step(e.shiftKey ? 10 : 1), ArrowLeft: () => step(e.shiftKey ? -10 : -1), Backspace: reset, "[": () => look(cameraAt - 1), "]": () => look(cameraAt + 1),
    F1: help, c: () => flip("contacts"), f: () => flip("forces"), j: () => flip("joints"), w: () => flip("wireframe"), t: () => flip("glass"), s: () => flip("shadows"), g: () => flip("grid"),
    Escape: () => { $("help").hidden = true; select(null); },
  };
  const action = keys[e.key] ?? keys[e.key.toLowerCase()];
  if (!action || (e.key === " " && e.target.tagName === "BUTTON")) return;
  e.preventDefault();
  action();
});

/** The ray of a pointer, and the view that it is in. */
function rayAt(e) {
  const box = canvas.getBoundingClientRect(), wide = box.width / views.length;
  const i = Math.min(Math.floor((e.clientX - box.left) / wide), views.length - 1);
  const ray = new THREE.Raycaster();
  camera.aspect = wide / box.height;
  camera.updateProjectionMatrix();
  ray.setFromCamera(new THREE.Vector2(((e.clientX - box.left - i * wide) / wide) * 2 - 1, 1 - ((e.clientY - box.top) / box.height) * 2), camera);
  return { ray, view: views[i] };
}

function select(view, part = null) {
  for (const v of views) { v.chosen = v === view ? part : null; if (v.frame) v.paint(); }
  dirty = true;
  refresh();
  if (part === null) return tell("Nothing is selected");
  tell(`Selected ${view.parts[part].name}: ${view.describe(part).map((r) => r.join(" ")).join(", ")}`);
}

function selectAt(e) {
  if (!views.length) return;
  const { ray, view } = rayAt(e), hit = view.pick(ray);
  select(view, hit ? hit.part : null);
}
canvas.addEventListener("dblclick", selectAt);

// Not every phone makes a double-click of two taps.
let tap = { timeStamp: 0, clientX: 0, clientY: 0 };
canvas.addEventListener("pointerup", (e) => {
  if (e.pointerType !== "touch") return;
  const near = Math.hypot(e.clientX - tap.clientX, e.clientY - tap.clientY) < 24;
  if (near && e.timeStamp - tap.timeStamp < 350) selectAt(e);
  tap = e;
});

// Ctrl and drag pulls what is under the pointer, in the plane through it that faces the camera.
let pull = null;
canvas.addEventListener("pointerdown", (e) => {
  if (!live || !e.ctrlKey || !views.length) return;
  const { ray, view } = rayAt(e), hit = view.pick(ray);
  if (!hit) return;
  e.stopImmediatePropagation();
  canvas.setPointerCapture(e.pointerId);
  pull = { plane: new THREE.Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), hit.point) };
  live.send({ grab: { part: hit.part, point: hit.point.toArray() } });
}, { capture: true });
canvas.addEventListener("pointermove", (e) => {
  const to = pull && rayAt(e).ray.ray.intersectPlane(pull.plane, new THREE.Vector3());
  if (to) live.send({ pull: to.toArray() });
});
canvas.addEventListener("pointerup", () => { if (pull) live.send("release"); pull = null; });

addEventListener("dragover", (e) => e.preventDefault());
addEventListener("drop", async (e) => {
  e.preventDefault();
  const files = [...e.dataTransfer.files];
  if (files.length) load(await Promise.all(files.map(async (f) => new Uint8Array(await f.arrayBuffer()))));
});

/** Opens recordings from their bytes; says what is wrong with them if something is. */
async function load(list) {
  try {
    const recordings = list.map((b) => new Recording(b));
    if (recordings.some((r) => !r.length)) throw new BadRecording("The recording holds no whole frame. Record the run again.");
    await open(recordings);
    document.body.dataset.state = "ready";
  } catch (e) {
    document.body.dataset.state = "bad";
    say(e instanceof BadRecording ? e.message : `The recording cannot be shown: ${e.message}`);
  }
}

makeBar();
document.documentElement.classList.toggle("dark", theme === "dark");
document.body.classList.toggle("bare", wish.get("ui") === "0");
if (innerWidth > 700) $("panel").hidden = false;
panelState();
new ResizeObserver(() => { dirty = true; if (views.length) refresh(); }).observe(canvas);
const stored = [...document.querySelectorAll('script[type="application/x-stiction"]')];
const filming = document.querySelector('script[type="application/x-stiction-film"]');
if (stored.length) {
  const list = stored.map((s) => fromBase64(s.textContent));
  stored.forEach((s) => s.remove());
  load(list).then(() => {
    if (filming) film(JSON.parse(filming.textContent), { renderer, canvas, clock, show, render, look, end, plots: () => plots, views: () => views, theme: () => theme });
    else if (wish.has("play")) play();
  });
} else if (document.querySelector('script[type="application/x-stiction-live"]')) {
  live = new Live({ open, say, clock, buttons, refresh, update, views: () => views });
} else {
  say("Drop a recording (recording.stic) here to play it; two for a comparison.");
}
requestAnimationFrame(tick);
// For tests and for the console.
window.stiction = { Recording, BadRecording, seal, render, seek: async (t) => { pause(); clock.t = t; await show(); render(); }, play, pause, clock, costs, views: () => views, colourBy, camera, live: () => live };
