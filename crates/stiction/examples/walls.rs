use stiction::Vec3;
use stiction::contact::{ContactProblem, Solution, residual, samples};
use stiction::solvers::*;
fn run(name: &str, p: &ContactProblem, tol: f64) -> SolveReport {
    let mut s = exact::Exact::new(exact::Settings {
        tolerance: tol, aim: 0.1*tol,
        second_sweeps: std::env::var("S2").map(|s| s.parse().unwrap()).unwrap_or(300),
        max_sweeps: 20000,
        ..Default::default()
    });
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let t = std::time::Instant::now();
    let mut tr: Vec<TraceRecord> = vec![];
    let r = if std::env::var("TRACE").is_ok() {
        s.solve(p, &mut x, &mut tr)
    } else {
        s.solve(p, &mut x, &mut ())
    };
    let e = t.elapsed().as_secs_f64();
    let res = residual::measure(p, &x);
    if name.len() > 0 {
        println!(
            "{name:20} {:?} sweeps {} fact {} vel {:.1e} nat {:.1e} mom {:.1e} {:.2} ms",
            r.status,
            r.iterations,
            r.factorizations,
            r.velocity,
            res.natural,
            res.momentum,
            1e3 * e
        );
    }
    let mut last = "";
    for r in &tr {
        if r.stage != last || r.stage == "newton" {
            println!("   {} it {} f {} {:.2e}", r.stage, r.iteration, r.factorizations, r.residual);
            last = r.stage;
        }
    }
    r
}
fn main() {
    if let Ok(k) = std::env::var("ONE") {
        let k: u64 = k.parse().unwrap();
        run("one", &samples::wall(10, 10, [0.3, 0.6, 0.9][(k % 3) as usize], k), 1e-8);
        return;
    }
    let n: u64 = std::env::args().nth(1).map(|a| a.parse().unwrap()).unwrap_or(200);
    for a in [0.5, 0.95, 1.0, 1.02, 1.2] {
        let mu = 0.5f64;
        run(&format!("incline {a}"), &samples::incline(mu.atan() * a, mu), 1e-8);
    }
    run("stack", &samples::heavy_stack(5), 1e-8);
    run("stack6", &samples::heavy_stack(6), 1e-8);
    run("arch", &samples::arch(10, 0.6), 1e-8);
    let mut sw = vec![];
    let mut fa = vec![];
    let mut bad = 0;
    let t = std::time::Instant::now();
    for k in 0..n {
        let r = run("", &samples::wall(3, 3, [0.3, 0.6, 0.9][(k % 3) as usize], k), 1e-8);
        sw.push(r.iterations);
        fa.push(r.factorizations);
        if !r.status.is_solved() {
            bad += 1;
            println!("wall {k} {:?} {:.1e} f {}", r.status, r.velocity, r.factorizations);
        }
    }
    sw.sort();
    fa.sort();
    println!(
        "walls: bad {bad}, sweeps med {} max {}, fact med {} mean {} max {}, {:.3} ms each",
        sw[sw.len() / 2],
        sw.last().unwrap(),
        fa[fa.len() / 2],
        fa.iter().sum::<usize>() as f64 / fa.len() as f64,
        fa.last().unwrap(),
        1e3 * t.elapsed().as_secs_f64() / n as f64
    );
    for k in 0..5 {
        run(&format!("5x5 {k}"), &samples::wall(5, 5, [0.3, 0.6, 0.9][(k % 3) as usize], k), 1e-8);
    }
    for k in 0..20 {
        run(&format!("10x10 {k}"), &samples::wall(10, 10, [0.3, 0.6, 0.9][(k % 3) as usize], k), 1e-9);
    }
}
