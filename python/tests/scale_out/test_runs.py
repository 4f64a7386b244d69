"""Runs on a cluster and without: the same bytes as on one machine, however the work is divided."""

import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import hottopixx

ray = pytest.importorskip("ray")

import hottopixx.ray as scaled  # noqa: E402
from hottopixx.ray import _engine, _factor, _passes, _plan  # noqa: E402

from .corpora import pieces, same_bytes  # noqa: E402

# Ray and what it imports warn about themselves.
pytestmark = pytest.mark.filterwarnings("default")

#: Tasks at a time, by threads of each: the cluster has two processors to give.
SLOTS = {1: 2, 2: 1}

# Workers cannot import this file: its classes travel with the tasks.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.mark.parametrize("threads", SLOTS)
def test_words_have_the_bytes_of_one_machine(cluster, counts, cooccurring, threads):
    documents = sp.csr_array(counts.X.T)
    for count in (1, 7, 40):
        found = scaled.factor(
            pieces(documents, count), 6, "spa", matrix="cooccurrence", worker_threads=threads
        )
        assert found.hott.tolist() == cooccurring.hott.tolist()
        assert same_bytes(found.F, cooccurring.F) and same_bytes(found.W, cooccurring.W)
        assert found.error.mean_l1 == cooccurring.error.mean_l1
        assert "exact co-occurrence" in found.notes[0]


@pytest.mark.parametrize("dense", [True, False])
def test_rows_of_x_have_the_bytes_of_one_machine(cluster, pixels, dense):
    documents = pixels.X.T.copy() if dense else sp.csr_array(pixels.X.T)
    rows = pixels.X if dense else sp.csr_array(pixels.X)
    for method, threads, count in (("auto", 1, 11), ("spa", 2, 5), ("snpa", 2, 1)):
        effort = {"effort": "quick"} if method == "auto" else {}
        chosen = hottopixx.factor(rows, 5, method, **effort)
        one = hottopixx.evaluate(rows, chosen.hott)
        found = scaled.factor(pieces(documents, count), 5, method, worker_threads=threads, **effort)
        assert found.hott.tolist() == chosen.hott.tolist()
        assert same_bytes(found.F, one.F) and same_bytes(found.W, one.W)
        assert method == "auto" or same_bytes(found.F, chosen.F)
        assert found.error.per_row.tolist() == one.error.per_row.tolist()
        assert found.error.rmse == pytest.approx(one.error.rmse, rel=1e-12)
        assert found.certificate is None and "X X^T" in found.notes[0]


@dataclass(frozen=True)
class Slow:
    """A partition that takes its time, the first ones most."""

    name: str
    block: object
    seconds: float

    def load(self, first=0, last=None):
        time.sleep(self.seconds)
        return self.block[first:last], True


def test_the_order_of_completion_does_not_matter(cluster, counts, cooccurring, monkeypatch):
    # Several blocks of documents, so that sums are added up as well.
    monkeypatch.setattr(_plan, "block_documents", lambda dense, terms: 100)
    blocks = pieces(sp.csr_array(counts.X.T), 6)
    answers = []
    for wait in (lambda k: 0.05 * k, lambda k: 0.25 - 0.05 * k):
        slow = [Slow(f"{k}", block, wait(k)) for k, block in enumerate(blocks)]
        answers.append(scaled.factor(slow, 6, "spa", matrix="cooccurrence"))
    inline = scaled.factor(blocks, 6, "spa", matrix="cooccurrence", address="inline")
    for answer in answers:
        assert same_bytes(answer.F, inline.F) and same_bytes(answer.W, inline.W)
    assert inline.hott.tolist() == cooccurring.hott.tolist()
    assert np.allclose(inline.W, cooccurring.W, rtol=1e-12)


def test_the_order_of_hott_rows_does_not_depend_on_partitions():
    """Two terms that change places with the documents are equally far from the mean."""
    draw = np.random.default_rng(0)
    for seed in range(6):
        half = draw.random((40, 3))
        documents = np.concatenate([half, half[:, [1, 0, 2]][::-1]])
        for data in (documents, sp.csr_array(documents)):
            answers = [
                scaled.factor(pieces(data, count), 3, "minimax", seed=seed, address="inline")
                for count in (1, 3, 7)
            ]
            assert len({tuple(answer.hott) for answer in answers}) == 1
            assert len({answer.W.tobytes() for answer in answers if not sp.issparse(data)}) <= 1


