//! Hands that move the ends of strings, and a sheet of springs that two of them flip over.

use super::problem::{Problem, ground, knots, system};
use stiction::coords::NodeId;
use stiction::diff::{Param, PoseTarget};
use stiction::elastic::Action;
use stiction::scene::{Sheet, SpringEnd, SpringSpec};
use stiction::steppers::penalty::{Bdf, Control, ControlKind, Settings};
use stiction::{Scene, Vec3};
use stiction_cli::failure::Result;

/// Time step [s].
pub const DT: f64 = 1.0 / 60.0;

/// Springs from hands (held by the world, moved by controls) to points; a hand moves all of its springs alike.
pub struct Hands {
    /// The scene so far.
    pub scene: Scene,
    /// Per hand: its springs.
    pub springs: Vec<Vec<usize>>,
}

impl Hands {
    /// A string from a place of a hand to a point of a body or sheet; of no length it holds the point.
    pub fn string(&mut self, hand: usize, from: Vec3, on: &str, at: Vec3, stiffness: f64, rest: Option<f64>) {
        let name = format!("string {}", self.scene.springs.len());
        let ends = [SpringEnd::world(from), SpringEnd::on(on, at)];
        self.springs.resize(self.springs.len().max(hand + 1), Vec::new());
        self.springs[hand].push(self.scene.springs.len());
        let spec = SpringSpec::new(name, ends, stiffness);
        let action = if rest == Some(0.0) { Action::Both } else { Action::PullOnly };
        self.scene.springs.push(SpringSpec { rest_length: rest, action, damping: 0.05, ..spec });
    }

    /// One number per hand, axis and knot: how far the hand has moved.
    pub fn problem(&self, settings: Settings, steps: usize, every: usize) -> Result<Problem> {
        let mut system = system(&self.scene, settings, DT)?;
        let (mut params, mut columns) = (Vec::new(), 0);
        for springs in &self.springs {
            for axis in 0..3 {
                for &s in springs {
                    let kind = ControlKind::SpringEnd(s, 0, axis);
                    system.controls.push(Control { kind, values: vec![0.0; steps] });
                    params.extend((0..steps).map(|i| Param::Control(system.controls.len() - 1, i)));
                }
                columns += 1;
            }
        }
        // All springs of a hand share its columns.
        let single = knots(columns, steps, every);
        let mut basis = vec![vec![0.0; params.len()]; single.len()];
        let (mut at, mut column) = (0, 0);
        for springs in &self.springs {
            for _ in 0..3 {
                for _ in springs {
                    for (b, s) in basis.iter_mut().zip(&single) {
                        b[at..at + steps].copy_from_slice(&s[column * steps..(column + 1) * steps]);
                    }
                    at += steps;
                }
                column += 1;
            }
        }
        let mut problem = Problem::new(system, params, steps)?;
        problem.basis = basis;
        Ok(problem)
    }
}

/// Side of the sheet [m].
pub const SIDE: f64 = 0.4;
/// Steps of its motion: two seconds.
pub const SHEET_STEPS: usize = 120;
/// β of the smoothness of the hands.
pub const SHEET_SMOOTH: f64 = 5e-4;

/// The sheet, flipped after a second and back, shifted, after two.
pub struct SheetFlip {
    /// The motion as a function of the knots of both hands.
    pub problem: Problem,
    /// Where its points are to be after one and after two seconds.
    pub targets: [PoseTarget; 2],
    /// Knots of a plan that knows of neither weight nor friction.
    pub plan: Vec<f64>,
    /// Knots of one axis of a hand.
    pub knots: usize,
}

/// 5 × 5 points held by two corners (Table 2 of ADD).
pub fn sheet_flip() -> Result<SheetFlip> {
    let (side, steps, every) = (SIDE, SHEET_STEPS, 5);
    let mut hands = Hands { scene: ground(0.5), springs: Vec::new() };
    let mut sheet = Sheet::new("sheet", [4, 4], [side, side]);
    (sheet.area_density, sheet.stretch, sheet.shear, sheet.bend) = (0.3, 60.0, 20.0, 2e-3);
    (sheet.damping, sheet.thickness, sheet.friction) = (5e-3, 0.0, 0.5);
    hands.scene.sheets.push(sheet);
    for (k, y) in [-0.5 * side, 0.5 * side].into_iter().enumerate() {
        // A spring of no length holds a corner.
        let corner = Vec3::new(-0.5 * side, y, 0.0);
        hands.string(k, corner, "sheet", corner, 1000.0, Some(0.0));
    }
    let problem =
        hands.problem(Settings { scheme: Bdf::One, stiffness: 1e3, ..Settings::default() }, steps, every)?;
    let model = problem.system.model();
    let rest = model.nodes.iter().map(|n| n.position(&model.initial));
    let nodes =
        |f: fn(Vec3) -> Vec3| rest.clone().enumerate().map(|(i, x)| (NodeId(i as u32), f(x))).collect();
    // Turned as a page about the edge that nobody holds; then back, a quarter of the side farther along y.
    let flip = nodes(|x| Vec3::new(SIDE - x.x, x.y, 0.0));
    let back = nodes(|x| Vec3::new(x.x, x.y + 0.25 * SIDE, 0.0));
    let pose = |step: usize, nodes| PoseTarget { step, nodes, ..PoseTarget::default() };
    let targets = [pose(steps / 2, flip), pose(steps, back)];
    // The plan: a half circle over and back, which neither weight nor friction knows of.
    let knots = steps / every;
    let turn = |k: usize| std::f64::consts::PI * (1.0 - (2.0 * (k + 1) as f64 / knots as f64 - 1.0).abs());
    let plan: Vec<f64> = (0..6 * knots)
        .map(|i| match (i / knots % 3, i % knots) {
            (0, k) => side * (1.0 - turn(k).cos()),
            (2, k) => side * turn(k).sin(),
            _ => 0.0,
        })
        .collect();
    Ok(SheetFlip { problem, targets, plan, knots })
}
