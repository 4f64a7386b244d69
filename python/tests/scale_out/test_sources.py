"""Where documents come from: files, tables of Ray, arrays as they are."""

import numpy as np
import pytest
import scipy.sparse as sp

import hottopixx

ray = pytest.importorskip("ray")

import hottopixx.ray as scaled  # noqa: E402
from hottopixx.ray import _source  # noqa: E402

from .corpora import same_bytes  # noqa: E402

# Ray and what it imports warn about themselves.
pytestmark = pytest.mark.filterwarnings("default")


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
    one = hottopixx.factor(hottopixx.cooccurrence(counts.X).toarray(), 6, "spa")
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


def test_a_folder_written_twice_is_that_of_the_second_time(tmp_path):
    scaled.write(np.ones((4, 2)), tmp_path, partition=1, names=["a", "b"])
    scaled.write(np.ones((4, 3)), tmp_path, partition=2)
    given = _source.source(tmp_path, None)
    assert given.names is None and len(given.partitions) == 2
    for names in (["a"], ["a", "b\n", "c"]):
        with pytest.raises(ValueError, match="name"):
            scaled.write(np.ones((4, 3)), tmp_path, names=names)


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
