"""Documents and samples that are added to a model: `partial_fit`."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from test_topics import TRUTH, WORDS, as_text, planted

import hottopixx
from hottopixx import Hottopixx, HottTopics
from hottopixx._topic_changes import Topics, topic_changes


@pytest.fixture(scope="module")
def counts():
    return planted()[0]


@pytest.fixture(scope="module")
def documents(counts):
    return as_text(counts)


@pytest.fixture(scope="module")
def instance():
    return hottopixx.generate("paper", features=30, examples=200, rank=4, noise=0.5, seed=3)


def same_model(one, other):
    """Whether two models are the same to the last bit."""
    assert one.anchors_.tolist() == other.anchors_.tolist()
    assert one.words_.tolist() == other.words_.tolist()
    for name in ("components_", "document_shares_", "anchored_components_", "document_lengths_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.bound_ == other.bound_ and one.perplexity_ == other.perplexity_


def test_documents_may_be_added(documents, counts):
    for X, settings in (
        (documents, {}),
        (counts, {}),
        (sp.csr_array(counts), {"words": WORDS}),
        (pd.DataFrame(counts, columns=WORDS), {}),
        (np.array(documents), {"vectorizer": CountVectorizer()}),
    ):
        whole = HottTopics(3, stop_words=None, **settings).fit(X)
        model = HottTopics(3, stop_words=None, **settings).partial_fit(X[:700])
        assert not hasattr(model, "changes_") and len(model.document_shares_) == 700
        assert model.partial_fit(X[700:]) is model and len(model.document_shares_) == 900
        assert model.changes_.stayed and str(model.changes_) in model.notes_
        assert model.perplexity_ <= 1.005 * whole.perplexity_
        assert model.bound_["lower_bound"] == whole.bound_["lower_bound"]
        np.testing.assert_allclose(model.components_, whole.components_, atol=0.02)
        np.testing.assert_array_equal(model.transform(X), model.document_shares_)
        again = HottTopics(3, stop_words=None, **settings).fit(X[:700]).partial_fit(X[700:])
        same_model(again, model)
        model.fit(X)
        same_model(model, whole)
        assert not hasattr(model, "changes_")


def test_what_is_decided_on_all_documents_does_not_depend_on_batches(documents):
    # New words, phrases and stop words come with later documents.
    later = [text.lower().replace("oil", "crude oil.") + " the and of is" for text in documents]
    texts = [*documents[:300], *later[300:]]
    model = HottTopics(3, phrases=True, stop_words="english").fit(texts[:300])
    given = HottTopics(3, anchors="barrel, court, goal", stop_words=0.99).fit(texts[:300])
    assert "crude oil" not in model.vocabulary_
    for first, last in ((300, 301), (301, 600), (600, 900)):
        model.partial_fit(iter(texts[first:last]))
        given.partial_fit(texts[first:last])
    assert "crude oil" in model.vocabulary_ and "the" not in model.vocabulary_
    whole = HottTopics(3, phrases=True, stop_words="english").fit(texts)
    assert model.words_.tolist() == whole.words_.tolist() and model.min_df_ == whole.min_df_
    np.testing.assert_array_equal(model.word_counts_, whole.word_counts_)
    # With anchors that are given nothing depends on what came first.
    same_model(given, HottTopics(3, anchors="barrel, court, goal", stop_words=0.99).fit(texts))
    assert set(given.changes_.stayed) == {"barrel", "court", "goal"}


def test_topics_come_and_go():
    shares = np.zeros((600, 3))
    shares[:300, 0] = shares[150:300, 1] = shares[300:, 2] = 1
    shares[150:300, 0] = 0
    shares = 0.9 * shares + 0.1 / 3 * (shares @ np.ones((3, 3)))
    random = np.random.default_rng(3)
    X = np.array([random.multinomial(60, p) for p in shares @ TRUTH])
    settings = {"n_components": 2, "words": WORDS, "stop_words": None}
    model = HottTopics(**settings).fit(X[:300])
    before = set(model.anchors_)
    model.partial_fit(X[300:])
    changes, now = model.changes_, set(model.anchors_)
    assert changes.came and changes.went
    moved = {name for name, _, _ in changes.moved}, {name for _, name, _ in changes.moved}
    assert {*changes.stayed, *changes.went, *moved[0]} == before
    assert {*changes.stayed, *changes.came, *moved[1]} == now
    assert f"1 came ({changes.came[0]})" in str(changes)
    assert now & {"match", "goal", "team"}
    # Twice as many documents: looked for everywhere, so that it is the answer of a fit.
    assert model.perplexity_ <= 1.005 * HottTopics(**settings).fit(X).perplexity_


def test_a_topic_of_another_name_is_told_by_its_words():
    before = Topics(["oil", "court", "match"], WORDS, TRUTH)
    now = Topics(["goal", "oil", "pudding"], [*WORDS, "pudding"], np.zeros((3, len(WORDS) + 1)))
    now.given_topic[:2, :-1] = 0.98 * TRUTH[[2, 0]] + 0.02 / len(WORDS)
    now.given_topic[2, -1] = 1.0
    changes = topic_changes(before, now)
    ((old, new, common),) = changes.moved
    assert (old, new) == ("match", "goal") and 0.95 < common < 1
    assert (changes.stayed, changes.came, changes.went) == (["oil"], ["pudding"], ["court"])
    assert str(changes) == (
        "Topics since the documents before: 1 stayed, 1 moved (match to goal), 1 came (pudding), "
        "1 went (court)."
    )
    none = topic_changes(before, Topics(["x"], ["x"], np.ones((1, 1))))
    assert none.went == before.names and none.came == ["x"] and not none.moved


def test_documents_that_cannot_be_added_change_nothing(documents, counts, tmp_path):
    text = HottTopics(3, stop_words=None).fit(documents[:700])
    numbers = HottTopics(3, stop_words=None).fit(counts[:700])
    for model, batch, sentence in (
        (text, counts[700:], "so far are text: give further ones as strings"),
        (numbers, documents[700:], "so far are counts: give counts of the same words"),
        (text, [*documents[700:], 7], "document 200 is a int, not a string"),
        (text, [], "there are 0 documents"),
        (numbers, counts[700:, :5], "X has 5 features, but HottTopics is expecting 11"),
        (numbers, counts[700:] + 0.5, "counts are whole numbers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.partial_fit(batch)
        assert len(model.document_shares_) == 700 and not hasattr(model, "changes_")
    text.set_params(prior=-1.0)
    with pytest.raises(ValueError, match="prior = -1"):
        text.partial_fit(documents[700:])
    text.set_params(prior=0.1)
    whole = HottTopics(3, stop_words=None).fit(documents)
    assert len(text.partial_fit(documents[700:]).document_shares_) == 900
    np.testing.assert_array_equal(text.word_counts_, whole.word_counts_)
    text.save(tmp_path / "model.json")
    for copy in (pickle.loads(pickle.dumps(text)), HottTopics.load(tmp_path)):
        with pytest.raises(ValueError, match="has no documents: fit it again"):
            copy.partial_fit(documents)


def test_counts_that_change_later_do_no_harm(counts):
    buffer = sp.csr_array(counts[:700] * 1.0)
    model = HottTopics(3).fit(buffer)
    buffer.data[:] = 1.0
    model.partial_fit(counts[700:])
    np.testing.assert_array_equal(model.word_counts_, counts.sum(axis=0))


def test_samples_may_be_added(instance):
    X = np.ascontiguousarray(instance.X.T)
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    kinds = (X, {}), *((x, {"effort": "quick"}) for x in (sp.csr_array(X), frame, np.float32(X)))
    for given, settings in kinds:
        whole = Hottopixx(4, **settings).fit(given)
        model = Hottopixx(4, **settings).partial_fit(given[:150])
        assert not hasattr(model, "changes_")
        assert model.partial_fit(given[150:]) is model
        assert sorted(model.changes_.stayed) == model.hott_.tolist() == whole.hott_.tolist()
        np.testing.assert_allclose(model.components_, whole.components_, atol=1e-5)
        assert model.components_.dtype == whole.components_.dtype
        assert model.reconstruction_err_ == pytest.approx(whole.reconstruction_err_, rel=1e-5)
        assert settings or model.certificate_.lower_bound <= model.reconstruction_err_
        again = Hottopixx(4, **settings).fit(given[:150]).partial_fit(given[150:])
        np.testing.assert_array_equal(again.components_, model.components_)
        assert not hasattr(model.fit(given), "changes_")
    mixed = Hottopixx(4, **settings).fit(sp.csc_array(X[:150])).partial_fit(X[150:])
    assert mixed.hott_.tolist() == whole.hott_.tolist() and sp.issparse(mixed.result_.W)


@pytest.mark.parametrize("method", ["auto", "spa", "hottopixx"])
def test_weights_of_added_samples_count(instance, method):
    X = instance.X.T
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    settings = {"method": method, "epochs": 10 if method == "hottopixx" else None}
    whole = Hottopixx(4, **settings).fit(X, sample_weight=weights)
    model = Hottopixx(4, **settings).partial_fit(X[:120], sample_weight=weights[:120])
    model.partial_fit(X[120:], sample_weight=weights[120:])
    assert model.hott_.tolist() == whole.hott_.tolist()
    assert model.reconstruction_err_ == pytest.approx(whole.reconstruction_err_)
    weights[:120] = 1
    once = Hottopixx(4, **settings).fit(X[:120]).partial_fit(X[120:], None, weights[120:])
    whole = Hottopixx(4, **settings).fit(X, sample_weight=weights)
    assert once.reconstruction_err_ == pytest.approx(whole.reconstruction_err_)


def test_few_samples_first_are_no_trap(instance):
    X = instance.X.T
    model = Hottopixx(4, effort="quick")
    for first in range(0, 200, 20):
        model.partial_fit(X[first : first + 20])
    whole = Hottopixx(4, effort="quick").fit(X)
    assert model.hott_.tolist() == whole.hott_.tolist()
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-9)
    changing = Hottopixx("auto", effort="quick").partial_fit(X[:20]).partial_fit(X[20:])
    assert changing.n_components_ == 4
    assert len(changing.changes_.stayed) + len(changing.changes_.moved) <= 4


def test_missing_values_may_be_in_every_batch():
    made = hottopixx.generate("paper", features=30, examples=50, rank=3, noise=0.0)
    X = np.array(made.X).T
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    settings = {"missing": "observed", "effort": "quick"}
    model = Hottopixx(3, **settings).fit(holed[:40]).partial_fit(holed[40:])
    assert made.recall(model.hott_) == 1.0 and model.result_.completed.shape == (30, 50)


def test_samples_that_cannot_be_added_change_nothing(instance, tmp_path):
    X = np.ascontiguousarray(instance.X.T)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(30)])
    model = Hottopixx(4, method="spa").fit(frame[:150])
    for batch, sentence in (
        (frame[150:].rename(columns={"f3": "g3"}), "feature names should match"),
        (frame.iloc[150:, :7], "feature names should match"),
        (-frame[150:], "Negative values in data passed to Hottopixx"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.partial_fit(batch)
        assert model.result_.W.shape == (4, 150) and not hasattr(model, "changes_")
    with pytest.raises(ValueError, match="X has 7 features, but Hottopixx is expecting 30"):
        Hottopixx(4, method="spa").fit(X[:150]).partial_fit(X[150:, :7])
    model.save(tmp_path / "model.hott")
    for copy in (pickle.loads(pickle.dumps(model)), hottopixx.load(tmp_path / "model.hott")):
        with pytest.raises(ValueError, match="has no samples: fit it again"):
            copy.partial_fit(X)
    with pytest.raises(ValueError, match="partial_fit does not go with ray_address"):
        Hottopixx(4, ray_address="local").partial_fit(X)


def test_a_buffer_may_be_used_again(instance):
    X = np.ascontiguousarray(instance.X.T)
    buffer, model = X[:100].copy(), Hottopixx(4, method="spa")
    model.partial_fit(buffer)
    buffer[:] = X[100:]
    model.partial_fit(buffer)
    np.testing.assert_array_equal(model.result_.W, X[:, model.result_.hott].T)
    # What was given to fit is not copied, which is noticed.
    model.fit(buffer)
    buffer[:] = X[:100]
    with pytest.raises(ValueError, match="given to fit have changed since: give a copy"):
        model.partial_fit(X[100:])