@pytest.mark.parametrize("matrix", ["gram", "cooccurrence"])
def test_a_checkpoint_is_gone_on_from(counts, tmp_path, monkeypatch, matrix):
    documents = sp.csr_array(counts.X.T)
    settings = {"matrix": matrix, "address": "inline", "checkpoint": tmp_path / "kept"}
    whole = scaled.factor(documents, 6, "spa", **settings)
    (tmp_path / "kept" / "answer.npz").rename(tmp_path / "answer.npz")
    computed = _passes.pair_sums

    def must_not_run(*arguments, **more):
        raise AssertionError("the first pass ran again")

    monkeypatch.setattr(_passes, "pair_sums", must_not_run)
    again = scaled.factor(documents, 6, "spa", **settings)  # the driver died after the pass
    (tmp_path / "answer.npz").rename(tmp_path / "kept" / "answer.npz")
    (tmp_path / "kept" / "matrix.npy").unlink()
    third = scaled.factor(documents, 6, "spa", **settings)  # or after the choice
    for answer in (again, third):
        assert same_bytes(answer.F, whole.F) and same_bytes(answer.W, whole.W)
        assert answer.hott.tolist() == whole.hott.tolist()
        assert answer.error.mean_l1 == whole.error.mean_l1 and answer.notes == whole.notes
    monkeypatch.setattr(_passes, "pair_sums", computed)
    scaled.factor(documents, 6, "spa", **settings, threads=1, verbose=True)  # all the same
    for mistake in ({"rank": 301}, {"method": "other"}, {"candidate_df": 10**6}):
        asked = {"rank": 6, "method": "spa", **settings, "checkpoint": tmp_path / "new"}
        with pytest.raises(ValueError):
            scaled.factor(documents, **{**asked, **mistake})
        assert not (tmp_path / "new").exists(), "a mistake leaves no trace"
    most = np.ones(300, dtype=bool)
    most[150] = False  # where numpy writes dots when it prints
    for other in ({"min_df": 3}, {"seed": 1}, {"candidates": most}):
        with pytest.raises(ValueError, match="other documents or settings"):
            scaled.factor(documents, 6, "spa", **settings, **other)
    with pytest.raises(ValueError, match="other documents or settings"):
        scaled.factor(2 * documents, 6, "spa", **settings)
    with pytest.raises(ValueError, match="holds other things"):
        scaled.factor(documents, 6, **{**settings, "checkpoint": tmp_path})


def test_a_sketch_finds_the_same_topics():
    counts = hottopixx.generate(
        "multinomial", features=120, examples=2000, rank=6, tokens=60, seed=1
    )
    documents = sp.csr_array(counts.X.T)
    exact = scaled.factor(documents, 6, "spa", matrix="cooccurrence", address="inline")
    assert counts.recall(exact.hott) == 1.0
    for method in ("auto", "minimax"):
        effort = {"effort": "quick"} if method == "auto" else {}
        found = scaled.factor(
            documents, 6, method, matrix="cooccurrence", sketch=60, address="inline", **effort
        )
        assert counts.recall(found.hott) == 1.0
        assert "sketch" in found.notes[0] and "as large or larger" in found.notes[1]
    assert "bound of the certificate holds" in found.notes[2]
    # Errors on the sketch are below those on all columns, and its bound holds for both.
    q = hottopixx.cooccurrence(counts.X).toarray()
    measured = hottopixx.evaluate(q, found.hott)
    assert (found.error.per_row <= measured.error.per_row + 1e-12).all()
    assert found.certificate.lower_bound <= hottopixx.certify(q, 6, gap=0.05).certificate.objective
    all_of_it = scaled.factor(
        documents, 6, "minimax", matrix="cooccurrence", sketch=60, errors="all", address="inline"
    )
    assert same_bytes(all_of_it.F, measured.F)
    assert all_of_it.error.per_row.tolist() == measured.error.per_row.tolist()


def test_sketches_of_gram_matrices(pixels):
    found = scaled.factor(pixels.X.T, 5, sketch=40, address="inline")
    one = hottopixx.evaluate(pixels.X, found.hott)
    assert pixels.recall(found.hott) == 1.0 and same_bytes(found.F, one.F)
    rough = scaled.factor(pixels.X.T, 5, sketch=40, errors="sketch", min_df=1, address="inline")
    assert sorted(rough.hott) == sorted(found.hott) and rough.W.shape == (5, 40)
    # As many columns as terms, or more, are no sketch.
    counts = 1000 * pixels.X.T
    for matrix, width in (("gram", 600), ("cooccurrence", 90)):
        whole = scaled.factor(counts, 5, "spa", matrix=matrix, sketch=90, address="inline")
        exact = scaled.factor(counts, 5, "spa", matrix=matrix, address="inline")
        assert same_bytes(whole.W, exact.W) and whole.notes == exact.notes
        assert whole.W.shape == (5, width)


def test_a_sample_is_stated_and_drawn_by_the_seed(pixels):
    answers = [
        scaled.factor(pieces(pixels.X.T, count), 5, sample=200, seed=3, address="inline")
        for count in (1, 9)
    ]
    assert same_bytes(answers[0].F, answers[1].F) and same_bytes(answers[0].W, answers[1].W)
    assert "200 of 600 documents, drawn with seed 3" in answers[0].notes[1]
    chosen = np.random.default_rng(3).choice(600, 200, replace=False, shuffle=False)
    expected = hottopixx.evaluate(pixels.X[:, np.sort(chosen)], answers[0].hott)
    assert same_bytes(answers[0].F, expected.F)
    with pytest.raises(ValueError, match="600 documents"):
        scaled.factor(pixels.X.T, 5, sample=601, address="inline")
    rare = np.zeros((600, 3))
    rare[:, 0], rare[:300, 1], rare[-1, 2] = 1, 1, 1
    with pytest.raises(ValueError, match="term 2 was chosen, but the sample of 5 documents"):
        scaled.factor(rare, 3, "spa", sample=5, address="inline")


