// The live view in a real browser: it steps, pulls a body, resets, changes solver and numbers, survives a dropped socket
// and a second client, and answers nobody else.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { binary, browser as start } from "../tools.js";

let browser, server, url;
before(async () => {
  server = spawn(binary, ["view", "box-on-plane", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  url = await new Promise((found, lost) => {
    server.stdout.on("data", (d) => { const m = /http:\S+/.exec(d); if (m) found(m[0]); });
    server.on("exit", () => lost(new Error("the server ended")));
  });
  browser = await start();
});
after(async () => {
  await browser?.close();
  server.kill();
});

/** A page of the run, which stands still at its start. */
async function open() {
  const page = await browser.newPage({ viewport: { width: 720, height: 520 } });
  const trouble = [];
  page.on("pageerror", (e) => trouble.push(e.message));
  await page.goto(`${url}#theme=light&shadows=0`);
  await page.waitForSelector('body[data-state="ready"]');
  await page.keyboard.press("Backspace");
  await stands(page);
  await page.waitForFunction(() => window.stiction.views()[0].recording.end === 0);
  return { page, trouble };
}

/** Waits until the server says that it pauses and its last frame is shown. */
async function stands(page) {
  await page.waitForFunction(() => window.stiction.live().settings?.playing === false);
  for (let t = -1, now = null; now !== t;) {
    t = now;
    await page.waitForTimeout(200);
    now = (await frame(page)).t;
  }
}
/** What is shown; right after a reset there is nothing yet. */
const frame = async (page) => (await page.waitForFunction(() => {
  const v = window.stiction.views()[0];
  return v.frame && { t: v.frame.t, poses: [...v.frame.poses], parts: v.parts.map((p) => p.motion) };
})).jsonValue();
const reaches = (page, t) => page.waitForFunction((x) => window.stiction.views()[0].frame?.t >= x, t);

/** Where the crate is and where it is seen. */
async function crate(page) {
  return page.evaluate(() => {
    const { camera, views } = window.stiction, v = views()[0], i = v.parts.findIndex((p) => p.motion === "free"), p = [...v.frame.poses.subarray(7 * i, 7 * i + 3)];
    const s = camera.position.clone().set(...p).project(camera), box = document.getElementById("view").getBoundingClientRect();
    return { at: p, x: box.left + ((s.x + 1) / 2) * box.width, y: box.top + ((1 - s.y) / 2) * box.height };
  });
}

test("it plays, pauses, steps and resets, for two at once", async () => {
  const { page, trouble } = await open();
  const second = (await open()).page;
  await page.keyboard.press("Space");
  await reaches(page, 0.3);
  await reaches(second, 0.3);
  await page.keyboard.press("Space");
  await stands(page);
  const { t } = await frame(page);
  await page.keyboard.press("ArrowRight");
  await reaches(page, t + 1e-6);
  assert.ok((await frame(page)).t - t < 0.05, "one step");
  await page.keyboard.press("Backspace");
  await page.waitForFunction(() => window.stiction.views()[0].recording.end === 0);
  await second.waitForFunction(() => window.stiction.views()[0].recording.end === 0);
  await second.close();
  assert.deepEqual(trouble, []);
  await page.close();
});

test("Ctrl and drag pulls a body with a spring", async () => {
  const { page, trouble } = await open();
  await page.keyboard.press("Space");
  await reaches(page, 1.2);
  const from = await crate(page);
  await page.keyboard.down("Control");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let k = 1; k <= 20; k++) {
    await page.mouse.move(from.x, from.y - 8 * k);
    await page.waitForTimeout(40);
  }
  // It rests on the floor until it is lifted.
  await page.waitForFunction((z) => {
    const v = window.stiction.views()[0], i = v.parts.findIndex((p) => p.motion === "free");
    return v.frame.poses[7 * i + 2] > z + 0.02;
  }, from.at[2]);
  await page.mouse.up();
  await page.keyboard.up("Control");
  assert.deepEqual(trouble, []);
  await page.keyboard.press("Backspace");
  await page.close();
});

test("solver and numbers of the scene can be changed", async () => {
  const { page, trouble } = await open();
  await page.selectOption("#solver", "pgs");
  await page.waitForFunction(() => window.stiction.views()[0].recording.header.extra.solver === "pgs");
  const input = page.locator('#panel input[name="time.dt"]');
  await input.fill("0.002");
  await input.press("Enter");
  await page.waitForFunction(() => window.stiction.views()[0].recording.header.extra.dt === 0.002);
  // What makes no sense is refused in words, and the run stays as it was.
  await input.fill("-1");
  await input.press("Enter");
  await page.waitForFunction(() => !document.getElementById("message").hidden);
  assert.equal(await page.evaluate(() => window.stiction.views()[0].recording.header.extra.dt), 0.002);
  assert.deepEqual(trouble, []);
  await page.close();
});

test("a dropped socket is opened again", async () => {
  const { page, trouble } = await open();
  await page.evaluate(() => window.stiction.live().socket.close());
  await page.waitForFunction(() => window.stiction.live().connections === 2 && !window.stiction.live().lost);
  await page.keyboard.press("Space");
  await reaches(page, 0.1);
  await page.keyboard.press("Space");
  assert.deepEqual(trouble, []);
  await page.close();
});

test("only its own page is answered, and only the page is served", async () => {
  const { port } = new URL(url);
  const status = (path, headers) => new Promise((done) => {
    const r = request({ host: "127.0.0.1", port, path, headers }, (a) => { a.resume(); done(a.statusCode); });
    r.on("upgrade", (a, s) => { s.destroy(); done(a.statusCode); });
    r.end();
  });
  const own = `127.0.0.1:${port}`;
  const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "c3RpY3Rpb24gdGVzdCEhIQ==" };
  assert.equal(await status("/", { Host: own }), 200);
  assert.equal(await status("/", { Host: "evil.example" }), 403);
  assert.equal(await status("/socket", { Host: own, Origin: `http://${own}`, ...upgrade }), 101);
  assert.equal(await status("/socket", { Host: own, Origin: "http://evil.example", ...upgrade }), 403);
  assert.equal(await status("/socket", { Host: own, ...upgrade }), 403);
  assert.equal(await status("/Cargo.toml", { Host: own }), 404);
  assert.equal(await status("/../../etc/passwd", { Host: own }), 404);
});

test("senseless messages change nothing", async () => {
  const { page, trouble } = await open();
  await page.evaluate(() => {
    const { socket } = window.stiction.live();
    for (const bad of ["", "{", "[]", '{"speed":1e99}', '{"speed":null}', '{"grab":{"part":4000000000,"point":[0,0,0]}}', '{"pull":[1e308,1e308,1e308]}', '{"set":["nothing",1]}', '{"solver":"magic"}']) socket.send(bad);
  });
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.stiction.clock.playing);
  const { t } = await frame(page);
  await reaches(page, t + 0.05);
  assert.deepEqual(trouble, []);
  await page.close();
});
