"""The estimator that chooses samples."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hottopixx
from hottopixx import AdviceWarning, HottSamples


@parametrize_with_checks(
    [
        HottSamples(effort="quick"),
        HottSamples(method="spa", abundances="sum-to-one"),
        HottSamples(method="hottopixx"),
        HottSamples(2, method="unmix", smooth=True, abundances="shares"),
    ]
)
def test_is_an_estimator(estimator, check):
    check(estimator)


def planted(noise=0.0, seed=0):
    """A cube of 8 x 10 pixels and 30 bands: mixtures of three, whose pure pixels are 3, 41, 77."""
    random = np.random.default_rng(seed)
    spectra = 0.2 + random.random((3, 30))
    shares = random.dirichlet([1.0, 1.0, 1.0], 80)
    shares[[3, 41, 77]] = np.eye(3)
    pixels = shares @ spectra + noise * random.random((80, 30))
    return pixels.reshape(8, 10, 30), shares


def test_pure_pixels_of_a_cube():
    cube, shares = planted()
    model = HottSamples(3, abundances="sum-to-one").fit(cube)
    assert model.sample_indices_.tolist() == [3, 41, 77] and model.image_shape_ == (8, 10)
    np.testing.assert_array_equal(model.components_, cube.reshape(80, 30)[[3, 41, 77]])
    found = model.transform(cube)
    np.testing.assert_allclose(found, shares, atol=1e-9)
    np.testing.assert_array_equal(model.maps_(), found.reshape(8, 10, 3))
    np.testing.assert_array_equal(model.maps_(cube[:4]), found[:40].reshape(4, 10, 3))
    np.testing.assert_allclose(model.inverse_transform(found).reshape(8, 10, 30), cube, atol=1e-9)
    assert model.reconstruction_err_ == pytest.approx(0, abs=1e-12)
    assert all(i in group for i, group in zip([3, 41, 77], model.groups_, strict=True))
    assert HottSamples("auto").fit(cube).sample_indices_.tolist() == [3, 41, 77]


def test_free_weights_are_the_best_in_l1():
    cube, _ = planted(0.1)
    shadow = np.linspace(0.2, 1, 80)[:, None]
    X = cube.reshape(80, 30) * shadow
    model = HottSamples(3, effort="quick").fit(X)
    found = model.transform(X)
    for x, weights in list(zip(X, found, strict=True))[::20]:
        best = hottopixx.l1_fit(model.components_, x).value
        assert np.abs(x - weights @ model.components_).sum() == pytest.approx(best, abs=1e-9)


def test_shares_are_the_best_that_sum_to_one():
    cube, _ = planted(0.3)
    X = cube.reshape(80, 30) * np.linspace(0.3, 1.5, 80)[:, None]
    model = HottSamples(3, method="spa", abundances="sum-to-one").fit(X)
    found = model.transform(X)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert (found >= 0).all()
    k, n = model.components_.shape
    for x, shares in list(zip(X, found, strict=True))[::16]:
        # min sum t with -t <= x - a W <= t, a >= 0, sum a = 1.
        A = np.block([[model.components_.T, -np.eye(n)], [-model.components_.T, -np.eye(n)]])
        best = linprog(
            np.r_[np.zeros(k), np.ones(n)],
            A_ub=A,
            b_ub=np.r_[x, -x],
            A_eq=np.r_[np.ones(k), np.zeros(n)][None],
            b_eq=[1.0],
        )
        assert np.abs(x - shares @ model.components_).sum() == pytest.approx(best.fun, rel=1e-7)


def test_scenes_are_unmixed_with_outliers_set_aside(tmp_path):
    random = np.random.default_rng(1)
    bands = np.linspace(0, 1, 40)
    spectra = 0.3 + np.exp(-(((bands - np.array([[0.15], [0.5], [0.85]])) / 0.12) ** 2))
    shares = random.dirichlet([0.4, 0.4, 0.4], 400)
    shares[:60] = np.repeat(np.eye(3), 20, axis=0)
    pixels = shares @ spectra + 0.01 * random.standard_normal((400, 40))
    pixels = pixels.clip(min=0)
    pixels[123] = 0.01
    pixels[123, 7] = 5.0  # a dead pixel, as extreme as any
    model = HottSamples(3, method="unmix").fit(pixels.reshape(20, 20, 40))
    assert 123 in model.outliers_
    nearest = np.abs(model.components_[:, None] - spectra).mean(axis=2).argmin(axis=1)
    assert sorted(nearest) == [0, 1, 2]
    np.testing.assert_array_equal(model.components_, pixels[model.sample_indices_])
    assert all(i in group for i, group in zip(model.sample_indices_, model.groups_, strict=True))
    smooth = HottSamples(3, method="unmix", smooth=True, abundances="shares")
    smooth.fit(pixels.reshape(20, 20, 40))
    np.testing.assert_array_equal(smooth.components_, model.spectra_)
    pytest.importorskip("matplotlib").use("Agg")
    axes = smooth.plot.spectra()
    drawn = [line.get_ydata() for line in axes.lines]
    np.testing.assert_array_equal(drawn, smooth.components_)
    labels = [line.get_label() for line in axes.lines]
    assert labels == [f"sample {i}" for i in smooth.sample_indices_]
    truth = spectra[nearest]
    assert np.abs(smooth.components_ - truth).mean() < np.abs(model.components_ - truth).mean()
    found = smooth.transform(pixels)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - shares[:, nearest])[np.arange(400) != 123].mean() < 0.05
    smooth.save(tmp_path / "model.hott")
    again = hottopixx.load(tmp_path / "model.hott")
    np.testing.assert_array_equal(again.transform(pixels), found)
    assert again.outliers_.tolist() == smooth.outliers_.tolist()
    assert 123 in HottSamples(3, method="unmix").fit(pixels).outliers_
    with pytest.warns(AdviceWarning, match="3 materials are more than the 2 bands can tell apart"):
        HottSamples(3, method="unmix").fit(pixels[:, :2])
    with pytest.raises(ValueError, match='smooth goes with method="unmix"'):
        HottSamples(3, smooth=True).fit(pixels)
    with pytest.raises(ValueError, match="do not go with method"):
        HottSamples(3, method="unmix", objective="max").fit(pixels)


def test_sparse_frames_and_new_data():
    cube, _ = planted()
    X = cube.reshape(80, 30)
    X = X * (X > 0.5)
    names = [f"p{i}" for i in range(80)]
    frame = pd.DataFrame(X, index=names, columns=[f"b{j}" for j in range(30)])
    model = HottSamples(3, method="spa").set_output(transform="pandas").fit(frame)
    chosen = [names[i] for i in model.sample_indices_]
    assert model.get_feature_names_out().tolist() == chosen
    assert list(model.transform(frame).columns) == chosen
    sparse = HottSamples(3, method="spa").fit(sp.csr_array(X))
    assert sparse.sample_indices_.tolist() == model.sample_indices_.tolist()
    errors = [
        np.abs(X - m.inverse_transform(np.asarray(m.transform(given)))).sum()
        for m, given in ((sparse, sp.csr_array(X)), (model, frame))
    ]
    assert errors[0] == pytest.approx(errors[1])
    one = model.transform(frame.iloc[:1])
    np.testing.assert_allclose(one, model.transform(frame)[:1])


def test_a_part_of_a_pipeline():
    cube, _ = planted()
    pipeline = make_pipeline(MaxAbsScaler(), HottSamples(3, method="spa"))
    assert pipeline.fit_transform(cube.reshape(80, 30)).shape == (80, 3)


def test_says_what_is_wrong():
    cube, _ = planted()
    with pytest.raises(NotFittedError):
        HottSamples().maps_()
    with pytest.raises(ValueError, match="n_components=81 must be between 1 and n_samples=80"):
        HottSamples(81).fit(cube)
    with pytest.raises(
        ValueError, match="abundances is 'half': choose one of free, shares, sum-to-one"
    ):
        HottSamples(abundances="half").fit(cube)
    with pytest.raises(ValueError, match="Negative values in data passed to HottSamples"):
        HottSamples().fit(-cube)
    with pytest.raises(ValueError, match="X has 4 dimensions: give samples x features, or height"):
        HottSamples().fit(cube[None])
    model = HottSamples(3, method="spa").fit(cube.reshape(80, 30))
    with pytest.raises(ValueError, match=r"give shape=\(height, width\)"):
        model.maps_()
    with pytest.raises(ValueError, match=r"shape \(9, 9\) does not hold 80 pixels"):
        model.maps_(shape=(9, 9))
    assert model.maps_((8, 10)).shape == model.maps_(shape=(8, 10)).shape == (8, 10, 3)
    assert model.maps_((4, 10), cube[:4].reshape(40, 30)).shape == (4, 10, 3)
    with pytest.raises(ValueError, match="the data were no cube"):
        model.plot.maps()
    with pytest.raises(ValueError, match="X has 2 columns, but 3 samples were chosen"):
        model.inverse_transform(np.ones((4, 2)))
    X = np.zeros((6, 4))
    X[1], X[2] = 1, [1, 0, 0, 0]
    with pytest.raises(ValueError) as raised:
        HottSamples(3).fit(X)
    assert "sample" in str(raised.value) and "row" not in str(raised.value)


def test_pixels_may_miss_bands():
    cube, shares = planted()
    pixels = cube.reshape(80, 30)
    gaps = np.random.default_rng(1).random(pixels.shape) < 0.2
    holed = np.where(gaps, np.nan, pixels)
    model = HottSamples(3, missing="observed", effort="quick").fit(holed)
    assert model.sample_indices_.tolist() == [3, 41, 77]
    np.testing.assert_allclose(model.components_, pixels[[3, 41, 77]], rtol=1e-2)
    np.testing.assert_allclose(model.transform(holed), shares, atol=1e-2)
    with pytest.raises(ValueError, match="NaN"):
        HottSamples(3).fit(holed)
    with pytest.raises(ValueError, match="missing values do not go with method"):
        HottSamples(3, method="unmix", missing="observed").fit(cube)
