//! COND-T7: contact constraint splitting at fixed numbers of iterations. COND-F13: invertible contacts.

use super::scenes;
use super::tables::{draw_ball, draw_mat};
use super::trial::{Contestant, DT, EULER, MIDPOINT, Score, Walk, normal_force};
use crate::runs::{broke, on_floor};
use crate::{Context, Experiment, Row};
use stiction::contact::Solution;
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::papers::cond::ccs::Ccs;
use stiction::papers::cond::{Cond, CondESettings, CondSettings, Operator, Stop, inverse_contact};
use stiction::scene::SoftBody;
use stiction::solvers::ContactSolver;
use stiction::{SimSettings, Simulation, SolverSettings, Vec3};
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// COND against CCS.
pub const SPLITTING: Experiment = Experiment {
    id: "COND-T7",
    title: "soft mat folding with 50 and 100 iterations: COND and contact constraint splitting",
    claim: "COND (Lee et al. 2022), Table VII: IE 0.966/0.162 mN (COND), 13.4/6.56 mN (CCS); 10.9/20.9 against 66/108 ms",
    run: splitting,
};

/// Invertible contact.
pub const INVERTIBLE: Experiment = Experiment {
    id: "COND-F13",
    title: "invertible contacts: impulses found again from velocities",
    claim: "COND (Lee et al. 2022), Fig. 13: forward and inverse forces differ by 0.087 mN (mat) and 0.48 mN (ball)",
    run: invertible,
};

