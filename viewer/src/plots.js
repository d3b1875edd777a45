// Curves of the columns under the view, linked to the time slider.
import { number } from "./world.js";

const INKS = { light: ["#2f6fde", "#d9480f", "#2b8a3e", "#862e9c", "#c2255c", "#0b7285", "#5f3dc4"], dark: ["#7aa7ff", "#ffa94d", "#69db7c", "#da77f2", "#f783ac", "#66d9e8", "#b197fc"] };

const TITLE = 180; // width of the menu that names a plot [px]

/** What can be plotted: groups of columns. */
export function groups(columns) {
  const list = [
    { name: "Energy [J]", curves: ["kinetic", "potential", "elastic"], total: true },
    { name: "Residuals", curves: ["natural", "momentum", "penetration"], log: true },
    { name: "Contact forces [N]", curves: ["normal_force", "friction_force"] },
    { name: "Contacts", curves: ["contacts", "iterations"] },
    { name: "Time per step [s]", curves: ["wall"] },
  ];
  const sensors = new Map();
  for (const c of columns.keys()) {
    const dot = c.lastIndexOf(".");
    if (dot < 0) continue;
    const name = c.slice(0, dot);
    if (!sensors.has(name)) sensors.set(name, []);
    if (!/^q[wxyz]$/.test(c.slice(dot + 1))) sensors.get(name).push(c);
  }
  for (const [name, curves] of sensors) list.push({ name, curves, sensor: true });
  return list.filter((g) => g.curves.every((c) => columns.has(c)));
}

/** About three powers of ten that enclose a range. */
function decades(low, high) {
  const from = Math.max(Math.floor(Math.log10(low)), -18), to = Math.max(Math.ceil(Math.log10(high)), from + 1), step = Math.ceil((to - from) / 3);
  return Array.from({ length: Math.ceil((to - from) / step) + 1 }, (_, i) => from + i * step);
}

/** Two to four round numbers within a range, or around it where it is narrow. */
function rounds(low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!(high - low > 1e-9 * size)) [low, high] = size ? [low - 0.1 * size, high + 0.1 * size] : [0, 1];
  const rough = (high - low) / 3, unit = 10 ** Math.floor(Math.log10(rough)), step = unit * [1, 2, 5, 10].find((k) => k * unit >= rough);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}

export class Plot {
  constructor(views, choices, choice, seek) {
    this.views = views;
    this.choices = choices;
    this.figure = document.createElement("figure");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.menu = document.createElement("select");
    this.menu.setAttribute("aria-label", "What this plot shows");
    choices.forEach((g, i) => this.menu.add(new Option(g.name, i)));
    this.menu.selectedIndex = choice;
    this.menu.onchange = () => { this.curves = null; this.draw(this.t, this.theme); };
    this.figure.append(this.canvas, this.menu);
    const go = (e) => {
      if (e.type === "pointermove" && !e.buttons) return;
      const box = this.canvas.getBoundingClientRect();
      seek(((e.clientX - box.left - 46) / Math.max(box.width - 58, 1)) * this.end);
    };
    this.canvas.onpointerdown = (e) => { this.canvas.setPointerCapture(e.pointerId); go(e); };
    this.canvas.onpointermove = go;
  }

  get end() { return Math.max(...this.views.map((v) => v.recording.end), 1e-9); }

  read() {
    const g = this.choices[this.menu.value];
    this.canvas.setAttribute("aria-label", `${g.name} over time`);
    this.curves = this.views.flatMap((v, side) => {
      const { columns, times } = v.recording;
      const list = g.curves.map((c) => ({ name: c.slice(c.lastIndexOf(".") + 1).replace("_force", ""), values: columns.get(c), times, side }));
      if (g.total) list.push({ name: "total", values: times.map((_, i) => list.reduce((s, c) => s + c.values[i], 0)), times, side });
      return list;
    });
    this.log = g.log;
    let low = Infinity, high = -Infinity;
    for (const c of this.curves) for (const x of c.values) {
      if (this.log ? x > 0 : Number.isFinite(x)) { low = Math.min(low, x); high = Math.max(high, x); }
    }
    if (!(low <= high)) [low, high] = this.log ? [1e-12, 1] : [0, 1];
    this.ticks = this.log ? decades(low, high) : rounds(low, high);
    this.range = [this.log ? this.ticks[0] : Math.min(low, this.ticks[0]), Math.max(this.log ? -Infinity : high, this.ticks.at(-1))];
  }

  /** The name of what is shown. */
  get title() { return this.choices[this.menu.value].name; }

  draw(t, theme, fresh) {
    this.t = t;
    this.theme = theme;
    if (!this.curves || fresh) this.read();
    const ratio = devicePixelRatio, w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (!w) return;
    if (this.canvas.width !== Math.round(w * ratio)) { this.canvas.width = Math.round(w * ratio); this.canvas.height = Math.round(h * ratio); }
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    this.paint(g, w, h);
  }

  /** Draws the curves into a rectangle of `w` by `h` at the origin of a drawing context. */
  paint(g, w, h) {
    const { t, theme } = this, [low, high] = this.range, end = this.end;
    const style = getComputedStyle(document.documentElement), soft = style.getPropertyValue("--soft"), line = style.getPropertyValue("--line");
    g.font = "11px system-ui, sans-serif";
    // Names of curves stand beside the title, or below it where they do not fit.
    const names = this.curves.filter((c) => !c.side).reduce((n, c) => n + g.measureText(c.name).width + 10, 0);
    const row = names + TITLE < w ? 17 : 32;
    const X = (s) => 46 + (s / end) * (w - 58), Y = (v) => h - 8 - ((v - low) / (high - low)) * (h - 25 - row);
    g.textAlign = "right";
    g.lineWidth = 1;
    for (const v of this.ticks) {
      g.strokeStyle = line;
      g.beginPath(); g.moveTo(46, Y(v)); g.lineTo(w - 12, Y(v)); g.stroke();
      g.fillStyle = soft;
      g.fillText(this.log ? `1e${v}` : number(v), 42, Y(v) + 4);
    }
    const inks = INKS[theme];
    let tag = w - 12;
    this.curves.forEach((c, k) => {
      const name = k % (this.curves.length / this.views.length);
      g.strokeStyle = inks[name % inks.length];
      g.lineWidth = 1.5;
      g.setLineDash(c.side ? [5, 3] : []);
      g.beginPath();
      let pen = false;
      const skip = Math.max(1, Math.floor(c.values.length / (2 * w)));
      for (let i = 0; i < c.values.length; i += skip) {
        const v = this.log ? (c.values[i] > 0 ? Math.max(Math.log10(c.values[i]), low) : NaN) : c.values[i];
        if (!Number.isFinite(v)) { pen = false; continue; }
        if (pen) g.lineTo(X(c.times[i]), Y(v)); else g.moveTo(X(c.times[i]), Y(v));
        pen = true;
      }
      g.stroke();
      g.setLineDash([]);
      if (!c.side) {
        g.fillStyle = inks[name % inks.length];
        g.fillText(c.name, tag, row);
        tag -= g.measureText(c.name).width + 10;
      }
    });
    g.strokeStyle = style.getPropertyValue("--accent");
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(X(t), row + 7); g.lineTo(X(t), h - 6); g.stroke();
  }
}
