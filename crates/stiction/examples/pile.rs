use stiction::*;
use stiction::contact::samples::Rng;
fn main() {
    let n: usize = std::env::args().nth(1).map(|a| a.parse().unwrap()).unwrap_or(500);
    let solver = match std::env::args().nth(2).as_deref() { Some("realtime") => SolverKind::Realtime, _ => SolverKind::Exact };
    let tol = std::env::var("TOL").ok().map(|t| t.parse().unwrap());
    let mut s = Scene { gravity: Vec3::new(0.0,0.0,-9.81), ..Default::default() };
    s.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    let mut rng = Rng::new(1);
    let inner = if n == 500 { 1.5 } else if n == 2000 { 2.4 } else { 0.2*(n as f64).powf(0.333) };
    let per = (inner/0.295) as usize;
    for i in 0..n {
        let (layer, r) = (i/(per*per), i%(per*per)); let (ix, iy) = (r/per, r%per);
        let half = Vec3::new(rng.range(0.04,0.08), rng.range(0.04,0.08), rng.range(0.04,0.08));
        let x = (ix as f64+0.5)*inner/per as f64 - inner/2.0 + rng.range(-0.005,0.005);
        let y = (iy as f64+0.5)*inner/per as f64 - inner/2.0 + rng.range(-0.005,0.005);
        let mut b = Body::new(format!("b{i}"), Geometry::Box{half}).at(x,y,0.16+0.29*layer as f64);
        b.pose.rotation = Quat::from_xyzw(rng.normal(), rng.normal(), rng.normal(), rng.normal()).normalize();
        s.bodies.push(b);
    }
    let (h, t) = (6.0, 0.2); let w = inner/2.0 + t;
    for (k, (c, hf)) in [(Vec3::new(w,0.,h), Vec3::new(t,w+t,h)), (Vec3::new(-w,0.,h), Vec3::new(t,w+t,h)), (Vec3::new(0.,w,h), Vec3::new(w+t,t,h)), (Vec3::new(0.,-w,h), Vec3::new(w+t,t,h))].into_iter().enumerate() {
        s.bodies.push(Body::new(format!("w{k}"), Geometry::Box{half: hf}).at(c.x,c.y,c.z).fixed());
    }
    let mut sim = Simulation::new(s.compile().unwrap(), SimSettings { solver, solver_settings: SolverSettings { tolerance: tol, max_iterations: None }, ..Default::default() });
    let mut acc = [0.0;5]; let mut nst = 0; let (mut it, mut fa, mut bad) = (0,0,0); let mut tot=[0.0;5];
    let (mut nat, mut pen): (f64,f64) = (0.0,0.0);
    let mut prev: Vec<(stiction::contact::ContactKey, f64, Vec3, Vec3, Vec3)> = vec![]; let mut prevstate = sim.state().clone();
    for k in 0..600 {
        if std::env::var("PV").is_ok() { prevstate = sim.state().clone(); }
        let mut tr: Vec<stiction::solvers::TraceRecord> = vec![]; let want = std::env::var("AT").ok().and_then(|a| a.parse().ok()) == Some(k);
        let r = if want { sim.step_traced(1.0/120.0, &mut tr).unwrap() } else { sim.step(1.0/120.0).unwrap() };
        if want { println!("{:?} {} {}", r.status, r.contacts, r.islands); for t in tr { println!("{} {} {} {:.2e}", t.stage, t.iteration, t.factorizations, t.residual); } return; }
        for (a,b) in acc.iter_mut().zip(r.times.to_array()) { *a += b; }
        for (a,b) in tot.iter_mut().zip(r.times.to_array()) { *a += b; }
        if std::env::var("PV").is_ok() {
            let t = r.t;
            let cur: Vec<_> = sim.contacts().map(|(c,f)| (c.key, c.gap, c.normal(), c.point, f)).collect();
            if let Some(w) = cur.iter().filter(|c| c.1 < -0.006).next() {
                println!("t {t} {:?} gap {} n {:?} p {:?}", w.0, w.1, w.2, w.3);
                println!("prev contacts of the pair:");
                for c in prev.iter().filter(|c| c.0.shape_a == w.0.shape_a && c.0.shape_b == w.0.shape_b) { println!("   {:?}", c); }
                for s in [w.0.shape_a, w.0.shape_b] { let b = &sim.model().bodies[s.index()]; if b.block.is_some() { println!("  body {} prev2 v {:?} now v {:?} q {:?} reach {}", b.name, &prevstate.v[b.dof..b.dof+6], &sim.state().v[b.dof..b.dof+6], &prevstate.q[b.q..b.q+7], sim.model().shapes[s.index()].reach); } }
                return;
            }
            prev = cur; continue;
        }
        if std::env::var("OV").is_ok() && r.overlap > 0.003 { let (rt, rn, st, nn) = (r.t, r.residuals.natural, format!("{:?}", r.status), r.residuals.penetration); let cs: Vec<_> = sim.contacts().filter(|(c,_)| c.gap < -0.003).map(|(c,f)| (c.key, c.gap, c.normal(), c.point, f)).collect(); println!("t {rt} {st} nat {rn:.1e} pen {nn:.1e}"); for c in cs.iter().take(6) { println!("   {:?}", c); } if k > 40 { return; } continue; }
        nst += 1; it += r.iterations; fa += r.factorizations; if !r.status.is_solved() { bad += 1; }
        nat = nat.max(r.residuals.natural); pen = pen.max(r.overlap);
        if (k+1)%60 == 0 {
            println!("t {:.2} contacts {} isl {} it {:.0} fact {:.1} bad {} nat {:.1e} overlap {:.2e} now {:.2e} KE {:.2e} | ms {:?} total {:.2}", r.t, r.contacts, r.islands, it as f64/nst as f64, fa as f64/nst as f64, bad, nat, pen, r.overlap, r.energy.kinetic, acc.map(|a| (1e5*a/nst as f64).round()/100.0), 1e3*acc.iter().sum::<f64>()/nst as f64);
            acc=[0.0;5]; nst=0; it=0; fa=0; bad=0; nat=0.0; pen=0.0;
        }
    }
    println!("mean {:.2} ms/step {:?}", 1e3*tot.iter().sum::<f64>()/600.0, tot.map(|a| a*1e3/600.0));
}
