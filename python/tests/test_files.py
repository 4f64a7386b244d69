"""Matrices from files of other programs."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import hottopixx

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


def test_matlab(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X, "title": "spectra", "wave": [1.0, 2.0]})
    np.testing.assert_array_equal(hottopixx.read(tmp_path / "a.mat").matrix, X)
    scipy.io.savemat(tmp_path / "b.mat", {"X": sp.csc_matrix(X), "Y": X})
    with pytest.raises(ValueError, match=r"2 matrices \(X, Y\): choose one with key="):
        hottopixx.read(tmp_path / "b.mat")
    found = hottopixx.read(tmp_path / "b.mat", key="X").matrix
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X)
    with pytest.raises(ValueError, match="no matrix 'Z', but X, Y"):
        hottopixx.read(tmp_path / "b.mat", key="Z")


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["deep/X"], file["labels"] = X, [1, 2]
    np.testing.assert_array_equal(hottopixx.read(tmp_path / "a.h5").matrix, X)
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["scene"], file["truth"] = np.zeros((2, 3, 4)), X
    with pytest.raises(ValueError, match=r"2 matrices \(scene, truth\): .* take scenes: scene"):
        hottopixx.read(tmp_path / "b.h5")
    assert hottopixx.read(tmp_path / "b.h5", key="scene").matrix.shape == (2, 3, 4)
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        for name, matrix in (("X", X), ("layers/counts", 2 * X)):
            held, group = sp.csr_matrix(matrix), file.create_group(name)
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(held, part)
            group.attrs.update({"encoding-type": "csr_matrix", "shape": matrix.shape})
        for name, words in (("obs", ["c1", "c2"]), ("var", ["a", "b", "c"])):
            file.create_group(name)["_index"] = words
            file[name].attrs["_index"] = "_index"
    found = hottopixx.read(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(found.matrix.toarray(), X)
    assert (found.rows, found.columns) == (["c1", "c2"], ["a", "b", "c"])
    layer = hottopixx.read(tmp_path / "a.h5ad", key="layers/counts").matrix
    np.testing.assert_array_equal(layer.toarray(), 2 * X)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    table = pa.table({"name": ["p", "q"], "a": [1, 0], "b": [0.0, 3.0], "c": [2.0, 0.0]})
    parquet.write_table(table, tmp_path / "a.parquet")
    found = hottopixx.read(tmp_path / "a.parquet")
    np.testing.assert_array_equal(found.matrix, X)
    assert (found.rows, found.columns) == (["p", "q"], ["a", "b", "c"])
    parquet.write_table(table.select(["name"]), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match=r"HottTopics pd.read_parquet\(.*\)\['name'\]"):
        hottopixx.read(tmp_path / "text.parquet")
    parquet.write_table(pa.table({"a": [1.0, None]}), tmp_path / "holes.parquet")
    with pytest.raises(ValueError, match="missing values in column 'a'"):
        hottopixx.read(tmp_path / "holes.parquet")
    ids = pa.table({"cell_id": [107, 109], "year": [1999, 1999], "a": [1, 0], "id": [4, 4]})
    parquet.write_table(ids, tmp_path / "ids.parquet")
    with pytest.warns(hottopixx.AdviceWarning, match="set aside 'cell_id', 'year'"):
        found = hottopixx.read(tmp_path / "ids.parquet")
    assert (found.rows, found.columns) == (["107", "109"], ["a", "id"])
    for name in ("a.csv", "a.v2.csv"):
        with pytest.raises(ValueError, match=r"read it with pandas\.read_csv and give the frame"):
            hottopixx.read(tmp_path / name)


def test_cubes_of_matlab_and_envi(tmp_path):
    cube = np.random.default_rng(0).random((4, 5, 6))
    scipy.io.savemat(tmp_path / "a.mat", {"cube": cube, "names": np.zeros((1, 3))})
    np.testing.assert_array_equal(hottopixx.read(tmp_path / "a.mat").matrix, cube)
    scipy.io.savemat(tmp_path / "b.mat", {"cube": cube, "truth": np.ones((4, 5))})
    with pytest.raises(
        ValueError, match=r"2 matrices \(truth, cube\): .* unmix` take scenes: cube"
    ):
        hottopixx.read(tmp_path / "b.mat")
    assert hottopixx.read(tmp_path / "b.mat", "truth").matrix.shape == (4, 5)
    np.testing.assert_array_equal(hottopixx.read(tmp_path / "b.mat", "cube").matrix, cube)

    spectral = pytest.importorskip("spectral")
    header = str(tmp_path / "scene.hdr")
    nanometres = [450.0, 500.5, 550.0, 600.0, 650.0, 700.0]
    spectral.envi.save_image(
        header, cube, dtype=np.float64, metadata={"wavelength": nanometres}, ext="img"
    )
    found = hottopixx.read(header)
    np.testing.assert_allclose(found.matrix, cube, rtol=1e-6)
    assert found.columns == ["450", "500.5", "550", "600", "650", "700"]
    image = spectral.open_image(header)
    models = [hottopixx.HottSamples(3, method="spa").fit(X) for X in (image, found.matrix)]
    assert models[0].image_shape_ == (4, 5)
    assert models[0].sample_indices_.tolist() == models[1].sample_indices_.tolist()
    assert models[0].maps_().shape == models[0].maps_(X=image).shape == (4, 5, 3)


def test_what_numpy_and_scipy_write(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X)
    sp.save_npz(tmp_path / "c.npz", sp.csc_matrix(X))
    scipy.io.mmwrite(tmp_path / "d.mtx", sp.coo_matrix(X))
    for name in ("a.npy", "b.npz", "c.npz", "d.mtx"):
        found = hottopixx.read(tmp_path / name).matrix
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X)
    with pytest.raises(ValueError, match="none of the endings that are known"):
        hottopixx.read(tmp_path / "a.xlsx")
    with pytest.raises(FileNotFoundError, match=r"nope\.h5ad does not exist"):
        hottopixx.read(tmp_path / "nope.h5ad")
