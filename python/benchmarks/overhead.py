"""What calling from Python costs: the same factorization from Python and from the command line.

Both are given the same matrix and the same settings and take turns, in each round in the other
order: a machine's speed drifts by more than what is measured here. Medians over the rounds count.
The command line's figure is its own time for localising, selecting and cleaning, Python's is the
wall-clock time of the call; their ratio is taken within each round. The last column is the time of
each call from Python over the time that the library says it took, within the same call.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import hottopixx

STEPS = ("localize", "select", "clean")


def rust(program: Path, file: Path, rank: int, epochs: int) -> float:
    command = [program, "factor", file, "--rank", rank, "--method", "hottopixx"]
    command += ["--epochs", epochs, "--json", "--quiet"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    seconds = json.loads(done.stdout)["seconds"]
    return sum(seconds[step] for step in STEPS)


def python(X, rank: int, epochs: int) -> tuple[float, float]:
    """Seconds of the call, and of the library within it."""
    begun = time.perf_counter()
    answer = hottopixx.factor(X, rank, "hottopixx", epochs=epochs)
    return time.perf_counter() - begun, sum(answer.seconds[step] for step in STEPS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=Path("target/release/hottopixx"))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    args = parser.parse_args()
    small = 10 if args.quick else 1
    cases = [
        ("dense", "paper", 1600 // small, 16000 // small, 20, {"noise": 0.5}),
        ("sparse", "documents", 20000 // small, 100000 // small, 50 // small, {"tokens": 60}),
    ]
    print("| matrix | Rust, s | Python, s | Python / Rust | call / library |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for kind, family, features, examples, rank, more in cases:
            X = hottopixx.generate(
                family, features=features, examples=examples, rank=rank, **more
            ).X
            file = Path(folder) / ("X.npz" if sp.issparse(X) else "X.npy")
            if sp.issparse(X):
                sp.save_npz(file, X, compressed=False)
            else:
                np.save(file, X)
            times = []
            for turn in range(args.rounds):
                if turn % 2:
                    here = python(X, rank, 5)
                    there = rust(args.program, file, rank, 5)
                else:
                    there = rust(args.program, file, rank, 5)
                    here = python(X, rank, 5)
                times.append((there, *here))
            native, ours = (statistics.median(t[k] for t in times) for k in (0, 1))
            ratio = statistics.median(call / there for there, call, _ in times)
            within = statistics.median(call / library for _, call, library in times)
            size = f"{kind}, {features} x {examples}"
            figures = f"{native:.2f} | {ours:.2f} | {ratio:.3f} | {within:.4f}"
            print(f"| {size} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
