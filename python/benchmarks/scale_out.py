"""What hottopixx.ray promises, shown at length: `python python/benchmarks/scale_out.py`.

Everything runs on this machine and on the loopback device, and is started and stopped here.

    pass      the exact pass on a cluster against one process, and the memory of the workers
    workers   the same bytes for 1, 2 and 4 workers and 1 to 40 partitions, dense and sparse
    node      a node is killed in the middle of the work
    sketch    25 planted topics on the exact matrix and on a sketch of 400 columns
    dataset   a Ray Dataset
    model     what a pass takes, and what follows for a corpus that fills 100 machines

Without names all of them run, in some 15 minutes on two processors; `--quick` takes one.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import hottopixx
import hottopixx.ray as scaled
from hottopixx.ray import _cluster, _corpus, _engine, _passes, _plan, _source, _work

GB = 1e9


def quiet(*_: object) -> None:
    """Hears of progress and says nothing."""


def corpus(folder: Path, terms: int, documents: int, per: int, partitions: int) -> None:
    """Documents of that many different terms each, drawn by a Zipf-Mandelbrot law."""
    draw = np.random.default_rng(0)
    likely = np.cumsum(1.0 / (np.arange(terms) + 50.0))
    names = draw.permutation(terms)
    folder.mkdir()
    for k in range(partitions):
        rows = documents * (k + 1) // partitions - documents * k // partitions
        tokens = np.searchsorted(likely, draw.random((rows, 3 * per)) * likely[-1])
        lists = []
        for some in names[tokens]:
            _, first = np.unique(some, return_index=True)
            lists.append(np.sort(some[np.sort(first)[:per]]))
        indices = np.concatenate(lists).astype(np.int32)
        starts = np.cumsum([0, *map(len, lists)])
        counts = draw.geometric(0.6, len(indices)).astype(float)
        block = sp.csr_array((counts, indices, starts), shape=(rows, terms))
        sp.save_npz(folder / f"part-{k:05}.npz", block, compressed=False)


def one_pass(engine: Any, folder: Path) -> tuple[float, float, _passes.Shards]:
    """Seconds to read and check, seconds of the pass, and what it came to."""
    begun = time.perf_counter()
    partitions = _source.source(folder, engine.put).partitions
    found = _corpus.look(engine, partitions, quiet)
    looked = time.perf_counter()
    shards = _passes.pair_sums(engine, found, "cooccurrence", quiet)
    return looked - begun, time.perf_counter() - looked, shards


def same(a: Any, b: Any) -> bool:
    """Whether two matrices have the same bytes."""
    if sp.issparse(a):
        a, b = sp.csr_array(a), sp.csr_array(b)
        pairs = ((a.indptr, b.indptr), (a.indices, b.indices), (a.data, b.data))
        return all(np.array_equal(x, y) for x, y in pairs)
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def used_by_store() -> int:
    """Bytes that Ray's store of objects holds now."""
    import ray

    had = ray.cluster_resources()["object_store_memory"]
    return int(had - ray.available_resources().get("object_store_memory", 0.0))


def show_pass(scratch: Path, quick: bool) -> None:
    terms, documents, rounds = (4000, 40_000, 1) if quick else (20_000, 400_000, 3)
    folder = scratch / "pass"
    corpus(folder, terms, documents, 50, 40)
    print(f"{terms:,} terms x {documents:,} documents, 50 nonzeros each, 40 partitions")
    ratios = []
    for _ in range(rounds):
        inline = _engine.Inline(2)
        read, alone, shards = one_pass(inline, folder)
        expected = _passes.assemble(inline, shards)
        print(f"  one process, 2 threads: read and check {read:5.2f} s, pass {alone:6.2f} s")
        with scaled.cluster(workers=2):
            engine = _engine.OnRay(1)
            read, there, shards = one_pass(engine, folder)
            print(f"  2 workers on Ray:       read and check {read:5.2f} s, pass {there:6.2f} s")
            assert same(_passes.assemble(engine, shards), expected), "other bytes"
            for worker, peak in engine.peaks.items():
                limit = shards.worker_bytes
                print(f"    {worker}: {peak / GB:.2f} GB of its own, at most {limit / GB:.2f}")
                assert peak <= limit, "more memory than the formula says"
            store = used_by_store()
            print(f"    shared: {store / GB:.2f} GB, at most {shards.shared_bytes / GB:.2f}")
            assert store <= shards.shared_bytes, "more shared memory than the formula says"
        ratios.append(there / alone)
        del shards, expected
    print(f"  ratio {np.median(ratios):.2f} (median of {rounds}; at most 2), same bytes")
    assert quick or np.median(ratios) <= 2


