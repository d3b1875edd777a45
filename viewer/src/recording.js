// Reads recordings (docs/recording.md). Numbers of all frames are read at once; places when they are asked for.

const OLDEST = 2, VERSION = 3;
const CONTACT = 12;
const KEEP = 8; // decoded chunks

/** What cannot be read, in words for people. */
export class BadRecording extends Error {}

let table;
function crc32(bytes) {
  if (!table) {
    table = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      let c = i;
      for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
      table[i] = c >>> 0;
    }
  }
  let c = -1;
  for (let i = 0; i < bytes.length; i++) c = table[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

/** The chunk at `at`: its kind, its payload and where the next one starts; or how the file ends instead. */
function chunkAt(bytes, at) {
  if (at + 12 > bytes.length) return { ending: "cut off" };
  const view = new DataView(bytes.buffer, bytes.byteOffset + at);
  const kind = String.fromCharCode(...bytes.subarray(at, at + 4));
  const length = view.getUint32(4, true);
  if (at + 12 + length > bytes.length) return { ending: "cut off" };
  const payload = bytes.subarray(at + 12, at + 12 + length);
  if (crc32(payload) !== view.getUint32(8, true)) return { ending: "damaged" };
  return { kind, payload, next: at + 12 + length };
}

/** Gives every chunk the checksum of what it holds now, so that what follows the checksums can be tested. */
export function seal(bytes) {
  for (let at = 8; at + 12 <= bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at), length = view.getUint32(4, true);
    if (at + 12 + length > bytes.length) return;
    view.setUint32(8, crc32(bytes.subarray(at + 12, at + 12 + length)), true);
    at += 12 + length;
  }
}

/** A recording: `header`, `times`, `columns` by name, and frames. */
export class Recording {
  /** Reads the start of a recording and whatever frames follow. */
  constructor(bytes) {
    if (bytes.length < 8) throw new BadRecording("The recording ends within its header. Record the run again.");
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    if (String.fromCharCode(...bytes.subarray(0, 4)) !== "STIC") throw new BadRecording("This is not a recording: it does not start with the letters STIC.");
    const version = view.getUint32(4, true);
    if (version < OLDEST || version > VERSION) {
      throw new BadRecording(`The recording has version ${version} of the format; this page reads ${OLDEST} to ${VERSION}. ` +
        (version > VERSION ? "Use the page of a newer stiction." : "Record the run again."));
    }
    const head = chunkAt(bytes, 8);
    const mesh = head.ending ? head : chunkAt(bytes, head.next);
    if (mesh.ending) throw new BadRecording(`The recording is ${mesh.ending} within its header. Record the run again.`);
    this.header = readHeader(head.payload, mesh.payload);
    const h = this.header;
    this.springs = h.particles.length + h.solids.reduce((n, s) => n + h.meshes[s.mesh].vertices.length / 3, 0);
    this.points = this.springs + 2 * h.springs.length;
    this.words = 7 * h.bodies.length + 3 * this.points;
    this.times = [];
    this.where = []; // of each frame: its chunk and its place there
    this.chunks = [];
    this.columns = new Map(h.columns.map((c) => [c, []]));
    this.waiting = new Map();
    this.ready = new Map();
    this.ending = "cut off";
    let at = mesh.next;
    for (;;) {
      const c = chunkAt(bytes, at);
      if (c.ending) { this.ending = c.ending; break; }
      if (c.kind === "END.") { this.ending = null; break; }
      if (c.kind !== "FRMS" || !this.append(c.payload)) { this.ending = "damaged"; break; }
      at = c.next;
    }
  }

  /** Adds a chunk of frames; false if it does not fit. */
  append(payload) {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    if (payload.length < 8) return false;
    const count = view.getUint32(0, true), size = view.getUint32(4, true);
    const names = this.header.columns, head = 12 + 8 * names.length;
    if (8 + count * head > payload.length) return false;
    const contacts = [];
    let all = 0;
    for (let f = 0; f < count; f++) {
      contacts.push(view.getUint32(8 + f * head + 8, true));
      all += contacts[f];
    }
    if (!count || 4 * (count * this.words + all * CONTACT) !== size) return false;
    for (let f = 0; f < count; f++) {
      const at = 8 + f * head;
      this.times.push(view.getFloat64(at, true));
      names.forEach((n, k) => this.columns.get(n).push(view.getFloat64(at + 12 + 8 * k, true)));
      this.where.push([this.chunks.length, f]);
    }
    this.chunks.push({ count, contacts, size, bytes: payload.subarray(8 + count * head) });
    return true;
  }

  /** Forgets the oldest `few` frames once there are more than `most`; each has a chunk of its own. */
  trim(most, few) {
    if (this.length <= most) return;
    this.times.splice(0, few);
    this.chunks.splice(0, few);
    for (const c of this.columns.values()) c.splice(0, few);
    this.where = this.times.map((_, i) => [i, 0]);
    this.ready.clear();
    this.waiting.clear();
  }

  get length() { return this.times.length; }
  get end() { return this.times.length ? this.times[this.times.length - 1] : 0; }

