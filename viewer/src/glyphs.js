// What is drawn over the bodies: contact points, forces, friction cones, joints, springs, trails.
import * as THREE from "three";
import { quaternion, shaft, tip, vector } from "./shapes.js";

const Z = new THREE.Vector3(0, 0, 1), X = new THREE.Vector3(1, 0, 0);
const AXES = [["#e5484d", X], ["#30a46c", new THREE.Vector3(0, 1, 0)], ["#3b82f6", Z]].map(([c, e]) => [new THREE.Color(c), e]);
// Sizes in radii of the scene.
const DOT = 0.007, ARROW = 0.26, THICK = 0.0055, CONE = 0.1, AXIS = 0.13, STRING = 0.004;
/** Arrows of impacts stop at this many times the usual length. */
const LONGEST = 2;

/** Many copies of one geometry; room grows as they come. */
class Copies {
  constructor(scene, geometry, material, order) {
    Object.assign(this, { scene, geometry, material, order });
    this.grow(64);
  }

  grow(n) {
    if (this.mesh) {
      this.scene.remove(this.mesh);
      this.mesh.dispose();
    }
    this.mesh = new THREE.InstancedMesh(this.geometry, this.material, n);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = this.order;
    this.mesh.count = 0;
    this.scene.add(this.mesh);
  }

  /** Starts anew with `n` copies. */
  reset(n) {
    if (this.mesh.instanceMatrix.count < n) this.grow(2 * n);
    this.mesh.count = n;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    return this.mesh;
  }
}