def show_workers(scratch: Path, quick: bool) -> None:
    words = hottopixx.generate("multinomial", features=400, examples=2000, rank=8, tokens=60)
    pixels = hottopixx.generate("paper", features=120, examples=1500, rank=6, noise=0.5)
    sparse, dense = sp.csr_array(words.X.T), pixels.X.T.copy()
    one = {
        "words": hottopixx.factor(hottopixx.cooccurrence(words.X), 8, "spa"),
        "dense": hottopixx.factor(pixels.X, 6, "spa"),
        "sparse": hottopixx.factor(sp.csr_array(pixels.X), 6, "spa"),
    }
    data: dict[str, tuple[Any, int, Any]] = {
        "words": (sparse, 8, "cooccurrence"),
        "dense": (dense, 6, "gram"),
        "sparse": (sp.csr_array(dense), 6, "gram"),
    }
    compared = 0
    for workers in (2,) if quick else (1, 2, 4):
        with scaled.cluster(workers=workers):
            for count in (1, 40) if quick else range(1, 41, 3):
                for name, (documents, rank, matrix) in data.items():
                    cuts = np.linspace(0, documents.shape[0], count + 1).astype(int)
                    blocks = [documents[a:b] for a, b in pairwise(cuts)]
                    found = scaled.factor(blocks, rank, "spa", matrix=matrix)
                    assert found.hott.tolist() == one[name].hott.tolist(), (workers, count, name)
                    assert same(found.F, one[name].F), (workers, count, name)
                    assert same(found.W, one[name].W), (workers, count, name)
                    compared += 1
    print(f"  {compared} runs: the hott rows and the bytes of F and W of one machine")


@contextlib.contextmanager
def two_nodes() -> Any:
    """Two nodes on the loopback device, and a way to kill the second."""
    with _cluster.alone() as ray:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "node_ip_address": "127.0.0.1"}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
            second = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
            cluster.wait_for_nodes()
            yield lambda: cluster.remove_node(second, allow_graceful=False)
        finally:
            ray.shutdown()
            cluster.shutdown()


class Slow(_source.NumpyFile):
    """A file that takes a while to read, so that a node can be killed meanwhile."""

    def load(self, first: int = 0, last: int | None = None) -> Any:
        """After a second."""
        time.sleep(1.0)
        return super().load(first, last)


def show_node(scratch: Path, quick: bool) -> None:
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    words = hottopixx.generate("multinomial", features=400, examples=2000, rank=8, tokens=60)
    documents = sp.csr_array(words.X.T)
    files = scaled.write(documents, scratch / "node", partition=200)
    one = hottopixx.factor(hottopixx.cooccurrence(words.X), 8, "spa")
    partitions = [Slow(str(scratch / "node" / name)) for name in files]
    with two_nodes() as kill:
        nodes = len([node for node in ray.nodes() if node["Alive"]])
        # In the second reading, when what the first one came to is lost with the node.
        killer = threading.Timer(9.0, kill)
        killer.start()
        begun = time.perf_counter()
        found = scaled.factor(partitions, 8, "spa", matrix="cooccurrence")
        seconds = time.perf_counter() - begun
        killer.join()
        left = len([node for node in ray.nodes() if node["Alive"]])
    assert (nodes, left) == (2, 1) and seconds > 9.0
    assert found.hott.tolist() == one.hott.tolist() and same(found.F, one.F)
    print(f"  one of 2 nodes killed after 9 s of {seconds:.0f} s: right answer, same bytes")


def show_sketch(scratch: Path, quick: bool) -> None:
    terms, documents = (300, 6000) if quick else (1000, 20_000)
    rank = 8 if quick else 25
    words = hottopixx.generate(
        "multinomial", features=terms, examples=documents, rank=rank, tokens=100, seed=1
    )
    counts = sp.csr_array(words.X.T)
    columns = 120 if quick else 400
    print(f"  {rank} planted topics, {terms} words, {documents} documents of 100 tokens")
    for method in ("auto", "minimax"):
        for sketch in (None, columns):
            begun = time.perf_counter()
            found = scaled.factor(
                counts,
                rank,
                method,  # type: ignore[arg-type]
                matrix="cooccurrence",
                sketch=sketch,
                address="inline",
                worker_threads=2,
                gap=1e-2 if method == "minimax" else None,
            )
            topics = words.recall(found.hott) * rank
            name = "exact matrix" if sketch is None else f"sketch, s = {sketch}"
            print(
                f"    {method:8} {name:16} {topics:.0f} of {rank} topics, "
                f"{time.perf_counter() - begun:.0f} s"
            )
            assert topics == rank


def slowly(row: dict[str, Any]) -> dict[str, Any]:
    """A document, after a while if it is a long one."""
    if len(row["terms"]) > 35:
        time.sleep(0.5)
    return row


