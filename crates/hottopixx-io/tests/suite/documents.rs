//! Documents of every kind, and what is wrong with some.

use hottopixx_io::{
    ColumnList, Delimiter, DocumentColumns, DocumentFormat, DocumentNames, Error, Header, Missing,
    Source, has_text, read_documents,
};
use std::io::Write as _;
use std::path::Path;

fn read(
    path: &Path,
    format: DocumentFormat,
    columns: &DocumentColumns,
) -> Result<(Vec<String>, DocumentNames), Error> {
    let mut texts = Vec::new();
    let mut take = |block: &[String]| {
        texts.extend_from_slice(block);
        Ok(())
    };
    let names = read_documents(&Source::path(path), format, columns, &mut take)?;
    Ok((texts, names))
}

fn columns(text: Option<&str>, title: Option<&str>, date: Option<&str>) -> DocumentColumns {
    let owned = |name: Option<&str>| name.map(str::to_owned);
    DocumentColumns {
        text: text.map(ColumnList::one),
        title: owned(title),
        date: owned(date),
        ..DocumentColumns::default()
    }
}

#[test]
fn lines_compressed_or_not_in_any_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::fs::write(&path, b"\xef\xbb\xbffirst one\r\n\n  \ncaf\xe9 noir").unwrap();
    let (texts, names) = read(&path, DocumentFormat::Lines, &DocumentColumns::default()).unwrap();
    assert_eq!(texts, ["first one", "café noir"]);
    assert_eq!(names.titles, texts);
    assert!(names.notes[0].contains("1 documents are not UTF-8"), "{:?}", names.notes);
    let packed = folder.path().join("a.txt.gz");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let long = format!("{} {}", "x".repeat(70), "word ".repeat(50));
    gz.write_all(format!("one\n{long}\n").as_bytes()).unwrap();
    std::fs::write(&packed, gz.finish().unwrap()).unwrap();
    let (texts, names) = read(&packed, DocumentFormat::Lines, &DocumentColumns::default()).unwrap();
    assert_eq!(texts, ["one", long.as_str()]);
    assert!(names.titles[1].ends_with('…') && names.titles[1].chars().count() <= 61);
}

#[test]
fn tables_with_and_without_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    let csv = |c: &DocumentColumns| read(&path, DocumentFormat::Csv, c);
    write(
        "\u{feff}id,text,year\n1,\"a few, words\nof text here\",2001\n2,and some more of it,2002\n",
    );
    let (texts, names) = csv(&columns(None, Some("id"), Some("year"))).unwrap();
    assert_eq!(texts, ["a few, words\nof text here", "and some more of it"]);
    assert_eq!(
        (names.titles, names.dates.unwrap()),
        (vec!["1".into(), "2".into()], vec!["2001".to_owned(), "2002".into()])
    );
    assert!(names.notes[0].contains("\"text\""));
    assert_eq!(csv(&columns(Some("2"), None, None)).unwrap().0, texts);
    write("1,this is a text,x\n2,another text it is,y\n");
    assert_eq!(csv(&columns(Some("2"), None, None)).unwrap().0.len(), 2);
    assert_eq!(csv(&DocumentColumns::default()).unwrap().0[0], "this is a text");
    let error = csv(&columns(Some("text"), None, None)).unwrap_err().to_string();
    assert!(
        error.contains("t.csv") && error.contains("no column \"text\"") && error.contains("1 to 3"),
        "{error}"
    );
    write("id,text\n1,some words of text\n2\n");
    let error = csv(&columns(Some("text"), None, None)).unwrap_err().to_string();
    assert!(error.contains("line 3"), "{error}");
    let is_text = |c: &DocumentColumns| has_text(&Source::path(&path), DocumentFormat::Csv, c);
    assert!(is_text(&DocumentColumns::default()).unwrap());
    write("name,a,b\nx,1,2\ny,3,4\n");
    assert!(!is_text(&DocumentColumns::default()).unwrap());
    // Counts beside a column of text are counts when the columns are named.
    write("title,a,b\nsome words of text,1,2\nmore words of text,3,4\n");
    assert!(is_text(&DocumentColumns::default()).unwrap());
    let named =
        |list: &str| DocumentColumns { text: list.parse().ok(), ..DocumentColumns::default() };
    assert!(!is_text(&named("a,b")).unwrap() && is_text(&named("title,b")).unwrap());
    // Spreadsheets write semicolons where decimals have commas; text has commas of its own.
    write("id;text\n1;one, two, three words\n2;four, five and six\n");
    let (found, _) = csv(&columns(Some("text"), None, None)).unwrap();
    assert_eq!(found, ["one, two, three words", "four, five and six"]);
    // Lines that end in a return alone, and what Windows calls Unicode.
    write("id,text\r1,one two three four\r\r2\r");
    let error = csv(&columns(Some("text"), None, None)).unwrap_err().to_string();
    assert!(error.contains("line 4"), "{error}");
    let wide: Vec<u8> =
        "id,text\n1,some words of text\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(&path, wide).unwrap();
    let error = csv(&columns(Some("text"), None, None)).unwrap_err().to_string();
    assert!(error.contains("UTF-16"), "{error}");
}

