"""The best choice of r rows as a mixed-integer program for HiGHS, beside 'certify --exact'.

    python choice_mip.py X.npy --rank 4 [--max-seconds 300]

min t over d in {0,1}^f, sum d = r, 0 <= c_ij <= u_ij d_j, with the l1 error of row i in its hinge
form, 2 sum_k (x_ik - (cX)_ik)_+ + sum_j c_ij - 1 <= t. The caps u_ij, weighted medians of
x_ik / x_jk, change no choice's error and are as tight a bound for HiGHS as we know. Needs numpy,
scipy and highspy.
"""

import argparse
import time

import highspy
import numpy as np
import scipy.sparse as sp


def caps(X):
    f = X.shape[0]
    U = np.zeros((f, f))
    for i in range(f):
        for j in range(f):
            k = X[j] > 0
            ratio, mass = X[i, k] / X[j, k], X[j, k]
            order = np.argsort(ratio)
            at = np.searchsorted(np.cumsum(mass[order]), 0.5 - 1e-12)
            U[i, j] = min(2.0, ratio[order][min(at, len(order) - 1)])
    return U


def model(X, rank):
    f, n = X.shape
    U = caps(X)
    pairs = [(i, j) for i in range(f) for j in range(f) if U[i, j] > 0]
    at = {pair: f + p for p, pair in enumerate(pairs)}
    points = [(i, k) for i in range(f) for k in range(n) if X[i, k] > 0]
    e = {point: f + len(pairs) + p for p, point in enumerate(points)}
    t = f + len(pairs) + len(points)
    rows, cols, values, low, high = [], [], [], [], []

    def add(entries, lower, upper):
        for column, value in entries:
            rows.append(len(low))
            cols.append(column)
            values.append(value)
        low.append(lower)
        high.append(upper)

    inf = highspy.kHighsInf
    add([(j, 1.0) for j in range(f)], rank, rank)
    for i, j in pairs:
        add([(at[i, j], 1.0), (j, -U[i, j])], -inf, 0.0)
    for i, k in points:
        mixture = [(at[i, j], X[j, k]) for j in range(f) if (i, j) in at and X[j, k] > 0]
        add([(e[i, k], 1.0), *mixture], X[i, k], inf)
    for i in range(f):
        missed = [(e[i, k], 2.0) for k in range(n) if (i, k) in e]
        spent = [(at[i, j], 1.0) for j in range(f) if (i, j) in at]
        add([*missed, *spent, (t, -1.0)], -inf, 1.0)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = t + 1, len(low)
    lp.col_cost_ = np.r_[np.zeros(t), 1.0]
    lp.col_lower_ = np.zeros(t + 1)
    lp.col_upper_ = np.r_[np.ones(f), np.full(t + 1 - f, inf)]
    lp.row_lower_, lp.row_upper_ = np.array(low), np.array(high)
    A = sp.csr_matrix((values, (rows, cols)), shape=(len(low), t + 1))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    integer, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    lp.integrality_ = [integer] * f + [real] * (t + 1 - f)
    return lp


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--max-seconds", type=float, default=300.0)
    args = parser.parse_args()
    X = np.load(args.data)
    X = X[X.sum(axis=1) > 0]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("mip_rel_gap", 1e-5)
    highs.setOptionValue("time_limit", args.max_seconds)
    highs.passModel(model(X / X.sum(axis=1, keepdims=True), args.rank))
    before = time.process_time()
    highs.run()
    seconds = time.process_time() - before
    info = highs.getInfo()
    chosen = np.flatnonzero(np.array(highs.getSolution().col_value[: X.shape[0]]) > 0.5)
    print(
        f"{args.data}: {highs.modelStatusToString(highs.getModelStatus())}, "
        f"{seconds:.1f} CPU s, error {info.objective_function_value:.6f}, "
        f"bound {info.mip_dual_bound:.6f}, {info.mip_node_count} nodes, rows {chosen.tolist()}"
    )


if __name__ == "__main__":
    main()
