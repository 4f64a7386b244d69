"""Successive projection in numpy, as one writes it: prints seconds and the rows chosen."""

import json
import sys
import time

import numpy as np


def deflating(x, rank):
    """The textbook: take the largest row, project all rows onto its complement."""
    rest, chosen = x.copy(), []
    for _ in range(rank):
        row = int(np.argmax(np.einsum("ij,ij->i", rest, rest)))
        chosen.append(row)
        u = rest[row] / np.linalg.norm(rest[row])
        rest -= np.outer(rest @ u, u)
    return chosen


def orthogonal(x, rank):
    """Without touching X: norms are lowered by the part along each new direction."""
    norms = np.einsum("ij,ij->i", x, x)
    basis, chosen = [], []
    for _ in range(rank):
        row = int(np.argmax(norms))
        chosen.append(row)
        u = x[row].copy()
        for v in basis:
            u -= (u @ v) * v
        u /= np.linalg.norm(u)
        basis.append(u)
        norms -= (x @ u) ** 2
    return chosen


x = np.load(sys.argv[1])
x /= x.sum(axis=1, keepdims=True)
for method in (orthogonal, deflating):
    start = time.perf_counter()
    rows = method(x, int(sys.argv[2]))
    seconds = time.perf_counter() - start
    print(json.dumps({"method": method.__name__, "seconds": seconds, "rows": rows}))