#[test]
fn what_is_said_about_a_table_is_kept_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    let csv = |c: &DocumentColumns| read(&path, DocumentFormat::Csv, c);
    let list = |list: &str| DocumentColumns { text: list.parse().ok(), ..Default::default() };
    write("title|abstract|n\nOn oil|it is, as ever, oil|1\nOn law|NA|2\nNA||3\n");
    let (texts, names) = csv(&list("title-abstract")).unwrap();
    assert_eq!(texts, ["On oil\nit is, as ever, oil", "On law", ""]);
    assert_eq!(
        names.notes,
        ["1 document is missing (empty, NA or the like) and was kept as empty."]
    );
    let drop = DocumentColumns { missing: Some(Missing::DropRows), ..list("Abstract") };
    let (texts, names) = csv(&drop).unwrap();
    assert_eq!(texts, ["it is, as ever, oil"]);
    assert!(names.notes[0].starts_with("2 documents are missing"), "{:?}", names.notes);
    assert!(names.notes[0].ends_with("were left out."));
    let refuse = DocumentColumns { missing: Some(Missing::Refuse), ..list("2") };
    let error = csv(&refuse).unwrap_err().to_string();
    assert!(error.contains("line 3: the document is missing"), "{error}");

    let no = DocumentColumns { header: Header::No, ..list("1") };
    assert_eq!(csv(&no).unwrap().0[..2], ["title", "On oil"]);
    let error = csv(&DocumentColumns { header: Header::No, ..list("title") }).unwrap_err();
    assert!(error.to_string().contains("give numbers from 1 to 3"), "{error}");
    let comma = DocumentColumns { delimiter: Some(Delimiter::Byte(b',')), ..list("1") };
    assert_eq!(csv(&comma).unwrap().0[0], "title|abstract|n");
    // A first line that looks like text is a header if that is said.
    write("a b c d e,x\none two three four,y\n");
    assert_eq!(csv(&list("1")).unwrap().0.len(), 2);
    let yes = DocumentColumns { header: Header::Yes, ..list("a b c d e") };
    assert_eq!(csv(&yes).unwrap().0, ["one two three four"]);
    // What Excel writes above a table.
    write("sep=;\nid;text\n1;one, two, three words\n2;four, five, six words\n");
    let (texts, names) = csv(&DocumentColumns::default()).unwrap();
    assert_eq!(texts, ["one, two, three words", "four, five, six words"]);
    assert!(names.notes[0].contains("\"text\" (cells are apart by \";\")"), "{:?}", names.notes);
}

#[test]
fn json_lines_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(
        &path,
        "{\"id\": 1, \"text\": \"one \\u00e9\", \"t\": null}\n\n{\"text\": null}\n",
    )
    .unwrap();
    let (texts, names) =
        read(&path, DocumentFormat::JsonLines, &columns(None, Some("id"), None)).unwrap();
    assert_eq!(
        (texts, names.titles),
        (vec!["one é".into(), String::new()], vec!["1".to_owned(), String::new()])
    );
    assert!(names.notes[1].starts_with("1 document is missing"), "{:?}", names.notes);
    let several = DocumentColumns {
        text: "t,text".parse().ok(),
        missing: Some(Missing::DropRows),
        ..DocumentColumns::default()
    };
    assert_eq!(read(&path, DocumentFormat::JsonLines, &several).unwrap().0, ["one é"]);
    let error = read(&path, DocumentFormat::JsonLines, &columns(Some("x"), None, None));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("no object has a field \"x\"") && error.contains("id, t, text"),
        "{error}"
    );
    std::fs::write(&path, "{\"a\": \"b\"}\nnot json\n").unwrap();
    let error =
        read(&path, DocumentFormat::JsonLines, &columns(Some("a"), None, None)).unwrap_err();
    assert!(error.to_string().contains("line 2: the line is not a JSON object"), "{error}");

    let docs = folder.path().join("docs");
    std::fs::create_dir_all(docs.join("b")).unwrap();
    for (name, text) in
        [("z.txt", "last"), ("b/a.TXT", "first"), ("b/c.txt", ""), ("skip.md", "no")]
    {
        std::fs::write(docs.join(name), text).unwrap();
    }
    let (texts, names) = read(&docs, DocumentFormat::Folder, &DocumentColumns::default()).unwrap();
    assert_eq!(
        (texts, names.titles),
        (
            vec!["first".to_owned(), String::new(), "last".into()],
            vec!["b/a.TXT".to_owned(), "b/c.txt".into(), "z.txt".into()]
        )
    );
    assert_eq!(DocumentFormat::from_path(&docs), Some(DocumentFormat::Folder));
}

