// Pictures and films that the binary makes with Chromium: they open, have the size that was asked for, and show the scene.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser as start, openFile, stiction } from "../tools.js";

let browser, dir;
before(async () => {
  dir = mkdtempSync(join(tmpdir(), "stiction-film-"));
  browser = await start();
  stiction("run", "box-on-plane", "--time", "0.5", "--out", join(dir, "r"));
});
after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A page with a file in it; `inner` is its body. */
async function show(inner) {
  const file = join(dir, "show.html");
  writeFileSync(file, `<!doctype html><link rel="icon" href="data:,"><body>${inner}`);
  return (await openFile(browser, file)).page;
}
/** The middle of the red (crate) pixels of a picture, as shares of its size, and their number. */
const crate = `(image, w, h) => {
  const g = Object.assign(document.createElement("canvas"), { width: w, height: h }).getContext("2d");
  g.drawImage(image, 0, 0, w, h);
  const d = g.getImageData(0, 0, w, h).data;
  let n = 0, y = 0;
  for (let i = 0; i < d.length; i += 4) if (d[i] > 90 && d[i] > 1.7 * d[i + 1] && d[i] > 1.7 * d[i + 2]) { n++; y += Math.floor(i / 4 / w) / h; }
  return { n, y: y / n };
}`;
const data = (file, type) => `data:${type};base64,${readFileSync(join(dir, file)).toString("base64")}`;

test("a picture shows the moment that was asked for", async () => {
  for (const t of ["0", "0.5"]) stiction("picture", join(dir, "r", "recording.stic"), "--time", t, "--size", "600x400", "--out", join(dir, `${t}.png`));
  const page = await show(["0", "0.5"].map((t) => `<img src="${data(`${t}.png`, "image/png")}">`).join(""));
  const [a, b] = await page.evaluate(`Promise.all([...document.images].map(async (i) => { await i.decode(); return [i.naturalWidth, i.naturalHeight, (${crate})(i, 600, 400)]; }))`);
  assert.deepEqual([a[0], a[1]], [600, 400]);
  assert.ok(a[2].n > 300 && b[2].n > 300 && b[2].y > a[2].y + 0.05, `the crate falls: ${JSON.stringify([a, b])}`);
  await page.close();
});

test("a video plays and shows the crate fall", async () => {
  stiction("movie", join(dir, "r", "recording.stic"), "--rate", "10", "--size", "640x400", "--out", join(dir, "a.webm"));
  const page = await show(`<video muted src="${data("a.webm", "video/webm")}"></video>`);
  const seen = await page.evaluate(`(async () => {
    const v = document.querySelector("video");
    if (v.readyState < 2) await new Promise((yes, no) => { v.onloadeddata = yes; v.onerror = () => no(new Error(v.error.message)); });
    const at = async (t) => { v.currentTime = t; await new Promise((r) => { v.onseeked = r; }); return (${crate})(v, 640, 400); };
    return { size: [v.videoWidth, v.videoHeight], duration: v.duration, first: await at(0.01), last: await at(0.52) };
  })()`);
  assert.deepEqual(seen.size, [640, 400]);
  assert.ok(Math.abs(seen.duration - 0.6) < 0.01, `six pictures of 0.1 s: ${seen.duration}`);
  assert.ok(seen.first.n > 300 && seen.last.n > 300 && seen.last.y > seen.first.y + 0.05, JSON.stringify(seen));
  await page.close();
});

test("a GIF of a scene has its pictures, with plots", async () => {
  stiction("movie", "box-on-plane", "--until", "0.4", "--rate", "5", "--plots", "--dark", "--size", "500x400", "--out", join(dir, "a.gif"));
  const page = await show("");
  const seen = await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(readFileSync(join(dir, "a.gif")).toString("base64"))}), (c) => c.charCodeAt(0));
    const d = new ImageDecoder({ type: "image/gif", data: bytes });
    await d.tracks.ready;
    const frames = [];
    for (let i = 0; i < d.tracks.selectedTrack.frameCount; i++) {
      const { image } = await d.decode({ frameIndex: i });
      frames.push({ w: image.displayWidth, h: image.displayHeight, ms: image.duration / 1000, ...(${crate})(image, 500, 400) });
    }
    return frames;
  })()`);
  assert.equal(seen.length, 3);
  assert.deepEqual([seen[0].w, seen[0].h, seen[0].ms], [500, 400, 200]);
  assert.ok(seen.every((f) => f.n > 100) && seen[2].y > seen[0].y + 0.04, JSON.stringify(seen));
  await page.close();
});
