//! Tables as people have them: what is detected, what can be said instead, and what is refused.

use crate::common::*;
use hottopixx_io::{
    Aside, Cache, CacheUse, Decimal, Delimiter, Error, Format, Header, LoadOptions, Loaded,
    Missing, Source, TableOptions, load,
};

fn options(set: impl FnOnce(&mut TableOptions)) -> LoadOptions {
    let mut table = TableOptions::default();
    set(&mut table);
    LoadOptions { format: Some(Format::Csv), table, ..Default::default() }
}

fn with(text: &str, set: impl FnOnce(&mut TableOptions)) -> Result<Loaded, Error> {
    parse_with(text.as_bytes(), &options(set))
}

fn auto(text: &str) -> Loaded {
    with(text, |_| {}).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refusal(text: &str, set: impl FnOnce(&mut TableOptions)) -> String {
    let message = with(text, set).expect_err(text).to_string();
    assert!(message.starts_with("file") && !message.contains('\n'), "{message}");
    message
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|n| n.to_string()).collect())
}

/// Column numbers and reasons.
fn aside(loaded: &Loaded) -> Vec<(usize, Aside)> {
    let layout = loaded.table.as_ref().unwrap();
    layout.set_aside.iter().map(|(column, why)| (column.number, *why)).collect()
}

#[test]
fn years_in_the_header_are_names() {
    let plain = dense(&[&[5.0, 6.0, 7.0], &[8.0, 9.0, 1.0]]);
    for text in [
        "name,2001,2002,2003\nAustria,5,6,7\nBelgium,8,9,1\n",
        "Land,2001,2002,2003\nAustria,5,6,7\nBelgium,8,9,1\n",
        ",2003,2002,2001\nAustria,5,6,7\nBelgium,8,9,1\n",
        "\"2001\" \"2002\" \"2003\"\n\"Austria\" 5 6 7\n\"Belgium\" 8 9 1\n",
    ] {
        let loaded = auto(text);
        assert_eq!(loaded.matrix, plain, "{text}");
        assert_eq!(loaded.row_names, names(&["Austria", "Belgium"]), "{text}");
        assert_eq!(loaded.col_names.unwrap().len(), 3, "{text}");
    }
    let bare = auto("2001,2002,2003\n5,6,7\n8,9,1\n");
    assert_eq!((bare.matrix, bare.row_names), (plain, None));
    // Years that are data: the rows below hold years as well.
    assert_eq!(auto("a,1999,2001\nb,1998,2000\n").matrix.rows(), 2);
    assert_eq!(auto("x,1,2\ny,3,4\n").matrix.rows(), 2);
    assert_eq!(auto("1,2,3\n4,5,6\n7,8,9\n").matrix.rows(), 3);
}

#[test]
fn numbers_that_count_up_are_names() {
    let loaded = auto("0,1,2,3\n5.1,3.5,1.4,0.2\n4.9,3.0,1.4,0.2\n");
    assert_eq!(loaded.col_names, names(&["0", "1", "2", "3"]));
    assert_eq!(loaded.matrix.rows(), 2);
    let loaded = auto("gene,1,2,3,4\nx,5,3,1,0\ny,4,3,1,2\n");
    assert_eq!((loaded.matrix.rows(), loaded.row_names), (2, names(&["x", "y"])));
    // A table that counts up as a whole.
    assert_eq!(auto("a,1,2,3,4\nb,5,6,7,8\n").matrix.rows(), 2);
    assert_eq!(auto("0,1,2,3,4\n5,6,7,8,9\n").matrix.rows(), 2);
}

