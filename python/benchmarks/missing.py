"""Missing entries, guessed by hottopixx and by the weighted NMF of ESAT, where that is installed.

Instances of the family `paper`, as `hottopixx-study missing` has them, with some of the entries
taken out at random: the l1 error of the guesses over the sum of the entries that are missing (rows
have sum one), and CPU seconds. ESAT (the source apportionment toolkit of the US EPA,
`pip install esat`) gives every entry an uncertainty, here one million times as large where it is
missing; `ls-nmf` is its method, with as many iterations as it takes to converge, 20,000 at most,
and the best of three starts by its own measure.

    python python/benchmarks/missing.py --seeds 5
"""

from __future__ import annotations

import argparse
import logging
import time

import numpy as np

import hottopixx

#: Features, examples, rank, noise.
SETTINGS = [
    (60, 100, 4, 0.0),
    (60, 100, 4, 1.0),
    (60, 100, 4, 4.0),
    (120, 200, 8, 0.3),
    (120, 200, 8, 1.0),
    (120, 200, 8, 4.0),
]
SHARES = [0.1, 0.3, 0.5]
STARTS = 3


def guessed_by_hottopixx(seen: np.ndarray, rank: int) -> np.ndarray:
    """The completed matrix."""
    answer = hottopixx.factor(seen, rank, effort="quick", missing="observed")
    return np.asarray(answer.completed)


def guessed_by_esat(seen: np.ndarray, rank: int) -> np.ndarray:
    """W H of the best of some starts."""
    from esat.model.sa import SA

    logging.disable(logging.INFO)
    gone = np.isnan(seen)
    scale = 1.0 / np.nanmean(seen)  # its entries are of the size of one
    # Its compiled part reads arrays column by column, whatever their order is.
    values = np.asfortranarray(np.where(gone, np.nanmean(seen), seen) * scale)
    uncertainty = np.asfortranarray(np.where(gone, 1e6, 1.0))
    best = None
    for seed in range(STARTS):
        model = SA(V=values, U=uncertainty, factors=rank, method="ls-nmf", seed=seed)
        model.initialize()
        model.train(max_iter=20_000, converge_delta=1e-6, converge_n=100)
        if best is None or model.Qtrue < best.Qtrue:
            best = model
    return np.asarray(best.W @ best.H, dtype=float) / scale


def main() -> None:
    """One line per setting and share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="instances of each setting")
    args = parser.parse_args()
    methods = {"hottopixx": guessed_by_hottopixx}
    try:
        import esat.model.sa  # noqa: F401

        methods["esat"] = guessed_by_esat
    except ImportError as error:
        print(f"esat is left out: {error}")
    head = ["features", "examples", "rank", "noise", "missing"]
    print(*(f"{word:>9}" for word in head), *(f"{name:>18}" for name in methods))
    for features, examples, rank, noise in SETTINGS:
        for share in SHARES:
            missed, seconds = dict.fromkeys(methods, 0.0), dict.fromkeys(methods, 0.0)
            total = 0.0
            for seed in range(args.seeds):
                size = {"features": features, "examples": examples, "rank": rank}
                made = hottopixx.generate("paper", **size, noise=noise, seed=seed)
                truth = np.asarray(made.X)
                truth = truth / truth.sum(axis=1, keepdims=True)
                gone = np.random.default_rng(seed).random(truth.shape) < share
                total += truth[gone].sum()
                for name, guess in methods.items():
                    start = time.process_time()
                    guessed = guess(np.where(gone, np.nan, truth), rank)
                    seconds[name] += time.process_time() - start
                    missed[name] += np.abs(guessed - truth)[gone].sum()
            cells = (f"{missed[m] / total:.5f} {seconds[m] / args.seeds:6.2f} s" for m in methods)
            figures = (features, examples, rank, noise, f"{share:.0%}")
            line = [*(f"{figure:>9}" for figure in figures), *(f"{cell:>18}" for cell in cells)]
            print(*line, flush=True)


if __name__ == "__main__":
    main()
