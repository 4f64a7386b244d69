"""Documents on a Ray cluster: the same bytes as on one machine, whatever happens on the way.

The cluster is started here, listens on the loopback device alone, and is stopped here. The long
version is `python/benchmarks/scale_out.py`.
"""

import os
import signal
import socket
import stat
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import hottopixx

ray = pytest.importorskip("ray")

import hottopixx.ray as scaled  # noqa: E402
from hottopixx.ray import _cluster, _engine, _factor, _passes, _plan, _source  # noqa: E402

# Ray and what it imports warn about themselves.
pytestmark = pytest.mark.filterwarnings("default")

#: Tasks at a time, by threads of each: the cluster has four processors to give.
SLOTS = {1: 4, 2: 2, 4: 1}


@pytest.fixture(scope="module")
def cluster():
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with scaled.cluster(workers=4):
        yield


@pytest.fixture(scope="module")
def counts():
    """Words x documents in which six words name topics."""
    return hottopixx.generate("multinomial", features=300, examples=800, rank=6, tokens=40, seed=2)


@pytest.fixture(scope="module")
def cooccurring(counts):
    """The answer of one machine."""
    return hottopixx.factor(hottopixx.cooccurrence(counts.X), 6, "spa")


@pytest.fixture(scope="module")
def pixels():
    return hottopixx.generate("paper", features=90, examples=600, rank=5, noise=0.5, seed=4)


def pieces(documents, count):
    """Blocks of documents, of different sizes, in this many partitions."""
    rows = documents.shape[0]
    ends = np.unique((np.linspace(0, 1, count + 1) ** 1.5 * rows).round().astype(int))
    return [documents[a:b] for a, b in pairwise(ends)]


def same_bytes(a, b):
    if sp.issparse(a) != sp.issparse(b) or a.shape != b.shape:
        return False
    if sp.issparse(a):
        parts = [(m.indptr, m.indices, m.data) for m in (a, b)]
        return all(x.tobytes() == y.tobytes() for x, y in zip(*parts, strict=True))
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


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
    for method, threads, count in (("auto", 1, 40), ("spa", 2, 5), ("snpa", 4, 1)):
        chosen = hottopixx.factor(rows, 5, method)
        one = hottopixx.evaluate(rows, chosen.hott)
        found = scaled.factor(pieces(documents, count), 5, method, worker_threads=threads)
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


@dataclass(frozen=True)
class Deadly:
    """A partition that kills the worker that loads it, the first and the third time."""

    name: str
    block: object
    folder: str

    def load(self, first=0, last=None):
        attempt = Path(self.folder) / str(len(os.listdir(self.folder)))
        attempt.touch()
        if attempt.name in ("0", "2"):
            os.kill(os.getpid(), signal.SIGKILL)
        return self.block[first:last], True


def test_killed_workers_do_not_matter(cluster, counts, cooccurring, tmp_path):
    first, second, third = pieces(sp.csr_array(counts.X.T), 3)
    blocks = [first, Deadly("deadly", second, str(tmp_path)), third]
    blocks = [b if isinstance(b, Deadly) else _source.InMemory("block", b) for b in blocks]
    found = scaled.factor(blocks, 6, "spa", matrix="cooccurrence")
    assert len(os.listdir(tmp_path)) == 4, "killed twice, read twice"
    assert same_bytes(found.F, cooccurring.F)


@pytest.mark.parametrize("format", ["npz", "parquet"])
@pytest.mark.parametrize("dense", [True, False])
def test_files_hold_what_was_written(counts, tmp_path, format, dense):
    documents = counts.X.T.toarray() if dense else sp.csr_array(counts.X.T)
    names = [f"word{i}" for i in range(300)]
    files = scaled.write(documents, tmp_path, partition=300, format=format, names=names)
    assert len(files) == 3 and sorted(files) == files
    given = _source.source(tmp_path, None)
    assert given.names == names
    for k, part in enumerate(given.partitions):
        block, certain = part.load()
        assert certain
        expected = documents[300 * k : 300 * (k + 1)]
        assert (block != expected).sum() == 0 and block.shape == expected.shape
        some, _ = part.load(3, 9)
        assert (some != expected[3:9]).sum() == 0
    answer = scaled.factor(tmp_path, 6, "spa", matrix="cooccurrence", address="inline")
    one = hottopixx.factor(hottopixx.cooccurrence(counts.X), 6, "spa")
    assert same_bytes(answer.F, one.F) and answer.W.flags.writeable
    assert answer.hott_names == [names[h] for h in one.hott]


