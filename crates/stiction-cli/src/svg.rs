//! A small writer of line plots as SVG: axes, linear or logarithmic scales, legend, several series.

use std::fmt::Write;

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By powers of ten; numbers that are not positive are left out.
    Log,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points.
    #[default]
    Line,
    /// A dashed line, for closed forms and other references.
    Dashes,
    /// The points alone.
    Dots,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub mark: Mark,
}

/// A plot.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Above the plot.
    pub title: String,
    /// Below the horizontal axis, with the unit.
    pub x_label: String,
    /// Beside the vertical axis, with the unit.
    pub y_label: String,
    /// Scale of the horizontal axis.
    pub x_scale: Scale,
    /// Scale of the vertical axis.
    pub y_scale: Scale,
    /// The curves.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 60.0;
/// Colours that differ for most kinds of colour vision (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

impl Plot {
    /// A plot with linear axes and no curves.
    pub fn new(title: &str, x_label: &str, y_label: &str) -> Plot {
        Plot { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), ..Plot::default() }
    }

    /// Adds a curve.
    pub fn add(&mut self, name: &str, mark: Mark, points: Vec<(f64, f64)>) {
        self.series.push(Series { name: name.into(), points, mark });
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let x = Axis::fit(self.x_scale, self.usable().map(|p| p.0));
        let y = Axis::fit(self.y_scale, self.usable().map(|p| p.1));
        let px = |v: f64| LEFT + x.at(v) * (WIDTH - LEFT - RIGHT);
        let py = |v: f64| HEIGHT - BOTTOM - y.at(v) * (HEIGHT - TOP - BOTTOM);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut s = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut s, (LEFT, 24.0), "start", "font-weight=\"bold\" font-size=\"14\"", &self.title);
        for t in x.ticks() {
            line(&mut s, (px(t), TOP), (px(t), bottom), "#dddddd");
            text(&mut s, (px(t), bottom + 16.0), "middle", "", &tick_text(t));
        }
        for t in y.ticks() {
            line(&mut s, (LEFT, py(t)), (right, py(t)), "#dddddd");
            text(&mut s, (LEFT - 6.0, py(t) + 4.0), "end", "", &tick_text(t));
        }
        line(&mut s, (LEFT, bottom), (right, bottom), "#333333");
        line(&mut s, (LEFT, TOP), (LEFT, bottom), "#333333");
        text(&mut s, (0.5 * (LEFT + right), HEIGHT - 18.0), "middle", "", &self.x_label);
        let (cx, cy) = (18.0, 0.5 * (TOP + bottom));
        text(&mut s, (cx, cy), "middle", &format!("transform=\"rotate(-90 {cx} {cy})\""), &self.y_label);
        for (i, series) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let at = TOP + 8.0 + 18.0 * i as f64;
            let seen = series.points.iter().filter(|p| self.shows(p));
            match series.mark {
                Mark::Dots => {
                    for p in seen {
                        dot(&mut s, (px(p.0), py(p.1)), colour);
                    }
                    dot(&mut s, (right + 24.0, at), colour);
                }
                Mark::Line | Mark::Dashes => {
                    let dash = if series.mark == Mark::Dashes { " stroke-dasharray=\"6 4\"" } else { "" };
                    let path: String = seen.map(|p| format!("{:.2},{:.2} ", px(p.0), py(p.1))).collect();
                    let legend = format!("{:.2},{at:.2} {:.2},{at:.2}", right + 12.0, right + 36.0);
                    for points in [path.trim_end(), legend.as_str()] {
                        let _ = writeln!(
                            s,
                            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}/>"
                        );
                    }
                }
            }
            text(&mut s, (right + 42.0, at + 4.0), "start", "", &series.name);
        }
        s + "</svg>\n"
    }

    fn usable(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series.iter().flat_map(|s| s.points.iter().copied()).filter(|p| self.shows(p))
    }

    fn shows(&self, p: &(f64, f64)) -> bool {
        self.x_scale.takes(p.0) && self.y_scale.takes(p.1)
    }
}