fn splitting(ctx: &mut Context) -> Result<Vec<Row>> {
    let (seeds, cells) = ctx.pick((3, 26), (20, 26));
    // Id, name and score.
    let mut sums: Vec<(String, String, Score)> = Vec::new();
    let mut add = |c: &Contestant| match sums.iter_mut().find(|s| s.0 == c.id) {
        Some(s) => s.2.add(&c.sum),
        None => sums.push((c.id.clone(), c.name.clone(), c.sum)),
    };
    let cond = |id: String, name: String, n: usize| {
        let stop = Stop::Update(0.0);
        Contestant::cond(
            id,
            name,
            CondSettings { stop, max_iterations: n, recycle: 10, ..Default::default() },
        )
    };
    for seed in 0..seeds {
        ctx.note(&format!("trial {}", seed + 1));
        let samples = Walk::samples(&scenes::mat(draw_mat(seed), cells), MIDPOINT, &SAMPLED)?;
        for n in COUNTS {
            let settings = SolverSettings { tolerance: Some(0.0), max_iterations: Some(n) };
            let id = |solver: &str| format!("{n}-iterations/{solver}");
            let mut balanced =
                Contestant::new(id("ccs"), format!("CCS ({n})"), Box::new(Ccs::new(&settings)));
            balanced.run(&samples);
            let [mut fixed, mut far] =
                [(1.0, "ccs-one", ONE), (100.0, "ccs-far", FAR)].map(|(factor, solver, name)| {
                    let id = id(solver);
                    let solver = Ccs::with_fixed_penalty(&settings, factor);
                    Contestant::new(id, format!("CCS, {name} ({n})"), Box::new(solver))
                });
            fixed.run(&samples);
            far.run(&samples);
            let mut own = cond(id("cond"), format!("COND ({n})"), n);
            own.run(&samples);
            // As many iterations as fit into the time of CCS.
            let many = (n as f64 * balanced.sum.seconds / own.sum.seconds).floor() as usize;
            let mut longer = cond(id("cond-longer"), format!("COND in the time of CCS ({n})"), many.max(n));
            longer.run(&samples);
            let without =
                CondESettings { tolerance: 1e-9, max_iterations: n, recycle: 10, ..Default::default() };
            let mut without = Contestant::cond_e(id("cond-e"), format!("COND-E ({n})"), without);
            without.run(&samples);
            [own, without, balanced, fixed, far, longer].iter().for_each(&mut add);
        }
    }
    let mut rows = Vec::new();
    let of = |name: String| sums.iter().find(|s| s.1 == name).map(|s| s.2).unwrap_or_default();
    let paper = |name: &str| match name {
        "COND (50)" => "0.0049, 0.966, 10.9",
        "CCS (50)" => "0.0051, 13.4, 66",
        "COND (100)" => "0.0050, 0.162, 20.9",
        "CCS (100)" => "0.0053, 6.56, 108",
        _ => "",
    };
    let mut table = Vec::new();
    for (id, name, s) in &sums {
        let paper = paper(name);
        rows.push(
            Row::new(
                format!("{id}/penetration"),
                format!("{name}: max penetration"),
                s.penetration_mm(),
                "mm",
            )
            .against(paper),
        );
        rows.push(
            Row::new(
                format!("{id}/internal-force-error"),
                format!("{name}: internal force error"),
                s.internal_mn(),
                "mN",
            )
            .against(paper),
        );
        rows.push(
            Row::new(format!("{id}/time"), format!("{name}: solver time"), s.milliseconds(), "ms")
                .against(paper),
        );
        table.push(vec![
            name.clone(),
            csv_number(s.penetration_mm()),
            csv_number(s.internal_mn()),
            csv_number(s.iterations()),
            csv_number(s.milliseconds()),
        ]);
    }
    for n in COUNTS {
        let (cond, ccs) = (of(format!("COND ({n})")), of(format!("CCS ({n})")));
        let longer = of(format!("COND in the time of CCS ({n})"));
        let (fixed, far) = (of(format!("CCS, {ONE} ({n})")), of(format!("CCS, {FAR} ({n})")));
        let without = of(format!("COND-E ({n})"));
        for (id, name, other) in [("cond", "COND", &cond), ("cond-e", "COND-E", &without)] {
            rows.push(
                Row::new(
                    format!("{n}-iterations/ccs-over-{id}/time"),
                    format!("{n} iterations: time CCS / {name}"),
                    ccs.seconds / other.seconds,
                    "×",
                )
                .against(if n == 50 { "6.1" } else { "5.2" })
                .at_least(2.0),
            );
        }
        let paper = if n == 50 { "13.9" } else { "40.5" };
        let over = |score: Score| score.internal / cond.internal;
        let ratio = |id: &str, what: &str, score: Score| {
            let id = format!("{n}-iterations/{id}-over-cond/internal-force-error");
            let name = format!("{n} iterations: internal force error CCS, {what} / COND");
            Row::new(id, name, over(score), "×").against(paper)
        };
        rows.push(ratio("ccs-one", ONE, fixed).because(format!(
            "one penalty for all, the mass of a node: CCS leaves {:.3} mN where the paper's, whose penalty it does not give, left {}",
            fixed.internal_mn(),
            if n == 50 { "13.4" } else { "6.56" }
        )));
        rows.push(ratio("ccs-far", FAR, far));
        let row = ratio("ccs", "balanced", ccs).because(
            "a penalty per contact, balanced on the way: better than any fixed one that is not tuned to the scene",
        );
        // The mean of twenty trials is what was published; those of a few differ by more than it asks for.
        rows.push(if ctx.quick { row } else { row.at_least(3.0) });
        rows.push(
            Row::new(
                format!("{n}-iterations/ccs-over-cond-e/internal-force-error"),
                format!("at most {n} iterations: internal force error CCS, balanced / COND-E"),
                ccs.internal / without.internal,
                "×",
            )
            .against(paper)
            .at_least(3.0),
        );
        let id = format!("{n}-iterations/ccs-over-cond-longer/internal-force-error");
        let what = format!("same time as CCS ({n}): internal force error CCS / COND");
        rows.push(
            Row::new(id, what, ccs.internal / longer.internal, "×")
                .at_least(3.0)
                .because("our own splitting balances a penalty per contact, and an iteration of it is a solve with a factor: it gains more per iteration than COND and takes many times as long"),
        );
    }
    ctx.csv("solvers", &["solver", "penetration_mm", "internal_mN", "iterations", "ms"], &table)?;
    Ok(rows)
}

/// Penalties of the splitting: the mean mass of a node, and far from it.
const ONE: &str = "penalty of a node's mass";
const FAR: &str = "penalty a hundred times that";
/// Steps that are looked at: those of Table II.
const SAMPLED: [usize; 4] = [3, 15, 35, 60];
/// Iterations of Table VII.
const COUNTS: [usize; 2] = [50, 100];

/// Ω of the paper [m/(s·N)].
const OMEGA: f64 = 1e-3;

