//! [`Memory`] as bytes, for files: little-endian, numbers bit by bit, lists with their length (u64) first.
//!
//! Reading checks every index and length against the model, so that no bytes make a later step read beyond its tables.

use super::memory::{History, KINDS, Memory};
use super::velocity::{JointMemory, SleepMemory};
use crate::collide::Contact;
use crate::contact::warm::{Carried, WarmCache};
use crate::contact::{ContactKey, Friction};
use crate::coords::{Anchor, BodyId, NodeId, ShapeId, SoftId, State};
use crate::linalg::{Mat3, Vec3};
use crate::model::Model;
use thiserror::Error;

/// The form that [`Memory::to_bytes`] writes. It grows with every change of what is written or of what it means.
pub const FORM: u32 = 1;

/// Bytes that are no memory of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// It was written in another form.
    #[error("a memory of form {0}, where this program reads form {FORM}")]
    Form(u32),
    /// They end before the memory does, or go on after it.
    #[error("a memory whose length does not fit what it holds")]
    Length,
    /// A number stands for nothing: a kind of anchor or of friction, or a number that is not finite.
    #[error("a memory that holds {0} without meaning")]
    Meaning(&'static str),
    /// It is of a model with other tables.
    #[error("a memory of another model: its {0} do not fit")]
    Model(&'static str),
}

type Result<T> = std::result::Result<T, MemoryError>;

impl Memory {
    /// All of it as bytes, from which [`from_bytes`](Memory::from_bytes) makes the same memory bit for bit.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Memory { state: State { t, q, v }, step, contacts, joints, sleep, history } = self;
        let JointMemory { force, curvature, angle, reaction } = joints;
        let SleepMemory { group, still, frozen } = sleep;
        let mut out = Put(FORM.to_le_bytes().to_vec());
        out.number(t);
        out.list(q, Put::number);
        out.list(v, Put::number);
        out.word(*step);
        out.list(&contacts.entries, |out, Carried { key, force, point }| {
            out.key(key);
            out.vec(force);
            out.vec(point);
        });
        out.list(force, Put::vec);
        out.list(curvature, Put::vec);
        out.list(angle, Put::number);
        out.list(reaction, |out, (f, m)| {
            out.vec(f);
            out.vec(m);
        });
        out.list(group, |out, g| out.word((*g).into()));
        out.list(still, Put::number);
        out.list(frozen, |out, (contact, force)| {
            out.contact(contact);
            out.vec(force);
        });
        // The list of kinds only grows, so that places in it keep their meaning.
        let kind = KINDS.iter().position(|k| *k == history.kind()).expect("every kind is in the list");
        out.word(kind as u64);
        out.list(history.numbers(), Put::number);
        out.0
    }

    /// Reads what [`to_bytes`](Memory::to_bytes) wrote, of the same model. Any other bytes are an error.
    pub fn from_bytes(bytes: &[u8], model: &Model) -> Result<Memory> {
        let mut from = Take(bytes);
        let form = from.take(4)?;
        let form = u32::from_le_bytes(form.try_into().expect("four bytes"));
        if form != FORM {
            return Err(MemoryError::Form(form));
        }
        let t = from.finite()?;
        let (q, v) = (from.list(8, Take::finite)?, from.list(8, Take::finite)?);
        let step = from.word()?;
        let entries = from
            .list(72, |from| Ok(Carried { key: from.key(model)?, force: from.vec()?, point: from.vec()? }))?;
        let force = from.list(24, Take::vec)?;
        let curvature = from.list(24, Take::vec)?;
        let angle = from.list(8, Take::number)?;
        let reaction = from.list(48, |from| Ok((from.vec()?, from.vec()?)))?;
        let group = from.list(8, Take::small)?;
        let still = from.list(8, Take::number)?;
        let frozen = from.list(200, |from| Ok((from.contact(model)?, from.vec()?)))?;
        let kind = *KINDS.get(from.size()?).ok_or(MemoryError::Meaning("a past"))?;
        let numbers = from.list(8, Take::number)?;
        if !from.0.is_empty() {
            return Err(MemoryError::Length);
        }
        let memory = Memory {
            state: State { t, q, v },
            step,
            contacts: WarmCache { entries },
            joints: JointMemory { force, curvature, angle, reaction },
            sleep: SleepMemory { group, still, frozen },
            history: History::new(kind, numbers),
        };
        memory.fits(model)?;
        Ok(memory)
    }

    /// Lengths and indices are those of the model, and lists are in order.
    fn fits(&self, model: &Model) -> Result<()> {
        let blank = Memory::new(model);
        let Memory { state, contacts, joints, sleep, .. } = self;
        let all = [
            (state.q.len() == blank.state.q.len() && state.v.len() == blank.state.v.len(), "coordinates"),
            (joints.force.len() == blank.joints.force.len(), "joints"),
            (joints.curvature.len() == blank.joints.curvature.len(), "joints"),
            (joints.angle.len() == blank.joints.angle.len(), "joints"),
            (joints.reaction.is_empty() || joints.reaction.len() == blank.joints.reaction.len(), "joints"),
            (sleep.group.len() == blank.sleep.group.len(), "bodies"),
            (sleep.still.len() == blank.sleep.still.len(), "bodies"),
            (sleep.group.iter().all(|g| *g == u32::MAX || (*g as usize) < model.bodies.len()), "bodies"),
            (contacts.entries.is_sorted_by(|a, b| a.key <= b.key), "contacts"),
            (sleep.frozen.is_sorted_by(|(a, _), (b, _)| a.key <= b.key), "contacts"),
        ];
        all.iter().find(|(fits, _)| !fits).map_or(Ok(()), |(_, what)| Err(MemoryError::Model(what)))
    }
}

