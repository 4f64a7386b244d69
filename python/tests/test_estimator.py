"""The estimator as a part of scikit-learn."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hottopixx
from hottopixx import Hottopixx, HottSamples, HottTopics
from hottopixx._arrays import dense
from hottopixx._options import seed_number


@parametrize_with_checks(
    [
        Hottopixx(),
        Hottopixx(method="spa"),
        Hottopixx(method="hottopixx", epochs=10),
        Hottopixx(method="minimax"),
        Hottopixx(output="loadings", effort="quick"),
    ]
)
def test_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def instance():
    return hottopixx.generate("paper", features=30, examples=200, rank=4, noise=0.5, seed=3)


def containers(X):
    """The same samples x features in every container that is accepted."""
    yield "C", np.ascontiguousarray(X)
    yield "F", np.asfortranarray(X)
    yield "list", X.tolist()
    yield "frame", pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix):
        yield kind.__name__, kind(X)


def test_every_container_gives_the_same_answer(instance):
    X = instance.X.T
    expected = Hottopixx(4, effort="quick").fit(X)
    assert instance.recall(expected.hott_) == 1.0
    for name, given in containers(X):
        model = Hottopixx(4, effort="quick").fit(given)
        assert model.hott_.tolist() == expected.hott_.tolist(), name
        np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9)
        chosen = model.transform(given)
        chosen = chosen.toarray() if sp.issparse(chosen) else np.asarray(chosen)
        np.testing.assert_array_equal(chosen, X[:, model.hott_])


def test_float32_is_close_to_float64_and_stays_float32(instance):
    X = instance.X.T
    one, other = Hottopixx(4).fit(X), Hottopixx(4).fit(X.astype(np.float32))
    assert one.hott_.tolist() == other.hott_.tolist()
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-4)
    assert other.components_.dtype == np.float32
    assert other.transform(X.astype(np.float32)).dtype == np.float32


def test_attributes_belong_together(instance):
    X = instance.X.T
    model = Hottopixx(4, random_state=0).fit(X)
    assert model.n_components_ == len(model.hott_) == len(model.groups_) == len(model.weights_) == 4
    assert model.get_support(indices=True).tolist() == model.hott_.tolist()
    assert all(h in group for h, group in zip(model.hott_, model.groups_, strict=True))
    np.testing.assert_allclose(model.components_[:, model.hott_], np.eye(4), atol=1e-12)
    explained = model.inverse_transform(model.transform(X))
    sums = X.sum(axis=0)
    errors = np.abs(X - explained).sum(axis=0) / sums
    assert errors.mean() == pytest.approx(model.reconstruction_err_, rel=1e-9)
    kept = np.where(model.get_support(), 1.0, errors)
    assert model.score(X) == pytest.approx(-kept.mean(), rel=1e-9)
    assert model.score(sp.csr_array(X)) == pytest.approx(model.score(X))
    assert errors.max() == pytest.approx(model.result_.error.inf1)


def test_names_come_out(instance):
    frame = pd.DataFrame(instance.X.T, columns=[f"word{j}" for j in range(30)])
    model = Hottopixx(4).set_output(transform="pandas").fit(frame)
    names = [f"word{j}" for j in model.hott_]
    assert model.get_feature_names_out().tolist() == names
    assert list(model.transform(frame).columns) == names
    assert sorted(model.result_.hott_names) == sorted(names)


def test_works_in_pipelines_and_searches(instance):
    X = instance.X.T
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    select = Hottopixx(effort="quick")
    pipeline = make_pipeline(MinMaxScaler(), select, LogisticRegression())
    search = GridSearchCV(pipeline, {"hottopixx__n_components": [2, 4]}, cv=3).fit(X, y)
    assert search.best_params_["hottopixx__n_components"] in (2, 4)


def test_searches_lead_to_the_planted_rank(instance):
    X = instance.X.T
    grid = {"n_components": [2, 3, 4, 5, 8, 15]}
    search = GridSearchCV(Hottopixx(effort="quick"), grid, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 4}
    model = Hottopixx("auto").fit(X)
    assert model.n_components_ == 4 and instance.recall(model.hott_) == 1.0
    assert Hottopixx(8, effort="quick").fit(X).path().suggested == 4


def test_copies_of_a_model(instance):
    X = instance.X.T
    model = Hottopixx(4, method="minimax").fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.certificate_ == model.certificate_ and again.certificate_.status == "optimal"
    assert clone(model).get_params() == model.get_params()


def test_the_answer_does_not_depend_on_threads(instance):
    X = instance.X.T
    models = [
        Hottopixx(4, method="hottopixx", epochs=10, n_jobs=jobs).fit(X)
        for jobs in (1, 2, -1, -2, None)
    ]
    for model in models:
        np.testing.assert_array_equal(model.components_, models[0].components_)


def test_a_seed_may_be_a_number_a_state_or_nothing():
    assert seed_number(None) == 0 and seed_number(7) == 7 and seed_number(np.int64(7)) == 7
    for state in (np.random.RandomState, np.random.default_rng):
        drawn = [seed_number(state(7)) for _ in range(2)]
        assert drawn[0] == drawn[1] != seed_number(state(8))
    large = [seed_number(n) for n in (2**64 - 1, 2**64, 2**64 + 1, 10**100)]
    assert large[0] == 2**64 - 1 and len(set(large)) == 4 and max(large) < 2**64
    with pytest.raises(ValueError, match=r"seed is 4\.5: give a whole number"):
        seed_number(4.5)
    with pytest.raises(ValueError, match="random_state is -3: it must not be negative"):
        Hottopixx(1, random_state=-3).fit(np.eye(3) + 1)


def test_says_what_is_wrong(instance):
    X = instance.X.T
    with pytest.raises(NotFittedError):
        Hottopixx().transform(X)
    with pytest.raises(NotFittedError):
        Hottopixx().inverse_transform(X)
    with pytest.raises(ValueError, match="Negative values in data passed to Hottopixx"):
        Hottopixx().fit(-X)
    with pytest.raises(ValueError, match="n_components=31 must be between 1 and n_features=30"):
        Hottopixx(31).fit(X)
    with pytest.raises(ValueError, match=r"n_components is 4\.5: give a whole number, or .auto."):
        Hottopixx(4.5).fit(X)
    with pytest.raises(ValueError, match="output is 'both': choose one of selected, loadings"):
        Hottopixx(output="both").fit(X)
    with pytest.raises(ValueError, match=r"n_jobs is 1\.5"):
        Hottopixx(n_jobs=1.5).fit(X)
    with pytest.raises(ValueError, match=r"method = magic .* choose one of auto, hottopixx"):
        Hottopixx(method="magic").fit(X)
    with pytest.raises(ValueError, match="n_jobs is 0"):
        Hottopixx(n_jobs=0).fit(X)
    with pytest.raises(ValueError, match="X has 3 columns, but 4 features were chosen"):
        Hottopixx(4).fit(X).inverse_transform(X[:, :3])


def test_zero_features_are_never_chosen():
    X = np.zeros((6, 5))
    X[:, 1], X[:, 3] = [1, 0, 2, 0, 1, 0], [0, 1, 0, 1, 0, 1]
    model = Hottopixx().fit(X)
    assert model.hott_.tolist() == [1, 3]


def test_speaks_of_features_never_of_rows(capfd):
    X = np.zeros((6, 5))
    X[:, 1], X[:, 3] = [1, 0, 2, 0, 1, 0], [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError) as raised:
        Hottopixx(3).fit(X)
    assert "feature" in str(raised.value) and "row" not in str(raised.value)
    model = Hottopixx("auto", method="spa", verbose=1).fit(X)
    said = f"{model}{model.result_.notes}{model.path()}{capfd.readouterr().err}"
    assert "row" not in said.replace("rows of this page", "")


def test_weights_of_samples_are_repetitions(instance):
    X = instance.X.T[:60]
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighed = Hottopixx(4).fit(X, sample_weight=weights)
    repeated = Hottopixx(4).fit(X.repeat(weights, axis=0))
    assert weighed.hott_.tolist() == repeated.hott_.tolist()
    np.testing.assert_allclose(weighed.components_, repeated.components_, atol=1e-9)
    assert weighed.reconstruction_err_ == pytest.approx(repeated.reconstruction_err_)
    scores = weighed.score(X, sample_weight=weights), repeated.score(X.repeat(weights, axis=0))
    assert scores[0] == pytest.approx(scores[1])
    np.testing.assert_array_equal(weighed.result_.W, X[:, weighed.result_.hott].T)
    sparse = Hottopixx(4).fit(sp.csr_array(X), sample_weight=weights)
    assert sparse.hott_.tolist() == weighed.hott_.tolist()


@pytest.mark.parametrize("method", ["spa", "snpa", "xray", "gradient", "hottopixx"])
def test_weights_are_repetitions_for_every_method(method):
    random = np.random.default_rng(5)
    X = random.random((14, 25)) ** 3
    weights = random.integers(0, 6, len(X))
    shuffled = random.permutation(len(X))
    # Algorithm 4 keeps dense and sparse samples in ways of its own: each is compared with its like.
    for kind in (np.asarray, sp.coo_array, sp.csr_matrix):
        repeated = Hottopixx(4, method=method).fit(kind(X.repeat(weights, axis=0)))
        weighed = Hottopixx(4, method=method).fit(kind(X[shuffled]), None, weights[shuffled])
        assert weighed.hott_.tolist() == repeated.hott_.tolist()
        np.testing.assert_allclose(weighed.components_, repeated.components_, atol=1e-9)
        chosen = X[shuffled][:, weighed.result_.hott].T
        np.testing.assert_array_equal(dense(weighed.result_.W), chosen)
    once = Hottopixx(4, method=method).fit(X, sample_weight=np.ones(len(X)))
    assert once.hott_.tolist() == Hottopixx(4, method=method).fit(X).hott_.tolist()


def test_loadings_use_every_feature(instance):
    X = instance.X.T
    model = Hottopixx(4, output="loadings").fit(X[:150])
    Z = model.transform(X[150:])
    assert Z.shape == (50, 4) and (Z >= 0).all()

    def error(Z):
        return np.abs(X[150:] - model.inverse_transform(Z)).sum(axis=1)

    # No other nonnegative mixture of the components is nearer, least of all the columns alone.
    assert (error(Z) <= error(X[150:][:, model.hott_]) + 1e-9).all()
    for row, z in zip(X[150:153], Z, strict=False):
        best = hottopixx.l1_fit(model.components_, row).value
        assert np.abs(row - z @ model.components_).sum() == pytest.approx(best, rel=1e-9)
    sparse = model.transform(sp.csr_array(X[150:]))
    np.testing.assert_allclose(error(sparse), error(Z), rtol=1e-7)


def test_candidates_may_be_names_or_numbers(instance):
    X = instance.X.T
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(30)])
    chosen = Hottopixx(2, candidates=["f3", "f7", "f9"], method="spa").fit(frame)
    assert set(chosen.hott_) <= {3, 7, 9}
    assert Hottopixx(2, candidates=[3, 7, 9], method="spa").fit(X).hott_.tolist() == (
        chosen.hott_.tolist()
    )
    with pytest.raises(ValueError, match="candidates has 'f99', which is none of the names"):
        Hottopixx(2, candidates=["f99"]).fit(frame)


def test_a_limit_is_a_convergence_warning():
    X = hottopixx.generate("paper", features=300, examples=3000, rank=20, noise=2.0).X.T
    with pytest.warns(ConvergenceWarning, match="raise max_seconds"):
        model = Hottopixx(20, method="hottopixx", epochs=100_000, max_seconds=0.3).fit(X)
    assert model.result_.stop != "finished"


def test_features_may_have_missing_values():
    instance = hottopixx.generate("paper", features=30, examples=50, rank=3, noise=0.0)
    X = np.array(instance.X).T
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    with pytest.raises(ValueError, match='contains NaN: missing="observed" takes'):
        Hottopixx(3).fit(holed)
    model = Hottopixx(3, missing="observed", effort="quick").fit(holed)
    assert instance.recall(model.hott_) == 1.0
    assert model.result_.completed.shape == (30, 50)
    np.testing.assert_array_equal(model.transform(holed), holed[:, model.hott_])
    with pytest.raises(ValueError, match="sample_weight does not go with missing"):
        model.fit(holed, sample_weight=np.ones(50))
    with pytest.raises(ValueError, match="NaN"):
        model.score(holed)


def test_text_is_told_where_to_go():
    texts = ["the first text", "the second one"]
    with pytest.raises(ValueError, match=r"X holds text where .* hottopixx\.HottTopics"):
        Hottopixx(1).fit(texts)
    table = pd.DataFrame({"review": texts, "a": [1.0, 2.0], "b": ["3", "4"]})
    with pytest.raises(ValueError, match=r"the column holds text: review\. Leave out"):
        Hottopixx(1).fit(table)


@pytest.mark.parametrize("estimator", [Hottopixx, HottSamples, HottTopics])
def test_what_is_no_matrix_of_numbers_gets_a_remedy(estimator):
    def refused(sentence, X):
        with pytest.raises(ValueError, match=sentence):
            estimator(1).fit(X)

    when = pd.date_range("2020", periods=3)
    others = pd.to_timedelta([1, 2, 3], "h"), when.tz_localize("UTC"), when.to_period("D")
    for times in (when, when.date, *others):
        table = pd.DataFrame({"a": [1, 2, 3], "when": times})
        refused(r"the column holds dates or times: when\. Leave out .*\['when'\]\)$", table)
    refused("the column holds dates or times: when", table[["when"]])  # would pass as numbers
    refused("the column holds dates or times: when", pl.DataFrame({"when": list(when)}))
    refused("X holds dates or times", when.to_numpy()[:, None])
    refused("two columns are called 'a': rename one", pd.DataFrame(np.eye(2), columns=["a", "a"]))
    for X in (np.eye(3), sp.eye_array(3, format="csr")):
        X[1, 1] = np.inf
        refused("X contains infinity, .*: replace such entries, or drop", X)
    path = Path("X.npy")
    if estimator is HottTopics:
        return refused("X is a path: give a list of documents", path)
    for X in (path, str(path)):
        refused(r"X is 'X\.npy', not a matrix: .* hottopixx\.read\('X\.npy'\)", X)


def test_sizes_of_features_are_in_units_of_their_own(instance):
    X = instance.X.T
    scale = np.geomspace(1.0, 1e6, X.shape[1])
    first, other = (Hottopixx(4).fit(data) for data in (X, X * scale))
    assert first.hott_.tolist() == other.hott_.tolist()
    for k in range(4):
        members = [[name for name, _ in model.members(k, 30)] for model in (first, other)]
        assert members[0] == members[1]
