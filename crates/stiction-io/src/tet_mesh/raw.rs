//! What all formats have in common: nodes and elements by the ids of the file, made into a checked mesh.

use super::TetFile;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use stiction::Vec3;
use stiction::mesh::{MeshError, TetMesh};

/// Nodes and elements of a file as it names them.
#[derive(Default)]
pub(super) struct Raw {
    pub nodes: Vec<(u64, Vec3)>,
    pub tets: Vec<(u64, [u64; 4])>,
    /// Elements that are left out: how many of each kind.
    ignored: BTreeMap<&'static str, usize>,
    /// The nodes that those use.
    ignored_nodes: Vec<u64>,
}

impl Raw {
    /// Leaves out an element of a `kind` in the plural, such as "triangles".
    pub fn ignore(&mut self, kind: &'static str, nodes: impl IntoIterator<Item = u64>) {
        *self.ignored.entry(kind).or_default() += 1;
        self.ignored_nodes.extend(nodes);
    }

    /// The mesh, with everything checked that a soft body needs.
    pub fn finish(mut self, name: &str) -> Result<TetFile> {
        let mut notes: Vec<String> = Vec::new();
        if !self.ignored.is_empty() {
            let kinds: Vec<String> = self.ignored.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
            notes.push(format!("left out {}: only tetrahedra of four nodes are taken", kinds.join(", ")));
        }
        if self.tets.is_empty() {
            let found = notes.first().map_or(String::new(), |n| format!(" ({n})"));
            return Err(Error::new(
                name,
                format!("has no tetrahedra{found}"),
                "export volume elements (4-node tetrahedra), not the surface alone",
            ));
        }
        let left_out = self.drop_ignored_nodes();
        if left_out > 0 {
            notes.push(format!("left out {left_out} nodes that only other elements use"));
        }

        if u32::try_from(self.nodes.len()).is_err() {
            return Err(Error::new(name, "has too many nodes", "use a coarser mesh"));
        }
        let mut places: Vec<(u64, u32)> =
            self.nodes.iter().enumerate().map(|(i, n)| (n.0, i as u32)).collect();
        places.sort_unstable();
        if let Some(w) = places.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(Error::new(
                name,
                format!("node {} is there twice", w[0].0),
                "give each node its own number",
            ));
        }
        let mut mesh = TetMesh { vertices: self.nodes.iter().map(|n| n.1).collect(), tets: Vec::new() };
        for (id, nodes) in &self.tets {
            let mut tet = [0; 4];
            for (k, n) in nodes.iter().enumerate() {
                let Ok(at) = places.binary_search_by_key(n, |p| p.0) else {
                    return Err(Error::new(
                        name,
                        format!("tet {id} uses node {n}, which is not in the file"),
                        "export the mesh again, and check whether nodes are counted from 0 or 1",
                    ));
                };
                tet[k] = places[at].1;
            }
            mesh.tets.push(tet);
        }
        let turned = mesh.orient();
        if turned > 0 {
            notes.push(format!("turned {turned} of {} tetrahedra that had negative volume", mesh.tets.len()));
        }
        let node_ids: Vec<u64> = self.nodes.iter().map(|n| n.0).collect();
        let tet_ids: Vec<u64> = self.tets.iter().map(|t| t.0).collect();
        mesh.check().map_err(|e| {
            let named = MeshError {
                nodes: e.nodes.iter().map(|&i| node_ids[i as usize]).collect(),
                tets: e.tets.iter().map(|&i| tet_ids[i as usize]).collect(),
                ..e
            };
            Error::new(name, named.to_string(), named.remedy())
        })?;
        Ok(TetFile { mesh, node_ids, tet_ids, notes })
    }

    /// Drops the nodes that ignored elements use and tets do not, and returns how many.
    fn drop_ignored_nodes(&mut self) -> usize {
        let mut used: Vec<u64> = self.tets.iter().flat_map(|t| t.1).collect();
        for ids in [&mut used, &mut self.ignored_nodes] {
            ids.sort_unstable();
            ids.dedup();
        }
        let before = self.nodes.len();
        let ignored = &self.ignored_nodes;
        self.nodes.retain(|n| used.binary_search(&n.0).is_ok() || ignored.binary_search(&n.0).is_err());
        before - self.nodes.len()
    }
}