def test_row_groups_are_read_as_needed(counts, tmp_path):
    import pyarrow.parquet as parquet

    documents = sp.csr_array(counts.X.T)
    (name,) = scaled.write(documents, tmp_path, format="parquet")
    table = parquet.read_table(tmp_path / name)
    parquet.write_table(table, tmp_path / name, row_group_size=70)
    part = _source.ParquetFile(str(tmp_path / name))
    for first, last in ((0, 70), (65, 145), (790, 800), (0, None)):
        block, certain = part.load(first, last)
        assert certain and (block != documents[first:last]).nnz == 0


def test_tables_that_ray_holds(cluster, counts, cooccurring, tmp_path):
    """As a Dataset hands them over; the long version has a real one, which takes its time."""
    import pyarrow.parquet as parquet

    files = scaled.write(sp.csr_array(counts.X.T), tmp_path, partition=200, format="parquet")

    class Dataset:
        class context:
            class execution_options:
                preserve_order = False

        def materialize(self):
            return self

        def to_arrow_refs(self):
            tables = [parquet.read_table(tmp_path / name) for name in files]
            return [ray.put(table) for table in [*tables[:2], tables[0][:0], *tables[2:]]]

    found = scaled.factor(Dataset(), 6, "spa", matrix="cooccurrence")
    assert same_bytes(found.F, cooccurring.F)


