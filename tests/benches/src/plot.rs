//! A chart of curves as SVG: axes with ticks, one line style and one marker for each curve, text as text.
//!
//! Readable without colour and on a dark page. Written by hand because a chart needs a few lines of SVG, and a plotting library many crates.
//! Not here: what is drawn, which is the bench `growth`.

use std::fmt::Write;

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From zero.
    Linear,
    /// Equal ratios are equal lengths, from one power of ten to another.
    Log,
}

/// What an axis shows.
#[derive(Clone, Debug)]
pub struct Axis {
    /// With its unit.
    pub label: String,
    /// How values lie on it.
    pub scale: Scale,
}

/// A named line through points, which are sorted by their first value.
#[derive(Clone, Debug)]
pub struct Curve {
    /// In the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// All of one picture.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In the order of the legend, at most four.
    pub curves: Vec<Curve>,
}

/// Colours that colour-blind people tell apart (Okabe and Ito), and what tells them apart without colour.
const STYLES: [(&str, &str, Marker); 4] = [
    ("#0072b2", "none", Marker::Circle),
    ("#d55e00", "7 4", Marker::Square),
    ("#009e73", "2 3", Marker::Triangle),
    ("#555555", "9 3 2 3", Marker::Circle),
];

#[derive(Clone, Copy)]
enum Marker {
    Circle,
    Square,
    Triangle,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
/// The field of the curves: left, right, top, bottom.
const FIELD: (f64, f64, f64, f64) = (70.0, 540.0, 58.0, 310.0);

/// An axis with its bounds, and where it lies on the picture.
struct Ruler {
    scale: Scale,
    bounds: (f64, f64),
    pixels: (f64, f64),
}

impl Ruler {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
        let bounds = match scale {
            Scale::Linear => (0.0, if most > 0.0 { most * 1.05 } else { 1.0 }),
            Scale::Log => {
                let low = if least.is_finite() { least.max(1e-12).log10().floor() } else { 0.0 };
                (low, most.max(1e-12).log10().ceil().max(low + 1.0))
            }
        };
        Self { scale, bounds, pixels }
    }

    fn place(&self, value: f64) -> f64 {
        let value = if self.scale == Scale::Log { value.max(1e-12).log10() } else { value };
        let part = (value - self.bounds.0) / (self.bounds.1 - self.bounds.0);
        self.pixels.0 + part * (self.pixels.1 - self.pixels.0)
    }

    /// Powers of ten, or at most eight round numbers.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.bounds;
        if self.scale == Scale::Log {
            let step = (((high - low) / 7.0).ceil() as usize).max(1);
            return (low as i32..=high as i32).step_by(step).map(|power| 10_f64.powi(power)).collect();
        }
        let rough = high / 7.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * unit).find(|s| *s >= rough).unwrap_or(rough);
        (0..).map(|n| f64::from(n) * step).take_while(|tick| *tick <= high).collect()
    }
}