fn invertible(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(3, 15);
    let quick = ctx.quick;
    let mut rows = Vec::new();
    let mut plot = Plot::new("Contact force, forward and inverse", "step", "norm of all contact forces [N]");
    let mut table = Vec::new();
    let scenes = [
        ("mat", scenes::mat(draw_mat(1), if quick { 12 } else { 26 }), 15, 0.087),
        ("ball", scenes::ball(draw_ball(1), if quick { 4 } else { 7 }), 12, 0.48),
    ];
    for (name, scene, warm_up, paper) in scenes {
        for theta in [1e-4, 1e-6] {
            let settings = CondSettings {
                operator: Operator::Proximal,
                stop: Stop::Update(theta),
                max_iterations: 5000,
                remember: true,
                ..CondSettings::default()
            };
            let mut solver = Cond::new(settings);
            let mut walk = Walk::new(&scene, EULER)?;
            let (mut mismatch, mut size) = (0.0, 0.0);
            let (mut forward_curve, mut inverse_curve) = (Vec::new(), Vec::new());
            for step in 0..warm_up + steps {
                walk.step()?;
                if step < warm_up {
                    continue;
                }
                let mut p = walk.sim.problem().expect("a velocity step").clone();
                let omega = Vec3::splat(OMEGA * p.force_per_lambda);
                p.softness.fill(omega);
                let mut x = Solution {
                    v: walk.sim.solution().expect("a velocity step").v.clone(),
                    lambda: vec![Vec3::ZERO; p.contacts()],
                };
                solver.solve(&p, &mut x, &mut ());
                let (mut f, mut inverse, mut apart) = (0.0, 0.0, 0.0);
                for c in 0..p.contacts() {
                    let u = p.j.mul_one(c, &x.v) + p.bias[c];
                    let again = inverse_contact(Operator::Proximal, p.law[c], omega, u);
                    f += x.lambda[c].length_squared();
                    inverse += again.length_squared();
                    apart += (again - x.lambda[c]).length_squared();
                }
                let scale = p.force_per_lambda;
                let (f, inverse, apart) = (f.sqrt() * scale, inverse.sqrt() * scale, apart.sqrt() * scale);
                mismatch += apart / steps as f64;
                size += f / steps as f64;
                forward_curve.push((step as f64, f));
                inverse_curve.push((step as f64, inverse));
                table.push(vec![
                    name.into(),
                    csv_number(theta),
                    step.to_string(),
                    csv_number(f),
                    csv_number(inverse),
                ]);
            }
            let id = format!("{name}/theta-{theta:e}");
            rows.push(
                Row::new(
                    format!("{id}/mismatch"),
                    format!("{name}, θ = {theta:.0e}: mismatch"),
                    1e3 * mismatch,
                    "mN",
                )
                .against(paper.to_string()),
            );
            rows.push(
                Row::new(
                    format!("{id}/relative-mismatch"),
                    format!("{name}, θ = {theta:.0e}: mismatch over the force"),
                    mismatch / size,
                    "",
                )
                .at_most(1e-3),
            );
            if theta == 1e-4 {
                plot.add(&format!("{name}, forward"), Mark::Line, forward_curve);
                plot.add(&format!("{name}, inverse"), Mark::Dashes, inverse_curve);
            }
        }
    }
    let (strict, proximal) = (jitter(Operator::Strict)?, jitter(Operator::Proximal)?);
    let id = |operator: &str| format!("sliding-block/{operator}/force-deviation");
    rows.push(Row::new(
        id("strict"),
        "sliding block, strict: deviation of the normal force",
        strict,
        "of its mean",
    ));
    rows.push(
        Row::new(
            id("proximal"),
            "sliding block, proximal: deviation of the normal force",
            proximal,
            "of its mean",
        )
        .against("jitters")
        .accept("> 2 × strict", proximal > 2.0 * strict),
    );
    ctx.csv("forces", &["scene", "theta", "step", "forward_N", "inverse_N"], &table)?;
    ctx.plot("forces", &plot)?;
    Ok(rows)
}

/// Standard deviation of the normal force over its mean while a soft block slides over the floor. A gap that opens is seen by
/// the next step, so that answers feed back.
fn jitter(operator: Operator) -> Result<f64> {
    const STEPS: usize = 60;
    let mut scene = on_floor(0.0, 0.3, []);
    let material = Material { law: Law::Corotated, young: 2e5, poisson: 0.3, density: 1000.0 };
    let mut block = SoftBody::new("block", shapes::block([4, 4, 2], Vec3::new(0.1, 0.1, 0.04)), material);
    (block.friction, block.rigid_edges, block.velocity) = (0.3, false, Vec3::new(2.5, 0.0, 0.0));
    scene.solids.push(block);
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = CondSettings {
        operator,
        stop: Stop::Update(1e-8),
        max_iterations: 5000,
        remember: true,
        ..CondSettings::default()
    };
    let mut sim = Simulation::new(model, SimSettings::default()).with_solver(Box::new(Cond::new(settings)));
    let mut forces = Vec::new();
    for step in 0..STEPS {
        sim.step(DT).map_err(broke)?;
        if step >= STEPS / 3 {
            forces.push(normal_force(
                sim.problem().expect("a velocity step"),
                &sim.solution().expect("a velocity step").lambda,
            ));
        }
    }
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    let variance = forces.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / forces.len() as f64;
    Ok(variance.sqrt() / mean)
}
