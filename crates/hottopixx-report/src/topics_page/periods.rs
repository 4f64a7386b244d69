//! Topics over time: the mean share of each topic in the documents of each period.

use super::dates::{Date, Unit};
use crate::page::escape;
use crate::plot::{Axis, Chart, ChartTarget, LOOKS, Series};
use crate::table::{Align, Table, cut};
use crate::text::{count, percent};
use crate::topics::TopicsSummary;
use hottopixx::matrix::Dense;
use std::fmt::Write as _;

/// Periods at most, and the documents that one should have on average.
const MOST: i64 = 60;
const DOCUMENTS: usize = 5;
/// Names at the axis of time.
const TICKS: usize = 6;
/// Characters of a name in the legend.
const LETTERS: usize = 16;

/// Mean shares in consecutive periods.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Periods {
    unit: Unit,
    /// The first period; those after it follow without a gap.
    first: i64,
    /// Documents of each period.
    documents: Vec<usize>,
    /// Periods x topics; rows of periods without documents are zero.
    shares: Dense,
    /// Documents whose date could not be read.
    undated: usize,
}

impl Periods {
    /// Divides the time of all documents that have a date. Nothing when that is one period or no date can be
    /// read. The unit is the finest for which there are not too many periods and some documents in each, on
    /// average; else the finest with not too many periods.
    pub fn new(dates: &[String], shares: &Dense) -> Option<Periods> {
        let dates: Vec<Option<Date>> =
            dates.iter().map(|text| Date::read(text)).take(shares.rows()).collect();
        let known: Vec<Date> = dates.iter().copied().flatten().collect();
        let range = |unit: Unit| -> Option<(i64, i64)> {
            let periods: Option<Vec<i64>> = known.iter().map(|&date| unit.period(date)).collect();
            let periods = periods?;
            Some((*periods.iter().min()?, *periods.iter().max()?))
        };
        let length = |(first, last): (i64, i64)| last - first + 1;
        let fits = |unit: &Unit| range(*unit).is_some_and(|r| (2..=MOST).contains(&length(r)));
        let full = |unit: &Unit| {
            range(*unit).is_some_and(|r| length(r) as usize * DOCUMENTS <= known.len())
        };
        let units = Unit::ALL.into_iter().filter(fits);
        let unit = units.clone().find(full).or_else(|| units.clone().next())?;
        let (first, last) = range(unit)?;
        let periods = (last - first + 1) as usize;
        let (mut documents, mut means) = (vec![0; periods], Dense::zeros(periods, shares.cols()));
        for (d, date) in dates.iter().enumerate() {
            let Some(period) = date.and_then(|date| unit.period(date)) else { continue };
            let at = (period - first) as usize;
            documents[at] += 1;
            means.row_mut(at).iter_mut().zip(shares.row(d)).for_each(|(m, s)| *m += s);
        }
        for (at, &n) in documents.iter().enumerate().filter(|(_, n)| **n > 0) {
            means.row_mut(at).iter_mut().for_each(|m| *m /= n as f64);
        }
        let undated = shares.rows() - known.len();
        Some(Periods { unit, first, documents, shares: means, undated })
    }

    fn name(&self, at: usize) -> String {
        self.unit.name(self.first + at as i64)
    }

    /// A topic's share in each period that has documents.
    fn course(&self, topic: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let full = (0..self.documents.len()).filter(|&at| self.documents[at] > 0);
        full.map(move |at| (at, self.shares.row(at)[topic]))
    }

    /// The part of the page: a chart of the most frequent topics, and all numbers.
    pub fn chart(&self, out: &mut String, s: &TopicsSummary) {
        let shown = s.topics.len().min(LOOKS.len());
        let which = if shown < s.topics.len() {
            format!("the {shown} most frequent topics; the cards and the table have all")
        } else {
            "all topics".to_owned()
        };
        let undated = match self.undated {
            0 => String::new(),
            n => format!(" {} could not be dated and are left out.", count(n, "document")),
        };
        let _ = write!(
            out,
            "<h2>Topics over time</h2>\n<figure>\n{}<figcaption>The mean share of a topic in the documents of \
             each {}: {which}.{undated}</figcaption>\n</figure>\n",
            self.curves(s, shown).svg(ChartTarget::Page),
            self.unit.noun()
        );
        let _ = write!(
            out,
            "<details>\n<summary>The numbers</summary>\n<div class=\"wide\">\n<table class=\"plain\">\n\
             <caption>Mean shares in per cent</caption>\n{}</table>\n</div>\n</details>\n",
            self.table(s).html()
        );
    }

