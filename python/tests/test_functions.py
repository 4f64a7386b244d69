"""The functions, in the paper's orientation."""

import inspect
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hottopixx
from hottopixx import _native
from hottopixx._options import Cleaning, Effort, Method, Objective


@pytest.fixture(scope="module")
def instance():
    return hottopixx.generate("paper", features=24, examples=120, rank=3, duplicates=1, noise=0.3)


@pytest.mark.parametrize(
    "method", ["auto", "hottopixx", "minimax", "total", "gradient", "spa", "snpa", "xray"]
)
def test_every_method_finds_the_planted_rows(instance, method):
    answer = hottopixx.factor(instance.X, 3, method)
    assert instance.recall(answer.hott) == 1.0
    scaled = instance.X / instance.X.sum(axis=1, keepdims=True)
    fitted = (answer.F @ answer.W) / instance.X.sum(axis=1, keepdims=True)
    errors = np.abs(scaled - fitted).sum(axis=1)
    np.testing.assert_allclose(errors, answer.error.per_row, atol=1e-9)
    assert answer.error.inf1 == pytest.approx(errors.max())
    np.testing.assert_array_equal(answer.W, instance.X[answer.hott])
    assert (answer.certificate is not None) == (method in ("auto", "minimax", "total"))


def test_constraints_are_obeyed(instance):
    names = [f"g{i}" for i in range(24)]
    prices = np.arange(24) % 5 + 1.0
    asked = {
        "must": ["g5"],
        "never": [0, 1],
        "groups": {"even": (range(0, 24, 2), 1, 2), "last": (["g21", "g23"], 0, None)},
        "prices": prices,
        "budget": 9,
    }
    for method in ("spa", "gradient", "auto"):
        answer = hottopixx.factor(instance.X, 4, method, names=names, constraints=asked)
        chosen = set(answer.hott.tolist())
        assert 5 in chosen and not chosen & {0, 1}
        assert 1 <= len([i for i in chosen if i % 2 == 0]) <= 2
        assert prices[answer.hott].sum() <= 9
    assert any("obey the constraints" in note for note in answer.notes)
    for constraints, sentence in (
        ({"must": range(5)}, "5 rows must be chosen, but the rank is 4"),
        ({"must": [5], "never": [5]}, "row 5 must be chosen and must not"),
        ({"groups": {"all": (range(24), 0, 3)}}, "leave at most 3 rows"),
        ({"prices": prices}, "both prices and a budget"),
        ({"cheap": 1}, "has the key 'cheap'"),
        ({"groups": {"a": 3}}, r"give \(rows, least, most\)"),
        ({"must": ["g5"]}, "X has no names"),
    ):
        with pytest.raises(ValueError, match=sentence):
            hottopixx.factor(instance.X, 4, "spa", constraints=constraints)


def test_outliers_are_set_aside():
    instance = hottopixx.generate("outliers", features=60, examples=100, rank=4, seed=1)
    for asked in ("auto", len(instance.outliers)):
        answer = hottopixx.factor(instance.X, 4, outliers=asked, objective="max", effort="quick")
        assert answer.outliers.tolist() == list(instance.outliers)
        assert instance.recall(answer.hott) == 1.0
        assert (answer.error.per_row[answer.outliers] > answer.error.inf1).all()
    with pytest.raises(ValueError, match=r"outliers is 1\.5"):
        hottopixx.factor(instance.X, 4, outliers=1.5)


def test_rows_count_as_much_as_they_weigh(instance):
    weights = np.arange(24.0)
    answer = hottopixx.factor(instance.X, 2, effort="quick", weights=weights)
    expected = (answer.error.per_row * weights).sum() / weights.sum()
    assert answer.error.mean_l1 == pytest.approx(expected, abs=1e-12)
    assert answer.path().mean_l1[-1] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="weights has 3 entries, but there are 24 rows"):
        hottopixx.factor(instance.X, 2, weights=[1.0, 2.0, 3.0])


def test_methods_that_must_be_told(instance):
    tau = hottopixx.factor(instance.X, 3, "minimax").certificate.objective
    assert hottopixx.factor(instance.X, 3, "lp", tau=2 * tau).certificate.goal == "cost"
    with pytest.raises(ValueError, match="tau"):
        hottopixx.factor(instance.X, 3, "lp")
    with pytest.raises(hottopixx.InfeasibleError, match="tau"):
        hottopixx.factor(instance.X, 3, "lp", tau=1e-9)
    answer = hottopixx.factor(instance.X, 3, "agkm", epsilon=instance.epsilon, alpha=instance.alpha)
    assert len(answer.hott) == 3


