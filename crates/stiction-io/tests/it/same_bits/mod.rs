//! Same input, same bits: digests of q, v and the forces of contacts and joints of every gallery scene by `exact`, `cr`, `nsn`, `penalty` and
//! `nsn-nonlinear`, of some by `auto` and `realtime`, and of some with the other scheme, against a committed list. A change of structure
//! leaves all of them as they are; one that is meant to change bits records them anew with `STICTION_DIGESTS=record` and says in its
//! commit by how much the scenes changed. `STICTION_DIGESTS=time` prints what the runs take that are left out as too slow.
//!
//! Linear algebra chooses its kernels by what the processor offers, and sums differ between them. The list names the processor features
//! that it was recorded with; elsewhere nothing is compared, which `STICTION_DIGESTS=require` turns into a failure.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use stiction::{Scheme, Simulation, SolverKind, Vec3};
use stiction_io::gallery;

/// Solvers with digests of all scenes: the default, and one of each other way to step.
pub const SOLVERS: [SolverKind; 5] = [
    SolverKind::Exact,
    SolverKind::ConjugateResidual,
    SolverKind::NonsmoothNewton,
    SolverKind::NonlinearNewton,
    SolverKind::Penalty,
];
/// Other solvers, with scenes on which they differ from `exact`: `auto` on what bends, `realtime` where its first stages do not end.
const OTHERS: &[(SolverKind, &[&str])] = &[
    (
        SolverKind::Auto,
        &["cantilever", "extension", "soft-block-grip", "ring-chain", "beam-insertion", "cloth-drop"],
    ),
    (
        SolverKind::Realtime,
        &["domino", "wall", "arch", "terrain", "table-pile", "cantilever", "soft-block-grip"],
    ),
];
/// Scenes that are also run with the scheme that they do not name: flight and impacts, rest, joints, cloth, rods, a soft body.
const SCHEMES: [&str; 8] = [
    "bouncing-balls",
    "box-on-plane",
    "domino",
    "crank-slider",
    "cloth-drop",
    "cable-winding",
    "cantilever",
    "soft-block-grip",
];
/// What such a run is called.
const OTHER_SCHEME: &str = "+scheme";
/// Steps before the first that counts: nothing touches before.
const LATE: &[(&str, u32)] = &[("bouncing-balls", 440)];
/// Steps after which digests are taken, as far as a run goes: the first that differs says when it began.
const LOOKS: [u32; 6] = [1, 2, 5, 10, 25, 50];
/// Recording ends a run after the step at which it has taken this much processor time, if it has a digest.
const MOST_TIME: Duration = Duration::from_millis(600);

/// Runs that take more than a second for their first step, with its seconds as `STICTION_DIGESTS=time` printed them; 25 s is where
/// that was broken off.
#[rustfmt::skip]
const SLOW: &[(&str, SolverKind, f64)] = &[
    ("soft-gripper", SolverKind::NonsmoothNewton, 1.0),
    ("soft-gripper", SolverKind::Penalty, 1.4),
    ("soft-gripper", SolverKind::NonlinearNewton, 4.8),
    ("soft-block-grip", SolverKind::NonsmoothNewton, 1.2),
    ("soft-block-grip", SolverKind::NonlinearNewton, 3.2),
    ("mat-folding", SolverKind::NonlinearNewton, 1.6),
    ("mat-folding", SolverKind::NonsmoothNewton, 25.0),
    ("pile", SolverKind::Penalty, 25.0),
    ("pile-2000", SolverKind::Penalty, 25.0),
];

/// Digests at the looks of a run, or why there are none.
#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Digests(Vec<u64>),
    LeftOut(String),
}

type List = BTreeMap<(String, String), Entry>;

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/same_bits/digests.txt")
}

/// What the bits may depend on beside the input.
fn machine() -> String {
    let mut text = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    #[cfg(target_arch = "x86_64")]
    for (name, has) in [
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
    ] {
        if has {
            write!(text, " {name}").expect("strings grow");
        }
    }
    text
}

