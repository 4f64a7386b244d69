"""Answers: members, tables, paths, pages, files, pictures."""

import json
import pickle
import re
import shutil
import subprocess
import sys
import zipfile

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hottopixx
from hottopixx import Hottopixx, HottSamples, HottTopics

matplotlib.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(scope="module")
def instance():
    return hottopixx.generate("paper", features=24, examples=60, rank=3, noise=0.3)


@pytest.fixture(scope="module")
def answer(instance):
    names = [f"w{i}" for i in range(24)]
    return hottopixx.factor(instance.X, 5, names=names, effort="quick")


@pytest.fixture(scope="module")
def sparse_answer():
    X = hottopixx.generate("multinomial", features=60, examples=200, rank=3, seed=2).X
    return hottopixx.factor(X, 3, "spa")


def test_members_lean_on_what_was_chosen(answer):
    masses = answer.F * answer.W.sum(axis=1)
    np.testing.assert_allclose(answer.shares().sum(axis=1), 1)
    for k, name in enumerate(answer.hott_names):
        members = answer.members(k, 3)
        assert members == answer.members(name, 3) and name not in dict(members)
        rows = [answer.names.index(member) for member, _ in members]
        assert [value for _, value in members] == [answer.F[i, k] for i in rows]
        score = masses[:, k] ** 2 / masses.sum(axis=1)
        score[answer.hott[k]] = 0
        assert rows == np.argsort(-score, kind="stable")[: len(rows)].tolist()
    with pytest.raises(ValueError, match="topic is 5, but there are 5"):
        answer.members(5)
    with pytest.raises(ValueError, match="'none' is not chosen"):
        answer.members("none")


def test_tables(answer, sparse_answer, instance):
    frame = answer.to_frame()
    assert frame["name"].tolist() == answer.hott_names and frame["share"].sum() == pytest.approx(1)
    rows = answer.to_frame("rows")
    np.testing.assert_array_equal(rows["error"], answer.error.per_row)
    assert rows["leans_on"][answer.hott[0]] == answer.hott_names[0]
    assert len(sparse_answer.to_frame("rows")) == 60
    assert answer.to_frame(backend="pyarrow").num_rows == 5
    with pytest.raises(ValueError, match="backend is 'excel'"):
        answer.to_frame(backend="excel")
    with pytest.raises(ValueError, match="what is 'columns'"):
        answer.to_frame("columns")
    compared = hottopixx.compare(instance.X, 2, effort="quick").to_frame()
    assert compared["ratio"].min() == 1.0


def test_the_path_leads_to_the_planted_rank(answer, instance):
    path = answer.path(effort="normal")
    assert path.suggested == 3 and [p.rank for p in path.points] == [1, 2, 3, 4, 5]
    assert path.mean_l1[-1] == pytest.approx(answer.error.mean_l1)
    assert (path.lower_bound <= path.mean_l1).all() and (np.diff(path.mean_l1) <= 0).all()
    assert path.to_frame()["suggested"].tolist() == [False, False, True, False, False]
    assert "3 *" in repr(path) and "Suggested: 3" in path._repr_html_()
    chosen = hottopixx.factor(instance.X, "auto", effort="quick")
    assert instance.recall(chosen.hott) == 1.0 and len(chosen.hott) == 3
    assert any("3 rows" in note for note in chosen.notes)


def test_a_path_needs_its_data(answer, instance):
    again = pickle.loads(pickle.dumps(hottopixx.factor(instance.X, 2, "spa")))
    with pytest.raises(ValueError, match=r"has no data: give path\(X\)"):
        again.path()
    assert again.path(instance.X, effort="quick").points[-1].rank == 2
    with pytest.raises(ValueError, match="X is not what was factored, or has changed since"):
        again.path(instance.X[::-1], effort="quick")


