//! Dates as people write them, and periods of equal kind that they fall into.

/// A date as far as it is known; years from 1000 to 2999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    pub year: i64,
    /// 1 to 12.
    pub month: Option<i64>,
    /// 1 to 31, where the month is known.
    pub day: Option<i64>,
}

/// What time is divided into, the finest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
}

impl Date {
    /// Reads `2004`, `2004-03`, `2004-03-31`, with `/` or `.` as well, whatever follows (a time of day);
    /// `20040331`; and of anything else the one year of four digits that it names.
    pub fn read(text: &str) -> Option<Date> {
        Date::leading(text.trim()).or_else(|| Date::year_within(text))
    }

    fn leading(text: &str) -> Option<Date> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let year = digits(text);
        if year == 8 {
            let part = |from: usize, to: usize| text[from..to].parse::<i64>().ok();
            return Date { year: part(0, 4)?, month: part(4, 6), day: part(6, 8) }.checked();
        }
        if year != 4 {
            return None;
        }
        let mut date = Date { year: text[..4].parse().ok()?, month: None, day: None };
        let mut rest = &text[4..];
        for part in [&mut date.month, &mut date.day] {
            let Some(after) = rest.strip_prefix(['-', '/', '.']) else { break };
            let count = digits(after);
            if !(1..=2).contains(&count) {
                return None;
            }
            *part = after[..count].parse().ok();
            rest = &after[count..];
        }
        date.checked()
    }

    fn year_within(text: &str) -> Option<Date> {
        let numbers = text.split(|c: char| !c.is_ascii_digit());
        let mut years = numbers.filter(|n| n.len() == 4).filter_map(|n| n.parse::<i64>().ok());
        let date = Date { year: years.next()?, month: None, day: None };
        if years.next().is_none() { date.checked() } else { None }
    }

    fn checked(self) -> Option<Date> {
        let year = (1000..3000).contains(&self.year);
        let month = self.month.is_none_or(|m| (1..=12).contains(&m));
        let day = self.day.is_none_or(|d| (1..=31).contains(&d));
        (year && month && day).then_some(self)
    }
}

impl Unit {
    pub const ALL: [Unit; 6] =
        [Unit::Day, Unit::Month, Unit::Quarter, Unit::Year, Unit::Decade, Unit::Century];

    /// The number of the period that a date falls into, consecutive ones apart by 1; `None` when the date
    /// is not known well enough.
    pub fn period(self, date: Date) -> Option<i64> {
        Some(match self {
            Unit::Day => days(date.year, date.month?, date.day?),
            Unit::Month => 12 * date.year + date.month? - 1,
            Unit::Quarter => 4 * date.year + (date.month? - 1) / 3,
            Unit::Year => date.year,
            Unit::Decade => date.year.div_euclid(10),
            Unit::Century => date.year.div_euclid(100),
        })
    }

    /// The name of a period.
    pub fn name(self, period: i64) -> String {
        match self {
            Unit::Day => {
                let (year, month, day) = civil(period);
                format!("{year:04}-{month:02}-{day:02}")
            }
            Unit::Month => format!("{:04}-{:02}", period.div_euclid(12), period.rem_euclid(12) + 1),
            Unit::Quarter => format!("{:04} Q{}", period.div_euclid(4), period.rem_euclid(4) + 1),
            Unit::Year => period.to_string(),
            Unit::Decade => format!("{period}0s"),
            Unit::Century => format!("{period}00s"),
        }
    }

    pub fn noun(self) -> &'static str {
        match self {
            Unit::Day => "day",
            Unit::Month => "month",
            Unit::Quarter => "quarter",
            Unit::Year => "year",
            Unit::Decade => "decade",
            Unit::Century => "century",
        }
    }
}

/// Days since 1 March of the year 0, Gregorian: years begin in March, so that the leap day is the last, and
/// the first day of a month is `(153 m + 2) / 5` days after that.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 1
}

/// Year, month and day of a number of [`days`].
fn civil(number: i64) -> (i64, i64, i64) {
    // 400 years have 146,097 days; the guess is at most one year too large.
    let mut year = (400 * number).div_euclid(146_097);
    if days(year, 3, 1) > number {
        year -= 1;
    } else if days(year + 1, 3, 1) <= number {
        year += 1;
    }
    let within = number - days(year, 3, 1);
    let month = (5 * within + 2) / 153;
    let day = within - (153 * month + 2) / 5 + 1;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_far_as_they_go() {
        let date = |year, month, day| Some(Date { year, month, day });
        for (text, wanted) in [
            ("2004", date(2004, None, None)),
            (" 2004-03 ", date(2004, Some(3), None)),
            ("2004/3/9", date(2004, Some(3), Some(9))),
            ("2004-03-31T10:00:00Z", date(2004, Some(3), Some(31))),
            ("20040331", date(2004, Some(3), Some(31))),
            ("19-OCT-1987 20:19", date(1987, None, None)),
            ("31.12.1999", date(1999, None, None)),
            ("2004-13-01", date(2004, None, None)),
            ("1999 to 2001", date(1999, None, None)),
            ("between 1999 and 2001", None),
            ("0042 or 12345", None),
            ("soon", None),
            ("", None),
            ("２００４", None),
        ] {
            assert_eq!(Date::read(text), wanted, "{text}");
        }
    }

    #[test]
    fn days_are_consecutive_and_have_their_names() {
        let mut number = days(1599, 12, 31);
        for (year, leap) in [(1600, true), (1700, false), (1999, false), (2000, true), (2004, true)]
        {
            number = number.max(days(year - 1, 12, 31));
            let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (m, length) in (1..).zip(lengths) {
                for day in 1..=length {
                    number += 1;
                    assert_eq!(days(year, m, day), number);
                    assert_eq!(civil(number), (year, m, day));
                }
            }
        }
        assert_eq!(Unit::Day.name(days(2004, 2, 29)), "2004-02-29");
    }

    #[test]
    fn periods_have_names() {
        let date = Date { year: 1987, month: Some(10), day: Some(19) };
        let names: Vec<String> =
            Unit::ALL.iter().map(|unit| unit.name(unit.period(date).unwrap())).collect();
        assert_eq!(names, ["1987-10-19", "1987-10", "1987 Q4", "1987", "1980s", "1900s"]);
        assert_eq!(Unit::Day.period(Date { day: None, ..date }), None);
    }
}
