// Draws a recording frame by frame for `stiction movie`, which serves the page, takes the pictures and writes the file.

const PLOTS = 128; // height of the plots [px]
const SAMPLES = 8; // pictures from which the colours of a GIF are chosen
const KEY = 60; // frames from one key frame to the next

/** Films `wish`: { kind, width, height, rate, from, until, speed, camera, plots, bitrate }. */
export async function film(wish, page) {
  try {
    await (wish.kind === "gif" ? pictures(wish, page) : video(wish, page));
    await post("done");
  } catch (e) {
    await post("failed", e.message);
  }
}

async function post(path, body = "") {
  const answer = await fetch(path, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
}

/** A canvas, and a function that draws the view at a time on it. */
function stage({ width, height, camera, plots }, page) {
  const canvas = document.createElement("canvas"), tall = plots ? height - PLOTS : height;
  Object.assign(canvas, { width, height });
  const g = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name);
  page.renderer.setPixelRatio(1);
  page.look(camera, width, tall);
  const draw = async (t) => {
    page.clock.t = Math.min(t, page.end());
    await page.show();
    page.render(width, tall);
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.drawImage(page.canvas, 0, 0, width, tall);
    g.fillStyle = ink("--soft");
    g.font = "13px system-ui, sans-serif";
    g.textAlign = "right";
    g.fillText(`${page.clock.t.toFixed(2)} s`, width - 14, tall - 14);
    if (!plots) return;
    const list = page.plots().slice(0, Math.max(1, Math.floor(width / 280))), wide = width / list.length;
    list.forEach((p, i) => {
      g.setTransform(1, 0, 0, 1, i * wide, tall);
      g.fillStyle = ink("--paper");
      g.fillRect(0, 0, wide, PLOTS);
      g.fillStyle = ink("--line");
      g.fillRect(0, 0, wide, 1);
      g.fillRect(0, 0, i ? 1 : 0, PLOTS);
      p.draw(page.clock.t, page.theme());
      p.paint(g, wide, PLOTS);
      g.fillStyle = ink("--ink");
      g.font = "600 13px system-ui, sans-serif";
      g.textAlign = "left";
      g.fillText(p.title, 14, 18);
    });
  };
  return { canvas, g, draw };
}

/** The times of the frames. */
function times({ from, until, rate, speed }) {
  const n = Math.max(1, Math.round(((until - from) * rate) / speed) + 1);
  return Array.from({ length: n }, (_, k) => Math.min(from + (k * speed) / rate, until));
}

/** Plain pictures: some to choose colours from, then all. */
async function pictures(wish, page) {
  const { g, draw } = stage(wish, page), list = times(wish);
  const send = async (path, t) => {
    await draw(t);
    await post(path, g.getImageData(0, 0, wish.width, wish.height).data);
  };
  const stride = Math.max(1, Math.ceil(list.length / SAMPLES));
  for (let k = 0; k < list.length; k += stride) await send("sample", list[k]);
  for (const t of list) await send("picture", t);
}

/** VP9, or VP8 where that is all there is. */
async function video(wish, page) {
  if (!("VideoEncoder" in window)) throw new Error("this Chromium cannot encode video; write a .gif");
  const { width, height, rate, bitrate } = wish;
  let config;
  for (const codec of ["vp09.00.41.08", "vp8"]) {
    const c = { codec, width, height, bitrate, framerate: rate, latencyMode: "quality" };
    if ((await VideoEncoder.isConfigSupported(c).catch(() => ({}))).supported) { config = c; break; }
  }
  if (!config) throw new Error("this Chromium cannot encode VP8 or VP9 of this size; write a .gif");
  let sent = post(`codec?${config.codec === "vp8" ? "vp8" : "vp9"}`), bad = null;
  const encoder = new VideoEncoder({
    error: (e) => { bad = e; },
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      // One after the other, in the order of the film.
      sent = sent.then(() => post(`chunk?${chunk.timestamp},${chunk.type === "key" ? 1 : 0}`, bytes));
    },
  });
  encoder.configure(config);
  const { canvas, draw } = stage(wish, page);
  for (const [k, t] of times(wish).entries()) {
    await draw(t);
    const frame = new VideoFrame(canvas, { timestamp: Math.round((k * 1e6) / rate), duration: Math.round(1e6 / rate) });
    encoder.encode(frame, { keyFrame: k % KEY === 0 });
    frame.close();
    // The encoder holds few frames at a time.
    while (encoder.encodeQueueSize > 4 && !bad) await new Promise((r) => setTimeout(r, 5));
    await sent;
    if (bad) throw bad;
  }
  await encoder.flush();
  await sent;
  if (bad) throw bad;
}
