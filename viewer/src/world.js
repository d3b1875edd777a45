// The three-dimensional scene of one recording: built once, then moved from frame to frame.
import * as THREE from "three";
import { colour, elastic, strainGauge } from "./fields.js";

const PALETTE = ["#e4572e", "#2e86ab", "#f2b134", "#5b8e7d", "#8e5572", "#4f6d9a", "#c06e52", "#76a5af"].map((c) => new THREE.Color(c));
const STILL = { fixed: new THREE.Color("#a9b0bb"), kinematic: new THREE.Color("#6d7789") };
const CHOSEN = new THREE.Color("#ffd23f");
const CREASE = Math.cos((40 * Math.PI) / 180);
const Z = new THREE.Vector3(0, 0, 1);

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
    this.material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.02 });
    this.skin = new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0, vertexColors: true, side: THREE.DoubleSide });
    this.show = { contacts: true, forces: true, cones: false, joints: true, trails: false, wireframe: false, glass: false, shadows: true, grid: true };
    this.by = "body";
    this.scale = 1;
    this.chosen = null;
    this.groups = [];
    this.makeParts();
    this.makeShapes();
    this.makeSolids();
  }

  /** Bodies, particles, solids, as the indices of contacts count them. */
  makeParts() {
    const h = this.recording.header;
    let moving = 0;
    const next = () => PALETTE[moving++ % PALETTE.length];
    this.parts = [
      ...h.bodies.map((b, i) => ({ kind: "body", name: b.name, mass: b.mass, motion: b.motion, body: i, colour: STILL[b.motion] ?? next() })),
      ...h.particles.map((p, i) => ({ kind: "particle", name: p.name, mass: p.mass, point: i, colour: next() })),
      ...h.solids.map((s) => ({ kind: "soft body", name: s.name, mass: s.mass, colour: next() })),
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
    this.solids = h.solids.map((s, i) => {
      const mesh = h.meshes[s.mesh], skin = creased(mesh);
      const geometry = new THREE.BufferGeometry();
      const count = skin.source.length;
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setIndex(new THREE.BufferAttribute(skin.index, 1));
      const object = new THREE.Mesh(geometry, this.skin);
      object.castShadow = object.receiveShadow = true;
      object.frustumCulled = false;
      this.bodies.add(object);
      const solid = { info: s, mesh, skin, geometry, object, first, values: new Float32Array(skin.count), part: h.bodies.length + h.particles.length + i };
      object.userData.part = solid.part;
      first += mesh.vertices.length;
      return solid;
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
      for (const s of this.solids) for (const v of s.skin.source) box.expandByPoint(p.fromArray(f.points, s.first + 3 * v));
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
    this.glyphs();
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
    this.sun.shadow.radius = 6;
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

  glyphs() {
    const dots = new THREE.SphereGeometry(1, 12, 8);
    this.dots = { material: new THREE.MeshBasicMaterial({ color: "#d61f69", depthTest: false, transparent: true }), geometry: dots };
    this.arrows = { material: new THREE.MeshStandardMaterial({ color: "#22b573", roughness: 0.5, emissive: "#0d6b40", depthTest: false, transparent: true, opacity: 0.92 }), geometry: arrow() };
    const cone = new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
    this.cones = { material: new THREE.MeshBasicMaterial({ color: "#7b61ff", transparent: true, opacity: 0.28, side: THREE.DoubleSide, depthWrite: false }), geometry: cone };
    this.axes = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.axes.frustumCulled = false;
    this.axes.renderOrder = 3;
    this.trails = new THREE.Group();
    this.scene.add(this.axes, this.trails);
    const columns = this.recording.columns;
    for (const name of columns.keys()) {
      const base = name.slice(0, -2);
      if (!name.endsWith(".x") || !columns.has(`${base}.z`)) continue;
      const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: PALETTE[this.trails.children.length % 8] }));
      line.userData.xyz = ["x", "y", "z"].map((c) => columns.get(`${base}.${c}`));
      line.frustumCulled = false;
      this.trails.add(line);
    }
  }

  /** An instanced mesh with room for `n`. */
  room(set, n) {
    if (!set.mesh || set.mesh.instanceMatrix.count < n) {
      if (set.mesh) this.scene.remove(set.mesh);
      set.mesh = new THREE.InstancedMesh(set.geometry, set.material, Math.max(64, 2 * n));
      set.mesh.frustumCulled = false;
      this.scene.add(set.mesh);
    }
    set.mesh.count = n;
    return set.mesh;
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
    for (const m of [this.material, this.skin]) {
      m.wireframe = s.wireframe;
      m.transparent = s.glass;
      m.opacity = s.glass ? 0.32 : 1;
      m.depthWrite = !s.glass;
      m.needsUpdate = true;
    }
    this.sun.castShadow = s.shadows;
    this.axes.visible = s.joints;
    this.trails.visible = s.trails;
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
    for (const s of this.solids) {
      const x = s.geometry.attributes.position.array, from = s.skin.source;
      for (let i = 0; i < from.length; i++) {
        const at = s.first + 3 * from[i];
        x[3 * i] = frame.points[at];
        x[3 * i + 1] = frame.points[at + 1];
        x[3 * i + 2] = frame.points[at + 2];
      }
      s.geometry.attributes.position.needsUpdate = true;
      s.geometry.boundingSphere = null;
      s.geometry.boundingBox = null;
      s.geometry.computeVertexNormals();
    }
    this.paint();
    this.poseGlyphs();
  }

  /** Mean velocity since the frame before, of a part or of a point. */
  speed(array, at) {
    const b = this.before, f = this.frame;
    if (!b || b.t >= f.t) return [0, 0, 0];
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

  /** The field of every surface vertex of a solid. */
  measure(s) {
    const f = this.frame, v = s.values;
    if (this.by === "speed") {
      s.skin.vertices.forEach((x, i) => { v[i] = Math.hypot(...this.speed(f.points, s.first + 3 * x)); });
    } else if (this.by === "force") {
      // Each force goes to the nearest vertex of the surface and fades over its neighbours.
      v.fill(0);
      for (let c = 0; c < f.contacts; c++) {
        if (f.parts[12 * c] !== s.part && f.parts[12 * c + 1] !== s.part) continue;
        const p = f.contact.subarray(12 * c + 2, 12 * c + 5), size = Math.hypot(...f.contact.subarray(12 * c + 8, 12 * c + 11));
        s.skin.vertices.forEach((x, i) => {
          const a = s.first + 3 * x;
          const d2 = (f.points[a] - p[0]) ** 2 + (f.points[a + 1] - p[1]) ** 2 + (f.points[a + 2] - p[2]) ** 2;
          v[i] += size * Math.exp(-d2 / (s.skin.edge * s.skin.edge));
        });
      }
    } else if (s.mesh.tets.length) {
      s.gauge ??= strainGauge(s.mesh, s.skin.place);
      elastic(this.by, s.info, s.mesh, s.gauge, f.points, s.first, s.skin.place, s.skin.count, v);
    } else {
      v.fill(0);
    }
    return v;
  }

  /** The largest value of the field now. */
  largest() {
    if (this.by === "body" || !this.frame) return 0;
    let max = 0;
    for (const s of this.solids) for (const x of this.measure(s)) max = Math.max(max, x);
    this.parts.forEach((_, i) => { max = Math.max(max, this.partValue(i) ?? 0); });
    return max;
  }

  /** The field of a rigid part; nothing where it has none. */
  partValue(i) {
    const part = this.parts[i];
    if (part.kind === "soft body") return undefined;
    if (this.by === "speed") {
      const f = this.frame;
      return Math.hypot(...(part.body !== undefined ? this.speed(f.poses, 7 * i) : this.speed(f.points, 3 * part.point)));
    }
    if (this.by === "force") return part.motion === "free" || !part.motion ? Math.hypot(...this.forceOn(i)) : undefined;
    return undefined;
  }

  paint() {
    const c = new THREE.Color(), rgb = [0, 0, 0];
    const grey = STILL.fixed;
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
      if (this.by === "body") {
        c.copy(s.part === this.chosen ? CHOSEN : this.parts[s.part].colour);
        for (let i = 0; i < source.length; i++) { out[3 * i] = c.r; out[3 * i + 1] = c.g; out[3 * i + 2] = c.b; }
      } else {
        const v = this.measure(s);
        for (let i = 0; i < source.length; i++) colour(v[slot[i]] / this.scale, out, 3 * i);
      }
      s.geometry.attributes.color.needsUpdate = true;
    }
  }

  poseGlyphs() {
    const { contacts: n, contact: f } = this.frame, m = new THREE.Matrix4();
    const q = new THREE.Quaternion(), p = new THREE.Vector3(), d = new THREE.Vector3(), size = new THREE.Vector3();
    // How large forces will be is not known while a run goes on: the scale follows them.
    if (this.recording.growing) {
      let most = 0;
      for (let c = 0; c < n; c++) most = Math.max(most, Math.hypot(f[12 * c + 8], f[12 * c + 9], f[12 * c + 10]));
      this.force = Math.max(most, 0.98 * this.force);
    }
    const R = this.radius, dot = 0.007 * R * Math.min(1, Math.sqrt(200 / Math.max(n, 1)));
    const dots = this.room(this.dots, this.show.contacts ? n : 0);
    dots.renderOrder = 2;
    for (let c = 0; c < dots.count; c++) dots.setMatrixAt(c, m.makeScale(dot, dot, dot).setPosition(f[12 * c + 2], f[12 * c + 3], f[12 * c + 4]));
    dots.instanceMatrix.needsUpdate = true;
    const arrows = this.room(this.arrows, this.show.forces ? n : 0);
    arrows.renderOrder = 3;
    const g = vector(this.recording.header.gravity);
    for (let c = 0; c < arrows.count; c++) {
      // Of the two opposite forces, the one on what moves freely; between two of those, the one that holds up.
      d.fromArray(f, 12 * c + 8);
      const [a, b] = [0, 1].map((k) => !(this.parts[this.frame.parts[12 * c + k]]?.motion in STILL));
      if (a === b ? d.dot(g) > 0 : b) d.negate();
      const length = Math.min(d.length() / this.force, 3) * 0.26 * R, w = Math.min(0.018 * R, 0.3 * length);
      q.setFromUnitVectors(Z, d.normalize());
      arrows.setMatrixAt(c, m.compose(p.fromArray(f, 12 * c + 2), q, size.set(w, w, Math.max(length, 1e-9))));
    }
    arrows.instanceMatrix.needsUpdate = true;
    const cones = this.room(this.cones, this.show.cones ? n : 0);
    for (let c = 0; c < cones.count; c++) {
      const tall = 0.1 * R, wide = tall * Math.min(f[12 * c + 11], 3);
      q.setFromUnitVectors(Z, d.fromArray(f, 12 * c + 5).normalize());
      cones.setMatrixAt(c, m.compose(p.fromArray(f, 12 * c + 2), q, size.set(wide, wide, tall)));
    }
    cones.instanceMatrix.needsUpdate = true;
    this.poseJoints();
    for (const line of this.trails.visible ? this.trails.children : []) {
      const [x, y, z] = line.userData.xyz, last = this.frame.index + 1, at = new Float32Array(3 * last);
      for (let i = 0; i < last; i++) { at[3 * i] = x[i]; at[3 * i + 1] = y[i]; at[3 * i + 2] = z[i]; }
      line.geometry.setAttribute("position", new THREE.BufferAttribute(at, 3));
    }
  }

  poseJoints() {
    const joints = this.recording.header.joints;
    if (!joints.length || !this.show.joints) return;
    const at = [], colours = [], o = new THREE.Vector3(), e = new THREE.Vector3(), q = new THREE.Quaternion();
    const tints = [[0.9, 0.2, 0.2], [0.2, 0.7, 0.3], [0.25, 0.45, 0.95]], long = 0.13 * this.radius;
    for (const j of joints) {
      const body = this.partMatrix[j.b];
      o.copy(vector(j.anchor_b)).applyMatrix4(body);
      q.setFromRotationMatrix(body).multiply(quaternion(j.frame_b));
      tints.forEach((t, k) => {
        e.set(+(k === 0), +(k === 1), +(k === 2)).applyQuaternion(q).multiplyScalar(k ? 0.5 * long : long).add(o);
        at.push(o.x, o.y, o.z, e.x, e.y, e.z);
        colours.push(...t, ...t);
      });
    }
    this.axes.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(at), 3));
    this.axes.geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(colours), 3));
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
    if (part.kind === "soft body") {
      const s = this.solids.find((x) => x.part === i), n = s.mesh.vertices.length / 3, at = [0, 0, 0], v = [0, 0, 0];
      for (let k = 0; k < n; k++) {
        const speed = this.speed(f.points, s.first + 3 * k);
        for (let c = 0; c < 3; c++) { at[c] += f.points[s.first + 3 * k + c] / n; v[c] += speed[c] / n; }
      }
      rows.push(["position", `${three(at)} m`], ["velocity", `${three(v)} m/s`], ["mesh", `${n} vertices, ${s.mesh.tets.length / 4} tets`]);
    } else {
      const [array, k] = part.body !== undefined ? [f.poses, 7 * i] : [f.points, 3 * part.point];
      rows.push(["position", `${three([array[k], array[k + 1], array[k + 2]])} m`], ["velocity", `${three(this.speed(array, k))} m/s`]);
    }
    rows.push(["contact force", `${three(this.forceOn(i))} N`]);
    return rows;
  }
}

