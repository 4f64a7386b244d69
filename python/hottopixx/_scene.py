"""Pure pixels as `hottopixx unmix` finds them, as an answer like any other."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._answer import Factorization, Source, factorization, row_array
from ._arrays import floats
from ._options import prepared
from ._rank import best_rank
from ._words import in_words, spoken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Floats, UnmixSettings


@dataclass(frozen=True)
class Scene:
    """The pure pixels of a scene and what else is known about its pixels."""

    #: The pixels as an answer, in the order of their shares of the scene.
    answer: Factorization
    #: Means of the purest pixels, one row for each.
    spectra: Floats
    #: Pixels that nothing explains.
    outliers: NDArray[np.intp]
    #: Pixels near the noise.
    dark: NDArray[np.intp]


def unmixed(
    pixels: Any,
    rank: Any,
    shape: tuple[int, int] | None,
    names: list[str] | None,
    options: Any,
) -> Scene:
    """The pure pixels of pixels x bands; all pixels are then fitted on them as in every answer."""
    X = floats(pixels, 2, "X")
    with spoken("sample"), prepared("auto", options, len(X), names, "sample") as (settings, run):
        count = best_rank(X, settings, run, "sample", names).suggested if rank == "auto" else rank
        wishes: UnmixSettings = {
            "shape": shape,
            "abundances": "free",
            "outliers": "auto",
            "negative": "refuse",
            "threads": settings["threads"],
        }
        text, matrices, _ = _native.unmix(X, int(count), wishes, run)
        said = json.loads(text)
        materials = said["materials"]
        rows = [material["pixel"] for material in materials]
        # The purest pixels are the groups: none have to be looked for.
        fitted = _native.evaluate(X, rows, {**settings, "groups": False}, run)
    answer = factorization(fitted, names, Source(pixels, settings), "sample")
    groups = [row_array(sorted({m["pixel"], *m["members"]})) for m in materials]
    stop = answer.stop if said["stop"] == "finished" else said["stop"]
    notes = [in_words(note, "sample") for note in said["notes"]]
    answer = replace(
        answer, groups=groups, chosen_from="unmix", stop=stop, notes=[*notes, *answer.notes]
    )
    dark, outliers = said["dark"], (outlier["pixel"] for outlier in said["outliers"])
    return Scene(answer, matrices[0], row_array(sorted(outliers)), row_array(dark))