export class Glyphs {
  constructor(scene, recording, radius, parts, palette) {
    Object.assign(this, { recording, radius, parts });
    const over = { depthTest: false, transparent: true };
    this.dots = new Copies(scene, new THREE.SphereGeometry(1, 12, 8), new THREE.MeshBasicMaterial({ color: "#d61f69", ...over }), 2);
    const green = new THREE.MeshStandardMaterial({ color: "#22b573", roughness: 0.5, emissive: "#0d6b40", opacity: 0.92, ...over });
    this.shafts = new Copies(scene, shaft(), green, 3);
    this.tips = new Copies(scene, tip(), green, 3);
    const cone = new THREE.ConeGeometry(1, 1, 32, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
    this.cones = new Copies(scene, cone, new THREE.MeshBasicMaterial({ color: "#7b61ff", transparent: true, opacity: 0.3, side: THREE.DoubleSide, depthWrite: false }), 1);
    const axes = new THREE.MeshBasicMaterial(over);
    this.axes = new Copies(scene, shaft(), axes, 4);
    this.axisTips = new Copies(scene, tip(), axes, 4);
    this.strings = new Copies(scene, shaft(), new THREE.MeshStandardMaterial({ color: "#8a6d3b", roughness: 0.7 }), 0);
    this.strings.mesh.castShadow = true;
    this.trails = new THREE.Group();
    scene.add(this.trails);
    const { columns } = recording;
    for (const name of columns.keys()) {
      const base = name.slice(0, -2);
      if (!name.endsWith(".x") || !columns.has(`${base}.z`)) continue;
      const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: palette[this.trails.children.length % palette.length] }));
      line.userData.xyz = ["x", "y", "z"].map((c) => columns.get(`${base}.${c}`));
      line.frustumCulled = false;
      this.trails.add(line);
    }
  }

  /** Moves everything to a frame; `force` [N] is drawn as long as {@link ARROW}. */
  pose(frame, show, force, matrices) {
    this.poseContacts(frame, show, force);
    this.poseJoints(show.joints, matrices);
    this.poseSprings(frame);
    this.trails.visible = show.trails;
    if (show.trails) this.poseTrails(frame);
  }

  poseContacts({ contacts: n, contact: f, parts }, show, force) {
    const m = new THREE.Matrix4(), q = new THREE.Quaternion(), p = new THREE.Vector3(), d = new THREE.Vector3(), size = new THREE.Vector3();
    // Where there are many, each is smaller.
    const R = this.radius, crowd = Math.min(1, Math.sqrt(200 / Math.max(n, 1))), dot = DOT * R * crowd;
    const dots = this.dots.reset(show.contacts ? n : 0);
    for (let c = 0; c < dots.count; c++) dots.setMatrixAt(c, m.makeScale(dot, dot, dot).setPosition(f[12 * c + 2], f[12 * c + 3], f[12 * c + 4]));
    const shafts = this.shafts.reset(show.forces ? n : 0), tips = this.tips.reset(shafts.count);
    const g = vector(this.recording.header.gravity), free = (i) => this.parts[i]?.free !== false;
    // Of the two opposite forces, the one on what moves freely; between two of those, the one that holds up.
    const sideOf = (c) => {
      const a = free(parts[12 * c]), b = free(parts[12 * c + 1]);
      return (a === b ? d.fromArray(f, 12 * c + 5).dot(g) > 0 : b) ? -1 : 1;
    };
    for (let c = 0; c < shafts.count; c++) {
      const side = sideOf(c);
      d.fromArray(f, 12 * c + 8).multiplyScalar(side);
      const length = Math.min(d.length() / force, LONGEST) * ARROW * R, thick = Math.min(THICK * R * crowd, 0.08 * length), head = Math.min(8 * thick, 0.45 * length);
      q.setFromUnitVectors(Z, d.normalize());
      p.fromArray(f, 12 * c + 2);
      shafts.setMatrixAt(c, m.compose(p, q, size.set(thick, thick, Math.max(length - head, 1e-9))));
      tips.setMatrixAt(c, m.compose(p.addScaledVector(d, length), q, size.set(2.8 * thick, 2.8 * thick, Math.max(head, 1e-9))));
    }
    const cones = this.cones.reset(show.cones ? n : 0);
    for (let c = 0; c < cones.count; c++) {
      const tall = CONE * R, wide = tall * Math.min(f[12 * c + 11], 3);
      const side = sideOf(c);
      q.setFromUnitVectors(Z, d.fromArray(f, 12 * c + 5).normalize().multiplyScalar(side));
      cones.setMatrixAt(c, m.compose(p.fromArray(f, 12 * c + 2), q, size.set(wide, wide, tall)));
    }
  }

  /** The axes of a joint as its second body holds them; the first is the joint's own and longest. */
  poseJoints(shown, matrices) {
    const { joints } = this.recording.header, n = shown ? 3 * joints.length : 0;
    const shafts = this.axes.reset(n), tips = this.axisTips.reset(n);
    const m = new THREE.Matrix4(), q = new THREE.Quaternion(), turn = new THREE.Quaternion(), o = new THREE.Vector3(), p = new THREE.Vector3(), e = new THREE.Vector3(), size = new THREE.Vector3();
    for (let i = 0; i < n; i++) {
      const j = joints[Math.floor(i / 3)], [colour, axis] = AXES[i % 3], body = matrices[j.b];
      o.copy(vector(j.anchor_b)).applyMatrix4(body);
      turn.setFromRotationMatrix(body).multiply(quaternion(j.frame_b));
      e.copy(axis).applyQuaternion(turn);
      q.setFromUnitVectors(Z, e);
      const length = (i % 3 ? 0.55 : 1) * AXIS * this.radius, thick = 0.004 * this.radius, head = 0.28 * AXIS * 0.55 * this.radius;
      shafts.setMatrixAt(i, m.compose(o, q, size.set(thick, thick, length - head)));
      tips.setMatrixAt(i, m.compose(p.copy(o).addScaledVector(e, length), q, size.set(2.6 * thick, 2.6 * thick, head)));
      shafts.setColorAt(i, colour);
      tips.setColorAt(i, colour);
    }
  }

  poseSprings(frame) {
    const n = this.recording.header.springs.length, strings = this.strings.reset(n), first = 3 * this.recording.springs;
    const m = new THREE.Matrix4(), q = new THREE.Quaternion(), a = new THREE.Vector3(), b = new THREE.Vector3(), size = new THREE.Vector3(), thick = STRING * this.radius;
    for (let i = 0; i < n; i++) {
      a.fromArray(frame.points, first + 6 * i);
      b.fromArray(frame.points, first + 6 * i + 3).sub(a);
      const length = Math.max(b.length(), 1e-9);
      q.setFromUnitVectors(Z, b.divideScalar(length));
      strings.setMatrixAt(i, m.compose(a, q, size.set(thick, thick, length)));
    }
  }

  poseTrails(frame) {
    for (const line of this.trails.children) {
      const [x, y, z] = line.userData.xyz, last = frame.index + 1, at = new Float32Array(3 * last);
      for (let i = 0; i < last; i++) { at[3 * i] = x[i]; at[3 * i + 1] = y[i]; at[3 * i + 2] = z[i]; }
      line.geometry.dispose();
      line.geometry.setAttribute("position", new THREE.BufferAttribute(at, 3));
    }
  }
}
