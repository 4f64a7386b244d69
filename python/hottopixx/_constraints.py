"""What a choice of rows must obey: from what callers write to what the library is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._arrays import floats
from ._numbers import row_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Asked

_KEYS = ("must", "never", "groups", "prices", "budget")


def asked(constraints: Any, rows: int | None, names: Sequence[str] | None) -> Asked:
    """The constraints with rows by number; see `factor`."""
    if not isinstance(constraints, Mapping):
        raise ValueError(f"constraints is {constraints!r}: give a dict with keys of {_KEYS}")
    unknown = sorted(set(constraints) - set(_KEYS))
    if unknown:
        raise ValueError(f"constraints has the key {unknown[0]!r}: choose among {', '.join(_KEYS)}")
    prices, budget = constraints.get("prices"), constraints.get("budget")
    if (prices is None) != (budget is None):
        raise ValueError("constraints needs both prices and a budget, or neither")

    def numbers(key: str, given: Any) -> list[int]:
        found = row_numbers([] if given is None else list(given), names, key)
        if rows is not None and found and max(found) >= rows:
            raise ValueError(f"{key} has {max(found)}, but there are {rows}, from 0")
        return found

    groups = []
    for name, quota in dict(constraints.get("groups") or {}).items():
        try:
            members, least, most = quota
        except (TypeError, ValueError):
            raise ValueError(f"group {name!r} is {quota!r}: give (rows, least, most)") from None
        limit = None if most is None else int(most)
        groups.append((str(name), numbers(f"group {name}", members), int(least or 0), limit))
    return {
        "must": numbers("must", constraints.get("must")),
        "never": numbers("never", constraints.get("never")),
        "groups": groups,
        "prices": None if prices is None else floats(prices, 1, "prices").tolist(),
        "budget": 0.0 if budget is None else float(budget),
    }
