//! The simulation behind the live view, on a thread of its own. It never waits for those who watch: they get the newest
//! frame when they are ready for it.

use super::spring::Pull;
use crate::args::{SceneArgs, StepArgs};
use crate::failure::{Result, error};
use crate::record::about;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use stiction::{Simulation, SolverKind, Vec3};
use stiction_io::recording::{Header, live_frame, live_header};
use stiction_io::scene::MOST_BYTES as SCENE_BYTES;
use stiction_io::scene::numbers;
use stiction_io::{gallery, read};
use tokio::sync::watch;

/// Most wishes that wait; more are dropped.
const WISHES: usize = 256;
/// Frames per second that are sent at most.
const RATE: f64 = 60.0;
/// Numbers of the scene that are offered for editing.
const PARAMETERS: usize = 24;

/// What somebody who watches wants.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Wish {
    /// Run.
    Play,
    /// Stand still.
    Pause,
    /// Take one step.
    Step,
    /// Start again.
    Reset,
    /// Seconds of simulation per second.
    Speed(f64),
    /// Another solver.
    Solver(String),
    /// Another value of the scene.
    Set(String, f64),
    /// Hold a part at a point.
    Grab {
        /// Which one.
        part: u32,
        /// Where [m].
        point: [f64; 3],
    },
    /// Pull what is held.
    Pull([f64; 3]),
    /// Let go.
    Release,
}

/// What everybody who watches sees.
#[derive(Clone, Default)]
pub struct View {
    /// Counts runs: a new one has a new header.
    pub run: u64,
    /// The start of a recording.
    pub header: Arc<Vec<u8>>,
    /// The newest frame.
    pub frame: Arc<Vec<u8>>,
    /// Settings and errors, as JSON.
    pub settings: Arc<String>,
}

/// A running stage.
#[derive(Clone)]
pub struct Stage {
    /// Where wishes go.
    pub wishes: SyncSender<Wish>,
    /// Where views come from.
    pub view: watch::Receiver<View>,
}

impl Stage {
    /// Loads the scene and starts the thread.
    pub fn start(scene: SceneArgs, step: StepArgs) -> Result<Stage> {
        let (wishes, inbox) = sync_channel(WISHES);
        let mut actor = Actor::new(scene, step)?;
        let (send, view) = watch::channel(View::default());
        actor.publish(&send)?;
        std::thread::spawn(move || actor.run(&inbox, &send));
        Ok(Stage { wishes, view })
    }
}

struct Actor {
    scene: SceneArgs,
    step: StepArgs,
    sim: Simulation,
    header: Header,
    bytes: Arc<Vec<u8>>,
    run: u64,
    dt: f64,
    playing: bool,
    speed: f64,
    pull: Option<Pull>,
    parameters: Vec<(String, f64)>,
    problem: Option<String>,
}

impl Actor {
    fn new(scene: SceneArgs, step: StepArgs) -> Result<Actor> {
        let text = match gallery::find(&scene.scene) {
            Some(e) => e.text.to_string(),
            // What is no scene is refused below, with its reason.
            None => read::text(Path::new(&scene.scene), SCENE_BYTES, "").unwrap_or_default(),
        };
        let mut parameters = numbers(&text);
        parameters.truncate(PARAMETERS);
        for (key, value) in &scene.overrides {
            if let (Some(p), Ok(x)) = (parameters.iter_mut().find(|p| p.0 == *key), value.parse()) {
                p.1 = x;
            }
        }
        let (sim, dt, header, bytes) = build(&scene, &step)?;
        Ok(Actor {
            scene,
            step,
            sim,
            header,
            bytes,
            run: 1,
            dt,
            playing: false,
            speed: 1.0,
            pull: None,
            parameters,
            problem: None,
        })
    }

