// Soft bodies and cloth: a surface that follows the vertices of a frame, and what it is coloured by.
import * as THREE from "three";
import { elastic, membraneStrain, strainGauge } from "./fields.js";

const CREASE = Math.cos((40 * Math.PI) / 180);

export class Soft {
  /** `first` is where its vertices start among the numbers of the points. */
  constructor(info, meshes, first, part, material) {
    this.info = info;
    this.mesh = meshes[info.mesh];
    this.first = first;
    this.part = part;
    const shown = info.visual == null ? this.mesh : meshes[info.visual];
    this.carriers = info.visual == null ? null : carriersOf(this.mesh, shown);
    this.skin = creased(shown);
    const { source, index, vertices } = this.skin;
    this.at = new Float32Array(3 * vertices.length);
    this.old = new Float32Array(3 * vertices.length);
    this.values = new Float32Array(vertices.length);
    this.geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) {
      this.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * source.length), 3).setUsage(THREE.DynamicDrawUsage));
    }
    this.geometry.setIndex(new THREE.BufferAttribute(index, 1));
    this.object = new THREE.Mesh(this.geometry, material);
    this.object.castShadow = this.object.receiveShadow = true;
    this.object.frustumCulled = false;
  }

  get isSheet() { return !this.mesh.tets.length; }

  /** Where the vertices that are shown are, given all points of a frame. */
  place(points, out) {
    const { vertices } = this.skin, c = this.carriers;
    for (let i = 0; i < vertices.length; i++) {
      if (!c) {
        const p = this.first + 3 * vertices[i];
        out[3 * i] = points[p];
        out[3 * i + 1] = points[p + 1];
        out[3 * i + 2] = points[p + 2];
        continue;
      }
      for (let d = 0; d < 3; d++) {
        let x = 0;
        for (let k = 4 * vertices[i]; k < 4 * vertices[i] + 4; k++) x += c.weights[k] * points[this.first + 3 * c.nodes[k] + d];
        out[3 * i + d] = x;
      }
    }
    return out;
  }

  pose(frame) {
    this.place(frame.points, this.at);
    const { slot } = this.skin, x = this.geometry.attributes.position.array;
    for (let i = 0; i < slot.length; i++) {
      const s = 3 * slot[i];
      x[3 * i] = this.at[s];
      x[3 * i + 1] = this.at[s + 1];
      x[3 * i + 2] = this.at[s + 2];
    }
    this.geometry.attributes.position.needsUpdate = true;
    this.geometry.boundingSphere = null;
    this.geometry.boundingBox = null;
    this.geometry.computeVertexNormals();
  }

  /** The field of every vertex that is shown; nothing where it has none. */
  measure(by, frame, before) {
    const v = this.values, n = v.length;
    if (by === "speed") {
      v.fill(0);
      if (!before || before.t === frame.t) return v;
      const x = this.place(frame.points, this.at), y = this.place(before.points, this.old), dt = Math.abs(frame.t - before.t);
      for (let i = 0; i < n; i++) v[i] = Math.hypot(x[3 * i] - y[3 * i], x[3 * i + 1] - y[3 * i + 1], x[3 * i + 2] - y[3 * i + 2]) / dt;
      return v;
    }
    if (by === "force") {
      // Each force fades over the neighbours of the vertex where it acts.
      v.fill(0);
      const x = this.place(frame.points, this.at), f = frame.contact, width = this.skin.edge ** 2;
      for (let c = 0; c < 12 * frame.contacts; c += 12) {
        if (frame.parts[c] !== this.part && frame.parts[c + 1] !== this.part) continue;
        const size = Math.hypot(f[c + 8], f[c + 9], f[c + 10]);
        for (let i = 0; i < n; i++) {
          const d2 = (x[3 * i] - f[c + 2]) ** 2 + (x[3 * i + 1] - f[c + 3]) ** 2 + (x[3 * i + 2] - f[c + 4]) ** 2;
          if (d2 < 9 * width) v[i] += size * Math.exp(-d2 / width);
        }
      }
      return v;
    }
    if (this.isSheet) return by === "strain" ? membraneStrain(this.mesh, this.skin.place, frame.points, this.first, v) : null;
    const { place, count } = this.gaugePlaces();
    this.gauge ??= strainGauge(this.mesh, place);
    if (!this.carriers) return elastic(by, this.info, this.mesh, this.gauge, frame.points, this.first, place, count, v);
    this.nodeValues ??= new Float32Array(count);
    elastic(by, this.info, this.mesh, this.gauge, frame.points, this.first, place, count, this.nodeValues);
    const { nodes, weights } = this.carriers;
    this.skin.vertices.forEach((x, i) => {
      v[i] = 0;
      for (let k = 4 * x; k < 4 * x + 4; k++) v[i] += weights[k] * this.nodeValues[place[nodes[k]]];
    });
    return v;
  }

  /** Which vertices of the mesh have strain: those of the surface, or those that carry it. */
  gaugePlaces() {
    if (!this.carriers) return { place: this.skin.place, count: this.skin.vertices.length };
    if (!this.carrierPlaces) {
      const place = new Int32Array(this.mesh.vertices.length / 3).fill(-1);
      let count = 0;
      for (const n of this.carriers.nodes) if (place[n] < 0) place[n] = count++;
      this.carrierPlaces = { place, count };
    }
    return this.carrierPlaces;
  }

  /** Mean position and velocity of its vertices. */
  mean(frame, before) {
    const n = this.mesh.vertices.length / 3, x = [0, 0, 0], v = [0, 0, 0], dt = before ? frame.t - before.t : 0;
    for (let i = 0; i < 3 * n; i++) {
      x[i % 3] += frame.points[this.first + i] / n;
      if (dt) v[i % 3] += (frame.points[this.first + i] - before.points[this.first + i]) / dt / n;
    }
    return { x, v };
  }
}

/** Corners and weights of the tetrahedra that carry the vertices of a surface. */
function carriersOf(mesh, shown) {
  const n = shown.hosts.length, nodes = new Uint32Array(4 * n), weights = new Float32Array(4 * n);
  const m = new THREE.Matrix3(), p = new THREE.Vector3(), o = new THREE.Vector3();
  const corner = (i) => new THREE.Vector3().fromArray(mesh.vertices, 3 * i).sub(o);
  for (let i = 0; i < n; i++) {
    const [a, b, c, d] = mesh.tets.subarray(4 * shown.hosts[i], 4 * shown.hosts[i] + 4);
    o.fromArray(mesh.vertices, 3 * a);
    const [e, f, g] = [corner(b), corner(c), corner(d)];
    m.set(e.x, f.x, g.x, e.y, f.y, g.y, e.z, f.z, g.z).invert();
    p.fromArray(shown.vertices, 3 * i).sub(o).applyMatrix3(m);
    nodes.set([a, b, c, d], 4 * i);
    weights.set([1 - p.x - p.y - p.z, p.x, p.y, p.z], 4 * i);
  }
  return { nodes, weights };
}

/** A surface with vertices split where faces meet at a sharp angle at rest. */
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
  return { index, source, slot, vertices, place, edge: edge / Math.max(triangles.length / 3, 1) };
}