def test_rare_terms_are_set_aside(counts):
    documents, df = sp.csr_array(counts.X.T), np.diff(sp.csr_array(counts.X).indptr)
    kept = np.flatnonzero(df >= 60)
    assert 50 < len(kept) < 300
    one = hottopixx.factor(
        hottopixx.cooccurrence(sp.csr_array(counts.X)[kept]).toarray(),
        6,
        "spa",
        candidates=df[kept] >= 99,
    )
    found = scaled.factor(
        documents, 6, "spa", matrix="cooccurrence", min_df=60, candidate_df=99, address="inline"
    )
    assert found.hott.tolist() == kept[one.hott].tolist()
    assert found.F.shape == (300, 6) and found.W.shape == (6, 300)
    assert same_bytes(found.F[kept], one.F) and not np.delete(found.F, kept, axis=0).any()
    assert same_bytes(found.W[:, kept], one.W)
    # As many documents, or sampled documents, as terms are kept: columns of W all the same.
    count = len(kept)
    square = scaled.factor(
        documents[:count], 3, "spa", sample=count // 2, candidate_df=60, address="inline"
    )
    assert square.W.shape == (3, count // 2)
    some = scaled.factor(documents, 6, "spa", sample=count, min_df=60, address="inline")
    assert some.W.shape == (6, count)
    words = scaled.factor(
        documents[:count], 3, "spa", matrix="cooccurrence", min_df=1, address="inline"
    )
    assert words.W.shape == (3, 300)
    with pytest.raises(ValueError, match="lower min_df"):
        scaled.factor(documents, 6, min_df=10**6, address="inline")


def test_the_estimator(cluster, pixels, tmp_path):
    pytest.importorskip("sklearn")
    one = hottopixx.Hottopixx(5, method="spa").fit(pixels.X.T)
    there = hottopixx.Hottopixx(5, method="spa", ray_address="local").fit(pixels.X.T)
    assert there.hott_.tolist() == one.hott_.tolist()
    assert same_bytes(there.components_, one.components_)
    assert there.transform(pixels.X.T).shape == (600, 5)
    scaled.write(pixels.X.T, tmp_path, partition=100)
    there.feature_names_in_ = np.array(["old"] * 90, dtype=object)
    read = there.fit(tmp_path)
    assert not hasattr(read, "feature_names_in_")
    assert same_bytes(read.components_, one.components_) and read.n_features_in_ == 90


def test_the_division_keeps_to_the_memory(counts):
    frequency = np.diff(sp.csr_array(counts.X).indptr).astype(np.int64)
    work = frequency * 30
    given = {"dense": False, "width": 300, "slots": 2, "threads": 1}
    roomy = _plan.divide(800, frequency, work, limit=1 << 40, **given)
    assert len(roomy.cuts) == 5, "two shards for each slot"
    tight = _plan.divide(800, frequency, work, limit=roomy.worker_bytes - 300_000, **given)
    assert len(tight.cuts) > 5 and tight.worker_bytes <= roomy.worker_bytes - 300_000
    assert tight.cuts[0] == 0 and tight.cuts[-1] == 300
    with pytest.raises(ValueError, match="worker_memory is 1 MB"):
        _plan.divide(800, frequency, work, limit=10**6, strict=True, **given)
    assert _plan.block_documents(True, 1000) == 1 << 15
    assert list(_plan.overlaps([3, 4, 2], 2, 8)) == [(0, 2, 3), (1, 0, 4), (2, 0, 1)]


def test_inline_needs_no_ray(monkeypatch, pixels):
    monkeypatch.setattr(_engine, "need_ray", lambda: 1 / 0)
    monkeypatch.setattr(_factor, "cluster", lambda *a, **k: 1 / 0)
    assert len(scaled.factor(pixels.X.T, 5, address="inline").hott) == 5
    for wrong, message in (
        ({"matrix": "other"}, "choose 'gram'"),
        ({"sketch": 0}, "from 1"),
        ({"sketch": 10.0}, "whole number"),
        ({"seed": -1}, "from 0"),
        ({"seed": 2**64}, "2\\^64"),
        ({"worker_threads": 0}, "from 1"),
        ({"sketch": 9, "errors": "sketch", "sample": 9}, "one of them"),
        ({"errors": "sketch"}, "needs a sketch"),
        ({"names": ["a"]}, "1 names for 90 terms"),
    ):
        with pytest.raises(ValueError, match=message):
            scaled.factor(pixels.X.T, 5, address="inline", **wrong)
    one = scaled.factor(np.array([[1.0], [2.0]]), 1, address="inline")
    assert one.F.tolist() == [[1.0]] and one.W.tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="too large or too small"):
        scaled.factor(1e200 * pixels.X.T, 5, address="inline")
    with pytest.raises(TypeError, match="unknown option 'foo'"):
        scaled.factor(3, 5, address="inline", foo=1)
    with pytest.raises(TypeError, match="documents must be"):
        scaled.factor(3, 5, address="inline")