#[test]
fn row_numbers_and_years_are_not_data() {
    let text = "id,price,YEAR,units\n17,1.5,1999,3\n23,2.5,2000,4\n99,3.5,2001,5\n";
    let loaded = auto(text);
    let want = dense(&[&[1.5, 3.0], &[2.5, 4.0], &[3.5, 5.0]]);
    assert_eq!(loaded.matrix, want);
    assert_eq!(loaded.row_names, names(&["17", "23", "99"]));
    assert_eq!(loaded.col_names, names(&["price", "units"]));
    assert_eq!(aside(&loaded), [(3, Aside::Time)]);
    // The first column of numbers that count up, without a telling name.
    let loaded = auto("x,a,b\n1,5,6\n2,7,8\n3,9,1\n");
    assert_eq!((loaded.matrix.cols(), loaded.row_names), (2, names(&["1", "2", "3"])));
    // Or that go on counting, without a header and from any number.
    let table = |rows: std::ops::Range<usize>| -> String {
        rows.map(|i| format!("{i},{},{}\n", i * i % 7, 3)).collect()
    };
    assert_eq!(auto(&table(17..25)).row_names.unwrap()[7], "24");
    assert_eq!(auto(&table(17..24)).matrix.cols(), 3);
    // Years name rows where nothing better does.
    let loaded = auto("gnp,YEAR\n5,1950\n6,1951\n7,1952\n");
    assert_eq!((loaded.matrix.cols(), loaded.row_names), (1, names(&["1950", "1951", "1952"])));
    // Words before numbers.
    let loaded = auto("userId,name,score\n1,Ann,5\n2,Bob,6\n3,Cid,7\n");
    assert_eq!(loaded.row_names, names(&["Ann", "Bob", "Cid"]));
    assert_eq!(aside(&loaded), [(1, Aside::Id)]);
    // A table whose columns are words, among them year and id: counts are data.
    let loaded = auto("year,id,time\n0,1,0\n2,1,1\n0,0,3\n");
    assert_eq!(loaded.matrix.cols(), 3);
    // Where there are no other numbers, they are data.
    assert_eq!(auto("count\n1\n2\n3\n4\n").matrix.rows(), 4);
    assert_eq!(auto("1\n2\n3\n4\n5\n6\n").matrix.cols(), 1);
    // A clock runs on, in whole numbers or not.
    let loaded = auto("time,v\n0.0,1\n0.1,2\n0.2,5\n0.4,1\n");
    assert_eq!((loaded.matrix.cols(), aside(&loaded)), (1, vec![]));
    assert_eq!(loaded.row_names.unwrap()[3], "0.4");
    // Quarters begin anew.
    let loaded = auto("year,quarter,x\n1959,1,5\n1959,2,6\n1959,3,7\n1959,4,8\n1960,1,9\n");
    assert_eq!(loaded.matrix, dense(&[&[5.0], &[6.0], &[7.0], &[8.0], &[9.0]]));
    // Whoever says that nothing names the rows means all numbers.
    let all = with(text, |t| t.index = "none".parse().unwrap()).unwrap();
    assert_eq!((all.matrix.cols(), all.row_names), (4, None));
    let chosen = with(text, |t| t.columns = Some("YEAR,units".parse().unwrap())).unwrap();
    assert_eq!(chosen.col_names, names(&["YEAR", "units"]));
    assert_eq!(chosen.matrix.row(0).sum(), 2002.0);
}

#[test]
fn text_beside_the_numbers_is_set_aside() {
    let loaded = auto("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,2.5,virginica\n");
    assert_eq!((loaded.matrix.cols(), loaded.row_names.clone()), (2, None));
    assert_eq!(aside(&loaded), [(3, Aside::Text)]);
    let loaded = auto("continent,country,n\nEurope,Austria,1\nEurope,Belgium,2\n");
    assert_eq!(loaded.row_names, names(&["Austria", "Belgium"]));
    assert_eq!(aside(&loaded), [(1, Aside::Text)]);
    // One mistyped cell is refused; its column does not vanish.
    let message = refusal("a,b\n1,2\n3,4\n5,x\n", |_| {});
    assert!(
        message.contains("line 4, column 2: \"x\" is not a number: correct it or"),
        "{message}"
    );
    assert!(message.ends_with("--drop b"), "{message}");
    let message = refusal("a,b\nx,y\nz,w\n", |_| {});
    assert!(message.contains("there is no column of numbers"), "{message}");
    assert!(message.ends_with("a table of texts is for hottopixx topics"), "{message}");
}