export function number(x) {
  if (x === 0 || Math.abs(x) < 1e-9) return "0";
  const a = Math.abs(x);
  return a >= 1e5 || a < 1e-3 ? x.toExponential(2) : x.toPrecision(4).replace(/\.?0+$/, "");
}

const vector = (v) => new THREE.Vector3(...v);
const quaternion = ([w, x, y, z]) => new THREE.Quaternion(x, y, z, w);

/** Geometry of a shape, shared by all of its kind, and the scale that makes it this one. */
function geometryOf(g, meshes) {
  const v = (x, y, z) => new THREE.Vector3(x, y, z);
  switch (g.kind) {
    case "sphere": return { key: "sphere", geometry: () => new THREE.SphereGeometry(1, 48, 32), scale: v(g.radius, g.radius, g.radius), reach: 1 };
    case "box": return { key: "box", geometry: () => new THREE.BoxGeometry(1, 1, 1), scale: v(...g.size), reach: 0.5 };
    case "cylinder": return { key: "cylinder", geometry: () => new THREE.CylinderGeometry(1, 1, 1, 64).rotateX(Math.PI / 2), scale: v(g.radius, g.radius, g.height), reach: 1 };
    case "capsule": return { key: `capsule ${g.length} ${g.radius}`, geometry: () => new THREE.CapsuleGeometry(g.radius, g.length, 12, 32).rotateX(Math.PI / 2), scale: v(1, 1, 1), reach: g.radius + g.length / 2 };
    case "mesh": {
      const m = meshes[g.mesh];
      let reach = 0;
      for (let i = 0; i < m.vertices.length; i += 3) reach = Math.max(reach, Math.hypot(m.vertices[i], m.vertices[i + 1], m.vertices[i + 2]));
      return { key: `mesh ${g.mesh}`, scale: v(1, 1, 1), reach, geometry: () => {
        const flat = new THREE.BufferGeometry();
        flat.setAttribute("position", new THREE.BufferAttribute(m.vertices, 3));
        flat.setIndex(new THREE.BufferAttribute(m.triangles, 1));
        const out = flat.toNonIndexed();
        out.computeVertexNormals();
        return out;
      } };
    }
    default: return null;
  }
}

