//! An animated binary glTF: bodies move by their nodes, soft bodies by morph targets.

use super::skin::Skin;
use super::surface::{Patch, floor_size, patch};
use crate::error::{Error, Result};
use crate::recording::{Frame, Header, Reader, ShapeOwner};
use crate::write::whole_file;
use serde_json::{Value, json};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use stiction::Vec3;

/// Most shapes of a soft body in an animation: each is a whole copy of its surface.
const MAX_SHAPES: usize = 120;

/// Colours of bodies in turn; what does not move freely is grey.
const COLOURS: [[f64; 3]; 6] = [
    [0.77, 0.10, 0.03],
    [0.03, 0.24, 0.41],
    [0.88, 0.44, 0.03],
    [0.10, 0.27, 0.20],
    [0.27, 0.09, 0.17],
    [0.08, 0.15, 0.32],
];
const GREY: [f64; 3] = [0.4, 0.43, 0.5];

/// Writes a GLB file; returns how many frames it has. z is turned to y, as glTF has it.
pub fn glb<R: Read>(reader: &mut Reader<R>, path: &Path) -> Result<usize> {
    let header = reader.header().clone();
    let frames: Vec<Frame> = reader.collect();
    let Some(first) = frames.first() else {
        return Err(Error::at_path(
            path,
            "nothing to write: the recording has no frame",
            "record the run again",
        ));
    };
    let mut file = Glb::default();
    let floor = floor_size(first);
    let times = file.floats(&frames.iter().map(|f| f.t as f32).collect::<Vec<_>>(), 1, true);

    // One node per body or particle, and the patches of its shapes as its mesh.
    let owners = (0..header.bodies.len() as u32)
        .map(ShapeOwner::Body)
        .chain((0..header.particles.len() as u32).map(ShapeOwner::Particle));
    for (k, owner) in owners.enumerate() {
        let (name, moves) = match owner {
            ShapeOwner::Body(b) => {
                let b = &header.bodies[b as usize];
                (&b.name, b.motion == "free")
            }
            ShapeOwner::Particle(p) => (&header.particles[p as usize].name, true),
        };
        let patches: Vec<Patch> =
            header.shapes.iter().filter(|s| s.owner == owner).map(|s| patch(&header, s, floor)).collect();
        // Links of one rod look alike.
        let rod = header.rods.iter().find(|r| (r.first..r.first + r.links).contains(&(k as u32)));
        let tint = rod.map_or(k, |r| r.first as usize);
        let material = file.material(if moves { COLOURS[tint % COLOURS.len()] } else { GREY });
        let primitives: Vec<Value> =
            patches.iter().filter(|p| !p.triangles.is_empty()).map(|p| file.flat(p, material)).collect();
        let node = file.node(name, primitives);
        let place = |f: &Frame| match owner {
            ShapeOwner::Body(b) => f.poses[b as usize],
            ShapeOwner::Particle(p) => {
                let [x, y, z] = f.points[p as usize];
                [x, y, z, 1.0, 0.0, 0.0, 0.0]
            }
        };
        let moved: Vec<f32> = frames.iter().flat_map(|f| place(f)[..3].to_vec()).collect();
        let turned: Vec<f32> = frames
            .iter()
            .flat_map(|f| {
                let [_, _, _, w, x, y, z] = place(f);
                [x, y, z, w]
            })
            .collect();
        let moved = file.floats(&moved, 3, false);
        let turned = file.floats(&turned, 4, false);
        file.channel(node, "translation", times, moved, "LINEAR");
        file.channel(node, "rotation", times, turned, "LINEAR");
    }
    soft(&mut file, &header, &frames);

    let json = file.json(&header);
    let count = frames.len();
    whole_file(path, |out| file.write(json, BufWriter::new(out)))?;
    Ok(count)
}

/// Soft bodies: the surface at the start, and its displacement at some of the frames as morph targets.
fn soft(file: &mut Glb, header: &Header, frames: &[Frame]) {
    let stride = frames.len().div_ceil(MAX_SHAPES).max(1);
    let keys: Vec<usize> = (0..frames.len()).step_by(stride).collect();
    let times: Vec<f32> = keys.iter().map(|&k| frames[k].t as f32).collect();
    for ((k, s), range) in header.solids.iter().enumerate().zip(header.solid_points()) {
        let skin = Skin::new(header, s);
        if skin.triangles.is_empty() {
            continue;
        }
        let at = |f: &Frame| skin.at(&f.points[range.clone()]);
        let start = at(&frames[0]);
        let position = file.floats(&start.concat(), 3, true);
        let indices = file.indices(&skin.triangles);
        let targets: Vec<Value> = keys
            .iter()
            .map(|&key| {
                let delta: Vec<f32> = at(&frames[key])
                    .iter()
                    .zip(&start)
                    .flat_map(|(a, b)| [a[0] - b[0], a[1] - b[1], a[2] - b[2]])
                    .collect();
                json!({ "POSITION": file.floats(&delta, 3, true) })
            })
            .collect();
        let material = file.material(COLOURS[k % COLOURS.len()]);
        let primitive = json!({
            "attributes": { "POSITION": position }, "indices": indices, "material": material, "targets": targets,
        });
        let node = file.node(&s.name, vec![primitive]);
        let n = keys.len();
        let weights: Vec<f32> = (0..n * n).map(|i| if i / n == i % n { 1.0 } else { 0.0 }).collect();
        let input = file.floats(&times, 1, true);
        let output = file.floats(&weights, 1, false);
        file.channel(node, "weights", input, output, "LINEAR");
    }
}