    fn curves(&self, s: &TopicsSummary, shown: usize) -> Chart {
        let step = self.documents.len().div_ceil(TICKS).max(1);
        let ticks: Vec<(f64, String)> =
            (0..self.documents.len()).step_by(step).map(|at| (at as f64, self.name(at))).collect();
        let curve = |k: usize| {
            let label = format!("{} {}", k + 1, cut(&s.topics[k].name, LETTERS));
            let value = |at: usize| match self.documents[at] {
                0 => f64::NAN,
                _ => 100.0 * self.shares.row(at)[k],
            };
            let points = (0..self.documents.len()).map(|at| (at as f64, value(at))).collect();
            Series::new(&label, k, points)
        };
        let series: Vec<Series> = (0..shown).map(curve).collect();
        let values = series.iter().flat_map(|series| series.points.iter().map(|p| p.1));
        let top = values.filter(|v| v.is_finite()).fold(1e-9, f64::max);
        Chart {
            title: "Topics over time".to_owned(),
            x: Axis::linear(self.unit.noun(), 0.0, (self.documents.len() - 1) as f64)
                .named_ticks(&ticks),
            y: Axis::linear("mean share in %", 0.0, 1.05 * top),
            series,
            levels: vec![],
        }
    }

    fn table(&self, s: &TopicsSummary) -> Table {
        let mut columns = vec![
            (self.unit.noun().to_owned(), Align::Left),
            ("documents".to_owned(), Align::Right),
        ];
        columns.extend(
            s.topics.iter().enumerate().map(|(k, topic)| {
                (format!("{} {}", k + 1, cut(&topic.name, LETTERS)), Align::Right)
            }),
        );
        let columns: Vec<(&str, Align)> =
            columns.iter().map(|(name, align)| (name.as_str(), *align)).collect();
        let mut table = Table::new(&columns);
        for (at, &n) in self.documents.iter().enumerate() {
            let mut cells = vec![self.name(at), n.to_string()];
            if n > 0 {
                cells.extend(self.shares.row(at).iter().map(|&share| percent(share)));
            }
            table.row(cells);
        }
        table
    }

    /// A topic's course as a small curve from 0 to its highest share.
    pub fn spark(&self, out: &mut String, topic: usize) {
        let Some((peak, top)) =
            self.course(topic).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        else {
            return;
        };
        let across = 200.0 / (self.documents.len() - 1) as f64;
        let point = |(at, share): (usize, f64)| {
            format!(
                "{:.1},{:.1}",
                across * at as f64,
                38.0 - 34.0 * share / top.max(f64::MIN_POSITIVE)
            )
        };
        let points: Vec<String> = self.course(topic).map(point).collect();
        let said = escape(&format!("highest in {}: {}\u{a0}%", self.name(peak), percent(top)));
        let _ = writeln!(
            out,
            "<svg class=\"spark\" viewBox=\"0 0 200 40\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"Share over time, {said}\"><polyline points=\"{}\"/></svg>\n\
             <p class=\"small\">{} to {}; {said}.</p>",
            points.join(" "),
            escape(&self.name(0)),
            escape(&self.name(self.documents.len() - 1))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(dates: &[&str]) -> Vec<String> {
        dates.iter().map(|date| (*date).to_owned()).collect()
    }

    #[test]
    fn shares_are_means_of_periods() {
        let dates = strings(&["2001", "2003-05", "2001-12-31", "never"]);
        let shares = Dense::from_rows(&[[1.0, 0.0], [0.2, 0.8], [0.5, 0.5], [0.0, 1.0]]).unwrap();
        let periods = Periods::new(&dates, &shares).unwrap();
        assert_eq!((periods.unit, periods.first, periods.undated), (Unit::Year, 2001, 1));
        assert_eq!(periods.documents, [2, 0, 1]);
        assert_eq!(periods.shares.row(0), [0.75, 0.25]);
        assert_eq!(periods.shares.row(2), [0.2, 0.8]);
        assert_eq!(periods.course(1).collect::<Vec<_>>(), [(0, 0.25), (2, 0.8)]);
        let mut spark = String::new();
        periods.spark(&mut spark, 1);
        assert!(
            spark.contains("highest in 2003: 80.0\u{a0}%") && !spark.contains("NaN"),
            "{spark}"
        );
    }

    #[test]
    fn the_unit_has_documents_enough() {
        let shares = |n: usize| Dense::zeros(n, 1);
        let unit = |dates: &[String]| Periods::new(dates, &shares(dates.len())).map(|p| p.unit);
        let days = |many: usize| -> Vec<String> {
            (0..20 * many).map(|d| format!("2004-{:02}-{:02}", 1 + d % 2, 1 + d % 20)).collect()
        };
        assert_eq!(unit(&days(30)), Some(Unit::Day));
        assert_eq!(unit(&days(1)), Some(Unit::Month));
        let years: Vec<String> = (1500..2000).map(|y| y.to_string()).collect();
        assert_eq!(unit(&years), Some(Unit::Decade));
        assert_eq!(unit(&strings(&["2004", "2004-01-01"])), None);
        assert_eq!(unit(&strings(&["soon", "later"])), None);
        assert_eq!(unit(&[]), None);
    }
}