def test_shares_of_documents_are_those_of_the_program(tmp_path):
    program = shutil.which("hottopixx", path="target/debug")
    counts = hottopixx.generate("multinomial", features=40, examples=50, rank=3, seed=1).X
    found = hottopixx.factor(hottopixx.cooccurrence(counts), 3, "spa")
    shares = found.document_shares(counts, tmp_path / "documents.csv")
    assert shares.shape == (50, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    written = pd.read_csv(tmp_path / "documents.csv", index_col="document")
    np.testing.assert_array_equal(written.to_numpy(), shares)
    with pytest.raises(ValueError, match="50 rows, but there are 40 words"):
        found.document_shares(counts.T)
    if program is None:
        pytest.skip("the command line is not built")
    sp.save_npz(tmp_path / "X.npz", sp.csr_array(counts))
    command = [program, "factor", tmp_path / "X.npz", "--rank", "3", "--method", "spa"]
    command += ["--cooccurrence", "--out", tmp_path / "out", "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    theirs = pd.read_csv(tmp_path / "out" / "documents.csv", index_col="document")
    assert theirs.columns.tolist() == found.hott_names
    np.testing.assert_allclose(theirs.to_numpy(), shares, atol=1e-12)


def test_pages(answer, sparse_answer, instance, tmp_path):
    page = tmp_path / "report.html"
    answer.path()
    answer.report(page, "wörds <b>")
    text = page.read_text(encoding="utf-8")
    assert "w\u00f6rds &lt;b&gt;" in text and "<h2>Rank</h2>" in text
    assert all(name in text for name in answer.hott_names)
    sparse_answer.report(page)
    assert "hott topics of X" in page.read_text(encoding="utf-8")
    hottopixx.certify(instance.X, 2).report(page)
    assert "What is proven" in page.read_text(encoding="utf-8")
    Hottopixx(3, method="spa").fit(instance.X.T).report(page)
    text = page.read_text(encoding="utf-8")
    assert "feature 0" in text or "feature 1" in text
    assert "The rows of this page are the features of the data." in text


def same(one, other):
    assert type(one) is type(other) and one.hott.tolist() == other.hott.tolist()
    for name in ("F", "W"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert sp.issparse(ours) == sp.issparse(theirs)
        np.testing.assert_array_equal(
            ours.toarray() if sp.issparse(ours) else ours,
            theirs.toarray() if sp.issparse(theirs) else theirs,
        )
    np.testing.assert_array_equal(one.error.per_row, other.error.per_row)
    assert {**one._said(), "seconds": None} == {**other._said(), "seconds": None}
    assert one.names == other.names and repr(one) == repr(other)


def test_answers_are_saved_whole(answer, sparse_answer, instance, tmp_path):
    file = tmp_path / "answer.hott"
    answer.path()
    for found in (answer, sparse_answer, hottopixx.factor(instance.X, 2, "hottopixx")):
        found.save(file)
        same(hottopixx.load(file), found)
    answer.save(file)
    assert hottopixx.load(file).path().suggested == answer.path().suggested
    with np.load(file) as held:
        said = json.loads(str(held["answer"]))
    assert said["version"] == hottopixx.__version__
    assert re.fullmatch("[0-9a-f]{64}", said["factorization"]["data"]["sha256"])
    proof = hottopixx.certify(instance.X, 2)
    proof.save(file)
    again = hottopixx.load(file)
    same(again.answer, proof.answer)
    assert again.theorem == proof.theorem and again.certificate == proof.certificate
    assert repr(again) == repr(proof)


def test_files_that_are_none_of_ours_are_refused(answer, tmp_path):
    file = tmp_path / "answer.hott"
    np.savez(tmp_path / "other.npz", X=np.ones(3))
    with pytest.raises(ValueError, match="is no answer of hottopixx"):
        hottopixx.load(tmp_path / "other.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="is a folder: give the name of a file in it"):
        answer.save(tmp_path / "folder")
    assert not list(tmp_path.glob("*.partial"))
    answer.save(file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(tmp_path / "changed", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data[:-8] + b"\0" * 8 if name == "F.npy" else data)
    with pytest.raises(ValueError, match="is damaged"):
        hottopixx.load(tmp_path / "changed")
    (tmp_path / "model.json").write_text("{}")
    (tmp_path / "wine.csv").write_text("a,b\n1,2\n")
    np.save(tmp_path / "X.npy", np.ones(3))
    for name in ("model.json", "wine.csv", "X.npy"):
        with pytest.raises(ValueError, match=r"is no topic model, nor .*read_csv"):
            hottopixx.load(tmp_path / name)


def test_answers_apply_to_other_rows(answer, sparse_answer, instance, tmp_path):
    for found, X in ((answer, instance.X), (sparse_answer, sparse_answer.source.X)):
        again = found.apply(X)
        assert (again.F != found.F).sum() == 0
        assert again.stop == "finished" and again.cleaning == found.cleaning
        np.testing.assert_array_equal(again.error.per_row, found.error.per_row)
        assert again.error.mean_l1 == found.error.mean_l1
        assert again.error.rmse == found.error.rmse
    one = answer.apply(pd.DataFrame(instance.X[7:8] * 2, index=["new"]))
    assert one.names == ["new"]
    np.testing.assert_allclose(one.F, 2 * answer.F[7:8], atol=1e-9)
    with pytest.raises(ValueError, match="a row has 3 entries, but there are 60 columns"):
        answer.apply([[1.0, 2.0, 3.0]])


def test_answers_tell_new_columns_and_what_changed(answer, sparse_answer, instance):
    for found, X in ((answer, instance.X), (sparse_answer, sparse_answer.source.X)):
        again = found.apply_columns(X)
        assert (again.W != found.W).sum() == 0
        np.testing.assert_allclose(again.error.per_row, found.error.per_row, atol=1e-12)
        assert again.per_column.shape == (X.shape[1],)
    some = answer.apply_columns(instance.X[:, :7])
    residual = np.abs(instance.X[:, :7] - answer.F @ some.W)
    np.testing.assert_allclose(some.per_column, residual.sum(0) / instance.X[:, :7].sum(0))
    with pytest.raises(ValueError, match="a new column has 2 entries, but there are"):
        answer.apply_columns([[1.0], [2.0]])
    later = hottopixx.factor(instance.X, 5, start=answer.hott)
    assert later.error.mean_l1 <= answer.error.mean_l1 + 1e-9
    changes = later.changes_since(answer)
    assert len(changes.stayed) + len(changes.moved) + len(changes.came) == 5
    assert answer.changes_since(answer.hott).stayed == answer.hott.tolist()
    with pytest.raises(ValueError, match="start"):
        hottopixx.factor(instance.X, 5, method="spa", start=answer.hott)


def test_the_program_and_the_package_share_their_answers(answer, instance, tmp_path):
    def program(*words):
        command = [sys.executable, "-m", "hottopixx", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    np.save(tmp_path / "X.npy", instance.X)
    (tmp_path / "names.txt").write_text("\n".join(answer.names))
    # From Python to the program.
    for k, found in enumerate((answer, hottopixx.certify(instance.X, 2))):
        found.save(tmp_path / f"{k}.hott")
        said = json.loads(program("apply", f"{k}.hott", "X.npy", "--json").stdout)
        error = getattr(found, "answer", found).error
        assert said["error"]["mean_l1"] == error.mean_l1
        assert said["error"]["inf1"] == error.inf1
    (tmp_path / "damaged").write_bytes((tmp_path / "0.hott").read_bytes()[:-200])
    assert "give a file that save()" in program("apply", "damaged", "X.npy").stderr
    # From the program to Python.
    command = "factor X.npy --rank 5 --effort quick --names names.txt --path --out folder"
    assert program(*command.split()).returncode == 0
    loaded = hottopixx.load(tmp_path / "folder")
    same(loaded, answer)
    assert loaded.path().suggested == answer.path().suggested
    with open(tmp_path / "folder" / "F.npy", "ab") as file:
        file.write(b"!")
    with pytest.raises(ValueError, match=r"F.npy is not of the run that wrote summary.json"):
        hottopixx.load(tmp_path / "folder")


def test_estimators_are_saved(instance, tmp_path):
    X, file = instance.X.T, tmp_path / "model.hott"
    names = [f"f{j}" for j in range(24)]
    for model, data in (
        (
            Hottopixx(3, method="spa", output="loadings", constraints={"must": ["f4"]}),
            pd.DataFrame(X, columns=names),
        ),
        (HottSamples(3, method="spa", abundances="sum-to-one"), X.reshape(10, 6, 24)),
        (HottSamples("auto", method="spa", random_state=np.random.RandomState(0)), X),
    ):
        model.fit(data).save(file)
        again = hottopixx.load(file)
        np.testing.assert_array_equal(again.transform(data), model.transform(data))
        np.testing.assert_array_equal(again.components_, model.components_)
        assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
        if isinstance(model.random_state, int | None):
            assert repr(again) == repr(model)
    words = [["oil", "price", "barrel"], ["court", "judge", "trial"]]
    topics = HottTopics(2, stop_words=None).fit([" ".join(words[d % 2]) for d in range(60)])
    topics.save(tmp_path / "model.json")
    again = hottopixx.load(tmp_path / "model.json")
    assert again.anchors_.tolist() == topics.anchors_.tolist()


@pytest.fixture
def drawn(tmp_path):
    """Saves what was drawn, so that faults of drawing show."""

    def draw(axes):
        figure = np.atleast_1d(axes)[0].figure
        figure.savefig(tmp_path / "picture.png")
        plt.close(figure)
        return axes

    return draw


def test_pictures(answer, sparse_answer, instance, drawn):
    plot = answer.plot
    assert len(drawn(plot.topics(3))) == 5
    assert [bar.get_text() for bar in plot.topics(3)[0].get_yticklabels()] == [
        name for name, _ in answer.members(0, 3)
    ]
    plt.close("all")
    axes = drawn(plot.errors())
    assert sum(bar.get_height() for bar in axes.patches) == 24
    axes = drawn(plot.path())
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), answer.path().mean_l1)
    assert len(drawn(plot.maps((4, 6)))) == 5
    axes = drawn(plot.spectra(np.linspace(400, 900, 60), unit="nm"))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), answer.W[0])
    diagonal = hottopixx.factor(instance.X, 2, "hottopixx")
    axes = drawn(diagonal.plot.diagonal())
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), diagonal.hott)
    drawn(sparse_answer.plot.maps((6, 10)))
    drawn(sparse_answer.plot.spectra())
    with pytest.raises(ValueError, match="the method spa has no diagonal"):
        sparse_answer.plot.diagonal()
    with pytest.raises(ValueError, match=r"shape \(3, 3\) does not hold 24 rows"):
        plot.maps((3, 3))
    with pytest.raises(ValueError, match="3 wavelengths for 60"):
        plot.spectra([1, 2, 3])
    axes = plt.subplots()[1]
    assert plot.errors(axes) is axes
    plt.close("all")