#[test]
fn semicolons_decimal_commas_and_thousands() {
    let want = dense(&[&[1.5, 2000.0], &[0.25, 3.0]]);
    for text in [
        "name;a;b\nx;1,5;2000\ny;0,25;3\n",
        "sep=;\r\nname;a;b\r\nx;1,5;2000\r\ny;0,25;3\r\n",
        "\u{feff}name;a;b\nx;\"1,5\";2000\ny;0,25;3\n",
        "name\ta\tb\nx\t1,5\t2000\ny\t0,25\t3\n",
        "name|a|b\nx|1,5|2000\ny|0,25|3\n",
        "name  a   b\nx   1,5 2000\ny   0,25   3\n",
        "name,a,b\nx,\"1,5\",2000\ny,\"0,25\",3\n",
    ] {
        let loaded = auto(text);
        assert_eq!(loaded.matrix, want, "{text}");
        assert_eq!(loaded.row_names, names(&["x", "y"]), "{text}");
        assert_eq!(loaded.table.unwrap().decimal, Decimal::Comma, "{text}");
    }
    assert_eq!(auto("x;1,5\ny;2,5\n").matrix, dense(&[&[1.5], &[2.5]]));
    assert_eq!(auto("1;2;3\n4;5;6\n").table.unwrap().delimiter, Delimiter::Byte(b';'));
    assert_eq!(auto("\"a;b\",1\n\"c;d\",2\n").table.unwrap().delimiter, Delimiter::Byte(b','));
    // A thousand, or one?
    let doubtful = "a;b\n1,234;5\n2,345;6\n";
    let message = refusal(doubtful, |_| {});
    assert!(
        message.contains("line 2: \"1,234\" may be one number or a thousand times"),
        "{message}"
    );
    let comma = with(doubtful, |t| t.decimal = Some(Decimal::Comma)).unwrap();
    assert_eq!(comma.matrix, dense(&[&[1.234, 5.0], &[2.345, 6.0]]));
    for text in ["a;b\n1.234,5;5\n2,5;6\n", "a;b\n1,234.5;5\n2.5;6\n", "a;b\n1 234;5\n2.5;6\n"] {
        let message = refusal(text, |_| {});
        assert!(message.contains("separators between thousands: write such"), "{message}");
    }
}

#[test]
fn layouts_of_other_programs() {
    // R's write.table, pandas, numpy.savetxt with a header, a spreadsheet with a title.
    for (text, rows, columns) in [
        ("\"a\" \"b\"\n\"x\" 1 2\n\"y\" 3 4\n", Some(["x", "y"]), Some(["a", "b"])),
        ("\"a\",\"b\"\n\"x\",1,2\n\"y\",3,4\n", Some(["x", "y"]), Some(["a", "b"])),
        (",a,b\nx,1,2\ny,3,4\n", Some(["x", "y"]), Some(["a", "b"])),
        ("# a b\n1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n", None, Some(["a", "b"])),
        ("a,b\n1,2,\n3,4,\n", None, Some(["a", "b"])),
        ("'a'\t'b'\n1\t2\n3\t4\n", None, Some(["a", "b"])),
        ("#a,b\n1,2\n3,4\n", None, Some(["a", "b"])),
        ("# made today\n# by a program\na,b\n1,2\n# a remark\n3,4\n", None, Some(["a", "b"])),
        ("Sales 2020;;\n;;\nname;a;b\nx;1;2\ny;3;4\n;;\n", Some(["x", "y"]), Some(["a", "b"])),
        ("Sales\n\nname;a;b\nx;1;2\ny;3;4\n", Some(["x", "y"]), Some(["a", "b"])),
        ("name,a,b,\nx,1,2,\ny,3,4,\n", Some(["x", "y"]), Some(["a", "b"])),
        ("\"#x\",1,2\ny,3,4\n", Some(["#x", "y"]), None),
    ] {
        let loaded = auto(text);
        assert_eq!(loaded.matrix, dense(&[&[1.0, 2.0], &[3.0, 4.0]]), "{text}");
        let owned = |n: Option<[&str; 2]>| n.map(|n| n.map(str::to_owned).to_vec());
        assert_eq!((loaded.row_names, loaded.col_names), (owned(rows), owned(columns)), "{text}");
    }
    // scikit-learn's files begin with sizes and the names of classes.
    let loaded = auto("3,2,setosa,virginica\n5.1,3.5,0\n4.9,3.0,1\n6.3,2.5,1\n");
    assert_eq!((loaded.matrix.rows(), loaded.matrix.cols()), (3, 2));
    assert_eq!(aside(&loaded), [(3, Aside::Classes)]);
    // Offices for statistics: titles, codes, years, holes, a comma at the end.
    let office = "\"Source\",\"Bank\",\n\n\"Country\",\"Code\",\"1960\",\"1961\",\n\
                  \"Aruba\",\"ABW\",\"\",\"5\",\n\"Chad\",\"TCD\",\"7\",\"8\",\n";
    let loaded = with(office, |t| t.missing = Missing::Zero).unwrap();
    assert_eq!(loaded.matrix, dense(&[&[0.0, 5.0], &[7.0, 8.0]]));
    assert_eq!(loaded.col_names, names(&["1960", "1961"]));
    assert_eq!(aside(&loaded), [(2, Aside::Text), (5, Aside::Empty)]);
}