/// Bytes that are being written.
struct Put(Vec<u8>);

impl Put {
    fn word(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    fn number(&mut self, x: &f64) {
        self.word(x.to_bits());
    }

    fn vec(&mut self, x: &Vec3) {
        x.to_array().iter().for_each(|x| self.number(x));
    }

    fn list<T>(&mut self, all: &[T], mut put: impl FnMut(&mut Put, &T)) {
        self.word(all.len() as u64);
        all.iter().for_each(|x| put(self, x));
    }

    fn key(&mut self, k: &ContactKey) {
        let ContactKey { shape_a, shape_b, feature_a, feature_b } = k;
        [shape_a.0.into(), shape_b.0.into(), *feature_a, *feature_b].into_iter().for_each(|x| self.word(x));
    }

    /// Five words and what the kind of anchor holds; every anchor is of the same length.
    fn anchor(&mut self, a: &Anchor) {
        let (kind, ids, numbers) = match a {
            Anchor::World { p } => (0, [0; 5], p.to_array()),
            Anchor::Body { body, local } => (1, [body.0, 0, 0, 0, 0], local.to_array()),
            Anchor::Node(node) => (2, [node.0, 0, 0, 0, 0], [0.0; 3]),
            Anchor::Surface { solid, vertices: [i, j, k], w, n } => {
                (3, [solid.0, *i, *j, *k, (*n).into()], *w)
            }
        };
        self.word(kind);
        ids.iter().for_each(|x| self.word((*x).into()));
        numbers.iter().for_each(|x| self.number(x));
    }

    fn contact(&mut self, c: &Contact) {
        let Contact { key, a, b, point, frame, gap, friction, restitution } = c;
        self.key(key);
        self.anchor(a);
        self.anchor(b);
        self.vec(point);
        frame.to_cols_array().iter().for_each(|x| self.number(x));
        self.number(gap);
        let (kind, mu) = match friction {
            Friction::Isotropic(mu) => (0, [*mu, 0.0]),
            Friction::Elliptic(a, b) => (1, [*a, *b]),
        };
        self.word(kind);
        mu.iter().for_each(|x| self.number(x));
        self.number(restitution);
    }
}

/// Bytes that are being read.
struct Take<'a>(&'a [u8]);