  /** The last frame at or before `t`. */
  indexAt(t) {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.times[mid] <= t + 1e-9) low = mid; else high = mid - 1;
    }
    return Math.max(low, 0);
  }

  /** The frame if it is decoded; starts decoding it, and what follows, if not. */
  get(i) {
    if (i < 0 || i >= this.length) return null;
    const [c, f] = this.where[i];
    const chunk = this.ready.get(c);
    if (c + 1 < this.chunks.length && !this.ready.has(c + 1)) this.decode(c + 1);
    if (!chunk) { this.decode(c); return null; }
    return this.frame(chunk, f, i);
  }

  /** The frame, decoded. */
  async load(i) {
    const [c, f] = this.where[Math.min(Math.max(i, 0), this.length - 1)];
    return this.frame(this.ready.get(c) ?? (await this.decode(c)), f, i);
  }

  frame(chunk, f, i) {
    const bodies = 7 * this.header.bodies.length, at = f * this.words;
    return {
      index: i,
      t: this.times[i],
      poses: chunk.numbers.subarray(at, at + bodies),
      points: chunk.numbers.subarray(at + bodies, at + this.words),
      contacts: chunk.contactAt[f + 1] - chunk.contactAt[f],
      contact: chunk.contactNumbers.subarray(chunk.contactAt[f] * CONTACT, chunk.contactAt[f + 1] * CONTACT),
      parts: chunk.contactWords.subarray(chunk.contactAt[f] * CONTACT, chunk.contactAt[f + 1] * CONTACT),
    };
  }

  decode(c) {
    if (this.waiting.has(c)) return this.waiting.get(c);
    const job = this.unpack(this.chunks[c]).then((chunk) => {
      this.waiting.delete(c);
      this.ready.set(c, chunk);
      // The oldest goes first.
      for (const old of this.ready.keys()) {
        if (this.ready.size <= KEEP) break;
        this.ready.delete(old);
      }
      return chunk;
    });
    this.waiting.set(c, job);
    return job;
  }

  async unpack({ count, contacts, size, bytes }) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = await new Response(stream).arrayBuffer().then((b) => new Uint8Array(b), () => null);
    if (planes?.length !== size) throw new BadRecording("The recording is damaged: a chunk of frames cannot be unpacked.");
    const words = size / 4, n = this.words;
    const bits = new Uint32Array(words);
    for (let i = 0; i < words; i++) bits[i] = planes[i] | (planes[words + i] << 8) | (planes[2 * words + i] << 16) | (planes[3 * words + i] << 24);
    for (let i = n; i < n * count; i++) bits[i] += bits[i - n];
    const contactAt = [0];
    for (const k of contacts) contactAt.push(contactAt[contactAt.length - 1] + k);
    return {
      numbers: new Float32Array(bits.buffer, 0, n * count),
      contactWords: bits.subarray(n * count),
      contactNumbers: new Float32Array(bits.buffer, 4 * n * count),
      contactAt,
    };
  }
}

/** The header with its meshes; whatever it names is there. */
function readHeader(json, payload) {
  const senseless = (what) => new BadRecording(`The recording has a header without sense: ${what}. Record the run again.`);
  let h;
  try {
    h = JSON.parse(new TextDecoder().decode(json));
  } catch {
    throw senseless("it is not JSON");
  }
  for (const list of ["bodies", "particles", "solids", "shapes", "joints", "meshes", "columns"]) {
    if (!Array.isArray(h?.[list])) throw senseless(`it has no ${list}`);
  }
  h.rods ??= [];
  h.springs ??= [];
  // Arrays of numbers start at multiples of four bytes of their own buffer.
  const bytes = payload.slice().buffer;
  let at = 0;
  const take = (Type, n) => {
    if (!(n >= 0 && at + 4 * n <= bytes.byteLength)) throw senseless("its meshes do not fit");
    const a = new Type(bytes, at, n);
    at += 4 * n;
    return a;
  };
  for (const m of h.meshes) {
    const n = m.vertices;
    m.vertices = take(Float32Array, 3 * n);
    m.triangles = take(Uint32Array, 3 * m.triangles);
    m.tets = take(Uint32Array, 4 * m.tets);
    m.hosts = take(Uint32Array, m.hosts ?? 0);
    if (m.triangles.some((i) => i >= n) || m.tets.some((i) => i >= n)) throw senseless("a corner of a mesh is not there");
  }
  const there = (list, i) => Number.isInteger(i) && i >= 0 && i < list.length;
  const carried = (s) => s.visual == null || (there(h.meshes, s.visual)
    && h.meshes[s.visual].hosts.length === h.meshes[s.visual].vertices.length / 3
    && h.meshes[s.visual].hosts.every((t) => 4 * t < h.meshes[s.mesh].tets.length));
  const fine = h.shapes.every((s) => (there(h.bodies, s.owner?.body) || there(h.particles, s.owner?.particle)) && (s.geometry?.kind !== "mesh" || there(h.meshes, s.geometry.mesh)))
    && h.solids.every((s) => there(h.meshes, s.mesh) && carried(s))
    && h.joints.every((j) => there(h.bodies, j.b) && (j.a == null || there(h.bodies, j.a)))
    && h.rods.every((r) => r.links === 0 || (there(h.bodies, r.first) && there(h.bodies, r.first + r.links - 1)));
  if (!fine) throw senseless("something that it names is not there");
  return h;
}

/** The bytes of a text in base64. */
export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
