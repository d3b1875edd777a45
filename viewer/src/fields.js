// What surfaces can be coloured by, as numbers per surface vertex of a solid or per body.
import { Color } from "three";

/** Names as they stand in the menu, with units. */
export const FIELDS = {
  body: "body",
  strain: "strain",
  stress: "stress [Pa]",
  speed: "speed [m/s]",
  force: "contact force [N]",
};

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const ramp = VIRIDIS.map((c) => new Color(c));

/** The scale as a CSS gradient. */
export const gradient = `linear-gradient(90deg, ${VIRIDIS.join(", ")})`;

/** From dark blue over green to yellow, `x` from 0 to 1, in the linear space of the renderer. */
export function colour(x, out, at) {
  const s = Math.min(Math.max(x || 0, 0), 1) * (ramp.length - 1), i = Math.min(Math.floor(s), ramp.length - 2), f = s - i;
  out[at] = ramp[i].r + f * (ramp[i + 1].r - ramp[i].r);
  out[at + 1] = ramp[i].g + f * (ramp[i + 1].g - ramp[i].g);
  out[at + 2] = ramp[i].b + f * (ramp[i + 1].b - ramp[i].b);
}

/** Tetrahedra at the surface with what strain needs: the inverse of their edges at rest. */
export function strainGauge(mesh, onSurface) {
  const { vertices: x, tets } = mesh, near = [];
  for (let t = 0; t < tets.length; t += 4) {
    if (onSurface[tets[t]] >= 0 || onSurface[tets[t + 1]] >= 0 || onSurface[tets[t + 2]] >= 0 || onSurface[tets[t + 3]] >= 0) near.push(t);
  }
  const inverse = new Float64Array(9 * near.length), m = new Float64Array(9);
  near.forEach((t, i) => invert(edges(x, tets, t, 0, m), inverse, 9 * i));
  return { near: Uint32Array.from(near), inverse };
}

/** Edges from the first corner, as columns of `m`. */
function edges(x, tets, t, first, m) {
  const o = first + 3 * tets[t];
  for (let k = 0; k < 3; k++) {
    const p = first + 3 * tets[t + k + 1];
    for (let c = 0; c < 3; c++) m[3 * c + k] = x[p + c] - x[o + c];
  }
  return m;
}

function invert(m, out, at) {
  const [a, b, c, d, e, f, g, h, i] = m;
  const A = e * i - f * h, B = f * g - d * i, C = d * h - e * g;
  const s = 1 / (a * A + b * B + c * C);
  out.set([A * s, (c * h - b * i) * s, (b * f - c * e) * s, B * s, (a * i - c * g) * s, (c * d - a * f) * s, C * s, (b * g - a * h) * s, (a * e - b * d) * s], at);
}

/** Von Mises strain √(2/3 dev E : dev E) of Green's E, or von Mises stress, averaged at vertices; nothing without a law. */
export function elastic(kind, solid, mesh, gauge, points, first, place, count, out) {
  if (kind === "stress" && !solid.material) return null;
  const { tets } = mesh, sums = new Float64Array(count), n = new Uint16Array(count);
  const stress = kind === "stress" ? stressOf(solid.material) : null;
  const F = new Float64Array(9), { near, inverse: I } = gauge;
  for (let i = 0; i < near.length; i++) {
    const t = near[i], k = 9 * i, o = first + 3 * tets[t], p = first + 3 * tets[t + 1], q = first + 3 * tets[t + 2], r = first + 3 * tets[t + 3];
    for (let c = 0; c < 3; c++) {
      // Row c of F: edges now times the inverse of the edges at rest.
      const u = points[p + c] - points[o + c], v = points[q + c] - points[o + c], w = points[r + c] - points[o + c];
      F[3 * c] = u * I[k] + v * I[k + 3] + w * I[k + 6];
      F[3 * c + 1] = u * I[k + 1] + v * I[k + 4] + w * I[k + 7];
      F[3 * c + 2] = u * I[k + 2] + v * I[k + 5] + w * I[k + 8];
    }
    const value = stress ? stress(F) : greenStrain(F);
    for (let j = 0; j < 4; j++) {
      const s = place[tets[t + j]];
      if (s >= 0) { sums[s] += value; n[s]++; }
    }
  }
  for (let s = 0; s < count; s++) out[s] = n[s] ? sums[s] / n[s] : 0;
  return out;
}

