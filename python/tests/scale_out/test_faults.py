"""What goes wrong on the way: killed workers, broken or lost partitions, bad numbers."""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

ray = pytest.importorskip("ray")

import hottopixx.ray as scaled  # noqa: E402
from hottopixx.ray import _factor, _passes, _source  # noqa: E402

from .corpora import pieces, same_bytes  # noqa: E402

# Ray and what it imports warn about themselves.
pytestmark = pytest.mark.filterwarnings("default")

# Workers cannot import this file: its classes travel with the tasks.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


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


def test_what_does_not_fit_is_refused_before_it_is_computed(monkeypatch, pixels):
    monkeypatch.setattr(_passes, "_SHARE", 1e-9)
    monkeypatch.setattr(_passes, "pair_sums", lambda *a, **k: 1 / 0)
    with pytest.raises(ValueError, match=r"90 x 90, .*min_df\), or give a sketch"):
        scaled.factor(pixels.X.T, 5, address="inline")