/// FNV-1a over the bits of numbers.
fn digest(numbers: impl Iterator<Item = f64>) -> u64 {
    let bytes = numbers.flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn digest_of(sim: &Simulation) -> u64 {
    let state = sim.state();
    let contacts = sim.contacts().map(|(_, f)| f);
    let joints = (0..sim.model().joints.len()).flat_map(|j| <[Vec3; 2]>::from(sim.joint_force(j)));
    let forces = contacts.chain(joints).flat_map(|f| f.to_array());
    digest(state.q.iter().chain(&state.v).copied().chain(forces))
}

/// All runs: scene, or its name with [`OTHER_SCHEME`], and solver.
fn pairs() -> impl Iterator<Item = (String, SolverKind)> {
    let all = gallery::ALL.iter().flat_map(|e| SOLVERS.map(|s| (e.name.to_string(), s)));
    let others = OTHERS.iter().flat_map(|(s, scenes)| scenes.iter().map(|e| (e.to_string(), *s)));
    let schemes = SCHEMES.iter().flat_map(|e| SOLVERS.map(|s| (format!("{e}{OTHER_SCHEME}"), s)));
    // The step that knows no scheme.
    let schemes = schemes.filter(|(_, s)| !matches!(s, SolverKind::Penalty | SolverKind::NonlinearNewton));
    all.chain(others).chain(schemes)
}

/// Processor time of this thread; without /proc the time that passes.
fn time(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let ticks = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: Vec<u64> = ticks.filter_map(|t| t.parse().ok()).collect();
    if ticks.len() == 2 { Duration::from_millis(10 * ticks.iter().sum::<u64>()) } else { start.elapsed() }
}

/// True for runs that take seconds for a step.
pub fn is_slow(scene: &str, solver: SolverKind) -> bool {
    let scene = scene.strip_suffix(OTHER_SCHEME).unwrap_or(scene);
    SLOW.iter().any(|s| s.0 == scene && s.1 == solver)
}

/// Runs a scene up to `looks` digests, or until time is up.
fn run(name: &str, solver: SolverKind, looks: Option<usize>) -> Entry {
    let scene = name.strip_suffix(OTHER_SCHEME).unwrap_or(name);
    let entry = gallery::find(scene).expect("a scene of the gallery");
    let mut loaded = entry.load(&[]).expect("gallery scenes load");
    loaded.settings.solver = solver;
    if scene != name {
        loaded.settings.scheme = match loaded.settings.scheme {
            Scheme::ImplicitEuler => Scheme::Midpoint,
            Scheme::Midpoint => Scheme::ImplicitEuler,
        };
    }
    let model = loaded.compile().expect("gallery scenes compile");
    let mut sim = Simulation::new(model, loaded.settings);
    let late = LATE.iter().find(|l| l.0 == scene).map_or(0, |l| l.1);
    let begun = Instant::now();
    let (mut out, mut start) = (Vec::new(), time(begun));
    for step in 1..=late + LOOKS[LOOKS.len() - 1] {
        if let Err(e) = sim.step(loaded.dt) {
            return Entry::LeftOut(format!("step {step}: {e}").replace('\n', " "));
        }
        if step <= late {
            start = time(begun);
        } else if LOOKS.contains(&(step - late)) {
            out.push(digest_of(&sim));
            if looks.is_some_and(|n| out.len() == n) {
                break;
            }
        }
        // Between looks, too: what comes next may take a hundred times as long.
        if looks.is_none() && !out.is_empty() && time(begun) - start > MOST_TIME {
            break;
        }
    }
    Entry::Digests(out)
}

/// Runs all in order of their names, two at a time.
fn run_all(cases: Vec<((String, String), SolverKind, Option<usize>)>) -> List {
    let (next, list) = (Mutex::new(cases.into_iter()), Mutex::new(List::new()));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                loop {
                    let case = next.lock().expect("no case panics in here").next();
                    let Some((name, solver, looks)) = case else { return };
                    let begun = Instant::now();
                    let start = time(begun);
                    let entry = match is_slow(&name.0, solver) {
                        true => Entry::LeftOut("takes seconds for a step".into()),
                        false => run(&name.0, solver, looks),
                    };
                    println!("{} by {}: {:.1} s", name.0, name.1, (time(begun) - start).as_secs_f64());
                    list.lock().expect("no case panics in here").insert(name, entry);
                }
            });
        }
    });
    list.into_inner().expect("no case panics in here")
}

