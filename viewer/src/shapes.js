// Geometry of rigid shapes and of glyphs.
import * as THREE from "three";

export const vector = (v) => new THREE.Vector3(...v);
export const quaternion = ([w, x, y, z]) => new THREE.Quaternion(x, y, z, w);

/** Geometry of a shape, shared by all of its kind, and the scale that makes it this one. */
export function geometryOf(g, meshes) {
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

/** A cylinder of radius and length one, from the origin along z. */
export const shaft = () => new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0).rotateX(Math.PI / 2);

/** A cone of radius and length one with its tip at the origin, pointing along z. */
export const tip = () => new THREE.ConeGeometry(1, 1, 16).translate(0, -0.5, 0).rotateX(Math.PI / 2);
