//! The numbers that are searched, and how they set parameters: scalars one to one, controls by knots in time.

use super::MOST_BYTES;
use super::task::{axis_of, owner, unknown};
use crate::failure::{Result, error};
use crate::table::number;
use serde::Deserialize;
use std::path::Path;
use stiction::coords::{Anchor, JointId, SpringId};
use stiction::diff::{Param, ParamSet, smoothness};
use stiction::scene::Owner;
use stiction::steppers::penalty::{Control, ControlKind, System};
use stiction_io::read;

/// A `[[control]]` table: a number per step, straight between knots.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// `force`, `torque`, `motor` or `spring-end`.
    kind: String,
    /// A body, soft body or particle; a joint with a motor; a spring that the world holds.
    of: String,
    axis: Option<String>,
    /// Steps between knots.
    #[serde(default = "five")]
    every: usize,
    #[serde(default)]
    start: f64,
    min: Option<f64>,
    max: Option<f64>,
    /// β of Σ β² (x_{k+1} − x_k)²/2 over its knots.
    #[serde(default)]
    smoothness: f64,
}

impl Drive {
    /// Steps between knots.
    pub fn every(&self) -> usize {
        self.every
    }
}

fn five() -> usize {
    5
}

/// p = p₀ + B x.
#[derive(Default)]
pub struct Space {
    /// Parameters in the order of B's rows.
    pub params: Vec<Param>,
    /// A name for every x.
    pub names: Vec<String>,
    /// Where the search starts.
    pub start: Vec<f64>,
    /// Bounds of x.
    pub bounds: Vec<(f64, f64)>,
    /// p₀, or nothing where it is zero.
    base: Vec<f64>,
    /// Columns of B: (parameter, weight).
    columns: Vec<Vec<(usize, f64)>>,
    /// Places of x that follow each other in time, and how smooth they should be.
    series: Vec<(Vec<usize>, f64)>,
}

impl Space {
    /// Adds a parameter that is searched itself; name and start follow once the parameters are known.
    pub fn add(&mut self, param: Param, bounds: (f64, f64)) {
        self.columns.push(vec![(self.params.len(), 1.0)]);
        self.params.push(param);
        self.bounds.push(bounds);
    }

    /// Names and present values of the parameters added so far.
    pub fn read(&mut self, system: &System, set: &ParamSet, starts: &[Option<f64>]) {
        for (i, start) in starts.iter().enumerate() {
            self.names.push(set.params[i].describe(system.model()));
            self.start.push(start.unwrap_or(set.start[i]));
        }
    }

    /// Adds the knots of a control over `steps` steps, and the control to the system.
    pub fn drive(&mut self, system: &mut System, d: &Drive, steps: usize) -> Result<()> {
        let kind = control(system, d)?;
        if d.every == 0 || d.every > steps {
            return Err(error(
                format!("control of `{}`: `every` is {}", d.of, d.every),
                "choose between one and `steps`",
            ));
        }
        let c = system.controls.len();
        system.controls.push(Control { kind, values: vec![d.start; steps] });
        let first = self.params.len();
        self.params.extend((0..steps).map(|i| Param::Control(c, i)));
        let count = steps.div_ceil(d.every);
        let places = self.columns.len()..self.columns.len() + count;
        self.series.push((places.collect(), d.smoothness));
        for k in 1..=count {
            // A hat about the knot; the last one holds to the end.
            let weight = |i: usize| {
                let at = (i + 1) as f64 / d.every as f64 - k as f64;
                if k == 1 && at < 0.0 { 1.0 } else { (1.0 - at.abs()).max(0.0) }
            };
            let hat = (0..steps).map(|i| (first + i, weight(i))).filter(|x| x.1 > 0.0);
            self.columns.push(hat.collect());
            let axis = d.axis.as_deref().map_or(String::new(), |a| format!(" {a}"));
            self.names.push(format!("{}{axis} of `{}` at step {}", d.kind, d.of, (k * d.every).min(steps)));
            self.start.push(d.start);
            self.bounds.push((d.min.unwrap_or(f64::NEG_INFINITY), d.max.unwrap_or(f64::INFINITY)));
        }
        Ok(())
    }

    /// p = p₀ + B x with the columns `basis`, which are knots of `series` by name, as many of each, and how smooth they
    /// should be.
    pub fn of_knots(
        (params, base): (Vec<Param>, Vec<f64>),
        basis: &[Vec<f64>],
        series: &[String],
        start: Vec<f64>,
        smooth: f64,
    ) -> Space {
        let count = start.len() / series.len().max(1);
        let knot = |i: usize| format!("{}, knot {}", series[i / count], i % count + 1);
        let sparse = |b: &Vec<f64>| b.iter().copied().enumerate().filter(|x| x.1 != 0.0).collect();
        Space {
            params,
            names: (0..start.len()).map(knot).collect(),
            bounds: vec![(f64::NEG_INFINITY, f64::INFINITY); start.len()],
            base,
            columns: basis.iter().map(sparse).collect(),
            series: (0..series.len()).map(|s| ((s * count..(s + 1) * count).collect(), smooth)).collect(),
            start,
        }
    }