    fn run(&mut self, inbox: &Receiver<Wish>, view: &watch::Sender<View>) {
        // The wall clock and the time of the simulation at which they were last equal.
        let mut start = (Instant::now(), self.sim.state().t);
        let mut sent = Instant::now();
        loop {
            let due = start.0
                + Duration::from_secs_f64(((self.sim.state().t + self.dt - start.1) / self.speed).max(0.0));
            let wait = if self.playing {
                due.saturating_duration_since(Instant::now())
            } else {
                Duration::from_secs(60)
            };
            match inbox.recv_timeout(wait) {
                Ok(wish) => {
                    self.grant(wish);
                    start = (Instant::now(), self.sim.state().t);
                    if self.publish(view).is_err() {
                        return;
                    }
                    if self.playing && self.pull.is_some() {
                        // A hand sends wishes all the time; the simulation goes on between them.
                        self.advance();
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.playing {
                continue;
            }
            self.advance();
            // A simulation that cannot keep up runs as fast as it can.
            if start.0.elapsed().as_secs_f64() * self.speed > self.sim.state().t - start.1 + 0.25 {
                start = (Instant::now(), self.sim.state().t);
            }
            if sent.elapsed().as_secs_f64() * RATE >= 1.0 || self.problem.is_some() {
                sent = Instant::now();
                if self.publish(view).is_err() {
                    return;
                }
            }
        }
    }

    fn advance(&mut self) {
        if let Some(p) = &self.pull {
            p.act(&mut self.sim, self.dt);
        }
        if let Err(e) = self.sim.step(self.dt) {
            self.problem = Some(format!("the simulation stopped: {e}"));
            self.playing = false;
        }
    }

    fn grant(&mut self, wish: Wish) {
        self.problem = None;
        match wish {
            Wish::Play => self.playing = true,
            Wish::Pause => self.playing = false,
            Wish::Step => {
                self.playing = false;
                self.advance();
            }
            Wish::Reset => {
                self.playing = false;
                self.rebuild(false);
            }
            Wish::Speed(x) if (0.01..=100.0).contains(&x) => self.speed = x,
            Wish::Speed(_) => self.problem = Some("speed goes from 0.01 to 100".into()),
            Wish::Solver(name) => match SolverKind::STEPPING.into_iter().find(|k| k.name() == name) {
                Some(kind) => {
                    self.step.solver = Some(kind);
                    self.rebuild(true);
                }
                None => self.problem = Some("there is no such solver".into()),
            },
            Wish::Set(key, value) => self.set(&key, value),
            Wish::Grab { part, point } => {
                self.pull = Pull::new(&self.sim, &self.header, part, Vec3::from_array(point));
            }
            Wish::Pull(to) => {
                if let Some(p) = &mut self.pull {
                    p.to = Vec3::from_array(to);
                }
            }
            Wish::Release => self.pull = None,
        }
    }

    /// Changes one of the numbers that are offered; the run goes on where the state still fits.
    fn set(&mut self, key: &str, value: f64) {
        let Some(at) = self.parameters.iter().position(|p| p.0 == key).filter(|_| value.is_finite()) else {
            self.problem = Some("there is no such number in the scene".into());
            return;
        };
        let (old, before) = (self.scene.overrides.clone(), self.parameters[at].1);
        self.scene.overrides.retain(|o| o.0 != key);
        // Counts must stay whole.
        let text =
            if value.fract() == 0.0 && value.abs() < 1e9 { format!("{value}") } else { format!("{value:?}") };
        self.scene.overrides.push((key.into(), text));
        self.parameters[at].1 = value;
        self.rebuild(true);
        if self.problem.is_some() {
            self.scene.overrides = old;
            self.parameters[at].1 = before;
        }
    }

    /// Builds the scene anew; `keep`s the state where it fits. What cannot be built leaves all as it is.
    fn rebuild(&mut self, keep: bool) {
        match build(&self.scene, &self.step) {
            Err(e) => self.problem = Some(e.to_string()),
            Ok((mut sim, dt, header, bytes)) => {
                let (old, new) = (self.sim.state(), sim.state());
                if keep
                    && old.q.len() == new.q.len()
                    && old.v.len() == new.v.len()
                    && header.bodies.len() == self.header.bodies.len()
                {
                    sim.set_state(old.clone());
                }
                self.pull = None;
                (self.sim, self.dt, self.header, self.bytes) = (sim, dt, header, bytes);
                self.run += 1;
            }
        }
    }

    fn publish(&self, view: &watch::Sender<View>) -> Result<()> {
        let bad = |e: std::io::Error| error(e, "use a smaller scene");
        let settings = json!({
            "settings": {
                "playing": self.playing, "speed": self.speed,
                "solver": self.header.extra["solver"], "solvers": SolverKind::STEPPING.map(SolverKind::name),
                "parameters": self.parameters.iter().map(|(k, x)| json!({ "key": k, "value": x })).collect::<Vec<_>>(),
            },
            "error": self.problem,
        });
        view.send_replace(View {
            run: self.run,
            header: self.bytes.clone(),
            frame: Arc::new(live_frame(&self.sim).map_err(bad)?),
            settings: Arc::new(settings.to_string()),
        });
        Ok(())
    }
}

type Built = (Simulation, f64, Header, Arc<Vec<u8>>);

fn build(scene: &SceneArgs, step: &StepArgs) -> Result<Built> {
    let prepared = scene.prepare(step)?;
    let s = prepared.loaded.settings;
    let about = about(&prepared.name, &prepared.loaded.title, prepared.loaded.dt, &s);
    let header = Header::new(&prepared.model, about);
    let bytes = live_header(&header).map_err(|e| error(e, "use a smaller scene"))?;
    Ok((Simulation::new(prepared.model, s), prepared.loaded.dt, header, Arc::new(bytes)))
}