/** The same strain of a sheet, in its own plane, averaged at its vertices. */
export function membraneStrain(mesh, place, points, first, out) {
  const { vertices: x, triangles } = mesh, n = new Uint16Array(out.length);
  // Squares and product of two edges of a triangle.
  const metric = (p, o, t) => {
    const at = (k, c) => p[o + 3 * triangles[t + k] + c] - p[o + 3 * triangles[t] + c];
    let [aa, ab, bb] = [0, 0, 0];
    for (let c = 0; c < 3; c++) { aa += at(1, c) ** 2; ab += at(1, c) * at(2, c); bb += at(2, c) ** 2; }
    return [aa, ab, bb];
  };
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const [A, B, C] = metric(x, 0, t), [a, b, c] = metric(points, first, t);
    // With rest edges (√A, 0) and (B/√A, h): C = Fᵀ F, then E = (C − 1)/2 in the plane.
    const u = Math.sqrt(A), h = Math.sqrt(Math.max(C - (B * B) / A, 1e-30)), w = B / u;
    const xx = a / A, xy = (b / u - xx * w) / h, yy = (c - xx * w * w - 2 * xy * w * h) / (h * h);
    const value = (2 / 3) * mises((xx - 1) / 2, (yy - 1) / 2, 0, xy / 2, 0, 0);
    for (let k = 0; k < 3; k++) { const s = place[triangles[t + k]]; out[s] += value; n[s]++; }
  }
  for (let s = 0; s < out.length; s++) if (n[s]) out[s] /= n[s];
  return out;
}

/** √(3/2 dev : dev) of a symmetric matrix. */
function mises(xx, yy, zz, xy, yz, zx) {
  const p = (xx + yy + zz) / 3;
  return Math.sqrt(1.5 * ((xx - p) ** 2 + (yy - p) ** 2 + (zz - p) ** 2 + 2 * (xy * xy + yz * yz + zx * zx)));
}

function greenStrain(F) {
  const dot = (a, b) => F[a] * F[b] + F[a + 3] * F[b + 3] + F[a + 6] * F[b + 6];
  return (2 / 3) * 0.5 * mises(dot(0, 0), dot(1, 1), dot(2, 2), dot(0, 1), dot(1, 2), dot(2, 0));
}

const det = (F) => F[0] * (F[4] * F[8] - F[5] * F[7]) + F[1] * (F[5] * F[6] - F[3] * F[8]) + F[2] * (F[3] * F[7] - F[4] * F[6]);

/** σ of the law. Only the part that changes shape counts, so that λ drops out of most laws. */
function stressOf(material) {
  const law = typeof material.law === "string" ? material.law : Object.keys(material.law)[0];
  const mu = material.young / (2 * (1 + material.poisson));
  const lambda = (material.young * material.poisson) / ((1 + material.poisson) * (1 - 2 * material.poisson));
  const row = (F, a, b) => F[a] * F[b] + F[a + 1] * F[b + 1] + F[a + 2] * F[b + 2];
  if (law === "linear") {
    return (F) => 2 * mu * mises(F[0], F[4], F[8], (F[1] + F[3]) / 2, (F[5] + F[7]) / 2, (F[6] + F[2]) / 2);
  }
  if (law === "neo-hookean" || law === "stable-neo-hookean") {
    return (F) => (mu / Math.abs(det(F))) * mises(row(F, 0, 0), row(F, 3, 3), row(F, 6, 6), row(F, 0, 3), row(F, 3, 6), row(F, 6, 0));
  }
  // First Piola stress P, then σ = P Fᵀ / J.
  const piola = law === "corotated" ? corotated : kirchhoff;
  return (F) => {
    const P = piola(F, mu, lambda), s = 1 / Math.abs(det(F));
    const at = (a, b) => (P[a] * F[b] + P[a + 1] * F[b + 1] + P[a + 2] * F[b + 2]) * s;
    return mises(at(0, 0), at(3, 3), at(6, 6), at(0, 3), at(3, 6), at(6, 0));
  };
}

function kirchhoff(F, mu, lambda) {
  const E = (a, b) => 0.5 * (F[a] * F[b] + F[a + 3] * F[b + 3] + F[a + 6] * F[b + 6] - (a === b ? 1 : 0));
  const trace = E(0, 0) + E(1, 1) + E(2, 2), P = new Float64Array(9);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) {
    let sum = lambda * trace * F[3 * r + c];
    for (let k = 0; k < 3; k++) sum += 2 * mu * F[3 * r + k] * E(k, c);
    P[3 * r + c] = sum;
  }
  return P;
}

function corotated(F, mu, lambda) {
  // The rotation of F, by Higham's iteration R ← (R + R⁻ᵀ)/2.
  const R = Float64Array.from(F), I = new Float64Array(9);
  for (let k = 0; k < 6; k++) {
    invert(R, I, 0);
    for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) R[3 * r + c] = 0.5 * (R[3 * r + c] + I[3 * c + r]);
  }
  let trace = -3;
  for (let i = 0; i < 9; i++) trace += R[i] * F[i];
  return F.map((f, i) => 2 * mu * (f - R[i]) + lambda * trace * R[i]);
}