/// A line that the test runner does not keep to itself: whoever reads the log of a run sees how much was compared.
fn say(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn render(machine: &str, list: &List) -> String {
    let mut text = String::from(
        "# Digests of q, v and forces after 1, 2, 5, 10, 25 and 50 steps, as far as they are cheap; see mod.rs.\n",
    );
    writeln!(text, "machine {machine}").expect("strings grow");
    for ((scene, solver), entry) in list {
        match entry {
            Entry::Digests(all) => {
                let all: Vec<String> = all.iter().map(|d| format!("{d:016x}")).collect();
                writeln!(text, "{scene} {solver} {}", all.join(" ")).expect("strings grow");
            }
            Entry::LeftOut(why) => writeln!(text, "{scene} {solver} - {why}").expect("strings grow"),
        }
    }
    text
}

fn parse(text: &str) -> (String, List) {
    let (mut machine, mut list) = (String::new(), List::new());
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        let (one, two, rest) = (words.next(), words.next(), words.next());
        match (one, two, rest) {
            (Some("machine"), Some(first), rest) => {
                machine = [first, rest.unwrap_or_default()].join(" ").trim().to_string();
            }
            (Some(scene), Some(solver), Some(rest)) => {
                let entry = match rest.strip_prefix("- ") {
                    Some(why) => Entry::LeftOut(why.to_string()),
                    None => Entry::Digests(
                        rest.split(' ').map(|d| u64::from_str_radix(d, 16).expect("a digest")).collect(),
                    ),
                };
                list.insert((scene.to_string(), solver.to_string()), entry);
            }
            _ => panic!("a line of another form: {line}"),
        }
    }
    (machine, list)
}

fn name(scene: &str, solver: SolverKind) -> (String, String) {
    (scene.to_string(), solver.name().to_string())
}

#[test]
fn steps_give_the_bits_that_they_gave() {
    let wish = std::env::var("STICTION_DIGESTS").unwrap_or_default();
    if wish == "time" {
        for &(scene, solver, _) in SLOW {
            let begun = Instant::now();
            let start = time(begun);
            let end = run(scene, solver, Some(1));
            say(&format!(
                "{scene} by {}: {:.1} s, {end:?}",
                solver.name(),
                (time(begun) - start).as_secs_f64()
            ));
        }
        return;
    }
    if wish == "record" {
        let list = run_all(pairs().map(|(scene, s)| (name(&scene, s), s, None)).collect());
        std::fs::write(file(), render(&machine(), &list)).expect("the list can be written");
        println!("recorded {} runs", list.len());
        return;
    }
    let text = std::fs::read_to_string(file()).expect("the list stands beside the test");
    let (recorded_on, recorded) = parse(&text);
    for (scene, solver) in pairs() {
        assert!(
            recorded.contains_key(&name(&scene, solver)),
            "{scene} by {} is not in the list: record it",
            solver.name()
        );
    }
    assert_eq!(recorded.len(), pairs().count(), "the list names scenes or solvers that there are not");
    if recorded_on != machine() {
        say(&format!("compared 0 digests: recorded on `{recorded_on}`, this is `{}`", machine()));
        assert_ne!(wish, "require", "the digests of this processor are not recorded");
        return;
    }
    let looks = |e: &Entry| match e {
        Entry::Digests(all) => Some(all.len()),
        Entry::LeftOut(_) => Some(1),
    };
    let cases = pairs().map(|(scene, s)| (name(&scene, s), s, looks(&recorded[&name(&scene, s)])));
    let now = run_all(cases.collect());
    let (mut compared, mut changed) = (0, String::new());
    for (name, entry) in &now {
        match (&recorded[name], entry) {
            (Entry::Digests(before), Entry::Digests(after)) => {
                compared += before.len();
                if let Some(k) = (0..before.len()).find(|&k| before.get(k) != after.get(k)) {
                    let since = if k == 0 { 0 } else { LOOKS[k - 1] };
                    writeln!(
                        changed,
                        "{} by {}: after step {since}, at {} at the latest",
                        name.0, name.1, LOOKS[k]
                    )
                    .expect("strings grow");
                }
            }
            (before, after) if before == after => {}
            (before, after) => {
                writeln!(changed, "{} by {}: {before:?}, now {after:?}", name.0, name.1)
                    .expect("strings grow");
            }
        }
    }
    say(&format!("compared {compared} digests of {} runs", now.len()));
    assert!(compared > 0, "nothing was compared");
    assert!(changed.is_empty(), "these runs changed:\n{changed}");
}

#[test]
fn one_bit_changes_a_digest() {
    let x: [f64; 3] = [1.0, -2.5, 3e-300];
    let mut y = x;
    y[2] = f64::from_bits(y[2].to_bits() + 1);
    assert_ne!(digest(x.into_iter()), digest(y.into_iter()));
    let list = List::from([
        (("a".into(), "exact".into()), Entry::Digests(vec![1, u64::MAX])),
        (("a".into(), "penalty".into()), Entry::LeftOut("step 1: it has no rods".into())),
    ]);
    assert_eq!(parse(&render("x y z", &list)), ("x y z".to_string(), list));
}