def test_sparse_stays_sparse():
    instance = hottopixx.generate("multinomial", features=60, examples=300, rank=3, seed=2)
    assert sp.issparse(instance.X)
    dense = hottopixx.factor(instance.X.toarray(), 3, "spa")
    for given in (
        instance.X,
        instance.X.tocsc(),
        instance.X.tocoo(),
        sp.csr_matrix(instance.X),
        _with_long_indices(instance.X),
        _unsorted(instance.X),
    ):
        sparse = hottopixx.factor(given, 3, "spa")
        assert sp.issparse(sparse.F) and sp.issparse(sparse.W)
        assert sparse.hott.tolist() == dense.hott.tolist()
        np.testing.assert_allclose(sparse.F.toarray(), dense.F, atol=1e-9)


def _with_long_indices(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _unsorted(X):
    X = X.copy()
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[part] = X.indices[part][::-1].copy()
        X.data[part] = X.data[part][::-1].copy()
    X.has_sorted_indices = False
    return X


def test_arrays_as_they_come(instance):
    X = instance.X
    expected = hottopixx.spa(X, 3)
    frozen = X.copy()
    frozen.setflags(write=False)
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    misaligned = raw[1:].view(np.float64).reshape(X.shape)
    misaligned[:] = X
    assert not misaligned.flags.aligned
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    swapped = X.astype(">f8")
    for given in (frozen, misaligned, strided, swapped, np.asfortranarray(X), X.tolist()):
        answer = hottopixx.spa(given, 3)
        assert answer.hott.tolist() == expected.hott.tolist()
        np.testing.assert_array_equal(answer.F, expected.F)
    np.testing.assert_array_equal(X, instance.X)
    counts = np.arange(12).reshape(3, 4)
    assert hottopixx.spa(counts, 1).W.dtype == np.float64


def test_answers_do_not_keep_the_input_alive_or_change_with_it(instance):
    X = instance.X.copy()
    answer = hottopixx.spa(X, 3)
    before = answer.W.copy()
    X[:] = 0
    np.testing.assert_array_equal(answer.W, before)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[1.0, -2.0]], "row 0, column 1 is -2"),
        ([[1.0, float("nan")]], "row 0, column 1 is NaN"),
        ([[0.0, 0.0]], "zero"),
        ([1.0, 2.0], "X has 1 dimensions"),
        ([["a", "b"]], "X is not an array of numbers"),
        ([[1j, 2.0]], "X is complex"),
        (
            "X.npy",
            r"X is 'X\.npy', not a matrix: read the file, hottopixx\.read\('X\.npy'\)\.matrix",
        ),
        (Path("X.npy"), r"X is 'X\.npy', not a matrix"),
        (np.zeros((0, 3)), "0 x 3|empty|no rows"),
    ],
)
def test_says_what_is_wrong_with_the_data(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        hottopixx.factor(X, 1)


def test_names_are_those_of_the_library():
    assert list(get_args(Method)) == _native.METHODS
    assert list(get_args(Objective)) == _native.OBJECTIVES
    assert list(get_args(Effort)) == _native.EFFORTS
    assert list(get_args(Cleaning)) == _native.CLEANINGS


def test_says_what_is_wrong_with_settings(instance):
    X = instance.X
    with pytest.raises(TypeError, match="unknown option 'epoch'"):
        hottopixx.factor(X, 3, epoch=3)
    with pytest.raises(ValueError, match=r"cleaning = soap .* choose one of auto, exact"):
        hottopixx.factor(X, 3, cleaning="soap")
    for name in ("seed", "threads", "epochs", "memory"):
        with pytest.raises(ValueError, match=f"{name} is -1"):
            hottopixx.factor(X, 3, **{name: -1})
    with pytest.raises(ValueError, match="rank"):
        hottopixx.factor(X, 25)
    with pytest.raises(ValueError, match="rank is -1"):
        hottopixx.factor(X, -1)
    with pytest.raises(ValueError, match=r"rank is 4\.5: give a whole number, or .auto."):
        hottopixx.factor(X, 4.5)
    with pytest.raises(ValueError, match="rank is 'many': give a whole number"):
        hottopixx.factor(X, "many")
    with pytest.raises(TypeError, match="random_state and seed are the same"):
        hottopixx.factor(X, 3, seed=1, random_state=1)
    with pytest.raises(ValueError, match="candidates names a row twice"):
        hottopixx.factor(X, 1, candidates=[0, 1, 0, 1])
    with pytest.raises(ValueError, match="candidates has row 24, but X has 24 rows"):
        hottopixx.factor(X, 1, candidates=[3, 24])
    with pytest.raises(ValueError, match="max_seconds is -1"):
        hottopixx.factor(X, 3, max_seconds=-1)
    with pytest.raises(ValueError, match="2 names for 24 rows"):
        hottopixx.factor(X, 3, names=["a", "b"])
    with pytest.raises(ValueError, match="row -1 cannot be hott"):
        hottopixx.evaluate(X, [-1])
    with pytest.raises(ValueError, match="either rank or hott"):
        hottopixx.certify(X)
    with pytest.raises(ValueError, match="choose minimax, total or lp"):
        hottopixx.certify(X, 3, method="spa")


def test_the_same_sentences_as_the_command_line(tmp_path):
    # The one that the test command has just built.
    program = shutil.which("hottopixx", path="target/debug")
    if program is None:
        pytest.skip("the command line is not built")
    X = np.ones((2, 3))
    np.save(tmp_path / "X.npy", X)
    for rank, method in [(5, "auto"), (0, "spa"), (1, "lp"), (1, "agkm")]:
        command = [program, "factor", tmp_path / "X.npy", "--rank", str(rank), "--method", method]
        run = subprocess.run(command, capture_output=True, text=True)
        with pytest.raises(ValueError) as raised:
            hottopixx.factor(X, rank, method)
        assert run.stderr.strip().endswith(str(raised.value))


def test_evaluate_gives_the_errors_of_any_choice(instance):
    chosen = hottopixx.factor(instance.X, 3)
    again = hottopixx.evaluate(instance.X, chosen.hott)
    assert again.error.inf1 == pytest.approx(chosen.error.inf1)
    other = [i for i in range(24) if i not in np.concatenate(instance.groups)][:3]
    assert hottopixx.evaluate(instance.X, other).error.mean_l1 > chosen.error.mean_l1


def test_certify_proves_a_bound(instance):
    found = hottopixx.certify(instance.X, 3)
    assert found.verified and found.refusal is None
    assert found.certificate.lower_bound <= found.bounded_inf1
    assert found.independent_bound == pytest.approx(found.certificate.lower_bound, rel=1e-3)
    assert "verified" in repr(found) and "verified" in found._repr_html_()
    assert "largest error, weights up to 1," in repr(found)
    given = hottopixx.certify(instance.X, hott=found.answer.hott)
    assert given.certificate.lower_bound == pytest.approx(found.certificate.lower_bound, rel=1e-3)


def test_compare_runs_everything(instance):
    table = hottopixx.compare(instance.X, 3)
    assert table.answers.keys() == table.seconds.keys() == table.ratio.keys()
    assert min(table.ratio.values()) == 1.0 and table.agreement["auto"] == 3
    assert set(table.skipped) == {"lp", "agkm"}
    assert "hottopixx" in repr(table) and "<table>" in table._repr_html_()


def test_squish_and_l1_fit_on_known_answers():
    assert hottopixx.squish([0.2, 0.8, 0.5, 0.1]).tolist() == [0.5, 0.5, 0.5, 0.1]
    assert hottopixx.squish([[0.9, 0.8], [-0.1, 0.2]]).tolist() == [[0.9, 0.5], [0.0, 0.5]]
    with pytest.raises(ValueError, match="square"):
        hottopixx.squish(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="diagonal is 4"):
        hottopixx.squish([0.0, 0.0], diagonal=4)
    random = np.random.default_rng(0)
    for _ in range(20):
        A, x = random.random((3, 9)), random.random(9)
        fit = hottopixx.l1_fit(A, x, upper=[0.5, 1.0, 2.0])
        assert fit.optimal and (fit.weights >= 0).all() and (fit.weights <= [0.5, 1, 2]).all()
        assert np.abs(x - fit.weights @ A).sum() == pytest.approx(fit.value)
        assert fit.lower_bound == pytest.approx(fit.value, rel=1e-8)
        bound = fit.dual @ x - np.maximum(A @ fit.dual, 0) @ [0.5, 1, 2]
        assert bound == pytest.approx(fit.lower_bound, abs=1e-8)


def test_names_are_shown_and_escaped(instance):
    names = [f"<script>{i}</script>" for i in range(24)]
    frame = pd.DataFrame(instance.X, index=names)
    answer = hottopixx.factor(frame, 3)
    assert answer.hott_names == [names[i] for i in answer.hott]
    assert "<script>" in repr(answer)
    page = answer._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_rows_are_given_by_name(instance):
    frame = pd.DataFrame(instance.X, index=[f"w{i}" for i in range(24)])
    by_name = hottopixx.evaluate(frame, ["w3", "w7"])
    assert by_name.hott.tolist() == [3, 7]
    assert hottopixx.certify(frame, hott=["w3", "w7"]).answer.hott_names == ["w3", "w7"]
    few = hottopixx.factor(frame, 2, candidates=["w1", "w2", "w3"])
    assert set(few.hott_names) <= {"w1", "w2", "w3"}
    with pytest.raises(ValueError, match="hott has the name 'w3', but X has no names"):
        hottopixx.evaluate(instance.X, ["w3"])
    with pytest.raises(ValueError, match="hott has 'x', which names several rows"):
        hottopixx.evaluate(instance.X, ["x"], names=["x"] * 24)


def test_signatures_are_shown_in_full():
    for function in (hottopixx.factor, hottopixx.spa, hottopixx.certify, hottopixx.compare):
        shown = inspect.signature(function).parameters
        assert shown["effort"].default == "normal" and shown["max_seconds"].default is None
        assert "options" not in shown
        assert "ForwardRef" not in str(inspect.signature(function))


def test_one_vocabulary(instance):
    one = hottopixx.factor(instance.X, 3, "hottopixx", seed=5, threads=1)
    other = hottopixx.factor(instance.X, 3, "hottopixx", random_state=5, n_jobs=1)
    np.testing.assert_array_equal(one.F, other.F)
    assert one.seed == other.seed == 5
    assert hottopixx.factor(instance.X, 3, "spa", seed=10**30).hott.size == 3


def test_generate_is_fixed_by_its_seed():
    one = hottopixx.generate("paper", features=20, examples=30, rank=3, noise=0.95, seed=7)
    other = hottopixx.generate("paper", features=20, examples=30, rank=3, noise=0.95, seed=7)
    np.testing.assert_array_equal(one.X, other.X)
    with pytest.raises(ValueError, match="family = nonsense is not possible: choose one of paper"):
        hottopixx.generate("nonsense", rank=3)
    with pytest.raises(ValueError, match="cannot generate paper"):
        hottopixx.generate("paper", features=2, examples=3, rank=5)
    assert repr(one).endswith("hott " + ", ".join(map(str, one.hott)))


def test_settings_that_a_method_does_not_use_are_refused():
    X = hottopixx.generate("paper", features=12, examples=40, rank=3).X
    with pytest.raises(ValueError, match=r"tau = 0\.1 .* the method spa does not use it.* lp"):
        hottopixx.factor(X, 3, "spa", tau=0.1)
    with pytest.raises(ValueError, match=r"epochs = 7 .* minimax does not use it.* hottopixx"):
        hottopixx.factor(X, 3, "minimax", epochs=7)


def test_missing_values_are_left_out():
    instance = hottopixx.generate("paper", features=40, examples=60, rank=3, noise=0.0, seed=2)
    X = np.array(instance.X)
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    holed = np.where(gaps, np.nan, X)
    with pytest.raises(ValueError, match="missing = observed"):
        hottopixx.factor(holed, 3)
    answer = hottopixx.factor(holed, 3, missing="observed", effort="quick")
    assert instance.recall(answer.hott) == 1.0
    assert answer.error.mean_l1 < 1e-3
    assert np.array_equal(answer.completed[~gaps], X[~gaps])
    assert np.abs(answer.completed - X)[gaps].sum() < 0.01 * X[gaps].sum()
    assert np.array_equal(answer.W, answer.completed[answer.hott])
    assert "were not observed" in answer.notes[0]
    masked = np.ma.masked_array(X, mask=gaps)
    again = hottopixx.factor(masked, 3, missing="observed", effort="quick")
    assert np.array_equal(again.F, answer.F)
    applied = answer.apply(holed, missing="observed")
    assert abs(applied.error.mean_l1 - answer.error.mean_l1) < 1e-9
    assert len(answer.path().points) == 3
    assert hottopixx.factor(X, 3, missing="observed", method="spa").completed is None
    with pytest.raises(ValueError, match="the method minimax is about all entries"):
        hottopixx.factor(holed, 3, "minimax", missing="observed")


def test_answers_with_missing_values_are_saved_whole(tmp_path):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, np.nan], [1.0, 1.0, 3.0], [2.0, np.nan, 5.0]])
    answer = hottopixx.factor(X, 2, missing="observed")
    answer.save(tmp_path / "answer.hott")
    loaded = hottopixx.load(tmp_path / "answer.hott")
    assert np.array_equal(loaded.completed, answer.completed)
    answer.report(tmp_path / "page.html")
    assert "were not observed" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_entries_that_are_held_out_tell_the_rank(instance):
    found = hottopixx.held_out(instance.X, 6)
    assert found.suggested == 3 and len(found.errors) == 6 and found.stop == "finished"
    assert "held out (10 %)" in found.reason
    sparse = hottopixx.held_out(sp.csr_array(instance.X), 6)
    assert sparse.suggested == 3 and sparse.errors == pytest.approx(found.errors)
    with pytest.raises(ValueError, match=r"above 0 and at most 0\.5"):
        hottopixx.held_out(instance.X, 6, share=0.9)
