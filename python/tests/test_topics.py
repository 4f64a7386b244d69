"""Topics of documents: from strings, from counts, and what is said about them."""

import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import hottopixx
from hottopixx import AdviceWarning, Hottopixx, HottSamples, HottTopics

#: p(word | topic) of three topics; the first word of each is its anchor.
TOPICS = {
    "oil": {"oil": 0.2, "price": 0.3, "barrel": 0.2, "market": 0.2, "report": 0.1},
    "court": {"court": 0.2, "judge": 0.3, "trial": 0.2, "price": 0.1, "report": 0.2},
    "match": {"match": 0.2, "goal": 0.3, "team": 0.2, "judge": 0.1, "report": 0.2},
}
WORDS = sorted({word for topic in TOPICS.values() for word in topic})
TRUTH = np.array([[topic.get(word, 0.0) for word in WORDS] for topic in TOPICS.values()])


def planted(documents=900, tokens=50, seed=0):
    """Counts, documents x words, and the shares of topics in each document."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet([0.3, 0.2, 0.1], documents)
    return np.array([random.multinomial(tokens, p) for p in shares @ TRUTH]), shares


def as_text(counts):
    """Documents with these counts, in sentences."""
    return [
        ". ".join(
            " ".join([word] * int(n)).capitalize() for word, n in zip(WORDS, row, strict=True)
        )
        for row in counts
    ]


class SameNames(CountVectorizer):
    """Calls every word the same."""

    def get_feature_names_out(self, input_features=None):
        return np.array(["a"] * len(self.vocabulary_), dtype=object)


@pytest.fixture(scope="module")
def counts():
    return planted()[0]


@pytest.fixture(scope="module")
def documents(counts):
    return as_text(counts)


@pytest.fixture(scope="module")
def model(documents):
    return HottTopics(n_components=3, stop_words=None, random_state=0).fit(documents)


def test_two_lines_from_strings_to_topics():
    random = np.random.default_rng(0)
    about_one = [random.multinomial(12, TRUTH[d % 3]) for d in range(300)]
    program = (
        "import sys, json; documents = json.load(sys.stdin)\n"
        "from hottopixx import HottTopics\n"
        "print(HottTopics(3).fit(documents))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(as_text(about_one)),
        capture_output=True,
        text=True,
        check=True,
    )
    head, *lines = ran.stdout.splitlines()
    assert head.startswith("3 topics of 300 documents") and len(lines) == 3
    assert {"goal", "barrel", "court"} <= set(ran.stdout.replace(",", "").split())


def test_planted_topics_are_found(model):
    assert model.words_.tolist() == WORDS
    for name, own in zip(
        model.anchors_, ("oil barrel market", "court trial", "match goal team"), strict=True
    ):
        assert name in own.split()
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
    np.testing.assert_allclose(model.anchored_components_.sum(axis=1), 1)
    # Topics come in the order of their size, which is that of TOPICS.
    assert np.abs(model.components_ - TRUTH).sum(axis=1).max() < 0.1
    assert np.abs(model.document_shares_ - planted()[1]).mean() < 0.05
    np.testing.assert_allclose(model.topic_proportions_, [0.5, 1 / 3, 1 / 6], atol=0.05)
    assert (np.diff(model.topic_proportions_) <= 0).all()
    assert 1 < model.perplexity_ <= model.anchored_perplexity_ < len(WORDS)
    assert 0 <= model.reconstruction_err_ < 0.2


def test_attributes_belong_together(model, counts):
    assert model.n_components_ == len(model.anchors_) == len(model.stand_ins_) == 3
    assert [WORDS[j] for j in model.anchor_indices_] == model.anchors_.tolist()
    assert model.get_feature_names_out().tolist() == model.anchors_.tolist()
    assert model.vocabulary_ == {word: j for j, word in enumerate(WORDS)}
    np.testing.assert_array_equal(model.word_counts_, counts.sum(axis=0))
    np.testing.assert_array_equal(model.document_frequencies_, (counts > 0).sum(axis=0))
    np.testing.assert_array_equal(model.document_lengths_, counts.sum(axis=1))
    assert model.topic_given_word_.shape == (len(WORDS), 3)
    assert model.coherence_.shape == (3,) and (np.abs(model.coherence_) <= 1).all()
    assert any("Vocabulary" in note for note in model.notes_) and model.stop_ == "finished"
    np.testing.assert_allclose(np.diag(model.similarity()), 1)


def test_new_documents_are_fitted_like_old_ones(model, documents):
    shares = model.transform(documents)
    np.testing.assert_array_equal(shares, model.document_shares_)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    parts = np.vstack([model.transform(documents[:7]), model.transform(documents[7:])])
    np.testing.assert_array_equal(shares, parts)
    texts = ["Oil! The barrel's price; the MARKET of oil", "", "words unknown here"]
    with pytest.warns(AdviceWarning, match="2 of 3 documents have no word of the model"):
        new = model.transform(texts)
    assert new[0, 0] > 0.9
    np.testing.assert_array_equal(new[1:], [model.topic_proportions_] * 2)


def test_every_container_gives_the_same_topics(model, documents, counts):
    text = [
        tuple(documents),
        iter(documents),
        np.array(documents),
        pd.Series(documents, index=range(5, 905)),
    ]
    frame = pd.DataFrame(counts, columns=WORDS)
    numbers = [counts, counts.tolist(), frame, sp.csr_array(counts), sp.csc_matrix(counts * 1.0)]
    for X in text + numbers:
        other = HottTopics(3, stop_words=None).fit(X)
        np.testing.assert_array_equal(other.components_, model.components_)
        np.testing.assert_array_equal(other.document_shares_, model.document_shares_)
    named = HottTopics(3, stop_words=None).fit(frame)
    assert named.anchors_.tolist() == model.anchors_.tolist()
    told = HottTopics(3, stop_words=None, words=WORDS).fit(sp.csr_array(counts))
    assert told.anchors_.tolist() == model.anchors_.tolist()
    assert told.vocabulary_ == model.vocabulary_
    np.testing.assert_array_equal(told.transform(counts), model.document_shares_)
    shares = named.set_output(transform="pandas").transform(frame.iloc[:5])
    assert shares.columns.tolist() == model.anchors_.tolist()
    np.testing.assert_array_equal(shares.to_numpy(), model.transform(documents[:5]))
    unnamed = HottTopics(3).fit(counts)
    assert unnamed.anchors_.tolist() == [f"x{j}" for j in model.anchor_indices_]
    assert "have no names" in str(unnamed) and "have no names" not in f"{model}{told}{named}"
    np.testing.assert_array_equal(unnamed.transform(counts), model.transform(counts))


def test_polars_will_do(model, documents, monkeypatch):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    shares = HottTopics(3, stop_words=None).fit_transform(polars.Series(documents))
    np.testing.assert_array_equal(shares, model.document_shares_)
    with pytest.raises(ValueError, match=r"give the column, X\['text'\]"):
        HottTopics(3).fit(polars.DataFrame({"text": documents}))
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(model.topics_frame(), polars.DataFrame)


def test_words_that_are_left_out_have_columns_of_zeros(counts):
    rare = np.zeros((len(counts), 2), dtype=int)
    rare[:3, 0] = 1
    rare[:, 1] = 2
    X = pd.DataFrame(np.hstack([rare, counts]), columns=["rarely", "the", *WORDS])
    model = HottTopics(3, min_df=5, stop_words=["The"]).fit(X)
    assert model.min_df_ >= 5 and model.components_.shape == (3, len(WORDS) + 2)
    assert not model.components_[:, :2].any() and not model.word_counts_[:2].any()
    assert "the" not in model.vocabulary_ and model.vocabulary_["barrel"] == 2
    assert [X.columns[j] for j in model.anchor_indices_] == model.anchors_.tolist()
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
    np.testing.assert_array_equal(model.transform(X), model.document_shares_)
    share = HottTopics(3, min_df=0.01, candidate_df=0.1, max_words=8, stop_words=0.9).fit(X)
    assert share.candidate_df_ == 90 and len(share.vocabulary_) == 8


def test_any_vectoriser_will_do(model, documents):
    for vectorizer in (CountVectorizer(), CountVectorizer().build_analyzer(), str.split):
        other = HottTopics(3, vectorizer=vectorizer, stop_words=None).fit(documents)
        assert other.words_.tolist() == other.vectorizer_.get_feature_names_out().tolist()
        np.testing.assert_array_equal(other.transform(documents), other.document_shares_)
    counted = HottTopics(3, vectorizer=CountVectorizer(), stop_words=None).fit(documents)
    np.testing.assert_array_equal(counted.components_, model.components_)
    assert not hasattr(counted.vectorizer, "vocabulary_")
    with pytest.raises(ValueError, match=r"what the vectorizer made has the entry .* not tf-idf"):
        HottTopics(3, vectorizer=TfidfVectorizer()).fit(documents)
    with pytest.raises(ValueError, match="neither a scikit-learn vectoriser nor a function"):
        HottTopics(3, vectorizer=3).fit(documents)
    with pytest.raises(ValueError, match="ask the vectorizer for ngrams"):
        HottTopics(3, vectorizer=CountVectorizer(), phrases=True).fit(documents)


def test_threads_do_not_matter(model, documents):
    for jobs in (1, 2, -1):
        other = HottTopics(3, stop_words=None, n_jobs=jobs).fit(documents)
        for name in ("components_", "document_shares_", "anchored_components_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(model, name))


def test_anchors_may_be_given(documents):
    for anchors in ("Goal+team, oil", ["goal+team", "oil"], [["goal", "team"], ["oil"]]):
        model = HottTopics(3, anchors=anchors, stop_words=None).fit(documents)
        assert {"goal+team", "oil"} < set(model.anchors_), anchors
    with pytest.raises(ValueError, match=r"anchors = pudding .* no word of the vocabulary"):
        HottTopics(3, anchors="pudding").fit(documents)


def test_recoveries_and_no_polish(documents):
    for recovery in hottopixx._native.RECOVERIES:
        model = HottTopics(3, recovery=recovery, polish=0, stop_words=None).fit(documents)
        assert np.abs(model.anchored_components_ - TRUTH).sum(axis=1).max() < 0.3, recovery
        assert model.n_iter_ == 0 and model.perplexity_ == pytest.approx(model.anchored_perplexity_)


def test_phrases_and_stop_words(documents):
    more = [text.lower().replace("oil", "crude oil.") + ". The and of in" for text in documents]
    model = HottTopics(3, phrases=True, stop_words="english").fit(more)
    assert "crude oil" in model.vocabulary_ and "oil" not in model.vocabulary_
    assert not {"the", "and", "of", "in"} & set(model.vocabulary_)
    np.testing.assert_array_equal(model.transform(more), model.document_shares_)
    short = [text + " 4 4 x x" for text in documents]
    everything = HottTopics(3, min_length=1, numbers=True, stop_words=None).fit(short)
    assert {"4", "x"} <= set(everything.vocabulary_)
    np.testing.assert_array_equal(everything.transform(short), everything.document_shares_)
    german = HottTopics(3, stop_words="german").fit(more)
    assert "the" in german.vocabulary_ and "in" not in german.vocabulary_


def test_top_words_by_several_measures(model):
    words = model.top_words(0, 3)
    assert words[0][0] == "price"
    assert words[0][1] == pytest.approx(model.components_[0].max())
    assert words == model.top_words(str(model.anchors_[0]), 3)
    # Words of other topics come last by measures of what is a topic's own.
    for measure in ("keyness", "term_score", "relevance", "frex"):
        own = [word for word, _ in model.top_words(0, 50, measure=measure, weight=0.1)]
        assert own.index("barrel") < own.index("report")
    assert [w for w, _ in model.top_words(0, 3, "relevance", 1.0)] == [w for w, _ in words]
    with pytest.raises(ValueError, match="measure is 'magic': choose one of probability"):
        model.top_words(0, measure="magic")
    with pytest.raises(ValueError, match="topic is 3, but there are 3, from 0"):
        model.top_words(3)
    with pytest.raises(ValueError, match="there is no topic 'pudding'"):
        model.top_words("pudding")


def test_typical_documents_have_much_of_the_topic(model):
    for k in range(3):
        typical = model.typical_documents(k, 5)
        assert len(typical) == 5 and model.document_shares_[typical, k].min() > 0.8


def test_tables_and_pages(model, monkeypatch, capsys):
    frame = model.topics_frame(n_words=2)
    assert frame.columns.tolist() == ["anchor", "share", "coherence", "words", "stand_ins"]
    assert frame["anchor"].tolist() == model.anchors_.tolist()
    assert frame["words"].str.split(", ").str.len().tolist() == [2, 2, 2]
    assert str(model).count("\n") == 3 and all(
        name in model._repr_html_() for name in model.anchors_
    )
    model.show(1)
    first, second = (word for word, _ in model.top_words(0, 2, measure="keyness"))
    page = model._repr_html_()
    assert page.index(f">{first}<") < page.index(f">{second}<")
    assert capsys.readouterr().out.splitlines()[1].endswith(first)
    assert repr(model).startswith("HottTopics(") and str(HottTopics(4)) == repr(HottTopics(4))
    assert "HottTopics" in HottTopics()._repr_html_()
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="neither is installed: pip install pandas"):
        model.topics_frame()


def test_the_page_has_titles_and_topics_over_time(model, counts, tmp_path):
    count = len(model.document_shares_)
    years = [2001 + d % 5 for d in range(count)]
    page = tmp_path / "topics.html"
    model.report(page, titles=[f"story <{d}>" for d in range(count)], dates=years, name="news")
    text = page.read_text(encoding="utf-8")
    best = model.typical_documents(0, 1)[0]
    assert text.startswith("<!doctype html>") and "topics of news" in text
    assert f"story &lt;{best}&gt;" in text and "Topics over time" in text
    assert all(name in text for name in model.anchors_)
    model.report(page)
    plain = page.read_text(encoding="utf-8")
    assert "document 1" in plain and "Topics over time" not in plain
    frame = model.over_time(years)
    assert frame.shape == (5, 3) and list(frame.columns) == list(model.anchors_)
    np.testing.assert_allclose(frame.iloc[0], model.document_shares_[::5].mean(axis=0))
    np.testing.assert_allclose(frame.sum(axis=1), 1)
    dates = [f"2001-{1 + d % 12:02}-03" for d in range(count)]
    assert len(model.over_time(dates, "M")) == 12
    with pytest.raises(ValueError, match="2 titles for 900 documents"):
        model.report(page, titles=["a", "b"])
    with pytest.raises(ValueError, match="1 dates for 900 documents"):
        model.over_time(["2001"])
    # Columns of counts that were left out, and names of their own.
    wide = sp.csr_array(np.hstack([np.zeros((count, 1)), counts]))
    of_counts = HottTopics(3, words=["never", *WORDS], stop_words=None).fit(wide)
    of_counts.report(page)
    assert all(name in page.read_text(encoding="utf-8") for name in of_counts.anchors_)
    pickle.loads(pickle.dumps(model)).report(page)
    model.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="knows no documents"):
        HottTopics.load(tmp_path).report(page)


def test_the_bound_is_below_the_error(model, documents):
    bound = model.bound_
    assert 0 <= bound["lower_bound"] <= bound["mean_l1"] < 1
    assert bound["words"] <= len(model.words_)
    tandem = HottTopics(3, anchors="oil+price", stop_words=None).fit(documents)
    assert tandem.bound_ is None


def test_pyldavis_gets_what_it_takes(counts):
    X = np.vstack([counts, np.zeros((1, len(WORDS)), dtype=int)])
    given = HottTopics(3).fit(X).to_pyldavis()
    assert set(given) == {
        "topic_term_dists",
        "doc_topic_dists",
        "doc_lengths",
        "vocab",
        "term_frequency",
    }
    assert given["topic_term_dists"].shape == (3, len(WORDS)) and len(given["vocab"]) == len(WORDS)
    assert given["doc_topic_dists"].shape == (900, 3)
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(given["doc_topic_dists"].sum(axis=1), 1)
    assert given["doc_lengths"].min() > 0
    assert given["term_frequency"].sum() == given["doc_lengths"].sum() == counts.sum()
    # EM leaves numbers whose half is zero, of which pyLDAvis makes NaN.
    faint = HottTopics(3).fit(X)
    faint.components_ = np.where(faint.components_ < 0.05, 5e-324, faint.components_)
    dists = faint.to_pyldavis()["topic_term_dists"]
    assert (dists / 2 > 0).all() and np.allclose(dists.sum(axis=1), 1)
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        assert len(pyldavis.prepare(**given, n_jobs=1).topic_coordinates) == 3


def test_copies_of_a_model(model, documents, counts, tmp_path):
    shares = model.transform(documents[:9])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(documents[:9]), shares)
    assert clone(model).get_params() == model.get_params()
    model.save(tmp_path / "model.json")
    loaded = HottTopics.load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(documents[:9]), shares)
    assert str(loaded).splitlines()[1:] == str(model).splitlines()[1:]
    with pytest.raises(ValueError, match="a loaded model knows no documents"):
        loaded.to_pyldavis()
    made_of_counts = HottTopics(3).fit(counts)
    made_of_counts.save(tmp_path / "counts.json")
    loaded = HottTopics.load(tmp_path / "counts.json")
    np.testing.assert_array_equal(loaded.transform(counts), made_of_counts.transform(counts))
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"other\.json is no topic model"):
        HottTopics.load(tmp_path / "other.json")
    hottopixx.factor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 2).save(tmp_path / "answer.hott")
    with pytest.raises(ValueError, match=r"answer\.hott is no model of topics: hottopixx\.load"):
        HottTopics.load(tmp_path / "answer.hott")


@pytest.mark.filterwarnings("ignore:1 of 10 documents:hottopixx.AdviceWarning")
def test_documents_may_be_missing_or_bytes_or_in_a_column(model, documents):
    expected = model.transform([*documents[:9], ""])
    gone = [pd.Series([*documents[:9], np.nan]), pd.Series([*documents[:9], None], dtype="string")]
    for given in ([*documents[:9], None], *gone):
        with pytest.warns(AdviceWarning, match="1 document is missing"):
            np.testing.assert_array_equal(model.transform(given), expected)
    texts = [*documents[:9], ""]
    others = [text.encode() for text in texts], np.array(texts, dtype=object)[:, None]
    for given in others:
        np.testing.assert_array_equal(model.transform(given), expected)
    np.testing.assert_array_equal(model.transform(pa.array(texts)), expected)
    assert model.transform(["caf\xe9 oil".encode("latin-1")]).shape == (1, 3)


def test_says_what_is_wrong(model, documents, counts):
    def refused(sentence, X=documents, **settings):
        with pytest.raises(ValueError, match=sentence):
            HottTopics(**{"n_components": 3, **settings}).fit(X)

    refused("X is one string: give a list of documents", "oil price")
    refused("there are 0 documents", [])
    refused("document 1 is a int, not a string: leave it out", ["oil", 7])
    for words in ([["oil", "price"], ["court"]], pd.Series([["oil"], ["court"]])):
        refused(r"document 0 is a list, not a string: join its words", words)
    for numbers in ([1, 2, 3], np.arange(3)):
        refused("document 0 is a int.*, not a string: give documents as strings, or", numbers)
    refused("documents = 1 is not possible.*give many", ["oil price barrel oil"])
    refused("n_components is '3': give a number of topics", n_components="3")
    refused("document 1 has a character that is none", ["oil", "b\udc80"])
    refused("no word is left of the 2 documents", ["", "12 34"])
    refused(r"column 'text' is text: give the column, X\['text'\]", pd.DataFrame({"text": ["a"]}))
    refused(r"X has the entry 8\.5, but counts are whole numbers", counts + 0.5)
    refused("Negative values in data passed to HottTopics", -counts)
    refused("two columns are called 'a'", vectorizer=SameNames())
    refused("HashingVectorizer cannot tell its words", vectorizer=HashingVectorizer(norm=None))
    refused("there are 1 words for 11 columns: give one for each", counts, words=["oil"])
    refused("n_components is 0: give a number of topics", n_components=0)
    refused(r"n_components is 4\.5: give a number of topics", n_components=4.5)
    refused("3 is required", [[1, 0], [0, 1]])
    refused("min_length is 0: give a number of characters", min_length=0)
    refused("min_df is -1: give a number of documents", min_df=-1)
    refused("polish is -1: it must not be negative", polish=-1)
    refused("recovery = l3 .* choose one of l1, l2, kl", recovery="l3")
    refused("prior = -1 is not possible", prior=-1.0)
    refused("stop_words is 3: give a language", stop_words=3)
    refused("klingon", stop_words="klingon")
    refused("anchors = oil is not possible: it is given twice", anchors="oil, oil")
    with pytest.raises(NotFittedError):
        HottTopics().transform(documents)
    with pytest.raises(NotFittedError):
        HottTopics().show()
    with pytest.raises(ValueError, match="the model was made of counts"):
        HottTopics(3).fit(counts).transform(documents)
    with pytest.raises(ValueError, match="X has 2 columns, but the model has 11 words"):
        model.transform(counts[:, :2])
    with pytest.raises(ValueError, match="counts are whole numbers"):
        model.transform(counts + 0.5)


def test_few_documents_and_turned_counts_get_advice(counts):
    with pytest.warns(AdviceWarning, match="There are 12 documents for 3 topics"):
        HottTopics(3, min_df=1, candidate_df=1).fit(counts[:12])
    random = np.random.default_rng(0)
    zipf = 1 / np.arange(1, 101)
    X = random.multinomial(60, zipf / zipf.sum(), 400)
    with pytest.warns(AdviceWarning, match=r"if rows are\s+words, transpose"):
        HottTopics(3).fit(X.T)
    with pytest.warns(AdviceWarning, match=r"if columns are words, give counts\.T"):
        hottopixx.cooccurrence(X)
    hottopixx.cooccurrence(X.T)


def test_counts_and_poor_answers_get_advice(documents):
    pipeline = make_pipeline(CountVectorizer(), Hottopixx(3, method="spa"))
    with pytest.warns(AdviceWarning, match="use hottopixx.HottTopics"):
        random = np.random.default_rng(0)
        words = [f"w{j}" for j in range(300)]
        pipeline.fit([" ".join(random.choice(words, 9)) for _ in range(80)])
    X = random.permutation(np.eye(40) + 1e-3)
    with pytest.warns(AdviceWarning, match="explain next to nothing"):
        Hottopixx(2, method="spa").fit(X)


def test_years_and_numbers_of_samples_get_advice():
    values = np.random.default_rng(1).random((30, 4))
    table = pd.DataFrame(values, columns=["a", "b", "Year", "id"])
    Hottopixx(2, method="spa").fit(table)  # measurements, whatever they are called
    table["Year"] = 1990 + np.arange(30) // 3
    with pytest.warns(AdviceWarning, match=r"column looks like years, .*: Year\. .*\['Year'\]"):
        Hottopixx(2, method="spa").fit(table)
    table["id"] = np.arange(30)
    with pytest.warns(AdviceWarning, match=r"columns look like years, .*: Year, id\. "):
        Hottopixx(2, method="spa").fit(table)
    counts = pd.DataFrame(planted(200)[0], columns=WORDS).assign(Year=1990)
    for model in (HottTopics(3, min_df=1, candidate_df=1), HottSamples(3, method="spa")):
        for X in (counts, counts.astype(pd.SparseDtype("float", 0.0))):
            with pytest.warns(AdviceWarning, match=r"like years, .*: Year\. ") as warned:
                model.fit(X)
            assert warned[0].filename == __file__
    with pytest.warns(AdviceWarning, match="like years"):
        Hottopixx(2, method="spa").fit(X)


def test_the_path_of_topics_leads_to_the_planted_number(documents):
    model = HottTopics(5, min_df=2, candidate_df=2).fit(documents)
    path = model.path()
    assert [point.rank for point in path.points] == [1, 2, 3, 4, 5] and path.suggested == 3
    assert (np.diff(path.mean_l1) <= 1e-9).all() and path.noun == "word"
    labels = {path.names[row] for row in path.points[-1].hott}
    assert labels == set(model.anchors_) and "row" not in str(path)
    pooled = HottTopics(3, anchors="oil+price").fit(documents)
    assert pooled.path(words=9).points[-1].rank == 3
    assert path.plot().get_xlabel() == "number of chosen words"
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="has no documents: fit it again"):
        again.path()
    with pytest.raises(ValueError, match="words is 0"):
        model.path(words=0)


def test_cooccurrence_keeps_its_type_and_wants_counts(counts):
    words = counts.T
    dense = hottopixx.cooccurrence(words)
    assert isinstance(dense, np.ndarray)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        for given in (kind(words), kind(np.eye(60, dtype=int) * 2)):
            assert isinstance(hottopixx.cooccurrence(given), sp.csr_array)
    np.testing.assert_allclose(hottopixx.cooccurrence(sp.csr_array(words)).toarray(), dense)
    assert isinstance(hottopixx.cooccurrence(np.eye(60) * 2), np.ndarray)
    for given in (words * 0.37, sp.csr_array(words * 0.37)):
        with pytest.raises(ValueError, match=r"counts has the entry .* not tf-idf"):
            hottopixx.cooccurrence(given)


class OfCounts(HottTopics):
    """Tells scikit-learn's checks to give whole numbers."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


@pytest.mark.filterwarnings("ignore::hottopixx.AdviceWarning")
@parametrize_with_checks([OfCounts(1, min_df=1, candidate_df=1)])
def test_is_an_estimator(estimator, check):
    check(estimator)