impl<'a> Take<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(MemoryError::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes")))
    }

    fn small(&mut self) -> Result<u32> {
        self.word()?.try_into().map_err(|_| MemoryError::Meaning("an index"))
    }

    fn size(&mut self) -> Result<usize> {
        self.word()?.try_into().map_err(|_| MemoryError::Length)
    }

    fn number(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.word()?))
    }

    fn finite(&mut self) -> Result<f64> {
        Some(self.number()?).filter(|x| x.is_finite()).ok_or(MemoryError::Meaning("a coordinate"))
    }

    fn numbers<const N: usize>(&mut self) -> Result<[f64; N]> {
        let mut all = [0.0; N];
        for x in &mut all {
            *x = self.number()?;
        }
        Ok(all)
    }

    fn vec(&mut self) -> Result<Vec3> {
        Ok(Vec3::from_array(self.numbers()?))
    }

    /// A list whose items take at least so many bytes: more items than the bytes hold are refused before memory is asked for.
    fn list<T>(&mut self, item: usize, mut take: impl FnMut(&mut Take<'a>) -> Result<T>) -> Result<Vec<T>> {
        let n = self.size()?;
        if n > self.0.len() / item {
            return Err(MemoryError::Length);
        }
        (0..n).map(|_| take(self)).collect()
    }

    /// An index below `end`.
    fn index(&mut self, end: usize, what: &'static str) -> Result<u32> {
        let i = self.small()?;
        if (i as usize) < end { Ok(i) } else { Err(MemoryError::Model(what)) }
    }

    fn key(&mut self, model: &Model) -> Result<ContactKey> {
        let end = model.shapes.len();
        Ok(ContactKey {
            shape_a: ShapeId(self.index(end, "shapes")?),
            shape_b: ShapeId(self.index(end, "shapes")?),
            feature_a: self.word()?,
            feature_b: self.word()?,
        })
    }

    fn anchor(&mut self, model: &Model) -> Result<Anchor> {
        let kind = self.word()?;
        let mut ids = [0; 5];
        for id in &mut ids {
            *id = self.small()?;
        }
        let numbers: [f64; 3] = self.numbers()?;
        let below = |i: u32, end: usize, what| {
            if (i as usize) < end { Ok(i) } else { Err(MemoryError::Model(what)) }
        };
        // What a kind does not use is zero, so that every memory has one form.
        Ok(match (kind, ids) {
            (0, [0, 0, 0, 0, 0]) => Anchor::World { p: Vec3::from_array(numbers) },
            (1, [id, 0, 0, 0, 0]) => Anchor::Body {
                body: BodyId(below(id, model.bodies.len(), "bodies")?),
                local: Vec3::from_array(numbers),
            },
            (2, [id, 0, 0, 0, 0]) if numbers.iter().all(|x| x.to_bits() == 0) => {
                Anchor::Node(NodeId(below(id, model.nodes.len(), "particles")?))
            }
            (3, [id, i, j, k, n]) => {
                let solid = SoftId(below(id, model.solids.len(), "soft bodies")?);
                let end = model.solids[solid.index()].vertices.len();
                let vertices = [i, j, k];
                for vertex in vertices {
                    below(vertex, end, "soft bodies")?;
                }
                Anchor::Surface { solid, vertices, w: numbers, n: below(n, 4, "soft bodies")? as u8 }
            }
            _ => return Err(MemoryError::Meaning("an anchor")),
        })
    }

    fn contact(&mut self, model: &Model) -> Result<Contact> {
        Ok(Contact {
            key: self.key(model)?,
            a: self.anchor(model)?,
            b: self.anchor(model)?,
            point: self.vec()?,
            frame: Mat3::from_cols_array(&self.numbers()?),
            gap: self.number()?,
            friction: match (self.word()?, self.numbers()?) {
                (0, [mu, rest]) if rest.to_bits() == 0 => Friction::Isotropic(mu),
                (1, [a, b]) => Friction::Elliptic(a, b),
                _ => return Err(MemoryError::Meaning("a friction")),
            },
            restitution: self.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Body, Geometry, Joint, JointKind, Scene};
    use crate::steppers::velocity::Sleep;
    use crate::{SimSettings, Simulation, SolverKind};

    /// Boxes that fall asleep on a floor, and one on a hinge.
    fn model() -> Model {
        let mut scene = Scene { gravity: Vec3::Z * -10.0, ..Scene::default() };
        let cube = |name: &str| Body::new(name, Geometry::Box { half: Vec3::splat(0.5) });
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
        scene.bodies.extend([cube("one").at(0.0, 0.0, 0.5), cube("two").at(0.0, 0.0, 1.5)]);
        scene.bodies.push(cube("three").at(5.0, 0.0, 3.0));
        scene
            .joints
            .push(Joint::to_world("hinge", JointKind::Hinge, "three").at(Vec3::X * 5.0).about(Vec3::X));
        scene.compile().unwrap()
    }

    /// What every kind of stepper leaves behind after some steps, one with sleeping bodies.
    fn memories(model: &Model) -> Vec<Memory> {
        let sleep = Some(Sleep { speed: 0.05, time: 0.05 });
        let kinds = [SolverKind::Exact, SolverKind::NonlinearNewton, SolverKind::Penalty];
        let mut all: Vec<SimSettings> =
            kinds.iter().map(|&solver| SimSettings { solver, ..SimSettings::default() }).collect();
        all.push(SimSettings { sleep, ..SimSettings::default() });
        let run = |settings| {
            let mut sim = Simulation::new(model.clone(), settings);
            (0..30).for_each(|_| assert!(sim.step(0.01).is_ok()));
            sim.snapshot()
        };
        all.into_iter().map(run).collect()
    }

    #[test]
    fn every_memory_comes_back_bit_for_bit_and_no_other_bytes_do() {
        let model = model();
        let all = memories(&model);
        assert!(all.iter().any(|m| !m.sleep.frozen.is_empty()), "some boxes sleep");
        assert!(KINDS.iter().all(|k| all.iter().any(|m| m.history.kind() == *k)), "every kind has a past");
        for memory in all {
            let bytes = memory.to_bytes();
            let back = Memory::from_bytes(&bytes, &model).unwrap();
            assert!(back == memory && back.to_bytes() == bytes);
            for n in 0..bytes.len() {
                assert!(Memory::from_bytes(&bytes[..n], &model).is_err(), "{n} of {} bytes", bytes.len());
            }
            assert_eq!(Memory::from_bytes(&[&bytes[..], &[0]].concat(), &model), Err(MemoryError::Length));
            // A changed byte is an error or a number that is another one.
            for at in 0..bytes.len() {
                let mut bad = bytes.clone();
                bad[at] ^= 0x81;
                if let Ok(other) = Memory::from_bytes(&bad, &model) {
                    assert_eq!(other.to_bytes(), bad, "byte {at} has no effect");
                }
            }
        }
    }

    #[test]
    fn a_memory_of_another_model_is_refused() {
        let other =
            Scene { bodies: vec![Body::new("ball", Geometry::Sphere { radius: 1.0 })], ..Scene::default() };
        let other = other.compile().unwrap();
        for memory in memories(&model()) {
            let e = Memory::from_bytes(&memory.to_bytes(), &other).unwrap_err();
            assert!(matches!(e, MemoryError::Model(_)), "{e}");
        }
        let mut bytes = Memory::new(&other).to_bytes();
        bytes[0] = 77;
        assert_eq!(Memory::from_bytes(&bytes, &other), Err(MemoryError::Form(77)));
    }
}