impl Scale {
    fn takes(self, v: f64) -> bool {
        v.is_finite() && (self == Scale::Linear || v > 0.0)
    }
}

struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// Around the values, with some air; decades where logarithmic.
    fn fit(scale: Scale, values: impl Iterator<Item = f64>) -> Axis {
        let map = |v: f64| if scale == Scale::Log { v.log10() } else { v };
        let (low, high) =
            values.map(map).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Axis { scale, low: 0.0, high: 1.0 };
        }
        match scale {
            Scale::Log => Axis { scale, low: low.floor(), high: high.ceil().max(low.floor() + 1.0) },
            Scale::Linear => {
                let air = 0.05 * (high - low).max(1e-9 * high.abs().max(low.abs())).max(f64::MIN_POSITIVE);
                Axis { scale, low: low - air, high: high + air }
            }
        }
    }

    /// Position of `v`, 0 at the low end and 1 at the high one.
    fn at(&self, v: f64) -> f64 {
        let v = if self.scale == Scale::Log { v.log10() } else { v };
        (v - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Log => {
                let step = ((self.high - self.low) / 8.0).ceil().max(1.0) as usize;
                (self.low as i32..=self.high as i32).step_by(step).map(|k| 10f64.powi(k)).collect()
            }
            Scale::Linear => {
                // 1, 2 or 5 times a power of ten, about six of them.
                let raw = (self.high - self.low) / 6.0;
                let power = 10f64.powf(raw.log10().floor());
                let step =
                    [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= raw).unwrap_or(10.0) * power;
                let first = (self.low / step).ceil() as i64;
                let last = (self.high / step).floor() as i64;
                (first..=last).map(|k| k as f64 * step).collect()
            }
        }
    }
}

fn tick_text(v: f64) -> String {
    if v != 0.0 && !(1e-3..1e5).contains(&v.abs()) {
        format!("{v:.0e}")
    } else {
        let text = format!("{v:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

// Writing to a String cannot fail.

fn line(s: &mut String, a: (f64, f64), b: (f64, f64), colour: &str) {
    let _ = writeln!(
        s,
        "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" stroke=\"{colour}\"/>",
        a.0, a.1, b.0, b.1
    );
}

fn dot(s: &mut String, at: (f64, f64), colour: &str) {
    let _ = writeln!(s, "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"2.6\" fill=\"{colour}\"/>", at.0, at.1);
}

fn text(s: &mut String, at: (f64, f64), anchor: &str, extra: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        s,
        "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"{anchor}\" {extra}>{content}</text>",
        at.0, at.1
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_is_complete_and_escaped() {
        let mut p = Plot::new("a < b", "t [s]", "x [m]");
        p.add("one & two", Mark::Line, vec![(0.0, 0.0), (1.0, 2.0)]);
        p.add("dots", Mark::Dots, vec![(0.5, f64::NAN), (0.5, 1.0)]);
        let svg = p.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("a &lt; b") && svg.contains("one &amp; two") && !svg.contains("NaN"));
    }

    #[test]
    fn a_logarithmic_axis_spans_whole_decades_and_skips_zero() {
        let mut p = Plot { y_scale: Scale::Log, ..Plot::new("", "", "") };
        p.add("r", Mark::Line, vec![(0.0, 3e-9), (1.0, 2e-2), (2.0, 0.0)]);
        let y = Axis::fit(Scale::Log, p.usable().map(|p| p.1));
        assert_eq!((y.low, y.high), (-9.0, -1.0));
        assert_eq!(p.usable().count(), 2);
    }

    #[test]
    fn an_empty_or_constant_plot_is_drawn_all_the_same() {
        let mut p = Plot::new("", "", "");
        assert!(!p.to_svg().contains("NaN"));
        p.add("c", Mark::Line, vec![(1.0, 1.0)]);
        assert!(!p.to_svg().contains("NaN"));
    }
}
