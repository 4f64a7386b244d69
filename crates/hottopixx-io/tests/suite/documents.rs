//! Documents of every kind, and what is wrong with some.

use hottopixx_io::{
    DocumentColumns, DocumentFormat, DocumentNames, Error, Source, has_text, read_documents,
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
    DocumentColumns { text: owned(text), title: owned(title), date: owned(date) }
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
    assert!(has_text(&Source::path(&path), DocumentFormat::Csv).unwrap());
    write("name,a,b\nx,1,2\ny,3,4\n");
    assert!(!has_text(&Source::path(&path), DocumentFormat::Csv).unwrap());
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
    let error =
        read(&path, DocumentFormat::JsonLines, &columns(Some("id"), None, None)).unwrap_err();
    assert!(error.to_string().contains("line 1: the field \"id\" is no text"), "{error}");
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
