//! What can be chosen about the method; the default is the paper's.

use super::friction::ConeGuard;
use super::linear::LinearSettings;
use super::ncp::NcpFunction;
use super::stiffness::SystemForm;
use serde::{Deserialize, Serialize};

/// The r-factor that puts both sides of a complementarity condition into the same units (Sec. 7).
///
/// In our units, velocities and impulses, the paper's r is multiplied by 1/h² for normal and 1/h for friction rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[doc(alias = "complementarity preconditioner")]
pub enum Scaling {
    /// r = 1 in metres and newtons: fails with large masses or fast sliding.
    Identity,
    /// r = h² (h for friction): 1 [1/kg] for every mass.
    TimeStep,
    /// r = h² [J M⁻¹ Jᵀ]_ii (66), of the unscaled rows (correction N9); the larger of both for the two rows of friction.
    #[default]
    EffectiveMass,
}

/// Where the derivative α = ∂φ/∂u of the NCP function goes (correction N7). All three have the same solutions and
/// a symmetric matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Derivative {
    /// As printed: rows α∇C in the matrix and in the momentum balance (44), (46), so that the force is α∇Cᵀλ.
    #[default]
    Literal,
    /// The true force in the residual, α on row and column in the matrix.
    Scaled,
    /// Exact Newton: the row divided by α, so that its column is the force's; where α vanishes, Δλ = −φ/β.
    Divided,
}

/// How friction becomes rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionRows {
    /// u_t + W λ_f = 0 with W held while differentiating (36), (37): a fixed point, which converges slowly where contacts
    /// slide slowly, by D μλ_n/(D μλ_n + |u_t|) per iteration.
    #[default]
    Compliance,
    /// Complementarity of slip and friction along the direction of sliding, differentiated exactly (ours). The part of μΔλ_n,
    /// which is not symmetric, stays out of the matrix and is solved for around it.
    Sliding,
}

/// How far along the Newton step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepRule {
    /// Always this share t of it; 0.75 in the paper. Errors shrink at most by 1 − t per iteration (correction N8).
    Fixed(f64),
    /// Halved from 1 until the L2 norm of the residual falls, at most this many times (Sec. 8.1): for problems without
    /// friction.
    #[doc(alias = "backtracking")]
    LineSearch(usize),
    /// Whole steps while the velocity measure falls to half or less, ¾ after a step that did less, and shorter ones where it
    /// rises to three times what it was (ours).
    Trusting,
}

/// The shift ε of the diagonal of (59); the residual does not know it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regularization {
    /// ε [1/kg] as it stands; 1e-6 in the paper.
    Absolute(f64),
    /// ε times the diagonal of J H⁻¹ Jᵀ, which has no unit.
    Relative(f64),
    /// As much as brings C_ii to ε times the diagonal of J H⁻¹ Jᵀ: rows that are soft enough get nothing. In the stiffness
    /// form (64), where ε counts as compliance, a shift of stiff elements would slow their convergence to linear.
    Floor(f64),
}

/// What happens when a linear solve breaks down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Breakdown {
    /// The solve ends there and says so.
    #[default]
    Stop,
    /// ε is made a thousand times larger for this iteration, up to four times.
    Regularize,
}

/// What happens when the iterations end without an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// The last iterate is returned.
    #[default]
    None,
    /// Other ways are tried in turn until one arrives, and the best answer of all iterates is returned. On frozen problems: the
    /// compliance form; friction by its compliance in steps of ¾; the minimum map from zero; steps of 0.3 from the free velocity. In
    /// the non-linear step, which keeps its form: whole steps; half steps; whole steps from zero; then the last three as well.
    Vary,
}

/// The first iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// u = 0, λ = 0 (67), (68).
    #[default]
    Zero,
    /// λ = 0 and the velocity without contacts.
    Free,
    /// The multipliers of the last step and the velocities that they make.
    Warm,
}

/// Whether parts that nothing couples are solved apart (Sec. 11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IslandRule {
    /// All contacts in one system, as in the paper: one number of iterations for all.
    #[default]
    Together,
    /// Each island alone.
    Apart,
}

/// What is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// (u, λ) of the last iterate.
    #[default]
    Iterate,
    /// λ brought onto its cone and the velocity that it makes, judged after every iteration.
    Consistent,
}

