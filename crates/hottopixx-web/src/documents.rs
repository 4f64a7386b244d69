//! Topics of documents.

use crate::{Job, MEMORY};
use hottopixx::Error;
use hottopixx::text::{Corpus, Counter, Reading};
use hottopixx::topics::Topics;
use hottopixx_io::{
    DocumentColumns, DocumentFormat, DocumentNames, Format, LoadOptions, has_text, load,
    read_documents,
};
use hottopixx_report::topics::{TopicsRun, TopicsSummary};
use hottopixx_report::topics_page;
use std::path::Path;

/// The page of topics.
pub fn page(job: &Job<'_>) -> Result<String, String> {
    let settings = Topics::new(job.wish.rank).threads(1);
    let (corpus, names) = match counted(job)? {
        Some(counts) => counts,
        None => read(job, &settings)?,
    };
    let needed = settings.footprint(&corpus);
    job.affordable(needed)?;
    let load = job.elapsed();
    let model = settings.control(job.control()).fit(&corpus);
    let mut model = model.map_err(|error| job.wrong(&error))?;
    model.notes.splice(0..0, names.notes);
    let run = TopicsRun {
        input: job.name.to_owned(),
        load,
        total: job.elapsed(),
        peak_memory_bytes: None,
        predicted_memory_bytes: Some(needed),
        threads: 1,
        seed: 0,
    };
    let summary = TopicsSummary::new(&model, &names.titles, run);
    Ok(topics_page::page(&model, &summary, None, &job.command("topics", "")))
}

/// Words of text, counted.
fn read(job: &Job<'_>, settings: &Topics) -> Result<(Corpus, DocumentNames), String> {
    let format = DocumentFormat::from_path(Path::new(job.name)).unwrap_or(DocumentFormat::Lines);
    let mut counter = Counter::new(Reading::default()).map_err(|error| job.wrong(&error))?;
    let columns = DocumentColumns { max_bytes: Some(MEMORY / 2), ..DocumentColumns::default() };
    let mut names = read_documents(&job.source, format, &columns, &mut |block| {
        counter.add(block)?;
        counter.check_memory(MEMORY / 2)
    })
    .map_err(|error| error.to_string())?;
    if names.titles.iter().all(String::is_empty) {
        names.titles.iter_mut().enumerate().for_each(|(d, t)| *t = format!("document {}", d + 1));
    }
    let corpus = counter.finish_for(settings.rules(), MEMORY / 2).map_err(|error| match error {
        Error::Empty { .. } => {
            format!("{}: no word is left of the documents: give longer text", job.name)
        }
        other => job.wrong(&other),
    })?;
    Ok((corpus, names))
}

/// Documents x words, where the file holds counts.
fn counted(job: &Job<'_>) -> Result<Option<(Corpus, DocumentNames)>, String> {
    let path = Path::new(job.name);
    let matrix = Format::from_path(path);
    if let Some(format) = DocumentFormat::from_path(path) {
        let text = has_text(&job.source, format, &DocumentColumns::default());
        if text.map_err(|error| error.to_string())? {
            return Ok(None);
        }
    }
    let Some(format) = matrix else { return Ok(None) };
    let options = LoadOptions {
        format: Some(format),
        // Bags of words come as words x documents.
        transpose: format == Format::BagOfWords,
        max_bytes: Some(MEMORY / 4),
        ..LoadOptions::default()
    };
    let loaded = load(&job.source, &options).map_err(|error| error.to_string())?;
    let numbered = || (1..=loaded.matrix.rows()).map(|d| format!("document {d}")).collect();
    let titles = loaded.row_names.clone().unwrap_or_else(numbered);
    let stop_words = &Reading::default().stop_words;
    let corpus = Corpus::from_counts(&loaded.matrix, loaded.col_names.as_deref(), stop_words);
    let corpus = corpus.map_err(|error| job.wrong(&error))?;
    Ok(Some((corpus, DocumentNames { titles, ..DocumentNames::default() })))
}