/** The surface of a solid, with vertices split where faces meet at a sharp angle at rest. */
function creased({ vertices: x, triangles }) {
  const n = x.length / 3, normals = [], faces = Array.from({ length: n }, () => []);
  const a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3();
  let edge = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    a.fromArray(x, 3 * triangles[t]);
    b.fromArray(x, 3 * triangles[t + 1]).sub(a);
    c.fromArray(x, 3 * triangles[t + 2]).sub(a);
    edge += b.length();
    normals.push(b.clone().cross(c).normalize());
    for (let k = 0; k < 3; k++) faces[triangles[t + k]].push(t / 3);
  }
  const index = new Uint32Array(triangles.length), source = [], slot = [], vertices = [], place = new Int32Array(n).fill(-1);
  for (let v = 0; v < n; v++) {
    if (!faces[v].length) continue;
    place[v] = vertices.length;
    vertices.push(v);
    const fans = [];
    for (const f of faces[v]) {
      let fan = fans.find((o) => o.normal.dot(normals[f]) > CREASE * o.normal.length());
      if (!fan) {
        fan = { normal: new THREE.Vector3(), id: source.length };
        fans.push(fan);
        source.push(v);
        slot.push(place[v]);
      }
      fan.normal.add(normals[f]);
      for (let k = 0; k < 3; k++) if (triangles[3 * f + k] === v) index[3 * f + k] = fan.id;
    }
  }
  return { index, source, slot, vertices, place, count: vertices.length, edge: edge / Math.max(triangles.length / 3, 1) };
}

/** An arrow of length one along z, its shaft of radius 0.35 and its head of radius 1. */
function arrow() {
  const shaft = new THREE.CylinderGeometry(0.35, 0.35, 0.72, 12).translate(0, 0.36, 0), head = new THREE.ConeGeometry(1, 0.28, 16).translate(0, 0.86, 0);
  const out = new THREE.BufferGeometry();
  for (const name of ["position", "normal"]) {
    out.setAttribute(name, new THREE.BufferAttribute(new Float32Array([...shaft.attributes[name].array, ...head.attributes[name].array]), 3));
  }
  const offset = shaft.attributes.position.count;
  out.setIndex([...shaft.index.array, ...Array.from(head.index.array, (i) => i + offset)]);
  return out.rotateX(Math.PI / 2);
}
