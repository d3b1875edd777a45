// A simulation that runs while one watches: frames come in, wishes go out, through a socket that mends itself.
import { Recording } from "./recording.js";

const KEEP = 3000, FORGET = 600;

export class Live {
  constructor(page) {
    this.page = page;
    this.recording = null;
    this.settings = null;
    this.queue = Promise.resolve();
    this.connections = 0;
    this.connect();
  }

  connect() {
    const at = new URL("socket", location.href);
    at.protocol = "ws:";
    at.hash = "";
    this.socket = new WebSocket(at);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => { this.connections++; };
    this.socket.onmessage = (e) => {
      // One after the other: a frame must not overtake the geometry that it belongs to.
      this.queue = this.queue.then(() => this.take(e.data)).catch((x) => this.page.say(x.message));
    };
    this.socket.onclose = () => {
      this.page.say("The connection is lost; trying again …", true);
      this.lost = true;
      setTimeout(() => this.connect(), 500);
    };
  }

  send(wish) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(wish));
  }

  async take(data) {
    const { page } = this;
    if (this.lost) { this.lost = false; page.say(""); }
    if (typeof data === "string") {
      const news = JSON.parse(data);
      if (news.error) page.say(news.error, true);
      if (news.settings) {
        this.settings = news.settings;
        page.clock.playing = news.settings.playing;
        page.buttons();
        if (page.views().length && !document.querySelector("#panel:focus-within")) this.panel(document.getElementById("panel"));
      }
      return;
    }
    const bytes = new Uint8Array(data);
    if (String.fromCharCode(...bytes.subarray(0, 4)) === "STIC") {
      this.recording = new Recording(bytes);
      this.recording.growing = true;
      this.fresh = true;
      return;
    }
    const r = this.recording, atEnd = page.clock.t >= r.end - 1e-9;
    if (!r.append(bytes.subarray(12))) throw new Error("The server sent a frame that cannot be read.");
    r.trim(KEEP, FORGET);
    if (this.fresh) {
      this.fresh = false;
      await page.open([r]);
      document.body.dataset.state = "ready";
    }
    if (atEnd || page.clock.playing) page.clock.t = r.end;
    await r.load(r.length - 1);
    page.update();
    // The next frame is asked for when this one is drawn: a slow page misses frames and never lags behind.
    requestAnimationFrame(() => this.send("next"));
    if (performance.now() - (this.drawn ?? 0) > 100) {
      this.drawn = performance.now();
      page.refresh(true);
    }
  }

  /** Controls of the run, below those of the view. */
  panel(at) {
    at.querySelectorAll(".live").forEach((e) => e.remove());
    const s = this.settings;
    if (!s) return;
    const add = (tag, props, ...children) => {
      const e = Object.assign(document.createElement(tag), props);
      e.append(...children);
      return e;
    };
    const solver = add("select", { id: "solver", onchange: () => this.send({ solver: solver.value }) });
    for (const name of s.solvers) solver.add(new Option(name, name, name === s.solver, name === s.solver));
    const fields = s.parameters.map(({ key, value }) => {
      const input = add("input", { type: "number", step: "any", value, name: key, onchange: () => this.send({ set: [key, Number(input.value)] }) });
      return add("label", { className: "wide live" }, key, input);
    });
    at.append(add("h2", { className: "live", textContent: "Simulation" }), add("label", { className: "wide live" }, "Solver", solver), ...fields,
      add("button", { className: "live", id: "reset", textContent: "Reset", onclick: () => this.send("reset") }));
  }
}
