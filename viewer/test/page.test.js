// The built page in a real browser, from disk: it loads without network or complaints, draws, plays, scrubs, selects,
// switches, and says what is wrong with a bad recording.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser as start, openFile, stiction } from "../tools.js";

let browser, dir;
before(async () => {
  dir = mkdtempSync(join(tmpdir(), "stiction-page-"));
  browser = await start();
});
after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a scene and opens its page; any request, complaint or error fails the test. */
async function record(scene, ...more) {
  const out = join(dir, scene);
  stiction("run", scene, "--out", out, ...more);
  return out;
}

async function open(file, hash, size) {
  const opened = await openFile(browser, file, hash, size);
  await opened.page.waitForSelector("body[data-state]");
  return opened;
}

/** Colour of the view where a point of the world is seen: mean over 5×5 pixels, 0 to 255. */
const colourAt = (page, point) => page.evaluate(async (p) => {
  const canvas = document.getElementById("view"), { camera, clock, seek } = window.stiction;
  await seek(clock.t);
  const v = camera.position.clone().set(...p).project(camera);
  const small = document.createElement("canvas").getContext("2d");
  small.canvas.width = canvas.width;
  small.canvas.height = canvas.height;
  small.drawImage(canvas, 0, 0);
  const x = ((v.x + 1) / 2) * canvas.width, y = ((1 - v.y) / 2) * canvas.height;
  const d = small.getImageData(Math.round(x) - 2, Math.round(y) - 2, 5, 5).data;
  return [0, 1, 2].map((c) => { let s = 0; for (let i = c; i < d.length; i += 4) s += d[i] / 25; return s; });
}, point);

const settle = (page) => page.waitForTimeout(150);
const plain = "#theme=light&contacts=0&forces=0&joints=0";