#[test]
fn missing_values_are_refused_or_treated_as_asked() {
    let text = "name,a,b,c\nx,1,NA,3\ny,4,5,6\nz,7,8,?\n";
    let message = refusal(text, |_| {});
    let want = "line 2, column 3: \"NA\" is a missing value: fill it, say --missing observed, zero, drop-rows";
    assert!(message.contains(want), "{message}");
    let read = |missing| with(text, |t| t.missing = missing).unwrap();
    let zero = read(Missing::Zero);
    assert_eq!(zero.matrix, dense(&[&[1.0, 0.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 0.0]]));
    assert_eq!(zero.table.unwrap().missing, Some((2, Missing::Zero)));
    let observed = read(Missing::Observed);
    let gaps: Vec<usize> = match &observed.matrix {
        hottopixx::Matrix::Dense(m) => (0..9).filter(|&at| m.values()[at].is_nan()).collect(),
        hottopixx::Matrix::Sparse(_) => panic!("tables are dense"),
    };
    assert_eq!(gaps, [1, 8]);
    let said = observed.table.unwrap().omissions().join(" ");
    assert!(said.contains("2 missing values taken as not observed"), "{said}");
    let rows = read(Missing::DropRows);
    assert_eq!((rows.matrix, rows.row_names), (dense(&[&[4.0, 5.0, 6.0]]), names(&["y"])));
    assert_eq!(rows.table.unwrap().dropped_rows, 2);
    let columns = read(Missing::DropColumns);
    assert_eq!(columns.matrix, dense(&[&[1.0], &[4.0], &[7.0]]));
    assert_eq!(columns.col_names, names(&["a"]));
    assert_eq!(columns.table.unwrap().dropped_columns.len(), 2);
    for word in ["", "na", "NaN", "n/a", "NULL", "?", "-", "..", "#N/A"] {
        let text = format!("a,b\n1,2\n3,{word}\n5,6\n");
        let loaded = with(&text, |t| t.missing = Missing::DropRows).unwrap();
        assert_eq!(loaded.matrix, dense(&[&[1.0, 2.0], &[5.0, 6.0]]), "{word}");
    }
    let message = refusal("a,b\n1,\n,2\n", |t| t.missing = Missing::DropRows);
    assert!(message.contains("every row has a missing value: say --missing zero"), "{message}");
    let message = refusal("a,b\n1,\n,2\n", |t| t.missing = Missing::DropColumns);
    assert!(message.contains("every column has a missing value"), "{message}");
    // Negative and infinite ones are no missing values.
    for missing in [Missing::Zero, Missing::Observed] {
        let message = refusal("a,b\n1,-2\n3,\n", |t| t.missing = missing);
        assert!(message.contains("line 2, column 2: -2 is negative"), "{message}");
    }
}

#[test]
fn what_is_said_holds() {
    let text = "name,a,b\nx,1,2\ny,3,4\n";
    let message = refusal(text, |t| t.header = Header::No);
    assert!(message.contains("line 1, column 2: \"a\" is not a number"), "{message}");
    let numbers = "7,9\n1,2\n3,4\n";
    let loaded = with(numbers, |t| t.header = Header::Yes).unwrap();
    assert_eq!((loaded.matrix.rows(), loaded.col_names), (2, names(&["7", "9"])));
    let loaded = with(numbers, |t| t.index = "2".parse().unwrap()).unwrap();
    assert_eq!(loaded.matrix, dense(&[&[7.0], &[1.0], &[3.0]]));
    assert_eq!(loaded.row_names, names(&["9", "2", "4"]));
    let loaded = with(text, |t| t.drop = Some("b".parse().unwrap())).unwrap();
    assert_eq!(loaded.matrix, dense(&[&[1.0], &[3.0]]));
    let loaded = with(text, |t| t.columns = Some("b,a".parse().unwrap())).unwrap();
    assert_eq!(loaded.matrix, dense(&[&[2.0, 1.0], &[4.0, 3.0]]));
    assert_eq!(loaded.row_names, names(&["x", "y"]));
    for (set, want) in [
        ("price", "there is no column \"price\": give numbers from 1 to 3 or names: \"name\""),
        ("4", "there is no column \"4\""),
        ("name", "line 2, column 1: \"x\" is not a number"),
    ] {
        let message = refusal(text, |t| t.columns = Some(set.parse().unwrap()));
        assert!(message.contains(want), "{message}");
    }
    let message = refusal(text, |t| t.drop = Some("a,b".parse().unwrap()));
    assert!(message.contains("no column is left"), "{message}");
    let message = refusal(text, |t| t.delimiter = Some(Delimiter::Byte(b';')));
    assert!(message.contains("there is no column of numbers in it: name what"), "{message}");
}

