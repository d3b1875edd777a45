// The three-dimensional scene of one recording: built once, then moved from frame to frame.
import * as THREE from "three";
import { colour } from "./fields.js";
import { Glyphs } from "./glyphs.js";
import { geometryOf, quaternion, vector } from "./shapes.js";
import { Soft } from "./soft.js";

const PALETTE = ["#e4572e", "#2e86ab", "#f2b134", "#5b8e7d", "#8e5572", "#4f6d9a", "#c06e52", "#76a5af"].map((c) => new THREE.Color(c));
const STILL = { fixed: new THREE.Color("#a9b0bb"), kinematic: new THREE.Color("#6d7789") };
const CHOSEN = new THREE.Color("#ffd23f");
const Z = new THREE.Vector3(0, 0, 1);
/** How much of their own colour surfaces give off when colours mean something: shading must not hide them. */
const GLOW = 0.45;

// Soft edges of shadows: sixteen samples of a disk instead of five.
THREE.ShaderChunk.shadowmap_pars_fragment = THREE.ShaderChunk.shadowmap_pars_fragment.replace(
  /shadow = \(\s*texture[^;]*\* 0\.2;/,
  "shadow = 0.0; for (int i = 0; i < 16; i++) shadow += texture(shadowMap, vec3(shadowCoord.xy + vogelDiskSample(i, 16, phi) * radius, shadowCoord.z)) / 16.0;",
);

export const LOOKS = {
  light: { back: "#e9edf2", floor: "#dfe3e9", grid: "#9aa3b0", sky: "#ffffff", earth: "#b9b2a8" },
  dark: { back: "#171b21", floor: "#232830", grid: "#4a5361", sky: "#aebccd", earth: "#2a2724" },
};

export class World {
  constructor(recording) {
    this.recording = recording;
    this.scene = new THREE.Scene();
    this.bodies = new THREE.Group();
    this.scene.add(this.bodies);
    this.glow = { value: 0 };
    this.material = this.glowing(new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.02 }));
    this.skin = this.glowing(new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0, vertexColors: true, side: THREE.DoubleSide }));
    // The back of a cloth is a little darker than its front.
    this.cloth = this.glowing(new THREE.MeshStandardMaterial({ roughness: 0.8, metalness: 0, vertexColors: true, side: THREE.DoubleSide }), 0.72);
    this.show = { contacts: true, forces: true, cones: false, joints: true, trails: false, wireframe: false, glass: false, shadows: true, grid: true };
    this.by = "body";
    this.scale = 1;
    this.chosen = null;
    this.groups = [];
    this.makeParts();
    this.makeShapes();
    this.makeSolids();
  }

  /** A material that gives off its own colour by {@link glow}, and shows `back` of it on its back. */
  glowing(material, back = 1) {
    material.onBeforeCompile = (shader) => {
      shader.uniforms.glow = this.glow;
      shader.fragmentShader = `uniform float glow;\n${shader.fragmentShader}`
        .replace("#include <color_fragment>", `#include <color_fragment>\nif (!gl_FrontFacing) diffuseColor.rgb *= ${back.toFixed(2)};`)
        .replace("#include <emissivemap_fragment>", "#include <emissivemap_fragment>\ntotalEmissiveRadiance += glow * diffuseColor.rgb;");
    };
    material.customProgramCacheKey = () => `glow ${back}`;
    return material;
  }

  /** Bodies, particles, solids, as the indices of contacts count them. Links of one rod look alike. */
  makeParts() {
    const h = this.recording.header, rods = new Map();
    for (const r of h.rods) for (let i = 0; i < r.links; i++) rods.set(r.first + i, r);
    let moving = 0;
    const next = () => PALETTE[moving++ % PALETTE.length];
    const bodyColour = (b, i) => {
      const rod = rods.get(i);
      return STILL[b.motion] ?? (rod ? (rod.colour ??= next()) : next());
    };
    this.parts = [
      ...h.bodies.map((b, i) => ({ kind: rods.has(i) ? `link of ${rods.get(i).name}` : "body", name: b.name, mass: b.mass, motion: b.motion, free: b.motion === "free", body: i, colour: bodyColour(b, i) })),
      ...h.particles.map((p, i) => ({ kind: "particle", name: p.name, mass: p.mass, free: true, point: i, colour: next() })),
      ...h.solids.map((s) => ({ kind: h.meshes[s.mesh].tets.length ? "soft body" : "cloth", name: s.name, mass: s.mass, free: true, solid: true, colour: next() })),
    ];
  }

  makeShapes() {
    const h = this.recording.header, sets = new Map();
    this.planes = [];
    for (const s of h.shapes) {
      const part = s.owner.body !== undefined ? s.owner.body : h.bodies.length + s.owner.particle;
      const local = new THREE.Matrix4().compose(vector(s.position), quaternion(s.rotation), new THREE.Vector3(1, 1, 1));
      const g = s.geometry;
      if (g.kind === "plane") { this.planes.push({ part, local }); continue; }
      const made = geometryOf(g, h.meshes);
      if (!made) continue;
      local.scale(made.scale);
      if (!sets.has(made.key)) sets.set(made.key, { geometry: made.geometry(), list: [] });
      const size = new THREE.Vector3().copy(made.scale).multiplyScalar(made.reach).length();
      sets.get(made.key).list.push({ part, local, reach: size + vector(s.position).length() });
    }
    for (const { geometry, list } of sets.values()) {
      const mesh = new THREE.InstancedMesh(geometry, this.material, list.length);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      this.bodies.add(mesh);
      this.groups.push({ mesh, list });
    }
    this.floors = this.planes.map((p) => {
      const floor = new THREE.Group();
      this.scene.add(floor);
      return { ...p, floor };
    });
  }

  makeSolids() {
    const h = this.recording.header;
    let first = 3 * h.particles.length;
    this.solids = h.solids.map((info, i) => {
      const mesh = h.meshes[info.mesh];
      const soft = new Soft(info, h.meshes, first, h.bodies.length + h.particles.length + i, mesh.tets.length ? this.skin : this.cloth);
      this.bodies.add(soft.object);
      first += mesh.vertices.length;
      return soft;
    });
  }

  /** Measures how far things reach over the run, then makes light, floor and glyphs to that size. */
  async prepare() {
    const box = new THREE.Box3(), p = new THREE.Vector3(), h = this.recording.header, n = this.recording.length;
    const samples = [...new Set([0, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1].map((f) => Math.round(f * (n - 1))))];
    let force = 0, typical = [];
    for (const i of samples) {
      const f = await this.recording.load(i);
      for (const { list } of this.groups) for (const s of list) {
        const o = s.part < h.bodies.length ? [f.poses, 7 * s.part] : [f.points, 3 * (s.part - h.bodies.length)];
        p.fromArray(o[0], o[1]);
        const r = Math.min(s.reach, 4 * (this.parts[s.part].motion === "fixed" ? 1 : Infinity));
        box.expandByPoint(p.clone().addScalar(0.58 * r)).expandByPoint(p.clone().addScalar(-0.58 * r));
      }
      for (const s of this.solids) {
        s.place(f.points, s.at);
        for (let i = 0; i < s.at.length; i += 3) box.expandByPoint(p.fromArray(s.at, i));
      }
      for (let c = 0; c < f.contacts; c++) {
        const length = Math.hypot(...f.contact.subarray(12 * c + 8, 12 * c + 11));
        typical.push(length);
        force = Math.max(force, length);
      }
    }
    // What will happen is not known while a run goes on; likely things fall to the floor.
    if (this.recording.growing && !box.isEmpty()) {
      const first = await this.recording.load(0), c = box.getCenter(new THREE.Vector3());
      for (const f of this.planes) box.expandByPoint(new THREE.Vector3(c.x, c.y, Math.max(first.poses[7 * f.part + 2], c.z - 4 * box.getSize(p).length())));
    }
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
    this.centre = box.getCenter(new THREE.Vector3());
    this.box = box;
    this.radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 1e-3);
    // Impacts are much larger than what rests: lengths of arrows follow the upper tenth.
    typical.sort((a, b) => a - b);
    this.force = typical[Math.floor(0.9 * typical.length)] || force || 1e-9;
    this.light();
    this.floor();
    this.glyphs = new Glyphs(this.scene, this.recording, this.radius, this.parts, PALETTE);
  }

  light() {
    const R = this.radius, c = this.centre;
    this.sky = new THREE.HemisphereLight("#ffffff", "#b9b2a8", 1.5);
    this.sky.position.copy(Z);
    this.sun = new THREE.DirectionalLight("#fff4e6", 2.2);
    this.sun.position.copy(c).add(new THREE.Vector3(-0.9, -0.8, 2.1).multiplyScalar(2 * R));
    this.sun.target.position.copy(c);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    Object.assign(this.sun.shadow.camera, { left: -1.5 * R, right: 1.5 * R, top: 1.5 * R, bottom: -1.5 * R, near: 0.1 * R, far: 10 * R });
    this.sun.shadow.radius = 16;
    this.sun.shadow.normalBias = 0.006 * R;
    this.sun.shadow.bias = -0.0004;
    const fill = new THREE.DirectionalLight("#dfeaff", 0.7);
    fill.position.copy(c).add(new THREE.Vector3(1.5, 1.0, 0.5).multiplyScalar(R));
    fill.target.position.copy(c);
    this.scene.add(this.sky, this.sun, this.sun.target, fill, fill.target);
  }

  floor() {
    const R = this.radius, step = 10 ** Math.floor(Math.log10(R));
    this.ground = new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0 });
    this.gridMaterial = new THREE.ShaderMaterial({
      transparent: true,
      depthWrite: false,
      uniforms: { colour: { value: new THREE.Color() }, step: { value: step }, reach: { value: 5 * R }, centre: { value: new THREE.Vector2() } },
      vertexShader: "varying vec2 p; void main() { p = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: `uniform vec3 colour; uniform float step, reach; uniform vec2 centre; varying vec2 p;
        float lines(float s) { vec2 q = p / s; vec2 d = abs(fract(q - 0.5) - 0.5) / fwidth(q); return 1.0 - min(min(d.x, d.y), 1.0); }
        void main() {
          float fade = 1.0 - smoothstep(0.25, 1.0, length(p - centre) / reach);
          float a = max(0.75 * lines(step), 0.3 * lines(step / 5.0)) * fade;
          gl_FragColor = vec4(colour, a);
          #include <colorspace_fragment>
        }`,
    });
    const sheet = new THREE.CircleGeometry(40 * R, 64);
    for (const f of this.floors) {
      const base = new THREE.Mesh(sheet, this.ground), grid = new THREE.Mesh(sheet, this.gridMaterial);
      base.receiveShadow = true;
      grid.position.z = 0.0006 * R;
      f.floor.add(base, grid);
      f.floor.userData.grid = grid;
    }
    if (!this.floors.length) {
      this.loose = new THREE.Mesh(sheet, this.gridMaterial);
      this.loose.position.z = this.box.min.z - 0.02 * R;
      this.scene.add(this.loose);
    }
    this.scene.fog = new THREE.Fog("#fff", 5 * R, 26 * R);
  }

  look(theme) {
    const l = LOOKS[theme];
    this.scene.background = new THREE.Color(l.back);
    this.scene.fog.color.set(l.back);
    this.ground.color.set(l.floor);
    this.gridMaterial.uniforms.colour.value.set(l.grid);
    this.sky.color.set(l.sky);
    this.sky.groundColor.set(l.earth);
  }

  /** Applies the switches. */
  apply() {
    const s = this.show;
    for (const m of [this.material, this.skin, this.cloth]) {
      m.wireframe = s.wireframe;
      m.transparent = s.glass;
      m.opacity = s.glass ? 0.32 : 1;
      m.depthWrite = !s.glass;
      m.needsUpdate = true;
    }
    this.sun.castShadow = s.shadows;
    for (const f of this.floors) f.floor.userData.grid.visible = s.grid;
    if (this.loose) this.loose.visible = s.grid;
  }

  /** Moves everything to a frame; `before` gives speeds. */
  pose(frame, before) {
    this.frame = frame;
    this.before = before;
    const m = new THREE.Matrix4();
    this.partMatrix ??= this.parts.map(() => new THREE.Matrix4());
    const one = new THREE.Vector3(1, 1, 1), q = new THREE.Quaternion(), p = new THREE.Vector3();
    this.parts.forEach((part, i) => {
      if (part.body !== undefined) {
        const f = frame.poses, k = 7 * i;
        this.partMatrix[i].compose(p.set(f[k], f[k + 1], f[k + 2]), q.set(f[k + 4], f[k + 5], f[k + 6], f[k + 3]), one);
      } else if (part.point !== undefined) {
        this.partMatrix[i].makeTranslation(p.fromArray(frame.points, 3 * part.point));
      }
    });
    for (const { mesh, list } of this.groups) {
      list.forEach((s, i) => mesh.setMatrixAt(i, m.multiplyMatrices(this.partMatrix[s.part], s.local)));
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    for (const f of this.floors) {
      m.multiplyMatrices(this.partMatrix[f.part], f.local).decompose(f.floor.position, f.floor.quaternion, f.floor.scale);
    }
    for (const s of this.solids) s.pose(frame);
    this.paint();
    this.poseGlyphs();
  }

  /** Mean velocity since the frame before (at the start: until the frame after), of a part or of a point. */
  speed(array, at) {
    const b = this.before, f = this.frame;
    if (!b || b.t === f.t) return [0, 0, 0];
    const old = array === f.poses ? b.poses : b.points;
    return [0, 1, 2].map((k) => (array[at + k] - old[at + k]) / (f.t - b.t));
  }

  /** Sum of contact forces on a part. */
  forceOn(part) {
    const { contacts, contact, parts } = this.frame, sum = [0, 0, 0];
    for (let c = 0; c < contacts; c++) {
      const sign = parts[12 * c] === part ? 1 : parts[12 * c + 1] === part ? -1 : 0;
      for (let k = 0; k < 3 && sign; k++) sum[k] += sign * contact[12 * c + 8 + k];
    }
    return sum;
  }

  /** Mean spin of a body since the frame before: twice the vector part of Δq over the time. */
  spin(i) {
    const b = this.before, f = this.frame;
    if (!b || b.t === f.t) return [0, 0, 0];
    const q = (p) => new THREE.Quaternion(p[7 * i + 4], p[7 * i + 5], p[7 * i + 6], p[7 * i + 3]);
    const d = q(f.poses).multiply(q(b.poses).conjugate()), sine = Math.hypot(d.x, d.y, d.z);
    const angle = 2 * Math.atan2(sine, Math.abs(d.w)), rate = (Math.sign(d.w) || 1) * (sine > 1e-12 ? angle / sine : 2) / (f.t - b.t);
    return [d.x * rate, d.y * rate, d.z * rate];
  }

  /** Values of the field now, one per vertex or part, in no order. */
  values() {
    const all = [];
    if (this.by === "body" || !this.frame) return all;
    for (const s of this.solids) for (const x of s.measure(this.by, this.frame, this.before) ?? []) all.push(x);
    this.parts.forEach((_, i) => { const x = this.partValue(i); if (x !== undefined) all.push(x); });
    return all;
  }

  /** The field of a rigid part; nothing where it has none. */
  partValue(i) {
    const part = this.parts[i];
    if (part.solid) return undefined;
    if (this.by === "speed") {
      const f = this.frame;
      return Math.hypot(...(part.body !== undefined ? this.speed(f.poses, 7 * i) : this.speed(f.points, 3 * part.point)));
    }
    if (this.by === "force") return part.free ? Math.hypot(...this.forceOn(i)) : undefined;
    return undefined;
  }

  paint() {
    const c = new THREE.Color(), rgb = [0, 0, 0], grey = STILL.fixed;
    this.glow.value = this.by === "body" ? 0 : GLOW;
    for (const { mesh, list } of this.groups) {
      list.forEach((s, i) => {
        const value = this.by === "body" ? undefined : this.partValue(s.part);
        if (s.part === this.chosen) c.copy(CHOSEN);
        else if (value !== undefined) { colour(value / this.scale, rgb, 0); c.setRGB(...rgb, THREE.LinearSRGBColorSpace); }
        else c.copy(this.by === "body" ? this.parts[s.part].colour : grey);
        mesh.setColorAt(i, c);
      });
      mesh.instanceColor.needsUpdate = true;
    }
    for (const s of this.solids) {
      const out = s.geometry.attributes.color.array, { source, slot } = s.skin;
      const v = this.by === "body" ? null : s.measure(this.by, this.frame, this.before);
      if (v) {
        for (let i = 0; i < source.length; i++) colour(v[slot[i]] / this.scale, out, 3 * i);
      } else {
        c.copy(s.part === this.chosen ? CHOSEN : this.by === "body" ? this.parts[s.part].colour : grey);
        for (let i = 0; i < source.length; i++) { out[3 * i] = c.r; out[3 * i + 1] = c.g; out[3 * i + 2] = c.b; }
      }
      s.geometry.attributes.color.needsUpdate = true;
    }
  }

  poseGlyphs() {
    const { contacts: n, contact: f } = this.frame;
    // How large forces will be is not known while a run goes on: the scale follows them.
    if (this.recording.growing) {
      let most = 0;
      for (let c = 0; c < n; c++) most = Math.max(most, Math.hypot(f[12 * c + 8], f[12 * c + 9], f[12 * c + 10]));
      this.force = Math.max(most, 0.98 * this.force);
    }
    this.glyphs.pose(this.frame, this.show, this.force, this.partMatrix);
  }

  /** The part under a ray and where it is hit. */
  pick(ray) {
    let best = null;
    for (const { mesh, list } of this.groups) {
      for (const hit of ray.intersectObject(mesh)) if (!best || hit.distance < best.distance) best = { distance: hit.distance, point: hit.point, part: list[hit.instanceId].part };
    }
    for (const s of this.solids) {
      for (const hit of ray.intersectObject(s.object)) if (!best || hit.distance < best.distance) best = { distance: hit.distance, point: hit.point, part: s.part };
    }
    return best;
  }

  /** What there is to say of a part. */
  describe(i) {
    const part = this.parts[i], f = this.frame, rows = [];
    const three = (v) => v.map((x) => number(x)).join("  ");
    rows.push(["kind", part.motion && part.motion !== "free" ? `${part.motion} body` : part.kind]);
    if (part.mass != null) rows.push(["mass", `${number(part.mass)} kg`]);
    if (part.solid) {
      const s = this.solids.find((o) => o.part === i), { x, v } = s.mean(f, this.before), n = s.mesh.vertices.length / 3;
      rows.push(["position", `${three(x)} m`], ["velocity", `${three(v)} m/s`]);
      rows.push(["mesh", s.isSheet ? `${n} vertices, ${s.mesh.triangles.length / 3} triangles` : `${n} vertices, ${s.mesh.tets.length / 4} tets`]);
    } else {
      const [array, k] = part.body !== undefined ? [f.poses, 7 * i] : [f.points, 3 * part.point];
      rows.push(["position", `${three([array[k], array[k + 1], array[k + 2]])} m`], ["velocity", `${three(this.speed(array, k))} m/s`]);
      if (part.body !== undefined) rows.push(["spin", `${three(this.spin(i))} rad/s`]);
    }
    const touching = Array.from({ length: f.contacts }, (_, c) => 12 * c).filter((c) => f.parts[c] === i || f.parts[c + 1] === i).length;
    rows.push(["contacts", `${touching}`], ["contact force", `${three(this.forceOn(i))} N`]);
    return rows;
  }
}

export function number(x) {
  if (x === 0 || Math.abs(x) < 1e-9) return "0";
  const a = Math.abs(x);
  return a >= 1e5 || a < 1e-3 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}