test("a soft scene draws its ball where it is, in its colour", async () => {
  const out = await record("soft-grasp", "--time", "2.2");
  const { page, trouble } = await open(join(out, "view.html"), `${plain}&t=0`);
  // The ball is the first thing that moves freely: the palette's red, shaded; its front at the start.
  const [r, g, b] = await colourAt(page, [0, -0.05, 0.05]);
  assert.ok(r > 90 && r > 1.7 * g && r > 1.7 * b, `red, got ${r} ${g} ${b}`);
  // Lifted by 10 cm at the end: floor where it was, ball where it is.
  await page.evaluate(() => window.stiction.seek(2.2));
  const low = await colourAt(page, [0, -0.05, 0.03]);
  assert.ok(Math.max(...low) - Math.min(...low) < 40, `grey, got ${low}`);
  const high = await colourAt(page, [0, -0.05, 0.15]);
  assert.ok(high[0] > 1.7 * high[1], `red, got ${high}`);
  // Colour by strain: the scale appears, and the ball is red no more.
  await page.selectOption("#by", "strain");
  await page.waitForSelector("#legend:not([hidden])");
  const strained = await colourAt(page, [0, -0.05, 0.15]);
  assert.ok(strained[0] < 1.3 * Math.max(strained[1], strained[2]), `of the scale, got ${strained}`);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a rigid scene plays, scrubs, steps and resets", async () => {
  const out = await record("box-on-plane");
  const { page, trouble } = await open(join(out, "view.html"), plain);
  const t = () => page.evaluate(() => window.stiction.clock.t);
  const shown = () => page.evaluate(() => window.stiction.views()[0].frame.t);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.stiction.views()[0].frame.t > 0.1);
  await page.keyboard.press("Space");
  const stopped = await t();
  await settle(page);
  assert.equal(await t(), stopped, "paused");
  await page.keyboard.press("Backspace");
  await page.waitForFunction(() => window.stiction.views()[0].frame.t === 0);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => window.stiction.views()[0].frame.index === 1);
  await page.locator("#time").fill("0.5");
  await page.waitForFunction(() => Math.abs(window.stiction.views()[0].frame.t - 0.5) < 0.02);
  // A press on the middle of a plot goes to the middle of the run.
  const box = await page.locator("#plots canvas").first().boundingBox();
  await page.mouse.click(box.x + 46 + (box.width - 58) / 2, box.y + 60);
  await page.waitForFunction(() => { const s = window.stiction, r = s.views()[0].recording; return Math.abs(s.views()[0].frame.t - r.end / 2) < 0.05; });
  assert.ok((await shown()) > 0);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a double-click selects, keys switch, F1 helps", async () => {
  const { page, trouble } = await open(join(dir, "box-on-plane", "view.html"), "#theme=dark");
  await page.evaluate(() => window.stiction.seek(window.stiction.views()[0].recording.end));
  const at = await page.evaluate(() => {
    const { camera, views } = window.stiction, i = views()[0].parts.findIndex((p) => p.motion === "free");
    const p = views()[0].frame.poses, v = camera.position.clone().set(p[7 * i], p[7 * i + 1], p[7 * i + 2]).project(camera);
    const box = document.getElementById("view").getBoundingClientRect();
    return [box.left + ((v.x + 1) / 2) * box.width, box.top + ((1 - v.y) / 2) * box.height];
  });
  await page.mouse.dblclick(...at);
  const card = page.locator("#chosen");
  await card.waitFor();
  const text = await card.innerText();
  assert.match(text, /crate|box/);
  assert.match(text, /mass\s+0\.5 kg/);
  // It rests: the contact force is its weight.
  assert.match(text, /contact force\s.*4\.905 N/);
  const counts = () => page.evaluate(() => { const v = window.stiction.views()[0]; return [v.glyphs.dots.mesh.count, v.glyphs.shafts.mesh.count, v.frame.contacts]; });
  let [dots, arrows, contacts] = await counts();
  assert.ok(contacts > 0 && dots === contacts && arrows === contacts);
  await page.keyboard.press("c");
  await page.keyboard.press("f");
  [dots, arrows] = await counts();
  assert.deepEqual([dots, arrows], [0, 0]);
  await page.keyboard.press("w");
  assert.equal(await page.evaluate(() => window.stiction.views()[0].material.wireframe), true);
  await page.keyboard.press("F1");
  assert.ok(await page.locator("#help").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()) && !(await card.isVisible()));
  // Everything that can be pressed has a name for those who do not see it.
  const nameless = await page.evaluate(() => [...document.querySelectorAll("#bar button, #bar input, #bar select, #plots select")].filter((e) => !e.getAttribute("aria-label")).map((e) => e.id));
  assert.deepEqual(nameless, []);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a phone shows the view and the bar", async () => {
  const { page, trouble } = await open(join(dir, "box-on-plane", "view.html"), "", { width: 390, height: 780 });
  assert.ok(await page.locator("#play").isVisible());
  assert.ok(!(await page.locator("#panel").isVisible()));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `nothing sticks out: ${wide}`);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("bad recordings are refused in words, cut ones play as far as they go", async () => {
  const html = readFileSync(join(dir, "box-on-plane", "view.html"), "utf8");
  const [before, data, end] = html.split(/(?<=<script type="application\/x-stiction">)([^<]*)/);
  const bytes = Buffer.from(data, "base64");
  const shown = async (name, change) => {
    const copy = change(Buffer.from(bytes));
    const file = join(dir, `${name}.html`);
    writeFileSync(file, before + copy.toString("base64") + end);
    const { page } = await open(file);
    const text = await page.locator("#message").innerText();
    const state = await page.evaluate(() => document.body.dataset.state);
    await page.close();
    return [state, text];
  };
  let [state, text] = await shown("newer", (b) => { b[4] = 9; return b; });
  assert.ok(state === "bad" && /version 9/.test(text) && /newer/.test(text), text);
  [state, text] = await shown("other", (b) => { b[0] = 0; return b; });
  assert.ok(state === "bad" && /not a recording/.test(text), text);
  [state, text] = await shown("header", (b) => { b[30] ^= 1; return b; });
  assert.ok(state === "bad" && /damaged/.test(text), text);
  [state, text] = await shown("cut", (b) => b.subarray(0, b.length - 30));
  assert.ok(state === "ready" && /cut off/.test(text), text);
});