#[test]
fn names_may_be_in_latin_1() {
    let loaded = parse(b"place;H\xf6he\nK\xf6ln;1,5\nZ\xfcrich;2\n", Format::Csv).unwrap();
    assert_eq!(
        (loaded.row_names, loaded.col_names),
        (names(&["Köln", "Zürich"]), names(&["Höhe"]))
    );
    // Thousands apart by a blank of its own, which is one byte there.
    let message = parse(b"a,b\nx,1\xa0234\n", Format::Csv).unwrap_err().to_string();
    assert!(message.contains("separators between thousands"), "{message}");
}

#[test]
fn other_encodings_are_refused() {
    let text = "name,a\nx,1\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [[&b"\xff\xfe"[..], &little].concat(), [&b"\xfe\xff"[..], &big].concat(), little] {
        let message = parse(&bytes, Format::Csv).unwrap_err().to_string();
        assert!(message.contains("UTF-16, or not text: save it as text in UTF-8"), "{message}");
    }
}

/// A vocabulary in alphabetical order begins with numbers: more of them than the first lines hold.
#[test]
fn names_that_come_late() {
    let mut text = String::from("count,d1,d2\n");
    (0..40_000).for_each(|k| text += &format!("{},1,2\n", 7 * k % 50_000));
    (0..50_000).for_each(|k| text += &format!("word{k},3,4\n"));
    let options = LoadOptions { format: Some(Format::Csv), ..Default::default() };
    let loaded = hottopixx_io::read(text.as_bytes(), "file", &options).unwrap();
    assert_eq!((loaded.matrix.rows(), loaded.matrix.cols()), (90_000, 2));
    assert_eq!(loaded.row_names.unwrap()[89_999], "word49999");
    assert_eq!(loaded.table.unwrap().index.unwrap().number, 1);
    // A single word that late is a slip.
    let mut text = String::from("count,d1,d2\n");
    (0..60_000).for_each(|k| text += &format!("{},1,2\n", 7 * k % 50_000));
    text += "x,1,2\n";
    let message = hottopixx_io::read(text.as_bytes(), "file", &options).unwrap_err().to_string();
    assert!(message.contains("line 60002, column 1: \"x\" is not a number"), "{message}");
}

#[test]
fn a_cache_belongs_to_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "id,a,b\n4,1,2\n5,3,4\n").unwrap();
    let source = Source::path(&path);
    let cache = Cache::Folder(folder.path().join("cache"));
    let read = |set: &dyn Fn(&mut TableOptions)| {
        load(&source, &LoadOptions { cache: cache.clone(), ..options(set) }).unwrap()
    };
    let first = read(&|_| {});
    assert!(matches!(first.cache, CacheUse::Written(_)));
    let again = read(&|_| {});
    assert!(matches!(again.cache, CacheUse::Read(_)));
    assert_eq!((&again.matrix, &again.table), (&first.matrix, &first.table));
    let other = read(&|t| t.index = "none".parse().unwrap());
    assert!(matches!(other.cache, CacheUse::Written(_)));
    assert_eq!((first.matrix.cols(), other.matrix.cols()), (2, 3));
    let all = read(&|t| t.index = "none".parse().unwrap());
    assert!(matches!(all.cache, CacheUse::Read(_)) && all.matrix == other.matrix);
}

#[test]
fn layouts_in_a_sentence() {
    let loaded = auto(
        "name;YEAR;a;b\nx;1999;1,5;\ny;2000;2,5;4\nz;2001;3,5;5\n".replace(";\n", ";0\n").as_str(),
    );
    let layout = loaded.table.unwrap();
    assert_eq!(
        layout.sentence(),
        "read as: header yes, names from column \"name\", 2 columns of numbers, delimiter ';', \
         decimal comma"
    );
    let want = "set aside: \"YEAR\" (time); --columns takes other columns as data";
    assert_eq!(layout.omissions(), [want]);
    assert!(auto("1,2\n3,4\n").table.unwrap().is_plain());
}
