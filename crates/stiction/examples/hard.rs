use stiction::Vec3;
use stiction::contact::{ContactProblem, Friction, Solution, residual, samples, samples::*};
use stiction::solvers::*;
fn run(name: &str, p: &ContactProblem) -> SolveReport {
    let mut s = exact::Exact::new(exact::Settings::default());
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let t = std::time::Instant::now();
    let r = s.solve(p, &mut x, &mut ());
    let e = t.elapsed().as_secs_f64();
    let res = residual::measure(p, &x);
    println!(
        "{name:26} {:?} sweeps {} fact {} vel {:.1e} nat {:.1e} mom {:.1e} {:.2} ms",
        r.status,
        r.iterations,
        r.factorizations,
        r.velocity,
        res.natural,
        res.momentum,
        1e3 * e
    );
    r
}
fn main() {
    if std::env::args().count() > 1 {
        for mu in [3.0, 5.0, 10.0] {
            for k in 0..30 {
                let r = run(&format!("mu {mu} {k}"), &samples::wall(3, 3, mu, k));
                if !r.status.is_solved() {
                    println!("FAIL");
                }
            }
        }
        return;
    }

    for k in 0..4 {
        run(&format!("dup x4 wall {k}"), &samples::duplicated(&samples::wall(3, 3, 0.6, k), 4));
    }
    run("dup x4 5x5", &samples::duplicated(&samples::wall(5, 5, 0.6, 1), 4));
    run("dup stack", &samples::duplicated(&samples::heavy_stack(5), 4));
    for mu in [0.0, 0.01, 1.0, 2.0, 5.0, 10.0] {
        for k in 0..3 {
            run(&format!("mu {mu} {k}"), &samples::wall(3, 3, mu, k));
        }
    }
    for e in [3, 6, 8, 11] {
        let mut a = Assembly::new(Vec3::new(0.0, 0.0, -9.81));
        let b0 = a.add_box(Vec3::new(0., 0., 0.5), Vec3::splat(0.5), 1.0);
        let b1 = a.add_box(Vec3::new(0., 0., 1.5), Vec3::splat(0.5), 10f64.powi(e));
        let f =
            |z: f64| [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(x, y)| Vec3::new(x, y, z));
        a.touch(b0, None, Vec3::Z, &f(0.0), 0.5);
        a.touch(b1, Some(b0), Vec3::Z, &f(1.0), 0.5);
        run(&format!("ratio 1e{e}"), &a.problem());
    }
    for n in [8, 10, 12] {
        run(&format!("stack {n}"), &samples::heavy_stack(n));
    }
    // closing walls
    let mut a = Assembly::new(Vec3::new(0.0, 0.0, -9.81));
    let b0 = a.add_box(Vec3::new(0., 0., 0.5), Vec3::splat(0.5), 1.0);
    let face = [(-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0)];
    a.touch(b0, None, Vec3::X, &face.map(|(y, z)| Vec3::new(-0.5, y, z)), 0.5);
    a.touch(b0, None, -Vec3::X, &face.map(|(y, z)| Vec3::new(0.5, y, z)), 0.5);
    let mut p = a.problem();
    for b in &mut p.bias {
        b.x = -1.0;
    }
    run("closing walls", &p);
    for b in &mut p.bias {
        b.x = 0.0;
    }
    run("standing walls", &p);
    let mut p = samples::wall(3, 3, 0.6, 1);
    for f in &mut p.friction {
        *f = Friction::Elliptic(0.2, 0.8);
    }
    run("elliptic", &p);
}