#[test]
fn fields_of_json_may_be_nested_odd_or_in_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let objects = [
        "{\"id\": 1, \"meta\": {\"day\": \"2004-03-01\"}}",
        "{\"meta\": {\"day\": \"2004-03-02\"}, \"article\": {\"head\": \"a long heading\", \"text\": \"one\"}}",
        "{\"meta\": {}, \"article\": {\"text\": [\"two\", null, 3]}}",
        "{\"article.text\": \"four\"}",
    ];
    let text = columns(Some("article.text"), None, Some("meta.day"));
    let format = DocumentFormat::from_path(&path).unwrap();
    for (before, between, after) in [("", "\n", "\n"), (" \n[", ",\n ", "]\n")] {
        std::fs::write(&path, before.to_owned() + &objects.join(between) + after).unwrap();
        let (texts, names) = read(&path, format, &text).unwrap();
        assert_eq!(texts, ["", "one", "two\n3", "four"]);
        assert_eq!(names.dates.unwrap(), ["2004-03-01", "2004-03-02", "", ""]);
        // The first object with text says which field it is.
        let (texts, names) = read(&path, format, &DocumentColumns::default()).unwrap();
        assert_eq!((texts[0].as_str(), texts[1].as_str()), ("2004-03-01", "2004-03-02"));
        assert!(names.notes[0].contains("\"meta.day\""), "{:?}", names.notes);
        let error = read(&path, format, &columns(Some("article"), None, None)).unwrap_err();
        assert!(error.to_string().contains("\"article\" is no text"), "{error}");
        let refuse = DocumentColumns { missing: Some(Missing::Refuse), ..text.clone() };
        let error = read(&path, format, &refuse).unwrap_err().to_string();
        assert!(error.contains("1: the document is missing"), "{error}");
    }
    std::fs::write(&path, objects[1]).unwrap();
    let (texts, names) = read(&path, format, &DocumentColumns::default()).unwrap();
    assert_eq!(
        (texts, &names.notes[0][..]),
        (vec!["one".into()], "Documents: the field \"article.text\".")
    );
    for wrong in ["[{\"a\": \"b\"}, 7]", "[{\"a\": \"b\"}", "[{\"a\": \"b\"}] more"] {
        std::fs::write(&path, wrong).unwrap();
        let error = read(&path, format, &DocumentColumns::default()).unwrap_err().to_string();
        assert!(error.contains("line 1: it is not an array of JSON objects"), "{error}");
    }
}

/// Elements of an array are held in memory one at a time, as lines are, and limited as lines are.
#[test]
fn an_object_of_an_array_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let little = DocumentColumns { max_bytes: Some(0), ..DocumentColumns::default() };
    let object = |length: usize| format!("{{\"text\": \"{}\"}}", "a ".repeat(length / 2));
    let array = |lengths: &[usize]| {
        let objects: Vec<String> = lengths.iter().map(|&length| object(length)).collect();
        format!("[{}]", objects.join(", "))
    };
    // Together they may be longer than one may be.
    std::fs::write(&path, array(&[40_000; 5])).unwrap();
    assert_eq!(read(&path, DocumentFormat::JsonLines, &little).unwrap().0.len(), 5);
    std::fs::write(&path, array(&[10, 100_000])).unwrap();
    let error = read(&path, DocumentFormat::JsonLines, &little).unwrap_err().to_string();
    assert!(error.contains("object 2 is longer than") && error.contains("--memory"), "{error}");
}

#[test]
fn what_is_no_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let wide: Vec<u8> = "one two\nthree".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(&path, wide).unwrap();
    let error = read(&path, DocumentFormat::Lines, &DocumentColumns::default()).unwrap_err();
    assert!(error.to_string().contains("document 1 holds zero bytes"), "{error}");
    assert!(error.to_string().contains("UTF-16"), "{error}");
    // Letters of two bytes, none of them zero: only spaces tell.
    let wide = "\u{43e}\u{434}\u{438}\u{43d} \u{434}\u{432}\u{430} \u{442}\u{440}\u{438}".repeat(9);
    std::fs::write(&path, wide.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        .unwrap();
    let error = read(&path, DocumentFormat::Lines, &DocumentColumns::default()).unwrap_err();
    assert!(error.to_string().contains("zero bytes"), "{error}");
}

#[test]
fn a_zero_byte_in_a_long_text_separates_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::fs::write(&path, format!("{}end\0begin\n", "some words of a text ".repeat(5))).unwrap();
    let (documents, _) = read(&path, DocumentFormat::Lines, &DocumentColumns::default()).unwrap();
    assert!(documents[0].ends_with("text end begin"), "{documents:?}");
}