/// Short: with a unit of thousands where there is one.
fn label(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e4 => format!("{}k", v / 1e3),
        v if v != 0.0 && v < 1e-3 => format!("{:.0}µ", v * 1e6),
        v => format!("{}", (v * 1e6).round() / 1e6),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn marker(kind: Marker, x: f64, y: f64) -> String {
    match kind {
        Marker::Circle => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#),
        Marker::Square => format!(r#"<rect x="{:.1}" y="{:.1}" width="7" height="7"/>"#, x - 3.5, y - 3.5),
        Marker::Triangle => format!(r#"<path d="M{x:.1} {:.1}l4.5 8h-9z"/>"#, y - 5.0),
    }
}

/// The picture.
pub fn svg(chart: &Chart) -> String {
    let (left, right, top, bottom) = FIELD;
    let all = || chart.curves.iter().flat_map(|curve| &curve.points);
    let x = Ruler::new(chart.x.scale, all().map(|point| point.0), (left, right));
    let y = Ruler::new(chart.y.scale, all().map(|point| point.1), (bottom, top));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{0}</title>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{0}</text>\n",
        escaped(&chart.title)
    );
    out += &axes(chart, &x, &y);
    for (index, curve) in chart.curves.iter().enumerate() {
        let (colour, dash, kind) = STYLES[index % STYLES.len()];
        let points: Vec<_> = curve.points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
        let line: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let marks: String = points.iter().map(|(x, y)| marker(kind, *x, *y)).collect();
        let sample = left + 110.0 * index as f64;
        let stroke = format!("stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\" stroke-dasharray=\"{dash}\"");
        if line.len() > 1 {
            writeln!(out, "<polyline {stroke} points=\"{}\"/>", line.join(" ")).expect("a string");
        }
        writeln!(out, "<path {stroke} d=\"M{sample} 38h30\"/>").expect("a string");
        writeln!(out, "<g fill=\"{colour}\">{marks}{}</g>", marker(kind, sample + 15.0, 38.0)).expect("a string");
        writeln!(out, "<text x=\"{}\" y=\"42\">{}</text>", sample + 36.0, escaped(&curve.name)).expect("a string");
    }
    out + "</svg>\n"
}

/// Lines and numbers of the ticks, and what the axes mean.
fn axes(chart: &Chart, x: &Ruler, y: &Ruler) -> String {
    let (left, right, top, bottom) = FIELD;
    let (mut lines, mut out) = (String::new(), String::new());
    for tick in x.ticks() {
        let at = x.place(tick);
        write!(lines, "M{at:.1} {top}V{bottom}").expect("a string");
        writeln!(out, "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", bottom + 16.0, label(tick))
            .expect("a string");
    }
    for tick in y.ticks() {
        let at = y.place(tick);
        write!(lines, "M{left} {at:.1}H{right}").expect("a string");
        writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", left - 6.0, at + 4.0, label(tick))
            .expect("a string");
    }
    let (middle, centre) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    let (across, up) = (escaped(&chart.x.label), escaped(&chart.y.label));
    format!(
        "<path d=\"{lines}\" stroke=\"#ddd\" fill=\"none\"/>\n<path d=\"M{left} {top}V{bottom}H{right}\" stroke=\"#333\" fill=\"none\"/>\n\
         {out}<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{across}</text>\n\
         <text transform=\"translate(16 {centre})rotate(-90)\" text-anchor=\"middle\">{up}</text>\n",
        HEIGHT - 12.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let axis = |label: &str, scale| Axis { label: label.to_owned(), scale };
        let curves = vec![Curve { name: "a < b".to_owned(), points }];
        Chart { title: "growth".to_owned(), x: axis("threads", Scale::Linear), y: axis("s", Scale::Log), curves }
    }

    #[test]
    fn a_point_at_the_bounds_lies_in_the_corners_of_the_field() {
        let ruler = Ruler::new(Scale::Log, [1e-3, 10.0].into_iter(), (310.0, 58.0));
        assert_eq!((ruler.place(1e-3), ruler.place(10.0)), (310.0, 58.0));
        assert_eq!(ruler.ticks().into_iter().map(label).collect::<Vec<_>>(), ["0.001", "0.01", "0.1", "1", "10"]);
        let linear = Ruler::new(Scale::Linear, [0.0, 12.0].into_iter(), (0.0, 1.0));
        assert_eq!(linear.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    }

    #[test]
    fn a_picture_is_small_escaped_and_has_a_marker_for_each_point() {
        let text = svg(&chart((1..=14).map(|n| (f64::from(n), f64::from(n).exp2())).collect()));
        assert_eq!(text.matches("<circle").count(), 15, "one is in the legend");
        assert!(text.contains("a &lt; b") && text.len() < 5_000, "{} bytes", text.len());
    }

    #[test]
    fn a_curve_without_points_is_a_picture_too() {
        assert!(!svg(&chart(Vec::new())).contains("NaN"));
    }
}