def broken(kind, path):
    if kind == "missing":
        path.unlink()
    elif kind == "truncated":
        path.write_bytes(path.read_bytes()[:-200])
    elif kind == "nothing":
        path.write_bytes(b"")
    elif kind == "flipped":  # within what a compressed file of scipy holds
        if path.suffix == ".npz":
            sp.save_npz(path, sp.load_npz(path), compressed=True)
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 3] ^= 0xFF
        damaged[len(damaged) // 2] ^= 0xFF
        path.write_bytes(damaged)
    elif kind == "garbage":
        path.write_bytes(b"PK\3\4" + bytes(range(256)) * 4)


# Parquet as we write it has no checksums, so that a flipped byte may go unnoticed.
@pytest.mark.parametrize("kind", ["missing", "truncated", "nothing", "flipped", "garbage"])
@pytest.mark.parametrize("format", ["npz", "parquet"])
def test_a_broken_partition_is_named(cluster, counts, tmp_path, kind, format):
    folder, checkpoint = tmp_path / "corpus", tmp_path / "checkpoint"
    files = scaled.write(sp.csr_array(counts.X.T), folder, partition=200, format=format)
    broken(kind, folder / files[2])
    with pytest.raises(scaled.PartitionError) as error:
        scaled.factor(folder, 6, "spa", matrix="cooccurrence", checkpoint=checkpoint)
    sentence = str(error.value)
    assert files[2] in sentence and "\n" not in sentence and len(sentence) < 500
    assert not checkpoint.exists() or not list(checkpoint.iterdir())


def test_bad_numbers_are_placed(counts):
    documents = sp.csr_array(counts.X.T)
    document, term = 3, int(documents.indices[documents.indptr[3]])
    for value in (-1.0, float("nan"), float("inf")):
        wrong = documents.copy()
        wrong.data[wrong.indptr[3]] = value
        with pytest.raises(
            scaled.PartitionError, match=f"block 1: document {document}, term {term}"
        ):
            scaled.factor([documents, wrong], 3, address="inline")
    empty = sp.csr_array((0, 300))
    with pytest.raises(scaled.PartitionError, match="block 0 is empty"):
        scaled.factor([empty, documents], 3, address="inline")
    with pytest.raises(scaled.PartitionError, match="has 1 dimensions"):
        scaled.factor(np.ones(5), 3, address="inline")
    with pytest.raises(scaled.PartitionError, match="is complex"):
        scaled.factor(1j * documents, 3, address="inline")
    wild = sp.csc_array(documents)
    wild.indices = wild.indices + 50_000_000
    with pytest.raises(scaled.PartitionError, match="block 1 cannot be read"):
        scaled.factor([documents, wild], 3, address="inline")
    with pytest.raises(scaled.PartitionError, match="has 299 terms"):
        scaled.factor([documents, documents[:, :299]], 3, address="inline")
    with pytest.raises(scaled.PartitionError, match="is dense, but"):
        scaled.factor([documents, documents.toarray()], 3, address="inline")
    with pytest.raises(scaled.PartitionError, match=r"no \.parquet"):
        scaled.factor(Path(__file__).parent, 3, address="inline")


def test_tables_that_make_no_sense(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    def table(terms, values, *, kind=None, about=None):
        columns = {"terms": pa.array(terms, kind or pa.list_(pa.int64())), "values": values}
        path = tmp_path / "documents.parquet"
        parquet.write_table(pa.table(columns).replace_schema_metadata(about), path)
        return path

    two = [[1, 2], [3, 4]]
    for path, message in (
        (lambda: table([[0, 1], [1]], two), "document 1 has not as many"),
        (lambda: table([[0, 1], None], two), "missing entries"),
        (lambda: table([[0, -1], [1, 2]], two), "has term -1"),
        (lambda: table([[0, 4 * 10**9], [1, 2]], two), "has term 4000000000"),
        (lambda: table([[0, 7], [1, 2]], two, about={"terms": "3"}), "says that it has 3 terms"),
        (lambda: table([[0, 1], [1, 2]], [["a", "b"], ["c", "d"]]), "could not convert"),
        (lambda: table([0, 1], [1, 2], kind=pa.int64()), "lists of numbers"),
        (lambda: table([[], []], [[], []]), "0 terms occur"),
    ):
        with pytest.raises(ValueError, match=message):
            scaled.factor(path(), 1, "spa", min_df=1, address="inline")
    # Documents without terms are documents, wherever they lie; unsorted and repeated ids are fine.
    empty = table([[], []], [[], []], kind=None).rename(tmp_path / "part-1.parquet")
    full = table([[2, 0, 2], [1, 2]], [[1, 1, 2], [1, 4]]).rename(tmp_path / "part-0.parquet")
    (tmp_path / "vocabulary.txt").write_text("a\nb\nc\nnever\n")
    found = scaled.factor(tmp_path, 1, "spa", address="inline")
    assert found.F.shape == (4, 1) and found.W.shape == (1, 4) and found.names[3] == "never"
    expected = sp.csr_array([[1.0, 0, 3], [0, 1, 4], [0, 0, 0], [0, 0, 0]])
    assert same_bytes(found.F[:3], hottopixx.evaluate(expected.T, found.hott).F)
    assert {empty.name, full.name} == {p.name for p in tmp_path.glob("*.parquet")}


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


def test_a_folder_written_twice_is_that_of_the_second_time(tmp_path):
    scaled.write(np.ones((4, 2)), tmp_path, partition=1, names=["a", "b"])
    scaled.write(np.ones((4, 3)), tmp_path, partition=2)
    given = _source.source(tmp_path, None)
    assert given.names is None and len(given.partitions) == 2
    for names in (["a"], ["a", "b\n", "c"]):
        with pytest.raises(ValueError, match="name"):
            scaled.write(np.ones((4, 3)), tmp_path, names=names)


def test_a_partition_lost_between_the_passes(counts, tmp_path, monkeypatch):
    """The first reading saw it; the second says what happened, and writes nothing."""
    folder = tmp_path / "corpus"
    files = scaled.write(sp.csr_array(counts.X.T), folder, partition=300)
    looked = _factor.look

    def lose(*arguments):
        corpus = looked(*arguments)
        (folder / files[1]).unlink()
        return corpus

    monkeypatch.setattr(_factor, "look", lose)
    with pytest.raises(scaled.PartitionError, match=f"{files[1]} is missing"):
        scaled.factor(folder, 6, address="inline", checkpoint=tmp_path / "checkpoint")
    assert not (tmp_path / "checkpoint").exists()


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
        "multinomial", features=200, examples=3000, rank=6, tokens=60, seed=1
    )
    documents = sp.csr_array(counts.X.T)
    exact = scaled.factor(documents, 6, matrix="cooccurrence", address="inline")
    assert counts.recall(exact.hott) == 1.0
    for method in ("auto", "minimax"):
        found = scaled.factor(
            documents, 6, method, matrix="cooccurrence", sketch=60, address="inline"
        )
        assert counts.recall(found.hott) == 1.0
        assert "sketch" in found.notes[0] and "as large or larger" in found.notes[1]
    assert "bound of the certificate holds" in found.notes[2]
    # Errors on the sketch are below those on all columns, and its bound holds for both.
    q = hottopixx.cooccurrence(counts.X)
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
        hottopixx.cooccurrence(sp.csr_array(counts.X)[kept]), 6, "spa", candidates=df[kept] >= 99
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


def test_read_only_and_misaligned_arrays(pixels):
    raw = np.empty(8 * pixels.X.size + 1, dtype=np.uint8)
    odd = raw[1:].view(np.float64).reshape(600, 90)
    odd[:] = pixels.X.T
    odd.flags.writeable = False
    assert not odd.flags.aligned
    one = scaled.factor(pixels.X.T.copy(), 5, "spa", address="inline")
    found = scaled.factor(odd, 5, "spa", address="inline")
    assert same_bytes(found.F, one.F)
    csr = sp.csr_array(pixels.X.T)
    for array in (csr.data, csr.indices, csr.indptr):
        array.flags.writeable = False
    found = scaled.factor(csr, 5, "spa", address="inline")
    assert found.hott.tolist() == one.hott.tolist()


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


def test_what_a_cluster_cannot_do_is_said(cluster, pixels):
    with pytest.raises(ValueError, match="no node has more than 4 processors"):
        scaled.factor(pixels.X.T, 5, worker_threads=5)
    with pytest.raises(ValueError, match="Ray is connected to"):
        scaled.factor(pixels.X.T, 5, address="10.9.9.9:1234")


def listening():
    """(process, address) of every socket of this machine's processes that listens."""
    owners = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for link in (process / "fd").iterdir():
                target = os.readlink(link)
                if target.startswith("socket:["):
                    owners[target[8:-1]] = int(process.name)
        except OSError:
            continue
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in owners:
                raw = bytes.fromhex(fields[1].split(":")[0])
                words = [raw[i : i + 4][::-1] for i in range(0, len(raw), 4)]
                yield owners[fields[9]], socket.inet_ntop(family, b"".join(words))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_nobody_else_can_reach_the_cluster(cluster):
    ours = {int(p.name) for p in Path("/proc").glob("[0-9]*") if _descends(p)}
    addresses = [address for process, address in listening() if process in ours]
    assert len(addresses) >= 5, "the processes of the cluster listen somewhere"
    assert set(addresses) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700
    assert os.environ["RAY_AUTH_MODE"] == "token" and os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def _descends(process):
    """Whether this process started it, or one that it started."""
    while process.name not in ("0", str(os.getpid())):
        try:
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            return False
        process = Path("/proc") / parent
    return process.name == str(os.getpid())


def test_what_is_not_safe_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(ray, "__version__", "2.51.0")
    with pytest.raises(ImportError, match=r"install Ray 2\.60 or later"):
        _cluster.need_ray()
    monkeypatch.undo()
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o644)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    with pytest.raises(PermissionError, match="chmod 600"):
        _cluster._check_token_file()
    token.chmod(0o600)
    _cluster._check_token_file()


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


def test_what_does_not_fit_is_refused_before_it_is_computed(monkeypatch, pixels):
    monkeypatch.setattr(_passes, "_SHARE", 1e-9)
    monkeypatch.setattr(_passes, "pair_sums", lambda *a, **k: 1 / 0)
    with pytest.raises(ValueError, match=r"90 x 90, .*min_df\), or give a sketch"):
        scaled.factor(pixels.X.T, 5, address="inline")


def test_another_version_on_a_worker_is_refused():
    with pytest.raises(RuntimeError, match=r"but the driver 0\.0\.1"):
        _engine.call("0.0.1", len, 1, [])


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
