"""Which measurements of a table tell the others? Wine, breast cancer, and a gene table.

`Hottopixx(n_components="auto")` chooses how many columns are worth keeping. For each table the
program prints them with the columns that lean on them, and writes a page (`.html`), a table
(`.csv`) and a picture of the errors against the number of columns.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from _common import save
from features import genes
from sklearn.datasets import load_breast_cancer, load_wine

from hottopixx import Hottopixx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--genes", type=int, default=300, help="genes of the made-up table")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for files")
    args = parser.parse_args()

    counts, _ = genes(count=args.genes, programs=6, samples=150)
    tables = {
        "wine": load_wine(as_frame=True).data,
        "breast cancer": load_breast_cancer(as_frame=True).data,
        "genes": pd.DataFrame(counts, columns=[f"gene{j}" for j in range(counts.shape[1])]),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        model = Hottopixx("auto").fit(table)
        print(f"\n{name}: {model}")
        for k, chosen in enumerate(model.result_.hott_names):
            members = ", ".join(member for member, _ in model.members(k, 4))
            print(f"  {chosen}: {members}")
        stem = name.replace(" ", "-")
        axis = Hottopixx(min(12, table.shape[1]), effort="quick").fit(table).plot.path()
        axis.set_title(name)
        save(axis.figure, args.out, f"{stem}-path.png")
        model.to_frame().to_csv(args.out / f"{stem}.csv", index=False)
        model.report(args.out / f"{stem}.html", name)


if __name__ == "__main__":
    main()