def test_notebooks_show_cards_and_what_the_bound_speaks_about(answer, instance):
    page = answer._repr_html_()
    assert all(name in page for name in answer.hott_names)
    assert all(member in page for member, _ in answer.members(0, 6))
    said = hottopixx.factor(instance.X, 3)._repr_html_()
    assert re.search(r"bound +mean error [\d.e-]+, for every choice at least [\d.e-]+", said)
    said = repr(hottopixx.factor(instance.X, 3, objective="max"))
    assert "bound   largest error" in said


def test_the_program_comes_with_the_package(tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "hottopixx", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    assert run("-V").stdout == f"hottopixx {hottopixx.__version__}\n"
    assert (run().returncode, run("nonsense").returncode) == (2, 2)
    missing = run("factor", "none.npy", "--rank", "3")
    assert missing.returncode == 1 and "none.npy" in missing.stderr
    np.save(tmp_path / "X.npy", np.eye(4))
    made = run("factor", "X.npy", "--rank", "2", "--out", "a b")
    assert made.returncode == 0 and "X.npy" in made.stdout
    # The page tells the command as it was typed.
    page = (tmp_path / "a b" / "report.html").read_text(encoding="utf-8")
    assert "hottopixx factor X.npy --rank 2 --out &#39;a b&#39;" in page
    assert "numpy" not in run_imports()


def run_imports():
    """What is imported before the program runs."""
    code = "import sys, hottopixx.__main__; print(*sorted(sys.modules))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
