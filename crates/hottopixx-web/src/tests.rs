use super::*;

fn wish(kind: Kind, rank: usize) -> Wish {
    Wish { kind, rank, max_seconds: 0.0, control: Control::default() }
}

/// Rows 0 and 2 are extreme, the others mixtures of them.
const TABLE: &str = "name,a,b,c,d\nred,4,0,0,1\npink,2,0,1,1\nblue,0,0,4,2\nviolet,1,0,2,1.25\n";

#[test]
fn tables_are_told_by_rows_or_by_columns() {
    let page = |kind, rank| report("colours.csv", TABLE.into(), &wish(kind, rank)).unwrap();
    let rows = page(Kind::Any, 2);
    assert!(rows.contains("<h1>2 hott topics of colours.csv</h1>") && rows.contains(">blue<"));
    assert!(rows.contains("hottopixx factor colours.csv --rank 2 --out answer"));
    assert!(rows.contains("on 1 thread"));
    let columns = page(Kind::Columns, 2);
    assert!(columns.contains("--rank 2 --transpose") && !columns.contains(">blue<"), "{columns}");
}

#[test]
fn text_gives_topics() {
    let [sea, field] = ["ship harbour sail wind wave", "plough wheat barn horse soil"];
    let mut text = String::new();
    for k in 0..60 {
        let words: Vec<&str> = [sea, field][k % 2].split(' ').collect();
        text += &format!("{} {} {}\n", words[k % 5], words[(k / 5) % 5], words[(k / 2 + 1) % 5]);
    }
    for name in ["old tales.txt", "old tales"] {
        let page = report(name, text.clone().into(), &wish(Kind::Topics, 2)).unwrap();
        assert!(
            page.contains("hottopixx topics &#39;old tales") && page.contains("wheat"),
            "{page}"
        );
    }
    let found = report("tales.txt", text.into(), &wish(Kind::Any, 2)).unwrap();
    assert!(found.contains("hottopixx topics tales.txt --rank 2"));
}

#[test]
fn a_cube_gives_materials_and_a_square_array_rows() {
    let npy = |shape: &str, values: &[f64]| {
        let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        while !(header.len() + 11).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    };
    let pixel = |k: usize| {
        let share = (k % 8) as f64 / 7.0;
        [4.0_f64, 1.0, 2.0]
            .iter()
            .zip([1.0, 3.0, 1.0])
            .map(|(a, b)| share * a + (1.0 - share) * b)
            .collect()
    };
    let values: Vec<f64> = (0..64).flat_map(|k| -> Vec<f64> { pixel(k) }).collect();
    let scene = report("scene.npy", npy("(8, 8, 3)", &values), &wish(Kind::Any, 2)).unwrap();
    assert!(scene.contains("hottopixx unmix scene.npy --rank 2"));
    let rows = report("flat.npy", npy("(64, 3)", &values), &wish(Kind::Any, 2)).unwrap();
    assert!(rows.contains("hottopixx factor flat.npy --rank 2"));
}

#[test]
fn what_is_wrong_is_one_sentence_with_the_name_of_the_file() {
    let wrong = |name: &str, text: &str, kind, rank| {
        let sentence = report(name, text.into(), &wish(kind, rank)).unwrap_err();
        assert!(sentence.starts_with(name) && !sentence.contains('\n'), "{sentence}");
    };
    for kind in Kind::ALL {
        wrong("empty.csv", "", kind, 3);
        wrong("nothing.npy", "no numbers", kind, 3);
    }
    wrong("below.csv", "a,b\n1,2\n3,-4\n", Kind::Rows, 1);
    wrong("few.csv", "a,b\n1,2\n3,4\n", Kind::Rows, 9);
    wrong("dots.txt", "... ...\n", Kind::Topics, 2);
    let wish = wish(Kind::Rows, 1);
    let source = Source::memory("large.csv", vec![1u8]);
    let job = Job { source, name: "large.csv", begun: Instant::now(), wish: &wish };
    assert!(job.affordable(MEMORY).is_ok());
    assert!(job.affordable(5 << 30).unwrap_err().contains("5.0 GiB"));
}

#[test]
fn a_limit_of_time_is_kept() {
    let late = Wish { max_seconds: 1e-9, ..wish(Kind::Rows, 2) };
    let page = report("colours.csv", TABLE.into(), &late).unwrap();
    assert!(page.contains("time limit"), "{page}");
}
