//! Axes: where values lie, and round numbers at ticks.

/// How values lie on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithms; values must be positive.
    Log,
}

/// One axis: what it shows, in which unit, from where to where.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name and unit.
    pub label: String,
    /// How values lie on it.
    pub scale: Scale,
    /// The least value shown.
    pub low: f64,
    /// The largest value shown.
    pub high: f64,
    /// Where ticks are, when the usual places do not fit.
    pub ticks: Option<Vec<f64>>,
    /// What stands at these ticks instead of their numbers; none for the numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// An even axis.
    pub fn linear(label: &str, low: f64, high: f64) -> Self {
        let (label, scale) = (label.to_owned(), Scale::Linear);
        Axis { label, scale, low, high, ticks: None, names: Vec::new() }
    }

    /// A logarithmic axis.
    pub fn log(label: &str, low: f64, high: f64) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label, low, high) }
    }

    /// The same with ticks at these places.
    pub fn ticks_at(mut self, ticks: &[f64]) -> Self {
        self.ticks = Some(ticks.to_vec());
        self
    }

    /// The same with ticks at these places and these names at them.
    pub fn named_ticks(mut self, ticks: &[(f64, String)]) -> Self {
        self.ticks = Some(ticks.iter().map(|tick| tick.0).collect());
        self.names = ticks.iter().map(|tick| tick.1.clone()).collect();
        self
    }

    /// Ticks with what stands at them.
    pub(super) fn tick_labels(&self) -> Vec<(f64, String)> {
        let named = |value: f64| {
            let place = self.ticks.iter().flatten().position(|tick| *tick == value)?;
            self.names.get(place).cloned()
        };
        let label = |value: f64| (value, named(value).unwrap_or_else(|| tick_label(value)));
        self.tick_values().into_iter().map(label).collect()
    }

    /// Where a value lies, from 0 (low) to 1 (high); values outside lie at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let f = |v: f64| match self.scale {
            Scale::Linear => v,
            Scale::Log => v.max(f64::MIN_POSITIVE).ln(),
        };
        let (low, high) = (f(self.low), f(self.high));
        if high > low { ((f(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    pub(super) fn tick_values(&self) -> Vec<f64> {
        let inside =
            |v: &f64| *v >= self.low - 1e-9 * self.span() && *v <= self.high * (1.0 + 1e-9);
        if let Some(ticks) = &self.ticks {
            return ticks.iter().copied().filter(inside).collect();
        }
        // Less than half a power of ten has too few of the places that logarithms like.
        let narrow = self.low > 0.0 && self.high / self.low < 3.0;
        let scale = if narrow { Scale::Linear } else { self.scale };
        match scale {
            Scale::Linear => {
                let step = nice(self.span() / 5.0);
                let first = (self.low / step).ceil() as i64;
                (first..).map(|k| k as f64 * step).take_while(inside).collect()
            }
            Scale::Log => {
                let decades = (self.high / self.low).log10();
                let parts: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let stride = (decades / 7.0).ceil().max(1.0) as usize;
                let (first, last) =
                    (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
                (first..=last)
                    .step_by(stride)
                    .flat_map(|e| parts.iter().map(move |p| p * 10f64.powi(e)))
                    .filter(inside)
                    .collect()
            }
        }
    }

    fn span(&self) -> f64 {
        (self.high - self.low).abs().max(f64::MIN_POSITIVE)
    }
}

/// 1, 2 or 5 times a power of ten, the least that is not below `value`.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|s| s * power >= value * 0.999);
    step.unwrap_or(10.0) * power
}

/// A number at a tick.
pub(super) fn tick_label(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        a if (1e-3..1e5).contains(&a) => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => {
            let text = format!("{value:.0e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let power: String = exponent.chars().map(superscript).collect();
            if digits == "1" { format!("10{power}") } else { format!("{digits}·10{power}") }
        }
    }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32(0x2070 + c as u32 - '0' as u32).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let labels = |axis: Axis| -> Vec<String> {
            axis.tick_labels().into_iter().map(|tick| tick.1).collect()
        };
        assert_eq!(labels(Axis::linear("", 0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Axis::log("", 1.0, 20.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(Axis::log("", 0.9, 1.5)), ["1", "1.2", "1.4"]);
        assert_eq!(labels(Axis::log("", 1e-6, 1e-3)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001"]);
        assert_eq!(labels(Axis::linear("", 0.0, 3.0).ticks_at(&[1.0, 3.0, 9.0])), ["1", "3"]);
        let named = [(-1.0, "a".to_owned()), (0.5, "b".to_owned()), (1.0, "c".to_owned())];
        assert_eq!(labels(Axis::linear("", 0.0, 1.0).named_ticks(&named)), ["b", "c"]);
    }

    #[test]
    fn values_outside_lie_at_the_ends() {
        let axis = Axis::log("", 1.0, 100.0);
        assert_eq!([0.0, 1.0, 10.0, 1e9].map(|v| axis.place(v)), [0.0, 0.0, 0.5, 1.0]);
    }
}