test("two recordings stand side by side", async () => {
  stiction("run", "box-on-plane", "--solver", "nsn", "--out", join(dir, "nsn"));
  stiction("export", join(dir, "box-on-plane", "recording.stic"), join(dir, "nsn", "recording.stic"), "--to", "html", "--out", join(dir, "both.html"));
  const { page, trouble } = await open(join(dir, "both.html"));
  assert.equal(await page.evaluate(() => window.stiction.views().length), 2);
  assert.match(await page.locator("#tags").innerText(), /exact[\s\S]*nsn/);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a frame of 70 000 vertices costs little", async () => {
  // 40 × 41 × 41 cells: 72 000 vertices, of which 10 000 are on the surface.
  const out = await record("soft-block-grip", "--set", "soft.block.mesh={block={cells=[40,41,41],size=[0.10,0.11,0.11]}}", "--steps", "0");
  const { page, trouble } = await open(join(out, "view.html"));
  const cost = await page.evaluate(async () => {
    const v = window.stiction.views()[0], r = v.recording, f = v.frame, n = 20;
    // The fastest of several: others share the machine.
    const each = async (count, work) => {
      let best = Infinity;
      for (let i = 0; i < count; i++) {
        const start = performance.now();
        await work();
        best = Math.min(best, performance.now() - start);
      }
      return best;
    };
    const gl = document.getElementById("view").getContext("webgl2"), pixel = new Uint8Array(4);
    const cost = { vertices: r.points, decode: await each(n, () => r.unpack(r.chunks[0])), move: await each(n, () => v.pose(f, null)) };
    v.by = "strain";
    cost.strain = await each(n, () => v.pose(f, null));
    // Reading a pixel waits until all is drawn.
    cost.draw = await each(3, () => { window.stiction.render(); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); });
    return cost;
  });
  assert.ok(cost.vertices > 70000, `${cost.vertices} vertices`);
  const ms = (x) => `${x.toFixed(1)} ms`;
  console.log(`a frame of ${cost.vertices} vertices: decode ${ms(cost.decode)}, move ${ms(cost.move)} (with strain ${ms(cost.strain)}), draw without a GPU ${ms(cost.draw)}`);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a carried surface is shown, and moves with its solid", async () => {
  // A block that shows the bracket, which stands on its own corner (0, 0, 0) and is 0.3 long and 0.24 tall.
  writeFileSync(join(dir, "carried.toml"), `
    [[soft]]
    name = "block"
    mesh = { block = { cells = [3, 1, 3], size = [0.7, 0.12, 0.5] } }
    material = { young = 1e5, poisson = 0.3, density = 1000 }
    visual = "builtin:bracket.obj"
    velocity = [0, 0, 1]`);
  stiction("run", join(dir, "carried.toml"), "--time", "0.1", "--set", "gravity=[0,0,0]", "--out", join(dir, "carried"));
  const { page, trouble } = await open(join(dir, "carried", "view.html"), plain);
  const box = () => page.evaluate(() => {
    const g = window.stiction.views()[0].solids[0].geometry;
    g.computeBoundingBox();
    return [...g.boundingBox.min, ...g.boundingBox.max];
  });
  const near = (a, b) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 1e-4, `${a} is not ${b}`));
  near(await box(), [0, -0.05, 0, 0.3, 0.05, 0.24]);
  await page.evaluate(() => window.stiction.seek(window.stiction.views()[0].recording.end));
  near(await box(), [0, -0.05, 0.1, 0.3, 0.05, 0.34]);
  // It has a strain everywhere: none.
  await page.selectOption("#by", "strain");
  assert.ok((await page.evaluate(() => Math.max(...window.stiction.views()[0].values()))) < 1e-3);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("any damage to a recording is answered in words", async () => {
  const html = readFileSync(join(dir, "box-on-plane", "view.html"), "utf8");
  const data = /<script type="application\/x-stiction">([^<]*)/.exec(html)[1];
  const { page, trouble } = await openFile(browser, join(dir, "box-on-plane", "view.html"));
  await page.waitForSelector("body[data-state]");
  // Cuts, flipped bits and runs of noise, each with and without a checksum that fits: nothing but words may come of it.
  const odd = await page.evaluate(async (text) => {
    const { Recording, BadRecording } = window.stiction;
    const good = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), odd = [];
    let seed = 1;
    const random = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor((seed / 2 ** 32) * n); };
    const kinds = { words: 0, read: 0 };
    for (let k = 0; k < 400; k++) {
      let b = good.slice();
      if (k % 4 === 0) b = b.subarray(0, random(b.length));
      else for (let i = 0; i <= random(5); i++) b[k % 4 === 1 ? random(4000) : random(b.length)] ^= 1 << random(8);
      if (k % 4 === 3) window.stiction.seal(b);
      try {
        const r = new Recording(b);
        for (const i of [0, r.length >> 1, r.length - 1]) if (r.length) await r.load(i);
        kinds.read++;
      } catch (e) {
        if (e instanceof BadRecording) kinds.words++; else odd.push(`${k}: ${e.name} ${e.message}`);
      }
    }
    if (!kinds.words || !kinds.read) odd.push(JSON.stringify(kinds));
    return odd;
  }, data);
  assert.deepEqual(odd, []);
  assert.deepEqual(trouble, []);
  await page.close();
});