/// Settings of the method. `default()` is the paper: Fischer–Burmeister, effective mass, t = 0.75, ε = 1e-6, zero start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewtonSettings {
    /// Most Newton iterations N; 4 to 8 in the paper.
    pub iterations: usize,
    /// Stop earlier when the velocity measure, relative to the velocity scale, is below this; 0 never does.
    pub tolerance: f64,
    /// Give up when so many iterations have not brought the smallest error down by a tenth; 0 never does.
    pub patience: usize,
    /// NCP function.
    pub ncp: NcpFunction,
    /// r-factors.
    pub scaling: Scaling,
    /// Bound of friction's r as a share of |u_t|/(μλ_n), for [`FrictionRows::Compliance`]; infinite in the paper. With W held while differentiating, an
    /// error in a null mode of redundant contacts is multiplied by 1 − t (1 + r/W): beyond t (1 + r/W) = 2 it grows.
    /// 0.5 keeps it below ⅛ at t = ¾.
    pub friction_bound: f64,
    /// Rows of friction.
    pub friction: FrictionRows,
    /// Treatment of the NCP derivative.
    pub derivative: Derivative,
    /// Guard of the friction compliance.
    pub cone_guard: ConeGuard,
    /// Step rule.
    pub step: StepRule,
    /// Shift of the diagonal.
    pub regularization: Regularization,
    /// What happens when a linear solve breaks down.
    pub breakdown: Breakdown,
    /// Which Schur complement is solved. The stiffness form takes conjugate gradients for every iterative method, and does
    /// not know problems that are given by W alone.
    pub form: SystemForm,
    /// Linear solver.
    pub linear: LinearSettings,
    /// First iterate.
    pub start: Start,
    /// Islands of frozen problems. The non-linear step solves one linear system for all of them whatever this says; under
    /// [`Fallback::Vary`] each of its islands keeps its own best iterate.
    pub islands: IslandRule,
    /// What is returned.
    pub finish: Finish,
    /// What happens when the iterations end without an answer; on frozen problems it needs [`Finish::Consistent`].
    pub fallback: Fallback,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        NewtonSettings {
            iterations: 6,
            tolerance: 0.0,
            patience: 0,
            ncp: NcpFunction::FischerBurmeister,
            scaling: Scaling::EffectiveMass,
            friction_bound: f64::INFINITY,
            friction: FrictionRows::Compliance,
            derivative: Derivative::Literal,
            cone_guard: ConeGuard::Project,
            step: StepRule::Fixed(0.75),
            regularization: Regularization::Absolute(1e-6),
            breakdown: Breakdown::Stop,
            form: SystemForm::Compliance,
            linear: LinearSettings::default(),
            start: Start::Zero,
            islands: IslandRule::Together,
            finish: Finish::Iterate,
            fallback: Fallback::None,
        }
    }
}

impl Regularization {
    /// ε times `factor`.
    pub fn times(self, factor: f64) -> Regularization {
        match self {
            Regularization::Absolute(e) => Regularization::Absolute(e * factor),
            Regularization::Relative(e) => Regularization::Relative(e * factor),
            Regularization::Floor(e) => Regularization::Floor(e * factor),
        }
    }
}

impl NewtonSettings {
    /// What converges where the paper's settings do not: friction differentiated exactly, rows divided by α, whole steps where
    /// they pay, islands apart, warm start, direct solves and an answer that is consistent and judged. Velocities are solved for
    /// (64): contacts of rigid bodies are many for few velocities, and often redundant, which that form does not feel.
    pub fn robust() -> NewtonSettings {
        NewtonSettings {
            iterations: 300,
            tolerance: 1e-8,
            patience: 40,
            friction: FrictionRows::Sliding,
            friction_bound: 0.5,
            step: StepRule::Trusting,
            derivative: Derivative::Divided,
            form: SystemForm::Stiffness,
            regularization: Regularization::Floor(1e-6),
            breakdown: Breakdown::Regularize,
            linear: LinearSettings::direct(),
            start: Start::Warm,
            islands: IslandRule::Apart,
            finish: Finish::Consistent,
            fallback: Fallback::Vary,
            ..NewtonSettings::default()
        }
    }

    /// With what the user asked for.
    pub fn with(mut self, s: &crate::solvers::SolverSettings) -> NewtonSettings {
        self.tolerance = s.tolerance.unwrap_or(self.tolerance);
        self.iterations = s.max_iterations.unwrap_or(self.iterations);
        self
    }
}