    /// Starts from the values of an earlier fit.
    pub fn resume(&mut self, file: &Path) -> Result<()> {
        let remedy = "give the fitted.json of an earlier run of the same task";
        let bad = |what: String| error(format!("{}: {what}", file.display()), remedy);
        let text = read::text(file, MOST_BYTES, remedy)?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        for (x, n) in self.start.iter_mut().zip(&self.names) {
            *x = value["fitted"][n]["value"].as_f64().ok_or_else(|| bad(format!("it has no `{n}`")))?;
        }
        Ok(())
    }

    /// No number is searched twice, and every least value is below the largest.
    pub fn check_bounds(&self) -> Result<()> {
        if let Some(i) = (0..self.names.len()).find(|i| self.names[..*i].contains(&self.names[*i])) {
            return Err(error(format!("{} is given twice", self.names[i]), "leave one of them out"));
        }
        match self.bounds.iter().position(|(lo, hi)| lo.is_nan() || hi.is_nan() || lo > hi) {
            Some(i) => Err(error(format!("{}: min is above max", self.names[i]), "swap them")),
            None => Ok(()),
        }
    }

    /// Numbers that ended at one of their bounds.
    pub fn at_bounds(&self, x: &[f64]) -> Vec<&str> {
        let all = self.names.iter().zip(x).zip(&self.bounds);
        all.filter(|((_, x), (lo, hi))| *x <= lo || *x >= hi).map(|((n, _), _)| n.as_str()).collect()
    }

    /// The start lies between them.
    pub fn check_start(&self) -> Result<()> {
        let out = |(x, (lo, hi)): (&f64, &(f64, f64))| x < lo || x > hi;
        match self.start.iter().zip(&self.bounds).position(out) {
            Some(i) => Err(error(
                format!("{}: the start {} is outside of its bounds", self.names[i], number(self.start[i])),
                "widen min and max, or set `start`",
            )),
            None => Ok(()),
        }
    }

    /// Values of the parameters.
    pub fn values(&self, x: &[f64]) -> Vec<f64> {
        let mut p = self.base.clone();
        p.resize(self.params.len(), 0.0);
        for (column, x) in self.columns.iter().zip(x) {
            column.iter().for_each(|(i, w)| p[*i] += w * x);
        }
        p
    }

    /// Bᵀ g.
    pub fn pull(&self, g: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|c| c.iter().map(|(i, w)| w * g[*i]).sum()).collect()
    }

    /// Columns of B.
    pub fn directions(&self) -> Vec<Vec<f64>> {
        let dense = |c: &Vec<(usize, f64)>| {
            let mut d = vec![0.0; self.params.len()];
            c.iter().for_each(|(i, w)| d[*i] += w);
            d
        };
        self.columns.iter().map(dense).collect()
    }

    /// Residuals that ask for smooth controls, with their rows by x.
    pub fn smoothness(&self, x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut values, mut rows) = (Vec::new(), Vec::new());
        for (places, beta) in self.series.iter().filter(|s| s.1 > 0.0) {
            let (v, r) = smoothness(x, std::slice::from_ref(places), *beta);
            values.extend(v);
            rows.extend(r);
        }
        (values, rows)
    }
}

fn control(system: &System, d: &Drive) -> Result<ControlKind> {
    let model = system.model();
    let axis = || match &d.axis {
        Some(a) => axis_of(a),
        None => Err(error(format!("control `{}` needs `axis`", d.kind), "add it to the table")),
    };
    Ok(match d.kind.as_str() {
        "force" => ControlKind::Force(owner(model, &d.of)?, axis()?),
        "torque" => match owner(model, &d.of)? {
            Owner::Body(b) => ControlKind::Torque(b, axis()?),
            _ => return Err(error("torques act on rigid bodies", "use `force`")),
        },
        "motor" => {
            let joint = model.names.find::<JointId>(&d.of).map_err(unknown)?.index();
            if model.joints[joint].motor.is_none() {
                return Err(error(format!("joint `{}` has no motor", d.of), "give it one in the scene"));
            }
            ControlKind::Motor(joint)
        }
        "spring-end" => {
            let spring = model.names.find::<SpringId>(&d.of).map_err(unknown)?.index();
            let ends = &model.springs[spring].ends;
            let world = |e: &Vec<(Anchor, f64)>| e.iter().all(|a| matches!(a.0, Anchor::World { .. }));
            let end = ends.iter().position(world);
            let end = end.ok_or_else(|| {
                error(
                    format!("spring `{}` has no end that the world holds", d.of),
                    "move the other end's body",
                )
            })?;
            ControlKind::SpringEnd(spring, end, axis()?)
        }
        other => {
            let list = "force, torque, motor, spring-end";
            return Err(error(format!("there is no control `{other}`"), format!("it is one of {list}")));
        }
    })
}