/// A file in the making.
#[derive(Default)]
struct Glb {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Glb {
    fn view(&mut self, start: usize) -> usize {
        self.views.push(json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start }));
        self.views.len() - 1
    }

    /// An accessor of groups of `width` numbers; positions and times state their range.
    fn floats(&mut self, x: &[f32], width: usize, range: bool) -> usize {
        let start = self.bytes.len();
        x.iter().for_each(|v| self.bytes.extend(v.to_le_bytes()));
        let view = self.view(start);
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][width - 1];
        let mut a =
            json!({ "bufferView": view, "componentType": 5126, "count": x.len() / width, "type": kind });
        if range {
            let column = |k: usize| x.iter().skip(k).step_by(width).copied();
            a["min"] = (0..width).map(|k| column(k).fold(f32::INFINITY, f32::min)).collect();
            a["max"] = (0..width).map(|k| column(k).fold(f32::NEG_INFINITY, f32::max)).collect();
        }
        self.accessors.push(a);
        self.accessors.len() - 1
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let start = self.bytes.len();
        triangles.iter().flatten().for_each(|v| self.bytes.extend(v.to_le_bytes()));
        let view = self.view(start);
        let count = 3 * triangles.len();
        self.accessors
            .push(json!({ "bufferView": view, "componentType": 5125, "count": count, "type": "SCALAR" }));
        self.accessors.len() - 1
    }

    fn material(&mut self, [r, g, b]: [f64; 3]) -> usize {
        self.materials.push(json!({
            "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6 },
            "doubleSided": true,
        }));
        self.materials.len() - 1
    }

    /// Triangles with a normal each: corners of boxes stay sharp.
    fn flat(&mut self, p: &Patch, material: usize) -> Value {
        let (mut position, mut normal) = (Vec::new(), Vec::new());
        for t in &p.triangles {
            let c = t.map(|i| p.vertices[i as usize]);
            let n: Vec3 = (c[1] - c[0]).cross(c[2] - c[0]).normalize_or(Vec3::Z);
            for x in c {
                position.extend(x.as_vec3().to_array());
                normal.extend(n.as_vec3().to_array());
            }
        }
        let (p, n) = (self.floats(&position, 3, true), self.floats(&normal, 3, false));
        json!({ "attributes": { "POSITION": p, "NORMAL": n }, "material": material })
    }

    fn node(&mut self, name: &str, primitives: Vec<Value>) -> usize {
        let mut node = json!({ "name": name });
        if !primitives.is_empty() {
            self.meshes.push(json!({ "primitives": primitives }));
            node["mesh"] = json!(self.meshes.len() - 1);
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn channel(&mut self, node: usize, path: &str, input: usize, output: usize, interpolation: &str) {
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        let sampler = self.samplers.len() - 1;
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    fn json(&mut self, header: &Header) -> Value {
        // glTF is y up: one node turns everything.
        let children: Vec<usize> = (0..self.nodes.len()).collect();
        let half = std::f64::consts::FRAC_1_SQRT_2;
        self.nodes
            .push(json!({ "name": header.name, "children": children, "rotation": [-half, 0.0, 0.0, half] }));
        json!({
            "asset": { "version": "2.0", "generator": "stiction" },
            "scene": 0,
            "scenes": [{ "nodes": [self.nodes.len() - 1] }],
            "nodes": self.nodes, "meshes": self.meshes, "materials": self.materials,
            "accessors": self.accessors, "bufferViews": self.views, "buffers": [{ "byteLength": self.bytes.len() }],
            "animations": [{ "name": header.name, "samplers": self.samplers, "channels": self.channels }],
        })
    }

    /// Header, JSON chunk padded by spaces, binary chunk (already of whole words).
    fn write(&self, json: Value, mut out: impl Write) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(&json)?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + text.len() + 8 + self.bytes.len();
        let total =
            u32::try_from(total).map_err(|_| std::io::Error::other("more than 4 GB; record fewer frames"))?;
        out.write_all(b"glTF")?;
        for word in [2, total, text.len() as u32] {
            out.write_all(&u32::to_le_bytes(word))?;
        }
        out.write_all(b"JSON")?;
        out.write_all(&text)?;
        out.write_all(&(self.bytes.len() as u32).to_le_bytes())?;
        out.write_all(b"BIN\0")?;
        out.write_all(&self.bytes)?;
        out.flush()
    }
}