def show_dataset(scratch: Path, quick: bool) -> None:
    words = hottopixx.generate("multinomial", features=300, examples=800, rank=6, tokens=40, seed=2)
    folder = scratch / "dataset"
    import ray

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    files = scaled.write(sp.csr_array(words.X.T), folder, partition=200, format="parquet")
    one = hottopixx.factor(hottopixx.cooccurrence(words.X), 6, "spa")
    with scaled.cluster(workers=2):
        import ray.data

        ray.data.DataContext.get_current().enable_progress_bars = False
        dataset = ray.data.read_parquet([str(folder / name) for name in files])
        found = scaled.factor(dataset, 6, "spa", matrix="cooccurrence")
        late = dataset.map(slowly)  # the first rows come last, unless the order is kept
        again = scaled.factor(late, 6, "spa", matrix="cooccurrence")
    assert found.hott.tolist() == again.hott.tolist() == one.hott.tolist()
    assert same(found.F, one.F) and same(again.F, one.F)
    print("  a Dataset of four Parquet files, and one that takes its time: same bytes")


def best(times: int, work: Any, *arguments: Any) -> float:
    """The least seconds that some work took."""
    seconds = []
    for _ in range(times):
        begun = time.perf_counter()
        work(*arguments)
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def show_model(scratch: Path, quick: bool) -> None:
    """Constants of this machine, one thread, and what follows from them."""
    terms, documents, times = (4000, 40_000, 1) if quick else (20_000, 200_000, 3)
    folder, per, columns, rank = scratch / "model", 50, 400, 25
    corpus(folder, terms, documents, per, 8)
    parts = _source.source(folder, None).partitions

    def load() -> list[Any]:
        return [_work.piece(part, 0, documents // 8, terms, None, None, True) for part in parts]

    entries, half = documents * per, terms // 2
    look = best(times, lambda: [_work.survey(part) for part in parts]) / entries
    read = best(times, load) / entries
    pieces = load()
    sums = ("cooccurrence", 0, half)
    exact = best(times, _work.pair_rows, *sums, None, 1, *pieces) / (entries * per / 2)
    sketch = best(times, _work.pair_rows, *sums, (columns, 0), 1, *pieces) / (entries * per / 2)
    rows = _work.pair_rows(*sums, (columns, 0), 1, *pieces)
    add = best(times, _work.add, rows, rows) / rows.size
    hott = hottopixx.spa(rows, rank, threads=1, cleaning="least-squares", groups=False).hott
    clean = {"threads": 1, "groups": False, "cleaning": "exact"}
    fit = best(times, lambda: hottopixx.evaluate(rows, hott, **clean)) / half
    print("  constants, one thread of this machine:")
    for name, value, unit in (
        ("reading and checking", look * 1e9, "ns per entry"),
        ("reading again", read * 1e9, "ns per entry"),
        ("exact sums", exact * 1e9, "ns per pair"),
        (f"sums in {columns} buckets", sketch * 1e9, "ns per pair"),
        ("adding two blocks", add * 1e9, "ns per number"),
        (f"fit of {columns} on {rank}", fit * 1e6, "us per row"),
    ):
        print(f"    {name:22} {value:8.2f} {unit}")
    f, n, all_entries, workers, threads, net = 1e6, 1e9, 1e11, 100, 8, 1.25e9
    print(
        f"  model: {f:.0e} terms, {n:.0e} documents, {all_entries:.0e} entries, {workers} workers "
        f"of {threads} threads, 10 Gbit/s"
    )
    cores, blocks = workers * threads, n / _plan.BLOCK_DOCUMENTS
    for name, kept, width, cost in (
        ("exact, all terms", f, f, exact),
        ("exact, 50,000 terms (min_df)", 5e4, 5e4, exact),
        (f"sketch of {columns}, all terms", f, float(columns), sketch),
    ):
        result = 8 * kept * width
        # Shards of rows so that a worker takes at most 16 GB; each needs every document.
        shards = max(1.0, np.ceil(2 * result / 16e9))
        minutes = {
            "reading": (look + read) * all_entries / cores / 60,
            "sums": cost * all_entries * (all_entries / n) / cores / 60,
            "adding blocks": add * kept * width * blocks / cores / 60,
            "network": (12 * all_entries * shards + result * blocks) / workers / net / 60,
            "fits, one machine": fit * (width / columns) * kept / threads / 60,
        }
        print(f"    {name}: {result / GB:,.1f} GB in {shards:.0f} shards of rows, minutes:")
        print("     ", ", ".join(f"{what} {value:,.1f}" for what, value in minutes.items()))


SHOWN = {
    "pass": show_pass,
    "workers": show_workers,
    "node": show_node,
    "sketch": show_sketch,
    "dataset": show_dataset,
    "model": show_model,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", help="parts to run (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.what) - set(SHOWN))
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}: choose among {', '.join(SHOWN)}")
    scratch = Path(tempfile.mkdtemp(prefix="hottopixx-scale-out-"))
    try:
        for name in arguments.what or SHOWN:
            print(f"{name}:", flush=True)
            SHOWN[name](scratch, arguments.quick)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
