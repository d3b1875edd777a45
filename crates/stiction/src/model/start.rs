//! Where bodies and solids start, as numbers: centres, turns, velocities and spins.

use super::{Model, Owner, Param};
use crate::coords::State;
use crate::linalg::Vec3;
use crate::linalg::rotation::{self, left_jacobian};

/// First places in q and v of the nodes that an owner moves, with their masses in `base`: the weights of centres, which stay the same
/// whatever parameters do to masses.
fn nodes_of(base: &Model, owner: Owner) -> Vec<(usize, usize, f64)> {
    let nodes = match owner {
        Owner::Node(n) => n.index()..n.index() + 1,
        Owner::Solid(s) => base.solids[s.index()].nodes.clone(),
        Owner::Body(_) => 0..0,
    };
    base.nodes[nodes].iter().map(|n| (n.q, n.dof, n.mass)).collect()
}

fn mean(nodes: &[(usize, usize, f64)], of: impl Fn(usize, usize) -> Vec3) -> Vec3 {
    let mass: f64 = nodes.iter().map(|n| n.2).sum();
    nodes.iter().map(|n| of(n.0, n.1) * (n.2 / mass)).sum()
}

/// First places in q and v of what an owner moves.
fn places(base: &Model, owner: Owner) -> Vec<(usize, usize)> {
    match owner {
        Owner::Body(b) => {
            let b = &base.bodies[b.index()];
            vec![(b.q, b.dof)]
        }
        _ => nodes_of(base, owner).iter().map(|n| (n.0, n.1)).collect(),
    }
}

/// Value of a parameter of the initial state `s`; zero for what is added to it.
pub(super) fn value(base: &Model, s: &State, p: Param) -> f64 {
    let at = |x: &[f64], i: usize| Vec3::from_slice(&x[i..]);
    match p {
        Param::Position(Owner::Body(b), k) => s.q[base.bodies[b.index()].q + k],
        Param::Position(o, k) => mean(&nodes_of(base, o), |q, _| at(&s.q, q))[k],
        Param::Velocity(Owner::Body(b), k) => s.v[base.bodies[b.index()].dof + k],
        Param::Velocity(o, k) => mean(&nodes_of(base, o), |_, v| at(&s.v, v))[k],
        Param::Spin(Owner::Body(b), k) => s.v[base.bodies[b.index()].dof + 3 + k],
        _ => 0.0,
    }
}

/// Owners of parameters of the initial state.
fn owners(values: &[(Param, f64)]) -> Vec<Owner> {
    let mut all: Vec<Owner> = Vec::new();
    for (p, _) in values {
        if let Param::Position(o, _) | Param::Orientation(o, _) | Param::Velocity(o, _) | Param::Spin(o, _) =
            *p
            && !all.contains(&o)
        {
            all.push(o);
        }
    }
    all
}

/// The three values of a kind of parameter of an owner, zero where it is none.
fn vector(values: &[(Param, f64)], owner: Owner, kind: impl Fn(Owner, usize) -> Param) -> Vec3 {
    let of = |k: usize| values.iter().find(|(p, _)| *p == kind(owner, k)).map_or(0.0, |v| v.1);
    Vec3::from_array([0, 1, 2].map(of))
}

/// The initial state of `base` with other values.
pub(crate) fn state(base: &Model, values: &[(Param, f64)]) -> State {
    let mut initial = State::clone(&base.initial);
    for &(p, x) in values {
        if let Param::Position(o, k) = p {
            let change = x - value(base, &base.initial, p);
            for (q, _) in places(base, o) {
                initial.q[q + k] += change;
            }
        }
    }
    for owner in owners(values) {
        let turn = vector(values, owner, Param::Orientation);
        if turn == Vec3::ZERO {
            continue;
        }
        let r = rotation::exp(turn);
        if let Owner::Body(b) = owner {
            let q = base.bodies[b.index()].q;
            let mut pose = initial.rigid_pose(q);
            pose.rotation = (r * pose.rotation).normalize();
            initial.set_rigid_pose(q, &pose);
        } else {
            let nodes = nodes_of(base, owner);
            let centre = mean(&nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
            for (q, ..) in nodes {
                let x = centre + r * (Vec3::from_slice(&initial.q[q..]) - centre);
                x.write_to_slice(&mut initial.q[q..q + 3]);
            }
        }
    }
    for &(p, x) in values {
        match p {
            Param::Velocity(o, k) => {
                let change = x - value(base, &base.initial, p);
                for (_, v) in places(base, o) {
                    initial.v[v + k] += change;
                }
            }
            Param::Spin(Owner::Body(b), k) => initial.v[base.bodies[b.index()].dof + 3 + k] = x,
            Param::Spin(o, k) => {
                let nodes = nodes_of(base, o);
                let centre = mean(&nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
                for (q, v, _) in nodes {
                    let add = (Vec3::AXES[k] * x).cross(Vec3::from_slice(&initial.q[q..]) - centre);
                    for c in 0..3 {
                        initial.v[v + c] += add[c];
                    }
                }
            }
            _ => {}
        }
    }
    initial
}

/// ∂(q, v)/∂p of the initial state `initial`, which `values` made of `base`: calls `sink(place in values, dof, of q, of v)`.
pub(crate) fn derivatives(
    base: &Model,
    initial: &State,
    values: &[(Param, f64)],
    mut sink: impl FnMut(usize, usize, f64, f64),
) {
    let centre_of = |nodes: &[(usize, usize, f64)]| mean(nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
    for (i, (p, _)) in values.iter().enumerate() {
        match *p {
            Param::Position(o, k) => {
                for (_, v) in places(base, o) {
                    sink(i, v + k, 1.0, 0.0);
                }
            }
            Param::Velocity(o, k) => {
                for (_, v) in places(base, o) {
                    sink(i, v + k, 0.0, 1.0);
                }
            }
            Param::Orientation(o, k) => {
                let turn = left_jacobian(vector(values, o, Param::Orientation)).col(k);
                if let Owner::Body(b) = o {
                    for c in 0..3 {
                        sink(i, base.bodies[b.index()].dof + 3 + c, turn[c], 0.0);
                    }
                    continue;
                }
                let spin = vector(values, o, Param::Spin);
                let nodes = nodes_of(base, o);
                let centre = centre_of(&nodes);
                for (q, v, _) in nodes {
                    let moved = turn.cross(Vec3::from_slice(&initial.q[q..]) - centre);
                    let faster = spin.cross(moved);
                    for c in 0..3 {
                        sink(i, v + c, moved[c], faster[c]);
                    }
                }
            }
            Param::Spin(Owner::Body(b), k) => sink(i, base.bodies[b.index()].dof + 3 + k, 0.0, 1.0),
            Param::Spin(o, k) => {
                let nodes = nodes_of(base, o);
                let centre = centre_of(&nodes);
                for (q, v, _) in nodes {
                    let faster = Vec3::AXES[k].cross(Vec3::from_slice(&initial.q[q..]) - centre);
                    for c in 0..3 {
                        sink(i, v + c, 0.0, faster[c]);
                    }
                }
            }
            _ => {}
        }
    }
}
